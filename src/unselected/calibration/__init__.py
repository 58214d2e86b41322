"""Numbers that judge predictions: sharpness and calibration.

For two classes all are functions of ``y``, the observed classes (0 and 1, or booleans), and
``probability``, the predicted probabilities of class 1. For several classes there are functions of
class numbers and a matrix of probabilities. `most_probable` reduces these to two classes, right and
wrong. For a real-valued response there are functions of the responses, the predictive intervals and
densities, and the PIT values. Results are plain floats, or records of plain floats.

Public modules
--------------
discrimination   the order of cases: areas and curves
inputs           cases and predictions, checked
intervals        estimates with intervals
pit              the probability integral transform
real_response    scores of predictive distributions
several_classes  scores of class probabilities
"""

from unselected.calibration.discrimination import (
    NetBenefit,
    RocCurve,
    area_under_curve,
    net_benefit,
    roc_curve,
)
from unselected.calibration.intervals import RandomState, Statistic
from unselected.calibration.line import (
    CalibrationLine,
    calibration_in_the_large,
    calibration_slope_intercept,
)
from unselected.calibration.pit import (
    CoverageCurve,
    MomentTest,
    PITTest,
    coverage_curve,
    pit_test,
)
from unselected.calibration.real_response import (
    RegressionSummary,
    average_log_density,
    interval_coverage,
    interval_score,
    mean_interval_width,
    root_mean_squared_error,
    summarize_regression,
)
from unselected.calibration.reliability import (
    DecileRow,
    ReliabilityCurve,
    SquaredErrorParts,
    decile_table,
    reliability_curve,
    split_squared_error,
)
from unselected.calibration.several_classes import (
    ClassesSummary,
    MostProbable,
    most_probable,
    multiclass_actual_error,
    multiclass_average_minus_log_probability,
    multiclass_average_squared_error,
    multiclass_expected_error,
    summarize_classes,
)
from unselected.calibration.summary import CalibrationSummary, summarize
from unselected.calibration.two_classes import (
    SpiegelhalterTest,
    actual_error,
    average_minus_log_probability,
    average_squared_error,
    bootstrap_interval,
    error_interval,
    expected_error,
    spiegelhalter,
)
from unselected.numerics.resampling import Estimate

__all__ = [
    "CalibrationLine",
    "CalibrationSummary",
    "ClassesSummary",
    "CoverageCurve",
    "DecileRow",
    "Estimate",
    "MomentTest",
    "MostProbable",
    "NetBenefit",
    "PITTest",
    "RandomState",
    "RegressionSummary",
    "ReliabilityCurve",
    "RocCurve",
    "SpiegelhalterTest",
    "SquaredErrorParts",
    "Statistic",
    "actual_error",
    "area_under_curve",
    "average_log_density",
    "average_minus_log_probability",
    "average_squared_error",
    "bootstrap_interval",
    "calibration_in_the_large",
    "calibration_slope_intercept",
    "coverage_curve",
    "decile_table",
    "error_interval",
    "expected_error",
    "interval_coverage",
    "interval_score",
    "mean_interval_width",
    "most_probable",
    "multiclass_actual_error",
    "multiclass_average_minus_log_probability",
    "multiclass_average_squared_error",
    "multiclass_expected_error",
    "net_benefit",
    "pit_test",
    "reliability_curve",
    "roc_curve",
    "root_mean_squared_error",
    "spiegelhalter",
    "split_squared_error",
    "summarize",
    "summarize_classes",
    "summarize_regression",
]
