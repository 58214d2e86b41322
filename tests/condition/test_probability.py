"""Gates, lattices, what is exported, and bad input."""

import json
import re

import numpy as np
import pytest
from condition_models import GAMMA, Y, correlation, gaussian
from scipy.stats import norm

from unselected.condition import ImpreciseEventError, SelectionProbability
from unselected.condition.differentiable import log_event

CLASSES = np.repeat([0, 1], 10)
THRESHOLD = 1.2


def simulate(parameters, n, rng):
    """Differences between classes ~ N(shift, tau^2 + 0.2); a shift of 0 may be left out."""
    effect = parameters.get("shift", 0.0) + parameters["tau"] * rng.normal(size=n)
    return rng.normal(size=(20, n)) + np.outer(CLASSES - 0.5, effect)


def difference(X, y):
    return np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))


def summarize(X, y):
    return (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))[np.newaxis]


def log_density(columns, parameters):
    variance = parameters["tau"] ** 2 + 0.2
    residual = columns[0] - parameters.get("shift", 0.0)
    return -0.5 * residual**2 / variance - 0.5 * np.log(variance)


def log_omission(tau, shift=0.0):
    spread = np.sqrt(tau**2 + 0.2)
    ends = (np.array([-THRESHOLD, THRESHOLD]) - shift) / spread
    return float(np.log(np.diff(norm.cdf(ends))[0]))


def made(threshold=THRESHOLD, score=difference, simulate=simulate, **options):
    return SelectionProbability(simulate, score, threshold, y=CLASSES, **options)


def reweighted(**options):
    options = {"references": [{"tau": 0.3}, {"tau": 1.5}]} | options
    return made(log_density=log_density, summarize=summarize, **options)


def test_strong_references_need_fewer_features(seed):
    """At m = 10^4 and P = 0.008; plain simulation says what it would take."""
    parameters, m = {"tau": 0.1}, 10_000
    omission = reweighted(seed=seed, tolerance=0.5)
    value, se = omission.log_event(parameters, m)
    assert value == pytest.approx(m * log_omission(0.1), abs=5.0 * se)
    assert se <= 0.5
    n_plain = m**2 * np.expm1(-log_omission(0.1)) / 0.5**2
    assert omission.diagnose(parameters, m).n_draws < 0.5 * n_plain
    with pytest.raises(ImpreciseEventError, match=r"about \S+ would be needed, and max_draws is"):
        made(seed=seed, tolerance=0.5, max_draws=1 << 20).log_event(parameters, m)


def test_a_proposal_that_misses_the_tail_trips_the_gate(seed):
    """Twin: the same without the miss."""
    weak = [{"tau": 0.0, "shift": 1.0}]
    options = {"seed": seed, "n_draws": 4096, "max_draws": 8192}
    missing = {"tau": 0.0, "shift": -1.0}  # on the other side
    for references, passes in ((weak, False), ([*weak, missing], True)):
        omission = reweighted(references=references, **options)
        draws = {name: [value] for name, value in missing.items()}
        check = omission.check(draws, 1)
        assert check.reliable is passes
        assert (check.largest_se < 0.1) is passes
    # The weights of the kept columns alone would not have said so.
    alone = reweighted(references=weak, **options)
    columns, log_weights = alone.selected_columns()
    terms = np.exp(log_density(columns, missing) + log_weights)
    assert terms.sum() < 0.1 < -np.expm1(log_omission(0.0, -1.0))


def test_the_gate_stops_where_more_features_are_not_allowed(seed):
    omission = reweighted(seed=seed, n_draws=2048, max_draws=4096)
    with pytest.raises(ImpreciseEventError, match="effective selected draws"):
        omission.log_event({"tau": 0.1}, 10**6)
    assert not omission.diagnose({"tau": 0.1}, 10**6).reliable
    assert omission.diagnose({"tau": 0.1}, 1).reliable
    with pytest.raises(ImpreciseEventError, match="max_bytes = 1000"):
        reweighted(max_bytes=1000).log_event({"tau": 0.1}, 10)


