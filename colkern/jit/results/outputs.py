"""Columns of results: the text by which a loop writes them, and what it writes to.

An `Output` belongs to a loop, a `Column` to one run of it. The first run writes numbers and measures
byte strings; if those do not outlive it, a second run writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import UNKNOWN, Array
from colkern.bitmaps import packed
from colkern.cpu.threads import run_ranges
from colkern.errors import LimitExceededError
from colkern.jit.results.writers import TEXT, Writer, writer_of
from colkern.jit.rows.gathering import gather_loop
from colkern.jit.rows.row_loop import note_row
from colkern.layouts import Role, layout
from colkern.memory import HOST, Buffer, allocate
from colkern.targets import target_of


class Column(Protocol):
    """What one run of a loop writes to."""

    def fill(self, default: Array) -> bool:
        """Put a value, an array of one slot, where the loop will write nothing; False if there is no
        place for it before the run."""

    def arguments(self) -> list[Any]:
        """What the loop is called with for it."""

    def measured(self) -> None:
        """Make room for what was measured."""

    def gather(self) -> None:
        """Write byte strings from where they are, instead of by a second run."""

    def array(self, validity: Buffer | None, null_count: int) -> Array:
        """What was written, null where it is null in `validity`, too.

        Raises:
            OverflowError: For values that the type does not have.
            ValueError: For nulls in a field that has none.
        """


class Output(Protocol):
    """A column that a loop writes."""

    parameters: tuple[str, ...]
    """The loop's parameters for it."""

    def lines(self, value: str, slot: str = "i") -> list[str]:
        """The lines that put a value into a slot, both given as expressions."""

    def column(self, length: int) -> Column:
        """What a run over so many slots writes to."""


def output_of(name: str, returns: s.DataType, place: str, prefix: str = "r") -> Output:
    """How results of a type are written.

    Args:
        name: The function's name, for messages.
        returns: The type.
        place: What messages call a slot.
        prefix: What the loop's names for it begin with.

    Raises:
        UnsupportedError: If they cannot be.
    """
    if isinstance(returns, s.Struct):
        return _Structs(name, returns, place, prefix)
    if isinstance(returns, s.Decimal):
        return _Decimals(name, returns, place, prefix)
    writer = writer_of(returns)
    return (_Numbers if writer.item else _ByteStrings)(name, returns, place, prefix)


class _Output:
    """What all outputs know."""

    PARTS: tuple[str, ...]

    def __init__(self, name: str, returns: s.DataType, place: str, prefix: str) -> None:
        self.name = name
        self.returns = returns
        self.place = place
        self.prefix = prefix
        self.parameters: tuple[str, ...] = tuple(f"{prefix}_{part}" for part in self.PARTS)


class _Numbers(_Output):
    PARTS = ("out", "nulls")

    def lines(self, value: str, slot: str = "i") -> list[str]:
        return [f"flags |= put({', '.join(self.parameters)}, {slot}, {value})"]

    def column(self, length: int) -> Column:
        return _NumberColumn(self, writer_of(self.returns), length)


