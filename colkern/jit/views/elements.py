"""What the slots of each data type are in compiled code, and how they are read: one row a type class.

`value_at` reads a slot without asking whether it is null, `valid_at` says whether it is not. Slots are
counted from the column's first one, as unsigned numbers that are within its length.
"""

# Numba's decorators and the bodies that it compiles are untyped.
# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
# mypy: disallow-untyped-calls=False, disallow-incomplete-defs=False, check-untyped-defs=False

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba import carray, types
from numba.extending import intrinsic, overload, register_jitable
from numba.np.numpy_support import from_dtype
from numpy import int64, uint32, uint64

from colkern import schema as s
from colkern.arrays.values import DayTime, MonthDayNano
from colkern.cpu.compiler import compiled
from colkern.jit.rows.support import bit
from colkern.jit.values.decimal_numbers import DecimalType, decimal_at
from colkern.jit.values.strings import binary, binary_at, text, text_at
from colkern.jit.views.columns import (
    BatchType,
    ColumnType,
    RowType,
    address_in,
    cut,
    item_at,
    part_of,
    row_of,
    valid_by_bitmap,
)
from colkern.kernels import runs, slot_values
from colkern.layouts import VIEW_INLINE_BYTES, LayoutKind, Role, layout


@dataclass(frozen=True, slots=True)
class Element:
    """What a slot of a data type is.

    Args:
        kind: From the column's type to the Numba type of a value.
        read: From the column's type to the function `(column, slot) -> value`.
    """

    kind: Callable[[ColumnType], types.Type]
    read: Callable[[ColumnType], Callable[[Any, Any], Any]]


def value_type(column: ColumnType) -> types.Type:
    """The Numba type of a column's values."""
    return _ELEMENTS[type(column.data_type)].kind(column)


def element_type(column: ColumnType) -> types.Type:
    """The Numba type of a column's slots: optional where they may be null."""
    found = value_type(column)
    if isinstance(found, types.NoneType) or not may_be_null(column):
        return found
    return types.Optional(found)


def may_be_null(column: ColumnType) -> bool:
    """Whether slots of a column can be null: a batch's rows and slots of unions cannot.

    A union has no validity of its own: what may be null is what `slot.child(k)` gives. Runs have none
    either, so a run of a union's slots is not null.
    """
    if isinstance(column.data_type, s.RunEndEncoded):
        return may_be_null(column.part(1))
    return not isinstance(column, BatchType) and not isinstance(column.data_type, s.Union)


def value_at(column: Any, slot: Any) -> Any:
    """The value of a slot (uint64), whether it is null or not."""
    raise NotImplementedError


@overload(value_at, inline="never")
def _ol_value_at(column, slot):
    if isinstance(column, ColumnType):
        return _ELEMENTS[type(column.data_type)].read(column)
    return None


def reader_of(column: ColumnType) -> Any:
    """`value_at` for a column, in as few compiled functions as can be."""
    return item_at if _ELEMENTS[type(column.data_type)] is _NUMBER else value_at


def tester_of(column: ColumnType) -> Any:
    """`valid_at` for a column, in as few compiled functions as can be."""
    encoded = isinstance(column.data_type, s.Dictionary)
    return valid_by_bitmap if layout(column.data_type).has_validity and not encoded else valid_at


# Nulls


def valid_at(column: Any, slot: Any) -> Any:
    """Whether a slot (uint64) is not null."""
    raise NotImplementedError


@overload(valid_at)
def _ol_valid_at(column, slot):
    if not isinstance(column, ColumnType):
        return None
    if isinstance(column.data_type, s.Null):
        return lambda column, slot: False
    if isinstance(column.data_type, s.Dictionary):
        return _valid_in_dictionary
    if isinstance(column.data_type, s.RunEndEncoded):
        return lambda column, slot: valid_at(part_of(column, 1), run_of(column, slot))
    if isinstance(column.data_type, s.Union):
        return lambda column, slot: True
    return lambda column, slot: valid_by_bitmap(column, slot)


def _valid_in_dictionary(column, slot):
    if valid_by_bitmap(column, slot):
        return valid_at(part_of(column, 0), index_at(column, slot))
    return False


