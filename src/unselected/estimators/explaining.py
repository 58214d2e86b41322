"""What classifiers tell of their predictions besides the probabilities."""

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected.estimators.base import LogJointClassifier
from unselected.fitted.explanations import Explanation, explain, proba_interval
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian


class ExplainingClassifier(LogJointClassifier):
    """Explanations and intervals from what was kept."""

    @abstractmethod
    def _kept_and_rows(
        self, X: Any
    ) -> tuple[KeptBernoulli | KeptGaussian, NDArray[Any], ColumnNamer, NDArray[Any]]:
        """Return what was kept, its columns of the rows, how errors call them, and who they are."""

    def explain(self, X: Any, *, prevalence: Any = None) -> Explanation:
        """Return what each kept feature adds to the log odds of each case.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.

        Returns
        -------
        explanation : Explanation
            Contributions and prior sum to the log odds at the mean of the posterior; what the
            model's own log odds differ by is told too. ``pandas.DataFrame(explanation.to_dict())``
            is a table of it.
        """
        kept, rows, label, features = self._kept_and_rows(X)
        return explain(kept, rows, label, self._log_prior(prevalence), features)

    def predict_proba_interval(
        self, X: Any, *, level: float = 0.9, prevalence: Any = None
    ) -> tuple[Floats, Floats]:
        """Return intervals of the predictive probabilities: how much they depend on what is unsure.

        How strongly features are related to the class at all (``concentration_``, and with
        ``prior="sparse"`` how many are) is known only up to its posterior, and each value of it
        gives a probability of its own. `predict_proba` is the mean of these, and the interval holds
        a share ``level`` of them, under the posterior given the training cases and the case's own
        features. Given that value, what else is unknown of the features is averaged over, as it is
        in `predict_proba`: the interval is no statement on a single case's class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        level : float, default=0.9
        prevalence : mapping, sequence of float, or float, default=None
            See `predict_proba`.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        kept, rows, label, _ = self._kept_and_rows(X)
        return proba_interval(kept, rows, label, self._log_prior(prevalence), level)
