"""Writing byte strings from where they are, once all have been measured."""

from __future__ import annotations

from functools import cache
from typing import Any

from numpy import uint64

from colkern.cpu.compiler import jit
from colkern.cpu.primitives import copy_bytes
from colkern.jit.compiling.library import library_key


def gather(start, stop, addresses, offsets, out):
    """out[offsets[i] : offsets[i + 1]] = the bytes at addresses[i], as many as there is room for.

    addresses: uint64[n]
    offsets: int32/int64[n + 1]
    out: uint8[offsets[n]]
    """
    for i in range(uint64(start), uint64(stop)):
        place = uint64(offsets[i])
        copy_bytes(out, place, addresses[i], uint64(offsets[i + uint64(1)]) - place)


@cache
def gather_loop() -> Any:
    """`gather`, compiled."""
    return jit(gather, library_key(), outermost=True)
