"""Sums of integers, floating-point numbers, booleans, decimals, and of runs of them.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from decimal import Context, Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import count_set_bits
from colkern.dispatch import BINARY, ENCODED, NESTED, TEXT, TIMES, Dispatch, by_type
from colkern.errors import UnsupportedError
from colkern.kernels import aggregates as kernels
from colkern.layouts import Role
from colkern.memory import HOST
from colkern.operations.aggregates.encodings import decoded, run_values, stored
from colkern.operations.casting.dispatch import convert, retyped
from colkern.operations.operands import validity_of, value_type_of
from colkern.operations.remedies import instead_of_sum
from colkern.operations.selection.words import own_words
from colkern.targets import Items, Target, on_its_device, target_of

PIECE = {"cpu": 1 << 14, "cuda": 64}
"""The slots that one item of work covers: few on a GPU, so that each of its threads has some."""

_WORD = 1 << 64

Sum: TypeAlias = int | float | Decimal

SUMS: Dispatch[type[s.DataType], Callable[[Array], Sum]] = by_type(
    "sum",
    *(s.Interval, s.FixedSizeBinary, s.Extension),
    *(*TEXT, *BINARY, *TIMES, *NESTED, *ENCODED),
)
"""The sum of a checked array whose nulls have been counted, by its type."""


def sum_of_values(array: Array, what: str) -> Callable[[Array], Sum]:
    """The function that sums checked arrays of a type, in any encoding, and of extension types.

    Raises:
        UnsupportedError: If such values have no sum.
    """
    add = SUMS.get(type(value_type_of(array)))
    if add is None:
        raise UnsupportedError(
            f"{what}: no sum of the values of {array.type}; {instead_of_sum(value_type_of(array))}"
        )
    if isinstance(array.type.storage, s.RunEndEncoded):
        return lambda array: _sum_of_runs(stored(array), add)
    return lambda array: add(decoded(array))


SUMS.of(s.Null)(lambda array: 0)


@SUMS.of(s.Bool)
def sum_bools(array: Array) -> int:
    """The number of true values."""
    data = array.buffer(Role.DATA)
    if data is None or array.length == 0:
        return 0
    if array.null_count == 0:
        return count_set_bits(data, array.offset, array.length)
    target = target_of(array.device)
    words = (array.length + 63) // 64
    args = (data.array, array.offset, *validity_of(array, target), array.length)
    return target.reduce(kernels.count_common_bits, words, *args)


def holds(array: Array, value: bool) -> bool:
    """Whether at least one slot of a checked array of booleans, in any encoding, is `value`."""
    array = stored(array)
    if isinstance(array.type, s.RunEndEncoded):
        array = run_values(array)[0]
    array = decoded(array)
    data = array.buffer(Role.DATA)
    if data is None or array.length == 0:
        return False
    target = target_of(array.device)
    args = (data.array, array.offset, *validity_of(array, target), int(not value), array.length)
    return target.reduce(kernels.has_bit, (array.length + 63) // 64, *args) > 0


@SUMS.of(s.Int)
def _sum_integers(array: Array) -> int:
    type_ = array.type
    assert isinstance(type_, s.Int)
    target, items = target_of(array.device), array.items(Role.DATA)
    items = items.view(np.int64) if type_.bit_width == 64 else items
    args = (items, *validity_of(array, target))
    total = target.reduce(kernels.sum_integers, array.length, *args)
    return _wrapped(total, type_.signed)


def _wrapped(total: int, signed: bool) -> int:
    """An integer sum wrapped around to 64 bits."""
    total %= _WORD
    return total - _WORD if signed and total >= _WORD // 2 else total


@SUMS.of(s.FloatingPoint)
def _sum_floats(array: Array) -> float:
    type_ = array.type
    assert isinstance(type_, s.FloatingPoint)
    if type_.bit_width == 16:
        array = convert(array, s.float32(), True)
    return sum_of_floats(array, array.items(Role.DATA))


_DOUBLE = np.dtype(np.float64)

_FEW_SUMS = 1 << 10
"""So many sums, or fewer, are added on the host."""


def sum_of_floats(array: Array, items: Items) -> float:
    """The sum of float32 or float64 items under the validity of an array.

    The order of additions depends only on the number of items, so the result is the same on every
    device.
    """
    target = target_of(array.device)
    validity = validity_of(array, target)
    while True:
        pieces = -(-len(items) // (kernels.LANES * kernels.ROUNDS))
        sums = target.output(min(len(items), pieces * kernels.LANES), _DOUBLE)
        target.map(kernels.sum_floats, len(sums), items, *validity, sums, work=kernels.ROUNDS)
        if len(sums) <= _FEW_SUMS:
            few = sums if target.device is HOST else _listed(target, sums)
            return float(builtins.sum(few.tolist())) if len(few) <= kernels.LANES else _paired(few)
        items, validity = sums, (target.no_bits, 0)


@on_its_device
def _listed(target: Target, numbers: Items) -> NDArray[np.float64]:
    """A copy of numbers on the host."""
    return np.array(numbers.tolist())


# A decorator takes half the time of a `with`.
@np.errstate(over="ignore", invalid="ignore")
def _paired(sums: NDArray[np.float64]) -> float:
    """The sum of numbers on the host, by pairs of halves, whatever the machine's vectors are."""
    return float(np.add.reduce(sums))


