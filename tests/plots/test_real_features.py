"""Pictures of the estimators for real-valued features, and of several classes."""

import numpy as np
import pytest
from drawing import an_axes, labels
from matplotlib import pyplot as plt
from scipy.stats import f as f_law
from scipy.stats import f_oneway, pearsonr

from unselected import (
    SelectiveBernoulliNB,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    plots,
)
from unselected.calibration import most_probable
from unselected.models.gaussian import GaussianModel
from unselected.plots.concentration import posterior_of

NAMES = np.array(["a", "b", "c"])


def classes(rng, sizes=(15, 10, 12), *, p=200, tau=0.3):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X, _ = GaussianModel().simulate_features(np.eye(len(sizes))[y], p, rng, tau=tau)
    return X, y


def responses(rng, n=40, *, p=200, tau=0.3):
    y = rng.normal(5.0, 2.0, n)
    X, _ = GaussianModel().simulate_features(y[:, np.newaxis] / y.std(), p, rng, tau=tau)
    return X, y


def fitted(kind, rng, **settings):
    settings = {"k": 10, **settings}
    if kind == "number":
        return SelectiveNaiveRegressor(**settings).fit(*responses(rng))
    sizes = (15, 10, 12) if kind == "several" else (25, 15)
    X, y = classes(rng, sizes)
    return SelectiveGaussianNB(**settings).fit(X, NAMES[y])


KINDS = ["two", "several", "number"]
SLOPE = r"Concentration, $1/\tau^2$ ($\tau$: typical standardized slope)"
DIFFERENCE = r"Concentration, $1/\tau^2$ ($\tau$: typical standardized difference)"


# The omission probability.


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_omission_probability_is_that_of_the_estimator(kind, correct, seed):
    estimator = fitted(kind, np.random.default_rng(seed), correct_selection=correct)
    near = (estimator.concentration_ > 1e-3) & (estimator.concentration_ < 1e6)
    display = plots.OmissionProbabilityDisplay.from_estimator(
        estimator, concentration=estimator.concentration_[near], ax=an_axes()
    )
    assert near.sum() > 10
    np.testing.assert_allclose(
        display.probability, estimator.omission_probability_[near], rtol=1e-9
    )
    assert display.threshold == estimator.threshold_
    assert display.ax_.get_xlabel() == (SLOPE if kind == "number" else DIFFERENCE)


def test_omission_probability_of_a_number_is_a_scaled_f():
    estimator = fitted("number", np.random.default_rng(0))
    display = plots.OmissionProbabilityDisplay.from_estimator(estimator, ax=an_axes())
    square = estimator.threshold_**2
    bound = square / (1.0 - square) * 38
    scaled = f_law(1, 38).cdf(bound / (1.0 + 40 / display.concentration))
    np.testing.assert_allclose(display.probability, scaled, rtol=1e-9)
    # The twin forgets that the slopes vary.
    assert display.probability[0] < 0.2 < f_law(1, 38).cdf(bound)


@pytest.mark.parametrize(("kind", "value"), [("several", 2.0), ("number", 5.0)])
def test_omission_probability_by_simulation(kind, value, seed):
    """Features of the model, scored by scipy: within four standard errors."""
    rng = np.random.default_rng(seed)
    estimator = fitted(kind, rng)
    tau = value**-0.5
    display = plots.OmissionProbabilityDisplay.from_estimator(
        estimator, concentration=[value], ax=an_axes()
    )
    if kind == "several":
        X, y = classes(rng, p=4000, tau=tau)
        scores = f_oneway(*(X[y == g] for g in range(3))).statistic
    else:
        X, y = responses(rng, p=4000, tau=tau)
        scores = np.abs([pearsonr(x, y).statistic for x in X.T])
    share = np.mean(scores <= estimator.threshold_)
    error = np.sqrt(share * (1.0 - share) / 4000)
    assert display.probability[0] == pytest.approx(share, abs=4 * error)
    assert 0.05 < share < 0.98


