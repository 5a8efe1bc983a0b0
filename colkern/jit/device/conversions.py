"""Values of one kind as another: for variables that are both, and for what a function returns."""

from __future__ import annotations

from colkern.jit.device import decimals, methods
from colkern.jit.device.emitter import Emitter, Value, items
from colkern.jit.device.kinds import (
    UNSIGNED,
    Decimal,
    Element,
    Integer,
    Kind,
    Nothing,
    Nullable,
    Record,
    Row,
    Unknown,
    is_plain,
    zeros,
)


def converted(e: Emitter, value: Value, kind: Kind) -> tuple[str, ...]:
    """The parts of a value as those of a kind that it was joined to."""
    if value.kind == kind:
        return value.parts
    if isinstance(value.kind, Unknown):
        return zeros(kind)
    if isinstance(kind, Nullable):
        if isinstance(value.kind, Nothing):
            return zeros(kind)
        if isinstance(value.kind, Nullable):
            inner = Value(value.kind.inner, value.parts[1:])
            return (value.parts[0], *converted(e, inner, kind.inner))
        return ("True", *converted(e, value, kind.inner))
    if isinstance(kind, Element):
        return methods.as_element(e, value).parts
    if isinstance(kind, Decimal):
        return decimals.at_scale(e, value, kind)
    if isinstance(kind, Record) and isinstance(value.kind, Record):
        return tuple(
            part
            for inner, item in zip(kind.kinds, items(value), strict=True)
            for part in converted(e, item, inner)
        )
    if kind == UNSIGNED and isinstance(value.kind, Integer):
        return (f"_ck_u8({value.parts[0]})",)
    if is_plain(kind):
        return (e.plain(value),)
    return value.parts


def truth(e: Emitter, value: Value) -> str:
    """The code of whether a value is true."""
    kind = value.kind
    if isinstance(kind, Nullable):
        inner = truth(e, Value(kind.inner, value.parts[1:]))
        return value.parts[0] if inner == "True" else f"({value.parts[0]} and {inner})"
    if isinstance(kind, Nothing):
        return "False"
    if methods.is_element(value):
        return methods.truth(e, value)
    if is_plain(kind):
        return value.parts[0]
    if isinstance(kind, Decimal):
        return f"({' | '.join(value.parts)}) != _ck_zero"
    if isinstance(kind, Row | Record):
        return "True"
    return f"{value.parts[-1]} != 0"
