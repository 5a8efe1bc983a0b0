"""The numbers of a builder's row and the memory behind it, from compiled code."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from colkern.jit.building.builder_type import BuilderType, load_number, place_of, row_type
from colkern.jit.building.nodes import State

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)


def builder_at(kind: BuilderType):
    """The function that makes a builder of a type of the address (uint64) of its row."""

    @intrinsic
    def at(typingctx, address):
        return kind(types.uint64), lambda context, builder, signature, args: args[0]

    return at


@intrinsic
def row_of(typingctx, out):
    """The row of a builder."""
    return row_type(out), lambda context, builder, signature, args: args[0]


def _getter(what):
    @intrinsic
    def get(typingctx, row):
        def codegen(context, builder, signature, args):
            return load_number(builder, args[0], what)

        return types.int64(row), codegen

    return get


def _setter(what):
    @intrinsic
    def put(typingctx, row, value):
        def codegen(context, builder, signature, args):
            builder.store(args[1], place_of(builder, args[0], what))
            return context.get_dummy_value()

        return types.void(row, types.int64), codegen

    return put


length_of, set_length = _getter(State.LENGTH), _setter(State.LENGTH)
used_of, set_used = _getter(State.USED), _setter(State.USED)
null_count_of, set_null_count = _getter(State.NULL_COUNT), _setter(State.NULL_COUNT)
failure_of, set_failure = _getter(State.FAILURE), _setter(State.FAILURE)


# Room


def _has_room(held, room):
    @intrinsic
    def has_room(typingctx, row, count):
        def codegen(context, builder, signature, args):
            left = builder.sub(
                load_number(builder, args[0], room), load_number(builder, args[0], held)
            )
            enough = builder.icmp_signed("<=", args[1], left)
            return _expected(builder, enough)

        return types.boolean(row, types.int64), codegen

    return has_room


def _expected(builder: ir.IRBuilder, condition: ir.Value) -> ir.Value:
    bit = ir.IntType(1)
    kind = ir.FunctionType(bit, [bit, bit])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.expect.i1")
    return builder.call(function, [condition, ir.Constant(bit, 1)])


has_slots = _has_room(State.LENGTH, State.CAPACITY)
"""Whether there is room for `count` slots more."""

has_bytes = _has_room(State.USED, State.ROOM)
"""Whether there is room for `count` bytes more."""


@intrinsic
def has_marks(typingctx, row):
    """Whether nulls can be marked."""

    def codegen(context, builder, signature, args):
        address = load_number(builder, args[0], State.NULLS)
        return builder.icmp_signed("!=", address, ir.Constant(_WORD, 0))

    return types.boolean(row), codegen


@intrinsic
def grow(typingctx, row, request, count):
    """Ask the builder's object for room."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [_WORD] * 3)
        address = load_number(builder, args[0], State.GROW)
        builder.call(builder.inttoptr(address, kind.as_pointer()), args)
        return context.get_dummy_value()

    return types.void(row, types.int64, types.int64), codegen


# Memory


def emit_store(
    builder: ir.IRBuilder, address: ir.Value, what: State, slot: ir.Value, value: ir.Value
) -> None:
    """The item `slot` of an array becomes `value`."""
    start = builder.inttoptr(load_number(builder, address, what), value.type.as_pointer())
    builder.store(value, builder.gep(start, [slot]))


@intrinsic
def put_item(typingctx, out, place, value):
    """items[place] = value, converted to their type."""
    item = out.item

    def codegen(context, builder, signature, args):
        native = context.get_value_as_data(builder, item, args[2])
        emit_store(builder, args[0], State.ITEMS, args[1], native)
        return context.get_dummy_value()

    return types.void(out, types.int64, item), codegen


@intrinsic
def put_empty(typingctx, out, slot):
    """Put zeros, or the offset before, into a slot under a null; not into the slots of nodes below."""
    node = out.node

    def codegen(context, builder, signature, args):
        if node.item is None:
            return context.get_dummy_value()
        item = context.get_data_type(out.item)
        if node.has_offsets:
            used = load_number(builder, args[0], State.USED)
            end = builder.add(args[1], ir.Constant(_WORD, 1))
            narrow = used if item == _WORD else builder.trunc(used, item)
            emit_store(builder, args[0], State.ITEMS, end, narrow)
            return context.get_dummy_value()
        start = load_number(builder, args[0], State.ITEMS)
        size = node.per_slot * node.item.itemsize
        place = builder.add(start, builder.mul(args[1], ir.Constant(_WORD, size)))
        target = builder.inttoptr(place, _BYTE.as_pointer())
        cgutils.memset(builder, target, ir.Constant(_WORD, size), 0)
        return context.get_dummy_value()

    return types.void(out, types.int64), codegen


@intrinsic
def mark_null(typingctx, row, slot):
    """nulls[slot] = 1"""

    def codegen(context, builder, signature, args):
        emit_store(builder, args[0], State.NULLS, args[1], ir.Constant(_BYTE, 1))
        return context.get_dummy_value()

    return types.void(row, types.int64), codegen


@intrinsic
def items_address(typingctx, out):
    """Where the items stand; for `numba.carray`."""
    return _address(out, State.ITEMS)


@intrinsic
def bytes_address(typingctx, row):
    """Where the bytes stand; for `numba.carray`."""
    return _address(row, State.BYTES)


def _address(row, what):
    def codegen(context, builder, signature, args):
        return builder.inttoptr(load_number(builder, args[0], what), _BYTE.as_pointer())

    return types.voidptr(row), codegen
