"""The part of buffers and children that belongs to an array's own slots, from slot 0 on.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Sequence

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import own_bits
from colkern.layouts import ChildLength, Extent
from colkern.memory import Buffer


def own_parts(array: Array) -> tuple[Sequence[Buffer | None], Sequence[Array]]:
    """Buffers and children that begin with the array's own slots; shared, but for bits."""
    if array.offset == 0:
        return array.buffers, array.children
    fixed = len(array.layout.buffers)
    buffers = [_own_buffer(array, position) for position in range(fixed)]
    return [*buffers, *array.buffers[fixed:]], _own_children(array)


def _own_buffer(array: Array, position: int) -> Buffer | None:
    spec, buffer = array.layout.buffers[position], array.buffers[position]
    if buffer is None or spec.extent is Extent.FREE or not spec.dtype.itemsize:
        return buffer
    if spec.extent is Extent.BITS:
        return own_bits(buffer, array.offset, array.length)
    begin = array.offset * spec.dtype.itemsize
    return buffer[begin : begin + spec.min_bytes(array.length)]


def _own_children(array: Array) -> Sequence[Array]:
    rule, storage = array.layout.child_length, array.type.storage
    size = storage.list_size if isinstance(storage, s.FixedSizeList) else 1
    if rule in (ChildLength.SAME, ChildLength.LIST_SIZE):
        begin, count = array.offset * size, array.length * size
        return [child.slice(begin, count) for child in array.children]
    return array.children
