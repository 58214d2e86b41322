"""The figures of the paper, drawn of our own runs, with what the paper shows beside them."""

import io
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from unselected.datasets import PaperSimulation
from unselected.experiments import ColonRecord, SimulationRecord, paired_tests
from unselected.experiments.published import (
    COLON_BETTER,
    COLON_ERROR,
    GAMMA,
    TABLE,
    PublishedScores,
    published_scores,
)
from unselected.plots.by_k import ErrorByKDisplay, ScoresByKDisplay
from unselected.plots.concentration import ConcentrationDisplay
from unselected.plots.correlations import CorrelationsDisplay, SelectedCountsDisplay
from unselected.plots.groups import PairedScoresDisplay
from unselected.plots.predictions import ProbabilityScatterDisplay
from unselected.plots.style import INK, METHOD_STYLES, SMALL, draw_diagonal, tidy

# The paper's points, over ours.
_PAPERS: dict[str, Any] = {"color": INK, "linestyle": "", "markersize": 8, "zorder": 4}
# Inches of a line of a caption, and letters in an inch of it.
_LINE, _LETTERS = 0.19, 15.0

SIMULATION_FIGURES = ("figure1", "figure2", "figure3", "figure4", "table1", "figure5")
COLON_FIGURES = ("figure6", "figures7and8")


def simulation_figures(
    records: Sequence[SimulationRecord], data: PaperSimulation
) -> dict[str, Figure]:
    """Draw figures 1 to 5 and Table 1 of the paper.

    Parameters
    ----------
    records : sequence of SimulationRecord
        From `unselected.experiments.simulation`, with the paper's numbers of features.
    data : PaperSimulation
        Those of the first replicate.

    Returns
    -------
    figures : dict of str to Figure
        By the names in ``SIMULATION_FIGURES``. Close them with ``pyplot.close``.
    """
    n = len({record.replicate for record in records})
    here = f"Here: {n} data set{'' if n == 1 else 's'}"
    figures = (
        _counts_figure(),
        _correlations_figure(data),
        _errors_figure(records, here),
        _scores_figure(records, here),
        _table_figure(records, here),
        _posteriors_figure(records),
    )
    return dict(zip(SIMULATION_FIGURES, figures, strict=True))


def colon_figures(records: Sequence[ColonRecord]) -> dict[str, Figure]:
    """Draw figures 6 to 8 of the paper.

    Parameters
    ----------
    records : sequence of ColonRecord
        From `unselected.experiments.colon`. Figure 6 is of the first division of the genes, figures
        7 and 8 of all.

    Returns
    -------
    figures : dict of str to Figure
        By the names in ``COLON_FIGURES``.
    """
    figures = (_probabilities_figure(records), _groups_figure(records))
    return dict(zip(COLON_FIGURES, figures, strict=True))


def as_png(figure: Figure) -> bytes:
    """Return a figure as a PNG file, and close it."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    plt.close(figure)
    return content.getvalue()


def _start(
    width: float, height: float, rows: int, columns: int, title: str, caption: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a title, panels, and below them a caption in lines that fit."""
    lines = [
        line for text in caption for line in textwrap.wrap(text, width=round(_LETTERS * width))
    ]
    below = _LINE * (len(lines) + 1)
    figure = plt.figure(figsize=(width, height + below), layout="constrained")
    top, foot = figure.subfigures(2, 1, height_ratios=[height, below], squeeze=False)[:, 0]
    top.suptitle(title, fontsize="large", fontweight="bold")
    foot.text(0.02, 0.95, "\n".join(lines), va="top", fontsize=SMALL + 0.5)
    return figure, list(np.ravel(top.subplots(rows, columns, squeeze=False)))


def _counts_figure() -> Figure:
    caption = [
        "Paper: n = 22, 14 cases of class 1, cut 0.2; dark grey is correlation 0, medium grey "
        "omitted, light grey kept.",
        "Here: the same table, which has no random numbers.",
    ]
    figure, (ax,) = _start(7.5, 5.4, 1, 1, "Figure 1: which counts are kept", caption)
    SelectedCountsDisplay.from_counts(8, 14, 0.2, ax=ax)
    return figure


