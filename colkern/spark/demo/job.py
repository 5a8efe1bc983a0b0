"""The job itself: data, session, agreement, timing, result files."""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_type

import colkern.ipc
from colkern.errors import ColkernError, InvalidArrowError, placed
from colkern.spark.demo import data
from colkern.spark.demo.cases import Case, aggregates, cases
from colkern.spark.session import start_session
from colkern.spark.source import register_source

FLOOR = "mapInArrow identity"
REFERENCE = "colkern"
KEYS = ("l_orderkey", "l_linenumber")
_STEADY = 1.1
"""Two times that differ by a smaller factor are enough."""

_FEW = 50
"""One of so many orders takes part in warming up."""


class DisagreementError(ColkernError):
    """Two spellings of a function give different results."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `colkern demo`."""

    output: Path  #: The folder for results, chart and log; created if it does not exist.
    scale: float = 1.0
    rows: int | None = None  #: The number of rows; None for that of the scale.
    #: A user's own Parquet or Arrow files or folders; none for TPC-H's data.
    inputs: Sequence[Path] = ()
    master: str = "local[*]"
    repeat: int = 3  #: The most times that each variant is timed.


@dataclass(slots=True)
class Outcome:
    """The figures of one function."""

    case: Case
    #: For each way, and for the floor, one time per repetition.
    seconds: dict[str, list[float]] = field(default_factory=dict)
    #: Count, min, max and sum of the results.
    aggregates: dict[str, object] = field(default_factory=dict)
    #: For each way, the fingerprint of all its rows.
    fingerprints: dict[str, object] = field(default_factory=dict)

    def median(self, way: str) -> float:
        """Returns the median time of a way in seconds."""
        return statistics.median(self.seconds[way])

    def spread(self, way: str) -> float:
        """Returns the longest time of a way divided by the shortest."""
        return max(self.seconds[way]) / min(self.seconds[way])


@dataclass(slots=True)
class Run:
    """The figures of the whole job."""

    rows: int
    outcomes: list[Outcome]
    files: list[Path]  #: The result files, which colkern has read back and validated.
    settings: dict[str, str]  #: Spark's settings that influence the figures.


Step = Callable[[str, float], None]
"""Called with the name of a step, and the share of all work that is done before it."""


def run(options: Options, step: Step, first: Callable[[Run], None]) -> Run:
    """Run the demo; raises DisagreementError if results differ, RuntimeError if Java or Spark does not
    start."""
    with tempfile.TemporaryDirectory(prefix="colkern-demo-") as folder:
        files = _input_files(options, Path(folder), step)
        step("Starting Spark", 0.1)
        log = options.output / "spark.log"
        config = {
            "spark.sql.session.timeZone": "UTC",
            # More idle workers than run at a time would take part in the timed runs, cold.
            "spark.python.factory.idleWorkerMaxPoolSize": str(len(os.sched_getaffinity(0))),
        }
        session = start_session(options.master, name="colkern demo", config=config, log=log)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Of pandas' version and missing hints.
                return _measured(session, files, options, step, first)
        except (PySparkException, Py4JError) as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            message = f"the Spark job fails: {lines[0]} … {lines[-1]} (log: {log})"
            raise RuntimeError(message) from error
        finally:
            session.stop()


def _input_files(options: Options, folder: Path, step: Step) -> list[Path]:
    if options.inputs:
        step("Reading the input files", 0.0)
        return data.own_files(options.inputs, folder)
    step("Looking for TPC-H data", 0.0)

    def progress(done: float) -> None:
        step("Generating TPC-H data, once", 0.1 * done)

    return sorted(data.lineitem(options.scale, options.rows, progress).glob("*.parquet"))


def _measured(
    session: SparkSession,
    files: Sequence[Path],
    options: Options,
    step: Step,
    first: Callable[[Run], None],
) -> Run:
    types = {name: from_arrow_type(type_) for name, type_ in data.COLUMNS.items()}
    columns = (f.col(name).cast(type_).alias(name) for name, type_ in types.items())
    frame = session.read.parquet(*map(str, files)).select(*columns)
    if options.inputs and options.rows is not None:
        frame = frame.limit(options.rows)
    outcomes = [Outcome(case) for case in cases()]
    result = options.output / "result"

    step("Writing the results", 0.15)
    _write(frame, outcomes, result)
    step("Reading the result files back", 0.2)
    files_written, rows = read_back(result)

    run = Run(rows, outcomes, files_written, _settings(session))
    # All workers import what the timed runs need, for a few rows; writing has warmed up the rest.
    few = frame.where(f.col(KEYS[0]) % _FEW == 0)
    for way in ("pandas_udf", "arrow_udf"):
        step(f"Warming up: {way}", 0.22)
        _query(few, outcomes[-1].case, way).collect()
    done, total = 0, options.repeat * sum(1 + len(outcome.case.ways) for outcome in outcomes)
    for repetition, outcome in itertools.product(range(1, options.repeat + 1), outcomes):
        for way in (FLOOR, *outcome.case.ways):
            if repetition <= 2 or outcome.spread(way) >= _STEADY:
                label = f"Timing {repetition}/{options.repeat}: {outcome.case.name}, {way}"
                step(label, 0.25 + 0.75 * done / total)
                # The JVM warms up over the first round, so the median is mostly one of the other ones.
                _time(frame, outcome, way, repetition == 1 and way != FLOOR)
            done += 1
        if repetition == 1:
            _require_agreement(frame, outcome)
            if options.repeat > 1:
                first(replace(run, outcomes=[outcome]))
    step("Done", 1.0)
    return run


