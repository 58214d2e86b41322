"""The columns that fitted pipelines look at."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unselected import SelectiveGaussianNB
from unselected.audit.features_used import features_used

KEPT = [2, 5]


def table():
    """Ten columns, of which the third and the sixth are related to the class and the first is
    constant.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 10)), np.repeat([0, 1], 20)
    X[:, 0] = 1.0
    X[:, KEPT] += 5.0 * y[:, None]
    return X, y


best = SelectKBest(k=2)
PIPELINES = {
    "plain": make_pipeline(best, LogisticRegression()),
    "two selectors": make_pipeline(
        VarianceThreshold(), StandardScaler(), best, LogisticRegression()
    ),
    "calibrated": CalibratedClassifierCV(make_pipeline(best, LogisticRegression()), cv=2),
    "search": GridSearchCV(
        make_pipeline(best, LogisticRegression()), {"logisticregression__C": [1.0, 2.0]}, cv=2
    ),
    "column transformer": make_pipeline(
        ColumnTransformer([("keep", StandardScaler(), KEPT)]), LogisticRegression()
    ),
    "transformed response": TransformedTargetRegressor(
        make_pipeline(SelectKBest(f_regression, k=2), LinearRegression())
    ),
    "ours": SelectiveGaussianNB(k=2),
    "ours after a selector": make_pipeline(VarianceThreshold(), SelectiveGaussianNB(k=2)),
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_the_columns_are_found(name):
    X, y = table()
    model = PIPELINES[name].fit(X, y)
    assert features_used(model, 10).tolist() == KEPT
    names = [f"gene {j}" for j in range(10)]
    frame = pd.DataFrame(X, columns=names)
    if name != "column transformer":
        assert features_used(PIPELINES[name].fit(frame, y), 10, names).tolist() == KEPT


def test_what_does_not_tell_is_unknown():
    X, y = table()
    assert features_used(LogisticRegression().fit(X, y), 10) is None
    assert features_used(make_pipeline(PCA(2), LogisticRegression()).fit(X, y), 10) is None
    calibrated = CalibratedClassifierCV(LogisticRegression(), cv=2).fit(X, y)
    assert features_used(calibrated, 10) is None
