"""Pictures: the numbers that they hold against other computations, and what is drawn of them."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracle
import pandas as pd
import pytest
from drawing import an_axes, labels
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from scipy.interpolate import CubicSpline
from scipy.stats import hypergeom
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from unselected import SelectiveBernoulliNB, plots
from unselected.audit import check_selection
from unselected.calibration import Estimate, reliability_curve
from unselected.datasets import make_paper_simulation
from unselected.experiments import ComparisonRow
from unselected.plots.concentration import posterior_of
from unselected.plots.style import METHOD_STYLES, styles_of

pytestmark = pytest.mark.usefixtures("few_folds")

SOURCE = Path(__file__).parent.parent.parent / "src" / "unselected"
METHODS = ("corrected", "uncorrected")


# What is drawn: one example of each display, on axes given or on new ones.


def simulated(n_features=300, seed=0):
    return make_paper_simulation(40, 60, n_features, concentration=20.0, random_state=seed)


@cache
def fitted(seed=0, **settings):
    data = simulated(seed=seed)
    return SelectiveBernoulliNB(**{"k": 10, **settings}).fit(data.X_train, data.y_train)


def records_by_k(n_replicates=2, seed=0, complete=True):
    rng = np.random.default_rng(seed)
    runs = [(k, method) for k in (1, 10, 100) for method in METHODS]
    runs += [(1000, "complete")] if complete else []
    records = [
        {"k": k, "method": method, "replicate": replicate, **scores(rng), "seconds": rng.random()}
        for replicate in range(n_replicates)
        for k, method in runs
    ]
    rng.shuffle(records)
    return records


def scores(rng):
    names = ("actual_error", "expected_error", "log_loss", "squared_error")
    return dict(zip(names, rng.random(4), strict=True))


def records_by_group(n_groups=10, seed=0):
    rng = np.random.default_rng(seed)
    records = [
        {"group": group, "method": method, **scores(rng)}
        for group in range(n_groups)
        for method in METHODS
    ]
    rng.shuffle(records)
    return records


def draw_correlations(**where):
    data = simulated()
    return plots.CorrelationsDisplay.from_data(
        data.X_train, data.y_train, data.X_test, data.y_test, ks=(1, 10, 100), **where
    )


def draw_reliability(**where):
    rng = np.random.default_rng(0)
    p = rng.random(200)
    return plots.ReliabilityDisplay.from_predictions(
        rng.random(200) < p, p, random_state=0, **where
    )


def draw_scatter(**where):
    p = np.random.default_rng(0).random((2, 50))
    return plots.ProbabilityScatterDisplay.from_predictions(p[0] > 0.5, *p, **where)


def draw_concentration(**where):
    estimators = {name: fitted(correct_selection=name == "corrected") for name in METHODS}
    return plots.ConcentrationDisplay.from_estimators(estimators, true_concentration=20, **where)


def pit_values():
    corrected, uncorrected = np.random.default_rng(0).random((2, 80))
    return {"corrected": corrected, "uncorrected": np.round(uncorrected)}


def draw_predicted_actual(**where):
    mean, noise = np.random.default_rng(0).normal(size=(2, 60))
    return plots.PredictedActualDisplay.from_predictions(
        mean + noise, mean, mean - 1.6, mean + 1.6, level=0.9, **where
    )


def compared_rows():
    """Rows of a comparison of two methods."""
    number = Estimate(0.2, 0.1, 0.3, 0.95)
    fields = ("log_loss", "squared_error", "actual_error", "expected_error", "auc")
    numbers = {**dict.fromkeys(fields, number), "features_needed": 3.0}
    return [
        ComparisonRow("corrected", **numbers),
        ComparisonRow("lasso", **numbers, differences={"log_loss": number}),
    ]


def two_pairs():
    """Which cases are positive, and their probabilities, of two methods."""
    happened = np.arange(20) % 2 == 1
    return {"ours": (happened, np.linspace(0.1, 0.9, 20)), "lasso": (happened, happened * 0.5)}


@cache
def an_audit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 20)), np.repeat([0, 1], 20)
    return check_selection(GaussianNB(), X, y, n_permutations=5, try_remedy=False)


EXAMPLES = {
    "SelectedCounts": (
        lambda **where: plots.SelectedCountsDisplay.from_counts(8, 14, 0.2, **where),
        None,
    ),
    "Correlations": (draw_correlations, None),
    "ErrorByK": (
        lambda **where: plots.ErrorByKDisplay.from_records(records_by_k(), **where),
        (1, 2),
    ),
    "ScoresByK": (
        lambda **where: plots.ScoresByKDisplay.from_records(records_by_k(), **where),
        (1, 3),
    ),
    "Reliability": (draw_reliability, None),
    "Concentration": (draw_concentration, None),
    "OmissionProbability": (
        lambda **where: plots.OmissionProbabilityDisplay.from_estimator(fitted(), **where),
        None,
    ),
    "Effects": (lambda **where: plots.EffectsDisplay.from_estimator(fitted(k=3), **where), None),
    "ProbabilityScatter": (draw_scatter, None),
    "PIT": (lambda **where: plots.PITDisplay.from_predictions(pit_values(), **where), None),
    "Coverage": (
        lambda **where: plots.CoverageDisplay.from_predictions(pit_values(), **where),
        None,
    ),
    "PredictedActual": (draw_predicted_actual, None),
    "PairedScores": (
        lambda **where: plots.PairedScoresDisplay.from_records(records_by_group(), **where),
        (2, 2),
    ),
    "Methods": (lambda **where: plots.MethodsDisplay.from_rows(compared_rows(), **where), (1, 5)),
    "PromisedActual": (
        lambda **where: plots.PromisedActualDisplay.from_errors(compared_rows(), 50, **where),
        None,
    ),
    "Roc": (
        lambda **where: plots.RocDisplay.from_predictions(two_pairs(), positive="ill", **where),
        None,
    ),
    "DecisionCurve": (
        lambda **where: plots.DecisionCurveDisplay.from_predictions(
            two_pairs(), positive="ill", **where
        ),
        None,
    ),
    "FeatureIntervals": (
        lambda **where: plots.FeatureIntervalsDisplay.from_effects(
            fitted(k=3).feature_effects(), **where
        ),
        None,
    ),
    "Stability": (
        lambda **where: plots.StabilityDisplay.from_frequency(
            ["a", "b"], np.array([0.5, 1.0]), [1], n_resamples=10, **where
        ),
        None,
    ),
    "SelectionAudit": (
        lambda **where: plots.SelectionAuditDisplay.from_audit(an_audit(), **where),
        (1, 2),
    ),
    "CaseStrip": (
        lambda **where: plots.CaseStripDisplay.from_predictions(
            [0, 1], np.full((2, 2), 0.5), classes=["well", "ill"], **where
        ),
        None,
    ),
}


# Each row has a name, and the axis none.
OF_ROWS = {"CaseStrip", "FeatureIntervals", "Methods", "PromisedActual", "Stability"}


def where_to(example, figure):
    """Keyword arguments that put an example on a figure."""
    shape = EXAMPLES[example][1]
    if shape is None:
        return {"ax": figure.subplots()}
    axes = figure.subplots(*shape)
    return {"ax": axes} if example == "ErrorByK" else {"axes": axes}


@pytest.mark.parametrize("example", EXAMPLES)
def test_draws_on_the_axes_given_without_pyplot(example):
    figure, other = Figure(), Figure()
    display = EXAMPLES[example][0](**where_to(example, figure))
    assert display.figure_ is figure
    again = display.plot(*where_to(example, other).values())
    assert again is display
    assert display.figure_ is other
    assert plt.get_fignums() == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_draws_on_one_new_figure_with_labels_and_a_legend(example):
    display = EXAMPLES[example][0]()
    assert len(plt.get_fignums()) == 1
    assert plt.gcf() is display.figure_
    axes = display.figure_.axes
    assert all(ax.get_xlabel() or ax.get_title() for ax in axes)
    assert example in OF_ROWS or all(ax.get_ylabel() for ax in axes)
    assert example == "Methods" or any(ax.get_legend() is not None for ax in axes)
    assert axes[0] is (display.ax_ if hasattr(display, "ax_") else display.axes_[0])


def test_every_display_has_an_example():
    assert {f"{name}Display" for name in EXAMPLES} | {"inline_svg"} == set(plots.__all__)


@pytest.mark.parametrize("example", EXAMPLES)
def test_inline_svg(example):
    """An element by itself, with words in it, and no figure left behind."""
    display = EXAMPLES[example][0]()
    ax = display.figure_.axes[0]
    first = plots.inline_svg(display)
    assert ElementTree.fromstring(first).tag.endswith("svg")
    texts = ax.get_legend().get_texts() if ax.get_legend() else ax.get_yticklabels()
    assert texts[0].get_text().replace(">", "&gt;") in first
    assert len(first) < 120_000
    assert plt.get_fignums() == []


@pytest.mark.parametrize("example", list(EXAMPLES)[:3])
def test_equal_pictures_are_equal_text(example):
    first, second = (plots.inline_svg(EXAMPLES[example][0]()) for _ in range(2))
    assert first == second


def test_inline_svg_of_a_part_of_a_figure():
    figure = Figure()
    part = figure.subfigures(1, 2)[0]
    display = plots.SelectedCountsDisplay.from_counts(3, 4, 0.5, ax=part.subplots())
    assert display.figure_ is part
    assert plots.inline_svg(display).startswith("<svg ")


@pytest.mark.parametrize("example", ["ErrorByK", "ScoresByK", "PairedScores"])
def test_as_many_axes_as_panels(example):
    with pytest.raises(ValueError, match=r"has 5 axes, but [234] panels are drawn"):
        EXAMPLES[example][0](**{"ax" if example == "ErrorByK" else "axes": an_axes(1, 5)})


def test_methods_differ_in_grey():
    """Lightness, dashes and marker, so that no picture rests on hue."""

    def lightness(style):
        return np.dot(to_rgba(style.color)[:3], [0.299, 0.587, 0.114])

    values = sorted(map(lightness, METHOD_STYLES.values()))
    assert np.all(np.diff(values) > 0.12)
    for attribute in ("linestyle", "marker"):
        assert len({getattr(style, attribute) for style in METHOD_STYLES.values()}) == 3
    several = styles_of(["corrected", "a", "b", "c", "d"])
    assert len({style.marker for style in several.values()}) == 5


# Without matplotlib.


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("module", ["unselected.plots", "unselected.plots.by_k"])
def test_without_matplotlib_one_line_says_what_to_install(module):
    answer = run(f"import sys; sys.modules['matplotlib'] = None; import {module}")
    last = answer.stderr.strip().splitlines()[-1]
    assert answer.returncode == 1
    assert last.startswith("ImportError: ")
    assert last.endswith('pip install "unselected[plots]"')


def test_all_else_works_without_matplotlib():
    blocker = "import sys; sys.modules['matplotlib'] = None; "
    assert run(blocker + "import unselected; unselected.SelectiveBernoulliNB").returncode == 0


def test_only_plots_import_matplotlib():
    importing = re.compile(r"^\s*(import|from) matplotlib", re.MULTILINE)
    found = {path for path in SOURCE.rglob("*.py") if importing.search(path.read_text())}
    assert found
    assert all(path.parent.name == "plots" for path in found)


# The (I0, I1) plane.


@pytest.mark.parametrize(
    ("n0", "n1", "threshold"), [(8, 14, 0.2), (5, 5, 0.6), (3, 9, 0.0), (1, 1, 1.0), (12, 7, 0.45)]
)
def test_selected_counts(n0, n1, threshold):
    """Against fractions and numpy's correlation of the data themselves."""
    display = plots.SelectedCountsDisplay.from_counts(n0, n1, threshold, ax=an_axes())
    y = np.repeat([0, 1], [n0, n1])
    for (I0, I1), square in oracle.all_cor_squared(n0, n1).items():
        x = np.concatenate([np.arange(n0) < I0, np.arange(n1) < I1])
        expected = 0.0 if square == 0 else np.corrcoef(x, y)[0, 1]
        assert display.cor[I0, I1] == pytest.approx(expected, abs=1e-12)
        omitted = float(square) <= threshold**2 * (1 + 1e-12)
        assert display.region[I0, I1] == (0 if square == 0 else 1 if omitted else 2)
    np.testing.assert_array_equal(display.image_.get_array(), display.region)


