"""What comparisons by cross-validation share: methods by name, folds, intervals over cases."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import has_fit_parameter

from unselected._typing import Floats, Ints
from unselected.columns.sources import ArrayColumns
from unselected.estimators.added_value import FEATURES_ALONE
from unselected.estimators.finding_columns import find_columns
from unselected.estimators.front_door import FrontDoor
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.parameters import check_whole
from unselected.estimators.selecting import SelectiveEstimator
from unselected.experiments.needing import columns_needed
from unselected.experiments.replicates import run_replicates
from unselected.numerics.resampling import Resampled, Resamples


class RecordOfMethod(Protocol):
    """What one method gave in one repetition."""

    @property
    def method(self) -> str:
        """The name of the method."""

    @property
    def features_needed(self) -> float:
        """The mean over folds of how many columns a new case has to have."""


# The method that the others are compared with.
OURS = "corrected"

# How many folds there are, or that each case is one.
Splits = int | Literal["loo"]
R = TypeVar("R", bound=RecordOfMethod)


def _say_nothing(of: int) -> None:
    """Be told that one of so many fits is done, and show nothing."""


# Is told of each fit of a repetition that is done, in whichever process: the command line shows a
# bar.
on_fold: ContextVar[Callable[[int], None]] = ContextVar("on_fold", default=_say_nothing)


class OutOfFold(NamedTuple):
    """What a method predicts for each case from the others, and how many columns it looks at."""

    values: Floats
    features_needed: float


def with_and_without_correction(ours: Any) -> dict[str, Any]:
    """Return an estimator of this library with and without correction, not fitted."""
    return {
        "corrected": clone(ours).set_params(correct_selection=True),
        "uncorrected": clone(ours).set_params(correct_selection=False),
    }


def features_alone(ours: Any) -> dict[str, Any]:
    """Return an estimator of this library that is not told of covariates, not fitted."""
    return {FEATURES_ALONE: clone(ours).set_params(correct_selection=True)}


def chosen_methods(
    methods: Sequence[str] | None, known: Sequence[str], default: Sequence[str]
) -> list[str]:
    """Return the names of the methods to run; raise on one that is not known."""
    unknown = [name for name in methods or () if name not in known]
    if unknown:
        raise ValueError(f"methods has {unknown[0]!r}, which is not one of {', '.join(known)}.")
    return list(default if methods is None else methods)


def ours_by_default(ours: Any) -> list[str]:
    """Return which of our methods are run where none are named.

    An average over models takes seconds to fit, and hardly changes without the correction.
    """
    return [OURS] if isinstance(ours, FrontDoor) else list(with_and_without_correction(ours))


@dataclass(frozen=True, eq=False)
class CrossValidation(ABC, Generic[R]):
    """Methods that are compared on a table; subclasses know the kind of response."""

    table: TrainingTable
    k: int
    ours: Any
    n_splits: Splits
    methods: list[str]
    groups: NDArray[Any] | None = None
    # Processes for the fits of a repetition.
    n_jobs: int | None = None

    # What checkpoints call the comparison, and its dataclass.
    experiment: ClassVar[str]
    record: ClassVar[type[Any]]

    def run(self, n_repeats: int, **running: Any) -> list[R]:
        """Return the records of all repetitions; see `run_replicates`.

        A single repetition divides its fits, of each method in each fold, among the processes.
        """
        settings = {"experiment": self.experiment, **self.settings()}
        work = self
        if n_repeats == 1:
            work = replace(self, n_jobs=running.pop("n_jobs", None))
        return run_replicates(
            work.one_repeat, n_repeats, self.record, settings=settings, unit="repeat", **running
        )

    def settings(self) -> dict[str, Any]:
        """Return what the numbers depend on, in plain types, once ``k`` is checked."""
        X, y = self.table.dense, self.table.y
        data = np.ascontiguousarray(X).tobytes() + np.ascontiguousarray(y).tobytes()
        known = self.table.covariates
        if known is not None:
            data += np.ascontiguousarray(known.coded).tobytes()
        return {
            "k": check_whole("k", self.k, 1, X.shape[1], "the number of columns"),
            "n_splits": self.n_splits,
            "methods": self.methods,
            "estimator": type(self.ours).__name__,
            **{f"parameter {name}": repr(value) for name, value in self.ours.get_params().items()},
            "data": sha256(data).hexdigest(),
            **({} if self.groups is None else {"groups": [str(label) for label in self.groups]}),
            **({} if known is None else {"covariates": known.coding.to_json()}),
        }

    def one_repeat(self, repeat: int, seed: np.random.SeedSequence) -> list[R]:
        """Predict every case by methods fitted, selection included, to the other folds."""
        X, y = self.table.dense, self.table.y
        fold_seed, inner_seed = (int(state) for state in seed.generate_state(2))
        known = self.known()
        to_fit = [name for name in dict.fromkeys(self.methods) if name not in known]
        folds = list(self.folds(fold_seed).split(X, y, self.groups))
        each: dict[str, list[OutOfFold]] = {name: [] for name in to_fit}
        tasks = [(name, train, test) for name in to_fit for train, test in folds]
        fits = Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(self.one_fit)(*task, inner_seed) for task in tasks
        )
        for (name, *_), fit in zip(tasks, fits, strict=True):
            each[name].append(fit)
            on_fold.get()(len(tasks))
        back = np.argsort(np.concatenate([test for _, test in folds]))
        predicted = known | {
            name: OutOfFold(
                np.concatenate([fold.values for fold in found])[back],
                float(np.mean([fold.features_needed for fold in found])),
            )
            for name, found in each.items()
        }
        return [
            self.record(
                repeat=repeat,
                method=name,
                features_needed=predicted[name].features_needed,
                **self.fields(predicted[name].values),
            )
            for name in self.methods
        ]

    def one_fit(self, name: str, train: Ints, test: Ints, inner_seed: int) -> OutOfFold:
        """Predict the cases of a fold by a method fitted to the others."""
        y, ours = self.table.y, self.numbered()
        made = with_and_without_correction(ours) | features_alone(ours)
        made |= self.usual(y[train], imputers(self.table.dense), inner_seed)
        method = made[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # f_classif divides by zero if constant
            given = self.covariates_for(name, method, train) | self.grouped(method, train)
            model = _fitted(name, method, self.rows(method, train), y[train], given)
            given = self.covariates_for(name, model, test)
            values = self.predict(model, self.rows(model, test), y[test], given)
        return OutOfFold(values, float(len(columns_needed(model))))

    def rows(self, method: Any, cases: Any) -> Any:
        """Return rows as a method takes them.

        Ours also take the names of columns, for errors. The others find covariates behind the
        features.
        """
        X = self.table.dense[cases]
        if isinstance(method, SelectiveEstimator):
            return ArrayColumns(X, self.table.names)
        return self.table.with_covariates(X, cases)

    def covariates_for(self, name: str, method: Any, cases: Any) -> dict[str, Any]:
        """Return the covariates of cases for those of our methods that are told of them."""
        coded = self.table.coded_at(cases)
        told = isinstance(method, SelectiveEstimator) and name != FEATURES_ALONE
        return {"covariates": coded} if told and coded is not None else {}

    def grouped(self, method: Any, cases: Any) -> dict[str, Any]:
        """Return the groups of cases for methods whose `fit` takes them."""
        if self.groups is None or not has_fit_parameter(method, "groups"):
            return {}
        return {"groups": self.groups[cases]}

    def numbered(self) -> Any:
        """Return our estimator with ``always_keep`` by number, for the folds have no names.

        Covariates are no columns of the table any more.
        """
        ours = clone(self.ours).set_params(covariates=None)
        if ours.always_keep is None:
            return ours
        n_columns = self.table.dense.shape[1]
        always = find_columns(ours.always_keep, self.table.names, n_columns, "always_keep")
        return ours.set_params(always_keep=always.tolist())

    def known(self) -> dict[str, OutOfFold]:
        """Return what needs no folds: by default nothing."""
        return {}

    @abstractmethod
    def folds(self, seed: int) -> Any:
        """Return what divides the cases into training and test sets."""

    @abstractmethod
    def usual(self, y: NDArray[Any], first: list[Any], seed: int) -> dict[str, Any]:
        """Return the usual methods by name, not fitted, for a training set with responses y."""

    @abstractmethod
    def predict(self, model: Any, X: Any, y: NDArray[Any], given: dict[str, Any]) -> Floats:
        """Return a row of numbers for each case of a test set; ``given`` are its covariates."""

    @abstractmethod
    def fields(self, values: Floats) -> dict[str, Any]:
        """Return the numbers of all cases as fields of the record."""


def imputers(X: NDArray[Any]) -> list[SimpleImputer]:
    """Return the steps that methods without missing values need first: often none."""
    missing = X.dtype.kind == "f" and bool(np.isnan(X).any())
    return [SimpleImputer(strategy="median", keep_empty_features=True)] if missing else []


def _fitted(name: str, method: Any, X: Any, y: NDArray[Any], given: dict[str, Any]) -> Any:
    try:
        return method.fit(X, y, **given)
    except ValueError as error:
        raise ValueError(
            f"{name!r} cannot be fitted to {len(y)} cases of the cross-validation: {error}"
        ) from error


def by_method(records: Iterable[R]) -> dict[str, list[R]]:
    """Return the records of each method, in the order of the methods."""
    groups: dict[str, list[R]] = {}
    for record in records:
        groups.setdefault(record.method, []).append(record)
    return groups


def rows_by_method(
    records: Iterable[R],
    judge: Callable[[list[R], Resamples], dict[str, Resampled]],
    resamples: Resamples,
    *,
    level: float,
) -> list[dict[str, Any]]:
    """Return for each method its numbers with intervals from resampled cases.

    Parameters
    ----------
    records : iterable of records
    judge : callable
        Given the records of a method, its numbers by name, with those of each resample.
    resamples : Resamples
        Of the cases, the same for all methods: differences from "corrected" are paired.
    level : float
        Of the intervals.
    """
    groups = by_method(records)
    judged = {method: judge(group, resamples) for method, group in groups.items()}
    ours = judged.get(OURS)
    rows = []
    for method, numbers in judged.items():
        others = {} if ours is None or method == OURS else ours
        rows.append(
            {
                "method": method,
                "features_needed": float(np.mean([r.features_needed for r in groups[method]])),
                **{name: number.estimate(level) for name, number in numbers.items()},
                "differences": {
                    name: numbers[name].less(other).estimate(level)
                    for name, other in others.items()
                },
            }
        )
    return rows
