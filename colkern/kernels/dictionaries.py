"""Dictionary-encoded values: decoding them, finding the distinct ones, exchanging the dictionary.

Indices are taken as unsigned words. Under a null may stand anything: `limit`, the length of the
dictionary (at least 1), bounds what is followed.

*Tables.* Distinct values are numbered in the order of their first slots by kernels that go through a
range one by one, with all that they know in their output:

    out[0]                  how many distinct values there are by now
    out[2], out[3]          a pair for nulls, of key 0: with an entry of number 1 if they are no value
    out[4 : 4 + codes]      the number of each slot's value
    out[4 + codes :]        the table

An entry is a first slot, above its number + 1 in the lower 32 bits; 0 for none. A table is either one
entry for each possible value, or pairs of a key (or hash) and its entry, a power of two of them and at
least twice as many as there are values. A kernel stops at the value that it has no place for. A null
takes no branch, as there may be many: it is a value with a place of its own.

Columnar format 1.5: "Dictionary-encoded Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import uint8, uint64

from colkern.kernels.bitmaps import get_bit, is_valid, valid_mask
from colkern.kernels.hashing import MASKS, P1, word_of_few
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import copy_bytes_loosely, multiply, word_at

BLOCK = 256
"""The slots whose lengths are added up together."""

HEAD = 4
"""The words of a table's output before the numbers of slots."""

NULLS = 2
"""Where in them the pair for nulls is."""

NO_VALUE = (1 << 64) - (1 << 32) + 1
"""The entry of nulls that are no value: they get the number 0, and none has so high a first slot."""

LOW = uint64(0xFFFF_FFFF)


@helper
def largest_index(indices: Any, begin: Any, end: Any, step: Any) -> Any:
    """The largest of some indices: where it is in bounds, none has to be held back."""
    found = indices[begin]
    for i in range(begin, end, step):
        found = max(found, indices[i])
    return uint64(found)


@kernel(
    "indices: I[], limit: u8, values: T[], width: u8, out: T[w]", I="u1 u2 u4 u8", T="u1 u2 u4 u8"
)
def decode_items(start, stop, step, indices, limit, values, width, out):
    """Value i of `out` = value indices[i]; a value is `width` items.

    indices: I[n]
    limit: how many values there are
    values: T[limit width]
    width: how many items make one value
    out: T[n width]
    """
    last = limit - uint64(1)
    if width == 1:
        pace = uint64(step) * uint64(BLOCK)
        for begin in range(start, stop, pace):
            end = min(uint64(begin) + pace, uint64(stop))
            if largest_index(indices, begin, end, step) <= last:
                for i in range(begin, end, step):
                    out[i] = values[uint64(indices[i])]
            else:
                for i in range(begin, end, step):
                    out[i] = values[min(uint64(indices[i]), last)]
    else:
        for i in range(start, stop, step):
            source = min(uint64(indices[i]), last) * width
            place = uint64(i) * width
            for item in range(uint64(0), width):
                out[place + uint64(item)] = values[source + uint64(item)]


@kernel(
    "indices: I[], limit: u8, bits: u1[], first: u8, validity: u1[], offset: u8, out: u1[w]",
    I="u1 u2 u4 u8",
)
def decode_bits(start, stop, step, indices, limit, bits, first, validity, offset, out):
    """Bit i of `out` = bit first + indices[i] where slot i is valid; the range is over bytes of `out`.

    indices: I[n]
    limit: how many values there are
    bits: uint8[] bitmap
    first: the bit of value 0
    validity: uint8[] bitmap of the indices, or empty
    offset: the bit of index 0 in it
    out: uint8[ceil(n / 8)]; bits past n become zero
    """
    last = limit - uint64(1)
    count = uint64(len(indices))
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), count)):
            bit = get_bit(bits, first + min(uint64(indices[i]), last))
            packed |= uint64(bit & is_valid(validity, offset, i)) << (uint64(i) - begin)
        out[b] = uint8(packed)


