"""Arithmetic on numbers and times, slot by slot, also for encoded arrays.

Columnar format 1.5: "Fixed-Size Primitive Layout", "Dictionary-Encoded Layout", "Run-End Encoded
Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import count_set_bits
from colkern.kernels import Kernel, arithmetic
from colkern.layouts import LayoutKind, Role
from colkern.memory import HOST, Buffer, DType
from colkern.operations.arguments import Kind, operation
from colkern.operations.casting import cast
from colkern.operations.comparing import item_of
from colkern.operations.comparison import less
from colkern.operations.decimal_arithmetic import combine_decimals
from colkern.operations.devices import one_device
from colkern.operations.encodings import decoded, encoded_alike
from colkern.operations.operands import (
    WORDS,
    Plans,
    items_of_value,
    number_of,
    planned,
    planned_beside,
    planned_runs,
    value_type_of,
)
from colkern.operations.position_checks import require_valid
from colkern.operations.run_search import merge_runs
from colkern.operations.runs import run_end_encoded
from colkern.operations.selection import own_words, take_positions
from colkern.operations.selection.choosing import if_else
from colkern.operations.time_arithmetic import (
    TIMES,
    combine_times,
    is_duration,
    on_ticks,
    scale_durations,
)
from colkern.operations.validity import combine_validity
from colkern.targets import NOWHERE, Items, Target, target_of

ArrayOrNumber: TypeAlias = Array | int | float

Validity: TypeAlias = tuple[Buffer | None, int]
"""The validity bitmap of a result, from bit 0 on, and its null count."""

_NO_NULLS: Validity = (None, 0)


@operation(kind=Kind.ELEMENT_WISE)
def add(left: ArrayOrNumber, right: ArrayOrNumber) -> Array:
    """`left + right`, slot by slot; integers wrap around in their type.

    The operands are two arrays of one type and length, or an array and a number, which is converted to
    the array's type. A slot is null if one of the operands is. The result is copied.

    Decimals may differ in precision and scale. As in pyarrow, the result has the precision that all
    values need, as decimal128, or decimal256 if an operand is one. A number beside decimals is a
    `Decimal` or an integer.

    A duration may be added to a duration, a timestamp or a date, and times of one kind subtracted, in
    the finer of their units; durations may be multiplied and divided by integers, and divided by each
    other. Encoded arrays are decoded. A single value is of a class of `datetime` or NumPy.

    A run-end encoded array with a number, or with another one, stays encoded, and so does a dictionary
    with a number: only their values are computed. Other combinations are decoded.

    Raises:
        TypeError: If the types differ, or are not integers, floating-point numbers or decimals.
        ValueError: If the lengths or the devices differ, the number does not fit the array's type, or
            decimals need more digits than their type has.
    """
    return _combine(_ADD, left, right)


@operation(kind=Kind.ELEMENT_WISE)
def subtract(left: ArrayOrNumber, right: ArrayOrNumber) -> Array:
    """`left - right`; see `add`."""
    return _combine(_SUBTRACT, left, right)


@operation(kind=Kind.ELEMENT_WISE)
def multiply(left: ArrayOrNumber, right: ArrayOrNumber) -> Array:
    """`left * right`; see `add`."""
    return _combine(_MULTIPLY, left, right)


@operation(kind=Kind.ELEMENT_WISE)
def divide(left: ArrayOrNumber, right: ArrayOrNumber) -> Array:
    """`left / right`; integers are truncated towards 0. See `add`.

    Floats are divided by IEEE 754; decimals are truncated towards 0, to the scale that pyarrow gives.
    The least integer divided by -1, which does not fit, gives 0.

    Raises:
        ZeroDivisionError: If an integer or a decimal is divided by 0, in a slot that is not null.
    """
    return _combine(_DIVIDE, left, right)


@operation(kind=Kind.ELEMENT_WISE)
def negate(array: Array) -> Array:
    """`-array`; unsigned integers, and the least signed one, wrap around.

    For the encodings, and for errors, see `add`.
    """
    plan = planned(_SUBTRACT.plans, array, array)
    if plan is not None:
        return plan.of_number(array, -0.0 if plan.is_float else 0, True)
    require_valid(array)
    if isinstance(value_type_of(array), s.Decimal):
        return encoded_alike(array, _negative_decimals)
    if isinstance(value_type_of(array), s.Duration):
        return encoded_alike(array, lambda plain: on_ticks(plain, negate))
    zero = -0.0 if isinstance(_numbers(array), s.FloatingPoint) else 0
    return _combine(_SUBTRACT, zero, array)


@operation(kind=Kind.ELEMENT_WISE)
def abs(array: Array) -> Array:
    """The absolute values; the least integer stays as it is. See `add` for encodings and errors.

    An array of unsigned integers is returned as it is.
    """
    known = planned(_ABSOLUTES, array, array)
    if known is not None:
        return _absolute_numbers(array, known)
    require_valid(array)
    type_ = value_type_of(array)
    if isinstance(type_, s.Decimal):
        return encoded_alike(
            array, lambda plain: if_else(less(plain, 0), _negative_decimals(plain), plain)
        )
    if isinstance(type_, s.Duration):
        return encoded_alike(array, lambda plain: on_ticks(plain, abs))
    if isinstance(type_, s.Int) and not type_.signed:
        return array
    return encoded_alike(array, _absolute)


class _Plan(NamedTuple):
    """The rule that combines numbers without an encoding, as items of one type.

    They are combined by one kernel; by none for the division of integers, which may fail.
    """

    kernel: Kernel | None
    type: s.DataType
    is_float: bool
    dtype: DType

    def of_arrays(self, left: Array, right: Array) -> Array:
        """The operation on two arrays of one length, on one device."""
        if self.is_float:
            sides = left.items(Role.DATA), right.items(Role.DATA)
        else:
            sides = own_words(left, Role.DATA)[0], own_words(right, Role.DATA)[0]
        target = target_of(left.device)
        nullable = left._null_count or right._null_count
        if nullable and target.device is not HOST and self.kernel is not None:
            with target.together:
                return self._of(target, left, *sides, combine_validity((left, right)))
        validity = combine_validity((left, right)) if nullable else _NO_NULLS
        return self._of(target, left, *sides, validity)

    def of_number(self, array: Array, value: object, first: bool) -> Array:
        """The operation on an array and a number that fits its type; the left operand if `first`."""
        items = array.items(Role.DATA) if self.is_float else own_words(array, Role.DATA)[0]
        is_divisor = self.kernel is None and not first
        number: Any = items_of_value(array, value, item_of, is_divisor)
        left, right = (
            (number, items) if first else (items, int(number[0]) if is_divisor else number)
        )
        validity = combine_validity((array,)) if array._null_count else _NO_NULLS
        return self._of(target_of(array.device), array, left, right, validity)

    def _of(
        self, target: Target, like: Array, left: Items, right: Items | int, validity: Validity
    ) -> Array:
        """The operation on the items of both operands, one of which may have one, or be a host's word."""
        length = like.length
        out = target.output(length, self.dtype)
        if self.kernel is None:
            _fill_quotients(target, self.type, left, right, out, validity[0])
        else:
            target.map(self.kernel, length, left, right, out)
        return Array.of_valid(self.type, length, (validity[0], target.buffer(out)), validity[1])


