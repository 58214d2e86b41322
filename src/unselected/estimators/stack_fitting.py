"""The fit of an average over models: folds, evidence on cases left out, weights, members.

The models differ in the number of features they keep, and in how real-valued features are
transformed. Every one is fitted again without each fold, selection and transform included, and
gives the cases of the fold evidence for the classes. From that evidence come the weights of the
models and of their likelihoods, and the power of each likelihood.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.columns.content_keys import Keys
from unselected.dependence.correlated import WithinClasses, unit_residuals
from unselected.estimators.content_folds import AverageFitting, ContentKeys
from unselected.estimators.examined_columns import independence_in_classes
from unselected.estimators.family_models import FamilyModels
from unselected.estimators.fitting import KeptValues
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.member_weights import (
    Fit,
    Weighed,
    evidence_left_out,
    normalized,
    preferred,
)
from unselected.estimators.stack_choosing import Chosen
from unselected.estimators.stack_pooling import Regressions, pooled
from unselected.estimators.stack_steps import on_step
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.families import FittedFamilies
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.predictor import ClassPredictor
from unselected.fitted.stack import FittedStack, Member
from unselected.models.batch import TablesOfSizes
from unselected.models.bernoulli_posterior import CountPosterior
from unselected.models.class_covariates import ClassCovariates
from unselected.models.count_omission import is_quick
from unselected.numerics.one_thread import one_blas_thread
from unselected.selection.families import FamilyScores, united_columns
from unselected.selection.leaving_out import (
    Marginals,
    adjusted_family_scores_without,
    family_scores_without,
)
from unselected.selection.record import Selection
from unselected.selection.rules import SelectionRule
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.binarizing import FindBinary, find_bits, find_indicators, find_none
from unselected.statistics.leaving_out import LeftOut
from unselected.statistics.normal_scores import NormalScores


@dataclass(frozen=True, eq=False)
class StackFitting(AverageFitting):
    """Everything that the fit of an average over models needs.

    Attributes
    ----------
    table : TrainingTable
    rule : SelectionRule
        Its k does not matter: each model has its own.
    corrected : bool
        Whether the models are conditioned on the selection.
    models : FamilyModels
    ks : tuple of (int or None)
        Numbers of features to average over, increasing; None for a rule without k.
    marginals : tuple of {"raw", "normal"}
    guarded : {"none", "tempered", "auto"}
        Whether the power of the likelihood is learned, and other likelihoods are tried.
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
    models: FamilyModels
    ks: tuple[int | None, ...]
    marginals: tuple[Marginals, ...]
    guarded: str
    seed: int
    groups: Ints | None
    store_scores: bool = False
    unadjusted_before: bool = False

    def learned(self, left: LeftOut | None = None) -> "LearnedStack":
        """Learn everything from the cases that are not left out.

        There are very many products of small matrices, which several threads make slower.
        """
        with one_blas_thread():
            return _Learning.start(self, left or self.everyone).finish()

    def scores_of(
        self,
        sets: list[LeftOut],
        new_stream: Callable[[], StreamingSelection],
        marginals: tuple[Marginals, ...],
        keys: Callable[[Ints], Keys],
        likely: Ints | None = None,
    ) -> list[list[FamilyScores]]:
        """Return the scores without each set of cases; see `family_scores_without`."""
        t = self.table
        if t.covariates is not None:
            how = (t.label, sets, new_stream, marginals, keys, self.unadjusted_before)
            return adjusted_family_scores_without(t.X, t.design, *how)
        return family_scores_without(
            t.X,
            t.y,
            t.classes.size,
            t.label,
            sets,
            new_stream,
            marginals,
            keys,
            self.find_binary,
            likely,
        )

    @property
    def find_binary(self) -> FindBinary:
        """How binary columns are found.

        Of columns that were selected before it must be known of which kind the others were. That of
        indicators differs from column to column.
        """
        sizes = tuple(np.bincount(self.table.y, minlength=self.table.classes.size).tolist())
        if self.table.covariates is not None or not is_quick(sizes):
            return find_none
        return find_indicators if self.rule.n_before is None else find_bits


class _CaseCovariates(NamedTuple):
    """What the covariates of some cases say of their classes, and the sizes of these."""

    covariates: ClassCovariates
    sizes: Ints


