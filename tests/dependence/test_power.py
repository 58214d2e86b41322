"""The factor on the evidence and the fraction of strays, learned from cases left out."""

import numpy as np
import pytest
from scipy.special import log_softmax

from unselected import SelectiveGaussianNB
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior, PowerPrior

EVEN = np.log([0.5, 0.5])
PRIORS = [
    PowerPrior(),
    PowerPrior(full_power=0.0, no_outliers=1.0),
    PowerPrior(full_power=0.3, no_outliers=0.0, outlier_rate=4),
]


def evidence_of(rng, n, times=1.0, spread=2.0):
    """Log odds with the right law given two classes, then counted several times."""
    y = rng.integers(0, 2, n)
    odds = rng.normal(spread**2 * (y - 0.5), spread)
    return np.stack([np.zeros(n), times * odds], axis=1), y


def learned(evidence, log_psi, y, **options):
    return PowerPosterior.learn(HeldOut.of_classes(evidence, log_psi, y), **options)


def log_loss(log_proba, y):
    return -log_proba[np.arange(y.size), y].mean()


def brute_force(prior, evidence, log_psi, y, new, points=400):
    """Average over a fine grid of midpoints, with the formula written out."""
    middle = (np.arange(points) + 0.5) / points
    etas = [(1.0, prior.full_power)] + [(e, (1 - prior.full_power) / points) for e in middle]
    rate = prior.outlier_rate
    law = rate * (1 - middle) ** (rate - 1) / points * (1 - prior.no_outliers)
    epsilon, weight = np.append(0.0, middle), np.append(prior.no_outliers, law)
    psi, total, sums = np.exp(log_psi), 0.0, np.zeros(new.shape)
    reference = None
    for eta, eta_weight in etas:
        seen = np.exp(log_softmax(log_psi + eta * evidence, axis=1))[np.arange(y.size), y]
        with np.errstate(divide="ignore"):
            mixed = np.outer(1 - epsilon, seen) + np.outer(epsilon, psi[y])
            logs = np.log(mixed).sum(axis=1)
        reference = logs.max() if reference is None else reference
        terms = np.exp(logs - reference) * weight * eta_weight
        clean = np.exp(log_softmax(log_psi + eta * new, axis=1))
        sums += terms.sum() * clean + (terms @ epsilon) * (psi - clean)
        total += terms.sum()
    return np.log(sums / total)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_averages_agree_with_brute_force(prior, n_classes, seed):
    rng = np.random.default_rng([1, seed])
    evidence, y = rng.normal(scale=3.0, size=(25, n_classes)), rng.integers(0, n_classes, 25)
    evidence[np.arange(25), y] += 2.0
    log_psi, new = np.log(rng.dirichlet(np.full(n_classes, 5.0))), evidence[:4] * 1.5
    found = learned(evidence, log_psi, y, prior=prior).log_proba(new, log_psi)
    expected = brute_force(prior, evidence, log_psi, y, new)
    np.testing.assert_allclose(found, expected, atol=2e-5)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0, atol=1e-12)


def test_without_tempering_and_strays_nothing_changes(seed):
    rng = np.random.default_rng([2, seed])
    evidence, y = evidence_of(rng, 30)
    prior = PowerPrior(full_power=1.0, no_outliers=1.0)
    found = learned(evidence, EVEN, y, prior=prior).log_proba(evidence, EVEN)
    np.testing.assert_allclose(found, log_softmax(EVEN + evidence, axis=1), atol=1e-13)


def test_a_constant_in_a_row_does_not_matter(seed):
    rng = np.random.default_rng([3, seed])
    evidence, y = evidence_of(rng, 40, times=3.0)
    moved = evidence + 100.0 * rng.normal(size=(40, 1))
    one, other = (learned(e, EVEN, y).log_proba(evidence, EVEN) for e in (evidence, moved))
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.slow
def test_true_evidence_loses_next_to_nothing(seed):
    """Issue: within 0.005 of no tempering when the model is true; the twin has no lumps."""
    rng = np.random.default_rng([4, seed])
    blunt = PowerPrior(full_power=0.0, no_outliers=0.0, outlier_rate=1)
    costs = []
    for _ in range(15):
        evidence, y = evidence_of(rng, 100)
        new, y_new = evidence_of(rng, 1000)
        plain = log_loss(log_softmax(EVEN + new, axis=1), y_new)
        fits = (learned(evidence, EVEN, y, prior=p) for p in (PowerPrior(), blunt))
        costs.append([log_loss(fit.log_proba(new, EVEN), y_new) - plain for fit in fits])
    default, twin = np.mean(costs, axis=0)
    assert default < 0.005
    assert twin > 0.005


@pytest.mark.parametrize("times", [2.0, 10.0, 100.0])
def test_evidence_counted_several_times_is_counted_once(times, seed):
    rng = np.random.default_rng([5, seed])
    evidence, y = evidence_of(rng, 400, times)
    new, y_new = evidence_of(rng, 4000, times)
    tempering = learned(evidence, EVEN, y)
    assert tempering.mean_power * times == pytest.approx(1.0, abs=0.5)
    assert tempering.full_power_probability < 0.05
    right = log_loss(log_softmax(EVEN + new / times, axis=1), y_new)
    assert log_loss(tempering.log_proba(new, EVEN), y_new) < right + 0.01
    assert log_loss(log_softmax(EVEN + new, axis=1), y_new) > right + 0.01


