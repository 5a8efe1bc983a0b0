"""What an array holds beyond its own values, as slices do: they share whole buffers."""

from __future__ import annotations

from colkern.arrays import Array
from colkern.layouts import ChildLength, Extent, Role
from colkern.operations.trimming.recursion import trim
from colkern.schema import FixedSizeList
from colkern.targets import target_of


def without_surplus(array: Array) -> Array:
    """The array itself if its buffers have its own slots alone; else trimmed: see `trim`.

    A dictionary stays whole, as other arrays may share it.

    Raises:
        InvalidArrowError: If it is a slice of an array that points outside its own memory.
    """
    return trim(array) if _has_surplus(array) else array


def _has_surplus(array: Array) -> bool:
    """Whether the array is a slice, by counts and sizes; children answer for themselves."""
    slots = array.length
    if array.offset:
        return True
    for spec, buffer in zip(array.layout.buffers, array.buffers, strict=False):
        if buffer is None or spec.extent is Extent.FREE:
            continue
        if buffer.size > spec.min_bytes(slots):
            return True
    return _has_surplus_children(array)


def _has_surplus_children(array: Array) -> bool:
    rule, slots = array.layout.child_length, array.length
    if rule is ChildLength.RUNS:
        ends = array.children[0]
        if not ends.length:
            return False
        last = target_of(ends.device).item(ends.items(Role.DATA), ends.length - 1)
        return bool(last != slots)
    if rule is ChildLength.SAME:
        return any(child.length > slots for child in array.children)
    storage = array.type.storage
    return isinstance(storage, FixedSizeList) and (
        array.children[0].length > slots * storage.list_size
    )
