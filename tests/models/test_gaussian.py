import numpy as np
import pytest
import real_oracle as oracle
from calibration_of_real_features import class_replicate, line_replicate
from scipy import stats
from scipy.special import logsumexp

from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_likelihood import RealLikelihood
from unselected.models.gaussian_posterior import _posterior
from unselected.numerics.quadrature import log_sum
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_above, keep_preselected, keep_top
from unselected.statistics.summing import class_moments, line_moments

NONE = np.array([], dtype=int)
CLASSES = {"two": (9, 14), "three": (8, 5, 11), "equal": (7, 7, 7)}


def class_case(sizes, p, seed, tau=0.6, missing=0.0):
    """Labels, codes and features drawn from the model."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X, _ = GaussianModel().simulate_features(np.eye(len(sizes))[y], p, rng, tau=tau)
    X = X * rng.uniform(0.1, 10.0, size=p) + rng.normal(scale=5.0, size=p)
    firsts = np.unique(y, return_index=True)[1]
    holes = rng.random(X.shape) < missing
    holes[firsts] = False
    X[holes] = np.nan
    return X, y


def line_case(n, p, seed, tau=0.6, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.normal(3.0, 2.0, size=n)
    X, _ = GaussianModel().simulate_features((y / y.std())[:, None], p, rng, tau=tau)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def case(kind, p, seed, **settings):
    """(features, codes, moments, scores) of a case with classes or with a real response."""
    if kind == "line":
        X, y = line_case(22, p, seed, **settings)
        moments = line_moments(X, y)
        return X, oracle.codes_of(y, real=True), moments, RealScores.of(moments)
    X, y = class_case(CLASSES[kind], p, seed, **settings)
    moments = class_moments(X, y, len(CLASSES[kind]))
    return X, oracle.codes_of(y, real=False), moments, RealScores.of(moments)


KINDS = [*CLASSES, "line"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("shrinkage", [0.0, 3.0])
def test_posterior_and_predictions_agree_with_dense_algebra(kind, missing, shrinkage, seed):
    """Weights of the nodes relative to each other, and the predictive density in each."""
    X, codes, moments, scores = case(kind, 6, seed, missing=missing)
    event = keep_preselected(scores, 50, None, NONE).event
    posterior = GaussianModel(shrinkage=shrinkage).condition(moments.contrasts(), event)
    some = np.linspace(0, posterior.log_weights.size - 1, 5).astype(int)
    u = np.exp(-posterior.log_alpha[some])
    variances = (
        [{"d": shrinkage, "variance": v} for v in np.exp(posterior.log_variance[some])]
        if shrinkage
        else [{}] * 5
    )
    law = posterior.law(codes[3])
    rows = np.vstack([X[5], X[5] + 1.0])
    rows[0, 2] = np.nan
    ours = law.log_density(rows)[:, some]
    for i, (value, variance) in enumerate(zip(u, variances, strict=True)):
        for r, row in enumerate(rows):
            expected = sum(
                oracle.log_new(new, x, codes[3], codes, value, **variance)
                for new, x in zip(row, X.T, strict=True)
                if not np.isnan(new)
            )
            assert ours[r, i] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("corrected", [True, False])
def test_posterior_of_tau_agrees_with_a_plain_sum(kind, missing, corrected, seed):
    """A fine grid of tau, dense algebra, omission by scipy's F or by Gauss-Legendre."""
    X, codes, moments, scores = case(kind, 30, seed, missing=missing)
    selection = keep_top(scores, 4, "first", NONE, np.random.default_rng(0))
    event = selection.event if corrected else selection.event.emptied()
    posterior = GaussianModel().condition(moments.take(selection.indices).contrasts(), event)
    grid = (np.arange(600) + 0.5) * 0.005
    log_terms = np.log(oracle.half_normal(grid))
    for j in selection.indices:
        log_terms += [oracle.log_marginal(X[:, j], codes, tau**2) for tau in grid]
    if corrected:
        log_terms += log_event(event, grid**2)
    weights = np.exp(log_terms - logsumexp(log_terms))
    ours, tau = np.exp(posterior.log_weights), np.exp(-0.5 * posterior.log_alpha)
    for power in (1, 2, 3):
        assert ours @ tau**power == pytest.approx(weights @ grid**power, rel=1e-5)
    log_evidence = logsumexp(log_terms) + np.log(grid[1] - grid[0])
    assert posterior.log_evidence == pytest.approx(log_evidence, abs=1e-4)


