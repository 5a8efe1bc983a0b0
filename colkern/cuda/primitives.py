"""The primitives of `colkern.kernels.primitives` for CUDA.

A GPU loads a word only from an address that is a multiple of its size, so `load_word` loads the one
or two aligned words around it; they lie in the same allocation.

A primitive written in Python is compiled with two names bound to what its thread is in: `cuda`, the
compiler's module, and `LANES`, how many threads work on one item.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy import uint64

_WORD = ir.IntType(64)

cuda: Any = None
LANES = uint64(1)


@intrinsic  # type: ignore[untyped-decorator]
def popcount(typingctx: Any, word: Any) -> Any:
    """LLVM's `ctpop`, which becomes `popc`."""

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
    """Two aligned loads (of one word, if it is aligned itself) and a shift."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def number(value: int) -> ir.Constant:
            return ir.Constant(_WORD, value)

        def aligned(address: Any) -> Any:
            place = builder.and_(address, number(~7))
            return builder.load(builder.inttoptr(place, _WORD.as_pointer()), align=8)

        array = context.make_array(signature.args[0])(context, builder, args[0])
        begin = builder.add(builder.ptrtoint(array.data, _WORD), args[1])
        address = builder.add(begin, builder.shl(args[2], number(3)))
        shift = builder.shl(builder.and_(address, number(7)), number(3))
        low = builder.lshr(aligned(address), shift)
        high = builder.shl(aligned(builder.add(address, number(7))), number(1))
        return builder.or_(low, builder.shl(high, builder.sub(number(63), shift)))

    return types.uint64(data, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def load_item(typingctx: Any, like: Any, address: Any) -> Any:
    """A load of the array's item type; the address is a multiple of the item's size."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = context.get_data_type(signature.return_type)
        return builder.load(builder.inttoptr(args[1], item.as_pointer()))

    return like.dtype(like, types.uint64), generate


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
    """`mul.hi`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(arg, wide) for arg in args))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD)

    return types.uint64(types.uint64, types.uint64), generate


def copy_bytes(out: Any, position: Any, address: Any, count: Any) -> None:
    """A loop over bytes, as neither end need be aligned; of a group, each lane copies its share."""
    for k in range(uint64(cuda.threadIdx.x) % LANES, count, LANES):
        out[position + uint64(k)] = load_item(out, address + uint64(k))
