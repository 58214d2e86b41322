"""Effect sizes of the kept features: what was seen of them, and what is left once that is judged.

A feature is kept because it looked strong, so that its effect at face value is too large: the
winner's curse. The posterior given the event takes that back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.fitted.effect_laws import EffectLaw, quantiles
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, KeptRegression
from unselected.fitted.rate_effects import pair_posteriors
from unselected.fitted.standardized_effects import standardized_effect

Kept = KeptBernoulli | KeptGaussian | KeptRegression


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


@dataclass(frozen=True, eq=False)
class FeatureEffects:
    """The kept features with their effects, at face value and in the light of the selection.

    Attributes
    ----------
    features : array of shape (k,)
        Names, or numbers of columns where these have no names.
    score : array of shape (k,)
    at_cut : array of shape (k,)
        Whether the score is that of the cut: it was the last to be kept, or one of several tied
        there.
    seen : dict of str to array of shape (k,)
        What was seen: ``ones_in_...`` and ``cases_in_...`` of each class for binary features,
        ``mean_in_...`` for real-valued ones, ``slope`` with a real response.
    effects : dict of str to Effect
        Binary features: ``rate_difference``, the rate of ones in the second class less that in the
        first, and ``log_odds_ratio``; at face value the latter has half a case more in each of
        the four cells. Real-valued features, two classes: ``mean_difference``, the mean in the
        second class less that in the first, in units of the standard deviation within classes. More
        classes: ``mean_difference_...`` of each class from the mean of all class means,
        every class counting alike. Real response: ``standardized_slope``, the change of the feature
        for a change of the response by a standard deviation, in units of the deviation around the
        line.
    related_probability : array of shape (k,) or None
        With ``prior="sparse"``; else the effect is 0.
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
            ``feature``, ``score``, ``at_cut``, what was seen, ``related_probability`` where there
            is one, and for each effect ``..._naive``, ``..._mean``, ``..._low`` and ``..._high``.
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
                for part in ("naive", "mean", "low", "high")
            },
        }


def feature_effects(
    kept: Kept,
    *,
    features: NDArray[Any],
    scores: Sequence[float] | Floats,
    threshold: float | None,
    level: float = 0.9,
) -> FeatureEffects:
    """Return the effects of the kept features under the posterior.

    Parameters
    ----------
    kept : KeptBernoulli, KeptGaussian or KeptRegression
    features : array of shape (k,)
        Their names or numbers.
    scores : array of shape (k,)
    threshold : float or None
        The cut on the score.
    level : float, default=0.9
        Posterior probability of the intervals: as much is left out below as above.
    """
    tails = check_level(level)
    score = np.asarray(scores, dtype=np.float64)
    if isinstance(kept, KeptBernoulli):
        seen, effects = _of_counts(kept, tails)
    elif isinstance(kept, KeptGaussian):
        seen, effects = _of_means(kept, tails)
    else:
        seen, effects = _of_slopes(kept, tails)
    return FeatureEffects(
        features=features,
        score=score,
        at_cut=np.zeros(score.size, dtype=bool) if threshold is None else score == threshold,
        seen=seen,
        effects=effects,
        related_probability=None if kept.related is None else kept.related.probability,
        level=float(level),
    )


def check_level(level: Any) -> Floats:
    """Return the two quantiles that enclose ``level``, or raise where that is no level.

    >>> check_level(0.9).round(12).tolist()
    [0.05, 0.95]
    """
    share = float(level) if isinstance(level, Real) else np.nan
    if not 0.0 < share < 1.0:
        raise ValueError(f"level={level!r} must be between 0 and 1, for example 0.9.")
    return np.array([0.5 * (1.0 - share), 0.5 * (1.0 + share)])


def _of_counts(
    kept: KeptBernoulli, tails: Floats
) -> tuple[dict[str, NDArray[Any]], dict[str, Effect]]:
    counts, pair_of = kept.counts, kept.posterior.pair_of
    ones, cases = (counts.I0, counts.I1), (counts.n0, counts.n1)
    seen: dict[str, NDArray[Any]] = {}
    for label, i, n in zip(kept.classes, ones, cases, strict=True):
        seen |= {f"ones_in_{label}": np.asarray(i, dtype=np.int64)}
        seen |= {f"cases_in_{label}": np.full(i.size, n)}
    rates = [i / n for i, n in zip(ones, cases, strict=True)]
    odds = [np.log((i + 0.5) / (n - i + 0.5)) for i, n in zip(ones, cases, strict=True)]
    laws = [
        (_summary(pair.difference(), tails), _summary(pair.log_odds_ratio(), tails))
        for pair in pair_posteriors(kept.model, counts, kept.posterior)
    ]
    tables = np.array(laws).reshape(-1, 2, 3)[pair_of]
    return seen, {
        "rate_difference": Effect(rates[1] - rates[0], *tables[:, 0].T),
        "log_odds_ratio": Effect(odds[1] - odds[0], *tables[:, 1].T),
    }


def _of_means(
    kept: KeptGaussian, tails: Floats
) -> tuple[dict[str, NDArray[Any]], dict[str, Effect]]:
    moments, G = kept.moments, kept.classes.size
    means = moments.center + moments.offset
    seen = {f"mean_in_{label}": mean for label, mean in zip(kept.classes, means, strict=True)}
    n = np.broadcast_to(moments.n, means.shape).sum(axis=0)
    deviation = np.sqrt(moments.within / (n - G))
    if G == 2:
        directions = {"mean_difference": np.array([-1.0, 1.0])}
    else:
        each = zip(kept.classes, np.eye(G) - 1.0 / G, strict=True)
        directions = {f"mean_difference_{label}": direction for label, direction in each}
    effects = {}
    for name, direction in directions.items():
        law = standardized_effect(kept.posterior, direction)
        naive = _ratio(direction @ moments.offset, deviation)
        effects[name] = Effect(naive, *_summary(law, tails).T)
    return seen, effects


def _of_slopes(
    kept: KeptRegression, tails: Floats
) -> tuple[dict[str, NDArray[Any]], dict[str, Effect]]:
    moments = kept.moments
    slope = moments.sxy / moments.syy
    deviation = np.sqrt(moments.within / (moments.n - 2))
    law = standardized_effect(kept.posterior.features, np.ones(1))
    naive = _ratio(slope * moments.unit, deviation)
    effect = Effect(naive, *_summary(law, tails).T)
    return {"slope": slope}, {"standardized_slope": effect}


def _ratio(difference: Floats, deviation: Floats) -> Floats:
    """Return a difference in units of a deviation, which may be infinite; 0 for no difference."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0.0, 0.0, difference / deviation)


def _summary(law: EffectLaw, tails: Floats) -> Floats:
    """Return mean, lower and upper end of each feature, shape (k, 3)."""
    return np.column_stack([law.mean, quantiles(law, tails)])
