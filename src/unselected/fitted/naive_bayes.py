"""All that is left after selection: what it takes to predict from the kept columns alone."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from unselected._typing import ColumnNamer, Floats
from unselected.columns.blocks import check_finite
from unselected.dependence.averaging import Weighing
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.dependence.power import Tempering
from unselected.models.batch import condition_all
from unselected.models.bernoulli import BernoulliModel, BernoulliPosterior
from unselected.models.gaussian import GaussianModel, GaussianPosterior
from unselected.models.gaussian_two_groups import (
    TwoGroupPosterior,
    TwoGroupRegression,
    condition_two_groups,
)
from unselected.models.regression import RegressionPosterior
from unselected.models.two_groups import FractionSummary, summarize_fraction
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import Event, RealEvent
from unselected.statistics.binarizing import Binarize, binarize_columns
from unselected.statistics.counts import ClassCounts
from unselected.statistics.moments import ClassMoments, Contrasts, LineMoments

# What is learned, from cases left out, of what the evidence is worth.
Worth = Tempering | Weighing


class Related(NamedTuple):
    """What two groups of features say: of the fraction that is related, and of each kept one."""

    fraction: FractionSummary
    probability: Floats


class KeptOfClasses(ABC):
    """What the models of classes have in common once they are fitted."""

    tempering: Worth | None
    within: WithinClasses | None

    @property
    @abstractmethod
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""

    @property
    @abstractmethod
    def laws(self) -> FeatureLaws:
        """What the posterior says of single features."""

    @abstractmethod
    def as_modelled(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as the model sees them."""

    @abstractmethod
    def own_log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(class, row) by the model, for rows as it sees them."""

    def log_joint(
        self, X: NDArray[Any], label: ColumnNamer, log_prior: Floats | None = None
    ) -> Floats:
        """Return log P(class, row), or log P(class | row) where the worth of evidence was learned.

        Parameters
        ----------
        X : array of shape (n, k)
            The kept columns, in their order.
        label : callable
            Names a column for errors.
        log_prior : array of shape (G,), default=None
            Logs of class probabilities to be used in the place of those learned.
        """
        rows, log_psi = self.as_modelled(X, label), self.log_psi
        if self.tempering is None:
            joint = self.own_log_joint(rows)
            return joint if log_prior is None else np.asarray(joint + (log_prior - log_psi))
        prior = log_psi if log_prior is None else log_prior
        evidence = self.log_evidence(rows)
        if isinstance(self.tempering, Weighing):
            return self.tempering.log_proba(evidence, prior)
        return self.tempering.log_proba(evidence[0], prior)

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(row | class) by the model and by other likelihoods, if there are any.

        Shape (likelihoods, rows, classes), for rows as the model sees them.
        """
        own = (self.own_log_joint(rows) - self.log_psi)[np.newaxis]
        if self.within is None:
            return own
        others = self.within.log_evidence(np.asarray(rows, dtype=np.float64), self.laws)
        return np.concatenate([own, others])


