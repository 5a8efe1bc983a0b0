"""Primitives that are the same LLVM instructions on both targets."""

from __future__ import annotations

import operator
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


def _are_signed(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Integer) and kind.signed for kind in kinds)


def _wrapped_quotient(builder: Any, left: Any, right: Any, quotient: Any) -> Any:
    """The quotient, but that of -1 as all integers wrap around: Numba has 0 for the least number."""
    is_minus_one = builder.icmp_signed("==", right, ir.Constant(right.type, -1))
    return builder.select(is_minus_one, builder.neg(left), quotient)


def _divided(function: Any, finish: Any) -> Any:
    """An intrinsic that divides as Numba does, and finishes quotients of signed integers."""

    @intrinsic  # type: ignore[untyped-decorator]
    def divided(typingctx: Any, left: Any, right: Any) -> Any:
        plain = typingctx.resolve_function_type(function, (left, right), {})
        if plain is None:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pairs = zip(args, signature.args, plain.args, strict=True)
            sides = [context.cast(builder, arg, given, wanted) for arg, given, wanted in pairs]
            found = context.get_function(function, plain)(builder, sides)
            return finish(builder, sides, found) if _are_signed(*plain.args) else found

        return plain.return_type(left, right), generate

    return divided


def _finished_pair(builder: Any, sides: Any, pair: Any) -> Any:
    quotient = _wrapped_quotient(builder, sides[0], sides[1], builder.extract_value(pair, 0))
    return builder.insert_value(pair, quotient, 0)


floor_quotient = _divided(
    operator.floordiv,
    lambda builder, sides, found: _wrapped_quotient(builder, sides[0], sides[1], found),
)
quotient_and_rest = _divided(divmod, _finished_pair)
