"""Hashes: a uint64 a slot, the same for the same value in every process, machine and layout.

With `avalanche` as the finalizer of XXH64, and all arithmetic modulo 2^64:

- a number is `avalanche(state ^ x)`, `x` its value as 64 bits;
- of a run of bytes, filled with zeros to a multiple of 16 (at least 16), each two words (little-endian)
  are taken into the state by `fold_pair`, and then the length by `finish_run`, as in wyhash;
- a list or struct is `combine` over the hashes of its parts, from `avalanche(state ^ mixed length)`;
- a null is `avalanche(state ^ NULL)`.

`state` follows from the user's seed; `masks` are the `run_masks`. `colkern.operations.hashing` says which
types hash as numbers.
"""

from __future__ import annotations

from numpy import int32, uint8, uint64

from colkern.kernels.arguments import Bitmap, Buffers, I, In, O, Out, T
from colkern.kernels.bitmaps import bit_at, is_valid, word_from
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import fold, load_item, multiply, trailing_zeros, word_at
from colkern.layouts import VIEW_INLINE_BYTES

# The primes of XXH64.
P1 = uint64(0x9E37_79B1_85EB_CA87)
P2 = uint64(0xC2B2_AE3D_27D4_EB4F)
P3 = uint64(0x1656_67B1_9E37_79F9)
P4 = uint64(0x85EB_CA77_C2B2_AE63)
P5 = uint64(0x27D4_EB2F_1656_67C5)

NULL = P5
NAN = ~uint64(0)

BLOCK = 64
"""The strings whose lengths are looked at together: short ones take fewer steps."""


@helper
def avalanche(h: uint64) -> uint64:
    """Every bit of the result depends on every bit of `h`."""
    h = multiply(h ^ (h >> uint64(33)), P2)
    h = multiply(h ^ (h >> uint64(29)), P3)
    return h ^ (h >> uint64(32))


def state_of(seed: int) -> int:
    """The state that a user's seed begins with."""
    return int(avalanche(uint64(seed) ^ P1))


@helper
def combine(h: uint64, following: uint64) -> uint64:
    """The hash of a sequence that has hash `h` so far, and then a part with hash `following`."""
    return avalanche(((h << uint64(27)) | (h >> uint64(37))) ^ following)


@helper
def sequence_start(state: uint64, length: uint64) -> uint64:
    """The hash of a sequence of so many parts, before the first."""
    return avalanche(state ^ multiply(length + uint64(1), P4))


@helper
def fold_pair(h: uint64, low: uint64, high: uint64) -> uint64:
    """16 more bytes, as two words, in the state."""
    return fold(low ^ P1, high ^ h)


@helper
def finish_run(h: uint64, length: uint64) -> uint64:
    """The hash of a run of bytes, all of which are in the state."""
    return fold(h ^ P2, length ^ P3)


@helper
def word_of_few(like: In[uint8], address: uint64, count: uint64) -> uint64:
    """The `count` bytes at an address (at most eight of them), one by one, as a word."""
    word = uint64(0)
    for k in range(uint64(0), min(count, uint64(8))):
        word |= uint64(load_item(like, address + uint64(k))) << (uint64(k) << uint64(3))
    return word


MASKS = 33
"""The number of masks for a word: for all numbers of bytes up to 32."""


def run_masks() -> list[int]:
    """Masks of a run's last bytes by their number, for the first of four words, then the second, …"""
    behind = [[count - 8 * word for count in range(MASKS)] for word in range(4)]
    return [(1 << 8 * min(max(count, 0), 8)) - 1 for word in behind for count in word]


@helper
def hash_short_run(
    address: uint64, length: uint64, masks: In[uint64], h: uint64, whole: uint64
) -> uint64:
    """The hash of a run of `whole` bytes, of which all but the last `length` (up to 16) are in state `h`.

    At the address 16 bytes may be read.
    """
    low = word_at(address) & masks[length]
    high = word_at(address + uint64(8)) & masks[length + uint64(MASKS)]
    return finish_run(fold_pair(h, low, high), whole)


