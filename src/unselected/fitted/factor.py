"""The fitted models with latent factors: two classes, or a real response."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.fitted.base import FittedResponse, real_rows
from unselected.fitted.drawn import Drawn, DrawnClasses, parse_n_draws
from unselected.fitted.json_checks import (
    Entries,
    check_array,
    check_list,
    check_record,
    check_whole,
)
from unselected.fitted.json_parts import (
    LARGEST_SQUARES,
    classes_entry,
    parse_classes,
    parse_names,
    parse_priors,
    parse_real_event,
    priors_entry,
    real_event_entry,
)
from unselected.models.factor import FactorModel
from unselected.models.factor_predictive import PREDICTING, FactorPredictive, Kind
from unselected.selection.events import RealEvent

# Upper limit for the number of factors in a file, far above any real one.
_MOST_FACTORS = 1000


@dataclass(frozen=True, eq=False)
class FittedFactor(Drawn):
    """The predictions of the draws, the event, and the model.

    Attributes
    ----------
    model : FactorModel
    predictive : FactorPredictive
        The predictive distribution of a new case for each draw.
    event : RealEvent
    names : array of shape (k,) or None
    """

    keys: ClassVar[tuple[str, ...]] = ("event", "priors", "n_factors", "center", "unit", "draws")

    model: FactorModel
    predictive: FactorPredictive
    event: RealEvent
    names: NDArray[Any] | None

    @property
    def n_columns(self) -> int:
        """The number of kept columns."""
        return int(self.predictive.center.size)

    def rows(self, X: NDArray[Any], label: ColumnNamer) -> Floats:
        """Return rows of the kept columns, in their order, as numbers."""
        return real_rows(X, label, missing_allowed=False)

    def describe(self, scores: Sequence[float]) -> list[Entries]:  # noqa: ARG002
        """Return mean, deviation around the factors, and the share that the factors explain."""
        draws = self.predictive.parameters
        common = np.sum(draws["loadings"] ** 2, axis=2)
        with np.errstate(invalid="ignore"):
            share = np.nan_to_num(common / (common + draws["variances"])).mean(axis=0)
        deviation = np.sqrt(draws["variances"].mean(axis=0))
        columns = zip(draws["means"].mean(axis=0), deviation, share, strict=True)
        return [
            {"mean": float(mean), "deviation": float(sd), "explained_by_factors": float(part)}
            for mean, sd, part in columns
        ]

    @property
    def priors(self) -> Entries:
        """The hyperparameters by the names of the estimator's parameters."""
        return {"concentration_prior": [self.model.a, self.model.b], "n_factors": self.model.q}

    @property
    def numbers_per_draw(self) -> int:
        """How many numbers a file holds for each draw."""
        return self.n_columns * (2 + self.model.q) + self.model.q + 2

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file; many draws are thinned."""
        p, some = self.predictive, self.saved_draws
        return {
            "event": real_event_entry(self.event),
            "priors": priors_entry(self.model, ("a", "b")),
            "n_factors": self.model.q,
            "center": p.center,
            "unit": p.unit,
            "draws": {name: p.parameters[name][some] for name in PREDICTING},
        }

    @staticmethod
    def parts(entries: Entries, response: Kind) -> dict[str, Any]:
        """Return the fields from the entries of a model file, each checked."""
        q = check_whole(entries["n_factors"], "n_factors", 1, _MOST_FACTORS)
        k = len(check_list(entries["center"], "center"))
        bound = float(np.sqrt(LARGEST_SQUARES))
        center = check_array(entries["center"], "center", (k,), -bound, bound)
        unit = check_array(entries["unit"], "unit", (k,), 0.0, bound)
        priors = parse_priors(entries["priors"], ("a", "b"))
        draws = _parse_draws(entries["draws"], k, q)
        return {
            "model": FactorModel(response, q, **priors),
            "predictive": FactorPredictive(draws, center, unit, response),
            "event": parse_real_event(entries["event"], "|COR|", 1),
            "names": parse_names(entries["names"], k),
        }


@dataclass(frozen=True, eq=False)
class FittedFactorClasses(FittedFactor, DrawnClasses):
    """Latent factors and two classes.

    Attributes
    ----------
    classes : array of shape (2,)
    """

    kind: ClassVar[str] = "factor_classes"
    keys: ClassVar[tuple[str, ...]] = ("classes", *FittedFactor.keys)

    classes: NDArray[Any]

    def to_json(self) -> Entries:
        """Return the entries of ``keys`` for a model file."""
        return {"classes": classes_entry(self.classes), **super().to_json()}

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        classes = parse_classes(entries["classes"], 2)
        return cls(**cls.parts(entries, "classes"), classes=classes)


@dataclass(frozen=True, eq=False)
class FittedFactorResponse(FittedFactor, FittedResponse):
    """Latent factors and a real response."""

    kind: ClassVar[str] = "factor_response"

    @property
    def posterior(self) -> FactorPredictive:
        """The predictive distributions of the response."""
        return self.predictive

    @classmethod
    def from_json(cls, entries: Entries) -> Self:
        """Return a model from its entries, each checked."""
        return cls(**cls.parts(entries, "real"))


def _parse_draws(entry: object, k: int, q: int) -> dict[str, Floats]:
    fields = check_record(entry, "draws", PREDICTING)
    n = parse_n_draws(fields["intercept"], "draws intercept")
    bound = float(np.sqrt(LARGEST_SQUARES))
    shapes = {
        "means": (n, k),
        "loadings": (n, k, q),
        "variances": (n, k),
        "intercept": (n,),
        "coefficients": (n, q),
        "noise_variance": (n,),
    }
    lowest = {"variances": 0.0, "noise_variance": 0.0}
    return {
        name: check_array(fields[name], f"draws {name}", shape, lowest.get(name, -bound), bound)
        for name, shape in shapes.items()
    }
