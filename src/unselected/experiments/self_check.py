"""A few results whose exact values are known, to check an installation by in seconds."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unselected import __version__
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.files.models import load_model, save_model
from unselected.fitted.predictor import ClassPredictor
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.kernels import WORTH_COMPILING, kernels_for
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.binary import omission_probability

# Six cases of four bits, three of each class.
_BITS = np.array(
    [[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]]
)
_CLASSES = np.repeat([0, 1], 3)
# P(class 1) of a case whose kept bit is 1, by enumerating all omitted data; a test does so again.
_BY_ENUMERATION = 0.41392952726
_HUGE = 1e12


@dataclass(frozen=True)
class Check:
    """A result, and what it must be, to within ``tolerance``."""

    what: str
    found: float
    exact: float
    tolerance: float

    @property
    def difference(self) -> float:
        """How far the result is off."""
        return abs(self.found - self.exact)

    @property
    def passed(self) -> bool:
        """Whether the result is right; NaN is not."""
        return self.difference <= self.tolerance


def self_check() -> list[Check]:
    """Return the checks: omission probabilities, a posterior, a model file, compiled loops.

    Examples
    --------
    >>> all(check.passed for check in self_check())
    True
    """
    checks = [_bits_omitted(), _reals_omitted(), _posterior(), _model_file()]
    return [*checks, *_compiled()]


def _bits_omitted() -> Check:
    """Check P(|COR| <= 1/2 | alpha = 2) of a bit, three cases of each class; a rational number."""
    law = CountLaw((3, 3), *gauss_legendre(theta_nodes(6)))
    found = omission_probability(law, Fraction(1, 4), np.array([0.5]))[0]
    return Check("omission probability, binary", float(found), 2851 / 3780, 1e-12)


def _reals_omitted() -> Check:
    """Check a feature that is unrelated to the class: with four cases |COR| is uniform."""
    X = np.array([[0.1, 1.0, 2.0], [0.4, 0.0, 1.0], [0.9, 2.0, 1.5], [0.7, 0.5, 1.1]])
    model = SelectiveGaussianNB(k=1).fit(X, [0, 0, 1, 1])
    found = model.panel().predictor.fitted.omission_probability(np.array([_HUGE]))[0]
    return Check("omission probability, real", float(found), float(model.threshold_ or 0.0), 1e-9)


def _posterior() -> Check:
    """Check a probability of the paper's model, corrected for the selection of 1 of 4 bits."""
    probability = _tiny_model().predict_proba([[1, 0, 0, 0]])[0, 1]
    return Check("corrected posterior", float(probability), _BY_ENUMERATION, 1e-9)


def _tiny_model() -> SelectiveBernoulliNB:
    return SelectiveBernoulliNB(k=1).fit(_BITS, _CLASSES)


def _model_file() -> Check:
    """Check that a model predicts from its file what it predicted before, to the last bit."""
    model, row = _tiny_model(), np.array([[1]])
    panel = model.panel()
    fields = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    selection = {field: getattr(model.selection_, field) for field in fields}
    provenance = {"unselected": __version__, "created": "", "input": "-", "sha256": None, "seed": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        selection["scores"] = model.scores_.tolist()
        save_model(panel.predictor, path, selection=selection, provenance=provenance)
        again = load_model(path).predictor
    after = np.nan
    if isinstance(again, ClassPredictor):
        after = again.predict_proba(row)[0, 1]
    return Check("model file", float(after), float(panel.predict_proba(row)[0, 1]), 0.0)


def _compiled() -> Iterator[Check]:
    """Check the compiled loops against plain numpy, where there are any."""
    kernels = kernels_for(WORTH_COMPILING)
    if kernels is None:
        return
    X = np.random.default_rng(0).integers(0, 2, size=(30, 1000), dtype=np.uint8)
    sizes, total = np.array([20, 10]), np.zeros((2, 1000), dtype=np.int64)
    kernels.count_rows(X, np.arange(30), sizes, total, np.zeros(1000, dtype=np.uint8))
    plain = np.stack([X[:20].sum(axis=0), X[20:].sum(axis=0)])
    yield Check("compiled loops", float(np.abs(total - plain).max()), 0.0, 0.0)
