"""The one table of layouts: which buffers and children an array of each data type has.

Reader, writer, validation, C Data interface, printing and kernels all walk this table. To support a
type is to give it a row here. Device-independent: sizes are in slots, bits and bytes.

Columnar format 1.5: "Physical Memory Layout", "Buffer Listing for Each Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from colkern import schema as s

VIEW_BYTES = 16
VIEW_INLINE_BYTES = 12


class LayoutKind(Enum):
    """The layouts, by their names in the format's text."""

    NULL = "null"
    FIXED_SIZE = "fixed-size primitive"
    BINARY_VIEW = "variable-size binary view"
    BINARY = "variable-size binary"
    LIST_VIEW = "variable-size list-view"
    LIST = "variable-size list"
    FIXED_SIZE_LIST = "fixed-size list"
    STRUCT = "struct"
    SPARSE_UNION = "sparse union"
    DENSE_UNION = "dense union"
    DICTIONARY = "dictionary-encoded"
    RUN_END_ENCODED = "run-end encoded"

    # Every operation looks up tables by layout, and Enum's own hash is Python code.
    __hash__ = object.__hash__


class Role(Enum):
    """The content of a buffer."""

    VALIDITY = "validity"
    DATA = "data"
    OFFSETS = "offsets"
    SIZES = "sizes"
    TYPE_IDS = "type_ids"
    VIEWS = "views"
    BYTES = "bytes"


class Extent(Enum):
    """The rule for the least size of a buffer, given the number of slots."""

    BITS = "one bit a slot"
    SLOTS = "one item a slot"
    SLOTS_AND_ONE = "one item a slot, and one more"
    FREE = "not set by the number of slots"


class ChildLength(Enum):
    """The rule for the least length of a child, given its parent."""

    NONE = "no children"
    SAME = "as long as the parent"
    LAST_OFFSET = "up to the last offset"
    OFFSET_AND_SIZE = "up to the furthest offset plus size"
    LIST_SIZE = "list_size for each slot"
    SLOT_OFFSETS = "past the furthest offset of its type"
    RUNS = "one value a run, run ends that cover the parent"


@dataclass(frozen=True, slots=True)
class BufferSpec:
    """One buffer of a layout."""

    role: Role
    extent: Extent  #: How its least size follows from the number of slots.
    dtype: np.dtype[Any]  #: The items as NumPy sees them; for bits, the bytes that hold them.
    #: The bytes that reverse together when the byte order changes, by part of an item; empty where
    #: order does not matter.
    swap_bytes: tuple[int, ...] = ()
    # Bits for each slot, and extra bits for all slots together: each new array is checked against
    # them.
    slot_bits: int = field(init=False, repr=False, compare=False)
    extra_bits: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        item = 8 * self.dtype.itemsize
        per_slot = {Extent.BITS: 1, Extent.FREE: 0}.get(self.extent, item)
        object.__setattr__(self, "slot_bits", per_slot)
        object.__setattr__(self, "extra_bits", item * (self.extent is Extent.SLOTS_AND_ONE))

    def items(self, slots: int) -> int:
        """The least number of items for an array with `slots` slots (offset included)."""
        if self.extent is Extent.FREE or slots == 0:
            return 0
        if self.extent is Extent.BITS:
            return (slots + 7) // 8
        return slots + (self.extent is Extent.SLOTS_AND_ONE)

    def min_bytes(self, slots: int) -> int:
        """The least number of bytes for an array with `slots` slots (offset included)."""
        # Zero slots need zero bytes: an empty array may leave out even its single offset.
        return (slots * self.slot_bits + self.extra_bits + 7) // 8 if slots else 0


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The buffers and children of a data type, in order. It keys plans: equal types share one, unless
    thousands of other types come in between."""

    kind: LayoutKind
    buffers: tuple[BufferSpec, ...]
    child_length: ChildLength = ChildLength.NONE  #: The rule for the lengths of the children.
    variadic: bool = False  #: Whether any number of data buffers follow the fixed ones.
    has_dictionary: bool = False  #: Whether values stand in a dictionary beside the array.
    has_validity: bool = field(init=False, repr=False, compare=False)
    """Whether slots may be null by a validity bitmap of this array's own."""
    is_backed: bool = field(init=False, repr=False, compare=False)
    """Whether the buffers grow with the number of slots, without nulls too."""

    def __post_init__(self) -> None:
        first = self.buffers[0].role if self.buffers else None
        object.__setattr__(self, "has_validity", first is Role.VALIDITY)
        grows = any(spec.min_bytes(8) for spec in self.buffers[self.has_validity :])
        object.__setattr__(self, "is_backed", grows)

    @property
    def name(self) -> str:
        """The layout's name in the format's text."""
        return self.kind.value

    def position(self, role: Role) -> int:
        """The position of the buffer of that role; raises `KeyError` if the layout has none."""
        for position, spec in enumerate(self.buffers):
            if spec.role is role:
                return position
        raise KeyError(f"a {self.name} layout has no {role.value} buffer")

    def spec(self, role: Role) -> BufferSpec:
        """The buffer of that role; raises `KeyError` if the layout has none."""
        return self.buffers[self.position(role)]


_BYTE = np.dtype(np.uint8)
_VALIDITY = BufferSpec(Role.VALIDITY, Extent.BITS, _BYTE)
_BYTES = BufferSpec(Role.BYTES, Extent.FREE, _BYTE)
_VIEWS = BufferSpec(Role.VIEWS, Extent.SLOTS, np.dtype(f"V{VIEW_BYTES}"), (4, 4, 4, 4))
_TYPE_IDS = BufferSpec(Role.TYPE_IDS, Extent.SLOTS, np.dtype(np.int8))

