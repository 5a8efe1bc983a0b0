"""Values that are appended: which ones a builder takes, their checks, and what is stored for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.jit.building.nodes import NodeKind
from colkern.jit.device import decimals, methods
from colkern.jit.device.emitter import Emitter, Value, integer, items
from colkern.jit.device.kinds import (
    BOOL,
    BYTES,
    TEXT,
    Decimal,
    Element,
    Integer,
    Kind,
    Number,
    Plain,
    Record,
    is_plain,
)
from colkern.jit.device.nodes import (
    copy,
    end_slot,
    is_measured,
    kind_of,
    new_bytes,
    new_slot,
    require,
    store,
    used,
)
from colkern.jit.stored_elements import item_scale


def append_value(e: Emitter, out: Value, value: Value) -> bool:
    """Append a value of one slot that is not None; False if the builder does not take such a value."""
    if isinstance(value.kind, Decimal):
        return _append_decimal(e, out, value)
    made = _APPENDS.get(kind_of(out).node.kind)
    return made is not None and made(e, out, value)


def append_items(e: Emitter, out: Value, array: Value) -> bool:
    """Append the numbers of an array; False if the builder does not take such a value."""
    if not isinstance(array.kind, Plain) or kind_of(out).node.kind is not NodeKind.NUMBER:
        return False
    name = e.bind(array.parts[0])

    def append_item(position: str) -> None:
        append_value(e, out, Value(array.kind, (f"{name}[{position}]",)))

    e.repeated(f"len({name})", append_item)
    return True


# Numbers


def _append_number(e: Emitter, out: Value, value: Value) -> bool:
    storage = kind_of(out).data_type.storage
    if isinstance(value.kind, Element):
        return _append_moment(e, out, value)
    if not is_plain(value.kind):
        return False
    if isinstance(storage, s.Bool):
        if isinstance(value.kind, Integer | Number) and value.kind != BOOL:
            return False
    elif not isinstance(storage, s.FloatingPoint) and not _takes_integer(out, value):
        return False
    # An integer of arithmetic cannot be told from a bool here: as one it is true where it is not 0.
    is_flag = isinstance(storage, s.Bool) and value.kind != BOOL
    number = e.bind(f"{value.parts[0]} != 0" if is_flag else value.parts[0])
    if not isinstance(storage, s.Bool | s.FloatingPoint):
        _check_integer(e, out, Value(value.kind, (number,)), integer(value))
    slot, room = new_slot(e, out)
    store(e, out, "items", slot, number, room)
    end_slot(e, out, slot)
    return True


def _append_moment(e: Emitter, out: Value, value: Value) -> bool:
    assert isinstance(value.kind, Element)
    scale = item_scale(value.kind.of, kind_of(out).data_type.storage)
    if scale is None:
        return False
    (number,), (times, by) = value.parts, scale
    most = ((1 << 63) - 1) // times
    fits = f"{number} % {by} == 0 and -{most} <= {number} <= {most}"
    message = f"append: a {value.kind.of} that {kind_of(out).data_type} does not have"
    require(e, out, fits, OverflowError, message)
    slot, room = new_slot(e, out)
    store(e, out, "items", slot, f"{number} * {times} // {by}", room)
    end_slot(e, out, slot)
    return True


def _takes_integer(out: Value, value: Value) -> bool:
    if value.kind == BOOL:
        return kind_of(out).node.multiple_of == 1
    return not (isinstance(value.kind, Number) and value.kind.code[0] == "f")


def _check_integer(e: Emitter, out: Value, value: Value, constant: int | None) -> None:
    """Note an integer that is none of the type."""
    node = kind_of(out).node
    assert node.bounds is not None
    if not is_measured(out):
        return
    # An operation that floats do not have: they are no integers for a compiler to round.
    number = e.bind(f"{value.parts[0]} | {value.parts[0]}")
    if not _always_within(value.kind, constant, node.bounds):
        # Of a decimal, which may be wider, as much as there is of integers.
        least, most = max(node.bounds[0], -(1 << 63)), min(node.bounds[1], (1 << 64) - 1)
        within = f"_ck_i8({number}) >= {_signed(least)} if {number} < 0 else "
        within += f"_ck_u8({number}) <= {_unsigned(most)}"
        require(e, out, within, OverflowError, _range(out))
    if node.multiple_of > 1:
        whole = f"_ck_i8({number}) % {_signed(node.multiple_of)} == 0"
        require(e, out, whole, OverflowError, "append: a date64 is no whole day")


def _always_within(kind: Kind, constant: int | None, bounds: tuple[int, int]) -> bool:
    """Whether it is known that an integer of up to 64 bits is in a range."""
    if constant is not None:
        least = most = constant
    elif kind == BOOL:
        least, most = 0, 1
    elif isinstance(kind, Number):
        found = np.iinfo(kind.code)
        least, most = int(found.min), int(found.max)
    else:
        least, most = -(1 << 63), (1 << 64) - 1
    return bounds[0] <= least and most <= bounds[1]


def _signed(number: int) -> str:
    """The code of an int64."""
    return f"_ck_i8({number})" if number >= 0 else f"~_ck_i8({~number})"


def _unsigned(number: int) -> str:
    """The code of the lowest 64 bits of an integer, as a uint64."""
    number %= 1 << 64
    return f"_ck_u8({number})" if number < 1 << 63 else f"~_ck_u8({(1 << 64) - 1 - number})"


# Integers of several words


def _append_words(e: Emitter, out: Value, value: Value) -> bool:
    count = kind_of(out).node.per_slot
    if isinstance(value.kind, Record):
        parts = items(value)
        if len(parts) != count or not all(map(_is_integer, parts)):
            return False
        words = tuple(_word(e, part) for part in parts)
        _check_words(e, out, words)
    elif _is_integer(value):
        number = e.bind(value.parts[0])
        _check_integer(e, out, Value(value.kind, (number,)), integer(value))
        sign = e.bind(f"~_ck_zero if {number} < 0 else _ck_zero")
        words = (_word(e, value), *[sign] * (count - 1))
    else:
        return False
    _put_words(e, out, words)
    return True


def _append_decimal(e: Emitter, out: Value, value: Value) -> bool:
    storage = kind_of(out).data_type.storage
    assert isinstance(value.kind, Decimal)
    if not isinstance(storage, s.Decimal) or value.kind.scale > storage.scale:
        return False
    words = decimals.at_scale(e, value, Decimal(max(storage.bit_width // 64, 1), storage.scale))
    words = tuple(map(e.bind, words))
    _check_words(e, out, words)
    _put_words(e, out, words)
    return True


def _put_words(e: Emitter, out: Value, words: tuple[str, ...]) -> None:
    slot, room = new_slot(e, out)
    for k, word in enumerate(words):
        store(e, out, "items", f"{slot} * {len(words)} + {k}", f"_ck_i8({word})", room)
    end_slot(e, out, slot)


def _check_words(e: Emitter, out: Value, words: tuple[str, ...]) -> None:
    """Note words that are no integer of the type."""
    bounds = kind_of(out).node.bounds
    assert bounds is not None
    if not is_measured(out):
        return
    kind = Decimal(len(words), 0)
    least, most = (
        Value(kind, tuple(_unsigned(bound >> 64 * k) for k in range(len(words))))
        for bound in bounds
    )
    number = Value(kind, words)
    for sign, bound in ((">=", least), ("<=", most)):
        require(e, out, decimals.compared(e, sign, number, bound), OverflowError, _range(out))


def _range(out: Value) -> str:
    return f"append: an integer out of the range of {kind_of(out).data_type}"


def _is_integer(value: Value) -> bool:
    if isinstance(value.kind, Number):
        return value.kind.code[0] in "iu"
    return is_plain(value.kind)


def _word(e: Emitter, value: Value) -> str:
    number = integer(value)
    if number is not None:
        return e.bind(_unsigned(number))
    # An operation that floats do not have: they are no integers for a compiler to round.
    return e.bind(f"_ck_u8(_ck_i8({value.parts[0]} | {value.parts[0]}))")


# Byte strings


def _append_bytes(e: Emitter, out: Value, value: Value) -> bool:
    value = methods.as_element(e, value)
    is_text = isinstance(kind_of(out).data_type.storage, s.Utf8 | s.LargeUtf8)
    if value.kind != TEXT and (is_text or value.kind != BYTES):
        return False
    address, count = value.parts[:2]
    slot, room = new_slot(e, out)
    before, bytes_room = new_bytes(e, out, count)
    room = e.bind(f"{room} and {bytes_room}")
    copy(e, out, "data", before, (address, count), room)
    after = e.bind(f"{before} + {count}")
    store(e, out, "items", f"{slot} + 1", after, room)
    e.emit(f"{used(out)} = {after}")
    end_slot(e, out, slot)
    return True


def _append_fixed_size(e: Emitter, out: Value, value: Value) -> bool:
    value = methods.as_element(e, value)
    if value.kind not in (TEXT, BYTES):
        return False
    width = kind_of(out).node.per_slot
    address, count = value.parts[:2]
    message = f"append: bytes of another length than {kind_of(out).data_type} has"
    fits = f"{count} == {width}"
    require(e, out, fits, ValueError, message)
    slot, room = new_slot(e, out)
    copy(e, out, "items", f"{slot} * {width}", (address, count), f"({room} and {fits})")
    end_slot(e, out, slot)
    return True


_APPENDS: dict[NodeKind, Callable[[Emitter, Value, Value], bool]] = {
    NodeKind.NUMBER: _append_number,
    NodeKind.WORDS: _append_words,
    NodeKind.BINARY: _append_bytes,
    NodeKind.FIXED_SIZE_BINARY: _append_fixed_size,
}
