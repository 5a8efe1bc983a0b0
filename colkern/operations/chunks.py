"""Operations over chunked arrays, tables and columns of other libraries.

Operations that work chunk by chunk get arguments that are cut wherever a chunk of any argument ends,
without a copy; the threads of the library share the chunks. For other operations, the chunks are
joined.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column, RecordBatch, Table, Tabular
from colkern.arrays.chunked import cut_alike, cut_out
from colkern.cpu.threads import map_items
from colkern.interchange.arrays import struct_of
from colkern.memory import HOST
from colkern.operations.arguments import Kind, Operation, stands_for_columns
from colkern.operations.creation import nulls
from colkern.operations.devices import device_of_rows
from colkern.operations.selection.concatenation import concat, join_plan

_FEW = 64
"""The number of chunks that stay separate, however short they are."""

_LEAST_ROWS = 4096
"""More chunks with a smaller mean length are joined: a call for each costs more than copying them."""

_BLOCK_ROWS = 1 << 18
"""The rows of such chunks joined at a time, on the host: caches hold the copy until it is read."""

Columns: TypeAlias = Array | ChunkedArray | RecordBatch | Table


def over_chunks(own: Operation, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """The result of an operation with an argument that is no array, but stands for one or several."""
    args, kwargs = without_lists(own.function, args, kwargs)
    args = [as_columns(value) for value in args]
    kwargs = {name: as_columns(value) for name, value in kwargs.items()}
    if own.kind is Kind.JOINING:
        return own.function(*args, **kwargs)
    if own.kind in (Kind.ELEMENT_WISE, Kind.SELECTION):
        return each_chunk(own.called, args, kwargs)
    if own.combine is not None and not kwargs:
        column, *options = args
        if (
            isinstance(column, ChunkedArray)
            and column.num_chunks > 1
            and len(blocks := _blocks([chunk.length for chunk in column.chunks], column)) > 1
        ):
            chunks, function = column.chunks, own.function
            values = _mapped(
                lambda block: function(_part(column, chunks, block), *options), blocks, column
            )
            value = own.combine(values, column.chunks[0])
            if value is not NotImplemented:
                return value
    result = own.called(*map(_whole, args), **{name: _whole(v) for name, v in kwargs.items()})
    has_table = any(isinstance(value, Table) for value in (*args, *kwargs.values()))
    return Table([result]) if has_table and isinstance(result, RecordBatch) else result


def without_lists(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[Sequence[object], Mapping[str, object]]:
    """The arguments, with arrays in place of lists for parameters that take arrays.

    The same objects are returned if there is no such list.
    """
    if not args or not any(isinstance(value, list) for value in (*args[1:], *kwargs.values())):
        return args, kwargs
    first = as_columns(args[0])
    if not isinstance(first, Column | Tabular):
        return args, kwargs
    # Imported late: most calls are without lists.
    from colkern.operations.moving import there

    parameters = inspect.signature(function).parameters
    kinds = {name: str(each.annotation) for name, each in parameters.items()}

    def as_array(name: str, value: object) -> object:
        is_array = kinds.get(name, "").startswith("Array") and "Sequence" not in kinds[name]
        return there(value, first) if is_array and isinstance(value, list) else value

    rest = list(map(as_array, [*kinds][1:], args[1:]))
    named = {name: as_array(name, value) for name, value in kwargs.items()}
    before = (*args[1:], *kwargs.values())
    is_same = all(map(operator.is_, before, (*rest, *named.values())))
    return (args, kwargs) if is_same else ([args[0], *rest], named)


def as_columns(value: object) -> Any:
    """A value as a column or table, if it stands for one; a list of such values as a list; else the value.

    A column of another library is an array if it has one chunk. Nothing is copied, except NumPy arrays
    that `array` copies.
    """
    if isinstance(value, Column | Tabular) or not stands_for_columns(value):
        return value
    if isinstance(value, list | tuple):
        return [as_columns(each) for each in value]
    # Late, as few calls are for columns of others.
    if isinstance(value, np.ndarray):
        from colkern.builders import array

        return array(value)
    from colkern.interchange import import_columns

    return import_columns(value)


def each_chunk(
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    threads: bool = True,
) -> Any:
    """Calls a function for each chunk, with arguments cut alike; returns the results joined as columns.

    Args:
        function: A function of arrays and batches. Its results are arrays, batches, None, or tuples
            or lists of arrays; they become chunked arrays and tables.
        args: Its arguments, of which some are columns or tables, or lists of them.
        threads: Whether several threads may call it.
    """
    sides: list[Sequence[Any]] = []
    columns: list[Columns] = []

    def placed(value: object) -> object:
        """A placeholder for a column, which is added to the sides; other values themselves."""
        if isinstance(value, Array | ChunkedArray | RecordBatch | Table):
            known = next((k for k, column in enumerate(columns) if column is value), len(sides))
            if known == len(sides):
                sides.append(parts_of(value))
                columns.append(value)
            return _Place(known)
        return [placed(each) for each in value] if isinstance(value, list) else value

    given = [placed(value) for value in args]
    named = {name: placed(value) for name, value in kwargs.items()}
    if len({column.length for column in columns}) > 1:
        # The function's own error says which argument is too short.
        return function(*map(_whole, args), **{name: _whole(v) for name, v in kwargs.items()})
    pieces, places = _pieces(columns, sides)

    def on_block(number: int) -> Any:
        own = [_part(c, p, b[number]) for c, p, b in zip(columns, pieces, places, strict=True)]

        def filled(value: object) -> object:
            if isinstance(value, _Place):
                return own[value.side]
            return [filled(each) for each in value] if isinstance(value, list) else value

        return function(*map(filled, given), **{name: filled(v) for name, v in named.items()})

    numbers = range(len(places[0]))
    return _joined(
        _mapped(on_block, numbers, columns[0]) if threads else list(map(on_block, numbers))
    )


def _pieces(
    columns: Sequence[Columns], sides: Sequence[Sequence[Any]]
) -> tuple[list[Sequence[Any]], list[list[tuple[int, int]]]]:
    """The parts of columns, cut alike, and the parts of each block, as `_blocks` gives them."""
    sizes = [[part.length for part in side] for side in sides]
    finest = max(sizes, key=len)
    blocks = _blocks(finest, columns[0])
    if len(blocks) == len(finest):
        pieces = cut_alike(sides)
        if not pieces[0]:
            pieces = [(_whole(column),) for column in columns]
        return pieces, [list(pairwise(range(len(pieces[0]) + 1)))] * len(sides)
    starts = [0, *accumulate(finest)]
    rows = [(starts[begin], starts[end] - starts[begin]) for begin, end in blocks]
    alone = list(pairwise(range(len(blocks) + 1)))
    places = [blocks if own == finest else alone for own in sizes]
    # Columns with other chunks are cut where blocks end.
    pieces = [
        side
        if own == finest
        else [_part(None, cut_out(side, *where) or [_whole(column).slice(0, 0)]) for where in rows]
        for column, side, own in zip(columns, sides, sizes, strict=True)
    ]
    return pieces, places


def _blocks(lengths: Sequence[int], column: Columns) -> list[tuple[int, int]]:
    """The first part and the part behind the last of each block: one part, or many small ones."""
    count = len(lengths)
    places: Sequence[int] = range(count + 1)
    if count > _FEW and column.length < _LEAST_ROWS * count:
        if device_of_rows(column) != HOST:
            # Chunks on several devices stay where they are.
            devices = {device_of_rows(part) for part in parts_of(column) if part.length}
            return [(0, count)] if len(devices) == 1 else list(pairwise(places))
        ends = np.cumsum(lengths)
        full = np.searchsorted(ends, np.arange(_BLOCK_ROWS, column.length, _BLOCK_ROWS)) + 1
        places = [0, *np.unique(full[full < count]).tolist(), count]
    return list(pairwise(places))


def _part(
    column: Columns | None, parts: Sequence[object], block: tuple[int, int] | None = None
) -> Any:
    """The parts of a block, or all parts, as one. Joined late, so that blocks reuse the same memory."""
    begin, end = block or (0, len(parts))
    if end == begin + 1:
        return parts[begin]
    if isinstance(column, Table) and parts is column.batches:

        def joined(position: int) -> Array:
            own = column.column(position)
            part: Array = _part(own, own.chunks, (begin, end))
            return part

        length = sum([batch.length for batch in parts[begin:end]])
        return RecordBatch.lazy(column.schema, length, joined)
    if not isinstance(column, ChunkedArray) or parts is not column.chunks:
        return concat(parts[begin:end])
    # Inspecting thousands of chunks takes longer than copying them.
    if column._plans is None:
        column._plans = {}
    plan = column._plans.get((begin, end))
    if plan is None:
        plan = column._plans[begin, end] = join_plan(parts[begin:end])
    return plan.joined()


class _Place:
    """A placeholder for a column in a call, with the number of its side."""

    __slots__ = ("side",)

    def __init__(self, side: int) -> None:
        self.side = side


def _mapped(
    function: Callable[[Any], object], items: Sequence[object], column: Columns
) -> list[Any]:
    """Calls a function for each chunk; on several threads if the bytes are in host memory."""
    if device_of_rows(column) != HOST:
        return [function(item) for item in items]
    return map_items(function, items, column.length)


def _joined(results: list[Any]) -> Any:
    first = results[0]
    if isinstance(first, Array):
        return ChunkedArray(results)
    if isinstance(first, RecordBatch):
        return Table(results)
    if isinstance(first, tuple | list):
        return type(first)(map(_joined, map(list, zip(*results, strict=True))))
    return first


def parts_of(value: Columns) -> Sequence[Any]:
    """The chunks of a column, or the batches of a table; an array or a batch is its only part."""
    if isinstance(value, ChunkedArray):
        return value.chunks
    return value.batches if isinstance(value, Table) else (value,)


def _whole(value: object) -> Any:
    """A column as one array, a table as one batch, also in a list; other values unchanged."""
    if isinstance(value, ChunkedArray):
        return combined(value)
    if isinstance(value, Table):
        return one_batch(value)
    return [_whole(each) for each in value] if isinstance(value, list) else value


def as_structs(table: RecordBatch | Table) -> Array | ChunkedArray:
    """The rows as structs; nothing is copied."""
    if isinstance(table, RecordBatch):
        return struct_of(table)
    return ChunkedArray(list(map(struct_of, table.batches)), s.struct(table.schema.fields))


def combined(column: ChunkedArray) -> Array:
    """All values as one array; copied if they are in several chunks."""
    chunks = column.chunks
    return _part(column, chunks) if chunks else nulls(0, column.type)


def one_batch(table: Table) -> RecordBatch:
    """All rows as one batch; with several batches, each column is copied when it is asked for."""
    if table.batches:
        batch: RecordBatch = _part(table, table.batches)
        return batch
    return RecordBatch(table.schema, [nulls(0, type_) for type_ in table.schema.types], 0)
