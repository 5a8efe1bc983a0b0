"""Running a function over arrays: what its loop writes becomes the buffers of one result a slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array
from colkern.cpu.compiler import jit
from colkern.cpu.threads import run_ranges
from colkern.errors import LimitExceededError
from colkern.jit import support
from colkern.jit.default_values import filled
from colkern.jit.functions import library_key
from colkern.jit.inputs import Inputs
from colkern.jit.loops import compile_loop, result_body
from colkern.jit.results import Writer, writer_of
from colkern.jit.row_loop import RowLoop, note_row
from colkern.layouts import Role, layout
from colkern.memory import HOST, Buffer, allocate
from colkern.operations.targets import target_of

_gather = jit(support.gather, library_key())


class Plan:
    """How a function runs over arrays of certain types.

    Args:
        name: The function's name, for messages.
        inputs: How its arguments are read.
        dispatcher: The function.
        returns: The type of the results.
        place: What messages call a slot.
        default: The result where an argument is null that the function does not take as None: one
            slot of the type; None to make it null.
    """

    def __init__(
        self,
        name: str,
        inputs: Inputs,
        dispatcher: Any,
        returns: s.DataType,
        place: str = "row",
        default: Array | None = None,
    ) -> None:
        self._default = default
        self._name = name
        self._inputs = inputs
        self._returns = returns
        self._writer = writer_of(returns)
        body = result_body(self._writer)
        loop = compile_loop(dispatcher, inputs.readers, inputs.nullable, body)
        self._loop = RowLoop(name, loop, returns, place)

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """The results for arrays of one length, in host memory and of the plan's types."""
        if length == 0:
            return Array(self._returns, 0, [None, *self._empty()], null_count=0)
        passed, validity, null_count = self._inputs.of(arrays)
        results = self.results(passed, validity, null_count, length)
        return results if self._default is None else filled(results, validity, self._default)

    def results(
        self, passed: list[Any], validity: Buffer | None, null_count: int, length: int
    ) -> Array:
        """The results for what the loop takes before its outputs.

        Args:
            passed: As from `Inputs.of`.
            validity: The bitmap of the slots that the function is called for.
            null_count: For how many it is not called.
            length: How many slots there are.
        """
        nulls = np.zeros(length, np.uint8)
        buffers, flags = self._write(passed, nulls, length)
        if flags & support.MADE_NULL:
            validity, null_count = bitmap_without(validity, nulls), UNKNOWN
        return Array(self._returns, length, [validity, *buffers], null_count=null_count)

    def compile(self, types: Sequence[s.DataType]) -> None:
        """Compile the loop for arrays of the plan's types; the function is not called.

        Raises:
            CompileError: If it does not compile.
        """
        self._write(self._inputs.of_types(types), np.zeros(0, np.uint8), 0)

    def _write(
        self, passed: list[Any], nulls: NDArray[Any], length: int
    ) -> tuple[list[Buffer], int]:
        write = self._bytes if self._writer.item is None else self._numbers
        return write(passed, nulls, length)

    def _numbers(
        self, passed: list[Any], nulls: NDArray[Any], length: int
    ) -> tuple[list[Buffer], int]:
        out = allocate(length, self._writer.item)
        flags = self._loop.run(length, [*passed, nulls, out])
        return [finished(self._name, self._writer, out, self._loop.place)], flags

    def _bytes(
        self, passed: list[Any], nulls: NDArray[Any], length: int
    ) -> tuple[list[Buffer], int]:
        """Measure, sum up, write: byte strings that outlive the call are written from where they are,
        others by running the function again."""
        offset_type = layout(self._returns).spec(Role.OFFSETS).dtype
        addresses, sizes = np.zeros(length, np.uint64), np.zeros(length, np.int64)
        nowhere = [np.zeros(0, offset_type), np.zeros(0, np.uint8)]
        flags = self._loop.run(length, [*passed, nulls, addresses, sizes, *nowhere])
        target = target_of(HOST)
        total = target.total(sizes)
        require_offsets(self._name, total, self._returns)
        offsets = target.scan(sizes, offset_type)
        data = allocate(total, np.uint8)
        if flags & support.NEEDS_WRITING:
            flags |= self._loop.run(length, [*passed, nulls, addresses, sizes, offsets, data])
        elif total:
            run_ranges(_gather, length, (addresses, offsets, data))
        return [Buffer(offsets.view(np.uint8)), Buffer(data)], flags

    def _empty(self) -> list[Buffer]:
        return [
            Buffer(allocate(int(spec.role is Role.OFFSETS), spec.dtype).view(np.uint8))
            for spec in layout(self._returns).buffers[1:]
        ]


def finished(name: str, writer: Writer, out: NDArray[Any], place: str) -> Buffer:
    """The data buffer made of what a loop wrote.

    Raises:
        OverflowError: For values that the type does not have; names the function and, in a note, the
            `place`.
    """
    try:
        return Buffer(writer.finish(out).view(np.uint8))
    except OverflowError as error:
        named = OverflowError(f"{name}: {error}")
        note_row(named, name, lambda a, b: writer.finish(out[a:b]), 0, len(out), place)
        raise named from None


def require_offsets(name: str, total: int, returns: s.DataType) -> None:
    """Check that the offsets of a utf8 or binary type reach that many bytes.

    Raises:
        LimitExceededError: If they do not.
    """
    most = int(np.iinfo(layout(returns).spec(Role.OFFSETS).dtype).max)
    if total > most:
        raise LimitExceededError(
            f"{name}: {total} bytes of results; {returns} holds {most} in one array: "
            f"declare returns=ck.large_{'utf8' if returns == s.utf8() else 'binary'}()"
        )


def bitmap_without(validity: Buffer | None, nulls: NDArray[np.uint8]) -> Buffer:
    """The bitmap of slots that are valid in `validity` and not null by `nulls` (uint8[n])."""
    made = allocate((len(nulls) + 7) // 8, np.uint8)
    made[:] = np.packbits(nulls ^ 1, bitorder="little")
    if validity is not None:
        made &= validity.array[: len(made)]
    return Buffer(made)
