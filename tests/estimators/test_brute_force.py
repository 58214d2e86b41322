"""The estimator against enumeration of every data set that the omitted columns could have been."""

from itertools import combinations, product

import numpy as np
import oracle
import pytest
from scipy.special import betaln

from unselected import SelectiveBernoulliNB
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import keep_above, keep_preselected, keep_top
from unselected.statistics.counts import ClassCounts

CLASSES = {"balanced": [0, 0, 1, 1], "unbalanced": [0, 1, 1, 1, 1], "one case": [1, 0, 1, 1]}


def chance_of(rule, kept):
    """The probability that a rule keeps just these columns, given COR^2 of all."""
    if "threshold" in rule:
        return lambda values: float(
            {j for j, value in enumerate(values) if float(value) ** 0.5 > rule["threshold"]} == kept
        )
    return lambda values: oracle.outcomes(values, rule["k"], rule["ties"]).get(frozenset(kept), 0.0)


RULES = [
    {"k": 1, "ties": "first"},
    {"k": 2, "ties": "first"},
    {"k": 1, "ties": "random"},
    {"k": 2, "ties": "random"},
    {"threshold": 0.3},
    {"threshold": 0.0},
]


@pytest.mark.filterwarnings("ignore:class .* has one case only")
@pytest.mark.parametrize(
    ("rule", "classes"),
    [
        (rule, CLASSES[kind])
        for place, rule in enumerate(RULES)
        for kind in (list(CLASSES) * 2)[place % 3 : place % 3 + 2]
    ],
    ids=str,
)
def test_predictions_and_evidence(rule, classes, seed):
    rng = np.random.default_rng(seed)
    y = np.array(classes)
    n0, n1 = np.sum(y == 0), np.sum(y == 1)
    X = rng.integers(0, 2, size=(y.size, 4))
    X[:, 1] = y  # something to keep whatever the rule
    X[:, 3] = X[:, 0] if seed % 2 else 1 - y  # and ties
    model = SelectiveBernoulliNB(**rule, random_state=seed).fit(X, y)
    indices = model.selection_.indices
    kept = {int(j): (int(X[y == 0, j].sum()), int(X[y == 1, j].sum())) for j in indices}
    event = oracle.event_by_enumeration(kept, 4, n0, n1, chance_of(rule, set(kept)))
    X_new = np.array(list(product([0, 1], repeat=4)))
    evidence = oracle.evidence_by_class(kept.values(), X_new[:, indices], n0, n1, event)
    joint = evidence * np.array([1 + n0, 1 + n1])
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X_new), expected, atol=1e-8)
    # Summed over the new case's features, the evidence of the training data is left.
    one_case_of_each = {tuple(x): row for x, row in zip(X_new[:, indices], evidence, strict=True)}
    total = sum(one_case_of_each.values())
    assert total[0] == pytest.approx(total[1], rel=1e-10)
    log_evidence = np.log(total[0]) + betaln(1 + n0, 1 + n1)
    assert model.log_marginal_likelihood_ == pytest.approx(log_evidence, abs=1e-7)
    # A twin that ignores the event is caught.
    naive = SelectiveBernoulliNB(**rule, random_state=seed, correct_selection=False).fit(X, y)
    if len(kept) < 4:
        assert np.max(np.abs(naive.predict_proba(X_new) - expected)) > 1e-4


@pytest.mark.parametrize("ties", ["first", "random"])
def test_the_wrong_tie_rule_is_caught(ties):
    """Conditioning on the other rule's event gives other probabilities."""
    y = np.array([0, 0, 1, 1])
    X = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]])
    other = {"first": "random", "random": "first"}[ties]
    right, wrong = (
        SelectiveBernoulliNB(k=1, ties=rule, random_state=0).fit(X, y) for rule in (ties, other)
    )
    kept = {int(right.selection_.indices[0]): (0, 2)}
    event = oracle.event_by_enumeration(kept, 4, 2, 2, chance_of({"k": 1, "ties": ties}, set(kept)))
    joint = 3 * oracle.evidence_by_class(kept.values(), [[1]], 2, 2, event)
    expected = joint[0, 1] / joint[0].sum()
    new = np.ones((1, 4), dtype=int)
    assert right.predict_proba(new)[0, 1] == pytest.approx(expected, abs=1e-8)
    assert abs(wrong.predict_proba(new)[0, 1] - expected) > 1e-5


def patterns_by_counts(n0, n1):
    """How many columns there are for each pair of counts."""
    return {
        (I0, I1): sum(1 for x in product([0, 1], repeat=n0) if sum(x) == I0)
        * sum(1 for x in product([0, 1], repeat=n1) if sum(x) == I1)
        for I0 in range(n0 + 1)
        for I1 in range(n1 + 1)
    }


def log_evidence(pairs, n0, n1, event):
    counts = ClassCounts.of_two(
        np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs]), n0, n1
    )
    return BernoulliModel().condition(counts, event).log_evidence


@pytest.mark.parametrize(
    ("rule", "n0", "n1"),
    [
        *((rule, 2, 1) for rule in RULES if rule.get("k") != 2),
        ({"k": 1, "ties": "random"}, 2, 2),
        ({"threshold": 0.3}, 2, 2),
    ],
    ids=str,
)
def test_probabilities_of_all_outcomes_sum_to_one(rule, n0, n1):
    """Over all kept sets and all values of the kept columns: nothing lost, nothing twice."""
    p, orders = 3, patterns_by_counts(n0, n1)
    total, seen = 0.0, set()
    known = {}  # the columns kept do not have to be judged in each of their orders
    for table in product(orders, repeat=p):
        counts = ClassCounts.of_two(
            np.array([t[0] for t in table]), np.array([t[1] for t in table]), n0, n1
        )
        none, scores = np.array([], dtype=int), CountScores.of(counts)
        if "threshold" in rule:
            selections = [keep_above(scores, rule["threshold"], none)]
        else:
            selections = [
                keep_top(scores, rule["k"], rule["ties"], none, np.random.default_rng(s))
                for s in range(12 if rule["ties"] == "random" else 1)
            ]
        for selection in selections:
            pairs = tuple(table[j] for j in selection.indices)
            outcome = (tuple(selection.indices), pairs)
            if outcome not in seen:
                seen.add(outcome)
                ways = np.prod([orders[pair] for pair in pairs])
                key = (tuple(sorted(pairs)), selection.event)
                if key not in known:
                    known[key] = np.exp(log_evidence(pairs, n0, n1, selection.event))
                total += ways * known[key]
    assert total == pytest.approx(np.exp(betaln(1 + n0, 1 + n1)), rel=1e-9)


def test_two_kept_columns_tied_or_not_sum_to_one():
    """Top 2 of 3 at random: pairs of kept columns that tie share the draw, others do not."""
    n0, n1, p = 2, 2, 3
    orders, values = patterns_by_counts(n0, n1), oracle.all_cor_squared(n0, n1)
    total = 0.0
    for pairs in product(orders, repeat=2):
        counts = ClassCounts.of_two(
            np.array([q[0] for q in pairs]), np.array([q[1] for q in pairs]), n0, n1
        )
        event = keep_preselected(CountScores.of(counts), p, None, np.array([], dtype=int)).event
        assert event.n_kept_ties == 1 + (values[pairs[0]] == values[pairs[1]])
        ways = orders[pairs[0]] * orders[pairs[1]] * len(list(combinations(range(p), 2)))
        total += ways * np.exp(log_evidence(pairs, n0, n1, event))
    assert total == pytest.approx(np.exp(betaln(1 + n0, 1 + n1)), rel=1e-9)
