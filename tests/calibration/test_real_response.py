"""Predictions of a number: against scikit-learn and scipy, and forecasters who are not honest."""

import json
import math
from dataclasses import FrozenInstanceError, asdict, fields

import numpy as np
import pandas as pd
import pytest
from forecasters import covers
from scipy.stats import beta, norm
from scipy.stats import bootstrap as scipy_bootstrap
from sklearn.metrics import mean_pinball_loss
from sklearn.metrics import root_mean_squared_error as sklearn_rmse

from unselected import SelectiveNaiveRegressor
from unselected.calibration import (
    average_log_density,
    interval_coverage,
    interval_score,
    mean_interval_width,
    pit_test,
    root_mean_squared_error,
    summarize_regression,
)
from unselected.models.gaussian import GaussianModel

NAMES = (
    "interval_coverage",
    "mean_interval_width",
    "interval_score",
    "average_log_density",
    "root_mean_squared_error",
)


def predictions(rng, n=120, *, spread=1.0, shift=0.0, level=0.9):
    """Responses, and predictions N(mean + shift, spread^2) where N(mean, 1) is right."""
    mean = rng.normal(0.0, 2.0, n)
    y = rng.normal(mean, 1.0)
    law = norm(mean + shift, spread)
    return y, law.mean(), *law.interval(level), law.logpdf(y), law.cdf(y)


# Scores


def test_scores_by_hand():
    y, lower, upper = [1.0, 5.0, -2.0, 2.0], [0, 0, 0, 0], [2, 3, 4, 2]
    assert interval_coverage(y, lower, upper).value == 0.5  # 2 is in [0, 2]
    assert mean_interval_width(lower, upper) == 2.75
    assert interval_score(y, lower, upper, level=0.75) == (11 + 8 * 2 + 8 * 2) / 4
    assert average_log_density([-1.5, 0.5]) == -0.5
    assert root_mean_squared_error([1, 2, 3], [1, 2, 6]) == pytest.approx(math.sqrt(3))


def test_scores_are_those_of_scikit_learn(seed):
    y, mean, lower, upper, *_ = predictions(np.random.default_rng(seed), spread=0.7, level=0.8)
    assert root_mean_squared_error(y, mean) == pytest.approx(sklearn_rmse(y, mean))
    pinballs = mean_pinball_loss(y, lower, alpha=0.1) + mean_pinball_loss(y, upper, alpha=0.9)
    assert interval_score(y, lower, upper, level=0.8) == pytest.approx(2 / 0.2 * pinballs)


def test_coverage_has_its_exact_interval(seed):
    y, _, lower, upper, *_ = predictions(np.random.default_rng(seed), 80)
    coverage = interval_coverage(y, lower, upper, level=0.9)
    inside = sum(low <= one <= high for one, low, high in zip(y, lower, upper, strict=True))
    assert coverage.value == inside / 80
    assert coverage.low == pytest.approx(beta.ppf(0.05, inside, 80 - inside + 1))
    assert coverage.high == pytest.approx(beta.ppf(0.95, inside + 1, 80 - inside))
    assert coverage.level == 0.9


def test_honest_predictions_score_best(seed):
    """The twins are too sure, not sure enough, or off."""
    rng = np.random.default_rng(seed)
    honest, *twins = (
        predictions(np.random.default_rng(rng.integers(2**31)), 20_000, **forecaster)
        for forecaster in ({}, {"spread": 0.6}, {"spread": 1.6}, {"shift": 0.5})
    )
    for y, mean, lower, upper, logs, _ in twins:
        assert interval_score(y, lower, upper) > interval_score(honest[0], *honest[2:4]) + 0.1
        assert average_log_density(logs) < average_log_density(honest[4]) - 0.05
        assert root_mean_squared_error(y, mean) > 0.97 * root_mean_squared_error(*honest[:2])
    assert interval_coverage(honest[0], *honest[2:4]).value == pytest.approx(0.9, abs=0.015)
    assert interval_coverage(twins[0][0], *twins[0][2:4]).value < 0.885


# The summary


