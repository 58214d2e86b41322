"""Averaging over likelihoods: model weights, and the power of each, learned from cases left out.

Each likelihood gives each training case evidence for the classes. The evidence comes from a fit
without the case's fold, selection included. Each likelihood has a power of its own (see `power`)
and the posterior weight

    prior weight * P(observed classes | evidence),

which averages over the power and the outlier fraction. The first likelihood is the model's own and
has prior weight 1/2; the others share the rest. So a true model loses next to nothing. Predictions
average over the likelihoods. Without a guard against dependence there is one likelihood, the
model's own, with power 1.
"""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Floats
from unselected.dependence.held_out import HeldOut
from unselected.dependence.power import PowerPosterior
from unselected.numerics.quadrature import log_sum

# Prior probability of the model's own likelihood.
OWN = 0.5


@dataclass(frozen=True, eq=False)
class LikelihoodAverage:
    """One or more likelihoods with the posterior of the power of each.

    Attributes
    ----------
    powers : tuple of PowerPosterior
        Of the model's own likelihood first, then of the others.
    log_weights : array of shape (likelihoods,)
        Logs of their posterior probabilities.

    Examples
    --------
    The model's own evidence is noise; another likelihood knows better.

    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(100) % 2
    >>> right = np.stack([np.zeros(100), rng.normal(size=100) + 2 * y - 1], axis=1)
    >>> wrong = np.stack([np.zeros(100), rng.normal(size=100)], axis=1)
    >>> prior = np.log([0.5, 0.5])
    >>> average = LikelihoodAverage.learn([HeldOut.of_classes(e, prior, y) for e in (wrong, right)])
    >>> average.own_probability < 0.001
    True
    """

    powers: tuple[PowerPosterior, ...]
    log_weights: Floats

    @classmethod
    def as_it_is(cls) -> "LikelihoodAverage":
        """Return the model's own likelihood with power 1: no guard against dependence."""
        return _AS_IT_IS

    @property
    def is_learned(self) -> bool:
        """Whether anything was learned from cases left out."""
        return not (len(self.powers) == 1 and self.powers[0].is_full)

    @classmethod
    def learn(cls, left_out: list[HeldOut]) -> "LikelihoodAverage":
        """Learn from the evidence that each likelihood gave to cases left out."""
        powers = tuple(PowerPosterior.learn(cases) for cases in left_out)
        logs = log_prior_weights(len(powers)) + [one.log_marginal for one in powers]
        return cls(powers, np.asarray(logs - log_sum(logs)))

    @property
    def weights(self) -> Floats:
        """The posterior probabilities of the likelihoods."""
        return np.asarray(np.exp(self.log_weights))

    @property
    def own_probability(self) -> float:
        """The posterior probability of the model's own likelihood."""
        return float(self.weights[0])

    @property
    def left_out(self) -> HeldOut:
        """The evidence of the model's own likelihood for the cases left out."""
        return self.powers[0].left_out

    @property
    def mean_power(self) -> float:
        """The posterior mean of the power of the likelihood."""
        return float(self.weights @ [one.mean_power for one in self.powers])

    @property
    def mean_outlier_fraction(self) -> float:
        """The posterior mean of the outlier fraction."""
        return float(self.weights @ [one.mean_outlier_fraction for one in self.powers])

    @property
    def full_power_probability(self) -> float:
        """The posterior probability that eta is 1."""
        return float(self.weights @ [one.full_power_probability for one in self.powers])

    def in_words(self) -> str:
        """Return what was learned, in sentences."""
        if not self.is_learned:
            return (
                "The likelihood of the features has power 1: there is no guard against dependence."
            )
        power = (
            f"The power of the likelihood is {self.mean_power:.2f} (posterior mean; it is 1 with "
            f"probability {self.full_power_probability:.2f}), and the outlier fraction is "
            f"{100.0 * self.mean_outlier_fraction:.1f} % (posterior mean)."
        )
        if len(self.powers) == 1:
            return power
        return (
            "With probability "
            f"{self.own_probability:.2f} features are independent within classes, and all classes "
            f"have the same variances. {power}"
        )

    def log_proba(self, log_evidence: Floats, log_prior: Floats) -> Floats:
        """Return log probabilities of the classes.

        Parameters
        ----------
        log_evidence : array of shape (likelihoods, rows, G)
        log_prior : array of shape (G,) or (rows, G)

        Returns
        -------
        log_proba : array of shape (rows, G)
        """
        each = [
            one.log_proba(evidence, log_prior) + log_weight
            for one, evidence, log_weight in zip(
                self.powers, log_evidence, self.log_weights, strict=True
            )
        ]
        return log_sum(np.array(each), axis=0)


def log_prior_weights(n: int, own: float = OWN) -> Floats:
    """Return the logs of the prior probabilities of n likelihoods, the first of which has ``own``.

    >>> np.exp(log_prior_weights(3)).round(3).tolist()
    [0.5, 0.25, 0.25]
    """
    if n == 1:
        return np.zeros(1)
    return np.asarray(np.log(np.append(own, np.full(n - 1, (1.0 - own) / (n - 1)))))


_AS_IT_IS = LikelihoodAverage((PowerPosterior.full(),), np.zeros(1))
