"""Cross-validation of a procedure: with the real responses, and with permuted ones."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from unselected._typing import Floats, Ints
from unselected.audit.procedures import Judged, Procedure, judge
from unselected.audit.tables import take_rows

# Told of the number of trials that are done, and of all.
OnTrial = Callable[[int, int], object]


class Trial(NamedTuple):
    """A cross-validation.

    Attributes
    ----------
    judged : Judged
        Every case, in the order of the table.
    features : tuple
        For each fold the columns that were looked at, or None.
    """

    judged: Judged
    features: tuple[Ints | None, ...]


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of an audit, and how they are divided.

    Attributes
    ----------
    X : table
    y : array of shape (n_cases,)
    classes : array of shape (n_classes,), or None for numbers
    groups : array of shape (n_cases,), or None
    cv : int, splitter or iterable
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None
    groups: NDArray[Any] | None
    cv: Any

    def __post_init__(self) -> None:
        if not isinstance(self.cv, Integral) or self.classes is None:
            return
        counts = np.array([np.count_nonzero(self.y == label) for label in self.classes])
        if counts.min() < int(self.cv):
            rarest = self.classes.tolist()[counts.argmin()]
            raise ValueError(
                f"class {rarest!r} has {counts.min()} cases, fewer than cv={self.cv} folds: use "
                f"cv={max(int(counts.min()), 2)}, or leave out this class."
            )

    def folds(self, y: NDArray[Any], seed: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield training and test cases."""
        if not isinstance(self.cv, Integral):
            splitter = check_cv(self.cv, y, classifier=self.classes is not None)
            yield from splitter.split(np.zeros((y.size, 1)), y, self.groups)
            return
        kinds = {
            (True, True): StratifiedKFold,
            (True, False): StratifiedGroupKFold,
            (False, True): KFold,
            (False, False): GroupKFold,
        }
        kind = kinds[self.classes is not None, self.groups is None]
        splitter = kind(int(self.cv), shuffle=True, random_state=seed)
        yield from splitter.split(np.zeros((y.size, 1)), y, self.groups)

    def permuted(self, rng: np.random.Generator) -> NDArray[Any]:
        """Return the responses in random order.

        Where all cases of a group have the same response, the groups exchange theirs; else cases
        exchange theirs within groups, as in scikit-learn's `permutation_test_score`.
        """
        if self.groups is None:
            return rng.permutation(self.y)
        _, first, group = np.unique(self.groups, return_index=True, return_inverse=True)
        if np.array_equal(self.y, self.y[first][group]):
            return np.asarray(rng.permutation(self.y[first])[group])
        y = self.y.copy()
        for number in range(first.size):
            inside = np.flatnonzero(group == number)
            y[inside] = rng.permutation(y[inside])
        return y

    def table_for(self, y: NDArray[Any]) -> Any:  # noqa: ARG002
        """Return the table that is divided into folds, given the responses of all cases."""
        return self.X

    def run(self, procedure: Procedure, y: NDArray[Any], seed: int) -> Trial:
        """Predict every case by the procedure, fitted to the other folds."""
        table = self.table_for(y)
        parts, tests, features = [], [], []
        for train, test in self.folds(y, seed):
            groups = None if self.groups is None else self.groups[train]
            try:
                predicted = procedure(
                    take_rows(table, train), y[train], take_rows(table, test), groups
                )
            except ValueError as error:
                raise ValueError(
                    f"the pipeline cannot be fitted to {train.size} cases of the cross-validation, "
                    f"or does not predict the others: {error}"
                ) from error
            parts.append(judge(predicted, y[test], self.classes))
            tests.append(test)
            features.append(predicted.features)
        order = np.argsort(np.concatenate(tests), kind="stable")
        if not np.array_equal(np.concatenate(tests)[order], np.arange(y.size)):
            raise ValueError(
                f"cv={self.cv!r} does not leave out every case exactly once: use folds, such as "
                "cv=5 or KFold, and not random or repeated splits."
            )
        judged = Judged(
            actual=np.concatenate([part.actual for part in parts])[order],
            promised=_joined([part.promised for part in parts], order),
            log_loss=_joined([part.log_loss for part in parts], order),
        )
        return Trial(judged, tuple(features))

    def error(self, values: Floats) -> float:
        """Return an error rate, or the root mean squared error in deviations of the response."""
        mean = float(values.mean())
        if self.classes is not None:
            return mean
        return float(np.sqrt(mean) / np.std(self.y.astype(np.float64)))


def _joined(column: list[Floats | None], order: Ints) -> Floats | None:
    known = [part for part in column if part is not None]
    return np.concatenate(known)[order] if len(known) == len(column) else None


class Trials:
    """The cross-validations of an audit, in the same folds and with the same permutations.

    Parameters
    ----------
    cases : Cases
    seed : SeedSequence
    n_permutations : int
    n_jobs : int or None
    on_trial : callable
    """

    def __init__(
        self,
        cases: Cases,
        seed: np.random.SeedSequence,
        n_permutations: int,
        n_jobs: int | None,
        on_trial: OnTrial,
    ) -> None:
        of_real, of_permuted = seed.spawn(2)
        self.cases = cases
        self._fold_seed = int(of_real.generate_state(1)[0])
        self._seeds = of_permuted.spawn(n_permutations)
        self._n_jobs, self._on_trial = n_jobs, on_trial
        self._done = self._expected = 0

    def expect(self, *, real: int = 0, permuted: int = 0) -> None:
        """Announce trials, for the progress."""
        self._expected += real + permuted * len(self._seeds)

    def real(self, procedure: Procedure, cases: Cases | None = None) -> Trial:
        """Cross-validate with the real responses; with other cases if given."""
        cases = self.cases if cases is None else cases
        trial = cases.run(procedure, cases.y, self._fold_seed)
        self._tick()
        return trial

    def permuted(self, procedure: Procedure, cases: Cases | None = None) -> list[Trial]:
        """Cross-validate with each of the permuted responses."""
        cases = self.cases if cases is None else cases
        tasks = (delayed(_permuted_trial)(cases, procedure, seed) for seed in self._seeds)
        trials = []
        for trial in Parallel(n_jobs=self._n_jobs, return_as="generator")(tasks):
            trials.append(trial)
            self._tick()
        return trials

    def _tick(self) -> None:
        self._done += 1
        self._on_trial(self._done, self._expected)


def _permuted_trial(cases: Cases, procedure: Procedure, seed: np.random.SeedSequence) -> Trial:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the trial with the real responses has shown them
        y = cases.permuted(np.random.default_rng(seed))
        return cases.run(procedure, y, int(seed.generate_state(1)[0]))


class Clock:
    """Prints how many trials are done, and about how long the others take."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell, self._start = tell, time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        """Tell after the first trial, and then at most twenty times."""
        if done == 1 or done % max(of // 20, 1) == 0:
            left = (time.monotonic() - self._start) / done * (of - done)
            self._tell(f"audit: {done} of {of} cross-validations, about {left:.0f} s left")
