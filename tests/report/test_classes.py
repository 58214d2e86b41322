"""Pages on classes: what the verdict says, and that pages say what the numbers say."""

import re
import warnings
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from pages import FEW, cells_of, section, stands_alone, without_pictures

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB
from unselected.calibration import Estimate, most_probable
from unselected.datasets import make_paper_simulation
from unselected.estimators.class_fitting import N_FOLDS, dealt
from unselected.experiments import default_methods
from unselected.plots.style import method_label
from unselected.report import examine, verdict
from unselected.report.cases import CaseIntervals, _in_words
from unselected.report.page import pictures

pytestmark = pytest.mark.usefixtures("few_folds")
FOLDS = {"n_splits": 2, "n_repeats": 1, "methods": FEW}


def judged(findings, **rows):
    """The verdict with some numbers of a method replaced: (value, low, high) of each loss."""
    changed = {
        method: replace(
            findings.rows[method],
            **{loss: Estimate(*numbers, 0.95) for loss, numbers in losses.items()},
        )
        for method, losses in rows.items()
    }
    return " ".join(verdict(replace(findings, rows={**findings.rows, **changed})))


def test_the_verdict_says_what_the_numbers_say(two_classes):
    first, second, *_ = verdict(two_classes)
    ours, other = (two_classes.rows[method] for method in ("corrected", "uncorrected"))
    assert "10 of 200 features" in first
    for rate in (ours.actual_error, ours.expected_error, other.expected_error):
        assert f" in {100 * rate.value:.0f} %" in first
    assert first.count(". ") == 0
    best = min(two_classes.rows.values(), key=lambda row: row.log_loss.value)
    assert best.method == "corrected" or method_label(best.method) in second.lower()


def test_three_errors_where_none_was_promised_are_not_luck(two_classes):
    """3 of 60 wrong: some resampled cases have no error, but the exact interval starts at 1 %."""
    error = {"actual_error": (0.05, 0.0, 0.11)}
    bold = judged(two_classes, corrected={**error, "expected_error": (0.001, 0.0, 0.01)})
    assert "50.0 times the errors expected" in bold
    assert "does not come from the selection" in bold
    honest = judged(two_classes, corrected={**error, "expected_error": (0.03, 0.01, 0.05)})
    assert "so the probabilities can be trusted" in honest
    assert "does not come from the selection" not in honest


def test_the_picture_of_promises_judges_as_the_verdict_does(two_classes):
    error = Estimate(0.05, 0.0, 0.11, 0.95)
    for promised, kept in ((0.001, False), (0.03, True)):
        row = replace(
            two_classes.rows["corrected"],
            actual_error=error,
            expected_error=Estimate(promised, 0.0, 0.1, 0.95),
        )
        changed = replace(two_classes, rows={**two_classes.rows, "corrected": row})
        assert changed.pictures.promised()[1].kept[0] == kept


def test_no_errors_are_not_taken_for_caution(two_classes):
    """Without an error in 60 cases a promise of 3 % may be right; one of 30 % is not."""
    for promised, cautious in ((0.03, False), (0.3, True)):
        numbers = {"actual_error": (0.0, 0.0, 0.0), "expected_error": (promised, 0.0, 1.0)}
        assert ("are underconfident." in judged(two_classes, corrected=numbers)) == cautious


def test_probabilities_worse_than_the_frequencies_are_told(two_classes):
    usual = two_classes.rows["class frequencies"].log_loss.value
    told = judged(two_classes, corrected={"log_loss": (usual + 0.1, 0.0, 2.0)})
    assert "worse than the class frequencies alone" in told
    fine = judged(two_classes, corrected={"log_loss": (usual - 0.1, 0.0, 2.0)})
    assert "worse than the class frequencies alone" not in fine


def with_lead(findings, low, high):
    """Findings in which the lasso is ahead of all others, by a difference from ours."""
    middle = (low + high) / 2
    rows = {
        name: row if name == "corrected" else replace(row, differences={"log_loss": lead})
        for name, row in findings.rows.items()
        for lead in [
            Estimate(*((middle, low, high) if name == "lasso" else (9.0, 8.0, 10.0)), 0.95)
        ]
    }
    return replace(findings, rows=rows)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((-0.2, -0.1), "Lasso had a lower log loss than ours by more than chance"),
        ((-0.2, 0.1), "No method had a lower log loss than ours,"),
        ((0.1, 0.2), "No other method had a lower log loss than ours,"),
    ],
)
def test_a_lead_is_judged_by_its_interval(two_classes, ends, words):
    assert verdict(with_lead(two_classes, *ends))[1].startswith(words)


def test_the_page_stands_alone(page_of_two):
    stands_alone(page_of_two)


