"""`SelectiveFactorRegressor`, `SelectiveFactorClassifier`: features with common latent factors."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected.columns.blocks import check_finite
from unselected.estimators.base import LogJointClassifier, PredictiveRegressor
from unselected.estimators.fitting import dealt
from unselected.estimators.inputs import (
    TrainingTable,
    check_positive_pair,
    check_training,
    check_whole,
)
from unselected.estimators.latent import LatentEstimator
from unselected.models.factor import FactorModel, FactorPosterior, Kind
from unselected.selection.events import RealEvent
from unselected.selection.record import Selection, Ties
from unselected.selection.streaming import StreamingSelection, class_scores, line_scores

# Numbers of factors that "auto" compares, by folds of the training cases.
_AUTO, _N_FOLDS = (1, 2, 3), 5

# Priors of tau^2 whose mass is between the bounds that the chains have, but for 1e-2 of it at most.
_LEAST_SHAPE, _LEAST_MEAN, _LARGEST_MEAN = 0.1, 1e-12, 1e4

NumberOfFactors = int | Iterable[int] | Literal["auto"]


class FactorScore(NamedTuple):
    """How well a number of factors predicts cases left out, selection made anew without them.

    Attributes
    ----------
    n_factors : int
    log_score : float
        Mean log predictive probability, or density, of the responses; the larger the better.
    standard_error : float
        Of that mean.
    r_hat : float
        The worst of all chains, see `Diagnostics`.
    """

    n_factors: int
    log_score: float
    standard_error: float
    r_hat: float


class FactorEstimator(LatentEstimator):
    """What both estimators share: the parameters, selection, and the chains."""

    n_factors: NumberOfFactors
    concentration_prior: tuple[float, float]

    n_factors_: int
    n_factors_path_: list[FactorScore]

    _kind: Kind
    _kept: FactorPosterior

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
    def _scores_of(self, table: TrainingTable, stream: StreamingSelection) -> Any:
        """Return the scores of the columns that stay in the stream."""

    @abstractmethod
    def _log_scores(self, X: Any, y: Any) -> Floats:
        """Return the log predictive probabilities, or densities, of responses."""

    def _fit(self, table: TrainingTable) -> None:
        """Select and draw from the posterior; nothing is remembered before all is done."""
        a, b = self._checked_prior()
        chains = self._checked_chains()
        candidates = self._checked_factors(table.y.size)
        rule = self._checked_rule(table, "|COR|")
        check_finite(table.X, table.label)
        scores, selection = self._selected(partial(self._scores_of, table), rule, table)
        _check_complete(selection)
        # Twice, for predictions have tables of the same size.
        numbers_per_feature = 2 * (max(candidates) + 2)
        self._warn_if_large(chains, selection.indices.size * numbers_per_feature)
        rows = np.asarray(table.X[:, selection.indices], dtype=np.float64)
        path = self._path(table, candidates)
        q = max(path, key=lambda score: score.log_score).n_factors if path else candidates[0]
        event: RealEvent = selection.event
        if not self.correct_selection:
            event = event.emptied()
        model = FactorModel(self._kind, q, a, b)
        kept = model.condition(rows, table.y.astype(np.float64), event, **chains.arguments)
        self._remember_draws(table, selection, scores, kept.draws, kept.log_at_most)
        self._kept, self.n_factors_ = kept, q
        if path:
            self.n_factors_path_ = path

    def _checked_prior(self) -> tuple[float, float]:
        """Return shape and rate; raise where chains could not go to all that the prior allows."""
        a, b = check_positive_pair(
            "concentration_prior", self.concentration_prior, "shape and rate"
        )
        if a < _LEAST_SHAPE or not _LEAST_MEAN <= a / b <= _LARGEST_MEAN:
            raise ValueError(
                f"concentration_prior={self.concentration_prior!r} is out of range: its shape must "
                f"be {_LEAST_SHAPE} or more, and shape / rate, the mean of tau^2, from "
                f"{_LEAST_MEAN:g} to {_LARGEST_MEAN:g}."
            )
        return a, b

    def _checked_factors(self, n: int) -> list[int]:
        """Return the numbers of factors that are to be compared, or the one that is wanted."""
        wanted = self.n_factors
        if isinstance(wanted, str) and wanted != "auto":
            raise ValueError(f"n_factors={wanted!r} must be a whole number, some, or 'auto'.")
        several = isinstance(wanted, Iterable)
        if isinstance(wanted, str):
            wanted = [q for q in _AUTO if q <= self._most_factors(n, several=True)] or [1]
        numbers = list(wanted) if isinstance(wanted, Iterable) else [wanted]
        if not numbers:
            raise ValueError("n_factors is empty: give one number at least.")
        most = self._most_factors(n, several)
        if most < 1:
            raise ValueError(
                f"{n} cases (n_samples={n}) are too few for a latent factor: there must be "
                f"{n + 1 - most} at least."
            )
        meaning = f"at most 3 less than the cases{' of a fit without a fold' if several else ''}"
        return [check_whole("n_factors", q, 1, most, meaning) for q in numbers]

    def _most_factors(self, n: int, several: bool) -> int:
        return (n - -(-n // _N_FOLDS) if several else n) - 3

    def _path(self, table: TrainingTable, candidates: list[int]) -> list[FactorScore]:
        """Return how well each number of factors predicts cases left out; nothing for one."""
        if len(candidates) == 1:
            return []
        if self.preselected_from is not None:
            raise ValueError(
                f"n_factors={self.n_factors!r} compares by folds in which features are selected "
                f"anew, which preselected_from={self.preselected_from} does not allow: give one "
                "number of factors."
            )
        labels = table.classes[table.y] if table.classes.size else table.y
        strata = table.y if table.classes.size else np.zeros(table.y.size, dtype=np.intp)
        fold_of = dealt(strata, _N_FOLDS)
        return [self._score_of(q, table, labels, fold_of) for q in candidates]

    def _score_of(self, q: int, table: TrainingTable, labels: Any, fold_of: Any) -> FactorScore:
        X = table.dense
        scores, r_hats = np.empty(len(X)), []
        seeds = self._drawn_seeds()
        for fold in np.unique(fold_of):
            out = fold_of == fold
            seed = int(np.random.default_rng([*seeds, q, fold]).integers(2**31))
            inner = clone(self).set_params(n_factors=q, progress=False, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # told by r_hat
                inner.fit(X[~out], labels[~out])
            scores[out] = inner._log_scores(X[out], labels[out])
            r_hats.append(np.nan_to_num(inner.diagnostics_.r_hat, nan=1.0).max())
        error = float(np.std(scores) / np.sqrt(scores.size))
        return FactorScore(q, float(np.mean(scores)), error, float(np.max(r_hats)))

    def _kept_rows(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._kept_of(self._checked_rows(X))
        check_finite(rows, self._label_kept)
        return np.asarray(rows, dtype=np.float64)


def _check_complete(selection: Selection[RealEvent]) -> None:
    """Raise where an omitted feature had missing values: the event would be another for each."""
    n_incomplete = int(selection.event.n_features[1:].sum())
    if n_incomplete:
        raise ValueError(
            f"{n_incomplete} columns have NaN (a missing value): fill it in (for example with "
            "sklearn.impute.SimpleImputer), or drop the columns."
        )


class SelectiveFactorRegressor(PredictiveRegressor, FactorEstimator):
    """Factor analysis for a real-valued response that stays honest after feature selection.

    The features with the largest absolute correlation with the response are selected inside `fit`,
    and the model is conditioned on the kept features *and on the fact that the others looked too
    weak to be kept* [1]_. Each case has a few latent factors; features and response depend on each
    other through these alone: x_j = mu_j + lambda_j' z + noise of variance s_j^2, z ~ N(0, I),
    lambda_j ~ N(0, tau^2 s_j^2 I), and the response likewise, with a tau of its own. Naive Bayes,
    which takes features to be independent given the response, counts the evidence of features that
    say the same several times; this model does not.

    The posterior is drawn from by Markov chains, in seconds to minutes. The probability that an
    omitted feature looks too weak, given the factors, is computed to 1e-9 or better.

    Parameters
    ----------
    k : int, default=None
        Keep this many features, those with the largest absolute correlation.
        With neither ``k`` nor ``threshold`` all features are kept, and there is nothing to correct.
    threshold : float, default=None
        Keep the features whose absolute correlation is above this. Not with ``k``.
    n_factors : int, sequence of int or "auto", default=1
        How many latent factors there are. Of several numbers ("auto" is 1, 2 and 3) that is taken
        which best predicts the responses of cases left out, by their mean log predictive density in
        five folds, with features selected anew in each: that takes five more fits for each number.
    correct_selection : bool, default=True
        Condition on the selection. False is what everybody does, for comparison.
    preselected_from : int, default=None
        Say that X holds only the columns that somebody already kept, by their correlation with this
        very y, out of so many (the columns of X included). Every column is then kept. The cut is
        ``threshold``, which every column must exceed, or else the weakest among the columns given.
    always_keep : names or numbers of columns, default=None
        Columns kept whatever their correlation, on top of the ``k`` selected ones.
    ties : {"first", "random"}, default="first"
        Who is kept among features tied for the last places: the lower columns, or a random choice.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of 1 / tau^2, for the features and, apart, for the
        response. The default is a half-normal prior of tau with variance 1/10. The shape is 0.1 or
        more, and shape / rate, the mean of tau^2, from 1e-12 to 10^4.
    n_draws, n_warmup, n_chains : int, default=1000, 500, 4
        Draws of each chain that are kept, those before that are not, and chains.
    store_scores : bool, default=False
        Keep the scores of all features, not only of the kept ones.
    progress : bool, default=False
        Show a bar.
    random_state : int, RandomState instance or None, default=None
        The same number gives the same draws.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has names that are all strings.
    selection_ : Selection
        Which features were kept, by which rule, and the event that this makes.
    threshold_ : float or None
        The cut on the absolute correlation; None where there was none.
    scores_ : ndarray of shape (n_kept,)
        The absolute correlations of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Those of all features; only with ``store_scores=True``.
    posterior_ : Draws
        ``tau`` and ``tau_response``; ``response_correlation``, the correlation of the training
        responses with what the factors explain of them; ``factors`` of the training cases;
        ``means``, ``loadings``, ``variances`` of the kept features; ``intercept``, ``coefficients``
        and ``noise_variance`` of the response. Factors are turned so that the first one is
        positively correlated with the response and the others, ordered by what they explain of the
        features, are not. ``posterior_.to_arviz()`` exports them.
    diagnostics_ : Diagnostics
        R-hat, bulk and tail effective sample sizes. A warning is given where they are poor.
    omission_probability_ : float
        Posterior mean of the probability that a feature has an absolute correlation of at most
        ``threshold_``; 1 where there is no cut.
    n_factors_ : int
    n_factors_path_ : list of FactorScore
        How well each number of factors predicts cases left out, where there was a choice.

    Notes
    -----
    Missing values are not taken. There is no ``k="loo"`` and no exact leave-one-out, for each case
    left out would need chains of its own: use `sklearn.model_selection`.

    Predictions average over draws, weighted by how well each explains the features of the row. With
    hundreds of kept features few draws have all the weight, and predictions become noisy.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    Three hundred columns of noise: the standard deviation of the response is 1.

    >>> import numpy as np, warnings
    >>> from sklearn.base import clone
    >>> from unselected import SelectiveFactorRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y, X_new = rng.normal(size=(40, 300)), rng.normal(size=40), rng.normal(size=(200, 300))
    >>> short = {"n_draws": 100, "n_warmup": 50, "n_chains": 2, "random_state": 0}
    >>> honest = SelectiveFactorRegressor(k=10, **short)
    >>> naive = clone(honest).set_params(correct_selection=False)
    >>> warnings.simplefilter("ignore")  # the chains are too short, but fast
    >>> [round(float(m.fit(X, y).predict(X_new, return_std=True)[1].mean()), 1)
    ...     for m in (naive, honest)]
    [0.8, 1.0]
    """

    _kind: Kind = "real"

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and draw from the posterior given them and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers.
        y : array-like of shape (n_samples,)
            Numbers, not all the same; 3 more than there are factors, at least.

        Returns
        -------
        self : SelectiveFactorRegressor
            An error, or an interrupt, leaves the estimator as it was.
        """
        self._check_rule()
        self._fit(check_training(self, X, y, "numbers"))
        self._warn_if_poor()
        return self

    def _scores_of(self, table: TrainingTable, stream: StreamingSelection) -> Any:
        return line_scores(table.X, table.y, table.label, stream)

    def _log_scores(self, X: Any, y: Any) -> Floats:
        return self.predict_log_density(X, y)

    def _posterior_of_rows(self, X: Any) -> tuple[FactorPosterior, Floats]:
        rows = self._kept_rows(X)
        return self._kept, rows


