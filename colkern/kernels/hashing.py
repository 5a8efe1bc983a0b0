"""Hashes: a uint64 a slot, the same for the same value in every process, machine and layout.

With `avalanche` as the finalizer of XXH64, and all arithmetic modulo 2^64:

- a number is `avalanche(state ^ x)`, `x` its value as 64 bits;
- of a run of bytes, filled with zeros to a multiple of 16 (at least 16), each two words (little-endian)
  are taken into the state by `fold_pair`, and then the length by `finish_run`, as in wyhash;
- a list or struct is `combine` over the hashes of its parts, from `avalanche(state ^ mixed length)`;
- a null is `avalanche(state ^ NULL)`.

`state` follows from the user's seed. `colkern.operations.hashing` says what is a number to whom.
"""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels.bitmaps import get_bit, is_valid, word_of
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import fold, load_item, multiply, trailing_zeros, word_at

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
def avalanche(h: Any) -> Any:
    """Every bit of the result depends on every bit of `h`."""
    h = multiply(h ^ (h >> uint64(33)), P2)
    h = multiply(h ^ (h >> uint64(29)), P3)
    return h ^ (h >> uint64(32))


def state_of(seed: int) -> int:
    """What a user's seed is to the kernels."""
    return int(avalanche(uint64(seed) ^ P1))


@helper
def combine(h: Any, following: Any) -> Any:
    """The hash of a sequence that has hash `h` so far, and then a part with hash `following`."""
    return avalanche(((h << uint64(27)) | (h >> uint64(37))) ^ following)


@helper
def sequence_start(state: Any, length: Any) -> Any:
    """The hash of a sequence of so many parts, before the first."""
    return avalanche(state ^ multiply(length + uint64(1), P4))


@helper
def fold_pair(h: Any, low: Any, high: Any) -> Any:
    """16 more bytes, as two words, in the state."""
    return fold(low ^ P1, high ^ h)


@helper
def finish_run(h: Any, length: Any) -> Any:
    """The hash of a run of bytes, all of which are in the state."""
    return fold(h ^ P2, length ^ P3)


@helper
def word_of_few(like: Any, address: Any, count: Any) -> Any:
    """The `count` bytes at an address (at most eight of them), one by one, as a word."""
    word = uint64(0)
    for k in range(uint64(0), min(count, uint64(8))):
        word |= uint64(load_item(like, address + uint64(k))) << (uint64(k) << uint64(3))
    return word


MASKS = 33
"""How many masks there are for a word: for all numbers of bytes up to 32."""


def run_masks() -> list[int]:
    """Which bits of four words are those of a run's last bytes, by their number: of the first word for 0
    to 32 bytes, then of the second and so on. For kernels that go through bytes by words."""
    behind = [[count - 8 * word for count in range(MASKS)] for word in range(4)]
    return [(1 << 8 * min(max(count, 0), 8)) - 1 for word in behind for count in word]


@helper
def hash_short_run(address: Any, length: Any, masks: Any, h: Any, whole: Any) -> Any:
    """The hash of a run of `whole` bytes, but for its last `length` (up to 16) in state `h` already.

    At the address 16 bytes may be read.
    """
    low = word_at(address) & masks[length]
    high = word_at(address + uint64(8)) & masks[length + uint64(MASKS)]
    return finish_run(fold_pair(h, low, high), whole)


@helper
def hash_medium_run(address: Any, length: Any, masks: Any, h: Any, whole: Any) -> Any:
    """As `hash_short_run` of up to 32 bytes; at the address 32 may be read."""
    # No branch: lengths come in any order, and a wrong guess costs more than 16 bytes for nothing.
    more = length > uint64(16)
    both = fold_pair(h, word_at(address), word_at(address + uint64(8)))
    h = both if more else h
    taken = uint64(16) if more else uint64(0)
    return hash_short_run(address + taken, length - taken, masks, h, whole)


@helper
def hash_run(like: Any, address: Any, length: Any, room: Any, masks: Any, state: Any) -> Any:
    """The hash of `length` bytes at an address, from which on `room` bytes may be read.

    like: uint8[], of which nothing is read
    masks: uint64[], the `run_masks`
    """
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
def fold_32_bytes(h: Any, address: Any) -> Any:
    """The 32 bytes at an address in the state."""
    h = fold_pair(h, word_at(address), word_at(address + uint64(8)))
    return fold_pair(h, word_at(address + uint64(16)), word_at(address + uint64(24)))


@helper
def hash_last_run(like: Any, address: Any, length: Any, state: Any) -> Any:
    """As `hash_run`, where nothing behind the bytes may be read.

    like: uint8[], of which nothing is read
    """
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
def pace_of(start: Any, stop: Any, step: Any, validity: Any) -> Any:
    """How far a loop goes before its nulls are looked at: 64 slots, or to the end if there are none."""
    whole = max(uint64(stop), uint64(start) + uint64(1)) - uint64(start)
    return whole if len(validity) == 0 else uint64(step) << uint64(6)


