"""Posteriors of many data sets on the coarse rules are those of each alone."""

from dataclasses import replace

import numpy as np
import pytest

from unselected.models import batch
from unselected.models.batch import TablesOfSizes
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.coarse_sets import CoarsePosterior
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import keep_above, keep_top
from unselected.statistics.counting import count_classes

NOTHING = np.array([], dtype=np.intp)
MODEL = BernoulliModel(coarse=True, least_fraction=1e-3, all_related=0.5, rates="given")
NAMES = ("log_alpha", "log_weights", "log_at_most", "log_values", "related", "mean_values")


def data_sets(seed, n_related, n_classes=2, of=(("top", 20), ("top", 5), ("above", 0.3))):
    """Return tables without some cases, selected by several rules."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % n_classes
    rates = np.full((n_classes, 400), 0.3)
    rates[1, :n_related] = 0.75
    X = (rng.random((60, 400)) < rates[y]).astype(np.uint8)
    sets = []
    for out in (NOTHING, np.arange(6), np.arange(6, 12), np.arange(0, 12, 2)):
        kept = np.delete(np.arange(60), out)
        scores = CountScores.of(
            count_classes(X[kept], y[kept], None, n_classes=n_classes)[0], by_total=True
        )
        for rule, number in of:
            if rule == "top":
                selection = keep_top(scores, number, "first", NOTHING, rng)
            else:
                selection = keep_above(scores, number if n_classes == 2 else 5.0, NOTHING)
            sets.append((scores.take(selection.indices).counts, selection.event))
    return sets


def check(model, sets, found, seed):
    rng = np.random.default_rng(seed)
    for (counts, event), ours in zip(sets, found, strict=True):
        alone, made = model.condition(counts, event), ours.made()
        for name in NAMES:
            pair = getattr(made, name), getattr(alone, name)
            np.testing.assert_allclose(*pair, rtol=1e-10, atol=1e-12)
        assert made.log_evidence == pytest.approx(alone.log_evidence, rel=1e-12)
        rows = (rng.random((4, counts.n_columns)) < 0.4).astype(np.float64)
        for some in (rows, rows[:0], np.where(rng.random(rows.shape) < 0.2, np.nan, rows)):
            pair = ours.log_joint(some), alone.log_joint(some)
            np.testing.assert_allclose(*pair, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ours.mean_values, alone.mean_values, rtol=1e-10)


@pytest.mark.parametrize("n_related", [0, 15, 300])  # with many, steps of alpha are divided
@pytest.mark.parametrize("all_related", [0.0, 0.5])
def test_together_is_as_alone(n_related, all_related, seed):
    model, sets = replace(MODEL, all_related=all_related), data_sets(seed, n_related)
    found = TablesOfSizes().condition_all([model] * len(sets), sets)
    assert all(isinstance(one, CoarsePosterior) for one in found)
    check(model, sets, found, seed)


def test_three_classes_together_are_as_alone(seed):
    sets = data_sets(seed, 15, n_classes=3)
    model = replace(MODEL, pseudocounts=(1.0, 1.0, 1.0))
    check(model, sets, TablesOfSizes().condition_all([model] * len(sets), sets), seed)


def test_parts_are_as_the_whole(monkeypatch, seed):
    sets = data_sets(seed, 15)
    monkeypatch.setattr(batch, "_MOST_FEATURES", 30)
    check(MODEL, sets, TablesOfSizes().condition_all([MODEL] * len(sets), sets), seed)


def test_more_cuts_than_are_remembered(monkeypatch, seed):
    sets = data_sets(seed, 15, of=(("top", 20), ("top", 11), ("top", 5)))
    monkeypatch.setattr("unselected.models.coarse_sets.MOST_CUTS", 2)
    check(MODEL, sets, TablesOfSizes().condition_all([MODEL] * len(sets), sets), seed)


def test_what_cannot_be_together_is_alone(seed):
    """Other models, and events that say nothing; each data set keeps its own model."""
    sets = data_sets(seed, 15)
    emptied = [(counts, event.emptied()) for counts, event in sets]
    common = replace(MODEL, least_fraction=None, all_related=0.0)
    other = replace(MODEL, least_fraction=0.1)
    models, sets = [(MODEL, common, other)[i % 3] for i in range(len(sets))], [*sets, *emptied[:1]]
    models.append(MODEL)
    found = TablesOfSizes().condition_all(models, sets)
    assert not isinstance(found[1], CoarsePosterior)
    assert not isinstance(found[-1], CoarsePosterior)
    for model, (counts, event), ours in zip(models, sets, found, strict=True):
        alone = model.condition(counts, event)
        assert isinstance(ours.made(), BernoulliPosterior)
        assert ours.made().log_evidence == pytest.approx(alone.log_evidence, rel=1e-11)
        rows = np.ones((1, counts.n_columns))
        np.testing.assert_allclose(ours.log_joint(rows), alone.log_joint(rows), rtol=1e-10)
        np.testing.assert_allclose(ours.mean_values, alone.mean_values, rtol=1e-10)


def test_no_posterior_depends_on_the_others(seed):
    """A wrong twin: the events of two data sets are swapped."""
    sets = data_sets(seed, 15)[::3]
    found = TablesOfSizes().condition_all([MODEL] * len(sets), sets)
    fewer = TablesOfSizes().condition_all([MODEL] * 2, sets[:2])
    swapped = [(sets[2][0], sets[1][1]), (sets[1][0], sets[2][1])]
    wrong = TablesOfSizes().condition_all([MODEL] * 2, swapped)
    of = [[one.made().log_evidence for one in each] for each in (found, fewer, wrong)]
    np.testing.assert_allclose(of[0][:2], of[1], rtol=1e-12)
    assert abs(of[2][1] - of[0][1]) > 1e-6
