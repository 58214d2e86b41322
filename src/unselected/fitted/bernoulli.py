"""The fitted naive Bayes model of binary features and two classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.fitted.base import GuardedClasses, Seen
from unselected.fitted.effects import Effect, summary
from unselected.fitted.json_checks import Entries, check_reals
from unselected.fitted.json_parts import (
    binarize_entry,
    classes_entry,
    count_event_entry,
    parse_bernoulli_model,
    parse_binarize,
    parse_classes,
    parse_count_event,
    parse_counts,
    parse_names,
    priors_entry,
)
from unselected.fitted.rate_effects import pair_posteriors
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import log_sum
from unselected.omission.binary import omission_probability
from unselected.selection.events import Event
from unselected.statistics.binarizing import Binarize, binarize_columns
from unselected.statistics.counts import ClassCounts


@dataclass(frozen=True, eq=False)
class FittedBernoulli(GuardedClasses):
    """The kept columns' counts and cuts, the event, and the model.

    Attributes
    ----------
    model : BernoulliModel
    counts : ClassCounts
        Of the kept columns.
    event : Event
    thresholds : array of shape (k,)
        A value above is a one.
    binarize : {"auto", "median"}, float or None
    classes : array of shape (2,)
    names : array of shape (k,) or None
    given : BernoulliPosterior or None
        The posterior, where it is known already.
    """

    kind: ClassVar[str] = "bernoulli"
    keys: ClassVar[tuple[str, ...]] = (
        "classes",
        "counts",
        "thresholds",
        "binarize",
        "event",
        "priors",
        "quadrature",
    )

    model: BernoulliModel
    counts: ClassCounts
    event: Event
    thresholds: Floats
    binarize: Binarize
    classes: NDArray[Any]
    names: NDArray[Any] | None
    given: BernoulliPosterior | None = field(default=None, repr=False)

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return int(self.thresholds.size)

    @cached_property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        counts = np.array([self.model.f0 + self.counts.n0, self.model.f1 + self.counts.n1])
        return np.asarray(np.log(counts / counts.sum()))

    @cached_property
    def posterior(self) -> BernoulliPosterior:
        """The posterior of alpha, computed when first needed."""
        return self.model.condition(self.counts, self.event) if self.given is None else self.given

    @property
    def nodes(self) -> BernoulliPosterior:
        """The posterior of the concentration as weighted nodes."""
        return self.posterior

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as bits."""
        return binarize_columns(X, self.thresholds, self.binarize, label)

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, 2)."""
        return np.asarray(self.posterior.log_joint(rows) - self.log_psi)

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class, node), (rows, 2, nodes), and the nodes' log weights."""
        posterior = self.posterior
        joint = posterior.log_joint_by_node(rows) - self.log_psi[:, np.newaxis]
        return np.asarray(joint - posterior.log_weights), posterior.log_weights

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class) at the mean of the posterior, shape (rows, k, 2)."""
        posterior = self.posterior
        log_weights = posterior.log_weights[:, np.newaxis]
        log_one, log_zero = (
            log_sum(logs + log_weights, axis=1)[:, posterior.pair_of].T
            for logs in (posterior.log_one, posterior.log_zero)
        )
        return np.where(rows[:, :, np.newaxis], log_one, log_zero)

    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations and variances of the kept columns within classes."""
        return WithinClasses.of(rows, y, 2, spreads=False)

    @cached_property
    def laws(self) -> FeatureLaws:
        """The rates of single features in a class, and the variance in a class of mean size."""
        posterior = self.posterior
        log_rates = log_sum(posterior.log_one + posterior.log_weights[:, np.newaxis], axis=1)
        rates = np.exp(log_rates)[:, posterior.pair_of]
        n = np.array([self.counts.n0, self.counts.n1])
        variance = (n / n.sum()) @ (rates * (1.0 - rates))
        varying = np.full(self.n_columns, fill_value=True)
        return FeatureLaws(rates, variance, float(n.sum() - 1), varying)

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return self.counts.n0 + self.counts.n1

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        return dict(zip(self.classes.tolist(), (self.counts.n0, self.counts.n1), strict=True))

    def omission_probability(self, concentration: Floats) -> Floats:
        """Return P(a feature is at most at the cut | concentration); 1 where there is no cut."""
        if self.event.cut is None:
            return np.ones(concentration.shape)
        law = CountLaw(self.counts.n0, self.counts.n1, *self.model.theta_rule(self.n_samples))
        return omission_probability(law, self.event.cut, 1.0 / concentration)

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return counts by class, differences of rates and log odds ratios."""
        counts, pair_of = self.counts, self.posterior.pair_of
        ones, cases = (counts.I0, counts.I1), (counts.n0, counts.n1)
        seen: Seen = {}
        for label, i, n in zip(self.classes, ones, cases, strict=True):
            seen |= {f"ones_in_{label}": np.asarray(i, dtype=np.int64)}
            seen |= {f"cases_in_{label}": np.full(i.size, n)}
        rates = [i / n for i, n in zip(ones, cases, strict=True)]
        odds = [np.log((i + 0.5) / (n - i + 0.5)) for i, n in zip(ones, cases, strict=True)]
        laws = [
            (summary(pair.difference(), tails), summary(pair.log_odds_ratio(), tails))
            for pair in pair_posteriors(self.model, counts, self.posterior)
        ]
        tables = np.array(laws).reshape(-1, 2, 3)[pair_of]
        return seen, {
            "rate_difference": Effect(rates[1] - rates[0], *tables[:, 0].T),
            "log_odds_ratio": Effect(odds[1] - odds[0], *tables[:, 1].T),
        }

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return ones and cases by class, and the cut above which a value is a one."""
        counts = self.counts
        return [
            {"ones": [int(I0), int(I1)], "cases": [counts.n0, counts.n1], "cut": float(cut)}
            for I0, I1, cut in zip(counts.I0, counts.I1, self.thresholds, strict=True)
        ]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        each = zip(self.classes, told["ones"], told["cases"], strict=True)
        shares = {f"ones in {label}": f"{ones}/{cases}" for label, ones, cases in each}
        return {**shares, "cut": f"{told['cut']:g}"}

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {
            "class_pseudocounts": [self.model.f0, self.model.f1],
            "concentration_prior": [self.model.a, self.model.b],
        }

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        model, counts = self.model, self.counts
        return {
            "classes": classes_entry(self.classes),
            "counts": {"I0": counts.I0, "I1": counts.I1, "n0": counts.n0, "n1": counts.n1},
            "thresholds": np.asarray(self.thresholds, dtype=np.float64),
            "binarize": binarize_entry(self.binarize),
            "event": count_event_entry(self.event),
            "priors": priors_entry(model, ("f0", "f1", "a", "b")),
            "quadrature": {"rule": model.quadrature, "refinement": model.refinement},
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        counts = parse_counts(entries["counts"])
        k = counts.I0.size
        thresholds = check_reals(entries["thresholds"], "thresholds", k)
        return cls(
            model=parse_bernoulli_model(entries["priors"], entries["quadrature"]),
            counts=counts,
            event=parse_count_event(entries["event"], k),
            thresholds=np.array(thresholds, dtype=np.float64),
            binarize=parse_binarize(entries["binarize"]),
            classes=parse_classes(entries["classes"], 2),
            names=parse_names(entries["names"], k),
        )
