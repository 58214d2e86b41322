"""Two groups of features: limits, dense sums as oracles, and calibration under selection."""

from dataclasses import replace
from math import comb

import numpy as np
import oracle
import pytest
import real_oracle
from scipy import stats
from scipy.integrate import simpson
from scipy.special import logsumexp

from unselected.fitted.regression import FittedRegression
from unselected.fitted.standardized_effects import standardized_effect
from unselected.models.bernoulli import BernoulliModel
from unselected.models.fractions import FractionPrior, Fractions
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_two_groups import condition_two_groups
from unselected.models.regression import RegressionModel
from unselected.models.two_groups import (
    Mixtures,
    TwoGroups,
    log_each,
    log_mixed,
    log_product,
    log_product_together,
    log_products,
)
from unselected.numerics.quadrature import log_sum
from unselected.selection.count_scores import CountScores
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_preselected, keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.counts import ClassCounts
from unselected.statistics.line import LineStatistics
from unselected.statistics.summing import class_moments, line_moments

NONE = np.array([], dtype=int)
SIZES = {"two": (9, 14), "equal": (7, 7, 7)}


def fractions(values):
    values = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore"):
        return Fractions(np.log(values), np.log1p(-values))


def fraction_rule(least, size=300):
    """Nodes and prior masses of pi: Gauss-Legendre in its logarithm."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return np.exp(0.5 * (1.0 - nodes) * np.log(least)), 0.5 * weights


def test_few_values_of_tau_among_known_ones_are_taken_from_polynomials():
    """They are near the integrals over pi; many values are these integrals, as is what is kept."""

    def mixtures(log_u):
        def one(i):
            return lambda pi: -0.5 * ((pi.log_related + 3.0) ** 2 + (log_u[i] - 1.0) ** 2)

        return Mixtures(one)

    groups = TwoGroups(FractionPrior(1e-4), mixtures, 1)
    known = np.arange(-3.0, 4.0, 0.5)
    exact = groups.log_total(known)
    np.testing.assert_array_equal(groups.log_total_roughly(known), exact)
    between = np.array([0.5, 0.7, 1.2])
    roughly = groups.log_total_roughly(between)
    assert len(groups._rules) == known.size
    np.testing.assert_allclose(roughly, groups.log_total(between), rtol=0, atol=1e-6)
    # Further out than the known ones are apart there is nothing to interpolate.
    far = TwoGroups(FractionPrior(1e-4), mixtures, 1)
    far.log_total(10.0 * known)
    np.testing.assert_array_equal(far.log_total_roughly(between), far.log_total(between))


# --- the rule and the products -------------------------------------------------------------------


@pytest.mark.parametrize("lowest", [-0.1, -20.0, -290.0, -5000.0])
def test_mixed_probabilities_are_those_in_logs(lowest, seed):
    rng = np.random.default_rng(seed)
    related, null = lowest * rng.random((2, 50))
    related[:3], null[2:4] = -np.inf, -np.inf
    related[4] = lowest
    pi = fractions([[1e-9], [0.3], [1.0]])
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(pi.log_related + related, pi.log_rest + null)
    np.testing.assert_allclose(log_mixed(pi, related, null), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("largest", [3.0, 5000.0])
def test_factors_of_features_at_several_alphas_are_those_at_each(largest, seed):
    log_ratio = largest * np.random.default_rng(seed).uniform(-1.0, 1.0, size=(4, 7))
    pi = fractions([1e-6, 0.5, 1.0])
    each = np.stack([log_each(pi, row) for row in log_ratio], axis=1)
    np.testing.assert_array_equal(log_each(pi, log_ratio), each)


@pytest.mark.parametrize("least", [0.9, 0.01, 1e-6, 1e-15])
@pytest.mark.parametrize("power", [0.0, 1.0, 40.0])
def test_moments_of_the_prior(least, power):
    _, log_terms = FractionPrior(least).integrate(lambda pi: power * pi.log_related, 1)
    exact = -np.expm1(power * np.log(least)) / (power * -np.log(least)) if power else 1.0
    assert np.exp(log_sum(log_terms)) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("n_all", [10, 10**6])
def test_a_narrow_posterior_at_the_upper_end(n_all):
    """All of many features are related: the integral of (1 - c (1 - pi))^n over log pi."""
    _, log_terms = FractionPrior(1e-6).integrate(
        lambda pi: n_all * np.log1p(-0.5 * np.exp(pi.log_rest)), 1
    )
    x = np.linspace(0.0, min(np.log(1e6), 200.0 / n_all), 200_001)
    values = np.exp(n_all * np.log1p(0.5 * np.expm1(-x))) / np.log(1e6)
    exact = simpson(values, x=x)
    assert np.exp(log_sum(log_terms)) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("largest", [1.0, 50.0, 2000.0])
def test_products_agree_with_plain_sums_of_logs(largest, seed):
    rng = np.random.default_rng(seed)
    pi = fractions([1e-9, 0.2, 0.7, 1.0 - 1e-12, 1.0])
    log_ratio = rng.uniform(-largest, largest, size=(3, 40))
    plain = np.logaddexp(pi.log_related[:, None, None] + log_ratio, pi.log_rest[:, None, None]).sum(
        axis=2
    )
    for alpha, row in enumerate(log_ratio):
        np.testing.assert_allclose(log_product(row)(pi), plain[:, alpha], rtol=1e-12, atol=1e-12)
    alpha_of = np.array([0, 1, 1, 2, 2])
    ours = log_products(iter(log_ratio.T), alpha_of, pi, (5,))
    np.testing.assert_allclose(ours, plain[np.arange(5), alpha_of], rtol=1e-12, atol=1e-12)


# --- limits --------------------------------------------------------------------------------------


def counted(model, n, p, k, seed, **parameters):
    """(counts of the kept, event, rows, which are related, fraction) of a simulated case."""
    rng = np.random.default_rng(seed)
    X, y, drawn = model.simulate(n, p, rng, y=rng.permutation(np.arange(n) % 2), **parameters)
    counts, _ = count_classes(X, y, None)
    selection = keep_top(CountScores.of(counts), k, "random", NONE, rng)
    return counts.take(selection.indices), selection, X[:, selection.indices] > 0, drawn


def measured(model, codes, p, k, seed, real=False, **parameters):
    """(moments of the kept, selection, rows, parameters) of a simulated case."""
    rng = np.random.default_rng(seed)
    X, drawn = model.simulate_features(codes, p, rng, **parameters)
    y = codes[:, 0] if real else codes.argmax(axis=1)
    moments = line_moments(X, y) if real else class_moments(X, y, codes.shape[1])
    scores = RealScores.of(moments)
    selection = keep_top(scores, k, "first", NONE, rng)
    return moments.take(selection.indices), selection, X[:, selection.indices], drawn


def test_all_related_is_the_common_prior_of_binary_features(seed):
    counts, selection, rows, _ = counted(BernoulliModel(), 40, 200, 8, seed, alpha=5.0)
    common = BernoulliModel().condition(counts, selection.event)
    groups = BernoulliModel(least_fraction=1.0).condition(counts, selection.event)
    np.testing.assert_allclose(groups.log_joint(rows), common.log_joint(rows), atol=1e-11)
    np.testing.assert_allclose(groups.log_at_most, common.log_at_most, atol=1e-13)
    assert groups.log_evidence == pytest.approx(common.log_evidence, abs=1e-9)
    np.testing.assert_allclose(groups.related, 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", SIZES)
def test_all_related_is_the_common_prior_of_real_features(kind, seed):
    codes = np.repeat(np.eye(len(SIZES[kind])), SIZES[kind], axis=0)
    moments, selection, rows, _ = measured(GaussianModel(), codes, 100, 6, seed)
    rows[0] += 1e3  # far out
    common = GaussianModel().condition(moments.contrasts(), selection.event)
    model = GaussianModel(least_fraction=1.0)
    groups = condition_two_groups(model, moments.contrasts(), selection.event)
    for code in np.eye(codes.shape[1]):
        np.testing.assert_allclose(
            groups.log_predictive(code, rows), common.log_predictive(code, rows), atol=1e-8
        )
    assert groups.log_evidence == pytest.approx(common.log_evidence, abs=1e-9)


def null_omission(n0, n1, omitted):
    """P(omitted | unrelated): I uniform on 0..n, and I0 hypergeometric given I."""
    n = n0 + n1
    values = oracle.all_cor_squared(n0, n1)
    return sum(
        comb(n0, I0) * comb(n1, I1) / comb(n, I0 + I1) / (n + 1)
        for (I0, I1), value in values.items()
        if omitted(value)
    )


@pytest.mark.parametrize(("n0", "n1"), [(5, 5), (4, 9)])
def test_omission_of_unrelated_binary_features(n0, n1, seed):
    """By enumeration, and as the limit of a large concentration."""
    rng = np.random.default_rng(seed)
    counts = ClassCounts.of_two(rng.integers(0, n0, 3), rng.integers(1, n1 + 1, 3), n0, n1)
    event = keep_preselected(CountScores.of(counts), 30, None, NONE).event
    posterior = BernoulliModel(least_fraction=1e-3).condition(counts, event)
    null = null_omission(n0, n1, lambda value: value <= event.cut)
    limit = oracle.omission_probability(n0, n1, 1e7, lambda value: value <= event.cut)
    assert null == pytest.approx(limit, abs=1e-6)
    some = np.linspace(0, posterior.log_weights.size - 1, 7).astype(int)
    for node in some:
        pi, alpha = np.exp([posterior.fractions.log_related[node], posterior.log_alpha[node]])
        if alpha > 1e6:
            continue
        related = oracle.omission_probability(n0, n1, alpha, lambda value: value <= event.cut)
        mixed = pi * related + (1.0 - pi) * null
        assert np.exp(posterior.log_at_most[node]) == pytest.approx(mixed, rel=1e-9)


# --- dense sums ----------------------------------------------------------------------------------


@pytest.mark.parametrize("corrected", [True, False])
def test_binary_features_agree_with_a_dense_sum(corrected, seed):
    """Probabilities of classes, and of being related, by a grid of alpha and pi."""
    n0, n1, p, least = 7, 6, 40, 1 / 40
    rng = np.random.default_rng(seed)
    model = BernoulliModel(least_fraction=least)
    y = np.arange(n0 + n1) >= n0
    X, _, _ = model.simulate(n0 + n1, p, rng, alpha=1.0, y=y, fraction=0.2)
    counts, _ = count_classes(X, y, None)
    selection = keep_top(CountScores.of(counts), 3, "first", NONE, rng)
    event = selection.event if corrected else selection.event.emptied()
    kept = counts.take(selection.indices)
    posterior = model.condition(kept, event)
    rows = rng.random((6, 3)) < 0.5
    pi, masses = fraction_rule(least)
    null_at_most = null_omission(n0, n1, lambda value: value <= event.cut)
    null_below = null_omission(n0, n1, lambda value: value < event.cut)
    totals, related = np.zeros((6, 2)), np.zeros(4)
    for alpha, mass in zip(*oracle.log_alpha_rule(0.5, 5.0, 801), strict=True):
        P, P_theta = oracle.joint_table(n0, n1, alpha)
        values = oracle.all_cor_squared(n0, n1)
        at_most = sum(P[pair] for pair, value in values.items() if value <= event.cut)
        below = sum(P[pair] for pair, value in values.items() if value < event.cut)
        weight = mass * masses * (pi * at_most + (1 - pi) * null_at_most) ** event.n_at_most
        weight = weight * (pi * below + (1 - pi) * null_below) ** event.n_below
        by_row, each = np.ones((6, 2, pi.size)), []
        for I0, I1, bits in zip(kept.I0, kept.I1, rows.T, strict=True):
            ones = I0 + I1
            f = P[I0, I1] / (comb(n0, I0) * comb(n1, I1))
            g = 1.0 / (comb(n0 + n1, int(ones)) * (n0 + n1 + 1))
            mean = P_theta[I0, I1] / P[I0, I1]
            one = np.array([alpha * mean + I0, alpha * mean + I1]) / (alpha + np.array([n0, n1]))
            null_one = (ones + 1) / (n0 + n1 + 2)
            new = np.where(bits[:, None], one, 1 - one)[:, :, None]
            null_new = np.where(bits, null_one, 1 - null_one)[:, None, None]
            by_row *= pi * f * new + (1 - pi) * g * null_new
            weight = weight * (pi * f + (1 - pi) * g)
            each.append(pi * f / (pi * f + (1 - pi) * g))
            by_row /= pi * f + (1 - pi) * g
        totals += by_row @ weight
        related += [*(np.array(each) @ weight), weight.sum()]
    psi = (np.array([n0, n1]) + 1.0) / (n0 + n1 + 2.0)
    expected = totals * psi / (totals @ psi)[:, None]
    log_joint = posterior.log_joint(rows)
    ours = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(posterior.related, related[:3] / related[3], atol=1e-8)


def tau_rule(size=250, most=4.0):
    nodes, weights = np.polynomial.legendre.leggauss(size)
    tau = 0.5 * most * (nodes + 1.0)
    return tau, 0.5 * most * weights * real_oracle.half_normal(tau)


def dense_real(X, codes, new, event, model):
    """log p(row | code) for pairs of a code and a row, up to a constant, and P(related) of each.

    Dense linear algebra at each tau and scale, and a rule in pi.
    """
    scales = np.ones(1)
    if model.tails is not None:  # quantiles of the variances whose mixture is a t distribution
        shares = (np.arange(7) + 0.5) / 7
        scales = stats.invgamma(model.tails / 2, scale=model.tails / 2).ppf(shares)
    tau, masses = tau_rule(100 if scales.size > 1 else 250, 4.0)
    u = np.append(np.multiply.outer(tau**2, scales), 0.0)
    pi, pi_masses = fraction_rule(model.least_fraction)
    f = np.array([[real_oracle.log_marginal(x, codes, v) for v in u] for x in X.T])
    nu, kappa, lam = event.nu[0], event.kappa[0], event.lam[0, 0]
    q = event.lam.shape[1]
    P = stats.f(q, nu).cdf(kappa * nu / q / (1.0 + u * lam))
    P_related = P[:-1].reshape(-1, scales.size).mean(axis=1)
    log_event = event.n_omitted * np.log(np.multiply.outer(P_related, pi) + P[-1] * (1 - pi))
    base = np.log(np.multiply.outer(masses, pi_masses)) + log_event

    def of_related(logs):
        return logsumexp(logs[:-1].reshape(-1, scales.size), axis=1) - np.log(scales.size)

    def mixed(logs):
        return np.logaddexp(np.log(pi) + of_related(logs)[:, None], np.log1p(-pi) + logs[-1])

    log_kept = base + sum(mixed(logs) for logs in f)
    related = [
        np.exp(logsumexp(log_kept + np.log(pi) + of_related(logs)[:, None] - mixed(logs)))
        / np.exp(logsumexp(log_kept))
        for logs in f
    ]
    values = []
    for code, row in new:
        h = np.array(
            [
                [real_oracle.log_new(value, x, code, codes, v) for v in u]
                for value, x in zip(row, X.T, strict=True)
            ]
        )
        values.append(logsumexp(base + sum(mixed(a + b) for a, b in zip(f, h, strict=True))))
    return np.array(values) - logsumexp(log_kept), np.array(related)


@pytest.mark.parametrize(
    ("kind", "corrected", "tails"),
    [("two", True, None), ("two", False, 2.0), ("equal", False, None), ("equal", True, 2.0)],
)
def test_real_features_agree_with_a_dense_sum(kind, corrected, tails, seed):
    codes = np.repeat(np.eye(len(SIZES[kind])), SIZES[kind], axis=0)
    model = GaussianModel(least_fraction=1 / 60, tails=tails)
    moments, selection, X, _ = measured(model, codes, 60, 3, seed, tau=0.8, fraction=0.1)
    event = selection.event if corrected else selection.event.emptied()
    if codes.shape[1] == 2:
        event = replace(event, lam=event.lam[:1], nu=event.nu[:1], n_features=event.n_features[:1])
    posterior = condition_two_groups(model, moments.contrasts(), event)
    rows = np.vstack([X[:1] + 0.3, X[4:5] * 1.5 - 1.0])
    classes = np.eye(codes.shape[1])[:2]
    new = [(code, row) for code in classes for row in rows]
    expected, related = dense_real(X, codes, new, event, model)
    ours = np.concatenate([posterior.log_predictive(code, rows) for code in classes])
    np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-8)
    np.testing.assert_allclose(posterior.related, related, rtol=0, atol=1e-8)


def line(n, seed):
    y = np.random.default_rng([seed, 1]).normal(size=n)
    return (y - y.mean() + 0.7) / y.std()


@pytest.mark.parametrize(("far", "tails"), [(0.0, None), (30.0, None), (0.0, 2.0)])
def test_a_real_response_agrees_with_a_dense_sum(far, tails, seed):
    """Log densities of responses relative to each other, and their integral."""
    y = line(18, seed)
    model = GaussianModel(least_fraction=1 / 60, tails=tails)
    moments, selection, X, _ = measured(
        model, y[:, None], 60, 3, seed, real=True, tau=0.8, fraction=0.1
    )
    statistics = LineStatistics(moments, float(y.mean()))
    kept = FittedRegression(RegressionModel(model), statistics, selection.event, None)
    row = X[2] + [0.3, -0.2, far]
    places = np.array([-1.0, 0.5, 1.7, 20.0])
    ours = kept.posterior.log_density(np.repeat(row[None], places.size, axis=0), places)
    new = [(np.array([place]), row) for place in places]
    expected, _ = dense_real(X, y[:, None], new, selection.event, model)
    df, spread = y.size - 1.0, np.sqrt(1.0 + 2.0 / (y.size - 1.0))
    expected = expected + stats.t(df, y.mean(), spread).logpdf(places)
    np.testing.assert_allclose(ours - ours[1], expected - expected[1], rtol=0, atol=3e-8)
    low, high = kept.posterior.quantiles(row[None], [0.2, 0.8])[0]
    nodes, weights = np.polynomial.legendre.leggauss(16)
    grid = low + 0.5 * (high - low) * (nodes + 1.0)
    density = np.exp(kept.posterior.log_density(np.repeat(row[None], grid.size, axis=0), grid))
    assert 0.5 * (high - low) * weights @ density == pytest.approx(0.6, abs=1e-7)


@pytest.mark.parametrize(
    ("shift", "k", "tails"),
    [(1.0, 2, None), (30.0, 30, None), (1e4, 2, None), (1e4, 30, None), (30.0, 2, 2.0)],
)
def test_rows_far_out_agree_with_the_evidence_of_one_more_case(shift, k, tails, seed):
    """P(row | class) is the ratio of the evidence with the row as a case, and without."""
    codes = np.repeat(np.eye(2), (12, 15), axis=0)
    model = GaussianModel(least_fraction=1 / 200, tails=tails)
    _, selection, X, _ = measured(model, codes, 200, k, seed, tau=0.7, fraction=0.05)
    y = codes.argmax(axis=1)
    rng = np.random.default_rng(seed)
    row = X[3] + shift * rng.normal(size=k)
    without = condition_two_groups(model, class_moments(X, y, 2).contrasts(), selection.event)
    for g, code in enumerate(np.eye(2)):
        more = class_moments(np.vstack([X, row]), np.append(y, g), 2).contrasts()
        one_more = condition_two_groups(model, more, selection.event)
        expected = one_more.log_evidence - without.log_evidence
        assert without.log_predictive(code, row[None])[0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("p", "k", "fraction"), [(10, 1, 0.5), (300, 5, 0.01), (1000, 50, 0.01), (1000, 50, 0.5)]
)
def test_finer_rules_change_nothing(p, k, fraction, seed):
    codes = np.repeat(np.eye(2), (20, 25), axis=0)
    model = GaussianModel(least_fraction=1 / p)
    moments, selection, X, _ = measured(model, codes, p, k, seed, tau=0.5, fraction=fraction)
    rows = X[:10] + 0.3 * np.random.default_rng(seed).normal(size=(10, k))
    coarse, fine = (
        condition_two_groups(
            replace(model, refinement=refinement), moments.contrasts(), selection.event
        )
        for refinement in (1, 2)
    )
    logs = [[part.log_predictive(code, rows) for code in np.eye(2)] for part in (coarse, fine)]
    ours, expected = (1.0 / (1.0 + np.exp(b - a)) for a, b in logs)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(coarse.related, fine.related, rtol=0, atol=1e-8)
    assert coarse.log_evidence == pytest.approx(fine.log_evidence, abs=1e-8)


@pytest.mark.parametrize(("fraction", "omitted"), [(0.02, 10**7), (1.0, 0)])
def test_finer_rules_change_nothing_for_binary_features(fraction, omitted, seed):
    model = BernoulliModel(least_fraction=1e-4)
    counts, selection, rows, _ = counted(model, 40, 300, 12, seed, alpha=3.0, fraction=fraction)
    event = replace(selection.event, n_at_most=selection.event.n_at_most + omitted)
    coarse = model.condition(counts, event)
    fine = replace(model, refinement=3).condition(counts, event)
    ours, expected = (
        1.0 / (1.0 + np.exp(-np.diff(part.log_joint(rows), axis=1))) for part in (coarse, fine)
    )
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(coarse.related, fine.related, rtol=0, atol=1e-8)


# --- calibration ---------------------------------------------------------------------------------


def replicate_real(seed, corrected, tails=None):
    """Probabilities of being related, whether they are, and the place of pi in its posterior."""
    model = GaussianModel(a=2.0, b=3.0, least_fraction=1 / 300, tails=tails)
    codes = np.repeat(np.eye(2), (10, 10), axis=0)
    moments, selection, _, drawn = measured(model, codes, 300, 20, seed)
    event = selection.event if corrected else selection.event.emptied()
    posterior = condition_two_groups(model, moments.contrasts(), event)
    return posterior, drawn["related"][selection.indices], drawn["fraction"]


def replicate_heavy(seed, corrected):
    return replicate_real(seed, corrected, tails=2.0)


def replicate_binary(seed, corrected):
    model = BernoulliModel(a=2.0, b=1.0, least_fraction=1 / 300)
    counts, selection, _, drawn = counted(model, 24, 300, 20, seed)
    event = selection.event if corrected else selection.event.emptied()
    posterior = model.condition(counts, event)
    return posterior, drawn["related"][selection.indices], drawn["fraction"]


def calibration(replicate, corrected, seed, n=28):
    """t statistics of kept features, of those given about 80 %, and more; and the PIT of pi."""
    surpluses, places = [], []
    for number in range(n):
        posterior, related, fraction = replicate([seed, number], corrected)
        given, surplus = posterior.related, related - posterior.related
        groups = [given >= 0.0, (given > 0.65) & (given < 0.95), given > 0.65]
        surpluses.append([surplus[group].sum() for group in groups])
        pi, weights = posterior.fractions.log_related, np.exp(posterior.log_weights)
        places.append(weights @ (pi < np.log(fraction)))
    t = np.mean(surpluses, axis=0) / np.std(surpluses, axis=0) * np.sqrt(n)
    return *t, stats.kstest(places, "uniform").pvalue


@pytest.mark.slow
@pytest.mark.parametrize("replicate", [replicate_real, replicate_heavy, replicate_binary])
@pytest.mark.evidence
def test_calibrated_under_selection(replicate, seed):
    """Features given 80 % are related in 80 % of cases, and pi is where its posterior says."""
    everyone, about_80, likely, p_value = calibration(replicate, True, seed)
    assert abs(everyone) < 4.5
    assert abs(about_80) < 4.5
    assert abs(likely) < 4.5
    assert p_value > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("replicate", [replicate_real, replicate_heavy, replicate_binary])
def test_without_correction_the_same_test_fails(replicate, seed):
    """Nearly all kept features are then given more than 95 %, so that few are left about 80 %."""
    everyone, _, likely, p_value = calibration(replicate, False, seed)
    assert everyone < -4.5
    assert likely < -4.5
    assert p_value < 1e-4


def test_weights_of_scales_sum_to_the_probability_of_being_related(seed):
    codes = np.repeat(np.eye(2), (12, 15), axis=0)
    model = GaussianModel(least_fraction=1 / 200, tails=2.0)
    moments, selection, _, _ = measured(model, codes, 200, 8, seed, tau=0.7, fraction=0.05)
    posterior = condition_two_groups(model, moments.contrasts(), selection.event)
    log_alpha, _, weights = posterior.of_related_features()
    assert log_alpha.size == model.scales.size * posterior.starts.size
    np.testing.assert_allclose(weights.sum(axis=1), posterior.related, atol=1e-12)


def test_one_strong_feature_among_many_weak_ones_is_shrunk_less_with_heavy_tails(seed):
    """A normal distribution of effects shrinks it with the others."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 1000)) + 0.1 * rng.normal(size=1000) * y[:, np.newaxis]
    X[:, 0] = rng.normal(size=40) + 3.5 * y
    scores = RealScores.of(class_moments(X, y, 2))
    selection = keep_top(scores, 20, "first", NONE, rng)
    contrasts = scores.take(selection.indices).contrasts()
    normal, heavy = (
        standardized_effect(
            GaussianModel(b=1.0, least_fraction=1.0, tails=tails).condition(
                contrasts, selection.event
            ),
            np.array([-1.0, 1.0]),
        ).mean[0]
        for tails in (None, 2.0)
    )
    assert selection.indices[0] == 0
    assert 3.5 > heavy > 2.0 * normal > 0.0


@pytest.mark.parametrize("k", [1, 7, 8, 300])
@pytest.mark.parametrize("size", [1.0, 30.0, 400.0])
def test_products_of_many_sets_are_those_of_single_ones(k, size, seed):
    rng = np.random.default_rng(seed)
    log_ratio = rng.normal(scale=1.0, size=(6, k))
    log_ratio[:, ::5] *= size  # some features are far out
    which = np.array([4, 0, 2])
    log_related = -rng.exponential(size=(3, 11))
    pi = Fractions(log_related, np.log(-np.expm1(log_related)))
    ours = log_product_together(log_ratio)(which, pi)
    for i, found, *each in zip(which, ours, *pi, strict=True):
        expected = log_product(log_ratio[i])(Fractions(*each))
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-12)
