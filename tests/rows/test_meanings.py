"""A function is compiled again once an item, a field or an attribute that it reads outside has changed."""

from __future__ import annotations

import functools
import sys
from argparse import Namespace
from array import array
from collections import ChainMap, OrderedDict, UserDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from threading import Event
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import colkern as ck

FIRST = [1, 2]
NESTED = {"items": [1, 2]}
IN_TUPLE = ([1, 2], 3)
QUEUE = deque([1, 2])
NUMBERS = array("q", [1, 2])
BYTES = bytearray([1, 2])
WORDS = np.array([1, 2])
CHAIN = ChainMap({"k": 1}, {})
OF_USERS = UserDict(k=1)
OF_NAMES = SimpleNamespace(items=[1])
OPTIONS = Namespace(items=[1])
TOTAL = functools.partial(functools.partial(sum, FIRST), 1)
ITEM = FIRST.__getitem__


class Texts(list[int]):
    """A list of a class of its own."""


OWN_LIST = Texts([1, 2])


class Rate:
    """Fields, a container among them, and a method."""

    shared: ClassVar = [1]

    def __init__(self) -> None:
        self.value = 1
        self.table = {"k": [1]}

    def of(self, n: int) -> int:
        return self.value * n

    @property
    def first(self) -> int:
        return self.shared[0]


RATE, IN_LIST = Rate(), [Rate()]
OF_RATE = RATE.of


@dataclass(slots=True)
class Slot:
    """A field without a dictionary."""

    value: int


SLOT = Slot(1)


def by_default(n: int, items: list[int] = FIRST) -> int:
    return items[0] + n


def put(owner: Any, key: Any) -> Callable[[int], None]:
    return lambda value: owner.__setitem__(key, value)


def assign(owner: Any, name: str) -> Callable[[int], None]:
    return lambda value: setattr(owner, name, value)


CASES: list[tuple[Callable[[int], int], Callable[[int], None]]] = [
    (lambda n: NESTED["items"][0] + n, put(NESTED["items"], 0)),
    (lambda n: IN_TUPLE[0][0] + n, put(IN_TUPLE[0], 0)),
    (lambda n: QUEUE[0] + n, put(QUEUE, 0)),
    (lambda n: NUMBERS[0] + n, put(NUMBERS, 0)),
    (lambda n: BYTES[0] + n, put(BYTES, 0)),
    (lambda n: int(WORDS[0]) + n, put(WORDS, 0)),
    (lambda n: CHAIN["k"] + n, put(CHAIN.maps[0], "k")),
    (lambda n: OF_USERS["k"] + n, put(OF_USERS, "k")),
    (lambda n: OF_NAMES.items[0] + n, put(OF_NAMES.items, 0)),
    (lambda n: OPTIONS.items[0] + n, put(OPTIONS.items, 0)),
    (lambda n: OWN_LIST[0] + n, put(OWN_LIST, 0)),
    (lambda n: TOTAL() + n, put(FIRST, 0)),
    (lambda n: ITEM(0) + n, put(FIRST, 0)),
    (lambda n: by_default(n), put(FIRST, 0)),
    (lambda n: RATE.table["k"][0] + n, put(RATE.table["k"], 0)),
    (lambda n: OF_RATE(n), assign(RATE, "value")),
    (lambda n: RATE.first + n, put(Rate.shared, 0)),
    (lambda n: IN_LIST[0].value + n, assign(IN_LIST[0], "value")),
    (lambda n: SLOT.value + n, assign(SLOT, "value")),
]


@pytest.mark.parametrize(("function", "change"), CASES)
def test_a_change_outside_is_seen(
    function: Callable[[int], int], change: Callable[[int], None]
) -> None:
    compiled = ck.udf(function)
    for value in (1, 7, 1):
        change(value)
        assert compiled(ck.array([3])).to_pylist() == [function(3)]


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, True), (1, 1.0), (0.0, -0.0), (Decimal("1.0"), Decimal("1.00"))],
)
def test_an_equal_value_that_prints_otherwise_is_another(first: Any, second: Any) -> None:
    table: dict[str, Any] = {"k": first}
    compiled = ck.udf(lambda s: f"{table[s]}")
    for value in (first, second):
        table["k"] = value
        assert compiled(ck.array(["k"])).to_pylist() == [str(value)]


