"""Cuts and errors of omission probabilities in several classes."""

import numpy as np

from unselected.selection.explained import exact_explained


def tie_of(sizes):
    """Return a cut on R^2 that some vectors of counts have exactly."""
    ones = tuple(n // 3 + (-1) ** g * (1 + g // 2) for g, n in enumerate(sizes))
    return exact_explained(ones, sizes)


def largest_errors(found, expected):
    """Return those of P(below), P(at the cut) and P(at most), given totals or not."""
    names = ("log_below", "log_at_cut", "log_at_most")
    each = [(np.exp(getattr(found, name)), np.exp(getattr(expected, name))) for name in names]
    return np.array([np.max(np.abs(a - b)) for a, b in each])
