"""Builders in functions of rows, spelled as `colkern.Builder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from colkern.jit.building.nodes import HINTS, METHODS, NodeKind, way_to
from colkern.jit.device import nesting
from colkern.jit.device.appending import append_items, append_value
from colkern.jit.device.builder_kinds import Builder
from colkern.jit.device.emitter import Emitter, Value
from colkern.jit.device.kinds import NOTHING, Literal, Nothing, Nullable, Unknown, is_plain
from colkern.jit.device.nodes import child, kind_of
from colkern.jit.device.whole_values import append_whole

_NONE = Value(NOTHING, ())


def attribute(e: Emitter, out: Value, name: str) -> Value:
    """`out.name`: the node of values, keys, items, or a field."""
    way = [] if name in METHODS else way_to(kind_of(out).data_type, name)
    if not way:
        raise e.failure(f"{out.kind.words} has no {name!r} in a kernel")
    return _after(out, way)


def _after(out: Value, way: list[int]) -> Value:
    for k in way:
        out = child(out, k)
    return out


def append(e: Emitter, out: Value, value: Value) -> None:
    """`out.append(value)`."""
    if isinstance(value.kind, Unknown):
        return
    if isinstance(value.kind, Nothing):
        nesting.append_null(e, out)
    elif isinstance(value.kind, Nullable):
        with e.within([]) as then:
            append(e, out, Value(value.kind.inner, value.parts[1:]))
        with e.within([]) as otherwise:
            nesting.append_null(e, out)
        e.block.append(e.conditional(value.parts[0], then, otherwise))
    elif not (append_value(e, out, value) or append_whole(e, out, value, append)):
        kind = kind_of(out)
        hint = HINTS.get(kind.node.kind, "")
        raise e.failure(f"append: {value.kind.words} to a builder of {kind.data_type}{hint}")


# Methods


def _append(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    append(e, out, arguments[0])
    return _NONE


def _append_null(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    nesting.append_null(e, out)
    return _NONE


def _append_nulls(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    count = _count(e, "append_nulls", arguments[0])
    e.repeated(f"{count} if {count} > 0 else 0", lambda _: nesting.append_null(e, out))
    return _NONE


def _reserve(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    """Nothing: there is as much room as was measured."""
    _count(e, "reserve", arguments[0])
    return _NONE


def _count(e: Emitter, method: str, value: Value) -> str:
    if not is_plain(value.kind):
        raise e.failure(f"{method}: expected a number of slots, got {value.kind.words}")
    return e.bind(value.parts[0])


def _extend(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    if not append_items(e, out, arguments[0]):
        raise e.failure(f"extend: {arguments[0].kind.words} to {out.kind.words}")
    return _NONE


def _end_list(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    _require(e, out, "end_list", "lists", NodeKind.LIST, NodeKind.FIXED_SIZE_LIST)
    nesting.end_list(e, out)
    return _NONE


def _end_map(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    _require(e, out, "end_map", "maps", NodeKind.MAP)
    nesting.end_map(e, out)
    return _NONE


def _end_row(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    _require(e, out, "end_row", "rows", NodeKind.STRUCT)
    nesting.end_row(e, out)
    return _NONE


def _require(e: Emitter, out: Value, method: str, what: str, *kinds: NodeKind) -> None:
    if kind_of(out).node.kind not in kinds:
        raise e.failure(f"{method}: {out.kind.words} has no {what}")


def _field(e: Emitter, out: Value, arguments: Sequence[Value]) -> Value:
    name, kind = arguments[0].kind, kind_of(out)
    if not isinstance(name, Literal):
        raise e.failure("field: the name must be known when compiling: a literal")
    is_struct = kind.node.kind is NodeKind.STRUCT
    way = way_to(kind.data_type, str(name.value)) if is_struct else []
    if not way:
        raise e.failure(f"field: {kind.words} has no field {name.value!r}")
    return _after(out, way)


Method = Callable[[Emitter, Value, Sequence[Value]], Value]

_METHODS: dict[str, tuple[int, Method]] = {
    "append": (1, _append),
    "append_null": (0, _append_null),
    "append_nulls": (1, _append_nulls),
    "end_list": (0, _end_list),
    "end_map": (0, _end_map),
    "end_row": (0, _end_row),
    "extend": (1, _extend),
    "field": (1, _field),
    "reserve": (1, _reserve),
}
"""How many arguments a method has, and what it does."""


def method(e: Emitter, out: Value, name: str, arguments: Sequence[Value]) -> Value:
    """`out.name(…)`."""
    assert isinstance(out.kind, Builder)
    if name not in _METHODS:
        raise e.failure(f"{out.kind.words} has no {name!r} in a kernel")
    wanted, made = _METHODS[name]
    if len(arguments) != wanted:
        raise e.failure(f"{name} takes {wanted or 'no'} arguments, got {len(arguments)}")
    return made(e, out, arguments)
