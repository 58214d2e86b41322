"""What the pages say can be checked by machine: examples, names of modules, widths of lines."""

import doctest
import re
import warnings
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "unselected"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS]
# Their examples need samplers, and run in tests/samplers.
OF_SAMPLERS = {"numpyro.md", "pymc.md"}
RUN_HERE = [page for page in DOCS if page.name not in OF_SAMPLERS]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def modules_in(text):
    """Return the dotted names that a text gives as modules, of which the last may be an object."""
    return set(re.findall(r"\bunselected(?:\.[a-z_]+)+", text))


def is_module(name):
    """Whether there is such a module, or a module above that has such an attribute."""
    try:
        if find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        return False
    above, _, attribute = name.rpartition(".")
    return hasattr(__import__(above, fromlist=[attribute]), attribute)


def long_lines(text):
    """Return the lines of prose and code over 100 characters; a row of a table cannot wrap."""
    return [line for line in text.splitlines() if len(line) > 100 and line[:1] != "|"]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("all_divisions")
def test_examples_give_what_they_show(page):
    failed, _ = doctest.testfile(str(page), module_relative=False)
    assert failed == 0


@each_page
def test_named_modules_exist(page):
    if page.name != "CHANGELOG.md":  # which says what names there were
        assert [name for name in modules_in(page.read_text()) if not is_module(name)] == []


@each_page
def test_lines_wrap(page):
    assert long_lines(page.read_text()) == []


def missing_paths(text):
    """Return the files of the library that a text names and that are not there."""
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    named = set(re.findall(r"`(\w+/\w+\.py)`", text))
    return sorted(p for p in named if p.split("/")[0] in rooms and not (SOURCE / p).is_file())


def test_the_map_names_files_that_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert missing_paths(text) == []
    assert missing_paths("`models/oracle.py` and `models/gaussian.py`") == ["models/oracle.py"]


def broken_links(page):
    """Return the files that a page links to and that are not there."""
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    return [t for t in targets if "://" not in t and not (page.parent / t).exists()]


@each_page
def test_links_lead_somewhere(page):
    assert broken_links(page) == []


def test_pages_of_evidence_are_short_and_listed():
    folder = ROOT / "docs" / "evidence"
    index = (folder / "README.md").read_text()
    for page in folder.glob("*.md"):
        assert len(page.read_text().splitlines()) < 200
        assert page.name == "README.md" or f"]({page.name})" in index


@pytest.mark.slow
def test_the_example_of_an_earlier_selection_says_what_the_page_says(monkeypatch, capsys):
    path = ROOT / "examples" / "preselected.py"
    spec = spec_from_file_location("preselected", path)
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    sizes = {"N_BEFORE": 4000, "N_KEPT": 60, "N_CASES": 60, "N_NEW": 300}
    for name, size in sizes.items():
        monkeypatch.setattr(example, name, size)
    with warnings.catch_warnings():  # the example ignores some
        example.main([])
    told = re.findall(r"(cross-validation|new cases) .* coverage (\S+),", capsys.readouterr().out)
    coverage = [float(value) for _, value in told]
    assert [where for where, _ in told] == ["cross-validation", "new cases"] * 4
    left_out, new = coverage[::2], coverage[1::2]
    assert min(left_out) > 0.8  # cross-validation sees nothing wrong
    assert new[0] < 0.6  # noise
    assert new[2] < 0.8
    assert min(new[1], new[3]) > 0.8


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


def test_the_tests_would_notice():
    assert len(long_lines("x" * 101 + "\n|" + "x" * 101)) == 1
    named = modules_in("`unselected.deciding` is `unselected.fitted.decisions` now")
    assert sorted(name for name in named if not is_module(name)) == ["unselected.deciding"]
