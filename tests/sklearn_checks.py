"""The checks of scikit-learn, shared out among estimators that have much code in common."""

from functools import partial

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def name_of(check):
    """The name of a check and its options, without the name of the estimator."""
    options = ", ".join(f"{key}={value}" for key, value in check.keywords.items())
    return f"{check.func.__name__}({options})"


def in_turn(estimators):
    """Return each check with one of the estimators to which it applies, as parameters of a test.

    Estimators take turns, so that each has its share of checks of every sort.
    """
    having: dict[str, list[tuple[object, partial]]] = {}
    for estimator in estimators:
        for own, check in estimator_checks_generator(estimator):
            having.setdefault(name_of(check), []).append((own, check))
    chosen = [found[place % len(found)] for place, found in enumerate(having.values())]
    return [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{name}")
        for name, (estimator, check) in zip(having, chosen, strict=True)
    ]