@dataclass(frozen=True, eq=False)
class LearnedStack:
    """What was learned.

    Attributes
    ----------
    scores : FamilyScores
        Of all columns, by the marginals that were chosen.
    selection : Selection
        Of the member with the most features.
    stack : FittedStack
    key_values : array of shape (n, columns)
        The values of the columns by whose content the cases were divided into folds.
    """

    scores: FamilyScores
    selection: Selection[Any]
    stack: FittedStack
    key_values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class _Learning:
    """A fit under way, to the cases that are not left out.

    ``sets`` are all these cases, and then these without each fold of each division.
    """

    fitting: StackFitting
    marginals: tuple[Marginals, ...]
    sets: list[LeftOut]
    n_divisions: int
    content: ContentKeys
    tables: TablesOfSizes

    @classmethod
    def start(cls, fitting: StackFitting, left: LeftOut) -> "_Learning":
        """Read the table once, and divide the cases into folds by their content."""
        table = fitting.table

        def score(stream: Any, keys: Any) -> FamilyScores:
            return fitting.scores_of([left], stream, ("raw",), keys)[0][0]

        content = ContentKeys.read(table.X, left, score, fitting.find_binary)
        marginals = fitting.marginals if content.scores.real is not None else ("raw",)
        n_divisions = 0
        if len(marginals) * len(fitting.ks) > 1 or fitting.guarded != "none":
            n_divisions = content.n_divisions
        groups = None if fitting.groups is None else fitting.groups[left.kept]
        folds = content.folds(table.y[left.kept], fitting.seed, groups, n_divisions)
        table.check_classes_left(folds, fitting.groups)
        return cls(fitting, marginals, [left, *folds], n_divisions, content, TablesOfSizes())

    def finish(self) -> LearnedStack:
        """Fit all models without each set of cases, weigh them, and keep the best."""
        fitting = self.fitting
        widest = fitting.with_k(fitting.ks[-1])
        stream = StreamingSelection if fitting.store_scores else widest.streaming
        keys, likely = self.content.of_columns, self.content.strongest(widest.k)
        scores = fitting.scores_of(self.sets, stream, self.marginals, keys, likely)
        self.content.remember(united_columns(scores))
        rules = [fitting.with_k(k) for k in fitting.ks]
        chosen = {
            marginals: [Chosen.each(one, rules, fitting.corrected) for one in each]
            for marginals, each in zip(self.marginals, scores, strict=True)
        }
        widest_selections = [each[-1].selection for sets in chosen.values() for each in sets]
        columns = KeptValues.of(fitting.table.X, widest_selections)
        columns = columns.with_indicators(fitting.find_binary)
        candidates: dict[tuple[Marginals, int | None], list[Fit]] = {}
        steps = self._steps()
        for marginals, sets in chosen.items():
            posteriors = iter(self._binary_posteriors([one for each in sets for one in each]))
            for left, each in zip(self.sets, sets, strict=True):
                for fit in self._fits(marginals, left, each, posteriors, columns):
                    candidates.setdefault((marginals, fit.k), []).append(fit)
                next(steps)
        y, powered = fitting.table.y, fitting.guarded != "none"
        weight = fitting.case_weight(self.sets[0], self.n_divisions)
        members: dict[Marginals, list[Weighed]] = {name: [] for name in self.marginals}
        independent = {
            name: self._independent(
                name, columns, [fits[0] for (own, _), fits in candidates.items() if own == name]
            )
            for name in chosen
        }
        for (name, _), fits in candidates.items():
            how: Any = {"powered": powered, "independent": independent[name]}
            members[name].append(Weighed.learn(fits, y, weight, **how))
        best = preferred(members)
        averaged = normalized(members[best], independent[best])
        stack, selection = self._stack(averaged, columns, best)
        if powered and fitting.rule.n_before is None:  # folds cannot repeat an earlier selection
            cases = evidence_left_out(averaged, np.concatenate([y[s.asked] for s in self.sets[1:]]))
            regressions = Regressions()
            if self._is_pooled and regressions.are_worth_a_try(cases, independent[best]):
                for fit in candidates[best, averaged[-1].fit.k]:
                    regressions.add(fit, partial(self._values, best, columns), fitting.table)
                    next(steps)
            stack = pooled(stack, cases, regressions, independent[best])
        list(steps)  # what is left need not be done
        chosen_scores = scores[self.marginals.index(best)][0]
        return LearnedStack(chosen_scores, selection, stack, self.content.values)

    def _independent(self, marginals: Marginals, columns: KeptValues, fits: list[Fit]) -> float:
        """Return the probability of independence within classes; 0 if it is not asked for."""
        if self.fitting.guarded != "auto":
            return 0.0
        values = partial(self._values, marginals, columns)
        return independence_in_classes(self.content, self.fitting.table, marginals, fits, values)

    @property
    def _is_pooled(self) -> bool:
        """Whether the evidence of logistic regressions is added to that of the average.

        They know nothing of the selection, which must therefore be repeated without each fold.
        """
        return self.fitting.guarded == "auto" and self.fitting.rule.n_before is None

    def _steps(self) -> Iterator[None]:
        """Tell, each time it is asked, that one more fit of all is done."""
        n_all = (len(self.marginals) + self._is_pooled) * len(self.sets)
        for n_done in range(1, n_all + 1):
            yield on_step.get()(n_done, n_all)

    def _binary_posteriors(self, chosen: list[Chosen]) -> list[CountPosterior]:
        """Return the posteriors of those that have a model of binary features, in their order."""
        some = [one for one in chosen if one.counted is not None]
        models = [self._models(one.selection.n_features).binary for one in some]
        sets = [(one.counted.counts, one.event.binary) for one in some if one.counted is not None]
        return self.tables.condition_all(models, sets)

    def _fits(
        self,
        marginals: Marginals,
        left: LeftOut,
        chosen: list[Chosen],
        posteriors: Iterator[CountPosterior],
        columns: KeptValues,
    ) -> Iterator[Fit]:
        """Yield the model of each number of features, fitted without a set of cases."""
        fitting, widest = self.fitting, chosen[-1]
        train, asked = self._values(marginals, columns, widest, left)
        given, table = self._given_covariates(left), fitting.table
        unit, y = None, table.y[left.kept]
        if fitting.guarded == "auto" and given is None:  # residuals are those of all models
            unit = unit_residuals(train, y, table.classes.size)
        for one in chosen:
            places = np.searchsorted(widest.selection.indices, one.selection.indices)
            fitted = self._fitted(left, one, posteriors, given)
            within = None
            if unit is not None:
                within = fitted.within_units(unit[:, places], y)
            elif fitting.guarded == "auto":
                rows = table.with_covariates(train[:, places], left.kept)
                within = fitted.within_classes(rows, y)
            predictor = ClassPredictor(fitted, within=within)
            rows = table.with_covariates(asked[:, places], left.asked)
            evidence = predictor.log_evidence(rows)
            log_prior = np.broadcast_to(predictor.log_prior(rows), evidence.shape[1:])
            yield Fit(one.k, one.selection, one.is_binary, predictor, evidence, log_prior, left)

    @staticmethod
    def _values(
        marginals: Marginals, columns: KeptValues, chosen: "Chosen | Fit", left: LeftOut
    ) -> tuple[Floats, Floats]:
        """Return what was kept of the cases that are not left out, and of those asked for."""
        of_all = columns.of_all(chosen.selection)
        train, asked = (
            np.asarray(of_all[rows], dtype=np.float64) for rows in (left.kept, left.asked)
        )
        real = ~chosen.is_binary
        if marginals == "normal" and real.any():
            normal = NormalScores.learn(train[:, real])
            train[:, real] = normal.apply(train[:, real])
            asked[:, real] = normal.apply(asked[:, real])
        return train, asked

    def _given_covariates(self, left: LeftOut) -> _CaseCovariates | None:
        """Return what the covariates of the cases that are not left out say of their classes."""
        table = self.fitting.table
        if table.covariates is None:
            return None
        y, pseudocounts = table.y[left.kept], self.fitting.models.pseudocounts
        coded = table.covariates.coded[left.kept]
        learned = ClassCovariates.fit(table.covariates.basis, coded, y, pseudocounts)
        return _CaseCovariates(learned, np.bincount(y, minlength=table.classes.size))

    def _fitted(
        self,
        left: LeftOut,
        chosen: Chosen,
        posteriors: Iterator[CountPosterior],
        given: _CaseCovariates | None,
    ) -> FittedFamilies:
        """Return the models of the families, conditioned on the kept columns and the events."""
        models, event = self._models(chosen.selection.n_features), chosen.event
        classes = self.fitting.table.classes
        binary = None
        real: FittedGaussian | FittedAdjustedGaussian | None = None
        if chosen.counted is not None:
            counts, cuts = chosen.counted.counts, chosen.counted.cuts
            posterior = next(posteriors)
            if left is self.sets[0]:  # it stays, without what it shares with the others
                posterior = posterior.made()
            binary = FittedBernoulli(
                models.binary, counts, event.binary, cuts, None, classes, None, posterior
            )
        if chosen.moments is not None:
            how: Any = (models.pseudocounts, classes, None)
            if given is None:
                real = FittedGaussian(models.real, chosen.moments, event.real, *how)
            else:
                # Given covariates nearly every column with missing values is a pattern of its own.
                merged = event.real.merged()
                real = FittedAdjustedGaussian(models.real, chosen.moments, merged, *given, *how)
        return FittedFamilies(chosen.is_binary, binary, real, None, chosen.in_mixed_table)

    def _models(self, n_features: int) -> FamilyModels:
        """Return models whose least fraction of related features is that of a single feature."""
        if n_features not in self._known_models:
            self._known_models[n_features] = self.fitting.models.for_features(n_features)
        return self._known_models[n_features]

    @cached_property
    def _known_models(self) -> dict[int, FamilyModels]:
        """The models by the number of features that they are for: all sets have the same."""
        return {}

    def _stack(
        self, kept: list[Weighed], columns: KeptValues, marginals: Marginals
    ) -> tuple[FittedStack, Selection[Any]]:
        """Return the average over the members that were kept, and the selection of the widest."""
        widest = kept[-1].fit
        indices, names = widest.selection.indices, self.fitting.table.names
        members = tuple(
            Member(
                np.searchsorted(indices, each.fit.selection.indices),
                replace(
                    each.fit.predictor,
                    average=each.average,
                    within=_kept(each.fit.predictor.within),
                ),
            )
            for each in kept
        )
        normal = None
        if marginals == "normal" and not widest.is_binary.all():
            values = columns.take(widest.left.kept, widest.selection)
            normal = NormalScores.learn(values[:, ~widest.is_binary])
        logs = np.array([each.log_weight for each in kept])
        stack = FittedStack(members, logs, normal, None if names is None else names[indices])
        return stack, replace(widest.selection, ties=None)


def _kept(within: WithinClasses | None) -> WithinClasses | None:
    """Return correlations as they are kept after a fit."""
    return None if within is None else within.without_cases()
