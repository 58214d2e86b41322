"""Which features a fitted method looks at."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from unselected._typing import Ints


def columns_needed(model: Any) -> set[int]:
    """Return the features that a fitted method looks at; covariates do not count.

    These are the columns that its steps select, and of these the ones whose coefficients or
    importances are not 0 in its last step, where it has such.
    """
    if isinstance(model, CalibratedClassifierCV):
        members = [columns_needed(member.estimator) for member in model.calibrated_classifiers_]
        return set().union(*members)
    if hasattr(model, "regressor_"):
        return columns_needed(model.regressor_)
    steps = list(model.named_steps.values()) if isinstance(model, Pipeline) else [model]
    columns = None
    for step in steps:
        if isinstance(step, ColumnTransformer):
            columns = _selected(step.named_transformers_["features"], columns)
        else:
            columns = _selected(step, columns)
    used = _used(steps[-1])
    if used is None:
        return set() if columns is None else set(columns.tolist())
    if columns is None:
        return set(np.flatnonzero(used).tolist())
    return set(columns[used[: columns.size]].tolist())  # covariates come last


def _selected(step: Any, columns: Ints | None) -> Ints | None:
    """Return the columns that a step selects among these; None stands for all."""
    if isinstance(step, Pipeline):
        for each in step.named_steps.values():
            columns = _selected(each, columns)
        return columns
    if not hasattr(step, "get_support"):
        return columns
    kept = step.get_support(indices=True)
    return np.asarray(kept if columns is None else columns[kept])


def _used(model: Any) -> NDArray[np.bool_] | None:
    """Say which of its inputs a model looks at; None where it does not tell."""
    if isinstance(model, OneVsRestClassifier):
        members = [used for each in model.estimators_ if (used := _used(each)) is not None]
        return np.asarray(np.any(members, axis=0))
    for name in ("coef_", "feature_importances_"):
        if hasattr(model, name):
            return np.asarray(np.any(np.atleast_2d(getattr(model, name)) != 0.0, axis=0))
    return None
