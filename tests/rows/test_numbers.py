"""The rows of the table of methods for numbers, against Python's own."""

from __future__ import annotations

import builtins
import math
import operator
import random
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice, product
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows.bodies import LEFT, run

import colkern as ck
from colkern.cpu import primitives
from colkern.generated import function_of_text
from colkern.kernels import float_digits, number_parsing, row_numbers
from colkern.kernels import primitives as plain_primitives
from colkern.rows.methods import Method, function_of
from colkern.rows.methods.numbers import METHODS

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": lambda value, places: value << places if places < 100 else LEFT,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "~": operator.invert,
    "neg": operator.neg,
    "pos": operator.pos,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LEAST, MOST = -(1 << 63), (1 << 63) - 1
LARGEST = 1.7976931348623157e308
ALL = (1 << 64) - 1

VALUES: dict[str, list[Any]] = {
    "bool": [False, True],
    "unsigned": [0, 1, 7, 10, 63, (1 << 53) + 1, MOST, 1 << 63, (1 << 63) + 1, ALL - 6, ALL],
    "int": [
        0,
        1,
        -1,
        2,
        3,
        -7,
        10,
        62,
        63,
        -63,
        1 << 53,
        (1 << 53) + 1,
        3037000500,
        MOST,
        LEAST,
        -MOST,
    ],
    "float": [
        *(0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 0.1, -7.3, 1e-5, 709.75, 1e17),
        *(float(1 << 53), float(1 << 63), 4503599627370497.0, 1e300, LARGEST, 5e-324, 2.2e-308),
        *(math.inf, -math.inf, math.nan),
    ],
    "str": [
        *(
            "",
            "0",
            "7",
            "-12",
            "+5",
            " 12\n",
            "\x1c7",
            "1_000",
            "_1",
            "1_",
            "1__0",
            "--1",
            "- 1",
            "1 2",
        ),
        *(
            "9223372036854775799",
            "-9223372036854775808",
            "99999999999999999999",
            "00012",
            "1\0",
            "x",
        ),
        *(
            "٣",
            "a٣",
            "12\xa0",
            "é",
            "0x1f",
            "0XfF",
            "ff",
            "0b11",
            "0o17",
            "zz",
            "0x",
            "0x_1",
            "_0x1",
        ),
        *(
            "1.5",
            ".5",
            "5.",
            ".",
            "-",
            "1e5",
            "1E-3",
            "1e",
            "1e+",
            "1e 5",
            "1ex",
            "1e5.",
            "1.2.3",
            "1x",
        ),
        *(
            "inf",
            "-INF",
            "nan",
            "NaN",
            "infinity",
            "Infinit",
            "1e400",
            "1e-400",
            "-0.0",
            "0e9",
            "1e1_0",
        ),
        *(
            "0.1",
            "0.30000000000000004",
            "123456789.123456789",
            "1e23",
            "9007199254740993",
            "5e-324",
        ),
        *("1.7976931348623157e308", "8.5e-25", "123456789012345678e-20", "0.12345678901234567"),
    ],
}
SMALL = {"math.factorial", "math.comb", "math.perm", "**", "pow"}
"""Functions whose oracle takes long for large numbers."""

NAMES = {
    name: getattr(primitives, name)
    for name in ("sum_overflows", "difference_overflows", "product_overflows")
}


def kinds(row: Method) -> list[str]:
    """The kinds of the parameters of a row."""
    inner = row.signature[1 : row.signature.index(") ->")]
    return [part.partition("=")[0].rpartition(":")[2].strip() for part in inner.split(",")]


def as_words(row: Method, values: tuple[Any, ...], form: type = int) -> list[Any]:
    """Arguments as a body takes them: unsigned integers as signed ones with the same bits."""
    return [
        form(value - (value >> 63 << 64)) if kind == "unsigned" else value
        for kind, value in zip(kinds(row), values, strict=True)
    ]


def as_results(row: Method, result: Any) -> Any:
    """A body's result with unsigned integers in place of the signed ones with the same bits."""
    hint = row.signature.partition("-> ")[2]
    if hint.startswith("tuple[unsigned") and isinstance(result, tuple):
        return result[0] & ALL, *result[1:]
    return result & ALL if hint == "unsigned" and isinstance(result, int) else result


