"""Fits of the models with latent variables, which need the rows of the kept columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.columns.blocks import picked
from unselected.estimators.fitting import Fitting, Selected
from unselected.fitted.factor import FittedFactorClasses, FittedFactorResponse
from unselected.fitted.mixture import FittedMixture
from unselected.models.factor import FactorModel
from unselected.models.mixture import MixtureModel
from unselected.selection.streaming import (
    StreamingSelection,
    class_scores,
    count_scores,
    line_scores,
)
from unselected.statistics.binarizing import Binarize, binarize_columns
from unselected.statistics.rows import KeptRows


@dataclass(frozen=True, eq=False)
class MixtureFitting(Fitting):
    """A fit of the mixture model: two latent groups of cases."""

    model: MixtureModel
    binarize: Binarize

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        t = self.table
        return count_scores(t.X, t.y, self.binarize, t.label, stream)

    def fitted(self, selected: Selected) -> FittedMixture:
        """Return draws given these cases of the kept columns."""
        scores, selection, rows = selected
        t, cuts = self.table, scores.take(selection.indices).cuts
        columns = t.X[:, selection.indices]
        bits = binarize_columns(columns, cuts, self.binarize, picked(t.label, selection.indices))
        event = self.event(selection)
        return FittedMixture(
            model=self.model,
            predictive=self.model.condition(KeptRows(bits[rows], t.y[rows]), event),
            event=event,
            thresholds=cuts,
            binarize=self.binarize,
            classes=t.classes,
            names=self.names(selection),
        )


@dataclass(frozen=True, eq=False)
class FactorFitting(Fitting):
    """A fit of a model with latent factors."""

    model: FactorModel

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        t = self.table
        if self.model.kind == "classes":
            return class_scores(t.X, t.y, 2, t.label, stream)
        return line_scores(t.X, t.y, t.label, stream)

    def fitted(self, selected: Selected) -> FittedFactorClasses | FittedFactorResponse:
        """Return draws given these cases of the kept columns."""
        _, selection, rows = selected
        t, event = self.table, self.event(selection)
        values: NDArray[Any] = np.asarray(t.X[:, selection.indices], dtype=np.float64)
        posterior = self.model.condition(KeptRows(values[rows], t.y[rows]), event)
        parts = (self.model, posterior, event, self.names(selection))
        if self.model.kind == "classes":
            return FittedFactorClasses(*parts, t.classes)
        return FittedFactorResponse(*parts)
