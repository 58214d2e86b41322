"""Fits of the naive Bayes models."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from unselected._typing import Floats
from unselected.estimators.class_fitting import ClassFitting
from unselected.estimators.fitting import ExactFitting, Selected
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.counts import FittedCounts
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.genotype import FittedGenotypes
from unselected.fitted.regression import FittedRegression
from unselected.models.batch import condition_all
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.models.regression import RegressionModel
from unselected.selection.count_score import EXPLAINED, CountScore
from unselected.selection.leaving_out import (
    class_scores_without,
    count_scores_without,
    line_scores_without,
)
from unselected.selection.streaming import (
    StreamingSelection,
    class_scores,
    count_scores,
    line_scores,
)
from unselected.statistics.binarizing import Binarize
from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.line import LineStatistics

# Fits of binary features whose posteriors are computed together, and are in memory at a time.
_AT_A_TIME = 200


@dataclass(frozen=True, eq=False)
class CountFitting(ClassFitting):
    """A fit of the model for features that are counted, and classes."""

    model: BernoulliModel
    binarize: Binarize
    score: CountScore = EXPLAINED

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        t = self.table
        return count_scores(t.X, t.y, self.binarize, t.label, stream, **self._how)

    def scores_without(
        self, sets: list[LeftOut], new_stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the scores without each of several sets of cases."""
        t = self.table
        return count_scores_without(t.X, t.y, self.binarize, t.label, sets, new_stream, **self._how)

    @property
    def _how(self) -> dict[str, Any]:
        """How columns are counted."""
        return {
            "n_classes": self.table.classes.size,
            "missing_allowed": True,
            "ploidy": self.model.ploidy,
            "by_total": self.model.rates == "given",
            "score": self.score,
        }

    @abstractmethod
    def fitted(self, selected: Selected) -> FittedCounts:
        """Return the model conditioned on the kept columns."""

    def _parts(self, selected: Selected) -> dict[str, Any]:
        """Return what fits of both kinds of columns have."""
        scores, selection, _ = selected
        return {
            "model": self._with_groups(self.model, selection),
            "counts": scores.take(selection.indices).counts,
            "event": self.event(selection),
            "classes": self.table.classes,
            "names": self.names(selection),
        }

    def _together(self, cases: list[Selected]) -> Iterator[FittedCounts]:
        for start in range(0, len(cases), _AT_A_TIME):
            fitted = [self.fitted(one) for one in cases[start : start + _AT_A_TIME]]
            models = {one.model for one in fitted}
            if len(models) != 1:
                yield from fitted
                continue
            posteriors = condition_all(models.pop(), [(one.counts, one.event) for one in fitted])
            for one, given in zip(fitted, posteriors, strict=True):
                yield one.with_posterior(given)


@dataclass(frozen=True, eq=False)
class BernoulliFitting(CountFitting):
    """A fit of the model for binary features and classes."""

    def fitted(self, selected: Selected) -> FittedBernoulli:
        """Return the model conditioned on the kept columns."""
        cuts = selected.scores.take(selected.selection.indices).cuts
        return FittedBernoulli(**self._parts(selected), thresholds=cuts, binarize=self.binarize)


@dataclass(frozen=True, eq=False)
class GenotypeFitting(CountFitting):
    """A fit of the model for genotypes and classes."""

    def fitted(self, selected: Selected) -> FittedGenotypes:
        """Return the model conditioned on the kept columns."""
        return FittedGenotypes(**self._parts(selected))


@dataclass(frozen=True, eq=False)
class GaussianFitting(ClassFitting):
    """A fit of the model for real-valued features and classes."""

    model: GaussianModel
    pseudocounts: Floats

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        t = self.table
        return class_scores(t.X, t.y, t.classes.size, t.label, stream)

    def scores_without(
        self, sets: list[LeftOut], new_stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the scores without each of several sets of cases."""
        t = self.table
        return class_scores_without(t.X, t.y, t.classes.size, t.label, sets, new_stream)

    def fitted(self, selected: Selected) -> Any:
        """Return the model conditioned on the kept columns."""
        scores, selection, _ = selected
        return FittedGaussian(
            model=self._with_groups(self.model, selection),
            moments=scores.take(selection.indices),
            event=self.event(selection),
            pseudocounts=self.pseudocounts,
            classes=self.table.classes,
            names=self.names(selection),
        )


@dataclass(frozen=True, eq=False)
class RegressionFitting(ExactFitting):
    """A fit of the model for real-valued features and a real-valued response."""

    model: GaussianModel

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        t = self.table
        return line_scores(t.X, t.y, t.label, stream)

    def scores_without(
        self, sets: list[LeftOut], new_stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the scores without each of several sets of cases."""
        t = self.table
        return line_scores_without(t.X, t.y, t.label, sets, new_stream)

    def fitted(self, selected: Selected) -> Any:
        """Return the model conditioned on these cases of the kept columns."""
        scores, selection, rows = selected
        moments = scores.take(selection.indices)
        return FittedRegression(
            model=RegressionModel(self._with_groups(self.model, selection)),
            statistics=LineStatistics(moments, float(self.table.y[rows].mean())),
            event=self.event(selection),
            names=self.names(selection),
        )
