"""The model file: versioned JSON with the counts, the event and the priors; nothing that runs.

What a file says is checked entry by entry. The posterior is computed again from the counts when
first needed, so that a model predicts from its file what it predicted before, to the last bit.
"""

import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected.columns import Binarize, ClassCounts
from unselected.events import Event
from unselected.files import plain, write_text
from unselected.kept import KeptBernoulli
from unselected.models.bernoulli import BernoulliModel
from unselected.quadrature import Floats, log_sum
from unselected.tables import threshold_cut

_FORMAT, _VERSION, _KIND = "unselected model", 1, "bernoulli"
_ENTRIES = (
    *("format", "version", "kind", "names", "classes", "counts", "thresholds", "binarize"),
    *("event", "priors", "quadrature", "selection", "provenance"),
)

# What a file may ask for: more than anybody has, less than would exhaust a machine on sight.
_MOST_BYTES = 1 << 28
_MOST_CASES = 10**6
_MOST_FEATURES = 10**15
_MOST_TEXT = 10**5
_MOST_DEPTH = 6
_MOST_REFINEMENT = 64
# Priors beyond these bounds leave no digits to the numbers computed from them.
_LEAST_PRIOR, _LARGEST_PRIOR = 1e-9, 1e9
# A cut on COR^2 is a ratio of such numbers: those of the smallest threshold have 650 digits.
_DIGITS = re.compile(r"[0-9]{1,1000}")

_CLASS_TYPES: dict[str, tuple[type, Any]] = {
    "str": (str, object),
    "int": (int, np.int64),
    "bool": (bool, np.bool_),
    "float": (float, np.float64),
}


class ModelError(ValueError):
    """A model file cannot be used, or a model cannot be saved; the message says why."""


class _Fault(Exception):
    """What is wrong with an entry; the name of the file is added where it is known."""


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model read from its file; numpy and scipy are enough to predict with it.

    Attributes
    ----------
    kept : KeptBernoulli
        The kept features' counts and cuts, the event, and the model.
    selection : dict
        ``rule``, ``ties``, ``threshold``, ``n_features``, ``n_omitted``, and ``scores``, the
        absolute correlations of the kept features.
    provenance : dict
        Where the model comes from, as it was given to `save_model`.
    """

    kept: KeptBernoulli
    selection: dict[str, Any]
    provenance: dict[str, Any]

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the log of the predictive probabilities, one column per class.

        Parameters
        ----------
        X : array of shape (n_samples, k)
            The kept columns, in the order of ``kept.names``: booleans or numbers.

        Returns
        -------
        log_proba : array of shape (n_samples, 2)
            In the order of ``kept.classes``.
        """
        log_joint = self.kept.log_joint(self._checked(X), self._label)
        return np.asarray(log_joint - log_sum(log_joint, axis=1)[:, np.newaxis])

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the predictive probabilities, one column per class; see `predict_log_proba`."""
        return np.exp(self.predict_log_proba(X))

    def _checked(self, X: ArrayLike) -> NDArray[Any]:
        values, k = np.asarray(X), self.kept.thresholds.size
        if values.ndim != 2 or values.shape[1] != k:
            raise ValueError(
                f"X has the shape {values.shape}, but the model needs rows of its {k} kept columns."
            )
        if values.dtype.kind not in "buif":
            raise ValueError(f"X has the type {values.dtype}, but the model needs numbers.")
        return values

    def _label(self, column: int) -> str:
        names = self.kept.names
        return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def save_model(
    kept: KeptBernoulli,
    path: str | os.PathLike[str],
    *,
    selection: dict[str, Any],
    provenance: dict[str, Any],
    overwrite: bool = False,
) -> None:
    """Write a model to a file that `load_model` reads, as `write_text` writes.

    Parameters
    ----------
    kept : KeptBernoulli
    path : str or path
        "-" is standard output.
    selection : dict
        ``rule``, ``ties``, ``threshold``, ``n_features``, ``n_omitted`` and ``scores``, as in
        `SavedModel`.
    provenance : dict
        Whatever JSON can hold; ``provenance["unselected"]`` is the version that made the model.
    overwrite : bool, default=False

    Raises
    ------
    ModelError
        Where the model could not be read back; nothing is written.
    """
    try:
        document = _document(kept, selection, provenance)
        text = "{\n" + ",\n".join(_entry(key, document[key]) for key in document) + "\n}\n"
        _parse(text.encode("ascii"))
    except _Fault as fault:
        raise ModelError(f"The model cannot be saved: {fault}") from None
    write_text(path, text, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model from a file that `save_model` wrote.

    Nothing in the file is executed, whatever it says, and every entry is checked.

    Raises
    ------
    ModelError
        Where the file is damaged, no model at all, or of a version that is not known yet.
    """
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    try:
        return _parse(content)
    except _Fault as fault:
        raise ModelError(f"{os.fspath(path)} cannot be used as a model: {fault}") from None


