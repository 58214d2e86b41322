"""What features add to covariates, from the records of a comparison of methods."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unselected.estimators.added_value import (
    BOTH_TOGETHER,
    CLASS_MEASURES,
    COVARIATES_ALONE,
    FEATURES_ALONE,
    RESPONSE_MEASURES,
    AddedValue,
)
from unselected.estimators.out_of_fold import class_losses
from unselected.experiments.compare import ComparisonRecord
from unselected.experiments.compare_regression import RegressionComparisonRecord, losses_of_records
from unselected.experiments.folds import by_method

# The methods of a comparison, and what they are here.
_METHODS = {
    COVARIATES_ALONE: COVARIATES_ALONE,
    FEATURES_ALONE: FEATURES_ALONE,
    "corrected": BOTH_TOGETHER,
}


def class_added_value(
    records: Sequence[ComparisonRecord], y: Any, covariates: Sequence[str], **resampling: Any
) -> AddedValue:
    """Return what features add to covariates, from the records of `compare`.

    Parameters
    ----------
    records : sequence of ComparisonRecord
        Of at least the methods "corrected", "features alone" and "covariates alone". Losses are
        averaged over repetitions.
    y : array-like of shape (n_samples,)
    covariates : sequence of str
        Their names.
    **resampling
        ``groups``, ``level``, ``n_resamples`` and ``seed`` of `AddedValue.of`.
    """
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    found = by_method(records)
    per_case = {
        own: {
            key: values.mean(axis=0)
            for key, values in class_losses(
                np.array([record.probability for record in found[method]]), codes
            ).items()
        }
        for method, own in _METHODS.items()
    }
    return AddedValue.of(per_case, CLASS_MEASURES, tuple(covariates), **resampling)


def response_added_value(
    records: Sequence[RegressionComparisonRecord],
    y: Any,
    covariates: Sequence[str],
    **resampling: Any,
) -> AddedValue:
    """Return the same from the records of `compare_regression`."""
    responses, found = np.asarray(y, dtype=np.float64), by_method(records)
    per_case = {
        own: {
            key: values.mean(axis=0)
            for key, values in losses_of_records(found[method], responses).items()
        }
        for method, own in _METHODS.items()
    }
    return AddedValue.of(per_case, RESPONSE_MEASURES, tuple(covariates), **resampling)


def can_tell_added_value(records: Sequence[Any]) -> bool:
    """Say whether all three methods are among the records."""
    return set(_METHODS) <= set(by_method(records))
