"""Build the wheel, and install, import and check it on every Python that can be had.

Run as `make wheels`. Interpreters are looked for on the path, among those of pyenv and, where uv is
installed, fetched by `uv python install`. Each gets an environment of its own in a temporary
folder, with the extras cli and plots, where `unselected doctor` has to find that all is well. Give
versions to try these only: `python validation/wheels.py 3.14`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = "cli,plots"


@dataclass(frozen=True)
class Outcome:
    """What happened on one version of Python."""

    version: str
    found: str
    result: str
    seconds: float


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command outside of the checkout, so that the wheel is what is imported."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tempfile.gettempdir(), env=clean
    )


def candidates(version: str) -> Iterator[str]:
    """Yield the interpreters that may be of this version."""
    if path := shutil.which(f"python{version}"):
        yield path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))
    if uv := shutil.which("uv"):
        run(uv, "python", "install", version)
        yield run(uv, "python", "find", version).stdout.strip()


def interpreter(version: str) -> str | None:
    """Return a working interpreter of this version, or None."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, candidates(version)):
        if run(path, "-c", asked).stdout.strip() == version:
            return path
    return None


def built(folder: Path) -> Path:
    """Build the wheel, and return where it is."""
    answer = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder), str(ROOT))
    if answer.returncode:
        raise SystemExit(f"the wheel cannot be built:\n{answer.stderr}")
    return next(folder.glob("unselected-*.whl"))


def tried(version: str, wheel: Path, folder: Path) -> Outcome:
    """Install the wheel on this version of Python, and let the doctor check it."""
    start = time.perf_counter()
    path = interpreter(version)
    if path is None:
        return Outcome(version, "-", "no interpreter", time.perf_counter() - start)
    place = folder / f"python{version}"
    steps = (
        (path, "-m", "venv", str(place)),
        (str(place / "bin" / "pip"), "install", "--quiet", f"{wheel}[{EXTRAS}]"),
        (str(place / "bin" / "unselected"), "doctor", "--json"),
    )
    for step in steps:
        answer = run(*step)
        if answer.returncode:
            last = (answer.stderr.strip() or "no message").splitlines()[-1]
            return Outcome(version, path, f"FAILED: {last}", time.perf_counter() - start)
    told = json.loads(answer.stdout)
    libraries = ", ".join(f"{name} {found}" for name, found in told["libraries"].items())
    result = f"all is well, Python {told['python']}, {libraries}"
    return Outcome(version, path, result, time.perf_counter() - start)


def main(versions: Sequence[str]) -> int:
    """Try these versions; return 1 where one that was found fails, or none was found."""
    with tempfile.TemporaryDirectory(prefix="unselected-wheels-") as name:
        folder = Path(name)
        wheel = built(folder)
        print(f"{wheel.name}, {wheel.stat().st_size / 1000:.0f} kB")
        outcomes = []
        for version in versions:
            outcome = tried(version, wheel, folder)
            print(f"{outcome.version}: {outcome.result} ({outcome.seconds:.0f} s)", flush=True)
            outcomes.append(outcome)
    fails = [outcome for outcome in outcomes if outcome.result.startswith("FAILED")]
    return 1 if fails or all(outcome.found == "-" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or VERSIONS))
