"""Dictionary-encoded values: decoding them, finding the distinct ones, exchanging the dictionary.

Indices are taken as unsigned words. Under a null may stand anything: `limit`, the length of the
dictionary (at least 1), bounds what is followed.

*Tables.* Distinct values are numbered in the order of their first slots by kernels that go through a
range one by one, with all that they know in their output:

    out[0]                  how many distinct values there are by now
    out[1]                  the place in `out` for the first slot of the next one
    out[2], out[3]          a pair for nulls, of key 0: with an entry of number 1 if they are no value
    out[4 : 4 + codes]      each slot's entry less 1: the number of its value in the lower 32 bits
    out[4 + codes :]        room for as many first slots of values, in the order of these
    out[4 + 2 * codes :]    the table

An entry is a first slot, above its number + 1 in the lower 32 bits; 0 for none. A table is either one
entry for each possible value, or pairs of a key (or hash) and its entry, a power of two of them and at
least twice as many as there are values, or four times, as `room` says. The `spread` of a table of 2^n of
them has 64 - n in the lower 6 bits; with its lowest bit set, it is the factor of hashes. The other bits are
random, as whoever knows them can choose keys that all have one home. A kernel stops at the value that it
has no place for. A null takes no branch, as there may be many: it is a value with a place of its own.

Columnar format 1.5: "Dictionary-encoded Layout".
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from numpy import int64, uint8, uint32, uint64

from colkern.kernels.arguments import Bitmap, I, In, Index, J, O, Out, T, Truth
from colkern.kernels.bitmaps import bit_at, is_valid, valid_mask
from colkern.kernels.hashing import BLOCK as RUN_BLOCK
from colkern.kernels.hashing import MASKS, longest_of_block, word_of_few
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import add, copy_bytes_loosely, multiply, prefetch, word_at
from colkern.kernels.selection import follow
from colkern.layouts import VIEW_INLINE_BYTES

BLOCK = 256
"""The slots whose lengths are added up together."""

HEAD = 4
"""The words of a table's output before the numbers of slots."""

FIRSTS = 3
"""The place of the first slots in the output of `first_words`."""

NULLS = 2
"""The place of the pair for nulls among those words."""

NO_VALUE = (1 << 64) - (1 << 32) + 1
"""The entry of nulls that are no value: they get the number 0, and none has so high a first slot."""

LOW = uint64(0xFFFF_FFFF)

SHIFT = uint64(63)
"""The bits of a `spread` by which it shifts."""

SMALL_BITS = 14
"""Tables of up to 2^14 slots are small: of 256 KiB."""

AHEAD = 16
"""The distance, in places, at which the table is asked for ahead."""


class Indices(NamedTuple, Generic[I]):
    """Indices of slots, into a dictionary of `limit` values."""

    items: In[I]
    limit: uint64


@helper
def look_up(
    indices: Indices[I],
    values: In[T],
    base: uint64,
    start: Index,
    stop: uint64,
    step: uint64,
    out: Out[J],
) -> None:
    """out[i] = values[base + indices[i]] for a range of slots; the last value stands for larger indices."""
    last = indices.limit - uint64(1)
    i, apart = uint64(start), uint64(step)
    while i < stop:
        i = follow(indices.items, indices.limit, values, base, i, stop, apart, out)
        end = min(i + uint64(8) * apart, uint64(stop))
        while i < end:
            out[i] = values[base + min(uint64(indices.items[i]), last)]
            i += apart


@kernel()
def decode_items(start, stop, step, indices: Indices[I], values: In[T], width, out: Out[T]):
    """Value i of `out` = value indices[i]; a value is `width` items."""
    last = indices.limit - uint64(1)
    if width == 1:
        look_up(indices, values, uint64(0), start, stop, step, out)
    else:
        for i in range(start, stop, step):
            source = min(uint64(indices.items[i]), last) * width
            place = uint64(i) * width
            for item in range(uint64(0), width):
                out[place + uint64(item)] = values[source + uint64(item)]


