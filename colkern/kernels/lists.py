"""Lists: which elements of the child belong to each slot, and which list has each element.

Lists may be empty, and one may have most of the elements. Bodies that write something for each element
therefore range over the elements: they search for the list of their first one, and go on from there.

`sizes` are those of list views; zero items of them stand for lists that end where the next one begins.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint64

from colkern.kernels.bitmaps import get_bit, is_valid
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import (
    add,
    copy_eight,
    fill_eight,
    load_word,
    popcount,
    trailing_zeros,
)

BLOCK_BITS = 6
"""Lists are counted by blocks of so many: as many as a word of a bitmap has bits."""

FEW = 8
"""In a block with no more nulls than these, the lists between them are seen to together."""

LONG = 64
"""A list with more items than this has a loop of its own; see `copy_lists`."""


@helper
def list_length(offsets: Any, sizes: Any, i: Any) -> Any:
    """The length of list `i`, an int64."""
    if len(sizes) == 0:
        return int64(offsets[uint64(i) + uint64(1)]) - int64(offsets[uint64(i)])
    return int64(sizes[uint64(i)])


@helper
def some_bits(bitmap: Any, position: Any, count: Any) -> Any:
    """The `count` (0 to 64) bits from `position` on, lowest first, as a uint64; zeros above them."""
    byte = position >> uint64(3)
    shift = position & uint64(7)
    found = uint64(0)
    if byte + uint64(9) <= uint64(len(bitmap)):
        found = load_word(bitmap, byte, uint64(0)) >> shift
        if shift > 0:
            found |= uint64(bitmap[byte + uint64(8)]) << (uint64(64) - shift)
    else:
        # A word would reach past the end.
        for k in range(byte, min(byte + uint64(9), uint64(len(bitmap)))):
            place = (uint64(k) - byte) << uint64(3)
            if place < shift:
                found |= uint64(bitmap[k]) >> shift
            elif place - shift < uint64(64):
                found |= uint64(bitmap[k]) << (place - shift)
    return found & lowest_bits(count)


@helper
def lowest_bits(count: Any) -> Any:
    """A uint64 whose lowest `count` (0 to 64) bits are set."""
    return ~uint64(0) if count >= uint64(64) else (uint64(1) << count) - uint64(1)


@helper
def valid_bits(validity: Any, position: Any, count: Any) -> Any:
    """As `some_bits`, of a bitmap that may be absent: then all are set."""
    if len(validity) == 0:
        return lowest_bits(count)
    return some_bits(validity, position, count)


@helper
def shown_length(
    offsets: Any, sizes: Any, first: Any, valid: Any, j: Any, null: Any, empty: Any
) -> Any:
    """What counts for the length of list `first + j`, an int64; bit `j` of `valid` is its own."""
    elements = list_length(offsets, sizes, first + j)
    # Without branches, of which half would be guessed wrong where nulls are many.
    elements |= empty & -int64(elements == 0)
    shown = -int64((valid >> j) & uint64(1))
    return (elements & shown) | (null & ~shown)


@helper
def list_of(starts: Any, width: Any, first: Any, k: Any) -> Any:
    """The list, from `first` on, that item `k` is in, where an element is `width` items.

    It is looked for from near to far: within a tile of a GPU it is close by.

    starts: int32/int64[lists + 1], where the elements of each begin, counted from those of list 0
    """
    base = uint64(starts[uint64(0)])
    low = first
    jump = uint64(1)
    end = uint64(len(starts))
    while low + jump < end and (uint64(starts[low + jump]) - base) * width <= k:
        low += jump
        jump <<= uint64(1)
    high = min(low + jump, end)
    while high - low > uint64(1):
        middle = (low + high) >> uint64(1)
        if (uint64(starts[middle]) - base) * width <= k:
            low = middle
        else:
            high = middle
    return low


@kernel("offsets: O[], sizes: O[], validity: u1[], offset: u8, length: i8", returns="u8", O="i4 i8")
def first_list_view_out_of_bounds(start, stop, step, offsets, sizes, validity, offset, length):
    """The first valid slot of the range that reaches outside the child; the largest uint64 if none.

    offsets: int32/int64[n]
    sizes: int32/int64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the length of the child
    """
    for i in range(start, stop, step):
        begin = int64(offsets[i])
        size = int64(sizes[i])
        outside = begin < 0 or size < 0 or begin > length - size
        if outside and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("offsets: O[], out: O[w]", O="i4 i8")
def list_sizes(start, stop, step, offsets, out):
    """out[i] = the length of list i.

    offsets: int32/int64[n + 1]
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        out[i] = offsets[uint64(i) + uint64(1)] - offsets[uint64(i)]


