"""Which byte strings stand before which: the bits of arrays of strings and of binary values.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import ordering
from colkern.layouts import Role
from colkern.operations.comparing import output_for
from colkern.operations.order import Order
from colkern.operations.string_data import Text, as_views, pattern_of, text_of, views_of
from colkern.operations.targets import target_of

_INLINE = 12


def ordered_strings(left: Array, right: Array, order: Order) -> Any:
    """The bits of the slots in which two arrays of strings or of binary values are in an order.

    Args:
        left: A checked array.
        right: One of the same kind and length; the way to store the values may differ.
        order: Which one.
    """
    target = target_of(left.device)
    if not left.layout.variadic and left.type.storage == right.type.storage:
        texts = text_of(left, target), text_of(right, target)
        return _ordered_texts(left, ((texts[0], 1), (texts[1], 1)), order)
    left, right = as_views(left), as_views(right)
    sides = (*views_of(left, target), 1), (*views_of(right, target), 1)
    return _ordered_views(left, sides, order)


def ordered_string(array: Array, value: bytes, order: Order) -> Any:
    """The bits of the slots of a checked array that are in an order with `value`."""
    target = target_of(array.device)
    pattern = pattern_of(value, target)
    address = target.address(pattern)
    if not array.layout.variadic:
        ends = target.table([0, len(value)], array.items(Role.OFFSETS).dtype)
        other = Text(ends, pattern, address)
        return _ordered_texts(array, ((text_of(array, target), 1), (other, 0)), order)
    view = target.table(_view_of(value), np.uint64)
    addresses = target.table([address, target.address(view)], np.uint64)
    sides = (*views_of(array, target), 1), (view, addresses, target.no_bits, 0, 0)
    return _ordered_views(array, sides, order)


def as_strings(array: Array) -> Array:
    """An array of binary values of one size as one with offsets; the values are not copied."""
    type_ = array.type.storage
    assert isinstance(type_, s.FixedSizeBinary)
    target = target_of(array.device)
    ends = (target.positions(array.length + 1) + array.offset) * type_.byte_width
    buffers = (None, target.buffer(ends), array.buffers[1])
    return Array.of_valid(s.large_binary(), array.length, buffers, 0)


def _view_of(value: bytes) -> Any:
    """The two words of a view of `value`, in data buffer 0 if it is long."""
    rest = value.ljust(_INLINE, b"\0") if len(value) <= _INLINE else value[:4] + bytes(8)
    return np.frombuffer(len(value).to_bytes(4, "little") + rest, "<u8")


_Side = tuple[Any, ...]
"""What a kernel takes of one side; the last is its stride, 1, or 0 for one value."""


def _ordered_texts(
    like: Array, sides: tuple[tuple[Text, int], tuple[Text, int]], order: Order
) -> Any:
    target, out = target_of(like.device), output_for(like)
    (less, stride), (greater, other_stride) = order.placed(sides)
    placed = (*less.arguments, stride, *greater.arguments, other_stride)
    target.map(ordering.less_texts, len(out), *placed, like.length, order.flip, out)
    return out


def _ordered_views(like: Array, sides: tuple[_Side, _Side], order: Order) -> Any:
    target, out = target_of(like.device), output_for(like)
    less, greater = order.placed(sides)
    target.map(ordering.less_views, len(out), *less, *greater, like.length, order.flip, out)
    return out
