"""Explanations that add up, intervals of probabilities, and prevalence given by the user."""

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected import SelectiveBernoulliNB, SelectiveClassifier, SelectiveGaussianNB
from unselected.fitted.prevalence import log_prevalence

pytestmark = pytest.mark.usefixtures("few_folds")

KINDS = {
    "binary": SelectiveBernoulliNB(k=6),
    "binary, sparse": SelectiveBernoulliNB(k=6, prior="sparse"),
    "real": SelectiveGaussianNB(k=6),
    "real, sparse": SelectiveGaussianNB(k=6, prior="sparse"),
    "three": SelectiveGaussianNB(k=6),
    "three, sparse": SelectiveGaussianNB(k=6, prior="sparse"),
}


def data(kind, seed, n=50, p=60):
    """(X, y, X_new); two or three classes of unequal size."""
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.minimum(np.arange(n) % 5, 2 if "three" in kind else 1)]
    X = rng.normal(size=(n + 20, p))
    X[:n][y == "b", :4] += 1.0
    if "binary" in kind:
        X = (X > 0.3).astype(int)
    return X[:n], y, X[n:]


def fitted(kind, seed):
    X, y, new = data(kind, seed)
    return clone(KINDS[kind]).fit(X, y), new


# --- explanations --------------------------------------------------------------------------------


