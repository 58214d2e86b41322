"""The paper's experiments, and comparisons on a user's own data: functions that return records.

Public modules
--------------
added_value         what features add to covariates
compare             comparison of methods for classes
compare_regression  comparison of methods for a real response
folds               folds, and what is fitted in them
usual_classifiers   the usual methods for classes
usual_regressors    the usual methods for a real response
"""

from unselected.experiments.added_value import class_added_value, response_added_value
from unselected.experiments.colon import (
    ColonData,
    ColonFeatures,
    ColonModel,
    ColonRecord,
    PairedTest,
    colon,
    load_colon,
    paired_tests,
)
from unselected.experiments.compare import (
    ComparisonRecord,
    ComparisonRow,
    compare,
    comparison_table,
    method_names,
)
from unselected.experiments.compare_regression import (
    RegressionComparisonRecord,
    RegressionComparisonRow,
    compare_regression,
    regression_method_names,
    regression_table,
)
from unselected.experiments.published import Comparison, compare_with_published
from unselected.experiments.simulation import SimulationRecord, simulation, simulation_data

__all__ = [
    "ColonData",
    "ColonFeatures",
    "ColonModel",
    "ColonRecord",
    "Comparison",
    "ComparisonRecord",
    "ComparisonRow",
    "PairedTest",
    "RegressionComparisonRecord",
    "RegressionComparisonRow",
    "SimulationRecord",
    "class_added_value",
    "colon",
    "compare",
    "compare_regression",
    "compare_with_published",
    "comparison_table",
    "load_colon",
    "method_names",
    "paired_tests",
    "regression_method_names",
    "regression_table",
    "response_added_value",
    "simulation",
    "simulation_data",
]
