"""A `reducer` over columns gives what its functions give row after row in plain Python."""

from __future__ import annotations

import datetime
import math
import pickle
import weakref
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colkern import schema as s
from colkern.arrays import RecordBatch
from colkern.cache import compilations
from colkern.cpu.threads import set_num_threads
from colkern.cuda import stand_in
from colkern.errors import CompileError, UnsupportedError
from colkern.interchange import import_array
from colkern.jit import Reducer, reducer
from colkern.layouts import Role
from colkern.operations import dictionary_encode
from colkern.operations.grouping import key_groups
from colkern.operations.moving import to_device
from colkern.rows import arguments, reductions, state_memory
from colkern.rows.encoded import decoded


def column(values: list[Any], type_: Any = None, skipped: int = 0) -> Any:
    """A column of those values that starts at slot `skipped` of its buffers."""
    return import_array(pa.array([None] * skipped + values, type_).slice(skipped))


def reduced(reducer: Reducer, rows: list[tuple[Any, ...]]) -> Any:
    """The result of the reducer's functions in plain Python, without the rows that have a null."""
    functions = reducer.functions
    state = functions.init()
    for row in rows:
        if None not in row:
            state = functions.update(state, *row)
    return functions.finish(state) if functions.finish else state


def reduced_by(
    reducer: Reducer, keys: list[Any], rows: list[tuple[Any, ...]]
) -> list[tuple[Any, Any]]:
    """The same for each key, in the order of their first rows."""
    return [
        (key, reduced(reducer, [row for k, row in zip(keys, rows, strict=True) if k == key]))
        for key in dict.fromkeys(keys)
    ]


@pytest.fixture
def three_threads() -> Iterator[None]:
    set_num_threads(3)
    yield
    set_num_threads(0)


@reducer
class weighted_mean:
    """The mean of values that count more or less."""

    def init():
        return 0.0, 0

    def update(state, value: float, weight: int):
        return state[0] + value * weight, state[1] + weight

    def merge(left, right):
        return left[0] + right[0], left[1] + right[1]

    def finish(state):
        return state[0] / state[1] if state[1] != 0 else None


# Whole numbers add up to the same in any order.
whole = st.integers(-1000, 1000).map(float)
maybe = st.none() | whole
rows_of_two = st.lists(st.tuples(maybe, st.none() | st.integers(0, 9)), max_size=200)
skips = st.integers(0, 70)


@given(rows=rows_of_two, a=skips, b=skips)
def test_all_rows_but_those_with_a_null(rows: list[Any], a: int, b: int) -> None:
    values, weights = [v for v, _ in rows], [w for _, w in rows]
    actual = weighted_mean(column(values, pa.float64(), a), column(weights, pa.int8(), b))
    assert actual == reduced(weighted_mean, rows)


KEYS = [None, "a", "b", "", "a long key of many bytes"]


@given(rows=rows_of_two, data=st.data(), encoded=st.booleans(), skipped=skips)
def test_groups_come_in_the_order_of_their_first_rows_and_null_is_one(
    rows: list[Any], data: Any, encoded: bool, skipped: int
) -> None:
    names = data.draw(st.lists(st.sampled_from(KEYS), min_size=len(rows), max_size=len(rows)))
    values = column([v for v, _ in rows], pa.float64())
    weights = column([w for _, w in rows], pa.int64(), skipped)
    keys = column(names, pa.utf8(), skipped)
    actual = weighted_mean(values, weights, by=dictionary_encode(keys) if encoded else keys)
    assert actual.schema.names == ["key", "weighted_mean"]
    expected = reduced_by(weighted_mean, names, rows)
    assert list(zip(*[c.to_pylist() for c in actual.columns], strict=True)) == expected


@pytest.mark.usefixtures("three_threads")
def test_threads_have_states_of_their_own_that_are_merged_in_order() -> None:
    count = 1_000_003
    values = np.arange(count) % 1001.0
    weights = np.arange(count) % 7
    numbers = np.arange(count) * 31 % 1000
    mask = np.arange(count) % 13 == 0
    columns = [pa.array(values, mask=mask), pa.array(weights)]
    kept = ~mask
    assert weighted_mean(*columns) == np.average(values[kept], weights=weights[kept])
    actual = weighted_mean(*columns, by=pa.array(numbers))
    sums = np.bincount(numbers[kept], (values * weights)[kept])
    expected = sums / np.bincount(numbers[kept], weights[kept])
    keys = np.array(actual["key"].to_pylist())
    assert keys.tolist() == list(dict.fromkeys(numbers.tolist()))
    assert actual["weighted_mean"].to_pylist() == expected[keys].tolist()


