"""Which method gives the better probabilities on a user's own data: repeated cross-validation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, StratifiedGroupKFold, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from unselected._typing import Floats
from unselected.calibration import Estimate, most_probable
from unselected.columns.blocks import find_missing
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.choose import are_all_bits
from unselected.estimators.classifier import SelectiveClassifier
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.inputs import TrainingTable, check_training
from unselected.experiments.folds import (
    CrossValidation,
    OutOfFold,
    Splits,
    chosen_methods,
    rows_by_method,
    with_and_without_correction,
)
from unselected.statistics.binarizing import Binarize, binarize_columns, find_cuts

OurClassifier = SelectiveClassifier | SelectiveBernoulliNB | SelectiveGaussianNB

# A probability of 0 for the observed class counts as this.
_LEAST_PROBABILITY = 1e-15


class TrainingMedianBits(TransformerMixin, BaseEstimator):
    """Columns cut where `SelectiveBernoulliNB` cuts them: all methods see the same bits."""

    def __init__(self, binarize: Binarize = "auto") -> None:
        self.binarize = binarize

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the cuts in training rows."""
        X = validate_data(self, X, ensure_all_finite="allow-nan")
        missing = find_missing(X, str, missing_allowed=True)
        self.thresholds_ = find_cuts(X, self.binarize, str, missing)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Return bits; a missing value stays one."""
        X = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
        return binarize_columns(X, self.thresholds_, self.binarize, str, missing_allowed=True)


def usual_methods(
    k: int, *, ours: OurClassifier, first: Sequence[Any], inner_splits: int, seed: int
) -> dict[str, ClassifierMixin]:
    """Return the usual methods, each selecting ``k`` features inside its own fit.

    With a `SelectiveBernoulliNB` they see the same bits as it does; else real numbers, and those
    for logistic regression are standardized. The steps in ``first`` fill in missing values.
    """
    folds = StratifiedKFold(inner_splits, shuffle=True, random_state=seed)
    if isinstance(ours, SelectiveBernoulliNB):
        first, scaling, bayes = [TrainingMedianBits(ours.binarize), *first], [], BernoulliNB()
    else:
        first, scaling, bayes = first, [StandardScaler()], GaussianNB()

    def selecting(*steps: Any) -> Pipeline:
        return clone(make_pipeline(*first, SelectKBest(f_classif, k=k), *steps))

    name = f"SelectKBest + {type(bayes).__name__}"
    methods: dict[str, ClassifierMixin] = {name: selecting(bayes)}
    for kind in _calibration_kinds():
        for ensemble in (True, False):
            methods[f"{name}, {kind}{' ensemble' if ensemble else ''}"] = CalibratedClassifierCV(
                selecting(bayes), method=kind, cv=folds, ensemble=ensemble
            )
    methods["SelectKBest + LogisticRegression"] = selecting(
        *scaling, LogisticRegression(max_iter=1000)
    )
    methods["class frequencies"] = DummyClassifier(strategy="prior")
    return methods


def _calibration_kinds() -> tuple[str, ...]:
    """Return the kinds of calibration that the installed scikit-learn has."""
    newest = tuple(int(part) for part in version("scikit-learn").split(".")[:2]) >= (1, 8)
    return ("sigmoid", "isotonic", "temperature") if newest else ("sigmoid", "isotonic")


@dataclass(frozen=True)
class ComparisonRecord:
    """Out-of-fold probabilities of one method in one repetition of the cross-validation.

    ``probability`` has a row for each case, with the probabilities of all classes in sorted order.
    ``features_needed`` is the mean over folds of how many columns a new case has to have: for an
    ensemble, all that any of its members selected.
    """

    repeat: int
    method: str
    probability: list[list[float]]
    features_needed: float


@dataclass(frozen=True)
class ComparisonRow:
    """Means over repetitions, with intervals from resampling the cases."""

    method: str
    log_loss: Estimate
    squared_error: Estimate
    actual_error: Estimate
    expected_error: Estimate
    features_needed: float


def compare(
    X: Any,
    y: Any,
    *,
    k: int,
    classifier: OurClassifier | None = None,
    groups: Any = None,
    n_splits: Splits = 5,
    n_repeats: int = 10,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
) -> list[ComparisonRecord]:
    """Cross-validate this library's classifier and the usual methods.

    Selection is inside every fold for every method. With a `SelectiveBernoulliNB` all methods see
    the same bits. With the others they see the numbers. Missing values (NaN) are
    replaced by the column's training median for the usual methods (scikit-learn's SimpleImputer);
    ours leave them out.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two or more classes.
    k : int
        How many features each method selects.
    classifier : SelectiveClassifier, SelectiveBernoulliNB or SelectiveGaussianNB, default=None
        Take the settings of our own methods, "corrected" and "uncorrected", from here. By default
        they select ``k`` features and have the default priors, and are for bits where all features
        are 0, 1 or missing, and for real numbers else.
    groups : array-like of shape (n_samples,), default=None
        Cases of the same group stay together in all folds, and in those inside a
        `SelectiveClassifier`. Methods that calibrate do not know of them inside their own fits.
    n_splits : int or "loo", default=5
        Folds of the stratified cross-validation. With "loo" each case is left out, our own methods
        from one pass over the data where their k is a number.
    n_repeats : int, default=10
        Repetitions; with "loo" there is 1.
    methods : sequence of str, default=None
        Names of the methods to run, of those in `method_names`; all by default.
    seed, n_jobs, checkpoint, progress
        See `run_replicates`.

    Returns
    -------
    records : list of ComparisonRecord
    """
    table = check_training(SelectiveGaussianNB(), X, y, "classes")
    ours = _checked_classifier(classifier, table, k)
    chosen = chosen_methods(methods, method_names(ours))
    if n_splits == "loo" and n_repeats != 1:
        raise ValueError(f"n_repeats={n_repeats} repeats nothing with n_splits='loo': give 1.")
    _check_class_sizes(table, n_splits, chosen)
    if groups is not None and n_splits == "loo":
        raise ValueError("groups needs folds: n_splits='loo' leaves out single cases.")
    labels = None if groups is None else np.asarray(groups)
    comparison = _Classes(table, k, ours, n_splits, chosen, labels)
    return comparison.run(
        n_repeats, seed=seed, n_jobs=n_jobs, checkpoint=checkpoint, progress=progress
    )


def method_names(classifier: OurClassifier | None = None) -> list[str]:
    """Return the names of all methods that `compare` knows, ours first.

    Parameters
    ----------
    classifier : SelectiveClassifier, SelectiveBernoulliNB or SelectiveGaussianNB, default=None
        The one given to `compare`, for the names of the usual methods depend on its kind; by
        default a SelectiveBernoulliNB.

    Examples
    --------
    >>> method_names(SelectiveGaussianNB())[:3]
    ['corrected', 'uncorrected', 'SelectKBest + GaussianNB']
    """
    ours = SelectiveBernoulliNB() if classifier is None else classifier
    usual = usual_methods(1, ours=ours, first=(), inner_splits=2, seed=0)
    return [*with_and_without_correction(ours), *usual]


def _checked_classifier(
    classifier: OurClassifier | None, table: TrainingTable, k: int
) -> OurClassifier:
    if classifier is None:
        bits = are_all_bits(table.dense)
        return SelectiveBernoulliNB(k=k) if bits else SelectiveGaussianNB(k=k)
    if not isinstance(classifier, OurClassifier):
        raise TypeError(
            f"classifier={classifier!r} is neither a SelectiveClassifier nor a "
            "SelectiveBernoulliNB or a SelectiveGaussianNB."
        )
    return classifier


def _check_class_sizes(table: TrainingTable, n_splits: Splits, methods: list[str]) -> None:
    """Raise if a fold or, for methods that calibrate, an inner fold would lack a class."""
    sizes = np.bincount(table.y)
    smallest = int(sizes.min())
    found = (
        f"y has {sizes.size} classes, the smallest with {smallest} cases "
        f"({table.classes[int(np.argmin(sizes))]!s})"
    )
    least = 2 if n_splits == "loo" else n_splits
    if smallest < least:
        needed = "2" if n_splits == "loo" else f"n_splits={n_splits}"
        raise ValueError(f"{found}: compare needs at least {needed} cases of each.")
    calibrating = [name for name in methods if "," in name]
    left_out = 1 if n_splits == "loo" else -(-smallest // n_splits)
    if calibrating and smallest - left_out < 2:
        raise ValueError(
            f"{found}: {calibrating[0]!r} needs 2 cases of each class in every training set. "
            "Choose other methods."
        )


class _Classes(CrossValidation[ComparisonRecord]):
    experiment = "compare, probabilities of all classes"
    record = ComparisonRecord

    def folds(self, seed: int) -> LeaveOneOut | StratifiedKFold | StratifiedGroupKFold:
        if self.n_splits == "loo":
            return LeaveOneOut()
        if self.groups is not None:
            return StratifiedGroupKFold(self.n_splits, shuffle=True, random_state=seed)
        return StratifiedKFold(self.n_splits, shuffle=True, random_state=seed)

    def usual(self, y: NDArray[Any], first: list[Any], seed: int) -> dict[str, Any]:
        splits = max(2, min(5, int(np.bincount(y).min())))
        return usual_methods(self.k, ours=self.ours, first=first, inner_splits=splits, seed=seed)

    def predict(self, model: Any, X: Any, y: NDArray[Any]) -> Floats:  # noqa: ARG002
        return np.asarray(model.predict_proba(X))

    def fields(self, values: Floats) -> dict[str, Any]:
        return {"probability": values.tolist()}

    def known(self) -> dict[str, OutOfFold]:
        """Predict each case, left out, by those of our methods that can do so in one pass."""
        ours = self.numbered()
        if self.n_splits != "loo" or ours.k is None or ours.k == "loo":
            return {}  # with k="loo" how many features it takes differs between cases
        if not hasattr(ours, "loo_predict_proba"):
            return {}  # each case takes a fit of its own
        fitted = {
            name: method.fit(self.rows(method, slice(None)), self.table.y)
            for name, method in with_and_without_correction(ours).items()
            if name in self.methods
        }
        return {
            name: OutOfFold(model.loo_predict_proba(), float(model.selection_.indices.size))
            for name, model in fitted.items()
        }


def comparison_table(
    records: Iterable[ComparisonRecord],
    y: Any,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
) -> list[ComparisonRow]:
    """Average over repetitions, and resample the cases for intervals.

    The intervals say how much the means would vary with other cases of the same kind. The folds of
    one data set overlap, so the variation over repetitions would be too small.

    With p_g the probability of class g, and c the observed class, the numbers are the means of

    - log_loss: -log p_c, in which 0 counts as 1e-15;
    - squared_error: half the sum over classes of (p_g - [g = c])^2, which for two classes is the
      usual (p_1 - [c = 1])^2;
    - actual_error: whether c is not the most probable class; of classes that are equally probable
      the last counts as predicted, as in the paper, where 0.5 predicts class 1;
    - expected_error: 1 - max_g p_g.

    Parameters
    ----------
    records : iterable of ComparisonRecord
        From `compare`.
    y : array-like of shape (n_samples,)
        The classes that `compare` was given.
    level : float
        Coverage of the intervals, about.
    n_resamples, seed : int
        Of the resampling.

    Returns
    -------
    rows : list of ComparisonRow
        One for each method.
    """
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    rows = rows_by_method(
        records,
        lambda group: _losses(np.array([record.probability for record in group]), codes),
        codes.size,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
    )
    return [ComparisonRow(**row) for row in rows]


def _losses(p: Floats, codes: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return the numbers of every case from probabilities (n_repeats, n_samples, n_classes)."""
    seen = np.eye(p.shape[2])[codes]
    of_seen = p[:, np.arange(codes.size), codes]
    return {
        "log_loss": -np.log(np.clip(of_seen, _LEAST_PROBABILITY, None)),
        "squared_error": 0.5 * np.sum((p - seen) ** 2, axis=2),
        "actual_error": ~np.array([most_probable(codes, rows).is_right for rows in p]),
        "expected_error": 1.0 - p.max(axis=2),
    }