def cases(row: Method) -> list[tuple[Any, ...]]:
    """Arguments for a row."""
    values = [VALUES[kind] for kind in kinds(row)]
    if row.name == "math.isclose":
        values[2:] = [[0.0, 1e-9, 0.5, -1.0], [0.0, 1.0, -1.0]]
    if row.name == "int" and len(values) == 2:
        values[1] = [0, 2, 8, 10, 16, 36, 1, 37]
    if row.name == "round" and len(values) == 2:
        values[1] = [0, 1, 2, 5, -1, -2, -18, -19, 17, 22, 23, 400]
    actual = list(product(*values))
    if row.name in SMALL and "int" in kinds(row):
        actual = [case for case in actual if all(abs(value) < 70 for value in case)]
    if row.name == "pow":
        actual = random.Random(1).sample(actual, 300)
    if row.name == "<<":
        actual = [case for case in actual if case[1] < 100]
    return actual


def expected(row: Method, values: tuple[Any, ...]) -> Any:
    """Python's result, or the class of its exception."""
    name = row.name
    function: Any = OPERATORS.get(name)
    if function is None:
        function = builtins
        for part in name.split("."):
            function = {"math": math, "operator": operator}.get(part) or getattr(function, part)
    try:
        if name == "math.isclose":
            return math.isclose(values[0], values[1], rel_tol=values[2], abs_tol=values[3])
        return function(*values)
    except (ArithmeticError, ValueError) as error:
        return type(error)


def same(given: Any, wanted: Any) -> bool:
    """Whether two results are the same, also in type and sign."""
    return repr(given) == repr(wanted)


def of_text(row: Method, *values: Any) -> Any:
    """The result of a row of text as plain Python."""
    names = [f"a{place}" for place in range(len(values))]
    namespace = {"math": math, **{n: getattr(plain_primitives, n) for n in NAMES}}
    namespace |= dict(zip(names, as_words(row, values), strict=True))
    if row.check and eval(row.check.format(*names), namespace):
        return LEFT
    return as_results(row, eval(str(row.body).format(*names), namespace))


@cache
def compiled_texts(signature: str) -> Any:
    """All rows of text of some parameters, compiled as one function: `(value, left)` of each."""
    rows = [row for row in TEXTS if row.signature.startswith(signature)]
    names = [f"a{place}" for place in range(len(kinds(rows[0])))]
    lines = [
        f"({str(row.body).format(*names)}, {row.check.format(*names) or False})," for row in rows
    ]
    body = "\n        ".join(lines)
    source = f"def call({', '.join(names)}):\n    return (\n        {body}\n    )\n"
    namespace = {"__name__": __name__, "math": math, **NAMES}
    function = function_of_text("call", source, namespace, "test of rows")
    return numba.njit(error_model="numpy")(function), rows


TEXTS = [row for row in METHODS if isinstance(row.body, str)]
BODIES = [
    replace(row, body=function_of(row.body))
    for row in METHODS
    if not isinstance(row.body, str) and (row.name != "pow" or len(kinds(row)) == 3)
]


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: row.name + row.signature)
def test_rows_of_text(row: Method) -> None:
    for values in cases(row):
        result = of_text(row, *values)
        assert result is LEFT or same(result, expected(row, values)), values


@pytest.mark.parametrize("signature", sorted({row.signature.partition(" ->")[0] for row in TEXTS}))
def test_rows_of_text_compiled(signature: str) -> None:
    function, rows = compiled_texts(signature + " ->")
    for values in cases(Method("", signature + " -> int", "")):
        for row, (result, left) in zip(rows, function(*as_words(rows[0], values)), strict=True):
            assert bool(left) == (of_text(row, *values) is LEFT), (row, values)
            assert left or same(as_results(row, result), expected(row, values)), (row, values)


@pytest.mark.parametrize("by", ["plain", "compiled"])
@pytest.mark.parametrize("row", BODIES, ids=lambda row: row.name + row.signature)
def test_bodies(row: Method, by: str) -> None:
    tried = cases(row)
    if by == "plain" and len(tried) > 200:
        tried = random.Random(len(tried)).sample(tried, 200)
    for values in tried:
        result = as_results(row, run(row.body, *as_words(row, values, np.int64), by=by))
        assert result is LEFT or same(result, expected(row, values)), values


