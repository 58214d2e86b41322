"""Classifiers that learn what their evidence is worth."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import log_loss

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior
from unselected.estimators.class_fitting import dealt


def near_duplicates(seed, n=80, copies=10, p=300, real=True):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = np.repeat((rng.random((n, p // copies)) < 0.35 + 0.3 * y[:, None]), copies, axis=1)
    X = (X ^ (rng.random(X.shape) < 0.1)).astype(float)
    return X + rng.normal(scale=0.3, size=X.shape) if real else X, y


MODELS = {
    "binary": SelectiveBernoulliNB(k=20, dependence="tempered"),
    "real": SelectiveGaussianNB(k=20, dependence="tempered"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_evidence_that_is_counted_several_times_is_worth_less(kind, seed):
    X, y = near_duplicates(seed, real=kind == "real")
    X_new, y_new = near_duplicates(seed + 1000, n=400, real=kind == "real")
    tempered = clone(MODELS[kind]).fit(X, y)
    plain = clone(MODELS[kind]).set_params(dependence="none").fit(X, y)
    assert tempered.likelihood_average_.powers[0].mean_power < 0.8
    assert not hasattr(plain, "tempering_")
    losses = [log_loss(y_new, model.predict_proba(X_new)) for model in (tempered, plain)]
    assert losses[0] < losses[1]


@pytest.mark.parametrize("kind", MODELS)
def test_the_worth_is_learned_from_folds_that_are_left_out(kind, seed):
    """By hand: a fit without each fold gives the evidence of its cases, and the prior."""
    X, y = near_duplicates(seed, n=40, real=kind == "real")
    model = clone(MODELS[kind]).fit(X, y)
    plain = clone(model).set_params(dependence="none")
    evidence, prior = np.empty((40, 2)), np.empty((40, 2))
    fold_of = dealt(y, 10)
    for fold in range(10):
        out = fold_of == fold
        fitted = clone(plain).fit(X[~out], y[~out])
        counts = 1.0 + np.bincount(y[~out])
        prior[out] = np.log(counts / counts.sum())
        evidence[out] = fitted.predict_log_proba(X[out]) - prior[out]
    by_hand = PowerPosterior.learn(HeldOut.of_classes(evidence, prior, y))
    assert model.likelihood_average_.powers[0].mean_power == pytest.approx(
        by_hand.mean_power, abs=1e-8
    )
    assert model.likelihood_average_.powers[0].mean_outlier_fraction == pytest.approx(
        by_hand.mean_outlier_fraction, abs=1e-8
    )
    fitted = clone(plain).fit(X, y)
    psi = np.log((1.0 + np.bincount(y)) / (2.0 + y.size))
    expected = by_hand.log_proba(fitted.predict_log_proba(X) - psi, psi)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-8)
    # A wrong twin: evidence of cases that were trained on says that it is worth all.
    in_sample = PowerPosterior.learn(HeldOut.of_classes(fitted.predict_log_proba(X) - psi, psi, y))
    assert in_sample.mean_power > by_hand.mean_power + 0.1


def test_other_class_probabilities_go_into_the_average_over_the_worth(seed):
    X, y = near_duplicates(seed)
    model = clone(MODELS["real"]).fit(X, y)
    plain = clone(model).set_params(dependence="none").fit(X, y)
    psi = np.log((1.0 + np.bincount(y)) / (2.0 + y.size))
    prior = np.log([0.99, 0.01])
    expected = model.likelihood_average_.powers[0].log_proba(
        plain.predict_log_proba(X) - psi, prior
    )
    np.testing.assert_allclose(
        model.predict_log_proba(X, prevalence=0.01), expected, rtol=0, atol=1e-8
    )
    same = model.panel().predict_log_proba(X[:, model.selection_.indices], prevalence=0.01)
    np.testing.assert_allclose(same, expected, atol=1e-8)


def test_intervals_hold_the_probabilities_and_are_wider_for_the_worth(seed):
    X, y = near_duplicates(seed)
    model = clone(MODELS["real"]).fit(X, y)
    low, high = model.predict_proba_interval(X[:20])
    p = model.predict_proba(X[:20])
    assert np.all((low <= high) & (low >= 0) & (high <= 1))
    assert np.mean((low <= p) & (p <= high)) > 0.9
    np.testing.assert_allclose(low[:, 0] + high[:, 1], 1.0, atol=1e-3)
    narrow = model.predict_proba_interval(X[:20], level=0.5)
    assert np.all(narrow[1] - narrow[0] <= high - low + 1e-12)


def test_contributions_are_weighed_by_the_mean_worth(seed):
    X, y = near_duplicates(seed)
    model = clone(MODELS["real"]).fit(X, y)
    plain = clone(model).set_params(dependence="none").fit(X, y)
    ours, raw = model.explain(X[:5]), plain.explain(X[:5])
    np.testing.assert_allclose(
        ours.contributions,
        raw.contributions * model.likelihood_average_.powers[0].mean_power,
        rtol=1e-10,
    )
    log_proba = model.predict_log_proba(X[:5])
    np.testing.assert_allclose(ours.log_odds, log_proba[:, 1] - log_proba[:, 0], rtol=1e-10)
    np.testing.assert_allclose(ours.total + ours.difference, ours.log_odds, rtol=1e-10)


@pytest.mark.parametrize("kind", MODELS)
def test_a_true_model_loses_next_to_nothing(kind, seed):
    """Features that are independent given the class: the evidence is worth what it says."""
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 2
    X = rng.normal(size=(1120, 40)) + 0.4 * np.concatenate([y, np.arange(1000) % 2])[:, None]
    X = X if kind == "real" else X > 0.2
    model = clone(MODELS[kind]).fit(X[:120], y)
    plain = clone(model).set_params(dependence="none").fit(X[:120], y)
    losses = [
        -np.mean(m.predict_log_proba(X[120:])[np.arange(1000), np.arange(1000) % 2])
        for m in (model, plain)
    ]
    assert losses[0] < losses[1] + 0.02
    assert logsumexp(model.predict_log_proba(X), axis=1) == pytest.approx(0.0, abs=1e-10)


def test_an_unknown_way_is_an_error():
    X, y = near_duplicates(0)
    with pytest.raises(ValueError, match="dependence='some' is not one of"):
        SelectiveGaussianNB(k=3, dependence="some").fit(X, y)
