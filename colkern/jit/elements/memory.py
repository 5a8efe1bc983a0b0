"""Elements as raw values of bodies, the arenas of values that bodies create, and the owners of results.

An arena is memory that Numba counts. A value in an arena holds a reference to it; a value that is part of
an argument holds the same references as the argument.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from colkern.jit.elements.types import (
    ELEMENT_OF,
    OWNER,
    BytesType,
    ElementType,
    MomentType,
    SequenceType,
    TextType,
    binary,
    text,
)
from colkern.jit.lowering import without_none
from colkern.jit.table_calls import failures
from colkern.kernels import row_values
from colkern.kernels.intrinsics import instructions
from colkern.kernels.row_values import Bytes, Text
from colkern.rows.kinds import Kind

RAW_TEXT = types.NamedTuple((types.int64, types.int64, types.boolean), Text)
RAW_BYTES = types.NamedUniTuple(types.int64, 2, Bytes)

_WORD = ir.IntType(64)


def constant_text(context: Any, builder: Any, value: str) -> list[Any]:
    """The members, except the owner, of a text that is part of the compiled code."""
    data = value.encode()
    address = builder.ptrtoint(context.insert_const_bytes(builder.module, data), _WORD)
    return [address, _WORD(len(data)), context.get_constant(types.boolean, value.isascii())]


def require_contiguous(kind: types.Bytes) -> None:
    """Refuse slices of `bytes` with a step: Numba makes them views whose bytes stand apart."""
    if kind.layout != "C":
        raise TypingError("a slice of bytes is a byte string only with a step of 1")


_RAW: dict[tuple[type[types.Type], ...], types.Type] = {
    (types.StringLiteral, TextType): RAW_TEXT,
    (types.Bytes, BytesType): RAW_BYTES,
    (types.Integer, MomentType): types.int64,
    (types.Boolean,): types.boolean,
    (types.Float,): types.float64,
}
"""The types that bodies take for values of some types."""


def _raw_type(kind: types.Type) -> types.Type:
    if isinstance(kind, types.Optional):
        return _raw_type(kind.type)
    if isinstance(kind, types.Bytes):
        require_contiguous(kind)
    kind = kind if isinstance(kind, types.StringLiteral) else types.unliteral(kind)
    return next(raw_type for kinds, raw_type in _RAW.items() if isinstance(kind, kinds))


@instructions(lambda value: _raw_type(value)(value), prefer_literal=True)
def raw(context, builder, signature, args):
    """An operand as bodies take it; `TypeError` for None."""
    (kind,), (value,), returned = signature.args, args, signature.return_type
    if isinstance(kind, types.Optional):
        optional = context.make_helper(builder, kind, value=value)
        with builder.if_then(builder.not_(optional.valid), likely=False):
            context.call_conv.return_user_exc(builder, TypeError, ("None has no such operation",))
        kind, value = kind.type, optional.data
    if isinstance(kind, types.StringLiteral):
        members = constant_text(context, builder, kind.literal_value)
    elif isinstance(kind, types.Bytes):
        struct = context.make_helper(builder, kind, value=value)
        members = [builder.ptrtoint(struct.data, _WORD), struct.nitems]
    elif isinstance(kind, SequenceType):
        struct = context.make_helper(builder, kind, value=value)
        members = [getattr(struct, name) for name in returned.fields]
    else:
        return (
            value if isinstance(kind, MomentType) else context.cast(builder, value, kind, returned)
        )
    return context.make_tuple(builder, returned, members)


@instructions(lambda value: types.none(value))
def keep(context, builder, signature, args):
    """Use a value, which keeps it from being freed before."""


# Arenas


@instructions(OWNER(types.int64))
def new_arena(context, builder, signature, args):
    """Memory with room for some bytes, and the two words of an arena before them."""
    whole = builder.add(args[0], _WORD(16))
    memory = context.nrt.meminfo_alloc(builder, whole)
    start = builder.ptrtoint(context.nrt.meminfo_data(builder, memory), _WORD)
    words = builder.inttoptr(start, _WORD.as_pointer())
    builder.store(builder.add(start, _WORD(16)), words)
    builder.store(builder.add(start, whole), builder.gep(words, [ir.IntType(32)(1)]))
    return memory


@instructions(types.int64(OWNER))
def arena_in(context, builder, signature, args):
    """The address of an arena."""
    return builder.ptrtoint(context.nrt.meminfo_data(builder, args[0]), _WORD)


# Results


def _within(builder: Any, address: Any, start: Any, end: Any) -> Any:
    return builder.and_(
        builder.icmp_unsigned(">=", address, start), builder.icmp_unsigned("<=", address, end)
    )


def _owner(context: Any, builder: Any, address: Any, kinds: Any, operands: Any) -> Any:
    """The owner of the bytes at an address: an arena, or that of an operand."""
    owner_of_result = context.get_constant_null(OWNER)
    for kind, operand in zip(kinds, operands, strict=True):
        if isinstance(kind, types.Optional):
            kind, operand = kind.type, context.make_helper(builder, kind, value=operand).data
        if isinstance(kind, SequenceType):
            struct = context.make_helper(builder, kind, value=operand)
            start, size, owner = struct.address, struct.size, struct.owner
        elif isinstance(kind, types.Bytes):
            struct = context.make_helper(builder, kind, value=operand)
            start, size, owner = builder.ptrtoint(struct.data, _WORD), struct.nitems, struct.meminfo
        elif kind == OWNER:
            owner = operand
            start = builder.ptrtoint(context.nrt.meminfo_data(builder, owner), _WORD)
            # To the end of the room, as the arena's second word has it.
            words = builder.inttoptr(start, _WORD.as_pointer())
            end = builder.load(builder.gep(words, [ir.IntType(32)(1)]))
            size = builder.sub(end, start)
        else:
            continue
        is_in = _within(builder, address, start, builder.add(start, size))
        is_here = builder.and_(is_in, cgutils.is_null(builder, owner_of_result))
        owner_of_result = builder.select(is_here, owner, owner_of_result)
    return owner_of_result


@intrinsic
def element(typingctx, value, *sources):
    """The element for a body's result; for a text, the possible owners of its bytes follow."""
    if value == RAW_TEXT:
        returned = text
    elif value == RAW_BYTES:
        returned = binary
    else:
        return None

    def codegen(context, builder, signature, args):
        struct = context.make_helper(builder, returned)
        parts = cgutils.unpack_tuple(builder, args[0])
        for name, part in zip(value.fields, parts, strict=True):
            setattr(struct, name, part)
        kinds, operands = list(signature.args[1]), cgutils.unpack_tuple(builder, args[1])
        struct.owner = _owner(context, builder, struct.address, kinds, operands)
        return impl_ret_borrowed(context, builder, returned, struct._getvalue())

    return returned(value, types.StarArgTuple(sources)), codegen


def _moment_maker(kind: Kind) -> Any:
    @instructions(lambda number: ELEMENT_OF[kind](number))
    def moment(context, builder, signature, args):
        return context.cast(builder, args[0], *signature.args, types.int64)

    return moment


MOMENT_MAKERS = {
    kind: _moment_maker(kind) for kind, of in ELEMENT_OF.items() if isinstance(of, MomentType)
}
"""From a number to the moment that it stands for, by kind."""


# Failures


@instructions(lambda code, name: types.none(types.int64, name), prefer_literal=True)
def require_done(context, builder, signature, args):
    """Raise the exception of a body's code (int64); `name`, a literal, is the name of the method."""
    code, said = args[0], signature.args[1].literal_value
    failed = builder.icmp_signed("!=", code, code.type(row_values.DONE))
    with builder.if_then(failed, likely=False):
        for number, (error, message) in failures(said).items():
            is_it = builder.icmp_signed("==", code, code.type(number))
            with builder.if_then(is_it, likely=False):
                context.call_conv.return_user_exc(builder, error, (message,))


def is_element(kind: Any) -> bool:
    """Whether a Numba type is that of elements, or of those that may be None."""
    return isinstance(without_none(kind), ElementType)
