"""Seeds: one by default, many on demand with UNSELECTED_TEST_SEEDS=20."""

import gc
import os

import pytest

N_SEEDS = int(os.environ.get("UNSELECTED_TEST_SEEDS", "1"))


@pytest.fixture(params=range(N_SEEDS), ids=lambda seed: f"seed{seed}")
def seed(request: pytest.FixtureRequest) -> int:
    """Any test that takes a seed must pass with every seed."""
    return int(request.param)


def pytest_collection_finish() -> None:
    """Let the collector leave alone what was imported: each look at that takes a third of a second.

    Tests that look for files left open ask it to look often.
    """
    gc.collect()
    gc.freeze()
