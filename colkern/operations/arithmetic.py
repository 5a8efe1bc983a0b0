"""Arithmetic on integers and floating-point numbers, slot by slot, for the encodings too.

Columnar format 1.5: "Fixed-Size Primitive Layout", "Dictionary-Encoded Layout", "Run-End Encoded
Layout".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import Kernel, arithmetic, runs
from colkern.layouts import LayoutKind, Role, layout
from colkern.memory import Buffer
from colkern.operations.arguments import operation
from colkern.operations.numbers import number_of
from colkern.operations.run_merging import merge_runs
from colkern.operations.run_search import own_runs
from colkern.operations.runs import run_end_decode
from colkern.operations.selection import take, take_positions
from colkern.operations.validation import require_valid
from colkern.operations.validity import combine_validity
from colkern.targets import NOWHERE, Target, target_of

Operand = Array | int | float

Validity = tuple[Buffer | None, int]
"""Which slots of a result are valid, from bit 0 on, and how many are not."""


@operation
def add(left: Operand, right: Operand) -> Array:
    """`left + right`; an integer that does not fit is cut to the bits of its type.

    The operands are two arrays of one type and length, or an array and a number, which is taken as
    the array's type. A slot is null where one of the operands is. Copied.

    A run-end encoded array with a number, or with another one, stays encoded, and so does a
    dictionary with a number: their values alone are looked at. Other mixtures are decoded.

    Raises:
        TypeError: If the types differ, or are not integers or floating-point numbers.
        ValueError: If the lengths or the devices differ, or the number does not fit the array's type.
        UnsupportedError: If the numbers are of 16-bit floating point.
        InvalidArrowError: If an array points outside its own memory.
    """
    return _combine(_ADD, left, right)


@operation
def subtract(left: Operand, right: Operand) -> Array:
    """`left - right`; see `add`."""
    return _combine(_SUBTRACT, left, right)


@operation
def multiply(left: Operand, right: Operand) -> Array:
    """`left * right`; see `add`."""
    return _combine(_MULTIPLY, left, right)


@operation
def divide(left: Operand, right: Operand) -> Array:
    """`left / right`, of integers cut to the integer towards 0; see `add`.

    Of floating-point numbers by IEEE 754. The least integer by -1, which does not fit, is 0.

    Raises:
        ZeroDivisionError: If an integer is divided by 0, in a slot that is not null.
    """
    return _combine(_DIVIDE, left, right)


@operation
def negate(array: Array) -> Array:
    """`-array`; of unsigned integers, and of the least one, what is cut to the bits of the type.

    For the encodings, and for errors, see `add`.
    """
    require_valid(array)
    zero = -0.0 if isinstance(_numbers(array), s.FloatingPoint) else 0
    return _combine(_SUBTRACT, zero, array)


@operation
def abs(array: Array) -> Array:
    """The absolute values; the least integer stays what it is. See `add` for encodings and errors.

    An array of unsigned integers is returned as it is.
    """
    require_valid(array)
    type_ = _numbers(array)
    if isinstance(type_, s.Int) and not type_.signed:
        return array
    return _absolute(array)


@dataclass(frozen=True)
class _Operation:
    """An operation of two operands that is one kernel for all integers and one for floats."""

    name: str
    words: Kernel | None
    floats: Kernel
    commutes: bool = False


_ADD = _Operation("add", arithmetic.add_words, arithmetic.add_floats, commutes=True)
_SUBTRACT = _Operation("subtract", arithmetic.subtract_words, arithmetic.subtract_floats)
_MULTIPLY = _Operation(
    "multiply", arithmetic.multiply_words, arithmetic.multiply_floats, commutes=True
)
_DIVIDE = _Operation("divide", None, arithmetic.divide_floats)


def _combine(what: _Operation, left: Operand, right: Operand) -> Array:
    if isinstance(left, Array) and isinstance(right, Array):
        return _combine_arrays(what, left, right)
    array = left if isinstance(left, Array) else right
    if not isinstance(array, Array):
        got = f"{type(left).__name__} and {type(right).__name__}"
        raise TypeError(
            f"{what.name}: expected an Array on one side, got {got}; make one with colkern.array(...)"
        )
    require_valid(array)
    number, name = (right, "right") if array is left else (left, "left")
    number = number_of(number, _numbers(array), name)
    if array is right and what.commutes:
        return _with_number(what, right, number)
    return _with_number(
        what, left if array is left else number, right if array is right else number
    )


def _numbers(array: Array) -> s.Int | s.FloatingPoint:
    """The type of the numbers in an array, in whatever encoding."""
    type_ = array.type.storage
    if isinstance(type_, s.Int):
        return type_
    while isinstance(type_, (s.RunEndEncoded, s.Dictionary)):
        type_ = type_.value_type.storage
    if not isinstance(type_, (s.Int, s.FloatingPoint)):
        raise TypeError(f"array: expected integers or floating-point numbers, got {array.type}")
    if isinstance(type_, s.FloatingPoint) and type_.bit_width == 16:
        raise UnsupportedError(f"array: no arithmetic on {type_}; cast to float first")
    return type_


# An array with a number


def _with_number(what: _Operation, left: Any, right: Any) -> Array:
    array = left if isinstance(left, Array) else right
    kind = array.layout.kind
    if kind is LayoutKind.RUN_END_ENCODED:
        return _over_runs(array, lambda values: _rebuilt(what, left, right, values))
    if kind is LayoutKind.DICTIONARY:
        if _may_divide_by_zero(what, array, left, right):
            return _rebuilt(what, left, right, _decoded(array))
        assert array.dictionary is not None
        return _with_dictionary(array, _rebuilt(what, left, right, array.dictionary))
    validity = combine_validity([array])
    return _apply(what, left, right, array, validity)


def _rebuilt(what: _Operation, left: Any, right: Any, array: Array) -> Array:
    """The operation with other values in the array's place."""
    is_left = isinstance(left, Array)
    return _with_number(what, array if is_left else left, right if is_left else array)


