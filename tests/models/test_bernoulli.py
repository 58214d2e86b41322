import numpy as np
import oracle
import pytest
from calibration_under_selection import replicate
from scipy import stats
from scipy.special import gammainc

from unselected.datasets import make_paper_simulation
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_above, keep_preselected, keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.counts import ClassCounts

NONE = np.array([], dtype=int)


def probability(posterior, rows):
    log_joint = posterior.log_joint(rows)
    return 1.0 / (1.0 + np.exp(log_joint[:, 0] - log_joint[:, 1]))


def assert_accurate(counts, event, rows, atol=1e-9, finer=4, **prior):
    """A four times finer evaluation agrees; the posterior and the predictions are finite."""
    coarse = BernoulliModel(**prior).condition(counts, event)
    fine = BernoulliModel(**prior, refinement=finer).condition(counts, event)
    assert np.all(np.isfinite(coarse.log_joint(rows)))
    assert np.exp(coarse.log_weights).sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(
        probability(coarse, rows), probability(fine, rows), rtol=0, atol=atol
    )
    assert coarse.log_evidence == pytest.approx(fine.log_evidence, abs=1e-8, rel=1e-12)
    return coarse


@pytest.fixture(scope="module")
def simulation():
    return make_paper_simulation(n_test=60, random_state=5)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 10, 100, 1000, 10000])
@pytest.mark.parametrize("corrected", [True, False])
def test_accurate_on_the_papers_simulation(simulation, k, corrected):
    counts, _ = count_classes(simulation.X_train, simulation.y_train, None)
    selection = keep_top(CountScores.of(counts), k, "first", NONE, np.random.default_rng(0))
    event = selection.event if corrected else Event()
    rows = simulation.X_test[:, selection.indices] > 0
    assert_accurate(counts.take(selection.indices), event, rows)


def some_counts(n0, n1, p, rng, alpha=50.0):
    model = BernoulliModel()
    X, y, _ = model.simulate(n0 + n1, p, rng, alpha=alpha, y=np.arange(n0 + n1) >= n0)
    return count_classes(X, y, None)[0], X > 0


@pytest.mark.parametrize(
    ("shape", "rate", "omitted"),
    [
        (0.1, 0.01, 0),
        (0.1, 5.0, 300),
        (0.1, 1000.0, 10**7),
        (0.5, 0.01, 10**7),
        (0.5, 5.0, 0),
        (0.5, 1000.0, 300),
        (10.0, 0.01, 300),
        (10.0, 5.0, 10**7),
        (10.0, 1000.0, 0),
    ],
)
def test_accurate_with_priors_far_from_the_default(shape, rate, omitted, seed):
    counts, rows = some_counts(15, 10, 8, np.random.default_rng(seed))
    event = keep_preselected(CountScores.of(counts), 8 + omitted, None, NONE).event
    assert_accurate(counts, event, rows, a=shape, b=rate)


@pytest.mark.parametrize(("n0", "n1"), [(1, 1), (1, 2), (1, 40), (30, 1), (3, 2)])
@pytest.mark.parametrize("gamma", [0.0, 0.4, 1.0])
def test_accurate_with_classes_of_one_case_and_extreme_thresholds(n0, n1, gamma, seed):
    counts, rows = some_counts(n0, n1, 200, np.random.default_rng(seed), alpha=5.0)
    selection = keep_above(CountScores.of(counts), gamma, NONE)
    assert (gamma == 1.0) == (selection.indices.size == 0) or n0 + n1 < 4
    assert_accurate(counts.take(selection.indices), selection.event, rows[:, selection.indices])


@pytest.mark.parametrize("gamma", [0.02, 0.3, 0.6])
def test_accurate_with_ten_million_omitted(gamma, seed):
    """However odd the event is, for example ten million features all weaker than 0.02."""
    counts, rows = some_counts(40, 40, 12, np.random.default_rng(seed))
    event = Event(keep_above(CountScores.of(counts), gamma, NONE).event.cut, n_at_most=10**7)
    assert_accurate(counts, event, rows)


