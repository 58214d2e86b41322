"""Pictures are drawn without a screen, and no figure is left open."""

import matplotlib as mpl
import pytest

mpl.use("agg")

from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