def test_the_page_has_all_its_parts_in_order(two_classes, page_of_two):
    headings = re.findall(r"<h2>(.*?)</h2>", page_of_two)
    assert headings == [
        "Verdict",
        "Methods compared",
        "Order and decisions",
        "Selected features",
        "Cases",
        "Calibration",
        "Dependence between features",
        "Settings",
        "Method",
    ]
    first = page_of_two.split("<h2>Methods compared</h2>")[0]
    assert first.count("<svg") == 3
    assert "<table" not in first
    assert page_of_two.count("<svg") == 13
    for j in two_classes.corrected.selection_.indices:
        assert f"<td>&lt;gene {j}&gt;</td>" in page_of_two
    assert "<gene" not in page_of_two
    assert "genes &amp; co.csv" in page_of_two
    assert "ab12" in page_of_two
    assert "Technical Report No. 0705" in page_of_two
    assert "<title>genes &amp; tumours</title>" in page_of_two


def test_all_tables_but_that_on_dependence_are_folded_and_sortable(page_of_two):
    assert page_of_two.count('<table class="sortable">') == page_of_two.count("<details>") == 5
    assert page_of_two.count("<table") == 6


def test_axes_have_the_names_of_classes_and_features(page_of_two):
    assert ">Predicted probability of tumour<" in page_of_two
    assert ">Cases of tumour that are found<" in page_of_two
    assert ">Probability of tumour from which a case is treated<" in page_of_two
    assert ">Difference of rates, tumour less normal<" in page_of_two
    assert "class 1" not in page_of_two
    assert page_of_two.count("&lt;gene ") > 30


def test_the_table_of_methods_has_all_numbers_and_differences(two_classes, page_of_two):
    rows = {cells[-1]: cells for cells in cells_of(page_of_two, "Methods compared")}
    assert list(rows) == default_methods(SelectiveBernoulliNB())
    row = two_classes.rows["lasso"]
    shown = (row.log_loss, row.differences["log_loss"], row.auc, row.actual_error)
    for cell, number in zip(rows["lasso"][1:], shown, strict=False):
        assert cell == f"{number.value:.3f} ({number.low:.3f} to {number.high:.3f})"
    assert rows["corrected"][0] == "ours"
    assert rows["corrected"][2] == ""


def test_the_same_findings_give_the_same_pictures(two_classes, page_of_two):
    again = pictures([two_classes.pictures.reliability(), two_classes.pictures.cases()])
    for picture in re.findall(r"<svg.*?</svg>", again, flags=re.DOTALL):
        assert picture in page_of_two


def test_cases_have_intervals_from_fits_without_them(two_classes, page_of_two):
    rows = {int(row[0]) - 1: row for row in cells_of(page_of_two, "Cases")}
    assert sorted(rows) == list(range(60))
    model, fold_of = two_classes.corrected, dealt(two_classes.y, N_FOLDS)
    X, y = model._fitting.table.X, np.array(["normal", "tumour"])[two_classes.y]
    test = np.flatnonzero(fold_of == 4)
    alone = SelectiveBernoulliNB(k=10).fit(np.delete(X, test, axis=0), np.delete(y, test))
    proba, ends = alone.predict_proba(X[test]), alone.predict_proba_interval(X[test])
    for place, i in enumerate(test):
        g = proba[place].argmax()
        assert rows[i][1:3] == [y[i], alone.classes_[g]]
        numbers = [part[place, g] for part in (proba, *ends)]
        assert [float(cell) for cell in rows[i][3:]] == pytest.approx(numbers, abs=0.002)
    across = sum(float(row[4]) < 0.5 for row in rows.values())
    assert _in_words(across, 60) in page_of_two
    told = np.array([[float(cell) for cell in rows[i][4:]] for i in range(60)])
    seen = np.sort(model.predict_proba_interval(X), axis=2)[:, :, 1].T
    assert np.mean(np.abs(told - seen)) > 0.01  # of cases that the classifier has seen


def test_cases_of_a_chosen_k_have_intervals():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 12)), np.arange(30) % 3
    fixed, chosen = (SelectiveGaussianNB(k=k) for k in (2, "loo"))
    chosen.fit(X, y)
    fixed.set_params(k=chosen.selection_.indices.size).fit(X, y)
    ours, expected = (CaseIntervals.of(model, X, y) for model in (chosen, fixed))
    np.testing.assert_array_equal(ours.lower, expected.lower)
    assert "contains 0.5" not in ours.table()


