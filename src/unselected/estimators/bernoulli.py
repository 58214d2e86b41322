"""`SelectiveBernoulliNB`: the paper's classifier as a scikit-learn estimator, also of genotypes."""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from unselected._typing import Floats
from unselected.dependence.diagnosis import Untried
from unselected.dependence.power import Dependence
from unselected.estimators.adjusted_fitting import AdjustedBitsFitting
from unselected.estimators.classifying import ExactClassifier
from unselected.estimators.exact import Prior
from unselected.estimators.inputs import check_training
from unselected.estimators.naive_bayes_fitting import BernoulliFitting, GenotypeFitting
from unselected.estimators.parameters import (
    check_binarize,
    check_choice,
    check_count_score,
    check_positive_pair,
    check_pseudocounts,
)
from unselected.models.bernoulli import BernoulliModel
from unselected.models.count_omission import Rates
from unselected.models.gaussian import GaussianModel
from unselected.selection.count_score import EXPLAINED
from unselected.selection.count_score_kinds import Function
from unselected.selection.record import Ties
from unselected.statistics.binarizing import Binarize
from unselected.statistics.genotypes import DIPLOID

Family = Literal["binary", "genotype"]
ScoreFunction = (
    Literal["correlation", "chi2", "mutual_info", "fisher", "odds_ratio", "rate_difference"]
    | Function
)


