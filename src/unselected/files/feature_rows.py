"""Tables with features in rows: each row has the name of a feature and a cell per sample."""

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import NDArray

from unselected.files.cells import Block, Decimals, labels, numbers, side_by_side, strings
from unselected.files.covariate_cells import text_covariates
from unselected.files.table_request import NOT_TURNED, Request, Table


def from_feature_rows(
    ids: list[str], blocks: Iterable[Block], request: Request, decimals: Decimals | None = None
) -> Table:
    """Return the table from blocks of features, whose single text column holds their names."""
    if request.id_column is not None:
        raise request.error(
            f"the id column {request.id_column!r} does not go with features in rows, where the "
            "header holds the ids: leave it out"
        )
    if not ids:
        raise request.error("it has no samples: there must be columns besides the names")
    request.check_distinct(ids, "sample")
    in_words = {request.target, *request.covariates}
    names: list[str] = []
    features: dict[str, NDArray[Any]] = {}
    beside: dict[str, list[str]] = {}
    y = None
    for block in blocks:
        names.extend(name for (name,) in block.texts)
        for row in _one_by_one(block, request):
            name = row.texts[0][0]
            texts = [*map(str, row.cells[0])] if name in in_words else []
            if name in request.covariates:
                beside[name] = texts
            elif name == request.target:
                y = labels(texts, request, lambda j: f"sample {ids[j]!r}", decimals)
            elif name != request.left_out:
                features[name] = numbers(row, ids, request, decimals)[0]
    if request.target is not None and y is None:
        hint = NOT_TURNED if request.target in ids else ""
        raise request.absent(request.target, "the target", names, hint)
    request.check_distinct(names, "feature")
    if request.left_out is not None and request.left_out not in names:
        raise request.absent(request.left_out, "what is left out", names, "")
    request.check_covariates(names)
    chosen = list(features) if request.columns is None else list(request.columns)
    request.check_features(chosen, names)
    X = side_by_side([features[name] for name in chosen], len(ids))
    asked = {name: beside[name] for name in request.covariates}
    covariates, notes = text_covariates(asked, request, decimals, case_word="sample", first_case=1)
    return Table(X, strings(chosen), y, strings(ids), request.path, notes, covariates)


def _one_by_one(block: Block, request: Request) -> Iterator[Block]:
    """Yield the requested rows of a block, one by one."""
    wanted = (
        None
        if request.columns is None
        else {
            request.target,
            *request.covariates,
            *request.columns,
        }
    )
    for j, texts in enumerate(block.texts):
        if wanted is None or texts[0] in wanted:
            yield Block(block.number + j, [texts], block.cells[j : j + 1])
