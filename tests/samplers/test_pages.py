"""The pages on samplers give what they show."""

import doctest
import logging
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs" / "guide"


@pytest.mark.parametrize("name", ["numpyro.md", "pymc.md"])
def test_examples_give_what_they_show(name):
    logging.getLogger("pymc").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed, attempted = doctest.testfile(str(DOCS / name), module_relative=False)
    assert failed == 0 < attempted
