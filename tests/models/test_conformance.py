"""Every model through every verb: simulate, condition, predict, describe, write and read."""

from dataclasses import fields, replace

import numpy as np
import pytest

from unselected import (
    SelectiveBernoulliNB,
    SelectiveFactorClassifier,
    SelectiveFactorRegressor,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
    SelectiveNaiveRegressor,
)
from unselected.files.models import load_model, save_model
from unselected.models.bernoulli import BernoulliModel
from unselected.models.factor import FactorModel
from unselected.models.gaussian import GaussianModel
from unselected.models.mixture import MixtureModel
from unselected.models.regression import RegressionModel
from unselected.numerics.chains import ChainSettings
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.real_scores import RealScores
from unselected.selection.rules import keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.line import LineStatistics
from unselected.statistics.rows import KeptRows
from unselected.statistics.summing import class_moments, line_moments

N, P, K = 24, 40, 4
NONE = np.array([], dtype=np.intp)
SHORT = ChainSettings(n_chains=2, n_draws=6, n_warmup=3)


def counts_of(X, y):
    counts, _ = count_classes(X, y, None)
    return CountScores.of(counts), lambda kept: counts.take(kept)


def alleles_of(X, y):
    counts, _ = count_classes(X, y, None, ploidy=2)
    return CountScores.of(counts), lambda kept: counts.take(kept)


def class_contrasts_of(X, y):
    moments = class_moments(X, y, 2)
    return RealScores.of(moments), lambda kept: moments.take(kept).contrasts()


def line_of(X, y):
    moments = line_moments(X, y)
    return RealScores.of(moments), lambda kept: LineStatistics(moments.take(kept), float(y.mean()))


def bits_of(X, y):
    return counts_of(X, y)[0], lambda kept: KeptRows(X[:, kept] > 0, y)


def rows_of_classes(X, y):
    return class_contrasts_of(X, y.astype(int))[0], lambda kept: KeptRows(X[:, kept], y)


def rows_of_responses(X, y):
    return line_of(X, y)[0], lambda kept: KeptRows(X[:, kept], y)


TWO_GROUPS = {"least_fraction": 1 / P}
# A model, and what it learns from: the scores, and the statistics of the kept columns.
MODELS = {
    "bernoulli": (BernoulliModel(), counts_of),
    "bernoulli, two groups": (BernoulliModel(**TWO_GROUPS), counts_of),
    "bernoulli, the paper's grid": (BernoulliModel(quadrature="paper"), counts_of),
    "genotypes": (BernoulliModel(ploidy=2), alleles_of),
    "genotypes, two groups": (BernoulliModel(ploidy=2, **TWO_GROUPS), alleles_of),
    "gaussian": (GaussianModel(), class_contrasts_of),
    "gaussian, two groups": (GaussianModel(**TWO_GROUPS), class_contrasts_of),
    "gaussian, shrinkage": (GaussianModel(shrinkage=3.0), class_contrasts_of),
    "regression": (RegressionModel(), line_of),
    "regression, two groups": (RegressionModel(GaussianModel(**TWO_GROUPS)), line_of),
    "mixture": (MixtureModel(chains=SHORT), bits_of),
    "factor, classes": (FactorModel("classes", chains=SHORT), rows_of_classes),
    "factor, numbers": (FactorModel("real", q=2, chains=SHORT), rows_of_responses),
}


def simulated(model, seed):
    """Data of which both classes have cases."""
    rng = np.random.default_rng(seed)
    while True:
        X, y, parameters = model.simulate(N, P, rng)
        if np.unique(y).size > 2 or np.bincount(y.astype(int), minlength=2).min() >= 4:
            return X, y, parameters


def conditioned(name, seed, model=None, corrected=True):
    own, learns_from = MODELS[name]
    X, y, _ = simulated(own, seed)
    scores, statistics_of = learns_from(X, y)
    selection = keep_top(scores, K, "first", NONE, np.random.default_rng(0))
    event = selection.event if corrected else selection.event.emptied()
    return (own if model is None else model).condition(statistics_of(selection.indices), event)


def numbers_of(posterior):
    """What a posterior says, as numbers: its draws, or its nodes with their weights."""
    if hasattr(posterior, "draws"):
        return posterior.draws[posterior.draws.watched[0]].ravel()
    nodes = getattr(posterior, "features", posterior)
    return np.concatenate([nodes.log_alpha, nodes.log_weights])


@pytest.mark.parametrize("name", MODELS)
def test_data_and_parameters_are_simulated(name, seed):
    X, y, parameters = simulated(MODELS[name][0], seed)
    assert (X.shape, y.shape) == ((N, P), (N,))
    assert parameters