@helper
def hash_medium_run(
    address: uint64, length: uint64, masks: In[uint64], h: uint64, whole: uint64
) -> uint64:
    """As `hash_short_run` of up to 32 bytes; at the address 32 may be read."""
    # No branch: lengths come in any order, and a wrong guess costs more than 16 bytes for nothing.
    more = length > uint64(16)
    both = fold_pair(h, word_at(address), word_at(address + uint64(8)))
    h = both if more else h
    taken = uint64(16) if more else uint64(0)
    return hash_short_run(address + taken, length - taken, masks, h, whole)


@helper
def hash_run(
    like: In[uint8], address: uint64, length: uint64, room: uint64, masks: In[uint64], state: uint64
) -> uint64:
    """The hash of `length` bytes at an address, from which on `room` bytes may be read."""
    if room < length + uint64(64):
        return hash_last_run(like, address, length, state)
    h = state
    left = length
    while left > uint64(64):
        h = fold_32_bytes(fold_32_bytes(h, address), address + uint64(32))
        address += uint64(64)
        left -= uint64(64)
    # As in a medium run.
    more = left > uint64(32)
    both = fold_32_bytes(h, address)
    h = both if more else h
    taken = uint64(32) if more else uint64(0)
    return hash_medium_run(address + taken, left - taken, masks, h, length)


@helper
def fold_32_bytes(h: uint64, address: uint64) -> uint64:
    """The 32 bytes at an address in the state."""
    h = fold_pair(h, word_at(address), word_at(address + uint64(8)))
    return fold_pair(h, word_at(address + uint64(16)), word_at(address + uint64(24)))


@helper
def hash_last_run(like: In[uint8], address: uint64, length: uint64, state: uint64) -> uint64:
    """As `hash_run`, where nothing behind the bytes may be read."""
    h = state
    left = length
    while left > uint64(16):
        h = fold_pair(h, word_at(address), word_at(address + uint64(8)))
        address += uint64(16)
        left -= uint64(16)
    low = word_of_few(like, address, left)
    high = word_of_few(like, address + uint64(8), max(left, uint64(8)) - uint64(8))
    return finish_run(fold_pair(h, low, high), length)


@helper
def pace_of(start: uint64, stop: uint64, step: uint64, validity: Bitmap) -> uint64:
    """The slots that a loop goes over before it looks at their nulls: 64, or all if there are none."""
    whole = max(uint64(stop), uint64(start) + uint64(1)) - uint64(start)
    return whole if len(validity.bits) == 0 else uint64(step) << uint64(6)


@helper
def hide_nulls(
    validity: Bitmap, first: uint64, end: uint64, step: uint64, null: uint64, out: Out[uint64]
) -> None:
    """out[i] = `null` for the slots that are null, of at most 64 from `first` on, `step` apart.

    Other loops need not look at each bit: they write anything there.
    """
    if len(validity.bits) == 0:
        return
    if step == 1:
        count = end - first
        nulls = ~word_from(validity.bits, validity.offset + first, uint64(0), count)
        nulls &= ~uint64(0) >> (uint64(64) - count)
        while nulls != 0:
            out[first + uint64(trailing_zeros(nulls))] = null
            nulls &= nulls - uint64(1)
    else:
        for i in range(first, end, step):
            if not bit_at(validity, uint64(i)):
                out[i] = null


@kernel()
def hash_integers(
    start, stop, step, words: In[T], minus, above, validity: Bitmap, state, out: Out[uint64]
):
    """out[i] = the hash of an integer, the same for every width and signedness that holds it.

    `minus` is the sign bit, 0 for unsigned integers; `above` are the bits above those of T.
    """
    null = avalanche(state ^ NULL)
    pace = pace_of(start, stop, step, validity)
    for first in range(start, stop, pace):
        end = min(uint64(first) + pace, uint64(stop))
        for i in range(first, end, step):
            word = uint64(words[i])
            if word & minus != 0:
                word |= above
            out[i] = avalanche(state ^ word)
        hide_nulls(validity, uint64(first), end, step, null, out)


