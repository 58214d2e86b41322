"""What the selective classifiers do once they are fitted."""

from typing import Any, Generic, TypeVar

from sklearn.utils.validation import check_is_fitted

from unselected.estimators.base import LogJointClassifier
from unselected.estimators.panel import ClassifierPanel
from unselected.estimators.selecting import SelectingEstimator
from unselected.kept import KeptBernoulli, KeptGaussian
from unselected.quadrature import Floats

C = TypeVar("C", KeptBernoulli, KeptGaussian)


class SelectingClassifier(LogJointClassifier, SelectingEstimator, Generic[C]):
    """Predictions from what was kept."""

    _kept: C

    def panel(self) -> ClassifierPanel[C]:
        """Return a fitted classifier that needs only the kept columns.

        Returns
        -------
        panel : ClassifierPanel
            It predicts as this classifier does, from tables with the kept columns: matched by
            name, in any order, where names exist; else in the order of ``selection_.indices``.
        """
        check_is_fitted(self)
        return ClassifierPanel(self._kept)

    def _log_joint(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._kept_of(self._checked_rows(X))
        return self._kept.log_joint(rows, self._label_kept)
