"""Each rule of native plans beside Python itself: columns and constants, ANSI on and off, any time zone."""

from __future__ import annotations

import ast
import datetime
import importlib
import itertools
import math
import random
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from colkern.kernels.calendar import KEPT
from colkern.rows.table import NO_DEFAULT, Parameter, Row, table
from colkern.spark.native.rule import Operand, literal
from colkern.spark.native.translation import RULES

pytestmark = pytest.mark.spark

ROWS = 600
MICROSECOND = datetime.timedelta(microseconds=1)
DAY = 86_400_000_000
_SPACE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_LETTERS = "aaab, -+0é\u0301𝄞\t\n"
_random = random.Random(7)

EXTREMES: dict[str, list[Any]] = {
    "int": [
        *(
            0,
            1,
            -1,
            2,
            -2,
            3,
            -3,
            5,
            7,
            -7,
            10,
            12,
            13,
            28,
            29,
            30,
            31,
            63,
            64,
            65,
            100,
            -100,
            1000,
        ),
        *((1 << 63) - 1, -(1 << 63), -(1 << 63) + 1, (1 << 53) - 1, 1 << 53, (1 << 53) + 1),
        *(
            -(1 << 53) - 1,
            (1 << 31) - 1,
            1 << 31,
            -(1 << 31),
            1 << 32,
            1 << 62,
            10**18 + 1,
            1900,
            2000,
        ),
        *(2023, 2024, (1 << 62) + 1, 999983),
    ],
    "float": [
        *(
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            3.0,
            0.1,
            -0.1,
            0.7,
            1e-320,
            5e-324,
            -5e-324,
        ),
        *(math.nan, math.inf, -math.inf, 1e308, -1e308, 2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63),
        *(
            -(2.0**63),
            2.0**62,
            2.0**52 + 0.5,
            2.0**51 + 0.5,
            1e16,
            1e22,
            2.675,
            1.005,
            0.125,
            0.375,
        ),
        *(
            1e-9,
            123456.785,
            2.0**46 + 0.125,
            2.0**46 + 0.375,
            2.0**49 + 0.625,
            0.29,
            1.1,
            9.2e18,
            1e300,
        ),
    ],
    "bool": [False, True],
    "str": [
        *(
            "",
            " ",
            "a",
            "abc",
            "a,b",
            "a,b,c,",
            ",",
            ",,",
            "é",
            "e\u0301",
            "𝄞",
            "a𝄞b",
            "Straße",
            "ΑΣ",
            "İ",
        ),
        *(
            "12",
            "-12",
            "+5",
            "٣",
            "²",
            "½",
            "1.5",
            "x-y-z",
            "\x1c",
            "\u3000a\u3000",
            "\xa0",
            "a\nb\r\nc",
        ),
        *("ab ab", "aaaa", "-", "+", "%", "_", "a.b", "\\E", "[a]", "\x00", _SPACE, "日本語", "中"),
    ],
    "bytes": [b"", b"a", b"abc", b"\xff", "é𝄞".encode(), b"\xed\xa0\x80", b"\xc0\x80", b"a,b"],
    "date": [
        datetime.date(*parts)
        for parts in (
            *(
                (1, 1, 1),
                (1, 1, 7),
                (1, 12, 31),
                (999, 5, 4),
                (1000, 1, 1),
                (1582, 10, 4),
                (1582, 10, 10),
            ),
            *(
                (1582, 10, 15),
                (1600, 2, 29),
                (1900, 2, 28),
                (1969, 12, 31),
                (1970, 1, 1),
                (2000, 2, 29),
            ),
            *(
                (2018, 11, 4),
                (2020, 12, 31),
                (2021, 1, 3),
                (2023, 3, 1),
                (2024, 2, 29),
                (9999, 12, 31),
            ),
        )
    ],
    "datetime": [
        datetime.datetime(*parts)
        for parts in (
            *((1, 1, 1), (1, 1, 1, 0, 0, 0, 1), (999, 5, 4, 3, 2, 1, 500000), (1582, 10, 10, 12)),
            *((1969, 12, 31, 23, 59, 59, 999999), (1970, 1, 1), (2000, 2, 29, 12, 30, 15, 123456)),
            *((2018, 11, 4, 0, 30), (2023, 3, 26, 2, 30), (9999, 12, 31, 23, 59, 59, 999999)),
        )
    ],
    "timedelta": [
        datetime.timedelta(microseconds=number)
        for number in (
            *(
                0,
                1,
                -1,
                999999,
                -999999,
                10**6,
                DAY,
                -DAY,
                DAY - 1,
                -DAY - 1,
                30 * DAY,
                36525 * DAY,
            ),
            *(
                (1 << 63) - 1,
                -(1 << 63),
                (1 << 53) + 1,
                -3652059 * DAY,
                3652058 * DAY,
                90_061_000_001,
            ),
        )
    ],
    "list[str]": [[], ["a"], ["a", "b"], ["", "x", "𝄞"], ["a", "b", "c", "a"]],
}
_FORMATS = [
    "%Y-%m-%d",
    "%d.%m.%y",
    "%A %a %B %b",
    "%j %U %W %V",
    "%I:%M %p",
    "%H:%M:%S.%f",
    "%c é %% %e %w %u",
]
CONSTANTS = {
    "format": _FORMATS,
    "format_spec": ["", *_FORMATS],
    "sep": ["T", " ", "é"],
    "": [
        "5",
        "05d",
        "+,",
        ">9,d",
        "*^8",
        "é<7",
        "-=6",
        " d",
        "_",
        ".2",
        ".3s",
        "^4.1",
        ">0",
        ".2f",
        "+,.1f",
        "012.3F",
        ".1%",
        "*^14.0f",
        "f",
    ],
    "timespec": ["auto", "hours", "minutes", "seconds", "milliseconds", "microseconds"],
}
"""The arguments for parameters that must be constant, by name."""

_TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "str": pa.string(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "timedelta": pa.int64(),
    "list[str]": pa.list_(pa.string()),
}
_SQL = {
    "int": "bigint",
    "float": "double",
    "bool": "boolean",
    "str": "string",
    "bytes": "binary",
    "date": "date",
    "datetime": "timestamp_ntz",
    "timedelta": "bigint",
    "list[str]": "array<string>",
}
_COLUMNS = 7
"""The most parameters of one kind."""


def _drawn(kind: str, number: int) -> Any:
    """A value of a kind: an extreme or a random one, of later columns mostly a small one."""
    if _random.random() < (0.3 if number and kind == "int" else 0.5):
        return _random.choice(EXTREMES[kind])
    if kind == "int":
        return (
            _random.randint(-4, 12)
            if number
            else _random.choice([_random.randint(-1000, 1000), _random.getrandbits(63) - (1 << 62)])
        )
    if kind == "float":
        return _random.choice(
            [_random.gauss(0, 100), round(_random.gauss(0, 100), 3), _random.randint(-9, 9) / 8]
        )
    if kind == "str":
        return "".join(_random.choices(_LETTERS, k=_random.randint(0, 2 if number else 9)))
    if kind == "date":
        return datetime.date.fromordinal(_random.randint(1, 3652059))
    if kind == "datetime":
        days = datetime.timedelta(
            days=_random.randint(0, 3652058), microseconds=_random.randrange(DAY)
        )
        return datetime.datetime(1, 1, 1) + days
    if kind == "timedelta":
        return datetime.timedelta(microseconds=_random.randint(-(10**14), 10**14))
    return _random.choice(EXTREMES[kind])


DATA = {
    (kind, number): [_drawn(kind, number) for _ in range(ROWS)]
    for kind in EXTREMES
    for number in range(_COLUMNS)
}


def _stored(value: Any) -> Any:
    """A Python object as Spark holds it."""
    if isinstance(value, datetime.timedelta):
        return value // MICROSECOND
    return tuple(map(_stored, value)) if isinstance(value, tuple) else value


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> Iterator[DataFrame]:
    names = {key: Of(*key).name for key in DATA}
    arrays = [pa.array(list(map(_stored, DATA[key])), _TYPES[key[0]]) for key in DATA]
    rows = pa.table(dict(zip(names.values(), arrays, strict=True)))
    schema = ", ".join(f"{name} {_SQL[kind]}" for (kind, _), name in names.items())
    # Expressions over rows that the driver holds would be computed there, by other code.
    frame = spark.createDataFrame(rows, schema=schema).persist()
    yield frame
    frame.unpersist()


@dataclass(frozen=True)
class Of:
    """A column."""

    kind: str
    number: int

    @property
    def name(self) -> str:
        return re.sub(r"\W+", "_", f"{self.kind} {self.number}")


@dataclass
class Case:
    """A rule with arguments.

    Args:
        name: The operation's name.
        row: The row of the table.
        arguments: For each parameter a constant, or the column that it is.
        columns: The condition under which Python raises, and the value's items.
    """

    name: str
    row: Row
    arguments: list[Any]
    columns: list[Column]

    def __str__(self) -> str:
        return f"{self.name} {self.row.method.signature} {self.arguments}"


_VARIABLES = {"T": "str", "K": "date", "V": "float"}


def _kind(parameter: Parameter) -> str:
    return re.sub(r"\b[TKV]\b", lambda match: _VARIABLES[match[0]], ast.unparse(parameter.kind))


