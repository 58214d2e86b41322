"""Evidence that weak columns are missing: that a table holds what was selected from a larger one.

Columns that were kept because their scores exceed a cut have scores just above it, and none below.
True effects cannot make such an edge. The score of a column is its effect plus noise of variance 1,
so whatever the effects are, the scores are spread at least as the noise is. The edge is therefore
judged against the best explanation that any distribution of effects has.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc, gammaln, ive, logsumexp, xlogy

from unselected._typing import Floats, Ints
from unselected.audit.column_scores import (
    NumericColumns,
    Response,
    column_scores,
    residuals_given,
)

# The part of the noise that columns of a comparison have each for itself. Their correlations given
# the response are no larger than the rest, which they may share. With less noise to share, fewer
# columns can be compared; which is better depends on the table, and both are done.
_OWN_NOISE = (0.5, 0.7)

# Columns that are compared at once, and how often others are drawn.
_MOST_COLUMNS = 300
_N_DRAWS = 3

# Of the histogram of scores.
SCORE_STEP = 0.25

# What may have happened: the cut, the fraction of columns that are related to the response before
# the selection and how strongly, and the fraction of columns that the selection spared.
_CUTS = np.arange(0.2, 8.01, 0.05)
_FRACTIONS = (0.01, 0.1, 0.3, 1.0)
_SPREADS = (1.0, 2.0, 4.0, 8.0, 16.0)
_SPARED = {0.0: 0.8, 0.1: 0.1, 0.3: 0.1}  # with their probabilities
_USUAL_CUT = 3.0
_TINY = 1e-300

# Of the effects that explain the scores without a selection.
_EFFECT_STEP = 0.2
_MOST_STEPS = 300
_CLOSE = 1e-3


@dataclass(frozen=True)
class WeakColumns:
    """Whether weak columns are missing from a table.

    Attributes
    ----------
    n_columns : int
        Columns of the table that have a score.
    n_compared : int
        Columns in a comparison: those that are nearly independent of each other given the response,
        and no more than 300.
    weakest, strongest : float
        Scores, in standard deviations of a column that is unrelated to the response.
    histogram : tuple of int
        Numbers of columns with scores from 0 to 0.25, to 0.5, and so on.
    n_directions : int
        Of an effect: 1 for two classes and for numbers, else one less than the number of classes.
    log_evidence : float
        Logarithm of an e-value: how much better "all columns below a cut are missing" explains the
        scores than any effects do without a selection.
    """

    n_columns: int
    n_compared: int
    weakest: float
    strongest: float
    histogram: tuple[int, ...]
    n_directions: int
    log_evidence: float

    @property
    def p_value(self) -> float:
        """The inverse of the e-value: without a selection P(p_value <= alpha) <= alpha."""
        return float(np.exp(-max(self.log_evidence, 0.0)))


def find_weak_columns(
    table: NumericColumns, response: Response, rng: np.random.Generator
) -> WeakColumns | None:
    """Judge whether the weak columns of a table are missing.

    Parameters
    ----------
    table : NumericColumns
    response : Response
    rng : Generator
        Draws the columns that are compared, and spreads the scores of columns with few values. The
        order of the columns does not matter.

    Returns
    -------
    evidence : WeakColumns or None
        With the mean of the e-values of several draws, which is an e-value. None where no column
        varies.
    """
    exact = column_scores(table, response)
    by_score = np.argsort(exact, kind="stable")[: np.count_nonzero(~np.isnan(exact))]
    if by_score.size == 0:
        return None
    logs, sizes = [], []
    for own_noise in _OWN_NOISE * _N_DRAWS:
        drawn = rng.permutation(by_score)[:_MOST_COLUMNS]
        residuals = residuals_given(table, response, drawn)
        drawn = drawn[_nearly_independent(residuals, 1.0 - own_noise)]
        scores = column_scores(table.at(drawn), response, rng)
        logs.append(log_e_value(scores, response.n_directions, own_noise))
        sizes.append(drawn.size)
    return WeakColumns(
        n_columns=by_score.size,
        n_compared=max(sizes),
        weakest=float(exact[by_score[0]]),
        strongest=float(exact[by_score[-1]]),
        histogram=tuple(np.bincount((exact[by_score] / SCORE_STEP).astype(np.int64)).tolist()),
        n_directions=response.n_directions,
        log_evidence=float(logsumexp(logs) - np.log(len(logs))),
    )


def _nearly_independent(residuals: Floats, most_correlated: float) -> Ints:
    """Return the columns that are not too close to an earlier one, given the response."""
    correlation = np.abs(residuals.T @ residuals)
    kept: list[int] = []
    for column in range(correlation.shape[0]):
        if not kept or correlation[column, kept].max() <= most_correlated:
            kept.append(column)
    return np.array(kept, dtype=np.int64)


def log_e_value(scores: Floats, n_directions: int, own_noise: float = 1.0) -> float:
    """Return the log likelihood ratio of a selection to the best explanation without one.

    The numerator is one density, an average over what may have happened. The denominator is the
    largest likelihood over all distributions of effects. The ratio therefore has a mean of at most
    1 where there was no selection, whatever the effects are (universal inference; Wasserman, Ramdas
    and Balakrishnan, 2020).

    Parameters
    ----------
    scores : array of shape (n_columns,)
        Of columns that are nearly independent given the response.
    n_directions : int
    own_noise : float, default=1.0
        The part of the variance of the noise that columns do not share.

    Returns
    -------
    log_e : float

    Examples
    --------
    The 30 strongest of 600 columns of noise, and 30 that are all related to the response:

    >>> rng = np.random.default_rng(0)
    >>> noise = np.sort(np.abs(rng.normal(size=600)))
    >>> log_e_value(noise[-30:], 1) > 5, log_e_value(np.abs(rng.normal(5, 1, size=30)), 1) < 0
    (True, True)
    """
    scores = np.maximum(scores, 1e-6)
    without = log_likelihood_unselected(scores, n_directions, own_noise)
    return log_likelihood_selected(scores, n_directions) - without


def log_likelihood_selected(scores: Floats, n_directions: int) -> float:
    """Return the log likelihood of the scores, averaged over cuts, populations and exceptions."""
    n_above = (scores[:, None] >= _CUTS).sum(axis=0)
    prior = np.exp(-0.5 * (_CUTS / _USUAL_CUT) ** 2)
    populations = [(0.0, 1.0)]
    populations += [(f, float(np.hypot(1.0, s))) for f in _FRACTIONS for s in _SPREADS]
    logs = [
        _log_likelihood_by_cut(scores, n_above, fraction, scale, n_directions)
        for fraction, scale in populations
    ]
    return float(logsumexp(np.array(logs), b=prior / prior.sum()) - np.log(len(populations)))


def _log_likelihood_by_cut(
    scores: Floats, n_above: Ints, fraction: float, scale: float, n_directions: int
) -> Floats:
    """Return the log likelihood for each cut, in one population of columns.

    A fraction of the columns is related to the response, with normal effects; ``scale`` is the
    standard deviation of their scores. A column above the cut is as much more probable than before
    the selection as others are missing; one below it was spared.
    """
    density = (1.0 - fraction) * _chi(scores, 1.0, n_directions)
    density += fraction * _chi(scores, scale, n_directions)
    kept = (1.0 - fraction) * _chi_tail(1.0, n_directions)
    kept += fraction * _chi_tail(scale, n_directions)
    n_below = scores.size - n_above
    ratios = [
        n_above * np.log((1.0 - spared) / np.maximum(kept, _TINY) + spared)
        + xlogy(n_below, spared)
        + np.log(probability)
        for spared, probability in _SPARED.items()
    ]
    return np.asarray(np.log(np.maximum(density, _TINY)).sum() + logsumexp(ratios, axis=0))


def _chi(scores: Floats, scale: float, n_directions: int) -> Floats:
    """Return the density of the length of a normal vector."""
    x = scores / scale
    log_density = (n_directions - 1) * np.log(x) - 0.5 * x**2 - np.log(scale)
    constant = (1.0 - n_directions / 2.0) * np.log(2.0) - gammaln(n_directions / 2.0)
    return np.asarray(np.exp(log_density + constant))


def _chi_tail(scale: float, n_directions: int) -> Floats:
    """Return the probability that the length of a normal vector is above each cut."""
    return np.asarray(gammaincc(n_directions / 2.0, 0.5 * (_CUTS / scale) ** 2))


def log_likelihood_unselected(scores: Floats, n_directions: int, own_noise: float) -> float:
    """Return a bound on the log likelihood of the scores under any distribution of effects.

    The distribution is found by EM on a grid (Kiefer and Wolfowitz, 1956). With D the mean over
    columns of the ratio of the densities at one effect and at all, no distribution on the grid
    has a log likelihood larger by more than n_columns log max D.
    """
    noise = float(np.sqrt(own_noise))
    n_effects = max(50, int(scores.max() / (_EFFECT_STEP * noise)) + 1)
    effects = np.linspace(0.0, scores.max(), n_effects)
    density = _noncentral_chi(scores[:, None] / noise, effects / noise, n_directions) / noise
    weights = np.full(n_effects, 1.0 / n_effects)
    for _ in range(_MOST_STEPS):
        total = density @ weights
        gain = (density / total[:, None]).mean(axis=0)
        if gain.max() < 1.0 + _CLOSE:
            break
        weights = weights * gain
    return float(np.log(total).sum() + scores.size * np.log(gain.max()))


def _noncentral_chi(x: Floats, effect: Floats, n_directions: int) -> Floats:
    """Return the density of the length of a vector with normal noise, given that of its mean."""
    effect = np.maximum(effect, 1e-6)
    order = n_directions / 2.0 - 1.0
    bessel = np.log(ive(order, x * effect))
    log_density = np.log(x) + order * np.log(x / effect) - 0.5 * (x - effect) ** 2 + bessel
    return np.asarray(np.exp(log_density))
