"""Likelihoods of features that vary together within classes, and which of them to believe."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit

from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.correlated import MOST_FEATURES, FeatureLaws, WithinClasses
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
    sd = np.sqrt(laws.variance[known] * (within.spread[g] if shape.by_class else 1.0))
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


def test_too_many_features_are_refused():
    with pytest.raises(ValueError, match="keep at most 2000, or use dependence='tempered'"):
        WithinClasses.of(np.zeros((4, MOST_FEATURES + 1)), np.arange(4) % 2, 2, spreads=True)


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
