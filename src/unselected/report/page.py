"""The parts of a page: tables, pictures, sections, and the style, all in one piece of HTML."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from unselected.calibration import Estimate
from unselected.plots import inline_svg

CITATION = (
    "Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature selection "
    "with application to naive Bayes classification models. Technical Report No. 0705, Department "
    "of Statistics, University of Toronto."
)

# Rows of a long table that are shown at once.
_UNFOLDED = 20


def page(title: str, verdict: Sequence[str], sections: Sequence[tuple[str, str]]) -> str:
    """Return a whole page: what the numbers mean, and HTML by its headings."""
    whole = [("Verdict", "".join(map(paragraph, verdict))), *sections]
    body = "".join(f"<section><h2>{name}</h2>{content}</section>" for name, content in whole)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def paragraph(text: str) -> str:
    """Return plain text as a paragraph."""
    return f"<p>{escape(text)}</p>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of plain text, which scrolls on its own where the page is narrow.

    >>> "<td>&lt;b&gt;</td>" in table(["a"], [["<b>"]])
    True
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{whole}</div>'


def folded_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of which a reader sees the first rows, and opens the others.

    >>> folded_table(["a"], [["1"]]) == table(["a"], [["1"]])
    True
    """
    first, others = rows[:_UNFOLDED], rows[_UNFOLDED:]
    if not others:
        return table(header, rows)
    summary = f"<summary>{len(others)} more rows</summary>"
    return f"{table(header, first)}<details>{summary}{table(header, others)}</details>"


def pictures(figures: Sequence[tuple[str, Any]]) -> str:
    """Return drawn displays, each with its caption."""
    return "".join(
        f"<figure>{inline_svg(display)}<figcaption>{escape(caption)}</figcaption></figure>"
        for caption, display in figures
    )


def settings_table(settings: dict[str, Any]) -> str:
    """Return the settings."""
    rows = [(name, str(value)) for name, value in settings.items()]
    return table(("setting", "value"), rows)


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
    """Return a fraction in percent.

    >>> percent(0.254)
    '25 %'
    """
    return f"{100 * value:.0f} %"


def decimals(value: float) -> str:
    """Return a number with three decimals.

    >>> decimals(0.25)
    '0.250'
    """
    return f"{value:.3f}"


def digits(value: float) -> str:
    """Return a number with four digits, for numbers of any size.

    >>> digits(0.25), digits(0.000123456), digits(12.3456)
    ('0.2500', '0.0001235', '12.35')
    """
    return f"{value:#.4g}"


def with_interval(estimate: Estimate, show: Callable[[float], str] = digits) -> str:
    """Return an estimate and its interval.

    >>> with_interval(Estimate(0.25, 0.2, 0.3, 0.95), decimals)
    '0.250 (0.200 to 0.300)'
    """
    return f"{show(estimate.value)} ({show(estimate.low)} to {show(estimate.high)})"


_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:#111;
background:#fff}
h1{font-size:1.6rem}h2{font-size:1.2rem;border-bottom:1px solid #999;margin-top:2rem}
table{border-collapse:collapse;font-size:.85rem}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #ddd;vertical-align:top}
th{vertical-align:bottom}th:first-child,td:first-child{text-align:left}td+td{white-space:nowrap}
.wide{overflow-x:auto}
summary{cursor:pointer;font-size:.85rem;margin:.5rem 0}
figure{display:inline-block;margin:0 1rem 1rem 0;width:28rem;max-width:100%;vertical-align:top}
figure svg{width:100%;height:auto}
figcaption{font-size:.85rem;color:#333}
@media(max-width:40rem){th+th{min-width:9rem}}
@media print{body{max-width:none;font-size:11pt}figure,tr{break-inside:avoid}
.wide{overflow:visible}}
"""
