"""The guard against dependence as a form: powers of likelihoods, and correlations."""

import numpy as np

from unselected._typing import Bools
from unselected.calculator.packing import Form
from unselected.dependence.averaging import LikelihoodAverage
from unselected.dependence.correlated import FeatureLaws, WithinClasses
from unselected.dependence.power import PowerPosterior


def average_form(average: LikelihoodAverage, shown: list[Bools]) -> list[Form]:
    """Return the likelihoods with their weights; ``shown`` are the powers that intervals are over.

    It has an array for each likelihood.
    """
    each = zip(average.powers, average.log_weights.tolist(), shown, strict=True)
    return [_power_form(power, weight, some) for power, weight, some in each]


def likely_powers(average: LikelihoodAverage, reach: float) -> list[Bools]:
    """Return which powers of each likelihood are within ``reach`` of the likeliest, in logs."""
    return [power.log_weights > np.max(power.log_weights) - reach for power in average.powers]


def _power_form(power: PowerPosterior, log_weight: float, some: Bools) -> Form:
    weights = np.exp(power.log_weights)
    eta, place = np.unique(power.eta, return_inverse=True)
    values, of_values = np.unique(power.epsilon, return_inverse=True)
    return {
        "logWeight": log_weight,
        "eta": eta,
        "share": np.bincount(place, weights * (1.0 - power.epsilon), minlength=eta.size),
        "outlier": float(weights @ power.epsilon),
        "meanPower": power.mean_power,
        "points": {
            "eta": place[some].tolist(),
            "epsilon": of_values[some].tolist(),
            "values": values,
            "logWeights": power.log_weights[some],
        },
    }


def within_form(within: WithinClasses | None, laws: FeatureLaws) -> Form | None:
    """Return how features vary within classes; None without likelihoods that need it."""
    if within is None:
        return None
    R = within.correlation
    return {
        "correlation": None if R is None else R[np.tril_indices(len(R), -1)],
        "factor": within.factor,
        "spread": within.spread,
        "variances": within.variances,
        "shapes": [shape._asdict() for shape in within.shapes],
        "laws": laws_form(laws),
    }


def laws_form(laws: FeatureLaws) -> Form:
    """Return where single features lie in each class."""
    return {
        "location": laws.location,
        "variance": laws.variance,
        "df": laws.df,
        "varying": np.flatnonzero(laws.varying).tolist(),
    }
