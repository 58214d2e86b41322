"""Messages of the library in the words of the shell: options and models, not parameters."""

import re

_MODELS = {
    "SelectiveClassifier": "--model classifier",
    "SelectiveRegressor": "--model regressor",
    "SelectiveBernoulliNB": "--model bernoulli",
    "SelectiveGaussianNB": "--model gaussian",
    "SelectiveNaiveRegressor": "--model regression",
    "SelectiveMixtureClassifier": "--model mixture",
    "SelectiveFactorClassifier": "--model factor",
    "SelectiveFactorRegressor": "--model factor",
}
# Parameters that are options under another name.
_RENAMED = {
    "score_func": "score",
    "n_splits": "splits",
    "n_repeats": "repeats",
    "random_state": "seed",
}
_PARAMETERS = (
    *("k", "threshold", "preselected_from", "ties", "prior", "dependence", "family", "rates"),
    *("variance_shrinkage", "quadrature", "prevalence", "groups", *_RENAMED),
)
_FLAGS = {
    "correct_selection=False": "--uncorrected",
    "features_in_rows=True": "--features-in-rows",
    "names=False": "--no-names",
    "the target, the id column or a covariate": "--target, --id or one of --covariates",
}
_FLAG = re.compile(rf"\b({'|'.join(_FLAGS)})\b")
_MODEL = re.compile(rf"\b({'|'.join(_MODELS)})\b")
_PARAMETER = re.compile(rf"\b({'|'.join(_PARAMETERS)})=('[\w-]+'|-?\w+(?:[.+-]+\w+)*)")


def as_option(parameter: str, value: str) -> str:
    """Return a parameter as an option of the shell.

    >>> as_option("dependence", "correlated"), as_option("n_splits", "40"), as_option("k", "None")
    ('--dependence correlated', '--splits 40', 'no --k')
    """
    option = f"--{_RENAMED.get(parameter, parameter).replace('_', '-')}"
    return f"no {option}" if value == "None" else f"{option} {value}"


def in_shell_words(message: str) -> str:
    """Return a message, with options for parameters and names of models for estimators.

    >>> in_shell_words("k=999 is out of range: use k=None, or SelectiveGaussianNB.")
    '--k 999 is out of range: use no --k, or --model gaussian.'
    >>> in_shell_words("prior='sparse' needs correct_selection=False.")
    '--prior sparse needs --uncorrected.'
    """
    message = _FLAG.sub(lambda found: _FLAGS[found[1]], message)
    message = _MODEL.sub(lambda found: _MODELS[found[1]], message)
    return _PARAMETER.sub(lambda found: as_option(found[1], found[2].strip("'")), message)
