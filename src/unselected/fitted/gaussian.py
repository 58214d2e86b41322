"""The fitted naive Bayes model of real-valued features and two or more classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unselected._typing import Floats
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.fitted.base import ExactRealFitted, GuardedClasses, Seen, short
from unselected.fitted.effects import Effect, ratio, summary
from unselected.fitted.json_checks import Entries, check_list
from unselected.fitted.json_moments import parse_class_moments
from unselected.fitted.json_parts import (
    classes_entry,
    gaussian_model_entries,
    parse_classes,
    parse_gaussian_model,
    parse_names,
    parse_prior,
)
from unselected.fitted.json_scored import class_event_entry, parse_class_event
from unselected.fitted.standardized_effects import standardized_effect
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import RealEvent
from unselected.statistics.moments import ClassMoments


@dataclass(frozen=True, eq=False)
class FittedGaussian(ExactRealFitted, GuardedClasses):
    """The kept columns' moments by class, the event, and the model.

    Attributes
    ----------
    model : GaussianModel
    moments : ClassMoments
        Of the kept columns.
    event : RealEvent
    pseudocounts : array of shape (G,)
    classes : array of shape (G,)
    names : array of shape (k,) or None
    """

    kind: ClassVar[str] = "gaussian"
    keys: ClassVar[tuple[str, ...]] = (
        "classes",
        "pseudocounts",
        "moments",
        "event",
        "priors",
        "quadrature",
    )

    model: GaussianModel
    moments: ClassMoments
    event: RealEvent
    pseudocounts: Floats
    classes: NDArray[Any]
    names: NDArray[Any] | None

    @cached_property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        counts = self.pseudocounts + self.moments.sizes
        return np.asarray(np.log(counts / counts.sum()))

    @property
    def log_class_evidence(self) -> float:
        """The log probability of the training classes."""
        f, n = self.pseudocounts, self.moments.sizes
        logs = gammaln(f + n) - gammaln(f)
        return float(logs.sum() + gammaln(f.sum()) - gammaln(f.sum() + n.sum()))

    @cached_property
    def posterior(self) -> GaussianPosterior:
        """The posterior of tau, computed when first needed."""
        return self.model.condition(self.moments.contrasts(), self.event)

    @property
    def nodes(self) -> GaussianPosterior:
        """The posterior of the concentration as weighted nodes."""
        return self.posterior

    @property
    def _codes(self) -> Floats:
        return np.eye(self.classes.size)

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, G)."""
        logs = [self.posterior.log_predictive(code, rows) for code in self._codes]
        return np.stack(logs, axis=1)

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class, node), (rows, G, nodes), and the nodes' log weights."""
        logs = [self.posterior.log_densities(code, rows) for code in self._codes]
        return np.stack(logs, axis=1), self.posterior.log_weights

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class) at the mean of the posterior, (rows, k, G); 0 for constants."""
        return log_of_features(self.posterior, self._codes, rows)

    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations and variances of the kept columns within classes."""
        return WithinClasses.of(rows, y, self.classes.size, spreads=True)

    @cached_property
    def laws(self) -> FeatureLaws:
        """Where single features lie in each class, and the variance in a class of mean size."""
        return laws_of(self.posterior, self._codes)

    @property
    def means(self) -> Floats:
        """The means of the classes, shape (G, k)."""
        return np.asarray(self.moments.center + self.moments.offset)

    @property
    def known(self) -> Floats:
        """Known values of each class, shape (G, k)."""
        return np.broadcast_to(self.moments.n, self.means.shape)

    @property
    def _deviation(self) -> Floats:
        """The deviations of the features within classes, shape (k,)."""
        n = self.known.sum(axis=0)
        return np.asarray(np.sqrt(self.moments.within / (n - self.classes.size)))

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return int(self.moments.sizes.sum())

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        return dict(zip(self.classes.tolist(), self.moments.sizes.tolist(), strict=True))

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return means by class, and their differences in units of the deviation within classes."""
        means = self.means
        seen = {f"mean_in_{label}": mean for label, mean in zip(self.classes, means, strict=True)}
        effects = {}
        for name, direction in class_directions(self.classes).items():
            law = standardized_effect(self.posterior, direction)
            naive = ratio(direction @ self.moments.offset, self._deviation)
            effects[name] = Effect(naive, *summary(law, tails).T)
        return seen, effects

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return means and known values by class, and the deviation within classes."""
        means, deviation, n = self.means, self._deviation, self.known
        return [
            {
                "means": means[:, column].tolist(),
                "cases": n[:, column].tolist(),
                "deviation": float(deviation[column]),
            }
            for column in range(self.n_columns)
        ]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        each = zip(self.classes, told["means"], strict=True)
        means = {f"mean in {label}": short(mean) for label, mean in each}
        return {**means, "deviation": short(told["deviation"])}

    def in_words(self) -> list[str]:
        """Return how precisely the probability of the event is known, where it is simulated."""
        if not self.event_error:
            return []
        return [
            "log probability of the selection: simulated, with a standard error of "
            f"{self.event_error:.2g}"
        ]

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {
            "class_pseudocounts": self.pseudocounts.tolist(),
            "concentration_prior": [self.model.a, self.model.b],
            "variance_shrinkage": self.model.shrinkage,
            **({} if self.model.variance is None else {"variance": self.model.variance}),
        }

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        names = ("sizes", "n", "center", "offset", "within")
        return {
            "classes": classes_entry(self.classes),
            "pseudocounts": np.asarray(self.pseudocounts, dtype=np.float64),
            "moments": {name: getattr(self.moments, name) for name in names},
            **gaussian_model_entries(self.model, self.event),
            "event": class_event_entry(self.event),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        moments = parse_class_moments(entries["moments"])
        G = moments.sizes.size
        pseudocounts = check_list(entries["pseudocounts"], "pseudocounts", G)
        return cls(
            model=parse_gaussian_model(entries["priors"], entries["quadrature"]),
            moments=moments,
            event=parse_class_event(entries["event"], "|COR|" if G == 2 else "F", G - 1),
            pseudocounts=np.array([parse_prior(count, "pseudocounts") for count in pseudocounts]),
            classes=parse_classes(entries["classes"], G),
            names=parse_names(entries["names"], moments.size),
        )


def class_directions(classes: NDArray[Any]) -> dict[str, Floats]:
    """Return the names of the effects, and the combinations of class means that they are."""
    G = classes.size
    if G == 2:
        return {"mean_difference": np.array([-1.0, 1.0])}
    each = zip(classes, np.eye(G) - 1.0 / G, strict=True)
    return {f"mean_difference_{label}": direction for label, direction in each}


def log_of_features(posterior: GaussianPosterior, codes: Floats, rows: Floats) -> Floats:
    """Return log P(x_j | code) at the mean of the posterior, (rows, k, codes); 0 for constants."""
    varying = posterior.contrasts.varying
    nodes, weights = posterior.of_features()
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    logs = np.zeros((len(rows), varying.size, len(codes)))
    for g, code in enumerate(codes):
        law = nodes.law(code)
        for j, by_node in zip(np.flatnonzero(varying), law.by_feature(rows), strict=True):
            mixed = log_sum(by_node + log_weights[j], axis=1)
            logs[:, j, g] = np.where(np.isnan(rows[:, j]), 0.0, mixed)
    return logs


def laws_of(posterior: GaussianPosterior, codes: Floats) -> FeatureLaws:
    """Return where single features lie given each code, and their mean variance."""
    nodes, weights = posterior.of_features()
    laws = [nodes.law(code) for code in codes]
    varying = laws[0].varying
    location = np.zeros((len(codes), varying.size))
    variance = np.ones(varying.size)
    location[:, varying] = [np.sum(law.loc * weights[varying], axis=1) for law in laws]
    squares = [np.sum(law.squares * weights[varying], axis=1) / law.df for law in laws]
    variance[varying] = np.mean(squares, axis=0)
    df = float(np.mean(laws[0].df)) if varying.any() else 1.0
    return FeatureLaws(location, variance, df, varying)
