"""Effects of the kept features: at face value, and with selection accounted for."""

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from unselected.fitted.effects import Effect, FeatureEffects
from unselected.plots.concentration import Selective, check_estimator
from unselected.plots.style import (
    BAND,
    DARK,
    LIGHT,
    MOST_VECTOR_POINTS,
    axes_or_new,
    draw_diagonal,
    legend_above,
    tidy,
)

_WORDS = {
    "rate_difference": "difference of rates",
    "log_odds_ratio": "log odds ratio",
    "mean_difference": "standardized mean difference",
    "standardized_slope": "standardized slope",
}


class EffectsDisplay:
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

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(self, effect: Effect, *, name: str, level: float) -> None:
        self.effect = effect
        self.name = name
        self.level = level

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
        self.ax_ = axes_or_new(ax, 5.2, 4.6)
        self.figure_ = self.ax_.figure
        shown = np.isfinite(self.effect.naive)
        naive, mean, low, high = (
            getattr(self.effect, part)[shown] for part in ("naive", "mean", "low", "high")
        )
        style: dict[str, Any] = {"rasterized": naive.size > MOST_VECTOR_POINTS}
        draw_diagonal(self.ax_, "as strong as it looked")
        self.ax_.axhline(0.0, color=LIGHT, linewidth=0.8, zorder=1)
        bars = f"{100.0 * self.level:g} % interval"
        self.bars_ = self.ax_.vlines(
            naive, low, high, color=BAND, linewidth=2.4, label=bars, zorder=2, **style
        )
        self.points_ = self.ax_.scatter(
            naive, mean, s=16, color=DARK, label="posterior mean", zorder=3, **style
        )
        words = self._words()
        self.ax_.set(xlabel=f"{words[:1].upper()}{words[1:]} at face value")
        self.ax_.set(ylabel=f"{words[:1].upper()}{words[1:]}, posterior")
        tidy(self.ax_)
        legend_above(self.ax_, columns=3)
        return self

    def _words(self) -> str:
        """Return what the effect is called: of several classes with that of the class."""
        if self.name in _WORDS:
            return _WORDS[self.name]
        label = self.name.removeprefix("mean_difference_")
        return f"standardized difference of {label} from the mean of classes"
