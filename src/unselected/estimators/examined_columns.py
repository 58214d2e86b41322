"""How probable independence given the response is, judged from the strongest columns of a table.

So many columns are examined however few of them are kept: the pairs of a handful of features say
next to nothing, and dependence that shows elsewhere in a table is to be expected among them, too.
Whether features are independent given the response, rather than beforehand, is seen in the effects
of those that are kept.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import Floats
from unselected.dependence.correlated import unit_residuals
from unselected.dependence.independence import independence_probability, naive_probability
from unselected.dependence.inverse_regression import InverseRegression, residual_factor
from unselected.dependence.within_class import squared_correlations
from unselected.estimators.content_folds import ContentKeys
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.member_weights import Fit
from unselected.estimators.response_cases import ResponseCases
from unselected.fitted.families import FittedFamilies
from unselected.selection.leaving_out import Marginals
from unselected.statistics.adjusted_sums import AdjustedSums
from unselected.statistics.design import Design
from unselected.statistics.normal_scores import NormalScores

# Of at most so many kept features the effects are compared.
MOST_COMPARED = 1000
# Columns that are examined: all 19900 pairs show a mean squared correlation of 0.0005 in 50 cases.
_EXAMINED = 200


def independence_in_classes(
    content: ContentKeys, table: TrainingTable, marginals: Marginals, fit: Fit, train: Floats
) -> float:
    """Return the probability that features are independent within classes.

    ``train`` has the kept features of a fit to all cases that are not left out.
    """
    kept = content.left.kept
    values, y = _examined(content, marginals), table.y[kept]
    known, n_lost = table.covariates, 0
    if known is not None:
        Z = known.basis.apply(known.coded[kept])
        design = Design.by_class(Z, y, table.classes.size)
        moments = AdjustedSums(design, design.n_contrasts).exact(values.copy(), str)
        values = np.asarray(values - moments.fitted_values(design))
        n_lost = int(np.linalg.matrix_rank(Z)) - 1
    probability = independence_probability(squared_correlations(values, y, n_lost))
    fitted = fit.predictor.fitted
    assert isinstance(fitted, FittedFamilies)
    rows = fitted.residuals(table.with_covariates(train, kept), y)
    units, laws = unit_residuals(rows, y, table.classes.size), fitted.laws
    shares = np.bincount(y, minlength=table.classes.size) / y.size
    gaps = (laws.location - shares @ laws.location)[:, laws.varying]
    effects = np.sqrt(shares) * (gaps / np.sqrt(laws.variance[laws.varying])).T
    return probability * naive_probability(units[:, laws.varying], effects)


def independence_given_response(
    content: ContentKeys,
    table: TrainingTable,
    marginals: Marginals,
    model: InverseRegression,
    train: Floats,
    y: Floats,
) -> float:
    """Return the probability that features are independent given the responses y of the cases.

    ``train`` has the kept features of an inverse regression, fitted to these cases.
    """
    alike = np.zeros(y.size, dtype=np.intp)
    units, n_lost = _beside_lines(content, table, _examined(content, marginals), y)
    probability = independence_probability(squared_correlations(units, alike, n_lost))
    units, _ = _beside_lines(content, table, train, y)
    effects = (model.slope / np.sqrt(model.variance))[:, np.newaxis]
    return probability * naive_probability(np.nan_to_num(units), effects)


def _beside_lines(
    content: ContentKeys, table: TrainingTable, values: Floats, y: Floats
) -> tuple[Floats, int]:
    """Return residuals of length 1, NaN where missing, and the degrees of freedom that they lost.

    They are of columns around their lines in y, without what covariates say of both.
    """
    left = replace(content.left, asked=content.left.asked[:0])  # nobody is asked for
    cases = ResponseCases.of(table, left, values, values[:0], y)
    units = residual_factor(cases.train, cases.y)
    units[np.isnan(cases.train)] = np.nan
    return units, y.size - cases.n + 1


def _examined(content: ContentKeys, marginals: Marginals) -> NDArray[Any]:
    """Return values of the strongest columns, as models see them."""
    values: Floats = content.strongest_values(_EXAMINED).astype(np.float64)
    if marginals == "raw":
        return values
    return NormalScores.learn(values).apply(values)
