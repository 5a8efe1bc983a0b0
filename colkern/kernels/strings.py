"""Strings: whether they match, how long they are, whether they are ASCII; the same for binary values.

Bytes are looked at eight at a time, as words at addresses: `base` is the address of a data buffer, and
`last` the place in it where its last word begins, so it has 8 bytes at least. Views are words too:
length and prefix, then the rest of an inline value, or number and offset of a data buffer. The table
`addresses` has the address of each data buffer, and at its end that of the views themselves.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import uint8, uint64

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

AHEAD = 64
"""How many values further bytes are asked for: long values lie too far apart to be there by chance."""

WORDS = 16
"""The words of a result whose values are asked for before the first of them is looked at."""

_LENGTH = (1 << 32) - 1
_HIGH_BITS = 0x8080808080808080
_LOW_BITS = 0x0101010101010101


@helper
def low_bytes(count: Any) -> Any:
    """A uint64 whose `count` (up to 8) low bytes are all ones."""
    # In two steps, as a shift by all 64 bits is none.
    half = count << uint64(2)
    return ~(~uint64(0) << half << half)


@helper
def near_word(base: Any, place: Any, last: Any) -> Any:
    """The 8 bytes from `place` on, zeros behind the end; `place` is at most 8 behind `last`."""
    if place <= last:
        return word_at(base + place)
    half = (place - last) << uint64(2)
    return word_at(base + last) >> half >> half


@helper
def are_same(left: Any, right: Any, count: Any) -> Any:
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
def are_stretches_same(left: Any, right: Any, count: Any) -> Any:
    """As `are_same`, for many bytes which are expected to be the same: no look in between."""
    tail = count - uint64(8)
    unlike = word_at(left + tail) ^ word_at(right + tail)
    for w in range(uint64(0), count >> uint64(3)):
        place = uint64(w) << uint64(3)
        unlike |= word_at(left + place) ^ word_at(right + place)
    return unlike == 0


@helper
def are_same_bytes(like: Any, left: Any, right: Any, count: Any) -> Any:
    """Whether any number of bytes at two addresses are the same; `like` is any uint8[]."""
    for k in range(uint64(0), count):
        if load_item(like, left + uint64(k)) != load_item(like, right + uint64(k)):
            return False
    return True


@helper
def packed(bits: Any, flip: Any, count: Any) -> Any:
    """A byte of `count` (up to 8) bits, turned where `flip` has ones; zeros behind them."""
    return uint8((bits ^ flip) & ((uint64(1) << min(count, uint64(8))) - uint64(1)))


@kernel(
    "offsets: O[], base: u8, last: u8, pattern: u8, wanted: u8, length: u8, flip: u8, out: u8[w]",
    O="i4 i8",
)
def equal_text(start, stop, step, offsets, base, last, pattern, wanted, length, flip, out):
    """Bit i of `out` = whether value i is the same as a pattern; the range is over the words of `out`.

    Those of the same length are found first, without a branch: they are few, and where they are is no
    more than one surprise in 64 values.

    offsets: int32/int64[length + 1], checked
    base: the address of the data buffer
    last: its size less 8
    pattern: the address of the pattern; 8 bytes are there at least
    wanted: the pattern's length
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint64[ceil(length / 64)]; bits past `length` become zero
    """
    mask = low_bytes(min(wanted, uint64(8)))
    head = word_at(pattern) & mask
    pace = uint64(step) * uint64(WORDS)
    for begin in range(start, stop, pace):
        end = min(uint64(begin) + pace, uint64(stop))
        for w in range(begin, end, step):
            first = uint64(w) << uint64(6)
            fitting = values_of_length(offsets, first, length, wanted)
            out[w] = fitting
            # Where there are few, they lie too far apart for their bytes to be there by chance.
            while fitting != 0 and popcount(fitting) < 16:
                slot = uint64(trailing_zeros(fitting))
                fitting &= fitting - uint64(1)
                prefetch(base + uint64(offsets[first + slot]))
        for w in range(begin, end, step):
            first = uint64(w) << uint64(6)
            fitting = out[w]
            bits = uint64(0)
            while fitting != 0:
                slot = uint64(trailing_zeros(fitting))
                fitting &= fitting - uint64(1)
                place = uint64(offsets[first + slot])
                same = (near_word(base, place, last) ^ head) & mask == 0
                if same and wanted > 8:
                    same = are_same(base + place, pattern, wanted)
                bits |= uint64(same) << slot
            bits ^= flip * uint64(_LOW_BITS)
            empty = uint64(64) - min(length - first, uint64(64))
            out[w] = bits << empty >> empty


@helper
def values_of_length(offsets: Any, first: Any, length: Any, wanted: Any) -> Any:
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
def are_long(offsets: Any, first: Any) -> Any:
    """Whether 8 values from `first` on have more bytes than lines of a cache that are read anyway."""
    return uint64(offsets[first + uint64(8)]) - uint64(offsets[first]) > uint64(512)


@kernel(
    "offsets: O[], base: u8, last: u8, pattern: u8, wanted: u8, at_end: u8, length: u8, out: u1[w]",
    O="i4 i8",
)
def match_text(start, stop, step, offsets, base, last, pattern, wanted, at_end, length, out):
    """Bit i of `out` = whether value i begins or ends with a pattern; by the bytes of `out`.

    offsets: int32/int64[length + 1], checked
    base: the address of the data buffer
    last: its size less 8
    pattern: the address of the pattern; 8 bytes are there at least
    wanted: the pattern's length
    at_end: 0 if values are to begin with the pattern, 1 if they are to end with it
    length: the number of values
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    mask = low_bytes(min(wanted, uint64(8)))
    head = word_at(pattern) & mask
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        far = first + uint64(AHEAD)
        if far + uint64(8) <= length and are_long(offsets, first):
            for k in range(far, far + uint64(8)):
                prefetch(base + uint64(offsets[uint64(k) + at_end]))
        for i in range(first, min(first + uint64(8), length)):
            begin = uint64(offsets[uint64(i)])
            size = uint64(offsets[uint64(i) + uint64(1)]) - begin
            # Without a branch: most values are long enough, and hardly any matches.
            ahead = max(size, wanted) - wanted
            place = begin + ahead if at_end != 0 else begin
            unlike = (near_word(base, place, last) ^ head) & mask | uint64(size < wanted)
            if wanted > 8 and unlike == 0:
                unlike = uint64(not are_same(base + place, pattern, wanted))
            bits |= uint64(unlike == 0) << (uint64(i) - first)
        out[b] = packed(bits, uint64(0), length - first)


