"""Builders in functions of rows, spelled as `colkern.Builder`.

Their methods are those of compiled loops: `colkern.jit.building` has a function for the types of a builder
and of a value, which is written in place (`inlining.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from numba.core.errors import TypingError

# Imported for the methods.
import colkern.jit.building.methods  # noqa: F401
from colkern import schema as s
from colkern.jit.building.builder_type import APPENDS, METHODS
from colkern.jit.building.nodes import HINTS, NodeKind, way_to
from colkern.jit.device import methods
from colkern.jit.device.decimals import signed, unsigned
from colkern.jit.device.emitter import Emitter, Value
from colkern.jit.device.kinds import BOOL, Integer, Nothing, Nullable, Number, Plain, Unknown
from colkern.jit.device.nodes import NONE, Builder, child, kind_of
from colkern.jit.views.elements import TYPES, type_of


def attribute(e: Emitter, out: Value, name: str) -> Value:
    """`out.name`: the node of values, keys, items, or a field."""
    way = [] if name in METHODS else way_to(kind_of(out).data_type, name)
    if not way:
        raise e.failure(f"{out.kind.words} has no {name!r} in a kernel")
    for k in way:
        out = child(out, k)
    return out


def method(e: Emitter, out: Value, name: str, arguments: Sequence[Value]) -> Value:
    """`out.name(…)`."""
    if name not in METHODS:
        raise e.failure(f"{out.kind.words} has no {name!r} in a kernel")
    wanted = len(inspect.signature(METHODS[name]).parameters) - 1
    if len(arguments) != wanted:
        raise e.failure(f"{name} takes {wanted or 'no'} arguments, got {len(arguments)}")
    if name == "extend":
        return _extend(e, out, *arguments)
    if name == "append" and not isinstance(arguments[0].kind, Nothing | Nullable):
        return _append(e, out, *arguments)
    try:
        function = METHODS[name](*(type_of(value.kind) for value in (out, *arguments)))
    except TypingError as error:
        raise e.failure(str(error)) from None
    return e.call_function(function, [out, *arguments], {})


def _append(e: Emitter, out: Value, value: Value) -> Value:
    """`out.append(value)` for a value that is not None."""
    kind = kind_of(out)
    is_number = kind.node.kind is NodeKind.NUMBER
    if isinstance(value.kind, Unknown):
        return NONE
    if isinstance(value.kind, Plain) and kind.node.kind in (
        NodeKind.LIST,
        NodeKind.FIXED_SIZE_LIST,
    ):
        _extend(e, child(out, 0), value)
        return method(e, out, "end_list", ())
    item = methods.as_element(e, value)
    if is_number and isinstance(value.kind, Plain | Integer):
        item = _number(e, out, value)
    function = APPENDS[kind.node.kind](kind.type, type_of(item.kind))
    if function is None:
        hint = HINTS.get(kind.node.kind, "")
        raise e.failure(f"append: {value.kind.words} to {out.kind.words}{hint}")
    return e.call_function(function, [out, item], {})


def _number(e: Emitter, out: Value, value: Value) -> Value:
    """A number whose type only the compiler knows, as one of a type that a builder takes."""
    node, storage = kind_of(out).node, kind_of(out).data_type.storage
    if isinstance(storage, s.FloatingPoint):
        return Value(Number("f8"), value.parts)
    if isinstance(storage, s.Bool):
        if isinstance(value.kind, Integer):
            return value
        # It cannot be told from a bool: as one it is true where it is not 0.
        return Value(BOOL, (e.bind(f"{value.parts[0]} != 0"),))
    assert node.bounds is not None
    assert node.item is not None
    number = e.bind(value.parts[0])
    # An operation that floats do not have: they are no integers for a compiler to round.
    number = e.bind(f"{number} | {number}")
    within = f"_ck_i8({number}) >= {signed(node.bounds[0])} if {number} < 0 else "
    within += f"_ck_u8({number}) <= {unsigned(node.bounds[1])}"
    message = f"an integer out of the range of {kind_of(out).data_type}"
    e.note_unless(within, OverflowError, message)
    return Value(Number(node.item.str[1:]), (number,))


def _extend(e: Emitter, out: Value, array: Value) -> Value:
    if not isinstance(array.kind, Plain) or kind_of(out).node.kind is not NodeKind.NUMBER:
        raise e.failure(f"extend: {array.kind.words} to {out.kind.words}")
    name = e.bind(array.parts[0])

    def append_item(position: str) -> None:
        _append(e, out, Value(array.kind, (f"{name}[{position}]",)))

    e.repeated(f"len({name})", append_item)
    return NONE


TYPES[Builder] = lambda kind: kind.type
