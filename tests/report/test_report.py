import re
import warnings
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)
from unselected.calibration import Estimate, interval_coverage, most_probable
from unselected.datasets import make_paper_simulation
from unselected.estimators.class_fitting import N_FOLDS, dealt
from unselected.experiments import compare
from unselected.report import examine, examine_regression, report, verdict
from unselected.report.cases import CaseIntervals, _in_words

pytestmark = pytest.mark.usefixtures("few_folds")


@pytest.fixture(scope="module")
def findings():
    data = make_paper_simulation(60, 1, 400, concentration=20.0, random_state=2)
    names = [f"<gene {j}>" for j in range(400)]
    return examine(
        data.X_train,
        np.where(data.y_train == 1, "tumour", "normal"),
        classifier=SelectiveBernoulliNB(k=10),
        names=names,
        n_splits=3,
        n_repeats=2,
        seed=5,
        provenance={"input": "genes & co.csv", "sha256": "ab12"},
    )


@pytest.fixture(scope="module")
def page(findings):
    return report(findings, title="genes & tumours")


@pytest.mark.slow
def test_the_verdict_says_what_the_numbers_say(findings):
    text = " ".join(verdict(findings))
    row = findings.rows["uncorrected"]
    assert "10 of 400 features were kept" in text
    assert f"{100 * row.expected_error.value:.0f} %" in text
    assert ("the probabilities are overconfident" in text) == any(
        findings.rows[m].expected_error.value < findings.rows[m].actual_error.low
        for m in ("corrected", "uncorrected")
    )


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


def test_three_errors_where_none_was_promised_are_not_luck(findings):
    """3 of 60 wrong: some resampled cases have no error, but the exact interval starts at 1 %."""
    error = {"actual_error": (0.05, 0.0, 0.11)}
    bold = judged(findings, corrected={**error, "expected_error": (0.001, 0.0, 0.01)})
    assert "50.0 times as high" in bold
    assert "does not come from the selection" in bold
    honest = judged(findings, corrected={**error, "expected_error": (0.03, 0.01, 0.05)})
    assert "does not come from the selection" not in honest


def test_probabilities_worse_than_the_frequencies_are_told(findings):
    usual = findings.rows["class frequencies"].log_loss.value
    told = judged(findings, corrected={"log_loss": (usual + 0.1, 0.0, 2.0)})
    assert "worse than the class frequencies alone" in told
    fine = judged(findings, corrected={"log_loss": (usual - 0.1, 0.0, 2.0)})
    assert "worse than the class frequencies alone" not in fine


def stands_alone(page):
    assert len(page.encode()) < 1_000_000
    assert "<script" not in page
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r'(src|href)="(?!#)', without_namespaces)
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_the_page_stands_alone(page):
    stands_alone(page)


def test_the_page_has_all_its_parts(findings, page):
    for name in ("Verdict", "Selected features", "Calibration", "Pictures", "Settings", "Method"):
        assert f"<h2>{name}</h2>" in page
    assert "<h2>Dependence between features</h2>" in page
    assert page.count("<svg") == 6
    kept = findings.corrected.selection_.indices
    for j in kept:
        assert f"&lt;gene {j}&gt;" in page
    assert "<gene" not in page
    assert "genes &amp; co.csv" in page
    assert "ab12" in page
    assert "Technical Report No. 0705" in page
    assert "<title>genes &amp; tumours</title>" in page


def cells_of(page, heading):
    """The rows of the table under a heading."""
    section = page.split(f"<h2>{heading}</h2>")[1].split("</section>")[0]
    rows = re.findall(r"<tr>(<td>.*?)</tr>", section)
    return [re.findall(r"<td>(.*?)</td>", row) for row in rows]


