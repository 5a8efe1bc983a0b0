"""The nodes of builders: what is kept for each data type, one function a type class.

A builder is a tree of nodes, one for a data type and each of its children. While arrays are built,
a boolean or the mark of a null is a byte, so that threads may write neighbouring slots, and
half-precision floats have 64 bits; `finish` makes the layout's buffers of them.

The numbers that a node goes by stand in a row of a block of int64 that the whole tree shares, where
compiled code finds them: `State` says which. This module imports no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.dispatch import Dispatch, by_type
from colkern.errors import UnsupportedError
from colkern.layouts import LayoutKind, Role, layout


class NodeKind(Enum):
    """The kinds of nodes, by their operations."""

    NULL = "null"
    NUMBER = "number"
    WORDS = "words"
    """Integers of several 64-bit words."""
    FIXED_SIZE_BINARY = "fixed_size_binary"
    BINARY = "binary"
    LIST = "list"
    FIXED_SIZE_LIST = "fixed_size_list"
    MAP = "map"
    STRUCT = "struct"
    UNION = "union"


class State(IntEnum):
    """The numbers of a node's row, by position."""

    LENGTH = 0
    """The slots that are appended."""
    CAPACITY = 1
    """The slots that there is room for; `UNLIMITED` where a slot takes none."""
    ITEMS = 2
    """The address of the items or offsets."""
    NULLS = 3
    """The address of a byte a slot, 1 for a null; 0 before the first null."""
    NULL_COUNT = 4
    BYTES = 5
    """The address of the bytes of byte strings."""
    USED = 6
    """The bytes, or the slots of the child, that the slots of this node have."""
    ROOM = 7
    """The bytes that there is room for."""
    GROW = 8
    """The address of the function that makes room."""
    FAILURE = 9
    """A `Failure` of that function."""
    OBJECT = 10
    """The address of the Python object."""


ROW = 16
"""The numbers of a node's row: two lines of the cache."""


UNLIMITED = 2**62

HINTS = {
    NodeKind.LIST: "; append a list, or append to its `values`, then call end_list()",
    NodeKind.FIXED_SIZE_LIST: "; append a list, or append to its `values`, then call end_list()",
    NodeKind.MAP: "; append a list of pairs, or append to its `keys` and `items`, then call end_map()",
    NodeKind.STRUCT: "; append a tuple, or append to each of its fields, then call end_row()",
    NodeKind.UNION: "; append a tuple with a place for each child",
    NodeKind.NULL: ", which takes None alone",
}
"""The advice where a builder does not take a value."""


class Request(IntEnum):
    """Requests of compiled code for room in a node."""

    SLOTS = 0
    BYTES = 1
    NULLS = 2


class Failure(IntEnum):
    """The reasons why there is no room."""

    NONE = 0
    MEMORY = 1
    OFFSETS = 2
    """The offsets of the type do not reach that far."""
    INTERRUPT = 3


@dataclass(frozen=True, slots=True)
class Node:
    """How values of one data type are built.

    Args:
        kind: The kind, which tells its operations.
        item: The type of an item while a slot is built: of a value, a word of one, or an offset.
        per_slot: How many items a slot has; of a fixed-size list, how many slots of the child.
        bounds: The least and the greatest integer of the type.
        multiple_of: Integers must be multiples of it.
        children: The names and fields of the nodes below, as compiled code finds them.
    """

    kind: NodeKind
    item: np.dtype[Any] | None = None
    per_slot: int = 1
    bounds: tuple[int, int] | None = None
    multiple_of: int = 1
    children: tuple[s.Field, ...] = ()

    @property
    def has_offsets(self) -> bool:
        """Whether the items are offsets, of which there is one more than slots."""
        return self.kind in (NodeKind.BINARY, NodeKind.LIST, NodeKind.MAP)

    @property
    def most_used(self) -> int:
        """The greatest offset."""
        assert self.item is not None
        return int(np.iinfo(self.item).max)


NODES: Dispatch[type[s.DataType], Callable[[Any], Node]] = by_type(
    "builders",
    s.Extension,
    s.BinaryView,
    s.Utf8View,
    s.ListView,
    s.LargeListView,
    s.Dictionary,
    s.RunEndEncoded,
    s.Extension,
)
"""By the class of a data type, which each function takes; an extension type is built as its storage."""


@NODES.of(s.FloatingPoint)
def _float(data_type: s.FloatingPoint) -> Node:
    if data_type.bit_width > 16:
        return Node(NodeKind.NUMBER, layout(data_type).spec(Role.DATA).dtype)
    # From 64 bits at once: by way of 32 they would be rounded twice.
    return Node(NodeKind.NUMBER, np.dtype(np.float64))


@NODES.of(s.Int, s.Timestamp, s.Duration)
def _integer(data_type: s.DataType) -> Node:
    item = layout(data_type).spec(Role.DATA).dtype
    limits = np.iinfo(item)
    return Node(NodeKind.NUMBER, item, bounds=(int(limits.min), int(limits.max)))


@NODES.of(s.Decimal)
def _decimal(data_type: s.Decimal) -> Node:
    most = 10**data_type.precision - 1
    words = data_type.bit_width // 64
    if words > 1:
        return Node(NodeKind.WORDS, np.dtype("<i8"), words, (-most, most))
    return Node(NodeKind.NUMBER, np.dtype(f"<i{data_type.bit_width // 8}"), bounds=(-most, most))


