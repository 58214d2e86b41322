"""Evidence on the mixture: that the sampler is right, and its answers calibrated.

Used by the tests with few replicates and by `make validate` with many. Prints Markdown.
"""

import argparse
import warnings
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning

from unselected import SelectiveBernoulliNB, SelectiveMixtureClassifier, __version__
from unselected._typing import Floats
from unselected.models.concentration import ConcentrationPrior
from unselected.models.mixture import ChainState, MixtureModel, MixtureSampler, SharedTables
from unselected.models.mixture_moves import Labelled
from unselected.models.mixture_tables import AlphaGrid, EventTables, FeatureTables
from unselected.numerics.chains import ChainSettings, Draws
from unselected.numerics.kernels import kernels_for_moves
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.rules import keep_above, keep_top
from unselected.statistics.counting import count_classes
from unselected.statistics.rows import KeptRows

NONE = np.array([], dtype=int)


def geweke(
    model: MixtureModel, n_iterations: int, seed: int, *, forget: bool = False
) -> dict[str, float]:
    """Return z-scores of Geweke's joint-distribution test, under selection by a threshold.

    The classes are fixed. In turns, all features are drawn anew given the labels and alpha, those
    above the threshold are kept, and the sampler makes a step given them and the event. Labels and
    alpha then stay what they are before any feature is seen, and their means are known. With
    ``forget`` the event is left out: a sampler that is wrong.
    """
    rng = np.random.default_rng(seed)
    y, p, gamma = np.array([0, 0, 0, 1, 1, 1, 1, 1]), 100, 0.65
    prior = ConcentrationPrior(model.a, model.b)
    grid = AlphaGrid.over(prior, y.size, p, high=6.0, step=0.25)
    features, responses = FeatureTables(y.size, grid), model.responses(3, 5)
    kernels = kernels_for_moves(n_iterations * 2 * y.size)
    state = ChainState(Labelled.of(y, np.zeros((y.size, 0), dtype=int), y), grid.size // 2, 0)
    seen, known = np.empty((n_iterations, 3)), dict[Event, EventTables]()
    for t in range(n_iterations):
        alpha, z = min(float(grid.alpha(state.node)), 1e12), state.labels.z
        theta = rng.random(p)
        phi = rng.beta(alpha * theta, alpha * (1.0 - theta), size=(2, p))
        X = (rng.random((y.size, p)) < phi[z]).astype(np.uint8)
        selection = keep_above(CountScores.of(count_classes(X, y, None)[0]), gamma, NONE)
        event = Event() if forget else selection.event
        if event not in known:
            known[event] = EventTables(event, 3, 5, features)
        tables = SharedTables(features, responses, known[event])
        sampler = MixtureSampler(model, X[:, selection.indices], y, event, tables, kernels=kernels)
        state.labels = Labelled.of(z, sampler.bits, sampler.y)
        state = sampler.step(state, rng)
        a, b = state.labels.place
        seen[t] = _geweke_quantities(-grid.log_u[state.node], a, b, 3, 5)
    return {
        name: _z_score(values, mean)
        for name, values, mean in zip(
            ("alpha", "association", "balance"),
            seen.T,
            _geweke_means(grid, responses.log_labels),
            strict=True,
        )
    }


def _geweke_quantities(log_alpha: Any, a: Any, b: Any, n0: int, n1: int) -> tuple[Any, Any, Any]:
    """Return a bounded function of alpha, how far labels go with classes, and their balance."""
    share = (a + b) / (n0 + n1)
    return np.tanh((log_alpha - 2.0) / 2.0), np.abs(b / n1 - a / n0), share * (1.0 - share)


def _geweke_means(grid: AlphaGrid, log_labels: Floats) -> tuple[float, float, float]:
    """Return the means of the quantities before features are seen, by sums over all counts."""
    n0, n1 = log_labels.shape[0] - 1, log_labels.shape[1] - 1
    a, b = np.arange(n0 + 1)[:, np.newaxis], np.arange(n1 + 1)
    logs = log_labels - gammaln(a + 1) - gammaln(n0 - a + 1) - gammaln(b + 1) - gammaln(n1 - b + 1)
    of_labels, of_alpha = np.exp(logs - logs.max()), np.exp(grid.log_prior)
    at_nodes, association, balance = _geweke_quantities(-grid.log_u, a, b, n0, n1)
    return (
        float(of_alpha @ at_nodes / of_alpha.sum()),
        float(np.sum(of_labels * association) / of_labels.sum()),
        float(np.sum(of_labels * balance) / of_labels.sum()),
    )


def _z_score(values: Floats, mean: float) -> float:
    """Return how many standard errors a chain's mean is off; infinite where it stands still."""
    if np.all(values == values[-1]):
        return np.inf
    quarters = values[: values.size // 4 * 4].reshape(4, -1)
    ess = Draws({"x": quarters}, ("x",)).diagnostics.ess_bulk[0]
    return float((values.mean() - mean) / (values.std() / np.sqrt(ess)))


# The model of the replicates: features and labels that tell something, as a rule.
REPLICATED = MixtureModel(a=2.0, b=30.0, a0=1.0, b0=0.5)


class Replicate(NamedTuple):
    """Ranks of the true alpha, and expected minus actual error: corrected first, then not."""

    ranks: list[float]
    gaps: list[float]


def replicate(
    model: MixtureModel,
    n: int,
    p: int,
    k: int,
    rng: np.random.Generator,
    *,
    n_chains: int = 4,
    n_draws: int = 250,
) -> Replicate:
    """Draw parameters from the prior and data from the model, keep a few features, condition.

    Data with fewer than three cases of a class are drawn anew: the classes are given, so that the
    ranks stay uniform.
    """
    while True:
        X, y, truth = model.simulate(n + 40, p, rng)
        if 3 <= y[:n].sum() <= n - 3:
            break
    counts, _ = count_classes(X[:n], y[:n], None)
    selection = keep_top(CountScores.of(counts), k, "first", NONE, rng)
    bits = X[:, selection.indices] > 0
    ranks, gaps = [], []
    for event in (selection.event, Event()):
        seed = int(rng.integers(2**31))
        chains = ChainSettings(n_chains, n_draws, n_warmup=2 * n_draws, seed=seed)
        posterior = replace(model, chains=chains).condition(KeptRows(bits[:n], y[:n]), event)
        ranks.append(_rank(posterior.draws.stacked("alpha"), truth["alpha"]))
        log_odds = np.diff(posterior.log_joint(bits[n:]), axis=1)[:, 0]
        expected = np.mean(1.0 / (1.0 + np.exp(np.abs(log_odds))))
        gaps.append(float(expected - np.mean((log_odds > 0) != y[n:])))
    return Replicate(ranks, gaps)


def _rank(draws: Floats, truth: float) -> float:
    """Return P(draw < truth), interpolated between the nodes that the draws are on."""
    nodes, times = np.unique(np.log(draws), return_counts=True)
    weights = times / times.sum()
    cumulative = np.cumsum(weights) - 0.5 * weights
    return float(np.interp(np.log(truth), nodes, cumulative, left=0.0, right=1.0))


def calibration(n_replicates: int, seed: int) -> None:
    """Simulation-based calibration of alpha and of the predictions, with the wrong twin."""
    print("\n## Mixture: calibration under selection\n")
    print("alpha and alpha0 from their priors, 24 training cases, 5 of 150 features kept, 40 test")
    print(f"cases; {n_replicates} replicates. Ranks of the true alpha should be uniform, 90 %")
    print("intervals should hold it in 90 %, and the expected error should equal the actual one.\n")
    print("| method | Kolmogorov-Smirnov p | 90 % interval holds | expected - actual error |")
    print("|---|---|---|---|")
    rng = np.random.default_rng(seed)
    drawn = [replicate(REPLICATED, 24, 150, 5, rng) for _ in range(n_replicates)]
    for j, method in enumerate(("corrected", "uncorrected")):
        ranks, gaps = (np.array([one[i][j] for one in drawn]) for i in (0, 1))
        covered = 100 * np.mean((ranks > 0.05) & (ranks < 0.95))
        print(
            f"| {method} | {stats.kstest(ranks, 'uniform').pvalue:.2g} | {covered:.1f} % "
            f"| {gaps.mean():+.4f} +- {gaps.std() / np.sqrt(gaps.size):.4f} |",
            flush=True,
        )


def joint_distribution(n_iterations: int, seed: int) -> None:
    """Print Geweke's test of the sampler, and of two that are wrong."""
    print("\n## Mixture: Geweke's joint-distribution test\n")
    print("8 cases, 100 features, those with |COR| above 0.65 kept; z-scores of what labels and")
    print(
        f"alpha are on average over {n_iterations} iterations, which should be standard normal.\n"
    )
    print("| sampler | alpha | labels go with classes | balance of labels |\n|---|---|---|---|")
    for what, model, forget in (
        ("exact", MixtureModel(), False),
        ("event ignored for labels", MixtureModel(adjust_labels="ignore"), False),
        ("event forgotten", MixtureModel(), True),
    ):
        z = geweke(model, n_iterations, seed, forget=forget)
        print(f"| {what} | " + " | ".join(f"{v:+.1f}" for v in z.values()) + " |", flush=True)


class Outcome(NamedTuple):
    """How a classifier did on test cases."""

    expected_error: float
    actual_error: float
    log_loss: float


def outcome(model: Any, X: NDArray[Any], y: NDArray[Any]) -> Outcome:
    """Return how a fitted classifier does on these cases."""
    log_proba = model.predict_log_proba(X)
    wrong = np.argmax(log_proba, axis=1) != y
    expected = np.mean(1.0 - np.exp(log_proba.max(axis=1)))
    loss = -np.mean(log_proba[np.arange(y.size), y])
    return Outcome(float(expected), float(np.mean(wrong)), float(loss))


def compared(
    seed: int, n: int = 62, p: int = 2000, k: int = 20, n_draws: int = 500
) -> dict[str, Outcome]:
    """Simulate from the mixture, fit with and without correction, and naive Bayes."""
    rng = np.random.default_rng(seed)
    while True:
        X, y, _ = MixtureModel().simulate(n + 1000, p, rng, alpha=20.0, alpha0=0.5)
        if n // 4 <= y[:n].sum() <= n - n // 4:
            break
    models = {
        f"mixture, {word}": SelectiveMixtureClassifier(
            k=k, correct_selection=corrected, n_draws=n_draws, n_warmup=n_draws, random_state=seed
        )
        for word, corrected in (("corrected", True), ("uncorrected", False))
    } | {
        f"naive Bayes, {word}": SelectiveBernoulliNB(k=k, correct_selection=corrected)
        for word, corrected in (("corrected", True), ("uncorrected", False))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {
            name: outcome(model.fit(X[:n], y[:n]), X[n:], y[n:]) for name, model in models.items()
        }


def simulation(n_replicates: int, seed: int) -> None:
    """Print expected and actual errors on data from the mixture."""
    print("\n## Mixture: data from the model\n")
    print(f"62 training and 1000 test cases, 20 of 2000 features kept, {n_replicates} data sets;")
    print("alpha = 20, alpha0 = 0.5, at least a quarter of the cases in each class.\n")
    print("| method | expected error | actual error | difference | log loss |")
    print("|---|---|---|---|---|")
    each = [compared(seed + r) for r in range(n_replicates)]
    for name in each[0]:
        values = np.array([one[name] for one in each])
        expected, actual, loss = values.mean(axis=0)
        gaps = values[:, 0] - values[:, 1]
        error = gaps.std() / np.sqrt(gaps.size)
        print(
            f"| {name} | {expected:.3f} | {actual:.3f} | {gaps.mean():+.3f} +- {error:.3f} "
            f"| {loss:.3f} |",
            flush=True,
        )


def main() -> None:
    """Print the evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--iterations", type=int, default=20_000)
    parser.add_argument("--data-sets", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"unselected {__version__}, numpy {version('numpy')}, scipy {version('scipy')}")
    joint_distribution(options.iterations, options.seed)
    calibration(options.replicates, options.seed)
    simulation(options.data_sets, options.seed)


if __name__ == "__main__":
    main()