@pytest.mark.parametrize("prevalence", [None, "given"])
@pytest.mark.parametrize("kind", KINDS)
def test_contributions_add_up(kind, prevalence, seed):
    model, new = fitted(kind, seed)
    G = model.classes_.size
    if prevalence is not None:
        prevalence = np.arange(1.0, G + 1.0) / np.arange(1.0, G + 1.0).sum()
    told = model.explain(new, prevalence=prevalence)
    logs = model.predict_log_proba(new, prevalence=prevalence)
    odds = logs[:, 1] - logs[:, 0] if G == 2 else logs - logs.mean(axis=1, keepdims=True)
    shape = (20, 6) if G == 2 else (20, 6, 3)
    assert told.contributions.shape == shape
    np.testing.assert_allclose(told.total, told.prior + told.contributions.sum(axis=1))
    np.testing.assert_allclose(told.log_odds, odds, atol=1e-10)
    np.testing.assert_allclose(told.total + told.difference, odds, atol=1e-10)
    assert np.max(np.abs(told.difference)) > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_a_contribution_is_what_a_model_of_one_feature_says(kind, seed):
    """With all but one feature missing, or with one alone, the posterior being kept."""
    if "binary" in kind:
        pytest.skip("no value can be missing")
    model, new = fitted(kind, seed)
    told = model.explain(new)
    for j, column in enumerate(model.selection_.indices):
        alone = np.full(new.shape, np.nan)
        alone[:, column] = new[:, column]
        one = model.explain(alone)
        np.testing.assert_allclose(one.contributions[:, j], told.contributions[:, j])
        assert np.all(np.delete(one.contributions, j, axis=1) == 0.0)
        np.testing.assert_allclose(one.difference, 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", ["binary", "binary, sparse"])
def test_contributions_of_bits_are_those_of_mean_rates(kind, seed):
    model, new = fitted(kind, seed)
    posterior = model._predictor.fitted.posterior
    rates = np.einsum("n,cnp->cp", np.exp(posterior.log_weights), np.exp(posterior.log_one))
    zero, one = rates[:, posterior.vector_of]
    bits = new[:, model.selection_.indices] == 1
    expected = np.where(bits, np.log(one / zero), np.log((1.0 - one) / (1.0 - zero)))
    np.testing.assert_allclose(model.explain(new).contributions, expected, atol=1e-10)


def test_the_table_of_explanations(seed):
    pd = pytest.importorskip("pandas")
    model, new = fitted("three", seed)
    told = model.explain(new)
    table = pd.DataFrame(told.to_dict())
    first = model.selection_.indices[0]
    np.testing.assert_array_equal(table[f"{first}_b"], told.contributions[:, 0, 1])
    assert table.shape == (20, 3 * (6 + 4))
    model, new = fitted("real", seed)
    names = [f"g{j}" for j in range(new.shape[1])]
    X, y, new = data("real", seed)
    model = SelectiveGaussianNB(k=6).fit(pd.DataFrame(X, columns=names), y)
    table = pd.DataFrame(model.explain(pd.DataFrame(new, columns=names)).to_dict())
    kept = [names[j] for j in model.selection_.indices]
    assert table.columns.tolist() == ["prior", *kept, "total", "log_odds", "difference"]
    np.testing.assert_allclose(table[["prior", *kept]].sum(axis=1), table["total"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_says_the_same(kind, seed):
    model, new = fitted(kind, seed)
    panel, kept = model.panel(), new[:, model.selection_.indices]
    prevalence = np.full(model.classes_.size, 1.0 / model.classes_.size)
    for name in ("predict_proba", "predict", "predict_log_proba", "predict_proba_interval"):
        ours = getattr(panel, name)(kept, prevalence=prevalence)
        np.testing.assert_array_equal(ours, getattr(model, name)(new, prevalence=prevalence))
    np.testing.assert_array_equal(
        panel.explain(kept).contributions, model.explain(new).contributions
    )


def log_joint_by_node(model, X):
    """log P(class, row, node), shape (rows, classes, nodes)."""
    fitted = model._predictor.fitted
    logs, log_weights = fitted.by_node(fitted.rows(X, str))
    return logs + fitted.log_psi[:, np.newaxis] + log_weights


# --- intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_nodes_average_to_the_prediction(kind, seed):
    model, new = fitted(kind, seed)
    rows = new[:, model.selection_.indices]
    by_node = log_joint_by_node(model, rows)
    joint = logsumexp(by_node, axis=2)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_nested_and_hold_their_share(kind, seed):
    model, new = fitted(kind, seed)
    narrow, wide = (model.predict_proba_interval(new, level=level) for level in (0.5, 0.95))
    assert narrow[0].shape == (20, model.classes_.size)
    for lower, upper in (narrow, wide):
        assert np.all((lower >= 0.0) & (lower <= upper) & (upper <= 1.0))
    assert np.all(wide[0] <= narrow[0])
    assert np.all(wide[1] >= narrow[1])
    assert np.mean(wide[1] - wide[0]) > 1.2 * np.mean(narrow[1] - narrow[0])
    by_node = log_joint_by_node(model, new[:, model.selection_.indices])
    log_node = logsumexp(by_node, axis=1, keepdims=True)
    weights = np.exp(log_node - logsumexp(log_node, axis=2, keepdims=True))
    given = np.exp(by_node - log_node)
    inside = (given >= wide[0][:, :, None]) & (given <= wide[1][:, :, None])
    share = np.sum(weights * inside, axis=2)  # nodes are few, and weigh what they do
    assert np.min(share) > 0.8
    assert np.mean(share) == pytest.approx(0.95, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["three", "binary, sparse"])
def test_intervals_of_tempered_probabilities(kind, seed):
    """Each node with each worth of evidence, in a loop; the twin leaves the worth out."""
    X, y, new = data(kind, seed)
    X[:, 1:6], new[:, 1:6] = X[:, :1], new[:, :1]  # the same evidence six times
    model = clone(KINDS[kind]).set_params(dependence="tempered").fit(X, y)
    new, worth, log_psi = (
        new[:2],
        model.likelihood_average_.powers[0],
        model._predictor.fitted.log_psi,
    )
    by_node = log_joint_by_node(model, new[:, model.selection_.indices])
    weights = np.exp(logsumexp(by_node, axis=1))
    likely = worth.log_weights > worth.log_weights.max() - 12.0
    epsilon = worth.epsilon[likely]
    twin = clone(model).set_params(dependence="none").fit(X, y)
    intervals = [fitted.predict_proba_interval(new, level=0.8) for fitted in (model, twin)]
    misses = np.zeros(2)
    for i, logs in enumerate(by_node - log_psi[:, None]):
        joint = np.outer(weights[i], np.exp(worth.log_weights[likely])).ravel()
        each = logs[..., None] * worth.eta[likely] + log_psi[:, None, None]
        each = np.exp(each - logsumexp(each, axis=0))
        each = (1.0 - epsilon) * each + epsilon * np.exp(log_psi)[:, None, None]
        for g, values in enumerate(each.reshape(len(each), -1)):
            for of, ends in enumerate(intervals):
                below = [joint[values <= end[i, g]].sum() / joint.sum() for end in ends]
                misses[of] = max(misses[of], *np.abs(np.subtract(below, (0.1, 0.9))))
    assert misses[0] < 0.03  # nodes are few
    assert misses[1] > 0.03


@pytest.mark.parametrize("prevalence", [None, 0.1])
@pytest.mark.parametrize("kind", [SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveClassifier])
def test_intervals_take_the_prevalence_as_certain(kind, prevalence, seed):
    """Without a known feature both ends are the probability; with one they are apart."""
    rng, y = np.random.default_rng(seed), np.arange(40) % 3 == 0
    X = (rng.random((40, 30)) < np.where(y, 0.8, 0.3)[:, np.newaxis]).astype(float)
    model = kind(k=4).fit(X, y)
    rows = np.vstack([np.full(30, np.nan), X[0]])
    share = model.predict_proba(rows, prevalence=prevalence)[0]
    np.testing.assert_allclose(share[1], 15 / 42 if prevalence is None else prevalence)
    lower, upper = model.predict_proba_interval(rows, prevalence=prevalence)
    np.testing.assert_allclose([lower[0], upper[0]], [share, share], rtol=1e-12)
    assert np.all(lower[1] < upper[1])


def test_two_classes_have_complementary_intervals(seed):
    model, new = fitted("real", seed)
    lower, upper = model.predict_proba_interval(new)
    np.testing.assert_allclose(lower[:, 1], 1.0 - upper[:, 0], atol=1e-9)
    with pytest.raises(ValueError, match="level=2"):
        model.predict_proba_interval(new, level=2)
    with pytest.raises(ValueError, match=r"level='0\.9'"):
        model.predict_proba_interval(new, level="0.9")


# --- prevalence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_prevalence_takes_the_place_of_the_class_probabilities(kind, seed):
    """Bayes' rule by hand: odds times the ratio of the new prior odds to the old."""
    model, new = fitted(kind, seed)
    G = model.classes_.size
    old = np.exp(model._predictor.fitted.log_psi)
    given = np.arange(1.0, G + 1.0) ** 3
    given /= given.sum()
    expected = model.predict_proba(new) * given / old
    expected /= expected.sum(axis=1, keepdims=True)
    proba = model.predict_proba(new, prevalence=given)
    np.testing.assert_allclose(proba, expected, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new, prevalence=given)), proba)
    np.testing.assert_array_equal(
        model.predict(new, prevalence=given), model.classes_[proba.argmax(axis=1)]
    )
    np.testing.assert_allclose(model.predict_proba(new, prevalence=old), model.predict_proba(new))
    by_label = dict(zip(model.classes_.tolist(), given.tolist(), strict=True))
    np.testing.assert_array_equal(model.predict_proba(new, prevalence=by_label), proba)
    lower, upper = model.predict_proba_interval(new, level=0.999, prevalence=given)
    inside = (proba >= lower - 1e-9) & (proba <= upper + 1e-9)
    assert inside.all()


def test_one_number_is_the_prevalence_of_the_second_class(seed):
    model, new = fitted("real", seed)
    proba = model.predict_proba(new)[:, 1]
    old = np.exp(model._predictor.fitted.log_psi[1])
    ours = model.predict_proba(new, prevalence=0.01)[:, 1]
    np.testing.assert_allclose(ours, expit(logit(proba) - logit(old) + logit(0.01)))
    assert np.all(ours < proba)


@pytest.mark.parametrize(
    ("prevalence", "classes", "message"),
    [
        (0.2, "abc", "one number, but there are 3 classes: give a mapping"),
        (0.0, "ab", "prevalence=0.0 must be above 0 and below 1: the probability of 'b'"),
        (1.5, "ab", "prevalence=1.5 must be above 0"),
        ([0.2, 0.3, 0.5], "ab", r"shape \(3,\), but there are 2 classes"),
        ([0.2, 0.3], "ab", "sums to 0.5 over the classes, not to 1: divide"),
        ({"a": 1.0}, "ab", "lacks class 'b'"),
        ({"a": 0.4, "b": 0.5, "z": 0.1}, "ab", "has 'z', which is not one of the classes"),
        ("often", "ab", "is not made of numbers: give a mapping"),
        ({"a": 0.5, "b": None}, "ab", "prevalence of 'b' is nan|not made of numbers"),
        ([np.nan, 0.5], "ab", "prevalence of 'a' is "),
    ],
)
def test_prevalence_that_makes_no_sense(prevalence, classes, message):
    with pytest.raises(ValueError, match=message):
        log_prevalence(prevalence, np.array(list(classes)))


# --- decisions by scikit-learn's own tools -------------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "real", "real, sparse"])
def test_a_threshold_from_costs(kind, seed):
    """A false alarm costs 3 times as much as missing "b": alarm from 75 % on."""
    X, y, new = data(kind, seed)
    model = FixedThresholdClassifier(
        clone(KINDS[kind]), threshold=0.75, pos_label="b", response_method="predict_proba"
    ).fit(X, y)
    proba = model.estimator_.predict_proba(new)[:, 1]
    np.testing.assert_array_equal(model.predict(new), np.where(proba >= 0.75, "b", "a"))
    assert np.any((proba > 0.5) & (proba < 0.75))


def test_a_threshold_tuned_inside_cross_validation(seed):
    X, y, new = data("real", seed)
    pipe = make_pipeline(StandardScaler(), SelectiveGaussianNB(k=3))
    tuned = TunedThresholdClassifierCV(pipe, scoring="balanced_accuracy", cv=3).fit(X, y)
    assert set(tuned.predict(new)) <= {"a", "b"}
    assert 0.0 < tuned.best_threshold_ < 1.0


def test_related_weights_are_the_probabilities_of_being_related(seed):
    model, _ = fitted("real, sparse", seed)
    total = model._predictor.fitted.posterior.related_weights.sum(axis=1)
    np.testing.assert_allclose(total, model.related_probability_, atol=1e-9)


def test_prevalence_is_routed_as_metadata(seed):
    X, y, new = data("real", seed)
    model = SelectiveGaussianNB(k=3)
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_predict_proba_request(prevalence=True)
        pipe = make_pipeline(StandardScaler(), asking).fit(X, y)
        routed = pipe.predict_proba(new, prevalence=0.01)
        direct = pipe[-1].predict_proba(pipe[0].transform(new), prevalence=0.01)
        np.testing.assert_array_equal(routed, direct)
        with pytest.raises(UnsetMetadataPassedError, match="prevalence"):
            make_pipeline(StandardScaler(), model).fit(X, y).predict_proba(new, prevalence=0.01)
