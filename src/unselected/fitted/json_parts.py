"""The parts that model files share: names, classes, priors, counts, events; each is checked.

The checks make sure that the posterior can be computed: counts are possible for the numbers of
cases, sums of squares have logarithms, and the event is possible.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_array,
    check_choice,
    check_list,
    check_real,
    check_record,
    check_text,
    check_whole,
    check_wholes,
    show,
)
from unselected.models.gaussian import GaussianModel
from unselected.models.gaussian_prior import SHRINKAGE_BOUNDS, TAILS_BOUNDS, GaussianPrior
from unselected.selection.events import Event, RealEvent
from unselected.selection.score_names import SCORE_NAMES
from unselected.statistics.binarizing import Binarize
from unselected.statistics.moments import Statistic

# Upper limits for a file: above any real model, but too low to exhaust a machine at once.
MOST_FEATURES = 10**15
MOST_CASES = 10**6
_MOST_PATTERNS = 10**6
# Finer rules serve only to check the numerics; with shrinkage the nodes grow quadratically.
_MOST_REFINEMENT, _MOST_REAL_REFINEMENT = 64, 4
# Numbers computed from priors beyond these bounds lose all digits.
_LEAST_PRIOR, _LARGEST_PRIOR = 1e-9, 1e9
# Sums of squares as training allows them, and lam of an event: 0 where covariates are the classes.
LEAST_SQUARES, LARGEST_SQUARES = 1e-280, 1e280
_LEAST_LAM, _LARGEST_LAM = 0.0, 2e6

_CLASS_TYPES: dict[str, tuple[type, Any]] = {
    "str": (str, object),
    "int": (int, np.int64),
    "bool": (bool, np.bool_),
    "float": (float, np.float64),
}


# --- what all kinds have -------------------------------------------------------------------------


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


def classes_entry(classes: NDArray[Any]) -> Entries:
    """Return the name of the labels' type, because not every program distinguishes 1 and 1.0."""
    values = [label.item() if isinstance(label, np.generic) else label for label in classes]
    types = {type(value) for value in values}
    for name, (known, _) in _CLASS_TYPES.items():
        if types == {known}:
            return {"type": name, "values": values}
    raise Fault(f"the classes {show(values)} are not all text, whole numbers, numbers or booleans.")


def parse_classes(entry: object, n_classes: int) -> NDArray[Any]:
    """Return the labels of the classes, of the type that the file tells."""
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


def priors_entry(model: Any, names: tuple[str, ...]) -> Entries:
    """Return the hyperparameters, and those that only some models have."""
    fraction = getattr(model, "least_fraction", None)
    groups = {} if fraction is None else {"least_fraction": fraction}
    if getattr(model, "all_related", 0.0):
        groups["all_related"] = model.all_related
    if getattr(model, "tails", None) is not None:
        groups["tails"] = model.tails
    if getattr(model, "variance", None) is not None:
        groups["variance"] = model.variance
    return {name: float(getattr(model, name)) for name in names} | groups


def parse_least_fraction(priors: Entries) -> float | None:
    """Return the smallest fraction of related features; None where all are related."""
    if "least_fraction" not in priors:
        return None
    return check_real(priors["least_fraction"], "priors least_fraction", 1.0 / MOST_FEATURES, 1.0)


def parse_all_related(priors: Entries) -> float:
    """Return the probability that all features are related, beside that of two groups."""
    if "all_related" not in priors:
        return 0.0
    if "least_fraction" not in priors:
        raise Fault("priors has all_related without least_fraction.")
    return check_real(priors["all_related"], "priors all_related", 0.0, 1.0 - 1e-9)


def quadrature_entry(model: Any, entries: Entries) -> Entries:
    """Return the entries of a quadrature, with ``coarse`` only where it has few nodes."""
    return {**entries, "refinement": model.refinement, **({"coarse": True} if model.coarse else {})}


def parse_coarse(quadrature: Entries) -> bool:
    """Return whether the quadrature has few nodes."""
    if quadrature.get("coarse", False) not in (True, False):
        raise Fault(f"quadrature coarse is {show(quadrature['coarse'])}, not true or false.")
    return bool(quadrature.get("coarse", False))


def parse_prior(value: object, what: str) -> float:
    """Return a number of a prior."""
    return check_real(value, what, _LEAST_PRIOR, _LARGEST_PRIOR)


