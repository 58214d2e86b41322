"""Effects of kept features: limits, sampling as an oracle, and coverage under selection."""

import numpy as np
import oracle
import pandas
import pytest
from scipy import stats
from scipy.special import logsumexp

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.effect_laws import quantiles
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.rate_effects import gauss_rule, rate_posteriors
from unselected.fitted.regression import FittedRegression
from unselected.fitted.standardized_effects import standardized_effect
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.models.regression import RegressionModel
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_preselected, keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.counts import ClassCounts
from unselected.statistics.line import LineStatistics
from unselected.statistics.summing import class_moments, line_moments

NONE = np.array([], dtype=int)
TAILS = np.array([0.05, 0.95])


def kept_counts(model, counts, event):
    k = counts.I0.size
    return FittedBernoulli(model, counts, event, np.full(k, 0.5), None, np.arange(2), None)


def kept_moments(model, moments, event):
    G = moments.sizes.size
    return FittedGaussian(model, moments, event, np.ones(G), np.arange(G), None)


def full_cdf(law, x):
    """P(effect <= x), the mass at 0 included."""
    x = np.broadcast_to(x, (law.mean.size, np.size(x)))
    return law.cdf(x) + law.null[:, None] * (x >= 0.0)


# --- binary features -----------------------------------------------------------------------------


def sampled_effects(counts, model, n_omitted, cut, size, rng):
    """Effects from the prior, and their weights: the likelihood of all that is known."""
    n, k = np.array([counts.n0, counts.n1]), counts.I0.size
    alpha = 1.0 / rng.gamma(model.a, 1.0 / model.b, size=size)
    theta = rng.random((size, k))
    shape = np.stack([alpha[:, None] * theta, alpha[:, None] * (1.0 - theta)])
    phi = rng.beta(*np.maximum(shape, 1e-300), size=(2, size, k))
    grid = np.geomspace(alpha.min(), 1e6, 80)
    omission = [oracle.omission_probability(*n, a, lambda value: value <= cut) for a in grid]
    log_omitted = np.interp(np.log(alpha), np.log(grid), np.log(omission))
    if model.least_fraction is not None:
        pi = model.least_fraction ** rng.random(size)
        related = rng.random((size, k)) < pi[:, None]
        phi = np.where(related, phi, theta)
        null = oracle.omission_probability(*n, 1e9, lambda value: value <= cut)
        log_omitted = np.log(pi * np.exp(log_omitted) + (1.0 - pi) * null)
    phi = np.clip(phi, 1e-12, 1.0 - 1e-12)
    ones = np.stack([counts.I0, counts.I1])[:, None, :]
    logs = ones * np.log(phi) + (n[:, None, None] - ones) * np.log1p(-phi)
    log_weights = logs.sum(axis=(0, 2)) + n_omitted * log_omitted
    return phi, np.exp(log_weights - log_weights.max())


