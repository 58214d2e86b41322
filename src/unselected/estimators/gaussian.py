"""`SelectiveGaussianNB`: real-valued features and any number of classes."""

from typing import Any, Literal, Self

from unselected.dependence.power import Dependence
from unselected.estimators.classifying import SelectingClassifier
from unselected.estimators.fitting import GaussianFitting
from unselected.estimators.inputs import check_pseudocounts, check_training
from unselected.estimators.selecting import GaussianEstimator, Prior
from unselected.fitted.naive_bayes import KeptGaussian
from unselected.selection.record import Ties


class SelectiveGaussianNB(SelectingClassifier[KeptGaussian], GaussianEstimator):
    """Naive Bayes for real-valued features that stays honest after feature selection.

    The features most related to the class are selected inside `fit`, and the model is conditioned
    on the kept features *and on the fact that the others looked too weak to be kept* [1]_. Without
    that second part, chance differences among many features pass for signal, and the
    probabilities come out overconfident.

    In each class a feature is normal, with the same variance s^2 in all; its class means are normal
    with variance tau^2 s^2 around an overall mean. tau, which is common to all features, says how
    much classes differ. Everything is integrated in closed form but tau, and that to 1e-9.

    Features are scored by the absolute correlation with the class where there are two classes, and
    by the F statistic of a one-way analysis of variance where there are more.

    Parameters
    ----------
    k : int or "loo", default=None
        Keep this many features, those with the largest scores.
        With neither ``k`` nor ``threshold`` all features are kept, and there is nothing to correct.
        "loo" tries 1, 2, 5, 10, ... up to 1000 and takes the k that best predicts cases left out.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    correct_selection : bool, default=True
        Condition on the selection. False is what everybody does, for comparison.
    preselected_from : int, default=None
        Say that X holds only the columns that somebody already kept, by their score with this
        very y, out of so many (the columns of X included). Every column is then kept. The cut is
        ``threshold``, which every column must exceed, or else the weakest score among the columns
        given. The columns left out are taken to have had no missing values.
    always_keep : names or numbers of columns, default=None
        Columns kept whatever their score, on top of the ``k`` selected ones. They are used
        for prediction, modelled as the others are, and say nothing about the selection. Numbers
        are positions counted from 0, also where the columns are named by numbers.
    ties : {"first", "random"}, default="first"
        Who is kept among features tied for the last places: the lower columns, or a random choice.
        Real-valued features tie only where columns are equal, so that it hardly matters.
    class_pseudocounts : float or sequence of float, default=1.0
        Prior counts of the classes, in the order of ``classes_``.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration 1 / tau^2. The default is
        a half-normal prior of tau with variance 1/10, the paper's prior in these units.
    variance_shrinkage : float, default=0.0
        Draw the variances of the features towards each other: a feature's variance is taken to be
        inverse-chi-squared with this many degrees of freedom around a common variance, which is
        learned. It is worth as many cases, 0.1 to 10^6, and makes sense where all features have the
        same unit. With 0 each feature has a variance of its own, and its unit does not matter.
    prior : {"common", "sparse"}, default="common"
        "common" is the paper's: every feature differs between the classes, by as much as the others
        typically do. "sparse" has two groups: an unknown fraction of the features is like that, and
        the others are not related to the class at all. The fraction is log-uniform from 1 / p to 1,
        where p is the number of features that selection looked at. Not with ``variance_shrinkage``.
    dependence : {"none", "tempered", "correlated"}, default="none"
        How to guard against features that depend on each other within classes, whose evidence is
        counted several times, see docs/dependence.md. "tempered" learns from ten folds of the
        training cases what their evidence is worth, and how many cases are strays. "correlated"
        learns besides which likelihood to believe: the model's own, or one in which features are
        correlated within classes, classes spread
        unlike, or both. "none" believes the
        model.
    store_scores : bool, default=False
        Keep the scores of all features, not only of the kept ones. Without it the memory that a fit
        needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Used by ``ties="random"`` only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has names that are all strings.
    selection_ : Selection
        Which features were kept, by which rule, and the event that this makes.
    threshold_ : float or None
        The cut on the score; None where neither ``k`` nor ``threshold`` nor ``preselected_from``
        made one.
    scores_ : ndarray of shape (n_kept,)
        The scores of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        The scores of all features; only with ``store_scores=True``.
    concentration_ : ndarray of shape (n_nodes,)
        Values of 1 / tau^2 that the predictions average over.
    concentration_weights_ : ndarray of shape (n_nodes,)
        Their posterior probabilities, which sum to 1.
    omission_probability_ : ndarray of shape (n_nodes,)
        For each of them, the probability that a feature without missing values has a score of at
        most ``threshold_``; 1 where there is no cut.
    related_fraction_ : ndarray of shape (n_nodes,)
        With ``prior="sparse"``, the fraction of related features that belongs to each of these
        concentrations.
    related_probability_ : ndarray of shape (n_kept,)
        With ``prior="sparse"``, the posterior probability that each kept feature is related to
        the class, selection accounted for: 1 less its local false discovery rate.
    tempering_ : Tempering
        With ``dependence="tempered"``, the posterior of the worth of a unit of evidence (``eta``,
        ``mean_eta``) and of the fraction of strays (``epsilon``, ``mean_epsilon``).
    weighing_ : Weighing
        With ``dependence="correlated"``, the likelihoods with their posterior probabilities
        (``weights``, that of the model's own first), and the tempering of each.
    k_path_ : list of LeaveOneOutScore
        With ``k="loo"``, how well each k that was tried predicts cases left out.
    loo_score_ : LeaveOneOutScore
        Log loss, squared error, error and expected error of `loo_predict_proba`; computed when it
        is asked for. With ``k="loo"``, for the k that was chosen.
    log_marginal_likelihood_ : float
        log P(y, kept features, event), the event left out where there is no correction;
        up to a constant, for the priors of means and variances are improper.

    Notes
    -----
    NaN is a missing value: it is left out of the sums of its feature, and of predictions. A feature
    must be known in every class. The probability of being omitted is that of a feature with as many
    known values in each class.

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

    def __init__(
        self,
        k: int | Literal["loo"] | None = None,
        threshold: float | None = None,
        *,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
        ties: Ties = "first",
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
        self.ties = ties
        self.class_pseudocounts = class_pseudocounts
        self.concentration_prior = concentration_prior
        self.prior = prior
        self.variance_shrinkage = variance_shrinkage
        self.dependence = dependence
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and condition the model on them and on the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Two or more classes, with any labels; more cases than classes.

        Returns
        -------
        self : SelectiveGaussianNB
            An error leaves the estimator as it was.
        """
        model = self._checked_model()
        table = check_training(self, X, y, "classes")
        pseudocounts = check_pseudocounts(self.class_pseudocounts, table.classes.size)
        if table.y.size <= table.classes.size:
            raise ValueError(
                f"y has {table.classes.size} classes among {table.y.size} cases: the spread within "
                "classes cannot be told without more cases than classes."
            )
        rule = self._checked_rule(table, "|COR|" if table.classes.size == 2 else "F")
        how = (bool(self.correct_selection), self.prior == "sparse", self._checked_dependence())
        self._fit(GaussianFitting(table, rule, *how, model, pseudocounts))
        self.log_marginal_likelihood_ += self._kept.log_class_evidence
        self.classes_ = table.classes
        self._remember_worth()
        return self
