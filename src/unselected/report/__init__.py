"""One self-contained HTML page on a data set: a verdict, the kept features, calibration, pictures.

No network: pictures are inline SVG, and style and script are in the page.
"""

from unselected.report.classes import Findings, examine
from unselected.report.page import page
from unselected.report.responses import RegressionFindings, examine_regression

__all__ = [
    "Findings",
    "RegressionFindings",
    "examine",
    "examine_regression",
    "report",
    "verdict",
]


def report(
    findings: Findings | RegressionFindings, *, title: str = "Feature selection report"
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    findings : Findings or RegressionFindings
        From `examine` or `examine_regression`.
    title : str

    Returns
    -------
    html : str
    """
    return page(title, findings.first_screen(), findings.sections())


def verdict(findings: Findings | RegressionFindings) -> list[str]:
    """Return what the numbers mean in two sentences, and what to know before believing them."""
    return [*findings.verdict(), *findings.cautions()]
