"""Predictors of a real response as forms."""

from dataclasses import asdict
from typing import Any

import numpy as np

from unselected.calculator.feature_forms import basis_form, normal_form, posterior_form
from unselected.calculator.packing import Form
from unselected.dependence.inverse_regression import POWERS, InverseRegression
from unselected.dependence.response_weights import OUTLIER_DF
from unselected.fitted.adjusted_regression import FittedAdjustedRegression
from unselected.fitted.predictor import ResponsePredictor
from unselected.fitted.response_stack import Adjusted, FittedResponseStack, ResponseMember
from unselected.models.direct_regression import RIDGES, DirectRegression
from unselected.models.regression_posterior import RegressionPosterior
from unselected.models.response_transform import STEP, ResponseTransform


def regression_form(predictor: ResponsePredictor) -> Form:
    """Return the form of a naive Bayes regression."""
    posterior: Any = predictor.fitted.posterior
    return {
        "form": "regression",
        "meanCovariates": None,
        **_law_of_y(posterior),
        **posterior_form(posterior.features),
    }


def adjusted_form(predictor: ResponsePredictor) -> Form:
    """Return the same given covariates."""
    fitted: Any = predictor.fitted
    return {
        "form": "regression",
        "meanCovariates": fitted.basis.center,
        **_law_of_y(fitted.posterior.posterior),
        **posterior_form(fitted.nodes, adjusted=True),
        "covariates": _covariates_of_response(fitted),
    }


def _covariates_of_response(fitted: FittedAdjustedRegression) -> Form:
    return {
        "axes": basis_form(fitted.basis),
        "coefficients": fitted.response_coefficients,
        "inverse": fitted.response_inverse,
    }


def _law_of_y(posterior: RegressionPosterior) -> Form:
    return {
        "n": posterior.n,
        "df": float(posterior.n - posterior.rank),
        "yMean": posterior.y_mean,
        "unit": posterior.unit,
        "leverage": 1.0 / posterior.n if posterior.leverage is None else posterior.leverage,
    }


def mixture_form(predictor: ResponsePredictor) -> Form:
    """Return the form of an average over regressions: its likely components."""
    fitted: Any = predictor.fitted
    return {
        "form": "mixture",
        "meanCovariates": fitted.main.basis.center if fitted.n_covariates else None,
        "prior": _prior(fitted),
        "normal": normal_form(fitted.normal),
        "covariates": None if fitted.adjusted is None else _adjusted(fitted.adjusted),
        "transform": _transform(fitted.transform),
        "members": [
            _member(member, live)
            for member, live in zip(fitted.members, fitted.live, strict=True)
            if live.any()
        ],
    }


def _prior(fitted: FittedResponseStack) -> list[Form]:
    """Return what is known without features, and the outliers, as components."""
    prior = fitted.prior
    where = {"location": prior.center, "squares": prior.squares}
    return [
        {**where, "weight": prior.null, "df": prior.df},
        {**where, "weight": prior.outlier, "df": OUTLIER_DF},
    ]


def _transform(transform: ResponseTransform | None) -> Form | None:
    """Return the transform of the response, and the points at which means are summed."""
    return None if transform is None else {**asdict(transform), "step": STEP}


def _adjusted(adjusted: Adjusted) -> Form:
    response = adjusted.response
    return {
        "axes": basis_form(response.basis),
        "coefficients": response.coefficients,
        "inverse": response.inverse,
        "n": response.n,
        "slopes": adjusted.features.slopes,
    }


def _member(member: ResponseMember, live: Any) -> Form:
    places = np.argwhere(live)
    candidates, place_of = np.unique(places[:, 0], return_inverse=True)
    return {
        "kind": member.model.kind,
        "columns": member.columns.tolist(),
        "normal": member.normal,
        "df": member.model.df,
        "weights": member.weights[live],
        "model": {
            "n": member.model.n,
            "yCenter": member.model.center,
            "unit": member.model.unit,
            "live": np.column_stack([place_of, places[:, 1]]).tolist(),
            **_MODELS[member.model.kind](member.model, candidates),
        },
    }


def _direct(model: DirectRegression, candidates: Any) -> Form:
    features = model.features
    return {
        "mean": features.mean,
        "scale": features.scale,
        "components": features.components,
        "center": features.center,
        "axes": model.axes,
        "lengths": model.lengths,
        "along": model.along,
        "ridges": RIDGES[candidates],
        "noise": model.noise[candidates],
        "scales": model.scales,
    }


def _inverse(model: InverseRegression, candidates: Any) -> Form:
    deviation = np.sqrt(model.variance)
    weights = [model.independence[place] for place in candidates]
    solved = [model.solved(w) for w in weights]
    return {
        "intercept": model.intercept,
        "deviation": deviation,
        "powers": POWERS,
        "candidates": [
            {
                "solved": each,
                "precision": float(model.slope / deviation @ each),
                "independent": w == 1.0,
            }
            for each, w in zip(solved, weights, strict=True)
        ],
    }


_MODELS: dict[str, Any] = {"linear": _direct, "quadratic": _direct, "inverse": _inverse}
