"""Unions: `type_ids[i]` says which child holds slot `i`, and for dense ones `offsets[i]` where in it.

An empty `offsets` stands for a sparse union, where slot `i` of every child belongs to slot `i`.
`child_of` has 128 entries, one a type id: the child's number, or -1.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int8, int32, int64, uint8, uint64

from colkern.kernels.arguments import Buffers, I, In, O, Out, T
from colkern.kernels.kernel import helper, kernel
from colkern.kernels.primitives import copy_bytes_loosely, load_item, prefetch

AHEAD = 32
"""The number of slots ahead for whose values memory is asked before they are copied."""

MANY = 1 << 16
"""The values of more slots than that are rarely in caches."""


class Slots(NamedTuple):
    """Which child has each slot of a union: by type ids, the child of each id, and offsets, if dense."""

    type_ids: In[int8]
    child_of: In[int64]
    offsets: In[int32]


@helper
def child_slot(offsets: In[int32], i: uint64) -> uint64:
    """The slot of its child that slot `i` of the union shows."""
    return uint64(offsets[i]) if len(offsets) else uint64(i)


@helper
def source_of_slot(slots: Slots, addresses: In[uint64], i: uint64, size: uint64) -> uint64:
    """The address of the value of slot `i`, one of `size` bytes."""
    child = uint64(slots.child_of[uint64(slots.type_ids[i])])
    return addresses[child] + child_slot(slots.offsets, i) * size


@helper
def gather_slot(slots: Slots, addresses: In[uint64], i: uint64, width: uint64, out: Out[T]) -> None:
    """Items `i width` to `(i + 1) width` of `out` = the value of slot `i`."""
    source = source_of_slot(slots, addresses, i, width * uint64(out.itemsize))
    if width == 1:
        # Without a loop in the loop: in less than half of the time.
        out[i] = load_item(out, source)
    else:
        for item in range(uint64(0), width):
            place = source + uint64(item) * uint64(out.itemsize)
            out[i * width + uint64(item)] = load_item(out, place)


@kernel()
def gather_union(start, stop, step, slots: Slots, addresses: In[uint64], width, out: Out[T]):
    """Items `i width` to `(i + 1) width` of `out` = the value of slot i, from the child that has it.

    `addresses` are those of the first value of each child.
    """
    i = uint64(start)
    # Values of many slots lie anywhere: what is copied soon is asked of memory now.
    while step == 1 and i + uint64(MANY) < stop:
        later = i + uint64(AHEAD)
        prefetch(source_of_slot(slots, addresses, later, width * uint64(out.itemsize)))
        gather_slot(slots, addresses, i, width, out)
        i += uint64(1)
    for k in range(i, stop, step):
        gather_slot(slots, addresses, uint64(k), width, out)


@kernel(I="i8 u8")
def split_pairs(
    start, stop, step, pairs: In[I], ends: In[int64], length, out: Out[int32]
) -> uint64:
    """Slots by pairs of a child and a slot of it; returns the first pair that leads nowhere.

    Item i of `out` is an offset, byte i behind these a type id: the child, of which the lowest 7 bits.
    The range is over groups of four pairs; `ends` has the length of each child.
    """
    for g in range(start, stop, step):
        first, ids = uint64(g) << uint64(2), uint64(0)
        for i in range(first, min(first + uint64(4), length)):
            child = uint64(pairs[uint64(i) << uint64(1)])
            slot = uint64(pairs[(uint64(i) << uint64(1)) | uint64(1)])
            # What is negative is beyond all ends as a word.
            if child >= uint64(len(ends)) or slot >= uint64(ends[child]):
                return uint64(i)
            out[i] = int32(slot & uint64(0x7FFF_FFFF))
            ids |= (child & uint64(127)) << ((uint64(i) - first) << uint64(3))
        out[length + uint64(g)] = int32(ids)
    return ~uint64(0)


@kernel()
def first_slot_out_of_bounds(
    start, stop, step, type_ids: In[int8], offsets: In[int32], ends: In[int64]
) -> uint64:
    """The first slot of the range without a child, or past its end.

    `ends` has 128 entries, one a type id: the length of the child; 0 where there is none.
    """
    for i in range(start, stop, step):
        # What is negative is beyond all ends as a word.
        end = uint64(ends[uint64(type_ids[i]) & uint64(127)])
        if uint64(type_ids[i] < 0) | uint64(child_slot(offsets, uint64(i)) >= end) != 0:
            return uint64(i)
    return ~uint64(0)


@kernel()
def first_descending_slot(start, stop, step, slots: In[uint64], offsets: In[int32]) -> uint64:
    """The first of the slots of one child whose next one leads to an earlier value.

    The range is over all slots of the child but its last.
    """
    for i in range(start, stop, step):
        if offsets[slots[i + uint64(1)]] < offsets[slots[i]]:
            return uint64(i)
    return ~uint64(0)


@kernel()
def number_slots(start, stop, step, slots: In[uint64], out: Out[int32]):
    """out[slots[i]] = i: the places of a child's values, counted from 0."""
    for i in range(start, stop, step):
        out[slots[i]] = i


