"""Fits by other scores of real values than F, against the fit by F."""

from functools import partial

import numpy as np
from sklearn.feature_selection import f_classif
from timing import cpu_seconds, report, two_classes

from unselected import SelectiveGaussianNB

N_CASES, P, K = 60, 5000, 20
_GOALS = {"wilcoxon": "at most 10"}


def bench_scores(_wide: int, repetitions: int) -> None:
    """Whole fits at n = 60, p = 5000, k = 20: processor time."""
    y = two_classes(N_CASES)
    X = np.random.default_rng(0).normal(size=(N_CASES, P))
    X[y == 1, :10] += 1.0
    by_f = SelectiveGaussianNB(K)
    for score in ("welch", "moderated_t", "mean_difference", "volcano", "wilcoxon", f_classif):
        name = score if isinstance(score, str) else "f_classif, simulated"
        ours, theirs = cpu_seconds(
            partial(SelectiveGaussianNB(K, score_func=score).fit, X, y),
            partial(by_f.fit, X, y),
            repetitions=repetitions,
        )
        what = f"p = {P}, n = {N_CASES}, k = {K}: fit by {name}, over F"
        report(what, ours, theirs, ours / theirs, _GOALS.get(name, ""))
