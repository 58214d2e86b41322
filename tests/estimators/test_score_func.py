"""`SelectiveBernoulliNB(score_func=...)`: scores by name and by function, through every door."""

import json
import pickle
import re

import numpy as np
import pytest
from count_oracle import vectors
from oracle import event_by_enumeration, evidence_by_class, outcomes
from scipy.special import betaln
from score_oracle import FOR_SEVERAL, ORACLES, name_of, risen_by_arrays
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from unselected import SelectiveBernoulliNB
from unselected.cli import main
from unselected.files.models import load_model, save_model
from unselected.plots import OmissionProbabilityDisplay
from unselected.report import examine, report

pytestmark = pytest.mark.slow  # many fits

SCORES = pytest.mark.parametrize("score", ORACLES, ids=name_of)
NAMED = [score for score in ORACLES if isinstance(score, str)]


def data(seed=0, n=24, p=60, classes=2, missing=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = (rng.random((n, p)) < 0.3 + 0.3 * rng.random(p) * (y[:, np.newaxis] == 1)).astype(float)
    X[rng.random((n, p)) < missing] = np.nan
    return X, y


@SCORES
@pytest.mark.parametrize("ties", ["first", "random"])
def test_predictions_and_evidence_by_enumeration(score, ties, seed):
    """Every data set that the omitted columns could have been."""
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, 1, 1, 0])
    X = rng.integers(0, 2, size=(5, 4))
    X[:, 1], X[:, 3] = y, X[:, 0]
    model = SelectiveBernoulliNB(k=2, score_func=score, ties=ties, random_state=seed).fit(X, y)
    indices = model.selection_.indices
    kept = {int(j): (int(X[y == 0, j].sum()), int(X[y == 1, j].sum())) for j in indices}
    values = {pair: ORACLES[score](pair, (2, 3)) for pair in vectors((2, 3))}
    event = event_by_enumeration(
        kept, 4, 2, 3, lambda v: outcomes(v, 2, ties).get(frozenset(kept), 0.0), values
    )
    X_new = np.array(vectors((1,) * 4))
    evidence = evidence_by_class(kept.values(), X_new[:, indices], 2, 3, event)
    joint = evidence * np.array([3, 4])
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X_new), expected, atol=1e-8)
    rows = {tuple(x): row for x, row in zip(X_new[:, indices], evidence, strict=True)}
    total = sum(rows.values())[0]
    assert model.log_marginal_likelihood_ == pytest.approx(np.log(total) + betaln(3, 4), abs=1e-7)
    naive = SelectiveBernoulliNB(
        k=2, score_func=score, ties=ties, random_state=seed, correct_selection=False
    ).fit(X, y)
    if model.omission_probability_.min() < 1.0:  # else no feature could have been above the cut
        assert np.max(np.abs(naive.predict_proba(X_new) - expected)) > 1e-4


@SCORES
def test_the_selection_is_that_of_the_definition(score):
    X, y = data(missing=0.05)
    model = SelectiveBernoulliNB(k=10, score_func=score, store_scores=True).fit(X, y)
    ones, known = (
        np.array([each[y == g].sum(axis=0) for g in (0, 1)]).astype(int)
        for each in (np.nan_to_num(X), ~np.isnan(X))
    )
    columns = zip(ones.T.tolist(), known.T.tolist(), strict=True)
    values = [ORACLES[score](tuple(i), tuple(n)) for i, n in columns]
    order = sorted(range(60), key=lambda j: (-values[j], j))
    assert model.selection_.indices.tolist() == sorted(order[:10])
    name = score if isinstance(score, str) else "custom"
    assert model.selection_.statistic == name
    assert f"weakest {name} = " in repr(model.selection_)
    assert model.feature_scores_[order[9]] == model.threshold_ == model.scores_.min()
    again = SelectiveBernoulliNB(threshold=model.threshold_, score_func=score).fit(X, y)
    assert again.selection_.indices.tolist() == sorted(
        j for j in range(60) if values[j] > values[order[9]]
    )


