"""Dask arrays give what plain arrays give and stay where they are; experiments run on clusters."""

import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace

import cloudpickle
import dask
import dask.array as da
import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.columns.dask import DaskColumns
from unselected.columns.sources import SourceError
from unselected.experiments import ColonData, colon, compare, simulation

# Workers cannot import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

N, P = 40, 60
ESTIMATORS = [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]
CHUNKS = {
    "one chunk": (N, P),
    "by columns": (N, 17),
    "by rows": (9, P),
    "by rows and columns": (9, 17),
    "one row": (1, P),
    "few values": (13, 1),
}


def bits(seed, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 2)
    X = rng.random((N, P)) < rng.random(P) * (1 + 0.5 * y[:, None]) * 0.5
    X[:, 7], X[:, 8], X[:, 50] = 0, 1, X[:, 10]
    return X.astype(dtype), y


def reals(seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % 3)
    X = 10 * (rng.normal(size=(N, P)) + 0.5 * rng.normal(size=(3, P))[y])
    X[:, 4], X[:, 50] = 2, X[:, 10]
    return X.astype(dtype), y


def case_for(estimator, seed, dtype=None):
    if estimator is SelectiveBernoulliNB:
        return bits(seed, dtype or np.uint8)
    X, y = reals(seed, dtype or np.float64)
    return X, (y + 0.1 * X[:, 10] if estimator is SelectiveNaiveRegressor else y)


