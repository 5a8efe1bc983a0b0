"""`colkern.spark.udf` without Spark: what is refused on the driver, and the calls of workers."""

from __future__ import annotations

import os
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
from pyspark.sql.types import DoubleType

import colkern as ck
import colkern.spark
from colkern.jit import Udf


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


def test_a_function_that_does_not_compile_fails_where_it_is_defined() -> None:
    with pytest.raises(ck.CompileError, match="line"):

        @colkern.spark.udf
        def bad(value: int) -> int:
            import re

            return len(re.findall("a", "b"))


def test_options_are_for_plain_functions() -> None:
    with pytest.raises(TypeError, match=r"nulls: say so to colkern\.udf"):
        colkern.spark.udf(ck.udf(same), nulls="pass")


# The calls of workers


def test_batches_are_not_copied_and_may_be_slices() -> None:
    function = colkern.spark.functions.ArrowFunction(ck.udf("(float64) -> float64")(same))
    column = pa.array([0.0, 1.0, None, 3.0]).slice(1)
    assert function(column).equals(pa.array([1.0, None, 3.0]))


COLD = """
    import pickle, sys
    import pyarrow as pa
    from colkern.cpu.cache import COUNTS

    function = pickle.loads(sys.stdin.buffer.read())
    function(pa.array([1.0, None]))
    print(COUNTS["compiled"])
"""


def test_of_workers_that_start_cold_one_compiles_and_the_others_wait(tmp_path: Path) -> None:
    function = colkern.spark.functions.ArrowFunction(ck.udf("(float64) -> float64")(same))
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


def test_no_worker_waits_for_the_rows_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = []
    rows_while_locked = []

    @contextmanager
    def lock() -> Iterator[None]:
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
    function = colkern.spark.functions.ArrowFunction(ck.udf("(float64) -> float64")(same))
    batch = pa.array([0.5] * 10_000)
    for _ in range(2):
        assert function(batch).equals(batch)
    assert len(rows_while_locked) == 1
    assert rows_while_locked[0] < 100
