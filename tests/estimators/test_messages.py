"""Messages show values as users write them, and of one bad column that column alone."""

import numpy as np
import pandas as pd
import pytest

from unselected import SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor

X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 30))).rename(columns="x{}".format)
Y = np.arange(20) % 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": np.float64(2.5)}, "k=2.5 must be a whole number"),
        ({"k": np.int64(3), "threshold": 0.5}, "k=3 and threshold=0.5"),
        ({"k": 2, "always_keep": np.array([1.5])}, "always_keep has 1.5: give names"),
        ({"k": 2, "always_keep": np.array(["zz"])}, "always_keep has the name 'zz'"),
        ({"concentration_prior": (np.float64(-1), 2)}, "concentration_prior=(-1.0, 2) must"),
        ({"class_pseudocounts": np.float64(-1)}, "class_pseudocounts=-1.0 must"),
        ({"variance_shrinkage": np.float64(-1)}, "variance_shrinkage=-1.0 must"),
        ({"ties": np.str_("last")}, "ties='last' is not one of"),
    ],
)
def test_values_of_numpy_are_shown_as_python_writes_them(parameters, message):
    with pytest.raises((TypeError, ValueError)) as error:
        SelectiveGaussianNB(**parameters).fit(X, Y)
    assert message in str(error.value)


@pytest.mark.parametrize(("label", "written"), [("a", "'a'"), (1.0, "1.0"), (3, "3")])
def test_a_class_is_shown_as_python_writes_it(label, written):
    with pytest.raises(ValueError, match=f"y holds one class only, {written}: "):
        SelectiveGaussianNB(k=2).fit(X, np.full(20, label))


def test_levels_and_quantiles_are_shown_as_python_writes_them():
    model = SelectiveGaussianNB(k=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"level=2\.0 must be between"):
        model.feature_effects(level=np.float64(2))
    model = SelectiveNaiveRegressor(k=2).fit(X, X["x0"])
    with pytest.raises(ValueError, match=r"quantiles=\[2\.0\] must be numbers"):
        model.predict_quantiles(X, [np.float64(2)])
    with pytest.raises(ValueError, match="binarize=nan must be a number"):
        SelectiveBernoulliNB(k=2, binarize=np.float64("nan")).fit(X, Y)


@pytest.mark.parametrize("value", [pd.Timestamp("2020-01-01"), pd.Timedelta(days=1)])
def test_of_one_bad_column_no_other_is_told(value):
    bad = X.assign(x3=value)
    expected = (
        f"column 3 ('x3') has {value!r} in row 0, which is not a number: encode the column (for "
        "example with sklearn.preprocessing.OneHotEncoder) or drop it."
    )
    with pytest.raises(TypeError) as error:
        SelectiveGaussianNB(k=2).fit(bad, Y)
    assert str(error.value) == expected
    with pytest.raises(TypeError) as error:
        SelectiveGaussianNB(k=2).fit(X, Y).predict(bad)
    assert str(error.value) == expected
