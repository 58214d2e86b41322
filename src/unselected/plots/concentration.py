"""The posterior of the concentration."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from scipy.interpolate import Akima1DInterpolator
from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.plots.display import Display
from unselected.plots.records import check_methods, check_new, read
from unselected.plots.style import (
    INK,
    METHOD_STYLES,
    SMALL,
    plain_number,
    styles_of,
    tidy,
)

Selective = SelectiveBernoulliNB | SelectiveGaussianNB | SelectiveNaiveRegressor

# What the concentration is, on an axis.
_PLAIN = "Concentration"
_WORDS: dict[type, str] = {
    SelectiveBernoulliNB: _PLAIN,
    SelectiveGaussianNB: r"Concentration, $1/\tau^2$ ($\tau$: typical standardized difference)",
    SelectiveNaiveRegressor: r"Concentration, $1/\tau^2$ ($\tau$: typical standardized slope)",
}

# The picture reaches to where a density is this fraction of its peak, its line a little further.
_VISIBLE, DRAWN = 0.02, 0.001

# Points of a smooth curve.
N_POINTS = 300


class Posterior(NamedTuple):
    """A posterior on nodes: log(concentration), increasing, and the density in it."""

    log_concentration: Floats
    density: Floats


def posterior_of(log_concentration: Any, weights: Any) -> Posterior:
    """Return the density in log(concentration) from nodes and their posterior probabilities.

    A node stands for half the distance between its neighbours. Nodes at infinity are left out;
    those at the same concentration, which differ in another parameter, are added up.

    >>> posterior_of([2.0, 1.0, 0.0], [0.25, 0.5, 0.25]).density.tolist()
    [0.25, 0.5, 0.25]
    """
    x = np.asarray(log_concentration, dtype=np.float64)
    weights = np.asarray(weights, dtype=np.float64)
    nodes, node_of = np.unique(x, return_inverse=True)
    totals = np.bincount(node_of, weights=weights)
    finite = np.isfinite(nodes)
    if finite.sum() < 2:
        raise ValueError(f"a density needs at least 2 finite nodes, not {finite.sum()}.")
    return Posterior(nodes[finite], totals[finite] / np.gradient(nodes[finite]))


def posterior_of_estimator(estimator: Any, name: str) -> Posterior:
    """Return the posterior of a fitted estimator; the name is for errors."""
    check_estimator(estimator, name)
    return posterior_of(np.log(estimator.concentration_), estimator.concentration_weights_)


def check_estimator(estimator: Any, name: str) -> None:
    """Raise unless this is a fitted selective estimator; the name is for errors."""
    if not isinstance(estimator, tuple(_WORDS)):
        names = ", ".join(known.__name__ for known in _WORDS)
        raise TypeError(f"{name} is {estimator!r}: give a fitted estimator, one of {names}.")
    check_is_fitted(estimator)


def concentration_words(estimators: Iterable[Any]) -> str:
    """Return what the concentration of estimators is called, in plain words where they differ."""
    words = {
        words
        for estimator in estimators
        for known, words in _WORDS.items()
        if isinstance(estimator, known)
    }
    return words.pop() if len(words) == 1 else _PLAIN


def bulk(posterior: Posterior, fraction: float) -> tuple[float, float]:
    """Return the ends of where the density is above a fraction of its peak, and a node beyond."""
    x, density = posterior
    inside = np.flatnonzero(density > fraction * density.max())
    return float(x[max(inside[0] - 1, 0)]), float(x[min(inside[-1] + 1, x.size - 1)])


def smooth(posterior: Posterior, points: Floats) -> Floats:
    """Return the density at points between the nodes: its logarithm is interpolated."""
    live = posterior.density > posterior.density.max() * 1e-12
    x, density = posterior.log_concentration[live], posterior.density[live]
    if x.size < 2:
        return np.interp(points, *posterior)
    curve = Akima1DInterpolator(x, np.log(density))
    return np.nan_to_num(np.exp(curve(points)))


@dataclass(eq=False, repr=False)
class ConcentrationDisplay(Display):
    """Posterior density of log(concentration), the logarithm being natural.

    The concentration is alpha in the paper: the larger, the more alike a feature's distributions
    are in all classes. For real-valued features it is 1 / tau^2, tau being the size of a typical
    difference between a class mean and the overall mean, or a typical change for a standard
    deviation of the response, in units of the feature's standard deviation. Features selected for
    their correlation make the uncorrected estimate too low; the correction undoes that (the
    paper's figure of posterior distributions).

    Parameters
    ----------
    posteriors : mapping of str to (log_concentration, density)
        By the name in the legend; both are arrays of shape (n_nodes,), nodes in increasing order.
    true_concentration : float, default=None
        Marked by a vertical line.
    words : str, default="Concentration"
        What the concentration is called on the upper axis.

    Attributes
    ----------
    lines_ : dict of str to Line2D
    ax_ : Axes
    figure_ : Figure
    """

    posteriors: Mapping[str, tuple[Floats, Floats]]
    _: KW_ONLY
    true_concentration: float | None = None
    words: str = _PLAIN

    def __post_init__(self) -> None:
        if self.true_concentration is not None and not 0 < self.true_concentration < np.inf:
            raise ValueError(f"true_concentration={self.true_concentration} must be positive.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Selective,
        *,
        name: str | None = None,
        true_concentration: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the posterior of one fitted estimator.

        Parameters
        ----------
        estimator : SelectiveBernoulliNB, SelectiveGaussianNB or SelectiveNaiveRegressor
        name : str, default=None
            By default "complete", "corrected" or "uncorrected", whichever the estimator is.
        true_concentration : float, default=None
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ConcentrationDisplay
        """
        check_estimator(estimator, "estimator")
        if name is None:
            name = "corrected" if estimator.correct_selection else "uncorrected"
            name = "complete" if estimator.threshold_ is None else name
        return cls.from_estimators({name: estimator}, true_concentration=true_concentration, ax=ax)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Selective],
        *,
        true_concentration: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the posteriors of several fitted estimators.

        Parameters
        ----------
        estimators : mapping of str to estimator
            SelectiveBernoulliNB, SelectiveGaussianNB or SelectiveNaiveRegressor by the name in the
            legend.
        true_concentration : float, default=None
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ConcentrationDisplay
        """
        if not estimators:
            raise ValueError("estimators is empty: there is nothing to draw.")
        posteriors = {
            name: posterior_of_estimator(estimator, f"estimators[{name!r}]")
            for name, estimator in estimators.items()
        }
        words = concentration_words(estimators.values())
        return cls(posteriors, true_concentration=true_concentration, words=words).plot(ax)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Any],
        *,
        k: int,
        replicate: int = 0,
        true_concentration: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the posteriors of an experiment for one number of kept features and one replicate.

        Parameters
        ----------
        records : iterable of mappings or objects
            With ``k``, ``method``, ``replicate``, ``log_concentration`` and
            ``concentration_weights``.
        k : int
            The records with this many features, and those of method "complete", are drawn.
        replicate : int, default=0
        true_concentration : float, default=None
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ConcentrationDisplay
        """
        fields = ["k", "method", "replicate", "log_concentration", "concentration_weights"]
        rows = read(records, fields)
        check_methods((row["method"] for row in rows), tuple(METHOD_STYLES))
        posteriors: dict[str, Posterior] = {}
        seen: set[tuple[Hashable, ...]] = set()
        for place, row in enumerate(rows):
            check_new(seen, place, method=row["method"], replicate=row["replicate"], k=row["k"])
            if row["replicate"] == replicate and (row["k"] == k or row["method"] == "complete"):
                nodes = row["log_concentration"], row["concentration_weights"]
                posteriors[row["method"]] = posterior_of(*nodes)
        if not posteriors.keys() - {"complete"}:
            raise ValueError(f"records has none with k={k} and replicate={replicate}.")
        return cls(posteriors, true_concentration=true_concentration).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the densities where the mass is; the upper axis is the concentration itself.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : ConcentrationDisplay
        """
        ax = self._start(ax, 6.0, 4.2)
        low, high = self._limits()
        self.lines_ = {}
        for name, style in styles_of(self.posteriors).items():
            posterior = Posterior(*self.posteriors[name])
            points = np.linspace(*bulk(posterior, DRAWN), N_POINTS)
            density = smooth(posterior, points)
            order = 1.8 if name == "complete" else 2.0  # a wide line, under the others
            (self.lines_[name],) = ax.plot(
                points, density, label=name, zorder=order, **style.line()
            )
        if self.true_concentration is not None:
            label = f"true value, {self.true_concentration:g}"
            ax.axvline(
                float(np.log(self.true_concentration)), color=INK, linewidth=1.0, label=label
            )
        ax.set(xlim=(low, high), xlabel="log(concentration), natural logarithm")
        ax.set_ylabel("Posterior density of log(concentration)")
        ax.set_ylim(bottom=0.0)
        tidy(ax)
        _concentration_on_top(ax, low, high, self.words)
        ax.legend(fontsize=SMALL, framealpha=0.9)
        return self

    def _limits(self) -> tuple[float, float]:
        ends = [
            end for nodes in self.posteriors.values() for end in bulk(Posterior(*nodes), _VISIBLE)
        ]
        if self.true_concentration is not None:
            ends.append(float(np.log(self.true_concentration)))
        margin = 0.04 * (max(ends) - min(ends))
        return min(ends) - margin, max(ends) + margin


def _concentration_on_top(ax: Axes, low: float, high: float, words: str) -> None:
    """Add an upper axis in units of the concentration."""
    decades = 10.0 ** np.arange(np.floor(low / np.log(10)), np.ceil(high / np.log(10)) + 1)
    if decades.size <= 4:
        decades = np.outer(decades, [1.0, 2.0, 5.0]).ravel()
    values = decades[(decades >= np.exp(low)) & (decades <= np.exp(high))]
    values = values[:: 1 + values.size // 9]
    top = ax.secondary_xaxis("top")
    top.set_xticks(np.log(values).tolist(), [plain_number(value) for value in values])
    top.set_xlabel(words)
