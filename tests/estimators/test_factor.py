"""The estimators of the factor model: as scikit-learn asks, honest, and clear in their errors."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn_checks import in_turn

from unselected import SelectiveFactorClassifier, SelectiveFactorRegressor, SelectiveGaussianNB
from unselected.models.factor import FactorModel

SHORT = {"n_draws": 8, "n_warmup": 3, "n_chains": 1, "random_state": 0}
BOTH = [SelectiveFactorRegressor, SelectiveFactorClassifier]

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*the chains have not mixed"),
    pytest.mark.filterwarnings("ignore:No features? (has|were)"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "check"),
    in_turn(
        [
            SelectiveFactorRegressor(k=1, **SHORT),
            SelectiveFactorClassifier(k=1, **SHORT | {"n_draws": 4, "n_warmup": 1}),
        ]
    ),
)
def test_yielded_checks(estimator, check):
    check(estimator)


def data(kind="real", n=30, p=40, seed=0, **taus):
    taus = {"tau": 0.5, "tau_response": 1.0, **taus}
    X, y, _ = FactorModel(kind).simulate(n, p, np.random.default_rng(seed), **taus)
    if kind == "classes":
        y[:4] = [0.0, 1.0, 0.0, 1.0]
        y = np.where(y > 0.5, "yes", "no")
    return X, y


def fitted(kind="real", n_test=0, **options):
    X, y = data(kind, 30 + n_test)
    cls = SelectiveFactorRegressor if kind == "real" else SelectiveFactorClassifier
    model = cls(**{"k": 6, **SHORT, **options}).fit(X[:30], y[:30])
    return model, X[30:], y[30:]


@pytest.mark.parametrize("kind", ["real", "classes"])
def test_what_a_fit_leaves(kind):
    model, _, _ = fitted(kind, n_factors=2, store_scores=True)
    assert model.selection_.indices.size == model.scores_.size == 6
    assert model.threshold_ == pytest.approx(model.scores_.min())
    assert model.feature_scores_.shape == (40,)
    assert 0.0 < model.omission_probability_ < 1.0
    assert model.n_factors_ == 2
    assert not hasattr(model, "n_factors_path_")
    draws = model.posterior_
    assert (draws.n_chains, draws.n_draws) == (1, 8)
    assert draws["factors"].shape == (1, 8, 30, 2)
    assert draws["loadings"].shape == (1, 8, 6, 2)
    assert draws["coefficients"].shape == (1, 8, 2)
    assert model.diagnostics_.names == ("tau", "tau_response", "response_correlation")
    assert draws.to_arviz().posterior["tau"].shape == (1, 8)
    Z = draws["factors"][0] - draws["factors"][0].mean(axis=1, keepdims=True)
    y = data(kind)[1]
    code = y if kind == "real" else (y == "yes") * 1.0
    along = np.einsum("dnq,n->dq", Z, code - code.mean())
    assert np.all(along[:, 0] > 0.0)
    np.testing.assert_allclose(along[:, 1], 0.0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:k=.* keeps all")
@pytest.mark.parametrize("kind", ["real", "classes"])
def test_all_features_kept_is_the_same_corrected_or_not(kind):
    models = [fitted(kind, k=k, correct_selection=c)[0] for k in (None, 40) for c in (True, False)]
    for other in models[1:]:
        np.testing.assert_array_equal(other.posterior_["tau"], models[0].posterior_["tau"])
    twin = fitted(kind, k=39)[0]
    assert not np.array_equal(twin.posterior_["tau"], models[0].posterior_["tau"])


@pytest.mark.parametrize("kind", ["real", "classes"])
def test_the_same_seed_the_same_draws(kind):
    first, X, _ = fitted(kind, n_test=5)
    second = fitted(kind, n_test=5)[0]
    np.testing.assert_array_equal(first.posterior_["factors"], second.posterior_["factors"])
    other = fitted(kind, n_test=5, random_state=1)[0]
    assert not np.array_equal(first.posterior_["factors"], other.posterior_["factors"])
    again = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(again.predict(X), first.predict(X))


def test_an_interrupt_leaves_the_estimator_as_it_was(monkeypatch):
    model, X, _ = fitted("real", n_test=5)
    before = model.predict(X)

    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("unselected.models.factor_sampler.FactorSampler.step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data("real", seed=5))
    np.testing.assert_array_equal(model.predict(X), before)


def test_predictions_of_numbers_agree_with_each_other():
    model, X, y = fitted("real", n_test=20)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(model.predict(X), mean)
    assert np.all(std > 0.0)
    quantiles = model.predict_quantiles(X)
    assert quantiles.shape == (20, 3)
    assert np.all(np.diff(quantiles, axis=1) > 0.0)
    np.testing.assert_allclose(model.predict_cdf(X, quantiles[:, 0]), 0.05, atol=1e-9)
    step = 1e-4
    slope = (model.predict_cdf(X, y + step) - model.predict_cdf(X, y - step)) / (2.0 * step)
    np.testing.assert_allclose(np.log(slope), model.predict_log_density(X, y), atol=1e-4)


def test_predictions_of_classes_agree_with_each_other():
    model, X, _ = fitted("classes", n_test=20)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    odds = proba[:, 1] / proba[:, 0]
    learned = np.exp(model._predictor.fitted.log_psi)
    shifted = model.predict_proba(X, prevalence=0.9)
    ratio = (shifted[:, 1] / shifted[:, 0]) / odds
    np.testing.assert_allclose(ratio, 9.0 * learned[0] / learned[1], rtol=1e-9)


def test_rows_do_not_know_of_each_other(monkeypatch):
    model, X, _ = fitted("classes", n_test=20)
    together = model.predict_proba(X)
    monkeypatch.setattr("unselected.models.class_draws._BLOCK", 8 * 3)
    np.testing.assert_allclose(model.predict_proba(X), together, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[::-1])[::-1], together, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.* outside of their training range")
def test_a_row_far_away_has_finite_predictions():
    model, X, _ = fitted("classes", n_test=2)
    X[0] *= 1e200
    assert np.all(np.isfinite(model.predict_log_proba(X)))


def test_no_feature_above_the_threshold():
    model, X, _ = fitted("classes", n_test=3, k=None, threshold=0.99)
    assert model.selection_.indices.size == 0
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, np.repeat(proba[:1], 3, axis=0))


def test_selection_made_before_is_the_same_event():
    X, y = data("real", n=30, p=200)
    whole = SelectiveFactorRegressor(k=6, **SHORT).fit(X, y)
    kept = X[:, whole.selection_.indices]
    panel = SelectiveFactorRegressor(preselected_from=200, **SHORT).fit(kept, y)
    np.testing.assert_allclose(panel.posterior_["tau"], whole.posterior_["tau"])
    twin = SelectiveFactorRegressor(preselected_from=2000, **SHORT).fit(kept, y)
    assert not np.allclose(twin.posterior_["tau"], whole.posterior_["tau"])


def test_the_number_of_factors_is_chosen_by_cases_left_out():
    model, _, _ = fitted("classes", n_factors=[1, 3], n_draws=4)
    assert [score.n_factors for score in model.n_factors_path_] == [1, 3]
    best = max(model.n_factors_path_, key=lambda score: score.log_score)
    assert model.n_factors_ == best.n_factors
    assert best.log_score < 0.0 < best.standard_error
    assert clone(model).set_params(n_factors="auto")._checked_factors(30) == [1, 2, 3]
    assert clone(model).set_params(n_factors="auto")._checked_factors(6) == [1]


@pytest.mark.filterwarnings("ignore:class .* one case only")
@pytest.mark.parametrize("cls", BOTH)
def test_errors_name_what_is_wrong(cls):
    X, y = data("real" if cls is SelectiveFactorRegressor else "classes")
    holes = X.copy()
    holes[3, 7] = np.nan
    with pytest.raises(ValueError, match=r"column 7 has NaN \(a missing value\) in row 3"):
        cls(k=3, **SHORT).fit(holes, y)
    with pytest.raises(ValueError, match="n_factors='many' must be a whole number"):
        cls(n_factors="many", **SHORT).fit(X, y)
    with pytest.raises(ValueError, match=r"n_factors=28 is out of range.*in 1\.\.27"):
        cls(n_factors=28, **SHORT).fit(X, y)
    with pytest.raises(TypeError, match=r"n_factors=1\.5 must be a whole number"):
        cls(n_factors=1.5, **SHORT).fit(X, y)
    with pytest.raises(ValueError, match="n_factors is empty"):
        cls(n_factors=[], **SHORT).fit(X, y)
    with pytest.raises(ValueError, match=r"3 cases .* are too few: .* needs at least 4 cases"):
        cls(**SHORT).fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="with preselected_from=90 give one number of factors"):
        cls(n_factors="auto", preselected_from=90, **SHORT).fit(X, y)
    with pytest.raises(TypeError, match="k='loo' must be a whole number"):
        cls(k="loo", **SHORT).fit(X, y)
    with pytest.raises(ValueError, match="concentration_prior"):
        cls(concentration_prior=(0.0, 1.0), **SHORT).fit(X, y)
    with pytest.raises(ValueError, match="n_draws=0 is out of range"):
        cls(**{**SHORT, "n_draws": 0}).fit(X, y)
    with pytest.raises(NotFittedError):
        cls(**SHORT).predict(X)


def test_more_classes_are_an_error():
    X, _ = data("classes")
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        SelectiveFactorClassifier(**SHORT).fit(X, np.arange(30) % 3)


def test_poor_chains_are_told():
    X, y = data("real")
    options = {**SHORT, "n_chains": 2}
    with pytest.warns(ConvergenceWarning, match="SelectiveFactorRegressor: the chains have not"):
        SelectiveFactorRegressor(k=3, **options).fit(X, y)


@pytest.mark.slow
def test_honest_about_noise():
    """Three hundred columns of noise, ten kept: without correction they look like signal."""
    rng = np.random.default_rng(0)
    X, y, X_new = rng.normal(size=(40, 300)), np.arange(40) % 2, rng.normal(size=(200, 300))
    options = {"n_draws": 120, "n_warmup": 80, "n_chains": 1, "random_state": 0}
    models = [
        SelectiveFactorClassifier(k=10, correct_selection=c, **options) for c in (True, False)
    ]
    errors = [model.fit(X, y).expected_error(X_new) for model in models]
    assert errors[0] > 0.41
    assert errors[1] < 0.37


@pytest.mark.slow
def test_better_than_naive_bayes_where_features_say_the_same():
    """One strong factor: naive Bayes counts its evidence many times over, and is sure of it."""
    X, y = data("classes", n=40 + 400, p=60, seed=1, tau=1.0, tau_response=0.8)
    options = {"n_draws": 120, "n_warmup": 80, "n_chains": 1, "random_state": 0}
    losses = []
    for model in (SelectiveFactorClassifier(k=20, **options), SelectiveGaussianNB(k=20)):
        log_proba = model.fit(X[:40], y[:40]).predict_log_proba(X[40:])
        losses.append(-np.mean(log_proba[np.arange(400), (y[40:] == "yes") * 1]))
    assert losses[0] < losses[1] - 0.1
