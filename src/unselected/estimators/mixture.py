"""`SelectiveMixtureClassifier`: a two-component mixture of binary data as an estimator."""

from dataclasses import replace
from typing import Any, Self

from sklearn.utils import Tags

from unselected._typing import Floats
from unselected._warnings import warn
from unselected.estimators.covariates import refuse_covariates
from unselected.estimators.inputs import check_training
from unselected.estimators.latent import LatentEstimator
from unselected.estimators.latent_fitting import MixtureFitting
from unselected.estimators.parameters import check_binarize, check_choice, check_positive_pair
from unselected.estimators.predicting import ClassPredictions
from unselected.fitted.mixture import FittedMixture
from unselected.models.mixture import AdjustLabels, MixtureModel
from unselected.selection.record import Selection, Ties
from unselected.statistics.binarizing import Binarize

# The memory of the tables grows with the square of the number of cases, the time with its cube.
# Above the second number, a single move needs more tables than are cached.
_MANY_CASES, _MOST_CASES = 400, 2000
# What a draw stores for a feature: log probabilities of a one and of a zero in both groups.
_NUMBERS_PER_FEATURE = 4


class SelectiveMixtureClassifier(ClassPredictions, LatentEstimator):
    """Mixture of two components for binary features that depend on each other.

    Naive Bayes assumes that features are independent within classes. Here each case belongs to one
    of two latent groups, and features and class are independent within groups. Features that are
    correlated within classes are evidence on the group of a case, and are not counted several times
    as evidence on its class.

    Features are selected inside `fit`. The model is conditioned on the kept features *and on the
    fact that the others looked too weak to be kept* (last section of [1]_). The omission
    probability depends on the groups, and is computed exactly for every draw of them.

    The score of a feature is its absolute correlation with the class.

    The posterior is sampled by Markov chains over groups and concentrations; everything else is
    integrated out. See ``posterior_`` and ``diagnostics_``. Between two draws that are kept there
    are four sweeps over the cases. There is no ``k="loo"`` and no exact leave-one-out as with
    `SelectiveBernoulliNB`: cross-validate with scikit-learn.

    Parameters
    ----------
    k : int, default=None
        Keep the k features with the largest scores. With neither ``k`` nor ``threshold`` all
        features are kept, and there is nothing to correct.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    correct_selection : bool, default=True
        Condition on the selection. False gives the usual, uncorrected posterior.
    preselected_from : int, default=None
        Set this where X holds only columns that were already selected by their scores with the same
        y: the number of columns before that selection, those of X included. Every column of X is
        then kept. The cut is ``threshold``, which all scores must exceed; by default it is the
        lowest score in X. The columns left out are assumed to have no missing values.
    always_keep : names or numbers of columns, default=None
        Columns to keep whatever their scores, in addition to the selected ones. They are modelled
        and used for prediction like the others, and are no part of the selection event. Numbers are
        positions counted from 0, even where the columns are named by numbers.
    ties : {"first", "random"}, default="first"
        How ties at the cut are broken: "first" keeps the columns that come first, "random" draws
        among the tied columns (the paper's rule). The event conditioned on is that of the rule.
        Scores of binary features are compared in exact integers. Real-valued features tie only
        where columns are equal.
    binarize : {"auto", "median"}, float or None, default="auto"
        How columns become bits. A value above a cut is a one. "auto" takes columns of 0 and 1 (and
        booleans) as they are, and cuts the others at their training median; "median" cuts all
        columns at their training median; a number cuts all columns there; None accepts only 0 and
        1. Where no value is above the median, the cut is the next smaller value.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration alpha. The larger alpha, the
        more alike are a feature's distributions in the two groups.
    response_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of alpha0. The larger alpha0, the more alike are
        the class probabilities of the two groups.
    adjust_labels : {"exact", "ignore"}, default="exact"
        Whether draws of the groups condition on the selection. "exact" does, as it must. "ignore"
        conditions on it only where the concentration is drawn, as the program of the paper's
        authors does by default. It is for comparison, and does not draw from the posterior.
    n_draws : int, default=1000
        Number of draws kept from each chain.
    n_warmup : int, default=1000
        Number of sweeps over the cases discarded at the start of each chain.
    n_chains : int, default=4
        Number of chains, each from a starting point of its own.
    progress : bool, default=False
        Show a progress bar on stderr while the chains run.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the chains and of ``ties="random"``. The same int gives the same draws.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of these columns, where X has names that are all strings.
    selection_ : Selection
        Which features were kept, by which rule, and the selection event.
    k_ : int
        Number of selected features, not counting ``always_keep``.
    threshold_ : float or None
        The cut on the score; None where there is no cut.
    scores_ : ndarray of shape (n_kept,)
        Absolute correlations of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Absolute correlations of all features; only with ``store_scores=True``.
    binarize_thresholds_ : ndarray of shape (n_kept,)
        Cuts of the kept columns, from the training rows only; 0.5 for columns of 0 and 1.
    posterior_ : Draws
        "alpha", "alpha0", "labels" (the group of each training case), "share" (the probability that
        a new case is in group 1), "rates" (P(second class) in group 0 and in group 1),
        "log_omission". Group 1 is the one in which the second class is more probable.
        ``posterior_.to_arviz()`` exports the draws.
    diagnostics_ : Diagnostics
        R-hat and effective sample sizes; `fit` warns where they are poor.
    omission_probability_ : float
        Posterior mean of the probability that a feature's score is at most ``threshold_``; 1 where
        there is no cut.
    group_probability_ : ndarray of shape (n_samples,)
        Posterior probability that each training case is in group 1.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from unselected import SelectiveMixtureClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.integers(0, 2, size=(30, 500)), np.repeat([0, 1], 15)
    >>> short = {"n_draws": 100, "n_warmup": 100, "n_chains": 2, "random_state": 0}
    >>> warnings.simplefilter("ignore")  # the chains are too short, but fast
    >>> honest, naive = (
    ...     SelectiveMixtureClassifier(k=5, correct_selection=c, **short).fit(X, y)
    ...     for c in (True, False)
    ... )
    >>> honest.posterior_
    Draws(2 chains of 100 draws: alpha, alpha0, share, rates[2], labels[30], log_omission, node)
    >>> X_new = rng.integers(0, 2, size=(1000, 500))
    >>> naive.expected_error(X_new) < honest.expected_error(X_new) - 0.05
    True
    """

    binarize_thresholds_: Floats
    group_probability_: Floats

    def __init__(
        self,
        k: int | None = None,
        threshold: float | None = None,
        *,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
        ties: Ties = "first",
        binarize: Binarize = "auto",
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        response_prior: tuple[float, float] = (0.5, 5.0),
        adjust_labels: AdjustLabels = "exact",
        n_draws: int = 1000,
        n_warmup: int = 1000,
        n_chains: int = 4,
        progress: bool = False,
        store_scores: bool = False,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.correct_selection = correct_selection
        self.preselected_from = preselected_from
        self.always_keep = always_keep
        self.ties = ties
        self.binarize = binarize
        self.concentration_prior = concentration_prior
        self.response_prior = response_prior
        self.adjust_labels = adjust_labels
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.n_chains = n_chains
        self.progress = progress
        self.store_scores = store_scores
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, covariates: Any = None) -> Self:
        """Select features, and draw from the posterior given the kept ones and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Booleans or numbers; see ``binarize``.
        y : array-like of shape (n_samples,)
            Two classes, with any labels; at most 2000 cases.
        covariates : None
            Not supported: models with latent variables take no covariates.

        Returns
        -------
        self : SelectiveMixtureClassifier
            The fitted estimator. After an error or an interrupt it is unchanged.
        """
        refuse_covariates(self, covariates)
        model, binarize = self._checked_model(), check_binarize(self.binarize)
        table = check_training(self, X, y, "two classes")
        _check_size(table.y.size)
        rule = self._checked_rule(table, "|COR|")
        model = replace(model, chains=self._checked_chains())
        self._fit(MixtureFitting(table, rule, bool(self.correct_selection), model, binarize))
        self._warn_if_poor()
        return self

    def _before_conditioning(self, fitting: Any, selection: Selection[Any]) -> None:
        self._warn_if_large(fitting.model.chains, selection.indices.size * _NUMBERS_PER_FEATURE)

    def _learned(self, fitted: FittedMixture) -> dict[str, Any]:
        posterior: Any = fitted.predictive
        draws = posterior.draws
        return {
            **self._shown(draws, draws["log_omission"]),
            "binarize_thresholds_": fitted.thresholds,
            "group_probability_": draws.stacked("labels").mean(axis=0),
        }

    def _checked_model(self) -> MixtureModel:
        """Check the parameters that do not depend on the data, and return the model."""
        self._check_rule()
        check_choice("adjust_labels", self.adjust_labels, ("exact", "ignore"))
        priors = (
            *check_positive_pair("concentration_prior", self.concentration_prior, "shape and rate"),
            *check_positive_pair("response_prior", self.response_prior, "shape and rate"),
        )
        return MixtureModel(*priors, adjust_labels=self.adjust_labels)


def _check_size(n: int) -> None:
    """Raise or warn where there are too many cases for the tables that the chains need."""
    if n > _MOST_CASES:
        raise ValueError(
            f"{n} cases are too many for SelectiveMixtureClassifier, whose limit is {_MOST_CASES}: "
            "use SelectiveBernoulliNB, or fit to fewer cases."
        )
    if n > _MANY_CASES:
        warn(
            f"SelectiveMixtureClassifier: fitting {n} cases takes long and needs gigabytes of "
            "memory. Time grows with the cube of the number of cases, memory with its square. Use "
            "progress=True to show the progress, or SelectiveBernoulliNB, which has no such limit.",
        )
