"""Numbers: the types that a builder takes, the conversions, and the checks of ranges."""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import register_jitable

from colkern import schema as s
from colkern.jit.building.builder_type import APPENDS, method
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.state import (
    ensure_slots,
    items_address,
    length_of,
    new_slot,
    put_item,
    row_of,
    set_length,
)
from colkern.jit.device import decimals
from colkern.jit.elements.memory import raw
from colkern.jit.elements.types import MomentType
from colkern.jit.lowering import by_types
from colkern.jit.stored_elements import item_scale
from colkern.jit.values.decimal_numbers import DecimalLoop, DecimalType


@APPENDS.of(NodeKind.NUMBER)
def _number_append(out, value):
    """`append` of a number in an item; None if the builder does not take such a value."""
    if isinstance(value, DecimalType):
        return decimal_append(out, value)
    convert = conversion(out, value)
    if convert is None:
        return None

    def append(out, value):
        item = convert(value)
        row = row_of(out)
        slot = new_slot(row)
        put_item(out, slot, item)
        set_length(row, slot + 1)

    return append


def conversion(out, value):
    """A function that converts a value of a type to an item of a builder; None if it takes none."""
    storage = out.data_type.storage
    if isinstance(value, MomentType):
        return _of_moment(out, value)
    if isinstance(storage, s.Bool):
        return as_it_is if isinstance(value, types.Boolean) else None
    if isinstance(storage, s.FloatingPoint):
        taken = isinstance(value, types.Integer | types.Boolean | types.Float)
        return as_it_is if taken else None
    if isinstance(value, types.Boolean):
        return as_it_is if out.node.multiple_of == 1 else None
    if not isinstance(value, types.Integer):
        return None
    return _checked_integer(out, types.unliteral(value))


def _of_moment(out, value):
    """A function from a date, a time or a duration to an item; None if they are not of the type's kind."""
    scale = item_scale(value.kind, out.data_type.storage)
    if scale is None:
        return None
    times, by = scale
    most = ((1 << 63) - 1) // times
    message = f"a {value.kind} that {out.data_type} does not have"
    item = out.item

    @register_jitable
    def convert(value):
        number = raw(value)
        if number % by != 0 or abs(number) > most:
            raise OverflowError(message)
        return item(number * times // by)

    return convert


@register_jitable
def as_it_is(value):
    """The number itself, for `put_item`, which converts it to the type of the items."""
    return value


def _checked_integer(out, value):
    node, item = out.node, out.item
    least, most = node.bounds
    # Compared as what the value is: Numba compares a constant of the other sign as a float.
    low, high = value.minval, value.maxval
    at_least, at_most = max(least, low), min(most, high)
    fits = least <= low and high <= most
    multiple_of = node.multiple_of
    message = f"an integer out of the range of {out.data_type}"
    if fits and multiple_of == 1:
        return as_it_is
    at_least, at_most = (np.dtype(str(value)).type(bound) for bound in (at_least, at_most))

    @register_jitable
    def convert(value):
        if value < at_least or value > at_most:
            raise OverflowError(message)
        if multiple_of > 1 and value % multiple_of != 0:
            raise OverflowError("a date64 that is no whole day")
        return item(value)

    return convert


@method("extend")
def _ol_extend(out, values):
    if not isinstance(values, types.Array) or values.ndim != 1:
        raise TypingError(f"extend: expected an array of one dimension, got {values}")
    convert = conversion(out, values.dtype) if out.node.kind is NodeKind.NUMBER else None
    if convert is None:
        raise TypingError(f"extend: {values.dtype} to a builder of {out.data_type}")
    item = out.item

    def extend(out, values):
        row, count = row_of(out), len(values)
        ensure_slots(row, count)
        slot = length_of(row)
        items = numba.carray(items_address(out), (slot + count,), item)
        for k in range(count):
            items[np.uint64(slot + k)] = convert(values[k])
        set_length(row, slot + count)

    return extend


# Decimals


@APPENDS.of(NodeKind.WORDS)
def decimal_append(out, value):
    """`append` of a decimal, or of the integer that is stored; None if the builder takes no such value."""
    storage = out.data_type.storage
    if not isinstance(storage, s.Decimal):
        return None
    if isinstance(value, DecimalType):
        if value.scale > storage.scale:
            return None
    elif isinstance(value, types.BaseTuple):
        if len(value) != storage.bit_width // 64 or not all(map(_is_integer, value)):
            return None
    elif not _is_integer(value):
        return None
    message = f"a decimal out of the range of {out.data_type}"

    def append(out, value):
        row = row_of(out)
        slot = new_slot(row)
        if not put_decimal(out, slot, value):
            raise OverflowError(message)
        set_length(row, slot + 1)

    return append


def _is_integer(kind: types.Type) -> bool:
    return isinstance(kind, types.Integer)


@by_types
def put_decimal(out, slot, value):
    """Store a decimal in a slot; returns whether it has no more digits than the type."""
    storage = out.data_type.storage
    loop = DecimalLoop({"put_item": put_item}, value=value)
    loop.parameters = ["out", "slot", "value"]
    words = decimals.stored(loop, *loop.operands, storage)
    for k, word in enumerate(words):
        loop.emit(f"put_item(out, slot * {len(words)} + {k}, _ck_i8({word}))")
    return loop.written(decimals.is_within(loop, words, storage), "decimals")
