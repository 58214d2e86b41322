"""--covariates from the first command to the last, where they are read from, and errors."""

import contextlib
import io
import json
from contextlib import redirect_stderr, redirect_stdout

import h5py
import numpy as np
import pytest

from unselected import SelectiveGaussianNB
from unselected.cli import main
from unselected.fitted.covariate_coding import CovariateCoding, CovariateTable

N = 40
RNG = np.random.default_rng(17)
X = RNG.standard_normal((N, 4)).round(3)
Y = np.where(np.arange(N) % 2, "yes", "no")
COVARIATES = {
    "age": RNG.integers(20, 80, N).astype(float),
    "sex": np.where(RNG.random(N) < 0.5, "male", "female"),
    "batch": np.where(np.arange(N) % 3, "1", "b2"),
}
CODING = CovariateCoding.learn(CovariateTable.read(COVARIATES))
NAMES = tuple(COVARIATES)
PAPER = ("--k", 2, "--model", "gaussian", "--force")


def call(*arguments, cwd):
    """Return exit code, stdout and stderr of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


def write(path, columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables with the same cases, and models with and without covariates."""
    path = tmp_path_factory.mktemp("covariates")
    features = {f"g{j}": X[:, j] for j in range(4)}
    write(path / "train.csv", {"class": Y, **features, **COVARIATES})
    write(path / "features.csv", {"class": Y, **features})
    write(path / "phenotype.csv", {"class": Y, **COVARIATES})
    write(path / "few.csv", {name: values[:5] for name, values in COVARIATES.items()})
    np.save(path / "X.npy", X)
    with h5py.File(path / "X.h5ad", "w") as file:
        file["X"] = X
        file.create_group("var")["_index"] = list(features)
        obs = file.create_group("obs")
        for name, values in COVARIATES.items():
            obs[name] = values.astype(object) if name != "age" else values
    for table, more in (("features.csv", ()), ("train.csv", ("--covariates", *NAMES))):
        output = ("-o", "adjusted.json" if more else "plain.json")
        fit = ("fit", table, "--target", "class", *PAPER, *output, *more)
        assert call(*fit, cwd=path)[0] == 0
    return path


def model_of(folder, name="adjusted.json"):
    return json.loads((folder / name).read_text())


def probabilities_in(out):
    return [float(line.split(",")[1]) for line in out.splitlines()[1:]]


@pytest.fixture(scope="module")
def in_python():
    """The same model, fitted in Python."""
    return SelectiveGaussianNB(k=2).fit(X, Y, covariates=COVARIATES)


@pytest.mark.parametrize(
    ("table", "target", "options"),
    [
        ("train.csv", "class", ("age", "sex", "batch")),
        ("train.csv", "class", ("age", "--covariates", "sex", "batch", "age")),
        ("features.csv", "class", [f"phenotype.csv:{name}" for name in NAMES]),
        ("X.npy", "phenotype.csv:class", [f"phenotype.csv:{name}" for name in NAMES]),
        ("X.h5ad", "phenotype.csv:class", ("age", "sex", "batch")),
    ],
)
def test_fit_reads_covariates_from_its_table_or_from_another(
    folder, in_python, table, target, options
):
    more = ("--covariates", *options, *PAPER, "--json", "-o", "other.json")
    code, out, err = call("fit", table, "--target", target, *more, cwd=folder)
    assert code == 0, err
    assert "40 cases, 4 features, covariates age, sex, batch, seed 0" in err
    assert json.loads(out)["covariates"] == list(NAMES)
    model = model_of(folder, "other.json")
    assert model["coding"] == CODING.to_json()
    assert [int(name[-1]) for name in model["names"]] == in_python.selection_.indices.tolist()
    np.testing.assert_allclose(model["selection"]["scores"], in_python.scores_, rtol=1e-12)


def test_without_covariates_nothing_is_said_of_them(folder):
    model = model_of(folder, "plain.json")
    assert "coding" not in model
    assert (model["kind"], model_of(folder)["kind"]) == ("gaussian", "adjusted gaussian")
    for more in ((), ("--json",), ("--effects",)):
        out = call("inspect", "plain.json", *more, cwd=folder)[1]
        assert "covariate" not in out
        assert "adjusted" not in out


