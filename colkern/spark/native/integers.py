"""Integers in Spark's expressions: exact as in Python where they leave 64 bits on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as f

LEAST, MOST = -(1 << 63), (1 << 63) - 1

DECIMAL = "decimal(38,0)"


@dataclass(frozen=True)
class Integer:
    """An integer, and what is known of it.

    Args:
        column: Its bigint; null where it leaves 64 bits.
        low: It is at least so large.
        high: It is at most so large.
        wide: Its decimal of 38 digits, if it may leave 64 bits; null where it has more digits.
    """

    column: Column
    low: int = LEAST
    high: int = MOST
    wide: Column | None = None

    @property
    def decimal(self) -> Column:
        """The integer as a decimal."""
        return self.column.cast(DECIMAL) if self.wide is None else self.wide

    @property
    def is_narrow(self) -> bool:
        """Whether it has 64 bits in any case."""
        return self.wide is None


def known(value: int) -> Integer:
    """A constant."""
    return Integer(f.lit(value).cast("bigint"), value, value)


def of_method(name: str, column: Column, arguments: Sequence[Integer | None]) -> Integer:
    """The integer that a method of the table gives, within the bounds that its results have."""
    low, high = _BOUNDS.get(name.rpartition(".")[2], (LEAST, MOST))
    by = arguments[1] if len(arguments) == 2 else None
    if name in ("//", "%") and by is not None and by.low == by.high > 0:
        of = arguments[0]
        assert of is not None
        low, high = (0, by.low - 1) if name == "%" else (of.low // by.low, of.high // by.low)
    return Integer(column, low, high)


_SIZE = (-1, (1 << 31) - 1)

_BOUNDS = {
    "year": (1, 9999),
    "month": (1, 12),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "microsecond": (0, 999_999),
    "weekday": (0, 6),
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
"""The bounds of the results of methods, by the last part of their names."""


def _beyond(what: str, type_: str) -> Column:
    return f.raise_error(f.lit(f"{what} has more digits than a native plan computes with")).cast(type_)


def whole(value: Integer, what: str) -> Column:
    """The bigint that a function returns: Spark raises where the integer has none, as Python does."""
    if value.is_narrow:
        return value.column
    wide = value.decimal
    fits = (wide >= f.lit(LEAST).cast(DECIMAL)) & (wide <= f.lit(MOST).cast(DECIMAL))
    error = f.raise_error(f.lit(f"{what}: an integer has more than 64 bits"))
    return f.coalesce(
        value.column, f.when(fits, wide.cast("bigint")).otherwise(error.cast("bigint"))
    )


def as_float(value: Integer, what: str) -> Column:
    """The integer as a double, rounded to the nearest."""
    if value.is_narrow:
        return value.column.cast("double")
    wide = value.decimal.cast("double")
    return f.coalesce(value.column.cast("double"), wide, _beyond(what, "double"))


def chosen(test: Column, then: Integer, otherwise: Integer) -> Integer:
    """One of two integers."""
    is_narrow = then.is_narrow and otherwise.is_narrow
    return Integer(
        f.when(test, then.column).otherwise(otherwise.column),
        min(then.low, otherwise.low),
        max(then.high, otherwise.high),
        None if is_narrow else f.when(test, then.decimal).otherwise(otherwise.decimal),
    )


def compared(sign: str, left: Integer, right: Integer, what: str) -> Column:
    """Whether a comparison holds."""
    compare = _COMPARED[sign]
    narrow = compare(left.column, right.column)
    if left.is_narrow and right.is_narrow:
        return narrow
    return f.coalesce(narrow, compare(left.decimal, right.decimal), _beyond(what, "boolean"))


_COMPARED: dict[str, Callable[[Column, Column], Column]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def computed(name: str, arguments: list[Integer], what: str) -> Integer | None:
    """What an operator or function of integers gives; None if it is none of exact arithmetic."""
    if name in ("min", "max"):
        left, right = arguments
        test = compared("<" if name == "min" else ">", right, left, what)
        bounds = min if name == "min" else max
        return replace(
            chosen(test, right, left),
            low=bounds(left.low, right.low),
            high=bounds(left.high, right.high),
        )
    if name == "abs":
        (value,) = arguments
        if value.low >= 0:
            return value
        opposite = computed("neg", arguments, what)
        assert opposite is not None
        test = compared("<", value, known(0), what)
        size = max(abs(value.low), abs(value.high))
        return replace(chosen(test, opposite, value), low=0, high=size)
    if name == "neg":
        return computed("-", [known(0), *arguments], what)
    if name == "pos":
        return arguments[0]
    if name not in _EXACT:
        return None
    return _exact(name, *arguments)


def _exact(name: str, left: Integer, right: Integer) -> Integer:
    plain, tried = _EXACT[name]
    # Of intervals, sums, differences and products have their bounds at the ends.
    ends = [_ENDS[name](a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    low, high = min(ends), max(ends)
    if left.is_narrow and right.is_narrow and low >= LEAST and high <= MOST:
        return Integer(plain(left.column, right.column), low, high)
    return Integer(
        tried(left.column, right.column),
        low,
        high,
        tried(left.decimal, right.decimal).cast(DECIMAL),
    )


_EXACT: dict[str, tuple[Callable[..., Column], Callable[..., Column]]] = {
    "+": (lambda a, b: a + b, f.try_add),
    "-": (lambda a, b: a - b, f.try_subtract),
    "*": (lambda a, b: a * b, f.try_multiply),
}

_ENDS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
