"""Simulated data of the paper."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unselected.models.bernoulli import BernoulliModel


class PaperSimulation(NamedTuple):
    """Training and test cases drawn from the paper's model, and their true parameters."""

    X_train: NDArray[np.uint8]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.int64]
    parameters: dict[str, Any]


def make_paper_simulation(
    n_train: int = 200,
    n_test: int = 2000,
    n_features: int = 10_000,
    *,
    concentration: float = 300.0,
    random_state: int | np.random.Generator | None = None,
) -> PaperSimulation:
    """Simulate data as in section 4 of the paper: binary features, weakly related to two classes.

    Parameters
    ----------
    n_train, n_test : int
        Numbers of training and test cases; half of each, rounded up, are in class 1.
    n_features : int
    concentration : float
        How alike the distributions of a feature are in the two classes (alpha in the paper).
    random_state : int, Generator or None

    Returns
    -------
    data : PaperSimulation

    Examples
    --------
    >>> data = make_paper_simulation(6, 4, 3, random_state=0)
    >>> data.X_train.shape, data.y_train.tolist(), data.y_test.tolist()
    ((6, 3), [0, 0, 0, 1, 1, 1], [0, 0, 1, 1])
    """
    classes = [np.arange(n) >= n // 2 for n in (n_train, n_test)]
    X, y, parameters = BernoulliModel().simulate(
        n_train + n_test,
        n_features,
        np.random.default_rng(random_state),
        alpha=concentration,
        y=np.concatenate(classes),
    )
    return PaperSimulation(X[:n_train], y[:n_train], X[n_train:], y[n_train:], parameters)
