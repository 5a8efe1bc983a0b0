"""Strings in the form for kernels, and their order as bits.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import ordering
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.comparing import Order, output_for
from colkern.operations.convert import offsets_to_views
from colkern.operations.operands import validity_of, view_addresses
from colkern.targets import Items, Target, on_its_device, target_of

_WORD = 8


class Text(NamedTuple):
    """Values with offsets."""

    offsets: Items  #: The begin and end of each value.
    data: Items  #: Their bytes, at least a word of them.
    base: int  #: The address of `data`.

    @property
    def arguments(self) -> tuple[Items, int, int]:
        """The offsets, the address of the bytes, and the start of their last word."""
        return self.offsets, self.base, len(self.data) - _WORD


def text_of(array: Array, target: Target) -> Text:
    """The values of an array with offsets; a few bytes are copied to where a whole word can be read.

    Keep the result until the kernels that use its address have ended.
    """
    offsets, buffer = array.items(Role.OFFSETS), array.buffer(Role.BYTES)
    if buffer is not None and buffer.size >= _WORD:
        return Text(offsets, buffer.array, buffer.address)
    data = target.allocate(_WORD, np.uint8)
    if buffer is not None:
        target.copy(buffer.array, data)
    return Text(offsets, data, target.address(data))


def views_of(array: Array, target: Target) -> tuple[Items, Items, Items, int]:
    """The views of an array as words, the addresses of its data buffers and its views, its validity."""
    words = array.items(Role.VIEWS).view(np.uint64)
    return words, target.table(view_addresses(array), np.uint64), *validity_of(array, target)


def as_views(array: Array) -> Array:
    """An array of strings or of binary values with views."""
    return array if array.layout.variadic else offsets_to_views(array)


def pattern_of(value: bytes, target: Target) -> Items:
    """The bytes of a pattern for a kernel, followed by zeros (uint8[])."""
    return target.table(np.frombuffer(bytearray(value) + bytes(12), np.uint8), np.uint8)


# Order


def ordered_strings(left: Array, right: Array, order: Order) -> Buffer:
    """The bits of the slots in which two arrays of strings or of binary values are in an order.

    Args:
        left: A checked array.
        right: An array of the same kind and length; the layouts may differ.
        order: The order.
    """
    target = target_of(left.device)
    out = output_for(target, left)
    rest = (left.length, order.flip, out)
    if not left.layout.variadic and left.type.storage == right.type.storage:
        less, greater = (text_of(side, target) for side in order.placed((left, right)))
        texts = (*less.arguments, *greater.arguments)
        target.map(ordering.less_texts, len(out), *texts, *rest)
    else:
        views = (as_views(side) for side in order.placed((left, right)))
        less_views, greater_views = (views_of(side, target) for side in views)
        target.map(ordering.less_views, len(out), *less_views, *greater_views, *rest)
    return target.buffer(out)


def ordered_string(array: Array, value: bytes, order: Order) -> Buffer:
    """The bits of the slots of a checked array that are in an order with `value`."""
    target = target_of(array.device)
    out = output_for(target, array)
    pattern = pattern_of(value, target)
    # Greater is the opposite of less or equal.
    or_equal, flip = int(order.swapped), order.flip ^ (255 if order.swapped else 0)
    rest = (target.address(pattern), len(value), or_equal, array.length, flip, out)
    if array.layout.variadic:
        target.map(ordering.less_view, len(out), *views_of(array, target), *rest)
    else:
        text = text_of(array, target)
        target.map(ordering.less_text, len(out), *text.arguments, *rest)
    return target.buffer(out)


@on_its_device
def as_strings(array: Array) -> Array:
    """Values of one size as an array with offsets; the bytes are not copied."""
    target = target_of(array.device)
    width = array.layout.spec(Role.DATA).dtype.itemsize
    ends = (target.positions(array.length + 1) + array.offset) * width
    buffers = (None, target.buffer(ends), array.buffers[1])
    return Array.of_valid(s.large_binary(), array.length, buffers, 0)
