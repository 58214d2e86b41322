"""The paper's experiments, a simulated study, and comparisons on a user's own data: records.

Public modules
--------------
added_value         what features add to covariates
compare             comparison of methods for classes
compare_regression  comparison of methods for a real response
folds               folds, and what is fitted in them
in_words            what a comparison comes to, in a sentence
needing             which features a method looks at
published           the paper's figures
self_check          results whose exact values are known
stability           which features bootstrap samples select
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
    default_methods,
    method_names,
)
from unselected.experiments.compare_regression import (
    RegressionComparisonRecord,
    RegressionComparisonRow,
    compare_regression,
    regression_method_names,
    regression_table,
)
from unselected.experiments.in_words import best_in_words, promise_in_words
from unselected.experiments.promises import Promise, promises
from unselected.experiments.published import Comparison, compare_with_published
from unselected.experiments.simulation import SimulationRecord, simulation, simulation_data
from unselected.experiments.stability import Stability, selection_stability

__all__ = [
    "ColonData",
    "ColonFeatures",
    "ColonModel",
    "ColonRecord",
    "Comparison",
    "ComparisonRecord",
    "ComparisonRow",
    "PairedTest",
    "Promise",
    "RegressionComparisonRecord",
    "RegressionComparisonRow",
    "SimulationRecord",
    "Stability",
    "best_in_words",
    "class_added_value",
    "colon",
    "compare",
    "compare_regression",
    "compare_with_published",
    "comparison_table",
    "default_methods",
    "load_colon",
    "method_names",
    "paired_tests",
    "promise_in_words",
    "promises",
    "regression_method_names",
    "regression_table",
    "response_added_value",
    "selection_stability",
    "simulation",
    "simulation_data",
]
