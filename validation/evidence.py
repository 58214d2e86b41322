"""The slow evidence: many replicates of what the tests check with few. Prints Markdown.

`make validate` takes some minutes; docs/evidence records what it printed, and when.
"""

import argparse
from importlib.metadata import version

import numpy as np
from calibration_of_real_features import class_replicate, line_replicate
from calibration_under_selection import Replicate, replicate
from real_data import print_colon, print_lymphoma
from scipy import stats

from unselected import SelectiveBernoulliNB, __version__
from unselected.datasets import make_paper_simulation
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.selection.count_scores import CountScores
from unselected.selection.events import Event
from unselected.selection.record import Ties
from unselected.selection.rules import keep_top
from unselected.statistics.counting import count_classes

SIZES = (1, 10, 100, 1000, 10_000)


def accuracy(n_replicates: int, seed: int) -> None:
    """Compare with evaluations ten times finer in alpha and in theta."""
    print("\n## Accuracy\n")
    print("Largest difference of a predictive probability (200 test cases) from an evaluation")
    print(f"with ten times the nodes of both integrals; paper's simulation, {n_replicates} sets.\n")
    print("| k | corrected | uncorrected | nodes of alpha |\n|---|---|---|---|")
    for k in SIZES:
        worst, nodes = np.zeros(2), 0
        for r in range(n_replicates):
            data = make_paper_simulation(n_test=200, random_state=np.random.default_rng([seed, r]))
            counts, _ = count_classes(data.X_train, data.y_train, None)
            selection = keep_top(
                CountScores.of(counts), k, "first", np.array([], int), np.random.default_rng(0)
            )
            kept, rows = counts.take(selection.indices), data.X_test[:, selection.indices] > 0
            for j, event in enumerate((selection.event, Event())):
                posteriors = [
                    BernoulliModel(refinement=fineness).condition(kept, event)
                    for fineness in (1, 10)
                ]
                odds = [np.diff(posterior.log_joint(rows)) for posterior in posteriors]
                p = [1.0 / (1.0 + np.exp(value)) for value in odds]
                worst[j] = max(worst[j], np.max(np.abs(p[0] - p[1])))
                nodes = max(nodes, posteriors[0].log_alpha.size)
        print(f"| {k} | {worst[0]:.0e} | {worst[1]:.0e} | at most {nodes} |", flush=True)


def calibration(n_replicates: int, seed: int) -> None:
    """Simulation-based calibration of alpha and of the predictions, with the wrong twin."""
    print("\n## Calibration under selection\n")
    print("alpha from its prior, 24 training cases, 5 of 150 features kept, 40 test cases;")
    print(f"{n_replicates} replicates. Ranks of the true alpha should be uniform, 90 % intervals")
    print("should hold it in 90 %, and the expected error should equal the actual one.\n")
    print(
        "| ties | method | Kolmogorov-Smirnov p | 90 % interval holds | expected - actual error |"
    )
    print("|---|---|---|---|---|")
    ties: Ties
    for ties in ("first", "random"):
        for kind, ploidy in (("", 1), (", genotypes", 2)):
            rng = np.random.default_rng(seed)
            model = BernoulliModel(a=2.0, b=30.0, ploidy=ploidy)
            drawn = [replicate(model, ties, rng) for _ in range(n_replicates)]
            _print_ranks(ties + kind, drawn)


def _print_ranks(what: str, drawn: list[Replicate]) -> None:
    for j, method in enumerate(("corrected", "uncorrected")):
        ranks = np.array([one.ranks[j] for one in drawn])
        gaps = np.array([one.gaps[j] for one in drawn])
        covered = np.mean((ranks > 0.05) & (ranks < 0.95))
        error = np.std(gaps) / np.sqrt(gaps.size)
        print(
            f"| {what} | {method} | {stats.kstest(ranks, 'uniform').pvalue:.2g} "
            f"| {100 * covered:.1f} % | {np.mean(gaps):+.4f} +- {error:.4f} |",
            flush=True,
        )


def calibration_of_real_features(n_replicates: int, seed: int) -> None:
    """Simulation-based calibration of tau and of the predictions, with the wrong twin."""
    print("\n## Calibration under selection, real-valued features\n")
    print("tau from its prior, 23 training cases, 5 of 150 features kept, a tenth of the values")
    print(f"missing, 40 test cases; {n_replicates} replicates. Ranks of the true tau should be")
    print("uniform, and 90 % intervals should hold it in 90 %. The last column, which should be")
    print("0, is expected less actual error for three classes (of 9, 6 and 8 cases), and for a")
    print("real response the coverage of central 90 % predictive intervals less 0.9.\n")
    print("| response | method | Kolmogorov-Smirnov p | 90 % interval holds | difference |")
    print("|---|---|---|---|---|")
    for what, draw in (("three classes", class_replicate), ("real", line_replicate)):
        rng = np.random.default_rng(seed)
        _print_ranks(what, [draw(GaussianModel(), rng) for _ in range(n_replicates)])


def simulation(n_replicates: int, seed: int) -> None:
    """Replicate the paper's simulation: expected against actual error."""
    print("\n## The paper's simulation\n")
    print(f"Means over {n_replicates} data sets (10000 features, 200 training, 2000 test cases).\n")
    print("| k | actual error | expected, corrected | expected, uncorrected |\n|---|---|---|---|")
    rows = np.zeros((n_replicates, 4, 3))
    for r in range(n_replicates):
        data = make_paper_simulation(random_state=np.random.default_rng([seed, r]))
        for row, k in zip(rows[r], SIZES[:4], strict=True):
            model, naive = (
                SelectiveBernoulliNB(k=k, correct_selection=correct).fit(data.X_train, data.y_train)
                for correct in (True, False)
            )
            row[:] = (
                1 - model.score(data.X_test, data.y_test),
                model.expected_error(data.X_test),
                naive.expected_error(data.X_test),
            )
    for k, row in zip(SIZES, rows.mean(axis=0), strict=False):
        print(f"| {k} | {row[0]:.3f} | {row[1]:.3f} | {row[2]:.3f} |")


def main() -> None:
    """Print all the evidence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="multiply the replicates by this")
    options = parser.parse_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    print(f"unselected {__version__}, {packages}; seed {options.seed}")
    accuracy(max(1, round(3 * options.scale)), options.seed)
    calibration(max(10, round(4000 * options.scale)), options.seed)
    calibration_of_real_features(max(10, round(2000 * options.scale)), options.seed)
    simulation(max(1, round(50 * options.scale)), options.seed)
    print_lymphoma(options.seed)
    print_colon()


if __name__ == "__main__":
    main()
