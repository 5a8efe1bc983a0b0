"""Native plans of reducers: Spark's own aggregates, beside plain Python row by row."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as f

import colkern as ck
from colkern.errors import CompileError
from colkern.spark import aggregate, explain, udf

LARGE = 1 << 62


class Mean:
    def init():
        return 0, 0

    def update(state, n: int):
        return state[0] + n, state[1] + 1

    def merge(left, right):
        return left[0] + right[0], left[1] + right[1]

    def finish(state) -> float | None:
        return state[0] / state[1] if state[1] else None


class Balance:
    def init():
        return 100, 0

    def update(state, n: int, m: int | None):
        total, lowest = state
        if m is not None and m > 3:
            total -= m % 1000
        else:
            total = 7 + total
        if n < lowest:
            lowest = n
        return total, lowest

    def finish(state) -> tuple[int, bool]:
        return state[0], state[1] < 0


class Least:
    def init():
        return None

    def update(state, n: int):
        return n if state is None else min(state, n)


class Greatest:
    def init():
        return None

    def update(state, n: int):
        if state is None or n > state:
            return n
        return state


class Latest:
    def init():
        return datetime.date.min, 0

    def update(state, day: datetime.date):
        if day.year < 1950:
            return state
        return max(day, state[0]), state[1] + (day.month == 2)


class Kinds:
    def init():
        return 0, 0

    def update(state, n: int):
        if n < 0:
            return state
        if n % 2:
            return state[0] + 3, state[1]
        return state[0], state[1] + (1 if n > 10 else -2)


class Fields:
    def init():
        return {"count": 0, "greatest": -5}

    def update(state, n: int):
        if n % 3:
            state["count"] += 1
        state["greatest"] = max(n, state["greatest"])
        return state

    def finish(state) -> int:
        return state["greatest"] - state["count"]


@dataclass
class Tally:
    count: int = 0
    total: int = 7

    def add(self, number):
        self.count += 1
        self.total += number % 1000


class Instance:
    def init():
        return Tally()

    def update(state, n: int):
        if n > 0:
            state.add(n)
        return state

    def finish(state) -> int:
        return state.total - state.count


CASES: dict[type, tuple[str, ...]] = {
    Mean: ("n",),
    Balance: ("n", "m"),
    Least: ("n",),
    Greatest: ("m",),
    Latest: ("day",),
    Kinds: ("n",),
    Fields: ("n",),
    Instance: ("n",),
}


def _python(reducer: Any, rows: list[tuple[Any, ...]]) -> Any:
    """The reducer's result, row by row; nulls go to `Balance` alone, as its `m`."""
    state = reducer.init()
    for row in rows:
        if all(value is not None for value in row[: 1 if reducer is Balance else None]):
            state = reducer.update(state, *row)
    return reducer.finish(state) if hasattr(reducer, "finish") else state


@pytest.fixture(scope="module")
def table() -> list[Row]:
    """Groups 0 to 4 of numbers of many sizes, one of nulls alone, and one without rows of `m`."""
    chance = random.Random(7)

    def number() -> int | None:
        size = chance.choice((0, 3, 12, 40, 55))
        return chance.choice((None, *[chance.randint(-(1 << size), 1 << size)] * 6))

    def row(key: int, at: int) -> Row:
        day = datetime.date(1900, 1, 1) + datetime.timedelta(chance.randrange(60_000))
        n, m = (None, None) if key == 3 else (number(), number() if key != 4 else None)
        return Row(key=key, at=at, n=n, m=m, day=chance.choice((None, day, day)))

    return [row(chance.randrange(5), at) for at in range(1000)]


@pytest.fixture(scope="module")
def frame(spark: SparkSession, table: list[Row]) -> DataFrame:
    schema = "key int, at int, n bigint, m bigint, day date"
    return spark.createDataFrame(table, schema).repartition(3).cache()


