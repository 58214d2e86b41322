"""Regressions as candidates of an average: their predictions of cases left out, and priors."""

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.inverse_regression import InverseRegression
from unselected.dependence.response_weights import Candidate, HeldOutResponses, log_evidence
from unselected.estimators.response_views import View
from unselected.models.direct_regression import DirectRegression
from unselected.selection.record import Selection
from unselected.statistics.normality import look_normal

# Prior probability that the features say nothing. An inverse regression can say as much itself.
NULL = 0.03
# Prior weights of inverse regressions and of direct ones.
_INVERSE, _DIRECT = 0.8, 0.2
# How much more probable an inverse regression is than the one with fewer features: where features
# are independent given the response, more of them predict better.
_MORE_FEATURES = 10.0
# By how much the evidence for normal scores must be larger than that for raw values (a log), where
# these look normal. Then normal scores lose information, which a few dozen cases cannot tell.
_FOR_RAW = 3.0


class ResponseFit(NamedTuple):
    """A regression, and the distributions that it gives the cases that were asked for."""

    selection: Selection[Any]
    model: DirectRegression | InverseRegression
    location: Floats
    squares: Floats


def candidates_of(
    fits: list[list[ResponseFit]], prior: float, independent: float = 0.0
) -> list[list[Candidate]]:
    """Return the candidates of each regression of a view, which have a prior together.

    ``independent`` is the probability that features are independent given the response, as their
    correlations tell it: then the inverse regression with most features is right as it is.
    """
    whole, *others = fits
    shares = _prior_shares([fit.model.kind for fit in whole])
    right = _right_if_independent(whole, independent)
    result = []
    for number, (fit, share) in enumerate(zip(whole, shares, strict=True)):
        location, squares = (
            np.concatenate([each[number][place] for each in others], axis=-1) for place in (2, 3)
        )
        weights = (1.0 - independent) * prior * share * np.exp(fit.model.log_prior)
        logs = np.log(weights + right[number])
        scales = fit.model.scales
        each = zip(location, squares, logs, strict=True)
        result.append([Candidate(a, b, scales, log) for a, b, log in each])
    return result


def preferred(
    fits: dict[View, list[list[ResponseFit]]], cases: HeldOutResponses, values: NDArray[Any]
) -> View:
    """Return the view whose regressions have the most evidence; ``values`` are of raw columns."""
    against = _FOR_RAW if look_normal(values) else 0.0
    evidence = {
        view: log_evidence(list(chain(*candidates_of(own, 1.0))), cases)
        - (against if view.marginals == "normal" else 0.0)
        for view, own in fits.items()
    }
    return max(evidence, key=lambda view: evidence[view])


def null_candidate(cases: HeldOutResponses, independent: float = 0.0) -> Candidate:
    """Return what is known of the responses without features."""
    location, squares = cases.center[np.newaxis], cases.squares[np.newaxis]
    return Candidate(location, squares, np.ones(1), np.log([(1.0 - independent) * NULL]))


def law_of_response(y: Floats) -> tuple[float, float, float]:
    """Return location, squared scale and degrees of freedom of a new response."""
    n = y.size
    return float(y.mean()), float(y.var() or 1.0) * (n + 1.0) / (n - 1.0), max(n - 1.0, 2.5)


def _right_if_independent(fits: list[ResponseFit], independent: float) -> list[Floats]:
    """Return what this probability adds to the prior of the nodes of each regression."""
    result = [np.zeros(fit.model.log_prior.shape) for fit in fits]
    if independent:
        right = max(place for place, fit in enumerate(fits) if fit.model.kind == "inverse")
        model = fits[right].model
        assert isinstance(model, InverseRegression)
        result[right][model.node_as_it_is] = independent
    return result


def _prior_shares(kinds: list[str]) -> list[float]:
    """Return the prior share of each regression among all, given their kinds.

    Numbers of features increase, those of the same kind by one step each.
    """
    inverse = [kind == "inverse" for kind in kinds]
    steps = np.cumsum(inverse)
    shares = np.where(inverse, _MORE_FEATURES**steps, 1.0)
    for some, share in ((np.array(inverse), _INVERSE), (~np.array(inverse), _DIRECT)):
        shares[some] *= share / max(float(shares[some].sum()), 1.0)
    return [float(share) for share in shares / shares.sum()]
