"""Lists: which elements of the child belong to each slot, and which list has each element.

Lists may be empty, and one may have most of the elements. Bodies that write something for each element
therefore range over the elements: they search for the list of their first one, and go on from there.

`sizes` are those of list views; zero items of them stand for lists that end where the next one begins.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint8, uint64

from colkern.kernels.bitmaps import bits_at, get_bit, is_valid
from colkern.kernels.kernel import helper, kernel


@helper
def list_length(offsets: Any, sizes: Any, i: Any) -> Any:
    """The length of list `i`, an int64."""
    if len(sizes) == 0:
        return int64(offsets[uint64(i) + uint64(1)]) - int64(offsets[uint64(i)])
    return int64(sizes[uint64(i)])


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


@kernel("indices: i8[], size: i8, offset: i8, out: i8[w]")
def take_fixed_ranges(start, stop, step, indices, size, offset, out):
    """out[i] = the element of the child that is element i of the picked lists, one after the other.

    indices: int64[lists], in bounds
    size: how many elements each list has
    offset: the slot of list 0
    out: int64[lists size]
    """
    for i in range(start, stop, step):
        position = int64(i)
        out[i] = (indices[uint64(position // size)] + offset) * size + position % size


@kernel("offsets: O[], out: O[w]", O="i4 i8")
def list_sizes(start, stop, step, offsets, out):
    """out[i] = the length of list i.

    offsets: int32/int64[n + 1]
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        out[i] = offsets[uint64(i) + uint64(1)] - offsets[uint64(i)]


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, null: i8, empty: i8, out: P[w]",
    O="i4 i8",
    P="i4 i8",
)
def list_lengths(start, stop, step, offsets, sizes, validity, offset, null, empty, out):
    """out[i] = the length of list i, or what stands for one that is null or empty.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    null: stands for the length of a null list
    empty: stands for the length of an empty list
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        length = list_length(offsets, sizes, i)
        shown = empty if length == 0 else length
        out[i] = shown if is_valid(validity, offset, i) else null


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
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, length: u8, out: u1[w]",
    O="i4 i8",
)
def lists_with_elements(start, stop, step, offsets, sizes, validity, offset, length, out):
    """Bit i of `out` = whether list i is valid and has elements; the range is over bytes of `out`.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    length: the number of lists
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            some = list_length(offsets, sizes, i) > 0 and is_valid(validity, offset, i)
            packed |= uint64(some) << (uint64(i) - begin)
        out[b] = uint8(packed)


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8", returns="u8", combine="add", O="i4 i8"
)
def count_empty_lists(start, stop, step, offsets, sizes, validity, offset):
    """How many valid lists of the range have no elements.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    """
    empty = uint64(0)
    for i in range(start, stop, step):
        none = list_length(offsets, sizes, i) == 0
        empty += uint64(none and is_valid(validity, offset, i))
    return empty


@kernel(
    "offsets: O[], sizes: O[], validity: u1[], offset: u8, size: i8",
    returns="u8",
    O="i4 i8",
)
def first_list_of_another_length(start, stop, step, offsets, sizes, validity, offset, size):
    """The first valid slot of the range that has not `size` elements; the largest uint64 if none.

    offsets: int32/int64[n + 1], [n] with sizes
    sizes: int32/int64[n], or empty
    validity: uint8[] bitmap, or empty
    offset: the bit of slot 0 in it
    size: how many elements a list is to have
    """
    for i in range(start, stop, step):
        if list_length(offsets, sizes, i) != size and is_valid(validity, offset, i):
            return uint64(i)
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


@kernel("base: u8, size: u8, out: P[w]", P="i4 i8")
def even_offsets(start, stop, step, base, size, out):
    """out[i] = base + i size: where lists of one length begin.

    base: where the first one begins
    size: how many elements each list has
    out: int32/int64[n + 1]
    """
    for i in range(start, stop, step):
        out[i] = base + uint64(i) * size


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
        while k < end:
            after = min(uint64(starts[row + uint64(1)]) - base, end)
            number = int64(row)
            while True:
                if k + uint64(8) > end:
                    for j in range(k, after):
                        out[j] = number
                    break
                for j in range(uint64(0), uint64(8)):
                    out[k + uint64(j)] = number
                k += uint64(8)
                if k >= after:
                    break
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, uint64(1), row, k)
            out[k] = int64(row)
            k += uint64(step)


@kernel("begins: O[], starts: O[], out: i8[w]", O="i4 i8")
def elements_of_lists(start, stop, step, begins, starts, out):
    """out[k] = the place in the child of element k of the lists, one list after the other.

    begins: int32/int64[lists], where each list begins in the child
    starts: int32/int64[lists + 1], where the elements of each go, counted from those of list 0
    out: int64[elements]
    """
    base = uint64(starts[uint64(0)])
    end = uint64(stop)
    k = uint64(start)
    row = list_of(starts, uint64(1), uint64(0), k)
    if step == 1:
        while k < end:
            after = min(uint64(starts[row + uint64(1)]) - base, end)
            # Of element 0 of the output, were it in this list.
            origin = int64(begins[row]) - int64(uint64(starts[row]) - base)
            while True:
                if k + uint64(8) > end:
                    for j in range(k, after):
                        out[j] = origin + int64(j)
                    break
                for j in range(uint64(0), uint64(8)):
                    out[k + uint64(j)] = origin + int64(k + uint64(j))
                k += uint64(8)
                if k >= after:
                    break
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, uint64(1), row, k)
            out[k] = int64(begins[row]) + int64(k - (uint64(starts[row]) - base))
            k += uint64(step)


