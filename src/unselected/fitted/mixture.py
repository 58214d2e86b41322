"""The fitted mixture of two latent groups of cases, binary features and two classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.fitted.base import short
from unselected.fitted.drawn import DrawnClasses, parse_n_draws
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_array,
    check_choice,
    check_list,
    check_record,
)
from unselected.fitted.json_counts import count_event_entry, parse_count_event
from unselected.fitted.json_parts import (
    binarize_entry,
    classes_entry,
    parse_binarize,
    parse_classes,
    parse_names,
    parse_priors,
    priors_entry,
)
from unselected.models.mixture import MixtureModel
from unselected.models.mixture_posterior import MixturePredictive
from unselected.selection.events import Event
from unselected.statistics.binarizing import Binarize, binarize_columns

_PRIORS = ("a", "b", "a0", "b0")
# Smallest log of a rate: no double that a chain draws is below.
_LEAST_LOG = -1e6


@dataclass(frozen=True, eq=False)
class FittedMixture(DrawnClasses):
    """The predictions of the draws, the kept columns' cuts, the event, and the model.

    Attributes
    ----------
    model : MixtureModel
    predictive : MixturePredictive
        The predictive distribution of a new case for each draw.
    event : Event
    thresholds : array of shape (k,)
        A value above is a one.
    binarize : {"auto", "median"}, float or None
    classes : array of shape (2,)
    names : array of shape (k,) or None
    """

    kind: ClassVar[str] = "mixture"
    keys: ClassVar[tuple[str, ...]] = (
        "classes",
        "thresholds",
        "binarize",
        "event",
        "priors",
        "adjust_labels",
        "draws",
    )

    model: MixtureModel
    predictive: MixturePredictive
    event: Event
    thresholds: Floats
    binarize: Binarize
    classes: NDArray[Any]
    names: NDArray[Any] | None

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return int(self.thresholds.size)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as bits."""
        return binarize_columns(X, self.thresholds, self.binarize, label)

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return the rates of ones in the two latent groups, and the cut."""
        each = np.exp(self.predictive.log_one).mean(axis=0).T  # of a feature in the two groups
        return [
            {"group_rates": rates.tolist(), "cut": float(cut)}
            for rates, cut in zip(each, self.thresholds, strict=True)
        ]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        rates = {f"rate in group {g}": short(rate) for g, rate in enumerate(told["group_rates"])}
        return {**rates, "cut": f"{told['cut']:g}"}

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {
            "concentration_prior": [self.model.a, self.model.b],
            "response_prior": [self.model.a0, self.model.b0],
        }

    @property
    def numbers_per_draw(self) -> int:
        """How many numbers a file holds for each draw."""
        return 2 * self.n_columns + 3

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file; many draws are thinned."""
        p, some = self.predictive, self.saved_draws
        return {
            "classes": classes_entry(self.classes),
            "thresholds": np.asarray(self.thresholds, dtype=np.float64),
            "binarize": binarize_entry(self.binarize),
            "event": count_event_entry(self.event),
            "priors": priors_entry(self.model, _PRIORS),
            "adjust_labels": self.model.adjust_labels,
            "draws": {
                "share": np.exp(p.log_share[some, 1]),
                "rates": p.rates[some],
                "log_one": p.log_one[some],
            },
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        k = len(check_list(entries["thresholds"], "thresholds"))
        adjust = check_choice(entries["adjust_labels"], "adjust_labels", ("exact", "ignore"))
        return cls(
            model=MixtureModel(**parse_priors(entries["priors"], _PRIORS), adjust_labels=adjust),
            predictive=_parse_draws(entries["draws"], k),
            event=parse_count_event(entries["event"], k),
            thresholds=check_array(entries["thresholds"], "thresholds", (k,)),
            binarize=parse_binarize(entries["binarize"]),
            classes=parse_classes(entries["classes"], 2),
            names=parse_names(entries["names"], k),
        )


def _parse_draws(entry: object, k: int) -> MixturePredictive:
    fields = check_record(entry, "draws", ("share", "rates", "log_one"))
    n = parse_n_draws(fields["share"], "draws share")
    share = check_array(fields["share"], "draws share", (n,), 0.0, 1.0)
    rates = check_array(fields["rates"], "draws rates", (n, 2), 0.0, 1.0)
    for values, what in ((share, "draws share"), (rates, "draws rates")):
        if not np.all((values > 0.0) & (values < 1.0)):
            raise Fault(f"{what} has a number that is no probability above 0 and below 1.")
    log_one = check_array(fields["log_one"], "draws log_one", (n, 2, k), _LEAST_LOG, -1e-300)
    log_zero = np.log(-np.expm1(log_one))
    return MixturePredictive(
        np.log(np.stack([1.0 - share, share], axis=1)), rates, log_one, log_zero
    )
