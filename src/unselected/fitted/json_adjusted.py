"""Moments given covariates, and what covariates say of the response, in a model file, checked."""

from typing import Any

import numpy as np

from unselected._typing import Floats
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_array,
    check_list,
    check_real,
    check_record,
    check_whole,
    check_wholes,
)
from unselected.fitted.json_moments import check_squares
from unselected.fitted.json_parts import LARGEST_SQUARES, MOST_CASES
from unselected.models.class_covariates import ClassCovariates
from unselected.models.class_regression import ClassRegression
from unselected.models.response_covariates import FeatureSlopes, ResponseCovariates
from unselected.statistics.adjusted_moments import AdjustedMoments
from unselected.statistics.design import CovariateBasis, Geometry
from unselected.statistics.moments import Statistic

# What a number of a matrix of covariances may be wrong by, as a part of the largest.
_ROUNDING = 1e-9
# More covariates than this make no sense beside a few cases.
_MOST_COVARIATES = 1000
_COLUMNS = ("center", "offset", "within", "beta", "expected", "geometry", "complete")
_RESPONSE = ("coefficients", "inverse", "n", "rank", "squares")
_REGRESSION = ("center", "transform", "totals", "mean", "covariance", "log_evidence")
_GEOMETRY = ("n", "rank", "inverse", "along", "lam", "axes")


def adjusted_entries(moments: AdjustedMoments) -> Entries:
    """Return the entries of moments; ``geometry`` is None where no value is missing."""
    own = None if moments.own_geometry is None else _geometry_entries(moments.own_geometry)
    arrays = {name: getattr(moments, name) for name in _COLUMNS[:5]}
    return {**arrays, "geometry": own, "complete": _geometry_entries(moments.complete)}


def _geometry_entries(geometry: Geometry) -> Entries:
    return {name: getattr(geometry, name) for name in _GEOMETRY}


def parse_adjusted_moments(entry: object, m: int, d: int, statistic: Statistic) -> AdjustedMoments:
    """Return moments given m directions of covariates, of a code with d entries."""
    fields = check_record(entry, "moments", _COLUMNS)
    k, q = (len(check_list(fields[name], f"moments {name}")) for name in ("center", "beta"))
    check_whole(q, "the length of moments beta", 1, d)
    bound = 2.0 * np.sqrt(LARGEST_SQUARES)
    complete = _parse_geometry(fields["complete"], m, d, q, 1)
    own = None
    if fields["geometry"] is not None:
        own = _parse_geometry(fields["geometry"], m, d, q, k)
        if np.any(own.n > complete.n):
            raise Fault("moments geometry n has more known values than there are cases.")
    moments = AdjustedMoments(
        center=_array(fields, "center", (k,)),
        offset=_array(fields, "offset", (m, k), bound),
        within=check_array(fields["within"], "moments within", (k,), 0.0, LARGEST_SQUARES),
        beta=_array(fields, "beta", (q, k), bound),
        own_geometry=own,
        complete=complete,
        expected=_array(fields, "expected", (m, d)),
        score=statistic,
    )
    check_squares(moments.contrasts())
    return moments


def _array(fields: Entries, name: str, shape: tuple[int, ...], bound: float = np.inf) -> Floats:
    return check_array(fields[name], f"moments {name}", shape, -bound, bound)


def _parse_geometry(entry: object, m: int, d: int, q: int, p: int) -> Geometry:
    fields = check_record(entry, "moments geometry", _GEOMETRY)
    n = check_wholes(fields["n"], "moments geometry n", p, 2, MOST_CASES)
    rank = check_wholes(fields["rank"], "moments geometry rank", p, 1, m)
    if np.any(n - rank - q < 1):
        raise Fault("moments geometry has no degrees of freedom left.")
    inverse = _array(fields, "inverse", (m, m, p))
    _check_covariances(np.moveaxis(inverse, -1, 0), "moments inverse")
    return Geometry(
        n,
        rank,
        inverse,
        _array(fields, "along", (m, d, p)),
        check_array(fields["lam"], "moments geometry lam", (q, p), 0.0, 1e12),
        _array(fields, "axes", (d, q, p)),
    )


