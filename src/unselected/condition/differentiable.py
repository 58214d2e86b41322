"""The log probability of the event in the arrays of a sampler, so that it has gradients.

``ops`` is the module of array functions: jax.numpy, pytensor.tensor, or numpy itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from unselected._typing import Floats
from unselected.condition.features import Columns, Parameters
from unselected.condition.probability import SelectionProbability

# From here on log(1 - P) goes on as its tangent, so that it stays finite where a sampler starts far
# away, and where rounding puts P above 1.
_LARGEST = 0.999


def log_event(
    ops: Any,
    omission: SelectionProbability,
    parameters: Parameters,
    n_omitted: int,
    log_density: Callable[[Columns, Parameters], Any] | None = None,
) -> Any:
    """Return the log probability of the event as a function of a sampler's parameters.

    Where features were simulated at references, ``log_density`` is written in the functions of the
    sampler (default: that of ``omission``). With a lattice of one parameter none is needed.
    """
    if omission.has_lattice:
        return n_omitted * _log_omission_on_lattice(ops, omission.export(), parameters)
    columns, log_weights = omission.selected_columns()
    density = log_density or omission.log_density
    log_terms = density(_own(ops, columns), parameters) + _own(ops, log_weights)
    return n_omitted * _log_omission(ops, log_terms)


def _log_omission(ops: Any, log_terms: Any) -> Any:
    """Return log(1 - sum of exp(log_terms))."""
    top = ops.max(log_terms)
    selected = ops.exp(top) * ops.sum(ops.exp(log_terms - top))
    inside = ops.minimum(selected, _LARGEST)
    return ops.log1p(-inside) - (selected - inside) / (1.0 - _LARGEST)


def _log_omission_on_lattice(ops: Any, exported: dict[str, Any], parameters: Parameters) -> Any:
    """Return the exported cubic; beyond the lattice it goes on as its tangent."""
    nodes, coefficients = (np.array(exported[key]) for key in ("nodes", "coefficients"))
    x = parameters[exported["parameter"]]
    inside = ops.clip(x, nodes[0], nodes[-1])
    interval = ops.searchsorted(_own(ops, nodes[1:-1]), inside, side="right")
    step = inside - _own(ops, nodes)[interval]
    a, b, c, d = (_own(ops, each)[interval] for each in coefficients.T)
    slope = b + step * (2.0 * c + step * 3.0 * d)
    return a + step * (b + step * (c + step * d)) + slope * (x - inside)


def _own(ops: Any, values: Columns | Floats) -> Any:
    """Return an array of the sampler."""
    return ops.asarray(values) if hasattr(ops, "asarray") else ops.as_tensor(values)
