"""`map_groups`: a compiled function over many groups at once, each of them seen whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as spark

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.jit import Generator, Reducer, Udf
from colkern.layouts import Role
from colkern.memory import Buffer
from colkern.operations import cast, list_flatten, list_parent_indices
from colkern.spark.functions.batches import require_frame
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.declarations import result_type
from colkern.spark.functions.group_runs import Offsets, RunsFunction
from colkern.spark.functions.partial_aggregates import FinalAggregate, PartialAggregate
from colkern.spark.types import arrow_schema, spark_schema

if TYPE_CHECKING:
    from colkern.spark.functions.declarations import ColumnFunction

_BINARY = "UTF8_BINARY"
_MOST_ROWS = 2**31 - 1


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

    For many small groups: `applyInPandas` and `applyInArrow` make a call to Python for each group, this
    makes one for each batch of rows. Spark shuffles and sorts the rows by the keys, so that each group is
    contiguous and in one partition; a batch is some whole groups and a part of one more, which waits for
    its rest. The columns of the whole groups become lists over the same memory, one a group, and the
    function is compiled to run over the lists. Memory is that of a batch, or of the largest group.

    ==========================  ===================================================================
    function                    gets for each group, and gives
    ==========================  ===================================================================
    a function, or `ck.udf`     a list of each column; one row
    a generator function, or    a list of each column; as many rows as it yields
    `ck.generator`
    a class, or `ck.reducer`    its rows one by one; one row
    ==========================  ===================================================================

    A reducer that has a `merge` needs no sorted rows: it runs where the rows are, and Spark shuffles the
    state of each group of each batch. So it is the faster form of an aggregate, unless groups are few and
    large.

    Args:
        frame: The rows.
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
        raise ValueError("by: expected one key at least")
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
    if isinstance(compiled, Reducer) and compiled.has_states(*[f.type for f in values.fields]):
        partial = PartialAggregate(compiled, keys_in_arrow, values)
        rows = rows.mapInArrow(partial, spark_schema(partial.schema))
        call: RunsFunction = FinalAggregate(partial, keys_in_arrow)
    else:
        call = GroupFunction(compiled, keys_in_arrow, values)
    _require_different_names(compiled.name, call.schema)
    # The rows with the same keys come into one partition, one after the other.
    places = rows.columns[: len(keys)]
    together = rows.repartition(*places).sortWithinPartitions(*places)
    return together.mapInArrow(call, spark_schema(call.schema))


def _require_columns(function: str, parameters: list[str], columns: list[str]) -> None:
    """Refuse parameters that no column is named as; Spark's message would not name the function."""
    known = {name.lower() for name in columns}
    missing = [name for name in parameters if name.lower() not in known]
    if missing:
        raise ValueError(
            f"{function}: no column for its parameters {', '.join(missing)}; the frame has "
            f"{', '.join(columns)}. Name the parameters as columns are, or give columns=[…], a column "
            f"for each of ({', '.join(parameters)})"
        )


def _require_different_names(function: str, schema: s.Schema) -> None:
    """Refuse results that are named as a key is: Spark takes the columns of results by their names."""
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise ValueError(
                f"{function}: keys and results would have two columns {name!r}; rename the key, as in "
                f"by=f.col({name!r}).alias(…), or return a NamedTuple with other names"
            )


def _with_plain_keys(rows: DataFrame, keys: spark.StructType) -> DataFrame:
    """The rows with keys that have the same bytes if they are equal."""
    # Keys and others may have the same names.
    numbered = rows.toDF(*[f"c{k}" for k in range(len(rows.columns))])
    for place, key in zip(numbered.columns, keys.fields, strict=False):
        _require_same_if_equal(key.name, key.dataType)
        if isinstance(key.dataType, spark.FloatType | spark.DoubleType):
            numbered = numbered.withColumn(place, _one_zero_one_nan(f.col(place), key.dataType))
    return numbered


