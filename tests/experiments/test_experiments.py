"""The experiments: right numbers, the same from any number of jobs, and after any interruption."""

import subprocess
import sys
import time
import warnings
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import brier_score_loss, log_loss

from unselected import (
    SelectiveBernoulliNB,
    SelectiveFactorClassifier,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
)
from unselected.experiments import (
    ColonData,
    ColonRecord,
    SimulationRecord,
    colon,
    compare_with_published,
    load_colon,
    paired_tests,
    simulation,
    simulation_data,
)
from unselected.experiments.colon import normalized
from unselected.experiments.published import TABLE
from unselected.files.checkpoints import CheckpointError

SMALL = {"ks": (2, 20), "n_features": 120, "n_train": 30, "n_test": 40, "concentration": 20.0}
COLON = Path(__file__).parents[3] / "shared" / "data" / "colon.csv.gz"
needs_colon = pytest.mark.skipif(
    not COLON.exists(), reason="the colon data are not beside this checkout"
)


def without_time(records):
    return [{**asdict(record), "seconds": None} for record in records]


# The simulation


def test_simulation_records_are_what_the_estimator_gives():
    records = simulation(2, **SMALL, seed=3)
    assert [(r.replicate, r.k, r.method) for r in records[:5]] == [
        (0, 2, "corrected"),
        (0, 2, "uncorrected"),
        (0, 20, "corrected"),
        (0, 20, "uncorrected"),
        (0, 120, "complete"),
    ]
    sizes = {name: SMALL[name] for name in SMALL if name != "ks"}
    data = simulation_data(1, **sizes, seed=3)
    model = SelectiveBernoulliNB(k=20).fit(data.X_train, data.y_train)
    p = model.predict_proba(data.X_test)[:, 1]
    record = next(r for r in records if (r.replicate, r.k, r.method) == (1, 20, "corrected"))
    assert record.threshold == model.threshold_
    assert record.actual_error == pytest.approx(1 - model.score(data.X_test, data.y_test))
    assert record.expected_error == pytest.approx(model.expected_error(data.X_test))
    assert record.log_loss == pytest.approx(log_loss(data.y_test, p))
    assert record.squared_error == pytest.approx(brier_score_loss(data.y_test, p))
    assert sum(row["count"] for row in record.table) == 40
    np.testing.assert_allclose(np.exp(record.log_concentration), model.concentration_)
    assert record.concentration_weights == model.concentration_weights_.tolist()
    assert record.seconds > 0
    complete = records[4]
    assert complete.threshold is None


@pytest.mark.slow
def test_neither_jobs_nor_the_number_of_replicates_change_a_number():
    alone = simulation(1, **SMALL, seed=5)
    two = simulation(2, **SMALL, seed=5, n_jobs=2)
    assert without_time(two[:5]) == without_time(alone)
    assert without_time(two[5:10]) != without_time(alone)
    assert without_time(simulation(1, **SMALL, seed=6)) != without_time(alone)


@pytest.mark.slow
def test_an_interrupted_run_continues_and_ends_with_the_same_numbers(tmp_path):
    """Killed for good in the middle, and started again with the same arguments."""
    path = tmp_path / "run.jsonl"
    small = {**SMALL, "ks": (2,), "n_features": 40, "n_test": 10}
    call = f"simulation(4, **{small}, seed=7, checkpoint={str(path)!r})"
    code = f"from unselected.experiments import simulation; {call}"
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.exists() or path.read_bytes().count(b"\n") < 3):
        time.sleep(0.005)
    process.kill()
    process.wait()
    finished = path.read_bytes().count(b"\n") - 1
    assert 1 <= finished
    before = path.read_bytes()
    continued = simulation(4, **small, seed=7, checkpoint=str(path))
    assert path.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    assert without_time(continued) == without_time(simulation(4, **small, seed=7))
    # what was finished was not computed again: even its seconds are those of the first run
    again = simulation(4, **small, seed=7, checkpoint=str(path))
    assert [asdict(r) for r in again] == [asdict(r) for r in continued]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = str(tmp_path / "run.jsonl")
    simulation(1, **SMALL, seed=1, checkpoint=path)
    with pytest.raises(CheckpointError, match="seed"):
        simulation(1, **SMALL, seed=2, checkpoint=path)
    with pytest.raises(CheckpointError, match="concentration"):
        simulation(1, **{**SMALL, "concentration": 21.0}, seed=1, checkpoint=path)
    more = simulation(2, **SMALL, seed=1, checkpoint=path)
    assert len(more) == 10


