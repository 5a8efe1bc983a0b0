"""Validation of arrays and all that is below them against the format.

Two depths. The cheap one checks counts and sizes. The full one checks every slot; a part of it,
`require_valid`, runs once an array, before any kernel that follows positions of untrusted input.

Columnar format 1.5: the rules under each layout.
"""

from __future__ import annotations

from collections.abc import Collection

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.errors import InvalidArrowError
from colkern.layouts import ChildLength
from colkern.operations.arguments import operation
from colkern.operations.extension_checks import check_extension
from colkern.operations.position_checks import POSITION_CHECKS
from colkern.operations.validity import null_count
from colkern.operations.value_checks import TypeRule, check_values, skipped_rules


@operation
def validate(
    data: Array | RecordBatch, *, full: bool = False, skip: Collection[TypeRule] = ()
) -> None:
    """Check an array, or every column of a batch, against the format.

    Children and dictionaries are checked whole, also those of a slice. What stands under a null may
    be anything, where the format leaves it open. Runs where the bytes are; nothing is copied.

    Args:
        data: The array or batch.
        full: Look at every slot (offsets, views, run ends, type ids, dictionary indices, map keys,
            UTF-8, decimals, dates, times, null counts, canonical extension types); else at counts
            and sizes, and at what extension types say of themselves, in time that does not grow with
            the length.
        skip: Rules of types to leave out of a full look, which old writers did not keep: "dates"
            (date64 values are whole days), "decimals" (no more digits than the precision), "times"
            (at least 0, less than 24 hours), "utf8" (strings are UTF-8).

    Raises:
        InvalidArrowError: With the column's path, the slot, and its content.
        LimitExceededError, UnsupportedError: If an extension type's metadata is over 64 KiB, or its
            tensors have more than 64 dimensions, so that it cannot be checked.
        TypeError: If `skip` is a single string.
        ValueError: If `skip` has a name that is no rule's.
    """
    skipped = skipped_rules(skip)
    if isinstance(data, RecordBatch):
        for position, field in enumerate(data.schema):
            _validate(data.column(position), field.name, full, skipped)
    else:
        _validate(data, "", full, skipped)


def require_valid(array: Array, place: str = "") -> None:
    """Check that every position in the array leads to memory of the array's own.

    Runs once an array (and its slices). Arrays that pass may be given to any kernel.

    Raises:
        InvalidArrowError: As `validate`.
    """
    if array._checked:
        return
    _check_children(array, place)
    check = POSITION_CHECKS.get(array.layout.kind)
    if check is not None:
        check(array, place)
    for name, part in _parts(array):
        require_valid(part, _inside(place, name))
    array._checked = True


def _validate(array: Array, place: str, full: bool, skipped: Collection[str]) -> None:
    if full:
        require_valid(array, place)
        _check_null_count(array, place)
        check_values(array, skipped, place)
    else:
        _check_children(array, place)
    check_extension(array, full, place)
    for name, part in _parts(array):
        _validate(part, _inside(place, name), full, skipped)


def _parts(array: Array) -> list[tuple[str, Array]]:
    """The children with their names, and the dictionary."""
    if not array.children and array.dictionary is None:
        return []
    parts = [(f.name, c) for f, c in zip(array.type.fields, array.children, strict=True)]
    if array.dictionary is not None:
        parts.append(("dictionary", array.dictionary))
    return parts


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _check_children(array: Array, place: str) -> None:
    """The lengths of children where the parent's length sets them."""
    if not array.children:
        return
    need = _least_child_length(array)
    for field, child in zip(array.type.fields, array.children, strict=True):
        if need is not None and child.length < need:
            raise InvalidArrowError(
                f"child {field.name!r} has {child.length} values, its parent needs {need}",
                place=place,
            )


def _least_child_length(array: Array) -> int | None:
    storage = array.type.storage
    slots = array.offset + array.length
    if array.layout.child_length is ChildLength.SAME:
        return slots
    if isinstance(storage, s.FixedSizeList):
        return slots * storage.list_size
    return None


def _check_null_count(array: Array, place: str) -> None:
    stated = array.stated_null_count
    if stated < 0 or stated == (counted := null_count(array)):
        return
    by = f"the bitmap has {counted}"
    if not array.layout.has_validity:
        by = f"the {array.layout.name} layout has no bitmap, and counts {counted} of {array.length}"
    raise InvalidArrowError(f"null count {stated}, {by}", place=place)
