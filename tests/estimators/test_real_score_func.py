"""`SelectiveGaussianNB(score_func=...)`: scores of real values, through every door."""

import json
import pickle
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import f_classif
from value_oracle import ORACLES

from unselected import SelectiveGaussianNB
from unselected.cli import main
from unselected.files.models import load_model, save_model
from unselected.plots import OmissionProbabilityDisplay
from unselected.report import examine, report

NAMES = ["welch", "moderated_t", "wilcoxon", "auc", "mean_difference", "volcano"]


def median_difference(X, y):
    centred = X - np.median(X, axis=0)
    return np.abs(np.mean(centred[y == 1] > 0, axis=0) - np.mean(centred[y == 0] > 0, axis=0))


SCORES = [*NAMES, f_classif]
EACH = pytest.mark.parametrize("score", SCORES, ids=lambda score: getattr(score, "__name__", score))


def data(seed=0, n=26, p=150):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p)) * np.random.default_rng(9).uniform(0.5, 2.0, size=p)
    X[y == 1, :4] += 1.2
    return X, y


X, Y = data()
X_NEW = np.clip(data(1)[0], X.min(axis=0), X.max(axis=0))


@pytest.fixture(scope="module")
def fits():
    return {score: SelectiveGaussianNB(k=5, score_func=score).fit(X, Y) for score in SCORES}


def saved_to(path, model):
    fields = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    selection = {name: getattr(model.selection_, name) for name in fields}
    save_model(
        model._predictor,
        path,
        selection=selection | {"scores": model.scores_.tolist()},
        provenance={"unselected": "0"},
    )


@EACH
def test_the_best_columns_are_kept(score, fits):
    model = fits[score]
    if isinstance(score, str) and score != "moderated_t":
        scores = ORACLES[score](X, Y)
        best = np.sort(np.argsort(-scores, kind="stable")[:5])
        np.testing.assert_array_equal(model.selection_.indices, best)
        np.testing.assert_allclose(model.scores_, scores[best])
    assert model.selection_.statistic == (score if isinstance(score, str) else "custom")
    assert model.event_error_ <= 0.1
    assert (model.event_error_ > 0.0) == (score in ("wilcoxon", "auc", f_classif))
    assert model.selection_.event.n_omitted == 145


@EACH
def test_correction_makes_probabilities_less_sure(score, fits):
    naive = SelectiveGaussianNB(k=5, score_func=score, correct_selection=False).fit(X, Y)
    np.testing.assert_array_equal(naive.selection_.indices, fits[score].selection_.indices)
    assert naive.event_error_ == 0.0
    assert fits[score].expected_error(X_NEW) > naive.expected_error(X_NEW) + 0.01


def test_f_by_a_function_is_the_default(fits):
    default = SelectiveGaussianNB(k=5).fit(X, Y)
    told, expected = fits[f_classif].predict_proba(X_NEW), default.predict_proba(X_NEW)
    np.testing.assert_allclose(told, expected, atol=5e-3)
    assert default.event_error_ == 0.0


def test_balanced_welch_is_the_default(fits):
    default = SelectiveGaussianNB(k=5).fit(X, Y)
    np.testing.assert_allclose(
        fits["welch"].predict_proba(X_NEW), default.predict_proba(X_NEW), atol=1e-8
    )


def test_area_and_wilcoxon_are_the_same(fits):
    np.testing.assert_array_equal(
        fits["auc"].predict_proba(X_NEW), fits["wilcoxon"].predict_proba(X_NEW)
    )


@EACH
def test_the_order_of_rows_columns_and_names_does_not_matter(score, fits):
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(Y.size), rng.permutation(X.shape[1])
    names = np.array(["z", "a"])[Y[rows]]
    if score in ("wilcoxon", "auc"):
        columns = np.arange(X.shape[1])  # ties are broken by their order
    other = SelectiveGaussianNB(k=5, score_func=score).fit(X[rows][:, columns], names)
    np.testing.assert_allclose(
        other.predict_proba(X_NEW[:, columns])[:, ::-1], fits[score].predict_proba(X_NEW), atol=1e-7
    )


