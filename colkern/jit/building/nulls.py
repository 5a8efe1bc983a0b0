"""Nulls, and the zeros that stand under them."""

from __future__ import annotations

from collections.abc import Callable

from numba import types
from numba.core.errors import TypingError
from numba.extending import register_jitable

from colkern.cpu.primitives import set_byte
from colkern.dispatch import Dispatch
from colkern.jit.building.builder_type import BuilderType, child_of, method
from colkern.jit.building.nested import generated
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.state import (
    NULLS,
    make_room,
    new_slot,
    null_count_of,
    nulls_of,
    put_empty,
    put_item,
    row_of,
    set_length,
    set_null_count,
    used_of,
)
from colkern.jit.lowering import by_types


@by_types
def append_empty(out):
    """Append a slot of zeros, or an empty one, for a null."""
    return _EMPTY[out.node.kind](out)


_EMPTY: Dispatch[NodeKind, Callable[[BuilderType], Callable[..., None]]] = Dispatch(
    "empty slots of builders", NodeKind, ()
)

_NESTED = (NodeKind.LIST, NodeKind.FIXED_SIZE_LIST, NodeKind.MAP, NodeKind.STRUCT)


@_EMPTY.of(*set(NodeKind).difference((*_NESTED, NodeKind.UNION)))
def _zeros(out):
    return _append_zeros


def _append_zeros(out):
    row = row_of(out)
    slot = new_slot(row)
    put_empty(out, slot)
    set_length(row, slot + 1)


@_EMPTY.of(*_NESTED)
def _empty_nested(out):
    lines = ["def append_zero(out):", "    row = row_of(out)", "    slot = new_slot(row)"]
    for below, wanted, message in _complete(out):
        lines.append(f"    if length_of(row_of({below})) != {wanted}:")
        lines.append(f"        raise ValueError({message!r})")
    if out.node.kind is NodeKind.FIXED_SIZE_LIST:
        lines.append(f"    for _ in range({out.node.per_slot}):")
        lines.append("        append_empty(child0(out))")
    if out.node.kind is NodeKind.STRUCT:
        lines += [f"    append_empty(child{k}(out))" for k in range(len(out.node.children))]
    lines += ["    put_empty(out, slot)", "    set_length(row, slot + 1)"]
    return generated(lines, out, _NAMES)


def _complete(out: BuilderType) -> list[tuple[str, str, str]]:
    """The nodes below, their lengths if all values belong to slots, and the words of an error."""
    lists = "a null among values of a list: end_list() is missing"
    maps = "a null among entries of a map: end_map() is missing"
    if out.node.kind is NodeKind.LIST:
        return [("child0(out)", "used_of(row)", lists)]
    if out.node.kind is NodeKind.FIXED_SIZE_LIST:
        return [("child0(out)", f"slot * {out.node.per_slot}", lists)]
    if out.node.kind is NodeKind.MAP:
        return [(f"child{k}(child0(out))", "used_of(row)", maps) for k in range(2)]
    return [
        (
            f"child{k}(out)",
            "slot",
            f"a null in a row that has a value of {field.name!r}: end_row() is missing",
        )
        for k, field in enumerate(out.node.children)
    ]


@_EMPTY.of(NodeKind.UNION)
def _empty_union(out):
    return _union_slot(out, "append_zero", "append_empty(child0(out))")


def _union_slot(out, name, first):
    """A function that appends a slot of the first child, which a line appends to."""
    storage = out.data_type.storage
    lines = [f"def {name}(out):", "    row = row_of(out)", "    slot = new_slot(row)"]
    lines += [f"    put_item(out, slot, {storage.type_codes[0]})", f"    {first}"]
    if storage.mode == "sparse":
        for k in range(1, len(storage.type_codes)):
            lines.append(f"    append_empty(child{k}(out))")
    lines.append("    set_length(row, slot + 1)")
    return generated(lines, out, _NAMES)


_NAMES = {
    "append_empty": append_empty,
    "child1": child_of(1),
    "put_empty": put_empty,
    "put_item": put_item,
    "used_of": used_of,
}


@method("append_null")
def _ol_append_null(out):
    if not out.nullable:
        message = f"a null among values of {out.data_type} that are declared not nullable"

        def refuse_null(out):
            raise ValueError(message)

        return refuse_null
    if out.node.kind is NodeKind.NULL:
        return _append_zeros
    if out.node.kind is NodeKind.UNION:
        # Unions have no nulls of their own.
        return _union_slot(out, "append_null", "child0(out).append_null()")

    def append_null(out):
        row = row_of(out)
        slot = new_slot(row)
        ensure_marks(row)
        append_empty(out)
        mark(row, slot)

    return append_null


@register_jitable
def ensure_marks(row):
    """Make sure that there are bytes that mark nulls; the first null allocates them."""
    if nulls_of(row) == 0:
        make_room(row, NULLS, 1)


@register_jitable
def mark(row, slot):
    """Mark a slot as null."""
    set_byte(nulls_of(row) + slot, 1)
    set_null_count(row, null_count_of(row) + 1)


@method("append_nulls")
def _ol_append_nulls(out, n):
    if not isinstance(n, types.Integer):
        raise TypingError(f"append_nulls: expected a number of nulls, got {n}")

    def append_nulls(out, n):
        out.reserve(n)
        for _ in range(n):
            out.append_null()

    return append_nulls
