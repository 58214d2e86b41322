"""The page of commands against what they print: `make test-site`."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"
# Takes longer than all others together, and has tests of its own.
NOT_RUN_HERE = "unselected audit"


def commands_in(text):
    """Return the commands that a page shows, each with what it prints."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.S | re.M)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    return [part.partition("\n")[::2] for part in parts]


def printed(command, cwd):
    """Return what a command prints, but for how long it took."""
    script, *arguments = shlex.split(command)
    answer = subprocess.run(
        [Path(sys.executable).with_name(script), *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return re.sub(r"^[a-z -]+: \d+ s\n", "", answer.stdout, flags=re.M)


def test_commands_print_what_the_page_says(tmp_path):
    commands = commands_in((DOCS / "commands.md").read_text())
    assert {command.split()[1] for command, _ in commands} >= {"fit", "predict", "cv", "report"}
    same = doctest.OutputChecker().check_output
    for command, shown in commands:
        if command.startswith(NOT_RUN_HERE):
            continue
        got = printed(command, tmp_path)
        assert same(shown.rstrip() + "\n", got.rstrip() + "\n", doctest.ELLIPSIS), (command, got)
    assert not same("10 cases\n", "11 cases\n", doctest.ELLIPSIS)
