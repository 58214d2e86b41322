"""Forms hold what predictions need, to the last bit, and in few bytes."""

import base64
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from calculator_cases import saved_model

from unselected.calculator.class_forms import stack_form
from unselected.calculator.feature_forms import (
    _by_node,
    _product_form,
    counts_form,
    normal_form,
    posterior_form,
)
from unselected.calculator.node_forms import _sinh_rule, _thinned
from unselected.calculator.packing import packed, script_json
from unselected.numerics.quadrature import log_sum
from unselected.statistics.normal_scores import NormalScores

pytestmark = pytest.mark.filterwarnings("ignore")


def test_arrays_are_packed_to_the_last_bit():
    values = np.array([[0.1, np.nan], [-np.inf, 5e-324]])
    entry = packed({"a": [values]})["a"][0]
    assert entry["shape"] == [2, 2]
    found = np.frombuffer(base64.b64decode(entry["f64"]), "<f8").reshape(2, 2)
    assert found.tobytes() == values.tobytes()


def test_json_in_a_script_has_no_character_that_ends_it():
    text = script_json({"<!--": "</script>&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)


def test_not_a_number_is_an_error():
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])


@pytest.mark.parametrize(("name", "ploidy"), [("bits, sparse", 1), ("genotypes, sparse", 2)])
def test_rates_of_two_groups_are_held_by_alpha(name, ploidy, tmp_path):
    fitted = saved_model(name, tmp_path)[0].fitted
    form = counts_form(fitted)
    rates, n_nodes = form["rates"], fitted.posterior.log_weights.size
    assert "logs" not in rates
    assert len(rates["nullValues"]) == ploidy + 1
    n_vectors = rates["nullValues"].shape[1]
    product = rates["thetaAndLogRatio"]
    assert len(product["left"]) == rates["u"].size < n_nodes / 5
    columns = product["left"] if product["right"] is None else product["right"]
    assert columns.shape[1] == (ploidy + 1) * n_vectors
    assert sum(form["nodes"]["lengths"]) == n_nodes


@pytest.mark.parametrize(
    "name", ["classifier, counted bits", "classifier, counted bits, three classes"]
)
def test_linear_evidence_is_in_the_form(name, tmp_path):
    predictor = saved_model(name, tmp_path)[0].predictor
    linear = stack_form(predictor)["linear"]
    assert linear is not None
    for key, values in linear.items():
        np.testing.assert_array_equal(values, getattr(predictor.fitted.linear, key))


@pytest.mark.parametrize(("name", "left_out"), [("bits", 0), ("genotypes", 1)])
def test_one_value_is_what_the_others_leave(name, left_out, tmp_path):
    posterior = saved_model(name, tmp_path)[0].fitted.posterior
    rates = _by_node(posterior.log_values)
    assert rates["leftOut"] == left_out
    product = rates["logs"]
    table = product["left"] if product["right"] is None else product["left"] @ product["right"]
    others = table.reshape(-1, *rates["shape"]).transpose(1, 2, 0, 3)
    rest = 1.0 - np.exp(others).sum(axis=0)
    np.testing.assert_allclose(np.log(rest), posterior.log_values[left_out], rtol=0.0, atol=1e-10)


def test_tables_are_products_of_smaller_ones_where_that_agrees():
    x, y = np.linspace(0.0, 1.0, 40)[:, np.newaxis], np.linspace(1.0, 2.0, 60)
    smooth, rough = np.exp(x * y), np.random.default_rng(0).normal(size=(40, 60))
    product = _product_form(smooth, lambda table: np.allclose(table, smooth, rtol=0, atol=1e-11))
    assert product["left"].size + product["right"].size < smooth.size / 2
    np.testing.assert_allclose(product["left"] @ product["right"], smooth, rtol=0.0, atol=1e-11)
    product = _product_form(rough, lambda table: np.allclose(table, rough, rtol=0, atol=1e-11))
    assert product["right"] is None
    assert product["left"].tobytes() == rough.tobytes()
    assert _product_form(rough, lambda _: False) is None


