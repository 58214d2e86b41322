"""Which sums give the omission probability of binary features, and how many may be taken."""

from fractions import Fraction
from typing import Literal

from unselected._typing import Ints
from unselected.omission.count_plan import Plan
from unselected.omission.count_tables import MOST_ENTRIES, TotalsAlone, n_entries
from unselected.omission.many_classes import ManyClasses
from unselected.omission.several_classes import MOST_SUMS, SeveralClasses, n_sums
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.statistics.moments import Statistic

Rates = Literal["uniform", "given"]

# Each pattern of known values takes about as long as a fit without missing values.
MOST_PATTERNS = 1000
# With several classes large tables take longer than two parts of the classes.
_MOST_ENTRIES_OF_SEVERAL = MOST_ENTRIES >> 3
_MOST_ENTRIES_OF_MANY_FITS = 1 << 17
# Sums for one value of theta that take a millisecond or less.
_MOST_QUICK_SUMS = 1 << 16
# From so many sums on a transform may be faster: where it has fewer points than so many for each.
_FEWEST_SUMS_BY_TRANSFORM, _POINTS_PER_SUM = 1 << 18, 4.0
# From so many on, pairs of vectors near a block of totals may be.
_FEWEST_SUMS_BY_PAIRS = 3 << 22
# The error of a probability that is interpolated between values of alpha, for each omitted feature.
_NOISE_OF_TRANSFORM = 1e-9


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


def omission_of(
    sizes: tuple[int, ...],
    cut: Fraction | None,
    refinement: int,
    *,
    by_total: bool,
    share: float = 1.0,
) -> SeveralClasses | ManyClasses | TotalsAlone | None:
    """Return the omission probabilities of several classes, where they are not tabulated.

    None where nothing depends on them. ``share`` is what `check_work` returns.
    """
    if cut is None:
        return TotalsAlone(sizes, refinement) if by_total else None
    if is_transformed(sizes, cut):
        return ManyClasses(sizes, cut, refinement, by_total=by_total, share=share)
    return SeveralClasses(sizes, cut, refinement, by_total=by_total)


def is_transformed(sizes: tuple[int, ...], cut: Fraction) -> bool:
    """Say whether not all vectors are enumerated: they are too many, or other ways are faster.

    >>> is_transformed((90,) * 3, Fraction(1, 20)), is_transformed((40,) * 10, Fraction(1, 20))
    (False, True)
    """
    sums = n_sums(sizes)
    if len(sizes) == 2 or sums < _FEWEST_SUMS_BY_TRANSFORM:
        return False
    if sums > MOST_SUMS:
        return True
    plan = Plan(sizes, cut)
    if sums > _FEWEST_SUMS_BY_PAIRS and plan.sums_pairs and plan.n_pairs < sums:
        return True
    return plan.resolves_all and plan.n_points(plan.n_frequencies) < _POINTS_PER_SUM * sums


def check_work(patterns: Ints, rates: Rates, cuts: list[Fraction | None]) -> float:
    """Raise where the omission probabilities of these numbers of known values take too much.

    ``patterns`` has shape (patterns, G), and each has its cut. The result is the part of the work
    that each pattern may take whose counts are transformed.
    """
    _check_number(patterns)
    each = [(tuple(sizes), cut) for sizes, cut in zip(patterns.tolist(), cuts, strict=True)]
    sums = [_n_sums(sizes, rates, has_cut=cut is not None) for sizes, cut in each]
    transformed = [
        (sizes, cut)
        for (sizes, cut), number in zip(each, sums, strict=True)
        if cut is not None and number >= _FEWEST_SUMS_BY_TRANSFORM and is_transformed(sizes, cut)
    ]
    share = 1.0 / max(1, len(transformed))
    for sizes, cut in transformed:
        if not Plan(sizes, cut, share).is_possible:
            raise ValueError(_refused(sizes, f"{len(transformed)} transforms that are too long"))
    enumerated = sum(
        number for pair, number in zip(each, sums, strict=True) if pair not in transformed
    )
    if enumerated > MOST_SUMS:
        many = f"{enumerated:.3g} sums over vectors of counts, and at most {MOST_SUMS} are possible"
        raise ValueError(_refused(each[-1][0], many))
    return share


def _refused(sizes: tuple[int, ...], what: str) -> str:
    uniform = "use rates='uniform', which takes any number of cases in two classes; "
    return (
        f"the omission probability in classes of {', '.join(map(str, sizes))} cases takes {what}: "
        f"{uniform if len(sizes) == 2 else ''}use SelectiveGaussianNB (gaussian), which takes 0 "
        "and 1 as numbers, merge classes, or fill in missing values."
    )


def is_slow(sizes: tuple[int, ...], rates: Rates, *, has_cut: bool) -> bool:
    """Say whether the omission probability at one value of alpha takes more than milliseconds.

    >>> is_slow((30, 30, 30), "uniform", has_cut=True), is_slow((90,) * 4, "uniform", has_cut=True)
    (False, True)
    """
    return len(sizes) > 2 and _n_sums(sizes, rates, has_cut=has_cut) > _MOST_QUICK_SUMS


def noise(sizes: tuple[int, ...], cut: Fraction | None, score: CountScore, rates: Rates) -> float:
    """Return about the error of an omission probability that is said to be exact."""
    if cut is None or score != EXPLAINED or (rates == "given" and is_tabulated(sizes)):
        return 0.0
    return _NOISE_OF_TRANSFORM if is_transformed(sizes, cut) else 0.0


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
