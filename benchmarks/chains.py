"""Effective draws of the Markov chains, and the time they take."""

import time
import warnings

import numpy as np
from scipy.special import ndtr
from timing import report

from unselected import SelectiveFactorClassifier, SelectiveFactorRegressor
from unselected._typing import Floats
from unselected.models.factor import FactorModel
from unselected.models.factor_predictive import Kind
from unselected.numerics.chains import library

_N, _P, _K, _N_TEST = 62, 2000, 20, 100
_LEAST_ESS = 400.0


def bench_factor(_: int, __: int) -> None:
    """Fit the factor model once: seconds for 400 effective draws of tau and of predictions."""
    kinds: tuple[Kind, ...] = ("classes", "real")
    for kind in kinds:
        rng = np.random.default_rng(0)
        X, y, _parameters = FactorModel(kind).simulate(
            _N + _N_TEST, _P, rng, tau=0.4, tau_response=0.8
        )
        cls = SelectiveFactorClassifier if kind == "classes" else SelectiveFactorRegressor
        model = cls(k=_K, random_state=0)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[:_N], y[:_N])
        taken = time.perf_counter() - start
        kept = model._predictor.fitted.predictive
        rows = X[_N:, model.selection_.indices]
        given = kept._of_rows(rows)
        by_draw = given.mean
        if kind == "classes":
            by_draw = ndtr(given.mean / np.sqrt(1.0 + given.variance))
        each = {"tau": _ess(model.posterior_["tau"])}
        shape = model.posterior_["tau"].shape
        tests = [_ess(row.reshape(shape)) for row in by_draw]
        each["worst of 100 predictions"] = min(tests)
        each["median of 100 predictions"] = float(np.median(tests))
        for what, ess in each.items():
            needed = taken * _LEAST_ESS / ess
            size = f"factor, {kind}, n = {_N}, p = {_P}, k = {_K}: {what}, ESS {ess:.0f}"
            report(size, taken, needed, ess / _LEAST_ESS, "ratio over 1; other/ms < 120 s")


def _ess(values: Floats) -> float:
    stats = library("arviz_stats.base").array_stats
    return float(stats.ess(values, method="bulk", chain_axis=0, draw_axis=1))