def test_nothing_to_condition_on():
    assert reweighted().log_event({"tau": 0.1}, 0) == (0.0, 0.0)


def test_the_same_seed_gives_the_same_number():
    values = [reweighted(seed=s).log_event({"tau": 0.4}, 50).log_event for s in (0, 0, 1)]
    assert values[0] == values[1] != values[2]


def test_a_probability_too_small_to_matter_needs_no_selected_features():
    omission = reweighted(references=[{"tau": 2.0}], threshold=4.0)
    value, se = omission.log_event({"tau": 0.0}, 10)
    assert -0.1 < value <= 0.0
    assert 0.0 < se < 0.1


def test_weights_are_merged_for_columns_that_are_equal():
    def rounded(X, y):
        return np.round(summarize(X, y), 1)

    omission = made(log_density=log_density, summarize=rounded, references=[{"tau": 1.5}])
    columns, log_weights = omission.selected_columns()
    assert np.unique(columns).size == columns.shape[1] < 300
    selected = np.exp(log_density(columns, {"tau": 1.5}) + log_weights).sum()
    assert selected == pytest.approx(-np.expm1(log_omission(1.5)), abs=0.03)


@pytest.mark.parametrize("door", ["simulated", "reweighted"])
def test_a_lattice_of_one_parameter(door, seed):
    make = made if door == "simulated" else reweighted
    omission = make(lattice={"tau": np.linspace(0.0, 1.0, 11)}, seed=seed, tolerance=0.3)
    for tau in (0.0, 0.07, 0.33, 0.5):
        value, se = omission.log_event({"tau": tau}, 100)
        assert value == pytest.approx(100 * log_omission(tau), abs=4.5 * se)
    exported = json.loads(json.dumps(omission.export()))
    assert exported["parameter"] == "tau"
    assert len(exported["coefficients"]) == len(exported["nodes"]) - 1 == 40
    for tau in (0.0, 0.07, 0.33, 0.5):
        value, _ = omission.log_event({"tau": tau}, 100)
        assert log_event(np, omission, {"tau": tau}, 100) == pytest.approx(value, abs=0.01)
    i = np.searchsorted(exported["nodes"], 0.33) - 1
    step = 0.33 - exported["nodes"][i]
    by_hand = sum(c * step**power for power, c in enumerate(exported["coefficients"][i]))
    assert 100 * by_hand == pytest.approx(log_event(np, omission, {"tau": 0.33}, 100), rel=1e-12)
    # Beyond its ends it goes on as a line, which the check tells.
    ends = [log_event(np, omission, {"tau": tau}, 100) for tau in (1.0, 1.1, 1.2)]
    assert ends[1] - ends[0] == pytest.approx(ends[2] - ends[1])
    check = omission.check({"tau": [0.2, 0.3, 1.1]}, 100)
    assert (check.n_outside, check.failed) == (1, (2,))
    with pytest.raises(ValueError, match=r"tau = 1\.1 is outside of the lattice, 0 to 1"):
        omission.log_event({"tau": 1.1}, 100)


def test_a_lattice_of_two_parameters(seed):
    lattice = {"tau": np.linspace(0.0, 0.8, 9), "shift": np.linspace(-0.6, 0.6, 9)}
    omission = made(lattice=lattice, seed=seed, tolerance=0.5)
    for tau, shift in ((0.13, 0.0), (0.35, 0.5), (0.0, -0.52)):
        value, se = omission.log_event({"tau": tau, "shift": shift}, 50)
        assert value == pytest.approx(50 * log_omission(tau, shift), abs=4.5 * se)
    with pytest.raises(ValueError, match="only a lattice of one parameter"):
        omission.export()


def test_a_lattice_that_is_too_coarse_says_so():
    omission = reweighted(lattice={"tau": np.linspace(0.0, 12.0, 7)})
    with pytest.raises(ImpreciseEventError, match="Place nodes closer together"):
        omission.log_event({"tau": 1.0}, 100)


