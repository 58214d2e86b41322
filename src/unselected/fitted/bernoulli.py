"""The fitted naive Bayes model of binary features and classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.fitted.counts import CountWords, FittedCounts
from unselected.fitted.json_checks import Entries, check_reals
from unselected.fitted.json_parts import binarize_entry, parse_binarize
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior, CountPosterior
from unselected.selection.events import Event
from unselected.statistics.binarizing import Binarize, binarize_columns
from unselected.statistics.counts import ClassCounts


@dataclass(frozen=True, eq=False)
class FittedBernoulli(FittedCounts):
    """The kept columns' counts of ones and their cuts, the event, and the model.

    Attributes
    ----------
    model, counts, event, classes, names, given
        Those of `FittedCounts`.
    thresholds : array of shape (k,)
        A value above is a one.
    binarize : {"auto", "median"}, float or None
    """

    kind: ClassVar[str] = "bernoulli"
    keys: ClassVar[tuple[str, ...]] = (*FittedCounts.keys, "thresholds", "binarize")
    counted: ClassVar[CountWords] = CountWords("ones", "cases")
    ploidy: ClassVar[int] = 1

    model: BernoulliModel
    counts: ClassCounts
    event: Event
    thresholds: Floats
    binarize: Binarize
    classes: NDArray[Any]
    names: NDArray[Any] | None
    given: CountPosterior | None = field(default=None, repr=False)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as bits; NaN is a missing one."""
        return binarize_columns(X, self.thresholds, self.binarize, label, missing_allowed=True)

    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return ones and cases by class, and the cut above which a value is a one."""
        each = zip(super().describe(scores), self.thresholds.tolist(), strict=True)
        return [{**told, "cut": cut} for told, cut in each]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        return {**super()._own_cells(told), "cut": f"{told['cut']:g}"}

    def _more_entries(self) -> Entries:
        thresholds = np.asarray(self.thresholds, dtype=np.float64)
        return {"thresholds": thresholds, "binarize": binarize_entry(self.binarize)}

    @classmethod
    def _of(cls, entries: Entries, **parts: Any) -> Self:
        return cls(
            thresholds=check_reals(entries["thresholds"], "thresholds", parts["counts"].n_columns),
            binarize=parse_binarize(entries["binarize"]),
            **parts,
        )

    def with_posterior(self, given: BernoulliPosterior) -> Self:
        """Return the same with a posterior that is known already."""
        return replace(self, given=given)