@pytest.mark.parametrize("row", BODIES, ids=lambda row: row.name + row.signature)
def test_ordinary_numbers_are_not_left(row: Method) -> None:
    ordinary = {
        "int": [1, 2, 3, 7],
        "unsigned": [1, 2, 3, 7],
        "float": [0.5, 2.0, 12.25, 1.1, 1e5],
        "str": ["1", "12", "7"],
    }
    for values in islice(product(*(ordinary[kind] for kind in kinds(row))), 100):  # type: ignore[call-overload]
        if row.name == "math.hypot" or "base" in row.signature:
            continue
        assert run(row.body, *values) is not LEFT, values


FLOATS = st.floats() | st.integers(-(1 << 60), 1 << 60).map(float)


@settings(max_examples=60, deadline=None)
@given(FLOATS, FLOATS)
def test_arithmetic_of_any_floats(left: float, right: float) -> None:
    for row in BODIES:
        if kinds(row) == ["float", "float"]:
            given = run(row.body, left, right, by="compiled")
            assert given is LEFT or same(given, expected(row, (left, right))), row


@pytest.mark.parametrize("by", ["plain", "compiled"])
@pytest.mark.parametrize("divisor", [0.1, 0.3, 7.0, 1 / 3, 1e-300, 1e280, 1.5e-323, -0.7])
def test_remainders_of_quotients_near_integers(divisor: float, by: str) -> None:
    rows = [row for row in BODIES if row.name in ("%", "//") and kinds(row) == ["float", "float"]]
    assert len(rows) == 2
    for quotient in (1, 2, 3, 1_000_003, 2**51 + 1, 2**52, 2**53 + 2):
        exact = quotient * divisor
        for left in (math.nextafter(exact, 0), exact, math.nextafter(exact, 2 * exact), -exact):
            for row in rows:
                result = run(row.body, left, divisor, by=by)
                assert same(result, expected(row, (left, divisor))), (left, row)


@settings(max_examples=60, deadline=None)
@given(st.integers(LEAST, MOST), st.integers(LEAST, MOST))
def test_arithmetic_of_any_integers(left: int, right: int) -> None:
    for row in BODIES:
        if kinds(row) == ["int", "int"] and row.name not in {*SMALL, "<<"}:
            given = run(row.body, left, right, by="compiled")
            assert given is LEFT or same(given, expected(row, (left, right))), row


def bits() -> random.Random:
    """Numbers that are the same in each run."""
    return random.Random(1)


@pytest.mark.parametrize("exponent", [2.0, 0.5, -1.0, 3.0, 1.37])
def test_powers_with_a_constant_exponent_are_those_of_c(exponent: float) -> None:
    """LLVM would take a product for a square, a root for a power of one half."""
    source = f"def call(x):\n    return body(x, {exponent})\n"
    namespace = {"__name__": __name__, "body": compiled_body(row_numbers.power_of_floats)}
    call = numba.njit(function_of_text("call", source, namespace, "test of powers"))
    numbers = bits()
    for _ in range(20_000):
        value = numbers.uniform(-1e3 if exponent.is_integer() else 0, 1e3)
        given, code = call(value)
        assert code == 0
        assert given == value**exponent


def compiled_body(body: Callable[..., Any]) -> Any:
    """A body as compiled code calls it."""
    from colkern.cpu.compiler import compiled

    return compiled(body)


def test_hypot_is_python_s() -> None:
    numbers = bits()
    left = 0
    for _ in range(5_000):
        x, y = numbers.uniform(-1e3, 1e3), numbers.uniform(-1, 1) * 10 ** numbers.randrange(4)
        given = run(row_numbers.hypot, x, y, by="compiled")
        left += given is LEFT
        assert given is LEFT or given == math.hypot(x, y)
    assert left < 50


@settings(max_examples=150, deadline=None)
@given(st.lists(FLOATS | st.sampled_from([0.1, 1e16, 1.0, -1e16, 1e308]), min_size=1))
def test_sums_of_floats_are_those_of_python_from_3_12_on(values: list[float]) -> None:
    total, lost = 0.0, 0.0
    for value in values:
        lost = run(row_numbers.lost_by_addition, total, value, lost)
        total += value
    actual = run(row_numbers.with_lost, total, lost)
    if sys.version_info >= (3, 12):
        assert same(actual, float(sum(values)))
    elif all(map(math.isfinite, values)) and math.isfinite(sum(map(abs, values))):
        # Of the sum without a rounding, the most that Neumaier's may be off.
        spread = math.fsum(map(abs, values)) * len(values) ** 2 * 2**-104
        assert abs(actual - math.fsum(values)) <= abs(math.fsum(values)) * 2**-52 + spread


