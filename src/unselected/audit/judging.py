"""From cross-validations to the numbers of an audit."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr

from unselected._typing import Floats, Ints
from unselected.audit.column_scores import NumericColumns, column_scores
from unselected.audit.cut import CutAgreement, cut_agreement
from unselected.audit.procedures import EstimatorProcedure, Procedure
from unselected.audit.record import (
    EarlierSelection,
    ErrorsWithPermuted,
    ErrorsWithReal,
    FeaturesOfFolds,
    Remedy,
)
from unselected.audit.selecting import SelectingBefore, SelectingInside, Selector, response_of
from unselected.audit.tables import columns_kept
from unselected.audit.trials import Cases, Trial, Trials
from unselected.estimators.classifier import SelectiveClassifier
from unselected.estimators.regressor import SelectiveRegressor
from unselected.numerics.resampling import Estimate, Resamples

_LEVEL = 0.95
_N_RESAMPLES = 999


def errors_with_real(cases: Cases, real: Trial, permuted: Sequence[float]) -> ErrorsWithReal:
    """Return actual and promised error with the real responses, and the rank of the first."""
    judged = real.judged
    actual = cases.error(judged.actual)
    as_low = sum(error <= actual for error in permuted)
    return ErrorsWithReal(
        actual=_estimate(cases, judged.actual),
        promised=None if judged.promised is None else _estimate(cases, judged.promised),
        p_value=(1 + as_low) / (1 + len(permuted)),
    )


def _resamples(cases: Cases) -> Resamples:
    return Resamples.draw(cases.y.size, n_resamples=_N_RESAMPLES, seed=0, groups=cases.groups)


def _estimate(cases: Cases, values: Floats) -> Estimate:
    """Return an error with its interval, in the units of `Cases.error`."""
    mean = _resamples(cases).mean(values)
    if cases.classes is not None:
        return mean.estimate(_LEVEL)
    root, unit = mean.root().estimate(_LEVEL), float(np.std(cases.y))
    return Estimate(root.value / unit, root.low / unit, root.high / unit, _LEVEL)


def errors_with_permuted(cases: Cases, trials: list[Trial], tolerance: float) -> ErrorsWithPermuted:
    """Return the errors of all permutations, and test whether more is promised than is kept."""
    actual = [cases.error(trial.judged.actual) for trial in trials]
    known = [t.judged.promised for t in trials if t.judged.promised is not None]
    if len(known) < len(trials):
        return ErrorsWithPermuted(tuple(actual), None, None)
    promised = [cases.error(values) for values in known]
    p_value = mean_exceeds(np.subtract(actual, promised), tolerance)
    return ErrorsWithPermuted(tuple(actual), tuple(promised), p_value)


def mean_exceeds(values: Floats, bound: float) -> float:
    """Return the p-value of Student's test that the mean of values is at most a bound.

    >>> round(mean_exceeds(np.array([0.1, 0.2, 0.3]), 0.2), 3)
    0.5
    """
    spread = float(np.std(values, ddof=1) / np.sqrt(values.size))
    excess = float(np.mean(values)) - bound
    if spread <= 1e-12:
        return float(excess <= 0.0)
    return float(stdtr(values.size - 1, -excess / spread))


def mean_promised(cases: Cases, trials: list[Trial]) -> float:
    """Return the mean over permutations of the promised error."""
    known = [t.judged.promised for t in trials if t.judged.promised is not None]
    return float(np.mean([cases.error(values) for values in known]))


def chance_error(cases: Cases) -> float:
    """Return the error of the most frequent class, or of the mean."""
    if cases.classes is None:
        return 1.0
    return 1.0 - float(max(np.mean(cases.y == label) for label in cases.classes))


def features_of_folds(cases: Cases, real: Trial, permuted: list[Trial]) -> FeaturesOfFolds | None:
    """Return which columns the estimator looks at; None where that is unknown, or always all."""
    of_permuted = [trial.features for trial in permuted]
    all_folds = [*real.features, *(columns for folds in of_permuted for columns in folds)]
    known = [columns for columns in all_folds if columns is not None]
    n_columns = cases.X.shape[1]
    if len(known) < len(all_folds) or all(columns.size == n_columns for columns in known):
        return None
    first = known[0]
    is_fixed = all(np.array_equal(first, columns) for columns in known)
    return FeaturesOfFolds(
        n_features=float(np.mean([columns.size for columns in known[: len(real.features)]])),
        overlap=_overlap(real.features),
        overlap_permuted=float(np.mean([_overlap(folds) for folds in of_permuted])),
        agreement=_agreement(cases, first) if is_fixed else None,
    )


def _overlap(folds: Sequence[Ints | None]) -> float:
    """Return the mean fraction of columns that two folds share."""
    sets = [set(np.asarray(columns).tolist()) for columns in folds]
    shares = [len(a & b) / max(len(a | b), 1) for a, b in combinations(sets, 2)]
    return float(np.mean(shares)) if shares else 1.0


def _agreement(cases: Cases, columns: Ints) -> CutAgreement:
    """Compare columns that do not depend on the responses with the strongest ones."""
    is_kept = np.zeros(cases.X.shape[1], dtype=np.bool_)
    is_kept[columns] = True
    table = NumericColumns.of(cases.X)
    scores = column_scores(table, response_of(cases.y, cases.classes))
    return cut_agreement(scores, is_kept[table.numbers])


def earlier_selection(
    trials: Trials, procedure: Procedure, before: Any, selector: Any
) -> EarlierSelection:
    """Look for the columns of X in the table before, and repeat the selection in the folds."""
    cases = trials.cases
    is_kept = columns_kept(cases.X, before)
    table = NumericColumns.of(before)
    scores = column_scores(table, response_of(cases.y, cases.classes))
    again = Selector(int(is_kept.sum()), selector, cases.classes)
    inside = trials.real(SelectingInside(again, procedure), replace(cases, X=before))
    permuted = trials.permuted(procedure, SelectingBefore.of(cases, before, again))
    return EarlierSelection(
        agreement=cut_agreement(scores, is_kept[table.numbers]),
        error_inside=_estimate(cases, inside.judged.actual),
        error_permuted=float(np.mean([cases.error(trial.judged.actual) for trial in permuted])),
    )


def remedy(trials: Trials, audited: Trial, features: FeaturesOfFolds | None) -> Remedy | None:
    """Try the front door in the same folds; None where it does not take the table."""
    cases = trials.cases
    number = None if features is None else max(round(features.n_features), 1)
    kind = SelectiveRegressor if cases.classes is None else SelectiveClassifier
    ours = kind() if number is None else kind(k=number)
    try:
        trial = trials.real(EstimatorProcedure(ours, cases.classes))
    except (TypeError, ValueError):
        return None
    theirs, promised, log_loss = (
        audited.judged.log_loss,
        trial.judged.promised,
        trial.judged.log_loss,
    )
    if theirs is None or promised is None or log_loss is None:
        return None
    resamples = _resamples(cases)
    return Remedy(
        estimator=kind.__name__,
        k=number,
        log_loss=float(log_loss.mean()),
        log_loss_audited=float(theirs.mean()),
        difference=resamples.mean(log_loss - theirs).estimate(_LEVEL),
        promised=cases.error(promised),
        actual=cases.error(trial.judged.actual),
    )
