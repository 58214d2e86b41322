"""The columns that a calculator asks for: features with their ranges, and covariates."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from unselected._typing import Bools
from unselected.calculator.packing import Form
from unselected.files.labels import Label
from unselected.fitted.predictor import Predictor, kept_features
from unselected.statistics.binarizing import AS_IS
from unselected.statistics.genotypes import DIPLOID


def features_form(predictor: Predictor, labels: Mapping[str, Label]) -> list[Form]:
    """Return the features in their order.

    Bits are chosen from 0 and 1, genotypes from 0, 1 and 2: the ``choices``. Of ``strict`` ones no
    other value has a meaning. Others that the model turns into bits have a ``threshold``.

    Raises
    ------
    ValueError
        Where a label is of no feature.
    """
    fitted, ranges = predictor.fitted, predictor.ranges
    names = [str(name) for name in kept_features(fitted)]
    unknown = sorted(set(labels) - set(names))
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} has a label, but is none of the {len(names)} features of the model."
        )
    look = _LOOKS.get(fitted.kind, _as_numbers)
    choices, chosen, strict, thresholds = look(predictor)
    each = []
    for j, name in enumerate(names):
        label = labels.get(name, Label(name))
        each.append(
            {
                "name": name,
                "label": label.text,
                "unit": label.unit,
                "low": None if ranges is None else _finite(ranges.low[j]),
                "high": None if ranges is None else _finite(ranges.high[j]),
                "choices": choices if chosen[j] else None,
                "strict": bool(strict[j]),
                "threshold": None if thresholds is None or chosen[j] else _finite(thresholds[j]),
            }
        )
    return each


def covariates_form(predictor: Predictor, means: Any) -> list[Form]:
    """Return the covariates in their order; numbers with their means over the training cases."""
    if predictor.coding is None:
        return []
    each, place = [], 0
    for column in predictor.coding.columns:
        mean = float(means[place]) if column.kind == "number" else None
        place += len(column.coded_names)
        if column.kind == "unused":
            continue
        each.append(
            {
                "name": column.name,
                "kind": column.kind,
                "levels": [str(level) for level in column.levels],
                "mean": mean,
            }
        )
    return each


def _finite(value: float) -> float | None:
    """Return a number of a range, None where all training values are missing; or a threshold."""
    return float(value) if np.isfinite(value) else None


# The values of columns that are chosen from some, which columns are, of which no other value has a
# meaning, and where others are cut.
_Look = tuple[list[int], Bools, Bools, Any]
_BITS, _COPIES = [0, 1], list(range(DIPLOID + 1))


def _as_numbers(predictor: Predictor) -> _Look:
    none = np.zeros(predictor.n_columns, dtype=bool)
    return [], none, none, None


def _as_bits(predictor: Predictor) -> _Look:
    fitted: Any = predictor.fitted
    thresholds, ranges = fitted.thresholds, predictor.ranges
    strict = np.full(thresholds.size, fitted.binarize is None)
    binary = strict | (thresholds == AS_IS)
    if ranges is not None:
        binary &= (ranges.low >= 0.0) & (ranges.high <= 1.0)
    return _BITS, binary | strict, strict, thresholds


def _as_copies(predictor: Predictor) -> _Look:
    each = np.ones(predictor.n_columns, dtype=bool)
    return _COPIES, each, each, None


def _of_families(predictor: Predictor) -> _Look:
    fitted: Any = predictor.fitted
    bits = fitted.is_binary & ~fitted.is_indicator
    return _BITS, bits, bits, fitted.thresholds


_LOOKS: dict[str, Callable[[Predictor], _Look]] = {
    "bernoulli": _as_bits,
    "genotype": _as_copies,
    "adjusted bits": _as_bits,
    "classifier": _of_families,
}
