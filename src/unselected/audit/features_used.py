"""The columns of a table that a fitted pipeline looks at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from unselected._typing import Ints


def features_used(model: Any, n_columns: int, names: Sequence[str] | None = None) -> Ints | None:
    """Return the numbers of the columns that a fitted model looks at.

    Parameters
    ----------
    model : fitted estimator
        A selector, a `Pipeline` with selectors, or what holds such models: a search over
        parameters, a calibrated classifier, an estimator of a transformed response.
    n_columns : int
        Of the table that it was fitted to.
    names : sequence of str, default=None
        Of these columns, where the table has names.

    Returns
    -------
    columns : array or None
        None where the model does not tell.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = np.eye(6)[:, ::-1], np.array([0, 0, 0, 0, 1, 1])
    >>> features_used(make_pipeline(SelectKBest(k=2), LogisticRegression()).fit(X, y), 6)
    array([0, 1])
    """
    if hasattr(model, "calibrated_classifiers_"):
        members = [one.estimator for one in model.calibrated_classifiers_]
        found = [features_used(member, n_columns, names) for member in members]
        known = [columns for columns in found if columns is not None]
        return np.unique(np.concatenate(known)) if len(known) == len(found) else None
    for inner in ("best_estimator_", "regressor_"):
        if hasattr(model, inner):
            return features_used(getattr(model, inner), n_columns, names)
    if isinstance(model, Pipeline):
        return _used_by_pipeline(model, n_columns, names)
    if hasattr(model, "get_support"):
        return np.asarray(model.get_support(indices=True), dtype=np.int64)
    return None


def _used_by_pipeline(model: Pipeline, n_columns: int, names: Sequence[str] | None) -> Ints | None:
    """Return the columns whose names come out of the steps before the last, or None."""
    given = [f"x{j}" for j in range(n_columns)] if names is None else list(names)
    place = {name: j for j, name in enumerate(given)}
    try:
        out = model[:-1].get_feature_names_out(None if names is not None else given)
    except (AttributeError, ValueError):
        return None
    # Steps that put columns together, as ColumnTransformer does, write "step__column".
    places = [place.get(name, place.get(name.partition("__")[2])) for name in out]
    if not all(place is not None for place in places):
        return None
    columns = np.array(places, dtype=np.int64)
    last = features_used(model[-1], columns.size, list(out))
    return columns if last is None else columns[last]
