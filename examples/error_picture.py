"""Draw the picture of the README: expected and actual error rates by number of features kept.

Run as `python examples/error_picture.py docs/error_by_k.svg`; takes about a minute.
"""

import sys

from unselected.experiments import simulation
from unselected.files.writing import write_text
from unselected.plots import ErrorByKDisplay, inline_svg

SEED, N_REPLICATES = 0, 50


def main(path: str) -> None:
    """Simulate, draw, save."""
    records = simulation(N_REPLICATES, complete=False, seed=SEED, n_jobs=2, progress=True)
    write_text(path, inline_svg(ErrorByKDisplay.from_records(records)), overwrite=True)


if __name__ == "__main__":
    main(sys.argv[1])
