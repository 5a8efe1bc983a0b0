"""Strings: whether they match, how long they are, whether they are ASCII; the same for binary values.

Bytes are looked at eight at a time, as words at addresses: `base` is the address of a data buffer, and
`last` the place in it where its last word begins, so it has 8 bytes at least. Views are words too:
length and prefix, then the rest of an inline value, or number and offset of a data buffer. The table
`addresses` has the address of each data buffer, and at its end that of the views themselves.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from numpy import int32, uint8, uint64

from colkern.kernels.arguments import Bitmap, Buffers, In, O, Out, Truth
from colkern.kernels.bitmaps import valid_mask
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import (
    character_starts,
    load_item,
    load_word,
    popcount,
    prefetch,
    trailing_zeros,
    word_at,
)
from colkern.layouts import VIEW_INLINE_BYTES

AHEAD = 64
"""So many values ahead, bytes are asked for: long values lie too far apart to be there by chance."""

WORDS = 16
"""The words of a result whose values are asked for before the first of them is looked at."""

_LENGTH = (1 << 32) - 1
_HIGH_BITS = 0x8080808080808080
_LOW_BITS = 0x0101010101010101


class Texts(NamedTuple, Generic[O]):
    """Byte strings by their offsets, the address of the data buffer, and its size less 8."""

    offsets: In[O]
    base: uint64
    last: uint64


class Viewed(NamedTuple):
    """Byte strings by views; `addresses` has each data buffer, then the views themselves."""

    views: In[uint64]
    addresses: In[uint64]
    validity: Bitmap


class Pattern(NamedTuple):
    """A byte string that others are compared with; 12 bytes at least are there, zeros behind its own."""

    address: uint64
    length: uint64


@helper
def low_bytes(count: uint64) -> uint64:
    """A uint64 whose `count` (up to 8) low bytes are all ones."""
    # In two steps, as a shift by all 64 bits is none.
    half = count << uint64(2)
    return ~(~uint64(0) << half << half)


@helper
def near_word(base: uint64, place: uint64, last: uint64) -> uint64:
    """The 8 bytes from `place` on, zeros behind the end; `place` is at most 8 behind `last`."""
    if place <= last:
        return word_at(base + place)
    half = (place - last) << uint64(2)
    return word_at(base + last) >> half >> half


@helper
def reversed_bytes(word: uint64) -> uint64:
    """The bytes of a word in reverse, so that its order as a number is that of its bytes."""
    low = uint64(0x00FF_00FF_00FF_00FF)
    word = ((word & low) << uint64(8)) | ((word >> uint64(8)) & low)
    low = uint64(0x0000_FFFF_0000_FFFF)
    word = ((word & low) << uint64(16)) | ((word >> uint64(16)) & low)
    return (word << uint64(32)) | (word >> uint64(32))


@helper
def are_same(left: uint64, right: uint64, count: uint64) -> Truth:
    """Whether the bytes at two addresses are the same; at least 8 of them."""
    # The last word overlaps the one before it: nothing behind the bytes is looked at.
    tail = count - uint64(8)
    unlike = word_at(left) ^ word_at(right) | word_at(left + tail) ^ word_at(right + tail)
    k = uint64(8)
    while k < tail and unlike == 0:
        unlike = word_at(left + k) ^ word_at(right + k)
        k += uint64(8)
    return unlike == 0


@helper
def are_stretches_same(left: uint64, right: uint64, count: uint64) -> Truth:
    """As `are_same`, for many bytes which are expected to be the same: a look for each 512."""
    tail = count - uint64(8)
    unlike = word_at(left + tail) ^ word_at(right + tail)
    k = uint64(0)
    while k + uint64(512) <= count and unlike == 0:
        for place in range(k, k + uint64(512), uint64(8)):
            unlike |= word_at(left + uint64(place)) ^ word_at(right + uint64(place))
        k += uint64(512)
    while k < tail and unlike == 0:
        unlike = word_at(left + k) ^ word_at(right + k)
        k += uint64(8)
    return unlike == 0


@helper
def are_same_bytes(like: In[uint8], left: uint64, right: uint64, count: uint64) -> Truth:
    """Whether any number of bytes at two addresses are the same; `like` is any uint8[]."""
    for k in range(uint64(0), count):
        if load_item(like, left + uint64(k)) != load_item(like, right + uint64(k)):
            return False
    return True


@helper
def packed(bits: uint64, flip: uint64, count: uint64) -> uint8:
    """A byte of `count` (up to 8) bits, turned where `flip` has ones; zeros behind them."""
    return uint8((bits ^ flip) & ((uint64(1) << min(count, uint64(8))) - uint64(1)))


@kernel()
def equal_text(
    start, stop, step, texts: Texts[O], pattern: Pattern, length, flip, out: Out[uint64]
):
    """Bit i of `out` = whether value i is the same as a pattern; the range is over the words of `out`.

    Values of the same length are found first, without a branch: they are few.
    """
    mask = low_bytes(min(pattern.length, uint64(8)))
    head = word_at(pattern.address) & mask
    pace = uint64(step) * uint64(WORDS)
    for begin in range(start, stop, pace):
        end = min(uint64(begin) + pace, uint64(stop))
        for w in range(begin, end, step):
            first = uint64(w) << uint64(6)
            fitting = values_of_length(texts.offsets, first, length, pattern.length)
            out[w] = fitting
            # Where there are few, they lie too far apart for their bytes to be there by chance.
            while fitting != 0 and popcount(fitting) < 16:
                slot = uint64(trailing_zeros(fitting))
                fitting &= fitting - uint64(1)
                prefetch(texts.base + uint64(texts.offsets[first + slot]))
        for w in range(begin, end, step):
            first = uint64(w) << uint64(6)
            fitting = out[w]
            bits = uint64(0)
            while fitting != 0:
                slot = uint64(trailing_zeros(fitting))
                fitting &= fitting - uint64(1)
                place = uint64(texts.offsets[first + slot])
                same = (near_word(texts.base, place, texts.last) ^ head) & mask == 0
                if same and pattern.length > 8:
                    same = are_same(texts.base + place, pattern.address, pattern.length)
                bits |= uint64(same) << slot
            bits ^= flip * uint64(_LOW_BITS)
            empty = uint64(64) - min(length - first, uint64(64))
            out[w] = bits << empty >> empty


@helper
def values_of_length(offsets: In[O], first: uint64, length: uint64, wanted: uint64) -> uint64:
    """Bit `k` (uint64) = whether value first + k, of `length` in all, has that many bytes."""
    fitting = uint64(0)
    if first + uint64(64) <= length:
        for k in range(uint64(0), uint64(64)):
            value = first + uint64(k)
            size = uint64(offsets[value + uint64(1)]) - uint64(offsets[value])
            fitting |= uint64(size == wanted) << uint64(k)
    else:
        for i in range(first, length):
            size = uint64(offsets[uint64(i) + uint64(1)]) - uint64(offsets[uint64(i)])
            fitting |= uint64(size == wanted) << (uint64(i) - first)
    return fitting


@helper
def are_long(offsets: In[O], first: uint64) -> Truth:
    """Whether 8 values from `first` on lie too far apart for processors to ask for them by themselves.

    To ask for values of 200 bytes takes a third longer than to wait for them; for 400, half as long.
    """
    return uint64(offsets[first + uint64(8)]) - uint64(offsets[first]) > uint64(2304)


@kernel()
def match_text(
    start, stop, step, texts: Texts[O], pattern: Pattern, at_end, length, out: Out[uint8]
):
    """Bit i of `out` = whether value i begins, or ends if `at_end` is 1, with a pattern; by its bytes."""
    mask = low_bytes(min(pattern.length, uint64(8)))
    head = word_at(pattern.address) & mask
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        far = first + uint64(AHEAD)
        if far + uint64(8) <= length and are_long(texts.offsets, first):
            for k in range(far, far + uint64(8)):
                prefetch(texts.base + uint64(texts.offsets[uint64(k) + at_end]))
        for i in range(first, min(first + uint64(8), length)):
            begin = uint64(texts.offsets[uint64(i)])
            size = uint64(texts.offsets[uint64(i) + uint64(1)]) - begin
            # Without a branch: most values are long enough, and hardly any matches.
            ahead = max(size, pattern.length) - pattern.length
            place = begin + ahead if at_end != 0 else begin
            unlike = (near_word(texts.base, place, texts.last) ^ head) & mask | uint64(
                size < pattern.length
            )
            if pattern.length > 8 and unlike == 0:
                unlike = uint64(not are_same(texts.base + place, pattern.address, pattern.length))
            bits |= uint64(unlike == 0) << (uint64(i) - first)
        out[b] = packed(bits, uint64(0), length - first)


@kernel()
def equal_texts(
    start, stop, step, texts: Texts[O], others: Texts[O], length, flip, out: Out[uint64]
):
    """Bit i of `out` = whether values i of two arrays are the same; the range is over its words.

    Where 64 values have the same lengths, their bytes are first compared as one stretch.
    """
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        fitting = uint64(0)
        for i in range(first, min(first + uint64(64), length)):
            size = uint64(texts.offsets[uint64(i) + uint64(1)]) - uint64(texts.offsets[uint64(i)])
            other = uint64(others.offsets[uint64(i) + uint64(1)]) - uint64(
                others.offsets[uint64(i)]
            )
            fitting |= uint64(size == other) << (uint64(i) - first)
        bits = uint64(0)
        if fitting == ~uint64(0):
            left, right = uint64(texts.offsets[first]), uint64(others.offsets[first])
            size = uint64(texts.offsets[first + uint64(64)]) - left
            if size >= 8 and are_stretches_same(texts.base + left, others.base + right, size):
                bits, fitting = fitting, uint64(0)
        while fitting != 0:
            slot = uint64(trailing_zeros(fitting))
            fitting &= fitting - uint64(1)
            left, right = uint64(texts.offsets[first + slot]), uint64(others.offsets[first + slot])
            size = uint64(texts.offsets[first + slot + uint64(1)]) - left
            word = near_word(texts.base, left, texts.last) ^ near_word(
                others.base, right, others.last
            )
            same = word & low_bytes(min(size, uint64(8))) == 0
            if same and size > 8:
                same = are_same(texts.base + left, others.base + right, size)
            bits |= uint64(same) << slot
        bits ^= flip * uint64(_LOW_BITS)
        empty = uint64(64) - min(length - first, uint64(64))
        out[w] = bits << empty >> empty


@helper
def source_of_view(views: In[uint64], i: uint64, addresses: In[uint64]) -> uint64:
    """The address of the bytes of view `i`, which is valid."""
    second = views[(i << uint64(1)) + uint64(1)]
    is_long = views[i << uint64(1)] & uint64(_LENGTH) > VIEW_INLINE_BYTES
    buffer = second & uint64(_LENGTH) if is_long else uint64(len(addresses) - 1)
    place = second >> uint64(32) if is_long else (i << uint64(4)) + uint64(4)
    return addresses[buffer] + place


@kernel()
def equal_view(start, stop, step, left: Viewed, pattern: Pattern, length, flip, out: Out[uint8]):
    """Bit i of `out` = whether view i is the same as a pattern, anything for a null; by bytes of `out`."""
    head = pattern.length | word_at(pattern.address) << uint64(32)
    tail = word_at(pattern.address + uint64(4))
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            word = uint64(i) << uint64(1)
            same = left.views[word] == head
            if pattern.length <= VIEW_INLINE_BYTES:
                same &= left.views[word + uint64(1)] == tail
            elif same and valid_mask(left.validity, i) != 0:
                same = are_same(
                    source_of_view(left.views, uint64(i), left.addresses),
                    pattern.address,
                    pattern.length,
                )
            bits |= uint64(same) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@kernel()
def match_view_start(start, stop, step, left: Viewed, pattern: Pattern, length, out: Out[uint8]):
    """Bit i of `out` = whether view i begins with a pattern, anything for a null; by bytes of `out`."""
    mask = low_bytes(min(pattern.length, uint64(4))) << uint64(32)
    prefix = word_at(pattern.address) << uint64(32) & mask
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        # As many for each byte: of any number up to eight, LLVM makes vectors that take ten times as long.
        for k in range(uint64(0), uint64(8)):
            i = min(first + uint64(k), length - uint64(1))
            head = left.views[i << uint64(1)] & valid_mask(left.validity, i)
            same = (head & uint64(_LENGTH) >= pattern.length) & (head & mask == prefix)
            if pattern.length > 4 and same:
                source = source_of_view(left.views, i, left.addresses)
                same = are_same_bytes(left.validity.bits, source, pattern.address, pattern.length)
            bits |= uint64(same) << uint64(k)
        out[b] = packed(bits, uint64(0), length - first)


@kernel()
def match_view_end(start, stop, step, left: Viewed, pattern: Pattern, length, out: Out[uint8]):
    """Bit i of `out` = whether view i ends with a pattern, anything for a null; by bytes of `out`."""
    few = min(pattern.length, uint64(8))
    mask = ~low_bytes(uint64(8) - few)
    half = (uint64(8) - few) << uint64(2)
    tail = word_at(pattern.address + pattern.length - few) << half << half
    inline = uint64(len(left.addresses) - 1)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for k in range(uint64(0), uint64(8)):
            i = min(first + uint64(k), length - uint64(1))
            size = left.views[i << uint64(1)] & valid_mask(left.validity, i)
            size &= uint64(_LENGTH)
            second = left.views[(i << uint64(1)) + uint64(1)]
            buffer = second & uint64(_LENGTH) if size > VIEW_INLINE_BYTES else inline
            place = (
                second >> uint64(32) if size > VIEW_INLINE_BYTES else (i << uint64(4)) + uint64(4)
            )
            source = left.addresses[buffer] + place
            # The word that ends with the value; of a short one, the word that ends with its prefix.
            behind = max(size, uint64(4))
            word = word_at(source + behind - uint64(8)) << ((behind - size) << uint64(3))
            unlike = (word ^ tail) & mask | uint64(size < pattern.length)
            if pattern.length > 8 and unlike == 0:
                unlike = uint64(
                    not are_same(source + size - pattern.length, pattern.address, pattern.length)
                )
            bits |= uint64(unlike == 0) << uint64(k)
        out[b] = packed(bits, uint64(0), length - first)


@kernel()
def equal_views(start, stop, step, left: Viewed, right: Viewed, length, flip, out: Out[uint8]):
    """Bit i of `out` = whether the values of views i of two arrays are the same; by bytes of `out`."""
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        long = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            word = uint64(i) << uint64(1)
            same = left.views[word] == right.views[word]
            is_long = left.views[word] & uint64(_LENGTH) > VIEW_INLINE_BYTES
            rest = left.views[word + uint64(1)] == right.views[word + uint64(1)]
            bits |= uint64(same & rest) << (uint64(i) - first)
            long |= uint64(same & is_long) << (uint64(i) - first)
        bits &= ~long
        while long != 0:
            slot = uint64(trailing_zeros(long))
            long &= long - uint64(1)
            at = first + slot
            shown = valid_mask(left.validity, at) & valid_mask(right.validity, at)
            if shown != 0:
                mine = source_of_view(left.views, at, left.addresses)
                other = source_of_view(right.views, at, right.addresses)
                size = left.views[at << uint64(1)] & uint64(_LENGTH)
                bits |= uint64(are_same(mine, other, size)) << slot
        out[b] = packed(bits, flip, length - first)


@kernel(combine="max")
def has_inline_high_bit(start, stop, step, views: In[uint64], validity: Bitmap) -> uint64:
    """1 if a byte that stands in a valid view itself is not ASCII, else 0; a long view has a prefix."""
    bits = uint64(0)
    for i in range(start, stop, step):
        head = views[uint64(i) << uint64(1)]
        rest = views[(uint64(i) << uint64(1)) + uint64(1)]
        rest = rest if head & uint64(_LENGTH) <= VIEW_INLINE_BYTES else uint64(0)
        bits |= (head & ~uint64(_LENGTH) | rest) & valid_mask(validity, i)
    return uint64(bits & uint64(_HIGH_BITS) != 0)


@kernel(combine="max")
def has_high_bit(start, stop, step, data: In[uint8]) -> uint64:
    """1 if a byte of the words of `data` in the range is not ASCII, else 0."""
    bits = uint64(0)
    for begin in range(start, stop, uint64(step) << uint64(9)):
        for w in range(begin, min(uint64(begin) + (uint64(step) << uint64(9)), uint64(stop)), step):
            bits |= load_word(data, uint64(0), uint64(w)) & uint64(_HIGH_BITS)
        if bits != 0:
            return uint64(1)
    return uint64(0)


@helper
def is_ascii_text(base: uint64, begin: uint64, size: uint64, last: uint64) -> Truth:
    """Whether the `size` bytes from `begin` on have no high bits."""
    if size <= 8:
        bits = near_word(base, begin, last) & low_bytes(size)
    else:
        bits = word_at(base + begin + size - uint64(8))
        for k in range(uint64(0), size - uint64(8), uint64(8)):
            bits |= word_at(base + begin + uint64(k))
    return bits & uint64(_HIGH_BITS) == 0


@kernel()
def ascii_texts(start, stop, step, texts: Texts[O], length, out: Out[uint8]):
    """Bit i of `out` = whether all bytes of value i are ASCII; the range is over the bytes of `out`."""
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            begin = uint64(texts.offsets[uint64(i)])
            size = uint64(texts.offsets[uint64(i) + uint64(1)]) - begin
            bits |= uint64(is_ascii_text(texts.base, begin, size, texts.last)) << (
                uint64(i) - first
            )
        out[b] = uint8(bits)


@kernel()
def ascii_views(start, stop, step, left: Viewed, length, out: Out[uint8]):
    """Bit i of `out` = whether all bytes of view i are ASCII, some bit under a null; by bytes of it."""
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            word = uint64(i) << uint64(1)
            head = left.views[word] & valid_mask(left.validity, i)
            size = head & uint64(_LENGTH)
            same = (left.views[word + uint64(1)] | head & ~uint64(_LENGTH)) & uint64(
                _HIGH_BITS
            ) == 0
            if size > VIEW_INLINE_BYTES:
                source = source_of_view(left.views, uint64(i), left.addresses)
                same = is_ascii_text(source, uint64(0), size, uint64(0))
            bits |= uint64(same) << (uint64(i) - first)
        out[b] = uint8(bits)


@helper
def count_continuations(word: uint64) -> uint64:
    """The number of 8 bytes that are a character's second to fourth."""
    return uint64(popcount((word >> uint64(7)) & (~word >> uint64(6)) & uint64(_LOW_BITS)))