def _entry(key: str, value: object) -> str:
    """Return an entry as a line of the file; doubles are written so that they come back as such."""
    try:
        return f'"{key}": {json.dumps(value, default=plain, allow_nan=False)}'
    except (TypeError, ValueError, RecursionError) as error:
        raise _Fault(f"{key} cannot be written: {error}.") from error


def _document(
    kept: KeptBernoulli, selection: dict[str, Any], provenance: dict[str, Any]
) -> dict[str, Any]:
    model, counts = kept.model, kept.counts
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": _KIND,
        "names": None if kept.names is None else kept.names.tolist(),
        "classes": _classes_entry(kept.classes),
        "counts": {"I0": counts.I0, "I1": counts.I1, "n0": counts.n0, "n1": counts.n1},
        "thresholds": np.asarray(kept.thresholds, dtype=np.float64),
        "binarize": _binarize_entry(kept.binarize),
        "event": _event_entry(kept.event),
        "priors": {name: float(getattr(model, name)) for name in ("f0", "f1", "a", "b")},
        "quadrature": {"rule": model.quadrature, "refinement": model.refinement},
        "selection": selection,
        "provenance": provenance,
    }


def _classes_entry(classes: NDArray[Any]) -> dict[str, Any]:
    """Tell the type of the labels in words, for not every program keeps 1 and 1.0 apart."""
    values = [label.item() if isinstance(label, np.generic) else label for label in classes]
    types = {type(value) for value in values}
    for name, (known, _) in _CLASS_TYPES.items():
        if types == {known}:
            return {"type": name, "values": values}
    raise _Fault(f"the classes {values} are not all text, whole numbers, numbers or booleans.")


def _binarize_entry(binarize: Binarize) -> str | float | None:
    return binarize if binarize is None or isinstance(binarize, str) else float(binarize)


def _event_entry(event: Event) -> dict[str, Any]:
    """Write the cut as two strings of digits: its numbers exceed 64 bits."""
    cut = event.cut
    return {
        "cut": None if cut is None else [str(cut.numerator), str(cut.denominator)],
        "n_below": event.n_below,
        "n_at_most": event.n_at_most,
        "n_lottery": event.n_lottery,
        "n_kept_ties": event.n_kept_ties,
    }


def _parse(content: bytes) -> SavedModel:
    document = _check_format(_read_json(content))
    _record(document, "the file", _ENTRIES)
    counts = _parse_counts(document["counts"])
    k = counts.I0.size
    selection = _parse_selection(document["selection"], k)
    kept = KeptBernoulli(
        model=_parse_model(document["priors"], document["quadrature"]),
        counts=counts,
        event=_parse_event(document["event"], k, selection["n_omitted"]),
        thresholds=np.array(_reals(document["thresholds"], "thresholds", k), dtype=np.float64),
        binarize=_parse_binarize(document["binarize"]),
        classes=_parse_classes(document["classes"]),
        names=_parse_names(document["names"], k),
    )
    return SavedModel(kept, selection, _parse_provenance(document["provenance"]))


def _read_json(content: bytes) -> object:
    if len(content) > _MOST_BYTES:
        raise _Fault(f"it has more than {_MOST_BYTES} bytes.")
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_distinct_keys,
            parse_constant=_reject_constant,
        )
    except UnicodeDecodeError as error:
        raise _Fault(f"it is no text: byte {error.start} is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise _Fault(
            f"it is no JSON, or only a part of it: {error.msg} in line {error.lineno}, column "
            f"{error.colno}. Copy it again, or fit the model again."
        ) from None
    except RecursionError:
        raise _Fault("its entries are nested too deeply.") from None
    except ValueError:  # Python's limit on converting digits
        raise _Fault("a number in it has thousands of digits.") from None


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise _Fault("an entry occurs twice.")
    return entries


