"""Condition a PyMC model on the selection of its features.

>>> from unselected.pymc import selection_potential  # doctest: +SKIP
"""

from collections.abc import Callable, Mapping
from typing import Any

from unselected.condition import SelectionProbability
from unselected.condition.differentiable import log_event

try:
    import pymc
    import pytensor.tensor as pt
except ImportError as error:
    raise ImportError('unselected.pymc needs PyMC: pip install "unselected[pymc]"') from error


def selection_potential(
    omission: SelectionProbability,
    parameters: Mapping[str, Any],
    n_omitted: int,
    *,
    log_density: Callable[[Any, Mapping[str, Any]], Any] | None = None,
    name: str = "selection",
) -> Any:
    """Add the log probability that ``n_omitted`` features are omitted to a PyMC model.

    Call it inside the model. After sampling, ``omission.check(draws, n_omitted)`` says whether it
    was precise enough.

    Parameters
    ----------
    omission : SelectionProbability
        With ``log_density`` and references, or with a lattice of one parameter.
    parameters : dict
        The model's variables for the parameters that features share.
    n_omitted : int or shared variable
    log_density : callable or None
        ``log_density(columns, parameters)`` in PyTensor. By default that of ``omission``, which
        then must work with tensors of PyTensor. Not needed with a lattice.
    name : str
        Of the potential.

    Returns
    -------
    potential : tensor
    """
    return pymc.Potential(name, log_event(pt, omission, parameters, n_omitted, log_density))
