"""The kinds of models that a file can hold: each as entries, and read back from checked entries.

What a file says is checked as far as it takes for the posterior to be computed: counts that cases
can have, sums of squares whose logarithms exist, an event that is possible.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats, Ints
from unselected.files.dependence_codec import parse_worth, worth_entries
from unselected.files.json_checks import (
    Fault,
    check_choice,
    check_list,
    check_real,
    check_reals,
    check_record,
    check_text,
    check_whole,
    check_wholes,
    show,
)
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, KeptRegression
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import SHRINKAGE_BOUNDS, GaussianModel
from unselected.selection.correlation import threshold_cut
from unselected.selection.events import Event, RealEvent, Statistic
from unselected.statistics.binarizing import Binarize
from unselected.statistics.counts import ClassCounts
from unselected.statistics.moments import ClassMoments, Contrasts, LineMoments

Kept = KeptBernoulli | KeptGaussian | KeptRegression
Entries = dict[str, Any]

# What a file may ask for: more than anybody has, less than would exhaust a machine on sight.
MOST_FEATURES = 10**15
_MOST_CASES = 10**6
_MOST_CLASSES = 1000
_MOST_PATTERNS = 10**6
_MOST_AXES = 10**8
# Finer rules only check the numerics; with shrinkage the nodes grow like the square.
_MOST_REFINEMENT, _MOST_REAL_REFINEMENT = 64, 4
# Priors beyond these bounds leave no digits to the numbers computed from them.
_LEAST_PRIOR, _LARGEST_PRIOR = 1e-9, 1e9
# Sums of squares as training allows them, how far apart they may be, and lam of an event.
_LEAST_SQUARES, _LARGEST_SQUARES, _MOST_RATIO = 1e-280, 1e280, 1e270
_LEAST_LAM, _LARGEST_LAM = 1e-12, 2e6
# The standard deviation of a response, and how much larger its mean may be.
_LEAST_UNIT, _LARGEST_UNIT, _MOST_UNITS = 1e-100, 1e100, 1e20
# A cut on COR^2 is a ratio of such numbers: those of the smallest threshold have 650 digits.
_DIGITS = re.compile(r"[0-9]{1,1000}")
_LARGEST = float(np.finfo(np.float64).max)

_CLASS_TYPES: dict[str, tuple[type, Any]] = {
    "str": (str, object),
    "int": (int, np.int64),
    "bool": (bool, np.bool_),
    "float": (float, np.float64),
}


# --- what all kinds have -------------------------------------------------------------------------


def names_entry(names: NDArray[Any] | None) -> list[Any] | None:
    """Return the names of the kept columns as a list."""
    return None if names is None else list(names.tolist())


def parse_names(entry: object, k: int) -> NDArray[Any] | None:
    """Return the names of the kept columns: distinct texts, or None."""
    if entry is None:
        return None
    names = [check_text(name, "names") for name in check_list(entry, "names", k)]
    if len(set(names)) < k:
        raise Fault("names has a name twice.")
    array = np.empty(k, dtype=object)
    array[:] = names
    return array


def _classes_entry(classes: NDArray[Any]) -> Entries:
    """Tell the type of the labels in words, for not every program keeps 1 and 1.0 apart."""
    values = [label.item() if isinstance(label, np.generic) else label for label in classes]
    types = {type(value) for value in values}
    for name, (known, _) in _CLASS_TYPES.items():
        if types == {known}:
            return {"type": name, "values": values}
    raise Fault(f"the classes {show(values)} are not all text, whole numbers, numbers or booleans.")


def _parse_classes(entry: object, n_classes: int) -> NDArray[Any]:
    classes = check_record(entry, "classes", ("type", "values"))
    name = check_choice(classes["type"], "classes type", tuple(_CLASS_TYPES))
    known, dtype = _CLASS_TYPES[name]
    check: dict[str, Callable[[object], object]] = {
        "str": lambda value: check_text(value, "classes"),
        "int": lambda value: check_whole(value, "classes", -(2**63), 2**63 - 1),
        "float": lambda value: check_real(value, "classes"),
        "bool": lambda value: value,
    }
    values = [check[name](value) for value in check_list(classes["values"], "classes", n_classes)]
    if any(type(value) is not known for value in values) or len(set(values)) < n_classes:
        number = "two" if n_classes == 2 else n_classes
        raise Fault(f"classes has {show(values)} where {number} different labels are expected.")
    labels = np.empty(n_classes, dtype=dtype)
    labels[:] = values
    return labels


def _priors_entry(model: BernoulliModel | GaussianModel, names: tuple[str, ...]) -> Entries:
    """Return the numbers of the prior; that of two groups is told where there are two."""
    groups = {} if model.least_fraction is None else {"least_fraction": model.least_fraction}
    return {name: float(getattr(model, name)) for name in names} | groups


def _least_fraction(priors: Entries) -> float | None:
    """Return where the fraction of related features begins; None where all are related."""
    if "least_fraction" not in priors:
        return None
    return check_real(priors["least_fraction"], "priors least_fraction", 1.0 / MOST_FEATURES, 1.0)


def _prior(value: object, what: str) -> float:
    return check_real(value, what, _LEAST_PRIOR, _LARGEST_PRIOR)


def _refinement(entries: Entries, most: int) -> int:
    return check_whole(entries["refinement"], "quadrature refinement", 1, most)


# --- binary features, two classes ----------------------------------------------------------------


def bernoulli_entries(kept: KeptBernoulli) -> Entries:
    """Return a model of binary features as entries."""
    model, counts = kept.model, kept.counts
    return {
        "classes": _classes_entry(kept.classes),
        "counts": {"I0": counts.I0, "I1": counts.I1, "n0": counts.n0, "n1": counts.n1},
        "thresholds": np.asarray(kept.thresholds, dtype=np.float64),
        "binarize": _binarize_entry(kept.binarize),
        "event": _count_event_entry(kept.event),
        "priors": _priors_entry(model, ("f0", "f1", "a", "b")),
        "quadrature": {"rule": model.quadrature, "refinement": model.refinement},
        **worth_entries(kept.tempering, kept.within),
    }


def parse_bernoulli(entries: Entries) -> KeptBernoulli:
    """Return a model of binary features from its entries."""
    counts = _parse_counts(entries["counts"])
    k = counts.I0.size
    tempering, within = parse_worth(entries, 2, k)
    return KeptBernoulli(
        model=_parse_bernoulli_model(entries["priors"], entries["quadrature"]),
        counts=counts,
        event=_parse_count_event(entries["event"], k),
        thresholds=np.array(check_reals(entries["thresholds"], "thresholds", k), dtype=np.float64),
        binarize=_parse_binarize(entries["binarize"]),
        classes=_parse_classes(entries["classes"], 2),
        names=parse_names(entries["names"], k),
        tempering=tempering,
        within=within,
    )


def _binarize_entry(binarize: Binarize) -> str | float | None:
    return binarize if binarize is None or isinstance(binarize, str) else float(binarize)


def _count_event_entry(event: Event) -> Entries:
    """Write the cut as two strings of digits: its numbers exceed 64 bits."""
    cut = event.cut
    return {
        "cut": None if cut is None else [str(cut.numerator), str(cut.denominator)],
        "n_below": event.n_below,
        "n_at_most": event.n_at_most,
        "n_lottery": event.n_lottery,
        "n_kept_ties": event.n_kept_ties,
    }


def _parse_counts(entry: object) -> ClassCounts:
    counts = check_record(entry, "counts", ("I0", "I1", "n0", "n1"))
    n0 = check_whole(counts["n0"], "counts n0", 1, _MOST_CASES)
    n1 = check_whole(counts["n1"], "counts n1", 1, _MOST_CASES)
    I0 = [check_whole(I, "counts I0", 0, n0) for I in check_list(counts["I0"], "counts I0")]
    I1 = check_wholes(counts["I1"], "counts I1", len(I0), 0, n1)
    return ClassCounts(np.array(I0, dtype=np.int64), np.array(I1, dtype=np.int64), n0, n1)


def _parse_count_event(entry: object, k: int) -> Event:
    names = ("n_below", "n_at_most", "n_lottery", "n_kept_ties")
    fields = check_record(entry, "event", ("cut", *names))
    numbers = {name: check_whole(fields[name], f"event {name}", 0, MOST_FEATURES) for name in names}
    event = Event(_parse_cut(fields["cut"]), **numbers)
    _check_cut_known(event)
    if event.n_below and event.cut == 0:
        raise Fault("event has features below a cut of 0, where there is nothing.")
    low = 1 if event.n_lottery else 0
    check_whole(event.n_kept_ties, "event n_kept_ties", low, k)
    return event


def _check_cut_known(event: Event | RealEvent) -> None:
    if event.n_omitted and event.cut is None:
        raise Fault("event has omitted features but no cut.")


def _parse_cut(entry: object) -> Fraction | None:
    if entry is None:
        return None
    numerator, denominator = (_digits(part) for part in check_list(entry, "event cut", 2))
    if denominator == 0 or Fraction(numerator, denominator) > threshold_cut(1.0):
        raise Fault("event cut is no ratio from 0 to 1.")
    return Fraction(numerator, denominator)


def _digits(part: object) -> int:
    if not isinstance(part, str) or not _DIGITS.fullmatch(part):
        raise Fault(f"event cut has {show(part)} where digits are expected.")
    return int(part)


def _parse_bernoulli_model(priors_entry: object, quadrature_entry: object) -> BernoulliModel:
    names = ("f0", "f1", "a", "b")
    priors = check_record(priors_entry, "priors", names, optional=("least_fraction",))
    quadrature = check_record(quadrature_entry, "quadrature", ("rule", "refinement"))
    least_fraction = _least_fraction(priors)
    rules = ("exact", "paper")
    return BernoulliModel(
        **{name: _prior(priors[name], f"priors {name}") for name in names},
        quadrature=check_choice(
            quadrature["rule"], "quadrature rule", rules if least_fraction is None else rules[:1]
        ),
        refinement=_refinement(
            quadrature, _MOST_REFINEMENT if least_fraction is None else _MOST_REAL_REFINEMENT
        ),
        least_fraction=least_fraction,
    )


def _parse_binarize(entry: object) -> Binarize:
    if entry is None:
        return None
    if isinstance(entry, str):
        chosen = check_choice(entry, "binarize", ("auto", "median"))
        return "median" if chosen == "median" else "auto"
    return check_real(entry, "binarize")


# --- real-valued features ------------------------------------------------------------------------


def _gaussian_model_entries(model: GaussianModel, event: RealEvent) -> Entries:
    return {
        "event": {
            "cut": event.cut,
            "statistic": event.statistic,
            "lam": event.lam,
            "nu": event.nu.astype(np.int64),
            "n_features": event.n_features,
        },
        "priors": _priors_entry(model, ("a", "b", "shrinkage")),
        "quadrature": {"refinement": model.refinement},
    }


def _parse_gaussian_model(priors_entry: object, quadrature_entry: object) -> GaussianModel:
    names = ("a", "b", "shrinkage")
    priors = check_record(priors_entry, "priors", names, optional=("least_fraction",))
    quadrature = check_record(quadrature_entry, "quadrature", ("refinement",))
    least, most = SHRINKAGE_BOUNDS
    shrinkage = check_real(priors["shrinkage"], "priors shrinkage", 0.0, most)
    if 0.0 < shrinkage < least:
        raise Fault(
            f"priors shrinkage has {shrinkage!r}, where 0 or a number from {least!r} on is "
            "expected."
        )
    least_fraction = _least_fraction(priors)
    if shrinkage > 0.0 and least_fraction is not None:
        raise Fault("priors has both shrinkage and least_fraction, which do not go together.")
    return GaussianModel(
        a=_prior(priors["a"], "priors a"),
        b=_prior(priors["b"], "priors b"),
        shrinkage=shrinkage,
        refinement=_refinement(quadrature, _MOST_REAL_REFINEMENT),
        least_fraction=least_fraction,
    )


def _parse_real_event(entry: object, statistic: Statistic, q: int) -> RealEvent:
    fields = check_record(entry, "event", ("cut", "statistic", "lam", "nu", "n_features"))
    check_choice(fields["statistic"], "event statistic", (statistic,))
    rows = check_list(fields["lam"], "event lam")
    m = check_whole(len(rows), "the length of event lam", 1, _MOST_PATTERNS)
    lam = [check_reals(row, "event lam", q, _LEAST_LAM, _LARGEST_LAM) for row in rows]
    nu = check_wholes(fields["nu"], "event nu", m, 1, _MOST_CASES)
    n_features = check_wholes(fields["n_features"], "event n_features", m, 0, MOST_FEATURES)
    check_whole(sum(n_features), "the sum of event n_features", 0, MOST_FEATURES)
    event = RealEvent(
        cut=None if fields["cut"] is None else check_score(fields["cut"], "event cut", statistic),
        statistic=statistic,
        lam=np.array(lam),
        nu=np.array(nu, dtype=np.float64),
        n_features=np.array(n_features, dtype=np.int64),
    )
    _check_cut_known(event)
    if np.any((event.n_features > 0) & (event.kappa < _LEAST_SQUARES)):
        raise Fault("event has features at most at a cut of about 0, where there is nothing.")
    return event


def check_score(value: object, what: str, statistic: Statistic) -> float:
    """Return a value that the statistic can have."""
    return check_real(value, what, 0.0, 1.0 if statistic == "|COR|" else _LARGEST)


def _check_squares(contrasts: Contrasts) -> None:
    """Raise where sums of squares, or their ratios, have no logarithm to compute with."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = contrasts.within + np.sum(contrasts.beta**2, axis=1)
    varying = total[total != 0.0]
    wrong = ~((varying >= _LEAST_SQUARES) & (varying <= _LARGEST_SQUARES))
    if wrong.any():
        raise Fault(f"moments has a feature whose sum of squares is {varying[np.argmax(wrong)]:g}.")
    if varying.size and varying.max() / _MOST_RATIO > varying.min():
        raise Fault("moments has features whose sums of squares are too far apart.")


