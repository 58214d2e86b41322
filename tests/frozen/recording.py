"""What a configuration says, as a record of plain types that a JSON file holds."""

import dataclasses
import json
import math
import warnings

import numpy as np
from scipy import sparse

# Fields that came after the references were written.
ADDED = ("weight", "event_error")
# Fields that are not recorded; what they say is seen in all that is computed from them.
LEFT_OUT = ("event", "codes")
# Longer lists are thinned to about so many entries, beside their sum, so that files stay small.
LONG = 60
# What is public of the objects that fitted attributes are.
WORTH = ("mean_eta", "mean_epsilon", "untempered_probability", "weights")
QUANTILES = (0.025, 0.3, 0.5, 0.975)


def record(configuration, data):
    """Return all that is frozen of an estimator, with the warnings that users see."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", UserWarning)
        model = configuration.estimator(**configuration.options).fit(data.X, data.y)
        content = {
            "predictions": predictions(model, data.X_new, data.y_new),
            "attributes": attributes(model),
            "answers": {ask: ASKS[ask](model, data) for ask in configuration.asks},
        }
    told = dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in seen)
    return plain({**content, "warnings": list(told)})


def predictions(model, X, y):
    """Return what is predicted of new cases."""
    if not hasattr(model, "classes_"):
        mean, std = model.predict(X, return_std=True)
        return {
            "mean": mean,
            "std": std,
            "quantiles": model.predict_quantiles(X),
            "other quantiles": model.predict_quantiles(X, QUANTILES),
            "log density": model.predict_log_density(X, y),
            "cdf": model.predict_cdf(X, y),
        }
    classes = model.classes_.tolist()
    common = np.arange(1, len(classes) + 1) / sum(range(1, len(classes) + 1))
    by_label = dict(zip(classes, common[::-1].tolist(), strict=True))
    return {
        "proba": model.predict_proba(X),
        "log proba": model.predict_log_proba(X),
        "class": model.predict(X),
        "expected error": model.expected_error(X),
        "proba with prevalence": model.predict_proba(X, prevalence=common),
        "proba with prevalence by label": model.predict_proba(X, prevalence=by_label),
        "class with prevalence": model.predict(X, prevalence=by_label),
    }


def attributes(model):
    """Return the public attributes that a fit left; of objects what is documented of them."""
    # By dir, for an attribute may become a property. The score is computed when asked for.
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    left_out = {"loo_score_"}
    if getattr(model, "event_error_", None) == 0.0:  # came after the references, and is its default
        left_out.add("event_error_")
    return {name: attribute(name, model) for name in names if name not in left_out}


def attribute(name, model):
    value = getattr(model, name)
    if name in ("tempering_", "weighing_"):
        return {part: getattr(value, part) for part in WORTH if hasattr(value, part)}
    if name == "posterior_":
        return {part: drawn(value[part]) for part in sorted(value.arrays)}
    if name == "diagnostics_":
        return value.to_dict()
    return value


def drawn(draws):
    """Return what is frozen of draws of shape (chains, draws, ...): all of them shown by sums."""
    return {"shape": draws.shape, "sum": finite_sum(draws), "last": draws[-1, -1]}


def finite_sum(values):
    numbers = np.asarray(values, dtype=np.float64)
    return math.fsum(numbers[np.isfinite(numbers)].tolist())


def interval(model, data):
    lower, upper = model.predict_proba_interval(data.X_new[:4])
    narrow = model.predict_proba_interval(data.X_new[:2], level=0.5, prevalence=even(model))
    return {"lower": lower, "upper": upper, "narrow": narrow}


def even(model):
    return np.full(model.classes_.size, 1.0 / model.classes_.size)


def effects(model, _):
    told = model.feature_effects(level=0.8)
    return {**told.to_dict(), "level": told.level}


def explain(model, data):
    told = model.explain(data.X_new[:3], prevalence=even(model))
    names = ("features", "classes", "prior", "contributions", "total", "log_odds", "difference")
    return {name: getattr(told, name) for name in names}


def panel(model, data):
    """Return predictions from the kept columns alone, by name in another order where named."""
    small, rows = model.panel(), data.plain_new[:, model.selection_.indices]
    if hasattr(model, "feature_names_in_"):
        import pandas as pd

        names = model.feature_names_in_[model.selection_.indices]
        rows = pd.DataFrame(rows[:, ::-1], columns=names[::-1])
    return {
        "attributes": attributes(small),
        "predictions": predictions(small, rows, data.y_new),
    }


def loo(model, _):
    if hasattr(model, "classes_"):
        return {"proba": model.loo_predict_proba()[:, 1:]}
    mean, std = model.loo_predict(return_std=True)
    return {"mean": mean, "std": std, "log density": model.loo_predict_log_density()}


def cv(model, _):
    proba, lower, upper = model.cv_predict_proba_interval(4, level=0.8)
    return {
        "proba": model.cv_predict_proba(5)[:, 1:],
        "with intervals": [part[::4] for part in (proba, lower, upper)],
    }


def transform(model, data):
    kept = model.transform(data.X_new)
    kept = kept.compute() if hasattr(kept, "compute") else kept
    kept = kept.toarray() if sparse.issparse(kept) else np.asarray(kept)
    return {
        "rows": kept[:3],
        "names": model.get_feature_names_out(),
        "support": model.get_support(indices=True),
    }


ASKS = {
    "interval": interval,
    "effects": effects,
    "explain": explain,
    "panel": panel,
    "loo": loo,
    "cv": cv,
    "transform": transform,
    "frequency": lambda model, _: model.selection_frequency(),
    "k_path": lambda model, _: model.k_path([2, 5]),
    "loo_score": lambda model, _: model.loo_score_,
    "dependence": lambda model, _: model.dependence_report().content(),
}


def plain(value):
    """Return the same in JSON's own types; long lists are thinned."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value):
        # A field that came after the references is recorded where it is not at its default.
        names = [
            one.name
            for one in dataclasses.fields(value)
            if one.name not in LEFT_OUT
            and not (one.name in ADDED and getattr(value, one.name) == one.default)
        ]
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return thinned(list(value)) if len(value) > LONG else [plain(one) for one in value]
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be frozen")


def thinned(values):
    """Return some entries of a long list, and the sum of all numbers in it."""
    nested = any(isinstance(value, list) for value in values)
    step = -(-len(values) // (LONG // 8 if nested else LONG // 2))
    some = {"length": len(values), "every": step, "values": [plain(v) for v in values[::step]]}
    inner = [number for value in values for number in (value if nested else [value])]
    numbers = [number for number in inner if isinstance(number, int | float)]
    return {**some, "sum": finite_sum(numbers)} if numbers else some


def as_text(content):
    """Return the text of a reference: floats so that reading returns the very same ones."""
    lines = [f"{json.dumps(key)}: {json.dumps(content[key], allow_nan=False)}" for key in content]
    return "{\n" + ",\n".join(lines) + "\n}\n"