def test_ties_at_the_threshold_are_omitted():
    """3/5 is at most 0.6, whatever doubles say; a little less is not."""
    assert plots.SelectedCountsDisplay.from_counts(5, 5, 0.6, ax=an_axes()).region[1, 4] == 1
    assert plots.SelectedCountsDisplay.from_counts(5, 5, 0.5999, ax=an_axes()).region[1, 4] == 2


def test_figure_1_shows_each_correlation_once():
    ax = plots.SelectedCountsDisplay.from_counts(8, 14, 0.2, ax=an_axes()).ax_
    words = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(words) == len(ax.texts) == 9 * 15
    # x is I1, y is I0: all ones in class 1 and none in class 0 is a correlation of 1.
    assert (words[14, 0], words[0, 8], words[7, 4]) == ("1", "\N{MINUS SIGN}1", "0")
    assert "14 cases of class 1" in ax.get_xlabel()
    assert "8 cases of class 0" in ax.get_ylabel()
    assert [label.split(",")[0] for label in labels(ax)] == ["omitted", "omitted", "kept"]


def test_a_large_plane_is_shaded_only():
    display = plots.SelectedCountsDisplay.from_counts(100, 30, 0.2, ax=an_axes())
    assert not display.ax_.texts
    assert display.region.shape == (101, 31)


