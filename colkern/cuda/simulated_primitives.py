"""The primitives that each compiler supplies in its own way, for the simulator: as plain Python."""

from __future__ import annotations

from typing import Any

from numpy import uint64

from colkern.kernels import primitives


def address_of(array: Any, position: Any) -> Any:
    """The address of item `position` of an array."""
    return uint64(int(array.ctypes.data) + int(position) * array.itemsize)


def store_word(out: Any, position: Any, word: Any) -> None:
    """A uint64 to eight bytes of `out` (uint8[])."""
    for k in range(8):
        out[int(position) + k] = int(word) >> 8 * k & 255


def __getattr__(name: str) -> Any:
    return getattr(primitives, name)
