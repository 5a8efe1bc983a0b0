"""Elements of lists: all of them, their number in each list, their parent lists, one from each list.

`explode` makes a row for each element of a column of lists.

Columnar format 1.5: "Variable-size List Layout", "ListView Layout", "Fixed-Size List Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.bitmaps import bits_by
from colkern.kernels import lists
from colkern.layouts import LayoutKind, Role
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.list_slots import Lists, has_lists, list_size, lists_of, require_lists
from colkern.operations.operands import integers
from colkern.operations.position_checks import require_valid
from colkern.operations.selection import take_positions
from colkern.operations.selection.list_elements import copy_elements, repeat_for_elements
from colkern.operations.validity import compact_validity, null_outside, with_nulls_of
from colkern.targets import NOWHERE, Items, Target, filled, target_of

_INT32, _INT64 = s.int32(), s.int64()


@operation(kind=Kind.SELECTION)
def list_flatten(array: Array) -> Array:
    """The elements of all lists in one array; elements under null lists are left out.

    The result is a slice of the child if the lists follow each other there and no null hides elements;
    else it is copied.

    Args:
        array: A list, large list, list view, fixed-size list or map array.

    Raises:
        TypeError: If the array has no lists.
        InvalidArrowError: If a list reaches outside the child.
    """
    return shown_elements(lists_of(array))


def shown_elements(slots: Lists) -> Array:
    """As `list_flatten`, for `Lists`."""
    row = slots.row()
    if row is not None:
        return slots.elements(*row)
    starts, count = slots.starts(slots.shown), slots.shown.total
    return copy_elements(slots.target, slots.child, slots.begins(starts.dtype), starts, count=count)


@operation(kind=Kind.ELEMENT_WISE)
def list_value_length(array: Array) -> Array:
    """The length of each list, null for a null list: int64 for large lists, int32 for others.

    For list views, these are the sizes, which are not copied. See `list_flatten`.
    """
    require_lists(array)
    target, count, kind = target_of(array.device), array.length, array.layout.kind
    if kind is LayoutKind.LIST_VIEW:
        lengths = array.items(Role.SIZES)
    elif kind is LayoutKind.FIXED_SIZE_LIST:
        lengths = filled(target, count, np.int32, list_size(array))
    else:
        starts = array.items(Role.OFFSETS)
        lengths = target.output(count, starts.dtype)
        target.map(lists.list_sizes, count, starts, lengths)
    type_ = _INT64 if lengths.dtype.itemsize == 8 else _INT32
    return with_nulls_of(array, type_, (target.buffer(lengths),))


@operation
def list_parent_indices(array: Array) -> Array:
    """The slot (int64) of the list that each element of `list_flatten(array)` comes from.

    Unlike in pyarrow, elements under null lists are not counted.
    """
    slots = lists_of(array)
    starts = slots.element_starts()
    target = slots.target
    count = slots.total
    out = target.output(count, np.int64)
    target.map(lists.list_of_each, count, starts, out)
    return integers(target, out)


@operation(kind=Kind.ELEMENT_WISE)
def list_element(array: Array, index: int) -> Array:
    """Element `index` of each list, null for a null list; copied. See `list_flatten`.

    Args:
        index: 0 for the first element.

    Raises:
        IndexError: If `index` is negative, or a list that is not null has no such element.
    """
    slots = lists_of(array)
    target = slots.target
    if index < 0:
        raise IndexError(f"index: must not be negative, got {index}")
    positions = target.output(array.length, np.int64)
    short = NOWHERE
    if array.length:
        short = target.reduce(lists.place_in_lists, array.length, *slots.args, index, positions)
    if short != NOWHERE:
        length = slots.length_of(short)
        raise IndexError(f"index {index}: the list in slot {short} has length {length}")
    if not slots.child.length:
        return nulls(array.length, slots.child.type, array.device)
    taken = take_positions(slots.child, positions)
    visible = compact_validity(array)
    return taken if visible is None else null_outside(taken, visible)


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
    bits = bits_by(target, lists.find_stand_ins, count, (*own.args, starts))
    visible = bits_by(target, lists.bits_of_elements, total, (starts, bits.array))
    return null_outside(elements, visible)


def _schema(schema: s.Schema, position: int, elements: Array) -> s.Schema:
    fields = list(schema.fields)
    old = fields[position]
    # A null list makes a null element, even if elements are declared not nullable.
    fields[position] = s.Field(old.name, elements.type, True, old.metadata)
    return s.Schema(fields, schema.metadata)
