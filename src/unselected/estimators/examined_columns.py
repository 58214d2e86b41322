"""How probable independence given the response is, judged from the strongest columns of a table.

So many columns are examined however few of them are kept: the pairs of a handful of features say
next to nothing, and dependence that shows elsewhere in a table is to be expected among them, too.
Whether features are independent given the response, rather than beforehand, is seen in the effects
of those that are kept.
"""

from dataclasses import replace

import numpy as np

from unselected._typing import Floats
from unselected.dependence.correlated import unit_residuals
from unselected.dependence.independence import independence_probability, naive_probability
from unselected.dependence.inverse_regression import InverseRegression, residual_factor
from unselected.dependence.within_class import squared_correlations
from unselected.estimators.content_folds import ContentKeys
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.member_weights import Fit
from unselected.estimators.response_candidates import ResponseFit
from unselected.estimators.response_cases import ResponseCases
from unselected.estimators.stack_pooling import Values
from unselected.fitted.families import FittedFamilies
from unselected.selection.leaving_out import Marginals
from unselected.statistics.adjusted_sums import AdjustedSums
from unselected.statistics.design import Design
from unselected.statistics.normal_scores import NormalScores

# Of at most so many kept features the effects are compared.
_MOST_COMPARED = 1000
# Columns that are examined: all 19900 pairs show a mean squared correlation of 0.0005 in 50 cases.
_EXAMINED = 200


def independence_in_classes(
    content: ContentKeys,
    table: TrainingTable,
    marginals: Marginals,
    fits: list[Fit],
    values: Values,
) -> float:
    """Return the probability that features are independent within classes.

    ``fits`` are to all cases that are not left out, with more and more features; ``values`` returns
    the kept features. The probability is 0 where there is no fit of few enough features.
    """
    some = [fit for fit in fits if fit.selection.indices.size <= _MOST_COMPARED]
    if not some:
        return 0.0
    kept = content.left.kept
    examined, y = _examined(content, marginals), table.y[kept]
    known, n_lost = table.covariates, 0
    if known is not None:
        Z = known.basis.apply(known.coded[kept])
        design = Design.by_class(Z, y, table.classes.size)
        moments = AdjustedSums(design, design.n_contrasts).exact(examined.copy(), str)
        examined = np.asarray(examined - moments.fitted_values(design))
        n_lost = int(np.linalg.matrix_rank(Z)) - 1
    probability = independence_probability(squared_correlations(examined, y, n_lost))
    fit = some[-1]
    train, _ = values(fit, fit.left)
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
    fits: list[ResponseFit],
    y: Floats,
) -> float:
    """Return the probability that features are independent given the responses y of the cases.

    ``fits`` are regressions, fitted to these cases, on more and more features. The probability is 0
    where there is no inverse one of few enough features: then none would be right.
    """
    some = [
        (fit.selection.indices, fit.model)
        for fit in fits
        if isinstance(fit.model, InverseRegression) and fit.selection.indices.size <= _MOST_COMPARED
    ]
    if not some:
        return 0.0
    indices, model = some[-1]
    alike = np.zeros(y.size, dtype=np.intp)
    units, n_lost = _beside_lines(content, table, _examined(content, marginals), y)
    probability = independence_probability(squared_correlations(units, alike, n_lost))
    kept: Floats = np.asarray(table.X[:, indices], dtype=np.float64)[content.left.kept]
    units, _ = _beside_lines(content, table, _transformed(kept, marginals), y)
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


def _examined(content: ContentKeys, marginals: Marginals) -> Floats:
    """Return values of the strongest columns, as models see them."""
    return _transformed(content.strongest_values(_EXAMINED).astype(np.float64), marginals)


def _transformed(values: Floats, marginals: Marginals) -> Floats:
    return values if marginals == "raw" else NormalScores.learn(values).apply(values)
