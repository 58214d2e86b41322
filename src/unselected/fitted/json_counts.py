"""The parts of model files of binary features: counts, events and priors; each is checked."""

import re
from fractions import Fraction
from typing import get_args

import numpy as np

from unselected._typing import Ints
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_choice,
    check_list,
    check_record,
    check_whole,
    check_wholes,
    show,
)
from unselected.fitted.json_parts import (
    MOST_CASES,
    MOST_FEATURES,
    check_cut_known,
    parse_all_related,
    parse_coarse,
    parse_least_fraction,
    parse_prior,
    parse_refinement,
    priors_entry,
)
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.correlation import threshold_cut
from unselected.selection.count_score_kinds import score_called
from unselected.selection.events import Event, OmittedKinds
from unselected.statistics.counts import ClassCounts
from unselected.statistics.moments import CountStatistic, Statistic
from unselected.statistics.tally import ANY_TOTAL

# A cut on R^2 is a ratio of such numbers: those of the smallest threshold have 650 digits. P-values
# of Fisher's exact test have up to 1300.
_DIGITS = re.compile(r"-?[0-9]{1,2000}")
# Scores whose cuts are from 0 to 1: R^2, Yule's Q and differences of rates.
_UP_TO_ONE = ("|COR|", "F", "odds_ratio", "rate_difference")
_NUMBERS = ("n_below", "n_at_most", "n_lottery", "n_kept_ties")
_OF_KINDS = ("n_below", "n_at_cut", "n_at_most")
_MOST_CLASSES, _MOST_KINDS = 1000, 10**6


def counts_entry(counts: ClassCounts) -> Entries:
    """Return the counts; those of two classes without missing values by their names."""
    if counts.sizes.size == 2 and counts.known is None:
        return {"I0": counts.I0, "I1": counts.I1, "n0": counts.n0, "n1": counts.n1}
    known = {} if counts.known is None else {"known": list(counts.known)}
    return {"sizes": counts.sizes, "ones": list(counts.ones), **known}


def parse_counts(entry: object) -> ClassCounts:
    """Return the numbers of ones by class."""
    if isinstance(entry, dict) and "sizes" in entry:
        return _parse_any_counts(entry)
    counts = check_record(entry, "counts", ("I0", "I1", "n0", "n1"))
    n0 = check_whole(counts["n0"], "counts n0", 1, MOST_CASES)
    n1 = check_whole(counts["n1"], "counts n1", 1, MOST_CASES)
    I0 = [check_whole(I, "counts I0", 0, n0) for I in check_list(counts["I0"], "counts I0")]
    I1 = check_wholes(counts["I1"], "counts I1", len(I0), 0, n1)
    return ClassCounts.of_two(np.array(I0, dtype=np.int64), np.array(I1, dtype=np.int64), n0, n1)


def _parse_any_counts(entry: object) -> ClassCounts:
    counts = check_record(entry, "counts", ("sizes", "ones"), optional=("known",))
    sizes = _parse_sizes(counts["sizes"], "counts sizes")
    ones = _parse_table(counts["ones"], "counts ones", sizes)
    if "known" not in counts:
        return ClassCounts(ones, sizes)
    known = _parse_table(counts["known"], "counts known", sizes, ones.shape[1])
    if np.any(ones > known) or np.any(known < 1):
        raise Fault("counts known is less than 1, or than counts ones.")
    return ClassCounts(ones, sizes, known)


def _parse_sizes(entry: object, what: str) -> Ints:
    sizes = [check_whole(n, what, 1, MOST_CASES) for n in check_list(entry, what)]
    if not 2 <= len(sizes) <= _MOST_CLASSES:
        raise Fault(f"{what} has {len(sizes)} classes.")
    return np.array(sizes, dtype=np.int64)


def _parse_table(entry: object, what: str, sizes: Ints, width: int | None = None) -> Ints:
    """Return numbers for each class, from 0 to its size."""
    rows = check_list(entry, what, sizes.size)
    width = len(check_list(rows[0], what)) if width is None else width
    table = [
        check_wholes(row, what, width, 0, n) for row, n in zip(rows, sizes.tolist(), strict=True)
    ]
    return np.array(table, dtype=np.int64).reshape(sizes.size, width)


def count_event_entry(event: Event) -> Entries:
    """Write the cut as two strings of digits: its numbers exceed 64 bits."""
    cut, kinds = event.cut, event.kinds
    entry: Entries = {
        "cut": None if cut is None else [str(cut.numerator), str(cut.denominator)],
        **{name: getattr(event, name) for name in _NUMBERS},
    }
    if event.statistic != "|COR|":
        entry["statistic"] = event.statistic
    if kinds is not None and kinds.totals.size:  # there are none where nothing was omitted
        numbers = {name: getattr(kinds, name) for name in ("totals", *_OF_KINDS)}
        entry["kinds"] = {"sizes": list(kinds.sizes), **numbers}
    return entry


