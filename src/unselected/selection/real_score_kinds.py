"""Scores of real-valued features other than correlation and F: formulas.

D is the difference between the means of two classes with n_0 and n_1 of the n cases, s_g^2 the
variance within class g, and s^2 the pooled one with nu = n - 2 degrees of freedom.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.selection.real_score import RealScore
from unselected.selection.score_names import LARGEST
from unselected.statistics.moments import Statistic
from unselected.statistics.variance_prior import VariancePrior

RealFunction = Callable[[Floats, NDArray[Any]], Any]
# Columns that show how a function depends on location and scale, and how much it may by rounding.
_N_PROBES, _ROUNDING = 64, 1e-6


class _TwoClasses(NamedTuple):
    """Differences between the means of two classes, and sums of squares within each."""

    difference: Floats
    squares: tuple[Floats, Floats]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, X: Floats, y: Ints) -> "_TwoClasses":
        first, second = X[y == 0], X[y == 1]
        means = first.mean(axis=0), second.mean(axis=0)
        squares = (
            np.sum((first - means[0]) ** 2, axis=0),
            np.sum((second - means[1]) ** 2, axis=0),
        )
        return cls(means[1] - means[0], squares, (len(first), len(second)))

    @property
    def nu(self) -> int:
        return sum(self.sizes) - 2

    @property
    def pooled(self) -> Floats:
        """The sums of squares within classes."""
        return self.squares[0] + self.squares[1]


def _ratio(difference: Floats, squared_error: Floats) -> Floats:
    """Return |difference| / error; 0 where both are 0, and the largest double for infinity."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.abs(difference) / np.sqrt(squared_error)
    return np.asarray(np.nan_to_num(ratio, nan=0.0, posinf=LARGEST))


@dataclass(frozen=True, eq=False)
class TwoClassScore(RealScore):
    """A score that compares two classes."""

    name: ClassVar[Statistic]

    def statistic(self, n_classes: int) -> Statistic:
        """Return the name of the score; raise where there are more than two classes."""
        if n_classes != 2:
            raise ValueError(
                f"score_func={self.name!r} compares two classes, and y has {n_classes}: use "
                "score_func='correlation', which is F here, or a function."
            )
        return self.name


@dataclass(frozen=True, eq=False)
class Welch(TwoClassScore):
    """Absolute t of Welch's test, |D| / sqrt(s_0^2 / n_0 + s_1^2 / n_1)."""

    name: ClassVar[Statistic] = "welch"

    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:  # noqa: ARG002
        """Return the scores."""
        c = _TwoClasses.of(X, y)
        error = sum(s / (n * (n - 1)) for s, n in zip(c.squares, c.sizes, strict=True))
        return _ratio(c.difference, np.asarray(error))

    def checked_with(self, sizes: Ints) -> Self:
        """Raise where a class has a single case, and no variance."""
        if sizes.min() < 2:
            raise ValueError(
                "score_func='welch' needs the variance within each class, and a class has a single "
                "case: use score_func='correlation', or add cases."
            )
        return self


@dataclass(frozen=True, eq=False)
class ScaledScore(TwoClassScore):
    """A score that grows with the scale of a column."""

    @property
    def scale_free(self) -> bool:
        """Whether the score does not depend on the scale."""
        return False


@dataclass(frozen=True, eq=False)
class MeanDifference(ScaledScore):
    """|D|: for logarithms of values, the log fold change."""

    name: ClassVar[Statistic] = "mean_difference"

    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:  # noqa: ARG002
        """Return the scores."""
        return np.abs(_TwoClasses.of(X, y).difference)


@dataclass(frozen=True, eq=False)
class ModeratedT(ScaledScore):
    """|D| / sqrt(s~^2 (1 / n_0 + 1 / n_1)), s~^2 = (d_0 s_0^2 + nu s^2) / (d_0 + nu).

    d_0 and s_0^2 are those of the prior of variances.
    """

    name: ClassVar[Statistic] = "moderated_t"

    prior: VariancePrior | None = None

    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:  # noqa: ARG002
        """Return the scores."""
        assert self.prior is not None
        c, (d, scale) = _TwoClasses.of(X, y), (self.prior.df, self.prior.scale)
        variance = (d * scale + c.pooled) / (d + c.nu)
        return _ratio(c.difference, variance * sum(1.0 / n for n in c.sizes))

    def given(self, prior: VariancePrior) -> Self:
        """Return the score with this prior."""
        return replace(self, prior=prior)


