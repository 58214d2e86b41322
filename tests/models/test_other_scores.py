"""The model given a selection by any score of the counts, against brute force.

Two and three classes, totals given or not, missing values, both rules, ties, two groups of
features, and tables that data sets share.
"""

from functools import partial
from itertools import product
from math import comb, prod

import count_oracle
import numpy as np
import pytest
from scipy.special import gammaln
from score_oracle import FOR_SEVERAL, ORACLES, name_of, risen_by_arrays

from unselected.models import bernoulli_likelihood, count_omission
from unselected.models.batch import condition_all
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.count_score_kinds import SCORES, CustomScore
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import keep_above, keep_preselected, keep_top
from unselected.statistics.counts import ClassCounts

pytestmark = pytest.mark.slow  # many fits

NONE = np.array([], dtype=int)
PRIOR = (1.5, 3.0)
TWO, THREE = (4, 3), (2, 3, 2)
OF_TWO = [(0, 3), (3, 1), (1, 0), (0, 1), (0, 0), (2, 2), (0, 2), (4, 0), (3, 0)]
OF_THREE = [(2, 0, 0), (0, 1, 2), (1, 0, 0), (1, 2, 1), (0, 3, 0), (0, 0, 0), (2, 2, 1), (0, 0, 2)]
HOLES_OF_TWO = [((2, 0), (2, 3)), ((1, 2), (3, 3)), ((1, 1), (3, 3)), ((0, 2), (3, 2))]
HOLES_OF_THREE = [((1, 0, 1), (2, 2, 2)), ((0, 2, 0), (2, 2, 1)), ((1, 0, 0), (1, 3, 2))]
TABLES = {
    "two": (TWO, [(ones, TWO) for ones in OF_TWO]),
    "two, missing": (TWO, [*((ones, TWO) for ones in OF_TWO), *HOLES_OF_TWO]),
    "three": (THREE, [(ones, THREE) for ones in OF_THREE]),
    "three, missing": (THREE, [*((ones, THREE) for ones in OF_THREE), *HOLES_OF_THREE]),
}
both_rates = pytest.mark.parametrize("rates", ["uniform", "given"])
# Each pair of a score, a table, and rates; all of scores with few tables.
EACH = [
    pytest.param(score, *table, rates, id=f"{name_of(score)}, {name}, {rates}")
    for row, score in enumerate(ORACLES)
    for column, (name, table) in enumerate(TABLES.items())
    if "two" in name or score in FOR_SEVERAL
    for number, rates in enumerate(("uniform", "given"))
    if score not in FOR_SEVERAL or (row + column // 2 + column + number) % 2 == 0
]
each = pytest.mark.parametrize(("score", "sizes", "columns", "rates"), EACH)
with_missing = [param for param in EACH if "missing" in param.id]
each_with_missing = pytest.mark.parametrize(("score", "sizes", "columns", "rates"), with_missing)


def score_of(name):
    return CustomScore(name) if callable(name) else SCORES[name]


def is_below(value, cut):
    return value < cut


def is_at(value, cut):
    return value == cut


def is_at_most(value, cut):
    return value <= cut


def counts_of(sizes, columns):
    ones, known = (np.transpose([column[part] for column in columns]) for part in (0, 1))
    complete = np.all(known == np.array(sizes)[:, np.newaxis])
    return ClassCounts(ones, np.array(sizes), None if complete else known)


def scores_of(sizes, columns, score, rates):
    counts = counts_of(sizes, columns)
    return CountScores.of(counts, by_total=rates == "given", score=score_of(score))


def top(scores, k, ties="first"):
    return keep_top(scores, k, ties, NONE, np.random.default_rng(0))


def model_of(sizes, rates, least_fraction=None):
    return BernoulliModel((1.0,) * len(sizes), *PRIOR, rates=rates, least_fraction=least_fraction)


def posterior_of(scores, selection, model):
    return model.condition(scores.counts.take(selection.indices), selection.event)


def rows_for(k, seed=0):
    rows = np.random.default_rng(seed).integers(0, 2, size=(5, k)).astype(float)
    rows[3, 0], rows[4] = np.nan, np.nan
    return rows


def brute(score, sizes, columns, selection, rates, fates, least_fraction=None):
    """``fates`` says of each omitted column, in order, what is known of its score."""
    kept = [columns[j] for j in selection.indices]
    omitted = [j for j in range(len(columns)) if j not in set(selection.indices.tolist())]
    known = {}
    event = [
        (columns[j][1], sum(columns[j][0]), known.setdefault((f.func, f.keywords["cut"]), f))
        for j, f in zip(omitted, fates(omitted), strict=True)
    ]
    return count_oracle.condition(
        kept, event, rows_for(len(kept)), sizes, rates, PRIOR, least_fraction, ORACLES[score]
    )


def assert_is(posterior, expected, k):
    evidence, joint = expected
    assert posterior.log_evidence == pytest.approx(np.log(evidence), abs=1e-8)
    np.testing.assert_allclose(np.exp(posterior.log_joint(rows_for(k))), joint, rtol=1e-8)


@each
def test_top_k_with_ties_to_the_first(score, sizes, columns, rates):
    scores = scores_of(sizes, columns, score, rates)
    selection = top(scores, 3)
    values = [ORACLES[score](*column) for column in columns]
    cut = min(values[j] for j in selection.indices)
    last = max(j for j in selection.indices if values[j] == cut)

    def fates(omitted):
        for j in omitted:
            if selection.event.kinds is not None:
                yield partial(is_at if values[j] == cut else is_below, cut=cut)
            else:
                yield partial(is_below if j < last else is_at_most, cut=cut)

    expected = brute(score, sizes, columns, selection, rates, fates)
    posterior = posterior_of(scores, selection, model_of(sizes, rates))
    assert_is(posterior, expected, 3)
    # A twin that ignores the event is caught by the same bound.
    uncorrected = model_of(sizes, rates).condition(
        scores.counts.take(selection.indices), selection.event.emptied()
    )
    assert abs(uncorrected.log_evidence - np.log(expected[0])) > 1e-3


@each_with_missing
def test_a_threshold(score, sizes, columns, rates):
    scores = scores_of(sizes, columns, score, rates)
    gamma = float(np.unique(scores.values(np.arange(len(columns))))[-2])
    selection = keep_above(scores, gamma, NONE)
    values = [ORACLES[score](*column) for column in columns]
    kept = set(selection.indices.tolist())
    # Any number between those kept and the others is a cut by definition.
    cut = max(values[j] for j in range(len(columns)) if j not in kept)
    expected = brute(
        score, sizes, columns, selection, rates, lambda o: (partial(is_at_most, cut=cut) for _ in o)
    )
    posterior = posterior_of(scores, selection, model_of(sizes, rates))
    assert_is(posterior, expected, len(kept))


@pytest.mark.parametrize("score", ["rate_difference", "mutual_info"])
@both_rates
def test_two_groups_of_features(score, rates):
    sizes, columns = TABLES["three, missing"]
    scores = scores_of(sizes, columns, score, rates)
    selection = top(scores, 3)
    values = [ORACLES[score](*column) for column in columns]
    cut = min(values[j] for j in selection.indices)

    def fates(omitted):
        return (partial(is_at if values[j] == cut else is_below, cut=cut) for j in omitted)

    expected = brute(score, sizes, columns, selection, rates, fates, 0.1)
    assert_is(posterior_of(scores, selection, model_of(sizes, rates, 0.1)), expected, 3)


# Every data set that there is


def orders_of(sizes):
    """How many columns there are for each vector of counts."""
    every = product(*(range(n + 1) for n in sizes))
    return {ones: prod(map(comb, sizes, ones)) for ones in every}


def log_probability_of(sizes):
    """log P(y) of cases in order, with pseudocounts of 1."""
    G, n = len(sizes), sum(sizes)
    return gammaln(np.array(sizes) + 1.0).sum() + gammaln(G) - gammaln(n + G)


# Each score with each rule, and each of its sizes with one rule at least.
SIZES_OF_SCORE = [
    (score, sizes)
    for score in ORACLES
    for sizes in ((2, 1), (2, 3), (1, 1, 2))
    if len(sizes) == 2 or score in FOR_SEVERAL
]
RULES_AND_OUTCOMES = [
    pytest.param(rule, outcome, id=f"{rule}, {name_of(outcome[0])}, {outcome[1]}")
    for place, outcome in enumerate(SIZES_OF_SCORE)
    for number, rule in enumerate(("first", "random", "threshold"))
    if (place + number) % 3 == 0 or (outcome[0] not in FOR_SEVERAL and outcome[1] == (2, 1))
]
THRESHOLDS = {
    "chi2": 1.0,
    "mutual_info": 0.1,
    "fisher": 0.3,
    "odds_ratio": 1.5,
    "rate_difference": 0.4,
    risen_by_arrays: -0.1,
}


def selections(scores, score, rule, table):
    """Every selection that the rule can make; with ties, by as many seeds as find them all."""
    if rule == "threshold":
        return [keep_above(scores, THRESHOLDS[score], NONE)]
    values = [ORACLES[score](*column) for column in table]
    tied = values.count(max(values)) > 1
    seeds = range((12 if tied else 2) if rule == "random" else 1)
    return [keep_top(scores, 1, rule, NONE, np.random.default_rng(seed)) for seed in seeds]


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "outcome"), RULES_AND_OUTCOMES)
def test_probabilities_of_all_outcomes_sum_to_one(rule, outcome):
    """The real selection of every data set: over all outcomes, nothing is lost or counted twice."""
    score, sizes = outcome
    orders, model = orders_of(sizes), model_of(sizes, "uniform")
    total, known, seen = 0.0, {}, set()
    for table in product(orders, repeat=3 if sum(sizes) == 3 else 2):
        columns = [(ones, sizes) for ones in table]
        scores = scores_of(sizes, columns, score, "uniform")
        for selection in selections(scores, score, rule, columns):
            kept = tuple(table[j] for j in selection.indices)
            outcome = tuple(selection.indices.tolist()), kept
            if outcome in seen:
                continue
            seen.add(outcome)
            key = tuple(sorted(kept)), selection.event
            if key not in known:
                known[key] = np.exp(posterior_of(scores, selection, model).log_evidence)
            total += prod(orders[ones] for ones in kept) * known[key]
    assert total == pytest.approx(np.exp(log_probability_of(sizes)), rel=1e-8)


