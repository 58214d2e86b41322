"""Folds, and keys of columns, that depend on the content of a table and not on its order."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Ints
from unselected.columns.blocks import Columns
from unselected.columns.content_keys import Keys, column_keys, row_keys
from unselected.estimators.divisions import divided
from unselected.estimators.inputs import TrainingTable
from unselected.selection.correlation import CLOSE
from unselected.selection.families import FamilyScores
from unselected.selection.rules import SelectionRule
from unselected.selection.streaming import StreamingSelection
from unselected.statistics.binarizing import FindBinary, as_indicators, find_none
from unselected.statistics.leaving_out import LeftOut

# Folds of a division, the largest number of divisions, and a bound: all divisions together leave
# out fewer cases than this, but there are at least two.
_N_FOLDS, _MOST_DIVISIONS, _ENOUGH_CASES = 10, 10, 600
# From so many cases on a single division is enough.
_MANY_CASES = 600
# Columns whose content gives the keys of the rows.
_KEY_COLUMNS = 1000
# Columns whose keys are remembered, at most.
_FEW_COLUMNS = 2000
# Columns that are looked at besides twice as many as are to be kept.
_SOME_MORE = 50
# Of the bits of a key.
_HALF, _FIRST_HALF = np.uint64(32), np.uint64(0xFFFFFFFF00000000)

# Returns the scores of columns: of those that can be among the best so many.
ScoreColumns = Callable[[Callable[[], StreamingSelection], Callable[[Ints], Keys]], FamilyScores]


class AverageFitting:
    """What the fits of averages over models have in common: a table, and a rule without its k."""

    table: TrainingTable
    rule: SelectionRule
    groups: Ints | None

    @property
    def everyone(self) -> LeftOut:
        """The set of no cases: nothing is left out."""
        return LeftOut.rows(np.array([], dtype=np.intp), self.table.y.size)

    def with_k(self, k: int | None) -> SelectionRule:
        """Return the rule that keeps k features."""
        return replace(self.rule, k=k)

    def case_weight(self, left: LeftOut, n_divisions: int) -> float:
        """Return what each case counts that folds leave out, in all divisions one after the other.

        All cases of a group together count as one: they are alike.
        """
        alike = 1.0
        if self.groups is not None:
            alike = left.kept.size / np.unique(self.groups[left.kept]).size
        return 1.0 / (max(n_divisions, 1) * alike)


@dataclass(frozen=True, eq=False)
class ContentKeys:
    """The keys of the cases that are not left out, from their values in the strongest columns.

    Attributes
    ----------
    left : LeftOut
    scores : FamilyScores
        Of the strongest columns, raw.
    values : array of shape (n, columns)
        What the keys are of.
    keys : array of shape (n,)
    X : Columns
    find_binary : FindBinary
    """

    left: LeftOut
    scores: FamilyScores
    values: NDArray[Any]
    keys: Keys
    X: Columns
    find_binary: FindBinary

    @classmethod
    def read(
        cls, X: Columns, left: LeftOut, score: ScoreColumns, find_binary: FindBinary = find_none
    ) -> "ContentKeys":
        """Read the table once for its strongest columns.

        Of those that are modelled as binary only the bits count.
        """
        scores = score(partial(StreamingSelection, _KEY_COLUMNS), _numbers_as_keys)
        values = np.asarray(X[:, _strictly_above(scores, _KEY_COLUMNS)])
        values = as_indicators(values, find_binary)[left.kept]
        return cls(left, scores, values, row_keys(values), X, find_binary)

    def of_columns(self, columns: Ints) -> Keys:
        """Return the keys of columns, by which ties are broken: their first half by bits alone.

        Those that `remember` was told of need not be read again.
        """
        known = [self._known.get(column) for column in columns[:_FEW_COLUMNS].tolist()]
        if columns.size > _FEW_COLUMNS or None in known:
            return self._read_keys(columns)
        return np.array(known, dtype=np.uint64)

    def remember(self, columns: Ints) -> None:
        """Read the keys of columns that may tie without some of the sets of cases, if few."""
        if columns.size <= _FEW_COLUMNS:
            keys = self._read_keys(columns)
            self._known.update(zip(columns.tolist(), keys.tolist(), strict=True))

    @cached_property
    def _known(self) -> dict[int, int]:
        """Keys of columns that were read."""
        return {}

    def _read_keys(self, columns: Ints) -> Keys:
        values: NDArray[Any] = np.asarray(self.X[:, columns])
        bits = as_indicators(values, self.find_binary)
        keys = column_keys(bits[self.left.kept], self.keys)
        if bits is values:
            return keys
        own = column_keys(values[self.left.kept], self.keys)
        return np.asarray((keys & _FIRST_HALF) | (own >> _HALF))

    def strongest(self, k: int | None) -> Ints | None:
        """Return columns of which k are likely to be the best without some cases; None without k.

        They are the best of all cases, and some more.
        """
        if k is None:
            return None
        n = min(2 * k + _SOME_MORE, self.scores.rough.size)
        best = np.argpartition(-self.scores.rough, n - 1)[:n] if n else np.arange(0)
        return self.scores.subset.columns[best]

    def strongest_values(self, n: int) -> NDArray[Any]:
        """Return the values of at most n of the strongest columns, shape (cases, columns).

        There are fewer where some tie; where those that tie for the first place are more than n,
        all that are known.
        """
        known = _strictly_above(self.scores, _KEY_COLUMNS)
        some = np.isin(known, _strictly_above(self.scores, n))
        return self.values[:, some] if some.any() else self.values

    @property
    def n_divisions(self) -> int:
        """How often cases are divided into folds: more often where there are few."""
        n = self.left.kept.size
        fewest = 2 if n < _MANY_CASES else 1
        return min(_MOST_DIVISIONS, max(fewest, (_ENOUGH_CASES - 1) // n))

    def folds(
        self, strata: NDArray[np.intp], seed: int, groups: Ints | None, n_divisions: int
    ) -> list[LeftOut]:
        """Return the folds of some divisions, each to be left out.

        ``strata`` and ``groups`` have a number for each case that is not left out already.
        """
        left, sets = self.left, []
        for division in range(n_divisions):
            fold_of = divided(strata, self.keys, _N_FOLDS, seed + (division << 32), groups)
            for fold in np.unique(fold_of):
                rows = left.kept[fold_of == fold]
                n = left.kept.size + left.out.size
                sets.append(LeftOut.rows(np.union1d(left.out, rows), n, asked=rows))
        return sets

    def strata(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return strata of cases with similar real responses, one case for each fold."""
        strata = np.empty(y.size, dtype=np.intp)
        strata[np.lexsort((self.keys, y))] = np.arange(y.size) // _N_FOLDS
        return strata


def _strictly_above(scores: FamilyScores, k: int) -> Ints:
    """Return the columns above the k-th largest score, or all: a set without ties to break."""
    rough, columns = scores.rough, scores.subset.columns
    if rough.size < k:
        return columns
    kth = np.partition(rough, rough.size - k)[rough.size - k]
    return np.asarray(columns[rough > kth * (1.0 + CLOSE)])


def _numbers_as_keys(columns: Ints) -> Keys:
    """Return keys where no ties are broken."""
    return columns.astype(np.uint64)
