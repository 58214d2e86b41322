"""How stable the selection is: which features bootstrap samples of the cases select."""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata
from sklearn.base import clone

from unselected._typing import Floats, Ints
from unselected.estimators.finding_columns import find_columns
from unselected.estimators.front_door import FrontDoor
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.inputs import TrainingTable, check_training
from unselected.estimators.regression import SelectiveNaiveRegressor

_N_RESAMPLES = 100
# Parameters that change how a model is conditioned and not what is selected, at their quickest.
_QUICK = {"correct_selection": False, "prior": "common", "dependence": "none", "rates": "uniform"}


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each column is selected from bootstrap samples of the cases.

    Attributes
    ----------
    frequency : array of shape (n_columns,)
        From 0 to 1.
    kept : array of int
        The columns that are selected from all cases in the same way.
    n_resamples : int
    """

    frequency: Floats
    kept: Ints
    n_resamples: int

    @property
    def median(self) -> float:
        """The median frequency of the columns that all cases select."""
        return float(np.median(self.frequency[self.kept]))


def selection_stability(
    fitted: Any,
    X: Any,
    y: Any,
    *,
    covariates: Any = None,
    n_resamples: int | None = None,
    seed: int = 0,
) -> Stability | None:
    """Select again from bootstrap samples of the cases, drawn within classes.

    An average over numbers of features is asked for its most probable number of the strongest
    features.

    Parameters
    ----------
    fitted : estimator of this library, fitted to all cases
    X, y, covariates
        What it was fitted to.
    n_resamples : int, default=None
        100 by default.
    seed : int

    Returns
    -------
    stability : Stability or None
        None where nothing was selected: all columns were kept, or the selection was made earlier.
    """
    n_resamples = _N_RESAMPLES if n_resamples is None else n_resamples
    named = SelectiveGaussianNB(covariates=fitted.covariates)
    kind: Literal["classes", "numbers"] = "classes" if hasattr(fitted, "classes_") else "numbers"
    table = check_training(named, X, y, kind, covariates)
    selector = _selector(fitted, table)
    if selector is None:
        return None
    values = table.dense
    if getattr(fitted, "marginals_", "raw") == "normal":
        values = norm.ppf(rankdata(values, axis=0, nan_policy="omit") / (len(values) + 1.0))
    rng, times = np.random.default_rng(seed), np.zeros(values.shape[1])
    everyone = np.arange(table.y.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # `fit` has given them
        kept = _selected(selector, table, values, everyone)
        for _ in range(n_resamples):
            times[_selected(selector, table, values, _resampled(table, rng))] += 1.0
    return Stability(times / n_resamples, kept, n_resamples)


def _selector(fitted: Any, table: TrainingTable) -> Any:
    """Return the quickest estimator that selects in the same way; None where nothing is selected.

    It has no names of columns.
    """
    n_columns = table.dense.shape[1]
    if fitted.preselected_from is not None or fitted.selection_.indices.size == n_columns:
        return None
    always = None
    if fitted.always_keep is not None:
        found = find_columns(fitted.always_keep, table.names, n_columns, "always_keep")
        always = found.tolist()
    if not isinstance(fitted, FrontDoor):
        quick = {name: value for name, value in _QUICK.items() if hasattr(fitted, name)}
        chosen = {"k": fitted.k_} if fitted.k == "loo" else {}
        return clone(fitted).set_params(covariates=None, always_keep=always, **quick, **chosen)
    if fitted.threshold is not None:
        return None
    numbers = {k: weight for k, weight in fitted.k_weights_.items() if 0 < k < n_columns}
    if not numbers:
        return None
    model = SelectiveGaussianNB if table.classes.size else SelectiveNaiveRegressor
    best = max(numbers, key=lambda k: numbers[k])
    return model(k=best, correct_selection=False, always_keep=always)


def _selected(selector: Any, table: TrainingTable, values: NDArray[Any], cases: Ints) -> Ints:
    coded = table.coded_at(cases)
    given = {} if coded is None else {"covariates": coded}
    fitted = clone(selector).fit(values[cases], table.y[cases], **given)
    return np.asarray(fitted.selection_.indices)


def _resampled(table: TrainingTable, rng: np.random.Generator) -> Ints:
    """Return as many cases as there are, with replacement: of classes, as many of each."""
    if not table.classes.size:
        return rng.integers(table.y.size, size=table.y.size)
    members = (np.flatnonzero(table.y == g) for g in range(table.classes.size))
    return np.concatenate([rng.choice(one, size=one.size) for one in members])
