import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import real_oracle as oracle
from scipy import stats

from unselected.models import regression_posterior, regression_two_groups
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_likelihood import RealLikelihood
from unselected.models.regression_laws import FeatureLines, log_product
from unselected.models.regression_posterior import RegressionPosterior
from unselected.models.regression_two_groups import TwoGroupRegression
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_top
from unselected.statistics.summing import line_moments

NONE = np.array([], dtype=int)


def fitted(k, seed, *, n=25, p=60, tau=0.5, missing=0.0, shrinkage=0.0, refinement=1):
    """A posterior, the kept columns of training and of new cases, and their responses."""
    rng = np.random.default_rng(seed)
    y = rng.normal(7.0, 3.0, size=n + 8)
    train = y[:n]
    X, _ = GaussianModel().simulate_features((y / train.std())[:, None], p, rng, tau=tau)
    X[rng.random(X.shape) < missing] = np.nan
    moments = line_moments(X[:n], train)
    selection = keep_top(RealScores.of(moments), k, "first", NONE, rng)
    model = GaussianModel(shrinkage=shrinkage, refinement=refinement)
    features = model.condition(moments.take(selection.indices).contrasts(), selection.event)
    posterior = RegressionPosterior(features, n, float(train.mean()), moments.unit)
    return posterior, X[:n, selection.indices], train, X[n:, selection.indices], y[n:]


def two_groups(posterior):
    """The same with two groups of features."""
    nodes = posterior.features
    model = replace(nodes.model, least_fraction=0.01)
    features = model.condition(nodes.contrasts, nodes.event)
    return TwoGroupRegression(features, posterior.n, posterior.y_mean, posterior.unit)


def one(posterior, row):
    ((_, predictive),) = posterior.predictive(row[None])
    return predictive


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("shrinkage", [0.0, 3.0])
def test_density_is_the_product_of_dense_algebra(missing, shrinkage, seed):
    """Student t of y times, for each node, ratios of dense marginals of the features."""
    posterior, X, y, X_new, _ = fitted(3, seed, missing=missing, shrinkage=shrinkage)
    codes = oracle.codes_of(y, real=True)
    nodes = posterior.features
    at = np.array([y.mean() - 2.0, y.mean() + 1.0])
    scale = y.std(ddof=1) * np.sqrt(1 + 1 / y.size)
    expected = np.empty(2)
    for i, value in enumerate(at):
        logs = nodes.log_weights.copy()
        for node, (log_alpha, log_v) in enumerate(
            zip(nodes.log_alpha, nodes.log_variance, strict=True)
        ):
            variance = {"d": shrinkage, "variance": np.exp(log_v)} if shrinkage else {}
            if logs[node] < -25.0:
                logs[node] = -np.inf
                continue
            for x, new in zip(X.T, X_new[0], strict=True):
                if not np.isnan(new):
                    code = np.array([value / y.std()])
                    logs[node] += oracle.log_new(
                        new, x, code, codes, np.exp(-log_alpha), **variance
                    )
        expected[i] = np.logaddexp.reduce(logs) + stats.t(y.size - 1, y.mean(), scale).logpdf(value)
    rows = np.repeat(X_new[:1], 2, axis=0)
    ours = posterior.log_density(rows, at)
    assert ours[1] - ours[0] == pytest.approx(expected[1] - expected[0], abs=1e-5)


