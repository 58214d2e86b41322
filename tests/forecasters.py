"""Cases of two classes, and forecasters who are honest about them or not."""

import hypothesis.strategies as st
import numpy as np
from scipy.special import expit


def forecasts(rng, n=200, spread=1.5, *, stretch=1.0, shift=0.0):
    """Classes, and what a forecaster says who stretches and shifts the true log odds."""
    log_odds = rng.normal(0.0, spread, n)
    return (rng.random(n) < expit(log_odds)).astype(int), expit(stretch * log_odds + shift)


def overlapping(rng, n):
    """As above, where the classes are not separated."""
    y, p = forecasts(rng, n)
    y[np.argsort(p)[[0, 1, -2, -1]]] = [1, 0, 1, 0]
    return y, p


@st.composite
def few_cases(draw, least=1):
    n = draw(st.integers(least, 12))
    tenths = st.sampled_from([0.0, 0.05, 0.25, 0.3, 0.5, 0.6, 0.7, 0.95, 1.0])
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return y, draw(st.lists(st.one_of(tenths, st.floats(0, 1)), min_size=n, max_size=n))


def covers(interval, truth):
    return interval.low <= truth <= interval.high