def _reject_constant(name: str) -> NoReturn:
    raise _Fault(f"it has {name}, where only finite numbers make sense.")


def _check_format(document: object) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise _Fault(f'it does not say "format": "{_FORMAT}".')
    version = _whole(document.get("version"), "version", 1, 10**6)
    if version > _VERSION:
        raise _Fault(
            f"it has the format version {version}, and this version of unselected reads only "
            f"{_VERSION}. {_who_reads(document)}"
        )
    _choice(document.get("kind"), "kind", (_KIND,))
    return document


def _who_reads(document: dict[str, Any]) -> str:
    provenance = document.get("provenance")
    maker = provenance.get("unselected") if isinstance(provenance, dict) else None
    if isinstance(maker, str) and re.fullmatch(r"[0-9A-Za-z.+]{1,40}", maker):
        return f'Install unselected {maker} or newer: pip install "unselected>={maker}".'
    return "Install a newer version: pip install --upgrade unselected."


def _parse_counts(entry: object) -> ClassCounts:
    counts = _record(entry, "counts", ("I0", "I1", "n0", "n1"))
    n0 = _whole(counts["n0"], "counts n0", 1, _MOST_CASES)
    n1 = _whole(counts["n1"], "counts n1", 1, _MOST_CASES)
    I0 = [_whole(I, "counts I0", 0, n0) for I in _list(counts["I0"], "counts I0")]
    I1 = [_whole(I, "counts I1", 0, n1) for I in _list(counts["I1"], "counts I1", len(I0))]
    return ClassCounts(np.array(I0, dtype=np.int64), np.array(I1, dtype=np.int64), n0, n1)


def _parse_event(entry: object, k: int, n_omitted: int) -> Event:
    names = ("n_below", "n_at_most", "n_lottery", "n_kept_ties")
    fields = _record(entry, "event", ("cut", *names))
    numbers = {name: _whole(fields[name], f"event {name}", 0, _MOST_FEATURES) for name in names}
    event = Event(_parse_cut(fields["cut"]), **numbers)
    if event.n_omitted not in (0, n_omitted):
        raise _Fault(
            f"event speaks of {event.n_omitted} omitted features, but selection n_omitted is "
            f"{n_omitted}."
        )
    if event.n_omitted and event.cut is None:
        raise _Fault("event has omitted features but no cut.")
    if event.n_below and event.cut == 0:
        raise _Fault("event has features below a cut of 0, where there is nothing.")
    low = 1 if event.n_lottery else 0
    _whole(event.n_kept_ties, "event n_kept_ties", low, k)
    return event


def _parse_cut(entry: object) -> Fraction | None:
    if entry is None:
        return None
    numerator, denominator = (_digits(part) for part in _list(entry, "event cut", 2))
    if denominator == 0 or Fraction(numerator, denominator) > threshold_cut(1.0):
        raise _Fault("event cut is no ratio from 0 to 1.")
    return Fraction(numerator, denominator)


def _digits(part: object) -> int:
    if not isinstance(part, str) or not _DIGITS.fullmatch(part):
        raise _Fault(f"event cut has {_show(part)} where digits are expected.")
    return int(part)


def _parse_model(priors_entry: object, quadrature_entry: object) -> BernoulliModel:
    names = ("f0", "f1", "a", "b")
    priors = _record(priors_entry, "priors", names)
    quadrature = _record(quadrature_entry, "quadrature", ("rule", "refinement"))
    return BernoulliModel(
        **{
            name: _real(priors[name], f"priors {name}", _LEAST_PRIOR, _LARGEST_PRIOR)
            for name in names
        },
        quadrature=_choice(quadrature["rule"], "quadrature rule", ("exact", "paper")),
        refinement=_whole(quadrature["refinement"], "quadrature refinement", 1, _MOST_REFINEMENT),
    )


def _parse_binarize(entry: object) -> Binarize:
    if entry is None:
        return None
    if isinstance(entry, str):
        return "median" if _choice(entry, "binarize", ("auto", "median")) == "median" else "auto"
    return _real(entry, "binarize")


