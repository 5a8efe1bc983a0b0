"""Decimals: rescaled to the scale of the builder's type, with no more digits than it has."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from colkern import schema as s
from colkern.jit.building.nodes import State
from colkern.jit.building.room import new_slot
from colkern.jit.building.state import emit_store, row_of, set_length
from colkern.jit.values.decimal_numbers import DecimalType, as_integer, whole_words, widened


def decimal_append(out, value):
    """`append` of a decimal; None if the builder does not take such a value."""
    storage = out.data_type.storage
    if not isinstance(storage, s.Decimal) or not isinstance(value, DecimalType):
        return None
    if value.scale > storage.scale:
        return None
    message = f"a decimal of more digits than {out.data_type} has"

    def append(out, value):
        row = row_of(out)
        slot = new_slot(row)
        if not _put_decimal(out, slot, value):
            raise OverflowError(message)
        set_length(row, slot + 1)

    return append


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


@intrinsic
def _put_decimal(typingctx, out, slot, value):
    """items[slot] = value; whether it has no more digits than the type."""
    returns = out.data_type.storage

    def codegen(context, builder, signature, args):
        stored, outside = emit_stored(builder, value, args[2], returns)
        emit_store(builder, args[0], State.ITEMS, args[1], stored)
        return builder.not_(outside)

    return types.boolean(out, types.int64, value), codegen
