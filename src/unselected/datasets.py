"""Simulated data: those of the paper, and a table as clinical studies have them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from unselected._typing import Floats
from unselected.models.bernoulli import BernoulliModel


class PaperSimulation(NamedTuple):
    """Training and test cases drawn from the paper's model, and their true parameters."""

    X_train: NDArray[np.uint8]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.int64]
    parameters: dict[str, Any]


def make_paper_simulation(
    n_train: int = 200,
    n_test: int = 2000,
    n_features: int = 10_000,
    *,
    concentration: float = 300.0,
    random_state: int | np.random.Generator | None = None,
) -> PaperSimulation:
    """Simulate data as in section 4 of the paper: binary features, weakly related to two classes.

    Parameters
    ----------
    n_train, n_test : int
        Numbers of training and test cases; half of each, rounded up, are in class 1.
    n_features : int
    concentration : float
        How alike the distributions of a feature are in the two classes (alpha in the paper).
    random_state : int, Generator or None

    Returns
    -------
    data : PaperSimulation

    Examples
    --------
    >>> data = make_paper_simulation(6, 4, 3, random_state=0)
    >>> data.X_train.shape, data.y_train.tolist(), data.y_test.tolist()
    ((6, 3), [0, 0, 0, 1, 1, 1], [0, 0, 1, 1])
    """
    if not concentration > 0.0:
        raise ValueError(f"concentration={concentration} is out of range: it must be above 0.")
    classes = [np.arange(n) >= n // 2 for n in (n_train, n_test)]
    X, y, parameters = BernoulliModel().simulate(
        n_train + n_test,
        n_features,
        np.random.default_rng(random_state),
        alpha=concentration,
        y=np.concatenate(classes),
    )
    return PaperSimulation(X[:n_train], y[:n_train], X[n_train:], y[n_train:], parameters)


class ClinicalCases(NamedTuple):
    """Expression of genes in patients, their diagnoses, and age, sex and batch by name."""

    X: NDArray[np.float64]
    y: NDArray[np.str_]
    covariates: dict[str, NDArray[Any]]


class ClinicalStudy(NamedTuple):
    """Training and new cases of one study, the names of the genes, and which are related."""

    train: ClinicalCases
    new: ClinicalCases
    names: list[str]
    related: NDArray[np.intp]


# Genes of one pathway are correlated, with this correlation within classes.
_PATHWAY, _CORRELATION = 10, 0.3
_BATCHES = ("b1", "b2", "b3")


def make_clinical_study(
    n_train: int = 400,
    n_new: int = 1000,
    n_features: int = 3000,
    *,
    n_related: int = 40,
    effect: float = 0.3,
    random_state: int | np.random.Generator | None = None,
) -> ClinicalStudy:
    """Simulate a clinical study: many genes of which few matter, covariates, and three batches.

    The diagnosis depends on age, sex and batch, because each hospital recruits its own patients and
    measures its own batch. Every gene is shifted by the batch and changes with age, and genes of
    one pathway are correlated, so that many genes look related to the diagnosis. Only ``n_related``
    are.

    Parameters
    ----------
    n_train, n_new : int
        Numbers of training cases and of new cases of the same kind.
    n_features : int
        Number of genes.
    n_related : int
        Number of genes whose mean differs between the classes, given the covariates.
    effect : float
        Mean size of these differences, in standard deviations within a class and batch.
    random_state : int, Generator or None

    Returns
    -------
    study : ClinicalStudy

    Examples
    --------
    >>> study = make_clinical_study(20, 2, 30, n_related=3, random_state=0)
    >>> study.train.X.shape, sorted(set(study.train.y.tolist())), list(study.new.covariates)
    ((20, 30), ['control', 'disease'], ['age', 'sex', 'batch'])
    """
    if not 0 <= n_related <= n_features:
        raise ValueError(f"n_related={n_related} is out of range: there are {n_features} genes.")
    rng = np.random.default_rng(random_state)
    population, related = _Population.drawn(n_features, n_related, effect, rng)
    names = [f"gene{j + 1}" for j in range(n_features)]
    return ClinicalStudy(
        population.cases(n_train, rng), population.cases(n_new, rng), names, related
    )


@dataclass(frozen=True, eq=False)
class _Population:
    """What the genes are like: their means, shifts of batches, slopes with age, and effects."""

    means: Floats
    shifts: Floats
    slopes: Floats
    effects: Floats

    @classmethod
    def drawn(
        cls, n_features: int, n_related: int, effect: float, rng: np.random.Generator
    ) -> tuple["_Population", NDArray[np.intp]]:
        """Return a population, and the genes that are related to the diagnosis."""
        related = np.sort(rng.choice(n_features, size=n_related, replace=False))
        effects = np.zeros(n_features)
        effects[related] = effect * rng.uniform(0.5, 1.5, size=n_related)
        effects[related] *= rng.choice([-1.0, 1.0], size=n_related)
        population = cls(
            means=rng.normal(7.0, 2.0, size=n_features),
            shifts=rng.normal(0.0, 0.5, size=(len(_BATCHES), n_features)),
            slopes=rng.normal(0.0, 0.015, size=n_features),
            effects=effects,
        )
        return population, related

    def cases(self, n: int, rng: np.random.Generator) -> ClinicalCases:
        """Return so many cases: covariates, the diagnosis given these, the genes given both."""
        age = rng.normal(62.0, 11.0, size=n).round()
        is_male = rng.random(n) < 0.5
        batch = rng.integers(len(_BATCHES), size=n)
        log_odds = -0.4 + 0.04 * (age - 62.0) + 0.3 * is_male + np.array([0.0, 0.7, -0.7])[batch]
        is_ill = rng.random(n) < expit(log_odds)
        X = self.means + self._noise(n, rng)
        X += self.shifts[batch] + self.slopes * (age - 62.0)[:, np.newaxis]
        X += self.effects * is_ill[:, np.newaxis]
        covariates = {
            "age": age,
            "sex": np.where(is_male, "male", "female"),
            "batch": np.array(_BATCHES)[batch],
        }
        return ClinicalCases(X.round(3), np.where(is_ill, "disease", "control"), covariates)

    def _noise(self, n: int, rng: np.random.Generator) -> Floats:
        """Return standard normal values, correlated within pathways."""
        p = self.means.size
        of_pathways = rng.normal(size=(n, -(-p // _PATHWAY))).repeat(_PATHWAY, axis=1)[:, :p]
        own = rng.normal(size=(n, p))
        return np.asarray(np.sqrt(_CORRELATION) * of_pathways + np.sqrt(1.0 - _CORRELATION) * own)