# One score by several ways


@each_with_missing
def test_data_sets_together_are_as_alone(score, sizes, columns, rates):
    """The table that data sets share: each leaves out one of the columns."""
    sets = []
    for j in range(4):
        scores = scores_of(sizes, columns[:j] + columns[j + 1 :], score, rates)
        selection = top(scores, 3, ("first", "random")[j % 2])
        sets.append((scores.counts.take(selection.indices), selection.event))
    model = model_of(sizes, rates)
    for (counts, event), together in zip(sets, condition_all(model, sets), strict=True):
        alone = model.condition(counts, event)
        assert together.log_evidence == pytest.approx(alone.log_evidence, abs=1e-8)
        rows = rows_for(3)
        np.testing.assert_allclose(together.log_joint(rows), alone.log_joint(rows), atol=1e-8)


@pytest.mark.parametrize("sizes", [(12, 15), (8, 7, 9)], ids=str)
@both_rates
def test_chi_squared_of_complete_features_is_correlation_bit_for_bit(sizes, rates, seed):
    rng = np.random.default_rng(seed)
    ones = rng.binomial(np.array(sizes)[:, np.newaxis], rng.random(200))
    columns = [(tuple(each), sizes) for each in ones.T.tolist()]
    for ties in ("first", "random"):
        both = [scores_of(sizes, columns, name, rates) for name in ("chi2", "correlation")]
        ours, theirs = (top(scores, 9, ties) for scores in both)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        model = model_of(sizes, rates)
        a, b = (posterior_of(*each, model) for each in zip(both, (ours, theirs), strict=True))
        assert a.log_evidence == b.log_evidence
        np.testing.assert_array_equal(a.log_weights, b.log_weights)
        np.testing.assert_array_equal(a.log_one, b.log_one)


