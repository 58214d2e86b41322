"""Effects of binary features in several classes, and where totals are given, against draws."""

from fractions import Fraction
from functools import partial

import count_oracle
import numpy as np
import pytest
from scipy.special import expit, logit

from unselected import SelectiveBernoulliNB
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.effect_laws import quantiles
from unselected.fitted.rate_effects import rate_posteriors
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.events import Event, OmittedKinds
from unselected.statistics.counts import ClassCounts

TAILS = np.array([0.05, 0.95])
SIZES, KNOWN = (4, 5, 3), (4, 4, 3)
COLUMNS = [((3, 1, 0), SIZES), ((0, 2, 3), KNOWN)]
# Omitted features: their known values, their totals, and how many there are.
OMITTED = [(SIZES, 6, 12), (SIZES, 3, 8), (KNOWN, 5, 5)]
CUT = Fraction(3, 10)  # R^2 of a complete column


def is_omitted(value, cut):
    return value <= cut


def f_of(cut):
    return (cut / 2) / ((1 - cut) / (sum(SIZES) - 3))


FATE = partial(is_omitted, cut=f_of(CUT))


def the_event(rates):
    sizes, totals, n = (np.array(part) for part in zip(*OMITTED, strict=True))
    if rates == "uniform":
        sizes, totals, n = np.array([SIZES, KNOWN]), np.array([-1, -1]), np.array([20, 5])
    none = np.zeros_like(n)
    kinds = OmittedKinds(sizes, totals, none, none, n)
    return Event(CUT, kinds=kinds, statistic="F")


def drawn(model, size, rng):
    """Draw the logits of phi (G, size, k) from the oracle's posterior."""
    grid = list(count_oracle.grid(model.a, model.b, model.least_fraction))
    masses = np.array([mass * evidence(model, u, pi) for u, pi, mass in grid])
    times = rng.multinomial(size, masses / masses.sum())
    parts = [
        of_features(grid[place], int(times[place]), model.rates, rng)
        for place in np.flatnonzero(times)
    ]
    return np.concatenate(parts, axis=1)


def evidence(model, u, pi):
    """P(counts of the kept features, event) at one alpha = 1 / u and one fraction."""
    at = count_oracle.Model(u, model.rates, pi)
    value = np.prod([at.chance(*column) for column in COLUMNS])
    for sizes, m, n in OMITTED:
        value *= at.fate(sizes, m, FATE) ** n
    return value


def of_features(point, size, rates, rng):
    """Draw the logits of phi of the kept features at one alpha and one fraction."""
    u, pi, _ = point
    theta, logits = np.empty((size, len(COLUMNS))), np.empty((3, size, len(COLUMNS)))
    for j, (ones, sizes) in enumerate(COLUMNS):
        chances = [count_oracle.chance(ones, sizes, rates, each) for each in (u, 0.0)]
        related = rng.random(size) < pi * chances[0] / (pi * chances[0] + (1 - pi) * chances[1])
        n, m = sum(sizes), sum(ones)
        theta[:, j] = np.where(
            related, rates_given(ones, sizes, u, size, rng), rng.beta(m + 1, n - m + 1, size=size)
        )
        for g, (i, n_g) in enumerate(zip(ones, sizes, strict=True)):
            one = log_gamma(theta[:, j] / u + i, rng)
            zero = log_gamma((1.0 - theta[:, j]) / u + n_g - i, rng)
            logits[g, :, j] = np.where(related, one - zero, logit(theta[:, j]))
    return logits


def contrast(values, g):
    """Return the values of class g less the mean of all classes; 0 where all are equal."""
    same = np.all(values == values[0], axis=0)
    return np.where(same, 0.0, values[g] - values.mean(axis=0))


def log_gamma(shape, rng):
    """Draw logs of gamma variables, which may be far below the smallest double."""
    return np.log(rng.gamma(shape + 1.0)) - rng.exponential(size=shape.shape) / shape


def rates_given(ones, sizes, u, size, rng, n_bins=2000):
    """Draw theta given counts and alpha = 1 / u: narrow bins, uniformly within."""
    middle = (np.arange(n_bins) + 0.5) / n_bins
    density = np.ones(n_bins)
    for i, n in zip(ones, sizes, strict=True):
        for rate, times in ((middle, i), (1.0 - middle, n - i)):
            for step in range(times):
                density = density * (rate + step * u)
    bins = rng.choice(n_bins, size=size, p=density / density.sum())
    return (bins + rng.random(size)) / n_bins


def assert_agrees(law, sample):
    """Mean and distribution function within 5 standard errors of draws."""
    places = np.concatenate([quantiles(law, TAILS)[0], [-1e-6, 1e-6, law.mean[0]]])
    error = sample.std() / np.sqrt(sample.size)
    assert np.mean(sample) == pytest.approx(law.mean[0], abs=5.0 * error)
    for x in places:
        value = law.cdf(np.array([[x]]))[0, 0] + law.null[0] * (x >= 0)
        error = np.sqrt(max(value * (1.0 - value), 1e-6) / sample.size)
        assert np.mean(sample <= x) == pytest.approx(value, abs=5.0 * error)


def fitted(model, event):
    ones, known = (np.transpose([column[part] for column in COLUMNS]) for part in (0, 1))
    counts = ClassCounts(ones, np.array(SIZES), known)
    return FittedBernoulli(model, counts, event, np.full(2, 0.5), None, np.arange(3), None)