@helper
def decoded_length(
    indices: Any, i: Any, last: Any, offsets: Any, validity: Any, offset: Any
) -> Any:
    """The length of the string that slot `i` shows; 0 for a null."""
    index = min(uint64(indices[i]), last)
    length = uint64(offsets[index + uint64(1)]) - uint64(offsets[index])
    return length if is_valid(validity, offset, i) else uint64(0)


@kernel(
    "indices: I[], limit: u8, offsets: O[], validity: u1[], offset: u8, out: i8[w]",
    I="u1 u2 u4 u8",
    O="i4 i8",
)
def decoded_block_bytes(start, stop, step, indices, limit, offsets, validity, offset, out):
    """out[b] = the bytes of block b of strings; the range is over blocks of `BLOCK` slots.

    indices: I[n]
    limit: how many values there are
    offsets: int32/int64[limit + 1], checked
    validity: uint8[] bitmap of the indices, or empty
    offset: the bit of index 0 in it
    out: int64[ceil(n / BLOCK)]
    """
    last = limit - uint64(1)
    count = uint64(len(indices))
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(BLOCK)
        total = uint64(0)
        for i in range(begin, min(begin + uint64(BLOCK), count)):
            total += decoded_length(indices, uint64(i), last, offsets, validity, offset)
        out[b] = total


@kernel(
    "indices: I[], limit: u8, offsets: O[], validity: u1[], offset: u8, starts: i8[], out: O[w]",
    I="u1 u2 u4 u8",
    O="i4 i8",
)
def decoded_offsets(start, stop, step, indices, limit, offsets, validity, offset, starts, out):
    """The offsets of the strings; the range is over blocks of `BLOCK` slots.

    indices: I[n], at least one
    limit: how many values there are
    offsets: int32/int64[limit + 1], checked
    validity: uint8[] bitmap of the indices, or empty
    offset: the bit of index 0 in it
    starts: int64[ceil(n / BLOCK) + 1], where the bytes of each block begin
    out: int32/int64[n + 1]
    """
    last = limit - uint64(1)
    count = uint64(len(indices))
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(BLOCK)
        end = min(begin + uint64(BLOCK), count)
        place = uint64(starts[b])
        for i in range(begin, end):
            out[i] = place
            place += decoded_length(indices, uint64(i), last, offsets, validity, offset)
        if end == count:
            out[count] = place


@kernel(
    "indices: I[], limit: u8, offsets: O[], base: u8, size: u8, starts: O[], out: u1[w]",
    grouped=True,
    I="u1 u2 u4 u8",
    O="i4 i8",
)
def decode_strings(start, stop, step, indices, limit, offsets, base, size, starts, out):
    """The bytes of `out` from starts[i] on = those of string indices[i], as many as there is room for.

    indices: I[n]
    limit: how many values there are
    offsets: int32/int64[limit + 1], checked
    base: the address of the strings' bytes
    size: how many bytes there are
    starts: int32/int64[n + 1], see `decoded_offsets`
    out: uint8[starts[n]]
    """
    last = limit - uint64(1)
    end = uint64(starts[stop])
    for i in range(start, stop, step):
        place = uint64(starts[i])
        count = uint64(starts[i + uint64(1)]) - place
        source = uint64(offsets[min(uint64(indices[i]), last)])
        copy_bytes_loosely(out, place, base + source, count, min(end - place, size - source))


@kernel(
    "indices: I[], limit: u8, moved: u4[], base: u8, out: J[w]",
    I="u1 u2 u4 u8",
    J="u1 u2 u4 u8",
)
def transpose_indices(start, stop, step, indices, limit, moved, base, out):
    """out[i] = where the value that indices[i] points at is in another dictionary.

    indices: I[n]
    limit: how many values the dictionary has
    moved: uint32[], where each value of all dictionaries is
    base: where those of this one begin in it
    out: J[n]
    """
    last = limit - uint64(1)
    pace = uint64(step) * uint64(BLOCK)
    for begin in range(start, stop, pace):
        end = min(uint64(begin) + pace, uint64(stop))
        if largest_index(indices, begin, end, step) <= last:
            for i in range(begin, end, step):
                out[i] = moved[base + uint64(indices[i])]
        else:
            for i in range(begin, end, step):
                out[i] = moved[base + min(uint64(indices[i]), last)]


