"""What is frozen: estimators with their parameters, data and questions, each under a name.

Only public names are used, so that what is behind these can be moved around. Parameters, kinds of
data and kinds of input are spread over the table so that each of them, and most pairs, occur;
a full product would take hours.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from unselected import (
    SelectiveBernoulliNB,
    SelectiveFactorClassifier,
    SelectiveFactorRegressor,
    SelectiveGaussianNB,
    SelectiveMixtureClassifier,
    SelectiveNaiveRegressor,
    open_columns,
)

N_NEW = 8

# Questions beside predictions and fitted attributes. Those that take a fit for each case left out
# are put to some configurations only.
CHEAP = ("interval", "effects", "explain", "panel")
# Of binary features effects take most of the time.
WITHOUT_EFFECTS = ("interval", "explain", "panel")
LEFT_OUT = ("loo", "cv", "frequency")
# Those that regressors answer.
LINE_LEFT_OUT = ("loo", "frequency")
FEW = {"n": 14, "p": 40}


@dataclass(frozen=True)
class Configuration:
    """An estimator, its data, and what is asked of it once it is fitted."""

    name: str
    estimator: type[Any]
    options: dict[str, Any]
    data: str
    data_options: dict[str, Any] = field(default_factory=dict)
    given_as: str = "array"
    asks: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Data:
    """Training cases and new ones, in the kind of input that the configuration asks for."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any
    plain_new: Any


def make_data(configuration, folder):
    """Return the data of a configuration; files are written to the folder."""
    X, y = DATA[configuration.data](**configuration.data_options)
    train, new = X[:-N_NEW], X[-N_NEW:]
    give = GIVEN_AS[configuration.given_as]
    return Data(
        X=give(train, folder, "train"),
        y=y[:-N_NEW],
        X_new=give(new, folder, "new"),
        y_new=y[-N_NEW:],
        plain_new=new,
    )


