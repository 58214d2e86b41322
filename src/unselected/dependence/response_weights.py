"""The weights of predictive distributions of a real response, learned from cases left out.

Each candidate gives each case left out a t distribution for every one of its nodes: factors of the
variance for a direct regression, powers of the likelihood for an inverse one. A fraction epsilon of
the responses are outliers, which have a wide distribution of their own. Nodes and epsilon are
integrated over a grid; what is left is the marginal density of the responses left out, by which
candidates are weighed as models are in Bayesian model averaging. A share of the weights comes from
stacking: the weights with which the mixture gives the responses left out the largest density.
Stacking finds combinations that are better than any candidate; it also finds them in noise, so that
its share counts only as far as the features say anything at all.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unselected._typing import Floats
from unselected.models.student_mixture import log_student
from unselected.numerics.quadrature import log_sum

# Outlier fractions; none has most of the prior.
_OUTLIERS = np.array([0.0, 0.01, 0.03, 0.08, 0.2])
_PRIOR_OF_OUTLIERS = np.append(0.8, np.full(4, 0.05))
# The share of the weights that comes from stacking. With half, mixtures found in the noise of 60
# cases cost 0.003 to 0.007 in log density where one candidate is the true model.
_STACKED = 0.3
# Degrees of freedom of the distribution of outliers.
OUTLIER_DF = 4.0
# The most by which a density counts as larger than that of an outlier, in logs.
_LARGEST_GAIN = 600.0
_N_STEPS = 100


class Candidate(NamedTuple):
    """Predictive distributions of the cases left out.

    Attributes
    ----------
    location, squares : arrays of shape (nodes, cases) or (1, cases)
        Of t distributions; ``squares`` are squared scales.
    scales : array of shape (nodes,)
        Factors of ``squares``.
    log_prior : array of shape (nodes,)
        Log of the prior probability of the candidate with each of its nodes.
    """

    location: Floats
    squares: Floats
    scales: Floats
    log_prior: Floats


class HeldOutResponses(NamedTuple):
    """Responses of the cases left out, and what is known of them without their features.

    Attributes
    ----------
    y, df : arrays of shape (cases,)
        Responses, and the degrees of freedom of the candidates' distributions.
    center, squares : arrays of shape (cases,)
        Of the distribution of outliers.
    weight : float
        What a case counts: less where cases were left out several times.
    """

    y: Floats
    df: Floats
    center: Floats
    squares: Floats
    weight: float

    @property
    def log_outlier(self) -> Floats:
        """The log density of the responses as outliers, shape (cases,)."""
        return log_student(self.y - self.center, self.squares, OUTLIER_DF)


class ResponseWeights(NamedTuple):
    """What was learned.

    Attributes
    ----------
    nodes : list of arrays of shape (nodes,)
        For each candidate the weights of its nodes.
    outlier : float
        The weight of the distribution of outliers; all weights sum to 1.
    log_density : float
        Of the responses left out, in the average with these weights.
    """

    nodes: list[Floats]
    outlier: float
    log_density: float


class _Integrated(NamedTuple):
    """A candidate with nodes and outlier fraction integrated out.

    Attributes
    ----------
    log_marginal : float
        Log of its prior times the density of the responses left out.
    within : array of shape (nodes, outlier fractions)
        Their posterior given the candidate.
    densities : array of shape (cases,)
        Mixed densities of the cases, relative to those of outliers.
    """

    log_marginal: float
    within: Floats
    densities: Floats

    @classmethod
    def of(
        cls, candidate: Candidate, cases: HeldOutResponses, independent: float = 0.0
    ) -> "_Integrated":
        squares = candidate.squares * candidate.scales[:, np.newaxis]
        logs = log_student(cases.y - candidate.location, squares, cases.df)
        gained = np.minimum(logs - cases.log_outlier, _LARGEST_GAIN)
        ratio = np.exp(gained)
        mixed = [np.log((1.0 - epsilon) * ratio + epsilon) for epsilon in _OUTLIERS[1:]]
        sums = [logs.sum(axis=1) for logs in (gained, *mixed)]
        table = cases.weight * np.stack(sums, axis=1) + _log_prior_of_outliers(independent)
        table = table + candidate.log_prior[:, np.newaxis]
        log_marginal = float(log_sum(table))
        within = np.exp(table - log_marginal)
        densities = (within @ (1.0 - _OUTLIERS)) @ ratio + float(np.sum(within @ _OUTLIERS))
        return cls(log_marginal, within, densities)


def _log_prior_of_outliers(independent: float) -> Floats:
    prior = (1.0 - independent) * _PRIOR_OF_OUTLIERS
    prior[0] += independent
    return np.asarray(np.log(prior))


def learn_weights(
    candidates: Sequence[Candidate], cases: HeldOutResponses, independent: float = 0.0
) -> ResponseWeights:
    """Learn the weights of candidates, the first of which knows nothing of the features.

    ``independent`` is the probability that the naive model is right. Then there are no outliers,
    and there is nothing to be found by stacking.

    >>> rng = np.random.default_rng(0)
    >>> y, x = rng.normal(size=(2, 400))
    >>> one = np.ones(400)
    >>> cases = HeldOutResponses(y, 50 * one, 0 * one, 4 * one, 1.0)
    >>> half = np.ones(1), np.log([0.5])
    >>> null = Candidate(0 * one[np.newaxis], one[np.newaxis], *half)
    >>> right = Candidate(y + 0.1 * x[np.newaxis], 0.01 * one[np.newaxis], *half)
    >>> weights = learn_weights([null, right], cases)
    >>> bool(weights.nodes[1][0] > 0.98)
    True
    """
    each = [_Integrated.of(candidate, cases, independent) for candidate in candidates]
    logs = np.array([one.log_marginal for one in each])
    bayes = np.exp(logs - log_sum(logs))
    prior = np.array([np.exp(log_sum(candidate.log_prior)) for candidate in candidates])
    densities = np.stack([one.densities for one in each])
    stacked = _stacked(densities, prior, cases.weight)
    share = (1.0 - independent) * _STACKED * (1.0 - bayes[0])
    weights = (1.0 - share) * bayes + share * stacked
    joint = [weight * one.within for weight, one in zip(weights, each, strict=True)]
    outlier = float(sum(np.sum(part @ _OUTLIERS) for part in joint))
    logs = np.log(weights @ densities) + cases.log_outlier
    nodes = [part @ (1.0 - _OUTLIERS) for part in joint]
    return ResponseWeights(nodes, outlier, cases.weight * float(logs.sum()))


def log_evidence(candidates: Sequence[Candidate], cases: HeldOutResponses) -> float:
    """Return the log density of the responses left out, averaged over the candidates' priors.

    It is relative to the density of the same responses as outliers.
    """
    each = [_Integrated.of(candidate, cases).log_marginal for candidate in candidates]
    return float(log_sum(np.array(each)))


def _stacked(densities: Floats, prior: Floats, weight: float) -> Floats:
    """Return the weights of the largest posterior density, by expectation maximization.

    Their prior is a Dirichlet distribution with 1 + ``prior``: one more case.
    """
    weights = prior / prior.sum()
    for _ in range(_N_STEPS):
        share = weights[:, np.newaxis] * densities
        weights = weight * (share / share.sum(axis=0)).sum(axis=1) + prior
        weights = weights / weights.sum()
    return np.asarray(weights)