# Tables


@helper
def home(key: Any, shift: Any) -> Any:
    """The slot where the search for a key begins, in a table of 2^(64 - shift) slots."""
    return multiply(key ^ (key >> uint64(32)), P1) >> shift


@helper
def seek(out: Any, table: Any, place: Any, mask: Any, key: Any) -> Any:
    """The place of the first pair from `place` on that has this key, or none."""
    while out[place + uint64(1)] != 0 and out[place] != key:
        place = next_place(table, place, mask)
    return place


@helper
def next_place(table: Any, place: Any, mask: Any) -> Any:
    """The place of the pair after one in a table."""
    slot = (place - table) >> uint64(1)
    return table + (((slot + uint64(1)) & mask) << uint64(1))


@kernel(
    "words: T[], minus: u8, low: u8, validity: u1[], offset: u8, first: u8, codes: u8, out: u8[w]",
    sequential=True,
    T="u1 u2 u4 u8",
)
def number_small_values(start, stop, step, words, minus, low, validity, offset, first, codes, out):
    """Number the distinct integers of a small range, by a table of all of them.

    words: T[n]
    minus: the sign bit; 0 for unsigned integers
    low: the least word, with that bit flipped
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    first: the slot that slot 0 is of the whole array
    codes: for how many slots there is room, at least n
    out: uint64[HEAD + codes + the range's length]; see the module's text
    """
    table = uint64(HEAD) + codes
    for i in range(start, stop, step):
        shown = valid_mask(validity, offset, i)
        # Under a null, words may be less than the lowest.
        place = table + ((uint64(words[i]) ^ minus) & shown) - (low & shown)
        place = place & shown | uint64(NULLS + 1) & ~shown
        entry = out[place]
        if entry == 0:
            out[0] += uint64(1)
            entry = ((first + uint64(i)) << uint64(32)) | out[0]
            out[place] = entry
        out[uint64(HEAD) + uint64(i)] = (entry & LOW) - uint64(1)


@kernel(
    "words: T[], validity: u1[], offset: u8, first: u8, codes: u8, shift: u8, out: u8[w]",
    returns="u8",
    sequential=True,
    T="u1 u2 u4 u8",
)
def number_words(start, stop, step, words, validity, offset, first, codes, shift, out):
    """Number the distinct words; returns how many slots are done, fewer than there are if it is full.

    words: T[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    first: the slot that slot 0 is of the whole array
    codes: for how many slots there is room, at least n
    shift: 64 less the binary logarithm of the number of the table's slots
    out: uint64[HEAD + codes + 2 slots]; see the module's text
    """
    table = uint64(HEAD) + codes
    mask = ~uint64(0) >> shift
    for i in range(start, stop, step):
        shown = valid_mask(validity, offset, i)
        key = uint64(words[i]) & shown
        place = (table + (home(key, shift) << uint64(1))) & shown | uint64(NULLS) & ~shown
        place = seek(out, table, place, mask, key)
        entry = out[place + uint64(1)]
        if entry == 0:
            if out[0] > mask >> uint64(1):
                return uint64(i)
            entry = number_anew(out, place, key, first + uint64(i))
        out[uint64(HEAD) + uint64(i)] = (entry & LOW) - uint64(1)
    return uint64(stop)


@helper
def number_anew(out: Any, place: Any, key: Any, row: Any) -> Any:
    """The entry of a value that was not there, whose place is free."""
    out[0] += uint64(1)
    entry = (row << uint64(32)) | out[0]
    out[place] = key
    out[place + uint64(1)] = entry
    return entry


