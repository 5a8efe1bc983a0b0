"""The least and the greatest value, found by integer keys in the order of the values.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import unpack
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.dispatch import BINARY, ENCODED, NESTED, TEXT, TIMES, Dispatch, by_type
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.layouts import LayoutKind, Role, layout
from colkern.memory import Buffer, DType
from colkern.operations.aggregates.encodings import is_enough, run_values, used_values
from colkern.operations.aggregates.sums import PIECE, sum_bools
from colkern.operations.moving import few_on_host
from colkern.operations.operands import validity_of, value_type_of
from colkern.operations.position_checks import require_valid
from colkern.operations.remedies import instead_of_order
from colkern.operations.selection.words import own_words
from colkern.operations.string_data import extreme_position
from colkern.operations.validity import split_nulls
from colkern.targets import on_its_device, target_of

_WORD = 1 << 64

Stored: TypeAlias = int | float | str | bytes | NDArray[np.uint64]
"""A value as arrays store it: a number, or the words of one; or text or bytes."""

Scalar: TypeAlias = object
"""A value as `Array.to_pylist` gives it, or None."""


def extreme(array: Array, greatest: bool, skip_nulls: bool, min_count: int) -> Scalar:
    """The least or the greatest value as a Python object; None if there is none."""
    values = _ordered(array, skip_nulls, min_count)
    if values is None:
        return None
    type_ = values.type.storage
    value = _EXTREMES[type(type_)](values, greatest)
    return value if isinstance(type_, _NUMBERS) else _scalars([value], type_)[0]


def both_extremes(array: Array, skip_nulls: bool, min_count: int) -> tuple[Scalar, Scalar]:
    """As `extreme`, for the least and the greatest value; numbers are read in one pass."""
    values = _ordered(array, skip_nulls, min_count)
    if values is None:
        return None, None
    type_ = values.type.storage
    find = _EXTREMES[type(type_)]
    both = (
        _number_extremes(values)
        if find is _number_extreme
        else (find(values, False), find(values, True))
    )
    least, greatest = _scalars(both, type_)
    return least, greatest


def _ordered(array: Array, skip_nulls: bool, min_count: int) -> Array | None:
    """The values to search for an extreme, at least one of them valid; None if there is no extreme."""
    if type(array.type) not in _EXTREMES and type(type_ := value_type_of(array)) not in _EXTREMES:
        raise UnsupportedError(f"no order of the values of {array.type}; {instead_of_order(type_)}")
    if not array._checked:
        require_valid(array)
    if not is_enough(array, skip_nulls, min_count if min_count > 1 else 1):
        return None
    # The meaning of an extension of an encoded type is in the values of its storage.
    while array.layout.kind in (LayoutKind.DICTIONARY, LayoutKind.RUN_END_ENCODED):
        array = used_values(array) if array.dictionary is not None else run_values(array)[0]
    return array


_NUMBERS = (s.Int, s.FloatingPoint)


def _scalars(stored: Sequence[Stored], type_: s.DataType) -> Sequence[Scalar]:
    """Values as Python objects, from the numbers or words that are stored for them."""
    if isinstance(type_, _NUMBERS) or isinstance(stored[0], str | bytes):
        return stored
    if isinstance(type_, s.Bool):
        return [value == 1 for value in stored]
    items = np.array(
        stored,
        stored[0].dtype if isinstance(stored[0], np.ndarray) else layout(type_).buffers[1].dtype,
    )
    data = Buffer.of_items(items.reshape(-1))
    return Array.of_valid(type_, len(stored), (None, data), 0).to_pylist()


_EXTREMES: Dispatch[type[s.DataType], Callable[[Array, bool], Stored]] = by_type(
    "min and max", s.Interval, s.Extension, *NESTED, *ENCODED
)
"""The least or the greatest value of some, as it is stored."""


@_EXTREMES.of(s.Null)
def _no_extreme(array: Array, greatest: bool) -> Stored:
    raise AssertionError("an array of nulls has no valid slot")


@_EXTREMES.of(s.FixedSizeBinary, *TEXT, *BINARY)
def _text_extreme(array: Array, greatest: bool) -> Stored:
    split = split_nulls(array)[: array.length - array.null_count] if array.null_count else None
    value: str | bytes = few_on_host(array.slice(extreme_position(array, split, greatest), 1))[0]
    return value


@_EXTREMES.of(s.Int, s.FloatingPoint, *TIMES)
def _number_extreme(array: Array, greatest: bool) -> Stored:
    """The extreme of numbers of 64 bits or less, by their keys; see `kernels.least_key`."""
    target, items = target_of(array.device), array.items(Role.DATA)
    keys, words = _KEYS[items.dtype], items.view(_SIGNED[items.dtype.itemsize])
    # For the opposite order, all bits of a key are flipped.
    order = (~keys.flip, keys.low, ~keys.highest, ~keys.lowest, keys.most) if greatest else keys
    args = (words, *validity_of(array, target), *order)
    key = target.reduce(kernels.least_key, array.length, *args)
    return keys.number(~key if greatest else key)


@on_its_device
def _number_extremes(array: Array) -> tuple[float, float]:
    """Both extremes of numbers of 64 bits or less, in one pass; see `kernels.extremes`."""
    target, items = target_of(array.device), array.items(Role.DATA)
    keys, words = _KEYS[items.dtype], items.view(_SIGNED[items.dtype.itemsize])
    size = PIECE[target.device.kind]
    out = target.output(2 * -(-array.length // size), words.dtype)
    args = (words, *validity_of(array, target), size, *keys, out)
    target.map(kernels.extremes, len(out) // 2, *args, work=size)
    if len(out) == 2:
        least, most = out.tolist()
    else:
        least, most = int(out[0::2].min()), int(out[1::2].max())
    return keys.number(least), keys.number(most)


@_EXTREMES.of(s.Bool)
def _bool_extreme(array: Array, greatest: bool) -> Stored:
    true = sum_bools(array)
    return int(true > 0 if greatest else true == array.length - array.null_count)


@_EXTREMES.of(s.Decimal)
def _decimal_extreme(array: Array, greatest: bool) -> Stored:
    """The extreme of decimals; those of several words are compared from the highest word down."""
    words, width = own_words(array, Role.DATA)
    if width == 1:
        return _number_extreme(array, greatest)
    target = target_of(array.device)
    extreme = [0] * width
    for level in reversed(range(width)):
        flip = 1 << 63 if level == width - 1 else 0
        flip ^= _WORD - 1 if greatest else 0
        above = target.table(extreme, np.uint64)
        args = (words, width, level, np.uint64(flip), above, *validity_of(array, target))
        extreme[level] = target.reduce(kernels.least_word, array.length, *args) ^ flip
    return np.array(extreme, np.uint64)


class _Keys(NamedTuple):
    """The rule that turns numbers of a type into keys, as `kernels.least_key` takes it."""

    flip: int
    low: int
    lowest: int
    highest: int
    most: int

    def number(self, key: int) -> float:
        """The number with that key; NaN if the key is of no number."""
        if not self.lowest <= key <= self.highest:
            return float("nan")
        if not self.low:
            return key ^ self.flip if not self.flip else (key ^ self.flip) & (2 * self.most + 1)
        bits = key ^ self.low if key < 0 else key
        width = (self.most.bit_length() + 1) // 8
        (number,) = unpack(_FLOATS[width], bits.to_bytes(width, "little", signed=True))
        return float(number)


_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
"""Bytes of a float → its `struct` code; `struct` makes one in a third of the time of NumPy."""

_SIGNED = {width: np.dtype(f"i{width}") for width in (1, 2, 4, 8)}


def _keys(dtype: DType) -> _Keys:
    most = (1 << 8 * dtype.itemsize - 1) - 1
    if dtype.kind == "f":
        infinite = int(np.array([np.inf], dtype).view(_SIGNED[dtype.itemsize])[0])
        return _Keys(0, most, ~infinite, infinite, most)
    return _Keys(~most if dtype.kind == "u" else 0, 0, ~most, most, most)


_CODES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]

_KEYS = {dtype: _keys(dtype) for dtype in map(np.dtype, _CODES)}
