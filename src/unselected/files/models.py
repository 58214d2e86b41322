"""The model file: versioned JSON with the counts or sums, the event, the priors; no code.

What a file says is checked entry by entry. The posterior is computed again from it when first
needed, so that a model predicts from its file what it predicted before, to the last bit.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unselected._typing import Floats
from unselected.files.codecs import (
    MOST_FEATURES,
    Entries,
    Kept,
    bernoulli_entries,
    check_score,
    gaussian_entries,
    names_entry,
    parse_bernoulli,
    parse_gaussian,
    parse_regression,
    regression_entries,
)
from unselected.files.json_checks import (
    Fault,
    check_choice,
    check_list,
    check_plain,
    check_record,
    check_whole,
    entry_line,
    read_json,
)
from unselected.files.writing import write_text
from unselected.fitted.effects import FeatureEffects, feature_effects
from unselected.fitted.explanations import proba_interval
from unselected.fitted.naive_bayes import KeptBernoulli, KeptGaussian, KeptRegression, real_rows
from unselected.fitted.prevalence import log_prevalence
from unselected.numerics.quadrature import log_sum
from unselected.selection.events import Statistic

_FORMAT, _VERSION = "unselected model", 1
_MOST_BYTES = 1 << 28
K = TypeVar("K", bound=Kept)


class ModelError(ValueError):
    """A model file cannot be used, or a model cannot be saved; the message says why."""


@dataclass(frozen=True, eq=False)
class SavedModel(Generic[K]):
    """A model read from its file; numpy and scipy are enough to predict with it.

    Attributes
    ----------
    kept : KeptBernoulli, KeptGaussian or KeptRegression
        What was counted of the kept features, the event, and the model.
    selection : dict
        ``rule``, ``ties``, ``threshold``, ``statistic``, ``n_features``, ``n_omitted``, and
        ``scores``, the absolute correlations (or F statistics) of the kept features.
    provenance : dict
        Where the model comes from, as it was given to `save_model`.
    """

    kept: K
    selection: dict[str, Any]
    provenance: dict[str, Any]

    @property
    def kind(self) -> str:
        """One of "bernoulli", "gaussian" and "regression"."""
        return next(name for name, kind in _KINDS.items() if isinstance(self.kept, kind.holds))

    def feature_effects(self, *, level: float = 0.9) -> FeatureEffects:
        """Return the kept features with their effects, at face value and under the posterior.

        Features without names are numbered as the columns that the model needs.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the intervals.
        """
        self._check_posterior()
        names = self.kept.names
        return feature_effects(
            self.kept,
            features=np.arange(self.kept.n_columns) if names is None else names,
            scores=self.selection["scores"],
            threshold=self.selection["threshold"],
            level=level,
        )

    def _checked(self, X: ArrayLike) -> NDArray[Any]:
        """Return rows of the kept columns, once these and the model's numbers are in order."""
        self._check_posterior()
        values, k = np.asarray(X), self.kept.n_columns
        if values.ndim != 2 or values.shape[1] != k:
            raise ValueError(
                f"X has the shape {values.shape}, but the model needs rows of its {k} kept columns."
            )
        if values.dtype.kind not in "buif":
            raise ValueError(f"X has the type {values.dtype}, but the model needs numbers.")
        return values

    def _check_posterior(self) -> None:
        """Compute the posterior, unless that is done; numbers of a file may have none."""
        try:
            with np.errstate(all="ignore"):
                posterior: Any = self.kept.posterior
        except (ArithmeticError, ValueError) as error:
            raise ModelError(f"The model's numbers do not go together: {error}.") from error
        features = getattr(posterior, "features", posterior)
        if not np.all(np.isfinite([features.log_alpha, features.log_weights])):
            raise ModelError("The model's numbers do not go together: they have no posterior.")

    def _label(self, column: int) -> str:
        names = self.kept.names
        return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


