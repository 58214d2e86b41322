"""`SelectiveClassifier`: the front door for classes, with defaults for real data."""

from dataclasses import replace
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d

from unselected._typing import Floats, Ints
from unselected.columns.dask import DaskColumns
from unselected.estimators.cautions import check_replicates, check_variation
from unselected.estimators.inputs import TrainingTable, check_training, is_missing
from unselected.estimators.parameters import check_choice, check_pseudocounts, check_whole
from unselected.estimators.predicting import ExplainedPredictions
from unselected.estimators.selecting import CHOSEN_LATER, SelectiveEstimator
from unselected.estimators.stack_fitting import FamilyModels, LearnedStack, StackFitting
from unselected.fitted.effects import FeatureEffects
from unselected.fitted.predictor import ClassPredictor
from unselected.fitted.ranges import TrainingRanges
from unselected.fitted.stack import FittedStack
from unselected.models.bernoulli import BernoulliModel
from unselected.models.gaussian import GaussianModel
from unselected.selection.leaving_out import Marginals
from unselected.selection.record import Ties
from unselected.statistics.leaving_out import LeftOut

# Numbers of features that are averaged over, up to k.
_KS = (5, 20, 100, 500)
# Rate of the gamma prior of tau^2 for real-valued features: tau is half-normal with variance 1/2,
# because differences between classes in real data are larger than the paper's prior expects.
_RATE = 1.0
# Degrees of freedom of the distribution of the effects of real-valued features: a few are much
# larger than the others.
_TAILS = 2.0
# Prior probability that all features are related, where the prior is "auto".
_ALL_RELATED = 0.5


