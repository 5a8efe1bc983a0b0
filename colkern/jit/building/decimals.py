"""Decimals: rescaled to the scale of the builder's type, with no more digits than it has."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from colkern import schema as s
from colkern.jit.building.builder_type import APPENDS
from colkern.jit.building.nodes import NodeKind, State
from colkern.jit.building.room import new_slot
from colkern.jit.building.state import emit_store, row_of, set_length
from colkern.jit.values.decimal_numbers import DecimalType, as_integer, at_scale, extended


@APPENDS.of(NodeKind.WORDS)
def decimal_append(out, value):
    """`append` of a decimal, or of the integer that is stored; None if the builder takes no such value."""
    storage = out.data_type.storage
    if not isinstance(storage, s.Decimal):
        return None
    if isinstance(value, DecimalType):
        if value.scale > storage.scale:
            return None
    elif isinstance(value, types.BaseTuple):
        if len(value) != storage.bit_width // 64 or not all(map(_is_integer, value)):
            return None
    elif not _is_integer(value):
        return None
    message = f"a decimal out of the range of {out.data_type}"

    def append(out, value):
        row = row_of(out)
        slot = new_slot(row)
        if not put_decimal(out, slot, value):
            raise OverflowError(message)
        set_length(row, slot + 1)

    return append


def _is_integer(kind: types.Type) -> bool:
    return isinstance(kind, types.Integer)


@intrinsic
def put_decimal(typingctx, out, slot, value):
    """items[slot] = value; whether it has no more digits than the type."""
    returns = out.data_type.storage
    limit = 10**returns.precision

    def codegen(context, builder, signature, args):
        if isinstance(value, DecimalType):
            number = at_scale(builder, value, args[2], returns.scale)
        elif isinstance(value, types.BaseTuple):
            number = _of_words(context, builder, value, args[2])
        else:
            number = as_integer(builder, value, args[2])
        stored = ir.IntType(returns.bit_width)
        wide = extended(builder, number, max(limit.bit_length() + 1, stored.width))
        too_great = builder.icmp_signed(">=", wide, wide.type(limit))
        too_small = builder.icmp_signed("<=", wide, wide.type(-limit))
        emit_store(builder, args[0], State.ITEMS, args[1], builder.trunc(wide, stored))
        return builder.not_(builder.or_(too_great, too_small))

    return types.boolean(out, types.int64, value), codegen


def _of_words(context: Any, builder: Any, kinds: Any, words: Any) -> Any:
    """The LLVM integer of a tuple of words, the lowest first."""
    whole = ir.IntType(64 * len(kinds))
    number = whole(0)
    for k, (kind, word) in enumerate(zip(kinds, cgutils.unpack_tuple(builder, words), strict=True)):
        wide = builder.zext(context.cast(builder, word, kind, types.uint64), whole)
        number = builder.or_(number, builder.shl(wide, whole(64 * k)))
    return number
