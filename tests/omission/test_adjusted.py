"""The omission probability given covariates: a million simulated features, scored by least squares.

The library's part is the geometry: what covariates leave of the codes, and degrees of freedom.
"""

import numpy as np
import pytest

from unselected.omission.real import log_real_omission
from unselected.selection.real_scores import RealScores
from unselected.statistics.adjusted_sums import AdjustedSums
from unselected.statistics.design import CovariateBasis, Design

N, CHUNK, CHUNKS = 18, 100_000, 10
NONE = np.array([], dtype=int)


def cases(kind, rng):
    """Covariates that are related to the response, the response, and its codes."""
    coded = np.column_stack([rng.normal(size=N), np.arange(N) % 2])
    if kind == "line":
        y = coded[:, 0] + rng.normal(size=N)
        return coded, y, None
    n_classes = 2 if kind == "two" else 3
    y = np.where(rng.random(N) < 0.4, coded[:, 1].astype(int), rng.permutation(N) % n_classes)
    return coded, y, np.eye(n_classes)[y]


def projector(A):
    return A @ np.linalg.pinv(A)


def simulated_ratios(coded, codes, known, tau, rng):
    """Explained over residual sums of squares beside the covariates, of features of the model."""
    Z = np.column_stack([np.ones(N), coded])[known]
    codes = codes[known]
    to_z, to_both = projector(Z), projector(np.hstack([Z, codes]))
    for _ in range(CHUNKS):
        X = rng.normal(size=(len(Z), CHUNK))
        X += tau * codes @ rng.normal(size=(codes.shape[1], CHUNK))
        X += Z @ rng.normal(size=(Z.shape[1], CHUNK))
        explained, all_ = (np.sum((T @ X) ** 2, axis=0) for T in (to_both - to_z, to_both))
        yield explained / (np.sum(X**2, axis=0) - all_)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0, 4])
@pytest.mark.parametrize("kind", ["two", "three", "line"])
def test_omission_given_covariates_agrees_with_a_million_simulated_features(kind, missing, seed):
    rng = np.random.default_rng([seed, 3])
    coded, y, codes = cases(kind, rng)
    Z = CovariateBasis.learn(coded).apply(coded)
    design = Design.along(Z, y) if kind == "line" else Design.by_class(Z, y, codes.shape[1])
    codes = (y / design.unit)[:, None] if kind == "line" else codes
    known = np.arange(N) >= missing
    x = np.where(known, rng.normal(size=N), np.nan)[:, None]
    scores = RealScores.of(AdjustedSums(design, design.n_contrasts).exact(x, str))
    tau, kappa = 0.7, 0.35
    nu, q = scores.nu[-1], scores.lam.shape[1]
    assert nu == known.sum() - 3 - q
    cut = kappa * nu / q if scores.statistic == "F" else np.sqrt(kappa / (1 + kappa))
    event = scores.event_above(cut, NONE).patterns(slice(-1, None))
    ours = float(np.exp(log_real_omission(np.array([tau**2]), event))[0, 0])
    ratios = simulated_ratios(coded, codes, known, tau, rng)
    share = np.mean([np.mean(ratio <= kappa) for ratio in ratios])
    error = 4.0 * np.sqrt(ours * (1.0 - ours) / (CHUNKS * CHUNK))
    assert share == pytest.approx(ours, abs=error)
    # The twin ignores the covariates in the geometry.
    alone = (
        Design.along(Z[:, :1], y) if kind == "line" else Design.by_class(Z[:, :1], y, len(codes.T))
    )
    plain = RealScores.of(AdjustedSums(alone, alone.n_contrasts).exact(x, str))
    event = plain.event_above(cut, NONE).patterns(slice(-1, None))
    twin = float(np.exp(log_real_omission(np.array([tau**2]), event))[0, 0])
    assert abs(share - twin) > error
