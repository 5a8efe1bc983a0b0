"""Operations of compiled code on columns, batches, rows and streams, and the errors for others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arrow_oracle import batch_from_pyarrow, from_pyarrow
from jit.column_cases import BATCH, CASES, Case, name_of
from numba import njit, prange
from numba.core.errors import NumbaError, TypingError

import colkern as ck
from colkern.arrays import Array, RecordBatchStream
from colkern.cpu.threads import GRAIN, run_ranges, set_num_threads
from colkern.errors import InvalidArrowError
from colkern.jit.views.records import record_address
from colkern.memory import Buffer


@njit
def element(column: Any, i: int) -> Any:
    return column[i]


@njit
def total(column: Any) -> Any:
    actual = 0
    for value in column:
        if value is not None:
            actual += value
    return actual


# What kernels have, too


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_functions_of_columns(case: Case) -> None:
    assert ck.njit(case.function)(*case.columns) == case.expected


# Elements


def test_slots_are_counted_from_both_ends_and_nulls_are_none() -> None:
    column = ck.array([1, None, 3], ck.int16())
    assert [element(column, i) for i in (0, 1, 2, -1, -3)] == [1, None, 3, 3, 1]


@njit
def is_among(column: Any, value: Any) -> Any:
    return value in column


@pytest.mark.parametrize(("values", "value"), [([1, None, 3], 3), (["a", "é"], "é"), ([1.5], 2)])
def test_in_compares_each_element(values: list[Any], value: Any) -> None:
    for item in (value, None):
        assert is_among(ck.array(values), item) == (item in values)


@njit
def rows_with(lists: Any, text: Any) -> Any:
    number = 0
    for items in lists:
        if items is not None and text not in items:
            number += 1
    return number


def test_in_of_the_elements_of_lists() -> None:
    assert rows_with(ck.array([["x"], None, ["y", None], []]), "x") == 2


def test_columns_of_one_type_share_one_compilation() -> None:
    before = len(total.signatures)
    total(ck.array([1], ck.int32()))
    total(ck.array([None, 2], ck.int32()).slice(1))
    total(ck.array([], ck.int32()))
    assert len(total.signatures) == before + 1


def test_every_half_precision_float_is_the_one_that_numpy_says() -> None:
    @njit
    def read(column: Any, out: Any) -> None:
        for i in range(len(column)):
            out[i] = column.value(i)

    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    out = np.empty(1 << 16, np.float32)
    read(from_pyarrow(pa.array(halves)), out)
    numbers = ~np.isnan(halves)
    np.testing.assert_array_equal(np.isnan(out), ~numbers)
    expected = halves[numbers].astype(np.float32)
    assert out[numbers].tobytes() == expected.tobytes()


# Batches, rows, streams


def test_a_stream_is_read_batch_by_batch() -> None:
    @njit
    def totals(stream: Any) -> Any:
        actual = [0 for _ in range(0)]
        for batch in stream:
            actual.append(total(batch.length))
        return actual, len(stream), stream[1].text[0] == "bb"

    batches = [batch_from_pyarrow(BATCH).slice(i, 2) for i in range(3)]
    stream = RecordBatchStream(batches[0].schema, iter(batches))
    assert totals(stream) == ([1, 3, 3], 3, True)
    # What a stream had is read.
    assert stream.read_all() == []
    with pytest.raises(ValueError, match="once"):
        totals(stream)


def test_a_stream_is_no_two_arguments() -> None:
    @njit
    def lengths(a: Any, b: Any) -> Any:
        return len(a), len(b)

    batch = batch_from_pyarrow(BATCH)
    stream = RecordBatchStream(batch.schema, iter([batch]))
    with pytest.raises(ValueError, match="once"):
        lengths(stream, stream)


def test_chunks_are_a_tuple_of_columns() -> None:
    @njit
    def over(chunks: Any) -> Any:
        actual = 0
        for chunk in chunks:
            actual += total(chunk)
        return actual

    assert over((ck.array([1, 2]), ck.array([None, 4]))) == 7


# Nested and encoded columns


def _first_child(column: Any, i: int) -> Any:
    return column[i].child(0)


def test_a_child_that_a_dense_slot_is_not_of_is_none_and_refused_by_checked_code() -> None:
    # The slot's offset is one in the other child, which is longer.
    array = pa.UnionArray.from_dense(
        pa.array([0, 1, 1], pa.int8()),
        pa.array([0, 0, 1], pa.int32()),
        [pa.array([5]), pa.array(["x", "y"])],
    )
    column = from_pyarrow(array)
    actual, checked = njit(_first_child), njit(boundscheck=True)(_first_child)
    assert [actual(column, i) for i in range(3)] == [5, None, None]
    assert checked(column, 0) == 5
    with pytest.raises(ValueError, match="type_id"):
        checked(column, 2)


@njit
def total_length(column: Any) -> Any:
    total = 0
    for i in range(len(column)):
        total += len(column.value(i))
    return total


def test_the_value_under_a_null_is_read_from_within_the_memory() -> None:
    # What stands under a null may be anything, in valid columns too.
    bits = Buffer(np.array([0b101], np.uint8))
    indices = Buffer(np.array([0, 2**31 - 1, 1], np.int32).view(np.uint8))
    type_ = ck.dictionary(ck.int32(), ck.utf8())
    words = Array(type_, 3, [bits, indices], dictionary=ck.array(["a", "bcd"]))
    words.validate(full=True)
    assert total_length(words) == len("a") + len("bcd")
    nulls = Array(
        type_, 1, [Buffer(np.array([0], np.uint8)), indices], dictionary=ck.array([], ck.utf8())
    )
    nulls.validate(full=True)
    assert total_length(nulls) == 0


# Nothing is copied


def test_compiled_code_reads_the_memory_of_the_column_itself() -> None:
    @njit
    def addresses(column: Any) -> Any:
        part = column[0]
        return column._ck_offsets, part._ck_data, part._ck_validity

    column = from_pyarrow(pa.array([[1, None], [3]]))
    child = column.children[0]
    buffers = (column.buffers[1], child.buffers[1], child.buffers[0])
    assert addresses(column) == tuple(buffer.address for buffer in buffers)  # type: ignore[union-attr]


def test_threads_that_share_a_column_share_its_record() -> None:
    column = from_pyarrow(pa.array([1, 2, None]))
    with ThreadPoolExecutor(8) as pool:
        actual = set(pool.map(lambda _: record_address(column), range(64)))
    assert len(actual) == 1


def test_records_are_made_while_all_threads_of_the_pool_wait_for_them() -> None:
    # Nulls are counted in the pool, whose one thread makes the record of the same column.
    set_num_threads(2)
    count = 32 * GRAIN
    bits = Buffer(np.full(count // 8, 255, np.uint8))
    column = Array(ck.int8(), count, [bits, Buffer(np.ones(count, np.uint8))])
    both = threading.Barrier(2)

    def address(start: int, stop: int) -> int:
        both.wait()
        return record_address(column)

    actual: list[int] = []
    thread = threading.Thread(
        target=lambda: actual.extend(run_ranges(address, 2, (), 1)), daemon=True
    )
    thread.start()
    thread.join(60)
    set_num_threads(0)
    assert len(set(actual)) == 1


def test_what_is_misaligned_is_read_from_a_copy() -> None:
    data = np.frombuffer(b"x" + np.array([5, 6], np.int64).tobytes(), np.uint8)[1:]
    assert total(Array(ck.int64(), 2, [None, Buffer(data)])) == 11


# Wrong code


def test_a_column_whose_offsets_lead_outside_is_refused_before_the_call() -> None:
    offsets = Buffer(np.array([0, 99], np.int32).view(np.uint8))
    with pytest.raises(InvalidArrowError):
        element(Array(ck.utf8(), 1, [None, offsets, Buffer(np.zeros(4, np.uint8))]), 0)


def _refused(function: Any, *arguments: Any) -> str:
    with pytest.raises(TypingError) as caught:
        njit(function)(*arguments)
    return str(caught.value)


def test_writing_to_a_column_is_refused() -> None:
    def write(column: Any) -> None:
        column[0] = 1

    assert "Arrow columns are immutable" in _refused(write, ck.array([1]))

    def rewrite(rows: Any) -> None:
        for row in rows:
            row.x = 1

    said = _refused(rewrite, ck.array([{"x": 1}]))
    assert "Row(struct<x: int64>) cannot be written to: Arrow columns are immutable" in said


def test_returning_a_column_to_python_is_refused() -> None:
    def give(column: Any) -> Any:
        return column[1:]

    rest = njit(give)
    with pytest.raises(TypeError, match="a compiled function cannot return Column"):
        rest(ck.array([1, 2]))
    # Other compiled functions may have it.
    assert njit(lambda column: total(rest(column)))(ck.array([1, 2, 3])) == 5


def test_a_column_is_an_argument_and_no_global() -> None:
    column = ck.array([1, 2, 3])
    assert total(column) == 6

    def length() -> Any:
        return len(column)

    with pytest.raises(NumbaError, match="pass it as an argument"):
        njit(length)()


def test_loops_that_numba_runs_in_parallel_read_columns() -> None:
    @njit(parallel=True)
    def doubled(column: Any, out: Any) -> None:
        for i in prange(len(column)):
            if column.is_valid(i):
                out[i] = 2 * column.value(i)

    out = np.zeros(4)
    doubled(ck.array([1.0, None, 3.0, 4.0]), out)
    assert out.tolist() == [2.0, 0.0, 6.0, 8.0]


# Names that columns or rows of some data type have; of others they are fields.
TAKEN = ["unit", "dictionary", "run_ends", "keys", "values", "index", "run", "type_id", "child"]


def test_fields_may_be_called_as_what_other_data_types_have() -> None:
    batch = ck.RecordBatch.from_arrays([ck.array([3**k]) for k in range(len(TAKEN))], TAKEN)
    namespace: dict[str, Any] = {}
    columns = " + ".join(f"batch.{name}[0]" for name in TAKEN)
    rows = " + ".join(f"batch[0].{name}" for name in TAKEN)
    exec(f"def total(batch): return {columns}, {rows}", namespace)
    expected = sum(3**k for k in range(len(TAKEN)))
    assert njit(namespace["total"])(batch) == (expected, expected)


def test_what_every_column_has_comes_before_its_fields() -> None:
    @njit
    def read(batch: Any) -> Any:
        row = batch.value(0)
        return batch.null_count, row.value, row.null_count, batch["value"][0]

    batch = ck.RecordBatch.from_arrays([ck.array([5]), ck.array([6])], ["value", "null_count"])
    assert read(batch) == (0, 5, 6, 5)


def test_unknown_fields_are_named_with_those_there_are() -> None:
    def unknown(batch: Any) -> Any:
        return batch["size"]

    message = _refused(unknown, batch_from_pyarrow(BATCH))
    assert "no field 'size'" in message
    assert "length, text, é 1" in message


def test_what_only_another_layout_has_is_refused() -> None:
    def runs(column: Any) -> Any:
        return column.run(0)

    assert "has no 'run'" in _refused(runs, ck.array([1]))


def test_other_keys_are_refused() -> None:
    def by_float(column: Any) -> Any:
        return column[1.5]

    assert "indexed by integers, slices and names" in _refused(by_float, ck.array([1]))


def test_checked_code_refuses_positions_outside() -> None:
    checked = njit(boundscheck=True)(element.py_func)
    column = ck.array([1, 2, 3])
    assert checked(column, -3) == 1
    for i in (3, -4, 2**40):
        with pytest.raises(IndexError, match="column index out of range"):
            checked(column, i)


def test_ck_checked_checks_all_code() -> None:
    program = (
        "import colkern as ck, numba\n"
        "@numba.njit\n"
        "def element(column, i): return column[i]\n"
        "try: element(ck.array([1]), 1)\n"
        "except IndexError as error: print(error)\n"
    )
    environment = {**os.environ, "CK_CHECKED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "column index out of range\n"


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "compiled_code.md"
    namespace: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for place, block in enumerate(blocks):
        # Row functions are compiled from their source.
        file = tmp_path / f"{place}.py"
        file.write_text(block)
        exec(compile(block, str(file), "exec", dont_inherit=True), namespace)
    assert namespace["longest"](namespace["batch"]) == 3
    assert namespace["domains"](ck.array(["Ann@Example.org", None, "bob"])) == ["example.org"]
    digits = ck.Builder(ck.list_(ck.int8()))
    namespace["digits"](ck.array([407, None, 12]), digits)
    assert digits.finish().to_pylist() == [[7, 0, 4], None, [2, 1]]
