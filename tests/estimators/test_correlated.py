"""Classifiers that learn how features vary together within classes."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import log_loss

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.held_out import HeldOut
from unselected.estimators.class_fitting import dealt

MODELS = {
    "binary": SelectiveBernoulliNB(k=6, dependence="correlated"),
    "real": SelectiveGaussianNB(k=6, dependence="correlated"),
}


def moved_together(seed, n=120, p=40, real=True):
    """One factor moves all features; the classes differ in half of them, so that weights count."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = 1.5 * rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, p))
    X += 0.6 * (2 * y - 1)[:, np.newaxis] * np.resize([1, -1], p) * (np.arange(p) < 10)
    return X if real else (X > 0).astype(np.uint8), y


@pytest.mark.parametrize("kind", MODELS)
def test_features_that_vary_together_are_weighed_against_each_other(kind, seed):
    """One factor on all evidence cannot do that: tempering alone is the wrong twin."""
    X, y = moved_together(seed, real=kind == "real")
    X_new, y_new = moved_together(seed + 1000, n=400, real=kind == "real")
    losses = []
    for dependence in ("correlated", "tempered"):
        model = clone(MODELS[kind]).set_params(dependence=dependence).fit(X, y)
        losses.append(log_loss(y_new, model.predict_proba(X_new)))
    assert losses[0] < losses[1] - (0.05 if kind == "real" else 0.01)


def test_classes_that_spread_unlike_are_told_apart(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(160) % 2
    X = rng.normal(size=(160, 30)) * (1.0 + 2.0 * y)[:, np.newaxis]
    X[:, :6] += y[:, np.newaxis]
    train = np.arange(160) < 80
    losses = []
    for dependence in ("correlated", "tempered"):
        model = SelectiveGaussianNB(k=8, dependence=dependence).fit(X[train], y[train])
        losses.append(log_loss(y[~train], model.predict_proba(X[~train])))
    assert losses[0] < losses[1] - 0.1


@pytest.mark.parametrize("kind", MODELS)
def test_a_true_model_loses_next_to_nothing(kind, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(1120) % 2
    X = rng.normal(size=(1120, 40)) + 0.4 * y[:, np.newaxis]
    X = X if kind == "real" else X > 0.2
    model = clone(MODELS[kind]).fit(X[:120], y[:120])
    plain = clone(model).set_params(dependence="none").fit(X[:120], y[:120])
    losses = [log_loss(y[120:], one.predict_proba(X[120:])) for one in (model, plain)]
    assert losses[0] < losses[1] + 0.03
    assert logsumexp(model.predict_log_proba(X), axis=1) == pytest.approx(0.0, abs=1e-10)
    assert not hasattr(plain, "weighing_")


@pytest.mark.parametrize("kind", MODELS)
def test_all_is_learned_from_folds_that_are_left_out(kind, seed):
    """By hand: a fit without each fold, its correlations included, gives its cases evidence."""
    X, y = moved_together(seed, n=40, p=12, real=kind == "real")
    model = clone(MODELS[kind]).fit(X, y)
    fold_of = dealt(y, 10)
    n_likelihoods = 1 + len(model.panel().predictor.within.shapes)
    evidence, prior = np.empty((n_likelihoods, 40, 2)), np.empty((40, 2))
    for fold in range(10):
        out = fold_of == fold
        kept = clone(model).fit(X[~out], y[~out])
        inner = kept.panel().predictor
        prior[out] = inner.log_prior(X[out])
        rows = inner.fitted.rows(X[np.ix_(out, kept.selection_.indices)], str)
        evidence[:, out] = inner.log_evidence(rows)
    by_hand = LikelihoodAverage.learn([HeldOut.of_classes(one, prior, y) for one in evidence])
    np.testing.assert_allclose(model.likelihood_average_.weights, by_hand.weights, atol=1e-8)
    assert model.likelihood_average_.mean_power == pytest.approx(by_hand.mean_power, abs=1e-8)


@pytest.mark.parametrize("kind", MODELS)
def test_contributions_and_intervals_belong_to_the_predictions(kind, seed):
    X, y = moved_together(seed, real=kind == "real")
    model = clone(MODELS[kind]).fit(X, y)
    told = model.explain(X[:8])
    log_proba = model.predict_log_proba(X[:8])
    np.testing.assert_allclose(told.log_odds, log_proba[:, 1] - log_proba[:, 0], rtol=1e-9)
    assert np.corrcoef(told.total, told.log_odds)[0, 1] > 0.8
    low, high = model.predict_proba_interval(X[:8])
    p = np.exp(log_proba)
    assert np.all((low <= high) & (low >= 0) & (high <= 1))
    assert np.mean((low <= p) & (p <= high)) > 0.8
    np.testing.assert_allclose(low[:, 0] + high[:, 1], 1.0, atol=1e-3)
