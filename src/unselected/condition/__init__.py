"""Condition a model of your own on the selection of its features, by simulation.

Features are independent given the parameters, so all that a model needs is the probability that
one feature is omitted, which can be simulated for any model and any score.

Public modules
--------------
differentiable  the same probability in the arrays of a sampler, with gradients
probability     `SelectionProbability`
records         what is said of an estimate, and the error where it is not precise enough
"""

from unselected.condition.probability import SelectionProbability
from unselected.condition.records import Diagnosis, DrawsCheck, ImpreciseEventError, LogEvent

__all__ = ["Diagnosis", "DrawsCheck", "ImpreciseEventError", "LogEvent", "SelectionProbability"]