def test_a_k_that_was_found_to_be_all_columns_is_no_cause_for_a_warning():
    y = np.arange(30) % 2
    X = np.random.default_rng(0).normal(size=(30, 2)) + 1.5 * y[:, np.newaxis]
    chosen = SelectiveGaussianNB(k="loo").fit(X, y)
    assert chosen.k_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CaseIntervals.of(chosen, X, y).y.size == 30


def test_a_selection_made_earlier_is_said_to_spoil_cross_validation():
    data = make_paper_simulation(40, 1, 6, concentration=3.0, random_state=0)
    model = SelectiveBernoulliNB(preselected_from=500)
    findings = examine(data.X_train, data.y_train, classifier=model, **FOLDS)
    assert "could not repeat the selection" in " ".join(verdict(findings))
    assert findings.stability is None


# Dependence between features


def test_the_section_on_dependence_says_what_the_classifier_says(two_classes, page_of_two):
    found, told = (
        two_classes.own.dependence,
        section(page_of_two, "Dependence between features"),
    )
    for sentence in found.advice:
        assert escape(sentence) in told
    assert f"<td>{found.correlation.effective_features:.1f}</td><td>10</td>" in told
    slope = found.slope
    assert f"<td>{slope.slope:.2f} ({slope.low:.2f} to {slope.high:.2f})</td><td>1</td>" in told
    assert "The power of the likelihood is" not in told


@pytest.fixture(scope="module")
def copied():
    """Six features that are one measurement: a page with and without tempering."""
    rng = np.random.default_rng(8)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 100))
    X[:, :6] = X[:, :1] + y[:, np.newaxis] + 0.2 * rng.normal(size=(60, 6))
    folds = {"n_splits": 3, "n_repeats": 1, "methods": FEW}
    return {
        dependence: examine(
            X, y, classifier=SelectiveGaussianNB(k=6, dependence=dependence), **folds
        )
        for dependence in ("none", "tempered")
    }


def test_dependence_is_found_and_tempering_told(copied):
    plain, tempered = copied["none"], copied["tempered"]
    assert 'Use dependence="correlated".' in " ".join(verdict(plain))
    assert escape('Use dependence="correlated".') in section(
        without_pictures(plain), "Dependence between features"
    )
    told = section(without_pictures(tempered), "Dependence between features")
    assert escape(tempered.corrected.likelihood_average_.in_words()) in told
    assert "Use dependence" not in told
    assert "Use dependence=" not in " ".join(verdict(tempered))


def test_one_feature_depends_on_no_other():
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    model = SelectiveGaussianNB(k=1)
    findings = examine(X, y, classifier=model, **FOLDS)
    told = section(without_pictures(findings), "Dependence between features")
    assert "There is no pair of features to correlate." in told
    assert "<td>unknown</td>" in told
    assert "nan" not in told


# Real-valued features, several classes


@pytest.fixture(scope="module")
def page_of_three(three_classes):
    return without_pictures(three_classes[2], title="three")


def test_a_page_on_three_classes_stands_alone(page_of_three):
    stands_alone(page_of_three)
    assert "<gene" not in page_of_three
    assert "<b>" not in page_of_three
    assert "AUC is the mean over classes, each against all others" in page_of_three


def test_pictures_of_effects_say_of_which_class(page_of_three, three_classes):
    found = re.findall(r"Effects of all kept features on (\S+), at face value", page_of_three)
    assert found == ["&lt;b&gt;", "a", "c"]
    alone = replace(three_classes[2], rows={"corrected": three_classes[2].rows["corrected"]})
    told = section(without_pictures(alone), "Methods compared")
    assert "difference from ours" not in told  # from itself
    assert "Table of" not in told
    assert "difference from ours" in section(page_of_three, "Methods compared")


def test_a_page_on_three_classes_shows_means_and_known_values(three_classes, page_of_three):
    X, y, findings = three_classes
    assert "<th>F statistic</th>" in page_of_three
    assert "<th>mean in &lt;b&gt; (n known)</th>" in page_of_three
    # the classes in sorted order are <b>, a, c; case 4 is the one of <b> with a missing value
    means = [np.nanmean(X[y == label, 2]) for label in ("<b>", "a", "c")]
    cells = [f"<td>{mean:#.4g} ({n})</td>" for mean, n in zip(means, (14, 15, 15), strict=True)]
    score = findings.corrected.scores_[list(findings.corrected.selection_.indices).index(2)]
    assert f"<td>&lt;gene 2&gt;</td><td>{score:#.4g}</td>{''.join(cells)}" in page_of_three


def test_three_classes_are_judged_by_the_most_probable(three_classes, page_of_three):
    _, _, findings = three_classes
    right, confidence = most_probable(findings.y, findings.probability["corrected"])
    last = confidence >= 0.9
    assert last.sum() > 0
    cells = f"<td>{last.sum()}</td><td>{confidence[last].mean():.3f}</td>"
    assert f"<td>0.9 to 1.0</td>{cells}<td>{right[last].mean():.3f}</td>" in page_of_three
    assert "probabilities of the most probable class" in page_of_three


