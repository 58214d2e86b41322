"""An average over models of classes, each fitted to some of the kept columns.

The members differ in how many features they keep. Their weights, and those of the likelihoods of
each, are learned from cases left out. A prediction averages the probabilities of the members. The
evidence of the average then gets a power, because an average over calibrated probabilities is not
extreme enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, ColumnNamer, Floats, Ints
from unselected.fitted.base import FittedClasses, Related, Seen, real_rows, short
from unselected.fitted.bit_values import as_bits
from unselected.fitted.effects import Effect, widened
from unselected.fitted.explanations import path_contributions
from unselected.fitted.families import FittedFamilies
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_list,
    check_real,
    check_reals,
    check_record,
)
from unselected.fitted.json_linear import linear_entry, parse_linear
from unselected.fitted.json_normal import normal_entry, parse_columns, parse_normal
from unselected.fitted.json_parts import parse_names
from unselected.fitted.predictor import ClassPredictor, predictor_of
from unselected.fitted.raw_effects import raw_effects
from unselected.models.logistic_ridges import LinearEvidence
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import FamilyEvent
from unselected.selection.leaving_out import Marginals
from unselected.statistics.binarizing import AS_IS
from unselected.statistics.normal_scores import NormalScores

# The weight of all that is left out of intervals.
_UNLIKELY = 1e-3
# The largest power of the average that a model file may have.
_LARGEST_POWER = 100.0


class Member(NamedTuple):
    """A model of the average.

    Attributes
    ----------
    columns : array of int
        Its columns among the kept ones, in increasing order.
    predictor : ClassPredictor
        Of `FittedFamilies`, with its likelihoods.
    """

    columns: Ints
    predictor: ClassPredictor

    @property
    def fitted(self) -> FittedFamilies:
        """The fitted model."""
        fitted = self.predictor.fitted
        assert isinstance(fitted, FittedFamilies)
        return fitted


@dataclass(frozen=True, eq=False)
class FittedStack(FittedClasses):
    """The members with their weights, and how values are transformed for all of them.

    Attributes
    ----------
    members : tuple of Member
        The one with the most columns last: it has all kept columns.
    log_weights : array of shape (members,)
        Logs of their posterior probabilities.
    normal : NormalScores or None
        The transform of the real-valued columns; None where values are used as they are.
    names : array of shape (k,) or None
    power : float
        Of the evidence of the average; 1 in model files that do not have it.
    linear : LinearEvidence or None
        What logistic regressions on the kept columns add to it, and a constant for each class; None
        in model files that do not have it.
    """

    kind: ClassVar[str] = "classifier"
    keys: ClassVar[tuple[str, ...]] = ("members", "log_weights", "normal")
    optional: ClassVar[tuple[str, ...]] = ("power", "linear")

    members: tuple[Member, ...]
    log_weights: Floats
    normal: NormalScores | None
    names: NDArray[Any] | None
    power: float = 1.0
    linear: LinearEvidence | None = None

    @property
    def main(self) -> FittedFamilies:
        """The member with all kept columns."""
        return self.members[-1].fitted

    @property
    def weights(self) -> Floats:
        """The posterior probabilities of the members."""
        return np.asarray(np.exp(self.log_weights))

    @property
    def classes(self) -> NDArray[Any]:  # type: ignore[override]
        """The classes, shape (G,)."""
        return self.main.classes

    @property
    def event(self) -> FamilyEvent:
        """The event of the member with all kept columns."""
        return self.main.event

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return self.main.n_columns

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return self.main.n_samples

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        return self.main.class_sizes

    @property
    def is_binary(self) -> Bools:
        """Which of the kept columns are binary."""
        return self.main.is_binary

    @property
    def thresholds(self) -> Floats:
        """Above which value each kept column is a one, shape (k,); NaN for real-valued ones."""
        thresholds = np.full(self.n_columns, np.nan)
        if self.main.binary is not None:
            thresholds[self.is_binary] = self.main.binary.thresholds
        return thresholds

    @property
    def is_indicator(self) -> Bools:
        """Of which kept columns only matters whether a value is above a cut, not how far."""
        return np.asarray(self.is_binary & (self.thresholds != AS_IS))

    @property
    def n_covariates(self) -> int:
        """The number of coded covariates behind the kept columns."""
        return self.main.n_covariates

    @property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        return self.main.log_psi

    def log_prior(self, rows: NDArray[Any]) -> Floats:
        """Return the log class probabilities of rows before their features are seen."""
        return self.main.log_prior(rows)

    @property
    def numbers(self) -> list[Floats]:
        """Arrays of the posteriors, which are finite if the model's numbers are consistent."""
        return [array for member in self.members for array in member.fitted.numbers]

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns as the members see them; NaN is missing."""
        rows, bits = real_rows(X, label, missing_allowed=True), self.is_binary
        if bits.any():
            places, rows = np.flatnonzero(bits), rows.copy()
            rows[:, places] = as_bits(
                rows[:, places], self.thresholds[places], lambda j: label(int(places[j]))
            )
        if self.normal is None:
            return rows
        rows, real = rows.copy(), np.flatnonzero(~bits)
        rows[:, real] = self.normal.apply(rows[:, real])
        return rows

    def _each(self, rows: NDArray[Any]) -> Iterator[tuple[Member, float, Floats]]:
        """Yield each member, its log weight, and its log evidence by likelihood."""
        for member, log_weight in zip(self.members, self.log_weights.tolist(), strict=True):
            yield member, log_weight, member.predictor.log_evidence(self._rows_of(member, rows))

    def _rows_of(self, member: Member, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the columns of a member, with covariates behind them."""
        if not self.n_covariates:
            return rows[:, member.columns]
        return np.hstack([rows[:, member.columns], rows[:, self.n_columns :]])

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(class | row) less log P(class), shape (rows, G).

        With power 1, and without linear evidence, this is the evidence that, with the class
        probabilities of the training set, gives the average over the members.
        """
        log_prior = self.log_prior(rows)
        parts = [
            member.predictor.average.log_proba(evidence, log_prior) + log_weight
            for member, log_weight, evidence in self._each(rows)
        ]
        return self._pooled(log_sum(np.array(parts), axis=0) - log_prior, rows)

    def _pooled(self, log_evidence: Floats, rows: NDArray[Any]) -> Floats:
        """Return evidence of the average (rows, G) with its power, and with what is linear."""
        powered = self.power * log_evidence
        if self.linear is None:
            return np.asarray(powered)
        return np.asarray(powered + self.linear.log_evidence(rows[:, : self.n_columns]))

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the same for each member, likelihood and power, and their log weights.

        The least likely powers, which have a thousandth of the weight together, are left out.
        """
        logs, log_weights, least = [], [], self.least_log_weight
        log_prior = self.log_prior(rows)
        for member, log_weight, evidence in self._each(rows):
            average = member.predictor.average
            for power, log_likelihood, own in zip(
                average.powers, average.log_weights, evidence, strict=True
            ):
                joint = power.log_weights + log_likelihood + log_weight
                for node in np.flatnonzero(joint >= least):
                    one = replace(
                        power,
                        eta=power.eta[[node]],
                        epsilon=power.epsilon[[node]],
                        log_weights=np.zeros(1),
                    )
                    logs.append(self._pooled(one.log_proba(own, log_prior) - log_prior, rows))
                    log_weights.append(joint[node])
        weights = np.array(log_weights)
        # Given the row all nodes keep their weights: those of P(row | node) are already in them.
        return np.stack(logs, axis=2), weights - log_sum(weights)

    @cached_property
    def least_log_weight(self) -> float:
        """The log weight above which powers have nearly all of the weight."""
        logs = [
            power.log_weights + log_likelihood + log_weight
            for member, log_weight in zip(self.members, self.log_weights, strict=True)
            for power, log_likelihood in zip(
                member.predictor.average.powers, member.predictor.average.log_weights, strict=True
            )
        ]
        each = np.sort(np.concatenate(logs))
        return float(each[np.searchsorted(np.cumsum(np.exp(each)), _UNLIKELY)])

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return what each feature adds to `log_evidence`, shape (rows, k, G); see `explain`."""
        result = np.zeros((len(rows), self.n_columns, self.classes.size))
        terms = []
        for member, log_weight, evidence in self._each(rows):
            terms.append((member.predictor.average, log_weight, evidence))
        for member, factors in zip(
            self.members, path_contributions(terms, self.log_prior(rows)), strict=True
        ):
            by_feature = member.predictor.log_by_feature(self._rows_of(member, rows))
            # (likelihoods, rows, k, G) with (likelihoods, rows, G, G)
            result[:, member.columns] += np.einsum("lrkh,lrgh->rkg", by_feature, factors)
        result *= self.power
        if self.linear is not None:
            result += self.linear.by_feature(rows[:, : self.n_columns])
        return result + self._rest(result, rows)

    def _rest(self, found: Floats, rows: NDArray[Any]) -> Floats:
        """Return what is missing from contributions, spread in proportion to their size."""
        evidence = self.log_evidence(rows)
        missing = (evidence - evidence.mean(axis=1, keepdims=True)) - (
            found - found.mean(axis=2, keepdims=True)
        ).sum(axis=1)
        size = np.abs(found - found.mean(axis=2, keepdims=True)) + 1e-300
        return np.asarray(size / size.sum(axis=1, keepdims=True) * missing[:, np.newaxis])

    @property
    def related(self) -> Related | None:
        """What is known of which features are related, by the member with all of them."""
        return self.main.related

    def omission_probability(self, concentration: Floats) -> Floats:
        """Return P(a feature is at most at the cut | concentration), see `FittedFamilies`."""
        return self.main.omission_probability(concentration)

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return the effects of the kept features, by the member with all of them."""
        seen, effects = self.main.effects(tails)
        real, columns = self.main.real, ~self.is_binary
        if real is None:
            return seen, effects
        own_seen, own_effects = raw_effects(real, self.normal, tails)
        seen |= {name: widened(columns, values) for name, values in own_seen.items()}
        return seen, effects | {
            name: effect.widened(columns) for name, effect in own_effects.items()
        }

    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return what is known of each kept feature, in plain types and in their order.

        ``centers`` are the values whose normal scores are the means of the classes.
        """
        told = self.main.describe(scores)
        if self.normal is not None:
            real = [told[place] for place in np.flatnonzero(~self.is_binary)]
            means = np.reshape([entries["means"] for entries in real], (-1, self.classes.size))
            for entries, values in zip(real, self.normal.invert(means.T).T, strict=True):
                entries["centers"] = values.tolist()
        return told

    def _own_cells(self, told: Entries) -> dict[str, str]:
        if "centers" not in told:
            return self.main._own_cells(told)
        each = zip(self.classes, told["centers"], strict=True)
        center = "adjusted center" if self.n_covariates else "center"
        return {f"{center} in {label}": short(value) for label, value in each}

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return self.main.priors

    @property
    def marginals(self) -> Marginals:
        """How real-valued columns are modelled."""
        return "raw" if self.normal is None else "normal"

    def details(self) -> Entries:
        """Return the numbers of features that the average is over, and their probabilities."""
        sizes = (str(member.columns.size) for member in self.members)
        weights = dict(zip(sizes, self.weights.tolist(), strict=True))
        return {"k_weights": weights, "marginals": self.marginals, "power": self.power}

    def in_words(self) -> list[str]:
        """Return what was learned from cases left out, in sentences."""
        each = ", ".join(
            f"{member.columns.size} with probability {weight:.2f}"
            for member, weight in zip(self.members, self.weights, strict=True)
        )
        marginals = "as they are" if self.normal is None else "by their normal scores"
        sentences = [f"Predictions average over models of the strongest features: {each}."]
        n_indicators = np.count_nonzero(self.is_indicator)
        if n_indicators:
            sentences.append(
                f"{n_indicators} of the {self.n_columns} kept features have two values, or mostly "
                "one, and are modelled as indicators: above a cut or not."
            )
        if not self.is_binary.all():
            sentences.append(f"Real-valued features are modelled {marginals}.")
        if self.power != 1.0:
            sentences.append(f"The evidence of the average has the power {self.power:.2f}.")
        if self.linear is not None and self.linear.has_features:
            sentences.append(
                "The evidence of logistic regressions on the same features is added to it."
            )
        return sentences

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        return {
            "members": [
                {
                    "columns": member.columns,
                    **member.fitted.to_json(),
                    **member.predictor.more_entries(),
                }
                for member in self.members
            ],
            "log_weights": self.log_weights,
            "normal": normal_entry(self.normal),
            "power": self.power,
            "linear": linear_entry(self.linear),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        records = check_list(entries["members"], "members")
        if not records:
            raise Fault("members is empty.")
        last = check_record(records[-1], "members", _MEMBER, _GUARDS)
        k = len(check_list(last["families"], "families"))
        members = tuple(_parse_member(record, k) for record in records)
        if members[-1].columns.size != k:
            raise Fault("the last of members does not have all kept columns.")
        logs = check_reals(entries["log_weights"], "log_weights", len(members), -1e9, 1e-9)
        if abs(np.exp(logs).sum() - 1.0) > 1e-9:
            raise Fault(f"log_weights make a sum of {np.exp(logs).sum():.6g}, not 1.")
        n_real = int((~members[-1].fitted.is_binary).sum())
        normal = parse_normal(entries["normal"], n_real)
        power = check_real(entries.get("power", 1.0), "power", 0.0, _LARGEST_POWER)
        n_classes = members[-1].fitted.classes.size
        linear = parse_linear(entries.get("linear"), k, n_classes)
        return cls(members, logs, normal, parse_names(entries["names"], k), power, linear)


_MEMBER, _GUARDS = ("columns", *FittedFamilies.keys), ("tempering", "weighing")


def _parse_member(entry: object, k: int) -> Member:
    record = check_record(entry, "members", _MEMBER, _GUARDS)
    columns = parse_columns(record["columns"], k)
    fitted = FittedFamilies.from_json({**record, "names": None})
    if fitted.n_columns != columns.size:
        raise Fault(f"members columns has {columns.size} columns, families {fitted.n_columns}.")
    predictor = predictor_of(fitted, record)
    assert isinstance(predictor, ClassPredictor)
    return Member(columns, predictor)
