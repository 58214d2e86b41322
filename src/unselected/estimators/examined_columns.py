"""How probable independence given the response is, judged from the strongest columns of a table.

So many columns are examined however few of them are kept: the pairs of a handful of features say
next to nothing, and dependence that shows elsewhere in a table is to be expected among them, too.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.independence import independence_probability
from unselected.dependence.inverse_regression import residual_factor
from unselected.dependence.within_class import squared_correlations
from unselected.estimators.content_folds import ContentKeys
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.response_cases import ResponseCases
from unselected.selection.leaving_out import Marginals
from unselected.statistics.adjusted_sums import AdjustedSums
from unselected.statistics.design import Design
from unselected.statistics.normal_scores import NormalScores

# Columns that are examined: all 19900 pairs show a mean squared correlation of 0.0005 in 50 cases.
_EXAMINED = 200


def independence_in_classes(
    content: ContentKeys, table: TrainingTable, marginals: Marginals
) -> float:
    """Return the probability that features are independent within classes."""
    kept = content.left.kept
    values, y = _examined(content, marginals), table.y[kept]
    known, n_lost = table.covariates, 0
    if known is not None:
        Z = known.basis.apply(known.coded[kept])
        design = Design.by_class(Z, y, table.classes.size)
        moments = AdjustedSums(design, design.n_contrasts).exact(values.copy(), str)
        values = np.asarray(values - moments.fitted_values(design))
        n_lost = int(np.linalg.matrix_rank(Z)) - 1
    return independence_probability(squared_correlations(values, y, n_lost))


def independence_given_response(
    content: ContentKeys, table: TrainingTable, marginals: Marginals, y: Floats
) -> float:
    """Return the probability that features are independent given the responses of the cases."""
    values = _examined(content, marginals)
    cases = ResponseCases.of(table, content.left, values, values[:0], y)
    residuals = residual_factor(cases.train, cases.y)
    residuals[np.isnan(cases.train)] = np.nan
    n_lost, alike = y.size - cases.n + 1, np.zeros(y.size, dtype=np.intp)
    return independence_probability(squared_correlations(residuals, alike, n_lost))


def _examined(content: ContentKeys, marginals: Marginals) -> NDArray[Any]:
    """Return values of the strongest columns, as models see them."""
    values: Floats = content.strongest_values(_EXAMINED).astype(np.float64)
    if marginals == "raw":
        return values
    return NormalScores.learn(values).apply(values)
