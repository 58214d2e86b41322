"""A fitted classifier that needs only the columns that were kept."""

from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array

from unselected.estimators.base import LogJointClassifier
from unselected.estimators.inputs import as_numbers, column_label, naming_the_column
from unselected.kept import KeptBernoulli
from unselected.quadrature import Floats


class BernoulliPanel(LogJointClassifier, BaseEstimator):
    """What `SelectiveBernoulliNB.panel` returns: the fitted classifier on its kept columns alone.

    It is fitted already: `fit` changes nothing, and cloning returns the panel itself.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
        The number of kept columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the classifier was fitted to named columns. A table with names is then
        matched by name, in any order; other columns that it has are not looked at.
    """

    def __init__(self, kept: KeptBernoulli) -> None:
        self.kept = kept

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The two classes."""
        return self.kept.classes

    @property
    def n_features_in_(self) -> int:
        """The number of kept columns."""
        return int(self.kept.thresholds.size)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the kept columns."""
        if self.kept.names is None:
            raise AttributeError("the classifier was fitted to columns without names")
        return self.kept.names

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"BernoulliPanel({self.n_features_in_} columns, classes {self.classes_.tolist()})"

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Return the panel as it is: it is fitted.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self : BernoulliPanel
        """
        return self

    def _log_joint(self, X: Any) -> Floats:
        names = self.kept.names
        if names is not None and hasattr(X, "columns"):
            X = _columns_by_name(X, names)
        try:
            X = check_array(
                X, dtype=None, ensure_all_finite=False, ensure_min_features=0, estimator=self
            )
        except (TypeError, ValueError) as error:
            raise naming_the_column(error, X) from error
        X = as_numbers(X, names)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but the panel needs its {self.n_features_in_}."
            )
        return self.kept.log_joint(X, lambda column: column_label(column, names))


def _columns_by_name(X: Any, names: NDArray[Any]) -> Any:
    """Return the named columns of a DataFrame in this order."""
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(X.columns):
        places.setdefault(name, []).append(place)
    missing = [name for name in names if name not in places]
    if missing:
        shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ValueError(f"X lacks {len(missing)} of the panel's columns: {shown}.")
    twice = [name for name in names if len(places[name]) > 1]
    if twice:
        raise ValueError(
            f"X has more than one column named {twice[0]!r}: keep the one that is meant."
        )
    order = [places[name][0] for name in names]
    return X.iloc[:, order] if hasattr(X, "iloc") else X[:, order]
