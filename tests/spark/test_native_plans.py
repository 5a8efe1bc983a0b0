"""Native plans: the corpus of row functions as Spark's own expressions, beside plain Python."""

from __future__ import annotations

import datetime
import functools
import importlib
import inspect
import itertools
import math
import random
import re
import sys
import zoneinfo
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from corpus.cases import CASES, Case
from corpus.runner import Raised, expected, same, storable
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StringType

import colkern as ck
from colkern.errors import CompileError, UnsupportedError
from colkern.spark import explain
from colkern.spark import udf as function_of_columns
from colkern.spark.native.repeating import REPEATABLE, may_be_repeated
from colkern.spark.native.translation import NULL_WITH_ARGUMENTS

udf = functools.partial(function_of_columns, plan="auto")
"""Plans that do not depend on COLKERN_SPARK_PLAN."""


def _native(case: Case) -> Any:
    """The case's function with a native plan; None if it has none.

    Those of datetimes without a zone have none: Spark's timestamps are in its zone. Nor have those that
    get integers as floats.
    """
    if any(column.type == ck.timestamp("us") for column in case.columns):
        return None
    if case.covers == "float hint for integers":
        return None
    try:
        function = udf(case.function, plan="native")
        function(*(f.lit(None) for _ in case.columns))
    except (CompileError, UnsupportedError, TypeError):
        return None
    return function


@pytest.fixture(scope="module", autouse=True)
def by_value() -> Iterator[None]:
    """Workers get this file's functions, not its imports."""
    this = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(this)
    yield
    cloudpickle.unregister_pickle_by_value(this)


@pytest.fixture(scope="module")
def natives(spark: SparkSession) -> dict[str, Any]:
    actual = {name: _native(case) for name, case in CASES.items()}
    return {name: function for name, function in actual.items() if function is not None}


def _plain(value: Any) -> Any:
    return value.asDict() if isinstance(value, Row) else value


def _frame(spark: SparkSession, case: Case, rows: list[int], name: str) -> dict[str, pa.Array]:
    return {
        f"{name}_{place}": pa.array(ck.array(column.taking(rows).values, column.type))
        for place, column in enumerate(case.columns)
    }


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_native_plans_give_what_python_gives(
    spark: SparkSession, natives: dict[str, Any], ansi: str
) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        differences = [
            text
            for start in range(0, len(natives), 10)
            for text in _differences(spark, dict(list(natives.items())[start : start + 10]))
        ]
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert len(natives) > 75
    assert not differences, "\n" + "\n".join(differences)


def _differences(spark: SparkSession, functions: dict[str, Any]) -> Iterator[str]:
    """The cases that differ from Python, computed side by side; shorter ones are filled up."""
    columns: dict[str, pa.Array] = {}
    asked: list[Column] = []
    wanted: dict[str, tuple[list[int], list[Any]]] = {}
    for number, (name, function) in enumerate(functions.items()):
        want = expected(CASES[name])
        good = [
            row
            for row, value in enumerate(want)
            if not isinstance(value, Raised) and storable(value)
        ]
        rows = (good * 200)[:200]
        columns |= _frame(spark, CASES[name], rows, f"c{number}")
        own = [f.col(f"c{number}_{place}") for place in range(len(CASES[name].columns))]
        asked.append(function(*own).alias(name.replace(".", "_")))
        wanted[name] = rows, want
    results = spark.createDataFrame(pa.table(columns)).select(*asked).collect()
    for place, (name, (rows, want)) in enumerate(wanted.items()):
        for row, result in zip(rows, results, strict=True):
            got = _plain(result[place])
            hint = CASES[name].function.__annotations__.get("return")
            if not same(
                want[row], got, eval(hint) if isinstance(hint, str) and hint == "float" else hint
            ):
                given = [column.values[row] for column in CASES[name].columns]
                yield f"{name}{tuple(given)} gives {got!r}, in Python {want[row]!r}"
                break


def test_native_plans_raise_where_python_raises(
    spark: SparkSession, natives: dict[str, Any]
) -> None:
    wrong = []
    for name, function in natives.items():
        case = CASES[name]
        raising = [row for row, value in enumerate(expected(case)) if isinstance(value, Raised)]
        if raising:
            table = pa.table(_frame(spark, case, raising[:1], "c"))
            frame = spark.createDataFrame(table)
            try:
                frame.select(function(*frame.columns)).collect()
            except PySparkException:
                continue
            wrong.append(name)
    assert not wrong


