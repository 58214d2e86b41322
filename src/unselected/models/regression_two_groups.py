"""A real response with two groups of features: related and unrelated."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats
from unselected.models.gaussian_two_groups import TwoGroupPosterior
from unselected.models.mixed_lines import MixedLines
from unselected.models.predictive import Predictive
from unselected.models.quick_grids import GridRule
from unselected.models.regression_posterior import RegressionPosterior

# How often nodes are placed again for a row, each time at its most likely response so far.
_MOST_TRIES = 5
# Fractions for each tau of the nodes with which fewer are compared.
_N_JUDGING = 16
# Terms at the ends of tau and of the fraction have to be this far below the sum, in logs.
_FAR_DOWN = 30.0


class TwoGroupRegression(RegressionPosterior):
    """The posterior and predictive distributions with two groups of features."""

    features: TwoGroupPosterior

    _covers_all = False
    _n_few = (5, 12)
    _n_rough = 1
    _agreement = 1e-8
    _grid_rule = GridRule(13, 45, 89, reach=37.0, closed=33.0, tolerance=3e-5)

    def _log_features(self, X: Floats, y: Floats) -> Floats:
        """Return the log density of the features given y and the node, shape (rows, m, nodes)."""
        laws = self._of_alphas._laws
        each = laws.flat_log_densities(*self._of_alphas._gaps(X), y / self.unit)
        return self.features.mixed(each, (y.size,)).reshape(*y.shape, -1)

    def _log_joint(self, X: Floats, y: Floats) -> Floats:
        """Return log of density of y times density of the features given y, y of (rows, m)."""
        average = self._quick_log_average(X, y)
        return super()._log_joint(X, y) if average is None else self._log_prior(y) + average

    def _log_average(self, X: Floats, y: Floats) -> Floats:
        average = self._quick_log_average(X, y)
        return super()._log_average(X, y) if average is None else average

    def _quick_log_average(self, X: Floats, y: Floats) -> Floats | None:
        """Return the log density of the features given y, or None where that takes more care."""
        lines = self._mixed_lines
        if lines is None:
            return None
        return lines.log_average(*self._of_alphas._gaps(X), y / self.unit - lines.laws.y_mean[0])

    @cached_property
    def _mixed_lines(self) -> MixedLines | None:
        """The laws of the features for many rows at once; None where they are not alike."""
        laws, nodes = self._of_alphas._laws, self.features
        if not laws.alike or nodes.log_ratio.shape[1] > 1:
            return None
        places = nodes.alpha_of, np.arange(nodes.alpha_of.size) - nodes.starts[nodes.alpha_of]
        fraction = np.zeros((nodes.starts.size, int(places[1].max()) + 1))
        rest, log_weight = np.ones(fraction.shape), np.full(fraction.shape, -np.inf)
        fraction[places], rest[places] = np.exp(nodes.log_related), np.exp(nodes.log_rest)
        log_weight[places] = nodes.log_weights - nodes._log_kept
        return MixedLines(laws, nodes.log_ratio[:, 0], fraction, rest, log_weight)

    @cached_property
    def _on_few_nodes(self) -> list[RegressionPosterior]:
        """The same on fewer nodes, without those numbers of nodes that are too few for most rows.

        A row is made up to tell: its features lie by one standard deviation above and below where
        they are expected.
        """
        few = super()._on_few_nodes
        laws, c = self._of_alphas._laws, self.features.contrasts
        away = np.sqrt(laws.squares[:, 0] / laws.df) * (-1.0) ** np.arange(laws.df.size)
        X = np.tile(c.mean, (2, 1))
        f = np.array([[-1.0], [1.0]])
        X[:, c.varying] += laws.unit * (f * np.max(np.abs(laws.slope), axis=1) + away)
        y = self.y_mean + self.unit * f
        expected = self._judged(X, y)[0]
        found = [one._log_average(X, y) for one in few]
        return [
            one
            for one, total in zip(few, found, strict=True)
            if np.all(np.abs(total - expected) <= self._agreement)
        ]

    def _judged(self, X: Floats, y: Floats) -> tuple[Floats, Bools]:
        """Return log densities of the features at y (rows, m), and which rows are doubtful."""
        judging, ends = self._judging, self._ends
        total = judging._log_average(X, y)
        far = ends._log_features(X, y[:, :1])[:, 0] + ends.features.log_weights
        return total, np.max(far, axis=1) > total[:, 0] - _FAR_DOWN

    @cached_property
    def _judging(self) -> RegressionPosterior:
        few = self.features.on_few_nodes(_N_JUDGING)
        if few.log_weights.size >= self.features.log_weights.size:
            return self
        return replace(self, features=few)

    @cached_property
    def _ends(self) -> RegressionPosterior:
        return replace(self, features=self.features.some_nodes(self.features.ends))

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
