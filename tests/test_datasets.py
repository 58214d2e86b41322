import numpy as np
import pytest

from unselected.datasets import make_clinical_study, make_paper_simulation


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


def test_a_study_has_what_clinical_tables_have(seed):
    study = make_clinical_study(400, 20, 500, n_related=50, effect=1.0, random_state=seed)
    cases = study.train
    assert study.names[:2] == ["gene1", "gene2"]
    assert study.new.X.shape == (20, 500)
    is_ill = cases.y == "disease"
    assert 0.2 < is_ill.mean() < 0.8

    def standardized(mask):
        spread = cases.X.std(axis=0) * np.sqrt(1 / mask.sum() + 1 / (~mask).sum())
        return (cases.X[mask].mean(axis=0) - cases.X[~mask].mean(axis=0)) / spread

    related = np.isin(np.arange(500), study.related)
    of_class, of_batch = (
        np.abs(standardized(m)) for m in (is_ill, cases.covariates["batch"] == "b1")
    )
    assert of_class[related].mean() > 3 * of_class[~related].mean()
    assert of_batch.mean() > 2.0  # 0.8 if there were no batches
    assert abs(of_batch[related].mean() - of_batch[~related].mean()) < 1.0
    pathways = np.corrcoef(cases.X[:, ~related][:, :200], rowvar=False)
    assert np.mean(np.diag(pathways, 1)) > 0.15
    assert (
        is_ill[cases.covariates["batch"] == "b2"].mean()
        > is_ill[cases.covariates["batch"] == "b3"].mean()
    )


def test_a_study_depends_on_its_seed_alone():
    one, again, other = (
        make_clinical_study(9, 5, 30, n_related=4, random_state=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.new.X, again.new.X)
    assert not np.array_equal(one.new.X, other.new.X)
    with pytest.raises(ValueError, match="n_related=40 is out of range: there are 30 genes"):
        make_clinical_study(9, 5, 30)