@reducer
class last:
    """The last value: it matters which rows come first."""

    def init():
        return False, 0

    def update(state, value: int):
        return True, value

    def merge(left, right):
        return right if right[0] else left

    def finish(state) -> int | None:
        return state[1] if state[0] else None


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("valid", [[], [0], [5, 299_999], [450_000, 900_000], [999_999]])
def test_ranges_are_merged_in_the_order_of_the_rows(valid: list[int]) -> None:
    mask = np.ones(1_000_000, bool)
    mask[valid] = False
    values = pa.array(np.arange(1_000_000), mask=mask)
    assert last(values) == (valid[-1] if valid else None)
    halves = np.arange(1_000_000) % 2
    expected = [max((v for v in valid if v % 2 == half), default=None) for half in (0, 1)]
    assert last(values, by=pa.array(halves))["last"].to_pylist() == expected


@reducer
class rises:
    """The number of times that a value is above the one before: two parts cannot be put together."""

    def init():
        return 0, -math.inf

    def update(state, value: float):
        return state[0] + (value > state[1]), value

    def finish(state):
        return state[0]


@pytest.mark.usefixtures("three_threads")
def test_without_merge_all_rows_are_one_threads() -> None:
    values = np.arange(1_000_000) % 1000.0
    assert rises(pa.array(values)) == 1 + 999 * 1000


def test_a_state_of_one_number_is_the_result_without_finish() -> None:
    @reducer("(float64) -> float32")
    class total:
        def init():
            return 0

        def update(state, value):
            return state + value

        def merge(left, right):
            return left + right

    # The integer of `init` becomes a float.
    assert total(column([1.5, None, 2.0])) == 3.5
    assert total.report().left == {}
    assert total(column([], pa.float64())) == 0.0
    assert total.result_type(s.float64()) == s.float32()
    assert repr(total) == "<colkern reducer total(value: double) -> float>"


@reducer(nulls="pass")
class null_share:
    def init():
        return 0, 0

    def update(state, value: float | None):
        return state[0] + (value is None), state[1] + 1

    def merge(left, right):
        return left[0] + right[0], left[1] + right[1]

    def finish(state) -> float | None:
        return state[0] / state[1] if state[1] > 0 else None


@given(st.lists(maybe, max_size=150), skips)
def test_passed_nulls_are_none(values: list[Any], skipped: int) -> None:
    expected = sum(v is None for v in values) / len(values) if values else None
    assert null_share(column(values, pa.float64(), skipped)) == expected


class LongestName:
    """An object with the four functions."""

    @staticmethod
    def init() -> int:
        return 0

    @staticmethod
    def update(state: int, name: str) -> int:
        return max(state, len(name))

    @staticmethod
    def finish(state: int) -> str:
        return "long" if state > 3 else "short"


def test_text_in_and_out_of_an_object_of_static_functions() -> None:
    result = reducer(LongestName())
    assert result.name == "LongestName"
    assert result(column(["a", None, "abcd"])) == "long"
    actual = result(column(["a", "b", "four"]), by=column([1, 1, 2]))
    assert actual["LongestName"].to_pylist() == ["short", "long"]


# What Python means


ROWS_OF_EXTREMES = st.lists(
    st.tuples(
        st.sampled_from([0, 1, -1, 7, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]),
        st.sampled_from([0, 1, -2, 3, 2**40]),
    ),
    max_size=9,
)


@reducer
class mixed:
    """Each part has rows that compiled code does not cover: overflows, and divisions by zero."""

    def init():
        return 0, 0.0, None, (False, 1)

    def update(state, x: int, y: int):
        total, ratios, least, (_, product) = state
        try:
            ratio = x / y
        except ZeroDivisionError:
            ratio = -1.0
        if least is None or x < least:
            least = x
        product = product * (abs(y) + 1) % 1000
        return total + x, ratios + ratio, least, (x % 2 == 0, product)

    def finish(state):
        total, ratios, least, (was_even, product) = state
        return total % 1000, ratios, least, was_even, product


@given(ROWS_OF_EXTREMES, st.data())
def test_rows_and_states_that_words_do_not_hold_are_pythons(rows: list[Any], data: Any) -> None:
    x, y = column([x for x, _ in rows], pa.int64()), column([y for _, y in rows], pa.int64())
    assert tuple(mixed(x, y).values()) == reduced(mixed, rows)
    keys = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    actual = mixed(x, y, by=column(keys, pa.int64()))
    got = [(row["key"], tuple(row["mixed"].values())) for row in actual.to_pylist()]
    assert got == reduced_by(mixed, keys, rows)


