"""The rows of the table of methods for text, against Python's own."""

from __future__ import annotations

import builtins
import inspect
import operator
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import bodies

import colkern as ck
from colkern.kernels import primitives, row_lists, row_values
from colkern.rows.methods import Method, byte_strings, function_of, text

OPERATORS: dict[str, Callable[..., Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "*": operator.mul,
    "in": lambda part, text: part in text,
    "[]": operator.getitem,
    "[:]": lambda text, *ends: text[slice(*ends)],
    "[::]": lambda text, *ends: text[slice(*ends)],
    "int.from_bytes": lambda value, order, signed: int.from_bytes(value, order, signed=signed),
}
# Plain Python gives them its own integers.
lists: Any = row_lists
words: Any = primitives

ROWS = [
    replace(row, body=function_of(row.body))
    for row in [*text.METHODS, *byte_strings.METHODS]
    if not isinstance(row.body, str) and not row.name.startswith("colkern.")
]


def oracle(row: Method) -> Callable[..., Any]:
    """Python's function for the name of a row."""
    if row.name in OPERATORS:
        return OPERATORS[row.name]
    actual: Any = builtins
    for name in row.name.split("."):
        actual = getattr(actual, name)
    return actual


def parameters(row: Method) -> list[str]:
    """The kinds of the parameters of a row."""
    inner = row.signature[1 : row.signature.index(") ->")]
    return [part.partition("=")[0].rpartition(":")[2].strip() for part in inner.split(",")]


def expected(row: Method, values: tuple[Any, ...]) -> Any:
    """Python's result, or the class of its exception."""
    try:
        return oracle(row)(*values)
    except (ValueError, IndexError, TypeError, OverflowError) as error:
        return type(error)


def pieces(memory: bodies.Memory, header: int, kind: str) -> list[Any]:
    """A list of texts or byte strings that a body made."""
    get = {"str": row_values.get_text, "bytes": row_values.get_bytes}[kind]
    count = lists.list_size(header)
    places = (lists.item_place(2, header, k) for k in range(count))
    return [memory.result(get(place)) for place in places]


def list_of(memory: bodies.Memory, items: list[Any]) -> Any:
    """A list of texts, byte strings or integers as a body takes it."""
    count = 1 if items and isinstance(items[0], int) else 2
    header = lists.new_list(memory.arena, count, len(items))
    for item in items:
        place = lists.append_place(memory.arena, count, header)
        if isinstance(item, int):
            words.set_word(place, item)
        else:
            put = row_values.set_text if isinstance(item, str) else row_values.set_bytes
            put(place, memory.argument(item))
    return header


def given_by_body(row: Method, values: tuple[Any, ...], by: str, *, full: bool = False) -> Any:
    """The result of a row's body for Python values, in the words of `bodies.run`."""
    memory = bodies.Memory(1 << 14)
    arguments = [
        list_of(memory, value) if isinstance(value, list) else value
        for value in values
        if value is not None
    ]
    if full:
        words.set_word(memory.arena + 8, words.get_word(memory.arena))
    assert callable(row.body)
    result = bodies.run_in(memory, row.body, *arguments, by=by)
    kind = row.signature.rpartition("-> list[")[2].rstrip("]")
    if row.signature.endswith("]") and "-> list" in row.signature and not isinstance(result, type):
        return (
            result if result in (bodies.LEFT, row_values.NO_ROOM) else pieces(memory, result, kind)
        )
    return result


def may_be_left(row: Method, values: tuple[Any, ...]) -> bool:
    """Whether the documentation of a row's body says that it leaves such values."""
    name = row.name.partition(".")[2]
    if name == "replace":
        return not values[1]
    if row.name == "chr":
        return values[0] in range(0xD800, 0xE000) or not -(1 << 31) <= values[0] < 1 << 31
    if name == "from_bytes":
        return len(values[0]) >= 8 or values[1] not in ("big", "little")
    return any(isinstance(value, int) and abs(value) >= 1 << 20 for value in values)


def check(row: Method, values: tuple[Any, ...], by: str) -> None:
    result = given_by_body(row, values, by)
    if result == bodies.LEFT and may_be_left(row, values):
        return
    wanted = expected(row, values)
    assert (type(result), result) == (type(wanted), wanted), (row.name, values)


TURNED = ("lower", "upper", "title", "casefold", "swapcase", "capitalize")
TESTED = ("alnum", "alpha", "decimal", "digit", "lower", "numeric", "printable", "space", "title")
CHARACTERS = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
SIGMAS = ["ΛΣ", "ΛΣ.", "ΛΣΛ", "Σ", "'Σ", "Λ\u0301Σ\u0301", "Λ\u0301Σ\u0301Λ", "ΛʰΣ", "ΣΣ Σ"]


@pytest.mark.parametrize("name", [*TURNED, *(f"is{name}" for name in (*TESTED, "upper"))])
def test_all_characters_have_the_cases_and_properties_of_this_python(name: str) -> None:
    method = getattr(str, name)
    compiled = ck.udf(method)
    texts = [*CHARACTERS, *(f"a{character}é" for character in CHARACTERS), *SIGMAS]
    assert compiled(ck.array(texts)).to_pylist() == list(map(method, texts))
    assert not compiled.report().left


@pytest.mark.parametrize("name", TURNED)
def test_no_case_takes_more_than_three_times_the_bytes(name: str) -> None:
    for character in CHARACTERS:
        assert len(getattr(character, name)().encode()) <= 3 * len(character.encode())


@pytest.mark.parametrize("function", [unicodedata.category, unicodedata.combining])
def test_unicodedata_of_all_characters(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function)
    expected = list(map(function, CHARACTERS))
    assert compiled(ck.array(CHARACTERS)).to_pylist() == expected
    assert not compiled.report().left
    with pytest.raises(TypeError):
        compiled(ck.array(["é", "éa"]))


TEXTS = [
    "",
    "a",
    "Hello, World",
    " \t they're 1st\x1f\x0b",
    "a,b,,a,b,",
    "-12.5",
    "+0000000000000000001",
    "aaaaaaaaaaaaaaaaa",
    "one\ttwo\r\nthree\n\rfour\x1c\x00five",
    "The Quick_Brown fox",
    "ZEBRA[`{@",
    "é",
    "\xa0naïve Straße\u3000\x85",
    "日本語,日本語",
    "e\u0301😀x😀\u2028",
]
PARTS = ["", "a", ",", "aa", "ox", " \t", "é", "語,", "😀"]
BYTES = [
    *(value.encode() for value in TEXTS),
    b"\x80\xff \xc3\t\xe9A\x1c\xa0",
    b"Title\xe9Case x\x85",
]
PARTS_OF_BYTES = [*(part.encode() for part in PARTS[:-2]), b"\x80", b"\xff\x1c"]
NUMBERS = [0, 1, -1, 3, 7, -8, 20, -30]
EXTREMES = [(1 << 63) - 1, -(1 << 63)]


def samples(kind: str, first: bool) -> list[Any]:
    """Values of a kind."""
    if kind == "str":
        return TEXTS if first else PARTS
    if kind == "bytes":
        return BYTES if first else PARTS_OF_BYTES
    if kind == "list[str]":
        return [[], [""], ["a"], TEXTS[:6], TEXTS]
    if kind == "list[bytes]":
        return [[], [b""], [b"a"], BYTES[:6], BYTES]
    if kind == "list[int]":
        return [[], [0], [97, 255, 0], [256], [7, -1]]
    if kind == "int":
        return NUMBERS
    return [None] if kind == "None" else [False, True]


def cases(row: Method, limit: int) -> Iterator[tuple[Any, ...]]:
    """Arguments of a row: of all combinations those that come first in a fixed disorder, and extremes."""
    kinds = parameters(row)
    every = list(product(*(samples(kind, k == 0) for k, kind in enumerate(kinds))))
    steps = next(step for step in (7919, 7907, 7901) if len(every) % step)
    yield from islice((every[k * steps % len(every)] for k in range(len(every))), limit)
    for k, kind in enumerate(kinds):
        for extreme in EXTREMES if kind == "int" and row.name != "*" else []:
            yield (*every[-1][:k], extreme, *every[-1][k + 1 :])
    if row.name == "chr":
        yield from ((code,) for code in (127, 128, 0x7FF, 0x800, 0xD800, 0xFFFF, 0x10000, 0x10FFFF))
        yield (0x110000,)
    if row.name == "ord" and kinds == ["str"]:
        yield from ((character,) for character in "a\x00\x7fé語😀")
    if row.name == "ord" and kinds == ["bytes"]:
        yield (b"\xff",)


def names(row: Method) -> str:
    return f"{row.name}{row.signature.partition(' ->')[0]}"


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_plain(row: Method) -> None:
    for values in cases(row, 40):
        check(row, values, "plain")


@pytest.mark.parametrize("row", ROWS, ids=names)
def test_compiled(row: Method) -> None:
    for values in cases(row, 300):
        check(row, values, "compiled")


TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("aA ,\t0é"), max_size=20)
ARGUMENTS = {
    "str": TEXT,
    "bytes": st.binary(max_size=20),
    "list[bytes]": st.lists(st.binary(max_size=20), max_size=4),
    "int": st.integers(-30, 30),
    "list[int]": st.lists(st.integers(-1, 256), max_size=20),
    "list[str]": st.lists(TEXT, max_size=4),
    "None": st.none(),
    "bool": st.booleans(),
}


