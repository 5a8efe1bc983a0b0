"""Run-end encoded arrays: which run holds a position, and the values without the encoding.

Columnar format 1.5: "Run-End Encoded Layout".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.kernels import runs, selection
from colkern.layouts import Extent, Role
from colkern.memory import Buffer
from colkern.operations.selection import take_positions
from colkern.operations.targets import NOWHERE, target_of, validity_of
from colkern.operations.validation import require_valid
from colkern.operations.validity import null_count

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def find_runs(array: Array, positions: Array) -> Array:
    """The run (int64) that holds each logical position, found by binary search.

    Args:
        array: A run-end encoded array.
        positions: int32 or int64, without nulls, on the same device; 0 is the array's first slot.

    Raises:
        TypeError: If either is of another type.
        IndexError: If a position is negative or not less than `len(array)`.
        InvalidArrowError: If the run ends are not valid.
    """
    ends = _run_ends(array)
    if positions.type not in (s.int32(), s.int64()):
        raise TypeError(f"positions: expected int32 or int64, got {positions.type}")
    if positions.null_count:
        raise ValueError("positions: must not be null")
    target = target_of(array.device)
    items = positions.items(Role.DATA)
    check = selection.first_index_out_of_bounds
    validity = validity_of(positions, target)
    slot = target.reduce(check, positions.length, items, *validity, array.length)
    if slot != NOWHERE:
        raise IndexError(f"positions: slot {slot} has {target.item(items, slot)} of {array.length}")
    out = target.output(positions.length, np.int64)
    target.map(runs.find_runs, positions.length, ends, items, array.offset, out)
    return Array(s.int64(), positions.length, [None, target.buffer(out)], null_count=0)


def run_end_decode(array: Array) -> Array:
    """The values of a run-end encoded array, one a slot, copied.

    Raises:
        TypeError: If the array is not run-end encoded.
        InvalidArrowError: If the run ends are not valid.
    """
    ends = _run_ends(array)
    values = array.children[1]
    if _is_plain(values):
        return _decode_plain(array, ends, values)
    return take_positions(values, _run_of_each_slot(array, ends))


def encode_taken_runs(array: Array, positions: Any) -> Array:
    """A run of length one for the value at each position (int64[n], read-only, in bounds)."""
    target = target_of(array.device)
    ends = _run_ends(array)
    kind = array.children[0].items(Role.DATA).dtype
    if len(positions) > np.iinfo(kind).max:
        raise LimitExceededError(f"{len(positions)} runs do not fit run ends of {kind}")
    physical = target.output(len(positions), np.int64)
    target.map(runs.find_runs, len(positions), ends, positions, array.offset, physical)
    numbers = target.output(len(positions), kind)
    target.map(runs.number_runs, len(positions), numbers)
    run_ends = Array(
        array.children[0].type, len(positions), [None, target.buffer(numbers)], null_count=0
    )
    values = take_positions(array.children[1], target.frozen(physical))
    return Array(array.type, len(positions), [], [run_ends, values])


def _run_ends(array: Array) -> Any:
    if not isinstance(array.type.storage, s.RunEndEncoded):
        raise TypeError(f"array: expected a run-end encoded array, got {array.type}")
    require_valid(array)
    return array.children[0].items(Role.DATA)


def _is_plain(values: Array) -> bool:
    """Whether a value is one machine word."""
    if values.layout.name != "fixed-size primitive":
        return False
    data = values.layout.buffers[1]
    return data.extent is Extent.SLOTS and data.dtype.itemsize in _WORDS


def _decode_plain(array: Array, ends: Any, values: Array) -> Array:
    target = target_of(array.device)
    items = values.items(Role.DATA)
    word = np.dtype(_WORDS[items.dtype.itemsize])
    out = target.output(array.length, word)
    kernel = runs.decode_runs
    target.map(kernel, array.length, ends, items.view(word), array.offset, out)
    validity, nulls = _decode_validity(array, ends, values)
    made = Array(
        values.type,
        array.length,
        [validity, target.buffer(out)],
        dictionary=values.dictionary,
        null_count=nulls,
    )
    made._checked = True
    return made


def _decode_validity(array: Array, ends: Any, values: Array) -> tuple[Buffer | None, int]:
    if values.null_count == 0:
        return None, 0
    bitmap = values.buffer(Role.VALIDITY)
    assert bitmap is not None
    target = target_of(array.device)
    size = (array.length + 7) // 8
    out = target.output(size, np.uint8)
    kernel = runs.decode_run_bits
    bits = (bitmap.array, values.offset)
    target.map(kernel, size, ends, *bits, array.offset, array.length, out)
    made = target.buffer(out)
    return made, null_count(Array(s.bool_(), array.length, [made, made]))


def _run_of_each_slot(array: Array, ends: Any) -> Any:
    target = target_of(array.device)
    out = target.output(array.length, np.int64)
    target.map(runs.run_of_each, array.length, ends, array.offset, out)
    return target.frozen(out)
