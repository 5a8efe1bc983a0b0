"""The functions of the demo: their columns, results, and three spellings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql.functions import ArrowUDFType, PandasUDFType, arrow_udf, pandas_udf

from colkern.errors import CompileError
from colkern.spark.demo import columns, rows
from colkern.spark.functions.column_functions import udf
from colkern.spark.functions.declarations import RowOptions

WAYS = ("pandas_udf", "arrow_udf", "colkern")

NATIVE = "colkern, native"
"""The way without a Python worker, for functions that have a native plan."""


@dataclass(frozen=True, slots=True)
class Case:
    """One function of the demo."""

    name: str
    kind: str  #: The kind of work, in a word or two.
    inputs: tuple[str, ...]  #: The columns that it takes.
    result: str  #: The Spark type of its results.
    #: For each of `WAYS`, and for `NATIVE` if there is one, a column function of `inputs`.
    ways: dict[str, Callable[..., Column]]

    @property
    def ours(self) -> str:
        """The way that `colkern.spark.udf` chooses by itself."""
        return NATIVE if NATIVE in self.ways else "colkern"


def cases() -> list[Case]:
    """Returns the three functions; needs a running session."""
    amounts = ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
    return [
        _case("reading_grade", "per character", ("l_comment",), "double"),
        _case("amount_due", "numeric", amounts, "double", nulls="pass"),
        _case("payment_day", "dates", ("l_commitdate", "l_receiptdate"), "date"),
    ]


def _case(
    name: str, kind: str, inputs: tuple[str, ...], result: str, **options: Unpack[RowOptions]
) -> Case:
    ways: dict[str, Callable[..., Column]] = {
        "pandas_udf": pandas_udf(getattr(columns, f"{name}_pandas"), result, PandasUDFType.SCALAR),
        "arrow_udf": arrow_udf(getattr(columns, f"{name}_arrow"), result, ArrowUDFType.SCALAR),
        "colkern": udf(getattr(rows, name), plan="arrow", **options),
    }
    with contextlib.suppress(CompileError):
        native = udf(getattr(rows, name), plan="native", **options)
        # Only the finished expression shows whether it is small enough.
        native(*inputs)
        ways[NATIVE] = native
    return Case(name, kind, inputs, result, ways)


def aggregates(case: Case) -> list[Column]:
    """Returns count, minimum, maximum and sum of the results; the sum of dates counts days."""
    value = f.col("result")
    number = f.unix_date(value) if case.result == "date" else value
    return [
        f.count(value).alias("count"),
        f.min(value).alias("min"),
        f.max(value).alias("max"),
        f.sum(number).alias("sum"),
    ]