def check_against_sample(law, sample, weights):
    """Mean and distribution function within 5 standard errors of weighted draws."""
    weights = weights / weights.sum()
    places = np.concatenate([quantiles(law, TAILS)[0], [-1e-9, 0.0, law.mean[0]]])
    for function, value in [
        (sample, law.mean[0]),
        *(((sample <= x).astype(float), full_cdf(law, x)[0, 0]) for x in places),
    ]:
        error = np.sqrt(weights**2 @ (function - value) ** 2)
        assert weights @ function == pytest.approx(value, abs=5.0 * error + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("least", [None, 0.02])
@pytest.mark.parametrize("n_omitted", [0, 40])
def test_binary_effects_agree_with_draws_from_the_prior(least, n_omitted, seed):
    model = BernoulliModel(a=2.0, b=1.0, least_fraction=least)
    counts = ClassCounts.of_two(np.array([1, 4]), np.array([6, 2]), 6, 7)
    cut = oracle.cor_squared(4, 2, 6, 7)
    kept = kept_counts(model, counts, Event(cut, n_at_most=n_omitted))
    rng = np.random.default_rng(seed)
    phi, weights = sampled_effects(counts, model, n_omitted, cut, 400_000, rng)
    pairs = list(rate_posteriors(model, counts, kept.posterior))
    for j, place in enumerate(kept.posterior.vector_of):
        check_against_sample(
            pairs[place].effects(logits=False)[0], phi[1, :, j] - phi[0, :, j], weights
        )
        logits = np.log(phi / (1.0 - phi))
        check_against_sample(
            pairs[place].effects(logits=True)[0], logits[1, :, j] - logits[0, :, j], weights
        )


def test_the_sample_would_notice_a_forgotten_event(seed):
    """Twin: the posterior of the uncorrected method, judged by draws that know of the event."""
    model = BernoulliModel(a=2.0, b=1.0)
    counts = ClassCounts.of_two(np.array([1, 4]), np.array([6, 2]), 6, 7)
    cut = oracle.cor_squared(4, 2, 6, 7)
    kept = kept_counts(model, counts, Event(cut))
    rng = np.random.default_rng(seed)
    phi, weights = sampled_effects(counts, model, 40, cut, 400_000, rng)
    pair = list(rate_posteriors(model, counts, kept.posterior))[kept.posterior.vector_of[0]]
    with pytest.raises(AssertionError):
        check_against_sample(pair.effects(logits=False)[0], phi[1, :, 0] - phi[0, :, 0], weights)


@pytest.mark.parametrize("least", [None, 0.01])
def test_the_mean_difference_is_that_of_predictions(least, seed):
    rng = np.random.default_rng(seed)
    model = BernoulliModel(least_fraction=least)
    counts = ClassCounts.of_two(rng.integers(0, 21, size=12), rng.integers(0, 16, size=12), 20, 15)
    posterior = model.condition(counts, Event())
    rates = np.exp(posterior.log_weights) @ np.exp(posterior.log_one)
    laws = [pair.effects(logits=False)[0] for pair in rate_posteriors(model, counts, posterior)]
    np.testing.assert_allclose([law.mean[0] for law in laws], rates[1] - rates[0], atol=1e-8)
    if least is not None:
        null = np.array([law.null[0] for law in laws])[posterior.vector_of]
        np.testing.assert_allclose(null, 1.0 - posterior.related, atol=1e-8)


@pytest.mark.parametrize(
    ("sizes", "places"),
    [((10, 10), (0.0, 1.0)), ((4, 20), (0.2, 0.9))],
)
def test_many_points_change_no_quantile(sizes, places, monkeypatch):
    n0, n1 = sizes
    counts = ClassCounts.of_two(
        np.array([round(places[0] * n0)]), np.array([round(places[1] * n1)]), *sizes
    )
    posterior = BernoulliModel().condition(counts, Event())

    def ends():
        (pair,) = rate_posteriors(BernoulliModel(), counts, posterior)
        return [
            quantiles(law, TAILS)[0]
            for law in (pair.effects(logits=False)[0], pair.effects(logits=True)[0])
        ]

    few = ends()
    monkeypatch.setattr("unselected.fitted.class_rates._POINTS", 100)
    monkeypatch.setattr("unselected.fitted.rate_effects._THETAS", (40, 40))
    many = ends()
    np.testing.assert_allclose(few[0], many[0], rtol=0, atol=1e-6)
    # Where a class has but one value, the log odds ratio is large and hardly known.
    tolerance = 1e-6 if 0.0 < places[0] and places[1] < 1.0 else 1e-3
    np.testing.assert_allclose(few[1], many[1], rtol=0, atol=tolerance)


def test_a_gauss_rule_has_the_moments(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.random(20), rng.dirichlet(np.ones(20), size=3)
    nodes, reduced = gauss_rule(points, weights, 6)
    for power in range(12):
        moments = np.sum(reduced * nodes**power, axis=1)
        np.testing.assert_allclose(moments, weights @ points**power, rtol=1e-10)
    assert not np.allclose(np.sum(reduced * nodes**14, axis=1), weights @ points**14, rtol=1e-12)
    one = np.eye(20)[:1]  # a law of one point
    nodes, reduced = gauss_rule(points, one, 6)
    assert np.sum(reduced * nodes, axis=1) == pytest.approx(points[0])


# --- real-valued features ------------------------------------------------------------------------


def dense_effect(moments, kappa, n_omitted, least, x):
    """P(related, effect <= x) and mean of each feature, by sums over tau, pi, effect and log s."""
    n0, n1 = moments.sizes
    n, lam = n0 + n1, 2.0 * n0 * n1 / (n0 + n1)
    nodes, masses = np.polynomial.legendre.leggauss(60)
    tau = 1.0 * (nodes + 1.0)  # half-normal with variance 1/10: nothing is beyond 2
    log_prior = np.log(masses) + stats.norm.logpdf(tau, scale=np.sqrt(0.1))
    effect = np.linspace(-8.0, 8.0, 3201)
    log_s = np.linspace(-2.5, 2.5, 301)[:, None]
    gap = moments.offset[1] - moments.offset[0]
    log_f, log_null, below, mean = [], [], [], []
    for d, within in zip(gap, moments.within, strict=True):
        squares = within + (d - effect * np.exp(log_s)) ** 2 * (n0 * n1 / n)
        logs = -(n - 1) * log_s - 0.5 * squares * np.exp(-2.0 * log_s)
        of_effect = logsumexp(logs, axis=0)
        log_null.append(of_effect[1600])  # where the effect is 0
        prior = stats.norm.logpdf(effect, scale=np.sqrt(2.0) * tau[:, None])
        # Made to sum to 1, for the smallest tau falls between two points.
        terms = of_effect + prior - logsumexp(prior, axis=1, keepdims=True)
        log_f.append(logsumexp(terms, axis=1))
        part = np.exp(terms - log_f[-1][:, None])
        # The function is smooth: half of the last term makes the sum a trapezoid.
        below.append(
            [
                part[:, effect < y - 1e-9].sum(axis=1)
                + 0.5 * part[:, np.isclose(effect, y)].sum(axis=1)
                for y in x
            ]
        )
        mean.append(part @ effect)
    log_f, log_null = np.array(log_f), np.array(log_null)
    scaled = kappa * (n - 2) / (1.0 + np.append(tau, 0.0) ** 2 * lam)
    omission = stats.f.cdf(scaled, 1, n - 2)
    pi = np.ones(1) if least is None else least ** ((np.arange(400) + 0.5) / 400)
    mixed = np.log(pi * np.exp(log_f)[:, :, None] + (1.0 - pi) * np.exp(log_null)[:, None, None])
    omitted = n_omitted * np.log(pi * omission[:-1, None] + (1.0 - pi) * omission[-1])
    log_joint = log_prior[:, None] + mixed.sum(axis=0) + omitted
    weights = np.exp(log_joint - logsumexp(log_joint))
    related = pi * np.exp(log_f)[:, :, None] / np.exp(mixed)
    of_tau = np.sum(related * weights, axis=2)
    return (
        np.einsum("kt,kxt->kx", of_tau, np.array(below)),
        np.sum(of_tau * np.array(mean), axis=1),
        1.0 - of_tau.sum(axis=1),
    )


@pytest.mark.parametrize("least", [None, 0.02])
@pytest.mark.parametrize("n_omitted", [0, 60])
def test_real_effects_agree_with_dense_sums(least, n_omitted, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), np.repeat([0, 1], (5, 7))
    X[y == 1] += [1.4, -1.0]
    moments = class_moments(X, y, 2)
    selection = keep_preselected(RealScores.of(moments), 2 + n_omitted, None, NONE)
    model = GaussianModel(least_fraction=least)
    kept = kept_moments(model, moments, selection.event)
    law = standardized_effect(kept.posterior, np.array([-1.0, 1.0]))
    x = np.array([-1.0, -0.5, 0.25, 0.6, 1.5])
    kappa = np.min(moments.between / moments.within)
    below, mean, null = dense_effect(moments, kappa, n_omitted, least, x)
    np.testing.assert_allclose(law.cdf(np.broadcast_to(x, (2, 5))), below, atol=2e-4)
    np.testing.assert_allclose(law.mean, mean, atol=2e-4)
    np.testing.assert_allclose(law.null, null, atol=2e-4)


def test_real_effects_of_several_classes_add_up_to_nothing(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(24, 50)), rng.permutation(np.arange(24) % 4)
    X[rng.random(X.shape) < 0.05] = np.nan
    effects = SelectiveGaussianNB(k=6).fit(X, y).feature_effects().effects
    assert len(effects) == 4
    for part in ("naive", "mean"):
        total = sum(getattr(effect, part) for effect in effects.values())
        np.testing.assert_allclose(total, 0.0, atol=1e-12)


def test_two_classes_as_several(seed):
    """The difference of a class from the mean of two is half of that between them."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 5)), np.repeat([0, 1], (8, 12))
    kept = kept_moments(
        GaussianModel(),
        class_moments(X, y, 2),
        RealScores.of(class_moments(X, y, 2)).nothing_omitted(),
    )
    whole = standardized_effect(kept.posterior, np.array([-1.0, 1.0]))
    half = standardized_effect(kept.posterior, np.array([-0.5, 0.5]))
    np.testing.assert_allclose(quantiles(half, TAILS), 0.5 * quantiles(whole, TAILS), atol=1e-6)


def test_a_response_with_two_values_has_the_slope_of_two_classes(seed):
    """With balanced classes, sd(y) is half of the difference; the priors differ by that too."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 4)), np.repeat([0, 1], 10)
    effects = SelectiveGaussianNB(concentration_prior=(3.0, 6.0)).fit(X, y).feature_effects()
    slopes = SelectiveNaiveRegressor(concentration_prior=(3.0, 12.0)).fit(X, y).feature_effects()
    gap, slope = effects.effects["mean_difference"], slopes.effects["standardized_slope"]
    for part in ("naive", "mean", "low", "high"):
        np.testing.assert_allclose(getattr(gap, part), 2.0 * getattr(slope, part), atol=1e-5)


@pytest.mark.parametrize("within", [1e-12, 0.0])
def test_perfect_separation_has_finite_quantiles(within):
    X = np.repeat([0.0, 1.0], 6)[:, None] + within * np.tile([0.0, 1.0], 6)[:, None]
    effects = SelectiveGaussianNB().fit(X, np.repeat([0, 1], 6)).feature_effects()
    effect = effects.effects["mean_difference"]
    assert np.all(np.isfinite([effect.mean, effect.low, effect.high]))
    assert 0.0 < effect.low[0] < effect.mean[0] < effect.high[0]


# --- quantiles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["common", "sparse"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_quantiles_invert_the_distribution_function(prior, level, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 200)), np.repeat([0, 1], 15)
    X[y == 1, :3] += 1.2
    fitted = SelectiveGaussianNB(k=12, prior=prior).fit(X, y)
    effect = fitted.feature_effects(level=level).effects["mean_difference"]
    law = standardized_effect(fitted._predictor.fitted.posterior, np.array([-1.0, 1.0]))
    for end, tail in [(effect.low, 0.5 - 0.5 * level), (effect.high, 0.5 + 0.5 * level)]:
        related = law.cdf(end[:, None])[:, 0]
        before, at = related + law.null * (end > 0.0), related + law.null * (end >= 0.0)
        assert np.all(before <= tail + 1e-7)
        assert np.all(at >= tail - 1e-7)


# --- coverage under selection --------------------------------------------------------------------


def binary_replicate(least, corrected, seed):
    """Laws of the effects of kept features, and the effects."""
    rng = np.random.default_rng(seed)
    model = BernoulliModel(a=2.0, b=4.0, least_fraction=least)
    X, y, drawn = model.simulate(16, 2000, rng, y=np.arange(16) % 2)
    counts, _ = count_classes(X, y, None)
    selection = keep_top(CountScores.of(counts), 10, "first", NONE, rng)
    event = selection.event if corrected else selection.event.emptied()
    kept = kept_counts(model, counts.take(selection.indices), event)
    pairs = list(rate_posteriors(model, kept.counts, kept.posterior))
    phi = drawn["phi"][:, selection.indices]
    for place, pair in enumerate(pairs):
        yield (
            pair.effects(logits=False)[0],
            (phi[1] - phi[0])[kept.posterior.vector_of == place][None],
        )


def real_replicate(least, corrected, seed):
    rng = np.random.default_rng(seed)
    model = GaussianModel(a=2.0, b=3.0, least_fraction=least)
    codes = np.repeat(np.eye(2), (10, 10), axis=0)
    X, drawn = model.simulate_features(codes, 300, rng)
    moments = class_moments(X, codes.argmax(axis=1), 2)
    selection = keep_top(RealScores.of(moments), 20, "first", NONE, rng)
    event = selection.event if corrected else selection.event.emptied()
    kept = kept_moments(model, moments.take(selection.indices), event)
    w = drawn["w"][:, selection.indices]
    yield standardized_effect(kept.posterior, np.array([-1.0, 1.0])), (w[1] - w[0])[:, None]


def slope_replicate(least, corrected, seed):
    rng = np.random.default_rng(seed)
    model = GaussianModel(a=2.0, b=3.0, least_fraction=least)
    y = rng.normal(size=20)
    X, drawn = model.simulate_features((y / y.std())[:, None], 300, rng)
    moments = line_moments(X, y)
    selection = keep_top(RealScores.of(moments), 20, "first", NONE, rng)
    event = selection.event if corrected else selection.event.emptied()
    statistics = LineStatistics(moments.take(selection.indices), float(y.mean()))
    kept = FittedRegression(RegressionModel(model), statistics, event, None)
    truth = drawn["w"][0, selection.indices][:, None]
    yield standardized_effect(kept.posterior.features, np.ones(1)), truth


def misses(law, truth):
    """How often effects are outside of 90 % intervals, less what is expected, and of how many.

    Where an end of an interval is 0 the mass there makes it cover more than it should: such ends
    are not counted. All others leave out 5 % each, exactly.
    """
    size = truth.size
    below = np.broadcast_to(law.cdf(np.zeros((law.mean.size, 1))), truth.shape)
    null = np.broadcast_to(law.null[:, None], truth.shape)
    related = law.cdf(truth)
    to, before = related + null * (truth >= 0.0), related + null * (truth > 0.0)
    outside, counted = 0.0, 0
    for tail, out in [(0.05, to < 0.05), (0.95, before > 0.95)]:
        exact = (null < 1e-6) | (below > tail) | (below + null < tail)
        outside += np.sum(out[exact] - 0.05)
        counted += exact.sum()
    assert counted <= 2 * size
    return outside, counted


def coverage(replicate, least, corrected, seed, n):
    """t statistic of the misses, and the share of counted ends that miss."""
    rows = []
    for number in range(n):
        each = [misses(*part) for part in replicate(least, corrected, [seed, number])]
        rows.append(np.sum(each, axis=0))
    surplus, counted = np.transpose(rows)
    t = surplus.mean() / max(surplus.std(), 1e-9) * np.sqrt(n)
    return t, surplus.sum() / max(counted.sum(), 1) + 0.05


SETTINGS = [
    (binary_replicate, None, 20),
    (binary_replicate, 1 / 2000, 14),
    (real_replicate, None, 45),
    (real_replicate, 1 / 300, 20),
    (slope_replicate, None, 45),
]


@pytest.mark.slow
@pytest.mark.parametrize(("replicate", "least", "n"), SETTINGS)
@pytest.mark.evidence
def test_intervals_of_selected_features_cover(replicate, least, n, seed):
    t, share = coverage(replicate, least, True, seed, n)
    assert abs(t) < 4.5
    assert share < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("replicate", "least", "n"), SETTINGS)
def test_without_correction_they_do_not(replicate, least, n, seed):
    t, _ = coverage(replicate, least, False, seed, n)
    assert t > 4.5


# --- the table -----------------------------------------------------------------------------------


def test_the_table_of_binary_features(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(40, 100)), np.repeat(["ill", "well"], 20)
    fitted = SelectiveBernoulliNB(k=5).fit(X, y)
    effects = fitted.feature_effects(level=0.8)
    table = effects.to_dict()
    assert len(effects) == 5
    assert effects.level == 0.8
    np.testing.assert_array_equal(table["feature"], fitted.selection_.indices)
    np.testing.assert_array_equal(table["score"], fitted.scores_)
    np.testing.assert_array_equal(table["at_cut"], fitted.scores_ == fitted.threshold_)
    assert table["at_cut"].any()
    kept = X[:, fitted.selection_.indices]
    np.testing.assert_array_equal(table["ones_in_ill"], kept[:20].sum(axis=0))
    difference = kept[20:].mean(axis=0) - kept[:20].mean(axis=0)
    np.testing.assert_allclose(table["rate_difference_naive"], difference)
    assert np.all(np.abs(table["rate_difference_mean"]) < np.abs(difference))
    assert np.all(table["rate_difference_low"] < table["rate_difference_mean"])
    assert np.all(table["rate_difference_mean"] < table["rate_difference_high"])
    assert set(map(len, table.values())) == {5}
    assert "related_probability" not in table


def test_the_table_has_names_and_the_probability_of_being_related(seed):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(30, 8))).rename(columns=lambda j: f"gene {j}")
    fitted = SelectiveGaussianNB(k=3, prior="sparse").fit(frame, np.repeat(["a", "b", "c"], 10))
    table = pd.DataFrame(fitted.feature_effects().to_dict())
    assert table["feature"].tolist() == frame.columns[fitted.selection_.indices].tolist()
    np.testing.assert_array_equal(table["related_probability"], fitted.related_probability_)
    np.testing.assert_allclose(
        table["mean_in_b"], frame.iloc[10:20, fitted.selection_.indices].mean()
    )
    assert "mean_difference_c_high" in table


