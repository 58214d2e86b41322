"""What a page says of single cases: their probabilities without them, and how sure these are."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from unselected._typing import Floats
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.fitting import N_FOLDS, dealt
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.report.page import decimals, paragraph, table

# How many cases a page lists.
_MOST_CASES = 100
LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class CaseIntervals:
    """Of each case the most probable class without the case's fold, and that class's probability.

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
        cls, fitted: SelectiveBernoulliNB | SelectiveGaussianNB, X: Any, y: NDArray[np.intp]
    ) -> "CaseIntervals":
        """Leave out each of ten folds of the cases that a classifier was fitted to."""
        model = fitted
        if fitted.k == "loo":
            best = min(fitted.k_path_, key=lambda score: score.log_loss)
            model = clone(fitted).set_params(k=best.k).fit(X, y)
        with warnings.catch_warnings():
            # The verdict says that a selection made before cannot be made again.
            warnings.filterwarnings("ignore", message="preselected_from", category=UserWarning)
            found = model.cv_predict_proba_interval(PredefinedSplit(dealt(y, N_FOLDS)), level=LEVEL)
        guess = np.argmax(found[0], axis=1)
        own = (values[np.arange(y.size), guess] for values in found)
        return cls(fitted.classes_, y, guess, *own)

    def section(self) -> str:
        """Return what is said of the cases, and a table of them."""
        open_cases = int(np.sum(self.lower < 0.5)) if self.classes.size == 2 else None
        rows = [self._cells(i) for i in range(min(self.y.size, _MOST_CASES))]
        more = self.y.size - len(rows)
        header = ("case", "class", "most probable class", "its probability", "from", "to")
        return (
            paragraph(
                "Each case predicted by the corrected classifier from a fit without its fold, one "
                f"of {N_FOLDS}. The probability depends on how related the features are to the "
                "class, which is known only up to its posterior: the interval holds "
                f"{100.0 * LEVEL:g} % of the probabilities that this allows."
                + ("" if open_cases is None else f" {_in_words(open_cases, self.y.size)}")
            )
            + table(header, rows)
            + (paragraph(f"and {more} more.") if more else "")
        )

    def _cells(self, i: int) -> tuple[str, ...]:
        numbers = (self.probability[i], self.lower[i], self.upper[i])
        labels = (str(self.classes[code[i]]) for code in (self.y, self.guess))
        return (str(i + 1), *labels, *map(decimals, numbers))


def _in_words(n_open: int, n: int) -> str:
    """Return in how many cases the interval has both classes on top.

    >>> _in_words(0, 20), _in_words(1, 20)
    ('No interval reaches across 0.5.', 'Of 20 cases 1 has an interval that reaches across 0.5.')
    """
    if not n_open:
        return "No interval reaches across 0.5."
    verb = "has" if n_open == 1 else "have"
    return f"Of {n} cases {n_open} {verb} an interval that reaches across 0.5."
