"""What an audit found: numbers, and the alarms that follow from them."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unselected.audit.cut import CutAgreement
from unselected.audit.weak_columns import WeakColumns
from unselected.audit.wording import PYTHON, Words, advice, findings, listed
from unselected.numerics.resampling import Estimate


@dataclass(frozen=True)
class ErrorsWithReal:
    """The cross-validation with the real responses.

    Attributes
    ----------
    actual : Estimate
        The error rate, or for numbers the root mean squared error in standard deviations of the
        response, with an interval from resampled cases.
    promised : Estimate or None
        What the predictions themselves say that it is.
    p_value : float
        The rank of the error among those with permuted responses: small where something can be
        predicted, or where cases left out took part in a selection.
    """

    actual: Estimate
    promised: Estimate | None
    p_value: float


@dataclass(frozen=True)
class ErrorsWithPermuted:
    """The cross-validations with permuted responses, from which nothing can be learned.

    Attributes
    ----------
    actual : tuple of float
        The error of each permutation, in the units of `ErrorsWithReal`.
    promised : tuple of float, or None
    p_value : float or None
        That the mean of ``actual`` less ``promised`` exceeds the tolerance by chance.
    promised_by_other : float or None
        The mean of ``promised`` where columns are selected by other responses than the model is
        fitted to. Only where the promise is overconfident and the estimator is a `Pipeline` with a
        selector.
    """

    actual: tuple[float, ...]
    promised: tuple[float, ...] | None
    p_value: float | None
    promised_by_other: float | None = None

    @property
    def mean_actual(self) -> float:
        """The mean over permutations."""
        return float(np.mean(self.actual))

    @property
    def mean_promised(self) -> float:
        """The mean over permutations."""
        return float(np.mean(self.promised or (np.nan,)))

    @property
    def due_to_selection(self) -> float | None:
        """How much less is promised because the columns were selected for these responses."""
        if self.promised_by_other is None:
            return None
        return self.promised_by_other - self.mean_promised


@dataclass(frozen=True)
class FeaturesOfFolds:
    """The columns that the estimator looks at in each fold.

    Attributes
    ----------
    n_features : float
        Their mean number.
    overlap, overlap_permuted : float
        Mean fraction of the columns that two folds share, with the real responses and with permuted
        ones.
    agreement : CutAgreement or None
        How the columns compare with the strongest ones; only where they are the same in all folds,
        whatever the responses are.
    """

    n_features: float
    overlap: float
    overlap_permuted: float
    agreement: CutAgreement | None


@dataclass(frozen=True)
class EarlierSelection:
    """The columns of X among those of the table before the selection.

    Attributes
    ----------
    agreement : CutAgreement
    error_inside : Estimate
        With the real responses, and the selection repeated in each fold by its training cases.
    error_permuted : float
        With permuted responses, and the selection repeated by all cases before the folds: what this
        order of steps reports where nothing can be predicted.
    """

    agreement: CutAgreement
    error_inside: Estimate
    error_permuted: float


@dataclass(frozen=True)
class Remedy:
    """Another estimator, in the same folds with the real responses.

    Attributes
    ----------
    estimator : str
        `SelectiveClassifier` or `SelectiveRegressor`.
    k : int or None
        Its number of columns, as many as the estimator that is audited looks at; None for its
        default.
    log_loss, log_loss_audited : float
        Of the other estimator, and of the one that is audited.
    difference : Estimate
        The first less the second, paired by case.
    promised, actual : float
        Errors of the other estimator.
    """

    estimator: str
    k: int | None
    log_loss: float
    log_loss_audited: float
    difference: Estimate
    promised: float
    actual: float

    @property
    def is_better(self) -> bool:
        """Whether the interval of the difference is below 0."""
        return self.difference.high < 0.0


@dataclass(frozen=True, repr=False)
class SelectionAudit:
    """Whether columns were selected outside of the folds, and what predictions promise.

    `print` it for the verdict, or draw it with `unselected.plots.SelectionAuditDisplay`.

    Attributes
    ----------
    estimator : str
        What was audited.
    n_cases, n_columns : int
    n_classes : int or None
        None for numbers.
    chance_error : float
        Of predicting the most frequent class, or the mean, for all cases.
    real : ErrorsWithReal
    permuted : ErrorsWithPermuted
    weak_columns : WeakColumns or None
        None where no column holds numbers that vary.
    features : FeaturesOfFolds or None
        None where the estimator does not tell which columns it looks at, or looks at all.
    earlier : EarlierSelection or None
        Only with ``X_before``.
    remedy : Remedy or None
        Only where the promise is overconfident, and another estimator was tried.
    alpha : float
        The probability of each alarm where there is no reason for it.
    tolerance : float
        The difference between actual and promised error that is no reason for an alarm.
    """

    estimator: str
    n_cases: int
    n_columns: int
    n_classes: int | None
    chance_error: float
    real: ErrorsWithReal
    permuted: ErrorsWithPermuted
    weak_columns: WeakColumns | None
    features: FeaturesOfFolds | None
    earlier: EarlierSelection | None
    remedy: Remedy | None
    alpha: float
    tolerance: float

    @property
    def tests(self) -> list[WeakColumns | CutAgreement]:
        """The tests for a selection outside of the folds that could be made."""
        agreements = [where.agreement for where in (self.features, self.earlier) if where]
        made = [self.weak_columns, *agreements]
        return [test for test in made if test is not None]

    @property
    def p_value_outside(self) -> float:
        """Of a selection outside of the folds: the smallest of the tests, times their number."""
        p_values = [test.p_value for test in self.tests]
        return min(1.0, len(p_values) * min(p_values, default=1.0))

    @property
    def selected_outside(self) -> bool:
        """The first alarm: columns were selected by cases that the folds leave out."""
        return self.p_value_outside <= self.alpha

    @property
    def overconfident(self) -> bool:
        """The second alarm: the promised error is too low where nothing can be predicted."""
        return self.permuted.p_value is not None and self.permuted.p_value <= self.alpha

    @property
    def rings(self) -> bool:
        """Whether there is any alarm."""
        return self.selected_outside or self.overconfident

    def verdict(self, words: Words = PYTHON) -> list[str]:
        """Return what was found, in sentences."""
        return findings(self, words)

    def advice(self, words: Words = PYTHON) -> list[str]:
        """Return what to do, in sentences; nothing where there is no alarm."""
        return advice(self, words)

    def summary(self, words: Words = PYTHON) -> str:
        """Return verdict, advice and figures as text."""
        return listed(self, words)

    def __repr__(self) -> str:
        return self.summary()

    def to_dict(self, words: Words = PYTHON) -> dict[str, Any]:
        """Return the numbers and the sentences in types that JSON has."""
        alarms = ("selected_outside", "p_value_outside", "overconfident", "rings")
        return {
            **asdict(self),
            **{name: getattr(self, name) for name in alarms},
            "verdict": self.verdict(words),
            "advice": self.advice(words),
        }
