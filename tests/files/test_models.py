"""Models written and read back: to the last bit, or refused."""

import dataclasses
import functools
import json
import math
import re
import tempfile
from fractions import Fraction
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from written_files import HERE, any_text, csv_text, run, save, save_parquet, selection_of

import unselected
from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior, PowerPrior
from unselected.estimators.factor import SelectiveFactorRegressor
from unselected.files import models as model_files
from unselected.files.models import (
    ModelError,
    load_model,
    save_model,
)
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.description import describe_features
from unselected.fitted.predictor import ClassPredictor
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.selection.events import Event
from unselected.statistics.counts import ClassCounts

# New rows are from other populations than the training cases; the warning is tested elsewhere.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* outside of their training range"),
    pytest.mark.usefixtures("few_folds"),
]


PROVENANCE = {
    "unselected": "0.1.0",
    "created": "2024-05-06T07:08:09+00:00",
    "seed": 3,
    "sha256": "ba78",
    "settings": {"k": 5, "ties": ["first", None, True, 0.1]},
}


def save_estimator(estimator, path, **options):
    save_model(
        estimator._predictor,
        path,
        selection=selection_of(estimator),
        provenance=PROVENANCE,
        **options,
    )


def text_of(estimator):
    """The text of the estimator's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_estimator(estimator, path)
        return path.read_text()


def make_data(seed, n=50, p=200):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = (rng.random((n, p)) < 0.3 + 0.2 * np.outer(y, rng.random(p))).astype(float)
    X[:, ::3] += rng.normal(size=X[:, ::3].shape)
    return X, y


@pytest.mark.parametrize(
    "options",
    [
        {"k": 7},
        {"k": 7, "ties": "random", "random_state": 0, "quadrature": "paper"},
        {"k": 7, "correct_selection": False, "concentration_prior": (1 / 3, 4.7)},
        {"threshold": 0.25, "class_pseudocounts": (0.1, 1 / 7)},
        {"threshold": 1e-300, "binarize": 0.123},
        {"k": 3, "binarize": "median", "always_keep": [0, 5]},
        {"k": 3, "binarize": 1},
        {"preselected_from": 10**6},
        {},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "classes", [["normal", "tumour"], [-1, 4], [False, True], [1.0, 2.0]], ids=str
)
def test_a_saved_model_predicts_the_same_to_the_last_bit(options, classes, tmp_path, seed):
    X, y = make_data(seed)
    estimator = SelectiveBernoulliNB(**options).fit(X, np.array(classes)[y])
    path = tmp_path / "model.json"
    save_estimator(estimator, path)
    saved = load_model(path)
    indices = estimator.selection_.indices
    new, _ = make_data(seed + 1000)
    for predict in ("predict_log_proba", "predict_proba"):
        ours = getattr(saved.predictor, predict)(new[:, indices])
        np.testing.assert_array_equal(ours, getattr(estimator, predict)(new), strict=True)
    assert saved.fitted.model == estimator._predictor.fitted.model
    assert saved.fitted.event == estimator._predictor.fitted.event
    assert [type(label) for label in saved.fitted.classes.tolist()] == [*map(type, classes)]
    assert saved.fitted.classes.tolist() == classes
    assert saved.selection == {**selection_of(estimator), "scores": estimator.scores_.tolist()}
    assert saved.provenance == PROVENANCE


def test_binarize_none_and_names_survive(tmp_path, seed):
    pandas = pytest.importorskip("pandas")
    X, y = make_data(seed)
    frame = pandas.DataFrame((X > 0.5).astype(int)).add_prefix("gene ")
    estimator = SelectiveBernoulliNB(k=4, binarize=None).fit(frame, y)
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    assert saved.fitted.names.tolist() == estimator.panel().feature_names_in_.tolist()
    name = saved.fitted.names[2]
    with pytest.raises(ValueError, match=rf"column 2 \('{name}'\) has the value 7"):
        saved.predictor.predict_proba([[0, 1, 7, 0]])


def small_kept(**changes):
    parts = {
        "model": BernoulliModel(),
        "counts": ClassCounts.of_two(np.array([1, 3, 0]), np.array([9, 8, 7]), 10, 12),
        "event": Event(Fraction(1, 5), n_lottery=97, n_kept_ties=1),
        "thresholds": np.array([0.5, -0.1, 1e-5]),
        "binarize": "auto",
        "classes": np.array(["a", "b"]),
        "names": np.array(["g1", "g2", "g3"], dtype=object),
    }
    return FittedBernoulli(**{**parts, **changes})


AS_IT_IS = LikelihoodAverage.as_it_is()
SMALL_SELECTION = {
    "rule": "top k",
    "ties": "random",
    "threshold": 0.4472135954999579,
    "statistic": "|COR|",
    "n_features": 100,
    "n_omitted": 97,
    "scores": [0.5, 0.6, 1.0],
}


def save_small(
    path, *, selection=SMALL_SELECTION, provenance=PROVENANCE, average=AS_IT_IS, **changes
):
    predictor = ClassPredictor(small_kept(**changes), average)
    save_model(predictor, path, selection=selection, provenance=provenance, overwrite=True)
    return path


labels = st.one_of(
    st.lists(any_text, min_size=2, max_size=2, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2, unique=True),
    st.just([True, False]),
)


@HERE
@given(
    classes=labels,
    names=st.lists(csv_text, min_size=3, max_size=3, unique=True),
    thresholds=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
    priors=st.lists(st.floats(1e-9, 1e9), min_size=4, max_size=4),
    cut=st.fractions(0, 1),
    note=any_text,
)
def test_whatever_a_model_holds_comes_back(classes, names, thresholds, priors, cut, note, tmp_path):
    array = np.empty(2, dtype=object)
    array[:] = classes
    kept = small_kept(
        model=BernoulliModel(tuple(priors[:2]), *priors[2:], refinement=2),
        classes=array,
        names=np.array([*names, None], dtype=object)[:3],
        thresholds=np.array(thresholds),
        event=Event(cut, n_lottery=97, n_kept_ties=2),
    )
    path, provenance = tmp_path / "model.json", {"unselected": "0.1.0", "note": note, note: 1}
    save_model(
        ClassPredictor(kept), path, selection=SMALL_SELECTION, provenance=provenance, overwrite=True
    )
    saved = load_model(path)
    assert saved.fitted.classes.tolist() == classes
    assert [*map(type, saved.fitted.classes.tolist())] == [*map(type, classes)]
    assert saved.fitted.names.tolist() == names
    assert saved.fitted.thresholds.tobytes() == np.array(thresholds).tobytes()
    assert (saved.fitted.model, saved.fitted.event) == (kept.model, kept.event)
    assert (saved.selection, saved.provenance) == (SMALL_SELECTION, provenance)
    for name in ("I0", "I1", "n0", "n1"):
        np.testing.assert_array_equal(
            getattr(saved.fitted.counts, name), getattr(kept.counts, name)
        )


def test_the_file_is_readable_json(tmp_path):
    document = json.loads(save_small(tmp_path / "model.json").read_text())
    assert (document["format"], document["version"]) == ("unselected model", 1)
    assert document["event"]["cut"] == ["1", "5"]
    assert document["counts"] == {"I0": [1, 3, 0], "I1": [9, 8, 7], "n0": 10, "n1": 12}


def test_models_are_not_overwritten_unless_told(tmp_path):
    path = save_small(tmp_path / "model.json")
    with pytest.raises(FileExistsError, match="exists already"):
        save_model(
            ClassPredictor(small_kept()), path, selection=SMALL_SELECTION, provenance=PROVENANCE
        )


def test_a_model_goes_to_standard_output(capsys, tmp_path):
    save_small("-")
    text = capsys.readouterr().out
    (tmp_path / "model.json").write_text(text)
    assert load_model(tmp_path / "model.json").fitted.names.tolist() == ["g1", "g2", "g3"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"thresholds": np.array([0.5, np.inf, 0])}, "thresholds cannot be written"),
        ({"binarize": math.inf}, "binarize cannot be written"),
        ({"classes": np.array([1, "b"], dtype=object)}, "the classes"),
        (
            {"classes": np.array([2**64 - 1, 0], dtype=np.uint64)},
            "classes has 18446744073709551615",
        ),
        ({"names": np.array(["a", "b", "a"])}, "names has a name twice"),
        ({"names": np.array(["a", "b", "\ud800"])}, "names has .* where text is expected"),
        ({"names": np.array(["a", "b", 3], dtype=object)}, "names has 3 where text is expected"),
        ({"model": BernoulliModel(a=1e30)}, "priors a has 1e\\+30"),
        ({"provenance": {"seed": 1}}, "provenance does not say"),
        ({"provenance": {"unselected": "1", "x": {1, 2}}}, "provenance cannot be written"),
        ({"selection": {}}, "selection has no entry 'rule'"),
        ({"event": Event()}, None),
        ({"event": Event(n_at_most=97)}, "event has omitted features but no cut"),
        ({"event": Event(Fraction(1, 5), n_at_most=3)}, "event speaks of 3 omitted features"),
    ],
)
def test_a_model_that_could_not_be_read_back_is_not_written(changes, message, tmp_path):
    path = tmp_path / "model.json"
    if message is None:
        save_small(path, **changes)
        assert load_model(path).fitted.event == changes["event"]
        return
    with pytest.raises(ModelError, match=f"cannot be saved: {message}"):
        save_small(path, **changes)
    assert not list(tmp_path.iterdir())


def changed(document, place, value):
    """A copy of the document with one entry changed; `...` deletes it."""
    document = json.loads(json.dumps(document))
    *parents, last = (int(key) if key.isdigit() else key for key in place.split("."))
    inner = document
    for key in parents:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return document


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "other", 'does not say "format"'),
        ("format", ..., 'does not say "format"'),
        ("version", 0, "version has 0"),
        ("version", True, "version has True"),
        ("version", "1", "version has '1'"),
        ("version", ..., "version has None"),
        (
            "kind",
            "magic",
            "kind is 'magic', not one of 'bernoulli', 'genotype', 'gaussian', 'regression'",
        ),
        ("kind", "gaussian", "the file has no entry 'pseudocounts'"),
        ("extra", 1, "the file has the unknown entry 'extra'"),
        ("names", ["a", "b"], "names has 2 values where 3 are expected"),
        ("names", ["a", "b", "b"], "names has a name twice"),
        ("names", ["a", "b", 3], "names has 3 where text is expected"),
        ("names", "abc", "names is 'abc', not a list"),
        ("names", ["a", "b", "x" * 200_000], "names has .* where text is expected"),
        ("names", ["a", "b", "\udcff"], "names has '.udcff' where text is expected"),
        ("names", ..., "the file has no entry 'names'"),
        ("classes", ["a", "b"], "classes is .* not a set of named entries"),
        ("classes.type", "list", "classes type is 'list', not one of"),
        ("classes.type", ["str"], "classes type is"),
        ("classes.type", "int", "classes has 'a' where a whole number"),
        ("classes.type", "bool", "classes has .* two different labels"),
        ("classes.values", ["a", "a"], "two different labels"),
        ("classes.values", ["a"], "classes has 1 values where 2 are expected"),
        ("classes.values", ["a", None], "classes has None where text"),
        ("counts.n0", 0, "counts n0 has 0 where a whole number in 1"),
        ("counts.n0", 10**9, "counts n0 has 1000000000 where"),
        ("counts.n0", 10.0, "counts n0 has 10.0 where"),
        ("counts.n0", 2, "counts I0 has 3 where a whole number in 0..2"),
        ("counts.I0", [1, 3, -1], "counts I0 has -1"),
        ("counts.I1", [9, 8, 13], "counts I1 has 13 where a whole number in 0..12"),
        ("counts.I1", [9, 8, 1.5], "counts I1 has 1.5"),
        ("counts.I1", [9, 8, True], "counts I1 has True"),
        ("counts.I1", [9, 8], "counts I1 has 2 values"),
        ("counts.I1", [9, 8, [7]], r"counts I1 has \[7\]"),
        ("counts.I1", [9, 8, 10**4000], "counts I1 has"),
        ("counts.n2", 3, "counts has the unknown entry 'n2'"),
        ("thresholds", [0.5, 0.5, None], "thresholds has None where a finite number"),
        ("thresholds", [0.5, 0.5, "1"], "thresholds has '1'"),
        ("thresholds", [0.5, 0.5, 10**400], "thresholds has 1000"),
        ("thresholds", [0.5, 0.5], "thresholds has 2 values"),
        ("binarize", "mean", "binarize is 'mean', not one of 'auto', 'median'"),
        ("binarize", True, "binarize has True"),
        ("binarize", [1], r"binarize has \[1\]"),
        ("event.cut", ["1", "0"], "event cut is no ratio"),
        ("event.cut", ["2", "1"], "event cut is no ratio"),
        ("event.cut", ["-1", "5"], "event cut is no ratio"),
        ("event.cut", ["1"], "event cut has 1 values"),
        ("event.cut", [1, 5], "event cut has 1 where digits"),
        ("event.cut", ["\u0661", "5"], "event cut has .* where digits"),
        ("event.cut", ["1", "9" * 2001], "event cut has .* where digits"),
        ("event.cut", None, "omitted features but no cut"),
        ("event.n_lottery", -1, "event n_lottery has -1"),
        ("event.n_lottery", 96, "event speaks of 96 omitted features"),
        ("event.n_kept_ties", 0, "event n_kept_ties has 0"),
        ("event.n_kept_ties", 4, "event n_kept_ties has 4"),
        ("priors.a", 0, "priors a has 0 where a finite number"),
        ("priors.a", -1.0, "priors a has -1.0"),
        ("priors.b", 1e300, "priors b has 1e"),
        ("priors.f0", None, "priors f0 has None"),
        ("priors.f1", ..., "priors has no entry 'f1'"),
        ("quadrature.rule", "rm -rf", "quadrature rule is 'rm -rf'"),
        ("quadrature.refinement", 10**6, "quadrature refinement has 1000000"),
        ("selection.rule", "best", "selection rule is 'best'"),
        ("selection.ties", "last", "selection ties is 'last'"),
        ("selection.threshold", 1.5, "selection threshold has 1.5"),
        ("selection.statistic", "F", "selection statistic is 'F', not one of"),
        ("selection.n_features", 2, "selection n_features has 2"),
        ("selection.n_omitted", 96, "selection n_omitted has 96"),
        ("selection.scores", [0.5, 0.5], "selection scores has 2 values"),
        ("selection.scores", [0.5, 0.5, 2], "selection scores has 2"),
        ("provenance", [], "provenance does not say"),
        ("provenance.unselected", 1, "provenance does not say"),
        ("provenance.deep", [[[[[[[[1]]]]]]]], "nested too deeply"),
        ("provenance.text", "\udcff", "provenance has"),
    ],
)
def test_every_entry_is_checked(place, value, message, tmp_path):
    document = json.loads(save_small(tmp_path / "model.json").read_text())
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(changed(document, place, value)))
    with pytest.raises(ModelError, match=message) as error:
        load_model(path)
    assert str(error.value).startswith(f"{path} cannot be used as a model: ")


def test_an_event_below_a_cut_of_zero_is_impossible(tmp_path):
    document = json.loads(save_small(tmp_path / "model.json").read_text())
    event = {"cut": ["0", "1"], "n_below": 97, "n_at_most": 0, "n_lottery": 0, "n_kept_ties": 0}
    path = save(tmp_path / "changed.json", json.dumps({**document, "event": event}))
    with pytest.raises(ModelError, match="below a cut of 0"):
        load_model(path)


@pytest.mark.parametrize(
    ("provenance", "advice"),
    [
        ({"unselected": "3.1"}, 'pip install "unselected>=3.1"'),
        ({"unselected": "3.1; rm -rf /"}, "pip install --upgrade unselected"),
        ({"unselected": unselected.__version__}, "pip install --upgrade unselected"),
        ({"unselected": "0.0.9"}, "pip install --upgrade unselected"),
        ({}, "pip install --upgrade unselected"),
        (None, "pip install --upgrade unselected"),
    ],
)
def test_a_newer_version_says_what_it_needs(provenance, advice, tmp_path):
    newer = {"format": "unselected model", "version": 2, "provenance": provenance, "new": []}
    path = save(tmp_path / "model.json", json.dumps(newer))
    with pytest.raises(
        ModelError, match=r"format version 2, and this version .* reads only 1"
    ) as e:
        load_model(path)
    assert advice in str(e.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no JSON"),
        (b"\x80\x04\x95cposix\nsystem\n", "byte 0 is not UTF-8"),
        (bytes(range(256)), "no JSON|no text"),
        (b"\xef\xbb\xbf{}", "no JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"format": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "nested too deeply"),
        (b"9" * 10_000, "thousands of digits"),
        (b"NaN", "it has NaN"),
        (b'{"format": -Infinity}', "it has -Infinity"),
        (b'{"format": 1, "format": 2}', "occurs twice"),
        (b"null", 'does not say "format"'),
        (b"[]", 'does not say "format"'),
        (b'"unselected model"', 'does not say "format"'),
        (b'{"format": ["unselected model"]}', 'does not say "format"'),
    ],
)
def test_hostile_files_are_refused(content, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        load_model(save(tmp_path / "model.json", content))


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "1e999", "-1e999"])
def test_numbers_that_are_not_finite_are_refused(literal, tmp_path):
    path = save_small(tmp_path / "model.json")
    text = path.read_text()
    for number in ("-0.1", "0.4472135954999579", "5.0"):  # a threshold, the cut, a prior
        assert text.count(number) == 1
        save(path, text.replace(number, literal))
        with pytest.raises(ModelError, match="finite number"):
            load_model(path)


def test_files_of_any_size_are_refused_early(tmp_path, monkeypatch):
    path = save_small(tmp_path / "model.json")
    monkeypatch.setattr(model_files, "_MOST_BYTES", path.stat().st_size - 1)
    with pytest.raises(ModelError, match="more than"):
        load_model(path)
    monkeypatch.setattr(model_files, "_MOST_BYTES", path.stat().st_size)
    load_model(path)


@pytest.mark.slow
def test_a_model_cut_off_anywhere_is_refused(tmp_path):
    path = save_small(tmp_path / "model.json")
    whole = path.read_bytes()
    assert whole.endswith(b"}\n")
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"model\.json cannot be used as a model"):
            load_model(path)


def assert_predicts_or_is_refused(path):
    """Return whether a file is refused; one that is not must hold a model that works."""
    try:
        saved = load_model(path)
    except ModelError:
        return True
    k, counts = saved.fitted.thresholds.size, saved.fitted.counts
    if max(counts.n0, counts.n1) > 2000:
        return False  # right, but it takes long
    proba = saved.predictor.predict_proba(np.random.default_rng(0).integers(0, 2, size=(5, k)))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)
    return False


@pytest.mark.slow
def test_random_damage_is_refused_or_harmless(tmp_path, seed):
    rng = np.random.default_rng(seed)
    whole = save_small(tmp_path / "model.json").read_bytes()
    path = tmp_path / "damaged.json"
    refused = []
    for _ in range(700):
        damaged = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            place = int(rng.integers(len(damaged)))
            kind = rng.integers(4)
            if kind == 0:
                damaged[place] = rng.integers(256)
            elif kind == 1:
                damaged[place] = rng.choice(bytearray(b'0123456789-+.eE"[]{},:'))
            elif kind == 2:
                damaged.insert(place, rng.choice(bytearray(b'0123456789-.e"[]{},')))
            else:
                del damaged[place : place + int(rng.integers(1, 9))]
        path.write_bytes(damaged)
        refused.append(assert_predicts_or_is_refused(path))
    assert 0.5 < np.mean(refused) < 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@pytest.mark.slow
@HERE
@given(data=st.data())
def test_any_value_in_any_place_is_refused_or_harmless(data, tmp_path):
    document = json.loads(save_small(tmp_path / "model.json").read_text())
    inner, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(inner[key], dict | list) and inner[key] and data.draw(st.booleans()):
        inner = inner[key]
        keys = sorted(inner) if isinstance(inner, dict) else range(len(inner))
        key = data.draw(st.sampled_from(keys))
    inner[key] = data.draw(json_values)
    path = save(tmp_path / "changed.json", json.dumps(document))
    assert_predicts_or_is_refused(path)


def test_a_missing_model_is_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        load_model(tmp_path / "none.json")


def test_rows_that_do_not_fit_the_model(tmp_path):
    saved = load_model(save_small(tmp_path / "model.json"))
    with pytest.raises(ValueError, match=r"shape \(1, 2\), but the model needs rows of its 3"):
        saved.predictor.predict_proba([[0, 1]])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        saved.predictor.predict_proba([0, 1, 0])
    with pytest.raises(ValueError, match="needs numbers"):
        saved.predictor.predict_proba([["0", "1", "0"]])
    with pytest.raises(ValueError, match=r"column 1 \('g2'\) has infinity in row 0"):
        saved.predictor.predict_proba([[0, math.inf, 0]])
    unnamed = load_model(save_small(tmp_path / "model.json", names=None))
    assert unnamed.fitted.names is None
    with pytest.raises(ValueError, match="column 1 has infinity"):
        unnamed.predictor.predict_proba([[0, math.inf, 0]])


@pytest.mark.filterwarnings("ignore:No feature has:UserWarning")
def test_a_model_without_features_predicts_the_class_frequencies(tmp_path, seed):
    X, y = make_data(seed)
    estimator = SelectiveBernoulliNB(threshold=1.0).fit(X, y)
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(
        saved.predictor.predict_proba(X[:, :0]), estimator.predict_proba(X)
    )


USE_MODEL = """
import sys
for name in {blocked}: sys.modules[name] = None
from unselected.files.models import load_model
from unselected.files.tables import read_table
saved = load_model(sys.argv[1])
table = read_table(sys.argv[2], columns=saved.fitted.names.tolist())
print(saved.predictor.predict_proba(table.X).tolist())
loaded = [n for n in ("sklearn", "pandas", "scipy.stats", "pyarrow") if sys.modules.get(n)]
print(loaded)
"""


def test_predicting_from_files_needs_no_scikit_learn(tmp_path):
    path = save_small(tmp_path / "model.json")
    data = save(tmp_path / "data.csv", "g3,g1,other,g2\n0,1,x,0.5\n1,0,y,-3\n")
    expected = load_model(path).predictor.predict_proba([[1, 0.5, 0], [0, -3, 1]]).tolist()
    for blocked in ([], ["sklearn", "pandas", "pyarrow", "joblib"]):
        proba, loaded = run(USE_MODEL.format(blocked=blocked), path, data).splitlines()
        assert json.loads(proba) == expected
        assert loaded == "[]"


def test_the_import_test_would_notice(tmp_path):
    path = save_small(tmp_path / "model.json")
    data = save_parquet(tmp_path / "data.parquet", {"g1": [1], "g2": [0.5], "g3": [0]})
    code = "import unselected.estimators.bernoulli\n" + USE_MODEL.format(blocked=[])
    loaded = run(code, path, data).splitlines()[1]
    assert {"sklearn", "pyarrow"} <= set(re.findall(r"[\w.]+", loaded))


# --- real-valued features ------------------------------------------------------------------------


def make_real(seed, n_classes=None, missing=0.0, n=48, p=60):
    """Real-valued features; classes, or a response of numbers where there are none."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) if n_classes is None else rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p)) + np.outer(y, rng.normal(scale=0.3, size=p))
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


