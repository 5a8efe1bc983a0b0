"""`array`, `chunked_array`, `record_batch` and `table`: make arrays from any data of a caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, RecordBatch, Table
from colkern.bitmaps import packed
from colkern.builders.extension import tensors_from_numpy
from colkern.builders.infer import array_of, from_dtype
from colkern.builders.parts import BadValue
from colkern.dispatch import TIMES
from colkern.errors import shown
from colkern.layouts import Role, layout
from colkern.memory import Buffer, Items

if TYPE_CHECKING:
    from typing import Protocol

    from typing_extensions import TypeIs

    class GivesArray(Protocol):
        """A batch of another library."""

        def __arrow_c_array__(self, requested_schema: object = None) -> object: ...

    class GivesStream(Protocol):
        """A data frame, a table."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class GivesDeviceArray(Protocol):
        """A batch in device memory."""

        def __arrow_c_device_array__(
            self, requested_schema: object = None, **kwargs: object
        ) -> object: ...


_AS_OBJECTS = "OUST"
"""The kinds of dtypes that hold text, bytes or objects: their values are converted one by one."""


def from_numpy(values: Items, type_: s.DataType | None) -> Array:
    """An array of a one-dimensional NumPy array: it shares the memory if Arrow has the same bytes.

    That is so for contiguous little-endian integers, floats, `datetime64`/`timedelta64` in `s` to `ns` and
    void, if `type_` is None or stores the same bytes: integers for a date, time, timestamp or duration;
    `datetime64` for a timestamp with a timezone. The memory must not be changed from then on. Bools are
    packed. Masked values and NaT become nulls. An array of more dimensions is converted to tensors, if
    `type_` is a type of tensors.
    """
    if type_ is not None and values.dtype.kind not in _AS_OBJECTS:
        tensors = tensors_from_numpy(values, type_, from_numpy)
        if tensors is not None:
            return tensors
    if values.ndim != 1:
        raise ValueError(f"values: expected one dimension, got shape {values.shape}")
    masked = isinstance(values, np.ma.MaskedArray)
    nulls = np.ma.getmaskarray(values) if masked else None
    plain = np.asarray(values)
    if plain.dtype.kind in _AS_OBJECTS:
        return _from_objects(plain, nulls, type_)
    if plain.dtype.kind in "mM":
        not_a_time = np.isnat(plain)
        nulls = not_a_time if nulls is None else nulls | not_a_time
    natural = from_dtype(plain.dtype)
    target = natural if type_ is None else type_
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if isinstance(natural, s.Bool) and isinstance(target, s.Bool):
        return _with_nulls(target, len(plain), Buffer(packed(plain)), nulls)
    if not _stores_the_same(plain, natural, target):
        converted = _converted(plain, nulls, target)
        if converted is None:
            return _from_objects(plain, nulls, target)
        plain = converted
    bytes_ = np.ascontiguousarray(plain)
    width = bytes_.dtype.itemsize
    data = Buffer(bytes_.view(np.uint8) if width else np.empty(0, np.uint8))
    return _with_nulls(target, len(plain), data, nulls)


def _with_nulls(
    type_: s.DataType, length: int, data: Buffer, nulls: NDArray[np.bool_] | None
) -> Array:
    count = 0 if nulls is None else int(np.count_nonzero(nulls))
    valid = Buffer(packed(~nulls)) if nulls is not None and count else None
    return Array(type_, length, [valid, data], null_count=count)


def _stores_the_same(plain: Items, natural: s.DataType, target: s.DataType) -> bool:
    if isinstance(natural, s.Date):
        # NumPy's days have 64 bits.
        return False
    if natural == target:
        return True
    if isinstance(natural, s.Timestamp) and isinstance(target, s.Timestamp):
        return natural.unit == target.unit
    if not isinstance(natural, s.Int) or not isinstance(target, TIMES):
        return False
    return layout(target).spec(Role.DATA).dtype == plain.dtype


