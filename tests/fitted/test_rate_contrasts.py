"""Contrasts of the rates of several classes, against integrals and draws."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from unselected.fitted.class_rates import ClassRates
from unselected.fitted.effect_laws import quantiles
from unselected.fitted.rate_contrasts import rate_contrasts

LEVELS = np.array([0.005, 0.05, 0.5, 0.95, 0.995])
# alpha, theta, ones and cases by class: ordinary counts, one value in a class, rare ones, many
# cases, many classes, and almost no differences.
CASES = {
    "plain": (5.0, 0.4, (7, 3, 5), (10, 12, 9)),
    "one value": (4.0, 0.3, (8, 3, 0), (10, 10, 10)),
    "rare": (6.0, 0.05, (5, 0, 1), (100, 90, 80)),
    "many cases": (10.0, 0.2, (3000, 2000, 1000), (10000, 9000, 11000)),
    "ten classes": (5.0, 0.5, (8, 3, 0, 5, 5, 5, 5, 5, 5, 4), (10,) * 10),
    "alike": (1e9, 0.5, (8, 3, 5), (10, 12, 9)),
}


def rates_of(alpha, theta, ones, sizes):
    a, b = alpha * theta, alpha * (1.0 - theta)
    return [
        ClassRates(np.array([a + i]), np.array([b + n - i]))
        for i, n in zip(ones, sizes, strict=True)
    ]


def below(rates, g, x):
    """P(phi_g - mean of three phi <= x) by an integral over the two other rates."""
    own, *others = (
        stats.beta(each.a[0], each.b[0]) for each in [rates[g], *rates[:g], *rates[g + 1 :]]
    )
    spans = [law.ppf([1e-12, 1.0 - 1e-12]) for law in others]

    def integrand(v, u):
        return others[0].pdf(u) * others[1].pdf(v) * own.cdf((3.0 * x + u + v) / 2.0)

    value, _ = integrate.dblquad(integrand, *spans[0], *spans[1], epsabs=1e-9, epsrel=1e-9)
    return value


@pytest.mark.parametrize("g", [0, 2])
def test_three_classes_agree_with_an_integral(g):
    rates = rates_of(*CASES["plain"])
    law = rate_contrasts(np.ones(1), rates, logits=False)[g]
    for x in quantiles(law, np.array([0.05, 0.95]))[0]:
        assert law.cdf(np.array([[x]]))[0, 0] == pytest.approx(below(rates, g, x), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("logits", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_contrasts_agree_with_draws(case, logits, seed):
    rng, size = np.random.default_rng(seed), 1_000_000
    rates = rates_of(*CASES[case])
    values = np.array([log_odds(each, size, rng) for each in rates])
    if not logits:
        values = expit(values)
    laws = rate_contrasts(np.ones(1), rates, logits=logits)
    for g in (0, 1, 2):
        sample = values[g] - values.mean(axis=0)
        ends = quantiles(laws[g], LEVELS)[0]
        shares = np.array([np.mean(sample <= x) for x in ends])
        error = np.sqrt(LEVELS * (1.0 - LEVELS) / size)
        assert np.all(np.abs(shares - LEVELS) < 5.0 * error), case
        assert laws[g].deviation[0] == pytest.approx(sample.std(), rel=0.01)


def log_odds(rates, size, rng):
    """Draw logits of rates, which may be next to 0."""
    logs = [
        np.log(rng.gamma(shape[0] + 1.0, size=size)) - rng.exponential(size=size) / shape[0]
        for shape in rates
    ]
    return logs[0] - logs[1]


def test_more_frequencies_change_nothing(monkeypatch):
    def ends():
        return [
            quantiles(law, np.array([0.05, 0.95]))[0]
            for case in ("plain", "one value", "rare", "many cases")
            for logits in (False, True)
            for law in rate_contrasts(np.ones(1), rates_of(*CASES[case]), logits=logits)
        ]

    few = ends()
    monkeypatch.setattr("unselected.fitted.rate_contrasts._FREQUENCIES", (1024,))
    monkeypatch.setattr("unselected.fitted.rate_contrasts._DEVIATIONS", 9.0)
    np.testing.assert_allclose(few, ends(), rtol=1e-4, atol=1e-5)


def test_a_mixture_is_the_sum_of_its_parts():
    """Also of parts with few frequencies and with many, and without those of no weight."""
    first, second = (rates_of(*CASES[case]) for case in ("plain", "one value"))
    both = [
        ClassRates(np.append(one.a, [other.a, other.a]), np.append(one.b, [other.b, 1e6 * other.b]))
        for one, other in zip(first, second, strict=True)
    ]
    x = np.array([[-0.3, 0.0, 0.2]])
    for logits in (False, True):
        mixed = rate_contrasts(np.array([0.5, 0.2, 1e-9]), both, logits=logits)[1]
        parts = [rate_contrasts(np.ones(1), each, logits=logits)[1] for each in (first, second)]
        expected = 0.5 * parts[0].cdf(x) + 0.2 * parts[1].cdf(x)
        np.testing.assert_allclose(mixed.cdf(x), expected, atol=1e-8)
        assert mixed.null[0] == pytest.approx(0.3)
