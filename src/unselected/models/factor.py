"""Features that depend on each other, and on the response, through a few latent factors.

For each case z_i ~ N(0, I_q), and x_ij = mu_j + lambda_j' z_i + e_ij with e_ij ~ N(0, s_j^2) and
lambda_j ~ N(0, tau^2 s_j^2 I). The response depends on z_i in the same way, with a tau_0 of its
own, or through a probit (`factor_columns`). Features and response are independent given the
factors. So the paper's idea applies given the factors of the training cases: the event has the
omission probability of `omission.factor` to the power p - k. `factor_sampler` draws from the
posterior.

`factor_predictive` predicts new cases from the draws.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.factor_columns import ProbitResponse, RealResponse, Response
from unselected.models.factor_predictive import PREDICTING, FactorPredictive, Kind
from unselected.models.factor_sampler import FactorSampler
from unselected.numerics.chains import ChainSettings, Draws, run_chains
from unselected.numerics.kernels import kernels_for_chains
from unselected.omission.factor import FactorOmission
from unselected.selection.events import RealEvent
from unselected.statistics.rows import KeptRows

# Parameters whose draws are diagnosed.
WATCHED = ("tau", "tau_response", "response_correlation")


@dataclass(frozen=True, eq=False)
class FactorPosterior(FactorPredictive):
    """Draws from the posterior, and their predictions of new cases.

    Attributes
    ----------
    draws : Draws
        In the units of the features, and of a real response.
    event : FactorOmission
        It has the cut even where the model was not conditioned on the selection.
    """

    draws: Draws
    event: FactorOmission

    @classmethod
    def of(
        cls, draws: Draws, event: FactorOmission, center: Floats, unit: Floats, kind: Kind
    ) -> "FactorPosterior":
        """Return the posterior of these draws."""
        each = {name: np.asarray(draws.stacked(name), dtype=np.float64) for name in PREDICTING}
        return cls(each, center, unit, kind, draws, event)

    @cached_property
    def log_at_most(self) -> Floats:
        """The log probability, for each draw, that a feature is at most at the cut."""
        tau, Z = self.draws.stacked("tau"), self.draws.stacked("factors")
        return self.event.log_at_most(tau**2, Z)


@dataclass(frozen=True)
class FactorModel:
    """The model at the head of this module; 1 / tau^2 and 1 / tau_0^2 are Inverse-Gamma(a, b).

    Attributes
    ----------
    kind : {"real", "classes"}
        What the response is: a number, or one of two classes.
    q : int
        Number of factors.
    chains : ChainSettings
    """

    kind: Kind
    q: int = 1
    a: float = 0.5
    b: float = 5.0
    chains: ChainSettings = field(default_factory=ChainSettings)

    def simulate(
        self,
        n_samples: int,
        n_features: int,
        rng: np.random.Generator,
        *,
        tau: float | None = None,
        tau_response: float | None = None,
    ) -> tuple[Floats, Floats, dict[str, Any]]:
        """Draw parameters, features (n, p) and responses (n,).

        ``mu_j`` is 0 and ``s_j`` is 1, also for a real response: the improper priors cannot be
        drawn from, and posteriors do not depend on the choice.
        """
        taus = np.sqrt(rng.gamma(self.a, 1.0 / self.b, size=2))
        tau = float(taus[0]) if tau is None else tau
        tau_response = float(taus[1]) if tau_response is None else tau_response
        Z = rng.normal(size=(n_samples, self.q))
        loadings = tau * rng.normal(size=(n_features, self.q))
        beta = tau_response * rng.normal(size=self.q)
        X = Z @ loadings.T + rng.normal(size=(n_samples, n_features))
        intercept = rng.normal() if self.kind == "classes" else 0.0
        y = intercept + Z @ beta + rng.normal(size=n_samples)
        if self.kind == "classes":
            y = (y > 0.0).astype(np.float64)
        drawn = {"tau": tau, "tau_response": tau_response, "factors": Z, "loadings": loadings}
        return X, y, {**drawn, "intercept": intercept, "coefficients": beta}

    def sampler(
        self, X: Floats, y: Floats, event: RealEvent, compiled: Any = None
    ) -> FactorSampler:
        """Return the chain for kept features (n, k), responses (n,) and the event, unscaled."""
        omission = FactorOmission(y, event.cut, event.n_omitted, compiled)
        response: Response = RealResponse(y) if self.kind == "real" else ProbitResponse(y)
        return FactorSampler(X, response, omission, self.q, self.a, self.b)

    def condition(self, statistics: KeptRows, event: RealEvent) -> FactorPosterior:
        """Draw from the posterior given the kept features, responses and the event.

        Parameters
        ----------
        statistics : KeptRows
            No value may be missing; classes are 0 and 1.
        event : RealEvent
            For features without missing values.
        """
        X, y = statistics.values, np.asarray(statistics.y, dtype=np.float64)
        center, unit = X.mean(axis=0), X.std(axis=0)
        unit[np.ptp(X, axis=0) == 0.0] = 0.0
        some = unit > 0.0
        y_center, y_unit = (float(y.mean()), float(y.std())) if self.kind == "real" else (0.0, 1.0)
        compiled = kernels_for_chains(self.chains.n_steps) if event.n_omitted else None
        standardized = (X[:, some] - center[some]) / unit[some]
        sampler = self.sampler(standardized, (y - y_center) / y_unit, event, compiled)

        def record(state: Any) -> Mapping[str, Any]:
            drawn = sampler.record(state)
            drawn["means"] = _spread(center, some, center[some] + unit[some] * drawn["means"])
            loadings = unit[some, np.newaxis] * drawn["loadings"]
            drawn["loadings"] = _spread(np.zeros((unit.size, self.q)), some, loadings)
            variances = unit[some] ** 2 * drawn["variances"]
            drawn["variances"] = _spread(np.zeros(unit.size), some, variances)
            drawn["intercept"] = y_center + y_unit * drawn["intercept"]
            drawn["coefficients"] = y_unit * drawn["coefficients"]
            drawn["noise_variance"] = y_unit**2 * drawn["noise_variance"]
            return drawn

        draws = run_chains(sampler.start, sampler.step, record, self.chains, watched=WATCHED)
        omission = FactorOmission(y, event.cut, event.n_omitted)
        return FactorPosterior.of(draws, omission, center, unit, self.kind)


def _spread(everywhere: Floats, some: NDArray[np.bool_], values: Floats) -> Floats:
    """Return an array in which some entries are replaced."""
    result = everywhere.copy()
    result[some] = values
    return result
