"""Decimals in compiled code: an integer of 64, 128 or 256 bits, and a scale that the type knows.

Results of `+`, `-` and `*` have 128 bits at least, and 256 where an operand has; what does not fit
raises OverflowError. Numbers of different scales meet at the larger one. CPU target only.
"""

from __future__ import annotations

import decimal
import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.extending import (
    box,
    intrinsic,
    lower_cast,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
)

from colkern.cpu.compiler import compiled
from colkern.kernels import decimal_floats

_WORD = 64
_DIVISOR_DIGITS = 9
"""The digits of the largest power of ten below 2**32."""


class DecimalType(types.Type):
    """The Numba type of a decimal.

    Args:
        words: How many words of 64 bits it has: 1, 2 or 4.
        scale: How many of its digits stand behind the point; before it, if negative.
    """

    def __init__(self, words: int, scale: int) -> None:
        self.words = words
        self.scale = scale
        super().__init__(name=f"Decimal({words * _WORD}, scale={scale})")

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type for a variable that may be this or an `other`."""
        if isinstance(other, DecimalType):
            return DecimalType(max(self.words, other.words), max(self.scale, other.scale))
        return self if isinstance(other, types.Integer) else None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Integers and decimals of a scale that is not larger become this one."""
        if isinstance(other, types.Integer):
            return Conversion.safe
        if isinstance(other, DecimalType) and other.scale <= self.scale:
            return Conversion.safe
        return None


@register_model(DecimalType)
class _DecimalModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.IntType(fe_type.words * _WORD))


