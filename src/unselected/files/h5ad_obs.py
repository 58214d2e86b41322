"""Covariates in an `.h5ad` file: the columns of ``obs``, which describe the cells."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unselected.files.covariate_cells import typed_covariates
from unselected.files.h5ad import opened_file
from unselected.files.sources import telling_damage
from unselected.files.table_request import Request
from unselected.fitted.covariate_table import CovariateTable, Level


def read_obs(path: str, names: Sequence[str], *, levels: Collection[str] = ()) -> CovariateTable:
    """Return columns of ``obs``; ``levels`` as in `read_table`.

    Raises
    ------
    TableError
        Where a column or one of its values is missing.
    """
    request = Request(path, None, None, False, None, covariates=tuple(names), levels=levels)
    with telling_damage(path, "no .h5ad"), opened_file(path) as file:
        obs = file.get("obs", {})
        if hasattr(obs, "dtype"):  # its categories are elsewhere, under names that differ
            raise request.error(
                "an old version of anndata wrote its obs: read it with a new one, and write it "
                "again"
            )
        known = [name for name in obs if name not in ("_index", "__categories")]
        request.check_covariates(known)
        columns = {name: _column(obs[name], file) for name in request.covariates}
    table = typed_covariates({name: values for name, (values, _) in columns.items()}, request)
    assert table is not None
    orders = {name: order for name, (_, order) in columns.items() if order and name not in levels}
    return replace(table, categories=orders)


def _column(node: Any, file: Any) -> tuple[list[Any], tuple[Level, ...] | None]:
    """Return the values of a column, None where they are missing, and its categories in order."""
    if "categories" in node.attrs:  # anndata 0.7
        return _categorical(node[:], file[node.attrs["categories"]][:])
    if not hasattr(node, "keys"):
        return _texts(node[:]), None
    if "codes" in node:
        return _categorical(node["codes"][:], node["categories"][:])
    values, is_missing = _texts(node["values"][:]), node["mask"][:].tolist()
    return [None if gone else value for value, gone in zip(values, is_missing, strict=True)], None


def _categorical(codes: Any, categories: Any) -> tuple[list[Any], tuple[Level, ...]]:
    known = _texts(categories)
    return [known[code] if code >= 0 else None for code in codes.tolist()], tuple(known)


def _texts(values: Any) -> list[Any]:
    """Return values as Python has them; HDF5 stores text as bytes."""
    listed: list[Any] = np.asarray(values).tolist()
    return [value.decode() if isinstance(value, bytes) else value for value in listed]