def dense_probability(counts, omitted, cut, rows, b):
    """Probabilities by the oracle's tables on a dense grid of alpha, in logs."""
    n0, n1 = counts.n0, counts.n1
    pairs = list(zip(counts.I0.tolist(), counts.I1.tolist(), strict=True))
    values = oracle.all_cor_squared(n0, n1)
    mask = np.array([[values[i, j] <= cut for j in range(n1 + 1)] for i in range(n0 + 1)])
    t = np.linspace(np.log(1e-5), np.log(1e9), 1001)
    log_mass = oracle.log_prior(np.exp(t), 0.5, b) + t + np.log(t[1] - t[0])
    log_mass[-1] = np.logaddexp(log_mass[-1], np.log(gammainc(0.5, b / np.exp(t[-1]))))
    log_terms = np.empty((t.size, len(rows), 2))
    for row, alpha, mass in zip(log_terms, np.exp(t), log_mass, strict=True):
        P, P_theta = oracle.joint_table(n0, n1, alpha)
        row[:] = mass + omitted * np.log(P[mask].sum())
        for (i, j), x in zip(pairs, rows.T, strict=True):
            mean = P_theta[i, j] / P[i, j]
            one = (alpha * mean + np.array([i, j])) / (alpha + np.array([n0, n1]))
            row += np.log(P[i, j]) + np.log(np.where(x[:, None], one, 1 - one))
    top = log_terms.max()
    joint = np.exp(log_terms - top).sum(axis=0)
    return joint[:, 1] / joint.sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gamma", "rate", "omitted"),
    [
        (0.1, 5.0, 3300),
        (0.08, 5.0, 350),
        (0.08, 1000.0, 10**5),
    ],
)
def test_both_modes_are_found_where_data_and_event_contradict_each_other(gamma, rate, omitted):
    """Three strong features kept by a weak cut: either nothing is related or all are constant.

    A refinement cannot show a missed mode, so that the judge is a dense grid; its gamma functions
    are good to 1e-6 for the largest alpha. A missed mode is an error of about 0.4.
    """
    counts = ClassCounts.of_two(np.array([5, 10, 12]), np.array([30, 30, 30]), 40, 40)
    cut = keep_above(CountScores.of(counts), gamma, NONE).event.cut
    rows = np.array([[True, True, True], [False, True, False]])
    posterior = BernoulliModel(b=rate).condition(counts, Event(cut, n_at_most=omitted))
    expected = dense_probability(counts, omitted, cut, rows, rate)
    np.testing.assert_allclose(probability(posterior, rows), expected, rtol=0, atol=1e-5)


def test_a_feature_that_equals_the_response_among_ten_million():
    """The null likelihood of such a feature at n = 1100 is below the smallest double, 5e-324."""
    counts = ClassCounts.of_two(np.array([0]), np.array([550]), 550, 550)
    event = keep_preselected(CountScores.of(counts), 10**7, None, NONE).event
    posterior = assert_accurate(counts, event, np.array([[True], [False]]), finer=3)
    assert probability(posterior, np.array([[True]]))[0] > 0.99


def test_without_features_the_class_frequencies_are_left():
    counts = ClassCounts.of_two(NONE, NONE, 6, 2)
    posterior = BernoulliModel().condition(counts, Event())
    rows = np.empty((3, 0), dtype=bool)
    np.testing.assert_allclose(probability(posterior, rows), 0.3, atol=1e-14)
    prior = stats.invgamma(0.5, scale=5.0)
    inside = np.exp(posterior.log_weights)[posterior.log_alpha < np.log(20)].sum()
    assert inside == pytest.approx(prior.cdf(20), abs=0.03)


def test_the_event_is_the_only_difference_between_corrected_and_not():
    counts, rows = some_counts(20, 20, 5, np.random.default_rng(0))
    event = keep_top(CountScores.of(counts), 5, "first", NONE, np.random.default_rng(0)).event
    corrected, uncorrected = (BernoulliModel().condition(counts, e) for e in (event, Event()))
    np.testing.assert_array_equal(corrected.log_joint(rows), uncorrected.log_joint(rows))
    assert corrected.log_evidence == uncorrected.log_evidence


