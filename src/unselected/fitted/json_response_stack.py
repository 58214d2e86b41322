"""The regressions of an average, in a model file: combinations of cases, no data of single ones."""

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from unselected._typing import Floats, Ints
from unselected.dependence.inverse_regression import POWERS, InverseRegression
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_array,
    check_choice,
    check_list,
    check_real,
    check_reals,
    check_record,
    check_whole,
)
from unselected.fitted.json_normal import parse_columns
from unselected.fitted.json_packed import packed, unpacked
from unselected.models.direct_regression import RIDGES, SCALES, DirectRegression
from unselected.models.feature_map import MOST_COMPONENTS, FeatureMap
from unselected.models.response_transform import ResponseTransform

# Bounds of numbers in a file, far beyond any real ones.
_LARGE, _MOST_CASES = 1e150, 10**9
_ROUNDING = 1e-6
_SHARED = ("columns", "normal", "weights", "kind", "n", "center", "unit")
_DIRECT = ("mean", "scale", "components", "feature_center", "axes", "lengths", "along", "rest")
_INVERSE = ("intercept", "slope", "variance", "factor", "independence")

Model = DirectRegression | InverseRegression


class PriorOfResponse(NamedTuple):
    """What is known of the response without features.

    Attributes
    ----------
    center, squares, df : float
        Of its t distribution; ``squares`` is the squared scale.
    null, outlier : float
        The weights of this distribution, and of that of outliers.
    """

    center: float
    squares: float
    df: float
    null: float
    outlier: float


def member_entry(model: Model) -> Entries:
    """Return the entries of a regression."""
    shared = {"kind": model.kind, "n": model.n, "center": model.center, "unit": model.unit}
    if isinstance(model, InverseRegression):
        arrays = {name: getattr(model, name) for name in _INVERSE}
        tables = {"factor": packed(model.factor), "independence": list(model.independence)}
        return {**shared, **arrays, **tables}
    features = model.features
    return {
        **shared,
        "mean": features.mean,
        "scale": features.scale,
        "components": packed(features.components),
        "feature_center": features.center,
        "axes": packed(model.axes),
        "lengths": model.lengths,
        "along": model.along,
        "rest": model.rest,
    }


def parse_member(entry: object, k: int) -> tuple[Ints, bool, Model, Floats]:
    """Return the columns of a member, whether it has normal scores, its model and weights."""
    known = check_record(entry, "members", _SHARED, (*_DIRECT, *_INVERSE))
    kind = check_choice(known["kind"], "members kind", ("linear", "quadratic", "inverse"))
    own = _INVERSE if kind == "inverse" else _DIRECT
    record = check_record(entry, "members", (*_SHARED, *own))
    columns = parse_columns(record["columns"], k)
    model: Model
    if kind == "inverse":
        model = _parse_inverse(record, columns.size)
        shape = (len(model.independence), POWERS.size)
    else:
        model, shape = _parse_direct(record, columns.size, kind), (RIDGES.size, SCALES.size)
    weights = check_array(record["weights"], "members weights", shape, 0.0, 1.0)
    return columns, parse_flag(record["normal"], "members normal"), model, weights


def parse_transform(entry: object) -> ResponseTransform:
    """Return the transform of the response."""
    names = tuple(field.name for field in fields(ResponseTransform))
    record = check_record(entry, "transform", names)
    sizes = {
        name: check_real(record[name], f"transform {name}", low, _LARGE)
        for name, low in (("low", -_LARGE), ("unit", 1.0 / _LARGE), ("scale", 1.0 / _LARGE))
    }
    sign = check_whole(record["sign"], "transform sign", -1, 1)
    if sign == 0:
        raise Fault("transform sign is 0, where 1 or -1 was expected.")
    return ResponseTransform(
        power=check_real(record["power"], "transform power", 0.0, 1.0),
        shift=check_real(record["shift"], "transform shift", 1e-6, 1e6),
        sign=sign,
        high=check_real(record["high"], "transform high", sizes["low"], _LARGE),
        center=check_real(record["center"], "transform center", -_LARGE, _LARGE),
        **sizes,
    )


def parse_flag(entry: object, what: str) -> bool:
    """Return true or false."""
    if not isinstance(entry, bool):
        raise Fault(f"{what} is neither true nor false.")
    return entry


def _law_of_y(record: Entries) -> tuple[int, float, float]:
    n = check_whole(record["n"], "members n", 3, _MOST_CASES)
    center = check_real(record["center"], "members center", -_LARGE, _LARGE)
    return n, center, check_real(record["unit"], "members unit", 1.0 / _LARGE, _LARGE)


def _reals(record: Entries, name: str, length: int, low: float = -_LARGE) -> Floats:
    return check_reals(record[name], f"members {name}", length, low, _LARGE)


def _parse_direct(record: Entries, k: int, kind: str) -> DirectRegression:
    components = unpacked(record["components"], "members components", (k, -1), -1.1, 1.1)
    r = components.shape[1]
    most = min(k, MOST_COMPONENTS) if kind == "quadratic" else 0
    check_whole(r, "the number of members components", min(most, 1), most)
    q = k + r * (r + 1) // 2
    m = len(check_list(record["lengths"], "members lengths"))
    features = FeatureMap(
        mean=_reals(record, "mean", k),
        scale=_reals(record, "scale", k, 1.0 / _LARGE),
        components=components,
        center=_reals(record, "feature_center", q),
    )
    return DirectRegression(
        features,
        unpacked(record["axes"], "members axes", (q, m), -1.1, 1.1),
        _reals(record, "lengths", m, 0.0),
        _reals(record, "along", m),
        check_real(record["rest"], "members rest", 0.0, _LARGE),
        *_law_of_y(record),
    )


def _parse_inverse(record: Entries, k: int) -> InverseRegression:
    return InverseRegression(
        _reals(record, "intercept", k),
        _reals(record, "slope", k),
        _reals(record, "variance", k, 1.0 / _LARGE),
        unpacked(record["factor"], "members factor", (-1, k), -1.1, 1.1),
        *_law_of_y(record),
        _parse_independence(record["independence"]),
    )


def _parse_independence(entry: object) -> tuple[float, ...]:
    values = check_list(entry, "members independence")
    check_whole(len(values), "the number of members independence", 1, 100)
    return tuple(check_real(w, "members independence", 1e-9, 1.0) for w in values)


def parse_law(entry: object, weights: list[Floats]) -> PriorOfResponse:
    """Return what is known without features; its weights and those of the members sum to 1."""
    record = check_record(entry, "prior", PriorOfResponse._fields)
    bounds = {
        "center": (-_LARGE, _LARGE),
        "squares": (1.0 / _LARGE**2, _LARGE**2),
        "df": (2.0, 1e9),
    }
    law = PriorOfResponse(
        **{
            name: check_real(record[name], f"prior {name}", *bounds.get(name, (0.0, 1.0)))
            for name in PriorOfResponse._fields
        }
    )
    total = law.null + law.outlier + float(sum(np.sum(each) for each in weights))
    if abs(total - 1.0) > _ROUNDING:
        raise Fault(f"the weights of prior and members make a sum of {total:.6g}, not 1.")
    return law
