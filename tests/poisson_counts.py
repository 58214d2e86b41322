"""A hierarchical Poisson model of counts in two classes, selected by a log ratio.

The rates of a feature in the classes are Gamma with mean ``level`` and shape ``shape``, and the
count of a case is Poisson. Large shapes mean features that say nothing. A feature is selected when
the log ratio of its class totals is large.
"""

import numpy as np
from scipy.special import gammaln

from unselected.condition import SelectionProbability

Y = np.repeat([0, 1], 6)
N_CASES = 6.0  # of a class
N_FEATURES = 100
THRESHOLD = 1.5
# Of the logarithms: means and standard deviations.
PRIOR = {"shape": (np.log(5.0), 0.5), "level": (np.log(3.0), 0.3)}


def simulate(parameters, n, rng):
    shape, level = float(parameters["shape"]), float(parameters["level"])
    rates = rng.gamma(shape, level / shape, size=(2, n))
    return rng.poisson(rates[Y])


def totals(X, y):
    return np.array([X[y == 0].sum(axis=0), X[y == 1].sum(axis=0)])


def log_ratio(X, y):
    low, high = totals(X, y) + 0.5
    return np.abs(np.log(high / low))


def density_in(log, log_gamma):
    """Return the log density of the totals (negative binomials) in the functions of a library."""

    def log_density(counts, parameters):
        shape, expected = parameters["shape"], N_CASES * parameters["level"]
        each = (
            log_gamma(counts + shape) - log_gamma(shape) - (counts + shape) * log(shape + expected)
        )
        return (each + shape * log(shape) + counts * log(expected)).sum(axis=0)

    return log_density


log_density = density_in(np.log, gammaln)


def omission(**options):
    references = [(2.0, 3.0), (6.0, 2.0), (6.0, 4.5)]
    defaults = {
        "references": [{"shape": shape, "level": level} for shape, level in references],
        "tolerance": 0.3,
    }
    return SelectionProbability(
        simulate,
        log_ratio,
        THRESHOLD,
        y=Y,
        log_density=log_density,
        summarize=totals,
        **defaults | options,
    )


def prepared_omission():
    """The same, precise at some parameters of the prior and around."""
    prepared, rng = omission(), np.random.default_rng(1)
    draws = [draw_parameters(rng) for _ in range(20)]
    prepared.prepare({name: [draw[name] for draw in draws] for name in PRIOR}, N_FEATURES)
    return prepared


def lattice_omission():
    """Over the shape alone, by plain simulation."""

    def simulate_shape(parameters, n, rng):
        return simulate({"shape": parameters["shape"], "level": 3.0}, n, rng)

    lattice = {"shape": np.geomspace(1.0, 30.0, 15)}
    return SelectionProbability(
        simulate_shape, log_ratio, THRESHOLD, y=Y, lattice=lattice, tolerance=1.0
    )


def draw_parameters(rng):
    """Draw from the prior."""
    return {name: float(np.exp(rng.normal(*prior))) for name, prior in PRIOR.items()}


def selected_totals(parameters, rng):
    """Totals (2, k) of the selected features of a data set."""
    X = simulate(parameters, N_FEATURES, rng)
    return totals(X[:, log_ratio(X, Y) > THRESHOLD], Y)


def distance_from_uniform(ranks):
    """Return the largest distance of the ranks, as shares, from a uniform distribution.

    It is in units of the bound that a uniform sample exceeds once in 1000 times.
    """
    shares = np.sort(ranks)
    n = shares.size
    steps = np.arange(n)
    distance = max(np.max((steps + 1) / n - shares), np.max(shares - steps / n))
    return distance * np.sqrt(n) / 1.949
