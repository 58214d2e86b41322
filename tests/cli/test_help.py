"""Help is there at once: it loads options only, and these agree with what they are options of."""

import ast
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


def answers(*commands):
    """Return what commands print, run in turn in a new process, and what of the heavy it loads."""
    code = f"""
import contextlib, io, sys
from unselected.cli import main
answers = []
for command in {commands}:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(command.split())
    answers.append((out.getvalue(), [name for name in {HEAVY} if name in sys.modules]))
print(answers)
"""
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return ast.literal_eval(answer.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_defaults_as_they_are_typed(command, capsys):
    main([*command.split(), "--help"])
    shown = capsys.readouterr().out
    assert "Usage: unselected" in shown
    assert "[default: (" not in shown


def test_help_loads_nothing_that_takes_long():
    found = answers(*(f"{command} --help" for command in COMMANDS))
    for command, (told, loaded) in zip(COMMANDS, found, strict=True):
        assert f"Usage: unselected {command}" in told
        assert loaded == [], command


def test_small_commands_load_nothing_that_takes_long():
    for told, loaded in answers("--version", "cite", "completion bash"):
        assert told
        assert loaded == []


def test_the_test_would_notice():
    """A twin: the paper's simulation needs numpy."""
    told = answers("cite", "simulate --cases 4 --features 2", "cite")
    assert ["numpy" in loaded for _, loaded in told] == [False, True, True]


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