@udf
def checked(amount: float, count: int) -> float:
    if count < 0:
        raise ValueError("negative")
    return amount / count


@udf(plan="arrow")
def worker(amount: float) -> float:
    return amount + 1.0


def shouted(text: str) -> str:
    return text.upper()


ONE = "SELECT 3.0D AS amount, 2 AS count, 'x' AS text"


def test_errors_say_the_line_that_raises(spark: SparkSession) -> None:
    one = spark.sql(ONE)
    with pytest.raises(PySparkException, match=r"checked: .*: raise ValueError\(\"negative\"\)"):
        one.select(checked("amount", -f.col("count"))).collect()
    with pytest.raises(PySparkException, match=r"checked: .*: return amount / count"):
        one.select(checked("amount", f.lit(0))).collect()
    with pytest.raises(
        PySparkException, match=r"amount: expected a floating-point type, got string"
    ):
        one.select(checked("text", "count")).collect()


def share(part: float, whole: float) -> float:
    return 2 * part / whole


def test_a_function_of_floats_gets_the_integers_of_a_column(spark: SparkSession) -> None:
    # As floats, the first two would be one number.
    values = [2**53, 2**53 + 1, 3, None]
    frame = spark.createDataFrame([(value,) for value in values], "n long")
    results = frame.select(udf(share)("n", f.lit(1)), udf(share)("n", f.lit(0.5)))
    wanted = [(2.0 * v, share(v, 0.5)) if v is not None else (None, None) for v in values]
    assert [tuple(row) for row in results.collect()] == wanted
    with pytest.raises(PySparkException, match="part: expected a floating-point type, got bigint"):
        frame.select(udf(share, plan="native")("n", f.lit(0.5))).collect()
    plan = _plan(frame.select(udf(share)(f.col("n").cast("double"), f.lit(0.5))))
    assert "Python" not in plan


def test_a_native_plan_is_the_body_of_a_lambda(spark: SparkSession) -> None:
    frame = spark.createDataFrame([([1.0, None, 4.0],)], "parts array<double>")
    shares = frame.select(f.transform("parts", lambda part: udf(share)(part, f.lit(2.0))))
    assert shares.collect()[0][0] == [share(1.0, 2.0), None, share(4.0, 2.0)]
    # What is there for Spark to share, a lambda would compute.
    relatives = f.transform("parts", lambda part: udf(relative)(part, f.lit(2.0)))
    assert "coalesce" not in repr(relatives)
    wanted = [None if part is None else relative(part, 2.0) for part in (1.0, None, 4.0)]
    assert frame.select(relatives).collect()[0][0] == wanted


def test_a_column_stands_in_few_places_also_of_what_shares_parts(spark: SparkSession) -> None:
    assert repr(udf(relative)("column_x", "y")).count("column_x") < 8


def test_a_native_plan_needs_no_python_worker(spark: SparkSession) -> None:
    frame = spark.sql(ONE).select(checked("amount", count="count"), worker("amount"))
    assert frame.collect() == [Row(1.5, 4.0)]
    assert frame.columns == ["checked(amount, count)", "worker(amount)"]
    native, arrow = explain(frame).splitlines()
    assert native == "checked: native: Spark computes it, without a Python worker"
    assert native == explain(checked("amount", count="count"))
    assert re.fullmatch(
        r"worker: arrow, in a Python worker: plan='arrow'; "
        r"a batch: \d+\.\d\d ms of Python, 1 column there, 1 back",
        arrow,
    )
    assert "Python" not in _plan(spark.sql(ONE).select(checked("amount", "count")))
    assert "Python" in _plan(spark.sql(ONE).select(worker("amount")))


