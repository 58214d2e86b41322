"""The laws of the features given a real response and the node, each in its own unit."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from unselected._typing import Bools, Floats
from unselected.models.gaussian_posterior import GaussianPosterior

# Largest absolute value of the log of a product.
_ROOM = 600.0


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

    def spread(self, j: int, f: Floats) -> Floats:
        """Return the factor by which f away from 0 widens the distribution of a feature."""
        return np.asarray(self.one[j] + self.share[j] * f**2)

    def log_density(self, j: int, gap: Floats, f: Floats) -> Floats:
        """Return the log density of one feature without its constant, shape (rows, m, nodes)."""
        f = f - self.y_mean[j]
        spread = self.spread(j, f)
        logs = 0.5 * self.df[j] * np.log(spread)
        logs -= 0.5 * (self.df[j] + 1.0) * np.log(self.factor(j, gap, f, spread))
        return np.asarray(logs)

    def factor(self, j: int, gap: Floats, f: Floats, spread: Floats) -> Floats:
        """Return squares spread + (gap - slope f)^2 of one feature, shape (rows, m, nodes)."""
        factor: Floats = self.slope[j] * f
        np.subtract(gap[:, np.newaxis, np.newaxis], factor, out=factor)
        np.multiply(factor, factor, out=factor)
        factor += self.squares[j] * spread
        return factor


def log_product(
    laws: FeatureLines, gaps: Floats, known: Bools, f: Floats, spread: Floats
) -> Floats:
    """Return the log of the product of the factors, taking one logarithm for many of them."""
    total = np.zeros(spread.shape)
    product = np.ones(spread.shape)
    room = _ROOM
    widest, farthest = float(np.max(spread)), float(np.max(np.abs(f)))
    for j in range(laws.df.size):
        most = np.max(np.abs(gaps[:, j])) + np.max(np.abs(laws.slope[j])) * farthest
        ends = (np.min(laws.squares[j]), np.max(laws.squares[j]) * widest + most**2)
        need = float(np.max(np.abs(np.log(ends))))
        if need > room:
            total += np.log(product)
            product[:], room = 1.0, _ROOM
        factor = laws.factor(j, gaps[:, j], f, spread)
        if not known[:, j].all():
            factor[~known[:, j]] = 1.0
        product *= factor
        room -= need
    return np.asarray(total + np.log(product))
