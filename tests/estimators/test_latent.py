"""What the estimators with latent variables say before they take long, much, or the impossible."""

import numpy as np
import pytest

from unselected import (
    SelectiveFactorClassifier,
    SelectiveFactorRegressor,
    SelectiveMixtureClassifier,
)
from unselected.estimators.mixture import _MOST_CASES
from unselected.models.mixture_tables import _MOST_KEPT, BLOCK

SHORT = {"n_draws": 2, "n_warmup": 1, "n_chains": 1, "random_state": 0}
ALL = [SelectiveMixtureClassifier, SelectiveFactorClassifier, SelectiveFactorRegressor]
FACTORS = ALL[1:]


def data(n=20, p=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, size=(n, p)).astype(float), np.arange(n) % 2


@pytest.mark.parametrize("cls", ALL)
def test_without_a_cut_all_features_are_at_most_there(cls):
    X, y = data()
    model = cls(**SHORT).fit(X, y)
    assert model.threshold_ is None
    assert model.omission_probability_ == 1.0
    assert all(np.all(np.isfinite(array)) for array in model.posterior_.arrays.values())
    assert cls(k=3, **SHORT).fit(X, y).omission_probability_ < 1.0


@pytest.mark.parametrize("cls", ALL)
def test_draws_that_would_take_gigabytes_are_told_of(cls, monkeypatch):
    X, y = data()
    monkeypatch.setattr("unselected.estimators.latent._LARGE", 8e-9 * 2 * 6 * 3)
    cls(k=2, **SHORT).fit(X, y)
    words = rf"{cls.__name__}: 2 draws .* need at least 0 GB of memory\. Keep fewer features"
    with pytest.warns(UserWarning, match=words) as caught:
        cls(k=10, **SHORT).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("cls", ALL)
def test_a_warning_that_no_feature_is_kept_points_to_the_caller(cls):
    X, y = data()
    with pytest.warns(UserWarning, match="No feature has an absolute correlation") as caught:
        cls(threshold=0.99, **SHORT).fit(X, y)
    assert caught[0].filename == __file__


def test_many_cases_are_told_of_and_too_many_refused(monkeypatch):
    X, y = data(n=2001, p=2)
    with pytest.raises(ValueError, match=r"2001 cases are too many .* limit is 2000"):
        SelectiveMixtureClassifier(**SHORT).fit(X, y)
    monkeypatch.setattr("unselected.estimators.mixture._MANY_CASES", 19)
    with pytest.warns(UserWarning, match="fitting 20 cases takes long") as caught:
        SelectiveMixtureClassifier(**SHORT).fit(X[:20], y[:20])
    assert caught[0].filename == __file__
    SelectiveMixtureClassifier(**SHORT).fit(X[:19], y[:19])  # no warning


def test_tables_that_a_move_needs_are_kept_for_the_most_cases():
    """With one case more than the most, at the latest, a chain might wait for them for ever."""
    half = _MOST_CASES // 2
    assert 3 * BLOCK * (half + 1) ** 2 <= _MOST_KEPT


@pytest.mark.parametrize("cls", FACTORS)
@pytest.mark.parametrize("prior", [(0.001, 5.0), (0.5, 1e-12), (50.0, 1e-10), (0.5, 1e30)])
def test_priors_that_chains_cannot_follow_are_refused(cls, prior):
    X, y = data()
    with pytest.raises(ValueError, match=r"concentration_prior=.* is out of range: the shape"):
        cls(concentration_prior=prior, **SHORT).fit(X, y)


@pytest.mark.parametrize("prior", [(0.1, 5.0), (0.5, 5e-5), (50.0, 5e-3), (0.5, 5e11)])
def test_priors_that_are_not_refused_are_drawn_from(prior):
    """A chain that starts outside its bounds never moves."""
    X, y = data(n=6, p=1)
    options = {**SHORT, "n_draws": 30, "n_warmup": 5}
    with pytest.warns(UserWarning, match="have not mixed"):
        model = SelectiveFactorClassifier(concentration_prior=prior, **options).fit(X, y)
    for name in ("tau", "tau_response"):
        assert np.unique(model.posterior_.stacked(name)).size == 30
