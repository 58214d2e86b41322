"""Products over features of 1 - pi + pi ratio, for nodes of alpha and pi.

The ratios of a feature depend on alpha alone. The product of some factors is a polynomial in pi and
1 - pi, whose coefficients are the elementary symmetric polynomials of their ratios. They are
computed once for each alpha, and a product of matrices gives the values for all pi. All terms are
positive, so that no digits are lost.
"""

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats

# Factors that are multiplied as polynomials.
TOGETHER = 8


class MixedProducts:
    """The logs of such products, feature by feature.

    Parameters
    ----------
    fraction, rest : arrays of shape (nodes,)
        pi and 1 - pi. Nodes with the same alpha are adjacent.
    alpha_of : array of shape (nodes,)
    n_rows : int
        For each of which there is a product at each node.
    room : float
        Largest absolute value of the log of a product.
    """

    def __init__(
        self,
        fraction: Floats,
        rest: Floats,
        alpha_of: NDArray[np.intp],
        n_rows: int,
        room: float,
    ) -> None:
        sizes = np.bincount(alpha_of)
        self._places = alpha_of, np.arange(alpha_of.size) - (np.cumsum(sizes) - sizes)[alpha_of]
        shape = (sizes.size, int(np.max(sizes, initial=1)))
        # In places without a node the factors are 1.
        self._fraction, self._rest = np.zeros(shape), np.ones(shape)
        self._fraction[self._places], self._rest[self._places] = fraction, rest
        self._total = np.zeros((shape[0], n_rows, shape[1]))
        self._product = np.ones(self._total.shape)
        self._most_room = self._room = room
        self._waiting: list[Floats] = []
        self._need = 0.0

    def multiply(self, log_ratio: Floats, need: float) -> None:
        """Multiply by the factors of one feature.

        Parameters
        ----------
        log_ratio : array of shape (rows, alphas)
        need : float
            The largest absolute value of them, at most the room divided by `TOGETHER`.
        """
        self._waiting.append(np.exp(log_ratio.T))
        self._need += need
        if len(self._waiting) == TOGETHER:
            self._multiply_waiting()

    def logs(self) -> Floats:
        """Return the logs of the products, shape (rows, nodes)."""
        if self._waiting:
            self._multiply_waiting()
        total = self._total + np.log(self._product)
        alphas, places = self._places
        return np.ascontiguousarray(total[alphas, :, places].T)

    def _multiply_waiting(self) -> None:
        degree = len(self._waiting)
        symmetric = np.empty((len(self._fraction), degree + 1, self._total.shape[1]))
        symmetric[:, 0] = 1.0
        symmetric[:, 1:] = 0.0
        for known, ratio in enumerate(self._waiting):
            for size in range(known + 1, 0, -1):
                symmetric[:, size] += ratio * symmetric[:, size - 1]
        powers = np.arange(degree + 1)[:, np.newaxis]
        weights = self._fraction[:, np.newaxis] ** powers
        weights *= self._rest[:, np.newaxis] ** (degree - powers)
        if self._need > self._room:
            self._total += np.log(self._product)
            self._product[:], self._room = 1.0, self._most_room
        self._product *= np.matmul(np.swapaxes(symmetric, 1, 2), weights)
        self._room -= self._need
        self._waiting, self._need = [], 0.0


def expanded(ratios: Floats) -> Floats:
    """Return the coefficients of the products over the first axis of 1 + ratio x, but the first.

    >>> expanded(np.array([3.0, 5.0])).tolist()  # (1 + 3 x) (1 + 5 x)
    [8.0, 15.0]
    """
    polynomials = list(ratios[:, np.newaxis])
    while len(polynomials) > 1:
        pairs = zip(polynomials[::2], polynomials[1::2], strict=False)
        last = polynomials[len(polynomials) // 2 * 2 :]
        polynomials = [*(_multiplied(*pair) for pair in pairs), *last]
    return np.asarray(polynomials[0])


def _multiplied(left: Floats, right: Floats) -> Floats:
    """Return the product of two polynomials, without their first coefficients, which are 1."""
    result = np.zeros((len(left) + len(right), *left.shape[1:]))
    result[: len(left)] = left
    result[: len(right)] += right
    for i, one in enumerate(left):
        result[i + 1 : i + 1 + len(right)] += one * right
    return result
