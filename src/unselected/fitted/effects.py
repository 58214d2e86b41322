"""Effect sizes of the kept features: what was seen of them, and what is left once that is judged.

A feature is kept because it looked strong, so that its effect at face value is too large: the
winner's curse. The posterior given the event takes that back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats
from unselected.fitted.effect_laws import EffectLaw, quantiles
from unselected.fitted.listing import MOST_ROWS, listing

_PARTS = ("naive", "mean", "low", "high")


@dataclass(frozen=True, eq=False)
class Effect:
    """One effect of each of k features; arrays of shape (k,).

    Attributes
    ----------
    naive : array
        At face value.
    mean : array
        Of the posterior.
    low, high : arrays
        Central interval of the posterior.
    """

    naive: Floats
    mean: Floats
    low: Floats
    high: Floats

    def widened(self, columns: Bools) -> "Effect":
        """Return the effect of some columns among all; see `widened`."""
        return Effect(*(widened(columns, getattr(self, part)) for part in _PARTS))


def widened(columns: Bools, values: NDArray[Any]) -> NDArray[Any]:
    """Return values of some columns among all; NaN elsewhere.

    >>> widened(np.array([True, False]), np.array([3])).tolist()
    [3.0, nan]
    """
    if columns.all():
        return values
    result = np.full(columns.size, np.nan)
    result[columns] = values
    return result


@dataclass(frozen=True, eq=False, repr=False)
class FeatureEffects:
    """The kept features with their effects, at face value and in the light of the selection.

    Printed, it is a table of the features with the largest scores.

    Attributes
    ----------
    features : array of shape (k,)
        Names, or numbers of columns where these have no names.
    score : array of shape (k,)
    at_cut : array of shape (k,)
        Whether the score is that of the cut: the feature was the last to be kept, or is tied with
        it.
    seen : dict of str to array of shape (k,)
        Observed values: ``ones_in_...`` and ``cases_in_...`` of each class for binary features,
        ``copies_in_...`` and ``alleles_in_...`` for genotypes, ``mean_in_...`` for real-valued
        ones, ``slope`` with a real response. Where real-valued features are modelled by their
        normal scores, ``mean_in_...`` is of these, and ``center_in_...`` is the value that has this
        score.
    effects : dict of str to Effect
        Binary features: ``rate_difference``, the rate of ones in the second class minus that in the
        first, and ``log_odds_ratio``; the naive estimate of the latter adds half a case to each of
        the four cells. Of genotypes they are of alleles. More classes: ``rate_difference_...`` and
        ``log_odds_ratio_...``, the rate of each class less the unweighted mean of the rates of all
        classes, and the same of their log odds; all naive log odds have half a case added.
        Real-valued features, two classes: ``mean_difference``, the mean in the second class minus
        that in the first, in units of the standard deviation within classes. More classes:
        ``mean_difference_...`` of each class from the unweighted mean of all class means.
        `SelectiveClassifier` also has ``raw_difference``, or ``raw_difference_...``, the same in
        the units of the column. Real response: ``standardized_slope``, the change of the feature
        for a change of the response by one standard deviation, in units of the residual standard
        deviation.
    related_probability : array of shape (k,) or None
        Posterior probability that the effect is not 0, with ``prior="sparse"``; else None.
    level : float
        Posterior probability of the intervals.
    """

    features: NDArray[Any]
    score: Floats
    at_cut: NDArray[np.bool_]
    seen: dict[str, NDArray[Any]]
    effects: dict[str, Effect]
    related_probability: Floats | None
    level: float

    def __len__(self) -> int:
        return self.score.size

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the table by columns, as ``pandas.DataFrame`` takes it.

        Returns
        -------
        columns : dict of str to array of shape (k,)
            ``feature``, ``score``, ``at_cut``, the observed values, ``related_probability`` where
            there is one, and for each effect ``..._naive``, ``..._mean``, ``..._low`` and
            ``..._high``.
        """
        related = self.related_probability
        return {
            "feature": self.features,
            "score": self.score,
            "at_cut": self.at_cut,
            **self.seen,
            **({} if related is None else {"related_probability": related}),
            **{
                f"{name}_{part}": getattr(effect, part)
                for name, effect in self.effects.items()
                for part in _PARTS
            },
        }

    def __repr__(self) -> str:
        strongest = np.argsort(-self.score, kind="stable")[:MOST_ROWS]
        # With several classes only the means, or the table would be too wide.
        parts = _PARTS if len(self.effects) <= 2 else ("mean",)
        header, columns = ["feature", "score"], [self.features, self.score]
        if self.related_probability is not None:
            header, columns = [*header, "related"], [*columns, self.related_probability]
        for name, effect in self.effects.items():
            header += [f"{name}\n{parts[0]}", *parts[1:]]
            columns += [getattr(effect, part) for part in parts]
        rows = list(zip(*(values[strongest] for values in columns), strict=True))
        n = self.score.size
        title = f"{n} feature{'' if n == 1 else 's'}, the largest scores first"
        if "low" in parts:
            title += f"; low and high are the ends of intervals of probability {self.level:g}"
        return "\n".join([title, listing(header, rows, n - len(rows))])


class HasEffects(Protocol):
    """A fitted model that knows the effects of its features."""

    @property
    def related(self) -> Any:
        """What is known of which features are related; None where all are."""

    def effects(self, tails: Floats) -> tuple[dict[str, NDArray[Any]], dict[str, Effect]]:
        """Return what was observed of each kept feature, and its effects."""


def feature_effects(
    fitted: HasEffects,
    *,
    features: NDArray[Any],
    scores: Sequence[float] | Floats,
    threshold: float | None,
    level: float = 0.9,
) -> FeatureEffects:
    """Return the effects of the kept features under the posterior.

    Parameters
    ----------
    fitted : ExactFitted
    features : array of shape (k,)
        Their names or numbers.
    scores : array of shape (k,)
    threshold : float or None
        The cut on the score.
    level : float, default=0.9
        Posterior probability of the intervals, which have equal tails.
    """
    tails = check_level(level)
    score = np.asarray(scores, dtype=np.float64)
    seen, effects = fitted.effects(tails)
    related = fitted.related
    return FeatureEffects(
        features=features,
        score=score,
        at_cut=np.zeros(score.size, dtype=bool) if threshold is None else score == threshold,
        seen=seen,
        effects=effects,
        related_probability=None if related is None else related.probability,
        level=float(level),
    )


def check_level(level: Any) -> Floats:
    """Return the two quantiles that enclose ``level``; raise where it is not between 0 and 1.

    >>> check_level(0.9).round(12).tolist()
    [0.05, 0.95]
    """
    share = float(level) if isinstance(level, Real) else np.nan
    if not 0.0 < share < 1.0:
        given = level.item() if isinstance(level, np.generic) else level
        raise ValueError(f"level={given!r} must be between 0 and 1, for example 0.9.")
    return np.array([0.5 * (1.0 - share), 0.5 * (1.0 + share)])


def ratio(difference: Floats, deviation: Floats) -> Floats:
    """Return a difference in units of a deviation, which may be infinite; 0 for no difference."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0.0, 0.0, difference / deviation)


def summary(law: EffectLaw, tails: Floats) -> Floats:
    """Return mean, lower and upper end of each feature, shape (k, 3)."""
    return np.column_stack([law.mean, quantiles(law, tails)])
