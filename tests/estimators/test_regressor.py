import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.feature_selection import SelectKBest, r_regression
from sklearn.model_selection import cross_val_predict

from unselected import SelectiveNaiveRegressor
from unselected.models.gaussian import GaussianModel


def some_data(seed, *, n=50, p=200, tau=0.4, n_new=60):
    rng = np.random.default_rng(seed)
    y = rng.normal(10.0, 3.0, size=n + n_new)
    X, _ = GaussianModel().simulate_features((y / y[:n].std())[:, None], p, rng, tau=tau)
    return X[:n], y[:n], X[n:], y[n:]


def absolute_cor(X, y):
    return np.abs(r_regression(X, y))


def test_keeps_the_largest_correlations(seed):
    X, y, *_ = some_data(seed)
    model = SelectiveNaiveRegressor(k=12).fit(X, y)
    expected = SelectKBest(absolute_cor, k=12).fit(X, y)
    np.testing.assert_array_equal(model.get_support(), expected.get_support())
    np.testing.assert_allclose(model.scores_, absolute_cor(X, y)[model.get_support()], rtol=1e-10)
    assert model.selection_.event.n_omitted == 188


def test_predictions_fit_together(seed):
    X, y, X_new, y_new = some_data(seed)
    model = SelectiveNaiveRegressor(k=12).fit(X, y)
    mean, std = model.predict(X_new, return_std=True)
    np.testing.assert_array_equal(model.predict(X_new), mean)
    quantiles = model.predict_quantiles(X_new)
    assert quantiles.shape == (60, 3)
    assert np.all(np.diff(quantiles, axis=1) > 0)
    np.testing.assert_allclose(model.predict_cdf(X_new, quantiles[:, 1]), 0.5, atol=1e-9)
    step = 1e-4 * std
    slope = (model.predict_cdf(X_new, y_new + step) - model.predict_cdf(X_new, y_new - step)) / (
        2 * step
    )
    np.testing.assert_allclose(
        np.exp(model.predict_log_density(X_new, y_new)), slope, rtol=1e-4, atol=1e-6
    )
    assert np.corrcoef(mean, y_new)[0, 1] > 0.5
    assert np.all((std > 0.0) & (std < 2.0 * y.std()))


@pytest.mark.slow
def test_correction_widens_what_selection_has_narrowed(seed):
    """Noise: the uncorrected twin is far too sure."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 1000)), rng.normal(size=60)
    X_new, y_new = rng.normal(size=(300, 1000)), rng.normal(size=300)
    covered, width = [], []
    for flag in (True, False):
        model = SelectiveNaiveRegressor(k=15, correct_selection=flag).fit(X, y)
        pit = model.predict_cdf(X_new, y_new)
        covered.append(np.mean(np.abs(2 * pit - 1) < 0.9))
        width.append(model.predict(X_new, return_std=True)[1].mean())
    assert 0.82 < covered[0] < 0.96
    assert covered[1] < 0.82
    assert width[1] < 0.75 * width[0]


@pytest.mark.filterwarnings("ignore:k=[0-9]* keeps all")
def test_with_nothing_omitted_correction_changes_nothing(seed):
    X, y, X_new, _ = some_data(seed, p=15)
    both = [
        SelectiveNaiveRegressor(k=15, correct_selection=flag).fit(X, y).predict(X_new)
        for flag in (True, False)
    ]
    np.testing.assert_array_equal(*both)


def test_shifted_and_rescaled_columns_and_responses(seed):
    X, y, X_new, _ = some_data(seed)
    rng = np.random.default_rng(seed)
    scale, shift = rng.choice([-50.0, 0.01, 3.0], size=200), rng.normal(scale=100.0, size=200)
    mean, std = SelectiveNaiveRegressor(k=9).fit(X, y).predict(X_new, return_std=True)
    moved = SelectiveNaiveRegressor(k=9).fit(X * scale + shift, -7.0 * y + 1.0)
    other_mean, other_std = moved.predict(X_new * scale + shift, return_std=True)
    np.testing.assert_allclose(other_mean, -7.0 * mean + 1.0, rtol=1e-7)
    np.testing.assert_allclose(other_std, 7.0 * std, rtol=1e-7)


def test_a_feature_with_missing_values(seed):
    """One feature, flat in the response's law: the same lines as without those cases."""
    X, y, X_new, y_new = some_data(seed, p=3)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = SelectiveNaiveRegressor().fit(X, y)
    moments = model.panel().predictor.fitted.moments
    for j, x in enumerate(X.T):
        known = ~np.isnan(x)
        fit = stats.linregress(y[known], x[known])
        assert moments.sxy[j] / moments.syy[j] == pytest.approx(fit.slope, rel=1e-10)
        assert model.scores_[j] == pytest.approx(abs(fit.rvalue), rel=1e-10)
    X_new[:, :2] = np.nan
    assert np.all(np.isfinite(model.predict_log_density(X_new, y_new)))
    nothing = model.predict(np.full((1, 3), np.nan), return_std=True)
    assert nothing[0][0] == pytest.approx(y.mean(), abs=1e-8)


