"""What features add to covariates, and covariates to features: records of paired differences."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any, NamedTuple

from unselected._typing import Floats
from unselected.fitted.listing import listing
from unselected.numerics.resampling import Estimate, Resamples

COVARIATES_ALONE = "covariates alone"
FEATURES_ALONE = "features alone"
BOTH_TOGETHER = "both"

# Characters of a printed line.
_WIDTH = 100
# One number for each case, by the name of the measure.
PerCase = Mapping[str, Floats]


class Measure(NamedTuple):
    """How predictions are judged.

    Attributes
    ----------
    key : str
        Of the numbers of the cases.
    name : str
    is_root : bool
        Whether it is the root of the mean over cases, and not the mean.
    larger_is_better : bool
    """

    key: str
    name: str
    is_root: bool = False
    larger_is_better: bool = False


# The first of them decides what the sentences say.
CLASS_MEASURES = (
    Measure("log_loss", "log loss"),
    Measure("squared_error", "squared error"),
    Measure("actual_error", "error"),
    Measure("expected_error", "expected error"),
)
RESPONSE_MEASURES = (
    Measure("log_density", "log density", larger_is_better=True),
    Measure("squared_error", "rmse", is_root=True),
    Measure("coverage", "in 90 % interval"),
)


@dataclass(frozen=True)
class AddedMeasure:
    """One measure of the predictions by covariates alone, by features alone, and by both.

    Attributes
    ----------
    name : str
    covariates_alone, features_alone, both : Estimate
    features_add : Estimate
        ``both`` less ``covariates_alone``.
    covariates_add : Estimate
        ``both`` less ``features_alone``.
    """

    name: str
    covariates_alone: Estimate
    features_alone: Estimate
    both: Estimate
    features_add: Estimate
    covariates_add: Estimate


@dataclass(frozen=True, repr=False)
class AddedValue:
    """What features add to covariates, and covariates to features, in cross-validation.

    Attributes
    ----------
    covariates : tuple of str
        Their names.
    measures : tuple of AddedMeasure
        For classes log loss, squared error, error and expected error; for a real response log
        density, root mean squared error and the fraction of responses in their 90 % intervals.
    level : float
        Of the intervals, which come from resampled cases. Differences are paired by case.
    larger_is_better : bool
        Of the first measure, by which the sentences judge.
    """

    covariates: tuple[str, ...]
    measures: tuple[AddedMeasure, ...]
    level: float
    larger_is_better: bool

    @classmethod
    def of(
        cls,
        per_case: Mapping[str, PerCase],
        measures: tuple[Measure, ...],
        covariates: tuple[str, ...],
        *,
        groups: Any = None,
        level: float = 0.95,
        n_resamples: int = 999,
        seed: int = 0,
    ) -> "AddedValue":
        """Compare predictions of the same cases.

        Parameters
        ----------
        per_case : mapping
            For "covariates alone", "features alone" and "both" one number for each case, by the
            key of the measure.
        measures : tuple of Measure
        covariates : tuple of str
        groups : array-like of shape (n,), default=None
            Cases of a group are resampled together.
        level, n_resamples, seed
            Of the intervals.
        """
        n_cases = len(per_case[BOTH_TOGETHER][measures[0].key])
        resamples = Resamples.draw(n_cases, n_resamples=n_resamples, seed=seed, groups=groups)
        judged = tuple(_judged(per_case, measure, resamples, level) for measure in measures)
        return cls(covariates, judged, level, measures[0].larger_is_better)

    @property
    def _listed(self) -> str:
        *others, last = self.covariates
        return f"{', '.join(others)} and {last}" if others else last

    def in_words(self) -> list[str]:
        """Return what follows from the first measure: on the features, and on the covariates."""
        first = self.measures[0]
        return [
            self._sentence(
                "The features", self._listed, first.covariates_alone, first.features_add
            ),
            self._sentence(
                "The covariates", "the features", first.features_alone, first.covariates_add
            ),
        ]

    def _sentence(self, added: str, to: str, alone: Estimate, difference: Estimate) -> str:
        first = self.measures[0]
        low, high = difference.low, difference.high
        if self.larger_is_better:
            low, high = -high, -low
        told = f"{added} add nothing to {to} that can be told from chance"
        if high < 0.0:
            told = f"{added} add to {to}"
        elif low > 0.0:
            told = f"{added} make predictions worse than {to} alone"
        return (
            f"{told}: {first.name} {alone.value:.3f} -> {first.both.value:.3f}, difference "
            f"{difference.value:.3f} ({difference.low:.3f} to {difference.high:.3f})."
        )

    def rows(self) -> list[tuple[str, ...]]:
        """Return the measures as rows of a table, under the names in ``header``."""
        return [
            (
                told.name,
                *(
                    f"{e.value:.3f}"
                    for e in (told.covariates_alone, told.features_alone, told.both)
                ),
                *(
                    f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})"
                    for e in (told.features_add, told.covariates_add)
                ),
            )
            for told in self.measures
        ]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns of the table, some of them in two lines."""
        models = (name.replace(" ", "\n") for name in (COVARIATES_ALONE, FEATURES_ALONE))
        differences = ("features add", "covariates add")
        interval = f"({100.0 * self.level:g} % interval)"
        return ("", *models, BOTH_TOGETHER, *(f"{name}\n{interval}" for name in differences))

    def __repr__(self) -> str:
        told = [fill(sentence, _WIDTH) for sentence in self.in_words()]
        return "\n".join([listing(self.header, self.rows()), *told])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the sentences in types that JSON has."""
        return {
            "covariates": list(self.covariates),
            "level": self.level,
            "measures": [asdict(measure) for measure in self.measures],
            "in_words": self.in_words(),
        }


def _judged(
    per_case: Mapping[str, PerCase], measure: Measure, resamples: Resamples, level: float
) -> AddedMeasure:
    names = (COVARIATES_ALONE, FEATURES_ALONE, BOTH_TOGETHER)
    means = [resamples.mean(per_case[name][measure.key]) for name in names]
    covariates, features, both = (mean.root() if measure.is_root else mean for mean in means)
    each = (covariates, features, both, both.less(covariates), both.less(features))
    return AddedMeasure(measure.name, *(number.estimate(level) for number in each))
