"""The figures of the paper in a folder: `unselected reproduce ... --figures FOLDER`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unselected.cli.options import note
from unselected.experiments import ColonRecord, SimulationRecord, simulation_data
from unselected.files.writing import check_writable, make_folder, write_bytes
from unselected.plots.paper import (
    COLON_FIGURES,
    SIMULATION_FIGURES,
    as_png,
    colon_figures,
    simulation_figures,
)

_NAMES = {"simulation": SIMULATION_FIGURES, "colon": COLON_FIGURES}


@dataclass(frozen=True)
class FigureFolder:
    """A folder for the figures of an experiment."""

    folder: str

    @classmethod
    def made(cls, folder: str, experiment: str, *, overwrite: bool) -> "FigureFolder":
        """Return the folder, once the figures of an experiment can be written there."""
        make_folder(folder)
        made = cls(folder)
        for name in _NAMES[experiment]:
            check_writable(made._path(name), overwrite=overwrite)
        return made

    def write_simulation(self, records: Sequence[SimulationRecord], seed: int) -> None:
        """Write the figures of the simulation."""
        self._write(simulation_figures(records, simulation_data(0, seed=seed)))

    def write_colon(self, records: Sequence[ColonRecord]) -> None:
        """Write the figures of the colon data."""
        self._write(colon_figures(records))

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, f"{name}.png")

    def _write(self, figures: dict[str, Any]) -> None:
        for name, figure in figures.items():
            write_bytes(self._path(name), as_png(figure), overwrite=True)
            note(f"written to {self._path(name)}")
