"""Binary features with covariates: linear models of bits against one table for each stratum.

Data are drawn from logistic models: logit P(x_ij = 1) = a_j + b_j(covariate) + w_j class, where few
w_j are not 0. Prints Markdown, which docs/evidence/binary_covariates.md records.

The library models bits as numbers that are linear in covariates and class. The alternative is the
stratified model of `stratified_bits`. With a categorical covariate both keep the same features, but
for ties: those with the largest partial correlations. A continuous covariate has its quarters as
strata.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from stratified_bits import Bits, Stratified, class_sizes, tables

from unselected import SelectiveBernoulliNB, SelectiveClassifier, __version__
from unselected.calibration import calibration_slope_intercept
from unselected.models.class_regression import ClassRegression

Array = NDArray[Any]
Prior = Literal["common", "sparse"]
# P(class 1) of test cases by each method.
Predictions = dict[str, Array]
# Classes and predictions of the test cases of each replicate.
Drawn = list[tuple[Array, Predictions]]

N_FEATURES, N_RELATED, N_TEST = 1000, 20, 1000
SIZES = (10, 50)
RATES = {"common": (0.2, 0.8), "rare": (0.01, 0.1)}
SEED = 17
# The stratified methods of the table, and what it calls them.
STRATA = {"strata, uniform rates": "uniform", "strata": "given", "strata, regression": "regression"}


@dataclass(frozen=True)
class Setting:
    """How data are drawn.

    Attributes
    ----------
    n : number of training cases.
    log_odds : of class 1 in each stratum; of a continuous covariate the slope alone.
    spread : standard deviation of b_j in half of the features; it is 0 in the others.
    interaction : whether w_j is drawn anew in each stratum.
    """

    name: str
    n: int
    log_odds: tuple[float, ...]
    spread: float = 1.5
    interaction: bool = False

    @property
    def continuous(self) -> bool:
        """Whether the covariate is a number, whose quarters are the strata."""
        return len(self.log_odds) == 1

    @property
    def n_strata(self) -> int:
        """The number of strata."""
        return 4 if self.continuous else len(self.log_odds)


MODERATE = {1: (1.0,), 2: (-0.7, 0.7), 4: (-1.5, -0.5, 0.5, 1.5)}
STRONG = {1: (2.5,), 2: (-2.2, 2.2), 4: (-3.0, -1.0, 1.0, 3.0)}
SETTINGS = (
    *(
        Setting(f"{what}, {strength}", n, log_odds[S])
        for S, what in ((2, "2 strata"), (4, "4 strata"), (1, "age"))
        for strength, log_odds in (("moderate", MODERATE), ("strong", STRONG))
        for n in (60, 200)
    ),
    Setting("2 strata, b_j of spread 4", 200, MODERATE[2], spread=4.0),
    Setting("2 strata, own w_j", 200, MODERATE[2], interaction=True),
    Setting("4 strata, own w_j", 200, MODERATE[4], interaction=True),
)
# Settings that are averaged over.
GROUPS = {
    "strata, n = 60": (0, 2, 4, 6),
    "strata, n = 200": (1, 3, 5, 7),
    "age, moderate": (8, 9),
    "age, strong": (10, 11),
    "b_j of spread 4": (12,),
    "own w_j in each stratum": (13, 14),
}


class Cases(NamedTuple):
    """Classes, strata from 0 on, the covariate as a number, and as the library takes it."""

    y: Array
    strata: Array
    number: Array
    covariates: Array


def draw_cases(setting: Setting, rng: np.random.Generator) -> tuple[Cases, Cases]:
    """Return training and test cases."""
    train, test = (
        rng.normal(size=n) if setting.continuous else rng.integers(setting.n_strata, size=n)
        for n in (setting.n, N_TEST)
    )
    cuts = np.quantile(train, [0.25, 0.5, 0.75])

    def cases(z: Array) -> Cases:
        strata = np.searchsorted(cuts, z) if setting.continuous else z
        given = z if setting.continuous else _letters(z)
        log_odds = setting.log_odds[0] * z if setting.continuous else np.take(setting.log_odds, z)
        y = (rng.random(z.size) < expit(log_odds)).astype(np.int64)
        return Cases(y, strata, z, given[:, np.newaxis])

    return cases(train), cases(test)


def _letters(strata: Array) -> Array:
    """Return strata as levels of a categorical covariate."""
    return np.array(list("abcd"))[strata]


def draw_features(
    setting: Setting,
    rates: tuple[float, float],
    cases: tuple[Cases, Cases],
    rng: np.random.Generator,
) -> list[Array]:
    """Return the features of training and test cases."""
    p, S = N_FEATURES, setting.n_strata
    a = logit(rng.uniform(*rates, p))
    b = rng.normal(0.0, setting.spread, (S, p)) * (rng.random(p) < 0.5)
    w = np.zeros((S, p))
    w[:, :N_RELATED] = rng.normal(0.0, 2.0, (S if setting.interaction else 1, N_RELATED))
    features = []
    for y, strata, z, _ in cases:
        shift = np.outer(z, b[0]) if setting.continuous else b[strata]
        chance = expit(a + shift + y[:, np.newaxis] * w[strata])
        features.append((rng.random((y.size, p)) < chance).astype(np.uint8))
    return features


def predictions(
    setting: Setting, cases: tuple[Cases, Cases], X: list[Array], k: int, prior: Prior
) -> Predictions:
    """Return P(class 1) of the test cases by each method."""
    (train, test), S = cases, setting.n_strata

    def linear(*covariates: Array) -> Array:
        model = SelectiveBernoulliNB(k, prior=prior).fit(X[0], train.y, covariates=covariates[0])
        return np.asarray(model.predict_proba(X[1], covariates=covariates[1])[:, 1])

    codes = [
        one.number[:, np.newaxis] if setting.continuous else np.eye(S)[one.strata][:, 1:]
        for one in cases
    ]
    regression = ClassRegression.fit(codes[0], train.y, 2, np.ones(2)).log_proba(codes[1])
    sizes = class_sizes(train.y, train.strata, S) + 1.0
    counted = np.log(sizes / sizes.sum(axis=1, keepdims=True))[test.strata]
    ignoring = SelectiveBernoulliNB(k, prior=prior).fit(X[0], train.y)
    found = {
        "no features": np.exp(regression[:, 1]),
        "ignored": ignoring.predict_proba(X[1])[:, 1],
        "linear": linear(train.covariates, test.covariates),
    }
    if setting.continuous:
        quarters = [_letters(one.strata)[:, np.newaxis] for one in cases]
        found["linear, quarters"] = linear(*quarters)
    bits = Bits.of(X[0], train.y, train.strata, S)
    for name, given in (("strata", True), ("strata, uniform rates", False)):
        model = Stratified.fit(bits, k, sparse=prior == "sparse", given=given)
        logs = model.log_proba(X[1], test.strata)
        found[name] = expit(np.diff(logs + counted)[:, 0])
        if given:
            found[f"{name}, regression"] = expit(np.diff(logs + regression)[:, 0])
    return found


def replicates(number: int, n_replicates: int, prior: Prior) -> dict[tuple[str, int], Drawn]:
    """Return classes and predictions of the test cases, for rates of features and k."""
    setting = SETTINGS[number]
    found: dict[tuple[str, int], Drawn] = {}
    for r in range(n_replicates):
        rng = np.random.default_rng([SEED, number, r])
        cases = draw_cases(setting, rng)
        tables.cache_clear()
        for name, rates in RATES.items():
            X = draw_features(setting, rates, cases, rng)
            for k in SIZES:
                predicted = predictions(setting, cases, X, k, prior)
                found.setdefault((name, k), []).append((cases[1].y, predicted))
    return found


def figures(y: Array, p: Array) -> Array:
    """Return log loss, error, and expected less actual error."""
    log_loss = -np.mean(np.log(np.clip(np.where(y == 1, p, 1.0 - p), 1e-15, 1.0)))
    error = np.mean((p > 0.5) != y)
    return np.array([log_loss, error, np.mean(np.minimum(p, 1.0 - p)) - error])


def slope(drawn: Drawn, method: str) -> float:
    """Return the slope of the calibration line over the test cases of all replicates."""
    y = np.concatenate([classes for classes, _ in drawn])
    p = np.concatenate([predicted[method] for _, predicted in drawn])
    return float(calibration_slope_intercept(y, np.clip(p, 1e-9, 1.0 - 1e-9)).slope.value)


def measured(drawn: Drawn) -> dict[str, Array]:
    """Return the figures of each method, shape (replicates, 3)."""
    return {
        method: np.array([figures(y, predicted[method]) for y, predicted in drawn])
        for method in drawn[0][1]
    }


def differences(values: dict[str, Array], method: str, column: int = 0) -> str:
    """Return the mean difference of a method from the linear one, and its standard error."""
    d = values[method][:, column] - values["linear"][:, column]
    return f"{d.mean():+.3f} ({d.std(ddof=1) / np.sqrt(d.size):.3f})"


def rows(number: int, by_kind: dict[tuple[str, int], Drawn]) -> Iterator[str]:
    """Yield the rows of a setting."""
    setting = SETTINGS[number]
    for (rates, k), drawn in by_kind.items():
        values = measured(drawn)
        means = {method: value.mean(axis=0) for method, value in values.items()}
        shown = ["linear", "strata", *(["linear, quarters"] if setting.continuous else [])]
        calibration = [f"{means[m][2]:+.3f}, {slope(drawn, m):.2f}" for m in shown]
        if setting.continuous:
            calibration[-1] = f"{differences(values, shown[-1])}; {calibration[-1]}"
        calibration += [""] * (3 - len(calibration))
        cells = [
            f"{setting.name}, n = {setting.n}, {rates}, k = {k}",
            f"{means['no features'][0]:.3f}",
            f"{means['ignored'][0]:.3f}",
            f"{means['linear'][0]:.3f}",
            *(differences(values, method) for method in STRATA),
            differences(values, "strata", 1),
            *calibration,
        ]
        yield "| " + " | ".join(cells) + " |"


def print_averages(found: dict[int, dict[tuple[str, int], Drawn]]) -> None:
    """Print averages over settings and k, and what stratifying changes."""
    print(
        "\n| | covariates alone | ignored | linear | strata - linear | error "
        "| slope: linear | slope: strata |\n|---|---|---|---|---|---|---|---|"
    )
    for group, numbers in GROUPS.items():
        for rates in RATES:
            cells = [found[i][rates, k] for i in numbers if i in found for k in SIZES]
            if not cells:
                continue
            each = [measured(drawn) for drawn in cells]
            values = {m: np.mean([one[m] for one in each], axis=0) for m in each[0]}
            means = [values[m][:, 0].mean() for m in ("no features", "ignored", "linear")]
            together = [case for drawn in cells for case in drawn]
            row = [
                f"{group}, {rates}",
                *(f"{mean:.3f}" for mean in means),
                differences(values, "strata"),
                differences(values, "strata", 1),
                *(f"{slope(together, m):.2f}" for m in ("linear", "strata")),
            ]
            print("| " + " | ".join(row) + " |")


def print_guards(number: int, n_replicates: int) -> None:
    """Print what learning the power of the likelihood does for linear models of rare bits."""
    setting = SETTINGS[number]
    print(
        f"\n| {setting.name}, n = {setting.n}, rare | log loss | gap | slope |\n|---|---|---|---|"
    )
    for k in SIZES:
        drawn = []
        for r in range(n_replicates):
            rng = np.random.default_rng([SEED, number, r])
            train, test = cases = draw_cases(setting, rng)
            X = [draw_features(setting, rates, cases, rng) for rates in RATES.values()][-1]
            models = {
                "linear": SelectiveBernoulliNB(k),
                "linear, tempered": SelectiveBernoulliNB(k, dependence="tempered"),
                "`SelectiveClassifier`": SelectiveClassifier(k),
            }
            predicted = {
                name: model.fit(X[0], train.y, covariates=train.covariates).predict_proba(
                    X[1], covariates=test.covariates
                )[:, 1]
                for name, model in models.items()
            }
            drawn.append((test.y, predicted))
        for method, values in measured(drawn).items():
            log_loss, _, gap = values.mean(axis=0)
            print(
                f"| {method}, k = {k} | {log_loss:.3f} | {gap:+.3f} | {slope(drawn, method):.2f} |"
            )


def main() -> None:
    """Print a table of all settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=12)
    parser.add_argument("--prior", choices=("common", "sparse"), default="common")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of settings, from 0 on")
    parser.add_argument("--guards", type=int, help="the number of a setting; nothing else is done")
    arguments = parser.parse_args()
    print(f"unselected {__version__}, {arguments.replicates} replicates, prior {arguments.prior}\n")
    if arguments.guards is not None:
        print_guards(arguments.guards, arguments.replicates)
        return
    print(
        "| | covariates alone | ignored | linear | "
        + " | ".join(STRATA.values())
        + " | error | linear: gap, slope | strata: gap, slope | linear in quarters |"
    )
    print("|---" * 11 + "|")
    found = {}
    for number in arguments.only or range(len(SETTINGS)):
        found[number] = replicates(number, arguments.replicates, arguments.prior)
        for row in rows(number, found[number]):
            print(row, flush=True)
    print_averages(found)


if __name__ == "__main__":
    main()