def _check_covariances(matrices: Floats, what: str) -> None:
    """Raise where matrices (..., m, m) are not symmetric, or a variance would be negative."""
    largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True, initial=0.0)
    scaled = matrices / np.where(largest > 0.0, largest, 1.0)
    symmetric = np.abs(scaled - np.swapaxes(scaled, -2, -1)).max(initial=0.0) < _ROUNDING
    if not symmetric or np.linalg.eigvalsh(scaled).min(initial=0.0) < -_ROUNDING:
        raise Fault(f"{what} is no matrix of covariances.")


def basis_entry(basis: CovariateBasis) -> Entries:
    """Return the entry of a basis of covariates."""
    return {"center": basis.center, "transform": basis.transform}


def parse_basis(entry: object) -> CovariateBasis:
    """Return a basis of covariates."""
    fields = check_record(entry, "covariates basis", ("center", "transform"))
    c = len(check_list(fields["center"], "covariates center"))
    check_whole(c, "the number of coded covariates", 0, _MOST_COVARIATES)
    rows: list[Any] = check_list(fields["transform"], "covariates transform", c)
    m = len(check_list(rows[0], "covariates transform")) if rows else 0
    return CovariateBasis(
        check_array(fields["center"], "covariates center", (c,)),
        check_array(rows, "covariates transform", (c, m)).reshape(c, m),
    )


def parse_unit(entry: object) -> float:
    """Return the unit of a real response."""
    return check_real(entry, "unit", 1e-100, 1e100)


def class_covariates_entry(covariates: ClassCovariates) -> Entries:
    """Return the entry of what covariates say of the classes."""
    regression = {name: getattr(covariates.regression, name) for name in _REGRESSION}
    return {"basis": basis_entry(covariates.basis), "regression": regression}


def parse_class_covariates(entry: object, n_classes: int) -> ClassCovariates:
    """Return what covariates say of so many classes."""
    fields = check_record(entry, "covariates", ("basis", "regression"))
    basis = parse_basis(fields["basis"])
    own = check_record(fields["regression"], "covariates regression", _REGRESSION)
    c, q = basis.n_coded, n_classes - 1
    transform = check_list(own["transform"], "covariates regression transform", c)
    m = len(check_list(transform[0], "covariates regression transform")) if transform else 0
    check_whole(m, "the directions of covariates", 0, c)
    size = q * (m + 1)

    def array(name: str, shape: tuple[int, ...], low: float = -np.inf) -> Floats:
        return check_array(own[name], f"covariates regression {name}", shape, low)

    regression = ClassRegression(
        center=array("center", (c,)),
        transform=array("transform", (c, m)).reshape(c, m),
        totals=array("totals", (n_classes,), 1e-300),
        mean=array("mean", (q, m + 1)),
        covariance=array("covariance", (size, size)),
        log_evidence=check_real(own["log_evidence"], "covariates regression log_evidence"),
    )
    _check_covariances(regression.covariance, "covariates regression covariance")
    return ClassCovariates(basis, regression)


def adjusted_entry(response: ResponseCovariates, features: FeatureSlopes) -> Entries:
    """Return the entry of what covariates say of a real response and of the kept columns."""
    own = {name: getattr(response, name) for name in _RESPONSE}
    return {**own, "slopes": features.slopes}


def parse_adjusted(
    entry: object, basis: CovariateBasis, k: int
) -> tuple[ResponseCovariates, FeatureSlopes]:
    """Return what covariates of this basis say of a real response and of k kept columns."""
    fields = check_record(entry, "adjusted", (*_RESPONSE, "slopes"))
    m = basis.size
    n = check_whole(fields["n"], "adjusted n", 3, MOST_CASES)
    response = ResponseCovariates(
        basis,
        check_array(fields["coefficients"], "adjusted coefficients", (m,)),
        check_array(fields["inverse"], "adjusted inverse", (m, m)),
        n,
        check_whole(fields["rank"], "adjusted rank", 1, min(m, n - 1)),
        check_real(fields["squares"], "adjusted squares", 0.0, LARGEST_SQUARES),
    )
    _check_covariances(response.inverse, "adjusted inverse")
    slopes = check_array(fields["slopes"], "adjusted slopes", (m, k))
    return response, FeatureSlopes(basis, slopes)
