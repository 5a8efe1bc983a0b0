"""`Builder`: an array that compiled code appends to.

Memory is NumPy's, from `colkern.memory`, and belongs to the Python object; compiled code knows it by
address and asks for more through one callback. Its methods are in `colkern.jit.building.methods`.
"""

from __future__ import annotations

import ctypes
import re
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.jit.building.arrays import Part, built_array, cut
from colkern.jit.building.nodes import (
    ROW,
    UNLIMITED,
    Failure,
    NodeKind,
    Request,
    State,
    child_rows,
    node_of,
    subtree,
    way_to,
    wholes,
)
from colkern.memory import ALIGNMENT, HOST, allocate, allocate_for_overwrite
from colkern.targets import Items, target_of

if TYPE_CHECKING:
    from colkern.jit.building.builder_type import BuilderType

_LEAST = 4096
"""The least room that is made, in slots or bytes."""


class Builder:
    """An array under construction, for functions compiled by `numba.njit`::

        @numba.njit
        def digits(numbers, out):
            for number in numbers:
                while number > 0:
                    out.values.append(number % 10)
                    number //= 10
                out.end_list()

        out = ck.Builder(ck.list_(ck.int8()))
        digits(np.array([407, 0, 12]), out)
        out.finish()        # [[7, 0, 4], [], [2, 1]]

    ===========================================  ====================================================
    type                                         what a function does
    ===========================================  ====================================================
    any                                          `append_null()`, `append_nulls(n)`, `reserve(n)`,
                                                 `len(out)`
    bool, numbers, date, time, timestamp,        `append(value)`, of integers in the unit of the type
    duration, month interval                     or, for decimals, times ten to the power of the scale;
                                                 `extend(array)` of NumPy
    decimal128, decimal256                       `append(value)` of an integer of 64 bits, or of a
                                                 tuple of two or four, the lowest word first
    utf8, binary, large, fixed-size binary       `append(value)` of a byte string, `bytes` or `str`
    list, large and fixed-size list              appends to `out.values`, then `out.end_list()`;
                                                 or `append(list)`, also of an array or a column
    map                                          appends to `out.keys` and `out.items`, then
                                                 `out.end_map()`; or `append(pairs)`, also of a `dict`
    struct                                       an append to each field, as `out.name` or
                                                 `out.field("name")`, then `out.end_row()`; or
                                                 `append(tuple)`, also of a row
    union                                        `append(tuple)` with a place for each child, of which
                                                 one is not None, or of a slot of a union
    ===========================================  ====================================================

    `append(None)`, or of a value that may be None, appends a null. Integers out of the range of the
    type raise `OverflowError`, a null where a field is declared not nullable `ValueError`, and more than
    32-bit offsets reach `LimitExceededError`. A value of another kind does not compile.

    The same methods work in plain Python, for functions that are being debugged: each call runs the
    compiled one. Fields with names that a builder has itself (`append`, and here `type` too) are found
    by `field`. A builder is for one thread at a time; `build_rows` uses all of them.

    Room doubles when it runs out; `reserve` makes it at once.

    Args:
        type: The data type of the array.

    Raises:
        UnsupportedError: If it is, or holds, a type that builders do not have: views, dictionaries,
            runs, and intervals other than of months.
    """

    __slots__ = (
        "__weakref__",
        "_bytes",
        "_children",
        "_is_root",
        "_items",
        "_node",
        "_nulls",
        "_row",
        "_state",
        "_typeof",
        "nullable",
        "type",
    )

    def __init__(self, type: s.TypeLike) -> None:
        type = s.as_type(type)
        rows = sum(1 for _ in subtree(type))
        self._join(s.Field("", type), allocate(rows * ROW, np.int64), 0)
        self._is_root = True

    def _join(self, field: s.Field, state: NDArray[np.int64], first: int) -> None:
        """Become the node of a field, whose row starts at `first`."""
        self.type = field.type
        self.nullable = field.nullable
        self._is_root = False
        self._typeof: BuilderType | None = None
        self._node = node_of(field.type)
        self._state = state
        self._row = state[first : first + ROW]
        self._children: list[Builder] = []
        for child, rows in zip(self._node.children, child_rows(field.type), strict=True):
            node = Builder.__new__(Builder)
            node._join(child, state, first + rows * ROW)
            self._children.append(node)
        self._reset()
        _NODES[self._address] = self

    @property
    def _address(self) -> int:
        return int(self._row.ctypes.data)

    @property
    def _numba_type_(self) -> BuilderType:
        if self._typeof is None:
            # Both teach Numba.
            import colkern.jit.building.methods  # noqa: F401
            from colkern.jit.building.builder_type import BuilderType

            self._typeof = BuilderType(self.type, self.nullable)
        return self._typeof

    def _reset(self) -> None:
        self._items: Items | None = None
        self._nulls: Items | None = None
        self._bytes: Items | None = None
        self._row[:] = 0
        self._row[State.GROW] = _GROW_ADDRESS
        self._row[State.OBJECT] = id(self)
        self._point()

    # Room

    def _make_room(self, request: Request, count: int) -> Failure:
        """Room for `count` more, or for marks of nulls."""
        length, used = int(self._row[State.LENGTH]), int(self._row[State.USED])
        if request is Request.BYTES:
            room = int(self._row[State.ROOM])
            if used + count > self._node.most_used:
                return Failure.OFFSETS
            wanted = min(max(used + count, 2 * room, _LEAST), self._node.most_used)
            self._bytes = _grown(self._bytes, used, wanted, np.dtype(np.uint8))
            return Failure.NONE
        if request is Request.SLOTS:
            capacity = max(length + count, 2 * int(self._row[State.CAPACITY]), _LEAST)
            self._grow_items(length, capacity)
        else:
            capacity = max(length + count, _LEAST)
        if self._items is not None:
            capacity = self._item_slots()
        if request is Request.NULLS or self._nulls is not None:
            marks = allocate(capacity, np.uint8)
            if self._nulls is not None:
                marks[:length] = self._nulls[:length]
            self._nulls = marks
        return Failure.NONE

    def _expect(self, count: int) -> None:
        """Make room for rows that are likely to come, if there is memory for a guess."""
        with suppress(MemoryError):
            self._make_room(Request.SLOTS, count)
            if self._node.kind is NodeKind.BINARY:
                self._make_room(Request.BYTES, min(16 * count, self._node.most_used))
        self._point()
        for child in self._children:
            child._expect(count)

    def _grow_items(self, length: int, capacity: int) -> None:
        node = self._node
        if not self._has_items:
            return
        assert node.item is not None
        ends = int(node.has_offsets)
        kept = 0 if self._items is None else length * node.per_slot + ends
        items = _grown(self._items, kept, capacity * node.per_slot + ends, node.item)
        if node.has_offsets:
            items[0] = 0
        self._items = items

    @property
    def _has_items(self) -> bool:
        return self._node.item is not None and self._node.per_slot > 0

    def _item_slots(self) -> int:
        assert self._items is not None
        return (len(self._items) - self._node.has_offsets) // self._node.per_slot

    def _point(self) -> None:
        """Pass address and size of the memory to compiled code."""
        items, nulls, data, row = self._items, self._nulls, self._bytes, self._row
        slots = [] if nulls is None else [len(nulls)]
        if self._has_items:
            slots.append(0 if items is None else self._item_slots())
        row[State.CAPACITY] = min(slots, default=UNLIMITED)
        row[State.ROOM] = 0 if data is None else min(len(data), self._node.most_used)
        for place, array in ((State.ITEMS, items), (State.NULLS, nulls), (State.BYTES, data)):
            row[place] = 0 if array is None else array.ctypes.data

    # The array

    def finish(self) -> Array:
        """The array of the appended values; the builder is empty again.

        Nothing is copied but what has a byte a slot for a bit (booleans, nulls), half-precision
        floats, and buffers that are less than half full.

        Raises:
            ValueError: If values were appended after the last `end_list()`, `end_map()` or
                `end_row()`, as by a function that failed half way. They are not dropped; `clear()`
                empties the builder.
        """
        self._require_root("finish")
        self._require_complete()
        array = built_array(self._taken(), target_of(HOST))
        self._clear()
        return array

    def clear(self) -> None:
        """Drop the appended values."""
        self._require_root("clear")
        self._clear()

    def _clear(self) -> None:
        self._reset()
        for child in self._children:
            child._clear()

    def _require_root(self, method: str) -> None:
        if not self._is_root:
            raise ValueError(f"{method}: this is a part of a builder; call it on the whole")

    def _require_complete(self) -> None:
        for length, number, times, place, what in wholes(self.type):
            more = int(self._state[length] - self._state[number] * times)
            if more:
                raise ValueError(f"{place}: {more} values of {what}")

    def _taken(self) -> Part:
        """The appended values, in the builder's memory."""
        node, row, length = self._node, self._row, len(self)
        items, data = self._items, self._bytes
        if items is None and node.has_offsets:
            assert node.item is not None
            items = allocate(1, node.item)
        return Part(
            self.type,
            [child._taken() for child in self._children],
            length,
            length if node.kind is NodeKind.NULL else int(row[State.NULL_COUNT]),
            None if items is None else cut(items, length * node.per_slot + node.has_offsets),
            self._nulls,
            None if data is None else cut(data, int(row[State.USED])),
        )

    # What compiled code does, in plain Python

    def append(self, value: object) -> None:
        """Append a value, or a null for None."""
        self._call("append", value)

    def append_null(self) -> None:
        """Append a null."""
        self._call("append_null")

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        self._call("append_nulls", count)

    def extend(self, values: Items) -> None:
        """Append the numbers of a NumPy array of one dimension."""
        self._call("extend", values)

    def reserve(self, count: int) -> None:
        """Make room for `count` slots more."""
        self._call("reserve", count)

    def end_list(self) -> None:
        """Append a list: the values appended to `values` since the last list."""
        self._call("end_list")

    def end_map(self) -> None:
        """Append a map: the entries appended to `keys` and `items` since the last map."""
        self._call("end_map")

    def end_row(self) -> None:
        """Append a struct: the values appended to each field."""
        self._call("end_row")

    def field(self, name: str) -> Builder:
        """The builder of a struct's field."""
        return self._below(name, self._node.kind is NodeKind.STRUCT)

    def __getattr__(self, name: str) -> Builder:
        return self._below(name, not name.startswith("_"))

    def _below(self, name: str, is_node: bool) -> Builder:
        """The node below that has a name in compiled code, if it may be one."""
        node = self
        for position in way_to(self.type, name) if is_node else ():
            node = node._children[position]
        if node is self:
            raise AttributeError(f"a builder of {self.type} has no field {name!r}")
        return node

    def _call(self, method: str, *arguments: object) -> None:
        from numba.core.errors import NumbaError

        from colkern.jit.building.methods import compiled_method

        try:
            compiled_method(method)(self, *arguments)
        except NumbaError as error:
            types = ", ".join(type(each).__name__ for each in arguments)
            words = re.search(f"TypingError: ({method}: .+)", str(error))
            raise TypeError(
                words[1] if words else f"{method}: {types} to a builder of {self.type}"
            ) from None

    def __len__(self) -> int:
        return int(self._row[State.LENGTH])

    def __repr__(self) -> str:
        return f"<colkern.Builder of {self.type}: {len(self)} values>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a builder is neither copied nor pickled: its array is, once finished")


def _grown(items: Items | None, kept: int, count: int, dtype: np.dtype[np.generic]) -> Items:
    """At least `count` items, in whole lines of 64 bytes; the first `kept` are those of `items`."""
    size = -(-count * dtype.itemsize // ALIGNMENT) * ALIGNMENT
    grown: Items = allocate_for_overwrite(size, np.uint8)[:size].view(dtype)
    if items is not None:
        grown[:kept] = items[:kept]
    return grown


_NODES: weakref.WeakValueDictionary[int, Builder] = weakref.WeakValueDictionary()


def _grow(address: int, request: int, count: int) -> None:
    """Make room for compiled code, which passes the address of a node's row."""
    node = _NODES[address]
    try:
        failure = node._make_room(Request(request), count)
    except (MemoryError, ValueError):  # NumPy's for sizes over 63 bits.
        failure = Failure.MEMORY
    except KeyboardInterrupt:
        failure = Failure.INTERRUPT
    node._point()
    node._row[State.FAILURE] = failure


_GROW = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(_grow)
_GROW_ADDRESS = int(ctypes.cast(_GROW, ctypes.c_void_p).value or 0)
