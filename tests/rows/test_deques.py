"""Deques, ordered dictionaries and slices that change, in row functions, are Python's."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import colkern as ck


def both_ends(xs: list[int]) -> list[int]:
    d = deque(xs, maxlen=3)
    d.append(len(d))
    d.appendleft(-1)
    d.extendleft(x + 1 for x in xs[:2])
    d.rotate(-1)
    return [d.popleft(), *d, d[-1], len(d), sum(d), *sorted(d), *reversed(d)]


def reached(xs: list[int]) -> int:
    waiting = deque([(0, 0)])
    seen = {0}
    while waiting:
        place, steps = waiting.popleft()
        if place >= len(xs):
            return steps
        for step in (1, 2):
            if place + step not in seen and (place + step >= len(xs) or xs[place + step] % 3):
                seen.add(place + step)
                waiting.append((place + step, steps + 1))
    return -1


def of_text(xs: list[int]) -> tuple[str, bool, bool, int]:
    d = deque(str(x) for x in xs)
    d.rotate(2)
    other = d.copy()
    d.extend("ab")
    last = list(deque(d, maxlen=2)) + list(deque(list(d), 1))
    other.extend(last)
    return "".join(d), d == other, deque(xs) == xs, d.count("1")


def emptied(xs: list[int]) -> int:
    d = deque(xs)
    try:
        while True:
            d.pop()
    except IndexError:
        return len(d)


def in_order(xs: list[int]) -> list[tuple[int, int]]:
    seen: OrderedDict[int, int] = OrderedDict()
    for x in xs:
        seen[x] = seen.get(x, 0) + 1
        seen.move_to_end(x)
        if len(seen) > 3:
            seen.popitem(last=False)
    return list(seen.items())


def keys_once(xs: list[int]) -> list[int]:
    return [*OrderedDict.fromkeys(xs), *OrderedDict([(1, 2), (3, 4)])]


def cut(xs: list[int]) -> list[int]:
    a, b, c, d = list(xs), list(xs), list(xs), list(xs)
    a[1:3] = [7, 8, 9]
    b[-2:] = b
    c[3:1] = range(2)
    del d[:2]
    del d[5:]
    return a + b + c + d


def columns(xs: list[int]) -> list[str]:
    rows = [str(x) for x in xs]
    return ["".join(column) for column in zip(*rows)]  # noqa: B905


def popped(xs: list[int]) -> tuple[int | None, int]:
    table = dict.fromkeys(xs, 1)
    return table.pop(5, None), len(table)


LISTS = [[], [1], [5, 5, 12], [9, 8, 7, 6, 5, 4], [3, 3, 3, 3], [10, 20, 30, 11]]


@pytest.mark.parametrize(
    "function",
    [both_ends, reached, of_text, emptied, in_order, keys_once, cut, columns, popped],
    ids=lambda function: function.__name__,
)
def test_what_changes_at_its_ends_and_within_is_python_s(function: Callable[..., Any]) -> None:
    compiled = ck.udf(function)
    rows = [xs for xs in LISTS if xs or function is not both_ends]
    column = ck.array(rows, ck.list_(ck.int64()))

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return tuple(value.values())
        return [plain(item) for item in value] if isinstance(value, list) else value

    assert list(map(plain, compiled(column).to_pylist())) == [function(list(xs)) for xs in rows]
    assert not sum(compiled.report().left.values())


def sliced(xs: list[int]) -> int:
    return len(deque(xs)[1:])  # type: ignore[index]


def compared(xs: list[int]) -> bool:
    return OrderedDict.fromkeys(xs) == OrderedDict.fromkeys(sorted(xs))


@pytest.mark.parametrize("function", [sliced, compared, lambda xs: deque(xs)])
def test_what_no_deque_has_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises((ck.CompileError, ck.UnsupportedError)):
        ck.udf(function)(ck.array([[1, 2]]))
