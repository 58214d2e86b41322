"""Long runs: seeded replicates in parallel, with progress, that can be killed and continued."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from unselected.files.checkpoints import Checkpoints

try:
    from tqdm import tqdm
except ImportError as error:  # pragma: no cover - tested in a subprocess
    raise ImportError(
        'experiments show their progress with tqdm: pip install "unselected[experiments]"'
    ) from error

R = TypeVar("R")


def run_replicates(
    work: Callable[[int, np.random.SeedSequence], list[R]],
    n_replicates: int,
    record: type[R],
    *,
    seed: int,
    settings: Mapping[str, Any],
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
    unit: str = "replicate",
) -> list[R]:
    """Run ``work(replicate, seed)`` for each replicate, and return all records in order.

    Each replicate has a seed of its own, spawned from ``seed``, so neither the number of jobs nor
    an interruption changes a number. With ``checkpoint``, the path of a file, finished
    replicates are written there as they finish; called again with the same settings, the run
    continues.

    Parameters
    ----------
    work : callable
        Returns records. With several jobs it runs in other processes.
    record : type
        The dataclass of the records, with fields of plain JSON types.
    settings : mapping
        What the numbers depend on, apart from the number of replicates. A checkpoint made with
        other settings is refused.
    """
    if n_replicates < 1:
        raise ValueError(f"{n_replicates} {unit}s give no numbers: there must be at least 1.")
    seeds = np.random.SeedSequence(seed).spawn(n_replicates)
    store = Checkpoints(checkpoint, {**settings, "seed": seed}) if checkpoint else None
    finished = {
        r: found for r, found in (store.finished() if store else {}).items() if r < n_replicates
    }
    done = {replicate: found["records"] for replicate, found in finished.items()}
    left = [replicate for replicate in range(n_replicates) if replicate not in done]
    tasks = (delayed(_numbered)(work, replicate, seeds[replicate]) for replicate in left)
    results = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    with tqdm(total=n_replicates, initial=len(done), unit=unit, disable=not progress) as bar:
        for replicate, records in results:
            if store:
                store.add(replicate, {"records": records})
            done[replicate] = records
            bar.update()
    return [record(**found) for replicate in range(n_replicates) for found in done[replicate]]


def _numbered(
    work: Callable[[int, np.random.SeedSequence], list[Any]],
    replicate: int,
    seed: np.random.SeedSequence,
) -> tuple[int, list[dict[str, Any]]]:
    return replicate, [asdict(record) for record in work(replicate, seed)]