REAL_OPTIONS = [
    {"k": 7},
    {"k": 1},
    {"k": 7, "correct_selection": False, "concentration_prior": (1 / 3, 4.7)},
    {"threshold": 0.25, "variance_shrinkage": 3.3},
    {"k": 3, "always_keep": [0, 5], "ties": "random", "random_state": 0},
    {"preselected_from": 10**6},
    {},
]


def assert_same_arrays(ours, theirs):
    for field in dataclasses.fields(theirs):
        a, b = (getattr(side, field.name) for side in (ours, theirs))
        np.testing.assert_array_equal(a, b, strict=isinstance(b, np.ndarray))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "n_classes", "missing"),
    [
        *((options, 2, 0.0) for options in REAL_OPTIONS),
        *((options, 3, 0.06) for options in REAL_OPTIONS),
        ({"k": 7}, 7, 0.0),
    ],
    ids=str,
)
def test_a_saved_gaussian_model_predicts_the_same(options, missing, n_classes, tmp_path, seed):
    X, y = make_real(seed, n_classes, missing, n=30 + 6 * n_classes)
    labels = np.array([f"class {g}" for g in range(n_classes)])
    estimator = SelectiveGaussianNB(class_pseudocounts=1 / 3, **options).fit(X, labels[y])
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    assert saved.classes is not None
    assert saved.kind == "gaussian"
    new, _ = make_real(seed + 1000, n_classes, missing)
    rows = new[:, estimator.selection_.indices]
    for predict in ("predict_log_proba", "predict_proba"):
        ours, theirs = getattr(saved.predictor, predict)(rows), getattr(estimator, predict)(new)
        np.testing.assert_array_equal(ours, theirs, strict=True)
    assert saved.fitted.model == estimator._predictor.fitted.model
    assert_same_arrays(saved.fitted.event, estimator._predictor.fitted.event)
    assert_same_arrays(saved.fitted.moments, estimator._predictor.fitted.moments)
    assert saved.fitted.classes.tolist() == sorted(labels)
    assert saved.selection == {**selection_of(estimator), "scores": estimator.scores_.tolist()}