def test_plain_simulation_has_common_random_numbers(seed):
    """Values at close parameters differ by much less than their errors."""
    omission = made(seed=seed, tolerance=1.0)
    (first, se), (second, _) = (omission.log_event({"tau": tau}, 500) for tau in (0.3, 0.301))
    assert first == pytest.approx(500 * log_omission(0.3), abs=4.5 * se)
    exact = 500 * (log_omission(0.301) - log_omission(0.3))
    assert second - first == pytest.approx(exact, abs=0.5 * se)


def test_prepare_lets_the_check_pass(seed):
    door = gaussian()
    omission = door.omission(references=[{"tau": 0.1}], seed=seed, n_draws=4096)
    draws = {"tau": np.linspace(0.1, 0.6, 6), "other": np.zeros(6)}
    before = omission.check(draws, 20)
    assert not before.reliable
    assert before.n_checked == 6 > before.n_failed > 0
    omission.prepare(draws, 20)
    after = omission.check(draws, 20)
    assert after.reliable
    assert after.largest_se <= omission.tolerance < before.largest_se
    assert omission.check(draws, 20, at_most=2).n_checked == 2


def test_latent_variables_of_the_cases_are_parameters(seed):
    """Batches shift cases; with their shifts along the classes all features are selected often."""

    def simulate_with_batches(parameters, n, rng):
        return rng.normal(size=(20, n)) + np.outer(parameters["batch"], rng.normal(size=n))

    def log_density_with_batches(columns, parameters):
        z = np.asarray(parameters["batch"])
        along, length = z @ columns, z @ z  # I + z z'
        return 0.5 * along**2 / (1.0 + length) - 0.5 * np.log1p(length)

    rng = np.random.default_rng(seed)
    along, across = 0.5 * (CLASSES - 0.5), 0.25 * rng.permutation(CLASSES * 2 - 1.0)
    omission = made(
        simulate=simulate_with_batches,
        log_density=log_density_with_batches,
        seed=seed,
        tolerance=0.5,
    )
    for batch in (along, across):
        # z' x has the variance of the difference of two means.
        spread = np.sqrt(0.2 + (batch @ (CLASSES - 0.5) / 5.0) ** 2)
        exact = 100 * np.log(1.0 - 2.0 * norm.sf(THRESHOLD / spread))
        value, se = omission.log_event({"batch": batch}, 100)
        assert value == pytest.approx(exact, abs=4.5 * se)


def nan_for_one(X, y):
    return np.where(np.arange(X.shape[1]) == 3, np.nan, difference(X, y))


BAD = {
    "NaN": ({"score": nan_for_one}, r"score returned NaN for 1 of \d+ simulated features"),
    "scores of the wrong shape": (
        {"score": lambda X, y: difference(X, y)[:5]},
        r"score returned the shape \(5,\) for 4096 features",
    ),
    "features of the wrong shape": (
        {"simulate": lambda parameters, n, rng: simulate(parameters, n, rng).T},
        r"returned the shape \(4096, 20\); it must be \(cases, features\) = \(20, 4096\)",
    ),
    "ties everywhere": (
        {"score": lambda X, _: np.ones(X.shape[1])},
        r"all \d+ simulated features have the same score, 1",
    ),
    "nobody passes": (
        {"threshold": 50.0},
        r"none of \d+ simulated features has a score above the threshold 50; the highest is",
    ),
    "everybody passes": ({"threshold": -1.0}, r"all \d+ simulated features have a score above"),
}


@pytest.mark.parametrize("make", [made, reweighted])
@pytest.mark.parametrize("fault", BAD)
def test_bad_functions_get_one_clear_error(fault, make):
    options, message = BAD[fault]
    with pytest.raises(ValueError, match=message):
        make(**options).log_event({"tau": 0.3}, 10)
    with pytest.raises(ValueError, match=message):
        make(lattice={"tau": np.linspace(0.0, 1.0, 7)}, **options).log_event({"tau": 0.3}, 10)


