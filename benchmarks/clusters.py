"""Dask arrays that lie on two workers of this machine, against the same array in memory."""

from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from timing import report, seconds, two_classes

from unselected import SelectiveBernoulliNB


def bench_cluster(p: int, repetitions: int) -> None:
    """Fit where the chunks are: by columns, and by rows and columns; the result is the same."""
    n, y = 200, two_classes(200)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        made = da.random.default_rng(0).integers(
            0, 2, size=(n, p), dtype=np.uint8, chunks=(n, -(-p // 8))
        )
        table = client.persist(made)
        X = table.compute()
        bench_chunks("8 chunks of columns", table, X, y, repetitions)
        table = client.persist(table.rechunk((n // 4, -(-p // 2))))
        bench_chunks("4 x 2 chunks of rows and columns", table, X, y, repetitions)


def bench_chunks(how: str, table: Any, X: Any, y: Any, repetitions: int) -> None:
    """Print a row for an array in such chunks."""
    wait(table)
    model, plain = SelectiveBernoulliNB(k=100), SelectiveBernoulliNB(k=100)
    there, here = seconds(
        lambda: model.fit(table, y), lambda: plain.fit(X, y), repetitions=repetitions
    )
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    few = X[:10]
    np.testing.assert_array_equal(model.predict_log_proba(few), plain.predict_log_proba(few))
    report(f"p = {X.shape[1]}, dask, 2 workers, {how}", there, here, there / here, "under 2")