@kernel("begins: O[], starts: O[], width: u8, values: T[], out: T[w]", O="i4 i8", T="u1 u2 u4 u8")
def copy_lists(start, stop, step, begins, starts, width, values, out):
    """The elements of the lists, one list after the other; an element is `width` items.

    The range is over the items of `out`.

    begins: int32/int64[lists], where each list begins in the child
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
        while k < end:
            after = min((uint64(starts[row + uint64(1)]) - base) * width, end)
            source = uint64(begins[row]) * width + (k - (uint64(starts[row]) - base) * width)
            while True:
                if k + uint64(8) > end or limit < uint64(8) or source > limit - uint64(8):
                    for j in range(k, after):
                        out[j] = values[source + (uint64(j) - k)]
                    break
                copy_eight(values, source, out, k)
                k += uint64(8)
                source += uint64(8)
                if k >= after:
                    break
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(starts, width, row, k)
            place = (uint64(starts[row]) - base) * width
            out[k] = values[uint64(begins[row]) * width + (k - place)]
            k += uint64(step)


@helper
def copy_eight(values: Any, source: Any, out: Any, place: Any) -> None:
    """Eight items, all read before the first is written: the compiler makes vectors of them."""
    a = values[source]
    b = values[source + uint64(1)]
    c = values[source + uint64(2)]
    d = values[source + uint64(3)]
    e = values[source + uint64(4)]
    f = values[source + uint64(5)]
    g = values[source + uint64(6)]
    h = values[source + uint64(7)]
    out[place] = a
    out[place + uint64(1)] = b
    out[place + uint64(2)] = c
    out[place + uint64(3)] = d
    out[place + uint64(4)] = e
    out[place + uint64(5)] = f
    out[place + uint64(6)] = g
    out[place + uint64(7)] = h


@kernel("begins: O[], starts: O[], bits: u1[], offset: u8, out: u1[w]", O="i4 i8")
def copy_list_bits(start, stop, step, begins, starts, bits, offset, out):
    """The bits of the lists' elements, one list after the other; the range is over bytes of `out`.

    begins: int32/int64[lists], where each list begins in the child
    starts: int32/int64[lists + 1], where the elements of each go, counted from those of list 0
    bits: uint8[] bitmap, the child's
    offset: the bit of the child's element 0
    out: uint8[ceil(elements / 8)]; bits past them become zero
    """
    base = uint64(starts[uint64(0)])
    total = uint64(starts[uint64(len(starts)) - uint64(1)]) - base
    row = uint64(0)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        last = min(first + uint64(8), total)
        row = list_of(starts, uint64(1), row, first)
        packed = uint64(0)
        k = first
        while k < last:
            place = uint64(starts[row]) - base
            count = min(uint64(starts[row + uint64(1)]) - base, last) - k
            if count > 0:
                found = bits_at(bits, offset + uint64(begins[row]) + (k - place), count)
                packed |= (found & ((uint64(1) << count) - uint64(1))) << (k - first)
                k += count
            row += uint64(1)
        # The next byte may begin in the same list.
        row -= uint64(1)
        out[b] = uint8(packed)


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
        while k < end:
            after = min(uint64(starts[row + uint64(1)]) - base, end)
            value = values[row]
            while True:
                if k + uint64(8) > end:
                    for j in range(k, after):
                        out[j] = value
                    break
                for j in range(uint64(0), uint64(8)):
                    out[k + uint64(j)] = value
                k += uint64(8)
                if k >= after:
                    break
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


@kernel("starts: O[], bits: u1[], offset: u8, out: u1[w]", O="i4 i8")
def repeat_list_bits(start, stop, step, starts, bits, offset, out):
    """Bit i once for each element of list i, one list after the other; over the bytes of `out`.

    starts: int32/int64[lists + 1], where the elements of each begin, counted from those of list 0
    bits: uint8[] bitmap
    offset: the bit of list 0 in it
    out: uint8[ceil(elements / 8)]; bits past them become zero
    """
    base = uint64(starts[uint64(0)])
    total = uint64(starts[uint64(len(starts)) - uint64(1)]) - base
    row = uint64(0)
    for b in range(start, stop, step):
        first = uint64(b) << uint64(3)
        last = min(first + uint64(8), total)
        row = list_of(starts, uint64(1), row, first)
        packed = uint64(0)
        k = first
        while k < last:
            after = min(uint64(starts[row + uint64(1)]) - base, last)
            ones = (uint64(1) << (after - first)) - (uint64(1) << (k - first))
            packed |= ones if get_bit(bits, offset + row) else uint64(0)
            k = after
            row += uint64(1)
        # The next byte may begin in the same list.
        row -= uint64(1)
        out[b] = uint8(packed)
