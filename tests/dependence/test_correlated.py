"""Likelihoods of features that vary together within classes, and which of them to believe."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit

from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.correlated import FeatureLaws, WithinClasses, unit_residuals
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior, PowerPrior


def factor_data(seed, n=40, k=5, G=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % G
    X = rng.normal(size=(n, 1)) * rng.normal(size=k) + rng.normal(size=(n, k)) + y[:, np.newaxis]
    return X * np.linspace(1, 9, k) * (1.0 + y[:, np.newaxis]), y


def laws_for(seed, k=5, G=3):
    rng = np.random.default_rng(seed)
    varying = np.full(k, fill_value=True)
    return FeatureLaws(rng.normal(size=(G, k)), rng.gamma(3.0, size=k), 37.0, varying)


def by_scipy(within, laws, shape, x, g):
    """The log density of the known features of one row, by an independent program."""
    known = ~np.isnan(x) & laws.varying
    w, k = shape.independence, known.sum()
    if k == 0:
        return 0.0
    sd = np.sqrt(
        laws.variance[known] * (within.spread[g] if shape.variances == "by class" else 1.0)
    )
    if w == 1.0:
        return stats.t.logpdf(x[known], laws.df, laws.location[g, known], sd).sum()
    matrix = (1 - w) * within.correlation[np.ix_(known, known)] + w * np.eye(k)
    law = stats.multivariate_t(laws.location[g, known], np.outer(sd, sd) * matrix, laws.df)
    return law.logpdf(x[known])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_evidence_is_that_of_multivariate_t_laws(missing, seed):
    X, y = factor_data(seed)
    within, laws = WithinClasses.of(X, y, 3, spreads=True), laws_for(seed)
    laws.varying[2] = False
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=2.0, size=(12, 5))
    rows[rng.random(rows.shape) < missing] = np.nan
    ours = within.log_evidence(rows, laws)
    assert ours.shape == (len(within.shapes), 12, 3)
    for number, shape in enumerate(within.shapes):
        theirs = np.array([[by_scipy(within, laws, shape, x, g) for g in range(3)] for x in rows])
        ratios = [logs - logs[:, :1] for logs in (ours[number], theirs)]
        np.testing.assert_allclose(*ratios, atol=1e-9)


def test_features_divide_the_evidence(seed):
    X, y = factor_data(seed)
    within, laws = WithinClasses.of(X, y, 3, spreads=True), laws_for(seed)
    X[4, 1] = np.nan
    each = within.log_evidence_by_feature(X, laws)
    np.testing.assert_allclose(each.sum(axis=2), within.log_evidence(X, laws), rtol=1e-10)
    assert not each[:, 4, 1].any()


def test_correlations_are_within_classes(seed):
    X, y = factor_data(seed, n=90)
    within = WithinClasses.of(X, y, 3, spreads=True)
    residuals = X - np.array([X[y == g].mean(axis=0) for g in range(3)])[y]
    np.testing.assert_allclose(within.correlation, np.corrcoef(residuals.T), atol=1e-12)
    # A wrong twin: the classes' differences are taken for correlation.
    assert np.abs(within.correlation - np.corrcoef(X.T)).max() > 0.05
    variances = np.array([residuals[y == g].var(axis=0) for g in range(3)])
    assert np.all(np.diff(within.spread) > 0)
    ratio = (variances / variances.mean(axis=0)).mean(axis=1)
    np.testing.assert_allclose(within.spread, ratio, rtol=0.15)


def test_complete_columns_have_the_residuals_that_they_have_beside_missing_values(seed):
    X, y = factor_data(seed)
    X[:, 1], X[:, 2] = 4.0, np.arange(len(X)) % 2
    holes = np.where(np.arange(len(X)) % 7 == 3, np.nan, X[:, 0])
    both = unit_residuals(np.column_stack([X, holes]), y, 3)
    np.testing.assert_allclose(unit_residuals(X, y, 3), both[:, :-1], rtol=1e-12, atol=1e-15)
    assert np.any(both[:, -1] != both[:, 0])


@pytest.mark.parametrize("place", [0.0, 1e5])
def test_units_and_places_do_not_matter(place, seed):
    """Nor do squares that would overflow, or vanish."""
    X, y = factor_data(seed)
    X[3, 0] = np.nan
    units = np.array([1e-200, 1.0, 1e-5, 1e180, 1e200])
    plain, moved = (WithinClasses.of(Z, y, 3, spreads=True) for Z in (X, (X + place) * units))
    np.testing.assert_allclose(moved.correlation, plain.correlation, atol=1e-9)
    np.testing.assert_allclose(moved.spread, plain.spread, rtol=1e-9)


def test_constant_features_have_no_correlation():
    X, y = factor_data(0)
    X[:, 3] = 7.0
    within = WithinClasses.of(X, y, 3, spreads=True)
    assert within.correlation[3].tolist() == [0, 0, 0, 1, 0]
    nothing = WithinClasses.of(np.full((6, 2), 3.0), np.arange(6) % 2, 2, spreads=True)
    assert nothing.spread.tolist() == [1.0, 1.0]
    assert WithinClasses.of(X > 0, y, 3, spreads=False).spread is None


def factored(within):
    """Return the same correlations by another factor than the library's."""
    values, axes = np.linalg.eigh(within.correlation)
    factor = (axes * np.sqrt(np.maximum(values, 0.0))).T
    return replace(within, correlation=None, factor=factor)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_factor_gives_what_the_matrix_gives(missing, seed):
    X, y = factor_data(seed)
    within, laws = WithinClasses.of(X, y, 3, spreads=True), laws_for(seed)
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=2.0, size=(12, 5))
    rows[rng.random(rows.shape) < missing] = np.nan
    each = [one.log_evidence(rows, laws) for one in (within, factored(within))]
    np.testing.assert_allclose(*each, atol=1e-9)