@pytest.mark.parametrize("k", [1, 5, 40])
@pytest.mark.parametrize(("n", "missing"), [(5, 0.0), (25, 0.0), (25, 0.15), (80, 0.0)])
def test_integrals_agree_with_a_fine_plain_sum(k, n, missing, seed):
    posterior, _, _, X_new, y_new = fitted(k, seed, n=n, missing=missing)
    for row, y in zip(X_new[:2], y_new[:2], strict=True):
        predictive = one(posterior, row)
        mean, std = (float(value[0]) for value in predictive.mean_and_std())
        # Equal steps in t, the values mean + std (t + t^3): fine in the middle, and far out.
        t = np.linspace(-30.0, 30.0, 6001)
        values, widths = mean + std * (t + t**3), std * (1 + 3 * t**2) * (t[1] - t[0])
        # Not through log_density, which would normalize every one of these rows.
        log_density = posterior._log_joint(row[None], values[None])[0] - predictive.log_total[0]
        weights = np.exp(log_density) * widths
        assert posterior.log_density(row[None], values[3000:3001]) == pytest.approx(
            log_density[3000], abs=1e-9
        )
        assert weights.sum() == pytest.approx(1.0, abs=1e-8)
        assert mean == pytest.approx(weights @ values, abs=1e-6 * std)
        assert std == pytest.approx(np.sqrt(weights @ (values - mean) ** 2), rel=1e-6)
        below = np.interp(y, values, np.cumsum(weights) - 0.5 * weights)
        assert predictive.cdf(np.array([[y]]))[0, 0] == pytest.approx(below, abs=1e-4)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_a_finer_evaluation_of_tau_changes_nothing(k, seed):
    (coarse, *_, X_new, y_new), (fine, *_) = (fitted(k, seed, refinement=r) for r in (1, 5))
    np.testing.assert_allclose(
        coarse.log_density(X_new, y_new), fine.log_density(X_new, y_new), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        coarse.mean_and_std(X_new), fine.mean_and_std(X_new), rtol=0, atol=1e-8
    )


def test_quantiles_invert_the_distribution_function(seed):
    posterior, *_, X_new, _ = fitted(5, seed)
    levels = np.array([1e-6, 0.05, 0.3, 0.5, 0.95, 1 - 1e-6])
    values = posterior.quantiles(X_new, levels)
    assert np.all(np.diff(values, axis=1) > 0)
    for value, level in zip(values.T, levels, strict=True):
        np.testing.assert_allclose(posterior.cdf(X_new, value), level, atol=1e-9)


def test_without_features_the_law_is_students(seed):
    y = fitted(1, seed)[2]
    empty = GaussianModel().condition(
        line_moments(np.zeros((y.size, 1)) + np.arange(y.size)[:, None], y).take(NONE).contrasts(),
        RealScores.of(line_moments(np.arange(y.size)[:, None] * 1.0, y)).nothing_omitted(),
    )
    posterior = RegressionPosterior(empty, y.size, float(y.mean()), float(y.std()))
    law = stats.t(y.size - 1, y.mean(), y.std(ddof=1) * np.sqrt(1 + 1 / y.size))
    predictive = one(posterior, np.empty(0))
    levels = np.array([0.001, 0.2, 0.9])
    np.testing.assert_allclose(predictive.quantiles(levels)[0], law.ppf(levels), rtol=1e-7)
    mean, std = predictive.mean_and_std()
    assert mean[0] == pytest.approx(law.mean(), rel=1e-9)
    assert std[0] == pytest.approx(law.std(), rel=1e-8)


