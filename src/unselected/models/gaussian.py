"""Naive Bayes for real-valued features, given an event: the paper's idea with conjugate scaling.

x = mu + phi(y)' w + noise, noise ~ N(0, s^2), w ~ N(0, tau^2 s^2 I), mu flat, p(s^2) ~ 1 / s^2.
phi codes the response: a unit vector for each class, so that class means are N(mu, tau^2 s^2), or y
in units of its standard deviation. tau is common to all features; it corresponds to
1 / sqrt(alpha). Everything but tau is integrated out in closed form. Given tau, a new value of a
feature has a Student t distribution.

With ``shrinkage`` = d > 0 the variances are shrunk instead: s_j^2 is inverse-chi-squared with d
degrees of freedom around a common variance. The logarithm of the common variance has a flat prior
and is integrated out numerically. The score does not depend on s_j^2, so that the event is the
same.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unselected._typing import Floats
from unselected.models.gaussian_posterior import GaussianPosterior, condition_common
from unselected.models.gaussian_prior import GaussianPrior
from unselected.models.gaussian_two_groups import condition_two_groups
from unselected.selection.events import RealEvent
from unselected.statistics.moments import Contrasts


class GaussianModel(GaussianPrior):
    """The model described at the top of this module, with the fields of its prior."""

    def simulate(
        self,
        n_samples: int,
        n_features: int,
        rng: np.random.Generator,
        *,
        y: ArrayLike | None = None,
        n_classes: int = 2,
        **parameters: Any,
    ) -> tuple[Floats, Any, dict[str, Any]]:
        """Draw parameters, or use those given, and features and classes of cases.

        Classes are drawn with equal probabilities unless ``y`` gives them as integers from 0 on.
        Returns X of shape (n_samples, n_features), y, and the parameters; see `simulate_features`.
        """
        if y is None:
            y = rng.choice(n_classes, size=n_samples, p=rng.dirichlet(np.ones(n_classes)))
        classes = np.asarray(y, dtype=np.int64)
        X, drawn = self.simulate_features(np.eye(n_classes)[classes], n_features, rng, **parameters)
        return X, classes, drawn

    def simulate_features(
        self,
        codes: Floats,
        n_features: int,
        rng: np.random.Generator,
        *,
        tau: float | None = None,
        variance: float = 1.0,
        fraction: float | None = None,
    ) -> tuple[Floats, dict[str, Any]]:
        """Draw parameters and features of cases whose responses have these codes (n, d).

        ``mu`` is drawn from N(0, variance), and without shrinkage s^2 is ``variance`` for all
        features: the improper priors cannot be drawn from, and posteriors do not depend on that.
        Returns X of shape (n, n_features), and the parameters; with two groups also the fraction,
        and which features are related.
        """
        if tau is None:
            tau = float(np.sqrt(rng.gamma(self.a, 1.0 / self.b)))
        s2 = np.full(n_features, variance)
        if self.shrinkage > 0.0:
            s2 *= self.shrinkage / rng.chisquare(self.shrinkage, size=n_features)
        mu = rng.normal(scale=np.sqrt(variance), size=n_features)
        w = tau * np.sqrt(s2) * rng.normal(size=(codes.shape[1], n_features))
        groups: dict[str, Any] = {}
        if self.least_fraction is not None:
            groups = self.fraction.simulate(n_features, rng, fraction)
            w *= groups["related"]
        if self.tails is not None:
            w *= np.sqrt(rng.choice(self.scales, size=n_features))
        X = rng.normal(size=(len(codes), n_features))
        X *= np.sqrt(s2)
        X += mu
        X += codes @ w
        return X, {"tau": tau, "mu": mu, "w": w, "s2": s2, **groups}

    def condition(self, statistics: Contrasts, event: RealEvent) -> GaussianPosterior:
        """Return the posterior given the contrasts of the kept features and the event."""
        if self.least_fraction is not None:
            return condition_two_groups(self, statistics, event)
        return condition_common(self, statistics, event)