def test_cases_have_intervals_from_fits_without_them(findings, page):
    rows = cells_of(page, "Cases")
    assert [row[0] for row in rows] == [str(i + 1) for i in range(60)]
    model, fold_of = findings.corrected, dealt(findings.y, N_FOLDS)
    X, y = model._fitting.table.X, np.array(["normal", "tumour"])[findings.y]
    test = np.flatnonzero(fold_of == 4)
    alone = SelectiveBernoulliNB(k=10).fit(np.delete(X, test, axis=0), np.delete(y, test))
    proba, ends = alone.predict_proba(X[test]), alone.predict_proba_interval(X[test])
    for place, i in enumerate(test):
        g = proba[place].argmax()
        assert rows[i][1:3] == [y[i], alone.classes_[g]]
        numbers = [part[place, g] for part in (proba, *ends)]
        assert [float(cell) for cell in rows[i][3:]] == pytest.approx(numbers, abs=0.002)
    across = sum(float(row[4]) < 0.5 for row in rows)
    assert _in_words(across, 60) in page
    told = np.array([[float(cell) for cell in row[4:]] for row in rows])
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
    assert "across 0.5" not in ours.section()


def test_a_k_that_was_found_to_be_all_columns_is_no_cause_for_a_warning():
    y = np.arange(30) % 2
    X = np.random.default_rng(0).normal(size=(30, 2)) + 1.5 * y[:, np.newaxis]
    chosen = SelectiveGaussianNB(k="loo").fit(X, y)
    assert chosen.k_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CaseIntervals.of(chosen, X, y).y.size == 30


def test_the_same_findings_give_the_same_page(findings, page):
    assert report(findings, title="genes & tumours") == page


def test_a_selection_made_earlier_is_said_to_spoil_cross_validation():
    data = make_paper_simulation(40, 1, 6, concentration=3.0, random_state=0)
    model = SelectiveBernoulliNB(preselected_from=500)
    findings = examine(data.X_train, data.y_train, classifier=model, n_splits=2, n_repeats=1)
    assert "could not repeat the selection" in " ".join(verdict(findings))


def test_no_errors_are_not_taken_for_caution(findings):
    """Without an error in 60 cases a promise of 3 % may be right; one of 30 % is not."""
    none = Estimate(0.0, 0.0, 0.0, 0.95)
    for promised, cautious in ((0.03, False), (0.3, True)):
        row = replace(
            findings.rows["corrected"],
            actual_error=none,
            expected_error=Estimate(promised, 0.0, 1.0, 0.95),
        )
        text = verdict(replace(findings, rows={**findings.rows, "corrected": row}))[1]
        assert text.endswith("so the probabilities are underconfident.") == cautious


# Dependence between features


def section(page, name):
    return page.split(f"<h2>{name}</h2>")[1].split("</section>")[0]


def test_the_section_on_dependence_says_what_the_classifier_says(findings, page):
    found, told = (
        findings.corrected.dependence_report(),
        section(page, "Dependence between features"),
    )
    assert findings.own.dependence == found
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
    folds = {"n_splits": 3, "n_repeats": 1}
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
        report(plain), "Dependence between features"
    )
    told = section(report(tempered), "Dependence between features")
    assert escape(tempered.corrected.likelihood_average_.in_words()) in told
    assert "Use dependence" not in told
    assert "Use dependence=" not in " ".join(verdict(tempered))


def test_one_feature_depends_on_no_other():
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    model = SelectiveGaussianNB(k=1)
    findings = examine(X, y, classifier=model, n_splits=2, n_repeats=1)
    told = section(report(findings), "Dependence between features")
    assert "There is no pair of features to correlate." in told
    assert "<td>unknown</td>" in told
    assert "nan" not in told


# Real-valued features, several classes


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(3)
    codes = np.arange(45) % 3
    X = rng.normal(size=(45, 100))
    X[:, :5] += 1.5 * rng.normal(size=(3, 5))[codes]
    X[4, 2] = np.nan
    y = np.array(["a", "<b>", "c"])[codes]
    names = [f"<gene {j}>" for j in range(100)]
    classifier = SelectiveGaussianNB(k=4, always_keep=[2])
    return X, y, examine(X, y, classifier=classifier, names=names, n_splits=2, n_repeats=2)


@pytest.fixture(scope="module")
def page_of_three(three):
    return report(three[2], title="three")


def test_a_page_on_three_classes_stands_alone(page_of_three):
    stands_alone(page_of_three)
    assert page_of_three.count("<svg") == 8
    assert "<gene" not in page_of_three
    assert "<b>" not in page_of_three


