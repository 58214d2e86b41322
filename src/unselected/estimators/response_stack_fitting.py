"""The fit of an average over regressions: folds, cases left out, weights, members.

Regressions differ in the number of features, in how columns and response are transformed, and in
kind: see `ResponseStack`. Every one is fitted again without each fold, selection and transforms
included, and gives the cases of the fold predictive distributions. These are weighed by how well
they predict the responses of the cases left out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.content_keys import Keys
from unselected.dependence.inverse_regression import InverseRegression, residual_factor
from unselected.dependence.response_weights import ResponseWeights, learn_weights
from unselected.estimators.content_folds import AverageFitting, ContentKeys
from unselected.estimators.examined_columns import independence_given_response
from unselected.estimators.fitting import KeptValues
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.response_candidates import (
    NULL,
    ResponseFit,
    candidates_of,
    law_of_response,
    null_candidate,
    preferred,
)
from unselected.estimators.response_cases import (
    ResponseCases,
    check_variation_left,
    expected_by_covariates,
)
from unselected.estimators.response_views import ResponseKind, Responses, View
from unselected.estimators.responses_left_out import ResponsesLeftOut
from unselected.estimators.stack_steps import on_step
from unselected.fitted.adjusted_regression import FittedAdjustedRegression
from unselected.fitted.json_response_stack import PriorOfResponse
from unselected.fitted.regression import FittedRegression
from unselected.fitted.response_stack import Adjusted, FittedResponseStack, ResponseMember
from unselected.models.direct_regression import DirectRegression
from unselected.models.gaussian import GaussianModel
from unselected.models.regression import RegressionModel
from unselected.models.response_covariates import FeatureSlopes, ResponseCovariates
from unselected.numerics.one_thread import one_blas_thread
from unselected.selection.families import FamilyScores
from unselected.selection.leaving_out import (
    Marginals,
    adjusted_family_scores_without,
    response_scores_without,
)
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.design import Design
from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.line import LineStatistics
from unselected.statistics.normal_scores import NormalScores

# A member with less weight than this is left out of the average.
_LEAST_WEIGHT = 0.005
# By how much a transform of the response must raise the log density of the responses left out.
# Its range comes from all responses. So they do not show what new ones beyond it cost.
_LEAST_GAIN = 5.0

# The regressions of a view: all of them without each set of cases.
Fits = list[list[ResponseFit]]


@dataclass(frozen=True, eq=False)
class ResponseStackFitting(AverageFitting):
    """Everything that the fit of an average over regressions needs.

    Attributes
    ----------
    table : TrainingTable
    rule : SelectionRule
        Its k does not matter: each regression has its own.
    corrected : bool
        Whether inverse regressions are conditioned on the selection.
    features : GaussianModel
        Of the features given the response, on few nodes.
    ks : tuple of (int or None)
        Numbers of features to average over, increasing; None for a rule without k.
    marginals : tuple of {"raw", "normal"}
    kinds : tuple of {"linear", "quadratic", "inverse"}
    independence : tuple of float
        Of the weights of independence of inverse regressions, those that are tried.
    guarded : bool
        Whether powers and weights are learned.
    seed : int
        Of the folds.
    groups : array of shape (n,) or None
        Cases with the same number stay together.
    store_scores : bool
        Whether the scores of all columns are kept.
    unadjusted_before : bool
        Whether columns were selected before, by scores not adjusted for covariates.
    """

    table: TrainingTable
    rule: SelectionRule
    corrected: bool
    features: GaussianModel
    ks: tuple[int | None, ...]
    marginals: tuple[Marginals, ...]
    kinds: tuple[str, ...]
    independence: tuple[float, ...]
    guarded: bool
    seed: int
    groups: Ints | None
    store_scores: bool = False
    unadjusted_before: bool = False

    def learned(self, left: LeftOut | None = None) -> "LearnedResponseStack":
        """Learn everything from the cases that are not left out."""
        with one_blas_thread():
            return _Learning.start(self, left or self.everyone).finish()

    def scores_of(
        self,
        y: Floats,
        sets: list[LeftOut],
        new_stream: Callable[[], StreamingSelection],
        marginals: tuple[Marginals, ...],
        keys: Callable[[Ints], Keys],
    ) -> list[list[FamilyScores]]:
        """Return the scores without each set of cases; see `response_scores_without`."""
        t = self.table
        if t.covariates is not None:
            how = (t.label, sets, new_stream, marginals, keys, self.unadjusted_before)
            return adjusted_family_scores_without(t.X, Design.along(t.covariates.Z, y), *how)
        return response_scores_without(t.X, y, t.label, sets, new_stream, marginals, keys)

    def main(
        self, scores: FamilyScores, selection: Selection[Any], y: Floats, cases: Ints
    ) -> FittedRegression | FittedAdjustedRegression:
        """Return the model of features given the response, conditioned on a selection.

        ``y`` has the responses of all cases, of which ``cases`` gave the scores.
        """
        assert scores.real is not None
        event = selection.event if self.corrected else selection.event.emptied()
        features = self.features
        if features.least_fraction is not None:
            features = replace(features, least_fraction=1.0 / max(1, selection.n_features))
        moments, merged = scores.real.take(selection.indices), event.real.merged()
        known = self.table.covariates
        if known is not None:
            unit = Design.along(known.Z, y).without(cases).unit
            return FittedAdjustedRegression(features, moments, merged, known.basis, unit, None)
        statistics = LineStatistics(moments, float(y[cases].mean()))
        return FittedRegression(RegressionModel(features), statistics, merged, None)


@dataclass(frozen=True, eq=False)
class LearnedResponseStack:
    """What was learned.

    Attributes
    ----------
    scores : FamilyScores
        Of all columns, by the marginals of the widest selection.
    selection : Selection
        Of all columns that a member needs, by the rule with the largest k in use.
    stack : FittedResponseStack
    key_values : array of shape (n, columns)
        The values of the columns by whose content the cases were divided into folds.
    """

    scores: FamilyScores
    selection: Selection[Any]
    stack: FittedResponseStack
    key_values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class _Learning:
    """A fit under way, to the cases that are not left out.

    Attributes
    ----------
    fitting : ResponseStackFitting
    responses : Responses
    sets : list of LeftOut
        All cases, and then these without each fold of each division.
    n_divisions : int
    content : ContentKeys
    """

    fitting: ResponseStackFitting
    responses: Responses
    sets: list[LeftOut]
    n_divisions: int
    content: ContentKeys

    @classmethod
    def start(cls, fitting: ResponseStackFitting, left: LeftOut) -> "_Learning":
        """Read the table once, and divide the cases into folds by their content."""
        table, y = fitting.table, np.asarray(fitting.table.y, dtype=np.float64)

        def score(stream: Any, keys: Any) -> FamilyScores:
            return fitting.scores_of(y, [left], stream, ("raw",), keys)[0][0]

        content = ContentKeys.read(table.X, left, score)
        responses = Responses(y)
        if fitting.guarded:
            expected = expected_by_covariates(table, y, left.kept)
            # A threshold, or an earlier selection, is by correlations with the response as it is.
            transformable = fitting.rule.gamma is None and fitting.rule.n_before is None
            responses = Responses.of(y, expected, left.kept, transformable=transformable)
        groups = None if fitting.groups is None else fitting.groups[left.kept]
        n_divisions = content.n_divisions if fitting.guarded else 0
        folds = content.folds(content.strata(y[left.kept]), fitting.seed, groups, n_divisions)
        check_variation_left(y, folds)
        return cls(fitting, responses, [left, *folds], n_divisions, content)

    def finish(self) -> LearnedResponseStack:
        """Fit all regressions without each set of cases, weigh them, and keep the best."""
        fits: dict[View, Fits] = {}
        wholes: dict[View, FamilyScores] = {}
        steps = self._steps()
        for kind in self.responses.untransformed:
            self._fit(kind, self.fitting.marginals, fits, wholes, steps)
        view = next(iter(fits))
        if len(fits) > 1:
            view = preferred(fits, self._left_out.cases("as is"), self.content.values)
        learned = self._weights(view, fits[view])
        if self.responses.transform is not None:
            other = View(view.marginals, "transformed")
            self._fit("transformed", (view.marginals,), fits, wholes, steps)
            again = self._weights(other, fits[other])
            left_out = self._left_out
            gain = left_out.log_density("transformed", again)
            gain -= left_out.log_density(view.response, learned)
            if gain > _LEAST_GAIN:
                view, learned = other, again
        stack, selection = self._stack(view, wholes[view], fits[view][0], learned)
        return LearnedResponseStack(wholes[view], selection, stack, self.content.values)

    def _steps(self) -> Iterator[None]:
        """Tell, each time it is asked, that one more fit of all is done."""
        n_views = len(self.responses.untransformed) * len(self.fitting.marginals)
        n_views += self.responses.transform is not None
        n_all = n_views * len(self.sets)
        for n_done in range(1, n_all + 1):
            yield on_step.get()(n_done, n_all)

    def _fit(
        self,
        kind: ResponseKind,
        marginals: tuple[Marginals, ...],
        fits: dict[View, Fits],
        wholes: dict[View, FamilyScores],
        steps: Iterator[None],
    ) -> None:
        """Add the regressions of a kind of responses, and the scores of all cases."""
        fitting, y = self.fitting, self.responses.fitted(kind)
        widest = fitting.with_k(fitting.ks[-1])
        stream = StreamingSelection if fitting.store_scores else widest.streaming
        scored = fitting.scores_of(y, self.sets, stream, marginals, self.content.of_columns)
        for each, scores in zip(marginals, scored, strict=True):
            view = View(each, kind)
            columns = KeptValues.of(fitting.table.X, [widest.select(one) for one in scores])
            wholes[view], fits[view] = scores[0], []
            for left, one in zip(self.sets, scores, strict=True):
                fits[view].append(list(self._fits(view, left, one, columns)))
                next(steps)

    def _fits(
        self, view: View, left: LeftOut, scores: FamilyScores, columns: KeptValues
    ) -> Iterator[ResponseFit]:
        """Yield the regressions of each number of features and kind without a set of cases."""
        fitting, y = self.fitting, self.responses.fitted(view.response)
        widest: Selection[Any] = fitting.with_k(fitting.ks[-1]).select(scores)
        train, asked = (
            np.asarray(columns.take(rows, widest), dtype=np.float64)
            for rows in (left.kept, left.asked)
        )
        if view.marginals == "normal":
            normal = NormalScores.learn(train)
            train, asked = normal.apply(train), normal.apply(asked)
        cases = ResponseCases.of(fitting.table, left, train, asked, y[left.kept])
        for k in fitting.ks:
            selection = widest if k == fitting.ks[-1] else fitting.with_k(k).select(scores)
            places = np.searchsorted(widest.indices, selection.indices)
            for kind in fitting.kinds:
                model: DirectRegression | InverseRegression
                if kind == "inverse":
                    main = fitting.main(scores, selection, y, left.kept)
                    model = self._inverse(main.lines, cases.train[:, places], cases)
                else:
                    quadratic = kind == "quadratic"
                    model = DirectRegression.fit(
                        cases.train[:, places], cases.y, quadratic=quadratic, n=cases.n
                    )
                yield ResponseFit(selection, model, *cases.laws(model, places))

    def _inverse(
        self, lines: tuple[Floats, Floats, Floats], train: Floats, cases: ResponseCases
    ) -> InverseRegression:
        """Return the features given the response, conditioned on the selection."""
        y = cases.y
        center, unit = float(y.mean()), float(y.std()) or 1.0
        independence = self.fitting.independence
        factor = np.zeros((0, train.shape[1]))
        if min(independence) < 1.0:
            factor = residual_factor(train, (y - center) / unit)
        return InverseRegression(*lines, factor, cases.n, center, unit, independence)

    @property
    def _left_out(self) -> ResponsesLeftOut:
        """The cases left out."""
        weight = self.fitting.case_weight(self.sets[0], self.n_divisions)
        return ResponsesLeftOut(self.fitting.table, self.responses, self.sets[1:], weight)

    def _weights(self, view: View, fits: Fits) -> ResponseWeights:
        """Return the weights of no features, of the regressions of a view, and of outliers.

        Those of a regression are for all of its candidates, one after the other.
        """
        if not self.n_divisions:  # the inverse regression alone, as it is
            shares = [np.zeros(fit.model.log_prior.shape) for fit in fits[0]]
            shares[-1][-1, 0] = 1.0
            return ResponseWeights([np.zeros(1), *chain(*shares)], 0.0, 0.0)
        cases = self._left_out.cases(view.response)
        y = self.responses.fitted(view.response)[self.sets[0].kept]
        independent = independence_given_response(
            self.content, self.fitting.table, view.marginals, fits[0], y
        )
        each = candidates_of(fits, 1.0 - NULL, independent)
        return learn_weights(
            [null_candidate(cases, independent), *chain(*each)], cases, independent
        )

    def _stack(
        self, view: View, scores: FamilyScores, whole: list[ResponseFit], learned: ResponseWeights
    ) -> tuple[FittedResponseStack, Selection[Any]]:
        """Return the average over the regressions with enough weight, and its selection."""
        left, nodes = self.sets[0], iter(learned.nodes)
        null, outlier = float(next(nodes).sum()), learned.outlier
        weights = [np.stack([next(nodes) for _ in fit.model.log_prior]) for fit in whole]
        most = max(float(each.sum()) for each in weights)
        chosen = [float(each.sum()) >= min(_LEAST_WEIGHT, most) for each in weights]
        kept = [(fit, each) for fit, each, some in zip(whole, weights, chosen, strict=True) if some]
        total = null + outlier + sum(float(each.sum()) for _, each in kept)
        selection = max((fit.selection for fit, _ in kept), key=lambda one: one.indices.size)
        indices, is_normal = selection.indices, view.marginals == "normal"
        members = tuple(
            ResponseMember(
                np.searchsorted(indices, fit.selection.indices),
                is_normal,
                fit.model.without_cases(),
                each / total,
            )
            for fit, each in kept
        )
        y, table = self.responses.fitted(view.response), self.fitting.table
        values: Floats = np.asarray(table.X[:, indices], dtype=np.float64)[left.kept]
        normal = NormalScores.learn(values) if is_normal else None
        scored = values if normal is None else normal.apply(values)
        adjusted, (center, squares, df) = self._adjusted(view, scored)
        law = PriorOfResponse(center, squares, df, null / total, outlier / total)
        main = self.fitting.main(scores, selection, y, left.kept)
        names = None if table.names is None else table.names[indices]
        transform = self.responses.transform if view.response == "transformed" else None
        stack = FittedResponseStack(
            members, law, main, is_normal, normal, names, adjusted, transform
        )
        return stack, replace(selection, ties=None)

    def _adjusted(
        self, view: View, X: Floats
    ) -> tuple[Adjusted | None, tuple[float, float, float]]:
        """Return what covariates say of response and columns, and the law of a typical response.

        With covariates the law is of what they leave of it.
        """
        known, kept = self.fitting.table.covariates, self.sets[0].kept
        if known is None:
            return None, law_of_response(self.responses.judged(view.response)[kept])
        coded = known.coded[kept]
        seen, fitted = (
            ResponseCovariates.learn(known.basis, coded, y[kept])
            for y in (self.responses.judged(view.response), self.responses.fitted(view.response))
        )
        slopes = FeatureSlopes.learn(known.basis, coded, X)
        squares = (seen.squares or 1.0) * (1.0 + 1.0 / seen.n)
        return Adjusted(fitted, slopes), (0.0, squares, max(seen.n - seen.rank, 2.5))
