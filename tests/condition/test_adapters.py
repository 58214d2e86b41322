"""The adapters without their libraries; with them they are tested in tests/samplers."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("name", ["numpyro", "pymc"])
def test_a_missing_sampler_says_what_to_install(name):
    code = f"import sys; sys.modules[{name!r}] = None; import unselected.{name}"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert last.endswith(f': pip install "unselected[{name}]"')