@helper
def hide_nulls(
    validity: Any, offset: Any, first: Any, end: Any, step: Any, null: Any, out: Any
) -> None:
    """out[i] = `null` for those of at most 64 slots from `first` on, `step` apart, that are null.

    Other loops need not look at each bit: they write something there.
    """
    if len(validity) == 0:
        return
    if step == 1:
        count = end - first
        nulls = ~word_of(validity, offset + first, uint64(0), count)
        nulls &= ~uint64(0) >> (uint64(64) - count)
        while nulls != 0:
            out[first + uint64(trailing_zeros(nulls))] = null
            nulls &= nulls - uint64(1)
    else:
        for i in range(first, end, step):
            if not get_bit(validity, offset + uint64(i)):
                out[i] = null


@kernel(
    "words: T[], minus: u8, above: u8, validity: u1[], offset: u8, state: u8, out: u8[w]",
    T="u1 u2 u4 u8",
)
def hash_integers(start, stop, step, words, minus, above, validity, offset, state, out):
    """out[i] = the hash of an integer, the same for every width and signedness that holds it.

    words: T[n]
    minus: the sign bit; 0 for unsigned integers
    above: the bits above those of T
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
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
        hide_nulls(validity, offset, uint64(first), end, step, null, out)


@kernel(
    "words: T[], minus: u8, infinity: u8, validity: u1[], offset: u8, state: u8, out: u8[w]",
    T="u2 u4 u8",
)
def hash_floats(start, stop, step, words, minus, infinity, validity, offset, state, out):
    """out[i] = the hash of a float's bits; one for both zeros, one for all NaNs.

    words: T[n]
    minus: the sign bit
    infinity: the bits of infinity
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
    """
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
        hide_nulls(validity, offset, uint64(first), end, step, null, out)


@kernel(
    "base: u8, width: u8, size: u8, masks: u8[], validity: u1[], offset: u8, state: u8, out: u8[w]",
)
def hash_fixed_bytes(start, stop, step, base, width, size, masks, validity, offset, state, out):
    """out[i] = the hash of bytes [i width, (i + 1) width).

    base: the address of the bytes
    width: the bytes of a value
    size: how many bytes there are
    masks: uint64[], the `run_masks`
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
    """
    null = avalanche(state ^ NULL)
    for i in range(start, stop, step):
        begin = uint64(i) * width
        h = hash_run(validity, base + begin, width, size - begin, masks, state)
        out[i] = h if is_valid(validity, offset, i) else null


@helper
def longest_of_block(offsets: Any, first: Any) -> Any:
    """At least the length of any of `BLOCK` values from `first` on; less than twice the longest."""
    bits = uint64(0)
    for k in range(uint64(0), uint64(BLOCK)):
        place = first + uint64(k)
        bits |= uint64(offsets[place + uint64(1)]) - uint64(offsets[place])
    return bits


@kernel(
    "offsets: O[], base: u8, size: u8, masks: u8[], validity: u1[], offset: u8, state: u8, out: u8[w]",
    O="i4 i8",
)
def hash_strings(start, stop, step, offsets, base, size, masks, validity, offset, state, out):
    """out[i] = the hash of bytes [offsets[i], offsets[i + 1]).

    offsets: int32/int64[n + 1], checked
    base: the address of the bytes
    size: how many bytes there are
    masks: uint64[], the `run_masks`
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
    """
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
        if longest < 8:
            begin = uint64(offsets[i])
            for k in range(i, last):
                end = uint64(offsets[uint64(k) + uint64(1)])
                low = word_at(base + begin) & masks[end - begin]
                out[k] = finish_run(fold_pair(state, low, uint64(0)), end - begin)
                begin = end
        elif longest < 16:
            for k in range(i, last):
                begin = uint64(offsets[uint64(k)])
                length = uint64(offsets[uint64(k) + uint64(1)]) - begin
                out[k] = hash_short_run(base + begin, length, masks, state, length)
        elif longest < 32:
            for k in range(i, last):
                begin = uint64(offsets[uint64(k)])
                length = uint64(offsets[uint64(k) + uint64(1)]) - begin
                out[k] = hash_medium_run(base + begin, length, masks, state, length)
        else:
            for k in range(i, last):
                begin = uint64(offsets[uint64(k)])
                length = uint64(offsets[uint64(k) + uint64(1)]) - begin
                out[k] = hash_run(validity, base + begin, length, size - begin, masks, state)
        if block:
            hide_nulls(validity, offset, i, last, uint64(1), null, out)
        elif not is_valid(validity, offset, i):
            out[i] = null
        i = last if block else i + uint64(step)


@kernel(
    "views: u8[], addresses: u8[], sizes: i8[], masks: u8[], validity: u1[], offset: u8, state: u8, "
    "out: u8[w]"
)
def hash_views(start, stop, step, views, addresses, sizes, masks, validity, offset, state, out):
    """out[i] = the hash of the bytes of view i.

    views: uint64[2 n], in bounds
    addresses: uint64[buffers], the address of each data buffer
    sizes: int64[buffers], the size of each
    masks: uint64[], the `run_masks`
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
    """
    for i in range(start, stop, step):
        h = avalanche(state ^ NULL)
        if is_valid(validity, offset, i):
            head = views[uint64(i) << uint64(1)]
            tail = views[(uint64(i) << uint64(1)) + uint64(1)]
            length = head & uint64(0xFFFF_FFFF)
            if length <= 12:
                low = ((head >> uint64(32)) | (tail << uint64(32))) & masks[length]
                high = (tail >> uint64(32)) & masks[length + uint64(MASKS)]
                h = finish_run(fold_pair(state, low, high), length)
            else:
                buffer, begin = tail & uint64(0xFFFF_FFFF), tail >> uint64(32)
                room = uint64(sizes[buffer]) - begin
                h = hash_run(validity, addresses[buffer] + begin, length, room, masks, state)
        out[i] = h


@kernel(
    "begins: O[], sizes: O[], width: u8, first: u8, hashes: u8[], validity: u1[], offset: u8, "
    "state: u8, out: u8[w]",
    O="i4 i8",
)
def hash_lists(
    start, stop, step, begins, sizes, width, first, hashes, validity, offset, state, out
):
    """out[i] = the hash of a list: of its length, and of its elements in order.

    begins: int32/int64[n + 1], the offsets; [n] for views of lists; empty for lists of one length
    sizes: int32/int64[n] for views of lists, else empty
    width: the length of each list, if they have one length
    first: the element that `hashes` begins with
    hashes: uint64[], the hashes of the elements
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
    """
    for i in range(start, stop, step):
        h = avalanche(state ^ NULL)
        if is_valid(validity, offset, i):
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


@kernel("fields: u8, state: u8, out: u8[w]")
def start_structs(start, stop, step, fields, state, out):
    """out[i] = the hash of a sequence of `fields` parts before its first: of a struct's fields.

    fields: how many fields there are
    state: of the seed
    out: uint64[n]
    """
    for i in range(start, stop, step):
        out[i] = sequence_start(state, fields)


@kernel("hashes: u8[], out: u8[w]")
def combine_hashes(start, stop, step, hashes, out):
    """out[i] = the hash of a sequence with hash out[i] so far, and then hashes[i].

    hashes: uint64[n]
    out: uint64[n], the hashes so far
    """
    for i in range(start, stop, step):
        out[i] = combine(out[i], hashes[i])


@kernel("validity: u1[], offset: u8, state: u8, out: u8[w]")
def hash_nulls(start, stop, step, validity, offset, state, out):
    """out[i] = the hash of a null where slot i is one.

    validity: uint8[] bitmap
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n], the hashes of what stands there
    """
    null = avalanche(state ^ NULL)
    for i in range(start, stop, step):
        if not get_bit(validity, offset + uint64(i)):
            out[i] = null


@kernel("type_ids: u1[], offsets: i4[], code: u1, hashes: u8[], out: u8[w]")
def pick_hashes(start, stop, step, type_ids, offsets, code, hashes, out):
    """out[i] = the hash of the slot of this child that slot i of a union shows, if it shows this child.

    type_ids: uint8[n]
    offsets: int32[n], the slots of a dense union's child; empty for a sparse one
    code: the type id of the child
    hashes: uint64[], of the child's slots
    out: uint64[n]
    """
    for i in range(start, stop, step):
        if type_ids[i] == code:
            slot = uint64(i) if len(offsets) == 0 else uint64(offsets[i])
            out[i] = hashes[slot]


@kernel(
    "indices: I[], hashes: u8[], validity: u1[], offset: u8, state: u8, out: u8[w]",
    I="u1 u2 u4 u8",
)
def hash_indices(start, stop, step, indices, hashes, validity, offset, state, out):
    """out[i] = hashes[indices[i]], or the hash of a null.

    indices: I[n], of a dictionary; in bounds where valid
    hashes: uint64[], of the values of the dictionary
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    state: of the seed
    out: uint64[n]
    """
    null = avalanche(state ^ NULL)
    for i in range(start, stop, step):
        h = null
        if is_valid(validity, offset, i):
            h = hashes[uint64(indices[i])]
        out[i] = h


@kernel("hashes: u8[], partitions: u8, out: u8[w]")
def number_partitions(start, stop, step, hashes, partitions, out):
    """out[i] = the partition of hash i: its upper 32 bits as a share of all, in partitions.

    hashes: uint64[n]
    partitions: how many there are, below 2^32
    out: uint64[n]
    """
    for i in range(start, stop, step):
        out[i] = ((hashes[i] >> uint64(32)) * partitions) >> uint64(32)
