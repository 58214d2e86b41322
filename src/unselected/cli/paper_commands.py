"""The commands of the paper's experiments: their options, defaults and help, as in `commands`."""

from dataclasses import field
from typing import Literal

from cyclopts import App

from unselected.cli.loading import done_in
from unselected.cli.options import (
    Flag,
    Input,
    Output,
    PaperDependenceOption,
    PaperPriorOption,
    Speech,
    options,
)
from unselected.cli.whole_numbers import Count, Jobs, Seed

reproduce = App(
    name="reproduce", help="Repeat the paper's experiments.", result_action="return_value"
)
Quadrature = Literal["exact", "paper"]
ColonFeatures = Literal["binary", "real"]
ColonModel = Literal["naive", "latent"]


@options
class SimulationOptions:
    """Options of `reproduce simulation`.

    Parameters
    ----------
    replicates
        Number of simulated data sets.
    quadrature
        exact, or the paper's grid.
    seed
        Seed of the data.
    jobs
        Number of processes.
    checkpoint
        File for finished data sets; the same command continues from there.
    figures
        Folder for figures 1 to 5 and Table 1 of the paper as pictures of these data sets, each with
        what the paper shows.
    force
        Overwrite figures.
    """

    replicates: Count = 3
    quadrature: Quadrature = "exact"
    seed: Seed = 0
    jobs: Jobs = 1
    checkpoint: Input | None = None
    figures: Input | None = None
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@reproduce.command(name="simulation")
@done_in("unselected.cli.paper")
def reproduce_simulation(*, options: SimulationOptions = SimulationOptions()) -> None:  # noqa: B008 - frozen
    """Section 4: 10000 features, 200 training cases, k = 1, 10, 100, 1000 and all."""


@options
class ColonOptions:
    """Options of `reproduce colon`.

    Parameters
    ----------
    data
        Table with a column "class" and 2000 genes; by default it is fetched from OpenML.
    partitions
        Number of random divisions of the genes into groups.
    k
        Number of genes kept.
    features
        binary, cut at the median as in the paper, or real.
    quadrature
        exact, or the paper's grid.
    prior
        common, as in the paper, or sparse: only some of the genes are related to the class.
    dependence
        none, as in the paper, tempered or correlated: guard against genes that depend on each other
        within classes.
    model
        naive, as in the paper, or latent: the mixture model for binary features, the factor model
        for real ones. Latent models take long.
    draws
        Number of draws of each chain of a latent model; by default 500.
    seed
        Seed of the divisions and of ties.
    jobs
        Number of processes.
    checkpoint
        File for finished groups; the same command continues from there.
    figures
        Folder for figures 6 to 8 of the paper, drawn of these data, each with what the paper says.
    force
        Overwrite figures.
    """

    data: Input | None = None
    partitions: Count = 1
    k: Count = 5
    features: ColonFeatures = "binary"
    quadrature: Quadrature = "exact"
    prior: PaperPriorOption = "common"
    dependence: PaperDependenceOption = "none"
    model: ColonModel = "naive"
    draws: Count | None = None
    seed: Seed = 0
    jobs: Jobs = 1
    checkpoint: Input | None = None
    figures: Input | None = None
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@reproduce.command(name="colon")
@done_in("unselected.cli.paper")
def reproduce_colon(*, options: ColonOptions = ColonOptions()) -> None:  # noqa: B008 - frozen
    """Section 5: gene expression in colon tissue, 10 groups of 200 genes, leave-one-out."""


@options
class SimulateOptions:
    """Options of `simulate`.

    Parameters
    ----------
    output
        CSV file to write; - is stdout.
    cases
        Number of cases, half in each class.
    features
        Number of binary features.
    concentration
        Concentration (alpha in the paper): the larger, the more alike are a feature's distributions
        in the two classes.
    seed
        Seed of the data.
    force
        Overwrite the output file.
    """

    output: Output = "-"
    cases: Count = 200
    features: Count = 1000
    concentration: float = 300.0
    seed: Seed = 0
    force: Flag = False
    speech: Speech = field(default_factory=Speech)


@done_in("unselected.cli.paper")
def simulate(*, options: SimulateOptions = SimulateOptions()) -> None:  # noqa: B008 - frozen
    """Write data simulated as in the paper: a column "class", and one for each feature."""
