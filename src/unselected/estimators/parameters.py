"""Checks of parameters: each returns a valid value, or raises an error that names the parameter."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.selection.count_score import CountScore
from unselected.selection.count_score_kinds import SCORES, CustomScore
from unselected.selection.real_score import RealScore
from unselected.selection.real_score_kinds import REAL_SCORES, CustomRealScore, Volcano
from unselected.selection.score_names import SCORE_NAMES
from unselected.statistics.binarizing import Binarize
from unselected.statistics.moments import Statistic


def shown(value: Any) -> str:
    """Return the text of a value for errors: numpy scalars are shown as Python values.

    >>> shown(np.float64(2.5)), shown((np.int64(1), "a")), shown(np.str_("a"))
    ('2.5', "(1, 'a')", "'a'")
    """
    if isinstance(value, np.generic | np.ndarray):
        return repr(value.tolist())
    if type(value) in (list, tuple):
        return repr(type(value)(v.item() if isinstance(v, np.generic) else v for v in value))
    return repr(value)


def first_few(
    items: Sequence[Any], most: int, tell: Callable[[Any], str] = repr, between: str = ", "
) -> str:
    """Return the first items in words, with dots for the others.

    >>> first_few(["a", "b", "c"], 2)
    "'a', 'b', ..."
    """
    return between.join(map(tell, items[:most])) + (", ..." if len(items) > most else "")


def is_a(kind: type, value: Any) -> bool:
    """Say whether a value is a number of this type; True and False are not numbers."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_choice(parameter: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless the value is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{parameter}={shown(value)} is not one of {listed}.")


def check_flag(parameter: str, value: Any) -> None:
    """Raise unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{parameter}={shown(value)} must be True or False.")


def check_whole(parameter: str, value: Any, low: int, high: int | None, meaning: str) -> int:
    """Return an integer within bounds, or raise."""
    if not is_a(Integral, value):
        raise TypeError(f"{parameter}={shown(value)} must be a whole number: {meaning}.")
    if value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{parameter}={value} is out of range: it must be {bounds}, {meaning}.")
    return int(value)


def check_score(parameter: str, value: Any, statistic: Statistic) -> float:
    """Return a value that the statistic can have, or raise."""
    name = SCORE_NAMES[statistic]
    if not is_a(Real, value):
        raise TypeError(f"{parameter}={shown(value)} must be {name.number}.")
    if not name.least <= value <= name.most:
        raise ValueError(f"{parameter}={value} is out of range: {name.words} is {name.bounds}.")
    return float(value)


def check_count_score(score: Any) -> CountScore:
    """Return the score of binary features that a name or a function asks for."""
    if callable(score):
        return CustomScore(score)
    check_choice("score_func", score, tuple(SCORES))
    return SCORES[score]


def check_real_score(score: Any, classes: NDArray[Any]) -> RealScore | None:
    """Return the score of real values that a name, a tuple or a function asks for.

    None is the default, correlation or F.
    """
    if callable(score):
        return CustomRealScore(score, classes)
    if isinstance(score, tuple) and len(score) == 3 and score[0] == "volcano":
        change, p_value = score[1:]
        if not (is_a(Real, change) and 0.0 < change < np.inf):
            raise ValueError(f"score_func={score!r}: the fold change must be a positive number.")
        if not (is_a(Real, p_value) and 0.0 < p_value < 1.0):
            raise ValueError(f"score_func={score!r}: the p-value must be between 0 and 1.")
        return Volcano(float(change), float(p_value))
    check_choice("score_func", score, ("correlation", *REAL_SCORES))
    return REAL_SCORES.get(score)


def check_binarize(value: Any) -> Binarize:
    """Return how columns become bits; a number is returned as float."""
    if isinstance(value, str):
        check_choice("binarize", value, ("auto", "median"))
    elif value is not None:
        if not is_a(Real, value) or np.isnan(value):
            raise ValueError(
                f"binarize={shown(value)} must be a number, or 'auto', 'median' or None."
            )
        return float(value)
    how: Binarize = value
    return how


def check_zero_or_between(parameter: str, value: Any, low: float, high: float) -> float:
    """Return 0 or a number within bounds, or raise."""
    if not is_a(Real, value) or not (value == 0.0 or low <= value <= high):
        raise ValueError(
            f"{parameter}={shown(value)} must be 0, or a number from {low:g} to {high:g}."
        )
    return float(value)


def check_pseudocounts(value: Any, n_classes: int) -> NDArray[np.float64]:
    """Return a positive number for each class, or raise."""
    numbers = [value] * n_classes if is_a(Real, value) else value
    try:
        counts = np.array([float(number) for number in numbers if not isinstance(number, str)])
    except (TypeError, ValueError):
        counts = np.array([])
    if counts.size != n_classes or not np.all((counts > 0.0) & (counts < np.inf)):
        raise ValueError(
            f"class_pseudocounts={shown(value)} must be a positive number, or one for each of the "
            f"{n_classes} classes."
        )
    return counts


def check_positive(parameter: str, value: Any) -> float:
    """Return a positive finite number, or raise."""
    if not is_a(Real, value) or not 0.0 < value < np.inf:
        raise ValueError(f"{parameter}={shown(value)} must be a positive number.")
    return float(value)


def check_positive_pair(parameter: str, value: Any, meaning: str) -> tuple[float, float]:
    """Return two positive finite numbers, or raise."""
    try:
        first, second = (float(number) for number in value if not isinstance(number, str))
    except (TypeError, ValueError):
        raise ValueError(f"{parameter}={shown(value)} must be two numbers: {meaning}.") from None
    if not (0.0 < first < np.inf and 0.0 < second < np.inf):
        raise ValueError(
            f"{parameter}={shown(value)} must be two positive finite numbers: {meaning}."
        )
    return first, second
