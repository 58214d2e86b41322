"""The laws of the features given a real response and the node, each in its own unit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from unselected._typing import Bools, Floats
from unselected.models.gaussian_posterior import GaussianPosterior

# Values are clipped to this, in standard deviations of a feature.
_LARGEST = 1e8
# Largest absolute value of the log of a product.
_ROOM = 600.0
# Elements of a table over rows, features, nodes and points that are processed at a time.
_BLOCK = 1 << 18
# Factors are computed as polynomials at this many points or more, where that loses less than such a
# part of their digits.
_FEWEST_POINTS, _MOST_LOST = 8, 1e6


@dataclass(frozen=True)
class FeatureLines:
    """The distributions of the features given y and the node, each in its own unit.

    With f the response in its unit, minus ``y_mean``, a feature's density is proportional to
    (squares spread)^(df / 2) (squares spread + (gap - slope f)^2)^(-(df + 1) / 2).
    """

    mean: Floats  # (k,)
    unit: Floats  # (k,)
    df: Floats  # (k,)
    y_mean: Floats  # (k,), in the unit of the response
    one: Floats  # (k,), 1 + 1 / n
    share: Floats  # (k, nodes)
    squares: Floats  # (k, nodes)
    slope: Floats  # (k, nodes)
    constant: Floats  # (k, nodes)
    alike: bool

    @classmethod
    def of(cls, posterior: GaussianPosterior) -> "FeatureLines":
        """Return the lines of the features given a posterior."""
        c, u = posterior.contrasts.take(posterior.contrasts.varying), np.exp(-posterior.log_alpha)
        drawn = posterior.shrinkage * np.exp(posterior.log_variance)
        squares = (c.squares(u) + drawn[:, np.newaxis]).T
        unit = np.sqrt(squares[:, 0])
        squares = squares / unit[:, np.newaxis] ** 2
        lam = np.broadcast_to(c.lam, c.beta.shape)
        share = u / (1.0 + lam * u)
        df = c.df + posterior.shrinkage
        constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - np.log(np.sqrt(np.pi) * unit)
        return cls(
            mean=c.mean,
            unit=unit,
            df=df,
            y_mean=np.broadcast_to(c.code_mean[:, 0], c.n.shape),
            one=1.0 + c.leverage,
            share=share,
            squares=squares,
            slope=share * np.sqrt(lam) * c.beta / unit[:, np.newaxis],
            constant=constant[:, np.newaxis] + 0.5 * df[:, np.newaxis] * np.log(squares),
            alike=df.size > 0 and bool(np.all(c.n == c.n[0]) and np.all(c.lam == c.lam[0])),
        )

    def gaps(self, X: Floats) -> tuple[Floats, Bools]:
        """Return how far values are from their features' means, in units, and which are known."""
        with np.errstate(over="ignore"):
            gaps = np.clip((X - self.mean) / self.unit, -_LARGEST, _LARGEST)
        known = ~np.isnan(X)
        gaps[~known] = 0.0
        return gaps, known

    def spread(self, j: int, f: Floats) -> Floats:
        """Return the factor by which f away from 0 widens the distribution of a feature."""
        return np.asarray(self.one[j] + self.share[j] * f**2)

    def log_densities(self, gaps: Floats, f: Floats) -> Iterator[Floats]:
        """Yield the log density of each feature without its constant, shape (rows, m, nodes).

        ``gaps`` is of (rows, k), and ``f``, of (rows, m, 1), the response in its unit.
        """
        for j in range(self.df.size):
            if j == 0 or not self.alike:
                moved = f - self.y_mean[j]
                spread = self.spread(j, moved)
                widening = 0.5 * self.df[j] * np.log(spread)
            logs = np.log(self.factor(j, gaps[:, j], moved, spread))
            logs *= -0.5 * (self.df[j] + 1.0)
            logs += widening
            yield logs

    def flat_log_densities(self, gaps: Floats, known: Bools, f: Floats) -> Iterator[Floats]:
        """Yield the log density of each feature, 0 where it is missing, shape (rows * m, nodes).

        ``gaps`` and ``known`` are of (rows, k), and ``f``, of (rows, m), the response in its unit.
        The values of a node lie next to each other, which is what products over nodes need.
        """
        each, m = f.ravel(), f.shape[1]
        for j in range(self.df.size):
            if j == 0 or not self.alike:
                moved = each - self.y_mean[j]
                spread = self.one[j] + np.multiply.outer(self.share[j], moved**2)
                widening = 0.5 * self.df[j] * np.log(spread)
            logs = np.multiply.outer(self.slope[j], moved)
            np.subtract(np.repeat(gaps[:, j], m), logs, out=logs)
            np.multiply(logs, logs, out=logs)
            logs += self.squares[j][:, np.newaxis] * spread
            np.log(logs, out=logs)
            logs *= -0.5 * (self.df[j] + 1.0)
            logs += widening
            logs += self.constant[j][:, np.newaxis]
            if not known[:, j].all():
                logs[:, np.repeat(~known[:, j], m)] = 0.0
            yield logs.T

    def factor(self, j: int, gap: Floats, f: Floats, spread: Floats) -> Floats:
        """Return squares spread + (gap - slope f)^2 of one feature, shape (rows, m, nodes)."""
        factor: Floats = self.slope[j] * f
        np.subtract(gap[:, np.newaxis, np.newaxis], factor, out=factor)
        np.multiply(factor, factor, out=factor)
        factor += self.squares[j] * spread
        return factor