def test_a_native_plan_that_does_not_take_the_columns_is_explained_as_arrow(
    spark: SparkSession,
) -> None:
    own = udf(share)
    frame = spark.range(3).selectExpr("id", "id / 2D AS half")
    taken, others = frame.select(own("half", "half")), frame.select(own("id", "half"))
    for asked, is_native in ((taken, True), (others, False)):
        assert ("EvalPython" not in _plan(asked)) == is_native
        assert explain(asked).startswith(f"share: {'native' if is_native else 'arrow'}")
    again = own(f.rand(), "half")
    assert explain(again).startswith("share: arrow, in a Python worker: its native plan does not")
    assert explain(frame.select(again)).startswith("share: arrow")
    assert explain(own) == "share: native: Spark computes it, without a Python worker"


def test_a_function_with_the_name_of_one_of_spark_s_is_explained_where_it_is_asked_for(
    spark: SparkSession,
) -> None:
    def greatest(x: float) -> float:
        return x if x > 0.5 else 0.5

    own = udf(greatest)
    assert explain(f.greatest(f.lit(0.5), f.lit(1.0))) == ""
    assert explain(spark.sql(ONE).select(own("amount"))).startswith("greatest: native")


def relative(x: float, y: float | None) -> float | None:
    if y is None:
        return None
    return round(100 * (x - y) / (abs(y) + 1), 2)


def clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def test_java_compiles_the_code_of_many_functions_beside_each_other(spark: SparkSession) -> None:
    pairs = [(0.5 * number, None if number % 7 == 0 else 40.0 - number) for number in range(90)]
    frame = spark.createDataFrame(pairs, "x double, y double")
    asked = [udf(relative)(f.col("x") + place, "y") for place in range(8)]
    asked += [udf(clock)((f.col("x") * place).cast("bigint")) for place in range(8)]
    # A function of what another one gives.
    asked.append(udf(relative)(udf(relative)("x", "y"), "x"))
    results = frame.select("x", "y", *(each.alias(f"c{i}") for i, each in enumerate(asked)))
    code = str(spark._jvm.PythonSQLUtils.explainString(results._jdf.queryExecution(), "codegen"))
    # Of methods of more bytes there is no compiled code.
    assert max(map(int, re.findall(r"maxMethodCodeSize:(\d+)", code))) < 8000
    for x, y, *given in results.collect():
        inner = relative(x, y)
        assert given == [
            *(relative(x + place, y) for place in range(8)),
            *(clock(int(x * place)) for place in range(8)),
            None if inner is None else relative(inner, x),
        ]


@udf
def twice(x: float) -> float:
    return x if x > 0.5 else x - x + 2.0


def test_an_expression_that_is_too_large_is_so_for_its_columns_alone(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(3.0,)], "x double")
    long = f.greatest(*(f.col("x") - place for place in range(3000)))
    both = frame.select(twice(long).alias("z"), twice("x").alias("plain"))
    assert explain(twice) == "twice: native: Spark computes it, without a Python worker"
    assert "EvalPython" in _plan(both)
    assert "EvalPython" not in _plan(frame.select(twice("x")))
    assert both.first() == Row(3.0, 3.0)


def rounded_once(x: float) -> float:
    return round(x, 1)


def rounded_more(x: float) -> float:
    return round(x, 8)


def test_the_nearest_of_two_decimals_is_told_by_what_a_product_leaves_out(
    spark: SparkSession,
) -> None:
    halves = [(number + 0.5) / power for number in range(40) for power in (10.0, 1e8)]
    halves += [2.0**52 / 10 + 0.25, 2.0**52 / 1e8 + 2.0**-28, 1e15 + 0.375, 2.0**53, 1e300]
    near = [math.nextafter(half, end) for half in halves for end in (-math.inf, math.inf)]
    values = [*halves, *near, 0.0, 2.675, 5e-324, math.inf]
    values += [-value for value in values]
    frame = spark.createDataFrame([(value,) for value in values], "x double")
    results = frame.select(udf(rounded_once)("x"), udf(rounded_more)("x")).collect()
    assert [tuple(map(repr, row)) for row in results] == [
        (repr(rounded_once(value)), repr(rounded_more(value))) for value in values
    ]


def _plan(frame: DataFrame) -> str:
    return frame._jdf.queryExecution().executedPlan().toString()


