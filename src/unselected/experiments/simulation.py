"""Section 4 of the paper: simulated data, five numbers of kept features, three methods."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from unselected.calibration import (
    actual_error,
    average_minus_log_probability,
    average_squared_error,
    decile_table,
    expected_error,
)
from unselected.datasets import PaperSimulation, make_paper_simulation
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.experiments.replicates import run_replicates

Method = Literal["corrected", "uncorrected", "complete"]

# The columns of the paper's calibration table.
_COLUMNS = ("low", "high", "count", "mean_prediction", "actual_fraction")


@dataclass(frozen=True)
class SimulationRecord:
    """What one method does with one number of kept features on one simulated data set.

    ``threshold`` is the smallest kept correlation (None for "complete"); ``seconds`` the time of
    fit and prediction; ``table`` the ten categories of the paper's calibration table;
    ``log_concentration`` and ``concentration_weights`` the posterior of log(alpha).
    """

    replicate: int
    k: int
    method: Method
    threshold: float | None
    actual_error: float
    expected_error: float
    log_loss: float
    squared_error: float
    seconds: float
    table: list[dict[str, Any]]
    log_concentration: list[float]
    concentration_weights: list[float]


def simulation(
    n_replicates: int = 1,
    *,
    ks: Sequence[int] = (1, 10, 100, 1000),
    complete: bool = True,
    n_features: int = 10_000,
    n_train: int = 200,
    n_test: int = 2000,
    concentration: float = 300.0,
    quadrature: Literal["exact", "paper"] = "exact",
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
) -> list[SimulationRecord]:
    """Repeat the simulation of the paper's section 4.

    Parameters
    ----------
    n_replicates : int
        Number of simulated data sets; the paper has one.
    ks : sequence of int
        Numbers of kept features, each with and without correction.
    complete : bool
        Also use all features, where there is nothing to correct.
    n_features, n_train, n_test, concentration
        The paper's values by default.
    quadrature : {"exact", "paper"}
    seed, n_jobs, checkpoint, progress
        See `run_replicates`: the numbers depend on the seed alone, but for the seconds.

    Returns
    -------
    records : list of SimulationRecord

    Examples
    --------
    >>> records = simulation(ks=[5], complete=False, n_features=200, n_train=40, n_test=50, seed=1)
    >>> [(record.k, record.method) for record in records]
    [(5, 'corrected'), (5, 'uncorrected')]
    """
    settings = {
        "experiment": "simulation",
        "ks": list(ks),
        "complete": complete,
        "n_train": n_train,
        "n_test": n_test,
        "n_features": n_features,
        "concentration": concentration,
        "quadrature": quadrature,
    }
    work = partial(_simulate_once, settings=settings)
    return run_replicates(
        work,
        n_replicates,
        SimulationRecord,
        seed=seed,
        settings=settings,
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        progress=progress,
        unit="data set",
    )


def simulation_data(
    replicate: int = 0,
    *,
    n_features: int = 10_000,
    n_train: int = 200,
    n_test: int = 2000,
    concentration: float = 300.0,
    seed: int = 0,
) -> PaperSimulation:
    """Return the data of one replicate of `simulation`, for figures of the features."""
    own = np.random.SeedSequence(seed).spawn(replicate + 1)[replicate]
    rng = np.random.default_rng(own)
    return make_paper_simulation(
        n_train, n_test, n_features, concentration=concentration, random_state=rng
    )


def _simulate_once(
    replicate: int, seed: np.random.SeedSequence, *, settings: dict[str, Any]
) -> list[SimulationRecord]:
    sizes = {name: settings[name] for name in ("n_train", "n_test", "n_features", "concentration")}
    data = make_paper_simulation(**sizes, random_state=np.random.default_rng(seed))
    runs: list[tuple[int, Method]] = []
    for k in settings["ks"]:
        runs += [(k, "corrected"), (k, "uncorrected")]
    if settings["complete"]:
        runs.append((settings["n_features"], "complete"))
    return [_fit_once(replicate, k, method, data, settings["quadrature"]) for k, method in runs]


def _fit_once(
    replicate: int,
    k: int,
    method: Method,
    data: PaperSimulation,
    quadrature: Literal["exact", "paper"],
) -> SimulationRecord:
    model = SelectiveBernoulliNB(
        k=None if method == "complete" else k,
        correct_selection=method == "corrected",
        quadrature=quadrature,
    )
    start = time.perf_counter()
    probability = model.fit(data.X_train, data.y_train).predict_proba(data.X_test)[:, 1]
    seconds = time.perf_counter() - start
    return SimulationRecord(
        replicate=replicate,
        k=k,
        method=method,
        threshold=model.threshold_,
        **scores(data.y_test, probability),
        seconds=seconds,
        table=[
            {name: getattr(row, name) for name in _COLUMNS}
            for row in decile_table(data.y_test, probability)
        ],
        log_concentration=np.log(model.concentration_).tolist(),
        concentration_weights=model.concentration_weights_.tolist(),
    )


def scores(y: Any, probability: Any) -> dict[str, float]:
    """Return the four numbers by which the paper judges probabilities."""
    return {
        "actual_error": actual_error(y, probability),
        "expected_error": expected_error(probability),
        "log_loss": average_minus_log_probability(y, probability),
        "squared_error": average_squared_error(y, probability),
    }