# Children


def child_slot(column: Any, slot: Any) -> Any:
    """The slot of a union's child that holds the value of a slot."""
    raise NotImplementedError


@overload(child_slot)
def _ol_child_slot(column, slot):
    if layout(column.data_type).kind is LayoutKind.DENSE_UNION:
        return lambda column, slot: uint64(column._ck_offsets[column._ck_offset + slot])
    return lambda column, slot: slot


@register_jitable
def type_id_at(column, slot):
    """The type id of a slot of a union."""
    return column._ck_type_ids[column._ck_offset + slot]


# Encoded columns


@register_jitable
def index_at(column, slot):
    """The index that a slot of a dictionary column holds."""
    return uint64(item_at(column, slot))


_find_run = compiled(runs.find_run)


@register_jitable
def run_of(column, slot):
    """The run that holds a slot of a run-end encoded column: the first whose end is past it."""
    ends = part_of(column, 0)
    first = int64(ends._ck_offset)
    run_ends = carray(ends._ck_data, (first + ends._ck_length,))[first:]
    return _find_run(run_ends, column._ck_offset + slot)


@register_jitable
def run_end(column, run):
    """Where a run ends, counted from slot 0 of the memory."""
    ends = part_of(column, 0)
    return uint64(ends._ck_data[ends._ck_offset + run])


# One row a type class


def _item_type(column: ColumnType) -> types.Type:
    return from_dtype(layout(column.data_type).spec(Role.DATA).dtype)


def _item(column, slot):
    return item_at(column, slot)


_NUMBER = Element(_item_type, lambda _: _item)


def _bool(column, slot):
    return bit(column._ck_data, column._ck_offset + slot)


_float_of_half = compiled(slot_values.float_of_half)


def _half(column, slot):
    return _float_of_half(uint64(item_at(column, slot)))


def _float_type(column: ColumnType) -> types.Type:
    return types.float32 if column.data_type.bit_width == 16 else _item_type(column)