def test_progress_goes_to_stderr_only(capsys):
    simulation(1, ks=(2,), complete=False, n_features=50, n_train=20, n_test=20, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "1/1" in err


def test_published_table_adds_up():
    """2000 test cases in every column of the paper's table."""
    for cells in TABLE.values():
        assert sum(count for count, _, _ in cells.values()) == 2000


def a_record(replicate, threshold, count, prediction, fraction):
    row = {"low": 0.0, "high": 0.1, "count": 0, "mean_prediction": None, "actual_fraction": None}
    table = [dict(row) for _ in range(10)]
    table[4] = {**row, "count": count, "mean_prediction": prediction, "actual_fraction": fraction}
    numbers = dict.fromkeys(("actual_error", "expected_error", "log_loss", "squared_error"), 0.0)
    return SimulationRecord(
        replicate, 1, "corrected", threshold, **numbers, seconds=0.0, table=table,
        log_concentration=[], concentration_weights=[],
    )  # fmt: skip


def test_comparison_with_the_published_figures():
    records = [a_record(0, 0.33, 1200, 0.44, 0.45), a_record(1, 0.37, 1500, 0.45, 0.455)]
    rows = {(row.k, row.method, row.what): row for row in compare_with_published(records)}
    gamma = rows[1, "corrected", "smallest kept correlation"]
    assert (gamma.published, gamma.low, gamma.high, gamma.inside) == (0.36, 0.33, 0.37, True)
    assert rows[1, "corrected", "count in 0.4-0.5"].inside
    assert rows[1, "corrected", "mean prediction in 0.4-0.5"].inside
    fraction = rows[1, "corrected", "actual fraction in 0.4-0.5"]
    assert (fraction.published, fraction.inside) == (0.461, False)
    nobody = rows[1, "corrected", "mean prediction in 0.6-0.7"]
    assert (nobody.low, nobody.n_replicates, nobody.inside) == (None, 0, False)


# The colon data


@pytest.mark.slow
def test_colon_leaves_each_case_out_of_selection_and_cuts():
    rng = np.random.default_rng(0)
    data = ColonData(rng.lognormal(size=(14, 40)), np.arange(14) % 2)
    records = colon(data, n_groups=2, k=2, seed=4)
    assert [(r.partition, r.group, r.method) for r in records[:3]] == [
        (0, 0, "corrected"),
        (0, 0, "uncorrected"),
        (0, 1, "corrected"),
    ]
    genes = np.array_split(np.random.default_rng([4, 0]).permutation(40), 2)[0]
    X = normalized(data.X)[:, genes]
    ties = np.random.SeedSequence(4).spawn(2)[0].generate_state(14)
    for case in (0, 7, 13):
        others = np.arange(14) != case
        model = SelectiveBernoulliNB(k=2, ties="random", random_state=int(ties[case]))
        model.fit(X[others], data.y[others])
        expected = model.predict_proba(X[[case]])[0, 1]
        assert records[0].probability[case] == pytest.approx(expected, abs=1e-12)
        assert records[0].thresholds[case] == model.threshold_
    assert records[0].y == data.y.tolist()


@pytest.mark.slow
def test_colon_with_the_values_of_the_genes():
    rng = np.random.default_rng(0)
    data = ColonData(rng.lognormal(size=(14, 40)), np.arange(14) % 2)
    records = colon(data, n_groups=2, k=2, seed=4, features="real")
    genes = np.array_split(np.random.default_rng([4, 0]).permutation(40), 2)[0]
    X, others = normalized(data.X)[:, genes], np.arange(14) != 3
    for record in records[:2]:
        model = SelectiveGaussianNB(k=2, correct_selection=record.method == "corrected")
        model.fit(X[others], data.y[others])
        assert record.probability[3] == pytest.approx(model.predict_proba(X[[3]])[0, 1], abs=1e-12)
    with pytest.raises(ValueError, match="grid for binary features"):
        colon(data, n_groups=2, k=2, features="real", quadrature="paper")
    with pytest.raises(ValueError, match="features='both' is not one of"):
        colon(data, n_groups=2, k=2, features="both")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("features", "make"),
    [("binary", SelectiveMixtureClassifier), ("real", SelectiveFactorClassifier)],
)
def test_colon_with_latent_variables(features, make):
    rng = np.random.default_rng(0)
    data = ColonData(rng.lognormal(size=(6, 12)), np.arange(6) % 2)
    records = colon(data, n_groups=2, k=2, seed=4, features=features, model="latent", n_draws=6)
    genes = np.array_split(np.random.default_rng([4, 0]).permutation(12), 2)[0]
    X, others = normalized(data.X)[:, genes], np.arange(6) != 3
    seed = np.random.SeedSequence(4).spawn(2)[0].generate_state(6)[3]
    model = make(k=2, ties="random", n_chains=2, n_draws=6, n_warmup=3, random_state=int(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[others], data.y[others])
    expected = model.predict_proba(X[[3]])[0, 1]
    assert records[0].probability[3] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="for the model 'naive' alone"):
        colon(data, n_groups=2, k=2, model="latent", dependence="tempered")
    with pytest.raises(ValueError, match="model='some' is not one of"):
        colon(data, n_groups=2, k=2, model="some")
    with pytest.raises(ValueError, match="n_draws=6 is for the model 'latent' alone"):
        colon(data, n_groups=2, k=2, n_draws=6)