def _time(frame: DataFrame, outcome: Outcome, way: str, is_checked: bool) -> None:
    """Run a query of a function once, and keep its time, and the fingerprint of its rows if asked to."""
    query = _query(frame, outcome.case, way, is_checked)
    start = time.perf_counter()
    row = query.collect()[0]
    outcome.seconds.setdefault(way, []).append(time.perf_counter() - start)
    if is_checked:
        *summary, bits, halves = row
        outcome.fingerprints[way] = summary[0], bits, halves
        if way == REFERENCE:
            outcome.aggregates = dict(zip(row.asDict(), summary, strict=False))


def _query(frame: DataFrame, case: Case, way: str, is_checked: bool = False) -> DataFrame:
    """Returns a new query of one row: Spark would not repeat a query whose shuffle it still has. If
    `is_checked`, the row ends with the fingerprint of all rows."""
    inputs = frame.select(*case.inputs)
    if way == FLOOR:
        moved = inputs.mapInArrow(lambda batches: batches, inputs.schema)
        return moved.agg(*(f.count(name) for name in case.inputs))
    results = inputs.withColumn("result", case.ways[way](*case.inputs))
    more = fingerprint(case.inputs, "result") if is_checked else []
    return results.agg(*aggregates(case), *more)


def _write(frame: DataFrame, outcomes: Sequence[Outcome], folder: Path) -> None:
    cases = [outcome.case for outcome in outcomes]
    results = [case.ways[REFERENCE](*case.inputs).alias(case.name) for case in cases]
    register_source(frame.sparkSession)
    writer = frame.select(*KEYS, *results).write.format("colkern").option("compression", "lz4")
    writer.mode("overwrite").save(str(folder.absolute()))


def _require_agreement(frame: DataFrame, outcome: Outcome) -> None:
    """Raise DisagreementError if results differ."""
    case = outcome.case
    if len({*outcome.fingerprints.values()}) == 1:
        return
    results = {way: use(*case.inputs) for way, use in case.ways.items()}
    if unequal := differing_rows(frame, results, REFERENCE):
        counts = ", ".join(f"{way} in {count} rows" for way, count in unequal.items())
        raise DisagreementError(f"{case.name}: other results than those of {REFERENCE}: {counts}")


def read_back(folder: Path) -> tuple[list[Path], int]:
    """Validates the Arrow files in a folder in full, and returns them and their rows; raises if there is
    none."""
    files = sorted(folder.glob("part-*.arrow"))
    if not files:
        raise InvalidArrowError(
            "no result files; Spark's workers must reach the output folder", place=str(folder)
        )
    rows = 0
    for path in files:
        with colkern.ipc.open(path) as reader:
            for position, batch in enumerate(reader):
                with placed(f"{path}, batch {position}"):
                    batch.validate(full=True)
                rows += batch.num_rows
    return files, rows


_SETTING_NAMES = """
    spark.master spark.driver.memory spark.sql.execution.arrow.maxRecordsPerBatch
    spark.sql.execution.arrow.pythonUDF.columnarInput.enabled
    spark.sql.parquet.columnarReaderBatchSize spark.sql.execution.arrow.compression.codec
"""


def _settings(session: SparkSession) -> dict[str, str]:
    settings = {}
    for name in _SETTING_NAMES.split():
        # The available settings depend on Spark's version.
        with contextlib.suppress(PySparkException):
            settings[name] = str(session.conf.get(name))
    return settings


# Each way has a fingerprint of all its rows. Only where these differ are the rows compared one by one.


def fingerprint(inputs: Sequence[str], result: str) -> list[Column]:
    """Returns aggregates that are equal if the results of all rows are, in any order, and else, but for one
    chance in 2**64, differ.

    -0.0 counts as 0.0, and a NaN as any other.
    """
    row = f.xxhash64(*inputs, result)
    # Rows that stand twice cancel out in the first one.
    return [f.bit_xor(row).alias("bits"), f.sum(f.shiftrightunsigned(row, 32)).alias("halves")]


def differing_rows(frame: DataFrame, ways: Mapping[str, Column], reference: str) -> dict[str, int]:
    """Returns the ways whose results are not those of the reference, each with the number of such rows."""
    results = frame.select(*(column.alias(way) for way, column in ways.items()))
    expected = f.col(f"`{reference}`")
    counts = [f.count_if(~f.col(f"`{way}`").eqNullSafe(expected)).alias(way) for way in ways]
    (row,) = results.agg(*counts).collect()
    return {way: count for way, count in row.asDict().items() if count}
