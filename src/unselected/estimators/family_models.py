"""The models of both families of features, as an average over numbers of features needs them."""

from dataclasses import replace
from typing import Any, NamedTuple

from unselected._typing import Floats
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel


class FamilyModels(NamedTuple):
    """The models of the families, with the prior of the class probabilities."""

    binary: BernoulliModel
    real: GaussianModel
    pseudocounts: Floats

    def for_features(self, n: int) -> "FamilyModels":
        """Return models whose least fraction of related features is one of n."""
        return self._replace(binary=_with_groups(self.binary, n), real=_with_groups(self.real, n))


def _with_groups(model: Any, n_features: int) -> Any:
    if model.least_fraction is None:
        return model
    return replace(model, least_fraction=1.0 / max(1, n_features))
