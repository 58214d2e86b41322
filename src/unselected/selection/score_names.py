"""The names of scores: what errors call them, and the values that they can have."""

from typing import NamedTuple

import numpy as np

from unselected.statistics.moments import Statistic

# Stands for an infinite score.
LARGEST = float(np.finfo(np.float64).max)


class ScoreName(NamedTuple):
    """A score in words, with its article, and its smallest and largest possible values."""

    words: str
    least: float
    most: float

    @property
    def bounds(self) -> str:
        """The possible values, in words."""
        if self.least == -LARGEST:
            return "finite"
        if self.most == LARGEST:
            return f"at least {self.least:g}"
        return f"from {self.least:g} to {self.most:g}"

    @property
    def number(self) -> str:
        """A number that is possible, in words.

        >>> SCORE_NAMES["|COR|"].number, SCORE_NAMES["F"].number, SCORE_NAMES["custom"].number
        ('a number from 0 to 1', 'a number of at least 0', 'a finite number')
        """
        if self.least == -LARGEST:
            return "a finite number"
        return f"a number {self.bounds.replace('at least', 'of at least')}"


SCORE_NAMES: dict[Statistic, ScoreName] = {
    "|COR|": ScoreName("an absolute correlation", 0.0, 1.0),
    "F": ScoreName("an F statistic", 0.0, LARGEST),
    "chi2": ScoreName("a chi-squared statistic", 0.0, LARGEST),
    "mutual_info": ScoreName("a mutual information", 0.0, LARGEST),
    "fisher": ScoreName("a -log10 p-value of Fisher's exact test", 0.0, LARGEST),
    "odds_ratio": ScoreName("an odds ratio", 1.0, LARGEST),
    "rate_difference": ScoreName("a rate difference", 0.0, 1.0),
    "welch": ScoreName("a Welch t statistic", 0.0, LARGEST),
    "moderated_t": ScoreName("a moderated t statistic", 0.0, LARGEST),
    "wilcoxon": ScoreName("a standardized Wilcoxon statistic", 0.0, LARGEST),
    "auc": ScoreName("an area under the curve", 0.5, 1.0),
    "mean_difference": ScoreName("a mean difference", 0.0, LARGEST),
    "volcano": ScoreName("a volcano score", 0.0, LARGEST),
    "custom": ScoreName("a score", -LARGEST, LARGEST),
}
