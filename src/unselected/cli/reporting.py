"""`unselected report`."""

from typing import Annotated, Any

from cyclopts import Parameter

from unselected.cli.fitting import estimator, naming_columns, provenance_of, read_training
from unselected.cli.options import Choice, Input, Output, Source, Speech, check_free, note
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.files.writing import write_text
from unselected.report import Findings, RegressionFindings, examine, examine_regression, verdict
from unselected.report import report as page_of


def report(
    data: Input,
    /,
    *,
    source: Source,
    choice: Choice = Choice(),  # noqa: B008 - frozen
    splits: int = 5,
    repeats: int = 5,
    output: Output = "report.html",
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Write one page on a data set: how far its predictions can be trusted, and why.

    Parameters
    ----------
    data
        Table with features and the response; - is stdin.
    splits
        Number of folds of the cross-validation.
    repeats
        Number of its repetitions.
    output
        HTML file to write; - is stdout.
    force
        Overwrite the output file.
    """
    check_free(output, force)
    name, table = read_training(data, source, choice.model)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {choice.seed}")
    settings: dict[str, Any] = {
        "names": table.names,
        "n_splits": splits,
        "n_repeats": repeats,
        "seed": choice.seed,
        "provenance": provenance_of(data, choice.seed),
        "progress": True,
    }
    model = estimator(name, table, choice)
    findings: Findings | RegressionFindings
    with naming_columns(table):
        if isinstance(model, SelectiveNaiveRegressor):
            findings = examine_regression(table.X, table.y, regressor=model, **settings)
        else:
            findings = examine(table.X, table.y, classifier=model, **settings)
    sentences = verdict(findings)
    write_text(output, page_of(findings, title=f"{source.target} in {data}"), overwrite=force)
    if output != "-":
        content: dict[str, Any] = {
            "report": output,
            "kind": name,
            "seed": choice.seed,
            "verdict": sentences,
        }
        speech.answer("report", content, "\n".join([*sentences, f"written to {output}"]))