@intrinsic(prefer_literal=True)
def decimal_at(typingctx, data, slot, words, scale):
    """The decimal in a slot (uint64) of a buffer; `words` and `scale` are literals."""
    if not (isinstance(words, types.IntegerLiteral) and isinstance(scale, types.IntegerLiteral)):
        return None
    decimal = DecimalType(words.literal_value, scale.literal_value)

    def codegen(context, builder, signature, args):
        wanted = context.get_value_type(decimal)
        narrow = signature.args[0].dtype.bitwidth
        stored = wanted if decimal.words > 1 else ir.IntType(narrow)
        items = builder.bitcast(args[0], stored.as_pointer())
        loaded = builder.load(builder.gep(items, [args[1]]), align=min(narrow, _WORD) // 8)
        return builder.sext(loaded, wanted)

    return decimal(data, types.uint64, words, scale), codegen


# Building blocks of LLVM code


def _scale_of(kind: Any) -> int:
    return kind.scale if isinstance(kind, DecimalType) else 0


def as_integer(builder: Any, kind: Any, value: Any) -> Any:
    """An operand as an LLVM integer that sign extension keeps; integers have 64 bits, unsigned 128."""
    if isinstance(kind, DecimalType):
        return value
    if kind.signed:
        return extended(builder, value, _WORD)
    return builder.zext(value, ir.IntType(2 * _WORD))


def extended(builder: Any, value: Any, bits: int) -> Any:
    """A number in whole words that have so many bits at least."""
    return builder.sext(value, ir.IntType(-(-max(bits, value.type.width) // _WORD) * _WORD))


def at_scale(builder: Any, kind: Any, value: Any, scale: int) -> Any:
    """An operand at a scale that is not smaller than its own, in so many words that it fits."""
    number = as_integer(builder, kind, value)
    power = 10 ** (scale - _scale_of(kind))
    if power == 1:
        return number
    wide = extended(builder, number, number.type.width + power.bit_length())
    return builder.mul(wide, wide.type(power))


def _aligned(
    builder: Any, kinds: Sequence[Any], values: Sequence[Any], spare: int = 0
) -> tuple[Any, Any]:
    """Two operands at the larger scale, in one width with `spare` bits."""
    scale = max(map(_scale_of, kinds))
    numbers = [at_scale(builder, k, v, scale) for k, v in zip(kinds, values, strict=True)]
    bits = max(number.type.width for number in numbers) + spare
    left, right = (extended(builder, number, bits) for number in numbers)
    return left, right


def _narrowed(context: Any, builder: Any, value: Any, kind: DecimalType) -> Any:
    """A number in the words of a type; OverflowError if it does not fit."""
    wanted = context.get_value_type(kind)
    if value.type.width <= wanted.width:
        return extended(builder, value, wanted.width)
    narrow = builder.trunc(value, wanted)
    differs = builder.icmp_signed("!=", builder.sext(narrow, value.type), value)
    with builder.if_then(differs, likely=False):
        message = f"a decimal does not fit {wanted.width} bits"
        context.call_conv.return_user_exc(builder, OverflowError, (message,))
    return narrow


def _absolute(builder: Any, value: Any) -> Any:
    negative = builder.icmp_signed("<", value, value.type(0))
    return builder.select(negative, builder.neg(value), value)


def _divided(builder: Any, value: Any, power: int) -> tuple[Any, Any]:
    """A number divided by ten to a power, towards zero; and whether something is left over."""
    left, inexact = _absolute(builder, value), ir.IntType(1)(0)
    while power > 0:
        digits = min(power, _DIVISOR_DIGITS)
        left, rest = _divided_by(builder, left, 10**digits)
        inexact = builder.or_(inexact, builder.icmp_unsigned("!=", rest, rest.type(0)))
        power -= digits
    negative = builder.icmp_signed("<", value, value.type(0))
    return builder.select(negative, builder.neg(left), left), inexact


def _divided_by(builder: Any, value: Any, divisor: int) -> tuple[Any, Any]:
    """Long division by a number below 2**32, half a word at a time: quotient and remainder."""
    half, word = ir.IntType(32), ir.IntType(_WORD)
    rest, quotient = word(0), value.type(0)
    for place in range(value.type.width - 32, -1, -32):
        digit = builder.zext(builder.trunc(builder.lshr(value, value.type(place)), half), word)
        current = builder.or_(builder.shl(rest, word(32)), digit)
        part, rest = builder.udiv(current, word(divisor)), builder.urem(current, word(divisor))
        placed = builder.shl(builder.zext(part, value.type), value.type(place))
        quotient = builder.or_(quotient, placed)
    return quotient, rest


# Conversions


@lower_cast(types.Integer, DecimalType)
@lower_cast(DecimalType, DecimalType)
def _cast(context, builder, fromty, toty, value):
    return _narrowed(context, builder, at_scale(builder, fromty, value, toty.scale), toty)


def _words_in(builder: Any, value: Any) -> list[Any]:
    """The words of a number, the lowest first."""
    return [
        builder.trunc(builder.lshr(value, value.type(place)), ir.IntType(_WORD))
        for place in range(0, value.type.width, _WORD)
    ]


@box(DecimalType)
def _box(typ, value, c):
    numbers = [c.pyapi.long_from_ulonglong(word) for word in _words_in(c.builder, value)]
    words = c.pyapi.tuple_pack(numbers)
    function = c.pyapi.unserialize(c.pyapi.serialize_object(_python_decimal))
    scale = c.pyapi.long_from_longlong(ir.IntType(_WORD)(typ.scale))
    boxed = c.pyapi.call_function_objargs(function, (words, scale))
    for owned in (*numbers, words, function, scale):
        c.pyapi.decref(owned)
    return boxed


def _python_decimal(words: tuple[int, ...], scale: int) -> decimal.Decimal:
    bits = sum(word << (_WORD * k) for k, word in enumerate(words))
    value = bits - (1 << (_WORD * len(words))) if words[-1] >> (_WORD - 1) else bits
    return decimal.Decimal((int(value < 0), tuple(map(int, str(abs(value)))), -scale))


# Operations


def _are_operands(a: Any, b: Any) -> bool:
    return (isinstance(a, DecimalType) and isinstance(b, DecimalType | types.Integer)) or (
        isinstance(b, DecimalType) and isinstance(a, types.Integer)
    )


Emit = Callable[[Any, Sequence[Any], Sequence[Any]], Any]
"""From LLVM's builder, the types of operands and their values to a number."""


def _define(operation: Any, returned: Callable[..., types.Type], emit: Emit) -> None:
    """`operation(a, b)`, where one is a decimal."""

    @intrinsic
    def computed(typingctx, a, b):
        result = returned(a, b)

        def codegen(context, builder, signature, args):
            value = emit(builder, signature.args, args)
            return _narrowed(context, builder, value, result) if result != types.boolean else value

        return result(a, b), codegen

    @overload(operation)
    def _ol_operation(a, b):
        return (lambda a, b: computed(a, b)) if _are_operands(a, b) else None


def _compared(sign: str) -> Emit:
    return lambda builder, kinds, args: builder.icmp_signed(sign, *_aligned(builder, kinds, args))


for _operation, _sign in (
    (operator.eq, "=="),
    (operator.ne, "!="),
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
):
    _define(_operation, lambda a, b: types.boolean, _compared(_sign))


def _result(a: Any, b: Any, scale: int) -> DecimalType:
    words = max(2, *(kind.words for kind in (a, b) if isinstance(kind, DecimalType)))
    return DecimalType(words, scale)


def _result_of_sum(a: Any, b: Any) -> DecimalType:
    return _result(a, b, max(_scale_of(a), _scale_of(b)))


def _sum(builder: Any, kinds: Sequence[Any], args: Sequence[Any]) -> Any:
    return builder.add(*_aligned(builder, kinds, args, 1))


def _difference(builder: Any, kinds: Sequence[Any], args: Sequence[Any]) -> Any:
    return builder.sub(*_aligned(builder, kinds, args, 1))


def _product(builder: Any, kinds: Sequence[Any], args: Sequence[Any]) -> Any:
    left, right = (as_integer(builder, k, v) for k, v in zip(kinds, args, strict=True))
    bits = left.type.width + right.type.width
    return builder.mul(extended(builder, left, bits), extended(builder, right, bits))


for _name, _returned, _emit in (
    ("add", _result_of_sum, _sum),
    ("sub", _result_of_sum, _difference),
    ("mul", lambda a, b: _result(a, b, _scale_of(a) + _scale_of(b)), _product),
):
    for _operation in (getattr(operator, _name), getattr(operator, f"i{_name}")):
        _define(_operation, _returned, _emit)


def _define_unary(operation: Callable[..., Any], emit: Callable[[Any, Any], Any]) -> None:
    @intrinsic
    def changed(typingctx, a):
        result = DecimalType(max(a.words, 2), a.scale)

        def codegen(context, builder, signature, args):
            wide = extended(builder, args[0], args[0].type.width + 1)
            return _narrowed(context, builder, emit(builder, wide), result)

        return result(a), codegen

    @overload(operation)
    def _ol_unary(a):
        return (lambda a: changed(a)) if isinstance(a, DecimalType) else None


_define_unary(operator.neg, lambda builder, value: builder.neg(value))
_define_unary(abs, _absolute)


@intrinsic
def _is_not_zero(typingctx, a):
    def codegen(context, builder, signature, args):
        return builder.icmp_unsigned("!=", args[0], args[0].type(0))

    return types.boolean(a), codegen


@overload(bool)
def _ol_bool(a):
    return (lambda a: _is_not_zero(a)) if isinstance(a, DecimalType) else None


@intrinsic(prefer_literal=True)
def _rescaled(typingctx, a, scale):
    if not isinstance(scale, types.IntegerLiteral):
        raise TypingError("rescale: the scale must be a literal, as it is part of the type")
    wanted = scale.literal_value
    result = DecimalType(max(a.words, 2) if wanted > a.scale else a.words, wanted)

    def codegen(context, builder, signature, args):
        if wanted >= a.scale:
            return _narrowed(context, builder, at_scale(builder, a, args[0], wanted), result)
        quotient, inexact = _divided(builder, args[0], a.scale - wanted)
        with builder.if_then(inexact, likely=False):
            message = f"rescale: digits behind a scale of {wanted} would be lost"
            context.call_conv.return_user_exc(builder, ValueError, (message,))
        return quotient

    return result(a, scale), codegen


@overload_method(DecimalType, "rescale", prefer_literal=True)
def _ol_rescale(a, scale):
    return lambda a, scale: _rescaled(a, scale)


@overload_attribute(DecimalType, "scale")
def _ol_scale(a):
    scale = a.scale
    return lambda a: scale


def _define_words(count_of: Callable[[DecimalType], int], emit: Callable[[Any, Any], Any]) -> Any:
    """A function from a decimal to the words of a number."""

    @intrinsic
    def words(typingctx, a):
        result = types.UniTuple(types.uint64, count_of(a))

        def codegen(context, builder, signature, args):
            return context.make_tuple(builder, result, _words_in(builder, emit(builder, args[0])))

        return result(a), codegen

    return words


_words = _define_words(lambda a: a.words, lambda builder, value: value)


@overload_attribute(DecimalType, "words")
def _ol_words(a):
    return lambda a: _words(a)


_magnitude = _define_words(
    lambda a: 4,
    lambda builder, value: builder.zext(_absolute(builder, value), ir.IntType(4 * _WORD)),
)
_nearest_float = compiled(decimal_floats.nearest_float)


@overload(float)
def _ol_float(a):
    if not isinstance(a, DecimalType):
        return None
    up, down = max(-a.scale, 0), max(a.scale, 0)
    factor, divisor = float(10**up), float(10**down)

    def as_float(a):
        a0, a1, a2, a3 = _magnitude(a)
        value = _nearest_float(a0, a1, a2, a3, down, divisor) * factor
        return -value if a < 0 else value

    return as_float


@intrinsic
def _truncated(typingctx, a):
    def codegen(context, builder, signature, args):
        if a.scale > 0:
            value, _ = _divided(builder, args[0], a.scale)
        else:
            value = at_scale(builder, a, args[0], 0)
        return _narrowed(context, builder, value, DecimalType(1, 0))

    return types.int64(a), codegen


@overload(int)
def _ol_int(a):
    return (lambda a: _truncated(a)) if isinstance(a, DecimalType) else None