def test_two_features_that_contradict_each_other_give_two_peaks():
    """Both peaks are found, and the integral is that of a fine plain sum."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    X = np.column_stack([y, y]) + 0.05 * rng.normal(size=(60, 2))
    moments = line_moments(X, y)
    event = RealScores.of(moments).nothing_omitted()
    model = GaussianModel(a=0.5, b=0.001)  # tau may be large, so that the features are trusted
    posterior = RegressionPosterior(
        model.condition(moments.contrasts(), event), 60, float(y.mean()), float(y.std())
    )
    row = np.array([-2.0, 2.0])
    grid = np.linspace(-6, 6, 4001)
    log_total = one(posterior, row).log_total[0]
    density = np.exp(posterior._log_joint(row[None], grid[None])[0] - log_total)
    middle, left, right = (density[np.argmin(np.abs(grid - at))] for at in (0.0, -2.0, 2.0))
    assert min(left, right) > 2 * middle
    assert density.sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-6)
    std = one(posterior, row).mean_and_std()[1][0]
    assert std == pytest.approx(
        np.sqrt(np.average((grid - np.average(grid, weights=density)) ** 2, weights=density)),
        rel=1e-4,
    )


def test_a_row_does_not_depend_on_its_company(seed):
    posterior, *_, X_new, y_new = fitted(6, seed)
    together = posterior.log_density(X_new, y_new)
    alone = [posterior.log_density(X_new[i : i + 1], y_new[i : i + 1])[0] for i in range(8)]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-10)


def test_units_of_the_response_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    y, X = rng.normal(size=30), rng.normal(size=(30, 4))
    X += 0.5 * y[:, None]
    results = []
    for scale, shift in ((1.0, 0.0), (-1e6, 1e7)):
        moved = scale * y + shift
        moments = line_moments(X, moved)
        features = GaussianModel().condition(
            moments.contrasts(), RealScores.of(moments).event_before(0.3, NONE, 100)
        )
        posterior = RegressionPosterior(features, 30, float(moved.mean()), moments.unit)
        mean, std = one(posterior, X[0]).mean_and_std()
        results.append([(mean[0] - shift) / scale, std[0] / abs(scale)])
    np.testing.assert_allclose(*results, rtol=1e-7)


def test_rows_far_out_and_rows_without_values(seed):
    posterior, _, y, _, _ = fitted(4, seed)
    rows = np.array([[np.nan] * 4, [1e300, -1e300, 1e308, 0.0], [50.0, 50.0, 50.0, 50.0]])
    mean, std = posterior.mean_and_std(rows)
    assert np.all(np.isfinite(mean) & np.isfinite(std) & (std > 0))
    assert mean[0] == pytest.approx(y.mean(), abs=1e-6)


def plain_log_density(posterior, row, y, log_u):
    """Sums over a fine grid of log tau^2 and a fine grid of y, both wide: no nodes, no peaks."""
    features = posterior.features
    likelihood = RealLikelihood(features.model, features.contrasts, features.event)
    log_prior = features.model.a * log_u - features.model.b * np.exp(log_u)
    nodes = replace(
        features,
        log_alpha=-log_u,
        log_weights=log_prior + likelihood.log_total(log_u),
        log_at_most=log_u,
        log_variance=np.full(log_u.size, -np.inf),
    )
    log_joint = replace(posterior, features=nodes)._log_joint(row[None], y[None])[0]
    return log_joint - np.logaddexp.reduce(log_joint) - np.log(y[1] - y[0])


@pytest.mark.parametrize("scale", [1.0, 4.0, 30.0])
def test_rows_far_from_the_training_cases_reach_other_values_of_tau(scale, seed):
    """Forty features that all lie far out: the nodes laid for the training cases do not do."""
    posterior, *_, X_new, _ = fitted(40, seed, n=50, p=100, tau=0.3)
    row = scale * X_new[0]
    mean, std = (value[0] for value in posterior.mean_and_std(row[None]))
    y = mean + std * np.linspace(-40.0, 40.0, 1601)
    log_u = np.linspace(-40.0, 3.0, 2151)
    expected = plain_log_density(posterior, row, y, log_u)
    some = np.arange(700, 901, 25)
    ours = posterior.log_density(np.tile(row, (some.size, 1)), y[some])
    np.testing.assert_allclose(ours, expected[some], rtol=0, atol=1e-6)


def test_features_that_all_but_equal_the_response_and_a_row_far_out():
    """A scan of y has a second maximum far down: it must neither matter nor be in the way."""
    rng = np.random.default_rng(1050)
    n, k = 50, 300
    y = rng.normal(size=n)
    signs = rng.choice([-1.0, 1.0], k)
    X = y[:, None] * signs + 0.01 * rng.normal(size=(n, k))
    moments = line_moments(X, y)
    event = RealScores.of(moments).nothing_omitted()
    posterior = RegressionPosterior(
        GaussianModel().condition(moments.contrasts(), event), n, float(y.mean()), moments.unit
    )
    row = 10 * (signs * 0.7 + 0.01 * rng.normal(size=k))
    mean, std = (value[0] for value in posterior.mean_and_std(row[None]))
    grid = mean + std * np.linspace(-15.0, 15.0, 301)
    log_u = np.linspace(-10.0, 12.0, 1101)
    density = np.exp(plain_log_density(posterior, row, grid, log_u))
    weights = density / density.sum()
    assert weights @ grid == pytest.approx(mean, abs=1e-6 * std)
    assert np.sqrt(weights @ (grid - mean) ** 2) == pytest.approx(std, rel=1e-5)


def test_three_cases_and_no_feature_have_no_variance():
    posterior, *_ = fitted(1, 0, n=3, p=3)
    mean, std = posterior.mean_and_std(np.array([[np.nan], [0.3]]))
    assert std[0] == np.inf
    assert np.isfinite(std[1])
    assert np.all(np.isfinite(mean))


def test_densities_beyond_all_reason_fall_like_a_power(seed):
    """25 cases give |y|^-25, and the features, which tau = 0 takes out of it, one power more."""
    posterior, _, _, X_new, _ = fitted(4, seed)
    far = np.array([1e20, 1e28, 1e40, 1e300, -1e300])
    logs = posterior.log_density(np.repeat(X_new[:1], 5, axis=0), far)
    assert np.all(np.isfinite(logs))
    slopes = np.diff(logs[:4]) / np.diff(np.log(far[:4]))
    np.testing.assert_allclose(slopes, -26.0, rtol=2e-3)


def test_many_rows_with_few_cases_take_little_memory():
    """Three cases have long tails, and so many points: quantiles must not take their square."""
    posterior, *_, X_new, _ = fitted(2, 0, n=3, p=5)
    tracemalloc.start()
    posterior.quantiles(np.tile(X_new, (10, 1)), [0.05, 0.5, 0.95])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def moments_and_density(posterior, X, y):
    return [*posterior.mean_and_std(X), posterior.log_density(X, y)]


# Each pair of a share of missing values, a tau and a kind of model.
@pytest.mark.parametrize(
    ("missing", "tau", "grouped"),
    [(0.0, 0.0, False), (0.1, 0.5, False), (0.0, 0.5, True), (0.1, 0.0, True)],
)
def test_few_nodes_predict_what_all_nodes_predict(missing, tau, grouped, seed, monkeypatch):
    tolerance = 3e-7 if grouped else 1e-11
    posterior, *_, X_new, y_new = fitted(6, seed, n=40, tau=tau, missing=missing)
    posterior = two_groups(posterior) if grouped else posterior
    rows = np.vstack([X_new, 30.0 * X_new[:1]])  # the last is far out
    y = np.append(y_new, y_new[:1])
    quick = moments_and_density(posterior, rows, y)
    few = posterior._on_few_nodes[-1]
    agreeing = [
        row
        for some, part in few._summed(rows, few._grid_rule)
        for row in some[posterior._agrees_with(part, rows[some])]
    ]
    assert len(agreeing) > 4
    monkeypatch.setattr(regression_posterior, "_FEWEST_CASES", np.inf)
    for ours, expected in zip(quick, moments_and_density(posterior, rows, y), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance)


def test_too_few_nodes_are_noticed(seed, monkeypatch):
    posterior, *_, X_new, y_new = fitted(6, seed, n=40, tau=0.3)
    expected = moments_and_density(posterior, X_new, y_new)
    monkeypatch.setattr(RegressionPosterior, "_n_few", (1,))
    noticed = moments_and_density(replace(posterior), X_new, y_new)
    np.testing.assert_allclose(noticed, expected, rtol=0, atol=1e-9)
    monkeypatch.setattr(RegressionPosterior, "_agreement", np.inf)
    wrong = moments_and_density(replace(posterior), X_new, y_new)
    assert np.max(np.abs(np.subtract(wrong, expected))) > 1e-4


def test_too_few_nodes_of_two_groups_are_noticed(seed, monkeypatch):
    """By a row that is made up; without that by each row; without both predictions are wrong."""
    posterior, *_, X_new, y_new = fitted(6, seed, n=40, tau=0.3)
    posterior = two_groups(posterior)
    expected = moments_and_density(posterior, X_new, y_new)
    monkeypatch.setattr(TwoGroupRegression, "_n_few", (1,))
    again = replace(posterior)
    assert again._on_few_nodes == [again._judging]
    few = RegressionPosterior._on_few_nodes.func
    monkeypatch.setattr(TwoGroupRegression, "_on_few_nodes", property(few))
    noticed = moments_and_density(replace(posterior), X_new, y_new)
    np.testing.assert_allclose(noticed, expected, rtol=0, atol=3e-7)
    monkeypatch.setattr(TwoGroupRegression, "_agreement", np.inf)
    wrong = moments_and_density(replace(posterior), X_new, y_new)
    assert np.max(np.abs(np.subtract(wrong, expected))) > 1e-4


def test_nodes_that_others_are_compared_with_agree_with_all(seed, monkeypatch):
    posterior, *_ = fitted(6, seed, n=40, tau=0.3)
    posterior = two_groups(posterior)
    assert posterior._judging is not posterior
    monkeypatch.setattr(regression_two_groups, "_N_JUDGING", (2, 3))
    again = replace(posterior)
    assert again._judging is again
    assert not again._on_few_nodes


@pytest.mark.parametrize(("n", "k"), [(25, 6), (40, 60)])
def test_two_groups_on_few_nodes_give_the_distribution_on_all(n, k, seed, monkeypatch):
    posterior, *_, X_new, y_new = fitted(k, seed, n=n, p=200, tau=0.4)
    posterior = two_groups(posterior)
    levels = [0.001, 0.05, 0.5, 0.99]
    far = y_new + 3.0 * posterior.unit

    def answers():
        quantiles = posterior.quantiles(X_new, levels)
        return quantiles, posterior.cdf(X_new, y_new), posterior.log_density(X_new, far)

    quick = answers()
    monkeypatch.setattr(regression_posterior, "_FEWEST_CASES", np.inf)
    for ours, expected in zip(quick, answers(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)


def test_mass_at_the_ends_of_the_nodes_is_noticed(seed):
    """With half of the values of tau, or of the fractions of each tau, no row is to be trusted."""
    posterior, *_, X_new, y_new = fitted(6, seed, n=40, tau=0.3)
    posterior = two_groups(posterior)
    nodes, y = posterior.features, np.repeat(y_new[:, None], 2, axis=1)
    place = np.arange(nodes.alpha_of.size) - nodes.starts[nodes.alpha_of]
    share = place / np.bincount(nodes.alpha_of)[nodes.alpha_of]
    for some, expected in (
        (share >= 0, 0),
        (nodes.alpha_of < nodes.starts.size // 2, 8),
        (share < 0.5, 8),
    ):
        part = replace(posterior, features=nodes.some_nodes(np.flatnonzero(some)))
        assert part._judged(X_new, y)[1].sum() == expected


@pytest.mark.parametrize("m", [1, 3, 40])
@pytest.mark.parametrize("farthest", [2.0, 1e4])
@pytest.mark.parametrize("n_features", [3, 300])
def test_products_of_features_are_sums_of_their_logs(m, farthest, n_features, seed):
    """At few points and at many, near and far; far out the quadratic terms are large."""
    posterior, *_, X_new, _ = fitted(n_features, seed, p=400, missing=0.0)
    laws = FeatureLines.of(posterior.features)
    X = np.where(np.random.default_rng(seed).random(X_new.shape) < 0.1, np.nan, X_new)
    gaps, known = posterior._gaps(X)
    f = np.sort(farthest * np.random.default_rng(seed).uniform(-1.0, 1.0, size=(8, m)), axis=1)
    expected = np.zeros((8, m, laws.slope.shape[1]))
    for j in range(n_features):
        at = f[:, :, None]
        factor = laws.squares[j] * (laws.one[j] + laws.share[j] * at**2)
        factor += (gaps[:, j, None, None] - laws.slope[j] * at) ** 2
        expected += np.log(factor) * known[:, j, None, None]
    np.testing.assert_allclose(log_product(laws, gaps, known, f), expected, rtol=1e-12, atol=1e-10)