@pytest.mark.slow
@pytest.mark.parametrize("options", REAL_OPTIONS, ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.06])
def test_a_saved_regression_model_predicts_the_same(options, missing, tmp_path, seed):
    X, y = make_real(seed, missing=missing)
    estimator = SelectiveNaiveRegressor(**options).fit(X, 1e3 + y)
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    assert saved.classes is None
    assert saved.kind == "regression"
    new = make_real(seed + 1000, missing=missing)[0][:9]
    rows = new[:, estimator.selection_.indices]
    for ours, theirs in zip(
        saved.predictor.mean_and_std(rows), estimator.predict(new, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs, strict=True)
    np.testing.assert_array_equal(saved.predictor.mean_and_std(rows)[0], estimator.predict(new))
    levels = (0.01, 0.3, 0.999)
    np.testing.assert_array_equal(
        saved.predictor.quantiles(rows, levels), estimator.predict_quantiles(new, levels)
    )
    assert_same_arrays(saved.fitted.event, estimator._predictor.fitted.event)
    assert_same_arrays(saved.fitted.moments, estimator._predictor.fitted.moments)
    assert saved.selection == {**selection_of(estimator), "scores": estimator.scores_.tolist()}


def test_constant_columns_are_omitted_without_the_event_knowing(tmp_path, seed):
    X, y = make_real(seed, 3)
    X[:, 10:15] = 4.2
    estimator = SelectiveGaussianNB(k=5).fit(X, y)
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    assert saved.selection["n_omitted"] == 55
    assert saved.fitted.event.n_omitted == 50
    X[:, 0] = 4.2
    everything = SelectiveGaussianNB().fit(X, y)  # a constant column may be kept, too
    save_estimator(everything, tmp_path / "all.json")
    ours = load_model(tmp_path / "all.json").predictor.predict_proba(X)
    np.testing.assert_array_equal(ours, everything.predict_proba(X))


def test_files_written_before_the_statistic_was_told_still_load(tmp_path):
    document = json.loads(save_small(tmp_path / "model.json").read_text())
    del document["selection"]["statistic"]
    saved = load_model(save(tmp_path / "old.json", json.dumps(document)))
    assert saved.selection == SMALL_SELECTION
    rows = [[1, 0, 0]]
    now = load_model(tmp_path / "model.json").predictor.predict_proba(rows)
    np.testing.assert_array_equal(saved.predictor.predict_proba(rows), now)


def real_document(kind, seed=0, missing=0.05):
    """The document of a small model, with a name for each feature."""
    X, y = make_real(seed, {"gaussian": 3, "regression": None}[kind], missing, n=30, p=12)
    make = {"gaussian": SelectiveGaussianNB, "regression": SelectiveNaiveRegressor}[kind]
    estimator = make(k=3).fit(X, y)
    predictor, names = estimator._predictor, np.array(["g1", "g2", "g3"], dtype=object)
    fitted = dataclasses.replace(predictor.fitted, names=names)
    kept = dataclasses.replace(predictor, fitted=fitted)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        save_model(kept, path, selection=selection_of(estimator), provenance=PROVENANCE)
        return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("kind", "place", "value", "message"),
    [
        *[
            case
            for kind in ("gaussian", "regression")
            for case in [
                (kind, "counts", {}, "the file has the unknown entry 'counts'"),
                (kind, "priors.f0", 1.0, "priors has the unknown entry 'f0'"),
                (kind, "priors.a", 0.0, "priors a has 0.0"),
                (kind, "priors.shrinkage", -1.0, "priors shrinkage has -1.0"),
                (kind, "priors.shrinkage", 1e-9, "priors shrinkage has 1e-09, where 0 or"),
                (kind, "priors.shrinkage", 1e9, "priors shrinkage has 1000000000.0"),
                (kind, "quadrature.refinement", 5, "quadrature refinement has 5"),
                (kind, "quadrature.rule", "exact", "quadrature has the unknown entry 'rule'"),
                (kind, "event.cut", -0.1, "event cut has -0.1"),
                (kind, "event.cut", "1", "event cut has '1'"),
                (kind, "event.cut", None, "omitted features but no cut"),
                (kind, "event.cut", 0.0, "a cut of about 0"),
                (kind, "event.statistic", "t", "event statistic is 't'"),
                (kind, "event.lam", [], "the length of event lam has 0"),
                (kind, "event.lam.0", [0.0, 0.0, 0.0], "event lam has 3 values"),
                (kind, "event.nu.0", 0, "event nu has 0"),
                (kind, "event.nu.0", 2.5, "event nu has 2.5"),
                (kind, "event.nu", [3], "event nu has 1 values"),
                (kind, "event.n_features.0", -1, "event n_features has -1"),
                (kind, "event.n_features.0", 500, "event speaks of 50. omitted features"),
                (kind, "selection.statistic", ..., "selection has no entry 'statistic'"),
                (kind, "selection.scores.0", -1.0, "selection scores has -1.0"),
                (kind, "moments.center", [1.0, 2.0], "moments .* has 3 values where 2 are"),
                (kind, "moments.center.1", None, "moments center has None"),
                (kind, "moments.within.1", -1.0, "moments within has -1.0"),
                (kind, "moments.within.1", 1e300, "moments within has 1e"),
                (kind, "moments.within.1", 1e279, "too far apart"),
                (kind, "names", ["a", "b", "a"], "names has a name twice"),
            ]
        ],
        ("gaussian", "event.lam.0.0", -1.0, "event lam has -1.0"),
        ("gaussian", "event.cut", 1e-300, "a cut of about 0"),
        ("gaussian", "event.statistic", "|COR|", "event statistic is '|COR|', not one of 'F'"),
        ("gaussian", "pseudocounts", [1.0, 1.0], "pseudocounts has 2 values where 3"),
        ("gaussian", "pseudocounts.0", 0.0, "pseudocounts has 0.0"),
        ("gaussian", "classes.values", [0, 1], "classes has 2 values where 3 are expected"),
        ("gaussian", "classes.values", [0, 1, 1], "where 3 different labels are expected"),
        ("gaussian", "moments.sizes", [30], "the length of moments sizes has 1"),
        ("gaussian", "moments.sizes", [1, 1, 1], "the sum of moments sizes has 3"),
        ("gaussian", "moments.sizes.0", 0, "moments sizes has 0"),
        ("gaussian", "moments.sizes", [10] * 2000, "the length of moments sizes has 2000"),
        ("gaussian", "moments.sizes", [10**6] * 3, "the sum of moments sizes has 3000000"),
        ("gaussian", "moments.n.0.0", 11, "moments n has 11"),
        ("gaussian", "moments.n.0.0", 0, "moments n has 0"),
        ("gaussian", "moments.n.0", 3, "moments n is 3, not a list"),
        ("gaussian", "moments.n", [[9], [10], [10]], r"moments n has 9 .* in 10\.\.10"),
        ("gaussian", "moments.n", [[1, 1, 1]] * 3, "a sum of moments n has 3"),
        ("gaussian", "moments.offset", [[0.0] * 3] * 2, "moments offset has 2 values"),
        ("gaussian", "moments.offset.0.0", 1e200, "moments offset has 1e"),
        ("regression", "event.cut", 1.5, "event cut has 1.5"),
        ("regression", "event.statistic", "F", "event statistic is 'F', not one of '|COR|'"),
        ("regression", "y_mean", 1e30, "y_mean has 1e"),
        ("regression", "y_mean", 1e3, "too far from the mean of all cases"),
        ("regression", "moments.y_mean.0", 1e3, "too far from the mean of all cases"),
        ("regression", "moments.unit", 0.0, "moments unit has 0.0"),
        ("regression", "moments.unit", 2.0, "moments complete syy has"),
        ("regression", "moments.complete.n", 2, "moments complete n has 2"),
        ("regression", "moments.complete.syy", 0.0, "moments complete syy has 0.0"),
        ("regression", "moments.n.0", 31, r"moments n has 31 .* in 3\.\.30"),
        ("regression", "moments.n.0", 2, "moments n has 2"),
        ("regression", "moments.syy.0", 0.0, "moments syy has 0.0"),
        ("regression", "moments.syy.0", 1e3, "moments syy has 1000.0"),
        ("regression", "moments.sxy.0", 1e200, "moments sxy has 1e"),
        ("regression", "moments.sxy.0", 1e141, "sum of squares is|moments sxy has"),
    ],
)
def test_every_entry_of_a_real_model_is_checked(kind, place, value, message, tmp_path):
    document = real_document(kind)
    load_model(save(tmp_path / "model.json", json.dumps(document)))
    path = save(tmp_path / "changed.json", json.dumps(changed(document, place, value)))
    with pytest.raises(ModelError, match=message) as error:
        load_model(path)
    assert str(error.value).startswith(f"{path} cannot be used as a model: ")


