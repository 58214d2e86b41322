"""`unselected reproduce`, `unselected simulate` and `unselected demo`."""

from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from unselected.cli.options import Speech, columns_of, note, on_terminal
from unselected.datasets import make_paper_simulation
from unselected.dependence.power import Dependence
from unselected.estimators.exact import Prior
from unselected.experiments import (
    ColonFeatures,
    ColonModel,
    ColonRecord,
    Comparison,
    SimulationRecord,
    colon,
    compare_with_published,
    paired_tests,
    simulation,
)
from unselected.files.writing import check_writable, write_csv

Quadrature = Literal["exact", "paper"]


def reproduce_simulation(
    *,
    replicates: int,
    quadrature: Quadrature,
    seed: int,
    jobs: int,
    checkpoint: str | None,
    speech: Speech,
) -> None:
    """Do what `unselected.cli.paper_commands.reproduce_simulation` says."""
    if checkpoint is not None:
        check_writable(checkpoint, overwrite=True)
    note(f"{replicates} data sets, seed {seed}")
    records = simulation(
        replicates,
        quadrature=quadrature,
        seed=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        progress=on_terminal(),
    )
    compared = compare_with_published(records)
    content: dict[str, Any] = {
        "seed": seed,
        "records": [asdict(record) for record in records],
        "published": [{**asdict(row), "inside": row.inside} for row in compared],
    }
    speech.answer("reproduce simulation", content, simulation_text(records, compared))


def simulation_text(records: list[SimulationRecord], compared: list[Comparison]) -> str:
    """Return means over data sets, and how many published figures lie within their range."""
    groups: dict[tuple[int, str], list[SimulationRecord]] = {}
    for record in records:
        groups.setdefault((record.k, record.method), []).append(record)
    fields = ("actual_error", "expected_error", "log_loss", "squared_error", "seconds")
    rows = [
        (
            f"{method}, k = {k}",
            *(f"{np.mean([getattr(r, field) for r in group]):.3f}" for field in fields),
        )
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


def _outside(row: Comparison) -> str:
    seen = "none here" if row.low is None else f"here {row.low:.3f} to {row.high:.3f}"
    return f"k = {row.k}, {row.method}, {row.what}: published {row.published:g}, {seen}"


def reproduce_colon(
    *,
    data: str | None,
    partitions: int,
    k: int,
    features: ColonFeatures,
    quadrature: Quadrature,
    prior: Prior,
    dependence: Dependence,
    model: ColonModel,
    draws: int | None,
    seed: int,
    jobs: int,
    checkpoint: str | None,
    speech: Speech,
) -> None:
    """Do what `unselected.cli.paper_commands.reproduce_colon` says."""
    if checkpoint is not None:
        check_writable(checkpoint, overwrite=True)
    note(f"{partitions} division(s) into 10 groups, seed {seed}")
    records = colon(
        data,
        n_partitions=partitions,
        k=k,
        features=features,
        quadrature=quadrature,
        prior=prior,
        dependence=dependence,
        model=model,
        n_draws=draws,
        seed=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        progress=on_terminal(),
    )
    tests = paired_tests(records)
    content: dict[str, Any] = {
        "seed": seed,
        "records": [asdict(record) for record in records],
        "paired_tests": [asdict(test) for test in tests],
    }
    speech.answer("reproduce colon", content, colon_text(records))


def colon_text(records: list[ColonRecord]) -> str:
    """Return the means over groups, and the paired tests of each division."""
    rows = []
    for method in ("corrected", "uncorrected"):
        group = [record for record in records if record.method == method]
        fields = ("actual_error", "expected_error", "log_loss", "squared_error")
        rows.append(
            (method, *(f"{np.mean([getattr(r, field) for r in group]):.3f}" for field in fields))
        )
    header = ("method", "error", "expected", "log loss", "squared error")
    tests = [
        f"division {test.partition + 1}, {test.score.replace('_', ' ')}: corrected better in "
        f"{test.n_better} of {test.n_groups} groups{_paired_t(test.p_value)}"
        for test in paired_tests(records)
    ]
    return "\n".join([columns_of(rows, header), "", *tests])


def _paired_t(p_value: float | None) -> str:
    return "" if p_value is None else f", paired t test p = {p_value:.2g}"


def simulate(
    *,
    output: str,
    cases: int,
    features: int,
    concentration: float,
    seed: int,
    force: bool,
    speech: Speech,
) -> None:
    """Do what `unselected.cli.paper_commands.simulate` says."""
    check_writable(output, overwrite=force)
    data = make_paper_simulation(cases, 1, features, concentration=concentration, random_state=seed)
    header = ("class", *(f"x{j + 1}" for j in range(features)))
    rows = (
        (int(label), *map(int, row)) for label, row in zip(data.y_train, data.X_train, strict=True)
    )
    note(f"{cases} cases, {features} features, concentration {concentration:g}, seed {seed}")
    write_csv(output, header, rows, overwrite=force)
    if speech.json and output != "-":
        content = {"output": output, "cases": cases, "features": features, "seed": seed}
        speech.answer("simulate", content, "")


def demo(*, seed: int, speech: Speech) -> None:
    """Do what `unselected.cli.paper_commands.demo` says."""
    note(f"10000 features, 200 training cases, 2000 test cases, seed {seed}")
    records = simulation(1, complete=False, seed=seed, progress=on_terminal())
    speech.answer(
        "demo", {"seed": seed, "records": [asdict(r) for r in records]}, demo_text(records)
    )


def demo_text(records: list[SimulationRecord]) -> str:
    """Return a row for each number of kept features and method."""
    rows = [
        (
            f"{record.k} {record.method}",
            f"{record.actual_error:.3f}",
            f"{record.expected_error:.3f}",
            f"{record.log_loss:.3f}",
            f"{record.squared_error:.3f}",
        )
        for record in sorted(records, key=lambda r: (r.k, r.method == "corrected"))
    ]
    header = ("kept, method", "actual error", "expected error", "log loss", "squared error")
    ending = "Corrected, the expected error is close to the actual one; uncorrected, far too low."
    return f"{columns_of(rows, header)}\n\n{ending}"
