"""Missing weak columns: the evidence is an e-value, and nothing but a selection makes it large."""

import numpy as np
import pytest
from scipy.stats import ncx2

from unselected.audit import weak_columns
from unselected.audit.column_scores import NumericColumns, Response, column_scores
from unselected.audit.weak_columns import (
    find_weak_columns,
    log_e_value,
    log_likelihood_selected,
    log_likelihood_unselected,
)

RINGS = np.log(20)


def evidence(X, y, seed=0):
    rng = np.random.default_rng(seed)
    return find_weak_columns(NumericColumns.of(X), Response.classes(y), rng)


def strongest(X, y, k):
    scores = column_scores(NumericColumns.of(X), Response.classes(y))
    return X[:, np.argsort(-scores)[:k]]


@pytest.mark.parametrize("n_directions", [1, 3])
def test_what_a_selection_predicts_is_a_density(n_directions, monkeypatch):
    """Else the ratio would be no e-value; two populations of columns instead of all."""
    monkeypatch.setattr(weak_columns, "_FRACTIONS", (0.3,))
    monkeypatch.setattr(weak_columns, "_SPREADS", (4.0,))
    edges = np.concatenate([np.arange(0.0, 8.1, 0.05), np.arange(8.2, 30, 0.4), [40, 60, 80]])
    middles = 0.5 * (edges[1:] + edges[:-1])
    density = [np.exp(log_likelihood_selected(np.array([s]), n_directions)) for s in middles]
    assert np.sum(density * np.diff(edges)) == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize("n_directions", [1, 2, 5])
@pytest.mark.parametrize("own_noise", [0.5, 1.0])
def test_no_effects_explain_the_scores_better_than_the_bound(n_directions, own_noise, seed):
    """Against scipy's noncentral chi-squared, for random distributions of effects."""
    rng = np.random.default_rng(seed)
    scores = np.abs(rng.normal(2.0, 1.5, size=40)) + 0.01
    bound = log_likelihood_unselected(scores, n_directions, own_noise)
    x = scores[:, None] ** 2 / own_noise
    best = -np.inf
    for _ in range(30):
        effects, weights = rng.uniform(0, 5, size=6), rng.dirichlet(np.ones(6))
        density = ncx2.pdf(x, n_directions, effects**2 / own_noise) * 2 * scores[:, None]
        best = max(best, float(np.log(density / own_noise @ weights).sum()))
    assert best < bound + 0.01
    assert best > bound - 60.0


def test_the_evidence_of_one_score_is_against_the_best_effect():
    bound = log_likelihood_unselected(np.array([3.0]), 1, 1.0)
    assert bound == pytest.approx(-0.5 * np.log(2 * np.pi), abs=0.01)


@pytest.mark.slow
def test_the_mean_of_the_e_value_is_at_most_one(seed):
    """Of noise and of effects of any size; the twin has less noise than it should have."""
    rng = np.random.default_rng(seed)

    def mean(draw, own_noise=1.0):
        return np.mean([np.exp(log_e_value(np.abs(draw()), 1, own_noise)) for _ in range(25)])

    assert mean(lambda: rng.normal(size=4)) < 1.0
    assert mean(lambda: rng.normal(3.0, 1.0, size=4)) < 1.0
    assert mean(lambda: rng.normal(3.0, np.sqrt(0.5), size=12), own_noise=0.5) < 1.0
    assert mean(lambda: rng.normal(3.0, 0.1, size=12)) > 1.0


def test_a_selection_rings_and_what_it_was_made_from_does_not(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 600)), np.repeat([0, 1], 30)
    X[:, :10] += y[:, None]
    assert evidence(X, y).log_evidence < 0.0
    found = evidence(strongest(X, y, 40), y)
    assert found.log_evidence > RINGS
    assert found.p_value == pytest.approx(np.exp(-found.log_evidence))
    assert found.n_columns == 40
    assert sum(found.histogram) == 40
    assert found.histogram[int(found.weakest / 0.25)] > 0
    # Chosen by other cases, the same number of strong columns does not ring.
    other = rng.normal(size=(60, 600))
    other[:, :10] += y[:, None]
    scores = column_scores(NumericColumns.of(other), Response.classes(y))
    assert evidence(X[:, np.argsort(-scores)[:40]], y).log_evidence < RINGS


def test_columns_that_share_their_noise_do_not_ring(seed, monkeypatch):
    """40 near-copies of one strong column; the twin compares columns however close they are."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 30)
    one = rng.normal(size=(60, 1)) + 1.5 * y[:, None]
    X = one + 0.1 * rng.normal(size=(60, 40))
    found = evidence(X, y)
    assert found.log_evidence < 0.0
    assert found.n_compared < 5
    monkeypatch.setattr(
        weak_columns, "_nearly_independent", lambda residuals, _: np.arange(residuals.shape[1])
    )
    assert evidence(X, y).log_evidence > RINGS


def test_rare_bits_do_not_ring(seed, monkeypatch):
    """They have no weak scores; the twin does not spread them over the gaps."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 30)
    X = np.zeros((60, 150))
    for column in X.T:
        column[rng.permutation(60)[: rng.choice([1, 3])]] = 1.0
    assert evidence(X, y).log_evidence < 0.0
    monkeypatch.setattr(
        weak_columns, "column_scores", lambda table, response, *_: column_scores(table, response)
    )
    assert evidence(X, y).log_evidence > RINGS


def test_several_classes_and_numbers_ring_too(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 800)), np.repeat([0, 1, 2], 20)
    assert evidence(strongest(X, y, 60), y).log_evidence > RINGS
    z = rng.normal(size=60)
    table, response = NumericColumns.of(X), Response.numbers(z)
    kept = np.argsort(-column_scores(table, response))[:40]
    found = find_weak_columns(table.at(kept), response, rng)
    assert found.log_evidence > RINGS
    assert find_weak_columns(table, response, rng).log_evidence < 0.0


def test_the_order_of_rows_and_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 30)), np.repeat([0, 1], 20)
    rows, columns = rng.permutation(40), rng.permutation(30)
    expected = evidence(X, y).log_evidence
    assert evidence(X[rows][:, columns], y[rows]).log_evidence == pytest.approx(expected)


def test_a_table_without_varying_columns_says_nothing():
    assert evidence(np.ones((10, 3)), np.repeat([0, 1], 5)) is None
