"""What scikit-learn wants spelled out in every estimator agrees with what the others spell out."""

import inspect
import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import unselected
from unselected import SelectiveClassifier, SelectiveRegressor

pytestmark = pytest.mark.usefixtures("few_folds")

ESTIMATORS = [
    getattr(unselected, name) for name in unselected.__all__ if name.startswith("Selective")
]

# Parameters that have other defaults in some estimators, and why.
OTHER_DEFAULTS = {
    "n_warmup": "labels of cases mix more slowly than factors do",
    "k": "the front door has the defaults that are best on real data",
    "prior": "the same",
    "dependence": "the same",
}

# Parameters that are documented with other texts in some estimators, and why.
OTHER_TEXTS = OTHER_DEFAULTS | {
    "concentration_prior": "the concentration is another parameter in each model",
    "marginals": "classes prefer normal scores",
    "preselected_from": "the front door needs columns of one family",
    "random_state": "chains need seeds too",
    "score_func": "binary and real-valued features have other scores",
}


def parameters_of(estimator):
    parameters = inspect.signature(estimator.__init__).parameters
    return {name: one.default for name, one in parameters.items() if name != "self"}


def documented(estimator, section):
    """The entries of a section of the class's docstring: name and text, in their order."""
    docstring = inspect.getdoc(estimator)
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", docstring, re.S | re.M)
    entries = {}
    for names, text in re.findall(r"^(\S[^\n]*)\n((?:[ ]{4}[^\n]*\n|\n)*)", found[1] + "\n", re.M):
        heading, _, kind = names.partition(" : ")
        elsewhere = re.match(r"\s*See `(\w+)`", text)
        for name in map(str.strip, heading.split(",")):
            entries[name] = f"{kind}\n{inspect.cleandoc(text)}"
            if not kind and elsewhere:
                entries[name] = documented(getattr(unselected, elsewhere[1]), section)[name]
    return entries


def test_one_parameter_has_one_default():
    defaults = {}
    for estimator in ESTIMATORS:
        for name, default in parameters_of(estimator).items():
            defaults.setdefault(name, set()).add(repr(default))
    differing = {name for name, values in defaults.items() if len(values) > 1}
    assert differing == set(OTHER_DEFAULTS)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_documented_with_its_default(estimator):
    texts, defaults = documented(estimator, "Parameters"), parameters_of(estimator)
    assert set(texts) == set(defaults)
    for name, default in defaults.items():
        told = texts[name].partition("\n")[0].partition("default=")[2]
        shown = repr(default).replace("'", '"')
        assert shown in told, f"{name}: {told!r} is documented, the default is {shown}"


def differing_texts(estimators):
    texts = {}
    for estimator in estimators:
        for name, text in documented(estimator, "Parameters").items():
            texts.setdefault(name, set()).add(" ".join(text.split()))
    return {name for name, found in texts.items() if len(found) > 1}


def test_one_parameter_has_one_text():
    assert differing_texts(ESTIMATORS) == set(OTHER_TEXTS)


# Options of others that an estimator does not have.
OTHER_OPTIONS = {
    SelectiveClassifier: {"loo", "correlated"},
    SelectiveRegressor: {"loo", "tempered"},
}


@cache
def fits_of(estimator):
    return list(fits(estimator))


def fits(estimator):
    """Fits in which each attribute that depends on an option is there at least once."""
    rng = np.random.default_rng(0)
    y = np.arange(14) % 2
    X = rng.normal(size=(14, 6)) + 0.8 * y[:, np.newaxis] * (np.arange(6) < 3)
    if estimator.__name__.endswith("Regressor"):
        y = y + rng.normal(size=14)
    names = parameters_of(estimator)
    options = [
        {"k": 3, "store_scores": True},
        {"k": 3, "prior": "sparse"},
        {"k": 3, "dependence": "correlated"},
        {"k": 3, "dependence": "tempered"},
        {"k": "loo"},
        {"k": 3, "n_factors": [1, 2]},
    ]
    chains = {"n_draws": 4, "n_warmup": 2, "n_chains": 2, "random_state": 0}
    chains = chains if "n_draws" in names else {}
    for chosen in options:
        if not set(chosen) <= set(names) or (chosen["k"] == "loo" and chains):
            continue
        if any(value in chosen.values() for value in OTHER_OPTIONS.get(estimator, ())):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few draws are too few
            table = pd.DataFrame(X).add_prefix("feature ")
            yield estimator(**chosen, **chains).fit(table, y)


# What is said of attributes that are not there after every fit.
CONDITION = re.compile(r"\bonly with\b|\bwith ``\w+=|\bwhere\b", re.IGNORECASE)


def has(fitted, name):
    """As hasattr, but without the many fits of this attribute, which others look at."""
    if name == "loo_score_":
        return isinstance(inspect.getattr_static(fitted, name), property)
    return hasattr(fitted, name)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_documented_attribute_exists_after_fit(estimator):
    texts = documented(estimator, "Attributes")
    assert {"selection_", "n_features_in_", "scores_"} <= set(texts)
    present = [{name for name in texts if has(fitted, name)} for fitted in fits_of(estimator)]
    assert set.union(*present) == set(texts)
    missing = set(texts) - set.intersection(*present)
    assert [name for name in sorted(missing) if not CONDITION.search(texts[name])] == []


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_fitted_attribute_is_documented(estimator):
    texts = documented(estimator, "Attributes")
    for fitted in fits_of(estimator):
        public = {name for name in vars(fitted) if re.fullmatch(r"[a-z]\w*_", name)}
        assert public <= set(texts)


def test_the_test_would_notice():
    class Wrong:
        """One line.

        Parameters
        ----------
        first : int, default=1
            Said of it.

            And more.
        second, third : float, default=2.0
            Of both.

        Attributes
        ----------
        fitted_ : int
        """

        def __init__(self, first=2, second=2.0):
            pass

    class Other:
        """One line.

        Parameters
        ----------
        first : int, default=1
            Said otherwise.
        second : float, default=2.0
            Of both.
        """

    texts = documented(Wrong, "Parameters")
    assert list(texts) == ["first", "second", "third"]
    assert texts["first"] == "int, default=1\nSaid of it.\n\nAnd more."
    assert list(documented(Wrong, "Attributes")) == ["fitted_"]
    assert differing_texts([Wrong, Other]) == {"first"}
    with pytest.raises(AssertionError):
        test_every_parameter_is_documented_with_its_default(Wrong)
