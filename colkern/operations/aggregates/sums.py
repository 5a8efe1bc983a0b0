"""Sums: of integers, floating-point numbers, booleans, decimals, and of runs of them.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import count_set_bits
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.layouts import Role
from colkern.operations.aggregates.encodings import (
    ENCODED,
    decoded,
    run_values,
    valid_bits,
    value_type,
)
from colkern.operations.casting.decimals import words_of
from colkern.operations.casting.dispatch import convert
from colkern.operations.casting.results import retyped
from colkern.operations.operands import validity_of
from colkern.operations.remedies import instead_of_sum
from colkern.targets import on_its_device, target_of

_PIECE = {"cpu": 1 << 14, "cuda": 64}
"""How many slots a piece has: few on a GPU, so that each of its threads has some."""

_WORD = 1 << 64


def sum_bools(array: Array) -> int:
    """How many are true."""
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
    total = int(target.reduce(kernels.sum_integers, array.length, items, *valid_bits(array)))
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


@on_its_device
def _sum_of_floats(array: Array, items: Any) -> float:
    """The sum of float32 or float64 items under the validity of an array."""
    target = target_of(array.device)
    pieces = -(-len(items) // (kernels.LANES * kernels.ROUNDS))
    sums = target.output(pieces * kernels.LANES, np.float64)
    args = (items, *valid_bits(array), sums)
    target.map(kernels.sum_floats, len(sums), *args, work=kernels.ROUNDS)
    # Infinities and NaN are values like others.
    with np.errstate(over="ignore", invalid="ignore"):
        return float(sums.sum())


def _sum_decimals(array: Array) -> Any:
    type_ = array.type
    assert isinstance(type_, s.Decimal)
    if type_.bit_width == 32:
        return _decimal(_sum_integers(retyped(array, s.int32())), type_.scale)
    bits = 256 if type_.bit_width == 256 else 128
    total = _whole_sum(array)
    if not -1 << bits - 1 <= total < 1 << bits - 1:
        wider = "; cast to decimal256 first" if bits == 128 else ""
        found = _decimal(total, type_.scale)
        raise OverflowError(f"sum: {found} does not fit the {bits} bits of {type_}{wider}")
    return _decimal(total, type_.scale)


@on_its_device
def _whole_sum(array: Array) -> int:
    """The sum of integers or of decimals without their point, as large as it is."""
    if array.length == 0:
        return 0
    target = target_of(array.device)
    words, width = words_of(array)
    signed = not isinstance(array.type, s.Int) or array.type.signed
    size = _PIECE[target.device.kind]
    out = target.output(-(-array.length // size) * 2 * width, np.uint64)
    args = (words, width, *valid_bits(array), size, np.uint64(1 << 63 if signed else 0))
    target.map(kernels.sum_words, len(out) // (2 * width), *args, out, work=size)
    total = 0
    for position, column in enumerate(out.reshape(-1, 2 * width).sum(axis=0).tolist()):
        total += int(column) << 32 * position
    # What was turned over has made each number larger by as much.
    return total - (array.length - array.null_count << 64 * width - 1) if signed else total


def exact_sum(array: Array) -> Any:
    """The sum that a mean is of: integers do not wrap around."""
    if value_type(array) in (s.int64(), s.uint64()):
        return _whole_sum(decoded(array) if isinstance(array.type, ENCODED) else array)
    return summing(array, "mean")(array)


def decimal_mean(array: Array, type_: s.Decimal, values: int) -> Any:
    """The mean of so many decimals of that type, rounded half away from zero."""
    array = decoded(array) if isinstance(array.type, ENCODED) else array
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
    values, lengths = run_values(array)
    target = target_of(array.device)
    type_ = values.type
    if isinstance(type_, s.Int):
        items = values.items(Role.DATA)
        items = items.view(np.int64) if type_.bit_width == 64 else items
        out = target.output(values.length, np.int64)
        target.map(kernels.weigh_integers, values.length, items, lengths, out)
        made = Array(s.int64(), values.length, [None, target.buffer(out)], null_count=0)
        bitmap = valid_bits(values)
        total = target.reduce(kernels.sum_integers, values.length, made.items(Role.DATA), *bitmap)
        return _wrapped(int(total), type_.signed)
    if isinstance(type_, s.FloatingPoint) and type_.bit_width > 16:
        out = target.output(values.length, np.float64)
        items = values.items(Role.DATA)
        target.map(kernels.weigh_floats, values.length, items, lengths, out)
        return _sum_of_floats(values, target.frozen(out))
    return how(decoded(array))


_SUMS: dict[type[s.DataType], Callable[[Array], Any]] = {
    s.Bool: sum_bools,
    s.Int: _sum_integers,
    s.FloatingPoint: _sum_floats,
    s.Decimal: _sum_decimals,
    s.Null: lambda array: 0,
}


def summing(array: Array, what: str) -> Callable[[Array], Any]:
    """What sums the values of an array like this one.

    Raises:
        UnsupportedError: If they have no sum.
    """
    found = _SUMS.get(value_type(array).__class__)
    if found is None:
        raise UnsupportedError(
            f"{what}: no sum of the values of {array.type}; {instead_of_sum(value_type(array))}"
        )
    if isinstance(array.type, s.Dictionary):
        return lambda array: found(decoded(array))
    if isinstance(array.type, s.RunEndEncoded):
        return lambda array: _sum_of_runs(array, found)
    return found
