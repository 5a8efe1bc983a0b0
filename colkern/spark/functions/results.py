"""Results of declared type, checked before they leave a worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.builders import array as new_array
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.interchange import import_batch
from colkern.jit.column_function import imported
from colkern.operations import cast
from colkern.operations.casting.results import retyped
from colkern.spark.declared_nulls import require_declared_nulls
from colkern.spark.functions.plain_results import PlainResults


def as_column(name: str, values: Any, type_: s.DataType) -> Array:
    """What a function of batches gave as a column, as an array; Arrow's and NumPy's are not copied.

    Args:
        name: What messages call it.
        values: An array, an object of the Arrow PyCapsule interface, a NumPy array, or Python values.
        type_: What Python values are made into.

    Raises:
        TypeError: If it is none of these, or a value has the wrong class.
        ValueError: If a value does not fit the type.
    """
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
    """A column of results as Spark expects it: of exactly that type, all values valid.

    What has the type already is not copied. Otherwise values are cast, where nothing is lost.

    Args:
        function: The name of the function, for messages.
        column: The results.
        field: Their type, and whether they may be null.
        place: What messages call one of them.
        first: The row that the first of them belongs to.

    Raises:
        ValueError: If a value does not fit, or is null where that was not declared; with the row.
        UnsupportedError: If there is no cast to the declared type.
        InvalidArrowError: If the column breaks the rules of Arrow's format.
    """

    # It imports Numba, which the driver may do without.
    from colkern.jit.rows.row_loop import run_noted

    def attempt(start: int, stop: int) -> Array:
        # Offsets that lead outside the memory would end the worker or the JVM, not raise.
        rows = column
        if stop - start < column.length:
            rows = column.slice(start - first, stop - start)
        rows.validate(full=True)
        made = cast(rows, field.type)
        made = made if made.type is field.type else retyped(made, field.type)
        require_declared_nulls(made, field)
        return made

    try:
        made: Array = run_noted(attempt, function, first, first + column.length, "row")
    except ValueError as error:
        raise _located(error, f"{function}: {place} is no {field.type}") from error
    except UnsupportedError as error:
        raise UnsupportedError(f"{function}: {place}: {error}") from None
    return made


class Results:
    """What a function of batches or of groups gives, one result after the other, as Spark expects it.

    Args:
        function: The name of the function, for messages.
        schema: The columns that were declared.
    """

    def __init__(self, function: str, schema: s.Schema) -> None:
        self._function = function
        self._declared = schema
        self._plain = PlainResults(schema)

    def batch(self, made: Any, number: int = 0) -> pa.RecordBatch:
        """One result as a batch; `number` is what messages call it. Raises as `conformed_batch`."""
        plain = self._plain.batch(made)
        if plain is not None:
            return plain
        return conformed_batch(self._function, made, self._declared, batch=number)


def conformed_batch(
    function: str, made: Any, schema: s.Schema, *, batch: int = 0
) -> pa.RecordBatch:
    """What a function of batches gave, as the batch that Spark expects.

    Args:
        function: The name of the function, for messages.
        made: A record batch, of colkern or by the Arrow PyCapsule interface, or columns by name.
        schema: The columns that were declared; the order of those in `made` may be another.
        batch: Which of the function's results it is, for messages.

    Raises:
        TypeError: If it is no batch.
        ValueError: If columns are missing, not declared, or of another length; and like `conformed`.
    """
    columns, length = _columns(function, made, schema)
    missing = [name for name in schema.names if name not in columns]
    unknown = [name for name in columns if name not in schema.names]
    if missing or unknown:
        said = [f"no column {name!r}" for name in missing]
        said += [f"a column {name!r} that was not declared" for name in unknown]
        raise ValueError(f"{function}: result {batch} has {', '.join(said)}")
    arrays = []
    for field in schema.fields:
        column = as_column(f"{function}: {field.name}", columns[field.name], field.type)
        length = column.length if length is None else length
        if column.length != length:
            raise ValueError(
                f"{function}: column {field.name!r} of result {batch} has {column.length} values, "
                f"{schema.names[0]!r} has {length}"
            )
        arrays.append(conformed(function, column, field, place=f"column {field.name!r}"))
    return pa.record_batch(RecordBatch(schema, arrays, length or 0))


def _columns(function: str, made: Any, schema: s.Schema) -> tuple[Mapping[str, Any], int | None]:
    """The columns by name, and how many rows there are, if that is known."""
    if isinstance(made, Mapping):
        return made, None
    if not isinstance(made, RecordBatch):
        if not hasattr(made, "__arrow_c_array__"):
            raise TypeError(
                f"{function}: expected a record batch or columns by name, got {type(made).__name__}"
            )
        made = import_batch(made)
    return dict(zip(made.schema.names, made.columns, strict=True)), made.num_rows


def _located(error: ValueError, place: str) -> ValueError:
    kind = InvalidArrowError if isinstance(error, InvalidArrowError) else ValueError
    made = kind(f"{place}: {error}")
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made
