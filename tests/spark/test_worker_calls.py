"""The functions that Spark's workers call: batches of pyarrow's in, batches of pyarrow's out."""

from __future__ import annotations

import datetime
import gc
import pickle
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import cloudpickle

import colkern as ck
from colkern.interchange import import_schema
from colkern.spark.functions import compiling
from colkern.spark.functions.aggregates import States, _Part, _Results
from colkern.spark.functions.batches import BatchFunction
from colkern.spark.functions.declarations import MOMENT, column_types
from colkern.spark.functions.group_runs import GroupFunction
from colkern.spark.functions.iterators import ArrowIterator
from colkern.spark.functions.tables import _row_handler
from colkern.spark.functions.worker_calls import ArrowAggregate, ArrowFunction


def difference(left: float, right: float) -> float:
    return left - right


def test_a_worker_imports_what_its_function_needs() -> None:
    call = ArrowFunction(ck.udf(difference), ck.float64())
    code = (
        "import sys; from pyspark import cloudpickle; import pyarrow as pa\n"
        "call = cloudpickle.loads(sys.stdin.buffer.read())\n"
        "column = pa.Array.from_buffers(pa.float64(), 2, [None, pa.py_buffer(bytes(16))])\n"
        "print(call(column, column).to_pylist())\n"
        "for name in ('native', 'functions.aggregates', 'functions.groups', 'source'):\n"
        "    assert f'colkern.spark.{name}' not in sys.modules, name\n"
        "assert not {'pandas', 'pyarrow.compute'} & sys.modules.keys()"
    )
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    pickled = cloudpickle.dumps(call)
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True)
    assert (done.stdout, done.stderr.decode()[-300:]) == (b"[0.0, 0.0]\n", "")


