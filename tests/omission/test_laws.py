"""Omission probabilities of scores of real values against columns simulated by brute force."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif
from value_oracle import PRIOR, columns

from unselected.omission.laws import with_law
from unselected.omission.real import log_real_omission
from unselected.selection.events import RealEvent
from unselected.selection.real_score_kinds import REAL_SCORES, CustomRealScore, Volcano
from unselected.selection.scored_event import ScoredEvent
from unselected.statistics.moments import class_axes
from unselected.statistics.variance_prior import VariancePrior

SIZES = (9, 14)
CUTS = {
    "welch": 2.3,
    "moderated_t": 2.3,
    "wilcoxon": 2.0,
    "auc": 0.75,
    "mean_difference": 1.5,
    "volcano": 1.0,
}
TAUS = np.array([0.0, 0.3, 1.0])


def event_of(score, cut, sizes=SIZES, n_features=(980, 0), prior=PRIOR, n_kept=20):
    sizes = np.array(sizes)
    score = score.checked_with(sizes)
    prior = None if score.scale_free else prior
    return ScoredEvent(
        cut=cut,
        statistic=score.statistic(sizes.size),
        lam=class_axes(sizes[np.newaxis])[0],
        nu=np.array([float(sizes.sum() - sizes.size)]),
        n_features=np.array(n_features),
        n_kept=n_kept,
        sizes=sizes,
        score=score if prior is None else score.given(prior),
        prior=prior,
    )


def z_values(event, seed, n=60_000, tau_factor=1.0):
    """Return differences to brute force in standard errors, for each tau."""
    rng, logs = np.random.default_rng(seed + 100), with_law(event, 0.1)
    found = []
    for tau in TAUS:
        X, y = columns(event.sizes, tau * tau_factor, n, rng, event.prior)
        scores = event.score.of(X, y, str)
        told = np.exp(log_real_omission(np.array([tau**2]), logs)[0])
        seen = np.array([np.mean(scores <= event.cut + 1e-9), np.mean(scores < event.cut - 1e-9)])
        own = logs.law.error(np.array([tau**2]))[0] * told
        found.append((seen - told) / np.sqrt(told * (1 - told) / n + own**2))
    return np.array(found)


def at_a_possible_value(name):
    """Return a cut that columns can be exactly at, where scores are of ranks."""
    score, cut = REAL_SCORES[name], CUTS[name]
    if name not in ("wilcoxon", "auc"):
        return cut
    pairs = SIZES[0] * SIZES[1]
    excess = 2 * round((cut - score.least) / score.unit(*SIZES) / 2) + pairs % 2
    return score.least + excess * score.unit(*SIZES)


@pytest.mark.parametrize("name", CUTS)
def test_against_brute_force(name, seed):
    event = event_of(REAL_SCORES[name], at_a_possible_value(name))
    assert np.abs(z_values(event, seed)).max() < 4.0


def test_a_wrong_twin_fails(seed):
    event = event_of(REAL_SCORES["wilcoxon"], at_a_possible_value("wilcoxon"))
    assert np.abs(z_values(event, seed, tau_factor=1.2)).max() > 8.0
    unadjusted = event_of(REAL_SCORES["mean_difference"], 1.5, prior=VariancePrior(12.0, 2.0))
    wrong = z_values(unadjusted, seed)
    assert np.abs(wrong).max() < 4.0  # it is right for its own prior ...
    told = with_law(event_of(REAL_SCORES["mean_difference"], 1.5), 0.1).law
    other = with_law(unadjusted, 0.1).law
    u = TAUS**2
    assert np.abs(told.log_omitted(u) - other.log_omitted(u)).max() > 0.01  # ... and that matters


def test_a_volcano_with_bounds_of_its_own(seed):
    assert np.abs(z_values(event_of(Volcano(2.0, 0.2), 1.0), seed)).max() < 4.0


def test_ranks_tie_and_others_do_not():
    rank = with_law(event_of(REAL_SCORES["wilcoxon"], at_a_possible_value("wilcoxon")), 0.1).law
    at_most, below = rank.log_omitted(np.array([0.04]))[0]
    assert below < at_most - 1e-4
    between = event_of(REAL_SCORES["wilcoxon"], at_a_possible_value("wilcoxon") + 1e-4)
    at_most, below = with_law(between, 0.1).law.log_omitted(np.array([0.04]))[0]
    assert below == pytest.approx(at_most, abs=1e-12)
    at_most, below = with_law(event_of(REAL_SCORES["welch"], 2.0), 0.1).law.log_omitted(
        np.zeros(1)
    )[0]
    assert below == at_most


def custom(function, n_classes=2):
    return CustomRealScore(function, np.arange(n_classes))


@pytest.mark.parametrize("sizes", [(9, 14), (6, 9, 14), (8, 8, 8)])
def test_f_by_simulation_is_our_exact_f(sizes):
    event = event_of(custom(f_classif, len(sizes)), 6.0, sizes)
    exact = RealEvent(6.0, "F", event.lam, event.nu, event.n_features[:1])
    known, u = with_law(event, 0.1), np.array([0.0, 0.01, 0.1, 1.0])
    told, expected = log_real_omission(u, known)[:, 0], log_real_omission(u, exact)[:, 0]
    error = known.law.error(u)
    assert 0.0 < 980 * error[0] <= 0.1
    assert np.all(np.abs(told - expected) < 4.0 * error)
    shifted = RealEvent(6.3, "F", event.lam, event.nu, event.n_features[:1])
    wrong = log_real_omission(u, shifted)[:, 0]
    assert np.any(np.abs(told - wrong) > 4.0 * error)


@pytest.mark.parametrize("name", ["mean_difference", "moderated_t"])
def test_scale_by_simulation_is_the_formula(name):
    named = REAL_SCORES[name].given(PRIOR)
    event = event_of(custom(lambda X, y: named.of(X, y, str)), CUTS[name], n_features=(480, 0))
    assert event.prior == PRIOR
    exact = with_law(event_of(REAL_SCORES[name], CUTS[name]), 0.1)
    known, u = with_law(event, 0.1), np.array([0.0, 0.01, 0.1])
    difference = log_real_omission(u, known)[:, 0] - log_real_omission(u, exact)[:, 0]
    assert np.all(np.abs(difference) < 4.0 * known.law.error(u))


def test_ranks_by_simulation_agree_with_their_own_way():
    cut = at_a_possible_value("auc")
    event = event_of(custom(lambda X, y: REAL_SCORES["auc"].of(X, y, str)), cut)
    known, own = with_law(event, 0.1).law, with_law(event_of(REAL_SCORES["auc"], cut), 0.05).law
    u = np.array([0.0, 0.05])
    difference = known.log_omitted(u) - own.log_omitted(u)
    assert np.all(np.abs(difference) < 4.0 * np.hypot(known.error(u), own.error(u))[:, np.newaxis])
    assert known.log_omitted(u)[0, 1] < known.log_omitted(u)[0, 0] - 1e-3  # ties are seen


def test_smaller_tolerance_smaller_error():
    event = event_of(REAL_SCORES["wilcoxon"], CUTS["wilcoxon"], n_kept=40)
    loose, tight = (with_law(event, tolerance).law.error(np.zeros(1)) for tolerance in (0.4, 0.1))
    assert tight < 0.5 * loose


def test_the_stated_error_is_that_of_repetition(monkeypatch):
    """Other seeds give other draws, which differ as much as the stated error says."""
    original, logs, errors = np.random.default_rng, [], []
    for seed in range(12):
        monkeypatch.setattr(np.random, "default_rng", lambda key, seed=seed: original([*key, seed]))
        law = with_law(event_of(REAL_SCORES["wilcoxon"], 2.0, n_kept=10), 0.1).law
        logs.append(law.log_omitted(np.zeros(1))[0, 0])
        errors.append(law.error(np.zeros(1))[0])
    assert 0.5 < np.std(logs, ddof=1) / np.mean(errors) < 1.8


def test_it_says_what_it_would_take():
    event = event_of(REAL_SCORES["wilcoxon"], 2.0, n_features=(10**6, 0), n_kept=10**5)
    with pytest.raises(ValueError, match=r"simulated features of 23 cases.*use tolerance="):
        with_law(event, 1e-3)
    noise = event_of(custom(lambda X, *_: X.std(axis=0) / np.ptp(X, axis=0)), 0.34, (5, 6))
    with pytest.raises(ValueError, match=r"takes about .* simulated features of 11 cases"):
        with_law(noise, 1e-4)


def test_a_threshold_that_nobody_passes():
    with pytest.raises(ValueError, match=r"none of .* simulated features has a score above 2"):
        with_law(event_of(custom(lambda X, y: np.tanh(f_classif(X, y)[0])), 2.0), 0.1)


def test_names_of_classes_do_not_matter():
    event, turned = (event_of(custom(f_classif), 6.0, sizes) for sizes in ((9, 14), (14, 9)))
    u = np.array([0.0, 0.1])
    np.testing.assert_array_equal(
        with_law(event, 0.1).law.log_omitted(u), with_law(turned, 0.1).law.log_omitted(u)
    )
