"""Operations that do not run on a device refuse its arrays before anything is copied, either way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import colkern as ck
from colkern.cuda import stand_in
from colkern.errors import UnsupportedError


class Total:
    def init() -> int:  # type: ignore[misc]
        return 0

    def update(state: int, value: int) -> int:  # type: ignore[misc]
        return state + value


total: Any = ck.reducer(Total)


def product(n: int) -> int:
    return 1 if n < 2 else n * product(n - 1)


def listed(n: int) -> list[dict[int, int]]:
    return [{n: n}]


REFUSED: dict[str, tuple[Callable[[Any, Any], object], str]] = {
    "a reducer": (
        lambda n, t: total(n),
        "value is on cuda:0, and a reducer runs over columns in host",
    ),
    "a reducer over chunks": (lambda n, t: total(ck.ChunkedArray([n, n])), "value is on cuda:0"),
    "a reducer of groups": (lambda n, t: total(n, by=n), "value is on cuda:0"),
    "a reducer of grouped rows": (
        lambda n, t: ck.group_by(t, "n").aggregate([("n", total)]),
        "value is on cuda:0",
    ),
    "groups of lists": (
        lambda n, t: ck.group_by(t, "l").aggregate([("n", "sum")]),
        r"groups of list<.*> on cuda:0; colkern.to_host copies it",
    ),
    "a product of decimals": (
        lambda n, t: ck.product(ck.cast(n, ck.decimal128(20, 0))),
        r"product of decimal.* on cuda:0; colkern.to_host copies it",
    ),
    "a function that calls itself": (
        lambda n, t: ck.udf(product)(n),
        "on a device: it calls itself",
    ),
    "dictionaries in lists": (lambda n, t: ck.udf(listed)(n), "results that are .* on a device"),
}


@pytest.fixture(autouse=True)
def device() -> Iterator[stand_in.StandIn]:
    with stand_in.installed() as device:
        yield device


NUMBERS = ck.array([3, 1, 0])
FLAGS = ck.array([True, False, None])
TEXTS = ck.array(["a", "b", "a"], ck.dictionary(ck.int32(), ck.utf8()))

ON_TWO_DEVICES: dict[str, tuple[Callable[[Any, Any], object], ck.Array, ck.Array]] = {
    "and_": (ck.and_, FLAGS, FLAGS),
    "or_kleene": (ck.or_kleene, FLAGS, FLAGS),
    "add": (ck.add, NUMBERS, NUMBERS),
    "less": (ck.less, NUMBERS, NUMBERS),
    "equal of text": (ck.equal, TEXTS, TEXTS),
    "power": (ck.power, NUMBERS, NUMBERS),
    "filter": (ck.filter, NUMBERS, FLAGS),
    "filter of rows": (
        lambda n, m: ck.record_batch({"n": n}).filter(m).column("n"),
        NUMBERS,
        FLAGS,
    ),
    "take": (ck.take, TEXTS, NUMBERS.slice(1)),
    "repeat": (ck.repeat, NUMBERS, NUMBERS),
    "is_in": (ck.is_in, NUMBERS, NUMBERS),
    "index_in": (ck.index_in, TEXTS, TEXTS),
    "if_else": (lambda m, n: ck.if_else(m, n, 0), FLAGS, NUMBERS),
    "fill_null": (ck.fill_null, NUMBERS, NUMBERS),
    "concat": (lambda a, b: ck.concat([a, b]), NUMBERS, NUMBERS),
    "make_struct": (lambda a, b: ck.make_struct([a, b], ["a", "b"]), NUMBERS, FLAGS),
    "unify_dictionaries": (lambda a, b: ck.unify_dictionaries([a, b]), TEXTS, TEXTS),
    "sort_indices": (lambda a, b: ck.sort_indices(rows_of(a, b)), NUMBERS, NUMBERS),
    "rank": (lambda a, b: ck.rank(rows_of(a, b)), NUMBERS, NUMBERS),
    "unique": (lambda a, b: ck.unique(rows_of(a, b), "a"), NUMBERS, NUMBERS),
    "keys": (lambda a, b: ck.group_by(rows_of(a, b), ["a", "b"]).count(), NUMBERS, FLAGS),
    "aggregates": (lambda a, b: ck.group_by(rows_of(a, b), "a").sum("b"), NUMBERS, NUMBERS),
    "join": (
        lambda a, b: ck.join(ck.record_batch({"a": a}), ck.record_batch({"a": b}), "a"),
        NUMBERS,
        NUMBERS,
    ),
}


def rows_of(a: ck.Array, b: ck.Array) -> ck.RecordBatch:
    return ck.record_batch({"a": a, "b": b})


@pytest.mark.parametrize("what", ON_TWO_DEVICES)
def test_arguments_on_two_devices_are_refused(what: str) -> None:
    run, left, right = ON_TWO_DEVICES[what]
    for pair in ((left, ck.to_device(right)), (ck.to_device(left), right)):
        with pytest.raises(
            ValueError, match=r": on .*, .* is on .*; colkern.to_device copies all to one"
        ):
            run(*pair)


@pytest.mark.parametrize("what", REFUSED)
def test_refused_before_anything_is_copied(what: str) -> None:
    numbers = ck.to_device(ck.array([3, 1, 3]))
    lists = ck.to_device(ck.array([[1], [2], [1]]))
    rows = ck.record_batch({"n": numbers, "l": lists})
    run, message = REFUSED[what]
    with ck.cuda.count_transfers() as counted, pytest.raises(UnsupportedError, match=message):
        run(numbers, rows)
    assert counted == ck.cuda.Transfers()


def test_chunks_are_not_joined_before(device: stand_in.StandIn) -> None:
    numbers = ck.to_device(ck.array([3, 1, 3]))
    before = device.allocations
    with pytest.raises(UnsupportedError, match="value is on cuda:0"):
        total(ck.ChunkedArray([numbers, numbers]))
    assert device.allocations == before
