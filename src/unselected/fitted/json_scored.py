"""The event of any score of real-valued features in a model file, checked.

Of a score other than correlation and F the file has the name and the table of the omission
probability. Nothing of it is executed, and no function is needed.
"""

from typing import get_args

import numpy as np

from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_array,
    check_choice,
    check_list,
    check_real,
    check_record,
    check_whole,
    check_wholes,
)
from unselected.fitted.json_parts import (
    MOST_CASES,
    MOST_FEATURES,
    check_cut_known,
    check_score,
    parse_real_event,
    real_event_entry,
)
from unselected.omission.table import OmissionTable
from unselected.selection.events import RealEvent
from unselected.selection.scored_event import ScoredEvent
from unselected.statistics.moments import Statistic, ValueStatistic

_OTHERS = (*get_args(ValueStatistic), "custom")
_LEAST_LAM, _LARGEST_LAM = 1e-12, 2e6
_MOST_NODES, _LARGEST_COEFFICIENT = 1024, 1e6


def class_event_entry(event: RealEvent) -> Entries:
    """Return what is known of omitted features that were selected by any score."""
    entry = real_event_entry(event)
    if not isinstance(event, ScoredEvent):
        return entry
    law = {} if event.law is None else {"law": event.law.entries()}
    return entry | {"n_kept_ties": event.n_kept_ties, **law}


def parse_class_event(entry: object, statistic: Statistic, q: int) -> RealEvent:
    """Return what is known of omitted features, by default of correlation or F."""
    told = entry.get("statistic") if isinstance(entry, dict) else None
    if isinstance(told, str) and told in _OTHERS:
        return _parse_scored(entry, check_choice(told, "event statistic", _OTHERS), q)
    return parse_real_event(entry, statistic, q)


def _parse_scored(entry: object, statistic: Statistic, q: int) -> ScoredEvent:
    names = ("cut", "statistic", "lam", "nu", "n_features", "n_kept_ties")
    fields = check_record(entry, "event", names, ("law",))
    lam = check_array(fields["lam"], "event lam", (1, q), _LEAST_LAM, _LARGEST_LAM)
    n_features = check_wholes(fields["n_features"], "event n_features", 2, 0, MOST_FEATURES)
    event = ScoredEvent(
        cut=None if fields["cut"] is None else check_score(fields["cut"], "event cut", statistic),
        statistic=statistic,
        lam=lam,
        nu=check_wholes(fields["nu"], "event nu", 1, 1, MOST_CASES).astype(np.float64),
        n_features=n_features,
        n_kept_ties=check_whole(fields["n_kept_ties"], "event n_kept_ties", 0, MOST_FEATURES),
        law=_parse_law(fields["law"], float(lam.max()), q) if "law" in fields else None,
    )
    check_cut_known(event)
    if (event.cut is None) != (event.law is None):
        raise Fault("event has a cut without a law, or a law without a cut.")
    return event


def _parse_law(entry: object, lam: float, q: int) -> OmissionTable:
    fields = check_record(entry, "event law", ("at_most", "below", "errors"))
    m = len(check_list(fields["at_most"], "event law at_most"))
    check_whole(m, "the length of event law at_most", 1, _MOST_NODES)
    bound = _LARGEST_COEFFICIENT
    coefficients = [
        check_array(fields[name], f"event law {name}", (m,), -bound, bound)
        for name in ("at_most", "below")
    ]
    n_errors = len(check_list(fields["errors"], "event law errors"))
    check_whole(n_errors, "the length of event law errors", 1, _MOST_NODES)
    errors = [check_real(each, "event law errors", 0.0, bound) for each in fields["errors"]]
    return OmissionTable(lam, q, np.stack(coefficients, axis=1), np.array(errors))
