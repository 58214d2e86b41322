"""The posterior of alpha in a model file, where it would take long or is impossible to compute."""

import numpy as np

from unselected._typing import Floats
from unselected.fitted.json_checks import Entries, Fault, check_array, check_real, check_record
from unselected.models.bernoulli_posterior import BernoulliPosterior
from unselected.models.distinct_counts import distinct_counts
from unselected.models.fractions import Fractions
from unselected.statistics.counts import ClassCounts

# Numbers of a posterior that a file holds, at most: about four megabytes.
_MOST_NUMBERS = 200_000
_OF_NODES = ("log_alpha", "log_weights")
_OF_GROUPS = ("log_related", "log_rest")
# The names of the predictive probabilities of the values 0, 1 and 2 in the file.
_OF_VALUES = ("log_zero", "log_one", "log_two")


def posterior_entry(posterior: BernoulliPosterior) -> Entries:
    """Return the posterior as an entry of the file; nothing where it is large."""
    groups = posterior.fractions
    finite = groups is None or np.all(np.isfinite(groups.log_rest))  # else no number in a file
    if posterior.log_values.size > _MOST_NUMBERS or not finite:
        return {}
    return full_posterior_entry(posterior)


def full_posterior_entry(posterior: BernoulliPosterior) -> Entries:
    """Return the posterior as an entry of the file, however large it is."""
    groups = posterior.fractions
    entry: Entries = {name: getattr(posterior, name) for name in _OF_NODES}
    entry["omission_probability"] = np.exp(posterior.log_at_most)
    entry["log_evidence"] = posterior.log_evidence
    for name, logs in zip(_OF_VALUES, posterior.log_values, strict=False):
        entry[name] = list(logs.reshape(-1, logs.shape[-1]))
    if posterior.event_error:
        entry["event_error"] = posterior.event_error
    if groups is not None:
        entry |= {name: getattr(groups, name) for name in _OF_GROUPS}
        entry["related"] = posterior.related
    return {"posterior": entry}


def parse_posterior(
    entry: object, counts: ClassCounts, log_psi: Floats, ploidy: int = 1
) -> BernoulliPosterior:
    """Return the posterior of kept columns with these counts."""
    of_values = _OF_VALUES[: ploidy + 1]
    needed = (*_OF_NODES, "omission_probability", "log_evidence", *of_values)
    fields = check_record(
        entry, "posterior", needed, optional=(*_OF_GROUPS, "related", "event_error")
    )
    vectors = distinct_counts(counts)
    n_nodes = len(fields["log_alpha"]) if isinstance(fields["log_alpha"], list) else 0
    G, n_vectors = counts.sizes.size, vectors.n_equal.size
    nodes = {name: check_array(fields[name], f"posterior {name}", (n_nodes,)) for name in _OF_NODES}
    if abs(np.sum(np.exp(np.minimum(nodes["log_weights"], 1.0))) - 1.0) > 1e-6:
        raise Fault("posterior log_weights are no logs of weights that sum to 1.")
    tables = [
        check_array(fields[name], f"posterior {name}", (G * n_nodes, n_vectors), high=1e-9)
        for name in of_values
    ]
    fractions, related = None, None
    if "related" in fields:
        related = check_array(fields["related"], "posterior related", (counts.n_columns,), 0.0, 1.0)
        fractions = Fractions(
            *(
                check_array(fields.get(name), f"posterior {name}", (n_nodes,), high=1e-9)
                for name in _OF_GROUPS
            )
        )
    what = "omission_probability"
    at_most = check_array(fields[what], f"posterior {what}", (n_nodes,), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        log_at_most = np.log(at_most)
    return BernoulliPosterior(
        **nodes,
        log_at_most=log_at_most,
        log_evidence=check_real(fields["log_evidence"], "posterior log_evidence"),
        log_psi=log_psi,
        log_values=np.array(tables).reshape(ploidy + 1, G, n_nodes, n_vectors),
        vector_of=vectors.vector_of,
        fractions=fractions,
        related=related,
        event_error=check_real(fields.get("event_error", 0.0), "posterior event_error"),
    )
