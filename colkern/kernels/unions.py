"""Unions: `type_ids[i]` says which child holds slot `i`, and for dense ones `offsets[i]` where in it.

An empty `offsets` stands for a sparse union, where slot `i` of every child belongs to slot `i`.
`child_of` has 128 entries, one a type id: the child's number, or -1.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

from typing import Any

from numpy import int64, uint8, uint64

from colkern.kernels.bitmaps import EACH_BYTE, differing_bytes
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import copy_bytes, load_item


@helper
def child_slot(offsets: Any, i: Any) -> Any:
    """The slot of its child that slot `i` of the union shows."""
    return uint64(offsets[i]) if len(offsets) else uint64(i)


@kernel("type_ids: u1[], code: u8, length: u8, out: u8[w]")
def mark_slots(start, stop, step, type_ids, code, length, out):
    """Bit i of `out` = whether slot i has that type id; the range is over the words of `out`.

    type_ids: uint8[length]
    code: the type id
    length: the number of slots
    out: uint64[ceil(length / 64)]; bits past `length` become zero
    """
    codes = code * uint64(EACH_BYTE)
    w = uint64(start)
    whole = min(uint64(stop), length >> uint64(6))
    while w < whole:
        out[w] = ~differing_bytes(type_ids, w << uint64(6), codes)
        w += uint64(step)
    if w < stop:
        begin = w << uint64(6)
        bits = uint64(0)
        for i in range(begin, length):
            bits |= uint64(uint64(type_ids[uint64(i)]) == code) << (uint64(i) - begin)
        out[w] = bits


@kernel(
    "type_ids: i1[], child_of: i8[], offsets: i4[], addresses: u8[], width: u8, out: T[w]",
    T="u1 u2 u4 u8",
)
def gather_union(start, stop, step, type_ids, child_of, offsets, addresses, width, out):
    """Items `i width` to `(i + 1) width` of `out` = the value of slot i, from the child that has it.

    type_ids: int8[n], each with a child
    child_of: int64[128], type id -> child
    offsets: int32[n] for a dense union, empty for a sparse one
    addresses: uint64[children], the address of each child's first value
    width: how many items of `out` make one value
    out: T[n width]
    """
    for i in range(start, stop, step):
        child = uint64(child_of[uint64(type_ids[i])])
        source = addresses[child] + child_slot(offsets, uint64(i)) * width * uint64(out.itemsize)
        for item in range(uint64(0), width):
            place = source + uint64(item) * uint64(out.itemsize)
            out[uint64(i) * width + uint64(item)] = load_item(out, place)


@kernel("type_ids: i1[], child_of: i8[], offsets: i4[], lengths: i8[]", returns="u8")
def first_slot_out_of_bounds(start, stop, step, type_ids, child_of, offsets, lengths):
    """The first slot of the range without a child, or past its end; the largest uint64 if none is.

    type_ids: int8[n]
    child_of: int64[128], type id -> child or -1
    offsets: int32[n] for a dense union, empty for a sparse one
    lengths: int64[children], the length of each child
    """
    for i in range(start, stop, step):
        if type_ids[i] < 0:
            return uint64(i)
        child = child_of[uint64(type_ids[i])]
        if child < 0:
            return uint64(i)
        if len(offsets) and offsets[i] < 0:
            return uint64(i)
        if child_slot(offsets, uint64(i)) >= uint64(lengths[uint64(child)]):
            return uint64(i)
    return ~uint64(0)


@kernel("slots: u8[], offsets: i4[]", returns="u8")
def first_descending_slot(start, stop, step, slots, offsets):
    """The first of the slots of one child whose next one leads to an earlier value; the largest uint64
    if none does. The range is over all slots of the child but its last.

    slots: uint64[n + 1], the slots of the union that show one child, in order
    offsets: int32[slots of the union]
    """
    for i in range(start, stop, step):
        if offsets[slots[i + uint64(1)]] < offsets[slots[i]]:
            return uint64(i)
    return ~uint64(0)


@kernel("slots: u8[], out: i4[w]")
def number_slots(start, stop, step, slots, out):
    """out[slots[i]] = i: the places of a child's values, counted from 0.

    slots: uint64[n], the slots of the union that show one child
    out: int32[slots of the union]
    """
    for i in range(start, stop, step):
        out[slots[i]] = i


@kernel("type_ids: i1[], child_of: i8[], offsets: i4[], bases: i8[], out: O[w]", O="i4 i8")
def rebase_slots(start, stop, step, type_ids, child_of, offsets, bases, out):
    """out[i] = where the value of slot i stands once its child begins at bases[child].

    type_ids: int8[n], each with a child
    child_of: int64[128], type id -> child
    offsets: int32[n] for a dense union, empty for a sparse one
    bases: int64[children]
    out: int32/int64[n]
    """
    for i in range(start, stop, step):
        child = uint64(child_of[uint64(type_ids[i])])
        out[i] = int64(child_slot(offsets, uint64(i))) + bases[child]


@kernel(
    "type_ids: i1[], child_of: i8[], offsets: i4[], addresses: u8[], bits: u8[], length: u8,"
    "out: u1[w]"
)
def gather_union_bits(start, stop, step, type_ids, child_of, offsets, addresses, bits, length, out):
    """Bit i of `out` = the bit of slot i in the bitmap of its child; the range is over bytes of `out`.

    type_ids: int8[n], each with a child
    child_of: int64[128], type id -> child
    offsets: int32[n] for a dense union, empty for a sparse one
    addresses: uint64[children], the address of each child's bitmap; 0 for one whose bits are all set
    bits: uint64[children], the bit of each child's slot 0
    length: the number of bits
    out: uint8[ceil(length / 8)]; bits past `length` become zero
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            child = uint64(child_of[uint64(type_ids[i])])
            bit = uint64(1)
            if addresses[child] != 0:
                place = bits[child] + child_slot(offsets, uint64(i))
                byte = load_item(out, addresses[child] + (place >> uint64(3)))
                bit = (uint64(byte) >> (place & uint64(7))) & uint64(1)
            packed |= bit << (uint64(i) - begin)
        out[b] = uint8(packed)


