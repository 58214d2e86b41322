"""Packages are rooms: imports between them run downwards only, through modules that are public."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "unselected"

# From the ground up. Rooms on one floor are siblings, and do not import each other.
FLOORS = [
    ["_typing", "_warnings"],
    ["numerics"],
    ["columns"],
    ["statistics"],
    ["selection"],
    ["condition", "omission"],
    ["models"],
    ["dependence"],
    ["fitted"],
    ["estimators"],
    ["calibration", "datasets", "files", "numpyro", "pymc"],
    ["audit", "calculator", "experiments"],
    ["plots"],
    ["report"],
    ["cli"],
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


def room_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports_of(path):
    """Yield each import of a file, and whether it is run at once or hides inside a function."""
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    hidden = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in hidden) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, id(node) not in hidden


def faults_of(path):
    """Yield what is wrong with the imports of a file."""
    room = room_of(path)
    for imported, at_top in imports_of(path):
        top, _, rest = imported.partition(".")
        other, _, module = rest.partition(".")
        if not at_top:
            yield f"hides the import of {imported}"
        if top == "sklearn" and (FLOOR_OF[room] < FLOOR_OF["estimators"] or "._" in imported):
            yield f"imports {imported}"
        if top == "matplotlib" and FLOOR_OF[room] < FLOOR_OF["plots"]:
            yield f"imports {imported}"
        if top == "unselected" and other not in ("", room):
            if FLOOR_OF[other] >= FLOOR_OF[room]:
                yield f"imports {imported}, which is not below it"
            elif module and module not in public_modules(other):
                yield f"imports {imported}, which {other}/__init__.py does not name"


def public_modules(room):
    """Return the modules that the first lines of a room name as its border."""
    docstring = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text()))
    return set(
        re.findall(r"^`?(\w+)`? +\S", docstring.partition("Public modules")[2], re.MULTILINE)
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_run_downwards(path):
    assert list(faults_of(path)) == []


def test_every_room_has_its_floor_and_no_module_is_named_in_vain():
    rooms = {room_of(path) for path in FILES}
    assert rooms == set(FLOOR_OF)
    for room in {path.parent.name for path in SOURCE.glob("*/__init__.py")}:
        known = {path.stem for path in (SOURCE / room).glob("*.py")}
        assert public_modules(room) <= known, room


def test_the_test_would_notice(tmp_path, monkeypatch):
    """Twins: upwards, sideways, hidden, private, scikit-learn below the estimators."""
    monkeypatch.setitem(globals(), "room_of", lambda _: "files")
    path = tmp_path / "twin.py"
    for wrong in (
        "import unselected.cli.main",
        "from unselected.calibration.line import fit_line",
        "def f():\n    import json",
        "from unselected.numerics.compiled import count_rows",
        "from sklearn.utils._array_api import device",
        "import matplotlib",
    ):
        path.write_text(f"{wrong}\n")
        assert len(list(faults_of(path))) == 1, wrong
