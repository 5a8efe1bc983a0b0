"""`run_end_encode`: equal neighbours as one run.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import Dispatch, by_layout
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.kernels import changes, runs
from colkern.layouts import Extent, LayoutKind, Role, layout
from colkern.memory import ALIGNMENT
from colkern.operations.arguments import operation
from colkern.operations.operands import buffer_addresses, validity_of
from colkern.operations.selection import Picks, take_picks, words_of
from colkern.operations.validation import require_valid
from colkern.targets import DType, Items, Target, on_its_device, target_of

_INT32 = s.int32()

_FEW = 8
"""If fewer than one in so many neighbours are equal, merging positions is not worth it."""


@operation
def run_end_encode(array: Array, *, run_end_type: s.DataType = _INT32) -> Array:
    """The array, run-end encoded: as few runs as there can be. The value of each run is copied.

    Nulls are equal to each other. Floating-point numbers are equal if their bits are: a NaN to
    itself, 0.0 not to -0.0. A dictionary's indices are compared, not its values.

    Args:
        array: An array of any type but lists, unions and run-end encoded ones; structs may hold
            whatever is not one of these.
        run_end_type: int16, int32 or int64.

    Raises:
        TypeError: If `run_end_type` is another type.
        LimitExceededError: If the array is longer than a run end can say.
        UnsupportedError: If the array is of a type that cannot be compared here.
        InvalidArrowError: If `array` points outside its own memory.
    """
    if run_end_type not in (s.int16(), s.int32(), s.int64()):
        raise TypeError(f"run_end_type: expected int16, int32 or int64, got {run_end_type}")
    require_valid(array)
    kind = layout(run_end_type).spec(Role.DATA).dtype
    require_room(array.length, kind)
    target = target_of(array.device)
    bounds = _bounds(target, target.frozen(_changes(array)), array.length, kind)
    values = take_picks(array, Picks(bounds[:-1].view(f"u{kind.itemsize}")))
    buffers = [None, target.buffer(bounds[1:])]
    run_ends = Array(run_end_type, values.length, buffers, null_count=0)
    type_ = s.run_end_encoded(run_end_type, array.type)
    return Array.of_valid(type_, array.length, (), children=(run_ends, values))


def encode_words(target: Target, words: Items, kind: DType) -> tuple[Items, Items | None]:
    """The run ends of equal neighbours among `words` (uint32/uint64[n]), and where each run begins.

    Both are of the dtype `kind`. Or a run for each word, and None, if hardly any neighbours are equal.
    """
    count = len(words)
    marks = target.output((count + 63) // 64, np.uint64)
    target.map(changes.mark_changes, len(marks), words, 1, count, marks)
    marks = target.frozen(marks)
    counts, total = _counted(target, marks)
    if total > count - count // _FEW:
        numbers = target.output(count, kind)
        target.map(runs.number_runs, count, numbers)
        return numbers, None
    bounds = _listed(target, marks, counts, total, count, kind)
    return bounds[1:], bounds[:-1]


def require_room(length: int, kind: DType) -> None:
    """Raises `LimitExceededError` if run ends of that dtype are too small for `length` slots."""
    if length.bit_length() >= 8 * kind.itemsize:
        raise LimitExceededError(f"{length} slots do not fit run ends of {kind}")


def _bounds(target: Target, marks: Items, length: int, kind: DType) -> Items:
    """The begin of each run, and the end of the last one; read-only."""
    return _listed(target, marks, *_counted(target, marks), length, kind)


def _counted(target: Target, marks: Items) -> tuple[Items, int]:
    """The number of marks before each block (int64), and the number of all marks."""
    blocks = -(-len(marks) // changes.BLOCK_WORDS)
    counts = target.output(blocks + 1, np.int64)
    target.map(changes.count_changes, blocks, marks, counts[1:])
    target.accumulate(counts)
    return target.frozen(counts), target.item(counts, blocks)


def _listed(
    target: Target, marks: Items, counts: Items, total: int, length: int, kind: DType
) -> Items:
    # The ends are a buffer of their own without being copied: they begin one item after the starts, and
    # where a buffer may.
    before = ALIGNMENT // np.dtype(kind).itemsize - 1
    bounds = target.output(before + total + 1, kind)[before:]
    target.map(changes.list_changes, len(counts) - 1, marks, counts, bounds)
    bounds[total:] = length
    return target.frozen(bounds)


def _changes(array: Array) -> Items:
    """The slots that differ from the one before, as bits in words; the first one does."""
    mark = _MARK.get(array.layout.kind)
    if mark is None:
        raise UnsupportedError(
            f"array: {array.type} cannot be run-end encoded; encode its children, "
            f"where these are no lists and no unions"
        )
    target = target_of(array.device)
    out = target.output((array.length + 63) // 64, np.uint64)
    mark(array, target, out)
    if array.layout.kind is LayoutKind.NULL or array.null_count == 0:
        return out
    merged = target.output(len(out), np.uint64)
    validity = validity_of(array, target)
    kernel = changes.merge_validity_changes
    target.map(kernel, len(out), *validity, array.length, target.frozen(out), merged)
    return merged


_MARK: Dispatch[LayoutKind, Callable[[Array, Target, Items], None]] = by_layout(
    "run_end_encode",
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DENSE_UNION,
    LayoutKind.RUN_END_ENCODED,
)
"""Writes the bits of changes, as words."""


@_MARK.of(LayoutKind.NULL)
def _mark_null(array: Array, target: Target, out: Items) -> None:
    out[:] = 0
    out[:1] = 1


@_MARK.of(LayoutKind.FIXED_SIZE, LayoutKind.DICTIONARY)
def _mark_fixed(array: Array, target: Target, out: Items) -> None:
    if array.layout.buffers[1].extent is Extent.BITS:
        data = array.buffer(Role.DATA)
        bits = target.no_bits if data is None else data.array
        target.map(changes.mark_bit_changes, len(out), bits, array.offset, array.length, out)
        return
    words, width = words_of(array.items(Role.DATA))
    target.map(changes.mark_changes, len(out), target.frozen(words), width, array.length, out)


@_MARK.of(LayoutKind.BINARY)
def _mark_binary(array: Array, target: Target, out: Items) -> None:
    items = array.items(Role.OFFSETS)
    data = array.buffer(Role.BYTES)
    bytes_ = target.no_bits if data is None else data.array
    target.map(changes.mark_binary_changes, len(out), items, bytes_, array.length, out)


@_MARK.of(LayoutKind.BINARY_VIEW)
def _mark_views(array: Array, target: Target, out: Items) -> None:
    views = array.items(Role.VIEWS).view(np.uint8)
    addresses = target.table(buffer_addresses(array), np.uint64)
    validity = validity_of(array, target)
    kernel = changes.mark_view_changes
    target.map(kernel, len(out), views, addresses, *validity, array.length, out)


@_MARK.of(LayoutKind.STRUCT)
@on_its_device
def _mark_struct(array: Array, target: Target, out: Items) -> None:
    _mark_null(array, target, out)
    for child in array.children:
        out |= _changes(child.slice(array.offset, array.length))
