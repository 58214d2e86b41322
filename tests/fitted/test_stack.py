"""An average over models of binary and real-valued features: predictions, files, explanations."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from unselected import SelectiveClassifier
from unselected.estimators.stack_pooling import Regressions
from unselected.files.models import ModelError, load_model, save_model
from unselected.fitted.predictor import ClassPredictor

pytestmark = pytest.mark.usefixtures("few_folds")


def mixed_data(seed, n=60, p=120, n_classes=2, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = np.exp(rng.normal(size=(n, p)) + 0.8 * (np.arange(p) < 6) * y[:, np.newaxis])
    X[:, ::3] = rng.random((n, X[:, ::3].shape[1])) < 0.2 + 0.25 * y[:, np.newaxis]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def counted_data(seed):
    """Classes by how many of five bits are 1, of which a logistic regression says most."""
    X, _ = mixed_data(seed, n=200, missing=0.02)
    X[:, :15:3] = np.random.default_rng(seed).random((len(X), 5)) < 0.5
    return X, (X[:, :15:3].sum(axis=1) >= 3).astype(int)


@pytest.fixture(scope="module", params=[2, 3, "pooled"])
def fitted(request):
    if request.param == "pooled":
        X, y = counted_data(0)
    else:
        X, y = mixed_data(0, n_classes=request.param, missing=0.02)
    model = SelectiveClassifier(k=25, marginals="normal").fit(X, y)
    assert request.param != "pooled" or model._predictor.fitted.linear is not None
    return model, X


def saved(model, path):
    selection = model.selection_
    names = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    told = {name: getattr(selection, name) for name in names}
    save_model(
        model._predictor,
        path,
        selection={**told, "scores": model.scores_.tolist()},
        provenance={"unselected": "0.1.0"},
        overwrite=True,
    )


def test_the_evidence_of_the_families_is_added(fitted):
    model, X = fitted
    member = model._predictor.fitted.members[-1].fitted
    rows = model._predictor.rows(X[:, model.selection_.indices])
    parts = member.binary.log_evidence(rows[:, member.is_binary])
    laws, real = member.real.laws, rows[:, ~member.is_binary]
    for g in range(len(model.classes_)):
        squares = (real - laws.location[g]) ** 2 / laws.variance
        logs = -0.5 * (laws.df + 1.0) * np.log1p(squares / laws.df)
        parts[:, g] += np.nansum(logs, axis=1)
    np.testing.assert_allclose(member.log_evidence(rows), parts, atol=1e-10)


def test_predictions_average_over_members(fitted):
    model, X = fitted
    stack = model._predictor.fitted
    rows = stack.rows(X[:, model.selection_.indices], str)
    parts = []
    for member, log_weight in zip(stack.members, stack.log_weights, strict=True):
        evidence = member.predictor.log_evidence(rows[:, member.columns])
        parts.append(member.predictor.average.log_proba(evidence, stack.log_psi) + log_weight)
    logs = stack.power * (logsumexp(parts, axis=0) - stack.log_psi) + stack.log_psi
    if stack.linear is not None:
        logs += stack.linear.log_evidence(rows)
    logs -= logsumexp(logs, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), logs, atol=1e-10)
    assert model.power_ == stack.power != 1.0
    assert np.isclose(stack.weights.sum(), 1.0)
    assert model.k_weights_ == dict(
        zip((m.columns.size for m in stack.members), stack.weights, strict=True)
    )


def test_contributions_add_up_to_the_log_odds(fitted):
    model, X = fitted
    explanation = model.explain(X)
    assert np.abs(explanation.difference).max() < 1e-8
    contributions = np.abs(explanation.contributions)
    assert contributions.sum() > 1.0
    if len(model.classes_) == 2:
        odds = np.diff(model.predict_log_proba(X), axis=1)[:, 0]
        np.testing.assert_allclose(explanation.total, odds, atol=1e-8)


def test_the_path_alone_nearly_adds_up(fitted):
    """What the integral misses, and what is therefore spread over the features, is small."""
    model, X = fitted
    stack = model._predictor.fitted
    rows = stack.rows(X[:, model.selection_.indices], str)
    spread = []
    rest = type(stack)._rest
    type(stack)._rest = lambda self, found, rows: spread.append(rest(self, found, rows)) or 0.0
    try:
        found = stack.log_by_feature(rows)
    finally:
        type(stack)._rest = rest
    assert np.abs(spread[0]).sum() < 0.2 * np.abs(found).sum()


def test_prevalence_shifts_the_log_odds(fitted):
    model, X = fitted
    G = len(model.classes_)
    prevalence = np.arange(1, G + 1) / np.arange(1, G + 1).sum()
    shifted = model.predict_log_proba(X, prevalence=prevalence)
    plain = model.predict_log_proba(X) - model._predictor.fitted.log_psi + np.log(prevalence)
    np.testing.assert_allclose(shifted, plain - logsumexp(plain, axis=1, keepdims=True), atol=1e-10)


def test_intervals_hold_the_probabilities(fitted):
    model, X = fitted
    lower, upper = model.predict_proba_interval(X, level=0.99)
    proba = model.predict_proba(X)
    assert np.mean((lower <= proba + 1e-9) & (proba <= upper + 1e-9)) > 0.98
    narrow, wide = (
        np.diff(model.predict_proba_interval(X, level=v), axis=0).mean() for v in (0.5, 0.9)
    )
    assert narrow < wide


def test_a_file_predicts_the_same(fitted, tmp_path):
    model, X = fitted
    saved(model, tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    rows = X[:, model.selection_.indices]
    np.testing.assert_allclose(
        read.predictor.predict_proba(rows), model.predict_proba(X), atol=1e-12
    )
    assert read.kind == "classifier"
    effects, other = read.feature_effects().to_dict(), model.feature_effects().to_dict()
    for name in effects:
        if name not in ("feature",):
            np.testing.assert_allclose(effects[name], other[name], rtol=1e-9, atol=1e-12)
    panel = model.panel()
    np.testing.assert_allclose(panel.predict_proba(rows), model.predict_proba(X), atol=1e-12)


def test_a_file_without_a_power_has_power_1(fitted, tmp_path):
    model, X = fitted
    path = tmp_path / "model.json"
    saved(model, path)
    document = json.loads(path.read_text())
    del document["power"]
    path.write_text(json.dumps(document))
    as_before = ClassPredictor(replace(model._predictor.fitted, power=1.0))
    rows = X[:, model.selection_.indices]
    found = load_model(path).predictor.predict_proba(rows)
    np.testing.assert_allclose(found, as_before.predict_proba(rows), atol=1e-12)
    assert np.abs(found - model.predict_proba(X)).max() > 1e-4


def test_a_file_without_linear_evidence_has_none(tmp_path):
    X, y = counted_data(1)
    model, path = SelectiveClassifier(k=25).fit(X, y), tmp_path / "model.json"
    saved(model, path)
    document = json.loads(path.read_text())
    assert set(document.pop("linear")) == {"centers", "coefficients", "intercepts"}
    path.write_text(json.dumps(document))
    as_before = ClassPredictor(replace(model._predictor.fitted, linear=None))
    rows = X[:, model.selection_.indices]
    found = load_model(path).predictor.predict_proba(rows)
    np.testing.assert_allclose(found, as_before.predict_proba(rows), atol=1e-12)
    assert np.abs(found - model.predict_proba(X)).max() > 1e-3


class AlwaysTried(Regressions):
    """Regressions that are judged as ever, but also where the average says nothing."""

    @staticmethod
    def are_worth_a_try(cases, independent):  # noqa: ARG004
        return True


class SeenBefore(AlwaysTried):
    """The wrong twin: regressions that are judged by the cases they are fitted to."""

    def add(self, fit, values, table):
        everyone = np.concatenate([fit.left.kept, fit.left.asked])
        super().add(replace(fit, left=replace(fit.left, kept=everyone)), values, table)


def has_regression(model):
    linear = model._predictor.fitted.linear
    return linear is not None and linear.has_features


@pytest.mark.parametrize(("regressions", "used"), [(AlwaysTried, False), (SeenBefore, True)])
def test_regressions_are_judged_by_cases_they_have_not_seen(regressions, used, monkeypatch):
    """Classes are noise, of which regressions may say nothing."""
    monkeypatch.setattr("unselected.estimators.stack_fitting.Regressions", regressions)
    found = []
    for seed in range(5):
        X, _ = mixed_data(seed)
        y = np.random.default_rng(seed).permutation(np.arange(len(X)) % 2)
        found.append(has_regression(SelectiveClassifier(k=25).fit(X, y)))
    assert found.count(used) >= 4


@pytest.mark.parametrize(
    "options", [{"dependence": "none"}, {"dependence": "tempered"}, {"preselected_from": 2000}]
)
def test_no_regression_where_none_is_asked_for_or_folds_cannot_repeat_the_selection(options):
    X, y = counted_data(2)
    X = np.nan_to_num(X[:, 1::3]) if "preselected_from" in options else X
    assert not has_regression(SelectiveClassifier(**options).fit(X, y))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["log_weights"].__setitem__(0, -50.0), "log_weights make a sum"),
        (lambda d: d["members"].clear(), "members is empty"),
        (lambda d: d["members"][-1]["families"].pop(), "does not have all|others|columns"),
        (lambda d: d["members"][0]["columns"].reverse(), "do not increase|columns"),
        (lambda d: d["normal"]["scores"][0].pop(), "other numbers of values and scores"),
        (lambda d: d["normal"]["values"][0].reverse(), "do not increase"),
        (lambda d: d.pop("members"), "members"),
        (lambda d: d.update(power=-1.0), "power"),
        (lambda d: d.update(power=float("inf")), "power|Infinity"),
        (lambda d: d.update(linear={"centers": []}), "linear"),
    ],
)
def test_damaged_files_are_refused(fitted, change, message, tmp_path):
    model, _ = fitted
    path = tmp_path / "model.json"
    saved(model, path)
    document = json.loads(path.read_text())
    assert document["normal"] is not None
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ModelError, match=message):
        load_model(path)


def test_a_file_of_a_model_that_omitted_nothing(tmp_path):
    """With given totals there are then no kinds of omitted features."""
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0], [1, 0], [0, 0]]), np.arange(6) % 2
    model = SelectiveClassifier(k=None).fit(X, y)
    saved(model, tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    np.testing.assert_allclose(read.predictor.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_intervals_have_nearly_all_of_the_weight(fitted):
    model, X = fitted
    stack = model._predictor.fitted
    rows = stack.rows(X[:5, model.selection_.indices], str)
    plain = replace(stack, power=1.0, linear=None)
    logs, log_weights = plain.by_node(rows)
    proba = np.exp(logs + stack.log_psi[:, np.newaxis]) @ np.exp(log_weights)
    columns = X[:5, model.selection_.indices]
    averaged = ClassPredictor(plain).predict_proba(columns)
    np.testing.assert_allclose(proba, averaged, atol=2e-3)
    pooled = stack.power * logs
    if stack.linear is not None:
        pooled += stack.linear.log_evidence(rows)[..., np.newaxis]
    np.testing.assert_allclose(stack.by_node(rows)[0], pooled, atol=1e-12)


def test_a_new_value_of_a_binary_column_that_is_no_bit_says_nothing(fitted):
    model, X = fitted
    bit = model.selection_.indices[model._predictor.fitted.is_binary][0]
    rows, unknown = X[:5].copy(), X[:5].copy()
    rows[3, bit], unknown[3, bit] = 2.0, np.nan
    before = rows.copy()
    with pytest.warns(UserWarning, match=r"value 2 in row 3, .* taken as missing: 1 of"):
        found = model.predict_proba(rows)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(found, model.predict_proba(unknown))
    assert np.abs(found - model.predict_proba(X[:5]))[3].max() > 1e-6