def _cases(name: str, row: Row) -> Iterator[Case]:
    """All arguments columns, the first alone, all but the first; constants that the rule takes."""
    kinds = list(map(_kind, row.parameters))
    columns = [
        Of(kind, kinds[:place].count(kind)) if kind in EXTREMES else None
        for place, kind in enumerate(kinds)
    ]
    places = range(len(kinds))
    for chosen in itertools.chain(
        [places], [range(1)] * 3, [places[1:]], [range(2)][: len(places) - 2]
    ):
        for _ in range(12):
            arguments = [
                _constant(parameter, place)
                if kind != "None" and (place not in chosen or columns[place] is None)
                else columns[place]
                for place, (kind, parameter) in enumerate(zip(kinds, row.parameters, strict=True))
            ]
            actual = _columns(name, row, arguments)
            if actual and any(isinstance(argument, Of) for argument in arguments):
                yield Case(name, row, arguments, actual)
                break


def _constant(parameter: Parameter, place: int) -> Any:
    if parameter.default is not NO_DEFAULT and _random.random() < 0.6:
        return parameter.default
    if parameter.is_constant:
        return _random.choice(CONSTANTS[parameter.name])
    container, *items = re.findall(r"\w+", _kind(parameter))
    if container in ("dict", "set") or (items and place):
        drawn = [{_drawn(item, 1): None for _ in range(_random.randint(1, 20))} for item in items]
        pairs = dict(zip(drawn[0], itertools.cycle(drawn[-1])))
        return pairs if container == "dict" else set(pairs) if container == "set" else list(pairs)
    return _drawn(_kind(parameter), place)


def _operand(argument: Any) -> Operand | None:
    if argument is None:
        return None
    if isinstance(argument, Of):
        return Operand(f.col(argument.name))
    return Operand(literal(argument), argument)


def _columns(name: str, row: Row, arguments: list[Any]) -> list[Column]:
    """The condition under which Python raises, and the value's items; none if there is no expression."""
    rule = RULES[name, row.method.signature]
    operands = [_operand(argument) for argument in arguments]
    value = rule.value(*operands)
    if value is None:
        return []
    fails = rule.fails(*operands) if rule.fails else None
    fails = f.lit(False) if fails is None else fails
    items = value if isinstance(value, tuple) else (value,)
    return [fails, *(f.when(~fails, item) for item in items)]


_SIGNS = {
    "neg": "-x[0]",
    "pos": "+x[0]",
    "~": "~x[0]",
    "[]": "x[0][x[1]]",
    "[:]": "x[0][x[1]:x[2]]",
}
_SIGNS["[::]"] = "x[0][x[1]:x[2]:x[3]]"
# Of more than 64 bits either way.
_SIGNS["<<"] = "x[0] << min(x[1], 200)"


def _python(name: str, row: Row) -> Callable[..., Any]:
    """The operation as Python has it."""
    kinds = list(map(_kind, row.parameters))
    if name in _SIGNS or name == "in" or not name.replace(".", "").isidentifier():
        return eval(f"lambda *x: {_SIGNS.get(name, f'x[0] {name} x[1]')}")
    owner, _, attribute = name.rpartition(".")
    if owner == kinds[0].partition("[")[0]:

        def method(first: Any, *rest: Any) -> Any:
            actual = getattr(first, attribute)
            return _called(actual, row, rest, 1) if callable(actual) else actual

        return method
    module, *path = (owner or "builtins").split(".")
    function: Any = importlib.import_module(module)
    for part in (*path, attribute):
        function = getattr(function, part)
    return lambda *values: _called(function, row, values, 0)


def _called(function: Callable[..., Any], row: Row, values: Sequence[Any], start: int) -> Any:
    positional, named = [], {}
    for parameter, value in zip(row.parameters[start:], values, strict=True):
        if not parameter.name or function is format:
            positional.append(value)
        elif value != KEPT:
            named[parameter.name] = value
    return function(*positional, **named)


_FAILED: Any = object()


def _expected(case: Case) -> list[Any]:
    function = _python(case.name, case.row)
    columns = [
        DATA[a.kind, a.number] if isinstance(a, Of) else itertools.repeat(a, ROWS)
        for a in case.arguments
    ]
    results = []
    for values in zip(*columns, strict=True):
        try:
            result = _stored(function(*values))
            items = result if isinstance(result, tuple) else (result,)
            is_wide = any(
                isinstance(item, int) and not -(1 << 63) <= item < 1 << 63 for item in items
            )
            results.append(_FAILED if is_wide else result)
        except (ArithmeticError, LookupError, ValueError, OSError):
            results.append(_FAILED)
    return results


