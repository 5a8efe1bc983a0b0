"""The parts of buffers and children that belong to an array's own slots, from slot 0 on.

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
    """Buffers and children that begin with the array's own slots; shared, except bitmaps."""
    if array.offset == 0:
        return array.buffers, array.children
    fixed = len(array.layout.buffers)
    buffers = [_own_buffer(array, position) for position in range(fixed)]
    storage, rule = array.type.storage, array.layout.child_length
    children: Sequence[Array] = array.children
    if isinstance(storage, s.FixedSizeList):
        children = own_children(array, storage.list_size)
    elif rule is ChildLength.SAME:
        children = own_children(array)
    return [*buffers, *array.buffers[fixed:]], children


def _own_buffer(array: Array, position: int) -> Buffer | None:
    spec, buffer = array.layout.buffers[position], array.buffers[position]
    if buffer is None or spec.extent is Extent.FREE or not spec.dtype.itemsize:
        return buffer
    if spec.extent is Extent.BITS:
        return own_bits(buffer, array.offset, array.length)
    begin = array.offset * spec.dtype.itemsize
    return buffer[begin : begin + spec.min_bytes(array.length)]


def own_children(array: Array, size: int = 1) -> Sequence[Array]:
    """The children cut to the array's own slots, each of which has `size` child slots; shared."""
    begin, count = array.offset * size, array.length * size
    return [cut(child, begin, count) for child in array.children]


def cut(child: Array, begin: int, count: int) -> Array:
    """`count` slots from `begin` on; the child itself, with its null count, if these are all."""
    return child if child.length == count else child.slice(begin, count)
