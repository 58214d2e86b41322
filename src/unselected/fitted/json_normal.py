"""Normal scores of the kept columns, and the columns of a member, in a model file."""

from typing import Any

import numpy as np

from unselected._typing import Ints
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_list,
    check_real,
    check_reals,
    check_record,
    check_whole,
)
from unselected.statistics.normal_scores import MOST_KNOTS, NormalScores


def normal_entry(normal: NormalScores | None) -> Entries | None:
    """Return the entry of a transform, or None."""
    if normal is None:
        return None
    scores = [tuple(scores.tolist()) for scores in normal.scores]
    distinct = list(dict.fromkeys(scores))
    place = {own: number for number, own in enumerate(distinct)}
    # Columns without ties and missing values have the same scores.
    shared = {"scores_of": [place[own] for own in scores]} if len(distinct) < len(scores) else {}
    return {
        "values": [values.tolist() for values in normal.values],
        "scores": distinct,
        **shared,
        "slopes": normal.slopes,
    }


def parse_columns(entry: object, k: int) -> Ints:
    """Return the columns of a member among k kept ones, which increase."""
    items = check_list(entry, "members columns")
    columns = [check_whole(column, "members columns", 0, k - 1) for column in items]
    if np.any(np.diff(columns) <= 0):
        raise Fault("members columns do not increase.")
    return np.array(columns, dtype=np.intp)


def parse_normal(entry: object, n_real: int) -> NormalScores | None:
    """Return the transform of so many columns, or None."""
    if entry is None:
        return None
    fields = check_record(entry, "normal", ("values", "scores", "slopes"), ("scores_of",))
    slopes = check_reals(fields["slopes"], "normal slopes", n_real, 0.0, 1e300)
    knots = []
    each = check_list(fields["values"], "normal values", n_real)
    for values, scores in zip(each, _scores_of_columns(fields, n_real), strict=True):
        n = check_whole(len(check_list(values, "normal values")), "normal knots", 1, MOST_KNOTS)
        own = check_reals(values, "normal values", n)
        if np.any(np.diff(own) <= 0.0):
            raise Fault("normal values do not increase.")
        knots.append(
            (
                own,
                np.array(
                    [
                        check_real(z, "normal scores", -40, 40)
                        for z in check_list(scores, "normal scores")
                    ]
                ),
            )
        )
        if knots[-1][1].size != n:
            raise Fault("normal has other numbers of values and scores.")
    values, scores = zip(*knots, strict=True) if knots else ((), ())
    return NormalScores(tuple(values), tuple(scores), slopes)


def _scores_of_columns(fields: Entries, n_real: int) -> list[Any]:
    """Return the scores of each column; columns may share theirs."""
    if "scores_of" not in fields:
        return check_list(fields["scores"], "normal scores", n_real)
    distinct = check_list(fields["scores"], "normal scores")
    places = check_list(fields["scores_of"], "normal scores_of", n_real)
    most = len(distinct) - 1
    return [distinct[check_whole(place, "normal scores_of", 0, most)] for place in places]
