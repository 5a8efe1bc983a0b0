"""The slots of each data type in compiled code, and how they are read: one function a type class.

`value_at` reads a slot without asking whether it is null, `valid_at` says whether it is not. Slots are
counted from the column's first one, as unsigned numbers that are within its length.
"""

from __future__ import annotations

from collections.abc import Callable

from numba import carray, types
from numba.extending import intrinsic, overload, register_jitable
from numba.np.numpy_support import from_dtype
from numpy import int64, uint8, uint32, uint64

from colkern import schema as s
from colkern.arrays.values import DayTime, MonthDayNano
from colkern.cpu.compiler import compiled
from colkern.generated import function_of_text
from colkern.jit import stored_elements
from colkern.jit.elements.memory import MOMENT_MAKERS, element, require_done
from colkern.jit.elements.types import MOMENTS, binary, text
from colkern.jit.stored_elements import has_moments, moment_of
from colkern.jit.values.decimal_numbers import DecimalType, decimal_at
from colkern.jit.views.column_types import (
    ELEMENTS,
    ColumnType,
    Element,
    RowType,
    element_of,
    value_type,
)
from colkern.jit.views.columns import (
    address_in,
    cut,
    item_at,
    part_of,
    row_of,
    valid_by_bitmap,
)
from colkern.kernels import row_values, runs, slot_values
from colkern.kernels.row_values import Bytes, Text
from colkern.layouts import VIEW_INLINE_BYTES, LayoutKind, Role, layout


@register_jitable
def bit(bitmap, i):
    """Whether bit `i` (uint64) of `bitmap` (uint8[]) is set."""
    return (bitmap[i >> uint64(3)] >> uint8(i & uint64(7))) & uint8(1) != 0


def value_at(column, slot):
    """The value of a slot (uint64), whether it is null or not."""
    raise NotImplementedError


@overload(value_at, inline="never")
def _ol_value_at(column, slot):
    if isinstance(column, ColumnType):
        return element_of(column).read
    return None


def reader_of(column: ColumnType) -> Callable[..., object]:
    """`value_at` for a column, in as few compiled functions as can be."""
    return item_at if element_of(column).read is _item else value_at


def tester_of(column: ColumnType) -> Callable[..., object]:
    """`valid_at` for a column, in as few compiled functions as can be."""
    encoded = isinstance(column.data_type, s.Dictionary)
    return valid_by_bitmap if layout(column.data_type).has_validity and not encoded else valid_at


# Nulls


def valid_at(column, slot):
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


def child_slot(column, slot):
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


# The elements of each type class


@ELEMENTS.of(s.Null)
def _nulls(column: ColumnType) -> Element:
    return Element(types.none, lambda column, slot: None)


@ELEMENTS.of(s.Bool)
def _booleans(column: ColumnType) -> Element:
    def boolean(column, slot):
        return bit(column._ck_data, column._ck_offset + slot)

    return Element(types.boolean, boolean)


def _item(column, slot):
    return item_at(column, slot)


@ELEMENTS.of(s.Int)
def _numbers(column: ColumnType) -> Element:
    return Element(from_dtype(layout(column.data_type).spec(Role.DATA).dtype), _item)


@ELEMENTS.of(*stored_elements.MOMENTS)
def _moments(column: ColumnType) -> Element:
    if not has_moments(column.data_type):
        return _numbers(column)
    moment = moment_of(column.data_type)
    lines = ["def moment(column, slot):", "    item = int64(item_at(column, slot))"]
    if moment.check:
        lines += [
            f"    if {moment.check}:",
            f"        require_done(int64(LEFT), {str(column.data_type)!r})",
        ]
    source = "\n".join([*lines, f"    return new_moment({moment.code})", ""])
    namespace = {
        "__name__": __name__,
        "int64": int64,
        "item_at": item_at,
        "require_done": require_done,
        "LEFT": row_values.LEFT,
        "new_moment": MOMENT_MAKERS[moment.kind],
    }
    read = function_of_text("moment", source, namespace, f"element of {column.data_type}")
    return Element(MOMENTS[moment.kind], read)


_float_of_half = compiled(slot_values.float_of_half)


@ELEMENTS.of(s.FloatingPoint)
def _floats(column: ColumnType) -> Element:
    if column.data_type.bit_width != 16:
        return _numbers(column)

    def half(column, slot):
        return _float_of_half(uint64(item_at(column, slot)))

    return Element(types.float32, half)


