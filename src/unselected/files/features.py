"""What a model says of each kept feature, in plain types, for people and programs to read."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unselected.files.codecs import Kept
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, KeptRegression

Feature = dict[str, Any]


def describe_features(kept: Kept, scores: Sequence[float]) -> list[Feature]:
    """Return what is known of each kept feature, the one with the largest score first.

    Parameters
    ----------
    kept : KeptBernoulli, KeptGaussian or KeptRegression
    scores : sequence of float
        Of the kept features.

    Returns
    -------
    features : list of dict
        ``name`` and ``score``. For binary features ``ones`` and ``cases`` by class, and the ``cut``
        above which a value is a one. For classes ``means`` and ``cases`` (known values) by
        class, and the ``deviation`` within classes. For a real response the ``correlation`` with
        it, the ``slope`` (change of the feature for a change of the response by 1), the ``mean``,
        the ``deviation`` around the line, and ``cases``. With two groups of features also the
        ``related_probability``.
    """
    names = range(kept.n_columns) if kept.names is None else kept.names
    parts: Iterator[Feature]
    if isinstance(kept, KeptBernoulli):
        parts = _counted(kept)
    elif isinstance(kept, KeptGaussian):
        parts = _by_class(kept)
    else:
        parts = _along_line(kept, scores)
    features = [
        {"name": str(name), "score": float(score), **part}
        for name, score, part in zip(names, scores, parts, strict=True)
    ]
    if kept.related is not None:
        for feature, probability in zip(features, kept.related.probability, strict=True):
            feature["related_probability"] = float(probability)
    return sorted(features, key=lambda feature: -feature["score"])


def _counted(kept: KeptBernoulli) -> Iterator[Feature]:
    counts = kept.counts
    for I0, I1, cut in zip(counts.I0, counts.I1, kept.thresholds, strict=True):
        yield {"ones": [int(I0), int(I1)], "cases": [counts.n0, counts.n1], "cut": float(cut)}


def _by_class(kept: KeptGaussian) -> Iterator[Feature]:
    moments = kept.moments
    means = moments.center + moments.offset
    n = np.broadcast_to(moments.n, means.shape)
    deviation = np.sqrt(moments.within / (n.sum(axis=0) - len(n)))
    for column in range(moments.size):
        yield {
            "means": means[:, column].tolist(),
            "cases": n[:, column].tolist(),
            "deviation": float(deviation[column]),
        }


def _along_line(kept: KeptRegression, scores: Sequence[float]) -> Iterator[Feature]:
    moments = kept.moments
    columns = zip(
        np.sign(moments.sxy) * scores,
        moments.sxy / moments.syy,
        moments.center + moments.offset,
        np.sqrt(moments.within / (moments.n - 2)),
        moments.n,
        strict=True,
    )
    for correlation, slope, mean, deviation, n in columns:
        yield {
            "correlation": float(correlation),
            "slope": float(slope),
            "mean": float(mean),
            "deviation": float(deviation),
            "cases": int(n),
        }
