"""Bounds of slices and searches: any integers, as positions within a length."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

_MOST = (1 << 63) - 1


@intrinsic
def saturated(typingctx, bound):
    """An integer as an int64; the largest one for a uint64 that is beyond it."""
    if not isinstance(bound, types.Integer | types.Boolean):
        return None

    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        found = context.cast(builder, args[0], kind, types.int64)
        if kind != types.uint64:
            return found
        most = ir.Constant(found.type, _MOST)
        return builder.select(builder.icmp_unsigned(">", found, most), most, found)

    return types.int64(bound), codegen


@register_jitable
def clamp(bound, length):
    """A slice's bound (int64), which may count from the end, as a position from 0 to `length`."""
    if bound < 0:
        bound += length
    return min(max(bound, 0), length)
