"""Which of several likelihoods to believe, and how far: learned from cases left out.

Each likelihood gives each training case evidence for the classes, from a training without its fold,
selection included. Each is tempered on its own, see `tempering`, and has the posterior weight

    prior weight * P(classes seen | evidence),

in which what a unit of evidence is worth, and the fraction of strays, are averaged over. The first
likelihood is the model's own and has the prior weight 1/2, the others share the rest: a model that
is true loses next to nothing. Predictions average over the likelihoods.
"""

from dataclasses import dataclass

import numpy as np

from unselected._typing import Floats
from unselected.dependence.power import HeldOut, Tempering
from unselected.numerics.quadrature import log_sum

# What is believed of the model's own likelihood before any case is seen.
_OWN = 0.5


@dataclass(frozen=True, eq=False)
class Weighing:
    """Several likelihoods with the posterior of what the evidence of each is worth.

    Attributes
    ----------
    temperings : tuple of Tempering
        Of the model's own likelihood, and of the others.
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
    >>> weighing = Weighing.learn([HeldOut.of_classes(e, prior, y) for e in (wrong, right)])
    >>> weighing.own_probability < 0.001
    True
    """

    temperings: tuple[Tempering, ...]
    log_weights: Floats

    @classmethod
    def learn(cls, left_out: list[HeldOut]) -> "Weighing":
        """Learn from the evidence that each likelihood gave to cases left out."""
        temperings = tuple(Tempering.learn(cases) for cases in left_out)
        logs = log_prior_weights(len(temperings)) + [one.log_marginal for one in temperings]
        return cls(temperings, np.asarray(logs - log_sum(logs)))

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
        """What the cases left out look like to the model's own likelihood."""
        return self.temperings[0].left_out

    @property
    def mean_eta(self) -> float:
        """The posterior mean of what a unit of evidence is worth."""
        return float(self.weights @ [one.mean_eta for one in self.temperings])

    @property
    def mean_epsilon(self) -> float:
        """The posterior mean of the fraction of strays."""
        return float(self.weights @ [one.mean_epsilon for one in self.temperings])

    @property
    def untempered_probability(self) -> float:
        """The posterior probability that eta is 1."""
        return float(self.weights @ [one.untempered_probability for one in self.temperings])

    def in_words(self) -> str:
        """Return what was learned, in sentences."""
        return (
            "Features are taken for independent within classes, with the same spread in each, with "
            f"probability {self.own_probability:.2f}. A unit of evidence counts as "
            f"{self.mean_eta:.2f} (posterior mean of eta, which is 1 with probability "
            f"{self.untempered_probability:.2f}), and {100.0 * self.mean_epsilon:.1f} % of cases "
            "are taken for strays (posterior mean of epsilon)."
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
                self.temperings, log_evidence, self.log_weights, strict=True
            )
        ]
        return log_sum(np.array(each), axis=0)


def log_prior_weights(n: int) -> Floats:
    """Return the logs of the prior probabilities of n likelihoods.

    >>> np.exp(log_prior_weights(3)).round(3).tolist()
    [0.5, 0.25, 0.25]
    """
    if n == 1:
        return np.zeros(1)
    return np.asarray(np.log(np.append(_OWN, np.full(n - 1, (1.0 - _OWN) / (n - 1)))))
