"""Pages on a real response."""

import re
from dataclasses import replace

import numpy as np
import pytest
from pages import cells_of, section, stands_alone, without_pictures

from unselected import SelectiveNaiveRegressor, SelectiveRegressor
from unselected.calibration import Estimate, interval_coverage
from unselected.experiments import regression_method_names
from unselected.report import examine_regression, verdict

pytestmark = pytest.mark.usefixtures("few_folds")
FOLDS = {
    "n_splits": 2,
    "n_repeats": 1,
    "methods": ["SelectKBest + BayesianRidge", "mean of the response"],
}


def test_a_page_on_numbers_has_all_its_parts(numbers, page_of_numbers):
    stands_alone(page_of_numbers)
    assert re.findall(r"<h2>(.*?)</h2>", page_of_numbers) == [
        "Verdict",
        "Methods compared",
        "Coverage and PIT values",
        "Selected features",
        "Cases",
        "Settings",
        "Method",
    ]
    assert page_of_numbers.split("<h2>Methods")[0].count("<svg") == 3
    assert page_of_numbers.count("<svg") == 10
    assert "<gene" not in page_of_numbers
    for j in numbers[2].corrected.selection_.indices:
        assert f"<td>&lt;gene {j}&gt;</td>" in page_of_numbers
    told = [cells[-1] for cells in cells_of(page_of_numbers, "Methods compared")]
    assert told == regression_method_names()
    assert "a &amp; b.csv" in page_of_numbers
    legends = re.findall(
        r">(ours|corrected)</text>", section(page_of_numbers, "Coverage and PIT values")
    )
    assert legends == ["ours", "ours"]


def test_a_page_on_numbers_shows_slopes_and_known_values(numbers, page_of_numbers):
    X, y, _ = numbers
    known = ~np.isnan(X[:, 1])
    slope = np.polyfit(y[known], X[known, 1], 1)[0]
    r = abs(np.corrcoef(X[known, 1], y[known])[0, 1])
    row = f"<td>&lt;gene 1&gt;</td><td>{r:.3f}</td><td>{slope:#.4g}</td><td>59</td>"
    assert row in page_of_numbers


def test_the_verdict_on_numbers(numbers):
    _, _, findings = numbers
    text = " ".join(verdict(findings))
    corrected, uncorrected = findings.rows["corrected"], findings.rows["uncorrected"]
    mean = findings.rows["mean of the response"].rmse.value
    assert "11 of 500 features" in text
    covered = f"{100 * corrected.coverage.value:.0f} %"
    assert f"their 90 % intervals covered {covered}" in text
    assert f"selection {100 * uncorrected.coverage.value:.0f} %" in text
    less = f"{100 * (1 - corrected.rmse.value / mean):.0f} % less than the {mean:#.4g}"
    assert f"off by {corrected.rmse.value:#.4g} (root mean squared error), {less}" in text


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        (0.75, "too few, so they are overconfident"),
        (0.9, "which agrees with that"),
        (1.0, "too many, so they are underconfident"),
    ],
)
def test_coverage_is_judged(numbers, coverage, words):
    _, _, findings = numbers
    row = replace(findings.rows["corrected"], coverage=Estimate(coverage, coverage, coverage, 0.95))
    changed = replace(findings, rows={**findings.rows, "corrected": row})
    sentences = verdict(changed)
    assert words in sentences[0]
    assert ("The overconfidence that remains" in " ".join(sentences)) == (coverage == 0.75)
    # all of ten cases inside is no sign of caution
    few = verdict(replace(changed, y=findings.y[:10]))[0]
    assert "which agrees with that" in few


def test_two_coverages_do_not_differ_without_a_word(numbers):
    """The picture has predictions averaged over repetitions, the verdict a mean over them."""
    findings = numbers[2]
    inside = findings.predictions["corrected"].coverage(findings.y)
    for other, word in ((inside, False), (inside - 0.05, True)):
        row = replace(findings.rows["corrected"], coverage=Estimate(other, other, other, 0.95))
        changed = replace(findings, rows={**findings.rows, "corrected": row})
        caption = changed.first_screen().figures[0][0]
        assert ("averaged over 2 repetitions" in caption) == word
        assert (f"cover {100 * inside:.0f} %" in caption) == word


