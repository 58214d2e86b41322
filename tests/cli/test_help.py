"""Help is there at once: it loads options only, and these agree with what they are options of."""

import inspect
import subprocess
import sys
from typing import get_args

import pytest

from unselected.audit.usual import UsualName
from unselected.cli import (
    auditing,
    citing,
    commands,
    comparing,
    completing,
    demo,
    doctor,
    exporting,
    first_commands,
    fitting,
    inspecting,
    main,
    options,
    paper,
    paper_commands,
    predicting,
    reporting,
)
from unselected.dependence.power import Dependence
from unselected.estimators.choose import ModelName
from unselected.estimators.exact import Prior
from unselected.experiments import ColonFeatures, ColonModel
from unselected.selection.record import Ties

COMMANDS = [
    *("fit", "predict", "inspect", "cv", "report", "export", "audit", "simulate"),
    *("reproduce colon", "demo", "doctor", "cite", "completion"),
]
HEAVY = ("numpy", "scipy", "scipy.stats", "sklearn", "joblib", "matplotlib", "tqdm")


def loaded_by(*arguments):
    """Return which of the heavy libraries a new process has loaded after a command."""
    code = (
        f"import sys; from unselected.cli import main; main({list(arguments)});"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return answer


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_defaults_as_they_are_typed(command, capsys):
    main([*command.split(), "--help"])
    shown = capsys.readouterr().out
    assert "Usage: unselected" in shown
    assert "[default: (" not in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_loads_nothing_that_takes_long(command):
    answer = loaded_by(*command.split(), "--help")
    assert f"Usage: unselected {command}" in answer.stdout
    assert answer.stderr == "[]\n"


@pytest.mark.parametrize("arguments", [["--version"], ["cite"], ["completion", "bash"]])
def test_small_commands_load_nothing_that_takes_long(arguments):
    answer = loaded_by(*arguments)
    assert answer.stdout
    assert answer.stderr == "[]\n"


def test_the_test_would_notice():
    """A twin: the paper's simulation needs numpy."""
    answer = loaded_by("simulate", "--cases", "4", "--features", "2")
    assert "'numpy'" in answer.stderr


@pytest.mark.parametrize(
    ("described", "done"),
    [
        (commands.fit, fitting.fit),
        (commands.predict, predicting.predict),
        (commands.inspect, inspecting.inspect),
        (commands.cv, comparing.cv),
        (commands.report, reporting.report),
        (commands.export, exporting.export),
        (commands.audit, auditing.audit),
        (paper_commands.reproduce_simulation, paper.reproduce_simulation),
        (paper_commands.reproduce_colon, paper.reproduce_colon),
        (paper_commands.simulate, paper.simulate),
        (first_commands.paper_demo, paper.paper_demo),
        (first_commands.study_demo, demo.study_demo),
        (first_commands.doctor, doctor.doctor),
        (first_commands.cite, citing.cite),
        (first_commands.completion, completing.completion),
    ],
    ids=lambda function: function.__name__,
)
def test_what_is_described_is_what_is_done(described, done):
    ours, theirs = (inspect.signature(function).parameters for function in (described, done))
    assert [(p.name, p.kind) for p in ours.values()] == [(p.name, p.kind) for p in theirs.values()]
    assert all(parameter.default is inspect.Parameter.empty for parameter in theirs.values())


def test_choices_are_those_of_the_library():
    assert get_args(options.ModelOption) == (
        "auto",
        *options.FRONT_DOORS,
        *get_args(ModelName),
    )
    for option, parameter in (
        (options.TiesOption, Ties),
        (options.PaperPriorOption, Prior),
        (options.PaperDependenceOption, Dependence),
        (paper_commands.ColonFeatures, ColonFeatures),
        (paper_commands.ColonModel, ColonModel),
    ):
        assert get_args(option) == get_args(parameter)
    assert get_args(options.AuditModelOption) == (
        "auto",
        *get_args(UsualName),
        *options.FRONT_DOORS,
    )
    assert get_args(options.PriorOption) == ("auto", *get_args(Prior))
    assert get_args(options.DependenceOption) == ("auto", *get_args(Dependence))
