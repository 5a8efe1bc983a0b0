"""Native plans beside the expressions that one writes by hand, and beside the floor of transport.

Small functions of a row, as jobs have them by the dozen. Each is measured three ways: the expression that
colkern makes of it, the one that a user of Spark writes for the same, and an identity `mapInArrow` over the
columns that it takes. The hand-written one may mean less: Spark's `round` and sums of integers do not keep
what Python says about ties and about more than 64 bits.
"""

from __future__ import annotations

import datetime
import math
import statistics
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.spark.case import IDENTITY, identity
from benchmarks.spark.turns import OURS, in_turn
from colkern.spark import udf

DIVISOR = 2
"""Of how many rows the command is told, the functions get a part."""
HAND_WRITTEN = "Spark SQL"
COLUMNS = (
    "id % 90000 / 7D price",
    "id % 7919 / 3D cost",
    "if(id % 10 = 0, NULL, id % 30 / 100D) discount",
    "id % 1000003 count",
    "id % 97 + 1 other",
    "date_add(DATE'2020-01-01', cast(id % 1500 AS int)) day",
    "date_add(DATE'2021-03-05', cast(id % 900 AS int)) late",
    "concat(elt(id % 4 + 1, 'PROMO ', 'SMALL ', 'LARGE ', ' PLAIN '), id % 9973) name",
)


@dataclass(frozen=True)
class Function:
    """A function of a row.

    Args:
        kind: "arithmetic" or "conditions" for those that must leave the floor far behind; "dates", "text".
        plain: The function, whose parameters are columns.
        by_hand: The same of Spark's columns.
    """

    kind: str
    plain: Callable[..., object]
    by_hand: Callable[..., Column]

    @property
    def name(self) -> str:
        """Its name."""
        return self.plain.__name__

    @property
    def columns(self) -> list[str]:
        """The columns that it takes."""
        code = self.plain.__code__
        return list(code.co_varnames[: code.co_argcount])


def net(price: float, discount: float | None) -> float:
    return price * (1 - discount) if discount is not None else price


def gross(price: float) -> float:
    return price * 1.19


def margin(price: float, cost: float) -> float:
    return (price - cost) / price if price != 0 else 0.0


def fee(price: float) -> float:
    return min(max(price * 0.02, 5.0), 100.0)


def celsius(price: float) -> float:
    return (price - 32.0) / 1.8


def difference(price: float, cost: float) -> float:
    return abs(price - cost)


def cents(price: float) -> float:
    return math.floor(price * 100 + 0.5) / 100


def rounded(price: float) -> float:
    return round(price * 1.07, 2)


def whole(price: float) -> int:
    return int(price)


def length(price: float, cost: float) -> float:
    return math.sqrt(price * price + cost * cost)


def total(count: int, other: int) -> int:
    return count * 3 + other


def product(count: int, other: int) -> int:
    return count * other


def rest(count: int) -> int:
    return count % 7


def minutes(count: int) -> int:
    return count // 60


def bits(count: int) -> int:
    return (count >> 4) & 15


def share(count: int, other: int) -> float:
    return count / other if other else 0.0


def clipped(count: int) -> int:
    return max(0, min(count, 1000))


def tier(price: float) -> int:
    if price >= 10000:
        return 3
    if price >= 1000:
        return 2
    return 1 if price >= 100 else 0


def rate(price: float, other: int) -> float:
    if other >= 40:
        return price * 0.92
    if other >= 20:
        return price * 0.95
    return price * 0.98 if other >= 10 else price


def is_large(price: float, cost: float) -> bool:
    return price > 1000.0 and price - cost > 50.0


def is_wanted(count: int, other: int) -> bool:
    return count % 2 == 0 and (other > 10 or count < 5000)


def label(other: int) -> str:
    return "child" if other < 18 else "adult" if other < 65 else "senior"


def known(discount: float | None) -> float:
    return discount if discount is not None else 0.0


def is_missing(discount: float | None) -> bool:
    return discount is None or discount == 0.0


def age(day: datetime.date, late: datetime.date) -> int:
    return (late - day).days


def next_week(day: datetime.date) -> datetime.date:
    return day + datetime.timedelta(days=7)


def year(day: datetime.date) -> int:
    return day.year


def quarter(day: datetime.date) -> int:
    return (day.month - 1) // 3 + 1


def month_key(day: datetime.date) -> int:
    return day.year * 100 + day.month


def is_weekend(day: datetime.date) -> bool:
    return day.weekday() >= 5


def later(day: datetime.date, late: datetime.date) -> datetime.date:
    return max(day, late)


def is_promotion(name: str) -> bool:
    return name.startswith("PROMO")


def has_plain(name: str) -> bool:
    return "PLAIN" in name


def size(name: str) -> int:
    return len(name)


def prefix(name: str) -> str:
    return name[:3]


def stripped(name: str) -> str:
    return name.strip(" ")


