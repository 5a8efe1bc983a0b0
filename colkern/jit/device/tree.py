"""The nodes that rows append to: how much was measured for each, and its memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from colkern import schema as s
from colkern.errors import LimitExceededError
from colkern.jit.building.arrays import Part
from colkern.jit.building.nodes import ROW, NodeKind, State, counters, node_of, wholes
from colkern.targets import Items

_BYTE = np.dtype(np.uint8)


class Tree:
    """The nodes of a data type.

    Args:
        data_type: The data type.
        name: The function's name, for messages.

    Attributes:
        parts: The nodes, each before its children.
        counters: How many counters there are.

    Raises:
        UnsupportedError: If builders do not have the type.
    """

    def __init__(self, data_type: s.DataType, name: str) -> None:
        self.name = name
        self.parts: list[Part] = []
        *self._counter_of, self.counters = counters(data_type)
        self._add(data_type)

    def _add(self, data_type: s.DataType) -> Part:
        part = Part(data_type)
        self.parts.append(part)
        part.children = [self._add(child.type) for child in node_of(data_type).children]
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
        return self._counter_of[row] + (what == State.USED)

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
        for part, counter, null_count in zip(
            self.parts, self._counter_of, null_counts, strict=True
        ):
            node = node_of(part.type)
            part.length = int(totals[counter])
            part.null_count = int(null_count)
            if node.has_offsets:
                used = int(totals[counter + 1])
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
