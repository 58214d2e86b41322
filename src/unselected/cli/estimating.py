"""The estimator that the options of a command describe."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from unselected.cli.options import (
    FRONT_DOORS,
    BitScoreOption,
    Choice,
    DependenceOption,
    FrontDoor,
    PriorOption,
    ValueScoreOption,
    note,
    on_terminal,
)
from unselected.cli.sources import ColumnNumbers
from unselected.columns.sources import ColumnSource
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.choose import FOR_NUMBERS, ModelName, choose_model
from unselected.estimators.classifier import SelectiveClassifier
from unselected.estimators.factor import SelectiveFactorClassifier, SelectiveFactorRegressor
from unselected.estimators.finding_columns import find_columns
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.mixture import SelectiveMixtureClassifier
from unselected.estimators.regression import SelectiveNaiveRegressor
from unselected.estimators.regressor import SelectiveRegressor
from unselected.fitted.covariate_table import CovariateTable

# Estimators that can guard against dependence between features, and report on it.
GUARDED = (SelectiveBernoulliNB, SelectiveGaussianNB)

ESTIMATORS: dict[str, Callable[..., Any]] = {
    "classifier": SelectiveClassifier,
    "regressor": SelectiveRegressor,
    "bernoulli": SelectiveBernoulliNB,
    "gaussian": SelectiveGaussianNB,
    "regression": SelectiveNaiveRegressor,
}
# The models with latent variables, by the naive Bayes model for the same data.
LATENT: dict[str, dict[ModelName, Callable[..., Any]]] = {
    "mixture": {"bernoulli": SelectiveMixtureClassifier},
    "factor": {"gaussian": SelectiveFactorClassifier, "regression": SelectiveFactorRegressor},
}

# Scores of features of 0 and 1, and of real-valued ones.
_BIT_SCORES, _VALUE_SCORES = get_args(BitScoreOption), get_args(ValueScoreOption)
# What models have for --dependence, other than auto and none.
_GUARDS: dict[str, tuple[DependenceOption, ...]] = {
    "classifier": ("tempered",),
    "regressor": ("correlated",),
    "bernoulli": ("tempered", "correlated"),
    "gaussian": ("tempered", "correlated"),
    "regression": (),
}


@dataclass(frozen=True, eq=False)
class NamedTraining:
    """A training set: features in memory or in their file, response, names, and what is beside."""

    X: ColumnSource
    y: NDArray[Any]
    names: NDArray[Any] | ColumnNumbers
    groups: NDArray[Any] | None = None
    covariates: CovariateTable | None = None

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """The arguments of a fit beside X and y: groups and covariates, where there are any."""
        given = {"groups": self.groups, "covariates": self.covariates}
        return {name: values for name, values in given.items() if values is not None}

    def in_words(self) -> str:
        """Return the numbers of cases and features, and the covariates."""
        n, p = self.X.shape
        names = () if self.covariates is None else self.covariates.names
        return f"{n} cases, {p} features" + (f", covariates {', '.join(names)}" if names else "")


def chosen(choice: Choice, X: NDArray[Any], y: NDArray[Any], by: str = "") -> str:
    """Return the model for the data; print which model is used, and why.

    It is a front door unless the options ask for one of the paper's models.
    """
    wanted = choice.model
    if wanted == "auto":
        if choice.family == "genotype":
            note("model: bernoulli (--family genotype)")
            return "bernoulli"
        name, reason = choose_model(X, y)
        door = front_door_for(name)
        if choice.only_paper(door):
            note(f"model: {name} ({reason}{by}); --model overrides this")
            return name
        of_numbers = f"an average over regressions: {reason}"
        why = of_numbers if door == "regressor" else "an average over models of classes"
        note(f"model: {door} ({why}); --model overrides this")
        return door
    note(f"model: {wanted}")
    if wanted == "mixture":
        return "bernoulli"
    if wanted == "factor":
        return "regression" if choose_model(X, y)[0] == "regression" else "gaussian"
    return wanted


def front_door_for(name: str) -> FrontDoor:
    """Return the front door for the kind of response that a model has."""
    return "regressor" if name in FOR_NUMBERS else "classifier"


def estimator(name: str, table: NamedTraining, choice: Choice) -> Any:
    """Return the estimator that the options describe, not yet fitted."""
    options: dict[str, Any] = {
        "k": choice.k,
        "threshold": choice.threshold,
        "correct_selection": not choice.uncorrected,
        "preselected_from": choice.preselected_from,
        "always_keep": always_kept(choice.always_keep, table).tolist() or None,
        "ties": choice.ties,
        "random_state": choice.seed,
    }
    door = front_door_for(name)
    if name == door:
        return _front_door(door, options, choice)
    if choice.groups is not None:
        asked = f"--model {choice.model}"
        if choice.model == "auto":
            asked = choice.only_paper(door)[0]
        raise ValueError(
            f"--groups is for the model {door}, not for {name}: omit {asked} or --groups."
        )
    options["k"] = _k_for(name, choice.k)
    if choice.model in LATENT:
        _check_latent(choice, table)
        return LATENT[choice.model][name](**options, progress=on_terminal())  # type: ignore[index]
    return ESTIMATORS[name](**options, **prior_for(choice.prior), **_options_of(name, choice))


def repeats_of(name: str, wanted: int | None, *, usual: int) -> int:
    """Return how often a cross-validation is repeated: once by default where a fit takes long."""
    if wanted is not None:
        return wanted
    return 1 if name in FRONT_DOORS else usual


def _front_door(door: FrontDoor, options: dict[str, Any], choice: Choice) -> Any:
    """Return the front door for classes or for numbers, with the options that it has."""
    if only_paper := choice.only_paper(door):
        theirs = "--model regression" if door == "regressor" else "--model bernoulli or gaussian"
        raise ValueError(
            f"{only_paper[0]} is not available for the model {door}: omit it, or use {theirs}."
        )
    for option, value in (
        ("--threshold", choice.threshold),
        ("--preselected-from", choice.preselected_from),
    ):
        if choice.k == "auto" and value is not None:
            raise ValueError(
                f"--k auto and {option} {value} are two ways to select features: omit one of them."
            )
    del options["ties"]
    if choice.k is None:
        options["k"] = "auto"
    guard = dependence_for(door, choice.dependence) | options_of_values(door, choice)
    return ESTIMATORS[door](**options, prior=choice.prior, **guard)


def _k_for(name: str, k: Any) -> Any:
    """Return the number of features of a model that has no k of its own choice but loo."""
    if k == "auto":
        door = front_door_for(name)
        raise ValueError(f"--k auto is for the model {door}, not for {name}: use --k loo.")
    return k


def prior_for(wanted: PriorOption) -> dict[str, Any]:
    """Return the parameter ``prior`` of one of the paper's models."""
    return {"prior": "common" if wanted == "auto" else wanted}