def assert_real_predicts_or_is_refused(path):
    """Return whether a file is refused; one that is not must hold a model that works."""
    try:
        saved = load_model(path)
        rows = np.array([[0.1, -1.0, 2.0], [30.0, np.nan, -3.0]])[:, : saved.fitted.n_columns]
        if saved.classes is None:
            mean, std = saved.predictor.mean_and_std(rows)
            quantiles = saved.predictor.quantiles(rows)
            assert np.all(np.isfinite(mean) & (std >= 0.0) & (std < np.inf))
            assert np.all(np.isfinite(quantiles))
            assert np.all(np.diff(quantiles, axis=1) >= 0.0)
        else:
            proba = saved.predictor.predict_proba(rows)
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)
    except ModelError:
        return True
    return False


def leaves(value, place=()):
    """The places of all values in a document that are no lists or records."""
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        return [leaf for key in keys for leaf in leaves(value[key], (*place, key))]
    return [place]


@pytest.mark.parametrize("kind", ["gaussian", "regression"])
def test_damaged_numbers_are_refused_or_harmless(kind, tmp_path, seed):
    """Numbers become much larger or smaller, or those at which arithmetic ends."""
    rng = np.random.default_rng(seed)
    extremes = [0, 1, -1, 3, 1e-300, 1e-150, 1e-9, 1e9, 1e100, 1e150, 1e300, -1e300, 10**15, 5e-324]
    refused = []
    for _ in range(6):
        document = real_document(kind, int(rng.integers(10**6)), rng.choice([0.0, 0.05]))
        places = [place for place in leaves(document) if place[0] in _COMPUTED]
        for _ in range(6):
            copy = json.loads(json.dumps(document))
            for index in rng.integers(len(places), size=rng.integers(1, 3)):
                *parents, last = places[index]
                inner = copy
                for key in parents:
                    inner = inner[key]
                old = inner[last]
                if rng.random() < 0.5 or not isinstance(old, float):
                    inner[last] = extremes[rng.integers(len(extremes))]
                else:
                    inner[last] = old * float(10.0 ** rng.uniform(-12, 12))
            path = save(tmp_path / "changed.json", json.dumps(copy))
            refused.append(assert_real_predicts_or_is_refused(path))
    assert 0.2 < np.mean(refused) < 1


