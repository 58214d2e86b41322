"""A real response with two groups of features: related and unrelated."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.models.gaussian_two_groups import TwoGroupPosterior
from unselected.models.predictive import Predictive
from unselected.models.regression_posterior import RegressionPosterior

# How often nodes are placed again for a row, each time at its most likely response so far.
_MOST_TRIES = 5


class TwoGroupRegression(RegressionPosterior):
    """The posterior and predictive distributions with two groups of features."""

    features: TwoGroupPosterior

    _covers_all = False
    _n_few = (16,)
    _n_rough = 2
    _agreement = 1e-10

    def _log_features(self, X: Floats, y: Floats) -> Floats:
        """Return the log density of the features given y and the node, shape (rows, m, nodes)."""
        return self.features.mixed(self._of_alphas.log_by_feature(X, y), y.shape)

    def _predictive_far(
        self, X: Floats
    ) -> Iterator[tuple[NDArray[np.intp], Predictive, RegressionPosterior]]:
        for row in range(len(X)):
            x, posterior = X[row : row + 1], self
            for _ in range(_MOST_TRIES):
                _, part = next(posterior._normalized(x))
                y = part.likeliest
                if not posterior._is_doubtful(x, y).any():
                    break
                posterior = self._around(x, y)
            yield np.array([row]), part, posterior

    def _log_joint_far(self, X: Floats, y: Floats) -> Floats:
        return np.concatenate(
            [
                self._around(x, z)._log_joint(x, z)
                for x, z in zip(X[:, None], y[:, None], strict=True)
            ]
        )

    def _around(self, x: Floats, y: Floats) -> "TwoGroupRegression":
        """Return the same posterior on nodes placed for a row with this response."""
        return replace(self, features=self.features.around(y[0] / self.unit, x[0]))

    @cached_property
    def _of_alphas(self) -> RegressionPosterior:
        law_of_y = (self.n, self.y_mean, self.unit, self.rank, self.leverage)
        return RegressionPosterior(self.features.of_alphas, *law_of_y)

    def _added_power(self, X: Floats) -> Floats:
        """Return 0: where no feature is related, the tail in y does not depend on features."""
        return np.zeros(len(X))
