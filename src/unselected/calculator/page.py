"""The page of a calculator: HTML, style, scripts and numbers in one file.

A policy in the page forbids all connections, and every script but its own.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from unselected import __version__
from unselected.calculator.columns import covariates_form, features_form
from unselected.calculator.forms import form_of
from unselected.calculator.packing import Form, packed, script_json
from unselected.files.labels import Label
from unselected.files.models import SavedModel
from unselected.fitted.predictor import Predictor

# In the order in which they need each other.
_SCRIPTS = (
    "numbers",
    "averaging",
    "counts",
    "correlated",
    "covariates",
    "real",
    "two_groups",
    "classes",
    "stack",
    "regression",
    "mixture",
    "model",
    "tables",
    "elements",
    "inputs",
    "results",
    "paste",
    "page",
)
_KINDS = {
    "bernoulli": "naive Bayes of binary features",
    "genotype": "naive Bayes of genotypes",
    "gaussian": "naive Bayes of real-valued features",
    "adjusted gaussian": "naive Bayes of real-valued features, given covariates",
    "adjusted bits": "naive Bayes of binary features, given covariates",
    "classifier": "an average over models with different numbers of features",
    "regression": "naive Bayes of real-valued features and a number",
    "adjusted regression": "naive Bayes of real-valued features and a number, given covariates",
    "regressor": "an average over regressions with different numbers of features",
}


def calculator_page(
    saved: SavedModel, *, title: str = "Calculator", labels: Mapping[str, Label] | None = None
) -> str:
    """Return a page that predicts from values that its reader enters, as HTML.

    Parameters
    ----------
    saved : SavedModel
        From `unselected.files.models.load_model`.
    title : str
    labels : mapping of str to Label, default=None
        How features are shown, by their names.

    Returns
    -------
    html : str
        It needs no server and no network, and predicts what the model file predicts.

    Raises
    ------
    ValueError
        Where the kind of model has no calculator, and where a label is of no feature.
    """
    predictor = saved.predictor
    form = form_of(predictor)
    content = {
        "title": title,
        "lead": _lead(saved),
        "features": features_form(predictor, labels or {}),
        "covariates": covariates_form(predictor, form["meanCovariates"]),
        "about": _about(saved),
        **_classes(predictor),
        "model": packed(form),
    }
    style, script = _asset("page.css"), _script()
    parts = {
        "policy": _policy(style, script),
        "generator": f"unselected {__version__}",
        "style": style,
        "content": script_json(content),
        "script": script,
    }
    # In one pass: what is filled in may have braces of its own.
    return re.sub(r"\{(\w+)\}", lambda found: parts[found[1]], _asset("page.html"))


@cache
def _asset(name: str) -> str:
    return (files("unselected.calculator") / "assets" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Return all scripts in one scope, of which the page sees ``calculator`` only."""
    sources = "\n".join(_bare(_asset(f"{name}.js")) for name in _SCRIPTS)
    return f'const calculator = (() => {{\n"use strict";\n{sources}\nreturn calculator;\n}})();\n'


def _bare(source: str) -> str:
    """Return a script without comments on lines of their own, and without indentation."""
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(
        line
        for line in lines
        if line and not line.startswith(("//", "/**", "* ", "*/", '"use strict"'))
    )


def _policy(style: str, script: str) -> str:
    hashes = (
        base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        for text in (style, script)
    )
    of_style, of_script = (f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; style-src {of_style}; script-src {of_script}; "
        "base-uri 'none'; form-action 'none'"
    )


def _classes(predictor: Predictor) -> Form:
    if predictor.classes is None:
        return {"classes": None, "training": None}
    fitted: Any = predictor.fitted
    names = [str(label) for label in predictor.classes]
    return {"classes": names, "training": np.exp(fitted.log_psi).tolist()}


def _lead(saved: SavedModel) -> str:
    k, p = saved.fitted.n_columns, saved.selection["n_features"]
    what = "A number" if saved.classes is None else "The probability of each class"
    kept = f"{k} features" if k == p else f"{k} features, kept out of {p}"
    return f"{what}, predicted from {kept}."


def _about(saved: SavedModel) -> list[str]:
    """Return what a reader should know of the model, in sentences."""
    fitted, provenance = saved.fitted, saved.provenance
    cases = f"Fitted to {fitted.n_samples} cases"
    if fitted.class_sizes is not None:
        sizes = ", ".join(f"{size} of {label}" for label, size in fitted.class_sizes.items())
        cases += f": {sizes}"
    created = str(provenance.get("created", ""))[:10]
    made = f"unselected {provenance['unselected']}" + (f" on {created}" if created else "")
    learned = [saved.average.in_words()] if saved.average.is_learned else []
    return [
        f"The model is {_KINDS[saved.kind]}, made with {made}.",
        f"{cases}.",
        *fitted.in_words(),
        *learned,
        _INTERVALS[saved.classes is None],
        "Predictions hold for cases like those of the training set; values outside of its range "
        "are marked.",
        "Nothing that is entered here leaves this page.",
    ]


# By whether the response is a number.
_INTERVALS = {
    False: "An interval says how sure the model is of what the features say of a case, given its "
    "training cases. It takes as certain how common the classes are.",
    True: "An interval holds the response of a new case with the stated probability.",
}
