"""The order of cases: against scikit-learn, which shares no code with ours."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as reference_curve

from unselected.calibration import area_under_curve, net_benefit, roc_curve
from unselected.calibration.discrimination import resampled_area
from unselected.numerics.resampling import Resamples


def predicted(seed, n, n_classes):
    """Classes and probabilities with many ties."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    p = rng.integers(1, 6, size=(n, n_classes)) + 2.0 * np.eye(n_classes)[y]
    return y, p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_area_is_that_of_scikit_learn(n_classes, seed):
    y, p = predicted(seed, 60, n_classes)
    score = p[:, 1] if n_classes == 2 else p
    assert area_under_curve(y, p) == pytest.approx(roc_auc_score(y, score, multi_class="ovr"))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_resample_has_the_area_of_its_cases(n_classes, seed):
    y, p = predicted(seed, 30, n_classes)
    repeats = np.array([p, p[:, ::-1] if n_classes == 2 else np.roll(p, 1, axis=1)])
    resamples = Resamples.draw(30, n_resamples=20, seed=seed)
    found = resampled_area(y, repeats, resamples)
    for rows, area in zip(resamples.picks, found.draws, strict=True):
        assert area == pytest.approx(np.mean([area_under_curve(y[rows], q[rows]) for q in repeats]))
    assert found.value == pytest.approx(np.mean([area_under_curve(y, q) for q in repeats]))


def test_a_resample_without_a_class_is_left_out():
    y, p = predicted(0, 4, 2)
    resamples = Resamples(np.arange(4), np.array([[0, 0, 2, 2], [0, 1, 2, 3], [0, 1, 2, 3]]))
    found = resampled_area(y, p[np.newaxis], resamples)
    assert np.isnan(found.draws).tolist() == [True, False, False]
    assert found.estimate(0.9).low == found.value


def test_the_curve_is_that_of_scikit_learn(seed):
    y, p = predicted(seed, 60, 2)
    false, true, _ = reference_curve(y, p[:, 1], drop_intermediate=False)
    ours = roc_curve(y == 1, p[:, 1])
    np.testing.assert_allclose(ours.false_positive_rate, false)
    np.testing.assert_allclose(ours.true_positive_rate, true)


def test_net_benefit_counts_errors_at_the_odds_of_the_threshold():
    happened, p = np.array([True, True, False, False]), np.array([0.9, 0.1, 0.3, 0.1])
    curve = net_benefit(happened, p, [0.2, 0.5])
    np.testing.assert_allclose(curve.model, [0.25 - 0.25 * 0.25, 0.25])
    np.testing.assert_allclose(curve.treat_all, [0.5 - 0.25 * 0.5, 0.0])
