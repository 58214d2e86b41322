"""The fitted naive Bayes model of classes and features that are counted: bits or genotypes."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from unselected._typing import Floats
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.fitted.base import GuardedClasses, Seen
from unselected.fitted.effects import Effect, summary
from unselected.fitted.json_checks import Entries, Fault
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
    classes_entry,
    parse_classes,
    parse_names,
    quadrature_entry,
)
from unselected.fitted.json_posterior import full_posterior_entry, parse_posterior, posterior_entry
from unselected.fitted.rate_effects import rate_posteriors
from unselected.models.bernoulli import BernoulliModel
from unselected.models.bernoulli_likelihood import Likelihood
from unselected.models.bernoulli_posterior import BernoulliPosterior, CountPosterior
from unselected.models.count_terms import FEW_CASES
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts


class CountWords(NamedTuple):
    """What is counted of a feature, and of how many, in the words of tables."""

    ones: str
    known: str


class FittedCounts(GuardedClasses):
    """The kept columns' counts, the event, and the model.

    Attributes
    ----------
    model : BernoulliModel
    counts : ClassCounts
        Of the kept columns.
    event : Event
    classes : array of shape (G,)
    names : array of shape (k,) or None
    given : CountPosterior or None
        The posterior, where it is known already.
    counted : CountWords
    """

    keys: ClassVar[tuple[str, ...]] = ("classes", "counts", "event", "priors", "quadrature")
    optional: ClassVar[tuple[str, ...]] = ("posterior",)
    counted: ClassVar[CountWords]
    # The number of draws that a value is the sum of; that of the model.
    ploidy: ClassVar[int]

    model: BernoulliModel
    counts: ClassCounts
    event: Event
    classes: NDArray[Any]
    names: NDArray[Any] | None
    given: CountPosterior | None

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return self.counts.n_columns

    @cached_property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        return self.model.log_psi(self.counts.sizes)

    @cached_property
    def posterior(self) -> BernoulliPosterior:
        """The posterior of alpha, computed when first needed."""
        given = self.given
        return self.model.condition(self.counts, self.event) if given is None else given.made()

    @property
    def _predictive(self) -> CountPosterior:
        return self.posterior if self.given is None else self.given

    @property
    def nodes(self) -> BernoulliPosterior:
        """The posterior of the concentration as weighted nodes."""
        return self.posterior

    @property
    def event_error(self) -> float:
        """About the standard error of the log probability of the event; 0 where it is exact."""
        # That of two classes always is, so that nothing needs to be integrated to know.
        return 0.0 if self.counts.sizes.size == 2 else self.posterior.event_error

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, G)."""
        return np.asarray(self._predictive.log_joint(rows) - self.log_psi)

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class, node), (rows, G, nodes), and the nodes' log weights."""
        posterior = self.posterior
        joint = posterior.log_joint_by_node(rows) - self.log_psi[:, np.newaxis]
        return np.asarray(joint - posterior.log_weights), posterior.log_weights

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class) at the mean of the posterior, shape (rows, k, G)."""
        tables = self._log_values.transpose(0, 2, 1)
        known = ~np.isnan(rows) if rows.dtype.kind == "f" else np.ones(rows.shape, dtype=bool)
        values = np.where(known, rows, 0).astype(np.intp)
        logs = tables[values, np.arange(self.n_columns)]
        return np.where(known[:, :, np.newaxis], logs, 0.0)

    @cached_property
    def _log_values(self) -> Floats:
        """Log P(value | class) of the kept columns, averaged over nodes, (values, G, k)."""
        posterior = self.posterior
        logs = log_sum(posterior.log_values + posterior.log_weights[:, np.newaxis], axis=2)
        return np.asarray(logs[..., posterior.vector_of])

    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations and variances of the kept columns within classes."""
        return WithinClasses.of(rows, y, self.classes.size, spreads=False)

    @cached_property
    def laws(self) -> FeatureLaws:
        """The means of single features in a class, and the variance in a class of mean size."""
        shares, values = self._predictive.mean_values, np.arange(1.0, self.ploidy + 1.0)
        by_value = values[:, np.newaxis, np.newaxis]
        means = (by_value * shares[1:]).sum(axis=0)
        squares = (by_value**2 * shares[1:]).sum(axis=0)
        n = self.counts.sizes
        variance = (n / n.sum()) @ (squares - means**2)
        varying = np.full(self.n_columns, fill_value=True)
        return FeatureLaws(means, variance, float(self.n_samples - 1), varying)

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return int(self.counts.sizes.sum()) // self.ploidy

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        sizes = self.counts.sizes // self.ploidy
        return dict(zip(self.classes.tolist(), sizes.tolist(), strict=True))

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
        ones, known = self.counts.ones.astype(np.int64), self._known
        seen: Seen = {}
        for label, i, n in zip(self.classes, ones, known, strict=True):
            seen |= {f"{self.counted.ones}_in_{label}": i, f"{self.counted.known}_in_{label}": n}
        posteriors = list(rate_posteriors(self.model, self.counts, self.posterior))
        observed = {
            "rate_difference": (ones / known, False),
            "log_odds_ratio": (logit((ones + 0.5) / (known + 1.0)), True),
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
        return self.counts.known_values.astype(np.int64)

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return counts by class, in plain types."""
        columns = zip(self.counts.ones.T, self._known.T, strict=True)
        return [
            {self.counted.ones: ones.tolist(), self.counted.known: known.tolist()}
            for ones, known in columns
        ]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        each = zip(self.classes, told[self.counted.ones], told[self.counted.known], strict=True)
        return {f"{self.counted.ones} in {label}": f"{ones}/{n}" for label, ones, n in each}

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
        """Return the same in lines of text, and the error of the event where there is one."""
        lines = [f"{name}: {value}" for name, value in self.details().items()]
        if self.event_error:
            error = f"{self.event_error:.2g}"
            lines.append(f"log probability of the selection: smoothed, with an error of {error}")
        return lines

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        model = self.model
        return {
            "classes": classes_entry(self.classes),
            "counts": counts_entry(self.counts),
            **self._more_entries(),
            "event": count_event_entry(self.event),
            "priors": bernoulli_priors_entry(model),
            "quadrature": quadrature_entry(model, {"rule": model.quadrature}),
            **self._posterior_entry(),
        }

    def _more_entries(self) -> Entries:
        """Return the entries that only this kind of columns has."""
        return {}

    def _posterior_entry(self) -> Entries:
        """Return the posterior, where computing it from the file would take long or be impossible.

        A custom score is a function, which a file does not hold.
        """
        if self.event.statistic == "custom":
            return full_posterior_entry(self.posterior)
        many = self.counts.sizes.sum() > FEW_CASES or self.event_error > 0.0
        return posterior_entry(self.posterior) if many else {}

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        counts = parse_counts(entries["counts"])
        k, n_classes = counts.n_columns, counts.sizes.size
        model = parse_bernoulli_model(entries["priors"], entries["quadrature"])
        event = parse_count_event(entries["event"], k)
        check_agree(counts, model, event)
        fitted = cls._of(
            entries,
            model=replace(model, ploidy=cls.ploidy),
            counts=counts,
            event=event,
            classes=parse_classes(entries["classes"], n_classes),
            names=parse_names(entries["names"], k),
        )
        if "posterior" not in entries:
            if event.statistic == "custom":
                raise Fault("event statistic is custom, but there is no posterior.")
            return fitted
        given = parse_posterior(entries["posterior"], counts, fitted.log_psi, cls.ploidy)
        return fitted.with_posterior(given)

    @classmethod
    @abstractmethod
    def _of(cls, entries: Entries, **parts: Any) -> Self:
        """Return a model from these parts, and from the entries of `_more_entries`."""

    @abstractmethod
    def with_posterior(self, given: BernoulliPosterior) -> Self:
        """Return the same with a posterior that is known already."""