def test_functions_of_workers_share_one_transport_after_native_filters(
    spark: SparkSession,
) -> None:
    frame = spark.range(4).selectExpr("id * 1.0D AS amount", "1 AS count")
    more = {"more": worker("amount"), "most": worker(f.col("amount") * 2)}
    kept = frame.withColumns(more).where(checked("amount", "count") > 1)
    steps = _plan(kept)
    assert steps.count("ArrowEvalPython") == 1
    # The last step comes first.
    assert steps.index("ArrowEvalPython") < steps.index("Filter")
    assert kept.select("more", "most").collect() == [Row(3.0, 5.0), Row(4.0, 7.0)]


def test_none_is_looked_for_in_containers_as_any_value(spark: SparkSession) -> None:
    @udf(plan="native")
    def is_few(n: int | None) -> bool:
        return n in (2, 1)

    @udf(plan="native")
    def is_known(n: int | None) -> bool:
        return n in (None, 1)

    frame = spark.createDataFrame([(1,), (None,), (3,)], "n long")
    rows = frame.select(is_few("n"), is_known("n")).collect()
    assert [tuple(row) for row in rows] == [(True, True), (False, True), (False, False)]


def test_a_moment_as_a_number_has_a_native_plan(spark: SparkSession) -> None:
    @udf(plan="native")
    def seconds(moment: datetime.datetime) -> float:
        return moment.timestamp()

    moments = [UNIX, datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)]
    frame = spark.createDataFrame([(moment.isoformat(),) for moment in moments], "moment string")
    rows = frame.select(seconds(f.col("moment").cast("timestamp"))).collect()
    assert [row[0] for row in rows] == [moment.timestamp() for moment in moments]


@udf
def is_same(left: str, right: str) -> bool:
    return left == right


def test_text_is_compared_as_in_python_whatever_its_collation(spark: SparkSession) -> None:
    left, right = (f.collate(f.lit(text), "UTF8_LCASE") for text in ("A", "a"))
    assert spark.range(1).select(left == right, is_same(left, right)).first() == Row(True, False)


def test_columns_that_differ_each_time_are_computed_once(spark: SparkSession) -> None:
    spark.udf.register(
        "rand_of_python", f.udf(lambda: random.random(), "double").asNondeterministic()
    )

    def greatest(x: float) -> float:
        return random.random()

    asked = [
        f.rand(1),
        *map(f.expr, ("RAND(1)", "RAND_of_Python()", "-(-Rand(1))", "rand /* */ (1)", "`rand`(1)")),
        f.udf(greatest, "double").asNondeterministic()("id"),
        function_of_columns(ck.udf(greatest, pure=False, fallback=True))(f.lit(1.0)),
    ]
    for column in asked:
        rows = spark.range(2000).select(twice(column).alias("x")).collect()
        assert all(0.5 < row.x < 1 or row.x == 2 for row in rows), column
    assert "Python" not in _plan(spark.range(1).select(twice(f.abs(f.col("id")).cast("double"))))


@pytest.mark.parametrize("module", ["pyspark.sql.functions", "pyspark.sql.connect.functions"])
def test_columns_that_are_the_same_in_each_place(spark: SparkSession, module: str) -> None:
    is_connect = "connect" in module
    if is_connect:
        pytest.importorskip("grpc")
    m = importlib.import_module(module)
    a = m.col("a")

    def upper(text: str) -> str:
        return text

    of_python = importlib.import_module(
        "pyspark.sql.connect.udf" if is_connect else "pyspark.sql.udf"
    )
    plain, other = (of_python.UserDefinedFunction(upper, StringType()) for _ in range(2))
    random = other.asNondeterministic()(a)
    same = [
        *(a, a[0], a["b"], m.upper(a), -a % 2 + 1, ~a.isNull(), a.isin(1, 2), m.create_map(a, a)),
        *(
            m.when(a > 1, a).otherwise(m.sqrt(a)),
            a.cast("int").alias("rand()"),
            m.lit("'rand"),
            plain(a),
        ),
        *(m.transform(a, m.sqrt), m.expr("a + 1")),
    ]
    each = [
        *(m.rand(), -m.rand(), m.when(a > m.rand(), a), m.transform(a, lambda x: x + m.rand())),
        *(random, m.upper(random), plain(random), m.call_function("my", a), m.aes_encrypt(a, a)),
        *map(
            m.expr,
            ("rand()", "a + `rand` (1)", "rand /**/ (1)", "my(a)", "transform(a, x -> rand())"),
        ),
        *map(m.expr, ("(select max(rand()))", "a in (select rand())")),
        m.expr(f"struct({'a, ' * 30} rand())"),
    ]
    assert [column for column in same if not may_be_repeated(column, repr(column))] == []
    assert [column for column in each if may_be_repeated(column, repr(column))] == []


