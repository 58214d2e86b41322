"""`SelectiveFactorRegressor`, `SelectiveFactorClassifier`: features with common latent factors."""

from typing import Any, Self

import numpy as np

from unselected._typing import Floats
from unselected.estimators.covariates import refuse_covariates
from unselected.estimators.factor_base import FactorEstimator
from unselected.estimators.inputs import check_training
from unselected.estimators.predicting import ClassPredictions, ResponsePredictions
from unselected.models.factor_predictive import Kind


class SelectiveFactorRegressor(ResponsePredictions, FactorEstimator):
    """Factor analysis for a real-valued response that stays honest after feature selection.

    Features are selected inside `fit`. The model is conditioned on the kept features *and on the
    fact that the others looked too weak to be kept* [1]_. Each case has a few latent factors z.
    Features and response are independent given z: x_j = mu_j + lambda_j' z + noise of variance
    s_j^2, z ~ N(0, I), lambda_j ~ N(0, tau^2 s_j^2 I). The response has the same form, with a tau
    of its own. Naive Bayes assumes that features are independent given the response, and counts
    the evidence of correlated features several times; this model does not.

    The score of a feature is its absolute correlation with the response.

    The posterior is sampled by Markov chains, in seconds to minutes. The omission probability given
    the factors is computed to 1e-9 or better.

    Parameters
    ----------
    k : int, default=None
        Keep the k features with the largest scores. With neither ``k`` nor ``threshold`` all
        features are kept, and there is nothing to correct.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    n_factors : int, sequence of int or "auto", default=1
        Number of latent factors. Of several numbers ("auto" is 1, 2 and 3), the one with the
        highest mean log predictive probability, or density, in five-fold cross-validation is used.
        Features are selected anew in each fold. This takes five more fits for each number.
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
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of 1 / tau^2, one for the features and one for the
        response. The default is a half-normal prior of tau with variance 1/10. The shape must be at
        least 0.1, and shape / rate, the mean of tau^2, from 1e-12 to 10^4.
    n_draws : int, default=1000
        Number of draws kept from each chain.
    n_warmup : int, default=500
        Number of draws discarded at the start of each chain.
    n_chains : int, default=4
        Number of chains, each from a starting point of its own.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    progress : bool, default=False
        Show a progress bar on stderr while the chains run.
    random_state : int, RandomState instance or None, default=None
        Seed of the chains and of ``ties="random"``. The same int gives the same draws.

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
        Absolute correlations of all features; only with ``store_scores=True``.
    posterior_ : Draws
        ``tau`` and ``tau_response``; ``response_correlation``, the correlation of the training
        responses with their prediction from the factors; ``factors`` of the training cases;
        ``means``, ``loadings``, ``variances`` of the kept features; ``intercept``, ``coefficients``
        and ``noise_variance`` of the response. Factors are rotated: the first one is positively
        correlated with the response. The others are uncorrelated with it, and ordered by how much
        of the features they explain. ``posterior_.to_arviz()`` exports the draws.
    diagnostics_ : Diagnostics
        R-hat, bulk and tail effective sample sizes; `fit` warns where they are poor.
    omission_probability_ : float
        Posterior mean of the probability that a feature's score is at most ``threshold_``; 1 where
        there is no cut.
    n_factors_ : int
        Number of factors of the fitted model.
    n_factors_path_ : list of FactorScore
        Cross-validated score of each number of factors, where ``n_factors`` has several.

    Notes
    -----
    Missing values are not supported. There is no ``k="loo"`` and no exact leave-one-out, because
    each case would need chains of its own: use `sklearn.model_selection`.

    Predictions average over draws, weighted by the likelihood of the row's features under each.
    With hundreds of kept features a few draws have nearly all the weight, and predictions are
    noisy.

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

    def fit(self, X: Any, y: Any, covariates: Any = None) -> Self:
        """Select features, and draw from the posterior given the kept ones and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers.
        y : array-like of shape (n_samples,)
            Numbers, not all equal; at least 3 more than there are factors.
        covariates : None
            Not supported: models with latent variables take no covariates.

        Returns
        -------
        self : SelectiveFactorRegressor
            The fitted estimator. After an error or an interrupt it is unchanged.
        """
        refuse_covariates(self, covariates)
        self._check_rule()
        self._fit_table(check_training(self, X, y, "numbers"))
        return self

    def _log_scores(self, X: Any, y: Any) -> Floats:
        return self.predict_log_density(X, y)


class SelectiveFactorClassifier(ClassPredictions, FactorEstimator):
    """Factor analysis for two classes that stays honest after feature selection.

    `SelectiveFactorRegressor` with a probit link: a case is of the second class where
    mu_0 + beta' z + N(0, 1) is positive. z are the latent factors of the case,
    beta ~ N(0, tau_0^2 I), and mu_0 ~ N(0, 1). With beta = 0 this makes the prior of the
    probability of the second class uniform.

    The score of a feature is its absolute correlation with the class.

    Parameters
    ----------
    k : int, default=None
        Keep the k features with the largest scores. With neither ``k`` nor ``threshold`` all
        features are kept, and there is nothing to correct.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    n_factors : int, sequence of int or "auto", default=1
        Number of latent factors. Of several numbers ("auto" is 1, 2 and 3), the one with the
        highest mean log predictive probability, or density, in five-fold cross-validation is used.
        Features are selected anew in each fold. This takes five more fits for each number.
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
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of 1 / tau^2, one for the features and one for the
        response. The default is a half-normal prior of tau with variance 1/10. The shape must be at
        least 0.1, and shape / rate, the mean of tau^2, from 1e-12 to 10^4.
    n_draws : int, default=1000
        Number of draws kept from each chain.
    n_warmup : int, default=500
        Number of draws discarded at the start of each chain.
    n_chains : int, default=4
        Number of chains, each from a starting point of its own.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    progress : bool, default=False
        Show a progress bar on stderr while the chains run.
    random_state : int, RandomState instance or None, default=None
        Seed of the chains and of ``ties="random"``. The same int gives the same draws.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_, feature_names_in_, selection_, k_, threshold_, scores_, feature_scores_
        See `SelectiveFactorRegressor`.
    posterior_, diagnostics_, omission_probability_, n_factors_, n_factors_path_
        See `SelectiveFactorRegressor`; ``noise_variance`` is 1, and correlations are those with
        the class, coded as 0 and 1.

    Notes
    -----
    Missing values and more than two classes are not supported: `SelectiveGaussianNB` has both.

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

    def fit(self, X: Any, y: Any, covariates: Any = None) -> Self:
        """Select features, and draw from the posterior given the kept ones and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers.
        y : array-like of shape (n_samples,)
            Two classes, with any labels; at least 3 more cases than there are factors.
        covariates : None
            Not supported: models with latent variables take no covariates.

        Returns
        -------
        self : SelectiveFactorClassifier
            The fitted estimator. After an error or an interrupt it is unchanged.
        """
        refuse_covariates(self, covariates)
        self._check_rule()
        table = check_training(self, X, y, "two classes")
        self._fit_table(table)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _log_scores(self, X: Any, y: Any) -> Floats:
        place = np.searchsorted(self.classes_, y)
        return np.asarray(self.predict_log_proba(X)[np.arange(len(place)), place])
