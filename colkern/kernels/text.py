"""Text: whether bytes are UTF-8, and whether values begin where characters do.

Every rule of UTF-8 that is broken shows at one byte beside the three before it. So all bytes are
judged alike, none by a state carried along from the byte before, and many are judged at once.

Columnar format 1.5: `Utf8`, `LargeUtf8`, `Utf8View`; RFC 3629.
"""

from __future__ import annotations

from numpy import int32, int64, uint8, uint32, uint64

from colkern.kernels.arguments import Bitmap, Buffers, In, O, Truth
from colkern.kernels.bitmaps import is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import load_item
from colkern.layouts import VIEW_INLINE_BYTES

NEITHER, UTF8, ASCII = 0, 1, 2
"""Encodings of bytes, from the least strict to the strictest."""

STRETCH = 4096
"""The bytes that a thread looks at for ASCII before it looks at them for UTF-8."""


@helper
def is_continuation(byte: uint8) -> Truth:
    """Whether a byte is one of a character's second to fourth."""
    return uint8(byte & uint8(0xC0)) == uint8(0x80)


@helper
def is_misplaced(byte: uint8, before: uint8, before2: uint8, before3: uint8) -> Truth:
    """Whether a byte may not follow the three before it (zeros where the text begins).

    All in bytes, as wider numbers would leave a vector register fewer places.
    """
    due = (before >= uint8(0xC0)) | (before2 >= uint8(0xE0)) | (before3 >= uint8(0xF0))
    wrong = due != is_continuation(byte)
    # Longer than need be: in two bytes, in three, in four.
    wrong |= uint8(byte & uint8(0xFE)) == uint8(0xC0)
    wrong |= (before == uint8(0xE0)) & (byte < uint8(0xA0))
    wrong |= (before == uint8(0xF0)) & (byte < uint8(0x90))
    # A surrogate, and what is past U+10FFFF.
    wrong |= (before == uint8(0xED)) & (byte > uint8(0x9F))
    wrong |= (before == uint8(0xF4)) & (byte > uint8(0x8F))
    wrong |= byte >= uint8(0xF5)
    return wrong


@helper
def byte_around(data: In[uint8], i: uint64) -> uint8:
    """Byte `i - 3` of `data` (uint8[]); zero before it begins and after it ends."""
    if i < uint64(3) or i >= uint64(len(data)) + uint64(3):
        return uint8(0)
    return data[i - uint64(3)]


@helper
def is_misplaced_at(data: In[uint8], i: uint64) -> Truth:
    """Whether byte `i` of `data` (uint8[]) is misplaced, or the end, for the three places after it."""
    return is_misplaced(
        byte_around(data, i + uint64(3)),
        byte_around(data, i + uint64(2)),
        byte_around(data, i + uint64(1)),
        byte_around(data, i),
    )


@helper
def encoding_at_ends(data: In[uint8]) -> uint64:
    """The encoding of the first three bytes of `data`; `NEITHER` also if its end cuts a character."""
    encoding = uint64(ASCII)
    for k in range(uint64(0), uint64(6)):
        i = uint64(k) if k < 3 else uint64(len(data)) + uint64(k) - uint64(3)
        if byte_around(data, i + uint64(3)) >= uint8(0x80):
            encoding = min(encoding, uint64(UTF8))
        if is_misplaced_at(data, i):
            encoding = uint64(NEITHER)
    return encoding


@kernel()
def encoding_of(start, stop, step, data: In[uint8]) -> uint64:
    """`ASCII`, `UTF8` or `NEITHER`: the encoding of all bytes of the range, which is over `data[3:]`.

    The first item also stands for the first three bytes, and for the end.
    """
    encoding = uint64(ASCII)
    if start == 0:
        encoding = encoding_at_ends(data)
    stretch = uint64(step) * uint64(STRETCH)
    for begin in range(start, stop, stretch):
        end = min(uint64(begin) + stretch, uint64(stop))
        seen = uint8(0)
        for i in range(begin, end, step):
            # A misplaced byte that is ASCII follows one that is not, or a misplaced one.
            seen = uint8(seen | data[i + uint64(3)] | data[i + uint64(2)])
        if seen >= uint8(0x80):
            encoding = min(encoding, uint64(UTF8))
            wrong = uint8(0)
            for i in range(begin, end, step):
                misplaced = is_misplaced(
                    data[i + uint64(3)], data[i + uint64(2)], data[i + uint64(1)], data[i]
                )
                wrong = uint8(wrong | uint8(misplaced))
            if wrong != uint8(0):
                return uint64(NEITHER)
    return encoding


