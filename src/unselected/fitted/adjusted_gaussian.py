"""The fitted naive Bayes model of real-valued features and classes, given covariates.

Rows have the kept columns first, and behind them the coded covariates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.fitted.base import ExactRealFitted, GivenCovariates, GuardedClasses, Seen, short
from unselected.fitted.effects import Effect, ratio, summary
from unselected.fitted.gaussian import class_directions, laws_of, log_of_features
from unselected.fitted.json_adjusted import (
    adjusted_entries,
    class_covariates_entry,
    parse_adjusted_moments,
    parse_class_covariates,
)
from unselected.fitted.json_checks import Entries, check_list, check_wholes
from unselected.fitted.json_parts import (
    MOST_CASES,
    classes_entry,
    gaussian_model_entries,
    parse_classes,
    parse_gaussian_model,
    parse_names,
    parse_prior,
    parse_real_event,
)
from unselected.fitted.standardized_effects import standardized_effect
from unselected.models.class_covariates import ClassCovariates
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_posterior import GaussianPosterior
from unselected.selection.events import RealEvent
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.adjusted_sums import AdjustedSums
from unselected.statistics.design import Design
from unselected.statistics.moments import Statistic


@dataclass(frozen=True, eq=False)
class FittedAdjustedGaussian(ExactRealFitted, GuardedClasses):
    """The kept columns' moments given covariates, the event, and the model.

    Attributes
    ----------
    model : GaussianModel
    moments : AdjustedMoments
        Of the kept columns.
    event : RealEvent
    covariates : ClassCovariates
        What the covariates say of the classes.
    sizes : array of shape (G,)
        Training cases of each class.
    pseudocounts : array of shape (G,)
    classes : array of shape (G,)
    names : array of shape (k,) or None
    """

    kind: ClassVar[str] = "adjusted gaussian"
    keys: ClassVar[tuple[str, ...]] = (
        "classes",
        "pseudocounts",
        "sizes",
        "moments",
        "covariates",
        "event",
        "priors",
        "quadrature",
    )

    model: GaussianModel
    moments: AdjustedMoments
    event: RealEvent
    covariates: ClassCovariates
    sizes: Ints
    pseudocounts: Floats
    classes: NDArray[Any]
    names: NDArray[Any] | None

    @property
    def n_covariates(self) -> int:
        """The number of coded covariates behind the kept columns."""
        return self.covariates.basis.n_coded

    def _split(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the kept columns and the coded covariates."""
        return rows[:, : self.n_columns], rows[:, self.n_columns :]

    @cached_property
    def log_psi(self) -> Floats:
        """Log of the class probabilities before covariates and features are seen."""
        counts = self.pseudocounts + self.sizes
        return np.asarray(np.log(counts / counts.sum()))

    def log_prior(self, rows: NDArray[Any]) -> Floats:
        """Return the log class probabilities of rows by their covariates, shape (rows, G)."""
        return self.covariates.log_proba(self._split(rows)[1])

    @property
    def log_class_evidence(self) -> float:
        """The log probability of the training classes given their covariates."""
        return float(self.covariates.regression.log_evidence)

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

    def _each(self, rows: NDArray[Any]) -> Iterator[tuple[Ints, GaussianPosterior, Floats]]:
        """Yield the numbers of rows with the same covariates, their posterior, and their values."""
        values, coded = self._split(rows)
        for some, z in self.covariates.basis.distinct(coded):
            yield some, self.posterior.at(z), values[some]

    def log_evidence(self, rows: NDArray[Any]) -> Floats:
        """Return log P(features | class, covariates), shape (rows, G)."""
        result = np.empty((len(rows), self.classes.size))
        for some, posterior, values in self._each(rows):
            logs = [posterior.log_predictive(code, values) for code in self._codes]
            result[some] = np.stack(logs, axis=1)
        return result

    def by_node(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the same given the node, (rows, G, nodes), and the nodes' log weights."""
        log_weights = self.posterior.log_weights
        result = np.empty((len(rows), self.classes.size, log_weights.size))
        for some, posterior, values in self._each(rows):
            logs = [posterior.log_densities(code, values) for code in self._codes]
            result[some] = np.stack(logs, axis=1)
        return result, log_weights

    def log_by_feature(self, rows: NDArray[Any]) -> Floats:
        """Return log P(x_j | class, covariates) at the mean of the posterior, (rows, k, G)."""
        result = np.zeros((len(rows), self.n_columns, self.classes.size))
        for some, posterior, values in self._each(rows):
            result[some] = log_of_features(posterior, self._codes, values)
        return result

    @cached_property
    def laws(self) -> FeatureLaws:
        """Where single features lie in each class, at the means of the covariates."""
        return laws_of(self.posterior, self._codes)

    @cached_property
    def covariate_slopes(self) -> Floats:
        """Coefficients of the covariates beside classes at the posterior mean, shape (m, k)."""
        nodes, weights = self.posterior.of_features()
        c, u = self.moments.contrasts(), np.exp(-nodes.log_alpha)
        slopes = c.coefficients.T.copy()
        towards = np.einsum("kid,kdq->qik", c.expected, c.axes)
        for own, lam, beta in zip(towards, c.lam.T, c.beta.T, strict=True):
            share = u[:, np.newaxis] / (1.0 + np.multiply.outer(u, lam))
            mean = np.sum(weights.T * share, axis=0) * np.sqrt(lam) * beta
            slopes -= own * mean
        return np.asarray(slopes)

    def given_covariates(self, rows: NDArray[Any]) -> GivenCovariates:
        """Return what features would be with the mean covariates, and how uncertain that is."""
        values, coded = self._split(rows)
        Z, complete = self.covariates.basis.apply(coded), self.moments.complete
        leverage = np.einsum("ni,ij,nj->n", Z, complete.inverse[..., 0], Z)
        scale = np.sqrt((1.0 + leverage) / (1.0 + 1.0 / complete.n[0]))
        away = Z - self.moments.mean_covariates
        return GivenCovariates(values - away @ self.covariate_slopes, scale)

    def within_classes(self, rows: NDArray[Any], y: NDArray[np.intp]) -> WithinClasses:
        """Return correlations and variances of the kept columns given class and covariates."""
        return WithinClasses.of(self.residuals(rows, y), y, self.classes.size, spreads=True)

    def residuals(self, rows: NDArray[Any], y: NDArray[np.intp]) -> Floats:
        """Return what classes and covariates leave of the training rows; NaN stays NaN."""
        values, coded = self._split(rows)
        design = Design.by_class(self.covariates.basis.apply(coded), y, self.classes.size)
        sums = AdjustedSums(design, self.moments.complete.lam.shape[0])
        moments = sums.exact(np.array(values, dtype=np.float64), str)
        return np.asarray(values - moments.fitted_values(design))

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return int(self.sizes.sum())

    @property
    def class_sizes(self) -> dict[Any, int]:
        """The numbers of training cases by class."""
        return dict(zip(self.classes.tolist(), self.sizes.tolist(), strict=True))

    @property
    def means(self) -> Floats:
        """Least-squares means of the classes at the means of the covariates, shape (G, k)."""
        c = self.moments.contrasts()
        return np.asarray([c.least_squares(code) for code in self._codes])

    @property
    def known(self) -> Floats:
        """Known values of each class, as if values were missing alike in all, shape (G, k)."""
        share = self.sizes / self.sizes.sum()
        n = np.broadcast_to(self.moments.geometry.n, (self.n_columns,))
        return np.asarray(np.multiply.outer(share, n))

    @property
    def _deviation(self) -> Floats:
        """The deviations of the features given class and covariates, shape (k,)."""
        nu = np.broadcast_to(self.moments.geometry.nu, (self.n_columns,))
        return np.asarray(np.sqrt(self.moments.within / np.maximum(nu, 1.0)))

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return adjusted means by class, and their differences in units of the deviation."""
        means = self.means
        seen = {f"mean_in_{label}": mean for label, mean in zip(self.classes, means, strict=True)}
        effects = {}
        for name, direction in class_directions(self.classes).items():
            law = standardized_effect(self.posterior, direction)
            naive = ratio(direction @ means, self._deviation)
            effects[name] = Effect(naive, *summary(law, tails).T)
        return seen, effects

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return adjusted means by class, known values, and the deviation beside them."""
        means, deviation = self.means, self._deviation
        n = np.broadcast_to(self.moments.geometry.n, (self.n_columns,))
        return [
            {
                "means": means[:, column].tolist(),
                "cases": int(n[column]),
                "deviation": float(deviation[column]),
            }
            for column in range(self.n_columns)
        ]

    def _own_cells(self, told: Entries) -> dict[str, str]:
        each = zip(self.classes, told["means"], strict=True)
        means = {f"adjusted mean in {label}": short(mean) for label, mean in each}
        return {**means, "deviation": short(told["deviation"])}

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {
            "class_pseudocounts": self.pseudocounts.tolist(),
            "concentration_prior": [self.model.a, self.model.b],
            "variance_shrinkage": self.model.shrinkage,
        }

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        return {
            "classes": classes_entry(self.classes),
            "pseudocounts": np.asarray(self.pseudocounts, dtype=np.float64),
            "sizes": self.sizes,
            "moments": adjusted_entries(self.moments),
            "covariates": class_covariates_entry(self.covariates),
            **gaussian_model_entries(self.model, self.event),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        G = len(check_list(entries["sizes"], "sizes"))
        covariates = parse_class_covariates(entries["covariates"], G)
        statistic: Statistic = "|COR|" if G == 2 else "F"
        moments = parse_adjusted_moments(entries["moments"], covariates.basis.size, G, statistic)
        pseudocounts = check_list(entries["pseudocounts"], "pseudocounts", G)
        return cls(
            model=parse_gaussian_model(entries["priors"], entries["quadrature"]),
            moments=moments,
            event=parse_real_event(entries["event"], statistic, len(moments.beta)),
            covariates=covariates,
            pseudocounts=np.array([parse_prior(count, "pseudocounts") for count in pseudocounts]),
            sizes=check_wholes(entries["sizes"], "sizes", G, 1, MOST_CASES),
            classes=parse_classes(entries["classes"], G),
            names=parse_names(entries["names"], moments.size),
        )
