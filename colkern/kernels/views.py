"""Views: 16 bytes a value. Words 0 to 3 (int32) are the length, then either up to 12 bytes of the value
itself, or a 4-byte prefix, the number of a data buffer and an offset into it.

Data buffers come as a table of addresses and one of sizes, so that any number of them is one compiled
kernel. An empty `validity` stands for an array without nulls.

Columnar format 1.5: "Variable-size Binary View Layout".
"""

from __future__ import annotations

from numpy import int32, int64, uint8, uint32, uint64

from colkern.kernels.arguments import Bitmap, Buffers, In, O, Out, Truth
from colkern.kernels.bitmaps import is_valid, valid_mask
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import copy_bytes_loosely, load_item, load_word, prefetch
from colkern.layouts import VIEW_INLINE_BYTES

WINDOW_BITS = 30

BLOCK = 64
"""The number of values looked at together: whether they lie one behind the other."""

FAR = 40
"""Of values that have more bytes than that in the mean, bytes are asked for ahead."""

AHEAD = 64
"""The distance, in values, at which bytes are asked for."""


@helper
def is_view_in_bounds(views: In[int32], i: uint64, sizes: In[int64]) -> Truth:
    """Whether view `i` is inline, or lies within one of the data buffers of those `sizes`."""
    length = int64(views[i << uint64(2)])
    if length <= VIEW_INLINE_BYTES:
        return length >= 0
    buffer = int64(views[(i << uint64(2)) + uint64(2)])
    offset = int64(views[(i << uint64(2)) + uint64(3)])
    if buffer < 0 or buffer >= len(sizes) or offset < 0:
        return False
    return offset + length <= sizes[uint64(buffer)]


@kernel()
def first_view_out_of_bounds(
    start, stop, step, views: In[int32], validity: Bitmap, sizes: In[int64]
) -> uint64:
    """The first valid slot of the range whose view points outside of the data buffers."""
    for i in range(start, stop, step):
        if is_valid(validity, i) and not is_view_in_bounds(views, uint64(i), sizes):
            return uint64(i)
    return ~uint64(0)


@helper
def is_view_like_its_value(
    views: In[int32], i: uint64, addresses: In[uint64], like: In[uint8]
) -> Truth:
    """Whether view `i`, in bounds, has zeros after an inline value, or the first bytes of another."""
    word = i << uint64(2)
    length = int64(views[word])
    if length <= VIEW_INLINE_BYTES:
        beyond = uint64(0)
        for k in range(uint64(0), uint64(3)):
            inside = min(max(length - (int64(k) << int64(2)), int64(0)), int64(4))
            value = uint64(uint32(views[word + uint64(1) + uint64(k)]))
            beyond |= value >> uint64(inside << int64(3))
        return beyond == 0
    source = addresses[uint64(views[word + uint64(2)])] + uint64(views[word + uint64(3)])
    prefix = uint32(0)
    for j in range(uint64(0), uint64(4)):
        byte = uint32(load_item(like, source + uint64(j)))
        prefix |= uint32(byte << uint32(uint64(j) << uint64(3)))
    return prefix == uint32(views[word + uint64(1)])


@kernel()
def first_view_unlike_its_value(
    start, stop, step, views: In[int32], validity: Bitmap, addresses: In[uint64]
) -> uint64:
    """The first valid slot of the range with a wrong prefix or padding."""
    for i in range(start, stop, step):
        if is_valid(validity, i) and not is_view_like_its_value(
            views, uint64(i), addresses, validity.bits
        ):
            return uint64(i)
    return ~uint64(0)


@helper
def is_plain_view(
    views: In[int32], i: uint64, buffers: Buffers, high: uint32, like: In[uint8]
) -> Truth:
    """Whether view `i` keeps both rules, and no byte of an inline value has a bit of `high`."""
    if not is_view_in_bounds(views, i, buffers.sizes):
        return False
    if not is_view_like_its_value(views, i, buffers.addresses, like):
        return False
    word = i << uint64(2)
    bits = uint32(views[word + uint64(1)]) | uint32(views[word + uint64(2)])
    bits = uint32(bits) | uint32(views[word + uint64(3)])
    return views[word] > VIEW_INLINE_BYTES or (bits & high) == 0


@kernel()
def first_odd_view(
    start, stop, step, views: In[int32], validity: Bitmap, buffers: Buffers, high: uint32
) -> uint64:
    """The first valid slot of the range whose view is out of bounds, unlike its value, or an inline value
    of which a byte has a bit of `high`: most arrays have none, so that they are looked at once.
    """
    for i in range(start, stop, step):
        if is_valid(validity, i) and not is_plain_view(
            views, uint64(i), buffers, high, validity.bits
        ):
            return uint64(i)
    return ~uint64(0)


@helper
def view_length(views: In[int32], validity: Bitmap, i: uint64) -> uint64:
    """The length of value i, 0 under a null."""
    return uint64(views[i << uint64(2)]) & valid_mask(validity, i)


