"""Genotypes in the shell: tables of 0, 1 and 2, and PLINK files."""

import csv
import json

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.cli import main

N, P, K = 20, 25, 2


@pytest.fixture
def cases(tmp_path, monkeypatch):
    """A folder with genotypes in a table, in two PLINK files, and the classes of the cases."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.array(["case", "control"])[np.arange(N) % 2]
    strong = 0.5 * np.outer(y == "case", np.arange(P) == 0)
    X = rng.binomial(2, np.clip(rng.beta(1, 2, P) + strong, 0, 1)).astype(float)
    X[rng.random(X.shape) < 0.02] = np.nan
    names = [f"rs{j}" for j in range(P)]
    with open("train.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["status", *names])
        for label, row in zip(y, X, strict=True):
            table.writerow([label, *("" if np.isnan(x) else int(x) for x in row)])
    return X, y, names


def probabilities(path):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    (column,) = (name for name in rows[0] if name.endswith("control"))
    return np.array([float(row[column]) for row in rows])


ASKED = ("--target", "status", "--family", "genotype", "--k", str(K))


def test_a_table_is_fitted_predicted_and_inspected(cases, capsys):
    X, y, names = cases
    assert main(["fit", "train.csv", *ASKED, "-o", "m.json"]) == 0
    assert "model: bernoulli (--family genotype)" in capsys.readouterr().err
    model = SelectiveBernoulliNB(k=K, family="genotype").fit(X, y)
    assert main(["predict", "m.json", "train.csv", "-o", "p.csv"]) == 0
    np.testing.assert_allclose(probabilities("p.csv"), model.predict_proba(X)[:, 1], atol=1e-6)
    capsys.readouterr()
    assert main(["inspect", "m.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "genotype"
    kept = {names[j] for j in model.selection_.indices}
    assert {one["name"] for one in told["features"]} == kept
    assert main(["inspect", "m.json", "--effects"]) == 0
    text = capsys.readouterr().out
    assert "copies in case" in text
    assert "log_odds_ratio" in text


def test_plink_files_are_read_as_genotypes_when_asked(cases):
    bed_reader = pytest.importorskip("bed_reader")
    X, y, names = cases
    bed_reader.to_bed("train.bed", X.astype(np.float32), properties={"sid": names})
    asked = ("--target", "train.csv:status", "--k", str(K))
    presence = np.where(np.isnan(X), X, X > 0)
    genotypes, bits = SelectiveBernoulliNB(k=K, family="genotype"), SelectiveBernoulliNB(k=K)
    for options, model, values in (
        (("--family", "genotype"), genotypes, X),
        (("--family", "genotype", "--model", "bernoulli"), genotypes, X),
        (("--model", "bernoulli"), bits, presence),
    ):
        assert main(["fit", "train.bed", *asked, *options, "-o", "m.json", "--force"]) == 0
        assert main(["predict", "m.json", "train.bed", "-o", "p.csv", "--force"]) == 0
        expected = model.fit(values, y).predict_proba(values)[:, 1]
        np.testing.assert_allclose(probabilities("p.csv"), expected, atol=1e-6)


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "gaussian"), "--family genotype is for features of 0, 1 and 2, and not"),
        (("--model", "classifier"), "--family genotype is not available for the model classifier"),
        (("--model", "mixture"), "--family genotype is not available for the model mixture"),
        (("--covariates", "rs3"), "--family genotype does not adjust for covariates: use --model"),
    ],
)
def test_what_does_not_go_together_is_said(arguments, message, capsys):
    assert main(["fit", "train.csv", *ASKED, *arguments, "-o", "m.json"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("cases")
def test_other_values_are_named(capsys):
    with open("train.csv") as file:
        text = file.read()
    with open("bad.csv", "w") as file:
        file.write(text.replace("\ncase,", "\ncase,7", 1))
    assert main(["fit", "bad.csv", *ASKED, "-o", "m.json"]) == 1
    said = capsys.readouterr().err
    assert "rs0" in said
    assert "--family genotype takes only 0, 1 and 2" in said


@pytest.mark.slow
@pytest.mark.usefixtures("cases", "no_pictures")
def test_the_report_speaks_of_copies():
    few = ("--k", "2", "--splits", "2", "--repeats", "1", "--method", "corrected")
    assert main(["report", "train.csv", *ASKED[:4], *few, "-o", "report.html"]) == 0
    with open("report.html", encoding="utf-8") as file:
        assert "copies in control" in file.read()


@pytest.mark.usefixtures("cases")
def test_cross_validation_compares_with_methods_that_see_the_numbers(capsys):
    few = ("--splits", "2", "--repeats", "1", "--json")
    methods = ("--method", "corrected", "--method", "SelectKBest + GaussianNB")
    assert main(["cv", "train.csv", *ASKED, *few, *methods]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["method"] for row in rows] == ["corrected", "SelectKBest + GaussianNB"]
