"""The commands of the first hour: their options, defaults and help, as in `commands`."""

from dataclasses import field
from typing import Literal

from unselected.cli.loading import done_in
from unselected.cli.options import Flag, Input, Speech, options
from unselected.cli.whole_numbers import Seed

Shell = Literal["bash", "zsh", "fish"]
CitedWork = Literal["both", "paper", "software"]


@options
class DemoOptions:
    """Options of `demo`.

    Parameters
    ----------
    folder
        Folder for the simulated tables, the model, the report and the calculator.
    paper
        Show the simulation of the paper instead, which writes no files.
    seed
        Seed of the simulated data; by default 0, and 2007 with --paper.
    force
        Overwrite the files of an earlier demo.
    """

    folder: Input = "unselected-demo"
    paper: Flag = False
    seed: Seed | None = None
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.demo")
def study_demo(*, options: DemoOptions) -> None:
    """Simulate a clinical study, fit, predict, compare with what is usual, write a report."""


@done_in("unselected.cli.paper")
def paper_demo(*, options: DemoOptions) -> None:
    """Show the simulation of the paper, with and without correction."""


def demo(*, options: DemoOptions = DemoOptions()) -> None:  # noqa: B008 - frozen
    """Show the main job in half a minute: simulated patients, a model, predictions, a report."""
    if options.paper:
        paper_demo(options=options)
    else:
        study_demo(options=options)


@done_in("unselected.cli.doctor")
def doctor(*, speech: Speech = Speech()) -> None:  # noqa: B008 - frozen
    """Show the environment, and check in seconds that results are right."""


@done_in("unselected.cli.citing")
def cite(work: CitedWork = "both", /, *, speech: Speech = Speech()) -> None:  # noqa: B008 - frozen
    """Print BibTeX entries of the paper and of the software.

    Parameters
    ----------
    work
        What to cite: the paper whose method this is, the software, or both.
    """


@done_in("unselected.cli.completing")
def completion(shell: Shell, /, *, speech: Speech = Speech()) -> None:  # noqa: B008 - frozen
    """Print a script that completes commands, options and files when you press the tab key.

    Parameters
    ----------
    shell
        bash: add the line  eval "$(unselected completion bash)"  to ~/.bashrc. zsh: write the
        script to a file named _unselected in a folder of $fpath. fish: add the line  unselected
        completion fish | source  to ~/.config/fish/config.fish.
    """
