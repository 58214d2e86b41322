"""The strongest features with their effects and intervals: one row for each."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from unselected.fitted.effects import Effect, FeatureEffects
from unselected.plots.display import Display
from unselected.plots.effects import effect_words
from unselected.plots.style import (
    BAND,
    INK,
    LIGHT,
    class_looks,
    legend_above,
    named_rows,
    tidy,
)


@dataclass(eq=False, repr=False)
class FeatureIntervalsDisplay(Display):
    """The features with the largest scores: effect at face value, and what is left of it.

    A row has a hollow dot at the effect at face value, and a filled one at the posterior mean, on a
    bar that is the posterior interval. Of more than two classes there is a pair for each class.

    Parameters
    ----------
    features : sequence of str
        The largest score first.
    effects : dict of str to Effect
        By name, as in `FeatureEffects.effects`, of these features.
    level : float
        Posterior probability of the intervals.
    between : str, default=""
        What the effects are between, as in "AML less ALL".

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    """

    features: Sequence[str]
    effects: dict[str, Effect]
    _: KW_ONLY
    level: float
    between: str = ""

    @classmethod
    def from_effects(
        cls,
        effects: FeatureEffects,
        *,
        names: Sequence[str] | None = None,
        kind: str | None = None,
        between: str = "",
        most: int = 15,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the features with the largest scores.

        Parameters
        ----------
        effects : FeatureEffects
            What ``feature_effects()`` of an estimator or of a saved model returns.
        names : sequence of str, default=None
            Of the features, in their order in ``effects``.
        kind : str, default=None
            What the names of the effects start with, as "mean_difference"; by default those of the
            first.
        between : str, default=""
            What the effects are between, as in "AML less ALL".
        most : int, default=15
            The number of rows.
        ax : Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : FeatureIntervalsDisplay
        """
        if len(effects) == 0:
            raise ValueError("no feature was kept: there is nothing to draw.")
        kind = kind_of(next(iter(effects.effects))) if kind is None else kind
        chosen = {name: one for name, one in effects.effects.items() if kind_of(name) == kind}
        known = np.isfinite(next(iter(chosen.values())).mean)
        order = np.argsort(-effects.score, kind="stable")
        shown = order[known[order]][: max(3, most // max(1, len(chosen) - 1))]
        labels = [str(name) for name in (effects.features if names is None else names)]
        parts = ("naive", "mean", "low", "high")
        return cls(
            [labels[j] for j in shown],
            {
                name: Effect(*(getattr(one, part)[shown] for part in parts))
                for name, one in chosen.items()
            },
            level=effects.level,
            between=between,
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a row for each feature, the strongest at the top.

        Parameters
        ----------
        ax : Axes, default=None

        Returns
        -------
        self : FeatureIntervalsDisplay
        """
        ax = self._start(ax, 5.2, 5.2)
        rows = named_rows(ax, self.features)
        ax.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
        n = len(self.effects)
        offsets = [0.0] if n == 1 else np.linspace(0.3, -0.3, n).tolist()
        looks = class_looks(n)
        handles: list[Any] = []
        for (name, effect), offset, look in zip(self.effects.items(), offsets, looks, strict=True):
            places = rows + offset
            bar = ax.hlines(
                places, effect.low, effect.high, color=BAND, linewidth=5.0 if n == 1 else 2.5
            )
            face = ax.plot(
                effect.naive,
                places,
                linestyle="",
                marker="o",
                markersize=5 if n == 1 else 3,
                markerfacecolor="white",
                markeredgecolor=LIGHT,
                zorder=2,
            )[0]
            mean = ax.plot(effect.mean, places, linestyle="", zorder=3, **look)[0]
            mean.set_label("posterior mean" if n == 1 else class_of(name))
            handles.append(mean)
        face.set_label("at face value")
        bar.set_label(f"{100.0 * self.level:g} % interval")
        kind = kind_of(next(iter(self.effects)))
        between = f", {self.between}" if self.between else ""
        ax.set_xlabel(f"{effect_words(kind, several=n > 1)}{between}")
        tidy(ax)
        legend_above(ax, columns=3, handles=[*handles, bar, face])
        return self


# The names of effects of one class among several start with one of these.
_KINDS = (
    "rate_difference",
    "log_odds_ratio",
    "mean_difference",
    "raw_difference",
    "standardized_slope",
)


def kind_of(name: str) -> str:
    """Return the kind of an effect: its name without that of the class.

    >>> kind_of("mean_difference_FL"), kind_of("standardized_slope")
    ('mean_difference', 'standardized_slope')
    """
    return next((kind for kind in _KINDS if name.startswith(kind)), name)


def class_of(name: str) -> str:
    """Return the class of an effect of one among several.

    >>> class_of("mean_difference_FL")
    'FL'
    """
    return name.removeprefix(kind_of(name)).removeprefix("_")
