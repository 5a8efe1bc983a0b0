"""Many short columns, computed as one.

A call takes longer than copying a few hundred values. Columns of one fixed-size type are concatenated,
and the results are parts of what is computed of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from colkern.arrays import Array
from colkern.layouts import LayoutKind
from colkern.schema import DataType

_BLOCK = 1 << 20
"""The bits of the columns that are computed as one: results share that memory until the last is gone."""

_LEAST = 4
"""Fewer columns are computed one by one."""


def by_blocks(
    columns: Sequence[Array],
    one: Callable[[Array], Array],
    several: Callable[[list[Array]], Array],
) -> list[Array]:
    """The results of `one` for columns of one length, or parts of those of `several`.

    Args:
        columns: The columns.
        one: A function of a column.
        several: The same for columns of one type: the results, one after the other.
    """
    places: dict[DataType, list[int]] = {}
    # Types are compared only once for each object.
    known: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        own = known.get(id(column.type))
        if own is None:
            own = known[id(column.type)] = places.setdefault(column.type, [])
        own.append(place)
    results: list[Array] = list(columns)
    for own in places.values():
        first = columns[own[0]]
        size = _block_size(first)
        for begin in range(0, len(own), size):
            block = own[begin : begin + size]
            if len(block) < _LEAST:
                parts = [one(columns[place]) for place in block]
            else:
                whole = several([columns[place] for place in block])
                count = whole.length // len(block)
                parts = [whole.slice(k * count, count) for k in range(len(block))]
            for place, part in zip(block, parts, strict=True):
                results[place] = part
    return results


def _block_size(column: Array) -> int:
    """The number of columns like this one in a block; 1 if they are not of fixed size."""
    rule = column.layout
    if rule.kind is not LayoutKind.FIXED_SIZE:
        return 1
    return max(1, _BLOCK // max(1, column.length * rule.buffers[1].slot_bits))