@kernel()
def decode_bits(
    start, stop, step, indices: Indices[I], bits: Bitmap, validity: Bitmap, out: Out[uint8]
):
    """Bit i of `out` = bit first + indices[i] where slot i is valid; the range is over bytes of `out`."""
    last = indices.limit - uint64(1)
    count = uint64(len(indices.items))
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), count)):
            bit = bit_at(bits, min(uint64(indices.items[i]), last))
            packed |= uint64(bit & is_valid(validity, i)) << (uint64(i) - begin)
        out[b] = uint8(packed)


@helper
def decoded_length(
    indices: In[I], i: uint64, last: uint64, offsets: In[O], validity: Bitmap
) -> uint64:
    """The length of the string that slot `i` shows; 0 for a null."""
    index = min(uint64(indices[i]), last)
    length = uint64(offsets[index + uint64(1)]) - uint64(offsets[index])
    return length if is_valid(validity, i) else uint64(0)


@kernel()
def decoded_block_bytes(
    start, stop, step, indices: Indices[I], offsets: In[O], validity: Bitmap, out: Out[int64]
):
    """out[b] = the bytes of block b of strings; the range is over blocks of `BLOCK` slots."""
    last = indices.limit - uint64(1)
    count = uint64(len(indices.items))
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(BLOCK)
        total = uint64(0)
        for i in range(begin, min(begin + uint64(BLOCK), count)):
            total += decoded_length(indices.items, uint64(i), last, offsets, validity)
        out[b] = total


@kernel()
def decoded_offsets(
    start,
    stop,
    step,
    indices: Indices[I],
    offsets: In[O],
    validity: Bitmap,
    starts: In[int64],
    out: Out[O],
):
    """The offsets of the strings, of one at least; the range is over blocks of `BLOCK` slots.

    `starts` says where the bytes of each block begin.
    """
    last = indices.limit - uint64(1)
    count = uint64(len(indices.items))
    for b in range(start, stop, step):
        begin = uint64(b) * uint64(BLOCK)
        end = min(begin + uint64(BLOCK), count)
        place = uint64(starts[b])
        for i in range(begin, end):
            out[i] = place
            place += decoded_length(indices.items, uint64(i), last, offsets, validity)
        if end == count:
            out[count] = place


@kernel(grouped=True)
def decode_strings(
    start,
    stop,
    step,
    indices: Indices[I],
    offsets: In[O],
    base,
    size,
    starts: In[O],
    out: Out[uint8],
):
    """The bytes of `out` from starts[i] on = those of string indices[i], as many as there is room for."""
    last = indices.limit - uint64(1)
    end = uint64(starts[stop])
    for i in range(start, stop, step):
        place = uint64(starts[i])
        count = uint64(starts[i + uint64(1)]) - place
        source = uint64(offsets[min(uint64(indices.items[i]), last)])
        copy_bytes_loosely(out, place, base + source, count, min(end - place, size - source))


@kernel()
def transpose_indices(start, stop, step, indices: Indices[I], moved: In[uint32], base, out: Out[J]):
    """out[i] = where the value of indices[i] is in another dictionary: moved[base + index]."""
    look_up(indices, moved, base, start, stop, step, out)


# Tables


@helper
def home(key: uint64, spread: uint64) -> uint64:
    """The slot where the search for a key begins, in a table that `spread` has made."""
    return multiply(key ^ (key >> uint64(32)), spread | uint64(1)) >> (spread & SHIFT)


@helper
def mask_of(spread: uint64) -> uint64:
    """The number of slots of a table, less 1."""
    return ~uint64(0) >> (spread & SHIFT)


@helper
def seek(out: In[uint64], table: uint64, place: uint64, mask: uint64, key: uint64) -> uint64:
    """The place of the first pair from `place` on that has this key, or none."""
    while out[place + uint64(1)] != 0 and out[place] != key:
        place = next_place(table, place, mask)
    return place