@pytest.mark.parametrize(
    ("kind", "sizes", "words"),
    [
        ("two", {"a": 25, "b": 15}, "25 cases of class a, 15 of class b, |COR| at most"),
        (
            "several",
            {"a": 15, "b": 10, "c": 12},
            "15 cases of class a, 10 of class b, 12 of class c, F at most",
        ),
        ("number", None, "omission: 40 cases, |COR| at most"),
    ],
)
def test_omission_legend_says_what_the_cases_are(kind, sizes, words):
    estimator = fitted(kind, np.random.default_rng(0))
    display = plots.OmissionProbabilityDisplay.from_estimator(estimator, ax=an_axes())
    assert words in labels(display.ax_)[0]
    assert f"{estimator.threshold_:.3g}" in labels(display.ax_)[0]
    assert display.class_sizes == sizes
    assert display.n_samples == (40 if sizes is None else sum(sizes.values()))
    assert display.statistic == estimator.selection_.statistic


def test_many_classes_are_counted_only():
    rng = np.random.default_rng(0)
    X, y = classes(rng, sizes=(4,) * 9)
    estimator = SelectiveGaussianNB(k=5).fit(X, y)
    display = plots.OmissionProbabilityDisplay.from_estimator(estimator, ax=an_axes())
    assert labels(display.ax_)[0].startswith("omission: 36 cases of 9 classes, F at most")


def test_binary_features_name_their_classes():
    X, y = classes(np.random.default_rng(0), (25, 15))
    estimator = SelectiveBernoulliNB(k=10).fit(X, NAMES[y])
    display = plots.OmissionProbabilityDisplay.from_estimator(estimator, ax=an_axes())
    assert "25 cases of class a, 15 of class b" in labels(display.ax_)[0]
    assert display.ax_.get_xlabel() == "Concentration"


def test_missing_values_leave_the_probability_of_a_complete_feature():
    rng = np.random.default_rng(0)
    X, y = classes(rng)
    X[rng.random(X.shape) < 0.05] = np.nan
    estimator = SelectiveGaussianNB(k=10).fit(X, y)
    assert estimator.selection_.event.nu.size > 3
    near = estimator.concentration_ < 1e6
    display = plots.OmissionProbabilityDisplay.from_estimator(
        estimator, concentration=estimator.concentration_[near], ax=an_axes()
    )
    np.testing.assert_allclose(
        display.probability, estimator.omission_probability_[near], rtol=1e-9
    )
    assert display.class_sizes == {0: 15, 1: 10, 2: 12}


@pytest.mark.parametrize("kind", KINDS)
def test_all_features_kept_have_no_omission_probability(kind):
    estimator = fitted(kind, np.random.default_rng(0), k=None)
    with pytest.raises(ValueError, match="kept all features"):
        plots.OmissionProbabilityDisplay.from_estimator(estimator)


# The posterior of the concentration.


@pytest.mark.parametrize("kind", KINDS)
def test_concentration(kind, seed):
    estimators = {
        name: fitted(kind, np.random.default_rng(seed), correct_selection=name == "corrected")
        for name in ("corrected", "uncorrected")
    }
    display = plots.ConcentrationDisplay.from_estimators(
        estimators, true_concentration=0.3**-2, ax=an_axes()
    )
    means = {}
    for name, estimator in estimators.items():
        x, density = display.lines_[name].get_data()
        assert np.trapezoid(density, x) == pytest.approx(1.0, abs=0.01)
        weights = estimator.concentration_weights_
        means[name] = np.trapezoid(x * density, x)
        expected = weights @ np.log(np.minimum(estimator.concentration_, 1e300))
        assert means[name] == pytest.approx(expected, abs=0.05)
    # Without correction, features selected for their strength pass for typical ones.
    assert means["uncorrected"] < means["corrected"] - 0.3
    (top,) = display.ax_.child_axes
    assert top.get_xlabel() == (SLOPE if kind == "number" else DIFFERENCE)


