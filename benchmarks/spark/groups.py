"""Functions of groups: an aggregate of large groups, and a row for each of many small ones."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f
from pyspark.sql import types as spark
from pyspark.sql.functions import ArrowUDFType, PandasUDFType, arrow_udf, pandas_udf
from pyspark.sql.window import Window

import colkern as ck
from benchmarks.spark.case import Case, Way
from colkern.spark import apply_in_groups, map_groups, udf

HUGE, LARGE, SMALL = 100_000, 1000, 10
"""Rows of a group."""

WEEK = 7
"""Rows of a rolling window."""

SHOPS = 5000
"""How many groups there are, where each has rows all over."""

_AMOUNTS = "id % 97 * 0.25D price", "double(id % 7 + 1) quantity"


def weighted_mean() -> dict[str, Way]:
    """The mean price of each shop, weighted by quantities."""

    @ck.reducer
    class mean:
        def init():
            return 0.0, 0.0

        def update(state, price: float, quantity: float):
            return state[0] + price * quantity, state[1] + quantity

        def merge(left, right):
            return left[0] + right[0], left[1] + right[1]

        def finish(state) -> float | None:
            return state[0] / state[1] if state[1] else None

    def mean_pandas(price: pd.Series, quantity: pd.Series) -> float:
        return np.average(price, weights=quantity)

    def mean_arrow(price: pa.Array, quantity: pa.Array) -> float:
        return pc.divide(pc.sum(pc.multiply(price, quantity)), pc.sum(quantity)).as_py()

    returns = spark.DoubleType()
    functions = {
        "arrow_udf": arrow_udf(mean_arrow, returns, ArrowUDFType.GROUPED_AGG),
        "pandas_udf": pandas_udf(mean_pandas, returns, PandasUDFType.GROUPED_AGG),
        "colkern, udf": udf(mean),
        "Spark SQL": lambda price, quantity: f.sum(price * quantity) / f.sum(quantity),
    }

    def way(name: str) -> Way:
        return lambda frame: frame.groupBy("shop").agg(
            functions[name](f.col("price"), f.col("quantity"))
        )

    ways = {name: way(name) for name in functions}
    return ways | {"colkern": lambda frame: map_groups(frame, "shop", mean)}


def slope() -> dict[str, Way]:
    """How fast the price of each stock rises: the slope of the line with the least squares."""

    def slope(day: list[int], price: list[float]) -> float:
        days = prices = squares = products = 0.0
        for x, y in zip(day, price, strict=False):
            days += x
            prices += y
            squares += x * x
            products += x * y
        mean = days / len(day)
        return (products - mean * prices) / (squares - mean * days)

    def slope_pandas(key: tuple[int], group: pd.DataFrame) -> pd.DataFrame:
        day = group["day"] - group["day"].mean()
        return pd.DataFrame({"stock": key, "slope": (day * group["price"]).sum() / (day**2).sum()})

    def slope_arrow(key: tuple[pa.Scalar], group: pa.Table) -> pa.Table:
        day = pc.subtract(group["day"].cast(pa.float64()), pc.mean(group["day"]))
        products = pc.sum(pc.multiply(day, group["price"]))
        slope = pc.divide(products, pc.sum(pc.multiply(day, day)))
        return pa.table({"stock": [key[0].as_py()], "slope": [slope.as_py()]})

    def slope_numpy(key: tuple[int], group: ck.RecordBatch) -> dict[str, list[float]]:
        days = np.asarray(group["day"])
        day = days - days.mean()
        return {"stock": [key[0]], "slope": [day @ np.asarray(group["price"]) / (day @ day)]}

    result = "stock long, slope double"
    return {
        "applyInPandas": lambda frame: frame.groupBy("stock").applyInPandas(slope_pandas, result),
        "applyInArrow": lambda frame: frame.groupBy("stock").applyInArrow(slope_arrow, result),
        "colkern, apply_in_groups": lambda frame: apply_in_groups(
            frame.groupBy("stock"), slope_numpy, result
        ),
        "Spark SQL": lambda frame: frame.groupBy("stock").agg(
            f.regr_slope("price", "day").alias("slope")
        ),
        "colkern": lambda frame: map_groups(frame, "stock", slope),
    }


def windows() -> dict[str, Way]:
    """The mean price of each stock's last week, and the rank of the day's price among all of them."""

    def windows(day: list[int], price: list[float]) -> Iterator[tuple[int, float, int]]:
        rows = sorted(zip(day, price, strict=True))
        ordered = sorted(price)
        for n, (at, value) in enumerate(rows):
            week = [each for _, each in rows[max(0, n - WEEK + 1) : n + 1]]
            yield at, sum(week) / len(week), bisect.bisect_left(ordered, value) + 1

    def windows_pandas(key: tuple[int], group: pd.DataFrame) -> pd.DataFrame:
        group = group.sort_values("day")
        return pd.DataFrame(
            {
                "stock": key[0],
                "day": group["day"],
                "mean": group["price"].rolling(WEEK, min_periods=1).mean(),
                "rank": group["price"].rank(method="min").astype("int64"),
            }
        )

    over = Window.partitionBy("stock")
    result = "stock long, day long, mean double, rank long"
    return {
        "applyInPandas": lambda frame: frame.groupBy("stock").applyInPandas(windows_pandas, result),
        "Spark SQL": lambda frame: frame.select(
            "stock",
            "day",
            f.avg("price").over(over.orderBy("day").rowsBetween(1 - WEEK, 0)),
            f.rank().over(over.orderBy("price")).cast("long"),
        ),
        "colkern": lambda frame: map_groups(frame, "stock", windows),
    }


GROUPED = (
    Case(
        "aggregate of groups",
        (f"id DIV {LARGE} shop", *_AMOUNTS),
        weighted_mean,
        divisor=2,
        group_rows=LARGE,
    ),
    Case(
        "aggregate of scattered groups",
        (f"id % {SHOPS} shop", *_AMOUNTS),
        weighted_mean,
        divisor=2,
        groups=SHOPS,
    ),
    Case(
        "aggregate of few groups",
        (f"id DIV {HUGE} shop", *_AMOUNTS),
        weighted_mean,
        divisor=2,
        group_rows=HUGE,
    ),
    Case(
        "aggregate of small groups",
        (f"id DIV {SMALL} shop", *_AMOUNTS),
        weighted_mean,
        divisor=20,
        group_rows=SMALL,
        once=("arrow_udf", "pandas_udf", "colkern, udf"),
    ),
    Case(
        "many small groups",
        (f"id DIV {SMALL} stock", f"id % {SMALL} day", "id * 7 % 101 * 0.5D price"),
        slope,
        divisor=10,
        group_rows=SMALL,
        once=("applyInPandas", "applyInArrow", "colkern, apply_in_groups"),
    ),
    Case(
        f"rolling means and ranks in groups of {SMALL}",
        (f"id DIV {SMALL} stock", f"id % {SMALL} day", "id * 7 % 101 * 0.5D price"),
        windows,
        divisor=50,
        once=("applyInPandas",),
    ),
)