@dataclass(frozen=True, eq=False)
class _Operation:
    """An operation with two operands: one kernel for all integers, and one for floats."""

    name: str
    words: Kernel | None
    floats: Kernel
    commutes: bool = False
    plans: Plans[_Plan] = field(default_factory=dict)
    #: Those for two arrays of times, which have no plan beside a number.
    ticks: Plans[_Plan] = field(default_factory=dict)
    #: The type of the run ends that two run-end encoded arrays give.
    runs: Plans[s.DataType] = field(default_factory=dict)

    def plan(self, array: Array, type_: s.Int | s.FloatingPoint) -> _Plan:
        """The rule that combines values of an array without an encoding."""
        is_float = isinstance(type_, s.FloatingPoint)
        kernel, size = self.floats if is_float else self.words, type_.bit_width // 8
        plan = _Plan(kernel, type_, is_float, np.dtype(f"f{size}") if is_float else WORDS[size])
        self.plans[array.layout, array.layout] = plan
        return plan


_ADD = _Operation("add", arithmetic.add_words, arithmetic.add_floats, commutes=True)
_SUBTRACT = _Operation("subtract", arithmetic.subtract_words, arithmetic.subtract_floats)
_MULTIPLY = _Operation(
    "multiply", arithmetic.multiply_words, arithmetic.multiply_floats, commutes=True
)
_DIVIDE = _Operation("divide", None, arithmetic.divide_floats)


