"""Predictive probabilities you can trust after keeping a few features out of many.

Names are loaded when first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unselected.estimators.bernoulli import SelectiveBernoulliNB
    from unselected.estimators.classifier import SelectiveClassifier
    from unselected.estimators.factor import SelectiveFactorClassifier, SelectiveFactorRegressor
    from unselected.estimators.gaussian import SelectiveGaussianNB
    from unselected.estimators.mixture import SelectiveMixtureClassifier
    from unselected.estimators.regression import SelectiveNaiveRegressor
    from unselected.estimators.regressor import SelectiveRegressor
    from unselected.files.opening import open_columns
    from unselected.selection.record import Selection

__version__ = "0.1.0"

__all__ = [
    "Selection",
    "SelectiveBernoulliNB",
    "SelectiveClassifier",
    "SelectiveFactorClassifier",
    "SelectiveFactorRegressor",
    "SelectiveGaussianNB",
    "SelectiveMixtureClassifier",
    "SelectiveNaiveRegressor",
    "SelectiveRegressor",
    "__version__",
    "open_columns",
]

_HOME = {
    "Selection": "unselected.selection.record",
    "SelectiveBernoulliNB": "unselected.estimators.bernoulli",
    "SelectiveClassifier": "unselected.estimators.classifier",
    "SelectiveFactorClassifier": "unselected.estimators.factor",
    "SelectiveFactorRegressor": "unselected.estimators.factor",
    "SelectiveGaussianNB": "unselected.estimators.gaussian",
    "SelectiveMixtureClassifier": "unselected.estimators.mixture",
    "SelectiveNaiveRegressor": "unselected.estimators.regression",
    "SelectiveRegressor": "unselected.estimators.regressor",
    "open_columns": "unselected.files.opening",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'unselected' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
