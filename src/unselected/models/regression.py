"""The naive Bayes model of real-valued features with a real response.

y is normal with unknown mean and variance (flat, 1 / variance). Given y the features are those of
`gaussian`, coded by y in units of its standard deviation.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unselected._typing import Floats
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.models.gaussian_two_groups import TwoGroupPosterior
from unselected.models.regression_posterior import RegressionPosterior
from unselected.models.regression_two_groups import TwoGroupRegression
from unselected.selection.events import RealEvent
from unselected.statistics.line import LineStatistics


@dataclass(frozen=True)
class RegressionModel:
    """Features that are linear in the response plus noise.

    Attributes
    ----------
    features : GaussianModel
        Of the features given the response.
    """

    features: GaussianModel = field(default_factory=GaussianModel)

    def simulate(
        self,
        n_samples: int,
        n_features: int,
        rng: np.random.Generator,
        *,
        y: ArrayLike | None = None,
        **parameters: Any,
    ) -> tuple[Floats, Floats, dict[str, Any]]:
        """Draw parameters, or use those given, and features and responses of cases.

        Responses are standard normal unless ``y`` gives them. Returns X of shape (n_samples,
        n_features), y, and the parameters; see `GaussianModel.simulate_features`.
        """
        response = rng.normal(size=n_samples) if y is None else np.asarray(y, dtype=np.float64)
        codes = response[:, np.newaxis] / response.std()
        X, drawn = self.features.simulate_features(codes, n_features, rng, **parameters)
        return X, response, drawn

    def condition(self, statistics: LineStatistics, event: RealEvent) -> RegressionPosterior:
        """Return the posterior given the moments of the kept features with y, and the event."""
        moments = statistics.moments
        features = self.features.condition(moments.contrasts(), event)
        n, _ = moments.complete
        return regression_posterior(features, n, statistics.y_mean, moments.unit)


def regression_posterior(
    features: GaussianPosterior,
    n: int,
    y_mean: float,
    unit: float,
    rank: int = 1,
    leverage: float | None = None,
) -> RegressionPosterior:
    """Return the posterior of features together with the law of the response."""
    kind = TwoGroupRegression if isinstance(features, TwoGroupPosterior) else RegressionPosterior
    return kind(features, n, y_mean, unit, rank, leverage)
