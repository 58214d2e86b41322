"""The omission probability of real-valued features: simulation, F distributions, the ends."""

import numpy as np
import pytest
from real_oracle import simulated_scores
from scipy import stats

from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import class_axes


def real_event(sizes, cut, n_features=1):
    counts = np.array([sizes])
    statistic = "|COR|" if len(sizes) == 2 else "F"
    nu = (counts.sum(axis=1) - len(sizes)).astype(float)
    return RealEvent(cut, statistic, class_axes(counts)[0], nu, np.array([n_features]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "R2"),
    [((9, 14), 0.2), ((7, 7, 7), 0.35), ((42, 11, 9), 0.2), ((3, 4, 5, 30), 0.3), ((1, 1, 9), 0.5)],
)
@pytest.mark.parametrize("tau", [0.0, 0.3, 1.5])
def test_real_omission_agrees_with_a_million_simulated_features(sizes, R2, tau, seed):
    n, G = sum(sizes), len(sizes)
    cut = np.sqrt(R2) if G == 2 else (R2 / (G - 1)) / ((1 - R2) / (n - G))
    ours = np.exp(log_real_omission(np.array([tau**2]), real_event(sizes, cut)))[0, 0]
    draws = 10**6
    simulated = simulated_scores(sizes, tau, draws, np.random.default_rng(seed))
    error = 4.0 * np.sqrt(max(ours * (1 - ours), 1e-9) / draws)
    assert np.mean(simulated <= R2) == pytest.approx(ours, abs=error)
    twin = np.exp(log_real_omission(np.array([(tau + 0.1) ** 2]), real_event(sizes, cut)))[0, 0]
    assert abs(np.mean(simulated <= R2) - twin) > error


@pytest.mark.parametrize("G", [2, 3, 5])
@pytest.mark.parametrize("size", [2, 10, 400])
@pytest.mark.parametrize("kappa", [1e-4, 0.05, 0.5, 20.0])
def test_equal_classes_are_a_scaled_f_distribution(G, size, kappa):
    tau2 = np.array([0.0, 0.01, 0.3, 4.0])
    n = G * size
    law = stats.f(G - 1, n - G)
    cut = kappa * (n - G) / (G - 1)
    if G == 2:
        event = real_event((size,) * G, np.sqrt(kappa / (1 + kappa)))
    else:
        event = real_event((size,) * G, cut)
    np.testing.assert_allclose(
        np.exp(log_real_omission(tau2, event))[:, 0],
        law.cdf(cut / (1 + tau2 * size)),
        rtol=1e-9,
        atol=1e-15,
    )


def test_real_omission_at_the_ends():
    tau2 = np.array([0.0, 1.0])
    assert log_real_omission(tau2, real_event((5, 7), 0.0)).tolist() == [[-np.inf], [-np.inf]]
    assert log_real_omission(tau2, real_event((5, 7), 1.0)).tolist() == [[0.0], [0.0]]
    assert log_real_omission(tau2, real_event((5, 7), None)).tolist() == [[0.0], [0.0]]


def test_real_omission_falls_with_tau_and_with_the_cut():
    tau2 = np.linspace(0.0, 5.0, 30)
    by_tau = log_real_omission(tau2, real_event((42, 11, 9), 5.0))[:, 0]
    assert np.all(np.diff(by_tau) < 0)
    by_cut = [
        log_real_omission(tau2[5:6], real_event((42, 11, 9), cut))[0, 0] for cut in range(1, 9)
    ]
    assert np.all(np.diff(by_cut) > 0)


def test_patterns_are_taken_one_by_one():
    """Many patterns at once, in blocks: each as if it were alone."""
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 12, size=(300, 3))
    lam, nu = class_axes(counts)[0], counts.sum(axis=1) - 3.0
    event = RealEvent(4.0, "F", lam, nu, np.ones(300, dtype=int))
    tau2 = rng.gamma(0.5, 0.2, size=40)
    together = log_real_omission(tau2, event)
    for j in (0, 17, 299):
        alone = log_real_omission(tau2, event.patterns(slice(j, j + 1)))
        np.testing.assert_allclose(together[:, j], alone[:, 0], rtol=1e-11)
    np.testing.assert_allclose(event.log_prob(together), together.sum(axis=1), rtol=1e-12)
