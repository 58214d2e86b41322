"""Pictures, as in scikit-learn: a Display holds numbers as attributes and draws them.

The class methods ``from_...`` compute the numbers and draw them, on ``ax`` if that is given.
``plot`` draws them again, elsewhere. matplotlib is imported here, and nowhere below.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        'unselected.plots needs matplotlib: pip install "unselected[plots]"'
    ) from error

from unselected.plots.by_k import ErrorByKDisplay, ScoresByKDisplay
from unselected.plots.concentration import ConcentrationDisplay
from unselected.plots.correlations import CorrelationsDisplay, SelectedCountsDisplay
from unselected.plots.effects import EffectsDisplay
from unselected.plots.groups import PairedScoresDisplay
from unselected.plots.omission import OmissionProbabilityDisplay
from unselected.plots.pit import CoverageDisplay, PITDisplay
from unselected.plots.predictions import ProbabilityScatterDisplay
from unselected.plots.reliability import ReliabilityDisplay
from unselected.plots.responses import PredictedActualDisplay
from unselected.plots.svg import inline_svg

__all__ = [
    "ConcentrationDisplay",
    "CorrelationsDisplay",
    "CoverageDisplay",
    "EffectsDisplay",
    "ErrorByKDisplay",
    "OmissionProbabilityDisplay",
    "PITDisplay",
    "PairedScoresDisplay",
    "PredictedActualDisplay",
    "ProbabilityScatterDisplay",
    "ReliabilityDisplay",
    "ScoresByKDisplay",
    "SelectedCountsDisplay",
    "inline_svg",
]
