"""Decimals: rescaled to the scale of the builder's type, with no more digits than it has."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

from colkern import schema as s
from colkern.jit.building.nodes import State
from colkern.jit.building.room import new_slot
from colkern.jit.building.state import emit_store, row_of, set_length
from colkern.jit.results.decimal_results import emit_stored
from colkern.jit.values.decimal_numbers import DecimalType


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


@intrinsic
def _put_decimal(typingctx, out, slot, value):
    """items[slot] = value; whether it has no more digits than the type."""
    returns = out.data_type.storage

    def codegen(context, builder, signature, args):
        stored, outside = emit_stored(builder, value, args[2], returns)
        emit_store(builder, out, args[0], State.ITEMS, args[1], stored)
        return builder.not_(outside)

    return types.boolean(out, types.int64, value), codegen
