"""P(class | covariates): multinomial logistic regression whose posterior is integrated.

The logits of a case with covariates z are b0_g + z' b_g. The prior is the same for any linear
recoding of the covariates (units, origin, reference level, order) and for any order of the classes:

- Covariates are centred and turned into r uncorrelated axes of variance 1 over the training cases,
  r being their rank. A constant column, or one that is a combination of others, adds no axis.
- Along each axis the difference between the coefficients of any two classes is N(0, s^2), with
  s = 1.6. The log odds of two classes one standard deviation off the mean then have about the
  spread of the logistic distribution, so that their odds are nearly uniform a priori. The prior is
  as wide as a covariate that nearly determines the class needs, and keeps separated classes finite.
- pseudocounts f_g are cases of class g at the mean of the covariates. Without covariates this is
  the Dirichlet prior, and probabilities are exactly (n_g + f_g) / (n + sum of f).

The posterior is approximated by expectation propagation (Minka 2001): a normal distribution under
which every case has the same mean and variance of its logits as under the product of the case's own
likelihood and the normal approximation of all others. It also gives P(classes | covariates). For a
new case softmax is averaged over the normal distribution of its logits. A fit thus keeps means and
covariances, and nothing of single cases.

Everything is computed in terms that rotate with the axes and the classes, which is why recoding
changes nothing but rounding: logits are taken along orthonormal contrasts of the classes, and rules
of integration are mapped by the symmetric root of the covariance.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import helmert
from scipy.special import gammaln, log_softmax, logsumexp, roots_genlaguerre, softmax

from unselected._typing import Floats, Ints

# The standard deviation a priori of the difference between coefficients of two classes.
PRIOR_SCALE = 1.6

# A column is constant, or an axis none, if it varies by less than this part of the largest.
_CONSTANT, _COLLINEAR = 1e-12, 1e-9
_NEWTON_STEPS = 12
_MOST_SWEEPS, _SMALL_CHANGE = 300, 1e-12
# Sweeps that the next one is extrapolated from.
_MEMORY = 5
# Sites are given up that would change by so many times the smallest change so far.
_ASTRAY = 10.0
# Directions in the plane, for three classes: a multiple of 6, for symmetry.
_POLYGON = 18
# Numbers that are held at once in predictions.
_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class ClassRegression:
    """P(class | covariates), for G classes and m covariates of rank r.

    Attributes
    ----------
    center : means of the covariates, shape (m,).
    transform : from centred covariates to uncorrelated axes, shape (m, r).
    totals : numbers of cases and pseudocounts of the classes, shape (G,).
    mean : posterior means of the coefficients: G - 1 contrasts of classes, with an intercept and r
        axes, shape (G - 1, r + 1).
    covariance : their posterior covariances, in the order of `mean.ravel()`.
    log_evidence : log P(y | Z).

    Examples
    --------
    >>> Z, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> regression = ClassRegression.fit(Z, y, 2, np.ones(2))
    >>> np.exp(regression.log_proba(np.array([[0.0], [1.5]]))).round(2)
    array([[0.84, 0.16],
           [0.5 , 0.5 ]])
    """

    center: Floats
    transform: Floats
    totals: Floats
    mean: Floats
    covariance: Floats
    log_evidence: float

    @classmethod
    def fit(cls, Z: Floats, y: Ints, n_classes: int, pseudocounts: Floats) -> "ClassRegression":
        """Condition on the classes y, 0 to n_classes - 1, of cases with covariates Z.

        Z has no column for the intercept. It may have no columns. Pseudocounts are positive.
        """
        center, transform = _standardizing(Z)
        design = _design(Z, center, transform)
        counts = np.vstack([np.eye(n_classes)[y], pseudocounts])
        likelihood = _Likelihood(np.vstack([design, np.eye(1, design.shape[1])]), counts)
        totals = counts.sum(axis=0)
        if transform.shape[1]:
            normal, log_integral = _expectation_propagation(likelihood)
            # The prior of the intercepts in orthonormal contrasts has this constant.
            log_prior_integral = _log_beta(pseudocounts) - 0.5 * np.log(n_classes)
        else:
            normal, log_integral = likelihood.normal(likelihood.sites(likelihood.mode())), 0.0
            log_prior_integral = _log_beta(pseudocounts) - _log_beta(totals)
        log_evidence = float(log_integral - log_prior_integral)
        return cls(center, transform, totals, normal.mean, normal.covariance, log_evidence)

    @property
    def rule(self) -> "LogitRule":
        """How the logits of a new case are integrated."""
        return LogitRule(*_normal_rule(self.totals.size), _contrasts(self.totals.size))

    def log_proba(self, Z: Floats) -> Floats:
        """Return log P(class | covariates, training cases), shape (rows, G)."""
        n_classes = self.totals.size
        if not self.transform.shape[1]:
            return np.tile(np.log(self.totals / self.totals.sum()), (len(Z), 1))
        nodes, weights = _normal_rule(n_classes)
        log_proba = np.empty((len(Z), n_classes))
        step = max(1, _BLOCK // (weights.size * n_classes))
        for start in range(0, len(Z), step):
            rows = slice(start, start + step)
            mean, covariance = _logits(
                _design(Z[rows], self.center, self.transform), _Normal(self.mean, self.covariance)
            )
            contrasts = mean[:, np.newaxis] + nodes @ _symmetric_root(covariance)
            logs = log_softmax(contrasts @ _contrasts(n_classes).T, axis=2)
            log_proba[rows] = logsumexp(logs, axis=1, b=weights[:, np.newaxis])
        return log_proba - logsumexp(log_proba, axis=1, keepdims=True)


class LogitRule(NamedTuple):
    """How the normal distribution of the logits of a case is integrated, for G classes.

    Attributes
    ----------
    nodes : array of shape (nodes, G - 1)
        For standard normal contrasts.
    weights : array of shape (nodes,)
    contrasts : array of shape (G, G - 1)
        Orthonormal contrasts of the classes.
    """

    nodes: Floats
    weights: Floats
    contrasts: Floats


class _Normal(NamedTuple):
    """A normal distribution of the coefficients."""

    mean: Floats
    covariance: Floats


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The prior, and counts of the classes (cases, G) at rows of the design (cases, r + 1).

    Sites are normal approximations of the likelihoods of cases, as functions of the contrasts of
    their logits: arrays (cases, G - 1, 1 + G - 1) of precision times mean, and precision.
    """

    design: Floats
    counts: Floats

    @property
    def _prior_precision(self) -> Floats:
        slope = np.full(self.design.shape[1] - 1, 2.0 / PRIOR_SCALE**2)
        return np.tile(np.append(0.0, slope), self.counts.shape[1] - 1)

    def log_terms(self, contrasts: Floats) -> Floats:
        """Return the log likelihood of each case at its contrasts (cases, ..., G - 1)."""
        logs = log_softmax(contrasts @ _contrasts(self.counts.shape[1]).T, axis=-1)
        terms: Floats = np.einsum("ng,n...g->n...", self.counts, logs)
        return terms

    def sites(self, coefficients: Floats) -> Floats:
        """Return the sites with the slope and curvature of the likelihood at the coefficients."""
        basis, contrasts = _contrasts(self.counts.shape[1]), self.design @ coefficients.T
        proba, sizes = softmax(contrasts @ basis.T, axis=1), self.counts.sum(axis=1)
        means = proba @ basis
        squares = np.einsum("gc,ng,gd->ncd", basis, proba, basis)
        precision = squares - means[:, :, np.newaxis] * means[:, np.newaxis]
        precision *= sizes[:, np.newaxis, np.newaxis]
        slope = self.counts @ basis - sizes[:, np.newaxis] * means
        shift = (precision @ contrasts[:, :, np.newaxis])[:, :, 0] + slope
        return np.concatenate([shift[:, :, np.newaxis], precision], axis=2)

    def precision(self, sites: Floats) -> Floats:
        """Return the precision matrix of the coefficients that prior and sites give."""
        (n, k), q = self.design.shape, sites.shape[1]
        weighted = sites[:, :, 1:, np.newaxis] * self.design[:, np.newaxis, np.newaxis]
        summed = (self.design.T @ weighted.reshape(n, -1)).reshape(k, q, q, k)
        return summed.transpose(1, 0, 2, 3).reshape(q * k, q * k) + np.diag(self._prior_precision)

    def normal(self, sites: Floats) -> _Normal:
        """Return the normal distribution of the coefficients that prior and sites give."""
        covariance = np.linalg.inv(self.precision(sites))
        covariance = 0.5 * (covariance + covariance.T)
        shift = sites[:, :, 0].T @ self.design
        return _Normal((covariance @ shift.ravel()).reshape(shift.shape), covariance)

    def log_posterior(self, coefficients: Floats) -> float:
        """Return the log density of the coefficients, but for a constant."""
        prior = 0.5 * np.sum(self._prior_precision * coefficients.ravel() ** 2)
        return float(np.sum(self.log_terms(self.design @ coefficients.T)) - prior)

    def mode(self) -> Floats:
        """Return the most probable coefficients, nearly: sweeps start there."""
        totals = self.counts.sum(axis=0)
        coefficients = np.zeros((totals.size - 1, self.design.shape[1]))
        coefficients[:, 0] = np.log(totals) @ _contrasts(totals.size)
        for _ in range(_NEWTON_STEPS):
            step = self.normal(self.sites(coefficients)).mean - coefficients
            here = self.log_posterior(coefficients)
            while self.log_posterior(coefficients + step) < here - 1e-9:
                step = 0.5 * step
            coefficients = coefficients + step
        return coefficients

    def log_integral(self, sites: Floats, log_ratios: Floats) -> float:
        """Return the log integral of prior and likelihood, from that of prior and sites."""
        prior, precision = self._prior_precision, self.precision(sites)
        shift = (sites[:, :, 0].T @ self.design).ravel()
        slopes = prior[prior > 0.0]
        return float(
            0.5 * shift @ np.linalg.solve(precision, shift)
            - 0.5 * np.linalg.slogdet(precision)[1]
            + 0.5 * np.log(slopes).sum()
            + 0.5 * (prior.size - slopes.size) * np.log(2.0 * np.pi)
            + log_ratios.sum()
        )