@pytest.mark.slow
@pytest.mark.parametrize("score", FOR_SEVERAL, ids=name_of)
def test_leaving_out_a_case_is_fitting_without_it(score):
    """Three classes and missing values, with the tables that fits share."""
    X, y = data(n=9, p=20, classes=3, missing=0.03)
    rates = ("uniform", "given")[FOR_SEVERAL.index(score) % 2]
    how = {"k": 4, "score_func": score, "rates": rates}
    left_out = SelectiveBernoulliNB(**how).fit(X, y).loo_predict_proba()
    for i in (7,):
        others = np.arange(9) != i
        alone = SelectiveBernoulliNB(**how).fit(X[others], y[others]).predict_proba(X[[i]])
        np.testing.assert_allclose(left_out[i], alone[0], atol=1e-8)


@SCORES
def test_it_is_an_estimator_of_scikit_learn(score):
    """The parameter does not hide the method `score`."""
    X, y = data()
    model = clone(SelectiveBernoulliNB(k=5, score_func=score)).fit(X, y)
    assert model.get_params()["score_func"] is score
    assert 0.0 <= model.score(X, y) <= 1.0
    assert cross_val_score(model, X, y, cv=3).size == 3
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(X), model.predict_proba(X))
    assert copied.selection_.event == model.selection_.event


@SCORES
def test_blocks_of_dask_give_the_same(score):
    da = pytest.importorskip("dask.array")
    X, y = data(p=90)
    whole = SelectiveBernoulliNB(k=7, score_func=score).fit(X, y)
    parts = SelectiveBernoulliNB(k=7, score_func=score).fit(da.from_array(X, chunks=(9, 13)), y)
    assert parts.selection_.event == whole.selection_.event
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


# Files


@SCORES
@pytest.mark.parametrize(
    "how",
    [{"k": 6}, {"rates": "given", "k": 6}, {"threshold": 1.2}, {"k": 6, "prior": "sparse"}],
    ids=str,
)
def test_model_files_predict_the_same(score, how, tmp_path):
    X, y = data(missing=0.04 if "rates" in how else 0.0)
    if "threshold" in how:
        how = {"threshold": 1.2 if score in ("fisher", "odds_ratio", "chi2") else 0.05}
    model = SelectiveBernoulliNB(**how, score_func=score).fit(X, y)
    panel, path = model.panel(), tmp_path / "model.json"
    save_model(panel.predictor, path, selection=record_of(model), provenance={"unselected": "1"})
    saved = load_model(path)
    assert saved.selection["statistic"] == model.selection_.statistic
    rows = X[:, model.selection_.indices]
    np.testing.assert_allclose(
        saved.predictor.predict_log_proba(rows), model.predict_log_proba(X), atol=1e-12
    )
    held = json.loads(path.read_text())
    assert held["event"]["statistic"] == model.selection_.statistic
    assert ("posterior" in held) == callable(score)


def record_of(model):
    names = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    return {name: getattr(model.selection_, name) for name in names} | {
        "scores": model.scores_.tolist()
    }


def test_a_file_of_a_custom_score_has_no_function(tmp_path):
    X, y = data()
    model = SelectiveBernoulliNB(k=6, score_func=risen_by_arrays).fit(X, y)
    path = tmp_path / "model.json"
    save_model(
        model.panel().predictor, path, selection=record_of(model), provenance={"unselected": "1"}
    )
    fitted = load_model(path).predictor.fitted
    with pytest.raises(ValueError, match="a model file does not hold the function"):
        fitted.omission_probability(np.array([1.0]))
    entries = json.loads(path.read_text())
    del entries["posterior"]
    path.write_text(json.dumps(entries))
    with pytest.raises(ValueError, match="statistic is custom, but there is no posterior"):
        load_model(path)


