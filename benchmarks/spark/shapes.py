"""Light functions over rows of the shapes that Spark's own asv suite has.

`v + 1` and `v || '_x'` over each type, as in its `bench_arrow_python_udf_types`: what is measured is
mostly the way of the columns to the function and back.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as f
from pyspark.sql import types as spark
from pyspark.sql.functions import ArrowUDFType, PandasUDFType, arrow_udf, pandas_udf

import colkern as ck
from benchmarks.spark.case import IDENTITY, Case, Way, applied, identity
from colkern.spark import udf

WIDTH = 50
LONG = 1024
"""Characters of a long string."""
ROW = ck.struct({"i": ck.int32(), "s": ck.utf8(), "d": ck.float64()})


def _arrow(function: Any, returns: spark.DataType) -> Any:
    return arrow_udf(function, returns, ArrowUDFType.SCALAR)


def _pandas(function: Any, returns: spark.DataType) -> Any:
    return pandas_udf(function, returns, PandasUDFType.SCALAR)


def numbers() -> dict[str, Any]:
    """One more than a number."""

    def plus(v: float) -> float:
        return v + 1

    return {
        "Spark SQL": lambda v: v + 1,
        "arrow_udf": _arrow(lambda v: pc.add(v, 1.0), spark.DoubleType()),
        "pandas_udf": _pandas(lambda v: v + 1, spark.DoubleType()),
        "colkern": udf(plus),
    }


def texts() -> dict[str, Any]:
    """Text with two characters more."""

    def plus(v: str) -> str:
        return v + "_x"

    return {
        "Spark SQL": lambda v: f.concat(v, f.lit("_x")),
        "arrow_udf": _arrow(lambda v: pc.binary_join_element_wise(v, "_x", ""), spark.StringType()),
        "pandas_udf": _pandas(lambda v: v + "_x", spark.StringType()),
        "colkern": udf(plus),
    }


def lists() -> dict[str, Any]:
    """Lists whose items are one more."""

    def plus(v: ck.list_(ck.int32())) -> ck.list_(ck.int32()):
        return [item + 1 for item in v]

    def plus_arrow(v: pa.Array) -> pa.Array:
        items = pc.add(v.flatten(), pa.scalar(1, pa.int32()))
        return pa.ListArray.from_arrays(pc.subtract(v.offsets, v.offsets[0]), items)

    returns = spark.ArrayType(spark.IntegerType())
    return {
        "Spark SQL": lambda v: f.transform(v, lambda item: item + 1),
        "arrow_udf": _arrow(plus_arrow, returns),
        "pandas_udf": _pandas(lambda v: v.map(lambda items: items + 1), returns),
        "colkern": udf(plus),
    }


def structs() -> dict[str, Any]:
    """Structs whose numbers are one more."""

    def plus(v: ROW) -> ROW:
        return v["i"] + 1, v["s"], v["d"] + 1

    def plus_arrow(v: pa.StructArray) -> pa.StructArray:
        i = pc.add(v.field("i"), pa.scalar(1, pa.int32()))
        return pa.StructArray.from_arrays(
            [i, v.field("s"), pc.add(v.field("d"), 1.0)], fields=fields
        )

    def plus_pandas(v: pd.DataFrame) -> pd.DataFrame:
        return v.assign(i=v.i + 1, d=v.d + 1)

    fields = [pa.field("i", pa.int32()), pa.field("s", pa.string()), pa.field("d", pa.float64())]
    returns = spark.StructType.fromDDL("i int, s string, d double")
    return {
        "Spark SQL": lambda v: v.withField("i", v.i + 1).withField("d", v.d + 1),
        "arrow_udf": _arrow(plus_arrow, returns),
        "pandas_udf": _pandas(plus_pandas, returns),
        "colkern": udf(plus),
    }


def wide() -> dict[str, Way]:
    """One more than each of many columns."""

    def way(function: Any) -> Way:
        return lambda frame: frame.select(*[function(f.col(name)) for name in frame.columns])

    one = {name: way(function) for name, function in numbers().items()}
    return {IDENTITY: identity} | one


SHAPES = (
    Case("narrow", ("id * 0.5D v",), lambda: applied(numbers(), ("v",))),
    Case("wide", tuple(f"id * {n}.5D v{n}" for n in range(WIDTH)), wide, divisor=20),
    Case("short strings", ("concat('s', id) v",), lambda: applied(texts(), ("v",)), divisor=4),
    Case(
        "long strings",
        (f"rpad(id, {LONG}, 'x') v",),
        lambda: applied(texts(), ("v",)),
        divisor=200,
    ),
    Case(
        "lists",
        ("array(int(id), int(id + 1), int(id + 2)) v",),
        lambda: applied(lists(), ("v",)),
        divisor=10,
    ),
    Case(
        "structs",
        ("named_struct('i', int(id), 's', concat('s', id), 'd', id * 0.5D) v",),
        lambda: applied(structs(), ("v",)),
        divisor=10,
    ),
)
