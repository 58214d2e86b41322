"""The terms of a likelihood at many values of alpha, from exact ones at some of them.

With many cases, or many vectors of counts, a value of alpha takes milliseconds or more. The terms
are smooth functions of alpha: polynomials through some values give the others with ten digits or
more. Whether they do is checked at three of them, and otherwise all are computed.
"""

import numpy as np

from unselected._typing import Floats
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.concentration import ConcentrationPrior, v_of
from unselected.models.records import Record
from unselected.numerics.interpolation import interpolate

# Known values that a polynomial goes through.
_NEAREST = 16
# Largest error of the log likelihood, times the weight of a node in units of the largest, unless
# the likelihood itself is less exact.
_TOLERANCE = 5e-10
# The check is at the largest weight, and on both sides at the last above exp(-this) of it.
_DEPTH = 6.0
# With fewer values than this the check would cost what it saves.
_FEWEST = 8


class RecordInterpolation:
    """The log likelihood as a function of log u, for a rule that is made finer step by step.

    Parameters
    ----------
    likelihood : Likelihood
        It remembers the terms that were interpolated.
    prior : ConcentrationPrior
    """

    def __init__(self, likelihood: Likelihood, prior: ConcentrationPrior) -> None:
        self._likelihood, self._prior = likelihood, prior
        self._log_n = float(np.log(likelihood.n_cases))
        self._known: dict[float, Record] = {}

    def log_total(self, log_u: Floats) -> Floats:
        """Return the log likelihood, the event included, at an array of log u."""
        v = v_of(log_u, self._log_n)
        if self._is_between_known(v):
            self._interpolate(log_u, v)
        else:
            self._know(log_u, v)
        return np.array([self._likelihood.at(x).log_total for x in log_u])

    def _is_between_known(self, v: Floats) -> bool:
        if v.size < _FEWEST or len(self._known) < _NEAREST:
            return False
        return bool(min(self._known) < np.min(v) and np.max(v) < max(self._known))

    def _know(self, log_u: Floats, v: Floats) -> None:
        """Compute the terms at these values exactly."""
        for x, place in zip(log_u.tolist(), v.tolist(), strict=True):
            self._known[place] = self._likelihood.at(x)

    def _interpolate(self, log_u: Floats, v: Floats) -> None:
        """Interpolate the terms at these values where that is accurate, else compute them."""
        records = self._interpolated(v)
        log_total = np.array([record.log_total for record in records])
        log_weight = self._prior.log_prior(v, self._log_n) + log_total
        log_weight -= np.max(log_weight)
        checked = _places(log_weight)
        self._know(log_u[checked], v[checked])
        exact = [self._likelihood.at(x).log_total for x in log_u[checked]]
        error = np.abs(log_total[checked] - exact) * np.exp(log_weight[checked])
        rest = np.setdiff1d(np.arange(v.size), checked)
        if not np.all(error < max(_TOLERANCE, self._likelihood.noise)):
            self._know(log_u[rest], v[rest])
            return
        for place in rest.tolist():
            self._likelihood.remember(float(log_u[place]), records[place])

    def _interpolated(self, v: Floats) -> list[Record]:
        places = sorted(self._known)
        values = np.array([self._known[place].values for place in places])
        # What is impossible stays so, for example a score exactly at the cut.
        same = np.all(values == values[0], axis=0)
        found = np.tile(values[0], (v.size, 1))
        found[:, ~same] = interpolate(v, np.array(places), values[:, ~same], _NEAREST)
        record = self._known[places[0]]
        return [record.with_values(row) for row in found]


def _places(log_weight: Floats) -> list[int]:
    """Return the places of the largest weight, and of the last large ones on both sides.

    >>> _places(np.array([-50.0, -5.0, -1.0, 0.0, -2.0, -7.0]))
    [1, 3, 4]
    """
    large = np.flatnonzero(log_weight > -_DEPTH)
    return sorted({int(large[0]), int(np.argmax(log_weight)), int(large[-1])})
