"""`compact_views`: views whose data buffers hold what they show, and nothing else.

Columnar format 1.5: "Variable-size Binary View Layout".
"""

from __future__ import annotations

import numpy as np

from colkern.arrays import Array
from colkern.kernels import views
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.convert import gather_views
from colkern.operations.operands import buffer_sizes, validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.validity import with_nulls_of
from colkern.targets import Items, target_of


@operation(kind=Kind.ELEMENT_WISE)
def compact_views(array: Array) -> Array:
    """The same values with new data buffers, which hold the bytes that valid slots show.

    Values that have been selected from a large array keep all its data buffers alive; here they are
    left behind. The bytes are copied, unless the data buffers have no more of them than the values
    show: then values share bytes, or nothing would be saved, and the array itself is returned.

    Args:
        array: A utf8_view or binary_view array.

    Raises:
        TypeError: If the array has no views.
        InvalidArrowError: If a view points outside the data buffers.
    """
    if not array.layout.variadic:
        raise TypeError(f"array: expected utf8_view or binary_view, got {array.type}")
    require_valid(array)
    target = target_of(array.device)
    words = array.items(Role.VIEWS).view(np.uint64)
    validity = validity_of(array, target)
    starts = target.output(array.length + 1, np.int64)
    used = target.reduce(views.long_lengths, array.length, words, *validity, starts[1:])
    if used >= sum(buffer_sizes(array)):
        return array
    target.accumulate(starts)
    data = target.buffer(gather_views(array, target, starts, used))
    moved = target.output(len(words), np.uint64)
    target.map(views.move_views, array.length, words, *validity, starts, moved)
    return with_nulls_of(array, array.type, [target.buffer(moved), *windows(data, starts)])


def windows(data: Buffer, starts: Items) -> list[Buffer]:
    """Gathered bytes as data buffers: each from its window's begin to its last value's end.

    Args:
        data: The bytes.
        starts: Where those of each value begin, and the last end (int64[n + 1]).
    """
    window = 1 << views.WINDOW_BITS
    if data.size <= window:
        return [data] if data.size else []
    parts = []
    for begin in range(0, data.size, window):
        last = int((starts[:-1] < begin + window).sum())
        parts.append(data[begin : int(starts[last])])
    return parts
