"""Sweeps of the mixture, and how long draws of alpha take that are worth 400."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import report, seconds

from unselected.models.mixture import MixtureModel, MixtureSampler
from unselected.numerics.kernels import kernels_for_moves
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.rows import KeptRows

# What the authors' R program takes for a sweep over the labels alone, at n = 40, p = 101, k = 5,
# where it leaves the adjustment out.
R_SWEEP = 0.15
# Sweeps whose time is taken together, and those before, which fill the tables.
_SWEEPS, _FIRST = 200, 2000


def kept_of_mixture(n: int, p: int, k: int) -> tuple[NDArray[Any], NDArray[Any], Event]:
    """Return the kept features, the classes and the event of data from the model."""
    rng = np.random.default_rng(0)
    while True:
        X, y, _ = MixtureModel().simulate(n, p, rng, alpha=20.0, alpha0=0.5)
        if n // 4 <= y.sum() <= n - n // 4:
            break
    scores = CountScores.of(count_classes(X, y, None)[0])
    selection = keep_top(scores, k, "first", np.array([], dtype=int), rng)
    return X[:, selection.indices], y, selection.event


def sweeps(sampler: MixtureSampler) -> Callable[[], object]:
    """Return the work of some sweeps, after others that filled the tables."""
    rng = np.random.default_rng(0)
    state = sampler.start(0, rng)
    for _ in range(_FIRST):
        sampler.step(state, rng)
    return lambda: [sampler.step(state, rng) for _ in range(_SWEEPS)]


def bench_mixture(_: int, repetitions: int) -> None:
    """Time full sweeps, adjustment exact, against the R program's and against none corrected."""
    bits, y, event = kept_of_mixture(40, 101, 5)
    compiled = kernels_for_moves(10**9)
    for what, kernels in (("numpy", None), ("compiled", compiled)):
        exact, uncorrected = (
            time / _SWEEPS
            for time in seconds(
                sweeps(MixtureSampler(MixtureModel(), bits, y, event, kernels=kernels)),
                sweeps(MixtureSampler(MixtureModel(), bits, y, Event(), kernels=kernels)),
                repetitions=repetitions,
            )
        )
        size = f"mixture, n = 40, p = 101, k = 5, {what}"
        goal = "at least 100 (times faster)"
        report(f"{size}: a sweep, against R's", exact, R_SWEEP, R_SWEEP / exact, goal)
        report(f"{size}: against none corrected", exact, uncorrected, exact / uncorrected, "")
    _bench_effective_size()


def _bench_effective_size() -> None:
    """Print how long the default chains take, and what their draws of alpha are worth."""
    bits, y, event = kept_of_mixture(62, 2000, 20)
    start = time.perf_counter()
    posterior = MixtureModel().condition(KeptRows(bits, y), event)
    taken = time.perf_counter() - start
    diagnostics = posterior.draws.diagnostics
    ess = diagnostics.ess_bulk[diagnostics.names.index("alpha")]
    print(
        f"mixture, n = 62, p = 2000, k = 20: four chains in {taken:.1f} s, ESS of alpha {ess:.0f}, "
        f"R-hat {diagnostics.r_hat[0]:.3f}, {400 * taken / ess:.1f} s for 400 (under 60 s)",
        flush=True,
    )
