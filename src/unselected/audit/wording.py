"""The words of an audit: what its numbers mean, and what to do."""

from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from unselected.fitted.listing import listing

if TYPE_CHECKING:
    from unselected.audit.cut import CutAgreement
    from unselected.audit.record import ErrorsWithPermuted, SelectionAudit

# Characters of a printed line.
_WIDTH = 100


class Words(NamedTuple):
    """What Python and the shell call the same things.

    Attributes
    ----------
    table, before : str
        The table that is audited, and the one before the selection.
    inside, lost : str
        How to select inside of the folds, and how to say that columns were selected before, given
        ``ours``, an estimator of this library, and ``k``.
    ours, ours_k : str
        That estimator, without and with a number of columns.
    """

    table: str
    before: str
    inside: str
    lost: str
    ours: str
    ours_k: str


PYTHON = Words(
    table="X",
    before="X_before",
    inside="make_pipeline(SelectKBest(k={k}), ...) or {ours}(k={k}), fitted to all columns in "
    "every fold",
    lost="{ours}(preselected_from=20000)",
    ours="{ours}()",
    ours_k="{ours}(k={k})",
)
SHELL = Words(
    table="the table",
    before="the table before",
    inside="unselected cv --k {k}, with the table that has all columns",
    lost="unselected fit --preselected-from 20000",
    ours="unselected fit",
    ours_k="unselected fit --k {k}",
)
# With fewer columns to compare, missing weak columns are hardly ever noticed.
_FEW = 10


def findings(audit: "SelectionAudit", words: Words) -> list[str]:
    """Return what was found, in sentences: selection first, then promises, then the error."""
    return [_selection(audit, words), *_promise(audit), _error(audit)]


def _selection(audit: "SelectionAudit", words: Words) -> str:
    if not audit.selected_outside:
        return _no_selection(audit, words)
    bound = audit.alpha / len(audit.tests)
    reason = next(text for p_value, text in _reasons(audit, words) if p_value <= bound)
    return f"Selection was made before the cross-validation: {reason}."


def _reasons(audit: "SelectionAudit", words: Words) -> list[tuple[float, str]]:
    """Return the p-value of each test, the most direct first, and what it says if it is small."""
    found = []
    if audit.earlier is not None:
        kept = audit.earlier.agreement
        found.append(
            (
                kept.p_value,
                f"the {kept.n_kept} columns of {words.table} {_around(kept, words.before)}",
            )
        )
    if audit.features is not None and audit.features.agreement is not None:
        kept = audit.features.agreement
        text = (
            "the estimator looks at the same columns in every fold, whatever the responses are, "
            f"and these {kept.n_kept} columns {_around(kept, words.table)}"
        )
        found.append((kept.p_value, text))
    if audit.weak_columns is not None:
        weak = audit.weak_columns
        text = (
            f"weak columns are missing from {words.table}. The scores of its {weak.n_columns} "
            f"columns begin at {weak.weakest:.1f} standard deviations, with an edge that no true "
            "effects explain "
            f"(p = {_small(weak.p_value)})"
        )
        found.append((weak.p_value, text))
    return found


def _around(kept: "CutAgreement", table: str) -> str:
    among = "all" if kept.n_strongest == kept.n_kept else f"{kept.n_strongest} of them"
    return (
        f"are, {among}, among the {kept.n_kept} of the {kept.n_all} columns of {table} that are "
        f"most related to the responses of all cases (around the cut {kept.n_agree} of "
        f"{kept.n_looked_at} columns are on the side of their scores; p = {_small(kept.p_value)})"
    )


def _no_selection(audit: "SelectionAudit", words: Words) -> str:
    told = "No sign of a selection before the cross-validation"
    weak = audit.weak_columns
    if audit.earlier is None and (weak is None or weak.n_compared < _FEW):
        n_compared = 0 if weak is None else weak.n_compared
        return (
            f"{told}, but only {n_compared} columns could be compared, which is too few to tell: "
            f"give {words.before}, if there was a selection."
        )
    return f"{told} (p = {_small(audit.p_value_outside)})."


def _promise(audit: "SelectionAudit") -> list[str]:
    permuted = audit.permuted
    if permuted.promised is None:
        without = "probabilities" if audit.n_classes else "standard deviations"
        return [f"The estimator has no {without}: it promises nothing that could be too much."]
    numbers = (
        f"promises {_an_error(audit)} of {permuted.mean_promised:.2f} and makes "
        f"{permuted.mean_actual:.2f}"
    )
    if not audit.overconfident:
        return [
            "Predictions are not overconfident where nothing can be predicted: with permuted "
            f"responses the estimator {numbers}."
        ]
    told = [
        "Predictions are overconfident: with permuted responses, from which nothing can be "
        f"learned, the estimator {numbers} (p = {_small(permuted.p_value or 0.0)})."
    ]
    if permuted.promised_by_other is not None:
        told.append(
            f"{_reason(permuted)}: with as many columns that were selected for other responses it "
            f"promises {permuted.promised_by_other:.2f}."
        )
    return told


def _reason(permuted: "ErrorsWithPermuted") -> str:
    """Return which part of the overconfidence is due to the selection."""
    part = permuted.due_to_selection or 0.0
    whole = permuted.mean_actual - permuted.mean_promised
    if part > 0.5 * whole:
        return "Selection is the main reason"
    too_close = "a model that fits its columns too closely"
    if part > 0.1 * whole:
        return f"Selection is the reason for {part:.2f} of {whole:.2f}, {too_close} for the rest"
    return f"Selection is not the reason, but {too_close}"


