"""Options of several commands, and their output: data on stdout, all else on stderr."""

import json
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, dataclass_transform, get_args

from cyclopts import Parameter, Token

from unselected.cli import STANDARD_STREAM
from unselected.cli.whole_numbers import Count, Seed, whole

SCHEMA = 1


def _path(_: type, tokens: Sequence[Token]) -> str:
    value = tokens[0].value
    return "-" if value == STANDARD_STREAM else value


def _whole_or_word(_: type, tokens: Sequence[Token]) -> "K":
    word = tokens[0].value
    if word in ("auto", "loo"):
        return "auto" if word == "auto" else "loo"
    try:
        return whole(int, tokens)
    except ValueError:
        raise ValueError(f"{word} is neither a whole number nor auto or loo.") from None


def _wholes_or_words(of: type, tokens: Sequence[Token]) -> tuple["K", ...]:
    """Return several of them, each once, in the order given."""
    each = (_whole_or_word(of, [token]) for token in tokens)
    return tuple(dict.fromkeys(each))


ModelOption = Literal["auto", "classifier", "regressor", "bernoulli", "gaussian", "regression"]
AnyModelOption = Literal[
    "auto",
    "classifier",
    "regressor",
    "bernoulli",
    "gaussian",
    "regression",
    "mixture",
    "factor",
]
AuditModelOption = Literal[
    "auto", "logistic", "bayes", "ridge", "forest", "classifier", "regressor"
]
# The averages over models, for classes and for numbers, whose fits take seconds.
FrontDoor = Literal["classifier", "regressor"]
FRONT_DOORS: tuple[str, ...] = get_args(FrontDoor)
TiesOption = Literal["first", "random"]
PriorOption = Literal["auto", "common", "sparse"]
DependenceOption = Literal["auto", "none", "tempered", "correlated"]
PaperPriorOption = Literal["common", "sparse"]
PaperDependenceOption = Literal["none", "tempered", "correlated"]
ExportFormat = Literal["html", "csv"]
RatesOption = Literal["uniform", "given"]
FamilyOption = Literal["binary", "genotype"]
BitScoreOption = Literal["chi2", "mutual_info", "fisher", "odds_ratio", "rate_difference"]
ValueScoreOption = Literal["welch", "moderated_t", "wilcoxon", "auc", "mean_difference", "volcano"]
ScoreOption = Literal["correlation"] | BitScoreOption | ValueScoreOption
K = int | Literal["auto", "loo"]
KOption = Annotated[K, Parameter(converter=_whole_or_word)]
if TYPE_CHECKING:
    FileName = str
else:
    FileName = Path  # by which completion in the shell knows that it is a file
Input = Annotated[FileName, Parameter(converter=_path)]
Output = Annotated[FileName, Parameter(name=["--output", "-o"], converter=_path)]
Flag = Annotated[bool, Parameter(negative="")]
# Several are given one by one; see `one_by_one` of the package.
KOptions = Annotated[
    tuple[K, ...],
    Parameter(
        converter=_wholes_or_words, negative="", show_default=lambda k: " ".join(map(str, k))
    ),
]
SEVERAL = Parameter(consume_multiple=True, negative="", show_default=False)
Names = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def options(cls: type[T]) -> type[T]:
    """Make a frozen dataclass whose fields are options of the commands that take it."""
    return Parameter(name="*")(dataclass(frozen=True)(cls))


@options
class Speech:
    """The form of a command's output.

    Parameters
    ----------
    json
        Print one JSON object on stdout.
    debug
        Show the traceback of an error.
    """

    json: Flag = False
    debug: Flag = False

    def answer(self, command: str, content: dict[str, Any], text: str) -> None:
        """Print the answer, as text or as a JSON object with its schema number."""
        if self.json:
            print(json.dumps({"schema": SCHEMA, "command": command, **content}, allow_nan=False))
        else:
            print(text)


@options
class Source:
    """A table with features and the response: classes or numbers.

    Parameters
    ----------
    target
        Name of the column (or row) that holds the response. For `fit` with an .npy, .h5ad, .bed
        or .zarr file: FILE:COLUMN of another table with the same cases in the same order.
    id
        Name of the column that identifies the cases; it is not a feature.
    features_in_rows
        The table has a row for each feature and a column for each case.
    covariates
        Names of columns beside the features, such as age sex batch: they are always in the model,
        and the features are scored given them. Numbers, TRUE and FALSE, and text are coded. For an
        .h5ad file: columns of obs. For other tables with the same cases in the same order:
        FILE:COLUMN of each. Give this option after the name of the table.
    """

    target: str
    id: str | None = None
    features_in_rows: Flag = False
    covariates: Annotated[tuple[str, ...], SEVERAL] = ()


