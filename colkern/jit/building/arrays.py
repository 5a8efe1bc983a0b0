"""Arrays of the items that users' functions have written for the nodes of `colkern.jit.building.nodes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import packed, packed_bits
from colkern.layouts import Role, layout
from colkern.memory import ALIGNMENT, HOST, Buffer, allocate
from colkern.targets import Items, Target


@dataclass
class Part:
    """A node of a tree, and the memory written for it.

    Args:
        children: The nodes below.
        length: The number of its slots.
        null_count: How many of them are null.
        items: The items of all slots or offsets, with zeros under nulls; None if there are none.
        nulls: uint8[at least `length`], 1 for a null; None if none is.
        data: The bytes of byte strings.
    """

    type: s.DataType
    children: Sequence[Part] = ()
    length: int = 0
    null_count: int = 0
    items: Items | None = None
    nulls: Items | None = None
    data: Items | None = None


def built_array(part: Part, target: Target) -> Array:
    """The array of a node; its memory is shared, unless the layout wants it in another form.

    Args:
        target: The target that has the memory.
    """
    children = [built_array(child, target) for child in part.children]
    if isinstance(part.type.storage, s.Union):
        return _union(part, children)
    nulls = part.nulls if part.null_count else None
    data = _data(part, target)
    buffers: dict[Role, Buffer | None] = {
        Role.VALIDITY: None if nulls is None else _packed(nulls[: part.length] ^ 1, target),
        Role.OFFSETS: data,
        Role.DATA: data,
        Role.BYTES: _buffer(part.data, target),
    }
    used = [buffers[spec.role] for spec in layout(part.type).buffers]
    return Array.of_valid(part.type, part.length, used, part.null_count, children)


def _buffer(items: Any, target: Target) -> Buffer:
    buffer: Buffer = target.buffer(target.allocate(0, np.uint8) if items is None else items)
    return buffer


def _data(part: Part, target: Target) -> Buffer:
    storage, items = part.type.storage, part.items
    if items is not None and isinstance(storage, s.Bool):
        return _packed(items, target)
    if items is not None and isinstance(storage, s.FloatingPoint) and storage.bit_width == 16:
        # A float too large for 16 bits is an infinity, as in any other arithmetic.
        with np.errstate(over="ignore"):
            items = items.astype(np.float16)
    return _buffer(items, target)


def _packed(flags: Any, target: Target) -> Buffer:
    """A bitmap of bytes (uint8[]), a bit for each, set where it is not 0."""
    if target.device == HOST:
        return Buffer(packed(flags))
    return packed_bits(target, flags)


def _union(part: Part, children: Sequence[Array]) -> Array:
    """A union of children that values were appended to in the order of its slots."""
    union = part.type.storage
    assert isinstance(union, s.Union)
    ids = allocate(0, np.dtype(np.int8)) if part.items is None else part.items
    buffers = [Buffer(ids.view(np.uint8))]
    if union.mode == "dense":
        offsets = allocate(len(ids), np.dtype(np.int32))
        for code, child in zip(union.type_codes, children, strict=True):
            offsets[ids == code] = np.arange(child.length, dtype=np.int32)
        buffers.append(Buffer(offsets.view(np.uint8)))
    return Array.of_valid(part.type, len(ids), buffers, children=children)


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
