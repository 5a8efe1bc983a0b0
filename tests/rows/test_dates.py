"""The rows of the table of methods for dates, times and durations, against Python's own."""

from __future__ import annotations

import ast
import calendar
import datetime
import inspect
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows.bodies import LEFT, Memory, run

from colkern.errors import UnsupportedError
from colkern.kernels import calendar as civil
from colkern.kernels import clock, date_text, primitives
from colkern.rows import date_formats
from colkern.rows.methods import Method
from colkern.rows.methods.dates import METHODS, UTC_METHODS

KINDS = {name: getattr(datetime, name) for name in ("date", "time", "datetime", "timedelta")}
OPERATORS: dict[str, Callable[..., Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "bool": bool,
    "str": str,
    "format": format,
    "divmod": divmod,
}
LARGE = 2**63 - 1
DAYS = [datetime.date(*ymd) for ymd in ((1970, 1, 1), (2024, 2, 29), (1900, 2, 28), (2021, 1, 3))]
TIMES = [
    datetime.time(),
    datetime.time(23, 59, 59, 999999),
    datetime.time(9, 5, 7),
    datetime.time(12, 0, 30, 40),
]
POOLS: dict[str, list[Any]] = {
    "date": [*DAYS, datetime.date.min, datetime.date.max, datetime.date(1066, 12, 31)],
    "time": TIMES,
    "datetime": [
        datetime.datetime.min,
        datetime.datetime.max,
        *(datetime.datetime.combine(day, time) for day, time in zip(DAYS, TIMES, strict=True)),
    ],
    "timedelta": [
        datetime.timedelta(microseconds=number)
        for number in (0, 1, -1, 86_399_999_999, 86_400_000_000, -86_400_000_000, 3_723_000_004)
        + (10**13 + 10, 10**17 + 1, -(10**17) - 999, 2**62, LARGE, -LARGE - 1)
    ],
    "int": [0, 1, -1, 2, 7, 719163, 3652059, 3652060, -86400, 1_700_000_000, 2**40, LARGE, -LARGE],
    "float": [0.0, -0.5, 1.5e-06, 2.5e-06, 1e9 + 0.1, -1e10, 1e300, float("nan"), float("-inf")],
    "year": [1, 2024, 1900, 9999, 0, 10000, -4, 2**31, 400],
    "month": [1, 2, 12, 0, 13, -(2**31) - 1],
    "day": [1, 28, 29, 30, 31, 0, 32, 2**31],
    "hour": [0, 23, 24, -1],
    "minute": [0, 59, 60],
    "second": [0, 59, 60],
    "microsecond": [0, 999999, 1000000, -(2**40)],
    "sep": ["T", " ", "é", "--"],
    "timespec": ["auto", "hours", "minutes", "seconds", "milliseconds", "microseconds", "days"],
    "format": ["%Y-%m-%d", "%H:%M:%S.%f %p", "%A, %d %B %j week %V of %G %%"],
    "format_spec": ["", "%d.%m.%y %I %a %b %U %W %u %w"],
    "str": ["2024-02-29", "2023-02-29", "", "12:30", "2024-02-29T12:30:00.123456", "n/a", "٢024-01-01"],
    "strptime": ["%Y-%m-%d", "%H:%M", "%z"][:2],
}
"""Values by the name of a parameter, or by its kind."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a row; one without a name is called by its position."""

    name: str
    kind: str
    default: str


@cache
def parameters(row: Method) -> list[Parameter]:
    found = []
    for k, part in enumerate(row.signature[1 : row.signature.index(") ->")].split(",")):
        declared, _, default = part.partition("=")
        name, _, kind = declared.rpartition(":")
        found.append(Parameter(name.strip() or f"_{k}", kind.strip(), default.strip()))
    return found


def oracle(row: Method) -> Callable[..., Any]:
    """What Python does for the name of a row."""
    if row.name in OPERATORS:
        return OPERATORS[row.name]
    owner, _, name = row.name.partition(".")
    first = parameters(row)[0]
    if (first.name, first.kind) == ("_0", owner):
        member = getattr(KINDS[owner], name)
        return member if inspect.isroutine(member) else operator.attrgetter(name)
    found: Any = {"datetime": datetime, "calendar": calendar}[owner]
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def expected(row: Method, values: dict[str, Any]) -> Any:
    """What Python gives, or the class of its exception; dates and times as numbers."""
    by_position = [*values.values()]
    named: dict[str, Any] = {}
    if row.name.rpartition(".")[2] in ("replace", "isoformat", *KINDS):
        by_position = [value for name, value in values.items() if name.startswith("_")]
        named = {name: value for name, value in values.items() if not name.startswith("_")}
    try:
        return as_numbers(oracle(row)(*by_position, **named))
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


def as_numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(as_numbers, value))
    return Memory(0).argument(value) if type(value) in KINDS.values() else value


def by_row(row: Method, values: dict[str, Any], by: str) -> Any:
    """What the row gives."""
    body: Any = row.body
    given, constants = [], []
    for parameter in parameters(row):
        known = parameter.name in values
        value = values[parameter.name] if known else ast.literal_eval(parameter.default)
        if parameter.kind == "const":
            constants.append(value)
        else:
            given.append(float(value) if parameter.kind == "float" else value)
    if row.made:
        body = body(*constants)
    if not isinstance(body, str):
        return run(body, *given, by=by)
    numbers = [as_numbers(value) for value in given]
    if row.check and eval(row.check.format(*numbers), vars(primitives)):
        return LEFT
    return eval(body.format(*numbers))


@cache
def samples(row: Method) -> list[dict[str, Any]]:
    """Arguments for a row: each value of the pools, some of those that have defaults left out."""
    chance = random.Random(row.signature)
    pools = {}
    for parameter in parameters(row):
        own = "strptime" if row.name.endswith("strptime") else "format"
        name = parameter.name if parameter.name in POOLS else parameter.kind
        pools[parameter] = POOLS[own if name == "const" else name]
    found = []
    for turn in range(3 * max(map(len, pools.values()))):
        values = {}
        for parameter, pool in pools.items():
            value = pool[turn] if turn < len(pool) else chance.choice(pool)
            if not parameter.default or chance.random() < 0.5:
                values[parameter.name] = value
        found.append(values)
    return found


def label(row: Method) -> str:
    return f"{row.name}{row.signature.partition(' ->')[0]}"[:60]


@pytest.mark.parametrize("row", METHODS, ids=label)
def test_row_gives_what_python_gives(row: Method) -> None:
    left = 0
    for values in samples(row):
        found = by_row(row, values, "plain")
        if found == LEFT:
            left += 1
            continue
        wanted = expected(row, values)
        assert (found, type(found)) == (wanted, type(wanted)) or found != found, values
    assert left < len(samples(row)) or row.name == "datetime.timestamp"
