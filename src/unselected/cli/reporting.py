"""`unselected report`."""

from pathlib import Path
from typing import Any

from unselected.cli.commands import ReportOptions
from unselected.cli.estimating import LATENT, estimator, repeats_of
from unselected.cli.fitting import provenance_of, read_training
from unselected.cli.options import Source, counted, note
from unselected.cli.progress import (
    OUR_METHODS,
    expected_seconds,
    n_fits_of_ours,
    n_jobs_of,
    showing_fits,
)
from unselected.cli.wording import as_option
from unselected.estimators.choose import FOR_NUMBERS
from unselected.files.writing import check_writable, write_text
from unselected.report import Findings, RegressionFindings, examine, examine_regression, verdict
from unselected.report import report as page_of


def report(data: str, /, *, source: Source, options: ReportOptions) -> None:
    """Do what `unselected.cli.commands.report` says."""
    choice, output = options.choice, options.output
    check_writable(output, overwrite=options.force)
    if choice.model in LATENT:
        raise ValueError(
            f"--model {choice.model} has no report: use classifier, regressor, bernoulli, "
            "gaussian or regression."
        )
    name, table = read_training(data, source, choice)
    note(f"{table.in_words()}, seed {choice.seed}")
    model = estimator(name, table, choice)
    repeats = repeats_of(name, options.repeats, usual=2)
    note(f"cross-validation: {options.splits} folds, {counted(repeats, 'repetition')}")
    n_folds, n_values = options.splits * repeats, table.X.shape[0] * table.X.shape[1]
    jobs = n_jobs_of(options.jobs, name, n_values, repeats)
    settings: dict[str, Any] = {
        "n_splits": options.splits,
        "n_repeats": repeats,
        "methods": options.method or None,
        "n_jobs": jobs,
        "seed": choice.seed,
        "provenance": provenance_of(data, choice.seed),
    }
    findings: Findings | RegressionFindings
    settings |= table.fit_arguments | {"writer": as_option}
    n_ours = n_fits_of_ours(name, options.method, covariates=table.covariates is not None)

    def tell_duration(seconds: float) -> None:
        rivals = not options.method or set(options.method) - set(OUR_METHODS)
        values = n_values if rivals else 0
        about = expected_seconds(seconds, n_ours * n_folds, n_folds, values) / jobs
        if about >= 5.0:
            note(f"cross-validating all methods will take about {about:.0f} s")

    with showing_fits(name, 1 + n_ours * n_folds, jobs=jobs) as own_bar:
        settings |= {"progress": own_bar, "on_fit": tell_duration}
        if name in FOR_NUMBERS:
            findings = examine_regression(table.X, table.y, regressor=model, **settings)
        else:
            findings = examine(table.X, table.y, classifier=model, **settings)
    sentences = verdict(findings)
    title = f"{source.target} in {'standard input' if data == '-' else Path(data).name}"
    write_text(output, page_of(findings, title=title), overwrite=options.force)
    if output != "-":
        content: dict[str, Any] = {
            "report": output,
            "kind": name,
            "seed": choice.seed,
            "verdict": sentences,
        }
        options.speech.answer("report", content, "\n".join([*sentences, f"written to {output}"]))
