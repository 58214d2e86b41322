"""The choice of the number of latent factors, by cross-validation."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from unselected._typing import Floats
from unselected.estimators.class_fitting import dealt
from unselected.estimators.inputs import TrainingTable

# Folds of the training cases by which numbers of factors are compared.
N_FACTOR_FOLDS = 5


class FactorScore(NamedTuple):
    """The cross-validated score of a number of factors. Selection is repeated in each fold.

    Attributes
    ----------
    n_factors : int
    log_score : float
        Mean log predictive probability, or density, of the responses. Larger is better.
    standard_error : float
        Standard error of that mean.
    r_hat : float
        The largest R-hat of all chains, see `Diagnostics`.
    """

    n_factors: int
    log_score: float
    standard_error: float
    r_hat: float


def factor_path(
    estimator: BaseEstimator,
    table: TrainingTable,
    candidates: list[int],
    *,
    draw_seeds: Callable[[], NDArray[np.int64]],
    log_scores: Callable[[Any, Any, Any], Floats],
) -> list[FactorScore]:
    """Return the cross-validated score of each number of factors.

    Parameters
    ----------
    estimator : SelectiveFactorClassifier or SelectiveFactorRegressor
        Cloned for each fit.
    table : TrainingTable
    candidates : list of int
        Numbers of factors.
    draw_seeds : callable
        Returns seeds, once for each number of factors.
    log_scores : callable
        Called with a fitted estimator, X and y: returns the log predictive probability, or density,
        of each response.
    """
    X, is_real = table.dense, not table.classes.size
    labels = table.y if is_real else table.classes[table.y]
    fold_of = dealt(np.zeros(table.y.size, dtype=np.intp) if is_real else table.y, N_FACTOR_FOLDS)

    def score(q: int) -> FactorScore:
        model = clone(estimator).set_params(n_factors=q, progress=False)
        seeds, scores, r_hats = draw_seeds(), np.empty(len(X)), []
        for fold in np.unique(fold_of):
            out = fold_of == fold
            seed = int(np.random.default_rng([*seeds, q, fold]).integers(2**31))
            inner = clone(model).set_params(random_state=seed)
            with warnings.catch_warnings():
                # The path shows R-hat, and the fit to all cases gives the other warnings.
                warnings.simplefilter("ignore", UserWarning)
                inner.fit(X[~out], labels[~out])
            scores[out] = log_scores(inner, X[out], labels[out])
            r_hats.append(np.nan_to_num(inner.diagnostics_.r_hat, nan=1.0).max())
        error = float(np.std(scores) / np.sqrt(scores.size))
        return FactorScore(q, float(np.mean(scores)), error, float(np.max(r_hats)))

    return [score(q) for q in candidates]
