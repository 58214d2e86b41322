"""Which method predicts a real-valued response best: repeated cross-validation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.model_selection import GroupKFold, KFold

from unselected._typing import Floats
from unselected.calibration import Estimate
from unselected.estimators.inputs import TrainingTable, check_training
from unselected.estimators.out_of_fold import TAILS, response_losses
from unselected.estimators.predicting import ResponsePredictions
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.estimators.regressor import SelectiveRegressor
from unselected.experiments.folds import (
    CrossValidation,
    chosen_methods,
    features_alone,
    ours_by_default,
    rows_by_method,
    with_and_without_correction,
)
from unselected.experiments.usual_regressors import (
    LEAST_SQUARES,
    CovariatesAloneRegressor,
    usual_regressors,
)
from unselected.numerics.resampling import Resampled, Resamples

# The nominal coverage of the central intervals.
PROMISED_COVERAGE = 0.9

OurRegressor = SelectiveRegressor | SelectiveNaiveRegressor


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
    """Means over repetitions, with intervals from resampling the cases.

    ``differences`` are those of the same numbers from "corrected", paired by case; there are none
    of "corrected" itself, and where it was not run.
    """

    method: str
    log_density: Estimate
    rmse: Estimate
    coverage: Estimate
    width: Estimate
    features_needed: float
    differences: dict[str, Estimate] = field(default_factory=dict)


def compare_regression(
    X: Any,
    y: Any,
    *,
    k: int,
    regressor: OurRegressor | None = None,
    groups: Any = None,
    covariates: Any = None,
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
    that of the cross-validation which chose the penalty for LassoCV, RidgeCV and the elastic net,
    and that of the trees without a case for the random forest; these four see all features. For the
    usual methods missing values (NaN) are replaced by the column's training median (scikit-learn's
    SimpleImputer); ours leave them out.

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
    covariates : table of shape (n_samples, n_covariates), default=None
        See `SelectiveRegressor.fit`; ``regressor`` may name columns of X instead. Ours are adjusted
        for them. The usual methods are fitted to what least squares on them leaves of response and
        features. There are two more methods, "features alone", which is "corrected" without them,
        and "covariates alone".
    n_splits, n_repeats : int
        Repeated cross-validation.
    methods : sequence of str, default=None
        Names of the methods to run, of those in `regression_method_names`. By default all, but
        for "uncorrected" with a `SelectiveRegressor`, whose fits take seconds, and for
        "SelectKBest + LinearRegression" where the smallest training set has no more than k + 1
        cases: least squares then leaves no residuals to estimate a standard deviation from, and
        naming the method is an error.
    seed, n_jobs, checkpoint, progress
        See `run_replicates`.

    Returns
    -------
    records : list of RegressionComparisonRecord
    """
    named = SelectiveNaiveRegressor(covariates=getattr(regressor, "covariates", None))
    table = check_training(named, X, y, "numbers", covariates)
    ours = SelectiveNaiveRegressor(k=k) if regressor is None else regressor
    if not isinstance(ours, OurRegressor):
        raise TypeError(
            f"regressor={regressor!r} is neither a SelectiveRegressor nor a "
            "SelectiveNaiveRegressor."
        )
    labels = None if groups is None else np.asarray(groups)
    n_training = _smallest_training_set(table, n_splits, labels)
    chosen = _possible_methods(methods, k, n_training, table.n_coded, ours_by_default(ours))
    comparison = _Numbers(table, k, ours, n_splits, chosen, labels)
    return comparison.run(
        n_repeats, seed=seed, n_jobs=n_jobs, checkpoint=checkpoint, progress=progress
    )


def regression_method_names(*, covariates: bool = False) -> list[str]:
    """Return the names of all methods that `compare_regression` knows, ours first.

    Parameters
    ----------
    covariates : bool, default=False
        Whether `compare_regression` is given any.
    """
    ours = with_and_without_correction(SelectiveNaiveRegressor())
    alone = features_alone(SelectiveNaiveRegressor()) if covariates else {}
    n_covariates = int(covariates)
    usual = usual_regressors(1, first=(), inner_splits=2, seed=0, n_covariates=n_covariates)
    return [*ours, *alone, *usual]


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


def _possible_methods(
    methods: Sequence[str] | None, k: int, n_training: int, n_covariates: int, ours: list[str]
) -> list[str]:
    known = regression_method_names(covariates=n_covariates > 0)
    left_out = set(with_and_without_correction(SelectiveNaiveRegressor())) - set(ours)
    chosen = chosen_methods(methods, known, [name for name in known if name not in left_out])
    if k + n_covariates + 1 < n_training or LEAST_SQUARES not in chosen:
        return chosen
    if methods is None:
        return [name for name in chosen if name != LEAST_SQUARES]
    raise ValueError(
        f"methods has {LEAST_SQUARES!r}, which with k={k} and training sets of {n_training} cases "
        "leaves no residuals to estimate a standard deviation from: choose a smaller k, or leave "
        "it out."
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
        return usual_regressors(
            self.k,
            first=first,
            inner_splits=min(5, y.size),
            seed=seed,
            n_covariates=self.table.n_coded,
        )

    def predict(self, model: Any, X: Any, y: NDArray[Any], given: dict[str, Any]) -> Floats:
        """Return the numbers of `CASE_FIELDS` for each case."""
        if isinstance(model, CovariatesAloneRegressor):
            own = model.law(X)
            return np.column_stack([own.mean, own.std, *own.ends(), own.log_density(y), own.cdf(y)])
        mean, std = model.predict(X, return_std=True, **given)
        if isinstance(model, ResponsePredictions):
            lower, upper = model.predict_quantiles(X, TAILS, **given).T
            logs = model.predict_log_density(X, y, **given)
            at_response = (logs, model.predict_cdf(X, y, **given))
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
    groups: Any = None,
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
    groups : array-like of shape (n_samples,), default=None
        Cases of the same group are resampled together.
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

    def judge(
        group: list[RegressionComparisonRecord], resamples: Resamples
    ) -> dict[str, Resampled]:
        losses = losses_of_records(group, responses)
        judged = {name: resamples.mean(values.mean(axis=0)) for name, values in losses.items()}
        return judged | {"rmse": judged["squared_error"].root()}

    resamples = Resamples.draw(responses.size, n_resamples=n_resamples, seed=seed, groups=groups)
    rows = rows_by_method(records, judge, resamples, level=level)
    return [RegressionComparisonRow(**_in_units_of_y(row)) for row in rows]


def losses_of_records(
    records: list[RegressionComparisonRecord], y: Floats
) -> dict[str, NDArray[Any]]:
    """Return the numbers of every case in every repetition, shape (n_repeats, n_samples)."""
    fields = ("mean", "lower", "upper", "log_density")
    told = [[getattr(record, field) for record in records] for field in fields]
    return response_losses(np.array(told), y)


def _in_units_of_y(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without squared errors; the interval of their root is the root of theirs."""
    row["differences"].pop("squared_error", None)
    square = row.pop("squared_error")
    low, high = np.sqrt([square.low, square.high]).tolist()
    return row | {"rmse": Estimate(row["rmse"].value, low, high, square.level)}
