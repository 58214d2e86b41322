"""The fitted model of real-valued features and a real response."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.fitted.base import ExactRealFitted, FittedResponse, Seen
from unselected.fitted.effects import Effect, ratio, summary
from unselected.fitted.json_checks import Entries
from unselected.fitted.json_moments import parse_line_statistics
from unselected.fitted.json_parts import (
    gaussian_model_entries,
    parse_gaussian_model,
    parse_names,
    parse_real_event,
)
from unselected.fitted.standardized_effects import standardized_effect
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.models.regression import RegressionModel
from unselected.models.regression_posterior import RegressionPosterior
from unselected.selection.events import RealEvent
from unselected.statistics.line import LineStatistics
from unselected.statistics.moments import LineMoments


@dataclass(frozen=True, eq=False)
class FittedRegression(ExactRealFitted, FittedResponse):
    """The kept columns' moments with a real response, the event, and the model.

    Attributes
    ----------
    model : RegressionModel
    statistics : LineStatistics
        Moments of the kept columns, and the mean of the training responses.
    event : RealEvent
    names : array of shape (k,) or None
    """

    kind: ClassVar[str] = "regression"
    keys: ClassVar[tuple[str, ...]] = ("y_mean", "moments", "event", "priors", "quadrature")

    model: RegressionModel
    statistics: LineStatistics
    event: RealEvent
    names: NDArray[Any] | None

    @property
    def moments(self) -> LineMoments:
        """The moments of the kept columns with the response."""
        return self.statistics.moments

    @cached_property
    def posterior(self) -> RegressionPosterior:
        """The posterior of tau and the law of y, computed when first needed."""
        return self.model.condition(self.statistics, self.event)

    @property
    def nodes(self) -> GaussianPosterior:
        """The posterior of the concentration as weighted nodes."""
        return self.posterior.features

    @property
    def lines(self) -> tuple[Floats, Floats, Floats]:
        """Where features lie at the mean response, their slopes and variances, each (k,).

        Slopes are for one standard deviation of the response; a constant feature has slope 0.
        """
        nodes, weights = self.nodes.of_features()
        code = np.array([self.statistics.y_mean / self.moments.unit])
        here, there = nodes.law(code), nodes.law(code + 1.0)
        varying = here.varying
        intercept = np.asarray(self.moments.center + self.moments.offset, dtype=np.float64)
        slope, variance = np.zeros(varying.size), np.ones(varying.size)
        own = weights[varying]
        intercept[varying] = np.sum(here.loc * own, axis=1)
        slope[varying] = np.sum((there.loc - here.loc) * own, axis=1)
        variance[varying] = np.sum(here.squares * own, axis=1) / here.df
        return intercept, slope, variance

    @property
    def response_mean(self) -> float:
        """The mean response."""
        return self.statistics.y_mean

    @property
    def unit(self) -> float:
        """The standard deviation of the response (divisor n)."""
        return self.moments.unit

    @property
    def _slope(self) -> Floats:
        return np.asarray(self.moments.sxy / self.moments.syy)

    @property
    def _deviation(self) -> Floats:
        """The deviations of the features around their lines, shape (k,)."""
        return np.asarray(np.sqrt(self.moments.within / (self.moments.n - 2)))

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return self.moments.complete[0]

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return slopes, and slopes in units of both deviations."""
        slope = self._slope
        law = standardized_effect(self.nodes, np.ones(1))
        naive = ratio(slope * self.moments.unit, self._deviation)
        effect = Effect(naive, *summary(law, tails).T)
        return {"slope": slope}, {"standardized_slope": effect}

    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return correlation, slope, mean, deviation around the line, and known values."""
        moments = self.moments
        columns = zip(
            np.sign(moments.sxy) * scores,
            self._slope,
            moments.center + moments.offset,
            self._deviation,
            moments.n,
            strict=True,
        )
        return [
            {
                "correlation": float(correlation),
                "slope": float(slope),
                "mean": float(mean),
                "deviation": float(deviation),
                "cases": int(n),
            }
            for correlation, slope, mean, deviation, n in columns
        ]

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        prior = self.model.features
        return {
            "concentration_prior": [prior.a, prior.b],
            "variance_shrinkage": prior.shrinkage,
        }

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        moments = self.moments
        names = ("unit", "n", "center", "offset", "y_mean", "syy", "sxy", "within")
        n, syy = moments.complete
        return {
            "y_mean": float(self.statistics.y_mean),
            "moments": {
                **{name: getattr(moments, name) for name in names},
                "complete": {"n": int(n), "syy": float(syy)},
            },
            **gaussian_model_entries(self.model.features, self.event),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        statistics = parse_line_statistics(entries["moments"], entries["y_mean"])
        return cls(
            model=RegressionModel(parse_gaussian_model(entries["priors"], entries["quadrature"])),
            statistics=statistics,
            event=parse_real_event(entries["event"], "|COR|", 1),
            names=parse_names(entries["names"], statistics.moments.size),
        )