@pytest.mark.slow
@pytest.mark.parametrize("rates", ["uniform", "given"])
@pytest.mark.parametrize("least", [None, 0.05])
def test_effects_of_three_classes_agree_with_draws(least, rates, seed):
    model = BernoulliModel((1.0, 1.0, 1.0), 2.0, 1.0, least_fraction=least, rates=rates)
    kept = fitted(model, the_event(rates))
    logits = drawn(model, 100_000, np.random.default_rng(seed))
    laws = list(rate_posteriors(model, kept.counts, kept.posterior))
    for j, place in enumerate(kept.posterior.vector_of):
        of_rates, of_logits = (laws[place].effects(logits=each) for each in (False, True))
        for g in range(3):
            assert_agrees(of_rates[g], contrast(expit(logits[:, :, j]), g))
            assert_agrees(of_logits[g], contrast(logits[:, :, j], g))


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["no event", "from the others"])
def test_the_draws_would_notice(wrong, seed):
    """A forgotten event, and effects that are differences from the mean of the others."""
    model = BernoulliModel((1.0, 1.0, 1.0), 2.0, 1.0, rates="given")
    event = the_event("given")
    kept = fitted(model, event.emptied() if wrong == "no event" else event)
    logits = drawn(model, 100_000, np.random.default_rng(seed))
    laws = list(rate_posteriors(model, kept.counts, kept.posterior))
    law = laws[kept.posterior.vector_of[0]].effects(logits=False)[0]
    phi = expit(logits[:, :, 0])
    sample = contrast(phi, 0) if wrong == "no event" else phi[0] - 0.5 * (phi[1] + phi[2])
    with pytest.raises(AssertionError):
        assert_agrees(law, sample)


def test_effects_of_classes_are_told_by_their_names(seed):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(30) % 3]
    X = (rng.random((30, 40)) < 0.4).astype(float)
    X[y == "c", 3], X[2, 3], X[5, 3] = 1.0, np.nan, np.nan
    model = SelectiveBernoulliNB(k=4, rates="given").fit(X, y)
    table = model.feature_effects().to_dict()
    names = [f"rate_difference_{label}" for label in "abc"]
    for name in names:
        assert any(key.startswith(name) for key in table), sorted(table)
    place = model.selection_.indices.tolist().index(3)
    assert table["ones_in_c"][place] == 8
    assert table["cases_in_c"][place] == 8
    assert table["cases_in_a"][place] == 10


def test_effects_at_face_value_are_contrasts_that_sum_to_0():
    """Of unequal classes, with a class of but one value: half a case is added to log odds."""
    counts = ClassCounts(np.array([[3], [0], [5]]), np.array([4, 6, 10]))
    model = BernoulliModel((1.0, 1.0, 1.0))
    kept = FittedBernoulli(
        model, counts, Event(statistic="F"), np.full(1, 0.5), None, np.array(list("abc")), None
    )
    _, effects = kept.effects(TAILS)
    rates, odds = np.array([3 / 4, 0.0, 0.5]), np.array([3.5 / 1.5, 0.5 / 6.5, 1.0])
    for kind, each in (("rate_difference", rates), ("log_odds_ratio", np.log(odds))):
        found = [effects[f"{kind}_{label}"] for label in "abc"]
        naive = [effect.naive[0] for effect in found]
        np.testing.assert_allclose(naive, each - each.mean(), atol=1e-12)
        assert sum(effect.mean[0] for effect in found) == pytest.approx(0.0, abs=1e-9)
        assert all(effect.low[0] < effect.mean[0] < effect.high[0] for effect in found)


def test_intervals_shrink_like_the_root_of_the_number_of_cases():
    """Differences from theta, which G classes tell little of, would stay as wide as they are."""
    widths = []
    for n in (100, 400, 1600):
        sizes = np.full(3, n)
        counts = ClassCounts(np.array([[n // 2], [n // 4], [n // 5]]), sizes)
        model = BernoulliModel((1.0, 1.0, 1.0))
        kept = FittedBernoulli(
            model, counts, Event(statistic="F"), np.full(1, 0.5), None, np.arange(3), None
        )
        _, effects = kept.effects(TAILS)
        widths.append([effect.high[0] - effect.low[0] for effect in effects.values()])
    ratios = np.array(widths[:-1]) / np.array(widths[1:])
    np.testing.assert_allclose(ratios, 2.0, rtol=0.05)


def test_the_mean_effect_of_a_class_is_that_of_predictions(seed):
    """E[phi_g], and all of it from the same posterior."""
    rng = np.random.default_rng(seed)
    sizes = np.array([12, 9, 10])
    counts = ClassCounts(rng.integers(0, sizes[:, None] + 1, size=(3, 8)), sizes)
    for rates in ("uniform", "given"):
        model = BernoulliModel((1.0, 1.0, 1.0), rates=rates)
        posterior = model.condition(counts, Event(statistic="F"))
        phi = np.einsum("m,gmv->gv", np.exp(posterior.log_weights), np.exp(posterior.log_one))
        laws = list(rate_posteriors(model, counts, posterior))
        for place, law in enumerate(laws):
            means = [effect.mean[0] for effect in law.effects(logits=False)]
            np.testing.assert_allclose(means, (phi - phi.mean(axis=0))[:, place], atol=1e-8)
            assert law.weights.sum() == pytest.approx(1.0, abs=1e-8)
