"""The fitted model of real-valued features and a real response, given covariates.

Rows have the kept columns first, and behind them the coded covariates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.fitted.base import ExactRealFitted, FittedResponse, Seen
from unselected.fitted.effects import Effect, ratio, summary
from unselected.fitted.json_adjusted import (
    adjusted_entries,
    basis_entry,
    parse_adjusted_moments,
    parse_basis,
    parse_unit,
)
from unselected.fitted.json_checks import Entries
from unselected.fitted.json_parts import (
    gaussian_model_entries,
    parse_gaussian_model,
    parse_names,
    parse_real_event,
)
from unselected.fitted.standardized_effects import standardized_effect
from unselected.models.adjusted_regression import AdjustedRegression
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.models.regression import regression_posterior
from unselected.selection.events import RealEvent
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.design import CovariateBasis


@dataclass(frozen=True, eq=False)
class FittedAdjustedRegression(ExactRealFitted, FittedResponse):
    """The kept columns' moments given covariates, the event, and the model.

    Attributes
    ----------
    model : GaussianModel
        Of the features given the response.
    moments : AdjustedMoments
        Of the kept columns.
    event : RealEvent
    basis : CovariateBasis
    unit : float
        Standard deviation of the response given the covariates (divisor n).
    names : array of shape (k,) or None
    """

    kind: ClassVar[str] = "adjusted regression"
    keys: ClassVar[tuple[str, ...]] = (
        "moments",
        "basis",
        "unit",
        "event",
        "priors",
        "quadrature",
    )

    model: GaussianModel
    moments: AdjustedMoments
    event: RealEvent
    basis: CovariateBasis
    unit: float
    names: NDArray[Any] | None

    @property
    def n_covariates(self) -> int:
        """The number of coded covariates behind the kept columns."""
        return self.basis.n_coded

    @property
    def response_coefficients(self) -> Floats:
        """The mean response at z is z' times these, shape (m,)."""
        moments = self.moments
        return self.unit * (moments.expected + moments.complete.along[..., 0])[:, 0]

    @property
    def response_mean(self) -> float:
        """The mean response at the means of the covariates."""
        return float(self.response_coefficients @ self.moments.mean_covariates)

    @property
    def response_inverse(self) -> Floats:
        """(Z'Z)^-1 of the training cases."""
        return self.moments.complete.inverse[..., 0]

    @cached_property
    def posterior(self) -> AdjustedRegression:
        """The posterior of tau and the law of y, computed when first needed."""
        features = self.model.condition(self.moments.contrasts(), self.event)
        coefficients, inverse = self.response_coefficients, self.response_inverse
        rank = int(self.moments.complete.rank[0])
        posterior = regression_posterior(
            features, self.n_samples, self.response_mean, self.unit, rank
        )
        return AdjustedRegression(posterior, self.basis, coefficients, inverse)

    @property
    def nodes(self) -> GaussianPosterior:
        """The posterior of the concentration as weighted nodes."""
        return self.posterior.posterior.features

    @property
    def lines(self) -> tuple[Floats, Floats, Floats]:
        """Where residuals of features lie, their slopes on that of the response, and variances.

        Covariates are projected out of both. Slopes are for one standard deviation of the response
        given the covariates; a constant feature has slope 0. Residuals of a feature with missing
        values lie where they do at the means of the covariates.
        """
        nodes, weights = self.nodes.of_features()
        code = np.array([self.response_mean / self.unit])
        here, there = nodes.law(code), nodes.law(code + 1.0)
        varying, own = here.varying, weights[here.varying]
        intercept, slope = np.zeros((2, varying.size))
        variance = np.ones(varying.size)
        mean = self.moments.contrasts().mean[varying]
        intercept[varying] = np.sum(here.loc * own, axis=1) - mean
        slope[varying] = np.sum((there.loc - here.loc) * own, axis=1)
        variance[varying] = np.sum(here.squares * own, axis=1) / here.df
        return intercept, slope, variance

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return int(self.moments.complete.n[0])

    @property
    def slope(self) -> Floats:
        """Least-squares slopes on the response beside the covariates, shape (k,)."""
        c = self.moments.contrasts()
        return np.asarray((c.least_squares(c.code_mean + 1.0) - c.mean) / self.unit)

    @property
    def deviation(self) -> Floats:
        """The deviations of the features given response and covariates, shape (k,)."""
        nu = np.broadcast_to(self.moments.geometry.nu, (self.n_columns,))
        return np.asarray(np.sqrt(self.moments.within / np.maximum(nu, 1.0)))

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return adjusted slopes, and slopes in units of both deviations."""
        slope = self.slope
        law = standardized_effect(self.nodes, np.ones(1))
        naive = ratio(slope * self.unit, self.deviation)
        effect = Effect(naive, *summary(law, tails).T)
        return {"slope": slope}, {"standardized_slope": effect}

    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return partial correlation, slope, mean, deviation, and known values."""
        slope, c = self.slope, self.moments.contrasts()
        columns = zip(np.sign(slope) * scores, slope, c.mean, self.deviation, c.n, strict=True)
        return [
            {
                "partial_correlation": float(correlation),
                "slope": float(own),
                "mean": float(mean),
                "deviation": float(deviation),
                "cases": int(n),
            }
            for correlation, own, mean, deviation, n in columns
        ]

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {
            "concentration_prior": [self.model.a, self.model.b],
            "variance_shrinkage": self.model.shrinkage,
        }

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        return {
            "moments": adjusted_entries(self.moments),
            "basis": basis_entry(self.basis),
            "unit": self.unit,
            **gaussian_model_entries(self.model, self.event),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        basis = parse_basis(entries["basis"])
        moments = parse_adjusted_moments(entries["moments"], basis.size, 1, "|COR|")
        return cls(
            model=parse_gaussian_model(entries["priors"], entries["quadrature"]),
            moments=moments,
            event=parse_real_event(entries["event"], "|COR|", 1),
            basis=basis,
            unit=parse_unit(entries["unit"]),
            names=parse_names(entries["names"], moments.size),
        )
