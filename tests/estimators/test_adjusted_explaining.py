"""Panels, intervals, explanations and effects of models with covariates."""

from functools import cache

import numpy as np
import pytest
from adjusted_cases import ESTIMATORS, cases, predictions, some
from adjusted_oracle import rest_of
from sklearn.base import clone

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.* outside of their training range"),
    pytest.mark.usefixtures("few_folds"),
]

CLASSES = [name for name, (_, kind) in ESTIMATORS.items() if kind != "line"]
NEW = slice(0, 6)


@cache
def fitted(name, missing=0.0, **options):
    """A model that tests share, two tables of new cases, and all cases."""
    model, kind = ESTIMATORS[name]
    X, y, covariates = cases(kind, 3, missing=missing)
    model = clone(model).set_params(**options).fit(X, y, covariates=covariates)
    return model, X[NEW], some(covariates, NEW), (X, y, covariates)


def whole_design(covariates):
    """The intercept and the covariates as numbers, coded by hand."""
    columns = [covariates["age"], covariates["sex"] == "m", covariates["batch"] == "b"]
    columns.append(covariates["batch"] == "c")
    return np.column_stack([np.ones(len(columns[0])), *columns]).astype(float)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_panel_says_the_same(name):
    model, X, known, _ = fitted(name)
    kept = X[:, model.selection_.indices]
    ours = predictions(model.panel(), kept, covariates=known)
    np.testing.assert_array_equal(ours, predictions(model, X, covariates=known))
    with pytest.raises(ValueError, match="the model was fitted with covariates"):
        model.panel().predict(kept)


@pytest.mark.parametrize("name", CLASSES)
def test_intervals_hold_the_probabilities(name):
    """They shrink to the probability with one node, and grow with their level."""
    model, X, known, _ = fitted(name)
    proba = model.predict_proba(X, covariates=known)
    low, high = model.predict_proba_interval(X, level=0.99, covariates=known)
    assert np.all((low <= proba + 1e-9) & (proba <= high + 1e-9))
    narrow = model.predict_proba_interval(X, level=0.5, covariates=known)
    assert np.all((narrow[0] >= low - 1e-12) & (narrow[1] <= high + 1e-12))
    assert np.all(high > low)


@pytest.mark.parametrize("name", CLASSES)
def test_contributions_add_up(name):
    """The prior of a case is what its covariates say."""
    model, X, known, _ = fitted(name, 0.1)
    told = model.explain(X, covariates=known)
    logs = model.predict_log_proba(X, covariates=known)
    if model.classes_.size == 2:
        odds = logs[:, 1] - logs[:, 0]
    else:
        odds = logs - logs.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(told.log_odds, odds, atol=1e-10)
    np.testing.assert_allclose(told.total, told.prior + told.contributions.sum(axis=1))
    assert told.prior.shape == odds.shape
    assert np.ptp(told.prior, axis=0).max() > 0.01


@pytest.mark.parametrize("name", ["gaussian", "gaussian, three classes", "gaussian, sparse"])
def test_with_all_features_missing_covariates_alone_speak(name):
    model, X, known, _ = fitted(name)
    nothing = np.full(X.shape, np.nan)
    alone = model.predict_log_proba(nothing, covariates=known)
    told = model.explain(nothing, covariates=known)
    assert np.all(told.contributions == 0.0)
    rows = model._to_predict(nothing, known).rows
    np.testing.assert_allclose(alone, model._predictor.fitted.log_prior(rows), atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("name", ["gaussian", "gaussian, three classes"])
def test_differences_at_face_value_are_those_of_least_squares(name, missing):
    model, _, _, (X, y, covariates) = fitted(name, missing)
    effects = model.feature_effects()
    n_classes = model.classes_.size
    directions = np.eye(n_classes) - 1.0 / n_classes
    if n_classes == 2:
        directions = np.array([[-1.0, 1.0]])
    names = [key for key in effects.effects if key.startswith("mean_difference")]
    Z, codes = whole_design(covariates)[:, 1:], np.eye(n_classes)[y]
    for j, column in enumerate(effects.features):
        known = ~np.isnan(X[:, column])
        A = np.hstack([codes, Z])[known]  # the intercept is in the codes
        means = np.linalg.lstsq(A, X[known, column], rcond=None)[0][:n_classes]
        rest = rest_of(A, X[known, column])
        deviation = np.sqrt(rest @ rest / (known.sum() - A.shape[1]))
        for key, direction in zip(names, directions, strict=True):
            naive = effects.effects[key].naive[j]
            assert naive == pytest.approx(direction @ means / deviation, rel=1e-8)
        for label, mean in zip(model.classes_, means, strict=True):
            at_means = (
                mean
                + whole_design(covariates)[:, 1:].mean(axis=0)
                @ np.linalg.lstsq(A, X[known, column], rcond=None)[0][n_classes:]
            )
            assert effects.seen[f"mean_in_{label}"][j] == pytest.approx(at_means, rel=1e-7)


@pytest.mark.parametrize("name", ["naive regressor", "regressor"])
def test_slopes_at_face_value_are_those_of_least_squares(name):
    options = {} if name == "naive regressor" else {"marginals": "raw", "dependence": "none"}
    model, _, _, (X, y, covariates) = fitted(name, 0.15, **options)
    effects = model.feature_effects()
    Z = whole_design(covariates)
    unit = np.sqrt(np.mean(rest_of(Z, y) ** 2))
    for j, column in enumerate(effects.features):
        known = ~np.isnan(X[:, column])
        A = np.column_stack([y, Z])[known]
        slope = np.linalg.lstsq(A, X[known, column], rcond=None)[0][0]
        rest = rest_of(A, X[known, column])
        deviation = np.sqrt(rest @ rest / (known.sum() - A.shape[1]))
        assert effects.seen["slope"][j] == pytest.approx(slope, rel=1e-8)
        naive = effects.effects["standardized_slope"].naive[j]
        assert naive == pytest.approx(slope * unit / deviation, rel=1e-8)


@pytest.mark.parametrize("name", ["gaussian", "naive regressor"])
def test_corrected_effects_are_smaller_and_those_of_all_features_are_not_corrected(name):
    model, _, _, _ = fitted(name)
    twin = fitted(name, correct_selection=False)[0]
    (ours,), (theirs,) = (
        [
            effect
            for key, effect in one.feature_effects().effects.items()
            if key in ("mean_difference", "standardized_slope")
        ]
        for one in (model, twin)
    )
    np.testing.assert_allclose(ours.naive, theirs.naive)
    assert np.all(np.abs(ours.mean) < np.abs(theirs.mean))
    assert np.all(np.abs(theirs.mean) < np.abs(theirs.naive))
