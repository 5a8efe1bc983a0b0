"""The class of the table's rules, and helpers to write rules.

Expressions mean the same with `spark.sql.ansi.enabled` and without, and in any session time zone: operators
to which ANSI gives another meaning are used only with arguments for which the meaning is the same.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.forks import cached_property
from colkern.rows.values import UNKNOWN

LEAST, MOST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Operand:
    """An argument of an operation."""

    values: Column | None  #: Its values, none of them null; None for a constant.
    #: The Python object, if it is known; `UNKNOWN` if it depends on the row.
    constant: Any = UNKNOWN
    bounds: tuple[int, int] = (LEAST, MOST)  #: The least and the greatest integer that it may be.
    #: Returns the one item that is read of a list, null if there is none, or the days that are read of a
    #: duration; None if all is needed.
    item: Callable[[], Column] | None = None

    @cached_property
    def column(self) -> Any:
        """Its values as a column; None for a constant that is no column, such as a dictionary."""
        return literal(self.constant) if self.values is None else self.values

    def is_within(self, low: int, high: int) -> bool:
        """Whether it is always an integer within bounds."""
        if isinstance(self.constant, int):
            return low <= self.constant <= high
        return low <= self.bounds[0] and self.bounds[1] <= high

    @property
    def is_constant(self) -> bool:
        """Whether the argument is known when the plan is made."""
        return self.constant is not UNKNOWN


Result: TypeAlias = Column | tuple[Column, ...] | None
"""A column, a tuple of columns for a tuple's items, or None if a rule does not take the arguments."""


@dataclass(frozen=True)
class Rule:
    """The Spark expression for a row of the table of methods.

    Both functions take an `Operand` for each parameter of the row's signature in order, with defaults
    filled in, and None for a parameter that is `None`.

    Args:
        value: Returns the expression. It is null only where `fails` holds, or the result is `V | None`.
        fails: Returns the condition under which Python raises, or gives a value that no column holds: an
            integer or duration of more than 64 bits. It is never null. None if there are no such arguments.
        is_total: Whether Spark computes `value` for all arguments without an exception, also where `fails`
            holds.
        is_slow: Whether `value` takes Spark longer than the transport of the arguments to Python.
        item: Takes the place in a list, or the name of what is read of a duration, and the operands, of
            which it reads only constants. Returns `Operand.item`.
    """

    value: Callable[..., Result]
    fails: Callable[..., Column | None] | None = None
    is_total: bool = True
    is_slow: bool = False
    item: Callable[..., Callable[[], Column] | None] | None = None


Rules: TypeAlias = dict[tuple[str, str], Rule]
"""Rules by the name and the signature of their rows."""


def of_columns(make: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of operands from a function of columns."""

    def value(*operands: Operand | None) -> Any:
        return make(*(operand and operand.column for operand in operands))

    return value


COMPARED: dict[str, Callable[[Any, Any], Column]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparisons, by their operators."""


def comparisons(kind: str) -> Rules:
    """Returns the rules of a kind whose values Spark compares as Python does."""
    test = f"({kind}, {kind}) -> bool"
    return {(sign, test): Rule(of_columns(compare)) for sign, compare in COMPARED.items()}


def order(kind: str) -> Rules:
    """Returns `comparisons`, and the rules for `min` and `max`."""
    choice = f"({kind}, {kind}) -> {kind}"
    return comparisons(kind) | {
        ("min", choice): Rule(of_columns(f.least)),
        ("max", choice): Rule(of_columns(f.greatest)),
    }


def where_null(value: Callable[..., Result]) -> Rule:
    """Returns a rule whose value is null exactly where Python raises."""

    def fails(*operands: Operand | None) -> Column | None:
        result = value(*operands)
        return None if result is None else f.isnull(result)

    return Rule(value, fails)


def literal(value: Any) -> Column | None:
    """Returns a Python object as a column of its kind's type; None if it has none.

    Durations are integers of microseconds. Dates and datetimes do not depend on the session's time zone.
    """
    match value:
        case bool() | float() | str() | bytes():
            return f.lit(value)
        case int():
            return f.lit(value).cast("bigint") if LEAST <= value <= MOST else None
        case datetime.datetime():
            return f.lit(str(value)).cast("timestamp_ntz") if value.tzinfo is None else None
        case datetime.date():
            return f.lit(str(value)).cast("date")
        case datetime.timedelta():
            return literal(value // datetime.timedelta(microseconds=1))
        case list() if all(isinstance(item, str) for item in value):
            return f.array(*map(f.lit, value)).cast("array<string>")
    return None


_DIFFERENCES = {
    "lower upper title capitalize casefold swapcase islower isupper istitle": (
        "Java has another version of Unicode"
    ),
    "isalpha isalnum isdigit isdecimal isnumeric": "pandas has another version of Unicode",
    "sin cos tan asin acos atan atan2 sinh cosh tanh arcsin arccos arctan hypot exp expm1 log log2 log10 "
    "log1p pow power ** cbrt": "the last digits of its results differ in Java",
    "search match fullmatch sub findall finditer extract": "regular expressions differ in Java",
}
"""The reasons why some methods, by the last parts of their names, have no native plan."""


def no_form(method: str) -> str:
    """Returns the reason why a method has no rule; parameters may follow the method's name."""
    name = re.split(r"[. `]", method.partition("(")[0].strip("`"))[-1]
    why = (why for names, why in _DIFFERENCES.items() if name in names.split())
    return ": ".join([f"{method} has no native form", *why])


def as_index(number: Column) -> Column:
    """Returns a bigint as an int; numbers near or beyond the bounds of int stay within them."""
    bound = (1 << 31) - 16
    return f.least(f.greatest(number, f.lit(-bound)), f.lit(bound)).cast("int")
