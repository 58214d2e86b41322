"""A description of each kept feature of a fitted model, in plain types."""

from collections.abc import Callable, Sequence
from typing import Any

from unselected.fitted.base import Fitted
from unselected.fitted.predictor import kept_features
from unselected.selection.score_names import LARGEST

Feature = dict[str, Any]


def score_text(score: float, show: Callable[[float], str] = "{:.4f}".format) -> str:
    """Return a score in words; the largest double stands for an infinite one.

    >>> score_text(12.34567), score_text(LARGEST)
    ('12.3457', 'infinite')
    """
    return "infinite" if score >= LARGEST else show(score)


def describe_features(fitted: Fitted, scores: Sequence[float]) -> list[Feature]:
    """Return what is known of each kept feature, the one with the largest score first.

    Parameters
    ----------
    fitted : Fitted
    scores : sequence of float
        Of the kept features.

    Returns
    -------
    features : list of dict
        ``name`` and ``score``, and what the model's ``describe`` returns. For binary features
        ``ones`` and ``cases`` by class, and the ``cut`` above which a value is a one. For classes
        ``means`` and ``cases`` (known values) by class, and the ``deviation`` within classes; where
        these are of normal scores, also the ``centers``, values that have the means as scores. For
        a real response the ``correlation`` with it, the ``slope`` (change of the feature for a
        change of the response by 1), the ``mean``, the ``deviation`` around the line, and
        ``cases``; where these are of normal scores, also the ``centers``, values of the feature at
        the mean response and one standard deviation of it below and above. With two groups of
        features also the ``related_probability``.
    """
    features = [
        {"name": str(name), "score": float(score), **part}
        for name, score, part in zip(
            kept_features(fitted), scores, fitted.describe(scores), strict=True
        )
    ]
    if fitted.related is not None:
        for feature, probability in zip(features, fitted.related.probability, strict=True):
            feature["related_probability"] = float(probability)
    return sorted(features, key=lambda feature: -feature["score"])