def test_nodes_that_share_a_concentration_are_added_up():
    """With variances drawn together there are nodes of the common variance, too."""
    X, y = classes(np.random.default_rng(0))
    shrunk = SelectiveGaussianNB(k=10, variance_shrinkage=4.0).fit(X, y)
    assert np.unique(shrunk.concentration_).size < 0.5 * shrunk.concentration_.size
    display = plots.ConcentrationDisplay.from_estimator(shrunk, ax=an_axes())
    posterior = display.posteriors["corrected"]
    assert np.all(np.diff(posterior.log_concentration) > 0)
    mass = posterior.density @ np.gradient(posterior.log_concentration)
    assert mass == pytest.approx(1.0, abs=1e-9)
    assert np.all(np.isfinite(display.lines_["corrected"].get_ydata()))
    merged = posterior_of([1.0, 0.0, 1.0, 2.0], [0.2, 0.25, 0.3, 0.25])
    assert merged.density.tolist() == pytest.approx([0.25, 0.5, 0.25])


def test_estimators_of_different_kinds_have_plain_words():
    X, y = classes(np.random.default_rng(0), (25, 15))
    estimators = {
        "binary": SelectiveBernoulliNB(k=10).fit(X, y),
        "real": SelectiveGaussianNB(k=10).fit(X, y),
    }
    display = plots.ConcentrationDisplay.from_estimators(estimators, ax=an_axes())
    assert display.ax_.child_axes[0].get_xlabel() == "Concentration"
    names = [
        plots.ConcentrationDisplay.from_estimator(fitted(kind, np.random.default_rng(0), **s))
        for kind, s in (("two", {"k": None}), ("number", {"correct_selection": False}))
    ]
    assert [list(display.posteriors) for display in names] == [["complete"], ["uncorrected"]]


def test_wrong_estimators():
    for draw in (
        plots.ConcentrationDisplay.from_estimator,
        plots.OmissionProbabilityDisplay.from_estimator,
    ):
        message = "estimator is 3: give a fitted estimator, one of SelectiveBernoulliNB, Selective"
        with pytest.raises(TypeError, match=message):
            draw(3)
    assert plt.get_fignums() == []


# The most probable of several classes.


def probabilities(rng, n=80):
    y = rng.integers(0, 3, n)
    corrected, uncorrected = rng.dirichlet([1, 1, 1], n), rng.dirichlet([0.3, 0.3, 0.3], n)
    return y, corrected, uncorrected


def test_reliability_of_the_most_probable_class(seed):
    y, p, _ = probabilities(np.random.default_rng(seed))
    is_right, confidence = most_probable(y, p)
    draw = plots.ReliabilityDisplay.from_predictions
    display = draw(is_right, confidence, pos_label=None, random_state=0, ax=an_axes())
    same = draw(is_right.astype(int), confidence, random_state=0, ax=an_axes())
    np.testing.assert_array_equal(display.fraction, same.fraction)
    np.testing.assert_array_equal(display.predictions, p.max(axis=1))
    assert display.ax_.get_xlabel() == "Predicted probability of the most probable class"
    assert display.ax_.get_ylabel() == "Fraction of cases in the most probable class"


def test_probability_scatter_of_the_most_probable_class(seed):
    y, corrected, uncorrected = probabilities(np.random.default_rng(seed))
    display = plots.ProbabilityScatterDisplay.from_most_probable(
        y, corrected.tolist(), uncorrected, ax=an_axes()
    )
    best = [int(np.argmax(row)) for row in corrected]
    np.testing.assert_allclose(display.corrected, [max(row) for row in corrected])
    others = [row[g] for row, g in zip(uncorrected, best, strict=True)]
    np.testing.assert_allclose(display.uncorrected, others)
    np.testing.assert_array_equal(display.positive, corrected.argmax(axis=1) == y)
    # The twin takes the most probable class of each method for itself.
    assert np.any(display.uncorrected < uncorrected.max(axis=1) - 1e-9)
    assert display.ax_.get_ylabel() == "Corrected probability of the most probable class"
    assert labels(display.ax_) == ["in the most probable class", "not in the most probable class"]