def _may_divide_by_zero(what: _Operation, array: Array, left: Any, right: Any) -> bool:
    """Whether a zero that no index leads to would be an error."""
    if what is not _DIVIDE or not isinstance(_numbers(array), s.Int):
        return False
    return right is array or right == 0


def _over_runs(array: Array, work: Any) -> Array:
    """The same runs with other values; those outside of the array's own slots are left out."""
    ends, values = array.children
    first, count = own_runs(array)
    made = work(values.slice(first, count))
    type_ = s.run_end_encoded(_integers(ends), made.type)
    children = [ends.slice(first, count), made]
    return Array.of_valid(type_, array.length, [], 0, children, offset=array.offset)


def _integers(run_ends: Array) -> s.Int:
    assert isinstance(run_ends.type, s.Int)
    return run_ends.type


def _with_dictionary(array: Array, dictionary: Array) -> Array:
    storage = array.type.storage
    assert isinstance(storage, s.Dictionary)
    type_ = s.dictionary(storage.index_type, dictionary.type, ordered=False)
    return Array.of_valid(
        type_,
        array.length,
        array.buffers,
        array.known_null_count,
        dictionary=dictionary,
        offset=array.offset,
    )


def _decoded(array: Array) -> Array:
    """The numbers of an array without dictionaries and runs."""
    if array.layout.kind is LayoutKind.RUN_END_ENCODED:
        return _decoded(run_end_decode(array))
    if array.layout.kind is LayoutKind.DICTIONARY:
        storage = array.type.storage
        assert isinstance(storage, s.Dictionary)
        assert array.dictionary is not None
        indices = Array(
            storage.index_type,
            array.length,
            array.buffers,
            offset=array.offset,
            null_count=array.known_null_count,
        )
        return _decoded(take(array.dictionary, indices))
    return array


# Two arrays


def _combine_arrays(what: _Operation, left: Array, right: Array) -> Array:
    for array in (left, right):
        require_valid(array)
    types = _numbers(left), _numbers(right)
    if types[0] != types[1]:
        raise TypeError(f"{what.name}: {types[0]} and {types[1]}; cast one of them first")
    if left.length != right.length:
        raise ValueError(f"{what.name}: arrays of {left.length} and {right.length} values")
    if left.device != right.device:
        raise ValueError(f"{what.name}: arrays on {left.device} and {right.device}")
    if left.layout.kind == right.layout.kind is LayoutKind.RUN_END_ENCODED:
        return _combine_runs(what, left, right)
    left, right = _decoded(left), _decoded(right)
    return _apply(what, left, right, left, combine_validity([left, right]))


def _combine_runs(what: _Operation, left: Array, right: Array) -> Array:
    starts, *held = merge_runs(left, right)
    target = target_of(left.device)
    values = [
        take_positions(array.children[1], found)
        for array, found in zip((left, right), held, strict=True)
    ]
    # Both are as long, so their lengths fit the wider run ends, and the narrower too.
    ends = min((array.children[0] for array in (left, right)), key=lambda e: _integers(e).bit_width)
    out = target.output(len(starts), ends.items(Role.DATA).dtype)
    target.map(runs.end_runs, len(starts), starts, left.length, out)
    run_ends = Array(ends.type, len(starts), [None, target.buffer(out)], null_count=0)
    made = _combine_arrays(what, *values)
    type_ = s.run_end_encoded(_integers(ends), made.type)
    return Array.of_valid(type_, left.length, [], 0, [run_ends, made])


