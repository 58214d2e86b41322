"""Stories of commands that are frozen: what each prints, and the model files that are written."""

import contextlib
import csv
import io
import json
import re
import warnings
from dataclasses import dataclass

import numpy as np
from frozen.configurations import N_NEW, bits, column_names, counts, kept_reals, numbers, reals
from frozen.recording import plain
from scipy import sparse

from unselected.cli import main

# What differs from run to run, or with the version: the key stays, the value goes.
PASSING = {"created": "a time", "seconds": "a time", "unselected": "a version"}


@dataclass(frozen=True)
class Story:
    """Commands that are run one after the other in one folder, with tables written before.

    ``bits_vary`` where sums are so long that their last bits depend on the number of threads.
    """

    name: str
    tables: object
    commands: tuple[str, ...]
    bits_vary: bool = False


def record_story(story, folder):
    """Return what each command answered, and the model files that are there in the end."""
    story.tables(folder)
    answers = {command: answer(command.split(), folder) for command in story.commands}
    models = {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    return plain(without_passing({"answers": answers, "model files": models}))


# A bar, or the line that says how long something took.
SECONDS = re.compile(r"\r|: [0-9]+ s$")


def answer(arguments, folder):
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        warnings.catch_warnings(action="default"),  # told to users, where tests have errors
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(arguments)
    try:
        said = json.loads(out.getvalue())
    except ValueError:
        said = out.getvalue().splitlines()
    # How long something has been going on depends on the machine.
    notes = [line for line in err.getvalue().split("\n") if line and not SECONDS.search(line)]
    return {"code": code, "stdout": said, "stderr": notes}


def without_passing(content):
    if isinstance(content, dict):
        return {key: PASSING.get(key) or without_passing(one) for key, one in content.items()}
    if isinstance(content, list):
        return [without_passing(one) for one in content]
    return (
        re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "a time", content)
        if isinstance(content, str)
        else content
    )


