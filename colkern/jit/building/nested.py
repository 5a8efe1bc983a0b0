"""Lists, maps and structs: a slot ends what was appended to the nodes below."""

from __future__ import annotations

from numba import types
from numba.core.errors import TypingError
from numba.extending import register_jitable

from colkern.errors import LimitExceededError
from colkern.generated import function_of_text
from colkern.jit.building.builder_type import child_of, method
from colkern.jit.building.nodes import NodeKind
from colkern.jit.building.state import end_at, length_of, new_slot, row_of, set_length


def generated(lines, out, names=None):
    """The function that some lines define; they call the nodes below `child0`, `child1` …."""
    children = {f"child{k}": child_of(k) for k in range(len(out.node.children))}
    namespace = globals() | children | (names or {})
    name = lines[0][len("def ") : lines[0].index("(")]
    return function_of_text(name, "\n".join(lines), namespace, out.name)


@method("end_list")
def _ol_end_list(out):
    if out.node.kind is NodeKind.FIXED_SIZE_LIST:
        return _end_fixed_size_list(out)
    if out.node.kind is not NodeKind.LIST:
        raise TypingError(f"end_list: a builder of {out.data_type} has no lists")
    child, end_range = child_of(0), _end_range(out)
    return lambda out: end_range(out, length_of(row_of(child(out))))


def _end_range(out):
    """A function that appends the slot of the values up to `used`."""
    most = out.node.most_used

    @register_jitable
    def end_range(out, used):
        if used > most:
            raise LimitExceededError("lists of more than 2147483647 values; build the large type")
        end_at(out, new_slot(row_of(out)), used)

    return end_range


def _end_fixed_size_list(out):
    child, size = child_of(0), out.node.per_slot
    message = f"another number of values than a {out.data_type} has"

    def end_list(out):
        row = row_of(out)
        slot = new_slot(row)
        if length_of(row_of(child(out))) != (slot + 1) * size:
            raise ValueError(message)
        set_length(row, slot + 1)

    return end_list


@method("end_map")
def _ol_end_map(out):
    if out.node.kind is not NodeKind.MAP:
        raise TypingError(f"end_map: a builder of {out.data_type} has no maps")
    entries_of, keys_of, items_of = child_of(0), child_of(0), child_of(1)
    end_range = _end_range(out)

    def end_map(out):
        entries = entries_of(out)
        used = length_of(row_of(keys_of(entries)))
        if length_of(row_of(items_of(entries))) != used:
            raise ValueError("end_map: not as many items as keys")
        end_range(out, used)
        set_length(row_of(entries), used)

    return end_map


@method("end_row")
def _ol_end_row(out):
    if out.node.kind is not NodeKind.STRUCT:
        raise TypingError(f"end_row: a builder of {out.data_type} has no rows")
    lines = ["def end_row(out):", "    row = row_of(out)", "    length = new_slot(row) + 1"]
    for position, field in enumerate(out.node.children):
        message = f"end_row: not one value of {field.name!r} since the last row"
        lines.append(f"    if length_of(row_of(child{position}(out))) != length:")
        lines.append(f"        raise ValueError({message!r})")
    lines.append("    set_length(row, length)")
    return generated(lines, out)


@method("field", prefer_literal=True)
def _ol_field(out, name):
    if not isinstance(name, types.StringLiteral):
        raise TypingError("field: the name must be known when compiling: a literal")
    way = out.part(name.literal_value) if out.node.kind is NodeKind.STRUCT else []
    if not way:
        raise TypingError(
            f"field: a builder of {out.data_type} has no field {name.literal_value!r}"
        )
    child = child_of(way[0])
    return lambda out, name: child(out)
