"""The table of all vectors of counts, shared by data sets with equal class sizes."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unselected._typing import Floats, Ints
from unselected.models.count_terms import Terms
from unselected.numerics.beta_binomial import CountLaw
from unselected.omission.count_tables import CountTable, Omission, joint_table


class SharedTable:
    """P(counts) and E[theta | counts] of every vector, tabulated once for each alpha.

    The omission probabilities are summed once for each alpha and cut.
    """

    def __init__(self, law: CountLaw, *, by_total: bool) -> None:
        self.law, self.by_total = law, by_total
        self._tables: dict[float, tuple[Floats, Floats]] = {}
        self._cuts: dict[Fraction | None, int] = {}
        self._counted: list[CountTable] = []
        self._omission: dict[tuple[float, int], Omission] = {}
        self._overall: dict[tuple[float, int], Omission] = {}

    def number_of(self, cut: Fraction | None) -> int:
        """Return an index for a cut, because fractions are slow to look up."""
        if cut not in self._cuts:
            self._cuts[cut] = len(self._cuts)
            self._counted.append(CountTable(self.law.sizes, cut, by_total=self.by_total))
        return self._cuts[cut]

    def tables(self, u: float) -> tuple[Floats, Floats]:
        """Return P(counts) and E[theta | counts], flattened."""
        if u not in self._tables:
            sums = np.zeros((1, 2))
            for nodes, *tables in self.law.pmf_blocks(u):
                pmfs, weights = [pmf for _, pmf in tables], self.law.weights[nodes]
                both = weights, weights * self.law.theta[nodes]
                sums = sums + np.stack([joint_table(pmfs, each).ravel() for each in both], axis=-1)
            self._tables[u] = sums[:, 0], sums[:, 1] / sums[:, 0]
        return self._tables[u]

    def omission(self, u: float, number: int) -> Omission:
        """Return the omission probabilities for the cut with that index."""
        key = u, number
        if key not in self._omission:
            self._omission[key] = self._counted[number].omission(self.tables(u)[0])
        return self._omission[key]

    def overall(self, u: float, number: int) -> Omission:
        """Return the same of a feature whose total is not known."""
        key = u, number
        if key not in self._overall:
            told = self.omission(u, number)
            self._overall[key] = told.averaged() if self.by_total else told.of_one()
        return self._overall[key]

    def log_total(self, u: float) -> Floats:
        """Return log P(m) of each total; 0 where totals are not given."""
        return self.omission(u, 0).log_total

    def places(self, ones: Ints) -> Ints:
        """Return where vectors of counts (G, v) are in the tables."""
        shape = tuple(n + 1 for n in self.law.sizes)
        return np.asarray(np.ravel_multi_index(tuple(ones), shape))


@dataclass(frozen=True, eq=False)
class SharedTerms:
    """The terms of some vectors of counts, looked up in a shared table; see `CountTerms`."""

    shared: SharedTable
    ones: Ints
    places: Ints
    number: int

    @classmethod
    def of(cls, shared: SharedTable, ones: Ints, cut: Fraction | None) -> "SharedTerms":
        """Look up where the vectors and the cut are."""
        return cls(shared, ones, shared.places(ones), shared.number_of(cut))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cases."""
        return self.shared.law.sizes

    def at(self, u: float) -> Terms:
        """Return the terms at one alpha = 1 / u."""
        table, theta = (each[self.places] for each in self.shared.tables(u))
        omission = self.shared.omission(u, self.number)
        if not self.shared.by_total:
            omission = self.shared.overall(u, self.number)
        return Terms(np.log(table), theta, omission)
