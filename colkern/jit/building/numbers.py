"""Numbers: which ones a builder takes, as what, and whether they are in the range of the type."""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.core.errors import TypingError
from numba.extending import overload_method, register_jitable

from colkern import schema as s
from colkern.jit.building.builder_type import APPENDS, BuilderType
from colkern.jit.building.decimals import decimal_append
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.room import ensure_slots, new_slot
from colkern.jit.building.state import items_address, length_of, put_item, row_of, set_length
from colkern.jit.elements.memory import raw
from colkern.jit.elements.types import MomentType
from colkern.jit.stored_elements import item_scale
from colkern.jit.values.decimal_numbers import DecimalType


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
    """A function from a value of that type to an item of a builder; None if it does not take such."""
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
    """For `put_item`, which converts to the type of the items."""
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


@APPENDS.of(NodeKind.WORDS)
def _words_append(out, value):
    """`append` of an integer of several words; None if the builder does not take such a value."""
    words = out.node.per_slot
    if isinstance(value, DecimalType):
        return decimal_append(out, value)
    if isinstance(value, types.Integer):
        widen = _widened_integer(types.unliteral(value), words)
    elif isinstance(value, types.UniTuple | types.Tuple) and _are_words(value, words):
        widen = _as_two_words if words == 2 else _as_four_words
    else:
        return None
    check = _checked_words(out)

    def append(out, value):
        integer = check(widen(value))
        row = row_of(out)
        slot = new_slot(row)
        for k in range(words):
            put_item(out, slot * words + k, integer[k])
        set_length(row, slot + 1)

    return append


def _are_words(value, words):
    return len(value) == words and all(isinstance(word, types.Integer) for word in value)


def _widened_integer(value, words):
    signed = value.signed

    @register_jitable
    def widen(value):
        low = np.int64(value)
        return low, (low >> 63 if signed else np.int64(0))

    if words == 2:
        return widen

    @register_jitable
    def widen_twice(value):
        low, high = widen(value)
        return low, high, high, high

    return widen_twice


@register_jitable
def _as_two_words(value):
    return np.int64(value[0]), np.int64(value[1])


@register_jitable
def _as_four_words(value):
    return np.int64(value[0]), np.int64(value[1]), np.int64(value[2]), np.int64(value[3])


def _checked_words(out):
    words = out.node.per_slot
    least, most = (_words_of(bound, words) for bound in out.node.bounds)
    message = f"an integer out of the range of {out.data_type}"

    @register_jitable
    def is_greater(a, b):
        for k in range(words - 1, -1, -1):
            if a[k] != b[k]:
                # The upper bit is a sign in the highest word alone.
                return a[k] > b[k] if k == words - 1 else np.uint64(a[k]) > np.uint64(b[k])
        return False

    @register_jitable
    def check(value):
        if is_greater(value, most) or is_greater(least, value):
            raise OverflowError(message)
        return value

    return check


def _words_of(number, words):
    """The 64-bit words of an integer in two's complement, the lowest first."""
    data = number.to_bytes(8 * words, "little", signed=True)
    return tuple(np.frombuffer(data, "<i8").tolist())


@overload_method(BuilderType, "extend")
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