@dataclass(frozen=True, eq=False)
class Volcano(ScaledScore):
    """Above 1 where |D| is above ``fold_change`` and the p-value of the t test below ``p_value``.

    The score is the smaller of |D| / fold_change and log(p) / log(p_value).
    """

    name: ClassVar[Statistic] = "volcano"

    fold_change: float = 1.0
    p_value: float = 0.05

    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:  # noqa: ARG002
        """Return the scores."""
        c = _TwoClasses.of(X, y)
        t = _ratio(c.difference, c.pooled / c.nu * sum(1.0 / n for n in c.sizes))
        with np.errstate(divide="ignore"):
            strength = np.log(2.0 * stdtr(c.nu, -t)) / np.log(self.p_value)
        change = np.abs(c.difference) / self.fold_change
        return np.asarray(np.minimum(np.minimum(change, np.maximum(strength, 0.0)), LARGEST))

    def bounds(self, cut: float, nu: float) -> tuple[float, float]:
        """Return the difference, and the t statistic, that a score above the cut exceeds."""
        p_value = self.p_value**cut
        return cut * self.fold_change, float(-stdtrit(nu, 0.5 * p_value))


@dataclass(frozen=True, eq=False)
class RankScore(TwoClassScore):
    """A function of U, the number of pairs in which the case of the second class is larger.

    Equal values in a pair count half.
    """

    simulated: ClassVar[bool] = True

    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:  # noqa: ARG002
        """Return the scores."""
        n1 = int(np.count_nonzero(y))
        n0 = y.size - n1
        sums = _rank_sums(X, y == 1)
        excess = np.abs(2.0 * sums - n1 * (n1 + 1.0) - n0 * n1)
        return self._of_excess(excess, n0, n1)

    def _of_excess(self, excess: Floats, n0: int, n1: int) -> Floats:
        return np.asarray(self.least + excess * self.unit(n0, n1))

    # The score where U is n_0 n_1 / 2.
    least: ClassVar[float] = 0.0

    @abstractmethod
    def unit(self, n0: int, n1: int) -> float:
        """Return how much one more pair, counted as |2 U - n_0 n_1|, adds to the score."""

    def excess_at(self, cut: float, n0: int, n1: int) -> float:
        """Return |2 U - n_0 n_1| of a column at the cut; whole where the cut is that of one."""
        excess = (cut - self.least) / self.unit(n0, n1)
        return float(np.rint(excess)) if abs(excess - np.rint(excess)) < _ROUNDING else excess


@dataclass(frozen=True, eq=False)
class Wilcoxon(RankScore):
    """|U - n_0 n_1 / 2| / sqrt(n_0 n_1 (n + 1) / 12), without a correction for ties."""

    name: ClassVar[Statistic] = "wilcoxon"

    def unit(self, n0: int, n1: int) -> float:
        """Return how much one more pair adds to the score."""
        return float(0.5 / np.sqrt(n0 * n1 * (n0 + n1 + 1.0) / 12.0))


@dataclass(frozen=True, eq=False)
class AreaUnderCurve(RankScore):
    """The area under the ROC curve, A = U / (n_0 n_1), or 1 - A where that is larger."""

    name: ClassVar[Statistic] = "auc"
    least: ClassVar[float] = 0.5

    def unit(self, n0: int, n1: int) -> float:
        """Return how much one more pair adds to the score."""
        return 0.5 / (n0 * n1)