@pytest.mark.parametrize("name", MODELS)
def test_the_event_counts_and_the_same_data_give_the_same_posterior(name, seed):
    first, again = (numbers_of(conditioned(name, seed)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    without = numbers_of(conditioned(name, seed, corrected=False))
    assert first.shape != without.shape or not np.allclose(first, without)


def other_models():
    """Each model with each of its fields changed: none may be ignored."""
    changes = {
        "pseudocounts": (5.0, 3.0),
        "rates": "given",
        "a": 2.0,
        "b": 1.0,
        "a0": 2.0,
        "b0": 1.0,
        "q": 1,
        "quadrature": "paper",
        "shrinkage": 5.0,
        "least_fraction": 0.1,
        "all_related": {"least_fraction": 0.1, "all_related": 0.5},
        "coarse": True,
        "tails": {"least_fraction": 0.1, "tails": 2.0},
        "variance": {"shrinkage": 5.0, "variance": 2.0},
        "adjust_labels": "ignore",
        "chains": replace(SHORT, seed=1),
    }
    for name in ("bernoulli", "gaussian", "mixture", "factor, numbers"):
        model = MODELS[name][0]
        for field in fields(model):
            # A check of numerics, and two that come with other data.
            if field.name not in ("refinement", "kind", "ploidy"):
                change = changes[field.name]
                change = change if isinstance(change, dict) else {field.name: change}
                yield name, field.name, replace(model, **change)


@pytest.mark.parametrize(("name", "field", "model"), list(other_models()))
def test_no_field_of_a_model_is_ignored(name, field, model):
    posterior, other = conditioned(name, 0), conditioned(name, 0, model)
    if field == "pseudocounts":
        assert not np.allclose(posterior.log_psi, other.log_psi)
        return
    ours, theirs = numbers_of(posterior), numbers_of(other)
    assert ours.shape != theirs.shape or not np.allclose(ours, theirs)
    if field in ("tails", "variance"):  # which come with another field
        without = numbers_of(conditioned(name, 0, replace(model, **{field: None})))
        assert theirs.shape != without.shape or not np.allclose(theirs, without)


def test_fields_that_do_not_go_together_are_refused():
    with pytest.raises(
        ValueError, match=r"shrinkage=2.0 and least_fraction=0.1 cannot be combined"
    ):
        GaussianModel(shrinkage=2.0, least_fraction=0.1)
    with pytest.raises(ValueError, match=r"tails=2.0 needs least_fraction"):
        GaussianModel(tails=2.0)


CHAINS = {"n_chains": 2, "n_draws": 12, "n_warmup": 5, "random_state": 0}
ESTIMATORS = {
    "bernoulli": SelectiveBernoulliNB(k=K),
    "genotype": SelectiveBernoulliNB(k=K, family="genotype"),
    "gaussian": SelectiveGaussianNB(k=K, dependence="correlated"),
    "regression": SelectiveNaiveRegressor(k=K, prior="sparse"),
    "mixture": SelectiveMixtureClassifier(k=K, **CHAINS),
    "factor_classes": SelectiveFactorClassifier(k=K, **CHAINS),
    "factor_response": SelectiveFactorRegressor(k=K, n_factors=2, **CHAINS),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_fitted_model_keeps_its_contract(kind, tmp_path, seed):
    rng = np.random.default_rng(seed)
    largest = {"bernoulli": 1, "mixture": 1, "genotype": 2}.get(kind)
    X = rng.normal(size=(N, P)) if largest is None else rng.integers(0, largest + 1, size=(N, P))
    numbers = kind in ("regression", "factor_response")
    y = rng.normal(size=N) if numbers else np.arange(N) % 2
    model = ESTIMATORS[kind].fit(X, y)
    panel = model.panel()
    predictor, fitted, rows = (
        panel.predictor,
        panel.predictor.fitted,
        X[:, model.selection_.indices],
    )
    assert (fitted.kind, fitted.n_columns, fitted.statistic) == (kind, K, "|COR|")
    assert all(np.all(np.isfinite(array)) for array in fitted.numbers)
    described = fitted.describe(model.scores_)
    assert len(described) == K
    assert all(isinstance(cell, str) for cell in fitted.cells(described[0]).values())
    assert set(fitted.to_json()) == set(fitted.keys)
    if numbers:
        ours = predictor.quantiles(rows)
        np.testing.assert_array_equal(panel.predict_quantiles(rows), ours)
    else:
        ours = predictor.predict_proba(rows)
        np.testing.assert_allclose(ours.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(model.predict_proba(X), ours)
        logs, log_weights = fitted.by_node(fitted.rows(rows, str))
        averaged = np.logaddexp.reduce(logs + log_weights, axis=2)
        np.testing.assert_allclose(averaged, fitted.log_evidence(fitted.rows(rows, str)), atol=1e-7)
        lower, upper = predictor.predict_proba_interval(rows, level=0.5)
        assert np.all((0.0 <= lower) & (lower <= upper) & (upper <= 1.0))
    selection = {
        "rule": "top k",
        "ties": "first",
        "threshold": model.threshold_,
        "statistic": "|COR|",
        "n_features": P,
        "n_omitted": P - K,
        "scores": model.scores_.tolist(),
    }
    path = tmp_path / "model.json"
    save_model(predictor, path, selection=selection, provenance={"unselected": "0"})
    saved = load_model(path)
    assert saved.kind == kind
    theirs = saved.predictor.quantiles(rows) if numbers else saved.predictor.predict_proba(rows)
    np.testing.assert_allclose(theirs, ours, rtol=1e-12)
    assert saved.fitted.priors == fitted.priors


def test_the_uncorrected_method_is_the_same_with_an_empty_event():
    assert Event().n_omitted == 0
    model, learns_from = MODELS["bernoulli"]
    X, y, _ = simulated(model, 0)
    scores, statistics_of = learns_from(X, y)
    kept = np.arange(K)
    first = model.condition(statistics_of(kept), Event())
    second = model.condition(statistics_of(kept), Event(scores.event_above(0.5, kept).cut))
    np.testing.assert_array_equal(first.log_weights, second.log_weights)
