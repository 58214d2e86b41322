"""`unselected reproduce`, `unselected simulate` and `unselected demo --paper`."""

from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np

from unselected.cli.first_commands import DemoOptions
from unselected.cli.options import columns_of, note, on_terminal
from unselected.cli.paper_commands import ColonOptions, SimulateOptions, SimulationOptions
from unselected.datasets import make_paper_simulation
from unselected.experiments import (
    ColonRecord,
    Comparison,
    SimulationRecord,
    colon,
    compare_with_published,
    paired_tests,
    simulation,
)
from unselected.files.writing import check_writable, write_csv

# The scores that tables show.
_SCORES = ("actual_error", "expected_error", "log_loss", "squared_error")


def reproduce_simulation(*, options: SimulationOptions) -> None:
    """Do what `unselected.cli.paper_commands.reproduce_simulation` says."""
    run = _settings_of_run(options)
    pictures = _figure_folder("simulation", options)
    note(f"{options.replicates} data sets, seed {options.seed}")
    records = simulation(options.replicates, quadrature=options.quadrature, **run)
    if pictures is not None:
        pictures.write_simulation(records, options.seed)
    compared = compare_with_published(records)
    content: dict[str, Any] = {
        "seed": options.seed,
        "records": [asdict(record) for record in records],
        "published": [{**asdict(row), "inside": row.inside} for row in compared],
    }
    options.speech.answer("reproduce simulation", content, simulation_text(records, compared))


def _settings_of_run(options: SimulationOptions | ColonOptions) -> dict[str, Any]:
    """Return what long runs share, once the checkpoint can be written."""
    if options.checkpoint is not None:
        check_writable(options.checkpoint, overwrite=True)
    return {
        "seed": options.seed,
        "n_jobs": options.jobs,
        "checkpoint": options.checkpoint,
        "progress": on_terminal(),
    }


def _figure_folder(experiment: str, options: SimulationOptions | ColonOptions) -> Any:
    """Return the folder of --figures, once it can be written, or None.

    The module is loaded where it is needed, because it needs matplotlib.
    """
    if options.figures is None:
        return None
    folder = import_module("unselected.cli.figures").FigureFolder
    return folder.made(options.figures, experiment, overwrite=options.force)


def simulation_text(records: list[SimulationRecord], compared: list[Comparison]) -> str:
    """Return means over data sets, and how many published figures lie within their range."""
    groups: dict[tuple[int, str], list[SimulationRecord]] = {}
    for record in records:
        groups.setdefault((record.k, record.method), []).append(record)
    rows = [
        (f"{method}, k = {k}", *_means(group, (*_SCORES, "seconds")))
        for (k, method), group in groups.items()
    ]
    header = ("method", "error", "expected", "log loss", "squared error", "seconds")
    outside = [row for row in compared if not row.inside]
    lines = [
        columns_of(rows, header),
        "",
        f"published figures within the range of these data sets: "
        f"{len(compared) - len(outside)} of {len(compared)}",
        *(f"  outside: {_outside(row)}" for row in outside),
    ]
    return "\n".join(lines)


def _means(records: Sequence[Any], fields: Sequence[str]) -> list[str]:
    return [f"{np.mean([getattr(record, field) for record in records]):.3f}" for field in fields]


def _outside(row: Comparison) -> str:
    seen = "none here" if row.low is None else f"here {row.low:.3f} to {row.high:.3f}"
    return f"k = {row.k}, {row.method}, {row.what}: published {row.published:g}, {seen}"


def reproduce_colon(*, options: ColonOptions) -> None:
    """Do what `unselected.cli.paper_commands.reproduce_colon` says."""
    run = _settings_of_run(options)
    pictures = _figure_folder("colon", options)
    note(f"{options.partitions} division(s) into 10 groups, seed {options.seed}")
    records = colon(
        options.data,
        n_partitions=options.partitions,
        k=options.k,
        features=options.features,
        quadrature=options.quadrature,
        prior=options.prior,
        dependence=options.dependence,
        model=options.model,
        n_draws=options.draws,
        **run,
    )
    if pictures is not None:
        pictures.write_colon(records)
    content: dict[str, Any] = {
        "seed": options.seed,
        "records": [asdict(record) for record in records],
        "paired_tests": [asdict(test) for test in paired_tests(records)],
    }
    options.speech.answer("reproduce colon", content, colon_text(records))


def colon_text(records: list[ColonRecord]) -> str:
    """Return the means over groups, and the paired tests of each division."""
    rows = [
        (method, *_means([record for record in records if record.method == method], _SCORES))
        for method in ("corrected", "uncorrected")
    ]
    header = ("method", "error", "expected", "log loss", "squared error")
    tests = [
        f"division {test.partition + 1}, {test.score.replace('_', ' ')}: corrected better in "
        f"{test.n_better} of {test.n_groups} groups"
        + ("" if test.p_value is None else f", paired t test p = {test.p_value:.2g}")
        for test in paired_tests(records)
    ]
    return "\n".join([columns_of(rows, header), "", *tests])


def simulate(*, options: SimulateOptions) -> None:
    """Do what `unselected.cli.paper_commands.simulate` says."""
    output, cases, features, seed = options.output, options.cases, options.features, options.seed
    check_writable(output, overwrite=options.force)
    concentration = options.concentration
    data = make_paper_simulation(cases, 1, features, concentration=concentration, random_state=seed)
    header = ("class", *(f"x{j + 1}" for j in range(features)))
    rows = (
        (int(label), *map(int, row)) for label, row in zip(data.y_train, data.X_train, strict=True)
    )
    note(f"{cases} cases, {features} features, concentration {concentration:g}, seed {seed}")
    write_csv(output, header, rows, overwrite=options.force)
    if options.speech.json and output != "-":
        content = {"output": output, "cases": cases, "features": features, "seed": seed}
        options.speech.answer("simulate", content, "")


def paper_demo(*, options: DemoOptions) -> None:
    """Do what `unselected.cli.first_commands.paper_demo` says."""
    if options.folder != DemoOptions.folder:
        raise ValueError(f"--folder {options.folder} is not for --paper, which writes no files.")
    seed = 2007 if options.seed is None else options.seed
    note(f"10000 features, 200 training cases, 2000 test cases, seed {seed}")
    records = simulation(1, complete=False, seed=seed, progress=on_terminal())
    content = {"seed": seed, "records": [asdict(r) for r in records]}
    options.speech.answer("demo", content, paper_demo_text(records))


def paper_demo_text(records: list[SimulationRecord]) -> str:
    """Return a row for each number of kept features and method."""
    rows = [
        (f"{record.k} {record.method}", *_means([record], _SCORES))
        for record in sorted(records, key=lambda r: (r.k, r.method == "corrected"))
    ]
    header = ("kept, method", "actual error", "expected error", "log loss", "squared error")
    ending = "Corrected, the expected error is close to the actual one; uncorrected, far too low."
    return f"{columns_of(rows, header)}\n\n{ending}"