def _column(fields: Entries, name: str, k: int, low: float, high: float) -> Floats:
    return np.array(check_reals(fields[name], f"moments {name}", k, low, high), dtype=np.float64)


def gaussian_entries(kept: KeptGaussian) -> Entries:
    """Return a model of real-valued features and classes as entries."""
    moments = kept.moments
    names = ("sizes", "n", "center", "offset", "within")
    return {
        "classes": _classes_entry(kept.classes),
        "pseudocounts": np.asarray(kept.pseudocounts, dtype=np.float64),
        "moments": {name: getattr(moments, name) for name in names},
        **_gaussian_model_entries(kept.model, kept.event),
        **worth_entries(kept.tempering, kept.within),
    }


def parse_gaussian(entries: Entries) -> KeptGaussian:
    """Return a model of real-valued features and classes from its entries."""
    moments = _parse_class_moments(entries["moments"])
    n_classes = moments.sizes.size
    pseudocounts = check_list(entries["pseudocounts"], "pseudocounts", n_classes)
    tempering, within = parse_worth(entries, n_classes, moments.size)
    return KeptGaussian(
        model=_parse_gaussian_model(entries["priors"], entries["quadrature"]),
        moments=moments,
        event=_parse_real_event(
            entries["event"], "|COR|" if n_classes == 2 else "F", n_classes - 1
        ),
        pseudocounts=np.array([_prior(count, "pseudocounts") for count in pseudocounts]),
        classes=_parse_classes(entries["classes"], n_classes),
        names=parse_names(entries["names"], moments.size),
        tempering=tempering,
        within=within,
    )


