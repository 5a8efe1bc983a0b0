"""Running a generator function over arrays: its items are counted, then written as one column of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.jit.compiling.row_function import RowFunction
from colkern.jit.results.outputs import bitmap_without, finished, require_offsets
from colkern.jit.results.writers import TEXT, writer_of
from colkern.jit.rows import sink_cells as cell
from colkern.jit.rows.flags import CHANGED, MADE_NULL
from colkern.jit.rows.inputs import Inputs
from colkern.jit.rows.loops import Body, Names, compile_loop
from colkern.jit.rows.row_loop import RowLoop
from colkern.layouts import Role, layout
from colkern.memory import HOST, Buffer, allocate
from colkern.operations.targets import target_of


class Generation:
    """How a generator function runs over arrays of certain types.

    Args:
        name: Its name, for messages.
        inputs: How its arguments are read.
        function: The function, which takes a sink.
        returns: The type of the lists.
    """

    def __init__(
        self, name: str, inputs: Inputs, function: RowFunction, returns: s.List | s.LargeList
    ) -> None:
        self._name = name
        self._inputs = inputs
        self._function = function
        self._returns = returns
        self._item = returns.value_type
        self._writer = writer_of(self._item)
        if self._writer.item is not None:
            put, item = None, self._writer.item
            counting, writing = _COUNT, _WRITE
        else:
            put = "put_text" if self._writer.kinds == TEXT else "put_binary"
            item = layout(self._item).spec(Role.OFFSETS).dtype
            counting, writing = _MEASURE, _WRITE_BYTES
        self._count = self._loop(counting, put, None)
        self._write = self._loop(writing, put, item)

    def _loop(self, body: Body, put: str | None, item: np.dtype[Any] | None) -> RowLoop:
        def names() -> dict[str, Any]:
            from colkern.jit.rows import sinks

            sink_at = sinks.sink_at(sinks.sink_type(put, item))
            return {"CHANGED": CHANGED, "new_cells": sinks.new_cells, "sink_at": sink_at}

        inputs, key = self._inputs, f"{put} {item}"
        loop = compile_loop(
            self._function, inputs.readers, inputs.nullable, body, Names(key, names)
        )
        return RowLoop(self._name, loop, self._item)

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """A list of what the function yields for each row of arrays of one length."""
        passed, validity, null_count = self._inputs.of(arrays)
        starts, items = self._items(passed, length)
        buffers = [validity, Buffer(starts.view(np.uint8))]
        return Array(self._returns, length, buffers, (items,), null_count=null_count)

    def compile(self, types: Sequence[s.DataType]) -> None:
        """Compile the loops for arrays of those types; the function is not called.

        Raises:
            CompileError: If they do not compile.
        """
        self._items(self._inputs.of_types(types), 0)

    def _items(self, passed: list[Any], length: int) -> tuple[NDArray[Any], Array]:
        """The offsets of the lists, and their items."""
        counts, sizes = np.zeros(length, np.int64), np.zeros(length, np.int64)
        self._count.run(length, [*passed, counts, sizes])
        starts = self._starts(counts)
        total = int(starts[-1])
        nulls = np.zeros(total, np.uint8)
        write = self._bytes if self._writer.item is None else self._numbers
        buffers, flags = write([*passed, starts, nulls], sizes, total)
        validity = bitmap_without(None, nulls) if flags & MADE_NULL else None
        count = int(nulls.sum()) if validity else 0
        return starts, Array(self._item, total, [validity, *buffers], null_count=count)

    def _starts(self, counts: NDArray[Any]) -> NDArray[Any]:
        target = target_of(HOST)
        offset_type = layout(self._returns).spec(Role.OFFSETS).dtype
        total, most = target.total(counts), np.iinfo(offset_type).max
        if total > most:
            raise LimitExceededError(
                f"{self._name}: {total} items; {self._returns} holds {most} in one array: "
                f"declare returns=ck.large_list(…)"
            )
        starts: NDArray[Any] = target.scan(counts, offset_type)
        return starts

    def _numbers(
        self, passed: list[Any], sizes: NDArray[Any], total: int
    ) -> tuple[list[Buffer], int]:
        out = allocate(total, self._writer.item)
        flags = self._write.run(len(sizes), [*passed, out])
        return [finished(self._name, self._writer, out, "item")], flags

    def _bytes(
        self, passed: list[Any], sizes: NDArray[Any], total: int
    ) -> tuple[list[Buffer], int]:
        target = target_of(HOST)
        size = target.total(sizes)
        require_offsets(self._name, size, self._item)
        begins = target.scan(sizes, np.int64)
        offsets = allocate(total + 1, layout(self._item).spec(Role.OFFSETS).dtype)
        data = allocate(size, np.uint8)
        flags = self._write.run(len(sizes), [*passed, begins, offsets, data])
        return [Buffer(offsets.view(np.uint8)), Buffer(data)], flags


def _begin(*lines: str) -> tuple[str, ...]:
    return ("cells = new_cells()", "sink = sink_at(u8(cells.ctypes.data))", *lines)


_DONE = (f"flags |= cells[{cell.FLAGS}]",)

_COUNT = Body(
    ("counts", "sizes"),
    slot=(
        f"cells[{cell.PLACE}] = 0",
        "function({arguments}, sink)",
        f"counts[i] = cells[{cell.PLACE}]",
    ),
    before=_begin(),
)
"""How many items each slot has."""

_MEASURE = Body(
    ("counts", "sizes"),
    slot=(f"cells[{cell.BYTE}] = 0", *_COUNT.slot, f"sizes[i] = cells[{cell.BYTE}]"),
    before=_begin(),
    after=_DONE,
)
"""How many items each slot has, and how many bytes they are."""

# One that yields less the second time leaves places that nothing was written to.
_AS_COUNTED = (
    f"cells[{cell.PLACE}] = starts[i]",
    f"cells[{cell.END}] = starts[i + u8(1)]",
    "function({arguments}, sink)",
    f"if cells[{cell.PLACE}] != cells[{cell.END}]:",
    "    flags |= CHANGED",
)

_WRITE = Body(
    ("starts", "nulls", "out"),
    slot=_AS_COUNTED,
    before=_begin(
        f"cells[{cell.NULLS}] = nulls.ctypes.data",
        f"cells[{cell.OUT}] = out.ctypes.data",
    ),
    after=_DONE,
)
"""The items of each slot, from `starts[i]` on."""

_WRITE_BYTES = Body(
    ("starts", "nulls", "begins", "offsets", "data"),
    slot=(
        f"cells[{cell.BYTE}] = begins[i]",
        f"cells[{cell.LIMIT}] = begins[i + u8(1)]",
        *_AS_COUNTED,
        f"if cells[{cell.BYTE}] != cells[{cell.LIMIT}]:",
        "    flags |= CHANGED",
    ),
    before=_begin(
        f"cells[{cell.NULLS}] = nulls.ctypes.data",
        f"cells[{cell.OUT}] = offsets.ctypes.data",
        f"cells[{cell.DATA}] = data.ctypes.data",
    ),
    after=_DONE,
)
"""The same of byte strings, whose bytes begin at `begins[i]`."""
