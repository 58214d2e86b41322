import pickle
import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from unselected import Selection, SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation


def data(seed, n=40, p=60, n_new=30):
    drawn = make_paper_simulation(n, n_new, p, concentration=20.0, random_state=seed)
    order = np.random.default_rng(seed).permutation(n)
    return drawn.X_train[order], drawn.y_train[order], drawn.X_test


def frame(X):
    return pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])


# Selection inside fit


def test_selects_the_largest_absolute_correlations(seed):
    X, y, _ = data(seed)
    model = SelectiveBernoulliNB(k=7).fit(X, y)
    constant = np.ptp(X, axis=0) == 0
    cor = np.array(
        [0 if c else abs(np.corrcoef(x, y)[0, 1]) for x, c in zip(X.T, constant, strict=True)]
    )
    kept = model.selection_.indices
    assert np.min(cor[kept]) >= np.max(np.delete(cor, kept)) - 1e-12
    np.testing.assert_allclose(model.scores_, cor[kept], atol=1e-12)
    assert model.threshold_ == model.scores_.min()
    above = SelectiveBernoulliNB(threshold=0.2).fit(X, y)
    np.testing.assert_array_equal(above.selection_.indices, np.flatnonzero(cor > 0.2))
    assert above.threshold_ == 0.2


def test_neither_k_nor_threshold_keeps_all_and_corrects_nothing():
    X, y, X_new = data(0)
    models = [SelectiveBernoulliNB(correct_selection=c).fit(X, y) for c in (True, False)]
    assert models[0].selection_.rule == "all"
    assert models[0].threshold_ is None
    assert models[0].get_support().all()
    np.testing.assert_array_equal(*(m.predict_log_proba(X_new) for m in models))


@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.filterwarnings("ignore:k=[0-9]* keeps all")
def test_corrected_equals_uncorrected_bit_for_bit_at_k_equal_p(ties, seed):
    X, y, X_new = data(seed)
    corrected, uncorrected = (
        SelectiveBernoulliNB(k=X.shape[1], ties=ties, correct_selection=c, random_state=0).fit(X, y)
        for c in (True, False)
    )
    np.testing.assert_array_equal(
        corrected.predict_log_proba(X_new), uncorrected.predict_log_proba(X_new)
    )
    np.testing.assert_array_equal(
        corrected.concentration_weights_, uncorrected.concentration_weights_
    )
    assert corrected.log_marginal_likelihood_ == uncorrected.log_marginal_likelihood_


def test_correction_makes_predictions_less_confident(seed):
    X, y, X_new = data(seed, p=2000)
    honest, naive = (
        SelectiveBernoulliNB(k=10, correct_selection=c).fit(X, y).expected_error(X_new)
        for c in (True, False)
    )
    assert honest > naive + 0.02


def test_fitted_attributes_tell_the_posterior(seed):
    X, y, _ = data(seed)
    model = SelectiveBernoulliNB(k=5).fit(X, y)
    nodes = model.concentration_.shape
    assert model.concentration_weights_.shape == model.omission_probability_.shape == nodes
    assert model.concentration_weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(model.concentration_ > 0)
    assert np.all((model.omission_probability_ > 0) & (model.omission_probability_ < 1))
    assert np.isfinite(model.log_marginal_likelihood_)
    assert isinstance(model.selection_, Selection)
    assert (model.selection_.n_features, model.selection_.n_omitted) == (60, 55)
    naive = SelectiveBernoulliNB(k=5, correct_selection=False).fit(X, y)
    means = [m.concentration_weights_ @ np.log(m.concentration_) for m in (model, naive)]
    assert means[0] > means[1]
    for rates in ("uniform", "given"):  # no cut: every score is at most at it
        everything = SelectiveBernoulliNB(rates=rates).fit(X, y)
        assert everything.omission_probability_ == pytest.approx(1.0)


