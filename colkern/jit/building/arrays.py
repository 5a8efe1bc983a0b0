"""Arrays of the items that compiled code has written for the nodes of `colkern.jit.building.nodes`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import packed
from colkern.jit.building.nodes import node_of
from colkern.layouts import Role, layout
from colkern.memory import ALIGNMENT, EMPTY, Buffer, allocate
from colkern.targets import Items


def built_array(
    type: s.DataType,
    length: int,
    null_count: int,
    nulls: NDArray[np.uint8] | None,
    items: Items | None,
    data: NDArray[np.uint8] | None,
    children: Sequence[Array],
) -> Array:
    """An array that shares the memory of its parts, except where a part is no buffer of the layout yet.

    Args:
        type: The data type.
        length: The number of slots.
        null_count: How many of them are null.
        nulls: uint8[at least `length`], 1 for a null; None if none is.
        items: The items of all slots, with zeros under nulls; None if the node has none.
        data: The bytes of byte strings.
        children: The arrays of the child nodes.
    """
    finish = node_of(type).finish
    if isinstance(type.storage, s.Union):
        return _union(type, items, children)
    parts: dict[Role, Buffer | None] = {
        Role.VALIDITY: Buffer(packed(nulls[:length] ^ 1))
        if nulls is not None and null_count
        else None,
        Role.BYTES: EMPTY if data is None else Buffer(data),
    }
    if items is None:
        parts[Role.OFFSETS] = parts[Role.DATA] = EMPTY
    else:
        data_items = items if finish is None else finish(items)
        parts[Role.OFFSETS] = parts[Role.DATA] = Buffer(data_items.view(np.uint8))
    buffers = [parts[spec.role] for spec in layout(type).buffers]
    return Array.of_valid(type, length, buffers, null_count, children)


def _union(type: s.DataType, type_ids: Items | None, children: Sequence[Array]) -> Array:
    """A union of children that values were appended to in the order of its slots."""
    union = type.storage
    assert isinstance(union, s.Union)
    ids = allocate(0, np.dtype(np.int8)) if type_ids is None else type_ids
    buffers = [Buffer(ids.view(np.uint8))]
    if union.mode == "dense":
        offsets = allocate(len(ids), np.dtype(np.int32))
        for code, child in zip(union.type_codes, children, strict=True):
            offsets[ids == code] = np.arange(child.length, dtype=np.int32)
        buffers.append(Buffer(offsets.view(np.uint8)))
    return Array.of_valid(type, len(ids), buffers, children=children)


def cut(items: Items, count: int) -> Items:
    """The first `count` items, and zeros after them up to the end of their line of 64 bytes.

    Copied if they fill less than half of the memory.
    """
    if 2 * count < len(items):
        copied = allocate(count, items.dtype)
        copied[:] = items[:count]
        return copied
    end = count * items.itemsize
    items.view(np.uint8)[end : end + -end % ALIGNMENT] = 0
    return items[:count]
