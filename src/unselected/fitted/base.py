"""The contract of a fitted model, which predicts from the kept columns.

There is one class per model. All of them need only numpy and scipy. None depends on whether it came
from an estimator, from a file, or from a fit without some of the cases.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Bools, ColumnNamer, Floats
from unselected.columns.blocks import check_finite
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.fitted.effects import Effect
from unselected.fitted.json_checks import Entries
from unselected.models.fractions import FractionSummary, summarize_fraction
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Statistic

Seen = dict[str, NDArray[Any]]


class Related(NamedTuple):
    """Results of two groups of features: the related fraction, and P(related) of kept features."""

    fraction: FractionSummary
    probability: Floats


class GivenCovariates(NamedTuple):
    """Features of rows as they would be with the mean covariates, and how uncertain that is.

    Attributes
    ----------
    values : array of shape (rows, k)
    scale : array of shape (rows,) or None
        Factor of the deviations of all features; None without covariates.
    """

    values: Floats
    scale: Floats | None


# Entries of a feature's description that do not come from the model.
_NOT_OWN = ("name", "score", "related_probability")
# The header of the probability that a feature is related to the response.
RELATED = "related"


class Fitted(ABC):
    """A model conditioned on the kept columns and on the event.

    Attributes
    ----------
    kind : str
        Its name in a model file.
    keys, optional : tuples of str
        The entries of a model file that are its own: those that it must have, and may have.
    event : Event or RealEvent
        The event that the model is conditioned on; empty for the uncorrected posterior.
    names : array of shape (k,) or None
    """

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    optional: ClassVar[tuple[str, ...]] = ()
    event: Any
    names: NDArray[Any] | None

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The number of kept columns."""

    @property
    def is_indicator(self) -> Bools:
        """Of which kept columns only matters whether a value is above a cut, not how far."""
        return np.zeros(self.n_columns, dtype=bool)

    @property
    def n_covariates(self) -> int:
        """The number of coded covariates that rows have behind the kept columns."""
        return 0

    @property
    def statistic(self) -> Statistic:
        """The score of the features."""
        statistic: Statistic = self.event.statistic
        return statistic

    @abstractmethod
    def rows(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as the model sees them."""

    @property
    @abstractmethod
    def numbers(self) -> list[Floats]:
        """Arrays of the posterior, which are finite if the model's numbers are consistent."""

    @property
    def related(self) -> Related | None:
        """What is known of which features are related; None where all are."""
        return None

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:  # noqa: ARG002
        """Return what was observed of each kept feature, and its effects with intervals."""
        raise TypeError(
            f"a {self.kind} model has no effects of single features: its posterior is of latent "
            "variables. Fit a naive Bayes model for effects."
        )

    @abstractmethod
    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return what is known of each kept feature, in plain types and in their order."""

    def cells(self, feature: Entries) -> dict[str, str]:
        """Return the description of a feature as the cells of a table, by their headers."""
        told = {name: value for name, value in feature.items() if name not in _NOT_OWN}
        cells, related = self._own_cells(told), feature.get("related_probability")
        return cells if related is None else {**cells, RELATED: f"{related:.3f}"}

    def _own_cells(self, told: Entries) -> dict[str, str]:
        return {name: short(value) for name, value in told.items()}

    @property
    @abstractmethod
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""

    def details(self) -> Entries:
        """Return what is worth knowing of this model besides its features and priors."""
        return {}

    def in_words(self) -> list[str]:
        """Return the same in lines of text."""
        return []

    def remarks_on_saving(self) -> list[str]:
        """Return remarks for the user on a model file of this model."""
        return []

    @abstractmethod
    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""

    @classmethod
    @abstractmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""


class ExactFitted(Fitted):
    """A fitted model with an exact posterior."""

    @property
    @abstractmethod
    def nodes(self) -> Any:
        """The posterior of the concentration as weighted nodes."""

    @property
    def numbers(self) -> list[Floats]:
        """Arrays of the posterior, which are finite if the model's numbers are consistent."""
        return [self.nodes.log_alpha, self.nodes.log_weights]

    @property
    def related(self) -> Related | None:
        """What is known of which features are related; None where all are."""
        posterior = self.nodes
        if posterior.fractions is None:
            return None
        fraction = summarize_fraction(posterior.fractions, posterior.log_weights)
        return Related(fraction, posterior.related)

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """The number of training cases."""

    @property
    def class_sizes(self) -> dict[Any, int] | None:
        """The numbers of training cases by class; None where there are none."""
        return None

    @abstractmethod
    def omission_probability(self, concentration: Floats) -> Floats:
        """Return P(a feature without missing values is at most at the cut | concentration)."""

    @abstractmethod
    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return what was seen of each kept feature, and its effects with intervals."""


class ExactRealFitted(ExactFitted):
    """A fitted model of real-valued features with an exact posterior.

    Attributes
    ----------
    moments : Moments
        Of the kept columns.
    event : RealEvent
    """

    moments: Any
    event: RealEvent

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return int(self.moments.size)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns, in their order, as numbers; NaN is missing."""
        return real_rows(X, label, missing_allowed=True)

    def omission_probability(self, concentration: Floats) -> Floats:
        """Return P(a feature without missing values is at most at the cut | concentration)."""
        event = self.event.patterns(slice(1))
        return np.exp(log_real_omission(1.0 / concentration, event)[:, 0])

    @property
    def event_error(self) -> float:
        """The standard error of the log probability of the event; 0 where it is not simulated.

        It is the root mean square over the posterior of tau.
        """
        law, n_omitted = self.event.law, self.event.n_omitted
        if law is None or not n_omitted:
            return 0.0
        posterior = self.nodes
        errors = law.error(np.exp(-posterior.log_alpha))
        if posterior.fractions is not None:  # a part of the features has tau = 0
            related = np.exp(posterior.fractions.log_related)
            errors = related * errors + (1.0 - related) * law.error(np.zeros(1))
        return float(n_omitted * np.sqrt(np.sum(np.exp(posterior.log_weights) * errors**2)))


class FittedClasses(Fitted):
    """A model of classes.

    Attributes
    ----------
    classes : array of shape (G,)
    """

    classes: NDArray[Any]

    @property
    @abstractmethod
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""

    def log_prior(self, rows: NDArray[Any]) -> Floats:  # noqa: ARG002
        """Return the log class probabilities of rows before their features are seen.

        The shape is (G,), or (rows, G) where they depend on covariates.
        """
        return self.log_psi

    def given_covariates(self, rows: NDArray[Any]) -> GivenCovariates:
        """Return the features of rows as they would be with the mean covariates."""
        return GivenCovariates(np.asarray(rows, dtype=np.float64), None)

    @abstractmethod
    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class), shape (rows, classes), for rows as the model sees them."""

    @abstractmethod
    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return log P(row | class, node), (rows, classes, nodes), and the nodes' log weights."""

    @property
    def laws(self) -> FeatureLaws:
        """What the posterior says of single features."""
        raise TypeError(f"a {self.kind} model has no guard against dependence.")

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:  # noqa: ARG002
        """Return log P(x_j | class) at the mean of the posterior, shape (rows, k, classes)."""
        raise TypeError(f"a {self.kind} model does not add up over features.")