def _correlations_figure(data: PaperSimulation) -> Figure:
    ks = list(GAMMA)
    display = CorrelationsDisplay.from_data(
        data.X_train, data.y_train, data.X_test, data.y_test, ks=ks, ax=Figure().subplots()
    )
    rank = 1 + int(np.sum(display.train > display.train[np.argmax(display.test)]))
    caption = [
        f"Smallest kept correlations for k = {_listed(ks)}; the strongest feature in test data.",
        f"Paper: {_listed(GAMMA.values())}; it is not among the first 1000 in training data.",
        f"Here: {_listed(display.cuts.round(2))}; it is number {rank} in training data.",
    ]
    title = "Figure 2: training and test correlations"
    figure, (ax,) = _start(7.0, 5.6, 1, 1, title, caption)
    display.plot(ax)
    return figure


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _errors_figure(records: Sequence[SimulationRecord], here: str) -> Figure:
    caption = [
        "Paper: crosses, computed from its Table 1. Corrected, the expected error is close to the "
        "actual one; uncorrected, it is far too low. Error rates hardly differ.",
        f"{here}; lines are means, shades the range.",
    ]
    figure, axes = _start(9.0, 3.8, 1, 2, "Figure 3: actual and expected error", caption)
    ErrorByKDisplay.from_records(records, ax=axes)
    for ax, method in zip(axes, ("corrected", "uncorrected"), strict=True):
        published = _published(method)
        ks = [score.k for score in published]
        ax.plot(
            ks, [s.actual_error for s in published], marker="x", label="paper, actual", **_PAPERS
        )
        ax.plot(
            ks,
            [s.expected_error for s in published],
            marker="+",
            label="paper, expected",
            **_PAPERS,
        )
        handles = [*_legend(ax).legend_handles, *ax.lines[-2:]]
        ax.legend(handles=handles, fontsize=SMALL, frameon=False)
    return figure


def _legend(ax: Axes) -> Legend:
    """Return the legend that a display has drawn."""
    legend = ax.get_legend()
    assert legend is not None
    return legend


def _published(method: str) -> list[PublishedScores]:
    """Return the paper's scores of a method by k, ended by those of all features."""
    return [score for score in published_scores() if score.method in (method, "complete")]


def _scores_figure(records: Sequence[SimulationRecord], here: str) -> Figure:
    caption = [
        "Paper: crosses in the middle, computed from its Table 1 (x corrected, + uncorrected). "
        "Corrected is better by both scores; uncorrected gets worse from 1 to 10 features; the "
        "times almost coincide.",
        f"{here}; lines are means, shades the range.",
    ]
    title = "Figure 4: log probability, squared error, time"
    figure, axes = _start(11.0, 3.6, 1, 3, title, caption)
    ScoresByKDisplay.from_records(records, axes=axes)
    for method, marker in (("corrected", "x"), ("uncorrected", "+")):
        published = _published(method)
        squared = [score.squared_error for score in published]
        axes[1].plot([score.k for score in published], squared, marker=marker, **_PAPERS)
    return figure


def _table_figure(records: Sequence[SimulationRecord], here: str) -> Figure:
    caption = [
        "Test cases by the first decimal of their probability of class 1: mean prediction and "
        "actual fraction, larger points for more cases. On the line, predictions are calibrated.",
        f"Paper: crosses, for categories of 20 cases or more. {here}.",
    ]
    title = "Table 1 as a picture: calibration"
    figure, axes = _start(12.0, 5.4, 2, 5, title, caption)
    panels = [(k, method) for method in ("corrected", "uncorrected") for k in GAMMA]
    places = [*range(4), *range(5, 9)]
    for place, (k, method) in zip([*places, 4], [*panels, (10_000, "complete")], strict=True):
        _draw_categories(axes[place], records, k, method)
    axes[9].set_visible(False)
    return figure


