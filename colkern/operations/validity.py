"""Null counts and validity bitmaps.

Columnar format 1.5: "Null count", "Validity bitmaps".
"""

from __future__ import annotations

from collections.abc import Sequence

from colkern.arrays import Array
from colkern.bitmaps import and_bits, own_bits
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.schema import DataType


@operation(kind=Kind.AGGREGATE, combine=lambda values, like: sum(values))
def null_count(array: Array) -> int:
    """The number of slots that are null by the array's own bitmap; all of them for type null.

    Union and run-end encoded arrays have none: their children do. Counts each time that it is called;
    `array.null_count` is remembered.
    """
    return array.count_nulls()


def compact_validity(array: Array) -> Buffer | None:
    """The validity bitmap of the array's own slots from bit 0 on; None if no slot is null.

    Copied only if the array does not start at a byte.
    """
    nulls = array._null_count
    if nulls == 0 or not array.layout.has_validity or not (nulls > 0 or array.may_have_nulls):
        return None
    bitmap = array.buffers[0]
    assert bitmap is not None
    return own_bits(bitmap, array.offset, array.length)


def with_nulls_of(
    array: Array,
    type_: DataType,
    buffers: Sequence[Buffer | None],
    children: Sequence[Array] = (),
) -> Array:
    """An array over valid buffers that begin at slot 0, after the bitmap, null where `array` is."""
    # Most arrays are known to have none.
    nulls = array._null_count
    validity = compact_validity(array) if nulls else None
    nulls = array._null_count if validity is not None else 0
    return Array.of_valid(type_, array.length, (validity, *buffers), nulls, children)


def combine_validity(arrays: Sequence[Array]) -> tuple[Buffer | None, int]:
    """The slots that are valid in all the arrays, as a bitmap from bit 0 on, and their null count.

    Arrays of one length. Without nulls there is no bitmap. Nulls that a device would have to be asked
    for are not counted.
    """
    # Most arrays are known to have none.
    nullable = [
        array
        for array in arrays
        if array._null_count
        and array.layout.has_validity
        and (array._null_count > 0 or array.may_have_nulls)
    ]
    if not nullable:
        return None, 0
    first = nullable[0]
    bitmap = own = first.buffers[0]
    offset = first.offset
    for array in nullable[1:]:
        right = array.buffers[0]
        # One array on both sides has nothing to combine.
        if right is not own or array.offset != first.offset:
            assert bitmap is not None
            assert right is not None
            bitmap, nulls = and_bits(bitmap, offset, right, array.offset, array.length)
            offset = 0
    if bitmap is own:
        return compact_validity(first), first._null_count
    return bitmap, nulls
