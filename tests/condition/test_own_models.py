"""The library's own models through the general door, against their exact events."""

import numpy as np
import pytest
from condition_models import DOORS
from scipy.stats import binom

N_OMITTED = 100
N_VALUES = 50


def errors_of(door, seed, exact):
    """Return how many stated standard errors the log event is away from the exact one.

    Each value has a simulation of its own, so that the errors are independent.
    """
    rng = np.random.default_rng([seed, 17])
    errors = []
    for i in range(N_VALUES):
        parameters = door.draw(rng)
        omission = door.omission(seed=1000 * seed + i, n_draws=1 << 12, tolerance=0.3)
        log_event, se = omission.log_event(parameters, N_OMITTED)
        assert 0.0 < se <= omission.tolerance
        errors.append((log_event - N_OMITTED * exact(parameters)) / se)
    return np.array(errors)


def is_calibrated(errors):
    """Whether no error is beyond 4.5 standard errors, and few are beyond 2."""
    few = binom.ppf(0.9999, errors.size, 0.0455)
    return np.abs(errors).max() < 4.5 and np.sum(np.abs(errors) > 2.0) <= few


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
def test_log_event_agrees_with_the_exact_one(name, seed):
    door = DOORS[name]()
    assert is_calibrated(errors_of(door, seed, door.log_omission))


@pytest.mark.slow
def test_the_test_would_notice(seed):
    door = DOORS["gaussian"]()
    errors = errors_of(door, seed, lambda parameters: door.log_omission(door.stronger(parameters)))
    assert not is_calibrated(errors)


@pytest.mark.parametrize("name", DOORS)
def test_one_value_agrees_with_the_exact_one(name, seed):
    door = DOORS[name]()
    parameters = door.draw(np.random.default_rng([seed, 18]))
    omission = door.omission(seed=seed)
    log_event, se = omission.log_event(parameters, N_OMITTED)
    assert log_event == pytest.approx(N_OMITTED * door.log_omission(parameters), abs=5.0 * se)
    assert omission.diagnose(parameters, N_OMITTED).reliable
