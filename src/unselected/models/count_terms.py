"""The likelihood of binary features that have the same numbers of known values."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from math import log
from typing import Literal, Protocol

import numpy as np

from unselected._typing import Floats, Ints
from unselected.numerics.beta_binomial import CountLaw, theta_functions
from unselected.numerics.beta_binomial_integral import EXACT, Accuracy, log_counts_and_theta
from unselected.numerics.quadrature import PER_ROOT, gauss_legendre, simpson, theta_nodes
from unselected.omission.binary import OmittedCounts, log_omission, selected_probabilities
from unselected.omission.count_tables import CountTable, Omission, joint_table
from unselected.omission.many_cases import ManyCases

# Up to this many cases no probability of a pair of counts is below 1e-160. From this many pairs on
# the distribution of all counts is tabulated: (n0 + 1) (n1 + 1) entries.
FEW_CASES, _FEWEST_PAIRS_BY_TABLE = 512, 200
# Nodes of theta for each square root of the number of cases on the coarse rules: probabilities of
# counts have relative errors of 3e-8 where there are very many cases, and of 1e-10 below 500.
_PER_ROOT_COARSE = 3.0
# With fewer values of alpha at a time nothing is gained.
_FEWEST_ALPHAS = 4


@dataclass(frozen=True)
class ThetaRule:
    """Nodes and weights of theta for any number of cases; see `BernoulliModel`."""

    quadrature: Literal["exact", "paper"] = "exact"
    refinement: int = 1
    ploidy: int = 1
    coarse: bool = False

    def __call__(self, n: int) -> tuple[Floats, Floats]:
        """Return the nodes and weights for n cases, or n alleles."""
        if self.quadrature == "paper":
            return simpson(21)
        # Each further draw that is predicted adds a degree to the polynomial that is integrated.
        per_root = _PER_ROOT_COARSE if self.coarse else PER_ROOT
        return gauss_legendre(theta_nodes(n + self.ploidy - 1, per_root) * self.refinement)

    def is_for_many(self, n: int) -> bool:
        """Say whether there are so many cases that tables over all nodes do not pay."""
        return self.quadrature == "exact" and n > FEW_CASES


@dataclass(frozen=True)
class Terms:
    """At one alpha: what is known of each vector of counts, and the omission probabilities.

    Attributes
    ----------
    log_counts : array of shape (vectors,)
        Log probabilities of the vectors.
    theta_means : array of shape (ploidy, vectors)
        Means of `theta_functions` given the vectors.
    omission : Omission or None
    """

    log_counts: Floats
    theta_means: Floats
    omission: Omission | None


class OverallOmission:
    """The omission probability of a feature in two classes, whatever its total, see `binary`."""

    def __init__(self, law: CountLaw, cut: Fraction, *, needs_below: bool) -> None:
        self._law = law
        self._sets = [OmittedCounts.at_most(cut, law.n0, law.n1)]
        if needs_below:
            self._sets.append(OmittedCounts.below(cut, law.n0, law.n1))

    def start(self) -> Floats:
        """Return the sums over no node of theta."""
        return np.zeros(len(self._sets))

    def add(self, sums: Floats, pmfs: list[Floats], weights: Floats) -> None:
        """Add what some nodes of theta add."""
        sums += selected_probabilities(self._sets, pmfs[0], pmfs[1], weights)

    def sums_of_each(self, pmfs: list[Floats], weights: Floats) -> Iterable[Floats]:
        """Return the sums over all nodes at some alphas, the first axis of the tables."""
        return selected_probabilities(self._sets, pmfs[0], pmfs[1], weights)

    def finish(self, sums: Floats, u: float) -> Omission:
        """Return the probabilities from the sums over all nodes."""
        logs = [log_omission(self._law, u, *each) for each in zip(self._sets, sums, strict=True)]
        log_at_most, log_below = [*logs, -np.inf][:2]
        # Nothing is below a cut of 0. Counts at COR = 0 are on both sides, and doubled.
        log_at_cut, at_cut = log_at_most, float(sums[-1] - sums[0])
        if len(logs) == 1 or log_below > -np.inf:
            log_at_cut = log(at_cut) if at_cut > 0.0 else -np.inf
        each = (log_below, log_at_cut, log_at_most, 0.0)
        return Omission(*(np.array(value) for value in each))


class TabulatedOmission:
    """The omission probabilities from the table of all vectors of counts, see `count_tables`.

    The table may have the classes in another order, by their sizes.
    """

    def __init__(self, table: CountTable) -> None:
        self._table = table

    def start(self) -> Floats:
        """Return the sums over no node of theta."""
        shape = tuple(n + 1 for n in self._table.sizes)
        return np.zeros((int(np.prod(shape[:-1])), shape[-1]))

    def add(self, sums: Floats, pmfs: list[Floats], weights: Floats) -> None:
        """Add what some nodes of theta add."""
        if tuple(pmf.shape[1] - 1 for pmf in pmfs) != self._table.sizes:
            pmfs = sorted(pmfs, key=np.size)
        sums += joint_table(pmfs, weights)

    def sums_of_each(self, pmfs: list[Floats], weights: Floats) -> Iterable[Floats]:
        """Yield the sums over all nodes at some alphas, the first axis of the tables."""
        for each in zip(*pmfs, strict=True):
            sums = self.start()
            self.add(sums, list(each), weights)
            yield sums

    def finish(self, sums: Floats, u: float) -> Omission:  # noqa: ARG002
        """Return the probabilities from the sums over all nodes."""
        return self._table.omission(sums)


class AtAlpha(Protocol):
    """Omission probabilities as a function of u = 1 / alpha."""

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Omission:
        """Return the omission probabilities at alpha = 1 / u."""


@dataclass(frozen=True, eq=False)
class ManyCasesTerms:
    """Vectors of counts among many cases, each with nodes of theta of its own.

    Attributes
    ----------
    sizes : tuple of int
    ones : array of shape (G, vectors)
    omission : object with a method ``at(u)``, or None
    refinement, ploidy : int
    """

    sizes: tuple[int, ...]
    ones: Ints
    omission: AtAlpha | None
    refinement: int
    ploidy: int = 1

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Terms:
        """Return the terms at one alpha = 1 / u."""
        how = (self.refinement, accuracy, self.ploidy)
        logs, theta = log_counts_and_theta(self.ones, self.sizes, u, *how)
        return Terms(logs, theta, None if self.omission is None else self.omission.at(u, accuracy))


@dataclass(frozen=True, eq=False)
class ManyCasesPairs:
    """The same in two classes, whatever the totals: pairs at the cut are integrated together.

    Attributes
    ----------
    sizes : tuple of int
    ones : array of shape (2, pairs)
    omission : ManyCases
    refinement, ploidy : int
    """

    sizes: tuple[int, ...]
    ones: Ints
    omission: ManyCases
    refinement: int
    ploidy: int = 1

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Terms:
        """Return the terms at one alpha = 1 / u."""
        v, pairs = self.ones.shape[1], np.concatenate([self.ones, self.omission.ties], axis=1)
        how = (self.refinement, accuracy, self.ploidy)
        logs, theta = log_counts_and_theta(pairs, self.sizes, u, *how)
        return Terms(logs[:v], theta[:, :v], self.omission.at(u, logs[v:], accuracy))


@dataclass(frozen=True, eq=False)
class CountTerms:
    """Vectors of counts of features with the same numbers of known values, and their omission.

    Attributes
    ----------
    law : CountLaw
    ones : array of shape (G, vectors)
    omission : OverallOmission, TabulatedOmission or None
    ploidy : int
    """

    law: CountLaw
    ones: Ints
    omission: OverallOmission | TabulatedOmission | None
    ploidy: int = 1
    _ahead: dict[float, Terms] = field(default_factory=dict, init=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of known values."""
        return self.law.sizes

    def at(self, u: float, accuracy: Accuracy = EXACT) -> Terms:  # noqa: ARG002
        """Return the terms at one alpha = 1 / u."""
        if u in self._ahead:
            return self._ahead.pop(u)
        logs = None
        omission, sums_of_vectors = self.omission, self._rule()
        sums = None if omission is None else omission.start()
        blocks = zip(self._weights, self.law.pmf_blocks(u), strict=True)
        for weights_of_means, (_, *tables) in blocks:
            part, weights = sums_of_vectors(tables, weights_of_means), weights_of_means[0]
            logs = part if logs is None else np.logaddexp(logs, part)
            if omission is not None and sums is not None:
                omission.add(sums, [pmf for _, pmf in tables], weights)
        told = None if omission is None or sums is None else omission.finish(sums, u)
        assert logs is not None  # there is at least one node
        return Terms(logs[0], np.exp(logs[1:] - logs[0]), told)

    def compute_ahead(self, u: tuple[float, ...]) -> None:
        """Compute the terms at some alphas together where they are small, for `at`."""
        most = self.law.tables.n_together
        if self._rule() != self._by_products or most < _FEWEST_ALPHAS:
            return
        for start in range(0, len(u), most):
            some = u[start : start + most]
            self._ahead.update(zip(some, self._together(some), strict=True))

    def _together(self, u: tuple[float, ...]) -> Iterator[Terms]:
        """Yield what `at` returns at each of some values of u."""
        by_size = {n: self.law.tables.together(u, n)[1] for n in set(self.sizes)}
        (weights,), pmfs = self._weights, [by_size[n] for n in self.sizes]
        logs = self._log_products(pmfs[0], pmfs[1], weights)
        theta_means = np.exp(logs[:, 1:] - logs[:, :1])
        told: Iterable[Omission | None] = repeat(None, len(u))
        if self.omission is not None:
            told = map(self.omission.finish, self.omission.sums_of_each(pmfs, weights[0]), u)
        return map(Terms, logs[:, 0], theta_means, told)

    @cached_property
    def _weights(self) -> list[Floats]:
        """For each block of nodes the weights, and below them those of functions of theta."""
        return [
            np.vstack([weights, weights * theta_functions(theta, self.ploidy)])
            for nodes in self.law.tables.blocks
            for theta, weights in [(self.law.theta[nodes], self.law.weights[nodes])]
        ]

    def _rule(self) -> "Callable[[list[tuple[Floats, Floats]], Floats], Floats]":
        """Return how the nodes of theta are summed for the vectors of counts."""
        if sum(self.law.sizes) > FEW_CASES or len(self.law.sizes) > 2:
            return self._in_logs
        many = self.ones.shape[1] > _FEWEST_PAIRS_BY_TABLE
        return self._by_table if many else self._by_products

    def _in_logs(self, tables: list[tuple[Floats, Floats]], weights: Floats) -> Floats:
        """Return logs of sums over nodes for each vector, one for each row of weights, in logs."""
        # One row per count: taking rows is faster than taking columns.
        terms = np.zeros((self.ones.shape[1], weights.shape[1]))
        for (logs, _), ones in zip(tables, self.ones, strict=True):
            terms += np.take(np.ascontiguousarray(logs.T), ones, axis=0)
        top = np.max(terms, axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)  # theta = 0 and 1 allow constant features only
        sums = weights @ np.exp(terms - top).T
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(sums) + top[:, 0])

    def _by_products(self, tables: list[tuple[Floats, Floats]], weights: Floats) -> Floats:
        """Return the same from products of probabilities: faster for few cases."""
        return self._log_products(tables[0][1], tables[1][1], weights)

    def _log_products(self, pmf0: Floats, pmf1: Floats, weights: Floats) -> Floats:
        products = np.take(pmf0, self.ones[0], axis=-1) * np.take(pmf1, self.ones[1], axis=-1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(weights @ products))

    def _by_table(self, tables: list[tuple[Floats, Floats]], weights: Floats) -> Floats:
        """Return the same from one table of all counts: faster for many pairs and few cases."""
        (_, pmf0), (_, pmf1) = tables
        each = [(pmf0.T * row) @ pmf1 for row in weights]
        with np.errstate(divide="ignore"):
            return np.log([table[self.ones[0], self.ones[1]] for table in each])
