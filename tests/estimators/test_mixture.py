"""`SelectiveMixtureClassifier` as users meet it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from unselected import SelectiveBernoulliNB, SelectiveMixtureClassifier
from unselected.models.mixture import MixtureModel

# So few draws are not diagnosed.
SHORT = {"n_draws": 3, "n_warmup": 30, "n_chains": 4, "random_state": 0}


def data(seed, n=40, p=200, **given):
    rng = np.random.default_rng(seed)
    X, y, _ = MixtureModel().simulate(n, p, rng, **{"alpha": 5.0, "alpha0": 0.5, **given})
    if not 8 <= y[:20].sum() <= 12:
        return data(seed + 1000, n, p, **given)
    return X, y


SHORTEST = SHORT | {"n_draws": 1, "n_warmup": 1, "n_chains": 1}


@pytest.mark.slow
@parametrize_with_checks(
    [SelectiveMixtureClassifier(k=1, ties="random", binarize="median", **SHORTEST)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_what_a_fit_leaves(seed):
    X, y = data(seed)
    X = pd.DataFrame(X, columns=[f"g{j}" for j in range(200)])
    labels = np.array(["a", "b"])[y]
    model = SelectiveMixtureClassifier(k=5, store_scores=True, always_keep=["g7"], **SHORT)
    model.fit(X, labels)
    naive = SelectiveBernoulliNB(k=5, store_scores=True, always_keep=["g7"]).fit(X, labels)
    assert np.array_equal(model.selection_.indices, naive.selection_.indices)
    assert model.threshold_ == naive.threshold_
    assert np.array_equal(model.scores_, naive.scores_)
    assert np.array_equal(model.feature_scores_, naive.feature_scores_)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.posterior_["labels"].shape == (4, 3, 40)
    assert 0.5 < model.omission_probability_ < 1.0
    assert model.group_probability_.shape == (40,)
    assert np.array_equal(model.transform(X), X.iloc[:, model.selection_.indices])
    assert np.array_equal(
        pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X)
    )


def test_the_same_seed_gives_the_same_fit(seed):
    X, y = data(seed)
    one, again, other = (
        SelectiveMixtureClassifier(k=5, **SHORT | {"random_state": s}).fit(X, y)
        for s in (seed, seed, seed + 1)
    )
    assert np.array_equal(one.predict_proba(X), again.predict_proba(X))
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_without_correction_the_event_is_empty(seed):
    X, y = data(seed)
    model = SelectiveMixtureClassifier(k=5, correct_selection=False, **SHORT).fit(X, y)
    bits, twin = X[:, model.selection_.indices], SelectiveMixtureClassifier(**SHORT)
    assert np.array_equal(model.predict_proba(X), twin.fit(bits, y).predict_proba(bits))
    corrected = clone(model).set_params(correct_selection=True).fit(X, y)
    assert not np.array_equal(model.predict_proba(X), corrected.predict_proba(X))


@pytest.mark.slow
def test_where_classes_are_groups_it_is_as_good_as_naive_bayes(seed):
    X, y = data(seed, n=440, p=300, alpha=10.0, alpha0=0.01)
    long = SHORT | {"n_draws": 200, "n_warmup": 200}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mixture = SelectiveMixtureClassifier(k=10, **long).fit(X[:40], y[:40])
    naive = SelectiveBernoulliNB(k=10).fit(X[:40], y[:40])
    losses = [
        -np.mean(model.predict_log_proba(X[40:])[np.arange(400), y[40:]])
        for model in (mixture, naive)
    ]
    assert losses[0] < losses[1] + 0.05


def test_prevalence_shifts_the_odds(seed):
    X, y = data(seed)
    model = SelectiveMixtureClassifier(k=5, **SHORT).fit(X, y)
    log_psi = model._predictor.fitted.log_psi
    plain = np.diff(model.predict_log_proba(X))[:, 0]
    shifted = np.diff(model.predict_log_proba(X, prevalence=0.5))[:, 0]
    assert shifted == pytest.approx(plain - (log_psi[1] - log_psi[0]))


def test_poor_chains_are_told_of():
    X, y = data(0)
    with pytest.warns(
        ConvergenceWarning, match=r"have not mixed: .*ESS.* Increase n_draws"
    ) as caught:
        model = SelectiveMixtureClassifier(k=5, n_draws=10, n_warmup=0, random_state=0).fit(X, y)
    assert model.posterior_.to_arviz()["posterior"]["labels"].shape == (4, 10, 40)
    assert caught[0].filename == __file__


def test_an_interruption_leaves_the_estimator_as_it_was(monkeypatch):
    X, y = data(0)
    model = SelectiveMixtureClassifier(k=5, **SHORT).fit(X, y)
    before = model.predict_proba(X)

    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("unselected.models.mixture.MixtureSampler.step_alpha", interrupted)
    model.set_params(k=3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.selection_.indices.size == 5
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": "loo"}, "k='loo'"),
        ({"n_draws": 0}, "n_draws=0"),
        ({"n_chains": 0}, "n_chains=0"),
        ({"n_warmup": -1}, "n_warmup=-1"),
        ({"adjust_labels": "never"}, "adjust_labels='never'"),
        ({"response_prior": (0.0, 1.0)}, "response_prior"),
        ({"progress": "yes"}, "progress='yes'"),
        ({"binarize": "mean"}, "binarize='mean'"),
    ],
)
def test_errors_name_the_parameter(options, message):
    X, y = data(0)
    with pytest.raises((ValueError, TypeError), match=message):
        SelectiveMixtureClassifier(**SHORT | options).fit(X, y)


def test_what_makes_no_sense_does_not_exist():
    model = SelectiveMixtureClassifier()
    for name in ("loo_predict_proba", "k_path", "feature_effects", "explain", "dependence"):
        assert not hasattr(model, name)
