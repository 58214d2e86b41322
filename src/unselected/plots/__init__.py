"""Pictures, as in scikit-learn: a Display holds numbers as attributes and draws them.

The class methods ``from_...`` compute the numbers and draw them, on ``ax`` if that is given.
``plot`` draws them again, elsewhere. matplotlib is imported here, and nowhere below.

Public modules
--------------
feature_intervals  the strongest features with their effects, and kinds of effects
methods            methods compared, and the measures that are drawn
paper              the figures of the paper
style              the palette, and what methods are called in pictures
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        'unselected.plots needs matplotlib: pip install "unselected[plots]"'
    ) from error

from unselected.plots.audit import SelectionAuditDisplay
from unselected.plots.by_k import ErrorByKDisplay, ScoresByKDisplay
from unselected.plots.cases import CaseStripDisplay
from unselected.plots.concentration import ConcentrationDisplay
from unselected.plots.correlations import CorrelationsDisplay, SelectedCountsDisplay
from unselected.plots.deciding import DecisionCurveDisplay
from unselected.plots.effects import EffectsDisplay
from unselected.plots.feature_intervals import FeatureIntervalsDisplay
from unselected.plots.groups import PairedScoresDisplay
from unselected.plots.methods import MethodsDisplay
from unselected.plots.omission import OmissionProbabilityDisplay
from unselected.plots.pit import CoverageDisplay, PITDisplay
from unselected.plots.predictions import ProbabilityScatterDisplay
from unselected.plots.promised import PromisedActualDisplay
from unselected.plots.ranking import RocDisplay
from unselected.plots.reliability import ReliabilityDisplay
from unselected.plots.responses import PredictedActualDisplay
from unselected.plots.stability import StabilityDisplay
from unselected.plots.svg import inline_svg

__all__ = [
    "CaseStripDisplay",
    "ConcentrationDisplay",
    "CorrelationsDisplay",
    "CoverageDisplay",
    "DecisionCurveDisplay",
    "EffectsDisplay",
    "ErrorByKDisplay",
    "FeatureIntervalsDisplay",
    "MethodsDisplay",
    "OmissionProbabilityDisplay",
    "PITDisplay",
    "PairedScoresDisplay",
    "PredictedActualDisplay",
    "ProbabilityScatterDisplay",
    "PromisedActualDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "ScoresByKDisplay",
    "SelectedCountsDisplay",
    "SelectionAuditDisplay",
    "StabilityDisplay",
    "inline_svg",
]
