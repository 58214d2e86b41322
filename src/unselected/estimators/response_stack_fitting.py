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
from threadpoolctl import threadpool_limits

from unselected._typing import Floats, Ints
from unselected.columns.content_keys import Keys
from unselected.dependence.inverse_regression import InverseRegression, residual_factor
from unselected.dependence.response_weights import HeldOutResponses, learn_weights
from unselected.estimators.content_folds import AverageFitting, ContentKeys
from unselected.estimators.fitting import KeptValues
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.response_candidates import (
    NULL,
    ResponseFit,
    candidates_of,
    law_of_response,
    null_candidate,
)
from unselected.estimators.response_cases import (
    ResponseCases,
    View,
    check_variation_left,
    clipped_to,
)
from unselected.estimators.stack_fitting import on_step
from unselected.fitted.adjusted_regression import FittedAdjustedRegression
from unselected.fitted.json_response_stack import PriorOfResponse
from unselected.fitted.regression import FittedRegression
from unselected.fitted.response_stack import Adjusted, FittedResponseStack, ResponseMember
from unselected.models.direct_regression import DirectRegression
from unselected.models.gaussian import GaussianModel
from unselected.models.regression import RegressionModel
from unselected.models.response_covariates import FeatureSlopes, ResponseCovariates
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
        with threadpool_limits(limits=1, user_api="blas"):
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

    def given_covariates(self, y: Floats, cases: Ints) -> ResponseCovariates | None:
        """Return what the covariates of some cases say of their responses, (cases,)."""
        known = self.table.covariates
        if known is None:
            return None
        return ResponseCovariates.learn(known.basis, known.coded[cases], y)

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
    views : list of View
    responses : dict of bool to array of shape (n,)
        The responses as they are and, where that is a difference, clipped.
    sets : list of LeftOut
        All cases, and then these without each fold of each division.
    n_divisions : int
    content : ContentKeys
    """

    fitting: ResponseStackFitting
    views: list[View]
    responses: dict[bool, Floats]
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
        responses = {False: y}
        if fitting.guarded:
            base = np.zeros(y.size)
            given = fitting.given_covariates(y[left.kept], left.kept)
            if given is not None and table.covariates is not None:
                base = given.mean(table.covariates.coded)
            clipped = base + clipped_to(y - base, (y - base)[left.kept])
            responses |= {True: clipped} if np.any(clipped[left.kept] != y[left.kept]) else {}
        groups = None if fitting.groups is None else fitting.groups[left.kept]
        n_divisions = content.n_divisions if fitting.guarded else 0
        folds = content.folds(content.strata(y[left.kept]), fitting.seed, groups, n_divisions)
        check_variation_left(y, folds)
        views = [View(each, which) for which in responses for each in fitting.marginals]
        return cls(fitting, views, responses, [left, *folds], n_divisions, content)

    def finish(self) -> LearnedResponseStack:
        """Fit all regressions without each set of cases, weigh them, and keep the best."""
        fits: dict[View, list[list[ResponseFit]]] = {}
        wholes: dict[View, FamilyScores] = {}
        n_done, n_all = 0, len(self.views) * len(self.sets)
        for view, scores, columns in self._scored():
            wholes[view], fits[view] = scores[0], []
            for left, one in zip(self.sets, scores, strict=True):
                fits[view].append(list(self._fits(view, left, one, columns)))
                n_done += 1
                on_step.get()(n_done, n_all)
        view = self._preferred(fits)
        stack, selection = self._stack(view, wholes[view], fits[view])
        return LearnedResponseStack(wholes[view], selection, stack, self.content.values)

    def _scored(self) -> Iterator[tuple[View, list[FamilyScores], KeptValues]]:
        """Yield each view with the scores without each set, and the values of their columns."""
        fitting = self.fitting
        widest = fitting.with_k(fitting.ks[-1])
        stream = StreamingSelection if fitting.store_scores else widest.streaming
        for clipped, y in self.responses.items():
            marginals = fitting.marginals
            scored = fitting.scores_of(y, self.sets, stream, marginals, self.content.of_columns)
            for each, scores in zip(marginals, scored, strict=True):
                kept = KeptValues.of(fitting.table.X, [widest.select(one) for one in scores])
                yield View(each, clipped), scores, kept

    def _fits(
        self, view: View, left: LeftOut, scores: FamilyScores, columns: KeptValues
    ) -> Iterator[ResponseFit]:
        """Yield the regressions of each number of features and kind without a set of cases."""
        fitting, y = self.fitting, self.responses[view.clipped]
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
    def _cases(self) -> HeldOutResponses:
        """The responses left out, with what is known of them without features."""
        y, folds = self.responses[False], self.sets[1:]
        known = [self._laws_without_features(left) for left in folds]
        center, squares, df = (np.concatenate(each) for each in zip(*known, strict=True))
        asked = np.concatenate([y[left.asked] for left in folds])
        return HeldOutResponses(asked, df, center, squares, self._weight_of_case)

    def _laws_without_features(self, left: LeftOut) -> tuple[Floats, Floats, Floats]:
        """Return what is known of the cases asked for from the others, without their features."""
        y, table = self.responses[False][left.kept], self.fitting.table
        given = self.fitting.given_covariates(y, left.kept)
        if given is None or table.covariates is None:
            laws: Any = law_of_response(y)
        else:
            laws = given.law(table.covariates.coded[left.asked])
        center, squares, df = (np.broadcast_to(each, left.asked.shape) for each in laws)
        return center, squares, df

    @property
    def _weight_of_case(self) -> float:
        """What a case left out counts; all cases of a group together count as one."""
        groups, kept = self.fitting.groups, self.sets[0].kept
        alike = 1.0 if groups is None else kept.size / np.unique(groups[kept]).size
        return 1.0 / (self.n_divisions * alike)

    def _preferred(self, fits: dict[View, list[list[ResponseFit]]]) -> View:
        """Return the view whose regressions have the most weight together."""
        if len(fits) == 1:
            (only,) = fits
            return only
        cases, prior = self._cases, (1.0 - NULL) / len(fits)
        each = {view: list(chain(*candidates_of(own, prior))) for view, own in fits.items()}
        weights = learn_weights([null_candidate(cases), *chain(*each.values())], cases).nodes[1:]
        totals, start = {}, 0
        for view, candidates in each.items():
            stop = start + len(candidates)
            totals[view] = float(sum(part.sum() for part in weights[start:stop]))
            start = stop
        return max(totals, key=lambda view: totals[view])

    def _weights(self, fits: list[list[ResponseFit]]) -> tuple[list[Floats], float, float]:
        """Return the weights of the regressions of a view, of no features, and of outliers."""
        if not self.n_divisions:  # the inverse regression alone, as it is
            shares = [np.zeros(fit.model.log_prior.shape) for fit in fits[0]]
            shares[-1][-1, 0] = 1.0
            return shares, 0.0, 0.0
        cases = self._cases
        each = candidates_of(fits, 1.0 - NULL)
        learned = learn_weights([null_candidate(cases), *chain(*each)], cases)
        nodes = iter(learned.nodes)
        null = float(next(nodes).sum())
        weights = [np.stack([next(nodes) for _ in candidates]) for candidates in each]
        return weights, null, learned.outlier

    def _stack(
        self, view: View, scores: FamilyScores, fits: list[list[ResponseFit]]
    ) -> tuple[FittedResponseStack, Selection[Any]]:
        """Return the average over the regressions with enough weight, and its selection."""
        weights, null, outlier = self._weights(fits)
        whole, left = fits[0], self.sets[0]
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
        y, table = self.responses[view.clipped], self.fitting.table
        values: Floats = np.asarray(table.X[:, indices], dtype=np.float64)[left.kept]
        normal = NormalScores.learn(values) if is_normal else None
        scored = values if normal is None else normal.apply(values)
        adjusted, (center, squares, df) = self._adjusted(view, scored)
        law = PriorOfResponse(center, squares, df, null / total, outlier / total)
        main = self.fitting.main(scores, selection, y, left.kept)
        names = None if table.names is None else table.names[indices]
        stack = FittedResponseStack(members, law, main, is_normal, normal, names, adjusted)
        return stack, replace(selection, ties=None)

    def _adjusted(
        self, view: View, X: Floats
    ) -> tuple[Adjusted | None, tuple[float, float, float]]:
        """Return what covariates say of response and columns, and the law of a typical response.

        With covariates the law is of what they leave of it.
        """
        known, kept = self.fitting.table.covariates, self.sets[0].kept
        if known is None:
            return None, law_of_response(self.responses[False][kept])
        coded = known.coded[kept]
        seen, fitted = (
            ResponseCovariates.learn(known.basis, coded, self.responses[clipped][kept])
            for clipped in (False, view.clipped)
        )
        slopes = FeatureSlopes.learn(known.basis, coded, X)
        squares = (seen.squares or 1.0) * (1.0 + 1.0 / seen.n)
        return Adjusted(fitted, slopes), (0.0, squares, max(seen.n - seen.rank, 2.5))
