"""Arrays as kernels take them."""

from __future__ import annotations

from typing import Any

from colkern.arrays import Array
from colkern.layouts import Role
from colkern.targets import Target


def validity_of(array: Array, target: Target) -> tuple[Any, int]:
    """The validity bitmap as kernels take it, and the bit of slot 0: zero bytes if there is none."""
    buffer = None
    if array.layout.has_validity and array.known_null_count != 0:
        buffer = array.buffer(Role.VALIDITY)
    if buffer is None:
        return target.no_bits, 0
    return buffer.array, array.offset


def buffer_addresses(array: Array) -> list[int]:
    """The address of each variadic data buffer; 0 for one without bytes."""
    return [b.address if b is not None and b.size else 0 for b in array.data_buffers]