@helper
def are_same_bytes(left: Any, right: Any, length: Any) -> Any:
    """Whether `length` bytes (at least 8) at two addresses are the same."""
    last = length - uint64(8)
    different = word_at(left + last) ^ word_at(right + last)
    k = uint64(8)
    # Most often they are: there is nothing to stop for.
    while k < last:
        different |= word_at(left + k - uint64(8)) ^ word_at(right + k - uint64(8))
        different |= word_at(left + k) ^ word_at(right + k)
        k += uint64(16)
    if k < length:
        different |= word_at(left + k - uint64(8)) ^ word_at(right + k - uint64(8))
    return different == 0


@helper
def are_same_runs(like: Any, left: Any, right: Any, length: Any, room: Any, masks: Any) -> Any:
    """Whether `length` bytes at two addresses are the same; from either one `room` may be read."""
    if room < length + uint64(32):
        if length < 8:
            return word_of_few(like, left, length) == word_of_few(like, right, length)
        return are_same_bytes(left, right, length)
    different = uint64(0)
    rest = length
    while rest > uint64(32):
        different |= word_at(left) ^ word_at(right)
        different |= word_at(left + uint64(8)) ^ word_at(right + uint64(8))
        different |= word_at(left + uint64(16)) ^ word_at(right + uint64(16))
        different |= word_at(left + uint64(24)) ^ word_at(right + uint64(24))
        left += uint64(32)
        right += uint64(32)
        rest -= uint64(32)
    different |= (word_at(left) ^ word_at(right)) & masks[rest]
    for k in range(uint64(1), uint64(4)):
        word = word_at(left + (uint64(k) << uint64(3))) ^ word_at(right + (uint64(k) << uint64(3)))
        different |= word & masks[rest + uint64(k) * uint64(MASKS)]
    return different == 0


@helper
def are_same_strings(
    like: Any, offsets: Any, base: Any, size: Any, width: Any, masks: Any, i: Any, j: Any
) -> Any:
    """Whether slots `i` and `j` have the same bytes; without offsets, `width` of them each."""
    left, right, length = i * width, j * width, width
    if len(offsets) != 0:
        left, right = uint64(offsets[i]), uint64(offsets[j])
        length = uint64(offsets[i + uint64(1)]) - left
        if length != uint64(offsets[j + uint64(1)]) - right:
            return False
    return are_same_runs(like, base + left, base + right, length, size - max(left, right), masks)


@helper
def are_same_views(views: Any, addresses: Any, masks: Any, i: Any, j: Any) -> Any:
    """Whether views `i` and `j`, both valid, have the same bytes."""
    left, right = i << uint64(1), j << uint64(1)
    length = views[left] & LOW
    if length != views[right] & LOW:
        return False
    a, b = views[left + uint64(1)], views[right + uint64(1)]
    if length <= 12:
        heads = (views[left] ^ views[right]) & masks[length + uint64(4)]
        return heads | (a ^ b) & masks[length + uint64(4 + MASKS)] == 0
    return are_same_bytes(
        addresses[a & LOW] + (a >> uint64(32)),
        addresses[b & LOW] + (b >> uint64(32)),
        length,
    )


@kernel(
    "hashes: u8[], offsets: O[], base: u8, size: u8, width: u8, masks: u8[], validity: u1[], offset: u8, "
    "first: u8, codes: u8, shift: u8, out: u8[w]",
    returns="u8",
    sequential=True,
    O="i4 i8",
)
def number_strings(
    start,
    stop,
    step,
    hashes,
    offsets,
    base,
    size,
    width,
    masks,
    validity,
    offset,
    first,
    codes,
    shift,
    out,
):
    """Number the distinct runs of bytes, found by their hashes; returns as `number_words`.

    hashes: uint64[n]
    offsets: int32/int64[], the whole array's; empty for values of one width
    base: the address of the bytes
    size: how many bytes there are
    width: the bytes of a value, if all have the same
    masks: uint64[], see `colkern.kernels.hashing.run_masks`
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    first: the slot that slot 0 is of the whole array
    codes: for how many slots there is room, at least n
    shift: 64 less the binary logarithm of the number of the table's slots
    out: uint64[HEAD + codes + 2 slots]; see the module's text
    """
    table = uint64(HEAD) + codes
    mask = ~uint64(0) >> shift
    for i in range(start, stop, step):
        row = first + uint64(i)
        shown = valid_mask(validity, offset, i)
        key = hashes[i] & shown
        place = (table + (home(key, shift) << uint64(1))) & shown | uint64(NULLS) & ~shown
        place = seek(out, table, place, mask, key)
        entry = out[place + uint64(1)]
        # What a null is compared with is itself.
        while entry != 0 and not are_same_strings(
            validity,
            offsets,
            base,
            size,
            width,
            masks,
            row,
            (entry >> uint64(32)) & shown | row & ~shown,
        ):
            place = seek(out, table, next_place(table, place, mask), mask, key)
            entry = out[place + uint64(1)]
        if entry == 0:
            if out[0] > mask >> uint64(1):
                return uint64(i)
            entry = number_anew(out, place, key, row)
        out[uint64(HEAD) + uint64(i)] = (entry & LOW) - uint64(1)
    return uint64(stop)


