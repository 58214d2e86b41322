"""The mixture model against brute force, against naive Bayes, and against itself forwards."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_oracle import LOG_ALPHA, Enumerated, log_omission
from scipy import stats

from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.mixture import MixtureModel, MixtureSampler
from unselected.models.mixture_moves import Labelled
from unselected.models.mixture_tables import BLOCK, ResponseTables
from unselected.numerics.chains import ChainSettings, _diagnosed
from unselected.numerics.quadrature import log_sum
from unselected.selection.correlation import exact_cor_squared, threshold_cut
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.counts import ClassCounts
from unselected.statistics.rows import KeptRows

NONE = np.array([], dtype=int)


def selected(model, n, p, k, rng, *, ties="first", **given):
    """Data from the model with two or more cases of each class, and what is kept of them."""
    while True:
        X, y, truth = model.simulate(n, p, rng, **given)
        if 2 <= y.sum() <= n - 2:
            break
    counts, _ = count_classes(X, y, None)
    selection = keep_top(CountScores.of(counts), k, ties, NONE, rng)
    return X, y, truth, selection


def tiny(seed, ties="first"):
    rng = np.random.default_rng(seed)
    X, y, _, selection = selected(MixtureModel(), 7, 300, 2, rng, ties=ties, alpha=2.0, alpha0=2.0)
    return X[:, selection.indices], y, selection.event


def log_by_labels(sampler, enumerated):
    """log P(labels, data, event) by the sampler's own nodes."""
    logs = []
    for z in enumerated.labels:
        labels = Labelled.of(np.array(z), sampler.bits, sampler.y)
        a, b = labels.place
        log_rest = sampler.responses.log_labels[a, b]
        logs.append(log_sum(sampler.log_alpha(labels)) + log_rest)
    return np.array(logs)


@pytest.mark.parametrize("ties", ["first", "random"])
def test_the_target_is_the_posterior(seed, ties):
    bits, y, event = tiny(seed, ties)
    exact = Enumerated(bits, y, event)
    sampler = MixtureSampler(MixtureModel(), bits, y, event)
    ours = log_by_labels(sampler, exact)
    # The oracle's last node stands for all larger alpha, to 1e-6 or so.
    assert ours == pytest.approx(exact.by_labels, abs=1e-5)
    without = Enumerated(bits, y, Event())
    assert np.max(np.abs(ours - without.by_labels)) > 0.1


def test_closer_nodes_change_nothing(seed):
    bits, y, event = tiny(seed)
    exact = Enumerated(bits, y, Event())
    logs = [
        log_by_labels(MixtureSampler(MixtureModel(refinement=r), bits, y, event), exact)
        for r in (1, 2)
    ]
    assert logs[0] == pytest.approx(logs[1], abs=1e-9)


@pytest.mark.parametrize(("k", "p"), [(1000, 3000), (20, 10**6)])
def test_closer_nodes_change_nothing_where_the_posterior_is_narrow(seed, k, p):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    rates = rng.beta(2.0, 2.0, size=(2, k))
    bits = (rng.random((40, k)) < rates[y]).astype(int)
    event = Event(threshold_cut(0.6), n_at_most=p - k)
    samplers = [MixtureSampler(MixtureModel(refinement=r), bits, y, event) for r in (1, 2)]
    for z in (y, rng.permutation(y), rng.integers(0, 2, 40), (bits[:, 0] + y) % 2):
        means, totals = [], []
        for sampler in samplers:
            labels = Labelled.of(z, sampler.bits, sampler.y)
            logs = sampler.log_alpha(labels)
            totals.append(log_sum(logs))
            means.append(np.exp(logs - totals[-1]) @ sampler.grid.log_u)
        assert totals[0] == pytest.approx(totals[1], abs=1e-8)
        assert means[0] == pytest.approx(means[1], abs=1e-8)


