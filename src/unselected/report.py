"""One self-contained HTML page on a data set: a verdict, the kept features, calibration, pictures.

No network, no scripts: pictures are inline SVG and styles are in the page.
"""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unselected import __version__
from unselected.calibration import DecileRow, Estimate, decile_table
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.experiments import ComparisonRecord, ComparisonRow, compare, comparison_table
from unselected.plots import (
    ConcentrationDisplay,
    OmissionProbabilityDisplay,
    ProbabilityScatterDisplay,
    ReliabilityDisplay,
    inline_svg,
)

CITATION = (
    "Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature selection "
    "with application to naive Bayes classification models. Technical Report No. 0705, Department "
    "of Statistics, University of Toronto."
)


@dataclass(frozen=True)
class Findings:
    """What a report tells: both classifiers on all cases, and both cross-validated.

    ``probability`` holds, for each method, the cross-validated probabilities of the second class,
    averaged over the repetitions.
    """

    corrected: SelectiveBernoulliNB
    uncorrected: SelectiveBernoulliNB
    names: Sequence[str] | NDArray[Any]
    y: NDArray[np.intp]
    probability: dict[str, NDArray[np.float64]]
    rows: dict[str, ComparisonRow]
    settings: dict[str, Any]


def examine(
    X: Any,
    y: Any,
    *,
    classifier: SelectiveBernoulliNB,
    names: Sequence[str] | NDArray[Any] | None = None,
    n_splits: int = 5,
    n_repeats: int = 5,
    seed: int = 0,
    provenance: dict[str, Any] | None = None,
    progress: bool = False,
) -> Findings:
    """Fit a classifier with and without correction, and cross-validate both.

    Parameters
    ----------
    X, y : array-like
        The data, two classes.
    classifier : SelectiveBernoulliNB
        What to fit; it is not changed.
    names : sequence of str, default=None
        Names of the columns of X.
    n_splits, n_repeats, seed
        Of the cross-validation.
    provenance : dict, default=None
        More settings to show: the input file, its hash.

    Returns
    -------
    findings : Findings
    """
    X = np.asarray(X)
    corrected, uncorrected = (
        clone(classifier).set_params(correct_selection=flag).fit(X, y) for flag in (True, False)
    )
    k = corrected.selection_.indices.size
    records = compare(
        X,
        y,
        k=max(1, k),
        classifier=classifier,
        n_splits=n_splits,
        n_repeats=n_repeats,
        seed=seed,
        progress=progress,
    )
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    return Findings(
        corrected=corrected,
        uncorrected=uncorrected,
        names=[f"column {j}" for j in range(X.shape[1])] if names is None else names,
        y=codes,
        probability=_mean_probability(records),
        rows={row.method: row for row in comparison_table(records, y, seed=seed)},
        settings={
            **(provenance or {}),
            "seed": seed,
            "cross-validation": f"{n_repeats} x {n_splits}-fold, stratified",
            **{name: repr(value) for name, value in classifier.get_params().items()},
            **_versions(),
        },
    )


def _mean_probability(records: Sequence[ComparisonRecord]) -> dict[str, NDArray[np.float64]]:
    methods = dict.fromkeys(record.method for record in records)
    return {
        method: np.mean([r.probability for r in records if r.method == method], axis=0)
        for method in methods
    }


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"unselected": __version__, "python": platform.python_version(), **packages}


def report(findings: Findings, *, title: str = "Feature selection report") -> str:
    """Return the page as HTML.

    Parameters
    ----------
    findings : Findings
        From `examine`.
    title : str

    Returns
    -------
    html : str
    """
    sections = [
        ("Verdict", "".join(f"<p>{escape(text)}</p>" for text in verdict(findings))),
        ("Methods compared", _comparison(findings)),
        ("Selected features", _features(findings)),
        ("Calibration", _calibration(findings)),
        ("Pictures", _pictures(findings)),
        ("Settings", _settings(findings)),
        ("Method", _method()),
    ]
    body = "".join(f"<section><h2>{name}</h2>{content}</section>" for name, content in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def verdict(findings: Findings) -> list[str]:
    """Return what the numbers mean, in sentences."""
    selection = findings.corrected.selection_
    corrected, uncorrected = findings.rows["corrected"], findings.rows["uncorrected"]
    sentences = [
        f"{selection.indices.size} of {selection.n_features} features were kept. In cross-"
        f"validation the classifier was wrong in {_percent(corrected.actual_error)} of cases.",
        f"Without correcting for the selection it would have promised an error rate of "
        f"{_percent(uncorrected.expected_error)}; {_judged(uncorrected)}. With the correction it "
        f"promises {_percent(corrected.expected_error)}; {_judged(corrected)}.",
    ]
    if corrected.expected_error.value < corrected.actual_error.low:
        sentences.append(
            "What is left of overconfidence after the correction does not come from the "
            "selection. The usual reason is that features depend on each other, so that the same "
            "evidence is counted several times: treat probabilities near 0 and 1 with caution."
        )
    if findings.corrected.preselected_from is not None:
        sentences.append(
            "The columns were selected before, from these very cases, so that cross-validation "
            "could not repeat the selection: the actual error rates shown here are too low."
        )
    best = min(findings.rows.values(), key=lambda row: row.log_loss.value)
    sentences.append(
        f"Of the methods compared below, {best.method!r} had the best log loss, "
        f"{best.log_loss.value:.3f}; corrected had {corrected.log_loss.value:.3f}, uncorrected "
        f"{uncorrected.log_loss.value:.3f}."
    )
    return sentences


def _judged(row: ComparisonRow) -> str:
    """Compare the promised error rate with the actual one, given its interval."""
    promised, actual = row.expected_error.value, row.actual_error
    if promised < actual.low:
        times = actual.value / promised if promised > 0 else float("inf")
        much = f"{times:.1f} times" if np.isfinite(times) else "infinitely"
        return f"the actual one was {much} as high, so that it would be overconfident"
    if promised > actual.high:
        return "the actual one was lower, so that it is too cautious"
    return "that agrees with the actual one"


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.0f} %"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _comparison(findings: Findings) -> str:
    header = ("method", "log loss", "squared error", "error", "expected error", "features needed")
    rows = [
        (
            row.method,
            *map(
                _with_interval,
                (row.log_loss, row.squared_error, row.actual_error, row.expected_error),
            ),
            f"{row.features_needed:.1f}",
        )
        for row in findings.rows.values()
    ]
    return (
        "<p>Cross-validated, with selection inside every fold for every method; 95 % intervals "
        "from resampling the cases. Probabilities can be trusted where expected and actual error "
        "agree.</p>" + _table(header, rows)
    )