def _parse_class_moments(entry: object) -> ClassMoments:
    fields = check_record(entry, "moments", ("sizes", "n", "center", "offset", "within"))
    sizes = _parse_sizes(fields["sizes"])
    k = len(check_list(fields["center"], "moments center"))
    offsets = check_list(fields["offset"], "moments offset", len(sizes))
    bound = np.sqrt(_LARGEST_SQUARES)
    moments = ClassMoments(
        sizes=np.array(sizes, dtype=np.int64),
        n=_parse_known(fields["n"], sizes, k),
        center=_column(fields, "center", k, -_LARGEST, _LARGEST),
        offset=np.array(
            [check_reals(row, "moments offset", k, -2.0 * bound, 2.0 * bound) for row in offsets],
            dtype=np.float64,
        ),
        within=_column(fields, "within", k, 0.0, _LARGEST_SQUARES),
    )
    # Sums run in the order in which numbers lie in memory: here, as after training.
    moments = moments.take(np.arange(k))
    _check_squares(moments.contrasts())
    return moments


def _parse_sizes(entry: object) -> list[int]:
    sizes = check_list(entry, "moments sizes")
    check_whole(len(sizes), "the length of moments sizes", 2, _MOST_CLASSES)
    sizes = check_wholes(sizes, "moments sizes", len(sizes), 1, _MOST_CASES)
    check_whole(sum(sizes), "the sum of moments sizes", len(sizes) + 1, _MOST_CASES)
    return sizes


