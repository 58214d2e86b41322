"""Scores of real values: omission probabilities by brute force, and calibration under selection.

Prints Markdown; the tests use the same functions with fewer columns and replicates. In `brute`
columns are simulated from the model, and the share that is omitted is compared with the probability
that the library tells. In `calibration` tau is drawn from its prior, features from the model, and
few of them are kept by a score.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
from calibration_of_real_features import expected_minus_actual
from calibration_under_selection import rank
from numpy.typing import NDArray
from scipy import stats
from sklearn.feature_selection import f_classif

from unselected import SelectiveGaussianNB
from unselected._typing import Floats
from unselected.omission.laws import with_law
from unselected.selection.real_score import RealScore
from unselected.selection.real_score_kinds import REAL_SCORES, CustomRealScore
from unselected.selection.scored_event import ScoredEvent
from unselected.statistics.moments import class_axes
from unselected.statistics.variance_prior import VariancePrior

SIZES, PRIOR = np.array([25, 35]), VariancePrior(6.0, 2.0)
TAUS = (0.0, 0.1, 0.2, 0.4, 0.8)
# Cuts that about one of a hundred unrelated features exceeds.
CUTS = {
    "welch": 2.7,
    "moderated_t": 2.6,
    "wilcoxon": 2.55,
    "auc": 0.69,
    "mean_difference": 1.3,
    "volcano": 0.9,
    "f_classif": 7.1,
}
N_TRAIN, N_TEST, N_KEPT = (11, 15), 40, 5
N_FEATURES = {"scale-free": 150, "scaled": 400}


def score_called(name: str) -> RealScore:
    """Return a score by its name, or that of a function."""
    if name == "f_classif":
        return CustomRealScore(f_classif, np.arange(2))
    return REAL_SCORES[name].given(PRIOR)


def event_of(name: str) -> ScoredEvent:
    """Return the event that 4980 features are at most at the cut, 20 being kept."""
    score = score_called(name)
    return ScoredEvent(
        cut=CUTS[name],
        statistic=score.statistic(2),
        lam=class_axes(SIZES[np.newaxis])[0],
        nu=np.array([SIZES.sum() - 2.0]),
        n_features=np.array([4980, 0]),
        n_kept=20,
        sizes=SIZES,
        score=score,
        prior=None if score.scale_free else PRIOR,
    )


class Compared(NamedTuple):
    """A share of omitted columns, what the library tells, and the difference in standard errors."""

    seen: float
    told: float
    z: float


def brute(name: str, tau: float, n: int, rng: np.random.Generator) -> Compared:
    """Compare with n columns of the model."""
    event = event_of(name)
    law, score = with_law(event, 0.1).law, event.score
    assert law is not None
    assert score is not None
    y, omitted, block = np.repeat([0, 1], SIZES), 0, 50_000
    for start in range(0, n, block):
        m = min(block, n - start)
        X = rng.normal(size=(y.size, m)) + tau * rng.normal(size=(2, m))[y]
        X *= np.sqrt(PRIOR.df * PRIOR.scale / rng.chisquare(PRIOR.df, size=m))
        omitted += int(np.sum(score.of(X, y, str) <= CUTS[name]))
    u = np.array([tau**2])
    told = float(np.exp(law.log_omitted(u)[0, 0]))
    own = told * float(law.error(u)[0])
    seen = omitted / n
    return Compared(seen, told, (seen - told) / float(np.sqrt(told * (1 - told) / n + own**2)))


class Judged(NamedTuple):
    """Ranks of the true tau, and expected minus actual error: corrected first, then not."""

    ranks: list[float]
    gaps: list[float]


def replicate(score: Any, rng: np.random.Generator) -> Judged:
    """Draw tau and features, keep a few by a score, and condition with and without the event."""
    scaled = score in ("moderated_t", "mean_difference", "volcano")
    p = N_FEATURES["scaled" if scaled else "scale-free"]
    train = np.repeat([0, 1], N_TRAIN)
    psi = rng.beta(N_TRAIN[1] + 1.0, N_TRAIN[0] + 1.0)  # given the training classes
    y = np.concatenate([train, (rng.random(N_TEST) < psi).astype(np.intp)])
    tau = float(np.sqrt(rng.gamma(0.5, 1.0 / 5.0)))
    X = rng.normal(size=(y.size, p)) + tau * rng.normal(size=(2, p))[y] + rng.normal(size=p)
    if scaled:
        X *= np.sqrt(PRIOR.df * PRIOR.scale / rng.chisquare(PRIOR.df, size=p))
    ranks, gaps = [], []
    for correct in (True, False):
        model = SelectiveGaussianNB(N_KEPT, score_func=score, correct_selection=correct)
        model.fit(X[: train.size], train)
        ranks.append(rank(model._predictor.fitted.posterior, tau**-2.0))
        gaps.append(expected_minus_actual(_proba(model, X[train.size :]), y[train.size :]))
    return Judged(ranks, gaps)


def _proba(model: SelectiveGaussianNB, rows: Floats) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # new rows outside of the training ranges
        return np.asarray(model.predict_proba(rows))


def print_brute(n: int, seed: int) -> None:
    """Print a row for each score."""
    rng = np.random.default_rng(seed)
    print("| score | " + " | ".join(f"tau = {tau}" for tau in TAUS) + " |")
    print("|---" * (len(TAUS) + 1) + "|")
    for name in CUTS:
        each = [brute(name, tau, n, rng) for tau in TAUS]
        cells = " | ".join(f"{c.told:.5f} ({c.z:+.1f})" for c in each)
        print(f"| {name} | {cells} |", flush=True)


def print_calibration(scores: list[Any], n: int, seed: int) -> None:
    """Print two rows for each score."""
    rng = np.random.default_rng(seed)
    print(
        "| score | method | Kolmogorov-Smirnov p | 90 % interval holds | expected - actual error |"
    )
    print("|---" * 5 + "|")
    for score in scores:
        judged = [replicate(score, rng) for _ in range(n)]
        for place, method in enumerate(("corrected", "uncorrected")):
            ranks = np.array([one.ranks[place] for one in judged])
            gaps = np.array([one.gaps[place] for one in judged])
            inside = np.mean(np.abs(2.0 * ranks - 1.0) <= 0.9)
            print(
                f"| {score} | {method} | {stats.kstest(ranks, 'uniform').pvalue:.2g} "
                f"| {100.0 * inside:.1f} % | {gaps.mean():+.4f} +- {gaps.std() / np.sqrt(n):.4f} |",
                flush=True,
            )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("brute", "calibration"))
    parser.add_argument("--n", type=int, help="columns, or replicates")
    parser.add_argument("--scores", nargs="*", default=["wilcoxon", "welch", "moderated_t"])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.what == "brute":
        print_brute(options.n or 1_000_000, options.seed)
    else:
        print_calibration(options.scores, options.n or 2000, options.seed)


if __name__ == "__main__":
    main()
