"""The documentation as a site, which `make docs` builds: its structure, reference and gallery."""

import ast
import pkgutil
import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import unselected

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
# Modules for users that have no `__all__`; samplers may not be installed, so they are parsed.
WITHOUT_ALL = ("datasets", "fitted.decisions", "numpyro", "pymc")
MOST_LINES = 200


def toctree_of(page):
    """Return the pages that a page lists in its toctrees, as paths from docs/ without an ending."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), flags=re.S | re.M)
    entries = [line for block in blocks for line in block.splitlines()]
    targets = [re.sub(r".*<(.*)>", r"\1", e) for e in entries if e and not e.startswith(":")]
    return [(page.parent / t).resolve().relative_to(DOCS.resolve()).as_posix() for t in targets]


def test_every_page_has_one_place_in_the_site():
    listed = [entry for page in PAGES for entry in toctree_of(page)]
    written = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]
    assert sorted([*written, "gallery/index"]) == sorted([*listed, "index"])


def public_names():
    """Return the names for users, with their modules: those in an `__all__`, and of a few more."""
    found = set()
    for module in pkgutil.iter_modules(unselected.__path__, "unselected."):
        path = Path(unselected.__path__[0], module.name.removeprefix("unselected."))
        source = path / "__init__.py" if module.ispkg else path.with_suffix(".py")
        if "__all__" in source.read_text():
            found |= {f"{module.name}.{name}" for name in import_module(module.name).__all__}
    for name in WITHOUT_ALL:
        source = Path(unselected.__path__[0], *name.split(".")).with_suffix(".py")
        for node in ast.parse(source.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found.add(f"unselected.{name}.{node.name}")
    return found | {f"unselected.{name}" for name in unselected.__all__ if name[0] != "_"}


def documented_names(text):
    """Return the names that the lists of a page of the reference have."""
    found = set()
    for block in re.findall(r"\.\. currentmodule:: (.*?)```", text, flags=re.S):
        module, *lines = block.splitlines()
        found |= {f"{module}.{x.strip()}" for x in lines if re.fullmatch(r" {3}[\w.]+", x)}
    return found


def test_every_public_name_is_in_the_reference():
    reference = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    documented = documented_names(reference)
    assert sorted(public_names() - documented) == []
    assert "unselected.plots.EffectsDisplay" in public_names()
    assert documented_names(reference.replace("   EffectsDisplay\n", "")) < documented


def prose_lines(text):
    """Return the lines of prose: not those of code, of tables, and empty ones."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return [x for x in text.splitlines() if x.strip() and x[0] != "|" and x[:4] != "    "]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_pages_are_short(page):
    assert len(prose_lines(page.read_text())) <= MOST_LINES


def calls_in(text):
    """Return the constructors that a page shows in code, as one line to copy."""
    return re.findall(r"`(Selective\w+\([^`]*?\))(?:\.\w+\([^`]*\))*`", text)


@pytest.mark.parametrize("name", ["which.md", "coming_from.md"])
def test_lines_to_copy_are_right(name):
    calls = calls_in((DOCS / name).read_text())
    assert len(calls) > 5
    for call in calls:
        assert eval(call, vars(unselected) | {n: getattr(unselected, n) for n in dir(unselected)})
    with pytest.raises(TypeError):
        eval(
            "SelectiveClassifier(groups=1)", {"SelectiveClassifier": unselected.SelectiveClassifier}
        )


def test_docstrings_name_pages_that_are_there():
    sources = (ROOT / "src").rglob("*.py")
    named = {name for path in sources for name in re.findall(r"docs/[\w/]+\.md", path.read_text())}
    assert len(named) > 2
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_links_to_other_places_are_well_formed():
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for link in re.findall(r"\]\((\w+://[^)]*)\)", page.read_text()):
            assert re.fullmatch(r"https?://[\w.-]+\.\w+(/[\w./~%#=?&-]*)?", link), link


def test_the_gallery_has_titles_and_pictures():
    examples = sorted((ROOT / "examples").glob("plot_*.py"))
    assert len(examples) >= 12
    for example in examples:
        title, underline, *_ = ast.get_docstring(ast.parse(example.read_text())).splitlines()
        assert underline == "=" * len(title), example.name
        assert re.search(r"plt\.(subplots|figure)\(", example.read_text()), example.name


@pytest.mark.parametrize(
    ("page", "example"),
    [("guide/audit.md", "plot_16_audit"), ("guide/calculator.md", "plot_17_calculator")],
)
def test_pages_name_their_examples(page, example):
    assert (ROOT / "examples" / f"{example}.py").is_file()
    assert f"gallery/{example}`" in (DOCS / page).read_text()


def test_docstrings_become_markup():
    spec = spec_from_file_location("docstrings", DOCS / "extensions" / "docstrings.py")
    docstrings = module_from_spec(spec)
    spec.loader.exec_module(docstrings)
    written = [
        "see docs/guide/scores.md",
        "a_ : array of shape (n_in_,), of |COR|",
        ">>> x",
        "|COR|",
    ]
    assert list(docstrings.marked_up(written)) == [
        "see :doc:`/guide/scores`",
        r"a_ : array of shape (n_in\_,), of \|COR\|",
        ">>> x",
        "|COR|",
    ]