def _parse_classes(entry: object) -> NDArray[Any]:
    classes = _record(entry, "classes", ("type", "values"))
    name = _choice(classes["type"], "classes type", tuple(_CLASS_TYPES))
    known, dtype = _CLASS_TYPES[name]
    check: dict[str, Callable[[object], object]] = {
        "str": lambda value: _text(value, "classes"),
        "int": lambda value: _whole(value, "classes", -(2**63), 2**63 - 1),
        "float": lambda value: _real(value, "classes"),
        "bool": lambda value: value,
    }
    values = [check[name](value) for value in _list(classes["values"], "classes", 2)]
    if any(type(value) is not known for value in values) or values[0] == values[1]:
        raise _Fault(f"classes has {_show(values)} where two different labels are expected.")
    labels = np.empty(2, dtype=dtype)
    labels[:] = values
    return labels


def _parse_names(entry: object, k: int) -> NDArray[Any] | None:
    if entry is None:
        return None
    names = [_text(name, "names") for name in _list(entry, "names", k)]
    if len(set(names)) < k:
        raise _Fault("names has a name twice.")
    array = np.empty(k, dtype=object)
    array[:] = names
    return array


def _parse_selection(entry: object, k: int) -> dict[str, Any]:
    fields = _record(
        entry, "selection", ("rule", "ties", "threshold", "n_features", "n_omitted", "scores")
    )
    n_features = _whole(fields["n_features"], "selection n_features", k, _MOST_FEATURES)
    omitted = n_features - k
    ties, threshold = fields["ties"], fields["threshold"]
    return {
        "rule": _choice(fields["rule"], "selection rule", ("top k", "threshold", "all")),
        "ties": None if ties is None else _choice(ties, "selection ties", ("first", "random")),
        "threshold": None
        if threshold is None
        else _real(threshold, "selection threshold", 0.0, 1.0),
        "n_features": n_features,
        "n_omitted": _whole(fields["n_omitted"], "selection n_omitted", omitted, omitted),
        "scores": _reals(fields["scores"], "selection scores", k, 0.0, 1.0),
    }


def _parse_provenance(entry: object) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("unselected"), str):
        raise _Fault('provenance does not say "unselected": the version that made the model.')
    _check_plain(entry, _MOST_DEPTH)
    return entry


def _check_plain(value: object, depth: int) -> None:
    """Check that a value of any kind can be shown and written again."""
    if depth == 0:
        raise _Fault("provenance is nested too deeply.")
    if isinstance(value, dict | list):
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        for part in parts:
            _check_plain(part, depth - 1)
    elif isinstance(value, str):
        _text(value, "provenance")
    elif isinstance(value, float):
        _real(value, "provenance")


def _record(value: object, what: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Fault(f"{what} is {_show(value)}, not a set of named entries.")
    missing = [key for key in keys if key not in value]
    unknown = [key for key in value if key not in keys]
    if missing:
        raise _Fault(f"{what} has no entry {missing[0]!r}.")
    if unknown:
        raise _Fault(f"{what} has the unknown entry {_show(unknown[0])}.")
    return value


def _list(value: object, what: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        raise _Fault(f"{what} is {_show(value)}, not a list.")
    if length is not None and len(value) != length:
        raise _Fault(f"{what} has {len(value)} values where {length} are expected.")
    return value


def _whole(value: object, what: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _Fault(
            f"{what} has {_show(value)} where a whole number in {low}..{high} is expected."
        )
    return value


def _real(value: object, what: str, low: float = -math.inf, high: float = math.inf) -> float:
    try:
        number = float(value) if type(value) in (int, float) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not (math.isfinite(number) and low <= number <= high):
        within = "" if math.isinf(low) else f" in {low!r}..{high!r}"
        raise _Fault(f"{what} has {_show(value)} where a finite number{within} is expected.")
    return number


def _reals(
    value: object, what: str, length: int, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    return [_real(number, what, low, high) for number in _list(value, what, length)]


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > _MOST_TEXT or not _can_be_written(value):
        raise _Fault(f"{what} has {_show(value)} where text is expected.")
    return value


def _can_be_written(text: str) -> bool:
    """Say whether UTF-8 can hold the text: JSON may have halves of characters, which it cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _choice(value: object, what: str, choices: tuple[str, ...]) -> Any:
    if not isinstance(value, str) or value not in choices:
        raise _Fault(f"{what} is {_show(value)}, not one of {', '.join(map(repr, choices))}.")
    return value


def _show(value: object) -> str:
    """Return a value for an error: in ASCII, for it may be anything, and short."""
    try:
        text = ascii(value)
    except (ValueError, RecursionError):  # a number with thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
