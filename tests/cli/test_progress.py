"""How far a pass over the columns of a file has come is told, and changes nothing."""

import re
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
    open_columns,
)
from unselected.cli import fitting, main, options, progress
from unselected.cli.options import patience
from unselected.cli.progress import (
    WatchedColumns,
    expected_seconds,
    n_fits_of_ours,
    n_jobs_of,
    showing_fits,
    showing_progress,
    showing_steps,
)
from unselected.columns import blocks as columns_module
from unselected.columns.sources import ColumnSource, SourceError, SparseColumns
from unselected.experiments.folds import on_fold

N, P = 30, 90
ESTIMATORS = [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor]


@pytest.fixture(autouse=True)
def narrow_blocks(monkeypatch):
    """A few columns are read at a time."""

    def blocks(_, p):
        return [slice(start, min(start + 7, p)) for start in range(0, p, 7)]

    monkeypatch.setattr(columns_module, "_blocks_of", blocks)


@pytest.fixture
def case(tmp_path, seed, monkeypatch):
    """A folder with X.npy and y.csv; values 0 and 1, which all models take."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(N, P)).astype(np.float32)
    y = rng.permutation(np.arange(N) % 2)
    np.save("X.npy", X)
    Path("y.csv").write_text("\n".join(["y", *map(str, y.tolist())]) + "\n")
    return X, y


@pytest.fixture
def terminal(monkeypatch):
    """Somebody watches stderr."""
    for module in (options, progress):
        monkeypatch.setattr(module, "on_terminal", lambda: True)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_column_is_told_once_and_results_are_the_same(estimator, case):
    X, y = case
    told = []
    source = open_columns("X.npy")
    watched = WatchedColumns(source, told.append)
    assert (watched.shape, watched.dtype) == ((N, P), X.dtype)
    assert (watched.origin, watched.width) == (source.origin, source.width)
    assert watched.names is source.names
    model, plain = estimator(k=5).fit(watched, y), estimator(k=5).fit(X, y)
    assert sum(told) == P
    assert len(told) > 10
    np.testing.assert_array_equal(model.selection_.indices, plain.selection_.indices)
    np.testing.assert_array_equal(model.predict(watched), plain.predict(X))
    assert sum(told) == P  # single columns are no part of a pass


def test_one_thread_at_a_time_tells(case):
    """A sum that forgets what another thread adds in the meantime."""
    _, y = case
    total = 0

    def add(width):
        nonlocal total
        before = total
        time.sleep(0.002)
        total = before + width

    SelectiveBernoulliNB(k=5).fit(WatchedColumns(open_columns("X.npy"), add), y)
    assert total == P


def test_what_cannot_be_read_is_said_once(case):
    X, _ = case
    watched = WatchedColumns(open_columns("X.npy"), lambda _: pytest.fail("nothing was read"))
    np.save("X.npy", X[:-1])
    with pytest.raises(SourceError, match=r"^X\.npy: columns 0 to 4 cannot be read: the file has"):
        _ = watched[:, 0:4]


@pytest.mark.usefixtures("case", "terminal")
def test_a_bar_is_shown_of_what_takes_long_and_closed_at_errors(capsys):
    source = open_columns("X.npy")
    with showing_progress(source, "fitting", after=0.0) as X:
        for start in range(0, P, 30):
            _ = X[:, start : start + 30]
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"fitting: 100%.* 90\.0/90\.0 ", err)
    assert err.endswith("\n")
    with suppress(KeyError), showing_progress(source, "fitting", after=0.0) as X:
        _ = X[:, :30]
        raise KeyError
    err = capsys.readouterr().err
    assert re.search(r"fitting:  33%.* 30\.0/90\.0 ", err)
    assert err.endswith("\n")
    with showing_progress(source, "fitting") as X:
        _ = X[:, :P]
    assert capsys.readouterr().err == ""  # it was quick


@pytest.mark.parametrize("X", [np.eye(4), SparseColumns(sparse.csr_array(np.eye(4)))])
def test_what_is_in_memory_is_passed_on_as_it_is(X, capsys):
    with showing_progress(X, "fitting", after=0.05) as table:
        assert table is X
        time.sleep(0.3)
    assert "fitting: 0 s" in capsys.readouterr().err


@pytest.mark.usefixtures("case", "terminal")
def test_the_command_shows_it(capsys, monkeypatch):
    fit = ("fit", "X.npy", "--target", "y.csv:y", "--k", "5", "--force", "-o", "m.json")
    fit += ("--model", "gaussian")
    assert main(fit) == 0
    plain = Path("m.json").read_text()
    assert "%" not in capsys.readouterr().err
    monkeypatch.setattr(fitting, "showing_progress", partial(showing_progress, after=0.0))
    assert main(fit) == 0
    answer = capsys.readouterr()
    assert re.search(r"fitting: 100%.* 90\.0/90\.0 ", answer.err)
    assert "%" not in answer.out
    assert without_date(Path("m.json").read_text()) == without_date(plain)


def without_date(text):
    return re.sub(r'"created": *"[^"]*"', "", text)


def test_an_error_of_the_command_stands_on_a_line_of_its_own(case, capsys, monkeypatch):
    monkeypatch.setattr(fitting, "showing_progress", partial(showing_progress, after=0.0))
    X, _ = case
    X[3, 50] = np.inf
    np.save("X.npy", X)
    fit = ("fit", "X.npy", "--target", "y.csv:y", "--k", "5", "-o", "m.json")
    assert main([*fit, "--model", "gaussian"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("unselected: column 50 has infinity in row 3")
    assert not Path("m.json").exists()


def test_a_source_is_watched_through_its_own_way_of_reading():
    class Counting(ColumnSource):
        shape, dtype = (2, 3), np.dtype(np.uint8)

        def _read(self, columns):
            return np.zeros((2, 3), dtype=np.uint8)[:, columns]

    told = []
    watched = WatchedColumns(Counting(), told.append)
    with pytest.raises(IndexError, match="take all of its rows"):
        _ = watched[:1, :]
    assert watched._read(np.array([2])).shape == (2, 1)
    assert told == []


@pytest.mark.usefixtures("case")
def test_a_file_gets_no_bar(capsys):
    with showing_progress(open_columns("X.npy"), "fitting", after=0.05) as X:
        assert not isinstance(X, WatchedColumns)
        time.sleep(0.2)
    assert capsys.readouterr().err == "fitting: 0 s\n"


def test_seconds_are_counted_on_a_terminal_and_told_once_elsewhere(capsys, monkeypatch):
    with patience("fitting", after=0.05):
        time.sleep(0.2)
    assert capsys.readouterr().err == "fitting: 0 s\n"
    monkeypatch.setattr(options, "on_terminal", lambda: True)
    with patience("fitting", after=0.05):
        time.sleep(0.2)
    assert capsys.readouterr().err == "\rfitting: 0 s\n"


CV = ("cv", "t.csv", "--target", "y", "--k", "1", "--repeats", "1", "--method", "corrected")


def test_cross_validation_shows_no_bar_in_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 2},{i // 2 % 2},{i // 3 % 2}" for i in range(20)]
    Path("t.csv").write_text("\n".join(["y,a,b", *rows]) + "\n")
    assert main(CV) == 0
    err = capsys.readouterr().err
    assert "\r" not in err
    assert "%" not in err
    monkeypatch.setattr(progress, "on_terminal", lambda: True)
    assert main([*CV, "--model", "bernoulli"]) == 0
    assert "1/1" in capsys.readouterr().err


def test_fits_of_an_average_are_counted(monkeypatch, capsys):
    monkeypatch.setattr("unselected.cli.progress.on_terminal", lambda: True)
    rng = np.random.default_rng(0)
    with showing_steps(after=0.0):
        SelectiveClassifier(k=5).fit(rng.normal(size=(30, 20)), np.arange(30) % 2)
    assert re.search(r"fitting: 100%.* (\d+)/\1 ", capsys.readouterr().err)
    with showing_steps(after=0.0):
        SelectiveRegressor(k=5).fit(rng.normal(size=(30, 20)), rng.normal(size=30))
    assert re.search(r"fitting: 100%.* (\d+)/\1 ", capsys.readouterr().err)
    with showing_steps(after=0.0):
        pass
    SelectiveClassifier(k=5).fit(rng.normal(size=(30, 20)), np.arange(30) % 2)
    assert "100%" not in capsys.readouterr().err


def test_fits_of_a_cross_validation_are_counted(monkeypatch, capsys):
    monkeypatch.setattr("unselected.cli.progress.on_terminal", lambda: True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 20)), np.arange(30) % 2
    with showing_fits("classifier", 4, after=0.0) as own_bar:
        assert not own_bar
        for _ in range(3):
            SelectiveClassifier(k=5).fit(X, y)
    assert re.search(r"cross-validating:  75%.* 3/4 ", capsys.readouterr().err)
    with showing_fits("regressor", 2, after=0.0) as own_bar:
        assert not own_bar
        SelectiveRegressor(k=5).fit(X, X[:, 0])
    assert re.search(r"cross-validating:  50%.* 1/2 ", capsys.readouterr().err)
    with showing_fits("gaussian", 4) as own_bar:
        assert own_bar
    monkeypatch.setattr("unselected.cli.progress.on_terminal", lambda: False)
    with showing_fits("classifier", 4) as own_bar:
        assert not own_bar
    assert "%" not in capsys.readouterr().err


def test_fits_in_other_processes_are_counted_with_those_of_all_methods(monkeypatch, capsys):
    monkeypatch.setattr("unselected.cli.progress.on_terminal", lambda: True)
    with showing_fits("classifier", 4, jobs=2, after=0.0) as own_bar:
        assert not own_bar
        SelectiveClassifier(k=2).fit(np.random.default_rng(0).normal(size=(30, 5)), [0, 1] * 15)
        assert "%" not in capsys.readouterr().err
        for _ in range(8):
            on_fold.get()(9)
    assert re.search(r"cross-validating:  90%.* 9/10 ", capsys.readouterr().err)
    with showing_fits("classifier", 4, after=0.0):
        on_fold.get()(9)
    assert "0/4" in capsys.readouterr().err


def test_all_processors_are_used_where_that_pays(monkeypatch):
    monkeypatch.setattr("unselected.cli.progress.cpu_count", lambda: 3)
    assert n_jobs_of(None, "classifier", 500_000, 1) == 3
    assert n_jobs_of(2, "classifier", 500_000, 1) == 2
    assert n_jobs_of(None, "classifier", 500_000, 4) == 1  # repetitions are not counted elsewhere
    assert n_jobs_of(None, "classifier", 5_000, 1) == 1
    assert n_jobs_of(None, "gaussian", 500_000, 1) == 1


def test_the_fits_of_ours_are_counted_before_they_start():
    assert n_fits_of_ours("classifier", (), covariates=False) == 1
    assert n_fits_of_ours("gaussian", (), covariates=True) == 3
    assert n_fits_of_ours("regressor", ("corrected", "lasso"), covariates=False) == 1
    assert n_fits_of_ours("regressor", ("lasso",), covariates=False) == 0


def test_a_report_says_beforehand_how_long_it_will_take(tmp_path, monkeypatch, capsys):
    assert expected_seconds(10.0, 5, 5, 0) == 50.0
    assert expected_seconds(10.0, 5, 5, 500_000) > 60.0
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(30) % 2, rng.normal(size=(30, 6)).round(3)])
    header = ",".join(["class", *(f"g{j}" for j in range(6))])
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header=header, comments="", fmt="%g")
    monkeypatch.setattr("unselected.cli.reporting.expected_seconds", lambda *_: 75.4)
    page = str(tmp_path / "page.html")
    asked = ["--target", "class", "--model", "gaussian", "--k", "2", "--method", "corrected"]
    assert main(["report", str(tmp_path / "t.csv"), *asked, "--splits", "2", "-o", page]) == 0
    assert "cross-validating all methods will take about 75 s" in capsys.readouterr().err