def test_rows_left_to_python_are_told_when_a_process_ends(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import colkern as ck, pyarrow as pa\n"
        "from colkern.spark.functions.worker_calls import ArrowFunction\n"
        "def shouted(text: str) -> str:\n"
        "    return text.encode('cp1252').decode('cp1252')\n"
        "call = ArrowFunction(ck.udf(shouted))\n"
        "print(ascii(call(pa.array(['é'])).to_pylist()))"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout == "['\\xe9']\n"
    (line,) = done.stderr.splitlines()
    assert "1 rows, 1 of them left to Python" in line


def shouted(text: str) -> str:
    return text.encode("cp1252").decode("cp1252")


class Shouted:
    def init():
        return 0

    def update(state, text: str):
        return state + len(text.encode("cp1252"))

    def merge(left, right):
        return left + right


def loudest(text: list[str]) -> int:
    return max(len(each.encode("cp1252")) for each in text)


LEFT_ROW = pa.record_batch({"key": pa.array([1, 2]), "text": pa.array(["é", "a"])})


def in_columns() -> Any:
    function = ck.udf(shouted)
    ArrowFunction(function)(LEFT_ROW["text"])
    return function


def in_states() -> Any:
    function = ck.reducer(Shouted)
    States([_Part(function, [ck.utf8()], 1)], 1)(*LEFT_ROW.columns)
    return function


def in_groups() -> Any:
    function = ck.udf(loudest)
    key, text = import_schema(LEFT_ROW.schema).fields
    list(GroupFunction(function, ck.Schema([key]), ck.Schema([text]))(iter([LEFT_ROW])))
    return function


@pytest.mark.parametrize("call", [in_columns, in_states, in_groups])
def test_each_row_is_counted_and_left_to_python_once(call: Any) -> None:
    report = call().report()
    assert (report.rows, sum(report.left.values())) == (2, 1)


@pytest.mark.parametrize("fallback", [False, True])
def test_the_tasks_of_a_worker_share_a_function_unless_it_may_run_in_python(fallback: bool) -> None:
    pickled = cloudpickle.dumps(ArrowFunction(ck.udf(difference, fallback=fallback), ck.float64()))
    first, second = pickle.loads(pickled), pickle.loads(pickled)
    assert first is not second
    assert (first.function is second.function) is not fallback


def test_workers_leave_the_compiler_out_of_their_search_for_garbage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    column = pa.array([1.0])
    gc.unfreeze()
    ArrowFunction(ck.udf(difference))(column, column)
    assert not gc.get_freeze_count()

    monkeypatch.setattr(compiling, "TaskContext", SimpleNamespace(get=object))
    ArrowFunction(ck.udf(difference))(column, column)
    assert gc.get_freeze_count() > 10_000


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone of the machine, in which Spark gives moments to Python row by row."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def rows_of(generator: Any, *values: Any, returns: ck.DataType) -> list[tuple[Any, ...]]:
    """The items that a generator yields for one row, called as for lateral joins."""
    function = ck.generator(generator, strict=True)
    call = ArrowFunction(function, ck.list_(returns))
    types = column_types(function)
    assert types is not None
    return list(_row_handler(call, types)().eval(*values))


def test_moments_of_single_rows_stay_what_they_are(in_new_york: None) -> None:
    def handed_on(
        moment: Annotated[datetime.datetime, MOMENT],
        clock: Annotated[datetime.datetime, ck.timestamp("us")],
    ) -> tuple[int, int]:
        yield round(moment.timestamp()), clock.hour

    noon = datetime.datetime(2024, 1, 1, 12)
    (actual,) = rows_of(
        handed_on, noon, noon, returns=ck.struct([("f0", ck.int64()), ("f1", ck.int64())])
    )
    assert actual == (1_704_110_400 + 5 * 3600, 12)


def test_null_rows_are_null_in_all_columns_and_maps_are_dicts() -> None:
    def twice(n: int) -> tuple[int, int] | None:
        yield (n, n)
        yield None

    pairs = ck.struct([("f0", ck.int64()), ("f1", ck.int64())])
    assert rows_of(twice, 1, returns=pairs) == [(1, 1), (None, None)]

    def counted(n: int) -> dict[int, int]:
        yield {n: n}

    assert rows_of(counted, 1, returns=ck.map_(ck.int64(), ck.int64())) == [({1: 1},)]


def words(text: str) -> tuple[str, int]:
    start = 0
    for i in range(len(text) + 1):
        if i == len(text) or text[i] == " ":
            if start < i:
                yield text[start:i], start
            start = i + 1


class Mean:
    def init():
        return 0.0, 0

    def update(state, value: float):
        return state[0] + value, state[1] + 1

    def finish(state) -> float | None:
        return state[0] / state[1] if state[1] else None


def test_an_error_in_the_first_rows_comes_with_its_place_too() -> None:
    def refusing(n: int) -> int:
        if n > 0:
            raise ValueError("no")
        return n

    with pytest.raises(ValueError, match="no") as raised:
        ArrowFunction(ck.udf(refusing), ck.int64())(pa.array([1]))
    assert "in batch 0" in raised.value.__notes__[-1]


# Columns by name


@pytest.fixture(scope="module")
def minus() -> ArrowFunction:
    return ArrowFunction(ck.udf(difference), ck.float64())


def test_columns_go_to_parameters_by_name(minus: ArrowFunction) -> None:
    three, one = pa.array([3.0, None]), pa.array([1.0, 1.0])
    for actual in (minus(three, one), minus(three, right=one), minus(right=one, left=three)):
        assert actual.to_pylist() == [2.0, None]


def test_wrong_names_are_told(minus: ArrowFunction) -> None:
    one = pa.array([1.0])
    with pytest.raises(TypeError, match="difference has no parameter 'top': it takes left, right"):
        minus(one, top=one)
    with pytest.raises(TypeError, match="difference: left is given by position and by name"):
        minus(one, left=one)
    with pytest.raises(TypeError, match="difference: no column for right"):
        minus(left=one)


def test_what_a_function_raises_comes_with_row_and_batch() -> None:
    def picky(n: int) -> int:
        if n > 1:
            raise ValueError("too much")
        return n

    call = ArrowFunction(ck.udf(picky), ck.int64())
    call(pa.array([0, 1]))
    with pytest.raises(ValueError, match="too much") as raised:
        call(pa.array([0, 1, 2]))
    assert raised.value.__notes__[:1] == ["picky: row 2"]
    assert "batch 1" in raised.value.__notes__[-1]


# Aggregates


def test_an_aggregate_gives_one_value() -> None:
    mean = ArrowAggregate(ck.reducer(Mean), ck.float64())
    assert mean(pa.array([1.0, None, 3.0])) == 2.0
    assert mean(value=pa.array([], pa.float64())) is None


def test_an_aggregate_of_another_type_than_numbers_keeps_its_type() -> None:
    @ck.reducer
    class Latest:
        def init():
            return None

        def update(state, day: datetime.date):
            return day if state is None else max(state, day)

        def finish(state) -> datetime.date:
            return state

    days = pa.array([datetime.date(2024, 2, 29), None, datetime.date(2023, 1, 1)])
    assert ArrowAggregate(Latest, ck.date32())(days) == days[0]


# Iterators


def test_set_up_runs_once_and_batches_go_through_one_by_one() -> None:
    asked = []

    def shifted(batches: Iterator[tuple[ck.Array, ck.Array]]) -> Iterator[Any]:
        asked.append("set up")
        for left, right in batches:
            asked.append(len(left))
            yield np.asarray(left) + np.asarray(right)

    batches = [(pa.array([1, 2]), pa.array([10, 20])), (pa.array([3]), pa.array([30]))]
    results = ArrowIterator(shifted, ck.int64())(iter(batches))
    assert next(results).to_pylist() == [11, 22]
    assert asked == ["set up", 2]
    assert [array.to_pylist() for array in results] == [[33]]
    assert asked == ["set up", 2, 1]


def test_results_of_iterators_are_checked_with_the_row_of_the_partition() -> None:

    call = pickle.loads(pickle.dumps(ArrowIterator(same_batches, ck.int8())))
    with pytest.raises(ValueError, match="same_batches: a result is no int8") as raised:
        list(call(iter([pa.array([1, 2]), pa.array([3, 300])])))
    assert raised.value.__notes__ == ["same_batches: row 3"]


def same_batches(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def test_batches_of_a_map_are_not_copied_in_either_direction() -> None:
    batch = pa.record_batch({"a": pa.array([1, None]), "b": pa.array(["x", "yz"])})
    (result,) = BatchFunction(same_batches, import_schema(batch.schema))(iter([batch]))
    assert result.equals(batch)
    for ours, theirs in zip(result.columns, batch.columns, strict=True):
        for one, other in zip(ours.buffers(), theirs.buffers(), strict=True):
            assert (one and one.address) == (other and other.address)


# Groups

ROWS = st.lists(st.tuples(st.sampled_from([None, 1, 2, 7]), st.none() | st.integers(-9, 9)))


def total_and_count(value: list[int]) -> tuple[int, int]:
    total = 0
    for item in value:
        if item is not None:
            total += item
    return total, len(value)


def positives(value: list[int]) -> int:
    for item in value:
        if item is not None and item > 0:
            yield item


class Sum:
    def init():
        return 0

    def update(state, value: int):
        return state + value


@pytest.fixture(scope="module")
def calls() -> dict[str, GroupFunction]:
    keys = ck.Schema([ck.field("key", ck.int64())])
    values = ck.Schema([ck.field("value", ck.int32())])
    result = ck.udf(total_and_count), ck.generator(positives), ck.reducer(Sum)
    return {function.name: GroupFunction(function, keys, values) for function in result}


@given(ROWS, st.integers(1, 5))
def test_each_group_gets_its_result(
    calls: dict[str, GroupFunction], rows: list[Any], size: int
) -> None:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for key, value in sorted(rows, key=lambda row: (row[0] is not None, row[0] or 0)):
        groups[key].append(value)
    ordered = [(key, value) for key, values in groups.items() for value in values]
    table = pa.table(
        {
            "c0": pa.array([key for key, _ in ordered], pa.int64()),
            "c1": pa.array([value for _, value in ordered], pa.int32()),
        }
    )

    def found(name: str) -> list[tuple[Any, ...]]:
        batches = calls[name](iter(table.to_batches(size)))
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]

    given = {key: [v for v in values if v is not None] for key, values in groups.items()}
    assert found("total_and_count") == [(k, sum(v), len(groups[k])) for k, v in given.items()]
    assert found("positives") == [(k, item) for k, v in given.items() for item in v if item > 0]
    assert found("Sum") == [(k, sum(v)) for k, v in given.items()]


class Spread:
    """The first value, the largest difference to it, and whether there was one."""

    def init():
        return 0, 0, False

    def update(state, value: int):
        if not state[2]:
            return value, 0, True
        return state[0], max(state[1], abs(value - state[0])), True

    def merge(left, right):
        if not left[2] or not right[2]:
            return left if left[2] else right
        return left[0], max(left[1], abs(right[0] - left[0]) + right[1]), True

    def finish(state) -> tuple[int, int] | None:
        return (state[0], state[1]) if state[2] else None


SPREAD = ck.reducer(Spread)


@given(ROWS, st.integers(1, 5))
def test_states_of_batches_are_merged_in_order(rows: list[Any], size: int) -> None:
    part = _Part(SPREAD, [ck.int32()], 1)
    keys = pa.array([key for key, _ in rows], pa.int64())
    values = pa.array([value for _, value in rows], pa.int32())
    states: dict[Any, list[list[int]]] = {}
    call = States([part], 1)
    for start in range(0, len(rows), size):
        batch = keys[start : start + size], values[start : start + size]
        for key, state in zip(batch[0].to_pylist(), call(*batch).to_pylist(), strict=True):
            if state is not None:
                states.setdefault(key, []).append(state)
    collected = pa.array(states.values(), pa.list_(pa.list_(pa.int64())))
    results = (
        [row and row["f0"] for row in _Results(part, 0)(collected).to_pylist()] if rows else []
    )
    firsts: dict[Any, Any] = {}
    for key, value in rows:
        firsts[key] = value if firsts.get(key) is None else firsts[key]
    assert dict(zip(states, results, strict=True)) == firsts


def test_results_of_groups_have_the_columns_of_the_keys_and_of_a_tuple(
    calls: dict[str, GroupFunction],
) -> None:
    assert calls["total_and_count"].schema.names == ["key", "f0", "f1"]
    assert calls["positives"].schema.names == ["key", "positives"]