def test_expected_error_is_the_papers_formula(seed):
    X, y, X_new = data(seed)
    model = SelectiveBernoulliNB(k=5).fit(X, y)
    p = model.predict_proba(X_new)[:, 1]
    formula = np.mean(p * (p < 0.5) + (1 - p) * (p >= 0.5))
    assert model.expected_error(X_new) == pytest.approx(formula, abs=1e-14)


# Invariances


def test_relabelling_the_classes_swaps_the_probabilities(seed):
    X, y, X_new = data(seed)
    model = SelectiveBernoulliNB(k=6).fit(X, y)
    swapped = SelectiveBernoulliNB(k=6).fit(X, 1 - y)
    np.testing.assert_allclose(
        model.predict_proba(X_new), swapped.predict_proba(X_new)[:, ::-1], atol=1e-12
    )
    named = SelectiveBernoulliNB(k=6).fit(X, np.where(y == 1, "ill", "well"))
    assert named.classes_.tolist() == ["ill", "well"]
    np.testing.assert_array_equal(named.predict_proba(X_new), swapped.predict_proba(X_new))
    assert set(named.predict(X_new)) <= {"ill", "well"}


def test_class_pseudocounts_follow_the_order_of_the_classes():
    X, y, X_new = data(0)
    model = SelectiveBernoulliNB(k=6, class_pseudocounts=(1.0, 5.0)).fit(X, y)
    swapped = SelectiveBernoulliNB(k=6, class_pseudocounts=(5.0, 1.0)).fit(X, 1 - y)
    np.testing.assert_allclose(
        model.predict_proba(X_new), swapped.predict_proba(X_new)[:, ::-1], atol=1e-12
    )
    plain = SelectiveBernoulliNB(k=6).fit(X, y)
    odds = np.diff(model.predict_log_proba(X_new) - plain.predict_log_proba(X_new))
    np.testing.assert_allclose(odds, np.log((5 + 20) / (1 + 20)), atol=1e-12)


def test_flipping_features_changes_nothing(seed):
    X, y, X_new = data(seed)
    flip = np.random.default_rng(seed).random(X.shape[1]) < 0.5
    model = SelectiveBernoulliNB(k=6).fit(X, y)
    flipped = SelectiveBernoulliNB(k=6).fit(X ^ flip, y)
    np.testing.assert_array_equal(model.selection_.indices, flipped.selection_.indices)
    np.testing.assert_allclose(
        model.predict_proba(X_new), flipped.predict_proba(X_new ^ flip), atol=1e-11
    )


def test_permuting_rows_changes_nothing(seed):
    X, y, X_new = data(seed)
    order = np.random.default_rng(seed + 1).permutation(len(y))
    np.testing.assert_array_equal(
        SelectiveBernoulliNB(k=6).fit(X, y).predict_proba(X_new),
        SelectiveBernoulliNB(k=6).fit(X[order], y[order]).predict_proba(X_new),
    )


def test_permuting_columns_changes_nothing_where_no_tie_is_cut(seed):
    X, y, X_new = data(seed, n=41)
    scores = np.sort(SelectiveBernoulliNB().fit(X, y).scores_)[::-1]
    k = next(k for k in range(4, 50) if scores[k - 1] > scores[k] and scores[k - 2] > scores[k - 1])
    order = np.random.default_rng(seed + 1).permutation(X.shape[1])
    model, permuted = (
        SelectiveBernoulliNB(threshold=np.mean(scores[k - 1 : k + 1])).fit(X[:, columns], y)
        for columns in (slice(None), order)
    )
    np.testing.assert_allclose(
        model.predict_proba(X_new), permuted.predict_proba(X_new[:, order]), atol=1e-12
    )
    random, random_permuted = (
        SelectiveBernoulliNB(k=k, ties="random").fit(X[:, columns], y)
        for columns in (slice(None), order)
    )
    assert random_permuted.selection_.event == random.selection_.event
    np.testing.assert_allclose(
        random.predict_proba(X_new), random_permuted.predict_proba(X_new[:, order]), atol=1e-12
    )


# Ties


