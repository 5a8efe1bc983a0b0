"""Primitives that are the same LLVM instructions on both targets."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import base, cgutils, typing
from numba.core.cpu import CPUContext
from numba.extending import intrinsic

Target: TypeAlias = base.BaseContext
Typing: TypeAlias = typing.BaseContext
Signature: TypeAlias = typing.Signature
Type: TypeAlias = types.Type
Types: TypeAlias = tuple[Type, ...]
Builder: TypeAlias = ir.IRBuilder
Value: TypeAlias = ir.Value
Values: TypeAlias = list[Value]
Intrinsic: TypeAlias = tuple[Signature, Callable[[Target, Builder, Signature, Values], Value]]
"""The result of an intrinsic: its signature, and the function that emits its code."""

Emit: TypeAlias = Callable[[Target, Builder, Signature, Values], Value | None]
"""Emits the code of a call, of arguments of the signature's types; None if it has no result."""

_WORD = ir.IntType(64)
_FALSE = cgutils.false_bit


def instructions(
    of: Signature | Callable[..., Signature], prefer_literal: bool = False
) -> Callable[[Emit], Any]:
    """An intrinsic with a signature, or that which `of` gives for the types of its arguments.

    Args:
        of: The signature, or the function.
        prefer_literal: Whether `of` is given the types of literals first.
    """
    if callable(of):
        names = list(inspect.signature(of).parameters)
    else:
        names = [f"arg{k}" for k in range(len(of.args))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD

    def make(emit: Emit) -> Any:
        @functools.wraps(emit)
        def define(typingctx: Typing, *kinds: Type) -> Intrinsic:
            def generate(
                context: Target, builder: Builder, signature: Signature, args: Values
            ) -> Value:
                result = emit(context, builder, signature, args)
                return context.get_dummy_value() if result is None else result

            return of(*kinds) if callable(of) else of, generate

        # Numba counts the parameters by it.
        define.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, kind) for name in ("typingctx", *names)]
        )
        return intrinsic(prefer_literal=prefer_literal)(define)

    return make


