"""Tables of all vectors of counts, shared by data sets with equal class sizes."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from unselected._typing import Floats, Ints
from unselected.models.count_terms import Terms
from unselected.numerics.beta_binomial import CountLaw, PmfTables, theta_functions
from unselected.numerics.beta_binomial_integral import EXACT, Accuracy
from unselected.omission.count_tables import CountTable, Omission, joint_table, n_entries
from unselected.omission.pair_sums import PairSums
from unselected.selection.count_score import EXPLAINED, CountScore

# Numbers that a table remembers for all alphas together, at most, and the fewest alphas.
_MOST_NUMBERS, _FEWEST_ALPHAS = 1 << 23, 4


@dataclass(frozen=True)
class _AtAlpha:
    """P(counts) and means given the counts of every vector, and omission probabilities by cut."""

    P: Floats
    theta_means: Floats
    omission: dict[int, Omission] = field(default_factory=dict)
    overall: dict[int, Omission] = field(default_factory=dict)


@dataclass(frozen=True)
class _AtAlphas:
    """The same at several alphas, which are the second axis: (vectors, alphas).

    ``theta_sums``, of shape (ploidy, alphas, vectors), are the means times P. The arrays of the
    omission probabilities have the shape (alphas, totals).
    """

    P: Floats
    theta_sums: Floats
    omission: dict[tuple[int, int, int], Omission] = field(default_factory=dict)

    def theta_means(self, places: Ints) -> Floats:
        """Return the means of some vectors, (ploidy, alphas, vectors)."""
        return np.asarray(self.theta_sums[..., places] / self.P[places].T)


class SharedTable:
    """P(counts) and means of theta given the counts, tabulated once for each alpha.

    The omission probabilities are summed once for each alpha and cut. Those of the last alphas are
    remembered.
    """

    def __init__(self, law: CountLaw, *, by_total: bool, ploidy: int = 1) -> None:
        self.law, self.by_total, self._ploidy = law, by_total, ploidy
        self._known: dict[float, _AtAlpha] = {}
        self._cuts: dict[tuple[Fraction | None, CountScore], int] = {}
        self._counted: dict[int, CountTable] = {}
        self._together: dict[tuple[float, ...], _AtAlphas] = {}

    def forget_cuts(self, most: int = 0) -> None:
        """Forget the omission probabilities, unless they are of so few cuts."""
        if len(self._cuts) <= most:
            return
        self._cuts.clear()
        self._counted.clear()
        for known in self._known.values():
            known.omission.clear()
            known.overall.clear()
        for together in self._together.values():
            together.omission.clear()

    def number_of(self, cut: Fraction | None, score: CountScore = EXPLAINED) -> int:
        """Return an index for a cut on a score, because fractions are slow to look up."""
        key = cut, score
        if key not in self._cuts:
            self._cuts[key] = len(self._cuts)
        return self._cuts[key]

    def _table(self, number: int) -> CountTable:
        """Return which vectors are below, at and above the cut with that index."""
        if number not in self._counted:
            cut, score = list(self._cuts)[number]
            how: Any = {"by_total": self.by_total, "score": score}
            self._counted[number] = CountTable(self.law.sizes, cut, **how)
        return self._counted[number]

    def tables(self, u: float) -> tuple[Floats, Floats]:
        """Return P(counts), flattened, and the means given the counts, shape (ploidy, vectors)."""
        known = self._at(u)
        return known.P, known.theta_means

    def _at(self, u: float) -> _AtAlpha:
        if u not in self._known:
            while len(self._known) >= self._n_remembered():
                del self._known[next(iter(self._known))]
            sums = self._sums(u)
            self._known[u] = _AtAlpha(sums[0], sums[1:] / sums[0])
        return self._known[u]

    def _sums(self, u: float) -> Floats:
        """Return sums over theta of P(counts) and of its products with `theta_functions`."""
        sums = np.zeros((1 + self._ploidy, 1))
        for nodes, *tables in self.law.pmf_blocks(u):
            pmfs, weights = [pmf for _, pmf in tables], self.law.weights[nodes]
            functions = theta_functions(self.law.theta[nodes], self._ploidy)
            each = [weights, *(weights * functions)]
            sums = sums + np.stack([joint_table(pmfs, row).ravel() for row in each])
        return sums

    def _sums_together(self, u: tuple[float, ...]) -> Floats:
        """Return the same at several alphas, (1 + ploidy, alphas, vectors)."""
        law, sums = self.law, np.empty((1 + self._ploidy, len(u), int(n_entries(self.law.sizes))))
        n_together = law.tables.n_together
        if len(law.sizes) > 2 or n_together < 1:
            for place, one in enumerate(u):
                sums[:, place] = self._sums(one)
            return sums
        (nodes,) = law.tables.blocks
        functions = theta_functions(law.theta[nodes], self._ploidy)
        for start in range(0, len(u), n_together):
            some = slice(start, start + n_together)
            pmfs = {n: law.tables.together(u[some], n)[1] for n in set(law.sizes)}
            first, second = (pmfs[n] for n in law.sizes)
            for own, function in zip(sums, [1.0, *functions], strict=True):
                rows = first.transpose(0, 2, 1) * (law.weights[nodes] * function)
                own[some] = (rows @ second).reshape(len(rows), -1)
        return sums

    def fits(self, n_alphas: int) -> bool:
        """Say whether so many alphas can be remembered together."""
        return self.by_total and n_alphas * self._n_numbers <= _MOST_NUMBERS

    @property
    def _n_numbers(self) -> int:
        """The numbers to remember for each alpha, but for those of cuts."""
        return (1 + self._ploidy) * int(n_entries(self.law.sizes))

    def together(self, u: tuple[float, ...]) -> _AtAlphas:
        """Return the tables at several alphas; those asked for last are remembered."""
        known = self._together.pop(u, None)
        if known is None:
            n_others = sum(map(len, self._together))
            while self._together and not self.fits(n_others + len(u)):
                oldest = next(iter(self._together))
                n_others -= len(oldest)
                del self._together[oldest]
            sums = self._sums_together(u)
            known = _AtAlphas(np.ascontiguousarray(sums[0].T), sums[1:])
        self._together[u] = known
        return known

    def omission_together(
        self, u: tuple[float, ...], number: int, totals: slice = slice(None)
    ) -> Omission:
        """Return the omission probabilities at several alphas, of some totals, (alphas, totals)."""
        known = self.together(u)
        start, stop, _ = totals.indices(sum(self.law.sizes) + 1)
        key = number, start, stop
        if key not in known.omission:
            known.omission[key] = self._omission_together(known, number, slice(start, stop))
        return known.omission[key]

    def _omission_together(self, known: _AtAlphas, number: int, totals: slice) -> Omission:
        cut, score = list(self._cuts)[number]
        if len(self.law.sizes) == 2 and score == EXPLAINED:
            return PairSums.of(*self.law.sizes).omission(known.P, cut, totals)
        return self._table(number).omission_together(known.P).of_totals(totals)

    def _n_remembered(self) -> int:
        """Return the number of alphas that are remembered."""
        of_cuts = 8 * (sum(self.law.sizes) + 1 if self.by_total else 1) * len(self._cuts)
        return max(_FEWEST_ALPHAS, int(_MOST_NUMBERS / (self._n_numbers + of_cuts)))

    def omission(self, u: float, number: int) -> Omission:
        """Return the omission probabilities for the cut with that index."""
        known = self._at(u)
        if number not in known.omission:
            known.omission[number] = self._table(number).omission(known.P)
        return known.omission[number]

    def overall(self, u: float, number: int) -> Omission:
        """Return the same of a feature whose total is not known."""
        known = self._at(u)
        if number not in known.overall:
            told = self.omission(u, number)
            known.overall[number] = told.averaged() if self.by_total else told.of_one()
        return known.overall[number]

    def log_total(self, u: float) -> Floats:
        """Return log P(m) of each total; 0 where totals are not given."""
        return self.omission(u, 0).log_total

    def log_totals_together(self, u: tuple[float, ...]) -> Floats:
        """Return log P(m) of each total at several alphas, (alphas, totals)."""
        return self.omission_together(u, self.number_of(None)).log_total

    def ones_at(self, places: Ints) -> Ints:
        """Return the vectors of counts (G, v) at these places of the tables; see `places`."""
        return np.stack(np.unravel_index(places, tuple(n + 1 for n in self.law.sizes)))

    def places(self, ones: Ints) -> Ints:
        """Return where vectors of counts (G, v) are in the tables."""
        shape = tuple(n + 1 for n in self.law.sizes)
        return np.asarray(np.ravel_multi_index(tuple(ones), shape))


class SharedTables:
    """A shared table for each pattern of known values, all with the same nodes of theta.

    Parameters
    ----------
    nodes : pair of arrays
        Nodes and weights of theta.
    n : int
        The largest number of cases of all classes together.
    by_total : bool
    ploidy : int, default=1
    """

    def __init__(
        self, nodes: tuple[Floats, Floats], n: int, *, by_total: bool, ploidy: int = 1
    ) -> None:
        self._nodes, self._by_total, self._ploidy = nodes, by_total, ploidy
        self._pmfs = PmfTables(nodes[0], n)
        self._tables: dict[tuple[int, ...], SharedTable] = {}

    def of(self, sizes: tuple[int, ...]) -> SharedTable:
        """Return the table of features with these numbers of known values."""
        if sizes not in self._tables:
            law = CountLaw(sizes, *self._nodes, self._pmfs)
            self._tables[sizes] = SharedTable(law, by_total=self._by_total, ploidy=self._ploidy)
        return self._tables[sizes]


@dataclass(frozen=True, eq=False)
class SharedTerms:
    """The terms of some vectors of counts, looked up in a shared table; see `CountTerms`."""

    shared: SharedTable
    ones: Ints
    places: Ints
    number: int

    @classmethod
    def of(
        cls, shared: SharedTable, ones: Ints, cut: Fraction | None, score: CountScore = EXPLAINED
    ) -> "SharedTerms":
        """Look up where the vectors and the cut are."""
        return cls(shared, ones, shared.places(ones), shared.number_of(cut, score))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cases."""
        return self.shared.law.sizes

    def fits(self, n_alphas: int) -> bool:
        """Say whether the terms at so many alphas can be looked up together."""
        return self.shared.fits(n_alphas)

    def together(self, u: tuple[float, ...]) -> tuple[Floats, Floats, Omission]:
        """Return log probabilities of the vectors, means and omission at several alphas.

        The shapes are (alphas, vectors), (alphas, ploidy, vectors) and (alphas, totals).
        """
        known = self.shared.together(u)
        means = known.theta_means(self.places).transpose(1, 0, 2)
        omission = self.shared.omission_together(u, self.number)
        return np.log(known.P[self.places]).T, means, omission

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Terms:  # noqa: ARG002
        """Return the terms at one alpha = 1 / u."""
        P, means = self.shared.tables(u)
        omission = self.shared.omission(u, self.number)
        if not self.shared.by_total:
            omission = self.shared.overall(u, self.number)
        return Terms(np.log(P[self.places]), means.take(self.places, axis=1), omission)
