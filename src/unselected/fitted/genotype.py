"""The fitted naive Bayes model of genotypes and classes."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer
from unselected.fitted.counts import CountWords, FittedCounts
from unselected.fitted.json_checks import Entries, Fault
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior, CountPosterior
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts
from unselected.statistics.genotypes import DIPLOID, genotype_rows


@dataclass(frozen=True, eq=False)
class FittedGenotypes(FittedCounts):
    """The kept columns' counts of alleles, the event, and the model.

    Attributes
    ----------
    model, counts, event, classes, names, given
        Those of `FittedCounts`. Counts are of copies of the counted allele among all alleles, two
        for each known genotype.
    """

    kind: ClassVar[str] = "genotype"
    counted: ClassVar[CountWords] = CountWords("copies", "alleles")
    ploidy: ClassVar[int] = DIPLOID

    model: BernoulliModel
    counts: ClassCounts
    event: Event
    classes: NDArray[Any]
    names: NDArray[Any] | None
    given: CountPosterior | None = field(default=None, repr=False)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as 0, 1 and 2; NaN is a missing one."""
        return genotype_rows(X, label)

    @classmethod
    def _of(cls, entries: Entries, **parts: Any) -> Self:  # noqa: ARG003
        counts, kinds = parts["counts"], parts["event"].kinds
        numbers = [counts.sizes, counts.known_values]
        if kinds is not None:
            numbers.append(kinds.sizes)
        if any(np.any(each % DIPLOID) for each in numbers):
            raise Fault("counts or event have odd numbers of alleles.")
        return cls(**parts)

    def with_posterior(self, given: BernoulliPosterior) -> Self:
        """Return the same with a posterior that is known already."""
        return replace(self, given=given)
