"""Lists: which elements of the child belong to each slot, and which list has each element.

Lists may be empty, and one may have most of the elements. Bodies that write something for each element
therefore range over the elements: they search for the list of their first one, and go on from there.

`sizes` are those of list views; zero items of them stand for lists that end where the next one begins.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

from typing import Generic, NamedTuple

from numpy import int64, uint8, uint64

from colkern.kernels.arguments import Bitmap, In, Index, O, Out, P, T, Truth
from colkern.kernels.bitmaps import bit_at, bits_from, is_valid, lowest_bits
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.lanes import SECTOR, bits_of_lanes, sum_of_lanes, sums_of_lanes
from colkern.kernels.primitives import (
    add,
    copy_eight,
    fill_eight,
    lane,
    lanes,
    popcount,
    trailing_zeros,
)

BLOCK_BITS = 6
"""Lists are counted by blocks of so many: as many as a word of a bitmap has bits."""

FEW = 8
"""The most nulls of a block for which the lists between them are handled together."""

LONG = 64
"""A list with more items than this has a loop of its own; see `copy_lists`."""


class Lists(NamedTuple, Generic[O]):
    """Lists by their offsets, one more than lists; of list views by offsets and sizes of each."""

    offsets: In[O]
    sizes: In[O]
    validity: Bitmap


class Copies(NamedTuple, Generic[O]):
    """Lists to be copied one after the other.

    `begins` says where each begins in the child, at `latest` there: a list that begins later has no
    elements, or any will do. `starts`, of one item more, says where the elements of each go, counted from
    those of list 0.
    """

    begins: In[O]
    latest: uint64
    starts: In[O]


@helper
def list_length(lists: Lists[O], i: Index) -> int64:
    """The length of list `i`, an int64."""
    if len(lists.sizes) == 0:
        return int64(lists.offsets[uint64(i) + uint64(1)]) - int64(lists.offsets[uint64(i)])
    return int64(lists.sizes[uint64(i)])


@helper
def valid_bits(validity: Bitmap, first: uint64, count: uint64) -> uint64:
    """Which of the `count` (0 to 64) slots from `first` on are valid, lowest first, as a uint64."""
    if len(validity.bits) == 0:
        return lowest_bits(count)
    return bits_from(validity.bits, validity.offset + first, count)


@helper
def shown_length(
    lists: Lists[O], first: uint64, valid: uint64, j: uint64, null: int64, empty: int64
) -> int64:
    """The length of list `first + j`, or its replacement if null or empty; bit `j` of `valid` tells."""
    elements = list_length(lists, first + j)
    # Without branches, of which half would be guessed wrong where nulls are many.
    elements |= empty & -int64(elements == 0)
    shown = -int64((valid >> j) & uint64(1))
    return (elements & shown) | (null & ~shown)


@helper
def list_of(starts: In[O], width: uint64, first: uint64, k: uint64) -> uint64:
    """The list, from `first` on, that item `k` is in, where an element is `width` items.

    The search goes from near to far: within a tile of a GPU the list is close by.
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


