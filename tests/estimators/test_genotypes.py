"""`SelectiveBernoulliNB(family="genotype")`: enumeration, alleles as cases, and every door."""

import json
from itertools import product

import genotype_oracle
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from unselected import SelectiveBernoulliNB
from unselected.files.models import load_model, save_model

Y = np.array([0, 1, 1, 0])


def fit(X, y, **how):
    return SelectiveBernoulliNB(family="genotype", **how).fit(X, y)


def data(n=30, p=40, classes=2, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    frequency = np.clip(rng.beta(1.0, 2.0, p) + 0.4 * (np.arange(p) < 3) * y[:, np.newaxis], 0, 1)
    X = rng.binomial(2, frequency).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def expanded(X, y):
    """Each case as two, one for each allele; a heterozygous one has either."""
    return np.vstack([np.where(np.isnan(X), X, X > fewer) for fewer in (0, 1)]), np.tile(y, 2)


# Enumeration


def column(X, j):
    """The known genotypes of a column, and the classes of these cases."""
    known = ~np.isnan(X[:, j])
    return tuple(X[known, j].astype(int).tolist()), tuple(Y[known].tolist())


def enumerated_event(X, model, rates, is_random):
    """P(event) as a function of fates; features that are told apart have fates of their own."""
    kept = model.selection_.indices.tolist()
    omitted = [j for j in range(X.shape[1]) if j not in kept]
    if model.threshold is not None:
        gamma = model.threshold

        def is_omitted(r):
            return float(r) ** 0.5 <= gamma

        fates = [(is_omitted, j) for j in omitted]
    else:
        values = [genotype_oracle.score(*column(X, j)) for j in range(X.shape[1])]
        cut = min(values[j] for j in kept)
        told_apart = rates == "given" or bool(np.isnan(X).any())
        last = max(j for j in kept if values[j] == cut)
        if is_random:
            below, at_most = (fate_of(lambda r, c=cut: r < c), fate_of(lambda r, c=cut: r <= c))
            n_kept = sum(values[j] == cut for j in kept)
            return lottery(len(omitted), n_kept, below, at_most)
        fates = []
        for j in omitted:
            if told_apart:
                tied = values[j] == cut
                fates.append((equal_to(cut) if tied else less_than(cut), j))
            else:
                fates.append((less_than(cut) if j < last else at_most_at(cut), j))

    def event(fate):
        found = 1.0
        for is_omitted, j in fates:
            values, classes = column(X, j)
            found *= fate(classes, sum(values) if rates == "given" else None, is_omitted)
        return found

    return event


def fate_of(is_omitted):
    return lambda fate: fate(tuple(Y.tolist()), None, is_omitted)


def lottery(n_omitted, n_kept, below, at_most):
    """Ties at the cut are drawn: the kept ones are as probable as any others of the same number."""

    def event(fate):
        p_below, p_at = below(fate), at_most(fate) - below(fate)
        total = 0.0
        for tied in product((False, True), repeat=n_omitted):
            n_tied = sum(tied)
            ways = 1.0
            for place in range(n_kept):
                ways *= (place + 1) / (n_tied + place + 1)
            total += ways * p_at**n_tied * p_below ** (n_omitted - n_tied)
        return total

    return event


# One function for each cut, so that the oracle knows them again.
KNOWN = {}


def less_than(cut):
    return KNOWN.setdefault(("<", cut), lambda r: r < cut)


def equal_to(cut):
    return KNOWN.setdefault(("=", cut), lambda r: r == cut)


def at_most_at(cut):
    return KNOWN.setdefault(("<=", cut), lambda r: r <= cut)


ENUMERATED = {
    "top 2": {"k": 2},
    "top 1 at random": {"k": 1, "ties": "random", "random_state": 0},
    "threshold": {"threshold": 0.45},
    "given totals": {"k": 2, "rates": "given"},
    "two groups": {"k": 2, "prior": "sparse"},
    "missing": {"k": 2},
}


@pytest.mark.parametrize("name", ENUMERATED)
def test_every_column_that_there_could_have_been(name):
    """Predictions, evidence and omission probability; the uncorrected twin is caught."""
    how = ENUMERATED[name]
    X = np.array([[0, 1, 0, 2, 1], [2, 1, 2, 1, 0], [1, 1, 2, 0, 1], [0, 2, 1, 2, 0]], dtype=float)
    if name == "missing":
        X[0, 1] = X[2, 4] = np.nan
    model = fit(X, Y, **how)
    rates, indices = how.get("rates", "uniform"), model.selection_.indices
    event = enumerated_event(X, model, rates, "ties" in how)
    least = 1 / X.shape[1] if how.get("prior") == "sparse" else None
    values = (0.0, 1.0, 2.0, np.nan)
    rows = np.array(list(product(values, repeat=indices.size)))
    new = np.full((len(rows), X.shape[1]), np.nan)
    new[:, indices] = rows
    kept = [column(X, j) for j in indices]
    evidence, joint = genotype_oracle.condition(kept, event, rows, tuple(Y.tolist()), rates, least)
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-7)
    n_mixed = sum(genotypes.count(1) for genotypes, _ in kept)
    log_evidence = model.log_marginal_likelihood_ + n_mixed * np.log(2.0)
    assert log_evidence == pytest.approx(np.log(evidence), abs=1e-7)
    naive = clone(model).set_params(correct_selection=False).fit(X, Y)
    assert np.max(np.abs(naive.predict_proba(new) - expected)) > 1e-4


