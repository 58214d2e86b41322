"""Effects of the kept features: at face value, and with selection accounted for."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from unselected.fitted.effects import Effect, FeatureEffects
from unselected.plots.concentration import Selective, check_estimator
from unselected.plots.display import Display
from unselected.plots.style import (
    BAND,
    DARK,
    LIGHT,
    MOST_VECTOR_POINTS,
    draw_diagonal,
    legend_above,
    tidy,
)

_WORDS = {
    "rate_difference": "Difference of rates",
    "log_odds_ratio": "Log odds ratio",
    "mean_difference": "Standardized mean difference",
    "raw_difference": "Difference in the units of the column",
    "standardized_slope": "Standardized slope",
}
# The same of a class among several, with its label.
_OF_A_CLASS = {
    "rate_difference_": "Difference of the rate in {} from the mean of classes",
    "log_odds_ratio_": "Difference of the log odds in {} from the mean of classes",
    "mean_difference_": "Standardized difference of {} from the mean of classes",
    "raw_difference_": "Difference of {} from the mean of classes, in the units of the column",
}


def effect_words(kind: str, *, several: bool = False) -> str:
    """Return what a kind of effect is called, of one of several classes too.

    >>> effect_words("mean_difference"), effect_words("rate_difference", several=True)
    ('Standardized mean difference', 'Difference of rates from the mean of classes')
    """
    return _WORDS[kind] + (" from the mean of classes" if several else "")


@dataclass(eq=False, repr=False)
class EffectsDisplay(Display):
    """Effects of the kept features under the posterior, against those at face value.

    A feature is a dot at its effect at face value (across) and the posterior mean of its effect
    (upwards), on a bar that is the posterior interval. On the diagonal a feature would be as strong
    as it looked; the distance from there is the winner's curse.

    Parameters
    ----------
    effect : Effect
    name : str
        Which effect it is, as in `FeatureEffects.effects`.
    level : float
        Posterior probability of the intervals.

    Attributes
    ----------
    bars_ : LineCollection
    points_ : PathCollection
    ax_ : Axes
    figure_ : Figure
    """

    effect: Effect
    _: KW_ONLY
    name: str
    level: float

    @classmethod
    def from_estimator(
        cls,
        estimator: Selective,
        *,
        effect: str | None = None,
        level: float = 0.9,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the effects of the features that a fitted estimator kept.

        Parameters
        ----------
        estimator : SelectiveBernoulliNB, SelectiveGaussianNB or SelectiveNaiveRegressor
        effect : str, default=None
            One of the names in ``estimator.feature_effects().effects``; the first by default.
        level : float, default=0.9
            Posterior probability of the intervals.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : EffectsDisplay
        """
        check_estimator(estimator, "estimator")
        return cls.from_effects(estimator.feature_effects(level=level), effect=effect, ax=ax)

    @classmethod
    def from_effects(
        cls, effects: FeatureEffects, *, effect: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw effects that were computed before.

        Parameters
        ----------
        effects : FeatureEffects
            What ``feature_effects()`` of an estimator or of a saved model returns.
        effect : str, default=None
            One of the names in ``effects.effects``; the first by default.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : EffectsDisplay
        """
        names = list(effects.effects)
        name = names[0] if effect is None else effect
        if name not in names:
            raise ValueError(f"effect={effect!r} is not one of {', '.join(map(repr, names))}.")
        if len(effects) == 0:
            raise ValueError("no feature was kept: there is nothing to draw.")
        return cls(effects.effects[name], name=name, level=effects.level).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a dot and a bar for each feature; infinite effects at face value are left out.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : EffectsDisplay
        """
        ax = self._start(ax, 5.2, 4.6)
        shown = np.isfinite(self.effect.naive)
        naive, mean, low, high = (
            getattr(self.effect, part)[shown] for part in ("naive", "mean", "low", "high")
        )
        style: dict[str, Any] = {"rasterized": naive.size > MOST_VECTOR_POINTS}
        draw_diagonal(ax, "as strong as it looked")
        ax.axhline(0.0, color=LIGHT, linewidth=0.8, zorder=1)
        bars = f"{100.0 * self.level:g} % interval"
        self.bars_ = ax.vlines(
            naive, low, high, color=BAND, linewidth=2.4, label=bars, zorder=2, **style
        )
        self.points_ = ax.scatter(
            naive, mean, s=16, color=DARK, label="posterior mean", zorder=3, **style
        )
        words = self._words()
        ax.set(xlabel=f"{words},\nat face value", ylabel=f"{words},\nposterior")
        tidy(ax)
        legend_above(ax, columns=3)
        return self

    def _words(self) -> str:
        """Return what the effect is called: of several classes with that of the class."""
        if self.name in _WORDS:
            return _WORDS[self.name]
        for kind, words in _OF_A_CLASS.items():
            if self.name.startswith(kind):
                return words.format(self.name.removeprefix(kind))
        return self.name