@helper
def next_place(table: uint64, place: uint64, mask: uint64) -> uint64:
    """The place of the pair after one in a table."""
    slot = (place - table) >> uint64(1)
    return table + (((slot + uint64(1)) & mask) << uint64(1))


class Numbering(NamedTuple):
    """Where a table is in a kernel's output, and which part of the array is numbered.

    The range begins with slot `first` of the whole array. There is room for the numbers of `codes` slots,
    which are at least those of the range, and for as many first slots; the table is that of
    `spread`, from address `address` on.
    """

    first: uint64
    codes: uint64
    spread: uint64
    address: uint64


@helper
def expect(
    keys: In[T], i: Index, stop: Index, step: uint64, spread: uint64, address: uint64
) -> None:
    """Ask memory for the slot of a key some places further: tables are larger than caches."""
    ahead = uint64(i) + uint64(AHEAD) * step
    if ahead < stop:
        prefetch(address + (home(uint64(keys[ahead]), spread) << uint64(4)))


@helper
def room(mask: uint64) -> uint64:
    """The values that a table of `mask` + 1 slots takes, less 1: a quarter, or half of a larger one.

    Where a search goes on is guessed wrong, and a small table is in a cache, emptier or not.
    """
    return mask >> uint64(2) if mask >> uint64(SMALL_BITS) == 0 else mask >> uint64(1)


@helper
def number_anew(out: Out[uint64], row: uint64) -> uint64:
    """The entry of a value that was not there, whose first slot is `row`."""
    out[out[1]] = row
    out[1] += uint64(1)
    out[0] += uint64(1)
    return (row << uint64(32)) | out[0]


@helper
def small_place(word: uint64, minus: uint64, low: uint64, shown: uint64) -> uint64:
    """The place of an integer in the table of a small range: 0 for a null, 1 for the least integer."""
    # Under a null, words may be less than the lowest.
    return (((word ^ minus) - low) + uint64(1)) & shown


@kernel(sequential=True)
def list_small_values(
    start, stop, step, words: In[T], minus, low, validity: Bitmap, most, out: Out[uint64]
):
    """List the distinct integers of a small range by their first slots, until there are `most`.

    `minus` is the sign bit, 0 for unsigned integers; `low` is the least word, with that bit flipped.

    out: [how many there are, the first slots of up to `most` values, the table]: the number + 1 of null,
        then of each integer; 0 for none
    """
    table = most + uint64(1)
    for i in range(start, stop, step):
        place = table + small_place(uint64(words[i]), minus, low, valid_mask(validity, i))
        if out[place] == 0:
            number = out[0] + uint64(1)
            out[0] = number
            out[number] = uint64(i)
            out[place] = number
            if number == most:
                break


@kernel()
def numbers_of_small_values(
    start, stop, step, words: In[T], minus, low, validity: Bitmap, table: In[uint32], out: Out[J]
):
    """out[i] = the number of the integer in slot i, by the table of `list_small_values` less 1."""
    for i in range(start, stop, step):
        place = small_place(uint64(words[i]), minus, low, valid_mask(validity, i))
        out[i] = table[place]


@kernel(sequential=True)
def number_words(
    start, stop, step, words: In[T], validity: Bitmap, numbering: Numbering, out: Out[uint64]
) -> uint64:
    """Number the distinct words; returns how many slots are done, fewer than there are if it is full."""
    table = uint64(HEAD) + (numbering.codes << uint64(1))
    mask = mask_of(numbering.spread)
    for i in range(start, stop, step):
        expect(words, i, stop, step, numbering.spread, numbering.address)
        shown = valid_mask(validity, i)
        key = uint64(words[i]) & shown
        place = (table + (home(key, numbering.spread) << uint64(1))) & shown | uint64(
            NULLS
        ) & ~shown
        place = seek(out, table, place, mask, key)
        entry = out[place + uint64(1)]
        if entry == 0:
            if out[0] > room(mask):
                return uint64(i)
            entry = number_anew(out, numbering.first + uint64(i))
            out[place] = key
            out[place + uint64(1)] = entry
        out[uint64(HEAD) + uint64(i)] = add(entry, ~uint64(0))
    return uint64(stop)