@kernel(combine="add")
def view_lengths(start, stop, step, views: In[int32], validity: Bitmap, out: Out[O]) -> uint64:
    """out[i] = the length of value i, 0 under a null, each of which fits; returns their sum."""
    total = uint64(0)
    i, apart = uint64(start), uint64(step)
    # Four at a time: compilers gather numbers that lie apart by vectors, which takes twice as long.
    while i + uint64(3) * apart < stop:
        a = view_length(views, validity, i)
        b = view_length(views, validity, i + apart)
        c = view_length(views, validity, i + uint64(2) * apart)
        d = view_length(views, validity, i + uint64(3) * apart)
        out[i] = a
        out[i + apart] = b
        out[i + uint64(2) * apart] = c
        out[i + uint64(3) * apart] = d
        total += (a + b) + (c + d)
        i += uint64(4) * apart
    while i < stop:
        length = view_length(views, validity, i)
        out[i] = length
        total += length
        i += apart
    return total


@kernel(grouped=True)
def decode_views(
    start, stop, step, views: In[int32], buffers: Buffers, offsets: In[O], out: Out[uint8]
):
    """out[offsets[i] : offsets[i + 1]] = the bytes of value i, as many as the offsets leave room for.

    Views are in bounds wherever there is room. The last buffer is that of the views.
    """
    inline = uint64(len(buffers.addresses) - 1)
    limit = uint64(offsets[stop])
    pace = uint64(step) * uint64(BLOCK)
    for first in range(start, stop, pace):
        end = min(uint64(first) + pace, uint64(stop))
        if are_scattered(views, offsets, uint64(first), end, step, inline):
            for i in range(first, end, step):
                length = uint64(offsets[uint64(i) + uint64(1)]) - uint64(offsets[i])
                buffer, place = source_of(views, uint64(i), length, inline)
                prefetch(buffers.addresses[buffer] + place)
        for i in range(first, end, step):
            begin = uint64(offsets[i])
            length = uint64(offsets[i + uint64(1)]) - begin
            buffer, place = source_of(views, uint64(i), length, inline)
            # What this value spills over, the next ones of the same thread write again.
            room = (
                min(limit - begin, uint64(buffers.sizes[buffer]) - place) if step == 1 else length
            )
            copy_bytes_loosely(out, begin, buffers.addresses[buffer] + place, length, room)


@helper
def are_scattered(
    views: In[int32], offsets: In[O], first: uint64, end: uint64, step: uint64, inline: uint64
) -> Truth:
    """Whether the first and the last long value of a range lie far apart, so others may do as well."""
    if step != 1:
        return False
    last = end - uint64(1)
    while (
        first < last
        and uint64(offsets[first + uint64(1)]) - uint64(offsets[first]) <= VIEW_INLINE_BYTES
    ):
        first += uint64(1)
    while (
        last > first
        and uint64(offsets[last + uint64(1)]) - uint64(offsets[last]) <= VIEW_INLINE_BYTES
    ):
        last -= uint64(1)
    if first == last:
        return False
    buffer, place = source_of(views, first, uint64(13), inline)
    other, behind = source_of(views, last, uint64(13), inline)
    most = (uint64(offsets[end]) - uint64(offsets[first])) * uint64(4)
    return buffer != other or behind < place or behind - place > most


@helper
def source_of(views: In[int32], i: uint64, length: uint64, inline: uint64) -> tuple[uint64, uint64]:
    """The number of the buffer that has the bytes of view `i`, and where; `inline` for the views."""
    word = i << uint64(2)
    # Loaded in any case: without branches, as long and short values come in any order.
    buffer = uint64(views[word + uint64(2)])
    place = uint64(views[word + uint64(3)])
    short = short_mask(length)
    return (
        inline & short | buffer & ~short,
        (word + uint64(1)) << uint64(2) & short | place & ~short,
    )


@helper
def short_mask(length: uint64) -> uint64:
    """All bits, if a value of a length is in its view, else none: a choice may become a branch."""
    return uint64((int64(length) - int64(VIEW_INLINE_BYTES + 1)) >> int64(63))


@helper
def few_bytes(data: In[uint8], begin: uint64, count: uint64) -> uint64:
    """The up to 8 bytes of `data` from `begin` on as a little-endian uint64, read one by one."""
    word = uint64(0)
    for k in range(uint64(0), min(count, uint64(8))):
        word |= uint64(data[begin + uint64(k)]) << (uint64(k) << uint64(3))
    return word


def inline_masks() -> list[int]:
    """Which bits of a view are an inline value, by length: 16 masks of first halves, then 16 of second."""
    heads = [((1 << 8 * min(length, 4)) - 1) << 32 for length in range(16)]
    return heads + [(1 << 8 * min(max(length - 4, 0), 8)) - 1 for length in range(16)]


