"""Which method gives the better probabilities on a user's own data: repeated cross-validation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneOut, StratifiedGroupKFold, StratifiedKFold

from unselected._typing import Floats
from unselected.calibration import Estimate
from unselected.calibration.discrimination import resampled_area
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.choose import are_all_bits
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.inputs import TrainingTable, check_training
from unselected.estimators.out_of_fold import class_losses
from unselected.experiments.folds import (
    CrossValidation,
    OutOfFold,
    Splits,
    chosen_methods,
    features_alone,
    ours_by_default,
    rows_by_method,
    with_and_without_correction,
)
from unselected.experiments.usual_classifiers import (
    OurClassifier,
    is_run_by_default,
    usual_methods,
)
from unselected.numerics.resampling import Resampled, Resamples

# Methods that divide their training sets again.
_WITH_INNER_FOLDS = ("lasso", "elastic net", "nearest shrunken centroids")


@dataclass(frozen=True)
class ComparisonRecord:
    """Out-of-fold probabilities of one method in one repetition of the cross-validation.

    ``probability`` has a row for each case, with the probabilities of all classes in sorted order.
    ``features_needed`` is the mean over folds of how many columns a new case has to have: for an
    ensemble, all that any of its members selected.
    """

    repeat: int
    method: str
    probability: list[list[float]]
    features_needed: float


@dataclass(frozen=True)
class ComparisonRow:
    """Means over repetitions, with intervals from resampling the cases.

    ``differences`` are those of the same numbers from "corrected", paired by case; there are none
    of "corrected" itself, and where it was not run.
    """

    method: str
    log_loss: Estimate
    squared_error: Estimate
    actual_error: Estimate
    expected_error: Estimate
    auc: Estimate
    features_needed: float
    differences: dict[str, Estimate] = field(default_factory=dict)


def compare(
    X: Any,
    y: Any,
    *,
    k: int,
    classifier: OurClassifier | None = None,
    groups: Any = None,
    covariates: Any = None,
    n_splits: Splits = 5,
    n_repeats: int = 10,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
) -> list[ComparisonRecord]:
    """Cross-validate this library's classifier and the usual methods.

    Selection is inside every fold for every method. With a `SelectiveBernoulliNB` of binary
    features all methods see the same bits. Otherwise they see the numbers. Missing values (NaN) are
    replaced by the column's training median for the usual methods (scikit-learn's SimpleImputer);
    ours leave them out.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two or more classes.
    k : int
        How many features each method selects.
    classifier : SelectiveClassifier, SelectiveBernoulliNB or SelectiveGaussianNB, default=None
        Take the settings of our own methods, "corrected" and "uncorrected", from here. By default
        they select ``k`` features and have the default priors, and are for bits where all features
        are 0, 1 or missing, and for real numbers else.
    groups : array-like of shape (n_samples,), default=None
        Cases of the same group stay together in all folds, and in those inside a
        `SelectiveClassifier`. Methods that calibrate do not know of them inside their own fits.
    covariates : table of shape (n_samples, n_covariates), default=None
        See `SelectiveClassifier.fit`; ``classifier`` may name columns of X instead. Ours are
        adjusted for them, and the usual methods have their coded columns beside the selected
        features. There are two more methods, "features alone", which is "corrected" without them,
        and "covariates alone".
    n_splits : int or "loo", default=5
        Folds of the stratified cross-validation. With "loo" each case is left out, our own methods
        from one pass over the data where their k is a number.
    n_repeats : int, default=10
        Repetitions; with "loo" there is 1.
    methods : sequence of str, default=None
        Names of the methods to run, of those in `method_names`; those in `default_methods` by
        default.
    seed, n_jobs, checkpoint, progress
        See `run_replicates`.

    Returns
    -------
    records : list of ComparisonRecord
    """
    named = SelectiveGaussianNB(covariates=getattr(classifier, "covariates", None))
    table = check_training(named, X, y, "classes", covariates)
    ours = _checked_classifier(classifier, table, k)
    given = table.covariates is not None
    known = method_names(ours, covariates=given)
    chosen = chosen_methods(methods, known, default_methods(ours, covariates=given))
    if n_splits == "loo" and n_repeats != 1:
        raise ValueError(f"n_repeats={n_repeats} repeats nothing with n_splits='loo': give 1.")
    if n_splits != "loo" and n_splits < 2:
        raise ValueError(f"n_splits={n_splits} leaves no cases to fit to: use at least 2.")
    _check_class_sizes(table, n_splits, chosen)
    if groups is not None and n_splits == "loo":
        raise ValueError("groups needs folds: n_splits='loo' leaves out single cases.")
    labels = None if groups is None else np.asarray(groups)
    comparison = _Classes(table, k, ours, n_splits, chosen, labels)
    return comparison.run(
        n_repeats, seed=seed, n_jobs=n_jobs, checkpoint=checkpoint, progress=progress
    )


def method_names(classifier: OurClassifier | None = None, *, covariates: bool = False) -> list[str]:
    """Return the names of all methods that `compare` knows, ours first.

    Parameters
    ----------
    classifier : SelectiveClassifier, SelectiveBernoulliNB or SelectiveGaussianNB, default=None
        The one given to `compare`, for the names of the usual methods depend on its kind; by
        default a SelectiveBernoulliNB.
    covariates : bool, default=False
        Whether `compare` is given any.

    Examples
    --------
    >>> method_names(SelectiveGaussianNB())[:3]
    ['corrected', 'uncorrected', 'SelectKBest + GaussianNB']
    """
    ours = SelectiveBernoulliNB() if classifier is None else classifier
    return [*with_and_without_correction(ours), *_other_names(ours, covariates)]


def default_methods(
    classifier: OurClassifier | None = None, *, covariates: bool = False
) -> list[str]:
    """Return the names of the methods that `compare` runs by default, ours first.

    Of the calibrations of naive Bayes it is scikit-learn's default, and "uncorrected" is left out
    for a `SelectiveClassifier`, whose fits take seconds. Parameters are those of `method_names`.

    Examples
    --------
    >>> from unselected import SelectiveClassifier
    >>> default_methods(SelectiveClassifier())[:3]
    ['corrected', 'SelectKBest + GaussianNB', 'SelectKBest + GaussianNB, sigmoid ensemble']
    """
    ours = SelectiveBernoulliNB() if classifier is None else classifier
    others = filter(is_run_by_default, _other_names(ours, covariates))
    return [*ours_by_default(ours), *others]


def _other_names(ours: OurClassifier, covariates: bool) -> list[str]:
    usual = usual_methods(
        1, ours=ours, first=(), inner_splits=2, seed=0, n_covariates=int(covariates)
    )
    return [*(features_alone(ours) if covariates else {}), *usual]


def _checked_classifier(
    classifier: OurClassifier | None, table: TrainingTable, k: int
) -> OurClassifier:
    if classifier is None:
        bits = are_all_bits(table.dense)
        return SelectiveBernoulliNB(k=k) if bits else SelectiveGaussianNB(k=k)
    if not isinstance(classifier, OurClassifier):
        raise TypeError(
            f"classifier={classifier!r} is neither a SelectiveClassifier nor a "
            "SelectiveBernoulliNB or a SelectiveGaussianNB."
        )
    return classifier


def _check_class_sizes(table: TrainingTable, n_splits: Splits, methods: list[str]) -> None:
    """Raise if a fold or, for methods that calibrate, an inner fold would lack a class."""
    sizes = np.bincount(table.y)
    smallest = int(sizes.min())
    found = (
        f"y has {sizes.size} classes, the smallest with {smallest} cases "
        f"({table.classes[int(np.argmin(sizes))]!s})"
    )
    least = 2 if n_splits == "loo" else n_splits
    if smallest < least:
        needed = "2" if n_splits == "loo" else f"n_splits={n_splits}"
        raise ValueError(f"{found}: compare needs at least {needed} cases of each.")
    calibrating = [name for name in methods if "," in name or name in _WITH_INNER_FOLDS]
    left_out = 1 if n_splits == "loo" else -(-smallest // n_splits)
    if calibrating and smallest - left_out < 2:
        raise ValueError(
            f"{found}: {calibrating[0]!r} needs 2 cases of each class in every training set. "
            "Choose other methods."
        )


class _Classes(CrossValidation[ComparisonRecord]):
    experiment = "compare, probabilities of all classes"
    record = ComparisonRecord

    def folds(self, seed: int) -> LeaveOneOut | StratifiedKFold | StratifiedGroupKFold:
        if self.n_splits == "loo":
            return LeaveOneOut()
        if self.groups is not None:
            return StratifiedGroupKFold(self.n_splits, shuffle=True, random_state=seed)
        return StratifiedKFold(self.n_splits, shuffle=True, random_state=seed)

    def usual(self, y: NDArray[Any], first: list[Any], seed: int) -> dict[str, Any]:
        splits = max(2, min(5, int(np.bincount(y).min())))
        return usual_methods(
            self.k,
            ours=self.ours,
            first=first,
            inner_splits=splits,
            seed=seed,
            n_covariates=self.table.n_coded,
        )

    def predict(self, model: Any, X: Any, y: NDArray[Any], given: dict[str, Any]) -> Floats:  # noqa: ARG002
        return np.asarray(model.predict_proba(X, **given))

    def fields(self, values: Floats) -> dict[str, Any]:
        return {"probability": values.tolist()}

    def known(self) -> dict[str, OutOfFold]:
        """Predict each case, left out, by those of our methods that can do so in one pass."""
        ours = self.numbered()
        if self.n_splits != "loo" or ours.k is None or ours.k == "loo":
            return {}  # with k="loo" how many features it takes differs between cases
        if not hasattr(ours, "loo_predict_proba"):
            return {}  # each case takes a fit of its own
        everyone = slice(None)
        fitted = {
            name: method.fit(
                self.rows(method, everyone),
                self.table.y,
                **self.covariates_for(name, method, everyone),
            )
            for name, method in (with_and_without_correction(ours) | features_alone(ours)).items()
            if name in self.methods
        }
        return {
            name: OutOfFold(model.loo_predict_proba(), float(model.selection_.indices.size))
            for name, model in fitted.items()
        }


def comparison_table(
    records: Iterable[ComparisonRecord],
    y: Any,
    *,
    groups: Any = None,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
) -> list[ComparisonRow]:
    """Average over repetitions, and resample the cases for intervals.

    The intervals say how much the means would vary with other cases of the same kind. The folds of
    one data set overlap, so the variation over repetitions would be too small.

    With p_g the probability of class g, and c the observed class, the numbers are the means of

    - log_loss: -log p_c, in which 0 counts as 1e-15;
    - squared_error: half the sum over classes of (p_g - [g = c])^2, which for two classes is the
      usual (p_1 - [c = 1])^2;
    - actual_error: whether c is not the most probable class; of classes that are equally probable
      the last counts as predicted, as in the paper, where 0.5 predicts class 1;
    - expected_error: 1 - max_g p_g.

    ``auc`` is the area under the ROC curve, of more than two classes the mean of those of each
    class against the others. ``differences`` are paired: both methods are judged on the same
    resampled cases.

    Parameters
    ----------
    records : iterable of ComparisonRecord
        From `compare`.
    y : array-like of shape (n_samples,)
        The classes that `compare` was given.
    groups : array-like of shape (n_samples,), default=None
        Cases of the same group are resampled together.
    level : float
        Coverage of the intervals, about.
    n_resamples, seed : int
        Of the resampling.

    Returns
    -------
    rows : list of ComparisonRow
        One for each method.
    """
    codes = np.unique(np.asarray(y), return_inverse=True)[1]

    def judge(group: list[ComparisonRecord], resamples: Resamples) -> dict[str, Resampled]:
        p = np.array([record.probability for record in group])
        losses = class_losses(p, codes)
        judged = {name: resamples.mean(values.mean(axis=0)) for name, values in losses.items()}
        return judged | {"auc": resampled_area(codes, p, resamples)}

    resamples = Resamples.draw(codes.size, n_resamples=n_resamples, seed=seed, groups=groups)
    return [ComparisonRow(**row) for row in rows_by_method(records, judge, resamples, level=level)]
