"""Any number of classes, totals given or not, missing values: against brute force."""

from fractions import Fraction
from functools import partial

import count_oracle
import numpy as np
import pytest
from count_oracle import score

from unselected.models import bernoulli_likelihood, count_omission
from unselected.models.batch import condition_all
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.count_terms import CountTerms, TabulatedOmission
from unselected.models.records import NULL
from unselected.numerics.beta_binomial import CountLaw
from unselected.omission.count_tables import CountTable
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_above, keep_preselected, keep_top
from unselected.statistics.counts import ClassCounts

NONE = np.array([], dtype=int)
PRIOR = (1.5, 3.0)


def is_below(value, cut):
    return value < cut


def is_at(value, cut):
    return value == cut


def is_at_most(value, cut):
    return value <= cut


class Data:
    """Counts of a few columns, what the model makes of the selection, and brute force."""

    def __init__(self, sizes, columns, rule, rates, least_fraction=None):
        self.sizes, self.columns, self.rates = sizes, columns, rates
        ones, known = (np.transpose([column[part] for column in columns]) for part in (0, 1))
        complete = np.all(known == np.array(sizes)[:, np.newaxis])
        self.counts = ClassCounts(ones, np.array(sizes), None if complete else known)
        scores = CountScores.of(self.counts, by_total=rates == "given")
        self.selection = rule(scores)
        self.model = BernoulliModel(
            (1.0,) * len(sizes), *PRIOR, rates=rates, least_fraction=least_fraction
        )

    @property
    def kept(self):
        return self.counts.take(self.selection.indices)

    def posterior(self, event=None):
        return self.model.condition(self.kept, self.selection.event if event is None else event)

    def brute(self, rows, event):
        kept = [self.columns[j] for j in self.selection.indices]
        return count_oracle.condition(
            kept, event, rows, self.sizes, self.rates, PRIOR, self.model.least_fraction
        )

    def omitted(self):
        """Each omitted column, in order: its number, and its score."""
        kept = set(self.selection.indices.tolist())
        return [(j, score(*c)) for j, c in enumerate(self.columns) if j not in kept]

    def event_of_ranks(self):
        """Each omitted column is at the cut, or below: as it is."""
        cut = min(score(*self.columns[j]) for j in self.selection.indices)
        event = []
        for j, value in self.omitted():
            ones, known = self.columns[j]
            what = is_at if value == cut else is_below
            event.append((known, sum(ones), partial(what, cut=cut)))
        return share(event)

    def event_of_threshold(self, gamma):
        event = []
        for j, _ in self.omitted():
            ones, known = self.columns[j]
            event.append((known, sum(ones), partial(is_at_most, cut=gamma)))
        return share(event)


def share(event):
    """Let equal functions be one object, so that equal columns are counted once."""
    known = {}
    return [
        (sizes, total, known.setdefault((f.func, f.keywords["cut"]), f))
        for sizes, total, f in event
    ]


def top(k, ties="first"):
    return lambda scores: keep_top(scores, k, ties, NONE, np.random.default_rng(0))


def rows_for(k, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, size=(5, k)).astype(float)
    rows[3, 0], rows[4] = np.nan, np.nan
    return rows


def assert_is(posterior, brute, rows):
    evidence, joint = brute
    assert posterior.log_evidence == pytest.approx(np.log(evidence), abs=1e-8)
    np.testing.assert_allclose(np.exp(posterior.log_joint(rows)), joint, rtol=1e-8)


THREE = (2, 3, 2)
COMPLETE = [
    ((2, 0, 0), THREE),
    ((0, 1, 2), THREE),
    ((1, 0, 0), THREE),
    ((1, 2, 1), THREE),
    ((0, 3, 0), THREE),
    ((0, 0, 0), THREE),
    ((0, 1, 0), THREE),
    ((2, 2, 1), THREE),
    ((0, 0, 2), THREE),
]
HOLES = [
    *COMPLETE,
    ((1, 0, 1), (2, 2, 2)),
    ((0, 2, 0), (2, 2, 1)),
    ((1, 0, 0), (1, 3, 2)),
    ((0, 1, 1), (2, 2, 1)),
    ((1, 2, 0), (1, 3, 2)),
]
TWO = (3, 4)
OF_TWO = [
    ((0, 4), TWO),
    ((3, 1), TWO),
    ((1, 0), TWO),
    ((0, 1), TWO),
    ((0, 0), TWO),
    ((2, 2), TWO),
    ((0, 3), TWO),
    ((0, 2), TWO),
]
HOLES_OF_TWO = [*OF_TWO, ((2, 0), (2, 3)), ((1, 3), (3, 3)), ((1, 1), (3, 3)), ((0, 2), (2, 3))]
TABLES = {
    "three": (THREE, COMPLETE),
    "three, missing": (THREE, HOLES),
    "two": (TWO, OF_TWO),
    "two, missing": (TWO, HOLES_OF_TWO),
}
GIVEN = [(name, "given") for name in TABLES]


