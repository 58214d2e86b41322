"""Scripts of the calculator against Python, in a real browser: `make test-browser`."""

import json
import shutil

import numpy as np
import pytest
from calculator_cases import KINDS, new_cases, saved_model
from scipy.special import gammaln, sici, stdtr

from unselected.calculator.page import calculator_page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.filterwarnings("ignore"),
]
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
N_CASES, N_EXPLAINED = 1000, 100
LEVELS = [0.05, 0.5, 0.95]
# Python predicts a number from two groups of features on few nodes, right to this; a page on all.
OF_TWO_GROUPS = 1e-6
PREDICT = """([rows, k, options]) => rows.map((row) => {
  const numbers = row.map((x) => (x === null ? NaN : x));
  return calculator.predict(numbers.slice(0, k), numbers.slice(k), options);
})"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(params=list(KINDS))
def opened(request, browser, tmp_path):
    """A page, the predictor that it has to equal, and random cases."""
    saved, kept = saved_model(request.param, tmp_path)
    path = tmp_path / "calculator.html"
    path.write_text(calculator_page(saved), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    yield page, saved, kept, OF_TWO_GROUPS if request.param == "regression, sparse" else 1e-9
    page.close()


def in_browser(page, predictor, rows, **options):
    cells = [[None if np.isnan(x) else x for x in row] for row in rows.tolist()]
    return page.evaluate(PREDICT, [cells, predictor.n_columns, options])


def prevalence_of(predictor):
    """Class probabilities unlike those of the training set."""
    parts = np.arange(1.0, predictor.classes.size + 1.0)
    return (parts / parts.sum()).tolist()


def check_classes(page, predictor, rows, atol=1e-9):
    prevalence = prevalence_of(predictor)
    found = in_browser(page, predictor, rows)
    right = predictor.predict_proba(rows)
    np.testing.assert_allclose(
        [each["probabilities"] for each in found], right, rtol=0.0, atol=atol
    )
    some = rows[:N_EXPLAINED]
    found = in_browser(page, predictor, some, prevalence=prevalence, level=0.9, explained=True)
    right = predictor.predict_proba(some, prevalence=prevalence)
    np.testing.assert_allclose(
        [each["probabilities"] for each in found], right, rtol=0.0, atol=atol
    )
    ends = predictor.predict_proba_interval(some, level=0.9, prevalence=prevalence)
    intervals = np.array([each["intervals"] for each in found])
    np.testing.assert_allclose(intervals, np.stack(ends, axis=2), rtol=0.0, atol=atol)
    told = predictor.explain(some, prevalence=prevalence)
    contributions = np.array([each["explanation"]["contributions"] for each in found])
    expected = told.contributions.reshape(contributions.shape)
    np.testing.assert_allclose(contributions, expected, rtol=0.0, atol=atol)
    log_odds = np.array([each["explanation"]["logOdds"] for each in found])
    np.testing.assert_allclose(log_odds, told.log_odds.reshape(log_odds.shape), atol=atol)


def check_numbers(page, predictor, rows, atol=1e-9):
    found = in_browser(page, predictor, rows)
    mean, std = predictor.mean_and_std(rows)
    unit = std.mean()
    for name, right in (("mean", mean), ("std", std)):
        np.testing.assert_allclose(
            [each[name] / unit for each in found], right / unit, rtol=0.0, atol=atol
        )
    some = rows[:N_EXPLAINED]
    found = in_browser(page, predictor, some, levels=LEVELS)
    quantiles = np.array([each["quantiles"] for each in found])
    for place, level in enumerate(LEVELS):
        # Of a mixture Python finds quantiles to eight digits, and their levels to all.
        levels = predictor.cdf(some, quantiles[:, place])
        np.testing.assert_allclose(levels, level, rtol=0.0, atol=atol)


def test_it_predicts_as_python_does(opened):
    page, saved, kept, atol = opened
    check = check_numbers if saved.classes is None else check_classes
    check(page, saved.predictor, new_cases(saved, kept, N_CASES), atol)


@pytest.mark.parametrize(
    "name",
    [
        "real numbers",
        "real numbers, sparse",
        "real numbers with gaps, sparse",
        "real numbers, shrunk",
        "regression",
        "regression, shrunk",
    ],
)
def test_rows_far_out_are_predicted_on_nodes_that_reach_there(name, browser, tmp_path):
    saved, kept = saved_model(name, tmp_path)
    path = tmp_path / "calculator.html"
    path.write_text(calculator_page(saved), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    check = check_numbers if saved.classes is None else check_classes
    check(page, saved.predictor, new_cases(saved, kept, 100, spread=3.0))
    page.close()


def test_a_wrong_number_is_noticed(browser, tmp_path):
    """Twin: one log weight of the form is another."""
    saved, kept = saved_model("real numbers", tmp_path)
    text = calculator_page(saved)
    before, mark, rest = text.partition('<script type="application/json" id="content">')
    content, _, after = rest.partition("</script>")
    form = json.loads(content)
    form["model"]["logPsi"] = [-0.6931472, -0.6931471]
    path = tmp_path / "calculator.html"
    path.write_text(f"{before}{mark}{json.dumps(form)}</script>{after}", encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    with pytest.raises(AssertionError):
        check_classes(page, saved.predictor, new_cases(saved, kept, 100))
    page.close()


def test_special_functions(browser, tmp_path):
    """Those of scipy, to nearly all digits."""
    saved, _ = saved_model("bits", tmp_path)
    path = tmp_path / "calculator.html"
    # The page keeps its functions to itself: here they are given out.
    text = calculator_page(saved).replace(
        "return calculator;",
        "return Object.assign(calculator, {logGamma, studentCdf, sineIntegral});",
    )
    path.write_text(text, encoding="utf-8")
    page = browser.new_context(bypass_csp=True).new_page()
    page.goto(path.as_uri())
    x = np.concatenate([np.geomspace(1e-3, 1e6, 200), np.linspace(0.5, 60.0, 200)])
    found = page.evaluate("(xs) => xs.map((x) => calculator.logGamma(x))", x.tolist())
    np.testing.assert_allclose(found, gammaln(x), rtol=1e-13, atol=1e-13)
    found = page.evaluate("(xs) => xs.map((x) => calculator.sineIntegral(x))", x[x < 3e3].tolist())
    np.testing.assert_allclose(found, sici(x[x < 3e3])[0], rtol=0.0, atol=1e-13)
    t = np.linspace(-12.0, 12.0, 97)
    for df in (2.5, 3.0, 10.0, 59.0, 199.0, 4999.0):
        found = page.evaluate(
            "([ts, df]) => ts.map((t) => calculator.studentCdf(t, df))", [t.tolist(), df]
        )
        np.testing.assert_allclose(found, stdtr(df, t), rtol=1e-11, atol=1e-15)
    page.close()
