"""Pictures as text, to stand in a page."""

import io

import matplotlib as mpl
from matplotlib import pyplot as plt

from unselected.plots.display import Display


def inline_svg(display: Display) -> str:
    """Return the figure of a display as an SVG element for an HTML page, and let pyplot forget it.

    Text stays text, which can be searched, and equal pictures are equal text.

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
    return text.getvalue()[text.getvalue().index("<svg") :]