_COMPUTED = ("moments", "event", "priors", "pseudocounts", "y_mean", "selection")


@pytest.mark.slow
@HERE
@pytest.mark.parametrize("kind", ["gaussian", "regression"])
@given(data=st.data())
def test_any_value_in_any_place_of_a_real_model(kind, data, tmp_path):
    document = real_document(kind)
    inner, key = document, data.draw(st.sampled_from(sorted(document)))
    while isinstance(inner[key], dict | list) and inner[key] and data.draw(st.booleans()):
        inner = inner[key]
        keys = sorted(inner) if isinstance(inner, dict) else range(len(inner))
        key = data.draw(st.sampled_from(keys))
    inner[key] = data.draw(json_values)
    assert_real_predicts_or_is_refused(save(tmp_path / "changed.json", json.dumps(document)))


@pytest.mark.parametrize("kind", ["gaussian", "regression"])
def test_numbers_without_a_posterior_are_told(kind, tmp_path, monkeypatch):
    saved = load_model(save(tmp_path / "model.json", json.dumps(real_document(kind))))

    def diverge(*_):
        raise ArithmeticError("the integral did not converge")

    monkeypatch.setattr(GaussianModel, "condition", diverge)
    with pytest.raises(ModelError, match="do not go together: the integral did not converge"):
        saved.predictor.mean_and_std(
            [[0.0] * 3]
        ) if kind == "regression" else saved.predictor.predict_proba([[0.0] * 3])