def scored(draws, exact):
    """The largest z-score of what the chains estimate: labels, whether pairs agree, log alpha."""
    labels = draws["labels"]
    log_alpha = np.log(draws["alpha"])
    weights, all_labels = exact.weights, np.array(exact.labels)
    quantities = [(log_alpha, weights.sum(axis=0) @ LOG_ALPHA)]
    quantities.append((np.minimum(log_alpha, 3.0), weights.sum(axis=0) @ np.minimum(LOG_ALPHA, 3)))
    of_labels = weights.sum(axis=1)
    n = labels.shape[2]
    for i in range(n):
        for j in range(i):
            together = (all_labels[:, i] == all_labels[:, j]) @ of_labels
            quantities.append(((labels[..., i] == labels[..., j]) * 1.0, together))
    scores = []
    for values, truth in quantities:
        _, ess, _ = _diagnosed(values)
        scores.append((values.mean() - truth) / (values.std() / np.sqrt(ess)))
    return np.max(np.abs(scores))


def chains(model, bits, y, event, seed, n_draws=400):
    settings = ChainSettings(n_chains=4, n_draws=n_draws, n_warmup=100, seed=seed)
    return replace(model, chains=settings).condition(KeptRows(bits, y), event)


@pytest.mark.slow
@pytest.mark.evidence
def test_draws_are_from_the_posterior_and_those_of_wrong_twins_are_not(seed):
    y = np.array([0, 0, 0, 1, 1, 1, 1])
    bits = np.array([[0, 0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 1, 1, 1]]).T
    event = Event(threshold_cut(0.7), n_at_most=300)
    responses = {"a0": 2.0, "b0": 0.2}  # labels tell much of the response
    exact = Enumerated(bits, y, event, priors=((0.5, 5.0), (2.0, 0.2)))
    posterior = chains(MixtureModel(**responses), bits, y, event, seed)
    assert scored(posterior.draws, exact) < 4.5
    ignoring = chains(MixtureModel(adjust_labels="ignore", **responses), bits, y, event, seed, 250)
    assert scored(ignoring.draws, exact) > 4.5
    forgetting = chains(MixtureModel(**responses), bits, y, event.emptied(), seed, 250)
    assert scored(forgetting.draws, exact) > 4.5
    rows = np.array([[0, 0], [1, 0], [1, 1]], dtype=bool)
    theirs = np.array([exact.predicted(row.astype(int)) for row in rows])
    ours = np.exp(posterior.log_joint(rows))
    assert ours == pytest.approx(theirs, abs=0.03)
    proba, exact_proba = (joint[:, 1] / joint.sum(axis=1) for joint in (ours, theirs))
    assert proba == pytest.approx(exact_proba, abs=0.03)
    twin = np.exp(forgetting.log_joint(rows))
    assert np.max(np.abs(twin[:, 1] / twin.sum(axis=1) - exact_proba)) > 0.03


def test_labels_that_are_the_classes_make_naive_bayes(seed):
    rng = np.random.default_rng(seed)
    X, y, _, selection = selected(MixtureModel(), 24, 150, 5, rng, alpha=10.0, alpha0=0.5)
    bits, event = X[:, selection.indices], selection.event
    sampler = MixtureSampler(MixtureModel(), bits, y, event)
    labels = Labelled.of(y, sampler.bits, sampler.y)
    logs = sampler.log_alpha(labels)
    weights = np.exp(logs - log_sum(logs))
    counts, _ = count_classes(bits, y, None)
    naive = BernoulliModel().condition(counts, event)
    log_evidence_of_classes = stats.betabinom.logpmf(y.sum(), y.size, 1, 1)
    log_evidence_of_classes -= np.log(
        float(stats.binom.pmf(y.sum(), y.size, 0.5))
    ) + y.size * np.log(2)
    assert log_sum(logs) == pytest.approx(naive.log_evidence - log_evidence_of_classes, abs=1e-8)
    naive_weights = np.exp(naive.log_weights)
    for power in (1, 2):
        assert weights @ np.tanh(sampler.grid.log_u / 9) ** power == pytest.approx(
            naive_weights @ np.tanh(-naive.log_alpha / 9) ** power, abs=1e-8
        )
    rows = rng.random((20, 5)) < 0.5
    ours = np.zeros((20, 2))
    n1 = int(y.sum())
    for node in np.flatnonzero(weights > 1e-16):
        ones = np.stack([sampler.total - labels.ones, labels.ones])
        log_one, log_zero = sampler.features.log_rates(int(node), ones, np.array([y.size - n1, n1]))
        ours += weights[node] * np.exp(rows @ log_one.T + ~rows @ log_zero.T)
    theirs = np.exp(naive.log_joint(rows) - naive.log_psi)
    assert ours == pytest.approx(theirs, rel=1e-8)


