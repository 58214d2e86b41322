"""Fits and passes with covariates, against the same without."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import random_reals, report, seconds, two_classes

from unselected import SelectiveGaussianNB
from unselected.selection.streaming import StreamingSelection, adjusted_scores, class_scores
from unselected.statistics.design import CovariateBasis, Design

# Directions of the covariates, the intercept included.
_DIRECTIONS = 5


def bench_covariates(p: int, repetitions: int) -> None:
    """Fit to a tenth of the columns, and pass over all of them, with four covariates."""
    n, y = 200, two_classes(200)
    coded = np.random.default_rng(2).normal(size=(n, _DIRECTIONS - 1))
    X = random_reals(n, p)
    some = np.ascontiguousarray(X[:, : p // 10])
    with_z, without = seconds(
        partial(SelectiveGaussianNB(k=100).fit, some, y, covariates=coded),
        partial(SelectiveGaussianNB(k=100).fit, some, y),
        repetitions=repetitions,
    )
    what = f"p = {some.shape[1]}, n = {n} float32, {_DIRECTIONS - 1} covariates: whole fit"
    report(what, with_z, without, with_z / without, "at most 2")
    design = Design.by_class(CovariateBasis.learn(coded).apply(coded), y, 2)
    with_z, without = seconds(
        partial(_adjusted, X, design), partial(_plain, X, y), repetitions=repetitions
    )
    what = f"p = {p}, n = {n} float32, {_DIRECTIONS - 1} covariates: pass and selecting"
    report(what, with_z, without, with_z / without, "at most 2.5")


def _adjusted(X: NDArray[Any], design: Design) -> object:
    return adjusted_scores(X, design, str, StreamingSelection(k=100))


def _plain(X: NDArray[Any], y: NDArray[np.intp]) -> object:
    return class_scores(X, y, 2, str, StreamingSelection(k=100))
