"""`repeat` and `reverse`: values repeated, or in reverse order.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from typing import overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import LimitExceededError
from colkern.integers import integer
from colkern.layouts import Role
from colkern.memory import HOST, Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.devices import device_of, one_device
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.engine import assemble, require_length, resized
from colkern.operations.selection.list_elements import repeat_for_elements
from colkern.operations.selection.taking import LatePicks
from colkern.targets import Items, Target, on_its_device, target_of


@overload
def repeat(data: Array, repeats: int | Array) -> Array: ...
@overload
def repeat(data: RecordBatch, repeats: int | Array) -> RecordBatch: ...
@operation(kind=Kind.SELECTION)
def repeat(data: Array | RecordBatch, repeats: int | Array) -> Array | RecordBatch:
    """Each value, or each row, repeated `repeats` times in place; as `numpy.repeat`.

    The values are copied, as by `take`.

    Args:
        data: Any array, or a batch.
        repeats: The number of repetitions: one number for all values, or an integer array without nulls
            on the same device, with a number for each value.

    Raises:
        TypeError: If `repeats` are not integers.
        ValueError: If one of them is negative or null, their number is not that of the values, or
            devices differ.
        LimitExceededError: If the result has more than 2**63 - 1 slots, or its offsets or run ends
            become too large for the type.
    """
    columns = data.columns if isinstance(data, RecordBatch) else [data]
    for column in columns:
        require_valid(column)
    starts: Items | None = None
    if isinstance(repeats, Array):
        target = target_of(one_device([*columns, repeats], *["data"] * len(columns), "repeats"))
        starts, total = _starts_of(target, repeats, data.length)
    else:
        target = target_of(device_of(columns))
        number = integer(repeats, "repeats")
        if number < 0:
            raise ValueError(f"repeats: must not be negative, got {number}")
        total = number * data.length
    require_length(total)
    repeated = []
    for column in columns:
        result = resized(column, total)
        if result is None:
            # Made late: there may be more slots without bytes than numbers fit in memory.
            if starts is None:
                starts = _even_starts(target, data.length, number)
            result = repeat_for_elements(target, column, starts, total)
        repeated.append(result)
    if isinstance(data, RecordBatch):
        return RecordBatch(data.schema, repeated, total)
    return repeated[0]


@overload
def reverse(data: Array) -> Array: ...
@overload
def reverse(data: RecordBatch) -> RecordBatch: ...
@operation
def reverse(data: Array | RecordBatch) -> Array | RecordBatch:
    """The values, or the rows, in reverse order; copied, as by `take`.

    Args:
        data: Any array, or a batch.
    """
    columns = data.columns if isinstance(data, RecordBatch) else [data]
    for column in columns:
        require_valid(column)
    backwards = _Backwards(target_of(device_of(columns)), data.length)
    columns = [backwards.of(column) for column in columns]
    if isinstance(data, RecordBatch):
        return RecordBatch(data.schema, columns, data.length)
    return columns[0]


class _Backwards(LatePicks):
    """All slots of an array, in reverse order."""

    __slots__ = ("_count",)

    def __init__(self, target: Target, count: int) -> None:
        super().__init__(target)
        self._count = count

    @property
    def count(self) -> int:
        return self._count

    def of(self, array: Array) -> Array:
        """The slots of a checked array."""
        same = resized(array, self.count)
        return assemble(self, array) if same is None else same

    def positions(self) -> Items:
        return _descending(self.target, self.count)

    def gather_words(self, target: Target, words: Items, width: int) -> Items:
        return _reversed_words(target, words, width)

    def gather_bits(self, target: Target, bits: Buffer, offset: int) -> tuple[Buffer, int]:
        return self.picks.gather_bits(target, bits, offset)


@on_its_device
def _reversed_words(target: Target, words: Items, width: int) -> Items:
    # A reversed copy is several times as fast as taking by position.
    out = target.output(len(words), words.dtype)
    if width == 2 and words.dtype.itemsize == 8 and target.device == HOST:
        # Moved as one item of 16 bytes, which takes a fifth of the time; a device needs it aligned.
        out.view(np.complex128)[:] = words.view(np.complex128)[::-1]
    elif width:
        out.reshape(-1, width)[:] = words.reshape(-1, width)[::-1]
    return out


@on_its_device
def _descending(target: Target, count: int) -> Items:
    return count - 1 - target.positions(count)


@on_its_device
def _even_starts(target: Target, count: int, number: int) -> Items:
    """As `_starts_of`, if all values are repeated equally often."""
    return target.positions(count + 1) * number


def _starts_of(target: Target, repeats: Array, count: int) -> tuple[Items, int]:
    """The start of each value's slots, and the end of the last one's (int64[count + 1]); and that end."""
    if isinstance(repeats.type, s.Null) and not repeats.length:
        # The array is of type null, as `array([])`.
        repeats = nulls(0, s.int64(), target.device)
    if not isinstance(repeats.type, s.Int):
        raise TypeError(f"repeats: expected an integer or integers, got {repeats.type}")
    if repeats.length != count:
        raise ValueError(f"repeats: {repeats.length} numbers for {count} values")
    if repeats.null_count:
        raise ValueError("repeats: must not be null")
    return target.running_sum(_lengths_of(target, repeats), np.int64)


@on_its_device
def _lengths_of(target: Target, repeats: Array) -> Items:
    """The numbers of repetitions as int64; raises for negative and too large ones."""
    items = repeats.items(Role.DATA)
    signed = items.dtype.kind == "i"
    if len(items) and signed and (least := int(items.min())) < 0:
        raise ValueError(f"repeats: must not be negative, got {least}")
    if len(items) and not signed and int(items.max()) >> 63:
        raise LimitExceededError(f"repeats: {int(items.max())} slots for one value")
    return items.astype(np.int64, copy=False)
