"""Putting decimals away: at the scale of their column, with no more digits than it has."""

# Numba's decorators and the bodies that it compiles are untyped.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-untyped-calls=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy import int64, uint8

from colkern.jit.rows.flags import MADE_NULL, OUT_OF_RANGE
from colkern.jit.values.decimal_numbers import DecimalType, as_integer, widened
from colkern.jit.values.optionals import unwrapped

_WORD = 64


def put_decimal(
    out: Any, nulls: Any, i: Any, value: Any, width: Any, scale: Any, digits: Any
) -> Any:
    """Slot `i` of `out` becomes `value`, or nulls[i] = 1 for None; flags.

    Args:
        out: int32[n] or int64[n words]: the memory of decimals of `width` bits with `scale` and so many
            `digits`, which are literals.
        nulls: uint8[n]
        i: The slot.
        value: A decimal of that scale or a smaller one, or an integer: a decimal times ten to its power.
        width: 32, 64, 128 or 256.
        scale: Of the results.
        digits: How many they may have.
    """
    raise NotImplementedError


@overload(put_decimal, prefer_literal=True)
def _ol_put_decimal(out, nulls, i, value, width, scale, digits):
    if isinstance(value, types.NoneType):

        def put_null(out, nulls, i, value, width, scale, digits):
            nulls[i] = uint8(1)
            return MADE_NULL

        return put_null
    w, s, d = width.literal_value, scale.literal_value, digits.literal_value
    if isinstance(value, types.Optional):

        def put_optional(out, nulls, i, value, width, scale, digits):
            if value is None:
                nulls[i] = uint8(1)
                return MADE_NULL
            return put_decimal(out, nulls, i, unwrapped(value), w, s, d)

        return put_optional
    if isinstance(value, types.Boolean):
        return lambda out, nulls, i, value, width, scale, digits: _stored(
            out, i, int64(value), w, s, d
        )
    return lambda out, nulls, i, value, width, scale, digits: _stored(out, i, value, w, s, d)


@intrinsic(prefer_literal=True)
def _stored(typingctx, out, slot, value, width, scale, digits):
    limit = 10**digits.literal_value
    power = scale.literal_value - value.scale if isinstance(value, DecimalType) else 0
    stored = ir.IntType(width.literal_value)

    def codegen(context, builder, signature, args):
        array, place, given = args[:3]
        number = as_integer(builder, signature.args[2], given)
        needed = number.type.width + (10**power).bit_length(), limit.bit_length() + 1
        wide = widened(builder, number, -(-max(*needed, stored.width) // _WORD) * _WORD, power)
        too_great = builder.icmp_signed(">=", wide, wide.type(limit))
        too_small = builder.icmp_signed("<=", wide, wide.type(-limit))
        data = context.make_array(signature.args[0])(context, builder, array).data
        slots = builder.bitcast(data, stored.as_pointer())
        narrow = wide if wide.type == stored else builder.trunc(wide, stored)
        # Buffers are aligned to 8 bytes, which is less than LLVM takes wide integers to be.
        builder.store(narrow, builder.gep(slots, [place]), align=min(stored.width, _WORD) // 8)
        flag = ir.IntType(_WORD)
        outside = builder.or_(too_great, too_small)
        return builder.select(outside, flag(OUT_OF_RANGE), flag(0))

    return types.int64(out, types.uint64, value, width, scale, digits), codegen