def _with_interval(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _features(findings: Findings, most: int = 100) -> str:
    model = findings.corrected
    counts = model.panel().kept.counts
    order = np.argsort(-model.scores_, kind="stable")
    negative, positive = (str(label) for label in model.classes_)
    header = (
        "feature",
        "|correlation|",
        f"ones in {negative}",
        f"ones in {positive}",
        "at the cut",
    )
    rows = [
        (
            str(findings.names[model.selection_.indices[j]]),
            f"{model.scores_[j]:.3f}",
            f"{counts.I0[j]} of {counts.n0}",
            f"{counts.I1[j]} of {counts.n1}",
            "yes" if model.scores_[j] == model.threshold_ else "",
        )
        for j in order[:most]
    ]
    more = order.size - most
    ending = f"<p>and {more} more.</p>" if more > 0 else ""
    return _table(header, rows) + ending


def _calibration(findings: Findings) -> str:
    tables = [
        decile_table(findings.y, findings.probability[method])
        for method in ("corrected", "uncorrected")
    ]
    header = ("probability", *("cases", "mean prediction", "actual fraction") * 2)
    rows = [
        (f"{left.low:.1f} to {left.high:.1f}", *_cells(left), *_cells(right))
        for left, right in zip(*tables, strict=True)
    ]
    positive = escape(str(findings.corrected.classes_[1]))
    return (
        f"<p>Cross-validated probabilities of {positive}, in ten categories: first corrected, then "
        "uncorrected. Where they can be trusted, mean prediction and actual fraction agree.</p>"
        + _table(header, rows)
    )


def _cells(row: DecileRow) -> tuple[str, str, str]:
    if row.mean_prediction is None or row.actual_fraction is None:
        return "0", "", ""
    return str(row.count), f"{row.mean_prediction:.3f}", f"{row.actual_fraction:.3f}"


def _pictures(findings: Findings) -> str:
    corrected, uncorrected = (findings.probability[m] for m in ("corrected", "uncorrected"))
    both = {"corrected": findings.corrected, "uncorrected": findings.uncorrected}
    figures: list[tuple[str, Any]] = [
        ("Reliability, corrected", _reliability(findings.y, corrected)),
        ("Reliability, uncorrected", _reliability(findings.y, uncorrected)),
        (
            "Each case with and without correction",
            ProbabilityScatterDisplay.from_predictions(findings.y, corrected, uncorrected),
        ),
        ("How alike the classes are, given the data", ConcentrationDisplay.from_estimators(both)),
    ]
    if findings.corrected.threshold_ is not None:
        display = OmissionProbabilityDisplay.from_estimator(findings.corrected)
        figures.append(("Probability that a feature looks too weak to be kept", display))
    return "".join(
        f"<figure>{inline_svg(display)}<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, display in figures
    )


def _reliability(y: NDArray[np.intp], probability: NDArray[np.float64]) -> ReliabilityDisplay:
    """Return the reliability curve; its band is seeded, so that a page can be made again."""
    return ReliabilityDisplay.from_predictions(y, probability, random_state=0)


def _settings(findings: Findings) -> str:
    rows = [(name, str(value)) for name, value in findings.settings.items()]
    return _table(("setting", "value"), rows)


def _method() -> str:
    return (
        "<p>The features most correlated with the class were selected, and a naive Bayes model was "
        "conditioned on the selected features and on the fact that each of the others looked too "
        "weak to be selected. That second part removes the bias that selection makes: part of what "
        "is selected out of many features looks good by chance only. It does not remove the bias "
        f"that dependence between features makes.</p><p>{escape(CITATION)}</p>"
    )


_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#111;
background:#fff}
h1{font-size:1.6rem}h2{font-size:1.2rem;border-bottom:1px solid #999;margin-top:2rem}
table{border-collapse:collapse;font-size:.85rem}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #ddd;vertical-align:top}
th:first-child,td:first-child{text-align:left}
.wide{overflow-x:auto}
figure{display:inline-block;margin:0 1rem 1rem 0;width:28rem;max-width:100%;vertical-align:top}
figure svg{width:100%;height:auto}
figcaption{font-size:.85rem;color:#333}
@media print{body{max-width:none;font-size:11pt}figure,tr{break-inside:avoid}
.wide{overflow:visible}}
"""
