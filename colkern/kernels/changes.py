"""Changes: the slots whose value is not that of the slot before, which is where runs begin.

They are marked as bits, 64 slots a word: bit `k` of word `w` is slot `64 w + k`. Slot 0 is marked;
the bits past the last slot are not. Nothing here knows of nulls but `merge_validity_changes`.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from numpy import uint8, uint64

from colkern.kernels.arguments import Bitmap, In, O, Out, T, Truth
from colkern.kernels.bitmaps import bit_at, bits_from
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, bits_of_lanes
from colkern.kernels.primitives import lane, lanes, load_item, load_word
from colkern.layouts import VIEW_INLINE_BYTES


@helper
def words_change(values: In[T], begin: uint64, first: uint64, count: uint64) -> uint64:
    """The marks of slots `begin + first` to `begin + count`, bit 0 for slot `begin`."""
    bits = uint64(0)
    for k in range(first + lane(), count, lanes()):
        i = begin + uint64(k)
        bits |= uint64(values[i] != values[i - uint64(1)]) << uint64(k)
    return bits


@helper
def wide_items_change(values: In[T], i: uint64, width: uint64) -> uint64:
    """1 if item `i`, of `width` words, differs from the one before, else 0."""
    place = i * width
    differ = uint64(0)
    for k in range(place, place + width):
        differ |= uint64(values[uint64(k)] != values[uint64(k) - width])
    return differ


@kernel(grouped=True, most_lanes=SECTOR)
def mark_changes(start, stop, step, values: In[T], width, length, out: Out[uint64]):
    """Word w of `out` = the changes of slots 64 w and up; a value is `width` items."""
    for w in range(start, stop, step):
        begin = uint64(w) << uint64(6)
        count = min(length - begin, uint64(64))
        first = uint64(w == 0)
        bits = first
        if width == 1:
            # A count that the compiler knows makes it a loop of vectors.
            if first == 0 and count == 64:
                bits = words_change(values, begin, uint64(0), uint64(64))
            else:
                bits |= words_change(values, begin, first, count)
        else:
            for k in range(first + lane(), count, lanes()):
                bits |= wide_items_change(values, begin + uint64(k), width) << uint64(k)
        bits = bits_of_lanes(bits)
        if lane() == 0:
            out[w] = bits


@kernel()
def mark_bit_changes(start, stop, step, bits: Bitmap, length, out: Out[uint64]):
    """Word w of `out` = the changes of bits 64 w and up."""
    for w in range(start, stop, step):
        out[w] = bit_changes(bits, length, uint64(w))


@helper
def bit_changes(bits: Bitmap, length: uint64, w: uint64) -> uint64:
    """The changes of the bits of word `w`."""
    begin = w << uint64(6)
    count = min(length - begin, uint64(64))
    word = bits_from(bits.bits, bits.offset + begin, count)
    before = word << uint64(1)
    if w == 0:
        # Slot 0 is a change, whatever it is.
        before |= ~word & uint64(1)
    else:
        before |= uint64(bit_at(bits, begin - uint64(1)))
    changes = word ^ before
    return changes if count >= 64 else changes & ((uint64(1) << count) - uint64(1))


@kernel()
def merge_validity_changes(
    start, stop, step, validity: Bitmap, length, changes: In[uint64], out: Out[uint64]
):
    """Word w of `out` = the changes, where nulls are equal to each other and to nothing else."""
    for w in range(start, stop, step):
        begin = uint64(w) << uint64(6)
        valid = bits_from(validity.bits, validity.offset + begin, min(length - begin, uint64(64)))
        out[w] = bit_changes(validity, length, uint64(w)) | (valid & changes[w])


@helper
def few_bytes_differ(data: In[uint8], left: uint64, right: uint64, count: uint64) -> uint64:
    """As `bytes_differ`, near the end of the data."""
    others = uint64(0)
    for k in range(uint64(0), count):
        others |= uint64(data[left + uint64(k)] ^ data[right + uint64(k)])
    return others


@helper
def bytes_differ(data: In[uint8], left: uint64, right: uint64, count: uint64) -> uint64:
    """Not zero if the `count` bytes of `data` from two places on differ.

    Eight bytes may be read from either place, and as many as there are from `left` on.
    """
    differ = load_word(data, left, uint64(0)) ^ load_word(data, right, uint64(0))
    # In two steps: a shift by 64 is none.
    half = uint64(32) - (min(count, uint64(8)) << uint64(2))
    differ = (differ << half) << half
    # The last eight bytes, some of which have been looked at; of fewer, none but the first again. The
    # lengths of values are as good as random: no branch depends on them, if they are at most 16.
    last = max(count, uint64(8)) - uint64(8)
    tail = load_word(data, left + last, uint64(0)) ^ load_word(data, right + last, uint64(0))
    differ |= (tail << half) << half
    if count > 16:
        for word in range(uint64(1), count >> uint64(3)):
            differ |= load_word(data, left, uint64(word)) ^ load_word(data, right, uint64(word))
            if differ != 0:
                return differ
    return differ


@kernel()
def mark_binary_changes(
    start, stop, step, offsets: In[O], data: In[uint8], length, out: Out[uint64]
):
    """Word w of `out` = the changes of binary values 64 w and up."""
    for w in range(start, stop, step):
        begin = uint64(w) << uint64(6)
        first = uint64(w == 0)
        bits = first
        left = uint64(offsets[begin + first - uint64(1)])
        right = uint64(offsets[begin + first])
        for k in range(first, min(length - begin, uint64(64))):
            end = uint64(offsets[begin + uint64(k) + uint64(1)])
            count = end - right
            other = (right - left) ^ count
            if right + max(count, uint64(8)) <= uint64(len(data)):
                other |= bytes_differ(data, left, right, count)
            elif other == 0:
                other = few_bytes_differ(data, left, right, count)
            bits |= uint64(other != 0) << uint64(k)
            left = right
            right = end
        out[w] = bits


@helper
def views_differ(views: In[uint8], addresses: In[uint64], left: uint64, right: uint64) -> Truth:
    """Whether two views show different bytes; `left` and `right` are their first bytes in `views`."""
    head = load_word(views, left, uint64(0))
    if head != load_word(views, right, uint64(0)):
        return True
    tail = load_word(views, left, uint64(1))
    other = load_word(views, right, uint64(1))
    count = head & uint64(0xFFFFFFFF)
    if tail == other or count <= VIEW_INLINE_BYTES:
        return tail != other
    half = uint64(0xFFFFFFFF)
    mine = addresses[tail & half] + (tail >> uint64(32))
    theirs = addresses[other & half] + (other >> uint64(32))
    for k in range(uint64(4), count):
        if load_item(views, mine + uint64(k)) != load_item(views, theirs + uint64(k)):
            return True
    return False


@kernel()
def mark_view_changes(
    start,
    stop,
    step,
    views: In[uint8],
    addresses: In[uint64],
    validity: Bitmap,
    length,
    out: Out[uint64],
):
    """Word w of `out` = the changes of views 64 w and up; a null's view is not followed."""
    for w in range(start, stop, step):
        begin = uint64(w) << uint64(6)
        first = uint64(w == 0)
        count = min(length - begin, uint64(64))
        valid = ~uint64(0)
        if len(validity.bits) != 0:
            valid = bits_from(validity.bits, validity.offset + begin, count)
            before = first == 0 and bit_at(validity, begin - uint64(1))
            valid &= (valid << uint64(1)) | uint64(before)
        bits = first
        for k in range(first, count):
            if (valid >> uint64(k)) & uint64(1) != 0:
                place = (begin + uint64(k)) << uint64(4)
                differ = views_differ(views, addresses, place - uint64(16), place)
                bits |= uint64(differ) << uint64(k)
        out[w] = bits