@SUMS.of(s.Decimal)
def _sum_decimals(array: Array) -> Decimal:
    type_ = array.type
    assert isinstance(type_, s.Decimal)
    total = whole_sum(array)
    bits = 256 if type_.bit_width == 256 else 128
    if not -1 << bits - 1 <= total < 1 << bits - 1:
        wider = "; cast to decimal256 first" if bits == 128 else ""
        shown = _decimal(total, type_.scale)
        raise OverflowError(f"sum: {shown} does not fit the {bits} bits of {type_}{wider}")
    return _decimal(total, type_.scale)


@on_its_device
def whole_sum(array: Array) -> int:
    """The exact sum of integers, or of the unscaled integers of decimals, of any size."""
    if array.length == 0:
        return 0
    if isinstance(array.type, s.Decimal) and array.type.bit_width == 32:
        return int(_sum_integers(retyped(array, s.int32())))
    target = target_of(array.device)
    words, width = own_words(array, Role.DATA)
    signed = not isinstance(array.type, s.Int) or array.type.signed
    size = PIECE[target.device.kind]
    out = target.output(-(-array.length // size) * 2 * width, np.uint64)
    # The kernels add unsigned words: flipping the sign bit of each value adds 2**(64 * width - 1).
    args = (words, width, *validity_of(array, target), size, int(signed))
    target.map(kernels.sum_words, len(out) // (2 * width), *args, out, work=size)
    sums = out if len(out) == 2 * width else out.reshape(-1, 2 * width).sum(axis=0)
    total = 0
    for position, column in enumerate(sums.tolist()):
        total += column << 32 * position
    return total - (array.length - array.null_count << 64 * width - 1) if signed else total


def decimal_mean(array: Array, type_: s.Decimal, values: int) -> Decimal:
    """The mean of an array with that number of valid decimals."""
    return decimal_quotient(whole_sum(decoded(array)), values, type_.scale)


def decimal_quotient(total: int, values: int, scale: int) -> Decimal:
    """An unscaled sum of decimals divided by their number, rounded half away from zero."""
    size, rest = divmod(abs(total), values)
    size += 2 * rest >= values
    return _decimal(size if total >= 0 else -size, scale)


def _decimal(number: int, scale: int) -> Decimal:
    return Context(prec=100).scaleb(Decimal(number), -scale)


def _sum_of_runs(array: Array, add: Callable[[Array], Sum]) -> Sum:
    """The sum of a run-end encoded array: each value times the length of its run."""
    values, lengths = run_values(array)
    target = target_of(array.device)
    type_ = values.type
    if isinstance(type_, s.Int):
        items = values.items(Role.DATA)
        items = items.view(np.int64) if type_.bit_width == 64 else items
        out = target.output(values.length, np.int64)
        target.map(kernels.weigh_integers, values.length, items, lengths, out)
        args = (out, *validity_of(values, target))
        total = target.reduce(kernels.sum_integers, values.length, *args)
        return _wrapped(int(total), type_.signed)
    if isinstance(type_, s.FloatingPoint) and type_.bit_width > 16:
        out = target.output(values.length, np.float64)
        items = values.items(Role.DATA)
        target.map(kernels.weigh_floats, values.length, items, lengths, out)
        return sum_of_floats(values, out)
    return add(decoded(array))