class SelectiveBernoulliNB(ExactClassifier):
    """Naive Bayes for binary features that stays honest after feature selection.

    Features are selected inside `fit`. The model is conditioned on the kept features *and on the
    fact that the others looked too weak to be kept* [1]_. Without that second part, chance
    correlations among many features pass for signal, and the probabilities are overconfident.

    The score of a feature is by default its absolute correlation with the class, or with more than
    two classes the F statistic. NaN is a missing value: it is left out of counts and predictions.

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
    score_func : str or callable, default="correlation"
        What features are selected by: docs/guide/scores.md. "correlation" is F with more than two
        classes. "chi2", "mutual_info" (in nats) and "rate_difference" take any number of classes;
        "fisher" (-log10 of the p-value of Fisher's exact test) and "odds_ratio" (its reciprocal,
        where that is larger) take two. A callable is given the numbers of ones and of known values,
        two arrays of integers of shape (n_classes, p), and returns p scores, large for strong
        features. Each score may depend on its own column only. "mutual_info" and scores of a
        callable tie where their first ten digits are equal. Scores other than "correlation" and
        "chi2" need a table of all counts: at most 4194304, for example two classes of 2047 cases.
    family : {"binary", "genotype"}, default="binary"
        "genotype" is for columns of 0, 1 and 2, the number of copies of an allele; see
        docs/guide/genotypes.md. Within a class both alleles of a case are drawn with the same
        frequency (Hardy-Weinberg equilibrium). Scores, effects and totals are of alleles, twice as
        many as cases; predictions are from genotypes. Not with covariates.
    binarize : {"auto", "median"}, float or None, default="auto"
        How columns become bits. A value above a cut is a one. "auto" takes columns of 0 and 1 (and
        booleans) as they are, and cuts the others at their training median; "median" cuts all
        columns at their training median; a number cuts all columns there; None accepts only 0 and
        1. Where no value is above the median, the cut is the next smaller value.
    rates : {"uniform", "given"}, default="uniform"
        What is assumed of how often the features are 1. "uniform" is the paper's prior: all rates
        are equally probable. "given" takes the number of ones of every feature, omitted ones
        included, as given, and models only how they are divided between the classes: for tables
        with many rare features, such as words in documents. Needs ``quadrature="exact"``.
        Two classes of up to 5700 cases are possible. With ``preselected_from`` these numbers are
        unknown for the omitted features, and each from 0 to n is taken to be as probable.
    class_pseudocounts : float or sequence of float, default=1.0
        Prior counts of the classes, in the order of ``classes_``: one number for all, or one for
        each. For two classes they are f0 and f1 of the paper.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration (alpha in the paper). The
        larger the concentration, the more alike are a feature's distributions in the classes.
    quadrature : {"exact", "paper"}, default="exact"
        "exact" integrates over a feature's overall rate to rounding error, and adaptively over the
        concentration. "paper" is the grid of the paper, 21 x 30 points, for reproduction.
    prior : {"common", "sparse"}, default="common"
        "common" is the paper's prior: every feature is related to the response, and the strengths
        of the relations have a common scale. "sparse" has two groups: an unknown fraction of the
        features is related to the response in this way, and the others are not related to it at
        all. The fraction is log-uniform from 1 / p to 1, where p is the number of features before
        selection. Needs ``quadrature="exact"``.
    dependence : {"none", "tempered", "correlated"}, default="none"
        How to guard against features that depend on each other within classes, whose evidence is
        otherwise counted several times: docs/guide/dependence.md. "none" uses the likelihood as it
        is. "tempered" learns from ten folds the power of the likelihood and the outlier fraction.
        "correlated" also averages over likelihoods with correlations within classes.
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
        Scores of all features; only with ``store_scores=True``.
    feature_counts_ : ndarray of shape (n_classes, n_features_in_)
        Number of ones (of genotypes: copies of the allele) of each feature in each class, 0 for
        features without a score; only with ``store_scores=True``.
    binarize_thresholds_ : ndarray of shape (n_kept,)
        Cuts of the kept columns, from the training rows only; 0.5 for columns of 0 and 1. Only with
        ``family="binary"``.
    concentration_ : ndarray of shape (n_nodes,)
        Quadrature nodes: the values of the concentration that the predictions average over. One
        that exceeds the range of a double is infinite (prior shapes below 0.1).
    concentration_weights_ : ndarray of shape (n_nodes,)
        Posterior probabilities of these values; they sum to 1.
    omission_probability_ : ndarray of shape (n_nodes,)
        At each node, the probability that a feature's score is at most ``threshold_``; with
        ``rates="given"`` and with missing values the average over the omitted features; 1 where
        there is no cut.
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
    event_error_ : float
        About the standard error of the log probability of the selection. It is 0 but for three or
        more classes of which there are too many vectors of counts: docs/limits.md.
    k_path_ : list of LeaveOneOutScore
        Leave-one-out scores of each k that was tried; only with ``k="loo"``.
    loo_score_ : LeaveOneOutScore
        Log loss, squared error, error and expected error of `loo_predict_proba`, computed on
        access. With ``k="loo"`` they are those of the chosen k.
    log_marginal_likelihood_ : float
        log P(y, kept features, event), without the event where ``correct_selection=False``. Of
        genotypes it is that of their alleles in order: add log(2) for each heterozygous genotype.

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

    _takes_missing = True
    binarize_thresholds_: Floats
    feature_counts_: NDArray[Any]
    event_error_: float

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
        score_func: ScoreFunction = "correlation",
        family: Family = "binary",
        binarize: Binarize = "auto",
        rates: Rates = "uniform",
        class_pseudocounts: Any = 1.0,
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
        self.covariates = covariates
        self.preselected_adjusted = preselected_adjusted
        self.ties = ties
        self.score_func = score_func
        self.family = family
        self.binarize = binarize
        self.rates = rates
        self.class_pseudocounts = class_pseudocounts
        self.concentration_prior = concentration_prior
        self.prior = prior
        self.quadrature = quadrature
        self.dependence = dependence
        self.store_scores = store_scores
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.quadrature != "paper"
        # As in `sklearn.naive_bayes.BernoulliNB`: bits tell little of three classes of numbers.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any, covariates: Any = None) -> Self:
        """Select features, and condition the model on the kept features and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Booleans or numbers; see ``family`` and ``binarize``.
        y : array-like of shape (n_samples,)
            Two or more classes, with any labels.
        covariates : table of shape (n_samples, n_covariates), default=None
            A DataFrame, a mapping of names to columns, or an array; see the parameter of that name,
            in place of which they can be given here.

        Returns
        -------
        self : SelectiveBernoulliNB
            The fitted estimator. After an error it is unchanged.
        """
        model = self._checked_model()
        table = check_training(self, X, y, "classes", covariates)
        G, score = table.classes.size, check_count_score(self.score_func)
        statistic = score.statistic(G)
        if statistic == "F" and table.y.size <= G:
            raise ValueError(
                f"y has {G} classes and {table.y.size} cases: the F statistic needs more cases "
                "than classes."
            )
        rule = self._checked_rule(table, statistic)
        model = replace(
            model, pseudocounts=tuple(check_pseudocounts(self.class_pseudocounts, G).tolist())
        )
        if G > 2 and self.quadrature == "paper":
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                "and quadrature='paper' does not support more than two classes: use "
                "quadrature='exact'."
            )
        how = (bool(self.correct_selection), self.prior == "sparse", self._checked_dependence())
        binarize = check_binarize(self.binarize)
        if table.covariates is not None:
            if self.family == "genotype":
                raise ValueError(
                    "family='genotype' does not adjust for covariates: use SelectiveGaussianNB, "
                    "which takes 0, 1 and 2 as numbers and does, or leave out the covariates."
                )
            self._check_exact("covariates")
            if score != EXPLAINED:
                raise ValueError(
                    f"score_func={self._score_name!r} does not adjust for covariates: use "
                    "score_func='correlation'."
                )
            if self.rates == "given":
                raise ValueError(
                    "rates='given' has no meaning with covariates, which change the rates: use "
                    "rates='uniform'."
                )
            numbers = GaussianModel(model.a, model.b), np.array(model.pseudocounts)
            self._fit(AdjustedBitsFitting(table, rule, *how, *numbers, binarize, **self._before))
            self.binarize_thresholds_ = self._predictor.fitted.thresholds
            return self
        fitting = GenotypeFitting if self.family == "genotype" else BernoulliFitting
        scores = self._fit(fitting(table, rule, *how, model, binarize, score))
        if self.store_scores:
            self.feature_counts_ = np.zeros((G, table.X.shape[1]), scores.counts.ones.dtype)
            self.feature_counts_[:, scores.subset.columns] = scores.counts.ones
        if self.family == "binary":
            self.binarize_thresholds_ = self._predictor.fitted.thresholds
        if self.event_error_:
            self.selection_ = replace(self.selection_, event_error=self.event_error_)
        return self

    def _learned(self, fitted: Any) -> dict[str, Any]:
        return super()._learned(fitted) | {"event_error_": fitted.event_error}

    def _checked_model(self) -> BernoulliModel:
        """Check the parameters that do not depend on the data, and return the model."""
        self._check_rule()
        check_choice("quadrature", self.quadrature, ("exact", "paper"))
        check_choice("rates", self.rates, ("uniform", "given"))
        check_count_score(self.score_func)
        check_binarize(self.binarize)
        self._check_family()
        a, b = check_positive_pair(
            "concentration_prior", self.concentration_prior, "shape and rate"
        )
        self._check_exact("prior='sparse'" if self.prior == "sparse" else None)
        self._check_exact("rates='given'" if self.rates == "given" else None)
        other = check_count_score(self.score_func) != EXPLAINED
        self._check_exact(f"score_func={self._score_name!r}" if other else None)
        ploidy = DIPLOID if self.family == "genotype" else 1
        return BernoulliModel(a=a, b=b, quadrature=self.quadrature, rates=self.rates, ploidy=ploidy)

    def _check_family(self) -> None:
        check_choice("family", self.family, ("binary", "genotype"))
        if self.family == "binary":
            return
        self._check_exact("family='genotype'")
        if self.binarize != "auto":
            raise ValueError(
                f"binarize={self.binarize!r} has no meaning with family='genotype', which takes 0, "
                "1 and 2 as they are: leave it out, or use family='binary'."
            )

    @property
    def _score_name(self) -> str:
        return "custom" if callable(self.score_func) else self.score_func

    @property
    def _untried(self) -> Untried:
        if self.quadrature != "exact":
            return ()
        rates: Untried = (("rates", "given"),) if self.rates == "uniform" else ()
        return rates + super()._untried

    def _check_exact(self, what: str | None) -> None:
        """Raise where something needs exact quadrature and that is not asked for."""
        if what is not None and self.quadrature != "exact":
            raise ValueError(
                f"quadrature={self.quadrature!r} does not support {what}: use quadrature='exact'."
            )
