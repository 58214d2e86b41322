"""Genotypes by enumeration of every column that there could have been, to judge the library by.

Nothing is shared with the library. A column is a tuple of 0, 1 and 2, one for each known case. Its
probability is that of its alleles in order, twice as much for each case with two different ones.
Scores come from the alleles of the cases. What a new case is comes from columns with one case more,
and not from moments. Alpha has a dense grid, theta a Gauss rule with more nodes than necessary.
"""

from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import numpy as np
from count_oracle import THETA, THETA_WEIGHTS, grid, sum_of_squares
from scipy.special import gammaln


def columns(n):
    return list(product((0, 1, 2), repeat=n))


def alleles(column, classes):
    """Each allele as 0 or 1, by class."""
    each = {g: [] for g in sorted(set(classes))}
    for copies, g in zip(column, classes, strict=True):
        each[g] += {0: [0, 0], 1: [0, 1], 2: [1, 1]}[copies]
    return list(each.values())


@cache
def score(column, classes):
    """R^2 of the alleles, as a fraction: the square of the correlation with two classes."""
    by_class = alleles(column, classes)
    total = sum_of_squares([allele for of_class in by_class for allele in of_class])
    return 1 - sum(map(sum_of_squares, by_class)) / total if total else Fraction(0)


@cache
def chance(column, classes, u):
    """P(column | alpha = 1 / u)."""
    terms = THETA_WEIGHTS * 2.0 ** column.count(1)
    for of_class in alleles(column, classes):
        terms = terms * prod(THETA + j * u for j in range(sum(of_class)))
        terms = terms * prod(1.0 - THETA + j * u for j in range(len(of_class) - sum(of_class)))
        terms = terms / prod(1.0 + j * u for j in range(len(of_class)))
    return terms.sum()


@cache
def chance_given(column, classes, rates, u):
    """P(column), given its total where ``rates`` is "given"."""
    P = chance(column, classes, u)
    if rates == "uniform":
        return P
    alike = [other for other in columns(len(column)) if sum(other) == sum(column)]
    return P / sum(chance(other, classes, u) for other in alike)


@cache
def fate(classes, total, is_omitted, rates, u):
    """P(is_omitted(score)) of a column, of one with this total where totals are given."""
    every = [c for c in columns(len(classes)) if rates == "uniform" or sum(c) == total]
    weights = np.array([chance(c, classes, u) for c in every])
    omitted = np.array([is_omitted(score(c, classes)) for c in every])
    return float(weights[omitted].sum() / weights.sum())


def predictive(column, classes, g, rates, u, fraction):
    """P(0, 1, 2 | class g, column), of two groups together."""
    groups = ((fraction, u), (1.0 - fraction, 0.0))
    own = [weight * chance_given(column, classes, rates, each) for weight, each in groups]
    found = np.zeros(3)
    for weight, (_, each) in zip(own, groups, strict=True):
        longer = [chance((*column, x), (*classes, g), each) for x in range(3)]
        found += weight * np.array(longer) / chance(column, classes, each)
    return found / sum(own)


def condition(kept, event, rows, y, rates="uniform", least_fraction=None, prior=(0.5, 5.0)):
    """Return P(y, kept columns, event) and P(y*, x* | these), one row per new case.

    Parameters
    ----------
    kept : list of (column, classes of its known cases)
    event : callable
        P(event) as a function of ``fate(classes, total, is_omitted)``, which mixes the groups.
    rows : array of shape (cases, kept), with NaN
    y : tuple of int
        The classes of the cases, with pseudocounts of 1.
    """
    sizes = np.bincount(y)
    G, n = sizes.size, sizes.sum()
    evidence, joint = 0.0, np.zeros((len(rows), G))
    for u, fraction, mass in grid(*prior, least_fraction):

        def mixed(function, u=u, fraction=fraction):
            return fraction * function(u) + (1.0 - fraction) * function(0.0)

        value = mass * event(
            lambda *of, mixed=mixed: mixed(lambda each: fate(*of, rates, each)),
        )
        likelihood = np.ones((len(rows), G))
        for j, (column, classes) in enumerate(kept):
            value *= mixed(lambda each, of=(column, classes): chance_given(*of, rates, each))
            for g in range(G):
                P = predictive(column, classes, g, rates, u, fraction)
                known = ~np.isnan(rows[:, j])
                likelihood[known, g] *= P[rows[known, j].astype(int)]
        evidence += value
        joint += value * likelihood
    classes = np.exp(gammaln(sizes + 1.0).sum() + gammaln(G) - gammaln(n + G))
    return evidence * classes, (sizes + 1.0) / (n + G) * joint / evidence