def test_rows_that_do_not_fit_a_real_model(tmp_path):
    document = json.dumps(real_document("regression"))
    saved = load_model(save(tmp_path / "model.json", document))
    with pytest.raises(ValueError, match=r"shape \(1, 2\), but the model needs rows of its 3"):
        saved.predictor.mean_and_std([[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"column 1 \('g2'\) has infinity in row 0"):
        saved.predictor.mean_and_std([[0.0, np.inf, 0.0]])
    for wrong in ((0.5, 1.0), (0.0,), (np.nan,), ()):
        with pytest.raises(ValueError, match="must be numbers above 0 and below 1"):
            saved.predictor.quantiles([[0.0, 1.0, 2.0]], wrong)
    none = np.empty((0, 3))
    assert [part.shape for part in saved.predictor.mean_and_std(none)] == [(0,), (0,)]
    assert saved.predictor.quantiles(none).shape == (0, 3)
    classifier = json.dumps(real_document("gaussian"))
    saved = load_model(save(tmp_path / "model.json", classifier))
    with pytest.raises(ValueError, match=r"column 1 \('g2'\) has infinity in row 0"):
        saved.predictor.predict_proba([[0.0, -np.inf, 0.0]])
    assert saved.predictor.predict_proba(none).shape == (0, 3)


def test_predicting_a_real_response_needs_no_scikit_learn(tmp_path):
    path = save(tmp_path / "model.json", json.dumps(real_document("regression")))
    data = save(tmp_path / "data.csv", "g3,g1,g2\n0,1,\n1,0,-3\n")
    code = USE_MODEL.replace("predict_proba", "quantiles")
    blocked = ["sklearn", "pandas", "pyarrow", "joblib"]
    found, loaded = run(code.format(blocked=blocked), path, data).splitlines()
    rows = [[1, np.nan, 0], [0, -3, 1]]
    assert json.loads(found) == load_model(path).predictor.quantiles(rows).tolist()
    assert loaded == "[]"


# --- what evidence is worth ----------------------------------------------------------------------


def alike(X, y, seed):
    """The same with features that repeat the first ones: their evidence is worth less."""
    rng = np.random.default_rng(seed)
    first = X[:, :1] + 0.8 * y[:, np.newaxis]
    X = X.copy()
    X[:, :8] = first + 0.3 * rng.normal(size=(len(X), 8))
    return X


@pytest.mark.parametrize("kind", ["bernoulli", "two classes", "three classes"])
@pytest.mark.parametrize("prior", ["common", "sparse"])
def test_a_saved_tempered_model_predicts_the_same(kind, prior, tmp_path, seed):
    X, y = make_real(seed, 3 if kind == "three classes" else 2)
    make = SelectiveBernoulliNB if kind == "bernoulli" else SelectiveGaussianNB
    estimator = make(k=6, prior=prior, dependence="tempered").fit(alike(X, y, seed), y)
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    new, _ = make_real(seed + 1000, 2)
    rows = new[:, estimator.selection_.indices]
    for predict in ("predict_log_proba", "predict_proba"):
        ours, theirs = getattr(saved.predictor, predict)(rows), getattr(estimator, predict)(new)
        np.testing.assert_array_equal(ours, theirs, strict=True)
    ours, theirs = saved.average.powers[0], estimator.likelihood_average_.powers[0]
    for name in ("eta", "epsilon", "log_weights"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), strict=True)
    assert ours.left_out.size == 0  # a file tells nothing of single cases
    save_estimator(make(k=6, prior=prior).fit(alike(X, y, seed), y), tmp_path / "plain.json")
    plain = load_model(tmp_path / "plain.json")
    assert not plain.average.is_learned
    assert (
        np.abs(plain.predictor.predict_proba(rows) - saved.predictor.predict_proba(rows)).max()
        > 1e-6
    )


def test_nodes_that_come_twice_keep_their_order(tmp_path):
    """Far out eta is 1 to the last digit: two rows have the same eta."""
    eta = np.array([1.0, 1.0, 1.0, 1.0, 0.5])
    epsilon = np.array([0.0, 0.2, 0.0, 0.4, 0.2])
    logs = np.log([0.2, 0.1, 0.3, 0.3, 0.1])
    power = PowerPosterior(eta, epsilon, logs, HeldOut.none(), PowerPrior())
    average = LikelihoodAverage((power,), np.zeros(1))
    path = save_small(tmp_path / "model.json", average=average)
    document = json.loads(path.read_text())
    assert document["tempering"]["eta"] == [1.0, 1.0, 0.5]
    assert document["tempering"]["epsilon"] == [0.0, 0.2, 0.4]
    assert document["tempering"]["log_weights"][2] == [None, logs[4], None]
    ours = load_model(path).average.powers[0]
    for name, theirs in (("eta", eta), ("epsilon", epsilon), ("log_weights", logs)):
        np.testing.assert_array_equal(getattr(ours, name), theirs, strict=True)


@functools.cache
def tempered_text(make=SelectiveGaussianNB):
    """The file of a small model."""
    X, y = make_real(0, 3 if make is SelectiveGaussianNB else 2, n=30, p=12)
    estimator = make(k=3, dependence="tempered").fit(alike(X, y, 0), y)
    return text_of(estimator)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("", [], r"tempering is \[\], not a set of named entries"),
        ("eta", ..., "tempering has no entry 'eta'"),
        ("zeta", 1, "tempering has the unknown entry 'zeta'"),
        ("eta", [], "the length of tempering eta has 0"),
        ("eta", 0.5, "tempering eta is 0.5, not a list"),
        ("eta", [0.5] * 200_000, "the length of tempering eta has 200000"),
        ("eta.0", 1.5, r"tempering eta has 1.5 where a finite number in 0.0\.\.1.0"),
        ("eta.0", "1", "tempering eta has '1'"),
        ("eta.0", None, "tempering eta has None"),
        ("epsilon.0", -0.1, "tempering epsilon has -0.1"),
        ("epsilon.1", 0.0, "tempering epsilon has values that do not increase"),
        ("epsilon", [0.5], "tempering log_weights has .* values where 1 are expected"),
        ("epsilon", np.linspace(0, 1, 99_999).tolist(), "the number of tempering nodes has"),
        ("log_weights", [], "tempering log_weights has 0 values"),
        ("log_weights.0", [], "tempering log_weights has 0 values"),
        ("log_weights.0", 3, "tempering log_weights is 3, not a list"),
        ("log_weights.0.0", 0.1, "tempering log_weights has 0.1"),
        ("log_weights.0.0", "x", "tempering log_weights has 'x'"),
        ("log_weights.0.0", -1e-3, "tempering log_weights make a sum of 1.*, not 1"),
        ("log_weights.0.0", 10**400, "tempering log_weights has 1000"),
    ],
)
@pytest.mark.parametrize("make", [SelectiveBernoulliNB, SelectiveGaussianNB])
def test_every_entry_of_tempering_is_checked(place, value, message, make, tmp_path):
    document = json.loads(tempered_text(make))
    load_model(save(tmp_path / "model.json", json.dumps(document)))
    wrong = changed(document, f"tempering.{place}".rstrip("."), value)
    path = save(tmp_path / "changed.json", json.dumps(wrong))
    with pytest.raises(ModelError, match=message) as error:
        load_model(path)
    assert str(error.value).startswith(f"{path} cannot be used as a model: ")


