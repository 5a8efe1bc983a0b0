"""Calls of the table of methods by loops and kernels: the body, its arguments, its exceptions.

`colkern.jit.elements` for the CPU and `colkern.jit.device` for CUDA ask here, so that a method of the table
(`colkern.rows.table`) has one meaning.
"""

from __future__ import annotations

import calendar
import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from colkern.errors import UnsupportedError
from colkern.kernels import row_values
from colkern.rows import kinds as k
from colkern.rows.calls import body_of, find
from colkern.rows.folding import OPERATORS
from colkern.rows.kinds import Kind
from colkern.rows.methods import COMPARISONS
from colkern.rows.table import table
from colkern.rows.values import Value

_OPERATORS = (*COMPARISONS, "+", "-", "*", "/", "//", "%", "neg", "pos")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: function for name, function in OPERATORS.values() if name in _OPERATORS},
    **{f.__name__: f for f in (len, bool, int, float, ord, abs, min, max, divmod, format)},
    **{
        f"{f.__module__}.{f.__name__}": f
        for f in (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)
    },
    **{
        f"calendar.{f.__name__}": f
        for f in (calendar.isleap, calendar.monthrange, calendar.weekday)
    },
}
"""The operators and functions of the table that take elements."""

MODULES = ("datetime.", "calendar.")
"""The functions of these take numbers, and give elements."""


@cache
def names_of(owner: str) -> tuple[str, ...]:
    """The methods and attributes of a kind in the table."""
    start = f"{owner}."
    names = (name for name in table() if name.startswith(start))
    return tuple(name.removeprefix(start) for name in names if name.count(".") == 1)


def is_attribute(owner: str, name: str) -> bool:
    """Whether a name of a kind is an attribute, not a method."""
    return not callable(getattr(getattr(datetime, owner, None), name, len))


@dataclass(frozen=True)
class Called:
    """The body of a method for some operands.

    Args:
        name: The method's name in the table.
        body: A body, or an expression as text.
        check: As in `colkern.rows.methods`.
        arguments: The arguments of the body, each with the name of the kind that the body expects, or "".
        result: The kind of the result.
        bindings: The kinds that the variables of the row stand for.
    """

    name: str
    body: Any
    check: str
    arguments: tuple[tuple[Value, str], ...]
    result: Kind
    bindings: Mapping[str, Kind]


def called(
    name: str, operands: Sequence[Value | None], named: Mapping[str, Value | None]
) -> Called | None:
    """The body of a method of the table; None if no row takes the operands.

    Args:
        name: The method's name in the table.
        operands: The positional arguments; None for values of kinds that rows do not have.
    """
    if None in operands or None in named.values():
        return None
    chosen = find(name, operands, named)  # type: ignore[arg-type]
    if chosen is None:
        return None
    row, arguments, bindings = chosen
    body, pairs = body_of(row, arguments)
    taken = ((value, getattr(one.kind, "id", "")) for value, one in pairs)
    present = tuple(pair for pair in taken if pair[0].kind != k.NONE)
    return Called(name, body, row.method.check, present, row.result(bindings), bindings)


# Failures

_INSTEAD: dict[type[Exception], type[Exception]] = {
    UnicodeDecodeError: ValueError,
    UnicodeEncodeError: ValueError,
    decimal.InvalidOperation: ArithmeticError,
}
"""The exceptions for others: those of Unicode need a position that no body gives."""


def failures(name: str) -> dict[int, tuple[type[Exception], str]]:
    """The exception and its text for each code that a body returns.

    Args:
        name: The name of the failed method.
    """
    left = f"{name} of these values has no compiled form: row functions alone leave it to Python"
    failures_by_code: dict[int, tuple[type[Exception], str]] = {
        row_values.LEFT: (UnsupportedError, left),
        row_values.NO_ROOM: (MemoryError, f"{name} makes more than there is room for"),
        row_values.OTHER_ERROR: (UnsupportedError, left),
    }
    for kind, code in row_values.CODES.items():
        error = _INSTEAD.get(kind, kind)
        failures_by_code[code] = error, f"{name} raises {error.__name__} for these values"
    return failures_by_code