def bits(seed=0, n=32, p=120, shared=False, labels=(0, 1), copies=False):
    """Binary features, of which the first eight are related to the class.

    With ``shared`` ten features go together within classes; with ``copies`` many features are tied.
    """
    rng = np.random.default_rng(seed)
    n += N_NEW
    y = rng.permutation(np.arange(n) % 2)
    rate = np.tile(rng.uniform(0.25, 0.75, p), (n, 1))
    rate[:, :8] += np.outer(y - 0.5, rng.uniform(0.2, 0.5, min(p, 8)))
    X = (rng.random((n, p)) < rate).astype(np.uint8)
    if shared:
        X[:, :10] = X[:, :1] ^ (rng.random((n, 10)) < 0.15)
    if copies:
        X[:, p // 2 :] = X[:, : p - p // 2]
    return X, np.array(labels)[y]


def reals(seed=0, n=32, p=100, classes=2, shared=False, missing=0.0, labels=None, copies=False):
    """Real-valued features, of which the first eight are related to the class."""
    rng = np.random.default_rng(seed)
    n += N_NEW
    y = rng.permutation(np.arange(n) % classes)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2.0, p) + rng.normal(size=p)
    X[:, :8] += rng.normal(size=(classes, 8))[y]
    if shared:
        X[:, :10] += 2.0 * rng.normal(size=(n, 1))
    if copies:
        X[:, p // 2 :] = X[:, : p - p // 2]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y if labels is None else np.array(labels)[y]


def numbers(seed=0, n=32, p=100, missing=0.0, copies=False):
    """Real-valued features, of which the first eight are related to a response of numbers."""
    rng = np.random.default_rng(seed)
    n += N_NEW
    y = 3.0 + 2.0 * rng.normal(size=n)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    X[:, :8] += np.outer(y, rng.uniform(0.1, 0.6, 8))
    if copies:
        X[:, p // 2 :] = X[:, : p - p // 2]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def counts(seed=0, n=32, p=100, classes=2):
    """Small counts, most of them 0, of which the first eight are related to the class."""
    rng = np.random.default_rng(seed)
    n += N_NEW
    y = rng.permutation(np.arange(n) % classes)
    rate = np.tile(rng.uniform(0.1, 0.8, p), (n, 1))
    rate[:, :8] += rng.uniform(0.0, 1.0, size=(classes, 8))[y]
    return rng.poisson(rate).astype(np.float64), y


def kept_bits(seed=0, n=32, p=120, k=6):
    """The columns that somebody kept by their correlation with the class, and no others."""
    X, y = bits(seed, n, p)
    return X[:, strongest(X, y, k)], y


def kept_reals(seed=0, n=32, p=100, k=6):
    """Return the same of real-valued features and two classes."""
    X, y = reals(seed, n, p)
    return X[:, strongest(X, y, k)], y


def kept_numbers(seed=0, n=32, p=100, k=6):
    """Return the same of a response of numbers."""
    X, y = numbers(seed, n, p)
    return X[:, strongest(X, y, k)], y


def strongest(X, y, k):
    """Return the columns most correlated with the response of the training cases."""
    X, y = X[:-N_NEW].astype(float), y[:-N_NEW] - np.mean(y[:-N_NEW])
    X = X - X.mean(axis=0)
    return np.sort(np.argsort(-np.abs(y @ X) / np.sqrt(np.sum(X**2, axis=0)))[:k])


DATA = {
    "bits": bits,
    "reals": reals,
    "numbers": numbers,
    "counts": counts,
    "kept_bits": kept_bits,
    "kept_reals": kept_reals,
    "kept_numbers": kept_numbers,
}


def as_frame(X, *_):
    """Return a table with names, some of them no identifiers."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=column_names(X.shape[1]))


def column_names(p):
    """Return the names of columns wherever these have names."""
    return [f"gene {j}" if j % 2 else f"g_{j}" for j in range(p)]


def as_dask(X, *_):
    """Return an array in blocks that fit neither rows nor columns."""
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(13, 35))


def as_npy(X, folder, name):
    """Return columns of a file."""
    np.save(folder / f"{name}.npy", X)
    return open_columns(folder / f"{name}.npy")


def as_npz(X, folder, name):
    """Return columns of a sparse matrix in a file."""
    sparse.save_npz(folder / f"{name}.npz", sparse.csc_array(X))
    return open_columns(folder / f"{name}.npz")


def as_parquet(X, folder, name):
    """Return columns, with names, of a file."""
    pytest.importorskip("pyarrow")
    as_frame(X).to_parquet(folder / f"{name}.parquet")
    return open_columns(folder / f"{name}.parquet")


GIVEN_AS = {
    "array": lambda X, *_: X,
    "fortran": lambda X, *_: np.asfortranarray(X),
    "bool": lambda X, *_: X.astype(bool),
    "int64": lambda X, *_: X.astype(np.int64),
    "float32": lambda X, *_: X.astype(np.float32),
    "list": lambda X, *_: X.tolist(),
    "csr": lambda X, *_: sparse.csr_array(X),
    "csc": lambda X, *_: sparse.csc_array(X),
    "frame": as_frame,
    "dask": as_dask,
    "npy": as_npy,
    "npz": as_npz,
    "parquet": as_parquet,
}

BITS, REAL, LINE = SelectiveBernoulliNB, SelectiveGaussianNB, SelectiveNaiveRegressor
MIXTURE = SelectiveMixtureClassifier
FACTOR_CLASS, FACTOR_LINE = SelectiveFactorClassifier, SelectiveFactorRegressor

# Chains too short to be of use, and so few steps that numpy is used also where numba is installed.
SHORT = {"n_draws": 12, "n_warmup": 8, "n_chains": 2, "random_state": 5}
STORE = {"store_scores": True}
WORDS = ("normal", "tumour")
THREE = ("high", "low", "none")

C = Configuration
CONFIGURATIONS = [
    # Binary features: priors and dependence.
    C(
        "bernoulli-common",
        BITS,
        {"k": 6},
        "bits",
        asks=(*CHEAP, *LEFT_OUT, "dependence", "loo_score"),
    ),
    C(
        "bernoulli-sparse",
        BITS,
        {"k": 3, "prior": "sparse"},
        "bits",
        {"n": 10, "p": 40},
        asks=(*CHEAP, "loo", "frequency"),
    ),
    C(
        "bernoulli-tempered",
        BITS,
        {"k": 6, "dependence": "tempered"},
        "bits",
        {"seed": 1, "shared": True, **FEW},
        asks=(*WITHOUT_EFFECTS, "loo", "dependence"),
    ),
    C(
        "bernoulli-correlated",
        BITS,
        {"k": 6, "dependence": "correlated"},
        "bits",
        {"seed": 1, "shared": True, "n": 24},
        asks=(*WITHOUT_EFFECTS, "cv", "dependence"),
    ),
    C(
        "bernoulli-sparse-tempered",
        BITS,
        {"k": 6, "prior": "sparse", "dependence": "tempered"},
        "bits",
        {"seed": 2, "shared": True, "n": 24, "p": 60},
        asks=("explain",),
    ),
    C(
        "bernoulli-sparse-correlated",
        BITS,
        {"k": 6, "prior": "sparse", "dependence": "correlated"},
        "bits",
        {"seed": 2, "shared": True, "n": 24, "p": 60},
        asks=("explain",),
    ),
    # Binary features: rules of selection.
    C(
        "bernoulli-threshold",
        BITS,
        {"threshold": 0.35, **STORE},
        "bits",
        asks=(*WITHOUT_EFFECTS, "loo"),
    ),
    C("bernoulli-threshold-sparse", BITS, {"threshold": 0.35, "prior": "sparse"}, "bits"),
    C("bernoulli-threshold-empty", BITS, {"threshold": 0.95}, "bits", asks=("loo", "effects")),
    C("bernoulli-all", BITS, {}, "bits", {"p": 20}, asks=(*WITHOUT_EFFECTS, "loo")),
    C("bernoulli-loo", BITS, {"k": "loo"}, "bits", {"n": 24, "p": 60}, asks=("interval",)),
    C("bernoulli-loo-nested", BITS, {"k": "loo"}, "bits", {"n": 8, "p": 6}, asks=("loo",)),
    C("bernoulli-loo-sparse", BITS, {"k": "loo", "prior": "sparse"}, "bits", {"n": 8, "p": 4}),
    C(
        "bernoulli-preselected",
        BITS,
        {"preselected_from": 120},
        "kept_bits",
        asks=(*WITHOUT_EFFECTS, "loo"),
    ),
    C(
        "bernoulli-preselected-threshold",
        BITS,
        {"preselected_from": 10**6, "threshold": 0.2, "prior": "sparse"},
        "kept_bits",
        asks=WITHOUT_EFFECTS,
    ),
    C("bernoulli-always-keep", BITS, {"k": 4, "always_keep": [3, 90]}, "bits", asks=LEFT_OUT),
    C(
        "bernoulli-ties-random",
        BITS,
        {"k": 5, "ties": "random", "random_state": 3, **STORE},
        "bits",
        {"copies": True},
        asks=(*WITHOUT_EFFECTS, *LEFT_OUT),
    ),
    C("bernoulli-ties-first", BITS, {"k": 5}, "bits", {"copies": True}, asks=("loo", "k_path")),
    C(
        "bernoulli-ties-random-tempered",
        BITS,
        {"k": 4, "ties": "random", "random_state": 4, "dependence": "tempered"},
        "bits",
        {"copies": True, "seed": 3, "n": 24, "p": 60},
    ),
    C(
        "bernoulli-uncorrected",
        BITS,
        {"k": 6, "correct_selection": False},
        "bits",
        asks=WITHOUT_EFFECTS,
    ),
    # Binary features: the model, cuts and kinds of input.
    C("bernoulli-paper", BITS, {"k": 6, "quadrature": "paper"}, "bits", asks=(*CHEAP, *LEFT_OUT)),
    C(
        "bernoulli-paper-tempered",
        BITS,
        {"k": 6, "quadrature": "paper", "dependence": "tempered", "ties": "random"}
        | {"random_state": 1},
        "bits",
        {"copies": True},
    ),
    C(
        "bernoulli-priors",
        BITS,
        {"k": 6, "class_pseudocounts": (0.5, 2.0), "concentration_prior": (1.5, 3.0)},
        "bits",
        {"labels": (-1, 4)},
        asks=("interval",),
    ),
    C(
        "bernoulli-median",
        BITS,
        {"k": 6, "binarize": "median"},
        "reals",
        asks=(*WITHOUT_EFFECTS, *LEFT_OUT),
    ),
    C("bernoulli-auto-reals", BITS, {"k": 6}, "reals", {"seed": 4}, "fortran", ("loo", "panel")),
    C("bernoulli-cut", BITS, {"k": 6, "binarize": 0.7, **STORE}, "reals", asks=("loo", "panel")),
    C("bernoulli-cut-csr", BITS, {"k": 6, "binarize": 1.5}, "counts", {}, "csr", ("loo", "panel")),
    C("bernoulli-auto-csc", BITS, {"k": 6}, "counts", {}, "csc", ("cv", "transform")),
    C("bernoulli-none-bool", BITS, {"k": 6, "binarize": None}, "bits", {}, "bool", ("transform",)),
    C("bernoulli-float32", BITS, {"k": 6}, "reals", {"seed": 5}, "float32", ("transform",)),
    C("bernoulli-lists", BITS, {"k": 6}, "bits", {"n": 24, "p": 60}, "list"),
    C(
        "bernoulli-frame",
        BITS,
        {"k": 4, "always_keep": ["gene 7"], **STORE},
        "bits",
        {"labels": WORDS},
        "frame",
        (*WITHOUT_EFFECTS, "transform", "loo"),
    ),
    C("bernoulli-dask", BITS, {"k": 6}, "bits", {}, "dask", ("loo", "transform")),
    C("bernoulli-dask-reals", BITS, {"k": 6, "dependence": "tempered"}, "reals", {}, "dask"),
    C("bernoulli-npy", BITS, {"k": 6}, "bits", {}, "npy", ("loo", "frequency")),
    C("bernoulli-npz", BITS, {"threshold": 0.3}, "bits", {}, "npz", ("cv",)),
    C("bernoulli-parquet", BITS, {"k": 6}, "bits", {"labels": WORDS}, "parquet", ("panel",)),
    # Real-valued features, classes.
    C(
        "gaussian-common",
        REAL,
        {"k": 6},
        "reals",
        asks=(*CHEAP, *LEFT_OUT, "k_path", "dependence", "loo_score"),
    ),
    C(
        "gaussian-sparse",
        REAL,
        {"k": 3, "prior": "sparse"},
        "reals",
        {"n": 10, "p": 40},
        asks=(*CHEAP, "loo", "frequency"),
    ),
    C(
        "gaussian-tempered",
        REAL,
        {"k": 6, "dependence": "tempered"},
        "reals",
        {"seed": 1, "shared": True, **FEW},
        asks=(*CHEAP, "loo", "dependence"),
    ),
    C(
        "gaussian-correlated",
        REAL,
        {"k": 6, "dependence": "correlated"},
        "reals",
        {"seed": 1, "shared": True, "n": 24},
        asks=(*CHEAP, "dependence"),
    ),
    C(
        "gaussian-sparse-tempered-missing",
        REAL,
        {"k": 3, "prior": "sparse", "dependence": "tempered"},
        "reals",
        {"seed": 2, "missing": 0.03, "n": 20, "p": 30},
        asks=("explain",),
    ),
    C(
        "gaussian-sparse-correlated",
        REAL,
        {"k": 4, "prior": "sparse", "dependence": "correlated"},
        "reals",
        {"seed": 2, "shared": True, "n": 24, "p": 60},
        asks=("explain",),
    ),
    C(
        "gaussian-three-classes",
        REAL,
        {"k": 6, **STORE},
        "reals",
        {"classes": 3, "labels": THREE, "n": 36},
        asks=(*CHEAP, *LEFT_OUT, "k_path"),
    ),
    C(
        "gaussian-three-classes-correlated",
        REAL,
        {"k": 5, "dependence": "correlated"},
        "reals",
        {"classes": 3, "labels": THREE, "n": 36, "shared": True},
        "frame",
        asks=(*CHEAP, "dependence"),
    ),
    C(
        "gaussian-four-classes-sparse-missing",
        REAL,
        {"k": 3, "prior": "sparse"},
        "reals",
        {"classes": 4, "n": 24, "p": 60, "missing": 0.04},
        asks=("effects", "explain"),
    ),
    C("gaussian-threshold", REAL, {"threshold": 0.3}, "reals", asks=(*CHEAP, "loo")),
    C("gaussian-threshold-f", REAL, {"threshold": 5.0}, "reals", {"classes": 3}, asks=("loo",)),
    C("gaussian-all", REAL, {}, "reals", {"p": 12, "missing": 0.05}, asks=(*CHEAP, "loo")),
    C("gaussian-loo", REAL, {"k": "loo"}, "reals", {"n": 24, "p": 60}, asks=("effects",)),
    C(
        "gaussian-preselected",
        REAL,
        {"preselected_from": 100, "dependence": "tempered"},
        "kept_reals",
        asks=CHEAP,
    ),
    C(
        "gaussian-always-keep-frame",
        REAL,
        {"k": 4, "always_keep": ["g_50", "gene 51"], "dependence": "tempered"},
        "reals",
        {"labels": WORDS},
        "frame",
        (*CHEAP, "transform"),
    ),
    C(
        "gaussian-ties-random",
        REAL,
        {"k": 5, "ties": "random", "random_state": 3},
        "reals",
        {"copies": True},
        asks=(*CHEAP, *LEFT_OUT),
    ),
    C(
        "gaussian-uncorrected",
        REAL,
        {"k": 6, "correct_selection": False, "class_pseudocounts": (2.0, 0.5)},
        "reals",
        {"missing": 0.03},
        asks=CHEAP,
    ),
    C(
        "gaussian-shrinkage",
        REAL,
        {"k": 6, "variance_shrinkage": 4.0, "concentration_prior": (1.0, 2.0)},
        "reals",
        FEW,
        asks=(*CHEAP, "frequency"),
    ),
    C(
        "gaussian-shrinkage-correlated",
        REAL,
        {"k": 6, "variance_shrinkage": 10.0, "dependence": "correlated"},
        "reals",
        {"seed": 6, "shared": True, "missing": 0.02, "n": 24, "p": 60},
    ),
    C("gaussian-fortran-float32", REAL, {"k": 6}, "reals", {"seed": 3}, "float32", ("loo",)),
    C("gaussian-csr", REAL, {"k": 6}, "counts", {"classes": 3, "n": 36}, "csr", ("loo",)),
    C("gaussian-csc-sparse", REAL, {"k": 6, "prior": "sparse"}, "counts", {}, "csc", ("panel",)),
    C("gaussian-dask", REAL, {"k": 6}, "reals", {"missing": 0.03}, "dask", ("loo",)),
    C("gaussian-npy", REAL, {"k": 6, "dependence": "tempered"}, "reals", {}, "npy"),
    C("gaussian-npz", REAL, {"k": 6}, "counts", {}, "npz", ("frequency",)),
    C("gaussian-int", REAL, {"k": 6}, "counts", {"seed": 2}, "int64"),
    # Real-valued features, a response of numbers.
    C(
        "regression-common",
        LINE,
        {"k": 6, **STORE},
        "numbers",
        asks=("effects", "panel", *LINE_LEFT_OUT, "k_path", "loo_score"),
    ),
    C(
        "regression-sparse",
        LINE,
        {"k": 4, "prior": "sparse"},
        "numbers",
        {"n": 24, "p": 60},
        asks=("effects", "frequency"),
    ),
    C("regression-threshold", LINE, {"threshold": 0.4}, "numbers", asks=("effects", "panel")),
    C(
        "regression-all",
        LINE,
        {},
        "numbers",
        {"n": 16, "p": 12, "missing": 0.05},
        asks=("effects", "loo"),
    ),
    C("regression-loo", LINE, {"k": "loo"}, "numbers", {"n": 8, "p": 8}, asks=("effects",)),
    C(
        "regression-preselected",
        LINE,
        {"preselected_from": 100},
        "kept_numbers",
        asks=("effects", "panel"),
    ),
    C(
        "regression-always-keep-frame",
        LINE,
        {"k": 4, "always_keep": ["gene 31"]},
        "numbers",
        {"missing": 0.04, "n": 24, "p": 60},
        "frame",
        ("effects", "panel", "transform"),
    ),
    C(
        "regression-ties-random",
        LINE,
        {"k": 5, "ties": "random", "random_state": 2},
        "numbers",
        {"copies": True, **FEW},
        asks=("loo", "frequency"),
    ),
    C(
        "regression-uncorrected",
        LINE,
        {"k": 6, "correct_selection": False},
        "numbers",
        asks=("effects", "panel"),
    ),
    C(
        "regression-shrinkage",
        LINE,
        {"k": 6, "variance_shrinkage": 5.0},
        "numbers",
        asks=("effects", "frequency"),
    ),
    C("regression-fortran", LINE, {"k": 6}, "numbers", {"seed": 2}, "fortran"),
    C("regression-csr", LINE, {"k": 6}, "numbers", {"seed": 3}, "csr", ("panel",)),
    C("regression-dask", LINE, {"k": 6}, "numbers", {"missing": 0.03}, "dask", ("effects",)),
    C("regression-npy", LINE, {"k": 6, "prior": "sparse"}, "numbers", {}, "npy"),
    # Mixtures of two groups.
    C("mixture-common", MIXTURE, {"k": 5, **SHORT}, "bits", {"shared": True}),
    C("mixture-uncorrected", MIXTURE, {"k": 5, "correct_selection": False, **SHORT}, "bits"),
    C(
        "mixture-ignore-labels",
        MIXTURE,
        {"k": 5, "adjust_labels": "ignore", "response_prior": (1.0, 2.0), **SHORT},
        "bits",
        {"n": 24, "p": 60, "labels": WORDS},
        "frame",
        ("transform",),
    ),
    C(
        "mixture-threshold-median",
        MIXTURE,
        {"threshold": 0.35, "binarize": "median", **STORE, **SHORT},
        "reals",
        {"n": 24, "p": 60},
    ),
    C(
        "mixture-ties-random-csr",
        MIXTURE,
        {"k": 4, "ties": "random", "always_keep": [50], **SHORT},
        "bits",
        {"n": 24, "p": 60, "copies": True},
        "csr",
    ),
    C("mixture-preselected", MIXTURE, {"preselected_from": 120, **SHORT}, "kept_bits"),
    C("mixture-all", MIXTURE, {**SHORT, "n_chains": 1}, "bits", {"n": 24, "p": 8}, "npy"),
    # Latent factors.
    C("factor-classes", FACTOR_CLASS, {"k": 5, **SHORT}, "reals", {"shared": True}),
    C(
        "factor-classes-two",
        FACTOR_CLASS,
        {"k": 5, "n_factors": 2, "ties": "random", **SHORT},
        "reals",
        {"labels": WORDS, "copies": True},
        "frame",
    ),
    C(
        "factor-classes-threshold",
        FACTOR_CLASS,
        {"threshold": 0.35, "concentration_prior": (1.0, 4.0), **STORE, **SHORT},
        "reals",
        {"seed": 3},
        "npy",
    ),
    C(
        "factor-classes-uncorrected",
        FACTOR_CLASS,
        {"k": 5, "correct_selection": False, **SHORT},
        "reals",
    ),
    C("factor-classes-preselected", FACTOR_CLASS, {"preselected_from": 100, **SHORT}, "kept_reals"),
    C("factor-regression", FACTOR_LINE, {"k": 5, **SHORT}, "numbers"),
    C(
        "factor-regression-choice",
        FACTOR_LINE,
        {"k": 4, "n_factors": (1, 2), **SHORT, "n_draws": 6, "n_warmup": 2, "n_chains": 1},
        "numbers",
        {"n": 24, "p": 60},
    ),
    C(
        "factor-regression-always-keep",
        FACTOR_LINE,
        {"k": 4, "always_keep": [40], "correct_selection": False, **SHORT},
        "numbers",
        {"seed": 2},
        "dask",
    ),
    C("factor-regression-all", FACTOR_LINE, {**SHORT, "n_chains": 1}, "numbers", {"p": 8}),
    C(
        "factor-regression-compiled",
        FACTOR_LINE,
        {"k": 5, **SHORT, "n_draws": 90, "n_warmup": 40},
        "numbers",
        {"n": 24, "p": 60},
        needs=("numba",),
    ),
]
