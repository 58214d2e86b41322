"""How likely a feature is to be omitted, given the concentration."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from unselected._typing import Floats
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.binary import omission_probability
from unselected.plots.concentration import (
    DRAWN,
    N_POINTS,
    Posterior,
    Selective,
    bulk,
    concentration_words,
    posterior_of_estimator,
    smooth,
)
from unselected.plots.correlations import check_counts
from unselected.plots.display import Display
from unselected.plots.style import DARK, LIGHT, PALE, legend_above, log_ticks, tidy
from unselected.selection.correlation import threshold_cut
from unselected.statistics.moments import Statistic

# Characters that a legend has room for, to describe the cases.
_MOST_LETTERS = 60


@dataclass(eq=False, repr=False)
class OmissionProbabilityDisplay(Display):
    """The probability that a feature is omitted, as a function of the concentration.

    This is P(score <= threshold | concentration) for one feature, the score being |COR|, or F where
    there are more than two classes. Conditioning on a selection multiplies the posterior of the
    concentration by this probability to the power of the number of omitted features (ties apart).
    That rules out concentrations under which omission is unlikely. Where binary features differ in
    their numbers of known values, or of ones that are given, it is the average over omitted ones.

    Parameters
    ----------
    concentration, probability : arrays of shape (n_points,)
    n_samples : int
        Number of cases.
    class_sizes : mapping of label to int, default=None
        Numbers of cases of the classes; None where the response is a number.
    threshold : float
    statistic : str, default="|COR|"
        What the threshold is on, such as "F"; see `Selection`.
    posterior : (log_concentration, density), default=None
        Posterior of the concentration, drawn below.
    words : str, default="Concentration"
        What the concentration is called on its axis.

    Attributes
    ----------
    line_ : Line2D
    ax_ : Axes
    figure_ : Figure

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> display = OmissionProbabilityDisplay.from_counts(
    ...     10, 10, 0.5, concentration=[1e-9], ax=Figure().subplots()
    ... )
    >>> display.probability.round(6).tolist()
    [0.666667]
    """

    concentration: Floats
    probability: Floats
    _: KW_ONLY
    n_samples: int
    class_sizes: Mapping[Any, int] | None = None
    threshold: float
    statistic: Statistic = "|COR|"
    posterior: tuple[Floats, Floats] | None = None
    words: str = "Concentration"

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
        law = CountLaw((n0, n1), *gauss_legendre(theta_nodes(n0 + n1)))
        probability = omission_probability(law, threshold_cut(threshold), 1.0 / grid)
        return cls(
            grid,
            probability,
            n_samples=n0 + n1,
            class_sizes={0: n0, 1: n1},
            threshold=float(threshold),
        ).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Selective,
        *,
        concentration: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the probability for a fitted estimator, and below it the posterior.

        Parameters
        ----------
        estimator : SelectiveBernoulliNB, SelectiveGaussianNB or SelectiveNaiveRegressor
            Fitted with ``k`` or ``threshold``, so some features were omitted. With missing
            values, the probability is that of a feature without them; for binary features, it is
            the average over the omitted ones, as with ``rates="given"``.
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
                "the estimator kept all features, so there is no threshold: fit it with k or "
                "threshold."
            )
        grid = _checked_grid(concentration)
        fitted = estimator.panel().predictor.fitted
        return cls(
            grid,
            fitted.omission_probability(grid),
            n_samples=fitted.n_samples,
            class_sizes=fitted.class_sizes,
            threshold=threshold,
            statistic=estimator.selection_.statistic,
            posterior=posterior,
            words=concentration_words([estimator]),
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the probability on a logarithmic axis of the concentration.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : OmissionProbabilityDisplay
        """
        ax = self._start(ax, 6.0, 4.0)
        (self.line_,) = ax.plot(
            self.concentration, self.probability, color=DARK, linewidth=2, label=self._label()
        )
        log_ticks(ax, "x")
        ax.set(ylim=(0.0, 1.03), xlabel=self.words)
        if self.concentration.size > 1:
            ax.set_xlim(self.concentration.min(), self.concentration.max())
        ax.set_ylabel("Probability that a feature is omitted")
        tidy(ax)
        if self.posterior is not None:
            self._draw_posterior(ax, Posterior(*self.posterior))
        legend_above(ax)
        return self

    def _label(self) -> str:
        cases = _describe_cases(self.n_samples, self.class_sizes)
        return f"omission: {cases}, {self.statistic} at most {self.threshold:.3g}"

    def _draw_posterior(self, ax: Axes, posterior: Posterior) -> None:
        """Fill the posterior density, to a height of its own, at the foot of the axes."""
        ends = np.clip(bulk(posterior, DRAWN), *np.log(ax.get_xlim()))
        points = np.linspace(ends[0], ends[1], N_POINTS)
        density = smooth(posterior, points)
        ax.fill_between(
            np.exp(points),
            0.3 * density / posterior.density.max(),
            transform=ax.get_xaxis_transform(),
            facecolor=PALE,
            edgecolor=LIGHT,
            label="posterior of the concentration (height not to scale)",
            zorder=1,
        )


def _describe_cases(n_samples: int, class_sizes: Mapping[Any, int] | None) -> str:
    """Return how many cases there are of which classes.

    >>> _describe_cases(9, {"a": 4, "b": 5}), _describe_cases(9, None)
    ('4 cases of class a, 5 of class b', '9 cases')
    """
    if class_sizes is None:
        return f"{n_samples} cases"
    (first, size), *others = class_sizes.items()
    parts = [f"{size} cases of class {first}", *(f"{n} of class {label}" for label, n in others)]
    words = ", ".join(parts)
    return words if len(words) <= _MOST_LETTERS else f"{n_samples} cases of {len(parts)} classes"


def _checked_grid(concentration: Any) -> Floats:
    if concentration is None:
        return np.geomspace(0.01, 1e5, 71)
    grid = np.atleast_1d(np.asarray(concentration, dtype=np.float64))
    wrong = grid[~(grid > 0)]
    if wrong.size or not grid.size:
        raise ValueError(f"concentration has {wrong.tolist()}: give positive numbers.")
    return grid