def test_random_ties_are_seeded():
    X = np.repeat(np.array([[0, 1, 1, 0, 1]]).T, 30, axis=1)
    y = np.array([0, 1, 1, 0, 0])
    kept = [
        SelectiveBernoulliNB(k=3, ties="random", random_state=s)
        .fit(X, y)
        .selection_.indices.tolist()
        for s in (0, 0, 1, 2, np.random.RandomState(0))
    ]
    assert kept[0] == kept[1]
    assert len({tuple(indices) for indices in kept}) >= 3
    assert SelectiveBernoulliNB(k=3).fit(X, y).selection_.indices.tolist() == [0, 1, 2]


# Columns that were selected earlier, or never up for selection


@pytest.mark.parametrize("cut", [{"threshold": 0.25}, {"k": 6, "ties": "random"}], ids=str)
def test_selecting_first_and_fitting_later_is_the_same(cut, seed):
    X, y, X_new = data(seed, p=300)
    whole = SelectiveBernoulliNB(**cut, random_state=0).fit(X, y)
    kept = whole.selection_.indices
    later = SelectiveBernoulliNB(threshold=cut.get("threshold"), preselected_from=X.shape[1]).fit(
        X[:, kept], y
    )
    np.testing.assert_array_equal(later.predict_proba(X_new[:, kept]), whole.predict_proba(X_new))
    assert later.selection_.n_omitted == whole.selection_.n_omitted
    assert later.threshold_ == whole.threshold_
    assert later.get_support().all()
    # and forgetting where they came from is not
    forgetful = SelectiveBernoulliNB().fit(X[:, kept], y)
    gap = forgetful.predict_proba(X_new[:, kept]) - whole.predict_proba(X_new)
    assert np.abs(gap).max() > 0.01


def test_preselected_from_ten_million():
    X, y, X_new = data(0, p=3000)
    kept = SelectiveBernoulliNB(k=8).fit(X, y).get_support()
    X, X_new = X[:, kept], X_new[:, kept]
    model = SelectiveBernoulliNB(preselected_from=8 + 10**7).fit(X, y)
    assert model.selection_.n_omitted == 10**7
    assert np.all(np.isfinite(model.predict_log_proba(X_new)))
    assert model.expected_error(X_new) > SelectiveBernoulliNB().fit(X, y).expected_error(X_new)


def test_always_kept_columns_are_used_and_are_no_part_of_the_event(seed):
    X, y, X_new = data(seed)
    X = np.column_stack([X, np.zeros(len(y), dtype=X.dtype)])  # the last is constant: COR = 0
    X_new = np.column_stack([X_new, np.zeros(len(X_new), dtype=X.dtype)])
    model = SelectiveBernoulliNB(k=4, always_keep=[60]).fit(X, y)
    without = SelectiveBernoulliNB(k=4).fit(X[:, :60], y)
    assert model.selection_.indices.tolist() == [*without.selection_.indices, 60]
    assert model.selection_.event == without.selection_.event
    by_name = SelectiveBernoulliNB(k=4, always_keep="gene60").fit(frame(X), y)
    np.testing.assert_array_equal(by_name.predict_proba(frame(X_new)), model.predict_proba(X_new))
    above = SelectiveBernoulliNB(threshold=0.3, always_keep=[60]).fit(X, y)
    assert 60 in above.selection_.indices
    weak = SelectiveBernoulliNB(threshold=0.3, always_keep=[60], preselected_from=200)
    strong = above.selection_.indices
    weak.set_params(always_keep=[len(strong) - 1]).fit(X[:, strong], y)
    assert weak.selection_.event.n_at_most == 200 - len(strong)


# Binarising