def test_groups_and_covariates_go_together(folder):
    groups = np.repeat([f"p{i}" for i in range(20)], 2)
    features = {f"g{j}": X[:, j] for j in range(4)}
    write(folder / "grouped.csv", {"class": Y, "patient": groups, **features})
    more = ("--groups", "patient", "--covariates", "phenotype.csv:age", "-o", "other.json")
    options = ("--force", "--k", 1, "--prior", "common", "--dependence", "none")
    code, _, err = call("fit", "grouped.csv", "--target", "class", *more, *options, cwd=folder)
    assert code == 0, err
    assert "40 cases, 4 features, covariates age" in err
    assert model_of(folder, "other.json")["kind"] == "classifier"


PHENOTYPE = ("--covariates", "phenotype.csv:age")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train.csv", "--covariates", "age", "weight"), "missing: 'weight'. There are: 'class'"),
        (("train.csv", "--covariates", "class"), "'class' is wanted for two purposes"),
        (("train.csv", "--covariates", "sex"), "column 'batch' has 'b2' in row 2, which is no num"),
        (
            ("train.csv", "--covariates", "age", "sex", "batch", "--always-keep", "age"),
            "--always-keep age: it is a covariate",
        ),
        (("features.csv", *PHENOTYPE, "sex"), "all covariates must be columns of one table"),
        (("features.csv", "--covariates", "few.csv:age"), "few.csv has 5 cases, but features.csv"),
        (("X.npy", "--covariates", "age"), "X.npy holds features only: the covariates age must"),
        (("X.h5ad", "--covariates", "weight"), "X.h5ad: 1 of the 1 covariates that are needed"),
        (
            ("features.csv", *PHENOTYPE, "--model", "factor"),
            "--covariates is not available for the model factor, which has latent variables",
        ),
    ],
)
def test_options_that_do_not_go_are_named(folder, arguments, message):
    table, *more = arguments
    target = "class" if table.endswith("csv") else "phenotype.csv:class"
    code, _, err = call("fit", table, "--target", target, *more, "--force", cwd=folder)
    assert code == 1
    assert message in err


# --- predictions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("train.csv", ()),
        ("features.csv", ("--covariates", "phenotype.csv")),
        ("X.h5ad", ()),
        ("X.h5ad", ("--covariates", "phenotype.csv")),
    ],
)
def test_predict_finds_the_covariates_of_its_model(folder, in_python, table, options):
    code, out, err = call("predict", "adjusted.json", table, *options, cwd=folder)
    assert code == 0, err
    expected = in_python.predict_proba(X, covariates=COVARIATES)[:, 1]
    np.testing.assert_allclose(probabilities_in(out), expected, rtol=1e-9)
    others = COVARIATES | {"age": COVARIATES["age"][::-1]}
    assert np.abs(in_python.predict_proba(X, covariates=others)[:, 1] - expected).max() > 1e-3


def new_cases(folder, columns):
    """Write two cases with these columns in place of good ones."""
    new = {name: [0.5, 1.5] for name in model_of(folder)["names"]}
    new |= {"batch": [1, 1], "sex": ["male", "male"], "age": [30, 40]}
    write(folder / "new.csv", {name: v for name, v in (new | columns).items() if v is not None})
    return call("predict", "adjusted.json", "new.csv", cwd=folder)


def test_levels_of_the_model_are_levels_in_new_cases_that_look_like_numbers(folder):
    code, out, err = new_cases(folder, {})
    assert code == 0, err
    assert probabilities_in(out) != probabilities_in(new_cases(folder, {"batch": ["b2", 1]})[1])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sex": None, "batch": None}, "2 of the 3 covariates that are needed are missing: 'sex'"),
        ({"batch": ["1", "b7"]}, "'batch' has 'b7' in row 3, but only the levels '1', 'b2' in"),
        ({"age": [30, "NA"]}, "new.csv: the covariate 'age' is missing in row 3 ('NA' stands"),
        ({"age": [30, "old"]}, "'age' has 'old' in row 3, but numbers in the training cases"),
    ],
)
def test_predict_names_what_is_wrong_with_covariates(folder, columns, message):
    code, _, err = new_cases(folder, columns)
    assert code == 1
    assert message in err


def test_predict_says_what_to_do_where_a_file_holds_features_only(folder):
    # Features are found by number, so that the model has to have numbers for names.
    (folder / "numbers.json").write_text(json.dumps(model_of(folder) | {"names": ["0", "1"]}))
    code, _, err = call("predict", "numbers.json", "X.npy", cwd=folder)
    assert code == 1
    assert "X.npy holds features only: the covariates age, sex, batch must come from" in err
    options = ("X.npy", "--covariates", "phenotype.csv")
    assert call("predict", "numbers.json", *options, cwd=folder)[0] == 0


