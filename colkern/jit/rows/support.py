"""What generated loops call: reading bits, offsets and views, and putting results away.

`put…` functions return flags (`colkern.jit.rows.flags`), which the loop collects.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import overload, register_jitable
from numpy import int64, uint8, uint64

from colkern.cpu.compiler import compiled
from colkern.cpu.primitives import copy_bytes, load_word
from colkern.jit.elements.conversions import as_text
from colkern.jit.elements.memory import element, keep, raw, unowned_address
from colkern.jit.elements.types import SequenceType
from colkern.jit.rows.flags import (
    CHANGED,
    NEEDS_WRITING,
    OUT_OF_RANGE,
)
from colkern.jit.values.optionals import unwrapped
from colkern.kernels import row_values
from colkern.kernels.row_values import Bytes, Text
from colkern.layouts import VIEW_INLINE_BYTES

# Validity


@register_jitable
def bit(bitmap, i):
    """Whether bit `i` (uint64) of `bitmap` (uint8[]) is set."""
    return (bitmap[i >> uint64(3)] >> uint8(i & uint64(7))) & uint8(1) != 0


@register_jitable
def is_valid(bitmap, first, i):
    """Whether bit `first + i` is set; yes, if the bitmap is empty."""
    return len(bitmap) == 0 or bit(bitmap, first + i)


@register_jitable
def valid_until(bitmap, start, stop):
    """The end of the run of valid slots from `start` on, as far as whole words of 64 slots tell.

    bitmap: uint8[], empty if all slots are valid
    """
    if len(bitmap) == 0:
        return stop
    at = start
    while (at | uint64(63)) < stop:
        word = load_word(bitmap, uint64(0), at >> uint64(6))
        if ~word >> (at & uint64(63)) != 0:
            break
        at = (at | uint64(63)) + uint64(1)
    return at


@register_jitable
def valid_bits(bitmap, start, stop):
    """Bits `[start, stop)`, which lie in one aligned word of 64, from bit 0 of a uint64 on."""
    first = (start >> uint64(6)) << uint64(3)
    if first + uint64(8) <= uint64(len(bitmap)):
        bits = load_word(bitmap, uint64(0), start >> uint64(6))
    else:
        bits = uint64(0)
        for byte in range(first, uint64(len(bitmap))):
            bits |= uint64(bitmap[byte]) << ((uint64(byte) - first) << uint64(3))
    bits >>= start & uint64(63)
    count = stop - start
    return bits if count == 64 else bits & ((uint64(1) << count) - uint64(1))


# Values


@register_jitable
def wide(words, i, count, flag):
    """`flag` where the integer of `count` 64-bit words in slot `i` does not fit one of them."""
    first = i * count
    sign = words[first] >> 63
    differs = int64(0)
    for k in range(uint64(1), count):
        differs |= words[first + k] ^ sign
    return flag if differs != 0 else 0


_is_ascii = compiled(row_values.is_ascii)


@register_jitable
def text_at(address, size):
    """The text of so many bytes at an address (uint64) in a column."""
    return element(Text(int64(address), size, _is_ascii(int64(address), size)))


@register_jitable
def binary_at(address, size):
    """The byte string of so many bytes at an address (uint64) in a column."""
    return element(Bytes(int64(address), int64(size)))


@register_jitable
def text_between(base, offsets, i):
    """The text between two offsets from the address `base` on."""
    start = int64(offsets[i])
    return text_at(base + uint64(start), int64(offsets[i + uint64(1)]) - start)


@register_jitable
def binary_between(base, offsets, i):
    """The bytes between two offsets from the address `base` on."""
    start = int64(offsets[i])
    return binary_at(base + uint64(start), int64(offsets[i + uint64(1)]) - start)


@register_jitable
def _viewed_address(views, base, table, i):
    word = i << uint64(2)
    if views[word] <= VIEW_INLINE_BYTES:
        return base + (word << uint64(2)) + uint64(4)
    return table[uint64(views[word + uint64(2)])] + uint64(views[word + uint64(3)])


@register_jitable
def text_viewed(views, base, table, i):
    """The text of view `i`; `views` stand at `base`, data buffers at the addresses in `table`."""
    return text_at(_viewed_address(views, base, table, i), int64(views[i << uint64(2)]))


@register_jitable
def binary_viewed(views, base, table, i):
    """The bytes of view `i`; `views` stand at `base`, data buffers at the addresses in `table`."""
    return binary_at(_viewed_address(views, base, table, i), int64(views[i << uint64(2)]))


# Results


def put(out: Any, nulls: Any, i: Any, value: Any) -> Any:
    """out[i] = value, or nulls[i] = 1 for None; flags."""
    raise NotImplementedError


@overload(put)
def _ol_put(out, nulls, i, value):
    if isinstance(value, types.NoneType):
        return _put_null
    if isinstance(value, types.Optional):

        def put_optional(out, nulls, i, value):
            if value is None:
                nulls[i] = 1
                return 0
            return put(out, nulls, i, unwrapped(value))

        return put_optional
    if isinstance(value, types.Integer) and isinstance(out.dtype, types.Integer):
        return _integer_put(out.dtype, value)

    def put_number(out, nulls, i, value):
        out[i] = value
        return 0

    return put_number


def _put_null(out, nulls, i, value):
    nulls[i] = 1
    return 0


def _integer_put(item: Any, value: Any) -> Any:
    if item.signed == value.signed and item.bitwidth >= value.bitwidth:

        def put_integer(out, nulls, i, value):
            out[i] = value
            return 0

    elif item.bitwidth == 64:

        def put_integer(out, nulls, i, value):
            changed = item(value)
            out[i] = changed
            # The upper bit is a sign in one of the two types only.
            return OUT_OF_RANGE if int64(changed) < 0 else 0

    else:

        def put_integer(out, nulls, i, value):
            narrow = item(value)
            out[i] = narrow
            return OUT_OF_RANGE if int64(narrow) != value else 0

    return put_integer


def put_text(
    addresses: Any, sizes: Any, offsets: Any, data: Any, nulls: Any, i: Any, value: Any
) -> Any:
    """Measure the text `value` where `data` is empty, else write it there; flags.

    addresses: uint64[n]: where the bytes of `value` stand, if they outlive the call
    sizes: int64[n]: how many there are
    offsets: int32/int64[n + 1]: where they go in `data`
    """
    raise NotImplementedError


def put_binary(
    addresses: Any, sizes: Any, offsets: Any, data: Any, nulls: Any, i: Any, value: Any
) -> Any:
    """As `put_text`, for bytes of any kind."""
    raise NotImplementedError


def _define_put_bytes(put_bytes: Any) -> None:
    @overload(put_bytes)
    def _ol_put_bytes(addresses, sizes, offsets, data, nulls, i, value):
        if isinstance(value, types.NoneType):

            def put_null(addresses, sizes, offsets, data, nulls, i, value):
                nulls[i] = 1
                return 0

            return put_null
        if isinstance(value, types.Optional):

            def put_optional(addresses, sizes, offsets, data, nulls, i, value):
                if value is None:
                    nulls[i] = 1
                    return 0
                return put_bytes(addresses, sizes, offsets, data, nulls, i, unwrapped(value))

            return put_optional
        if isinstance(value, types.UnicodeType):

            def put_string(addresses, sizes, offsets, data, nulls, i, value):
                return put_bytes(addresses, sizes, offsets, data, nulls, i, as_text(value))

            return put_string
        if isinstance(value, SequenceType | types.Bytes):

            def put_element(addresses, sizes, offsets, data, nulls, i, value):
                plain = raw(value)
                if len(data) == 0:
                    addresses[i] = unowned_address(value)
                    sizes[i] = plain.size
                    return NEEDS_WRITING if addresses[i] == 0 and plain.size != 0 else 0
                place = uint64(offsets[i])
                if int64(uint64(offsets[i + uint64(1)]) - place) != plain.size:
                    return CHANGED
                copy_bytes(data, place, uint64(plain.address), uint64(plain.size))
                keep(value)
                return 0

            return put_element
        return None


_define_put_bytes(put_text)
_define_put_bytes(put_binary)
