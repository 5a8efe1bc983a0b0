"""A `generator` over columns gives a list of what its function yields row by row in plain Python."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

import colkern as ck
from colkern import schema as s
from colkern.cpu.threads import set_num_threads
from colkern.errors import CompileError, UnsupportedError
from colkern.interchange import import_array
from colkern.jit import ByteString, Generator, generator, udf


def column(values: list[Any], type_: Any = None, skipped: int = 0) -> Any:
    """A column of those values that starts at slot `skipped` of its buffers."""
    return import_array(pa.array([None] * skipped + values, type_).slice(skipped))


def listed(made: Generator, *columns: list[Any]) -> list[Any]:
    """What the plain function yields for each row, None where an argument is."""
    rows = [
        tuple(ByteString(value) if isinstance(value, str) else value for value in row)
        for row in zip(*columns, strict=True)
    ]
    return [None if None in row else list(made.function(*row)) for row in rows]


def as_text(lists: list[Any]) -> list[Any]:
    return [each and [item if item is None else str(item) for item in each] for each in lists]


skips = st.integers(0, 70)


@generator
def words(text: str) -> Iterator[str]:
    """The words between spaces."""
    start = 0
    for i in range(len(text)):
        if text[i] == ord(" "):
            if start < i:
                yield text[start:i]
            start = i + 1
    if start < len(text):
        yield text[start:]


texts = st.lists(st.none() | st.text("ab é€😀 ", max_size=12), max_size=100)


@given(values=texts, skipped=skips)
def test_parts_of_text(values: list[Any], skipped: int) -> None:
    found = words(column(values, pa.utf8(), skipped))
    found.validate(full=True)
    assert found.type == s.list_(s.utf8())
    assert found.to_pylist() == as_text(listed(words, values))


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
    found = multiples(column(xs, pa.int64(), a), column(counts, pa.int8(), b))
    found.validate(full=True)
    assert found.type == s.list_(s.int64())
    assert found.to_pylist() == listed(multiples, xs, counts)
    items = found.children[0]
    assert items.null_count == items.to_pylist().count(None)


@given(values=texts, skipped=skips)
def test_explode_gives_the_row_of_each_item(values: list[Any], skipped: int) -> None:
    rows, items = words.explode(column(values, pa.utf8(), skipped))
    expected = as_text(listed(words, values))
    assert rows.type == s.int64()
    assert list(zip(rows.to_pylist(), items.to_pylist(), strict=True)) == [
        (row, item) for row, each in enumerate(expected) for item in each or ()
    ]


@generator(nulls="pass")
def spelled(text: str | None, times: int) -> str | None:
    if text is None:
        yield None
        return
    for k in range(times):
        yield "start" if k == 0 else str(text) + "é"


@given(
    rows=st.lists(st.tuples(st.none() | st.text(max_size=3), st.none() | st.integers(0, 3))),
    skipped=skips,
)
def test_text_is_literal_or_built_and_null_for_a_passed_null(rows: list[Any], skipped: int) -> None:
    values, times = [v for v, _ in rows], [t for _, t in rows]
    found = spelled(column(values, pa.utf8(), skipped), column(times, pa.int64()))
    found.validate(full=True)
    expected = [None if t is None else list(spelled.function(v, t)) for v, t in rows]
    assert found.to_pylist() == expected


@pytest.fixture
def counted_memory() -> Iterator[None]:
    """Numba counts what compiled code allocates and frees."""
    rtsys.initialize(cpu_target.target_context)
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.mark.usefixtures("counted_memory")
def test_what_the_function_builds_is_given_back() -> None:
    columns = column(["ab"] * 1000), column([3] * 1000)
    spelled(*columns)
    before = rtsys.get_allocation_stats()
    spelled(*columns)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free > 1000


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
    found = generator(twice, returns=returns)(column(values))
    found.validate(full=True)
    assert (found.type, found.to_pylist()) == (s.list_(returns), [[v, v] for v in values])


def test_items_of_a_declared_type_are_decimals_and_dates() -> None:
    @generator
    def money(x: int) -> Annotated[int, s.decimal128(12, 2)]:
        yield x * 100
        yield x

    found = money(column([1, 2]))
    assert [[str(v) for v in each] for each in pa.array(found).to_pylist()] == [
        ["1.00", "0.01"],
        ["2.00", "0.02"],
    ]
    days = generator(twice, returns=s.date32())(column([0]))
    assert days.to_pylist() == pa.array([[0, 0]], pa.list_(pa.date32())).to_pylist()


def test_items_of_several_types_share_one() -> None:
    @generator
    def mixed(x: int):
        yield x
        yield x / 2

    found = mixed(column([3]))
    assert (found.type, found.to_pylist()) == (s.list_(s.float64()), [[3.0, 1.5]])

    @generator
    def unlike(x):
        yield x
        yield "a"

    with pytest.raises(CompileError, match="different types: int, str"):
        unlike(column([3]))


def test_large_lists_are_declared() -> None:
    @generator(returns=s.large_list(s.int32()))
    def pair(x: int):
        yield x
        yield -x

    found = pair(column([1, None]))
    assert (found.type, found.to_pylist()) == (s.large_list(s.int32()), [[1, -1], None])


def test_threads_share_the_rows() -> None:
    count = 400_003
    numbers = np.arange(count)
    mask = numbers % 1001 == 0
    lines = pa.array([f"{n} {n}" if n % 3 else "" for n in range(count)])
    set_num_threads(3)
    try:
        found = multiples(pa.array(numbers, mask=mask), pa.array(numbers % 3))
        split = words(lines)
    finally:
        set_num_threads(0)
    sizes = np.where(mask, 0, numbers % 3)
    assert np.array_equal(np.diff(pa.array(found).offsets.to_numpy()), sizes)
    flat = [k * n for n in numbers.tolist() for k in range(sizes[n])]
    assert found.children[0].to_pylist() == flat
    expected = [[str(n), str(n)] if n % 3 else [] for n in range(count)]
    assert pa.array(split).equals(pa.array(expected))


def test_few_rows_and_none() -> None:
    found = words(column([], pa.utf8()))
    found.validate(full=True)
    assert (found.type, len(found)) == (s.list_(s.utf8()), 0)
    assert words(column([""])).to_pylist() == [[]]
    assert words(column([None], pa.utf8())).to_pylist() == [None]
    assert [part.to_pylist() for part in words.explode(column([""]))] == [[], []]


# Errors


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
    with pytest.raises(OverflowError) as caught:
        generator(twice, returns=s.decimal128(2, 0))(column([99, 100]))
    assert caught.value.__notes__ == ["twice: row 1"]


def test_an_item_that_cuts_a_character_is_refused() -> None:
    @generator
    def halves(x: str) -> str:
        yield x[:1]
        yield x[1:]

    assert halves(column(["ab"])).to_pylist() == [["a", "b"]]
    with pytest.raises(ValueError, match="within a UTF-8 character") as caught:
        halves(column(["ab", "é"]))
    assert caught.value.__notes__ == ["halves: row 1"]


def test_what_depends_on_more_than_the_arguments_runs_once() -> None:
    @generator
    def numbers(count: int):
        for _ in range(count):
            yield str(np.random.randint(0, 1_000_000_000))

    found = numbers(column([3] * 300))
    found.validate(full=True)
    assert found.children[0].length == 900


def test_what_is_no_generator_function() -> None:
    with pytest.raises(TypeError, match=r"expected a generator function, got .*; see ck\.udf"):
        generator(len)
    with pytest.raises(UnsupportedError, match="day_time_interval as the result"):
        generator(twice, returns=s.day_time_interval())
    with pytest.raises(TypeError, match="words takes 1 columns, got 2"):
        words(column(["a"]), column(["a"]))


def test_what_and_where_it_does_not_compile() -> None:
    with pytest.raises(CompileError) as caught:

        @generator
        def broken(x: str):
            yield x.nothing  # HERE

    assert str(caught.value).startswith("broken does not compile: byte string has no 'nothing'")
    assert f'File "{__file__}", line ' in str(caught.value)
    assert "yield x.nothing  # HERE" in str(caught.value)

    with pytest.raises(CompileError, match="yield from") as caught:

        @generator
        def delegating(x: int):
            yield from range(x)

    with pytest.raises(CompileError, match="twice yields int64 where string is declared"):
        generator(twice, returns=s.utf8())(column([1]))
    with pytest.raises(CompileError, match="nothing yields None for every item"):

        @generator
        def nothing(x: int):
            yield None


# What else it is


@udf
def word_count(text: str) -> int:
    count = 0
    for _ in words(text):
        count += 1
    return count


def test_a_udf_may_go_through_what_another_generator_yields() -> None:
    assert word_count(column(["a b", "", "c"])).to_pylist() == [2, 0, 1]


@generator
def capitals(text: str) -> str:
    for word in words(text):
        if 65 <= word[0] <= 90:
            yield word


def test_a_generator_may_go_through_another_ones_items() -> None:
    assert capitals(column(["a B C d", "e"])).to_pylist() == [["B", "C"], []]


def test_it_looks_like_its_function() -> None:
    assert (words.__name__, words.__doc__) == ("words", "The words between spaces.")
    assert repr(words) == "<colkern generator words(text: str) -> string>"
    assert words.result_type(s.utf8()) == s.list_(s.utf8())
    assert ck.generator is generator
    assert pickle.loads(pickle.dumps(words)) is words