@settings(max_examples=150, deadline=None)
@given(FLOATS, st.integers(-25, 25))
def test_rounding_of_any_float(value: float, digits: int) -> None:
    given = run(float_digits.round_float, value, digits, by="compiled")
    assert given is LEFT or same(given, round(value, digits))


def spelled() -> st.SearchStrategy[str]:
    number = st.from_regex(
        r"[-+]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?", fullmatch=True
    )
    return number | FLOATS.map(repr) | st.text("0123456789.eE+-_ \tinfaxé", max_size=12)


@settings(max_examples=150, deadline=None)
@given(spelled())
def test_numbers_that_any_text_spells(text: str) -> None:
    for body, function in (
        (number_parsing.parse_integer, int),
        (number_parsing.parse_float, float),
    ):
        given = run(body, text, by="compiled")
        try:
            wanted: Any = function(text)
        except ValueError:
            wanted = ValueError
        assert given is LEFT or same(given, wanted)


@pytest.mark.parametrize(
    "text",
    [
        "1_0.0_5",
        "1e2_0",
        "1__0",
        "1_",
        "1_.5",
        "1._5",
        "_1",
        "1_e5",
        "2.5e",
        "2.5em",
        "1e+",
        "1e9_",
        ".",
        "._1",
        "-",
        "1e400",
        "-1e400",
        "1e-400",
        "0e999",
        "12345678901234567890",
        "3.14159265358979323846",
        "1152921504606846976.5",
        "0.0001234567890123456789",
    ],
)
def test_floats_that_are_not_left(text: str) -> None:
    try:
        wanted: Any = float(text)
    except ValueError:
        wanted = ValueError
    assert same(run(number_parsing.parse_float, text), wanted)


def test_floats_are_read_exactly() -> None:
    call = numba.njit(
        function_of_text(
            "call",
            "def call(v, e):\n    return body(v, e)\n",
            {"__name__": __name__, "body": compiled_body(number_parsing.decimal_float)},
            "test of decimals",
        )
    )
    numbers = bits()
    for _ in range(20_000):
        value, exponent = numbers.getrandbits(numbers.randrange(1, 61)), numbers.randrange(-26, 28)
        given, code = call(value, exponent)
        assert code == 0
        assert given == float(f"{value}e{exponent}")
    # The middle between two floats, and its neighbours.
    for _ in range(5_000):
        tens = numbers.randrange(0, 3)
        value = (2 * (numbers.getrandbits(52) | 1 << 52) + 1) * 5**tens + numbers.randrange(-1, 2)
        given, code = call(value, -tens)
        assert given == float(f"{value}e{-tens}")


def test_a_float_of_any_bits_is_read_back() -> None:
    numbers = bits()
    for _ in range(300):
        (value,) = struct.unpack("d", numbers.randbytes(8))
        given = run(number_parsing.parse_float, repr(value), by="compiled")
        assert (
            given is LEFT
            or np.float64(given).tobytes() == np.float64(value).tobytes()
            or value != value
        )


RAISING = [row for row in METHODS if row.check and row.raises]


@pytest.mark.parametrize("row", RAISING, ids=lambda row: row.name)
def test_where_a_check_says_that_python_raises_it_does(row: Method) -> None:
    of_python = getattr(math, row.name.removeprefix("math."))
    for value in (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -1.5, 1e300, math.inf, -math.inf, math.nan):
        try:
            of_python(value)
            raised = False
        except ValueError:
            raised = True
        assert eval(row.check.format(f"({value!r})"), {"inf": math.inf, "nan": math.nan}) == raised


def logarithm(x: float) -> float:
    try:
        return math.log10(math.log(x))
    except ValueError:
        return -1.0


def test_a_domain_error_that_is_caught_leaves_no_row() -> None:
    values = [100.0, 0.5, 0.0, -2.0, 1.0]
    compiled = ck.udf(logarithm)
    assert compiled(ck.array(values)).to_pylist() == list(map(logarithm, values))
    assert not compiled.report().left