@kernel()
def rebase_slots(start, stop, step, slots: Slots, bases: In[int64], out: Out[O]):
    """out[i] = where the value of slot i stands once its child begins at bases[child]."""
    for i in range(start, stop, step):
        child = uint64(slots.child_of[uint64(slots.type_ids[i])])
        out[i] = int64(child_slot(slots.offsets, uint64(i))) + bases[child]


@kernel()
def gather_union_bits(
    start,
    stop,
    step,
    slots: Slots,
    addresses: In[uint64],
    bits: In[uint64],
    length,
    out: Out[uint8],
):
    """Bit i of `out` = the bit of slot i in the bitmap of its child; the range is over bytes of `out`.

    Each child's bitmap is at an address, 0 if all its bits are set; `bits` has the bit of its slot 0.
    """
    for b in range(start, stop, step):
        begin = uint64(b) << uint64(3)
        packed = uint64(0)
        for i in range(begin, min(begin + uint64(8), length)):
            child = uint64(slots.child_of[uint64(slots.type_ids[i])])
            bit = uint64(1)
            if addresses[child] != 0:
                place = bits[child] + child_slot(slots.offsets, uint64(i))
                byte = load_item(out, addresses[child] + (place >> uint64(3)))
                bit = (uint64(byte) >> (place & uint64(7))) & uint64(1)
            packed |= bit << (uint64(i) - begin)
        out[b] = uint8(packed)


@kernel()
def places_in_child(
    start, stop, step, type_ids: In[int8], code: int8, offsets: In[int32], out: Out[int64]
):
    """out[i] = where one child has the value of slot i; 0 if the slot shows another child."""
    for i in range(start, stop, step):
        out[i] = int64(offsets[i]) if type_ids[i] == code else int64(0)


@helper
def union_value(slots: Slots, addresses: In[uint64], like: In[O], i: uint64) -> uint64:
    """The address of the offset (of the type of `like`) where slot `i`'s value begins in its child."""
    child = uint64(slots.child_of[uint64(slots.type_ids[i])])
    return addresses[child] + child_slot(slots.offsets, i) * uint64(like.itemsize)


@kernel()
def gather_union_lengths(
    start, stop, step, slots: Slots, addresses: In[uint64], like: In[O], out: Out[int64]
):
    """out[i] = the length of the binary value of slot i.

    `addresses` are those of each child's first offset, of the type of `like`.
    """
    size = uint64(like.itemsize)
    for i in range(start, stop, step):
        begin = union_value(slots, addresses, like, uint64(i))
        out[i] = int64(load_item(like, begin + size)) - int64(load_item(like, begin))


@kernel(grouped=True)
def gather_union_bytes(
    start,
    stop,
    step,
    slots: Slots,
    addresses: In[uint64],
    data: Buffers,
    starts: In[O],
    out: Out[uint8],
):
    """The bytes of `out` from starts[i] on = the binary value of slot i.

    `addresses` are those of each child's first offset, of the type of `starts`; `data` has its bytes.
    """
    for i in range(start, stop, step):
        begin = uint64(load_item(starts, union_value(slots, addresses, starts, uint64(i))))
        child = uint64(slots.child_of[uint64(slots.type_ids[i])])
        place = uint64(starts[i])
        after = uint64(starts[i + uint64(1)])
        # A thread with values one after the other may spill over what it has yet to write.
        end = uint64(starts[stop]) if step == 1 else after
        room = min(end - place, uint64(data.sizes[child]) - begin)
        copy_bytes_loosely(out, place, data.addresses[child] + begin, after - place, room)