def test_the_omission_probability_is_that_of_all_columns():
    X = np.array([[0, 1, 0, 2, 1], [2, 1, 2, 1, 0], [1, 1, 2, 0, 1], [0, 2, 1, 2, 0]])
    model = fit(X, Y, threshold=0.5)
    alphas = np.array([0.3, 2.0, 40.0])
    classes = tuple(Y.tolist())
    expected = [
        genotype_oracle.fate(classes, None, lambda r: r <= 0.25, "uniform", 1.0 / alpha)
        for alpha in alphas
    ]
    found = model.panel().predictor.fitted.omission_probability(alphas)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Alleles as cases


@pytest.mark.parametrize(
    ("how", "of_data"),
    [
        ({"k": 6}, {}),
        ({"k": 6, "ties": "random", "random_state": 1}, {"n": 10}),
        ({"threshold": 0.2}, {}),
        ({"k": 6, "rates": "given"}, {}),
        ({"k": 6, "prior": "sparse"}, {}),
        ({"k": 6}, {"missing": 0.05}),
        ({"k": 6, "rates": "given", "prior": "sparse"}, {"missing": 0.02}),
        ({"k": 6}, {"classes": 3}),
        ({"k": 6, "score_func": "fisher"}, {}),
        ({"k": 6, "score_func": "mutual_info"}, {"classes": 3}),
        ({"k": 6}, {"n": 300}),  # so many alleles that each vector has nodes of its own
        ({"preselected_from": 400}, {}),
    ],
    ids=str,
)
def test_selection_event_and_posterior_are_those_of_alleles_as_cases(how, of_data):
    X, y = data(**of_data)
    ours, theirs = fit(X, y, **how), SelectiveBernoulliNB(**how).fit(*expanded(X, y))
    assert repr(ours.selection_.event) == repr(theirs.selection_.event)
    assert ours.threshold_ == theirs.threshold_
    np.testing.assert_array_equal(ours.selection_.indices, theirs.selection_.indices)
    np.testing.assert_array_equal(ours.scores_, theirs.scores_)
    for name in ("concentration_", "concentration_weights_", "omission_probability_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6)


@pytest.mark.slow
def test_effects_are_those_of_alleles_as_cases():
    X, y = data(n=10)
    models = fit(X, y, k=1), SelectiveBernoulliNB(k=1).fit(*expanded(X, y))
    ours, theirs = (model.feature_effects().effects for model in models)
    assert list(ours) == ["rate_difference", "log_odds_ratio"]
    for kind, effect in ours.items():
        for name in ("naive", "mean", "low", "high"):
            found, expected = (getattr(each, name) for each in (effect, theirs[kind]))
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_classes_are_counted_by_cases():
    """As often as in the training set and the pseudocounts, and not as their alleles."""
    X, y = data(n=12)
    y[:3] = 0
    model = fit(X, y, k=3, class_pseudocounts=(2.0, 1.0))
    nothing = np.full((1, X.shape[1]), np.nan)
    n = np.bincount(y) + np.array([2.0, 1.0])
    np.testing.assert_allclose(model.predict_proba(nothing)[0], n / n.sum(), rtol=1e-12)
    fitted = model.panel().predictor.fitted
    assert fitted.n_samples == 12
    assert fitted.class_sizes == dict(enumerate(np.bincount(y).tolist()))


def test_the_other_allele_gives_the_same():
    X, y = data(missing=0.03)
    ours, theirs = fit(X, y, k=5), fit(2 - X, y, k=5)
    np.testing.assert_array_equal(ours.selection_.indices, theirs.selection_.indices)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(2 - X), atol=1e-9)