@kernel()
def find_words(
    start,
    stop,
    step,
    words: In[T],
    validity: Bitmap,
    numbered: In[uint64],
    table,
    spread,
    address,
    out: Out[uint64],
):
    """out[i] = the entry less 1 of the word in slot i, 2^64 - 1 if there is none.

    `numbered` is the output of `number_words`, with its table at `table`, which is at address `address`.
    """
    mask = mask_of(spread)
    for i in range(start, stop, step):
        expect(words, i, stop, step, spread, address)
        shown = valid_mask(validity, i)
        key = uint64(words[i]) & shown
        place = (table + (home(key, spread) << uint64(1))) & shown | uint64(NULLS) & ~shown
        place = seek(numbered, table, place, mask, key)
        out[i] = add(numbered[place + uint64(1)], ~uint64(0))


@helper
def are_same_bytes(left: uint64, right: uint64, length: uint64) -> Truth:
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
def unlike_words(
    left: uint64, right: uint64, length: uint64, masks: In[uint64], words: uint64
) -> uint64:
    """0 if `length` bytes at two addresses are the same; from either one `words` may be read."""
    different = uint64(0)
    for k in range(uint64(0), words):
        ahead = uint64(k) << uint64(3)
        word = word_at(left + ahead) ^ word_at(right + ahead)
        different |= word & masks[length + uint64(k) * uint64(MASKS)]
    return different


@helper
def are_same_runs(
    like: In[uint8], left: uint64, right: uint64, length: uint64, room: uint64, masks: In[uint64]
) -> Truth:
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
    return different | unlike_words(left, right, rest, masks, uint64(4)) == 0


class ByteRuns(NamedTuple, Generic[O]):
    """The whole array's values as runs of bytes.

    They lie between `offsets`, or have `width` bytes each if there are none; `base` is the address of the
    `size` bytes, `masks` are the `run_masks`.
    """

    offsets: In[O]
    base: uint64
    size: uint64
    width: uint64
    masks: In[uint64]


class ViewRuns(NamedTuple):
    """The whole array's views, the addresses of the data buffers, and the `run_masks`."""

    views: In[uint64]
    addresses: In[uint64]
    masks: In[uint64]


@helper
def are_same_strings(like: In[uint8], runs: ByteRuns[O], i: uint64, j: uint64) -> Truth:
    """Whether slots `i` and `j` have the same bytes; without offsets, `width` of them each."""
    left, right, length = i * runs.width, j * runs.width, runs.width
    if len(runs.offsets) != 0:
        left, right = uint64(runs.offsets[i]), uint64(runs.offsets[j])
        length = uint64(runs.offsets[i + uint64(1)]) - left
        if length != uint64(runs.offsets[j + uint64(1)]) - right:
            return False
    return are_same_runs(
        like, runs.base + left, runs.base + right, length, runs.size - max(left, right), runs.masks
    )


@helper
def are_same_views(runs: ViewRuns, i: uint64, j: uint64) -> Truth:
    """Whether views `i` and `j`, both valid, have the same bytes."""
    left, right = i << uint64(1), j << uint64(1)
    length = runs.views[left] & LOW
    if length != runs.views[right] & LOW:
        return False
    a, b = runs.views[left + uint64(1)], runs.views[right + uint64(1)]
    if length <= VIEW_INLINE_BYTES:
        heads = (runs.views[left] ^ runs.views[right]) & runs.masks[length + uint64(4)]
        return heads | (a ^ b) & runs.masks[length + uint64(4 + MASKS)] == 0
    return are_same_bytes(
        runs.addresses[a & LOW] + (a >> uint64(32)),
        runs.addresses[b & LOW] + (b >> uint64(32)),
        length,
    )


