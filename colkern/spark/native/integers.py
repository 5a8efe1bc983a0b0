"""Integers in Spark's expressions, exact as in Python even where intermediate results exceed 64 bits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.forks import cached_property
from colkern.spark.native.rule import COMPARED, LEAST, MOST

DECIMAL = "decimal(38,0)"


@dataclass(frozen=True)
class Integer:
    """An integer, with its bounds and the columns that represent it."""

    column: Column  #: Its bigint; null where it exceeds 64 bits.
    low: int = LEAST
    high: int = MOST
    #: Returns its decimal of 38 digits, if it may exceed 64 bits; null where it has more digits.
    wide: Callable[[], Column] | None = None
    #: The double from which it was rounded, itself an integer; it may have any size.
    rounded: Column | None = None
    #: Whether `column` is null only where the integer exceeds 64 bits, not where only one from which it is
    #: computed does.
    is_tight: bool = False

    @cached_property
    def decimal(self) -> Column:
        """The integer as a decimal."""
        return self.column.cast(DECIMAL) if self.wide is None else self.wide()

    @property
    def is_narrow(self) -> bool:
        """Whether it always fits into 64 bits."""
        return self.wide is None


def known(value: int) -> Integer:
    """Returns a constant as an integer."""
    return Integer(f.lit(value).cast("bigint"), value, value)


def of_method(name: str, column: Column, divided: Sequence[Integer]) -> Integer:
    """Returns the integer that a method of the table gives, with the bounds of the method's results;
    `divided` are the dividend and the divisor of `//` and `%`."""
    low, high = BOUNDS.get(name.rpartition(".")[2], (LEAST, MOST))
    if divided and divided[1].low == divided[1].high > 0:
        of, by = divided[0], divided[1].low
        low, high = (0, by - 1) if name == "%" else (of.low // by, of.high // by)
    return Integer(column, low, high)


_SIZE = (-1, (1 << 31) - 1)

BOUNDS = {
    "year": (1, 9999),
    "month": (1, 12),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "microsecond": (0, 999_999),
    "weekday": (0, 6),
    "dayofweek": (0, 6),
    "day_of_week": (0, 6),
    "dayofyear": (1, 366),
    "day_of_year": (1, 366),
    "quarter": (1, 4),
    "isoweekday": (1, 7),
    "toordinal": (1, 3_652_059),
    "days": (-999_999_999, 999_999_999),
    "seconds": (0, 86_399),
    "microseconds": (0, 999_999),
    "len": _SIZE,
    "find": _SIZE,
    "rfind": _SIZE,
    "index": _SIZE,
    "rindex": _SIZE,
    "count": _SIZE,
    "ord": (0, 0x10FFFF),
}
"""The bounds of methods' results, by the last part of the methods' names."""


def beyond(what: str, type_: str) -> Column:
    """Returns the error of an integer that is too large for native plans, as a column of a type."""
    return f.raise_error(f.lit(f"{what} has more digits than a native plan computes with")).cast(
        type_
    )


def whole(value: Integer, what: str) -> Column:
    """Returns the bigint that a function returns; Spark raises if the integer exceeds 64 bits, as Python
    does."""
    if value.is_narrow:
        return value.column
    error = f.raise_error(f.lit(f"{what}: an integer has more than 64 bits")).cast("bigint")
    others = [] if value.is_tight else [value.decimal.try_cast("bigint")]
    return f.coalesce(value.column, *others, error)


def as_float(value: Integer, what: str) -> Column:
    """Returns the integer as the nearest double."""
    if value.rounded is not None:
        return value.rounded
    if value.is_narrow:
        return value.column.cast("double")
    wide = value.decimal.cast("double")
    return f.coalesce(value.column.cast("double"), wide, beyond(what, "double"))


def of_double(number: Column, rounded: Column) -> Integer:
    """Returns the integer to which a finite double is rounded: `rounded`, where that is a bigint."""
    is_bigint = (number >= float(LEAST)) & (number < -float(LEAST))
    # From here on, all doubles are integers.
    is_small = f.abs(number) < float(1 << 52)
    column = f.when(is_bigint, rounded)
    double = f.when(is_small, rounded.cast("double")).otherwise(number)
    return Integer(column, wide=lambda: f.lit(None).cast(DECIMAL), rounded=double, is_tight=True)


def has_double(value: Integer) -> bool:
    """Whether an integer is a constant that a double holds exactly."""
    return value.low == value.high and abs(value.low) <= 1 << 53


def chosen(test: Column, then: Integer, otherwise: Integer) -> Integer:
    """Returns one of two integers."""
    is_narrow = then.is_narrow and otherwise.is_narrow
    return Integer(
        f.when(test, then.column).otherwise(otherwise.column),
        min(then.low, otherwise.low),
        max(then.high, otherwise.high),
        None if is_narrow else lambda: f.when(test, then.decimal).otherwise(otherwise.decimal),
    )


def compared(sign: str, left: Integer, right: Integer, what: str) -> Column:
    """Returns whether a comparison holds."""
    compare = COMPARED[sign]
    if left.rounded is not None and has_double(right):
        return compare(left.rounded, f.lit(float(right.low)))
    if right.rounded is not None and has_double(left):
        return compare(f.lit(float(left.low)), right.rounded)
    narrow = compare(left.column, right.column)
    if left.is_narrow and right.is_narrow:
        return narrow
    return f.coalesce(narrow, compare(left.decimal, right.decimal), beyond(what, "boolean"))


def computed(name: str, *arguments: Integer, what: str) -> Integer:
    """Returns the result of an operator or function of integers."""
    match name, arguments:
        case "pos", (value,):
            return value
        case "neg", (value,):
            return _exact("-", known(0), value)
        case "abs", (value,):
            if value.low >= 0:
                return value
            negative = compared("<", value, known(0), what=what)
            size = max(abs(value.low), abs(value.high))
            return replace(chosen(negative, _exact("-", known(0), value), value), low=0, high=size)
        case "min" | "max", (left, right):
            is_right = compared("<" if name == "min" else ">", right, left, what=what)
            of = min if name == "min" else max
            low, high = of(left.low, right.low), of(left.high, right.high)
            return replace(chosen(is_right, right, left), low=low, high=high)
        case _, (left, right):
            return _exact(name, left, right)
    raise AssertionError(f"{name} of {len(arguments)} integers")


def _exact(name: str, left: Integer, right: Integer) -> Integer:
    plain, tried = _EXACT[name]
    low, high = bounds_of(name, (left.low, left.high), (right.low, right.high))
    if left.is_narrow and right.is_narrow and low >= LEAST and high <= MOST:
        return Integer(plain(left.column, right.column), low, high)
    return Integer(
        tried(left.column, right.column),
        low,
        high,
        lambda: tried(left.decimal, right.decimal).cast(DECIMAL),
        is_tight=left.is_narrow and right.is_narrow,
    )


def bounds_of(name: str, left: Sequence[Any], right: Sequence[Any]) -> tuple[Any, Any]:
    """Returns the bounds of a sum, difference or product of two numbers within bounds, from the bounds'
    ends."""
    ends = [_EXACT[name][0](a, b) for a in left for b in right]
    return min(ends), max(ends)


def may_be_divided(left: Integer, right: Integer) -> bool:
    """Whether `divided` takes a dividend that may exceed 64 bits."""
    return left.rounded is None and right.low == right.high > 0


def divided(name: str, narrow: Column, left: Integer, right: Integer, what: str) -> Integer:
    """Returns `left // right` or `left % right` for a divisor that is a constant above 0, and a dividend
    that may exceed 64 bits; `narrow` is the result where it does not, null elsewhere."""
    by = right.decimal
    rest = f.try_mod(left.decimal, by)
    wide = f.when((rest != 0) & ((rest < 0) != (by < 0)), rest + by).otherwise(rest)
    if name == "//":
        # Without a remainder, the fraction digits of Spark's quotient are zeros.
        wide = f.try_divide(f.try_subtract(left.decimal, wide), by)
    result = replace(of_method(name, narrow, (left, right)), wide=lambda: wide.cast(DECIMAL))
    if result.low < LEAST or result.high > MOST:
        return result
    return replace(result, column=whole(result, what), wide=None)


_EXACT: dict[str, tuple[Callable[..., Any], Callable[..., Column]]] = {
    "+": (operator.add, f.try_add),
    "-": (operator.sub, f.try_subtract),
    "*": (operator.mul, f.try_multiply),
}