@pytest.mark.parametrize("kind", ["bernoulli", "three classes"])
def test_a_saved_weighed_model_predicts_the_same(kind, tmp_path, seed):
    X, y = make_real(seed, 3 if kind == "three classes" else 2)
    make = SelectiveBernoulliNB if kind == "bernoulli" else SelectiveGaussianNB
    estimator = make(k=6, dependence="correlated").fit(alike(X, y, seed), y)
    save_estimator(estimator, tmp_path / "model.json")
    saved = load_model(tmp_path / "model.json")
    new, _ = make_real(seed + 1000, 2)
    rows = new[:, estimator.selection_.indices]
    theirs = estimator.predict_log_proba(new)
    np.testing.assert_allclose(saved.predictor.predict_log_proba(rows), theirs, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(saved.average.weights, estimator.likelihood_average_.weights)
    assert saved.average.left_out.size == 0
    tempered = make(k=6, dependence="tempered").fit(alike(X, y, seed), y)
    assert np.abs(tempered.predict_log_proba(new) - theirs).max() > 1e-6


@functools.cache
def weighed_text():
    X, y = make_real(0, 3, n=30, p=12)
    estimator = SelectiveGaussianNB(k=3, dependence="correlated").fit(alike(X, y, 0), y)
    return text_of(estimator)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("weighing", [], r"weighing is \[\], not a set of named entries"),
        ("weighing.spread", ..., "weighing has no entry 'spread'"),
        ("weighing.spread", [1.0], "weighing spread has 1 values where 3"),
        ("weighing.spread", None, "weighing temperings has 8 values where 4"),
        ("weighing.spread.0", -1.0, "weighing spread has -1.0"),
        ("weighing.correlation", [], "weighing correlation has 0 values where 3"),
        ("weighing.correlation.2", [0.1], "weighing correlation has 1 values where 2"),
        ("weighing.correlation.2.0", 2.0, "weighing correlation has 2.0"),
        ("weighing.correlation", [[], [1.0], [1.0, -1.0]], "it has a negative eigenvalue"),
        ("weighing.log_weights.0", 0.0, "weighing log_weights make a sum of"),
        ("weighing.temperings.1.eta.0", 7.0, "tempering eta has 7.0"),
        ("tempering", {}, "both tempering and weighing"),
    ],
)
def test_every_entry_of_weighing_is_checked(place, value, message, tmp_path):
    document = json.loads(weighed_text())
    load_model(save(tmp_path / "model.json", json.dumps(document)))
    path = save(tmp_path / "changed.json", json.dumps(changed(document, place, value)))
    with pytest.raises(ModelError, match=message):
        load_model(path)


