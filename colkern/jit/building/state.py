"""The numbers of a builder's row and the memory behind it, from compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import overload, register_jitable

from colkern.errors import LimitExceededError
from colkern.jit.building.builder_type import BuilderType, load_number, method, place_of
from colkern.jit.building.nodes import Failure, Request, State
from colkern.kernels.intrinsics import instructions

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)


def builder_at(kind: BuilderType) -> Any:
    """The function that makes a builder of a type from the address (uint64) of its row."""

    @instructions(kind(types.uint64))
    def at(context, builder, signature, args):
        return args[0]

    return at


@instructions(lambda out: types.int64(out))
def row_of(context, builder, signature, args):
    """The address of a builder's row.

    It has no data type, so functions that take it are compiled once, not for each data type.
    """
    return args[0]


def _number(what: State) -> tuple[Any, Any]:
    """The functions that read and write a number of a row."""

    @instructions(types.int64(types.int64))
    def get(context, builder, signature, args):
        return load_number(builder, args[0], what)

    @instructions(types.none(types.int64, types.int64))
    def put(context, builder, signature, args):
        builder.store(args[1], place_of(builder, args[0], what))

    return get, put


length_of, set_length = _number(State.LENGTH)
used_of, set_used = _number(State.USED)
null_count_of, set_null_count = _number(State.NULL_COUNT)
failure_of, set_failure = _number(State.FAILURE)
capacity_of, _ = _number(State.CAPACITY)
room_of, _ = _number(State.ROOM)
nulls_of, _ = _number(State.NULLS)


@instructions(types.boolean(types.boolean))
def is_likely(context, builder, signature, args):
    """A condition, with a hint that it mostly holds."""
    kind = ir.FunctionType(args[0].type, [args[0].type] * 2)
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.expect.i1")
    return builder.call(function, [args[0], args[0].type(1)])


@instructions(types.none(types.int64, types.int64, types.int64))
def grow(context, builder, signature, args):
    """Ask the builder's object for room in a row; `request` says of what."""
    kind = ir.FunctionType(ir.VoidType(), [_WORD] * 3)
    address = load_number(builder, args[0], State.GROW)
    builder.call(builder.inttoptr(address, kind.as_pointer()), args)


# Memory


@instructions(lambda out, place, value: types.none(out, types.int64, out.item))
def put_item(context, builder, signature, args):
    """Store a value as item `place`, converted to the type of the items."""
    value = context.get_value_as_data(builder, signature.args[2], args[2])
    _store_item(builder, args[0], args[1], value)


def _store_item(builder: ir.IRBuilder, address: ir.Value, place: ir.Value, value: ir.Value) -> None:
    start = load_number(builder, address, State.ITEMS)
    items = builder.inttoptr(start, value.type.as_pointer())
    builder.store(value, builder.gep(items, [place]))


@instructions(lambda out, slot: types.none(out, types.int64))
def put_empty(context, builder, signature, args):
    """Put zeros, or the offset before, into a slot under a null; not into the slots of nodes below."""
    out, node = signature.args[0], signature.args[0].node
    if node.item is None:
        return
    if node.has_offsets:
        used, item = load_number(builder, args[0], State.USED), context.get_data_type(out.item)
        end = used if item == _WORD else builder.trunc(used, item)
        _store_item(builder, args[0], builder.add(args[1], _WORD(1)), end)
        return
    size = node.per_slot * node.item.itemsize
    start = load_number(builder, args[0], State.ITEMS)
    place = builder.add(start, builder.mul(args[1], _WORD(size)))
    cgutils.memset(builder, builder.inttoptr(place, _BYTE.as_pointer()), _WORD(size), 0)


def _address(what: State) -> Any:
    """The function that gives the address of a builder's memory, for `numba.carray`."""

    @instructions(lambda row: types.voidptr(row))
    def address(context, builder, signature, args):
        return builder.inttoptr(load_number(builder, args[0], what), _BYTE.as_pointer())

    return address


items_address, bytes_address = _address(State.ITEMS), _address(State.BYTES)


# Room


SLOTS, BYTES, NULLS = (int(request) for request in Request)
_NO_MEMORY, _OFFSETS, _INTERRUPT = (int(failure) for failure in list(Failure)[1:])


@register_jitable
def make_room(row, request, count):
    """Room for `count` more slots or bytes, or for marks of nulls; raises why there is none."""
    # Until the builder's object says otherwise.
    set_failure(row, _NO_MEMORY)
    grow(row, request, count)
    failure = failure_of(row)
    if failure == _INTERRUPT:
        raise RuntimeError("interrupted while a builder grew")
    if failure == _OFFSETS:
        raise LimitExceededError(
            "a builder of 32-bit offsets holds 2147483647 bytes; build the large type"
        )
    if failure != 0:
        raise MemoryError("no memory for a builder to grow")


@register_jitable
def ensure_slots(row, count):
    """Room for `count` slots more."""
    if not is_likely(count <= capacity_of(row) - length_of(row)):
        make_room(row, SLOTS, count)


@register_jitable
def new_slot(row):
    """The slot to append to, for which there is room."""
    ensure_slots(row, 1)
    return length_of(row)


@register_jitable
def new_bytes(row, size):
    """The number of bytes so far; there is room for `size` more after them."""
    if not is_likely(size <= room_of(row) - used_of(row)):
        make_room(row, BYTES, size)
    return used_of(row)


@register_jitable
def end_at(out, slot, used):
    """Append a slot that ends where `used` bytes or slots of the child do."""
    row = row_of(out)
    put_item(out, slot + 1, used)
    set_used(row, used)
    set_length(row, slot + 1)


@method("reserve")
def _ol_reserve(out, n):
    if not isinstance(n, types.Integer):
        raise TypingError(f"reserve: expected a number of slots, got {n}")

    def reserve(out, n):
        count = np.int64(n)
        if count < 0:
            raise ValueError("reserve: the number of slots is negative")
        ensure_slots(row_of(out), count)

    return reserve


@overload(len)
def _ol_len(out):
    if isinstance(out, BuilderType):
        return lambda out: length_of(row_of(out))
    return None