# Numbers without any encoding; of one that stands for every slot, the number


def _apply(what: _Operation, left: Any, right: Any, like: Array, validity: Validity) -> Array:
    """An operation on plain arrays, or a plain array and a number."""
    target = target_of(like.device)
    type_ = _numbers(like)
    items = [_items(target, operand, type_) for operand in (left, right)]
    out = target.output(like.length, items[0].dtype)
    if isinstance(type_, s.FloatingPoint):
        # Where a few items are computed in plain Python, NumPy would warn.
        with np.errstate(all="ignore"):
            target.map(what.floats, like.length, *items, out)
    else:
        words = [_words(part) for part in items]
        if what.words is None:
            _divide_words(target, type_, items, words, _words(out), validity)
        else:
            target.map(what.words, like.length, *words, _words(out))
    return _plain(target, type_, out, validity)


def _plain(target: Target, type_: s.DataType, out: Any, validity: Validity) -> Array:
    bitmap, nulls = validity
    return Array.of_valid(type_, len(out), (bitmap, target.buffer(out)), nulls)


def _items(target: Target, operand: Any, type_: s.DataType) -> Any:
    if isinstance(operand, Array):
        return operand.items(Role.DATA)
    return target.table([operand], layout(type_).spec(Role.DATA).dtype)


def _words(items: Any) -> Any:
    return items.view(f"u{items.dtype.itemsize}")


def _divide_words(
    target: Target, type_: s.Int, items: list[Any], words: list[Any], out: Any, validity: Validity
) -> None:
    left, right = words
    bits = type_.bit_width
    sign = 1 << (bits - 1) if type_.signed else 0
    if len(right) == 1 < len(out):
        _divide_by(target, target.item(items[1], 0), left, bits, sign, out, validity)
        return
    zeros = target.reduce(
        _DIVISIONS[bits], len(out), left, right, target.table([sign], left.dtype), out
    )
    if zeros:
        bitmap = target.no_bits if validity[0] is None else validity[0].array
        slot = target.reduce(arithmetic.first_zero, len(out), right, bitmap, 0)
        if slot != NOWHERE:
            raise ZeroDivisionError(f"divide: by 0 in slot {slot}")


def _divide_by(
    target: Target, divisor: int, left: Any, bits: int, sign: int, out: Any, validity: Validity
) -> None:
    if divisor == 0 and validity[1] < len(out):
        raise ZeroDivisionError("divide: by 0")
    kernel = arithmetic.divide_long_words_by if bits == 64 else arithmetic.divide_words_by
    signs = np.uint64(sign), np.uint64(sign if divisor < 0 else 0)
    multiplier, shift = _reciprocal(divisor if divisor > 0 else -divisor, max(bits, 32))
    target.map(kernel, len(out), left, multiplier, shift, *signs, out)


_DIVISIONS = {
    8: arithmetic.divide_short_words,
    16: arithmetic.divide_short_words,
    32: arithmetic.divide_words,
    64: arithmetic.divide_long_words,
}


def _reciprocal(divisor: int, bits: int) -> tuple[Any, int]:
    """What `divide_words_by` takes in the place of a divisor; 1, for none, if that is 0."""
    shift = (max(divisor, 1) - 1).bit_length()
    rounded_up = -(-(1 << (bits + shift)) // max(divisor, 1))
    return np.uint64(rounded_up - (1 << bits)), shift


def _absolute(array: Array) -> Array:
    if array.layout.kind is LayoutKind.RUN_END_ENCODED:
        return _over_runs(array, _absolute)
    if array.layout.kind is LayoutKind.DICTIONARY:
        assert array.dictionary is not None
        return _with_dictionary(array, _absolute(array.dictionary))
    target = target_of(array.device)
    items = array.items(Role.DATA)
    out = target.output(array.length, items.dtype)
    type_ = _numbers(array)
    if isinstance(type_, s.Int):
        sign = target.table([1 << (type_.bit_width - 1)], _words(items).dtype)
        target.map(arithmetic.abs_words, array.length, _words(items), sign, _words(out))
    else:
        target.map(arithmetic.abs_floats, array.length, items, out)
    return _plain(target, type_, out, combine_validity([array]))