def _converted(plain: Items, nulls: NDArray[np.bool_] | None, target: s.DataType) -> Items | None:
    """Converts numbers to other numbers, and days to date32; returns None for other conversions."""
    if isinstance(target, s.Date) and plain.dtype.kind == "M" and target.unit == "day":
        if plain.dtype != np.dtype("<M8[D]"):
            return None
        plain = plain.view("<i8")
    elif plain.dtype.kind not in "iuf" or not isinstance(target, s.Int | s.FloatingPoint):
        return None
    dtype = layout(target).spec(Role.DATA).dtype
    if plain.dtype.kind == "f" and dtype.kind != "f":
        raise TypeError(f"values: NumPy's {plain.dtype} is not converted to {target}")
    with np.errstate(over="ignore", invalid="ignore"):
        converted = plain.astype(dtype)
        back = converted.astype(plain.dtype)
    if plain.dtype.kind == "f":
        return converted
    changed = (back != plain) | ((plain < 0) != (converted < 0))
    if nulls is not None:
        changed &= ~nulls
    if changed.any():
        index = int(np.flatnonzero(changed)[0])
        raise BadValue(ValueError, f"{target} does not hold {plain[index]} exactly", index)
    return converted


def _from_objects(plain: Items, nulls: NDArray[np.bool_] | None, type_: s.DataType | None) -> Array:
    values: list[Any] = plain.tolist() if plain.dtype.kind in _AS_OBJECTS else list(plain)
    if nulls is not None:
        for index in np.flatnonzero(nulls).tolist():
            values[index] = None
    return array_of(values, type_)


_ARROW_METHODS = (
    "__arrow_c_array__",
    "__arrow_c_stream__",
    "__arrow_c_device_array__",
    "__arrow_c_device_stream__",
)


def array(values: object, type: s.TypeLike | None = None) -> Array:
    """An array of Python values, a NumPy or CuPy array, or an object of the Arrow PyCapsule interface.

    Python values come in any iterable; None is a null, and so are pandas' NA, pandas' and NumPy's NaT.
    A type takes the values that `to_pylist` gives for it, and others that it can hold without loss: see
    the builders in `colkern.builders`. Only floats are rounded, to their type; nothing is cut or
    reinterpreted.
    Without `type`, it is inferred from bool, int (int64, uint64 if needed), float, str, bytes, `date`,
    `datetime` (with the first one's timezone), `time`, `timedelta`, `Decimal`, intervals, lists, tuples
    (as lists) and dicts (as structs); views, dictionaries, runs, maps and unions need a type.

    `type` may be a name such as `"int32"`, or a type of another library: see `colkern.schema.as_type`.

    A union value is put into the first child that it fits, or where a `UnionValue` says.

    A NumPy array of numbers, `datetime64` or `timedelta64` is not copied if the bytes are Arrow's;
    it must not be changed from then on. Masked values and NaT become nulls, NaN does not. An array of
    more than one dimension becomes tensors, if `type` is `fixed_shape_tensor`. An object of another
    library is not copied, also in device memory (CuPy's arrays and others with the CUDA array interface,
    columns of cuDF); an object that gives a stream (a chunked array, a column of a data frame) must hold
    its values in one piece.

    Raises:
        TypeError: If a value has the wrong class, with its place: `values[3]['name']`.
        ValueError: If a value does not fit the type, with its place; if `type` is not the type that
            an Arrow object has; if a stream holds more than one array.
    """
    return _array(values, None if type is None else s.as_type(type), "values")


