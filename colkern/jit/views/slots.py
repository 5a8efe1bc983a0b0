"""Slots by position: where an index points, and what the element there is.

What takes a position is lowered in the caller and no `overload`: Numba compiles those once for all
callers, whether they want their indices checked or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import types
from numba.core import cgutils

from colkern.jit.environment import is_checked
from colkern.jit.views.column_types import ColumnType, element_type
from colkern.jit.views.elements import reader_of, tester_of


def checks_positions(context: Any) -> bool:
    """Whether positions are checked: with `boundscheck=True`, or CK_CHECKED=1 in the environment."""
    return bool(context.enable_boundscheck) or is_checked()


def slot_of(context: Any, builder: Any, length: Any, kind: Any, index: Any) -> Any:
    """An index as a slot: from the end, if it is negative."""
    position = context.cast(builder, index, kind, types.int64 if kind.signed else types.uint64)
    if kind.signed:
        negative = builder.icmp_signed("<", position, position.type(0))
        position = builder.select(negative, builder.add(position, length), position)
    if checks_positions(context):
        with builder.if_then(builder.icmp_unsigned(">=", position, length), likely=False):
            message = "column index out of range"
            context.call_conv.return_user_exc(builder, IndexError, (message,))
    return position


def called(context: Any, builder: Any, function: Any, kinds: Sequence[Any], args: Any) -> Any:
    """A call of a function that Numba knows."""
    known = context.typing_context.resolve_value_type(function)
    signature = known.get_call_type(context.typing_context, tuple(kinds), {})
    return context.get_function(known, signature)(builder, args)


def element_at(context: Any, builder: Any, kind: ColumnType, column: Any, slot: Any) -> Any:
    """The LLVM value of a slot: optional, if it may be null."""
    kinds, args = (kind, types.uint64), (column, slot)
    found = element_type(kind)
    if not isinstance(found, types.Optional):
        return called(context, builder, reader_of(kind), kinds, args)
    made = context.make_helper(builder, found)
    valid = called(context, builder, tester_of(kind), kinds, args)
    place = cgutils.alloca_once(builder, context.get_value_type(found.type), zfill=True)
    with builder.if_then(valid):
        builder.store(called(context, builder, reader_of(kind), kinds, args), place)
    made.valid, made.data = valid, builder.load(place)
    return made._getvalue()
