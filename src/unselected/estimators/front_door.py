"""What `SelectiveClassifier` and `SelectiveRegressor` have in common."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from unselected._typing import Ints
from unselected.columns.dask import DaskColumns
from unselected.estimators.fitting import LeftOutFit
from unselected.estimators.inputs import TrainingTable, is_missing
from unselected.estimators.parameters import check_whole
from unselected.estimators.selecting import CHOSEN_LATER, SelectiveEstimator
from unselected.fitted.effects import FeatureEffects
from unselected.fitted.predictor import Predictor
from unselected.fitted.ranges import TrainingRanges
from unselected.models.gaussian import GaussianModel
from unselected.selection.leaving_out import Marginals
from unselected.selection.record import Ties
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut

# Numbers of features that are averaged over, up to k.
_KS = (5, 20, 100, 500)
# Rate of the gamma prior of tau^2 for real-valued features: tau is half-normal with variance 1/2,
# because differences between classes in real data are larger than the paper's prior expects.
_RATE = 1.0


class FrontDoor(SelectiveEstimator):
    """An average over models, with weights from cases left out."""

    ties: Ties = "first"
    _takes_missing = True
    _finds_k = "auto"
    # Features that "auto" goes up to.
    _auto_k: int
    # Degrees of freedom of the effects of real-valued features; None where these are normal.
    _tails: float | None = None
    # Prior probability that all features are related, where the prior is "auto".
    _all_related = 0.5

    max_features: int
    marginals: str
    prior: str

    @property
    def _asked_k(self) -> Any:
        """``k``, but None where the default gives way to a threshold or an earlier selection."""
        other = self.threshold is not None or self.preselected_from is not None
        return None if other and self.k == self._finds_k else self.k

    def _numbers_of_features(
        self, rule: SelectionRule, table: TrainingTable
    ) -> tuple[SelectionRule, tuple[int | None, ...]]:
        """Return the rule with the largest k, and the numbers of features to average over."""
        most = check_whole("max_features", self.max_features, 1, None, "a number of features")
        k = rule.k
        if k == CHOSEN_LATER:
            k = min(self._auto_k, most, table.X.shape[1] - rule.always.size)
        ks = (None,) if k is None else (*(small for small in _KS if small < k), k)
        return replace(rule, k=k), ks

    @property
    def _marginals(self) -> tuple[Marginals, ...]:
        """How real-valued columns are modelled: the ways to try."""
        if self.marginals == "auto":
            return ("raw", "normal")
        return ("normal",) if self.marginals == "normal" else ("raw",)

    @property
    def _groups_of_features(self) -> dict[str, Any]:
        """The prior of which features are related; all nodes are few."""
        groups: dict[str, Any] = {"coarse": True}
        if self.prior != "common":  # the least fraction follows from the number of columns
            groups["least_fraction"] = 1.0
            groups["all_related"] = self._all_related if self.prior == "auto" else 0.0
        return groups

    @property
    def _real_features(self) -> GaussianModel:
        """The model of real-valued features."""
        tails = None if self.prior == "common" else self._tails
        return GaussianModel(b=_RATE, tails=tails, **self._groups_of_features)

    def _fold_seed(self) -> int:
        """Return the seed of the folds: a number as it is, and 0 for none, as in the shell."""
        if self.random_state is None:
            return 0
        random_state = check_random_state(self.random_state)
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(random_state.randint(2**31))

    def _remember(self, fitting: Any, learned: Any) -> None:
        """Set the attributes, last, so that an error changes nothing."""
        table, selection = fitting.table, learned.selection
        predictor = self._predictor_of(learned.stack)
        predictor = replace(predictor, coding=table.coding)
        if not isinstance(table.X, DaskColumns):
            ranges = TrainingRanges.of(table.X, selection.indices)
            predictor = replace(predictor, ranges=ranges)
        self._remember_selection(table, selection, learned.scores, fitting.rule.always.size)
        self._predictor, self._fitting = predictor, fitting
        if table.classes.size:
            self.classes_ = table.classes
        for name, value in self._learned(learned.stack).items():
            setattr(self, name, value)

    @abstractmethod
    def _predictor_of(self, stack: Any) -> Predictor:
        """Return the predictor around what was learned."""

    def _fits_without(self, fitting: Any, sets: list[LeftOut]) -> Iterator[LeftOutFit]:
        """Yield fits without each set, in which everything is repeated."""
        for left in sets:
            learned = fitting.learned(left)
            rows = np.asarray(fitting.table.X[:, learned.selection.indices])[left.asked]
            rows = fitting.table.with_covariates(rows, left.asked)
            yield LeftOutFit(left, self._predictor_of(learned.stack), rows)

    def _without_covariates(self, fitting: Any) -> Any:
        return replace(fitting, table=replace(fitting.table, covariates=None))

    def feature_effects(self, *, level: float = 0.9) -> FeatureEffects:
        """Return the effects of the kept features: naive estimates and posterior means.

        A feature is kept because it looks strong, so its naive estimate is too large. The posterior
        is conditioned on the selection and corrects for that. Effects are those of the values as
        they are modelled: with ``marginals_`` "normal" of their normal scores. Of classes,
        ``mean_difference`` is in units of the deviation within classes, and ``raw_difference`` in
        the units of the column.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the intervals.

        Returns
        -------
        effects : FeatureEffects
            ``pandas.DataFrame(effects.to_dict())`` gives a table.
        """
        return self._feature_effects(level)

    def in_words(self) -> list[str]:
        """Return what was learned from cases left out, in sentences."""
        check_is_fitted(self)
        sentences: list[str] = self._predictor.fitted.in_words()
        return sentences


def checked_groups(groups: Any, table: TrainingTable) -> Ints | None:
    """Return the groups of the cases as numbers."""
    if groups is None:
        return None
    labels = column_or_1d(np.asarray(groups, dtype=object)).tolist()
    if len(labels) != table.y.size:
        raise ValueError(f"groups has {len(labels)} labels, but there are {table.y.size} cases.")
    for row, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(
                f"groups is missing in row {row}: give a label to each case, or a label of its own "
                "to a case that belongs to no group."
            )
    numbers: dict[Any, int] = {}
    found = np.array([numbers.setdefault(label, len(numbers)) for label in labels])
    if found.max() == 0:
        raise ValueError("groups holds one group only: folds need at least two.")
    return found
