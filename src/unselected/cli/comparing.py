"""`unselected cv`."""

from dataclasses import asdict
from typing import Any

from unselected.calibration import Estimate
from unselected.cli.fitting import read_training
from unselected.cli.options import Input, Source, Speech, columns_of, note
from unselected.experiments import ComparisonRow, compare, comparison_table


def cv(
    data: Input,
    /,
    *,
    source: Source,
    k: int,
    splits: int = 5,
    repeats: int = 10,
    method: tuple[str, ...] = (),
    seed: int = 0,
    jobs: int = 1,
    checkpoint: str | None = None,
    speech: Speech = Speech(),  # noqa: B008 - frozen
) -> None:
    """Compare this classifier with what people use instead, by repeated cross-validation.

    Parameters
    ----------
    data
        Table with features and classes; - is stdin.
    k
        How many features each method selects, inside every fold.
    splits
        Number of folds.
    repeats
        Number of repetitions.
    method
        Name of a method to run; may be given several times; all by default.
    seed
        Seed of the folds.
    jobs
        Number of processes.
    checkpoint
        File for finished repetitions; the same call continues from there.
    """
    table = read_training(data, source)
    note(f"{table.X.shape[0]} cases, {table.X.shape[1]} features, seed {seed}")
    records = compare(
        table.X,
        table.y,
        k=k,
        n_splits=splits,
        n_repeats=repeats,
        methods=method or None,
        seed=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
        progress=True,
    )
    rows = comparison_table(records, table.y, seed=seed)
    content: dict[str, Any] = {"seed": seed, "k": k, "rows": [asdict(row) for row in rows]}
    speech.answer("cv", content, comparison_text(rows))


def comparison_text(rows: list[ComparisonRow]) -> str:
    """Return the comparison as a table with intervals."""
    header = ("method", "log loss", "squared error", "error", "expected", "features needed")
    cells = [
        (
            row.method,
            _with_interval(row.log_loss),
            _with_interval(row.squared_error),
            _with_interval(row.actual_error),
            _with_interval(row.expected_error),
            f"{row.features_needed:.1f}",
        )
        for row in rows
    ]
    return columns_of(cells, header)


def _with_interval(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f}-{estimate.high:.3f})"