@kernel(
    "hashes: u8[], views: u8[], addresses: u8[], masks: u8[], validity: u1[], offset: u8, first: u8, "
    "codes: u8, shift: u8, out: u8[w]",
    returns="u8",
    sequential=True,
)
def number_views(
    start,
    stop,
    step,
    hashes,
    views,
    addresses,
    masks,
    validity,
    offset,
    first,
    codes,
    shift,
    out,
):
    """Number the distinct views, found by the hashes of their bytes; returns as `number_words`.

    hashes: uint64[n]
    views: uint64[], the whole array's
    addresses: uint64[buffers], the address of each data buffer
    masks: uint64[], see `colkern.kernels.hashing.run_masks`
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    first: the slot that slot 0 is of the whole array
    codes: for how many slots there is room, at least n
    shift: 64 less the binary logarithm of the number of the table's slots
    out: uint64[HEAD + codes + 2 slots]; see the module's text
    """
    table = uint64(HEAD) + codes
    mask = ~uint64(0) >> shift
    for i in range(start, stop, step):
        row = first + uint64(i)
        shown = valid_mask(validity, offset, i)
        key = hashes[i] & shown
        place = (table + (home(key, shift) << uint64(1))) & shown | uint64(NULLS) & ~shown
        place = seek(out, table, place, mask, key)
        entry = out[place + uint64(1)]
        # A null's view may point anywhere.
        while entry != 0 and not (
            shown == 0 or are_same_views(views, addresses, masks, row, entry >> uint64(32))
        ):
            place = seek(out, table, next_place(table, place, mask), mask, key)
            entry = out[place + uint64(1)]
        if entry == 0:
            if out[0] > mask >> uint64(1):
                return uint64(i)
            entry = number_anew(out, place, key, row)
        out[uint64(HEAD) + uint64(i)] = (entry & LOW) - uint64(1)
    return uint64(stop)


@kernel("slots: u8[], table: u8, shift: u8, out: u8[w]", sequential=True)
def grow_table(start, stop, step, slots, table, shift, out):
    """Put the pairs of a table into a larger one; the range is over the slots of the old one.

    slots: uint64[2 n], the old table
    table: where the new one begins in `out`
    shift: 64 less the binary logarithm of the number of its slots
    out: uint64[table + 2 slots]; the table is empty
    """
    mask = ~uint64(0) >> shift
    for i in range(start, stop, step):
        key = slots[uint64(i) << uint64(1)]
        entry = slots[(uint64(i) << uint64(1)) + uint64(1)]
        if entry != 0:
            slot = home(key, shift)
            while out[table + (slot << uint64(1)) + uint64(1)] != 0:
                slot = (slot + uint64(1)) & mask
            out[table + (slot << uint64(1))] = key
            out[table + (slot << uint64(1)) + uint64(1)] = entry