def log_event(event, u):
    """By the distribution of beta variables, averaged over directions where lam differ."""
    total = np.zeros(u.size)
    for lam, nu, kappa, count in zip(
        event.lam, event.nu, event.kappa, event.n_features, strict=True
    ):
        angle = (np.arange(400) + 0.5) * np.pi / 400
        mixed = (
            lam[:1] * np.cos(angle) ** 2 + lam[1:] * np.sin(angle) ** 2 if lam.size == 2 else lam
        )
        x = kappa / (kappa + 1.0 + np.multiply.outer(u, mixed))
        total += count * np.log(stats.beta(lam.size / 2, nu / 2).cdf(x).mean(axis=1))
    return total


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    ("k", "corrected", "shrinkage"),
    [(1, True, 0.0), (40, True, 2.0), (40, False, 0.0), (1, False, 2.0)],
)
def test_accurate_to_a_finer_evaluation(kind, k, corrected, shrinkage, seed):
    X, codes, moments, scores = case(kind, 60, seed)
    selection = keep_top(scores, k, "first", NONE, np.random.default_rng(0))
    event = selection.event if corrected else selection.event.emptied()
    contrasts = moments.take(selection.indices).contrasts()
    coarse, fine = (
        GaussianModel(shrinkage=shrinkage, refinement=refinement).condition(contrasts, event)
        for refinement in (1, 2)
    )
    assert np.exp(coarse.log_weights).sum() == pytest.approx(1.0, abs=1e-12)
    logs = []
    for posterior in (coarse, fine):
        by_code = [
            log_sum(
                posterior.law(code).log_density(X[:6, selection.indices]) + posterior.log_weights, 1
            )
            for code in (codes[0], codes[-1])
        ]
        logs.append(1.0 / (1.0 + np.exp(by_code[1] - by_code[0])))
    np.testing.assert_allclose(*logs, rtol=0, atol=1e-9)
    assert coarse.log_evidence == pytest.approx(fine.log_evidence, abs=1e-8)


@pytest.mark.parametrize("shape", [0.1, 0.5, 10.0])
@pytest.mark.parametrize("rate", [0.01, 5.0, 1000.0])
@pytest.mark.parametrize("omitted", [0, 300, 10**7])
def test_accurate_with_priors_far_from_the_default(shape, rate, omitted, seed):
    X, _, moments, scores = case("three", 8, seed)
    event = keep_preselected(scores, 8 + omitted, None, NONE).event
    posteriors = [
        GaussianModel(a=shape, b=rate, refinement=refinement).condition(moments.contrasts(), event)
        for refinement in (1, 6)
    ]
    logs = [
        [log_sum(p.law(code).log_density(X[:5]) + p.log_weights, axis=1) for code in np.eye(3)]
        for p in posteriors
    ]
    probabilities = [np.exp(log - logsumexp(log, axis=0)) for log in logs]
    np.testing.assert_allclose(*probabilities, rtol=0, atol=1e-9)
    assert np.all(np.isfinite(probabilities[0]))


def test_a_feature_that_separates_the_classes_without_spread():
    """within = 0: the likelihood grows without bound in tau, and the prior has to end it."""
    y = np.repeat([0, 1], 10)
    X = np.column_stack([y * 3.0, np.random.default_rng(0).normal(size=20)])
    contrasts = class_moments(X, y, 2).contrasts()
    event = RealScores.of(class_moments(X, y, 2)).nothing_omitted()
    posteriors = [
        GaussianModel(refinement=refinement).condition(contrasts, event) for refinement in (1, 10)
    ]
    taus = [np.exp(p.log_weights) @ np.exp(-0.5 * p.log_alpha) for p in posteriors]
    assert taus[0] == pytest.approx(taus[1], abs=1e-9)
    assert taus[0] > 1.0


