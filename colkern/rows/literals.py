"""Constants of row functions as values of the generated source."""

from __future__ import annotations

import datetime
import decimal
import enum
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from colkern.errors import UnsupportedError
from colkern.rows import kinds as k
from colkern.rows.calls import constant_kind
from colkern.rows.constants import (
    constant_block,
    decimal_words,
    has_64_bits,
    kind_of,
    word_of,
    wrapped,
)
from colkern.rows.emitter import Emitter
from colkern.rows.front import is_of_standard_library
from colkern.rows.kinds import Kind
from colkern.rows.values import LOWEST, NONE, Value, loaded

_T = TypeVar("_T")


def literal(emitter: Emitter, value: Any) -> Value:
    """Returns a Python object as a value of the source that keeps the constant."""
    match value:
        case None:
            return NONE
        case bool():
            return Value(k.BOOL, str(value), constant=value)
        case enum.Enum() if k.is_enum(type(value)):
            return Value(k.member_of(type(value)), str(word_of(value)), constant=value)
        case int():
            kind = constant_kind(int(value))
            if not has_64_bits(value) and (kind == k.INT or emitter.program.has_numpy):
                emitter.refuse(f"the integer {value} has more than 64 bits")
            word = wrapped(int(value))
            # The smallest integer has no literal.
            code = str(word) if word > -(1 << 63) else LOWEST
            return Value(k.INT if emitter.program.wraps else kind, code, constant=value)
        case float():
            return Value(k.FLOAT, _float(value), constant=value)
        case str():
            return Value(k.TEXT, emitter.text(value), constant=value)
        case bytes():
            return Value(k.BYTES, emitter.bytes(value), constant=value)
        case decimal.Decimal():
            kind = _known(emitter, kind_of, value)
            number, exponent = decimal_words(value)
            return Value(kind, f"Decimal({number}, {exponent})", constant=value)
        case datetime.date() | datetime.time() | datetime.timedelta():
            kind = _known(emitter, kind_of, value)
            return Value(kind, str(word_of(value)), constant=value)
        case tuple():
            items = tuple(literal(emitter, item) for item in value)
            kinds = tuple(item.kind for item in items)
            names = tuple(getattr(value, "_fields", ()))
            return Value(k.tuple_of(kinds, names, type(value)), items=items, constant=value)
    if _is_itself(value):
        emitter.program.objects.append(value)
    if k.is_function(value) or _is_itself(value):
        return Value(k.choice_of([value]), "0", constant=value)
    return stored_constant(emitter, value, kind_of)


def _is_itself(value: Any) -> bool:
    """Whether an object of the standard library is true, and equals no other."""
    names = {name for base in type(value).__mro__[:-1] for name in vars(base)}
    return is_of_standard_library(type(value)) and names.isdisjoint(
        ("__eq__", "__bool__", "__len__")
    )


def stored_constant(emitter: Emitter, value: Any, kind_of_value: Callable[[Any], Kind]) -> Value:
    """Returns a constant that compiled code reads from memory: a list, set or dictionary, or a date.

    Args:
        kind_of_value: Returns the kind whose layout it gets.
    """
    stored, key = emitter.program.stored, (id(value), kind_of_value)
    if key not in stored:
        kind = _known(emitter, kind_of_value, value)
        stored[key] = value, kind, _known(emitter, constant_block, value, kind)
    _, kind, block = stored[key]
    place = emitter.program.block(block)
    parts = loaded(kind, f"pool + {place}")
    return replace(emitter.bind_value(kind, parts), constant=value)


def _known(emitter: Emitter, function: Callable[..., _T], *arguments: Any) -> _T:
    """Returns the result of a function that says whether a constant has a compiled form."""
    try:
        return function(*arguments)
    except UnsupportedError as error:
        emitter.refuse(str(error))


def _float(value: float) -> str:
    if value != value:
        return "float_of_bits(0x7FF8000000000000)"
    if value in (float("inf"), float("-inf")):
        return f"float_of_bits({0x7FF0000000000000 if value > 0 else -0x10000000000000})"
    return repr(value)
