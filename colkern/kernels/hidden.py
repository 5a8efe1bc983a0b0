"""Hidden slots: those that are null, or lie below a null; what stands there must not leave the process.

`visible` is a bitmap of the slots that are not hidden; zero bytes of it stand for one of ones only.

Columnar format 1.5: "Validity bitmaps" leaves open what stands under a null.
"""

from __future__ import annotations

from numpy import int32, int64, uint8, uint32, uint64

from colkern.kernels.arguments import Bitmap, In, Index, O, Out, R, T
from colkern.kernels.bitmaps import bits_from, get_bit, is_valid, lowest_bits, valid_mask, word_of
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR
from colkern.kernels.primitives import lane, lanes, load_item, load_word, trailing_zeros
from colkern.kernels.runs import find_run
from colkern.kernels.views import shifted_byte
from colkern.layouts import VIEW_INLINE_BYTES


@helper
def hidden_slots(visible: Bitmap, w: uint64, length: uint64) -> uint64:
    """Which slots of word `w` are hidden, as 64 bits."""
    if len(visible.bits) == 0:
        return uint64(0)
    left = length - (w << uint64(6))
    slots = ~uint64(0) if left >= 64 else (uint64(1) << left) - uint64(1)
    return word_of(visible, w, length) ^ slots


@kernel()
def first_hidden_value(start, stop, step, items: In[T], width, visible: Bitmap, length) -> uint64:
    """The first hidden slot whose value is not all zeros; the range is over words of 64 slots."""
    for w in range(start, stop, step):
        unseen = hidden_slots(visible, uint64(w), length)
        while unseen != 0:
            slot = (uint64(w) << uint64(6)) + uint64(trailing_zeros(unseen))
            for k in range(uint64(0), width):
                if items[slot * width + uint64(k)] != 0:
                    return slot
            unseen &= unseen - uint64(1)
    return ~uint64(0)


@kernel(grouped=True, most_lanes=SECTOR)
def blank_hidden_values(
    start, stop, step, items: In[T], width, visible: Bitmap, length, out: Out[T]
):
    """Value i of `out` = value i of `items`, zeros if hidden; the range is over words of 64 slots."""
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        count = min(length - first, uint64(64))
        unseen = hidden_slots(visible, uint64(w), length)
        if width == 1:
            # Without a branch: where the hidden ones are is not to be predicted.
            for k in range(lane(), count, lanes()):
                kept = ~(((unseen >> uint64(k)) & uint64(1)) * ~uint64(0))
                out[first + uint64(k)] = items[first + uint64(k)] & kept
        else:
            place = first * width
            for k in range(lane(), count * width, lanes()):
                out[place + uint64(k)] = items[place + uint64(k)]
            while unseen != 0:
                begin = uint64(trailing_zeros(unseen)) * width
                # Each lane has the items that it has copied.
                own = (lane() + lanes() - begin % lanes()) % lanes()
                for k in range(begin + own, begin + width, lanes()):
                    out[place + uint64(k)] = 0
                unseen &= unseen - uint64(1)


@kernel()
def first_hidden_length(start, stop, step, offsets: In[O], visible: Bitmap, length) -> uint64:
    """The first hidden slot whose value is not empty; the range is over words of 64 slots."""
    for w in range(start, stop, step):
        unseen = hidden_slots(visible, uint64(w), length)
        while unseen != 0:
            slot = (uint64(w) << uint64(6)) + uint64(trailing_zeros(unseen))
            if offsets[slot + uint64(1)] != offsets[slot]:
                return slot
            unseen &= unseen - uint64(1)
    return ~uint64(0)


@kernel()
def visible_lengths(start, stop, step, offsets: In[O], visible: Bitmap, out: Out[int64]):
    """out[i] = the length of value i, 0 in a hidden slot."""
    for i in range(start, stop, step):
        seen = is_valid(visible, i)
        length = int64(offsets[i + uint64(1)]) - int64(offsets[i])
        out[i] = length if seen else int64(0)


@helper
def inline_word(word: int32, length: int64, k: Index) -> int32:
    """Word `k` (0 to 2) of an inline value's 12 bytes, with zeros behind `length` (int64) bytes."""
    inside = uint64(min(max(length - (int64(k) << int64(2)), int64(0)), int64(4)))
    kept = (uint64(1) << (inside << uint64(3))) - uint64(1)
    return word & int32(uint32(kept))


