"""Predictors of classes as forms."""

from collections.abc import Callable
from typing import Any

import numpy as np

from unselected._typing import Floats
from unselected.calculator.feature_forms import basis_form, counts_form, normal_form, posterior_form
from unselected.calculator.guard_forms import (
    average_form,
    laws_form,
    likely_powers,
    within_form,
)
from unselected.calculator.packing import Form
from unselected.fitted.adjusted_bits import FittedAdjustedBits
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.explanations import PATH
from unselected.fitted.families import FittedFamilies
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.predictor import ClassPredictor
from unselected.fitted.probability_intervals import UNLIKELY
from unselected.fitted.stack import FittedStack, Member
from unselected.models.logistic_ridges import LinearEvidence


def single_form(predictor: ClassPredictor) -> Form:
    """Return the form of a naive Bayes model with its guard against dependence."""
    fitted, average = predictor.fitted, predictor.average
    return {
        "form": "classes",
        "logPsi": fitted.log_psi,
        "meanCovariates": _means(fitted),
        "fitted": _FITTED[fitted.kind](fitted),
        "average": average_form(average, likely_powers(average, UNLIKELY)),
        "within": _within(predictor),
    }


def _means(fitted: Any) -> Floats | None:
    """Return the means of the coded covariates; None where there are none."""
    if fitted is None or not fitted.n_covariates:
        return None
    center: Floats = fitted.covariates.basis.center
    return center


def _within(predictor: ClassPredictor) -> Form | None:
    within = predictor.within
    return None if within is None else within_form(within, predictor.fitted.laws)


def _bits(fitted: FittedBernoulli) -> Form:
    return {**counts_form(fitted), "thresholds": fitted.thresholds}


def _real(fitted: FittedGaussian | FittedAdjustedGaussian) -> Form:
    adjusted = bool(fitted.n_covariates)
    return {
        "family": "real",
        "nClasses": int(fitted.classes.size),
        **posterior_form(fitted.posterior, adjusted=adjusted),
    }


def _adjusted(fitted: FittedAdjustedGaussian) -> Form:
    return {**_real(fitted), "covariates": _covariates(fitted)}


def _adjusted_bits(fitted: FittedAdjustedBits) -> Form:
    return {**_adjusted(fitted), "thresholds": fitted.thresholds}


def _covariates(fitted: FittedAdjustedGaussian) -> Form:
    """Return what covariates say of classes and features."""
    complete, regression = fitted.moments.complete, fitted.covariates.regression
    rule, totals = regression.rule, regression.totals
    return {
        "axes": basis_form(fitted.covariates.basis),
        "inverse": complete.inverse[..., 0],
        "n": int(complete.n[0]),
        "meanCovariates": fitted.moments.mean_covariates,
        "slopes": fitted.covariate_slopes,
        "classes": {
            "axes": {"center": regression.center, "transform": regression.transform},
            "mean": regression.mean,
            "covariance": regression.covariance,
            "logTotals": np.log(totals / totals.sum()),
            **rule._asdict(),
        },
    }


# The models that predict from all nodes of their posteriors, by their names in a model file.
_FITTED: dict[str, Callable[[Any], Form]] = {
    "bernoulli": _bits,
    "genotype": counts_form,
    "gaussian": _real,
    "adjusted gaussian": _adjusted,
    "adjusted bits": _adjusted_bits,
}


def stack_form(predictor: ClassPredictor) -> Form:
    """Return the form of an average over models with different numbers of features."""
    fitted: Any = predictor.fitted
    steps, weights = PATH
    members = zip(fitted.members, fitted.log_weights.tolist(), strict=True)
    return {
        "form": "stack",
        "logPsi": fitted.log_psi,
        "meanCovariates": _means(fitted.main.real),
        "isBinary": fitted.is_binary.tolist(),
        "thresholds": [
            cut if own else None
            for cut, own in zip(fitted.thresholds.tolist(), fitted.is_indicator, strict=True)
        ],
        "normal": normal_form(fitted.normal),
        "path": {"steps": steps, "weights": weights},
        "power": fitted.power,
        "linear": _linear(fitted.linear),
        "members": [_member(member, weight, fitted) for member, weight in members],
    }


def _linear(linear: LinearEvidence | None) -> Form | None:
    return None if linear is None else {**vars(linear)}


def _member(member: Member, log_weight: float, stack: FittedStack) -> Form:
    average = member.predictor.average
    each = zip(average.powers, average.log_weights, strict=True)
    shown = [
        power.log_weights + log_likelihood + log_weight >= stack.least_log_weight
        for power, log_likelihood in each
    ]
    return {
        "columns": member.columns.tolist(),
        "logWeight": log_weight,
        "model": {
            "fitted": _families(member.fitted),
            "average": average_form(average, shown),
            "within": _within(member.predictor),
        },
    }


def _families(fitted: FittedFamilies) -> Form:
    binary, real = fitted.binary, fitted.real
    return {
        "family": "families",
        "isBinary": fitted.is_binary.tolist(),
        "binary": None if binary is None else counts_form(binary),
        "real": None if real is None else _real_laws(real),
    }


def _real_laws(fitted: FittedGaussian | FittedAdjustedGaussian) -> Form:
    covariates: Any = None
    if fitted.n_covariates:
        adjusted: Any = fitted
        covariates = _covariates(adjusted)
    return {"laws": laws_form(fitted.laws), "covariates": covariates}
