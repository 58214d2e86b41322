"""The `unselected` command: arguments in, calls, printing; no arithmetic.

Commands are loaded when they are called, so that `unselected predict` starts without scikit-learn.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from unselected import __version__

try:
    from cyclopts import App, CycloptsError
except ImportError as error:  # pragma: no cover - tested in a subprocess
    raise SystemExit('the command needs cyclopts: pip install "unselected[cli]"') from error

OK, BAD_DATA, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130

# What stands for a lone "-" while arguments are parsed, for the parser takes that for an option.
STANDARD_STREAM = "standard-stream:"

app = App(
    name="unselected",
    help="Predictive probabilities you can trust after keeping a few features out of many.",
    version=f"unselected {__version__}",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
app.command("unselected.cli.fitting:fit", name="fit", help="Select features and fit a model.")
app.command("unselected.cli.predicting:predict", name="predict", help="Predict new cases.")
app.command("unselected.cli.predicting:inspect", name="inspect", help="Show what a model holds.")
app.command("unselected.cli.comparing:cv", name="cv", help="Compare methods by cross-validation.")
app.command("unselected.cli.reporting:report", name="report", help="Write one page on a data set.")
app.command(
    "unselected.cli.paper:reproduce", name="reproduce", help="Repeat the paper's experiments."
)
app.command(
    "unselected.cli.paper:simulate", name="simulate", help="Write data simulated as in the paper."
)
app.command("unselected.cli.paper:demo", name="demo", help="Show the effect in a few seconds.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 is success, 1 bad data or a bad model, 2 bad usage, 130 an interruption.
    """
    given = sys.argv[1:] if argv is None else argv
    arguments = [STANDARD_STREAM if argument == "-" else argument for argument in given]
    debug = "--debug" in arguments
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _tell
            app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return _fail(error, BAD_USAGE, debug, hint="Try 'unselected --help'.")
    except KeyboardInterrupt:
        print("unselected: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output, say `head`, has gone: nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except FileExistsError as error:
        return _fail(error, BAD_USAGE, debug, hint="Use --force to overwrite it.")
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        return _fail(error, BAD_DATA, debug)
    return OK


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning in one line, without where in the code it arose."""
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)


def _fail(error: BaseException, code: int, debug: bool, hint: str = "") -> int:
    if debug:
        traceback.print_exc()
    message = " ".join(str(error).split()) or type(error).__name__
    print(f"unselected: {message} {hint}".rstrip(), file=sys.stderr)
    return code


def run() -> None:
    """Be the installed script."""
    sys.exit(main())
