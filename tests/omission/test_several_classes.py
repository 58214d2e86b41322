"""Three or more classes: intervals of the last count give what the table of all counts gives."""

from fractions import Fraction

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.numerics.beta_binomial import CountLaw
from unselected.numerics.quadrature import gauss_legendre, theta_nodes
from unselected.omission.count_tables import CountTable, joint_table
from unselected.omission.several_classes import SeveralClasses, n_other_vectors

CUTS = [Fraction(0), Fraction(1, 20), Fraction(9, 25), Fraction(4, 5), Fraction(1)]


def by_table(sizes, cut, u):
    law = CountLaw(sizes, *gauss_legendre(theta_nodes(sum(sizes))))
    table = 0.0
    for nodes, *tables in law.pmf_blocks(u):
        table = table + joint_table([pmf for _, pmf in tables], law.weights[nodes])
    return CountTable(sizes, cut, by_total=False).omission(table)


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("sizes", [(5, 5, 5), (9, 2, 14), (1, 30, 1), (4, 3, 6, 5)], ids=str)
def test_the_sums_are_those_over_all_counts(sizes, cut):
    several = SeveralClasses(sizes, cut, 1)
    for u in (0.0, 1e-4, 0.02, 1.0, 50.0):
        found, expected = several.at(u), by_table(sizes, cut, u)
        for name in ("log_below", "log_at_cut", "log_at_most"):
            np.testing.assert_allclose(
                np.exp(getattr(found, name)),
                np.exp(getattr(expected, name)[0]),
                rtol=1e-10,
                atol=1e-13,
            )


def test_ties_are_found_exactly():
    """R^2 = 1/2 exactly, by several vectors: doubles alone would not tell."""
    several = SeveralClasses((6, 6, 6), Fraction(1, 2), 1)
    assert np.exp(several.at(0.3).log_at_cut) == pytest.approx(
        float(np.exp(by_table((6, 6, 6), Fraction(1, 2), 0.3).log_at_cut[0])), rel=1e-10
    )


@pytest.mark.parametrize("n", [170, 300])
def test_three_classes_of_many_cases(n):
    """More vectors of counts than a table may have; some features are strong."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], n)
    X = (rng.random((3 * n, 6)) < rng.random(6)).astype(float)
    for g, rate in enumerate((0.2, 0.5, 0.8)):
        X[y == g, :3] = (np.arange(n) < rate * n)[:, np.newaxis]
    model = SelectiveBernoulliNB(k=3).fit(X, y)
    assert model.selection_.indices.tolist() == [0, 1, 2]
    assert np.all(np.isfinite(model.predict_log_proba(X[:5])))


def test_vectors_of_all_classes_but_the_largest_are_counted():
    assert n_other_vectors((3, 5, 2)) == 4 * 3


def test_too_many_vectors_are_refused_where_something_is_selected():
    X, y = np.random.default_rng(0).integers(0, 2, size=(400, 3)), np.arange(400) % 10
    with pytest.raises(ValueError, match="use SelectiveGaussianNB"):
        SelectiveBernoulliNB(k=1).fit(X, y)
    assert SelectiveBernoulliNB().fit(X, y).predict_proba(X).shape == (400, 10)
