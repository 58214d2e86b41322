"""`SelectiveMixtureClassifier`: a two-component mixture of binary data as an estimator."""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from unselected._typing import Floats
from unselected.estimators.base import LogJointClassifier
from unselected.estimators.inputs import (
    check_binarize,
    check_choice,
    check_positive_pair,
    check_training,
)
from unselected.estimators.latent import LatentEstimator
from unselected.models.mixture import AdjustLabels, MixtureModel, MixturePosterior
from unselected.selection.record import Ties
from unselected.selection.streaming import count_scores
from unselected.statistics.binarizing import Binarize, binarize_columns

# Tables grow with the square of the number of cases, the time that they take with its cube. Above
# the second number those that a single move needs are more than are kept.
_MANY_CASES, _MOST_CASES = 400, 2000
# Log probabilities of a one and of a zero in both groups: what a draw remembers of a feature.
_NUMBERS_PER_FEATURE = 4


@dataclass(frozen=True, eq=False)
class _Kept:
    """What it takes to predict: the cuts of the kept columns, and the posterior."""

    thresholds: Floats
    binarize: Binarize
    posterior: MixturePosterior


class SelectiveMixtureClassifier(LogJointClassifier, LatentEstimator):
    """Mixture of two components for binary features that depend on each other.

    Naive Bayes takes features to be independent within classes. Here each case belongs to one of
    two groups that nobody has seen, and features and class are independent within groups: features
    that go together do so because cases are of a kind, and count as evidence on that kind, not
    each as new evidence on the class. As with the other estimators, the most correlated features
    are selected inside `fit`, and the model is conditioned on the kept features *and on the fact
    that the others looked too weak to be kept* (last section of [1]_). That probability depends
    on which case is in which group, and is exact wherever the groups are drawn.

    The posterior is drawn from by Markov chains over groups and concentration, with all else
    integrated out; see ``posterior_`` and ``diagnostics_``. There is no ``k="loo"`` and no exact
    leave-one-out as with `SelectiveBernoulliNB`: cross-validate with scikit-learn.

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
        y, out of so many (the columns of X included). See `SelectiveBernoulliNB`.
    always_keep : names or numbers of columns, default=None
        Columns kept whatever their correlation, on top of the ``k`` selected ones.
    ties : {"first", "random"}, default="first"
        Who is kept among features tied for the last places: the lower columns, or a random choice.
    binarize : {"auto", "median"}, float or None, default="auto"
        How columns become bits, see `SelectiveBernoulliNB`.
    concentration_prior : pair of float, default=(0.5, 5.0)
        Shape and rate of the inverse-gamma prior of the concentration alpha: the larger it is, the
        more alike are a feature's distributions in the two groups.
    response_prior : pair of float, default=(0.5, 5.0)
        The same of alpha0: the larger it is, the more alike are the classes of the two groups.
    adjust_labels : {"exact", "ignore"}, default="exact"
        Whether the selection counts where groups are drawn, as it must. "ignore" leaves it out
        there and has it only where the concentration is drawn, as the program of the paper's
        authors does by default; it is for comparison, and does not draw from the posterior.
    n_draws : int, default=1000
        Draws that each chain keeps; there are four sweeps over the cases from one to the next.
    n_warmup : int, default=1000
        Sweeps of each chain before the first draw.
    n_chains : int, default=4
        Chains, started at groups that differ.
    progress : bool, default=False
        Show a bar on stderr while chains are run.
    store_scores : bool, default=False
        Keep the scores of all features, not only of the kept ones.
    random_state : int, RandomState instance or None, default=None
        Of the chains, and of ``ties="random"``. The same int gives the same draws.

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
        The cut on the absolute correlation; None where there was none.
    scores_ : ndarray of shape (n_kept,)
        Absolute correlations of the kept features, in the order of ``selection_.indices``.
    feature_scores_ : ndarray of shape (n_features_in_,)
        Those of all features; only with ``store_scores=True``.
    binarize_thresholds_ : ndarray of shape (n_kept,)
        Cuts of the kept columns, from training rows only; 0.5 for columns that are 0 and 1.
    posterior_ : Draws
        "alpha", "alpha0", "labels" (the group of each training case), "share" (of group 1 among
        new cases), "rates" (P(second class) in group 0 and in group 1), "log_omission". Group 1 is
        the one in which the second class has the higher probability. ``posterior_.to_arviz()``
        exports them.
    diagnostics_ : Diagnostics
        R-hat and effective sample sizes; `fit` warns where they are poor.
    omission_probability_ : float
        Posterior mean of the probability that a feature's absolute correlation is at most
        ``threshold_``; 1 where there is no cut.
    group_probability_ : ndarray of shape (n_samples,)
        Posterior probability that each training case is in group 1.

    References
    ----------
    .. [1] Li, L., Zhang, J. and Neal, R. M. (2007). A method for avoiding bias from feature
       selection with application to naive Bayes classification models. Technical Report No. 0705,
       Department of Statistics, University of Toronto.

    Examples
    --------
    >>> import numpy as np
    >>> from unselected import SelectiveMixtureClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.integers(0, 2, size=(30, 500)), np.repeat([0, 1], 15)
    >>> honest, naive = (
    ...     SelectiveMixtureClassifier(k=5, correct_selection=c, random_state=0).fit(X, y)
    ...     for c in (True, False)
    ... )
    >>> honest.posterior_
    Draws(4 chains of 1000 draws: alpha, alpha0, share, rates[2], labels[30], log_omission, node)
    >>> X_new = rng.integers(0, 2, size=(1000, 500))
    >>> naive.expected_error(X_new) < honest.expected_error(X_new) - 0.05
    True
    """

    binarize_thresholds_: Floats
    group_probability_: Floats

    _kept: _Kept

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
        concentration_prior: tuple[float, float] = (0.5, 5.0),
        response_prior: tuple[float, float] = (0.5, 5.0),
        adjust_labels: AdjustLabels = "exact",
        n_draws: int = 1000,
        n_warmup: int = 1000,
        n_chains: int = 4,
        progress: bool = False,
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
        self.concentration_prior = concentration_prior
        self.response_prior = response_prior
        self.adjust_labels = adjust_labels
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.n_chains = n_chains
        self.progress = progress
        self.store_scores = store_scores
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Select features, and draw from the posterior given them and the selection.

        Parameters
        ----------
        X : array-like, sparse matrix, dask array or source of shape (n_samples, n_features)
            Booleans or numbers; see ``binarize``.
        y : array-like of shape (n_samples,)
            Two classes, with any labels; of 2000 cases at most.

        Returns
        -------
        self : SelectiveMixtureClassifier
            An error, or an interruption, leaves the estimator as it was.
        """
        self._fit(self._checked_model(), X, y)
        self._warn_if_poor()
        return self

    def _fit(self, model: MixtureModel, X: Any, y: Any) -> None:
        """Select and draw from the posterior; nothing is remembered before all is done."""
        binarize = check_binarize(self.binarize)
        table = check_training(self, X, y, "two classes")
        _check_size(table.y.size)
        rule, chains = self._checked_rule(table, "|COR|"), self._checked_chains()
        scores_of = partial(count_scores, table.X, table.y, binarize, table.label)
        scores, selection = self._selected(scores_of, rule, table)
        self._warn_if_large(chains, selection.indices.size * _NUMBERS_PER_FEATURE)
        cuts = scores.take(selection.indices).cuts
        columns = table.X[:, selection.indices]
        bits = binarize_columns(
            columns, cuts, binarize, lambda j: table.label(int(selection.indices[j]))
        )
        event = selection.event if self.correct_selection else selection.event.emptied()
        posterior = model.condition(bits, table.y, event, **chains.arguments)
        draws = posterior.draws
        self._remember_draws(table, selection, scores, draws, draws["log_omission"])
        self._kept = _Kept(cuts, binarize, posterior)
        self.classes_, self.binarize_thresholds_ = table.classes, cuts
        self.group_probability_ = draws.stacked("labels").mean(axis=0)

    def _checked_model(self) -> MixtureModel:
        """Check the parameters that do not depend on the data, and return the model they make."""
        self._check_rule()
        check_choice("adjust_labels", self.adjust_labels, ("exact", "ignore"))
        priors = (
            *check_positive_pair("concentration_prior", self.concentration_prior, "shape and rate"),
            *check_positive_pair("response_prior", self.response_prior, "shape and rate"),
        )
        return MixtureModel(*priors, adjust_labels=self.adjust_labels)

    def _log_joint(self, X: Any, log_prior: Floats | None = None) -> Floats:
        check_is_fitted(self)
        rows = self._kept_of(self._checked_rows(X))
        kept = self._kept
        bits = binarize_columns(rows, kept.thresholds, kept.binarize, self._label_kept)
        log_joint = kept.posterior.log_joint(bits)
        return log_joint if log_prior is None else np.asarray(log_joint + log_prior - self._log_psi)

    @property
    def _log_psi(self) -> Floats:
        check_is_fitted(self)
        return self._kept.posterior.log_psi


def _check_size(n: int) -> None:
    """Raise, or warn, where there are more cases than tables over their numbers allow."""
    if n > _MOST_CASES:
        raise ValueError(
            f"{n} cases are too many for SelectiveMixtureClassifier, which takes {_MOST_CASES} at "
            "most: use SelectiveBernoulliNB, or fit some of the cases."
        )
    if n > _MANY_CASES:
        warnings.warn(
            f"SelectiveMixtureClassifier: {n} cases are many. The time that a fit takes grows with "
            "their cube, and the memory, gigabytes, with their square: progress=True shows how far "
            "it is. SelectiveBernoulliNB takes any number of cases.",
            UserWarning,
            stacklevel=4,
        )