class SavedClassifier(SavedModel[KeptBernoulli | KeptGaussian]):
    """A classifier read from its file; see `SavedModel`."""

    def predict_log_proba(self, X: ArrayLike, *, prevalence: Any = None) -> Floats:
        """Return the log of the predictive probabilities, one column per class.

        Parameters
        ----------
        X : array of shape (n_samples, k)
            The kept columns, in the order of ``kept.names``: booleans or numbers.
        prevalence : mapping, sequence of float, or float, default=None
            Class probabilities in place of those of the training set: by class label, in the order
            of ``kept.classes``, or, of two classes, that of the second.

        Returns
        -------
        log_proba : array of shape (n_samples, n_classes)
            In the order of ``kept.classes``.
        """
        log_prior = None if prevalence is None else self._log_prior(prevalence)
        log_joint = self.kept.log_joint(self._checked(X), self._label, log_prior)
        return np.asarray(log_joint - log_sum(log_joint, axis=1)[:, np.newaxis])

    def predict_proba(self, X: ArrayLike, *, prevalence: Any = None) -> Floats:
        """Return the predictive probabilities, one column per class; see `predict_log_proba`."""
        return np.exp(self.predict_log_proba(X, prevalence=prevalence))

    def predict_proba_interval(
        self, X: ArrayLike, *, level: float = 0.9, prevalence: Any = None
    ) -> tuple[Floats, Floats]:
        """Return lower and upper ends of the probabilities over the posterior.

        See the method of the classifiers; ``prevalence`` is that of `predict_log_proba`.
        """
        rows, log_psi = self._checked(X), self._log_prior(prevalence)
        return proba_interval(self.kept, rows, self._label, log_psi, level)

    def _log_prior(self, prevalence: Any) -> Floats:
        if prevalence is None:
            return self.kept.log_psi
        return log_prevalence(prevalence, self.kept.classes)


