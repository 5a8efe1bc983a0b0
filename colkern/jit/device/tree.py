"""The nodes that rows append to: how much was measured for each, and its memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from colkern import schema as s
from colkern.errors import LimitExceededError
from colkern.jit.building.nodes import ROW, Node, NodeKind, State, child_rows, node_of, wholes
from colkern.targets import Items

_BYTE = np.dtype(np.uint8)

CHANGED = (
    "called twice for one row, a function appended different values; "
    "it must depend on its arguments alone"
)
"""The error where rows that are written are not those that were measured."""


@dataclass
class Part:
    """A node of the tree, and the memory that is written for it.

    Args:
        type: Its data type.
        node: How values of the type are built.
        row: Its place in the tree, a node standing before its children.
        counter: Which of the tree's counters has its slots; the next one has the bytes or values that
            they use, if it has offsets.
        children: The nodes below.
        length: The slots of all rows.
        null_count: How many of them are null.
        items: Their items or offsets; None if there are none.
        nulls: A byte a slot, 1 for a null; None if none is.
        data: The bytes of byte strings.
    """

    type: s.DataType
    node: Node
    row: int
    counter: int
    children: list[Part] = field(default_factory=list)
    length: int = 0
    null_count: int = 0
    items: Items | None = None
    nulls: Items | None = None
    data: Items | None = None


class Tree:
    """The nodes of a data type.

    Args:
        data_type: The data type.
        name: The function's name, for messages.

    Raises:
        UnsupportedError: If builders do not have the type.
    """

    def __init__(self, data_type: s.DataType, name: str) -> None:
        self.name = name
        self.parts: list[Part] = []
        self.counters = 0
        self._add(data_type, 0)

    def _add(self, data_type: s.DataType, row: int) -> Part:
        part = Part(data_type, node_of(data_type), row, self.counters)
        self.parts.append(part)
        self.counters += 1 + part.node.has_offsets
        for child, rows in zip(part.node.children, child_rows(data_type), strict=True):
            part.children.append(self._add(child.type, row + rows))
        return part

    def require_complete(self, counts: Items) -> None:
        """ValueError for a row whose values are not all part of a slot.

        Args:
            counts: int64[counters, rows]
        """
        pairs = [
            (counts[self._counter(length)], counts[self._counter(number)] * times, what)
            for length, number, times, _, what in wholes(self.parts[0].type)
        ]
        differ = [(appended != wanted).any() for appended, wanted, _ in pairs]
        # A device is waited for once.
        if not reduce(operator.or_, differ, False):
            return
        for appended, wanted, what in pairs:
            wrong = np.flatnonzero(appended != wanted)
            if wrong.size:
                row = int(wrong[0])
                more = int(appended[row] - wanted[row])
                raise ValueError(f"{self.name}: row {row} has {more} values of {what}")

    def _counter(self, place: int) -> int:
        """The counter of a number of a builder's state."""
        row, what = divmod(place, ROW)
        return self.parts[row].counter + (what == State.USED)

    def allocate(
        self,
        totals: Items,
        null_counts: Items | Sequence[int],
        make: Callable[[int, np.dtype[np.generic]], Items],
    ) -> None:
        """Make room for as much as was measured.

        Args:
            totals: int64[counters], on the host.
            null_counts: int64[nodes], on the host.
            make: A zeroed array of that many items of a type.

        Raises:
            LimitExceededError: If offsets do not reach that far.
        """
        for part in self.parts:
            node = part.node
            part.length = int(totals[part.counter])
            part.null_count = int(null_counts[part.row])
            if node.has_offsets:
                used = int(totals[part.counter + 1])
                if used > node.most_used:
                    raise LimitExceededError(
                        f"{self.name}: {used} bytes or values; {part.type} holds {node.most_used} in "
                        f"one array: return the large type"
                    )
                if node.kind is NodeKind.BINARY:
                    part.data = make(used, _BYTE)
            if node.item is not None:
                part.items = make(part.length * node.per_slot + node.has_offsets, node.item)
            if part.null_count:
                part.nulls = make(part.length, _BYTE)
            if node.kind is NodeKind.NULL:
                part.null_count = part.length
