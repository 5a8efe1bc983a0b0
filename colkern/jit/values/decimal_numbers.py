"""Decimals in compiled code: an integer of 64, 128 or 256 bits, and a scale that the type knows.

Results of `+`, `-` and `*` have 128 bits at least, and 256 where an operand has; what does not fit
raises OverflowError. Numbers of different scales meet at the larger one. The arithmetic is that of
`colkern.jit.device.decimals`.
"""

from __future__ import annotations

import decimal
import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.extending import (
    box,
    lower_cast,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
)

from colkern.jit.device import decimals
from colkern.jit.device.emitter import Value, record
from colkern.jit.device.kinds import INTEGER, Decimal
from colkern.jit.loops import Loop, number_named
from colkern.jit.table_calls import FUNCTIONS
from colkern.kernels.intrinsics import instructions

_WORD = 64


class DecimalType(types.Type):
    """The Numba type of a decimal.

    Args:
        words: The number of its words of 64 bits: 1, 2 or 4.
        scale: The number of digits behind the point; negative for zeros before it.
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


@instructions(
    lambda words, scale: DecimalType(len(words), scale.literal_value)(words, scale),
    prefer_literal=True,
)
def decimal_of(context, builder, signature, args):
    """The decimal of a tuple of words; `scale` is a literal."""
    return _joined(builder, args[0])


def _joined(builder: Any, words: Any) -> Any:
    """The number of a tuple of words, the lowest first."""
    parts = cgutils.unpack_tuple(builder, words)
    whole = ir.IntType(_WORD * len(parts))
    number = whole(0)
    for k, part in enumerate(parts):
        placed = builder.shl(builder.zext(part, whole), whole(_WORD * k))
        number = builder.or_(number, placed)
    return number


def _words_in(builder: Any, value: Any) -> list[Any]:
    """The words of a number, the lowest first."""
    return [
        builder.trunc(builder.lshr(value, value.type(place)), ir.IntType(_WORD))
        for place in range(0, value.type.width, _WORD)
    ]


@instructions(lambda a: types.UniTuple(types.uint64, a.words)(a))
def words_of(context, builder, signature, args):
    """The words of a decimal, the lowest first."""
    return context.make_tuple(builder, signature.return_type, _words_in(builder, args[0]))


@instructions(lambda a, b: types.UniTuple(types.uint64, len(a) + len(b))(a, b))
def product_of(context, builder, signature, args):
    """The words of a product of two numbers in words: LLVM multiplies them in half of the time."""
    result = signature.return_type
    whole = ir.IntType(_WORD * len(result))
    factors = [builder.sext(_joined(builder, words), whole) for words in args]
    return context.make_tuple(builder, result, _words_in(builder, builder.mul(*factors)))


class DecimalLoop(Loop):
    """Writes a function of decimals and integers, which raises if the result does not fit.

    Args:
        names: Other names that its code may use, and their meanings.
        operands: The types of its parameters, by name.
    """

    def __init__(self, names: dict[str, Any], **operands: Any) -> None:
        own = {"decimal_of": decimal_of, "product_of": product_of, "words_of": words_of}
        super().__init__(list(operands), own | names, checked=True)
        self.operands = [self._operand(name, kind) for name, kind in operands.items()]

    def _operand(self, name: str, kind: Any) -> Value:
        if isinstance(kind, DecimalType):
            return Value(
                Decimal(kind.words, kind.scale), self.bind_each(f"words_of({name})", kind.words)
            )
        if isinstance(kind, types.BaseTuple):
            parts = [number_named(f"{name}[{k}]", part) for k, part in enumerate(kind)]
            return record(parts)
        return number_named(name, kind)

    def product(self, one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
        """The words of a product of two numbers in words."""
        call = f"product_of(({', '.join(one)},), ({', '.join(other)},))"
        return self.bind_each(call, len(one) + len(other))


def _function(write: Callable[..., Value], **operands: Any) -> Callable[..., Any]:
    """The function of operands of those types that `write` writes."""
    loop = DecimalLoop({}, **operands)
    return loop.written(write(loop, *loop.operands), "decimals")


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


@lower_cast(types.Integer, DecimalType)
@lower_cast(DecimalType, DecimalType)
def _cast(context, builder, fromty, toty, value):
    kind = Decimal(toty.words, toty.scale)
    convert = _function(lambda e, a: Value(kind, decimals.at_scale(e, a, kind)), a=fromty)
    return context.compile_internal(builder, convert, toty(fromty), (value,))


# Operations


def _are_operands(a: Any, b: Any) -> bool:
    return (isinstance(a, DecimalType) and isinstance(b, DecimalType | types.Integer)) or (
        isinstance(b, DecimalType) and isinstance(a, types.Integer)
    )


def _define(operation: Any, write: Callable[..., Value]) -> None:
    """`operation(a, b)`, where one is a decimal."""

    @overload(operation)
    def _ol_operation(a, b):
        return _function(write, a=a, b=b) if _are_operands(a, b) else None


for _name, _write in decimals.OF_TWO.items():
    _define(FUNCTIONS[_name], _write)
for _name, _inplace in (("+", operator.iadd), ("-", operator.isub), ("*", operator.imul)):
    _define(_inplace, decimals.OF_TWO[_name])


def _define_unary(operation: Callable[..., Any], write: Callable[..., Value]) -> None:
    @overload(operation)
    def _ol_unary(a):
        return _function(write, a=a) if isinstance(a, DecimalType) else None


for _name, _write_one in decimals.OF_ONE.items():
    _define_unary(FUNCTIONS[_name], _write_one)


@overload_method(DecimalType, "rescale", prefer_literal=True)
def _ol_rescale(a, scale):
    if not isinstance(scale, types.IntegerLiteral):
        raise TypingError("rescale: the scale must be a literal, as it is part of the type")
    wanted = Value(INTEGER, (repr(scale.literal_value),))
    return _function(lambda e, a, _: decimals.method(e, a, "rescale", [wanted]), a=a, scale=scale)


@overload_attribute(DecimalType, "scale")
def _ol_scale(a):
    scale = a.scale
    return lambda a: scale


@overload_attribute(DecimalType, "words")
def _ol_words(a):
    return lambda a: words_of(a)