def test_real_columns_are_cut_at_training_medians(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(31, 12)), np.arange(31) % 2
    X[:, 3] = X[:, 3] > 0
    model = SelectiveBernoulliNB(k=5).fit(X, y)
    medians = np.median(X, axis=0)
    medians[3] = 0.5
    np.testing.assert_array_equal(model.binarize_thresholds_, medians[model.selection_.indices])
    X_new = rng.normal(size=(9, 12))
    bits = SelectiveBernoulliNB(k=5, binarize=None).fit((medians < X).astype(int), y)
    np.testing.assert_array_equal(
        model.predict_proba(X_new), bits.predict_proba((medians < X_new).astype(int))
    )
    fixed = SelectiveBernoulliNB(k=5, binarize=0.3).fit(X, y)
    assert np.all(fixed.binarize_thresholds_ == 0.3)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_memory_orders_do_not_matter(dtype, order):
    X, y, X_new = data(3)
    expected = SelectiveBernoulliNB(k=6).fit(X, y).predict_proba(X_new)
    model = SelectiveBernoulliNB(k=6).fit(np.asarray(X, dtype=dtype, order=order), y)
    np.testing.assert_array_equal(model.predict_proba(X_new.astype(dtype)), expected)


@pytest.mark.parametrize("cut", [np.int64(1), np.float32(0.5), 1, 0.5, -2])
def test_cuts_of_any_numeric_type(cut):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), np.arange(20) % 2
    model = SelectiveBernoulliNB(binarize=cut).fit(X, y)
    assert np.all(model.binarize_thresholds_ == float(cut))


def test_booleans_are_cut_like_the_numbers_they_are():
    rng = np.random.default_rng(0)
    bits, y = rng.random((40, 4)) < 0.5, np.arange(40) % 2
    model = SelectiveBernoulliNB().fit(np.where(bits, 2.0, 0.0), y)
    np.testing.assert_array_equal(model.predict_proba(bits), model.predict_proba(bits.astype(int)))


def test_columns_of_small_integers_need_little_memory():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(200, 100_000), dtype=np.uint8), np.arange(200) % 2
    SelectiveBernoulliNB(k=5).fit(X[:, :100], y)
    tracemalloc.start()
    SelectiveBernoulliNB(k=5).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * X.nbytes


def test_random_state_is_left_alone_unless_ties_are_drawn():
    X, y, _ = data(0)
    state = np.random.RandomState(0)
    SelectiveBernoulliNB(k=3, random_state=state).fit(X, y)
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)


def test_the_record_of_the_selection_cannot_be_changed():
    X, y, _ = data(0)
    with pytest.raises(ValueError, match="read-only"):
        SelectiveBernoulliNB(k=3).fit(X, y).selection_.indices[0] = 7


# Log domain


def test_log_probabilities_stay_finite_with_ten_thousand_features():
    drawn = make_paper_simulation(60, 40, 10_000, concentration=2.0, random_state=0)
    model = SelectiveBernoulliNB().fit(drawn.X_train, drawn.y_train)
    log_proba = model.predict_log_proba(drawn.X_test)
    assert log_proba.min() < -1000
    assert np.all(np.isfinite(log_proba))
    assert np.all(np.isfinite(model.predict_proba(drawn.X_test)))


def test_without_any_kept_feature_the_class_frequencies_are_predicted():
    X, y, X_new = data(0)
    with pytest.warns(
        UserWarning, match=r"No feature has an absolute correlation above threshold=1"
    ):
        model = SelectiveBernoulliNB(threshold=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_new), 0.5, atol=1e-12)
    assert model.selection_.indices.size == 0


# As a scikit-learn object


def test_transform_and_names_follow_the_selection():
    X, y, X_new = data(0)
    model = SelectiveBernoulliNB(k=4).fit(frame(X), y)
    kept = model.selection_.indices
    assert model.get_feature_names_out().tolist() == [f"gene{j}" for j in kept]
    assert model.get_support(indices=True).tolist() == kept.tolist()
    np.testing.assert_array_equal(model.transform(frame(X_new)), X_new[:, kept])
    assert model.set_output(transform="pandas").transform(frame(X_new)).columns.tolist() == [
        f"gene{j}" for j in kept
    ]


