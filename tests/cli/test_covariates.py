"""--covariates: where they are read from, what is passed on, and errors on options."""

import contextlib
import io
import json
from contextlib import redirect_stderr, redirect_stdout

import h5py
import numpy as np
import pytest

from unselected.cli import comparing, fitting, inspecting, main, predicting, reporting
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
CODED = CODING.encode(CovariateTable.read(COVARIATES))


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
    """Tables with the same cases, and a model without covariates."""
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
    fit = ("fit", "features.csv", "--target", "class", "--k", 2, "--model", "gaussian")
    assert call(*fit, cwd=path)[0] == 0
    return path


class Stop(ValueError):
    """Nothing more needs to be done."""


@pytest.fixture
def passed(monkeypatch):
    """What the commands pass on, in place of fits, comparisons and predictions."""
    found = {}

    def catch(**kept):
        found.update(kept)
        raise Stop("stop")

    monkeypatch.setattr(fitting, "fitted", lambda *given: catch(table=given[1]))
    monkeypatch.setattr(comparing, "_compared", lambda *given: catch(table=given[1]))
    monkeypatch.setattr(comparing, "estimator", lambda *_: None)
    monkeypatch.setattr(reporting, "examine", lambda *_, **settings: catch(settings=settings))
    monkeypatch.setattr(predicting, "_classes", lambda *given: catch(X=given[1]))
    return found


@pytest.mark.parametrize(
    ("table", "target", "options"),
    [
        ("train.csv", "class", ("age", "sex", "batch")),
        ("train.csv", "class", ("age", "--covariates", "sex", "batch", "age")),
        ("features.csv", "class", [f"phenotype.csv:{name}" for name in COVARIATES]),
        ("X.npy", "phenotype.csv:class", [f"phenotype.csv:{name}" for name in COVARIATES]),
        ("X.h5ad", "phenotype.csv:class", ("age", "sex", "batch")),
    ],
)
def test_fit_reads_covariates_from_its_table_or_from_another(
    folder, passed, table, target, options
):
    _, _, err = call(
        "fit", table, "--target", target, "--covariates", *options, "--force", cwd=folder
    )
    assert err.endswith("stop\n"), err
    training = passed["table"]
    assert training.X.shape == (N, 4)
    assert training.names[np.arange(4)].tolist() in (["g0", "g1", "g2", "g3"], list("0123"))
    assert training.fit_arguments == {"covariates": training.covariates}
    coding = CovariateCoding.learn(training.covariates)
    assert coding == CODING
    np.testing.assert_array_equal(coding.encode(training.covariates), CODED)
    assert training.in_words() == "40 cases, 4 features, covariates age, sex, batch"


def test_cv_and_report_pass_them_on(folder, passed):
    asked = ("train.csv", "--target", "class", "--covariates", "age", "sex", "batch")
    _, _, err = call("cv", *asked, "--k", 2, cwd=folder)
    assert "40 cases, 4 features, covariates age, sex, batch, seed 0" in err
    assert passed["table"].covariates.names == tuple(COVARIATES)
    call("report", *asked, cwd=folder)
    assert passed["settings"]["covariates"].names == tuple(COVARIATES)
    assert "groups" not in passed["settings"]


def test_without_covariates_nothing_is_passed_on(folder, passed):
    call("fit", "features.csv", "--target", "class", "--force", cwd=folder)
    assert passed["table"].fit_arguments == {}
    assert passed["table"].in_words() == "40 cases, 4 features"


def test_groups_and_covariates_go_together(folder, passed):
    more = ("--groups", "batch", "--covariates", "age", "sex", "batch", "--force")
    call("fit", "train.csv", "--target", "class", *more, cwd=folder)
    assert passed["table"].names.tolist() == ["g0", "g1", "g2", "g3"]
    assert list(passed["table"].fit_arguments) == ["groups", "covariates"]


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


@pytest.fixture
def with_coding(monkeypatch):
    """Models that have covariates."""
    monkeypatch.setattr(predicting, "coding_of", lambda _: CODING)
    monkeypatch.setattr(inspecting, "coding_of", lambda _: CODING)


