"""Pictures as text, to stand in a page."""

import io
import re

import matplotlib as mpl
from matplotlib import pyplot as plt

from unselected.plots.display import Display
from unselected.plots.style import BAND, DARK, INK, LIGHT, MIDDLE, PALE

# The names under which a page may have other colours than these, as for a dark screen.
COLOR_NAMES = {
    "#000000": "ink",
    "#ffffff": "paper",
    INK: "ink",
    DARK: "dark",
    MIDDLE: "middle",
    LIGHT: "light",
    PALE: "pale",
    BAND: "band",
}
_COLOR = re.compile("|".join(COLOR_NAMES))


def inline_svg(display: Display) -> str:
    """Return the figure of a display as an SVG element for an HTML page, and let pyplot forget it.

    Text stays text, which can be searched, and equal pictures are equal text. The colours of the
    palette are variables of CSS, ``--ink`` and so on, that a page may set.

    Parameters
    ----------
    display : any of the displays, drawn

    Returns
    -------
    svg : str

    Examples
    --------
    >>> from unselected.plots import SelectedCountsDisplay
    >>> inline_svg(SelectedCountsDisplay.from_counts(3, 4, 0.5))[:5]
    '<svg '
    """
    figure = display.figure_.figure
    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "unselected"}):
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    svg = text.getvalue()[text.getvalue().index("<svg") :]
    return _COLOR.sub(lambda found: f"var(--{COLOR_NAMES[found[0]]}, {found[0]})", svg)