def _decimal_type(column: ColumnType) -> types.Type:
    return DecimalType(max(column.data_type.bit_width // 64, 1), column.data_type.scale)


def _decimal(column: ColumnType) -> Callable[[Any, Any], Any]:
    kind = _decimal_type(column)
    words, scale = kind.words, kind.scale

    def decimal(column, slot):
        return decimal_at(column._ck_data, column._ck_offset + slot, words, scale)

    return decimal


def _day_time(column, slot):
    first = (column._ck_offset + slot) << uint64(1)
    return DayTime(column._ck_data[first], column._ck_data[first + uint64(1)])


def _month_day_nano(column, slot):
    first = (column._ck_offset + slot) << uint64(2)
    low = uint64(uint32(column._ck_data[first + uint64(2)]))
    high = uint64(uint32(column._ck_data[first + uint64(3)]))
    nanoseconds = int64((high << uint64(32)) | low)
    return MonthDayNano(column._ck_data[first], column._ck_data[first + uint64(1)], nanoseconds)


_INTERVALS: dict[s.IntervalUnit, tuple[types.Type, Callable[[Any, Any], Any]]] = {
    "year_month": (types.int32, _item),
    "day_time": (types.NamedTuple((types.int32, types.int32), DayTime), _day_time),
    "month_day_nano": (
        types.NamedTuple((types.int32, types.int32, types.int64), MonthDayNano),
        _month_day_nano,
    ),
}


def _interval_type(column: ColumnType) -> types.Type:
    return _INTERVALS[column.data_type.unit][0]


def _variable(make: Any) -> Callable[[Any, Any], Any]:
    def variable(column, slot):
        at = column._ck_offset + slot
        start = int64(column._ck_offsets[at])
        length = int64(column._ck_offsets[at + uint64(1)]) - start
        return make(address_in(column._ck_bytes) + uint64(start), length)

    return variable


def _viewed(make: Any) -> Callable[[Any, Any], Any]:
    def viewed(column, slot):
        word = (column._ck_offset + slot) << uint64(2)
        length = int64(column._ck_views[word])
        if length <= VIEW_INLINE_BYTES:
            return make(address_in(column._ck_views) + ((word + uint64(1)) << uint64(2)), length)
        base = column._ck_table[uint64(column._ck_views[word + uint64(2)])]
        return make(base + uint64(column._ck_views[word + uint64(3)]), length)

    return viewed


def _fixed_size_binary(column: ColumnType) -> Callable[[Any, Any], Any]:
    width = column.data_type.byte_width

    def fixed_size_binary(column, slot):
        start = (column._ck_offset + slot) * uint64(width)
        return binary_at(address_in(column._ck_data) + start, int64(width))

    return fixed_size_binary


def _first_part(column: ColumnType) -> types.Type:
    return column.part(0)


def _list(column, slot):
    at = column._ck_offset + slot
    start = uint64(column._ck_offsets[at])
    length = int64(uint64(column._ck_offsets[at + uint64(1)]) - start)
    return cut(part_of(column, 0), start, length)


def _list_view(column, slot):
    at = column._ck_offset + slot
    return cut(part_of(column, 0), uint64(column._ck_offsets[at]), int64(column._ck_sizes[at]))


def _fixed_size_list(column: ColumnType) -> Callable[[Any, Any], Any]:
    size = column.data_type.list_size

    def fixed_size_list(column, slot):
        start = (column._ck_offset + slot) * uint64(size)
        return cut(part_of(column, 0), start, int64(size))

    return fixed_size_list


def _row(column, slot):
    return row_of(column, slot)


def _encoded_type(k: int) -> Callable[[ColumnType], types.Type]:
    return lambda column: value_type(column.part(k))


@intrinsic
def _zero_value(typingctx, column):
    """A value of a column whose bits are all zero: a number, or something empty."""
    found = value_type(column)

    def codegen(context, builder, signature, args):
        return context.get_constant_null(found)

    return found(column), codegen


def _dictionary_value(column, slot):
    values, index = part_of(column, 0), index_at(column, slot)
    # The index under a null may be any number.
    if index < uint64(values._ck_length):
        return value_at(values, index)
    return _zero_value(values)


def _run_value(column, slot):
    return value_at(part_of(column, 1), run_of(column, slot))


def _null(column, slot):
    return None


_ROW = Element(RowType, lambda _: _row)
_OFFSETS_LIST = Element(_first_part, lambda _: _list)
_LIST_VIEW = Element(_first_part, lambda _: _list_view)

_ELEMENTS: dict[type[s.DataType], Element] = {
    s.Null: Element(lambda _: types.none, lambda _: _null),
    s.Bool: Element(lambda _: types.boolean, lambda _: _bool),
    s.Int: _NUMBER,
    s.FloatingPoint: Element(
        _float_type, lambda c: _half if c.data_type.bit_width == 16 else _item
    ),
    s.Decimal: Element(_decimal_type, _decimal),
    s.Date: _NUMBER,
    s.Time: _NUMBER,
    s.Timestamp: _NUMBER,
    s.Duration: _NUMBER,
    s.Interval: Element(_interval_type, lambda c: _INTERVALS[c.data_type.unit][1]),
    s.FixedSizeBinary: Element(lambda _: binary, _fixed_size_binary),
    s.Binary: Element(lambda _: binary, lambda _: _variable(binary_at)),
    s.LargeBinary: Element(lambda _: binary, lambda _: _variable(binary_at)),
    s.BinaryView: Element(lambda _: binary, lambda _: _viewed(binary_at)),
    s.Utf8: Element(lambda _: text, lambda _: _variable(text_at)),
    s.LargeUtf8: Element(lambda _: text, lambda _: _variable(text_at)),
    s.Utf8View: Element(lambda _: text, lambda _: _viewed(text_at)),
    s.List: _OFFSETS_LIST,
    s.LargeList: _OFFSETS_LIST,
    s.Map: _OFFSETS_LIST,
    s.ListView: _LIST_VIEW,
    s.LargeListView: _LIST_VIEW,
    s.FixedSizeList: Element(_first_part, _fixed_size_list),
    s.Struct: _ROW,
    s.Union: _ROW,
    s.Dictionary: Element(_encoded_type(0), lambda _: _dictionary_value),
    s.RunEndEncoded: Element(_encoded_type(1), lambda _: _run_value),
}
