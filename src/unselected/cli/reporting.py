"""`unselected report`."""

from typing import Annotated, Any

from cyclopts import Parameter

from unselected.cli.fitting import classifier, provenance_of, read_training
from unselected.cli.options import Choice, Input, Output, Source, Speech, note
from unselected.files import write_text
from unselected.report import examine, verdict
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
    """Write one page on a data set: how far its probabilities can be trusted, and why.

    Parameters
    ----------
    data
        Table with features and classes; - is stdin.
    splits
        Number of folds of the cross-validation.
    repeats
        Number of its repetitions.
    output
        HTML file to write; - is stdout.
    force
        Overwrite the output file.
    """
    table = read_training(data, source)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {choice.seed}")
    findings = examine(
        table.X,
        table.y,
        classifier=classifier(table, choice),
        names=table.names,
        n_splits=splits,
        n_repeats=repeats,
        seed=choice.seed,
        provenance=provenance_of(data, choice.seed),
        progress=True,
    )
    sentences = verdict(findings)
    write_text(output, page_of(findings, title=f"{source.target} in {data}"), overwrite=force)
    if output != "-":
        content: dict[str, Any] = {"report": output, "seed": choice.seed, "verdict": sentences}
        speech.answer("report", content, "\n".join([*sentences, f"written to {output}"]))
