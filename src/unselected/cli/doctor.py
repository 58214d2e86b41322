"""`unselected doctor`."""

import os
import platform
import sys
from importlib import import_module
from typing import Any

from threadpoolctl import threadpool_info

from unselected import __version__
from unselected.cli.environment import Library, libraries
from unselected.cli.options import Speech, columns_of, note

# Variables that say how many threads a product of matrices may use.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def doctor(*, speech: Speech) -> None:
    """Do what `unselected.cli.first_commands.doctor` says."""
    groups = libraries()
    always = groups.pop("", [])
    # Loaded here, so that the environment is shown also where a library cannot be loaded.
    note("checking ...")
    try:
        checks = import_module("unselected.experiments.self_check").self_check()
        problems = [f"the check of {check.what} fails" for check in checks if not check.passed]
    except ImportError as error:
        checks, problems = [], [f"a library cannot be loaded: {error}"]
    problems += [f"{library}" for library in always if not library.is_usable]
    content: dict[str, Any] = {
        "unselected": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
        "libraries": {library.name: library.installed for library in always},
        "extras": {
            extra: {library.name: library.installed for library in group}
            for extra, group in groups.items()
        },
        "cores": _cores(),
        "threads": _threads(),
        "checks": [
            {"what": c.what, "found": c.found, "exact": c.exact, "passed": c.passed} for c in checks
        ],
        "problems": problems,
    }
    speech.answer("doctor", content, doctor_text(content, groups, checks))
    if problems:
        raise ValueError(
            f"{'; '.join(problems)}. Install again: pip install --upgrade --force-reinstall "
            "unselected"
        )


def _cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _threads() -> list[dict[str, Any]]:
    """Return the libraries that run threads of their own, once they are loaded."""
    return [
        {
            "library": pool["internal_api"],
            "version": pool["version"],
            "threads": pool["num_threads"],
        }
        for pool in threadpool_info()
    ]


def doctor_text(
    content: dict[str, Any], groups: dict[str, list[Library]], checks: list[Any]
) -> str:
    """Return the environment, the extras and the checks, for people."""
    pools = [
        f"{pool['library']} {pool['version'] or ''} with {pool['threads']}".replace("  ", " ")
        for pool in content["threads"]
    ]
    limits = [f"{name}={os.environ[name]}" for name in _THREADS if name in os.environ]
    lines = [
        f"unselected {content['unselected']}, Python {content['python']}, {content['platform']}",
        ", ".join(f"{name} {found}" for name, found in content["libraries"].items()),
        f"threads: {content['cores']} cores; {', '.join([*pools, *limits]) or 'no thread pools'}",
        "",
        *_extras_text(groups),
        "",
        columns_of(
            [
                (check.what, f"{check.difference:.0e}", "ok" if check.passed else "WRONG")
                for check in checks
            ],
            ("check", "off by", ""),
        ),
        "",
        "; ".join(content["problems"]) or "All is well.",
    ]
    return "\n".join(lines)


def _extras_text(groups: dict[str, list[Library]]) -> list[str]:
    """Return a line for each extra: what is there, or what to install."""
    width = max(map(len, groups), default=0)
    lines = []
    for extra, group in sorted(groups.items()):
        missing = [str(library) for library in group if not library.is_usable]
        found = ", ".join(missing or map(str, group))
        remedy = f': pip install "unselected[{extra}]"' if missing else ""
        lines.append(f"{extra.ljust(width)}  {'no ' if missing else 'yes'}  {found}{remedy}")
    return ["extras", *(f"  {line}" for line in lines)]
