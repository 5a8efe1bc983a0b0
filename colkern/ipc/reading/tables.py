"""`read_table`: a whole source as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from colkern.arrays import Table
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.opening import open
from colkern.ipc.reading.sources import Source
from colkern.memory import Device
from colkern.operations import (
    and_kleene,
    equal,
    filter,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
)
from colkern.steps import steps

_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "!=": not_equal,
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
}


def read_table(
    source: Source,
    *,
    columns: Sequence[int | str] | None = None,
    filters: Sequence[tuple[str, str, object]] = (),
    device: str | Device | None = None,
    memory_map: bool = True,
    trusted: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Table:
    """All batches of an Arrow IPC file or stream as a table.

    Columns of a mapped file are decoded when they are asked for, as of the reader's batches; with
    `filters`, all those that the table has are decoded now.

    Args:
        source: As for `open`, as are all arguments but `filters`.
        columns: Names or positions of the columns of the table, in that order; None for all.
        filters: Triples of a column's name, `==`, `!=`, `<`, `<=`, `>` or `>=`, and a value, as
            `colkern.equal` takes it: rows for which all are true are kept.

    Raises:
        ValueError: If a filter has another word for its comparison.

    and what `open` and the readers raise, and comparisons.
    """
    for name, word, _ in filters:
        if word not in _COMPARED:
            raise ValueError(f"filters: {name} {word!r}: expected one of {', '.join(_COMPARED)}")
    wanted = None if columns is None else list(columns)
    if wanted is not None:
        wanted += [name for name, _, _ in filters if name not in wanted]
    with open(
        source,
        columns=wanted,
        device=device,
        memory_map=memory_map,
        trusted=trusted,
        limits=limits,
    ) as reader:
        table = Table(steps(reader, "reading batches"), reader.schema)
    if filters:
        masks = [_COMPARED[word](table[name], value) for name, word, value in filters]
        table = filter(table, reduce(and_kleene, masks))
    return table if columns is None else table.select(range(len(columns)))
