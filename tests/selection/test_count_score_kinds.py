"""Scores of counts against their definitions: values, order, ties, thresholds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import score_oracle
from scipy import stats
from score_oracle import FOR_SEVERAL, ORACLES, name_of
from sklearn.feature_selection import chi2 as chi2_of_ones
from sklearn.metrics import mutual_info_score

from unselected.columns.subset import ColumnSubset
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.selection.count_score_kinds import SCORES, CustomScore, score_called
from unselected.selection.count_scores import CountScores
from unselected.selection.fisher import log10_reciprocals, reciprocal
from unselected.selection.rules import keep_above, keep_top
from unselected.selection.score_names import LARGEST, SCORE_NAMES
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.counts import ClassCounts, Counted

NONE = np.array([], dtype=int)


def score_of(name):
    return CustomScore(name) if callable(name) else SCORES[name]


def every_vector(sizes):
    """The counts of all features with these numbers of known values, (G, vectors)."""
    return np.array(list(product(*(range(n + 1) for n in sizes)))).T


def counts_of(*patterns, complete=None):
    """All vectors of one or more patterns of known values, one after the other."""
    ones = np.concatenate([every_vector(sizes) for sizes in patterns], axis=1)
    known = np.concatenate(
        [
            np.repeat(np.array([sizes]).T, every_vector(sizes).shape[1], axis=1)
            for sizes in patterns
        ],
        axis=1,
    )
    if len(patterns) == 1:
        return ClassCounts(ones, np.array(patterns[0]))
    return ClassCounts(ones, np.array(complete), known)


CASES = {
    "two": counts_of((4, 5)),
    "two of equal sizes": counts_of((4, 4)),
    "two, missing": counts_of((4, 5), (3, 5), (4, 2), (1, 1), complete=(4, 5)),
    "three": counts_of((2, 3, 2)),
    "three, missing": counts_of((2, 3, 3), (2, 2, 3), (1, 3, 2), complete=(2, 3, 3)),
}
EACH = [
    pytest.param(score, counts, id=f"{name_of(score)}, {name}")
    for score in ORACLES
    for name, counts in CASES.items()
    if counts.sizes.size == 2 or score in FOR_SEVERAL
]
each = pytest.mark.parametrize(("score", "counts"), EACH)


def by_definition(score, counts):
    columns = zip(counts.ones.T.tolist(), counts.known_values.T.tolist(), strict=True)
    return [ORACLES[score](tuple(ones), tuple(known)) for ones, known in columns]


@each
def test_keys_order_features_as_the_definition_does(score, counts):
    keys, key_of = score_of(score).distinct(counts)
    ours, theirs = [keys[i] for i in key_of], by_definition(score, counts)
    for a, b in product(range(counts.n_columns), repeat=2):
        assert (ours[a] > ours[b], ours[a] == ours[b]) == (
            theirs[a] > theirs[b],
            theirs[a] == theirs[b],
        )


@each
def test_rough_numbers_are_close_enough(score, counts):
    kind = score_of(score)
    keys, key_of = kind.distinct(counts)
    rough = kind.rough(counts)
    expected = np.array([kind.rough_of(key) for key in keys])[key_of]
    np.testing.assert_array_less(
        np.abs(rough - expected), 0.5 * kind.close * np.abs(expected) + 1e-300
    )


@pytest.mark.parametrize(("score", "counts"), [p for p in EACH if p.values[1].known is None])
def test_signs_at_every_cut(score, counts):
    """All vectors are compared with the score of each, as the omission probability does."""
    sizes = counts.sizes
    kind, theirs = score_of(score), by_definition(score, counts)
    keys, key_of = kind.distinct(counts)
    for place in range(counts.n_columns):
        cut, on = kind.cut_among(keys[key_of[place]], tuple(sizes.tolist()), sizes)
        signs = on.compare(counts.ones, sizes, cut)
        expected = [(v > theirs[place]) - (v < theirs[place]) for v in theirs]
        assert signs.tolist() == expected


@each
def test_a_fitted_threshold_can_be_used_again(score, counts):
    """All above the score of one feature: those that are above by definition."""
    scores = CountScores.of(counts, score=score_of(score))
    everyone, theirs = np.arange(scores.size), by_definition(score, counts)
    values = scores.values(everyone)
    for j in everyone[~np.isnan(values)][::5]:
        above = [i for i in everyone if values[i] == values[i] and theirs[i] > theirs[j]]
        assert keep_above(scores, float(values[j]), NONE).indices.tolist() == above


@each
@pytest.mark.parametrize("k", [1, 5, 12])
def test_streaming_drops_no_one_who_could_be_kept(score, counts, k):
    """Blocks of columns, filtered one by one, and columns that do not compete."""
    always = np.array([3])
    kind = score_of(score)
    everyone = CountScores.of(counts, score=kind)
    stream = StreamingSelection(k=k, always=always)
    parts = []
    for columns in np.array_split(np.arange(counts.n_columns), 7):
        counted = Counted(counts.take(columns), np.full(columns.size, np.nan))
        part = CountScores.of_part(counted, ColumnSubset(columns, counts.n_columns), score=kind)
        parts.append(stream.filter(part))
        stream.learn(parts[-1])
    united = stream.filter(CountScores.united(parts))
    both = [keep_top(s, k, "first", always, np.random.default_rng(0)) for s in (united, everyone)]
    assert both[0].indices.tolist() == both[1].indices.tolist()
    assert both[0].event == both[1].event or both[0].event.kinds is not None
    theirs = by_definition(score, counts)
    free = [j for j in range(counts.n_columns) if j not in (3, *everyone.unscored.columns)]
    order = sorted(free, key=lambda j: (-theirs[j], j))
    assert both[1].indices.tolist() == sorted([*order[:k], 3])


# Other people's functions


def random_tables(seed, n_tables=60, most=40):
    rng = np.random.default_rng(seed)
    for _ in range(n_tables):
        sizes = rng.integers(1, most, size=2)
        yield rng.binomial(sizes, rng.random()), sizes


def test_chi_squared_is_that_of_scipy_and_not_that_of_sklearn(seed):
    differs = 0
    for ones, sizes in random_tables(seed):
        table = np.stack([sizes - ones, ones])
        if (table.sum(axis=1) == 0).any():
            continue
        counts = ClassCounts(ones[:, np.newaxis], sizes)
        ours = CountScores.of(counts, score=SCORES["chi2"]).values(np.array([0]))[0]
        assert ours == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)
        x = np.concatenate(
            [np.repeat([1, 0], [i, n - i]) for i, n in zip(ones, sizes, strict=True)]
        )
        theirs = chi2_of_ones(x[:, np.newaxis], np.repeat([0, 1], sizes))[0][0]
        # Theirs looks at the ones only: ours is theirs over the rate of zeros.
        assert ours == pytest.approx(theirs / (1.0 - ones.sum() / sizes.sum()))
        differs += abs(ours - theirs) > 0.1
    assert differs > 10


def test_fisher_is_that_of_scipy(seed):
    for ones, sizes in random_tables(seed):
        counts = ClassCounts(ones[:, np.newaxis], sizes)
        ours = CountScores.of(counts, score=SCORES["fisher"]).values(np.array([0]))[0]
        p = stats.fisher_exact([ones, sizes - ones]).pvalue
        assert ours == pytest.approx(-np.log10(p), abs=1e-10)


def test_mutual_information_is_that_of_sklearn(seed):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        sizes = rng.integers(1, 30, size=rng.integers(2, 5))
        ones = rng.binomial(sizes, rng.random(sizes.size))
        x = np.concatenate(
            [np.repeat([1, 0], [i, n - i]) for i, n in zip(ones, sizes, strict=True)]
        )
        expected = mutual_info_score(x, np.repeat(np.arange(sizes.size), sizes))
        counts = ClassCounts(ones[:, np.newaxis], sizes)
        assert SCORES["mutual_info"].rough(counts)[0] == pytest.approx(expected, abs=1e-13)
        scores = CountScores.of(counts, score=SCORES["mutual_info"])
        assert scores.values(np.array([0]))[0] == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(("n0", "n1"), [(7, 7), (9, 4), (1, 12), (300, 300), (311, 140), (2000, 3)])
def test_p_values_in_doubles_are_those_in_integers(n0, n1, seed):
    """Also where counts on both sides are nearly, but not quite, as probable."""
    rng = np.random.default_rng(seed)
    sizes = np.array([[n0], [n1]])
    ones = every_vector((n0, n1))
    if ones.shape[1] > 300:
        ones = ones[:, rng.integers(0, ones.shape[1], size=300)]
    ours = log10_reciprocals(ones, np.repeat(sizes, ones.shape[1], axis=1))
    columns = ones.T.tolist()
    exact = [float(stats_log10(reciprocal(tuple(each), (n0, n1)))) for each in columns]
    np.testing.assert_allclose(ours, exact, rtol=1e-9, atol=1e-10)


def stats_log10(fraction):
    """log10 of a fraction of large integers."""
    shift = fraction.numerator.bit_length() - fraction.denominator.bit_length()
    return np.log10(float(fraction / Fraction(2) ** shift)) + shift * np.log10(2.0)


def test_nearly_equal_probabilities_are_told_apart_in_integers():
    """Every total of small classes: ties by symmetry, and those that no symmetry explains."""
    found = 0
    for n0, n1 in product(range(1, 17), repeat=2):
        for m in range(n0 + n1 + 1):
            low, high = max(0, m - n0), min(m, n1)
            columns = [(m - i, i) for i in range(low, high + 1)]
            ones = np.array(columns).T
            ours = log10_reciprocals(ones, np.repeat([[n0], [n1]], ones.shape[1], axis=1))
            theirs = [1 / score_oracle.fisher(column, (n0, n1)) for column in columns]
            np.testing.assert_allclose(10.0**-ours, np.array(theirs, dtype=float), rtol=1e-11)
            symmetric = n0 == n1 or 2 * m == n0 + n1
            found += not symmetric and len(set(theirs)) < len(theirs)
    assert found > 10


# Infinite, constant, undefined


def test_odds_ratios_of_empty_cells_and_of_constant_features():
    counts = ClassCounts(np.array([[0, 0, 5, 2, 1], [5, 1, 5, 2, 4]]), np.array([5, 5]))
    scores = CountScores.of(counts, score=SCORES["odds_ratio"])
    assert scores.values(np.arange(5)).tolist() == [LARGEST, LARGEST, 1.0, 1.0, 16.0]
    assert keep_above(scores, 1.0, NONE).indices.tolist() == [0, 1, 4]
    assert keep_above(scores, 16.0, NONE).indices.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["chi2", "mutual_info", "fisher", "rate_difference"])
def test_constant_features_have_no_association(name):
    counts = ClassCounts(np.array([[0, 4, 2], [0, 6, 3]]), np.array([4, 6]))
    scores = CountScores.of(counts, score=SCORES[name])
    assert scores.values(np.arange(3)).tolist() == [0.0, 0.0, 0.0]
    assert keep_above(scores, 0.0, NONE).indices.size == 0


@pytest.mark.parametrize("name", ["fisher", "odds_ratio"])
def test_scores_of_two_classes_refuse_more(name):
    counts = counts_of((2, 2, 2))
    with pytest.raises(ValueError, match=f"'{name}' compares two classes, and y has 3: use"):
        CountScores.of(counts, score=SCORES[name]).nothing_omitted()


def scored_by(function):
    return CountScores.of(counts_of((3, 3)), score=CustomScore(function)).rough


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda ones, sizes: ones / sizes, r"an array of shape \(2, 16\) for 16 columns"),
        (lambda ones, sizes: 1.0, r"an array of shape \(\) for 16 columns"),  # noqa: ARG005
        (lambda ones, sizes: "best", "returned str, where an array of numbers"),  # noqa: ARG005
        (
            lambda ones, sizes: np.where(ones[0] == 3, np.nan, 0.0),  # noqa: ARG005
            "returned NaN for a feature with 3, 0 ones among 3, 3 known values",
        ),
    ],
)
def test_what_a_function_returns_is_checked(function, message):
    with pytest.raises(ValueError, match=message):
        scored_by(function)


def test_infinite_scores_of_a_function_tie():
    def reciprocal_distance(ones, sizes):
        with np.errstate(divide="ignore"):
            return 1.0 / np.abs(ones[1] - sizes[1])

    counts = ClassCounts(np.array([[0, 1, 2], [3, 3, 1]]), np.array([3, 3]))
    scores = CountScores.of(counts, score=CustomScore(reciprocal_distance))
    assert scores.values(np.arange(3)).tolist() == [LARGEST, LARGEST, 0.5]
    assert scores.split_at_rank(1, NONE)[1].tolist() == [0, 1]


def test_scores_of_a_function_are_compared_by_ten_digits():
    def nearly(ones, sizes):  # noqa: ARG001
        return 1.0 + ones[0] * 1e-13 + ones[1] * 1e-6

    counts = ClassCounts(np.array([[0, 3, 1], [1, 1, 2]]), np.array([3, 3]))
    scores = CountScores.of(counts, score=CustomScore(nearly))
    above, equal = scores.split_at_rank(2, NONE)
    assert (above.tolist(), equal.tolist()) == ([2], [0, 1])


# Names


def test_every_score_has_a_name_that_files_know():
    for score in SCORES.values():
        statistic = score.statistic(2)
        assert score_called(statistic) == score
        assert statistic in SCORE_NAMES
    assert score_called("F") == EXPLAINED
    assert score_called("custom").statistic(2) == "custom"
    with pytest.raises(ValueError, match="does not hold the function of a custom score"):
        score_called("custom").rough(counts_of((2, 2)))


def test_chi_squared_is_a_function_of_what_is_explained():
    """So that its omission probability needs no table of all counts."""
    sizes = np.array([4, 5])
    cut, score = SCORES["chi2"].cut_among(Fraction(3), (4, 5), sizes)
    assert (cut, score) == (Fraction(1, 3), EXPLAINED)
    assert SCORES["chi2"].cut_among(Fraction(100), (4, 5), sizes)[0] > 1
    assert SCORES["fisher"].cut_among(Fraction(3), (4, 5), sizes) == (3, SCORES["fisher"])
    assert isinstance(score, CountScore)