def _parse_known(entry: object, sizes: list[int], k: int) -> Ints:
    """Return the known values by class: one column where none are missing, else k."""
    rows = check_list(entry, "moments n", len(sizes))
    width = k if rows and isinstance(rows[0], list) and len(rows[0]) != 1 else 1
    if width > 1:
        check_whole(k * len(sizes) ** 2, "the work for missing values", 0, _MOST_AXES)
    n = np.array(
        [
            # A single column may be that of a single feature.
            check_wholes(row, "moments n", width, 1 if k == width else size, size)
            for row, size in zip(rows, sizes, strict=True)
        ],
        dtype=np.int64,
    )
    few = np.min(n.sum(axis=0), initial=_MOST_CASES)
    check_whole(int(few), "a sum of moments n", len(sizes) + 1, _MOST_CASES)
    return n


def regression_entries(kept: KeptRegression) -> Entries:
    """Return a model of real-valued features and a real response as entries."""
    moments = kept.moments
    names = ("unit", "n", "center", "offset", "y_mean", "syy", "sxy", "within")
    n, syy = moments.complete
    return {
        "y_mean": float(kept.y_mean),
        "moments": {
            **{name: getattr(moments, name) for name in names},
            "complete": {"n": int(n), "syy": float(syy)},
        },
        **_gaussian_model_entries(kept.model, kept.event),
    }


