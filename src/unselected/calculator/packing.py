"""Forms of models as JSON: arrays of numbers are packed, to the last bit."""

import base64
import json
from typing import Any

import numpy as np

# What a form is made of: JSON types and arrays.
Form = dict[str, Any]

# Characters that could end a script, or open a comment in one, and what JSON writes in their place.
_ESCAPED = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def packed(form: Any) -> Any:
    """Return a form with each array in it as its shape and its doubles in base64.

    >>> packed({"a": np.array([1.0])})
    {'a': {'shape': [1], 'f64': 'AAAAAAAA8D8='}}
    """
    if isinstance(form, np.ndarray):
        doubles = np.ascontiguousarray(form, dtype="<f8")
        content = base64.b64encode(doubles.tobytes()).decode("ascii")
        return {"shape": list(form.shape), "f64": content}
    if isinstance(form, dict):
        return {name: packed(value) for name, value in form.items()}
    if isinstance(form, list | tuple):
        return [packed(value) for value in form]
    return form


def script_json(content: Any) -> str:
    r"""Return JSON that is the same inside of an HTML script, whatever text it has.

    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text
