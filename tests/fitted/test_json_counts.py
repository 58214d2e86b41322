"""Model files of binary features: several classes, known values, given totals, kinds."""

import json

import numpy as np
import pytest
from written_files import selection_of

from unselected import SelectiveBernoulliNB
from unselected.files.models import ModelError, load_model, save_model

PROVENANCE = {"unselected": "0.1.0", "created": "2024-05-06T07:08:09+00:00"}


def table(seed, G=3, missing=0.04, n=24, p=50):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % G
    shifts = 0.3 * rng.normal(size=(G, p)) * (rng.random(p) < 0.4)
    X = (rng.random((n, p)) < np.clip(rng.random(p) ** 2 + shifts[y], 0, 1)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 0] = y == 1
    return X, y


def save(estimator, path):
    selection = selection_of(estimator)
    save_model(estimator._predictor, path, selection=selection, provenance=PROVENANCE)
    return path


TABLES = [(2, 0.0), (2, 0.04), (3, 0.0), (3, 0.04), (4, 0.0)]
OPTIONS = [
    {"k": 5},
    {"k": 5, "rates": "given", "prior": "sparse"},
    {"k": 5, "rates": "given", "correct_selection": False},
    {"k": 3, "rates": "given", "class_pseudocounts": 0.5, "ties": "random", "random_state": 0},
    {"threshold": 0.4, "rates": "given", "always_keep": [0]},
    {"rates": "given"},
    {"threshold": 0.9999, "rates": "given"},
]


@pytest.mark.parametrize(
    ("options", "G", "missing"),
    [
        *(({"k": 5, "rates": "given"}, *of) for of in TABLES),
        *((options, *of) for options in OPTIONS for of in ((2, 0.04), (3, 0.0))),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:No feature has")
@pytest.mark.filterwarnings("ignore:.* outside of their training range")
def test_a_saved_model_predicts_the_same_to_the_last_bit(options, G, missing, tmp_path, seed):
    X, y = table(seed, G, missing)
    labels = np.array(["d", "b", "a", "c"])[:G]
    estimator = SelectiveBernoulliNB(**options).fit(X, labels[y])
    saved = load_model(save(estimator, tmp_path / "model.json"))
    new, _ = table(seed + 1000, G, 0.05)
    kept = estimator.selection_.indices
    ours = saved.predictor.predict_log_proba(new[:, kept])
    np.testing.assert_array_equal(ours, estimator.predict_log_proba(new), strict=True)
    fitted, original = saved.fitted, estimator._predictor.fitted
    assert fitted.model == original.model
    assert fitted.event.statistic == original.event.statistic
    assert fitted.event.cut == original.event.cut
    assert fitted.event.n_omitted == original.event.n_omitted
    np.testing.assert_array_equal(fitted.counts.ones, original.counts.ones)
    np.testing.assert_array_equal(
        fitted.omission_probability(np.array([0.5, 20.0])),
        original.omission_probability(np.array([0.5, 20.0])),
    )
    again = json.loads((tmp_path / "model.json").read_text())
    save_model(
        saved.predictor,
        tmp_path / "again.json",
        selection={**saved.selection, "scores": np.array(saved.selection["scores"])},
        provenance=saved.provenance,
    )
    assert json.loads((tmp_path / "again.json").read_text()) == again


def changed(document, place, value):
    """Change one entry of the document; `...` deletes it."""
    *parents, last = (int(key) if key.isdigit() else key for key in place.split("."))
    for key in parents:
        document = document[key]
    if value is ...:
        del document[last]
    else:
        document[last] = value


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    X, y = table(0)
    estimator = SelectiveBernoulliNB(k=4, rates="given").fit(X, y)
    path = save(estimator, tmp_path_factory.mktemp("model") / "model.json")
    found = json.loads(path.read_text())
    kinds = found["event"]["kinds"]
    assert len(kinds["totals"]) > 5
    assert found["counts"]["sizes"] == [8, 8, 8]
    return path.read_text()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("counts.sizes", [8, 8], "counts ones has 3 values where 2 are expected"),
        ("counts.sizes", [8], "counts sizes has 1 classes"),
        ("counts.sizes", [8, 8, 0], "counts sizes has 0 where a whole number in 1"),
        ("counts.sizes", "8", "counts sizes is '8', not a list"),
        ("counts.ones.0.0", 9, "counts ones has 9 where a whole number in 0..8"),
        ("counts.ones.1", [1, 2], "counts ones has 2 values where 4 are expected"),
        ("counts.ones", ..., "counts has no entry 'ones'"),
        ("counts.known.0.0", 0, "counts known is less than 1"),
        ("counts.known.2.1", 9, "counts known has 9 where a whole number in 0..8"),
        ("counts.known", [[8, 8, 8, 8]], "counts known has 1 values where 3 are expected"),
        ("counts.n0", 3, "counts has the unknown entry 'n0'"),
        ("classes.values", [0, 1], "classes has 2 values where 3 are expected"),
        ("event.statistic", "COR", "event statistic is 'COR', not one of"),
        ("event.statistic", "|COR|", "different numbers of classes"),
        ("event.statistic", ..., "different numbers of classes"),
        ("event.kinds.totals.0", -2, "event kinds totals has -2"),
        ("event.kinds.totals.0", 25, "event kinds totals has 25"),
        ("event.kinds.totals", [1], "event kinds totals has 1 values"),
        ("event.kinds.sizes.0", [8, 8], "different numbers of classes"),
        ("event.kinds.sizes.0", [0, 8, 8], "event kinds sizes has 0"),
        ("event.kinds.n_below.0", -1, "event kinds n_below has -1"),
        ("event.kinds.n_at_cut", ..., "event kinds has no entry 'n_at_cut'"),
        ("event.kinds.more", 1, "event kinds has the unknown entry 'more'"),
        ("event.kinds", [], "event kinds is"),
        ("event.cut", None, "omitted features but no cut"),
        ("event.kinds.n_below.0", 10**6, "omitted features"),
        ("priors.rates", "known", "priors rates is 'known', not one of"),
        ("priors.pseudocounts", [1.0, 1.0], "different numbers of classes"),
        ("priors.pseudocounts", [1.0, 1.0, -1.0], "priors pseudocounts has -1.0"),
        ("priors.pseudocounts", 1.0, "priors pseudocounts is 1.0, not a list"),
        ("quadrature.rule", "paper", "quadrature rule is 'paper', not one of 'exact'"),
        ("selection.statistic", "|COR|", "selection statistic"),
    ],
)
def test_every_entry_is_checked(document, place, value, message, tmp_path):
    entries = json.loads(document)
    changed(entries, place, value)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(entries))
    with pytest.raises(ModelError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("event.kinds.sizes.0", [8, 8, 9], "more known values than a class has cases"),
        ("event.kinds.sizes.0", [4000, 4000, 4000], "more known values than a class has cases"),
        ("event.kinds.totals.0", -1, "totals do not agree with priors rates 'given'"),
        ("priors.rates", "uniform", "totals do not agree with priors rates 'uniform'"),
        ("event.cut", ["0", "1"], "features below a cut of 0"),
    ],
)
def test_what_no_fit_can_have_written_is_refused(document, place, value, message, tmp_path):
    """Entries that are right by themselves and contradict others."""
    test_every_entry_is_checked(document, place, value, message, tmp_path)