class _Sweep(NamedTuple):
    """What the likelihoods of the cases, each in the place of its site, would change."""

    change: float
    move: Floats
    log_ratios: Floats


def _expectation_propagation(likelihood: _Likelihood) -> tuple[_Normal, float]:
    """Return the normal distribution of the coefficients, and the log integral of the likelihood.

    All sites move at once. The next sites are extrapolated from the last moves (Anderson), without
    which a hundred sweeps may be needed. Where that leads astray, half of the way is taken back.
    """
    sites = accepted = likelihood.sites(likelihood.mode())
    path: list[tuple[Floats, Floats]] = []
    smallest = np.inf
    for _ in range(_MOST_SWEEPS):
        sweep = _sweep(likelihood, sites)
        if sweep.change < _SMALL_CHANGE:
            break
        if sweep.change > _ASTRAY * smallest:
            sites, path = 0.5 * (sites + accepted), []
            continue
        accepted, smallest = sites, min(smallest, sweep.change)
        path = [*path[-_MEMORY:], (sites, sweep.move)]
        sites = _extrapolated(path)
    return likelihood.normal(sites), likelihood.log_integral(sites, sweep.log_ratios)


def _sweep(likelihood: _Likelihood, sites: Floats) -> _Sweep:
    """Compare the contrasts of logits under the sites with those under the likelihood of a case.

    Their ratio varies little where the sites say that the contrasts are, and is easy to integrate.
    """
    if np.linalg.eigvalsh(likelihood.precision(sites))[0] <= 0.0:
        return _Sweep(np.inf, sites, np.zeros(0))
    mean, covariance = _logits(likelihood.design, likelihood.normal(sites))
    nodes, weights = _normal_rule(likelihood.counts.shape[1])
    contrasts = mean[:, np.newaxis] + nodes @ _symmetric_root(covariance)
    log_sites = np.sum(
        (sites[:, np.newaxis, :, 0] - 0.5 * contrasts @ sites[:, :, 1:]) * contrasts, axis=2
    )
    logs = likelihood.log_terms(contrasts) - log_sites
    log_ratios = logsumexp(logs, axis=1, b=weights, keepdims=True)
    masses = weights * np.exp(logs - log_ratios)
    new_mean = (masses[:, np.newaxis] @ contrasts)[:, 0]
    off = contrasts - new_mean[:, np.newaxis]
    new_covariance = (off * masses[:, :, np.newaxis]).swapaxes(1, 2) @ off
    change = max(np.abs(new_mean - mean).max(), np.abs(new_covariance - covariance).max())
    if np.linalg.eigvalsh(new_covariance).min() <= 0.0:  # one node has all of the mass
        return _Sweep(np.inf, sites, log_ratios)
    move = _natural(new_mean, new_covariance) - _natural(mean, covariance)
    return _Sweep(float(change), move, log_ratios)


