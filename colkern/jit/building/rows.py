"""Rows built in parallel: a function runs once to measure what it appends, and once to write it.

What each row appends to each node of the tree is counted, sums of the counts say where each row
writes, and then rows do so independently of each other: the pattern *two-pass* of the targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.cpu.threads import run_ranges
from colkern.errors import LimitExceededError
from colkern.jit.building.arrays import built_array, padded
from colkern.jit.building.nodes import ROW, Node, State, child_rows, node_of, subtree
from colkern.jit.rows.row_loop import run_noted
from colkern.memory import allocate


def build_rows(
    function: Callable[..., None], count: int, *arguments: Any, returns: s.DataType
) -> Array:
    """The array of what `function(i, *arguments, out)` appends for each `i`, on all threads::

        @numba.njit
        def squares(i, limits, out):
            for k in range(limits[i]):
                out.values.append(k * k)
            out.end_list()

        limits = np.array([3, 0, 1])
        ck.jit.build_rows(squares, 3, limits, returns=ck.list_(ck.int64()))
        # [[0, 1, 4], [], [0]]

    `out` is what a `Builder` is to compiled code. A call may append any number of values, and must
    complete them: each list and struct that it starts. They stand in the array in the order of `i`.
    Nothing is grown or copied: the function is called twice for each `i`, first to measure, then to
    write, and must append the same both times.

    Args:
        function: A function for Numba, compiled or plain.
        count: How often to call it.
        arguments: What Numba takes: NumPy arrays, numbers …
        returns: The data type of the array.

    Raises:
        CompileError: If the function does not compile: the line and the construct.
        ValueError: If a call leaves a list or struct incomplete, or its second run appends other
            values than its first.
        OverflowError: If a number is out of the range of its type.
        LimitExceededError: If the values do not fit 32-bit offsets.
        UnsupportedError: If builders do not have the type.

    What the function raises itself comes through, with a note that says in which row: for which `i`.
    """
    return rows_and_offsets(function, count, arguments, returns)[0]


def rows_and_offsets(
    function: Callable[..., None], count: int, arguments: Sequence[Any], returns: s.DataType
) -> tuple[Array, NDArray[np.int64]]:
    """As `build_rows`, and where the values of each `i` stand: int64[count + 1].

    Raises:
        As `build_rows`.
    """
    tree = _Tree(returns, getattr(function, "__name__", "the function"))
    places = np.array([place for part in tree.parts for place in part.counters], np.int64)
    # What is measured for a row stands one further on: the running sums are where rows start.
    starts = np.zeros((len(places), count + 1), np.int64)
    if count:
        from colkern.jit.building.row_compiler import row_loops

        measure, write = row_loops(function, tuple(arguments), returns)
        measured = sum(tree.run(measure, count, (places, starts, tuple(arguments))))
        tree.require_complete(starts[:, 1:])
        np.cumsum(starts, axis=1, out=starts)
        tree.allocate(starts[:, -1], measured)
        written = tree.run(write, count, (tree.state, places, starts, tuple(arguments)))
        changed, states = zip(*written, strict=True)
        nulls_differ = _null_counts(sum(states)) != _null_counts(measured)
        if any(changed) or nulls_differ.any():
            raise ValueError(
                f"{tree.name}: called twice for one row, it appended different values; "
                f"it must depend on its arguments alone"
            )
    else:
        tree.allocate(starts[:, -1], np.zeros_like(tree.state))
    return tree.array(), starts[0]


@dataclass
class _Part:
    """A node of the tree, and what is written for it."""

    type: s.DataType
    node: Node
    row: int
    first_counter: int
    children: list[_Part] = field(default_factory=list)
    length: int = 0
    null_count: int = 0
    items: NDArray[Any] | None = None
    nulls: NDArray[np.uint8] | None = None
    data: NDArray[np.uint8] | None = None

    @property
    def counters(self) -> list[int]:
        """The numbers of the tree's state that say how much there is of this node."""
        held = [State.LENGTH, State.USED] if self.node.has_offsets else [State.LENGTH]
        return [self.row * ROW + number for number in held]

    def array(self) -> Array:
        """What was written."""
        children = [child.array() for child in self.children]
        return built_array(
            self.type, self.length, self.null_count, self.nulls, self.items, self.data, children
        )


