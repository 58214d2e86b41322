"""Speed and memory as ratios within one run, next to the figures aimed at.

Machines differ and are noisy, so that everything is compared with something else measured in the
same run: scikit-learn's usual pipeline, one plain read of the data, or the same fit in memory.
Medians of several repetitions, taken in turns.
"""

import argparse
import warnings
from collections.abc import Callable

from adjusted import bench_covariates
from chains import bench_factor
from clusters import bench_cluster
from conditions import bench_condition
from fits import (
    bench_leave_one_out,
    bench_paper_size,
    bench_reading,
    bench_real,
    bench_real_response,
    bench_wide,
    bench_wide_real,
)
from front_door import bench_front_door
from mixtures import bench_mixture
from passes import bench_growth, bench_many_cases, bench_passes, bench_sparse
from scores import bench_scores
from timing import report_header

# Each takes the columns of a wide table, and how often it repeats what it measures.
BENCHMARKS: dict[str, Callable[[int, int], None]] = {
    "paper": bench_paper_size,
    "wide": bench_wide,
    "passes": bench_passes,
    "sparse": bench_sparse,
    "cluster": bench_cluster,
    "growth": bench_growth,
    "many-cases": bench_many_cases,
    "real": bench_real,
    "response": bench_real_response,
    "wide-real": bench_wide_real,
    "covariates": bench_covariates,
    "front-door": bench_front_door,
    "leave-one-out": bench_leave_one_out,
    "reading": bench_reading,
    "mixture": bench_mixture,
    "factor": bench_factor,
    "condition": bench_condition,
    "scores": bench_scores,
}


def main() -> None:
    """Run the benchmarks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--wide", type=int, default=10**6, help="columns of the wide tables")
    options = parser.parse_args()
    unknown = [name for name in options.only if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}: {', '.join(BENCHMARKS)} there are")
    warnings.simplefilter("ignore")  # f_classif divides by zero on constant columns
    report_header()
    for name in options.only or BENCHMARKS:
        BENCHMARKS[name](options.wide, options.repetitions)


if __name__ == "__main__":
    main()
