"""Pictures of methods compared, of features, of cases: what is drawn is what is told."""

from types import SimpleNamespace

import numpy as np
import pytest

from unselected import SelectiveGaussianNB
from unselected.calibration import Estimate, net_benefit
from unselected.plots import (
    CaseStripDisplay,
    DecisionCurveDisplay,
    FeatureIntervalsDisplay,
    MethodsDisplay,
    PromisedActualDisplay,
    RocDisplay,
    StabilityDisplay,
    inline_svg,
)
from unselected.plots.style import BAND, DARK, INK, LIGHT, MIDDLE, PALE, class_looks, curve_style


def estimate(value, width=0.1):
    return Estimate(value, value - width, value + width, 0.95)


def row(method, loss, difference=None, **more):
    numbers = {"log_loss": estimate(loss), "auc": estimate(0.8), "features_needed": 7.0, **more}
    numbers |= {"actual_error": estimate(0.2), "expected_error": estimate(0.05)}
    found = {} if difference is None else {"log_loss": estimate(difference)}
    return SimpleNamespace(method=method, differences=found, **numbers)


ROWS = [row("corrected", 0.3), row("lasso", 0.35, 0.05), row("random forest", 0.6, 0.3)]


def points(ax):
    """Return colours and places of the single dots of a panel."""
    dots = [line for line in ax.lines if len(line.get_xdata()) == 1 and line.get_marker() == "o"]
    return [(line.get_color(), float(line.get_xdata()[0])) for line in dots]


def test_methods_are_rows_and_far_differences_stand_out():
    display = MethodsDisplay.from_rows(ROWS)
    losses, differences = display.axes_[:2]
    assert [text.get_text() for text in losses.get_yticklabels()] == [
        "ours",
        "lasso",
        "random forest",
    ]
    assert points(losses) == [(DARK, 0.3), (INK, 0.35), (INK, 0.6)]
    assert points(differences) == [(INK, 0.05), (MIDDLE, 0.3)]
    assert [text.get_text() for text in display.axes_[-1].texts] == ["7", "7", "7"]
    lines = [len(ax.collections) for ax in display.axes_]
    assert lines == [1, 1, 1, 1, 0]  # through the dots of a row, and not through its number


def test_a_broken_promise_stands_out():
    kept = row("mine", 0.3)
    kept.expected_error = estimate(0.15)
    display = PromisedActualDisplay.from_errors([ROWS[0], kept], n_cases=50)
    assert display.kept == [False, True]
    assert [color for color, _ in points(display.ax_)] == [MIDDLE, DARK]
    assert display.ax_.get_xlabel() == "Error rate"


def test_few_errors_are_judged_by_the_exact_interval():
    """3 of 60: the bootstrap reaches 0, which is not to say that none may be promised."""
    few = row("mine", 0.3)
    few.actual_error, few.expected_error = Estimate(0.05, 0.0, 0.1, 0.95), estimate(0.001)
    assert PromisedActualDisplay.from_errors([few], n_cases=60).kept == [False]
    assert PromisedActualDisplay.from_errors([few], n_cases=6000).kept == [False]
    few.actual_error = Estimate(0.0, 0.0, 0.0, 0.95)
    few.expected_error = estimate(0.03)
    assert PromisedActualDisplay.from_errors([few], n_cases=60).kept == [True]


def test_coverage_is_promised_by_its_level():
    rows = [SimpleNamespace(method="corrected", coverage=estimate(value)) for value in (0.85, 0.7)]
    display = PromisedActualDisplay.from_coverage(rows, 0.9)
    assert display.kept == [True, False]
    assert display.ax_.get_xlabel() == "Coverage of 90 % intervals"


def test_decision_curves_are_those_of_the_probabilities():
    happened, p = np.arange(40) % 2 == 1, np.linspace(0.05, 0.95, 40)
    pair = {"ours": (happened, p)}
    display = DecisionCurveDisplay.from_predictions(pair, positive="tumour")
    x, y = display.ax_.lines[-1].get_data()
    np.testing.assert_allclose(y, net_benefit(happened, p, x).model)
    assert "tumour" in display.ax_.get_xlabel()
    roc = RocDisplay.from_predictions(pair, positive="tumour")
    assert roc.ax_.get_ylabel() == "Cases of tumour that are found"
    assert roc.curves["ours"].true_positive_rate[-1] == 1.0


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    rng = np.random.default_rng(0)
    y = np.array(["CLL", "DLBCL", "FL"])[np.arange(60) % request.param]
    X = rng.normal(size=(60, 80))
    X[:, :20] += (y == "CLL")[:, np.newaxis]
    return SelectiveGaussianNB(k=20).fit(X, y)


def test_features_are_drawn_with_their_effects_strongest_first(fitted):
    effects = fitted.feature_effects()
    names = [f"g{j}" for j in fitted.selection_.indices]
    display = FeatureIntervalsDisplay.from_effects(effects, names=names, between="a less b")
    order = np.argsort(-effects.score, kind="stable")
    n = 15 if len(display.effects) == 1 else 7
    assert list(display.features) == [names[j] for j in order[:n]]
    for name, effect in display.effects.items():
        np.testing.assert_array_equal(effect.mean, effects.effects[name].mean[order[:n]])
    shown = [handle.get_text() for handle in display.ax_.get_legend().get_texts()]
    classes = ["posterior mean"] if n == 15 else ["CLL", "DLBCL", "FL"]
    assert shown == [*classes, "90 % interval", "at face value"]
    label = display.ax_.get_xlabel()
    assert label.startswith("Standardized mean difference")
    assert label.endswith(", a less b")
    assert ("from the mean of classes" in label) == (n == 7)


def test_the_most_frequent_features_are_drawn():
    frequency = np.array([0.2, 0.9, 0.0, 1.0, 0.5])
    display = StabilityDisplay.from_frequency(
        list("abcde"), frequency, [1, 4], n_resamples=10, most=4
    )
    assert list(display.features) == ["d", "b", "e", "a"]
    assert display.kept.tolist() == [False, True, True, False]


def test_wrong_cases_are_marked_with_their_numbers():
    y = np.array([0, 0, 1, 1, 2])
    p = np.full((5, 3), 0.1) + 0.7 * np.eye(3)[[0, 1, 1, 1, 2]]
    display = CaseStripDisplay.from_predictions(y, p, classes=["a", "b", "c"])
    assert display.wrong.tolist() == [False, True, False, False, False]
    assert [text.get_text() for text in display.ax_.texts] == ["2"]
    assert display.ax_.get_xlabel() == "Predicted probability of its own class"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [
        "a (2)",
        "b (2)",
        "c (1)",
    ]


def test_colours_of_a_page_are_variables():
    svg = inline_svg(CaseStripDisplay.from_predictions([0, 1], np.eye(2), classes=["a", "b"]))
    assert f"var(--dark, {DARK})" in svg
    assert "var(--paper, #ffffff)" in svg
    assert "#000000" not in svg.replace("var(--ink, #000000)", "")


def luminance(color):
    """Return the relative luminance of a colour, as grey paper has it."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_colours_can_be_told_apart_in_grey():
    """So they can by anyone who sees fewer colours; curves have dashes of their own too."""
    greys = sorted(luminance(color) for color in (DARK, MIDDLE, BAND, PALE))
    assert np.min(np.diff(greys)) > 0.05
    assert luminance(LIGHT) > luminance(MIDDLE)
    assert len({str(curve_style(place).get("linestyle")) for place in range(5)}) == 5
    assert len({look["marker"] for look in class_looks(6)}) == 6