def test_normalized_rows_have_mean_0_and_sd_1():
    X = normalized(np.random.default_rng(0).lognormal(size=(5, 50)))
    np.testing.assert_allclose(X.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=1, ddof=1), 1)


def colon_record(group, method, loss):
    return ColonRecord(0, group, method, 0.2, 0.1, loss, loss / 2, [], [], [])


def test_paired_tests_are_scipys():
    corrected, uncorrected = [0.5, 0.6, 0.7], [0.6, 0.8, 0.65]
    records = [colon_record(g, "corrected", loss) for g, loss in enumerate(corrected)]
    records += [colon_record(g, "uncorrected", loss) for g, loss in enumerate(uncorrected)]
    tests = {test.score: test for test in paired_tests(records)}
    assert tests["log_loss"].p_value == pytest.approx(ttest_rel(corrected, uncorrected).pvalue)
    assert (tests["log_loss"].n_better, tests["log_loss"].n_groups) == (2, 3)
    assert tests["actual_error"].p_value is None


def test_colon_data_are_checked(tmp_path, monkeypatch):
    path = tmp_path / "other.csv"
    path.write_text("class,a,b\nx,1,2\ny,3,4\n")
    with pytest.raises(ValueError, match="has 2 rows, 2 genes and classes"):
        load_colon(str(path))

    def unreachable(**_):
        raise OSError("no route to host")

    module = import_module("unselected.experiments.colon")
    monkeypatch.setattr(module, "_DEVELOPMENT_DATA", tmp_path / "none")
    monkeypatch.setattr(module, "fetch_openml", unreachable)
    with pytest.raises(ConnectionError, match=r"45087.*cannot be fetched.*give the path"):
        load_colon()


@pytest.mark.slow
@needs_colon
def test_colon_with_real_features_gains_as_much():
    """Two groups of genes; `make validate` has all ten, and the figures of another program."""
    whole = load_colon()
    few = ColonData(whole.X[:, :400], whole.y)
    records = colon(few, n_groups=2, seed=0, features="real")
    tests = {test.score: test for test in paired_tests(records)}
    assert tests["log_loss"].n_better == 2
    corrected, uncorrected = (
        np.mean([r.expected_error for r in records if r.method == method])
        for method in ("corrected", "uncorrected")
    )
    assert uncorrected < corrected < np.mean([r.actual_error for r in records])


@pytest.mark.slow
@needs_colon
def test_colon_shows_what_the_paper_says():
    """Two groups of genes: corrected better in log probability, less overconfident.

    `unselected reproduce colon` does all ten.
    """
    whole = load_colon()
    assert whole.X.shape == (62, 2000)
    records = colon(ColonData(whole.X[:, :400], whole.y), n_groups=2, seed=0, quadrature="paper")
    tests = {test.score: test for test in paired_tests(records)}
    assert tests["log_loss"].n_better == 2
    thresholds = np.concatenate([r.thresholds for r in records if r.method == "corrected"])
    assert 0.45 < thresholds.mean() < 0.55
    corrected, uncorrected = (
        np.mean([r.expected_error for r in records if r.method == method])
        for method in ("corrected", "uncorrected")
    )
    actual = np.mean([r.actual_error for r in records])
    assert 0.15 < actual < 0.23
    assert uncorrected < corrected < actual
