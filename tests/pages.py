"""What is in the pages of reports."""

import re
from importlib import import_module

import pytest
from matplotlib import pyplot

from unselected.report import report

# Few methods to compare with, for tests of what else is in a page.
FEW = ["uncorrected", "SelectKBest + LogisticRegression", "class frequencies"]


def section(page, name):
    """Return what is under a heading."""
    return page.split(f"<h2>{name}</h2>")[1].split("</section>")[0]


def cells_of(page, heading):
    """Return the rows of the tables under a heading."""
    rows = re.findall(r"<tr>(<td>.*?)</tr>", section(page, heading))
    return [re.findall(r"<td>(.*?)</td>", row) for row in rows]


def stands_alone(page):
    """Check that a page asks for nothing, and says nothing that is not a number."""
    assert len(page.encode()) < 1_500_000
    assert page.count("<script>") == page.count("<script") == 1
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert not re.search(r'(src|href)="(?!#)', without_namespaces)
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page
    assert "fetch" not in page
    assert not re.search(r"\bnan\b", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))


def without_pictures(findings, **settings):
    """Return a page whose pictures are drawn and thrown away, which takes less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("unselected.report.page"), "inline_svg", _thrown_away)
        return report(findings, **settings)


def _thrown_away(display):
    pyplot.close(display.figure_.figure)
    return "<svg></svg>"
