"""Scores of binary features other than correlation and F: formulas, and how ties are found.

I_g ones among the n_g known values of class g, m among n in all. Constant features have the score
of no association. Scores that are rational are compared in fractions. Mutual information and custom
scores are not: they are compared by their first ten digits.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from unselected._typing import Floats, Ints
from unselected.selection.correlation import threshold_cut
from unselected.selection.count_score import (
    EXPLAINED,
    CountScore,
    ScoreKeys,
    distinct_columns,
    just_above,
)
from unselected.selection.explained import exact_explained, explained
from unselected.selection.fisher import log10_reciprocals, reciprocal
from unselected.selection.score_names import LARGEST
from unselected.statistics.counts import ClassCounts
from unselected.statistics.moments import Statistic

# Digits by which scores that are not rational are compared.
DIGITS = 10
# Digits of logarithms of p-values before they are rounded to doubles.
_PRECISION = 60

Function = Callable[[Ints, Ints], Any]


class RationalScore(CountScore):
    """A score that is a fraction, or an increasing function of one."""

    @abstractmethod
    def key(self, ones: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
        """Return the fraction of one column."""

    def distinct(self, counts: ClassCounts) -> ScoreKeys:
        """Return the fractions of distinct columns, and which of them each column has."""
        rows, value_of = distinct_columns(counts)
        return [self.key(*row) for row in rows], value_of


@dataclass(frozen=True)
class ChiSquared(RationalScore):
    """Pearson's chi-squared of the table of classes by values, n R^2."""

    def statistic(self, n_classes: int) -> Statistic:  # noqa: ARG002
        """Return the name of the score."""
        return "chi2"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return n R^2."""
        known = counts.known_values
        return np.asarray(known.sum(axis=0, dtype=np.int64) * explained(counts.ones, known))

    def key(self, ones: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
        """Return n R^2 as a fraction.

        >>> ChiSquared().key((1, 4), (5, 5))
        Fraction(18, 5)
        """
        return sum(known) * exact_explained(ones, known)

    def cut_among(
        self, cut: Fraction, known: tuple[int, ...], sizes: Ints
    ) -> tuple[Fraction, CountScore]:
        """Return the bound on R^2 = chi-squared / n."""
        del sizes
        return min(cut / sum(known), threshold_cut(1.0)), EXPLAINED


@dataclass(frozen=True)
class RateDifference(RationalScore):
    """The largest difference between the rates I_g / n_g of two classes."""

    def statistic(self, n_classes: int) -> Statistic:  # noqa: ARG002
        """Return the name of the score."""
        return "rate_difference"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return the largest of |n_g I_h - n_h I_g| / (n_g n_h)."""
        ones, known = counts.ones.astype(np.int64), counts.known_values.astype(np.int64)
        largest = np.zeros(counts.n_columns)
        for g, h in combinations(range(len(ones)), 2):
            difference = np.abs(known[g] * ones[h] - known[h] * ones[g])
            np.maximum(largest, difference / (known[g] * known[h]), out=largest)
        return largest

    def key(self, ones: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
        """Return the largest difference as a fraction.

        >>> RateDifference().key((1, 4, 2), (5, 5, 4))
        Fraction(3, 5)
        """
        rates = [Fraction(i, n) for i, n in zip(ones, known, strict=True)]
        return max(rates) - min(rates)


@dataclass(frozen=True)
class OddsRatio(RationalScore):
    """The odds ratio of two classes or its reciprocal, whichever is larger.

    It is infinite where one of the four cells is 0, and 1 for constant features. The key is Yule's
    Q = (OR - 1) / (OR + 1), which is finite.
    """

    def statistic(self, n_classes: int) -> Statistic:
        """Return the name of the score."""
        check_two_classes("odds_ratio", n_classes)
        return "odds_ratio"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return Q = |a d - b c| / (a d + b c); 0 for constant features."""
        ones, known = counts.ones.astype(np.int64), counts.known_values.astype(np.int64)
        with_one = ones[1] * (known[0] - ones[0])
        with_zero = ones[0] * (known[1] - ones[1])
        return np.asarray(np.abs(with_one - with_zero) / np.maximum(with_one + with_zero, 1))

    def key(self, ones: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
        """Return Q as a fraction.

        >>> OddsRatio().key((1, 4), (5, 5))
        Fraction(15, 17)
        """
        with_one, with_zero = ones[1] * (known[0] - ones[0]), ones[0] * (known[1] - ones[1])
        return Fraction(abs(with_one - with_zero), max(with_one + with_zero, 1))

    def value(self, key: Fraction, sizes: Ints) -> float:
        """Return the odds ratio; the largest double stands for infinity."""
        del sizes
        return LARGEST if key == 1 else float((1 + key) / (1 - key))

    def cut_at(self, gamma: float, sizes: Ints) -> Fraction:
        """Return Q of an odds ratio; nothing is above infinity."""
        del sizes
        if gamma == LARGEST:
            return Fraction(1)
        ratio = just_above(gamma)
        return (ratio - 1) / (ratio + 1)


@dataclass(frozen=True)
class FisherTest(RationalScore):
    """-log10 of the two-sided p-value of Fisher's exact test in two classes. The key is 1 / p.

    ``rough`` has 1 added, so that the relative closeness of p-values near 1 is what it should be.
    """

    close: ClassVar[float] = 1e-9

    def statistic(self, n_classes: int) -> Statistic:
        """Return the name of the score."""
        check_two_classes("fisher", n_classes)
        return "fisher"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return 1 - log10 p."""
        return 1.0 + log10_reciprocals(counts.ones, counts.known_values)

    def key(self, ones: tuple[int, ...], known: tuple[int, ...]) -> Fraction:
        """Return 1 / p as a fraction.

        >>> FisherTest().key((1, 4), (5, 5))
        Fraction(63, 13)
        """
        return reciprocal(ones, known)

    def rough_of(self, key: Fraction) -> float:
        """Return 1 - log10 p."""
        return 1.0 + _log10(key)

    def value(self, key: Fraction, sizes: Ints) -> float:
        """Return -log10 p, correctly rounded."""
        del sizes
        return _log10(key)

    def cut_at(self, gamma: float, sizes: Ints) -> Fraction:
        """Return 10 to the power of gamma."""
        del sizes
        power = just_above(gamma)
        with localcontext() as context:
            context.prec = _PRECISION
            exponent = Decimal(power.numerator) / Decimal(power.denominator)
            return Fraction(Decimal(10) ** exponent)


class RoundedScore(CountScore):
    """A score that is not rational: the key is ``rough``, rounded to `DIGITS` digits."""

    # Rounding to ten digits moves a number by 5e-10 of itself at most.
    close: ClassVar[float] = 2e-9

    def distinct(self, counts: ClassCounts) -> ScoreKeys:
        """Return the rounded values of distinct columns, and which of them each column has."""
        rows, value_of = distinct_columns(counts)
        ones, known = (np.array(part, dtype=np.int64).T for part in zip(*rows, strict=True))
        values = self.rough(ClassCounts(ones, counts.sizes, known))
        return [_rounded(value) for value in values.tolist()], value_of


@dataclass(frozen=True)
class MutualInformation(RoundedScore):
    """The mutual information of a feature and the class, in nats."""

    def statistic(self, n_classes: int) -> Statistic:  # noqa: ARG002
        """Return the name of the score."""
        return "mutual_info"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return sums of i log i, which are 0 where the rates are equal.

        n MI = sum over g of L(I_g) + L(n_g - I_g) - L(n_g), less L(m) + L(n - m) - L(n).
        """
        ones, known = counts.ones.astype(np.int64), counts.known_values.astype(np.int64)
        m, n = ones.sum(axis=0), known.sum(axis=0)
        L = _i_log_i(int(counts.sizes.sum()))
        of_classes = (L[ones] + L[known - ones] - L[known]).sum(axis=0)
        information = (of_classes - (L[m] + L[n - m] - L[n])) / n
        independent = np.all(n * ones == known * m, axis=0)
        return np.where(independent, 0.0, np.maximum(information, 0.0))


@dataclass(frozen=True)
class CustomScore(RoundedScore):
    """A score that the user defines.

    Attributes
    ----------
    function : callable or None
        ``function(ones, sizes)`` returns the scores of columns, large for strong ones. Both arrays
        have shape (G, columns), and hold the numbers of ones and of known values. None where the
        score was read from a model file, which does not hold it.
    """

    function: Function | None

    def statistic(self, n_classes: int) -> Statistic:  # noqa: ARG002
        """Return the name of the score."""
        return "custom"

    def rough(self, counts: ClassCounts) -> Floats:
        """Return the scores, checked; the largest double stands for infinity."""
        if self.function is None:
            raise ValueError(
                "a model file does not hold the function of a custom score, which the omission "
                "probability needs: use the estimator that was fitted."
            )
        if counts.n_columns == 0:
            return np.empty(0)
        ones, known = counts.ones.astype(np.int64), counts.known_values.astype(np.int64)
        values = _checked(self.function(ones, known), ones.shape[1])
        if (nan := np.isnan(values)).any():
            first = int(np.argmax(nan))
            raise ValueError(
                f"score_func returned NaN for a feature with {_listed(ones[:, first])} ones among "
                f"{_listed(known[:, first])} known values in the classes: it must return a number "
                "for all counts, also of constant features."
            )
        return np.nan_to_num(values, posinf=LARGEST, neginf=-LARGEST)


SCORES: dict[str, CountScore] = {
    "correlation": EXPLAINED,
    "chi2": ChiSquared(),
    "mutual_info": MutualInformation(),
    "fisher": FisherTest(),
    "odds_ratio": OddsRatio(),
    "rate_difference": RateDifference(),
}


def score_called(statistic: Statistic) -> CountScore:
    """Return the score that has a name in a model file."""
    if statistic == "custom":
        return CustomScore(None)
    return SCORES.get(statistic, EXPLAINED)


def check_two_classes(name: str, n_classes: int) -> None:
    """Raise where a score of two classes is asked for with more."""
    if n_classes != 2:
        raise ValueError(
            f"score_func={name!r} compares two classes, and y has {n_classes}: use "
            "score_func='chi2', 'mutual_info' or 'rate_difference'."
        )


def _checked(values: Any, n_columns: int) -> Floats:
    """Return the scores that a function returned, as doubles, or raise."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"score_func returned {type(values).__name__}, where an array of numbers is expected, "
            "one for each column."
        ) from None
    if array.shape != (n_columns,):
        raise ValueError(
            f"score_func returned an array of shape {array.shape} for {n_columns} columns: it must "
            f"be ({n_columns},), one score for each column of its arguments."
        )
    return array


def _listed(numbers: Ints) -> str:
    return ", ".join(map(str, numbers.tolist()))


def _rounded(value: float) -> Fraction:
    """Return a number with its first digits only.

    >>> float(_rounded(0.1 + 0.2)), float(_rounded(LARGEST)) == LARGEST
    (0.3, True)
    """
    shortened = float(f"{value:.{DIGITS - 1}e}")
    return Fraction(min(max(shortened, -LARGEST), LARGEST))


@lru_cache(maxsize=4)
def _i_log_i(n: int) -> Floats:
    """Return i log i of 0 to n."""
    i = np.arange(n + 1.0)
    return np.asarray(xlogy(i, i))


@lru_cache(maxsize=1 << 12)
def _log10(value: Fraction) -> float:
    """Return a logarithm, correctly rounded; equal fractions have equal logarithms."""
    with localcontext() as context:
        context.prec = _PRECISION
        return float((Decimal(value.numerator) / Decimal(value.denominator)).log10())
