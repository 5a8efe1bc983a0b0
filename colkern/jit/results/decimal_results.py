"""Putting decimals away: at the scale of their column, with no more digits than it has."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy import int64, uint8

from colkern import schema as s
from colkern.jit.rows.flags import OUT_OF_RANGE
from colkern.jit.values.decimal_numbers import DecimalType, as_integer, whole_words, widened
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
            return 0

        return put_null
    w, s, d = width.literal_value, scale.literal_value, digits.literal_value
    if isinstance(value, types.Optional):

        def put_optional(out, nulls, i, value, width, scale, digits):
            if value is None:
                nulls[i] = uint8(1)
                return 0
            return put_decimal(out, nulls, i, unwrapped(value), w, s, d)

        return put_optional
    if isinstance(value, types.Boolean):
        return lambda out, nulls, i, value, width, scale, digits: _stored(
            out, i, int64(value), w, s, d
        )
    return lambda out, nulls, i, value, width, scale, digits: _stored(out, i, value, w, s, d)


def emit_stored(builder: Any, kind: Any, value: Any, returns: s.Decimal) -> tuple[Any, Any]:
    """What a decimal type stores for a number, and whether the number has more digits than it.

    Args:
        kind: The Numba type of the number: a decimal of that scale or a smaller one, or an integer.
        value: The number.
        returns: The type.
    """
    limit = 10**returns.precision
    power = returns.scale - kind.scale if isinstance(kind, DecimalType) else 0
    stored = ir.IntType(returns.bit_width)
    number = as_integer(builder, kind, value)
    needed = number.type.width + (10**power).bit_length(), limit.bit_length() + 1
    wide = widened(builder, number, whole_words(max(*needed, stored.width)), power)
    too_great = builder.icmp_signed(">=", wide, wide.type(limit))
    too_small = builder.icmp_signed("<=", wide, wide.type(-limit))
    narrow = wide if wide.type == stored else builder.trunc(wide, stored)
    return narrow, builder.or_(too_great, too_small)


@intrinsic(prefer_literal=True)
def _stored(typingctx, out, slot, value, width, scale, digits):
    returns = s.Decimal(width.literal_value, digits.literal_value, scale.literal_value)

    def codegen(context, builder, signature, args):
        array, place, given = args[:3]
        stored, outside = emit_stored(builder, signature.args[2], given, returns)
        data = context.make_array(signature.args[0])(context, builder, array).data
        slots = builder.bitcast(data, stored.type.as_pointer())
        # Buffers are aligned to 8 bytes, which is less than LLVM takes wide integers to be.
        align = min(stored.type.width, _WORD) // 8
        builder.store(stored, builder.gep(slots, [place]), align=align)
        flag = ir.IntType(_WORD)
        return builder.select(outside, flag(OUT_OF_RANGE), flag(0))

    return types.int64(out, types.uint64, value, width, scale, digits), codegen