@helper
def unlike_runs(runs: ByteRuns[O], i: uint64, j: uint64, words: uint64) -> uint64:
    """1 if slots i and j have other bytes, else 0; both have up to 8 `words`, which may be read."""
    left, right = uint64(runs.offsets[i]), uint64(runs.offsets[j])
    length = uint64(runs.offsets[i + uint64(1)]) - left
    different = length ^ (uint64(runs.offsets[j + uint64(1)]) - right)
    different |= unlike_words(runs.base + left, runs.base + right, length, runs.masks, words)
    return uint64(different != 0)


@helper
def first_like(numbered: In[uint64], i: Index, validity: Bitmap, own: uint64) -> uint64:
    """The first slot that has the number of slot i; `own`, the slot itself, if that is null or has none."""
    entry = numbered[i]
    shown = valid_mask(validity, i) if entry != ~uint64(0) else uint64(0)
    return (entry >> uint64(32)) & shown | own & ~shown


@kernel(combine="add")
def count_unlike_strings(
    start, stop, step, numbered: In[uint64], runs: ByteRuns[O], validity: Bitmap, first
) -> uint64:
    """The slots with other bytes than the first slot of their number, which is above it in 64 bits.

    The range begins with slot `first` of the whole array.
    """
    total = uint64(0)
    i = uint64(start)
    while i < stop:
        own = first + i
        longest = uint64(64)
        # As in `hash_strings`; the bytes of first slots come before.
        block = step == 1 and i + uint64(RUN_BLOCK) <= stop and len(runs.offsets) != 0
        if block and uint64(runs.offsets[own + uint64(RUN_BLOCK)]) + uint64(32) <= runs.size:
            longest = longest_of_block(runs.offsets, own)
        last = i + uint64(RUN_BLOCK) if block else i + uint64(1)
        if longest <= 16:
            for k in range(i, last):
                own = first + uint64(k)
                other = first_like(numbered, k, validity, own)
                total += unlike_runs(runs, own, other, uint64(2))
        elif longest <= 32:
            for k in range(i, last):
                own = first + uint64(k)
                other = first_like(numbered, k, validity, own)
                total += unlike_runs(runs, own, other, uint64(4))
        else:
            for k in range(i, last):
                own = first + uint64(k)
                other = first_like(numbered, k, validity, own)
                total += uint64(not are_same_strings(validity.bits, runs, own, other))
        i = last if block else i + uint64(step)
    return total


@kernel(combine="add")
def count_unlike_views(
    start, stop, step, numbered: In[uint64], runs: ViewRuns, validity: Bitmap, first
) -> uint64:
    """As `count_unlike_strings`."""
    total = uint64(0)
    for i in range(start, stop, step):
        own = first + uint64(i)
        other = first_like(numbered, i, validity, own)
        # A null's view may point anywhere.
        total += uint64(own != other and not are_same_views(runs, own, other))
    return total


@kernel(sequential=True)
def grow_table(start, stop, step, slots: In[uint64], table, spread, address, out: Out[uint64]):
    """Put the pairs of a table into a larger, empty one; the range is over the slots of the old one.

    The new one, of another `spread`, begins at `table` in `out`, at `address`.
    """
    mask = mask_of(spread)
    for i in range(start, stop, step):
        ahead = min(uint64(i) + uint64(AHEAD), uint64(stop) - uint64(1)) << uint64(1)
        prefetch(address + (home(slots[ahead], spread) << uint64(4)))
        key = slots[uint64(i) << uint64(1)]
        entry = slots[(uint64(i) << uint64(1)) + uint64(1)]
        if entry != 0:
            slot = home(key, spread)
            while out[table + (slot << uint64(1)) + uint64(1)] != 0:
                slot = (slot + uint64(1)) & mask
            out[table + (slot << uint64(1))] = key
            out[table + (slot << uint64(1)) + uint64(1)] = entry