@kernel(
    "offsets: O[], base: u8, last: u8, others: O[], other_base: u8, other_last: u8, length: u8,"
    "flip: u8, out: u8[w]",
    O="i4 i8",
)
def equal_texts(
    start, stop, step, offsets, base, last, others, other_base, other_last, length, flip, out
):
    """Bit i of `out` = whether values i of two arrays are the same; the range is over its words.

    Where 64 values have the same lengths, their bytes are first compared as one stretch.

    offsets: int32/int64[length + 1], checked
    base: the address of the data buffer
    last: its size less 8
    others: as `offsets`, of the other array
    other_base: as `base`
    other_last: as `last`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint64[ceil(length / 64)]; bits past `length` become zero
    """
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        fitting = uint64(0)
        for i in range(first, min(first + uint64(64), length)):
            size = uint64(offsets[uint64(i) + uint64(1)]) - uint64(offsets[uint64(i)])
            other = uint64(others[uint64(i) + uint64(1)]) - uint64(others[uint64(i)])
            fitting |= uint64(size == other) << (uint64(i) - first)
        bits = uint64(0)
        if fitting == ~uint64(0):
            left, right = uint64(offsets[first]), uint64(others[first])
            size = uint64(offsets[first + uint64(64)]) - left
            if size >= 8 and are_stretches_same(base + left, other_base + right, size):
                bits, fitting = fitting, uint64(0)
        while fitting != 0:
            slot = uint64(trailing_zeros(fitting))
            fitting &= fitting - uint64(1)
            left, right = uint64(offsets[first + slot]), uint64(others[first + slot])
            size = uint64(offsets[first + slot + uint64(1)]) - left
            word = near_word(base, left, last) ^ near_word(other_base, right, other_last)
            same = word & low_bytes(min(size, uint64(8))) == 0
            if same and size > 8:
                same = are_same(base + left, other_base + right, size)
            bits |= uint64(same) << slot
        bits ^= flip * uint64(_LOW_BITS)
        empty = uint64(64) - min(length - first, uint64(64))
        out[w] = bits << empty >> empty


