"""What docs/guide/scale.md tells users to run does run."""

import re
import shlex
from functools import partial
from pathlib import Path

import bed_reader
import numpy as np
import pytest
import zarr
from dask import distributed

from unselected import SelectiveBernoulliNB
from unselected.cli import main

DOCS = Path(__file__).parent.parent / "docs" / "guide" / "scale.md"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCS.read_text(), flags=re.S | re.M)


@pytest.fixture
def case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(40, 150), dtype=np.uint8), np.arange(40) % 2
    np.save("status.npy", y)
    Path("phenotype.csv").write_text("\n".join(["status", *map(str, y.tolist())]) + "\n")
    for name in ("genotypes", "new"):
        array = zarr.create_array(f"{name}.zarr", shape=X.shape, chunks=(17, 60), dtype=X.dtype)
        array[:] = X
        bed_reader.to_bed(f"{name}.bed", X.astype(np.float32))
    return X, y


def test_the_example_for_one_machine(case):
    X, y = case
    (code,) = (code for code in blocks("python") if "open_columns" in code)
    there = {"y": y}
    exec(code.replace("\nmodel.predict_proba", "\nanswer = model.predict_proba"), there)
    plain = SelectiveBernoulliNB(k=100).fit(X, y)
    np.testing.assert_array_equal(there["answer"], plain.predict_proba(X))


@pytest.mark.usefixtures("case")
def test_the_commands():
    (commands,) = blocks("sh")
    for line in commands.splitlines():
        assert main(shlex.split(line)[1:]) == 0
    assert len(Path("predictions.csv").read_text().splitlines()) == 41


@pytest.mark.slow
def test_the_example_for_a_cluster(case, capsys, monkeypatch):
    """As a script, but for the workers: these are threads here, and processes in other tests."""
    X, y = case
    (code,) = (code for code in blocks("python") if "persist()" in code)
    here = partial(distributed.LocalCluster, processes=False, dashboard_address=None)
    monkeypatch.setattr(distributed, "LocalCluster", here)
    exec(code, {"__name__": "imported by a worker"})
    assert capsys.readouterr().out == ""
    exec(code, {"__name__": "__main__"})
    plain = SelectiveBernoulliNB(k=100).fit(X, y)
    assert capsys.readouterr().out == f"{plain.selection_}\n{plain.predict_proba(X)[:5]}\n"


def test_the_names_in_the_example_for_experiments():
    """The experiments themselves run on a cluster in the tests of dask arrays."""
    (code,) = (code for code in blocks("python") if "joblib" in code)
    imports, calls = code.split("with ")
    exec(imports, {})
    assert set(re.findall(r"(\w+)\(", calls)) >= {"compare", "simulation", "colon"}
