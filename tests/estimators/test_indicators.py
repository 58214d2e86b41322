"""Columns that are mostly one value, such as weighted words, in `SelectiveClassifier`."""

import numpy as np
import pytest
from calculator_cases import write_model
from scipy import sparse

from unselected import SelectiveClassifier
from unselected.files.models import load_model
from unselected.statistics import binarizing

PLAIN = {"k": 5, "marginals": "raw", "dependence": "none"}


def texts(seed, n=120, p=1500, n_related=30):
    """Which of many rare words occur in texts of two classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    rates = np.full((2, p), 0.03)
    rates[rng.integers(0, 2, n_related), np.arange(n_related)] = 0.2
    return rng.random((n, p)) < rates[y], y, rng


def weighted(words, rng):
    """Weights of the words that occur, as by term frequency."""
    return words * rng.lognormal(size=words.shape)


def test_weighted_words_predict_as_their_occurrence(seed):
    words, y, rng = texts(seed)
    X = weighted(words, rng)
    occurrence = SelectiveClassifier(**PLAIN).fit(words, y).predict_proba(words)
    model = SelectiveClassifier(**PLAIN).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), occurrence, rtol=1e-12)
    other_weights = weighted(words, np.random.default_rng(seed + 1))
    np.testing.assert_allclose(model.predict_proba(other_weights), occurrence, rtol=1e-12)


def test_the_two_values_of_a_column_do_not_matter():
    words, y, _ = texts(0)
    model = SelectiveClassifier(**PLAIN).fit(words, y)
    recoded = 3.0 - 7.5 * words
    other = SelectiveClassifier(**PLAIN).fit(recoded, y)
    np.testing.assert_allclose(
        other.predict_proba(recoded), model.predict_proba(words), rtol=0, atol=1e-12
    )


def test_weights_do_not_change_the_folds():
    words, y, rng = texts(4, n=60, p=300)
    X = weighted(words, rng)
    proba = SelectiveClassifier(k=20).fit(X, y).predict_proba(X)
    scaled = X * rng.lognormal(sigma=3.0, size=X.shape[1])
    for other in (scaled, weighted(words, rng)):
        found = SelectiveClassifier(k=20).fit(other, y).predict_proba(other)
        np.testing.assert_allclose(found, proba, rtol=0, atol=1e-9)


def lost_by_weights(seed):
    """The log loss with weighted words, less that with words that occur or not."""
    words, y, rng = texts(seed, n=420)
    losses = []
    for X in (words, weighted(weighted(words, rng), rng)):
        proba = SelectiveClassifier(k=20).fit(X[:120], y[:120]).predict_proba(X[120:])
        losses.append(-np.log(proba[np.arange(300), y[120:]]).mean())
    return losses[1] - losses[0]


# A weight may be far out of the range of a column that is taken as real numbers.
@pytest.mark.filterwarnings("ignore:values far outside")
def test_weights_cost_nothing_and_as_real_numbers_they_would(monkeypatch, seed):
    assert lost_by_weights(seed) < 0.03
    monkeypatch.setattr(binarizing, "_MOSTLY", 1.0)
    assert lost_by_weights(seed) > 0.03


def test_a_file_a_sparse_table_and_missing_values(tmp_path):
    words, y, rng = texts(1)
    X = weighted(words, rng)
    model = SelectiveClassifier(k=20).fit(X, y)
    proba = model.predict_proba(X)
    from_sparse = SelectiveClassifier(k=20).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(from_sparse.predict_proba(sparse.csr_array(X)), proba, rtol=1e-9)
    path = tmp_path / "model.json"
    write_model(model, path)
    kept = X[:, model.selection_.indices]
    np.testing.assert_allclose(load_model(path).predictor.predict_proba(kept), proba, rtol=1e-9)
    unknown = X.copy()
    unknown[0] = np.nan
    assert np.isfinite(model.predict_proba(unknown)).all()


def test_the_model_says_what_is_an_indicator():
    words, y, rng = texts(2)
    model = SelectiveClassifier(k=20).fit(weighted(words, rng), y)
    assert "20 of the 20 kept features have two values, or mostly one" in " ".join(model.in_words())
    plain = SelectiveClassifier(k=20).fit(words, y)
    assert "mostly one" not in " ".join(plain.in_words())


def test_leaving_out_predicts_from_the_values_of_the_table():
    words, y, rng = texts(3, n=60, p=300)
    X = weighted(words, rng)
    model = SelectiveClassifier(k=5).fit(X, y)
    folds = [(np.delete(np.arange(60), some), some) for some in (np.arange(30), np.arange(30, 60))]
    proba = model.cv_predict_proba(folds)
    for train, test in folds:
        refit = SelectiveClassifier(k=5).fit(X[train], y[train]).predict_proba(X[test])
        np.testing.assert_allclose(proba[test], refit, rtol=1e-6)
