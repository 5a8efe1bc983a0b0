"""Lists, maps, structs and unions appended whole: each part goes to the node below that holds it."""

from __future__ import annotations

from numba import types

from colkern import schema as s
from colkern.jit.building.builder_type import APPENDS, child_of
from colkern.jit.building.nested import generated
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.nulls import append_empty
from colkern.jit.building.numbers import conversion
from colkern.jit.building.state import new_slot, put_item, row_of, set_length
from colkern.jit.lowering import by_types, unwrapped
from colkern.jit.views.column_types import ColumnType, RowType
from colkern.jit.views.records import parts
from colkern.jit.views.slots import row_field

# Lists


@APPENDS.of(NodeKind.LIST, NodeKind.FIXED_SIZE_LIST)
def _list_append(out, value):
    """`append` of a list, an array or a column; None if the builder does not take such a value."""
    if not isinstance(value, types.List | types.ListType | types.Array | ColumnType):
        return None
    child = child_of(0)
    items = out.child(0)
    if isinstance(value, types.Array) and value.ndim == 1 and items.node.kind is NodeKind.NUMBER:
        if conversion(items, value.dtype) is None:
            return None

        def append_array(out, value):
            child(out).extend(value)
            out.end_list()

        return append_array

    def append(out, value):
        items = child(out)
        for item in value:
            items.append(item)
        out.end_list()

    return append


# Maps


@APPENDS.of(NodeKind.MAP)
def _map_append(out, value):
    """`append` of a dictionary, or of a list of keys with their items; None for another value."""
    entries_of, keys_of, items_of = child_of(0), child_of(0), child_of(1)
    if isinstance(value, types.DictType):

        def append_dictionary(out, value):
            entries = entries_of(out)
            keys, items = keys_of(entries), items_of(entries)
            for key, item in value.items():
                keys.append(key)
                items.append(item)
            out.end_map()

        return append_dictionary
    if not isinstance(value, types.List | types.ListType | ColumnType):
        return None

    def append(out, value):
        entries = entries_of(out)
        keys, items = keys_of(entries), items_of(entries)
        for entry in value:
            append_entry(keys, items, entry)
        out.end_map()

    return append


@by_types
def append_entry(keys, items, entry):
    """Append a key and its item to the builders of each."""
    if isinstance(entry, types.Optional):

        def append_optional(keys, items, entry):
            if entry is None:
                raise ValueError("None among the entries of a map")
            append_entry(keys, items, unwrapped(entry))

        return append_optional
    if _count_of_parts(entry) != 2:
        return None
    part = _reader_of_parts(entry)
    lines = [
        "def append(keys, items, entry):",
        f"    keys.append({part.format(value='entry', k=0)})",
        f"    items.append({part.format(value='entry', k=1)})",
    ]
    return generated(lines, keys, _NAMES)


# Structs


@APPENDS.of(NodeKind.STRUCT)
def _struct_append(out, value):
    """`append` of a tuple or a row; None if the builder does not take such a value."""
    if _count_of_parts(value) != len(out.node.children) or _is_slot_of_union(value):
        return None
    part = _reader_of_parts(value)
    lines = ["def append(out, value):", "    row = row_of(out)", "    slot = new_slot(row)"]
    for k in range(len(out.node.children)):
        lines.append(f"    child{k}(out).append({part.format(value='value', k=k)})")
    lines.append("    set_length(row, slot + 1)")
    return generated(lines, out, _NAMES)


def _count_of_parts(value):
    """The number of fields of a tuple or a row; None for another value."""
    if isinstance(value, types.BaseTuple):
        return len(value)
    return len(parts(value.column.data_type)) if isinstance(value, RowType) else None


def _reader_of_parts(value):
    """The text that reads part `k` of a tuple, of a row, or of a union's slot."""
    if isinstance(value, types.BaseTuple):
        return "{value}[{k}]"
    return "{value}.child({k})" if _is_slot_of_union(value) else "row_field({value}, {k})"


def _is_slot_of_union(value):
    return isinstance(value, RowType) and isinstance(value.column.data_type, s.Union)


# Unions


@APPENDS.of(NodeKind.UNION)
def _union_append(out, value):
    """`append` of a tuple with one value that is not None, or of a union's slot; None for another."""
    children, storage = out.node.children, out.data_type.storage
    if _count_of_parts(value) != len(children):
        return None
    if isinstance(value, RowType) and not _is_slot_of_union(value):
        return None
    lines = ["def append(out, value):", *_choice(value, len(children))]
    lines += ["    row = row_of(out)", "    slot = new_slot(row)"]
    part = _reader_of_parts(value)
    for k, code in enumerate(storage.type_codes):
        lines.append(f"    if chosen == {k}:")
        lines.append(f"        put_item(out, slot, {code})")
        lines.append(f"        child{k}(out).append({part.format(value='value', k=k)})")
        if storage.mode == "sparse":
            lines += ["    else:", f"        append_empty(child{k}(out))"]
    lines.append("    set_length(row, slot + 1)")
    return generated(lines, out, _NAMES)


def _choice(value, count):
    """The lines that say which child holds a value."""
    if isinstance(value, RowType):
        codes = value.column.data_type.type_codes
        lines = ["    chosen = -1", "    type_id = value.type_id"]
        for k, code in enumerate(codes):
            lines += [f"    if type_id == {code}:", f"        chosen = {k}"]
        return lines
    lines = ["    chosen = -1", "    count = 0"]
    for k in range(count):
        lines += [f"    if value[{k}] is not None:", f"        chosen = {k}", "        count += 1"]
    for test, words in (("count == 0", "none is"), ("count > 1", "several are")):
        message = f"a union has one value that is not None, and {words} in a tuple for it"
        lines += [f"    if {test}:", f"        raise ValueError({message!r})"]
    return lines


_NAMES = {
    "append_empty": append_empty,
    "new_slot": new_slot,
    "put_item": put_item,
    "row_field": row_field,
    "row_of": row_of,
    "set_length": set_length,
}
