"""`equal` and `not_equal`, of two arrays or of an array and a value; as in `pyarrow.compute`.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import bitmaps, comparison
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.booleans import combined_values
from colkern.operations.creation import nulls
from colkern.operations.encodings import decoded, on_values
from colkern.operations.numbers import number_of
from colkern.operations.selection import words_of
from colkern.operations.strings import equal_string, equal_strings
from colkern.operations.targets import target_of
from colkern.operations.validation import require_valid
from colkern.operations.validity import combine_validity, compact_validity

_BOOL = s.bool_()

_FLIP = 255


@operation
def equal(left: Array, right: Any) -> Array:
    """Whether values are equal, slot by slot: booleans, null where either is null.

    Numbers are compared as such: NaN equals nothing, -0.0 equals 0.0. Dictionary- and run-end-encoded
    arrays are compared by their values; strings may be stored in different ways.

    Args:
        left: An array of numbers, booleans, times, decimals, strings or binary values.
        right: An array of the same length and type on the same device, or a value of that type as
            `to_pylist` gives it; None makes all null.

    Raises:
        TypeError: If the types differ, or the value is of another one.
        ValueError: If the lengths or the devices differ, or the value does not fit the type.
        UnsupportedError: If the type is nested.
        InvalidArrowError: If an array points outside its own memory.
    """
    return _compared(left, right, 0)


@operation
def not_equal(left: Array, right: Any) -> Array:
    """Whether values differ, slot by slot; the opposite of `equal`, of which see the arguments."""
    return _compared(left, right, _FLIP)


def _compared(left: Array, right: Any, flip: int) -> Array:
    require_valid(left)
    if isinstance(right, Array):
        made = _compare_arrays(left, right, flip)
    else:
        made = on_values(left, lambda values: _compare_value(values, right, flip))
    made._checked = True
    return made


def _compare_arrays(left: Array, right: Array, flip: int) -> Array:
    if left.length != right.length:
        raise ValueError(f"right: {right.length} values, left has {left.length}")
    if left.device != right.device:
        raise ValueError(f"right: on {right.device}, left is on {left.device}")
    require_valid(right)
    left, right = decoded(left), decoded(right)
    if _kind(left) is None or _kind(left) != _kind(right):
        _require_same_type(left, right)
    if left.layout.name == "null":
        return nulls(left.length, _BOOL, left.device)
    validity, count = combine_validity([left, right])
    bits = _comparer(left).arrays(left, right, flip)
    return _booleans(left, validity, bits, count)


def _compare_value(array: Array, value: Any, flip: int) -> Array:
    if value is None or array.layout.name == "null":
        return nulls(array.length, _BOOL, array.device)
    bits = _comparer(array).value(array, value, flip)
    return _booleans(array, compact_validity(array), bits, array.null_count)


def _booleans(like: Array, validity: Buffer | None, bits: Any, nulls: int) -> Array:
    """As many booleans as `like` has slots, on the same device."""
    data = target_of(like.device).buffer(bits)
    return Array.of_valid(_BOOL, like.length, (validity, data), nulls)


_KINDS: dict[type[s.DataType], str] = {
    s.Utf8: "string",
    s.LargeUtf8: "string",
    s.Utf8View: "string",
    s.Binary: "binary",
    s.LargeBinary: "binary",
    s.BinaryView: "binary",
}


def _kind(array: Array) -> str | None:
    """What values of variable size are; None for others."""
    return _KINDS.get(type(array.type.storage))


def _require_same_type(left: Array, right: Array) -> None:
    if not s.same_type(left.type, right.type):
        raise TypeError(f"right: expected {left.type}, got {right.type}; cast one of them")


class _Comparer:
    """How values of some type are compared.

    Args:
        arrays: Of two arrays and `flip`, the bits.
        value: Of an array, a value and `flip`, the bits.
    """

    __slots__ = ("arrays", "value")

    def __init__(
        self,
        arrays: Callable[[Array, Array, int], Any],
        value: Callable[[Array, Any, int], Any],
    ) -> None:
        self.arrays = arrays
        self.value = value


def _comparer(array: Array) -> _Comparer:
    storage = type(array.type.storage)
    found = _SPECIAL.get(storage) or _COMPARERS.get(array.layout.name)
    if found is None:
        raise UnsupportedError(f"comparing {array.type}; compare its children")
    return found


def _output(array: Array) -> Any:
    return target_of(array.device).output((array.length + 7) // 8, np.uint8)


def _one(array: Array, value: Any) -> Array:
    """The value as an array of one slot, on the host."""
    from colkern.builders.nested import build
    from colkern.builders.parts import BadValue

    try:
        return build(array.type.storage, [value])
    except BadValue as error:
        raise error.kind(f"right: {error.message}") from None


def _item(array: Array, value: Any) -> Any:
    """The value as an array stores it, one item on the host."""
    type_ = array.type.storage
    if isinstance(type_, s.Int | s.FloatingPoint) and type_.bit_width != 16:
        number = number_of(value, type_, "right")
        return np.array([number], number.dtype)
    return _one(array, value).items(Role.DATA)


def _equal_numbers(left: Array, right: Array, flip: int) -> Any:
    words, width = words_of(right.items(Role.DATA))
    return _equal_words(left, words, width, flip)


def _equal_number(array: Array, value: Any, flip: int) -> Any:
    words, _ = words_of(_item(array, value))
    table = target_of(array.device).table(words.tolist(), words.dtype)
    return _equal_words(array, table, 0, flip)


def _equal_words(array: Array, others: Any, stride: int, flip: int) -> Any:
    """The bits for an array beside others that begin `stride` words apart, or one if that is 0."""
    target, out = target_of(array.device), _output(array)
    items = array.items(Role.DATA)
    words, width = words_of(items)
    rest = (array.length, flip, out)
    if items.dtype == np.float16:
        target.map(comparison.equal_halves, len(out), words, others, stride, *rest)
    elif width != 1:
        target.map(comparison.equal_wide, len(out), words, others, width, stride, *rest)
    else:
        kernel = comparison.equal_items if stride else comparison.equal_item
        if items.dtype.kind == "f":
            words, others = items, others.view(items.dtype)
        target.map(kernel, len(out), words, others, *rest)
    return out


def _equal_booleans(left: Array, right: Array, flip: int) -> Any:
    return combined_values(left, right, bitmaps.EQUAL ^ (flip & 1)).array


def _equal_boolean(array: Array, value: Any, flip: int) -> Any:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"right: expected bool, got {type(value).__name__}")
    table = bitmaps.SAME if value else bitmaps.NOT
    return combined_values(array, array, table ^ (flip & 1)).array


def _equal_string(array: Array, value: Any, flip: int) -> Any:
    expected: type = str if _kind(array) == "string" else bytes
    if not isinstance(value, str | bytes) or (expected is str and not isinstance(value, str)):
        raise TypeError(f"right: expected {expected.__name__}, got {type(value).__name__}")
    return equal_string(array, value.encode() if isinstance(value, str) else value, flip)


_STRINGS = _Comparer(equal_strings, _equal_string)

_SPECIAL: dict[type[s.DataType], _Comparer] = {
    s.Bool: _Comparer(_equal_booleans, _equal_boolean),
}

_COMPARERS: dict[str, _Comparer] = {
    "fixed-size primitive": _Comparer(_equal_numbers, _equal_number),
    "variable-size binary": _STRINGS,
    "variable-size binary view": _STRINGS,
}
