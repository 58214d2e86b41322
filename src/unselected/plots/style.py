"""What all pictures share: the palette, how each method is drawn, ticks and legends.

Colours differ in lightness as well as in hue, and lines in their dashes and markers, so a
picture can be printed in grey.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from unselected._typing import Floats

# From dark to light; the greys of figure 1 are the paper's.
INK = "#1a1a1a"
DARK = "#0b3d6e"
MIDDLE = "#d9630f"
LIGHT = "#a8a8a8"
PALE = "#dcdcdc"
BAND = "#a9c3df"
CELLS = ("#5a5a5a", "#b4b4b4", "#efefef")

# A scatter with more points than this becomes a bitmap inside an otherwise scalable picture.
MOST_VECTOR_POINTS = 1000

SMALL = 8.5


@dataclass(frozen=True)
class Style:
    """How a method is drawn: colour, dashes, marker, and whether the marker is filled."""

    color: str
    linestyle: Any
    marker: str
    filled: bool
    width: float = 1.8

    def line(self) -> dict[str, Any]:
        """Return the properties of a line without markers."""
        return {"color": self.color, "linestyle": self.linestyle, "linewidth": self.width}

    def points(self) -> dict[str, Any]:
        """Return the properties of markers."""
        return {
            "color": self.color,
            "marker": self.marker,
            "markersize": 6,
            "markerfacecolor": self.color if self.filled else "white",
        }


# As in the paper: all features solid, corrected dashed, uncorrected dotted.
METHOD_STYLES = {
    "corrected": Style(DARK, (0, (5, 2)), "o", filled=True),
    "uncorrected": Style(MIDDLE, (0, (1, 1.4)), "s", filled=False, width=2.2),
    "complete": Style(LIGHT, "-", "D", filled=True, width=3.6),
}
_OTHER_STYLES = (
    Style(INK, (0, (6, 1.5, 1, 1.5)), "^", filled=True),
    Style("#7a9cc6", (0, (9, 2)), "v", filled=True),
    Style("#7b3f00", "-", "P", filled=True, width=1.2),
    Style("#c9a227", (0, (3, 1, 1, 1, 1, 1)), "X", filled=True),
)


def styles_of(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each name: its own for a method of the paper, else the next free one.

    >>> styles = styles_of(["ours", "mine"])
    >>> sorted(styles), styles["ours"] == METHOD_STYLES["corrected"]
    (['mine', 'ours'], True)
    """
    names = list(names)
    own = METHOD_STYLES | {method_label(name): style for name, style in METHOD_STYLES.items()}
    others = [name for name in names if name not in own]
    spare = {name: _OTHER_STYLES[i % len(_OTHER_STYLES)] for i, name in enumerate(others)}
    return {name: own.get(name) or spare[name] for name in names}


def tidy(ax: Axes) -> None:
    """Take away the lines of the frame that carry no scale."""
    ax.spines[["top", "right"]].set_visible(False)


def draw_diagonal(ax: Axes, label: str | None = None) -> None:
    """Draw the line on which both axes agree."""
    ax.axline((0.0, 0.0), slope=1.0, color=INK, linewidth=0.8, dashes=(4, 3), label=label, zorder=1)


def legend_above(ax: Axes, columns: int = 1, **contents: Any) -> None:
    """Put the legend above the axes, where it hides nothing."""
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        columnspacing=1.2,
        **contents,
    )


def draw_band(ax: Axes, x: Floats, low: Floats, high: Floats, label: str) -> None:
    """Fill the band in which a curve would lie if predictions were right."""
    ax.fill_between(x, low, high, color=BAND, alpha=0.6, linewidth=0, zorder=1, label=label)


def finish_unit_square(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Finish a picture with a fraction on both axes."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", xlabel=xlabel, ylabel=ylabel)
    tidy(ax)
    legend_above(ax, columns=2)


def square_limits(ax: Axes, *values: Floats, floor: float | None = None) -> None:
    """Give both axes the same limits, with a margin around all values, and the same unit."""
    low, high = float(min(map(np.min, values))), float(max(map(np.max, values)))
    margin = 0.06 * (high - low) or 0.05
    low = low - margin if floor is None else floor
    ax.set(xlim=(low, high + margin), ylim=(low, high + margin), aspect="equal")