class SelectiveClassifier(ExplainedPredictions, SelectiveEstimator):
    """Class probabilities that stay honest after feature selection, with nothing to set.

    Start here. The table may have far more columns than rows, binary and real-valued columns
    together, missing values (NaN), and any number of classes. Features are selected inside `fit`,
    and the model is conditioned on the kept features *and on the fact that the others looked too
    weak to be kept* [1]_.

    Predictions average over models that keep 5, 20, 100 and 500 features, and over likelihoods with
    and without correlations within classes and class-specific variances. The weights, and the power
    of each likelihood, are learned from folds, in which everything is repeated: transform,
    selection, and fit. Folds and ties depend on the content of the table and on ``random_state``,
    not on the order of rows and columns or the names of classes.

    Parameters
    ----------
    k : int, "auto" or None, default="auto"
        Keep at most k features, those with the largest scores. Predictions average over models of
        5, 20, 100, ... and k features, as far as cases left out speak for them. "auto" is 500, or
        ``max_features`` where that is less. None keeps all columns, and corrects nothing.
    threshold : float, default=None
        Keep the features whose score is above this. Not with ``k``.
    preselected_from : int, default=None
        Set this where X holds only columns that were already selected by their scores with the same
        y: the number of columns before that selection, those of X included. Every column of X is
        then kept. Columns must be all binary or all real-valued.
    always_keep : names or numbers of columns, default=None
        Columns to keep whatever their scores, in addition to the selected ones. They are modelled
        and used for prediction like the others, and are no part of the selection event. Numbers are
        positions counted from 0, even where the columns are named by numbers.
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

    ties: Ties = "first"
    _takes_missing = True
    _finds_k = "auto"

    k_weights_: dict[int, float]
    marginals_: Marginals
    related_probability_: Floats

    def __init__(
        self,
        k: int | Literal["auto"] | None = "auto",
        *,
        threshold: float | None = None,
        preselected_from: int | None = None,
        always_keep: Any = None,
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
        self.correct_selection = correct_selection
        self.marginals = marginals
        self.prior = prior
        self.dependence = dependence
        self.class_pseudocounts = class_pseudocounts
        self.max_features = max_features
        self.store_scores = store_scores
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Select features, fit the models, and learn their weights from cases left out.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Numbers; NaN is a missing value. Columns of 0 and 1 are binary features.
        y : array-like of shape (n_samples,)
            Two or more classes, with any labels; at least two cases of each.
        groups : array-like of shape (n_samples,), default=None
            Cases of the same group, such as samples of one patient, stay together in every fold.

        Returns
        -------
        self : SelectiveClassifier
            The fitted estimator. After an error it is unchanged.
        """
        fitting = self._new_fitting(X, y, groups)
        learned = fitting.learned()
        rule = fitting.with_k(fitting.ks[-1])
        self._check_selected(learned.scores, rule, learned.selection, fitting.table)
        check_variation(learned.scores, rule)
        if groups is None:
            check_replicates(learned.key_values, fitting.table.y)
        self._remember(fitting, learned)
        return self

    def _new_fitting(self, X: Any, y: Any, groups: Any) -> StackFitting:
        """Check all parameters and the table."""
        self._check_rule()
        check_choice("marginals", self.marginals, ("auto", "normal", "raw"))
        check_choice("prior", self.prior, ("auto", "common", "sparse"))
        check_choice("dependence", self.dependence, ("auto", "tempered", "none"))
        most = check_whole("max_features", self.max_features, 1, None, "a number of features")
        table = check_training(self, X, y, "classes")
        n_classes = table.classes.size
        if table.y.size <= n_classes:
            raise ValueError(
                f"y has {n_classes} classes and {table.y.size} cases: estimating the variance "
                "within classes needs more cases than classes."
            )
        rule = self._checked_rule(table, "|COR|" if n_classes == 2 else "F")
        n_free = table.X.shape[1] - rule.always.size
        k = rule.k
        if k == CHOSEN_LATER:
            k = min(_KS[-1], most, n_free)
        ks = (None,) if k is None else (*(small for small in _KS if small < k), k)
        marginals: tuple[Marginals, ...] = (
            ("raw", "normal") if self.marginals == "auto" else (self.marginals,)
        )
        return StackFitting(
            table=table,
            rule=replace(rule, k=k),
            corrected=bool(self.correct_selection),
            models=self._models(n_classes),
            ks=ks,
            marginals=marginals,
            guarded=self.dependence,
            seed=self._fold_seed(),
            groups=_checked_groups(groups, table),
            store_scores=bool(self.store_scores),
        )

    @property
    def _asked_k(self) -> Any:
        """``k``, but None where the default gives way to a threshold or an earlier selection."""
        other = self.threshold is not None or self.preselected_from is not None
        return None if other and self.k == self._finds_k else self.k

    def _models(self, n_classes: int) -> FamilyModels:
        pseudocounts = check_pseudocounts(self.class_pseudocounts, n_classes)
        groups: Any = {"coarse": True}
        if self.prior != "common":  # the least fraction follows from the number of columns
            groups["least_fraction"] = 1.0
            groups["all_related"] = _ALL_RELATED if self.prior == "auto" else 0.0
        tails = None if self.prior == "common" else _TAILS
        binary = BernoulliModel(tuple(pseudocounts.tolist()), rates="given", **groups)
        return FamilyModels(binary, GaussianModel(b=_RATE, tails=tails, **groups), pseudocounts)

    def _fold_seed(self) -> int:
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(2**31))

    def _remember(self, fitting: StackFitting, learned: LearnedStack) -> None:
        """Set the attributes, last, so that an error changes nothing."""
        table, selection = fitting.table, learned.selection
        predictor = ClassPredictor(learned.stack)
        if not isinstance(table.X, DaskColumns):
            ranges = TrainingRanges.of(table.X, selection.indices)
            predictor = replace(predictor, ranges=ranges)
        self._remember_selection(table, selection, learned.scores, fitting.rule.always.size)
        self._predictor, self._fitting = predictor, fitting
        self.classes_ = table.classes
        for name, value in self._learned(learned.stack).items():
            setattr(self, name, value)

    def _learned(self, fitted: FittedStack) -> dict[str, Any]:
        sizes = (member.columns.size for member in fitted.members)
        learned: dict[str, Any] = {
            "k_weights_": dict(zip(sizes, fitted.weights.tolist(), strict=True)),
            "marginals_": fitted.marginals,
        }
        if fitted.related is not None:
            learned["related_probability_"] = fitted.related.probability
        return learned

    def feature_effects(self, *, level: float = 0.9) -> FeatureEffects:
        """Return the effects of the kept features: naive estimates and posterior means.

        A feature is kept because it looks strong, so its naive estimate is too large. The posterior
        is conditioned on the selection and corrects for that. Real-valued features have a
        ``mean_difference`` in units of the deviation within classes, of the values as they are
        modelled: with ``marginals_`` "normal" of their normal scores. ``raw_difference`` is in the
        units of the column.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the intervals.

        Returns
        -------
        effects : FeatureEffects
            ``pandas.DataFrame(effects.to_dict())`` gives a table.
        """
        return self._feature_effects(level)

    def in_words(self) -> list[str]:
        """Return what was learned from cases left out, in sentences."""
        check_is_fitted(self)
        sentences: list[str] = self._predictor.fitted.in_words()
        return sentences

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
        for left in _sets_of(cv, fitting):
            learned = fitting.learned(left)
            rows = np.asarray(fitting.table.X[:, learned.selection.indices])[left.asked]
            proba[left.asked] = ClassPredictor(learned.stack).predict_proba(rows)
        return proba


def _checked_groups(groups: Any, table: TrainingTable) -> Ints | None:
    """Return the groups of the cases as numbers."""
    if groups is None:
        return None
    labels = column_or_1d(np.asarray(groups, dtype=object)).tolist()
    if len(labels) != table.y.size:
        raise ValueError(f"groups has {len(labels)} labels, but there are {table.y.size} cases.")
    for row, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(
                f"groups is missing in row {row}: give a label to each case, or a label of its own "
                "to a case that belongs to no group."
            )
    numbers: dict[Any, int] = {}
    found = np.array([numbers.setdefault(label, len(numbers)) for label in labels])
    if found.max() == 0:
        raise ValueError("groups holds one group only: folds need at least two.")
    return found


def _sets_of(cv: Any, fitting: StackFitting) -> list[LeftOut]:
    y, groups = fitting.table.y, fitting.groups
    rows = np.arange(y.size)
    if groups is not None and (cv is None or isinstance(cv, Integral)):
        cv = StratifiedGroupKFold(5 if cv is None else int(cv))
    splits = check_cv(cv, y, classifier=True).split(np.zeros((y.size, 1)), y, groups)
    sets = [
        LeftOut.rows(np.setdiff1d(rows, rows[train]), y.size, rows[test]) for train, test in splits
    ]
    asked = np.sort(np.concatenate([left.asked for left in sets]))
    if not np.array_equal(asked, rows):
        raise ValueError("cv must have every case in exactly one test fold.")
    return sets