@kernel()
def first_misplaced_byte(start, stop, step, data: In[uint8]) -> uint64:
    """The first byte of the range that breaks UTF-8, or past the last one if the end does.

    The range is over the bytes and the three places after them.
    """
    for i in range(start, stop, step):
        if is_misplaced_at(data, uint64(i)):
            return uint64(i)
    return ~uint64(0)


@kernel()
def first_begin_within_a_character(
    start, stop, step, offsets: In[O], data: In[uint8], end: int64
) -> uint64:
    """The first value of the range, before `end`, that begins with a character's later byte."""
    for i in range(start, stop, step):
        begin = int64(offsets[i])
        if begin < end and is_continuation(data[uint64(begin)]):
            return uint64(i)
    return ~uint64(0)


@helper
def is_utf8(like: In[uint8], address: uint64, length: uint64) -> Truth:
    """Whether the bytes at an address are UTF-8; `like` is any uint8[]."""
    before, before2, before3 = uint8(0), uint8(0), uint8(0)
    for i in range(uint64(0), length):
        byte = load_item(like, address + uint64(i))
        if is_misplaced(byte, before, before2, before3):
            return False
        before, before2, before3 = byte, before, before2
    return not is_misplaced(uint8(0), before, before2, before3)


@kernel()
def first_slot_not_utf8(start, stop, step, offsets: In[O], base, validity: Bitmap) -> uint64:
    """The first valid slot of the range whose value is not UTF-8."""
    for i in range(start, stop, step):
        if is_valid(validity, i):
            begin = uint64(offsets[i])
            length = uint64(offsets[i + uint64(1)]) - begin
            if not is_utf8(validity.bits, base + begin, length):
                return uint64(i)
    return ~uint64(0)


@kernel(combine="add")
def count_bytes_in_buffers(start, stop, step, views: In[int32], validity: Bitmap) -> uint64:
    """The bytes that the valid slots of the range have in data buffers, shared ones counted again."""
    total = uint64(0)
    for i in range(start, stop, step):
        length = views[uint64(i) << uint64(2)]
        if length > VIEW_INLINE_BYTES and is_valid(validity, i):
            total += uint64(length)
    return total


@helper
def is_view_utf8(
    views: In[int32], i: uint64, base: uint64, buffers: Buffers, known: In[uint8]
) -> Truth:
    """Whether the value of view `i` is UTF-8; as in `first_view_not_utf8`."""
    word = i << uint64(2)
    length = uint64(views[word])
    if length <= VIEW_INLINE_BYTES:
        bits = uint32(views[word + uint64(1)]) | uint32(views[word + uint64(2)])
        if (uint32(bits) | uint32(views[word + uint64(3)])) & uint32(0x80808080) == 0:
            return True
        return is_utf8(known, base + (word << uint64(2)) + uint64(4), length)
    buffer = uint64(views[word + uint64(2)])
    begin = uint64(views[word + uint64(3)])
    source = buffers.addresses[buffer] + begin
    if known[buffer] == NEITHER:
        return is_utf8(known, source, length)
    if known[buffer] == ASCII:
        return True
    # Within UTF-8, what begins and ends where characters do is UTF-8.
    if is_continuation(load_item(known, source)):
        return False
    at_end = begin + length >= uint64(buffers.sizes[buffer])
    return at_end or not is_continuation(load_item(known, source + length))


@kernel()
def first_view_not_utf8(
    start, stop, step, views: In[int32], base, validity: Bitmap, buffers: Buffers, known: In[uint8]
) -> uint64:
    """The first valid slot of the range whose value is not UTF-8.

    `base` is the address of the views, which are in bounds and filled with zeros. `known` is the encoding
    of each data buffer as a whole; `NEITHER` if that is not known.
    """
    for i in range(start, stop, step):
        if is_valid(validity, i) and not is_view_utf8(views, uint64(i), base, buffers, known):
            return uint64(i)
    return ~uint64(0)
