"""A table with features in rows: their names come first, then a cell for each sample."""

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import NDArray

from unselected.files.cells import Block, labels, numbers, side_by_side, strings
from unselected.files.table_request import Request, Table


def from_feature_rows(ids: list[str], blocks: Iterable[Block], request: Request) -> Table:
    """Return the table of blocks of features, whose one column of text holds their names."""
    if request.id_column is not None:
        raise request.error(
            f"the id column {request.id_column!r} does not go with features in rows, where the "
            "header holds the ids: leave it out"
        )
    if not ids:
        raise request.error("it has no samples: there must be columns besides the names")
    request.check_distinct(ids, "sample")
    names: list[str] = []
    features: dict[str, NDArray[Any]] = {}
    y = None
    for block in blocks:
        names.extend(name for (name,) in block.texts)
        for row in _one_by_one(block, request):
            name = row.texts[0][0]
            if name == request.target:
                y = labels([*map(str, row.cells[0])], request, lambda j: f"sample {ids[j]!r}")
            else:
                features[name] = numbers(row, ids, request)[0]
    request.check_distinct(names, "feature")
    if request.target is not None and y is None:
        raise request.absent(request.target, "the target", names)
    chosen = list(features) if request.columns is None else list(request.columns)
    request.check_features(chosen, names)
    X = side_by_side([features[name] for name in chosen], len(ids))
    return Table(X, strings(chosen), y, strings(ids), request.path)


def _one_by_one(block: Block, request: Request) -> Iterator[Block]:
    """Yield the rows of a block that are wanted."""
    wanted = None if request.columns is None else {request.target, *request.columns}
    for j, texts in enumerate(block.texts):
        if wanted is None or texts[0] in wanted:
            yield Block(block.number + j, [texts], block.cells[j : j + 1])
