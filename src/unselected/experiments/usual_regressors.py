"""The usual methods for a real response that ours are compared with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import BayesianRidge, ElasticNetCV, LassoCV, LinearRegression, RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected._typing import Floats
from unselected.estimators.added_value import COVARIATES_ALONE
from unselected.estimators.out_of_fold import CovariatesAloneLaw
from unselected.experiments.needing import columns_needed
from unselected.models.response_covariates import ResponseCovariates
from unselected.statistics.design import CovariateBasis

MEAN_ONLY = "mean of the response"
LEAST_SQUARES = "SelectKBest + LinearRegression"

# What RidgeCV chooses among, for standardized features.
_PENALTIES = np.logspace(-2, 7, 28)

# Trees of a forest, and the part of the features that each split chooses from.
_N_TREES, _SPLIT_AMONG = 100, 1 / 3

# A standard deviation below this part of the response's own counts as this part: a method whose
# residuals are all 0 would otherwise be certain.
_LEAST_DEVIATION = 1e-9


@dataclass
class NormalAround:
    """A regressor with a normal distribution around what it predicts, the same for all cases.

    Parameters
    ----------
    regressor : estimator
    deviation : callable
        Given the fitted regressor, X and y, the standard deviation.
    """

    regressor: Any
    deviation: Callable[[Any, NDArray[Any], Floats], float]

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor, and find the standard deviation of its errors."""
        self.regressor_ = clone(self.regressor).fit(X, y)
        self.std_ = max(self.deviation(self.regressor_, X, y), _LEAST_DEVIATION * float(np.std(y)))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return what the regressor predicts, and with ``return_std`` standard deviations."""
        mean = np.asarray(self.regressor_.predict(X), dtype=np.float64)
        return (mean, np.full(mean.size, self.std_)) if return_std else mean


@dataclass
class OnResiduals:
    """A regressor of what covariates leave of the response, on what they leave of the features.

    Covariates are the last columns of X, and are taken out by least squares. They are thus always
    in the regression, and no penalty is on them.

    Parameters
    ----------
    regressor : estimator
    n_covariates : int
    first : sequence of transformers
        Steps that fill in missing values of the features.
    """

    regressor: Any
    n_covariates: int
    first: Sequence[Any] = ()

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the covariates, and then the regressor."""
        self.first_ = clone(make_pipeline("passthrough", *self.first))
        features, Z = self._split(X)
        both = np.column_stack([y, self.first_.fit_transform(features)])
        self.slopes_ = np.linalg.lstsq(Z, both, rcond=None)[0]
        left = both - Z @ self.slopes_
        self.regressor_ = clone(self.regressor, safe=False).fit(left[:, 1:], left[:, 0])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return what both predict, and with ``return_std`` the regressor's deviations."""
        features, Z = self._split(X)
        base = Z @ self.slopes_
        left = self.first_.transform(features) - base[:, 1:]
        if not return_std:
            return np.asarray(base[:, 0] + self.regressor_.predict(left))
        mean, std = self.regressor_.predict(left, return_std=True)
        return base[:, 0] + mean, std

    def _split(self, X: Any) -> tuple[NDArray[Any], Floats]:
        """Return the features, and a column of ones with the covariates."""
        features, coded = X[:, : -self.n_covariates], X[:, -self.n_covariates :]
        return features, np.column_stack([np.ones(len(X)), coded])


@dataclass
class CovariatesAloneRegressor:
    """The linear regression on covariates, the last columns of X, that our models have."""

    n_covariates: int

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from training rows and their responses."""
        coded = self._coded(X)
        self.covariates_ = ResponseCovariates.learn(CovariateBasis.learn(coded), coded, y)
        return self

    def law(self, X: Any) -> CovariatesAloneLaw:
        """Return the predictive distributions of rows."""
        return CovariatesAloneLaw(self.covariates_, self._coded(X))

    def _coded(self, X: Any) -> Floats:
        return np.asarray(X[:, -self.n_covariates :], dtype=np.float64)


def residual_deviation(fitted: Any, X: NDArray[Any], y: Floats, n_covariates: int = 0) -> float:
    """Return sqrt(sum of squared residuals / (n - k - 1)), k the columns that it looks at.

    Covariates that were taken out before count like columns.
    """
    residuals = y - fitted.predict(X)
    freedom = y.size - len(columns_needed(fitted)) - n_covariates - 1
    return float(np.sqrt(residuals @ residuals / freedom))


def penalized_deviation(fitted: Pipeline, X: NDArray[Any], y: Floats) -> float:  # noqa: ARG001
    """Return the root of the mean squared error by which LassoCV and the like chose a penalty."""
    return float(np.sqrt(fitted[-1].mse_path_.mean(axis=-1).min()))


def ridge_deviation(fitted: Pipeline, X: NDArray[Any], y: Floats) -> float:  # noqa: ARG001
    """Return the root of the mean squared error by which RidgeCV chose its penalty."""
    return float(np.sqrt(-fitted[-1].best_score_))


def forest_deviation(fitted: Pipeline, X: NDArray[Any], y: Floats) -> float:  # noqa: ARG001
    """Return the root mean squared error of the trees that were grown without a case."""
    errors = y - fitted[-1].oob_prediction_
    return float(np.sqrt(np.mean(errors**2)))


def usual_regressors(
    k: int, *, first: Sequence[Any], inner_splits: int, seed: int, n_covariates: int = 0
) -> dict[str, Any]:
    """Return the usual methods; those that select ``k`` features do so inside their fit.

    The steps in ``first`` come first; features are standardized where a penalty or a prior is
    common to all. The last ``n_covariates`` columns are taken out of response and features first.
    """
    folds = KFold(inner_splits, shuffle=True, random_state=seed)
    deviation = partial(residual_deviation, n_covariates=n_covariates)
    before = () if n_covariates else first

    def chained(*steps: Any) -> Pipeline:
        return clone(make_pipeline(*before, *steps))

    best = SelectKBest(f_regression, k=k)
    ridge = chained(StandardScaler(), RidgeCV(_PENALTIES))
    lasso, elastic_net = LassoCV(cv=folds), ElasticNetCV(l1_ratio=0.5, cv=folds)
    forest = RandomForestRegressor(
        _N_TREES, max_features=_SPLIT_AMONG, oob_score=True, random_state=seed % 2**32
    )
    methods = {
        "SelectKBest + BayesianRidge": chained(best, StandardScaler(), BayesianRidge()),
        LEAST_SQUARES: NormalAround(chained(best, LinearRegression()), deviation),
        "LassoCV": NormalAround(chained(StandardScaler(), lasso), penalized_deviation),
        "elastic net": NormalAround(chained(StandardScaler(), elastic_net), penalized_deviation),
        "RidgeCV": NormalAround(ridge, ridge_deviation),
        "random forest": NormalAround(chained(forest), forest_deviation),
    }
    mean_only = {MEAN_ONLY: NormalAround(DummyRegressor(), residual_deviation)}
    if not n_covariates:
        return methods | mean_only
    given = {name: OnResiduals(one, n_covariates, first) for name, one in methods.items()}
    return given | mean_only | {COVARIATES_ALONE: CovariatesAloneRegressor(n_covariates)}