class GroupFunction(RunsFunction):
    """Called by Spark's workers for a partition of rows that are sorted by the keys."""

    def __init__(self, function: ColumnFunction, keys: s.Schema, values: s.Schema) -> None:
        self._elements = _element_types(function, values)
        lists = list(map(s.list_, self._elements))
        types: list[s.DataType] = self._elements if isinstance(function, Reducer) else [*lists]
        returns = result_type(function, types)
        function.compile(*types)
        item = returns.fields[0].type if isinstance(function, Generator) else returns
        super().__init__(function, keys, item)

    def _results(self, values: Sequence[Array], offsets: Offsets) -> tuple[Offsets, Array]:
        rows = offsets[:-1]
        try:
            results = self._called(values, offsets)
        except Exception as error:
            error.add_note(f"{self.function.name}: rows are groups here, see map_groups")
            raise
        if isinstance(self.function, Generator):
            return rows[list_parent_indices(results).items(Role.DATA)], list_flatten(results)
        return rows, results

    def _called(self, values: Sequence[Array], offsets: Offsets) -> Array:
        columns = [cast(*pair) for pair in zip(values, self._elements, strict=True)]
        if isinstance(self.function, Reducer):
            numbers = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            grouped: RecordBatch = self.function(*columns, by=new_array(numbers))
            return grouped.columns[1]
        results: Array = self.function(*[_lists(column, offsets) for column in columns])
        return results


def _element_types(function: ColumnFunction, values: s.Schema) -> list[s.DataType]:
    """The types that the columns of the parameters are cast to without loss."""
    if isinstance(function, Reducer):
        return [field.type for field in values.fields]
    types = []
    for parameter, field in zip(function.signature.parameters, values.fields, strict=True):
        declared = parameter.type
        if isinstance(declared, s.List | s.LargeList) and _fits(field.type, declared.value_type):
            types.append(declared.value_type)
        else:
            types.append(field.type)
    return types


def _fits(type_: s.DataType, declared: s.DataType) -> bool:
    """Whether the declared type holds all numbers of the other, or both are timestamps of one unit."""
    if isinstance(type_, s.Timestamp):
        return isinstance(declared, s.Timestamp) and declared.unit == type_.unit
    if isinstance(declared, s.FloatingPoint):
        if isinstance(type_, s.Int):
            return 2 * type_.bit_width <= declared.bit_width
        return isinstance(type_, s.FloatingPoint) and type_.bit_width <= declared.bit_width
    return (
        isinstance(type_, s.Int)
        and isinstance(declared, s.Int)
        and type_.signed == declared.signed
        and type_.bit_width <= declared.bit_width
    )


def _lists(values: Array, offsets: Offsets) -> Array:
    """The slices of a column as lists; not copied."""
    if offsets[-1] > _MOST_ROWS:
        raise LimitExceededError(f"a group has {offsets[-1]} rows, {_MOST_ROWS} are the most")
    buffer = Buffer.of_items(offsets.astype(np.int32))
    return Array(s.list_(values.type), len(offsets) - 1, [None, buffer], [values], null_count=0)


def _one_zero_one_nan(key: Column, type_: spark.DataType) -> Column:
    """A key whose values have the same bits if they are equal to `groupBy`."""
    zero, nan = f.lit(0.0).cast(type_), f.lit(float("nan")).cast(type_)
    return f.when(f.isnan(key), nan).when(key == zero, zero).otherwise(key)


def _require_same_if_equal(name: str, type_: spark.DataType, nested: bool = False) -> None:
    """Raise UnsupportedError if keys may be equal to Spark without having the same bytes."""
    if isinstance(type_, spark.StringType) and getattr(type_, "collation", _BINARY) != _BINARY:
        raise UnsupportedError(
            f"{name}: keys of {type_.simpleString()} are equal without being the same; group by "
            f"collation_key({name})"
        )
    if nested and isinstance(type_, spark.FloatType | spark.DoubleType):
        raise UnsupportedError(f"{name}: keys have floats within; group by its parts")
    if isinstance(type_, spark.ArrayType):
        _require_same_if_equal(name, type_.elementType, True)
    if isinstance(type_, spark.StructType):
        for field in type_.fields:
            _require_same_if_equal(f"{name}.{field.name}", field.dataType, True)
