"""`SelectiveRegressor`: the front door for a real response, with defaults for real data."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import GroupKFold, check_cv

from unselected._typing import Floats
from unselected.dependence.inverse_regression import INDEPENDENCE
from unselected.estimators.cautions import check_copies, check_variation
from unselected.estimators.front_door import FrontDoor, checked_groups
from unselected.estimators.inputs import check_training
from unselected.estimators.out_of_fold import ResponseAddedValue, sets_of_splits
from unselected.estimators.parameters import check_choice
from unselected.estimators.predicting import ResponsePredictions
from unselected.estimators.response_stack_fitting import ResponseStackFitting
from unselected.fitted.predictor import ResponsePredictor
from unselected.fitted.response_stack import FittedResponseStack
from unselected.selection.leaving_out import Marginals
from unselected.statistics.leaving_out import LeftOut

# Kinds of regression by the guard against dependence, and weights of independence to try.
_KINDS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "auto": (("linear", "quadratic", "inverse"), (1.0,)),
    "correlated": (("inverse",), INDEPENDENCE),
    "none": (("inverse",), (1.0,)),
}


class SelectiveRegressor(ResponsePredictions, ResponseAddedValue, FrontDoor):
    """Predictive distributions that stay honest after feature selection, with nothing to set.

    Start here if the response is a number. The table may have far more columns than rows, binary
    and real-valued columns together, and missing values (NaN). Features are selected inside `fit`,
    by their absolute correlation with the response.

    The predictive distribution is an average over regressions of the 5, 20, 100 and 500 strongest
    features: of the response on the features (linear, and quadratic in their first principal
    components, with a ridge), and of the features on the response, conditioned *on the fact that
    the other features looked too weak to be kept* [1]_. The weights, how wide each distribution
    should be, and the fraction of outliers are learned from folds, in which everything is repeated:
    transform, selection, and fit. Where the features predict nothing, the distribution is that of
    the response alone. Folds and ties depend on the content of the table and on ``random_state``,
    not on the order of rows and columns.

    Parameters
    ----------
    k : int, "auto" or None, default="auto"
        Keep at most k features, those with the largest scores. Predictions average over regressions
        of 5, 20, 100, ... and k features, as far as cases left out speak for them. "auto" is 500,
        or ``max_features`` where that is less. None keeps all columns, and corrects nothing.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    preselected_from : int, default=None
        Set this where X holds only columns that were already selected by their scores with the same
        y: the number of columns before that selection, those of X included. Every column of X is
        then kept, and the features are modelled given the response, conditioned on that selection.
        Cases left out cannot tell how much of it was chance, so that regressions of the response on
        the features are not used.
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
    correct_selection : bool, default=True
        Condition on the selection. False gives the usual, uncorrected posterior.
    marginals : {"auto", "normal", "raw"}, default="auto"
        How columns are scored and modelled: by their normal scores, a monotone transform of each
        column to a normal distribution, learned from the training cases; or as they are. "auto"
        takes what cases left out speak for.
    prior : {"auto", "common", "sparse"}, default="auto"
        Of the relation of features with the response. "common" takes all features to be related to
        it, with strengths of a common scale; "sparse" an unknown fraction of them. "auto" averages
        over both.
    dependence : {"auto", "correlated", "none"}, default="auto"
        How to guard against features that depend on each other given the response. "correlated"
        models the features given the response, with their correlations, and learns the power of the
        likelihood; "auto" averages that without correlations with regressions of the response on
        the features. "none" takes the features to be independent given the response.
    max_features : int, default=1000
        Most features that ``k="auto"`` may need at prediction.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds; None is 0.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of these columns, where X has names that are all strings.
    selection_ : Selection
        Which features were kept, by which rule, and the selection event: those of the regression
        with the most features.
    k_ : int
        Number of selected features, not counting ``always_keep``. Less than ``k`` where cases left
        out speak against regressions on more features.
    k_weights_ : dict of int to float
        The weight of each number of features, those in ``always_keep`` included; 0 is what is known
        without features.
    marginals_ : {"normal", "raw"}
        How columns are modelled.
    outlier_fraction_ : float
        The weight of a wide distribution for responses that fit nothing.
    response_power_ : float
        Of the Box-Cox transform on whose scale a skewed response is predicted, 0 for the logarithm;
        1 where the response is taken as it is.
    threshold_ : float or None
        The cut on the score; None where there is no cut.
    scores_ : ndarray of shape (n_kept,)
        Absolute correlations of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Scores of all features, NaN where a feature has none; only with ``store_scores=True``.
    related_probability_ : ndarray of shape (n_kept,)
        The posterior probability that each kept feature is related to the response, given the
        selection; not with ``prior="common"``.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    Two thousand columns of noise: the standard deviation of the response is 1.

    >>> from unselected import SelectiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2000)), rng.normal(size=60)
    >>> honest = SelectiveRegressor(k=20).fit(X, y)
    >>> mean, std = honest.predict(rng.normal(size=(200, 2000)), return_std=True)
    >>> bool(0.9 < std.mean() / y.std() < 1.1)
    True
    """

    _all_related = 2.0 / 3.0

    k_weights_: dict[int, float]
    marginals_: Marginals
    outlier_fraction_: float
    response_power_: float
    related_probability_: Floats

    _auto_k = 500

    def __init__(
        self,
        k: int | Literal["auto"] | None = "auto",
        *,
        threshold: float | None = None,
        preselected_from: int | None = None,
        always_keep: Any = None,
        covariates: Any = None,
        preselected_adjusted: bool = True,
        correct_selection: bool = True,
        marginals: Literal["auto", "normal", "raw"] = "auto",
        prior: Literal["auto", "common", "sparse"] = "auto",
        dependence: Literal["auto", "correlated", "none"] = "auto",
        max_features: int = 1000,
        store_scores: bool = False,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.preselected_from = preselected_from
        self.always_keep = always_keep
        self.covariates = covariates
        self.preselected_adjusted = preselected_adjusted
        self.correct_selection = correct_selection
        self.marginals = marginals
        self.prior = prior
        self.dependence = dependence
        self.max_features = max_features
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, covariates: Any = None) -> Self:
        """Select features, fit the regressions, and learn their weights from cases left out.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,)
            At least three numbers, not all equal.
        groups : array-like of shape (n_samples,), default=None
            Cases of the same group, such as samples of one patient, stay together in every fold.
        covariates : table of shape (n_samples, n_covariates), default=None
            A DataFrame, a mapping of names to columns, or an array; see the parameter of that name,
            in place of which they can be given here.

        Returns
        -------
        self : SelectiveRegressor
            The fitted estimator. After an error it is unchanged.
        """
        fitting = self._new_fitting(X, y, groups, covariates)
        learned = fitting.learned()
        rule = fitting.with_k(fitting.ks[-1])
        self._check_selected(learned.scores, rule, learned.selection, fitting.table)
        adjusted = fitting.table.covariates is not None
        check_variation(learned.scores, rule, adjusted=adjusted, of_numbers=True)
        if groups is None:
            check_copies(learned.key_values)
        self._remember(fitting, learned)
        return self

    def _new_fitting(self, X: Any, y: Any, groups: Any, covariates: Any) -> ResponseStackFitting:
        """Check all parameters and the table."""
        self._check_rule()
        check_choice("marginals", self.marginals, ("auto", "normal", "raw"))
        check_choice("prior", self.prior, ("auto", "common", "sparse"))
        check_choice("dependence", self.dependence, tuple(_KINDS))
        table = check_training(self, X, y, "numbers", covariates)
        rule = self._checked_rule(table, "|COR|")
        rule, ks = self._numbers_of_features(rule, table)
        guarded, guard = self.dependence != "none", self.dependence
        if guarded and rule.n_before is not None:
            guard = "correlated"
        kinds, independence = _KINDS[guard]
        # Without folds nothing tells which of them is better.
        marginals = self._marginals if guarded else self._marginals[-1:]
        return ResponseStackFitting(
            table=table,
            rule=rule,
            corrected=bool(self.correct_selection),
            features=self._real_features,
            ks=ks if guarded else ks[-1:],
            marginals=marginals,
            kinds=kinds,
            independence=independence,
            guarded=guarded,
            seed=self._fold_seed(),
            groups=checked_groups(groups, table),
            store_scores=bool(self.store_scores),
            unadjusted_before=self._unadjusted_before,
        )

    def _predictor_of(self, stack: FittedResponseStack) -> ResponsePredictor:
        return ResponsePredictor(stack)

    def _learned(self, fitted: FittedResponseStack) -> dict[str, Any]:
        learned: dict[str, Any] = {
            "k_weights_": fitted.k_weights,
            "marginals_": fitted.marginals,
            "outlier_fraction_": fitted.prior.outlier,
            "response_power_": fitted.response_power,
        }
        if fitted.related is not None:
            learned["related_probability_"] = fitted.related.probability
        return learned

    def cv_predict(self, cv: Any = 5, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return cross-validated means: that of each case from a fit without its fold.

        Everything is repeated without the fold: transforms, selection, regressions and weights.
        This takes as many fits as there are folds.

        Parameters
        ----------
        cv : int, splitter or iterable, default=5
            As in scikit-learn. Every case must be in exactly one test fold. A number gives folds in
            the order of the cases, which keep groups together where `fit` had any.
        return_std : bool, default=False
            Return the standard deviations too.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        fitting = self._fitting_to_leave_out()
        mean, std = np.full((2, fitting.table.y.size), np.nan)
        for fit in self._fits_without(fitting, self._sets_of(cv)):
            mean[fit.left.asked], std[fit.left.asked] = fit.predictor.mean_and_std(fit.rows)
        return (mean, std) if return_std else mean

    def _sets_of(self, cv: Any) -> list[LeftOut]:
        """Return the set left out in each fold."""
        fitting = self._checked_fitting()
        y, groups = fitting.table.y, fitting.groups
        if groups is not None and (cv is None or isinstance(cv, int)):
            cv = GroupKFold(5 if cv is None else cv)
        return sets_of_splits(check_cv(cv).split(np.zeros((y.size, 1)), y, groups), y.size)
