"""Section 5 of the paper: gene expression in colon tissue, 10 x 200 genes, leave-one-out."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel
from sklearn.base import clone
from sklearn.datasets import fetch_openml
from sklearn.exceptions import ConvergenceWarning

from unselected.dependence.power import Dependence
from unselected.estimators.bernoulli import SelectiveBernoulliNB
from unselected.estimators.exact import Prior
from unselected.estimators.factor import SelectiveFactorClassifier
from unselected.estimators.gaussian import SelectiveGaussianNB
from unselected.estimators.mixture import SelectiveMixtureClassifier
from unselected.experiments.replicates import run_replicates
from unselected.experiments.simulation import scores
from unselected.files.tables import read_table

OPENML_ID = 45087
SHAPE, N_TUMOUR = (62, 2000), 40

# Where the data lie beside a checkout of the project, for development.
_DEVELOPMENT_DATA = Path(__file__).parents[4] / "shared" / "data" / "colon.csv.gz"

ColonMethod = Literal["corrected", "uncorrected"]
ColonFeatures = Literal["binary", "real"]
ColonModel = Literal["naive", "latent"]
_CLASSIFIERS: dict[tuple[ColonModel, ColonFeatures], Callable[..., Any]] = {
    ("naive", "binary"): SelectiveBernoulliNB,
    ("naive", "real"): SelectiveGaussianNB,
    ("latent", "binary"): SelectiveMixtureClassifier,
    ("latent", "real"): SelectiveFactorClassifier,
}

# Chains of a fit with latent variables, of which there are over a thousand.
_N_CHAINS, _N_DRAWS = 2, 500


class ColonData(NamedTuple):
    """Expression of 2000 genes in 62 tissues, and which of these are tumours (1)."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]


@dataclass(frozen=True)
class ColonRecord:
    """Leave-one-out predictions of one method for one group of genes of one partition.

    ``probability`` is that of class 1, tumour, for each of the cases; ``thresholds`` are the
    smallest kept correlations, one for each case left out.
    """

    partition: int
    group: int
    method: ColonMethod
    actual_error: float
    expected_error: float
    log_loss: float
    squared_error: float
    y: list[int]
    probability: list[float]
    thresholds: list[float]