def test_wrong_probabilities_of_several_classes():
    draw = plots.ProbabilityScatterDisplay.from_most_probable
    p = np.full((2, 3), 1 / 3)
    with pytest.raises(ValueError, match="corrected has 3 classes and uncorrected has 2"):
        draw([0, 1], p, np.full((2, 2), 0.5))
    with pytest.raises(ValueError, match="y has the value 3 in row 1"):
        draw([0, 3], p, p)
    with pytest.raises(ValueError, match="pos_label=None is for the most probable"):
        plots.ReliabilityDisplay.from_predictions([0, 1], [0.5, 0.5], pos_label=None)
    assert plt.get_fignums() == []


def test_a_classifier_of_several_classes_is_told_what_to_draw():
    X, y = classes(np.random.default_rng(0))
    estimator = SelectiveGaussianNB(k=5).fit(X, y)
    with pytest.raises(ValueError, match=r"has 3 classes: two are needed.*most_probable"):
        plots.ReliabilityDisplay.from_estimator(estimator, X, y)


def test_displays_of_counts_say_that_they_are():
    X, y = classes(np.random.default_rng(0), p=5)
    with pytest.raises(ValueError, match="two classes, not 3"):
        plots.CorrelationsDisplay.from_data(X, y, X, y)
    with pytest.raises(ValueError, match=r"column 0 of X_train has the value .* only 0 and 1"):
        plots.CorrelationsDisplay.from_data(X, y == 0, X, y == 0)
    with pytest.raises(ValueError, match=r"n0=SelectiveGaussianNB.* must be a whole number"):
        plots.SelectedCountsDisplay.from_counts(SelectiveGaussianNB(), 3, 0.5)


# Effects of the kept features.


@pytest.mark.parametrize("kind", KINDS)
def test_effects_are_those_of_the_estimator(kind, seed):
    estimator = fitted(kind, np.random.default_rng(seed), prior="sparse")
    effects = estimator.feature_effects(level=0.8)
    for name, effect in effects.effects.items():
        display = plots.EffectsDisplay.from_estimator(
            estimator, effect=name, level=0.8, ax=an_axes()
        )
        np.testing.assert_allclose(
            display.points_.get_offsets(), np.column_stack([effect.naive, effect.mean])
        )
        ends = [segment[:, 1] for segment in display.bars_.get_segments()]
        np.testing.assert_allclose(ends, np.column_stack([effect.low, effect.high]))
        assert "80 % interval" in display.ax_.get_legend_handles_labels()[1]
        assert "standardized" in display.ax_.get_xlabel().lower()
    words = {"two": "mean difference", "several": "of a from", "number": "slope"}
    first = plots.EffectsDisplay.from_effects(effects, ax=an_axes())
    assert words[kind] in first.ax_.get_ylabel()


def test_effects_that_cannot_be_drawn():
    estimator = fitted("two", np.random.default_rng(0))
    with pytest.raises(ValueError, match="effect='odds' is not one of 'mean_difference'"):
        plots.EffectsDisplay.from_estimator(estimator, effect="odds")
    with pytest.raises(TypeError, match="give a fitted estimator"):
        plots.EffectsDisplay.from_estimator("corrected")
    with pytest.warns(UserWarning, match="No feature"):
        nothing = fitted("two", np.random.default_rng(0), k=None, threshold=0.9999)
    with pytest.raises(ValueError, match="no feature was kept"):
        plots.EffectsDisplay.from_estimator(nothing)