@kernel()
def encode_views(
    start,
    stop,
    step,
    offsets: In[O],
    data: In[uint8],
    base,
    validity: Bitmap,
    masks: In[uint64],
    out: Out[uint64],
):
    """View i of `out` = the value at [offsets[i], offsets[i + 1]) of `data`; zeros under a null.

    Data buffer `k` of the views is `data` from byte `k << WINDOW_BITS` on, which keeps offsets within 31
    bits. The `inline_masks` are looked up, as short and long values come in any order.
    """
    size = uint64(len(data))
    # The last values may have no 12 bytes from where they begin to the end of the data.
    whole = uint64(stop)
    while whole > start and uint64(offsets[whole - uint64(1)]) + uint64(12) > size:
        whole -= uint64(1)
    i = uint64(start)
    first_slot = min(i, uint64(stop))
    end = uint64(offsets[first_slot])
    # Values that lie far apart have not been fetched with others.
    is_far = uint64(offsets[uint64(stop)]) - end > uint64(FAR) * (uint64(stop) - first_slot)
    while i < whole:
        if is_far:
            prefetch(base + uint64(offsets[min(i + uint64(AHEAD), uint64(stop))]))
        begin = end if step == 1 else uint64(offsets[i])
        end = uint64(offsets[i + uint64(1)])
        length = end - begin
        first = load_word(data, begin, uint64(0))
        # Of a long value only its first bytes are read, which are one line of a cache most often.
        second = load_word(data, begin + (uint64(4) & short_mask(length)), uint64(0))
        write_view(first, second, begin, length, valid_mask(validity, i), masks, out, i)
        i += uint64(step)
    while i < stop:
        begin = uint64(offsets[i])
        length = uint64(offsets[i + uint64(1)]) - begin
        kind = min(length, uint64(13))
        first = few_bytes(data, begin, min(kind, uint64(4)))
        second = few_bytes(data, begin + uint64(4), max(kind, uint64(4)) - uint64(4))
        write_view(first, second, begin, length, valid_mask(validity, i), masks, out, i)
        i += uint64(step)


@helper
def write_view(
    first: uint64,
    second: uint64,
    begin: uint64,
    length: uint64,
    shown: uint64,
    masks: In[uint64],
    out: Out[uint64],
    i: uint64,
) -> None:
    """View `i` of a value of a length from `begin` on, whose first bytes are in two words."""
    kind, short = min(length, uint64(13)), short_mask(length)
    place = begin >> uint64(WINDOW_BITS)
    place |= (begin & uint64((1 << WINDOW_BITS) - 1)) << uint64(32)
    second = second & masks[kind + uint64(16)] & short | place & ~short
    out[i << uint64(1)] = (length | (first << uint64(32)) & masks[kind]) & shown
    out[(i << uint64(1)) + uint64(1)] = second & shown


@kernel(combine="add")
def long_lengths(start, stop, step, views: In[uint64], validity: Bitmap, out: Out[int64]) -> uint64:
    """out[i] = how many bytes value i has in a data buffer, 0 under a null; returns their sum."""
    total = uint64(0)
    for i in range(start, stop, step):
        length = views[uint64(i) << uint64(1)] & uint64(0xFFFFFFFF)
        length &= valid_mask(validity, i) & ~short_mask(length)
        out[i] = int64(length)
        total += length
    return total


@kernel()
def move_views(
    start, stop, step, views: In[uint64], validity: Bitmap, starts: In[int64], out: Out[uint64]
):
    """View i of `out` = view i, a long one pointing at its bytes' new place; zeros under a null.

    They begin at byte starts[i] there; data buffer `k` begins at byte `k << WINDOW_BITS`.
    """
    for i in range(start, stop, step):
        first = views[uint64(i) << uint64(1)]
        second = views[(uint64(i) << uint64(1)) + uint64(1)]
        begin = uint64(starts[i])
        place = begin >> uint64(WINDOW_BITS)
        place |= (begin & uint64((1 << WINDOW_BITS) - 1)) << uint64(32)
        short = short_mask(first & uint64(0xFFFFFFFF))
        second = second & short | place & ~short
        shown = valid_mask(validity, i)
        out[uint64(i) << uint64(1)] = first & shown
        out[(uint64(i) << uint64(1)) + uint64(1)] = second & shown


@helper
def shifted_byte(byte: uint8, position: uint64) -> int32:
    """A byte at its place among the four of a little-endian int32 word."""
    return int32(uint32(byte) << uint32((position & uint64(3)) << uint64(3)))


@kernel()
def renumber_views(start, stop, step, first: int32, out: Out[int32]):
    """Let the views that point into a data buffer point `first` buffers further."""
    for i in range(start, stop, step):
        word = uint64(i) << uint64(2)
        if out[word] > VIEW_INLINE_BYTES:
            out[word + uint64(2)] += int32(first)
