"""Draws of a Markov chain in a model file: thinned where a file would grow too large."""

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.fitted.json_checks import Fault, check_list, check_real, check_whole

# Bytes that the draws of a file may take, and what a number takes in text.
_MOST_BYTES, _BYTES_PER_NUMBER = 5_000_000, 25
# Upper limit for the number of draws, far above any real one.
_MOST_DRAWS = 10**7


def drawn_rows(n_draws: int, numbers_per_draw: int) -> Ints:
    """Return which draws go into a file: all, or as many as fit, evenly spaced.

    >>> drawn_rows(4, 10).tolist(), drawn_rows(10**6, 10**5).tolist()
    ([0, 1, 2, 3], [0, 500000])
    """
    most = max(1, _MOST_BYTES // (_BYTES_PER_NUMBER * max(1, numbers_per_draw)))
    return np.arange(0, n_draws, -(-n_draws // most))


def remarks_on_draws(n_draws: int, numbers_per_draw: int) -> list[str]:
    """Return a sentence where only some of the draws go into a file.

    >>> remarks_on_draws(4, 10), remarks_on_draws(10**6, 10**5)
    ([], ['the model file holds 2 of the 1000000 draws, evenly spaced, to stay below 5 MB.'])
    """
    n_saved = drawn_rows(n_draws, numbers_per_draw).size
    if n_saved == n_draws:
        return []
    return [
        f"the model file holds {n_saved} of the {n_draws} draws, evenly spaced, to stay below "
        f"{_MOST_BYTES / 1e6:g} MB."
    ]


def parse_array(
    entry: object, what: str, shape: tuple[int, ...], low: float = -np.inf, high: float = np.inf
) -> Floats:
    """Return an array of finite numbers of this shape."""
    flat: list[object] = [entry]
    for length in shape:
        flat = [item for part in flat for item in check_list(part, what, length)]
    numbers = [check_real(item, what, low, high) for item in flat]
    return np.array(numbers, dtype=np.float64).reshape(shape)


def parse_n_draws(entry: object, what: str) -> int:
    """Return the number of draws."""
    return check_whole(len(check_list(entry, what)), f"the length of {what}", 1, _MOST_DRAWS)


def check_probabilities(values: NDArray[np.float64], what: str) -> None:
    """Raise where a number is not strictly between 0 and 1."""
    if not np.all((values > 0.0) & (values < 1.0)):
        raise Fault(f"{what} has a number that is no probability above 0 and below 1.")