def colon(
    data: str | ColonData | None = None,
    *,
    n_partitions: int = 1,
    n_groups: int = 10,
    k: int = 5,
    features: ColonFeatures = "binary",
    normalize: bool = True,
    quadrature: Literal["exact", "paper"] = "exact",
    prior: Prior = "common",
    dependence: Dependence = "none",
    model: ColonModel = "naive",
    n_draws: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | None = None,
    progress: bool = False,
) -> list[ColonRecord]:
    """Repeat the gene expression test of the paper's section 5.

    The genes are divided at random into groups. In each group every case is left out in turn, the
    ``k`` genes most correlated with the class are selected from the others, and the case is
    predicted with and without correction. Genes are cut at the median of the cases not left out,
    as in the paper, or taken as they are; ties are broken at random, as in the paper.

    Parameters
    ----------
    data : path, ColonData or None
        A file with a column ``class`` and a column for each gene; without one, see `load_colon`.
    n_partitions : int
        Number of random divisions; the paper has one.
    features : {"binary", "real"}
        Cut the genes at their medians and use `SelectiveBernoulliNB`, as in the paper, or use their
        values and `SelectiveGaussianNB`.
    normalize : bool
        Take logs and bring each tissue to mean 0 and standard deviation 1 first. The paper does not
        say so, but only then is the smallest kept correlation "around 0.5".
    prior, dependence
        Of the classifiers; the paper's are "common" and "none".
    model : {"naive", "latent"}
        Naive Bayes, as in the paper, or a model with latent variables: `SelectiveMixtureClassifier`
        for binary features, `SelectiveFactorClassifier` for real ones. Each of the 1240 fits of a
        division runs two chains; warnings about poor mixing are not shown.
    n_draws : int or None
        Of each chain of a latent model, after half as many for warm-up; None is 500.
    seed, n_jobs, checkpoint, progress
        See `run_replicates`.

    Returns
    -------
    records : list of ColonRecord
    """
    if features not in ("binary", "real"):
        raise ValueError(f"features={features!r} is not one of 'binary', 'real'.")
    if features == "real" and quadrature != "exact":
        raise ValueError("quadrature='paper' is a grid for binary features, not for real ones.")
    if model not in ("naive", "latent"):
        raise ValueError(f"model={model!r} is not one of 'naive', 'latent'.")
    if model == "latent" and (quadrature, prior, dependence) != ("exact", "common", "none"):
        raise ValueError("quadrature, prior and dependence are for the model 'naive' alone.")
    if model == "naive" and n_draws is not None:
        raise ValueError(f"n_draws={n_draws} is for the model 'latent' alone.")
    X, y = data if isinstance(data, ColonData) else load_colon(data)
    settings = {
        "experiment": "colon",
        "n_groups": n_groups,
        "k": k,
        "features": features,
        "normalize": normalize,
        "quadrature": quadrature,
        "sum of the data": float(X.sum()),
    }
    parameters: dict[str, Any]
    if (prior, dependence) != ("common", "none"):  # older checkpoints can be continued
        settings |= {"prior": prior, "dependence": dependence}
    if model == "latent":
        n_draws = _N_DRAWS if n_draws is None else n_draws
        settings |= {"model": model, "n_draws": n_draws}
        parameters = {"n_chains": _N_CHAINS, "n_draws": n_draws, "n_warmup": (n_draws + 1) // 2}
    else:
        parameters = {"prior": prior, "dependence": dependence}
        parameters |= {"quadrature": quadrature} if features == "binary" else {}
    classifier = _CLASSIFIERS[model, features](k=k, ties="random", **parameters)
    work = partial(
        _one_group,
        X=normalized(X) if normalize else X,
        y=y,
        n_groups=n_groups,
        classifier=classifier,
        seed=seed,
    )
    return run_replicates(
        work,
        n_partitions * n_groups,
        ColonRecord,
        seed=seed,
        settings=settings,
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        progress=progress,
        unit="group",
    )


def load_colon(path: str | None = None) -> ColonData:
    """Return the colon data: from a file, from beside a development checkout, or from OpenML.

    Raises
    ------
    ValueError
        Where the table is not 62 x 2000 with 40 tumours.
    ConnectionError
        Where no file is given and OpenML cannot be reached.
    """
    if path is None and _DEVELOPMENT_DATA.exists():
        path = str(_DEVELOPMENT_DATA)
    if path is not None:
        table = read_table(path, target="class")
        return _checked(table.X, table.y, path)
    try:
        bunch = fetch_openml(data_id=OPENML_ID, as_frame=False)
    except OSError as error:
        raise ConnectionError(
            f"the colon data (OpenML data set {OPENML_ID}) cannot be fetched: {error}. Download "
            "them, and give the path of a CSV file with a column 'class' and one for each gene."
        ) from error
    return _checked(bunch.data, bunch.target, f"OpenML data set {OPENML_ID}")


def _checked(X: NDArray[Any], y: Any, source: str) -> ColonData:
    labels, codes, counts = np.unique(
        np.asarray(y).astype(str), return_inverse=True, return_counts=True
    )
    if X.shape != SHAPE or sorted(counts.tolist()) != [SHAPE[0] - N_TUMOUR, N_TUMOUR]:
        raise ValueError(
            f"{source} has {X.shape[0]} rows, {X.shape[1]} genes and classes "
            f"{dict(zip(labels.tolist(), counts.tolist(), strict=True))}; expected are 62 rows, "
            "2000 genes, 40 tumours and 22 normal tissues."
        )
    tumour = int(np.argmax(counts))
    return ColonData(np.asarray(X, dtype=np.float64), (codes == tumour).astype(np.int64))


def normalized(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logs with mean 0 and standard deviation 1 within each row."""
    logs = np.log(X)
    centred = logs - logs.mean(axis=1, keepdims=True)
    return np.asarray(centred / centred.std(axis=1, ddof=1, keepdims=True))


def _one_group(
    replicate: int,
    seed_of_ties: np.random.SeedSequence,
    *,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    n_groups: int,
    classifier: Any,
    seed: int,
) -> list[ColonRecord]:
    partition, group = divmod(replicate, n_groups)
    shuffled = np.random.default_rng([seed, partition]).permutation(X.shape[1])
    genes = np.array_split(shuffled, n_groups)[group]
    seeds = seed_of_ties.generate_state(len(y))
    methods: tuple[ColonMethod, ...] = ("corrected", "uncorrected")
    records = []
    for method in methods:
        model = clone(classifier).set_params(correct_selection=method == "corrected")
        probability, thresholds = _leave_one_out(model, X[:, genes], y, seeds)
        records.append(
            ColonRecord(
                partition=partition,
                group=group,
                method=method,
                **scores(y, probability),
                y=y.tolist(),
                probability=probability,
                thresholds=thresholds,
            )
        )
    return records


def _leave_one_out(
    model: Any,
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    seeds: NDArray[Any],
) -> tuple[list[float], list[float]]:
    """Predict each case from the others; the same seeds break the same ties for both methods."""
    probability, thresholds = [], []
    for case, seed in enumerate(seeds):
        others = np.arange(len(y)) != case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(random_state=int(seed)).fit(X[others], y[others])
        probability.append(float(model.predict_proba(X[case : case + 1])[0, 1]))
        thresholds.append(float(model.threshold_ or 0.0))
    return probability, thresholds


@dataclass(frozen=True)
class PairedTest:
    """A score of both methods over the groups of one partition, and the paired t test.

    ``p_value`` is None where the methods differ by the same in every group.
    """

    partition: int
    score: str
    corrected: float
    uncorrected: float
    n_better: int
    n_groups: int
    p_value: float | None


def paired_tests(records: Iterable[ColonRecord]) -> list[PairedTest]:
    """Compare the methods over groups: means, how often corrected is better, paired t test."""
    partitions: dict[int, list[ColonRecord]] = {}
    for record in records:
        partitions.setdefault(record.partition, []).append(record)
    tests = []
    for partition, group in partitions.items():
        for score in ("actual_error", "log_loss", "squared_error"):
            corrected, uncorrected = (
                np.array([getattr(r, score) for r in group if r.method == method])
                for method in ("corrected", "uncorrected")
            )
            tests.append(
                PairedTest(
                    partition,
                    score,
                    float(corrected.mean()),
                    float(uncorrected.mean()),
                    int(np.sum(corrected < uncorrected)),
                    corrected.size,
                    _p_value(corrected, uncorrected),
                )
            )
    return tests


def _p_value(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    if a.size < 2 or np.ptp(a - b) == 0:
        return None
    return float(ttest_rel(a, b).pvalue)
