"""Values from several arrays of one type, slot by slot, as from the children of a union.

Columnar format 1.5: "Union Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from colkern.arrays import Array
from colkern.bitmaps import bits_by, count_clear_bits
from colkern.kernels import unions
from colkern.layouts import Extent, LayoutKind, Role
from colkern.memory import EMPTY, Buffer
from colkern.operations.own_slots import own_children
from colkern.operations.patterns import measure
from colkern.operations.selection.concatenation import concat
from colkern.operations.selection.taking import take_positions
from colkern.operations.selection.words import words_of
from colkern.targets import Items, Target


class Places(NamedTuple):
    """For each slot, the array that has its value and the position there, in the form for kernels."""

    target: Target  #: Where these are, and the bytes of the arrays.
    type_ids: Items  #: A number for each slot (int8[n]).
    numbers: Items  #: Type id → the array's number (int64[128]).
    offsets: Items  #: The position in that array (int32[n]); empty where it is that of the slot.

    @property
    def length(self) -> int:
        """The number of slots."""
        return len(self.type_ids)

    @property
    def args(self) -> tuple[Items, Items, Items]:
        """The first arguments of kernels."""
        return self.type_ids, self.numbers, self.offsets


def gather(arrays: Sequence[Array], places: Places) -> Array:
    """The value of each slot, gathered from several arrays; copied.

    Args:
        arrays: Checked arrays of one type, on the device of `places`, or without bytes.
        places: The places of the values; in bounds.
    """
    first, length = arrays[0], places.length
    kind = first.layout.kind
    if kind is LayoutKind.FIXED_SIZE and first.layout.buffers[1].slot_bits:
        is_bit = first.layout.buffers[1].extent is Extent.BITS
        data = _bits(arrays, places, 1) if is_bit else _items(arrays, places)
        validity, nulls = _validity(arrays, places)
        return Array.of_valid(first.type, length, (validity, data), nulls)
    if kind is LayoutKind.BINARY:
        offsets, data = gather_bytes(arrays, places)
        validity, nulls = _validity(arrays, places)
        return Array.of_valid(first.type, length, (validity, offsets, data), nulls)
    if kind is LayoutKind.STRUCT:
        parts = [own_children(array) for array in arrays]
        children = [gather(part, places) for part in zip(*parts, strict=True)]
        validity, nulls = _validity(arrays, places)
        return Array.of_valid(first.type, length, (validity,), nulls, children)
    return take_positions(concat(arrays), _places_in_all(arrays, places))


def _places_in_all(arrays: Sequence[Array], places: Places) -> Items:
    """The position of each value in the concatenation of the arrays (int64[n])."""
    target = places.target
    starts = list(accumulate([array.length for array in arrays], initial=0))
    out = target.output(places.length, np.int64)
    bases = target.table(starts[:-1], np.int64)
    target.map(unions.rebase_slots, len(out), *places.args, bases, out)
    return out


def _items(arrays: Sequence[Array], places: Places) -> Buffer:
    target = places.target
    # Kept alive, since the kernel reads them by their addresses.
    items = [array.items(Role.DATA) for array in arrays]
    words, width = words_of(items[0])
    out = target.output(places.length * width, words.dtype)
    addresses = target.table([target.address(i) if len(i) else 0 for i in items], np.uint64)
    target.map(unions.gather_union, places.length, *places.args, addresses, width, out)
    return target.buffer(out)


def gather_bytes(arrays: Sequence[Array], places: Places) -> tuple[Buffer, Buffer]:
    """The offsets and the bytes for `gather`, of variable-size binary values."""
    target, length = places.target, places.length
    own = [array.items(Role.OFFSETS) for array in arrays]
    addresses = target.table([target.address(i) if len(i) > 1 else 0 for i in own], np.uint64)
    sources = [array.buffer(Role.BYTES) for array in arrays]
    held = [(b.address, b.size) if b is not None and b.size else (0, 0) for b in sources]
    slots = (*places.args, addresses)
    kind = own[0].dtype
    like = target.table([], kind)
    starts, total = measure(target, unions.gather_union_lengths, length, kind, *slots, like)
    data = target.output(total, np.uint8)
    if len(data):
        bases, sizes = zip(*held, strict=True)
        buffers = (target.table(bases, np.uint64), target.table(sizes, np.int64))
        kernel = unions.gather_union_bytes
        target.map(kernel, length, *slots, *buffers, starts, data, balance=starts)
    return target.buffer(starts), target.buffer(data)


def _validity(arrays: Sequence[Array], places: Places) -> tuple[Buffer | None, int]:
    if not any(array.may_have_nulls for array in arrays):
        return None, 0
    bits = _bits(arrays, places, 0)
    return bits, count_clear_bits(bits, places.length)


def _bits(arrays: Sequence[Array], places: Places, position: int) -> Buffer:
    """The bits of one of the buffers; ones for an array without validity."""
    target, length = places.target, places.length
    buffers = [array.buffers[position] or EMPTY for array in arrays]
    addresses = target.table([b.address if b.size else 0 for b in buffers], np.uint64)
    first_bits = target.table([array.offset for array in arrays], np.uint64)
    args = (*places.args, addresses, first_bits, length)
    return bits_by(target, unions.gather_union_bits, length, args)