@NODES.of(s.Date)
def _date(data_type: s.Date) -> Node:
    day = 1 if data_type.unit == "day" else s.SECONDS_A_DAY * s.PER_SECOND["ms"]
    return replace(_integer(data_type), multiple_of=day)


@NODES.of(s.Time)
def _time(data_type: s.Time) -> Node:
    return replace(
        _integer(data_type), bounds=(0, s.SECONDS_A_DAY * s.PER_SECOND[data_type.unit] - 1)
    )


@NODES.of(s.Interval)
def _interval(data_type: s.Interval) -> Node:
    if data_type.unit != "year_month":
        raise UnsupportedError(f"{data_type} as the type of a builder")
    return _integer(data_type)


@NODES.of(s.Binary, s.Utf8, s.LargeBinary, s.LargeUtf8, s.List, s.LargeList, s.Map)
def _with_offsets(data_type: s.DataType) -> Node:
    is_list = isinstance(data_type, s.List | s.LargeList)
    is_map = isinstance(data_type, s.Map)
    kind = NodeKind.MAP if is_map else NodeKind.LIST if is_list else NodeKind.BINARY
    item = layout(data_type).spec(Role.OFFSETS).dtype
    return Node(kind, item, children=data_type.fields)


_BYTE, _TYPE_ID = np.dtype(np.uint8), np.dtype(np.int8)

NODES |= {
    s.Null: lambda _: Node(NodeKind.NULL),
    s.Bool: lambda _: Node(NodeKind.NUMBER, _BYTE),
    s.FixedSizeBinary: lambda of: Node(NodeKind.FIXED_SIZE_BINARY, _BYTE, of.byte_width),
    s.FixedSizeList: lambda of: Node(
        NodeKind.FIXED_SIZE_LIST, None, of.list_size, children=of.fields
    ),
    s.Struct: lambda of: Node(NodeKind.STRUCT, children=of.fields),
    s.Union: lambda of: Node(NodeKind.UNION, _TYPE_ID, children=of.fields),
}


@cache
def node_of(data_type: s.DataType) -> Node:
    """How values of a type are built; those of an extension type as its storage.

    Raises:
        UnsupportedError: If they cannot be.
    """
    storage = data_type.storage
    if type(storage) not in NODES:
        raise UnsupportedError(f"{data_type} as the type of a builder")
    return NODES[type(storage)](storage)


def subtree(data_type: s.DataType) -> Iterator[s.DataType]:
    """The types of the nodes of a tree, each before its children: the order of their rows.

    Raises:
        UnsupportedError: If values of one of them cannot be built.
    """
    yield data_type
    for field in node_of(data_type).children:
        yield from subtree(field.type)


def way_to(data_type: s.DataType, name: str) -> list[int]:
    """The way down to the node that compiled code calls `name`, by positions; empty if there is none."""
    node = node_of(data_type)
    if name == "values" and node.kind in (NodeKind.LIST, NodeKind.FIXED_SIZE_LIST):
        return [0]
    if name in ("keys", "items") and node.kind is NodeKind.MAP:
        return [0, int(name == "items")]
    if node.kind is NodeKind.STRUCT:
        return [k for k, field in enumerate(node.children) if field.name == name][:1]
    return []


@cache
def child_rows(data_type: s.DataType) -> list[int]:
    """The distance, in rows, from a node's own row to that of each child."""
    rows, at = [], 1
    for field in node_of(data_type).children:
        rows.append(at)
        at += sum(1 for _ in subtree(field.type))
    return rows


@cache
def counters(data_type: s.DataType) -> list[int]:
    """The positions of the counters of a tree's nodes, in the order of their rows; and their number.

    Counted are the slots of each node, and behind these, if it has offsets, the bytes or values that they
    use.
    """
    counts = (1 + node_of(part).has_offsets for part in subtree(data_type))
    return list(accumulate(counts, initial=0))


def wholes(data_type: s.DataType) -> Iterator[tuple[int, int, int, str, str]]:
    """The rules for the state of a tree whose values all belong to slots.

    Yields:
        The place of a node's length; the place of the number that it is, and how many times that; the
        node above in words; the node and what ends slots above it in words.
    """
    yield from _wholes(data_type, 0, str(data_type), "end_row")


def _wholes(
    data_type: s.DataType, row: int, place: str, end: str
) -> Iterator[tuple[int, int, int, str, str]]:
    node, number, times = node_of(data_type), row * ROW + State.LENGTH, 1
    below = "end_map" if node.kind is NodeKind.MAP else "end_row"
    if node.kind is NodeKind.FIXED_SIZE_LIST:
        times, end = node.per_slot, "end_list"
    elif node.kind in (NodeKind.LIST, NodeKind.MAP):
        number, end = row * ROW + State.USED, f"end_{node.kind.value}"
    elif node.kind is NodeKind.UNION:
        end = "append"
    for field, rows in zip(node.children, child_rows(data_type), strict=True):
        if layout(data_type).kind is not LayoutKind.DENSE_UNION:
            length = (row + rows) * ROW + State.LENGTH
            yield length, number, times, place, f"{field.name!r} after the last {end}()"
        yield from _wholes(field.type, row + rows, f"{place}: {field.name!r}", below)