def _combine(what: _Operation, left: ArrayOrNumber, right: ArrayOrNumber) -> Array:
    plan = planned(what.plans, left, right)
    if plan is not None:
        return plan.of_arrays(left, right)  # type: ignore[arg-type]
    plan = planned_beside(what.plans, left, right)
    if plan is not None:
        return plan.of_number(left, right, False)  # type: ignore[arg-type]
    plan = planned_beside(what.plans, right, left)
    if plan is not None:
        # A number that does not fit is refused below, as the left one.
        with suppress(TypeError, ValueError):
            return plan.of_number(right, left, not what.commutes)  # type: ignore[arg-type]
    plan = planned(what.ticks, left, right)
    if plan is not None:
        return plan.of_arrays(left, right)  # type: ignore[arg-type]
    ends = planned_runs(what.runs, left, right)
    if ends is not None:
        return _combine_runs(what, left, right, ends)  # type: ignore[arg-type]
    arrays = [side for side in (left, right) if isinstance(side, Array)]
    types = [value_type_of(array) for array in arrays]
    kinds = set(map(type, types))
    if s.Decimal in kinds:
        return _combine_decimals(what, left, right)
    if not kinds.isdisjoint(TIMES) or is_duration(left) or is_duration(right):
        combined = combine_times if what in (_ADD, _SUBTRACT) else scale_durations
        result = combined(what.name, left, right, lambda *sides: _combine(what, *sides))
        if len(arrays) == 2 and combined is combine_times:
            _plan_ticks(what, arrays, result)
        return result
    if s.FloatingPoint in kinds and s.float16() in types:
        return _combine_halves(what, left, right, types)
    if isinstance(left, Array):
        if isinstance(right, Array):
            return _combine_arrays(what, left, right)
        return _with_number(what, left, right, False)
    if isinstance(right, Array):
        return _with_number(what, right, left, not what.commutes, "left")
    got = f"{type(left).__name__} and {type(right).__name__}"
    raise TypeError(
        f"{what.name}: expected an Array on one side, got {got}; make one with colkern.array(...)"
    )


def _plan_ticks(what: _Operation, arrays: Sequence[Array], result: Array) -> None:
    """Keep a plan for arrays of times of 64 bits in one unit: their integers alone are combined."""
    units = set()
    for array in (*arrays, result):
        storage, kind = array.type.storage, array.layout.kind
        is_plain = isinstance(storage, _TICKS) and kind is LayoutKind.FIXED_SIZE
        is_wide = is_plain and array.layout.buffers[1].dtype.itemsize == 8
        units.add(storage.unit if is_wide else None)  # type: ignore[attr-defined]
    if len(units) == 1 and None not in units:
        left, right = arrays
        what.ticks[left.layout, right.layout] = _Plan(what.words, result.type, False, WORDS[8])


_TICKS = (s.Timestamp, s.Time, s.Duration)


def _combine_decimals(what: _Operation, left: ArrayOrNumber, right: ArrayOrNumber) -> Array:
    """An operation on decimals; beside a number, an encoded array is computed by its values."""
    for side in (left, right):
        if isinstance(side, Array):
            require_valid(side)
    name = what.name
    if isinstance(left, Array) and isinstance(right, Array):
        return combine_decimals(name, decoded(left), decoded(right))
    # A zero that no index points to is no error.
    if isinstance(left, Array):
        return encoded_alike(left, lambda plain: combine_decimals(name, plain, right))
    assert isinstance(right, Array)
    decode = what is _DIVIDE
    return encoded_alike(right, lambda plain: combine_decimals(name, left, plain), decode)


def _negative_decimals(array: Array) -> Array:
    return cast(combine_decimals("subtract", 0, array, fits=True), array.type, safe=False)


def _combine_halves(
    what: _Operation, left: ArrayOrNumber, right: ArrayOrNumber, types: Sequence[s.DataType]
) -> Array:
    """An operation on 16-bit floats, as 32-bit floats: rounding twice gives the same result."""
    if len(set(types)) > 1:
        raise TypeError(f"{what.name}: {types[0]} and {types[1]}; cast one of them first")
    sides = [
        encoded_alike(side, lambda plain: cast(plain, s.float32()))
        if isinstance(side, Array)
        else float(np.float16(number_of(side, s.float32(), name)))
        for side, name in ((left, "left"), (right, "right"))
    ]
    result = _combine(what, *sides)
    return encoded_alike(result, lambda plain: cast(plain, s.float16(), safe=False))


def _numbers(array: Array) -> s.Int | s.FloatingPoint:
    """The type of the numbers in an array, whatever encodes them."""
    type_ = array.type.storage
    if isinstance(type_, s.Int):
        return type_
    type_ = value_type_of(array)
    if not isinstance(type_, (s.Int, s.FloatingPoint)):
        raise TypeError(f"array: expected integers or floating-point numbers, got {array.type}")
    return type_


# One array, whose result is encoded as it is


def _with_number(
    what: _Operation, array: Array, number: float, first: bool, name: str = "right"
) -> Array:
    """An operation on an array and a number, which is the left operand if `first`."""
    require_valid(array)
    type_ = _numbers(array)
    item = number_of(number, type_, name)

    def work(values: Array) -> Array:
        return what.plan(values, type_).of_number(values, number, first)

    # A zero that no index points to is no error.
    may_fail = what is _DIVIDE and isinstance(type_, s.Int) and (first or item == 0)
    return encoded_alike(array, work, decode=may_fail)


