"""The usual methods for classes that ours are compared with."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from unselected._typing import Floats
from unselected.columns.blocks import find_missing
from unselected.estimators.added_value import COVARIATES_ALONE
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.classifier import SelectiveClassifier
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.parameters import check_pseudocounts
from unselected.models.class_regression import ClassRegression
from unselected.statistics.binarizing import Binarize, binarize_columns, find_cuts

OurClassifier = SelectiveClassifier | SelectiveBernoulliNB | SelectiveGaussianNB


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
    k: int,
    *,
    ours: OurClassifier,
    first: Sequence[Any],
    inner_splits: int,
    seed: int,
    n_covariates: int = 0,
) -> dict[str, ClassifierMixin]:
    """Return the usual methods, each selecting ``k`` features inside its own fit.

    With a `SelectiveBernoulliNB` they see the same bits as it does; else real numbers, and those
    for logistic regression are standardized. The steps in ``first`` fill in missing values. The
    last ``n_covariates`` columns are kept, whatever their scores; naive Bayes of bits sees them cut
    at their medians.
    """
    for_bayes: Any = "passthrough"
    for_logits: Any = "passthrough"
    folds = StratifiedKFold(inner_splits, shuffle=True, random_state=seed)
    if isinstance(ours, SelectiveBernoulliNB):
        first, bayes = [TrainingMedianBits(ours.binarize), *first], BernoulliNB()
        scaling, for_bayes, for_logits = [], TrainingMedianBits("median"), StandardScaler()
    else:
        first, scaling, bayes = first, [StandardScaler()], GaussianNB()

    def selecting(covariates: Any, *steps: Any) -> Pipeline:
        best = make_pipeline(*first, SelectKBest(f_classif, k=k))
        if n_covariates:
            best = ColumnTransformer(
                [
                    ("features", best, slice(0, -n_covariates)),
                    ("covariates", covariates, slice(-n_covariates, None)),
                ]
            )
            return clone(make_pipeline(best, *steps))
        return clone(Pipeline([*best.steps, *make_pipeline(*steps).steps]))

    name = f"SelectKBest + {type(bayes).__name__}"
    methods: dict[str, ClassifierMixin] = {name: selecting(for_bayes, bayes)}
    for kind in _calibration_kinds():
        for ensemble in (True, False):
            methods[f"{name}, {kind}{' ensemble' if ensemble else ''}"] = CalibratedClassifierCV(
                selecting(for_bayes, bayes), method=kind, cv=folds, ensemble=ensemble
            )
    methods["SelectKBest + LogisticRegression"] = selecting(
        for_logits, *scaling, LogisticRegression(max_iter=1000)
    )
    methods["class frequencies"] = DummyClassifier(strategy="prior")
    if n_covariates:
        methods[COVARIATES_ALONE] = CovariatesAloneClassifier(n_covariates, ours.class_pseudocounts)
    return methods


class CovariatesAloneClassifier(ClassifierMixin, BaseEstimator):
    """The logistic regression that our models have for covariates, the last columns of X."""

    def __init__(self, n_covariates: int, class_pseudocounts: Any = 1.0) -> None:
        self.n_covariates = n_covariates
        self.class_pseudocounts = class_pseudocounts

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from training rows and the numbers of their classes."""
        n_classes = int(np.max(y)) + 1
        pseudocounts = check_pseudocounts(self.class_pseudocounts, n_classes)
        self.regression_ = ClassRegression.fit(self._coded(X), y, n_classes, pseudocounts)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities of all classes."""
        return np.exp(self.regression_.log_proba(self._coded(X)))

    def _coded(self, X: Any) -> Floats:
        return np.asarray(X[:, -self.n_covariates :], dtype=np.float64)


def _calibration_kinds() -> tuple[str, ...]:
    """Return the kinds of calibration that the installed scikit-learn has."""
    newest = tuple(int(part) for part in version("scikit-learn").split(".")[:2]) >= (1, 8)
    return ("sigmoid", "isotonic", "temperature") if newest else ("sigmoid", "isotonic")
