"""The paper's published figures, and where they fall among replicates of its simulation."""

from collections.abc import Iterable
from dataclasses import dataclass

from unselected.experiments.simulation import Method, SimulationRecord

# Smallest kept correlation for k = 1, 10, 100, 1000 (section 4).
GAMMA = {1: 0.36, 10: 0.27, 100: 0.21, 1000: 0.13}

# Table 1, the cells with cases: (k, method) -> category -> (count, mean prediction, actual fraction).
Cells = dict[int, tuple[int, float, float]]
TABLE: dict[tuple[int, Method], Cells] = {
    (1, "corrected"): {4: (1346, 0.446, 0.461), 6: (654, 0.611, 0.581)},
    (1, "uncorrected"): {3: (1346, 0.384, 0.461), 7: (654, 0.736, 0.581)},
    (10, "corrected"): {
        1: (3, 0.174, 0.000), 2: (126, 0.270, 0.294), 3: (467, 0.360, 0.420), 4: (566, 0.462, 0.461),
        5: (461, 0.554, 0.566), 6: (276, 0.643, 0.616), 7: (97, 0.733, 0.742), 8: (4, 0.825, 0.750),
    },
    (10, "uncorrected"): {
        0: (237, 0.046, 0.312), 1: (349, 0.149, 0.444), 2: (68, 0.249, 0.500), 3: (300, 0.360, 0.443),
        4: (189, 0.443, 0.487), 5: (48, 0.546, 0.417), 6: (238, 0.650, 0.588), 7: (180, 0.737, 0.567),
        8: (192, 0.864, 0.609), 9: (199, 0.943, 0.668),
    },
    (100, "corrected"): {
        0: (155, 0.067, 0.077), 1: (247, 0.151, 0.162), 2: (220, 0.247, 0.286), 3: (225, 0.352, 0.356),
        4: (237, 0.450, 0.494), 5: (227, 0.545, 0.586), 6: (202, 0.650, 0.728), 7: (214, 0.749, 0.785),
        8: (182, 0.847, 0.857), 9: (91, 0.935, 0.923),
    },
    (100, "uncorrected"): {
        0: (717, 0.017, 0.199), 1: (133, 0.150, 0.391), 2: (70, 0.251, 0.429), 3: (68, 0.351, 0.515),
        4: (58, 0.451, 0.500), 5: (78, 0.552, 0.603), 6: (77, 0.654, 0.532), 7: (80, 0.746, 0.662),
        8: (98, 0.852, 0.633), 9: (621, 0.979, 0.818),
    },
    (1000, "corrected"): {
        0: (774, 0.018, 0.027), 1: (97, 0.143, 0.165), 2: (63, 0.243, 0.302), 3: (48, 0.346, 0.438),
        4: (45, 0.446, 0.600), 5: (44, 0.547, 0.614), 6: (53, 0.647, 0.698), 7: (81, 0.755, 0.815),
        8: (124, 0.854, 0.863), 9: (671, 0.977, 0.982),
    },
    (1000, "uncorrected"): {
        0: (954, 0.004, 0.066), 1: (28, 0.149, 0.500), 2: (13, 0.248, 0.846), 3: (17, 0.349, 0.412),
        4: (14, 0.449, 0.786), 5: (16, 0.546, 0.375), 6: (16, 0.667, 0.812), 7: (22, 0.751, 0.636),
        8: (25, 0.865, 0.560), 9: (895, 0.995, 0.946),
    },
    (10_000, "complete"): {
        0: (964, 0.004, 0.006), 1: (21, 0.145, 0.238), 2: (8, 0.246, 0.375), 3: (10, 0.342, 0.300),
        4: (12, 0.436, 0.500), 5: (7, 0.544, 1.000), 6: (20, 0.656, 1.000), 7: (13, 0.743, 0.846),
        8: (22, 0.851, 0.818), 9: (923, 0.994, 0.998),
    },
}  # fmt: skip


# Section 5: error rates, and over ten groups of genes how often corrected is better, with the
# p-values of paired t tests.
COLON_ERROR = {"uncorrected": 0.194, "corrected": 0.182}
COLON_BETTER = {"log_loss": (10, 0.00007), "squared_error": (8, 0.019)}


@dataclass(frozen=True)
class PublishedScores:
    """Scores that follow from a method's rows of the paper's Table 1, to its rounding.

    The squared error leaves out how predictions differ within a category, which is less than
    0.0009 of it: a category is 0.1 wide.
    """

    k: int
    method: Method
    actual_error: float
    expected_error: float
    squared_error: float


def published_scores() -> list[PublishedScores]:
    """Return the scores that follow from the paper's Table 1.

    Predictions of categories 0 to 4 are below 0.5, and so of class 0.

    >>> [round(score.actual_error, 3) for score in published_scores()[:2]]
    [0.447, 0.447]
    """
    return [_scores_of(k, method, cells) for (k, method), cells in TABLE.items()]


def _scores_of(k: int, method: Method, cells: Cells) -> PublishedScores:
    total = sum(count for count, _, _ in cells.values())
    actual = expected = squared = 0.0
    for category, (count, prediction, fraction) in cells.items():
        share, is_low = count / total, category < 5
        actual += share * (fraction if is_low else 1.0 - fraction)
        expected += share * (prediction if is_low else 1.0 - prediction)
        squared += share * (prediction**2 - 2.0 * prediction * fraction + fraction)
    return PublishedScores(k, method, actual, expected, squared)


@dataclass(frozen=True)
class Comparison:
    """A published figure beside the range of the replicates that have one like it."""

    what: str
    k: int
    method: Method
    published: float
    low: float | None
    high: float | None
    n_replicates: int

    @property
    def inside(self) -> bool:
        """Whether the published figure lies in the range, to the digits that were published."""
        if self.low is None or self.high is None:
            return False
        digit = 0.005 if self.what == "smallest kept correlation" else 0.0005
        return self.low - digit <= self.published <= self.high + digit


def compare_with_published(
    records: Iterable[SimulationRecord], *, least_count: int = 100
) -> list[Comparison]:
    """Compare the replicates with the paper: gamma, and every cell with ``least_count`` cases or more.

    For each cell there are three figures: the number of cases, the mean prediction and the actual
    fraction. Replicates with no case in a category say nothing of its means.
    """
    records = list(records)
    rows = [
        _compared(
            "smallest kept correlation",
            k,
            "corrected",
            gamma,
            [r.threshold for r in records if (r.k, r.method) == (k, "corrected")],
        )
        for k, gamma in GAMMA.items()
    ]
    for (k, method), cells in TABLE.items():
        tables = [record.table for record in records if (record.k, record.method) == (k, method)]
        for category, published in cells.items():
            if published[0] < least_count:
                continue
            fields = ("count", "mean_prediction", "actual_fraction")
            for field, value in zip(fields, published, strict=True):
                seen = [table[category][field] for table in tables]
                what = f"{field.replace('_', ' ')} in 0.{category}-{(category + 1) / 10}"
                rows.append(_compared(what, k, method, value, seen))
    return rows


def _compared(
    what: str, k: int, method: Method, published: float, seen: list[float | None]
) -> Comparison:
    values = [value for value in seen if value is not None]
    low, high = (min(values), max(values)) if values else (None, None)
    return Comparison(what, k, method, published, low, high, len(values))
