"""Markov chains: running them, and diagnosing how well they mixed.

R-hat and effective sample sizes come from arviz-stats, the export from arviz-base. Both are in the
extra ``latent`` and are loaded when first needed.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats

S = TypeVar("S")
Start = Callable[[int, np.random.Generator], S]
Step = Callable[[S, np.random.Generator], S]
Record = Callable[[S], Mapping[str, Any]]

# Chains are taken to have mixed below this R-hat and above this effective sample size.
MOST_R_HAT, LEAST_ESS = 1.01, 400.0
# R-hat compares halves of chains, which need a variance each.
_FEWEST_DRAWS = 4
# The tails whose effective sample size is computed.
_TAILS = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Convergence diagnostics of each scalar quantity that is watched.

    Attributes
    ----------
    names : tuple of str
        "alpha", or "tau[2]" for an entry of an array.
    r_hat, ess_bulk, ess_tail : arrays of shape (quantities,)
        NaN where a quantity never changes in any chain, or there are fewer than 4 draws.
    """

    names: tuple[str, ...]
    r_hat: Floats
    ess_bulk: Floats
    ess_tail: Floats

    def __repr__(self) -> str:
        wide = max([len(name) for name in self.names], default=0)
        rows = zip(self.names, self.r_hat, self.ess_bulk, self.ess_tail, strict=True)
        lines = [f"{n:<{wide}} {r:6.3f} {bulk:9.0f} {tail:9.0f}" for n, r, bulk, tail in rows]
        return "\n".join([f"{'':<{wide}} {'R-hat':>6} {'bulk ESS':>9} {'tail ESS':>9}", *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return columns for a table: ``pandas.DataFrame(diagnostics.to_dict())``."""
        return {
            "quantity": list(self.names),
            "r_hat": self.r_hat,
            "ess_bulk": self.ess_bulk,
            "ess_tail": self.ess_tail,
        }

    @property
    def complaint(self) -> str | None:
        """The warning where chains did not mix; None where they did.

        >>> one = np.array([1.2]), np.array([30.0]), np.array([20.0])
        >>> Diagnostics(("alpha",), *one).complaint
        'the chains have not mixed: alpha (R-hat 1.20, bulk ESS 30, tail ESS 20)'
        """
        poor = (self.r_hat > MOST_R_HAT) | (np.minimum(self.ess_bulk, self.ess_tail) < LEAST_ESS)
        if not np.any(poor):
            return None
        order = np.argsort(-np.where(poor, self.r_hat, -np.inf), kind="stable")[: np.sum(poor)]
        shown = [
            f"{self.names[j]} (R-hat {self.r_hat[j]:.2f}, bulk ESS {self.ess_bulk[j]:.0f}, "
            f"tail ESS {self.ess_tail[j]:.0f})"
            for j in order[:3]
        ]
        more = f", and {order.size - 3} more" if order.size > 3 else ""
        return f"the chains have not mixed: {', '.join(shown)}{more}"


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of the chains, without warm-up.

    Attributes
    ----------
    arrays : mapping of str to arrays of shape (chains, draws, ...)
    watched : tuple of str
        The arrays that are diagnosed, entry by entry.

    Examples
    --------
    >>> draws = Draws({"alpha": np.arange(6.0).reshape(2, 3)}, ("alpha",))
    >>> draws.n_chains, draws.n_draws, draws["alpha"].shape, draws.stacked("alpha").shape
    (2, 3, (2, 3), (6,))
    """

    arrays: Mapping[str, NDArray[Any]]
    watched: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in self.arrays.values():
            array.flags.writeable = False
        object.__setattr__(self, "arrays", MappingProxyType(dict(self.arrays)))

    def __getstate__(self) -> dict[str, Any]:
        return {"arrays": dict(self.arrays), "watched": self.watched}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "arrays", state["arrays"])
        object.__setattr__(self, "watched", state["watched"])
        self.__post_init__()

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def __repr__(self) -> str:
        names = ", ".join(f"{name}{list(a.shape[2:]) or ''}" for name, a in self.arrays.items())
        return f"Draws({self.n_chains} chains of {self.n_draws} draws: {names})"

    @property
    def n_chains(self) -> int:
        """The number of chains."""
        return int(next(iter(self.arrays.values())).shape[0])

    @property
    def n_draws(self) -> int:
        """The number of draws of each chain."""
        return int(next(iter(self.arrays.values())).shape[1])

    def stacked(self, name: str) -> NDArray[Any]:
        """Return the draws of all chains, one after the other, shape (chains * draws, ...)."""
        array = self.arrays[name]
        return array.reshape(self.n_chains * self.n_draws, *array.shape[2:])

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """R-hat (rank-normalised, split), bulk and tail effective sample sizes."""
        columns = [
            self.arrays[name].reshape(self.n_chains, self.n_draws, -1) for name in self.watched
        ]
        labels = [
            name + "".join(f"[{i}]" for i in index)
            for name in self.watched
            for index in np.ndindex(self.arrays[name].shape[2:])
        ]
        each = [_diagnosed(column) for block in columns for column in np.moveaxis(block, 2, 0)]
        table = np.array(each).reshape(-1, 3)
        return Diagnostics(tuple(labels), table[:, 0], table[:, 1], table[:, 2])

    def to_arviz(self) -> Any:
        """Return the draws as a DataTree with the group "posterior", as ArviZ has them."""
        return library("arviz_base").from_dict({"posterior": dict(self.arrays)})


def _diagnosed(values: NDArray[Any]) -> tuple[float, float, float]:
    """Return R-hat, bulk and tail effective sample size of one quantity, shape (chains, draws)."""
    if values.shape[1] < _FEWEST_DRAWS or np.all(values == values[0, 0]):
        return np.nan, np.nan, np.nan
    if np.all(values == values[:, :1]):  # each chain stays where it began
        return np.inf, float(values.shape[0]), float(values.shape[0])
    stats = library("arviz_stats.base").array_stats
    doubles = values.astype(np.float64)
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = float(stats.rhat(doubles, method="rank", **axes))
        bulk = float(stats.ess(doubles, method="bulk", **axes))
        tail = float(stats.ess(doubles, method="tail", prob=_TAILS, **axes))
    # A tail that is a single value, as of few labels, has no effective sample size of its own.
    return r_hat, bulk, tail if np.isfinite(tail) else bulk


def library(name: str) -> Any:
    """Return a module of the extra ``latent``; where it is missing, say how to install it."""
    package = name.split(".")[0]
    if find_spec(package) is None:
        raise ImportError(
            f'Markov chains need {package.replace("_", "-")}: pip install "unselected[latent]"'
        )
    return import_module(name)


@dataclass(frozen=True)
class ChainSettings:
    """The number of chains, their length, and their seed.

    Attributes
    ----------
    n_chains, n_draws, n_warmup : int
        Each chain makes ``n_warmup`` draws that are discarded, then ``n_draws`` that are recorded.
    seed : int or tuple of int
        The same seed gives the same draws, however often it is used.
    progress : bool
        Show a bar on stderr.
    """

    n_chains: int = 4
    n_draws: int = 1000
    n_warmup: int = 1000
    seed: int | tuple[int, ...] = 0
    progress: bool = False

    @property
    def n_steps(self) -> int:
        """The number of states of all chains, warm-up included."""
        return self.n_chains * (self.n_warmup + self.n_draws)


def run_chains(
    start: Start[S],
    step: Step[S],
    record: Record[S],
    settings: ChainSettings,
    *,
    watched: tuple[str, ...],
    thin: int = 1,
) -> Draws:
    """Run chains one after the other, and return their draws once all are done.

    Each chain has a generator of its own, spawned from the seed. So a chain's draws do not depend
    on the other chains, and the same seed gives the same draws.

    Parameters
    ----------
    start : callable
        ``start(chain, rng)`` returns the initial state of a chain. Initial states should be
        overdispersed.
    step : callable
        ``step(state, rng)`` returns the next state. It may change the state that it is given.
    record : callable
        ``record(state)`` returns the named values to record of a state; they are copied.
    settings : ChainSettings
    watched : tuple of str
        Names of the values that are diagnosed.
    thin : int
        Steps from one recorded state to the next.

    Examples
    --------
    >>> draws = run_chains(
    ...     lambda chain, rng: 10.0 * chain,
    ...     lambda x, rng: 0.5 * x + rng.normal(),
    ...     lambda x: {"x": x},
    ...     ChainSettings(n_chains=2, n_draws=3, n_warmup=10),
    ...     watched=("x",),
    ... )
    >>> draws
    Draws(2 chains of 3 draws: x)
    """
    if find_spec("arviz_stats") is None:  # fail before the chains run, not after
        library("arviz_stats")
    children = np.random.SeedSequence(settings.seed).spawn(settings.n_chains)
    generators = [np.random.default_rng(child) for child in children]
    chains: list[list[dict[str, NDArray[Any]]]] = []
    n_warmup = settings.n_warmup
    with _bar(settings) as bar:
        for chain, rng in enumerate(generators):
            state, records = start(chain, rng), []
            for i in range(n_warmup + settings.n_draws):
                for _ in range(thin if i >= n_warmup else 1):
                    state = step(state, rng)
                if i >= n_warmup:
                    records.append({k: np.array(v) for k, v in record(state).items()})
                if bar is not None:
                    bar.update()
            chains.append(records)
    names = chains[0][0]
    arrays = {
        name: np.array([[one[name] for one in records] for records in chains]) for name in names
    }
    return Draws(arrays, watched)


def _bar(settings: ChainSettings) -> Any:
    """Return a progress bar, or a context without one."""
    if not settings.progress:
        return nullcontext()
    return library("tqdm").tqdm(total=settings.n_steps, unit=" draws", smoothing=0)