@pytest.mark.parametrize(
    ("sizes", "n_more"), [((300, 260), 2000), ((9, 600), 300), ((90, 8, 60), 500)], ids=str
)
@both_rates
def test_correlation_as_a_function_is_correlation(sizes, n_more, rates, seed):
    """The table of all counts against the sums that correlation and F have, also of many cases."""

    def explained(ones, known):
        n, m = known.sum(axis=0), ones.sum(axis=0)
        between = ((n * ones - known * m) ** 2 / known).sum(axis=0)
        return between / np.maximum(n * m * (n - m), 1)

    rng = np.random.default_rng(seed)
    p = np.clip(rng.random(n_more) + 0.1 * rng.normal(size=(len(sizes), n_more)), 0.0, 1.0)
    ones = rng.binomial(np.array(sizes)[:, np.newaxis], p)
    columns = [(tuple(each), sizes) for each in ones.T.tolist()]
    found = []
    for score in (explained, "correlation"):
        scores = scores_of(sizes, columns, score, rates)
        selection = top(scores, 5)
        found.append(posterior_of(scores, selection, model_of(sizes, rates)))
    assert found[0].log_evidence == pytest.approx(found[1].log_evidence, rel=1e-9)
    np.testing.assert_allclose(
        found[0].log_joint(rows_for(5)), found[1].log_joint(rows_for(5)), atol=1e-7
    )


