"""Points of binary features: a card that is added up by hand."""

from typing import Any, NamedTuple

import numpy as np

from unselected._typing import Floats
from unselected.files.models import SavedModel
from unselected.fitted.predictor import kept_features

# Decimals of points, which are added by hand.
_DECIMALS = 4
# Random cases that a card is compared on with its model.
_N_COMPARED = 1000


class ScoreCard(NamedTuple):
    """What each value of each feature adds to the log odds.

    Attributes
    ----------
    header : list of str
    rows : list of list
        First the log odds before any feature is known, then the features.
    difference : float
        The largest difference between probabilities of the card and of the model, over random
        cases: the model averages over its posterior, and a card cannot.
    """

    header: list[str]
    rows: list[list[Any]]
    difference: float


def score_card(saved: SavedModel) -> ScoreCard:
    """Return the card of a model of binary features whose likelihood has power 1.

    Raises
    ------
    ValueError
        Where points do not add up: other features, covariates, or a guard against dependence.
    """
    if saved.kind != "bernoulli":
        raise ValueError(
            f"a model of the kind {saved.kind!r} has no score card: its features do not add points "
            "of their own. Fit a model of binary features, --model bernoulli, or predict with the "
            "model file."
        )
    if saved.average.is_learned:
        raise ValueError(
            "the model has no score card: its guard against dependence averages over powers of the "
            "likelihood, so that points do not add up. Fit it with --dependence none, or export a "
            "page."
        )
    predictor: Any = saved.predictor
    fitted, classes = predictor.fitted, [str(label) for label in predictor.classes]
    k = fitted.n_columns
    zeros, ones = (_odds(fitted.log_by_feature(np.full((1, k), bit))[0]) for bit in (0, 1))
    prior = _odds(fitted.log_psi[np.newaxis])
    shown = [classes[1]] if len(classes) == 2 else classes
    names = [str(name) for name in kept_features(fitted)]
    header = ["feature", "one_above"]
    header += [f"points_for_{label}_if_{bit}" for bit in (0, 1) for label in shown]
    blank = [None] * len(shown)
    rows = [["(start)", None, *prior[0].tolist(), *blank]]
    for name, cut, *points in zip(names, fitted.thresholds.tolist(), zeros, ones, strict=True):
        rows.append([name, cut, *np.concatenate(points).tolist()])
    return ScoreCard(header, rows, _difference(predictor, prior, zeros, ones))


def _odds(logs: Floats) -> Floats:
    """Return points: log odds of the second of two classes, or of each from the geometric mean."""
    from_what = logs[..., :1] if logs.shape[-1] == 2 else logs.mean(axis=-1, keepdims=True)
    points = logs[..., 1:] - from_what if logs.shape[-1] == 2 else logs - from_what
    return np.asarray(np.round(points, _DECIMALS) + 0.0)  # not -0.0


def _difference(predictor: Any, prior: Floats, zeros: Floats, ones: Floats) -> float:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, size=(_N_COMPARED, len(zeros)))
    log_odds = prior + bits @ ones + (1 - bits) @ zeros
    if log_odds.shape[1] == 1:
        log_odds = np.hstack([np.zeros_like(log_odds), log_odds])
    card = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    card /= card.sum(axis=1, keepdims=True)
    model = np.exp(
        predictor.average.log_proba(
            predictor.log_evidence(bits.astype(bool)), predictor.fitted.log_psi
        )
    )
    return float(np.max(np.abs(card - model)))