def _bits(value: Any) -> Any:
    """A key that tells values apart: -0.0 from 0.0, True from 1; all NaN are one."""
    if isinstance(value, tuple | list):
        return [_bits(item) for item in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return type(value).__name__, value


def _listed(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; those as text that Python does not have, as days of the year 10000."""
    try:
        return column.to_pylist()
    except OverflowError:
        return [_plain(value) for value in column]


def _plain(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except OverflowError:
        return value.cast(pa.string()).as_py()


def _difference(case: Case, expected: list[Any], results: pa.Table, place: int) -> str:
    """The first row in which a rule gives something else than Python; empty if there is none."""
    names = [name for name in results.column_names if name.startswith(f"{place}_")]
    fails, *items = (_listed(results[name]) for name in names)
    values = list(zip(*items, strict=True))
    for number, wanted in enumerate(expected):
        given = _FAILED if fails[number] else values[number]
        plain = given[0] if given is not _FAILED and not isinstance(wanted, tuple) else given
        is_null = given is _FAILED and any(item is not None for item in values[number])
        if (plain is _FAILED) != (wanted is _FAILED) or is_null or _bits(plain) != _bits(wanted):
            row = [
                DATA[a.kind, a.number][number] if isinstance(a, Of) else a for a in case.arguments
            ]
            shown = ["raises" if v is _FAILED else repr(v) for v in (plain, wanted)]
            return f"{case}: of {row}: {shown[0]}, in Python {shown[1]}"
    return ""


def test_rules_give_what_python_gives(spark: SparkSession, frame: DataFrame) -> None:
    rows = {(name, row.method.signature): row for name, rows in table().items() for row in rows}
    assert set(rows) >= set(RULES)
    cases = [case for name, form in RULES for case in _cases(name, rows[name, form])]
    assert {(case.name, case.row.method.signature) for case in cases} == set(RULES)
    kept = {
        key: spark.conf.get(key) for key in ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")
    }
    expected = list(map(_expected, cases))
    differences = []
    try:
        for ansi, zone in (("true", "America/Sao_Paulo"), ("false", "Asia/Kathmandu")):
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            spark.conf.set("spark.sql.session.timeZone", zone)
            for start in range(0, len(cases), 60):
                some = cases[start : start + 60]
                columns = [
                    column.alias(f"{place}_{number}")
                    for place, case in enumerate(some)
                    for number, column in enumerate(case.columns)
                ]
                results = frame.select(*columns).toArrow()
                actual = [
                    _difference(case, expected[start + place], results, place)
                    for place, case in enumerate(some)
                ]
                differences += [f"ANSI {ansi}: {text}" for text in actual if text]
    finally:
        for key, value in kept.items():
            spark.conf.set(key, value)
    assert not differences, "\n" + "\n".join(differences)


def test_parts_of_split_texts_are_those_of_python(spark: SparkSession) -> None:
    rule = RULES["str.split", "(str, sep: str, maxsplit: int = -1) -> list[str]"]
    assert rule.item is not None
    texts = ["".join(_random.choices("ab, é😀", k=_random.randrange(12))) for _ in range(300)]
    cases, columns = [], []
    for separator, most, place in itertools.product(
        (",", "ab", ", ", "é,", "aa", "aba"), (-2, -1, 0, 1, 2), range(-4, 4)
    ):
        operands = Operand(f.col("text")), *map(_operand, (separator, most))
        item = rule.item(place, *operands)
        # The texts that overlap are other ones, counted from the end.
        assert (item is not None) == (
            separator not in ("aa", "aba") and (most < 0 or 0 <= place <= most)
        )
        if item:
            cases.append((separator, most, place))
            columns.append(item().alias(repr(cases[-1])))
    results = spark.createDataFrame([(text,) for text in texts], "text string").select(*columns)
    for case, values in zip(cases, results.toArrow(), strict=True):
        separator, most, place = case
        parts = [text.split(separator, most) for text in texts]
        expected = [p[place] if -len(p) <= place < len(p) else None for p in parts]
        assert values.to_pylist() == expected, case


def test_the_least_and_greatest_of_a_float_and_a_constant(spark: SparkSession) -> None:
    values = EXTREMES["float"]
    constants = (0.0, 1.0, -2.5, 5e-324, -1.7976931348623157e308, math.inf, -math.inf, math.nan)
    cases = [*itertools.product((min, max), constants, (False, True))]
    columns = []
    for choose, constant, is_first in cases:
        operands = [Operand(f.col("x")), Operand(f.lit(constant), constant)][
            :: -1 if is_first else 1
        ]
        column = RULES[choose.__name__, "(float, float) -> float"].value(*operands)
        assert isinstance(column, Column)
        columns.append(column.alias(str(len(columns))))
    results = spark.createDataFrame([(x,) for x in values], "x double").select(*columns).toArrow()
    for (choose, constant, is_first), column in zip(cases, results, strict=True):
        expected = [choose(constant, x) if is_first else choose(x, constant) for x in values]
        assert _bits(column.to_pylist()) == _bits(expected), (choose, constant, is_first)
