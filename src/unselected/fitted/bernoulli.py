"""The fitted naive Bayes model of binary features and classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from unselected._typing import ColumnNamer, Floats
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.fitted.base import GuardedClasses, Seen
from unselected.fitted.effects import Effect, summary
from unselected.fitted.json_checks import Entries, Fault, check_reals
from unselected.fitted.json_counts import (
    bernoulli_priors_entry,
    check_agree,
    count_event_entry,
    counts_entry,
    parse_bernoulli_model,
    parse_count_event,
    parse_counts,
)
from unselected.fitted.json_parts import (
    binarize_entry,
    classes_entry,
    parse_binarize,
    parse_classes,
    parse_names,
    quadrature_entry,
)
from unselected.fitted.json_posterior import full_posterior_entry, parse_posterior, posterior_entry
from unselected.fitted.rate_effects import rate_posteriors
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.count_terms import FEW_CASES
from unselected.numerics.quadrature import log_sum
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
    classes : array of shape (G,)
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
    optional: ClassVar[tuple[str, ...]] = ("posterior",)

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
        counts = np.array(self.model.pseudocounts) + self.counts.sizes
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
        """Return rows of the kept columns, in their order, as bits; NaN is a missing one."""
        return binarize_columns(X, self.thresholds, self.binarize, label, missing_allowed=True)

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, G)."""
        return np.asarray(self.posterior.log_joint(rows) - self.log_psi)

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class, node), (rows, G, nodes), and the nodes' log weights."""
        posterior = self.posterior
        joint = posterior.log_joint_by_node(rows) - self.log_psi[:, np.newaxis]
        return np.asarray(joint - posterior.log_weights), posterior.log_weights

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class) at the mean of the posterior, shape (rows, k, G)."""
        posterior = self.posterior
        log_weights = posterior.log_weights[:, np.newaxis]
        log_one, log_zero = (
            log_sum(logs + log_weights, axis=1)[:, posterior.vector_of].T
            for logs in (posterior.log_one, posterior.log_zero)
        )
        logs = np.where(np.asarray(rows == 1)[:, :, np.newaxis], log_one, log_zero)
        if rows.dtype.kind == "f":
            logs = np.where(np.isnan(rows)[:, :, np.newaxis], 0.0, logs)
        return logs

    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations and variances of the kept columns within classes."""
        return WithinClasses.of(rows, y, self.classes.size, spreads=False)

    @cached_property
    def laws(self) -> FeatureLaws:
        """The rates of single features in a class, and the variance in a class of mean size."""
        posterior = self.posterior
        log_rates = log_sum(posterior.log_one + posterior.log_weights[:, np.newaxis], axis=1)
        rates = np.exp(log_rates)[:, posterior.vector_of]
        n = self.counts.sizes
        variance = (n / n.sum()) @ (rates * (1.0 - rates))
        varying = np.full(self.n_columns, fill_value=True)
        return FeatureLaws(rates, variance, float(n.sum() - 1), varying)

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return int(self.counts.sizes.sum())

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        return dict(zip(self.classes.tolist(), self.counts.sizes.tolist(), strict=True))

    def omission_probability(self, concentration: Floats) -> Floats:
        """Return P(a feature is at most at the cut | concentration); 1 where there is no cut.

        Where omitted features are of several kinds it is the average over them.
        """
        if self.event.cut is None:
            return np.ones(concentration.shape)
        nothing = self.counts.take(np.array([], dtype=np.intp))
        likelihood = Likelihood(self.model.theta_rule, nothing, self.event, self.model.rates)
        return np.exp([likelihood.at(-x).log_omitted for x in np.log(concentration)])

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return counts by class, and effects: differences of rates, and of log odds.

        With two classes they are those of the second less the first, with several those of each
        class less the mean of all classes.
        """
        ones, cases = self.counts.ones.astype(np.int64), self._known
        seen: Seen = {}
        for label, i, n in zip(self.classes, ones, cases, strict=True):
            seen |= {f"ones_in_{label}": i, f"cases_in_{label}": n}
        posteriors = list(rate_posteriors(self.model, self.counts, self.posterior))
        observed = {
            "rate_difference": (ones / cases, False),
            "log_odds_ratio": (logit((ones + 0.5) / (cases + 1.0)), True),
        }
        effects = {}
        for kind, (values, logits) in observed.items():
            laws = [
                [summary(law, tails) for law in one.effects(logits=logits)] for one in posteriors
            ]
            endings, faces = self._comparisons(values)
            tables = np.array(laws).reshape(-1, len(endings), 3)[self.posterior.vector_of]
            for place, (ending, face) in enumerate(zip(endings, faces, strict=True)):
                effects[kind + ending] = Effect(face, *tables[:, place].T)
        return seen, {
            kind + ending: effects[kind + ending] for ending in endings for kind in observed
        }

    def _comparisons(self, values: Floats) -> tuple[list[str], Floats]:
        """Return the ending of the name of each effect, and the effects of values by class."""
        if self.classes.size == 2:
            return [""], values[1:] - values[:1]
        return [f"_{label}" for label in self.classes], values - values.mean(axis=0)

    @property
    def _known(self) -> NDArray[Any]:
        """The numbers of known values by class, shape (G, k)."""
        known = self.counts.known
        if known is None:
            known = np.repeat(self.counts.sizes[:, np.newaxis], self.n_columns, axis=1)
        return known.astype(np.int64)

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return ones and cases by class, and the cut above which a value is a one."""
        columns = zip(self.counts.ones.T, self._known.T, self.thresholds, strict=True)
        return [
            {"ones": [int(i) for i in ones], "cases": cases.tolist(), "cut": float(cut)}
            for ones, cases, cut in columns
        ]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        each = zip(self.classes, told["ones"], told["cases"], strict=True)
        shares = {f"ones in {label}": f"{ones}/{cases}" for label, ones, cases in each}
        return {**shares, "cut": f"{told['cut']:g}"}

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {
            "class_pseudocounts": list(self.model.pseudocounts),
            "concentration_prior": [self.model.a, self.model.b],
        }

    def details(self) -> Entries:
        """Return what is assumed of the rates, unless it is the default."""
        return {} if self.model.rates == "uniform" else {"rates": self.model.rates}

    def in_words(self) -> list[str]:
        """Return the same in lines of text."""
        return [f"{name}: {value}" for name, value in self.details().items()]

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        model, counts = self.model, self.counts
        return {
            "classes": classes_entry(self.classes),
            "counts": counts_entry(counts),
            "thresholds": np.asarray(self.thresholds, dtype=np.float64),
            "binarize": binarize_entry(self.binarize),
            "event": count_event_entry(self.event),
            "priors": bernoulli_priors_entry(model),
            "quadrature": quadrature_entry(model, {"rule": model.quadrature}),
            **self._posterior_entry(),
        }

    def _posterior_entry(self) -> Entries:
        """Return the posterior, where computing it from the file would take long or be impossible.

        A custom score is a function, which a file does not hold.
        """
        if self.event.statistic == "custom":
            return full_posterior_entry(self.posterior)
        return posterior_entry(self.posterior) if self.n_samples > FEW_CASES else {}

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        counts = parse_counts(entries["counts"])
        k, n_classes = counts.n_columns, counts.sizes.size
        thresholds = check_reals(entries["thresholds"], "thresholds", k)
        model = parse_bernoulli_model(entries["priors"], entries["quadrature"])
        event = parse_count_event(entries["event"], k)
        check_agree(counts, model, event)
        fitted = cls(
            model=model,
            counts=counts,
            event=event,
            thresholds=thresholds,
            binarize=parse_binarize(entries["binarize"]),
            classes=parse_classes(entries["classes"], n_classes),
            names=parse_names(entries["names"], k),
        )
        if "posterior" not in entries:
            if event.statistic == "custom":
                raise Fault("event statistic is custom, but there is no posterior.")
            return fitted
        return replace(fitted, given=parse_posterior(entries["posterior"], counts, fitted.log_psi))
