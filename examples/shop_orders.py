"""A shop's orders become daily sales of each category, in Spark, with functions of colkern.

    spark-submit examples/shop_orders.py --output sales
    python examples/shop_orders.py --output sales --master 'local[4]' --rows 1000000

Orders are Arrow files, products a Parquet file; sales are Arrow files, in a directory for each category.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import sample_orders
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as f

import colkern as ck
import colkern.spark
from colkern.spark import udf


@udf
def address(text: str) -> str | None:
    """A text without spaces around it; null if it is no e-mail address."""
    stripped = text.strip()
    at = stripped.find("@")
    if at < 1 or "." not in stripped[at:] or " " in stripped:
        return None
    return stripped


@udf
def basket_lines(basket: str) -> tuple[str, int]:
    """The products and quantities of a basket such as `b7*2;t12*1`; other parts are ignored."""
    start = 0
    while start < len(basket):
        end = basket.find(";", start)
        if end < 0:
            end = len(basket)
        star = basket.rfind("*", start, end)
        quantity = basket[star + 1 : end]
        if star > start and quantity.isdigit() and len(quantity) <= 4:
            yield basket[start:star], int(quantity)
        start = end + 1


@udf
def amount(price: float, quantity: int, discount: float | None) -> float:
    """The price of a line, to the cent; three pieces or more are cheaper, unless there is a discount."""
    if discount is None:
        discount = 0.05 if quantity >= 3 else 0.0
    return round(price * quantity * (1 - discount) * 100) / 100


SALES = ck.struct({"pieces": ck.int64(), "revenue": ck.float64(), "largest": ck.float64()})


@ck.reducer
class sales:
    """The pieces, the revenue, and the largest amount of the lines of a group."""

    def init():
        return 0, 0.0, 0.0

    def update(state, quantity: int, amount: float):
        return state[0] + quantity, state[1] + amount, max(state[2], amount)

    # With it, Spark shuffles states, not lines.
    def merge(left, right):
        return left[0] + right[0], left[1] + right[1], max(left[2], right[2])

    def finish(state) -> Annotated[Any, SALES]:
        return state


class Stages:
    """Counts the rows that leave each stage while the job runs, without another pass."""

    def __init__(self) -> None:
        self._counts: dict[str, Observation] = {}

    def after(self, name: str, frame: DataFrame) -> DataFrame:
        """The rows that leave a stage."""
        count = self._counts[name] = Observation(name)
        return frame.observe(count, f.count(f.lit(1)).alias("rows"))

    def report(self) -> str:
        """The rows that went into each stage and came out; waits for the job's first action."""
        rows = [count.get["rows"] for count in self._counts.values()]
        lines = [f"{'stage':12}{'rows in':>12}{'rows out':>12}"]
        for name, before, after in zip(self._counts, [None, *rows], rows, strict=False):
            came = "" if before is None else f"{before:,}"
            lines.append(f"{name:12}{came:>12}{after:>12,}")
        return "\n".join(lines)


def daily_sales(orders: DataFrame, products: DataFrame, stages: Stages) -> DataFrame:
    """The sales of each category on each day."""
    orders = stages.after("read", orders)
    named = orders.withColumn("customer", f.lower(address("customer")))
    clean = named.dropna(subset=["customer", "basket"]).dropDuplicates(["order_id"])
    clean = stages.after("clean", clean)
    lines = clean.select("day", "discount", f.explode(basket_lines("basket")).alias("line"))
    lines = stages.after("lines", lines.select("day", "discount", "line.f0", "line.f1"))
    priced = lines.toDF("day", "discount", "sku", "quantity").join(products, "sku")
    priced = priced.withColumn("amount", amount("price", "quantity", "discount"))
    priced = stages.after("priced", priced)
    return stages.after("sales", colkern.spark.map_groups(priced, ["category", "day"], sales))


def write_by(frame: DataFrame, column: str, output: Path) -> None:
    """Write a directory for each value of a column, which then is not in the files.

    Spark refuses `partitionBy` for data sources in Python. So this runs one job for each value, and
    commits each directory by itself: it suits few values, and rows that are persisted.
    """
    for (value,) in frame.select(column).distinct().sort(column).collect():
        part = frame.where(f.col(column) == value).drop(column).coalesce(1)
        folder = output / f"{column}={quote(value, safe='')}"
        part.write.format("colkern").mode("overwrite").option("compression", "lz4").save(
            str(folder)
        )
        print(f"written: {folder}")


def started(master: str | None) -> SparkSession:
    """spark-submit's session, or one on this machine."""
    if master is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        return SparkSession.builder.getOrCreate()
    return colkern.spark.start_session(master or "local[*]", name="shop orders")


def run(spark: SparkSession, source: Path | None, output: Path, rows: int) -> None:
    """The job, from its input to its report."""
    # Before any query: Spark ships the files that the session has when a function is first used.
    print(colkern.spark.install(spark))
    if source is None:
        source = output / "input"
        sample_orders.write(source, rows)
    orders = colkern.spark.read(
        spark,
        str(source / "orders"),
        columns=["order_id", "customer", "day", "basket", "discount"],
        filters=[("order_id", "is not null")],
    )
    products = spark.read.parquet(str(source / "products")).dropna()
    stages = Stages()
    result = daily_sales(orders, products, stages).persist()
    write_by(result, "category", output / "sales")
    print(stages.report())


def main() -> None:
    """Read the command line, and run the job."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--input", type=Path, help="a folder with orders/ (Arrow) and products/ (Parquet)"
    )
    parser.add_argument("--output", type=Path, required=True, help="where to write")
    parser.add_argument(
        "--rows", type=int, default=100_000, help="how many orders are made without --input"
    )
    parser.add_argument("--master", help="Spark's master; spark-submit's, or else local[*]")
    options = parser.parse_args()
    spark = started(options.master)
    try:
        source = options.input and options.input.absolute()
        run(spark, source, options.output.absolute(), options.rows)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
