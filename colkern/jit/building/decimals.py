"""Decimals: rescaled to the scale of the builder's type, with no more digits than it has."""

from __future__ import annotations

from numba import types
from numba.extending import overload

from colkern import schema as s
from colkern.jit.building.builder_type import APPENDS
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.room import new_slot
from colkern.jit.building.state import put_item, row_of, set_length
from colkern.jit.device import decimals
from colkern.jit.values.decimal_numbers import DecimalLoop, DecimalType


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


def put_decimal(out, slot, value):
    """items[slot] = value; whether it has no more digits than the type."""
    raise NotImplementedError


@overload(put_decimal)
def _ol_put_decimal(out, slot, value):
    storage = out.data_type.storage
    loop = DecimalLoop({"put_item": put_item}, value=value)
    loop.parameters = ["out", "slot", "value"]
    words = decimals.stored(loop, *loop.operands, storage)
    for k, word in enumerate(words):
        loop.emit(f"put_item(out, slot * {len(words)} + {k}, _ck_i8({word}))")
    return loop.written(decimals.is_within(loop, words, storage), "decimals")