def test_columns_never_seen_are_complete_and_may_have_any_total():
    sizes, columns = TABLES["two"]
    strong = [column for column in columns if ORACLES["fisher"](*column) > 2]
    for rates in ("uniform", "given"):
        scores = scores_of(sizes, strong, "fisher", rates)
        selection = keep_preselected(scores, 30, float(np.log10(2.0)), NONE)
        assert selection.indices.size == len(strong) > 1
        model = model_of(sizes, rates)
        kept = scores.counts.take(selection.indices)
        with_event, without = (
            bernoulli_likelihood.Likelihood(model.theta_rule, kept, event, rates)
            for event in (selection.event, selection.event.emptied())
        )
        found = with_event.at(np.log(0.3)).log_total - without.at(np.log(0.3)).log_total
        oracle = count_oracle.Model(0.3, rates, score=ORACLES["fisher"])
        totals = range(sum(sizes) + 1) if rates == "given" else [None]
        fates = [oracle.fate(sizes, m, partial(is_at_most, cut=2)) for m in totals]
        assert found == pytest.approx((30 - len(strong)) * np.log(np.mean(fates)), rel=1e-9)


def test_tables_that_are_too_large_are_refused(monkeypatch):
    sizes, columns = TABLES["two, missing"]
    scores = scores_of(sizes, columns, "fisher", "uniform")
    chi2 = scores_of(sizes, columns, "chi2", "uniform")
    monkeypatch.setattr(count_omission, "MOST_ENTRIES", 19)
    with pytest.raises(ValueError, match=r"'fisher' needs a table .* classes of 4, 3 cases has 20"):
        posterior_of(scores, top(scores, 3), model_of(sizes, "uniform"))
    assert posterior_of(chi2, top(chi2, 3), model_of(sizes, "uniform")).log_evidence < 0.0
    monkeypatch.setattr(count_omission, "MOST_ENTRIES", 20)
    monkeypatch.setattr(count_omission, "MOST_SUMS", 59)
    with pytest.raises(ValueError, match=r"for each of the 4 different .* 60 entries together"):
        posterior_of(scores, top(scores, 3), model_of(sizes, "uniform"))
