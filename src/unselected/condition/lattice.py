"""P(selected) on a lattice of one or two parameters, and a smooth interpolant between the nodes.

The logit of P is interpolated by a cubic spline. How far off that is, the nodes say: a spline
through every second node is compared with the nodes that it left out.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline, CubicSpline, RectBivariateSpline
from scipy.ndimage import maximum_filter
from scipy.special import expit, log_expit, logit

from unselected._typing import Floats
from unselected.condition.features import Parameters
from unselected.condition.records import Estimate, Gate, ImpreciseEventError

# So many nodes leave four when every second one is left out.
_LEAST_NODES = 7
# With half the distance between nodes a cubic spline is up to 16 times as close. A quarter of the
# difference is cautious.
_GAIN_OF_ALL_NODES = 4.0
# The exported cubics have nodes so many times as close, where value and slope are the spline's.
_FINER = 4


class Estimator(Protocol):
    """What a lattice interpolates."""

    def estimate(self, parameters: Parameters) -> Estimate:
        """Return P(selected) at some parameters."""

    def stored_estimate(self, parameters: Parameters) -> Estimate:
        """Return P(selected) as samplers compute it, who do not simulate."""

    def improve(self, parameters: Parameters, estimate: Estimate, gate: Gate) -> None:
        """Simulate more; raise where the gate is out of reach."""


class OutsideLatticeError(ValueError):
    """Parameters are outside of the lattice."""


class Lattice:
    """Estimates at the nodes of one or two parameters, interpolated."""

    def __init__(self, inner: Estimator, axes: Mapping[str, ArrayLike]) -> None:
        self.inner = inner
        self.names = list(axes)
        self.axes = [_checked_axis(name, nodes) for name, nodes in axes.items()]
        if len(self.axes) not in (1, 2):
            raise ValueError(f"lattice must name one or two parameters, not {len(self.axes)}")
        self._table: _Table | None = None

    def estimate(self, parameters: Parameters) -> Estimate:
        """Return the interpolated P(selected); raise outside of the lattice."""
        return self.table.estimate(self._point(parameters))

    def stored_estimate(self, parameters: Parameters) -> Estimate:
        """Return the same: samplers have the spline."""
        return self.estimate(parameters)

    def improve(self, parameters: Parameters, estimate: Estimate, gate: Gate) -> None:
        """Simulate more at the worst node around; raise where the gate is out of reach."""
        by_nodes = gate.n_omitted * estimate.interpolation_error
        if by_nodes >= 0.9 * gate.tolerance:
            raise ImpreciseEventError(
                f"the interpolation between the nodes of the lattice adds an error of "
                f"{by_nodes:.2g} to the log event (tolerance {gate.tolerance:g}). Place nodes "
                "closer together"
            )
        rest = 0.9 * float(np.sqrt(gate.tolerance**2 - by_nodes**2))
        tighter = Gate(gate.n_omitted, rest, gate.min_effective)
        corners = self.table.corners(self._point(parameters))
        failed = [corner for corner in corners if not tighter.passes(self.table.estimates[corner])]
        worst = max(failed, key=lambda corner: self.table.estimates[corner].log_omission_se)
        self.inner.improve(self._node(worst), self.table.estimates[worst], tighter)
        self._table = None

    @property
    def table(self) -> "_Table":
        """The table of all nodes, computed when first needed or after an improvement."""
        if self._table is None:
            estimates = np.empty([axis.size for axis in self.axes], dtype=object)
            for place, node in self._nodes():
                estimates[place] = self.inner.estimate(node)
            self._table = _Table(self.axes, estimates)
        return self._table

    def export(self) -> dict[str, Any]:
        """Return log P(omitted) as cubics between nodes; see `SelectionProbability.export`."""
        if len(self.axes) != 1:
            raise ValueError("only a lattice of one parameter can be exported")
        return {"parameter": self.names[0], **self.table.cubics()}

    def _nodes(self) -> Sequence[tuple[tuple[int, ...], dict[str, Any]]]:
        places = product(*(range(axis.size) for axis in self.axes))
        return [(place, self._node(place)) for place in places]

    def _node(self, place: tuple[int, ...]) -> dict[str, Any]:
        values = (axis[i] for axis, i in zip(self.axes, place, strict=True))
        return dict(zip(self.names, values, strict=True))

    def _point(self, parameters: Parameters) -> Floats:
        if set(parameters) != set(self.names):
            raise ValueError(
                f"the lattice is over {', '.join(self.names)}, but the parameters are "
                f"{', '.join(parameters) or 'none'}"
            )
        point = np.array([float(parameters[name]) for name in self.names])
        for name, axis, value in zip(self.names, self.axes, point, strict=True):
            if not axis[0] <= value <= axis[-1]:
                raise OutsideLatticeError(
                    f"{name} = {value:g} is outside of the lattice, {axis[0]:g} to {axis[-1]:g}"
                )
        return point


class _Table:
    """Estimates at all nodes, and the spline through them."""

    def __init__(self, axes: Sequence[Floats], estimates: Any) -> None:
        self.axes, self.estimates = axes, estimates
        logits = np.empty(estimates.shape)
        for place, known in np.ndenumerate(estimates):
            at_most = 1.0 - 0.5 / known.n_draws
            logits[place] = logit(np.clip(known.probability, max(known.least, 1e-300), at_most))
        self.spline = _Spline(axes, logits)
        coarse = [_every_second(axis.size) for axis in axes]
        left_out = _Spline(
            [axis[some] for axis, some in zip(axes, coarse, strict=True)], logits[np.ix_(*coarse)]
        )
        differences = np.array([left_out(point) for point in product(*axes)]).reshape(logits.shape)
        error = np.abs(differences - logits) / _GAIN_OF_ALL_NODES
        self.logit_error = maximum_filter(error, size=3, mode="nearest")

    def corners(self, point: Floats) -> list[tuple[int, ...]]:
        """Return the nodes around a point."""
        below = [
            min(int(np.searchsorted(axis, value, side="right")) - 1, axis.size - 2)
            for axis, value in zip(self.axes, point, strict=True)
        ]
        return list(product(*((i, i + 1) for i in below)))

    def estimate(self, point: Floats) -> Estimate:
        """Return the estimate at a point: P from the spline, the rest from the nodes around."""
        corners = self.corners(point)
        around = [self.estimates[corner] for corner in corners]
        probability = float(expit(self.spline(point)))
        omitted_se = max(known.se / known.omitted for known in around)
        logit_error = max(self.logit_error[corner] for corner in corners)
        return Estimate(
            probability=probability,
            se=omitted_se * (1.0 - probability),
            effective_draws=max(known.effective_draws for known in around),
            n_draws=around[0].n_draws,
            n_selected=max(known.n_selected for known in around),
            n_references=around[0].n_references,
            upper=min(known.upper for known in around),
            interpolation_error=probability * logit_error,
        )

    def cubics(self) -> dict[str, Any]:
        """Return cubics of log P(omitted) between nodes, lowest power first."""
        axis = self.axes[0]
        steps = np.linspace(axis[:-1], axis[1:], _FINER, endpoint=False).T.ravel()
        nodes = np.append(steps, axis[-1])
        logits, slopes = self.spline.value_and_slope(nodes)
        cubics = CubicHermiteSpline(nodes, log_expit(-logits), -expit(logits) * slopes)
        errors = [known.se / known.omitted for known in self.estimates]
        return {
            "nodes": nodes.tolist(),
            "coefficients": cubics.c[::-1].T.tolist(),
            "se": np.interp(nodes, axis, errors).tolist(),
        }


class _Spline:
    """A cubic spline over one or two axes."""

    def __init__(self, axes: Sequence[Floats], values: Floats) -> None:
        self._spline: Any = (
            CubicSpline(axes[0], values)
            if len(axes) == 1
            else RectBivariateSpline(axes[0], axes[1], values)
        )

    def __call__(self, point: ArrayLike) -> float:
        """Return the value at a point."""
        return float(np.squeeze(self._spline(*np.asarray(point, dtype=np.float64))))

    def value_and_slope(self, x: Floats) -> tuple[Floats, Floats]:
        """Return values and slopes over one axis."""
        return self._spline(x), self._spline(x, 1)


def _checked_axis(name: str, nodes: ArrayLike) -> Floats:
    axis = np.asarray(nodes, dtype=np.float64)
    if axis.ndim != 1 or axis.size < _LEAST_NODES:
        raise ValueError(f"the lattice needs at least {_LEAST_NODES} nodes of {name}")
    if not (np.all(np.isfinite(axis)) and np.all(np.diff(axis) > 0.0)):
        raise ValueError(f"the nodes of {name} must be finite and increase")
    return axis


def _every_second(n: int) -> list[int]:
    """Return every second place, and the last one.

    >>> _every_second(6)
    [0, 2, 4, 5]
    """
    return sorted({*range(0, n, 2), n - 1})
