"""What a page says of single cases: cross-validated probabilities, and intervals of some."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from unselected._typing import Floats
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.class_fitting import N_FOLDS, dealt
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.report.page import decimals, folded_table, paragraph

# How many cases a page lists.
_MOST_CASES = 1000
LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class CaseIntervals:
    """For each case the most probable class, from a fit without its fold, and its probability.

    ``y`` and ``guess`` are numbers of classes; ``probability``, ``lower`` and ``upper`` are those
    of the guess.
    """

    classes: NDArray[Any]
    y: NDArray[np.intp]
    guess: NDArray[np.intp]
    probability: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(
        cls,
        fitted: SelectiveBernoulliNB | SelectiveGaussianNB,
        X: Any,
        y: NDArray[np.intp],
        covariates: Any = None,
    ) -> "CaseIntervals":
        """Leave out each of ten folds of the cases that a classifier was fitted to."""
        model = fitted
        with warnings.catch_warnings():
            if fitted.k == "loo":
                warnings.simplefilter("ignore", UserWarning)  # the first fit has told them
                model = clone(fitted).set_params(k=fitted.k_).fit(X, y, covariates)
            # The verdict says that an earlier selection cannot be repeated.
            warnings.filterwarnings("ignore", message="preselected_from", category=UserWarning)
            found = model.cv_predict_proba_interval(PredefinedSplit(dealt(y, N_FOLDS)), level=LEVEL)
        guess = np.argmax(found[0], axis=1)
        own = (values[np.arange(y.size), guess] for values in found)
        return cls(fitted.classes_, y, guess, *own)

    def table(self) -> str:
        """Return what is said of the intervals, and a table of the cases."""
        open_cases = int(np.sum(self.lower < 0.5)) if self.classes.size == 2 else None
        order = np.argsort(self.probability * np.where(self.guess == self.y, 1.0, -1.0))
        rows = [self._cells(i) for i in order[:_MOST_CASES].tolist()]
        header = ("case", "class", "most probable class", "its probability", "from", "to")
        return paragraph(
            f"The table has predictions by fits without one of {N_FOLDS} folds, with intervals. "
            "The probability depends on how related the features are to the class, which is known "
            "only up to its posterior. The interval holds "
            f"{100.0 * LEVEL:g} % of the posterior of the probability."
            + ("" if open_cases is None else f" {_in_words(open_cases, self.y.size)}")
        ) + folded_table(_counted(len(rows), self.y.size), header, rows)

    def _cells(self, i: int) -> tuple[str, ...]:
        numbers = (self.probability[i], self.lower[i], self.upper[i])
        labels = (str(self.classes[code[i]]) for code in (self.y, self.guess))
        return (str(i + 1), *labels, *map(decimals, numbers))


def cases_table(classes: NDArray[Any], y: NDArray[np.intp], probability: Floats) -> str:
    """Return a table of cases with cross-validated probabilities, those in doubt first.

    Parameters
    ----------
    classes : array of shape (n_classes,)
    y : array of shape (n_samples,)
        Numbers of the classes.
    probability : array of shape (n_samples, n_classes)
    """
    of_own = probability[np.arange(y.size), y]
    order = np.argsort(of_own, kind="stable")
    guess = probability.argmax(axis=1)
    rows = [
        (
            str(i + 1),
            str(classes[y[i]]),
            decimals(of_own[i]),
            str(classes[guess[i]]),
            decimals(probability[i, guess[i]]),
        )
        for i in order[:_MOST_CASES]
    ]
    header = ("case", "class", "its probability", "most probable class", "its probability")
    n_wrong = int(np.sum(guess != y))
    return paragraph(
        f"{n_wrong} of {y.size} cases are of another class than the most probable one. The cases "
        "whose class was least probable come first: look at these."
    ) + folded_table(_counted(len(rows), y.size), header, rows)


def _counted(n_shown: int, n: int) -> str:
    return f"Table of {n_shown} of {n} cases" if n_shown < n else f"Table of {n} cases"


def _in_words(n_open: int, n: int) -> str:
    """Return in how many cases the interval contains 0.5, so either class may be more probable.

    >>> _in_words(0, 20), _in_words(1, 20)
    ('No interval contains 0.5.', '1 of 20 cases has an interval that contains 0.5.')
    """
    if not n_open:
        return "No interval contains 0.5."
    verb = "has" if n_open == 1 else "have"
    return f"{n_open} of {n} cases {verb} an interval that contains 0.5."