# Errors


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"score_func": "gini"}, "score_func='gini' is not one of 'correlation', 'chi2', 'mutual"),
        ({"score_func": 3}, "score_func=3 is not one of 'correlation'"),
        ({"score_func": "odds_ratio", "threshold": 0.5}, "an odds ratio is at least 1"),
        ({"score_func": "rate_difference", "threshold": 1.5}, "a rate difference is from 0 to 1"),
        ({"score_func": "fisher", "k": 2, "quadrature": "paper"}, "does not support score_func='f"),
        (
            {"score_func": "chi2", "k": 2, "covariates": [0]},
            "'chi2' does not adjust for covariates",
        ),
        ({"score_func": len, "k": 2}, "takes exactly one argument"),
    ],
)
def test_what_does_not_go_is_said(how, message):
    X, y = data()
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        SelectiveBernoulliNB(**how).fit(X, y)


@pytest.mark.parametrize("score", ["fisher", "odds_ratio"])
def test_scores_of_two_classes_refuse_three(score):
    X, y = data(classes=3)
    with pytest.raises(ValueError, match=f"{score}' compares two classes, and y has 3: use"):
        SelectiveBernoulliNB(k=2, score_func=score).fit(X, y)


def test_nothing_above_a_threshold_is_a_warning_with_the_name():
    X, y = data()
    with pytest.warns(UserWarning, match=r"No feature has a -log10 p-value .* threshold=99"):
        SelectiveBernoulliNB(threshold=99.0, score_func="fisher").fit(X, y)


# Plots, report and shell


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
@pytest.mark.usefixtures("no_pictures")
def test_the_plot_and_the_report_name_the_score():
    X, y = data()
    model = SelectiveBernoulliNB(k=5, score_func="fisher").fit(X, y)
    display = OmissionProbabilityDisplay.from_estimator(model, concentration=[0.1, 1.0, 10.0])
    assert "fisher at most" in display.line_.get_label()
    findings = examine(X, y, classifier=model, n_splits=2, n_repeats=1, methods=["corrected"])
    assert "-log10 p (Fisher)" in report(findings)


@pytest.mark.parametrize("score", NAMED)
def test_the_shell(score, tmp_path, capsys):
    X, y = data(p=12)
    table, model = tmp_path / "train.csv", tmp_path / "model.json"
    header = ",".join(["class", *(f"x{j}" for j in range(12))])
    lines = [",".join(map(str, [label, *row.astype(int)])) for label, row in zip(y, X, strict=True)]
    table.write_text("\n".join([header, *lines]))
    assert (
        main(
            ["fit", str(table), "--target", "class", "--k", "3", "--score", score, "-o", str(model)]
        )
        == 0
    )
    assert main(["inspect", str(model)]) == 0
    assert score in capsys.readouterr().out
    expected = SelectiveBernoulliNB(k=3, score_func=score).fit(X, y)
    saved = load_model(model)
    np.testing.assert_allclose(
        saved.predictor.predict_log_proba(X[:, expected.selection_.indices]),
        expected.predict_log_proba(X),
        atol=1e-12,
    )


def test_the_shell_says_where_a_score_is_not_available(tmp_path, capsys):
    table = tmp_path / "train.csv"
    X, y = data(p=6)
    lines = [",".join(map(str, [label, *row.astype(int)])) for label, row in zip(y, X, strict=True)]
    table.write_text("\n".join([",".join(["class", *"abcdef"]), *lines]))
    command = [str(table), "--target", "class", "--k", "2", "--score", "fisher"]
    assert main(["fit", *command, "--model", "gaussian", "-o", str(tmp_path / "m.json")]) == 1
    told = capsys.readouterr().err
    assert "--score fisher is for features of 0 and 1, and not available for the model" in told
    assert main(["cv", *command, "--splits", "3", "--repeats", "1", "--method", "corrected"]) == 0
    assert "corrected" in capsys.readouterr().out
