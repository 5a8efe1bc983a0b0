"""`colkern.spark.udf` without Spark: what is refused on the driver, and the calls of workers."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

import colkern as ck
import colkern.spark
from colkern.jit import Udf
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.worker_calls import ArrowAggregate, ArrowFunction


def same(value):
    return value


def test_types_that_spark_lacks_are_refused_where_the_function_is_defined() -> None:
    with pytest.raises(ck.UnsupportedError, match="uint32; declare int64"):
        colkern.spark.udf(same, returns=ck.uint32())
    with pytest.raises(ck.UnsupportedError, match=r'timestamp\("us"\)'):
        colkern.spark.udf(same, returns=ck.timestamp("ns"))


def test_the_type_of_results_follows_from_the_types_of_parameters() -> None:
    @colkern.spark.udf("(float64, int32) -> float64")
    def scaled(value, times):
        return value * times

    @colkern.spark.udf
    def doubled(value: float):
        return value * 2

    for function in (scaled, doubled):
        assert function.returnType == DoubleType()  # type: ignore[attr-defined]


def test_without_any_types_the_result_must_be_declared() -> None:
    with pytest.raises(TypeError, match="same: Spark must know the type of the results"):
        colkern.spark.udf(same)


@pytest.mark.parametrize(
    "returns",
    [IntegerType(), StringType(), ArrayType(DoubleType()), StructType().add("a", LongType())],
)
def test_results_may_be_declared_with_types_of_spark_s(returns: DataType) -> None:
    function = colkern.spark.udf(lambda value: value, returns=returns)
    assert function.returnType == returns
    assert colkern.spark.iterator_udf(same, returns=returns).returnType == returns


@pytest.mark.parametrize(
    "declare",
    [
        lambda udf: udf(same, IntegerType()),
        lambda udf: udf(same, "int"),
        lambda udf: udf(IntegerType())(same),
        lambda udf: udf("int")(same),
        lambda udf: udf(returnType=IntegerType())(same),
        lambda udf: udf(same, returnType="integer"),
    ],
)
def test_results_may_be_declared_as_for_pyspark_s_own_udf(declare: Any) -> None:
    assert declare(colkern.spark.udf).returnType == IntegerType()


def test_text_that_only_spark_reads_declares_types_too(spark: SparkSession) -> None:
    for text in ("a int, b string", "timestamp", "map<string, timestamp>"):
        assert colkern.spark.udf(same, text).returnType == DataType.fromDDL(text)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="did you mean 'integer'"):
        colkern.spark.udf(same, "IntegerType")


def divided(value, by):
    return 1.0 / (value - by)


def test_an_error_names_the_values_of_its_row() -> None:
    function = column_function_of(divided, None, returns=ck.float64())
    call = ArrowFunction(function, ck.float64())
    with pytest.raises(ZeroDivisionError) as caught:
        call(pa.array([1.0, 2.5, 4.0]), pa.array([0, 0, 4]))
    assert caught.value.__notes__ == [
        "divided: row 2",
        "divided: for value=4.0, by=4",
        "divided: in batch 0; rows are counted from its start",
    ]


def test_a_function_that_does_not_compile_fails_where_it_is_defined() -> None:
    with pytest.raises(ck.CompileError, match="line"):

        @colkern.spark.udf
        def bad(value: int) -> int:
            return len(open(str(value)).read())


def test_options_are_for_plain_functions() -> None:
    with pytest.raises(TypeError, match=r"nulls: pass it to colkern\.udf"):
        colkern.spark.udf(ck.udf(same), nulls="pass")


# The calls of workers


def test_batches_are_not_copied_and_may_be_slices() -> None:
    function = ArrowFunction(ck.udf("(float64) -> float64")(same))
    column = pa.array([0.0, 1.0, None, 3.0]).slice(1)
    assert function(column).equals(pa.array([1.0, None, 3.0]))


COLD = """
    import pickle, sys
    import pyarrow as pa
    from colkern.cache import COUNTS

    function = pickle.loads(sys.stdin.buffer.read())
    function(pa.array([1.0, None]))
    print(COUNTS["compiled"])
"""


def test_of_workers_that_start_cold_one_compiles_and_the_others_wait(tmp_path: Path) -> None:
    function = ArrowFunction(ck.udf("(float64) -> float64")(same))
    environment = {**os.environ, "COLKERN_CACHE_DIR": str(tmp_path)}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(COLD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(cloudpickle.dumps(function))
        worker.stdin.close()
    compiled = []
    for worker in workers:
        assert worker.stdout is not None
        compiled.append(int(worker.stdout.read()))
        assert worker.wait(60) == 0
    assert sorted(compiled)[:2] == [0, 0]
    assert max(compiled) > 0


CELL = """
import re

UNITS = {"kilo", "mega", "giga"}
NUMBER = re.compile(r"(\\d+) ([a-z]+)")

def thousands(text: str) -> int:
    found = NUMBER.search(text)
    return int(found.group(1)) * (1000 if found.group(2) in UNITS else 1)