@pytest.mark.parametrize("display", [plots.SelectedCountsDisplay, plots.OmissionProbabilityDisplay])
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((0, 5, 0.1), "n0=0 must be a whole number"),
        ((5, 2.5, 0.1), "n1=2.5 must be a whole number"),
        ((5, 5, 1.5), "threshold=1.5 is out of range"),
        ((5, 5, np.nan), "threshold=nan is out of range"),
    ],
)
def test_wrong_counts(display, counts, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        display.from_counts(*counts)
    assert plt.get_fignums() == []


# Training against test correlations.


def test_correlations(seed):
    data = simulated(n_features=150, seed=seed)
    names = np.array(["normal", "tumour"])
    display = plots.CorrelationsDisplay.from_data(
        pd.DataFrame(data.X_train),
        names[data.y_train],
        data.X_test.astype(float),
        names[data.y_test],
        ks=(1, 10, 100, 1000),
        ax=an_axes(),
    )
    for X, y, values in (
        (data.X_train, data.y_train, display.train),
        (data.X_test, data.y_test, display.test),
    ):
        varies = X.std(axis=0) > 0
        expected = [abs(np.corrcoef(column, y)[0, 1]) for column in X.T[varies]]
        np.testing.assert_allclose(values[varies], expected, atol=1e-12)
        assert np.all(values[~varies] == 0)
    assert display.ks.tolist() == [1, 10, 100]
    strongest = np.sort(display.train)[::-1]
    np.testing.assert_array_equal(display.cuts, strongest[[0, 9, 99]])
    verticals = [line.get_xdata()[0] for line in display.ax_.lines if len(line.get_xdata()) == 2]
    assert set(display.cuts) <= set(verticals)
    np.testing.assert_array_equal(
        display.points_.get_offsets(), np.column_stack([display.train, display.test])
    )


def test_many_points_become_a_bitmap():
    assert not draw_correlations(ax=an_axes()).points_.get_rasterized()
    data = simulated(n_features=6000)
    display = plots.CorrelationsDisplay.from_data(*data[:4])
    file = BytesIO()
    display.figure_.savefig(file, format="svg")
    assert display.points_.get_rasterized()
    assert len(file.getvalue()) < 250_000
    p = np.random.default_rng(0).random((2, 3000))
    scatter = plots.ProbabilityScatterDisplay.from_predictions(p[0] > 0.5, *p, ax=an_axes())
    assert scatter.points_.get_rasterized()


def test_wrong_data():
    X, y = np.array([[0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1])
    draw = plots.CorrelationsDisplay.from_data
    with pytest.raises(ValueError, match="column 1 of X_test has the value 3 in row 2"):
        draw(X, y, np.array([[0, 1], [1, 0], [1, 3]]), y)
    with pytest.raises(ValueError, match="X_train has 2 columns, but X_test has 1"):
        draw(X, y, X[:, :1], y)
    with pytest.raises(ValueError, match=r"y_test has the classes \[0, 2\], but y_train has"):
        draw(X, y, X, np.array([0, 2, 2]))
    with pytest.raises(ValueError, match="two classes, not 1"):
        draw(X, np.ones(3), X, y)
    with pytest.raises(ValueError, match="ks has 0"):
        draw(X, y, X, y, ks=(1, 0))
    assert plt.get_fignums() == []


# By number of kept features.


def summary(records, score):
    """Mean, smallest and largest by method and k, the way pandas finds them."""
    frame = pd.DataFrame(records)
    return frame.groupby(["method", "k"])[score].agg(["mean", "min", "max"])


def check_line(line, table, method):
    """The line of a method runs through its means, and ends in that of all features."""
    expected = pd.concat([table.loc[method], table.loc["complete"]])["mean"]
    np.testing.assert_allclose(line.get_xdata(), expected.index)
    np.testing.assert_allclose(line.get_ydata(), expected)


def check_band(band, table, method):
    expected = pd.concat([table.loc[method], table.loc["complete"]])
    corners = {(round(x, 9), round(y, 9)) for x, y in band.get_paths()[0].vertices}
    assert {(k, round(low, 9)) for k, low in expected["min"].items()} <= corners
    assert {(k, round(high, 9)) for k, high in expected["max"].items()} <= corners


@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_errors_by_k(kind, seed):
    records = records_by_k(n_replicates=4, seed=seed)
    display = plots.ErrorByKDisplay.from_records(kind(**record) for record in records)
    assert display.k.tolist() == [1, 10, 100, 1000]
    assert display.actual["corrected"].shape == (4, 4)
    assert display.ax_ is display.axes_[0]
    for ax, method in zip(display.axes_, METHODS, strict=True):
        named = {line.get_label(): line for line in ax.lines}
        for kind_of_error, dashes, band in (("actual", "-", 0), ("expected", ":", 1)):
            table = summary(records, f"{kind_of_error}_error")
            line = named[f"{kind_of_error} error"]
            assert line.get_linestyle() == dashes
            check_line(line, table, method)
            check_band(ax.collections[band], table, method)
        assert named["all features"].get_xdata().tolist() == [1000]
        assert labels(ax)[-1] == "range of 4 replicates"
        assert ax.get_xscale() == "log"
        assert [tick.get_text() for tick in ax.get_xticklabels()][-2:] == ["100", "1000\n(all)"]
    assert display.axes_[0].get_ylim() == display.axes_[1].get_ylim()
    assert [ax.get_title() for ax in display.axes_] == ["Corrected for selection", "Not corrected"]


def test_errors_of_both_methods_in_one_panel():
    ax = an_axes()
    display = plots.ErrorByKDisplay.from_records(records_by_k(1, complete=False), ax=ax)
    assert display.axes_ == [ax]
    assert labels(ax) == [f"{m}, {kind} error" for m in METHODS for kind in ("actual", "expected")]
    assert not ax.collections  # one replicate has no range


def test_complete_alone_has_a_panel():
    records = [record for record in records_by_k() if record["method"] == "complete"]
    display = plots.ErrorByKDisplay.from_records(records)
    assert [ax.get_title() for ax in display.axes_] == ["All features"]
    mean = np.mean([record["actual_error"] for record in records])
    assert display.ax_.lines[0].get_ydata() == pytest.approx([mean])


def test_errors_from_plain_numbers():
    nan = np.nan
    display = plots.ErrorByKDisplay(
        [1, 5, 9],
        {"complete": [nan, nan, 0.1], "corrected": [0.4, 0.3, nan]},
        {"complete": [nan, nan, 0.2], "corrected": [0.5, nan, nan]},
    ).plot([an_axes()])
    named = {line.get_label(): line for line in display.ax_.lines}
    assert named["actual error"].get_xydata().tolist() == [[1, 0.4], [5, 0.3], [9, 0.1]]
    assert named["expected error"].get_xydata().tolist() == [[1, 0.5], [9, 0.2]]


def test_missing_runs_are_left_out_of_the_means():
    records = records_by_k(n_replicates=3)
    gone = next(i for i, r in enumerate(records) if (r["method"], r["k"]) == ("corrected", 10))
    del records[gone]
    display = plots.ErrorByKDisplay.from_records(records)
    assert np.isnan(display.actual["corrected"]).sum() == 3 + 1  # k = 1000, and the one missing
    line = display.axes_[0].lines[0]
    check_line(line, summary(records, "actual_error"), "corrected")


def test_scores_by_k(seed):
    records = records_by_k(n_replicates=3, seed=seed)
    display = plots.ScoresByKDisplay.from_records(records)
    units = {"log_loss": "nats", "squared_error": "squared", "seconds": "seconds"}
    for ax, (score, word) in zip(display.axes_, units.items(), strict=True):
        named = {line.get_label(): line for line in ax.lines}
        table = summary(records, score)
        for i, method in enumerate(METHODS):
            check_line(named[method], table, method)
            check_band(ax.collections[i], table, method)
        assert word in ax.get_ylabel()
    expected = ["corrected", "uncorrected", "all features", "range of 3 replicates"]
    assert labels(display.axes_[0]) == expected
    assert [ax.get_yscale() for ax in display.axes_] == ["linear", "linear", "log"]
    assert display.squared_error["complete"].shape == (3, 4)


def test_no_time_at_all_needs_a_linear_axis():
    records = [{**record, "seconds": 0.0} for record in records_by_k()]
    assert plots.ScoresByKDisplay.from_records(records).axes_[2].get_yscale() == "linear"


def test_close_numbers_of_features_get_ticks_that_do_not_collide():
    k = np.arange(5, 25)
    errors = {"corrected": np.linspace(0.4, 0.2, k.size)}
    ax = plots.ErrorByKDisplay(k, errors, errors).plot([an_axes()]).ax_
    low, high = ax.get_xlim()
    assert 1 <= sum(low <= tick <= high for tick in ax.get_xticks()) <= 5
    assert "10" in [tick.get_text() for tick in ax.get_xticklabels()]


@pytest.mark.parametrize("display", [plots.ErrorByKDisplay, plots.ScoresByKDisplay])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"method": "lasso"},
            "method 'lasso' is not one of 'corrected', 'uncorrected', 'complete'",
        ),
        ({"k": 0}, "has k=0: it must be at least 1"),
        ({"k": None}, "has k=None, which is not a finite number"),
        ({"expected_error": np.nan, "log_loss": np.inf}, "which is not a finite number"),
    ],
)
def test_wrong_records(display, change, message):
    records = records_by_k()
    records[3] = {**records[3], **change}
    with pytest.raises(ValueError, match=re.escape(message)):
        display.from_records(records)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    "display", [plots.ErrorByKDisplay, plots.ScoresByKDisplay, plots.PairedScoresDisplay]
)
def test_no_records_or_incomplete_ones(display):
    with pytest.raises(ValueError, match="records is empty"):
        display.from_records([])
    with pytest.raises(ValueError, match="record 0 has no 'method'"):
        display.from_records([{"k": 1}])
    with pytest.raises(ValueError, match=r"record 0 has no 'method'.*to_dict"):
        display.from_records(pd.DataFrame(records_by_k()))
    records = records_by_k() if display is not plots.PairedScoresDisplay else records_by_group()
    with pytest.raises(ValueError, match=rf"record {len(records)} is the second with method="):
        display.from_records([*records, records[0]])


