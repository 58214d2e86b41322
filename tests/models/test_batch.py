"""Posteriors of batch data sets together are those of each alone."""

import numpy as np
import pytest

from unselected.models import batch
from unselected.models.batch import condition_all
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import keep_above, keep_all, keep_top
from unselected.statistics.counting import count_classes

NONE = np.array([], dtype=int)

RULES = {
    "top k": lambda s: keep_top(s, 8, "first", NONE, np.random.default_rng(0)),
    "ties at random": lambda s: keep_top(s, 8, "random", NONE, np.random.default_rng(0)),
    "threshold": lambda s: keep_above(s, 0.35, NONE),
    "threshold that keeps nothing": lambda s: keep_above(s, 0.95, NONE),
    "all": keep_all,
}


def data_sets(seed, select, alpha):
    rng = np.random.default_rng(seed)
    X, y, _ = BernoulliModel().simulate(30, 150, rng, alpha=alpha, y=np.arange(30) % 2)
    for i in range(10):
        kept = np.arange(30) != i
        counts = count_classes(X[kept], y[kept], None)[0]
        selection = select(CountScores.of(counts))
        yield (counts.take(selection.indices), selection.event), X[i, selection.indices] > 0


COMMON, NARROW, SPARSE = (
    BernoulliModel(),
    BernoulliModel(a=2.0, b=0.5),
    BernoulliModel(least_fraction=0.01),
)


@pytest.mark.parametrize(
    ("model", "rule", "alpha"),
    [
        *((COMMON, rule, 3.0) for rule in RULES),
        (COMMON, "top k", 300.0),
        (COMMON, "threshold that keeps nothing", 300.0),
        (NARROW, "ties at random", 300.0),
        (NARROW, "all", 300.0),
        (SPARSE, "top k", 3.0),
        (SPARSE, "threshold", 3.0),
    ],
)
def test_together_is_as_alone(model, rule, alpha, seed):
    sets, rows = zip(*data_sets(seed, RULES[rule], alpha), strict=True)
    together = condition_all(model, list(sets))
    for posterior, data, row in list(zip(together, sets, rows, strict=True))[::5]:
        alone = model.condition(*data)
        ours, theirs = (p.log_joint(row[np.newaxis])[0] for p in (posterior, alone))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
        assert posterior.log_evidence == pytest.approx(alone.log_evidence, abs=1e-9)


@pytest.mark.parametrize(
    ("n_classes", "rule", "rates"),
    [(2, "top k", "uniform"), (2, "threshold", "given"), (3, "top k", "given")],
)
def test_together_is_as_alone_with_missing_values(n_classes, rule, rates, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    model, y = BernoulliModel((1.0,) * n_classes, rates=rates), np.arange(24) % n_classes
    X, _, _ = model.simulate(24, 60, rng, alpha=5.0, y=y)
    X = np.where(rng.random(X.shape) < 0.02, np.nan, X)
    sets = []
    for i in np.flatnonzero(y == 0)[:6]:
        kept = np.arange(24) != i
        counts, _ = count_classes(X[kept], y[kept], None, n_classes=n_classes, missing_allowed=True)
        scores = CountScores.of(counts, by_total=rates == "given")
        selection = RULES[rule](scores)
        sets.append((scores.counts.take(selection.indices), selection.event))
    alone = [model.condition(*data) for data in sets]
    resolved, condition_alike = {}, batch._condition_alike

    def remember(*arguments):
        resolved.update(condition_alike(*arguments))
        return resolved

    monkeypatch.setattr(batch, "_condition_alike", remember)
    together = condition_all(model, sets)
    assert resolved  # not all of them got a rule of their own
    for ours, theirs in zip(together, alone, strict=True):
        rows = rng.integers(0, 2, size=(3, ours.vector_of.size))
        np.testing.assert_allclose(ours.log_joint(rows), theirs.log_joint(rows), atol=1e-9)
        assert ours.log_evidence == pytest.approx(theirs.log_evidence, abs=1e-8)


def test_a_rule_that_does_not_resolve_a_posterior_is_not_used(monkeypatch, seed):
    """Wrong twin: nodes of the others alone, one data set being another."""
    sets = [data for data, _ in data_sets(seed, RULES["top k"], 300.0)]
    strong = [data for data, _ in data_sets(seed, RULES["top k"], 0.3)]
    mixed = [*sets[:11], strong[0]]
    model = BernoulliModel()
    expected = model.condition(*strong[0]).log_evidence
    assert condition_all(model, mixed)[-1].log_evidence == pytest.approx(expected, abs=1e-9)
    monkeypatch.setattr(batch, "_is_resolved", lambda _: True)
    monkeypatch.setattr(
        batch._Together, "log_totals", _without_the_last(batch._Together.log_totals)
    )
    assert condition_all(model, mixed)[-1].log_evidence != pytest.approx(expected, abs=1e-9)


def _without_the_last(log_totals):
    """Let the last data set weigh nothing when the rule is laid."""

    def wrong(self, log_u):
        totals = log_totals(self, log_u)
        return totals if log_u.size == 9 else np.vstack([totals[:-1], totals[-1:] - 1e3])

    return wrong
