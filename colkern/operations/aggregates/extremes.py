"""The least and the greatest value: found by keys whose order is that of the values.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.layouts import Role, layout
from colkern.memory import Buffer
from colkern.operations.aggregates.encodings import (
    ENCODED,
    enough,
    run_values,
    used_values,
    valid_bits,
    value_type,
)
from colkern.operations.aggregates.sums import sum_bools
from colkern.operations.casting.decimals import words_of
from colkern.operations.remedies import instead_of_order
from colkern.operations.validation import require_valid
from colkern.targets import on_its_device, target_of

_PIECE = {"cpu": 1 << 14, "cuda": 64}
"""How many slots a piece has: few on a GPU, so that each of its threads has some."""

_WORD = 1 << 64


def extreme(array: Array, greatest: bool, skip_nulls: bool, min_count: int) -> Any:
    """The least or the greatest value as a Python object; None if there is none."""
    values = _ordered(array, skip_nulls, min_count)
    return None if values is None else _found(values, greatest)


def both_extremes(array: Array, skip_nulls: bool, min_count: int) -> tuple[Any, Any]:
    """As `extreme`, of both; in one pass over numbers."""
    values = _ordered(array, skip_nulls, min_count)
    if values is None:
        return None, None
    find = _BOTH.get(values.type.storage.__class__)
    if find is None:
        return _found(values, False), _found(values, True)
    least, greatest = find(values)
    return _scalar(least, values.type), _scalar(greatest, values.type)


def _found(values: Array, greatest: bool) -> Any:
    """The least or the greatest value as a Python object."""
    return _scalar(_EXTREMES[values.type.storage.__class__](values, greatest), values.type)


def _ordered(array: Array, skip_nulls: bool, min_count: int) -> Array | None:
    """The values that an extreme is found among, some of them valid; None if it is None."""
    if value_type(array).__class__ not in _EXTREMES:
        raise UnsupportedError(
            f"no order of the values of {array.type}; {instead_of_order(value_type(array))}"
        )
    require_valid(array)
    if not enough(array, skip_nulls, min_count):
        return None
    while isinstance(array.type.storage, ENCODED):
        # An extension of an encoded array has its meaning in the storage's values.
        array = used_values(array) if array.dictionary is not None else run_values(array)[0]
    return None if array.length == array.null_count else array


def _scalar(stored: Any, type: s.DataType) -> Any:
    """A value as a Python object, from what is stored for it: a number, or the bytes as words."""
    if isinstance(type, s.Int | s.FloatingPoint):
        return stored
    if not isinstance(stored, np.ndarray):
        stored = np.array([stored], layout(type).buffers[1].dtype)
    return Array(type, 1, [None, Buffer(stored.view(np.uint8))], null_count=0)[0]


def _number_extreme(array: Array, greatest: bool) -> float:
    """Of numbers of 64 bits or less: found by their keys, see `kernels.least_key`."""
    target = target_of(array.device)
    items = array.items(Role.DATA)
    keys = _KEYS[items.dtype.str[1:]]
    words = items.view(_SIGNED[items.dtype.itemsize])
    # In the opposite order, all bits of a key are turned over.
    given = (~keys.flip, keys.low, ~keys.highest, ~keys.lowest, keys.most) if greatest else keys
    key = int(target.reduce(kernels.least_key, array.length, words, *valid_bits(array), *given))
    return keys.number(~key if greatest else key)


@on_its_device
def _number_extremes(array: Array) -> tuple[float, float]:
    """Of numbers of 64 bits or less, both in one pass; see `kernels.extremes`."""
    target = target_of(array.device)
    items = array.items(Role.DATA)
    keys = _KEYS[items.dtype.str[1:]]
    words = items.view(_SIGNED[items.dtype.itemsize])
    size = _PIECE[target.device.kind]
    out = target.output(2 * -(-array.length // size), words.dtype)
    args = (words, *valid_bits(array), size, *keys, out)
    target.map(kernels.extremes, len(out) // 2, *args, work=size)
    return keys.number(int(out[0::2].min())), keys.number(int(out[1::2].max()))


class _Keys(NamedTuple):
    """How numbers of a type become keys, as `kernels.least_key` takes it."""

    flip: int
    low: int
    lowest: int
    highest: int
    most: int

    def number(self, key: int) -> float:
        """The number that a key stands for; NaN if it does not count."""
        if not self.lowest <= key <= self.highest:
            return float("nan")
        if not self.low:
            return key ^ self.flip if not self.flip else (key ^ self.flip) & (2 * self.most + 1)
        bits = key ^ self.low if key < 0 else key
        width = (self.most.bit_length() + 1) // 8
        return float(np.array([bits], _SIGNED[width]).view(f"f{width}")[0])


_SIGNED = {width: np.dtype(f"i{width}") for width in (1, 2, 4, 8)}


def _keys(code: str) -> _Keys:
    dtype = np.dtype(code)
    most = (1 << 8 * dtype.itemsize - 1) - 1
    if dtype.kind == "f":
        infinite = int(np.array([np.inf], dtype).view(_SIGNED[dtype.itemsize])[0])
        return _Keys(0, most, ~infinite, infinite, most)
    return _Keys(~most if dtype.kind == "u" else 0, 0, ~most, most, most)


_KEYS = {
    code: _keys(code) for code in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
}


def _bool_extreme(array: Array, greatest: bool) -> int:
    true = sum_bools(array)
    return int(true > 0 if greatest else true == array.length - array.null_count)


def _decimal_extreme(array: Array, greatest: bool) -> Any:
    """Of numbers of one word as of others; else found from the highest word down."""
    words, width = words_of(array)
    if width == 1:
        return _number_extreme(array, greatest)
    target = target_of(array.device)
    found = [0] * width
    for level in reversed(range(width)):
        flip = 1 << 63 if level == width - 1 else 0
        flip ^= _WORD - 1 if greatest else 0
        above = target.table(found, np.uint64)
        args = (words, width, level, np.uint64(flip), above, *valid_bits(array))
        found[level] = int(target.reduce(kernels.least_word, array.length, *args)) ^ flip
    return np.array(found, np.uint64)


_NUMBERS = (s.Int, s.FloatingPoint, s.Date, s.Time, s.Timestamp, s.Duration)

_EXTREMES: dict[type[s.DataType], Callable[[Array, bool], Any]] = {
    **dict.fromkeys(_NUMBERS, _number_extreme),
    s.Bool: _bool_extreme,
    s.Decimal: _decimal_extreme,
    s.Null: lambda array, greatest: None,
}
"""The least or the greatest value of some, as it is stored."""

_BOTH: dict[type[s.DataType], Callable[[Array], tuple[Any, Any]]] = dict.fromkeys(
    _NUMBERS, _number_extremes
)
"""Both at once, where that is faster."""