@options
class Choice:
    """The model, and how features are selected.

    Parameters
    ----------
    model
        classifier (classes) or regressor (numeric response), averages over models of any features,
        the best choice for real data; or one of the paper's models: bernoulli (features 0 or 1,
        classes), gaussian (real-valued features, classes), regression (real-valued features,
        numeric response). auto takes classifier or regressor, unless an option asks for what only
        the paper's models have. For `fit` also mixture (two latent groups of cases, features 0 or
        1, two classes) and factor (latent factors, two classes or numeric response), which run
        Markov chains for seconds to minutes.
    k
        Keep the k features with the highest scores; classifier and regressor average over 5, 20,
        100, ... and k, and by default, auto, up to 1000 (classifier) or 500 (regressor). loo, for
        the other models, tries 1, 2, 5, 10 and so on, and takes the k with the lowest leave-one-out
        log loss.
    threshold
        Keep the features whose score is above this. The score is the absolute correlation, or the
        F statistic with more than two classes, or what --score says, in its units.
    preselected_from
        Set this where the table holds only features that were already selected by their scores:
        the number of features before that selection.
    always_keep
        Keep these columns whatever their scores. Give this option after the name of the table; it
        may be repeated.
    ties
        How ties at the cut are broken: first (the first columns are kept) or random; classifier and
        regressor break them by the content of the columns.
    prior
        common (every feature is related to the response, more or less strongly) or sparse (only an
        unknown fraction of the features is). auto averages over both in classifier and
        regressor, and is common in the other models.
    dependence
        Guard against features that depend on each other given the response: none, tempered (learns
        the power of the likelihood and the outlier fraction from ten folds) or correlated (also
        averages over likelihoods with correlations). auto is the best guard of classifier and
        regressor, and none in the other models. regressor has no tempered, and regression has none
        of these.
    groups
        Name of the column that says which cases belong together, such as samples of one patient:
        they stay together in all folds. It is not a feature. For classifier and regressor.
    family
        What the values of features are, bernoulli only: binary (0 or 1, or cut at the median) or
        genotype (0, 1 or 2 copies of an allele; alleles are counted, and .bed files are read so).
    rates
        What is assumed of how often features are 1, bernoulli only: uniform (all rates are equally
        probable) or given (the number of ones of every feature is taken as given: for rare words
        and other features that are mostly 0).
    score
        What features are selected by: correlation (F with more than two classes). For bernoulli
        chi2, mutual_info, rate_difference, or with two classes fisher (-log10 of the p-value of
        Fisher's exact test) or odds_ratio. For gaussian and two classes welch, moderated_t,
        wilcoxon, auc, mean_difference or volcano (above 1 where the mean difference is above 1 and
        the p-value below 0.05).
    uncorrected
        Do not condition on the selection: gives the usual, uncorrected posterior.
    variance_shrinkage
        Shrink the variances of features with the same unit towards each other, with this many prior
        degrees of freedom; gaussian and regression only.
    seed
        Seed of all random numbers.
    """

    model: AnyModelOption = "auto"
    k: KOption | None = None
    threshold: float | None = None
    preselected_from: Count | None = None
    always_keep: Annotated[tuple[str, ...], SEVERAL] = ()
    ties: TiesOption = "first"
    prior: PriorOption = "auto"
    dependence: DependenceOption = "auto"
    groups: str | None = None
    family: FamilyOption = "binary"
    rates: RatesOption = "uniform"
    score: ScoreOption = "correlation"
    uncorrected: Flag = False
    variance_shrinkage: float | None = None
    seed: Seed = 0

    def only_paper(self, door: FrontDoor) -> list[str]:
        """Return the given options that only the paper's models have, for this kind of response."""
        given = {
            "--k loo": self.k == "loo",
            f"--ties {self.ties}": self.ties != "first",
            "--variance-shrinkage": self.variance_shrinkage is not None,
        }
        if door == "classifier":
            given |= {
                f"--dependence {self.dependence}": self.dependence == "correlated",
                f"--family {self.family}": self.family != "binary",
                f"--rates {self.rates}": self.rates != "uniform",
                f"--score {self.score}": self.score != "correlation",
            }
        return [option for option, is_given in given.items() if is_given]


def on_terminal() -> bool:
    """Return whether stderr is a terminal; a file or a pipe gets no progress bars."""
    return sys.stderr.isatty()


@contextmanager
def patience(what: str, *, after: float = 2.0) -> Iterator[None]:
    """Show the elapsed time on stderr, once it exceeds ``after`` seconds.

    On a terminal one line counts the seconds; elsewhere one line is written at the end.
    """
    done = threading.Event()
    start = time.monotonic()
    watched = on_terminal()

    def tell() -> None:
        told = False
        while not done.wait(1.0 if told else after):
            told = True
            if watched:
                print(f"\r{_seconds(what, start)}", end="", file=sys.stderr, flush=True)
        if told:
            print("" if watched else _seconds(what, start), file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _seconds(what: str, start: float) -> str:
    return f"{what}: {time.monotonic() - start:.0f} s"


def note(text: str) -> None:
    """Print a note to stderr."""
    print(text, file=sys.stderr, flush=True)


def classes_text(classes: Iterable[object]) -> str:
    """Return the classes, and with two classes the one whose probabilities are given."""
    labels = [str(label) for label in classes]
    if len(labels) == 2:
        return f"classes {labels[0]} and {labels[1]}; probabilities are those of {labels[1]}"
    return f"classes {', '.join(labels)}"


def classes_content(classes: Iterable[object]) -> dict[str, Any]:
    """Return the classes as plain JSON types; the second of two is the positive class."""
    labels = [str(label) for label in classes]
    positive = {"positive_class": labels[1]} if len(labels) == 2 else {}
    return {"classes": labels, **positive}


def counted(n: int, what: str) -> str:
    """Return a number of things.

    >>> counted(1, "fit"), counted(2, "fit")
    ('1 fit', '2 fits')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


def columns_of(rows: list[tuple[Any, ...]], header: tuple[str, ...]) -> str:
    """Return rows as aligned text, numbers to the right."""
    cells = [tuple(map(str, row)) for row in [header, *rows]]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