double, shout = (lambda x: x * 2), (lambda text: text.upper())
"""

COLUMNS = (pa.array(["12 mega", "7 x"]), pa.array([1.5]), pa.array(["a"]))

DRIVER = """
    import linecache, pickle, sys
    from pyspark import cloudpickle
    from colkern.spark.functions.worker_calls import ArrowAggregate, ArrowFunction
    from colkern.spark.functions.column_functions import column_function_of

    text, columns = pickle.loads(sys.stdin.buffer.read())
    name = "<ipython-input-1>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    cell = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), cell)
    functions = [
        ArrowFunction(column_function_of(cell["thousands"])),
        ArrowFunction(column_function_of(cell["double"], "(float64) -> float64")),
        ArrowFunction(column_function_of(cell["shout"], "(utf8) -> utf8")),
    ]
    for function, column in zip(functions, columns):
        function(column)
    sys.stdout.buffer.write(cloudpickle.dumps((functions, columns)))
"""

WORKER = """
    import pickle, sys
    from colkern.cache import compilations

    functions, columns = pickle.loads(sys.stdin.buffer.read())
    for function, column in zip(functions, columns):
        print(function(column).to_pylist(), function.function.report().reason or None)
    print(compilations()["compiled"])
"""


def test_functions_of_a_notebook_are_compiled_by_the_driver_alone(tmp_path: Path) -> None:
    def process(script: str, data: bytes, seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            input=data,
            stdout=subprocess.PIPE,
            env={**os.environ, "COLKERN_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": seed},
            check=True,
        ).stdout

    pickled = process(DRIVER, pickle.dumps((CELL, COLUMNS)), "5")
    assert process(WORKER, pickled, "7").decode().splitlines() == [
        "[12000, 7] None",
        "[3.0] None",
        "['A'] None",
        "0",
    ]


def test_no_worker_waits_for_the_rows_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = []
    locks = []
    rows_while_locked = []

    @contextmanager
    def lock() -> Iterator[None]:
        locks.append(True)
        locked.append(True)
        yield
        locked.pop()

    def counted(function: Udf, *columns: Any) -> ck.Array:
        if locked:
            rows_while_locked.append(len(columns[0]))
        return call(function, *columns)

    call = Udf.__call__
    monkeypatch.setattr(Udf, "__call__", counted)
    monkeypatch.setattr(colkern.spark.functions.compiling, "one_process_compiles", lock)
    function = ArrowFunction(ck.udf("(float64) -> float64")(same))
    batch = pa.array([0.5] * 10_000)
    for _ in range(2):
        assert function(batch).equals(batch)
    assert (len(locks), rows_while_locked) == (1, [])


# Options, and what is said of rows left to Python


def test_options_of_rows_are_those_of_udf() -> None:
    def ratio(a: float, b: float) -> float:
        return a / b

    columns = [pa.array([1.0]), pa.array([0.0])]
    with pytest.raises(ZeroDivisionError):
        ArrowFunction(column_function_of(ratio))(*columns)
    with pytest.raises(ck.CompileError, match="strict=True"):
        ArrowFunction(column_function_of(ratio, strict=True))(*columns)
    machine = ArrowFunction(column_function_of(ratio, arithmetic="machine"))
    assert machine(*columns).to_pylist() == [float("inf")]


def test_options_of_rows_are_not_for_generators() -> None:
    def both(a: int) -> Iterator[int]:
        yield a
        yield -a

    with pytest.raises(TypeError, match="arithmetic: for functions of a row; both is a generator"):
        colkern.spark.udf(arithmetic="machine")(both)


def test_a_fallback_needs_the_type_of_its_results() -> None:
    def name(value: int):
        return open(str(value)).name

    with pytest.warns(UserWarning, match="runs in Python"), pytest.raises(TypeError, match="hint"):
        colkern.spark.udf(name, fallback=True)


def test_the_rows_of_a_task_left_to_python_are_logged_at_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def shouted(text: str) -> str:
        return text.encode("cp1252").decode("cp1252")

    function = ArrowFunction(ck.udf(shouted))
    for _ in range(3):
        function(pa.array(["a", "ß", "é"]))
    assert not caplog.messages
    del function
    (message,) = caplog.messages
    assert message.startswith("shouted: 9 rows, ")
    assert "line" in message
    assert "\n" not in message

    @ck.reducer
    class loudest:
        def init():  # type: ignore[no-untyped-def]
            return 0

        def update(state, text: str):  # type: ignore[no-untyped-def]
            return max(state, len(text.encode("cp1252")))

        def finish(state) -> int:  # type: ignore[no-untyped-def]
            return state

    caplog.clear()
    aggregated = ArrowAggregate(loudest)
    aggregated(pa.array(["a", "é"]))
    del aggregated
    (message,) = caplog.messages
    assert message.startswith("loudest: 2 rows, ")

    function = ArrowFunction(ck.udf(shouted))
    function(pa.array(["a"]))
    caplog.clear()
    del function
    assert not caplog.messages
