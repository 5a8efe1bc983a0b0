"""What `equal` and `less` and their like share: two arrays of one type, or an array and a value.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import LayoutKind, Role
from colkern.memory import Buffer
from colkern.missing import is_null
from colkern.operations.creation import nulls
from colkern.operations.encodings import decoded, on_values
from colkern.operations.numbers import number_of
from colkern.operations.validation import require_valid
from colkern.operations.validity import combine_validity, compact_validity
from colkern.targets import target_of

_BOOL = s.bool_()


class Comparer(NamedTuple):
    """How values of some type are compared.

    Args:
        arrays: Of two arrays and what is asked of their values, the bits.
        value: Of an array, a value and what is asked, the bits.
    """

    arrays: Callable[[Array, Array, Any], Any]
    value: Callable[[Array, Any, Any], Any]


def compared(left: Array, right: Any, comparer: Callable[[Array], Comparer], asked: Any) -> Array:
    """Booleans, slot by slot, null where either is null.

    Args:
        left: An array.
        right: An array of the same length and type on the same device, or a value of that type.
        comparer: How the values of an array are compared, which is not dictionary- or run-end
            encoded; raises `UnsupportedError` if they cannot be.
        asked: What is asked of each pair, for the comparer.

    Raises:
        TypeError: If the types differ, or the value is of another one.
        ValueError: If the lengths or the devices differ, or the value does not fit the type.
        UnsupportedError: If `comparer` does.
        InvalidArrowError: If an array points outside its own memory.
    """
    require_valid(left)
    if isinstance(right, Array):
        return _compare_arrays(left, right, comparer, asked)
    return on_values(left, lambda values: _compare_value(values, right, comparer, asked))


def _compare_arrays(
    left: Array, right: Array, comparer: Callable[[Array], Comparer], asked: Any
) -> Array:
    if left.length != right.length:
        raise ValueError(f"right: {right.length} values, left has {left.length}")
    if left.device != right.device:
        raise ValueError(f"right: on {right.device}, left is on {left.device}")
    require_valid(right)
    left, right = decoded(left), decoded(right)
    if _kind(left) is None or _kind(left) != _kind(right):
        _require_same_type(left, right)
    if left.layout.kind is LayoutKind.NULL:
        return nulls(left.length, _BOOL, left.device)
    validity, count = combine_validity([left, right])
    bits = comparer(left).arrays(left, right, asked)
    return _booleans(left, validity, bits, count)


def _compare_value(
    array: Array, value: Any, comparer: Callable[[Array], Comparer], asked: Any
) -> Array:
    if is_null(value) or array.layout.kind is LayoutKind.NULL:
        return nulls(array.length, _BOOL, array.device)
    bits = comparer(array).value(array, value, asked)
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
    """Whether values of variable size are a "string" or "binary"; None for others."""
    return _KINDS.get(type(array.type.storage))


def _require_same_type(left: Array, right: Array) -> None:
    if not s.same_type(left.type, right.type):
        raise TypeError(f"right: expected {left.type}, got {right.type}; cast one of them")


def output_for(array: Array) -> Any:
    """Where the bits of an array go, on its device (uint8[])."""
    return target_of(array.device).output((array.length + 7) // 8, np.uint8)


def _one(array: Array, value: Any) -> Array:
    """The value, which is not null, as an array of one slot on the host."""
    from colkern.builders.nested import build
    from colkern.builders.parts import BadValue

    try:
        return build(array.type.storage, [value])
    except BadValue as error:
        raise error.kind(_about_value(error.message, array)) from None


def _about_value(what: object, array: Array) -> str:
    """The message of an error about the value that an array is compared with."""
    return f"right: {what}; the array is of {array.type}"


def item_of(array: Array, value: Any) -> Any:
    """The value as an array stores it, one item on the host."""
    type_ = array.type.storage
    if isinstance(type_, s.Int | s.FloatingPoint) and type_.bit_width != 16:
        number = number_of(value, type_, "right")
        return np.array([number], number.dtype)
    return _one(array, value).items(Role.DATA)


def boolean_of(array: Array, value: Any) -> bool:
    """The value as a boolean, for an array of them."""
    from colkern.builders.parts import wrong

    if not isinstance(value, bool | np.bool_):
        raise TypeError(_about_value(wrong("bool", value), array))
    return bool(value)


def bytes_of(array: Array, value: Any) -> bytes:
    """The value as an array of strings or of binary values stores it."""
    from colkern.builders.parts import wrong

    expected: type = str if _kind(array) == "string" else bytes
    if not isinstance(value, str | bytes) or (expected is str and not isinstance(value, str)):
        raise TypeError(_about_value(wrong(expected.__name__, value), array))
    return value.encode() if isinstance(value, str) else value
