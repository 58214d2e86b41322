"""Covariates of a command: columns of its table, or of another one with the same cases."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.cli.options import note
from unselected.cli.sources import is_in_another_file, stays_in_its_file
from unselected.files.h5ad_obs import read_obs
from unselected.files.opening import ending_of
from unselected.files.tables import read_table
from unselected.fitted.covariate_coding import CovariateCoding
from unselected.fitted.covariate_table import CovariateTable


@dataclass(frozen=True)
class CovariatePlace:
    """The names of covariates, and the file that they are in; None is that of the features."""

    names: tuple[str, ...] = ()
    file: str | None = None

    @classmethod
    def of(cls, options: Sequence[str]) -> "CovariatePlace":
        """Return where --covariates says that they are: all in one table."""
        files = {
            option.rpartition(":")[0] if is_in_another_file(option) else None for option in options
        }
        if len(files) > 1:
            raise ValueError(
                f"--covariates {' '.join(options)}: all covariates must be columns of one table."
            )
        file = next(iter(files), None)
        if file is None:
            return cls(tuple(dict.fromkeys(options)))
        return cls(tuple(dict.fromkeys(option.rpartition(":")[2] for option in options)), file)

    @property
    def in_table(self) -> tuple[str, ...]:
        """The covariates that are columns of the table with the features."""
        return self.names if self.file is None else ()


def read_covariates(
    file: str, names: Sequence[str], levels: Collection[str], table: str, n_cases: int
) -> CovariateTable:
    """Read covariates from a file of which nothing else is read.

    ``levels`` as in `read_table`; ``table`` is the file with the features.
    """
    if ending_of(file) == ".h5ad":
        covariates = read_obs(file, names, levels=levels)
    elif stays_in_its_file(file):
        raise ValueError(
            f"{file} holds features only: the covariates {', '.join(names)} must come from another "
            "table with the same cases. Give --covariates as in phenotype.csv:age to fit, and "
            "--covariates phenotype.csv to predict."
        )
    else:
        found = read_table(file, columns=(), covariates=names, levels=levels)
        for remark in found.notes:
            note(f"note: {remark}")
        assert found.covariates is not None
        covariates = found.covariates
    if covariates.n_cases != n_cases:
        raise ValueError(
            f"{file} has {covariates.n_cases} cases, but {table} has {n_cases}: both must have the "
            "same cases, in the same order."
        )
    if file != table:
        note(
            f"note: cases are matched by their order: row 1 of {file} is row 1 of {table}, and so "
            "on"
        )
    return covariates


def levels_of(coding: CovariateCoding) -> list[str]:
    """Return the covariates that have levels, whatever their cells look like."""
    return [column.name for column in coding.columns if column.kind == "levels"]


def rows_with_covariates(
    X: NDArray[Any], coding: CovariateCoding, covariates: CovariateTable
) -> NDArray[np.float64]:
    """Return the rows of a prediction: the kept columns, and then the coded covariates."""
    return np.hstack([np.asarray(X, dtype=np.float64), coding.encode(covariates)])
