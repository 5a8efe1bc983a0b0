"""Row functions over columns that lead astray, and rows that take much memory: no wrong place is read."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import mmap
import re
from typing import Any

import numpy as np
import pytest

import colkern as ck
from colkern.arrays import Array
from colkern.errors import CompileError, InvalidArrowError
from colkern.kernels.row_lists import range_size
from colkern.kernels.row_values import DONE, LEFT
from colkern.memory import Buffer
from colkern.rows import arenas

LISTS = {1: [1, 2], 2: [3]}
LIST = [4, 5]


def _buffer(values: Any, dtype: Any) -> Buffer:
    return Buffer.of_items(np.array(values, dtype))


def test_null_views_lead_nowhere() -> None:
    views = [1, 0x41, 0, 0, 1 << 20, 0, 1 << 20, 1 << 28]
    column = Array(
        ck.utf8_view(), 2, [_buffer([1], np.uint8), _buffer(views, np.int32)], null_count=1
    )

    def size(s: str | None) -> int:
        return 0 if s is None else len(s)

    assert ck.udf(size)(column).to_pylist() == [1, 0]


def test_null_list_views_lead_nowhere() -> None:
    buffers = [
        _buffer([1], np.uint8),
        _buffer([0, 1 << 28], np.int32),
        _buffer([2, 100], np.int32),
    ]
    column = Array(ck.list_view(ck.int64()), 2, buffers, [ck.array([1, 2, 3])], null_count=1)

    def total(v: list[int] | None) -> int:
        return 0 if v is None else sum(v)

    assert ck.udf(total)(column).to_pylist() == [3, 0]


@pytest.mark.parametrize("nested", [False, True])
def test_text_that_is_not_utf8_is_refused(nested: bool) -> None:
    data = _buffer([0xF0] * 8, np.uint8)
    column = Array(ck.utf8(), 1, [None, _buffer([0, 8], np.int32), data], null_count=0)

    def turned(s: str) -> str:
        return s[::-1]

    def first(v: list[str]) -> str:
        return v[0][::-1]

    if nested:
        offsets = _buffer([0, 1], np.int32)
        column = Array(ck.list_(ck.utf8()), 1, [None, offsets], [column], null_count=0)
    with pytest.raises(InvalidArrowError, match="not UTF-8"):
        ck.udf(first if nested else turned)(column)


def test_what_stands_under_a_null_need_not_be_utf8() -> None:
    buffers = [
        _buffer([1], np.uint8),
        _buffer([0, 2, 4], np.int32),
        _buffer([0xC3, 0xA9, 0xF0, 0xF0], np.uint8),
    ]
    column = Array(ck.utf8(), 2, buffers, null_count=1)

    def size(s: str) -> int:
        return len(s)

    assert ck.udf(size)(column).to_pylist() == [1, None]


def test_none_in_a_list_of_texts_has_no_bytes() -> None:
    def found(x: int) -> list[str | None]:
        numbers = [5000] * x
        names = {1: "a", 3: "ccc"}
        return [names.get(x), names.get(len(numbers) + 1), names.get(x + 2)]

    rows = [1000, 0, 1, 2, 3]
    assert ck.udf(found)(ck.array(rows)).to_pylist() == [found(x) for x in rows]


def test_rows_behind_one_that_takes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arenas, "MOST_ARENA", 4096)

    def repeated(s: str, n: int) -> list[str]:
        return [s] * n

    texts, counts = ["a" * 900, "b" * 900, "c" * 900, "d"], [1, 50, 2, 1]
    result = ck.udf(repeated)
    results = result(ck.array(texts), ck.array(counts)).to_pylist()
    assert results == [[s] * n for s, n in zip(texts, counts, strict=True)]
    assert sum(result.report().left.values()) == 1


def test_a_row_that_takes_the_arena_leaves_it_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arenas, "MOST_ARENA", arenas.ARENA)
    monkeypatch.setattr(arenas, "_THREAD", type("Thread", (), {})())

    def size(n: int) -> int:
        zeros = [0] * (n // 10)
        for k in range(n - n // 10):
            zeros.append(k)
        return len(zeros)

    result = ck.udf(size)
    assert result(ck.array([10, 20_000, 10, 10])).to_pylist() == [10, 20_000, 10, 10]
    assert sum(result.report().left.values()) == 1


PAGE = mmap.PAGESIZE


def column_beside_nothing(texts: list[str]) -> tuple[Array, mmap.mmap]:
    """Texts that end where a page ends, behind and before which are pages that no one may read."""
    data = "".join(texts).encode()
    size = -(-len(data) // PAGE) * PAGE
    memory = mmap.mmap(-1, size + 2 * PAGE)
    memory[PAGE + size - len(data) : PAGE + size] = data
    whole = np.frombuffer(memory, np.uint8)
    for page in (0, PAGE + size):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(whole.ctypes.data + page), PAGE, 0) == 0
    first = PAGE + size - len(data)
    offsets = np.cumsum([0, *(len(text.encode()) for text in texts)])
    buffers = [None, _buffer(offsets, np.int32), Buffer(whole[first : PAGE + size])]
    return Array(ck.utf8(), len(texts), buffers, null_count=0), memory


def touched(s: str) -> tuple[str, str, str, int, int, str, bool, str]:
    words = re.findall(r"\w+", s)
    return (
        s.upper() + s.strip() + s.title(),
        s.replace("a", "bc"),
        "".join(s.split("b")[:2]) + s.zfill(30),
        s.find("ab") + s.count("b") + s.rfind("a"),
        len(s),
        s[1:-1] + s.center(9, "*"),
        s == "abc" or s < "abd" or s.isalpha(),
        words[-1] if words else "",
    )


TOUCHED = ck.udf(touched)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, PAGE])
@pytest.mark.parametrize("character", ["a", " ", "é"])
def test_no_page_is_read_that_has_nothing_of_a_text(size: int, character: str) -> None:
    short = (character + "b") * size
    texts = [short[:size], character, "", short[: size // 2], character]
    column, memory = column_beside_nothing(texts)
    rows = [tuple(row.values()) for row in TOUCHED(column).to_pylist()]
    assert rows == [*map(touched, texts)]
    assert memory


LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 10, GREATEST),
        (10, 0, LEAST),
        (10, 0, -GREATEST),
        (10, 0, -3),
        (GREATEST, 0, LEAST),
        (0, GREATEST, 1),
        (-5, GREATEST - 6, 2),
        (5, 5, -1),
        (LEAST, GREATEST, 1),
        (GREATEST, LEAST, -5),
    ],
)
def test_ranges_of_large_numbers(bounds: tuple[int, int, int]) -> None:
    size, code = range_size(*(np.int64(bound) for bound in bounds))
    start, stop, _ = bounds
    if abs(stop - start) > GREATEST:
        assert code == LEFT
    else:
        numbers = range(*bounds)
        expected = (numbers[-1] - numbers[0]) // numbers.step + 1 if numbers else 0
        assert (int(size), code) == (expected, DONE)


def _item_of_a_constant(x: int) -> int:
    actual = LISTS[x]
    actual.append(x)
    return len(actual)


def _constant_or_not(x: int) -> int:
    values = LIST if x > 1 else [1]
    values.append(x)
    return len(values)


def _constant_in_a_loop(x: int) -> int:
    values = [1]
    for k in range(x):
        values.append(k)
        if k == 0:
            values = LISTS[x]
    return len(values)


def _longer(values: list[int], x: int) -> int:
    values.append(x)
    return len(values)


def _constant_of_another_function(x: int) -> int:
    return _longer([x], x) + _longer(LISTS[x], x)


@pytest.mark.parametrize(
    "function",
    [
        _item_of_a_constant,
        _constant_or_not,
        _constant_in_a_loop,
        _constant_of_another_function,
    ],
)
def test_constants_do_not_change_in_compiled_code(function: Any) -> None:
    rows = [1, 2, 1, 2]
    before = copy.deepcopy((LISTS, LIST))
    try:
        expected = [function(x) for x in rows]
        LISTS.update(copy.deepcopy(before[0]))
        LIST[:] = before[1]
        with contextlib.suppress(CompileError):
            assert ck.udf(function, strict=True)(ck.array(rows)).to_pylist() == expected
    finally:
        LISTS.update(before[0])
        LIST[:] = before[1]


def test_copies_of_constants_may_change() -> None:
    def longer(x: int) -> list[int]:
        values = list(LISTS[x]) + list(LIST)
        values.append(x)
        others = sorted(LIST)
        others.append(x)
        values.extend(others)
        return values

    rows = [1, 2, 1]
    result = ck.udf(longer, strict=True)
    assert result(ck.array(rows)).to_pylist() == [longer(x) for x in rows]


def _remainder(n: int) -> int:
    return n * 3 % 1000


def _shouted(n: int) -> str:
    return f"{n * 3}!"


@pytest.mark.parametrize("function", [_remainder, _shouted])
@pytest.mark.parametrize("every", [1, 2, 700, 5000])
@pytest.mark.parametrize("nulls", [0, 900])
def test_rows_are_left_from_any_block(function: Any, every: int, nulls: int) -> None:
    values: list[int | None] = list(range(3 * arenas.LEFT_AT_ONCE + 77))
    values[every - 1 :: every] = [
        2**63 - 1 - n for n in values[every - 1 :: every] if n is not None
    ]
    if nulls:
        values[nulls - 1 :: nulls] = [None] * (len(values) // nulls)
    compiled = ck.udf(function)
    results = compiled(ck.array(values, type=ck.int64())).to_pylist()
    assert results == [None if n is None else function(n) for n in values]
    left = [n for n in values if n is not None and n > 2**62]
    assert sum(compiled.report().left.values()) == len(left)
