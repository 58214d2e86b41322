"""The event in NumPyro: its value, its gradient, and calibration under selection."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import poisson_counts
import pytest
from jax.scipy.special import gammaln
from numpyro.infer import MCMC, NUTS, init_to_median
from numpyro.infer.hmc import hmc
from numpyro.infer.util import initialize_model
from numpyro.infer.util import log_density as log_joint
from poisson_counts import N_FEATURES, PRIOR, distance_from_uniform

from unselected.condition.differentiable import log_event
from unselected.numpyro import selection_factor

log_density = poisson_counts.density_in(jnp.log, gammaln)
# Selected features of a data set, most of the slots empty.
N_SLOTS = 80
N_WARMUP, N_DRAWS = 200, 250


@pytest.fixture(scope="module")
def omission():
    return poisson_counts.prepared_omission()


def model(omission, counts, is_kept, n_omitted):
    """Totals of the kept features, their rates integrated out, and the event of the others."""
    parameters = {
        name: numpyro.sample(name, dist.LogNormal(*prior)) for name, prior in PRIOR.items()
    }
    numpyro.factor("kept", jnp.sum(log_density(counts, parameters) * is_kept))
    selection_factor(omission, parameters, n_omitted, log_density=log_density)


def data_of(parameters, rng):
    """The totals in slots, which slots are used, and the number of omitted features."""
    kept = poisson_counts.selected_totals(parameters, rng)[:, :N_SLOTS]
    k = kept.shape[1]
    counts = np.zeros((2, N_SLOTS))
    counts[:, :k] = kept
    return counts, np.arange(N_SLOTS) < k, N_FEATURES - k


def test_the_factor_is_the_log_event(omission):
    parameters = {"shape": 4.0, "level": 3.0}
    value, se = omission.log_event(parameters, 100)

    def traced(point):
        return log_event(jnp, omission, point, 100, log_density)

    assert float(jax.jit(traced)(parameters)) == pytest.approx(value, abs=6.0 * se)
    gradient = jax.grad(traced)(parameters)
    for name, slope in gradient.items():
        around = [
            log_event(np, omission, parameters | {name: parameters[name] + step}, 100)
            for step in (-0.01, 0.01)
        ]
        assert float(slope) == pytest.approx((around[1] - around[0]) / 0.02, rel=0.01)


def test_the_factor_enters_the_model(omission):
    rng = np.random.default_rng(0)
    counts, is_kept, n_omitted = data_of({"shape": 4.0, "level": 3.0}, rng)
    point = {"shape": 4.0, "level": 3.0}
    with_event, without = (
        float(log_joint(model, (omission, counts, is_kept, n), {}, point)[0])
        for n in (n_omitted, 0)
    )
    expected = log_event(np, omission, point, n_omitted)
    assert with_event - without == pytest.approx(expected, abs=0.01)


def test_far_away_the_factor_is_finite_and_leads_back(omission):
    far = {"shape": 0.02, "level": 40.0}
    slope = jax.grad(
        lambda shape: log_event(jnp, omission, far | {"shape": shape}, 100, log_density)
    )
    assert np.isfinite(float(slope(0.02)))


def test_a_lattice_of_one_parameter_needs_no_density():
    omission = poisson_counts.lattice_omission()
    value, _ = omission.log_event({"shape": 4.0}, 100)

    def traced(shape):
        return log_event(jnp, omission, {"shape": shape}, 100)

    assert float(jax.jit(traced)(4.0)) == pytest.approx(value, abs=0.02)
    around = [float(log_event(np, omission, {"shape": 4.0 + step}, 100)) for step in (-0.01, 0.01)]
    assert float(jax.grad(traced)(4.0)) == pytest.approx((around[1] - around[0]) / 0.02, rel=0.01)


def sampler_of(omission):
    """Return draws of the shape as a compiled function of a key and the data.

    These are the parts of `MCMC(NUTS(model))`, which would compile anew for each replicate.
    """
    counts, is_kept = np.zeros((2, N_SLOTS)), np.zeros(N_SLOTS, dtype=bool)
    key = jax.random.PRNGKey(0)
    init, potential, *_ = initialize_model(
        key,
        partial(model, omission),
        init_strategy=init_to_median(),  # elsewhere a chain in seven starts in another mode
        model_args=(counts, is_kept, 0.0),
        dynamic_args=True,
    )
    start, step = hmc(potential_fn_gen=potential, algo="NUTS")

    @jax.jit
    def draws(key, *data):
        state = start(init.z, num_warmup=N_WARMUP, model_args=data, rng_key=key)

        def advance(state, _):
            state = step(state, model_args=data)
            return state, state.z["shape"]

        return jnp.exp(jax.lax.scan(advance, state, length=N_WARMUP + N_DRAWS)[1][N_WARMUP:])

    return draws


def sampled_ranks(omission, n_replicates, corrected=True, seed=2):
    """Shares of posterior draws below the true shape, one for each replicate."""
    ranks, draws = [], sampler_of(omission)
    for replicate in range(n_replicates):
        rng = np.random.default_rng([seed, replicate])
        parameters = poisson_counts.draw_parameters(rng)
        counts, is_kept, n_omitted = data_of(parameters, rng)
        n = float(n_omitted if corrected else 0)
        shapes = draws(jax.random.PRNGKey(replicate), counts, is_kept, n)
        ranks.append(float(np.mean(np.asarray(shapes) < parameters["shape"])))
    return np.array(ranks)


def test_calibration_under_selection(omission):
    """Simulation-based calibration of the shape; the uncorrected twin fails the same bound."""
    assert distance_from_uniform(sampled_ranks(omission, 100)) < 1.0
    assert distance_from_uniform(sampled_ranks(omission, 25, corrected=False)) > 1.0


def test_the_check_after_sampling(omission):
    rng = np.random.default_rng(3)
    counts, is_kept, n_omitted = data_of({"shape": 4.0, "level": 3.0}, rng)
    kernel = NUTS(partial(model, omission), init_strategy=init_to_median())
    mcmc = MCMC(kernel, num_warmup=200, num_samples=200, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), counts, is_kept, float(n_omitted))
    assert omission.check(mcmc.get_samples(), n_omitted, at_most=20).reliable
    weak = poisson_counts.omission(references=[{"shape": 50.0, "level": 3.0}])
    assert not weak.check(mcmc.get_samples(), n_omitted, at_most=20).reliable
