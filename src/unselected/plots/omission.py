"""How likely a feature is to be omitted, given the concentration."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.omission import OmittedCounts, log_omission, selected_probabilities
from unselected.plots.concentration import (
    N_POINTS,
    Posterior,
    drawn_ends,
    posterior_of_estimator,
    smooth,
)
from unselected.plots.correlations import check_counts
from unselected.plots.style import DARK, LIGHT, PALE, axes_or_new, legend_above, log_ticks, tidy
from unselected.quadrature import Floats, gauss_legendre, theta_nodes
from unselected.tables import CountLaw, threshold_cut


class OmissionProbabilityDisplay:
    """The probability that a feature is omitted, as a function of the concentration.

    This is P(|COR| <= threshold | concentration) for one feature. Conditioning on a selection
    that left out many features multiplies the posterior of the concentration by about its power
    with their number, which rules out concentrations that make omission unlikely.

    Parameters
    ----------
    concentration, probability : arrays of shape (n_points,)
    n0, n1 : int
        Numbers of cases of the two classes.
    threshold : float
    posterior : (log_concentration, density), default=None
        Posterior of the concentration, drawn below.

    Attributes
    ----------
    line_ : Line2D
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> display = OmissionProbabilityDisplay.from_counts(
    ...     10, 10, 0.5, concentration=[1e-9], ax=Figure().subplots()
    ... )
    >>> display.probability.round(6).tolist()
    [0.666667]
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        concentration: Floats,
        probability: Floats,
        *,
        n0: int,
        n1: int,
        threshold: float,
        posterior: tuple[Floats, Floats] | None = None,
    ) -> None:
        self.concentration = concentration
        self.probability = probability
        self.n0 = n0
        self.n1 = n1
        self.threshold = threshold
        self.posterior = None if posterior is None else Posterior(*posterior)

    @classmethod
    def from_counts(
        cls,
        n0: int,
        n1: int,
        threshold: float,
        *,
        concentration: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the probability for numbers of cases and a threshold.

        Parameters
        ----------
        n0, n1 : int
            Numbers of cases of the two classes, at least 1 each.
        threshold : float
            From 0 to 1.
        concentration : array-like, default=None
            Where to compute it; by default 71 points from 0.01 to 100000.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : OmissionProbabilityDisplay
        """
        check_counts(n0, n1, threshold)
        grid = _checked_grid(concentration)
        law = CountLaw(n0, n1, *gauss_legendre(theta_nodes(n0 + n1)))
        probability = omission_probability(law, threshold, grid)
        return cls(grid, probability, n0=n0, n1=n1, threshold=float(threshold)).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: SelectiveBernoulliNB,
        *,
        concentration: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the probability for a fitted classifier, and below it the posterior.

        Parameters
        ----------
        estimator : SelectiveBernoulliNB
            Fitted with ``k`` or ``threshold``, so that something was omitted.
        concentration : array-like, default=None
            Where to compute it; by default 71 points from 0.01 to 100000.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : OmissionProbabilityDisplay
        """
        posterior = posterior_of_estimator(estimator, "estimator")
        threshold = estimator.threshold_
        if threshold is None:
            raise ValueError(
                "the estimator kept all features, so that there is no threshold: fit it with k or "
                "threshold."
            )
        kept = estimator.panel().kept
        n0, n1 = kept.counts.n0, kept.counts.n1
        grid = _checked_grid(concentration)
        law = CountLaw(n0, n1, *kept.model.theta_rule(n0 + n1))
        probability = omission_probability(law, threshold, grid)
        return cls(grid, probability, n0=n0, n1=n1, threshold=threshold, posterior=posterior).plot(
            ax
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the probability on a logarithmic axis of the concentration.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : OmissionProbabilityDisplay
        """
        self.ax_ = axes_or_new(ax, 6.0, 4.0)
        self.figure_ = self.ax_.figure
        cases = f"{self.n0} cases of class 0, {self.n1} of class 1"
        label = f"omission: {cases}, threshold {self.threshold:.3g}"
        (self.line_,) = self.ax_.plot(
            self.concentration, self.probability, color=DARK, linewidth=2, label=label
        )
        log_ticks(self.ax_, "x")
        self.ax_.set(ylim=(0.0, 1.03), xlabel="Concentration")
        if self.concentration.size > 1:
            self.ax_.set_xlim(self.concentration.min(), self.concentration.max())
        self.ax_.set_ylabel("Probability that a feature is omitted")
        tidy(self.ax_)
        if self.posterior is not None:
            self._draw_posterior(self.posterior)
        legend_above(self.ax_)
        return self

    def _draw_posterior(self, posterior: Posterior) -> None:
        """Fill the posterior density, to a height of its own, at the foot of the axes."""
        ends = np.clip(drawn_ends(posterior), *np.log(self.ax_.get_xlim()))
        points = np.linspace(ends[0], ends[1], N_POINTS)
        density = smooth(posterior, points)
        self.ax_.fill_between(
            np.exp(points),
            0.3 * density / posterior.density.max(),
            transform=self.ax_.get_xaxis_transform(),
            facecolor=PALE,
            edgecolor=LIGHT,
            label="posterior of the concentration (height not to scale)",
            zorder=1,
        )


def _checked_grid(concentration: Any) -> Floats:
    if concentration is None:
        return np.geomspace(0.01, 1e5, 71)
    grid = np.atleast_1d(np.asarray(concentration, dtype=np.float64))
    wrong = grid[~(grid > 0)]
    if wrong.size or not grid.size:
        raise ValueError(f"concentration has {wrong.tolist()}: give positive numbers.")
    return grid


def omission_probability(law: CountLaw, threshold: float, concentration: Floats) -> Floats:
    """Return P(|COR| <= threshold | concentration) of one feature, at each concentration."""
    omitted = OmittedCounts.at_most(threshold_cut(threshold), law.n0, law.n1)
    return np.array([_omission_probability(law, omitted, 1.0 / value) for value in concentration])


def _omission_probability(law: CountLaw, omitted: OmittedCounts, u: float) -> float:
    selected = sum(
        selected_probabilities([omitted], np.exp(log_p0), np.exp(log_p1), law.weights[nodes])[0]
        for nodes, log_p0, log_p1 in law.blocks(u)
    )
    return float(np.exp(log_omission(law, u, omitted, float(selected))))