@kernel(T="u2 u4 u8")
def hash_floats(
    start, stop, step, words: In[T], minus, infinity, validity: Bitmap, state, out: Out[uint64]
):
    """out[i] = the hash of a float's bits; one for both zeros, one for all NaNs."""
    null = avalanche(state ^ NULL)
    pace = pace_of(start, stop, step, validity)
    for first in range(start, stop, pace):
        end = min(uint64(first) + pace, uint64(stop))
        for i in range(first, end, step):
            word = uint64(words[i])
            magnitude = word & ~minus
            word = uint64(0) if magnitude == 0 else word
            word = NAN if magnitude > infinity else word
            out[i] = avalanche(state ^ word)
        hide_nulls(validity, uint64(first), end, step, null, out)


@kernel()
def hash_fixed_bytes(
    start,
    stop,
    step,
    base,
    width,
    size,
    masks: In[uint64],
    validity: Bitmap,
    state,
    out: Out[uint64],
):
    """out[i] = the hash of bytes [i width, (i + 1) width)."""
    null = avalanche(state ^ NULL)
    for i in range(start, stop, step):
        begin = uint64(i) * width
        h = hash_run(validity.bits, base + begin, width, size - begin, masks, state)
        out[i] = h if is_valid(validity, i) else null


@helper
def longest_of_block(offsets: In[O], first: uint64) -> uint64:
    """At least the length of any of `BLOCK` values from `first` on; less than twice the longest."""
    bits = uint64(0)
    for k in range(uint64(0), uint64(BLOCK)):
        place = first + uint64(k)
        bits |= uint64(offsets[place + uint64(1)]) - uint64(offsets[place])
    return bits


@kernel()
def hash_strings(
    start,
    stop,
    step,
    offsets: In[O],
    base,
    size,
    masks: In[uint64],
    validity: Bitmap,
    state,
    out: Out[uint64],
):
    """out[i] = the hash of bytes [offsets[i], offsets[i + 1])."""
    null = avalanche(state ^ NULL)
    i = uint64(start)
    while i < stop:
        longest = uint64(64)
        # Where one thread has neighbours, it looks at the lengths of a block of them at once.
        block = step == 1 and i + uint64(BLOCK) <= stop
        if block and uint64(offsets[i + uint64(BLOCK)]) + uint64(32) <= size:
            longest = longest_of_block(offsets, i)
        last = i + uint64(BLOCK) if block else i + uint64(1)
        # What stands under a null is hashed too: it is in bounds, and a branch costs more.
        if longest <= 8:
            begin = uint64(offsets[i])
            for k in range(i, last):
                end = uint64(offsets[uint64(k) + uint64(1)])
                low = word_at(base + begin) & masks[end - begin]
                out[k] = finish_run(fold_pair(state, low, uint64(0)), end - begin)
                begin = end
        elif longest <= 16:
            for k in range(i, last):
                begin = uint64(offsets[uint64(k)])
                length = uint64(offsets[uint64(k) + uint64(1)]) - begin
                out[k] = hash_short_run(base + begin, length, masks, state, length)
        elif longest <= 32:
            for k in range(i, last):
                begin = uint64(offsets[uint64(k)])
                length = uint64(offsets[uint64(k) + uint64(1)]) - begin
                out[k] = hash_medium_run(base + begin, length, masks, state, length)
        else:
            for k in range(i, last):
                begin = uint64(offsets[uint64(k)])
                length = uint64(offsets[uint64(k) + uint64(1)]) - begin
                out[k] = hash_run(validity.bits, base + begin, length, size - begin, masks, state)
        if block:
            hide_nulls(validity, i, last, uint64(1), null, out)
        elif not is_valid(validity, i):
            out[i] = null
        i = last if block else i + uint64(step)


