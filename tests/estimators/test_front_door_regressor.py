"""The front door for a real response: order, groups, options, and honesty, with wrong twins."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from unselected import SelectiveClassifier, SelectiveNaiveRegressor, SelectiveRegressor
from unselected.estimators import content_folds, response_stack_fitting, response_views
from unselected.estimators.responses_left_out import ResponsesLeftOut
from unselected.models.response_transform import ResponseTransform

# Values of these tables have heavy tails.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*outside of their training range"),
    pytest.mark.usefixtures("few_folds"),
]


def correlated_data(seed, n=60, p=200, signal=1.0, noise=0.5):
    """Return blocks of nearly equal columns, of which some go with the response."""
    rng = np.random.default_rng(seed)
    common = np.repeat(rng.normal(size=(n, p // 10)), 10, axis=1)
    X = np.exp(common + 0.3 * rng.normal(size=(n, p)))
    return X, 3.0 + signal * common[:, 0] + noise * rng.normal(size=n)


@pytest.mark.parametrize("missing", [0.0, 0.03])
def test_the_order_of_rows_and_columns_does_not_matter(missing, seed):
    X, y = correlated_data(seed, n=40, p=100)
    rng = np.random.default_rng(seed)
    X[:, ::7] = X[:, ::7] > 1.0
    X[rng.random(X.shape) < missing] = np.nan
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    first = SelectiveRegressor(k=20).fit(X, y)
    moved = SelectiveRegressor(k=20).fit(X[np.ix_(rows, columns)], y[rows])
    for ours, theirs in zip(
        first.predict(X, return_std=True),
        moved.predict(X[:, columns], return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(theirs, ours, rtol=1e-7)


@pytest.mark.usefixtures("all_folds")
def test_it_predicts_better_than_the_naive_model_where_features_depend(seed):
    X, y = correlated_data(seed, n=160)
    train, test = slice(60), slice(60, None)
    ours, naive = (
        model.fit(X[train], y[train])
        for model in (SelectiveRegressor(), SelectiveNaiveRegressor(20))
    )
    ours_log, naive_log = (
        model.predict_log_density(X[test], y[test]).mean() for model in (ours, naive)
    )
    assert ours_log > naive_log + 0.3
    assert np.mean((ours.predict(X[test]) - y[test]) ** 2) < 0.6 * np.var(y[test])


def honest(seed, n_tables=8):
    """Coverage of central 90 % intervals in tables where next to nothing matters."""
    inside = []
    for number in range(n_tables):
        rng = np.random.default_rng([seed, number])
        X = rng.normal(size=(340, 3000)) + 0.5 * rng.normal(size=(340, 1))
        y = 0.1 * X[:, 0] + rng.normal(size=340)
        model = SelectiveRegressor(k=20).fit(X[:40], y[:40])
        place = model.predict_cdf(X[40:], y[40:])
        inside.append(np.mean((place > 0.05) & (place < 0.95)))
    return float(np.mean(inside))


@pytest.mark.slow
@pytest.mark.usefixtures("all_folds")
def test_intervals_hold_what_they_promise_after_selection(seed):
    assert 0.84 < honest(seed) < 0.96


@pytest.mark.slow
@pytest.mark.usefixtures("all_folds")
def test_without_selection_inside_the_folds_they_do_not(seed, monkeypatch):
    """The wrong twin: folds see the columns that were selected with all cases."""
    scores_of = response_stack_fitting.ResponseStackFitting.scores_of

    def selected_once(self, y, sets, new_stream, marginals, keys):
        whole = scores_of(self, y, sets[:1], new_stream, marginals, keys)
        return [one * len(sets) for one in whole]

    monkeypatch.setattr(response_stack_fitting.ResponseStackFitting, "scores_of", selected_once)
    assert not 0.84 < honest(seed) < 0.96


@pytest.mark.usefixtures("all_folds")
def test_noise_is_known_to_be_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 1000)), rng.normal(size=60)
    _, std = (
        SelectiveRegressor(k=20).fit(X, y).predict(rng.normal(size=(200, 1000)), return_std=True)
    )
    assert std.mean() > 0.9 * y.std()


def replicates(seed, n_subjects=25, p=300):
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(n_subjects), 4)
    X = rng.normal(size=(n_subjects, p))[subject] + 0.1 * rng.normal(size=(subject.size, p))
    return X, rng.normal(size=n_subjects)[subject], subject


@pytest.mark.usefixtures("all_folds")
def test_groups_stay_together_and_folds_that_split_them_are_fooled(seed):
    X, y, subject = replicates(seed)
    new = np.random.default_rng(seed + 1).normal(size=(200, X.shape[1]))
    together, apart = (
        SelectiveRegressor(k=20).fit(X, y, groups=groups).predict(new, return_std=True)[1].mean()
        for groups in (subject, None)
    )
    assert together > 0.8 * y.std()
    assert apart < 0.8 * y.std()


@pytest.mark.usefixtures("all_folds")
def test_one_outlier_does_not_spoil_everything(seed):
    X, y = correlated_data(seed, n=160)
    spoilt = y.copy()
    spoilt[3] += 30.0 * y.std()
    clean, robust = (
        SelectiveRegressor(k=20).fit(X[:60], z[:60]).predict_log_density(X[60:], y[60:]).mean()
        for z in (y, spoilt)
    )
    assert robust > clean - 0.5


@pytest.mark.usefixtures("all_folds")
def test_without_clipping_it_would(seed, monkeypatch):
    monkeypatch.setattr(response_views, "clipped_to", lambda y, _: y)
    monkeypatch.setattr(ResponseTransform, "learn", lambda _: None)
    with pytest.raises(AssertionError):
        test_one_outlier_does_not_spoil_everything(seed)


def transform_of(model):
    return model.panel().predictor.fitted.transform


def skewed_log_density(seed):
    """A model of skewed responses, and the mean log density of new ones."""
    X, z = correlated_data(seed, n=260)
    y = np.exp(1.5 * z)
    model = SelectiveRegressor(k=20).fit(X[:60], y[:60])
    return model, float(model.predict_log_density(X[60:], y[60:]).mean())


def test_skewed_responses_are_predicted_on_a_better_scale(seed, monkeypatch):
    """The wrong twin has the scale of the response."""
    model, log_density = skewed_log_density(seed)
    assert transform_of(model).sign == 1
    assert model.response_power_ == transform_of(model).power < 1.0
    assert any("skewed" in sentence for sentence in model.in_words())
    monkeypatch.setattr(ResponseTransform, "learn", lambda _: None)
    twin, usual = skewed_log_density(seed)
    assert twin.response_power_ == 1.0
    assert log_density > usual + 0.2


def skewed_coverage(seed, n_tables=4):
    """Fractions of skewed responses below and above 90 % intervals, in several tables."""
    tails = []
    for number in range(n_tables):
        rng = np.random.default_rng([seed, number])
        X = rng.normal(size=(240, 300))
        y = np.exp(X[:, :3].sum(axis=1) + rng.normal(size=240))
        model = SelectiveRegressor(k=10).fit(X[:40], y[:40])
        place = model.predict_cdf(X[40:], y[40:])
        tails.append([np.mean(place < 0.05), np.mean(place > 0.95)])
    return np.mean(tails, axis=0)


@pytest.mark.slow
def test_intervals_of_skewed_responses_miss_as_often_below_as_above(seed):
    assert np.all(np.abs(skewed_coverage(seed) - 0.05) < 0.04)


@pytest.mark.slow
def test_on_the_scale_of_the_response_they_do_not(seed, monkeypatch):
    monkeypatch.setattr(ResponseTransform, "learn", lambda _: None)
    assert not np.all(np.abs(skewed_coverage(seed) - 0.05) < 0.04)


def test_units_and_direction_of_a_skewed_response_do_not_matter(seed):
    X, z = correlated_data(seed)
    y = np.exp(1.5 * z)
    plain = SelectiveRegressor(k=10).fit(X, y)
    turned = SelectiveRegressor(k=10).fit(X, 5.0 - 100.0 * y)
    assert transform_of(plain) is not None
    assert transform_of(turned).sign == -1
    np.testing.assert_allclose(turned.predict(X), 5.0 - 100.0 * plain.predict(X), rtol=1e-6)
    np.testing.assert_allclose(
        turned.predict_quantiles(X, [0.05]), 5.0 - 100.0 * plain.predict_quantiles(X, [0.95]), 1e-6
    )


def test_the_scale_is_kept_where_thresholds_and_earlier_selections_are_of_the_response():
    X, z = correlated_data(0)
    y = np.exp(1.5 * z)
    for options in ({"threshold": 0.3}, {"preselected_from": 2000}):
        assert transform_of(SelectiveRegressor(k=None, **options).fit(X, y)) is None


def test_missing_values_sparse_tables_and_panels(seed):
    X, y = correlated_data(seed)
    X[:, ::2] = X[:, ::2] > 2.0
    model = SelectiveRegressor(k=20).fit(X, y)
    same = SelectiveRegressor(k=20).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(same.predict(X), model.predict(X))
    kept = X[:, model.selection_.indices]
    np.testing.assert_array_equal(model.panel().predict(kept), model.predict(X))
    holes = X.copy()
    holes[:5, ::3] = np.nan
    assert np.all(np.isfinite(model.predict(holes)))
    low, middle, high = model.predict_quantiles(X).T
    assert np.all((low < middle) & (middle < high))
    np.testing.assert_allclose(model.predict_cdf(X, middle), 0.5, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"dependence": "correlated"},
        {"dependence": "none"},
        {"prior": "common"},
        {"prior": "sparse"},
        {"marginals": "raw"},
        {"correct_selection": False, "dependence": "none"},
        {"k": None, "threshold": 0.5},
        {"k": None, "preselected_from": 5000},
        {"random_state": 1},
    ],
    ids=str,
)
def test_no_option_is_ignored(options):
    guard = "none" if "correct_selection" in options else "auto"
    plain, other = predicted(k=10, dependence=guard), predicted(**{"k": 10, **options})
    assert np.abs(plain - other).max() > 1e-6


@cache
def predicted(**options):
    X, y = correlated_data(0, n=30, p=60)
    new, _ = correlated_data(1, n=20, p=60)
    return SelectiveRegressor(**options).fit(X, y).predict(new)


@pytest.mark.usefixtures("all_folds")
def test_an_earlier_selection_makes_predictions_less_certain(seed):
    """Of noise, what somebody kept looks predictive: folds cannot see it, the event can."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 4000)), rng.normal(size=60)
    scores = np.abs(np.corrcoef(np.column_stack([y, X]), rowvar=False)[0, 1:])
    kept = np.argsort(-scores)[:20]
    new = rng.normal(size=(200, 20))
    fooled, told = (
        SelectiveRegressor(k=None, preselected_from=before)
        .fit(X[:, kept], y)
        .predict(new, return_std=True)[1]
        .mean()
        for before in (None, 4000)
    )
    assert fooled < 0.8 * y.std() < told