@pytest.mark.parametrize("estimator", [SelectiveBernoulliNB, SelectiveGaussianNB])
def test_no_feature_kept(estimator, seed):
    X = np.random.default_rng(seed).integers(0, 2, size=(12, 4))
    with pytest.warns(UserWarning, match="No feature"):
        fitted = estimator(threshold=0.999).fit(X, np.arange(12) % 2)
    assert {len(column) for column in fitted.feature_effects().to_dict().values()} == {0}


@pytest.mark.parametrize("level", [0.0, 1.0, 90, -0.5])
def test_a_level_is_between_0_and_1(level):
    fitted = SelectiveGaussianNB().fit(np.arange(8.0)[:, None] % 3, np.arange(8) % 2)
    with pytest.raises(ValueError, match=r"level=.* between 0 and 1, for example 0\.9"):
        fitted.feature_effects(level=level)


def test_effects_are_printed_as_a_table_of_the_strongest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 100)), np.arange(40) % 2
    effects = SelectiveGaussianNB(k=100 - 5).fit(X, y).feature_effects(level=0.8)
    lines = repr(effects).splitlines()
    assert str(effects) == repr(effects)
    assert lines[0].startswith("95 features, the largest scores first;")
    assert lines[0].endswith("of probability 0.8")
    assert lines[2].split() == ["feature", "score", "naive", "mean", "low", "high"]
    assert lines[-1] == "... and 75 more"
    assert len(lines) == 3 + 20 + 1
    strongest = int(np.argmax(effects.score))
    effect = effects.effects["mean_difference"]
    parts = (effects.score, effect.naive, effect.mean, effect.low, effect.high)
    numbers = [f"{part[strongest]:.3f}" for part in parts]
    assert lines[3].split() == [str(effects.features[strongest]), *numbers]
    assert len({len(line) for line in lines[3:-1]}) == 1
    scores = [float(line.split()[1]) for line in lines[3:-1]]
    assert scores == sorted(scores, reverse=True)


def test_a_table_of_effects_fits_the_kind_of_features():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    bits = repr(SelectiveBernoulliNB(k=3, prior="sparse").fit(X > 0, y).feature_effects())
    assert bits.splitlines()[1].split() == ["rate_difference", "log_odds_ratio"]
    assert bits.splitlines()[2].split()[:3] == ["feature", "score", "related"]
    assert len(bits.splitlines()) == 3 + 3
    names = pandas.DataFrame(X, columns=[f"gene {j}" for j in range(30)])
    classes = np.array(["low", "mid", "top"])[np.arange(40) % 3]
    several = repr(SelectiveGaussianNB(k=1).fit(names, classes).feature_effects())
    assert several.splitlines()[0] == "1 feature, the largest scores first"
    effects = [f"mean_difference_{label}" for label in ("low", "mid", "top")]
    assert several.splitlines()[1].split() == effects
    assert several.splitlines()[3].startswith("gene ")
    with pytest.warns(UserWarning, match="No feature has"):
        nothing = SelectiveGaussianNB(threshold=0.99).fit(X, y)
    assert repr(nothing.feature_effects()).splitlines()[0].startswith("0 features")
