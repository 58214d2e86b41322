"""`SelectiveBernoulliNB`: the paper's classifier as a scikit-learn estimator."""

import warnings
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from unselected.columns import Binarize, ClassCounts, check_finite, count_classes
from unselected.estimators.base import LogJointClassifier
from unselected.estimators.inputs import (
    TrainingTable,
    check_choice,
    check_flag,
    check_fraction,
    check_number,
    check_positive_pair,
    check_rows,
    check_training,
    check_whole,
    column_label,
    find_columns,
)
from unselected.estimators.panel import BernoulliPanel
from unselected.kept import KeptBernoulli
from unselected.models.bernoulli import BernoulliModel
from unselected.quadrature import Floats
from unselected.selection import (
    Event,
    Selection,
    Ties,
    keep_above,
    keep_all,
    keep_preselected,
    keep_top,
)
from unselected.tables import absolute_cor, compare, threshold_cut


class SelectiveBernoulliNB(LogJointClassifier, SelectorMixin, BaseEstimator):
    """Naive Bayes for binary features that stays honest after feature selection.

    The features most correlated with the class are selected inside `fit`, and the model is
    conditioned on the kept features *and on the fact that the others looked too weak to be kept*
    [1]_. Without that second part, chance correlations among many features pass for signal, and
    the probabilities come out overconfident.

    Parameters
    ----------
    k : int, default=None
        Keep this many features, those with the largest absolute correlation with the class.
        With neither ``k`` nor ``threshold`` all features are kept, and there is nothing to correct.
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
    binarize_thresholds_ : ndarray of shape (n_features_in_,)
        Cuts of the columns, from training rows only; 0.5 for columns that are 0 and 1.
    concentration_ : ndarray of shape (n_nodes,)
        Values of the concentration that the predictions average over; infinite where features
        are unrelated to the classes to within the range of a double (shapes below 0.1).
    concentration_weights_ : ndarray of shape (n_nodes,)
        Their posterior probabilities, which sum to 1.
    omission_probability_ : ndarray of shape (n_nodes,)
        For each of them, the probability that a feature's absolute correlation is at most
        ``threshold_``.
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

    selection_: Selection
    threshold_: float | None
    scores_: Floats
    binarize_thresholds_: Floats
    concentration_: Floats
    concentration_weights_: Floats
    omission_probability_: Floats
    log_marginal_likelihood_: float
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _kept: KeptBernoulli

    def __init__(
        self,
        k: int | None = None,
        threshold: float | None = None,
        *,
        correct_selection: bool = True,
        preselected_from: int | None = None,
        always_keep: Any = None,
        ties: Ties = "first",
        binarize: Binarize = "auto",
        class_pseudocounts: tuple[float, float] = (1.0, 1.0),
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        quadrature: Literal["exact", "paper"] = "exact",
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
        self.quadrature = quadrature
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and condition the model on them and on the selection.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Booleans or numbers; see ``binarize``.
        y : array-like of shape (n_samples,)
            Two classes, with any labels.

        Returns
        -------
        self : SelectiveBernoulliNB
            An error leaves the estimator as it was.
        """
        model = self._checked_model()
        table = check_training(self, X, y)
        binarize = _plain_cut(self.binarize)
        counts, thresholds = count_classes(table.X, table.y, binarize, table.label)
        selection = self._select(counts, table)
        indices = selection.indices
        kept = KeptBernoulli(
            model=model,
            counts=counts.take(indices),
            event=selection.event if self.correct_selection else Event(selection.event.cut),
            thresholds=thresholds[indices],
            binarize=binarize,
            classes=table.classes,
            names=None if table.names is None else table.names[indices],
        )
        self._remember(table, selection, thresholds, kept)
        return self

    def panel(self) -> BernoulliPanel:
        """Return a fitted classifier that needs only the kept columns.

        Returns
        -------
        panel : BernoulliPanel
            It predicts as this classifier does, from tables with the kept columns: matched by
            name, in any order, where names exist; else in the order of ``selection_.indices``.
        """
        check_is_fitted(self)
        return BernoulliPanel(self._kept)

    def _log_joint(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = check_rows(self, X)
        indices, names = self.selection_.indices, getattr(self, "feature_names_in_", None)
        check_finite(X, lambda column: column_label(column, names))
        return self._kept.log_joint(
            X if indices.size == X.shape[1] else X[:, indices],
            lambda column: column_label(indices[column], names),
        )

    def transform(self, X: Any) -> Any:
        """Return the kept columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        X_kept : array of shape (n_samples, n_kept)
            As they were given, not cut.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        check_finite(check_rows(self, X), lambda column: column_label(column, names))
        return super().transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selection_.indices] = True
        return mask

    def _checked_model(self) -> BernoulliModel:
        """Check the parameters that do not depend on the data, and return the model they make."""
        check_flag("correct_selection", self.correct_selection)
        check_choice("ties", self.ties, ("first", "random"))
        check_choice("quadrature", self.quadrature, ("exact", "paper"))
        if isinstance(self.binarize, str):
            check_choice("binarize", self.binarize, ("auto", "median"))
        elif self.binarize is not None:
            check_number("binarize", self.binarize, "or 'auto', 'median' or None")
        if self.k is not None and self.threshold is not None:
            raise ValueError(
                f"k={self.k} and threshold={self.threshold} are both given: give one of them."
            )
        if self.k is not None and self.preselected_from is not None:
            raise ValueError(
                f"k={self.k} does not go with preselected_from={self.preselected_from}: every "
                "column of X is kept then."
            )
        f0, f1 = check_positive_pair(
            "class_pseudocounts", self.class_pseudocounts, "one for each class"
        )
        a, b = check_positive_pair(
            "concentration_prior", self.concentration_prior, "shape and rate"
        )
        return BernoulliModel(f0=f0, f1=f1, a=a, b=b, quadrature=self.quadrature)

    def _select(self, counts: ClassCounts, table: TrainingTable) -> Selection:
        p = table.X.shape[1]
        always = find_columns(self.always_keep, table.names, p, "always_keep")
        gamma = None if self.threshold is None else check_fraction("threshold", self.threshold)
        if self.preselected_from is not None:
            n_before = check_whole(
                "preselected_from", self.preselected_from, p, None, "the columns of X included"
            )
            if gamma is None and always.size == p:
                raise ValueError(
                    f"preselected_from={n_before} says nothing where every column is in "
                    "always_keep: give the threshold, or columns that were up for selection."
                )
            self._check_all_above(gamma, always, counts, table)
            return keep_preselected(counts, n_before, gamma, always)
        if gamma is not None:
            return _warn_if_empty(keep_above(counts, gamma, always))
        if self.k is None:
            return keep_all(counts)
        if always.size == p:
            raise ValueError(f"k={self.k} selects among no columns: always_keep has all {p}.")
        free = "the number of columns" + (" that are not always kept" if always.size else "")
        k = check_whole("k", self.k, 1, p - always.size, free)
        return keep_top(counts, k, self.ties, always, self._rng())

    def _rng(self) -> np.random.Generator:
        """Return a generator, seeded from ``random_state`` only where ties are drawn."""
        if self.ties == "first":
            return np.random.default_rng(0)
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))

    def _check_all_above(
        self,
        gamma: float | None,
        always: NDArray[np.intp],
        counts: ClassCounts,
        table: TrainingTable,
    ) -> None:
        """Raise where a column that somebody is said to have kept is not above the threshold."""
        if gamma is None:
            return
        sign = compare(counts.I0, counts.I1, counts.n0, counts.n1, threshold_cut(gamma))
        sign[always] = 1
        if np.any(sign <= 0):
            column = int(np.argmax(sign <= 0))
            kept = counts.take(np.array([column]))
            score = absolute_cor(kept.I0, kept.I1, kept.n0, kept.n1)[0]
            raise ValueError(
                f"{table.label(column)} has an absolute correlation of {score:.6g}, which is not "
                f"above threshold={gamma:.6g}: it cannot have been kept by that threshold."
            )

    def _remember(
        self,
        table: TrainingTable,
        selection: Selection,
        thresholds: Floats,
        kept: KeptBernoulli,
    ) -> None:
        """Replace all that an earlier fit left by what this one found."""
        posterior, counts = kept.posterior, kept.counts
        for name in [name for name in vars(self) if name.endswith("_") or name == "_kept"]:
            delattr(self, name)
        self.n_features_in_ = table.X.shape[1]
        if table.names is not None:
            self.feature_names_in_ = table.names
        self.classes_ = table.classes
        self.selection_ = selection
        self.threshold_ = selection.threshold
        self.scores_ = absolute_cor(counts.I0, counts.I1, counts.n0, counts.n1)
        self.binarize_thresholds_ = thresholds
        with np.errstate(over="ignore"):
            self.concentration_ = np.exp(posterior.log_alpha)
        self.concentration_weights_ = np.exp(posterior.log_weights)
        self.omission_probability_ = np.exp(posterior.log_at_most)
        self.log_marginal_likelihood_ = posterior.log_evidence
        self._kept = kept


def _plain_cut(binarize: Any) -> Binarize:
    """Return numbers of any type as float."""
    plain: Binarize = float(binarize) if isinstance(binarize, Real) else binarize
    return plain


def _warn_if_empty(selection: Selection) -> Selection:
    if selection.indices.size == 0:
        warnings.warn(
            f"No feature has an absolute correlation above threshold={selection.threshold}: the "
            "predictions will be the class frequencies.",
            UserWarning,
            stacklevel=4,
        )
    return selection
