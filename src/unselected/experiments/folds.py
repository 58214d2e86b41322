"""What comparisons by cross-validation share: methods by name, folds, intervals over cases."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from unselected._typing import Floats
from unselected.calibration import Estimate
from unselected.columns.sources import ArrayColumns
from unselected.estimators.inputs import TrainingTable, find_columns
from unselected.estimators.parameters import check_whole
from unselected.estimators.selecting import SelectiveEstimator


class RecordOfMethod(Protocol):
    """What one method gave in one repetition."""

    @property
    def method(self) -> str:
        """The name of the method."""


# How many folds there are, or that each case is one.
Splits = int | Literal["loo"]
R = TypeVar("R", bound=RecordOfMethod)


class OutOfFold(NamedTuple):
    """What a method predicts for each case from the others, and how many columns it looks at."""

    values: Floats
    features_needed: float


def with_and_without_correction(ours: Any) -> dict[str, Any]:
    """Return an estimator of this library with and without correction, not fitted."""
    return {
        "corrected": clone(ours).set_params(correct_selection=True),
        "uncorrected": clone(ours).set_params(correct_selection=False),
    }


def with_numbered_columns(ours: Any, table: TrainingTable) -> Any:
    """Return the estimator with ``always_keep`` by number, for the folds have no names."""
    if ours.always_keep is None:
        return ours
    always = find_columns(ours.always_keep, table.names, table.dense.shape[1], "always_keep")
    return clone(ours).set_params(always_keep=always.tolist())


def chosen_methods(methods: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the names of the methods to run, all by default; raise on one that is not known."""
    unknown = [name for name in methods or () if name not in known]
    if unknown:
        raise ValueError(f"methods has {unknown[0]!r}, which is not one of {', '.join(known)}.")
    return list(known if methods is None else methods)


def settings_of(
    table: TrainingTable, k: int, ours: Any, *, n_splits: Splits, methods: list[str]
) -> dict[str, Any]:
    """Return what the numbers of a comparison depend on, in plain types, once ``k`` is checked."""
    data = np.ascontiguousarray(table.dense).tobytes() + np.ascontiguousarray(table.y).tobytes()
    return {
        "k": check_whole("k", k, 1, table.dense.shape[1], "the number of columns"),
        "n_splits": n_splits,
        "methods": methods,
        "estimator": type(ours).__name__,
        **{f"parameter {name}": repr(value) for name, value in ours.get_params().items()},
        "data": sha256(data).hexdigest(),
    }


def imputers(X: NDArray[Any]) -> list[SimpleImputer]:
    """Return the steps that methods without missing values need first: often none."""
    missing = X.dtype.kind == "f" and bool(np.isnan(X).any())
    return [SimpleImputer(strategy="median", keep_empty_features=True)] if missing else []


def out_of_fold(
    X: NDArray[Any],
    y: NDArray[Any],
    folds: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]],
    methods: Callable[[NDArray[Any]], Mapping[str, Any]],
    predict: Callable[[Any, Any, NDArray[Any]], Floats],
    names: NDArray[Any] | None,
) -> dict[str, OutOfFold]:
    """Predict every case by methods that were fitted, selection included, to the other folds.

    Parameters
    ----------
    X, y : arrays
    folds : iterable of (train, test)
        Each case is in one of the tests.
    methods : callable
        Given the responses of a training set, the methods by name, not fitted.
    predict : callable
        Given a fitted method, the rows and the responses of a test, one row of numbers for each.
    names : array of str, or None
        What the columns are called, for errors of our own methods.

    Returns
    -------
    predictions : dict of str to OutOfFold
    """
    parts: dict[str, list[Floats]] = {}
    needed: dict[str, list[int]] = {}
    tests = []
    for train, test in folds:
        tests.append(test)
        for name, method in methods(y[train]).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # f_classif divides by zero on constant columns
                model = _fitted(name, method, rows_for(method, X[train], names), y[train])
                rows = rows_for(method, X[test], names)
                parts.setdefault(name, []).append(predict(model, rows, y[test]))
            needed.setdefault(name, []).append(len(columns_needed(model)))
    back = np.argsort(np.concatenate(tests))
    return {
        name: OutOfFold(np.concatenate(parts[name])[back], float(np.mean(needed[name])))
        for name in parts
    }


def rows_for(method: Any, X: NDArray[Any], names: NDArray[Any] | None) -> Any:
    """Return rows as a method takes them: ours also take the names of the columns, for errors."""
    return ArrayColumns(X, names) if isinstance(method, SelectiveEstimator) else X


def _fitted(name: str, method: Any, X: Any, y: NDArray[Any]) -> Any:
    try:
        return method.fit(X, y)
    except ValueError as error:
        raise ValueError(
            f"{name!r} cannot be fitted to {len(y)} cases of the cross-validation: {error}"
        ) from error


def columns_needed(model: Any) -> set[int]:
    """Return the columns that a fitted method looks at."""
    if isinstance(model, CalibratedClassifierCV):
        members = [columns_needed(member.estimator) for member in model.calibrated_classifiers_]
        return set().union(*members)
    inner = getattr(model, "regressor_", model)
    steps = list(inner.named_steps.values()) if isinstance(inner, Pipeline) else [inner]
    for step in steps:
        if hasattr(step, "get_support"):
            return set(step.get_support(indices=True).tolist())
    return set(np.flatnonzero(getattr(steps[-1], "coef_", ())).tolist())


def by_method(records: Iterable[R]) -> dict[str, list[R]]:
    """Return the records of each method, in the order of the methods."""
    groups: dict[str, list[R]] = {}
    for record in records:
        groups.setdefault(record.method, []).append(record)
    return groups


def resampled_cases(n: int, n_resamples: int, seed: int) -> NDArray[np.int64]:
    """Return which cases each resample has, shape (n_resamples, n)."""
    return np.random.default_rng(seed).integers(n, size=(n_resamples, n))


def mean_with_interval(per_case: Floats, picks: NDArray[np.int64], level: float) -> Estimate:
    """Return the mean over cases, with an interval from the means over resampled cases."""
    means = per_case[picks].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(per_case.mean()), float(low), float(high), level)