def test_a_page_on_three_classes_shows_means_and_known_values(three, page_of_three):
    X, y, findings = three
    assert "<th>F statistic</th>" in page_of_three
    assert "<th>mean in &lt;b&gt; (n known)</th>" in page_of_three
    # the classes in sorted order are <b>, a, c; case 4 is the one of <b> with a missing value
    means = [np.nanmean(X[y == label, 2]) for label in ("<b>", "a", "c")]
    cells = [f"<td>{mean:#.4g} ({n})</td>" for mean, n in zip(means, (14, 15, 15), strict=True)]
    score = findings.corrected.scores_[list(findings.corrected.selection_.indices).index(2)]
    assert f"<td>&lt;gene 2&gt;</td><td>{score:#.4g}</td>{''.join(cells)}" in page_of_three


def test_three_classes_are_judged_by_the_most_probable(three, page_of_three):
    _, _, findings = three
    right, confidence = most_probable(findings.y, findings.probability["corrected"])
    last = confidence >= 0.9
    assert last.sum() > 0
    cells = f"<td>{last.sum()}</td><td>{confidence[last].mean():.3f}</td>"
    assert f"<td>0.9 to 1.0</td>{cells}<td>{right[last].mean():.3f}</td>" in page_of_three
    assert "probabilities of the most probable class" in page_of_three
    assert page_of_three.count(">Predicted probability of the most probable class<") == 2
    assert ">Corrected probability of the most probable class<" in page_of_three
    assert "class 1" not in page_of_three


def test_names_come_from_the_table_where_there_are_any():
    data = make_paper_simulation(40, 1, 30, concentration=3.0, random_state=0)
    table = pd.DataFrame(data.X_train, columns=[f"g{j}" for j in range(30)])
    model = SelectiveBernoulliNB(k=3, always_keep=["g29"])
    findings = examine(table, data.y_train, classifier=model, n_splits=2, n_repeats=1)
    page = report(findings)
    assert "<td>g29</td>" in page
    with pytest.raises(ValueError, match="names has 2 names for 30 columns"):
        examine(table, data.y_train, classifier=model, names=["a", "b"], n_repeats=1)


def test_examine_names_what_is_wrong(three):
    X, y, _ = three
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
    return X, y, examine(X, y, classifier=classifier, n_splits=2, n_repeats=1)


def test_a_page_on_bits_of_three_classes_shows_ones_and_known_values(bits_of_three):
    X, y, findings = bits_of_three
    page = report(findings)
    stands_alone(page)
    ones = [int(np.nansum(X[y == label, 2])) for label in ("<b>", "a", "c")]
    cells = [f"<td>{i} of {n}</td>" for i, n in zip(ones, (14, 15, 15), strict=True)]
    assert "<th>F statistic</th><th>ones in &lt;b&gt;</th><th>ones in a</th>" in page
    assert "".join(cells) in page
    # Reliability twice, scatter, concentration, omission, and an effect for each class.
    assert page.count("<svg") == 8
    for label in ("&lt;b&gt;", "a", "c"):
        assert f">Difference of the rate in {label} from the mean of classes, posterior<" in page
    assert "Log odds" not in page


# The front door for classes


def mixed_table(n_classes, seed=5):
    rng = np.random.default_rng(seed)
    codes = np.arange(45) % n_classes
    X = np.exp(rng.normal(size=(45, 60)) + 1.5 * (np.arange(60) < 4) * codes[:, np.newaxis])
    X[:, 40:] = rng.random((45, 20)) < np.where(
        np.arange(20) < 3, 0.2 + 0.5 * (codes[:, None] > 0), 0.5
    )
    X[4, 2] = np.nan
    return X, np.array(["<well>", "ill", "in between"])[codes]


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def front_door(request):
    X, y = mixed_table(request.param)
    groups = np.arange(45) // 3
    model = SelectiveClassifier(k=8, marginals="normal")
    folds = {"n_splits": 2, "n_repeats": 1}
    return X, y, examine(X, y, classifier=model, groups=groups, **folds)