@helper
def source_of_view(views: Any, i: Any, addresses: Any) -> Any:
    """The address of the bytes of view `i`, which is valid."""
    second = views[(i << uint64(1)) + uint64(1)]
    is_long = views[i << uint64(1)] & uint64(_LENGTH) > 12
    buffer = second & uint64(_LENGTH) if is_long else uint64(len(addresses) - 1)
    place = second >> uint64(32) if is_long else (i << uint64(4)) + uint64(4)
    return addresses[buffer] + place


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, pattern: u8, wanted: u8, length: u8,"
    "flip: u8, out: u1[w]"
)
def equal_view(
    start, stop, step, views, addresses, validity, offset, pattern, wanted, length, flip, out
):
    """Bit i of `out` = whether view i is the same as a pattern, something under a null; by its bytes.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    pattern: the address of the pattern; zeros behind it, up to 12 bytes at least
    wanted: the pattern's length
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    head = wanted | word_at(pattern) << uint64(32)
    tail = word_at(pattern + uint64(4))
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            word = uint64(i) << uint64(1)
            same = views[word] == head
            if wanted <= 12:
                same &= views[word + uint64(1)] == tail
            elif same and valid_mask(validity, offset, i) != 0:
                same = are_same(source_of_view(views, uint64(i), addresses), pattern, wanted)
            bits |= uint64(same) << (uint64(i) - first)
        out[b] = packed(bits, flip, length - first)


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, pattern: u8, wanted: u8, length: u8,"
    "out: u1[w]"
)
def match_view_start(
    start, stop, step, views, addresses, validity, offset, pattern, wanted, length, out
):
    """Bit i of `out` = whether view i begins with a pattern, something under a null.

    The range is over the bytes of `out`.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    pattern: the address of the pattern; 8 bytes are there at least
    wanted: the pattern's length
    length: the number of values
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    mask = low_bytes(min(wanted, uint64(4))) << uint64(32)
    prefix = word_at(pattern) << uint64(32) & mask
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            head = views[uint64(i) << uint64(1)] & valid_mask(validity, offset, i)
            same = (head & uint64(_LENGTH) >= wanted) & (head & mask == prefix)
            if wanted > 4 and same:
                source = source_of_view(views, uint64(i), addresses)
                same = are_same_bytes(validity, source, pattern, wanted)
            bits |= uint64(same) << (uint64(i) - first)
        out[b] = packed(bits, uint64(0), length - first)


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, pattern: u8, wanted: u8, length: u8,"
    "out: u1[w]"
)
def match_view_end(
    start, stop, step, views, addresses, validity, offset, pattern, wanted, length, out
):
    """Bit i of `out` = whether view i ends with a pattern, something under a null.

    The range is over the bytes of `out`.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    pattern: the address of the pattern; 8 bytes are there at least
    wanted: the pattern's length
    length: the number of values
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    few = min(wanted, uint64(8))
    mask = ~low_bytes(uint64(8) - few)
    half = (uint64(8) - few) << uint64(2)
    tail = word_at(pattern + wanted - few) << half << half
    inline = uint64(len(addresses) - 1)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            size = views[uint64(i) << uint64(1)] & valid_mask(validity, offset, i)
            size &= uint64(_LENGTH)
            second = views[(uint64(i) << uint64(1)) + uint64(1)]
            buffer = second & uint64(_LENGTH) if size > 12 else inline
            place = second >> uint64(32) if size > 12 else (uint64(i) << uint64(4)) + uint64(4)
            source = addresses[buffer] + place
            # The word that ends with the value; of a short one, the word that ends with its prefix.
            behind = max(size, uint64(4))
            word = word_at(source + behind - uint64(8)) << ((behind - size) << uint64(3))
            unlike = (word ^ tail) & mask | uint64(size < wanted)
            if wanted > 8 and unlike == 0:
                unlike = uint64(not are_same(source + size - wanted, pattern, wanted))
            bits |= uint64(unlike == 0) << (uint64(i) - first)
        out[b] = packed(bits, uint64(0), length - first)


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, others: u8[], other_addresses: u8[],"
    "other_validity: u1[], other_offset: u8, length: u8, flip: u8, out: u1[w]"
)
def equal_views(
    start,
    stop,
    step,
    views,
    addresses,
    validity,
    offset,
    others,
    other_addresses,
    other_validity,
    other_offset,
    length,
    flip,
    out,
):
    """Bit i of `out` = whether the values of views i of two arrays are the same; by bytes of `out`.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    others: as `views`, of the other array
    other_addresses: as `addresses`
    other_validity: as `validity`
    other_offset: as `offset`
    length: the number of values
    flip: 0, or 255 for the opposite
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        long = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            word = uint64(i) << uint64(1)
            same = views[word] == others[word]
            is_long = views[word] & uint64(_LENGTH) > 12
            rest = views[word + uint64(1)] == others[word + uint64(1)]
            bits |= uint64(same & rest) << (uint64(i) - first)
            long |= uint64(same & is_long) << (uint64(i) - first)
        bits &= ~long
        while long != 0:
            slot = uint64(trailing_zeros(long))
            long &= long - uint64(1)
            at = first + slot
            shown = valid_mask(validity, offset, at) & valid_mask(other_validity, other_offset, at)
            if shown != 0:
                left = source_of_view(views, at, addresses)
                right = source_of_view(others, at, other_addresses)
                size = views[at << uint64(1)] & uint64(_LENGTH)
                bits |= uint64(are_same(left, right, size)) << slot
        out[b] = packed(bits, flip, length - first)