FUNCTIONS = (
    Function("arithmetic", net, lambda p, d: p * (1 - f.coalesce(d, f.lit(0.0)))),
    Function("arithmetic", gross, lambda p: p * 1.19),
    Function("arithmetic", margin, lambda p, c: f.when(p != 0, (p - c) / p).otherwise(0.0)),
    Function("arithmetic", fee, lambda p: f.least(f.greatest(p * 0.02, f.lit(5.0)), f.lit(100.0))),
    Function("arithmetic", celsius, lambda p: (p - 32.0) / 1.8),
    Function("arithmetic", difference, lambda p, c: f.abs(p - c)),
    Function("arithmetic", cents, lambda p: f.floor(p * 100 + 0.5) / 100),
    Function("arithmetic", rounded, lambda p: f.bround(p * 1.07, 2)),
    Function("arithmetic", whole, lambda p: p.cast("bigint")),
    Function("arithmetic", length, lambda p, c: f.sqrt(p * p + c * c)),
    Function("arithmetic", total, lambda n, m: n * 3 + m),
    Function("arithmetic", product, lambda n, m: n * m),
    Function("arithmetic", rest, lambda n: f.pmod(n, f.lit(7))),
    Function("arithmetic", minutes, lambda n: f.floor(n / 60)),
    Function("arithmetic", bits, lambda n: f.shiftright(n, 4).bitwiseAND(15)),
    Function("arithmetic", share, lambda n, m: f.when(m != 0, n / m).otherwise(0.0)),
    Function("conditions", clipped, lambda n: f.greatest(f.lit(0), f.least(n, f.lit(1000)))),
    Function(
        "conditions",
        tier,
        lambda p: f.when(p >= 10000, 3).when(p >= 1000, 2).when(p >= 100, 1).otherwise(0),
    ),
    Function(
        "conditions",
        rate,
        lambda p, m: (
            f.when(m >= 40, p * 0.92).when(m >= 20, p * 0.95).when(m >= 10, p * 0.98).otherwise(p)
        ),
    ),
    Function("conditions", is_large, lambda p, c: (p > 1000) & (p - c > 50)),
    Function("conditions", is_wanted, lambda n, m: (n % 2 == 0) & ((m > 10) | (n < 5000))),
    Function(
        "conditions",
        label,
        lambda m: f.when(m < 18, "child").when(m < 65, "adult").otherwise("senior"),
    ),
    Function("conditions", known, lambda d: f.coalesce(d, f.lit(0.0))),
    Function("conditions", is_missing, lambda d: d.isNull() | (d == 0)),
    Function("dates", age, lambda day, late: f.datediff(late, day)),
    Function("dates", next_week, lambda day: f.date_add(day, 7)),
    Function("dates", year, lambda day: f.year(day)),
    Function("dates", quarter, lambda day: f.quarter(day)),
    Function("dates", month_key, lambda day: f.year(day) * 100 + f.month(day)),
    Function("dates", is_weekend, lambda day: f.weekday(day) >= 5),
    Function("dates", later, lambda day, late: f.greatest(day, late)),
    Function("text", is_promotion, lambda name: name.startswith("PROMO")),
    Function("text", has_plain, lambda name: name.contains("PLAIN")),
    Function("text", size, lambda name: f.length(name)),
    Function("text", prefix, lambda name: f.substring(name, 1, 3)),
    Function("text", stripped, lambda name: f.trim(name)),
)
"""The functions that can be measured."""


def measured(
    session: SparkSession, rows: int, rounds: int, names: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The figures of each function, whose rows lie in Spark's cache.

    Args:
        session: The session.
        rows: Of how many rows the command was told.
        rounds: How often each way is timed after it has run once.
        names: The functions that are measured.

    Returns:
        The medians of seconds, `of_hand_written`: colkern's in the hand-written's, and
        `faster_than_floor`.
    """
    count = max(1, rows // DIVISOR)
    frame = session.range(count, numPartitions=2).selectExpr(*COLUMNS).cache()
    frame.count()
    try:
        for function in FUNCTIONS:
            if function.name in names:
                yield one(function, frame, count, rounds)
    finally:
        frame.unpersist()


def one(function: Function, frame: DataFrame, rows: int, rounds: int) -> dict[str, Any]:
    """The figures of one function."""
    native = udf(function.plain, plan="native")
    given = frame.select(*function.columns)
    columns = [f.col(name) for name in function.columns]
    ways = {
        OURS: lambda: given.select(native(*columns)),
        HAND_WRITTEN: lambda: given.select(function.by_hand(*columns)),
        IDENTITY: lambda: identity(given),
    }
    seconds = in_turn(ways, rounds)["seconds"]
    return {
        "name": function.name,
        "kind": function.kind,
        "rows": rows,
        "seconds": seconds,
        "of_hand_written": seconds[OURS] / seconds[HAND_WRITTEN],
        "faster_than_floor": seconds[IDENTITY] / seconds[OURS],
    }


def summary(functions: list[dict[str, Any]]) -> dict[str, Any]:
    """How many functions keep within a bound, and the medians."""
    light = [each for each in functions if each["kind"] in ("arithmetic", "conditions")]
    return {
        "functions": len(functions),
        "within_1.2_of_hand_written": sum(each["of_hand_written"] <= 1.2 for each in functions),
        "median_of_hand_written": statistics.median(each["of_hand_written"] for each in functions),
        "light": len(light),
        "light_3_times_faster_than_floor": sum(each["faster_than_floor"] >= 3 for each in light),
        "median_faster_than_floor": statistics.median(each["faster_than_floor"] for each in light),
    }