def _draw_categories(ax: Axes, records: Iterable[SimulationRecord], k: int, method: str) -> None:
    rows = [
        row
        for record in records
        if (record.k, record.method) == (k, method)
        for row in record.table
        if row["count"]
    ]
    draw_diagonal(ax)
    ax.scatter(
        [row["mean_prediction"] for row in rows],
        [row["actual_fraction"] for row in rows],
        s=[2 + row["count"] / 12 for row in rows],
        color=METHOD_STYLES[method].color,
        alpha=0.4,
        linewidths=0,
    )
    cells = [cell for cell in TABLE[k, method].values() if cell[0] >= 20]  # type: ignore[index]
    ax.plot([cell[1] for cell in cells], [cell[2] for cell in cells], marker="x", **_PAPERS)
    name = "all features" if method == "complete" else f"k = {k}, {method}"
    ax.set_title(name, fontsize="medium")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="Predicted", ylabel="Actual")
    tidy(ax)


def _posteriors_figure(records: Sequence[SimulationRecord]) -> Figure:
    caption = [
        "Paper: the true value is 5.7. Uncorrected, the posterior favours smaller values; "
        "corrected, it is spread around the true one, and with 100 and 1000 features it overlaps "
        "that of all features.",
        "Here: the first data set.",
    ]
    title = "Figure 5: posterior of log(alpha)"
    figure, axes = _start(10.0, 7.6, 2, 2, title, caption)
    for ax, k in zip(axes, GAMMA, strict=True):
        ConcentrationDisplay.from_records(records, k=k, true_concentration=300.0, ax=ax)
        ax.set_title(f"k = {k}", fontsize="medium", loc="left")
    return figure


def _probabilities_figure(records: Sequence[ColonRecord]) -> Figure:
    means = {method: _mean_error(records, method) for method in COLON_ERROR}
    caption = [
        "Filled: tumour, hollow: normal tissue. Paper: uncorrected probabilities are more extreme; "
        f"error {COLON_ERROR['uncorrected']} uncorrected, {COLON_ERROR['corrected']} corrected.",
        f"Here: the first division of the genes; error {means['uncorrected']:.3f} uncorrected, "
        f"{means['corrected']:.3f} corrected, over all divisions.",
    ]
    title = "Figure 6: probabilities of tumour, ten groups of genes"
    figure, axes = _start(12.0, 5.4, 2, 5, title, caption)
    first = {(r.group, r.method): r for r in records if r.partition == 0}
    for group, ax in enumerate(axes):
        corrected, uncorrected = (first[group, m] for m in ("corrected", "uncorrected"))
        ProbabilityScatterDisplay.from_predictions(
            corrected.y, corrected.probability, uncorrected.probability, ax=ax
        )
        _legend(ax).remove()
        ax.set(xlabel="Uncorrected", ylabel="Corrected")
    return figure


def _mean_error(records: Iterable[ColonRecord], method: str) -> float:
    return float(np.mean([r.actual_error for r in records if r.method == method]))


def _groups_figure(records: Sequence[ColonRecord]) -> Figure:
    tests = {
        score: [test for test in paired_tests(records) if test.score == score]
        for score in COLON_BETTER
    }
    papers = "; ".join(
        f"{score.replace('_', ' ')} in {better} of 10 groups, p = {p:g}"
        for score, (better, p) in COLON_BETTER.items()
    )
    ours = "; ".join(
        f"{score.replace('_', ' ')} {_better(group)}" for score, group in tests.items()
    )
    caption = [
        f"Corrected is better. Paper: {papers}. Expected below actual error in all ten groups "
        "uncorrected, and less so corrected.",
        f"Here: {ours}.",
    ]
    title = "Figures 7 and 8: scores, and actual against expected error, by group of genes"
    figure, axes = _start(8.4, 8.0, 2, 2, title, caption)
    PairedScoresDisplay.from_records(records, axes=axes)
    return figure


def _better(tests: Sequence[Any]) -> str:
    parts = [
        f"in {test.n_better} of {test.n_groups}"
        + ("" if test.p_value is None else f", p = {test.p_value:.2g}")
        for test in tests
    ]
    return " and ".join(parts)