@kernel("views: u8[], validity: u1[], offset: u8", returns="u8", combine="max")
def has_inline_high_bit(start, stop, step, views, validity, offset):
    """1 if a byte that is in a valid view itself is not ASCII, else 0; long ones have their prefix there.

    views: uint64[2 n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    found = uint64(0)
    for i in range(start, stop, step):
        head = views[uint64(i) << uint64(1)]
        rest = views[(uint64(i) << uint64(1)) + uint64(1)]
        rest = rest if head & uint64(_LENGTH) <= 12 else uint64(0)
        found |= (head & ~uint64(_LENGTH) | rest) & valid_mask(validity, offset, i)
    return uint64(found & uint64(_HIGH_BITS) != 0)


@kernel("data: u1[]", returns="u8", combine="max")
def has_high_bit(start, stop, step, data):
    """1 if a byte of some words is not ASCII, else 0.

    data: uint8[8 n], read in a range over n words
    """
    found = uint64(0)
    for begin in range(start, stop, uint64(step) << uint64(9)):
        for w in range(begin, min(uint64(begin) + (uint64(step) << uint64(9)), uint64(stop)), step):
            found |= load_word(data, uint64(0), uint64(w)) & uint64(_HIGH_BITS)
        if found != 0:
            return uint64(1)
    return uint64(0)


@helper
def is_ascii_text(base: Any, begin: Any, size: Any, last: Any) -> Any:
    """Whether the `size` bytes from `begin` on have no high bits."""
    if size <= 8:
        found = near_word(base, begin, last) & low_bytes(size)
    else:
        found = word_at(base + begin + size - uint64(8))
        for k in range(uint64(0), size - uint64(8), uint64(8)):
            found |= word_at(base + begin + uint64(k))
    return found & uint64(_HIGH_BITS) == 0


@kernel("offsets: O[], base: u8, last: u8, length: u8, out: u1[w]", O="i4 i8")
def ascii_texts(start, stop, step, offsets, base, last, length, out):
    """Bit i of `out` = whether all bytes of value i are ASCII; the range is over the bytes of `out`.

    offsets: int32/int64[length + 1], checked
    base: the address of the data buffer
    last: its size less 8
    length: the number of values
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            begin = uint64(offsets[uint64(i)])
            size = uint64(offsets[uint64(i) + uint64(1)]) - begin
            bits |= uint64(is_ascii_text(base, begin, size, last)) << (uint64(i) - first)
        out[b] = uint8(bits)