def record_batch(
    data: GivesArray | GivesStream | GivesDeviceArray | Mapping[str, object] | Sequence[object],
    schema: s.Schema | s.Fields | None = None,
) -> RecordBatch:
    """A batch of columns, each given as for `array`.

    Args:
        data: Names and columns; or columns alone, with a schema; or a list of dicts, one a row; or an
            object of another library that gives a struct by the Arrow PyCapsule interface (a batch, a data
            frame in one piece), which is not copied.
        schema: The names and types, in order, or an argument for `Schema`; inferred from a mapping if
            None. A mapping must have exactly its names.

    Raises:
        TypeError, ValueError: As `array`, with the column's name as the place; if the columns have
            different lengths, or names are missing or left over.
    """
    if schema is not None and not isinstance(schema, s.Schema):
        schema = s.Schema(schema)
    if isinstance(data, RecordBatch) or _speaks_arrow(data):
        from colkern.interchange import import_batch

        batch = data if isinstance(data, RecordBatch) else import_batch(data)
        if schema is not None and not _same_fields(batch.schema, schema):
            raise ValueError(f"schema: the data has another one:\n{batch.schema}")
        return batch
    names, columns, types = _named_columns(data, schema)
    arrays = [
        _array(column, type_, name)
        for column, type_, name in zip(columns, types, names, strict=True)
    ]
    for name, column in zip(names, arrays, strict=True):
        if column.length != arrays[0].length:
            raise ValueError(f"{name}: {column.length} values, {names[0]} has {arrays[0].length}")
    if schema is None:
        schema = s.Schema(
            tuple(s.Field(name, column.type) for name, column in zip(names, arrays, strict=True))
        )
    return RecordBatch(schema, arrays)


def chunked_array(chunks: object, type: s.TypeLike | None = None) -> ChunkedArray:
    """A column in chunks.

    Args:
        chunks: The chunks, each given as for `array`; or a column of another library (an array, a
            chunked array, a column of a data frame), which is not copied.
        type: The type; needed where there is no chunk.

    Raises:
        TypeError, ValueError: As `array`; if there is neither a chunk nor a type.
    """
    type_ = None if type is None else s.as_type(type)
    if isinstance(chunks, ChunkedArray | Array) or _speaks_arrow(chunks):
        from colkern.interchange import import_columns

        column = chunks if isinstance(chunks, ChunkedArray | Array) else import_columns(chunks)
        if not isinstance(column, ChunkedArray | Array):
            raise TypeError(f"chunks: expected one column, got {shown(chunks)}")
        if type_ is not None and not s.same_type(column.type, type_):
            raise ValueError(f"chunks: expected {type_}, got {column.type}")
        return ChunkedArray([column]) if isinstance(column, Array) else column
    if not isinstance(chunks, Iterable):
        raise TypeError(f"chunks: expected a sequence of arrays, got {shown(chunks)}")
    arrays: list[Array] = []
    for number, chunk in enumerate(chunks):
        arrays.append(_array(chunk, arrays[0].type if arrays else type_, f"chunks[{number}]"))
    return ChunkedArray(arrays, type_)


def table(
    data: GivesArray | GivesStream | GivesDeviceArray | Mapping[str, object] | Iterable[object],
    schema: s.Schema | s.Fields | None = None,
) -> Table:
    """A table of columns, each given as for `array` or `chunked_array`.

    Args:
        data: Names and columns; or columns alone, with a schema; or a list of dicts, one a row; or
            batches; or a reader of batches; or an object of another library that gives structs by the
            Arrow PyCapsule interface (a batch, a table, a data frame, a relation of DuckDB), of which
            nothing is copied.
        schema: The names and types, in order, or an argument for `Schema`; inferred if None. A
            mapping must have exactly its names. Needed where there are no batches.

    Raises:
        TypeError, ValueError: As `record_batch`.
    """
    if schema is not None and not isinstance(schema, s.Schema):
        schema = s.Schema(schema)
    whole = _table_of_batches(data, schema)
    if whole is not None:
        if schema is not None and not _same_fields(whole.schema, schema):
            raise ValueError(f"schema: the data has another one:\n{whole.schema}")
        return whole
    names, values, types = _named_columns(data, schema)
    columns = [
        value if isinstance(value, ChunkedArray) else _column(value, type_, name)
        for name, value, type_ in zip(names, values, types, strict=True)
    ]
    if schema is None:
        pairs = zip(names, columns, strict=True)
        schema = s.Schema(tuple([s.Field(name, column.type) for name, column in pairs]))
    return Table.from_columns(schema, columns)


