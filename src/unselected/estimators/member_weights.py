"""The weights of the models of an average, from the evidence they gave to cases left out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Bools, Floats
from unselected.dependence.averaging import OWN, LikelihoodAverage, log_prior_weights
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior, PowerPrior
from unselected.fitted.predictor import ClassPredictor
from unselected.numerics.quadrature import log_sum
from unselected.selection.leaving_out import Marginals
from unselected.selection.record import Selection
from unselected.statistics.leaving_out import LeftOut

# Normal scores are used unless the evidence for the raw values is larger by this factor (a log).
_FOR_NORMAL = 3.0
# A model with less weight than this is left out of the average.
_LEAST_WEIGHT = 0.02
# The log probabilities of cases left out, by which members and likelihoods are weighed, are
# multiplied by these. Fits without different folds share most of their cases, so that their errors
# are correlated, and the sum over cases is less certain than one over independent cases.
_MEMBER_SHARE, _LIKELIHOOD_SHARE = 0.2, 0.8
# Prior probability of the model's own likelihood, where features are independent within classes, if
# all columns are binary. Correlations of hundreds of bits may seem to predict better than they do,
# and where they matter the cases left out say so clearly.
_OWN_OF_BITS = 0.9
# Prior probability that the features do not tell the classes apart at all.
_SAYS_NOTHING = 0.3
# The likelihood as it is, with power 1.
_NO_POWER = PowerPrior(full_power=1.0, no_outliers=1.0)


@dataclass(frozen=True, eq=False)
class Fit:
    """A model of one number of features, and its evidence on the cases that were asked for.

    ``log_prior`` has their class probabilities before any feature is seen, shape (asked, G).
    """

    k: int | None
    selection: Selection[Any]
    is_binary: Bools
    predictor: ClassPredictor
    evidence: Floats
    log_prior: Floats
    left: LeftOut


@dataclass(frozen=True, eq=False)
class Weighed:
    """A fit to all cases with the average over its likelihoods, and the log of its weight.

    Before the weights are normalized the last is the log probability of the classes of cases left
    out.
    """

    fit: Fit
    average: LikelihoodAverage
    log_weight: float

    @classmethod
    def learn(
        cls,
        fits: list[Fit],
        y: NDArray[np.intp],
        weight: float,
        *,
        powered: bool,
        independent: float = 0.0,
    ) -> "Weighed":
        """Learn from fits, the first to all cases, the others without the folds of divisions.

        ``weight`` is what each case left out counts. Without ``powered`` the power of each
        likelihood is 1. ``independent`` is the probability that features are independent within
        classes, as their correlations tell it.
        """
        whole, *others = fits
        if not others:
            return cls(whole, LikelihoodAverage.as_it_is(), 0.0)
        classes = np.concatenate([y[fit.left.asked] for fit in others])
        log_psi = np.concatenate([fit.log_prior for fit in others])
        powers = []
        for evidence in np.concatenate([fit.evidence for fit in others], axis=1):
            cases = HeldOut.of_classes(evidence, log_psi, classes)
            cases = replace(cases, weight=weight)
            prior = _power_prior(independent) if powered else _NO_POWER
            says_nothing = _SAYS_NOTHING if powered else 0.0
            powers.append(
                PowerPosterior.learn_coarsely(cases, prior=prior, says_nothing=says_nothing)
            )
        own = _OWN_OF_BITS if whole.is_binary.all() else OWN
        logs = log_prior_weights(len(powers), _raised(own, independent)) + [
            one.log_marginal for one in powers
        ]
        weights = _LIKELIHOOD_SHARE * logs
        average = LikelihoodAverage(tuple(powers), np.asarray(weights - log_sum(weights)))
        return cls(whole, average, float(log_sum(logs)))


def _power_prior(independent: float) -> PowerPrior:
    known = PowerPrior()
    return replace(
        known,
        full_power=_raised(known.full_power, independent),
        no_outliers=_raised(known.no_outliers, independent),
    )


def _raised(probability: float, independent: float) -> float:
    """Return the probability of what holds where features are independent within classes."""
    return independent + (1.0 - independent) * probability


def preferred(by_marginals: dict[Marginals, list[Weighed]]) -> Marginals:
    """Return how real-valued features are transformed."""
    if "raw" not in by_marginals or "normal" not in by_marginals:
        (only,) = by_marginals
        return only
    raw, normal = (
        log_sum(np.array([member.log_weight for member in by_marginals[name]]))
        for name in ("raw", "normal")
    )
    return "raw" if raw > normal + _FOR_NORMAL else "normal"


def normalized(members: list[Weighed], independent: float = 0.0) -> list[Weighed]:
    """Return the members with enough weight, whose weights then sum to 1.

    Where features are independent within classes, the model with most of them is the right one.
    """
    distinct = list(_distinct(members))
    prior = np.full(len(distinct), (1.0 - independent) / len(distinct))
    prior[-1] += independent
    logs = np.log(prior)
    logs += _MEMBER_SHARE * np.array([member.log_weight for member in distinct])
    logs = logs - log_sum(logs)
    some = logs >= min(np.log(_LEAST_WEIGHT), float(logs.max()))
    logs = logs - log_sum(logs[some])
    each = zip(distinct, logs.tolist(), some.tolist(), strict=True)
    return [replace(member, log_weight=log) for member, log, stays in each if stays]


def evidence_left_out(members: list[Weighed], y: NDArray[np.intp]) -> HeldOut:
    """Return the evidence that the average over the members gave to cases left out.

    y are the classes of these cases.
    """
    known = members[0].average.left_out
    logs = np.array([_left_out(each) + each.log_weight for each in members])
    cases = HeldOut.of_classes(log_sum(logs, axis=0) - known.log_prior, known.log_prior, y)
    return replace(cases, weight=known.weight)


def _left_out(member: Weighed) -> Floats:
    """Return the log probabilities that a member gave to cases left out, shape (cases, G)."""
    evidence = np.stack([power.left_out.log_evidence for power in member.average.powers])
    return member.average.log_proba(evidence, member.average.left_out.log_prior)


def _distinct(members: list[Weighed]) -> Iterator[Weighed]:
    """Yield members without those that keep as many features as the next one.

    There are some where fewer columns have a score than should be kept.
    """
    sizes = [member.fit.selection.indices.size for member in members]
    for member, (size, after) in zip(members, pairwise([*sizes, np.inf]), strict=True):
        if size < after:
            yield member