def parse_priors(entry: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the hyperparameters of these names, each checked."""
    priors = check_record(entry, "priors", names)
    return {name: parse_prior(priors[name], f"priors {name}") for name in names}


def parse_refinement(entries: Entries, *, finer: bool) -> int:
    """Return by how much a rule is finer than necessary."""
    most = _MOST_REFINEMENT if finer else _MOST_REAL_REFINEMENT
    return check_whole(entries["refinement"], "quadrature refinement", 1, most)


# --- binary features ----------------------------------------------------------------


def binarize_entry(binarize: Binarize) -> str | float | None:
    """Return how columns become bits."""
    return binarize if binarize is None or isinstance(binarize, str) else float(binarize)


def check_cut_known(event: Event | RealEvent) -> None:
    """Raise where features were omitted without a cut."""
    if event.n_omitted and event.cut is None:
        raise Fault("event has omitted features but no cut.")


def parse_binarize(entry: object) -> Binarize:
    """Return how columns become bits."""
    if entry is None:
        return None
    if isinstance(entry, str):
        chosen = check_choice(entry, "binarize", ("auto", "median"))
        return "median" if chosen == "median" else "auto"
    return check_real(entry, "binarize")


# --- real-valued features ------------------------------------------------------------------------


def real_event_entry(event: RealEvent) -> Entries:
    """Return what is known of omitted real-valued features."""
    return {
        "cut": event.cut,
        "statistic": event.statistic,
        "lam": event.lam,
        "nu": event.nu.astype(np.int64),
        "n_features": event.n_features,
    }


def gaussian_model_entries(model: GaussianPrior, event: RealEvent) -> Entries:
    """Return the event, the priors and the quadrature of real-valued features."""
    return {
        "event": real_event_entry(event),
        "priors": priors_entry(model, ("a", "b", "shrinkage")),
        "quadrature": quadrature_entry(model, {}),
    }


def parse_gaussian_model(priors_entry: object, quadrature: object) -> GaussianModel:
    """Return the model of real-valued features."""
    names = ("a", "b", "shrinkage")
    optional = ("least_fraction", "all_related", "tails", "variance")
    priors = check_record(priors_entry, "priors", names, optional)
    rule = check_record(quadrature, "quadrature", ("refinement",), ("coarse",))
    least, most = SHRINKAGE_BOUNDS
    shrinkage = check_real(priors["shrinkage"], "priors shrinkage", 0.0, most)
    if 0.0 < shrinkage < least:
        raise Fault(
            f"priors shrinkage has {shrinkage!r}, where 0 or a number from {least!r} on is "
            "expected."
        )
    least_fraction = parse_least_fraction(priors)
    if shrinkage > 0.0 and least_fraction is not None:
        raise Fault("priors has both shrinkage and least_fraction, which cannot be combined.")
    return GaussianModel(
        a=parse_prior(priors["a"], "priors a"),
        b=parse_prior(priors["b"], "priors b"),
        shrinkage=shrinkage,
        refinement=parse_refinement(rule, finer=False),
        least_fraction=least_fraction,
        all_related=parse_all_related(priors),
        coarse=parse_coarse(rule),
        tails=_parse_tails(priors),
        variance=_parse_variance(priors),
    )


def _parse_variance(priors: Entries) -> float | None:
    """Return the common variance that is known; None where it is not."""
    if "variance" not in priors:
        return None
    if not priors["shrinkage"]:
        raise Fault("priors has variance without shrinkage.")
    return check_real(priors["variance"], "priors variance", LEAST_SQUARES, LARGEST_SQUARES)


def _parse_tails(priors: Entries) -> float | None:
    """Return the degrees of freedom of the distribution of effects; None where it is normal."""
    if "tails" not in priors:
        return None
    if "least_fraction" not in priors:
        raise Fault("priors has tails without least_fraction.")
    return check_real(priors["tails"], "priors tails", *TAILS_BOUNDS)


def parse_real_event(entry: object, statistic: Statistic, q: int) -> RealEvent:
    """Return what is known of omitted real-valued features."""
    fields = check_record(entry, "event", ("cut", "statistic", "lam", "nu", "n_features"))
    check_choice(fields["statistic"], "event statistic", (statistic,))
    m = len(check_list(fields["lam"], "event lam"))
    check_whole(m, "the length of event lam", 1, _MOST_PATTERNS)
    nu = check_wholes(fields["nu"], "event nu", m, 1, MOST_CASES)
    n_features = check_wholes(fields["n_features"], "event n_features", m, 0, MOST_FEATURES)
    check_whole(sum(n_features.tolist()), "the sum of event n_features", 0, MOST_FEATURES)
    event = RealEvent(
        cut=None if fields["cut"] is None else check_score(fields["cut"], "event cut", statistic),
        statistic=statistic,
        lam=check_array(fields["lam"], "event lam", (m, q), _LEAST_LAM, _LARGEST_LAM),
        nu=nu.astype(np.float64),
        n_features=n_features,
    )
    check_cut_known(event)
    if np.any((event.n_features > 0) & (event.kappa < LEAST_SQUARES)):
        raise Fault("event has features at most at a cut of about 0, where there is nothing.")
    return event


def check_score(value: object, what: str, statistic: Statistic) -> float:
    """Return a value that the statistic can have."""
    name = SCORE_NAMES[statistic]
    return check_real(value, what, name.least, name.most)
