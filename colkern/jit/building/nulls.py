"""Nulls, and the zeros that stand under them."""

from __future__ import annotations

from collections.abc import Callable

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload, overload_method, register_jitable

from colkern.dispatch import Dispatch
from colkern.jit.building.builder_type import BuilderType, child_of
from colkern.jit.building.nested import generated
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.room import NULLS, make_room, new_slot
from colkern.jit.building.state import (
    has_marks,
    length_of,
    mark_null,
    null_count_of,
    put_empty,
    row_of,
    set_length,
    set_null_count,
    used_of,
)


def append_empty(out):
    """Append a slot of zeros, or of nothing: what stands under a null."""
    raise NotImplementedError


@overload(append_empty)
def _ol_append_empty(out):
    return _EMPTY[out.node.kind](out)


_NESTED = (
    NodeKind.LIST,
    NodeKind.FIXED_SIZE_LIST,
    NodeKind.MAP,
    NodeKind.STRUCT,
    NodeKind.UNION,
)

_EMPTY: Dispatch[NodeKind, Callable[[BuilderType], Callable[..., None]]] = Dispatch(
    "empty slots of builders", NodeKind, ()
)


@_EMPTY.of(*set(NodeKind).difference(_NESTED))
def _zeros(out):
    return _append_zeros


def _append_zeros(out):
    row = row_of(out)
    slot = new_slot(row)
    put_empty(out, slot)
    set_length(row, slot + 1)


@_EMPTY.of(NodeKind.LIST, NodeKind.MAP)
def _empty_list(out):
    require_no_values = _require_no_values(out)

    def append_zero(out):
        require_no_values(out)
        row = row_of(out)
        slot = new_slot(row)
        put_empty(out, slot)
        set_length(row, slot + 1)

    return append_zero


def _require_no_values(out):
    """A function that raises where values were appended that no list has yet."""
    child = child_of(0)
    if out.node.kind is NodeKind.MAP:
        keys, items = child_of(0), child_of(1)

        @register_jitable
        def require_no_values(out):
            entries = child(out)
            used = used_of(row_of(out))
            if (
                length_of(row_of(keys(entries))) != used
                or length_of(row_of(items(entries))) != used
            ):
                raise ValueError("a null among entries of a map: end_map() is missing")

    else:

        @register_jitable
        def require_no_values(out):
            if length_of(row_of(child(out))) != used_of(row_of(out)):
                raise ValueError("a null among values of a list: end_list() is missing")

    return require_no_values


@_EMPTY.of(NodeKind.FIXED_SIZE_LIST)
def _empty_fixed_size_list(out):
    child, size = child_of(0), out.node.per_slot

    def append_zero(out):
        row = row_of(out)
        slot = new_slot(row)
        if length_of(row_of(child(out))) != slot * size:
            raise ValueError("a null among values of a list: end_list() is missing")
        for _ in range(size):
            append_empty(child(out))
        set_length(row, slot + 1)

    return append_zero


@_EMPTY.of(NodeKind.STRUCT)
def _empty_struct(out):
    lines = ["def append_zero(out):", "    row = row_of(out)", "    slot = new_slot(row)"]
    for position, field in enumerate(out.node.children):
        message = f"a null in a row that has a value of {field.name!r}: end_row() is missing"
        lines.append(f"    if length_of(row_of(child{position}(out))) != slot:")
        lines.append(f"        raise ValueError({message!r})")
    for position in range(len(out.node.children)):
        lines.append(f"    append_empty(child{position}(out))")
    lines.append("    set_length(row, slot + 1)")
    return generated(lines, out, {"append_empty": append_empty})


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
    return generated(lines, out, {"append_empty": append_empty})


@overload_method(BuilderType, "append_null")
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

    if out.node.kind in _NESTED:

        def append_null(out):
            row = row_of(out)
            slot = new_slot(row)
            _ensure_marks(row)
            append_empty(out)
            _mark(row, slot)

    else:

        def append_null(out):
            row = row_of(out)
            slot = new_slot(row)
            _ensure_marks(row)
            put_empty(out, slot)
            set_length(row, slot + 1)
            _mark(row, slot)

    return append_null


@register_jitable
def _ensure_marks(row):
    """Bytes that say which slots are null; the first null makes them."""
    if not has_marks(row):
        make_room(row, NULLS, 1)


@register_jitable
def _mark(row, slot):
    mark_null(row, slot)
    set_null_count(row, null_count_of(row) + 1)


@overload_method(BuilderType, "append_nulls")
def _ol_append_nulls(out, n):
    if not isinstance(n, types.Integer):
        raise TypingError(f"append_nulls: expected a number of nulls, got {n}")

    def append_nulls(out, n):
        out.reserve(n)
        for _ in range(n):
            out.append_null()

    return append_nulls
