"""`SelectiveNaiveRegressor`: real-valued features and a real-valued response."""

from typing import Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected.estimators.base import PredictiveRegressor
from unselected.estimators.fitting import RegressionFitting
from unselected.estimators.inputs import check_training
from unselected.estimators.leave_one_out import (
    LeaveOneOutFit,
    LeftOutResponses,
    response_scores,
    responses_without_each,
)
from unselected.estimators.panel import RegressorPanel
from unselected.estimators.selecting import GaussianEstimator, Prior
from unselected.fitted.naive_bayes import KeptRegression, real_rows
from unselected.models.regression import RegressionPosterior
from unselected.selection.record import Ties
from unselected.selection.rules import SelectionRule


class SelectiveNaiveRegressor(PredictiveRegressor, GaussianEstimator):
    """A real-valued response predicted from a few features out of many, honestly.

    The features most correlated with the response are selected inside `fit`, and the model is
    conditioned on the kept features *and on the fact that the others looked too weak to be kept*
    [1]_. Without that second part, chance correlations among many features pass for signal, and the
    predictive distributions come out too narrow.

    Given the response y, a feature is normal around a line in y, with variance s^2; the slopes are
    normal with variance tau^2 s^2 / var(y). tau, which is common to all features, says how related
    features are to the response. y itself is normal. Everything is integrated in closed form but
    tau and the one number that is predicted, and these to 1e-9.

    Parameters
    ----------
    k : int or "loo", default=None
        Keep this many features, those with the largest absolute correlations.
        With neither ``k`` nor ``threshold`` all features are kept, and there is nothing to correct.
        "loo" tries 1, 2, 5, 10, ... up to 1000 and takes the k that best predicts cases left out.
    threshold : float, default=None
        Keep the features whose absolute correlation is above this. Not with ``k``.
    correct_selection : bool, default=True
        Condition on the selection. False is what everybody does, for comparison.
    preselected_from : int, default=None
        Say that X holds only the columns that somebody already kept, by their absolute correlation
        with this very y, out of so many (the columns of X included). Every column is then kept. The
        cut is ``threshold``, which every column must exceed, or else the weakest absolute
        correlation among the columns given. The columns left out are taken to have had no missing
        values.
    always_keep : names or numbers of columns, default=None
        Columns kept whatever their absolute correlation, on top of the ``k`` selected ones. They
        are used for prediction, modelled as the others are, and say nothing about the selection.
        Numbers are positions counted from 0, also where the columns are named by numbers.
    ties : {"first", "random"}, default="first"
        Who is kept among features tied for the last places: the lower columns, or a random choice.
        Real-valued features tie only where columns are equal, so that it hardly matters.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration 1 / tau^2. The default is
        a half-normal prior of tau with variance 1/10, the paper's prior in these units.
    variance_shrinkage : float, default=0.0
        Draw the variances of the features towards each other: a feature's variance is taken to be
        inverse-chi-squared with this many degrees of freedom around a common variance, which is
        learned. It is worth as many cases, 0.1 to 10^6, and makes sense where all features have the
        same unit. With 0 each feature has a variance of its own, and its unit does not matter.
    prior : {"common", "sparse"}, default="common"
        "common" is the paper's: every feature changes with the response, by as much as the others
        typically do. "sparse" has two groups: an unknown fraction of the features is like that, and
        the others are not related to the response at all. The fraction is log-uniform from 1 / p to
        1, where p is the number of features that selection looked at. Not with
        ``variance_shrinkage``.
    store_scores : bool, default=False
        Keep the scores of all features, not only of the kept ones. Without it the memory that a fit
        needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Used by ``ties="random"`` only.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has names that are all strings.
    selection_ : Selection
        Which features were kept, by which rule, and the event that this makes.
    threshold_ : float or None
        The cut on the absolute correlation; None where neither ``k`` nor ``threshold`` nor
        ``preselected_from`` made one.
    scores_ : ndarray of shape (n_kept,)
        The absolute correlations of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        The scores of all features; only with ``store_scores=True``.
    concentration_ : ndarray of shape (n_nodes,)
        Values of 1 / tau^2 that the predictions average over.
    concentration_weights_ : ndarray of shape (n_nodes,)
        Their posterior probabilities, which sum to 1.
    omission_probability_ : ndarray of shape (n_nodes,)
        For each of them, the probability that a feature without missing values has an absolute
        correlation of at most ``threshold_``; 1 where there is no cut.
    related_fraction_ : ndarray of shape (n_nodes,)
        With ``prior="sparse"``, the fraction of related features that belongs to each of these
        concentrations.
    related_probability_ : ndarray of shape (n_kept,)
        With ``prior="sparse"``, the posterior probability that each kept feature is related to
        the response, selection accounted for: 1 less its local false discovery rate.
    k_path_ : list of LeaveOneOutFit
        With ``k="loo"``, how well each k that was tried predicts cases left out.
    loo_score_ : LeaveOneOutFit
        How well cases left out are predicted; computed when it is asked for.
    log_marginal_likelihood_ : float
        log P(kept features, event | y), the event left out where there is no correction;
        up to a constant, for the priors of means and variances are improper.

    Notes
    -----
    NaN is a missing value: it is left out of the sums of its feature, and of predictions. Where
    values are missing, a correlation is that of the cases in which the feature is known. New values
    more than 10^8 spreads away from the mean of their feature are moved there.

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

    _kept: KeptRegression

    def __init__(
        self,
        k: int | Literal["loo"] | None = None,
        threshold: float | None = None,
        *,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
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
        self.ties = ties
        self.concentration_prior = concentration_prior
        self.prior = prior
        self.variance_shrinkage = variance_shrinkage
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and condition the model on them and on the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Numbers, not all the same; three or more.

        Returns
        -------
        self : SelectiveNaiveRegressor
            An error leaves the estimator as it was.
        """
        model = self._checked_model()
        table = check_training(self, X, y, "numbers")
        rule = self._checked_rule(table, "|COR|")
        how = (bool(self.correct_selection), self.prior == "sparse")
        self._fit(RegressionFitting(table, rule, *how, model))
        return self

    def panel(self) -> RegressorPanel:
        """Return a fitted regressor that needs only the kept columns.

        Returns
        -------
        panel : RegressorPanel
            It predicts as this regressor does, from tables with the kept columns: matched by
            name, in any order, where names exist; else in the order of ``selection_.indices``.
        """
        check_is_fitted(self)
        return RegressorPanel(self._kept)

    def loo_predict(self, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the predictive means of the training cases, each from a fit without it.

        Everything is done anew without the case, selection included, from one more pass over the
        training set.

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
        if self.k == "loo":
            raise ValueError(
                "k='loo' chooses k by these predictions: use "
                "sklearn.model_selection.cross_val_predict, which chooses k in every fold."
            )
        return responses_without_each(fitting, [fitting.rule])[0]

    def _loo_scores(
        self, fitting: RegressionFitting, rules: list[SelectionRule]
    ) -> list[LeaveOneOutFit]:
        return response_scores(responses_without_each(fitting, rules), fitting.table.y, rules)

    def _posterior_of_rows(self, X: Any) -> tuple[RegressionPosterior, Floats]:
        check_is_fitted(self)
        rows = self._kept_of(self._checked_rows(X))
        return self._kept.posterior, real_rows(rows, self._label_kept)