@given(st.data())
@settings(max_examples=300)
def test_any_values(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(ROWS))
    values = tuple(data.draw(ARGUMENTS[kind]) for kind in parameters(row))
    check(row, values, "plain")


SPLITTING = ("split", "splitlines", "expandtabs")


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.name.rpartition(".")[2] in SPLITTING], ids=names
)
@pytest.mark.parametrize("mark", ["\t", "\r\n", "\x1c", " \x0b ", "\x85", "\u2028", "\u3000"])
def test_marks_at_the_ends_of_pieces(row: Method, mark: str) -> None:
    others: dict[str, Any] = {"int": 1, "bool": True, "None": None}
    for place in (0, 29, 30, 31, 32, 33, 62, 63, 64):
        of_text = "x" * place + mark + "x" * (66 - place)
        first, *kinds = parameters(row)
        owner: Any = of_text.encode() if first == "bytes" else of_text
        separator: Any = mark.encode() if first == "bytes" else mark
        check(row, (owner, *(others.get(kind, separator) for kind in kinds)), "plain")


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if callable(row.body) and "arena" in str(inspect.signature(row.body))],
    ids=names,
)
def test_no_room_is_said(row: Method) -> None:
    for values in islice(cases(row, 40), 10):
        result = given_by_body(row, values, "plain", full=True)
        assert result in (row_values.NO_ROOM, given_by_body(row, values, "plain"))