def parse_count_event(entry: object, k: int) -> Event:
    """Return what is known of omitted binary features."""
    fields = check_record(entry, "event", ("cut", *_NUMBERS), optional=("statistic", "kinds"))
    told = {name: check_whole(fields[name], f"event {name}", 0, MOST_FEATURES) for name in _NUMBERS}
    names = ("|COR|", "F", "custom", *get_args(CountStatistic))
    statistic = check_choice(fields.get("statistic", "|COR|"), "event statistic", names)
    kinds = _parse_kinds(fields["kinds"]) if "kinds" in fields else None
    event = Event(
        _parse_cut(fields["cut"], statistic),
        told["n_below"],
        told["n_at_most"],
        told["n_lottery"],
        told["n_kept_ties"],
        kinds=kinds,
        statistic=statistic,
        score=score_called(statistic),
    )
    check_cut_known(event)
    n_below = event.n_below if kinds is None else int(kinds.n_below.sum())
    if n_below and event.cut == 0 and statistic != "custom":
        raise Fault("event has features below a cut of 0, where there is nothing.")
    low = 1 if event.n_lottery else 0
    check_whole(event.n_kept_ties, "event n_kept_ties", low, k)
    return event


def _parse_kinds(entry: object) -> OmittedKinds:
    """Return omitted features of several kinds."""
    fields = check_record(entry, "event kinds", ("sizes", "totals", *_OF_KINDS))
    rows = check_list(fields["sizes"], "event kinds sizes")
    if len(rows) > _MOST_KINDS:
        raise Fault(f"event kinds has {len(rows)} kinds.")
    sizes = [_parse_sizes(row, "event kinds sizes") for row in rows]
    if len({row.size for row in sizes}) > 1:
        raise Fault("event kinds sizes have different numbers of classes.")
    n = [int(row.sum()) for row in sizes]
    totals = check_list(fields["totals"], "event kinds totals", len(rows))
    for total, most in zip(totals, n, strict=True):
        check_whole(total, "event kinds totals", ANY_TOTAL, most)
    numbers = [
        np.array(
            check_wholes(fields[name], f"event kinds {name}", len(rows), 0, MOST_FEATURES),
            dtype=np.int64,
        )
        for name in _OF_KINDS
    ]
    return OmittedKinds(np.array(sizes), np.array(totals, dtype=np.int64), *numbers)


def _parse_cut(entry: object, statistic: Statistic) -> Fraction | None:
    if entry is None:
        return None
    numerator, denominator = (_digits(part) for part in check_list(entry, "event cut", 2))
    if denominator <= 0 or (numerator < 0 and statistic != "custom"):
        raise Fault("event cut is no ratio from 0 to 1.")
    cut = Fraction(numerator, denominator)
    if statistic in _UP_TO_ONE and cut > threshold_cut(1.0):
        raise Fault("event cut is no ratio from 0 to 1.")
    return cut


def _digits(part: object) -> int:
    if not isinstance(part, str) or not _DIGITS.fullmatch(part):
        raise Fault(f"event cut has {show(part)} where digits are expected.")
    return int(part)


def bernoulli_priors_entry(model: BernoulliModel) -> Entries:
    """Return the hyperparameters; the pseudocounts of two classes by the paper's names."""
    f = [float(count) for count in model.pseudocounts]
    classes: Entries = {"f0": f[0], "f1": f[1]} if len(f) == 2 else {"pseudocounts": f}
    rates: Entries = {} if model.rates == "uniform" else {"rates": model.rates}
    return classes | priors_entry(model, ("a", "b")) | rates


def parse_bernoulli_model(priors_entry: object, quadrature_entry: object) -> BernoulliModel:
    """Return the model of binary features."""
    several = isinstance(priors_entry, dict) and "pseudocounts" in priors_entry
    names = ("pseudocounts",) if several else ("f0", "f1")
    optional = ("least_fraction", "all_related", "rates")
    priors = check_record(priors_entry, "priors", (*names, "a", "b"), optional=optional)
    needed = ("rule", "refinement")
    quadrature = check_record(quadrature_entry, "quadrature", needed, ("coarse",))
    least_fraction = parse_least_fraction(priors)
    rates = check_choice(priors.get("rates", "uniform"), "priors rates", ("uniform", "given"))
    exact_only = least_fraction is not None or rates == "given" or several
    rules = ("exact",) if exact_only else ("exact", "paper")
    if several:
        given = check_list(priors["pseudocounts"], "priors pseudocounts")
        f = [parse_prior(count, "priors pseudocounts") for count in given]
    else:
        f = [parse_prior(priors[name], f"priors {name}") for name in names]
    return BernoulliModel(
        pseudocounts=tuple(f),
        a=parse_prior(priors["a"], "priors a"),
        b=parse_prior(priors["b"], "priors b"),
        quadrature=check_choice(quadrature["rule"], "quadrature rule", rules),
        refinement=parse_refinement(quadrature, finer=least_fraction is None),
        least_fraction=least_fraction,
        rates=rates,
        all_related=parse_all_related(priors),
        coarse=parse_coarse(quadrature),
    )


def check_agree(counts: ClassCounts, model: BernoulliModel, event: Event) -> None:
    """Raise where counts, priors and event contradict each other."""
    told = {counts.sizes.size, len(model.pseudocounts)}
    kinds = event.kinds
    if kinds is not None:
        told.add(kinds.sizes.shape[1])
    several = counts.sizes.size > 2
    wrong = {"|COR|": several, "F": not several, "fisher": several, "odds_ratio": several}
    if len(told) > 1 or wrong.get(event.statistic, False):
        raise Fault("counts, priors and event have different numbers of classes.")
    if kinds is None:
        return
    if np.any(kinds.sizes > counts.sizes):
        raise Fault("event kinds sizes has more known values than a class has cases.")
    if np.any((kinds.totals == ANY_TOTAL) == (model.rates == "given")):
        raise Fault(f"event kinds totals do not agree with priors rates {model.rates!r}.")
