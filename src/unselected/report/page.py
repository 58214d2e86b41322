"""The parts of a page: tables, pictures, sections, and the style, all in one piece of HTML."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from unselected.calibration import Estimate
from unselected.plots import inline_svg
from unselected.report.look import SCRIPT, STYLE

CITATION = (
    "Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature selection "
    "with application to naive Bayes classification models. Technical Report No. 0705, Department "
    "of Statistics, University of Toronto."
)

# A picture with its caption; those of several panels are wide.
Figure = tuple[str, Any]


@dataclass(frozen=True)
class FirstScreen:
    """What a reader sees first.

    Attributes
    ----------
    verdict : list of str
        Two sentences.
    cautions : list of str
        What a reader must know before believing them: often nothing.
    figures : list of figures
    """

    verdict: list[str]
    cautions: list[str]
    figures: list[Figure]


def page(title: str, first: FirstScreen, sections: Sequence[tuple[str, str]]) -> str:
    """Return a whole page: what the numbers mean, and HTML by its headings."""
    cautions = "".join(f"<li>{escape(caution)}</li>" for caution in first.cautions)
    verdict = "".join(map(paragraph, first.verdict)) + (f"<ul>{cautions}</ul>" if cautions else "")
    body = "".join(
        f"<section{_kind_of_section(content)}><h2>{name}</h2>{content}</section>"
        for name, content in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>"
        f'<section class="verdict"><h2>Verdict</h2>{verdict}</section>{pictures(first.figures)}'
        f"{body}<script>{SCRIPT}</script></body></html>\n"
    )


def _kind_of_section(content: str) -> str:
    """Mark a section that shows nothing but words while it is folded: it is not printed."""
    shown = content.partition("<details>")[0]
    is_folded = shown != content and "<svg" not in content and "<table" not in shown
    return ' class="folded"' if is_folded else ""


def paragraph(text: str) -> str:
    """Return plain text as a paragraph."""
    return f"<p>{escape(text)}</p>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, sortable: bool = False) -> str:
    """Return a table of plain text, which scrolls on its own where the page is narrow.

    >>> "<td>&lt;b&gt;</td>" in table(["a"], [["<b>"]])
    True
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    kind = ' class="sortable"' if sortable else ""
    whole = f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="table">{whole}</div>'


def folded_table(summary: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table that a reader opens by its summary, and sorts by its headings."""
    content = table(header, rows, sortable=True)
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def pictures(figures: Sequence[Figure]) -> str:
    """Return drawn displays side by side, each with its caption."""
    return f'<div class="row">{"".join(_figure(*each) for each in figures)}</div>'


def wide_picture(caption: str, display: Any) -> str:
    """Return a drawn display over the whole width of the page, with its caption."""
    return _figure(caption, display, ' class="wide"')


def _figure(caption: str, display: Any, kind: str = "") -> str:
    words = f"<figcaption>{escape(caption)}</figcaption>"
    return f"<figure{kind}>{inline_svg(display)}{words}</figure>"


def settings_table(settings: dict[str, Any]) -> str:
    """Return the settings."""
    rows = [(name, str(value)) for name, value in settings.items()]
    return folded_table("Settings and versions", ("setting", "value"), rows)


def method_section(response: str, dependence: str = "", *, adjusted: bool = False) -> str:
    """Return what was done, in words, also about dependence between features; the reference."""
    last = "It does not remove the bias that dependence between features causes."
    given = ", given the covariates," if adjusted else ""
    return paragraph(
        f"The features most related to the {response}{given} were selected, and a naive Bayes "
        "model was conditioned on the selected features and on the fact that each of the others "
        "looked too weak to be selected. That second part removes the bias that selection causes: "
        "part of what is selected out of many features looks good by chance only. "
        f"{dependence or last}"
    ) + paragraph(CITATION)


def percent(value: float) -> str:
    """Return a fraction in percent; small ones with a decimal.

    >>> percent(0.254), percent(0.0042), percent(0.0)
    ('25 %', '0.4 %', '0 %')
    """
    return f"{100 * value:.1f} %" if 0.0 < value < 0.01 else f"{100 * value:.0f} %"


def decimals(value: float) -> str:
    """Return a number with three decimals.

    >>> decimals(0.25)
    '0.250'
    """
    return f"{value:.3f}"


def digits(value: float) -> str:
    """Return a number with four digits, or all those before the point, for numbers of any size.

    >>> digits(0.25), digits(0.000123456), digits(12.3456), digits(3234.4), digits(11158.7)
    ('0.2500', '0.0001235', '12.35', '3234', '11159')
    """
    return f"{value:.0f}" if 999.95 <= abs(value) < 1e7 else f"{value:#.4g}"


def with_interval(estimate: Estimate, show: Callable[[float], str] = digits) -> str:
    """Return an estimate and its interval.

    >>> with_interval(Estimate(0.25, 0.2, 0.3, 0.95), decimals)
    '0.250 (0.200 to 0.300)'
    """
    return f"{show(estimate.value)} ({show(estimate.low)} to {show(estimate.high)})"
