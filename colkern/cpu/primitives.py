"""The primitives of `colkern.kernels.primitives` for the CPU, as LLVM instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_WORD = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typingctx: Any, word: Any) -> Any:
    """LLVM's `ctpop`: one instruction, or a vector of them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """LLVM's `cttz`, 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.false_bit)

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_word(typingctx: Any, data: Any, position: Any, word: Any) -> Any:
    """A 64-bit load that needs no alignment.

    The word's number indexes a pointer to words: LLVM sees consecutive loads, not a gather.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        first = builder.bitcast(builder.gep(array.data, [args[1]]), _WORD.as_pointer())
        return builder.load(builder.gep(first, [args[2]], inbounds=True), align=1)

    return types.uint64(data, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_item(typingctx: Any, like: Any, address: Any) -> Any:
    """A load of the array's item type that needs no alignment."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = context.get_data_type(signature.return_type)
        place = builder.inttoptr(args[1], item.as_pointer())
        return builder.load(place, align=1)

    return like.dtype(like, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(typingctx: Any, out: Any, position: Any, address: Any, count: Any) -> Any:
    """LLVM's `memcpy`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        target = builder.gep(array.data, [args[1]])
        source = builder.inttoptr(args[2], ir.IntType(8).as_pointer())
        cgutils.raw_memcpy(builder, target, source, args[3], 1)
        return context.get_dummy_value()

    return types.none(out, types.uint64, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def fill_eight(typingctx: Any, out: Any, position: Any, value: Any, stride: Any) -> Any:
    """One vector: LLVM does not make one of eight stores itself."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        item = context.get_data_type(out.dtype)
        first, step = (
            context.cast(builder, number, kind, out.dtype)
            for number, kind in ((args[2], value), (args[3], stride))
        )
        numbers = ir.Constant(_eight(item), [ir.Constant(item, j) for j in range(8)])
        steps = builder.mul(_everywhere(builder, step, item), numbers)
        vector = builder.add(_everywhere(builder, first, item), steps)
        _store_eight(builder, vector, builder.gep(array.data, [args[1]]), item)
        return context.get_dummy_value()

    return types.none(out, types.uint64, value, stride), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_eight(typingctx: Any, out: Any, position: Any, values: Any, source: Any) -> Any:
    """One vector: all is read before anything is written, so that the arrays need not differ."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, origin = (
            context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2)
        )
        item = context.get_data_type(out.dtype)
        place = builder.gep(origin.data, [args[3]])
        vector = builder.load(
            builder.bitcast(place, _eight(item).as_pointer()), align=item.width // 8
        )
        _store_eight(builder, vector, builder.gep(target.data, [args[1]]), item)
        return context.get_dummy_value()

    return types.none(out, types.uint64, values, types.uint64), generate


def _eight(item: Any) -> ir.VectorType:
    return ir.VectorType(item, 8)


def _everywhere(builder: Any, value: Any, item: Any) -> Any:
    """A vector of eight times the value."""
    nothing = ir.Constant(_eight(item), ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
    return builder.shuffle_vector(one, nothing, zeros)


def _store_eight(builder: Any, vector: Any, place: Any, item: Any) -> None:
    where = builder.bitcast(place, _eight(item).as_pointer())
    builder.store(vector, where, align=item.width // 8)