@ELEMENTS.of(s.Decimal)
def _decimals(column: ColumnType) -> Element:
    words, scale = max(column.data_type.bit_width // 64, 1), column.data_type.scale

    def decimal(column, slot):
        return decimal_at(column._ck_data, column._ck_offset + slot, words, scale)

    return Element(DecimalType(words, scale), decimal)


def _day_time(column, slot):
    first = (column._ck_offset + slot) << uint64(1)
    return DayTime(column._ck_data[first], column._ck_data[first + uint64(1)])


def _month_day_nano(column, slot):
    first = (column._ck_offset + slot) << uint64(2)
    low = uint64(uint32(column._ck_data[first + uint64(2)]))
    high = uint64(uint32(column._ck_data[first + uint64(3)]))
    nanoseconds = int64((high << uint64(32)) | low)
    return MonthDayNano(column._ck_data[first], column._ck_data[first + uint64(1)], nanoseconds)


_INTERVALS: dict[s.IntervalUnit, Element] = {
    "year_month": Element(types.int32, _item),
    "day_time": Element(types.NamedTuple((types.int32, types.int32), DayTime), _day_time),
    "month_day_nano": Element(
        types.NamedTuple((types.int32, types.int32, types.int64), MonthDayNano), _month_day_nano
    ),
}


@ELEMENTS.of(s.Interval)
def _intervals(column: ColumnType) -> Element:
    return _INTERVALS[column.data_type.unit]


_TEXTS = (s.Utf8, s.LargeUtf8, s.Utf8View)


@register_jitable
def _text(column, address, size):
    return element(Text(address, size, column._ck_ascii != 0))


@register_jitable
def _byte_string(column, address, size):
    return element(Bytes(address, size))


@ELEMENTS.of(s.Utf8, s.LargeUtf8, s.Binary, s.LargeBinary)
def _byte_strings(column: ColumnType) -> Element:
    is_text = isinstance(column.data_type, _TEXTS)
    make = _text if is_text else _byte_string

    def byte_string(column, slot):
        at = column._ck_offset + slot
        start = int64(column._ck_offsets[at])
        size = int64(column._ck_offsets[at + uint64(1)]) - start
        return make(column, int64(address_in(column._ck_bytes)) + start, size)

    return Element(text if is_text else binary, byte_string)


@ELEMENTS.of(s.Utf8View, s.BinaryView)
def _viewed_byte_strings(column: ColumnType) -> Element:
    is_text = isinstance(column.data_type, _TEXTS)
    make = _text if is_text else _byte_string

    def viewed_byte_string(column, slot):
        word = (column._ck_offset + slot) << uint64(2)
        size = int64(column._ck_views[word])
        if size <= VIEW_INLINE_BYTES:
            inline = address_in(column._ck_views) + ((word + uint64(1)) << uint64(2))
            return make(column, int64(inline), size)
        base = column._ck_table[uint64(column._ck_views[word + uint64(2)])]
        return make(column, int64(base + uint64(column._ck_views[word + uint64(3)])), size)

    return Element(text if is_text else binary, viewed_byte_string)


@ELEMENTS.of(s.FixedSizeBinary)
def _fixed_size_byte_strings(column: ColumnType) -> Element:
    width = column.data_type.byte_width

    def fixed_size_binary(column, slot):
        start = (column._ck_offset + slot) * uint64(width)
        return element(Bytes(int64(address_in(column._ck_data) + start), int64(width)))

    return Element(binary, fixed_size_binary)


@ELEMENTS.of(s.List, s.LargeList, s.Map)
def _lists(column: ColumnType) -> Element:
    def slots(column, slot):
        at = column._ck_offset + slot
        start = uint64(column._ck_offsets[at])
        length = int64(uint64(column._ck_offsets[at + uint64(1)]) - start)
        return cut(part_of(column, 0), start, length)

    return Element(column.part(0), slots)


@ELEMENTS.of(s.ListView, s.LargeListView)
def _list_views(column: ColumnType) -> Element:
    def slots(column, slot):
        at = column._ck_offset + slot
        return cut(part_of(column, 0), uint64(column._ck_offsets[at]), int64(column._ck_sizes[at]))

    return Element(column.part(0), slots)


@ELEMENTS.of(s.FixedSizeList)
def _fixed_size_lists(column: ColumnType) -> Element:
    size = column.data_type.list_size

    def slots(column, slot):
        start = (column._ck_offset + slot) * uint64(size)
        return cut(part_of(column, 0), start, int64(size))

    return Element(column.part(0), slots)


@ELEMENTS.of(s.Struct, s.Union)
def _rows(column: ColumnType) -> Element:
    return Element(RowType(column), lambda column, slot: row_of(column, slot))


@intrinsic
def _zero_value(typingctx, column):
    """A value of a column whose bits are all zero: a number, or something empty."""
    value = value_type(column)

    def codegen(context, builder, signature, args):
        return context.get_constant_null(value)

    return value(column), codegen


@ELEMENTS.of(s.Dictionary)
def _dictionary_values(column: ColumnType) -> Element:
    def dictionary_value(column, slot):
        values, index = part_of(column, 0), index_at(column, slot)
        # The index under a null may be any number.
        if index < uint64(values._ck_length):
            return value_at(values, index)
        return _zero_value(values)

    return Element(value_type(column.part(0)), dictionary_value)


@ELEMENTS.of(s.RunEndEncoded)
def _run_values(column: ColumnType) -> Element:
    return Element(
        value_type(column.part(1)),
        lambda column, slot: value_at(part_of(column, 1), run_of(column, slot)),
    )