def test_names_of_functions_that_are_the_same_in_each_place_are_spark_s(
    spark: SparkSession,
) -> None:
    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry
    names = registry.functionSet().mkString("\n").replace("system.builtin.", "")
    assert {*names.splitlines()} >= REPEATABLE


def signed(x: float) -> float:
    return 0.0 if x > 1 else math.copysign(0.0, -1.0)


def test_zeros_keep_their_signs(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1.0,), (2.0,)], "x double").persist()
    assert [str(row[0]) for row in frame.select(udf(signed)("x")).collect()] == ["-0.0", "0.0"]


def whole(x: float) -> int:
    return int(x)


def test_the_least_integer_of_a_float(spark: SparkSession) -> None:
    least = f.lit(-(2.0**63))
    assert spark.range(1).select(udf(whole, plan="native")(least)).first() == Row(-(2**63))
    with pytest.raises(PySparkException, match="an integer has more than 64 bits"):
        spark.range(1).select(udf(whole, plan="native")(-least)).collect()


def year_of_day(when: datetime.date) -> int:
    return when.year


def year_of_time(when: ck.timestamp("us")) -> int:  # type: ignore[valid-type]
    return when.year


def year_of_moment(when: datetime.datetime) -> int:
    return when.year


@pytest.mark.parametrize(
    ("function", "type_"),
    [(year_of_day, "date"), (year_of_time, "timestamp_ntz"), (year_of_moment, "timestamp")],
)
def test_days_in_none_of_pythons_years(
    spark: SparkSession, function: Callable[..., int], type_: str
) -> None:
    asked = udf(function, plan="native")
    first, last = "date'0001-01-01'", "date'9999-12-31'"
    for day, year in ((first, 1), (last, 9999)):
        assert spark.range(1).select(asked(f.expr(f"{day}").cast(type_))).first() == Row(year)
    for day in (f"{first} - interval 1 day", f"{last} + interval 1 day"):
        with pytest.raises(PySparkException, match="when: a day in none of the years from 1 to"):
            spark.range(1).select(asked(f.expr(day).cast(type_))).collect()


