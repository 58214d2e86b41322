import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected import SelectiveGaussianNB
from unselected.models.gaussian import GaussianModel


def some_data(seed, *, n=60, p=200, G=3, tau=0.5, n_new=50):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n) % G, rng.integers(G, size=n_new)])
    X, _ = GaussianModel().simulate_features(np.eye(G)[y], p, rng, tau=tau)
    return X[:n], y[:n], X[n:], y[n:]


@pytest.mark.parametrize("G", [2, 3, 5])
def test_keeps_what_select_k_best_keeps(G, seed):
    X, y, *_ = some_data(seed, G=G)
    model = SelectiveGaussianNB(k=12).fit(X, y)
    expected = SelectKBest(f_classif, k=12).fit(X, y)
    np.testing.assert_array_equal(model.get_support(), expected.get_support())
    assert model.selection_.statistic == ("|COR|" if G == 2 else "F")
    assert model.threshold_ == model.scores_.min()
    again = SelectiveGaussianNB(threshold=model.threshold_).fit(X, y)
    assert again.selection_.indices.size == 11
    np.testing.assert_array_equal(model.transform(X), X[:, model.selection_.indices])


@pytest.mark.parametrize(
    "settings", [{"k": 200}, {}, {"threshold": 0.0}, {"preselected_from": 200}]
)
@pytest.mark.filterwarnings("ignore:k=[0-9]* keeps all")
def test_with_nothing_omitted_correction_changes_nothing(settings, seed):
    X, y, X_new, _ = some_data(seed)
    both = [
        SelectiveGaussianNB(correct_selection=flag, **settings).fit(X, y) for flag in (True, False)
    ]
    np.testing.assert_array_equal(*(model.predict_log_proba(X_new) for model in both))
    assert both[0].log_marginal_likelihood_ == both[1].log_marginal_likelihood_


def test_columns_of_noise_say_little_once_corrected(seed):
    rng = np.random.default_rng(seed)
    X, y, X_new = rng.normal(size=(60, 1000)), np.arange(60) % 3, rng.normal(size=(300, 1000))
    honest, naive = (
        SelectiveGaussianNB(k=10, correct_selection=flag).fit(X, y).expected_error(X_new)
        for flag in (True, False)
    )
    assert honest > 0.55  # no classifier can do better than 2/3
    assert naive < 0.45
    assert SelectiveGaussianNB(k=10).fit(X, y).omission_probability_.max() <= 1.0


def test_shifted_and_rescaled_columns_give_the_same_probabilities(seed):
    X, y, X_new, _ = some_data(seed)
    rng = np.random.default_rng(seed)
    scale, shift = rng.choice([-50.0, 0.01, 3.0], size=200), rng.normal(scale=100.0, size=200)
    model = SelectiveGaussianNB(k=15).fit(X, y)
    moved = SelectiveGaussianNB(k=15).fit(X * scale + shift, y)
    np.testing.assert_array_equal(model.selection_.indices, moved.selection_.indices)
    np.testing.assert_allclose(
        model.predict_proba(X_new), moved.predict_proba(X_new * scale + shift), atol=1e-9
    )
    # With a common variance units matter, and the same test must notice.
    drawn = [
        SelectiveGaussianNB(k=15, variance_shrinkage=20.0).fit(a, y).predict_proba(b)
        for a, b in ((X, X_new), (X * scale + shift, X_new * scale + shift))
    ]
    assert np.abs(drawn[0] - drawn[1]).max() > 1e-4


def test_features_far_from_zero_come_out_right(seed):
    X, y, X_new, _ = some_data(seed)
    near = SelectiveGaussianNB(k=15).fit(X, y).predict_proba(X_new)
    far = SelectiveGaussianNB(k=15).fit(X + 1e8, y).predict_proba(X_new + 1e8)
    np.testing.assert_allclose(near, far, atol=1e-5)  # the values are rounded to 1e-8


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_kind_of_numbers(dtype, order, seed):
    X, y, X_new, _ = some_data(seed)
    tables = [np.asarray(np.round(table), dtype=dtype, order=order) for table in (X, X_new)]
    model = SelectiveGaussianNB(k=7).fit(tables[0], y)
    expected = SelectiveGaussianNB(k=7).fit(tables[0].astype(float), y)
    np.testing.assert_allclose(
        model.predict_proba(tables[1]), expected.predict_proba(tables[1].astype(float)), rtol=1e-12
    )