def test_summary_holds_what_the_functions_return(seed):
    y, mean, lower, upper, logs, pit = cases = predictions(np.random.default_rng(seed), 70)
    summary = summarize_regression(*cases, confidence=0.8, n_resamples=99, random_state=seed)
    assert (summary.n, summary.level) == (70, 0.9)
    assert summary.interval_coverage == interval_coverage(y, lower, upper, level=0.8)
    assert summary.mean_interval_width.value == pytest.approx(mean_interval_width(lower, upper))
    assert summary.interval_score.value == pytest.approx(interval_score(y, lower, upper))
    assert summary.average_log_density.value == pytest.approx(average_log_density(logs))
    assert summary.root_mean_squared_error.value == pytest.approx(root_mean_squared_error(y, mean))
    assert summary.pit_test == pit_test(pit)
    for name in NAMES:
        estimate = getattr(summary, name)
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.level == 0.8
    assert summary == summarize_regression(
        *cases, confidence=0.8, n_resamples=99, random_state=seed
    )
    with pytest.raises(FrozenInstanceError):
        summary.n = 3


def test_the_level_is_that_of_the_predictive_intervals():
    cases = predictions(np.random.default_rng(0), 50, level=0.5)
    half = summarize_regression(*cases, level=0.5, n_resamples=9, random_state=0)
    assert half.interval_score.value == interval_score(cases[0], *cases[2:4], level=0.5)
    other = summarize_regression(*cases, level=0.9, n_resamples=9, random_state=0)
    assert other.interval_score.value > half.interval_score.value
    assert other.interval_coverage == half.interval_coverage


def test_bootstrap_is_that_of_scipy(seed):
    cases = predictions(np.random.default_rng(seed), 50)
    rng, same = (np.random.default_rng(seed) for _ in range(2))
    found = summarize_regression(*cases, n_resamples=199, random_state=rng)
    y, mean, lower, upper, logs, _ = cases
    # To the last bit, for BCa counts resamples that are tied with the value.
    outside = np.maximum(lower - y, 0.0) + np.maximum(y - upper, 0.0)
    statistics = [
        (upper - lower, np.mean, found.mean_interval_width),
        (upper - lower + 2 / (1 - 0.9) * outside, np.mean, found.interval_score),
        (logs, np.mean, found.average_log_density),
        (
            (y - mean) ** 2,
            lambda squares, axis=-1: np.sqrt(np.mean(squares, axis=axis)),
            found.root_mean_squared_error,
        ),
    ]
    for values, statistic, estimate in statistics[1:]:
        if estimate is found.interval_score:  # after the resamples of the width
            same.integers(0, 50, (199, 50))
        expected = scipy_bootstrap(
            (values,), statistic, confidence_level=0.95, n_resamples=199, random_state=same
        ).confidence_interval
        assert (estimate.low, estimate.high) == pytest.approx(tuple(expected), rel=1e-9)
    width = asdict(found.mean_interval_width)
    assert width["low"] == pytest.approx(width["high"])  # all intervals have the same width


def share_covered(rng, *, confidence, n_replicates=200):
    """How often the intervals of the numbers hold what is expected of these predictions."""
    z, spread = norm.ppf(0.95), 0.8
    shrunk = spread * z
    tail = 2 * (norm.pdf(shrunk) - shrunk * norm.sf(shrunk))
    truths = {
        "interval_coverage": 2 * norm.cdf(shrunk) - 1,
        "interval_score": 2 * shrunk + 20 * tail,
        "average_log_density": -0.5 * math.log(2 * math.pi * spread**2) - 0.5 / spread**2,
        "root_mean_squared_error": 1.0,
    }
    covered = np.zeros(len(truths))
    for _ in range(n_replicates):
        cases = predictions(rng, 100, spread=spread)
        found = summarize_regression(
            *cases, confidence=confidence, n_resamples=199, random_state=rng
        )
        covered += [covers(getattr(found, name), truth) for name, truth in truths.items()]
    return covered / n_replicates


@pytest.mark.slow
@pytest.mark.evidence
def test_intervals_cover(seed):
    """The twin claims 95 % for intervals of 80 %."""
    rng = np.random.default_rng(seed)
    assert np.all(share_covered(rng, confidence=0.95) > 0.87)
    twin = share_covered(rng, confidence=0.8)
    assert np.all(twin[1:] < 0.87)
    assert np.all(twin > 0.67)