class SavedRegressor(SavedModel[KeptRegression]):
    """A regressor read from its file; see `SavedModel`."""

    def predict(self, X: ArrayLike, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Return the means of the predictive distributions, and their standard deviations.

        Parameters
        ----------
        X : array of shape (n_samples, k)
            The kept columns, in the order of ``kept.names``: numbers, NaN where missing.
        return_std : bool, default=False
            Return the standard deviations too, as scikit-learn does.

        Returns
        -------
        mean : array of shape (n_samples,)
        std : array of shape (n_samples,)
            Only with ``return_std``.
        """
        rows = self._rows(X)
        mean, std = self.kept.posterior.mean_and_std(rows)
        return (mean, std) if return_std else mean

    def predict_quantiles(self, X: ArrayLike, quantiles: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Return quantiles of the predictive distributions, shape (n_samples, n_quantiles).

        Parameters
        ----------
        X : array of shape (n_samples, k)
        quantiles : sequence of float, default=(0.05, 0.5, 0.95)
            Each above 0 and below 1.
        """
        rows = self._rows(X)
        return self.kept.posterior.quantiles(rows, quantiles)

    def _rows(self, X: ArrayLike) -> Floats:
        return real_rows(self._checked(X), self._label)


@dataclass(frozen=True)
class _Kind:
    """How a kind of model is written and read."""

    holds: type[Kept]
    entries: Callable[[Any], Entries]
    parse: Callable[[Entries], Kept]
    keys: tuple[str, ...]
    saved: Callable[[Any, Entries, Entries], SavedClassifier | SavedRegressor]
    optional: tuple[str, ...] = ()


_REAL = ("moments", "event", "priors", "quadrature")
_KINDS = {
    "bernoulli": _Kind(
        KeptBernoulli,
        bernoulli_entries,
        parse_bernoulli,
        ("classes", "counts", "thresholds", "binarize", "event", "priors", "quadrature"),
        SavedClassifier,
        optional=("tempering", "weighing"),
    ),
    "gaussian": _Kind(
        KeptGaussian,
        gaussian_entries,
        parse_gaussian,
        ("classes", "pseudocounts", *_REAL),
        SavedClassifier,
        optional=("tempering", "weighing"),
    ),
    "regression": _Kind(
        KeptRegression, regression_entries, parse_regression, ("y_mean", *_REAL), SavedRegressor
    ),
}


def save_model(
    kept: Kept,
    path: str | os.PathLike[str],
    *,
    selection: dict[str, Any],
    provenance: dict[str, Any],
    overwrite: bool = False,
) -> None:
    """Write a model to a file that `load_model` reads, as `write_text` writes.

    Parameters
    ----------
    kept : KeptBernoulli, KeptGaussian or KeptRegression
    path : str or path
        "-" is standard output.
    selection : dict
        ``rule``, ``ties``, ``threshold``, ``statistic``, ``n_features``, ``n_omitted`` and
        ``scores``, as in `SavedModel`.
    provenance : dict
        Whatever JSON can hold; ``provenance["unselected"]`` is the version that made the model.
    overwrite : bool, default=False

    Raises
    ------
    ModelError
        Where the model could not be read back; nothing is written.
    """
    try:
        document = _document(kept, selection, provenance)
        lines = [entry_line(key, document[key]) for key in document]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        _parse(text.encode("ascii"))
    except Fault as fault:
        raise ModelError(f"The model cannot be saved: {fault}") from None
    write_text(path, text, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> SavedClassifier | SavedRegressor:
    """Read a model from a file that `save_model` wrote.

    Nothing in the file is executed, whatever it says, and every entry is checked.

    Raises
    ------
    ModelError
        Where the file is damaged, no model at all, or of a version that is not known yet.
    """
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    try:
        return _parse(content)
    except Fault as fault:
        raise ModelError(f"{os.fspath(path)} cannot be used as a model: {fault}") from None


def _document(kept: Kept, selection: dict[str, Any], provenance: dict[str, Any]) -> Entries:
    name, kind = next(pair for pair in _KINDS.items() if isinstance(kept, pair[1].holds))
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": name,
        "names": names_entry(kept.names),
        **kind.entries(kept),
        "selection": selection,
        "provenance": provenance,
    }


def _parse(content: bytes) -> SavedClassifier | SavedRegressor:
    if len(content) > _MOST_BYTES:
        raise Fault(f"it has more than {_MOST_BYTES} bytes.")
    document = _check_format(read_json(content))
    kind = _KINDS[document["kind"]]
    common = ("format", "version", "kind", "names", "selection", "provenance")
    check_record(document, "the file", (*common, *kind.keys), kind.optional)
    kept = kind.parse(document)
    selection = _parse_selection(document["selection"], kept)
    return kind.saved(kept, selection, _parse_provenance(document["provenance"]))


def _check_format(document: object) -> Entries:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise Fault(f'it does not say "format": "{_FORMAT}".')
    version = check_whole(document.get("version"), "version", 1, 10**6)
    if version > _VERSION:
        raise Fault(
            f"it has the format version {version}, and this version of unselected reads only "
            f"{_VERSION}. {_who_reads(document)}"
        )
    check_choice(document.get("kind"), "kind", tuple(_KINDS))
    return document


def _who_reads(document: Entries) -> str:
    provenance = document.get("provenance")
    maker = provenance.get("unselected") if isinstance(provenance, dict) else None
    if isinstance(maker, str) and re.fullmatch(r"[0-9A-Za-z.+]{1,40}", maker):
        return f'Install unselected {maker} or newer: pip install "unselected>={maker}".'
    return "Install a newer version: pip install --upgrade unselected."


def _parse_selection(entry: object, kept: Kept) -> dict[str, Any]:
    names = ("rule", "ties", "threshold", "n_features", "n_omitted", "scores")
    statistic, k = _statistic(kept), kept.n_columns
    counted = isinstance(kept, KeptBernoulli)  # such files did not tell the statistic at first
    needed = names if counted else (*names, "statistic")
    fields = check_record(entry, "selection", needed, optional=("statistic",))
    check_choice(fields.get("statistic", statistic), "selection statistic", (statistic,))
    n_features = check_whole(fields["n_features"], "selection n_features", k, MOST_FEATURES)
    omitted, ties, threshold = n_features - k, fields["ties"], fields["threshold"]
    scores = check_list(fields["scores"], "selection scores", k)
    selection = {
        "rule": check_choice(fields["rule"], "selection rule", ("top k", "threshold", "all")),
        "ties": None if ties is None else check_choice(ties, "selection ties", ("first", "random")),
        "threshold": None
        if threshold is None
        else check_score(threshold, "selection threshold", statistic),
        "statistic": statistic,
        "n_features": n_features,
        "n_omitted": check_whole(fields["n_omitted"], "selection n_omitted", omitted, omitted),
        "scores": [check_score(score, "selection scores", statistic) for score in scores],
    }
    told = kept.event.n_omitted
    # Of real-valued features constant ones are omitted without the event speaking of them.
    if told > omitted or (counted and told not in (0, omitted)):
        raise Fault(
            f"event speaks of {told} omitted features, but selection n_omitted is {omitted}."
        )
    return selection


def _statistic(kept: Kept) -> Statistic:
    return "|COR|" if isinstance(kept, KeptBernoulli) else kept.event.statistic


def _parse_provenance(entry: object) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("unselected"), str):
        raise Fault('provenance does not say "unselected": the version that made the model.')
    check_plain(entry, "provenance")
    return entry