class SelectiveFactorClassifier(LogJointClassifier, FactorEstimator):
    """Factor analysis for two classes that stays honest after feature selection.

    `SelectiveFactorRegressor` with a probit: the second class is where mu_0 + beta' z + N(0, 1) is
    positive, z the latent factors of the case, beta ~ N(0, tau_0^2 I). mu_0 ~ N(0, 1), which
    without beta makes the probability of the second class uniform.

    Parameters
    ----------
    k : int, default=None
        Keep this many features, those with the largest absolute correlation with the class.
        With neither ``k`` nor ``threshold`` all features are kept, and there is nothing to correct.
    threshold : float, default=None
        Keep the features whose absolute correlation is above this. Not with ``k``.
    n_factors : int, sequence of int or "auto", default=1
        How many latent factors there are. Of several numbers ("auto" is 1, 2 and 3) that is taken
        which best predicts the classes of cases left out, by their mean log probability in five
        folds, with features selected anew in each: that takes five more fits for each number.
    correct_selection : bool, default=True
        Condition on the selection. False is what everybody does, for comparison.
    preselected_from : int, default=None
        Say that X holds only the columns that somebody already kept, by their correlation with this
        very y, out of so many (the columns of X included). Every column is then kept. The cut is
        ``threshold``, which every column must exceed, or else the weakest among the columns given.
    always_keep : names or numbers of columns, default=None
        Columns kept whatever their correlation, on top of the ``k`` selected ones.
    ties : {"first", "random"}, default="first"
        Who is kept among features tied for the last places: the lower columns, or a random choice.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of 1 / tau^2, for the features and, apart, for the
        response. The default is a half-normal prior of tau with variance 1/10. The shape is 0.1 or
        more, and shape / rate, the mean of tau^2, from 1e-12 to 10^4.
    n_draws, n_warmup, n_chains : int, default=1000, 500, 4
        Draws of each chain that are kept, those before that are not, and chains.
    store_scores : bool, default=False
        Keep the scores of all features, not only of the kept ones.
    progress : bool, default=False
        Show a bar.
    random_state : int, RandomState instance or None, default=None
        The same number gives the same draws.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_, feature_names_in_, selection_, threshold_, scores_, feature_scores_
        See `SelectiveFactorRegressor`.
    posterior_, diagnostics_, omission_probability_, n_factors_, n_factors_path_
        See `SelectiveFactorRegressor`; ``noise_variance`` is 1, and the correlation is that of the
        factors with the class, 0 or 1.

    Notes
    -----
    Missing values are not taken, nor more than two classes: `SelectiveGaussianNB` takes both.

    Examples
    --------
    Three hundred columns of noise: the classifier knows that it knows little.

    >>> import numpy as np, warnings
    >>> from sklearn.base import clone
    >>> from unselected import SelectiveFactorClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y, X_new = rng.normal(size=(40, 300)), np.arange(40) % 2, rng.normal(size=(200, 300))
    >>> short = {"n_draws": 100, "n_warmup": 50, "n_chains": 2, "random_state": 0}
    >>> honest = SelectiveFactorClassifier(k=10, **short)
    >>> naive = clone(honest).set_params(correct_selection=False)
    >>> warnings.simplefilter("ignore")  # the chains are too short, but fast
    >>> [model.fit(X, y).expected_error(X_new) > 0.4 for model in (naive, honest)]
    [False, True]
    """

    _kind: Kind = "classes"

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and draw from the posterior given them and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers.
        y : array-like of shape (n_samples,)
            Two classes, with any labels; 3 more cases than there are factors, at least.

        Returns
        -------
        self : SelectiveFactorClassifier
            An error, or an interrupt, leaves the estimator as it was.
        """
        self._check_rule()
        table = check_training(self, X, y, "two classes")
        self._fit(table)
        self.classes_ = table.classes
        self._warn_if_poor()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _scores_of(self, table: TrainingTable, stream: StreamingSelection) -> Any:
        return class_scores(table.X, table.y, 2, table.label, stream)

    def _log_scores(self, X: Any, y: Any) -> Floats:
        place = np.searchsorted(self.classes_, y)
        return np.asarray(self.predict_log_proba(X)[np.arange(len(place)), place])

    def _log_joint(self, X: Any, log_prior: Floats | None = None) -> Floats:
        rows = self._kept_rows(X)
        joint = self._kept.log_joint(rows)
        return joint if log_prior is None else np.asarray(joint + (log_prior - self._log_psi))

    @property
    def _log_psi(self) -> Floats:
        check_is_fitted(self)
        return self._kept.log_psi