@helper
def count_more_continuations(source: uint64, size: uint64) -> uint64:
    """The number of bytes at an address, at least 8, that are a character's second to fourth."""
    count = uint64(0)
    k = uint64(8)
    while k <= size:
        count += count_continuations(word_at(source + k - uint64(8)))
        k += uint64(8)
    # The bytes that are left are the last ones of a word that ends with them.
    half = (k - size) << uint64(2)
    return count + count_continuations(word_at(source + size - uint64(8)) >> half >> half)


@kernel()
def count_characters(start, stop, step, texts: Texts[O], out: Out[O]):
    """out[i] = the characters (code points) of value i."""
    for i in range(start, stop, step):
        begin = uint64(texts.offsets[uint64(i)])
        size = uint64(texts.offsets[uint64(i) + uint64(1)]) - begin
        count = uint64(0)
        if begin + size + uint64(24) <= texts.last:
            # Whole pieces can be read. Most values are no longer than the first.
            count = count_in_piece(texts.base + begin, min(size, uint64(32)))
            for k in range(uint64(32), size, uint64(32)):
                count += count_in_piece(
                    texts.base + begin + uint64(k), min(size - uint64(k), uint64(32))
                )
        elif size <= 8:
            count = size - count_continuations(
                near_word(texts.base, begin, texts.last) & low_bytes(size)
            )
        else:
            count = size - count_more_continuations(texts.base + begin, size)
        out[i] = count


