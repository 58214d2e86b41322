"""Logistic regressions with a penalty that inner folds choose: the lasso and the elastic net."""

from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.multiclass import OneVsRestClassifier

# Inverse strengths of the penalty that are tried.
_STRENGTHS = np.logspace(-1.5, 1.5, 7)
# The elastic net is fitted to the features with the largest F: its solver is slow.
MOST_FEATURES = 1000
# The solver of the elastic net, saga, comes close to the optimum, not quite there.
_CLOSE, _MOST_STEPS = 1e-3, 100


def scikit_learn_is(*at_least: int) -> bool:
    """Say whether the installed scikit-learn is this version or a later one."""
    return tuple(int(part) for part in version("scikit-learn").split(".")[:2]) >= at_least


def lasso_classifier(folds: Any, seed: int) -> OneVsRestClassifier:
    """Return the lasso; of several classes each against the others."""
    return OneVsRestClassifier(_penalized(1.0, folds, seed, solver="liblinear"))


def elastic_net_classifier(folds: Any, seed: int) -> LogisticRegressionCV:
    """Return the elastic net with as much of the lasso's penalty as of the ridge's."""
    return _penalized(0.5, folds, seed, solver="saga", tol=_CLOSE, max_iter=_MOST_STEPS)


def _penalized(l1_ratio: float, folds: Any, seed: int, **solving: Any) -> LogisticRegressionCV:
    settings = {"Cs": _STRENGTHS, "cv": folds, "scoring": "neg_log_loss", "random_state": seed}
    if scikit_learn_is(1, 8):
        settings |= {"l1_ratios": (l1_ratio,), "use_legacy_attributes": False}
    elif l1_ratio == 1.0:
        settings |= {"penalty": "l1"}
    else:
        settings |= {"penalty": "elasticnet", "l1_ratios": (l1_ratio,)}
    return LogisticRegressionCV(**settings, **solving)