def test_a_page_on_the_front_door_has_class_names_and_values(front_door):
    _, _, findings = front_door
    page = report(findings, title="front door")
    stands_alone(page)
    assert "class 1" not in page
    several = findings.corrected.classes_.size > 2
    words = "the most probable class" if several else "class ill"
    assert f">Predicted probability of {words}<" in page
    assert "typical value in ill (n known)" in page
    assert "&lt;well&gt;" in page
    assert "<well>" not in page
    effects = findings.corrected.feature_effects()
    place = int(np.argmax(np.where(np.isnan(effects.seen["center_in_ill"]), -1.0, effects.score)))
    assert f"{effects.seen['center_in_ill'][place]:#.4g} (" in page
    assert page.index("<h2>Pictures</h2>") < page.index("<h2>Methods compared</h2>")
    assert "groups kept together" in page


def test_a_page_on_the_front_door_says_what_was_learned(front_door):
    _, _, findings = front_door
    learned = section(report(findings), "What was learned from cases left out")
    model = findings.corrected
    for sentence in model.in_words():
        assert sentence in learned
    for k, weight in model.k_weights_.items():
        assert f"<td>{k}</td><td>{100 * weight:.0f} %</td>" in learned


def test_cases_of_the_front_door_come_with_those_in_doubt_first(front_door):
    _, y, findings = front_door
    rows = cells_of(report(findings), "Cases")
    assert sorted(int(row[0]) for row in rows) == list(range(1, 46))
    of_own = [float(row[2]) for row in rows]
    assert of_own == sorted(of_own)
    first, p = int(rows[0][0]) - 1, findings.probability["corrected"]
    assert rows[0][1] == escape(y[first])
    assert of_own[0] == pytest.approx(p[first, findings.y[first]], abs=0.0006)
    assert rows[0][3] == escape(str(findings.corrected.classes_[p[first].argmax()]))


def test_groups_stay_together_in_the_page(front_door):
    X, y, findings = front_door
    groups = np.arange(45) // 3
    records = compare(
        X,
        y,
        k=8,
        classifier=findings.corrected,
        groups=groups,
        n_splits=2,
        n_repeats=1,
        methods=["corrected"],
    )
    np.testing.assert_allclose(records[0].probability, findings.probability["corrected"])
    alone = compare(
        X, y, k=8, classifier=findings.corrected, n_splits=2, n_repeats=1, methods=["corrected"]
    )
    assert not np.allclose(alone[0].probability, findings.probability["corrected"])