def test_a_regression_has_no_tempering(tmp_path):
    document = {**real_document("regression"), "tempering": None}
    path = save(tmp_path / "model.json", json.dumps(document))
    with pytest.raises(ModelError, match="the file has the unknown entry 'tempering'"):
        load_model(path)


@pytest.mark.slow
def test_damaged_tempering_is_refused_or_harmless(tmp_path, seed):
    rng = np.random.default_rng(seed)
    document = json.loads(tempered_text())
    places = [p for p in leaves(document) if p[0] in (*_COMPUTED, "tempering")]
    extremes = [None, 0, 1, -1, 1e-300, 1e-9, 0.5, 1e9, 1e150, 1e300, -1e300, -1e8, 5e-324]
    refused = []
    for _ in range(60):
        copy = json.loads(json.dumps(document))
        inside = rng.random() < 0.5  # of the many nodes, and of all the rest
        chosen = [p for p in places if (p[0] == "tempering") == inside]
        *parents, last = chosen[rng.integers(len(chosen))]
        inner = copy
        for key in parents:
            inner = inner[key]
        inner[last] = extremes[rng.integers(len(extremes))]
        path = save(tmp_path / "changed.json", json.dumps(copy))
        refused.append(assert_real_predicts_or_is_refused(path))
    assert 0.2 < np.mean(refused) < 1


# --- what a model says of its features -----------------------------------------------------------


def test_features_of_classes_are_described(seed):
    X, y = make_real(seed, 3, missing=0.05)
    estimator = SelectiveGaussianNB(k=6).fit(X, y)
    features = describe_features(estimator._predictor.fitted, estimator.scores_)
    assert [f["score"] for f in features] == sorted(estimator.scores_, reverse=True)
    column = estimator.selection_.indices[int(features[0]["name"])]
    groups = [X[(y == g) & ~np.isnan(X[:, column]), column] for g in range(3)]
    assert features[0]["cases"] == [len(group) for group in groups]
    np.testing.assert_allclose(features[0]["means"], [group.mean() for group in groups])
    pooled = sum(group.var() * len(group) for group in groups) / (sum(map(len, groups)) - 3)
    np.testing.assert_allclose(features[0]["deviation"], np.sqrt(pooled))


def test_features_along_a_line_are_described(seed):
    X, y = make_real(seed, missing=0.05)
    estimator = SelectiveNaiveRegressor(k=6).fit(X, y)
    for feature in describe_features(estimator._predictor.fitted, estimator.scores_):
        column = X[:, estimator.selection_.indices[int(feature["name"])]]
        known = ~np.isnan(column)
        (slope, _), (squares,), *_ = np.polyfit(y[known], column[known], 1, full=True)
        np.testing.assert_allclose(feature["slope"], slope)
        np.testing.assert_allclose(feature["mean"], column[known].mean())
        correlation = np.corrcoef(column[known], y[known])[0, 1]
        np.testing.assert_allclose(feature["correlation"], correlation)
        np.testing.assert_allclose(feature["deviation"], np.sqrt(squares / (known.sum() - 2)))
        assert feature["cases"] == known.sum()


@pytest.mark.parametrize(
    ("place", "value"),
    [(("draws", "variances"), 0.0), (("unit",), 1e-320), (("center",), 1e308)],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_factor_model_whose_numbers_have_no_predictions_is_refused(place, value, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 12)), rng.normal(size=20)
    chains = {"n_chains": 1, "n_draws": 4, "n_warmup": 2, "random_state": 0}
    estimator = SelectiveFactorRegressor(k=3, **chains).fit(X, y)
    save_estimator(estimator, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    entry = document
    for name in place[:-1]:
        entry = entry[name]
    entry[place[-1]] = np.full_like(np.array(entry[place[-1]]), value).tolist()
    path = save(tmp_path / "changed.json", json.dumps(document))
    with pytest.raises(ModelError, match=r"center has|they have no posterior"):
        _ = load_model(path).predictor