BAD_DENSITIES = {
    "not normalized": lambda columns, parameters: (
        log_density(columns, parameters) + 0.2 * np.log(parameters["tau"] ** 2 + 0.2)
    ),
    "of another model": lambda columns, parameters: log_density(columns / 2.0, parameters),
    "impossible": lambda columns, parameters: np.where(
        np.abs(columns[0]) > 1.5, -np.inf, log_density(columns, parameters)
    ),
}


@pytest.mark.parametrize("fault", BAD_DENSITIES)
def test_a_density_of_something_else_gets_an_error(fault):
    omission = made(
        log_density=BAD_DENSITIES[fault],
        summarize=summarize,
        references=[{"tau": 0.3}, {"tau": 1.5}],
    )
    with pytest.raises(ValueError, match="log_density does not match simulate_feature"):
        omission.log_event({"tau": 0.7}, 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": np.nan}, "threshold must be a finite number"),
        ({"tolerance": 0.0}, "tolerance must be above 0"),
        ({"n_draws": 1}, "n_draws must be from 2 to max_draws"),
        ({"references": [{"tau": 1.0}]}, "references and summarize need log_density"),
        ({"lattice": {"tau": [0.0, 1.0]}}, "at least 7 nodes of tau"),
        ({"lattice": {"tau": np.ones(7)}}, "nodes of tau must be finite and increase"),
        ({"lattice": {}}, "one or two parameters, not 0"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        made(**options)


def test_bad_calls():
    omission = reweighted()
    for n_omitted in (-1, 1.5):
        with pytest.raises(ValueError, match="n_omitted must be a number of features"):
            omission.log_event({"tau": 0.3}, n_omitted)
    with pytest.raises(ValueError, match="parameters must map names"):
        omission.log_event([0.3], 10)
    with pytest.raises(ValueError, match=re.escape("draws have no 'tau'; they have sigma")):
        omission.check({"sigma": [1.0]}, 10)
    with pytest.raises(ValueError, match="first axis of equal length"):
        omission.check({"tau": 1.0}, 10)
    with pytest.raises(ValueError, match="export needs a lattice"):
        omission.export()
    with pytest.raises(ValueError, match="a sampler needs log_density, or a lattice"):
        made().selected_columns()
    with pytest.raises(ValueError, match="nothing was simulated yet"):
        made(log_density=log_density).selected_columns()
    with pytest.raises(ValueError, match="lattice is over tau, but the parameters are sigma"):
        made(lattice={"tau": np.linspace(0.0, 1.0, 7)}).log_event({"sigma": 1.0}, 10)
    wrong = {
        "log_density": lambda columns, _: columns[:, :3],
        "summarize": lambda X, _: X.sum(),
    }
    for name, function in wrong.items():
        options = {"log_density": log_density, "summarize": summarize, name: function}
        with pytest.raises(ValueError, match=f"{name} returned the shape"):
            made(**options).log_event({"tau": 0.3}, 10)
    with pytest.raises(ValueError, match="log_density returned nan"):
        made(log_density=lambda columns, _: np.full(columns.shape[1], np.nan)).log_event(
            {"tau": 0.3}, 10
        )


def test_an_error_leaves_what_was_simulated(seed):
    """A simulation that fails half-way is as if it had not begun."""
    omission, fails = reweighted(seed=seed), []

    def failing(columns, parameters):
        if fails:
            raise ZeroDivisionError
        return log_density(columns, parameters)

    twin = made(
        log_density=failing, summarize=summarize, references=[{"tau": 0.3}, {"tau": 1.5}], seed=seed
    )
    for each in (omission, twin):
        each.log_event({"tau": 0.2}, 10)
    fails.append(True)
    with pytest.raises(ZeroDivisionError):
        twin.log_event({"tau": 0.2}, 1000)
    fails.clear()
    assert omission.log_event({"tau": 0.2}, 1000) == twin.log_event({"tau": 0.2}, 1000)


def test_the_module_of_the_models_selects_by_correlation():
    """The helpers of the other test: a threshold between the values that |COR| can take."""
    X = np.column_stack([Y, 1 - Y, np.zeros(Y.size)])
    assert correlation(X, Y).tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert 0.0 < GAMMA < 1.0
