"""`SelectiveBernoulliNB` with given totals, several classes and missing values."""

import warnings

import count_oracle
import dask.array
import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from unselected import SelectiveBernoulliNB, open_columns
from unselected.columns import blocks

pytestmark = pytest.mark.usefixtures("few_folds")

N, P = 27, 70


def words(seed, G=3, missing=0.0, n=N, p=P):
    """Rare and common features; some are related to the class, some tie, two are constant."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % G)
    rates = np.where(np.arange(p) % 2, 0.08, 0.5)
    shifts = 0.25 * rng.normal(size=(G, p)) * (rng.random(p) < 0.3)
    X = (rng.random((n, p)) < np.clip(rates + shifts[y], 0.0, 1.0)).astype(float)
    X[:, 9], X[:, 7], X[:, 3], X[:, 5] = X[:, 2], 1.0 - X[:, 2], 0.0, 1.0
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


MODELS = {
    "given": SelectiveBernoulliNB(k=5, rates="given"),
    "given, at random": SelectiveBernoulliNB(k=5, rates="given", ties="random", random_state=1),
    "given, sparse": SelectiveBernoulliNB(k=5, rates="given", prior="sparse"),
    "given, threshold": SelectiveBernoulliNB(threshold=2.5, rates="given"),
    "given, always": SelectiveBernoulliNB(k=4, rates="given", always_keep=[0, 9]),
    "uniform": SelectiveBernoulliNB(k=5),
    "uniform, sparse": SelectiveBernoulliNB(k=5, prior="sparse"),
}
DATA = {
    "three": {"G": 3},
    "three, missing": {"G": 3, "missing": 0.02},
    "two": {"G": 2},
    "two, missing": {"G": 2, "missing": 0.02},
}
# The threshold is of F, or of |COR|.
COR = {"given, threshold": SelectiveBernoulliNB(threshold=0.3, rates="given")}


def model_for(name, data):
    return clone(COR.get(name, MODELS[name]) if DATA[data]["G"] == 2 else MODELS[name])


def assert_same(model, other, X, atol=0.0):
    for ours, theirs in (
        (model.predict_log_proba(X), other.predict_log_proba(X)),
        (model.log_marginal_likelihood_, other.log_marginal_likelihood_),
        (model.scores_, other.scores_),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("G", [2, 3])
def test_a_fit_is_what_brute_force_gives(G, missing, seed):
    X, y = words(seed, G, missing, n=3 * G + 1, p=11)
    X[:G, :], X[-1, 4] = np.eye(11)[:G], 1.0  # every class has known values
    sizes = tuple(np.bincount(y).tolist())
    k = 3
    model = SelectiveBernoulliNB(k=k, rates="given", concentration_prior=(1.5, 3.0)).fit(X, y)
    columns = []
    for x in X.T:
        known = ~np.isnan(x)
        ones = tuple(int(np.sum(x[known & (y == g)])) for g in range(G))
        columns.append((ones, tuple(int(np.sum(known & (y == g))) for g in range(G))))
    scores = [
        count_oracle.score(ones, known)
        if min(known) > 0 and (G == 2 or known == sizes or sum(known) > G)
        else None
        for ones, known in columns
    ]
    order = sorted((j for j in range(11) if scores[j] is not None), key=lambda j: (-scores[j], j))
    kept, omitted = sorted(order[:k]), order[k:]
    assert model.selection_.indices.tolist() == kept
    cut = scores[order[k - 1]]
    fates = {True: lambda value: value == cut, False: lambda value: value < cut}
    event = [(columns[j][1], sum(columns[j][0]), fates[scores[j] == cut]) for j in omitted]
    evidence, joint = count_oracle.condition(
        [columns[j] for j in kept], event, X[:, kept], sizes, "given", (1.5, 3.0)
    )
    assert model.log_marginal_likelihood_ == pytest.approx(np.log(evidence), abs=1e-7)
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *(("given, threshold", data) for data in DATA),
        ("given", "two"),
        ("given", "three, missing"),
        ("uniform", "two, missing"),
        ("uniform", "three"),
    ],
)
def test_order_and_names_do_not_matter(name, data, seed):
    X, y = words(seed, **DATA[data])
    G = DATA[data]["G"]
    rng = np.random.default_rng(seed)
    plain = model_for(name, data).fit(X, y)
    rows, labels = rng.permutation(N), np.array(["c", "a", "b"][:G])
    by_rows = model_for(name, data).fit(X[rows], y[rows])
    assert_same(by_rows, plain, X)
    named = model_for(name, data).fit(X, labels[y])
    places = np.searchsorted(np.sort(labels), labels)
    np.testing.assert_allclose(
        named.predict_proba(X)[:, places], plain.predict_proba(X), atol=1e-11
    )
    assert named.log_marginal_likelihood_ == pytest.approx(plain.log_marginal_likelihood_, abs=1e-9)
    if name == "given, threshold":  # ties at the cut of a rank go to the lower column
        columns = rng.permutation(P)
        moved = model_for(name, data).fit(X[:, columns], y)
        assert set(columns[moved.selection_.indices]) == set(plain.selection_.indices)
        np.testing.assert_allclose(
            moved.predict_proba(X[:, columns]), plain.predict_proba(X), atol=1e-11
        )


@pytest.mark.parametrize("G", [2, 3])
@pytest.mark.parametrize("rates", ["uniform", "given"])
def test_a_missing_value_changes_its_own_column_only(G, rates, seed):
    X, y = words(seed, G)
    holes = X.copy()
    holes[4, 20] = np.nan
    plain, other = (
        SelectiveBernoulliNB(k=5, rates=rates, store_scores=True).fit(table, y)
        for table in (X, holes)
    )
    others = np.arange(P) != 20
    ours, theirs = (model.feature_counts_[:, others] for model in (plain, other))
    np.testing.assert_array_equal(ours, theirs)
    ours, theirs = (model.feature_scores_[others] for model in (plain, other))
    np.testing.assert_array_equal(ours, theirs)
    known = np.arange(N) != 4
    alone = SelectiveBernoulliNB(store_scores=True).fit(X[known][:, [20]], y[known])
    np.testing.assert_array_equal(other.feature_counts_[:, [20]], alone.feature_counts_)
    np.testing.assert_allclose(other.feature_scores_[20], alone.feature_scores_[0], rtol=1e-14)


@pytest.mark.parametrize("rates", ["uniform", "given"])
@pytest.mark.parametrize("G", [2, 3])
def test_missing_values_of_a_column_without_a_score_change_nothing_else(G, rates, seed):
    """A column that is unknown in a whole class is no candidate, and no part of the event."""
    X, y = words(seed, G)
    holes = np.column_stack([X, np.where(y == 1, np.nan, 1.0)])
    plain = SelectiveBernoulliNB(k=5, rates=rates).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        other = SelectiveBernoulliNB(k=5, rates=rates).fit(holes, y)
    assert other.selection_.event.n_omitted == plain.selection_.event.n_omitted
    np.testing.assert_array_equal(other.predict_proba(holes), plain.predict_proba(X))


def test_a_missing_value_says_nothing_about_a_new_case(seed):
    X, y = words(seed)
    model = SelectiveBernoulliNB(k=5, rates="given").fit(X, y)
    row = X[:1].copy()
    kept = model.selection_.indices
    row[0, kept[2]] = np.nan
    both = np.repeat(row, 2, axis=0)
    both[:, kept[2]] = 0.0, 1.0
    predictor = model._predictor.fitted
    log_one = predictor.log_evidence(both[:, kept])
    log_none = predictor.log_evidence(row[:, kept])
    np.testing.assert_allclose(np.logaddexp(*log_one), log_none[0], atol=1e-12)
    model.predict_proba(row)


# Each model, and each kind of data with both kinds of rates.
LEFT_OUT = [
    ("given", "three"),
    ("given", "two, missing"),
    ("given, at random", "three, missing"),
    ("given, sparse", "two"),
    ("given, threshold", "three, missing"),
    ("given, always", "two"),
    ("uniform", "three"),
    ("uniform", "two, missing"),
    ("uniform, sparse", "two"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "data"), LEFT_OUT)
def test_leaving_out_folds_is_fitting_again(name, data, seed):
    X, y = words(seed, **DATA[data], n=12, p=18)
    model = model_for(name, data)
    cv = StratifiedKFold(3, shuffle=True, random_state=seed)
    folds = cross_val_predict(clone(model), X, y, cv=cv, method="predict_proba")
    ours = clone(model).fit(X, y).cv_predict_proba(cv)
    np.testing.assert_allclose(ours, folds, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "data"), LEFT_OUT[::3])
def test_leaving_out_each_case_is_fitting_again(name, data, seed):
    n = 9
    X, y = words(seed, **DATA[data], n=n, p=18)
    model = model_for(name, data)
    ours = clone(model).fit(X, y).loo_predict_proba()
    for i in range(0, n, 5):
        rest = np.arange(n) != i
        alone = clone(model).fit(X[rest], y[rest]).predict_proba(X[[i]])[0]
        np.testing.assert_allclose(ours[i], alone, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("given", "three"),
        ("given", "three, missing"),
        ("given, at random", "two"),
        ("uniform", "three, missing"),
        ("uniform", "two"),
    ],
)
def test_dask_and_frames_give_what_the_array_gives(name, data, seed):
    X, y = words(seed, **DATA[data])
    plain = model_for(name, data).fit(X, y)
    for table in (
        dask.array.from_array(X, chunks=(7, 19)),
        dask.array.from_array(X, chunks=(N, 11)),
        np.asfortranarray(X),
    ):
        assert_same(model_for(name, data).fit(table, y), plain, X)
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    other = model_for(name, data).fit(frame, y)
    np.testing.assert_array_equal(other.predict_proba(frame), plain.predict_proba(X))


@pytest.mark.parametrize("rates", ["uniform", "given"])
@pytest.mark.parametrize("data", ["three", "two"])
def test_sparse_tables_give_what_the_array_gives(rates, data, seed):
    X, y = words(seed, **DATA[data])
    plain = SelectiveBernoulliNB(k=5, rates=rates).fit(X, y)
    for make in (sparse.csr_array, sparse.csc_matrix):
        model = SelectiveBernoulliNB(k=5, rates=rates).fit(make(X), y)
        assert_same(model, plain, X)
        np.testing.assert_array_equal(model.predict_proba(make(X)), plain.predict_proba(X))


@pytest.mark.parametrize("data", ["three", "three, missing"])
def test_files_give_what_the_array_gives(data, tmp_path, seed):
    X, y = words(seed, **DATA[data])
    np.save(tmp_path / "X.npy", X)
    plain = SelectiveBernoulliNB(k=5, rates="given").fit(X, y)
    model = SelectiveBernoulliNB(k=5, rates="given").fit(open_columns(tmp_path / "X.npy"), y)
    assert_same(model, plain, X)


def test_totals_of_a_wide_table_are_counted_in_parts(monkeypatch, seed):
    """The tally is of all columns, also of those that are dropped while the table is read."""
    X, y = words(seed, p=900)
    plain = SelectiveBernoulliNB(k=5, rates="given").fit(X, y)
    monkeypatch.setattr(blocks, "_COPY_BYTES", 1)
    parts = SelectiveBernoulliNB(k=5, rates="given").fit(X, y)
    assert_same(parts, plain, X)
    kinds = parts.selection_.event.kinds
    assert kinds.n_features.sum() == 895
    omitted = np.delete(X, parts.selection_.indices, axis=1).sum(axis=0).astype(int)
    np.testing.assert_array_equal(np.repeat(kinds.totals, kinds.n_features), np.sort(omitted))


def test_rates_are_checked():
    X, y = words(0)
    with pytest.raises(ValueError, match="rates"):
        SelectiveBernoulliNB(k=3, rates="known").fit(X, y)
    with pytest.raises(ValueError, match="quadrature='paper' does not support rates='given'"):
        SelectiveBernoulliNB(k=3, rates="given", quadrature="paper").fit(*words(0, 2))
    with pytest.raises(ValueError, match="quadrature='paper' does not support more than two"):
        SelectiveBernoulliNB(k=3, quadrature="paper").fit(X, y)


@pytest.mark.filterwarnings("ignore:k=70 keeps all 70 columns")
def test_uncorrected_fits_have_no_event(seed):
    X, y = words(seed)
    naive = SelectiveBernoulliNB(k=5, rates="given", correct_selection=False).fit(X, y)
    kept = naive.selection_.indices
    alone = SelectiveBernoulliNB(rates="given").fit(X[:, kept], y)
    np.testing.assert_allclose(naive.predict_proba(X), alone.predict_proba(X[:, kept]), atol=1e-12)
    honest = SelectiveBernoulliNB(k=5, rates="given").fit(X, y)
    assert np.max(np.abs(honest.predict_proba(X) - naive.predict_proba(X))) > 0.01
    everything = SelectiveBernoulliNB(k=P, rates="given").fit(X, y)
    usual = SelectiveBernoulliNB(k=P, rates="given", correct_selection=False).fit(X, y)
    np.testing.assert_array_equal(everything.predict_proba(X), usual.predict_proba(X))


@pytest.mark.parametrize("dependence", ["tempered", "correlated"])
def test_guards_against_dependence_take_given_totals(dependence, seed):
    X, y = words(seed, missing=0.02)
    model = SelectiveBernoulliNB(k=5, rates="given", dependence=dependence).fit(X, y)
    predicted = model.predict_proba(X)
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(predicted > 0.0)


def test_columns_never_seen(seed):
    X, y = words(seed, missing=0.02)
    few = SelectiveBernoulliNB(k=6, rates="given").fit(X, y).selection_.indices
    honest = SelectiveBernoulliNB(rates="given", preselected_from=P).fit(X[:, few], y)
    naive = SelectiveBernoulliNB(rates="given", correct_selection=False).fit(X[:, few], y)
    sure = [model.predict_proba(X[:, few]).max(axis=1).mean() for model in (honest, naive)]
    assert sure[0] < sure[1]


def test_features_that_equal_the_class_among_many_cases():
    """Unrelated, they would have a probability below the smallest double."""
    y = np.repeat([0, 1], 700)
    X = np.random.default_rng(0).integers(0, 2, size=(1400, 60)).astype(float)
    X[:, :10] = y[:, np.newaxis]
    given = SelectiveBernoulliNB(k=5, rates="given", prior="sparse").fit(X, y)
    assert given.predict_proba(X[-1:])[0, 1] > 0.99
    X[3, 50] = np.nan
    uniform = SelectiveBernoulliNB(k=5, prior="sparse").fit(X, y)
    assert uniform.predict_proba(X[-1:])[0, 1] > 0.99


def test_stored_counts_are_in_the_places_of_their_columns():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, size=(20, 6)).astype(float), np.arange(20) % 2
    X[y == 1, 1] = np.nan
    with pytest.warns(UserWarning, match="no known value"):
        model = SelectiveBernoulliNB(k=2, store_scores=True).fit(X, y)
    expected = np.stack([np.nansum(X[y == g], axis=0) for g in (0, 1)])
    expected[:, 1] = 0
    np.testing.assert_array_equal(model.feature_counts_, expected)


@pytest.mark.parametrize("rule", [{"k": 1}, {"threshold": 0.5}, {"k": 1, "rates": "given"}])
def test_as_many_classes_as_cases(rule):
    with pytest.raises(ValueError, match="needs more cases than classes"):
        SelectiveBernoulliNB(**rule).fit([[0, 1, 1], [1, 0, 1], [0, 0, 1.0]], [0, 1, 2])