def _error(audit: "SelectionAudit") -> str:
    real, n_permuted = audit.real, len(audit.permuted.actual)
    told = f"With the real responses {_error_name(audit)} is {_with_interval(real.actual)}"
    if real.promised is not None:
        told += f", where {real.promised.value:.2f} is promised"
    if real.p_value > audit.alpha:
        return f"{told}; that is no better than with permuted responses (p = {real.p_value:.2f})."
    ending = f"lower than with {n_permuted} permuted responses (p = {real.p_value:.2g})"
    if audit.selected_outside:
        return f"{told}, {ending}; but the cases left out took part in the selection."
    return f"{told}, {ending}."


def advice(audit: "SelectionAudit", words: Words) -> list[str]:
    """Return what to do about each alarm."""
    told = []
    if audit.selected_outside:
        told += _instead_of_selecting_before(audit, words)
    if audit.overconfident and not audit.selected_outside:
        told += _instead_of_the_promise(audit, words)
    return told


def _ours(audit: "SelectionAudit") -> str:
    return "SelectiveClassifier" if audit.n_classes else "SelectiveRegressor"


def _instead_of_selecting_before(audit: "SelectionAudit", words: Words) -> list[str]:
    ours, earlier, features = _ours(audit), audit.earlier, audit.features
    fixed = features is not None and features.agreement is not None
    k = round(features.n_features) if fixed and features is not None else audit.n_columns
    inside = words.inside.format(ours=ours, k=k)
    if earlier is not None:
        return [
            f"Select inside of the folds: {inside}. In these folds {_error_name(audit)} is then "
            f"{_with_interval(earlier.error_inside)}, not {audit.real.actual.value:.2f}. With "
            "permuted responses, where nothing can be predicted, selecting before the folds "
            f"reports {earlier.error_permuted:.2f}."
        ]
    if fixed:
        return [
            f"Put the selector inside of the pipeline, not fitted before: {inside}. The error "
            "above says nothing of new cases."
        ]
    return [
        f"Go back to the table before the selection, and select inside of the folds: {inside}. "
        "The error above says nothing of new cases.",
        "If that table is lost, say how many columns it had, as in "
        f"{words.lost.format(ours=ours)}.",
    ]


def _instead_of_the_promise(audit: "SelectionAudit", words: Words) -> list[str]:
    remedy = audit.remedy
    if remedy is None:
        return ["Do not act on the promised error: use the one of cases left out."]
    code = words.ours if remedy.k is None else words.ours_k
    difference = remedy.difference
    numbers = (
        f"{code.format(ours=_ours(audit), k=remedy.k)}: its log loss in the same folds is "
        f"{remedy.log_loss:.3f}, and that of the estimator {remedy.log_loss_audited:.3f} "
        f"(difference {difference.value:+.3f}, {difference.low:+.3f} to {difference.high:+.3f}); "
        f"it promises {remedy.promised:.2f} and makes {remedy.actual:.2f}"
    )
    if remedy.is_better:
        return [f"Use {numbers}."]
    return [
        "Do not act on the promised error: use the one of cases left out. What was tried in place "
        f"of the estimator is not clearly better, {numbers}."
    ]


def listed(audit: "SelectionAudit", words: Words) -> str:
    """Return the audit as text: verdict, advice, and a table of figures."""
    n_columns = f"{audit.n_columns} columns"
    head = f"Audit of {audit.estimator}: {audit.n_cases} cases, {n_columns}"
    marks = ["! " if ring else "  " for ring in (audit.selected_outside, audit.overconfident)]
    selection, *others = findings(audit, words)
    lines = [_item(marks[0], selection), _item(marks[1], others[0])]
    lines += [_item("  ", sentence) for sentence in others[1:]]
    lines += [_item("> ", sentence) for sentence in advice(audit, words)]
    return "\n".join([head, *lines, "", listing(("", "promised", "actual"), _rows(audit))])


def _item(mark: str, sentence: str) -> str:
    return fill(sentence, _WIDTH, initial_indent=mark, subsequent_indent="  ")


def _rows(audit: "SelectionAudit") -> list[tuple[Any, ...]]:
    real, permuted = audit.real, audit.permuted
    promised = None if permuted.promised is None else permuted.mean_promised
    rows: list[tuple[Any, ...]] = [
        ("real responses", real.promised and real.promised.value, real.actual.value),
        (f"permuted responses, mean of {len(permuted.actual)}", promised, permuted.mean_actual),
    ]
    if permuted.promised_by_other is not None:
        rows.append(("the same, selected for others", permuted.promised_by_other, None))
    if audit.earlier is not None:
        rows.append(("real, selected inside the folds", None, audit.earlier.error_inside.value))
        rows.append(("permuted, selected before the folds", None, audit.earlier.error_permuted))
    rows.append(("no columns", None, audit.chance_error))
    return rows


def _error_name(audit: "SelectionAudit") -> str:
    if audit.n_classes:
        return "the error"
    return "the root mean squared error, in standard deviations of the response,"


def _an_error(audit: "SelectionAudit") -> str:
    return "an error" if audit.n_classes else "a root mean squared error"


def _with_interval(estimate: Any) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _small(p_value: float) -> str:
    """Return a p-value to two digits.

    >>> _small(0.0312), _small(1.0), _small(3.2e-12)
    ('0.031', '1', '3.2e-12')
    """
    return f"{p_value:.2g}"