def priced(code: str) -> tuple[int, bool]:
    price = {"a": 2**62, "b": 3, "": -1}.get(code)
    return (0, False) if price is None else (price // 2 + price, price > 2)


def test_the_days_between_two_dates_are_read_without_a_duration(spark: SparkSession) -> None:
    def days(first: datetime.date, second: datetime.date) -> int:
        return (second - first).days

    days_alone = [datetime.date(1, 1, 1), datetime.date(1969, 12, 31), datetime.date(9999, 12, 31)]
    rows = list(itertools.product(days_alone, repeat=2))
    column = udf(days, plan="native")("first", "second")
    assert "86400000000" not in repr(column)
    frame = spark.createDataFrame(rows, "first date, second date").select(column)
    assert [value for (value,) in frame.collect()] == [days(*row) for row in rows]


def test_look_ups_that_may_be_none(spark: SparkSession) -> None:
    codes = ["a", "b", "", "c", "A"]
    rows = spark.createDataFrame([(code,) for code in codes], "code string")
    results = rows.select(udf(priced, plan="native")("code")).collect()
    assert [tuple(row[0]) for row in results] == [priced(code) for code in codes]


def hour_of(when: datetime.datetime) -> int:
    return when.weekday() * 24 + when.hour


def next_hour(when: datetime.datetime) -> datetime.datetime:
    return when.replace(minute=0, second=0, microsecond=0) + datetime.timedelta(hours=1)


def shown(when: datetime.datetime | None) -> str:
    return when.isoformat() if when is not None else "never"


def seconds_since(when: datetime.datetime, then: datetime.datetime) -> float:
    return (when - then).total_seconds() if when > then else 0.0


UNIX = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
MICROSECONDS = [0, -1, 1_541_293_200_000_000, 1_234_567_890_123_456, -62_135_596_800_000_000]


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo"])
def test_timestamps_are_datetimes_of_the_session_s_zone(spark: SparkSession, zone: str) -> None:
    """Native in UTC alone; datetimes without a zone are theirs in each."""
    rows = MICROSECONDS if zone == "UTC" else MICROSECONDS[:-1]
    kept = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        frame = spark.createDataFrame([(n,) for n in rows], "n bigint")
        when, then = f.timestamp_micros("n"), f.timestamp_micros(f.lit(MICROSECONDS[3]))
        asked = frame.select(
            udf(hour_of)(when),
            f.unix_micros(udf(next_hour)(when)),
            udf(shown)(when),
            udf(seconds_since)(when, then),
            udf(shown)(f.lit(None)),
            udf(hour_of)(f.lit("2020-01-01 05:06:07").cast("timestamp_ntz")),
        )
        # The last of them has datetimes without a zone, whose hours are not those of a native plan.
        assert "EvalPython" in _plan(asked)
        assert ("EvalPython" in _plan(asked.drop(asked.columns[-1]))) == (zone != "UTC")
        results = [tuple(row) for row in asked.collect()]
    finally:
        spark.conf.set("spark.sql.session.timeZone", kept or "UTC")
    then_there = (UNIX + MICROSECONDS[3] * MICROSECOND).astimezone(zoneinfo.ZoneInfo(zone))
    expected = []
    for number in rows:
        there = (UNIX + number * MICROSECOND).astimezone(zoneinfo.ZoneInfo(zone))
        moved = (next_hour(there) - UNIX) // MICROSECOND
        since = seconds_since(there, then_there)
        expected.append((hour_of(there), moved, shown(there), since, "never", 2 * 24 + 5))
    assert results == expected


def averaged(x: int, y: int) -> tuple[int, int]:
    return (x + y) // 2, (x * y) % 1000


def digit(x: int, y: int) -> int:
    return (x * 7 - y) // 10 % 10 + (x - 1) // 3


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_quotients_of_integers_that_leave_64_bits_on_the_way(
    spark: SparkSession, ansi: str
) -> None:
    ends = [0, 1, -1, 7, -(2**63), 2**63 - 1, 3**37, -(3**38) // 2, 10**18]
    pairs = [(x, y) for x in ends for y in ends]
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        asked = [udf(function, plan="native")("x", "y") for function in (averaged, digit)]
        results = spark.createDataFrame(pairs, "x bigint, y bigint").select(*asked).collect()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert [(tuple(of), number) for of, number in results] == [
        (averaged(x, y), digit(x, y)) for x, y in pairs
    ]


def test_native_says_what_has_no_expression() -> None:
    with pytest.raises(
        CompileError, match=r"shouted has no native plan: str.upper\(str\)"
    ) as caught:
        udf(shouted, plan="native")
    assert f"line {shouted.__code__.co_firstlineno + 1}" in str(caught.value)
    assert (
        f"str.upper(str) has no native form: Java has another version of Unicode "
        f"(line {shouted.__code__.co_firstlineno + 1} of {__file__})" in explain(udf(shouted))
    )
    with pytest.raises(ValueError, match="plan: expected 'auto', 'native' or 'arrow', got 'fast'"):
        udf(shouted, plan="fast")


def test_splits_are_native_where_that_is_asked_for() -> None:
    def words(text: str) -> str:
        return "-".join(text.split(","))

    def first(text: str) -> str:
        return text.split(",")[0]

    def ends(text: str) -> str:
        parts = text.split(",")
        return parts[0] + parts[-1]

    def three(text: str) -> str:
        parts = text.split(",")
        return parts[0] + parts[1] + parts[2]

    assert "str.split takes Spark longer" in explain(udf(words))
    assert "words: native" in explain(udf(words, plan="native"))
    # One part of a text needs no list of them, nor do both ends.
    assert "first: native" in explain(udf(first))
    assert "ends: native" in explain(udf(ends))
    assert "str.split takes Spark longer" in explain(udf(three))


def test_functions_with_native_plans_are_registered_for_sql(spark: SparkSession) -> None:
    spark.udf.register("checked", checked)
    assert spark.sql(f"SELECT checked(amount, count) FROM ({ONE})").first() == Row(1.5)


_SAMPLES = {
    "boolean": "! not",
    "bigint": "~",
    "double": "negative abs sqrt rint signum floor ceil",
    "string": "char_length octet_length reverse trim ltrim rtrim btrim",
    "double double": "+ - * / % pmod try_add try_subtract try_multiply try_divide try_mod = == < <= > >=",
    "bigint bigint": "div & | ^",
    "bigint int": "shiftleft shiftright",
    "string string": "startswith endswith contains instr concat rlike trim ltrim rtrim btrim",
    "string int": "repeat",
    "string int int": "substring",
    "string int string": "lpad rpad",
    "string string string": "replace",
    "date": "year month dayofmonth unix_date",
    "int ": "date_from_unix_date",
    "date int": "date_add",
    "date date": "datediff",
}
"""By the types of their arguments: functions of Spark's that are null where one of these is."""


def test_functions_without_a_test_for_null_are_null_with_any_argument(spark: SparkSession) -> None:
    values = {
        "boolean": f.lit(True),
        "bigint": f.lit(3).cast("bigint"),
        "int": f.lit(2),
        "double": f.lit(1.5),
        "string": f.lit("ab"),
        "date": f.lit("2024-02-29").cast("date"),
    }
    columns = [f.lit(None).cast("int").cast("double"), f.lit(None).try_cast("int")]
    named = {"CAST", "TRY_CAST"}
    for types, names in _SAMPLES.items():
        arguments = [values[type_] for type_ in types.split()]
        for name in names.split():
            named.add(name)
            for place, type_ in enumerate(types.split()):
                given = [*arguments[:place], f.lit(None).cast(type_), *arguments[place + 1 :]]
                columns.append(
                    f.call_function(f"`{name}`", *given).alias(f"{name} {types} {place}")
                )
            assert (
                spark.range(1).select(f.call_function(f"`{name}`", *arguments)).head()[0]
                is not None
            )
    row = spark.range(1).select(*columns).head()
    assert row is not None
    assert [column for column, value in row.asDict().items() if value is not None] == []
    assert named == set(NULL_WITH_ARGUMENTS.split())


def test_an_expression_that_is_null_with_its_columns_has_no_test_for_null(
    spark: SparkSession,
) -> None:
    def gross(price: float) -> float:
        return price * 1.19

    def either(price: float, other: float) -> bool:
        return price > 1.0 or other > 1.0

    def share(price: float) -> float:
        return 10.0 / price

    def ratio(price: float, other: float) -> float:
        return price / other

    def capped(price: float) -> float:
        return 9.0 if price > 9.0 else price / 2.0

    def level(price: float) -> int:
        return 2 if price > 1.0 else 1

    def is_known(price: float) -> float:
        return 0.0 if math.isnan(price) else price

    tested: dict[Callable[..., Any], bool] = {
        gross: False,
        either: True,
        share: False,
        ratio: True,
        capped: True,
        level: True,
        is_known: True,
    }
    rows = [(1.0, 2.0), (None, 2.0), (None, 0.0), (2.0, None), (10.0, math.nan)]
    frame = spark.createDataFrame(rows, "price double, other double")
    for function, is_tested in tested.items():
        names = list(inspect.signature(function).parameters)
        column = udf(function, plan="native")(*names)
        assert ("isNull" in repr(column)) is is_tested, function
        given = [row[: len(names)] for row in rows]
        wanted = [None if None in each else function(*each) for each in given]
        assert repr([row[0] for row in frame.select(column).collect()]) == repr(wanted), function


def test_a_quotient_whose_divisor_is_tested_before_raises_nothing(spark: SparkSession) -> None:
    def by_truth(a: float, b: float) -> float:
        return a / b if b else 0.0

    def by_count(a: int, b: int) -> float:
        return 0.0 if b == 0 else a / b

    def after_return(a: float, b: float) -> float:
        if b <= 0:
            return -1.0
        return a // b

    def behind_none(a: float | None, b: float | None) -> float | None:
        if a is None or b is None or b == 0.0:
            return None
        return a % b

    def of_sum(a: float, b: float) -> float:
        return 1.0 if a + b < 1 else a / (a + b)

    def at_zero(a: float, b: float) -> float:
        return a / b if b >= 0 else 0.0

    def of_other(a: float, b: float) -> float:
        return a / b if a else 0.0

    def too_late(a: float, b: float) -> float:
        quotient = a / b
        return quotient if b else 0.0

    raising: dict[Callable[..., Any], bool] = {
        by_truth: False,
        by_count: False,
        after_return: False,
        behind_none: False,
        of_sum: False,
        at_zero: True,
        of_other: True,
        too_late: True,
    }
    rows = [(a, b) for a in (-3, 0, 2) for b in (-2, 0, 1)]
    for function, raises in raising.items():
        type_ = "bigint" if "int" in str(function.__annotations__["a"]) else "double"
        columns = [f.col(name).cast(type_) for name in "ab"]
        native = udf(function, plan="native")
        assert ("Python raises" in repr(native(*columns))) is raises, function
        kind = int if type_ == "bigint" else float
        good = [row for row in rows if row[1] or not raises]
        results = spark.createDataFrame(good, "a bigint, b bigint").select(native(*columns))
        wanted = [function(*map(kind, row)) for row in good]
        assert repr([row[0] for row in results.collect()]) == repr(wanted), function
        if raises:
            with pytest.raises(PySparkException, match="Python raises in line"):
                spark.createDataFrame([(1, 0)], "a bigint, b bigint").select(
                    native(*columns)
                ).collect()


def halved(a: float, b: float) -> float:
    _half = a / 2.0
    return b


def summed(a: int, b: int) -> int:
    _total = a + b
    return b


def parted(a: float, b: float) -> float:
    _rest = a % 2.0
    _quotient, _left = divmod(a, 3.0)
    return b


def compared(a: int, b: int) -> int:
    if a // 3 == a // 3:
        pass
    return b % 7


def unmarked(text: str, other: str) -> str:
    marked = text.replace("a", "b")
    _known = len(marked) >= 0
    return other


def named(a: str, b: str) -> str:
    return b.replace("a", "col a")


def both(a: float, b: float) -> float:
    return a * 2.0 + b


def test_tests_stand_once_in_values_of_and_and_or(spark: SparkSession) -> None:
    def is_wanted(count: int, other: int) -> bool:
        return count % 2 == 0 and (other > 10 or count < 5)

    rows = [(count, other) for count in (-2, 3, 4, 6) for other in (10, 11)]
    columns = udf(is_wanted, plan="native")("count", "other"), udf(is_wanted)("count", "other")
    assert [repr(column).count("pmod") for column in columns] == [1, 1]
    frame = spark.createDataFrame([*rows, (None, 11)], "count bigint, other bigint")
    wanted = [*(is_wanted(*row) for row in rows), None]
    assert [tuple(row) for row in frame.select(*columns).collect()] == [(x, x) for x in wanted]


def test_a_null_gives_null_also_where_the_result_does_not_need_it(spark: SparkSession) -> None:
    cases: dict[Callable[..., Any], list[tuple[Any, Any]]] = {
        halved: [(1.0, 2.0), (None, 2.0), (1.0, None), (None, None)],
        parted: [(1.0, 2.0), (None, 2.0), (1.0, None), (None, None)],
        both: [(1.0, 2.0), (None, 2.0), (1.0, None), (None, None)],
        summed: [(1, 9), (None, 9), (1, None), (None, None)],
        compared: [(1, 9), (None, 9), (1, None), (None, None)],
        unmarked: [("a", "b"), (None, "b"), ("a", None), (None, None)],
        named: [("a", "ba"), (None, "ba"), ("a", None), (None, None)],
    }
    for function, rows in cases.items():
        type_ = {float: "double", int: "bigint", str: "string"}[type(rows[0][0])]
        native = udf(function, plan="native")
        frame = spark.createDataFrame(rows, f"a {type_}, b {type_}")
        # A column may be an expression that is not null where its own columns are.
        swapped = native(f.coalesce("b", "a"), "a")
        assert [tuple(row) for row in frame.select(native("a", "b"), swapped).collect()] == [
            (
                None if None in (a, b) else function(a, b),
                None if a is None else function(a if b is None else b, a),
            )
            for a, b in rows
        ], function
        assert ("isNull" in repr(native("a", "b"))) == (function is not both)