class _Tree:
    """The nodes of a data type; their rows stand in `state`."""

    def __init__(self, data_type: s.DataType, name: str) -> None:
        self.name = name
        self.state = np.zeros(sum(1 for _ in subtree(data_type)) * ROW, np.int64)
        self.parts: list[_Part] = []
        self._add(data_type, 0)

    def _add(self, data_type: s.DataType, row: int) -> _Part:
        first_counter = sum(len(part.counters) for part in self.parts)
        part = _Part(data_type, node_of(data_type), row, first_counter)
        self.parts.append(part)
        for child, rows in zip(part.node.children, child_rows(data_type), strict=True):
            part.children.append(self._add(child.type, row + rows))
        return part

    def run(self, loop: Callable[..., Any], count: int, arguments: tuple[Any, ...]) -> list[Any]:
        """What a loop of `row_loops` returns for ranges of rows; what it raises has a note."""

        def run_range(start: int, stop: int) -> Any:
            return loop(start, stop, *arguments)

        def run_range_noted(start: int, stop: int) -> Any:
            return run_noted(run_range, self.name, start, stop, "row")

        return run_ranges(run_range_noted, count, ())

    def array(self) -> Array:
        """The array of what was written."""
        return self.parts[0].array()

    def require_complete(self, counts: NDArray[np.int64]) -> None:
        """ValueError for a row whose values are not all part of a slot.

        counts: int64[counters, rows]
        """
        for part in self.parts:
            for child, wanted, end in _expected(part, counts):
                found = counts[child.first_counter]
                wrong = np.flatnonzero(found != wanted)
                if wrong.size:
                    row = int(wrong[0])
                    raise ValueError(
                        f"{self.name}: row {row} has {int(found[row] - wanted[row])} values of "
                        f"{child.type} after the last {end}()"
                    )

    def allocate(self, totals: NDArray[np.int64], state: NDArray[np.int64]) -> None:
        """Make room for as much as was measured.

        Args:
            totals: int64[counters]
            state: The state that counts the nulls of all rows.
        """
        for part in self.parts:
            node, here = part.node, part.row * ROW
            part.length = int(totals[part.first_counter])
            part.null_count = int(state[here + State.NULL_COUNT])
            if node.has_offsets:
                used = int(totals[part.first_counter + 1])
                if used > node.most_used:
                    raise LimitExceededError(
                        f"{self.name}: {used} bytes or values; {part.type} holds {node.most_used} in "
                        f"one array: return the large type"
                    )
                if node.kind == "binary":
                    part.data = padded(used, np.dtype(np.uint8))
            if node.item is not None:
                part.items = padded(part.length * node.per_slot + node.has_offsets, node.item)
            if part.null_count:
                part.nulls = allocate(part.length, np.uint8)
            if node.kind == "null":
                part.null_count = part.length
            for number, array in (
                (State.ITEMS, part.items),
                (State.NULLS, part.nulls),
                (State.BYTES, part.data),
            ):
                if array is not None:
                    self.state[here + number] = array.ctypes.data


def _null_counts(state: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many nulls each node has."""
    return state[State.NULL_COUNT :: ROW]


def _expected(
    part: _Part, counts: NDArray[np.int64]
) -> Iterator[tuple[_Part, NDArray[np.int64], str]]:
    """Each node below, how many slots it should have by rows, and what ends those that it has."""
    kind, length = part.node.kind, counts[part.first_counter]
    for child in part.children:
        if kind == "struct":
            yield child, length, "end_row"
        elif kind == "fixed_size_list":
            yield child, length * part.node.per_slot, "end_list"
        elif kind == "list":
            yield child, counts[part.first_counter + 1], "end_list"
        else:
            for entry in child.children:
                yield entry, counts[part.first_counter + 1], "end_map"