@pytest.mark.usefixtures("with_coding")
@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("train.csv", ()),
        ("features.csv", ("--covariates", "phenotype.csv")),
        ("X.h5ad", ()),
        ("X.h5ad", ("--covariates", "phenotype.csv")),
    ],
)
def test_predict_finds_the_covariates_of_its_model(folder, passed, table, options):
    _, _, err = call("predict", "model.json", table, *options, cwd=folder)
    assert err.endswith("stop\n"), err
    kept = [int(name[1:]) for name in kept_of(folder)]
    np.testing.assert_array_equal(passed["X"], np.hstack([X[:, kept], CODED]))


def kept_of(folder):
    return json.loads((folder / "model.json").read_text())["names"]


@pytest.mark.usefixtures("with_coding")
def test_levels_of_the_model_are_levels_in_new_cases_that_look_like_numbers(folder, passed):
    new = {name: [0.5, 1.5] for name in kept_of(folder)}
    new |= {"batch": [1, 1], "sex": ["male", "male"], "age": [30, 40]}
    write(folder / "new.csv", new)
    call("predict", "model.json", "new.csv", cwd=folder)
    assert passed["X"][:, 2:].tolist() == [[30.0, 1.0, 0.0], [40.0, 1.0, 0.0]]


@pytest.mark.usefixtures("with_coding")
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": [30, 40]}, "2 of the 3 covariates that are needed are missing: 'sex', 'batch'"),
        ({"batch": ["1", "b7"]}, "'batch' has 'b7' in row 3, but only the levels '1', 'b2' in"),
        ({"age": [30, "NA"]}, "new.csv: the covariate 'age' is missing in row 3 ('NA' stands"),
        ({"age": [30, "old"]}, "'age' has 'old' in row 3, but numbers in the training cases"),
    ],
)
def test_predict_names_what_is_wrong_with_covariates(folder, columns, message):
    new = {name: [0.5, 1.5] for name in kept_of(folder)}
    if "covariates that are needed" not in message:
        new |= {"batch": [1, 1], "sex": ["male", "male"], "age": [30, 40]}
    write(folder / "new.csv", new | columns)
    code, _, err = call("predict", "model.json", "new.csv", cwd=folder)
    assert code == 1
    assert message in err


@pytest.mark.usefixtures("with_coding")
def test_predict_says_what_to_do_where_a_file_holds_features_only(folder):
    np.save(folder / "kept.npy", X)
    # Features are found by number, so that the model has to have numbers for names.
    content = json.loads((folder / "model.json").read_text())
    content["names"] = ["0", "1"]
    (folder / "numbers.json").write_text(json.dumps(content))
    code, _, err = call("predict", "numbers.json", "kept.npy", cwd=folder)
    assert code == 1
    assert "kept.npy holds features only: the covariates age, sex, batch must come from" in err


def test_a_model_without_covariates_has_no_use_for_a_table_of_them(folder):
    arguments = ("predict", "model.json", "train.csv", "--covariates", "phenotype.csv")
    code, _, err = call(*arguments, cwd=folder)
    assert code == 1
    assert "--covariates is not available for model.json, which has none: omit it" in err
    assert call("predict", "model.json", "train.csv", cwd=folder)[0] == 0


@pytest.mark.usefixtures("with_coding")
def test_inspect_shows_the_coding(folder):
    _, out, _ = call("inspect", "model.json", cwd=folder)
    for line in ("age: number", "sex: female (reference), male", "batch: 1 (reference), b2"):
        assert f"\ncovariate {line}\n" in out
    _, out, _ = call("inspect", "model.json", "--json", cwd=folder)
    assert json.loads(out)["covariates"] == CODING.to_json()


def test_inspect_is_silent_on_covariates_where_there_are_none(folder):
    assert "covariate" not in call("inspect", "model.json", cwd=folder)[1]
    assert "covariate" not in call("inspect", "model.json", "--json", cwd=folder)[1]