@pytest.mark.parametrize(
    ("name", "rates"), [*GIVEN, ("three, missing", "uniform"), ("two, missing", "uniform")]
)
@pytest.mark.parametrize(("k", "ties"), [(2, "random"), (3, "first"), (5, "random")])
def test_the_largest_scores_are_kept(name, rates, k, ties):
    data = Data(*TABLES[name], top(k, ties), rates)
    rows = rows_for(k)
    assert_is(data.posterior(), data.brute(rows, data.event_of_ranks()), rows)


def test_three_complete_classes_at_uniform_rates_have_the_event_of_the_rule():
    """Ties to the lower column: what stands before the last kept one at the cut is below it."""
    data = Data(THREE, [*reversed(COMPLETE), ((2, 3, 2), THREE)], top(5), "uniform")
    assert data.selection.event.kinds is None
    cut = min(score(*data.columns[j]) for j in data.selection.indices)
    at_cut = [j for j in data.selection.indices if score(*data.columns[j]) == cut]
    below, at_most = partial(is_below, cut=cut), partial(is_at_most, cut=cut)
    event = [(THREE, 0, below if j < at_cut[-1] else at_most) for j, _ in data.omitted()]
    assert {what for *_, what in event} == {below, at_most}
    rows = rows_for(5)
    assert_is(data.posterior(), data.brute(rows, event), rows)


@pytest.mark.parametrize(
    ("name", "rates"), [*GIVEN, *((name, "uniform") for name in TABLES)], ids=str
)
def test_scores_above_a_threshold_are_kept(name, rates):
    gamma = 0.9 if "three" in name else 0.6
    data = Data(*TABLES[name], lambda scores: keep_above(scores, gamma, NONE), rates)
    rows = rows_for(data.selection.indices.size)
    bound = gamma if "three" in name else gamma**2
    assert 0 < data.selection.indices.size < len(data.columns)
    assert_is(data.posterior(), data.brute(rows, data.event_of_threshold(bound)), rows)


@pytest.mark.parametrize("name", TABLES)
def test_without_the_event_the_totals_are_still_given(name):
    data = Data(*TABLES[name], top(3), "given")
    rows = rows_for(3)
    posterior = data.posterior(data.selection.event.emptied())
    assert_is(posterior, data.brute(rows, []), rows)


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("three", "uniform"),
        ("three, missing", "given"),
        ("two", "given"),
        ("two, missing", "uniform"),
    ],
)
def test_two_groups_of_features(name, rates):
    """pi P(. | m, alpha) + (1 - pi) hypergeometric for every feature, kept or not."""
    sizes, columns = TABLES[name]
    data = Data(sizes, columns, lambda scores: keep_above(scores, 0.9, NONE), rates, 0.1)
    if "two" in name:
        data = Data(sizes, columns, lambda scores: keep_above(scores, 0.6, NONE), rates, 0.1)
    rows = rows_for(data.selection.indices.size)
    event = data.event_of_threshold(0.9 if "three" in name else 0.36)
    assert_is(data.posterior(), data.brute(rows, event), rows)


def test_two_groups_of_features_with_ties():
    data = Data(*TABLES["three, missing"], top(3), "given", 0.1)
    rows = rows_for(3)
    assert_is(data.posterior(), data.brute(rows, data.event_of_ranks()), rows)


@pytest.mark.parametrize("name", ["three", "two"])
def test_columns_never_seen_may_have_any_total(name):
    sizes, columns = TABLES[name]
    gamma = 0.05
    chosen = [column for column in columns if score(*column) > gamma]
    data = Data(sizes, chosen, lambda scores: keep_preselected(scores, 30, gamma, NONE), "given")
    log_u = np.log(0.3)
    likelihood = Likelihood(data.model.theta_rule, data.kept, data.selection.event, "given")
    empty = Likelihood(data.model.theta_rule, data.kept, Event(), "given")
    bound = gamma if name == "three" else gamma**2
    model = count_oracle.Model(0.3, "given")
    each = [model.fate(sizes, m, partial(is_at_most, cut=bound)) for m in range(sum(sizes) + 1)]
    expected = (30 - len(chosen)) * np.log(np.mean(each))
    found = likelihood.at(log_u).log_total - empty.at(log_u).log_total
    assert found == pytest.approx(expected, rel=1e-10)


