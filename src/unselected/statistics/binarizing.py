"""How a column becomes bits: where it is cut, and which values are bits already."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.columns.blocks import find_missing, first_fault

Binarize = Literal["auto", "median"] | float | None


# Cut of a column that is 0/1 already.
AS_IS = 0.5
# Three consecutive integers that start beyond this are measurements rather than codes.
_LARGE = 100
# A column with one value, its smallest or largest, in more than this part of the cases is an
# indicator of the others.
_MOSTLY = 0.75
# So far from the common value another one has to be, in parts of its size and of the distance of
# the nearest other value. Numbers in single precision are equal to those in double precision then.
_SLACK = 1e-6


# Which values are missing, (n, p); None where none is.
Missing = NDArray[np.bool_] | None
# Says which columns are modelled as binary, and above which value each of these is a one.
FindBinary = Callable[[NDArray[Any]], tuple[NDArray[np.bool_], Floats]]


def binarize_columns(
    X: NDArray[Any],
    thresholds: Floats,
    binarize: Binarize,
    label: ColumnNamer,
    missing_allowed: bool = False,
) -> NDArray[Any]:
    """Turn columns of new rows into bits with the cuts of the training rows.

    Returns
    -------
    bits : array of shape (n, p)
        Booleans; where a value is missing, floats with 0, 1 and NaN.

    Examples
    --------
    >>> X = np.array([[0.2], [np.nan], [0.9]])
    >>> binarize_columns(X, np.array([0.5]), "auto", str, missing_allowed=True).tolist()
    [[0.0], [nan], [1.0]]
    """
    missing = find_missing(X, label, missing_allowed=missing_allowed)
    if binarize is None:
        _check_zero_one(X, label, missing)
    above = np.asarray(X > thresholds)
    return above if missing is None else np.where(missing, np.nan, above)


def find_cuts(
    X: NDArray[Any], binarize: Binarize, label: ColumnNamer, missing: Missing = None
) -> Floats:
    """Return where each column is cut; a known value above is a one."""
    return find_cuts_and_steps(X, binarize, label, missing)[0]


def find_cuts_and_steps(
    X: NDArray[Any], binarize: Binarize, label: ColumnNamer, missing: Missing = None
) -> tuple[Floats, int]:
    """Return where each column is cut, and the number of columns of three steps "auto" cut."""
    if isinstance(binarize, int | float):
        return np.full(X.shape[1], float(binarize)), 0
    if binarize is None:
        _check_zero_one(X, label, missing)
        return np.full(X.shape[1], AS_IS), 0
    if binarize == "median":
        return _median_cuts(X, missing), 0
    cuts = np.full(X.shape[1], AS_IS)
    other = np.flatnonzero(~are_bits(X, missing))
    if not other.size:
        return cuts, 0
    values, unknown = X[:, other], None if missing is None else missing[:, other]
    cuts[other] = _median_cuts(values, unknown)
    return cuts, count_three_steps(values, unknown)


def count_three_steps(X: NDArray[Any], missing: Missing = None) -> int:
    """Return the number of columns that have three values, which are consecutive integers.

    Genotypes are such columns: 0, 1 or 2 copies of an allele. Missing values are no values.

    >>> count_three_steps(np.array([[0, 0, 1, 0.5], [1, 2, 2, 1.5], [2, 0, 1, 2.5]]))
    1
    """
    low, high = _ranges(X, missing)
    small = (low > -_LARGE) & (low < _LARGE)
    some = np.flatnonzero(small & (high == low + 2) & (low == np.round(low)))
    middle = X[:, some] == low[some] + 1
    ends = (X[:, some] == low[some]) | (X[:, some] == high[some])
    fine = ends | middle if missing is None else ends | middle | missing[:, some]
    return int(np.count_nonzero(np.all(fine, axis=0) & middle.any(axis=0)))


def _ranges(X: NDArray[Any], missing: Missing) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the smallest and the largest known value of each column; inf and -inf for none."""
    if missing is None:
        return X.min(axis=0), X.max(axis=0)
    known = ~missing
    return (
        X.min(axis=0, where=known, initial=np.inf),
        X.max(axis=0, where=known, initial=-np.inf),
    )


def _median_cuts(X: NDArray[Any], missing: Missing) -> Floats:
    """Return the median of each column, or the next smaller value where nothing is above it.

    Otherwise a column that is mostly at its largest value would become constant.
    """
    cuts = np.median(X, axis=0) if missing is None else _known_medians(X, missing)
    cuts = cuts.astype(np.float64)
    smallest, largest = _ranges(X, missing)
    for j in np.flatnonzero((cuts >= largest) & (smallest < largest)):
        cuts[j] = X[X[:, j] < largest[j], j].max()
    return cuts


