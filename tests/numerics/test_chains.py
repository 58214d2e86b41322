import pickle
import subprocess
import sys

import numpy as np
import pytest

from unselected.numerics.chains import ChainSettings, Diagnostics, Draws, run_chains


def walk(
    seed, *, pull=0.5, far=10.0, n_chains=4, n_draws=1000, n_warmup=50, progress=False, **options
):
    """Chains that are normal with variance 1 / (1 - pull^2), from overdispersed starts."""
    return run_chains(
        lambda chain, rng: np.array([far * chain, rng.normal()]),
        lambda x, rng: pull * x + rng.normal(size=2),
        lambda x: {"x": x, "sign": int(x[0] > 0), "one": 1.0},
        ChainSettings(n_chains, n_draws, n_warmup, seed, progress),
        watched=("x", "sign", "one"),
        **options,
    )


def test_draws_are_those_of_the_chains(seed):
    draws = walk(seed)
    assert draws["x"].shape == (4, 1000, 2)
    assert draws.stacked("x").shape == (4000, 2)
    assert draws.stacked("x").std() == pytest.approx(1 / np.sqrt(0.75), rel=0.1)
    assert repr(draws) == "Draws(4 chains of 1000 draws: x[2], sign, one)"
    with pytest.raises(ValueError, match="read-only"):
        draws["x"][0] = 0.0


def test_good_chains_give_no_complaint_and_bad_ones_do(seed):
    good = walk(seed, pull=0.0).diagnostics  # independent: R-hat is above 1.01 by chance no more
    assert good.names == ("x[0]", "x[1]", "sign", "one")
    assert good.complaint is None
    # An autoregression with coefficient 1/2 has an effective size of a third of its draws.
    assert walk(seed).diagnostics.ess_bulk[:2] == pytest.approx(4000 / 3, rel=0.35)
    assert np.isnan([good.r_hat[3], good.ess_bulk[3], good.ess_tail[3]]).all()
    bad = walk(seed, pull=0.9999, far=100.0).diagnostics
    assert bad.complaint.startswith("the chains have not mixed: x[0] (R-hat")
    assert bad.r_hat[0] > 1.1 > 1.01 > good.r_hat[0]


def test_chains_that_stand_still_at_different_places_have_not_mixed():
    still = Draws({"z": np.repeat(np.arange(4)[:, np.newaxis], 10, axis=1)}, ("z",))
    assert np.isinf(still.diagnostics.r_hat[0])
    assert "z (R-hat inf" in still.diagnostics.complaint


def test_few_draws_are_not_diagnosed():
    assert np.isnan(walk(0, n_draws=2).diagnostics.r_hat).all()


def test_the_same_seed_gives_the_same_draws_and_chains_do_not_depend_on_each_other(seed):
    first, again, other = walk(seed), walk(seed), walk(seed + 1)
    assert np.array_equal(first["x"], again["x"])
    assert not np.array_equal(first["x"], other["x"])
    fewer = walk(seed, n_chains=2)
    assert np.array_equal(first["x"][:2], fewer["x"])
    assert not np.array_equal(first["x"][0], first["x"][1])


def test_thinned_draws_are_some_of_all(seed):
    every = walk(seed, n_draws=12, n_warmup=3)
    third = walk(seed, n_draws=4, n_warmup=3, thin=3)
    assert np.array_equal(third["x"], every["x"][:, 2::3])


def test_states_that_are_changed_in_place_are_copied():
    def step(x, rng):
        x += rng.normal(size=1)
        return x

    draws = run_chains(
        lambda _chain, _rng: np.zeros(1),
        step,
        lambda x: {"x": x},
        ChainSettings(n_chains=1, n_draws=5, n_warmup=0),
        watched=(),
    )
    assert np.unique(draws["x"]).size == 5


def test_an_interruption_leaves_nothing():
    def step(x, _rng):
        if x == 7:
            raise KeyboardInterrupt
        return x + 1

    settings = ChainSettings(n_chains=2, n_draws=5, n_warmup=5)
    with pytest.raises(KeyboardInterrupt):
        run_chains(lambda _chain, _rng: 0, step, lambda x: {"x": x}, settings, watched=())


def test_a_bar_is_shown_where_asked_for(capsys):
    quiet = walk(0, n_draws=5, n_warmup=0)
    assert capsys.readouterr().err == ""
    shown = walk(0, n_draws=5, n_warmup=0, progress=True)
    assert "20/20" in capsys.readouterr().err
    assert np.array_equal(quiet["x"], shown["x"])


def test_export_to_arviz(seed):
    draws = walk(seed, n_draws=20)
    tree = draws.to_arviz()
    assert tree["posterior"]["x"].dims[:2] == ("chain", "draw")
    assert np.array_equal(tree["posterior"]["x"].values, draws["x"])


def test_draws_can_be_pickled():
    draws = walk(0, n_draws=5)
    again = pickle.loads(pickle.dumps(draws))
    assert np.array_equal(again["x"], draws["x"])
    assert again.watched == draws.watched


def test_many_poor_quantities_are_not_all_listed():
    bad = np.full(5, 2.0)
    complaint = Diagnostics(tuple("abcde"), bad, bad, bad).complaint
    assert complaint.count("R-hat") == 3
    assert complaint.endswith(", and 2 more")


def test_a_missing_library_is_named_with_the_line_that_installs_it():
    code = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name.startswith('arviz') else find(name, *a)\n"
        "from unselected.numerics.chains import ChainSettings, run_chains\n"
        "try:\n"
        "    run_chains(None, None, None, ChainSettings(),"
        " watched=())\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == ('Markov chains need arviz-stats: pip install "unselected[latent]"\n')
