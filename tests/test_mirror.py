"""tests/ mirrors src/: a folder of tests is a room of the library, or about the whole of it."""

from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "unselected"

# About the package as a whole, not about one room.
WHOLE = {
    "frozen",
    "samplers",
    "site",
    "test_docs",
    "test_layers",
    "test_mirror",
    "test_package",
    "test_scale_docs",
    "test_site",
}


def faults_of(tests):
    """Yield folders of tests that are no room, and modules at the top that are about one room."""
    for path in sorted(tests.iterdir()):
        if path.stem in WHOLE:
            continue
        if path.is_dir() and any(path.rglob("test_*.py")) and not (SOURCE / path.name).is_dir():
            yield f"{path.name}/ is no room"
        if path.match("test_*.py"):
            module = path.stem.removeprefix("test_")
            if not (SOURCE / f"{module}.py").is_file():
                yield f"{path.name} is about no module at the top"


def test_every_folder_of_tests_is_a_room():
    assert list(faults_of(TESTS)) == []


def test_every_room_has_tests():
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert [room for room in sorted(rooms) if not any((TESTS / room).glob("test_*.py"))] == []


def test_the_test_would_notice(tmp_path):
    for name in ("shelves/test_books.py", "test_sifting.py", "test_datasets.py", "files/test_x.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert list(faults_of(tmp_path)) == [
        "shelves/ is no room",
        "test_sifting.py is about no module at the top",
    ]
