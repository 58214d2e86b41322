"""What the estimators with latent variables share: chains are run, judged and remembered."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from unselected.estimators.inputs import TrainingTable, check_flag, check_whole
from unselected.estimators.selecting import Selecting
from unselected.numerics.chains import Diagnostics, Draws
from unselected.selection.record import E, Selection
from unselected.selection.scores import Scores

# Of the seeds drawn for a fit, the first ones are for ties, the others for the chains.
_SEEDS_OF_TIES, _SEEDS = 4, 8
# Gigabytes of draws from which on there is a warning.
_LARGE = 4.0
# What can be done where chains did not mix.
_REMEDY = (
    "Set n_draws (and n_warmup) higher, or run more chains with n_chains; where the chains stay "
    "in different places whatever their length, the data allow several explanations, and the "
    "predictions average over those that the chains found."
)


@dataclass(frozen=True, eq=False)
class ChainSettings:
    """How many chains are run, how long, and from which seed: the arguments of `run_chains`."""

    n_chains: int
    n_draws: int
    n_warmup: int
    random_state: np.random.SeedSequence
    progress: bool

    @property
    def arguments(self) -> dict[str, Any]:
        """The same by name, to be passed on."""
        return dict(vars(self))


class LatentEstimator(Selecting):
    """Selection inside `fit`, and a posterior that is drawn from by Markov chains.

    A fit takes seconds to minutes, so that there is no choice of k by leaving out cases
    (``k="loo"``) and no exact leave-one-out: cross-validate with scikit-learn instead.
    """

    n_draws: int
    n_warmup: int
    n_chains: int
    progress: bool

    posterior_: Draws
    diagnostics_: Diagnostics
    omission_probability_: float

    def _drawn_seeds(self) -> NDArray[np.int64]:
        return np.asarray(check_random_state(self.random_state).randint(2**31, size=_SEEDS))

    def _seeds(self) -> NDArray[np.int64]:
        """Return the seeds for draws among ties."""
        if isinstance(self.random_state, np.random.RandomState):  # the chains will draw from it
            return super()._seeds()
        return self._drawn_seeds()[:_SEEDS_OF_TIES]

    def _checked_chains(self) -> ChainSettings:
        """Check the parameters of the chains, and return what they ask for."""
        check_flag("progress", self.progress)
        return ChainSettings(
            n_chains=check_whole("n_chains", self.n_chains, 1, None, "how many are run"),
            n_draws=check_whole("n_draws", self.n_draws, 1, None, "of each chain"),
            n_warmup=check_whole("n_warmup", self.n_warmup, 0, None, "of each chain"),
            random_state=np.random.SeedSequence(self._drawn_seeds()[_SEEDS_OF_TIES:].tolist()),
            progress=bool(self.progress),
        )

    def _warn_if_large(self, chains: ChainSettings, n_numbers: int) -> None:
        """Warn, before they are made, of draws that take gigabytes; ``n_numbers`` are of each."""
        n_draws = chains.n_chains * chains.n_draws
        size = 8e-9 * n_draws * n_numbers
        if size > _LARGE:
            warnings.warn(
                f"{type(self).__name__}: {n_draws} draws of the parameters of so many kept "
                f"features take {size:.0f} gigabytes or more. Keep fewer features (k, threshold), "
                "or make fewer draws (n_draws, n_chains).",
                UserWarning,
                stacklevel=4,
            )

    def _remember_draws(
        self,
        table: TrainingTable,
        selection: Selection[E],
        scores: Scores[E],
        draws: Draws,
        log_omission: NDArray[np.float64],
    ) -> None:
        """Replace all that an earlier fit left by what was selected and drawn.

        ``log_omission`` has, for each draw, the log probability that a feature is omitted.
        """
        diagnostics = draws.diagnostics
        self._remember_selection(table, selection, scores)
        self.posterior_, self.diagnostics_ = draws, diagnostics
        self.omission_probability_ = float(np.mean(np.exp(log_omission)))

    def _warn_if_poor(self) -> None:
        """Warn where the chains have not mixed; the last thing that `fit` does."""
        complaint = self.diagnostics_.complaint
        if complaint is not None:
            warnings.warn(
                f"{type(self).__name__}: {complaint}. {_REMEDY}", ConvergenceWarning, stacklevel=3
            )