def plain_number(value: float) -> str:
    """Return a tick label: digits where they are few, else a power of ten.

    >>> plain_number(0.01), plain_number(1e5), plain_number(1e6)
    ('0.01', '100000', '$10^{6}$')
    """
    if 5e-4 < value < 999_999:
        return f"{value:.6g}"
    exponent = int(np.floor(np.log10(value)))
    digits = value / 10.0**exponent
    factor = "" if np.isclose(digits, 1.0) else rf"{digits:.3g} \times "
    return f"${factor}10^{{{exponent}}}$"


def log_ticks(ax: Axes, which: str) -> None:
    """Make an axis logarithmic, with numbers at powers of ten, or closer where these are few."""
    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = axis.get_view_interval()
    axis.set_major_locator(
        LogLocator(10.0, (1.0, 2.0, 5.0) if high < 200 * low else (1.0,), numticks=12)
    )
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    axis.set_minor_formatter(NullFormatter())


def ticks_at_k(ax: Axes, k: Floats, all_k: Floats) -> None:
    """Make the axis of k logarithmic, with a tick at each k where these stand apart.

    Those in ``all_k`` are the number of all features, and their ticks say so.
    """
    log_ticks(ax, "x")
    gaps = np.diff(np.log(k))
    if k.size > 8 or np.any(gaps < 0.09 * gaps.sum()):
        return
    labels = {value: f"{value:g}" + ("\n(all)" if value in all_k else "") for value in k.tolist()}
    ax.xaxis.set_major_locator(FixedLocator(k.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, "")))


def circle_entry(label: str, face: str, edge: str) -> Line2D:
    """Return a legend entry for circles."""
    entry = Line2D([], [], linestyle="", marker="o", markersize=5.5, label=label)
    entry.set(markerfacecolor=face, markeredgecolor=edge)
    return entry


# What the methods of a comparison are called in pictures, where that is not their name.
_LABELS = {
    "corrected": "ours",
    "uncorrected": "ours, uncorrected",
    "SelectKBest + GaussianNB": "naive Bayes",
    "SelectKBest + BernoulliNB": "naive Bayes",
    "SelectKBest + GaussianNB, sigmoid ensemble": "naive Bayes, calibrated",
    "SelectKBest + BernoulliNB, sigmoid ensemble": "naive Bayes, calibrated",
    "SelectKBest + LogisticRegression": "logistic regression",
    "SelectKBest + LinearRegression": "least squares",
    "SelectKBest + BayesianRidge": "Bayesian ridge",
    "LassoCV": "lasso",
    "RidgeCV": "ridge",
}


def method_label(method: str) -> str:
    """Return what a method of a comparison is called in pictures.

    >>> method_label("corrected"), method_label("LassoCV"), method_label("mine")
    ('ours', 'lasso', 'mine')
    """
    return _LABELS.get(method, method)


def method_rows(ax: Axes, methods: Sequence[str], *, lines: bool = True) -> Floats:
    """Give each method a row, the first at the top, with its label; return the heights."""
    return named_rows(ax, [method_label(method) for method in methods], lines=lines)


def named_rows(ax: Axes, names: Sequence[str], *, lines: bool = True) -> Floats:
    """Give each name a row, the first at the top, on a faint line; return the heights."""
    places = np.arange(len(names), dtype=np.float64)[::-1]
    ax.set_yticks(places.tolist(), [shortened(name) for name in names], fontsize=SMALL)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.tick_params(axis="y", length=0)
    if lines:
        across = ax.get_yaxis_transform()
        ax.hlines(places, 0, 1, transform=across, color=PALE, linewidth=0.6, zorder=0)
    return places


def shortened(name: str, most: int = 26) -> str:
    """Return a name that fits beside a picture.

    >>> shortened("a name that is much too long for a row")
    'a name that is much too l…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


def curve_style(place: int) -> dict[str, Any]:
    """Return the properties of one of several curves: the first, ours, is the strongest."""
    if place == 0:
        return {"color": DARK, "linewidth": 2.2, "zorder": 3}
    style = (METHOD_STYLES["uncorrected"], *_OTHER_STYLES)[(place - 1) % (1 + len(_OTHER_STYLES))]
    return {**style.line(), "linewidth": 1.4, "zorder": 2}


def class_looks(n_classes: int) -> list[dict[str, Any]]:
    """Return a colour and a marker for each class; those of a single one are the strongest."""
    styles = [Style(DARK, "-", "o", filled=True), METHOD_STYLES["uncorrected"], *_OTHER_STYLES]
    size = 6 if n_classes == 1 else 4.5
    return [
        {"color": style.color, "marker": style.marker, "markersize": size}
        for style in (styles[i % len(styles)] for i in range(n_classes))
    ]
