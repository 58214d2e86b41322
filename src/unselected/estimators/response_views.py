"""Responses as regressions see them: as they are, those far out moved inwards, or transformed."""

from typing import Literal, NamedTuple

import numpy as np

from unselected._typing import Floats, Ints
from unselected.models.response_transform import ResponseTransform
from unselected.selection.leaving_out import Marginals

# Responses further from the median than this, in robust standard deviations, are moved there.
_CLIP = 4.0

ResponseKind = Literal["as is", "clipped", "transformed"]


class View(NamedTuple):
    """What a regression sees: columns as they are or as normal scores, and which responses."""

    marginals: Marginals
    response: ResponseKind


class Responses(NamedTuple):
    """The responses of all cases, each as the kinds of regression see them.

    Attributes
    ----------
    as_is : array of shape (n,)
    clipped, transformed : arrays of shape (n,) or None
        None where that makes no difference, or is not tried.
    transform : ResponseTransform or None
        The one that gave ``transformed``.
    """

    as_is: Floats
    clipped: Floats | None = None
    transformed: Floats | None = None
    transform: ResponseTransform | None = None

    @classmethod
    def of(cls, y: Floats, expected: Floats, cases: Ints, *, transformable: bool) -> "Responses":
        """Clip and transform responses by what is seen of those of some cases.

        ``expected`` is what covariates say of each; responses are clipped around it.
        """
        clipped = expected + clipped_to(y - expected, (y - expected)[cases])
        transform = ResponseTransform.learn(y[cases]) if transformable else None
        return cls(
            y,
            clipped if np.any(clipped[cases] != y[cases]) else None,
            None if transform is None else transform.apply(y),
            transform,
        )

    @property
    def untransformed(self) -> list[ResponseKind]:
        """The kinds whose predictions are on the scale of the responses."""
        return ["as is"] if self.clipped is None else ["as is", "clipped"]

    def fitted(self, kind: ResponseKind) -> Floats:
        """Return the responses that a regression is fitted to."""
        known = {"as is": self.as_is, "clipped": self.clipped, "transformed": self.transformed}
        y = known[kind]
        assert y is not None
        return y

    def judged(self, kind: ResponseKind) -> Floats:
        """Return the responses, on the scale of the regression, that its predictions are of."""
        return self.fitted("transformed" if kind == "transformed" else "as is")

    def log_slope(self, kind: ResponseKind) -> Floats:
        """Return log dz/dy of each response: what densities on that scale lack."""
        if kind != "transformed" or self.transform is None:
            return np.zeros(self.as_is.size)
        return self.transform.log_slope(self.as_is)


def clipped_to(y: Floats, seen: Floats) -> Floats:
    """Return responses moved to within some robust deviations of the median of those seen."""
    center = np.median(seen)
    reach = _CLIP * 1.4826 * np.median(np.abs(seen - center))
    return np.clip(y, center - reach, center + reach) if reach > 0.0 else y
