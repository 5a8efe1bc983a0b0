"""Primitives that are the same LLVM instructions on both targets."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def add(typingctx: Any, left: Any, right: Any) -> Any:
    """One instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.add(*args)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def high_product(typingctx: Any, left: Any, right: Any) -> Any:
    """One instruction, which gives both halves."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(arg, wide) for arg in args))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply(typingctx: Any, left: Any, right: Any) -> Any:
    """One instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.mul(*args)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def fold(typingctx: Any, left: Any, right: Any) -> Any:
    """A multiplication that gives both halves."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(arg, wide) for arg in args))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), _WORD)
        return builder.xor(builder.trunc(product, _WORD), high)

    return types.uint64(types.uint64, types.uint64), generate