def test_nodes_that_reach_far_are_thinned(tmp_path):
    posterior = saved_model("real numbers", tmp_path)[0].fitted.posterior
    wide = posterior_form(posterior)["wide"]
    assert 50 < wide["logWeights"].size < posterior.wide.log_weights.size / 2
    assert abs(log_sum(wide["logWeights"])) < 1e-9


def test_a_draw_among_ties_is_refused_with_two_groups(tmp_path):
    posterior = saved_model("real numbers, sparse", tmp_path)[0].fitted.posterior
    drawn = SimpleNamespace(n_kept_ties=2, statistic="wilcoxon")
    with pytest.raises(ValueError, match="draw among ties of wilcoxon has no calculator"):
        posterior_form(replace(posterior, event=drawn))


def test_scores_that_columns_share_are_there_once():
    X = np.random.default_rng(0).normal(size=(30, 4))
    X[0, 3] = np.nan
    form = normal_form(NormalScores.learn(X))
    assert form["scoresOf"] == [0, 0, 0, 1]
    assert len(form["scores"]) == 2
    assert normal_form(None) is None


@pytest.mark.parametrize("name", ["real numbers, shrunk", "regression, shrunk"])
def test_nodes_of_a_common_variance_are_held_by_their_rules(name, tmp_path):
    """The rules, and the weights that features give their nodes, are those of the posterior."""
    fitted = saved_model(name, tmp_path)[0].fitted
    posterior = getattr(fitted.posterior, "features", fitted.posterior)
    form = posterior_form(posterior)["wide"]
    wide, lengths = _thinned(posterior), np.array(form["lengths"])
    assert form["rules"].size + form["logWeights"].size < wide.log_weights.size / 2
    tau = np.repeat(np.arange(lengths.size), lengths)
    i = np.concatenate([np.arange(n) for n in lengths])
    center, width, first, step = form["rules"][tau].T
    t = first + i * step
    log_variance = center + width * np.sinh(t)
    np.testing.assert_allclose(log_variance, wide.log_variance, rtol=0.0, atol=1e-8)
    c, d = wide.contrasts, wide.shrinkage
    squares = c.squares(np.exp(-form["logAlpha"][tau])) + d * np.exp(log_variance)[:, np.newaxis]
    logs = 0.5 * d * c.n.size * log_variance - np.log(squares) @ (0.5 * (c.df + d))
    logs += np.log(np.cosh(t))
    starts = np.cumsum(lengths) - lengths
    logs += (form["logWeights"] - np.logaddexp.reduceat(logs, starts))[tau]
    np.testing.assert_allclose(np.exp(logs), np.exp(wide.log_weights), rtol=0.0, atol=1e-9)


def test_patterns_of_missing_values_are_held_by_a_few(tmp_path):
    posterior = saved_model("real numbers with gaps, sparse", tmp_path)[0].fitted.posterior
    form = posterior_form(posterior)["far"]
    far = posterior.covering(200, 161)
    kept = far.n_omitted > 0
    by_tau, by_pattern = form["omittedByTau"], form["omittedByPattern"]
    assert by_tau.shape[1] < kept.sum() / 2
    change = (by_tau @ by_pattern - far.log_omitted[:, kept]) @ far.n_omitted[kept]
    assert np.max(np.abs(change)) < 1e-10


def test_nodes_that_no_rule_lays_are_held_one_by_one():
    assert _sinh_rule(np.linspace(0.0, 1.0, 20)) is None
    assert _sinh_rule(np.array([0.0, 1.0, 2.5])) is None
    t = -1.0 + 0.3 * np.arange(20)
    np.testing.assert_allclose(_sinh_rule(5.0 + 2.0 * np.sinh(t)), [5.0, 2.0, -1.0, 0.3])
    assert _sinh_rule(np.cumsum(np.random.default_rng(0).random(20))) is None