def test_wrong_numbers():
    draw = plots.ErrorByKDisplay
    good = {"corrected": [0.1, 0.2]}
    with pytest.raises(ValueError, match=r"k=\[2, 1\] must be increasing"):
        draw([2, 1], good, good)
    with pytest.raises(ValueError, match=r"actual\['corrected'\] has the shape \(3,\)"):
        draw([1, 2], {"corrected": [0.1, 0.2, 0.3]}, good)
    with pytest.raises(ValueError, match=r"expected\['corrected'\] has no finite value"):
        draw([1, 2], good, {"corrected": [np.nan, np.nan]})
    with pytest.raises(ValueError, match="actual has the methods"):
        draw([1, 2], good, {"uncorrected": [0.1, 0.2]})
    with pytest.raises(ValueError, match="method 'ours'"):
        draw([1, 2], {"ours": [0.1, 0.2]}, good)
    with pytest.raises(ValueError, match="actual is empty"):
        draw([1, 2], {}, good)
    with pytest.raises(ValueError, match="different numbers of replicates"):
        draw([1, 2], {**good, "complete": np.ones((2, 2))}, good)


# Reliability.


def test_reliability(seed):
    rng = np.random.default_rng(seed)
    p = rng.random(300).round(2)
    y = (rng.random(300) < p**2).astype(int)
    display = plots.ReliabilityDisplay.from_predictions(
        y, p, level=0.8, random_state=seed, ax=an_axes()
    )
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(p, y)
    np.testing.assert_array_equal(display.probability, np.unique(p))
    np.testing.assert_allclose(display.fraction, isotonic.predict(np.unique(p)), atol=1e-12)
    curve = reliability_curve(y, p, level=0.8, random_state=seed)
    np.testing.assert_array_equal(display.band_low, curve.band_low)
    np.testing.assert_array_equal(display.band_high, curve.band_high)
    assert "80 % consistency band" in labels(display.ax_)


