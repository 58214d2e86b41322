"""`SelectiveBernoulliNB`: the paper's classifier as a scikit-learn estimator."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from unselected._typing import Floats
from unselected.dependence.power import Dependence
from unselected.estimators.classifying import SelectingClassifier
from unselected.estimators.fitting import BernoulliFitting
from unselected.estimators.inputs import (
    check_binarize,
    check_choice,
    check_positive_pair,
    check_training,
)
from unselected.estimators.selecting import Prior
from unselected.fitted.naive_bayes import KeptBernoulli
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.record import Ties
from unselected.statistics.binarizing import Binarize


class SelectiveBernoulliNB(SelectingClassifier[KeptBernoulli]):
    """Naive Bayes for binary features that stays honest after feature selection.

    The features most correlated with the class are selected inside `fit`, and the model is
    conditioned on the kept features *and on the fact that the others looked too weak to be kept*
    [1]_. Without that second part, chance correlations among many features pass for signal, and
    the probabilities come out overconfident.

    Parameters
    ----------
    k : int or "loo", default=None
        Keep this many features, those with the largest absolute correlation with the class.
        With neither ``k`` nor ``threshold`` all features are kept, and there is nothing to correct.
        "loo" tries 1, 2, 5, 10, ... up to 1000 and takes the k that best predicts cases left out.
    threshold : float, default=None
        Keep the features whose absolute correlation is above this, from 0 to 1. Not with ``k``.
    correct_selection : bool, default=True
        Condition on the selection. False is what everybody does, for comparison.
    preselected_from : int, default=None
        Say that X holds only the columns that somebody already kept, by correlation with this very
        y, out of so many (the columns of X included). Every column is then kept. The cut is
        ``threshold``, which every column must exceed, or else the weakest correlation among the
        columns given.
    always_keep : names or numbers of columns, default=None
        Columns kept whatever their correlation, on top of the ``k`` selected ones. They are used
        for prediction, modelled as the others are, and say nothing about the selection. Numbers
        are positions counted from 0, also where the columns are named by numbers.
    ties : {"first", "random"}, default="first"
        Who is kept among features tied for the last places: the lower columns, or a random choice
        (the paper's rule). Correlations are compared in exact integers, and the event conditioned
        on is that of the rule.
    binarize : {"auto", "median"}, float or None, default="auto"
        How columns become bits. A value is a one where it is above a cut: "auto" takes columns of 0
        and 1 (and booleans) as they are and cuts the others at their training median; "median" cuts
        all at their training median; a number cuts all there; None takes only 0 and 1. Where
        nothing is above the median, the cut is the next smaller value.
    class_pseudocounts : pair of float, default=(1.0, 1.0)
        Prior counts of the two classes, in the order of ``classes_``: f0 and f1 of the paper.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration (alpha in the paper): the
        larger the concentration, the more alike a feature's distributions in the two classes.
    quadrature : {"exact", "paper"}, default="exact"
        "exact" integrates to rounding error over a feature's overall rate and adaptively over the
        concentration; "paper" is the grid of the paper, 21 x 30 points, for reproduction.
    prior : {"common", "sparse"}, default="common"
        "common" is the paper's: every feature differs between the classes, by as much as the others
        typically do. "sparse" has two groups: an unknown fraction of the features is like that, and
        the others are not related to the class at all. The fraction is log-uniform from 1 / p to 1,
        where p is the number of features that selection looked at.
        Needs the quadrature "exact".
    dependence : {"none", "tempered", "correlated"}, default="none"
        How to guard against features that depend on each other within classes, whose evidence is
        counted several times, see docs/dependence.md. "tempered" learns from ten folds of the
        training cases what their evidence is worth, and how many cases are strays. "correlated"
        learns besides which likelihood to believe: the model's own, or one in which features are
        correlated within classes. "none" believes the
        model.
    store_scores : bool, default=False
        Keep the scores and counts of all features, not only of the kept ones. Without it the
        memory that a fit needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Used by ``ties="random"`` only.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
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
        Absolute correlations of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Those of all features; only with ``store_scores=True``.
    feature_counts_ : ndarray of shape (2, n_features_in_)
        Ones of each feature among the cases of the first and of the second class; only with
        ``store_scores=True``.
    binarize_thresholds_ : ndarray of shape (n_kept,)
        Cuts of the kept columns, from training rows only; 0.5 for columns that are 0 and 1.
    concentration_ : ndarray of shape (n_nodes,)
        Values of the concentration that the predictions average over; infinite where features
        are unrelated to the classes to within the range of a double (shapes below 0.1).
    concentration_weights_ : ndarray of shape (n_nodes,)
        Their posterior probabilities, which sum to 1.
    omission_probability_ : ndarray of shape (n_nodes,)
        For each of them, the probability that a feature's absolute correlation is at most
        ``threshold_``.
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
        log P(y, kept features, event), the event left out where there is no correction.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    Two thousand columns of noise: the corrected classifier knows that it knows little.

    >>> import numpy as np
    >>> from unselected import SelectiveBernoulliNB
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.integers(0, 2, size=(60, 2000)), np.repeat([0, 1], 30)
    >>> honest = SelectiveBernoulliNB(k=20).fit(X, y)
    >>> honest.selection_
    Selection(20 of 2000 features kept: top k, ties first, weakest |COR| = 0.3341)
    >>> naive = SelectiveBernoulliNB(k=20, correct_selection=False).fit(X, y)
    >>> X_new = rng.integers(0, 2, size=(1000, 2000))
    >>> round(naive.expected_error(X_new), 2), round(honest.expected_error(X_new), 2)
    (0.16, 0.44)
    """

    binarize_thresholds_: Floats
    feature_counts_: NDArray[Any]

    def __init__(
        self,
        k: int | Literal["loo"] | None = None,
        threshold: float | None = None,
        *,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
        ties: Ties = "first",
        binarize: Binarize = "auto",
        class_pseudocounts: tuple[float, float] = (1.0, 1.0),
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        prior: Prior = "common",
        quadrature: Literal["exact", "paper"] = "exact",
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
        self.binarize = binarize
        self.class_pseudocounts = class_pseudocounts
        self.concentration_prior = concentration_prior
        self.prior = prior
        self.quadrature = quadrature
        self.dependence = dependence
        self.store_scores = store_scores
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and condition the model on them and on the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Booleans or numbers; see ``binarize``.
        y : array-like of shape (n_samples,)
            Two classes, with any labels.

        Returns
        -------
        self : SelectiveBernoulliNB
            An error leaves the estimator as it was.
        """
        model = self._checked_model()
        table = check_training(self, X, y, "two classes")
        rule = self._checked_rule(table, "|COR|")
        how = (bool(self.correct_selection), self.prior == "sparse", self._checked_dependence())
        scores = self._fit(
            BernoulliFitting(table, rule, *how, model, check_binarize(self.binarize))
        )
        if self.store_scores:
            self.feature_counts_ = np.stack([scores.counts.I0, scores.counts.I1])
        self.classes_ = table.classes
        self._remember_worth()
        self.binarize_thresholds_ = self._kept.thresholds
        return self

    def _checked_model(self) -> BernoulliModel:
        """Check the parameters that do not depend on the data, and return the model they make."""
        self._check_rule()
        check_choice("quadrature", self.quadrature, ("exact", "paper"))
        check_binarize(self.binarize)
        f0, f1 = check_positive_pair(
            "class_pseudocounts", self.class_pseudocounts, "one for each class"
        )
        a, b = check_positive_pair(
            "concentration_prior", self.concentration_prior, "shape and rate"
        )
        if self.prior == "sparse" and self.quadrature != "exact":
            raise ValueError(
                f"quadrature={self.quadrature!r} is a grid for prior='common' alone: use "
                "quadrature='exact' with prior='sparse'."
            )
        return BernoulliModel(f0=f0, f1=f1, a=a, b=b, quadrature=self.quadrature)