@EACH
def test_model_files_panels_and_pickles(score, fits, tmp_path):
    model, path = fits[score], tmp_path / "model.json"
    saved_to(path, model)
    saved, kept = load_model(path), X_NEW[:, model.selection_.indices]
    assert saved.selection["statistic"] == model.selection_.statistic
    expected = model.predict_log_proba(X_NEW)
    np.testing.assert_allclose(saved.predictor.predict_log_proba(kept), expected, atol=1e-10)
    np.testing.assert_allclose(model.panel().predict_log_proba(kept), expected, atol=1e-12)
    with warnings.catch_warnings(action="ignore"):  # rows far out need other nodes of tau
        told, expected_far = (
            each.predict_log_proba(100.0 * kept) for each in (saved.predictor, model.panel())
        )
    np.testing.assert_allclose(told, expected_far, atol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_log_proba(X_NEW), expected)
    assert clone(model).score_func == score
    content = json.loads(path.read_text())
    assert "function" not in json.dumps(content["event"])
    assert saved.predictor.fitted.event_error == pytest.approx(model.event_error_)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda event: event.pop("law"), "event has a cut without a law"),
        (lambda event: event["law"].pop("below"), "below"),
        (lambda event: event["law"].update(errors=[-1.0]), "event law errors"),
        (lambda event: event.update(statistic="nothing"), "unknown entry 'n_kept_ties'"),
        (lambda event: event.update(n_features=[1]), "event n_features"),
        (lambda event: event["law"].update(at_most=[1e9] * 3), "event law at_most"),
    ],
)
def test_damaged_files_are_recognized(change, told, fits, tmp_path):
    path = tmp_path / "model.json"
    saved_to(path, fits["wilcoxon"])
    content = json.loads(path.read_text())
    change(content["event"])
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=told):
        load_model(path)


@pytest.mark.parametrize("score", ["wilcoxon", "moderated_t"])
def test_sparse_and_random_ties_and_thresholds(score, fits):
    expected = fits[score].predict_proba(X_NEW)
    stored = SelectiveGaussianNB(k=5, score_func=score).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(stored.predict_proba(X_NEW), expected, atol=1e-9)
    drawn = SelectiveGaussianNB(k=5, score_func=score, ties="random", random_state=0).fit(X, Y)
    assert drawn.selection_.event.n_kept_ties >= 1
    below = np.sort(fits[score].scores_)[0] - 1e-6
    above = SelectiveGaussianNB(threshold=below, score_func=score, store_scores=True).fit(X, Y)
    assert above.k_ >= 5
    assert above.feature_scores_.shape == (150,)
    before = SelectiveGaussianNB(preselected_from=150, score_func="wilcoxon").fit(
        X[:, fits["wilcoxon"].selection_.indices], Y
    )
    assert before.selection_.event.n_kept_ties >= 1
    lottery = fits["wilcoxon"].predict_proba(X_NEW)
    kept = X_NEW[:, fits["wilcoxon"].selection_.indices]
    np.testing.assert_allclose(before.predict_proba(kept), lottery, atol=0.02)


def test_a_sparse_prior_and_constant_columns():
    constant = np.hstack([X, np.ones((Y.size, 3))])
    model = SelectiveGaussianNB(k=5, score_func="wilcoxon", prior="sparse").fit(constant, Y)
    assert model.selection_.event.n_omitted == 145
    assert model.related_probability_.shape == (5,)
    first = SelectiveGaussianNB(k=150, score_func="auc").fit(constant, Y)
    assert first.selection_.event.n_omitted == 0


@pytest.mark.slow
@pytest.mark.parametrize("score", ["welch", "mean_difference", "wilcoxon", f_classif])
def test_leaving_out_cases(score):
    """Every fit without a case is the fit to the other cases."""
    few, y = X[:14, :60], Y[:14]
    model = SelectiveGaussianNB(k=3, score_func=score).fit(few, y)
    told = model.loo_predict_proba()
    for case in (0, 5):
        rest = np.delete(np.arange(14), case)
        other = SelectiveGaussianNB(k=3, score_func=score).fit(few[rest], y[rest])
        expected = other.predict_proba(few[case : case + 1])[0]
        np.testing.assert_allclose(told[case], expected, atol=1e-7)


@pytest.mark.slow
def test_the_guard_and_the_choice_of_k():
    for dependence in ("tempered", "correlated"):
        model = SelectiveGaussianNB(k=3, score_func="wilcoxon", dependence=dependence).fit(X, Y)
        assert np.isfinite(model.predict_proba(X_NEW)).all()
    chosen = SelectiveGaussianNB(k="loo", score_func="moderated_t").fit(X[:, :40], Y)
    assert chosen.k_ in (1, 2, 5, 10, 20)


@pytest.mark.slow
def test_dask():
    array = pytest.importorskip("dask.array")
    for score in ("wilcoxon", "volcano", f_classif):
        here = SelectiveGaussianNB(k=5, score_func=score).fit(X, Y)
        there = SelectiveGaussianNB(k=5, score_func=score).fit(
            array.from_array(X, chunks=(13, 40)), Y
        )
        np.testing.assert_allclose(there.predict_proba(X_NEW), here.predict_proba(X_NEW), atol=1e-9)