@kernel()
def hash_views(
    start,
    stop,
    step,
    views: In[uint64],
    buffers: Buffers,
    masks: In[uint64],
    validity: Bitmap,
    state,
    out: Out[uint64],
):
    """out[i] = the hash of the bytes of view i."""
    for i in range(start, stop, step):
        h = avalanche(state ^ NULL)
        if is_valid(validity, i):
            head = views[uint64(i) << uint64(1)]
            tail = views[(uint64(i) << uint64(1)) + uint64(1)]
            length = head & uint64(0xFFFF_FFFF)
            if length <= VIEW_INLINE_BYTES:
                low = ((head >> uint64(32)) | (tail << uint64(32))) & masks[length]
                high = (tail >> uint64(32)) & masks[length + uint64(MASKS)]
                h = finish_run(fold_pair(state, low, high), length)
            else:
                buffer, begin = tail & uint64(0xFFFF_FFFF), tail >> uint64(32)
                room = uint64(buffers.sizes[buffer]) - begin
                h = hash_run(
                    validity.bits, buffers.addresses[buffer] + begin, length, room, masks, state
                )
        out[i] = h


@kernel()
def hash_lists(
    start,
    stop,
    step,
    begins: In[O],
    sizes: In[O],
    width,
    first,
    hashes: In[uint64],
    validity: Bitmap,
    state,
    out: Out[uint64],
):
    """out[i] = the hash of a list: of its length, and of its elements in order.

    `begins` are offsets, with `sizes` those of list views; lists of one length have none, and `width`
    elements each. The hashes are those of the elements from `first` on.
    """
    for i in range(start, stop, step):
        h = avalanche(state ^ NULL)
        if is_valid(validity, i):
            begin = uint64(i) * width if len(begins) == 0 else uint64(begins[i]) - first
            length = width
            if len(sizes) != 0:
                length = uint64(sizes[i])
            elif len(begins) != 0:
                length = uint64(begins[i + uint64(1)]) - first - begin
            h = sequence_start(state, length)
            for k in range(begin, begin + length):
                h = combine(h, hashes[uint64(k)])
        out[i] = h


@kernel()
def combine_hashes(start, stop, step, hashes: In[uint64], out: Out[uint64]):
    """out[i] = the hash of a sequence with hash out[i] so far, and then hashes[i]."""
    for i in range(start, stop, step):
        out[i] = combine(out[i], hashes[i])


@kernel()
def hash_nulls(start, stop, step, validity: Bitmap, state, out: Out[uint64]):
    """out[i] = the hash of a null where slot i is one; other items stay as they are."""
    null = avalanche(state ^ NULL)
    for i in range(start, stop, step):
        if not bit_at(validity, uint64(i)):
            out[i] = null


@kernel()
def pick_hashes(
    start,
    stop,
    step,
    type_ids: In[uint8],
    offsets: In[int32],
    code: uint8,
    hashes: In[uint64],
    out: Out[uint64],
):
    """out[i] = the hash of slot i of a union, if it shows the child with this type id.

    `hashes` are those of the child's slots; a sparse union has no offsets.
    """
    for i in range(start, stop, step):
        if type_ids[i] == code:
            slot = uint64(i) if len(offsets) == 0 else uint64(offsets[i])
            out[i] = hashes[slot]


@kernel()
def hash_indices(
    start, stop, step, indices: In[I], hashes: In[uint64], validity: Bitmap, state, out: Out[uint64]
):
    """out[i] = hashes[indices[i]], which are in bounds where valid, or the hash of a null."""
    null = avalanche(state ^ NULL)
    for i in range(start, stop, step):
        h = null
        if is_valid(validity, i):
            h = hashes[uint64(indices[i])]
        out[i] = h


@kernel()
def number_partitions(start, stop, step, hashes: In[uint64], partitions, out: Out[uint64]):
    """out[i] = the partition, below 2^32 of them, of hash i: its upper 32 bits as a share of all."""
    for i in range(start, stop, step):
        out[i] = ((hashes[i] >> uint64(32)) * partitions) >> uint64(32)