def test_unrelated_features_are_split_at_random_whatever_their_rate():
    data = Data(*TABLES["three, missing"], top(4), "given")
    likelihood = Likelihood(data.model.theta_rule, data.kept, data.selection.event, "given")
    model = count_oracle.Model(0.0, "given")
    expected = [
        np.log(model.chance(tuple(ones), tuple(known)))
        for ones, known in zip(likelihood.ones.T.tolist(), likelihood.known.T.tolist(), strict=True)
    ]
    np.testing.assert_allclose(likelihood.at(NULL).log_counts, expected, rtol=1e-11)


def test_rare_features_say_nothing():
    """Any number of omitted features that no split could have selected leaves the posterior."""
    sizes, columns = TABLES["three"]
    rule = lambda scores: keep_above(scores, 3.0, NONE)  # noqa: E731
    few = Data(sizes, columns, rule, "given")
    rare = [((0, 1, 0), sizes), ((0, 0, 1), sizes), ((0, 0, 0), sizes), ((2, 3, 2), sizes)]
    assert max(score(ones, sizes) for ones in [(1, 0, 0), (0, 1, 0), (0, 0, 1)]) < 3.0
    many = Data(sizes, columns + 1000 * rare, rule, "given")
    rows = rows_for(few.selection.indices.size)
    ours, theirs = many.posterior(), few.posterior()
    assert ours.log_evidence == pytest.approx(theirs.log_evidence, abs=1e-9)
    np.testing.assert_allclose(ours.log_joint(rows), theirs.log_joint(rows), atol=1e-9)
    # The twin: at uniform rates the same features say that nothing is related.
    uniform = [
        Data(sizes, c, rule, "uniform").posterior() for c in (columns, columns + 1000 * rare)
    ]
    assert np.max(np.abs(np.diff([one.log_joint(rows) for one in uniform], axis=0))) > 0.01


@pytest.mark.parametrize("rates", ["uniform", "given"])
def test_known_values_that_are_all_known_change_nothing(rates):
    """Bit for bit, whether or not the table could have had missing values."""
    sizes = np.array([6, 7, 5])
    rng = np.random.default_rng(3)
    ones = rng.binomial(sizes[:, np.newaxis], rng.random(40))
    known = np.repeat(sizes[:, np.newaxis], 40, axis=1)
    found = []
    for counts in (ClassCounts(ones, sizes), ClassCounts(ones, sizes, known)):
        scores = CountScores.of(counts, by_total=rates == "given")
        selection = keep_above(scores, 1.5, NONE)
        model = BernoulliModel((1.0, 1.0, 1.0), rates=rates)
        found.append(model.condition(counts.take(selection.indices), selection.event))
    rows = rows_for(found[0].vector_of.size)
    assert found[0].log_evidence == found[1].log_evidence
    np.testing.assert_array_equal(found[0].log_joint(rows), found[1].log_joint(rows))


def test_equal_totals_agree_with_uniform_rates_in_the_limit():
    """Half of the values of every feature are ones, as after cuts at medians."""
    differences = []
    for n in (16, 64, 256):
        sizes = (n, n)
        splits = [round(n * share) for share in (0.1, 0.25, 0.35, 0.45, 0.5, 0.5, 0.6, 0.7)]
        ones = np.array([splits, [n - i for i in splits]])
        counts = ClassCounts(ones, np.array(sizes))
        log_odds = []
        for rates in ("given", "uniform"):
            scores = CountScores.of(counts, by_total=rates == "given")
            selection = top(3)(scores)
            model = BernoulliModel(rates=rates)
            posterior = model.condition(counts.take(selection.indices), selection.event)
            log_odds.append(np.diff(posterior.log_joint(np.ones((1, 3))))[0, 0])
        differences.append(abs(log_odds[0] - log_odds[1]))
    assert differences[0] > 2.0 * differences[1] > 4.0 * differences[2] > 0.0