def _absolute(array: Array) -> Array:
    type_ = _numbers(array)
    if isinstance(type_, s.FloatingPoint) and type_.bit_width == 16:
        return cast(_absolute(cast(array, s.float32())), type_, safe=False)
    _ABSOLUTES[array.layout, array.layout] = type_
    return _absolute_numbers(array, type_)


_ABSOLUTES: Plans[s.Int | s.FloatingPoint] = {}
"""The types of numbers whose absolute values a kernel computes."""


def _absolute_numbers(array: Array, type_: s.Int | s.FloatingPoint) -> Array:
    target = target_of(array.device)
    if isinstance(type_, s.Int):
        words, _ = own_words(array, Role.DATA)
        out = target.output(array.length, words.dtype)
        sign = items_of_value(array, -1 << type_.bit_width - 1, item_of)
        target.map(arithmetic.abs_words, array.length, words, sign, out)
    else:
        items = array.items(Role.DATA)
        out = target.output(array.length, items.dtype)
        target.map(arithmetic.abs_floats, array.length, items, out)
    bitmap, nulls = combine_validity([array]) if array._null_count else _NO_NULLS
    return Array.of_valid(type_, array.length, (bitmap, target.buffer(out)), nulls)


# Two arrays


def _combine_arrays(what: _Operation, left: Array, right: Array) -> Array:
    require_valid(left)
    require_valid(right)
    type_, other = _numbers(left), _numbers(right)
    if type_ != other:
        raise TypeError(f"{what.name}: {type_} and {other}; cast one of them first")
    if left.length != right.length:
        raise ValueError(f"{what.name}: arrays of {left.length} and {right.length} values")
    one_device((left, right), "left", "right")
    if left.layout.kind is right.layout.kind is LayoutKind.RUN_END_ENCODED:
        both = [array.children[0] for array in (left, right)]
        ends = min(both, key=lambda ends: ends.layout.spec(Role.DATA).dtype.itemsize).type
        what.runs[left.layout, right.layout] = ends
        return _combine_runs(what, left, right, ends)
    left = decoded(left)
    return what.plan(left, type_).of_arrays(left, decoded(right))


def _combine_runs(what: _Operation, left: Array, right: Array, type_: s.DataType) -> Array:
    ends, own, other = merge_runs(left, right)
    buffer = target_of(left.device).buffer(ends)
    run_ends = Array.of_valid(type_, len(ends), (None, buffer), 0)
    values = take_positions(left.children[1], own), take_positions(right.children[1], other)
    return run_end_encoded(left.length, run_ends, _combine(what, *values))


# Integers without any encoding; one number stands for every slot


def _fill_quotients(
    target: Target,
    type_: s.DataType,
    left: Items,
    right: Items | int,
    out: Items,
    validity: Buffer | None,
) -> None:
    """The quotients of the operands' words; the left one may have a single item."""
    assert isinstance(type_, s.Int)
    bits = type_.bit_width
    sign = 1 << (bits - 1) if type_.signed else 0
    if isinstance(right, int):
        _divide_by(target, right - ((right & sign) << 1), left, bits, sign, out, validity)
        return
    bitmap = target.no_bits if validity is None else validity.array
    arguments = left, right, sign >> max(bits - 32, 0), bitmap, 0, out
    slot = target.reduce(arithmetic.divide_words, len(out), *arguments) if len(out) else NOWHERE
    if slot != NOWHERE:
        raise ZeroDivisionError(f"divide: by 0 in slot {slot}")


def _divide_by(
    target: Target,
    divisor: int,
    left: Items,
    bits: int,
    sign: int,
    out: Items,
    validity: Buffer | None,
) -> None:
    count = len(out)
    if divisor == 0 and count and (validity is None or count_set_bits(validity, 0, count)):
        raise ZeroDivisionError("divide: by 0")
    signs = np.uint64(sign), np.uint64(sign if divisor < 0 else 0)
    multiplier, shift = _reciprocal(divisor if divisor > 0 else -divisor, max(bits, 32))
    target.map(arithmetic.divide_words_by, len(out), left, multiplier, shift, *signs, out)


def _reciprocal(divisor: int, bits: int) -> tuple[np.uint64, int]:
    """Multiplier and shift of a divisor, as `divide_words_by` takes them; of 1 if the divisor is 0."""
    shift = (max(divisor, 1) - 1).bit_length()
    rounded_up = -(-(1 << (bits + shift)) // max(divisor, 1))
    return np.uint64(rounded_up - (1 << bits)), shift
