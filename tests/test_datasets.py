import numpy as np

from unselected.datasets import make_paper_simulation


def test_shapes_classes_and_seed():
    data = make_paper_simulation(20, 31, 50, random_state=3)
    assert data.X_train.shape == (20, 50)
    assert data.X_test.shape == (31, 50)
    assert data.y_train.sum() == 10
    assert data.y_test.sum() == 16
    assert data.X_train.dtype == np.uint8
    again = make_paper_simulation(20, 31, 50, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(data.X_test, again.X_test)
    assert not np.array_equal(data.X_test, make_paper_simulation(20, 31, 50, random_state=4).X_test)


def test_concentration_sets_how_alike_the_classes_are(seed):
    gaps = []
    for concentration in (2.0, 300.0):
        data = make_paper_simulation(4, 400, 500, concentration=concentration, random_state=seed)
        X, y = data.X_test, data.y_test
        gaps.append(np.mean(np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0))))
        assert data.parameters["alpha"] == concentration
    assert gaps[0] > 3 * gaps[1]
