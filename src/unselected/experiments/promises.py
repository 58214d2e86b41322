"""Promised against actual error on new cases of a simulated study, ours and what is usual."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected._typing import Floats
from unselected.calibration import (
    actual_error,
    average_minus_log_probability,
    expected_error,
)
from unselected.datasets import ClinicalStudy
from unselected.estimators.classifier import SelectiveClassifier
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.covariate_table import CovariateTable

USUAL = "SelectKBest + LogisticRegression"


@dataclass(frozen=True)
class Promise:
    """The error rate that probabilities of new cases promise, and the one that is observed."""

    method: str
    promised_error: float
    actual_error: float
    log_loss: float


def promises(study: ClinicalStudy, model: SelectiveClassifier, *, k: int) -> list[Promise]:
    """Predict the new cases of a study with a fitted model, and with the usual pipeline.

    The usual one is scikit-learn's: the k genes with the largest F, and a logistic regression on
    these and on the coded covariates.

    Parameters
    ----------
    study : ClinicalStudy
    model : SelectiveClassifier
        Fitted to the training cases and their covariates.
    k : int
        Number of genes that the usual pipeline keeps.

    Returns
    -------
    promises : list of Promise
        Of the model, and of the usual pipeline.
    """
    new = study.new
    probability = model.predict_proba(new.X, covariates=new.covariates)[:, 1]
    is_second = new.y == model.classes_[1]
    named = ((type(model).__name__, probability), (USUAL, _usual_probability(study, k)))
    return [_promise(method, is_second, p) for method, p in named]


def _promise(method: str, is_second: Any, probability: Floats) -> Promise:
    return Promise(
        method,
        promised_error=expected_error(probability),
        actual_error=actual_error(is_second, probability),
        log_loss=average_minus_log_probability(is_second, probability),
    )


def _usual_probability(study: ClinicalStudy, k: int) -> Floats:
    """Return the probabilities of the second class by the usual pipeline."""
    tables = [CovariateTable.read(cases.covariates) for cases in (study.train, study.new)]
    coding = CovariateCoding.learn(tables[0])
    X, X_new = (
        np.hstack([cases.X, coding.encode(table)])
        for cases, table in zip((study.train, study.new), tables, strict=True)
    )
    best = ("genes", SelectKBest(k=k), slice(0, len(study.names)))
    pipeline = make_pipeline(
        ColumnTransformer([best], remainder="passthrough"),
        StandardScaler(),
        LogisticRegression(max_iter=1000),
    )
    return np.asarray(pipeline.fit(X, study.train.y).predict_proba(X_new)[:, 1])
