"""The statistics of a model of a real response: moments of the features with it, and its mean."""

from typing import NamedTuple

from unselected.statistics.moments import LineMoments


class LineStatistics(NamedTuple):
    """The moments of some columns with the response, and the mean of all responses."""

    moments: LineMoments
    y_mean: float