def test_no_page_sends_the_reader_elsewhere(front_door, findings):
    for each in (front_door[2], findings):
        usual = each.rows["class frequencies"].log_loss.value
        told = judged(
            each,
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
    # Options that are in use already are not recommended.
    told = judged(
        front_door[2],
        corrected={"actual_error": (0.5, 0.4, 0.6), "expected_error": (0.01, 0.0, 0.1)},
    )
    assert "groups" not in told
    assert "dependence=" not in told


# A real response


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(1)
    y = 100 + 5 * rng.normal(size=60)
    X = rng.normal(size=(60, 1000))
    X[:, :8] += 0.12 * (y[:, np.newaxis] - 100)
    X[3, 1] = np.nan
    names = [f"<gene {j}>" for j in range(1000)]
    regressor = SelectiveNaiveRegressor(k=10, always_keep=[1])
    settings = {"n_splits": 2, "n_repeats": 2, "provenance": {"input": "a & b.csv"}}
    return X, y, examine_regression(X, y, regressor=regressor, names=names, **settings)


@pytest.fixture(scope="module")
def page_of_numbers(measured):
    return report(measured[2], title="numbers & co")


def test_a_page_on_numbers_has_all_its_parts(measured, page_of_numbers):
    stands_alone(page_of_numbers)
    for name in (
        "Verdict",
        "Methods compared",
        "Selected features",
        "Calibration",
        "Pictures",
        "Settings",
        "Method",
    ):
        assert f"<h2>{name}</h2>" in page_of_numbers
    assert page_of_numbers.count("<svg") == 7
    assert "<gene" not in page_of_numbers
    for j in measured[2].corrected.selection_.indices:
        assert f"&lt;gene {j}&gt;" in page_of_numbers
    for method in measured[2].rows:
        assert f"<td>{method}</td>" in page_of_numbers
    assert "a &amp; b.csv" in page_of_numbers
    assert report(measured[2], title="numbers & co") == page_of_numbers


def test_a_page_on_numbers_shows_slopes_and_known_values(measured, page_of_numbers):
    X, y, _ = measured
    known = ~np.isnan(X[:, 1])
    slope = np.polyfit(y[known], X[known, 1], 1)[0]
    r = abs(np.corrcoef(X[known, 1], y[known])[0, 1])
    row = f"<td>&lt;gene 1&gt;</td><td>{r:.3f}</td><td>{slope:#.4g}</td><td>59</td>"
    assert row in page_of_numbers


def test_the_verdict_on_numbers(measured):
    _, _, findings = measured
    text = " ".join(verdict(findings))
    corrected, uncorrected = findings.rows["corrected"], findings.rows["uncorrected"]
    mean = findings.rows["mean of the response"].rmse.value
    assert "11 of 1000 features were kept" in text
    assert f"they covered {100 * uncorrected.coverage.value:.0f} % without correcting" in text
    assert "too few, so they are overconfident. With the correction" in text
    less = f"{100 * (1 - corrected.rmse.value / mean):.0f} % less than the {mean:#.4g}"
    assert f"off by {corrected.rmse.value:#.4g} (root mean squared error), {less}" in text
    best = max(findings.rows.values(), key=lambda row: row.log_density.value)
    assert f"{best.method!r} had the best mean log density, {best.log_density.value:.3f}" in text


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        (0.75, "too few, so they are overconfident."),
        (0.9, "which agrees with that."),
        (1.0, "too many, so they are underconfident."),
    ],
)
def test_coverage_is_judged(measured, coverage, words):
    _, _, findings = measured
    row = replace(findings.rows["corrected"], coverage=Estimate(coverage, coverage, coverage, 0.95))
    changed = replace(findings, rows={**findings.rows, "corrected": row})
    sentences = verdict(changed)
    assert sentences[1].endswith(words)
    assert ("The overconfidence that remains" in " ".join(sentences)) == (coverage == 0.75)
    # all of ten cases inside is no sign of caution
    few = verdict(replace(changed, y=findings.y[:10]))[1]
    assert few.endswith("which agrees with that.")


def test_predictions_are_averaged_over_repetitions(measured):
    """The PIT values of a mixture are means, its density is the mean density."""
    _, y, findings = measured
    predicted = findings.predictions["uncorrected"]
    inside = interval_coverage(y, predicted.lower, predicted.upper).value
    assert inside == pytest.approx(findings.rows["uncorrected"].coverage.value, abs=0.06)
    assert predicted.log_density.mean() >= findings.rows["uncorrected"].log_density.value
    assert np.all((predicted.pit >= 0) & (predicted.pit <= 1))


def test_a_worthless_regressor_is_called_so(measured):
    findings = measured[2]
    worse = replace(findings.rows["corrected"].rmse, value=9.0)
    row = replace(findings.rows["corrected"], rmse=worse)
    text = verdict(replace(findings, rows={**findings.rows, "corrected": row}))[0]
    assert "which is no better than the" in text


def test_a_selection_made_earlier_spoils_regression_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    regressor = SelectiveNaiveRegressor(preselected_from=500)
    findings = examine_regression(X, y, regressor=regressor, n_splits=2, n_repeats=1)
    assert "could not repeat the selection: the errors shown here are too small" in " ".join(
        verdict(findings)
    )


def test_examine_regression_names_what_is_wrong(measured):
    X, y, _ = measured
    regressor = SelectiveNaiveRegressor(k=3)
    with pytest.raises(ValueError, match="y is 2 in all cases"):
        examine_regression(X, np.full(60, 2.0), regressor=regressor)
    with pytest.raises(ValueError, match="y has 4 cases: with n_splits=5"):
        examine_regression(X[4:8], y[4:8], regressor=regressor)


@pytest.fixture(scope="module")
def averaged():
    rng = np.random.default_rng(8)
    y = rng.normal(size=48)
    X = rng.normal(size=(48, 30))
    X[:, :5] += 1.5 * y[:, np.newaxis]
    return (
        X,
        y,
        examine_regression(X, y, regressor=SelectiveRegressor(k=8), n_splits=3, n_repeats=1),
    )