def test_the_order_of_cases_and_of_columns_does_not_matter(seed):
    X, y = data(n=41, seed=seed)
    X[:, 4:] = np.where(np.isin(np.arange(41), (3, 8))[:, np.newaxis], np.nan, X[:, 4:])
    rng = np.random.default_rng(seed)
    rows, order = rng.permutation(41), rng.permutation(X.shape[1])
    model = fit(X, y, threshold=0.2)
    other = fit(X[rows][:, order], y[rows], threshold=0.2)
    assert sorted(order[other.selection_.indices]) == model.selection_.indices.tolist()
    np.testing.assert_allclose(other.predict_proba(X[:, order]), model.predict_proba(X), atol=1e-9)


# Every door


@pytest.mark.parametrize("how", [{}, {"missing": 0.04}, {"classes": 3}], ids=str)
def test_leaving_out_a_case_is_fitting_without_it(how):
    X, y = data(n=10, p=12, **how)
    left_out = fit(X, y, k=3).loo_predict_proba()
    for i in (0, 5):
        others = np.arange(10) != i
        alone = fit(X[others], y[others], k=3).predict_proba(X[[i]])
        np.testing.assert_allclose(left_out[i], alone[0], atol=1e-8)


@pytest.mark.parametrize("kind", ["uint8", "int64", "float32", "sparse", "dask", "in columns"])
def test_every_kind_of_table(kind):
    X, y = data(n=150, p=30)  # sums that do not fit a byte
    X[:, 0], X[:, 1] = 2.0, 1.0
    expected = fit(X, y, k=5, store_scores=True)
    copies = np.array([X[y == g].sum(axis=0) for g in (0, 1)])
    np.testing.assert_array_equal(expected.feature_counts_, copies)
    if kind == "sparse":
        table = sparse.csr_array(X)
    elif kind == "dask":
        table = pytest.importorskip("dask.array").from_array(X, chunks=(40, 7))
    else:
        table = np.asfortranarray(X) if kind == "in columns" else X.astype(kind)
    found = fit(table, y, k=5)
    assert found.selection_.event == expected.selection_.event
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_columns_of_one_allele_and_of_bits_are_genotypes_too():
    X, y = data(n=20, p=10)
    X[:, 5], X[:, 6], X[:, 7] = 2.0, 0.0, X[:, 7] > 0
    model = fit(X, y, k=3, store_scores=True)
    assert np.all(model.feature_scores_[[5, 6]] == 0.0)
    assert model.feature_counts_[:, 5].tolist() == [20, 20]


BAD = {
    "a value": ({}, 3.0, r"column 7 has the value 3\.0 in row 4, but family='genotype' takes only"),
    "a code for missing": (
        {},
        -9.0,
        r"column 7 has the value -9\.0 in row 4, .* NaN for a missing",
    ),
    "a dosage": ({}, 0.3, r"column 7 has the value 0\.3 in row 4"),
    "infinite": ({}, np.inf, r"column 7 has an infinite value|column 7 .* inf"),
    "binarize": ({"binarize": 0.5}, 1.0, r"binarize=0\.5 has no meaning with family='genotype'"),
    "grid": (
        {"quadrature": "paper"},
        1.0,
        r"quadrature='paper' does not support family='genotype'",
    ),
    "family": ({"family": "diploid"}, 1.0, r"family='diploid' is not one of 'binary', 'genotype'"),
}


@pytest.mark.parametrize("fault", BAD)
def test_bad_input_gets_one_clear_error(fault):
    how, value, message = BAD[fault]
    X, y = data(n=12, p=10)
    X[4, 7] = value
    model = SelectiveBernoulliNB(**{"k": 2, "family": "genotype", **how})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_bad_values_are_found_everywhere():
    X, y = data(n=12, p=10)
    wrong = X.copy()
    wrong[4, :] = 5.0
    in_chunks = pytest.importorskip("dask.array").from_array(wrong, chunks=(6, 5))
    model = fit(X, y, k=2)
    for attempt in (
        lambda: model.predict_proba(wrong),
        lambda: fit(wrong, y, k="loo"),
        lambda: fit(in_chunks, y, k=2),
    ):
        with pytest.raises(ValueError, match=r"has the value 5\.0 in row 4, but family='genotype'"):
            attempt()


def test_covariates_are_refused():
    X, y = data(n=12, p=10)
    with pytest.raises(ValueError, match="family='genotype' does not adjust for covariates: use"):
        SelectiveBernoulliNB(k=2, family="genotype").fit(X, y, covariates={"age": np.arange(12.0)})