def write_table(path, header, rows):
    """Write a CSV table; numbers so that reading returns the very same ones, NaN as nothing."""
    with open(path, "w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(header)
        for row in rows:
            lines.writerow(["" if value != value else value for value in row])


def write_pair(folder, X, y):
    """Write the training cases, with the response last, and the new ones, with ids."""
    names, rows, responses = column_names(X.shape[1]), X.tolist(), y.tolist()
    names = [name.replace(" ", "_") for name in names]
    train = [[*row, response] for row, response in zip(rows, responses, strict=True)]
    write_table(folder / "train.csv", [*names, "response"], train[:-N_NEW])
    new = [[f"case {j}", *row] for j, row in enumerate(rows[-N_NEW:])]
    write_table(folder / "new.csv", ["patient", *names], new)


def bit_tables(folder):
    write_pair(folder, *bits(11, 32, 60))


def shared_bit_tables(folder):
    write_pair(folder, *bits(12, 24, 40, shared=True, labels=("normal", "tumour")))


def tied_bit_tables(folder):
    write_pair(folder, *bits(13, 24, 52, copies=True))


def class_tables(folder):
    write_pair(folder, *reals(14, 24, 40, missing=0.03, labels=("normal", "tumour")))


def three_class_tables(folder):
    write_pair(folder, *reals(15, 27, 40, 3, shared=True, labels=("high", "low", "none")))


def kept_class_tables(folder):
    write_pair(folder, *kept_reals(16, 32, 60, 5))


def number_tables(folder):
    write_pair(folder, *numbers(17, 16, 30, missing=0.03))


def turned_tables(folder):
    """Write tables with a row for each feature and a column for each case."""
    X, y = numbers(18, 24, 40)
    cases = [f"case{j}" for j in range(len(X))]
    rows = [[f"g{j}", *column] for j, column in enumerate(X.T.tolist())]
    response = [["response", *y[:-N_NEW].tolist()]]
    train = response + [row[:-N_NEW] for row in rows]
    write_table(folder / "train.csv", ["feature", *cases[:-N_NEW]], train)
    new = [[row[0], *row[-N_NEW:]] for row in rows]
    write_table(folder / "new.csv", ["feature", *cases[-N_NEW:]], new)


def array_files(folder):
    """Write columns without names, and the response in a table of its own."""
    X, y = bits(19, 32, 60)
    np.save(folder / "train.npy", X[:-N_NEW])
    np.save(folder / "new.npy", X[-N_NEW:])
    write_table(folder / "status.csv", ["status"], [[label] for label in y[:-N_NEW].tolist()])


def sparse_files(folder):
    """Write sparse matrices whose last column is the response, named as that."""
    X, y = counts(20, 32, 60, 3)
    names = [f"gene{j}" for j in range(60)]
    train = sparse.csc_array(np.column_stack([X, y])[:-N_NEW])
    for name, matrix, columns in (
        ("train.npz", train, [*names, "response"]),
        ("new.npz", sparse.csc_array(X[-N_NEW:]), names),
    ):
        sparse.save_npz(folder / name, matrix)
        with np.load(folder / name) as saved:
            arrays = dict(saved)
        np.savez(folder / name, **arrays, feature_names=np.array(columns))


def nothing(_):
    """Write no tables."""


FIT = "fit train.csv --target response --json"
NEW = "new.csv --id patient --json"
CV = "cv train.csv --target response --k 3 --json --method corrected --method uncorrected"

STORIES = [
    Story(
        "commands-bernoulli",
        bit_tables,
        (
            f"{FIT} --model bernoulli --k 5 -o model.json",
            "inspect model.json --json",
            "inspect model.json --effects --level 0.8 --json",
            f"predict model.json {NEW}",
            f"predict model.json {NEW} --prevalence 0.1 --interval 0.8 --indeterminate-below 0.7",
            "predict model.json new.csv --id patient",
            "predict model.json new.csv",
        ),
    ),
    Story(
        "commands-bernoulli-rules",
        tied_bit_tables,
        (
            f"{FIT} --model bernoulli --k loo -o loo.json",
            f"{FIT} --model bernoulli --threshold 0.4 --prior sparse -o threshold.json",
            f"{FIT} --model bernoulli --k 3 --ties random --seed 4 --always-keep g_50 "
            "--uncorrected -o random.json",
            f"predict loo.json {NEW}",
            f"predict threshold.json {NEW}",
            f"predict random.json {NEW}",
            "inspect threshold.json",
        ),
    ),
    Story(
        "commands-bernoulli-dependence",
        shared_bit_tables,
        (
            f"{FIT} --model bernoulli --k 3 --dependence tempered -o tempered.json",
            f"{FIT} --model bernoulli --k 3 --dependence correlated -o correlated.json",
            "inspect tempered.json --json",
            "inspect correlated.json",
            f"predict tempered.json {NEW} --prevalence normal=0.7 tumour=0.3",
            f"predict correlated.json {NEW} --interval 0.9",
        ),
    ),
    Story(
        "commands-gaussian",
        class_tables,
        (
            f"{FIT} --model gaussian --k 5 --variance-shrinkage 3 -o model.json",
            f"{FIT} --model gaussian --k 4 --dependence tempered -o tempered.json",
            f"{FIT} --model gaussian --k 3 --prior sparse -o sparse.json",
            "inspect model.json --effects --json",
            "inspect tempered.json",
            "inspect sparse.json",
            f"predict model.json {NEW} --interval 0.9",
            f"predict tempered.json {NEW}",
        ),
    ),
    Story(
        "commands-gaussian-three-classes",
        three_class_tables,
        (
            f"{FIT} --model gaussian --k 2 --dependence correlated -o model.json",
            f"{FIT} --model gaussian --threshold 3.5 -o threshold.json",
            "inspect model.json --json",
            f"predict model.json {NEW} --interval 0.9",
            f"predict threshold.json {NEW} --prevalence high=0.2 low=0.5 none=0.3",
        ),
    ),
    Story(
        "commands-preselected",
        kept_class_tables,
        (
            f"{FIT} --preselected-from 60 --model gaussian -o model.json",
            f"predict model.json {NEW}",
            f"{FIT} --model regression -o all.json",
            f"predict all.json {NEW}",
        ),
    ),
    Story(
        "commands-regression",
        number_tables,
        (
            f"{FIT} --model regression --k 5 -o model.json",
            f"{FIT} --model regression --k 3 --prior sparse -o sparse.json",
            "inspect model.json --effects --json",
            "inspect sparse.json",
            f"predict model.json {NEW}",
            f"predict sparse.json {NEW} --quantiles 0.1 0.9",
        ),
    ),
    Story(
        "commands-features-in-rows",
        turned_tables,
        (
            f"{FIT} --model regression --k 4 --features-in-rows -o model.json",
            "predict model.json new.csv --features-in-rows --json",
        ),
    ),
    Story(
        "commands-arrays",
        array_files,
        (
            "fit train.npy --model bernoulli --target status.csv:status --k 4 --json -o model.json",
            "predict model.json new.npy --json",
            "inspect model.json --json",
        ),
    ),
    Story(
        "commands-sparse-matrix",
        sparse_files,
        (
            "fit train.npz --model gaussian --target response --k 4 --json -o model.json",
            "predict model.json new.npz --json",
        ),
    ),
    Story(
        "commands-cv",
        shared_bit_tables,
        (
            f"{CV} --model bernoulli --splits 4 --repeats 2",
            f"{CV} --model bernoulli --loo",
        ),
    ),
    Story(
        "commands-cv-gaussian",
        three_class_tables,
        (f"{CV} --model gaussian --splits 4 --repeats 2",),
    ),
    Story(
        "commands-cv-regression",
        number_tables,
        (f"{CV} --model regression --splits 4 --repeats 2",),
    ),
    Story(
        "commands-simulate",
        nothing,
        (
            "simulate --cases 6 --features 12 --seed 3",
            "simulate --cases 20 --features 30 --concentration 5 -o some.csv --json",
            "fit some.csv --model bernoulli --target class --k 3 --json -o model.json",
        ),
    ),
    Story(
        "commands-reproduce",
        nothing,
        ("reproduce simulation --replicates 1 --json",),
        bits_vary=True,
    ),
    Story(
        "commands-refused",
        class_tables,
        (
            f"{FIT} --model gaussian --k 999 -o never.json",
            f"{FIT} --model gaussian --k 3 --threshold 0.2 -o never.json",
            "fit train.csv --target respons --k 3 -o never.json",
            "predict train.csv new.csv",
            "predict nowhere.json new.csv",
            f"{FIT} --model gaussian --k 3 --always-keep nobody -o never.json",
        ),
    ),
]
