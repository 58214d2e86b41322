"""Fits of the naive Bayes models of real-valued features, given covariates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unselected.columns.blocks import Columns
from unselected.estimators.fitting import ExactFitting, Selected
from unselected.estimators.naive_bayes_fitting import GaussianFitting, RegressionFitting
from unselected.fitted.adjusted_bits import FittedAdjustedBits
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.adjusted_regression import FittedAdjustedRegression
from unselected.models.class_covariates import ClassCovariates
from unselected.selection.leaving_out import adjusted_scores_without
from unselected.selection.real_scores import UnadjustedScores
from unselected.selection.streaming import StreamingSelection, adjusted_scores
from unselected.statistics.binarizing import Binarize
from unselected.statistics.bit_columns import BitColumns
from unselected.statistics.design import Design
from unselected.statistics.leaving_out import LeftOut


@dataclass(frozen=True, eq=False)
class _AdjustedScores(ExactFitting):
    """Scores adjusted for the covariates of the table.

    Attributes
    ----------
    unadjusted_before : bool
        Whether columns were selected before, by scores that were not adjusted.
    """

    unadjusted_before: bool = field(default=False, kw_only=True)

    @cached_property
    def design(self) -> Design:
        """Covariates and response of all cases."""
        return self.table.design

    @property
    def _columns(self) -> Columns:
        """The columns as they are scored and modelled."""
        return self.table.X

    def scores(self, stream: StreamingSelection) -> Any:
        """Return the scores of the columns, from all cases."""
        adjusted = adjusted_scores(self._columns, self.design, self.table.label, stream)
        if not self.unadjusted_before:
            return adjusted
        before = adjusted_scores(self._columns, self._design_before, self.table.label, stream)
        return UnadjustedScores.of_both(before, adjusted)

    @cached_property
    def _design_before(self) -> Design:
        """The response of all cases without their covariates, as an earlier selection saw it."""
        return self.design.without_covariates()

    def scores_without(
        self, sets: list[LeftOut], new_stream: Callable[[], StreamingSelection]
    ) -> list[Any]:
        """Return the scores without each of several sets of cases."""
        label = self.table.label
        each = adjusted_scores_without(self._columns, self.design, label, sets, new_stream)
        if not self.unadjusted_before:
            return each
        before = self._design_before
        others = adjusted_scores_without(self._columns, before, label, sets, new_stream)
        return [UnadjustedScores.of_both(*both) for both in zip(others, each, strict=True)]


@dataclass(frozen=True, eq=False)
class AdjustedGaussianFitting(_AdjustedScores, GaussianFitting):
    """A fit of the model for real-valued features and classes, given covariates."""

    def fitted(self, selected: Selected) -> FittedAdjustedGaussian:
        """Return the model conditioned on the kept columns."""
        scores, selection, rows = selected
        t = self.table
        assert t.covariates is not None
        y, coded = t.y[rows], t.covariates.coded[rows]
        return FittedAdjustedGaussian(
            model=self._with_groups(self.model, selection),
            moments=scores.take(selection.indices),
            event=self.event(selection),
            covariates=ClassCovariates.fit(t.covariates.basis, coded, y, self.pseudocounts),
            pseudocounts=self.pseudocounts,
            sizes=np.bincount(y, minlength=t.classes.size),
            classes=t.classes,
            names=self.names(selection),
        )


@dataclass(frozen=True, eq=False)
class AdjustedBitsFitting(AdjustedGaussianFitting):
    """A fit of binary features and classes, given covariates: bits as numbers.

    Columns are cut as they are in all cases, also where some of these are left out.
    """

    binarize: Binarize

    @property
    def _columns(self) -> BitColumns:
        return BitColumns(self.table.X, self.binarize, self.table.label)

    def fitted(self, selected: Selected) -> FittedAdjustedBits:
        """Return the model conditioned on the kept columns."""
        model = super().fitted(selected)
        cuts = self._columns.cuts(selected.selection.indices)
        return FittedAdjustedBits.of(model, cuts, self.binarize)


@dataclass(frozen=True, eq=False)
class AdjustedRegressionFitting(_AdjustedScores, RegressionFitting):
    """A fit of the model for real-valued features and a real response, given covariates."""

    def fitted(self, selected: Selected) -> FittedAdjustedRegression:
        """Return the model conditioned on these cases of the kept columns."""
        scores, selection, rows = selected
        covariates = self.table.covariates
        assert covariates is not None
        design = self.design if isinstance(rows, slice) else self.design.without(rows)
        return FittedAdjustedRegression(
            model=self._with_groups(self.model, selection),
            moments=scores.take(selection.indices),
            event=self.event(selection),
            basis=covariates.basis,
            unit=design.unit,
            names=self.names(selection),
        )
