"""`unselected report`."""

from dataclasses import replace
from typing import Any

from unselected.cli.commands import ReportOptions
from unselected.cli.estimating import LATENT, estimator
from unselected.cli.fitting import provenance_of, read_training
from unselected.cli.options import Source, note, on_terminal
from unselected.cli.wording import as_option
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.files.writing import check_writable, write_text
from unselected.report import Findings, RegressionFindings, examine, examine_regression, verdict
from unselected.report import report as page_of


def report(data: str, /, *, source: Source, options: ReportOptions) -> None:
    """Do what `unselected.cli.commands.report` says."""
    choice, output = options.choice, options.output
    check_writable(output, overwrite=options.force)
    if choice.model in LATENT:
        raise ValueError(
            f"--model {choice.model} has no report: use bernoulli, gaussian or regression."
        )
    if choice.model == "classifier" or choice.groups is not None:
        raise ValueError(
            "the report is on the paper's models: use --model auto, bernoulli, gaussian or "
            "regression, and omit --groups."
        )
    name, table = read_training(data, source, choice, paper=True)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {choice.seed}")
    settings: dict[str, Any] = {
        "n_splits": options.splits,
        "n_repeats": options.repeats,
        "seed": choice.seed,
        "provenance": provenance_of(data, choice.seed),
        "progress": on_terminal(),
    }
    model = estimator(name, table, choice)
    findings: Findings | RegressionFindings
    if isinstance(model, SelectiveNaiveRegressor):
        findings = examine_regression(table.X, table.y, regressor=model, **settings)
    else:
        found = examine(table.X, table.y, classifier=model, **settings)
        findings = replace(found, dependence=replace(found.dependence, writer=as_option))
    sentences = verdict(findings)
    title = f"{source.target} in {data}"
    write_text(output, page_of(findings, title=title), overwrite=options.force)
    if output != "-":
        content: dict[str, Any] = {
            "report": output,
            "kind": name,
            "seed": choice.seed,
            "verdict": sentences,
        }
        options.speech.answer("report", content, "\n".join([*sentences, f"written to {output}"]))