def assert_same(model, plain, table, X):
    """Every attribute that a fit leaves, and what is predicted, to the last bit."""
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    assert str(model.selection_) == str(plain.selection_)
    assert model.selection_.event.n_omitted == plain.selection_.event.n_omitted
    fitted = [name for name in vars(plain) if name.endswith("_")]
    for name in set(fitted) - {"selection_"}:
        np.testing.assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(plain, method):
            predicted = getattr(model, method)(table)
            assert type(predicted) is np.ndarray
            np.testing.assert_array_equal(predicted, getattr(plain, method)(X))


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("dtype", [np.uint8, bool, np.float32])
def test_bits_are_counted_alike_to_the_last_bit(chunks, dtype, seed):
    X, y = bits(seed, dtype)
    table = da.from_array(X, chunks=CHUNKS[chunks])
    plain = SelectiveBernoulliNB(k=9).fit(X, y)
    assert_same(SelectiveBernoulliNB(k=9).fit(table, y), plain, table, X)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(
    ("binarize", "dtype"),
    [("auto", np.uint8), ("auto", np.float32), ("median", np.uint8), (2.5, np.float32)],
)
def test_other_numbers_are_cut_at_the_same_places(chunks, binarize, dtype, seed):
    """Columns of 0 and 1 stand among the others, so that some chunks need medians and some not."""
    X, y = bits(seed, dtype)
    counts = np.random.default_rng(seed).poisson(2.0, size=(N, 15))
    X[:, 3:6], X[:, 40:52] = counts[:, :3], counts[:, 3:]
    table = da.from_array(X, chunks=CHUNKS[chunks])
    model = SelectiveBernoulliNB(k=9, always_keep=[4, 30, 45], binarize=binarize)
    plain = clone(model).fit(X, y)
    assert np.unique(plain.binarize_thresholds_).size > 1 or binarize == 2.5
    assert_same(model.fit(table, y), plain, table, X)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(
    ("dtype", "missing"),
    [(np.int64, False), (np.float32, False), (np.float64, True)],
)
@pytest.mark.parametrize("estimator", [SelectiveGaussianNB, SelectiveNaiveRegressor])
def test_real_values_are_summed_alike_to_the_last_bit(estimator, missing, dtype, chunks, seed):
    X, y = case_for(estimator, seed, dtype)
    if missing:
        X[3, 20] = X[0, 21] = X[5, 59] = np.nan
    table = da.from_array(X, chunks=CHUNKS[chunks])
    assert_same(estimator(k=9).fit(table, y), estimator(k=9).fit(X, y), table, X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_dask_response_is_computed(estimator, seed):
    X, y = case_for(estimator, seed)
    table, plain = da.from_array(X, chunks=(9, 17)), estimator(k=9).fit(X, y)
    response = da.from_array(y, chunks=7)
    assert_same(estimator(k=9).fit(table, response), plain, table, X)
    assert_same(estimator(k=9).fit(X, response), plain, X, X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_filters_leave_is_taken(estimator, seed):
    """Empty chunks, and chunks of unknown size once they are counted."""
    X, y = case_for(estimator, seed)
    wide = np.hstack([X[:, :30], np.ones_like(X[:, :5]), X[:, 30:]])
    tall = np.vstack([np.ones_like(wide[:10]), wide])
    table = da.from_array(tall, chunks=(5, 5))
    table = table[:, np.r_[:30, 35:65]]
    unknown = table[da.from_array(np.arange(N + 10) >= 10, chunks=5)]
    with pytest.raises(ValueError, match=r"call X\.compute_chunk_sizes\(\) first"):
        estimator(k=9).fit(unknown, y)
    table = unknown.compute_chunk_sizes()
    assert 0 in table.chunks[0]
    assert_same(estimator(k=9).fit(table, y), estimator(k=9).fit(X, y), table, X)


def test_arrays_cut_by_rows_are_not_put_in_one_piece():
    source = DaskColumns(da.zeros((N, P), chunks=(1, P)))
    with dask.config.set({"array.chunk-size": f"{N * 8 * 10}B"}):
        whole = source.with_whole_columns()
    assert whole.has_whole_columns
    assert len(whole.column_chunks) == P // 10


@pytest.mark.parametrize("chunks", ["by columns", "by rows and columns", "one row"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_errors_name_the_column_and_the_row_of_the_whole(estimator, chunks, seed):
    X, y = case_for(estimator, seed, np.float64)
    table = da.from_array(X, chunks=CHUNKS[chunks])
    fresh, fitted = estimator(k=9), estimator(k=9).fit(table, y)
    before = fitted.predict(X)
    column = int(fitted.selection_.indices[-1])
    fine, X = X, X.copy()
    X[31, column] = np.inf
    table = da.from_array(X, chunks=CHUNKS[chunks])
    for use in (
        lambda: fresh.fit(table, y),
        lambda: fitted.fit(table, y),
        lambda: fitted.predict(table),
    ):
        with pytest.raises(ValueError, match=rf"^column {column} has infinity in row 31"):
            use()
    assert not [name for name in vars(fresh) if name.endswith("_")]
    np.testing.assert_array_equal(fitted.predict(fine), before)


def test_only_zero_and_one_where_nothing_else_is_allowed(seed):
    X, y = bits(seed)
    X[35, 44] = 2
    with pytest.raises(ValueError, match=r"^column 44 has the value 2 in row 35"):
        SelectiveBernoulliNB(k=9, binarize=None).fit(da.from_array(X, chunks=(9, 17)), y)


def test_arrays_that_cannot_be_used(seed):
    X, y = bits(seed)
    model = SelectiveBernoulliNB(k=3)
    for table, error, message in [
        (da.from_array(X[0]), ValueError, "of 1 dimensions"),
        (da.from_array(X.astype("U1")), TypeError, "of <U1, which are not numbers"),
        (da.zeros((N, 0)), ValueError, r"of shape \(40, 0\)"),
        (da.from_array(X[:-1]), ValueError, "inconsistent numbers of samples"),
        (shrunk(X), SourceError, "rows 0 to 40 and columns 0 to 60 is ndarray of shape"),
    ]:
        with pytest.raises(error, match=message):
            model.fit(table, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="has 59 columns, but SelectiveBernoulliNB was fitted"):
        model.predict(da.from_array(X[:, 1:]))
    with pytest.raises(TypeError, match=r"pass X\.compute\(\)"):
        compare(da.from_array(X), y, k=3)


def shrunk(X):
    """An array that says it has the shape of X, and has not."""
    return da.from_delayed(dask.delayed(X[:-1]), shape=X.shape, dtype=X.dtype)


def test_prediction_computes_the_chunks_of_kept_columns_only(seed):
    X, y = bits(seed)
    model, computed = SelectiveBernoulliNB(k=4).fit(X, y), []

    def noted(column):
        computed.append(column)
        return X[:, [column]]

    parts = [da.from_delayed(dask.delayed(noted)(j), (N, 1), X.dtype) for j in range(P)]
    for use in (model.predict, model.transform):
        computed.clear()
        use(da.concatenate(parts, axis=1))
        assert sorted(computed) == model.selection_.indices.tolist()


def test_dask_is_imported_by_nobody_else_and_distributed_by_nobody():
    code = """
import sys
sys.modules["distributed"] = None  # importing it is an error
import numpy as np
from unselected import SelectiveGaussianNB
X, y = np.random.default_rng(0).normal(size=(20, 5)), np.arange(20) % 2
plain = SelectiveGaussianNB(k=2).fit(X, y)
assert "dask" not in sys.modules
import dask.array as da
model = SelectiveGaussianNB(k=2).fit(da.from_array(X, chunks=(7, 2)), y)
assert (model.predict_proba(X) == plain.predict_proba(X)).all()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# A cluster of two processes


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def from_workers(tmp_path):
    """Dask arrays whose chunks are read from a file by the workers."""

    def make(X, chunks, before=None):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, X)

        def read(block, block_info):
            (top, _), (left, _) = where = block_info[None]["array-location"]
            if before is not None:
                before(top, left)
            rows, columns = (slice(*ends) for ends in where)
            return np.load(path, mmap_mode="r")[rows, columns] + block

        return da.zeros(X.shape, dtype=X.dtype, chunks=chunks).map_blocks(read, dtype=X.dtype)

    return make


@pytest.mark.slow
@pytest.mark.parametrize("chunks", ["by columns", "by rows and columns"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.usefixtures("client")
def test_a_cluster_gives_the_same(estimator, chunks, from_workers, seed):
    X, y = case_for(estimator, seed)
    table = from_workers(X, CHUNKS[chunks])
    assert_same(estimator(k=9).fit(table, y), estimator(k=9).fit(X, y), table, X)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.usefixtures("client")
def test_errors_come_from_workers(estimator, from_workers, seed):
    X, y = case_for(estimator, seed, np.float64)
    X[31, 44] = np.inf
    with pytest.raises(ValueError, match=r"^column 44 has infinity in row 31"):
        estimator(k=9).fit(from_workers(X, (9, 17)), y)


@pytest.fixture
def gathered(client, monkeypatch):
    """The sizes in bytes of what comes to the client."""
    sizes, gather = [], client.gather

    def noted(*args, **kwargs):
        results = gather(*args, **kwargs)
        sizes.append(len(pickle.dumps(results)))
        return results

    monkeypatch.setattr(client, "gather", noted)
    return sizes


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 4000])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_only_sums_travel(estimator, n, from_workers, gathered, seed, tmp_path):
    """What comes to the client is as large as the columns are many, however many the rows."""
    X, y = case_for(estimator, seed)
    X, y = np.tile(X, (n // N, 10)), np.tile(y, n // N)

    def note_the_process(row, column):
        (tmp_path / f"{row} {column} {os.getpid()}.made").touch()

    estimator(k=9).fit(from_workers(X, (n // 4, 100), note_the_process), y)
    assert len(gathered) == 1
    assert gathered[0] < 80 * X.shape[1] + 20_000
    made = [path.stem.split() for path in tmp_path.glob("*.made")]
    assert len(made) == 4 * 6  # each chunk once
    assert str(os.getpid()) not in {pid for _, _, pid in made}
    gathered.clear()
    from_workers(X, (n // 4, 100)).compute()  # the twin that does gather
    assert gathered[0] >= X.nbytes


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [SelectiveGaussianNB])
@pytest.mark.usefixtures("client")
def test_a_killed_worker_does_not_lose_the_fit(estimator, from_workers, seed, tmp_path):
    X, y = case_for(estimator, seed)
    killed = tmp_path / "killed"

    def kill_once(row, column):
        if (row, column) == (9, 34) and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    table = from_workers(X, (9, 17), kill_once)
    model = estimator(k=9).fit(table, y)
    assert killed.exists()
    assert_same(model, estimator(k=9).fit(X, y), X, X)


def simulate():
    sizes = {"n_features": 20, "n_train": 10, "n_test": 10, "concentration": 20.0}
    return [replace(record, seconds=0.0) for record in simulation(2, ks=(2,), **sizes, seed=5)]


def leave_out_in_groups():
    data = ColonData(np.random.default_rng(0).lognormal(size=(8, 12)), np.arange(8) % 2)
    return colon(data, n_groups=3, k=2, seed=4)


def compare_methods():
    X, y = bits(0)
    return compare(X, y, k=4, n_splits=2, n_repeats=2, methods=["corrected", "uncorrected"])


def cross_validate():
    return cross_val_predict(SelectiveGaussianNB(k=4), *reals(0), cv=3).tolist()


def finished(dask_scheduler):
    """The tasks that workers have finished of late."""
    log = dask_scheduler.transition_log
    return {key for key, *change, _, _, _ in log if change == ["processing", "memory"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "experiment", [simulate, leave_out_in_groups, compare_methods, cross_validate]
)
def test_experiments_run_where_joblib_is_told_to(experiment, client):
    alone = experiment()
    client.wait_for_workers(2)  # one may have been killed; with a single one joblib stays at home
    before = client.run_on_scheduler(finished)
    with joblib.parallel_config("dask"):
        there = experiment()
    assert there == alone
    assert client.run_on_scheduler(finished) - before
