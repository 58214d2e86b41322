"""The audit of a pipeline: `check_selection`."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target

from unselected.audit.column_scores import NumericColumns
from unselected.audit.judging import (
    chance_error,
    earlier_selection,
    errors_with_permuted,
    errors_with_real,
    features_of_folds,
    mean_promised,
    remedy,
)
from unselected.audit.procedures import EstimatorProcedure, FunctionProcedure, Procedure
from unselected.audit.record import SelectionAudit
from unselected.audit.selecting import by_other_responses, response_of
from unselected.audit.tables import as_table
from unselected.audit.trials import Cases, Clock, OnTrial, Trials
from unselected.audit.weak_columns import find_weak_columns
from unselected.estimators.parameters import check_whole
from unselected.estimators.selecting import SelectiveEstimator

# Fewer permutations say little of the promised error.
_LEAST_PERMUTATIONS = 5
_MOST_PERMUTATIONS = 100_000


def check_selection(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_permutations: int = 19,
    groups: Any = None,
    X_before: Any = None,
    selector: Any = None,
    alpha: float = 0.05,
    tolerance: float = 0.05,
    try_remedy: bool = True,
    n_jobs: int | None = None,
    progress: bool | OnTrial = False,
    random_state: int = 0,
) -> SelectionAudit:
    """Check for a selection outside of the folds, and for probabilities that promise too much.

    The estimator is fitted in the folds of a cross-validation, to the real responses and to
    permuted ones, from which nothing can be learned. Its promised error is the mean of one minus
    the probability of the predicted class, or the predicted standard deviation.

    There are two alarms. The first, ``selected_outside``, rings for any of these reasons:

    - Weak columns are missing from X: the scores of its columns with the response have an edge that
      no true effects explain. This needs nothing but X and y. Other signs there cannot be, because
      the cases left out took part in the selection: cross-validation finds a low error with such
      columns, and permuted responses find nothing wrong.
    - The estimator looks at the same columns in every fold, whatever the responses are, and these
      are the strongest of X with the responses of all cases.
    - With ``X_before``, the columns of X are the strongest of that table.

    The second, ``overconfident``, rings where with permuted responses the actual error exceeds the
    promised one by more than ``tolerance``.

    Parameters
    ----------
    estimator : scikit-learn estimator or callable
        A classifier or regressor, not fitted, usually a `Pipeline`. A function
        ``fit_predict(X_train, y_train, X_test)`` returns probabilities, with a column for each
        class in sorted order, or classes; for numbers means, or means and standard deviations.
    X : array-like, sparse or data frame of shape (n_cases, n_columns)
        The table that the estimator is fitted to.
    y : array-like of shape (n_cases,)
        Classes or numbers.
    cv : int, splitter or iterable, default=5
        The folds. An int gives shuffled ones, stratified by class; with ``groups`` cases of a group
        stay together.
    n_permutations : int, default=19
    groups : array-like of shape (n_cases,), default=None
        Cases that belong together, such as samples of one patient.
    X_before : table of shape (n_cases, n_columns_before), default=None
        The table from which the columns of X were selected. Columns are found by name, or by
        content where there are no names. The selection is then repeated inside of the folds.
    selector : scikit-learn selector, default=None
        Repeats the selection from ``X_before``. By default the columns with the largest F
        statistics, as many as X has.
    alpha : float, default=0.05
        The probability of each alarm where there is no reason for it.
    tolerance : float, default=0.05
        Difference between actual and promised error that is no reason for an alarm; for numbers in
        standard deviations of the response.
    try_remedy : bool, default=True
        Where the second alarm rings, fit `SelectiveClassifier` or `SelectiveRegressor` in the same
        folds, and recommend it only if it is better.
    n_jobs : int, default=None
        Processes for the permutations.
    progress : bool or callable, default=False
        Print how much is done to stderr, and about how long the rest takes. A callable is called
        with the number of cross-validations that are done, and of all.
    random_state : int, default=0
        Seed of folds, permutations and draws of columns.

    Returns
    -------
    audit : SelectionAudit
        `print` it for the verdict.

    Examples
    --------
    Columns of noise, of which somebody kept the 50 that look best:

    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2000)), np.repeat([0, 1], 30)
    >>> X_kept = SelectKBest(k=50).fit_transform(X, y)
    >>> quick = {"n_permutations": 5, "try_remedy": False}
    >>> audit = check_selection(LogisticRegression(C=0.01), X_kept, y, **quick)
    >>> audit.selected_outside, audit.real.actual.value < 0.1
    (True, True)

    The same selection inside of the pipeline, and with it in every fold:

    >>> honest = make_pipeline(SelectKBest(k=50), LogisticRegression(C=0.01))
    >>> audit = check_selection(honest, X, y, **quick)
    >>> audit.selected_outside, audit.real.actual.value > 0.3
    (False, True)
    """
    cases, procedure = _checked(estimator, X, y, cv, groups)
    _check_numbers(n_permutations, alpha, tolerance)
    drawing, of_folds = np.random.SeedSequence(random_state).spawn(2)
    trials = Trials(cases, of_folds, n_permutations, n_jobs, _on_trial(progress))
    trials.expect(real=1 + (X_before is not None), permuted=1 + (X_before is not None))

    real, permuted = trials.real(procedure), trials.permuted(procedure)
    errors = errors_with_permuted(cases, permuted, tolerance)
    earlier = None
    if X_before is not None:
        before = as_table(X_before, cases.y.size, "X_before")
        earlier = earlier_selection(trials, procedure, before, selector)
    audit = SelectionAudit(
        estimator=_name_of(estimator),
        n_cases=cases.y.size,
        n_columns=cases.X.shape[1],
        n_classes=None if cases.classes is None else int(cases.classes.size),
        chance_error=chance_error(cases),
        real=errors_with_real(cases, real, errors.actual),
        permuted=errors,
        weak_columns=find_weak_columns(
            NumericColumns.of(cases.X),
            response_of(cases.y, cases.classes),
            np.random.default_rng(drawing),
        ),
        features=features_of_folds(cases, real, permuted),
        earlier=earlier,
        remedy=None,
        alpha=alpha,
        tolerance=tolerance,
    )
    if not audit.overconfident:
        return audit
    other = by_other_responses(estimator, cases.classes)
    if other is not None and not audit.selected_outside:
        trials.expect(permuted=1)
        by_other = mean_promised(cases, trials.permuted(other))
        audit = replace(audit, permuted=replace(errors, promised_by_other=by_other))
    if try_remedy and not audit.selected_outside and not isinstance(estimator, SelectiveEstimator):
        trials.expect(real=1)
        audit = replace(audit, remedy=remedy(trials, real, audit.features))
    return audit


def _checked(estimator: Any, X: Any, y: Any, cv: Any, groups: Any) -> tuple[Cases, Procedure]:
    """Return the cases, and how they are predicted; raise where that cannot be done."""
    responses = np.asarray(y)
    if responses.ndim != 1:
        raise ValueError(f"y has {responses.ndim} dimensions: one response for each case needed.")
    classes = _classes(estimator, responses)
    if classes is None:
        responses = responses.astype(np.float64)
    table = as_table(X, responses.size)
    labels = None if groups is None else np.asarray(groups)
    if labels is not None and labels.shape != responses.shape:
        raise ValueError(f"groups has shape {labels.shape}, but there are {responses.size} cases.")
    splits = cv if hasattr(cv, "split") or not isinstance(cv, Iterable) else list(cv)
    cases = Cases(table, responses, classes, labels, splits)
    if hasattr(estimator, "fit"):
        return cases, EstimatorProcedure(estimator, classes)
    if callable(estimator):
        return cases, FunctionProcedure(estimator, classes)
    raise TypeError(
        f"{estimator!r} cannot be audited: give a scikit-learn classifier or regressor, or a "
        "function fit_predict(X_train, y_train, X_test)."
    )


def _classes(estimator: Any, y: NDArray[Any]) -> NDArray[Any] | None:
    """Return the classes of the response, None where it has numbers."""
    of_numbers = type_of_target(y).startswith("continuous")
    if hasattr(estimator, "fit"):
        of_numbers = not is_classifier(estimator) and (is_regressor(estimator) or of_numbers)
    if of_numbers:
        return None
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y has one class, {classes.tolist()[0]!r}: two or more are needed.")
    return classes


def _check_numbers(n_permutations: int, alpha: float, tolerance: float) -> None:
    check_whole(
        "n_permutations", n_permutations, _LEAST_PERMUTATIONS, _MOST_PERMUTATIONS, "the most"
    )
    for name, value in (("alpha", alpha), ("tolerance", tolerance)):
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name}={value!r} is not between 0 and 1.")


def _on_trial(progress: bool | OnTrial) -> OnTrial:
    if callable(progress):
        return progress
    if progress:
        return Clock(lambda text: print(text, file=sys.stderr, flush=True))
    return lambda _, __: None


def _name_of(estimator: Any) -> str:
    """Return the steps of a pipeline, or the name of the estimator or function."""
    if isinstance(estimator, Pipeline):
        return " + ".join(_name_of(step) for _, step in estimator.steps)
    return getattr(estimator, "__name__", type(estimator).__name__)