@pytest.mark.slow
@pytest.mark.evidence
def test_posterior_of_tau_agrees_with_a_markov_chain(seed):
    """Gibbs and Metropolis over all parameters of two features, event included.

    Nothing is integrated out but by drawing: means, variances and overall means are sampled.
    """
    sizes, omitted, cut = (6, 10), 40, 0.45
    X, y = class_case(sizes, 2, seed, tau=0.8)
    n = np.array(sizes)[:, None, None]
    moments = class_moments(X, y, 2)
    scores = RealScores.of(moments)
    event = scores.event_before(cut, NONE, omitted)
    posterior = GaussianModel().condition(moments.contrasts(), event)
    rng = np.random.default_rng(seed)
    chains, sweeps = 400, 550
    means = (moments.center + moments.offset)[:, None, :]
    mu = np.repeat(means, chains, axis=1)
    s2 = np.repeat(moments.within[None] / y.size, chains, axis=0)
    tau = np.full(chains, 0.4)
    nu = mu.mean(axis=0)

    def log_tau(value, mu, nu, s2):
        scaled = ((mu - nu) ** 2).sum(axis=0) / s2
        log_prior = -5.0 * value**2 - 2.0 * 2 * np.log(value)
        x = stats.f(1, y.size - 2).cdf(
            (y.size - 2) * cut**2 / (1 - cut**2) / (1 + 2 * value**2 * 60 / 16)
        )
        return log_prior - 0.5 * scaled.sum(axis=1) / value**2 + omitted * np.log(x)

    draws = []
    for sweep in range(sweeps):
        precision = n + 1.0 / tau[:, None] ** 2
        centre = (n * means + nu / tau[:, None] ** 2) / precision
        mu = centre + rng.normal(size=mu.shape) * np.sqrt(s2 / precision)
        nu = mu.mean(axis=0) + rng.normal(size=nu.shape) * tau[:, None] * np.sqrt(s2 / 2)
        squares = moments.within + (n * (means - mu) ** 2).sum(axis=0)
        squares += ((mu - nu) ** 2).sum(axis=0) / tau[:, None] ** 2
        s2 = squares / rng.chisquare(y.size + 2, size=s2.shape)
        for _ in range(3):
            proposal = tau * np.exp(0.5 * rng.normal(size=chains))
            ratio = log_tau(proposal, mu, nu, s2) - log_tau(tau, mu, nu, s2)
            accepted = np.log(rng.random(chains)) < ratio + np.log(proposal / tau)
            tau = np.where(accepted, proposal, tau)
        if sweep >= 200:
            draws.append(tau)
    chain_means = np.mean(draws, axis=0)
    error = chain_means.std() / np.sqrt(chains)
    weights, nodes = np.exp(posterior.log_weights), np.exp(-0.5 * posterior.log_alpha)
    assert weights @ nodes == pytest.approx(chain_means.mean(), abs=4 * error)
    uncorrected = GaussianModel().condition(moments.contrasts(), event.emptied())
    naive = np.exp(uncorrected.log_weights) @ np.exp(-0.5 * uncorrected.log_alpha)
    assert abs(naive - chain_means.mean()) > 4 * error  # the twin


def test_two_classes_are_the_textbook_formulas(seed):
    """Student t with pooled variance, shrunk means: the two-class case written out by hand."""
    X, y = class_case((9, 14), 1, seed)
    x0, x1 = X[y == 0, 0], X[y == 1, 0]
    moments = class_moments(X, y, 2)
    event = RealScores.of(moments).nothing_omitted()
    posterior = GaussianModel().condition(moments.contrasts(), event)
    n0, n1, n = 9, 14, 23
    within = np.sum((x0 - x0.mean()) ** 2) + np.sum((x1 - x1.mean()) ** 2)
    u = np.exp(-posterior.log_alpha)
    w0, w1 = n0 / (1 + n0 * u), n1 / (1 + n1 * u)
    overall = (w0 * x0.mean() + w1 * x1.mean()) / (w0 + w1)
    d2 = (x1.mean() - x0.mean()) ** 2
    squares = within + d2 / (2 * u + n / (n0 * n1))
    loc = (n1 * u * x1.mean() + overall) / (1 + n1 * u)
    spread = 1 + u / (1 + n1 * u) + 1 / ((1 + n1 * u) ** 2 * (w0 + w1))
    scale = np.sqrt(squares * spread / (n - 1))
    expected = stats.t(n - 1, loc, scale).logpdf(x0[0])
    np.testing.assert_allclose(
        posterior.law(np.array([0.0, 1.0])).log_density(x0[:1, None])[0], expected, rtol=1e-10
    )


