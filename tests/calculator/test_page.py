"""The page of a calculator, as text; tests in a browser are in `browser/`."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from calculator_cases import saved_model, write_model

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
    SelectiveNaiveRegressor,
)
from unselected.calculator.page import calculator_page
from unselected.files.labels import Label
from unselected.files.models import load_model

pytestmark = pytest.mark.filterwarnings("ignore")
NASTY = "</script><b>{script}"


@pytest.fixture(scope="module")
def bits(tmp_path_factory):
    return saved_model("bits", tmp_path_factory.mktemp("bits"))[0]


@pytest.fixture(scope="module")
def reals(tmp_path_factory):
    return saved_model("real numbers, covariates", tmp_path_factory.mktemp("reals"))[0]


def content_of(page):
    found = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    assert len(found) == 1
    return json.loads(found[0])


def test_the_page_is_one_piece_without_addresses(bits):
    page = calculator_page(bits)
    assert page.startswith("<!DOCTYPE html>")
    assert re.findall(r"(?:src|href)=|https?:|url\(|import\(", page) == []
    assert "{script}" not in page
    assert len(page.encode()) < 120_000


def test_the_policy_allows_its_own_script_and_style_only(bits):
    page = calculator_page(bits)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)[1]
        hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{hashed}'" in policy


def test_names_cannot_leave_their_place(bits):
    page = calculator_page(bits, title=NASTY, labels={"0": Label(NASTY, NASTY)})
    assert page.count("</script>") == 2
    content = content_of(page)
    assert content["title"] == NASTY
    assert content["features"][0]["label"] == content["features"][0]["unit"] == NASTY


def test_features_have_their_ranges_and_kinds(bits, reals):
    feature = content_of(calculator_page(bits))["features"][0]
    assert (feature["choices"], feature["low"], feature["high"]) == ([0, 1], 0.0, 1.0)
    content = content_of(calculator_page(reals))
    ranges = reals.predictor.ranges
    for j, feature in enumerate(content["features"]):
        assert feature["low"] == ranges.low[j]
        assert feature["choices"] is None
    age, batch, treated = content["covariates"]
    assert 40.0 < age["mean"] < 70.0
    assert batch["levels"] == ["b1", "b2", "b3"]
    assert treated["kind"] == "boolean"


def test_features_that_are_cut_have_a_threshold(bits):
    """A cut elsewhere than at one half is no choice between 0 and 1."""
    fitted = replace(bits.fitted, thresholds=np.full(bits.fitted.n_columns, 7.0))
    moved = replace(bits, unchecked=replace(bits.unchecked, fitted=fitted))
    feature = content_of(calculator_page(moved))["features"][0]
    assert feature["threshold"] == 7.0
    assert feature["choices"] is None


def test_genotypes_are_chosen_from_their_three_values(tmp_path):
    content = content_of(calculator_page(saved_model("genotypes with gaps", tmp_path)[0]))
    assert all(feature["choices"] == [0, 1, 2] for feature in content["features"])
    assert all(feature["strict"] for feature in content["features"])
    assert content["about"][0].startswith("The model is naive Bayes of genotypes")
    assert "60 cases: 30 of low, 30 of mid" in content["about"][1]


def test_a_label_of_no_feature_is_refused(bits):
    with pytest.raises(ValueError, match="'weight' has a label, but is none of the 6 features"):
        calculator_page(bits, labels={"weight": Label("Weight")})


def test_an_unknown_kind_is_refused_by_name(bits):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 20)) < 0.5, np.arange(40) % 2
    model = SelectiveMixtureClassifier(k=6, n_draws=20, n_warmup=10, random_state=0).fit(X, y)
    other = replace(bits, unchecked=model.panel().predictor)
    with pytest.raises(ValueError, match="kind 'mixture' has no calculator"):
        calculator_page(other)


def test_a_model_that_kept_nothing_is_refused(bits):
    X, y = np.random.default_rng(1).normal(size=(30, 20)), np.arange(30) % 2
    with pytest.warns(UserWarning, match="No feature has"):
        model = SelectiveClassifier(threshold=0.97, dependence="none").fit(X, y)
    with pytest.raises(ValueError, match="kept no feature, so that there is nothing to enter"):
        calculator_page(replace(bits, unchecked=model.panel().predictor))


def test_the_prior_is_that_of_the_training_cases(bits):
    content = content_of(calculator_page(bits))
    assert content["classes"] == ["low", "mid"]
    np.testing.assert_allclose(content["training"], np.exp(bits.fitted.log_psi))


def test_scripts_have_no_line_that_the_page_could_lose():
    """Lines that begin as a comment are left out of the page: none may be code or a string."""
    for path in (resources.files("unselected.calculator") / "assets").iterdir():
        if path.name.endswith(".js"):
            lines = path.read_text(encoding="utf-8").splitlines()
            begun = [line for line in lines if line.strip().startswith(("/**", "* ", "*/"))]
            joined = "\n".join(line.strip() for line in begun)
            assert joined.count("/**") == joined.count("*/"), path.name
            assert sum(line.count("`") % 2 for line in lines) == 0, path.name


@pytest.mark.parametrize("prior", ["common", "sparse"])
def test_genotypes_make_no_large_page(prior, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(100, 60)), np.arange(100) % 3
    model = SelectiveBernoulliNB(k=50, family="genotype", prior=prior).fit(X, y)
    write_model(model, tmp_path / "model.json")
    assert len(calculator_page(load_model(tmp_path / "model.json")).encode()) < 300_000


@pytest.mark.parametrize("estimator", [SelectiveGaussianNB, SelectiveNaiveRegressor])
def test_shrunk_variances_make_no_large_page(estimator, tmp_path):
    """Nodes of two parameters that reach far were 240 kB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 60)), np.arange(100) % 2
    model = estimator(k=50, variance_shrinkage=5.0).fit(X, y)
    write_model(model, tmp_path / "model.json")
    assert len(calculator_page(load_model(tmp_path / "model.json")).encode()) < 200_000
