"""Native plans of functions with loops that constants end: each turn is written out."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
from corpus.runner import same
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from colkern.errors import CompileError
from colkern.spark import explain
from colkern.spark import udf as function_of_columns

udf = functools.partial(function_of_columns, plan="native")

RATES = (0.1, 0.25, 0.5)


def until_large(x: float) -> float:
    total = x
    for rate in RATES:
        if total > 100.0:
            break
        total += total * rate
    return total


def numbered(x: float) -> float:
    total = 0.0
    for place, rate in enumerate([0.5, 2.0]):
        total += x * rate + place
    return total


def returned(x: int, y: int) -> int:
    for i in range(2):
        if x == -i:
            return i
        if x < y:
            continue
        y += i
    return y


def ended(x: int, y: int) -> int:
    count = 0
    for i in (1, 2):
        if x > i:
            break
        count += y
    else:
        count -= 1
    return count


def is_divided(x: int) -> bool:
    return any(x % k == 0 for k in (2, 3)) and not all(x % k for k in range(7, 10, 2))


def marks(text: str) -> int:
    count = 0
    for mark in ("ab", "b", ""):
        if mark in text:
            count += len(mark)
    return count


def cleaned(text: str) -> str:
    for old, new in (("a", "b"), ("bb", "c"), ("c", "")):
        text = text.replace(old, new)
    return text


def payments(x: int) -> float:
    balance = due = float(x)
    for _ in range(1 if x < 10 else 2):
        balance -= x / 4
        due += balance
    return due


def nested(x: int) -> int:
    total = 0
    for i in (1, 2):
        for j in range(3, 5):
            if x == i * j:
                return -i
            if x < total:
                break
            total += i * j
    return total


def raised(x: int, y: int) -> int:
    for i in range(2):
        if x == i:
            raise ValueError("x")
        y = y % 1000 // (x % 30 - 10 * i)
    return y


def caught(x: int) -> int:
    for k in (3, 2):
        try:
            x = x // (x - k)
        except ZeroDivisionError:
            return k
    return x


def squared(x: int) -> int:
    for _ in range(3):
        x = x * x % 1000
    return x


def growing(x: int) -> int:
    total = 1
    for _ in range(4):
        total *= x
    return total // 1000


def latest(x: int | None, y: int) -> int | None:
    best = None
    for k in (1, 2):
        if x is not None and x % k == 0:
            best = k * y
    return best


def counted(x: int, y: int) -> int:
    count = 0
    for value in (x, y):
        if value < 0:
            continue
        count += 1
    return count


FUNCTIONS: list[Callable[..., Any]] = [
    *(until_large, numbered, returned, ended, is_divided, marks, cleaned, payments, nested, raised),
    *(squared, growing, latest, counted),
]


def _values(type_: str, chance: random.Random) -> list[Any]:
    if type_ == "float":
        ends = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7e308, 100.0]
        return ends + [chance.uniform(-200.0, 200.0) for _ in range(40)]
    if type_ == "str":
        return ["", *("".join(chance.choices("abcé ", k=n % 9)) for n in range(48))]
    return [*range(-12, 40), 2**63 - 1, -(2**63), 2**53 + 1]


def _rows(function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    chance = random.Random(7)
    types = [h.split(" ")[0] for name, h in function.__annotations__.items() if name != "return"]
    return [tuple(chance.choice(_values(type_, chance)) for type_ in types) for _ in range(300)] + [
        (value,) * len(types) for value in _values(types[0], chance)
    ]


def _split(
    function: Callable[..., Any], rows: list[tuple[Any, ...]]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The rows for which a column holds Python's result, and those for which Python raises, or gives an
    integer of more than 64 bits."""
    good, bad = [], []
    for row in rows:
        try:
            value = function(*row)
        except (ArithmeticError, ValueError):
            bad.append(row)
            continue
        is_large = isinstance(value, int) and not -(2**63) <= value < 2**63
        (bad if is_large else good).append(row)
    return good, bad


_TYPES = {"int": "bigint", "float": "double", "str": "string"}


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_loops_give_what_python_gives(
    spark: SparkSession, function: Callable[..., Any], ansi: str
) -> None:
    hints = [h.split(" ")[0] for n, h in function.__annotations__.items() if n != "return"]
    schema = ", ".join(f"c{n} {_TYPES[hint]}" for n, hint in enumerate(hints))
    names = [f"c{n}" for n in range(len(hints))]
    good, bad = _split(function, _rows(function))
    native = udf(function)
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        results = spark.createDataFrame(good, schema).select(native(*names)).collect()
        for row, (result,) in zip(good, results, strict=True):
            assert same(function(*row), result, None), row
        for row in bad[:3]:
            with pytest.raises(PySparkException):
                spark.createDataFrame([row], schema).select(native(*names)).collect()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_a_null_among_loops(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(None, 3), (6, None), (4, 2)], "x bigint, y bigint")
    results = frame.select(udf(latest)("x", "y"), udf(ended)("x", "y")).collect()
    assert [tuple(row) for row in results] == [
        (None, None),
        (None, None),
        (latest(4, 2), ended(4, 2)),
    ]


def halved(x: float) -> float:
    while x > 10.0:
        x /= 2
    return x


def vowels(text: str) -> int:
    return sum(letter in "aeiou" for letter in text)


def tripled(x: int) -> int:
    for _ in range(3):
        x = (x + 1) * (x - 1) // (x * x + 1)
    return x


def doubled(x: float) -> float:
    other = x
    for _ in range(30):
        x, other = other * x - 1.0, x * x + other
    return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (halved, "a loop that constants do not end within 32 turns"),
        (tripled, "its expression is too large"),
        (vowels, "a loop, a list or another value in memory"),
        (caught, "a `try`, which Spark's expressions lack"),
        (doubled, "its expression is too large"),
    ],
)
def test_other_loops_have_none(function: Callable[..., Any], reason: str) -> None:
    with pytest.raises(CompileError, match=f"{function.__name__} has no native plan: {reason}"):
        udf(function)
    assert reason in explain(function_of_columns(function, plan="auto"))
