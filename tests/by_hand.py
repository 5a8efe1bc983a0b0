"""Small arrays written byte by byte, good and bad."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from colkern import schema as s
from colkern.arrays import Array
from colkern.memory import Buffer


def buffer(items: Any, dtype: str = "u1") -> Buffer:
    """The items as bytes."""
    return Buffer(np.array(items, dtype).view("u1"))


def int8s(values: list[int], valid: int | None = None) -> Array:
    """An int8 array, with a validity bitmap of one byte or without."""
    return Array(
        s.int8(), len(values), [None if valid is None else buffer([valid]), buffer(values, "i1")]
    )


def text(data: bytes, offsets: list[int]) -> Array:
    """A utf8 array of those bytes and offsets."""
    buffers = [None, buffer(offsets, "<i4"), Buffer.from_object(data)]
    return Array(s.utf8(), len(offsets) - 1, buffers)


def with_one_random_buffer(array: Array, data: st.DataObject) -> Array:
    """The array, or one of its children, with noise in one buffer."""
    parts = [*range(len(array.buffers)), *(f"child {i}" for i in range(len(array.children)))]
    if not parts:
        return array
    chosen = data.draw(st.sampled_from(parts))
    buffers, children = list(array.buffers), list(array.children)
    if isinstance(chosen, str):
        place = int(chosen.removeprefix("child "))
        children[place] = with_one_random_buffer(children[place], data)
    elif (old := buffers[chosen]) is not None and old.size:
        noise = data.draw(st.binary(min_size=8, max_size=8))
        buffers[chosen] = Buffer.from_object((noise * (old.size // 8 + 1))[: old.size])
    return Array(array.type, array.length, buffers, children, array.dictionary, array.offset)
