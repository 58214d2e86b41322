"""The logistic regressions beside an average over models, and how the evidence is pooled."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from unselected._typing import Floats
from unselected.dependence.held_out import HeldOut
from unselected.dependence.pooling import learn_offset, learn_pool
from unselected.estimators.inputs import TrainingTable
from unselected.estimators.member_weights import Fit
from unselected.fitted.stack import FittedStack
from unselected.models.logistic_ridges import LinearEvidence, logistic_ridges
from unselected.statistics.leaving_out import LeftOut

# Returns the kept features of the cases that a fit was trained with, and of those it left out.
Values = Callable[[Fit, LeftOut], tuple[Floats, Floats]]

# How much more probable the average has to make the classes of cases left out than their
# frequencies do (a log).
_LEAST_GAIN = 1.0


class Regressions:
    """Logistic regressions on the features of a member, without each set of cases.

    Attributes
    ----------
    whole : list of LinearEvidence
        Of all cases, one for each ridge.
    left_out : list of array of shape (ridges, asked, G)
        The evidence for the cases of each fold.
    """

    def __init__(self) -> None:
        self.whole: list[LinearEvidence] = []
        self.left_out: list[Floats] = []

    @staticmethod
    def are_worth_a_try(cases: HeldOut, independent: float) -> bool:
        """Say whether regressions on the same features may add to the average over models.

        They hardly ever do where the average does not tell the classes of cases left out apart at
        all, as in noise. Where features are rather independent than not, the average is right.
        """
        return independent < 0.5 and cases.log_gain > _LEAST_GAIN

    def add(self, fit: Fit, values: Values, table: TrainingTable) -> None:
        """Repeat what a fit did, for regressions; the first is to all cases."""
        train, asked = values(fit, fit.left)
        kept = fit.left.kept
        log_prior = fit.predictor.log_prior(table.with_covariates(train, kept))
        fitted = logistic_ridges(train, fit.is_binary, table.y[kept], log_prior)
        if self.whole:
            self.left_out.append(np.array([one.log_evidence(asked) for one in fitted]))
        else:
            self.whole = fitted


def pooled(
    stack: FittedStack, cases: HeldOut, regressions: Regressions, independent: float
) -> FittedStack:
    """Return an average with a power, and with what is added to it, learned from cases left out.

    ``cases`` have the evidence of the average; ``independent`` is the probability that features are
    independent within classes, as their correlations tell it.
    """
    others = np.zeros((0, *cases.log_evidence.shape))
    if regressions.left_out:
        others = np.concatenate(regressions.left_out, axis=1)
    pool = learn_pool(cases, others, independent)
    evidence = pool.power * cases.log_evidence
    linear = LinearEvidence.nothing(stack.n_columns, stack.classes.size)
    if pool.shares.size:
        evidence += np.tensordot(pool.shares, others, 1)
        linear = LinearEvidence.mixed(pool.shares, regressions.whole)
    offset = learn_offset(cases.with_evidence(evidence), independent)
    linear = replace(linear, intercepts=linear.intercepts + offset)
    return replace(stack, power=pool.power, linear=linear)