@pytest.fixture(params=["true", "false"])
def ansi(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield
    spark.conf.unset("spark.sql.ansi.enabled")


def _same(wanted: Any, got: Any) -> bool:
    return repr(wanted) == repr(tuple(got) if isinstance(got, Row) else got)


@pytest.mark.usefixtures("ansi")
def test_groups_and_windows_give_what_python_gives(frame: DataFrame, table: list[Row]) -> None:
    functions = {reducer: udf(reducer, plan="native") for reducer in CASES}
    grouped = frame.groupBy("key").agg(
        f.count("*").alias("rows"),
        *[functions[reducer](*names).alias(reducer.__name__) for reducer, names in CASES.items()],
    )
    window = Window.partitionBy("key").orderBy("at").rowsBetween(-20, 0)
    running = frame.select(
        "key",
        "at",
        *[
            functions[reducer](*names).over(window).alias(reducer.__name__)
            for reducer, names in CASES.items()
        ],
    )
    for plan in (grouped, running):
        assert "Arrow" not in str(plan._jdf.queryExecution().executedPlan())
    for actual, get in ((grouped.collect(), None), (running.collect(), 21)):
        for result in actual:
            mine = [row for row in table if row.key == result.key]
            if get:
                mine = [row for row in mine if row.at <= result.at][-get:]
            for reducer, names in CASES.items():
                wanted = _python(reducer, [tuple(row[name] for name in names) for row in mine])
                assert _same(wanted, result[reducer.__name__]), (reducer, wanted, result)


@pytest.mark.usefixtures("ansi")
def test_sums_that_leave_64_bits(spark: SparkSession) -> None:
    total = udf(Mean, plan="native")
    there = spark.createDataFrame([(LARGE,)] * 4 + [(-LARGE,)] * 3, "n bigint")
    assert there.agg(total("n")).collect() == [(_python(Mean, [(LARGE,)]) / 7,)]
    with pytest.raises(PySparkException, match="Mean: an integer has more than 64 bits"):
        there.where("n > 0").agg(total("n")).collect()


def test_no_rows_and_wrong_columns(frame: DataFrame) -> None:
    functions = {reducer: udf(reducer, plan="native") for reducer in CASES}
    asked = [function(*CASES[reducer]) for reducer, function in functions.items()]
    (result,) = frame.where("key > 10").agg(*asked).collect()
    for reducer, got in zip(CASES, result, strict=True):
        assert _same(_python(reducer, []), got)
    with pytest.raises(PySparkException, match="Mean: n: expected an integer type, got string"):
        frame.agg(functions[Mean](f.lit("1"))).collect()


class Positive:
    def init():
        return 0

    def update(state, n: int):
        if n < 0:
            raise ValueError("negative")
        return state + n

    def finish(state) -> float:
        return 1 / state


def test_errors_say_the_line_that_raises(spark: SparkSession) -> None:
    positive = udf(Positive, plan="native")
    for numbers, line in (
        ([3, -1], r"raise ValueError\(\"negative\"\)"),
        ([0], "return 1 / state"),
    ):
        rows = spark.createDataFrame([(n,) for n in numbers], "n bigint")
        with pytest.raises(PySparkException, match=f"Positive: Python raises in line .*: {line}"):
            rows.agg(positive("n")).collect()


class Floats:
    def init():
        return 0.0, 1e300, -math.inf

    def update(state, x: float, y: float):
        if x > y:
            return state
        return state[0] + x * y, min(state[1], x), y if y > state[2] else state[2]

    def merge(left, right):
        return left[0] + right[0], min(left[1], right[1]), max(left[2], right[2])

    def finish(state) -> tuple[float, float, float]:
        return state


class Deepest:
    def init():
        return 0.0, 0.0

    def update(state, x: float):
        highest = max(state[0], x)
        return highest, max(state[1], highest - x)

    def merge(left, right):
        return max(left[0], right[0]), max(left[1], right[1])


class Nearest:
    def init():
        return 1e300

    def update(state, x: float):
        return min(x, state)

    def merge(left, right):
        return min(left, right)


FLOATS = [1.5, -2.25, 0.5, math.nan, 8.0, math.inf, 3.0, None, 1e300, -7.0]


@pytest.fixture
def chosen_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions for which no plan is asked for have a native one where that is possible."""
    monkeypatch.delenv("COLKERN_SPARK_PLAN", raising=False)


@pytest.mark.usefixtures("ansi", "chosen_plan")
def test_aggregate_takes_rows_in_any_order(spark: SparkSession) -> None:
    pairs = [(x, y) for x in FLOATS for y in FLOATS]
    rows = [(n % 7, *pair) for n, pair in enumerate(pairs)]
    frame = spark.createDataFrame(rows, "key int, x double, y double")
    actual = aggregate(
        frame, "key", all=(Floats, "x", "y"), deepest=(Deepest, "y"), rows=f.count("*")
    )
    for row in actual.collect():
        mine = [(x, y) for key, x, y in rows if key == row.key]
        assert len(mine) == row.rows
        total, least, most = _python(Floats, mine)
        assert math.isclose(row.all.f0, total) or (math.isnan(total) and math.isnan(row.all.f0))
        assert (row.all.f1, row.all.f2) == (least, most)
    said = explain(actual)
    assert "Floats: native" in said
    assert "Deepest: arrow" in said
    only = aggregate(frame, "key", all=(Floats, "x", "y"))
    assert "Arrow" not in str(only._jdf.queryExecution().executedPlan())


@ck.reducer
class Last:
    def init():
        return 0

    def update(state, n: int):
        return n

    def finish(state) -> int:
        return state


class Odd:
    def init():
        return 0

    def update(state, n: int):
        return state + 1 if state % 2 else state + n


class Constant:
    def init():
        return 0

    def update(state, n: int):
        return state + n

    def finish(state) -> int:
        return 3


@pytest.mark.parametrize(
    ("reducer", "reason"),
    [
        (Floats, "floats depend on the order"),
        (Nearest, "no sum, least or greatest"),
        (Last, "no sum, least or greatest"),
        (Odd, "in another way"),
        (Constant, "does not depend on the rows"),
    ],
)
def test_refusals(reducer: Any, reason: str) -> None:
    with pytest.raises(CompileError, match=reason):
        udf(reducer, plan="native")


@pytest.mark.usefixtures("chosen_plan")
def test_udf_asks_for_native_aggregates(frame: DataFrame) -> None:
    grouped = frame.agg(udf(Mean)("n"))
    assert "Mean: arrow, in a Python worker: Spark refuses its own aggregates" in explain(grouped)
