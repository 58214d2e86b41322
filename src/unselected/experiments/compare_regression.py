"""Which method predicts a real-valued response best: repeated cross-validation."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import BayesianRidge, LassoCV, LinearRegression, RidgeCV
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected._typing import Floats
from unselected.calibration import Estimate
from unselected.estimators.inputs import TrainingTable, check_training
from unselected.estimators.predicting import ResponsePredictions
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.estimators.regressor import SelectiveRegressor
from unselected.experiments.folds import (
    CrossValidation,
    chosen_methods,
    columns_needed,
    rows_by_method,
    with_and_without_correction,
)

# The ends of the central intervals, and their nominal coverage.
TAILS = (0.05, 0.95)
PROMISED_COVERAGE = 0.9

# What RidgeCV chooses among, for standardized features.
_PENALTIES = np.logspace(-2, 7, 28)

# A standard deviation below this part of the response's own counts as this part: a method whose
# residuals are all 0 would otherwise be certain.
_LEAST_DEVIATION = 1e-9

MEAN_ONLY = "mean of the response"
_LINE = "SelectKBest + LinearRegression"

OurRegressor = SelectiveRegressor | SelectiveNaiveRegressor


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


def residual_deviation(fitted: Any, X: NDArray[Any], y: Floats) -> float:
    """Return sqrt(sum of squared residuals / (n - k - 1)), k the columns that it looks at."""
    residuals = y - fitted.predict(X)
    freedom = y.size - len(columns_needed(fitted)) - 1
    return float(np.sqrt(residuals @ residuals / freedom))


def lasso_deviation(fitted: Pipeline, X: NDArray[Any], y: Floats) -> float:  # noqa: ARG001
    """Return the root of the mean squared error by which LassoCV chose its penalty."""
    return float(np.sqrt(fitted[-1].mse_path_.mean(axis=-1).min()))


def ridge_deviation(fitted: Pipeline, X: NDArray[Any], y: Floats) -> float:  # noqa: ARG001
    """Return the root of the mean squared error by which RidgeCV chose its penalty."""
    return float(np.sqrt(-fitted[-1].best_score_))


def usual_regressors(
    k: int, *, first: Sequence[Any], inner_splits: int, seed: int
) -> dict[str, Any]:
    """Return the usual methods; those that select ``k`` features do so inside their fit.

    The steps in ``first`` come first; features are standardized where a penalty or a prior is
    common to all.
    """
    folds = KFold(inner_splits, shuffle=True, random_state=seed)

    def chained(*steps: Any) -> Pipeline:
        return clone(make_pipeline(*first, *steps))

    best = SelectKBest(f_regression, k=k)
    ridge = chained(StandardScaler(), RidgeCV(_PENALTIES))
    return {
        "SelectKBest + BayesianRidge": chained(best, StandardScaler(), BayesianRidge()),
        _LINE: NormalAround(chained(best, LinearRegression()), residual_deviation),
        "LassoCV": NormalAround(chained(StandardScaler(), LassoCV(cv=folds)), lasso_deviation),
        "RidgeCV": NormalAround(ridge, ridge_deviation),
        MEAN_ONLY: NormalAround(DummyRegressor(), residual_deviation),
    }


@dataclass(frozen=True)
class RegressionComparisonRecord:
    """Out-of-fold predictions of one method in one repetition of the cross-validation.

    Each list has a number for each case: mean, standard deviation, 5 % and 95 % quantile of the
    predictive distribution, its log density and its distribution function (``pit``) at the actual
    response. ``features_needed`` is the mean over folds of how many columns a new case has to have.
    """

    repeat: int
    method: str
    mean: list[float]
    std: list[float]
    lower: list[float]
    upper: list[float]
    log_density: list[float]
    pit: list[float]
    features_needed: float


# The fields with a number for each case, in the order in which a prediction has them.
CASE_FIELDS = ("mean", "std", "lower", "upper", "log_density", "pit")


@dataclass(frozen=True)
class RegressionComparisonRow:
    """Means over repetitions, with intervals from resampling the cases."""

    method: str
    log_density: Estimate
    rmse: Estimate
    coverage: Estimate
    width: Estimate
    features_needed: float


def compare_regression(
    X: Any,
    y: Any,
    *,
    k: int,
    regressor: OurRegressor | None = None,
    groups: Any = None,
    n_splits: int = 5,
    n_repeats: int = 10,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
) -> list[RegressionComparisonRecord]:
    """Cross-validate this library's regressor and the usual methods.

    Selection is inside every fold for every method that selects. The predictive distributions of
    the usual methods are normal, with the standard deviation that BayesianRidge itself gives, that
    of the residuals (divisor n - k - 1) for least squares and for the mean of the response, and
    that of the cross-validation which chose the penalty for LassoCV and RidgeCV, which use all
    features. For the usual methods missing values (NaN) are replaced by the column's training
    median (scikit-learn's SimpleImputer); ours leave them out.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers.
    k : int
        How many features each method selects.
    regressor : SelectiveRegressor or SelectiveNaiveRegressor, default=None
        Take the settings of our own methods, "corrected" and "uncorrected", from here; by default
        they are those of a SelectiveNaiveRegressor that selects ``k`` features.
    groups : array-like of shape (n_samples,), default=None
        Cases of the same group stay together in all folds, and in those inside a
        `SelectiveRegressor`. Methods that choose a penalty do not know of them inside their fits.
    n_splits, n_repeats : int
        Repeated cross-validation.
    methods : sequence of str, default=None
        Names of the methods to run, of those in `regression_method_names`. By default all, but
        for "SelectKBest + LinearRegression" where the smallest training set has no more than k + 1
        cases: least squares then leaves no residuals to estimate a standard deviation from, and
        naming the method is an error.
    seed, n_jobs, checkpoint, progress
        See `run_replicates`.

    Returns
    -------
    records : list of RegressionComparisonRecord
    """
    table = check_training(SelectiveNaiveRegressor(), X, y, "numbers")
    ours = SelectiveNaiveRegressor(k=k) if regressor is None else regressor
    if not isinstance(ours, OurRegressor):
        raise TypeError(
            f"regressor={regressor!r} is neither a SelectiveRegressor nor a "
            "SelectiveNaiveRegressor."
        )
    labels = None if groups is None else np.asarray(groups)
    chosen = _possible_methods(methods, k, _smallest_training_set(table, n_splits, labels))
    comparison = _Numbers(table, k, ours, n_splits, chosen, labels)
    return comparison.run(
        n_repeats, seed=seed, n_jobs=n_jobs, checkpoint=checkpoint, progress=progress
    )


def regression_method_names() -> list[str]:
    """Return the names of all methods that `compare_regression` knows, ours first."""
    ours = with_and_without_correction(SelectiveNaiveRegressor())
    return [*ours, *usual_regressors(1, first=(), inner_splits=2, seed=0)]


def _smallest_training_set(table: TrainingTable, n_splits: int, groups: NDArray[Any] | None) -> int:
    """Return how many cases are left where the largest groups, or single cases, make a fold."""
    n = table.y.size
    sizes = np.ones(n, dtype=int) if groups is None else np.unique(groups, return_counts=True)[1]
    n_units, smallest = sizes.size, 0
    if n_splits > 0:
        in_fold = -(-n_units // n_splits)
        smallest = n - int(np.sort(sizes)[::-1][:in_fold].sum())
    if n_units < n_splits or smallest < 3:
        what = "case" if groups is None else "group"
        raise ValueError(
            f"y has {n_units} {what}s: with n_splits={n_splits} there must be a {what} for each "
            "fold, and 3 cases left to learn from."
        )
    return smallest


def _possible_methods(methods: Sequence[str] | None, k: int, n_training: int) -> list[str]:
    chosen = chosen_methods(methods, regression_method_names())
    if k + 1 < n_training or _LINE not in chosen:
        return chosen
    if methods is None:
        return [name for name in chosen if name != _LINE]
    raise ValueError(
        f"methods has {_LINE!r}, which with k={k} and training sets of {n_training} cases leaves "
        "no residuals to estimate a standard deviation from: choose a smaller k, or leave it out."
    )


class _Numbers(CrossValidation[RegressionComparisonRecord]):
    experiment = "compare_regression"
    record = RegressionComparisonRecord

    def folds(self, seed: int) -> KFold | GroupKFold:
        if self.groups is not None:
            return GroupKFold(self.n_splits, shuffle=True, random_state=seed)
        return KFold(self.n_splits, shuffle=True, random_state=seed)

    def usual(self, y: NDArray[Any], first: list[Any], seed: int) -> dict[str, Any]:
        if np.ptp(y) == 0.0:
            raise ValueError(
                f"y is {y[0]:g} in all {y.size} cases of a training set: take more folds, or cases "
                "with more responses."
            )
        return usual_regressors(self.k, first=first, inner_splits=min(5, y.size), seed=seed)

    def predict(self, model: Any, X: Any, y: NDArray[Any]) -> Floats:
        """Return the numbers of `CASE_FIELDS` for each case."""
        mean, std = model.predict(X, return_std=True)
        if isinstance(model, ResponsePredictions):
            lower, upper = model.predict_quantiles(X, TAILS).T
            at_response = (model.predict_log_density(X, y), model.predict_cdf(X, y))
        else:
            law = norm(mean, std)
            lower, upper = law.ppf(TAILS[0]), law.ppf(TAILS[1])
            at_response = (law.logpdf(y), law.cdf(y))
        return np.column_stack([mean, std, lower, upper, *at_response])

    def fields(self, values: Floats) -> dict[str, Any]:
        return dict(zip(CASE_FIELDS, values.T.tolist(), strict=True))


def regression_table(
    records: Iterable[RegressionComparisonRecord],
    y: Any,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
) -> list[RegressionComparisonRow]:
    """Average over repetitions, and resample the cases for intervals.

    The intervals say how much the numbers would vary with other cases of the same kind. The numbers
    are the mean log predictive density of the actual responses, the root of the mean squared error
    of the predictive means, the fraction of responses inside the central 90 % intervals, ends
    included, and the mean width of these.

    Parameters
    ----------
    records : iterable of RegressionComparisonRecord
        From `compare_regression`.
    y : array-like of shape (n_samples,)
        The responses that `compare_regression` was given.
    level : float
        Coverage of the intervals of these numbers, about.
    n_resamples, seed : int
        Of the resampling.

    Returns
    -------
    rows : list of RegressionComparisonRow
        One for each method.
    """
    responses = np.asarray(y, dtype=np.float64)

    def numbers(group: list[RegressionComparisonRecord]) -> dict[str, NDArray[Any]]:
        mean, lower, upper, log_density = (
            np.array([getattr(record, name) for record in group])
            for name in ("mean", "lower", "upper", "log_density")
        )
        return {
            "log_density": log_density,
            "rmse": (mean - responses) ** 2,
            "coverage": (lower <= responses) & (responses <= upper),
            "width": upper - lower,
        }

    rows = rows_by_method(
        records, numbers, responses.size, level=level, n_resamples=n_resamples, seed=seed
    )
    return [RegressionComparisonRow(**row | {"rmse": _root(row["rmse"])}) for row in rows]


def _root(square: Estimate) -> Estimate:
    low, high = np.sqrt([square.low, square.high]).tolist()
    return Estimate(float(np.sqrt(square.value)), low, high, square.level)
