"""Between the two ways to store variable-size binary values: offsets and views.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError
from colkern.kernels import offsets as offset_kernels
from colkern.kernels import views
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.operands import buffer_sizes, validity_of, view_addresses
from colkern.operations.patterns import measure_in_place
from colkern.operations.position_checks import require_valid
from colkern.operations.validity import with_nulls_of
from colkern.targets import Items, Target, target_of

INLINE_MASKS = np.array(views.inline_masks(), np.uint64)

_MOST = np.iinfo(np.int32).max


@operation(kind=Kind.ELEMENT_WISE)
def views_to_offsets(array: Array, *, large: bool = False) -> Array:
    """A utf8_view or binary_view array as utf8 or binary (large_utf8, large_binary if `large`).

    Only bytes that valid slots refer to are copied.

    Raises:
        TypeError: If the array has no views.
        LimitExceededError: If the values have more than 2 GiB and `large` is False.
        InvalidArrowError: If a view points outside the data buffers.
    """
    result: s.DataType
    if isinstance(array.type.storage, s.Utf8View):
        result = s.large_utf8() if large else s.utf8()
    elif isinstance(array.type.storage, s.BinaryView):
        result = s.large_binary() if large else s.binary()
    else:
        raise TypeError(f"array: expected utf8_view or binary_view, got {array.type}")
    require_valid(array)
    target = target_of(array.device)
    words = array.items(Role.VIEWS).view(np.int32)
    dtype = np.dtype(np.int64 if large else np.int32)
    validity = validity_of(array, target)
    offsets, total = measure_in_place(
        target, views.view_lengths, array.length, dtype, words, *validity
    )
    data = gather_views(array, target, offsets, total)
    return with_nulls_of(array, result, [target.buffer(offsets), target.buffer(data)])


def gather_views(array: Array, target: Target, offsets: Items, total: int) -> Items:
    """The bytes (uint8[total]) of the values of an array of views, one after the other.

    Args:
        array: The array, checked.
        target: The target where its bytes are.
        offsets: Offsets of the output (int32 or int64[n + 1]); each range is as long as its value, or
            empty.
        total: The last of the offsets.
    """
    words, addresses = array.items(Role.VIEWS).view(np.int32), view_addresses(array)
    sizes = [*buffer_sizes(array), words.nbytes]
    tables = target.table(addresses, np.uint64), target.table(sizes, np.int64)
    data = target.output(total, np.uint8)
    kernel = views.decode_views
    target.map(kernel, array.length, words, *tables, offsets, data)
    return data


@operation(kind=Kind.ELEMENT_WISE)
def offsets_to_views(array: Array) -> Array:
    """A utf8, binary, large_utf8 or large_binary array with views; the bytes are shared, not copied.

    Raises:
        TypeError: If the array has no offsets.
        LimitExceededError: If a single value has more than 2 GiB.
        InvalidArrowError: If the offsets are not valid.
    """
    if array.layout.kind is not LayoutKind.BINARY:
        raise TypeError(f"array: expected a variable-size binary type, got {array.type}")
    is_text = isinstance(array.type.storage, (s.Utf8, s.LargeUtf8))
    result = s.utf8_view() if is_text else s.binary_view()
    require_valid(array)
    target = target_of(array.device)
    offsets = array.items(Role.OFFSETS)
    data = array.buffer(Role.BYTES) or target.buffer(target.allocate(0, np.uint8))
    if data.size > _MOST:
        _check_value_lengths(array, target, offsets)
    out = target.output(2 * array.length, np.uint64)
    validity = validity_of(array, target)
    masks = target.table(INLINE_MASKS, np.uint64)
    base = data.address if data.size else 0
    target.map(views.encode_views, array.length, offsets, data.array, base, *validity, masks, out)
    window = 1 << views.WINDOW_BITS
    windows = [data[start:] for start in range(window, data.size, window)]
    if data.size:
        windows.insert(0, data)
    return with_nulls_of(array, result, [target.buffer(out), *windows])


def _check_value_lengths(array: Array, target: Target, offsets: Items) -> None:
    lengths = target.output(array.length, np.int64)
    target.map(offset_kernels.lengths_of, array.length, offsets, lengths)
    longest = int(lengths.max()) if array.length else 0
    if longest > _MOST:
        raise LimitExceededError(f"a value of {longest} bytes does not fit a view (2 GiB at most)")


@operation(kind=Kind.ELEMENT_WISE)
def compact_views(array: Array) -> Array:
    """The same values with new data buffers, which hold only the bytes that valid slots refer to.

    Values selected from a large array keep all its data buffers alive; the result does not. The bytes
    are copied. If the data buffers have no more bytes than the values, nothing would be saved, and the
    array itself is returned.

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
    """Gathered bytes as data buffers, one for each window: from its start to the end of its last value.

    Args:
        starts: The start of each value's bytes, and the end of the last (int64[n + 1]).
    """
    window = 1 << views.WINDOW_BITS
    if data.size <= window:
        return [data] if data.size else []
    parts = []
    for begin in range(0, data.size, window):
        last = int((starts[:-1] < begin + window).sum())
        parts.append(data[begin : int(starts[last])])
    return parts
