"""The base of the estimators with latent variables: settings and diagnostics of the chains."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from unselected._warnings import warn
from unselected.estimators.parameters import check_flag, check_whole
from unselected.estimators.selecting import SelectiveEstimator
from unselected.numerics.chains import ChainSettings, Diagnostics, Draws

# The first of the seeds drawn for a fit are for ties, the others for the chains.
_SEEDS_OF_TIES, _SEEDS = 4, 8
# Draws that take more gigabytes than this give a warning.
_LARGE = 4.0
# What to do where the chains did not mix.
_REMEDY = (
    "Increase n_draws and n_warmup, or n_chains. If longer chains still disagree, the posterior "
    "has several modes, and the predictions average over those that the chains found."
)


class LatentEstimator(SelectiveEstimator):
    """Selection inside `fit`, and a posterior that is sampled by Markov chains.

    A fit takes seconds to minutes. There is therefore no ``k="loo"`` and no exact leave-one-out:
    cross-validate with scikit-learn instead.
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
        """Return the seeds for breaking ties."""
        if isinstance(self.random_state, np.random.RandomState):  # the chains draw from it later
            return super()._seeds()
        return self._drawn_seeds()[:_SEEDS_OF_TIES]

    def _checked_chains(self) -> ChainSettings:
        """Check the parameters of the chains, and return the settings."""
        check_flag("progress", self.progress)
        return ChainSettings(
            n_chains=check_whole("n_chains", self.n_chains, 1, None, "the number of chains"),
            n_draws=check_whole("n_draws", self.n_draws, 1, None, "the draws of each chain"),
            n_warmup=check_whole("n_warmup", self.n_warmup, 0, None, "the warmup of each chain"),
            seed=tuple(self._drawn_seeds()[_SEEDS_OF_TIES:].tolist()),
            progress=bool(self.progress),
        )

    def _warn_if_large(self, chains: ChainSettings, n_numbers: int) -> None:
        """Warn, before sampling, of draws that take gigabytes; each has ``n_numbers`` numbers."""
        n_draws = chains.n_chains * chains.n_draws
        size = 8e-9 * n_draws * n_numbers
        if size > _LARGE:
            warn(
                f"{type(self).__name__}: {n_draws} draws of the parameters of the kept features "
                f"need at least {size:.0f} GB of memory. Keep fewer features (k, threshold), or "
                "fewer draws (n_draws, n_chains).",
            )

    def _shown(self, draws: Draws, log_omission: NDArray[np.float64]) -> dict[str, Any]:
        """Return the fitted attributes of the draws.

        ``log_omission`` is the log omission probability of each draw.
        """
        return {
            "posterior_": draws,
            "diagnostics_": draws.diagnostics,
            "omission_probability_": float(np.mean(np.exp(log_omission))),
        }

    def _warn_if_poor(self) -> None:
        """Warn where the chains have not mixed; the last step of `fit`."""
        complaint = self.diagnostics_.complaint
        if complaint is not None:
            warn(f"{type(self).__name__}: {complaint}. {_REMEDY}", ConvergenceWarning)
