"""What generated loops call to find slots and read views, on the CPU."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable
from numpy import int64, uint8, uint64

from colkern.cpu.compiler import compiled
from colkern.cpu.primitives import get_word, load_word, set_word
from colkern.kernels import row_lists, row_values
from colkern.kernels.row_values import Bytes, Text
from colkern.layouts import VIEW_INLINE_BYTES

is_ascii = compiled(row_values.is_ascii)
new_list = compiled(row_lists.new_list)


@register_jitable
def bit_at(bitmap: Any, i: Any) -> Any:
    """Whether bit `i` (uint64) of `bitmap` (uint8[]) is set."""
    return (bitmap[i >> uint64(3)] >> uint8(i & uint64(7))) & uint8(1) != 0


@register_jitable
def is_valid(bitmap: Any, first: Any, i: Any) -> Any:
    """Whether bit `first + i` is set; yes, if the bitmap is empty."""
    return len(bitmap) == 0 or bit_at(bitmap, first + i)


@register_jitable
def valid_until(bitmap: Any, start: Any, stop: Any) -> Any:
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
def valid_bits(bitmap: Any, start: Any, stop: Any) -> Any:
    """Bits `[start, stop)`, which lie in one aligned word of 64, from bit 0 of a uint64 on."""
    count = stop - start
    if count == uint64(0):
        return uint64(0)
    first = (start >> uint64(6)) << uint64(3)
    if first + uint64(8) <= uint64(len(bitmap)):
        bits = load_word(bitmap, uint64(0), start >> uint64(6))
    else:
        bits = uint64(0)
        for byte in range(first, uint64(len(bitmap))):
            bits |= uint64(bitmap[byte]) << ((uint64(byte) - first) << uint64(3))
    bits >>= start & uint64(63)
    return bits if count == 64 else bits & ((uint64(1) << count) - uint64(1))


@register_jitable
def _viewed_address(views: Any, base: Any, table: Any, i: Any) -> Any:
    word = i << uint64(2)
    if views[word] <= VIEW_INLINE_BYTES:
        return base + int64(word << uint64(2)) + int64(4)
    return table[uint64(views[word + uint64(2)])] + int64(views[word + uint64(3)])


@register_jitable
def viewed_text(views: Any, base: Any, table: Any, i: Any) -> Any:
    """The text of view `i`; `views` stand at `base`, data buffers at the addresses in `table`."""
    address = _viewed_address(views, base, table, i)
    size = int64(views[i << uint64(2)])
    return Text(address, size, is_ascii(address, size))


@register_jitable
def viewed_bytes(views: Any, base: Any, table: Any, i: Any) -> Any:
    """The bytes of view `i`; `views` stand at `base`, data buffers at the addresses in `table`."""
    address = _viewed_address(views, base, table, i)
    return Bytes(address, int64(views[i << uint64(2)]))


@register_jitable
def has_null(bitmap: Any, offset: Any, first: Any, count: Any) -> Any:
    """Whether an item of a list is null."""
    if len(bitmap) == 0:
        return False
    for item in range(uint64(first), uint64(first + count)):
        if not bit_at(bitmap, offset + uint64(item)):
            return True
    return False


@register_jitable
def list_of_words(arena: Any, words: Any, first: Any, count: Any) -> Any:
    """A list of items of one word; 0 if the arena has no room."""
    header = new_list(arena, 1, count)
    if header != 0:
        place = get_word(header)
        for number in range(count):
            set_word(place + number * 8, words[uint64(first + number)])
        set_word(header + 8, count)
    return header


@register_jitable
def list_of_texts(
    arena: Any, positions: Any, sizes: Any, all_ascii: Any, first: Any, count: Any
) -> Any:
    """A list of texts; 0 if the arena has no room."""
    header = new_list(arena, 2, count)
    if header != 0:
        place = get_word(header)
        for number in range(count):
            item = uint64(first + number)
            address, size = positions[item], sizes[item]
            set_word(place + number * 16, address)
            plain = all_ascii != 0 or is_ascii(address, size)
            set_word(place + number * 16 + 8, size * 2 + int64(plain))
        set_word(header + 8, count)
    return header


@register_jitable
def list_of_byte_strings(
    arena: Any, positions: Any, sizes: Any, all_ascii: Any, first: Any, count: Any
) -> Any:
    """A list of byte strings; 0 if the arena has no room."""
    header = new_list(arena, 2, count)
    if header != 0:
        place = get_word(header)
        for number in range(count):
            item = uint64(first + number)
            set_word(place + number * 16, positions[item])
            set_word(place + number * 16 + 8, sizes[item])
        set_word(header + 8, count)
    return header
