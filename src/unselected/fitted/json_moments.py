"""Moments of real-valued features in a model file, checked."""

import numpy as np

from unselected._typing import Floats, Ints
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_array,
    check_list,
    check_real,
    check_reals,
    check_record,
    check_whole,
    check_wholes,
)
from unselected.fitted.json_parts import LARGEST_SQUARES, LEAST_SQUARES, MOST_CASES
from unselected.selection.score_names import LARGEST
from unselected.statistics.line import LineStatistics
from unselected.statistics.moments import ClassMoments, Contrasts, LineMoments

# Bounds of any number, and of a sum of squares.
_ANY, _SQUARES = (-LARGEST, LARGEST), (0.0, LARGEST_SQUARES)
_MOST_CLASSES = 1000


_MOST_AXES = 10**8


# How far apart sums of squares may be.
_MOST_RATIO = 1e270


# The standard deviation of a response, and how much larger its mean may be.
_LEAST_UNIT, _LARGEST_UNIT, _MOST_UNITS = 1e-100, 1e100, 1e20


def check_squares(contrasts: Contrasts) -> None:
    """Raise where sums of squares, or their ratios, have no finite logarithm."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = contrasts.within + np.sum(contrasts.beta**2, axis=1)
    varying = total[total != 0.0]
    wrong = ~((varying >= LEAST_SQUARES) & (varying <= LARGEST_SQUARES))
    if wrong.any():
        raise Fault(f"moments has a feature whose sum of squares is {varying[np.argmax(wrong)]:g}.")
    if varying.size and varying.max() / _MOST_RATIO > varying.min():
        raise Fault("moments has features whose sums of squares are too far apart.")


def _columns(fields: Entries, k: int, bounds: dict[str, tuple[float, float]]) -> dict[str, Floats]:
    """Return the entries of these names, a number within its bounds for each feature."""
    return {
        name: check_reals(fields[name], f"moments {name}", k, *ends)
        for name, ends in bounds.items()
    }


def parse_class_moments(entry: object) -> ClassMoments:
    """Return moments by class."""
    fields = check_record(entry, "moments", ("sizes", "n", "center", "offset", "within"))
    sizes = _parse_sizes(fields["sizes"])
    k = len(check_list(fields["center"], "moments center"))
    bound = 2.0 * np.sqrt(LARGEST_SQUARES)
    moments = ClassMoments(
        sizes=sizes,
        n=_parse_known(fields["n"], sizes.tolist(), k),
        offset=check_array(fields["offset"], "moments offset", (sizes.size, k), -bound, bound),
        **_columns(fields, k, {"center": _ANY, "within": _SQUARES}),
    )
    # Sums run in memory order, which has to be that after training.
    moments = moments.take(np.arange(k))
    check_squares(moments.contrasts())
    return moments


def _parse_sizes(entry: object) -> Ints:
    G = len(check_list(entry, "moments sizes"))
    check_whole(G, "the length of moments sizes", 2, _MOST_CLASSES)
    sizes = check_wholes(entry, "moments sizes", G, 1, MOST_CASES)
    check_whole(int(sizes.sum()), "the sum of moments sizes", G + 1, MOST_CASES)
    return sizes


def _parse_known(entry: object, sizes: list[int], k: int) -> Ints:
    """Return the known values by class: one column where none are missing, else k."""
    rows = check_list(entry, "moments n", len(sizes))
    width = k if rows and isinstance(rows[0], list) and len(rows[0]) != 1 else 1
    if width > 1:
        check_whole(k * len(sizes) ** 2, "the work for missing values", 0, _MOST_AXES)
    each = [
        # A single column may be that of a single feature.
        check_wholes(row, "moments n", width, 1 if k == width else size, size)
        for row, size in zip(rows, sizes, strict=True)
    ]
    n = np.stack(each)
    few = np.min(n.sum(axis=0), initial=MOST_CASES)
    check_whole(int(few), "a sum of moments n", len(sizes) + 1, MOST_CASES)
    return n


def _parse_line_moments(entry: object) -> LineMoments:
    columns = ("n", "center", "offset", "y_mean", "syy", "sxy", "within")
    fields = check_record(entry, "moments", ("unit", *columns, "complete"))
    complete = check_record(fields["complete"], "moments complete", ("n", "syy"))
    n = check_whole(complete["n"], "moments complete n", 3, MOST_CASES)
    unit = check_real(fields["unit"], "moments unit", _LEAST_UNIT, _LARGEST_UNIT)
    squares = n * unit**2
    syy = check_real(
        complete["syy"], "moments complete syy", (1 - 1e-9) * squares, (1 + 1e-9) * squares
    )
    k = len(check_list(fields["center"], "moments center"))
    bound = 2.0 * np.sqrt(LARGEST_SQUARES)
    most = float(np.sqrt(LARGEST_SQUARES * syy))
    bounds = {
        "center": _ANY,
        "offset": (-bound, bound),
        "y_mean": _ANY,
        "syy": (1e-12 * syy, (1 + 1e-9) * syy),
        "sxy": (-most, most),
        "within": _SQUARES,
    }
    moments = LineMoments(
        unit=unit,
        n=check_wholes(fields["n"], "moments n", k, 3, n),
        **_columns(fields, k, bounds),
        complete=(n, syy),
    )
    check_squares(moments.contrasts())
    return moments


def _check_means(moments: LineMoments, y_mean: float) -> None:
    """Raise where the mean response of some cases is further out than any case can be."""
    _, syy = moments.complete
    most = (1 + 1e-9) * np.sqrt(syy) + 1e-14 * abs(y_mean)
    with np.errstate(over="ignore"):
        wrong = ~(np.abs(moments.y_mean - y_mean) <= most)
    if wrong.any():
        raise Fault(
            f"moments y_mean has {moments.y_mean[np.argmax(wrong)]!r}, too far from the mean of "
            f"all cases, {y_mean!r}."
        )


def parse_line_statistics(moments_entry: object, mean_entry: object) -> LineStatistics:
    """Return moments with a real response, and its mean."""
    moments = _parse_line_moments(moments_entry)
    bound = _MOST_UNITS * moments.unit
    y_mean = check_real(mean_entry, "y_mean", -bound, bound)
    _check_means(moments, y_mean)
    return LineStatistics(moments, y_mean)