@pytest.mark.slow
def test_several_classes_by_a_function():
    y = np.arange(26) % 3
    told = SelectiveGaussianNB(k=5, score_func=f_classif).fit(X, y).predict_proba(X_NEW)
    expected = SelectiveGaussianNB(k=5).fit(X, y).predict_proba(X_NEW)
    np.testing.assert_allclose(told, expected, atol=5e-3)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"score_func": "chi2"}, "score_func='chi2' is not one of 'correlation', 'welch'"),
        ({"score_func": ("volcano", -1.0, 0.1)}, "the fold change must be a positive number"),
        ({"score_func": ("volcano", 1.0, 2.0)}, "the p-value must be between 0 and 1"),
        ({"score_func": "welch", "tolerance": 0.0}, "tolerance=0.0 must be a positive number"),
        ({"score_func": "auc", "k": "loo"}, "k='loo' takes a simulation for each k and case"),
        (
            {"score_func": "moderated_t", "variance_shrinkage": 4.0},
            "use variance_shrinkage=0.0, or a score that does not",
        ),
        ({"score_func": "volcano", "prior": "sparse"}, "use prior='common', or a score"),
        ({"score_func": lambda X, _: X[0] * 0.0}, "gives all 150 columns that vary the score 0"),
        ({"score_func": lambda X, _: X[0] * np.nan}, "score_func returned NaN for column"),
        ({"score_func": lambda X, _: X}, "score_func returned an array of shape"),
        ({"score_func": lambda X, _: X.mean(axis=0)}, "changes when a constant is added"),
    ],
)
def test_bad_parameters_are_told(parameters, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        SelectiveGaussianNB(**{"k": 5, **parameters}).fit(X, Y)


def test_missing_values_and_covariates_are_refused():
    holed = X.copy()
    holed[3, 7] = np.nan
    with pytest.raises(ValueError, match=r"column 7 .*NaN \(a missing value\) in row 3"):
        SelectiveGaussianNB(k=5, score_func="welch").fit(holed, Y)
    with pytest.raises(ValueError, match="score_func='auc' does not adjust for covariates"):
        SelectiveGaussianNB(k=5, score_func="auc").fit(X, Y, covariates={"age": np.arange(26.0)})


@pytest.mark.filterwarnings("ignore:No feature has")
def test_a_threshold_that_no_column_passes():
    with pytest.raises(ValueError, match=r"with classes of 13 and 13 cases it is at most 4\.33"):
        SelectiveGaussianNB(threshold=4.4, score_func="wilcoxon").fit(X, Y)
    weak = SelectiveGaussianNB(threshold=4.3, score_func="wilcoxon").fit(X, Y)
    assert weak.k_ == 0
    assert weak.event_error_ <= 0.1
    with pytest.raises(ValueError, match=r"none of .* simulated features has a score above 1"):
        SelectiveGaussianNB(threshold=1.0, score_func=median_difference).fit(X, Y)


def test_perfect_separation_at_the_cut():
    """Nothing can be above it, and ties are broken by the order."""
    separated = X.copy()
    separated[:, :8] = np.abs(separated[:, :8]) * np.where(Y == 1, 1.0, -1.0)[:, np.newaxis]
    model = SelectiveGaussianNB(k=5, score_func="auc").fit(separated, Y)
    assert model.threshold_ == 1.0
    event = model.selection_.event
    assert event.n_features.tolist() == [145, 0]
    assert event.law.log_omitted(np.ones(1))[0, 0] == 0.0 > event.law.log_omitted(np.ones(1))[0, 1]


def test_the_record_says_how_precise_it_is(fits):
    assert re.search(r"; log event \+- 0\.0\d+\)$", repr(fits["wilcoxon"].selection_))
    assert "log event" not in repr(fits["welch"].selection_)


def test_a_discrete_function_has_ties():
    model = SelectiveGaussianNB(k=5, score_func=median_difference, tolerance=0.5).fit(X, Y)
    law = model.selection_.event.law
    at_most, below = law.log_omitted(np.zeros(1))[0]
    assert below < at_most - 0.01
    assert 0.0 < model.event_error_ <= 0.5


def test_reports_plots_and_the_shell(tmp_path, capsys):
    table, path = tmp_path / "train.csv", tmp_path / "model.json"
    names = ["class", *(f"x{j}" for j in range(30))]
    rows = [",".join(map(str, [label, *x])) for label, x in zip(Y, X[:, :30], strict=True)]
    table.write_text("\n".join([",".join(names), *rows]))
    command = [str(table), "--target", "class", "--k", "3", "--score", "wilcoxon"]
    assert main(["fit", *command, "--model", "gaussian", "-o", str(path)]) == 0
    assert main(["inspect", str(path)]) == 0
    told = capsys.readouterr().out
    assert "wilcoxon" in told
    assert "log probability of the selection: simulated, with a standard error of" in told
    other = str(tmp_path / "other.json")
    assert main(["fit", *command, "--model", "bernoulli", "-o", other]) == 1
    assert "--score wilcoxon is for real-valued features and classes" in capsys.readouterr().err
    model = SelectiveGaussianNB(k=3, score_func="wilcoxon").fit(X[:, :30], Y)
    display = OmissionProbabilityDisplay.from_estimator(model)
    assert display.statistic == "wilcoxon"


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_report_names_the_score():
    model = SelectiveGaussianNB(k=3, score_func="auc")
    asked = {"n_splits": 2, "n_repeats": 1, "methods": ["corrected"]}
    findings = examine(X[:, :30], Y, classifier=model, **asked)
    assert "area under the curve" in report(findings)
