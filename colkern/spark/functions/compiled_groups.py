"""`map_groups`: a compiled function over many groups at once, each of them seen whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as spark

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.jit import Generator, Reducer, Udf
from colkern.spark.functions.aggregates import aggregate
from colkern.spark.functions.batches import require_frame
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.group_runs import GroupFunction
from colkern.spark.types import arrow_schema, spark_schema

_BINARY = "UTF8_BINARY"


def map_groups(
    frame: DataFrame,
    by: str | Column | Sequence[str | Column],
    function: Callable[..., object] | Udf | Reducer | Generator,
    *,
    columns: Sequence[str | Column] | None = None,
) -> DataFrame:
    """A DataFrame of the results of a compiled function for each group of rows::

        def drawdown(price: list[float]) -> tuple[float, float]:
            highest, deepest = price[0], 0.0
            for value in price:
                highest = max(highest, value)
                deepest = max(deepest, highest - value)
            return highest, deepest

        colkern.spark.map_groups(frame.select("stock", "price"), "stock", drawdown)

    For many small groups: this makes one call to Python for each batch of rows, where `applyInPandas` and
    `applyInArrow` make one for each group. Memory is that of a batch, or of the largest group.

    A function, or a `ck.udf`, gets a list of each column, and gives one row. A generator function, or a
    `ck.generator`, gets the same, and gives as many rows as it yields. A class, or a `ck.reducer`, gets the
    rows one by one, and gives one row.

    A reducer that has a `merge` needs no sorted rows: it runs as by `aggregate`, where the rows are, or as
    Spark's own aggregates. So it is the faster form of an aggregate, unless groups are few and large.

    Args:
        by: The keys: names of columns, or columns. Null is a key, NaN is one, 0.0 and -0.0 are the
            same, as for `groupBy`.
        function: Its parameters are columns of the frame by name, of the hinted type or a smaller
            number. Within a group, rows come in no order that could be relied on.
        columns: The columns that the parameters stand for, in order, over their names.

    Returns:
        The keys, and the results: the fields of a tuple, or a column under the function's name.

    Raises:
        TypeError: If a column is not of its parameter's type.
        ValueError: If the frame has no column of a parameter's name, there are not as many `columns` as
            parameters, or a result has the name of a key.
        UnsupportedError: If keys are of a type whose values are equal without being the same (text
            with a collation, floats within structs or arrays), or if Spark has no type for results.
        CompileError: If the function does not compile.
    """
    require_frame(frame)
    compiled = column_function_of(function)
    names = [parameter.name for parameter in compiled.signature.parameters]
    keys = [by] if isinstance(by, str | Column) else list(by)
    if not keys:
        raise ValueError("by: expected at least one key")
    if columns is None:
        _require_columns(compiled.name, names, frame.columns)
    chosen = frame.select(*keys, *(names if columns is None else columns))
    fields = chosen.schema.fields
    if len(fields) != len(keys) + len(names):
        raise ValueError(
            f"columns: {len(fields) - len(keys)} for {compiled.name}({', '.join(names)})"
        )
    key_schema = spark.StructType(fields[: len(keys)])
    keys_in_arrow = arrow_schema(key_schema)
    values = arrow_schema(spark.StructType(fields[len(keys) :]))
    rows = _with_plain_keys(chosen, key_schema)
    places, given = rows.columns[: len(keys)], rows.columns[len(keys) :]
    call = GroupFunction(compiled, keys_in_arrow, values)
    _require_different_names(compiled.name, call.schema)
    if isinstance(compiled, Reducer) and compiled.has_states(*[f.type for f in values.fields]):
        merged = aggregate(rows, places, result=(compiled, *given))
        result, returned = f.col("result"), merged.schema["result"].dataType
        is_row = isinstance(returned, spark.StructType)
        results = [result[name] for name in returned.names] if is_row else [result]
        return merged.select(*places, *results).toDF(*call.schema.names)
    # Rows with the same keys come into one partition, one after the other.
    together = rows.repartition(*places).sortWithinPartitions(*places)
    return together.mapInArrow(call, spark_schema(call.schema))


def _require_columns(function: str, parameters: list[str], columns: list[str]) -> None:
    """Refuse parameters without a column of that name; Spark's message would not name the function."""
    known = {name.lower() for name in columns}
    missing = [name for name in parameters if name.lower() not in known]
    if missing:
        raise ValueError(
            f"{function}: no column for its parameters {', '.join(missing)}; the frame has "
            f"{', '.join(columns)}. Name the parameters as columns are, or give columns=[…], a column "
            f"for each of ({', '.join(parameters)})"
        )


def _require_different_names(function: str, schema: s.Schema) -> None:
    """Refuse results with the name of a key: Spark takes the columns of results by their names."""
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise ValueError(
                f"{function}: keys and results would have two columns {name!r}; rename the key, as in "
                f"by=f.col({name!r}).alias(…), or return a NamedTuple with other names"
            )


def _with_plain_keys(rows: DataFrame, keys: spark.StructType) -> DataFrame:
    """Returns the rows with keys that have the same bytes if they are equal."""
    # Keys and other columns may have the same names.
    numbered = rows.toDF(*[f"c{k}" for k in range(len(rows.columns))])
    for place, key in zip(numbered.columns, keys.fields, strict=False):
        _require_same_if_equal(key.name, key.dataType)
        if isinstance(key.dataType, spark.FloatType | spark.DoubleType):
            numbered = numbered.withColumn(place, _one_zero_one_nan(f.col(place), key.dataType))
    return numbered


def _one_zero_one_nan(key: Column, type_: spark.DataType) -> Column:
    """Returns a key whose values have the same bits if `groupBy` treats them as equal."""
    zero, nan = f.lit(0.0).cast(type_), f.lit(float("nan")).cast(type_)
    return f.when(f.isnan(key), nan).when(key == zero, zero).otherwise(key)


def _require_same_if_equal(name: str, type_: spark.DataType, nested: bool = False) -> None:
    """Raise UnsupportedError if keys may be equal in Spark without having the same bytes."""
    if isinstance(type_, spark.StringType) and getattr(type_, "collation", _BINARY) != _BINARY:
        raise UnsupportedError(
            f"{name}: keys of {type_.simpleString()} may be equal with different bytes; group by "
            f"collation_key({name})"
        )
    if nested and isinstance(type_, spark.FloatType | spark.DoubleType):
        raise UnsupportedError(f"{name}: keys contain floats; group by their fields or items")
    if isinstance(type_, spark.ArrayType):
        _require_same_if_equal(name, type_.elementType, True)
    if isinstance(type_, spark.StructType):
        for field in type_.fields:
            _require_same_if_equal(f"{name}.{field.name}", field.dataType, True)