def test_panel_and_names(seed):
    X, y, X_new, y_new = some_data(seed)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(200)])
    new = pd.DataFrame(X_new, columns=table.columns)
    model = SelectiveNaiveRegressor(k=4, always_keep=["x7"]).fit(table, y)
    panel = model.panel()
    names = panel.feature_names_in_
    assert len(names) == 5
    assert "x7" in names
    np.testing.assert_array_equal(panel.predict(new[names[::-1]]), model.predict(new))
    np.testing.assert_array_equal(
        panel.predict_log_density(new, y_new), model.predict_log_density(new, y_new)
    )
    assert repr(panel) == "RegressorPanel(5 columns)"


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (np.full(50, 3.0), "y is 3 in all cases"),
        (np.where(np.arange(50) == 7, np.nan, 1.0 * np.arange(50)), "the first in row 7"),
        (1e160 * np.arange(50), "y has a range of .* use another unit"),
        (1e-200 * np.arange(50), "y has a range of .* use another unit"),
        (np.array(["a", "b"] * 25), "which is no number"),
    ],
)
def test_responses_that_cannot_be_used(response, message):
    X, *_ = some_data(0)
    with pytest.raises(ValueError, match=message):
        SelectiveNaiveRegressor().fit(X, response)


@pytest.mark.parametrize("quantiles", [(0.0, 0.5), (0.5, 1.0), (-1,), ((0.1, 0.2),), (np.nan,)])
def test_quantiles_out_of_range(quantiles):
    X, y, *_ = some_data(0)
    model = SelectiveNaiveRegressor(k=2).fit(X, y)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        model.predict_quantiles(X, quantiles)


def test_new_responses_are_checked():
    X, y, *_ = some_data(0)
    model = SelectiveNaiveRegressor(k=2).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.predict_log_density(X, y[:-1])
    with pytest.raises(ValueError, match="not a finite number in row 3"):
        model.predict_cdf(X, np.where(np.arange(50) == 3, np.inf, y))


def test_better_than_the_mean_in_cross_validation(seed):
    X, y, *_ = some_data(seed)
    predicted = cross_val_predict(SelectiveNaiveRegressor(k=20), X, y, cv=5)
    assert np.mean((predicted - y) ** 2) < 0.8 * np.var(y)


def test_no_feature_passes_a_high_threshold():
    X, y, X_new, _ = some_data(0)
    with pytest.warns(UserWarning, match="No feature has an absolute correlation above"):
        model = SelectiveNaiveRegressor(threshold=0.999).fit(X, y)
    law = stats.t(49, y.mean(), y.std(ddof=1) * np.sqrt(1 + 1 / 50))
    mean, std = model.predict(X_new[:2], return_std=True)
    np.testing.assert_allclose(mean, law.mean(), rtol=1e-9)
    np.testing.assert_allclose(std, law.std(), rtol=1e-8)