def test_one_feature_with_missing_values_is_the_feature_without_those_cases(seed):
    X, y, X_new, _ = some_data(seed, p=1, tau=1.0)
    holes = np.random.default_rng(seed).random(60) < 0.3
    holes[:6] = False
    with_holes = X.copy()
    with_holes[holes] = np.nan
    model = SelectiveGaussianNB(class_pseudocounts=1.0).fit(with_holes, y)
    # The classes are as frequent as in all cases; only the feature is known less often.
    counts, fewer = (np.bincount(labels, minlength=3) + 1.0 for labels in (y, y[~holes]))
    alone = SelectiveGaussianNB().fit(X[~holes], y[~holes])
    odds = alone.predict_log_proba(X_new) - np.log(fewer) + np.log(counts)
    expected = np.exp(odds - np.logaddexp.reduce(odds, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X_new), expected, atol=1e-9)


def test_a_missing_new_value_is_a_column_that_is_not_there(seed):
    X, y, X_new, _ = some_data(seed, p=6)
    model = SelectiveGaussianNB().fit(X, y)
    X_new[:, 2] = np.nan
    fitted = model._predictor.fitted
    with_gap = fitted.log_evidence(X_new) + fitted.log_psi
    posterior = model._predictor.fitted.posterior
    by_hand = np.empty_like(with_gap)
    for g, code in enumerate(np.eye(3)):
        law = posterior.law(code)
        keep = np.delete(np.arange(6), 2)
        z = (X_new[:, None, keep] - law.loc.T[:, keep]) / np.sqrt(law.squares.T[:, keep] / 59.0)
        logs = stats.t(59).logpdf(z) - 0.5 * np.log(law.squares.T[:, keep] / 59.0)
        by_hand[:, g] = np.log(21 / 63) + np.logaddexp.reduce(
            logs.sum(axis=2) + posterior.log_weights, axis=1
        )
    np.testing.assert_allclose(with_gap, by_hand, rtol=1e-10)
    all_gone = model.predict_proba(np.full((1, 6), np.nan))
    np.testing.assert_allclose(all_gone, [[1 / 3, 1 / 3, 1 / 3]], rtol=1e-12)


def test_missing_values_make_patterns_of_the_event(seed):
    X, y, *_ = some_data(seed)
    rng = np.random.default_rng(seed)
    X[6:][rng.random((54, 200)) < 0.2] = np.nan
    X[:, 17] = 3.0
    model = SelectiveGaussianNB(k=10).fit(X, y)
    event = model.selection_.event
    kept = model.get_support()
    known = np.array([[np.sum(~np.isnan(x[y == g])) for g in range(3)] for x in X.T])
    patterns = {tuple(row) for j, row in enumerate(known) if not kept[j] and j != 17}
    assert event.n_features.sum() == 200 - 10 - 1  # a constant column is no feature
    assert np.count_nonzero(event.n_features) == len(patterns)
    assert event.n_features[0] == 0  # nobody is complete, but the first pattern is there
    np.testing.assert_allclose(event.nu[0], 57.0)


def test_always_keep_panel_and_names(seed):
    X, y, X_new, _ = some_data(seed)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(200)])
    new = pd.DataFrame(X_new, columns=table.columns)
    weakest = f"x{int(np.argmin(f_classif(X, y)[0]))}"
    model = SelectiveGaussianNB(k=4, always_keep=[weakest]).fit(table, y)
    assert model.selection_.indices.size == 5
    assert weakest in model.get_feature_names_out()
    free = SelectiveGaussianNB(k=4).fit(table, y)
    assert model.threshold_ == free.threshold_
    panel = model.panel()
    assert panel.n_features_in_ == 5
    np.testing.assert_array_equal(
        panel.predict_proba(new[panel.feature_names_in_[::-1]]), model.predict_proba(new)
    )
    np.testing.assert_array_equal(panel.fit(None).predict(new), model.predict(new))


def test_preselected_is_the_selection_made_by_hand(seed):
    X, y, X_new, _ = some_data(seed)
    whole = SelectiveGaussianNB(k=9).fit(X, y)
    indices = whole.selection_.indices
    part = SelectiveGaussianNB(preselected_from=200).fit(X[:, indices], y)
    np.testing.assert_allclose(
        whole.predict_proba(X_new), part.predict_proba(X_new[:, indices]), atol=1e-12
    )
    with pytest.raises(ValueError, match=r"has an F statistic of .* not above threshold"):
        SelectiveGaussianNB(preselected_from=200, threshold=1e6).fit(X[:, indices], y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_pseudocounts": (1.0, 1.0)}, "one for each of the 3 classes"),
        ({"class_pseudocounts": 0.0}, "must be a positive number"),
        ({"class_pseudocounts": "many"}, "must be a positive number"),
        ({"variance_shrinkage": -1.0}, "must be 0, or a number from 0.1 to"),
        ({"variance_shrinkage": 1e-9}, "must be 0, or a number from 0.1 to"),
        ({"concentration_prior": (0.0, 1.0)}, "two positive finite numbers"),
        ({"threshold": -1.0}, "an F statistic is at least 0"),
        ({"k": 201}, "it must be in 1..200"),
        ({"k": 2, "threshold": 1.0}, "give only one of them"),
    ],
)
def test_parameters_out_of_range(settings, message):
    X, y, *_ = some_data(0)
    with pytest.raises(ValueError, match=message):
        SelectiveGaussianNB(**settings).fit(X, y)