class GuardedClasses(FittedClasses, ExactFitted):
    """A naive Bayes model of classes, which can have a guard against dependence."""

    @property
    @abstractmethod
    def laws(self) -> FeatureLaws:
        """What the posterior says of single features."""

    @abstractmethod
    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class) at the mean of the posterior, shape (rows, k, classes)."""

    def residuals(self, rows: NDArray[Any], y: NDArray[np.intp]) -> NDArray[Any]:  # noqa: ARG002
        """Return the kept columns of training rows, without what covariates say of them."""
        return rows

    @abstractmethod
    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations and variances of the kept columns within classes."""


class ResponsePosterior(Protocol):
    """Predictive distributions of a real response, given rows of the kept features."""

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions."""

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return their quantiles, shape (rows, levels)."""

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive densities of responses."""

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive distribution functions at y."""


class FittedResponse(Fitted):
    """A model of a real response."""

    @property
    @abstractmethod
    def posterior(self) -> ResponsePosterior:
        """The predictive distributions of the response."""


def real_rows(X: NDArray[Any], label: ColumnNamer, *, missing_allowed: bool) -> Floats:
    """Return rows as doubles; infinities are an error, and NaN where no value may be missing."""
    check_finite(X, label, missing_allowed=missing_allowed)
    return np.asarray(X, dtype=np.float64)


def short(value: float) -> str:
    """Return a number with four digits.

    >>> short(0.123456)
    '0.1235'
    """
    return f"{value:.4g}"
