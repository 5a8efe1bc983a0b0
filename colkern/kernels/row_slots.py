"""Slots of columns as the loops of row functions read them: bits, views.

Slot numbers are unsigned, as indices of arrays; all else is an int64.
"""

from __future__ import annotations

from numpy import int32, int64, uint8, uint64

from colkern.kernels.arguments import In, Truth
from colkern.kernels.bitmaps import get_bit
from colkern.kernels.kernel import helper
from colkern.kernels.primitives import load_word
from colkern.kernels.row_values import Bytes, Text
from colkern.kernels.text_words import is_ascii
from colkern.layouts import VIEW_INLINE_BYTES


@helper
def is_valid(bitmap: In[uint8], first: uint64, i: uint64) -> Truth:
    """Whether bit `first + i` is set; yes, if the bitmap is empty."""
    return len(bitmap) == 0 or get_bit(bitmap, first + i)


@helper
def valid_until(bitmap: In[uint8], start: uint64, stop: uint64) -> uint64:
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


@helper
def valid_bits(bitmap: In[uint8], start: uint64, stop: uint64) -> uint64:
    """Bits `[start, stop)`, which lie in one aligned word of 64, from bit 0 of a uint64 on.

    bitmap: uint8[], empty if all slots are valid
    """
    count = stop - start
    if count == uint64(0):
        return uint64(0)
    first = (start >> uint64(6)) << uint64(3)
    if len(bitmap) == 0:
        bits = ~uint64(0)
    elif first + uint64(8) <= uint64(len(bitmap)):
        bits = load_word(bitmap, uint64(0), start >> uint64(6))
    else:
        bits = uint64(0)
        for byte in range(first, uint64(len(bitmap))):
            bits |= uint64(bitmap[byte]) << ((uint64(byte) - first) << uint64(3))
    bits >>= start & uint64(63)
    return bits if count == 64 else bits & ((uint64(1) << count) - uint64(1))


@helper
def viewed_address(views: In[int32], base: int64, table: In[int64], i: uint64) -> int64:
    """Where the bytes of view `i` are."""
    word = i << uint64(2)
    if views[word] <= VIEW_INLINE_BYTES:
        return base + int64(word << uint64(2)) + int64(4)
    return table[uint64(views[word + uint64(2)])] + int64(views[word + uint64(3)])


@helper
def viewed_text(views: In[int32], base: int64, table: In[int64], i: uint64) -> Text:
    """The text of view `i`; `views` stand at `base`, data buffers at the addresses in `table`."""
    address = viewed_address(views, base, table, i)
    size = int64(views[i << uint64(2)])
    return Text(address, size, is_ascii(address, size))


@helper
def viewed_bytes(views: In[int32], base: int64, table: In[int64], i: uint64) -> Bytes:
    """The bytes of view `i`; `views` stand at `base`, data buffers at the addresses in `table`."""
    address = viewed_address(views, base, table, i)
    return Bytes(address, int64(views[i << uint64(2)]))
