"""`SelectiveClassifier`: the front door for classes, with defaults for real data."""

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from unselected._typing import Floats
from unselected.estimators.cautions import check_replicates, check_variation
from unselected.estimators.family_models import FamilyModels
from unselected.estimators.front_door import FrontDoor, checked_groups
from unselected.estimators.inputs import check_training
from unselected.estimators.out_of_fold import ClassAddedValue, sets_of_splits
from unselected.estimators.parameters import check_choice, check_pseudocounts
from unselected.estimators.predicting import ExplainedPredictions
from unselected.estimators.stack_fitting import StackFitting
from unselected.fitted.predictor import ClassPredictor
from unselected.fitted.stack import FittedStack
from unselected.models.bernoulli import BernoulliModel
from unselected.selection.leaving_out import Marginals
from unselected.statistics.leaving_out import LeftOut


class SelectiveClassifier(ExplainedPredictions, ClassAddedValue, FrontDoor):
    """Class probabilities that stay honest after feature selection, with nothing to set.

    Start here. The table may have far more columns than rows, binary and real-valued columns
    together, missing values (NaN), and any number of classes. Features are selected inside `fit`,
    and the model is conditioned on the kept features *and on the fact that the others looked too
    weak to be kept* [1]_.

    Predictions average over models that keep 5, 20, 100, 500 and 1000 features, and over
    likelihoods with and without correlations within classes and class-specific variances. The
    weights, and the power of each likelihood, are learned from folds, in which everything is
    repeated: transform, selection, and fit. Folds and ties depend on the content of the table and
    on ``random_state``, not on the order of rows and columns or the names of classes.

    Parameters
    ----------
    k : int, "auto" or None, default="auto"
        Keep at most k features, those with the largest scores. Predictions average over models of
        5, 20, 100, 500 and k features, as far as cases left out speak for them. "auto" is 1000, or
        ``max_features`` where that is less. None keeps all columns, and corrects nothing.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    preselected_from : int, default=None
        Set this where X holds only columns that were already selected by their scores with the same
        y: the number of columns before that selection, those of X included. Every column of X is
        then kept. All columns must be of 0 and 1, or none; others are real-valued, even where they
        have two values or mostly one.
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
        How real-valued columns are scored and modelled: by their normal scores, a monotone
        transform of each column to a normal distribution, learned from the training cases; or as
        they are. "auto" takes normal scores unless cases left out speak clearly for the raw values.
    prior : {"auto", "common", "sparse"}, default="auto"
        "common" takes all features to be related to the class, with strengths of a common scale;
        "sparse" an unknown fraction of them. "auto" averages over both.
    dependence : {"auto", "tempered", "none"}, default="auto"
        How to guard against features that depend on each other within classes. "tempered" learns
        the power of the likelihood of independent features, "auto" also averages over likelihoods
        with correlations and class-specific variances. "none" uses the likelihood of independent
        features as it is.
    class_pseudocounts : float or sequence of float, default=1.0
        Prior counts of the classes, in the order of ``classes_``: one number for all, or one for
        each. For two classes they are f0 and f1 of the paper.
    max_features : int, default=1000
        Most features that ``k="auto"`` may need at prediction.
    store_scores : bool, default=False
        Store the scores of all features, not only of the kept ones. Without it, the memory that a
        fit needs besides X does not grow with the number of columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds; None is 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of these columns, where X has names that are all strings.
    selection_ : Selection
        Which features were kept, by which rule, and the selection event: those of the model with
        the most features.
    k_ : int
        Number of selected features, not counting ``always_keep``. Less than ``k`` where cases left
        out speak against models with more features.
    k_weights_ : dict of int to float
        The posterior probability of each number of features, those in ``always_keep`` included.
    marginals_ : {"normal", "raw"}
        How real-valued columns are modelled.
    power_ : float
        The power of the evidence of the average, learned from cases left out; 1 with
        ``dependence="none"``.
    threshold_ : float or None
        The cut on the score; None where there is no cut.
    scores_ : ndarray of shape (n_kept,)
        Scores of the kept features, in the order of ``selection_.indices``: the absolute
        correlation with the class, or F for more than two classes.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Scores of all features, NaN where a feature has none; only with ``store_scores=True``.
    related_probability_ : ndarray of shape (n_kept,)
        The posterior probability that each kept feature is related to the class, given the
        selection; not with ``prior="common"``.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    Two thousand columns of noise: the classifier knows that it knows nothing.

    >>> from unselected import SelectiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2000)), np.repeat(["a", "b"], 30)
    >>> honest = SelectiveClassifier(k=20).fit(X, y)
    >>> bool(honest.expected_error(rng.normal(size=(1000, 2000))) > 0.45)
    True
    """

    k_weights_: dict[int, float]
    marginals_: Marginals
    power_: float
    related_probability_: Floats

    # Many weak features, such as words, together say more than 500 of them.
    _auto_k = 1000
    # A few features tell classes apart far better than the others do. Slopes on a real response are
    # normal: heavier tails there shrank the effects too little, and cost log density where the
    # naive model is true.
    _tails = 2.0

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
        dependence: Literal["auto", "tempered", "none"] = "auto",
        class_pseudocounts: Any = 1.0,
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
        self.class_pseudocounts = class_pseudocounts
        self.max_features = max_features
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, covariates: Any = None) -> Self:
        """Select features, fit the models, and learn their weights from cases left out.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value. Columns of two values are binary features, and so are
            those with one value, the smallest or the largest, in more than three quarters of the
            cases: of these it only matters whether a case has another value.
        y : array-like of shape (n_samples,)
            Two or more classes, with any labels; at least two cases of each.
        groups : array-like of shape (n_samples,), default=None
            Cases of the same group, such as samples of one patient, stay together in every fold.
        covariates : table of shape (n_samples, n_covariates), default=None
            A DataFrame, a mapping of names to columns, or an array; see the parameter of that name,
            in place of which they can be given here.

        Returns
        -------
        self : SelectiveClassifier
            The fitted estimator. After an error it is unchanged.
        """
        fitting = self._new_fitting(X, y, groups, covariates)
        learned = fitting.learned()
        rule = fitting.with_k(fitting.ks[-1])
        self._check_selected(learned.scores, rule, learned.selection, fitting.table)
        adjusted = fitting.table.covariates is not None
        check_variation(learned.scores, rule, adjusted=adjusted)
        if groups is None:
            check_replicates(learned.key_values, fitting.table.y)
        self._remember(fitting, learned)
        return self

    def _new_fitting(self, X: Any, y: Any, groups: Any, covariates: Any) -> StackFitting:
        """Check all parameters and the table."""
        self._check_rule()
        check_choice("marginals", self.marginals, ("auto", "normal", "raw"))
        check_choice("prior", self.prior, ("auto", "common", "sparse"))
        check_choice("dependence", self.dependence, ("auto", "tempered", "none"))
        table = check_training(self, X, y, "classes", covariates)
        n_classes = table.classes.size
        if table.y.size <= n_classes:
            raise ValueError(
                f"y has {n_classes} classes and {table.y.size} cases: estimating the variance "
                "within classes needs more cases than classes."
            )
        rule = self._checked_rule(table, "|COR|" if n_classes == 2 else "F")
        rule, ks = self._numbers_of_features(rule, table)
        return StackFitting(
            table=table,
            rule=rule,
            corrected=bool(self.correct_selection),
            models=self._models(n_classes),
            ks=ks,
            marginals=self._marginals,
            guarded=self.dependence,
            seed=self._fold_seed(),
            groups=checked_groups(groups, table),
            store_scores=bool(self.store_scores),
            unadjusted_before=self._unadjusted_before,
        )

    def _models(self, n_classes: int) -> FamilyModels:
        pseudocounts = check_pseudocounts(self.class_pseudocounts, n_classes)
        counts: Any = tuple(pseudocounts.tolist())
        binary = BernoulliModel(counts, rates="given", **self._groups_of_features)
        return FamilyModels(binary, self._real_features, pseudocounts)

    def _predictor_of(self, stack: FittedStack) -> ClassPredictor:
        return ClassPredictor(stack)

    def _learned(self, fitted: FittedStack) -> dict[str, Any]:
        sizes = (member.columns.size for member in fitted.members)
        learned: dict[str, Any] = {
            "k_weights_": dict(zip(sizes, fitted.weights.tolist(), strict=True)),
            "marginals_": fitted.marginals,
            "power_": fitted.power,
        }
        if fitted.related is not None:
            learned["related_probability_"] = fitted.related.probability
        return learned

    def cv_predict_proba(self, cv: Any = 5) -> Floats:
        """Return cross-validated probabilities: those of each case from a fit without its fold.

        Everything is repeated without the fold: transforms, selection, models and weights. This
        takes as many fits as there are folds.

        Parameters
        ----------
        cv : int, splitter or iterable, default=5
            As in scikit-learn. Every case must be in exactly one test fold. A number gives
            stratified folds in the order of the cases, which keep groups together where `fit` had
            any.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        fitting = self._fitting_to_leave_out()
        proba = np.full((fitting.table.y.size, self.classes_.size), np.nan)
        for fit in self._fits_without(fitting, self._sets_of(cv)):
            proba[fit.left.asked] = fit.predictor.predict_proba(fit.rows)
        return proba

    def _sets_of(self, cv: Any) -> list[LeftOut]:
        """Return the set left out in each fold."""
        fitting = self._checked_fitting()
        y, groups = fitting.table.y, fitting.groups
        if groups is not None and (cv is None or isinstance(cv, Integral)):
            cv = StratifiedGroupKFold(5 if cv is None else int(cv))
        splits = check_cv(cv, y, classifier=True).split(np.zeros((y.size, 1)), y, groups)
        return sets_of_splits(splits, y.size)
