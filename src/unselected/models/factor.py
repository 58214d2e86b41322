"""Features that depend on each other, and on the response, through a few latent factors.

z_i ~ N(0, I_q) for each case; x_ij = mu_j + lambda_j' z_i + e_ij, e ~ N(0, s_j^2), lambda_j ~
N(0, tau^2 s_j^2 I); the response depends on z_i in the same way, with a tau_0 of its own, or
through a probit (`factor_columns`). Features and response are independent given the factors, so
that the paper's idea applies given the factors of the training cases: the probability that an
omitted feature looks too weak is that of `factor_omission`, to the power p - k. The posterior is
drawn from by `factor_sampler`.

Given a draw of all parameters a new case's features and response are jointly normal. Predictions
average joint densities over the draws: one that explains the features better counts more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr

from unselected._typing import Floats
from unselected.models.factor_columns import ProbitResponse, RealResponse, Response
from unselected.models.factor_sampler import FactorSampler
from unselected.numerics.chains import Draws, run_chains
from unselected.numerics.kernels import kernels_for_chains
from unselected.numerics.quadrature import log_sum
from unselected.omission.factor import FactorOmission
from unselected.selection.events import RealEvent

Kind = Literal["real", "classes"]

# What is diagnosed of the draws.
WATCHED = ("tau", "tau_response", "response_correlation")
# Elements of a table over rows and draws that are worked on at a time.
_BLOCK = 1 << 20
# Standardized values further out than this are moved there.
_LARGEST = 1e8
# Bisections that find a quantile.
_HALVINGS = 60


class _Given(NamedTuple):
    """What each draw says of some rows: log p(x | draw), and mean and variance of beta' z + mu_0.

    ``log_density`` and ``mean`` are (rows, draws), ``variance`` is (draws,).
    """

    log_density: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class FactorPosterior:
    """Draws from the posterior, and what they predict of new cases.

    Attributes
    ----------
    draws : Draws
        In the units of the features, and of a real response.
    event : FactorOmission
        With the cut, also where the model was not conditioned on the selection.
    center, unit : arrays of shape (k,)
        Means and deviations of the training features; the unit is 0 for one that is constant, and
        says nothing.
    kind : {"real", "classes"}
    """

    draws: Draws
    event: FactorOmission
    center: Floats
    unit: Floats
    kind: Kind

    @cached_property
    def log_at_most(self) -> Floats:
        """For each draw, log of the probability that a feature is at most at the cut."""
        tau, Z = self._stacked("tau"), self._stacked("factors")
        return self.event.log_at_most(tau**2, Z)

    @cached_property
    def log_psi(self) -> Floats:
        """Logs of the class probabilities before any feature is seen."""
        beta = self._stacked("coefficients")
        score = self._stacked("intercept") / np.sqrt(1.0 + np.sum(beta**2, axis=1))
        return np.asarray(np.log([np.mean(ndtr(-score)), np.mean(ndtr(score))]))

    def log_joint(self, X: Floats) -> Floats:
        """Return log P(class, row) of rows of the kept features, shape (rows, 2)."""
        parts = []
        for _, given in self._over_rows(X):
            score = given.mean / np.sqrt(1.0 + given.variance)
            logs = [given.log_density + log_ndtr(side) for side in (-score, score)]
            parts.append(np.stack([log_sum(each, axis=1) for each in logs], axis=1))
        return np.asarray(np.concatenate(parts) - np.log(self._n_draws))

    def class_by_draw(self, X: Floats) -> Floats:
        """Return P(second class | row, draw), shape (rows, draws), of rows one by one."""
        parts = [ndtr(g.mean / np.sqrt(1.0 + g.variance)) for _, g in self._over_rows(X)]
        return np.concatenate(parts)

    def mean_by_draw(self, X: Floats) -> Floats:
        """Return E(response | row, draw), shape (rows, draws)."""
        return np.concatenate([given.mean for _, given in self._over_rows(X)])

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions of rows."""
        mean, std = np.empty(len(X)), np.empty(len(X))
        for rows, weights, means, deviations in self._mixtures(X):
            mean[rows] = np.sum(weights * means, axis=1)
            gaps = (means - mean[rows][:, np.newaxis]) ** 2
            std[rows] = np.sqrt(np.sum(weights * (deviations**2 + gaps), axis=1))
        return mean, std

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive density of y (rows,) given the kept features X (rows, k)."""
        result = np.empty(len(X))
        for rows, given in self._over_rows(X):
            variance = given.variance + self._stacked("noise_variance")
            gap = (y[rows, np.newaxis] - given.mean) ** 2 / variance
            logs = given.log_density - 0.5 * (gap + np.log(2.0 * np.pi * variance))
            result[rows] = log_sum(logs, axis=1) - log_sum(given.log_density, axis=1)
        return result

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive probabilities of responses of at most y (rows,)."""
        result = np.empty(len(X))
        for rows, weights, means, deviations in self._mixtures(X):
            below = ndtr((y[rows, np.newaxis] - means) / deviations)
            result[rows] = np.sum(weights * below, axis=1)
        return np.clip(result, 0.0, 1.0)

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return quantiles of the predictive distributions of rows, shape (rows, levels)."""
        wanted = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        if wanted.ndim != 1 or not wanted.size or not np.all((wanted > 0.0) & (wanted < 1.0)):
            raise ValueError(f"quantiles={levels!r} must be numbers above 0 and below 1.")
        result = np.empty((len(X), wanted.size))
        for rows, weights, means, deviations in self._mixtures(X):
            for j, level in enumerate(wanted):
                result[rows, j] = _quantile(float(level), weights, means, deviations)
        return result

    def _mixtures(self, X: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Yield rows, weights (rows, draws), means (rows, draws) and deviations (draws,)."""
        for rows, given in self._over_rows(X):
            logs = given.log_density
            weights = np.exp(logs - log_sum(logs, axis=1)[:, np.newaxis])
            yield rows, weights, given.mean, np.sqrt(given.variance + self._noise)

    @property
    def _noise(self) -> Floats:
        return self._stacked("noise_variance")

    @property
    def _n_draws(self) -> int:
        return self.draws.n_chains * self.draws.n_draws

    def _stacked(self, name: str) -> Floats:
        return np.asarray(self.draws.stacked(name), dtype=np.float64)

    def _over_rows(self, X: Floats) -> Iterator[tuple[slice, _Given]]:
        """Yield what the draws say of some rows at a time."""
        size = max(1, _BLOCK // self._n_draws)
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            yield rows, self._of_rows(X[rows])

    def _of_rows(self, X: Floats) -> _Given:
        """Return what each draw says of rows, from sums of squares and products by draw.

        With K = I + sum_j lambda_j lambda_j' / s_j^2 and h = sum_j lambda_j (x_j - mu_j) / s_j^2,
        z given x is N(K^-1 h, K^-1), and -2 log p(x) = sum_j (x_j - mu_j)^2 / s_j^2 - h' K^-1 h +
        log det K + sum_j log s_j^2 + k log(2 pi).
        """
        t = self._tables
        with np.errstate(over="ignore"):
            values = np.clip((X[:, self.unit > 0.0] - t.center) / t.unit, -_LARGEST, _LARGEST)
        squares = values**2 @ t.precision.T - 2.0 * values @ t.pulled.T + t.squares
        h = np.einsum("rk,dkq->rdq", values, t.weighted, optimize=True) - t.at_mean
        half = np.einsum("rdq,dpq->rdp", h, t.inverse_lower)
        log_density = -0.5 * (squares - np.sum(half**2, axis=2) + t.log_scale)
        return _Given(log_density, t.intercept + np.sum(half * t.gain, axis=2), t.variance)

    @cached_property
    def _tables(self) -> "_Tables":
        """Sums over features for each draw, in standardized units."""
        some = self.unit > 0.0
        center, unit = self.center[some], self.unit[some]
        mu = (self._stacked("means")[:, some] - center) / unit
        loadings = self._stacked("loadings")[:, some] / unit[:, np.newaxis]
        precision = unit**2 / self._stacked("variances")[:, some]
        weighted = loadings * precision[:, :, np.newaxis]
        K = np.eye(loadings.shape[2]) + np.einsum("dkp,dkq->dpq", loadings, weighted)
        lower = np.linalg.cholesky(K)
        log_det = 2.0 * np.sum(np.log(np.diagonal(lower, axis1=1, axis2=2)), axis=1)
        inverse_lower = np.linalg.inv(lower)
        gain = np.einsum("dpq,dq->dp", inverse_lower, self._stacked("coefficients"))
        return _Tables(
            center=center,
            unit=unit,
            precision=precision,
            pulled=mu * precision,
            squares=np.sum(mu**2 * precision, axis=1),
            weighted=weighted,
            at_mean=np.einsum("dk,dkq->dq", mu, weighted),
            inverse_lower=inverse_lower,
            gain=gain,
            log_scale=log_det - np.sum(np.log(precision / (2.0 * np.pi * unit**2)), axis=1),
            intercept=self._stacked("intercept"),
            variance=np.sum(gain**2, axis=1),
        )


class _Tables(NamedTuple):
    """See `FactorPosterior._of_rows`; all but the first two have an entry for each draw."""

    center: Floats
    unit: Floats
    precision: Floats
    pulled: Floats
    squares: Floats
    weighted: Floats
    at_mean: Floats
    inverse_lower: Floats
    gain: Floats
    log_scale: Floats
    intercept: Floats
    variance: Floats


def _quantile(level: float, weights: Floats, means: Floats, deviations: Floats) -> Floats:
    """Return the quantile of mixtures of normals, one for each row, by bisection."""
    reach = 40.0 * deviations
    low, high = np.min(means - reach, axis=1), np.max(means + reach, axis=1)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = np.sum(weights * ndtr((middle[:, np.newaxis] - means) / deviations), axis=1)
        low, high = np.where(below < level, middle, low), np.where(below < level, high, middle)
    return np.asarray(0.5 * (low + high))


@dataclass(frozen=True)
class FactorModel:
    """The model at the head of this module; 1 / tau^2 and 1 / tau_0^2 are Inverse-Gamma(a, b).

    Attributes
    ----------
    kind : {"real", "classes"}
        What the response is: a number, or one of two classes.
    q : int
        Number of factors.
    """

    kind: Kind
    q: int = 1
    a: float = 0.5
    b: float = 5.0

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

        ``mu_j`` and ``s_j`` are 0 and 1, and so are those of a real response: the improper priors
        cannot be drawn from, and posteriors do not depend on it.
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
        """Return the chain for kept features (n, k), responses (n,) and the event, as they are."""
        omission = FactorOmission(y, event.cut, event.n_omitted, compiled)
        response: Response = RealResponse(y) if self.kind == "real" else ProbitResponse(y)
        return FactorSampler(X, response, omission, self.q, self.a, self.b)

    def condition(self, X: Floats, y: Floats, event: RealEvent, **chains: Any) -> FactorPosterior:
        """Draw from the posterior given the kept features (n, k), responses (n,) and the event.

        Parameters
        ----------
        X, y : arrays
            No value is missing; classes are 0 and 1.
        event : RealEvent
            Of features without missing values.
        chains
            Arguments of `run_chains`.
        """
        center, unit = X.mean(axis=0), X.std(axis=0)
        unit[np.ptp(X, axis=0) == 0.0] = 0.0
        some = unit > 0.0
        y_center, y_unit = (float(y.mean()), float(y.std())) if self.kind == "real" else (0.0, 1.0)
        n_steps = chains["n_chains"] * (chains["n_warmup"] + chains["n_draws"])
        compiled = kernels_for_chains(n_steps) if event.n_omitted else None
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

        draws = run_chains(sampler.start, sampler.step, record, watched=WATCHED, **chains)
        omission = FactorOmission(y, event.cut, event.n_omitted)
        return FactorPosterior(draws, omission, center, unit, self.kind)


def _spread(everywhere: Floats, some: NDArray[np.bool_], values: Floats) -> Floats:
    """Return an array in which some entries are replaced."""
    result = everywhere.copy()
    result[some] = values
    return result
