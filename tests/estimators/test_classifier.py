"""The front door for classes: order, groups, options, and honesty, each with its wrong twin."""

import copy

import numpy as np
import pytest
from scipy import sparse

from unselected import SelectiveClassifier
from unselected.estimators import content_folds, stack_fitting
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.statistics.leaving_out import LeftOut

pytestmark = pytest.mark.usefixtures("few_folds")


def mixed_data(seed, n=48, p=90, n_classes=2, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = np.exp(rng.normal(size=(n, p)) + 0.8 * (np.arange(p) < 6) * y[:, np.newaxis])
    X[:, ::3] = rng.random((n, X[:, ::3].shape[1])) < 0.2 + 0.25 * y[:, np.newaxis]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize(("n_classes", "missing"), [(2, 0.0), (3, 0.03)])
def test_the_order_of_rows_columns_and_class_names_does_not_matter(n_classes, missing, seed):
    X, y = mixed_data(seed, n=36, p=24, n_classes=n_classes, missing=missing)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    names = rng.permutation(n_classes)
    proba = SelectiveClassifier(k=8).fit(X, y).predict_proba(X)
    moved = SelectiveClassifier(k=8).fit(X[np.ix_(rows, columns)], names[y[rows]])
    other = moved.predict_proba(X[:, columns])[:, names]
    np.testing.assert_allclose(other, proba, atol=1e-9)


@pytest.mark.usefixtures("all_folds")
def test_folds_by_position_would_depend_on_the_order(monkeypatch):
    """The wrong twin: folds that are dealt in the order of the rows."""
    X, y = mixed_data(0)
    monkeypatch.setattr(content_folds, "divided", lambda y, _keys, n, *_: np.arange(y.size) % n)
    rows = np.random.default_rng(0).permutation(len(y))
    first, second = (
        SelectiveClassifier(k=20).fit(X[order], y[order]).predict_proba(X)
        for order in (np.arange(len(y)), rows)
    )
    assert np.abs(first - second).max() > 1e-3


def replicates(seed, n_subjects=40, p=400):
    """Return three nearly identical rows of noise for each subject, and a class for each."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(n_subjects), 3)
    X = rng.normal(size=(n_subjects, p))[subject] + 0.2 * rng.normal(size=(subject.size, p))
    return X, (subject % 2), subject


@pytest.mark.usefixtures("all_folds")
def test_groups_stay_together_and_folds_that_split_them_are_fooled(seed):
    expected = []
    for other in range(3):  # some noise looks predictable by chance
        X, y, subject = replicates([seed, other])
        new = np.random.default_rng([seed, other, 1]).normal(size=(400, X.shape[1]))
        together = SelectiveClassifier(k=20).fit(X, y, groups=subject)
        with pytest.warns(UserWarning, match="nearly the same as another case of their class"):
            apart = SelectiveClassifier(k=20).fit(X, y)
        expected.append([model.expected_error(new) for model in (together, apart)])
    honest, fooled = np.median(expected, axis=0)
    assert fooled < 0.25 < 0.35 < honest  # the truth is 0.5
    proba = together.cv_predict_proba(4)
    assert np.mean(proba.argmax(axis=1) != y) > 0.3


def test_cases_that_differ_give_no_warning_of_replicates(recwarn, seed):
    rng = np.random.default_rng(seed)
    SelectiveClassifier(k=5, dependence="none", marginals="raw").fit(
        rng.normal(size=(40, 60)), np.arange(40) % 2
    )
    assert not [one for one in recwarn if "nearly the same" in str(one.message)]


@pytest.mark.slow
@pytest.mark.usefixtures("all_folds")
@pytest.mark.parametrize("k", [5, 100])
def test_noise_is_known_to_be_noise_and_without_the_correction_it_is_not(k):
    gaps = {True: [], False: []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 1000)), np.arange(50) % 2
        new = rng.normal(size=(300, 1000))
        for corrects in gaps:
            model = SelectiveClassifier(
                k=k,
                correct_selection=corrects,
                dependence="auto" if corrects else "none",
                marginals="auto" if corrects else "raw",
            )
            gaps[corrects].append(0.5 - model.fit(X, y).expected_error(new))
    # By chance some folds look predictable; without the correction all data sets do.
    assert np.median(gaps[True]) < 0.08 < np.median(gaps[False])


@pytest.mark.usefixtures("all_folds")
def test_weights_learned_from_the_training_cases_would_be_fooled(monkeypatch, seed):
    """The wrong twin: cases of a fold stay in the training set of the models without it.

    Features are noise that is correlated, so that weights matter.
    """
    rng = np.random.default_rng(seed)
    loadings = 0.3 * rng.normal(size=(20, 1000))
    draws = (rng.normal(size=(n, 1000)) + rng.normal(size=(n, 20)) @ loadings for n in (50, 500))
    (X, new), y = draws, np.arange(50) % 2
    honest = SelectiveClassifier(k=20).fit(X, y).expected_error(new)
    rows = stack_fitting.LeftOut.rows

    def nothing_out(out, n, asked=None):
        left = rows(np.array([], dtype=np.intp), n)
        return stack_fitting.LeftOut(left.out, left.kept, out if asked is None else asked)

    monkeypatch.setattr(stack_fitting.LeftOut, "rows", staticmethod(nothing_out))
    fooled = SelectiveClassifier(k=20).fit(X, y).expected_error(new)
    assert fooled < 0.35 < honest


def test_a_transform_of_the_units_does_not_matter_for_normal_scores():
    X, y = mixed_data(1)
    X[:, ::3] = np.exp(np.random.default_rng(0).normal(size=X[:, ::3].shape))
    model = SelectiveClassifier(k=5, marginals="normal", dependence="none")
    proba = model.fit(X, y).predict_proba(X)
    assert model.marginals_ == "normal"
    np.testing.assert_allclose(model.fit(np.log(X), y).predict_proba(np.log(X)), proba, atol=1e-9)
    raw = SelectiveClassifier(k=5, marginals="raw", dependence="none")
    raws = [raw.fit(values, y).predict_proba(values) for values in (X, np.log(X))]
    assert np.abs(raws[0] - raws[1]).max() > 0.01


@pytest.mark.usefixtures("all_folds")
def test_k_is_the_largest_number_of_features():
    X, y = mixed_data(0)
    model = SelectiveClassifier(k=12).fit(X, y)
    assert model.k_ <= 12
    assert set(model.k_weights_) <= {5, 12}
    assert model.selection_.indices.size == max(model.k_weights_)
    assert SelectiveClassifier(max_features=7).fit(X, y).k_ <= 7
    assert SelectiveClassifier(k=None).fit(X, y).k_ == X.shape[1]


def test_a_threshold_takes_the_place_of_k():
    X, y = mixed_data(0)
    model = SelectiveClassifier(threshold=0.3, marginals="raw", store_scores=True).fit(X, y)
    above = np.flatnonzero(model.feature_scores_ > 0.3)
    np.testing.assert_array_equal(model.selection_.indices, above)


def test_columns_that_are_always_kept_and_columns_kept_before():
    X, y = mixed_data(0)
    model = SelectiveClassifier(k=5, always_keep=[80, 81], marginals="raw").fit(X, y)
    assert {80, 81} <= set(model.selection_.indices.tolist())
    assert model.k_ == 5
    real = X[:, np.arange(90) % 3 > 0]
    before = SelectiveClassifier(preselected_from=5000, marginals="raw").fit(real, y)
    alone = SelectiveClassifier(k=None, marginals="raw").fit(real, y)
    assert before.selection_.event.n_omitted == 4940
    assert np.abs(before.predict_proba(real) - alone.predict_proba(real)).max() > 1e-3
    with pytest.raises(ValueError, match="needs columns of one kind"):
        SelectiveClassifier(preselected_from=5000).fit(X, y)
    real[:, 0] = np.maximum(real[:, 0] - np.quantile(real[:, 0], 0.8), 0.0)  # mostly 0
    before = SelectiveClassifier(preselected_from=5000, marginals="raw").fit(real, y)
    assert not before._predictor.fitted.is_binary.any()


def test_sparse_and_dense_tables_give_the_same():
    rng = np.random.default_rng(0)
    y = np.arange(50) % 2
    X = (rng.random((50, 300)) < 0.1 + 0.2 * y[:, np.newaxis] * (np.arange(300) < 5)).astype(float)
    dense, thin = (
        SelectiveClassifier(k=20).fit(table, y).predict_proba(table)
        for table in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(thin, dense, atol=1e-12)


@pytest.mark.usefixtures("all_folds")
def test_fold_seeds_move_probabilities_a_little():
    X, y = mixed_data(0, n=40, p=45)
    first, again, other = (
        SelectiveClassifier(k=8, random_state=seed).fit(X, y).predict_proba(X) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert 0.0 < np.abs(first - other).max() < 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 5, "threshold": 0.2}, "both given"),
        ({"marginals": "log"}, "marginals"),
        ({"prior": "flat"}, "prior"),
        ({"dependence": "correlated"}, "dependence"),
        ({"max_features": 0}, "max_features"),
        ({"class_pseudocounts": -1.0}, "class_pseudocounts"),
    ],
)
def test_wrong_options_are_named(options, message):
    X, y = mixed_data(0, n=20, p=12)
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(**options).fit(X, y)


def test_words_for_k_are_named():
    X, y = mixed_data(0, n=20, p=12)
    with pytest.raises(TypeError, match=r"k='loo' must be a whole number.*or 'auto'"):
        SelectiveClassifier(k="loo").fit(X, y)


def test_classes_of_one_case_and_single_groups_are_errors():
    X, y = mixed_data(0)
    with pytest.raises(ValueError, match="one group only"):
        SelectiveClassifier().fit(X, y, groups=np.zeros(48))
    few = np.where(np.arange(48) == 3, 2, y)
    with (
        pytest.raises(ValueError, match=r"class 2 has too few cases \(1\)"),
        pytest.warns(UserWarning, match="one case only"),
    ):
        SelectiveClassifier(k=5).fit(X, few)


def test_a_threshold_that_keeps_nothing_of_a_binary_table():
    X, y = np.random.default_rng(1).integers(0, 2, size=(30, 40)), np.arange(30) % 2
    with pytest.warns(UserWarning, match="No feature has an absolute correlation above"):
        model = SelectiveClassifier(threshold=0.98).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=0.02)


@pytest.mark.usefixtures("all_folds")
def test_a_threshold_that_keeps_nothing_of_a_mixed_table():
    X, y = mixed_data(0)
    with pytest.warns(UserWarning, match="No feature has an absolute correlation above"):
        model = SelectiveClassifier(threshold=0.999).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=0.02)
    # One column passes with all cases, and none without some of the folds.
    best = SelectiveClassifier(k=1, dependence="none", marginals="raw").fit(X, y).scores_[0]
    model = SelectiveClassifier(threshold=best - 1e-3, marginals="raw").fit(X, y)
    assert model.k_ == 1


@pytest.mark.usefixtures("all_folds")
def test_columns_without_a_score_do_not_divide_the_weights():
    X, y = mixed_data(0, p=30)
    X[:, 4:][y == 0] = np.nan
    with pytest.warns(UserWarning, match="known value"):
        model = SelectiveClassifier().fit(X, y)
    assert model.k_weights_ == {4: 1.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: np.where(np.arange(g.size) == 3, np.nan, g.astype(float)), "missing in row 3"),
        (lambda g: [None if i == 5 else f"P{v}" for i, v in enumerate(g)], "missing in row 5"),
        (lambda g: g[:-1], "groups has 47 labels, but there are 48 cases"),
    ],
)
def test_groups_that_cannot_be_used_are_named(change, message):
    X, y = mixed_data(0)
    with pytest.raises(ValueError, match=message):
        SelectiveClassifier(k=5).fit(X, y, groups=change(np.arange(48) // 2))


@pytest.mark.parametrize("cv", [3, np.int64(3), None])
def test_cross_validation_keeps_groups_together(cv, monkeypatch):
    X, y = mixed_data(0, n=30, p=12)
    groups = ["P" + str(i // 2) if i % 3 else i // 2 for i in range(30)]  # of mixed types
    model = SelectiveClassifier(k=2, dependence="none", marginals="raw").fit(X, y, groups=groups)
    seen = []
    learned = stack_fitting.StackFitting.learned

    def watched(self, left=None):
        seen.append(left)
        return learned(self, left)

    monkeypatch.setattr(stack_fitting.StackFitting, "learned", watched)
    model.cv_predict_proba(cv)
    numbers = model._fitting.groups
    for left in seen:
        assert not set(numbers[left.out]) & set(numbers[left.kept])


def test_bits_of_many_cases_in_several_classes_are_taken_as_numbers(seed):
    """Tables of all their counts would take too long for many fits."""
    rng = np.random.default_rng(seed)
    y = np.arange(240) % 4
    X = (rng.random((240, 40)) < 0.2 + 0.15 * y[:, np.newaxis] * (np.arange(40) < 4)).astype(int)
    model = SelectiveClassifier(k=5, dependence="none", marginals="raw").fit(X, y)
    assert not model._predictor.fitted.is_binary.any()
    assert np.mean(model.predict(X) == y) > 0.35


def test_texts_that_share_few_words_are_no_replicates(recwarn):
    rng = np.random.default_rng(0)
    X = rng.random((80, 100)) < 0.02
    SelectiveClassifier(k=5, dependence="none", marginals="raw").fit(X, np.arange(80) % 2)
    assert not [one for one in recwarn if "nearly the same" in str(one.message)]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_keep_the_training_set(copied):
    X, y = mixed_data(0, n=24, p=12)
    model = SelectiveClassifier(k=2, dependence="none", marginals="raw").fit(X, y)
    np.testing.assert_array_equal(copied(model).cv_predict_proba(3), model.cv_predict_proba(3))


def test_posteriors_stay_without_what_folds_share():
    """Those of fits without some cases are not computed in full, and those that stay are."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(40, 300)).astype(np.uint8), np.arange(40) % 2
    X[:, :5] |= y[:, np.newaxis].astype(np.uint8)
    model = SelectiveClassifier(k=20).fit(X, y)
    fitting = model._fitting
    left = LeftOut.rows(np.arange(4), 40)
    for learned in (fitting.learned(), fitting.learned(left)):
        for member in learned.stack.members:
            assert isinstance(member.fitted.binary.given, BernoulliPosterior)
