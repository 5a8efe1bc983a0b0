"""Numbers and text as formatted text, against Python's `str` and `format`."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows.bodies import LEFT, run

from colkern.kernels import number_formatting as texts
from colkern.rows.methods import function_of
from colkern.rows.methods.formatting import METHODS, body_of_format

LEAST, MOST = -(1 << 63), (1 << 63) - 1
VALUES: dict[type, list[Any]] = {
    bool: [False, True],
    int: [
        0,
        1,
        -1,
        9,
        10,
        -100,
        999,
        1234,
        99999999,
        100000000,
        10**16,
        10**16 - 1,
        MOST,
        -MOST,
        LEAST,
    ],
    float: [
        *(0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 12.0, 100.0, 1234.5678, -1234567.891, 0.1, 0.045, 99.995),
        *(
            1e-4,
            1e-5,
            1.5e-7,
            0.00012345678901234567,
            0.30000000000000004,
            9.9999,
            999999.5,
            123456.0,
        ),
        *(1e15, 9007199254740991.0, 1e16, 1e22, 1e300, 5e-324, math.nan, math.inf, -math.inf),
    ],
    str: ["", "a", "abc", "héé", "日本語テキスト", "😀é\0", "x" * 20],
}
SPECIFICATIONS = [
    "",
    "d",
    "05d",
    "+d",
    " d",
    ",",
    "_",
    "_x",
    "x",
    "X",
    "#x",
    "#010b",
    "o",
    "n",
    "c",
    "-^8,",
    "=+8d",
    "010,d",
    "012,.1f",
    "+09,",
    "04,",
    "#014_x",
    "5",
    "z.1f",
    "0<8",
    "é>5",
    "10",
    "<10",
    ">10",
    "^11",
    "*^11",
    ".f",
    ".2f",
    ",.2f",
    "+.1f",
    "08.2f",
    ".0f",
    ".10f",
    ".16f",
    ".20f",
    "f",
    "F",
    ".3e",
    ".0e",
    ".16e",
    "E",
    "g",
    ".3g",
    ".15g",
    ".17g",
    "G",
    ".1%",
    "%",
    ".1",
    ".3",
    "10.4",
    "#.2f",
    ".15",
    "s",
    ".3s",
    ".0s",
    "10.3",
    "=5",
    "05",
]
ORDINARY = {
    int: (
        "",
        "d",
        "05d",
        "+d",
        ",",
        "x",
        "X",
        "#x",
        "b",
        "o",
        "10",
        ">8",
        "<8",
        "^8",
        ".2f",
        ".1%",
    ),
    float: (
        "",
        ".2f",
        ",.2f",
        "08.2f",
        "+.1f",
        ".0f",
        ".3e",
        "g",
        ".3g",
        ".1%",
        "10",
        ">10.2f",
        ".3",
    ),
    str: ("", "s", "10", "<10", ">10", "^10", "*^10", ".3"),
    bool: ("", "d", "5"),
}
"""Specifications for which ordinary values are not left to Python."""


def formatted(value: Any, specification: str) -> Any:
    """Python's result, or the class of its exception."""
    try:
        return format(value, specification)
    except (ValueError, OverflowError) as error:
        return type(error)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_format(kind: type, specification: str) -> None:
    body = body_of_format(kind, specification)
    for value in VALUES[kind]:
        result = run(body, value)
        assert result is LEFT or result == formatted(value, specification), value


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_values_are_not_left(kind: type) -> None:
    values: dict[type, list[Any]] = {
        int: [0, 7, -12, 123456],
        float: [0.0, 0.5, -12.25, 1234.5678, 0.001, 1e5, 0.1 + 0.2],
        str: ["", "abc", "é"],
        bool: [True, False],
    }
    for specification in ORDINARY[kind]:
        for value in values[kind]:
            result = run(body_of_format(kind, specification), value)
            assert result == format(value, specification)


COMPILED = [
    (int, "+,"),
    (int, "#06x"),
    (float, "012,.1f"),
    (float, ",.2f"),
    (float, ".3e"),
    (float, "^12.4g"),
    (str, "*^6.4"),
]


@pytest.mark.parametrize(("kind", "specification"), COMPILED)
def test_format_compiled(kind: type, specification: str) -> None:
    body = body_of_format(kind, specification)
    for value in VALUES[kind]:
        result = run(body, value, by="compiled")
        assert result is LEFT or result == format(value, specification), value


FLOATS = st.floats() | st.floats(-1e6, 1e6) | st.decimals(-(10**9), 10**9, places=3).map(float)


@settings(max_examples=200, deadline=None)
@given(FLOATS)
@example(1025 / 2**20)
@example(9007199254740991.0)
@example(2.0**-30)
@example(1e-4)
def test_str_of_any_float(value: float) -> None:
    result = run(texts.str_of_float, value, by="compiled")
    assert result is LEFT or result == str(value)
    assert result is not LEFT or not 1e-4 <= abs(value) < 9e15


@settings(max_examples=100, deadline=None)
@given(FLOATS)
def test_rounded_text_of_any_float(value: float) -> None:
    for specification in (",.2f", ".3e", "^12.4g"):
        result = run(body_of_format(float, specification), value, by="compiled")
        assert result is LEFT or result == format(value, specification)


def test_str_of_floats_of_all_sizes() -> None:
    numbers = random.Random(1)
    for places in range(-13, 53):
        for value in (
            2.0**places,
            math.nextafter(2.0**places, 0.0),
            numbers.getrandbits(53) * 2.0 ** (places - 52),
            float(10 ** (places // 4)) if places >= 0 else 10.0 ** (places // 4),
            round(numbers.uniform(0, 2.0**places), 2),
        ):
            result = run(texts.str_of_float, value, by="compiled")
            assert result == str(value) or abs(value) < 1e-4


INTEGERS = st.integers(LEAST, MOST) | st.integers(-1000, 1000)


@settings(max_examples=100, deadline=None)
@given(INTEGERS)
def test_str_of_any_integer(value: int) -> None:
    result = run(texts.integer_of_width, value, 1, by="compiled")
    assert result is LEFT or result == str(value)


@pytest.mark.parametrize("function", [hex, oct, bin])
def test_bases(function: Callable[[int], str]) -> None:
    body = function_of(next(row.body for row in METHODS if row.name == function.__name__))
    for value in VALUES[int]:
        result = run(body, value)
        assert result is LEFT or result == function(value)


@pytest.mark.parametrize("by", ["plain", "compiled"])
def test_str_of_bool(by: str) -> None:
    assert [run(texts.str_of_bool, value, by=by) for value in (True, False)] == ["True", "False"]


@pytest.mark.parametrize("room", range(16, 120, 8))
def test_a_full_arena_is_told(room: int) -> None:
    from colkern.kernels.row_values import NO_ROOM

    for body, value, wanted in (
        (body_of_format(float, "+20,.2f"), 1234.5, format(1234.5, "+20,.2f")),
        (body_of_format(str, ">10"), "abc", "       abc"),
        (texts.str_of_float, 12.5, "12.5"),
        (body_of_format(int, "#b"), 5, "0b101"),
    ):
        assert run(body, value, room=room) in (NO_ROOM, wanted)


def test_each_row_that_is_not_made() -> None:
    for row in METHODS:
        if callable(row.body) and not row.maker:
            kind = {"int": int, "float": float, "bool": bool}[row.signature[1:].split(")")[0]]
            function = {"repr": repr, "hex": hex, "oct": oct, "bin": bin}.get(row.name, str)
            assert run(row.body, kind(1)) == function(kind(1))
