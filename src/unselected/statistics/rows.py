"""The kept columns themselves, case by case: the statistics of models with latent variables."""

from typing import Any, NamedTuple

from numpy.typing import NDArray


class KeptRows(NamedTuple):
    """The kept columns of the training cases, and their responses.

    Attributes
    ----------
    values : array of shape (n, k)
        Bits, or numbers.
    y : array of shape (n,)
        Numbers of classes, 0 and 1, or a real response.
    """

    values: NDArray[Any]
    y: NDArray[Any]
