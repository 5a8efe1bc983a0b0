"""The aggregates that callers use: count, sum, mean, min, max, any, all.

Columnar format 1.5: "Null count", "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

import builtins
from typing import Any, Literal, get_args

from colkern import schema as s
from colkern.arrays import Array
from colkern.operations.aggregates.encodings import (
    COUNT_VALID,
    decoded,
    is_enough,
    stored,
)
from colkern.operations.aggregates.extremes import both_extremes, extreme
from colkern.operations.aggregates.sums import SUMS, decimal_mean, holds, sum_of_values, whole_sum
from colkern.operations.arguments import Kind, operation
from colkern.operations.operands import value_type_of
from colkern.operations.position_checks import require_valid

CountMode = Literal["only_valid", "only_null", "all"]


# The values of chunks, for that of the column


def _counted(counts: list[int], like: Array) -> int:
    return builtins.sum(counts)


def _known(values: list[Any], like: Array) -> Array:
    """The aggregates of chunks as an array of the column's type."""
    from colkern.builders import array

    return array(values, value_type_of(like))


def _summed(sums: list[Any], like: Array) -> Any:
    type_ = value_type_of(like)
    known = [value for value in sums if value is not None]
    if isinstance(type_, s.Decimal):
        return NotImplemented
    if isinstance(type_, s.FloatingPoint) or not known:
        return builtins.sum(known) if known else None
    signed = isinstance(type_, s.Int) and type_.signed
    bits = builtins.sum(known) % (1 << 64)
    return bits - (1 << 64) if signed and bits >> 63 else bits


@operation(kind=Kind.AGGREGATE, combine=_counted)
def count(array: Array, mode: CountMode = "only_valid") -> int:
    """The number of values of an array.

    A slot of a dictionary or run is null if the value that it stands for is.

    Args:
        array: Any array but a union.
        mode: `only_valid`, `only_null` or `all`.

    Raises:
        ValueError: If `mode` is another word.
        UnsupportedError: If nulls of a union are to be counted or left out.
    """
    if mode not in get_args(CountMode):
        raise ValueError(f"mode: expected one of {get_args(CountMode)}, got {mode!r}")
    if mode == "all":
        return array.length
    require_valid(array)
    valid = COUNT_VALID[array.layout.kind](array)
    return valid if mode == "only_valid" else array.length - valid


@operation(kind=Kind.AGGREGATE, combine=_summed)
def sum(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The sum of the values: integers modulo 2**64, as int64 or uint64; for booleans, the number of true.

    Floats are summed as float64. Decimals give a `decimal.Decimal`, which may have more digits than
    the type's precision, but no more than 128 bits (256 bits for decimal256).

    Args:
        array: Numbers, booleans or decimals, also dictionary-encoded or run-end encoded.
        skip_nulls: If False, any null makes the sum None.
        min_count: With fewer values, the sum is None.

    Raises:
        OverflowError: If a sum of decimals needs more than 128 bits (256 bits for decimal256).
        UnsupportedError: If the type has no sum.
    """
    if not array._checked:
        require_valid(array)
    add = SUMS.get(type(array.type)) or sum_of_values(array, "sum")
    return add(array) if is_enough(array, skip_nulls, min_count) else None


@operation(kind=Kind.AGGREGATE)
def mean(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The mean of the values: a float, NaN without values; for decimals a `Decimal`, or None.

    The mean of decimals has their scale, and is rounded half away from zero. All else is as for `sum`,
    but integers do not wrap around, and no sum is too large.

    Raises:
        UnsupportedError: If the type has no mean.
    """
    require_valid(array)
    array = stored(array)
    add = SUMS.get(type(array.type)) or sum_of_values(array, "mean")
    values = COUNT_VALID[array.layout.kind](array)
    if values < min_count or not (skip_nulls or values == array.length):
        return None
    type_ = value_type_of(array)
    if isinstance(type_, s.Decimal):
        return decimal_mean(array, type_, values) if values else None
    if values == 0:
        return float("nan")
    # Integers of 64 bits do not wrap around here.
    if isinstance(type_, s.Int) and type_.bit_width == 64:
        return whole_sum(array if array.type is type_ else decoded(array)) / values
    return add(array) / values


@operation(
    kind=Kind.AGGREGATE, combine=lambda values, like: extreme(_known(values, like), False, True, 1)
)
def min(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The least value, or None if there is none; NaN only if all values are NaN.

    Args:
        array: Numbers, booleans, decimals, dates, times, timestamps, durations, text or bytes, also
            dictionary-encoded (unused values are ignored) or run-end encoded.
        skip_nulls: If False, any null makes the result None.
        min_count: With fewer values, the result is None.

    Raises:
        UnsupportedError: If the values of the type have no order in colkern.
    """
    return extreme(array, False, skip_nulls, min_count)


@operation(
    kind=Kind.AGGREGATE, combine=lambda values, like: extreme(_known(values, like), True, True, 1)
)
def max(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> Any:
    """The greatest value; otherwise as `min`."""
    return extreme(array, True, skip_nulls, min_count)


def _of_both(pairs: list[dict[str, Any]], like: Array) -> dict[str, Any]:
    ends = ((name, _known([pair[name] for pair in pairs], like)) for name in ("min", "max"))
    return {name: extreme(values, name == "max", True, 1) for name, values in ends}


@operation(kind=Kind.AGGREGATE, combine=_of_both)
def min_max(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> dict[str, Any]:
    """The least and the greatest value in one pass, as `{"min": …, "max": …}`; otherwise as `min`."""
    least, greatest = both_extremes(array, skip_nulls, min_count)
    return {"min": least, "max": greatest}


@operation(
    kind=Kind.AGGREGATE, combine=lambda values, like: _decided(_known(values, like), True, True, 1)
)
def any(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> bool | None:
    """Whether at least one value is true.

    Args:
        array: Booleans, also dictionary-encoded or run-end encoded.
        skip_nulls: If False, a null is an unknown value: if no value is true, the result is then None.
        min_count: With fewer values, the result is None.

    Raises:
        TypeError: If the values are not booleans.
    """
    return _decided(array, True, skip_nulls, min_count)


@operation(
    kind=Kind.AGGREGATE, combine=lambda values, like: _decided(_known(values, like), False, True, 1)
)
def all(array: Array, *, skip_nulls: bool = True, min_count: int = 1) -> bool | None:
    """Whether every value is true; otherwise as `any`, with the roles of true and false exchanged."""
    return _decided(array, False, skip_nulls, min_count)


def _decided(array: Array, deciding: bool, skip_nulls: bool, min_count: int) -> bool | None:
    """Whether any value (`deciding` is True) or every value (False) of a boolean array is true."""
    require_valid(array)
    if not isinstance(value_type_of(array), s.Bool):
        raise TypeError(f"array: expected booleans, got {array.type}")
    decides = holds(array, deciding)
    if decides and min_count <= 1:
        return deciding
    valid = COUNT_VALID[array.layout.kind](array)
    if valid < min_count:
        return None
    if decides:
        return deciding
    return not deciding if skip_nulls or valid == array.length else None