def parse_regression(entries: Entries) -> KeptRegression:
    """Return a model of real-valued features and a real response from its entries."""
    moments = _parse_line_moments(entries["moments"])
    bound = _MOST_UNITS * moments.unit
    y_mean = check_real(entries["y_mean"], "y_mean", -bound, bound)
    _check_means(moments, y_mean)
    return KeptRegression(
        model=_parse_gaussian_model(entries["priors"], entries["quadrature"]),
        moments=moments,
        event=_parse_real_event(entries["event"], "|COR|", 1),
        y_mean=y_mean,
        names=parse_names(entries["names"], moments.size),
    )


def _parse_line_moments(entry: object) -> LineMoments:
    columns = ("n", "center", "offset", "y_mean", "syy", "sxy", "within")
    fields = check_record(entry, "moments", ("unit", *columns, "complete"))
    complete = check_record(fields["complete"], "moments complete", ("n", "syy"))
    n = check_whole(complete["n"], "moments complete n", 3, _MOST_CASES)
    unit = check_real(fields["unit"], "moments unit", _LEAST_UNIT, _LARGEST_UNIT)
    squares = n * unit**2
    syy = check_real(
        complete["syy"], "moments complete syy", (1 - 1e-9) * squares, (1 + 1e-9) * squares
    )
    k = len(check_list(fields["center"], "moments center"))
    bound = 2.0 * np.sqrt(_LARGEST_SQUARES)
    most = float(np.sqrt(_LARGEST_SQUARES * syy))
    moments = LineMoments(
        unit=unit,
        n=np.array(check_wholes(fields["n"], "moments n", k, 3, n), dtype=np.int64),
        center=_column(fields, "center", k, -_LARGEST, _LARGEST),
        offset=_column(fields, "offset", k, -bound, bound),
        y_mean=_column(fields, "y_mean", k, -_LARGEST, _LARGEST),
        syy=_column(fields, "syy", k, 1e-12 * syy, (1 + 1e-9) * syy),
        sxy=_column(fields, "sxy", k, -most, most),
        within=_column(fields, "within", k, 0.0, _LARGEST_SQUARES),
        complete=(n, syy),
    )
    _check_squares(moments.contrasts())
    return moments


def _check_means(moments: LineMoments, y_mean: float) -> None:
    """Raise where the mean response of some cases is further off than any case can be."""
    _, syy = moments.complete
    most = (1 + 1e-9) * np.sqrt(syy) + 1e-14 * abs(y_mean)
    with np.errstate(over="ignore"):
        wrong = ~(np.abs(moments.y_mean - y_mean) <= most)
    if wrong.any():
        raise Fault(
            f"moments y_mean has {moments.y_mean[np.argmax(wrong)]!r}, too far from the mean of "
            f"all cases, {y_mean!r}."
        )
