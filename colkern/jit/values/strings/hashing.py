"""Hashes of byte strings, which lets them be keys of dictionaries."""

from __future__ import annotations

from numba.extending import overload_method
from numpy import int64, uint64

from colkern.jit.values.strings.views import ByteStringType


@overload_method(ByteStringType, "__hash__")
def _ol_hash(s):
    def fowler_noll_vo(s):
        found = uint64(0xCBF29CE484222325)
        for byte in s:
            found = (found ^ uint64(byte)) * uint64(0x100000001B3)
        # Hashes of dictionaries are signed, and -1 is none.
        return int64(found >> uint64(1))

    return fowler_noll_vo