_DAY_TIME = np.dtype([("days", "<i4"), ("milliseconds", "<i4")])
_MONTH_DAY_NANO = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])


def _numbers(role: Role, extent: Extent, dtype: DTypeLike) -> BufferSpec:
    numbers = np.dtype(dtype)
    return BufferSpec(role, extent, numbers, (numbers.itemsize,) if numbers.itemsize > 1 else ())


def _offsets(bits: int) -> BufferSpec:
    return _numbers(Role.OFFSETS, Extent.SLOTS_AND_ONE, f"<i{bits // 8}")


def _slot_offsets(bits: int) -> BufferSpec:
    return _numbers(Role.OFFSETS, Extent.SLOTS, f"<i{bits // 8}")


def _sizes(bits: int) -> BufferSpec:
    return _numbers(Role.SIZES, Extent.SLOTS, f"<i{bits // 8}")


def _fixed(dtype: DTypeLike) -> Layout:
    return Layout(LayoutKind.FIXED_SIZE, (_VALIDITY, _numbers(Role.DATA, Extent.SLOTS, dtype)))


def _packed(dtype: DTypeLike, swap_bytes: tuple[int, ...]) -> Layout:
    data = BufferSpec(Role.DATA, Extent.SLOTS, np.dtype(dtype), swap_bytes)
    return Layout(LayoutKind.FIXED_SIZE, (_VALIDITY, data))


def _int(type_: s.Int) -> Layout:
    return _fixed(f"{'<i' if type_.signed else '<u'}{type_.bit_width // 8}")


def _decimal(type_: s.Decimal) -> Layout:
    width = type_.bit_width // 8
    if width <= 8:
        return _fixed(f"<i{width}")
    return _packed(f"V{width}", (width,))


def _interval(type_: s.Interval) -> Layout:
    if type_.unit == "year_month":
        return _fixed("<i4")
    if type_.unit == "day_time":
        return _packed(_DAY_TIME, (4, 4))
    return _packed(_MONTH_DAY_NANO, (4, 4, 8))


def _variable_binary(bits: int) -> Layout:
    return Layout(LayoutKind.BINARY, (_VALIDITY, _offsets(bits), _BYTES))


def _list(bits: int) -> Layout:
    return Layout(LayoutKind.LIST, (_VALIDITY, _offsets(bits)), ChildLength.LAST_OFFSET)


def _list_view(bits: int) -> Layout:
    buffers = (_VALIDITY, _slot_offsets(bits), _sizes(bits))
    return Layout(LayoutKind.LIST_VIEW, buffers, ChildLength.OFFSET_AND_SIZE)


def _union(type_: s.Union) -> Layout:
    if type_.mode == "sparse":
        return Layout(LayoutKind.SPARSE_UNION, (_TYPE_IDS,), ChildLength.SAME)
    return Layout(LayoutKind.DENSE_UNION, (_TYPE_IDS, _slot_offsets(32)), ChildLength.SLOT_OFFSETS)


def _dictionary(type_: s.Dictionary) -> Layout:
    return Layout(LayoutKind.DICTIONARY, _int(type_.index_type).buffers, has_dictionary=True)


def _views() -> Layout:
    return Layout(LayoutKind.BINARY_VIEW, (_VALIDITY, _VIEWS), variadic=True)


_TABLE: dict[type[s.DataType], Callable[[Any], Layout]] = {
    s.Null: lambda _: Layout(LayoutKind.NULL, ()),
    s.Bool: lambda _: Layout(
        LayoutKind.FIXED_SIZE, (_VALIDITY, BufferSpec(Role.DATA, Extent.BITS, _BYTE))
    ),
    s.Int: _int,
    s.FloatingPoint: lambda t: _fixed(f"<f{t.bit_width // 8}"),
    s.Decimal: _decimal,
    s.Date: lambda t: _fixed("<i4" if t.unit == "day" else "<i8"),
    s.Time: lambda t: _fixed(f"<i{t.bit_width // 8}"),
    s.Timestamp: lambda _: _fixed("<i8"),
    s.Duration: lambda _: _fixed("<i8"),
    s.Interval: _interval,
    s.FixedSizeBinary: lambda t: _packed(f"V{t.byte_width}", ()),
    s.Binary: lambda _: _variable_binary(32),
    s.Utf8: lambda _: _variable_binary(32),
    s.LargeBinary: lambda _: _variable_binary(64),
    s.LargeUtf8: lambda _: _variable_binary(64),
    s.BinaryView: lambda _: _views(),
    s.Utf8View: lambda _: _views(),
    s.List: lambda _: _list(32),
    s.LargeList: lambda _: _list(64),
    s.Map: lambda _: _list(32),
    s.ListView: lambda _: _list_view(32),
    s.LargeListView: lambda _: _list_view(64),
    s.FixedSizeList: lambda _: Layout(
        LayoutKind.FIXED_SIZE_LIST, (_VALIDITY,), ChildLength.LIST_SIZE
    ),
    s.Struct: lambda _: Layout(LayoutKind.STRUCT, (_VALIDITY,), ChildLength.SAME),
    s.Union: _union,
    s.Dictionary: _dictionary,
    s.RunEndEncoded: lambda _: Layout(LayoutKind.RUN_END_ENCODED, (), ChildLength.RUNS),
    s.Extension: lambda t: replace(layout(t.storage)),
}

DATA_TYPES = tuple(_TABLE)
"""Every class of data types that has a layout."""


def layout(data_type: s.DataType) -> Layout:
    """The layout of a data type; an extension type has one like its storage's."""
    try:
        return data_type._layout  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        row = _layout(data_type)
        object.__setattr__(data_type, "_layout", row)
        return row


@lru_cache(maxsize=4096)
def _layout(data_type: s.DataType) -> Layout:
    return _TABLE[type(data_type)](data_type)
