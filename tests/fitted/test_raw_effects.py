"""Effects in the units of the columns, against draws of the posterior and the transform itself."""

import numpy as np
import pytest

from unselected import SelectiveClassifier, SelectiveGaussianNB
from unselected.fitted.effect_laws import quantiles
from unselected.fitted.raw_effects import DifferenceLaw
from unselected.fitted.standardized_effects import combination, standardized_effect

pytestmark = pytest.mark.usefixtures("few_folds")


def table(n_classes, *, n=60, p=40, missing=0.0, seed=0):
    """Skewed columns, of which the first three differ between classes; every fourth is binary."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    Z = rng.normal(size=(n, p)) + 1.2 * (np.arange(p) < 3) * y[:, np.newaxis]
    X = 100.0 * np.exp(Z)
    X[:, 3::4] = rng.random((n, X[:, 3::4].shape[1])) < 0.2 + 0.3 * (y[:, np.newaxis] > 0)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def effects_of(X, y, **options):
    model = SelectiveClassifier(k=20, dependence="none", **options).fit(X, y)
    return model, model.feature_effects()


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_differences_of_normal_scores_become_differences_of_values(n_classes, missing):
    model, effects = effects_of(*table(n_classes, missing=missing), marginals="normal")
    stack = model._predictor.fitted
    real = ~stack.is_binary
    scores, means = stack.normal, np.array([effects.seen[f"mean_in_{g}"] for g in range(n_classes)])
    values = np.array([effects.seen[f"center_in_{g}"] for g in range(n_classes)])
    np.testing.assert_allclose(values[:, real], scores.invert(means[:, real]))
    whole = scores.invert(means[:, real].mean(axis=0)[np.newaxis])[0]
    for name, effect in effects.effects.items():
        if not name.startswith("raw_difference"):
            continue
        label = name.removeprefix("raw_difference").lstrip("_")
        seen = values[1] - values[0] if n_classes == 2 else values[int(label)]
        less = 0.0 if n_classes == 2 else whole
        np.testing.assert_allclose(effect.naive[real], seen[real] - less, rtol=1e-9, atol=1e-9)
        assert np.all((effect.low <= effect.high) | ~real)
        # The same sign as in units of the deviation, and NaN for binary features.
        standard = effects.effects[name.replace("raw", "mean")]
        for part in ("naive", "low", "high"):
            ours, other = (np.sign(getattr(each, part)[real]) for each in (effect, standard))
            np.testing.assert_array_equal(ours, other)
        assert np.isnan(effect.mean[~real]).all()


def test_the_units_are_those_of_the_column():
    X, y = table(2)
    scaled = X.copy()
    scaled[:, 0] *= 1000.0
    first, second = (effects_of(each, y, marginals="normal")[1] for each in (X, scaled))
    place = np.flatnonzero(first.features == 0)[0]
    ours, theirs = (each.effects["raw_difference"] for each in (first, second))
    assert theirs.mean[place] == pytest.approx(1000.0 * ours.mean[place])
    assert theirs.high[place] == pytest.approx(1000.0 * ours.high[place])
    means = [each.effects["mean_difference"].mean[place] for each in (first, second)]
    assert means[0] == pytest.approx(means[1])


def test_raw_values_need_no_transform():
    model, effects = effects_of(*table(2), marginals="raw")
    real = model._predictor.fitted.main.real
    columns = ~model._predictor.fitted.is_binary
    assert not [name for name in effects.seen if name.startswith("center_in")]
    raw = effects.effects["raw_difference"]
    seen = effects.seen["mean_in_1"] - effects.seen["mean_in_0"]
    np.testing.assert_allclose(raw.naive[columns], seen[columns])
    location = real.laws.location
    np.testing.assert_allclose(raw.mean[columns], location[1] - location[0], atol=1e-9)


@pytest.mark.parametrize("prior", ["common", "sparse"])
def test_quantiles_of_a_difference_are_those_of_draws(prior):
    """Draw the node, s and the difference; the law in units of s must not pass for this one."""
    X, y = table(2)
    model = SelectiveGaussianNB(k=3, prior=prior).fit(np.log(X[:, [0, 1, 2, 4, 5]]), y)
    posterior, direction = model._predictor.fitted.posterior, np.array([-1.0, 1.0])
    weights, location, variance, mean_square, nu = combination(posterior, direction)
    law = DifferenceLaw.of(posterior, direction)
    rng, size = np.random.default_rng(0), 200_000
    draws = np.zeros((3, size))
    for j, own in enumerate(draws):
        shares = np.append(weights[j], 1.0 - weights[j].sum()).clip(0.0)
        node = rng.choice(shares.size, size, p=shares / shares.sum())
        mu, v, q = (np.append(each[j], 0.0)[node] for each in (location, variance, mean_square))
        s_squared = q * nu[j] / rng.chisquare(nu[j], size)
        own[:] = mu + np.sqrt(s_squared * v) * rng.normal(size=size)
    levels = np.array([0.05, 0.5, 0.95])
    drawn = np.quantile(draws, levels, axis=1).T
    close = 0.03 * draws.std(axis=1, keepdims=True)
    assert np.all(np.abs(quantiles(law, levels) - drawn) < close)
    wrong = quantiles(standardized_effect(posterior, direction), levels)
    assert not np.all(np.abs(wrong - drawn) < close)