def log_product(laws: FeatureLines, gaps: Floats, known: Bools, f: Floats) -> Floats:
    """Return the log of the product of the features' factors, shape (rows, m, nodes).

    Parameters
    ----------
    laws : FeatureLines
        Of features that are alike.
    gaps, known : arrays of shape (rows, k)
    f : array of shape (rows, m)
        Responses in their unit, minus ``y_mean``.
    """
    result = np.zeros((*f.shape, laws.slope.shape[1]))
    if not result.size:
        return result
    factors = _from_quadratics if _is_quadratic_enough(laws, f) else _as_they_are
    together = _factors_together(laws, gaps, f)
    rows = max(1, _BLOCK // (result[0].size * min(together, len(laws.df))))
    for start in range(0, len(f), rows):
        block = slice(start, start + rows)
        step = min(together, max(1, _BLOCK // result[block].size))
        for first in range(0, len(laws.df), step):
            some = slice(first, first + step)
            each = factors(laws, gaps[block, some], f[block], some)
            if not known[block, some].all():
                each[~known[block, some]] = 1.0
            result[block] += np.log(np.multiply.reduce(each, axis=1))
    return result


def _factors_together(laws: FeatureLines, gaps: Floats, f: Floats) -> int:
    """Return the number of factors whose product neither overflows nor underflows."""
    farthest = float(np.max(np.abs(f)))
    most = np.max(np.abs(gaps)) + np.max(np.abs(laws.slope)) * farthest
    widest = np.max(laws.one) + np.max(laws.share) * farthest**2
    ends = (np.min(laws.squares), np.max(laws.squares) * widest + most**2)
    return max(1, int(_ROOM / max(1.0, float(np.max(np.abs(np.log(ends)))))))


def _as_they_are(laws: FeatureLines, gaps: Floats, f: Floats, some: slice) -> Floats:
    """Return the factors of some features, shape (rows, features, m, nodes)."""
    f = f[:, np.newaxis, :, np.newaxis]
    result: Floats = laws.slope[some, np.newaxis] * f
    np.subtract(gaps[:, :, np.newaxis, np.newaxis], result, out=result)
    np.multiply(result, result, out=result)
    result += laws.squares[some, np.newaxis] * laws.spread(0, f)
    return result


def _is_quadratic_enough(laws: FeatureLines, f: Floats) -> bool:
    """Say whether factors are to be computed from their coefficients as polynomials in f.

    That is faster at many points, and loses digits where the quadratic term is large.
    """
    reach = float(np.max(np.abs(laws.slope))) * float(np.max(np.ptp(f, axis=1)))
    return f.shape[1] >= _FEWEST_POINTS and reach**2 < _MOST_LOST * float(np.min(laws.squares))


def _from_quadratics(laws: FeatureLines, gaps: Floats, f: Floats, some: slice) -> Floats:
    """Return the same by products of matrices."""
    slope, squares, share = laws.slope[some], laws.squares[some], laws.share[0]
    middle = 0.5 * (np.min(f, axis=1) + np.max(f, axis=1))[:, np.newaxis]
    powers = np.stack([(f - middle) ** i for i in range(3)], axis=1)
    center = middle[:, np.newaxis]
    left = gaps[:, :, np.newaxis] - slope * center
    quadratics = np.empty((len(f), 3, *left.shape[1:]))
    quadratics[:, 0] = squares * laws.spread(0, center) + left**2
    quadratics[:, 1] = 2.0 * (squares * (share * center) - left * slope)
    quadratics[:, 2] = squares * share + slope**2
    values = np.matmul(np.swapaxes(quadratics.reshape(len(f), 3, -1), 1, 2), powers)
    return np.swapaxes(values.reshape(*left.shape, f.shape[1]), 2, 3)