@pytest.mark.parametrize("kind", KINDS)
def test_without_differences_classes_are_not_told_apart(kind, seed):
    """tau -> 0: the predictive law is the same for every code, that of one sample."""
    X, codes, moments, scores = case(kind, 3, seed)
    posterior = GaussianModel(a=0.5, b=1e12).condition(
        moments.contrasts(), scores.nothing_omitted()
    )
    n = len(X)
    one_sample = sum(
        stats.t(n - 1, x.mean(), x.std(ddof=1) * np.sqrt(1 + 1 / n)).logpdf(x[0]) for x in X.T
    )
    for code in (codes[0], codes[-1]):
        log_density = posterior.law(code).log_density(X[:1]) + posterior.log_weights
        assert log_sum(log_density) == pytest.approx(one_sample, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_units_and_origins_of_the_features_do_not_matter(kind, seed):
    X, codes, moments, scores = case(kind, 12, seed)
    rng = np.random.default_rng(seed)
    scale, shift = rng.choice([-1e3, 1e-3, 7.0], size=12), rng.normal(scale=10.0, size=12)
    moved = X * scale + shift * np.abs(scale)
    if kind == "line":
        other = line_moments(moved, codes[:, 0] * moments.unit)
        other_scores = RealScores.of(other)
    else:
        other = class_moments(moved, codes.argmax(axis=1), codes.shape[1])
        other_scores = RealScores.of(other)
    posteriors = []
    for m, s in ((moments, scores), (other, other_scores)):
        selection = keep_top(s, 4, "first", NONE, rng)
        posteriors.append(
            (
                GaussianModel().condition(m.take(selection.indices).contrasts(), selection.event),
                selection,
            )
        )
    (first, chosen), (second, again) = posteriors
    np.testing.assert_array_equal(chosen.indices, again.indices)
    means = [np.exp(p.log_weights) @ np.exp(-0.5 * p.log_alpha) for p in (first, second)]
    assert means[0] == pytest.approx(means[1], rel=1e-8)
    odds = [
        np.diff(
            [
                log_sum(p.law(code).log_density(rows) + p.log_weights, axis=1)
                for code in codes[[0, -1]]
            ],
            axis=0,
        )
        for p, rows in ((first, X[:, chosen.indices]), (second, moved[:, chosen.indices]))
    ]
    np.testing.assert_allclose(odds[0], odds[1], atol=1e-6)


@pytest.mark.slow
def test_common_variance_is_integrated_as_a_plain_sum(seed):
    """Two dimensions by brute force: a grid of tau times a grid of the common variance."""
    X, codes, moments, scores = case("two", 3, seed)
    d = 4.0
    event = scores.event_before(0.5, NONE, 20)
    posterior = GaussianModel(shrinkage=d).condition(moments.contrasts(), event)
    tau = (np.arange(125) + 0.5) * 0.02
    log_v = np.linspace(-12, 12, 97)
    table = np.empty((tau.size, log_v.size))
    for i, t in enumerate(tau):
        for j, v in enumerate(log_v):
            table[i, j] = sum(
                oracle.log_marginal(x, codes, t**2, d=d, variance=np.exp(v)) for x in X.T
            )
    table += (np.log(oracle.half_normal(tau)) + log_event(event, tau**2))[:, None]
    weights = np.exp(table - logsumexp(table))
    ours = np.exp(posterior.log_weights)
    assert ours @ np.exp(-0.5 * posterior.log_alpha) == pytest.approx(
        weights.sum(axis=1) @ tau, rel=2e-3
    )
    assert ours @ posterior.log_variance == pytest.approx(weights.sum(axis=0) @ log_v, abs=2e-3)


def test_constant_features_say_nothing(seed):
    X, y = class_case((9, 14), 5, seed)
    X = np.insert(X, 2, 7.0, axis=1)
    everything = np.arange(6)
    laws = []
    for columns in (everything, np.delete(everything, 2)):
        moments = class_moments(X[:, columns], y, 2)
        event = RealScores.of(moments).nothing_omitted()
        posterior = GaussianModel().condition(moments.contrasts(), event)
        laws.append(posterior.law(np.array([1.0, 0.0])).log_density(X[:3, columns]))
    np.testing.assert_allclose(*laws, rtol=1e-12)


def test_without_features_the_prior_is_left():
    y = np.repeat([0, 1], 5)
    moments = class_moments(np.random.default_rng(0).normal(size=(10, 2)), y, 2).take(NONE)
    event = RealScores.of(moments).nothing_omitted()
    posterior = GaussianModel().condition(moments.contrasts(), event)
    weights, tau = np.exp(posterior.log_weights), np.exp(-0.5 * posterior.log_alpha)
    prior = stats.halfnorm(scale=np.sqrt(0.1))
    assert weights @ tau == pytest.approx(prior.mean(), abs=1e-9)
    assert weights @ tau**2 == pytest.approx(0.1, abs=1e-9)
    assert posterior.law(np.array([1.0, 0.0])).log_density(np.empty((2, 0))).tolist() == (
        np.zeros((2, weights.size)).tolist()
    )


def test_values_far_out_do_not_break_the_sum(seed):
    X, y = class_case((9, 14), 3, seed)
    moments = class_moments(X, y, 2)
    event = RealScores.of(moments).nothing_omitted()
    posterior = GaussianModel().condition(moments.contrasts(), event)
    rows = np.array([[1e250, 0.0, 0.0], [-1e300, 1e300, 1e308], [np.nan, np.nan, np.nan]])
    logs = np.stack([posterior.law(code).log_density(rows) for code in np.eye(2)])
    assert np.all(np.isfinite(logs))
    np.testing.assert_array_equal(logs[:, 2], 0.0)
    # Further out still, the odds stay where they are.
    again = np.stack([posterior.law(code).log_density(rows[1:2] / 1e50) for code in np.eye(2)])
    np.testing.assert_allclose(np.diff(logs[:, 1], axis=0), np.diff(again[:, 0], axis=0), atol=1e-6)


@pytest.mark.parametrize(
    ("scale", "shrinkage"), [(1.0, 0.0), (3.0, 3.0), (10.0, 0.0), (1000.0, 0.0), (1000.0, 3.0)]
)
def test_rows_far_from_the_training_cases_reach_other_values_of_tau(scale, shrinkage, seed):
    """Hundreds of features that all lie far out; the judge is a grid over every tau.

    The nodes that do for the training cases are off by tenths here. With a common variance the
    grid is over tau only, each with the variances that the training cases leave.
    """
    rng = np.random.default_rng(seed)
    k = 300 if shrinkage == 0.0 else 60
    y = np.arange(60) % 2
    X = rng.normal(size=(60, k))
    X[:, : k // 2] += 0.4 * rng.normal(size=k // 2) * y[:, None]
    moments = class_moments(X, y, 2)
    event = RealScores.of(moments).event_before(0.2, NONE, 500)
    model = GaussianModel(shrinkage=shrinkage)
    posterior = model.condition(moments.contrasts(), event)
    rows = scale * rng.normal(size=(4, k))
    ours = np.diff([posterior.log_predictive(code, rows) for code in np.eye(2)], axis=0)[0]
    log_u = np.linspace(-40.0, 3.0, 4301 if shrinkage == 0.0 else 801)
    likelihood = RealLikelihood(model, posterior.contrasts, event)
    log_terms = likelihood.log_total(log_u) + 0.5 * log_u - 5.0 * np.exp(log_u)
    dense = _posterior(model, likelihood, (posterior.contrasts, event), log_u, log_terms, np.inf)
    judge = np.empty((2, 4))
    for g, code in enumerate(np.eye(2)):
        parts = [part.law(code).log_density(rows) + part.log_weights for part in dense.in_parts()]
        judge[g] = log_sum(np.concatenate(parts, axis=1), axis=1)
    ours, judge = (1.0 / (1.0 + np.exp(odds)) for odds in (ours, np.diff(judge, axis=0)[0]))
    np.testing.assert_allclose(ours, judge, rtol=0, atol=1e-8 if shrinkage == 0.0 else 1e-3)


@pytest.mark.parametrize("gamma", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("sizes", [(1, 2), (2, 1), (1, 40), (3, 2)])
def test_tiny_classes_and_extreme_thresholds(sizes, gamma, seed):
    X, y = class_case(sizes, 100, seed)
    moments = class_moments(X, y, 2)
    selection = keep_above(RealScores.of(moments), gamma, NONE)
    contrasts = moments.take(selection.indices).contrasts()
    coarse, fine = (
        GaussianModel(refinement=refinement).condition(contrasts, selection.event)
        for refinement in (1, 5)
    )
    taus = [np.exp(p.log_weights) @ np.exp(-0.5 * p.log_alpha) for p in (coarse, fine)]
    assert taus[0] == pytest.approx(taus[1], abs=1e-8)
    assert np.all(np.isfinite(coarse.log_weights))


@pytest.mark.slow
@pytest.mark.parametrize("draw", [class_replicate, line_replicate])
@pytest.mark.evidence
def test_calibrated_under_selection_and_the_uncorrected_twin_is_not(draw, seed):
    """Ranks of the true tau, and predictions: what `make validate` does with many replicates."""
    rng = np.random.default_rng([seed, 7])
    replicates = [draw(GaussianModel(), rng) for _ in range(35)]
    ranks = np.array([replicate.ranks for replicate in replicates])
    assert stats.kstest(ranks[:, 0], "uniform").pvalue > 1e-4
    assert stats.kstest(ranks[:, 1], "uniform").pvalue < 1e-4
    gaps = np.array([replicate.gaps for replicate in replicates])
    errors = gaps.std(axis=0) / np.sqrt(len(gaps))
    assert abs(gaps[:, 0].mean()) < 4 * errors[0]
    assert abs(gaps[:, 1].mean()) > 4 * errors[1]
