"""`unselected audit`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from unselected.audit import SelectionAudit, check_selection
from unselected.audit.usual import usual_pipeline
from unselected.audit.wording import SHELL
from unselected.cli.commands import AuditOptions
from unselected.cli.fitting import read_column
from unselected.cli.loading import done_in
from unselected.cli.options import Source, note, on_terminal, patience
from unselected.cli.sources import is_in_another_file
from unselected.estimators.choose import FOR_NUMBERS, choose_model
from unselected.estimators.classifier import SelectiveClassifier
from unselected.estimators.regressor import SelectiveRegressor
from unselected.files.table_request import Table
from unselected.files.tables import read_table
from unselected.files.writing import check_writable


def audit(data: str, /, *, source: Source, options: AuditOptions) -> None:
    """Do what `unselected.cli.commands.audit` says."""
    _check_options(data, source, options)
    table = _read(data, source, options.groups)
    y = np.asarray(table.y)
    X, before = np.asarray(table.X), None
    if options.before is not None:
        before = _read(options.before, source, options.groups)
        X = _columns_of(table, before)
    groups = _groups(data, source, options.groups, y.size)
    name, model = _model(options, X, y)
    note(f"model: {name}; {X.shape[0]} cases, {X.shape[1]} features, seed {options.seed}")
    with _showing_trials() as step:
        found = check_selection(
            model,
            X,
            y,
            cv=options.splits,
            n_permutations=options.permutations,
            groups=groups,
            X_before=None if before is None else np.asarray(before.X),
            alpha=options.alpha,
            n_jobs=options.jobs,
            progress=step,
            random_state=options.seed,
        )
    content = {"model": name, "seed": options.seed, **found.to_dict(SHELL)}
    text = found.summary(SHELL)
    if options.picture is not None:
        draw_audit(found, options.picture, options.force)
        text += f"\nwritten to {options.picture}"
    options.speech.answer("audit", content, text)


def _check_options(data: str, source: Source, options: AuditOptions) -> None:
    """Raise on what an audit cannot do, before the table is read."""
    if options.picture is not None:
        check_writable(options.picture, overwrite=options.force)
    if source.covariates:
        raise ValueError(
            "--covariates is not available for audit, which takes all columns as features: omit it."
        )
    if data == "-" and options.groups is not None and not is_in_another_file(options.groups):
        raise ValueError("--groups needs a table in a file, because it is read twice.")


@done_in("unselected.cli.drawing")
def draw_audit(found: SelectionAudit, path: str, overwrite: bool) -> None:
    """Write the picture of an audit to a file; matplotlib is loaded for that only."""


def _read(path: str, source: Source, groups: str | None) -> Table:
    """Read a table with its response, without the column of groups."""
    with patience(f"reading {path}"):
        table = read_table(
            path,
            target=source.target,
            id_column=source.id,
            features_in_rows=source.features_in_rows,
            left_out=None if groups is None or is_in_another_file(groups) else groups,
        )
    for remark in table.notes:
        note(f"note: {remark}")
    return table


def _columns_of(table: Table, before: Table) -> NDArray[Any]:
    """Return the columns of a table as they are in the one before the selection, found by name."""
    if not np.array_equal(np.asarray(table.y), np.asarray(before.y)):
        raise ValueError(
            f"{table.path} and {before.path} have different responses: both must have the same "
            "cases, in the same order."
        )
    place = {str(name): j for j, name in enumerate(before.names)}
    for name in table.names:
        if str(name) not in place:
            raise ValueError(
                f"{before.path} has no column {name}, which {table.path} has: give the table from "
                "which the columns were selected."
            )
    return np.asarray(before.X)[:, [place[str(name)] for name in table.names]]


def _groups(data: str, source: Source, groups: str | None, n_cases: int) -> NDArray[Any] | None:
    """Return the groups of the cases, from the table or from another one."""
    if groups is None:
        return None
    of_table = not is_in_another_file(groups)
    where = f"{data}:{groups}" if of_table else groups
    return read_column(where, "groups", data, n_cases, source.features_in_rows and of_table)


def _model(options: AuditOptions, X: NDArray[Any], y: NDArray[Any]) -> tuple[str, Any]:
    """Return the name of the model, and the model with its selection."""
    of_numbers = choose_model(X, y)[0] in FOR_NUMBERS
    name = options.model
    if name == "auto":
        name = "ridge" if of_numbers else "logistic"
    if name != "classifier" and name != "regressor":
        return name, usual_pipeline(name, of_numbers=of_numbers, k=options.k, seed=options.seed)
    if (name == "regressor") != of_numbers:
        other = "regressor" if of_numbers else "classifier"
        raise ValueError(f"--model {name} does not take this response: use --model {other}.")
    ours: Any = SelectiveRegressor if of_numbers else SelectiveClassifier
    return name, ours(k="auto" if options.k is None else options.k, random_state=options.seed)


@contextmanager
def _showing_trials(*, after: float = 2.0) -> Iterator[Any]:
    """Show the progress of the cross-validations, with the time left, on a terminal."""
    if not on_terminal():
        with patience("auditing", after=after):
            yield False
        return
    with tqdm(desc="auditing", unit=" cross-validations", delay=after) as bar:

        def step(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield step
