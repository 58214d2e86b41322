"""The model file: versioned JSON with the counts or sums, the event, the priors; no code.

Every entry of a file is checked. The posterior is computed again from the entries when it is first
needed, so that a loaded model gives the same predictions, to the last bit.
"""

import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected import __version__
from unselected.dependence.averaging import LikelihoodAverage
from unselected.files.writing import write_text
from unselected.fitted.adjusted_bits import FittedAdjustedBits
from unselected.fitted.adjusted_gaussian import FittedAdjustedGaussian
from unselected.fitted.adjusted_regression import FittedAdjustedRegression
from unselected.fitted.base import Fitted, GuardedClasses
from unselected.fitted.bernoulli import FittedBernoulli
from unselected.fitted.effects import FeatureEffects, feature_effects
from unselected.fitted.factor import FittedFactorClasses, FittedFactorResponse
from unselected.fitted.gaussian import FittedGaussian
from unselected.fitted.genotype import FittedGenotypes
from unselected.fitted.json_checks import (
    Entries,
    Fault,
    check_choice,
    check_list,
    check_plain,
    check_record,
    check_whole,
    entry_line,
    read_json,
)
from unselected.fitted.json_parts import MOST_FEATURES, check_score
from unselected.fitted.mixture import FittedMixture
from unselected.fitted.predictor import Predictor, kept_features, predictor_of
from unselected.fitted.regression import FittedRegression
from unselected.fitted.response_stack import FittedResponseStack
from unselected.fitted.stack import FittedStack

_FORMAT, _VERSION = "unselected model", 1
_MOST_BYTES = 1 << 28


class ModelError(ValueError):
    """A model file cannot be used, or a model cannot be saved; the message says why."""


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model read from its file; it predicts with numpy and scipy only.

    Attributes
    ----------
    unchecked : ClassPredictor or ResponsePredictor
        The predictor, whose posterior is not computed yet.
    selection : dict
        ``rule``, ``ties``, ``threshold``, ``statistic``, ``n_features``, ``n_omitted``, and
        ``scores``, the absolute correlations (or F statistics) of the kept features.
    provenance : dict
        Origin of the model, as given to `save_model`.
    """

    unchecked: Predictor
    selection: dict[str, Any]
    provenance: dict[str, Any]

    @cached_property
    def predictor(self) -> Predictor:
        """The predictor, for rows of the kept columns.

        Raises `ModelError` where the numbers of the file have no posterior.
        """
        try:
            with np.errstate(all="ignore"):
                numbers = self.fitted.numbers
        except (ArithmeticError, ValueError) as error:
            raise ModelError(f"The model's numbers do not go together: {error}.") from error
        if not all(np.all(np.isfinite(array)) for array in numbers):
            raise ModelError("The model's numbers do not go together: they have no posterior.")
        return self.unchecked

    @property
    def fitted(self) -> Any:
        """The fitted model."""
        return self.unchecked.fitted

    @property
    def kind(self) -> str:
        """The kind of model: "bernoulli", "gaussian", "regression" and others."""
        return str(self.fitted.kind)

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes; None where the response is a number."""
        return self.unchecked.classes

    @property
    def average(self) -> LikelihoodAverage:
        """The likelihoods that predictions average over."""
        return self.unchecked.average

    def feature_effects(self, *, level: float = 0.9) -> FeatureEffects:
        """Return the kept features with their effects, at face value and under the posterior.

        Features without names are numbered as the columns that the model needs.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the intervals.
        """
        return feature_effects(
            self.predictor.fitted,
            features=kept_features(self.fitted),
            scores=self.selection["scores"],
            threshold=self.selection["threshold"],
            level=level,
        )


_KINDS: dict[str, type[Fitted]] = {
    one.kind: one
    for one in (
        FittedBernoulli,
        FittedGenotypes,
        FittedGaussian,
        FittedRegression,
        FittedAdjustedBits,
        FittedAdjustedGaussian,
        FittedAdjustedRegression,
        FittedMixture,
        FittedFactorClasses,
        FittedFactorResponse,
        FittedStack,
        FittedResponseStack,
    )
}
# Entries of the guard against dependence, of which a file may have one.
_GUARDS = ("tempering", "weighing")