@pytest.mark.parametrize("n", [60, 1500])
def test_reliability_is_drawn_as_it_is(n, seed):
    """Points left out of long level runs change nothing; the histogram counts all cases."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    display = plots.ReliabilityDisplay.from_predictions(rng.random(n) < p, p, ax=an_axes())
    drawn = np.interp(display.probability, *display.line_.get_data())
    np.testing.assert_allclose(drawn, display.fraction, atol=1e-12)
    if n == 1500:
        assert display.line_.get_xdata().size < 300
    (histogram,) = display.ax_.patches
    heights, counts = histogram.get_data().values, np.histogram(p, bins=40, range=(0, 1))[0]
    np.testing.assert_allclose(heights / heights.max(), counts / counts.max())
    assert f"{n} cases, at most {counts.max()} in a bar" in labels(display.ax_)
    assert not display.plot(an_axes(), histogram=False).ax_.patches


def test_reliability_of_an_estimator():
    data = simulated()
    names = np.array(["normal", "tumour"])
    estimator = SelectiveBernoulliNB(k=10).fit(data.X_train, names[data.y_train])
    ours = plots.ReliabilityDisplay.from_estimator(
        estimator, data.X_test, names[data.y_test], random_state=1, ax=an_axes()
    )
    p = estimator.predict_proba(data.X_test)[:, 1]
    for y, pos_label in ((data.y_test, 1), (names[data.y_test], "tumour")):
        same = plots.ReliabilityDisplay.from_predictions(
            y, p, pos_label=pos_label, random_state=1, ax=an_axes()
        )
        for name in ("probability", "fraction", "band_low", "band_high", "predictions"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(same, name))
    assert ours.ax_.get_xlabel() == "Predicted probability of tumour"
    assert "SelectiveBernoulliNB" in labels(ours.ax_)
    # The other class has another curve.
    other = plots.ReliabilityDisplay.from_predictions(
        names[data.y_test], p, pos_label="normal", ax=an_axes()
    )
    assert not np.array_equal(other.fraction, ours.fraction)


def test_reliability_of_cases_of_one_class():
    data = simulated()
    names = np.array(["normal", "tumour"])
    estimator = SelectiveBernoulliNB(k=10).fit(data.X_train, names[data.y_train])
    one = data.y_test == 0
    display = plots.ReliabilityDisplay.from_estimator(
        estimator, data.X_test[one], names[data.y_test][one], ax=an_axes()
    )
    assert np.all(display.fraction == 0)


def test_wrong_predictions():
    draw = plots.ReliabilityDisplay.from_predictions
    with pytest.raises(ValueError, match=r"probability is 1\.5 in row 1"):
        draw([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match=r"probability has the shape \(3,\).*each of 2 cases"):
        draw([0, 1], [0.5, 0.5, 0.5])
    with pytest.raises(ValueError, match="3 labels"):
        draw([0, 1, 2], [0.5, 0.5, 0.5])
    with pytest.raises(
        ValueError, match=r"pos_label=1 is not one of the labels in y, \['a', 'b'\]"
    ):
        draw(["a", "b"], [0.5, 0.5])
    with pytest.raises(ValueError, match="pos_label='b' is not one of the labels"):
        draw([0, 1], [0.5, 0.5], pos_label="b")
    with pytest.raises(ValueError, match="uncorrected is nan in row 0"):
        plots.ProbabilityScatterDisplay.from_predictions([0, 1], [0.5, 0.5], [np.nan, 0.5])
    X, y = np.eye(3), np.array([0, 1, 2])
    with pytest.raises(ValueError, match="the estimator has 3 classes"):
        plots.ReliabilityDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    two = LogisticRegression().fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match="y has 2, which is no class of the estimator"):
        plots.ReliabilityDisplay.from_estimator(two, X, y)
    assert plt.get_fignums() == []


def test_unfitted_estimators():
    unfitted = SelectiveBernoulliNB(k=3)
    for draw in (
        lambda: plots.ReliabilityDisplay.from_estimator(unfitted, np.eye(2), [0, 1]),
        lambda: plots.ConcentrationDisplay.from_estimator(unfitted),
        lambda: plots.ConcentrationDisplay.from_estimators({"a": fitted(), "b": unfitted}),
        lambda: plots.OmissionProbabilityDisplay.from_estimator(unfitted),
    ):
        with pytest.raises(NotFittedError):
            draw()
    assert plt.get_fignums() == []


# The posterior of the concentration.


def oracle_density(estimator, pairs, n0, n1, omitted, n_omitted):
    """Posterior density in log(alpha) on a dense grid, by the oracle's tables."""
    x = np.linspace(-2.5, 25.0, 601)
    a, b = estimator.concentration_prior
    log_density = np.empty(x.size)
    for i, alpha in enumerate(np.exp(np.minimum(x, 18.0))):  # beyond, only the prior changes
        table, _ = oracle.joint_table(n0, n1, alpha)
        log_density[i] = oracle.log_prior(alpha, a, b) + np.log(alpha)
        log_density[i] += sum(np.log(table[pair]) for pair in pairs)
        log_density[i] += n_omitted * np.log(sum(table[pair] for pair in omitted))
    log_density -= a * np.maximum(x - 18.0, 0.0)
    density = np.exp(log_density - np.max(log_density))
    return CubicSpline(x, density / np.trapezoid(density, x))


