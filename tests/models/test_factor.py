"""The factor model: closed forms against dense algebra, the chain against the prior."""

from dataclasses import replace

import numpy as np
import pytest
from factor_checks import factor_replicate, geweke
from real_oracle import codes_of, log_marginal, log_new
from scipy import stats
from scipy.special import ndtr

from unselected.models.factor import FactorModel, FactorPosterior
from unselected.models.factor_columns import (
    ColumnsGivenFactors,
    Lines,
    ProbitGivenFactors,
    ProbitResponse,
)
from unselected.models.factor_sampler import (
    FactorLaw,
    FactorState,
    canonical_turn,
    multiple_correlation,
)
from unselected.numerics.chains import ChainSettings, Draws
from unselected.numerics.kernels import kernels_for_chains
from unselected.numerics.slice_sampling import elliptical_step, slice_step
from unselected.omission.factor import FactorOmission
from unselected.selection.events import RealEvent
from unselected.statistics.rows import KeptRows

CHAINS = ChainSettings(n_chains=2, n_draws=8, n_warmup=4)


def drawn(model, X, y, event, chains=CHAINS):
    return replace(model, chains=chains).condition(KeptRows(X, y), event)


def event_of(cut, n_omitted):
    return RealEvent(cut, "|COR|", np.ones((1, 1)), np.ones(1), np.array([n_omitted]))


# Given the factors


