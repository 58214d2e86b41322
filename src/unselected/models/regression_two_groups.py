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
# Fractions for each tau of the nodes with which fewer are compared: the first that agree with all
# nodes so much better than is asked of fewer nodes.
_N_JUDGING, _MUCH_BETTER = (12, 16, 24), 0.1
# Elements of a table over rows, points of y and nodes that are processed at a time.
_BLOCK = 1 << 17
# Grids for distribution functions, which need more points than sums do.
_FOR_QUANTILES = GridRule(17, 41, 81, reach=37.0, closed=33.0, tolerance=1e-6)
# Numbers of few nodes that are tried for a row, before those with which they are compared.
_N_TRIED = 2
# Values of tau for each node of the fraction with which the mass is located.
_TAUS_PER_ROUGH = 10
# Terms at the ends of tau and of the fraction have to be this far below the sum, in logs.
_FAR_DOWN = 30.0


class TwoGroupRegression(RegressionPosterior):
    """The posterior and predictive distributions with two groups of features."""

    features: TwoGroupPosterior

    _covers_all = False
    _n_few = (4, 5, 6, 7, 9, 12, 16)
    _agreement = 3e-8
    _grid_rule = GridRule(17, 29, 57, reach=30.0, closed=27.0, tolerance=3e-4)

    def predictive(self, X: Floats) -> Iterator[tuple[NDArray[np.intp], Predictive]]:
        """Yield the predictive distributions of some rows at a time, with their numbers."""
        for rows, part, _ in self._quickly(X, self._on_few_nodes[-1:], _FOR_QUANTILES):
            yield rows, part

    def _log_features(self, X: Floats, y: Floats) -> Floats:
        """Return the log density of the features given y and the node, shape (rows, m, nodes)."""
        laws = self._of_alphas._laws
        each = laws.flat_log_densities(*self._of_alphas._gaps(X), y / self.unit)
        return self.features.mixed(each, (y.size,)).reshape(*y.shape, -1)

    def _log_joint(self, X: Floats, y: Floats) -> Floats:
        """Return log of density of y times density of the features given y, y of (rows, m)."""
        return np.asarray(self._log_prior(y) + self._log_average(X, y))

    def _log_average(self, X: Floats, y: Floats) -> Floats:
        lines = self._mixed_lines
        if lines is not None:
            f = y / self.unit - lines.laws.y_mean[0]
            return lines.log_average(*self._of_alphas._gaps(X), f)
        result = np.empty(y.shape)
        rows = max(1, _BLOCK // (y.shape[1] * self.features.log_weights.size))
        for start in range(0, len(y), rows):
            some = slice(start, start + rows)
            result[some] = super()._log_average(X[some], y[some])
        return result

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
        """The same on as few nodes as are enough for most rows, and on more for the others."""
        judging = self._judging
        if judging is self:
            return []
        expected = judging._log_average(*self._made_up)
        result: list[RegressionPosterior] = []
        for n in self._n_few:
            few = replace(self, features=self.features.on_few_nodes(n))
            if 2 * few.features.log_weights.size >= judging.features.log_weights.size:
                break
            if result or self._is_close(few, expected, self._agreement):
                result.append(few)
            if len(result) == _N_TRIED:
                break
        return [*result, judging]

    @cached_property
    def _rough(self) -> RegressionPosterior:
        """Fewer nodes that locate the mass; those for rows that are not easy are more."""
        n = max(1, self.features.starts.size // _TAUS_PER_ROUGH)
        return replace(self, features=self.features.on_few_nodes(n))

    @cached_property
    def _made_up(self) -> tuple[Floats, Floats]:
        """Rows and responses (rows, 1) that tell whether nodes are enough.

        Features lie by one standard deviation above and below where they are expected.
        """
        laws, c = self._of_alphas._laws, self.features.contrasts
        away = np.sqrt(laws.squares[:, 0] / laws.df) * (-1.0) ** np.arange(laws.df.size)
        X = np.tile(c.mean, (2, 1))
        f = np.array([[-1.0], [1.0]])
        X[:, c.varying] += laws.unit * (f * np.max(np.abs(laws.slope), axis=1) + away)
        return X, self.y_mean + self.unit * f

    def _is_close(self, few: RegressionPosterior, expected: Floats, allowed: float) -> bool:
        """Say whether fewer nodes give the log densities that are expected for the made-up rows."""
        return bool(np.all(np.abs(few._log_average(*self._made_up) - expected) <= allowed))

    def _judged(self, X: Floats, y: Floats) -> tuple[Floats, Bools]:
        """Return log densities of the features at y (rows, m), and which rows are doubtful."""
        total = self._judging._log_average(X, y)
        return total, self._has_far_ends(X, y[:, :1], total[:, 0])

    def _has_far_ends(self, X: Floats, y: Floats, total: Floats) -> Bools:
        """Say for which rows terms at the ends of tau and of the fraction are too large."""
        return np.asarray(self._ends._log_average(X, y)[:, 0] > total - _FAR_DOWN)

    def _log_joint_at(
        self, posterior: RegressionPosterior, X: Floats, y: Floats
    ) -> tuple[Floats, Bools]:
        if posterior is not self._judging:
            return super()._log_joint_at(posterior, X, y)
        total, doubtful = self._judged(X, y)
        return (self._log_prior(y) + total)[:, 0], doubtful

    @cached_property
    def _judging(self) -> RegressionPosterior:
        expected = self._log_average(*self._made_up)
        for n in _N_JUDGING:
            few = replace(self, features=self.features.on_few_nodes(n))
            if 2 * few.features.log_weights.size >= self.features.log_weights.size:
                break
            if self._is_close(few, expected, _MUCH_BETTER * self._agreement):
                return few
        return self

    @cached_property
    def _ends(self) -> RegressionPosterior:
        return replace(self, features=self.features.some_nodes(self.features.ends))

    def _predictive_far(
        self, X: Floats
    ) -> Iterator[tuple[NDArray[np.intp], Predictive, RegressionPosterior]]:
        for row in range(len(X)):
            x = X[row : row + 1]
            # Few nodes tell where to begin: with all of them such rows are doubtful.
            posterior, part = self._judging, next(self._judging._normalized(x))[1]
            for _ in range(_MOST_TRIES):
                if (
                    posterior is not self._judging
                    and not posterior._is_doubtful(x, part.likeliest).any()
                ):
                    break
                posterior = self._around(x, part.likeliest)
                part = next(posterior._normalized(x))[1]
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
