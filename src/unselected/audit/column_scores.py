"""How strongly each column is related to the response, in standard deviations of a column of noise.

The score is a t or the root of an F statistic, transformed so that its noise has a variance of
about 1, whatever the effect is.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unselected._typing import Floats, Ints

# Columns that are made dense at once.
_BLOCK = 1000


def is_sparse(X: Any) -> bool:
    """Return whether a table is one of scipy's sparse arrays or matrices."""
    return bool(sparse.issparse(X))


class NumericColumns(NamedTuple):
    """The columns of a table that hold numbers.

    Attributes
    ----------
    values : array of shape (n_cases, n_numeric), or sparse
    numbers : array of shape (n_numeric,)
        The numbers of these columns in the table.
    """

    values: Any
    numbers: Ints

    @classmethod
    def of(cls, X: Any) -> "NumericColumns":
        """Return the columns of an array, a sparse table or a data frame that hold numbers."""
        if is_sparse(X):
            return cls(X.tocsc(), np.arange(X.shape[1]))
        if not hasattr(X, "columns") and (values := np.asarray(X)).dtype.kind in "biuf":
            return cls(values, np.arange(values.shape[1]))
        columns = [X[name] for name in X.columns] if hasattr(X, "columns") else list(values.T)
        numbers = {j: _numbers(column) for j, column in enumerate(columns)}
        known = {j: column for j, column in numbers.items() if column is not None}
        stacked = np.column_stack(list(known.values())) if known else np.empty((X.shape[0], 0))
        return cls(stacked, np.array(list(known), dtype=np.int64))

    def at(self, columns: Ints) -> "NumericColumns":
        """Return some of the columns."""
        return NumericColumns(self.dense(columns), self.numbers[columns])

    def dense(self, columns: Any) -> Floats:
        """Return some columns as floats; missing values become the mean of their column."""
        block = self.values[:, columns]
        block = block.toarray() if is_sparse(block) else block
        block = np.array(block, dtype=np.float64)
        missing = np.isnan(block)
        if missing.any():
            known = np.maximum((~missing).sum(axis=0), 1)
            means = np.where(missing, 0.0, block).sum(axis=0) / known
            block = np.where(missing, means, block)
        return block


def _numbers(column: Any) -> Floats | None:
    """Return a column as floats, None where it holds anything else."""
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return None


class Response(NamedTuple):
    """A response as the columns of a design, which scores are relative to.

    Attributes
    ----------
    basis : array of shape (n_cases, n_directions)
        Orthonormal columns with mean zero, whose span is the response.
    indicators : array of shape (n_cases, n_classes), or None for numbers
    """

    basis: Floats
    indicators: Floats | None

    @classmethod
    def classes(cls, y: NDArray[Any]) -> "Response":
        """Return the response with classes ``y``."""
        indicators = (np.asarray(y)[:, None] == np.unique(y)).astype(np.float64)
        return cls(_orthonormal(indicators[:, 1:]), indicators)

    @classmethod
    def numbers(cls, y: NDArray[Any]) -> "Response":
        """Return the response with numbers ``y``."""
        return cls(_orthonormal(np.asarray(y, dtype=np.float64)[:, None]), None)

    @property
    def n_directions(self) -> int:
        """How many numbers an effect has."""
        return int(self.basis.shape[1])


def _orthonormal(columns: Floats) -> Floats:
    return np.asarray(np.linalg.qr(columns - columns.mean(axis=0))[0])


def column_scores(
    table: NumericColumns, response: Response, rng: np.random.Generator | None = None
) -> Floats:
    """Return the score of each column; NaN for a column that is constant.

    With t the t statistic, or the root of the F statistic times its degrees of freedom, and d the
    residual degrees of freedom, the score is sqrt(2 d) asinh(t / sqrt(2 d)).

    Parameters
    ----------
    table : NumericColumns
    response : Response
    rng : Generator, default=None
        Adds noise to the scores of columns with few values, such as counts, as wide as the gaps
        between the scores that they can have. By default there is none.

    Returns
    -------
    scores : array of shape (n_columns,)

    Examples
    --------
    >>> table = NumericColumns.of(np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 3.0], [9.0, 1.0]]))
    >>> column_scores(table, Response.classes(np.array([0, 0, 1, 1]))).round(2)
    array([1.32, 0.  ])
    """
    starts = range(0, table.values.shape[1], _BLOCK)
    parts = [_scores(table.dense(slice(s, s + _BLOCK)), response, rng) for s in starts]
    return np.concatenate([np.empty(0), *parts])


def _scores(X: Floats, response: Response, rng: np.random.Generator | None) -> Floats:
    n, n_directions = response.basis.shape
    centred = X - X.mean(axis=0)
    total = (centred**2).sum(axis=0)
    varies = total > 1e-20 * np.maximum((X**2).sum(axis=0), 1e-300)
    explained = response.basis.T @ centred
    within = np.maximum(total - (explained**2).sum(axis=0), 1e-12 * total)
    if rng is not None and response.indicators is not None:
        explained = explained + _spread(X, response.basis, response.indicators, rng)
    degrees = max(n - 1 - n_directions, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.sqrt((explained**2).sum(axis=0) / (within / degrees))
    scores = np.sqrt(2.0 * degrees) * np.arcsinh(t / np.sqrt(2.0 * degrees))
    return np.where(varies, scores, np.nan)


def _spread(X: Floats, basis: Floats, indicators: Floats, rng: np.random.Generator) -> Floats:
    """Return normal noise for what classes explain, as wide as the gaps between possible values.

    Where a case of the next value moves from one of two classes to the other, the sums of both
    change by a gap. The noise has half of that as its standard deviation.
    """
    ordered = np.sort(X, axis=0)
    steps = np.diff(ordered, axis=0)
    gaps = np.where(steps > 0.0, steps, np.inf).min(axis=0)
    gaps = np.where(np.isfinite(gaps), gaps, 0.0)
    moves = np.sqrt(0.5) * gaps * rng.normal(size=(indicators.shape[1], X.shape[1]))
    # The basis is constant within classes: a sum over a class enters with its value there.
    return np.asarray((basis.T @ indicators / indicators.sum(axis=0)) @ moves)


def residuals_given(table: NumericColumns, response: Response, columns: Ints) -> Floats:
    """Return columns without what the response explains, each of length 1."""
    centred = table.dense(columns)
    centred -= centred.mean(axis=0)
    left = centred - response.basis @ (response.basis.T @ centred)
    return np.asarray(left / np.maximum(np.sqrt((left**2).sum(axis=0)), 1e-300))
