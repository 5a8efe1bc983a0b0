"""The order of strings and of binary values, as bits.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from colkern import schema as s
from colkern.arrays import Array
from colkern.kernels import ordering
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.comparing import output_for
from colkern.operations.order import Order
from colkern.operations.string_data import as_views, pattern_of, text_of, views_of
from colkern.targets import on_its_device, target_of


def ordered_strings(left: Array, right: Array, order: Order) -> Buffer:
    """The bits of the slots in which two arrays of strings or of binary values are in an order.

    Args:
        left: A checked array.
        right: One of the same kind and length; the way to store the values may differ.
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
    # Greater is not less or equal.
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
    """The bytes of values of one size as an array with offsets; they are not copied."""
    target = target_of(array.device)
    width = array.layout.spec(Role.DATA).dtype.itemsize
    ends = (target.positions(array.length + 1) + array.offset) * width
    buffers = (None, target.buffer(ends), array.buffers[1])
    return Array.of_valid(s.large_binary(), array.length, buffers, 0)
