"""Columns of results on a device: the code by which a row's result is put away, and where it goes.

Numbers are written where they stay. Byte strings outlive the kernel, as they are parts of columns or of
the source: where they are is written, and another kernel gathers them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of, count_set_bits
from colkern.cuda import memory
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.jit.device import decimals, strings
from colkern.jit.device.emitter import Value, items
from colkern.jit.device.kinds import (
    PLAIN,
    Decimal,
    Kind,
    Literal,
    Nothing,
    Nullable,
    Record,
    Unknown,
    is_plain,
)
from colkern.jit.device.statements import Statements
from colkern.jit.results.writers import DAY
from colkern.kernels import bitmaps, byte_strings, selection, slot_values
from colkern.layouts import Role, layout
from colkern.memory import Buffer
from colkern.targets import Target

_WORD = 64


@dataclass(frozen=True)
class Room:
    """Memory that a kernel writes results to.

    Args:
        name: What the kernel calls it.
        dtype: The type of its items.
        per_slot: How many there are for a row.
        initial: What they are before.
    """

    name: str
    dtype: Any
    per_slot: int = 1
    initial: int = 0


Rooms = dict[str, Any]
"""The arrays of one run, by name; also what they refer to."""


class Output:
    """A column of results: how a kernel writes it, and what is made of what it wrote.

    Args:
        name: The function's name, for messages.
        field: The type of the results, and whether they may be null.
        prefix: What the kernel's names for its memory begin with.
        is_part: Whether it is a field of other results.
    """

    def __init__(self, name: str, field: s.Field, prefix: str, is_part: bool) -> None:
        self.name = name
        self.field = field
        self.returns: Any = field.type
        self.valid = f"{prefix}_valid"
        self.out = f"{prefix}_out"
        self.prefix = prefix
        # A field of a row that is null is nothing that anyone looks at, and no null of its own.
        self.own = [Room(self.valid, np.uint8, 1, int(is_part)), *self._made()]

    def _made(self) -> list[Room]:
        raise NotImplementedError

    def rooms(self) -> list[Room]:
        """What the kernel writes to."""
        return self.own

    # Writing

    def store(self, e: Statements, value: Value, slot: str) -> None:
        """Emit what puts a value away for a slot."""
        if isinstance(value.kind, Unknown):
            return
        if isinstance(value.kind, Nothing):
            self._store_null(e, slot)
        elif isinstance(value.kind, Nullable):
            with e.within([]) as present:
                self._store_valid(e, Value(value.kind.inner, value.parts[1:]), slot)
            with e.within([]) as missing:
                self._store_null(e, slot)
            e.block.append(e.conditional(value.parts[0], present, missing))
        else:
            self._store_valid(e, value, slot)

    def _store_null(self, e: Statements, slot: str) -> None:
        if not self.field.nullable:
            message = f"None for {self.field.name!r}, which is declared not nullable"
            e.check("False", ValueError, message)
        e.emit(f"{self.valid}[{slot}] = 0")

    def _store_valid(self, e: Statements, value: Value, slot: str) -> None:
        self.store_value(e, value, slot)
        e.emit(f"{self.valid}[{slot}] = 1")

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        """Emit what puts a value away that is not None."""
        raise NotImplementedError

    def number(self, e: Statements, value: Value) -> str:
        """The code of a value that must be a number."""
        if not is_plain(value.kind):
            raise self.refused(e, value.kind)
        return e.bind(value.parts[0])

    def refused(self, e: Statements, kind: Kind) -> Exception:
        """The error for a value that is no such result."""
        return e.failure(f"{self.name} returns {kind.words} where {self.returns} is expected")

    # Memory

    def fill(self, target: Target, rooms: Rooms, default: Array) -> None:
        """Have a default value, an array of one slot in host memory, where the kernel writes nothing."""
        rooms[self.valid][:] = default.null_count == 0
        self.fill_value(target, rooms, default)

    def fill_value(self, target: Target, rooms: Rooms, default: Array) -> None:
        """As `fill`, of the value itself."""
        rooms[self.out][:] = default.items(Role.DATA)[0]

    def array(self, target: Target, rooms: Rooms, length: int) -> Array:
        """The column of what was written."""
        bitmap = packed(target, rooms[self.valid], length)
        nulls = length - count_set_bits(bitmap, 0, length)
        validity = bitmap if nulls else None
        buffers, children = self.parts(target, rooms, length)
        return Array(self.returns, length, [validity, *buffers], children, null_count=nulls)

    def parts(self, target: Target, rooms: Rooms, length: int) -> tuple[list[Buffer], list[Array]]:
        """The buffers after the validity bitmap, and the children."""
        return [target.buffer(rooms[self.out])], []


def packed(target: Target, flags: Any, length: int) -> Buffer:
    """A bitmap of bytes (uint8[length])."""
    words = bit_words(target, length)
    target.map(bitmaps.pack_bits, len(words), flags, length, words)
    return bitmap_of(target, words, length)


class _Bools(Output):
    def _made(self) -> list[Room]:
        return [Room(self.out, np.uint8)]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        e.emit(f"{self.out}[{slot}] = {self.number(e, value)}")

    def fill_value(self, target: Target, rooms: Rooms, default: Array) -> None:
        rooms[self.out][:] = int(default.to_pylist()[0] or 0)

    def parts(self, target: Target, rooms: Rooms, length: int) -> tuple[list[Buffer], list[Array]]:
        return [packed(target, rooms[self.out], length)], []


class _Floats(Output):
    def _made(self) -> list[Room]:
        return [Room(self.out, layout(self.returns).spec(Role.DATA).dtype)]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        e.emit(f"{self.out}[{slot}] = {self.number(e, value)}")


class _Halves(Output):
    """Floats of 16 bits, which kernels do not compute with."""

    def _made(self) -> list[Room]:
        return [Room(self.out, np.uint16)]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        number = f"_ck_f8({self.number(e, value)})"
        e.emit(f"{self.out}[{slot}] = {e.call(slot_values.half_of_float, number)}")

    def fill_value(self, target: Target, rooms: Rooms, default: Array) -> None:
        rooms[self.out][:] = default.items(Role.DATA)[:1].view(np.uint16)[0]


def _floats(name: str, field: s.Field, prefix: str, is_part: bool) -> Output:
    made = _Halves if field.type == s.float16() else _Floats
    return made(name, field, prefix, is_part)


class _Integers(Output):
    """Also dates and times, which are integers of a range."""

    def _made(self) -> list[Room]:
        return [Room(self.out, layout(self.returns).spec(Role.DATA).dtype)]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        given = self.number(e, value)
        message = f"a result does not fit {self.returns}"
        if self.returns == s.uint64():
            e.check(f"{given} >= 0", OverflowError, message)
            e.emit(f"{self.out}[{slot}] = _ck_u8({given})")
            return
        number = e.bind(f"_ck_i8({given})")
        # The upper bit of a uint64 is no sign.
        e.check(f"({number} < 0) == ({given} < 0)", OverflowError, message)
        for condition in self._conditions(number):
            e.check(condition, OverflowError, message)
        e.emit(f"{self.out}[{slot}] = {number}")

    def _conditions(self, number: str) -> list[str]:
        if isinstance(self.returns, s.Time):
            return [f"0 <= {number} < {DAY[self.returns.unit]}"]
        if self.returns == s.date64():
            return [f"{number} % {DAY['ms']} == 0"]
        limits = np.iinfo(self.own[1].dtype)
        return [f"{limits.min} <= {number} <= {limits.max}"] if limits.bits < _WORD else []


class _Decimals(Output):
    def _made(self) -> list[Room]:
        self._count = max(self.returns.bit_width // _WORD, 1)
        item = np.int32 if self.returns.bit_width < _WORD else np.uint64
        return [Room(self.out, item, self._count)]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        kind = Decimal(self._count, self.returns.scale)
        words = decimals.at_scale(e, self._unscaled(e, value), kind)
        found, limit = Value(kind, words), 10**self.returns.precision
        message = f"a result does not fit {self.returns}"
        for sign, bound in (("<", limit), (">", -limit)):
            parts = tuple(
                f"_ck_u8({bound >> _WORD * k & (1 << _WORD) - 1})" for k in range(self._count)
            )
            e.check(decimals.compared(e, sign, found, Value(kind, parts)), OverflowError, message)
        if self.returns.bit_width < _WORD:
            e.emit(f"{self.out}[{slot}] = _ck_i8({words[0]})")
            return
        for k, word in enumerate(words):
            e.emit(f"{self.out}[{slot} * _ck_u8({self._count}) + _ck_u8({k})] = {word}")

    def _unscaled(self, e: Statements, value: Value) -> Value:
        """A decimal as it is; an integer as the decimal whose digits it has."""
        if isinstance(value.kind, Decimal):
            return value
        words = decimals.words_of_integer(e, Value(value.kind, (self.number(e, value),)))
        return Value(Decimal(len(words), self.returns.scale), tuple(words))

    def fill_value(self, target: Target, rooms: Rooms, default: Array) -> None:
        data = default.buffer(Role.DATA)
        assert data is not None
        out = rooms[self.out]
        for k, word in enumerate(data.view(out.dtype, self._count, 0)):
            out[k :: self._count] = word


class _ByteStrings(Output):
    def _made(self) -> list[Room]:
        self._addresses, self._sizes = f"{self.prefix}_addresses", f"{self.prefix}_sizes"
        return [Room(self._addresses, np.uint64), Room(self._sizes, np.int64)]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        if not strings.is_string(value):
            raise self.refused(e, value.kind)
        address, size = strings.as_bytes(e, value)
        if isinstance(self.returns, s.Utf8 | s.LargeUtf8) and not isinstance(value.kind, Literal):
            cuts = e.call(byte_strings.cuts_a_character, e.like("u1"), address, size)
            message = "a result starts or ends within a UTF-8 character"
            e.check(f"not {cuts}", ValueError, message)
        e.emit(f"{self._addresses}[{slot}], {self._sizes}[{slot}] = {address}, {size}")

    def _store_null(self, e: Statements, slot: str) -> None:
        super()._store_null(e, slot)
        e.emit(f"{self._sizes}[{slot}] = 0")

    def fill_value(self, target: Target, rooms: Rooms, default: Array) -> None:
        data = default.to_pylist()[0] or b""
        data = data.encode() if isinstance(data, str) else data
        # With one byte more, so that there is one.
        kept = rooms[f"{self.prefix}_default"] = target.table([*data, 0], np.uint8)
        rooms[self._addresses][:] = target.address(kept)
        rooms[self._sizes][:] = len(data)

    def parts(self, target: Target, rooms: Rooms, length: int) -> tuple[list[Buffer], list[Array]]:
        dtype = layout(self.returns).spec(Role.OFFSETS).dtype
        offsets, total = target.running_sum(rooms[self._sizes], dtype)
        if total > np.iinfo(dtype).max:
            raise LimitExceededError(
                f"{self.name}: {total} bytes of results; {self.returns} holds "
                f"{np.iinfo(dtype).max} in one array: declare the large type"
            )
        data = target.output(total, np.uint8)
        target.map(selection.gather_bytes, length, rooms[self._addresses], offsets, data)
        return [target.buffer(offsets), target.buffer(data)], []


class _Structs(Output):
    def _made(self) -> list[Room]:
        self._fields = [
            output_of(self.name, field, f"{self.prefix}{k}", is_part=True)
            for k, field in enumerate(self.returns.fields)
        ]
        return []

    def rooms(self) -> list[Room]:
        return [*self.own, *(room for field in self._fields for room in field.rooms())]

    def store_value(self, e: Statements, value: Value, slot: str) -> None:
        if isinstance(value.kind, Record):
            found: Sequence[Value] = items(value)
        elif value.kind == PLAIN:
            text = e.bind(value.parts[0])
            found = [Value(PLAIN, (f"{text}[{k}]",)) for k in range(len(self._fields))]
        else:
            raise self.refused(e, value.kind)
        for field, item in zip(self._fields, found, strict=True):
            field.store(e, item, slot)

    def fill_value(self, target: Target, rooms: Rooms, default: Array) -> None:
        for field, child in zip(self._fields, default.children, strict=True):
            field.fill(target, rooms, child)

    def parts(self, target: Target, rooms: Rooms, length: int) -> tuple[list[Buffer], list[Array]]:
        return [], [field.array(target, rooms, length) for field in self._fields]


_OUTPUTS: dict[type[s.DataType], Callable[[str, s.Field, str, bool], Output]] = {
    s.Bool: _Bools,
    s.Int: _Integers,
    s.FloatingPoint: _floats,
    s.Decimal: _Decimals,
    s.Date: _Integers,
    s.Time: _Integers,
    s.Timestamp: _Integers,
    s.Duration: _Integers,
    s.Utf8: _ByteStrings,
    s.LargeUtf8: _ByteStrings,
    s.Binary: _ByteStrings,
    s.LargeBinary: _ByteStrings,
    s.Struct: _Structs,
}


def output_of(name: str, field: s.Field, prefix: str = "r", is_part: bool = False) -> Output:
    """How results of a type are written on a device; see `Output`.

    Raises:
        UnsupportedError: If they cannot be.
    """
    made = _OUTPUTS.get(type(field.type))
    if made is None:
        raise UnsupportedError(
            f"{name}: {field.type} as the result of a udf on a device; copy the columns with "
            f"colkern.to_host first"
        )
    return made(name, field, prefix, is_part)


def allocated(target: Target, output: Output, length: int, default: Array | None) -> Rooms:
    """Memory for the results of so many rows, which are null, or a default, until they are written."""
    rooms: Rooms = {}
    with memory.current(target.device):
        for room in output.rooms():
            rooms[room.name] = target.allocate(length * room.per_slot, room.dtype)
            if room.initial:
                rooms[room.name][:] = room.initial
        if default is not None:
            output.fill(target, rooms, default)
    return rooms