@reducer
class total_of_integers:
    def init():
        return 0

    def update(state, value: int):
        return state + value

    def merge(left, right):
        return left + right


def test_a_sum_that_leaves_64_bits_and_comes_back_is_exact() -> None:
    values = [2**62] * 3 + [-(2**62)] * 3 + [5]
    assert total_of_integers(column(values)) == 5
    with pytest.raises(OverflowError, match=f"the result {2**62 * 3} does not fit int64") as caught:
        total_of_integers(column([2**62] * 3))
    assert caught.value.__notes__ == ["total_of_integers: finish of group 0"]


@pytest.mark.usefixtures("three_threads")
def test_states_of_ranges_that_do_not_fit_merged_are_pythons() -> None:
    values = np.zeros(600_000, np.int64)
    values[[0, 250_000, 599_999]] = [2**62, 2**62, -(2**62)]
    assert total_of_integers(pa.array(values)) == 2**62


def test_the_report_counts_rows_that_are_left() -> None:
    @reducer
    class ratios:
        def init():
            return 0.0

        def update(state, x: float, y: float):
            try:
                return state + x / y
            except ZeroDivisionError:
                return state

    assert ratios(column([1.0, 2.0, 3.0]), column([2.0, 0.0, 1.0])) == 3.5
    assert (ratios.report().rows, sum(ratios.report().left.values())) == (3, 0)

    @reducer
    class products:
        def init():
            return 1

        def update(state, x: int):
            return state * x % 1009

    rows = [2**61 + 1, 5, 2**62 - 1, 3]
    assert products(column(rows)) == reduced(products, [(row,) for row in rows])
    code = products.functions.update.__code__
    assert products.report().left == {code.co_firstlineno + 1: 1}
    assert "def update" in products.source()


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_that_are_left_one_after_the_other(threads: int) -> None:
    @reducer
    class hashed:
        def init():
            return 1

        def update(state, x: int):
            return (state * 31 + x * 2**40) % (2**40 - 1)

    values = [None if n % 5 == 2 else 2**40 + n if n // 700 % 2 else n % 3 for n in range(3000)]
    set_num_threads(threads)
    try:
        assert hashed(column(values)) == reduced(hashed, [(value,) for value in values])
        keys = [n * 7 % 4 for n in range(len(values))]
        actual = hashed(column(values), by=column(keys))
        rows = [(value,) for value in values]
        assert [tuple(row.values()) for row in actual.to_pylist()] == reduced_by(hashed, keys, rows)
    finally:
        set_num_threads(0)
    assert hashed.report().rows == 6000
    assert 2000 < sum(hashed.report().left.values()) < 4200


def test_states_are_dates_named_tuples_and_none() -> None:
    @reducer
    class span:
        def init():
            return Span(None, None, datetime.timedelta(0))

        def update(state, day: datetime.date, at: datetime.datetime):
            if state.first is None:
                return Span(day, at, state.longest)
            return Span(min(state.first, day), at, max(state.longest, at - state.at))

        def finish(state):
            return state.first, state.longest

    days = [datetime.date(2024, 3, d) for d in (5, 1, 9)]
    times = [datetime.datetime(2024, 3, 1, hour) for hour in (1, 5, 6)]
    rows = list(zip(days, times, strict=True))
    assert tuple(span(column(days), column(times)).values()) == reduced(span, rows)
    assert tuple(span(column(days)[:0], column(times)[:0]).values()) == reduced(span, [])


def test_states_are_decimals_and_datetimes_of_a_zone() -> None:
    @reducer
    class spent:
        def init():
            return Decimal(0), None

        def update(state, amount: Decimal, at: datetime.datetime):
            total, last = state
            return total + amount, at if last is None or at > last else last

        def merge(left, right):
            return left[0] + right[0], right[1]

        def finish(state):
            return state

    zone = ZoneInfo("Europe/Berlin")
    times = [datetime.datetime(2024, 10, 27, hour, tzinfo=zone) for hour in (1, 4, 2)]
    # The last sum has more digits than compiled code has.
    for amounts in (["1.25", "-0.5", "3"], ["1.25", "9999999999999999.99", "9999999999999999.99"]):
        rows = list(zip(map(Decimal, amounts), times, strict=True))
        columns = (
            column([amount for amount, _ in rows], pa.decimal128(20, 2)),
            column(times, pa.timestamp("us", "Europe/Berlin")),
        )
        assert tuple(spent(*columns).values()) == reduced(spent, rows)


# States that hold texts and containers


class longest:
    """The longest text, and the first of these in order."""

    def init():
        return None, b""

    def update(state, word: str):
        best, _ = state
        if best is None or (-len(word), word) < (-len(best), best):
            best = word.strip()
        return best, word.encode()[-3:]

    def merge(left, right):
        best = min((w for w in (left[0], right[0]) if w), key=lambda w: (-len(w), w), default=None)
        return best, right[1]

    def finish(state):
        return f"{state[0]} {state[1].hex()}"


class sentence:
    """A text that grows with each row."""

    def init():
        return ""

    def update(state, word: str):
        return f"{state[-40:]} {word.upper()}"


class latest:
    """The greatest three texts, in a tuple and a list that each row makes again."""

    def init():
        return (), ["", ""]

    def update(state, word: str):
        return tuple(sorted((*state[0], word), reverse=True)[:3]), [*state[1][1:], word[::-1]]

    def finish(state):
        return f"{state[0]} {state[1]}"


class counted:
    """A dictionary that each row changes."""

    def init():
        return Counter()

    def update(state, word: str):
        state[word[:2]] += 1
        return state

    def finish(state):
        return str(sorted(state.items()))


class several:
    """A deque, a set and a dictionary of several types of values, which each row changes."""

    def init():
        return deque(maxlen=2), set(), {"count": 0, "mean": 0.0}

    def update(state, word: str):
        words, lengths, facts = state
        words.append(word * 2)
        lengths.add(len(word))
        count = facts["count"] + 1
        return words, lengths, {"count": count, "mean": facts["mean"] + len(word) / count}

    def finish(state):
        words, lengths, facts = state
        return f"{list(words)} {sorted(lengths)} {facts['count']} {facts['mean'] > 1}"


class fields:
    """A dictionary with constant keys, which each row changes."""

    def init():
        return {"count": 0, "share": 0.0}

    def update(state, word: str):
        state["count"] += 1
        state["share"] += len(word) / 8
        return state

    def finish(state):
        return state["share"] / state["count"] if state["count"] else None


class spread:
    """A dictionary that begins with constant keys, to which rows bring keys."""

    def init():
        return {"a": 0, "b": 0, "": 0}

    def update(state, word: str):
        key = word[:1]
        if key in state:
            state[key] += 1
        else:
            state[""] += 1
        return state

    def finish(state):
        return str(state)


@dataclass
class Total:
    """A number of words, of their characters, and the last word."""

    words: int = 0
    size: float = 0.0
    last: str = ""
    unit: int = field(init=False, default=4)

    def add(self, word):
        self.words += 1
        self.size += len(word) / self.unit
        self.last = word[::-1]
        return self


class totals:
    """An instance that its method changes, or that a row replaces."""

    def init():
        return Total()

    def update(state, word: str):
        if word == "a":
            return Total(state.words + 1, state.size, word * 2)
        return state.add(word)

    def merge(left, right):
        merged = replace(left, words=left.words + right.words, size=left.size + right.size)
        if right.words:
            merged.last = right.last
        return merged

    def finish(state):
        return str(state)


class Collection:
    """Words by their first characters."""

    def __init__(self):
        self.count = 0
        self.words = {}

    def take(self, word):
        self.count += 1
        self.words.setdefault(word[:1], []).append(word)


class collected:
    """An instance of a plain class, with a dictionary of lists that its method changes."""

    def init():
        return Collection()

    def update(state, word: str):
        state.take(word)
        return state

    def finish(state):
        return f"{state.count} {state.words}"


HOLDING = [longest, sentence, latest, counted, several, fields, spread, totals, collected]


@pytest.mark.parametrize("functions", HOLDING, ids=lambda functions: functions.__name__)
@settings(max_examples=20, deadline=None)
@given(
    words=st.lists(st.none() | st.text("ab é€", max_size=12), max_size=60),
    keys=st.lists(st.integers(0, 3), min_size=60, max_size=60),
)
def test_states_hold_texts_and_containers(functions: Any, words: list[Any], keys: Any) -> None:
    holding = compiled_from(functions)
    rows = [(word,) for word in words]
    assert holding(column(words, pa.utf8())) == reduced(holding, rows)
    keys = keys[: len(words)]
    actual = holding(column(words, pa.utf8()), by=column(keys, pa.int64()))
    results = zip(actual["key"].to_pylist(), actual[holding.name].to_pylist(), strict=True)
    assert list(results) == reduced_by(holding, keys, rows)


@cache
def compiled_from(functions: Any) -> Reducer:
    return reducer(functions)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("functions", HOLDING, ids=lambda functions: functions.__name__)
def test_what_states_hold_outlives_rows_ranges_and_memory(
    functions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What no state holds any more is freed several times.
    monkeypatch.setattr(state_memory, "MOST", 1 << 18)
    holding = reducer(functions)
    words = [f"{n * 7919 % 100_003:05} word" for n in range(100_000)] * 3
    keys = [n * 31 % 1000 for n in range(len(words))]
    rows = [(word,) for word in words]
    assert holding(column(words)) == reduced(holding, rows)
    by = dict(reduced_by(holding, keys[:20_000], rows[:20_000]))
    actual = holding(column(words[:20_000]), by=column(keys[:20_000]))
    assert dict(zip(actual["key"].to_pylist(), actual[holding.name].to_pylist(), strict=True)) == by
    assert not any(holding.report().left.values())


def test_a_row_that_has_changed_a_state_is_not_repeated() -> None:
    @reducer
    class seen:
        def init():
            return []

        def update(state, word: str):
            state.append(word)
            # An encoding of other characters is Python's, after the list has changed.
            state.append(str(len(word.encode("cp1252"))))
            return state

        def finish(state):
            return str(state)

    words = ["a", "é", "b", None, "c"]
    assert seen(column(words)) == reduced(seen, [(word,) for word in words])
    assert sum(seen.report().left.values()) == len(words)


def test_python_computes_states_that_take_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_memory, "MOST_ARENA", 1 << 18)

    @reducer
    class distinct:
        def init():
            return set()

        def update(state, value: int):
            state.add(value)
            return state

        def finish(state):
            return len(state)

    assert distinct(column(list(range(1000)))) == 1000
    assert not distinct.report().left
    assert distinct(column(list(range(30_000)))) == 30_000
    assert sum(distinct.report().left.values()) == 30_000


def test_a_state_is_a_dictionary_of_lists_that_rows_make() -> None:
    @reducer
    class filed:
        def init():
            return defaultdict(list)

        def update(state, word: str):
            state[len(word)].append(word)
            return state

        def finish(state):
            return str(sorted(state.items()))

    words = ["a", "bb", "c", None, "dd"]
    assert filed(column(words)) == reduced(filed, [(word,) for word in words])


def test_a_state_holds_a_container_twice() -> None:
    @reducer
    class twice:
        def init():
            return [[]]

        def update(state, value: int):
            if len(state) == 1:
                state.append(state[0])
            state[0].append(value)
            return state

        def finish(state):
            return str(state)

    assert twice(column([1, 2])) == "[[1, 2], [1, 2]]"


class begun_by_a_row:
    """A list that the first row makes and others change."""

    def init():
        return None

    def update(state, value: int):
        if state is None:
            return [value]
        state.append(value)
        return state

    def finish(state):
        return str(state)


class begun_twice:
    """One list in two places of the first state."""

    def init():
        return [[0]] * 2

    def update(state, value: int):
        state[0].append(value)
        return state

    def finish(state):
        return str(state)


class returned_twice:
    """One list in two places of a state, which rows that are left to Python change."""

    def init():
        return [0], [0]

    def update(state, value: int):
        if value == 1:
            both = [value]
            return both, both
        if value == 2:
            state[0].append(int(eval("value + 1")))
        return state

    def finish(state):
        return str(state)


@pytest.mark.parametrize("functions", [begun_by_a_row, begun_twice, returned_twice])
def test_states_hold_containers_that_are_one(functions: Any) -> None:
    # So many that a list moves several times.
    values = [1, 2, 3] * 100
    keys = [n % 7 for n in range(len(values))]
    rows = [(value,) for value in values]
    holding = compiled_from(functions)
    assert holding(column(values)) == reduced(holding, rows)
    actual = holding(column(values), by=column(keys))
    results = zip(actual["key"].to_pylist(), actual[holding.name].to_pylist(), strict=True)
    assert list(results) == reduced_by(holding, keys, rows)


@dataclass
class Lax:
    n: int = 0
    x: float = field(default=0.0, compare=False)


def test_a_row_in_python_gives_a_state_that_its_words_hold_whatever_its_class_compares() -> None:
    @reducer
    class lax:
        def init():
            return Lax()

        def update(state, word: str):
            # Upper case of é is Python's, and no float is as large as the number.
            return Lax(state.n + 1, 2**53 + 1 if word.upper() == "É" else 0.0)

        def finish(state):
            return int(state.x)

    assert lax(column(["a", "é"])) == 2**53 + 1


def test_what_states_refer_to_lives_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    @reducer
    class last:
        def init():
            return ""

        def update(state, words: list[str]):
            return words[-1]

    alive: list[Any] = []

    def noted(array: Any) -> Any:
        values = decoded(array)
        if values is not array:
            alive.append(weakref.ref(values.buffer(Role.BYTES).array))
        return values

    def run(plan: Any, *given: Any) -> Any:
        assert [reference() is not None for reference in alive] == [True]
        return finished(plan, *given)

    finished = reductions._Finish.run
    monkeypatch.setattr(arguments, "decoded", noted)
    monkeypatch.setattr(reductions._Finish, "run", run)
    encoded = pa.array(["a", "b"]).dictionary_encode()
    assert last(import_array(pa.ListArray.from_arrays([0, 1, 2], encoded))) == "b"


def test_states_with_texts_do_not_travel() -> None:
    words = compiled_from(longest)
    assert not words.has_states(s.utf8())
    with pytest.raises(UnsupportedError, match="longest: states that hold text or containers"):
        words.compiled_reduction(s.utf8())


class Span(NamedTuple):
    first: Any
    at: Any
    longest: Any


def test_rows_make_texts_and_lists_on_the_way() -> None:
    @reducer
    class letters:
        def init():
            return 0, 0

        def update(state, text: str, words: list[str]):
            parts = [part.strip().upper() for part in text.split(",")]
            return state[0] + len(parts), max(state[1], len("".join(parts + words)))

        def finish(state):
            return state

    texts = ["a, b ,c", "", "stra\u00dfe,x" * 3, "d" * 100_000]
    lists = [["x"], [], ["yy", "z"], ["q"]]
    rows = list(zip(texts, lists, strict=True))
    actual = letters(column(texts), column(lists, pa.list_(pa.utf8())))
    assert tuple(actual.values()) == reduced(letters, rows)


def test_a_row_is_a_struct_and_may_have_nulls_within() -> None:
    @reducer("(struct<x: int64, y: utf8>) -> int64")
    class sized:
        def init():
            return 0

        def update(state, row):
            return state + (row["x"] if row["y"] is None else len(row["y"]))

    rows = [{"x": 1, "y": "abc"}, {"x": 5, "y": None}, None]
    type_ = pa.struct([("x", pa.int64()), ("y", pa.utf8())])
    assert sized(column(rows, type_)) == 8
    assert sized(column(rows[:1], type_)) == 3


def test_states_of_groups_that_travel_have_64_bits() -> None:
    values, keys = column([2**62, 2**62, 1]), column([1, 1, 2])
    reduction = total_of_integers.plan(s.int64())
    groups = key_groups([keys])
    with pytest.raises(OverflowError, match="total_of_integers: a state is no int of 64 bits"):
        reduction.group_states([values], 3, groups)
    states = np.concatenate([reduction.group_states([values[1:]], 2, key_groups([keys[1:]]))] * 2)
    runs = states[[0, 2, 1, 3]]
    with pytest.raises(OverflowError, match="total_of_integers: a state is no int of 64 bits"):
        reduction.results_of_states(runs, np.array([0, 2, 4]))
    actual = reduction.results_of_states(runs[1:], np.array([0, 1, 3]))
    assert actual.to_pylist() == [2**62, 2]


def test_columns_on_a_device_are_refused() -> None:
    with stand_in.installed():
        on_device = to_device(column([1, 2]))
        with pytest.raises(UnsupportedError, match="value is on cuda:0, and a reducer runs over"):
            total_of_integers(on_device)


def test_strict_refuses_a_row_and_fallback_runs_in_python() -> None:
    strict = reducer(total_of_integers.functions, strict=True)
    with pytest.raises(CompileError, match="row 1 is left to Python"):
        strict(column([2**62, 2**62]))
    texts = made_of(
        init=lambda: bytearray(),
        update=lambda state, word: state + word.encode(),
        finish=lambda state: state.decode(),
    )
    with pytest.raises(CompileError, match="init returns bytearray"):
        reducer(texts)(column(["a"]))
    joined = reducer(texts, fallback=True)
    with pytest.warns(UserWarning, match="broken runs in Python: broken: init returns bytearray"):
        assert joined(column(["a", None, "b"])) == "ab"
    assert joined(column(["a", "c", "b"]), by=column([1, 2, 1]))["broken"].to_pylist() == [
        "ab",
        "c",
    ]


def test_it_runs_in_python_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLKERN_JIT", "0")
    plain = reducer(weighted_mean.functions)
    values, weights = column([1.0, None, 3.0]), column([1, 1, 3])
    assert plain(values, weights) == 2.5
    assert plain(values, weights, by=column([0, 1, 0]))["Functions"].to_pylist() == [2.5, None]


# Keys


def test_keys_are_columns_of_any_kind_and_may_have_names() -> None:
    values, weights = column([1.0, 2.0, 3.0, 4.0]), column([1, 1, 1, 1])
    first, second = column(["x", None, "x", None]), column([[1], [1], [1], [2]])
    expected = [2.0, 2.0, 4.0]
    several = weighted_mean(values, weights, by=[first, second])
    assert several.schema.names == ["key_0", "key_1", "weighted_mean"]
    named = weighted_mean(values, weights, by={"name": first, "tags": second})
    assert named.to_pylist() == [
        {"name": "x", "tags": [1], "weighted_mean": 2.0},
        {"name": None, "tags": [1], "weighted_mean": 2.0},
        {"name": None, "tags": [2], "weighted_mean": 4.0},
    ]
    batch = RecordBatch.from_arrays([first, second], ["name", "tags"])
    assert weighted_mean(values, weights, by=batch).to_pylist() == named.to_pylist()
    assert several["weighted_mean"].to_pylist() == expected


def test_no_rows_have_no_groups() -> None:
    none = column([], pa.float64())
    actual = weighted_mean(none, column([], pa.int64()), by=column([], pa.utf8()))
    assert (actual.num_rows, actual.schema.names) == (0, ["key", "weighted_mean"])
    assert weighted_mean(none, column([], pa.int64())) is None


def test_wrong_columns_and_keys_are_named() -> None:
    values, weights = column([1.0]), column([1])
    with pytest.raises(TypeError, match="weighted_mean takes 2 columns, got 1"):
        weighted_mean(values)
    with pytest.raises(TypeError, match="weight: expected an integer type"):
        weighted_mean(values, values)
    with pytest.raises(ValueError, match="weight: 2 values, but value has 1"):
        weighted_mean(values, column([1, 2]))
    with pytest.raises(ValueError, match="key: 2 values, but value has 1"):
        weighted_mean(values, weights, by=column([1, 2]))
    with pytest.raises(TypeError, match=r"by\[1\]: expected an Arrow array, got int"):
        weighted_mean(values, weights, by=[weights, 1])
    with pytest.raises(ValueError, match="by: expected one column at least"):
        weighted_mean(values, weights, by=[])


# Errors


@reducer
class positive_sum:
    def init():
        return 0

    def update(state, value: int):
        if value < 0:
            raise ValueError("negative")
        return state + value

    def merge(left, right):
        return left + right

    def finish(state):
        if state == 5:
            raise ArithmeticError("five")
        return state


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("row", [0, 299_998, 499_999])
def test_an_exception_says_in_which_row_it_was_raised(row: int, threads: int) -> None:
    values = np.ones(500_000, np.int64)
    values[row] = -1
    set_num_threads(threads)
    try:
        for by in (None, pa.array(values % 3)):
            with pytest.raises(ValueError, match="negative") as caught:
                positive_sum(pa.array(values), by=by)
            assert caught.value.__notes__ == [f"positive_sum: row {row}"]
    finally:
        set_num_threads(0)


def test_the_row_depends_on_the_rows_before_it() -> None:
    @reducer
    class short_sum:
        def init():
            return 0

        def update(state, value: int):
            if state + value > 10:
                raise OverflowError("more than ten")
            return state + value

    with pytest.raises(OverflowError) as caught:
        short_sum(column([4, 4, None, 2, 0, 1, 9]))
    assert caught.value.__notes__ == ["short_sum: row 5"]
    with pytest.raises(OverflowError) as caught:
        short_sum(column([4, 9, 4, 2, 3, 1, 9]), by=column([1, 2, 1, 1, 1, 2, 2]))
    assert caught.value.__notes__ == ["short_sum: row 4"]


def test_an_exception_of_finish_says_in_which_group() -> None:
    with pytest.raises(ArithmeticError, match="five") as caught:
        positive_sum(column([1, 2, 3]), by=column([0, 1, 1]))
    assert caught.value.__notes__ == ["positive_sum: finish of group 1"]


@pytest.mark.usefixtures("three_threads")
def test_an_exception_of_merge_says_in_which_group() -> None:
    @reducer
    class apart:
        def init():
            return 0

        def update(state, value: int):
            return state + value

        def merge(left, right):
            if left > 0 and right > 0:
                raise ValueError("two parts")
            return left + right

    values, keys = np.zeros(900_000, np.int64), np.arange(900_000) % 7
    # Of groups 0 to 6, number 3 has a value in the second and in the third part.
    values[[keys.tolist().index(1), 350_003, 700_000]] = 1
    keys[[350_003, 700_000]] = 3
    assert apart(pa.array(values[:600_000]), by=pa.array(keys[:600_000])).num_rows == 7
    with pytest.raises(ValueError, match="two parts") as caught:
        apart(pa.array(values), by=pa.array(keys))
    assert caught.value.__notes__ == ["apart: merge of group 3"]


def made_of(**functions: Any) -> Any:
    return type("broken", (), functions)


def no_state():
    return 0.0


def added(state, value: float):
    return state + value


def paired(state, value: float):
    return state, value


def texts(state, value: float):
    return str(value)


def unknown(state, value: float):
    return state + value.nothing


def imaginary():
    return 1j


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        (
            {"init": imaginary, "update": added},
            ["init returns complex", "no constant of complex"],
        ),
        ({"init": no_state, "update": paired}, ["update returns", "where the state is float"]),
        ({"init": no_state, "update": texts}, ["update returns str where the state is float"]),
        (
            {"init": no_state, "update": added, "merge": lambda a, b: (a, b)},
            ["merge returns", "a state keeps its type"],
        ),
        ({"init": no_state, "update": unknown}, ["unknown does not compile", "'nothing'"]),
    ],
)
def test_what_and_where_it_does_not_compile(functions: Any, words: list[str]) -> None:
    with pytest.raises(CompileError) as caught:
        reducer(made_of(**functions))
    text = str(caught.value)
    assert all(word in text for word in words), text
    assert f'File "{__file__}", line ' in text


