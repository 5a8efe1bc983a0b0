"""Views of values in a data buffer, and of inline ones."""

from __future__ import annotations

from typing import Any

from benchmarks.gpu.case import Data
from colkern.kernels import views as kernels

LENGTHS = (8, 24)


def encoded(data: Data, length: int) -> tuple[Any, Any, Any]:
    """Views of values of that many bytes, with the bytes, and with the offsets of the values."""
    count = data.slots(16 + 4 + 2 * length)
    values = data.full(count * length, 97, "u1")
    offsets = data.range(count + 1, "i4", length)
    words = data.out(4 * count, "i4")
    masks = data.target.table(kernels.inline_masks(), "u8")
    given = (offsets, values, data.target.address(values), data.none, 0, masks)
    data.target.map(kernels.encode_views, count, *given, words)
    return words, values, offsets
