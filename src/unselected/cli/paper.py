"""`unselected reproduce`, `unselected simulate` and `unselected demo`."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import App, Parameter

from unselected.cli.options import Output, Speech, columns_of, note
from unselected.datasets import make_paper_simulation
from unselected.dependence.power import Dependence
from unselected.estimators.selecting import Prior
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
from unselected.files.writing import write_csv

reproduce = App(
    name="reproduce", help="Repeat the paper's experiments.", result_action="return_value"
)
Quadrature = Literal["exact", "paper"]


@reproduce.command(name="simulation")
def reproduce_simulation(
    *,
    replicates: int = 3,
    quadrature: Quadrature = "exact",
    seed: int = 0,
    jobs: int = 1,
    checkpoint: str | None = None,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Section 4: 10000 features, 200 training cases, k = 1, 10, 100, 1000 and all.

    Parameters
    ----------
    replicates
        Number of simulated data sets.
    quadrature
        exact, or the paper's grid.
    seed
        Seed of the data.
    jobs
        Number of processes.
    checkpoint
        File for finished data sets; the same call continues from there.
    """
    note(f"{replicates} data sets, seed {seed}")
    records = simulation(
        replicates,
        quadrature=quadrature,
        seed=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        progress=True,
    )
    compared = compare_with_published(records)
    content: dict[str, Any] = {
        "seed": seed,
        "records": [asdict(record) for record in records],
        "published": [{**asdict(row), "inside": row.inside} for row in compared],
    }
    speech.answer("reproduce simulation", content, simulation_text(records, compared))


def simulation_text(records: list[SimulationRecord], compared: list[Comparison]) -> str:
    """Return the means over data sets, and how many published figures lie in their range."""
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


@reproduce.command(name="colon")
def reproduce_colon(
    *,
    data: str | None = None,
    partitions: int = 1,
    k: int = 5,
    features: ColonFeatures = "binary",
    quadrature: Quadrature = "exact",
    prior: Prior = "common",
    dependence: Dependence = "none",
    model: ColonModel = "naive",
    draws: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    checkpoint: str | None = None,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Section 5: gene expression in colon tissue, 10 groups of 200 genes, leave-one-out.

    Parameters
    ----------
    data
        Table with a column "class" and 2000 genes; fetched from OpenML where not given.
    partitions
        Number of random divisions of the genes into groups.
    k
        Number of genes kept.
    features
        binary, cut at the median as in the paper, or real.
    quadrature
        exact, or the paper's grid.
    prior
        common, as in the paper, or sparse: only some of the genes are related to the class.
    dependence
        none, as in the paper, or tempered or correlated: guard against genes that depend on each
        other.
    model
        naive, as in the paper, or latent: a mixture for binary features, a factor for real ones;
        that takes long.
    draws
        Of each chain of a latent model: 500 unless given.
    seed
        Seed of the divisions and of ties.
    jobs
        Number of processes.
    checkpoint
        File for finished groups; the same call continues from there.
    """
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
        progress=True,
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
    output: Output = "-",
    cases: int = 200,
    features: int = 1000,
    concentration: float = 300.0,
    seed: int = 0,
    force: Annotated[bool, Parameter(negative="")] = False,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Write data simulated as in the paper: a column "class", and one for each feature.

    Parameters
    ----------
    output
        CSV file to write; - is stdout.
    cases
        Number of cases, half in each class.
    features
        Number of binary features.
    concentration
        How alike the features' distributions in the two classes are (alpha in the paper).
    seed
        Seed of the data.
    force
        Overwrite the output file.
    """
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


def demo(
    *,
    seed: int = 2007,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Show in a few seconds what selection does to probabilities, and the cure.

    Parameters
    ----------
    seed
        Seed of the simulated data.
    """
    note(f"10000 features, 200 training cases, 2000 test cases, seed {seed}")
    records = simulation(1, complete=False, seed=seed, progress=True)
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