def of_values(name: str, signature: Signature, emit: Callable[..., Value]) -> Any:
    """The intrinsic `name`, whose value `emit` gives for LLVM's builder and the arguments."""

    def emitted(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        return emit(builder, *args)

    emitted.__name__ = name
    return instructions(signature)(emitted)


def _halves(builder: Builder, args: Sequence[Value]) -> tuple[Value, Value]:
    """The lower and the higher 64 bits of a product of two words."""
    wide = ir.IntType(128)
    product = builder.mul(*(builder.zext(arg, wide) for arg in args))
    higher = builder.lshr(product, ir.Constant(wide, 64))
    return builder.trunc(product, _WORD), builder.trunc(higher, _WORD)


_OF_ONE, _OF_TWO = types.uint64(types.uint64), types.uint64(types.uint64, types.uint64)

popcount = of_values("popcount", _OF_ONE, ir.IRBuilder.ctpop)
trailing_zeros = of_values("trailing_zeros", _OF_ONE, lambda b, word: b.cttz(word, _FALSE))
leading_zeros = of_values("leading_zeros", _OF_ONE, lambda b, word: b.ctlz(word, _FALSE))
add = of_values("add", _OF_TWO, ir.IRBuilder.add)
multiply = of_values("multiply", _OF_TWO, ir.IRBuilder.mul)
high_product = of_values("high_product", _OF_TWO, lambda b, *words: _halves(b, words)[1])
fold = of_values("fold", _OF_TWO, lambda b, *words: b.xor(*_halves(b, words)))


def _are_signed(*kinds: Type) -> bool:
    return all(isinstance(kind, types.Integer) and kind.signed for kind in kinds)


def _wrapped_quotient(builder: Builder, left: Value, right: Value, quotient: Value) -> Value:
    """The quotient, but that of -1 as all integers wrap around: Numba has 0 for the least number."""
    is_minus_one = builder.icmp_signed("==", right, ir.Constant(right.type, -1))
    return builder.select(is_minus_one, builder.neg(left), quotient)


def of_numbers(
    function: Callable[..., Any], emit: Callable[[Target, Builder, Signature, Values], Value]
) -> Callable[..., Intrinsic]:
    """An intrinsic of two numbers of the types that Numba's code for `function` takes and gives.

    `emit` gets the signature of that, and the numbers, converted to its types.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def define(typingctx: Typing, left: Type, right: Type) -> Intrinsic | None:
        plain = typingctx.resolve_function_type(function, (left, right), {})
        if plain is None:
            return None

        def generate(
            context: Target, builder: Builder, signature: Signature, args: Values
        ) -> Value:
            pairs = zip(args, signature.args, plain.args, strict=True)
            sides = [context.cast(builder, arg, own, wanted) for arg, own, wanted in pairs]
            return emit(context, builder, plain, sides)

        return plain.return_type(left, right), generate

    compiled: Callable[..., Intrinsic] = define
    return compiled


def _divided(
    function: Callable[..., Any], finish: Callable[[Builder, Values, Value], Value]
) -> Callable[..., Intrinsic]:
    """An intrinsic that divides as Numba does, and finishes quotients of signed integers."""

    def emit(context: Target, builder: Builder, plain: Signature, sides: Values) -> Value:
        result = context.get_function(function, plain)(builder, sides)
        return finish(builder, sides, result) if _are_signed(*plain.args) else result

    return of_numbers(function, emit)


def _finished_pair(builder: Builder, sides: Values, pair: Value) -> Value:
    quotient = _wrapped_quotient(builder, sides[0], sides[1], builder.extract_value(pair, 0))
    return builder.insert_value(pair, quotient, 0)


floor_quotient = _divided(
    operator.floordiv,
    lambda builder, sides, result: _wrapped_quotient(builder, sides[0], sides[1], result),
)
quotient_and_rest = _divided(divmod, _finished_pair)


# Row functions: every integer, also an address, is an int64. Numba's global address space is 1 on CUDA.

_BYTE = ir.IntType(8)
_DOUBLE = ir.DoubleType()


def pointer(context: Target, builder: Builder, address: Value, item: ir.Type) -> Value:
    """An address as a pointer to items; on CUDA, into the memory that all buffers are in.

    Of a sum, the pointer is a place behind that of the first part: what LLVM needs to see which addresses
    are beside each other.
    """
    space = 0 if isinstance(context, CPUContext) else 1
    if isinstance(address, ir.Instruction) and address.opname == "add":
        base, distance = address.operands
        place = builder.gep(builder.inttoptr(base, _BYTE.as_pointer(space)), [distance])
        return builder.bitcast(place, item.as_pointer(space))
    return builder.inttoptr(address, item.as_pointer(space))


@instructions(types.int64(types.int64))
def get_byte(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """A load."""
    return builder.zext(builder.load(pointer(context, builder, args[0], _BYTE)), _WORD)


@instructions(types.none(types.int64, types.int64))
def set_byte(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """A store."""
    place = pointer(context, builder, args[0], _BYTE)
    builder.store(builder.trunc(args[1], _BYTE), place)


@instructions(types.int64(types.int64))
def get_word(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """An aligned load."""
    return builder.load(pointer(context, builder, args[0], _WORD), align=8)


@instructions(types.none(types.int64, types.int64))
def set_word(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """An aligned store."""
    builder.store(args[1], pointer(context, builder, args[0], _WORD), align=8)


@instructions(types.none(types.int64, types.int64))
def set_unaligned(context: Target, builder: Builder, signature: Signature, args: Values) -> None:
    """A store; on CUDA, as many as there are bytes."""
    builder.store(args[1], pointer(context, builder, args[0], _WORD), align=1)


bits_of_float = of_values(
    "bits_of_float", types.int64(types.float64), lambda b, value: b.bitcast(value, _WORD)
)
float_of_bits = of_values(
    "float_of_bits", types.float64(types.int64), lambda b, bits: b.bitcast(bits, _DOUBLE)
)
shifted_right = of_values("shifted_right", types.int64(types.int64, types.int64), ir.IRBuilder.lshr)


def _let_wrap(value: Value) -> None:
    """Take back what Numba promises LLVM of operations on signed integers: no overflow."""
    if isinstance(value, ir.Instruction) and value.opname in ("add", "sub", "mul", "shl"):
        value.flags = [flag for flag in value.flags if flag != "nsw"]
        for operand in value.operands:
            _let_wrap(operand)


@instructions(types.int64(types.int64))
def wrapped(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """No instruction of its own: the operations that the value comes from may wrap around."""
    _let_wrap(args[0])
    return args[0]


def _is_negative(builder: Builder, value: Value) -> Value:
    return builder.icmp_signed("<", value, ir.Constant(_WORD, 0))


@instructions(types.boolean(types.int64, types.int64))
def sum_overflows(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
    """Whether the sum has another sign than both sides; a vector has no flag for it."""
    total = builder.add(*args)
    turned = builder.and_(builder.xor(args[0], total), builder.xor(args[1], total))
    return _is_negative(builder, turned)


@instructions(types.boolean(types.int64, types.int64))
def difference_overflows(
    context: Target, builder: Builder, signature: Signature, args: Values
) -> Value:
    """Whether the sides have different signs, and the difference not that of the left one."""
    difference = builder.sub(*args)
    turned = builder.and_(builder.xor(*args), builder.xor(args[0], difference))
    return _is_negative(builder, turned)


@instructions(types.boolean(types.int64, types.int64))
def product_overflows(
    context: Target, builder: Builder, signature: Signature, args: Values
) -> Value:
    """Whether the high half of the product is not just the sign of the low half."""
    wide = ir.IntType(128)
    product = builder.mul(*(builder.sext(arg, wide) for arg in args))
    high = builder.trunc(builder.ashr(product, ir.Constant(wide, 64)), _WORD)
    sign = builder.ashr(builder.trunc(product, _WORD), ir.Constant(_WORD, 63))
    return builder.icmp_signed("!=", high, sign)
