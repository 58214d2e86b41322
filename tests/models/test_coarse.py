"""Few nodes of alpha and of the related fraction, against the fine quadrature."""

import numpy as np
import pytest

from unselected.models.batch import TablesOfSizes
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.selection.count_scores import CountScores
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.summing import class_moments

NOTHING = np.array([], dtype=np.intp)


def conditioned_real(model, seed, n_related):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 800))
    X[:, :n_related] += 1.2 * y[:, np.newaxis]
    scores = RealScores.of(class_moments(X, y, 2))
    selection = keep_top(scores, 20, "first", NOTHING, rng)
    return model.condition(scores.take(selection.indices).contrasts(), selection.event)


def selected_bits(seed, n_related):
    rng = np.random.default_rng(seed)
    y = np.arange(80) % 2
    rates = np.full((2, 600), 0.3)
    rates[1, :n_related] = 0.75
    X = (rng.random((80, 600)) < rates[y]).astype(np.uint8)
    scores = CountScores.of(count_classes(X, y, None)[0], by_total=True)
    selection = keep_top(scores, 20, "first", NOTHING, rng)
    return scores.take(selection.indices).counts, selection.event


def conditioned_binary(model, seed, n_related):
    return model.condition(*selected_bits(seed, n_related))


def summary(posterior):
    """Return a tenth of the log evidence, and the mean of tau."""
    weights = np.exp(posterior.log_weights)
    assert np.isclose(weights.sum(), 1.0)
    return np.array([0.1 * posterior.log_evidence, weights @ np.exp(-0.5 * posterior.log_alpha)])


@pytest.mark.parametrize("n_related", [0, 3, 15])
@pytest.mark.parametrize("groups", [{}, {"least_fraction": 1e-3}])
def test_few_nodes_say_nearly_the_same_of_real_features(groups, n_related, seed):
    fine, coarse = (
        conditioned_real(GaussianModel(**groups, coarse=coarse), seed, n_related)
        for coarse in (False, True)
    )
    np.testing.assert_allclose(summary(coarse), summary(fine), rtol=0.0, atol=0.04)
    assert coarse.log_weights.size < fine.log_weights.size
    if groups:
        np.testing.assert_allclose(coarse.related, fine.related, atol=0.05)


@pytest.mark.parametrize("n_related", [0, 3, 15])
def test_few_nodes_say_nearly_the_same_of_binary_features(n_related, seed):
    fine, coarse = (
        conditioned_binary(
            BernoulliModel(rates="given", least_fraction=1e-3, coarse=coarse), seed, n_related
        )
        for coarse in (False, True)
    )
    np.testing.assert_allclose(summary(coarse), summary(fine), rtol=0.0, atol=0.04)
    np.testing.assert_allclose(coarse.related, fine.related, atol=0.05)


def test_a_prior_probability_of_all_related_mixes_the_two_priors(seed):
    """log P(data) is that of the mixture, and P(all related) follows from Bayes' rule."""
    of = {
        name: conditioned_real(GaussianModel(coarse=True, **groups), seed, 3)
        for name, groups in (
            ("common", {}),
            ("sparse", {"least_fraction": 1e-3}),
            ("both", {"least_fraction": 1e-3, "all_related": 0.25}),
        )
    }
    common, sparse = (
        np.log(0.25) + of["common"].log_evidence,
        np.log(0.75) + of["sparse"].log_evidence,
    )
    assert np.isclose(of["both"].log_evidence, np.logaddexp(common, sparse), atol=1e-6)
    at_one = np.isneginf(of["both"].fractions.log_rest)
    probability = np.exp(of["both"].log_weights)[at_one].sum()
    expected = np.exp(common - np.logaddexp(common, sparse))
    assert np.isclose(probability, expected, atol=1e-6)


def test_all_related_needs_two_groups():
    for model in (GaussianModel, BernoulliModel):
        with pytest.raises(ValueError, match=r"all_related=0.5 needs least_fraction"):
            model(all_related=0.5)


@pytest.mark.parametrize("n_related", [0, 15, 300])  # with many, steps of alpha are divided
@pytest.mark.parametrize("omitted", [True, False])
def test_shared_tables_say_the_same_as_one_set_alone(n_related, omitted, seed):
    model = BernoulliModel(coarse=True, least_fraction=1e-3, all_related=0.5, rates="given")
    tables = TablesOfSizes()
    for extra in range(3):
        counts, event = selected_bits((seed, extra), n_related)
        event = event if omitted else event.emptied()
        ours, expected = tables.condition(model, counts, event), model.condition(counts, event)
        for name in ("log_alpha", "log_weights", "log_at_most", "log_values", "related"):
            pair = getattr(ours, name), getattr(expected, name)
            np.testing.assert_allclose(*pair, rtol=1e-10, atol=1e-12)
        assert ours.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