def _known_medians(X: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the median of the known values of each column; `AS_IS` where there are none.

    >>> X = np.array([[5.0, np.nan], [np.nan, np.nan], [2.0, np.nan]])
    >>> _known_medians(X, np.isnan(X)).tolist()
    [3.5, 0.5]
    """
    n_known = len(X) - missing.sum(axis=0)
    ordered, columns = np.sort(X, axis=0), np.arange(X.shape[1])  # the missing values are last
    low = ordered[np.maximum(n_known - 1, 0) // 2, columns]
    high = ordered[np.minimum(n_known // 2, len(X) - 1), columns]
    even = n_known % 2 == 0
    low[even] = np.mean([low[even], high[even]], axis=0)  # to the last bit as `numpy.median` does
    return np.where(n_known > 0, low, AS_IS)


def are_bits(X: NDArray[Any], missing: Missing = None) -> NDArray[np.bool_]:
    """Say which columns are 0 and 1, but for missing values."""
    if X.dtype.kind in "bu":  # none is negative or missing
        return np.asarray(X.max(axis=0, initial=0) <= 1)
    return np.asarray(np.all(_is_zero_one(X, missing), axis=0))


def find_indicators(X: NDArray[Any]) -> tuple[NDArray[np.bool_], Floats]:
    """Say which columns are indicators, and above which value each of these is a one.

    These are columns of two values, whatever they are, and columns in which more than three
    quarters of the cases have the smallest value, or the largest: words of a text that are counted
    or weighted, species in a sample. No value is missing. How far the other values lie from the
    common one says little, and to a model of real values thousands of such columns are a sign that
    nothing is related to the classes: most of them never could be selected.

    Returns
    -------
    indicators : array of shape (p,)
    cuts : array of shape (p,)
        `AS_IS` for columns of 0 and 1, and for those that are no indicators.

    Examples
    --------
    >>> columns = [0, 1, 0, 1, 1], [-1, 3, 3, -1, 3], [0.0, 0.0, 0.0, 0.4, 0.0], [7, 1, 2, 3, 4]
    >>> indicators, cuts = find_indicators(np.array(columns).T)
    >>> indicators.tolist(), cuts.round(4).tolist()
    ([True, True, True, False], [0.5, -1.0, 0.0, 0.5])
    """
    indicators, cuts = are_bits(X), np.full(X.shape[1], AS_IS)
    other = np.flatnonzero(~indicators)
    if not other.size:
        return indicators, cuts
    values = X if other.size == X.shape[1] else X[:, other]
    low, high = values.min(axis=0), values.max(axis=0)
    at_low, at_high = values == low, values == high
    n_low, n_high, n = at_low.sum(axis=0), at_high.sum(axis=0), len(X)
    mostly_high = (n_high > _MOSTLY * n) & (n_low + n_high < n)
    found = ((n_low > _MOSTLY * n) | (n_low + n_high == n) | mostly_high) & (low < high)
    indicators[other] = found
    high_is_common, values = mostly_high[found], values[:, found]
    low, high = (np.asarray(each[found], dtype=np.float64) for each in (low, high))
    common = np.where(high_is_common, high, low)
    distance = np.abs(values - common)
    nearest = np.where(distance > 0.0, distance, np.inf).min(axis=0)
    slack = np.minimum(_SLACK * (np.abs(common) + nearest), 0.5 * nearest)
    own = np.where(high_is_common, common - slack, common + slack)
    own[own == AS_IS] = np.nextafter(AS_IS, 1.0)  # not to be taken for a column of 0 and 1
    cuts[other[found]] = own
    return indicators, cuts


def find_bits(X: NDArray[Any]) -> tuple[NDArray[np.bool_], Floats]:
    """Say the same where columns of 0 and 1 alone are binary."""
    return are_bits(X), np.full(X.shape[1], AS_IS)


def find_none(X: NDArray[Any]) -> tuple[NDArray[np.bool_], Floats]:
    """Say the same where no column is."""
    return np.zeros(X.shape[1], dtype=bool), np.full(X.shape[1], AS_IS)


def as_indicators(X: NDArray[Any], find_binary: FindBinary = find_indicators) -> NDArray[Any]:
    """Return columns of training cases, with 0 and 1 in those that are modelled as binary."""
    binary, cuts = find_binary(X)
    recoded = np.flatnonzero(binary & (cuts != AS_IS))
    if not recoded.size:
        return X
    X = X.copy()
    X[:, recoded] = X[:, recoded] > cuts[recoded]
    return X


def _is_zero_one(X: NDArray[Any], missing: Missing) -> NDArray[np.bool_]:
    is_bit = (X == 0) | (X == 1)
    return np.asarray(is_bit if missing is None else is_bit | missing)


def _check_zero_one(X: NDArray[Any], label: ColumnNamer, missing: Missing) -> None:
    wrong = ~_is_zero_one(X, missing)
    if wrong.any():
        row, column = first_fault(wrong)
        raise ValueError(
            f"{label(column)} has the value {X[row, column]!s} in row {row}, but binarize=None "
            "takes only 0 and 1: recode the column, or let binarize='auto' cut it at its median."
        )