def _natural(mean: Floats, covariance: Floats) -> Floats:
    """Return precision times mean, and precision, as sites have them."""
    precision = np.linalg.inv(covariance)
    return np.concatenate([precision @ mean[:, :, np.newaxis], precision], axis=2)


def _extrapolated(path: list[tuple[Floats, Floats]]) -> Floats:
    """Return the sites at which a move that is linear in the sites would vanish."""
    sites, move = path[-1]
    if len(path) == 1:
        return sites + 0.5 * move
    places, moves = (np.diff([step[i].ravel() for step in path], axis=0) for i in (0, 1))
    shares = np.linalg.lstsq(moves.T, move.ravel(), rcond=1e-10)[0]
    ahead: Floats = sites + move - (shares @ (places + moves)).reshape(sites.shape)
    return ahead


def _standardizing(Z: Floats) -> tuple[Floats, Floats]:
    """Return the means of the columns, and the map to uncorrelated axes of variance 1."""
    center = Z.mean(axis=0)
    spread = np.sqrt(np.mean((Z - center) ** 2, axis=0))
    varies = spread > _CONSTANT * np.abs(Z).max(axis=0, initial=0.0)
    unit = np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
    _, lengths, axes = np.linalg.svd((Z - center) * unit, full_matrices=False)
    some = lengths > _COLLINEAR * lengths.max(initial=1e-300)
    scale = np.sqrt(len(Z)) / lengths[some]
    return center, unit[:, np.newaxis] * axes[some].T * scale


