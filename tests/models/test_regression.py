import numpy as np
import pytest
import real_oracle as oracle
from scipy import stats

from unselected.models.gaussian import GaussianModel
from unselected.models.regression import RegressionPosterior
from unselected.moments import line_moments
from unselected.scores import RealScores
from unselected.selection import keep_top

NONE = np.array([], dtype=int)


def fitted(k, seed, *, n=25, p=60, tau=0.5, missing=0.0, shrinkage=0.0, refinement=1):
    """A posterior, the kept columns of training and of new cases, and their responses."""
    rng = np.random.default_rng(seed)
    y = rng.normal(7.0, 3.0, size=n + 8)
    train = y[:n]
    X, _ = GaussianModel().simulate((y / train.std())[:, None], p, rng, tau=tau)
    X[rng.random(X.shape) < missing] = np.nan
    moments = line_moments(X[:n], train)
    selection = keep_top(RealScores.of_line(moments), k, "first", NONE, rng)
    model = GaussianModel(shrinkage=shrinkage, refinement=refinement)
    features = model.condition(moments.take(selection.indices).contrasts(), selection.event)
    posterior = RegressionPosterior(features, n, float(train.mean()), moments.unit)
    return posterior, X[:n, selection.indices], train, X[n:, selection.indices], y[n:]


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
    for p, q in zip(coarse.predictive(X_new), fine.predictive(X_new), strict=True):
        np.testing.assert_allclose(p[1].mean_and_std(), q[1].mean_and_std(), rtol=0, atol=1e-8)


def test_quantiles_invert_the_distribution_function(seed):
    posterior, *_, X_new, _ = fitted(5, seed)
    levels = np.array([1e-6, 0.05, 0.3, 0.5, 0.95, 1 - 1e-6])
    for _, predictive in posterior.predictive(X_new):
        values = predictive.quantiles(levels)
        assert np.all(np.diff(values, axis=1) > 0)
        np.testing.assert_allclose(predictive.cdf(values), np.tile(levels, (8, 1)), atol=1e-9)


def test_without_features_the_law_is_students(seed):
    y = fitted(1, seed)[2]
    empty = GaussianModel().condition(
        line_moments(np.zeros((y.size, 1)) + np.arange(y.size)[:, None], y).take(NONE).contrasts(),
        RealScores.of_line(line_moments(np.arange(y.size)[:, None] * 1.0, y)).nothing_omitted(),
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
    event = RealScores.of_line(moments).nothing_omitted()
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
            moments.contrasts(), RealScores.of_line(moments).event_before(0.3, NONE, 100)
        )
        posterior = RegressionPosterior(features, 30, float(moved.mean()), moments.unit)
        mean, std = one(posterior, X[0]).mean_and_std()
        results.append([(mean[0] - shift) / scale, std[0] / abs(scale)])
    np.testing.assert_allclose(*results, rtol=1e-7)


def test_rows_far_out_and_rows_without_values(seed):
    posterior, _, y, _, _ = fitted(4, seed)
    rows = np.array([[np.nan] * 4, [1e300, -1e300, 1e308, 0.0], [50.0, 50.0, 50.0, 50.0]])
    ((_, predictive),) = posterior.predictive(rows)
    mean, std = predictive.mean_and_std()
    assert np.all(np.isfinite(mean) & np.isfinite(std) & (std > 0))
    assert mean[0] == pytest.approx(y.mean(), abs=1e-6)
