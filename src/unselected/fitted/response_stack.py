"""An average over regressions of a real response, each of some of the kept columns.

The members differ in how many features they keep, in how values and responses are transformed, and
in kind: direct regressions of the response on the features, and inverse ones, whose features are
conditioned on the selection. Each gives a new row Student t distributions, whose weights were
learned from cases left out. The predictive distribution is their mixture, with two more parts: what
is known without the features, and outliers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import ColumnNamer, Floats, Ints
from unselected.dependence.inverse_regression import InverseRegression
from unselected.dependence.response_weights import OUTLIER_DF
from unselected.fitted.adjusted_regression import FittedAdjustedRegression
from unselected.fitted.base import FittedResponse, Related, Seen, real_rows, short
from unselected.fitted.effects import Effect
from unselected.fitted.json_adjusted import adjusted_entry, parse_adjusted
from unselected.fitted.json_checks import Entries, Fault, check_list, check_record
from unselected.fitted.json_normal import normal_entry, parse_normal
from unselected.fitted.json_parts import parse_names
from unselected.fitted.json_response_stack import (
    PriorOfResponse,
    member_entry,
    parse_flag,
    parse_law,
    parse_member,
    parse_transform,
)
from unselected.fitted.regression import FittedRegression
from unselected.models.direct_regression import DirectRegression
from unselected.models.predictive import checked_levels
from unselected.models.response_covariates import FeatureSlopes, ResponseCovariates
from unselected.models.response_transform import ResponseTransform, TransformedMixture
from unselected.models.student_mixture import StudentMixture
from unselected.selection.events import RealEvent
from unselected.selection.leaving_out import Marginals
from unselected.statistics.normal_scores import NormalScores

# The weight of all components of the mixture that are left out.
_UNLIKELY = 2e-3
# Responses at which values of features are told, in deviations from the mean.
_STEPS = np.array([-1.0, 0.0, 1.0])
# Elements of a table over components and rows that are processed at a time.
_BLOCK = 1 << 20


class ResponseMember(NamedTuple):
    """A regression of the average.

    Attributes
    ----------
    columns : array of int
        Its columns among the kept ones, in increasing order.
    normal : bool
        Whether it sees normal scores of the columns.
    model : DirectRegression or InverseRegression
    weights : array of shape (candidates, nodes)
        Of its components: ridges and factors of the variance, or weights of independence and
        powers.
    """

    columns: Ints
    normal: bool
    model: DirectRegression | InverseRegression
    weights: Floats

    def components(self, X: Floats) -> tuple[Floats, Floats]:
        """Return locations and squared scales of all components, (candidates, nodes, rows)."""
        location, squares = self.model.laws(X)
        spread = squares * self.model.scales[:, np.newaxis]
        return np.broadcast_to(location, spread.shape), spread


class Adjusted(NamedTuple):
    """What covariates say of the response, and of the kept columns as the members see them."""

    response: ResponseCovariates
    features: FeatureSlopes


@dataclass(frozen=True, eq=False)
class FittedResponseStack(FittedResponse):
    """The members with their weights, and what is known without features.

    Attributes
    ----------
    members : tuple of ResponseMember
        Those with enough weight; none where the features say nothing.
    prior : PriorOfResponse
        What is known of the response without features, and the weight of that.
    main : FittedRegression or FittedAdjustedRegression
        All kept columns, conditioned on the selection: for effects.
    main_normal : bool
        Whether it has normal scores of the columns.
    normal : NormalScores or None
        The transform of all kept columns; None where nothing is transformed.
    names : array of shape (k,) or None
    adjusted : Adjusted or None
        Covariates; members and ``prior`` are then of what they leave. None where there are none.
    transform : ResponseTransform or None
        Of the response, where members, ``prior`` and ``main`` are on its scale.
    """

    kind: ClassVar[str] = "regressor"
    keys: ClassVar[tuple[str, ...]] = ("members", "prior", "main", "main_normal", "normal")
    optional: ClassVar[tuple[str, ...]] = ("adjusted", "transform")

    members: tuple[ResponseMember, ...]
    prior: PriorOfResponse
    main: FittedRegression | FittedAdjustedRegression
    main_normal: bool
    normal: NormalScores | None
    names: NDArray[Any] | None
    adjusted: Adjusted | None = None
    transform: ResponseTransform | None = None

    @property
    def event(self) -> RealEvent:
        """The event that the effects are conditioned on."""
        return self.main.event

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return self.main.n_columns

    @property
    def n_covariates(self) -> int:
        """The number of coded covariates behind the kept columns."""
        return self.main.n_covariates

    @property
    def n_samples(self) -> int:
        """The number of training cases."""
        return self.main.n_samples

    @property
    def class_sizes(self) -> None:
        """The numbers of training cases by class: there are none."""
        return

    @property
    def numbers(self) -> list[Floats]:
        """Arrays which are finite if the model's numbers are consistent."""
        return [self.main.nodes.log_weights, *(member.weights for member in self.members)]

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns, in their order, as numbers; NaN is missing."""
        return real_rows(X, label, missing_allowed=True)

    @property
    def posterior(self) -> "FittedResponseStack":
        """The predictive distributions of the response: those of this object."""
        return self

    @cached_property
    def live(self) -> list[NDArray[np.bool_]]:
        """For each member its components without the least likely ones."""
        each = np.sort(np.concatenate([np.zeros(1), *(m.weights.ravel() for m in self.members)]))
        place = int(np.searchsorted(np.cumsum(each), _UNLIKELY))
        least = each[min(place, each.size - 1)]
        return [(member.weights >= least) & (member.weights > 0.0) for member in self.members]

    def _mixture(self, rows: Floats) -> StudentMixture:
        """Return the predictive distributions of rows, on the scale of the regressions."""
        if self.adjusted is None:
            scores = None if self.normal is None else self.normal.apply(rows)
            return self._mixture_of(rows, scores)
        X, coded = rows[:, : self.n_columns], rows[:, self.n_columns :]
        seen = X if self.normal is None else self.normal.apply(X)
        response = self.adjusted.response
        factor = response.factor(coded)
        seen = self.adjusted.features.residuals(coded, seen) / np.sqrt(factor)[:, np.newaxis]
        return self._mixture_of(seen, seen).moved(response.mean(coded), factor)

    def _mixture_of(self, X: Floats, scores: Floats | None) -> StudentMixture:
        """Return the mixtures given values of the columns, and their normal scores."""
        prior, n = self.prior, len(X)
        parts = [(prior.center, prior.squares, prior.null, prior.df)]
        parts.append((prior.center, prior.squares, prior.outlier, OUTLIER_DF))
        weights, df = ([np.array([part[i]]) for part in parts] for i in (2, 3))
        location, squares = ([np.full((1, n), part[i]) for part in parts] for i in (0, 1))
        for member, live in zip(self.members, self.live, strict=True):
            seen = scores if member.normal and scores is not None else X
            each = member.components(seen[:, member.columns])
            location.append(each[0][live])
            squares.append(each[1][live])
            weights.append(member.weights[live])
            df.append(np.full(int(live.sum()), member.model.df))
        total = np.concatenate(weights)
        return StudentMixture(
            total / total.sum(), np.concatenate(df), np.vstack(location), np.vstack(squares)
        )

    def _blocks(self, X: Floats) -> Iterator[tuple[slice, StudentMixture | TransformedMixture]]:
        """Yield the distributions of the responses of some rows at a time."""
        size = max(1, _BLOCK // max(1, sum(member.weights.size for member in self.members)))
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            mixture = self._mixture(X[rows])
            if self.transform is None:
                yield rows, mixture
            else:
                yield rows, TransformedMixture(mixture, self.transform)

    def mean_and_std(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and standard deviations of the predictive distributions."""
        both = np.zeros((2, len(X)))
        for rows, mixture in self._blocks(X):
            both[:, rows] = mixture.mean_and_std()
        return both[0], both[1]

    def quantiles(self, X: Floats, levels: ArrayLike) -> Floats:
        """Return their quantiles, shape (rows, levels)."""
        wanted = checked_levels(levels)
        result = np.zeros((len(X), wanted.size))
        for rows, mixture in self._blocks(X):
            result[rows] = mixture.quantiles(wanted)
        return result

    def log_density(self, X: Floats, y: Floats) -> Floats:
        """Return the log predictive densities of responses."""
        result = np.zeros(len(X))
        for rows, mixture in self._blocks(X):
            result[rows] = mixture.log_density(y[rows])
        return result

    def cdf(self, X: Floats, y: Floats) -> Floats:
        """Return the predictive distribution functions at y."""
        result = np.zeros(len(X))
        for rows, mixture in self._blocks(X):
            result[rows] = mixture.cdf(y[rows])
        return result

    @property
    def related(self) -> Related | None:
        """What is known of which features are related, from the selection of all of them."""
        return self.main.related

    def effects(self, tails: Floats) -> tuple[Seen, dict[str, Effect]]:
        """Return the effects of the kept features, conditioned on the selection."""
        return self.main.effects(tails)

    @property
    def levels(self) -> Floats:
        """Responses at which values of features are told: the mean, and one deviation from it.

        With a transform these are the mean and the deviation on its scale.
        """
        levels = np.asarray(self.main.response_mean + _STEPS * self.main.unit)
        return levels if self.transform is None else self.transform.invert(levels)

    def describe(self, scores: Sequence[float]) -> list[Entries]:
        """Return what is known of each kept feature, in plain types and in their order.

        Where slopes are of normal scores, ``centers`` are values of the feature at `levels`: those
        whose normal scores lie on the line.
        """
        features = self.main.describe(scores)
        if self.normal is not None and self.main_normal:
            slope, mean = (
                np.array([each[name] for each in features]) for name in ("slope", "mean")
            )
            line = mean + np.multiply.outer(_STEPS * self.main.unit, slope)
            for entries, values in zip(features, self.normal.invert(line).T, strict=True):
                entries["centers"] = values.tolist()
        return features

    def _own_cells(self, told: Entries) -> dict[str, str]:
        if "centers" not in told:
            return super()._own_cells(told)
        levels = (f"at response {short(level)}" for level in self.levels)
        values = dict(zip(levels, map(short, told["centers"]), strict=True))
        score = next(name for name in told if name.endswith("correlation"))
        shown = score.replace("_", " ")
        return {shown: short(told[score]), **values, "cases": short(told["cases"])}

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return self.main.priors

    @property
    def marginals(self) -> Marginals:
        """How the columns are modelled for the effects."""
        return "normal" if self.main_normal else "raw"

    @property
    def response_power(self) -> float:
        """The power of the transform of the response; 1 where it is taken as it is."""
        return 1.0 if self.transform is None else self.transform.power

    @property
    def k_weights(self) -> dict[int, float]:
        """The weight of each number of features; 0 is what is known without any."""
        weights = {0: self.prior.null + self.prior.outlier}
        for member in self.members:
            size = int(member.columns.size)
            weights[size] = weights.get(size, 0.0) + float(member.weights.sum())
        return weights

    def details(self) -> Entries:
        """Return the numbers of features that the average is over, and their weights."""
        weights = {str(size): weight for size, weight in self.k_weights.items()}
        return {
            "k_weights": weights,
            "outlier_fraction": self.prior.outlier,
            "response_power": self.response_power,
        }

    def in_words(self) -> list[str]:
        """Return what was learned from cases left out, in sentences."""
        each = ", ".join(
            f"{size} with weight {weight:.2f}"
            for size, weight in self.k_weights.items()
            if size > 0
        )
        without = self.k_weights[0] - self.prior.outlier
        nothing = f"Without features: weight {without:.2f}."
        if not each:
            return ["Cases left out say that the features do not predict the response.", nothing]
        by_kind = dict.fromkeys(_KINDS, 0.0)
        for member in self.members:
            by_kind[member.model.kind] += float(member.weights.sum())
        kinds = ", ".join(
            f"{_KINDS[kind]} {weight:.2f}" for kind, weight in by_kind.items() if weight > 0.005
        )
        return [
            f"Predictions average over regressions on the strongest features: {each}.",
            f"{nothing} Outliers: {100.0 * self.prior.outlier:.1f} %.",
            f"Weights of the kinds of regression: {kinds}.",
            *([] if self.transform is None else [self.transform.in_words]),
        ]

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        return {
            "members": [
                {
                    "columns": member.columns,
                    "normal": member.normal,
                    "weights": member.weights,
                    **member_entry(member.model),
                }
                for member in self.members
            ],
            "prior": self.prior._asdict(),
            "main": self.main.to_json(),
            "main_normal": self.main_normal,
            "normal": normal_entry(self.normal),
            **({} if self.adjusted is None else {"adjusted": adjusted_entry(*self.adjusted)}),
            **({} if self.transform is None else {"transform": asdict(self.transform)}),
        }

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        kind = FittedAdjustedRegression if "adjusted" in entries else FittedRegression
        record = check_record(entries["main"], "main", kind.keys)
        main: Any = kind.from_json({**record, "names": None})
        k, adjusted = main.n_columns, None
        if "adjusted" in entries:
            adjusted = Adjusted(*parse_adjusted(entries["adjusted"], main.basis, k))
        records = check_list(entries["members"], "members")
        members = tuple(ResponseMember(*parse_member(each, k)) for each in records)
        normal = parse_normal(entries["normal"], k)
        main_normal = parse_flag(entries["main_normal"], "main_normal")
        if normal is None and (main_normal or any(member.normal for member in members)):
            raise Fault("normal is missing, but normal scores are used.")
        prior = parse_law(entries["prior"], [member.weights for member in members])
        names = parse_names(entries["names"], k)
        transform = parse_transform(entries["transform"]) if "transform" in entries else None
        return cls(members, prior, main, main_normal, normal, names, adjusted, transform)


# The kinds of regression, and what they are called.
_KINDS = {
    "linear": "linear",
    "quadratic": "quadratic",
    "inverse": "inverse, conditioned on the selection,",
}
