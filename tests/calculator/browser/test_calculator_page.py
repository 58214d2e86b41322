"""The calculator as its readers see it, in a real browser: `make test-browser`."""

import csv
import io
import shutil

import numpy as np
import pytest
from calculator_cases import new_cases, saved_model

from unselected.calculator.page import calculator_page
from unselected.files.labels import Label

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.filterwarnings("ignore"),
]
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)> & \u2028 {script}"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(
    scope="module",
    params=[
        "bits",
        "genotypes",
        "real numbers, covariates",
        "classifier, three classes",
        "regression",
        "regressor",
    ],
)
def page_file(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    saved, kept = saved_model(request.param, folder)
    labels = {"0": Label("a very long label of a feature " * 3, "mmol/l"), "1": Label(NASTY, NASTY)}
    path = folder / "calculator.html"
    path.write_text(calculator_page(saved, title=NASTY, labels=labels), encoding="utf-8")
    return path, saved, kept


@pytest.fixture
def opened(browser, page_file):
    """The page, with what it asked for and what it complained of."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    seen = {"requests": [], "messages": []}
    page.on("request", lambda request: seen["requests"].append(request.url))
    page.on("console", lambda message: seen["messages"].append(message.text))
    page.on("pageerror", lambda error: seen["messages"].append(str(error)))
    page.on("dialog", lambda dialog: seen["messages"].append(dialog.message))
    page.goto(page_file[0].as_uri())
    yield page, seen
    assert seen["requests"] == [page_file[0].as_uri()]
    assert seen["messages"] == []
    page.close()


def enter(page, values):
    for j, value in enumerate(values):
        field = page.locator(f"#feature-{j}")
        if field.evaluate("e => e.tagName") == "SELECT":
            field.select_option("" if np.isnan(value) else f"{value:.0f}")
        else:
            field.fill("" if np.isnan(value) else repr(float(value)))


def test_names_are_text(opened):
    page, _ = opened
    assert page.title() == NASTY
    assert page.locator("img").count() == 0
    assert page.locator("label[for=feature-1]").text_content() == NASTY


def test_results_follow_what_is_entered(opened, page_file):
    page, _ = opened
    _, saved, kept = page_file
    predictor, k = saved.predictor, saved.fitted.n_columns
    row = new_cases(saved, kept, 3)[2:]
    enter(page, row[0, :k])
    if predictor.coding is not None:
        page.fill("#covariate-0", repr(float(row[0, k])))
        page.select_option("#covariate-1", str(int(row[0, k + 1] + 2 * row[0, k + 2])))
        page.select_option("#covariate-2", str(int(row[0, k + 3])))
    page.wait_for_timeout(100)
    shown = page.locator("#outcome").inner_text()
    if saved.classes is None:
        mean = predictor.mean_and_std(row)[0][0]
        assert f"{mean:.4g}" in shown
    else:
        for label, p in zip(saved.classes, predictor.predict_proba(row)[0], strict=True):
            assert str(label) in shown
            if 0.1 <= p <= 0.9:
                assert f"{100 * p:.0f} %" in shown
    assert page.locator(".contribution .fill").count() > 2


def test_values_outside_of_the_training_range_are_marked(opened):
    page, _ = opened
    numbers = page.locator("#features input")
    if not numbers.count():
        return
    numbers.first.fill("1e6")
    assert page.locator(".outside").count() == 1
    assert "outside of the training range" in page.locator(".outside").inner_text()
    numbers.first.fill("one")
    assert page.locator(".outside").count() == 0
    assert "not a number" in page.locator(".bad").inner_text()


def test_the_prevalence_moves_the_probabilities(opened, page_file):
    page, _ = opened
    _, saved, _ = page_file
    if saved.classes is None:
        assert page.locator("#prevalence-part").is_hidden()
        return
    before = page.locator("#outcome").inner_text()
    page.fill("#prevalence-0", "1")
    assert page.locator("#outcome").inner_text() != before
    page.get_by_text("as in training").click()
    assert page.locator("#outcome").inner_text() == before


def test_without_a_feature_there_is_no_interval_of_a_probability(opened, page_file):
    """Both ends are the prevalence then, which an interval takes as certain: the page says so."""
    page, _ = opened
    _, saved, kept = page_file
    outcome, k = page.locator("#outcome"), saved.fitted.n_columns
    if saved.classes is None:
        assert "% interval:" in outcome.inner_text()
        return
    given = saved.predictor.coding is not None
    before = "what the covariates say" if given else "the prevalence in training"
    assert f"No feature is known: this is {before}." in outcome.inner_text()
    assert "% interval:" not in outcome.inner_text()
    assert outcome.locator(".range").count() == 0
    enter(page, new_cases(saved, kept, 3)[2, :k])
    assert f"It takes {before} as certain." in outcome.inner_text()
    assert "90 % interval:" in outcome.inner_text()
    assert outcome.locator(".range").count() == saved.classes.size
    page.fill("#prevalence-0", "1")
    chosen = before if given else "the prevalence chosen below"
    assert f"It takes {chosen} as certain." in outcome.inner_text()


def test_a_pasted_table_becomes_the_same_csv_as_python_writes(opened, page_file):
    page, _ = opened
    _, saved, kept = page_file
    rows, k = new_cases(saved, kept, 30), saved.fitted.n_columns
    coded = rows[:, k:]
    header, cells = ["patient", *map(str, range(k))], []
    for i, row in enumerate(rows[:, :k]):
        cells.append([f'"{i}, ""x"""', *("NA" if np.isnan(x) else repr(float(x)) for x in row)])
    if coded.size:
        header += ["age", "batch", "treated"]
        for line, (age, *batch, treated) in zip(cells, coded.tolist(), strict=True):
            level = int(batch @ np.array([1, 2])) if batch else 0
            line += [repr(age), f"b{level + 1}", "TRUE" if treated else "FALSE"]
    page.fill("#paste", "\n".join(",".join(line) for line in [header, *cells]))
    page.wait_for_function(
        "() => document.querySelector('#paste-part button:last-child').disabled === false"
    )
    with page.expect_download() as download:
        page.get_by_text("Download CSV").click()
    text = download.value.path().read_text(encoding="utf-8")
    found = list(csv.DictReader(io.StringIO(text)))
    assert [line["patient"] for line in found][:2] == ['0, "x"', '1, "x"']
    predictor = saved.predictor
    if saved.classes is None:
        right = predictor.mean_and_std(rows)[0]
        np.testing.assert_allclose([float(line["mean"]) for line in found], right, rtol=1e-9)
        return
    proba = predictor.predict_proba(rows)
    for g, label in list(enumerate(saved.classes))[1:]:
        column = [float(line[f"probability of {label}"]) for line in found]
        np.testing.assert_allclose(column, proba[:, g], rtol=0.0, atol=1e-9)
    assert [line["predicted"] for line in found] == predictor.predict(rows).tolist()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("real numbers", "a,b\n1,2", "no column has the name of a feature"),
        ("real numbers", "id,0\nx,1.5e", "line 2, column 0: 1.5e is not a number"),
        ("genotypes", "id,0\nx,2\ny,3", "line 3, column 0: 3 is none of 0, 1, 2"),
        ("genotypes", "id,0\nx,1.5", "line 2, column 0: 1.5 is none of 0, 1, 2"),
        ("genotypes", "id,0\nx,-1", "line 2, column 0: -1 is none of 0, 1, 2"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(browser, tmp_path, name, text, said):
    saved, _ = saved_model(name, tmp_path)
    path = tmp_path / "calculator.html"
    path.write_text(calculator_page(saved), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.fill("#paste", text)
    assert said in page.locator("#paste-part [role=status]").inner_text()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(opened, scheme):
    page, _ = opened
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    for field in page.locator("#entry input, #entry select").all():
        assert field.bounding_box()["width"] > 100


def test_every_field_has_a_label_and_the_keyboard_reaches_it(opened):
    page, _ = opened
    for field in page.locator("input, select, textarea").all():
        assert field.evaluate("e => e.labels.length > 0 || e.ariaLabel !== null")
    first = page.locator("#entry input, #entry select").first
    page.keyboard.press("Tab")
    assert first.evaluate("e => e === document.activeElement")


def test_it_prints(opened):
    page, _ = opened
    assert len(page.pdf(format="A4")) > 10_000


def test_the_policy_forbids_connections(browser, page_file):
    """A twin that asks for something: the policy stops it, and the console says so."""
    page = browser.new_page()
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(page_file[0].as_uri())
    page.evaluate("() => fetch('http://127.0.0.1:9/x').catch(() => null)")
    assert any("Content Security Policy" in message for message in messages)
    page.close()