@kernel("slots: u8[], width: u8, out: i8[w]")
def first_slots(start, stop, step, slots, width, out):
    """out[number of a value] = its first slot; the range is over the slots of a table.

    slots: uint64[n width], the table
    width: the words of a slot, of which the last is the entry
    out: int64[distinct values]
    """
    for i in range(start, stop, step):
        entry = slots[(uint64(i) + uint64(1)) * width - uint64(1)]
        if entry != 0:
            out[(entry & LOW) - uint64(1)] = entry >> uint64(32)


# Groups of equal keys, for devices that sort


@kernel("keys: u8[], positions: u8[], out: i8[w]")
def mark_groups(start, stop, step, keys, positions, out):
    """out[i] = 1 where a key differs from the one before, else 0.

    keys: uint64[]
    positions: uint64[n], of the keys in their order
    out: int64[n]
    """
    for i in range(start, stop, step):
        here = keys[positions[i]]
        begins = i == 0 or keys[positions[max(uint64(i), uint64(1)) - uint64(1)]] != here
        out[i] = uint64(begins)


@kernel("positions: u8[], groups: i8[], out: u8[w]")
def group_firsts(start, stop, step, positions, groups, out):
    """out[g] = the first position of group g.

    positions: uint64[n], by group, in order within each
    groups: int64[n + 1], how many groups have begun before each position
    out: uint64[groups]
    """
    for i in range(start, stop, step):
        if groups[i + uint64(1)] != groups[i]:
            out[uint64(groups[i])] = positions[i]


@kernel("order: u8[], out: u8[w]")
def rank(start, stop, step, order, out):
    """out[order[i]] = i.

    order: uint64[n], the numbers below n in any order
    out: uint64[n]
    """
    for i in range(start, stop, step):
        out[order[i]] = i


@kernel("positions: u8[], groups: i8[], ranks: u8[], out: u8[w]")
def number_groups(start, stop, step, positions, groups, ranks, out):
    """out[positions[i]] = the rank of its group.

    positions: uint64[n], by group
    groups: int64[n + 1], how many groups have begun before each position
    ranks: uint64[groups]
    out: uint64[]
    """
    for i in range(start, stop, step):
        out[positions[i]] = ranks[uint64(groups[i + uint64(1)]) - uint64(1)]


@kernel(
    "positions: u8[], groups: i8[], offsets: O[], base: u8, size: u8, width: u8, masks: u8[], like: u1[]",
    returns="u8",
    combine="add",
    O="i4 i8",
)
def count_unlike_strings(
    start, stop, step, positions, groups, offsets, base, size, width, masks, like
):
    """How many slots have other bytes than the one before them in their group; range over n - 1.

    positions: uint64[n], by group
    groups: int64[n + 1], how many groups have begun before each position
    offsets: int32/int64[], or empty for values of one width
    base: the address of the bytes
    size: how many bytes there are
    width: the bytes of a value, if all have the same
    masks: uint64[], see `colkern.kernels.hashing.run_masks`
    like: uint8[], of which nothing is read
    """
    total = uint64(0)
    for i in range(start, stop, step):
        following = uint64(i) + uint64(1)
        if groups[following + uint64(1)] == groups[following]:
            here, there = positions[i], positions[following]
            total += uint64(
                not are_same_strings(like, offsets, base, size, width, masks, here, there)
            )
    return total


@kernel(
    "positions: u8[], groups: i8[], views: u8[], addresses: u8[], masks: u8[]",
    returns="u8",
    combine="add",
)
def count_unlike_views(start, stop, step, positions, groups, views, addresses, masks):
    """How many slots have other bytes than the one before them in their group; range over n - 1.

    positions: uint64[n], by group
    groups: int64[n + 1], how many groups have begun before each position
    views: uint64[2 slots]
    addresses: uint64[buffers], the address of each data buffer
    masks: uint64[], see `colkern.kernels.hashing.run_masks`
    """
    total = uint64(0)
    for i in range(start, stop, step):
        following = uint64(i) + uint64(1)
        if groups[following + uint64(1)] == groups[following]:
            here, there = positions[i], positions[following]
            total += uint64(not are_same_views(views, addresses, masks, here, there))
    return total