@pytest.mark.parametrize("correct", [True, False])
def test_posterior_density(correct, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(16, 40)), np.repeat([0, 1], 8)
    X[:, 0] = y
    estimator = SelectiveBernoulliNB(threshold=0.4, correct_selection=correct).fit(X, y)
    display = plots.ConcentrationDisplay.from_estimator(estimator, ax=an_axes())
    (name,) = display.posteriors
    assert name == ("corrected" if correct else "uncorrected")
    nodes, density = display.posteriors[name]
    kept = X[:, estimator.selection_.indices]
    pairs = [(int(column[y == 0].sum()), int(column[y == 1].sum())) for column in kept.T]
    omitted = [pair for pair, value in oracle.all_cor_squared(8, 8).items() if value <= 0.16]
    n_omitted = estimator.selection_.n_omitted
    assert n_omitted > 20
    truth, twin = (
        oracle_density(estimator, pairs, 8, 8, omitted, n if correct else n_omitted - n)
        for n in (n_omitted, 0)
    )
    peak = truth(nodes).max()
    assert np.max(np.abs(truth(nodes) - density)[nodes < 25]) < 0.01 * peak
    assert np.trapezoid(density, nodes) == pytest.approx(1.0, abs=1e-3)
    # The method of the other name has another posterior.
    assert np.max(np.abs(twin(nodes) - density)[nodes < 25]) > 0.01 * peak
    # The line between the nodes is the density, too.
    x, drawn = display.lines_[name].get_data()
    assert np.max(np.abs(truth(x) - drawn)) < 0.015 * peak