@kernel(
    "views: u8[], addresses: u8[], validity: u1[], offset: u8, length: u8, out: u1[w]",
)
def ascii_views(start, stop, step, views, addresses, validity, offset, length, out):
    """Bit i of `out` = whether all bytes of view i are ASCII, some bit under a null; by bytes of it.

    views: uint64[2 length], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the number of values
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        bits = uint64(0)
        for i in range(first, min(first + uint64(8), length)):
            word = uint64(i) << uint64(1)
            head = views[word] & valid_mask(validity, offset, i)
            size = head & uint64(_LENGTH)
            same = (views[word + uint64(1)] | head & ~uint64(_LENGTH)) & uint64(_HIGH_BITS) == 0
            if size > 12:
                source = source_of_view(views, uint64(i), addresses)
                same = is_ascii_text(source, uint64(0), size, uint64(0))
            bits |= uint64(same) << (uint64(i) - first)
        out[b] = uint8(bits)


@kernel("offsets: O[], out: O[w]", O="i4 i8")
def text_lengths(start, stop, step, offsets, out):
    """out[i] = the bytes of value i.

    offsets: int32/int64[n + 1], checked
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        out[i] = offsets[uint64(i) + uint64(1)] - offsets[uint64(i)]


@helper
def count_continuations(word: Any) -> Any:
    """How many of 8 bytes are a character's second to fourth."""
    return uint64(popcount((word >> uint64(7)) & (~word >> uint64(6)) & uint64(_LOW_BITS)))


@helper
def count_more_continuations(source: Any, size: Any) -> Any:
    """How many of the bytes at an address, at least 8, are a character's second to fourth."""
    found = uint64(0)
    k = uint64(8)
    while k <= size:
        found += count_continuations(word_at(source + k - uint64(8)))
        k += uint64(8)
    # The bytes that are left are the last ones of a word that ends with them.
    half = (k - size) << uint64(2)
    return found + count_continuations(word_at(source + size - uint64(8)) >> half >> half)


@kernel("offsets: O[], base: u8, last: u8, out: O[w]", O="i4 i8")
def count_characters(start, stop, step, offsets, base, last, out):
    """out[i] = the characters (code points) of value i.

    offsets: int32/int64[n + 1], checked
    base: the address of the data buffer
    last: its size less 8
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        begin = uint64(offsets[uint64(i)])
        size = uint64(offsets[uint64(i) + uint64(1)]) - begin
        found = uint64(0)
        if begin + size + uint64(24) <= last:
            # Whole pieces can be read. Most values are no longer than the first.
            found = count_in_piece(base + begin, min(size, uint64(32)))
            for k in range(uint64(32), size, uint64(32)):
                found += count_in_piece(base + begin + uint64(k), min(size - uint64(k), uint64(32)))
        elif size <= 8:
            found = size - count_continuations(near_word(base, begin, last) & low_bytes(size))
        else:
            found = size - count_more_continuations(base + begin, size)
        out[i] = found


@helper
def count_in_piece(address: Any, count: Any) -> Any:
    """How many of the first `count` of 32 bytes begin a character."""
    shown = (uint64(1) << count) - uint64(1)
    return uint64(popcount(uint64(character_starts(address)) & shown))


@kernel("views: u8[], addresses: u8[], sizes: i8[], validity: u1[], offset: u8, out: i4[w]")
def count_characters_of_views(start, stop, step, views, addresses, sizes, validity, offset, out):
    """out[i] = the characters (code points) of view i, 0 under a null.

    views: uint64[2 n], in bounds
    addresses: uint64[buffers + 1], of each data buffer, then of the views
    sizes: int64[buffers + 1], of each data buffer, then of the views
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int32[n]
    """
    inline = uint64(len(addresses) - 1)
    for i in range(start, stop, step):
        word = uint64(i) << uint64(1)
        size = views[word] & uint64(_LENGTH) & valid_mask(validity, offset, i)
        second = views[word + uint64(1)]
        # Short and long ones come in any order: all are counted the same way.
        is_long = size > 12
        buffer = second & uint64(_LENGTH) if is_long else inline
        place = second >> uint64(32) if is_long else (uint64(i) << uint64(4)) + uint64(4)
        source = addresses[buffer] + place
        if place + size + uint64(32) <= uint64(sizes[buffer]):
            found = count_in_piece(source, min(size, uint64(32)))
            for k in range(uint64(32), size, uint64(32)):
                found += count_in_piece(source + uint64(k), min(size - uint64(k), uint64(32)))
        elif is_long:
            found = size - count_more_continuations(source, size)
        else:
            bits = views[word] & ~uint64(_LENGTH)
            found = size - count_continuations(bits & low_bytes(min(size, uint64(4)) + uint64(4)))
            found -= count_continuations(second & low_bytes(max(size, uint64(4)) - uint64(4)))
        out[i] = found