def test_pictures_of_three_classes_name_the_classes(three_classes):
    drawn = three_classes[2].pictures
    curves = drawn.curves()
    assert [line.get_label() for line in curves[0][1].ax_.lines[1:]] == ["<b>", "a", "c"]
    assert [figure.ax_.get_xlabel() for _, figure in curves[1:]] == [
        f"Probability of {label} from which a case is treated" for label in ("<b>", "a", "c")
    ]
    labels = [each.get_text() for each in drawn.cases()[1].ax_.get_yticklabels()]
    assert labels == ["<b> (15)", "a (15)", "c (15)"]
    assert drawn.reliability()[1].ax_.get_xlabel().endswith("of the most probable class")
    features = three_classes[2].first_screen().figures[2][1]
    assert [kind.split("_")[-1] for kind in features.effects] == ["<b>", "a", "c"]


def test_names_come_from_the_table_where_there_are_any():
    data = make_paper_simulation(40, 1, 30, concentration=3.0, random_state=0)
    table = pd.DataFrame(data.X_train, columns=[f"g{j}" for j in range(30)])
    model = SelectiveBernoulliNB(k=3, always_keep=["g29"])
    findings = examine(table, data.y_train, classifier=model, **FOLDS)
    page = without_pictures(findings)
    assert "<td>g29</td>" in page
    with pytest.raises(ValueError, match="names has 2 names for 30 columns"):
        examine(table, data.y_train, classifier=model, names=["a", "b"], **FOLDS)


def test_examine_names_what_is_wrong(three_classes):
    X, y, _ = three_classes
    with pytest.raises(ValueError, match=r"the smallest with 4 cases.*n_splits=5"):
        examine(X[:13], y[:13], classifier=SelectiveGaussianNB(k=4))
    with pytest.raises(ValueError, match="quadrature='paper' does not support more than two"):
        examine(X[:, 3:] > 0, y, classifier=SelectiveBernoulliNB(k=4, quadrature="paper"))


@pytest.fixture(scope="module")
def bits_of_three():
    rng = np.random.default_rng(4)
    codes = np.arange(45) % 3
    X = (rng.random((45, 60)) < 0.3).astype(float)
    X[:, :4] = rng.random((45, 4)) < np.array([[0.1], [0.5], [0.9]])[codes]
    X[4, 2] = np.nan
    y = np.array(["a", "<b>", "c"])[codes]
    classifier = SelectiveBernoulliNB(k=3, always_keep=[2], rates="given")
    return X, y, examine(X, y, classifier=classifier, **FOLDS)


def test_a_page_on_bits_of_three_classes_shows_ones_and_known_values(bits_of_three):
    X, y, findings = bits_of_three
    page = without_pictures(findings)
    stands_alone(page)
    ones = [int(np.nansum(X[y == label, 2])) for label in ("<b>", "a", "c")]
    cells = [f"<td>{i} of {n}</td>" for i, n in zip(ones, (14, 15, 15), strict=True)]
    assert "<th>F statistic</th><th>ones in &lt;b&gt;</th><th>ones in a</th>" in page
    assert "".join(cells) in page
    label = findings.first_screen().figures[2][1].ax_.get_xlabel()
    assert label == "Difference of rates from the mean of classes"


def test_no_page_sends_the_reader_elsewhere(two_classes):
    usual = two_classes.rows["class frequencies"].log_loss.value
    told = judged(
        two_classes,
        corrected={
            "log_loss": (usual + 0.5, 0.0, 2.0),
            "actual_error": (0.5, 0.4, 0.6),
            "expected_error": (0.01, 0.0, 0.1),
        },
    )
    assert "worse than the class frequencies" in told
    assert "does not come from the selection" in told
    assert "another method" not in told
    assert "fewer features" not in told


def test_methods_can_be_left_out():
    X, y = np.random.default_rng(0).normal(size=(40, 30)), np.arange(40) % 2
    settings = {"classifier": SelectiveGaussianNB(k=3), "n_splits": 2, "n_repeats": 1}
    alone = examine(X, y, methods=["corrected"], **settings)
    assert list(alone.rows) == ["corrected"]
    assert len(alone.verdict()) == 1
    stands_alone(without_pictures(alone))
    seconds = []
    examine(X, y, methods=["class frequencies"], on_fit=seconds.append, **settings)
    assert len(seconds) == 1
    assert 0.0 <= seconds[0] < 60.0