def test_posterior_nodes_in_any_order_and_at_infinity():
    x = np.array([np.inf, 5.0, 4.0, 2.0, 1.0])
    weights = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    for order in (slice(None), slice(None, None, -1)):
        posterior = posterior_of(x[order], weights[order])
        assert posterior.log_concentration.tolist() == [1.0, 2.0, 4.0, 5.0]
        np.testing.assert_allclose(posterior.density, [0.1 / 1, 0.2 / 1.5, 0.4 / 1.5, 0.2 / 1])
    with pytest.raises(ValueError, match="at least 2 finite nodes, not 1"):
        posterior_of([1.0, np.inf], [0.5, 0.5])


def test_concentration_axes_and_legend():
    display = draw_concentration(ax=an_axes())
    assert labels(display.ax_) == ["corrected", "uncorrected", "true value, 20"]
    truth = next(line for line in display.ax_.lines if line.get_label().startswith("true"))
    assert truth.get_xdata()[0] == pytest.approx(np.log(20))
    low, high = display.ax_.get_xlim()
    assert low < np.log(20) < high
    for nodes, density in display.posteriors.values():
        inside = (nodes > low) & (nodes < high)
        assert np.sum(density * np.gradient(nodes) * inside) > 0.9
    (top,) = display.ax_.child_axes
    ticks = [text.get_text() for text in top.get_xticklabels()]
    np.testing.assert_allclose(top.get_xticks(), np.log([float(tick) for tick in ticks]))
    assert len(ticks) >= 3
    assert top.get_xlabel() == "Concentration"


def test_concentration_names():
    draw = plots.ConcentrationDisplay.from_estimator
    assert list(draw(fitted(k=None), ax=an_axes()).posteriors) == ["complete"]
    assert list(draw(fitted(), name="mine", ax=an_axes()).posteriors) == ["mine"]


@pytest.mark.parametrize("quadrature", ["exact", "paper"])
def test_concentration_from_records(quadrature):
    estimators = {
        (method, replicate): fitted(
            seed=replicate,
            k=None if method == "complete" else 10,
            correct_selection=method == "corrected",
            quadrature=quadrature,
        )
        for method in (*METHODS, "complete")
        for replicate in (0, 1)
    }
    records = [
        {
            "k": estimator.selection_.indices.size,
            "method": method,
            "replicate": replicate,
            "log_concentration": np.log(estimator.concentration_).tolist(),
            "concentration_weights": estimator.concentration_weights_.tolist(),
        }
        for (method, replicate), estimator in estimators.items()
    ]
    draw = plots.ConcentrationDisplay.from_records
    ours = draw(records, k=10, replicate=1, ax=an_axes())
    expected = plots.ConcentrationDisplay.from_estimators(
        {method: estimators[method, 1] for method in (*METHODS, "complete")}, ax=an_axes()
    )
    assert set(ours.posteriors) == {*METHODS, "complete"}
    for name in ours.posteriors:
        np.testing.assert_array_equal(ours.posteriors[name], expected.posteriors[name])
        assert np.all(np.isfinite(ours.lines_[name].get_ydata()))
    with pytest.raises(ValueError, match="none with k=11 and replicate=0"):
        draw(records, k=11)
    with pytest.raises(ValueError, match="is the second with method='corrected', replicate=0"):
        draw([*records, records[0]], k=10)


def test_wrong_estimators():
    draw = plots.ConcentrationDisplay.from_estimators
    with pytest.raises(ValueError, match="estimators is empty"):
        draw({})
    with pytest.raises(TypeError, match=r"estimators\['a'\] is LogisticRegression\(\): give"):
        draw({"a": LogisticRegression()})
    with pytest.raises(ValueError, match="true_concentration=-1 must be positive"):
        draw({"a": fitted()}, true_concentration=-1)
    with pytest.raises(ValueError, match="kept all features"):
        plots.OmissionProbabilityDisplay.from_estimator(fitted(k=None))
    assert plt.get_fignums() == []


# The omission probability.


@pytest.mark.parametrize(("n0", "n1", "threshold"), [(7, 12, 0.35), (10, 10, 0.6), (4, 4, 0.0)])
def test_omission_probability(n0, n1, threshold):
    display = plots.OmissionProbabilityDisplay.from_counts(n0, n1, threshold, ax=an_axes())
    assert display.concentration[[0, -1]].tolist() == pytest.approx([0.01, 1e5])
    bound = threshold**2 * (1 + 1e-12)
    for i in range(0, display.concentration.size, 7):
        expected = oracle.omission_probability(
            n0, n1, display.concentration[i], lambda value: float(value) <= bound
        )
        assert display.probability[i] == pytest.approx(expected, rel=1e-8)
    np.testing.assert_array_equal(display.line_.get_xdata(), display.concentration)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.probability)
    assert display.ax_.get_xscale() == "log"
    assert f"{n0} cases of class 0, {n1} of class 1" in labels(display.ax_)[0]


@pytest.mark.parametrize("quadrature", ["exact", "paper"])
def test_omission_probability_of_an_estimator(quadrature):
    estimator = fitted(quadrature=quadrature)
    near = (estimator.concentration_ > 1e-3) & (estimator.concentration_ < 1e6)
    display = plots.OmissionProbabilityDisplay.from_estimator(
        estimator, concentration=estimator.concentration_[near], ax=an_axes()
    )
    assert near.sum() > 10
    expected = estimator.omission_probability_[near]
    np.testing.assert_allclose(display.probability, expected, rtol=1e-12)
    assert (display.class_sizes, display.threshold) == ({0: 20, 1: 20}, estimator.threshold_)
    density = display.posterior.density
    assert np.sum(density * np.gradient(display.posterior.log_concentration)) == pytest.approx(1)
    assert any("posterior" in label for label in labels(display.ax_))
    # The peak of what is filled is the peak of the posterior.
    x, height = display.ax_.collections[0].get_paths()[0].vertices.T
    mode = np.exp(display.posterior.log_concentration[np.argmax(density)])
    assert np.log(x[np.argmax(height)]) == pytest.approx(np.log(mode), abs=0.3)


