"""The probability that all omitted features are omitted, under a model of your own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unselected.condition.column_store import LogDensity
from unselected.condition.features import (
    Columns,
    FeatureSource,
    Parameters,
    Score,
    SimulateFeature,
)
from unselected.condition.injections import Injections, SelectedColumns, Summarize
from unselected.condition.lattice import Estimator, Lattice, OutsideLatticeError
from unselected.condition.records import Diagnosis, DrawsCheck, Estimate, Gate, LogEvent
from unselected.condition.simulation import Simulation


class SelectionProbability:
    """The event of a selection under any model, by simulation.

    Features are independent given the parameters, so that the event that ``n_omitted`` features
    are omitted has the log probability ``n_omitted * log(1 - P(selected | parameters))``. A feature
    is selected when its score is above the threshold. When the k features with the largest scores
    were kept, the threshold is the smallest score of these.

    With ``log_density``, features are simulated once at some references, and reweighted to any
    parameters. References with strong effects, at which many features are selected, make that
    precise. Without it, features are simulated at each parameters anew, from the same random
    numbers; or at the nodes of a lattice of one or two parameters, and interpolated.

    Parameters
    ----------
    simulate_feature : callable
        ``simulate_feature(parameters, n, rng)`` draws n features from the model, given the y of
        the training cases, and returns an array of shape (cases, n). What a feature has of its own,
        such as its effect, is drawn here. What features share is in the parameters: a mapping of
        names to numbers or arrays, which may hold latent variables of the cases.
    score : callable
        ``score(X, y)`` returns the scores of the columns of X, shape (n,).
    threshold : float
        A feature is selected when its score is above it.
    y : array of shape (cases, ...)
        The responses of the training cases, passed on to ``score``.
    log_density : callable or None
        ``log_density(columns, parameters)``, shape (n,): the log density of whole columns, with
        all factors that depend on the parameters.
    summarize : callable or None
        ``summarize(columns, y)``, shape (numbers, n): what ``log_density`` needs of the columns,
        such as sums by class, where that is less than the columns. It must be sufficient for the
        parameters.
    references : sequence of parameters or None
        Where features are simulated, with ``log_density``. By default at the parameters of the
        first call. More are added where the gate fails.
    lattice : mapping of one or two names to increasing nodes, or None
        Interpolate P over these parameters, which must be all.
    seed : int
        Of the simulated features.
    tolerance : float
        The largest standard error of the log event. Features are added until it holds.
    min_effective : float
        The smallest effective sample size of the selected features.
    n_draws : int
        Features simulated at each reference, or at each call, to begin with.
    max_draws : int
        The most features simulated, in all or at each call.
    max_bytes : int
        The most bytes that the kept columns take.

    Examples
    --------
    Features with class means ``tau * N(0, 1)`` apart, selected by the difference of the means.

    >>> y = np.repeat([0, 1], 10)
    >>> def simulate_feature(parameters, n, rng):
    ...     effect = parameters["tau"] * rng.normal(size=n)
    ...     return rng.normal(size=(20, n)) + np.outer(y - 0.5, effect)
    >>> def score(X, y):
    ...     return abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    >>> def summarize(X, y):  # all that depends on tau
    ...     return (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))[np.newaxis]
    >>> def log_density(columns, parameters):  # N(0, tau^2 + 1/10 + 1/10)
    ...     variance = parameters["tau"] ** 2 + 0.2
    ...     return -0.5 * columns[0] ** 2 / variance - 0.5 * np.log(variance)
    >>> omission = SelectionProbability(
    ...     simulate_feature, score, 1.5, y=y, log_density=log_density, summarize=summarize,
    ...     references=[{"tau": 0.3}, {"tau": 2.0}],
    ... )
    >>> log_event, se = omission.log_event({"tau": 0.5}, n_omitted=200)
    >>> round(log_event), se < 0.1  # exactly -5.135
    (-5, True)
    """

    def __init__(
        self,
        simulate_feature: SimulateFeature,
        score: Score,
        threshold: float,
        *,
        y: ArrayLike,
        log_density: LogDensity | None = None,
        summarize: Summarize | None = None,
        references: Sequence[Parameters] | None = None,
        lattice: Mapping[str, ArrayLike] | None = None,
        seed: int = 0,
        tolerance: float = 0.1,
        min_effective: float = 50.0,
        n_draws: int = 1 << 14,
        max_draws: int = 1 << 22,
        max_bytes: int = 1 << 29,
    ) -> None:
        _check_sizes(tolerance, min_effective, n_draws, max_draws)
        if log_density is None and (references is not None or summarize is not None):
            raise ValueError("references and summarize need log_density")
        self.tolerance, self.min_effective = tolerance, min_effective
        self._log_density = log_density
        source = FeatureSource(simulate_feature, score, threshold, y, seed, n_draws)
        self._injections: Injections | None = None
        inner: Estimator = Simulation(source, n_draws, max_draws)
        if log_density is not None:
            inner = self._injections = Injections(
                source,
                log_density,
                summarize,
                references or [],
                n_draws=n_draws,
                max_draws=max_draws,
                max_bytes=max_bytes,
            )
        self._lattice = None if lattice is None else Lattice(inner, lattice)
        self._estimator = self._lattice or inner
        self._names = list(lattice or (references or [{}])[0])

    def log_event(self, parameters: Parameters, n_omitted: int) -> LogEvent:
        """Return the log probability that ``n_omitted`` features are omitted, and its error.

        Features are added until the standard error is at most the tolerance. Values of earlier
        calls then change, within their errors. `prepare` adds them beforehand.

        Raises
        ------
        ImpreciseEventError
            Where the tolerance would need more features than allowed. It says how many.
        """
        gate = self._gate(n_omitted)
        if n_omitted == 0:
            return LogEvent(0.0, 0.0)
        known = Diagnosis.of(self._improved(self._estimator.estimate, parameters, gate), gate)
        return LogEvent(known.log_event, known.log_event_se)

    def _improved(
        self, estimate: Callable[[Parameters], Estimate], parameters: Parameters, gate: Gate
    ) -> Estimate:
        """Return an estimate that passes the gate, with more features where it has to."""
        known = estimate(parameters)
        while not gate.passes(known):
            self._estimator.improve(parameters, known, gate)
            known = estimate(parameters)
        return known

    def diagnose(self, parameters: Parameters, n_omitted: int = 1) -> Diagnosis:
        """Return what the features simulated so far say; no more are added, but the first ones."""
        return Diagnosis.of(self._estimator.estimate(parameters), self._gate(n_omitted))

    def prepare(self, draws: Mapping[str, ArrayLike], n_omitted: int) -> None:
        """Add features until the gate holds at each of these parameters, such as posterior draws.

        It then holds for the kept columns alone, which is what samplers have. ``draws`` maps each
        name to an array whose first axis is the draws.
        """
        gate = self._gate(n_omitted)
        for parameters in self._each(draws):
            self._improved(self._estimator.stored_estimate, parameters, gate)

    def check(
        self, draws: Mapping[str, ArrayLike], n_omitted: int, *, at_most: int = 200
    ) -> DrawsCheck:
        """Return whether the gate held over posterior draws, of which some are looked at.

        It is about what a sampler computes, from kept columns or splines. Features simulated at
        the draws themselves say how far off that is.

        Parameters
        ----------
        draws : mapping
            Of each name to an array whose first axis is the draws. Others than those of the
            references or of the lattice are ignored.
        n_omitted : int
        at_most : int
            So many draws are looked at, evenly spaced.
        """
        every = self._each(draws)
        places = np.unique(np.linspace(0, len(every) - 1, min(at_most, len(every))).astype(int))
        known = {int(i): self._diagnosed(every[i], n_omitted) for i in places}
        inside = [each for each in known.values() if each is not None]
        failed = [i for i, each in known.items() if each is None or not each.reliable]
        return DrawsCheck(
            n_checked=len(known),
            n_failed=len(failed),
            n_outside=len(known) - len(inside),
            largest_se=max((each.log_event_se for each in inside), default=np.inf),
            least_effective_draws=min((each.effective_draws for each in inside), default=0.0),
            failed=tuple(failed),
        )

    def _diagnosed(self, parameters: Parameters, n_omitted: int) -> Diagnosis | None:
        """Return what a sampler computes there, or None outside of the lattice."""
        try:
            known = self._estimator.stored_estimate(parameters)
        except OutsideLatticeError:
            return None
        return Diagnosis.of(known, self._gate(n_omitted))

    def export(self) -> dict[str, Any]:
        """Return log P(omitted) as cubics over the nodes of a lattice of one parameter.

        Returns
        -------
        exported : dict
            Of JSON types: ``parameter`` is its name, ``nodes`` has K + 1 increasing values,
            ``coefficients`` K rows (a, b, c, d), and ``se`` the standard error of log P(omitted) at
            the nodes. Between nodes i and i + 1, log P(omitted) is
            a + b t + c t^2 + d t^3 with t = x - nodes[i].
        """
        if self._lattice is None:
            raise ValueError("export needs a lattice of one parameter")
        return self._lattice.export()

    @property
    def has_lattice(self) -> bool:
        """Whether P is interpolated over a lattice."""
        return self._lattice is not None

    def selected_columns(self) -> SelectedColumns:
        """Return the selected columns and their log weights, which samplers reweight.

        P(selected | parameters) is the sum of ``exp(log_weights + log_density(columns,
        parameters))``.
        """
        if self._injections is None:
            raise ValueError("a sampler needs log_density, or a lattice of one parameter")
        return self._injections.selected_columns()

    def log_density(self, columns: Columns, parameters: Parameters) -> Any:
        """Return the log density of columns, as the function that was given computes it."""
        if self._log_density is None:
            raise ValueError("no log_density was given")
        return self._log_density(columns, parameters)

    def _gate(self, n_omitted: int) -> Gate:
        if n_omitted != int(n_omitted) or n_omitted < 0:
            raise ValueError(f"n_omitted must be a number of features, not {n_omitted!r}")
        return Gate(int(n_omitted), self.tolerance, self.min_effective)

    def _each(self, draws: Mapping[str, ArrayLike]) -> list[dict[str, Any]]:
        """Return the parameters of each draw."""
        names = self._names or list(draws)
        missing = [name for name in names if name not in draws]
        if missing:
            raise ValueError(f"draws have no {missing[0]!r}; they have {', '.join(draws)}")
        arrays = {name: np.asarray(draws[name]) for name in names}
        sizes = {name: len(values) if values.ndim else 0 for name, values in arrays.items()}
        if len(set(sizes.values())) != 1 or 0 in sizes.values():
            raise ValueError(f"draws must have a first axis of equal length: {sizes}")
        n = next(iter(sizes.values()))
        return [{name: values[i] for name, values in arrays.items()} for i in range(n)]


def _check_sizes(tolerance: float, min_effective: float, n_draws: int, max_draws: int) -> None:
    for name, value in (("tolerance", tolerance), ("min_effective", min_effective)):
        if not value > 0.0:
            raise ValueError(f"{name} must be above 0, not {value!r}")
    if not 2 <= n_draws <= max_draws:
        raise ValueError(f"n_draws must be from 2 to max_draws = {max_draws}, not {n_draws}")