def test_predictions_are_averaged_over_repetitions(numbers):
    """The PIT values of a mixture are means, its density is the mean density."""
    _, y, findings = numbers
    predicted = findings.predictions["uncorrected"]
    inside = interval_coverage(y, predicted.lower, predicted.upper).value
    assert inside == pytest.approx(findings.rows["uncorrected"].coverage.value, abs=0.06)
    assert predicted.log_density.mean() >= findings.rows["uncorrected"].log_density.value
    assert np.all((predicted.pit >= 0) & (predicted.pit <= 1))


def test_a_worthless_regressor_is_called_so(numbers):
    findings = numbers[2]
    worse = replace(findings.rows["corrected"].rmse, value=9.0)
    row = replace(findings.rows["corrected"], rmse=worse)
    text = verdict(replace(findings, rows={**findings.rows, "corrected": row}))[0]
    assert "which is no better than the" in text


def test_a_selection_made_earlier_spoils_regression_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    regressor = SelectiveNaiveRegressor(preselected_from=500)
    findings = examine_regression(X, y, regressor=regressor, **FOLDS)
    assert "could not repeat the selection: the errors shown here are too small" in " ".join(
        verdict(findings)
    )


def test_examine_regression_names_what_is_wrong(numbers):
    X, y, _ = numbers
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
    return X, y, examine_regression(X, y, regressor=SelectiveRegressor(k=8), **FOLDS)


@pytest.mark.parametrize("marginals", ["raw", "normal"])
def test_features_of_an_average_are_told_in_the_units_of_their_columns(averaged, marginals):
    X, y, _ = averaged
    asked = SelectiveRegressor(k=4, marginals=marginals, dependence="none")
    found = examine_regression(100.0 + X, y, regressor=asked, **FOLDS)
    features = section(without_pictures(found), "Selected features")
    assert ("slope per unit of the response" in features) == (marginals == "raw")
    assert features.count("typical value at response") == (0 if marginals == "raw" else 3)
    if marginals == "normal":  # the first value of the strongest, about 100 - 1.5
        value = float(re.findall(r"<td>([^<]+)</td>", features)[2])
        assert 97.0 < value < 100.0


def test_a_page_on_an_average_over_regressions_has_all_its_parts(averaged):
    *_, found = averaged
    page = without_pictures(found)
    stands_alone(page)
    # responses, promises, features; methods; PIT values, coverage; stability, effects
    assert page.count("<svg") == 8
    learned = section(page, "What was learned from cases left out")
    rows = re.findall(r"<tr><td>(\d+)</td>", learned)
    assert [int(row) for row in rows] == [size for size in found.corrected.k_weights_ if size]
    assert "linear and quadratic regressions of the response" in section(page, "Method")
    assert "uncorrected" not in page


def test_a_skewed_response_is_told(averaged):
    """Cases left out decide: here the logarithm is far better."""
    X, y, _ = averaged
    found = examine_regression(X, np.exp(2.0 * y), regressor=SelectiveRegressor(k=8), **FOLDS)
    assert found.corrected.response_power_ != 1.0
    learned = section(without_pictures(found), "What was learned from cases left out")
    assert "The response is skewed: regressions are of" in learned
    plain = section(without_pictures(averaged[2]), "What was learned from cases left out")
    assert "skewed" not in plain


def test_cases_that_surprise_come_first(averaged):
    _, y, found = averaged
    rows = cells_of(without_pictures(found), "Cases")
    assert sorted(int(row[0]) for row in rows) == list(range(1, 49))
    far = np.array([abs(float(row[5]) - 0.5) for row in rows])
    assert np.all(np.diff(far) < 1e-9)
    assert float(rows[0][1]) == pytest.approx(y[int(rows[0][0]) - 1], rel=1e-3)


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


def test_groups_stay_together_in_a_page_on_numbers(averaged):
    X, y, _ = averaged
    groups = np.arange(48) // 2
    asked = {"regressor": SelectiveRegressor(k=4), **FOLDS}
    found = examine_regression(X, y, groups=groups, **asked)
    assert found.settings["cross-validation"] == "1 x 2-fold, groups kept together"
    assert found.own.grouped


def test_the_method_after_an_earlier_selection_is_that_of_the_features(averaged):
    X, y, _ = averaged
    regressor = SelectiveRegressor(preselected_from=300)
    found = examine_regression(X[:, :10], y, regressor=regressor, **FOLDS)
    page = without_pictures(found)
    assert "quadratic" not in section(page, "Method")
    assert "with and without correlations between features" in section(page, "Method")
    assert any("could not repeat the selection" in sentence for sentence in verdict(found))