def test_wrong_concentration():
    for wrong in ([1.0, -2.0], [], [np.nan]):
        with pytest.raises(ValueError, match="give positive numbers"):
            plots.OmissionProbabilityDisplay.from_counts(5, 5, 0.3, concentration=wrong)


# Corrected against uncorrected.


def test_probability_scatter(seed):
    rng = np.random.default_rng(seed)
    corrected, uncorrected = rng.random((2, 80))
    names = rng.choice(["normal", "tumour"], size=80)
    display = plots.ProbabilityScatterDisplay.from_predictions(
        names, corrected, uncorrected, pos_label="tumour", ax=an_axes()
    )
    np.testing.assert_array_equal(display.positive, names == "tumour")
    points = display.points_.get_offsets().tolist()
    filled = np.any(display.points_.get_facecolors()[:, :3] != 1.0, axis=1)
    drawn = sorted((x, y, bool(full)) for (x, y), full in zip(points, filled, strict=True))
    assert drawn == sorted(zip(uncorrected, corrected, names == "tumour", strict=True))
    assert labels(display.ax_) == ["in tumour", "not in tumour"]
    assert display.ax_.get_ylabel() == "Corrected probability of tumour"


@pytest.mark.parametrize("kind", [dict, SimpleNamespace])
def test_paired_scores(kind, seed):
    records = records_by_group(seed=seed)
    display = plots.PairedScoresDisplay.from_records([kind(**record) for record in records])
    frame = pd.DataFrame(records).set_index(["method", "group"])
    for score in ("log_loss", "squared_error", "actual_error", "expected_error"):
        for method in METHODS:
            expected = frame.loc[method].loc[display.groups, score]
            np.testing.assert_array_equal(getattr(display, score)[method], expected)
    panels = [
        (display.log_loss["uncorrected"], display.log_loss["corrected"]),
        (display.squared_error["uncorrected"], display.squared_error["corrected"]),
        (display.expected_error["uncorrected"], display.actual_error["uncorrected"]),
        (display.expected_error["corrected"], display.actual_error["corrected"]),
    ]
    for ax, (x, y) in zip(display.axes_, panels, strict=True):
        points = next(line for line in ax.lines if line.get_linestyle() == "None")
        np.testing.assert_array_equal(points.get_data(), (x, y))
        low, high = ax.get_xlim()
        assert ax.get_ylim() == (low, high)
        assert low <= min(x.min(), y.min()) < max(x.max(), y.max()) <= high
    assert display.axes_[2].get_xlim() == display.axes_[3].get_xlim()
    assert display.axes_[3].get_xlabel() == "Expected error rate"


def test_groups_of_several_partitions_are_not_confused():
    records = [
        {**record, "partition": partition}
        for partition in (0, 1)
        for record in records_by_group(3, seed=partition)
    ]
    display = plots.PairedScoresDisplay.from_records(records)
    assert sorted(display.groups) == [(p, g) for p in (0, 1) for g in range(3)]
    assert display.log_loss["corrected"].shape == (6,)


def test_wrong_groups():
    records = records_by_group(4)
    draw = plots.PairedScoresDisplay.from_records
    gone = next(i for i, r in enumerate(records) if (r["method"], r["group"]) == ("corrected", 2))
    with pytest.raises(ValueError, match="group 2 has no record of method 'corrected'"):
        draw([record for i, record in enumerate(records) if i != gone])
    with pytest.raises(ValueError, match="method 'complete' is not one of"):
        draw([{**records[0], "method": "complete"}])
    with pytest.raises(ValueError, match="record 1 has log_loss='high'"):
        draw([records[0], {**records[1], "log_loss": "high"}])
    assert plt.get_fignums() == []


def test_omission_given_totals_is_the_average_over_omitted_features(seed):
    """Far out in the concentration a feature is omitted as often as chance has it: of its ones,
    a hypergeometric number falls into each class."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    X = (rng.random((30, 40)) < rng.uniform(0.05, 0.6, size=40)).astype(int)
    model = SelectiveBernoulliNB(threshold=0.25, rates="given").fit(X, y)
    display = plots.OmissionProbabilityDisplay.from_estimator(
        model, concentration=[1e9], ax=an_axes()
    )
    expected = []
    for m in np.delete(X, model.selection_.indices, axis=1).sum(axis=0):
        ones = np.arange(max(0, m - 15), min(m, 15) + 1)
        cor = np.abs(2 * ones - m) / np.sqrt(max(m * (30 - m), 1))
        expected.append(hypergeom(30, 15, m).pmf(ones)[cor <= 0.25].sum())
    assert display.probability == pytest.approx(np.mean(expected), rel=1e-6)


def test_correlations_are_those_of_known_values(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    X = (rng.random((40, 5)) < 0.4).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    display = plots.CorrelationsDisplay.from_data(X, y, X[::-1], y[::-1], ax=an_axes())
    for j in range(5):
        known = ~np.isnan(X[:, j])
        cor = abs(np.corrcoef(X[known, j], y[known])[0, 1])
        assert display.train[j] == pytest.approx(cor)
        assert display.test[j] == pytest.approx(cor)
