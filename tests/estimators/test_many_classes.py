"""Fits in more classes than can be enumerated: the same predictions, and an error that is known."""

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.files.models import load_model, save_model
from unselected.models import bernoulli_likelihood, count_omission
from unselected.omission import count_plan


def data(sizes, p=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    theta, alpha = rng.random(p), np.where(np.arange(p) < 15, 10.0, 1e4)
    phi = rng.beta(alpha * theta, alpha * (1.0 - theta), size=(len(sizes), p))
    return (rng.random((y.size, p)) < phi[y]).astype(np.uint8), y


def by_transform(monkeypatch):
    monkeypatch.setattr(count_omission, "is_transformed", lambda *_: True)
    monkeypatch.setattr(count_omission, "_FEWEST_SUMS_BY_TRANSFORM", 0)
    for module in (count_omission, bernoulli_likelihood):
        monkeypatch.setattr(module, "is_tabulated", lambda _: False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [{}, {"rates": "given"}, {"ties": "random"}, {"prior": "sparse"}],
    ids=str,
)
@pytest.mark.parametrize("sizes", [(12,) * 4, (11, 13, 17, 15)], ids=["transform", "pairs"])
def test_many_classes_are_predicted_as_few(sizes, parameters, monkeypatch, seed):
    X, y = data(sizes, seed=seed)
    expected = SelectiveBernoulliNB(k=8, random_state=0, **parameters).fit(X, y)
    by_transform(monkeypatch)
    if len(set(sizes)) > 1:
        monkeypatch.setattr(count_plan, "MOST_EXACT_POINTS", 0.0)
    found = SelectiveBernoulliNB(k=8, random_state=0, **parameters).fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=2e-6)
    assert found.event_error_ == 0.0
    assert found.log_marginal_likelihood_ == pytest.approx(
        expected.log_marginal_likelihood_, abs=2e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("rates", ["uniform", "given"])
def test_smoothed_sums_change_little(rates, monkeypatch, tmp_path, seed):
    """No more than they say; and nothing is lost in a model file."""
    X, y = data((11, 13, 17, 15), seed=seed)
    expected = SelectiveBernoulliNB(k=8, rates=rates).fit(X, y)
    by_transform(monkeypatch)
    monkeypatch.setattr(count_plan, "MOST_EXACT_POINTS", 0.0)
    monkeypatch.setattr(count_plan, "_MOST_COMPILED_PAIRS", 0.0)
    monkeypatch.setattr(count_plan, "_MOST_FREQUENCIES", 200)
    monkeypatch.setattr(count_plan, "_MOST_RARE_SUMS", 1 << 10)
    found = SelectiveBernoulliNB(k=8, rates=rates).fit(X, y)
    assert 0.0 < found.event_error_ < 0.1
    assert "log event +-" in repr(found.selection_)
    difference = found.log_marginal_likelihood_ - expected.log_marginal_likelihood_
    assert abs(difference) < 4.0 * found.event_error_ + 1e-6
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=5e-3)
    fields = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    selection = {name: getattr(found.selection_, name) for name in fields}
    path, selection["scores"] = tmp_path / "model.json", found.scores_.tolist()
    save_model(found._predictor, path, selection=selection, provenance={"unselected": "0"})
    saved = load_model(path).predictor.fitted
    assert saved.event_error == pytest.approx(found.event_error_)
    assert any("smoothed" in line for line in saved.in_words())


def test_ten_classes_of_forty_cases():
    """They were refused when all vectors of counts had to be enumerated."""
    X, y = data((40,) * 10, p=40)
    model = SelectiveBernoulliNB(k=8).fit(X, y)
    assert model.event_error_ == 0.0
    assert np.mean(model.predict(X) == y) > 0.2


def test_what_takes_too_long_is_refused():
    y = np.arange(480_000) % 3
    X = np.stack([y == 1, y == 2, np.arange(y.size) % 2 == 0], axis=1)
    with pytest.raises(ValueError, match=r"160000 cases takes .* use SelectiveGaussianNB"):
        SelectiveBernoulliNB(k=1).fit(X, y)
