"""Terms between values of alpha: the same figures to 1e-9, and exact ones where that fails."""

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.record_interpolation import RecordInterpolation
from unselected.numerics.beta_binomial_integral import EXACT

MODULE = "unselected.models.record_interpolation"
# A strong signal, a weak one, and none, where the posterior of alpha is wide.
ALPHAS = [20.0, 300.0, 1e4, 1e12]


def kept(alpha, seed, n=700, p=300, n_classes=2):
    """Return the counts of kept features, and the event."""
    rng = np.random.default_rng(seed)
    model = BernoulliModel((1.0,) * n_classes)
    X, y, _ = model.simulate(n, p, rng, alpha=alpha, y=np.arange(n) % n_classes)
    fitted = SelectiveBernoulliNB(k=20).fit(X, y)._predictor.fitted
    return fitted.counts, fitted.event


@pytest.fixture
def computed(monkeypatch):
    """The values of 1 / alpha at which exact terms were computed."""
    found, compute = [], Likelihood._compute

    def counting(self, u, accuracy):
        if accuracy is EXACT:
            found.append(u)
        return compute(self, u, accuracy)

    monkeypatch.setattr(Likelihood, "_compute", counting)
    return found


def assert_same(found, exact):
    np.testing.assert_allclose(found.log_alpha, exact.log_alpha, rtol=1e-12)
    np.testing.assert_allclose(np.exp(found.log_weights), np.exp(exact.log_weights), atol=1e-9)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-9)
    weights = np.exp(exact.log_weights)
    for name in ("log_one", "log_zero", "log_at_most"):
        ours, theirs = (np.exp(getattr(each, name)) for each in (found, exact))
        axis = 0 if name == "log_at_most" else 1
        ours, theirs = (np.tensordot(weights, each, ([0], [axis])) for each in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_figures_are_the_same_with_fewer_values_of_alpha(alpha, seed, computed, monkeypatch):
    counts, event = kept(alpha, seed)
    computed.clear()
    found = BernoulliModel().condition(counts, event)
    n_computed = len(computed)
    monkeypatch.setattr(f"{MODULE}._TOLERANCE", 0.0)
    computed.clear()
    exact = BernoulliModel().condition(counts, event)
    assert_same(found, exact)
    assert n_computed < 0.8 * len(computed)


@pytest.mark.slow
@pytest.mark.parametrize("rates", ["uniform", "given"])
def test_several_classes_with_many_vectors_of_counts_too(rates, seed, computed, monkeypatch):
    counts, event = kept(50.0, seed, n=200, p=60, n_classes=4)
    model = BernoulliModel((1.0,) * 4, rates=rates)
    computed.clear()
    found = model.condition(counts, event)
    n_computed = len(computed)
    monkeypatch.setattr(f"{MODULE}._TOLERANCE", 0.0)
    computed.clear()
    assert_same(found, model.condition(counts, event))
    assert n_computed < 0.8 * len(computed)


def test_few_cases_are_not_interpolated(seed, computed):
    counts, event = kept(50.0, seed, n=60, p=60, n_classes=3)
    computed.clear()
    found = BernoulliModel((1.0, 1.0, 1.0)).condition(counts, event)
    assert len(computed) >= found.log_alpha.size


@pytest.mark.parametrize("trusted", [False, True])
def test_bad_polynomials_are_noticed(trusted, seed, monkeypatch):
    """Through four points they are wrong; without the check the figures would be too."""
    counts, event = kept(1e4, seed)
    monkeypatch.setattr(f"{MODULE}._TOLERANCE", 0.0)
    exact = BernoulliModel().condition(counts, event)
    monkeypatch.undo()
    monkeypatch.setattr(f"{MODULE}._NEAREST", 4)
    if trusted:
        monkeypatch.setattr(f"{MODULE}._TOLERANCE", np.inf)
        with pytest.raises(AssertionError):
            assert_same(BernoulliModel().condition(counts, event), exact)
    else:
        assert_same(BernoulliModel().condition(counts, event), exact)


def test_values_outside_of_the_known_ones_are_computed(seed):
    counts, event = kept(300.0, seed)
    model = BernoulliModel()
    likelihood, other = (Likelihood(model.theta_rule, counts, event) for _ in range(2))
    interpolation = RecordInterpolation(likelihood, model.concentration)
    interpolation.log_total(np.linspace(-6.0, -5.0, 20))
    beyond = np.linspace(-5.5, -4.0, 12)
    expected = [other.at(x).log_total for x in beyond]
    assert interpolation.log_total(beyond).tolist() == expected