def test_without_finish_a_tuple_is_a_row() -> None:
    pair = reducer(
        made_of(init=lambda: (0.0, 0), update=lambda state, value: (value, state[1] + 1))
    )
    assert pair(column([1.5, 2.5])) == {"f0": 2.5, "f1": 2}


def test_functions_that_are_missing_or_take_other_parameters() -> None:
    with pytest.raises(TypeError, match="broken: a reducer needs a function update"):
        reducer(made_of(init=no_state))
    with pytest.raises(TypeError, match=r"init takes 0 parameters, not 1.*no self"):
        reducer(made_of(init=lambda self: 0, update=added))
    with pytest.raises(TypeError, match="a reducer has one parameter at least"):
        reducer(made_of(init=no_state, update=lambda state: state))
    with pytest.raises(TypeError, match="expected a plain function"):
        reducer(made_of(init=3, update=added))
    with pytest.raises(CompileError, match="broken returns float where day_time_interval is decl"):
        reducer(made_of(init=no_state, update=added), returns=s.day_time_interval())


# What else it is


def test_it_is_compiled_ahead_of_its_calls() -> None:
    @reducer
    class largest:
        def init():
            return -math.inf

        def update(state, value: float):
            return max(state, value)

        def merge(left, right):
            return max(left, right)

    values, keys = column([1.0, None, 3.0]), column([1, 2, 1])
    # So that the kernels of colkern are there.
    null_share(values, by=keys)
    null_share(values)
    largest.compile(s.float64())
    before = compilations()
    assert largest(values) == 3.0
    assert largest(values, by=keys)["largest"].to_pylist() == [3.0, -math.inf]
    assert compilations()["compiled"] == before["compiled"]


