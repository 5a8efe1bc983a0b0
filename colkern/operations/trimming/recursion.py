"""`trim`: an array and, all the way down, its children."""

from __future__ import annotations

from collections.abc import Callable

from colkern.arrays import Array
from colkern.bitmaps import and_bits, count_set_bits
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.trimming.flat import trim_fixed, trim_null
from colkern.operations.trimming.nested import (
    trim_dense_union,
    trim_fixed_list,
    trim_list,
    trim_list_view,
    trim_runs,
    trim_sparse_union,
    trim_struct,
)
from colkern.operations.trimming.slots import ALL_VISIBLE, Parts, Slots, clean_bits
from colkern.operations.trimming.variable import trim_binary
from colkern.operations.trimming.views import trim_views
from colkern.operations.validation import require_valid
from colkern.targets import on_its_device, target_of


@operation
@on_its_device
def trim(array: Array) -> Array:
    """The same values from slot 0 on, in buffers, children and data buffers no larger than needed.

    Offsets start at 0, and there are zeros (or nothing) wherever no value of the array shows what
    stands: under nulls and below them, in the slots of a union's other children, between the elements
    or bytes that views point at, behind inline values, and behind the last bit of bitmaps. Where a
    child has a bitmap of its own, it is null there too. What is so already is shared, not copied.

    Type ids, the offsets of dense unions, run ends and dictionaries stay what they are (offsets moved,
    so that they start at 0), also where they are hidden.

    Args:
        array: Any array.

    Raises:
        InvalidArrowError: If the array points outside its own memory.
    """
    require_valid(array)
    return _trimmed(array, ALL_VISIBLE)


def _trimmed(array: Array, above: Buffer | None) -> Array:
    """The array trimmed, where `above` tells the slots that are visible from above.

    Args:
        array: A checked array.
        above: A bitmap from bit 0 on, or `ALL_VISIBLE`.
    """
    target = target_of(array.device)
    validity, visible, nulls = None, above, array.null_count
    if array.layout.has_validity and nulls:
        bitmap = array.buffer(Role.VALIDITY)
        assert bitmap is not None
        visible = clean_bits(target, bitmap, array.offset, array.length)
        if above is not ALL_VISIBLE:
            visible, seen = and_bits(visible, 0, above, 0, array.length)
            nulls = array.length - seen
        # A hidden slot is null: whether the value there was is not for the reader.
        validity = visible
    elif visible is not ALL_VISIBLE and count_set_bits(visible, 0, array.length) == array.length:
        visible = ALL_VISIBLE
    parts = _TRIM[array.layout.kind](Slots(array, target, visible))
    buffers, shown = parts
    children = [_trimmed(*child) for child in shown]
    if array.layout.has_validity:
        buffers = [validity, *buffers]
    made = Array(array.type, array.length, buffers, children, array.dictionary, null_count=nulls)
    made._checked = True
    return made


_TRIM: dict[LayoutKind, Callable[[Slots], Parts]] = {
    LayoutKind.NULL: trim_null,
    LayoutKind.FIXED_SIZE: trim_fixed,
    LayoutKind.DICTIONARY: trim_fixed,
    LayoutKind.BINARY: trim_binary,
    LayoutKind.BINARY_VIEW: trim_views,
    LayoutKind.LIST: trim_list,
    LayoutKind.LIST_VIEW: trim_list_view,
    LayoutKind.FIXED_SIZE_LIST: trim_fixed_list,
    LayoutKind.STRUCT: trim_struct,
    LayoutKind.SPARSE_UNION: trim_sparse_union,
    LayoutKind.DENSE_UNION: trim_dense_union,
    LayoutKind.RUN_END_ENCODED: trim_runs,
}
