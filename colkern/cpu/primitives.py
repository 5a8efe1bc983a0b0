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
def add(typingctx: Any, left: Any, right: Any) -> Any:
    """One instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.add(*args)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply(typingctx: Any, left: Any, right: Any) -> Any:
    """One instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.mul(*args)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def high_product(typingctx: Any, left: Any, right: Any) -> Any:
    """One instruction, which gives both halves."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(arg, wide) for arg in args))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD)

    return types.uint64(types.uint64, types.uint64), generate