@kernel()
def place_numbers(
    start, stop, step, positions: In[uint64], numbers: In[uint32], moved: In[T], out: Out[T]
):
    """out[positions[i]] = moved[numbers[i]]; the positions are different."""
    for i in range(start, stop, step):
        out[positions[i]] = moved[uint64(numbers[i])]


# First slots alone


@kernel(sequential=True)
def first_words(
    start,
    stop,
    step,
    words: In[T],
    validity: Bitmap,
    first,
    table,
    spread,
    address,
    out: Out[uint64],
) -> uint64:
    """List the first slots of distinct words; returns how many slots are done, as `number_words`.

    In `out` are their number, 1 until a null has come, 1 until a 0 has come, the first slots, and from
    `table` on, at `address`, the keys of a table, 0 for none. The range begins with slot `first` of the
    whole array.
    """
    mask = mask_of(spread)
    # Asking for a key costs as much as finding it in a cache.
    asked = uint64(stop) if mask >> uint64(SMALL_BITS + 2) != 0 else uint64(0)
    for i in range(start, stop, step):
        ahead = uint64(i) + uint64(AHEAD) * step
        if ahead < asked:
            prefetch(address + (home(uint64(words[ahead]), spread) << uint64(3)))
        shown = valid_mask(validity, i)
        key = uint64(words[i]) & shown
        place = table + home(key, spread) if key != 0 else uint64(1) + (shown & uint64(1))
        while out[place] != key:
            if out[place] != 0 and place >= uint64(FIRSTS):
                place = table + ((place - table + uint64(1)) & mask)
            elif out[0] > mask >> uint64(2):
                return uint64(i)
            else:
                out[uint64(FIRSTS) + out[0]] = first + uint64(i)
                out[0] += uint64(1)
                out[place] = key
    return uint64(stop)


@kernel(sequential=True)
def grow_keys(start, stop, step, keys: In[uint64], table, spread, out: Out[uint64]):
    """Put the keys of a table of `first_words` into a larger, empty one, from `table` in `out` on."""
    mask = mask_of(spread)
    for i in range(start, stop, step):
        if keys[i] != 0:
            slot = home(keys[i], spread)
            while out[table + slot] != 0:
                slot = (slot + uint64(1)) & mask
            out[table + slot] = keys[i]


# Groups of equal keys, for devices that sort


@kernel()
def mark_groups(start, stop, step, keys: In[uint64], positions: In[uint64], out: Out[int64]):
    """out[i] = 1 where a key differs from the one before, else 0; `positions` has the keys in order."""
    for i in range(start, stop, step):
        here = keys[positions[i]]
        begins = i == 0 or keys[positions[max(uint64(i), uint64(1)) - uint64(1)]] != here
        out[i] = uint64(begins)


@kernel()
def group_firsts(start, stop, step, positions: In[uint64], groups: In[int64], out: Out[uint64]):
    """out[g] = the first position of group g; groups[i] is how many groups begin before position i."""
    for i in range(start, stop, step):
        if groups[i + uint64(1)] != groups[i]:
            out[uint64(groups[i])] = positions[i]


@kernel()
def rank(start, stop, step, order: In[uint64], firsts: In[uint64], out: Out[uint64]):
    """out[order[i]] = i, and firsts[order[i]] in the upper 32 bits; `order` has the numbers below n."""
    for i in range(start, stop, step):
        group = order[i]
        out[group] = (firsts[group] << uint64(32)) | uint64(i)


@kernel()
def number_groups(
    start, stop, step, positions: In[uint64], groups: In[int64], ranks: In[uint64], out: Out[uint64]
):
    """out[positions[i]] = the rank of its group; `groups` is as in `group_firsts`."""
    for i in range(start, stop, step):
        out[positions[i]] = ranks[uint64(groups[i + uint64(1)]) - uint64(1)]
