"""Big-endian buffers into little-endian ones, by the layout table.

Columnar format 1.5: "Byte Order (Endianness)".
"""

from __future__ import annotations

import numpy as np

from colkern.layouts import VIEW_BYTES, VIEW_INLINE_BYTES, BufferSpec, Role
from colkern.memory import Buffer, allocate


def little_endian(buffer: Buffer, spec: BufferSpec) -> Buffer:
    """A copy of a big-endian buffer, each whole number's bytes reversed, if they have an order."""
    if not spec.swap_bytes or buffer.size == 0:
        return buffer
    return _swap_views(buffer) if spec.role is Role.VIEWS else _swap_numbers(buffer, spec)


def _swap_numbers(buffer: Buffer, spec: BufferSpec) -> Buffer:
    width = sum(spec.swap_bytes)
    count = buffer.size // width
    source = buffer.array[: count * width].reshape(count, width)
    out = allocate(count * width, np.uint8)
    target = out.reshape(count, width)
    start = 0
    for part in spec.swap_bytes:
        target[:, start : start + part] = source[:, start : start + part][:, ::-1]
        start += part
    return Buffer(out)


def _swap_views(buffer: Buffer) -> Buffer:
    """Length always; buffer index and offset only of long views: the rest of a view is text."""
    count = buffer.size // VIEW_BYTES
    source = buffer.array[: count * VIEW_BYTES].reshape(count, VIEW_BYTES)
    out = allocate(count * VIEW_BYTES, np.uint8)
    target = out.reshape(count, VIEW_BYTES)
    target[:] = source
    target[:, :4] = source[:, 3::-1]
    long = target[:, :4].copy().view("<i4")[:, 0] > VIEW_INLINE_BYTES
    target[long, 8:12] = source[long, 11:7:-1]
    target[long, 12:16] = source[long, 15:11:-1]
    return Buffer(out)
