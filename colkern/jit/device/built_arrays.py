"""The array of what kernels have written for the nodes of a tree, where it was written."""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bit_words, bitmap_of
from colkern.jit.device.tree import Part
from colkern.kernels import bitmaps
from colkern.layouts import Role, layout
from colkern.memory import Buffer
from colkern.targets import Target


def built_array(part: Part, target: Target) -> Array:
    """The array of a node, which shares its memory but where it is no buffer of the layout yet.

    Args:
        part: The node.
        target: The target that has the memory.
    """
    data = _data(part, target)
    buffers: dict[Role, Buffer | None] = {
        Role.VALIDITY: None if part.nulls is None else _packed(part.nulls ^ 1, target),
        Role.OFFSETS: data,
        Role.DATA: data,
        Role.BYTES: _buffer(part.data, target),
    }
    return Array(
        part.type,
        part.length,
        [buffers[spec.role] for spec in layout(part.type).buffers],
        [built_array(child, target) for child in part.children],
        null_count=part.null_count,
    )


def _buffer(items: Any, target: Target) -> Buffer:
    made: Buffer = target.buffer(target.allocate(0, np.uint8) if items is None else items)
    return made


def _data(part: Part, target: Target) -> Buffer:
    storage = part.type.storage
    if isinstance(storage, s.Bool):
        return _packed(part.items, target)
    if isinstance(storage, s.FloatingPoint) and storage.bit_width == 16:
        assert part.items is not None
        # A float too large for 16 bits is an infinity, as in any other arithmetic.
        with np.errstate(over="ignore"):
            return _buffer(part.items.astype(np.float16), target)
    return _buffer(part.items, target)


def _packed(flags: Any, target: Target) -> Buffer:
    """A bitmap of bytes (uint8[]), a bit for each, set where it is not 0."""
    words = bit_words(target, len(flags))
    target.map(bitmaps.pack_bits, len(words), target.frozen(flags), len(flags), words)
    return bitmap_of(target, words, len(flags))
