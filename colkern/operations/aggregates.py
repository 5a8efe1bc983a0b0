"""Aggregates: one value from a whole array: sums, extremes, counts.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.kernels import bitmaps, runs
from colkern.layouts import Role, layout
from colkern.memory import EMPTY, Buffer
from colkern.operations.casting.decimals import words_of
from colkern.operations.casting.dispatch import convert
from colkern.operations.casting.results import retyped
from colkern.operations.dictionaries import dictionary_decode
from colkern.operations.targets import target_of, validity_of
from colkern.operations.validation import require_valid
from colkern.operations.validity import combine_validity, count_set_bits

CountMode = Literal["only_valid", "only_null", "all"]

_PIECE = {"cpu": 1 << 14, "cuda": 64}
"""How many slots a piece has: few on a GPU, so that each of its threads has some."""

_WORDS_PIECE = {"cpu": 1 << 14, "cuda": 64}

_WORD = 1 << 64


def count(array: Array, mode: CountMode = "only_valid") -> int:
    """How many values an array has.

    Dictionaries and runs count by the values that their slots stand for.

    Args:
        array: Any array but a union.
        mode: `only_valid`, `only_null` or `all`.

    Raises:
        ValueError: If there is no such mode.
        UnsupportedError: If nulls of a union are to be told from others.
    """
    if mode not in get_args(CountMode):
        raise ValueError(f"mode: expected one of {get_args(CountMode)}, got {mode!r}")
    if mode == "all":
        return array.length
    require_valid(array)
    valid = _count_valid(array)
    return valid if mode == "only_valid" else array.length - valid


def sum(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The sum of the values; of integers modulo 2**64, as an int64 or uint64; of booleans, how many.

    Floats are summed as float64. Decimals give a `decimal.Decimal`, within 128 bits (256 for those of
    256) and past the type's precision.

    Args:
        array: Numbers, booleans or decimals, also dictionary-encoded or run-end encoded.
        skip_nulls: If False, any null makes the sum None.
        min_count: With fewer values, the sum is None.

    Raises:
        UnsupportedError: If the type has no sum.
        InvalidArrowError: If `array` points outside its own memory.
    """
    array = _checked(array)
    how = _of_values(array, _SUMS, "sum")
    return how(array) if _enough(array, skip_nulls, min_count) else None


