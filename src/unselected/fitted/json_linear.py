"""Evidence that is linear in the kept columns, in a model file."""

from unselected.fitted.json_checks import Entries, check_array, check_reals, check_record
from unselected.models.logistic_ridges import LinearEvidence

_KEYS = ("centers", "coefficients", "intercepts")


def linear_entry(linear: LinearEvidence | None) -> Entries | None:
    """Return the entry of linear evidence, or None."""
    return None if linear is None else {key: getattr(linear, key) for key in _KEYS}


def parse_linear(entry: object, k: int, n_classes: int) -> LinearEvidence | None:
    """Return linear evidence for so many columns and classes, or None."""
    if entry is None:
        return None
    fields = check_record(entry, "linear", _KEYS)
    return LinearEvidence(
        check_reals(fields["centers"], "linear centers", k),
        check_array(fields["coefficients"], "linear coefficients", (k, n_classes)),
        check_reals(fields["intercepts"], "linear intercepts", n_classes),
    )
