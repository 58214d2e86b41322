"""`unselected demo`: the main job on a simulated clinical study."""

import os
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from unselected.calculator.page import calculator_page
from unselected.cli.estimating import NamedTraining
from unselected.cli.first_commands import DemoOptions
from unselected.cli.fitting import named, provenance_of, selection_of
from unselected.cli.options import columns_of, note
from unselected.cli.progress import showing_fits, showing_steps
from unselected.cli.wording import as_option
from unselected.columns.sources import ArrayColumns
from unselected.datasets import ClinicalCases, ClinicalStudy, make_clinical_study
from unselected.estimators.classifier import SelectiveClassifier
from unselected.experiments import Promise, promises
from unselected.files.models import load_model, save_model
from unselected.files.writing import check_writable, make_folder, write_csv, write_text
from unselected.fitted.covariate_table import CovariateTable
from unselected.report import examine
from unselected.report import report as page_of

_TARGET, _COVARIATES = "diagnosis", ("age", "sex", "batch")
# So many genes are kept at most, and so many folds are enough for a report in seconds.
_K, _SPLITS = 20, 3
# The report compares with these; the others take longer than the demo.
_METHODS = (
    *("corrected", "features alone", "covariates alone", "class frequencies"),
    *("SelectKBest + GaussianNB", "SelectKBest + LogisticRegression"),
)
# New cases in a file, to try commands on; all of them tell how often a method errs.
_N_IN_FILE = 20

_FILES = {
    "report.html": "how far the predictions can be trusted, and why: open it in a browser",
    "calculator.html": "enter the values of one patient, and see the probability",
    "model.json": "the model: `unselected inspect model.json` shows what it holds",
    "train.csv": "the table: a row for each patient",
    "new.csv": "new patients: `unselected predict model.json new.csv` predicts them",
}


def study_demo(*, options: DemoOptions) -> None:
    """Do what `unselected.cli.first_commands.study_demo` says."""
    seed = 0 if options.seed is None else options.seed
    paths = _paths_in(options.folder, options.force)
    study = make_clinical_study(random_state=seed)
    note(f"{_described(study)}, seed {seed}")
    _write_cases(paths["train.csv"], study.train, study.names, with_target=True)
    _write_cases(paths["new.csv"], study.new, study.names, n_cases=_N_IN_FILE)

    model, table = model_for(seed), _training(study)
    with showing_steps():
        model.fit(table.X, table.y, **table.fit_arguments)
    records = promises(study, model, k=_K)
    provenance = provenance_of(paths["train.csv"], seed)
    _write_model(paths["model.json"], model, table, provenance)
    page = calculator_page(load_model(paths["model.json"]), title=f"{_TARGET}, simulated")
    write_text(paths["calculator.html"], page, overwrite=True)
    _write_report(paths["report.html"], model, table, provenance)

    content: dict[str, Any] = {
        "seed": seed,
        "n_train": study.train.y.size,
        "n_new": study.new.y.size,
        "n_features": len(study.names),
        "n_related": study.related.size,
        "n_related_kept": int(np.isin(model.selection_.indices, study.related).sum()),
        "records": [asdict(record) for record in records],
        "files": list(paths.values()),
    }
    options.speech.answer("demo", content, demo_text(options.folder, records))


def _paths_in(folder: str, force: bool) -> dict[str, str]:
    """Return where the files go, once they can be written."""
    make_folder(folder)
    paths = {name: os.path.join(folder, name) for name in _FILES}
    for path in paths.values():
        check_writable(path, overwrite=force)
    return paths


def _described(study: ClinicalStudy) -> str:
    return (
        f"simulated: {study.train.y.size} patients, {len(study.names)} genes of which "
        f"{study.related.size} are related to the {_TARGET}; {', '.join(_COVARIATES)}"
    )


def _write_cases(
    path: str,
    cases: ClinicalCases,
    names: list[str],
    *,
    with_target: bool = False,
    n_cases: int | None = None,
) -> None:
    """Write a table as users have them: response and covariates first, then the features."""
    first = {_TARGET: cases.y} if with_target else {}
    first |= cases.covariates
    columns = zip(*(values.tolist() for values in first.values()), strict=True)
    rows: Iterable[tuple[Any, ...]] = (
        (*beside, *values)
        for beside, values in zip(columns, cases.X.tolist()[:n_cases], strict=False)
    )
    write_csv(path, (*first, *names), rows, overwrite=True)


def model_for(seed: int) -> SelectiveClassifier:
    """Return the front door, which keeps few genes, not yet fitted.

    Simulated genes are normal: taking their values as they are halves the time.
    """
    return SelectiveClassifier(k=_K, marginals="raw", random_state=seed)


def _training(study: ClinicalStudy) -> NamedTraining:
    cases = study.train
    return NamedTraining(
        ArrayColumns(cases.X, None),
        cases.y,
        np.array(study.names, dtype=object),
        covariates=CovariateTable.read(cases.covariates),
    )


def _write_model(
    path: str, model: SelectiveClassifier, table: NamedTraining, provenance: dict[str, Any]
) -> None:
    selection = selection_of(model)
    predictor = named(model, table)
    save_model(predictor, path, selection=selection, provenance=provenance, overwrite=True)


def _write_report(
    path: str, model: SelectiveClassifier, table: NamedTraining, provenance: dict[str, Any]
) -> None:
    with showing_fits("classifier", 1 + 2 * _SPLITS):
        findings = examine(
            table.X,
            table.y,
            classifier=model,
            names=table.names[:],
            n_splits=_SPLITS,
            n_repeats=1,
            methods=_METHODS,
            seed=provenance["seed"],
            provenance=provenance,
            writer=as_option,
            **table.fit_arguments,
        )
    write_text(path, page_of(findings, title=f"{_TARGET} in train.csv"), overwrite=True)


def demo_text(folder: str, records: list[Promise]) -> str:
    """Return promised against actual error, the files, and what to do with one's own table."""
    rows = [
        (record.method, f"{record.promised_error:.1%}", f"{record.actual_error:.1%}")
        for record in records
    ]
    width = max(map(len, _FILES))
    return "\n".join(
        [
            f"Both methods keep {_K} genes and use {', '.join(_COVARIATES)}. On 1000 new patients:",
            "",
            columns_of(rows, ("", "promised error", "actual error")),
            "",
            "Promised is the error rate that the probabilities imply, actual the one observed.",
            "",
            f"In the folder {folder}:",
            *(f"  {name.ljust(width)}  {about}" for name, about in _FILES.items()),
            "",
            "With your own table, a row for each case (`unselected fit --help`):",
            "  unselected fit table.csv --target COLUMN --covariates age sex -o model.json",
            "  unselected predict model.json new.csv -o predictions.csv",
            "  unselected report table.csv --target COLUMN --covariates age sex -o report.html",
            "Add `--k 20` to keep at most 20; `unselected export model.json` writes a calculator.",
        ]
    )