@helper
def count_in_piece(address: uint64, count: uint64) -> uint64:
    """The number of the first `count` of 32 bytes that begin a character."""
    shown = (uint64(1) << count) - uint64(1)
    return uint64(popcount(uint64(character_starts(address)) & shown))


@kernel()
def count_characters_of_views(
    start, stop, step, views: In[uint64], buffers: Buffers, validity: Bitmap, out: Out[int32]
):
    """out[i] = the characters (code points) of view i, 0 under a null."""
    inline = uint64(len(buffers.addresses) - 1)
    for i in range(start, stop, step):
        word = uint64(i) << uint64(1)
        size = views[word] & uint64(_LENGTH) & valid_mask(validity, i)
        second = views[word + uint64(1)]
        # Short and long ones come in any order: all are counted the same way.
        is_long = size > VIEW_INLINE_BYTES
        buffer = second & uint64(_LENGTH) if is_long else inline
        place = second >> uint64(32) if is_long else (uint64(i) << uint64(4)) + uint64(4)
        source = buffers.addresses[buffer] + place
        if place + size + uint64(32) <= uint64(buffers.sizes[buffer]):
            count = count_in_piece(source, min(size, uint64(32)))
            for k in range(uint64(32), size, uint64(32)):
                count += count_in_piece(source + uint64(k), min(size - uint64(k), uint64(32)))
        elif is_long:
            count = size - count_more_continuations(source, size)
        else:
            bits = views[word] & ~uint64(_LENGTH)
            count = size - count_continuations(bits & low_bytes(min(size, uint64(4)) + uint64(4)))
            count -= count_continuations(second & low_bytes(max(size, uint64(4)) - uint64(4)))
        out[i] = count