@pytest.mark.parametrize("real", [True, False])
def test_codes_as_factors_are_the_independent_model(real, seed):
    """Likelihood of tau, and prediction of new values: by dense algebra, and by draws."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=15) if real else rng.permutation(np.arange(15) % 2)
    codes = codes_of(y, real)
    x = 2.0 * codes @ rng.normal(size=codes.shape[1]) + rng.normal(3.0, 2.0, size=15)
    given = ColumnsGivenFactors(x[:, None], codes)
    u = np.array([0.0, 0.05, 0.4, 3.0])
    dense = np.array([log_marginal(x, codes, value) for value in u])
    np.testing.assert_allclose(np.diff(given.log_likelihood(u)), np.diff(dense), rtol=1e-9)
    # A Student t density, by averaging normal ones over draws.
    code, x_new, draws = codes[3], x.mean() + 1.0, []
    for _ in range(6000):
        lines = given.draw(0.4, rng)
        center = lines.intercept[0] + lines.loadings[0] @ code
        draws.append(stats.norm.pdf(x_new, center, np.sqrt(lines.variance[0])))
    error = 4.5 * np.std(draws) / np.sqrt(len(draws))
    assert np.mean(draws) == pytest.approx(np.exp(log_new(x_new, x, code, codes, 0.4)), abs=error)
    assert abs(np.mean(draws) - np.exp(log_new(x_new, x, code, codes, 0.0))) > error


def test_the_probit_given_factors_is_dense_algebra(seed):
    rng = np.random.default_rng(seed)
    w, Z = rng.normal(1.0, 1.0, size=9), rng.normal(size=(9, 2))
    given, u = ProbitGivenFactors(w, Z), np.array([0.0, 0.1, 2.0])
    covariances = [np.eye(9) + 1.0 + value * Z @ Z.T for value in u]
    dense = [stats.multivariate_normal.logpdf(w, cov=c) for c in covariances]
    np.testing.assert_allclose(np.diff(given.log_likelihood(u)), np.diff(dense), rtol=1e-9)
    assert given.squares(2.0) == pytest.approx(w @ np.linalg.solve(covariances[2], w))
    drawn = [given.draw(2.0, rng) for _ in range(4000)]
    found = np.array([[d.intercept[0], *d.loadings[0]] for d in drawn])
    design = np.column_stack([np.ones(9), Z])
    covariance = np.linalg.inv(design.T @ design + np.diag([1.0, 0.5, 0.5]))
    errors = np.sqrt(np.diag(covariance) / 4000)
    assert np.all(np.abs(found.mean(axis=0) - covariance @ design.T @ w) < 4.5 * errors)
    assert np.all(np.abs(found.var(axis=0) / np.diag(covariance) - 1.0) < 0.12)


def test_latent_normals_have_the_signs_of_their_classes_however_unlikely(seed):
    y = np.array([0.0, 1.0, 0.0, 1.0])
    lines = Lines(np.zeros(1), np.array([[1.0]]), np.ones(1))
    Z = np.array([[300.0], [-300.0], [1.0], [-1.0]])
    w = ProbitResponse(y).renew(Z, 1.0, lines, np.random.default_rng(seed))
    assert np.all((w > 0.0) == (y > 0.5))
    assert np.all(np.isfinite(w))


def test_factors_given_parameters_are_dense_algebra(seed):
    rng = np.random.default_rng(seed)
    loadings, beta, s2 = rng.normal(size=(4, 2)), rng.normal(size=(1, 2)), rng.gamma(2.0, size=4)
    X, column = rng.normal(size=(6, 4)), rng.normal(size=6)

    def law_of(scale):
        lines = Lines(np.ones(4), scale * loadings, s2), Lines(np.zeros(1), beta, np.full(1, 0.5))
        return FactorLaw(X, FactorState(np.zeros((6, 2)), 0.0, 0.0, column, *lines))

    both, noise = np.vstack([loadings, beta]), np.append(s2, 0.5)
    table = np.column_stack([X - 1.0, column])
    covariance = both @ both.T + np.diag(noise)
    np.testing.assert_allclose(law_of(1.0).center, table @ np.linalg.solve(covariance, both))
    logs = []
    for scale in (1.0, 1.3):
        scaled = np.vstack([scale * loadings, beta])
        cov = scaled @ scaled.T + np.diag(noise)
        logs.append(stats.multivariate_normal.logpdf(table, cov=cov).sum())
    gain = law_of(1.3).log_marginal - law_of(1.0).log_marginal
    assert gain == pytest.approx(logs[1] - logs[0])


# The chain


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["real", "classes"])
@pytest.mark.evidence
def test_geweke(kind, seed):
    """Data and parameters drawn in turn come to the prior; not so where the event is forgotten."""
    scores = geweke(kind, 200, 10_000, seed)
    assert np.max(np.abs(scores.right)) < 4.5
    assert np.max(np.abs(scores.twin)) > 4.5


@pytest.mark.slow
@pytest.mark.evidence
def test_calibration_under_selection(seed):
    """The true tau is anywhere among the draws; the uncorrected twin's draws are too large.

    The prior is wide, so that eleven replicates tell the twin from the right one.
    """
    drawn = [
        factor_replicate("real", 40, np.random.default_rng([seed, r]), a=1.0, b=20.0)
        for r in range(11)
    ]
    right, twin = np.mean([one.ranks for one in drawn], axis=0)
    bound = 4.0 * np.sqrt(1.0 / 12.0 / len(drawn))
    assert abs(right - 0.5) < bound
    assert abs(twin - 0.5) > bound


def test_slices_of_a_mixture(seed):
    """Two normals apart, and weights 1 to 3: all moments, which a chain that stays would miss."""
    rng, x, found = np.random.default_rng(seed), 0.0, []

    def log_density(x):
        return np.logaddexp(-0.5 * x**2, np.log(3.0) - 0.5 * (x - 3.0) ** 2)

    for _ in range(4000):
        x = slice_step(log_density, x, rng, width=0.7)
        found.append(x)
    assert np.mean(found) == pytest.approx(2.25, abs=0.25)
    assert np.var(found) == pytest.approx(1.0 + 9.0 * 3.0 / 16.0, abs=0.35)


def test_ellipses(seed):
    """A normal prior and a normal likelihood, of which the posterior is known."""
    rng, x, found = np.random.default_rng(seed), np.zeros(2), []
    for _ in range(4000):
        draw = 2.0 * rng.normal(size=2)
        x = elliptical_step(lambda p: -0.5 * np.sum(p**2, axis=1), x, np.ones(2), draw, rng)
        found.append(x)
    # Prior N(1, 4), likelihood N(0, 1): precision 1.25, mean 0.25 / 1.25.
    assert np.mean(found) == pytest.approx(0.2, abs=0.12)
    assert np.var(np.array(found) - 0.2) == pytest.approx(0.8, abs=0.12)


def test_the_same_seed_gives_the_same_draws_compiled_or_not(monkeypatch, seed):
    model, rng = FactorModel("classes", 2), np.random.default_rng(seed)
    X, y, _ = model.simulate(20, 4, rng, tau=0.6)
    y[:2] = 0.0, 1.0
    first, second = (drawn(model, X, y, event_of(0.4, 50)) for _ in range(2))
    other = drawn(model, X, y, event_of(0.4, 50), replace(CHAINS, seed=1))
    np.testing.assert_array_equal(first.draws["factors"], second.draws["factors"])
    assert not np.array_equal(first.draws["factors"], other.draws["factors"])
    if kernels_for_chains(10**9) is not None:
        monkeypatch.setattr("unselected.numerics.kernels.WORTH_COMPILING_CHAINS", 0)
        compiled = drawn(model, X, y, event_of(0.4, 50))
        np.testing.assert_allclose(compiled.draws["factors"], first.draws["factors"], rtol=1e-9)


def test_an_empty_event_changes_nothing():
    """Bit by bit: the cut is of no account where nothing is known to be below it."""
    model = FactorModel("real")
    X, y, _ = model.simulate(15, 3, np.random.default_rng(0), tau=0.6)
    first = drawn(model, X, y, event_of(0.3, 0))
    second = drawn(model, X, y, event_of(None, 0))
    np.testing.assert_array_equal(first.draws["tau"], second.draws["tau"])
    twin = drawn(model, X, y, event_of(0.3, 20))
    assert not np.array_equal(first.draws["tau"], twin.draws["tau"])
    assert second.log_at_most.max() == 0.0 > first.log_at_most.max()


def test_units_do_not_matter_and_constant_columns_say_nothing():
    model = FactorModel("real", 2)
    X, y, _ = model.simulate(18, 4, np.random.default_rng(1), tau=0.6)
    scale, shift = np.array([1e-3, 1.0, 50.0, 4.0]), np.array([5.0, -3.0, 1e3, 0.0])
    plain = drawn(model, X, y, event_of(0.2, 30))
    wide = np.column_stack([shift + scale * X, np.full(18, 7.0)])
    other = drawn(model, wide, 100.0 + 10.0 * y, event_of(0.2, 30))
    np.testing.assert_allclose(other.draws["tau"], plain.draws["tau"], rtol=1e-6)
    loadings = other.draws["loadings"][..., :4, :] / scale[:, None]
    np.testing.assert_allclose(loadings, plain.draws["loadings"], rtol=1e-5, atol=1e-7)
    rows = np.column_stack([shift + scale * X, np.linspace(0.0, 9.0, 18)])
    means = [posterior.mean_and_std(r) for posterior, r in ((plain, X), (other, rows))]
    np.testing.assert_allclose(means[1][0], 100.0 + 10.0 * means[0][0], rtol=1e-6)
    np.testing.assert_allclose(means[1][1], 10.0 * means[0][1], rtol=1e-6)


@pytest.mark.parametrize("q", [1, 3])
def test_factors_are_turned_to_the_response(q, seed):
    rng = np.random.default_rng(seed)
    Z, direction = rng.normal(size=(20, q)), rng.normal(size=20)
    direction -= direction.mean()
    direction /= np.linalg.norm(direction)
    features = Lines(np.zeros(6), rng.normal(size=(6, q)), np.ones(6))
    turn = canonical_turn(Z, features, direction)
    np.testing.assert_allclose(turn.T @ turn, np.eye(q), atol=1e-12)
    along = direction @ (Z @ turn)
    assert along[0] > 0.0
    np.testing.assert_allclose(along[1:], 0.0, atol=1e-12)
    explained = np.sum((features.loadings @ turn) ** 2, axis=0)[1:]
    assert np.all(np.diff(explained) <= 0.0)
    # Whatever rotation the chain was in, the outcome is the same.
    other = np.linalg.qr(rng.normal(size=(q, q)))[0]
    turned = features._replace(loadings=features.loadings @ other)
    again = Z @ other @ canonical_turn(Z @ other, turned, direction)
    np.testing.assert_allclose(again, Z @ turn, atol=1e-9)
    fitted = np.column_stack([np.ones(20), Z])
    predicted = fitted @ np.linalg.lstsq(fitted, direction, rcond=None)[0]
    expected = np.corrcoef(predicted, direction)[0, 1]
    assert multiple_correlation(Z, direction) == pytest.approx(expected)


# Predictions


def posterior_of(kind, q, n_draws, rng):
    """A posterior with draws from nowhere: predictions are functions of them."""
    k = 5
    draws = {
        "tau": rng.random(n_draws),
        "factors": rng.normal(size=(n_draws, 7, q)),
        "means": rng.normal(size=(n_draws, k)),
        "loadings": rng.normal(size=(n_draws, k, q)),
        "variances": rng.gamma(2.0, size=(n_draws, k)),
        "intercept": rng.normal(size=n_draws),
        "coefficients": rng.normal(size=(n_draws, q)),
        "noise_variance": rng.gamma(2.0, size=n_draws),
    }
    arrays = {name: values[None] for name, values in draws.items()}
    omission = FactorOmission(np.arange(7.0), 0.3, 4)
    center, unit = rng.normal(size=k), rng.gamma(2.0, size=k)
    return FactorPosterior.of(Draws(arrays, ("tau",)), omission, center, unit, kind), draws


def joint_of(draws, d, noise):
    both = np.vstack([draws["loadings"][d], draws["coefficients"][d]])
    covariance = both @ both.T + np.diag(np.append(draws["variances"][d], noise))
    return np.append(draws["means"][d], draws["intercept"][d]), covariance


@pytest.mark.parametrize("q", [1, 2])
def test_predictive_density_is_a_mixture_of_joint_normals(q, seed):
    rng = np.random.default_rng(seed)
    posterior, draws = posterior_of("real", q, 4, rng)
    X, y = rng.normal(size=(3, 5)), rng.normal(size=3)
    joint, alone, below = np.zeros((3, 3))
    for d in range(4):
        mean, cov = joint_of(draws, d, draws["noise_variance"][d])
        density = stats.multivariate_normal(mean[:5], cov[:5, :5]).pdf(X)
        joint += stats.multivariate_normal(mean, cov).pdf(np.column_stack([X, y]))
        alone += density
        gain = np.linalg.solve(cov[:5, :5], cov[:5, 5])
        sd = np.sqrt(cov[5, 5] - cov[5, :5] @ gain)
        below += density * stats.norm.cdf(y, mean[5] + (X - mean[:5]) @ gain, sd)
    np.testing.assert_allclose(posterior.log_density(X, y), np.log(joint / alone), rtol=1e-8)
    np.testing.assert_allclose(posterior.cdf(X, y), below / alone, rtol=1e-8)
    quantiles = posterior.quantiles(X, (0.1, 0.5, 0.9))
    for level, column in zip((0.1, 0.5, 0.9), quantiles.T, strict=True):
        np.testing.assert_allclose(posterior.cdf(X, column), level, atol=1e-10)
    grid = np.linspace(-60.0, 60.0, 200_001)
    density = np.exp(posterior.log_density(np.repeat(X[:1], grid.size, axis=0), grid))
    mean, std = posterior.mean_and_std(X[:1])
    moments = [np.sum(density * grid**power) * (grid[1] - grid[0]) for power in (0, 1, 2)]
    assert moments[0] == pytest.approx(1.0, abs=1e-6)
    assert moments[1] == pytest.approx(mean[0], abs=1e-5)
    assert np.sqrt(moments[2] - moments[1] ** 2) == pytest.approx(std[0], abs=1e-4)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        posterior.quantiles(X, (0.0, 0.5))


@pytest.mark.parametrize("q", [1, 2])
def test_class_probabilities_are_averages_of_joint_ones(q, seed):
    rng = np.random.default_rng(seed)
    posterior, draws = posterior_of("classes", q, 4, rng)
    X, expected, prior = rng.normal(size=(3, 5)), np.zeros((3, 2)), np.zeros(2)
    for d in range(4):
        mean, cov = joint_of(draws, d, 1.0)
        density = stats.multivariate_normal(mean[:5], cov[:5, :5]).pdf(X)
        gain = np.linalg.solve(cov[:5, :5], cov[:5, 5])
        score = (mean[5] + (X - mean[:5]) @ gain) / np.sqrt(cov[5, 5] - cov[5, :5] @ gain)
        expected += density[:, None] * np.stack([ndtr(-score), ndtr(score)], axis=1) / 4.0
        score = mean[5] / np.sqrt(cov[5, 5])
        prior += np.array([ndtr(-score), ndtr(score)]) / 4.0
    np.testing.assert_allclose(np.exp(posterior.log_joint(X)), expected, rtol=1e-8)
    np.testing.assert_allclose(np.exp(posterior.log_psi), prior, rtol=1e-10)


@pytest.mark.slow
def test_without_features_only_the_classes_are_learned():
    """No feature, no event: Beta(1, 1) and the training classes, but for what tau_0 adds."""
    y = np.repeat([0.0, 1.0], [15, 5])
    chains = ChainSettings(n_chains=2, n_draws=600, n_warmup=50)
    model = FactorModel("classes", a=0.5, b=5e4)  # hardly any dependence on the factors
    posterior = drawn(model, np.empty((20, 0)), y, event_of(None, 0), chains)
    joint = posterior.log_joint(np.empty((3, 0)))
    np.testing.assert_allclose(np.exp(joint), np.tile([16 / 22, 6 / 22], (3, 1)), atol=0.015)
