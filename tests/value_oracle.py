"""Scores of real values computed column by column, by other means than the library's."""

import numpy as np
from scipy.stats import mannwhitneyu, ttest_ind

from unselected.statistics.variance_prior import VariancePrior

PRIOR = VariancePrior(6.0, 2.0)


def by_column(score):
    return lambda X, y: np.array([score(x[y == 0], x[y == 1]) for x in X.T])


def pooled(a, b):
    within = np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2)
    return within, a.size + b.size - 2


def moderated(a, b):
    within, nu = pooled(a, b)
    variance = (PRIOR.df * PRIOR.scale + within) / (PRIOR.df + nu)
    return abs(b.mean() - a.mean()) / np.sqrt(variance * (1 / a.size + 1 / b.size))


def u_of(a, b):
    return mannwhitneyu(b, a, method="asymptotic").statistic


def wilcoxon(a, b):
    n, m = a.size, b.size
    return abs(u_of(a, b) - n * m / 2) / np.sqrt(n * m * (n + m + 1) / 12)


def auc(a, b):
    area = u_of(a, b) / (a.size * b.size)
    return max(area, 1 - area)


def volcano(change, p_value):
    def score(a, b):
        return min(
            abs(b.mean() - a.mean()) / change, np.log(ttest_ind(a, b).pvalue) / np.log(p_value)
        )

    return score


ORACLES = {
    "welch": by_column(lambda a, b: abs(ttest_ind(a, b, equal_var=False).statistic)),
    "moderated_t": by_column(moderated),
    "wilcoxon": by_column(wilcoxon),
    "auc": by_column(auc),
    "mean_difference": by_column(lambda a, b: abs(b.mean() - a.mean())),
    "volcano": by_column(volcano(1.0, 0.05)),
}


def columns(sizes, tau, n_columns, rng, variances=None):
    """Simulate columns of the model, with variances from `PRIOR` by default 1."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(y.size, n_columns)) + tau * rng.normal(size=(len(sizes), n_columns))[y]
    if variances is not None:
        X *= np.sqrt(variances.df * variances.scale / rng.chisquare(variances.df, size=n_columns))
    return X, y