@dataclass(frozen=True, eq=False)
class CustomRealScore(RealScore):
    """A score that the user defines.

    Attributes
    ----------
    function : callable
        ``function(X, y)`` returns a score for each column of X, large for strong ones, or a pair
        that begins with these, as the score functions of scikit-learn do.
    labels : array of shape (G,)
        What the function is told of the classes.
    ignores_scale : bool
    """

    simulated: ClassVar[bool] = True

    function: RealFunction
    labels: NDArray[Any]
    ignores_scale: bool = True

    @property
    def scale_free(self) -> bool:
        """Whether the score does not depend on the scale."""
        return self.ignores_scale

    def statistic(self, n_classes: int) -> Statistic:  # noqa: ARG002
        """Return the name of the score."""
        return "custom"

    def of(self, X: Floats, y: Ints, label: ColumnNamer) -> Floats:
        """Return the scores, checked; the largest double stands for infinity."""
        values = self.function(X, self.labels[y])
        if isinstance(values, tuple):
            values = values[0]
        try:
            scores = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"score_func returned {type(values).__name__}, where an array of numbers is "
                "expected, one for each column."
            ) from None
        if scores.shape != (X.shape[1],):
            raise ValueError(
                f"score_func returned an array of shape {scores.shape} for {X.shape[1]} columns: "
                f"it must be ({X.shape[1]},), one score for each column of X."
            )
        if (nan := np.isnan(scores)).any():
            raise ValueError(
                f"score_func returned NaN for {label(int(np.argmax(nan)))}: it must return a "
                "number for every column that is not constant."
            )
        return np.nan_to_num(scores, posinf=LARGEST, neginf=-LARGEST)

    def checked_with(self, sizes: Ints) -> Self:
        """Return the score, which knows whether it depends on the scale of a column.

        Normal columns are scored, and the same shifted and stretched.
        """
        y = np.repeat(np.arange(sizes.size), sizes)
        X = np.random.default_rng(0).normal(size=(y.size, _N_PROBES))
        plain, shifted, stretched = (
            self.of(values, y, "column {} of normal values".format)
            for values in (X, X + 2.0, 3.0 * X)
        )
        if not _agree(plain, shifted):
            raise ValueError(
                "score_func changes when a constant is added to a column. The model leaves the "
                "mean of a feature open, so that the probability of such a score is unknown: let "
                "the function subtract the mean or the median of each column first, or take "
                "logarithms of ratios before fit."
            )
        return replace(self, ignores_scale=_agree(plain, stretched))


REAL_SCORES: dict[str, RealScore] = {
    "welch": Welch(),
    "moderated_t": ModeratedT(),
    "wilcoxon": Wilcoxon(),
    "auc": AreaUnderCurve(),
    "mean_difference": MeanDifference(),
    "volcano": Volcano(),
}


def _agree(one: Floats, other: Floats) -> bool:
    """Say whether scores are equal but for rounding."""
    return bool(np.all(np.abs(one - other) <= _ROUNDING * (1.0 + np.abs(one))))


def _rank_sums(X: Floats, second: NDArray[np.bool_]) -> Floats:
    """Return the sums of ranks, from 1 on, of some cases; equal values share their ranks.

    >>> _rank_sums(np.array([[1.0, 1.0], [3.0, 3.0], [2.0, 3.0]]), np.array([False, True, True]))
    array([5., 5.])
    """
    rows = np.ascontiguousarray(X.T)
    order = np.argsort(rows, axis=1)
    values, chosen = np.take_along_axis(rows, order, axis=1), second[order].astype(np.float64)
    sums = chosen @ np.arange(1.0, len(X) + 1.0)
    is_new = values[:, 1:] != values[:, :-1]
    tied = np.flatnonzero(~is_new.all(axis=1))
    if tied.size:
        sums[tied] = np.sum(chosen[tied] * _mid_ranks(is_new[tied]), axis=1)
    return np.asarray(sums)


def _mid_ranks(is_new: NDArray[np.bool_]) -> Floats:
    """Return the ranks of sorted values, given which of them differ from the one before.

    >>> _mid_ranks(np.array([[True, False, True]])).tolist()
    [[1.0, 2.5, 2.5, 4.0]]
    """
    places, yes = np.arange(is_new.shape[1] + 1), np.ones((len(is_new), 1), dtype=np.bool_)
    starts, ends = np.hstack([yes, is_new]), np.hstack([is_new, yes])
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, places.size)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(0.5 * (first + last) + 1.0)
