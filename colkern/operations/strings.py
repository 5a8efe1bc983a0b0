"""Operations on strings and binary values; their names and meaning are those of `pyarrow.compute`.

For dictionary- and run-end-encoded arrays, only the values are computed. A null gives a null.

Columnar format 1.5: "Variable-size Binary Layout", "Variable-size Binary View Layout".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import bits_by
from colkern.dispatch import BINARY, TEXT
from colkern.kernels import lists, strings, views
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations import aggregates
from colkern.operations.arguments import Kind, operation
from colkern.operations.casting.dispatch import fixed_result
from colkern.operations.encodings import on_values
from colkern.operations.operands import buffer_sizes, offset_ends
from colkern.operations.position_checks import require_valid
from colkern.operations.string_data import as_views, pattern_of, text_of, views_of
from colkern.operations.validity import with_nulls_of
from colkern.targets import Items, Target, on_its_device, target_of

_WASTE = 64
"""Data buffers are read as a whole up to this many bytes for each view."""

_WORD = 1 / 4
"""The work for eight bytes that are read as one word."""

_BINARY = (*TEXT, *BINARY)


@operation(kind=Kind.ELEMENT_WISE)
def string_is_ascii(array: Array) -> Array:
    """Whether each string has only ASCII bytes: booleans.

    Args:
        array: Strings, perhaps dictionary- or run-end encoded.

    Raises:
        TypeError: If the array has no strings.
    """
    return _worked_on(array, TEXT, _is_ascii)


@operation(kind=Kind.AGGREGATE, combine=lambda values, like: all(values))
def is_ascii(array: Array) -> bool:
    """Whether all strings of an array are ASCII; nulls are ignored. See `string_is_ascii`."""
    return bool(aggregates.all(string_is_ascii(array), min_count=0))


@operation(kind=Kind.ELEMENT_WISE)
def utf8_length(array: Array) -> Array:
    """The number of characters (code points) in each string: int32, or int64 for large strings.

    Argument and errors are those of `string_is_ascii`.
    """
    return _worked_on(array, TEXT, _characters)


@operation(kind=Kind.ELEMENT_WISE)
def binary_length(array: Array) -> Array:
    """The number of bytes in each value: int32, or int64 for the large types.

    Args:
        array: Strings or binary values, perhaps dictionary- or run-end encoded.

    Raises:
        TypeError: If the array has neither.
    """
    return _worked_on(array, _BINARY, _lengths)


def matched(array: Array, pattern: str | bytes, *, at_end: bool) -> Array:
    """Whether each value begins, or ends, with a pattern: booleans.

    Args:
        array: Strings or binary values, perhaps dictionary- or run-end encoded.
        pattern: The pattern; a string stands for its UTF-8.

    Raises:
        TypeError: If the array has neither strings nor binary values, or the pattern is neither.
    """
    if not isinstance(pattern, str | bytes):
        raise TypeError(f"pattern: expected str or bytes, got {type(pattern).__name__}")
    value = pattern.encode() if isinstance(pattern, str) else pattern
    return _worked_on(array, _BINARY, lambda values: _match(values, value, at_end))


def equal_strings(left: Array, right: Array, flip: int) -> Buffer:
    """The bits of the slots in which two arrays of strings or of binary values are equal.

    Args:
        left: A checked array.
        right: An array of the same kind and length; the layouts may differ.
        flip: 0, or 255 for the opposite.
    """
    if not left.layout.variadic and left.type.storage == right.type.storage:
        return _equal_texts(left, right, flip)
    return _equal_views(as_views(left), as_views(right), flip)


def equal_string(array: Array, value: bytes, flip: int) -> Buffer:
    """The bits of the slots of a checked array of strings or of binary values that equal `value`."""
    target = target_of(array.device)
    pattern = pattern_of(value, target)
    rest = (target.address(pattern), len(value), array.length, flip)
    if array.layout.variadic:
        views = views_of(array, target)
        return bits_by(target, strings.equal_view, array.length, (*views, *rest))
    text = text_of(array, target)
    return bits_by(target, strings.equal_text, array.length, (*text.arguments, *rest))


def _worked_on(
    array: Array, types: tuple[type[s.DataType], ...], work: Callable[[Array], Array]
) -> Array:
    """`work`, applied to the values of an array in any encoding; `TypeError` for other types."""
    require_valid(array)

    def checked(values: Array) -> Array:
        if not isinstance(values.type.storage, types):
            names = "strings" if types is TEXT else "strings or binary values"
            raise TypeError(f"array: expected {names}, got {values.type}")
        return work(values)

    return work(array) if isinstance(array.type, types) else on_values(array, checked)


def _all_ascii(array: Array, target: Target) -> bool:
    """Whether all bytes of the values are ASCII; False if each value must be tested to know."""
    if not array.length:
        return True
    if not array.layout.variadic:
        data = array.buffer(Role.BYTES)
        ((first, last),) = offset_ends(array)
        return data is None or are_ascii(data.array[first:last], target)
    buffers = [b.array for b in array.data_buffers if b is not None]
    # Buffers of which the views show little are not read as a whole.
    if sum(map(len, buffers)) > _WASTE * array.length:
        return False
    words, _, bitmap, offset = views_of(array, target)
    if target.reduce(strings.has_inline_high_bit, array.length, words, bitmap, offset):
        return False
    return all(are_ascii(data, target) for data in buffers)


def are_ascii(data: Items, target: Target) -> bool:
    """Whether all bytes (uint8[]) are ASCII; also False for a few bytes."""
    if len(data) < 8:
        return not len(data)
    # The last words overlap others, since there need not be a whole number of words.
    return not any(
        target.reduce(strings.has_high_bit, len(part) // 8, part, work=_WORD)
        for part in (data, data[-8:])
    )


@on_its_device
def _is_ascii(array: Array) -> Array:
    target = target_of(array.device)
    out = target.output((array.length + 7) // 8, np.uint8)
    if _all_ascii(array, target):
        out[:] = 255
        if array.length % 8:
            out[-1:] = (1 << array.length % 8) - 1
    elif array.layout.variadic:
        target.map(strings.ascii_views, len(out), *views_of(array, target), array.length, out)
    else:
        text = text_of(array, target)
        target.map(strings.ascii_texts, len(out), *text.arguments, array.length, out)
    return fixed_result(array, s.bool_(), out)


def _characters(array: Array) -> Array:
    target = target_of(array.device)
    if _all_ascii(array, target):
        return _lengths(array)
    if array.layout.variadic:
        out = target.output(array.length, np.int32)
        words, addresses, bitmap, offset = views_of(array, target)
        sizes = [*buffer_sizes(array), words.nbytes]
        arguments = (words, addresses, target.table(sizes, np.int64), bitmap, offset, out)
        target.map(strings.count_characters_of_views, array.length, *arguments)
        return fixed_result(array, s.int32(), out)
    text = text_of(array, target)
    out = target.output(array.length, text.offsets.dtype)
    target.map(strings.count_characters, array.length, *text.arguments, out)
    return fixed_result(array, _length_type(out), out)


def _lengths(array: Array) -> Array:
    target = target_of(array.device)
    if array.layout.variadic:
        out = target.output(array.length, np.int32)
        words = array.items(Role.VIEWS).view(np.int32)
        target.reduce(views.view_lengths, array.length, words, target.no_bits, 0, out)
    else:
        offsets = array.items(Role.OFFSETS)
        out = target.output(array.length, offsets.dtype)
        target.map(lists.list_sizes, array.length, offsets, out)
    return with_nulls_of(array, _length_type(out), [target.buffer(out)])


def _length_type(lengths: Items) -> s.DataType:
    return s.int64() if lengths.dtype.itemsize == 8 else s.int32()


def _match(array: Array, value: bytes, at_end: bool) -> Array:
    target = target_of(array.device)
    pattern = pattern_of(value, target)
    match, length = (target.address(pattern), len(value)), array.length
    if array.layout.variadic:
        kernel = strings.match_view_end if at_end else strings.match_view_start
        bits = bits_by(target, kernel, length, (*views_of(array, target), *match, length))
    else:
        text = text_of(array, target)
        args = (*text.arguments, *match, int(at_end), length)
        bits = bits_by(target, strings.match_text, length, args)
    return with_nulls_of(array, s.bool_(), [bits])


def _equal_texts(left: Array, right: Array, flip: int) -> Buffer:
    target = target_of(left.device)
    texts = text_of(left, target), text_of(right, target)
    args = (*texts[0].arguments, *texts[1].arguments, left.length, flip)
    return bits_by(target, strings.equal_texts, left.length, args)


def _equal_views(left: Array, right: Array, flip: int) -> Buffer:
    target = target_of(left.device)
    args = (*views_of(left, target), *views_of(right, target), left.length, flip)
    return bits_by(target, strings.equal_views, left.length, args)
