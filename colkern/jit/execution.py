"""Running a compiled loop over arrays: validity, outputs, threads, and what the slots reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array
from colkern.cpu.compiler import jit
from colkern.cpu.threads import run_ranges
from colkern.errors import InvalidArrowError, LimitExceededError
from colkern.jit import support
from colkern.jit.arguments import Reader
from colkern.jit.compiling import compile_or_explain
from colkern.jit.functions import library_key
from colkern.jit.results import Writer
from colkern.layouts import Role, layout
from colkern.memory import EMPTY, HOST, Buffer, allocate
from colkern.operations import combine_validity, require_valid
from colkern.operations import nulls as null_array
from colkern.operations.targets import target_of

_gather = jit(support.gather, library_key())


@dataclass
class Plan:
    """How a function runs over arrays of certain types.

    Args:
        name: The function's name, for messages.
        parameters: The names of its parameters.
        loop: From `colkern.jit.loops.compile_loop`.
        readers: How each argument is read.
        nullable: Which arguments the function takes as None.
        returns: The type of the results.
        writer: How they are written.
    """

    name: str
    parameters: Sequence[str]
    loop: Callable[..., int]
    readers: Sequence[Reader]
    nullable: Sequence[bool]
    returns: s.DataType
    writer: Writer
    _ready: bool = field(default=False, init=False)

    def run(self, arrays: Sequence[Array], length: int) -> Array:
        """The results for arrays of one length, in host memory and of the plan's types."""
        if length == 0:
            return Array(self.returns, 0, [None, *self._empty()], null_count=0)
        for name, array in zip(self.parameters, arrays, strict=True):
            require_valid(array, name)
        inputs, validity, null_count = self._inputs(arrays)
        nulls = np.zeros(length, np.uint8)
        buffers, flags = self._write(inputs, nulls, length)
        if flags & support.MADE_NULL:
            validity, null_count = _without(validity, nulls), UNKNOWN
        return Array(self.returns, length, [validity, *buffers], null_count=null_count)

    def compile(self, types: Sequence[s.DataType]) -> None:
        """Compile the loop for arrays of the plan's types; the function is not called.

        Raises:
            CompileError: If it does not compile.
        """
        inputs, _, _ = self._inputs([null_array(1, data_type) for data_type in types])
        self._write(inputs, np.zeros(0, np.uint8), 0)

    def _write(
        self, inputs: list[Any], nulls: NDArray[Any], length: int
    ) -> tuple[list[Buffer], int]:
        write = self._bytes if self.writer.item is None else self._numbers
        return write(inputs, nulls, length)

    def _inputs(self, arrays: Sequence[Array]) -> tuple[list[Any], Buffer | None, int]:
        """What the loop is called with before outputs; the bitmap of the results, and its nulls."""
        always = [a for a, may in zip(arrays, self.nullable, strict=True) if not may]
        required, null_count = combine_validity(always)
        inputs: list[Any] = [_bits(required)]
        if len(always) < len(arrays):
            inputs = [_bits(combine_validity(list(arrays))[0]), _bits(required)]
        for array, may in zip(arrays, self.nullable, strict=True):
            if may:
                has_nulls = array.null_count != 0
                inputs.append(_bits(array.buffer(Role.VALIDITY) if has_nulls else None))
                inputs.append(np.uint64(array.offset))
        for array, reader in zip(arrays, self.readers, strict=True):
            inputs.extend(reader.prepare(array))
        return inputs, required, null_count

    def _numbers(
        self, inputs: list[Any], nulls: NDArray[Any], length: int
    ) -> tuple[list[Buffer], int]:
        out = allocate(length, self.writer.item)
        flags = self._run(length, [*inputs, nulls, out])
        try:
            finished = self.writer.finish(out)
        except OverflowError as error:
            raise OverflowError(f"{self.name}: {error}") from None
        return [Buffer(finished.view(np.uint8))], flags

    def _bytes(
        self, inputs: list[Any], nulls: NDArray[Any], length: int
    ) -> tuple[list[Buffer], int]:
        """Measure, sum up, write: byte strings that outlive the call are written from where they are,
        others by running the function again."""
        offset_type = layout(self.returns).spec(Role.OFFSETS).dtype
        addresses, sizes = np.zeros(length, np.uint64), np.zeros(length, np.int64)
        nowhere = [np.zeros(0, offset_type), np.zeros(0, np.uint8)]
        flags = self._run(length, [*inputs, nulls, addresses, sizes, *nowhere])
        target = target_of(HOST)
        total, most = target.total(sizes), int(np.iinfo(offset_type).max)
        if total > most:
            raise LimitExceededError(
                f"{self.name}: {total} bytes of results; {self.returns} holds {most} in one array: "
                f"declare returns=ck.large_{'utf8' if self.returns == s.utf8() else 'binary'}()"
            )
        offsets = target.scan(sizes, offset_type)
        data = allocate(total, np.uint8)
        if flags & support.NEEDS_WRITING:
            flags |= self._run(length, [*inputs, nulls, addresses, sizes, offsets, data])
        elif total:
            run_ranges(_gather, length, (addresses, offsets, data))
        return [Buffer(offsets.view(np.uint8)), Buffer(data)], flags

    def _empty(self) -> list[Buffer]:
        return [
            Buffer(allocate(int(spec.role is Role.OFFSETS), spec.dtype).view(np.uint8))
            for spec in layout(self.returns).buffers[1:]
        ]

    def _run(self, length: int, arguments: list[Any]) -> int:
        """The flags of all slots.

        Raises:
            CompileError: If the loop does not compile.
            OverflowError, ValueError, InvalidArrowError: For what the flags report.
        """
        if not self._ready:
            kinds = (numba.int64, numba.int64, *map(numba.typeof, arguments))
            compile_or_explain(self.loop, kinds)
            self._ready = True
        flags: int = reduce(or_, run_ranges(self.loop, length, tuple(arguments)))
        if flags & _ERRORS:
            self._raise(flags)
        return flags

    def _raise(self, flags: int) -> None:
        if flags & support.TOO_WIDE:
            raise InvalidArrowError(f"{self.name}: a decimal has more digits than its type says")
        if flags & support.OUT_OF_RANGE:
            raise OverflowError(f"{self.name}: a result does not fit {self.returns}")
        if flags & support.CUT_CHARACTER:
            raise ValueError(
                f"{self.name}: a result starts or ends within a UTF-8 character; "
                f"slice between characters, or declare returns=ck.binary()"
            )
        raise ValueError(
            f"{self.name}: called twice for one row, it returned text of different lengths; "
            f"a function must depend on its arguments alone"
        )


_ERRORS = support.TOO_WIDE | support.OUT_OF_RANGE | support.CUT_CHARACTER | support.CHANGED


def _bits(bitmap: Buffer | None) -> NDArray[np.uint8]:
    bits: NDArray[np.uint8] = (bitmap or EMPTY).array
    return bits


def _without(validity: Buffer | None, nulls: NDArray[np.uint8]) -> Buffer:
    """The bitmap of slots that are valid in `validity` and not null by `nulls` (uint8[n])."""
    made = allocate((len(nulls) + 7) // 8, np.uint8)
    made[:] = np.packbits(nulls ^ 1, bitorder="little")
    if validity is not None:
        made &= validity.array[: len(made)]
    return Buffer(made)
