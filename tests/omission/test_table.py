"""The table of an omission probability against the function that it stands for."""

import numpy as np
import pytest
from scipy.special import stdtr

from unselected.omission.table import OmissionTable


class Student:
    """P(|t| <= cut v), with any standard errors."""

    def __init__(self, nu, cut):
        self.nu, self.cut = nu, cut

    def logs(self, v):
        return np.repeat(np.log1p(-2 * stdtr(self.nu, -self.cut * v))[:, np.newaxis], 2, axis=1)

    def errors(self, v):
        return 0.5 * v


@pytest.mark.parametrize(("nu", "cut"), [(58, 3.0), (4, 12.0), (1000, 4.5), (18, 0.1)])
def test_the_table_is_exact(nu, cut):
    curve = Student(nu, cut)
    table = OmissionTable.of(curve, 7.0, 1)
    u = np.concatenate([[0.0], np.geomspace(1e-8, 1e6, 60)])
    v = (1.0 + 7.0 * u) ** -0.5
    np.testing.assert_allclose(table.log_omitted(u), curve.logs(v), atol=1e-11)
    np.testing.assert_allclose(table.error(u), 0.5 * v, atol=0.01)


def test_far_out_it_falls_with_the_number_of_contrasts():
    table = OmissionTable.of(Student(20, 2.0), 7.0, 1)
    first, second = table.log_omitted(np.array([1e20, 1e24]))[:, 0]
    assert first - second == pytest.approx(0.5 * np.log(1e4))
