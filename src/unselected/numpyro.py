"""Condition a NumPyro model on the selection of its features.

>>> from unselected.numpyro import selection_factor  # doctest: +SKIP
"""

from collections.abc import Callable, Mapping
from typing import Any

from unselected.condition import SelectionProbability
from unselected.condition.differentiable import log_event

try:
    import jax.numpy as jnp
    import numpyro
except ImportError as error:
    raise ImportError(
        'unselected.numpyro needs NumPyro: pip install "unselected[numpyro]"'
    ) from error


def selection_factor(
    omission: SelectionProbability,
    parameters: Mapping[str, Any],
    n_omitted: int,
    *,
    log_density: Callable[[Any, Mapping[str, Any]], Any] | None = None,
    name: str = "selection",
) -> None:
    """Add the log probability that ``n_omitted`` features are omitted to a NumPyro model.

    Call it inside the model. After sampling, ``omission.check(mcmc.get_samples(), n_omitted)`` says
    whether it was precise enough.

    Parameters
    ----------
    omission : SelectionProbability
        With ``log_density`` and references, or with a lattice of one parameter.
    parameters : dict
        The model's values of the parameters that features share.
    n_omitted : int
    log_density : callable or None
        ``log_density(columns, parameters)`` in jax.numpy. By default that of ``omission``, which
        then must be written in jax.numpy. Not needed with a lattice.
    name : str
        Of the factor.
    """
    numpyro.factor(name, log_event(jnp, omission, parameters, n_omitted, log_density))
