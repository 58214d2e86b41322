"""P(selected) at any parameters from features that were simulated at a few.

Features are simulated at references theta_r, N_r at each, and the selected ones x are kept. Then

    P(selected | theta) = sum over kept x of p(x | theta) / sum over r of N_r p(x | theta_r),

multiple importance sampling with the balance heuristic (Veach & Guibas, 1995). References with
strong effects fill the selected tail, which features at weak effects seldom reach. Astronomers call
such simulated features injections.

Weights cannot say that the references miss a part of the tail. So scouts, some features simulated
at theta itself, join the references for the time of each estimate. No weight then exceeds 1 / their
number, and what only scouts reach shows in the standard error.

The same sum over all simulated features, selected or not, is 1. A regular subset of them, the
witnesses, is kept to see whether it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Floats, Ints
from unselected.condition.column_store import (
    ColumnStore,
    LogDensity,
    log_densities,
    stratified_sum,
)
from unselected.condition.features import Columns, FeatureSource, Parameters, are_equal, copied
from unselected.condition.records import Estimate, Gate, ImpreciseEventError
from unselected.condition.simulation import MARGIN, upper_bound

Summarize = Callable[[Columns, NDArray[Any]], ArrayLike]

# Most witnesses; with more, every second one is forgotten.
_MOST_WITNESSES = 1 << 13
# The mean weight of the witnesses may be so many standard errors away from 1, and besides miss what
# so many of them would show.
_MEAN_WEIGHT_ERRORS = 5.0
_UNSEEN_WITNESSES = 5.0
# Below so many effective draws their spread says little of the standard error.
_FEW_DRAWS = 10.0
# More features are simulated in steps of at most this factor, as the first estimates are rough.
_LARGEST_STEP = 4.0


@dataclass(frozen=True)
class Reference:
    """Parameters, and how many features were simulated there."""

    parameters: Parameters
    n: int = 0


class SelectedColumns(NamedTuple):
    """The selected columns, each once: P(selected) is the sum of exp(log_weights) p(x | theta)."""

    columns: Columns
    log_weights: Floats


class _Simulated(NamedTuple):
    """Of ``n`` features the selected ones and the witnesses, as they are kept."""

    selected: Columns
    witnesses: Columns
    n: int


class Injections:
    """Features simulated at references, reweighted to any parameters.

    Columns that are selected are kept, as ``summarize`` gives them, in at most ``max_bytes``.
    """

    def __init__(
        self,
        source: FeatureSource,
        log_density: LogDensity,
        summarize: Summarize | None,
        references: Sequence[Parameters],
        *,
        n_draws: int,
        max_draws: int,
        max_bytes: int,
    ) -> None:
        self.source, self.log_density, self.summarize = source, log_density, summarize
        self.n_draws, self.max_draws, self.max_bytes = n_draws, max_draws, max_bytes
        self.references: list[Reference] = []
        self._first: list[Parameters] = [copied(parameters) for parameters in references]
        self._stores = self._selected, self._witnesses = ColumnStore(), ColumnStore()
        self._stride = 1

    def estimate(self, parameters: Parameters) -> Estimate:
        """Return P(selected) at some parameters, from the kept columns and scouts."""
        parameters = copied(parameters)
        self._start(parameters)
        return self._with_scouts(parameters)

    def stored_estimate(self, parameters: Parameters) -> Estimate:
        """Return P(selected) from the kept columns alone, which samplers use.

        Its error is that of the estimate with scouts, and how far it is from that.
        """
        known = self.estimate(parameters)
        log_p = self._selected.log_density(self.log_density, copied(parameters))
        stored = float(np.sum(np.exp(log_p - self._selected.log_total)))
        error = float(np.hypot(known.se, stored - known.probability))
        return replace(known, probability=stored, se=error)

    def selected_columns(self) -> SelectedColumns:
        """Return the selected columns, those that are equal as one, with their weights."""
        if self._first:
            self._start(self._first[0])
        columns = self._selected.columns
        if columns is None:
            raise ValueError("nothing was simulated yet: give references, or call log_event first")
        distinct, place = np.unique(columns, axis=1, return_inverse=True)
        order = np.argsort(place.ravel(), kind="stable")
        starts = np.searchsorted(place.ravel()[order], np.arange(distinct.shape[1]))
        log_weights = np.logaddexp.reduceat(-self._selected.log_total[order], starts)
        return SelectedColumns(distinct, log_weights)

    def improve(self, parameters: Parameters, estimate: Estimate, gate: Gate) -> None:
        """Simulate more features; raise where the gate is out of reach.

        Where most of the error is that of the scouts, the references cover these parameters badly,
        and they become a reference themselves. Otherwise all references get more.
        """
        parameters = copied(parameters)
        n_stored = sum(reference.n for reference in self.references)
        at_scouts = estimate.scouts_share > 0.5
        if at_scouts and self._place_of(parameters) is None:
            self._add(parameters, self.n_draws)
            return
        base = self._n_at(parameters) if at_scouts else n_stored
        more = int(np.ceil((_shortfall(estimate, gate) - 1.0) * base))
        if n_stored + more > self.max_draws:
            raise ImpreciseEventError(
                f"{gate.describe(estimate)}; about {more:.1e} more would be needed, and max_draws "
                f"is {self.max_draws}. Give references at which more features are selected, or a "
                "larger tolerance or max_draws"
            )
        more = min(more, int(np.ceil((_LARGEST_STEP - 1.0) * n_stored)))
        if at_scouts:
            self._add(parameters, more)
            return
        for reference in self.references:
            self._add(reference.parameters, -(-more * reference.n // n_stored))

    def _start(self, parameters: Parameters) -> None:
        """Simulate at the references, or without any at these parameters, if not yet done."""
        if self.references:
            return
        for reference in self._first or [parameters]:
            self._add(reference, self.n_draws)
        self.source.raise_if_degenerate()

    def _with_scouts(self, parameters: Parameters) -> Estimate:
        scouts = self._simulate(Reference(parameters), -1, self.n_draws)
        stored = np.array([reference.n for reference in self.references])
        drawn = np.append(stored, scouts.n)
        columns = (scouts.selected, scouts.witnesses)
        (terms, of), (weights, of_weights) = (
            self._terms(store, new, parameters, scouts.n)
            for store, new in zip(self._stores, columns, strict=True)
        )
        self._check_density(weights, of_weights, drawn)
        probability, variances = stratified_sum(terms, of, drawn, drawn)
        squares, variance = float(terms @ terms), float(variances.sum())
        effective = probability**2 / squares if squares > 0.0 else 0.0
        upper = upper_bound(scouts.selected.shape[1], scouts.n)
        least_se = upper / 3.0 if effective < _FEW_DRAWS else 0.0
        return Estimate(
            probability=probability,
            se=max(float(np.sqrt(variance)), least_se),
            effective_draws=effective,
            n_draws=int(drawn.sum()),
            n_selected=terms.size,
            n_references=len(self.references),
            upper=upper,
            scouts_share=float(variances[-1]) / variance if variance > 0.0 else 1.0,
        )

    def _terms(
        self, store: ColumnStore, new: Columns, parameters: Parameters, n_new: int
    ) -> tuple[Floats, Ints]:
        """Return p(x | theta) / sum of N_r p(x | theta_r), scouts included, and whose x is."""
        log_old = store.log_density(self.log_density, parameters)
        log_new = log_densities(self.log_density, new, parameters)
        log_total = _log_total(self.log_density, new, self.references)
        log_p = np.concatenate([log_old, log_new])
        totals = np.concatenate([store.log_total, log_total])
        with_scouts = np.logaddexp(totals, np.log(n_new) + log_p)
        if np.any(with_scouts == -np.inf):
            raise ValueError(
                "log_density does not match simulate_feature: it is -inf for a feature that was "
                "simulated at the same parameters"
            )
        places = np.full(log_new.size, len(self.references))
        return np.exp(log_p - with_scouts), np.concatenate([store.reference, places])

    def _check_density(self, weights: Floats, of: Ints, drawn: Ints) -> None:
        """Raise where the weights of all simulated features do not average to 1."""
        seen = -(-drawn // self._stride)
        mean, variances = stratified_sum(weights, of, seen, drawn)
        se = float(np.sqrt(variances.sum()))
        if abs(mean - 1.0) > _MEAN_WEIGHT_ERRORS * se + _UNSEEN_WITNESSES / float(seen[-1]):
            raise ValueError(
                "log_density does not match simulate_feature: the weights of simulated features "
                f"average to {mean:.4g}, not 1 (standard error {se:.2g}). It must be the density "
                "of what simulate_feature draws, with every factor that depends on the parameters"
            )

    def _n_at(self, parameters: Parameters) -> int:
        """Return how many features are simulated at these very parameters, scouts included."""
        place = self._place_of(parameters)
        return self.n_draws + (0 if place is None else self.references[place].n)

    def _place_of(self, parameters: Parameters) -> int | None:
        places = enumerate(self.references)
        return next((i for i, r in places if are_equal(r.parameters, parameters)), None)

    def _add(self, parameters: Parameters, n: int) -> None:
        """Simulate features at a reference, known or new, and keep what is needed of them.

        Nothing changes before all of that is computed, so that an error leaves what there was.
        """
        known = self._place_of(parameters)
        place = len(self.references) if known is None else known
        reference = Reference(parameters) if known is None else self.references[known]
        new = self._simulate(reference, place, n)
        log_n = np.log(new.n)
        raised = [
            np.logaddexp(store.log_total, log_n + store.log_density(self.log_density, parameters))
            for store in self._stores
        ]
        grown = Reference(parameters, reference.n + new.n)
        references = [*self.references[:place], grown, *self.references[place + 1 :]]
        columns = (new.selected, new.witnesses)
        totals = [_log_total(self.log_density, each, references) for each in columns]
        self.references = references
        for store, old, each, total in zip(self._stores, raised, columns, totals, strict=True):
            store.log_total = old
            store.append(each, place, total)
        self._thin_witnesses()

    def _simulate(self, reference: Reference, place: int, n: int) -> _Simulated:
        """Simulate at least n features; the same ones each time, for a place and its n."""
        size, first = self.source.block_size, reference.n // self.source.block_size
        blocks = range(first, first - (-n // size))
        selected, witnesses, n_bytes = [], [], self._selected.nbytes
        simulated = self.source.blocks(reference.parameters, blocks, (place + 1,))
        for number, block in zip(blocks, simulated, strict=True):
            columns = self._summarized(block.columns)
            selected.append(columns[:, block.selected])
            witnesses.append(columns[:, -number * size % self._stride :: self._stride])
            n_bytes += selected[-1].nbytes
            if n_bytes > self.max_bytes:
                raise ImpreciseEventError(
                    f"the selected columns take more than max_bytes = {self.max_bytes} bytes; keep "
                    "less of each column with summarize, or allow more"
                )
        joined, seen = (np.concatenate(parts, axis=1) for parts in (selected, witnesses))
        return _Simulated(joined, seen, len(blocks) * size)

    def _summarized(self, columns: Columns) -> Columns:
        if self.summarize is None:
            return columns
        kept = np.asarray(self.summarize(columns, self.source.y))
        if kept.ndim != 2 or kept.shape[1] != columns.shape[1]:
            raise ValueError(
                f"summarize returned the shape {kept.shape} for {columns.shape[1]} features; it "
                "must be (numbers, features)"
            )
        return kept

    def _thin_witnesses(self) -> None:
        """Forget every second witness of each reference while there are too many."""
        while len(self._witnesses) > _MOST_WITNESSES:
            self._stride *= 2
            self._witnesses.keep(_rank_in_group(self._witnesses.reference) % 2 == 0)


def _shortfall(estimate: Estimate, gate: Gate) -> float:
    """Return by which factor the number of features must grow, at least a little."""
    factor = (gate.n_omitted * estimate.log_omission_se / gate.tolerance) ** 2
    if not gate.has_draws(estimate):
        factor = max(factor, gate.min_effective / max(estimate.effective_draws, 1.0))
    return MARGIN * max(factor, 1.0)


def _log_total(
    log_density: LogDensity, columns: Columns, references: Sequence[Reference]
) -> Floats:
    """Return the log of the sum over references of N_r p(x | theta_r)."""
    total = np.full(columns.shape[1], -np.inf)
    for reference in references:
        log_p = log_densities(log_density, columns, reference.parameters)
        total = np.logaddexp(total, np.log(reference.n) + log_p)
    return total


def _rank_in_group(group: Ints) -> Ints:
    """Return how many earlier entries are of the same group.

    >>> _rank_in_group(np.array([0, 1, 0, 0, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], group[order])
    rank = np.empty(group.size, dtype=np.int64)
    rank[order] = np.arange(group.size) - starts
    return rank
