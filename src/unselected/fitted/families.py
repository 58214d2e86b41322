"""A fitted model of binary and real-valued features together, for the average over models.

Given the class and the hyperparameters all features are independent, and each family of features
has its own hyperparameters. So the log evidence of a case is the sum over the families. For real
features it is that of independent t distributions at the mean of the posterior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, ColumnNamer, Floats
from unselected.dependence.correlated import (
    FeatureLaws,
    WithinClasses,
    log_independent,
    unit_residuals,
)
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.base import GivenCovariates, GuardedClasses, Related, Seen, real_rows
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.effects import Effect, widened
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.json_checks import Entries, Fault, check_choice, check_list, check_record
from unselected.fitted.json_parts import parse_names
from unselected.models.fractions import FractionSummary
from unselected.selection.events import FamilyEvent

# Values of rows, features and classes that are processed at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class FittedFamilies(GuardedClasses):
    """The fitted models of the families, and which of the kept columns are theirs.

    Attributes
    ----------
    is_binary : array of shape (k,)
        Which of the kept columns are binary.
    binary : FittedBernoulli or None
    real : FittedGaussian, FittedAdjustedGaussian or None
        Of the values as they are scored: normal scores, or the values themselves.
    names : array of shape (k,) or None
    in_mixed_table : bool
        Whether real-valued columns were there to be kept; not in a model file.
    """

    kind: ClassVar[str] = "families"
    keys: ClassVar[tuple[str, ...]] = ("families", "binary", "real")

    is_binary: Bools
    binary: FittedBernoulli | None
    real: FittedGaussian | FittedAdjustedGaussian | None
    names: NDArray[Any] | None
    in_mixed_table: bool = False

    @property
    def _first(self) -> FittedBernoulli | FittedGaussian | FittedAdjustedGaussian:
        first = self.binary or self.real
        assert first is not None
        return first

    @property
    def _parts(self) -> list[tuple[Bools, Any]]:
        """The fitted models with the columns of each."""
        each = ((self.is_binary, self.binary), (~self.is_binary, self.real))
        return [(columns, fitted) for columns, fitted in each if fitted is not None]

    @property
    def classes(self) -> NDArray[Any]:  # type: ignore[override]
        """The classes, shape (G,)."""
        return self._first.classes

    @property
    def event(self) -> FamilyEvent:
        """The event of each family."""
        binary = None if self.binary is None else self.binary.event
        real = None if self.real is None else self.real.event
        return FamilyEvent(binary, real, self._first.statistic)

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return int(self.is_binary.size)

    @property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        return self._first.log_psi

    @property
    def nodes(self) -> Any:
        """The posterior of the concentration of the first family as weighted nodes."""
        return self._first.nodes

    @property
    def numbers(self) -> list[Floats]:
        """Arrays of the posterior, which are finite if the model's numbers are consistent."""
        return [array for _, fitted in self._parts for array in fitted.numbers]

    @property
    def n_covariates(self) -> int:
        """The number of coded covariates behind the kept columns."""
        return self._first.n_covariates

    def log_prior(self, rows: NDArray[Any]) -> Floats:
        """Return the log class probabilities of rows before their features are seen."""
        return self._first.log_prior(self._real_of(rows)) if self.n_covariates else self.log_psi

    def _real_of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the real-valued columns of rows, with covariates behind them."""
        return np.hstack([rows[:, : self.n_columns][:, ~self.is_binary], rows[:, self.n_columns :]])

    def given_covariates(self, rows: NDArray[Any]) -> GivenCovariates:
        """Return the features of rows as they would be with the mean covariates."""
        if not self.n_covariates:
            return super().given_covariates(rows)
        return self._first.given_covariates(rows)

    def residuals(self, rows: NDArray[Any], y: NDArray[np.intp]) -> NDArray[Any]:
        """Return the kept columns of training rows, without what covariates say of them."""
        if not self.n_covariates or self.real is None:
            return rows
        return self.real.residuals(rows, y)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns, in their order, as numbers; NaN is missing."""
        return real_rows(X, label, missing_allowed=True)

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, G), up to a constant in each row."""
        total = np.zeros((len(rows), self.classes.size))
        if self.binary is not None:
            total += self.binary.log_evidence(rows[:, self.is_binary])
        if self.real is not None:
            (values, scale), laws = self.real.given_covariates(self._real_of(rows)), self.real.laws
            size = max(1, _BLOCK // max(1, laws.location.size))
            for start in range(0, len(rows), size):
                block = slice(start, start + size)
                own = None if scale is None else scale[block]
                total[block] += log_independent(values[block], laws, own).sum(axis=1)
        return total

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class), (rows, G, 1), and the log weight 0 of the only node."""
        return self.log_evidence(rows)[:, :, np.newaxis], np.zeros(1)

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class) at the mean of the posterior, shape (rows, k, G)."""
        logs = np.zeros((len(rows), self.n_columns, self.classes.size))
        if self.binary is not None:
            logs[:, self.is_binary] = self.binary.log_by_feature(rows[:, self.is_binary])
        if self.real is not None:
            values, scale = self.real.given_covariates(self._real_of(rows))
            logs[:, ~self.is_binary] = log_independent(values, self.real.laws, scale)
        return logs

    @cached_property
    def laws(self) -> FeatureLaws:
        """What the posteriors of the families say of single features."""
        k = self.n_columns
        for columns, fitted in self._parts:
            if columns.all():
                laws: FeatureLaws = fitted.laws
                return laws
        location, variance = np.zeros((self.classes.size, k)), np.ones(k)
        varying = np.zeros(k, dtype=bool)
        for columns, fitted in self._parts:
            laws = fitted.laws
            location[:, columns], variance[columns] = laws.location, laws.variance
            varying[columns] = laws.varying
        return FeatureLaws(location, variance, self._parts[-1][1].laws.df, varying)

    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations within classes, and variances by class and feature."""
        unit = unit_residuals(self.residuals(rows, y), y, self.classes.size)
        return self.within_units(unit, y)

    def within_units(self, unit: Floats, y: NDArray[np.intp]) -> WithinClasses:
        """Return the same from `unit_residuals` of the kept columns."""
        real = ~self.is_binary
        differ = self.in_mixed_table or bool(real.any())
        return WithinClasses.of_units(unit, y, self.classes.size, real, differ=differ)

    @property
    def related(self) -> Related | None:
        """P(related) of the kept features; the fraction is that of the family with more of them."""
        found = [(columns, fitted.related) for columns, fitted in self._parts]
        if any(related is None for _, related in found):
            return None
        probability = np.zeros(self.n_columns)
        for columns, related in found:
            probability[columns] = related.probability
        largest = max(found, key=lambda each: int(each[0].sum()))
        fraction: FractionSummary = largest[1].fraction
        return Related(fraction, probability)

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return self._first.n_samples

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        return self._first.class_sizes

    def omission_probability(self, concentration: Floats) -> Floats:
        """Return P(a feature of the first family is at most at the cut | concentration)."""
        return self._first.omission_probability(concentration)

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return the effects of both families; those of the other family are NaN."""
        seen: Seen = {}
        effects: dict[str, Effect] = {}
        for columns, fitted in self._parts:
            own_seen, own_effects = fitted.effects(tails)
            seen |= {name: widened(columns, values) for name, values in own_seen.items()}
            effects |= {name: effect.widened(columns) for name, effect in own_effects.items()}
        return seen, effects

    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return what is known of each kept feature, in plain types and in their order."""
        told: list[Entries] = [{} for _ in range(self.n_columns)]
        for columns, fitted in self._parts:
            places = np.flatnonzero(columns).tolist()
            own = fitted.describe([scores[place] for place in places])
            for place, entries in zip(places, own, strict=True):
                told[place] = entries
        return told

    def _own_cells(self, told: Entries) -> dict[str, str]:
        fitted = self.binary if "ones" in told else self.real
        assert fitted is not None
        return fitted._own_cells(told)

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return self._first.priors

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        families = np.where(self.is_binary, "binary", "real").tolist()
        return {
            "families": families,
            "binary": None if self.binary is None else self.binary.to_json(),
            "real": None if self.real is None else self.real.to_json(),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        families = [
            check_choice(family, "families", ("binary", "real"))
            for family in check_list(entries["families"], "families")
        ]
        is_binary = np.array([family == "binary" for family in families], dtype=bool)
        binary = _parse_family(entries["binary"], "binary", FittedBernoulli)
        adjusted = isinstance(entries["real"], dict) and "covariates" in entries["real"]
        kind = FittedAdjustedGaussian if adjusted else FittedGaussian
        real = _parse_family(entries["real"], "real", kind)
        for columns, fitted, name in ((is_binary, binary, "binary"), (~is_binary, real, "real")):
            if (0 if fitted is None else fitted.n_columns) != int(columns.sum()):
                raise Fault(f"families has {int(columns.sum())} {name} columns, {name} others.")
        if binary is None and real is None:
            raise Fault("families has neither a binary nor a real model.")
        return cls(is_binary, binary, real, parse_names(entries["names"], is_binary.size))


def _parse_family(entry: object, name: str, kind: type[Any]) -> Any:
    if entry is None:
        return None
    entries = check_record(entry, name, kind.keys, kind.optional)
    return kind.from_json({**entries, "names": None})