def test_a_model_without_covariates_has_no_use_for_a_table_of_them(folder):
    arguments = ("predict", "plain.json", "train.csv", "--covariates", "phenotype.csv")
    code, _, err = call(*arguments, cwd=folder)
    assert code == 1
    assert "--covariates is not available for plain.json, which has none: omit it" in err
    assert call("predict", "plain.json", "train.csv", cwd=folder)[0] == 0


def test_inspect_shows_the_coding_and_calls_effects_adjusted(folder):
    _, out, _ = call("inspect", "adjusted.json", "--effects", cwd=folder)
    for line in ("age: number", "sex: female (reference), male", "batch: 1 (reference), b2"):
        assert f"\ncovariate {line}\n" in out
    assert "adjusted |COR|  adjusted mean in no  adjusted mean in yes" in out
    assert "\neffects, adjusted for age, sex and batch, with 90 % intervals\n" in out
    _, out, _ = call("inspect", "adjusted.json", "--effects", "--json", cwd=folder)
    told = json.loads(out)
    assert told["covariates"] == CODING.to_json()
    assert told["effects"]["adjusted_for"] == list(NAMES)


# --- comparisons and reports ---------------------------------------------------------------------

ASKED = ("--target", "class", "--covariates", *NAMES, "--k", 2, "--repeats", 1, "--splits", 3)


@pytest.fixture(scope="module")
def numbers(folder):
    """The same table with numbers for a response."""
    response = X[:, 0] + 0.1 * COVARIATES["age"] + RNG.normal(size=N)
    features = {f"g{j}": X[:, j] for j in range(4)}
    write(folder / "numbers.csv", {"class": response, **features, **COVARIATES})
    return folder


@pytest.mark.parametrize(
    ("table", "model", "first"),
    [("train.csv", "gaussian", "log loss"), ("numbers.csv", "regression", "log density")],
)
def test_cv_says_what_the_features_add(numbers, table, model, first):
    methods = ("corrected", "features alone", "covariates alone")
    asked = (*ASKED, "--model", model, *(word for m in methods for word in ("--method", m)))
    code, out, err = call("cv", table, *asked, cwd=numbers)
    assert code == 0, err
    assert "40 cases, 4 features, covariates age, sex, batch, seed 0" in err
    compared, verdict, added = out.split("\n\n")
    assert verdict.startswith("Ours: ")
    for method in methods:
        assert f"\n{method} " in compared
    assert added.splitlines()[2].startswith(first)
    assert "\nThe features add" in added
    _, out, _ = call("cv", table, *asked, "--json", cwd=numbers)
    told = json.loads(out)["added_value"]
    assert told["covariates"] == list(NAMES)
    assert told["measures"][0]["name"] == first
    assert " ".join(added.split()).endswith(" ".join(told["in_words"]))


def test_cv_says_nothing_where_a_method_is_missing(folder):
    asked = ("--model", "gaussian", "--method", "corrected")
    code, out, _ = call("cv", "train.csv", *ASKED, *asked, cwd=folder)
    assert code == 0
    assert "\n\n" not in out
    _, out, _ = call("cv", "train.csv", *ASKED, *asked, "--json", cwd=folder)
    assert "added_value" not in json.loads(out)


@pytest.mark.parametrize(
    ("table", "model", "shown"),
    [
        ("train.csv", "gaussian", "adjusted mean in yes"),
        ("numbers.csv", "regression", "adjusted slope per unit of the response"),
    ],
)
@pytest.mark.usefixtures("no_pictures")
def test_the_report_says_what_the_features_add(numbers, table, model, shown):
    methods = ("--method", "features alone", "--method", "covariates alone")
    asked = ("--model", model, "-o", "report.html", "--force", *methods)
    code, out, err = call("report", table, *ASKED, *asked, cwd=numbers)
    assert code == 0, err
    page = (numbers / "report.html").read_text()
    assert "\nThe features add" in out
    assert "<h2>What the features add to age, sex and batch</h2>" in page
    assert "Coding: age: number; sex: female (reference), male; batch: 1 (reference), b2." in page
    assert "<th>adjusted |correlation|</th>" in page
    assert shown in page
    assert "Effects of all kept features, adjusted for age, sex and batch, at face value" in page
