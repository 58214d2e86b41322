"""Genotypes: what the correction does for variants of noise, also out of equilibrium.

Prints Markdown; docs/evidence/accuracy.md records what it printed, and when.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from unselected import SelectiveBernoulliNB, __version__

N_CASES, N_NEW, N_FEATURES, N_KEPT = 100, 500, 2000, 20


def genotypes(
    frequency: NDArray[np.float64], n: int, inbreeding: float, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return genotypes of n cases; with probability ``inbreeding`` both alleles are the same."""
    first, second = (rng.random((n, frequency.size)) < frequency for _ in range(2))
    second = np.where(rng.random(first.shape) < inbreeding, first, second)
    return first.astype(np.uint8) + second


def expected_errors(inbreeding: float, rng: np.random.Generator) -> list[float]:
    """Return expected errors for new cases of pure noise: corrected, uncorrected, as bits."""
    y = np.arange(N_CASES) % 2
    frequency = rng.random(N_FEATURES)
    X, X_new = (genotypes(frequency, n, inbreeding, rng) for n in (N_CASES, N_NEW))
    corrected = SelectiveBernoulliNB(k=N_KEPT, family="genotype")
    uncorrected = SelectiveBernoulliNB(k=N_KEPT, family="genotype", correct_selection=False)
    bits = SelectiveBernoulliNB(k=N_KEPT, binarize=0.5)
    return [model.fit(X, y).expected_error(X_new) for model in (corrected, uncorrected, bits)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"unselected {__version__}, numpy {np.__version__}; seed {options.seed}\n")
    print(f"Noise: {N_FEATURES} variants, {N_CASES} cases, {N_KEPT} kept, {N_NEW} new cases;")
    print(f"{options.replicates} replicates. The actual error is 0.5; expected ones:\n")
    print(
        "| inbreeding coefficient | corrected | uncorrected | presence of the allele, corrected |"
    )
    print("|---|---|---|---|")
    for inbreeding in (0.0, 0.02, 0.05, 0.1, 0.3):
        rng = np.random.default_rng(options.seed)
        found = [expected_errors(inbreeding, rng) for _ in range(options.replicates)]
        cells = " | ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
        print(f"| {inbreeding} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
