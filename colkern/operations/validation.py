"""Validation of arrays, with everything below them, against the format.

There are two levels: the cheap one checks counts and sizes, the full one checks every slot.

Columnar format 1.5: the rules under each layout.
"""

from __future__ import annotations

from collections.abc import Collection

from colkern.arrays import Array, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.kernels import bitmaps
from colkern.operations.arguments import operation
from colkern.operations.extension_checks import check_extension
from colkern.operations.position_checks import check_child_lengths, inside, parts_of, require_valid
from colkern.operations.value_checks import TypeRule, ask_values, check_values, skipped_rules
from colkern.targets import Later, target_of


@operation
def validate(
    data: Array | RecordBatch, *, full: bool = False, skip: Collection[TypeRule] = ()
) -> None:
    """Check an array, or every column of a batch, against the format.

    Children and dictionaries are checked completely, also those of a slice. Values under nulls may be
    anything that the format allows. The check runs on the device of the bytes; nothing is copied.

    Args:
        full: Check every slot (offsets, views, run ends, type ids, dictionary indices, map keys, UTF-8,
            decimals, dates, times, null counts, canonical extension types). Else only counts and sizes,
            and the metadata of extension types are checked, in time that does not grow with the length.
        skip: Rules of types to leave out of a full check, which old writers broke: "dates" (date64
            values are whole days), "decimals" (no more digits than the precision), "times" (at least 0,
            less than 24 hours), "utf8" (strings are UTF-8).

    Raises:
        InvalidArrowError: With the column's path, the slot, and its content.
        LimitExceededError, UnsupportedError: If an extension type's metadata is over 64 KiB, or its
            tensors have more than 64 dimensions, so that it cannot be checked.
        TypeError: If `skip` is a single string.
        ValueError: If `skip` has an unknown name.
    """
    check(data, full, skip)


def check(data: Array | RecordBatch, full: bool, skip: Collection[TypeRule]) -> None:
    """As `validate`, for data that is known to be an array or a batch."""
    skipped = skipped_rules(skip)
    if isinstance(data, RecordBatch):
        for position, field in enumerate(data.schema):
            _validate(data.column(position), field.name, full, skipped)
    else:
        _validate(data, "", full, skipped)


def _validate(array: Array, place: str, full: bool, skipped: Collection[str]) -> None:
    if full:
        counted = _null_count(array)
        ask_values(array, skipped)
        require_valid(array, place)
        _check_null_count(array, counted(), place)
        check_values(array, skipped, place)
    else:
        check_child_lengths(array, place)
    check_extension(array, full, place)
    for name, part in parts_of(array):
        _validate(part, inside(place, name), full, skipped)


def _null_count(array: Array) -> Later:
    """The number of nulls, counted along with the first check that waits; or the stated number."""
    stated = array.stated_null_count
    bitmap = array.buffers[0] if array.layout.has_validity else None
    if stated < 0 or bitmap is None or not array.length:
        return lambda: stated if stated < 0 else array.count_nulls()
    end = array.offset + array.length
    words = bitmaps.whole_words(array.offset, end)
    target = target_of(bitmap.device)
    valid = target.later(bitmaps.count_set_bits, words, bitmap.array, array.offset, end)
    return lambda: array.length - valid()


def _check_null_count(array: Array, counted: int, place: str) -> None:
    stated = array.stated_null_count
    if stated == counted:
        return
    by = f"the bitmap has {counted}"
    if not array.layout.has_validity:
        by = f"the {array.layout.name} layout has no bitmap, and counts {counted} of {array.length}"
    raise InvalidArrowError(f"null count {stated}, {by}", place=place)
