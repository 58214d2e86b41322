"""Which method gives the better probabilities on a user's own data: repeated cross-validation."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import validate_data

from unselected.calibration import Estimate
from unselected.columns import Binarize, count_classes
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.experiments.replicates import Record, run_replicates


class TrainingMedianBits(TransformerMixin, BaseEstimator):
    """Columns cut where `SelectiveBernoulliNB` cuts them: all methods see the same bits."""

    def __init__(self, binarize: Binarize = "auto") -> None:
        self.binarize = binarize

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the cuts in training rows."""
        X = validate_data(self, X)
        self.thresholds_ = count_classes(X, np.zeros(len(X), dtype=np.intp), self.binarize)[1]
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Return bits."""
        X = validate_data(self, X, reset=False)
        return np.asarray(X > self.thresholds_, dtype=np.uint8)


def usual_methods(k: int, *, inner_splits: int, seed: int) -> dict[str, ClassifierMixin]:
    """Return what people use instead, each selecting ``k`` features inside its own fit."""
    folds = StratifiedKFold(inner_splits, shuffle=True, random_state=seed)

    def bayes() -> Pipeline:
        return make_pipeline(TrainingMedianBits(), SelectKBest(f_classif, k=k), BernoulliNB())

    methods: dict[str, ClassifierMixin] = {"SelectKBest + BernoulliNB": bayes()}
    for kind in _calibration_kinds():
        for ensemble in (True, False):
            name = f"SelectKBest + BernoulliNB, {kind}{' ensemble' if ensemble else ''}"
            methods[name] = CalibratedClassifierCV(
                bayes(), method=kind, cv=folds, ensemble=ensemble
            )
    methods["SelectKBest + LogisticRegression"] = make_pipeline(
        TrainingMedianBits(), SelectKBest(f_classif, k=k), LogisticRegression(max_iter=1000)
    )
    methods["class frequencies"] = DummyClassifier(strategy="prior")
    return methods


def _calibration_kinds() -> tuple[str, ...]:
    """Return the kinds of calibration that the installed scikit-learn has."""
    newest = tuple(int(part) for part in version("scikit-learn").split(".")[:2]) >= (1, 8)
    return ("sigmoid", "isotonic", "temperature") if newest else ("sigmoid", "isotonic")


@dataclass(frozen=True)
class ComparisonRecord:
    """Out-of-fold probabilities of one method in one repetition of the cross-validation.

    ``features_needed`` is the mean over folds of how many columns a new case has to have: for an
    ensemble, all that any of its members selected.
    """

    repeat: int
    method: str
    probability: list[float]
    features_needed: float


@dataclass(frozen=True)
class ComparisonRow:
    """Means over repetitions, with intervals from resampling the cases."""

    method: str
    log_loss: Estimate
    squared_error: Estimate
    actual_error: Estimate
    expected_error: Estimate
    features_needed: float


def compare(
    X: Any,
    y: Any,
    *,
    k: int,
    classifier: SelectiveBernoulliNB | None = None,
    n_splits: int = 5,
    n_repeats: int = 10,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
) -> list[ComparisonRecord]:
    """Cross-validate this library's classifier beside what people use instead.

    Selection is inside every fold for every method, and all methods see the same bits (columns
    that are not 0/1 are cut at their training median).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes; the probabilities are those of the second in sorted order.
    k : int
        How many features each method selects.
    classifier : SelectiveBernoulliNB, default=None
        Take the settings of our own methods, "corrected" and "uncorrected", from here; by default
        they select ``k`` features and have the default priors.
    n_splits, n_repeats : int
        Repeated stratified cross-validation.
    methods : sequence of str, default=None
        Names of the methods to run, of those in `method_names`; all by default.
    seed, n_jobs, checkpoint, progress
        See `run_replicates`.

    Returns
    -------
    records : list of ComparisonRecord
    """
    X = np.asarray(X)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    smallest = int(np.bincount(codes).min()) if classes.size else 0
    if classes.size != 2 or smallest < n_splits:
        raise ValueError(
            f"y has {classes.size} classes, the smallest with {smallest} cases: compare needs two "
            f"classes with at least n_splits={n_splits} cases each."
        )
    chosen = _chosen(methods)
    settings = {
        "experiment": "compare",
        "k": k,
        "n_splits": n_splits,
        "methods": chosen,
        "classifier": repr(classifier),
        "data": sha256(np.ascontiguousarray(X).tobytes() + codes.tobytes()).hexdigest(),
    }
    ours = SelectiveBernoulliNB(k=k) if classifier is None else classifier
    work = partial(_one_repeat, X=X, y=codes, k=k, ours=ours, n_splits=n_splits, methods=chosen)
    records = run_replicates(
        work,
        n_repeats,
        seed=seed,
        settings=settings,
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        progress=progress,
        unit="repeat",
    )
    return [ComparisonRecord(**record) for record in records]


def method_names() -> list[str]:
    """Return the names of all methods that `compare` knows, ours first."""
    return list(_methods(1, SelectiveBernoulliNB(), inner_splits=2, seed=0))


def _chosen(methods: Sequence[str] | None) -> list[str]:
    known = method_names()
    unknown = [name for name in methods or () if name not in known]
    if unknown:
        raise ValueError(f"methods has {unknown[0]!r}, which is not one of {', '.join(known)}.")
    return known if methods is None else list(methods)


def _methods(
    k: int, ours: SelectiveBernoulliNB, *, inner_splits: int, seed: int
) -> dict[str, ClassifierMixin]:
    return {
        "corrected": clone(ours).set_params(correct_selection=True),
        "uncorrected": clone(ours).set_params(correct_selection=False),
        **usual_methods(k, inner_splits=inner_splits, seed=seed),
    }


def _one_repeat(
    repeat: int,
    seed: np.random.SeedSequence,
    *,
    X: NDArray[Any],
    y: NDArray[np.intp],
    k: int,
    ours: SelectiveBernoulliNB,
    n_splits: int,
    methods: list[str],
) -> list[Record]:
    fold_seed, inner_seed = (int(state) for state in seed.generate_state(2))
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=fold_seed)
    probability = {name: np.empty(len(y)) for name in methods}
    needed: dict[str, list[int]] = {name: [] for name in methods}
    for train, test in folds.split(X, y):
        inner_splits = min(5, int(np.bincount(y[train]).min()))
        fitted = _methods(k, ours, inner_splits=inner_splits, seed=inner_seed)
        for name in methods:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # f_classif divides by zero on constant columns
                model = fitted[name].fit(X[train], y[train])
                probability[name][test] = model.predict_proba(X[test])[:, 1]
            needed[name].append(len(_columns_needed(model)))
    return [
        asdict(
            ComparisonRecord(repeat, name, probability[name].tolist(), float(np.mean(needed[name])))
        )
        for name in methods
    ]


def _columns_needed(model: Any) -> set[int]:
    """Return the columns that a fitted method looks at."""
    if isinstance(model, CalibratedClassifierCV):
        members = [_columns_needed(member.estimator) for member in model.calibrated_classifiers_]
        return set().union(*members)
    if isinstance(model, DummyClassifier):
        return set()
    selector = model[1] if isinstance(model, Pipeline) else model
    return set(selector.get_support(indices=True).tolist())


def comparison_table(
    records: Iterable[ComparisonRecord],
    y: Any,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    seed: int = 0,
) -> list[ComparisonRow]:
    """Average over repetitions, and resample the cases for intervals.

    The intervals say how far the means would move with other cases of the same kind; the folds of
    one data set overlap, so that the spread over repetitions would look too certain.
    """
    _, codes = np.unique(np.asarray(y), return_inverse=True)
    by_method: dict[str, list[ComparisonRecord]] = {}
    for record in records:
        by_method.setdefault(record.method, []).append(record)
    picks = np.random.default_rng(seed).integers(codes.size, size=(n_resamples, codes.size))
    rows = []
    for method, group in by_method.items():
        p = np.array([record.probability for record in group])
        losses = {
            "log_loss": -np.log(np.clip(np.where(codes == 1, p, 1.0 - p), 1e-15, None)),
            "squared_error": (p - codes) ** 2,
            "actual_error": (p >= 0.5) != codes,
            "expected_error": np.minimum(p, 1.0 - p),
        }
        estimates = {
            name: _mean_with_interval(loss.mean(axis=0), picks, level)
            for name, loss in losses.items()
        }
        needed = float(np.mean([record.features_needed for record in group]))
        rows.append(ComparisonRow(method=method, features_needed=needed, **estimates))
    return rows


def _mean_with_interval(
    per_case: NDArray[np.float64], picks: NDArray[np.int64], level: float
) -> Estimate:
    means = per_case[picks].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(per_case.mean()), float(low), float(high), level)