def mean(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The mean of the values, a float: of none NaN. Of decimals a `Decimal` of their scale, or None.

    That of decimals is rounded half away from zero. The rest is as in `sum`, but integers do not wrap
    around.

    Raises:
        UnsupportedError: If the type has no mean.
        InvalidArrowError: If `array` points outside its own memory.
    """
    array = _checked(array)
    _of_values(array, _SUMS, "mean")
    if not _enough(array, skip_nulls, min_count):
        return None
    values = _count_valid(array)
    type_ = _value_type(array)
    if isinstance(type_, s.Decimal):
        return _decimal_mean(array, type_, values) if values else None
    if values == 0:
        return float("nan")
    return _exact_sum(array) / values


def min(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The least value, or None if there is none; NaN only if all values are.

    Args:
        array: Numbers, booleans, decimals, dates, times, timestamps or durations, also
            dictionary-encoded (only values that are used count) or run-end encoded.
        skip_nulls: If False, any null makes the result None.
        min_count: With fewer values, the result is None.

    Raises:
        UnsupportedError: If values of the type have no order here.
        InvalidArrowError: If `array` points outside its own memory.
    """
    return _extreme(array, False, skip_nulls, min_count)


def max(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The greatest value; as `min`."""
    return _extreme(array, True, skip_nulls, min_count)


def min_max(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> dict[str, Any]:
    """The least and the greatest value, as `{"min": …, "max": …}`; as `min`, in one pass."""
    values = _ordered(array, skip_nulls, min_count)
    if values is None:
        return {"min": None, "max": None}
    find = _BOTH.get(values.type.storage.__class__)
    if find is None:
        return {"min": _found(values, False), "max": _found(values, True)}
    least, greatest = find(values)
    return {"min": _scalar(least, values.type), "max": _scalar(greatest, values.type)}


def any(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> bool | None:
    """Whether any value is true.

    Args:
        array: Booleans, also dictionary-encoded or run-end encoded.
        skip_nulls: If False, a null stands for an unknown value: without a true one, the result is
            then None.
        min_count: With fewer values, the result is None.

    Raises:
        TypeError: If the values are not booleans.
        InvalidArrowError: If `array` points outside its own memory.
    """
    return _decided(array, True, skip_nulls, min_count)


def all(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> bool | None:
    """Whether every value is true; as `any`, with false for true."""
    return _decided(array, False, skip_nulls, min_count)


def _decided(array: Array, deciding: bool, skip_nulls: bool, min_count: int) -> bool | None:
    """Whether a boolean array has that value, told as `any` and `all` tell it."""
    array = _checked(array)
    if not isinstance(_value_type(array), s.Bool):
        raise TypeError(f"array: expected booleans, got {array.type}")
    valid = _count_valid(array)
    if valid < min_count:
        return None
    true = _of_values(array, _SUMS, "sum")(array)
    if (true if deciding else valid - true) > 0:
        return deciding
    return not deciding if skip_nulls or valid == array.length else None


# Encoded arrays


_ENCODED = (s.Dictionary, s.RunEndEncoded)


def _checked(array: Array) -> Array:
    """The array, checked, as its storage: an extension's values are summed and ordered as that."""
    require_valid(array)
    while isinstance(array.type, s.Extension):
        array = retyped(array, array.type.storage_type)
    return array


def _value_type(array: Array) -> s.DataType:
    """The type of the values, whatever encodes them."""
    found = array.type.storage
    while isinstance(found, _ENCODED):
        found = found.value_type.storage
    return found


def _of_values(
    array: Array, table: dict[type[s.DataType], Callable[[Array], Any]], what: str
) -> Callable[[Array], Any]:
    found = table.get(_value_type(array).__class__)
    if found is None:
        raise UnsupportedError(f"{what} of {array.type}")
    if isinstance(array.type, s.Dictionary):
        return lambda array: found(_decoded(array))
    if isinstance(array.type, s.RunEndEncoded):
        return lambda array: _sum_of_runs(array, found)
    return found


def _decoded(array: Array) -> Array:
    """The values of an encoded array, one a slot."""
    return convert(array, _value_type(array), True)


def _run_values(array: Array) -> tuple[Array, Any]:
    """The values of the runs that the array's slots are in, and how many slots each has (int64[])."""
    target = target_of(array.device)
    ends = array.children[0].items(Role.DATA)
    if array.length == 0:
        return array.children[1].slice(0, 0), target.allocate(0, np.int64)
    places = target.table([0, array.length - 1], np.int64)
    found = target.output(2, np.int64)
    target.map(runs.find_runs, 2, ends, places, array.offset, found)
    first, last = target.item(found, 0), target.item(found, 1)
    lengths = target.output(last - first + 1, np.int64)
    args = (ends, first, array.offset, array.length)
    target.map(kernels.lengths_of_runs, len(lengths), *args, lengths)
    return array.children[1].slice(first, last - first + 1), target.frozen(lengths)


def _used_values(array: Array) -> Array:
    """The dictionary of an array, null where no valid slot points to."""
    dictionary = array.dictionary
    assert dictionary is not None
    target = target_of(array.device)
    used = target.allocate(dictionary.length, np.uint8)
    items, validity = array.items(Role.DATA), validity_of(array, target)
    target.map(kernels.mark_used, array.length, items, *validity, used)
    bits = target.output((dictionary.length + 7) // 8, np.uint8)
    target.map(bitmaps.pack_bits, len(bits), target.frozen(used), dictionary.length, bits)
    mask = target.buffer(bits)
    marked = Array(s.bool_(), dictionary.length, [mask, mask])
    valid, nulls = combine_validity([dictionary, marked])
    if valid is None:
        return dictionary
    return _with_validity(dictionary, valid, nulls)


def _with_validity(array: Array, valid: Buffer, nulls: int) -> Array:
    """An array of fixed-size values with another bitmap, from bit 0 on."""
    data = array.buffers[1] or EMPTY
    if isinstance(array.type.storage, s.Bool):
        target = target_of(array.device)
        out = target.output((array.length + 7) // 8, np.uint8)
        args = (data.array, array.offset, array.length)
        target.map(bitmaps.copy_bits, len(out), *args, out)
        data = target.buffer(out)
    else:
        size = array.layout.buffers[1].dtype.itemsize
        data = data[array.offset * size : (array.offset + array.length) * size]
    return Array(array.type, array.length, [valid, data], null_count=nulls)


# Counts


def _enough(array: Array, skip_nulls: bool, min_count: int) -> bool:
    """Whether an aggregate of the array is not None."""
    valid = _count_valid(array)
    return valid >= min_count and (skip_nulls or valid == array.length)


def _count_valid(array: Array) -> int:
    type_ = array.type.storage
    if isinstance(type_, s.RunEndEncoded):
        if isinstance(type_.value_type.storage, s.Dictionary | s.RunEndEncoded | s.Union):
            return _count_valid(_decoded(array))
        values, lengths = _run_values(array)
        if values.layout.name == "null":
            return 0
        if values.null_count == 0:
            return array.length
        target = target_of(array.device)
        validity = validity_of(values, target)
        return int(target.reduce(kernels.sum_integers, values.length, lengths, *validity))
    if isinstance(type_, s.Dictionary):
        dictionary = array.dictionary
        assert dictionary is not None
        if array.length == array.null_count:
            return 0
        if dictionary.layout.has_validity and dictionary.null_count == 0:
            return array.length - array.null_count
        return _count_valid(dictionary_decode(array))
    if isinstance(type_, s.Union):
        raise UnsupportedError(f"nulls of {array.type}, which has none of its own")
    return array.length - array.null_count


# Sums


def _sum_bools(array: Array) -> int:
    target = target_of(array.device)
    data = array.buffer(Role.DATA)
    if data is None or array.length == 0:
        return 0
    if array.null_count == 0:
        return count_set_bits(data, array.offset, array.length)
    bits, offset = validity_of(array, target)
    words = (array.length + 63) // 64
    args = (data.array, array.offset, bits, offset, array.length)
    return int(target.reduce(kernels.count_common_bits, words, *args))


def _sum_integers(array: Array) -> int:
    type_ = array.type
    assert isinstance(type_, s.Int)
    target = target_of(array.device)
    items = array.items(Role.DATA)
    if type_.bit_width == 64:
        items = items.view(np.int64)
    total = int(target.reduce(kernels.sum_integers, array.length, items, *_bitmap(array)))
    return _wrapped(total, type_.signed)


def _wrapped(total: int, signed: bool) -> int:
    """A sum within 64 bits."""
    total %= _WORD
    return total - _WORD if signed and total >= _WORD // 2 else total


def _sum_floats(array: Array) -> float:
    type_ = array.type
    assert isinstance(type_, s.FloatingPoint)
    if type_.bit_width == 16:
        array = convert(array, s.float32(), True)
    return _sum_of_floats(array, array.items(Role.DATA))


def _sum_of_floats(array: Array, items: Any) -> float:
    """The sum of float32 or float64 items under the validity of an array."""
    target = target_of(array.device)
    pieces = -(-len(items) // (kernels.LANES * kernels.ROUNDS))
    sums = target.output(pieces * kernels.LANES, np.float64)
    target.map(kernels.sum_floats, len(sums), items, *_bitmap(array), sums)
    # Infinities and NaN are values like others.
    with np.errstate(over="ignore", invalid="ignore"):
        return float(sums.sum())


def _sum_decimals(array: Array) -> Any:
    type_ = array.type
    assert isinstance(type_, s.Decimal)
    if type_.bit_width == 32:
        return _decimal(_sum_integers(retyped(array, s.int32())), type_.scale)
    bits = 256 if type_.bit_width == 256 else 128
    total = _whole_sum(array) % (1 << bits)
    return _decimal(total - (total >> bits - 1 << bits), type_.scale)


def _whole_sum(array: Array) -> int:
    """The sum of integers or of decimals without their point, as large as it is."""
    if array.length == 0:
        return 0
    target = target_of(array.device)
    words, width = words_of(array)
    signed = not isinstance(array.type, s.Int) or array.type.signed
    size = _WORDS_PIECE[target.device.kind]
    out = target.output(-(-array.length // size) * 2 * width, np.uint64)
    args = (words, width, *_bitmap(array), size, np.uint64(1 << 63 if signed else 0))
    target.map(kernels.sum_words, len(out) // (2 * width), *args, out)
    total = 0
    for position, column in enumerate(out.reshape(-1, 2 * width).sum(axis=0).tolist()):
        total += int(column) << 32 * position
    # What was turned over has made each number larger by as much.
    return total - (array.length - array.null_count << 64 * width - 1) if signed else total


def _exact_sum(array: Array) -> Any:
    """The sum that a mean is of: integers do not wrap around."""
    if _value_type(array) in (s.int64(), s.uint64()):
        return _whole_sum(_decoded(array) if isinstance(array.type, _ENCODED) else array)
    return _of_values(array, _SUMS, "mean")(array)


def _decimal_mean(array: Array, type_: s.Decimal, values: int) -> Any:
    array = _decoded(array) if isinstance(array.type, _ENCODED) else array
    narrow = type_.bit_width == 32
    whole = _sum_integers(retyped(array, s.int32())) if narrow else _whole_sum(array)
    size, rest = divmod(abs(whole), values)
    size += 2 * rest >= values
    return _decimal(size if whole >= 0 else -size, type_.scale)


def _decimal(number: int, scale: int) -> Any:
    from decimal import Context, Decimal

    return Context(prec=100).scaleb(Decimal(number), -scale)


def _sum_of_runs(array: Array, how: Callable[[Array], Any]) -> Any:
    """The sum of what is run-end encoded: each value times the length of its run."""
    values, lengths = _run_values(array)
    target = target_of(array.device)
    type_ = values.type
    if isinstance(type_, s.Int):
        items = values.items(Role.DATA)
        items = items.view(np.int64) if type_.bit_width == 64 else items
        out = target.output(values.length, np.int64)
        target.map(kernels.weigh_integers, values.length, items, lengths, out)
        made = Array(s.int64(), values.length, [None, target.buffer(out)], null_count=0)
        bitmap = _bitmap(values)
        total = target.reduce(kernels.sum_integers, values.length, made.items(Role.DATA), *bitmap)
        return _wrapped(int(total), type_.signed)
    if isinstance(type_, s.FloatingPoint) and type_.bit_width > 16:
        out = target.output(values.length, np.float64)
        items = values.items(Role.DATA)
        target.map(kernels.weigh_floats, values.length, items, lengths, out)
        return _sum_of_floats(values, target.frozen(out))
    return how(_decoded(array))


_SUMS: dict[type[s.DataType], Callable[[Array], Any]] = {
    s.Bool: _sum_bools,
    s.Int: _sum_integers,
    s.FloatingPoint: _sum_floats,
    s.Decimal: _sum_decimals,
    s.Null: lambda array: 0,
}


# Extremes


def _extreme(array: Array, greatest: bool, skip_nulls: bool, min_count: int) -> Any:
    values = _ordered(array, skip_nulls, min_count)
    return None if values is None else _found(values, greatest)


def _found(values: Array, greatest: bool) -> Any:
    """The least or the greatest value as a Python object."""
    return _scalar(_EXTREMES[values.type.storage.__class__](values, greatest), values.type)


def _ordered(array: Array, skip_nulls: bool, min_count: int) -> Array | None:
    """The values that an extreme is found among, some of them valid; None if it is None."""
    if _value_type(array).__class__ not in _EXTREMES:
        raise UnsupportedError(f"order of the values of {array.type}")
    require_valid(array)
    if not _enough(array, skip_nulls, min_count):
        return None
    while isinstance(array.type.storage, _ENCODED):
        # An extension of an encoded array has its meaning in the storage's values.
        array = _used_values(array) if array.dictionary is not None else _run_values(array)[0]
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
    key = int(target.reduce(kernels.least_key, array.length, words, *_bitmap(array), *given))
    return keys.number(~key if greatest else key)


def _number_extremes(array: Array) -> tuple[float, float]:
    """Of numbers of 64 bits or less, both in one pass; see `kernels.extremes`."""
    target = target_of(array.device)
    items = array.items(Role.DATA)
    keys = _KEYS[items.dtype.str[1:]]
    words = items.view(_SIGNED[items.dtype.itemsize])
    size = _PIECE[target.device.kind]
    out = target.output(2 * -(-array.length // size), words.dtype)
    target.map(kernels.extremes, len(out) // 2, words, *_bitmap(array), size, *keys, out)
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
    true = _sum_bools(array)
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
        args = (words, width, level, np.uint64(flip), above, *_bitmap(array))
        found[level] = int(target.reduce(kernels.least_word, array.length, *args)) ^ flip
    return np.array(found, np.uint64)


def _bitmap(array: Array) -> tuple[Any, int]:
    """The validity as kernels take it; none if nothing is null, which is counted once."""
    target = target_of(array.device)
    return validity_of(array, target) if array.null_count else (target.table([], np.uint8), 0)


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