def test_cases_left_out_are_predicted_without_them():
    X, y = correlated_data(0, n=32, p=60)
    model = SelectiveRegressor(k=10).fit(X, y)
    mean, std = model.cv_predict(4, return_std=True)
    assert np.all(std > 0.0)
    fold = np.arange(8)
    alone = SelectiveRegressor(k=10).fit(np.delete(X, fold, axis=0), np.delete(y, fold))
    np.testing.assert_allclose(alone.predict(X[fold]), mean[fold], rtol=1e-9)
    grouped = SelectiveRegressor(k=10).fit(X, y, groups=np.arange(32) // 2)
    assert np.all(np.isfinite(grouped.cv_predict()))


@pytest.mark.parametrize("dependence", ["auto", "correlated", "none"])
def test_cases_left_out_with_covariates(dependence):
    X, y = correlated_data(0, n=32, p=60)
    age = np.random.default_rng(1).normal(size=(32, 1))
    model = SelectiveRegressor(k=10, dependence=dependence).fit(X, y, covariates=age)
    mean = model.cv_predict(4)
    fold = np.arange(8)
    rest = [np.delete(one, fold, axis=0) for one in (X, y, age)]
    alone = SelectiveRegressor(k=10, dependence=dependence).fit(*rest[:2], covariates=rest[2])
    again = alone.predict(X[fold], covariates=age[fold])
    np.testing.assert_allclose(again, mean[fold], rtol=1e-9)


def test_copies_of_cases_are_told_and_similar_cases_are_not(recwarn):
    X, y = correlated_data(0, n=24, p=60)
    similar = X + 0.05 * np.random.default_rng(1).normal(size=X.shape)
    both = np.concatenate([y, y])
    SelectiveRegressor(k=5, dependence="none").fit(np.concatenate([X, similar]), both)
    assert not [one for one in recwarn if "same values" in str(one.message)]
    doubled = np.concatenate([X, X])
    with pytest.warns(UserWarning, match="48 of 48 cases have the same values as another case"):
        SelectiveRegressor(k=5, dependence="none").fit(doubled, both)
    known = np.tile(np.arange(24), 2)
    SelectiveRegressor(k=5, dependence="none").fit(doubled, both, groups=known)
    assert not [one for one in recwarn if "same values" in str(one.message)]


def test_text_in_place_of_numbers_is_named():
    X, y = correlated_data(0, n=24, p=60)
    words = [*y[:3].tolist(), "high", *y[4:].tolist()]
    with pytest.raises(ValueError, match=r"y has 'high' in row 3 .* use SelectiveClassifier"):
        SelectiveRegressor(k=5).fit(X, words)
    same = SelectiveRegressor(k=5, dependence="none")
    as_text = same.fit(X, y.astype(str)).predict(X)
    np.testing.assert_array_equal(as_text, same.fit(X, y).predict(X))


def test_a_table_without_variation_says_nothing_of_classes():
    y = np.random.default_rng(0).normal(size=20)
    with pytest.warns(UserWarning, match="nothing to do with the response"):
        SelectiveRegressor(k=2).fit(np.ones((20, 4)), y)


@pytest.mark.parametrize("front_door", [SelectiveClassifier, SelectiveRegressor])
def test_the_seed_is_the_number_itself_and_none_is_0(front_door):
    X, y = correlated_data(0, n=32, p=60)
    if front_door is SelectiveClassifier:
        y = y > np.median(y)
    none, zero, one = (
        front_door(k=5, random_state=seed).fit(X, y)._fitting.seed for seed in (None, 0, 1)
    )
    assert (none, zero, one) == (0, 0, 1)


def test_errors_say_what_to_do():
    X, y = correlated_data(0, n=30)
    with pytest.raises(ValueError, match="leaving cases out leaves no variation"):
        SelectiveRegressor().fit(X, np.arange(30) == 3)
    with pytest.raises(ValueError, match="dependence='tempered'"):
        SelectiveRegressor(dependence="tempered").fit(X, y)
    with pytest.raises(ValueError, match="groups has 3 labels"):
        SelectiveRegressor().fit(X, y, groups=[1, 2, 3])
    with pytest.warns(UserWarning, match="all columns are constant"):
        SelectiveRegressor().fit(np.ones((30, 3)), y)


def test_another_seed_of_the_folds_gives_other_folds(monkeypatch):
    seeds = []
    divided = content_folds.divided
    monkeypatch.setattr(
        content_folds, "divided", lambda *given: seeds.append(given[3]) or divided(*given)
    )
    X, y = correlated_data(0, n=30)
    for random_state in (None, 1):
        SelectiveRegressor(k=5, random_state=random_state).fit(X, y)
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(("gain", "is_used"), [(4.5, False), (5.5, True)])
def test_a_transform_needs_clear_evidence(gain, is_used, seed, monkeypatch):
    """What new responses beyond the training range cost is not seen in the cases left out."""
    X, y = correlated_data(seed)
    found = {"as is": 0.0, "clipped": 0.0, "transformed": gain}
    monkeypatch.setattr(ResponsesLeftOut, "log_density", lambda _, kind, __: found[kind])
    model = SelectiveRegressor(k=5, marginals="raw").fit(X, np.exp(y))
    assert (model.response_power_ < 1.0) == is_used


def test_most_of_the_prior_is_on_features_that_are_all_related():
    X, y = correlated_data(0)
    model = SelectiveRegressor(k=5, dependence="none").fit(X, y)
    features = model.panel().predictor.fitted.main.model.features
    assert features.all_related == pytest.approx(2.0 / 3.0)