@dataclass(frozen=True, eq=False)
class KeptBernoulli(KeptOfClasses):
    """The kept columns' counts and cuts, the event, and the model; numpy and scipy are enough.

    Attributes
    ----------
    model : BernoulliModel
    counts : ClassCounts
        Of the kept columns.
    event : Event
        The one conditioned on: empty where there is no correction.
    thresholds : array of shape (k,)
    binarize : {"auto", "median"}, float or None
    classes : array of shape (2,)
    names : array of shape (k,) or None
    tempering : Tempering, Weighing or None
        What the evidence of the features is worth, where that was learned.
    within : WithinClasses or None
        How the features vary together, where that is allowed for.
    """

    model: BernoulliModel
    counts: ClassCounts
    event: Event
    thresholds: Floats
    binarize: Binarize
    classes: NDArray[Any]
    names: NDArray[Any] | None
    tempering: Worth | None = None
    within: WithinClasses | None = None

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return int(self.thresholds.size)

    @property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        counts = np.array([self.model.f0 + self.counts.n0, self.model.f1 + self.counts.n1])
        return np.asarray(np.log(counts / counts.sum()))

    @cached_property
    def posterior(self) -> BernoulliPosterior:
        """The posterior of alpha, computed when first needed."""
        return self.model.condition(self.counts, self.event)

    @classmethod
    def with_posteriors(cls, kept: "list[KeptBernoulli]") -> "list[KeptBernoulli]":
        """Return the same, their posteriors computed together: faster where they are alike."""
        each = [(one.counts, one.event) for one in kept]
        models = {one.model for one in kept}
        if len(models) == 1:
            for one, posterior in zip(kept, condition_all(models.pop(), each), strict=True):
                vars(one)["posterior"] = posterior  # where the cached property looks for it
        return kept

    @property
    def related(self) -> Related | None:
        """What is known of which features are related; None where all are."""
        return _related(self.posterior) if self.model.least_fraction is not None else None

    def as_modelled(self, X: NDArray[Any], label: ColumnNamer) -> NDArray[Any]:
        """Return rows of the kept columns, in their order, as bits."""
        return binarize_columns(X, self.thresholds, self.binarize, label)

    def log_joint_by_node(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return log P(class, row, node), shape (rows, classes, nodes)."""
        return self.posterior.log_joint_by_node(self.as_modelled(X, label))

    def own_log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(class, row) by the model, for rows as it sees them."""
        return self.posterior.log_joint(rows)

    def with_within(
        self, X: NDArray[Any], y: NDArray[np.intp], label: ColumnNamer
    ) -> "KeptBernoulli":
        """Return the same with how the kept columns of the training cases vary together."""
        bits = self.as_modelled(X, label)
        return replace(self, within=WithinClasses.of(bits, y, 2, spreads=False))

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


@dataclass(frozen=True, eq=False)
class KeptGaussian(KeptOfClasses):
    """The kept columns' moments by class, the event, and the model.

    Attributes
    ----------
    model : GaussianModel
    moments : ClassMoments
        Of the kept columns.
    event : RealEvent
        The one conditioned on: without features where there is no correction.
    pseudocounts : array of shape (G,)
    classes : array of shape (G,)
    names : array of shape (k,) or None
    tempering : Tempering, Weighing or None
        What the evidence of the features is worth, where that was learned.
    within : WithinClasses or None
        How the features vary together, and how widely each class spreads, where that is allowed
        for.
    """

    model: GaussianModel
    moments: ClassMoments
    event: RealEvent
    pseudocounts: Floats
    classes: NDArray[Any]
    names: NDArray[Any] | None
    tempering: Worth | None = None
    within: WithinClasses | None = None

    @property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before any feature is seen."""
        counts = self.pseudocounts + self.moments.sizes
        return np.asarray(np.log(counts / counts.sum()))

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return self.moments.size

    @property
    def log_class_evidence(self) -> float:
        """The log probability of the training classes."""
        f, n = self.pseudocounts, self.moments.sizes
        logs = gammaln(f + n) - gammaln(f)
        return float(logs.sum() + gammaln(f.sum()) - gammaln(f.sum() + n.sum()))

    @cached_property
    def posterior(self) -> GaussianPosterior:
        """The posterior of tau, computed when first needed."""
        return _real_posterior(self.model, self.moments.contrasts(), self.event)

    @property
    def related(self) -> Related | None:
        """What is known of which features are related; None where all are."""
        return _related(self.posterior) if self.model.least_fraction is not None else None

    def as_modelled(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns, in their order, as numbers; NaN is a missing one."""
        return real_rows(X, label)

    def own_log_joint(self, rows: NDArray[Any]) -> Floats:
        """Return log P(class, row) by the model, for rows as it sees them."""
        codes = np.eye(self.classes.size)
        logs = [self.posterior.log_predictive(code, rows) for code in codes]
        return np.asarray(self.log_psi + np.stack(logs, axis=1))

    def with_within(
        self, X: NDArray[Any], y: NDArray[np.intp], label: ColumnNamer
    ) -> "KeptGaussian":
        """Return the same with how the kept columns of the training cases vary within classes."""
        rows = self.as_modelled(X, label)
        return replace(self, within=WithinClasses.of(rows, y, self.classes.size, spreads=True))

    @cached_property
    def laws(self) -> FeatureLaws:
        """Where single features lie in each class, and the variance in a class of mean size."""
        nodes, weights = self.posterior.of_features()
        laws = [nodes.law(code) for code in np.eye(self.classes.size)]
        varying = laws[0].varying
        location = np.zeros((self.classes.size, varying.size))
        variance = np.ones(varying.size)
        location[:, varying] = [np.sum(law.loc * weights[varying], axis=1) for law in laws]
        squares = [np.sum(law.squares * weights[varying], axis=1) / law.df for law in laws]
        variance[varying] = np.mean(squares, axis=0)
        df = float(np.mean(laws[0].df)) if varying.any() else 1.0
        return FeatureLaws(location, variance, df, varying)

    def log_joint_by_node(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return log P(class, row, node), shape (rows, classes, nodes)."""
        rows, codes = real_rows(X, label), np.eye(self.classes.size)
        logs = np.stack([self.posterior.log_densities(code, rows) for code in codes], axis=1)
        return np.asarray(logs + self.log_psi[:, np.newaxis] + self.posterior.log_weights)


@dataclass(frozen=True, eq=False)
class KeptRegression:
    """The kept columns' moments with a real response, the event, and the model.

    Attributes
    ----------
    model : GaussianModel
    moments : LineMoments
        Of the kept columns.
    event : RealEvent
        The one conditioned on: without features where there is no correction.
    y_mean : float
        Mean of the training responses.
    names : array of shape (k,) or None
    """

    model: GaussianModel
    moments: LineMoments
    event: RealEvent
    y_mean: float
    names: NDArray[Any] | None

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return self.moments.size

    @cached_property
    def posterior(self) -> RegressionPosterior:
        """The posterior of tau and the law of y, computed when first needed."""
        features = _real_posterior(self.model, self.moments.contrasts(), self.event)
        n, _ = self.moments.complete
        if isinstance(features, TwoGroupPosterior):
            return TwoGroupRegression(features, n, self.y_mean, self.moments.unit)
        return RegressionPosterior(features, n, self.y_mean, self.moments.unit)

    @property
    def related(self) -> Related | None:
        """What is known of which features are related; None where all are."""
        return _related(self.posterior.features) if self.model.least_fraction is not None else None


def _related(posterior: BernoulliPosterior | GaussianPosterior) -> Related | None:
    if posterior.fractions is None or posterior.related is None:
        return None
    fraction = summarize_fraction(posterior.fractions, posterior.log_weights)
    return Related(fraction, posterior.related)


def _real_posterior(
    model: GaussianModel, contrasts: Contrasts, event: RealEvent
) -> GaussianPosterior:
    if model.least_fraction is None:
        return model.condition(contrasts, event)
    return condition_two_groups(model, contrasts, event)


def real_rows(X: NDArray[Any], label: ColumnNamer) -> Floats:
    """Return rows as doubles, in which NaN is a missing value; infinities are an error."""
    check_finite(X, label, missing_allowed=True)
    return np.asarray(X, dtype=np.float64)
