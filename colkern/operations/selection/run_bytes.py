"""Binary values, each repeated for the length of its run.

Columnar format 1.5: "Run-End Encoded Layout", "Variable-size Binary Layout".
"""

from __future__ import annotations

import numpy as np

from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.kernels import runs
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.operands import offset_ends
from colkern.operations.patterns import measure
from colkern.targets import Items, on_its_device, target_of


def can_repeat_bytes(values: Array, length: int) -> bool:
    """Whether `repeat_bytes` supports those values: the number of bytes must fit 64 bits."""
    if values.layout.kind is not LayoutKind.BINARY:
        return False
    ((first, last),) = offset_ends(values)
    return (last - first) * length < 1 << 62


@on_its_device
def repeat_bytes(
    values: Array, slots: tuple[Items, int, int], count: int, length: int
) -> tuple[Buffer, Buffer]:
    """Offsets and bytes of binary values, each repeated for the length of its run.

    Args:
        values: A checked array with a value for each run.
        slots: The ends of the runs (which do not decrease), the run of the first slot, and the position
            of that slot.
        count: The number of runs, starting with that one.
        length: The number of slots.

    Raises:
        LimitExceededError: If there are too many bytes for the offsets.
    """
    target = target_of(values.device)
    ends, _, offset = slots
    items = values.items(Role.OFFSETS)
    kind = items.dtype
    starts, total = measure(target, runs.measure_runs, count, np.int64, *slots, length, items)
    if total > np.iinfo(kind).max:
        raise LimitExceededError(
            f"{total} bytes do not fit offsets of {kind}; use the large form of the type"
        )
    offsets = target.output(length + 1, kind)
    target.map(runs.repeat_offsets, length, *slots, items, starts, offsets)
    offsets[length:] = total
    data = target.output(total, np.uint8)
    source = values.buffer(Role.BYTES)
    if total and source is not None:
        places = offsets
        runs_and_bytes = (ends, offset, items, source.address, places)
        target.map(runs.repeat_bytes, length, *runs_and_bytes, data, balance=places)
    return target.buffer(offsets), target.buffer(data)