def test_a_page_on_an_average_over_regressions_has_all_its_parts(averaged):
    *_, found = averaged
    page = report(found)
    stands_alone(page)
    assert page.index("<h2>Verdict") < page.index("<h2>Pictures") < page.index("<h2>Methods")
    assert page.count("<svg") == 4  # responses, PIT values, coverage, effects
    learned = section(page, "What was learned from cases left out")
    rows = re.findall(r"<tr><td>(\d+)</td>", learned)
    assert [int(row) for row in rows] == [size for size in found.corrected.k_weights_ if size]
    assert "linear and quadratic regressions of the response" in section(page, "Method")


def test_coverage_is_told_once(averaged):
    *_, found = averaged
    told = " ".join(verdict(found))
    assert told.count("Predictive intervals should cover 90 %") == 1
    calibration = section(report(found), "Calibration")
    assert "coverage" not in calibration
    row = found.rows["corrected"]
    same = replace(found, rows={**found.rows, "uncorrected": replace(row, method="uncorrected")})
    assert verdict(same)[1].count("covered") == 1
    assert "with and without correcting for the selection" in verdict(same)[1]


def with_coverage(found, regressor, grouped):
    """Findings of a regressor whose intervals cover too little."""
    row = replace(found.rows["corrected"], coverage=Estimate(0.5, 0.4, 0.6, 0.95))
    own = replace(found.own, corrected=regressor, grouped=grouped)
    return replace(found, rows={**found.rows, "corrected": row}, own=own)


@pytest.mark.parametrize(
    ("guard", "grouped", "advice"),
    [
        ("auto", False, "Where several rows come from one subject"),
        ("auto", True, "Take the fraction that the intervals did cover as their level."),
        ("none", False, 'dependence="auto", the default, guards against that.'),
        ("correlated", True, 'dependence="auto", the default, guards against that.'),
    ],
)
def test_advice_on_numbers_is_not_what_is_in_use(averaged, guard, grouped, advice):
    *_, found = averaged
    told = verdict(with_coverage(found, SelectiveRegressor(dependence=guard), grouped))
    assert advice in told[2]
    assert ("one subject" in told[2]) == (guard == "auto" and not grouped)
    assert ('dependence="auto"' in told[2]) == (guard != "auto")


def test_a_lead_by_chance_is_called_so(averaged):
    *_, found = averaged
    ours = found.predictions["corrected"]
    noise = np.random.default_rng(0).normal(size=found.y.size)
    noise += 0.05 - noise.mean()

    def verdict_if_lasso_leads_by(lead):
        lasso = replace(ours, log_density=ours.log_density + lead)
        row = found.rows["LassoCV"]
        mean = float(np.mean(lasso.log_density))
        row = replace(row, log_density=Estimate(mean, mean, mean, 0.95))
        best = replace(
            found,
            predictions={**found.predictions, "LassoCV": lasso},
            rows={
                method: row
                if method == "LassoCV"
                else replace(other, log_density=Estimate(mean - 0.05, -9.0, 9.0, 0.95))
                for method, other in found.rows.items()
            },
        )
        return verdict(best)[-1]

    assert "'LassoCV' had the best" in verdict_if_lasso_leads_by(noise)
    assert "no more than chance" in verdict_if_lasso_leads_by(noise)
    assert "no more than chance" not in verdict_if_lasso_leads_by(0.05 + 1e-3 * noise)


def test_groups_stay_together_in_a_page_on_numbers(averaged):
    X, y, _ = averaged
    groups = np.arange(48) // 2
    asked = {"regressor": SelectiveRegressor(k=4), "n_splits": 2, "n_repeats": 1}
    found = examine_regression(X, y, groups=groups, **asked)
    assert found.settings["cross-validation"] == "1 x 2-fold, groups kept together"
    assert found.own.grouped


def test_the_method_after_an_earlier_selection_is_that_of_the_features(averaged):
    X, y, _ = averaged
    regressor = SelectiveRegressor(preselected_from=300)
    found = examine_regression(X[:, :10], y, regressor=regressor, n_splits=2, n_repeats=1)
    page = report(found)
    assert "quadratic" not in section(page, "Method")
    assert "with and without correlations between features" in section(page, "Method")
    assert any("could not repeat the selection" in sentence for sentence in verdict(found))