class Named(dict[str, Any]):
    """A dictionary whose entries are its attributes, too, and whose methods they may hide."""

    def __init__(self, **entries: Any) -> None:
        super().__init__(entries)
        self.__dict__ = self


class Public(dict[str, int]):
    """A dictionary that does not show all of its values."""

    def values(self) -> Any:
        return [value for key, value in self.items() if key[0] != "_"]


def test_the_methods_of_a_dictionary_may_be_others() -> None:
    for table in (
        Named(n=1, values=[1]),
        Public(n=1, _m=2),
        MappingProxyType(Named(n=1, values=2)),
    ):
        compiled = ck.udf(lambda n, table=table: table["n"] + n)
        assert compiled(ck.array([3])).to_pylist() == [4]
    table = Public(_n=1)
    compiled = ck.udf(lambda n: table["_n"] + n)
    for value in (1, 7):
        table["_n"] = value
        assert compiled(ck.array([3])).to_pylist() == [value + 3]


def test_a_key_that_changes_to_an_equal_one_is_seen() -> None:
    table: dict[Any, str] = {1: "a"}
    compiled = ck.udf(lambda n: str(n) + "".join([str(key) for key in table]))
    for key in (1, True):
        table.clear()
        table[key] = "a"
        assert compiled(ck.array([3])).to_pylist() == [f"3{key}"]


def test_an_equal_container_instead_changes_nothing_until_it_changes() -> None:
    table: dict[str, Any] = {"pair": (1, [2])}
    compiled = ck.udf(lambda n: table["pair"][0] + table["pair"][1][0] + n)
    assert compiled(ck.array([3])).to_pylist() == [6]
    source = compiled.source()
    for _ in range(2):
        table["pair"] = (1, [2])
        assert compiled(ck.array([3])).to_pylist() == [6]
    assert compiled.source() == source
    table["pair"][1][0] = 5
    assert compiled(ck.array([3])).to_pylist() == [9]


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_the_order_of_a_dictionary_is_seen(kind: type[dict[str, int]]) -> None:
    table = kind({"a": 1, "b": 2})
    compiled = ck.udf(lambda s: s + "".join(table))
    for _ in range(2):
        assert compiled(ck.array(["x"])).to_pylist() == ["x" + "".join(table)]
        if isinstance(table, OrderedDict):
            table.move_to_end("a")
        else:
            table["a"] = table.pop("a")


def test_all_items_of_a_large_table_are_seen() -> None:
    table = {number: [number] for number in range(2000)}
    compiled = ck.udf(lambda n: table[n][0])
    for value in (1, 7):
        table[1999][0] = value
        assert compiled(ck.array([1999])).to_pylist() == [value]


def test_a_field_that_the_function_does_not_read_may_hold_anything() -> None:
    rate: Any = Rate()
    arrays = np.zeros(1 << 20), np.zeros(1, "datetime64[s]"), np.array([rate, None])
    rate.table["self"] = [rate, NESTED, *arrays, Rate, ck.array([1])]
    compiled = ck.udf(lambda n: rate.value + n)
    for value in (1, 2):
        rate.value = value
        assert compiled(ck.array([3])).to_pylist() == [value + 3]


def test_threads_may_call_while_another_compiles_for_other_types() -> None:
    table, has_compiled = {n: [n] for n in range(300)}, Event()
    compiled = ck.udf(lambda n: n + table[1][0] + len(Rate.shared))

    def call() -> set[int]:
        results = set()
        while not has_compiled.is_set():
            results |= {*compiled(ck.array([3])).to_pylist()}
        return results

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            calls = [pool.submit(call) for _ in range(2)]
            try:
                others = [compiled(ck.array([3], name)) for name in ("int8", "int16", "float32")]
            finally:
                has_compiled.set()
    finally:
        sys.setswitchinterval(interval)
    assert [each.to_pylist() for each in others] == [[5], [5], [5.0]]
    assert all(each.result() <= {5} for each in calls)
