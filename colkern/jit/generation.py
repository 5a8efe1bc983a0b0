"""Running a generator function over arrays: its items are counted, then written as one column of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.cpu.compiler import jit
from colkern.errors import LimitExceededError
from colkern.jit import support
from colkern.jit.execution import bitmap_without, finished, require_offsets
from colkern.jit.functions import library_key
from colkern.jit.inputs import Inputs
from colkern.jit.loops import Body, compile_loop, put_bytes
from colkern.jit.results import Writer, writer_of
from colkern.jit.row_loop import RowLoop
from colkern.layouts import Role, layout
from colkern.memory import HOST, Buffer, allocate
from colkern.operations.targets import target_of


class Generation:
    """How a generator function runs over arrays of certain types.

    Args:
        name: Its name, for messages.
        inputs: How its arguments are read.
        dispatcher: The function.
        returns: The type of the lists.
    """

    def __init__(
        self, name: str, inputs: Inputs, dispatcher: Any, returns: s.List | s.LargeList
    ) -> None:
        self._name = name
        self._inputs = inputs
        self._returns = returns
        self._item = returns.value_type
        self._writer = writer_of(self._item)
        self._count = self._loop(dispatcher, _count_body(self._writer))
        self._write = self._loop(dispatcher, _write_body(self._writer))

    def _loop(self, dispatcher: Any, body: Body) -> RowLoop:
        loop = compile_loop(dispatcher, self._inputs.readers, self._inputs.nullable, body)
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
        counts = np.zeros(length, np.int64)
        sizes = np.zeros(length, np.int64)
        measuring = [] if self._writer.item is not None else _nowhere(length, sizes)
        self._count.run(length, [*passed, counts, *measuring])
        target = target_of(HOST)
        offset_type = layout(self._returns).spec(Role.OFFSETS).dtype
        total = target.total(counts)
        if total > np.iinfo(offset_type).max:
            raise LimitExceededError(
                f"{self._name}: {total} items; {self._returns} holds {np.iinfo(offset_type).max} in "
                f"one array: declare returns=ck.large_list({self._item})"
            )
        starts = target.scan(counts, offset_type)
        nulls = np.zeros(total, np.uint8)
        written = [*passed, starts, nulls]
        if self._writer.item is None:
            buffers, flags = self._bytes(written, measuring, sizes, total)
        else:
            out = allocate(total, self._writer.item)
            flags = self._write.run(length, [*written, out])
            buffers = [finished(self._name, self._writer, out)]
        validity = bitmap_without(None, nulls) if flags & support.MADE_NULL else None
        count = int(nulls.sum()) if validity else 0
        return starts, Array(self._item, total, [validity, *buffers], null_count=count)

    def _bytes(
        self, written: list[Any], measuring: list[Any], sizes: NDArray[Any], total: int
    ) -> tuple[list[Buffer], int]:
        target = target_of(HOST)
        size = target.total(sizes)
        require_offsets(self._name, size, self._item)
        begins = target.scan(sizes, np.int64)
        offsets = allocate(total + 1, layout(self._item).spec(Role.OFFSETS).dtype)
        # One byte at least: without any, what puts byte strings away would only measure.
        data = allocate(max(size, 1), np.uint8)
        flags = self._write.run(len(sizes), [*written, *measuring, begins, offsets, data])
        return [Buffer(offsets.view(np.uint8)), Buffer(data[:size])], flags


def first_item(dispatcher: Any, count: int) -> Any:
    """The dispatcher of a function that returns what a generator function yields first, or None.

    It tells what is yielded; compiled generators themselves are not stored for other processes.

    Args:
        dispatcher: The generator function.
        count: How many arguments it takes.
    """
    name = dispatcher.__name__
    arguments = ", ".join(f"a{k}" for k in range(count))
    source = f"""\
def first({arguments}):
    for value in function({arguments}):
        return value
    return None
"""
    namespace = {"__name__": __name__, "function": dispatcher}
    exec(compile(source, f"<colkern generator {name}>", "exec"), namespace)
    first: Any = namespace["first"]
    first.__name__ = name
    return jit(first, library_key())


def _nowhere(length: int, sizes: NDArray[Any]) -> list[Any]:
    """What byte strings are measured into, a place a row: nulls, addresses, sizes, no offsets, no data."""
    nulls, addresses = np.zeros(length, np.uint8), np.zeros(length, np.uint64)
    return [nulls, addresses, sizes, np.zeros(0, np.int32), np.zeros(0, np.uint8)]


_MEASURED = ("row_nulls", "addresses", "sizes", "nowhere", "nothing")


def _measure(writer: Writer) -> tuple[str, ...]:
    """The lines that put how many bytes `value` has into `sizes[i]`."""
    return (
        "    sizes[i] = 0",
        f"    flags |= {put_bytes(writer)}(addresses, sizes, nowhere, nothing, row_nulls, i, value)",
    )


def _count_body(writer: Writer) -> Body:
    """How many items each slot has, and how many bytes they are."""
    if writer.item is not None:
        lines = (
            "count = 0",
            "for value in function({arguments}):",
            "    count += 1",
            "counts[i] = count",
        )
        return Body(("counts",), lines)
    lines = (
        "count = 0",
        "size = 0",
        "for value in function({arguments}):",
        "    count += 1",
        *_measure(writer),
        "    size += sizes[i]",
        "counts[i] = count",
        "sizes[i] = size",
    )
    return Body(("counts", *_MEASURED), lines)


# A function that yields more the second time must not be written past the end.
_WITHIN = (
    "    if place >= end:",
    "        flags |= CHANGED",
    "        break",
)


def _write_body(writer: Writer) -> Body:
    """The items of each slot, from `starts[i]` on."""
    begin = ("place = u8(starts[i])", "end = u8(starts[i + u8(1)])")
    done = ("if place != end:", "    flags |= CHANGED")
    if writer.item is not None:
        lines = (
            *begin,
            "for value in function({arguments}):",
            *_WITHIN,
            "    flags |= put(out, nulls, place, value)",
            "    place += u8(1)",
            *done,
        )
        return Body(("starts", "nulls", "out"), lines)
    lines = (
        *begin,
        "reached = begins[i]",
        "limit = begins[i + u8(1)]",
        "if place < end:",
        "    offsets[place] = reached",
        "for value in function({arguments}):",
        *_WITHIN,
        *_measure(writer),
        "    reached += sizes[i]",
        "    if reached > limit:",
        "        flags |= CHANGED",
        "        break",
        "    offsets[place + u8(1)] = reached",
        f"    flags |= {put_bytes(writer)}(addresses, sizes, offsets, data, nulls, place, value)",
        "    place += u8(1)",
        *done,
        "if reached != limit:",
        "    flags |= CHANGED",
    )
    return Body(("starts", "nulls", *_MEASURED, "begins", "offsets", "data"), lines)
