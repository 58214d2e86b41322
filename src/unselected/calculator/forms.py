"""Which models have a calculator, and the form of each: the numbers that its predictions need."""

from collections.abc import Callable
from typing import Any

from unselected.calculator.class_forms import single_form, stack_form
from unselected.calculator.packing import Form
from unselected.calculator.response_forms import adjusted_form, mixture_form, regression_form
from unselected.fitted.predictor import Predictor

# By the names of the kinds in a model file.
_FORMS: dict[str, Callable[[Any], Form]] = {
    "bernoulli": single_form,
    "genotype": single_form,
    "gaussian": single_form,
    "adjusted gaussian": single_form,
    "adjusted bits": single_form,
    "classifier": stack_form,
    "regression": regression_form,
    "adjusted regression": adjusted_form,
    "regressor": mixture_form,
}


def form_of(predictor: Predictor) -> Form:
    """Return the numbers that predictions need, as nested JSON types and arrays.

    Raises
    ------
    ValueError
        Where the kind of model has no calculator, and where the model kept no feature.
    """
    kind = predictor.fitted.kind
    if not predictor.fitted.n_columns:
        raise ValueError(
            "the model kept no feature, so that there is nothing to enter: its prediction is the "
            "same for all cases, and unselected predict tells it. Keep features with another k or "
            "a lower threshold."
        )
    if kind not in _FORMS:
        raise ValueError(
            f"a model of the kind {kind!r} has no calculator. There are calculators of: "
            f"{', '.join(_FORMS)}. Predict with the model file instead: unselected predict."
        )
    return _FORMS[kind](predictor)