def _table_of_batches(data: object, schema: s.Schema | None) -> Table | None:
    """Returns the table for an object that is a table, or for batches; None for columns."""
    if isinstance(data, Table):
        return data
    if isinstance(data, RecordBatch):
        return Table([data])
    own_schema = getattr(data, "schema", None)
    if isinstance(own_schema, s.Schema) and isinstance(data, Iterable):
        # A reader or a stream of colkern's, whose batches come as they are.
        return Table(data, own_schema)
    if _speaks_arrow(data):
        from colkern.interchange import import_columns

        imported = import_columns(data)
        if isinstance(imported, RecordBatch | Table):
            return imported if isinstance(imported, Table) else Table([imported])
        raise TypeError(
            f"data: expected a table, got a column: {shown(data)}; "
            "Table.from_struct_array(column) makes one of structs"
        )
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        batches = [each for each in data if isinstance(each, RecordBatch) or _speaks_arrow(each)]
        columns = [each for each in batches if isinstance(each, Array)]
        if len(batches) == len(data) and not columns and (data or schema is not None):
            return Table(map(record_batch, batches), schema)
    return None


def _column(value: object, type_: s.DataType | None, name: str) -> Array | ChunkedArray:
    """Returns a column of a table, which may be a stream of another library."""
    if hasattr(value, "__arrow_c_stream__"):
        return chunked_array(value, type_)
    return _array(value, type_, name)


def _named_columns(
    data: Any, schema: s.Schema | None
) -> tuple[list[str], list[object], list[s.DataType | None]]:
    """Returns the names, values and requested types of columns."""
    if isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data):
        keys = dict.fromkeys(() if schema is None else schema.names)
        keys |= dict.fromkeys(name for row in data for name in row)
        data = {name: [row.get(name) for row in data] for name in keys}
    if isinstance(data, Mapping):
        columns = _by_name(data, schema)
        names = list(data) if schema is None else schema.names
    elif schema is None:
        raise ValueError("schema: columns without names need one")
    else:
        columns, names = list(data), schema.names
        if len(columns) != len(schema):
            raise ValueError(f"data: {len(columns)} columns for {len(schema)} fields")
    return names, columns, [None] * len(names) if schema is None else list(schema.types)


def _speaks_arrow(data: object) -> TypeIs[GivesArray | GivesStream | GivesDeviceArray]:
    # A list, tuple or dict is not asked for Arrow methods.
    return data.__class__ not in (list, tuple, dict) and any(
        hasattr(data, method) for method in _ARROW_METHODS
    )


def _same_fields(a: s.Schema, b: s.Schema) -> bool:
    shapes = [[(field.name, field.nullable) for field in schema] for schema in (a, b)]
    return shapes[0] == shapes[1] and all(map(s.same_type, a.types, b.types))


def _by_name(data: Mapping[str, object], schema: s.Schema | None) -> list[object]:
    for name in data:
        if not isinstance(name, str):
            raise TypeError(f"data: expected str as the name of a column, got {shown(name)}")
    if schema is None:
        return list(data.values())
    if len(schema) != len(data) or set(schema.names) != data.keys():
        raise ValueError(f"data: columns {list(data)} for the schema's fields {schema.names}")
    return [data[name] for name in schema.names]


def _array(values: object, type_: s.DataType | None, name: str) -> Array:
    """Like `array`; `name` is the name of the values in errors."""
    if _speaks_arrow(values) or hasattr(values, "__cuda_array_interface__"):
        return _imported(values, type_, name)
    if isinstance(values, str | bytes | bytearray | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected a sequence of values, got {shown(values)}")
    try:
        if isinstance(values, np.ndarray):
            return from_numpy(values, type_)
        return array_of(list(values), type_)
    except BadValue as error:
        raise error.public(name) from None


def _imported(values: object, type_: s.DataType | None, name: str) -> Array:
    if isinstance(values, Array):
        imported = values
    else:
        from colkern.interchange import from_cuda_array, import_array

        try:
            imported = import_array(values) if _speaks_arrow(values) else from_cuda_array(values)
        except (TypeError, ValueError) as error:
            if type(error) not in (TypeError, ValueError):
                raise
            raise type(error)(f"{name}: {str(error).removeprefix('obj: ')}") from None
    if type_ is not None and not s.same_type(imported.type, type_):
        raise ValueError(
            f"{name}: expected {type_}, got an array of {imported.type}; use colkern.cast"
        )
    return imported