def test_pickle_clone_and_repr():
    X, y, X_new = data(0)
    model = SelectiveBernoulliNB(k=4, ties="random", random_state=1).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X_new), model.predict_proba(X_new))
    assert repr(clone(model)) == "SelectiveBernoulliNB(k=4, random_state=1, ties='random')"


def test_works_in_pipelines_and_cross_validation():
    X, y, _ = data(0)
    pipeline = make_pipeline(StandardScaler(), SelectiveBernoulliNB(k=4))
    scores = cross_val_score(pipeline, X.astype(float), y, scoring="neg_log_loss", cv=3)
    assert scores.shape == (3,)
    assert np.all(np.isfinite(scores))


# The panel


@pytest.mark.parametrize(
    "make", [frame, lambda X: pl.from_pandas(frame(X))], ids=["pandas", "polars"]
)
def test_panel_matches_columns_by_name_in_any_order(make, seed):
    X, y, X_new = data(seed)
    model = SelectiveBernoulliNB(k=6).fit(make(X), y)
    panel = model.panel()
    expected = model.predict_proba(make(X_new))
    kept = [f"gene{j}" for j in model.selection_.indices]
    assert panel.n_features_in_ == 6
    assert panel.feature_names_in_.tolist() == kept
    shuffled = np.random.default_rng(seed).permutation(kept).tolist()
    table = make(X_new)
    np.testing.assert_array_equal(panel.predict_proba(table[kept]), expected)
    np.testing.assert_array_equal(panel.predict_proba(table[shuffled]), expected)
    np.testing.assert_array_equal(panel.predict_proba(table), expected)
    np.testing.assert_array_equal(panel.predict_proba(X_new[:, model.selection_.indices]), expected)
    np.testing.assert_array_equal(panel.predict(table), model.predict(table))
    assert panel.expected_error(table) == model.expected_error(table)


def test_panel_is_a_fitted_classifier():
    X, y, X_new = data(0)
    X = X + np.linspace(0.0, 0.4, X.shape[1])  # every column has a cut of its own
    X_new = X_new + np.linspace(0.0, 0.4, X_new.shape[1])
    model = SelectiveBernoulliNB(k=6).fit(X, np.where(y == 1, "b", "a"))
    panel = model.panel()
    check_is_fitted(panel)
    assert clone(panel) is panel
    assert panel.fit(X, y) is panel
    assert not hasattr(panel, "feature_names_in_")
    assert repr(panel) == "ClassifierPanel(6 columns, classes ['a', 'b'])"
    kept = X_new[:, model.selection_.indices]
    np.testing.assert_array_equal(panel.predict_proba(kept), model.predict_proba(X_new))
    assert panel.score(kept, panel.predict(kept)) == 1.0
    again = pickle.loads(pickle.dumps(panel))
    np.testing.assert_array_equal(again.predict_proba(kept), panel.predict_proba(kept))


def test_panel_says_which_columns_it_lacks():
    X, y, X_new = data(0)
    panel = SelectiveBernoulliNB(k=6).fit(frame(X), y).panel()
    first = panel.feature_names_in_[0]
    with pytest.raises(ValueError, match=rf"lacks 1 of the panel's columns: '{first}'"):
        panel.predict(frame(X_new).drop(columns=first))
    twice = pd.concat([frame(X_new), frame(X_new)[[first]]], axis=1)
    with pytest.raises(ValueError, match=rf"more than one column named '{first}'"):
        panel.predict(twice)
    with pytest.raises(ValueError, match="X has 5 columns, but the panel needs 6"):
        panel.predict(X_new[:, :5])
    holed = frame(X_new).astype(float)
    holed.loc[3, first] = np.inf
    with pytest.raises(ValueError, match=rf"column 0 \('{first}'\) has infinity in row 3"):
        panel.predict(holed)


def test_posterior_nodes_are_ordered():
    X, y, _ = data(0)
    nodes = SelectiveBernoulliNB(k=3).fit(X, y).concentration_
    assert all(a > b for a, b in pairwise(nodes))