@pytest.mark.filterwarnings("ignore:class.* one case only")
def test_more_cases_than_classes_are_needed():
    X, y, *_ = some_data(0)
    with pytest.raises(ValueError, match="3 classes and 3 cases"):
        SelectiveGaussianNB().fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="one class only"):
        SelectiveGaussianNB().fit(X, np.zeros(60))
    assert SelectiveGaussianNB(k=1).fit(X[:4], y[:4]).predict_proba(X[:1]).sum() == pytest.approx(1)


def test_an_error_leaves_the_estimator_as_it_was():
    X, y, X_new, _ = some_data(0)
    model = SelectiveGaussianNB(k=5).fit(X, y)
    before = model.predict_proba(X_new)
    broken = X.copy()
    broken[0, 0] = np.inf
    with pytest.raises(ValueError, match="column 0 has infinity in row 0"):
        model.fit(broken, y)
    np.testing.assert_array_equal(model.predict_proba(X_new), before)
    X_new[1, 3] = -np.inf
    with pytest.raises(ValueError, match="column 3 has infinity in row 1"):
        model.predict(X_new)


def test_more_columns_kept_than_vary():
    """The cut is 0 then, every omitted column is constant, and the event says nothing."""
    X, y, X_new, _ = some_data(0, p=8)
    X[:, 3:] = 1.0
    X_new[:, 3:] = 1.0
    both = [
        SelectiveGaussianNB(k=5, correct_selection=flag).fit(X, y).predict_proba(X_new)
        for flag in (True, False)
    ]
    np.testing.assert_array_equal(*both)
    np.testing.assert_allclose(
        both[0], SelectiveGaussianNB().fit(X[:, :3], y).predict_proba(X_new[:, :3]), rtol=1e-12
    )


def test_lives_in_pipelines_and_cross_validation(seed):
    X, y, *_ = some_data(seed, tau=0.8)
    pipeline = make_pipeline(StandardScaler(), SelectiveGaussianNB(k=20))
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.5


def test_ties_of_equal_columns_go_by_the_rule(seed):
    X, y, *_ = some_data(seed, p=10)
    X = np.column_stack([X[:, [0]]] * 4 + [X[:, 1:] * 0.0 + np.arange(60)[:, None] % 7])
    first = SelectiveGaussianNB(k=1).fit(X[:, :4], y)
    assert first.selection_.indices.tolist() == [0]
    chosen = {
        int(
            SelectiveGaussianNB(k=1, ties="random", random_state=s)
            .fit(X[:, :4], y)
            .selection_.indices[0]
        )
        for s in range(20)
    }
    assert len(chosen) > 1


def test_a_cut_at_zero_says_nothing(seed):
    """Columns uncorrelated with the class to the last bit: omitted, although they vary."""
    X, y, X_new, _ = some_data(seed, n=40, p=6, G=2)
    X[:, 5] = np.repeat([0.0, 1.0], 20)  # as often 1 in either class
    both = [
        SelectiveGaussianNB(threshold=0.0, correct_selection=flag).fit(X, y)
        for flag in (True, False)
    ]
    assert both[0].selection_.indices.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(*(model.predict_proba(X_new) for model in both))


@pytest.mark.parametrize("shrinkage", [0.1, 1.0, 1e6])
def test_shrinkage_at_its_bounds(shrinkage, seed):
    X, y, X_new, _ = some_data(seed)
    proba = SelectiveGaussianNB(k=6, variance_shrinkage=shrinkage).fit(X, y).predict_proba(X_new)
    assert np.all(np.isfinite(proba))
    free = SelectiveGaussianNB(k=6).fit(X, y).predict_proba(X_new)
    assert np.abs(proba - free).max() < (0.02 if shrinkage < 1.0 else 0.6)


def test_a_huge_cut_with_unequal_classes():
    """F = 1e31 kept, everything else omitted: the event is certain."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [20, 5, 9])
    X = np.column_stack([y + 1e-15 * rng.normal(size=34), rng.normal(size=(34, 30))])
    model = SelectiveGaussianNB(k=1).fit(X, y)
    assert model.threshold_ > 1e25
    assert model.omission_probability_ == pytest.approx(1.0)
    assert model.predict(X).tolist() == y.tolist()