def test_the_omission_probability_hardly_depends_on_the_total_in_the_limit():
    """Where differences are of the size of sampling errors, and ties get rarer as n grows."""
    for n in (8, 32, 128, 512):
        sizes, cut = (n, n), Fraction(2, n)
        rule = BernoulliModel().theta_rule(2 * n)
        ones = np.zeros((2, 0), dtype=int)
        both = [
            CountTerms(
                CountLaw(sizes, *rule), ones, TabulatedOmission(CountTable(sizes, cut, by_total=by))
            )
            for by in (True, False)
        ]
        given, uniform = (terms.at(1.0 / n).omission.log_at_most for terms in both)
        assert abs(given[n] - uniform[0]) < 1.0 / np.sqrt(n)
        assert abs(given[n // 2] - uniform[0]) < 1.0 / np.sqrt(n)
        assert given[1] == 0.0  # rare ones are another matter


@pytest.mark.parametrize("rates", ["uniform", "given"])
@pytest.mark.parametrize("sizes", [(8, 7, 9), (12, 11)], ids=str)
def test_data_sets_together_are_as_alone(sizes, rates, seed):
    """The shared table, for totals given and several classes."""
    rng = np.random.default_rng(seed)
    sets = []
    for i in range(7):
        p = np.clip(rng.random(60) + 0.3 * rng.normal(size=(len(sizes), 60)), 0, 1)
        counts = ClassCounts(rng.binomial(np.array(sizes)[:, np.newaxis], p), np.array(sizes))
        scores = CountScores.of(counts, by_total=rates == "given")
        selection = keep_top(scores, 4 + i, ("first", "random")[i % 2], NONE, rng)
        sets.append((counts.take(selection.indices), selection.event))
    model = BernoulliModel((1.0,) * len(sizes), rates=rates)
    for i, (together, (counts, event)) in enumerate(
        zip(condition_all(model, sets), sets, strict=True)
    ):
        alone = model.condition(counts, event)
        rows = rng.integers(0, 2, size=(5, 4 + i))
        np.testing.assert_allclose(together.log_joint(rows), alone.log_joint(rows), atol=1e-9)
        assert together.log_evidence == pytest.approx(alone.log_evidence, abs=1e-8)


def test_too_many_patterns_of_known_values_are_refused(monkeypatch):
    data = Data(*TABLES["three, missing"], top(3), "given")
    monkeypatch.setattr(count_omission, "MOST_PATTERNS", 2)
    with pytest.raises(ValueError, match=r"4 different numbers of known values .* fill in missing"):
        data.posterior()
    assert Data(*TABLES["three"], top(3), "given").posterior().log_evidence < 0.0


@pytest.mark.parametrize("name", ["three", "two", "three, missing"])
def test_the_same_without_a_table_of_all_counts(name, monkeypatch):
    tabulated = Data(*TABLES[name], top(3), "given").posterior()
    monkeypatch.setattr(count_omission, "is_tabulated", lambda _: False)
    monkeypatch.setattr(bernoulli_likelihood, "is_tabulated", lambda _: False)
    summed = Data(*TABLES[name], top(3), "given").posterior()
    assert summed.log_evidence == pytest.approx(tabulated.log_evidence, abs=1e-9)
    np.testing.assert_allclose(summed.log_one, tabulated.log_one, atol=1e-9)


@pytest.mark.parametrize("name", ["three", "two"])
def test_totals_where_nothing_is_omitted_and_there_is_no_table(name, monkeypatch):
    counts = Data(*TABLES[name], top(3), "given").counts
    model = BernoulliModel((1.0,) * counts.sizes.size, rates="given")
    tabulated = model.condition(counts, Event())
    monkeypatch.setattr(bernoulli_likelihood, "is_tabulated", lambda _: False)
    assert model.condition(counts, Event()).log_evidence == pytest.approx(
        tabulated.log_evidence, abs=1e-9
    )


def test_too_many_sums_are_refused(monkeypatch):
    monkeypatch.setattr(count_omission, "MOST_SUMS", 19)
    for name, advice in (("three", "use SelectiveGaussianNB"), ("two", "use rates='uniform'")):
        data = Data(*TABLES[name], top(3), "given")
        with pytest.raises(ValueError, match=rf"takes (36|20) sums over .*{advice}"):
            data.posterior()


@pytest.mark.parametrize("rates", ["uniform", "given"])
@pytest.mark.parametrize("name", ["three", "two", "three, missing"])
def test_without_a_cut_every_feature_is_at_most_at_it(name, rates):
    posterior = Data(*TABLES[name], top(3), rates).posterior(Event())
    np.testing.assert_allclose(posterior.log_at_most, 0.0, atol=1e-12)
