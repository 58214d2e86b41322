"""`SelectiveGaussianNB`: real-valued features and any number of classes."""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from unselected.dependence.diagnosis import Untried
from unselected.dependence.power import Dependence
from unselected.estimators.adjusted_fitting import AdjustedGaussianFitting
from unselected.estimators.class_fitting import ClassFitting
from unselected.estimators.classifying import ExactClassifier
from unselected.estimators.exact import Prior, checked_gaussian_model
from unselected.estimators.inputs import TrainingTable, check_training
from unselected.estimators.naive_bayes_fitting import GaussianFitting
from unselected.estimators.parameters import (
    check_positive,
    check_pseudocounts,
    check_real_score,
)
from unselected.estimators.score_fitting import ScoredGaussianFitting
from unselected.selection.real_score import RealScore
from unselected.selection.real_score_kinds import RealFunction
from unselected.selection.record import Ties
from unselected.statistics.moments import Statistic, ValueStatistic

RealScoreFunction = (
    Literal["correlation"] | ValueStatistic | tuple[Literal["volcano"], float, float] | RealFunction
)


class SelectiveGaussianNB(ExactClassifier):
    """Naive Bayes for real-valued features that stays honest after feature selection.

    Features are selected inside `fit`. The model is conditioned on the kept features *and on the
    fact that the others looked too weak to be kept* [1]_. Without that second part, chance
    differences among many features pass for signal, and the probabilities are overconfident.

    A feature is normal within each class, with the same variance s^2 in all classes. Its class
    means are normal with variance tau^2 s^2 around an overall mean. tau is common to all features;
    the larger it is, the more the classes differ. The integral over tau is numerical, to 1e-9; all
    others are in closed form.

    With two classes, the score of a feature is by default its absolute correlation with the class;
    with more, it is the F statistic of a one-way analysis of variance.

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
    score_func : str, tuple or callable, default="correlation"
        What features are selected by: docs/guide/scores.md. "correlation" is F with more than two
        classes. For two classes: "welch" (absolute t of Welch's test), "moderated_t", "wilcoxon"
        (standardized, absolute), "auc" (0.5 to 1), "mean_difference" (log fold change, absolute)
        and "volcano". ("volcano", a, b) is above 1 where the mean difference is above a and the
        p-value of the t test below b; "volcano" has a = 1 and b = 0.05. A callable is given columns
        (n_samples, m) and y, and returns m scores, large for strong features, or a pair that begins
        with these. Each score may depend on its own column only, and not on the order of the cases.
        Scores that depend on the scale of a column need variances with a prior, which is estimated
        from all columns. Scores of ranks tie as those of binary features do. Other scores than
        "correlation" take neither missing values nor covariates.
    tolerance : float, default=0.1
        Where the probability of the selection is simulated ("wilcoxon", "auc" and callables):
        features are simulated until the standard error of its logarithm is at most this.
    class_pseudocounts : float or sequence of float, default=1.0
        Prior counts of the classes, in the order of ``classes_``: one number for all, or one for
        each. For two classes they are f0 and f1 of the paper.
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
    dependence : {"none", "tempered", "correlated"}, default="none"
        How to guard against features that depend on each other within classes, whose evidence is
        otherwise counted several times: docs/guide/dependence.md. "none" uses the likelihood as it
        is. "tempered" learns from ten folds the power of the likelihood and the outlier fraction.
        "correlated" also averages over likelihoods with correlations within classes, class-specific
        variances, or both.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Seed of ``ties="random"``; not used otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
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
        Scores of the kept features, in the order of ``selection_.indices``.
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
        The posterior probability that each kept feature is related to the class, given the
        selection: 1 less its local false discovery rate. Only with ``prior="sparse"``.
    likelihood_average_ : LikelihoodAverage
        The likelihoods that predictions average over. ``weights`` holds their posterior
        probabilities, that of the model's own likelihood first. ``powers`` holds the posterior of
        the power and the outlier fraction of each; ``mean_power`` and ``mean_outlier_fraction`` are
        means over all of them. With ``dependence="none"`` there is one likelihood, the model's own,
        with power 1.
    k_path_ : list of LeaveOneOutScore
        Leave-one-out scores of each k that was tried; only with ``k="loo"``.
    loo_score_ : LeaveOneOutScore
        Log loss, squared error, error and expected error of `loo_predict_proba`, computed on
        access. With ``k="loo"`` they are those of the chosen k.
    log_marginal_likelihood_ : float
        log P(y, kept features, event), without the event where ``correct_selection=False``. It is
        known up to a constant, because the priors of means and variances are improper.
    event_error_ : float
        Standard error of the log probability of the selection, a root mean square over the
        posterior; 0 where it is not simulated.

    Notes
    -----
    NaN is a missing value. It is left out of the sums of its feature and of predictions. The
    omission probability is that of a feature with as many known values in each class. A column
    without a known value in some class cannot be selected. It is left out with a warning and is no
    part of the event; ``selection_.unscored`` lists such columns.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    Two thousand columns of noise: the corrected classifier knows that it knows little.

    >>> import numpy as np
    >>> from unselected import SelectiveGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2000)), np.repeat(["a", "b", "c"], 20)
    >>> honest = SelectiveGaussianNB(k=20).fit(X, y)
    >>> honest.selection_
    Selection(20 of 2000 features kept: top k, ties first, weakest F = 5.254)
    >>> naive = SelectiveGaussianNB(k=20, correct_selection=False).fit(X, y)
    >>> X_new = rng.normal(size=(1000, 2000))
    >>> round(naive.expected_error(X_new), 2), round(honest.expected_error(X_new), 2)
    (0.25, 0.64)
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
        score_func: RealScoreFunction = "correlation",
        tolerance: float = 0.1,
        class_pseudocounts: Any = 1.0,
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        prior: Prior = "common",
        variance_shrinkage: float = 0.0,
        dependence: Dependence = "none",
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
        self.score_func = score_func
        self.tolerance = tolerance
        self.class_pseudocounts = class_pseudocounts
        self.concentration_prior = concentration_prior
        self.prior = prior
        self.variance_shrinkage = variance_shrinkage
        self.dependence = dependence
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any, covariates: Any = None) -> Self:
        """Select features, and condition the model on the kept features and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Two or more classes, with any labels; more cases than classes.
        covariates : table of shape (n_samples, n_covariates), default=None
            A DataFrame, a mapping of names to columns, or an array; see the parameter of that name,
            in place of which they can be given here.

        Returns
        -------
        self : SelectiveGaussianNB
            The fitted estimator. After an error it is unchanged.
        """
        self._check_rule()
        model = checked_gaussian_model(self)
        check_real_score(self.score_func, np.array([]))
        tolerance = check_positive("tolerance", self.tolerance)
        table = check_training(self, X, y, "classes", covariates)
        pseudocounts = check_pseudocounts(self.class_pseudocounts, table.classes.size)
        if table.y.size <= table.classes.size:
            raise ValueError(
                f"y has {table.classes.size} classes and {table.y.size} cases: estimating the "
                "variance within classes needs more cases than classes."
            )
        G, score = table.classes.size, check_real_score(self.score_func, table.classes)
        plain: Statistic = "|COR|" if G == 2 else "F"
        rule = self._checked_rule(table, plain if score is None else score.statistic(G))
        how = (bool(self.correct_selection), self.prior == "sparse", self._checked_dependence())
        parts = (table, rule, *how, model, pseudocounts)
        fitting: ClassFitting
        if score is not None:
            self._check_score(score, table)
            fitting = ScoredGaussianFitting(*parts, score, tolerance)
        elif table.covariates is None:
            fitting = GaussianFitting(*parts)
        else:
            fitting = AdjustedGaussianFitting(*parts, **self._before)
        self._fit(fitting)
        if score is not None:
            fitted, error = self._predictor.fitted, self.event_error_
            self.selection_ = replace(self.selection_, event=fitted.event, event_error=error)
        self.log_marginal_likelihood_ += self._predictor.fitted.log_class_evidence
        return self

    def _learned(self, fitted: Any) -> dict[str, Any]:
        return super()._learned(fitted) | {"event_error_": fitted.event_error}

    def _check_score(self, score: RealScore, table: TrainingTable) -> None:
        """Raise where a score cannot be combined with what else is asked for."""
        name = "custom" if callable(self.score_func) else self.score_func
        if table.covariates is not None:
            raise ValueError(
                f"score_func={name!r} does not adjust for covariates: use score_func='correlation'."
            )
        if score.simulated and self.k == "loo":
            raise ValueError(
                f"k='loo' takes a simulation for each k and case with score_func={name!r}: give k, "
                "compare a few with k_path, or use a score that has a formula."
            )
        sizes = np.bincount(table.y, minlength=table.classes.size)
        if score.checked_with(sizes).scale_free:
            return
        for parameter, value, other in (
            ("variance_shrinkage", self.variance_shrinkage, 0.0),
            ("prior", self.prior, "common"),
        ):
            if value != other:
                raise ValueError(
                    f"score_func={name!r} depends on the scale of a column, and has a prior of "
                    f"variances of its own: use {parameter}={other!r}, or a score that does not, "
                    "such as 'welch'."
                )

    @property
    def _untried(self) -> Untried:
        other = self.variance_shrinkage or self.score_func != "correlation"
        return () if other else super()._untried
