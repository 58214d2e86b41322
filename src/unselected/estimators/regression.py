"""`SelectiveNaiveRegressor`: real-valued features and a real-valued response."""

from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import check_cv

from unselected._typing import Floats
from unselected.estimators.adjusted_fitting import AdjustedRegressionFitting
from unselected.estimators.exact import ExactEstimator, Prior, checked_gaussian_model
from unselected.estimators.fitting import LeftOutFit
from unselected.estimators.inputs import check_training
from unselected.estimators.leave_one_out import (
    LeaveOneOutFit,
    LeftOutResponses,
    response_scores,
    responses_without_each,
)
from unselected.estimators.naive_bayes_fitting import RegressionFitting
from unselected.estimators.out_of_fold import ResponseAddedValue, sets_of_splits
from unselected.estimators.predicting import ResponsePredictions
from unselected.selection.record import Ties
from unselected.selection.rules import SelectionRule
from unselected.statistics.leaving_out import LeftOut


class SelectiveNaiveRegressor(ResponsePredictions, ResponseAddedValue, ExactEstimator):
    """Naive Bayes for a real-valued response that stays honest after feature selection.

    Features are selected inside `fit`. The model is conditioned on the kept features *and on the
    fact that the others looked too weak to be kept* [1]_. Without that second part, chance
    correlations among many features pass for signal, and the predictive distributions are too
    narrow.

    Given the response y, a feature is normal around a line in y, with variance s^2. The slopes are
    normal with variance tau^2 s^2 / var(y). tau is common to all features; the larger it is, the
    more the features are related to the response. y itself is normal. The integrals over tau and
    over the predicted response are numerical, to 1e-9; all others are in closed form.

    The score of a feature is its absolute correlation with the response.

    Parameters
    ----------
    k : int or "loo", default=None
        Keep the k features with the largest scores. With neither ``k`` nor ``threshold`` all
        features are kept, and there is nothing to correct. "loo" tries 1, 2, 5, 10, ... up to 1000
        and takes the k with the lowest leave-one-out log loss.
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
    covariates : names or numbers of columns, default=None
        Columns of X that are covariates, such as age, sex, batch or treatment. They are always in
        the model and are no features; scores, effects and probabilities are adjusted for them.
        Numbers, booleans, categories or text, of which the first level is the reference. A table
        of covariates can be passed to `fit` and to predictions instead: docs/guide/covariates.md.
    preselected_adjusted : bool, default=True
        With ``preselected_from`` and covariates: whether the earlier scores were adjusted for the
        same covariates.
    ties : {"first", "random"}, default="first"
        How ties at the cut are broken: "first" keeps the columns that come first, "random" draws
        among the tied columns (the paper's rule). The event conditioned on is that of the rule.
        Scores of binary features are compared in exact integers. Real-valued features tie only
        where columns are equal.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration 1 / tau^2. The default is a
        half-normal prior of tau with variance 1/10, the paper's prior in these units.
    variance_shrinkage : float, default=0.0
        Shrink the variances of the features towards each other. The prior of a feature's variance
        is inverse-chi-squared, with this many degrees of freedom (0.1 to 10^6), around a common
        variance that is learned. This makes sense where all features have the same unit. With 0
        each feature has a variance of its own, and its unit does not matter.
    prior : {"common", "sparse"}, default="common"
        "common" is the paper's prior: every feature is related to the response, and the strengths
        of the relations have a common scale. "sparse" has two groups: an unknown fraction of the
        features is related to the response in this way, and the others are not related to it at
        all. The fraction is log-uniform from 1 / p to 1, where p is the number of features before
        selection. Not with ``variance_shrinkage``.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Seed of ``ties="random"``; not used otherwise.

    Attributes
    ----------
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
        Scores of all features, NaN where a feature has none; only with ``store_scores=True``.
    concentration_ : ndarray of shape (n_nodes,)
        Quadrature nodes: the values of 1 / tau^2 that the predictions average over.
    concentration_weights_ : ndarray of shape (n_nodes,)
        Posterior probabilities of these values; they sum to 1.
    omission_probability_ : ndarray of shape (n_nodes,)
        At each node, the probability that the score of a feature without missing values is at most
        ``threshold_``; 1 where there is no cut.
    related_fraction_ : ndarray of shape (n_nodes,)
        The fraction of related features at each of these nodes; only with ``prior="sparse"``.
    related_probability_ : ndarray of shape (n_kept,)
        The posterior probability that each kept feature is related to the response, given the
        selection: 1 less its local false discovery rate. Only with ``prior="sparse"``.
    k_path_ : list of LeaveOneOutFit
        Leave-one-out scores of each k that was tried; only with ``k="loo"``.
    loo_score_ : LeaveOneOutFit
        Leave-one-out scores, computed on access.
    log_marginal_likelihood_ : float
        log P(kept features, event | y), without the event where ``correct_selection=False``. It is
        known up to a constant, because the priors of means and variances are improper.

    Notes
    -----
    NaN is a missing value. It is left out of the sums of its feature and of predictions. Where
    values are missing, the correlation is that of the cases with known values. A column with fewer
    than three known values, or with known values for one response only, cannot be selected. It is
    left out with a warning and is no part of the event; ``selection_.unscored`` lists such columns.
    New values more than 10^8 standard deviations from the mean of their feature are moved to that
    distance.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    Two thousand columns of noise: the standard deviation of the response is 1.

    >>> import numpy as np
    >>> from unselected import SelectiveNaiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y, X_new = rng.normal(size=(60, 2000)), rng.normal(size=60), rng.normal(size=(200, 2000))
    >>> honest = SelectiveNaiveRegressor(k=20).fit(X, y)
    >>> naive = SelectiveNaiveRegressor(k=20, correct_selection=False).fit(X, y)
    >>> [round(float(m.predict(X_new, return_std=True)[1].mean()), 2) for m in (naive, honest)]
    [0.56, 0.98]
    """

    _takes_missing = True

    def __init__(
        self,
        k: int | Literal["loo"] | None = None,
        threshold: float | None = None,
        *,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
        covariates: Any = None,
        preselected_adjusted: bool = True,
        ties: Ties = "first",
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        prior: Prior = "common",
        variance_shrinkage: float = 0.0,
        store_scores: bool = False,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.correct_selection = correct_selection
        self.preselected_from = preselected_from
        self.always_keep = always_keep
        self.covariates = covariates
        self.preselected_adjusted = preselected_adjusted
        self.ties = ties
        self.concentration_prior = concentration_prior
        self.prior = prior
        self.variance_shrinkage = variance_shrinkage
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any, covariates: Any = None) -> Self:
        """Select features, and condition the model on the kept features and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,)
            At least three numbers, not all equal.
        covariates : table of shape (n_samples, n_covariates), default=None
            A DataFrame, a mapping of names to columns, or an array; see the parameter of that name,
            in place of which they can be given here.

        Returns
        -------
        self : SelectiveNaiveRegressor
            The fitted estimator. After an error it is unchanged.
        """
        self._check_rule()
        model = checked_gaussian_model(self)
        table = check_training(self, X, y, "numbers", covariates)
        rule = self._checked_rule(table, "|COR|")
        how = (bool(self.correct_selection), self.prior == "sparse")
        if table.covariates is None:
            self._fit(RegressionFitting(table, rule, *how, model))
        else:
            self._fit(AdjustedRegressionFitting(table, rule, *how, model, **self._before))
        return self

    def loo_predict(self, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the predictive means of the training cases, each from a fit without it.

        Everything is repeated without the case, selection included. This takes one more pass over
        the training set.

        Parameters
        ----------
        return_std : bool, default=False
            Return the standard deviations too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        predicted = self._left_out()
        return (predicted.mean, predicted.std) if return_std else predicted.mean

    def loo_predict_log_density(self) -> Floats:
        """Return the log predictive density of each training response, from a fit without its case.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        return self._left_out().log_density

    def _left_out(self) -> LeftOutResponses:
        fitting = self._fitting_to_leave_out()
        self._check_k_is_not_chosen()
        return responses_without_each(fitting, [fitting.rule])[0]

    def _loo_scores(
        self, fitting: RegressionFitting, rules: list[SelectionRule]
    ) -> list[LeaveOneOutFit]:
        return response_scores(responses_without_each(fitting, rules), fitting.table.y, rules)

    def _check_k_is_not_chosen(self) -> None:
        if self.k == "loo":
            raise ValueError(
                "k='loo' chooses k by leave-one-out predictions, which are then too good: use "
                "sklearn.model_selection.cross_val_predict, which chooses k in every fold."
            )

    def _sets_of(self, cv: Any) -> list[LeftOut]:
        """Return the set left out in each fold."""
        self._check_k_is_not_chosen()
        y = self._checked_fitting().table.y
        return sets_of_splits(check_cv(cv).split(np.zeros((y.size, 1)), y), y.size)

    def _fits_without(
        self, fitting: RegressionFitting, sets: list[LeftOut]
    ) -> Iterator[LeftOutFit]:
        return next(fitting.fits_without(sets))
