"""Seeds: one by default, many on demand with UNSELECTED_TEST_SEEDS=20."""

import gc
import importlib
import os
from functools import cache
from pathlib import Path

import hypothesis
import pytest

TESTS = Path(__file__).parent
N_SEEDS = int(os.environ.get("UNSELECTED_TEST_SEEDS", "1"))


# Folders and files of tests that are slow as a whole.
SLOW = (
    "calibration/test_real_response",
    "calibration/test_scores",
    "cli",
    "estimators/test_brute_force",
    "estimators/test_cautions",
    "estimators/test_classifier",
    "estimators/test_contract",
    "estimators/test_correlated",
    "estimators/test_dask",
    "estimators/test_dependence_report",
    "estimators/test_factor",
    "estimators/test_front_door_regressor",
    "estimators/test_genotypes",
    "estimators/test_leave_one_out",
    "estimators/test_mixture",
    "estimators/test_rates",
    "estimators/test_sklearn_checks",
    "estimators/test_sparse_prior",
    "experiments",
    "files/test_models",
    "files/test_open_columns",
    "fitted/test_effects",
    "fitted/test_rate_effects",
    "fitted/test_stack",
    "frozen",
    "models/test_batch",
    "models/test_coarse",
    "models/test_factor",
    "models/test_gaussian",
    "models/test_mixture",
    "models/test_given_totals",
    "models/test_regression",
    "models/test_two_groups",
    "plots/test_displays",
    "report",
    "selection/test_leaving_out",
    "statistics/test_several_classes",
    "test_scale_docs",
)

# A slow or busy machine is no reason to fail.
hypothesis.settings.register_profile(
    "default", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# For validation/mutation.py: few examples, the same each time, and a failure is not made smaller.
hypothesis.settings.register_profile(
    "mutation",
    hypothesis.settings.get_profile("default"),
    derandomize=True,
    database=None,
    max_examples=40,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile(os.environ.get("UNSELECTED_TEST_EXAMPLES", "default"))


@pytest.fixture(params=range(N_SEEDS), ids=lambda seed: f"seed{seed}")
def seed(request: pytest.FixtureRequest) -> int:
    """Any test that takes a seed must pass with every seed."""
    return int(request.param)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what runs many commands or many fits: `make test-fast` goes without them."""
    for item in items:
        if is_slow(item.path) or item.get_closest_marker("evidence") is not None:
            item.add_marker(pytest.mark.slow)


@cache
def is_slow(path: Path) -> bool:
    if not path.is_relative_to(TESTS):  # examples in docstrings
        return False
    inside = path.relative_to(TESTS).with_suffix("")
    return any(inside.is_relative_to(slow) for slow in SLOW)


def pytest_collection_finish() -> None:
    """Let the collector leave alone what was imported: each look at that takes a third of a second.

    Tests that look for files left open ask it to look often.
    """
    gc.collect()
    gc.freeze()


# What is patched is named, not imported: the process that hands out the tests and runs none reads
# this file too, and would load scikit-learn before any test starts.
DIVISIONS = "unselected.estimators.content_folds._MOST_DIVISIONS"
FOLDS = (
    "unselected.estimators.class_fitting.N_FOLDS",
    "unselected.estimators.content_folds._N_FOLDS",
)
# The methods that ours are compared with choose among few penalties and grow few trees.
RIVALS = {
    "penalized._MOST_STEPS": 20,
    "shrunken_centroids._N_THRESHOLDS": 4,
    "stability._N_RESAMPLES": 10,
    "usual_classifiers._N_TREES": 20,
    "usual_regressors._N_TREES": 20,
}


@pytest.fixture(scope="session")
def numbers_of_users():
    """The numbers of divisions and folds that users have, by name."""
    return {name: value_of(name) for name in (DIVISIONS, *FOLDS)}


def value_of(name):
    module, _, name = name.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.fixture
def all_divisions(monkeypatch, numbers_of_users):
    """Divide cases into folds as often as users have it, for the numbers that pages show."""
    monkeypatch.setattr(DIVISIONS, numbers_of_users[DIVISIONS])


@pytest.fixture(autouse=True, scope="session")
def few_divisions(numbers_of_users):
    """Divide cases into folds once, not ten times: the same steps in a tenth of the time."""
    assert numbers_of_users[DIVISIONS] > 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DIVISIONS, 1)
        yield


@pytest.fixture(autouse=True, scope="session")
def small_rivals():
    """Let the methods that ours are compared with take the same steps in a twentieth of the time.

    Also few bootstrap samples for the stability.
    """
    with pytest.MonkeyPatch.context() as patch:
        strengths = "unselected.experiments.penalized._STRENGTHS"
        patch.setattr(strengths, value_of(strengths)[::3])
        for name, few in RIVALS.items():
            patch.setattr(f"unselected.experiments.{name}", few)
        yield


@pytest.fixture(scope="module")
def few_folds(numbers_of_users):
    """Leave out three folds, not ten, where powers of likelihoods and weights are learned.

    This is for tests of what does not depend on how well they are learned.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in FOLDS:
            assert numbers_of_users[name] > 3
            patch.setattr(name, 3)
        yield


@pytest.fixture
def all_folds(monkeypatch, numbers_of_users):
    """Leave out as many folds as users have, in a module with `few_folds`."""
    for name in FOLDS:
        monkeypatch.setattr(name, numbers_of_users[name])


@pytest.fixture
def no_pictures(monkeypatch):
    """Draw no pictures into the pages of reports, for tests of what else is in them.

    Pages that fixtures of a whole module make have theirs.
    """
    page, pyplot = map(importlib.import_module, ("unselected.report.page", "matplotlib.pyplot"))

    def forget(display):
        pyplot.close(display.figure_.figure)
        return "<svg></svg>"

    monkeypatch.setattr(page, "inline_svg", forget)
