"""scikit-learn's own checks, with no expected failures, and those it defines but does not yield."""

import zlib

import pytest
from sklearn.utils import estimator_checks
from sklearn_checks import in_turn

from unselected import (
    SelectiveBernoulliNB,
    SelectiveClassifier,
    SelectiveGaussianNB,
    SelectiveNaiveRegressor,
    SelectiveRegressor,
)

pytestmark = pytest.mark.usefixtures("few_folds")

# Every option of the selection is in one of these, and every kind of statistics of the columns.
PAIRS = [
    (
        SelectiveBernoulliNB(threshold=0.05, binarize="median", quadrature="paper"),
        SelectiveBernoulliNB(k=1, ties="random", random_state=0, rates="given"),
    ),
    (
        SelectiveClassifier(k=None, marginals="raw", dependence="none"),
        SelectiveGaussianNB(dependence="tempered"),
    ),
    (
        SelectiveNaiveRegressor(preselected_from=20),
        SelectiveRegressor(k=None, marginals="raw", dependence="none"),
    ),
]
# Options of the models that take longer.
DEARER = [
    SelectiveBernoulliNB(k=1, prior="sparse", rates="given"),
    SelectiveGaussianNB(dependence="correlated"),
    SelectiveGaussianNB(threshold=0.05, variance_shrinkage=4.0),
]


@pytest.mark.parametrize(("estimator", "check"), [each for pair in PAIRS for each in in_turn(pair)])
@pytest.mark.filterwarnings("ignore:No feature has an? .* above")
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_yielded_checks(estimator, check):
    check(estimator)


# These are about what is fitted and predicted.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No feature has an? .* above")
@pytest.mark.parametrize(
    "name",
    [
        "check_classifiers_one_label",
        "check_dict_unchanged",
        "check_estimators_dtypes",
        "check_estimators_pickle",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_transformer_preserve_dtypes",
    ],
)
def test_checks_with_dearer_options(name):
    """Each check with two of the estimators, in turn."""
    place = zlib.crc32(name.encode()) % 3
    for estimator in (DEARER * 2)[place : place + 2]:
        getattr(estimator_checks, name)(type(estimator).__name__, estimator)


# These are about names of columns, and kinds of tables.
@pytest.mark.parametrize(
    "estimator",
    [
        SelectiveBernoulliNB(threshold=0.05, correct_selection=False),
        SelectiveNaiveRegressor(k=1),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")  # the checks mix
@pytest.mark.parametrize(
    "name",
    [
        "check_get_feature_names_out_error",
        "check_dataframe_column_names_consistency",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_global_output_transform_pandas",
        "check_set_output_transform_polars",
        "check_global_set_output_transform_polars",
        "check_inplace_ensure_writeable",
    ],
)
def test_checks_that_are_not_yielded(estimator, name):
    getattr(estimator_checks, name)(type(estimator).__name__, estimator)
