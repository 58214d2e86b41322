"""The `unselected` command: parses arguments, calls the library, prints; no arithmetic.

`commands` has the options and the help of each command. The code of a command is loaded when it is
called. Help therefore needs neither numpy nor scikit-learn, and `unselected predict` needs no
scikit-learn.
"""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from unselected.cli.environment import version_text
from unselected.cli.wording import in_shell_words

try:
    from cyclopts import App, CycloptsError
except ImportError as error:  # pragma: no cover - tested in a subprocess
    raise SystemExit('the command needs cyclopts: pip install "unselected[cli]"') from error

OK, BAD_DATA, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130

# Replaces a lone "-" while arguments are parsed, because the parser reads that as an option.
STANDARD_STREAM = "standard-stream:"

# What may follow a number of features as another one.
_NUMBER = re.compile(r"\d[\d.e+]*|auto|loo")

# What the parser says where an argument, or its value, was not given.
_MISSING = re.compile(r'Command "[^"]*" parameter (\S+) requires an argument\.(.*)')
_UNUSED = re.compile(r"Unused Tokens: \[(.*)\]\.")
# Options of several names, among which the name of a table would be lost.
_TAKING_ALL = ("--covariates", "--always-keep", "--quantiles", "--prevalence")

app = App(
    name="unselected",
    help="Predictive probabilities you can trust after keeping a few features out of many.",
    version=version_text,
    version_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for place, text in (
    ("commands:fit", "Select features and fit a model."),
    ("commands:predict", "Predict new cases."),
    ("commands:inspect", "Show the content of a model file."),
    ("commands:cv", "Compare methods by cross-validation."),
    ("commands:report", "Write one page on a data set."),
    ("commands:export", "Write a calculator of a model file."),
    ("commands:audit", "Say whether features were selected before."),
    ("paper_commands:reproduce", "Repeat the paper's experiments."),
    ("paper_commands:simulate", "Write data simulated as in the paper."),
    ("first_commands:demo", "Show the main job in half a minute."),
    ("first_commands:doctor", "Check the installation."),
    ("first_commands:completion", "Complete commands in the shell."),
    ("first_commands:cite", "Print what to cite."),
):
    app.command(f"unselected.cli.{place}", name=place.partition(":")[2], help=text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 is success, 1 bad data or a bad model, 2 bad usage, 130 an interruption.
    """
    given = sys.argv[1:] if argv is None else argv
    arguments = [STANDARD_STREAM if argument == "-" else argument for argument in given]
    arguments = one_by_one(arguments) if arguments[:1] == ["cv"] else arguments
    debug = "--debug" in arguments
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _Warnings().tell
            app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        command = " ".join(["unselected", *(error.command_chain or ())])
        hint = f"Try '{command} --help'."
        return _fail(error, BAD_USAGE, debug, _usage_text(str(error), arguments), hint=hint)
    except KeyboardInterrupt:
        print("unselected: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output, such as `head`, has finished; this is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except FileExistsError as error:
        return _fail(error, BAD_USAGE, debug, hint="Use --force to do so.")
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        return _fail(error, BAD_DATA, debug)
    return OK


def one_by_one(arguments: list[str]) -> list[str]:
    """Return ``--k 5 20`` as ``--k 5 --k 20``: the name of a table may follow the numbers.

    >>> one_by_one(["cv", "--k", "5", "20", "auto", "table.csv", "--splits", "3"])
    ['cv', '--k', '5', '--k', '20', '--k', 'auto', 'table.csv', '--splits', '3']
    """
    result: list[str] = []
    for argument in arguments:
        if result[-2:-1] == ["--k"] and _NUMBER.fullmatch(argument):
            result.append("--k")
        result.append(argument)
    return result


class _Warnings:
    """Prints each warning once, in one line, without its place in the code."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Print a warning, unless it was printed before: each fold may give the same one."""
        line = f"warning: {in_shell_words(' '.join(str(message).split()))}"
        if line not in self._told:
            self._told.add(line)
            print(line, file=sys.stderr)


def _usage_text(text: str, arguments: Sequence[str]) -> str:
    """Return an error of the parser; that an argument is missing is said in these words.

    >>> _usage_text('Command "fit" parameter --target requires an argument.', ["fit", "my.csv"])
    '--target is missing.'
    >>> _usage_text("Unused Tokens: ['x'].", ["doctor", "x"])
    "there is no place for 'x'."
    """
    text = " ".join(text.split())
    if unused := _UNUSED.fullmatch(text):
        return f"there is no place for {unused[1]}."
    told = _MISSING.match(text)
    if told is None:
        return text
    words = "needs a value" if told[1] in arguments else "is missing"
    greedy = [option for option in _TAKING_ALL if option in arguments]
    hint = f" Give it before {greedy[0]}, which takes all names that follow." if greedy else ""
    return f"{told[1]} {words}.{told[2]}" + ("" if told[1].startswith("-") else hint)


def _fail(error: BaseException, code: int, debug: bool, text: str = "", hint: str = "") -> int:
    if debug:
        traceback.print_exc()
    text = text or str(error)
    if isinstance(error, OSError) and error.filename is not None:  # leaves out the error number
        text = f"{error.filename}: {error.strerror}."
    message = in_shell_words(" ".join(text.split())) or type(error).__name__
    print(f"unselected: {message} {hint}".rstrip(), file=sys.stderr)
    return code


def run() -> None:
    """Run the installed script."""
    sys.exit(main())
