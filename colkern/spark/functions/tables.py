"""`udtf`: a colkern generator as a table function of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Unpack

import pyarrow as pa
from pyspark.sql.functions import arrow_udtf
from pyspark.sql.functions import udtf as row_udtf
from pyspark.sql.udtf import UserDefinedTableFunction

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.interchange import import_array
from colkern.jit import Generator
from colkern.operations import list_flatten, struct_flatten
from colkern.spark.functions.column_functions import column_function_of
from colkern.spark.functions.declarations import Options, column_types, result_type
from colkern.spark.functions.worker_calls import ArrowFunction
from colkern.spark.types import spark_schema


def udtf(
    function: Callable[..., object] | Generator | str | None = None,
    /,
    *,
    lateral: bool = False,
    **options: Unpack[Options],
) -> UserDefinedTableFunction:
    """Make a generator function of a row into a table function for Spark::

        @colkern.spark.udtf
        def words(text: str) -> tuple[str, int]:
            ...
            yield text[start:i], start

        words(frame.select("text").asTable())
        spark.udtf.register("words", words)
        spark.sql("SELECT * FROM words(TABLE(SELECT text FROM lines))")

    A table argument is taken a batch at a time: its columns are the parameters, by name. The columns of
    the result are the fields of the struct that is yielded, or one under the function's name.

    Spark does not join such functions laterally, so those for `FROM lines, LATERAL words(text)` are
    made with `lateral=True`, and Spark then calls them row by row. As fast as the first form, and
    lateral too, is `FROM lines, LATERAL explode(words(text))` over what `colkern.spark.udf` makes of
    the same generator.

    Args:
        function: A generator function, or a result of `colkern.generator`. The types of the items must
            be declared, or follow from those of the parameters. Or a signature, as text.
        lateral: Whether the function is for lateral joins.
        **options: `returns`, `nulls`, `signature`, as for `colkern.generator`.

    Raises:
        TypeError: If the type of the items is neither declared nor to be inferred.
        UnsupportedError: If Spark has no type for them.
        CompileError: If the function does not compile.
    """
    if isinstance(function, str) or function is None:
        return lambda plain: _table_function(
            column_function_of(plain, function, **options), lateral
        )
    return _table_function(column_function_of(function, None, **options), lateral)


def _table_function(function: object, lateral: bool) -> UserDefinedTableFunction:
    if not isinstance(function, Generator):
        raise TypeError(f"function: expected a generator function, got {function!r}")
    columns = column_types(function)
    returns = result_type(function, columns)
    if columns is not None:
        function.compile(*columns)
    schema = item_columns(function.name, returns.fields[0].type)
    call = ArrowFunction(function, returns)
    if lateral:
        types = [parameter.type for parameter in function.signature.parameters]
        known = [type_ if isinstance(type_, s.DataType) else None for type_ in types]
        handler = _row_handler(call, columns or known)
        return row_udtf(handler, returnType=spark_schema(schema), useArrow=True)
    return arrow_udtf(_batch_handler(call, schema), returnType=spark_schema(schema))


def item_columns(name: str, item: s.DataType) -> s.Schema:
    """Returns the columns for items of a type: the fields of a struct, else one column with that name."""
    return s.Schema(item.fields if isinstance(item, s.Struct) else (s.field(name, item),))


def columns_of(items: Array) -> list[Array]:
    """Returns the columns of items, as `item_columns` describes them."""
    return struct_flatten(items) if isinstance(items.type, s.Struct) else [items]


def _batch_handler(call: ArrowFunction, schema: s.Schema) -> type:
    """Returns the class that Spark instantiates for each partition; it takes columns or whole tables."""
    names = [parameter.name for parameter in call.function.signature.parameters]

    class Batches:
        def eval(
            self, *columns: pa.Array | pa.RecordBatch, **named: pa.Array
        ) -> Iterator[pa.RecordBatch]:
            if len(columns) == 1 and isinstance(columns[0], pa.RecordBatch):
                (batch,) = columns
                missing = [name for name in names if name not in batch.schema.names]
                if missing:
                    raise TypeError(
                        f"{call.function.name}: the table has no column {missing[0]!r}; it has "
                        f"{', '.join(batch.schema.names)}"
                    )
                columns = tuple([batch[name] for name in names])
            items = columns_of(list_flatten(import_array(call(*columns, **named))))
            yield pa.record_batch(RecordBatch(schema, items))

    return Batches


def _row_handler(call: ArrowFunction, types: Sequence[s.DataType | None]) -> type:
    """Returns the class that Spark instantiates for each partition; it takes the values of one row."""
    parameters = call.function.signature.parameters
    item_type = call.returns.fields[0].type if call.returns is not None else None
    width = len(item_type.fields) if isinstance(item_type, s.Struct) else None
    by_name = {p.name: type_ for p, type_ in zip(parameters, types, strict=True)}

    class Rows:
        def eval(self, *values: object, **named: object) -> Iterator[tuple[object, ...]]:
            columns = [_one_row(*pair) for pair in zip(values, types, strict=False)]
            others = {name: _one_row(named[name], by_name.get(name)) for name in named}
            items = call(*columns, **others)[0].as_py(maps_as_pydicts="strict")
            for item in items or ():
                if width is None:
                    yield (item,)
                else:
                    yield (None,) * width if item is None else tuple(item.values())

    return Rows


def _one_row(value: object, type_: s.DataType | None) -> pa.Array:
    if type_ is None and _has_parts(value):
        raise TypeError(
            "a map or struct of a lateral join: declare its type, as in m: dict[str, int]"
        )
    return pa.array(new_array([_as_moments(value, type_)], type_))


def _has_parts(value: object) -> bool:
    """Whether a value of Spark's is a map or struct, or contains one."""
    in_list = isinstance(value, list) and any(map(_has_parts, value))
    return in_list or isinstance(value, dict | tuple)


def _as_moments(value: Any, type_: s.DataType | None) -> Any:
    """Returns a value with Spark's local times of the worker's machine replaced by instants."""
    if type_ is None or value is None:
        return value
    if isinstance(type_, s.Timestamp):
        return value.astimezone() if type_.timezone is not None else value
    if isinstance(type_, s.Map):
        key, item = type_.key_field.type, type_.item_field.type
        return {_as_moments(k, key): _as_moments(v, item) for k, v in value.items()}
    if isinstance(type_, s.Struct):
        return {f.name: _as_moments(value[f.name], f.type) for f in type_.fields}
    if type_.fields:
        return [_as_moments(each, type_.fields[0].type) for each in value]
    return value
