"""The study of `unselected demo` with other seeds: promised and actual error on new patients.

Run as `python validation/demo.py`; takes a minute.
"""

import numpy as np

from unselected.cli.demo import model_for
from unselected.datasets import make_clinical_study
from unselected.experiments import promises

N_SEEDS, K = 10, 20


def main() -> None:
    """Print a line for each seed, and the means and standard deviations of the gaps."""
    gaps: dict[str, list[float]] = {}
    for seed in range(N_SEEDS):
        study = make_clinical_study(random_state=seed)
        train = study.train
        model = model_for(seed).fit(train.X, train.y, covariates=train.covariates)
        for record in promises(study, model, k=K):
            gap = record.actual_error - record.promised_error
            gaps.setdefault(record.method, []).append(gap)
            print(
                f"{seed} {record.method}: promised {record.promised_error:.3f}, "
                f"actual {record.actual_error:.3f}, log loss {record.log_loss:.3f}",
                flush=True,
            )
    for method, values in gaps.items():
        print(f"{method}: actual - promised {np.mean(values):.3f}, sd {np.std(values, ddof=1):.3f}")


if __name__ == "__main__":
    main()
