"""Functions of a row: a number with nulls, and a loop over the characters of a text."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f
from pyspark.sql import types as spark
from pyspark.sql.functions import ArrowUDFType, PandasUDFType, arrow_udf, pandas_udf

from benchmarks.spark.case import Case, Way, applied
from colkern.spark import udf


def net() -> dict[str, Way]:
    """A price less its discount, if there is one."""

    def net(price: float, discount: float | None) -> float:
        return price * (1 - discount) if discount is not None else price

    def net_pandas(price: pd.Series, discount: pd.Series) -> pd.Series:
        return price * (1 - discount.fillna(0.0))

    def net_arrow(price: pa.Array, discount: pa.Array) -> pa.Array:
        return pc.multiply(price, pc.subtract(1.0, pc.coalesce(discount, 0.0)))

    returns = spark.DoubleType()
    functions = {
        "Spark SQL": lambda price, discount: price * (1 - f.coalesce(discount, f.lit(0.0))),
        "arrow_udf": arrow_udf(net_arrow, returns, ArrowUDFType.SCALAR),
        "pandas_udf, NumPy": pandas_udf(net_pandas, returns, PandasUDFType.SCALAR),
        "colkern": udf(net),
    }
    return applied(functions, ("price", "discount"))


def card_check() -> dict[str, Way]:
    """The sum of Luhn's check over the digits of a card's number, from the last one on."""

    def check(card: str) -> int:
        total = 0
        second = False
        for character in reversed(card):
            if character.isdigit():
                digit = int(character)
                if second:
                    digit = digit * 2 if digit < 5 else digit * 2 - 9
                total += digit
                second = not second
        return total % 10

    returns = spark.LongType()
    functions = {
        "arrow_udf": arrow_udf(
            lambda cards: pa.array([check(card.as_py()) for card in cards]),
            returns,
            ArrowUDFType.SCALAR,
        ),
        "pandas_udf, apply": pandas_udf(
            lambda cards: cards.apply(check), returns, PandasUDFType.SCALAR
        ),
        "colkern": udf(check),
    }
    return applied(functions, ("card",))


ROW_BY_ROW = (
    Case(
        "numbers with nulls",
        ("id * 0.25D price", "if(id % 10 = 0, NULL, id % 30 / 100D) discount"),
        net,
    ),
    Case(
        "loop over characters",
        ("regexp_replace(lpad(id * 7919, 16, '4'), '(....)', '$1 ') card",),
        card_check,
        divisor=10,
    ),
)
