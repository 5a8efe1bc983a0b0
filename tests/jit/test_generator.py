"""A `generator` over columns gives a list of what its function yields row by row in plain Python."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colkern as ck
from colkern import schema as s
from colkern.cpu.threads import set_num_threads
from colkern.errors import CompileError, UnsupportedError
from colkern.interchange import import_array
from colkern.jit import Generator, generator


def column(values: list[Any], type_: Any = None, skipped: int = 0) -> Any:
    """A column of those values that starts at slot `skipped` of its buffers."""
    return import_array(pa.array([None] * skipped + values, type_).slice(skipped))


def listed(generator: Generator, *columns: list[Any]) -> list[Any]:
    """The items that the plain function yields for each row, None where an argument is."""
    rows = zip(*columns, strict=True)
    return [None if None in row else list(generator.function(*row)) for row in rows]  # type: ignore[call-overload]


skips = st.integers(0, 70)


@generator
def words(text: str) -> Iterator[str]:
    """The words between spaces."""
    start = 0
    for i in range(len(text)):
        if text[i] == " ":
            if start < i:
                yield text[start:i]
            start = i + 1
    if start < len(text):
        yield text[start:]


def test_a_parameter_with_a_default_may_be_left_out() -> None:
    @generator
    def grams(text: str, size: int = 2, filler: str = "-") -> Iterator[str]:
        padded = filler + text + filler
        for start in range(len(padded) - size + 1):
            yield padded[start : start + size]

    values = ["ab", "c"]
    plain: Any = grams.function
    assert grams(column(values)).to_pylist() == [list(plain(v)) for v in values]
    assert grams(column(values), 3).to_pylist() == [list(plain(v, 3)) for v in values]
    with pytest.raises(TypeError, match="no column for size"):
        grams(column(values), filler="+")


texts = st.lists(st.none() | st.text("ab é€😀 ", max_size=12), max_size=100)


@given(values=texts, skipped=skips)
def test_parts_of_text(values: list[Any], skipped: int) -> None:
    actual = words(column(values, pa.utf8(), skipped))
    actual.validate(full=True)
    assert actual.type == s.list_(s.utf8())
    assert actual.to_pylist() == listed(words, values)
    assert not words.report().left


@generator
def multiples(x: int, count: int):
    for k in range(count):
        if k == 3:
            yield None
        else:
            yield x * k


@given(
    rows=st.lists(
        st.tuples(st.none() | st.integers(-9, 9), st.none() | st.integers(-1, 6)), max_size=150
    ),
    a=skips,
    b=skips,
)
def test_numbers_and_nulls_among_the_items(rows: list[Any], a: int, b: int) -> None:
    xs, counts = [x for x, _ in rows], [n for _, n in rows]
    actual = multiples(column(xs, pa.int64(), a), column(counts, pa.int8(), b))
    actual.validate(full=True)
    assert actual.type == s.list_(s.int64())
    assert actual.to_pylist() == listed(multiples, xs, counts)
    items = actual.children[0]
    assert items.null_count == items.to_pylist().count(None)


@given(values=texts, skipped=skips)
def test_explode_gives_the_row_of_each_item(values: list[Any], skipped: int) -> None:
    rows, items = words.explode(column(values, pa.utf8(), skipped))
    assert rows.type == s.int64()
    assert list(zip(rows.to_pylist(), items.to_pylist(), strict=True)) == [
        (row, item) for row, each in enumerate(listed(words, values)) for item in each or ()
    ]


@generator(nulls="pass")
def spelled(text: str | None, times: int) -> str | None:  # type: ignore[misc]
    if text is None:
        yield None
        return
    for k in range(times):
        yield "start" if k == 0 else text.upper() + "é"


@given(
    rows=st.lists(st.tuples(st.none() | st.text(max_size=3), st.none() | st.integers(0, 3))),
    skipped=skips,
)
def test_a_null_may_be_passed(rows: list[Any], skipped: int) -> None:
    values, times = [v for v, _ in rows], [t for _, t in rows]
    actual = spelled(column(values, pa.utf8(), skipped), column(times, pa.int64()))
    actual.validate(full=True)
    expected = [None if t is None else list(spelled.function(v, t)) for v, t in rows]  # type: ignore[call-overload]
    assert actual.to_pylist() == expected


class Part(NamedTuple):
    place: int
    text: str


def named_tuples(text: str):
    for place, part in enumerate(text.split(",")):
        yield Part(place, part)


def dictionaries(text: str):
    for part in text.split(","):
        key, _, value = part.partition("=")
        if not value:
            continue
        yield {"key": key, "value": float(value)}


def delegating(text: str):
    yield len(text)
    yield from range(text.count("a"))
    yield from (ord(c) for c in text if c > "a")


def attempts(text: str):
    for part in text.split():
        try:
            yield int(part)
        except ValueError:
            yield None
            return
        finally:
            done = part  # noqa: F841
    yield -1


ROWS = ["a=1,b=2.5", "", "12 7 x 3", "é,=,a=b", "1 2", "aba"]


@pytest.mark.parametrize("plain", [named_tuples, dictionaries, delegating, attempts])
def test_items_of_many_forms(plain: Any) -> None:
    result = generator(plain)
    rows = [row for row in ROWS if plain is not dictionaries or "=b" not in row]
    actual = result(column(rows)).to_pylist()
    expected = [list(plain(row)) for row in rows]
    if plain is named_tuples:
        expected = [[item._asdict() for item in each] for each in expected]
    assert actual == expected
    assert result.source()


def nested(n: int):
    for i in range(n):
        yield None if i == 1 else ([i] * i, {str(i): i})


def test_items_of_items() -> None:
    actual = generator(nested)(column([0, 3]))
    actual.validate(full=True)
    assert actual.to_pylist() == [
        [],
        [{"f0": [], "f1": [("0", 0)]}, None, {"f0": [2, 2], "f1": [("2", 2)]}],
    ]


def twice(x):
    yield x
    yield x


@pytest.mark.parametrize(
    ("returns", "values"),
    [
        (s.bool_(), [True, False]),
        (s.uint8(), [0, 255]),
        (s.float32(), [0.5, -1.0]),
        (s.large_utf8(), ["", "é"]),
        (s.binary(), [b"\xff", b""]),
    ],
    ids=str,
)
def test_items_of_each_kind(returns: s.DataType, values: list[Any]) -> None:
    actual = generator(twice, returns=returns)(column(values))
    actual.validate(full=True)
    assert (actual.type, actual.to_pylist()) == (s.list_(returns), [[v, v] for v in values])


def test_items_of_several_types_share_one() -> None:
    @generator
    def mixed(x: int):
        yield x
        yield x / 2

    actual = mixed(column([3]))
    assert (actual.type, actual.to_pylist()) == (s.list_(s.float64()), [[3.0, 1.5]])

    @generator
    def unlike(x):
        yield x
        yield "a"

    with pytest.raises(UnsupportedError, match="results that are int or str: declare their type"):
        unlike(column([3]))


def test_large_lists_are_declared() -> None:
    @generator(returns=s.large_list(s.int32()))
    def pair(x: int):
        yield x
        yield -x

    actual = pair(column([1, None]))
    assert (actual.type, actual.to_pylist()) == (s.large_list(s.int32()), [[1, -1], None])


def test_encoded_columns_are_gone_through_by_their_values() -> None:
    values = ["a b", None, "c", "a b"]
    encoded = import_array(pa.array(values).dictionary_encode())
    assert words(encoded).to_pylist() == [["a", "b"], None, ["c"], ["a", "b"]]


def test_threads_share_the_rows() -> None:
    count = 400_003
    numbers = np.arange(count)
    mask = numbers % 1001 == 0
    lines = pa.array([f"{n} {n}" if n % 3 else "" for n in range(count)])
    set_num_threads(3)
    try:
        actual = multiples(pa.array(numbers, mask=mask), pa.array(numbers % 3))
        split = words(lines)
    finally:
        set_num_threads(0)
    sizes = np.where(mask, 0, numbers % 3)
    assert np.array_equal(np.diff(pa.array(actual).offsets.to_numpy()), sizes)
    flat = [k * n for n in numbers.tolist() for k in range(sizes[n])]
    assert actual.children[0].to_pylist() == flat
    expected = [[str(n), str(n)] if n % 3 else [] for n in range(count)]
    assert pa.array(split).equals(pa.array(expected))


def test_few_rows_and_none() -> None:
    actual = words(column([], pa.utf8()))
    actual.validate(full=True)
    assert (actual.type, len(actual)) == (s.list_(s.utf8()), 0)
    assert words(column([""])).to_pylist() == [[]]
    assert words(column([None], pa.utf8())).to_pylist() == [None]
    assert [part.to_pylist() for part in words.explode(column([""]))] == [[], []]


# Rows left to Python, and errors


def test_rows_that_compiled_code_does_not_cover_are_pythons() -> None:
    @generator
    def squares(x: int):
        yield x
        yield x * x // x

    values = [3, 2**40, -(2**62), 5]
    assert squares(column(values)).to_pylist() == listed(squares, values)
    assert sum(squares.report().left.values()) == 2


def test_an_exception_says_in_which_row_it_was_raised() -> None:
    @generator
    def checked(x: int):
        yield x
        if x < 0:
            raise ValueError("negative")

    values = np.ones(300_000, np.int64)
    values[[123_456, 200_000]] = -1
    with pytest.raises(ValueError, match="negative") as caught:
        checked(pa.array(values))
    assert caught.value.__notes__ == ["checked: row 123456"]


def test_an_item_that_does_not_fit_has_a_row_too() -> None:
    with pytest.raises(OverflowError, match="int8") as caught:
        generator(twice, returns=s.int8())(column([1, 200]))
    assert caught.value.__notes__ == ["twice: row 1"]


def test_what_compiled_code_does_not_cover_is_refused_or_runs_in_python() -> None:
    def numbers(count: int) -> Iterator[int]:
        drawn = random.choice([1, 2])
        for _ in range(count):
            yield drawn

    with pytest.raises(CompileError, match="choice"):
        generator(numbers)
    with pytest.warns(UserWarning, match="numbers runs in Python"):
        result = generator(numbers, fallback=True)
    assert [len(each) for each in result(column([3, 0])).to_pylist()] == [3, 0]
    assert "choice" in result.report().reason


def test_what_is_no_generator_function() -> None:
    with pytest.raises(TypeError, match=r"expected a generator function, got .*; see ck\.udf"):
        generator(len)
    with pytest.raises(CompileError, match="day_time_interval"):
        generator("(int64)", returns=s.day_time_interval())(twice)
    with pytest.raises(TypeError, match="words takes 1 column, got 2"):
        words(column(["a"]), column(["a"]))


def test_what_and_where_it_does_not_compile() -> None:
    with pytest.raises(CompileError) as caught:

        @generator
        def broken(x: str):
            yield x.nothing  # type: ignore[attr-defined]  # HERE

    assert str(caught.value).startswith("broken does not compile: ")
    assert f'File "{__file__}", line ' in str(caught.value)
    assert "yield x.nothing  # " in str(caught.value)

    with pytest.raises(CompileError, match="Yield has no compiled form"):

        @generator
        def told(x: int):
            y = yield x
            yield y


# What else it is


def test_it_looks_like_its_function() -> None:
    assert (words.__name__, words.__doc__) == ("words", "The words between spaces.")
    assert repr(words) == "<colkern generator words(text: str) -> string>"
    assert words.result_type(s.utf8()) == s.list_(s.utf8())
    assert ck.generator is generator
    assert pickle.loads(pickle.dumps(words)) is words
