"""Which sums give the omission probability of binary features, and how many may be taken."""

from fractions import Fraction
from typing import Literal

from unselected._typing import Ints
from unselected.omission.count_tables import MOST_ENTRIES, TotalsAlone, n_entries
from unselected.omission.several_classes import MOST_SUMS, SeveralClasses, n_sums
from unselected.statistics.moments import Statistic

Rates = Literal["uniform", "given"]

# Each pattern of known values takes about as long as a fit without missing values.
MOST_PATTERNS = 1000
# With several classes large tables take longer than two parts of the classes.
_MOST_ENTRIES_OF_SEVERAL = MOST_ENTRIES >> 3
_MOST_ENTRIES_OF_MANY_FITS = 1 << 17
# Sums for one value of theta that take a millisecond or less.
_MOST_QUICK_SUMS = 1 << 16


def is_tabulated(sizes: tuple[int, ...]) -> bool:
    """Say whether, given totals, all vectors of counts are put into one table."""
    most = MOST_ENTRIES if len(sizes) == 2 else _MOST_ENTRIES_OF_SEVERAL
    return n_entries(sizes) <= most


def is_quick(sizes: tuple[int, ...]) -> bool:
    """Say whether, given totals, a fit takes so little time that many can be made.

    >>> is_quick((1000, 1000)), is_quick((40, 40, 40)), is_quick((100, 100, 100))
    (True, True, False)
    """
    if len(sizes) == 2:
        return is_tabulated(sizes)
    return n_entries(sizes) <= _MOST_ENTRIES_OF_MANY_FITS


def omission_given_totals(
    sizes: tuple[int, ...], cut: Fraction | None, refinement: int
) -> SeveralClasses | TotalsAlone:
    """Return the omission probabilities given totals, where they are not tabulated."""
    if cut is None:
        return TotalsAlone(sizes, refinement)
    return SeveralClasses(sizes, cut, refinement, by_total=True)


def check_work(patterns: Ints, rates: Rates, *, has_cut: bool) -> None:
    """Raise where the omission probabilities of these numbers of known values take too much.

    ``patterns`` has shape (patterns, G).
    """
    _check_number(patterns)
    each = [tuple(sizes) for sizes in patterns.tolist()]
    sums = sum(_n_sums(sizes, rates, has_cut=has_cut) for sizes in each)
    if sums > MOST_SUMS:
        uniform = "use rates='uniform', which takes any number of cases in two classes; "
        raise ValueError(
            f"the omission probability in classes of {', '.join(map(str, each[-1]))} cases takes "
            f"{sums:.3g} sums over vectors of counts, and at most {MOST_SUMS} are possible: "
            f"{uniform if len(each[0]) == 2 else ''}use SelectiveGaussianNB (gaussian), which "
            "takes 0 and 1 as numbers, merge classes, or fill in missing values."
        )


def is_slow(sizes: tuple[int, ...], rates: Rates, *, has_cut: bool) -> bool:
    """Say whether the omission probability at one value of alpha takes more than milliseconds.

    >>> is_slow((30, 30, 30), "uniform", has_cut=True), is_slow((90,) * 4, "uniform", has_cut=True)
    (False, True)
    """
    return len(sizes) > 2 and _n_sums(sizes, rates, has_cut=has_cut) > _MOST_QUICK_SUMS


def check_tables(patterns: Ints, statistic: Statistic) -> None:
    """Raise where tables of all vectors of counts, which this score needs, are too large."""
    _check_number(patterns)
    each = [tuple(sizes) for sizes in patterns.tolist()]
    largest = max(each, key=n_entries)
    if n_entries(largest) > MOST_ENTRIES:
        raise ValueError(
            f"score_func={statistic!r} needs a table of all counts, which for classes of "
            f"{', '.join(map(str, largest))} cases has {n_entries(largest):.3g} entries, and at "
            f"most {MOST_ENTRIES} are possible: use score_func='correlation' or 'chi2'."
        )
    total = sum(map(n_entries, each))
    if total > MOST_SUMS:
        raise ValueError(
            f"score_func={statistic!r} needs a table of all counts for each of the {len(each)} "
            f"different numbers of known values, with {total:.3g} entries together, and at most "
            f"{MOST_SUMS} are possible: fill in missing values, or use score_func='correlation' or "
            "'chi2'."
        )


def _check_number(patterns: Ints) -> None:
    """Raise where there are too many different numbers of known values."""
    if len(patterns) > MOST_PATTERNS:
        raise ValueError(
            f"binary features have {len(patterns)} different numbers of known values in the "
            f"classes, and at most {MOST_PATTERNS} are possible: fill in missing values (for "
            "example with sklearn.impute.SimpleImputer), or drop features that have many."
        )


def _n_sums(sizes: tuple[int, ...], rates: Rates, *, has_cut: bool) -> float:
    """Return the number of sums for one pattern of known values."""
    if rates == "given" and is_tabulated(sizes):
        return n_entries(sizes)
    if not has_cut or (rates == "uniform" and len(sizes) == 2):
        return 0.0
    return n_sums(sizes)