@kernel("type_ids: i1[], code: i1, offsets: i4[], out: i8[w]")
def places_in_child(start, stop, step, type_ids, code, offsets, out):
    """out[i] = where one child has the value of slot i; 0 if the slot shows another child.

    type_ids: int8[n]
    code: the child's type id
    offsets: int32[n]
    out: int64[n]
    """
    for i in range(start, stop, step):
        out[i] = int64(offsets[i]) if type_ids[i] == code else int64(0)


@helper
def union_value(
    child_of: Any, type_ids: Any, offsets: Any, addresses: Any, like: Any, i: Any
) -> Any:
    """The address of the offset (of the type of `like`) where slot `i`'s value begins in its child."""
    child = uint64(child_of[uint64(type_ids[i])])
    return addresses[child] + child_slot(offsets, i) * uint64(like.itemsize)


@kernel(
    "type_ids: i1[], child_of: i8[], offsets: i4[], addresses: u8[], like: O[], out: i8[w]",
    O="i4 i8",
)
def gather_union_lengths(start, stop, step, type_ids, child_of, offsets, addresses, like, out):
    """out[i] = the length of the binary value of slot i.

    type_ids: int8[n], each with a child
    child_of: int64[128], type id -> child
    offsets: int32[n] for a dense union, empty for a sparse one
    addresses: uint64[children], the address of each child's first offset
    like: int32/int64[], of the type of those offsets
    out: int64[n]
    """
    size = uint64(like.itemsize)
    for i in range(start, stop, step):
        begin = union_value(child_of, type_ids, offsets, addresses, like, uint64(i))
        out[i] = int64(load_item(like, begin + size)) - int64(load_item(like, begin))


@kernel(
    "type_ids: i1[], child_of: i8[], offsets: i4[], addresses: u8[], bases: u8[], starts: O[],"
    "out: u1[w]",
    grouped=True,
    O="i4 i8",
)
def gather_union_bytes(
    start, stop, step, type_ids, child_of, offsets, addresses, bases, starts, out
):
    """The bytes of `out` from starts[i] on = the binary value of slot i.

    type_ids: int8[n], each with a child
    child_of: int64[128], type id -> child
    offsets: int32[n] for a dense union, empty for a sparse one
    addresses: uint64[children], the address of each child's first offset
    bases: uint64[children], the address of each child's data
    starts: int32/int64[n + 1], of the type of those offsets: the running sum of the lengths
    out: uint8[starts[n]]
    """
    for i in range(start, stop, step):
        begin = union_value(child_of, type_ids, offsets, addresses, starts, uint64(i))
        base = bases[uint64(child_of[uint64(type_ids[i])])]
        place = uint64(starts[i])
        count = uint64(starts[i + uint64(1)]) - place
        copy_bytes(out, place, base + uint64(load_item(starts, begin)), count)