def test_the_omission_probability_is_that_of_all_columns(seed):
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, 1, 0, 1, 0, 1, 1])
    cut = exact_cor_squared(1, 4, 3, 5)
    event = Event(cut, n_below=3, n_at_most=4)
    sampler = MixtureSampler(MixtureModel(), np.zeros((8, 1), int), y, event)
    for z in rng.integers(0, 2, size=(6, 8)):
        a, b = Labelled.of(z, sampler.bits, sampler.y).place
        for block in range(sampler.grid.size // BLOCK):
            sampler.events.need(block, a, b)
            nodes = block * BLOCK + np.arange(BLOCK)
            log_alpha = -sampler.grid.log_u[nodes]
            few = log_alpha < 20.0
            exact = [log_omission(z, y, cut, s, log_alpha[few]) for s in (True, False)]
            ours = [sampler.events.log_at_most(int(node), a, b) for node in nodes[few]]
            assert ours == pytest.approx(exact[1], abs=1e-10)
            log_event = sampler.events.of_block(block)[few, a, b]
            assert log_event == pytest.approx(3 * exact[0] + 4 * exact[1], abs=1e-9)


@pytest.mark.slow
def test_the_omission_probability_is_that_of_a_simulation(seed):
    rng = np.random.default_rng(seed)
    y, alpha, gamma, n_columns = np.arange(62) % 2, 15.0, 0.3, 10**6
    z = (rng.random(62) < np.where(y == 1, 0.8, 0.3)).astype(int)
    event = Event(threshold_cut(gamma), n_at_most=1)
    sampler = MixtureSampler(MixtureModel(), np.zeros((62, 1), int), y, event)
    node = int(np.argmin(np.abs(-sampler.grid.log_u - np.log(alpha))))
    alpha = float(sampler.grid.alpha(node))
    theta = rng.random(n_columns)
    phi = rng.beta(alpha * theta, alpha * (1 - theta), size=(2, n_columns))
    sizes = np.array([[np.sum((z == label) & (y == g)) for g in (0, 1)] for label in (0, 1)])
    I0, I1 = (rng.binomial(sizes[0, g], phi[0]) + rng.binomial(sizes[1, g], phi[1]) for g in (0, 1))
    m = I0 + I1
    with np.errstate(invalid="ignore"):
        cor = np.abs(31 * I1 - 31 * I0) / np.sqrt(31.0 * 31.0 * m * (62 - m))
    simulated = np.mean(~(cor > gamma))
    a, b = Labelled.of(z, sampler.bits, sampler.y).place
    ours = np.exp(sampler.events.log_at_most(node, int(a), int(b)))
    error = np.sqrt(ours * (1 - ours) / n_columns)
    assert abs(ours - simulated) < 4.5 * error
    # Twin: as if the labels were the classes.
    assert abs(np.exp(sampler.events.log_at_most(node, 0, 31)) - simulated) > 4.5 * error


def test_a_rare_selection_keeps_its_digits():
    """Where 1 - P is tiny, it is P(selected) that counts: as naive Bayes has it."""
    y = np.arange(40) % 2
    event = Event(threshold_cut(0.95), n_at_most=10**6)
    sampler = MixtureSampler(MixtureModel(), np.zeros((40, 1), int), y, event)
    likelihood = Likelihood(
        BernoulliModel().theta_rule, ClassCounts.of_two(NONE, NONE, 20, 20), event
    )
    for node in range(0, sampler.grid.size, 7):
        record = likelihood.at(float(sampler.grid.log_u[node]))
        ours = sampler.events.log_at_most(node, 0, 20)
        assert ours == pytest.approx(record.log_at_most, rel=1e-9, abs=1e-300)
        block, at = divmod(node, BLOCK)
        sampler.events.need(block, 0, 20)
        log_event = sampler.events.of_block(block)[at, 0, 20]
        assert log_event == pytest.approx(10**6 * record.log_at_most, rel=1e-9, abs=1e-300)


def test_responses_are_one_more_feature():
    tables = [ResponseTables(5, 6, MixtureModel().alpha_prior, r) for r in (1, 3)]
    assert tables[0].log_labels == pytest.approx(tables[1].log_labels, abs=1e-10)
    assert tables[0].rate == pytest.approx(tables[1].rate, abs=1e-10)
    assert np.exp(tables[0].log_terms).sum(axis=0) == pytest.approx(1.0)
    # One case of each class, labels equal or not: the rates of one label are alike.
    assert tables[0].rate[0] == pytest.approx(tables[0].rate[1][::-1, ::-1])


def test_kept_all_there_is_nothing_to_correct(seed):
    rng = np.random.default_rng(seed)
    X, y, _, selection = selected(MixtureModel(), 12, 6, 6, rng)
    assert selection.event.n_omitted == 0
    both = [
        chains(MixtureModel(), X, y, event, 3, n_draws=50).draws
        for event in (selection.event, Event())
    ]
    for name in ("alpha", "alpha0", "labels", "rates"):
        assert np.array_equal(both[0][name], both[1][name])


def test_the_same_seed_gives_the_same_draws(seed):
    bits, y, event = tiny(seed)
    first, again, other = (
        chains(MixtureModel(), bits, y, event, s, n_draws=50).draws for s in (seed, seed, seed + 1)
    )
    assert np.array_equal(first["labels"], again["labels"])
    assert np.array_equal(first["alpha"], again["alpha"])
    assert not np.array_equal(first["alpha"], other["alpha"])


def test_compiled_moves_are_the_same(seed):
    compiled = pytest.importorskip("unselected.numerics.compiled", reason="needs numba")
    rng = np.random.default_rng(seed)
    X, y, _, selection = selected(MixtureModel(), 30, 200, 8, rng, alpha=20.0, alpha0=1.0)
    states = []
    for kernels in (None, compiled):
        sampler = MixtureSampler(
            MixtureModel(), X[:, selection.indices], y, selection.event, kernels=kernels
        )
        chain_rng = np.random.default_rng(seed)
        state = sampler.start(0, chain_rng)
        path = []
        for _ in range(25):
            state = sampler.step(state, chain_rng)
            path.append([state.node, state.node0, *state.labels.z, *state.labels.place])
        states.append(path)
    assert states[0] == states[1]


def test_counts_stay_those_of_the_labels(seed):
    rng = np.random.default_rng(seed)
    X, y, _, selection = selected(MixtureModel(), 30, 200, 8, rng)
    sampler = MixtureSampler(MixtureModel(), X[:, selection.indices], y, selection.event)
    for chain in range(4):
        state = sampler.start(chain, rng)
        for _ in range(5):
            sampler.step(state, rng)
        again = Labelled.of(state.labels.z, sampler.bits, sampler.y)
        assert all(np.array_equal(*both) for both in zip(again, state.labels, strict=True))


def test_label_one_is_the_one_with_more_ones_in_the_response(seed):
    bits, y, event = tiny(seed)
    draws = chains(MixtureModel(), bits, y, event, seed, n_draws=200).draws
    rates = draws.stacked("rates")
    assert np.all(rates[:, 0] <= rates[:, 1])
    assert np.any(draws["labels"] == 1)
