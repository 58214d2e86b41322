"""The fitted model of binary features and classes, given covariates: bits as numbers.

Given covariates, bits are modelled as real-valued features are: linear in covariates and classes.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.json_checks import Entries, check_reals
from unselected.fitted.json_parts import binarize_entry, parse_binarize
from unselected.statistics.binarizing import Binarize, binarize_columns


@dataclass(frozen=True, eq=False)
class FittedAdjustedBits(FittedAdjustedGaussian):
    """A model of bits given covariates, with the cuts that make them.

    Attributes
    ----------
    thresholds : array of shape (k,)
        Values above are ones.
    binarize : {"auto", "median"}, float or None
    """

    kind: ClassVar[str] = "adjusted bits"
    keys: ClassVar[tuple[str, ...]] = (*FittedAdjustedGaussian.keys, "thresholds", "binarize")

    thresholds: Floats
    binarize: Binarize

    @classmethod
    def of(cls, model: FittedAdjustedGaussian, thresholds: Floats, binarize: Binarize) -> Self:
        """Return a model of numbers as one of bits."""
        own: Any = {field.name: getattr(model, field.name) for field in fields(model)}
        return cls(**own, thresholds=thresholds, binarize=binarize)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns as bits, and behind them coded covariates."""
        k = self.n_columns
        bits = binarize_columns(
            X[:, :k], self.thresholds, self.binarize, label, missing_allowed=True
        )
        return np.hstack([bits, super().rows(X[:, k:], label)])

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        return {
            **super().to_json(),
            "thresholds": np.asarray(self.thresholds, dtype=np.float64),
            "binarize": binarize_entry(self.binarize),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        model = FittedAdjustedGaussian.from_json(entries)
        thresholds = check_reals(entries["thresholds"], "thresholds", model.n_columns)
        return cls.of(model, thresholds, parse_binarize(entries["binarize"]))
