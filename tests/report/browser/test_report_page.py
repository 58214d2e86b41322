"""The report in a real browser: `make test-browser`. Skips where no Chromium is installed."""

import http.server
import json
import re
import shutil
import threading
from functools import partial

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
from unselected.datasets import make_paper_simulation
from unselected.report import examine, examine_regression, report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
FOLDS = {"n_splits": 3, "n_repeats": 1}


def on_bits():
    data = make_paper_simulation(60, 1, 400, concentration=20.0, random_state=2)
    y = np.where(data.y_train == 1, "tumour", "normal")
    return examine(data.X_train, y, classifier=SelectiveBernoulliNB(k=10), **FOLDS)


def on_several_classes():
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 5
    X = rng.normal(size=(60, 200))
    X[:, :6] += rng.normal(size=(5, 6))[codes]
    y = np.array(["a long name", "b", "c", "d", "e"])[codes]
    return examine(X, y, classifier=SelectiveGaussianNB(k=10), **FOLDS)


def on_numbers():
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    X = rng.normal(size=(60, 200))
    X[:, :6] += 0.7 * y[:, np.newaxis]
    return examine_regression(X, y, regressor=SelectiveNaiveRegressor(k=10), **FOLDS)


def on_numbers_by_the_front_door():
    """Columns are strongly skewed, so that normal scores are used, and have long names."""
    rng = np.random.default_rng(0)
    y = 50.0 + 12.0 * rng.normal(size=60)
    X = rng.normal(size=(60, 200))
    X[:, :6] += 0.06 * (y - 50.0)[:, np.newaxis]
    table = pd.DataFrame(
        np.exp(2.0 * X), columns=[f"a_long_name_of_column_{j}" for j in range(200)]
    )
    return examine_regression(table, y, regressor=SelectiveRegressor(k=10), **FOLDS)


def on_the_front_door():
    rng = np.random.default_rng(0)
    y = np.array(["FL", "DLBCL"])[np.arange(60) % 2]
    X = rng.normal(size=(60, 200))
    X[:, :6] += (y == "FL")[:, np.newaxis]
    return examine(X, y, classifier=SelectiveClassifier(k=10), **FOLDS)


def on_covariates():
    rng = np.random.default_rng(0)
    y, batch = np.arange(60) % 2, rng.choice(["a batch with a long name", "b2", "b3"], 60)
    X = rng.normal(size=(60, 200)) + (batch == "b2")[:, np.newaxis]
    X[:, :6] += 0.7 * y[:, np.newaxis]
    covariates = {"age": rng.integers(30, 80, 60), "batch": batch}
    return examine(X, y, classifier=SelectiveGaussianNB(k=10), covariates=covariates, **FOLDS)