def test_it_looks_like_its_class() -> None:
    assert weighted_mean.__name__ == "weighted_mean"
    assert weighted_mean.__doc__ == "The mean of values that count more or less."
    assert repr(last) == "<colkern reducer last(value: int) -> int64>"


def test_a_key_is_not_called_as_the_reducer_is() -> None:
    values, keys = column([1.0, 2.0]), column([1, 2])
    for by in ({"weighted_mean": keys}, RecordBatch.from_arrays([keys], ["weighted_mean"])):
        with pytest.raises(ValueError, match="by: a column is called 'weighted_mean'"):
            weighted_mean(values, keys, by=by)


def test_it_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(weighted_mean)) is weighted_mean


RATE = 2


def test_a_reducer_is_compiled_again_once_a_global_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @reducer
    class total:
        @staticmethod
        def init() -> int:
            return 0

        @staticmethod
        def update(state: int, number: int) -> int:
            return state + number * RATE

        @staticmethod
        def merge(left: int, right: int) -> int:
            return left + right

    rows, keys = column([1, 2, 3]), column([0, 0, 1])
    assert total(rows) == 12
    monkeypatch.setitem(globals(), "RATE", 3)
    assert total(rows) == 18
    assert total(rows, by=keys)["total"].to_pylist() == [9, 9]
