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
from numba.core.imputils import impl_ret_untracked
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
    found = DecimalType(words.literal_value, scale.literal_value)

    def codegen(context, builder, signature, args):
        wanted = context.get_value_type(found)
        narrow = signature.args[0].dtype.bitwidth
        stored = wanted if found.words > 1 else ir.IntType(narrow)
        items = builder.bitcast(args[0], stored.as_pointer())
        loaded = builder.load(builder.gep(items, [args[1]]), align=min(narrow, _WORD) // 8)
        return builder.sext(loaded, wanted) if stored.width < wanted.width else loaded

    return found(data, types.uint64, words, scale), codegen


# Building blocks of LLVM code


def whole_words(bits: int) -> int:
    """The bits of as many words as hold so many."""
    return -(-bits // _WORD) * _WORD


def widened(builder: Any, value: Any, width: int, power: int) -> Any:
    """A number times ten to a power, in so many bits that it cannot overflow."""
    wide = ir.IntType(width)
    value = builder.sext(value, wide) if value.type.width < width else value
    return builder.mul(value, wide(10**power)) if power else value


def _scale_of(kind: Any) -> int:
    return kind.scale if isinstance(kind, DecimalType) else 0


def as_integer(builder: Any, kind: Any, value: Any) -> Any:
    """An operand as an LLVM integer that sign extension keeps; integers have 64 bits, unsigned 128."""
    if isinstance(kind, DecimalType):
        return value
    if kind.signed:
        return builder.sext(value, ir.IntType(_WORD)) if value.type.width < _WORD else value
    return builder.zext(value, ir.IntType(2 * _WORD))


def _aligned(
    builder: Any, kinds: Sequence[Any], values: Sequence[Any], spare: int
) -> tuple[Any, Any, int]:
    """Two operands at the larger scale, in one width with `spare` bits; and that scale."""
    scale = max(map(_scale_of, kinds))
    numbers = [as_integer(builder, k, v) for k, v in zip(kinds, values, strict=True)]
    powers = [scale - _scale_of(kind) for kind in kinds]
    needed = [
        number.type.width + (10**power).bit_length()
        for number, power in zip(numbers, powers, strict=True)
    ]
    width = whole_words(max(needed) + spare)
    left, right = (
        widened(builder, number, width, power)
        for number, power in zip(numbers, powers, strict=True)
    )
    return left, right, scale


def _narrowed(context: Any, builder: Any, value: Any, kind: DecimalType) -> Any:
    """A number in the words of a type; OverflowError if it does not fit."""
    wanted = context.get_value_type(kind)
    if value.type.width <= wanted.width:
        return builder.sext(value, wanted) if value.type.width < wanted.width else value
    narrow = builder.trunc(value, wanted)
    differs = builder.icmp_signed("!=", builder.sext(narrow, value.type), value)
    with builder.if_then(differs, likely=False):
        message = f"a decimal does not fit {wanted.width} bits"
        context.call_conv.return_user_exc(builder, OverflowError, (message,))
    return narrow


def _divided(builder: Any, value: Any, power: int) -> tuple[Any, Any]:
    """A number divided by ten to a power, towards zero; and whether something is left over."""
    zero = value.type(0)
    negative = builder.icmp_signed("<", value, zero)
    left = builder.select(negative, builder.neg(value), value)
    inexact = ir.IntType(1)(0)
    while power > 0:
        digits = min(power, _DIVISOR_DIGITS)
        left, rest = _divided_by(builder, left, 10**digits)
        inexact = builder.or_(inexact, builder.icmp_unsigned("!=", rest, rest.type(0)))
        power -= digits
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
    number = as_integer(builder, fromty, value)
    power = toty.scale - _scale_of(fromty)
    width = whole_words(number.type.width + (10**power).bit_length())
    return _narrowed(context, builder, widened(builder, number, width, power), toty)


@box(DecimalType)
def _box(typ, value, c):
    word = ir.IntType(_WORD)
    parts = [
        c.builder.trunc(c.builder.lshr(value, value.type(k * _WORD)), word)
        for k in range(typ.words)
    ]
    numbers = [c.pyapi.long_from_ulonglong(part) for part in parts]
    words = c.pyapi.tuple_pack(numbers)
    function = c.pyapi.unserialize(c.pyapi.serialize_object(_python_decimal))
    scale = c.pyapi.long_from_longlong(word(typ.scale))
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


def _define_comparison(operation: Any, sign: str) -> None:
    @intrinsic
    def compared(typingctx, a, b):
        def codegen(context, builder, signature, args):
            left, right, _ = _aligned(builder, signature.args, args, 0)
            return builder.icmp_signed(sign, left, right)

        return types.boolean(a, b), codegen

    @overload(operation)
    def _ol_comparison(a, b):
        return (lambda a, b: compared(a, b)) if _are_operands(a, b) else None


for _operation, _sign in (
    (operator.eq, "=="),
    (operator.ne, "!="),
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
):
    _define_comparison(_operation, _sign)


def _result_words(a: Any, b: Any) -> int:
    return max(2, *(kind.words for kind in (a, b) if isinstance(kind, DecimalType)))


def _define_sum(operation: Any, name: str) -> None:
    @intrinsic
    def combined(typingctx, a, b):
        found = DecimalType(_result_words(a, b), max(_scale_of(a), _scale_of(b)))

        def codegen(context, builder, signature, args):
            left, right, _ = _aligned(builder, signature.args, args, 1)
            return _narrowed(context, builder, getattr(builder, name)(left, right), found)

        return found(a, b), codegen

    @overload(operation)
    def _ol_sum(a, b):
        return (lambda a, b: combined(a, b)) if _are_operands(a, b) else None


for _operation in (operator.add, operator.iadd):
    _define_sum(_operation, "add")
for _operation in (operator.sub, operator.isub):
    _define_sum(_operation, "sub")


@intrinsic
def _product(typingctx, a, b):
    found = DecimalType(_result_words(a, b), _scale_of(a) + _scale_of(b))

    def codegen(context, builder, signature, args):
        left, right = (as_integer(builder, k, v) for k, v in zip(signature.args, args, strict=True))
        wide = ir.IntType(left.type.width + right.type.width)
        product = builder.mul(builder.sext(left, wide), builder.sext(right, wide))
        return _narrowed(context, builder, product, found)

    return found(a, b), codegen


def _define_product(operation: Any) -> None:
    @overload(operation)
    def _ol_product(a, b):
        return (lambda a, b: _product(a, b)) if _are_operands(a, b) else None


_define_product(operator.mul)
_define_product(operator.imul)


def _define_unary(operation: Callable[..., Any], emit: Callable[[Any, Any], Any]) -> None:
    @intrinsic
    def changed(typingctx, a):
        found = DecimalType(max(a.words, 2), a.scale)

        def codegen(context, builder, signature, args):
            wide = builder.sext(args[0], ir.IntType(args[0].type.width + _WORD))
            return _narrowed(context, builder, emit(builder, wide), found)

        return found(a), codegen

    @overload(operation)
    def _ol_unary(a):
        return (lambda a: changed(a)) if isinstance(a, DecimalType) else None


def _absolute(builder: Any, value: Any) -> Any:
    negative = builder.icmp_signed("<", value, value.type(0))
    return builder.select(negative, builder.neg(value), value)


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
    power = scale.literal_value - a.scale
    found = DecimalType(max(a.words, 2) if power > 0 else a.words, scale.literal_value)

    def codegen(context, builder, signature, args):
        if power >= 0:
            width = whole_words(args[0].type.width + (10**power).bit_length())
            wide = widened(builder, args[0], width, power)
            return _narrowed(context, builder, wide, found)
        quotient, inexact = _divided(builder, args[0], -power)
        with builder.if_then(inexact, likely=False):
            message = f"rescale: digits behind a scale of {found.scale} would be lost"
            context.call_conv.return_user_exc(builder, ValueError, (message,))
        return quotient

    return found(a, scale), codegen


@overload_method(DecimalType, "rescale", prefer_literal=True)
def _ol_rescale(a, scale):
    return lambda a, scale: _rescaled(a, scale)


@overload_attribute(DecimalType, "scale")
def _ol_scale(a):
    scale = a.scale
    return lambda a: scale


@intrinsic
def _words(typingctx, a):
    found = types.UniTuple(types.uint64, a.words)

    def codegen(context, builder, signature, args):
        word = ir.IntType(_WORD)
        parts = [
            builder.trunc(builder.lshr(args[0], args[0].type(k * _WORD)), word)
            for k in range(a.words)
        ]
        made = context.make_tuple(builder, found, parts)
        return impl_ret_untracked(context, builder, found, made)

    return found(a), codegen


@overload_attribute(DecimalType, "words")
def _ol_words(a):
    return lambda a: _words(a)


@intrinsic
def _magnitude(typingctx, a):
    """The four words of the absolute value."""
    found = types.UniTuple(types.uint64, 4)

    def codegen(context, builder, signature, args):
        word, wide = ir.IntType(_WORD), ir.IntType(4 * _WORD)
        value = _absolute(builder, args[0])
        value = builder.zext(value, wide) if value.type.width < wide.width else value
        parts = [builder.trunc(builder.lshr(value, wide(k * _WORD)), word) for k in range(4)]
        made = context.make_tuple(builder, found, parts)
        return impl_ret_untracked(context, builder, found, made)

    return found(a), codegen


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
        value = args[0]
        if a.scale > 0:
            value, _ = _divided(builder, value, a.scale)
        elif a.scale < 0:
            width = whole_words(value.type.width + (10**-a.scale).bit_length())
            value = widened(builder, value, width, -a.scale)
        return _narrowed(context, builder, value, DecimalType(1, 0))

    return types.int64(a), codegen


@overload(int)
def _ol_int(a):
    return (lambda a: _truncated(a)) if isinstance(a, DecimalType) else None