class _Decimals(_Output):
    PARTS = ("out", "nulls")
    returns: s.Decimal

    def lines(self, value: str, slot: str = "i") -> list[str]:
        kind = self.returns
        passed = f"{', '.join(self.parameters)}, {slot}, {value}"
        literals = f"{kind.bit_width}, {kind.scale}, {kind.precision}"
        return [f"flags |= put_decimal({passed}, {literals})"]

    def column(self, length: int) -> Column:
        words = max(self.returns.bit_width // 64, 1)
        item = np.dtype("<i4" if self.returns.bit_width == 32 else "<i8")
        writer = Writer(frozenset(), item, lambda values: values)
        return _NumberColumn(self, writer, length, words)


_ONE_ITEM = (s.Int, s.FloatingPoint, s.Date, s.Time, s.Timestamp, s.Duration)
"""Types of which a loop writes what the data buffer holds, or what is rounded to it."""


class _NumberColumn:
    def __init__(self, output: _Output, writer: Writer, length: int, per_slot: int = 1) -> None:
        self._output = output
        self._writer = writer
        self._nulls = np.zeros(length, np.uint8)
        self._out = allocate(length * per_slot, writer.item)

    def fill(self, default: Array) -> bool:
        if not isinstance(self._output.returns, _ONE_ITEM):
            return False
        self._out.fill(default.items(Role.DATA)[0])
        return True

    def arguments(self) -> list[Any]:
        return [self._out, self._nulls]

    def measured(self) -> None:
        """Numbers are written already."""

    def gather(self) -> None:
        """As `measured`."""

    def array(self, validity: Buffer | None, null_count: int) -> Array:
        output = self._output
        data = finished(output.name, self._writer, self._out, output.place)
        return _array(output.returns, [data], self._nulls, validity, null_count)


class _ByteStrings(_Output):
    PARTS = ("addresses", "sizes", "offsets", "data", "nulls")

    def lines(self, value: str, slot: str = "i") -> list[str]:
        put = "put_text" if writer_of(self.returns).kinds == TEXT else "put_binary"
        return [f"flags |= {put}({', '.join(self.parameters)}, {slot}, {value})"]

    def column(self, length: int) -> Column:
        return _ByteStringColumn(self, length)


class _MeasuredColumn:
    """A column of which there is more than one item a slot."""

    def fill(self, default: Array) -> bool:
        return False


class _ByteStringColumn(_MeasuredColumn):
    def __init__(self, output: _Output, length: int) -> None:
        self._output = output
        self._nulls = np.zeros(length, np.uint8)
        self._addresses = np.zeros(length, np.uint64)
        self._sizes = np.zeros(length, np.int64)
        self._offset_type = layout(output.returns).spec(Role.OFFSETS).dtype
        self._offsets: NDArray[Any] = np.zeros(0, self._offset_type)
        self._data: NDArray[Any] = np.zeros(0, np.uint8)

    def arguments(self) -> list[Any]:
        return [self._addresses, self._sizes, self._offsets, self._data, self._nulls]

    def measured(self) -> None:
        target = target_of(HOST)
        total = target.total(self._sizes)
        require_offsets(self._output.name, total, self._output.returns)
        self._offsets = target.scan(self._sizes, self._offset_type)
        self._data = allocate(total, np.uint8)

    def gather(self) -> None:
        if len(self._data):
            run_ranges(
                gather_loop(), len(self._sizes), (self._addresses, self._offsets, self._data)
            )

    def array(self, validity: Buffer | None, null_count: int) -> Array:
        buffers = [Buffer(self._offsets.view(np.uint8)), Buffer(self._data)]
        return _array(self._output.returns, buffers, self._nulls, validity, null_count)


class _Structs(_Output):
    PARTS = ("nulls",)
    returns: s.Struct

    def __init__(self, name: str, returns: s.Struct, place: str, prefix: str) -> None:
        super().__init__(name, returns, place, prefix)
        self.fields = [
            output_of(name, field.type, place, f"{prefix}{k}")
            for k, field in enumerate(returns.fields)
        ]
        self.parameters += tuple(chain(*(field.parameters for field in self.fields)))

    def lines(self, value: str, slot: str = "i") -> list[str]:
        row = f"{self.prefix}_row{{missing}}"
        lines = [f"{row} = {value}", f"if is_none({row}):"]
        lines += [f"    {self.prefix}_nulls[{slot}] = 1", "else:"]
        for k, field in enumerate(self.fields):
            lines += [f"    {line}" for line in field.lines(f"field_of({row}, {k})", slot)]
        return lines if self.fields else [*lines, "    pass"]

    def column(self, length: int) -> Column:
        return _StructColumn(self, [field.column(length) for field in self.fields], length)


class _StructColumn(_MeasuredColumn):
    def __init__(self, output: _Structs, fields: Sequence[Column], length: int) -> None:
        self._output = output
        self._fields = fields
        self._nulls = np.zeros(length, np.uint8)

    def arguments(self) -> list[Any]:
        return [self._nulls, *chain(*(field.arguments() for field in self._fields))]

    def measured(self) -> None:
        for field in self._fields:
            field.measured()

    def gather(self) -> None:
        for field in self._fields:
            field.gather()

    def array(self, validity: Buffer | None, null_count: int) -> Array:
        output, children = self._output, [field.array(None, 0) for field in self._fields]
        for field, child in zip(output.returns.fields, children, strict=True):
            _require_no_null(output, field, child)
        return _array(output.returns, [], self._nulls, validity, null_count, children)


def _require_no_null(output: _Output, field: s.Field, array: Array) -> None:
    """ValueError for nulls in a field that has none."""
    if field.nullable or not array.null_count:
        return
    error = ValueError(f"{output.name}: None for {field.name!r}, which is declared not nullable")
    error.add_note(f"{output.name}: {output.place} {_first_null(array)}")
    raise error


def _array(
    returns: s.DataType,
    buffers: Sequence[Buffer],
    nulls: NDArray[np.uint8],
    validity: Buffer | None,
    null_count: int,
    children: Sequence[Array] = (),
) -> Array:
    # As booleans, which NumPy looks through many at a time.
    if nulls.view(np.bool_).any():
        validity, null_count = bitmap_without(validity, nulls), UNKNOWN
    return Array(returns, len(nulls), [validity, *buffers], children, null_count=null_count)


def _first_null(array: Array) -> int:
    bitmap = array.buffer(Role.VALIDITY)
    assert bitmap is not None
    return int(np.unpackbits(bitmap.array, bitorder="little").argmin())


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
    made = packed(nulls ^ 1)
    if validity is not None:
        made &= validity.array[: len(made)]
    return Buffer(made)
