"""The event in PyMC: its value, its gradient, and calibration under selection."""

import logging

import numpy as np
import poisson_counts
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from poisson_counts import N_FEATURES, PRIOR, distance_from_uniform

from unselected.condition.differentiable import log_event
from unselected.pymc import selection_potential

log_density = poisson_counts.density_in(pt.log, pt.gammaln)
logging.getLogger("pymc").setLevel(logging.ERROR)


@pytest.fixture(scope="module")
def omission():
    return poisson_counts.prepared_omission()


@pytest.fixture(scope="module")
def model(omission):
    """Totals of the kept features, their rates integrated out, and the event of the others."""
    with pm.Model() as model:
        counts, n_omitted = pm.Data("counts", np.ones((2, 3))), pm.Data("n_omitted", 97.0)
        parameters = {name: pm.LogNormal(name, *prior) for name, prior in PRIOR.items()}
        pm.Potential("kept", log_density(counts, parameters).sum())
        selection_potential(omission, parameters, n_omitted, log_density=log_density)
    return model


def traced(omission, names, **options):
    """The log event of 100 features and its gradient, compiled."""
    inputs = {name: pt.dscalar(name) for name in names}
    value = log_event(pt, omission, inputs, 100, **options)
    gradient = pytensor.grad(value, list(inputs.values()))
    return pytensor.function(list(inputs.values()), [value, *gradient])


def slope_in_numpy(omission, parameters, name):
    around = [
        float(log_event(np, omission, parameters | {name: parameters[name] + step}, 100))
        for step in (-0.001, 0.001)
    ]
    return (around[1] - around[0]) / 0.002


def test_the_potential_is_the_log_event(omission):
    parameters = {"shape": 4.0, "level": 3.0}
    value, se = omission.log_event(parameters, 100)
    found, *gradient = traced(omission, parameters, log_density=log_density)(4.0, 3.0)
    assert float(found) == pytest.approx(value, abs=6.0 * se)
    for name, slope in zip(parameters, gradient, strict=True):
        assert float(slope) == pytest.approx(slope_in_numpy(omission, parameters, name), rel=1e-3)


def test_a_lattice_of_one_parameter_needs_no_density():
    omission = poisson_counts.lattice_omission()
    value, _ = omission.log_event({"shape": 4.0}, 100)
    found, slope = traced(omission, ["shape"])(4.0)
    assert float(found) == pytest.approx(value, abs=0.02)
    expected = slope_in_numpy(omission, {"shape": 4.0}, "shape")
    assert float(slope) == pytest.approx(expected, rel=1e-3)


def test_the_potential_enters_the_model(model, omission):
    log_prob = model.compile_logp()
    point = {"shape_log__": np.log(4.0), "level_log__": np.log(3.0)}
    with model:
        pm.set_data({"n_omitted": 97.0})
        with_event = float(log_prob(point))
        pm.set_data({"n_omitted": 0.0})
        without = float(log_prob(point))
    expected = log_event(np, omission, {"shape": 4.0, "level": 3.0}, 97)
    assert with_event - without == pytest.approx(expected, rel=1e-6)


def sampled_ranks(model, n_replicates, corrected=True, seed=4):
    """Shares of posterior draws below the true shape, one for each replicate."""
    ranks = []
    with model:
        step = pm.NUTS()  # compiled once
        for replicate in range(n_replicates):
            rng = np.random.default_rng([seed, replicate])
            parameters = poisson_counts.draw_parameters(rng)
            kept = poisson_counts.selected_totals(parameters, rng).astype(float)
            n_omitted = float(N_FEATURES - kept.shape[1] if corrected else 0)
            pm.set_data({"counts": kept, "n_omitted": n_omitted})
            draws = pm.sample(
                250,
                tune=250,
                chains=1,
                cores=1,
                step=step,
                random_seed=replicate,
                progressbar=False,
                compute_convergence_checks=False,
            ).posterior["shape"]
            ranks.append(float(np.mean(draws.values < parameters["shape"])))
    return np.array(ranks)


def test_calibration_under_selection(model):
    """Simulation-based calibration of the shape; the uncorrected twin fails the same bound."""
    assert distance_from_uniform(sampled_ranks(model, 100)) < 1.0
    assert distance_from_uniform(sampled_ranks(model, 25, corrected=False)) > 1.0