def test_summary_in_json():
    summary = summarize_regression([1.0], [0.5], [0.0], [2.0], [-1.0], [0.7], random_state=0)
    read = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert list(read) == [field.name for field in fields(summary)]
    assert read["interval_score"] == {"value": 2.0, "low": None, "high": None, "level": 0.95}
    assert read["pit_test"]["variance"]["value"] is None
    assert read["interval_coverage"]["high"] == 1.0


def test_selection_taken_at_face_value_is_found_out():
    """Features unrelated to the response: the corrected predictions pass, the others do not."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=260)
    X, _ = GaussianModel().simulate_features(y[:, np.newaxis], 1000, rng, tau=0.0)
    found = {}
    for correct in (True, False):
        model = SelectiveNaiveRegressor(k=20, correct_selection=correct).fit(X[:60], y[:60])
        new, response = X[60:], y[60:]
        quantiles = model.predict_quantiles(new, [0.05, 0.95])
        found[correct] = summarize_regression(
            response,
            model.predict(new),
            *quantiles.T,
            model.predict_log_density(new, response),
            model.predict_cdf(new, response),
            random_state=0,
        )
    assert covers(found[True].interval_coverage, 0.9)
    assert found[False].interval_coverage.high < 0.75
    assert found[False].pit_test.spread == "too narrow"
    assert found[False].pit_test.variance.z > 5 > found[True].pit_test.variance.z
    assert found[True].average_log_density.low > found[False].average_log_density.high


# Bad input

GOOD = {
    "y": [1.0, 2.0],
    "mean": [1.0, 2.0],
    "lower": [0.0, 1.0],
    "upper": [2.0, 3.0],
    "log_density": [-1.0, -1.0],
    "pit": [0.5, 0.5],
}


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (interval_coverage, ["y", "lower", "upper"]),
        (interval_score, ["y", "lower", "upper"]),
        (mean_interval_width, ["lower", "upper"]),
        (root_mean_squared_error, ["y", "mean"]),
        (average_log_density, ["log_density"]),
        (summarize_regression, list(GOOD)),
    ],
)
def test_bad_cases_are_named(function, names):
    function(**{name: GOOD[name] for name in names})
    function(**{name: pd.Series(GOOD[name]) for name in names})
    for name in names:
        for bad, message in [
            ([0.5, math.nan], f"{name} has the value nan in row 1"),
            ([math.inf, 0.5], f"{name} has the value inf in row 0"),
            (["a", "b"], f"{name} has the value .*'a'.* in row 0, which is not a number"),
            ([], f"{name} has no cases: give at least one"),
            ([[0.5, 0.5]], rf"{name} has the shape \(1, 2\): give one value for each case\."),
        ]:
            with pytest.raises(ValueError, match=message):
                function(**{other: bad if other == name else GOOD[other] for other in names})
    for name in names[1:]:
        with pytest.raises(ValueError, match=r"has \d cases and \w+ has \d: give one \w+ for each"):
            function(**{other: GOOD[other] * (1 + (other == name)) for other in names})


@pytest.mark.parametrize(
    "function", [mean_interval_width, lambda *b: interval_coverage([1.0, 2.0], *b)]
)
def test_crossed_bounds_are_named(function):
    with pytest.raises(ValueError, match=r"lower is 3\.5 and upper is 3 in row 1"):
        function([0.0, 3.5], [2.0, 3.0])


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="level=90 must be between 0 and 1"):
        interval_score([1.0], [0.0], [2.0], level=90)
    for name in ("level", "confidence"):
        with pytest.raises(ValueError, match="level=0 must be between 0 and 1"):
            summarize_regression(**GOOD, **{name: 0})
    with pytest.raises(ValueError, match=r"n_resamples=1\.5 must be a whole number"):
        summarize_regression(**GOOD, n_resamples=1.5)
    with pytest.raises(ValueError, match=r"pit has the value 1\.5 in row 0"):
        summarize_regression(**{**GOOD, "pit": [1.5, 0.5]})