@kernel()
def show_views(
    start, stop, step, views: In[int32], visible: Bitmap, addresses: In[uint64], out: Out[int32]
):
    """View i of `out` = view i with zeros behind an inline value, the prefix taken from a long one.

    Zeros in a hidden slot; other views are in bounds.
    """
    for i in range(start, stop, step):
        word = uint64(i) << uint64(2)
        length = views[word] if is_valid(visible, i) else int32(0)
        out[word] = length
        if length <= VIEW_INLINE_BYTES:
            for k in range(uint64(0), uint64(3)):
                place = word + uint64(1) + uint64(k)
                out[place] = inline_word(views[place], int64(length), k)
        else:
            source = addresses[uint64(views[word + uint64(2)])] + uint64(views[word + uint64(3)])
            prefix = int32(0)
            for j in range(uint64(0), uint64(4)):
                prefix |= shifted_byte(load_item(visible.bits, source + uint64(j)), uint64(j))
            out[word + uint64(1)] = prefix
            out[word + uint64(2)] = views[word + uint64(2)]
            out[word + uint64(3)] = views[word + uint64(3)]


@kernel()
def repoint_views(
    start,
    stop,
    step,
    views: In[uint64],
    visible: Bitmap,
    masks: In[uint64],
    starts: In[int64],
    data: In[uint8],
    window_bits,
    out: Out[uint64],
):
    """View i of `out` = view i, a long one pointing at starts[i] of `data`; zeros if hidden.

    Zeros follow an inline value; the prefix of a long one is taken from `data`, the bytes of the long
    values. Data buffer k begins at its byte `k << window_bits`, of 30 bits at most, so that offsets fit
    31 bits. The `inline_masks` are looked up, as short and long values come in any order.
    """
    within = (uint64(1) << window_bits) - uint64(1)
    prefix = uint64(0)
    for i in range(start, stop, step):
        shown = valid_mask(visible, i)
        first = views[uint64(i) << uint64(1)] & shown
        second = views[(uint64(i) << uint64(1)) + uint64(1)] & shown
        length = first & uint64(0xFFFFFFFF)
        kind = min(length, uint64(13))
        begin = uint64(starts[i])
        if len(data) != 0:
            # Any of the bytes for a short value, which is without a branch.
            prefix = load_word(
                data, begin if length > VIEW_INLINE_BYTES else uint64(0), uint64(0)
            ) << uint64(32)
        place = (begin >> window_bits) | ((begin & within) << uint64(32))
        head = prefix if length > VIEW_INLINE_BYTES else first
        second &= masks[kind + uint64(16)]
        out[uint64(i) << uint64(1)] = length | (head & masks[kind])
        out[(uint64(i) << uint64(1)) + uint64(1)] = place if length > VIEW_INLINE_BYTES else second


@kernel()
def covered_bits(start, stop, step, starts: In[int64], stops: In[int64], length, out: Out[uint8]):
    """Bit i of `out` = whether i lies in one of some ranges: more have begun by then than have ended.

    The range is over bytes of `out`. `starts` and `stops` are each in order of size.
    """
    begun = find_run(starts, uint64(start) << uint64(3))
    ended = find_run(stops, uint64(start) << uint64(3))
    count = uint64(len(starts))
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            while begun < count and uint64(starts[begun]) <= uint64(i):
                begun += uint64(1)
            while ended < count and uint64(stops[ended]) <= uint64(i):
                ended += uint64(1)
            packed |= uint64(begun > ended) << (uint64(i) - begin)
        out[b] = uint8(packed)


@kernel()
def runs_with_set_bits(start, stop, step, run_ends: In[R], bits: In[uint8], out: Out[uint8]):
    """Bit r of `out` = whether a bit of a slot of run r is set; the range is over the bytes of `out`."""
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for r in range(begin, min(begin + uint64(8), uint64(len(run_ends)))):
            i = uint64(0)
            if r > 0:
                i = uint64(run_ends[uint64(r) - uint64(1)])
            end = uint64(run_ends[uint64(r)])
            while i < end and not get_bit(bits, i):
                i += uint64(1)
            packed |= uint64(i < end) << (uint64(r) - begin)
        out[b] = uint8(packed)


@kernel()
def repeat_bits(start, stop, step, bits: Bitmap, size, length, out: Out[uint64]):
    """Bit i of `out` = bit i // size of a bitmap; the range is over the words of `out`."""
    most = ~uint64(0)
    bit = (uint64(start) << uint64(6)) // size
    begin = (uint64(start) << uint64(6)) - bit * size
    pace = uint64(step) << uint64(6)
    further = pace // size
    rest = pace - further * size
    for w in range(start, stop, step):
        # A bit is all of those behind it, up to the next one that is unlike it.
        unlike = bits_from(bits.bits, bits.offset + bit, uint64(64))
        unlike ^= unlike << uint64(1)
        packed = most * (unlike & uint64(1))
        place = size - begin
        while place < uint64(64):
            unlike >>= uint64(1)
            packed ^= (most * (unlike & uint64(1))) << place
            place += size
        out[w] = packed & lowest_bits(min(length - (uint64(w) << uint64(6)), uint64(64)))
        bit, begin = bit + further, begin + rest
        if begin >= size:
            bit, begin = bit + uint64(1), begin - size