@pytest.fixture(
    scope="module",
    params=[
        on_bits,
        on_several_classes,
        on_numbers,
        on_numbers_by_the_front_door,
        on_the_front_door,
        on_covariates,
    ],
)
def page_file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report(request.param(), title="A report"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, page_file):
    """The page, with what it asked for and what it complained of."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    seen = {"requests": [], "messages": []}
    page.on("request", lambda request: seen["requests"].append(request.url))
    page.on("console", lambda message: seen["messages"].append(message.text))
    page.on("pageerror", lambda error: seen["messages"].append(str(error)))
    page.goto(page_file.as_uri())
    yield page, seen
    page.close()


def test_it_renders_without_errors_and_asks_for_nothing(opened, page_file):
    page, seen = opened
    assert page.title() == "A report"
    assert seen["requests"] == [page_file.as_uri()]
    assert seen["messages"] == []
    assert page.locator("h2").first.text_content() == "Verdict"
    for picture in page.locator("figure svg").all():
        box = picture.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100


def test_one_screen_says_it_all(opened):
    """Verdict and three pictures, captions included, without scrolling."""
    page, _ = opened
    page.set_viewport_size({"width": 1280, "height": 900})
    first = page.locator("section.verdict + .row figure")
    assert first.count() == 3
    for figure in first.all():
        box = figure.bounding_box()
        assert box["y"] + box["height"] < 900
    assert page.locator("section.verdict > p").count() <= 2
    tables = page.locator("table:visible")
    assert all(table.bounding_box()["y"] > 900 for table in tables.all())


def test_it_reads_on_a_phone(opened):
    page, _ = opened
    page.set_viewport_size({"width": 375, "height": 800})
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    inside = page.locator("figure:not(.wide) svg").all()
    assert all(picture.bounding_box()["width"] <= 375 for picture in inside)


def test_a_picture_that_goes_on_says_so_on_a_phone(opened):
    page, _ = opened
    captions = page.locator("figure.wide figcaption").all()
    said = "e => getComputedStyle(e, '::before').content"
    assert captions
    for width in (1280, 375):
        page.set_viewport_size({"width": width, "height": 800})
        assert all(("sideways" in each.evaluate(said)) == (width == 375) for each in captions)


def test_the_table_of_methods_is_not_cut_off_on_a_screen(opened):
    page, _ = opened
    page.set_viewport_size({"width": 1280, "height": 900})
    open_all(page)
    shown = page.locator("section", has_text="Methods compared").locator(".table").first
    assert shown.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def test_no_heading_is_printed_with_nothing_below_it(opened):
    page, _ = opened
    page.emulate_media(media="print")
    for section in page.locator("section:visible").all():
        assert section.locator("svg:visible, table:visible, p:visible").count() > 0
    settings = page.locator("section", has=page.locator("summary", has_text="Settings"))
    assert not settings.is_visible()
    open_all(page)
    assert settings.is_visible()
    page.emulate_media(media="screen")


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


def test_headings_of_tables_are_low_on_a_phone(opened):
    """Tables scroll sideways there: narrow columns would make headings of many lines."""
    page, _ = opened
    page.set_viewport_size({"width": 375, "height": 800})
    open_all(page)
    heights = [row.bounding_box()["height"] for row in page.locator("thead tr").all()]
    assert len(heights) > 2
    assert max(heights) < 90.0


def test_tables_are_folded_and_sorted_by_a_click(opened):
    page, seen = opened
    folded = page.locator("details table.sortable")
    assert folded.count() >= 4
    assert not any(table.is_visible() for table in folded.all())
    page.locator("summary", has_text="cases").click()
    table = page.locator("details[open] table")
    assert table.is_visible()
    head = table.locator("th").first
    for order, best in (("ascending", "1"), ("descending", "60")):
        head.click()
        assert head.get_attribute("aria-sort") == order
        assert table.locator("tbody tr").first.locator("td").first.inner_text() == best
    page.keyboard.press("Enter")  # the heading has the focus
    assert head.get_attribute("aria-sort") == "ascending"
    numbers = [int(cell) for cell in table.locator("tbody tr td:first-child").all_inner_texts()]
    assert numbers == list(range(1, 61))
    assert seen["messages"] == []


def test_pictures_have_letters_of_one_size(opened):
    """All pictures get the same width: one that was drawn wider has smaller letters."""
    page, _ = opened
    drawn = "e => parseFloat(e.getAttribute('viewBox').split(' ')[2])"
    narrow = page.locator("figure:not(.wide) svg").all()
    widths = [picture.evaluate(drawn) for picture in narrow]
    assert max(widths) < 1.3 * min(widths)


def brightness(page, selector, what):
    """Return how bright a colour of an element is, from 0 to 255."""
    color = page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{what}")
    return sum(float(part) for part in re.findall(r"[0-9.]+", color)[:3]) / 3.0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_dark_where_the_screen_is(opened, scheme):
    page, _ = opened
    page.emulate_media(color_scheme=scheme)
    ground = brightness(page, "body", "backgroundColor")
    letters = [
        brightness(page, "body", "color"),
        brightness(page, "figure svg text", "fill"),
        brightness(page, "figcaption", "color"),
    ]
    assert (ground < 60) == (scheme == "dark")
    assert all(abs(letter - ground) > 110 for letter in letters)
    strongest = page.locator("figure svg path[style*='var(--dark']").first
    drawn = strongest.evaluate("e => getComputedStyle(e).fill + getComputedStyle(e).stroke")
    assert ("143, 193, 243" in drawn) == (scheme == "dark")


def test_it_prints_on_white_paper(opened):
    page, _ = opened
    page.emulate_media(media="print", color_scheme="dark")
    assert brightness(page, "body", "backgroundColor") > 250
    assert page.evaluate("document.documentElement.scrollWidth") <= 1100
    # The first screen is on the first page, and what is folded is not printed.
    columns = page.evaluate(
        "() => getComputedStyle(document.querySelector('.verdict + .row')).gridTemplateColumns"
    )
    assert len(columns.split()) == 3
    assert all(not each.is_visible() for each in page.locator("details summary").all())
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000


def test_the_test_would_notice(browser, tmp_path):
    """A twin that asks for an image elsewhere and complains."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/x.png"
    twin = tmp_path / "twin.html"
    twin.write_text(f"<img src={json.dumps(address)}><script>console.error('oh')</script>")
    page = browser.new_page()
    requests, messages = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.goto(twin.as_uri())
    page.close()
    server.shutdown()
    server.server_close()
    assert address in requests
    assert any("oh" in message for message in messages)