@kernel("offsets: O[], sizes: O[], validity: u1[], offset: u8, out: P[w]", O="i4 i8", P="i4 i8")
def list_lengths(start, stop, step, offsets, sizes, validity, offset, out):
    """out[i] = the length of list i, 0 if it is null.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        length = list_length(offsets, sizes, i)
        out[i] = length if is_valid(validity, offset, i) else int64(0)


@kernel("offsets: O[], sizes: O[], validity: u1[], offset: u8, out: P[w]", O="i4 i8", P="i4 i8")
def list_begins(start, stop, step, offsets, sizes, validity, offset, out):
    """out[i] = where list i begins in the child; 0 if it is null or empty, as any element will do.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        some = list_length(offsets, sizes, i) > 0 and is_valid(validity, offset, i)
        out[i] = int64(offsets[i]) if some else int64(0)


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, length: u8, null: i8, empty: i8, "
    "out: i8[w]",
    O="i4 i8",
)
def count_elements(start, stop, step, offsets, sizes, validity, offset, length, null, empty, out):
    """out[b] = how many elements the lists of block b have; the range is over blocks of lists.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the number of lists
    null: stands for the length of a null list
    empty: stands for the length of an empty list
    out: int64[blocks]
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(BLOCK_BITS)
        count = min(length - first, uint64(1 << BLOCK_BITS))
        valid = valid_bits(validity, offset + first, count)
        holes = valid ^ lowest_bits(count)
        total = int64(0)
        if len(sizes) == 0 and empty == 0 and popcount(holes) <= FEW:
            total = int64(offsets[first + count]) - int64(offsets[first])
            while holes != 0:
                i = first + uint64(trailing_zeros(holes))
                total += null - list_length(offsets, sizes, i)
                holes &= holes - uint64(1)
        else:
            for j in range(uint64(0), count):
                total += shown_length(offsets, sizes, first, valid, uint64(j), null, empty)
        out[b] = total


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, length: u8, null: i8, empty: i8, "
    "blocks: i8[], out: P[w]",
    O="i4 i8",
    P="i4 i8",
)
def element_starts(
    start, stop, step, offsets, sizes, validity, offset, length, null, empty, blocks, out
):
    """out[i] = how many elements the lists before list i have; the range is over blocks of lists.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the number of lists
    null: stands for the length of a null list
    empty: stands for the length of an empty list
    blocks: int64[blocks + 1], how many elements the lists before each block have
    out: int32/int64[n + 1]; whoever has the last block also writes out[n]
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(BLOCK_BITS)
        count = min(length - first, uint64(1 << BLOCK_BITS))
        valid = valid_bits(validity, offset + first, count)
        place = int64(blocks[uint64(b)])
        holes = valid ^ lowest_bits(count)
        if len(sizes) == 0 and empty == 0 and popcount(holes) <= FEW:
            away = int64(offsets[first]) - place
            i = first
            while i < first + count:
                hole = first + (uint64(trailing_zeros(holes)) if holes != 0 else count)
                for k in range(i, min(hole + uint64(1), first + count)):
                    out[k] = int64(offsets[k]) - away
                if holes != 0:
                    away += list_length(offsets, sizes, hole) - null
                    holes &= holes - uint64(1)
                i = hole + uint64(1)
        else:
            for j in range(uint64(0), count):
                out[first + uint64(j)] = place
                place += shown_length(offsets, sizes, first, valid, uint64(j), null, empty)
        if first + count == length:
            out[length] = blocks[uint64(b) + uint64(1)]


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, length: u8, size: i8",
    returns="u8",
    O="i4 i8",
)
def first_list_of_another_length(start, stop, step, offsets, sizes, validity, offset, length, size):
    """The first valid list that has not `size` elements; the largest uint64 if none.

    The range is over blocks of lists.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the number of lists
    size: how many elements a list is to have
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(BLOCK_BITS)
        count = min(length - first, uint64(1 << BLOCK_BITS))
        valid = valid_bits(validity, offset + first, count)
        # Whether there is one, without a branch for each; only then which.
        found = int64(0)
        if valid == lowest_bits(count):
            for i in range(first, first + count):
                found |= list_length(offsets, sizes, i) ^ size
        else:
            for j in range(uint64(0), count):
                away = list_length(offsets, sizes, first + uint64(j)) ^ size
                found |= away if (valid >> uint64(j)) & uint64(1) != 0 else int64(0)
        if found != 0:
            for j in range(uint64(0), count):
                away = list_length(offsets, sizes, first + uint64(j)) ^ size
                if away != 0 and (valid >> uint64(j)) & uint64(1) != 0:
                    return first + uint64(j)
    return ~uint64(0)


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, base: i8, starts: P[]",
    returns="u8",
    O="i4 i8",
    P="i4 i8",
)
def first_list_out_of_row(start, stop, step, offsets, sizes, validity, offset, base, starts):
    """The first list of the range that begins elsewhere than those before it end.

    The largest uint64 if none does. A list that has no elements, or is null, may begin anywhere.

    offsets: int32/int64[n]
    sizes: int32/int64[n]
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    base: where the row begins in the child
    starts: int32/int64[n + 1], the running sum of the lengths of the valid lists
    """
    for i in range(start, stop, step):
        away = int64(offsets[i]) - int64(starts[i]) != base
        if away and list_length(offsets, sizes, i) > 0 and is_valid(validity, offset, i):
            return uint64(i)
    return ~uint64(0)


@kernel("offsets: O[], sizes: O[], base: i8, out: O[w]", returns="u8", combine="max", O="i4 i8")
def list_views_in_row(start, stop, step, offsets, sizes, base, out):
    """out[i] = where list i begins behind `base`; 0 if each ends where the next one begins, else 1.

    offsets: int32/int64[n]
    sizes: int32/int64[n]
    base: where the first list begins in the child
    out: int32/int64[n + 1]; whoever has the last list also writes out[n]
    """
    last = uint64(max(len(offsets), 1)) - uint64(1)
    differ = int64(0)
    for i in range(start, min(uint64(stop), last), step):
        begin = int64(offsets[i])
        differ |= begin + int64(sizes[i]) - int64(offsets[uint64(i) + uint64(1)])
        out[i] = begin - base
    if start <= last and last < stop and (last - uint64(start)) % uint64(step) == 0:
        begin = int64(offsets[last]) - base
        out[last] = begin
        out[last + uint64(1)] = begin + int64(sizes[last])
    return uint64(differ != 0)


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, index: i8, out: i8[w]",
    returns="u8",
    O="i4 i8",
)
def place_in_lists(start, stop, step, offsets, sizes, validity, offset, index, out):
    """out[i] = where element `index` of list i is in the child, 0 if the list is null or too short.

    Returns the first valid list of the range that is too short; the largest uint64 if none is.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    index: at least 0
    out: int64[n]
    """
    short = ~uint64(0)
    for i in range(start, stop, step):
        valid = is_valid(validity, offset, i)
        there = valid and index < list_length(offsets, sizes, i)
        out[i] = int64(offsets[i]) + index if there else int64(0)
        if valid and not there:
            short = min(short, uint64(i))
    return short


@kernel("starts: O[], out: i8[w]", O="i4 i8")
def list_of_each(start, stop, step, starts, out):
    """out[k] = the list that element k is in.

    With a step of 1, eight elements are written at once, also where a list has fewer: the next
    list's are written over them. No branch depends on the length of a short list then, and lists of
    0 to 8 elements take less than a third of the time that a loop over the elements of each takes.

    starts: int32/int64[lists + 1], where the elements of each begin, counted from those of list 0
    out: int64[elements]
    """
    base = uint64(starts[uint64(0)])
    end = uint64(stop)
    k = uint64(start)
    row = list_of(starts, uint64(1), uint64(0), k)
    if step == 1:
        if k + uint64(8) < end:
            # Before the list that holds the eighth item from the end, there is room behind each.
            last = list_of(starts, uint64(1), row, end - uint64(8))
            for r in range(row, last):
                after = uint64(starts[uint64(r) + uint64(1)]) - base
                fill_eight(out, k, int64(r), int64(0))
                k += uint64(8)
                while k < after:
                    fill_eight(out, k, int64(r), int64(0))
                    k += uint64(8)
                k = after
            row = last
        while k < end:
            after = min(uint64(starts[row + uint64(1)]) - base, end)
            for j in range(k, after):
                out[j] = int64(row)
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, uint64(1), row, k)
            out[k] = int64(row)
            k += uint64(step)


@helper
def list_begin(begins: Any, latest: Any, row: Any) -> Any:
    """Where a list begins in the child, as a uint64; of one without elements a place that there is."""
    return min(uint64(begins[row]), latest)


@kernel("begins: O[], latest: u8, starts: O[], out: i8[w]", O="i4 i8")
def elements_of_lists(start, stop, step, begins, latest, starts, out):
    """out[k] = the place in the child of element k of the lists, one list after the other.

    begins: int32/int64[lists], where each list begins in the child
    latest: where a list begins at the latest: what begins later has no elements, or any will do
    starts: int32/int64[lists + 1], where the elements of each go, counted from those of list 0
    out: int64[elements]
    """
    base = uint64(starts[uint64(0)])
    end = uint64(stop)
    k = uint64(start)
    row = list_of(starts, uint64(1), uint64(0), k)
    if step == 1:
        if k + uint64(8) < end:
            # As in `list_of_each`.
            last = list_of(starts, uint64(1), row, end - uint64(8))
            for r in range(row, last):
                place = uint64(starts[uint64(r)]) - base
                after = uint64(starts[uint64(r) + uint64(1)]) - base
                # Of element 0 of the output, were it in this list.
                origin = int64(list_begin(begins, latest, uint64(r))) - int64(place)
                fill_eight(out, k, origin + int64(k), int64(1))
                k += uint64(8)
                while k < after:
                    fill_eight(out, k, origin + int64(k), int64(1))
                    k += uint64(8)
                k = after
            row = last
        while k < end:
            after = min(uint64(starts[row + uint64(1)]) - base, end)
            origin = int64(list_begin(begins, latest, row)) - int64(uint64(starts[row]) - base)
            for j in range(k, after):
                out[j] = origin + int64(j)
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, uint64(1), row, k)
            begin = list_begin(begins, latest, row)
            out[k] = int64(begin + (k - (uint64(starts[row]) - base)))
            k += uint64(step)


@helper
def eight_follow(begins: Any, starts: Any, row: Any, lists: Any, away: Any, latest: Any) -> Any:
    """Whether eight lists from `row` on are there, and begin `away` from where their copies begin."""
    if row + uint64(8) > lists:
        return False
    differ = uint64(0)
    for i in range(row, row + uint64(8)):
        differ |= uint64(begins[i]) ^ add(uint64(starts[i]), away)
    return differ == 0 and uint64(begins[row + uint64(7)]) <= latest


@kernel(
    "begins: O[], latest: u8, starts: O[], width: u8, values: T[], out: T[w]",
    O="i4 i8",
    T="u1 u2 u4 u8",
)
def copy_lists(start, stop, step, begins, latest, starts, width, values, out):
    """The elements of the lists, one list after the other; an element is `width` items.

    The range is over the items of `out`.

    begins: int32/int64[lists], where each list begins in the child
    latest: where a list begins at the latest: what begins later has no elements, or any will do
    starts: int32/int64[lists + 1], where the elements of each go, counted from those of list 0
    width: how many items make one element, at least 1
    values: T[], the child's
    out: T[elements width]
    """
    base = uint64(starts[uint64(0)])
    end = uint64(stop)
    limit = uint64(len(values))
    k = uint64(start)
    row = list_of(starts, width, uint64(0), k)
    if step == 1:
        # Before the list that holds the eighth item from the end, there is room behind each.
        last = row
        if k + uint64(8) < end:
            last = list_of(starts, width, row, end - uint64(8))
        retry = row
        while row < last:
            begin = list_begin(begins, latest, row)
            place = uint64(starts[row]) - base
            away = add(begin, add(~uint64(starts[row]), uint64(1)))
            row += uint64(1)
            if row > retry:
                # Lists that follow each other in the child as they do here are copied together.
                begun = row
                while eight_follow(begins, starts, row, last, away, latest):
                    row += uint64(8)
                # Where there are hardly any, it costs too much to look each time.
                retry = row if row > begun else row + uint64(LONG)
            after = (uint64(starts[row]) - base) * width
            source = begin * width + (k - place * width)
            # No branch depends on whether a list is empty, or on the length of a short one.
            if after > k + uint64(LONG) or source + uint64(LONG + 8) > limit:
                for j in range(k, after):
                    out[j] = values[source + (uint64(j) - k)]
            else:
                copy_eight(out, k, values, source)
                k += uint64(8)
                while k < after:
                    source += uint64(8)
                    copy_eight(out, k, values, source)
                    k += uint64(8)
            k = after
        while k < end:
            place = (uint64(starts[row]) - base) * width
            source = list_begin(begins, latest, row) * width + (k - place)
            after = min((uint64(starts[row + uint64(1)]) - base) * width, end)
            for j in range(k, after):
                out[j] = values[source + (uint64(j) - k)]
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, width, row, k)
            place = (uint64(starts[row]) - base) * width
            out[k] = values[list_begin(begins, latest, row) * width + (k - place)]
            k += uint64(step)


@kernel("begins: O[], latest: u8, starts: O[], bits: u1[], offset: u8, out: u8[w]", O="i4 i8")
def copy_list_bits(start, stop, step, begins, latest, starts, bits, offset, out):
    """The bits of the lists' elements, one list after the other; the range is over words of `out`.

    begins: int32/int64[lists], where each list begins in the child
    latest: where a list begins at the latest: what begins later has no elements, or any will do
    starts: int32/int64[lists + 1], where the elements of each go, counted from those of list 0
    bits: uint8[] bitmap, the child's
    offset: the bit of the child's element 0
    out: uint64[ceil(elements / 64)]; bits past them become zero
    """
    base = uint64(starts[uint64(0)])
    total = uint64(starts[uint64(len(starts)) - uint64(1)]) - base
    row = uint64(0)
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        last = min(first + uint64(64), total)
        row = list_of(starts, uint64(1), row, first)
        packed = uint64(0)
        k = first
        while k < last:
            place = uint64(starts[row]) - base
            after = min(uint64(starts[row + uint64(1)]) - base, last)
            if after > k:
                source = offset + list_begin(begins, latest, row) + (k - place)
                packed |= some_bits(bits, source, after - k) << (k - first)
            k = after
            row += uint64(1)
        # The next word may begin in the same list.
        row -= uint64(1)
        out[w] = packed


@kernel("starts: O[], width: u8, values: T[], out: T[w]", O="i4 i8", T="u1 u2 u4 u8")
def repeat_values(start, stop, step, starts, width, values, out):
    """Value i once for each element of list i, one list after the other; a value is `width` items.

    The range is over the items of `out`.

    starts: int32/int64[lists + 1], where the elements of each begin, counted from those of list 0
    width: how many items make one value, at least 1
    values: T[lists width]
    out: T[elements width]
    """
    base = uint64(starts[uint64(0)])
    end = uint64(stop)
    k = uint64(start)
    row = list_of(starts, width, uint64(0), k)
    if step == 1 and width == 1:
        if k + uint64(8) < end:
            # As in `list_of_each`.
            last = list_of(starts, uint64(1), row, end - uint64(8))
            for r in range(row, last):
                after = uint64(starts[uint64(r) + uint64(1)]) - base
                value = values[uint64(r)]
                fill_eight(out, k, value, uint64(0))
                k += uint64(8)
                while k < after:
                    fill_eight(out, k, value, uint64(0))
                    k += uint64(8)
                k = after
            row = last
        while k < end:
            after = min(uint64(starts[row + uint64(1)]) - base, end)
            for j in range(k, after):
                out[j] = values[row]
            k = after
            row += uint64(1)
    elif step == 1:
        item = (k - (uint64(starts[row]) - base) * width) % width
        while k < end:
            after = min((uint64(starts[row + uint64(1)]) - base) * width, end)
            while k < after:
                out[k] = values[row * width + item]
                k += uint64(1)
                item = item + uint64(1) if item + uint64(1) < width else uint64(0)
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, width, row, k)
            item = (k - (uint64(starts[row]) - base) * width) % width
            out[k] = values[row * width + item]
            k += uint64(step)


@kernel("starts: O[], bits: u1[], offset: u8, out: u8[w]", O="i4 i8")
def repeat_list_bits(start, stop, step, starts, bits, offset, out):
    """Bit i once for each element of list i, one list after the other; over the words of `out`.

    starts: int32/int64[lists + 1], where the elements of each begin, counted from those of list 0
    bits: uint8[] bitmap
    offset: the bit of list 0 in it
    out: uint64[ceil(elements / 64)]; bits past them become zero
    """
    base = uint64(starts[uint64(0)])
    total = uint64(starts[uint64(len(starts)) - uint64(1)]) - base
    row = uint64(0)
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        last = min(first + uint64(64), total)
        row = list_of(starts, uint64(1), row, first)
        packed = uint64(0)
        k = first
        while k < last:
            after = min(uint64(starts[row + uint64(1)]) - base, last)
            ones = lowest_bits(after - first) & ~lowest_bits(k - first)
            packed |= ones if get_bit(bits, offset + row) else uint64(0)
            k = after
            row += uint64(1)
        # The next word may begin in the same list.
        row -= uint64(1)
        out[w] = packed


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, starts: P[], out: u8[w]",
    O="i4 i8",
    P="i4 i8",
)
def find_stand_ins(start, stop, step, offsets, sizes, validity, offset, starts, out):
    """Bit i of `out` = whether list i has no elements, or is null, and yet takes a place by `starts`.

    The range is over the words of `out`.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    starts: int32/int64[n + 1], the first place for each list
    out: uint64[ceil(n / 64)]; bits past n become zero
    """
    length = uint64(len(starts)) - uint64(1)
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        count = min(length - first, uint64(64))
        taken = uint64(0)
        empty = uint64(0)
        for j in range(uint64(0), count):
            i = first + uint64(j)
            taken |= uint64(starts[i + uint64(1)] != starts[i]) << uint64(j)
            empty |= uint64(list_length(offsets, sizes, i) == 0) << uint64(j)
        out[w] = taken & (empty | ~valid_bits(validity, offset + first, count))


@kernel("starts: O[], stand_ins: u1[], out: u8[w]", O="i4 i8")
def bits_of_elements(start, stop, step, starts, stand_ins, out):
    """Bit k of `out` = whether place k is for an element, not in the stead of a list without any.

    The range is over the words of `out`.

    starts: int32/int64[lists + 1], the first place for each list
    stand_ins: uint8[] bitmap of the lists without elements that take a place, one each
    out: uint64[ceil(places / 64)]; bits past them become zero
    """
    base = uint64(starts[uint64(0)])
    total = uint64(starts[uint64(len(starts)) - uint64(1)]) - base
    row = uint64(0)
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        last = min(first + uint64(64), total)
        row = list_of(starts, uint64(1), row, first)
        # What began in an earlier word, and reaches into this one, is no stand-in.
        begun = row + uint64(uint64(starts[row]) - base < first)
        row = list_of(starts, uint64(1), row, last - uint64(1))
        gaps = uint64(0)
        while begun <= row:
            count = min(row - begun + uint64(1), uint64(64))
            found = some_bits(stand_ins, begun, count)
            while found != 0:
                place = uint64(starts[begun + uint64(trailing_zeros(found))]) - base
                gaps |= uint64(1) << (place - first)
                found &= found - uint64(1)
            begun += count
        out[w] = lowest_bits(last - first) & ~gaps