@pytest.mark.parametrize("corrected", [True, False])
def test_agrees_with_the_direct_sum_over_the_grid(corrected, seed):
    """The oracle: full tables of (I0, I1), 1500 nodes of alpha, the event as a masked sum."""
    counts, rows = some_counts(12, 17, 30, np.random.default_rng(seed), alpha=10.0)
    selection = keep_top(CountScores.of(counts), 4, "first", NONE, np.random.default_rng(seed))
    a, b, cut = selection.event.n_below, selection.event.n_at_most, selection.event.cut
    assert a + b == 26

    def event(alpha):
        if not corrected:
            return 1.0
        below = oracle.omission_probability(12, 17, alpha, lambda value: value < cut)
        at_most = oracle.omission_probability(12, 17, alpha, lambda value: value <= cut)
        return below**a * at_most**b

    kept, rows = counts.take(selection.indices), rows[:6, selection.indices]
    pairs = list(zip(kept.I0, kept.I1, strict=True))
    joint = oracle.evidence_by_class(pairs, rows, 12, 17, event) * np.array([13, 18])
    posterior = BernoulliModel().condition(kept, selection.event if corrected else Event())
    np.testing.assert_allclose(
        probability(posterior, rows), joint[:, 1] / joint.sum(axis=1), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(("n0", "n1"), [(100, 100), (7, 60)])
def test_table_and_pairs_agree(n0, n1, monkeypatch, seed):
    """Two ways to the same numbers: one table of all counts, or each pair by itself in logs."""
    counts, rows = some_counts(n0, n1, 300, np.random.default_rng(seed))
    event = keep_preselected(CountScores.of(counts), 5000, 0.01, NONE).event
    log_joints = []
    for fewest in (0, 10**9):
        monkeypatch.setattr("unselected.models.count_terms._FEWEST_PAIRS_BY_TABLE", fewest)
        posterior = BernoulliModel().condition(counts, event)
        log_joints.append(posterior.log_joint(rows))
    np.testing.assert_allclose(*log_joints, rtol=1e-11)


def test_the_papers_grid_is_the_papers():
    """30 prior quantiles of alpha and Simpson's rule, written down again."""
    counts, _ = some_counts(10, 12, 6, np.random.default_rng(3))
    posterior = BernoulliModel(quadrature="paper").condition(counts, Event())
    alpha = stats.invgamma(0.5, scale=5.0).ppf((np.arange(30) + 0.5) / 30)
    np.testing.assert_allclose(np.exp(posterior.log_alpha), alpha, rtol=1e-10)
    theta = np.linspace(0, 1, 21)
    simpson = np.array([1, *[4, 2] * 9, 4, 1]) / 60
    log_likelihood = []
    for value in alpha:
        inner = slice(1, -1)  # at theta = 0 and 1 the features are constant
        B0, B1 = (oracle.beta_binomial(n, theta[inner], value) for n in (10, 12))
        ends = [np.where((counts.I0 == 0) & (counts.I1 == 0), 1.0, 0.0)]
        ends.append(np.where((counts.I0 == 10) & (counts.I1 == 12), 1.0, 0.0))
        per_feature = simpson[inner] @ (B0[:, counts.I0] * B1[:, counts.I1])
        per_feature = per_feature + simpson[0] * (ends[0] + ends[1])
        log_likelihood.append(np.log(per_feature).sum())
    weights = np.exp(log_likelihood - np.max(log_likelihood))
    np.testing.assert_allclose(np.exp(posterior.log_weights), weights / weights.sum(), rtol=1e-9)


def test_the_papers_grid_is_visibly_coarse(simulation):
    """The largest error of a probability at k = 1000 was measured as 0.144: it is no rounding."""
    counts, _ = count_classes(simulation.X_train, simulation.y_train, None)
    selection = keep_top(CountScores.of(counts), 1000, "first", NONE, np.random.default_rng(0))
    rows = simulation.X_test[:, selection.indices] > 0
    kept = counts.take(selection.indices)
    exact, paper = (
        probability(BernoulliModel(quadrature=q).condition(kept, selection.event), rows)
        for q in ("exact", "paper")
    )
    assert 1e-3 < np.max(np.abs(exact - paper)) < 0.3


def test_the_papers_grid_with_forty_thousand_cases():
    """Where blocks of nodes are so short that one holds only theta = 0 and 1."""
    counts = ClassCounts.of_two(np.array([9000]), np.array([11000]), 20000, 20000)
    posterior = BernoulliModel(quadrature="paper").condition(counts, Event())
    assert np.all(np.isfinite(posterior.log_weights))


def test_simulate_draws_from_the_model(seed):
    """Moments: P(x = 1) = 1/2, and the classes' rates differ by 2 theta(1-theta)/(alpha + 1)."""
    rng = np.random.default_rng(seed)
    model = BernoulliModel(a=3.0, b=12.0)
    X, y, parameters = model.simulate(40, 4000, rng, alpha=4.0)
    assert X.shape == (40, 4000)
    assert set(np.unique(X)) == {0, 1}
    assert set(np.unique(y)) <= {0, 1}
    phi = parameters["phi"]
    difference = np.mean((phi[0] - phi[1]) ** 2)
    assert difference == pytest.approx(2 / 6 / 5, rel=0.12)
    rates = X[y == 1].mean(axis=0)
    assert np.corrcoef(rates, phi[1])[0, 1] > 0.8
    draws = [model.simulate(2, 1, rng)[2]["alpha"] for _ in range(400)]
    assert stats.kstest(draws, stats.invgamma(3.0, scale=12.0).cdf).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("ties", "ploidy"), [("first", 1), ("random", 1), ("first", 2)])
@pytest.mark.evidence
def test_calibrated_under_selection(ties, ploidy, seed):
    """Ranks of the true alpha are uniform; the uncorrected twin fails the same test."""
    rng = np.random.default_rng([seed, 1])
    model = BernoulliModel(a=2.0, b=30.0, ploidy=ploidy)
    drawn = [replicate(model, ties, rng) for _ in range(70)]
    ranks = np.transpose([one.ranks for one in drawn])
    corrected, uncorrected = (stats.kstest(row, "uniform").pvalue for row in ranks)
    assert corrected > 1e-4
    assert uncorrected < 1e-4
    # So are the predictions: what they promise is what comes, up to Monte Carlo error.
    gaps = np.array([one.gaps for one in drawn])
    z = np.mean(gaps, axis=0) / (np.std(gaps, axis=0) / np.sqrt(len(gaps)))
    assert abs(z[0]) < 4
    assert z[1] < -4