@kernel()
def first_list_view_out_of_bounds(start, stop, step, lists: Lists[O], length: int64) -> uint64:
    """The first valid slot of the range that reaches outside the child, of this length."""
    for i in range(start, stop, step):
        begin = int64(lists.offsets[i])
        size = int64(lists.sizes[i])
        outside = begin < 0 or size < 0 or begin > length - size
        if outside and is_valid(lists.validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel(streams=True)
def list_sizes(start, stop, step, offsets: In[O], out: Out[O]):
    """out[i] = the length of list i; of text, the bytes of value i."""
    for i in range(start, stop, step):
        out[i] = offsets[uint64(i) + uint64(1)] - offsets[uint64(i)]


@kernel(streams=True)
def list_lengths(start, stop, step, lists: Lists[O], out: Out[P]):
    """out[i] = the length of list i, 0 if it is null."""
    for i in range(start, stop, step):
        length = list_length(lists, i)
        out[i] = length if is_valid(lists.validity, i) else int64(0)


@kernel()
def list_begins(start, stop, step, lists: Lists[O], out: Out[P]):
    """out[i] = where list i begins in the child; 0 if it is null or empty, as any element will do."""
    for i in range(start, stop, step):
        some = list_length(lists, i) > 0 and is_valid(lists.validity, i)
        out[i] = int64(lists.offsets[i]) if some else int64(0)


@kernel(grouped=True, most_lanes=SECTOR)
def count_elements(
    start, stop, step, lists: Lists[O], length, null: int64, empty: int64, out: Out[int64]
):
    """out[b] = how many elements the lists of block b have; the range is over blocks of lists."""
    for b in range(start, stop, step):
        first = uint64(b) << uint64(BLOCK_BITS)
        count = min(length - first, uint64(1 << BLOCK_BITS))
        valid = valid_bits(lists.validity, first, count)
        holes = valid ^ lowest_bits(count)
        total = int64(0)
        if len(lists.sizes) == 0 and empty == 0 and popcount(holes) <= FEW:
            total = int64(lists.offsets[first + count]) - int64(lists.offsets[first])
            while holes != 0:
                i = first + uint64(trailing_zeros(holes))
                total += null - list_length(lists, i)
                holes &= holes - uint64(1)
        else:
            for j in range(lane(), count, lanes()):
                total += shown_length(lists, first, valid, uint64(j), null, empty)
            total = int64(sum_of_lanes(uint64(total)))
        if lane() == 0:
            out[b] = total


@kernel(grouped=True, most_lanes=SECTOR)
def element_starts(
    start,
    stop,
    step,
    lists: Lists[O],
    length,
    null: int64,
    empty: int64,
    blocks: In[int64],
    out: Out[P],
):
    """out[i] = how many elements the lists before list i have, blocks[b] those before block b.

    The range is over blocks of lists; the last one also writes the end.
    """
    for b in range(start, stop, step):
        first = uint64(b) << uint64(BLOCK_BITS)
        count = min(length - first, uint64(1 << BLOCK_BITS))
        valid = valid_bits(lists.validity, first, count)
        place = int64(blocks[uint64(b)])
        holes = valid ^ lowest_bits(count)
        if len(lists.sizes) == 0 and empty == 0 and popcount(holes) <= FEW:
            away = int64(lists.offsets[first]) - place
            i = first
            while i < first + count:
                hole = first + (uint64(trailing_zeros(holes)) if holes != 0 else count)
                for k in range(i + lane(), min(hole + uint64(1), first + count), lanes()):
                    out[k] = int64(lists.offsets[k]) - away
                if holes != 0:
                    away += list_length(lists, hole) - null
                    holes &= holes - uint64(1)
                i = hole + uint64(1)
        else:
            j = uint64(0)
            while j < count:
                own, size = j + lane(), int64(0)
                if own < count:
                    size = shown_length(lists, first, valid, own, null, empty)
                before, total = sums_of_lanes(uint64(size))
                if own < count:
                    out[first + own] = place + int64(before)
                place += int64(total)
                j += lanes()
        if first + count == length and lane() == 0:
            out[length] = blocks[uint64(b) + uint64(1)]


@kernel(grouped=True, most_lanes=SECTOR)
def first_list_of_another_length(start, stop, step, lists: Lists[O], length, size: int64) -> uint64:
    """The first valid list that has not `size` elements; the range is over blocks of lists."""
    for b in range(start, stop, step):
        first = uint64(b) << uint64(BLOCK_BITS)
        count = min(length - first, uint64(1 << BLOCK_BITS))
        valid = valid_bits(lists.validity, first, count)
        # Whether there is one, without a branch for each; only then which.
        differ = int64(0)
        if valid == lowest_bits(count):
            for i in range(first + lane(), first + count, lanes()):
                differ |= list_length(lists, i) ^ size
        else:
            for j in range(lane(), count, lanes()):
                away = list_length(lists, first + uint64(j)) ^ size
                differ |= away if (valid >> uint64(j)) & uint64(1) != 0 else int64(0)
        if bits_of_lanes(uint64(differ)) != 0:
            others = uint64(0)
            for j in range(lane(), count, lanes()):
                away = list_length(lists, first + uint64(j)) ^ size
                others |= uint64(away != 0) << uint64(j)
            return first + uint64(trailing_zeros(bits_of_lanes(others) & valid))
    return ~uint64(0)


@kernel()
def first_list_out_of_row(start, stop, step, lists: Lists[O], base: int64, starts: In[P]) -> uint64:
    """The first list of the range that begins elsewhere than those before it end, counted from `base`.

    `starts` is the running sum of the lengths of valid lists. A list without elements, or null, may begin
    anywhere.
    """
    for i in range(start, stop, step):
        away = int64(lists.offsets[i]) - int64(starts[i]) != base
        if away and list_length(lists, i) > 0 and is_valid(lists.validity, i):
            return uint64(i)
    return ~uint64(0)


@kernel(combine="max")
def list_views_in_row(
    start, stop, step, offsets: In[O], sizes: In[O], base: int64, out: Out[O]
) -> uint64:
    """out[i] = where list i begins behind `base`; returns 0 if each ends where the next one begins, else 1.

    The last list also writes the end.
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


@kernel()
def place_in_lists(start, stop, step, lists: Lists[O], index: int64, out: Out[int64]) -> uint64:
    """out[i] = where element `index` of list i is in the child, 0 if the list is null or too short.

    Returns the first valid list of the range that is too short.
    """
    short = ~uint64(0)
    for i in range(start, stop, step):
        valid = is_valid(lists.validity, i)
        there = valid and index < list_length(lists, i)
        out[i] = int64(lists.offsets[i]) + index if there else int64(0)
        if valid and not there:
            short = min(short, uint64(i))
    return short


@kernel()
def list_of_each(start, stop, step, starts: In[O], out: Out[int64]):
    """out[k] = the list that element k is in.

    With a step of 1, eight elements are written at once, also where a list has fewer, as the next list's
    overwrite them. So no branch depends on the length of a short list.
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
def list_begin(copies: Copies[O], row: uint64) -> uint64:
    """Where a list begins in the child, as a uint64; of one without elements a place that there is."""
    return min(uint64(copies.begins[row]), copies.latest)


@kernel()
def elements_of_lists(start, stop, step, copies: Copies[O], out: Out[int64]):
    """out[k] = the place in the child of element k of the lists, one list after the other."""
    base = uint64(copies.starts[uint64(0)])
    end = uint64(stop)
    k = uint64(start)
    row = list_of(copies.starts, uint64(1), uint64(0), k)
    if step == 1:
        if k + uint64(8) < end:
            # As in `list_of_each`.
            last = list_of(copies.starts, uint64(1), row, end - uint64(8))
            for r in range(row, last):
                place = uint64(copies.starts[uint64(r)]) - base
                after = uint64(copies.starts[uint64(r) + uint64(1)]) - base
                # Of element 0 of the output, were it in this list.
                origin = int64(list_begin(copies, uint64(r))) - int64(place)
                fill_eight(out, k, origin + int64(k), int64(1))
                k += uint64(8)
                while k < after:
                    fill_eight(out, k, origin + int64(k), int64(1))
                    k += uint64(8)
                k = after
            row = last
        while k < end:
            after = min(uint64(copies.starts[row + uint64(1)]) - base, end)
            origin = int64(list_begin(copies, row)) - int64(uint64(copies.starts[row]) - base)
            for j in range(k, after):
                out[j] = origin + int64(j)
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(copies.starts, uint64(1), row, k)
            begin = list_begin(copies, row)
            out[k] = int64(begin + (k - (uint64(copies.starts[row]) - base)))
            k += uint64(step)


@helper
def eight_follow(
    begins: In[O], starts: In[O], row: uint64, lists: uint64, away: uint64, latest: uint64
) -> Truth:
    """Whether eight lists from `row` on are there, and begin `away` from where their copies begin."""
    if row + uint64(8) > lists:
        return False
    differ = uint64(0)
    for i in range(row, row + uint64(8)):
        differ |= uint64(begins[i]) ^ add(uint64(starts[i]), away)
    return differ == 0 and uint64(begins[row + uint64(7)]) <= latest


@kernel()
def copy_lists(start, stop, step, copies: Copies[O], width, values: In[T], out: Out[T]):
    """The elements, of `width` items, of one list after the other; the range is over items of `out`."""
    base = uint64(copies.starts[uint64(0)])
    end = uint64(stop)
    limit = uint64(len(values))
    k = uint64(start)
    row = list_of(copies.starts, width, uint64(0), k)
    if step == 1:
        # Before the list that holds the eighth item from the end, there is room behind each.
        last = row
        if k + uint64(8) < end:
            last = list_of(copies.starts, width, row, end - uint64(8))
        retry = row
        while row < last:
            begin = list_begin(copies, row)
            place = uint64(copies.starts[row]) - base
            away = add(begin, add(~uint64(copies.starts[row]), uint64(1)))
            row += uint64(1)
            if row > retry:
                # Lists that follow each other in the child as they do here are copied together.
                begun = row
                while eight_follow(copies.begins, copies.starts, row, last, away, copies.latest):
                    row += uint64(8)
                # Where there are hardly any, it costs too much to look each time.
                retry = row if row > begun else row + uint64(LONG)
            after = (uint64(copies.starts[row]) - base) * width
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
            place = (uint64(copies.starts[row]) - base) * width
            source = list_begin(copies, row) * width + (k - place)
            after = min((uint64(copies.starts[row + uint64(1)]) - base) * width, end)
            for j in range(k, after):
                out[j] = values[source + (uint64(j) - k)]
            k = after
            row += uint64(1)
    else:
        while k < end:
            row = list_of(copies.starts, width, row, k)
            place = (uint64(copies.starts[row]) - base) * width
            out[k] = values[list_begin(copies, row) * width + (k - place)]
            k += uint64(step)


@kernel()
def copy_list_bits(start, stop, step, copies: Copies[O], bits: Bitmap, out: Out[uint64]):
    """The bits of the lists' elements, one list after the other; the range is over words of `out`."""
    base = uint64(copies.starts[uint64(0)])
    total = uint64(copies.starts[uint64(len(copies.starts)) - uint64(1)]) - base
    row = uint64(0)
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        last = min(first + uint64(64), total)
        row = list_of(copies.starts, uint64(1), row, first)
        packed = uint64(0)
        k = first
        while k < last:
            place = uint64(copies.starts[row]) - base
            after = min(uint64(copies.starts[row + uint64(1)]) - base, last)
            if after > k:
                source = bits.offset + list_begin(copies, row) + (k - place)
                packed |= bits_from(bits.bits, source, after - k) << (k - first)
            k = after
            row += uint64(1)
        # The next word may begin in the same list.
        row -= uint64(1)
        out[w] = packed


@kernel()
def repeat_values(start, stop, step, starts: In[O], width, values: In[T], out: Out[T]):
    """Value i, of `width` items, once for each element of list i, one list after the other.

    The range is over the items of `out`.
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


@kernel()
def repeat_list_bits(start, stop, step, starts: In[O], bits: Bitmap, out: Out[uint64]):
    """Bit i once for each element of list i, one list after the other; over the words of `out`."""
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
            packed |= ones if bit_at(bits, row) else uint64(0)
            k = after
            row += uint64(1)
        # The next word may begin in the same list.
        row -= uint64(1)
        out[w] = packed


@kernel(grouped=True, most_lanes=SECTOR)
def find_stand_ins(start, stop, step, lists: Lists[O], starts: In[P], out: Out[uint64]):
    """Bit i of `out` = whether list i has no elements, or is null, and yet takes a place by `starts`.

    The range is over the words of `out`.
    """
    length = uint64(len(starts)) - uint64(1)
    for w in range(start, stop, step):
        first = uint64(w) << uint64(6)
        count = min(length - first, uint64(64))
        taken = uint64(0)
        empty = uint64(0)
        for j in range(lane(), count, lanes()):
            i = first + uint64(j)
            taken |= uint64(starts[i + uint64(1)] != starts[i]) << uint64(j)
            empty |= uint64(list_length(lists, i) == 0) << uint64(j)
        bits = bits_of_lanes(taken & (empty | ~valid_bits(lists.validity, first, count)))
        if lane() == 0:
            out[w] = bits


@kernel()
def bits_of_elements(start, stop, step, starts: In[O], stand_ins: In[uint8], out: Out[uint64]):
    """Bit k of `out` = whether place k has an element, and does not stand for a list without any.

    The range is over words of `out`. The bits of `stand_ins` are set for lists of the latter kind.
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
            marked = bits_from(stand_ins, begun, count)
            while marked != 0:
                place = uint64(starts[begun + uint64(trailing_zeros(marked))]) - base
                gaps |= uint64(1) << (place - first)
                marked &= marked - uint64(1)
            begun += count
        out[w] = lowest_bits(last - first) & ~gaps