def test_genotypes_without_the_family_are_pointed_to_it():
    X, y = data(n=12, p=10)
    with pytest.warns(UserWarning, match="For genotypes use family='genotype'"):
        SelectiveBernoulliNB(k=2).fit(X, y)


# Files


def save(model, path):
    names = ("rule", "ties", "threshold", "statistic", "n_features", "n_omitted")
    selection = {name: getattr(model.selection_, name) for name in names}
    selection["scores"] = model.scores_.tolist()
    predictor = model.panel().predictor
    save_model(predictor, path, selection=selection, provenance={"unselected": "1"})
    return load_model(path)


@pytest.mark.parametrize(
    ("how", "of_data"),
    [
        ({"k": 5}, {}),
        ({"k": 5, "rates": "given", "prior": "sparse"}, {"missing": 0.03}),
        ({"k": 5, "dependence": "tempered"}, {}),
        ({"k": 5, "dependence": "correlated"}, {"missing": 0.02}),
        ({"k": 5}, {"n": 300}),  # with the posterior in the file
        ({"k": 5, "score_func": lambda ones, known: np.ptp(ones / known, axis=0)}, {}),
    ],
    ids=["plain", "given", "tempered", "correlated", "many cases", "function"],
)
def test_model_files_predict_the_same(how, of_data, tmp_path):
    X, y = data(**of_data)
    model = fit(X, y, **how)
    saved = save(model, tmp_path / "model.json")
    assert saved.kind == "genotype"
    rows = X[:, model.selection_.indices]
    np.testing.assert_allclose(
        saved.predictor.predict_log_proba(rows), model.predict_log_proba(X), atol=1e-12
    )
    held = json.loads((tmp_path / "model.json").read_text())
    assert "thresholds" not in held
    assert ("posterior" in held) == ("score_func" in how or "n" in of_data)
    lower, upper = saved.predictor.predict_proba_interval(rows[:3], level=0.8)
    assert np.all(lower <= upper)


def test_a_damaged_file_is_refused(tmp_path):
    X, y = data()
    path = tmp_path / "model.json"
    save(fit(X, y, k=5), path)
    document = json.loads(path.read_text())
    document["counts"]["n0"] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="odd numbers of alleles"):
        load_model(path)


# Words


def test_effects_and_descriptions_are_of_alleles():
    X, y = data(missing=0.02)
    model = fit(X, y, k=1)
    effects = model.feature_effects()
    indices = model.selection_.indices
    places = [list(effects.features).index(j) for j in indices]
    for g in (0, 1):
        values = X[y == g][:, indices]
        copies, known = np.nansum(values, axis=0), 2 * np.sum(~np.isnan(values), axis=0)
        np.testing.assert_array_equal(effects.seen[f"copies_in_{g}"][places], copies)
        np.testing.assert_array_equal(effects.seen[f"alleles_in_{g}"][places], known)
    fitted = model.panel().predictor.fitted
    cells = fitted.cells(fitted.describe(model.scores_)[0])
    assert list(cells) == ["copies in 0", "copies in 1"]
    assert cells["copies in 1"].endswith(f"/{2 * np.sum(~np.isnan(X[y == 1][:, indices[0]]))}")


def test_explanations_add_up():
    X, y = data(missing=0.02)
    model = fit(X, y, k=4)
    explained = model.explain(X)
    by_hand = model.panel().predictor.fitted.log_by_feature(X[:, model.selection_.indices])
    np.testing.assert_array_equal(by_hand[np.isnan(X[:, model.selection_.indices])], 0.0)
    assert np.all(np.abs(explained.contributions) < 10.0)
    each = explained.prior + explained.contributions.sum(axis=1)
    assert np.corrcoef(each, explained.log_odds)[0, 1] > 0.999


def test_predictive_moments_are_those_of_the_genotypes():
    """What the guard against dependence takes for means and variance."""
    X, y = data()
    fitted = fit(X, y, k=4).panel().predictor.fitted
    every = np.repeat(np.arange(3)[:, np.newaxis], 4, axis=1)
    P = np.exp(fitted.log_by_feature(every))  # (values, k, G)
    np.testing.assert_allclose(P.sum(axis=0), 1.0, rtol=1e-12)
    values = np.arange(3.0)
    means = np.einsum("v,vkg->gk", values, P)
    np.testing.assert_allclose(fitted.laws.location, means, rtol=1e-12)
    variance = np.einsum("v,vkg->gk", values**2, P) - means**2
    np.testing.assert_allclose(fitted.laws.variance, variance.mean(axis=0), rtol=1e-9)
