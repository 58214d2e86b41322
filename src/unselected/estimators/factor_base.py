"""The base of the estimators with latent factors: parameters, selection and chains."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

from unselected._typing import Floats
from unselected.columns.blocks import check_finite
from unselected.estimators.factor_path import N_FACTOR_FOLDS, FactorScore, factor_path
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.latent import LatentEstimator
from unselected.estimators.latent_fitting import FactorFitting
from unselected.estimators.parameters import check_positive_pair, check_whole
from unselected.fitted.factor import FittedFactor
from unselected.models.factor import FactorModel
from unselected.models.factor_predictive import Kind
from unselected.selection.events import RealEvent
from unselected.selection.record import Selection, Ties

# Numbers of factors that "auto" compares.
_AUTO = (1, 2, 3)

# Within these bounds, at least 99 % of the prior of tau^2 is in the range of the chains.
_LEAST_SHAPE, _LEAST_MEAN, _LARGEST_MEAN = 0.1, 1e-12, 1e4

NumberOfFactors = int | Iterable[int] | Literal["auto"]


class FactorEstimator(LatentEstimator):
    """Parameters, selection and chains of both estimators."""

    n_factors: NumberOfFactors
    concentration_prior: tuple[float, float]

    n_factors_: int
    n_factors_path_: list[FactorScore]

    _kind: Kind

    def __init__(
        self,
        k: int | None = None,
        threshold: float | None = None,
        *,
        n_factors: NumberOfFactors = 1,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
        ties: Ties = "first",
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        n_draws: int = 1000,
        n_warmup: int = 500,
        n_chains: int = 4,
        store_scores: bool = False,
        progress: bool = False,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.n_factors = n_factors
        self.correct_selection = correct_selection
        self.preselected_from = preselected_from
        self.always_keep = always_keep
        self.ties = ties
        self.concentration_prior = concentration_prior
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.n_chains = n_chains
        self.store_scores = store_scores
        self.progress = progress
        self.random_state = random_state

    @abstractmethod
    def _log_scores(self, X: Any, y: Any) -> Floats:
        """Return the log predictive probabilities, or densities, of responses."""

    def _fit_table(self, table: TrainingTable) -> None:
        """Choose the number of factors, select and draw from the posterior."""
        a, b = self._checked_prior()
        chains = self._checked_chains()
        candidates = self._checked_factors(table.y.size)
        rule = self._checked_rule(table, "|COR|")
        check_finite(table.X, table.label)
        path = self._path(table, candidates)
        q = max(path, key=lambda score: score.log_score).n_factors if path else candidates[0]
        model = FactorModel(self._kind, q, a, b, chains)
        self._fit(FactorFitting(table, rule, bool(self.correct_selection), model))
        if path:
            self.n_factors_path_ = path
        self._warn_if_poor()

    def _before_conditioning(self, fitting: Any, selection: Selection[Any]) -> None:
        _check_complete(selection)
        # Twice, because predictions need tables of the same size.
        numbers_per_feature = 2 * (fitting.model.q + 2)
        self._warn_if_large(fitting.model.chains, selection.indices.size * numbers_per_feature)

    def _learned(self, fitted: FittedFactor) -> dict[str, Any]:
        posterior: Any = fitted.predictive
        shown = self._shown(posterior.draws, posterior.log_at_most)
        return {**shown, "n_factors_": fitted.model.q}

    def _checked_prior(self) -> tuple[float, float]:
        """Return shape and rate; raise where the prior exceeds the range of the chains."""
        a, b = check_positive_pair(
            "concentration_prior", self.concentration_prior, "shape and rate"
        )
        if a < _LEAST_SHAPE or not _LEAST_MEAN <= a / b <= _LARGEST_MEAN:
            raise ValueError(
                f"concentration_prior={self.concentration_prior!r} is out of range: the shape must "
                f"be at least {_LEAST_SHAPE}, and shape / rate, the mean of tau^2, from "
                f"{_LEAST_MEAN:g} to {_LARGEST_MEAN:g}."
            )
        return a, b

    def _checked_factors(self, n: int) -> list[int]:
        """Return the numbers of factors to compare, or the single one."""
        wanted = self.n_factors
        if isinstance(wanted, str) and wanted != "auto":
            raise ValueError(f"n_factors={wanted!r} must be a whole number, a list, or 'auto'.")
        several = isinstance(wanted, Iterable)
        if isinstance(wanted, str):
            wanted = [q for q in _AUTO if q <= self._most_factors(n, several=True)] or [1]
        numbers = list(wanted) if isinstance(wanted, Iterable) else [wanted]
        if not numbers:
            raise ValueError("n_factors is empty: give at least one number.")
        most = self._most_factors(n, several)
        if most < 1:
            raise ValueError(
                f"{n} cases (n_samples={n}) are too few: a latent factor needs at least "
                f"{n + 1 - most} cases."
            )
        meaning = (
            f"at most the number of {'training cases in a fold' if several else 'cases'} less 3"
        )
        return [check_whole("n_factors", q, 1, most, meaning) for q in numbers]

    def _most_factors(self, n: int, several: bool) -> int:
        return (n - -(-n // N_FACTOR_FOLDS) if several else n) - 3

    def _path(self, table: TrainingTable, candidates: list[int]) -> list[FactorScore]:
        """Return the score of each number of factors; nothing where there is no choice."""
        if len(candidates) == 1:
            return []
        if self.preselected_from is not None:
            raise ValueError(
                f"n_factors={self.n_factors!r} is chosen by cross-validation, which needs to "
                f"repeat the selection: with preselected_from={self.preselected_from} give one "
                "number of factors."
            )
        return factor_path(
            self,
            table,
            candidates,
            draw_seeds=self._drawn_seeds,
            log_scores=type(self)._log_scores,
        )


def _check_complete(selection: Selection[RealEvent]) -> None:
    """Raise where an omitted feature has missing values: each would need an event of its own."""
    n_incomplete = int(selection.event.n_features[1:].sum())
    if n_incomplete:
        raise ValueError(
            f"{n_incomplete} columns have NaN (missing values): fill them in (for example with "
            "sklearn.impute.SimpleImputer), or drop the columns."
        )