def test_more_features_than_cases_have_a_factor_of_their_correlations(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 30)), np.arange(12) % 2
    X[:, 7] = y  # constant within classes
    within = WithinClasses.of_features(X, y, 2, np.ones(30, dtype=bool), differ=True)
    within = within.without_cases()
    residuals = X - np.array([X[y == g].mean(axis=0) for g in range(2)])[y]
    residuals[:, 7] = 0.0
    norm = np.linalg.norm(residuals, axis=0)
    unit = residuals / np.where(norm > 0.0, norm, 1.0)
    np.testing.assert_allclose(within.factor.T @ within.factor, unit.T @ unit, atol=1e-12)
    assert len(within.factor) <= 10
    matrix = unit.T @ unit
    matrix[7, 7] = 1.0
    laws = FeatureLaws(rng.normal(size=(2, 30)), np.ones(30), 11.0, np.ones(30, dtype=bool))
    rows = rng.normal(size=(3, 30))
    ours = within.log_evidence(rows, laws)[1]  # independence 0.2, equal variances
    gaps = rows - laws.location[:, np.newaxis]
    squares = np.einsum("grk,grk->gr", gaps, gaps @ np.linalg.inv(0.8 * matrix + 0.2 * np.eye(30)))
    np.testing.assert_allclose(ours, -0.5 * 41 * np.log1p(squares.T / 11.0), atol=1e-8)


