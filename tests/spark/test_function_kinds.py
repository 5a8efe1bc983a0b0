"""Every kind of function in Spark's own queries, against Spark's SQL and plain Python."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as f

import colkern as ck
import colkern.spark
from colkern.spark.types import VARIANT

pytestmark = pytest.mark.spark

ROWS = 450


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """`n`: 0 to ROWS - 1; `shop`: one of seven, null where `n` is a multiple of 50; `price`; `text`."""
    frame = spark.range(ROWS).selectExpr(
        "id AS n",
        "if(id % 50 = 0, null, concat('shop ', id % 7)) AS shop",
        "if(id % 11 = 0, null, id / 4) AS price",
        "array_join(transform(sequence(1, id % 4), x -> concat('w', x)), ' ') AS text",
    )
    return frame.withColumn("text", f.expr("if(n % 4 = 0, '', text)")).cache()


def plain_rows() -> list[dict[str, Any]]:
    return [
        {
            "n": n,
            "shop": None if n % 50 == 0 else f"shop {n % 7}",
            "price": None if n % 11 == 0 else n / 4,
            "text": " ".join(f"w{k}" for k in range(1, n % 4 + 1)),
        }
        for n in range(ROWS)
    ]


def by_shop() -> dict[str | None, list[dict[str, Any]]]:
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for row in plain_rows():
        groups.setdefault(row["shop"], []).append(row)
    return groups


# Functions of a row


def test_nested_and_wide_types_go_in_and_out(spark: SparkSession) -> None:
    @colkern.spark.udf
    def total(
        values: list[float],
    ) -> Annotated[Any, ck.struct({"n": ck.int32(), "s": ck.float64()})]:
        s = 0.0
        for value in values:
            if value is not None:
                s += value
        return len(values), s

    @colkern.spark.udf
    def flipped(counts: dict[str, int]) -> dict[int, str]:
        actual = []
        for key, value in counts.items():
            if value is not None:
                actual.append((value, key))
        return actual

    @colkern.spark.udf
    def doubled(amount: ck.decimal128(38, 2)) -> ck.decimal128(38, 2):
        return amount + amount

    @colkern.spark.udf(returns=ck.utf8())
    def name(row):
        return row["name"] if row is not None else None

    @colkern.spark.udf(returns=VARIANT)
    def same_variant(value: VARIANT):
        return value

    @colkern.spark.udf(nulls="pass")
    def is_missing(value: float | None) -> bool:
        return value is None

    frame = spark.sql(
        "SELECT array(1.5D, null, 2D) v, map('a', 1L, 'b', 2L) m, null x,"
        " CAST('123456789012345678901234567890.25' AS DECIMAL(38, 2)) d,"
        " named_struct('name', 'ü', 'size', 1) s, parse_json('{\"k\": [1]}') j"
    )
    actual = frame.select(
        total("v"),
        doubled("d"),
        name("s"),
        same_variant("j").cast("string"),
        is_missing("x"),
        flipped("m"),
    )
    assert tuple(actual.first() or ()) == (
        (3, 3.5),
        # Python's sum has 28 digits.
        decimal.Decimal("246913578024691357802469135800.00"),
        "ü",
        '{"k":[1]}',
        True,
        {1: "a", 2: "b"},
    )


def test_named_arguments_in_python_and_in_sql(spark: SparkSession, rows: DataFrame) -> None:
    @colkern.spark.udf
    def over(price: float, n: int) -> float:
        return price / n

    spark.udf.register("over", over)
    rows.createOrReplaceTempView("priced")
    mixed = rows.where("n > 0").select(
        over(n=f.col("n"), price=f.col("price")).alias("a"),
        over("price", n=f.col("n")).alias("b"),
        f.expr("over(n => n, price => price)").alias("c"),
        f.expr("price / n").alias("d"),
    )
    assert mixed.where("a <=> d AND b <=> d AND c <=> d").count() == ROWS - 1


# Aggregates


class Mean:
    def init():
        return 0.0, 0

    def update(state, price: float):
        return state[0] + price, state[1] + 1

    def merge(left, right):
        return left[0] + right[0], left[1] + right[1]

    def finish(state) -> float | None:
        return state[0] / state[1] if state[1] else None


class Weighted:
    def init():
        return 0.0

    def update(state, price: float, n: int):
        return state + price * n


@pytest.fixture(scope="module")
def mean() -> Any:
    return colkern.spark.udf(Mean)


def test_aggregates_of_groups(spark: SparkSession, rows: DataFrame, mean: Any) -> None:
    weighted = colkern.spark.udf(Weighted)
    spark.udf.register("mean_of", mean)
    rows.createOrReplaceTempView("priced")
    actual = spark.sql("SELECT shop, mean_of(price) AS mean FROM priced GROUP BY shop")
    several = rows.groupBy("shop").agg(
        mean("price").alias("mean"), weighted(n=f.col("n"), price=f.col("price")).alias("sum")
    )
    expected = {}
    for shop, group in by_shop().items():
        priced = [row for row in group if row["price"] is not None]
        total = sum(row["price"] for row in priced)
        expected[shop] = total / len(priced), sum(row["price"] * row["n"] for row in priced)
    assert {row.shop: (row.mean, row["sum"]) for row in several.collect()} == expected
    assert {row.shop: row.mean for row in actual.collect()} == {
        k: v[0] for k, v in expected.items()
    }


def test_aggregates_over_windows(rows: DataFrame, mean: Any) -> None:
    whole = Window.partitionBy("shop")
    sliding = whole.orderBy("n").rowsBetween(-2, 1)
    actual = rows.where("n < 60").select(
        mean("price").over(whole).alias("a"),
        f.avg("price").over(whole).alias("b"),
        mean("price").over(sliding).alias("c"),
        f.avg("price").over(sliding).alias("d"),
    )
    for a, b, c, d in actual.collect():
        assert a == (None if b is None else pytest.approx(b))
        assert c == (None if d is None else pytest.approx(d))


# One row in, many out


def words(text: str) -> tuple[str, int]:
    start = 0
    for i in range(len(text) + 1):
        if i == len(text) or text[i] == " ":
            if start < i:
                yield text[start:i], start
            start = i + 1


def test_generators_as_arrays_and_as_table_functions(spark: SparkSession, rows: DataFrame) -> None:
    generator = ck.generator(words)
    spark.udf.register("words", colkern.spark.udf(generator))
    spark.udtf.register("words_of", colkern.spark.udtf(generator))
    spark.udtf.register("words_in", colkern.spark.udtf(generator, lateral=True))
    rows.where("n < 20").createOrReplaceTempView("lines")
    expected = sorted(
        (word, 3 * place)
        for row in plain_rows()[:20]
        for place, word in enumerate(row["text"].split())
    )
    queries = {
        "explode": "SELECT w.f0, w.f1 FROM lines LATERAL VIEW explode(words(text)) t AS w",
        "table": "SELECT f0, f1 FROM words_of(TABLE(SELECT text FROM lines))",
        "lateral": "SELECT f0, f1 FROM lines, LATERAL words_in(text => text)",
    }
    for name, query in queries.items():
        assert sorted(tuple(row) for row in spark.sql(query).collect()) == expected, name


# Iterators


def test_iterators_are_set_up_once_a_partition(spark: SparkSession, rows: DataFrame) -> None:
    @ck.udf
    def scaled(price: float, n: int) -> float:
        return price * n

    @colkern.spark.iterator_udf(returns=ck.struct({"value": ck.float64(), "batch": ck.int32()}))
    def scored(batches: Iterator[tuple[ck.Array, ck.Array]]) -> Iterator[Any]:
        for count, (price, n) in enumerate(batches):
            value = scaled(price, n)
            batch = pa.repeat(pa.scalar(count, pa.int32()), len(n))
            yield ck.make_struct([value, ck.array(batch)], ["value", "batch"])

    @colkern.spark.iterator_udf(returns=ck.int64())
    def lengths(batches: Iterator[ck.Array]) -> Iterator[list[int]]:
        for texts in batches:
            yield [len(text) for text in texts.to_pylist()]

    spark.udf.register("scored", scored)
    actual = rows.coalesce(1).select(
        "n", f.expr("scored(price, n)").alias("s"), f.expr("price * n").alias("wanted")
    )
    collected = actual.collect()
    assert all(row.s.value == row.wanted for row in collected)
    assert {row.s.batch for row in collected} == set(range(5))
    other = rows.select(lengths("text").alias("a"), f.length("text").alias("b"))
    assert other.where("a <> b").count() == 0


# Batches and groups


def test_batches_of_a_partition(spark: SparkSession, rows: DataFrame) -> None:
    def totals(batches: Iterator[ck.RecordBatch]) -> Iterator[Any]:
        for batch in batches:
            yield batch.select(["n", "shop"])
            yield {"shop": ["rows"], "n": [batch.num_rows]}

    actual = colkern.spark.map_batches(rows, totals, "shop string, n long")
    result = [tuple(row) for row in actual.collect()]
    assert sum(n for shop, n in result if shop == "rows") == ROWS
    assert sorted(n for shop, n in result if shop != "rows") == list(range(ROWS))
    counted = colkern.spark.map_batches(rows.select(), sizes, {"n": ck.int32()})
    assert counted.agg(f.sum("n")).first() == (ROWS,)
    none = colkern.spark.map_batches(rows.where("n < 0"), totals, actual.schema)
    assert none.collect() == []


def sizes(batches: Iterator[ck.RecordBatch]) -> Iterator[dict[str, list[int]]]:
    for batch in batches:
        yield {"n": [batch.num_rows]}


def test_groups_one_at_a_time(rows: DataFrame) -> None:
    def summed(key: tuple[str | None], group: ck.RecordBatch) -> dict[str, list[Any]]:
        prices = [price for price in group["price"].to_pylist() if price is not None]
        return {"total": [sum(prices)], "shop": [key[0]], "rows": [group.num_rows]}

    def counted(batches: Iterator[ck.RecordBatch]) -> Iterator[dict[str, Any]]:
        for batch in batches:
            yield {"shop": batch["shop"][:1], "rows": [batch.num_rows], "total": [0.0]}

    schema = ck.Schema(
        [ck.field("shop", ck.utf8()), ck.field("rows", ck.int32()), ck.field("total", ck.float64())]
    )
    expected = {
        (shop, len(group), sum(row["price"] or 0.0 for row in group))
        for shop, group in by_shop().items()
    }
    grouped = rows.groupBy("shop")
    whole = colkern.spark.apply_in_groups(grouped, summed, schema)
    parts = colkern.spark.apply_in_groups(grouped, counted, schema, iterator=True)
    both = whole.select("*", f.lit(1).alias("form")).union(parts.select("*", f.lit(2)))
    actual = both.groupBy("shop", "form").agg(f.sum("rows").cast("int"), f.sum("total")).collect()
    assert {(shop, n, total) for shop, form, n, total in actual if form == 1} == expected
    assert {(shop, n) for shop, form, n, _ in actual if form == 2} == {row[:2] for row in expected}


def test_groups_of_two_frames(rows: DataFrame) -> None:
    def sides(key: tuple[Any], left: ck.RecordBatch, right: ck.RecordBatch) -> dict[str, list[Any]]:
        return {"key": [key[0]], "left": [left.num_rows], "right": [right.num_rows]}

    left = rows.where("n < 10").groupBy(f.expr("n % 3").alias("k"))
    right = rows.where("n < 8").groupBy(f.expr("n % 4").alias("k"))
    actual = colkern.spark.cogroup_apply(left, right, sides, "key long, left int, right int")
    expected = [(0, 4, 2), (1, 3, 2), (2, 3, 2), (3, 0, 2)]
    assert sorted(tuple(row) for row in actual.collect()) == expected


def test_compiled_groups(spark: SparkSession, rows: DataFrame) -> None:
    def summary(
        price: list[float | None], n: list[int]
    ) -> Annotated[Any, ck.struct({"rows": ck.int64(), "last": ck.int64(), "total": ck.float64()})]:
        return len(n), max(n), sum(value for value in price if value is not None)

    actual = colkern.spark.map_groups(rows.repartition(5), "shop", summary)
    assert {tuple(row) for row in actual.collect()} == {
        (
            shop,
            len(group),
            max(row["n"] for row in group),
            sum(row["price"] or 0.0 for row in group),
        )
        for shop, group in by_shop().items()
    }


def test_compiled_groups_by_several_keys_and_with_generators(rows: DataFrame) -> None:
    def high(value: list[float]) -> float:
        for item in value:
            if item is not None and item > 100:
                yield item

    keys = [f.expr("n % 2").alias("odd"), f.expr("if(n % 3 = 0, -0.0D, 0.0D)").alias("zero")]
    actual = colkern.spark.map_groups(rows, keys, high, columns=["price"])
    assert actual.columns == ["odd", "zero", "high"]
    expected = sorted(
        (row["n"] % 2, row["price"])
        for row in plain_rows()
        if row["price"] is not None and row["price"] > 100
    )
    assert sorted((odd, price) for odd, _, price in actual.collect()) == expected
    counts = colkern.spark.map_groups(rows, keys, Rows, columns=["n"]).collect()
    assert sorted(tuple(row) for row in counts) == [(0, 0.0, ROWS // 2), (1, 0.0, ROWS // 2)]


class Rows:
    def init():
        return 0

    def update(state, n: int):
        return state + 1

    def merge(left, right):
        return left + right


class Ends:
    def init():
        return 1e300, -1e300

    def update(state, low: float, high: int):
        return min(state[0], low), max(state[1], high)

    def merge(left, right):
        return min(left[0], right[0]), max(left[1], right[1])

    def finish(state) -> tuple[float, float]:
        return state


def test_reducers_beside_each_other_and_beside_aggregates_of_spark(rows: DataFrame) -> None:
    both = {"count": (Rows, "n"), "ends": (Ends, "price", f.col("n") + 1)}
    own = {"rows": f.count("*"), "shops": f.count_distinct("n")}
    mixed = colkern.spark.aggregate(
        rows.repartition(5), "shop", rows=own["rows"], **both, shops=own["shops"]
    )
    assert mixed.columns == ["shop", "rows", "count", "ends", "shops"]
    expected = {}
    for shop, group in by_shop().items():
        priced = [row for row in group if row["price"] is not None]
        ends = min(row["price"] for row in priced), max(row["n"] + 1.0 for row in priced)
        expected[shop] = len(group), ends
    actual = mixed.collect()
    assert {row.shop: (row["count"], tuple(row.ends)) for row in actual} == expected
    assert all(row["rows"] == row["count"] == row.shops for row in actual)
    alone = colkern.spark.aggregate(rows, [f.col("shop")], **both).collect()
    assert {row.shop: (row["count"], tuple(row.ends)) for row in alone} == expected


def test_keys_of_aggregates_are_those_of_group_by(rows: DataFrame) -> None:
    # Equal without being the same: zeros, NaNs, cases. A column of the keys' is named as a result is.
    for key in ("if(n % 2 = 0, 0.0D, -0.0D)", "if(n % 2 = 0, 'a', 'A') COLLATE UTF8_LCASE"):
        frame = rows.withColumn("count", f.expr(key))
        ((_, count),) = colkern.spark.aggregate(
            frame, f.col("count").alias("k"), count=(Rows, "n")
        ).collect()
        assert count == ROWS


def test_wrong_aggregates_are_named(rows: DataFrame) -> None:
    def doubled(n: int) -> int:
        return n * 2

    class Last:
        def init():
            return 0

        def update(state, n: int):
            return n

    wrong = (
        (TypeError, "n", "x: expected an aggregate of Spark, or a tuple .* got str"),
        (TypeError, (doubled, "n"), "x: doubled is a udf; only reducers aggregate"),
        (ValueError, (Last, "n"), "x: Last has no merge.*map_groups"),
        (ValueError, (Ends, "price"), r"x: 1 columns for Ends\(low, high\)"),
    )
    for kind, given, message in wrong:
        with pytest.raises(kind, match=message):
            colkern.spark.aggregate(rows, "shop", x=given)
    with pytest.raises(ValueError, match="one key and one aggregate"):
        colkern.spark.aggregate(rows, [], x=(Rows, "n"))


def test_parameters_that_no_column_is_named_as_are_named(rows: DataFrame) -> None:
    message = r"Ends: no column for its parameters low, high; the frame has n, shop, price, text\."
    with pytest.raises(ValueError, match=message):
        colkern.spark.map_groups(rows, "shop", Ends)
    with pytest.raises(ValueError, match=r"columns: 1 for Ends\(low, high\)"):
        colkern.spark.map_groups(rows, "shop", Ends, columns=["n"])


def test_results_that_are_named_as_a_key_is_are_refused(rows: DataFrame) -> None:
    def both(n: list[int]) -> tuple[int, int]:
        return len(n), n[0]

    for keys, function, name in (("f1", both, "f1"), ("Rows", Rows, "Rows")):
        named = rows.withColumn(name, f.expr("n % 2"))
        with pytest.raises(ValueError, match=f"two columns '{name}'; rename the key"):
            colkern.spark.map_groups(named, keys, function)
    with pytest.raises(ValueError, match="schema: two columns 'a'"):
        colkern.spark.map_batches(rows, iter, "a int, a int")


def test_keys_that_are_equal_without_being_the_same_are_refused(rows: DataFrame) -> None:
    for key in ("text COLLATE UTF8_LCASE", "array(price)", "struct(1, price)"):
        with pytest.raises(ck.UnsupportedError, match="k"):
            colkern.spark.map_groups(rows, f.expr(key).alias("k"), Rows, columns=["n"])


# Errors


def test_errors_name_the_function_and_where(rows: DataFrame) -> None:
    def narrow(batches: Iterator[ck.RecordBatch]) -> Iterator[dict[str, Any]]:
        for batch in batches:
            yield {"n": batch["n"]}

    few = rows.where("n >= 126").coalesce(1)
    narrowed = colkern.spark.map_batches(few, narrow, "n byte")
    with pytest.raises(PythonException, match=r"(?s)narrow: column 'n' is no int8.*narrow: row 2"):
        narrowed.collect()

    def failing(key: Any, group: ck.RecordBatch) -> dict[str, Any]:
        raise LookupError("not there")

    shop = rows.where("shop = 'shop 1'").groupBy("shop")
    failed = colkern.spark.apply_in_groups(shop, failing, "n long")
    with pytest.raises(PythonException, match=r"(?s)not there.*in the group \('shop 1',\)"):
        failed.collect()


def test_columns_that_spark_does_not_pass_are_refused_at_once(spark: SparkSession) -> None:
    frame = spark.sql("SELECT INTERVAL '1' YEAR AS age")
    with pytest.raises(ck.UnsupportedError, match=r"age: .*interval.*CAST"):
        colkern.spark.map_batches(frame, sizes, "n int")


# Streaming


def test_functions_in_a_streaming_query(
    spark: SparkSession, rows: DataFrame, mean: Any, tmp_path: Path
) -> None:
    @colkern.spark.udf
    def halved(n: int) -> float:
        return n / 2

    def large(batches: Iterator[ck.RecordBatch]) -> Iterator[dict[str, Any]]:
        for batch in batches:
            yield {"half": batch["half"], "large": [n >= 100 for n in batch["n"].to_pylist()]}

    actual: list[tuple[Any, ...]] = []

    def keep(frame: DataFrame, batch: int) -> None:
        actual.extend(tuple(row) for row in frame.groupBy("large").agg(mean("half")).collect())

    source = str(tmp_path / "source")
    rows.select("n").coalesce(1).write.parquet(source)
    stream = spark.readStream.schema("n long").parquet(source).withColumn("half", halved("n"))
    mapped = colkern.spark.map_batches(stream, large, {"half": ck.float64(), "large": ck.bool_()})
    query = mapped.writeStream.foreachBatch(keep).trigger(availableNow=True).start()
    assert query.awaitTermination(120)
    assert sorted(actual) == [(False, 99 / 4), (True, (100 + ROWS - 1) / 4)]


def test_a_day_of_dates(spark: SparkSession) -> None:
    @colkern.spark.udf(returns=ck.list_(ck.date32()))
    def week(day: datetime.date):
        return [day + datetime.timedelta(days=k) for k in range(7)]

    (actual,) = spark.sql("SELECT DATE'2024-02-26' d").select(week("d")).first() or ()
    assert actual[3:5] == [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)]