def _design(Z: Floats, center: Floats, transform: Floats) -> Floats:
    """Return a column of ones, and the uncorrelated axes."""
    return np.column_stack([np.ones(len(Z)), (Z - center) @ transform])


def _logits(design: Floats, normal: _Normal) -> tuple[Floats, Floats]:
    """Return means and covariances of the contrasts of logits at each row of the design."""
    q, k = normal.mean.shape
    by_axis = normal.covariance.reshape(q, k, q, k).transpose(1, 0, 2, 3).reshape(k, -1)
    half = (design @ by_axis).reshape(-1, q * q, k)
    return design @ normal.mean.T, (half @ design[:, :, np.newaxis]).reshape(-1, q, q)


def _log_beta(counts: Floats) -> float:
    """Return the log of the constant of a Dirichlet density."""
    return float(gammaln(counts).sum() - gammaln(counts.sum()))


def _contrasts(n_classes: int) -> Floats:
    """Return orthonormal contrasts of the classes, shape (G, G - 1)."""
    contrasts: Floats = helmert(n_classes).T
    return contrasts


@cache
def _normal_rule(n_classes: int) -> tuple[Floats, Floats]:
    """Return nodes and weights for standard normal contrasts, the same for any order of classes.

    Radii are those of Gauss and Laguerre. Directions are both of two classes, a regular polygon
    for three, and otherwise the corners of a simplex and the middles of its edges, and their
    opposites (Mysovskikh), of degree 5 for up to eight classes and of degree 3 for more.
    """
    q, corners = n_classes - 1, _contrasts(n_classes)
    corners = corners / np.linalg.norm(corners, axis=1, keepdims=True)
    if q == 1:
        directions, shares = corners, np.ones(2)
    elif q == 2:
        angles = 2.0 * np.pi * np.arange(_POLYGON) / _POLYGON
        across = corners[0, ::-1] * [-1.0, 1.0]
        directions = np.outer(np.cos(angles), corners[0]) + np.outer(np.sin(angles), across)
        shares = np.ones(_POLYGON)
    else:
        middles = np.array([a + b for a, b in combinations(corners, 2)])
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        directions = np.vstack([corners, middles, -corners, -middles])
        of_kind = [max(q**2 * (7 - q), 0), 4 * (q - 1) ** 2]
        shares = np.tile(np.repeat(of_kind, [len(corners), len(middles)]), 2)
        directions, shares = directions[shares > 0], shares[shares > 0]
    squares, masses = roots_genlaguerre(max(14 - 2 * q, 5), 0.5 * q - 1.0)
    nodes = np.sqrt(2.0 * squares)[:, np.newaxis, np.newaxis] * directions
    weights = np.outer(masses, shares).ravel()
    return nodes.reshape(-1, q), weights / weights.sum()


def _symmetric_root(matrices: Floats) -> Floats:
    """Return the root that depends on no choice of eigenvectors."""
    values, vectors = np.linalg.eigh(matrices)
    roots = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis]
    product: Floats = (vectors * roots) @ vectors.swapaxes(1, 2)
    return product
