"""Checks that results are of the declared type, before they leave a worker."""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.interchange import import_batch
from colkern.jit.column_function import imported
from colkern.operations import cast
from colkern.operations.casting.dispatch import retyped
from colkern.spark.declared_nulls import require_declared_nulls
from colkern.spark.functions.declarations import function_name
from colkern.spark.worker_errors import told_plainly


def as_column(name: str, values: object, type_: s.DataType) -> Array:
    """Returns a user's column, of Arrow, NumPy (not copied) or Python values of `type_`, as an array."""
    if isinstance(values, Array):
        return values
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return imported(name, values)
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise TypeError(f"{name}: expected a column, got {type(values).__name__}")
    try:
        return new_array(values) if hasattr(values, "dtype") else new_array(values, type_)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def conformed(
    function: str, column: Array, field: s.Field, *, place: str = "a result", first: int = 0
) -> Array:
    """Returns a column of results as Spark expects it: of exactly the field's type, all values valid."""
    # A column that has the type already is not copied; another one is cast if that loses nothing. Errors
    # name the function, the `place` of the result, and the row, counted from `first`.

    def attempt(count: int) -> Array:
        # Offsets beyond the memory would end the worker or the JVM instead of raising.
        rows = column if count == column.length else column.slice(0, count)
        rows.validate(full=True)
        result = cast(rows, field.type)
        result = result if result.type is field.type else retyped(result, field.type)
        require_declared_nulls(result, field)
        return result

    try:
        return attempt(column.length)
    except ValueError as error:
        kind = InvalidArrowError if isinstance(error, InvalidArrowError) else ValueError
        located = kind(f"{function}: {place} is no {field.type}: {error}")
        row = first_failing(attempt, column.length)
        if row is not None:
            located.add_note(f"{function}: row {first + row}")
        raise located from error
    except UnsupportedError as error:
        raise UnsupportedError(f"{function}: {place}: {error}") from None


def first_failing(attempt: Callable[[int], object], length: int) -> int | None:
    """Returns the first row that fails; `attempt(n)` tries the first n rows. None without rows."""

    def fails(row: int) -> bool:
        try:
            attempt(row + 1)
        except Exception:  # noqa: BLE001 Users' functions may raise anything.
            return True
        return False

    return bisect_left(range(length - 1), True, key=fails) if length else None


def conformed_columns(
    function: str, columns: Sequence[Array], schema: s.Schema, length: int | None = None
) -> pa.RecordBatch:
    """Returns columns of results as the batch that Spark expects; see `conformed`."""
    checked = [
        conformed(function, column, field, place=f"column {field.name!r}")
        for column, field in zip(columns, schema.fields, strict=True)
    ]
    return pa.record_batch(RecordBatch(schema, checked, length))


_KINDS: dict[s.DataType, set[type]] = {
    s.bool_(): {bool},
    s.int32(): {int, np.int32},
    s.int64(): {int, np.int64},
    s.float64(): {float, np.float64},
    s.utf8(): {str},
    s.binary(): {bytes},
}
"""The classes of values of which pyarrow and colkern make equal arrays."""


class PlainResults:
    """Makes batches of lists of plain values with pyarrow, which is faster for small groups."""

    def __init__(self, schema: s.Schema) -> None:
        self._schema = pa.schema(schema)
        classes = [
            _KINDS.get(field.type, set()) | ({type(None)} if field.nullable else set())
            for field in schema
        ]
        self._fields = list(zip(self._schema, classes, strict=True))

    def batch(self, result: object) -> pa.RecordBatch | None:
        """Returns the batch; None if the result is not plain, or not as declared."""
        if type(result) is not dict or len(result) != len(self._schema) or not result:
            return None
        columns: list[pa.Array] = []
        for field, classes in self._fields:
            column = _array(result.get(field.name), field.type, classes)
            if column is None or (columns and len(column) != len(columns[0])):
                return None
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _array(values: object, type_: pa.DataType, classes: set[type]) -> pa.Array | None:
    if type(values) is not list or not classes.issuperset(map(type, values)):
        return None
    try:
        array = pa.array(values, type_)
    except (ValueError, OverflowError):
        return None
    return array if isinstance(array, pa.Array) else None


class Results:
    """Converts the results of a function of batches or of groups to batches of the declared columns."""

    def __init__(self, function: str, schema: s.Schema) -> None:
        self._function = function
        self._declared = schema
        self._plain = PlainResults(schema)

    def batch(self, result: object, number: int = 0) -> pa.RecordBatch:
        """Returns result `number` of the function as a batch. Raises as `conformed_batch`."""
        plain = self._plain.batch(result)
        if plain is not None:
            return plain
        return conformed_batch(self._function, result, self._declared, batch=number)


def conformed_batch(
    function: str, result: object, schema: s.Schema, *, batch: int = 0
) -> pa.RecordBatch:
    """Returns result `batch` of a user's function as Spark expects it, in the schema's order."""
    columns, length = _columns(function, result)
    missing = [name for name in schema.names if name not in columns]
    unknown = [name for name in columns if name not in schema.names]
    if missing or unknown:
        differences = [f"no column {name!r}" for name in missing]
        differences += [f"a column {name!r} that was not declared" for name in unknown]
        raise ValueError(f"{function}: result {batch} has {', '.join(differences)}")
    arrays = []
    for field in schema.fields:
        column = as_column(f"{function}: {field.name}", columns[field.name], field.type)
        length = column.length if length is None else length
        if column.length != length:
            raise ValueError(
                f"{function}: column {field.name!r} of result {batch} has {column.length} values, "
                f"{schema.names[0]!r} has {length}"
            )
        arrays.append(column)
    return conformed_columns(function, arrays, schema, length or 0)


def _columns(function: str, result: object) -> tuple[Mapping[str, object], int | None]:
    """Returns the columns by name, and the number of rows if it is known."""
    if isinstance(result, Mapping):
        return result, None
    if isinstance(result, pa.Table):
        return dict(zip(result.column_names, result.columns, strict=True)), result.num_rows
    if not isinstance(result, RecordBatch):
        if not hasattr(result, "__arrow_c_array__"):
            kind = type(result).__name__
            raise TypeError(
                f"{function}: expected a record batch or columns by name, got {kind}; of a table of "
                f"pandas make one with pyarrow.RecordBatch.from_pandas(table, preserve_index=False)"
            )
        result = import_batch(result)
    return dict(zip(result.schema.names, result.columns, strict=True)), result.num_rows


def require_no_pandas(function: object) -> None:
    """Raise TypeError for a function whose hints say that it takes tables of pandas."""
    if "DataFrame" in str(getattr(function, "__annotations__", "")):
        raise TypeError(
            f"{function_name(function)}: its hints are pandas', as for applyInPandas; here a function gets "
            f"a colkern.RecordBatch, of which to_pandas() makes a table of pandas"
        )


@contextlib.contextmanager
def told_with_rows() -> Iterator[None]:
    """Makes Spark show an exception as `told_plainly` does; says what rows are to a function that takes
    them for tables of another library."""
    with told_plainly():
        try:
            yield
        except (AttributeError, TypeError) as error:
            if re.search("RecordBatch|Array|colkern", str(error)):
                error.add_note(
                    "rows are a colkern.RecordBatch: rows.to_pandas() is a table of pandas, and "
                    "pyarrow.record_batch(rows) a batch of pyarrow"
                )
            raise