def save_model(
    predictor: Predictor,
    path: str | os.PathLike[str],
    *,
    selection: dict[str, Any],
    provenance: dict[str, Any],
    overwrite: bool = False,
) -> None:
    """Write a model to a file that `load_model` reads; see `write_text`.

    Parameters
    ----------
    predictor : ClassPredictor or ResponsePredictor
    path : str or path
        "-" is standard output.
    selection : dict
        ``rule``, ``ties``, ``threshold``, ``statistic``, ``n_features``, ``n_omitted`` and
        ``scores``, as in `SavedModel`.
    provenance : dict
        Any JSON values; ``provenance["unselected"]`` is the version that fitted the model.
    overwrite : bool, default=False

    Raises
    ------
    ModelError
        Where the file could not be read back; nothing is written.
    """
    try:
        document = _document(predictor, selection, provenance)
        lines = [entry_line(key, document[key]) for key in document]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        _parse(text.encode("ascii"))
    except Fault as fault:
        raise ModelError(f"The model cannot be saved: {fault}") from None
    write_text(path, text, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model from a file that `save_model` wrote.

    Nothing in the file is executed, and every entry is checked.

    Raises
    ------
    ModelError
        Where the file is damaged, is not a model file, or has a newer format version.
    """
    with open(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    try:
        return _parse(content)
    except Fault as fault:
        raise ModelError(f"{os.fspath(path)} cannot be used as a model: {fault}") from None


def _document(
    predictor: Predictor, selection: dict[str, Any], provenance: dict[str, Any]
) -> Entries:
    fitted = predictor.fitted
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": fitted.kind,
        "names": None if fitted.names is None else fitted.names.tolist(),
        **fitted.to_json(),
        **predictor.more_entries(),
        "selection": selection,
        "provenance": provenance,
    }


def _parse(content: bytes) -> SavedModel:
    if len(content) > _MOST_BYTES:
        raise Fault(f"it has more than {_MOST_BYTES} bytes.")
    document = _check_format(read_json(content))
    kind = _KINDS[document["kind"]]
    common = ("format", "version", "kind", "names", "selection", "provenance")
    guards = _GUARDS if issubclass(kind, GuardedClasses) else ()
    check_record(
        document, "the file", (*common, *kind.keys), (*guards, *kind.optional, "ranges", "coding")
    )
    predictor = predictor_of(kind.from_json(document), document)
    coded = 0 if predictor.coding is None else predictor.coding.n_coded
    if coded != predictor.fitted.n_covariates:
        raise Fault(
            f"coding makes {coded} columns of covariates, and the model has "
            f"{predictor.fitted.n_covariates}."
        )
    selection = _parse_selection(document["selection"], predictor.fitted)
    return SavedModel(predictor, selection, _parse_provenance(document["provenance"]))


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
    """Return how to install a version that reads the file: the one that wrote it, if newer."""
    provenance = document.get("provenance")
    maker = provenance.get("unselected") if isinstance(provenance, dict) else None
    known = isinstance(maker, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)*", maker)
    if known and _numbers_of(str(maker)) > _numbers_of(__version__):
        return f'Install unselected {maker} or newer: pip install "unselected>={maker}".'
    return "Install a newer version: pip install --upgrade unselected."


def _numbers_of(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", version)]


def _parse_selection(entry: object, fitted: Fitted) -> dict[str, Any]:
    names = ("rule", "ties", "threshold", "n_features", "n_omitted", "scores")
    statistic, k = fitted.statistic, fitted.n_columns
    # The first model files of binary features have no statistic.
    needed = (*names, "statistic") if fitted.event.skips_constant else names
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
    told, event = fitted.event.n_omitted, fitted.event
    if told > omitted or (not event.skips_constant and told not in (0, omitted)):
        raise Fault(
            f"event speaks of {told} omitted features, but selection n_omitted is {omitted}."
        )
    return selection


def _parse_provenance(entry: object) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("unselected"), str):
        raise Fault('provenance does not say "unselected": the version that made the model.')
    check_plain(entry, "provenance")
    return entry