def test_variances_differ_by_class_and_feature_where_features_are_real(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(600) % 2
    spread = np.array([[1.0, 1.0, 1.0], [2.0, 0.5, 3.0]])
    X = rng.normal(size=(600, 3)) * np.sqrt(spread)[y]
    within = WithinClasses.of_features(X, y, 2, np.array([True, True, False]), differ=True)
    ratio = within.variances[1] / within.variances[0]
    assert abs(np.log(ratio[0] / 2.0)) < 0.4
    assert abs(np.log(ratio[1] / 0.5)) < 0.4
    assert ratio[2] == 1.0
    laws = FeatureLaws(np.zeros((2, 3)), np.ones(3), 1e6, np.ones(3, dtype=bool))
    rows = rng.normal(size=(5, 3))
    shapes = [shape.variances == "by class and feature" for shape in within.shapes]
    independent = within.log_evidence(rows, laws)[np.flatnonzero(shapes)[-1]]
    normal = [stats.norm.logpdf(rows, scale=np.sqrt(v)).sum(axis=1) for v in within.variances]
    np.testing.assert_allclose(
        independent[:, 1] - independent[:, 0], normal[1] - normal[0], atol=1e-4
    )


def test_few_nodes_of_the_power_say_nearly_the_same(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(80) % 2
    odds = 3.0 * (rng.normal(size=80) + 2 * y - 1)
    cases = HeldOut.of_classes(np.stack([0 * odds, odds], axis=1), np.log([0.5, 0.5]), y)
    fine, coarse = PowerPosterior.learn(cases), PowerPosterior.learn_coarsely(cases)
    assert abs(fine.log_marginal - coarse.log_marginal) < 0.1
    assert abs(fine.mean_power - coarse.mean_power) < 0.03
    assert abs(fine.mean_outlier_fraction - coarse.mean_outlier_fraction) < 0.01


def test_cases_that_are_there_twice_count_half(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    evidence = np.stack([np.zeros(30), rng.normal(size=30) + 2 * y - 1], axis=1)
    once = HeldOut.of_classes(evidence, np.log([0.5, 0.5]), y)
    twice = HeldOut.of_classes(np.tile(evidence, (2, 1)), np.log([0.5, 0.5]), np.tile(y, 2))
    half, whole = (
        PowerPosterior.learn_coarsely(replace(twice, weight=weight)) for weight in (0.5, 1.0)
    )
    expected = PowerPosterior.learn_coarsely(once)
    assert np.isclose(half.log_marginal, expected.log_marginal, atol=1e-10)
    assert np.isclose(half.mean_power, expected.mean_power, atol=1e-10)
    assert not np.isclose(whole.log_marginal, expected.log_marginal, atol=1e-3)


def test_the_marginal_likelihood_is_an_integral(seed):
    """eta 1 or uniform, epsilon 0 or Beta(1, 5), integrated by another program."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 2
    odds = 1.5 * rng.normal(size=12) + 2 * y - 1
    cases = HeldOut.of_classes(np.stack([0 * odds, odds], axis=1), np.log([0.5, 0.5]), y)

    def given(eta, epsilon):
        p = expit(eta * odds * (2 * y - 1))
        return np.prod((1 - epsilon) * p + 0.5 * epsilon)

    def over_epsilon(eta):
        strays = quad(lambda e: 5 * (1 - e) ** 4 * given(eta, e), 0, 1)[0]
        return 0.5 * given(eta, 0.0) + 0.5 * strays

    expected = 0.5 * over_epsilon(1.0) + 0.5 * quad(over_epsilon, 0, 1)[0]
    assert PowerPosterior.learn(cases).log_marginal == pytest.approx(np.log(expected), abs=1e-7)
    only = PowerPosterior.learn(cases, prior=PowerPrior(full_power=1.0, no_outliers=1.0))
    assert only.log_marginal == pytest.approx(np.log(given(1.0, 0.0)), abs=1e-9)


def test_weights_follow_bayes_and_predictions_average(seed):
    rng = np.random.default_rng(seed)
    y, prior = np.arange(40) % 2, np.log([0.4, 0.6])
    evidences = rng.normal(size=(3, 40, 2)) + np.eye(2)[y] * np.array([0, 1, 2])[:, None, None]
    cases = [HeldOut.of_classes(evidence, prior, y) for evidence in evidences]
    weighing = LikelihoodAverage.learn(cases)
    temperings = [PowerPosterior.learn(one) for one in cases]
    terms = np.array([0.5, 0.25, 0.25]) * np.exp([one.log_marginal for one in temperings])
    np.testing.assert_allclose(weighing.weights, terms / terms.sum(), rtol=1e-10)
    each = [np.exp(t.log_proba(e, prior)) for t, e in zip(temperings, evidences, strict=True)]
    mixed = np.tensordot(terms / terms.sum(), each, 1)
    np.testing.assert_allclose(np.exp(weighing.log_proba(evidences, prior)), mixed, rtol=1e-9)
    assert weighing.mean_power == pytest.approx(
        terms @ [t.mean_power for t in temperings] / sum(terms)
    )
    assert f"{weighing.own_probability:.2f}" in weighing.in_words()


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_equations_in_the_cases_have_the_same_solutions(missing):
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    X = rng.normal(size=(12, 1)) + rng.normal(size=(12, 30))
    X[:, 4] = y  # constant within classes
    within = WithinClasses.of(X, y, 2, spreads=True)
    quick = within.by_cases(X, y, 2)
    assert within.correlation is not None
    assert quick.correlation is None
    assert quick.factor.shape == (12, 30)
    laws = FeatureLaws(rng.normal(size=(2, 30)), np.ones(30), 10.0, np.ones(30, dtype=bool))
    new = rng.normal(size=(5, 30))
    new[rng.random(new.shape) < missing] = np.nan
    ours, theirs = (each.log_evidence(new, laws) for each in (quick, within))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    few = WithinClasses.of(X[:, :5], y, 2, spreads=True)
    assert few.by_cases(X[:, :5], y, 2) is few  # no more features than cases