def _check_latent(choice: Choice, table: NamedTraining) -> None:
    """Raise on options that models with latent variables do not have."""
    given = {
        "--k loo": choice.k == "loo",
        f"--prior {choice.prior}": choice.prior == "sparse",
        f"--dependence {choice.dependence}": choice.dependence in ("tempered", "correlated"),
        f"--family {choice.family}": choice.family != "binary",
        f"--rates {choice.rates}": choice.rates != "uniform",
        f"--score {choice.score}": choice.score != "correlation",
        "--variance-shrinkage": choice.variance_shrinkage is not None,
        "--covariates": table.covariates is not None,
    }
    for option, is_given in given.items():
        if is_given:
            raise ValueError(
                f"{option} is not available for the model {choice.model}, which has latent "
                "variables: omit it."
            )


def _options_of(name: str, choice: Choice) -> dict[str, Any]:
    """Return the parameters that only some models have; raise where this one has not."""
    options = dependence_for(name, choice.dependence) | options_of_values(name, choice)
    if choice.variance_shrinkage is None:
        return options
    if name == "bernoulli":
        raise ValueError(
            "--variance-shrinkage is not available for the model bernoulli, which has no "
            "variances: omit it, or use --model gaussian."
        )
    return options | {"variance_shrinkage": choice.variance_shrinkage}


def dependence_for(name: str, wanted: DependenceOption) -> dict[str, Any]:
    """Return the parameter ``dependence`` of a model; regression has none."""
    if wanted not in ("auto", "none", *_GUARDS[name]):
        raise ValueError(
            f"--dependence {wanted} is not available for the model {name}: "
            f"{_instead(name, wanted)}."
        )
    if name == "regression":
        return {}
    auto = "auto" if name in FRONT_DOORS else "none"
    return {"dependence": auto if wanted == "auto" else wanted}


def _instead(name: str, wanted: DependenceOption) -> str:
    """Return what to do where a model of numbers has not the guard that was asked for."""
    if name == "regression" and wanted in _GUARDS["regressor"]:
        return "omit it, or use --model regressor"
    return "omit it"


def options_of_values(name: str, choice: Choice) -> dict[str, Any]:
    """Return the parameters that only the models of binary or of real-valued features have."""
    family, rates, score = choice.family, choice.rates, choice.score
    if name == "bernoulli" and score not in _VALUE_SCORES:
        return {"family": family, "rates": rates, "score_func": score}
    of_counts = family != "binary" or rates != "uniform"
    if name == "gaussian" and not of_counts and score not in _BIT_SCORES:
        return {"score_func": score}
    bits, of_numbers = name == "bernoulli", score in _VALUE_SCORES
    for option, is_given, kind, model in (
        (
            f"--family {family}",
            family != "binary" and not bits,
            "features of 0, 1 and 2",
            "bernoulli",
        ),
        (f"--rates {rates}", rates != "uniform" and not bits, "features of 0 and 1", "bernoulli"),
        (f"--score {score}", of_numbers, "real-valued features and classes", "gaussian"),
        (f"--score {score}", score != "correlation", "features of 0 and 1", "bernoulli"),
    ):
        if is_given:
            raise ValueError(
                f"{option} is for {kind}, and not available for the model {name}: omit it, or use "
                f"--model {model}."
            )
    return {}


def always_kept(wanted: tuple[str, ...], table: NamedTraining) -> NDArray[np.intp]:
    """Return the columns of --always-keep, in increasing order."""
    names, p = table.names, table.X.shape[1]
    for name in () if table.covariates is None else table.covariates.names:
        if name in wanted:
            raise ValueError(
                f"--always-keep {name}: it is a covariate, and these are always in the model: omit "
                "it here."
            )
    if not isinstance(names, ColumnNumbers):
        return find_columns(list(wanted), names, p, "--always-keep")
    for name in wanted:
        if names.place(name) is None:
            raise ValueError(
                f"--always-keep {name}: the features have no names, and are numbered 0 to {p - 1}: "
                "give a number."
            )
    return find_columns([names.place(name) for name in wanted], None, p, "--always-keep")
