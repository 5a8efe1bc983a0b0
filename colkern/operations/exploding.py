"""`explode`: a row for each element of a column of lists.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import bitmap_of
from colkern.kernels import lists
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.list_slots import Lists, has_lists, lists_of
from colkern.operations.lists import shown_elements
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.list_elements import copy_elements, repeat_for_elements
from colkern.operations.validity import null_outside
from colkern.targets import Items, Target


@operation(kind=Kind.SELECTION)
def explode(
    batch: RecordBatch,
    column: int | str,
    *,
    empty_as_null: bool = True,
    keep_nulls: bool = True,
) -> RecordBatch:
    """A row for each element of a column of lists: the element, and the values of the other columns.

    By default, a row whose list is empty or null becomes a row with a null element, as in polars'
    `Series.explode` and Spark's `explode_outer`. With both arguments False, only elements make rows, as
    in Spark's `explode`. Values are copied, except elements that are in order in the child and need no
    nulls between them.

    Args:
        batch: The rows.
        column: The position or name of a column of lists, large lists, list views, fixed-size lists or
            maps (whose elements are structs of key and value).
        empty_as_null: Keep the rows with an empty list.
        keep_nulls: Keep the rows with a null list.

    Raises:
        KeyError, IndexError: If there is no such column.
        TypeError: If the column has no lists.
        LimitExceededError: If there are too many elements for the offsets or run ends of a column.
    """
    position = batch.schema.index(column)
    array = batch.column(position)
    if not has_lists(array):
        name = batch.schema.names[position]
        raise TypeError(f"column: expected lists, {name!r} has {array.type}")
    own = lists_of(array)
    places = own.count(null=int(keep_nulls), empty=int(empty_as_null))
    if places.total > own.total:
        starts = own.starts(places)
        elements = _elements_and_nulls(own, starts)
    else:
        starts = own.element_starts()
        elements = shown_elements(own)
    columns = [
        elements if i == position else _repeated(own.target, batch.column(i), starts)
        for i in range(batch.num_columns)
    ]
    return RecordBatch(_schema(batch.schema, position, elements), columns, elements.length)


def _repeated(target: Target, column: Array, starts: Items) -> Array:
    require_valid(column)
    return repeat_for_elements(target, column, starts)


def _elements_and_nulls(own: Lists, starts: Items) -> Array:
    """The elements, with a null for each list that has none but takes one place by `starts`."""
    target, count = own.target, own.array.length
    total = target.item(starts, count)
    if not own.child.length:
        return nulls(total, own.child.type, own.array.device)
    elements = copy_elements(target, own.child, own.begins(starts.dtype), starts)
    stand_ins = target.output((count + 63) // 64, np.uint64)
    target.map(lists.find_stand_ins, len(stand_ins), *own.args, starts, stand_ins)
    bits = stand_ins.view(np.uint8)
    visible = target.output((total + 63) // 64, np.uint64)
    target.map(lists.bits_of_elements, len(visible), starts, bits, visible)
    return null_outside(elements, bitmap_of(target, visible, total))


def _schema(schema: s.Schema, position: int, elements: Array) -> s.Schema:
    fields = list(schema.fields)
    old = fields[position]
    # A null list makes a null element, even if elements are declared not nullable.
    fields[position] = s.Field(old.name, elements.type, True, old.metadata)
    return s.Schema(fields, schema.metadata)
