"""Warnings of a fit: columns, classes and options that may not be what the user means.

Each warning is given once per fit, and points at the caller's line outside of the library.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unselected._typing import ColumnNamer, Floats
from unselected._warnings import warn
from unselected.estimators.covariates import CodedCovariates
from unselected.estimators.parameters import first_few
from unselected.selection.count_scores import CountScores
from unselected.selection.rules import SelectionRule
from unselected.selection.scores import Scores
from unselected.statistics.design import CovariateBasis, Design
from unselected.statistics.normal_scores import NormalScores
from unselected.statistics.unscored import SAME_RESPONSE, TOO_FEW, Unscored

# Covariates that leave less than this part of the response's variation nearly determine it.
_LITTLE_LEFT = 0.05
# At most this many columns or classes are named in a message.
_NAMED = 3
# Cases are nearly the same where their distance is below this part of the usual one. Fewer columns
# or cases do not tell, and more cases take too long to compare.
_ALIKE, _FEWEST_COLUMNS, _FEWEST_ROWS, _MOST_ROWS = 0.35, 20, 6, 3000
# Below this part of the usual distance a case is a copy of another, but for rounding.
_COPIED = 1e-4


def check_selection(
    scores: Scores[Any],
    rule: SelectionRule,
    classes: NDArray[Any],
    label: ColumnNamer,
    *,
    k: Any,
    corrected: bool,
) -> None:
    """Warn where a selection from these scores is doubtful; raise where it is impossible.

    Parameters
    ----------
    scores, rule
        Those of the fit to all cases.
    classes, label
        The labels of the classes, and the name of a column.
    k : int, "loo" or None
        As the user gave it. A number that is too large is an error; with "loo" it is not.
    corrected : bool
        Whether the model is conditioned on the selection.
    """
    _check_scored(scores, rule, classes, label, k)
    if isinstance(scores, CountScores):
        _warn_of_three_steps(scores.counted.n_three_steps)
    n_free = scores.size - rule.always.size
    # A single column leaves nothing to select, now or earlier.
    if corrected and _is_whole(k) and k == n_free > 1:
        warn(
            f"k={k} keeps all {n_free} columns, so there is nothing to correct. If these columns "
            "were already selected by their relation to y, the correction misses that: pass all "
            "columns, or set preselected_from to the number of columns before that selection. "
            "k=None keeps all columns without this warning."
        )


def check_variation(
    scores: Scores[Any], rule: SelectionRule, *, adjusted: bool = False, of_numbers: bool = False
) -> None:
    """Warn where no column has a score above 0, unless a threshold says so already."""
    if rule.gamma is not None or np.any(scores.rough > 0.0):
        return
    if adjusted:
        warn(
            "given the covariates no column is related to the response: predictions are those by "
            "the covariates."
        )
    elif of_numbers:
        warn(
            "all columns are constant, or have nothing to do with the response: predictions are "
            "those without features. Look at how the table was read."
        )
    else:
        warn(
            "all columns are constant, or have the same values in all classes: predictions are the "
            "frequencies of the classes. Look at how the table was read."
        )


def check_replicates(X: NDArray[Any], y: NDArray[np.intp]) -> None:
    """Warn of cases that are nearly the same as another of their class.

    They may be samples of one subject, and folds that divide them would see the answer. A case is
    nearly the same as another where their distance is far below the usual one in the class.

    Parameters
    ----------
    X : array of shape (n, columns)
        The most strongly related columns.
    y : array of shape (n,)
    """
    n_alike = _count_alike(X, y, _ALIKE)
    if n_alike >= max(4, 0.1 * y.size):
        warn(
            f"{n_alike} of {y.size} cases are nearly the same as another case of their class. If "
            "they are samples of the same subject, folds that divide them make predictions look "
            "better than they are: pass groups to fit, a label of the subject for each case."
        )


def check_copies(X: NDArray[Any]) -> None:
    """Warn of cases with the values of another case, where the response is a number.

    Cases with similar responses are often similar, such as spectra: only copies are told.
    """
    n_copies = _count_alike(X, np.zeros(len(X), dtype=np.intp), _COPIED)
    if n_copies >= max(4, 0.1 * len(X)):
        warn(
            f"{n_copies} of {len(X)} cases have the same values as another case. If they are the "
            "same case, or samples of the same subject, folds that divide them make predictions "
            "look better than they are: leave the copies out, or pass groups to fit, a label of "
            "the subject for each case."
        )


def _count_alike(X: NDArray[Any], y: NDArray[np.intp], alike: float) -> int:
    """Count cases whose distance to another of their class is below this part of the usual one."""
    if len(X) > _MOST_ROWS:
        return 0
    # Columns of 0 and 1 do not tell: texts with few of the words are alike.
    X = X[:, ~np.all((X == 0) | (X == 1) | (X != X), axis=0)]
    if X.shape[1] < _FEWEST_COLUMNS:
        return 0
    values = np.nan_to_num(NormalScores.learn(X).apply(X))
    squares = np.sum(values**2, axis=1)
    n_alike = 0
    for g in np.unique(y):
        rows = np.flatnonzero(y == g)
        if rows.size < _FEWEST_ROWS:
            continue
        products = values[rows] @ values[rows].T
        distances = np.add.outer(squares[rows], squares[rows]) - 2.0 * products
        np.fill_diagonal(distances, np.inf)
        usual = np.median(distances[np.isfinite(distances)])
        n_alike += int(np.count_nonzero(distances.min(axis=1) < alike**2 * usual))
    return n_alike


def check_classes(classes: NDArray[Any], codes: NDArray[np.intp]) -> None:
    """Warn of labels that may mean the same class, and of classes with a single case."""
    spellings: dict[str, list[str]] = {}
    for name in (name for name in classes.tolist() if isinstance(name, str)):
        spellings.setdefault("".join(name.split()).casefold(), []).append(name)
    alike = [", ".join(map(repr, names)) for names in spellings.values() if len(names) > 1]
    if alike:
        warn(
            f"the classes {first_few(alike, _NAMED, str, '; ')} differ only by blanks or by upper "
            "and lower case, and are treated as different classes. If they are the same class, "
            "spell them the same way in y."
        )
    single = classes[np.bincount(codes, minlength=classes.size) == 1].tolist()
    # Where every class has one case, a fit that needs more raises an error of its own.
    if single and len(single) < classes.size:
        which = "class" if len(single) == 1 else "classes"
        has = "has" if len(single) == 1 else "have"
        warn(
            f"{which} {first_few(single, _NAMED)} {has} one case only, too few to learn from: add "
            "cases, or drop or merge the class."
        )


def _warn_of_three_steps(n: int) -> None:
    if n:
        have = "has" if n == 1 else "have"
        are = "was" if n == 1 else "were"
        warn(
            f"{_count(n, 'column')} {have} three consecutive whole numbers as values, such as "
            f"genotypes 0, 1 and 2, and {are} cut at the median by binarize='auto'. For genotypes "
            "use family='genotype'. Otherwise set the cut, for example binarize=0.5 to separate 0 "
            "from 1 and 2, encode each as two columns of 0 and 1, or use SelectiveGaussianNB."
        )


def _check_scored(
    scores: Scores[Any], rule: SelectionRule, classes: NDArray[Any], label: ColumnNamer, k: Any
) -> None:
    """Warn of columns that have no score, or raise where the rule needs their scores."""
    unscored = scores.unscored
    if not unscored.columns.size:
        return
    why = _reasons(unscored, classes, label)
    lost = np.flatnonzero(np.isin(unscored.columns, rule.always))[:1]
    if lost.size:
        why = _reason(int(unscored.reasons[lost[0]]), 1, classes)
        raise ValueError(
            f"always_keep has {label(int(unscored.columns[lost[0]]))}, which {why}: fill in its "
            "values, or remove it from always_keep."
        )
    if rule.n_before is not None:
        raise ValueError(
            f"preselected_from={rule.n_before} says that every column was kept by its score, but "
            f"{why}: fill in the values, or drop the columns."
        )
    n_free = scores.size - unscored.columns.size - rule.always.size
    if n_free == 0:
        raise ValueError(f"no column can be selected: {why}. Fill in their values.")
    if _is_whole(k) and k > n_free:
        raise ValueError(
            f"k={k} is out of range: only {_count(n_free, 'column')} can be selected, because "
            f"{why}. Choose a smaller k, or fill in the values."
        )
    were = "was" if unscored.columns.size == 1 else "were"
    warn(f"{why}, and {were} left out of the selection: fill in the values, or drop the columns.")


def check_confounding(covariates: CodedCovariates, y: NDArray[Any], n_classes: int) -> None:
    """Warn where covariates leave little of the response for features to explain."""
    left = _unexplained(covariates.Z, y, n_classes)
    if left > _LITTLE_LEFT:
        return
    alone = {
        name: _unexplained(CovariateBasis.learn(coded).apply(coded), y, n_classes)
        for name, coded in covariates.by_name().items()
    }
    most = min(alone, key=lambda name: alone[name])
    what = "class" if n_classes else "response"
    who = "the covariates together nearly determine"
    if alone[most] <= _LITTLE_LEFT:
        who = f"covariate {most!r} nearly determines"
    warn(
        f"{who} the {what} (a part of {left:.1g} of its variation is left): features cannot be "
        "told from covariates here, and predictions follow the covariates. Leave out covariates "
        f"that are a consequence of the {what}, or add cases that tell them apart."
    )


def _unexplained(Z: Floats, y: NDArray[Any], n_classes: int) -> float:
    """Return the part of the response's variation that is left, allowing for chance."""
    design = Design.by_class(Z, y, n_classes) if n_classes else Design.along(Z, y)
    n, m = Z.shape
    return round(float(design.unexplained * (n - 1.0) / (n - m)), 6)


def _reasons(unscored: Unscored, classes: NDArray[Any], label: ColumnNamer) -> str:
    """Return how many columns have no score, for each reason, and their names."""
    parts = []
    for reason in np.unique(unscored.reasons)[::-1]:
        columns = unscored.columns[unscored.reasons == reason].tolist()
        verb = _reason(int(reason), len(columns), classes)
        named = first_few(columns, _NAMED, label)
        parts.append(f"{_count(len(columns), 'column')} {verb} ({named})")
    return "; ".join(parts)


def _reason(reason: int, n: int, classes: NDArray[Any]) -> str:
    """Return the reason why n columns have no score, in words."""
    has, is_ = ("has", "is") if n == 1 else ("have", "are")
    if reason == TOO_FEW:
        return f"{has} too few known values to estimate a variance"
    if reason == SAME_RESPONSE:
        return f"{is_} known only for cases with the same response"
    return f"{has} no known value in class {classes.tolist()[reason]!r}"


def _is_whole(k: Any) -> bool:
    return isinstance(k, int | np.integer)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
