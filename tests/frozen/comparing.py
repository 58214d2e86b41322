"""Two records compared, with where they differ."""

import re

TOLERANCE = 1e-10
# A number with all its digits, as tables have it.
NUMBER = re.compile(r"(-?\d+\.\d{12,}(?:e-?\d+)?)")


def differences(expected, actual, *, exact=False, path="record"):
    """Return a line for each difference: the path inside the record, and both values.

    Numbers may differ by 1e-10, and by 1e-10 of themselves, unless ``exact``. Types must agree, so
    that a count does not turn into a float unnoticed.
    """
    if type(expected) is not type(actual):
        return [_line(path, expected, actual)]
    if isinstance(expected, dict):
        return _of_dicts(expected, actual, exact, path)
    if isinstance(expected, list):
        if len(expected) != len(actual):
            return [f"{path}: {len(expected)} entries expected, got {len(actual)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [
            line
            for j, (one, other) in pairs
            for line in differences(one, other, exact=exact, path=f"{path}[{j}]")
        ]
    same = expected == actual
    if isinstance(expected, str) and not exact and not same:
        return _of_texts(expected, actual, path)
    if isinstance(expected, float) and not exact:
        same = abs(expected - actual) <= TOLERANCE * (1.0 + abs(expected))
    return [] if same else [_line(path, expected, actual)]


def _of_texts(expected, actual, path):
    """Compare texts with the numbers in them."""
    parts, others = NUMBER.split(expected), NUMBER.split(actual)
    if len(parts) != len(others) or parts[::2] != others[::2]:
        return [_line(path, expected, actual)]
    pairs = zip(parts[1::2], others[1::2], strict=True)
    return [
        line for one, other in pairs for line in differences(float(one), float(other), path=path)
    ]


def _of_dicts(expected, actual, exact, path):
    lines = [f"{path}: lacks {key!r}" for key in expected if key not in actual]
    lines += [f"{path}: has {key!r}, which was not expected" for key in actual.keys() - expected]
    for key in expected:
        if key in actual:
            where = f"{path}[{key!r}]"
            lines += differences(expected[key], actual[key], exact=exact, path=where)
    return lines


def _line(path, expected, actual):
    apart = ""
    if isinstance(expected, float) and isinstance(actual, float):
        apart = f" ({abs(expected - actual):.3g} apart)"
    return f"{path}: expected {expected!r}, got {actual!r}{apart}"
