"""The usual methods for classes that ours are compared with."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
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
from unselected.experiments.penalized import (
    MOST_FEATURES,
    elastic_net_classifier,
    lasso_classifier,
    scikit_learn_is,
)
from unselected.experiments.shrunken_centroids import ShrunkenCentroids
from unselected.models.class_regression import ClassRegression
from unselected.statistics.binarizing import Binarize, binarize_columns, find_cuts

OurClassifier = SelectiveClassifier | SelectiveBernoulliNB | SelectiveGaussianNB

FREQUENCIES = "class frequencies"
# Of the calibrations of naive Bayes, the one that is run unless others are asked for.
_USUAL_CALIBRATION = "sigmoid ensemble"
# Trees of a forest.
_N_TREES = 200


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
    """Return the usual methods; those with SelectKBest select ``k`` features inside their own fit.

    With a `SelectiveBernoulliNB` of binary features they see the same bits as it does; else
    numbers, and those for regressions are standardized. The steps in ``first`` fill in missing
    values. Lasso, elastic net and shrunken centroids choose features by a penalty or a threshold of
    least log loss in inner folds, the elastic net among the 1000 features with the largest F. The
    last ``n_covariates`` columns are kept by all that select by scores; naive Bayes of bits sees
    them cut at their medians.
    """
    for_bayes: Any = "passthrough"
    for_logits: Any = "passthrough"
    folds = StratifiedKFold(inner_splits, shuffle=True, random_state=seed)
    if isinstance(ours, SelectiveBernoulliNB) and ours.family == "binary":
        first, bayes = [TrainingMedianBits(ours.binarize), *first], BernoulliNB()
        scaling, for_bayes, for_logits = [], TrainingMedianBits("median"), StandardScaler()
    else:
        first, scaling, bayes = first, [StandardScaler()], GaussianNB()

    def chained(covariates: Any, choosing: list[Any], *steps: Any) -> Pipeline:
        features = make_pipeline("passthrough", *first, *choosing)
        if n_covariates:
            both = ColumnTransformer(
                [
                    ("features", features, slice(0, -n_covariates)),
                    ("covariates", covariates, slice(-n_covariates, None)),
                ]
            )
            return clone(make_pipeline(both, *steps))
        return clone(make_pipeline(*first, *choosing, *steps))

    best, most = ([SelectKBest(f_classif, k=number)] for number in (k, MOST_FEATURES))
    name = f"SelectKBest + {type(bayes).__name__}"
    methods: dict[str, ClassifierMixin] = {name: chained(for_bayes, best, bayes)}
    for kind in _calibration_kinds():
        for ensemble in (True, False):
            methods[f"{name}, {kind}{' ensemble' if ensemble else ''}"] = CalibratedClassifierCV(
                chained(for_bayes, best, bayes), method=kind, cv=folds, ensemble=ensemble
            )
    methods["SelectKBest + LogisticRegression"] = chained(
        for_logits, best, *scaling, LogisticRegression(max_iter=1000)
    )
    methods["lasso"] = chained("passthrough", [], StandardScaler(), lasso_classifier(folds, seed))
    methods["elastic net"] = chained(
        "passthrough", most, StandardScaler(), elastic_net_classifier(folds, seed)
    )
    methods["nearest shrunken centroids"] = chained("passthrough", [], ShrunkenCentroids(folds))
    methods["random forest"] = chained(
        "passthrough", [], RandomForestClassifier(_N_TREES, random_state=seed % 2**32)
    )
    methods[FREQUENCIES] = DummyClassifier(strategy="prior")
    if n_covariates:
        methods[COVARIATES_ALONE] = CovariatesAloneClassifier(n_covariates, ours.class_pseudocounts)
    return methods


def is_run_by_default(method: str) -> bool:
    """Say whether a usual method is run where none are named: of the calibrations, only one.

    >>> is_run_by_default("lasso"), is_run_by_default("SelectKBest + GaussianNB, isotonic")
    (True, False)
    """
    return "," not in method or method.endswith(f", {_USUAL_CALIBRATION}")


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
    older = ("sigmoid", "isotonic")
    return (*older, "temperature") if scikit_learn_is(1, 8) else older
