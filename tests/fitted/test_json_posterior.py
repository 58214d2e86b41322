"""The posterior in a model file: predictions without computing it anew."""

import json

import numpy as np
import pytest

from unselected import SelectiveBernoulliNB
from unselected.files.models import load_model, save_model
from unselected.models.bernoulli import BernoulliModel


def fitted(n=600, prior="common", **parameters):
    X, y, _ = BernoulliModel().simulate(n, 60, np.random.default_rng(0), alpha=20.0)
    return SelectiveBernoulliNB(k=5, prior=prior, **parameters).fit(X, y), X


def save(model, path):
    kept = model.selection_
    names = ("rule", "ties", "threshold", "n_features", "n_omitted", "statistic")
    selection = {name: getattr(kept, name) for name in names} | {"scores": model.scores_}
    provenance = {"unselected": "0.1.0"}
    save_model(model._predictor, path, selection=selection, provenance=provenance)


@pytest.mark.parametrize("prior", ["common", "sparse"])
def test_a_file_of_many_cases_predicts_without_conditioning(prior, tmp_path, monkeypatch):
    model, X = fitted(prior=prior)
    save(model, tmp_path / "model.json")

    def fail(*_):
        raise AssertionError("the posterior is in the file")

    monkeypatch.setattr(BernoulliModel, "condition", fail)
    loaded = load_model(tmp_path / "model.json")
    log_proba = loaded.predictor.predict_log_proba(X[:, model.selection_.indices])
    np.testing.assert_allclose(log_proba, model.predict_log_proba(X), rtol=1e-12, atol=1e-13)


def test_a_file_of_few_cases_is_short(tmp_path):
    model, _ = fitted(n=80)
    save(model, tmp_path / "model.json")
    assert "posterior" not in json.loads((tmp_path / "model.json").read_text())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("log_weights", lambda old: [w - 1.0 for w in old], "weights that sum to 1"),
        ("log_one", lambda old: old[:-1], "posterior log_one"),
        ("log_zero", lambda old: [[0.5] * len(row) for row in old], "posterior log_zero"),
        ("log_alpha", lambda old: None, "posterior log_alpha"),  # noqa: ARG005
        ("omission_probability", lambda old: [2.0] * len(old), "omission_probability"),
        ("more", lambda old: 1, "unknown entry"),  # noqa: ARG005
    ],
)
def test_a_damaged_posterior_is_refused(name, value, message, tmp_path):
    model, _ = fitted()
    path = tmp_path / "model.json"
    save(model, path)
    document = json.loads(path.read_text())
    document["posterior"][name] = value(document["posterior"].get(name))
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        load_model(path)