def test_a_few_wrong_labels_do_not_spoil_the_rest(seed):
    rng = np.random.default_rng([6, seed])
    evidence, y = evidence_of(rng, 200, spread=6.0)
    wrong = rng.random(200) < 0.1
    y = np.where(wrong, 1 - y, y)
    new, y_new = evidence_of(rng, 2000, spread=6.0)
    y_new = np.where(rng.random(2000) < 0.1, 1 - y_new, y_new)
    with_strays = learned(evidence, EVEN, y)
    without = learned(evidence, EVEN, y, prior=PowerPrior(no_outliers=1.0))
    # A stray is given either label: half of the strays show.
    assert with_strays.mean_outlier_fraction == pytest.approx(0.2, abs=0.11)
    assert without.mean_power < 0.3 < with_strays.mean_power
    losses = [log_loss(fit.log_proba(new, EVEN), y_new) for fit in (with_strays, without)]
    assert losses[0] < losses[1] - 0.005


def evidence_given(model, X, y):
    counts = np.bincount(y) + 1.0
    log_psi = np.log(counts / counts.sum())
    return model.predict_log_proba(X) - log_psi, np.tile(log_psi, (len(X), 1))


def left_out_evidence(model, X, y):
    parts = []
    for i in range(y.size):
        o = np.arange(y.size) != i
        parts.append(evidence_given(model.fit(X[o], y[o]), X[[i]], y[o]))
    return (np.concatenate(arrays) for arrays in zip(*parts, strict=True))


@pytest.mark.slow
def test_evidence_of_cases_left_out_is_needed(seed):
    """The twin learns the factor from the evidence of the training cases themselves.

    Nothing is related to the class: whoever expects less than half of errors is fooled.
    """
    rng = np.random.default_rng([8, seed])
    X, y = rng.normal(size=(60, 400)), np.arange(60) % 2
    model = SelectiveGaussianNB(k=20, correct_selection=False)
    evidence, log_psi = left_out_evidence(model, X, y)
    inside, log_psi_inside = evidence_given(model.fit(X, y), X, y)
    new, _ = evidence_given(model, rng.normal(size=(500, 400)), y)
    fits = (learned(evidence, log_psi, y), learned(inside, log_psi_inside, y))
    honest, twin = (1 - np.exp(fit.log_proba(new, EVEN)).max(axis=1).mean() for fit in fits)
    assert honest > 0.27
    assert twin < 0.27


def test_no_evidence_leaves_the_prior():
    tempering = learned(np.zeros((10, 2)), EVEN, np.arange(10) % 2)
    found = tempering.log_proba(np.array([[0.0, 3.0]]), EVEN)
    assert tempering.mean_power == pytest.approx(0.75)
    assert np.exp(found).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0.0, np.nan]], EVEN, [0]), r"log_evidence at \(0, 1\) is nan"),
        (([[0.0, 1.0]], [0.0, -np.inf], [0]), r"log_prior at \(1,\) is -inf"),
        (([[0.0, 1.0]], EVEN, [2]), "y has the class 2"),
        (([[0.0, 1.0]], EVEN, [0, 1]), r"y has the shape \(2,\)"),
    ],
)
def test_errors_name_what_is_wrong(arguments, words):
    with pytest.raises(ValueError, match=words):
        learned(*arguments)


@pytest.mark.parametrize(
    "wrong", [{"full_power": 1.5}, {"no_outliers": -0.1}, {"outlier_rate": 0.5}]
)
def test_priors_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PowerPrior(**wrong)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("eta", [(1.0,), (0.25, 1.0)])
def test_probabilities_too_small_for_doubles_have_logarithms(n_classes, eta, seed):
    """Some rows are averaged as probabilities, others as logarithms; each node alone is exact."""
    rng = np.random.default_rng(seed)
    log_psi = np.log(rng.dirichlet(np.ones(n_classes)))
    evidence = rng.normal(size=(12, n_classes)) * np.logspace(0, 5, 12)[:, np.newaxis]
    shares = np.log(rng.dirichlet(np.ones(len(eta))))
    nodes = np.array(eta), np.zeros(len(eta)), shares
    posterior = PowerPosterior(*nodes, HeldOut.none(n_classes), PowerPrior())
    each = [log_softmax(log_psi + one * evidence, axis=1) for one in eta]
    expected = np.logaddexp.reduce([log + share for log, share in zip(each, shares, strict=True)])
    found = posterior.log_proba(evidence, log_psi)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)
    assert found.min() < -800.0
    assert posterior.log_proba(evidence[:0], log_psi).shape == (0, n_classes)


@pytest.mark.parametrize("n", [1, 16, 37])  # products of sixteen factors, and what is left
def test_the_table_over_nodes_is_the_sum_over_cases(n, seed):
    rng = np.random.default_rng(seed)
    evidence, y = evidence_of(rng, n, times=30.0)
    prior = PowerPrior()
    coarse = PowerPosterior.learn_coarsely(HeldOut.of_classes(evidence, EVEN, y), prior=prior)
    epsilon, log_epsilon = prior.few_outlier_nodes()
    eta, log_eta = prior.few_power_nodes()
    total = -np.inf
    for one, log_one in zip(eta, log_eta, strict=True):
        proba = np.exp(log_softmax(EVEN + one * evidence, axis=1))[np.arange(n), y]
        for other, log_other in zip(epsilon, log_epsilon, strict=True):
            with np.errstate(divide="ignore"):
                terms = np.log((1.0 - other) * proba + other * np.exp(EVEN[y]))
            total = np.logaddexp(total, terms.sum() + log_one + log_other)
    assert coarse.log_marginal == pytest.approx(total, rel=1e-10)
