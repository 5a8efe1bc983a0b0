"""Methods that need packages above their classes, bound in one place.

Types, arrays and batches import nothing from above them. A method that needs such a package is a
function of that package, imported when the method is first used (`_Late`), or one here, which imports
what it needs when it is called. `bind_methods` sets both on the classes, which declare the names for
type checkers.
"""

from __future__ import annotations

import os
import pkgutil
import re
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from colkern import schema as s
from colkern.arrays import (
    Array,
    ChunkedArray,
    Column,
    RecordBatch,
    RecordBatchStream,
    Table,
    Tabular,
)
from colkern.errors import UnsupportedError
from colkern.extensions.canonical import text_of
from colkern.habits import OF_COLUMNS, OF_TABLES
from colkern.names import Elsewhere
from colkern.type_trees import DataType, Field

if TYPE_CHECKING:
    from colkern.arrays.tabular import Keys as KeysOfRows
    from colkern.operations import GroupBy
    from colkern.operations.joining import JoinType, Keys
    from colkern.operations.sorting import Order, Placement, SortKeys
    from colkern.operations.value_checks import TypeRule

Rows = TypeVar("Rows", RecordBatch, Table)


class _Late:
    """A function of a package that is imported when the function is looked up or called.

    As an attribute of a class it is a method, with the function's signature and docstring.
    """

    def __init__(self, home: str, name: str) -> None:
        self._home = home
        self._name = name

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        function: Callable[..., Any] = getattr(import_module(self._home), self._name)
        return function

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: object, owner: type) -> Callable[..., Any]:
        function = self.function
        # From now on, classes have the function itself.
        for kind in owner.__mro__:
            for name in [name for name, value in vars(kind).items() if value is self]:
                setattr(kind, name, function)
        return function if instance is None else MethodType(function, instance)


field_of_arrow: Callable[[object], Field] = _Late("colkern.interchange", "import_field")
schema_of_arrow: Callable[[object], s.Schema] = _Late("colkern.interchange", "import_schema")
chosen: Callable[..., Any] = _Late("colkern.operations.keys", "chosen")
of_numpy: Callable[..., Any] = _Late("colkern.functions.operators", "of_numpy")
html: Callable[..., str] = _Late("colkern.arrays.display", "html")


def schema_capsule(
    self: DataType | Field | s.Schema | Array | ChunkedArray | Tabular | RecordBatchStream,
) -> object:
    """The type, field or schema as an `arrow_schema` capsule (Arrow PyCapsule interface)."""
    from colkern.interchange import export_schema

    if isinstance(self, Array | ChunkedArray):
        return export_schema(self.type)
    return export_schema(self.schema if isinstance(self, Tabular | RecordBatchStream) else self)


# Values


def validate(
    self: Array | RecordBatch, *, full: bool = False, skip: Collection[TypeRule] = ()
) -> None:
    """Check the array, or every column, against the format; see `colkern.operations.validate`."""
    from colkern.operations.validation import check

    check(self, full, skip)


def array_reduce(self: Array) -> tuple[object, ...]:
    """The parts for pickle. A slice shares whole buffers; only its own values are pickled."""
    from colkern.operations.selection.trimming import without_surplus

    own = without_surplus(self)
    parts = (own.buffers, own.children, own.dictionary, own.offset, own.known_null_count)
    return Array, (own.type, own.length, *parts)


# Interchange


def stream_capsule(self: RecordBatch | Table, requested_schema: object = None) -> object:
    """The batches as an `arrow_array_stream` capsule; nothing is copied."""
    from colkern.interchange import export_stream

    batches = self.batches if isinstance(self, Table) else (self,)
    return export_stream(RecordBatchStream(self.schema, batches), requested_schema)


def dlpack_device(self: Array) -> tuple[int, int]:
    """The kind of the device, as DLPack numbers them, and its ordinal."""
    from colkern.interchange.abi import CPU, CUDA

    device = self.device
    return (CPU if device.kind == "cpu" else CUDA), device.ordinal


def cuda_array_interface(self: Array) -> dict[str, object]:
    """The values by the CUDA array interface, version 3. Not copied.

    Raises `AttributeError` on the host, and for an array that is not of integers or floats or has
    nulls; the message says which.
    """
    from colkern.interchange import cuda_array_interface

    try:
        return cuda_array_interface(self)
    except UnsupportedError as error:
        raise AttributeError(str(error)) from None


# Columns and tables of other libraries


def to_pyarrow(self: Array | ChunkedArray | RecordBatch | Table) -> Any:
    """The same data as pyarrow's class for it; nothing is copied.

    Raises:
        ModuleNotFoundError: If pyarrow is not installed.
    """
    import pyarrow as pa

    makers = {Array: pa.array, ChunkedArray: pa.chunked_array, RecordBatch: pa.record_batch}
    return next((make for kind, make in makers.items() if isinstance(self, kind)), pa.table)(self)


def to_pandas(self: Array | ChunkedArray | RecordBatch | Table, *, arrow: bool = False) -> Any:
    """A `Series` or a `DataFrame` of pandas, made by pyarrow.

    Args:
        arrow: Whether columns are Arrow's (`pandas.ArrowDtype`), of which nothing is copied; else they
            are NumPy's, with NaN or None for nulls.

    Raises:
        ModuleNotFoundError: If pyarrow or pandas is not installed.
    """
    if not arrow:
        return to_pyarrow(self).to_pandas()
    import pandas as pd

    return to_pyarrow(self).to_pandas(types_mapper=pd.ArrowDtype)


def to_polars(self: Array | ChunkedArray | RecordBatch | Table) -> Any:
    """A `Series` or a `DataFrame` of polars; copied only where polars stores a type in another way.

    Raises:
        ModuleNotFoundError: If polars is not installed.
    """
    import polars as pl

    return pl.DataFrame(self) if isinstance(self, Tabular) else pl.Series(self)


# Chunks, keys and rows


def combine_chunks(self: Any) -> Any:
    """The values as one array, or the rows as a table of one batch; copied if they are in several."""
    from colkern.operations import chunks

    if isinstance(self, ChunkedArray):
        return chunks.combined(self)
    return Table([chunks.one_batch(self)])


def filter_rows(self: Rows, mask: object) -> Rows:
    """The rows where a mask is true.

    Args:
        mask: Booleans, as `colkern.filter` takes them; or a row function, as `with_column` takes it,
            that returns them.
    """
    from colkern.jit.over_tables import column_for
    from colkern.operations import filter

    rows: Rows = filter(self, column_for(self, mask))
    return rows


def from_structs(cls: type[Rows], array: Array | ChunkedArray) -> Rows:
    """The fields of structs as columns, which are null where a struct is.

    Raises:
        TypeError: If the column has no structs.
    """
    from colkern.operations import struct_flatten

    columns: Any = struct_flatten(array)
    whole = Table.from_columns(s.Schema(array.type.storage.fields), columns)
    rows: Any = whole if cls is Table else combine_chunks(whole).batches[0]
    return cast("Rows", rows)


def with_column(self: Rows, name: str, column: object) -> Rows:
    """A table with one more column, or with the column of that name replaced.

    Args:
        name: The name of the column.
        column: An array or a chunked array of any library, or one of NumPy; values in a list; one value
            for all rows; or a row function (`colkern.udf`, or a plain function, which is made one),
            whose parameters are named after columns. A function with one parameter that is no column's
            name gets the row.

    Raises:
        ValueError: If there are not as many values as rows.

    Also raises what the row function raises.
    """
    from colkern.jit.over_tables import column_for, with_column

    table: Rows = with_column(self, name, column_for(self, column))
    return table


def sort_by(
    self: Rows,
    sort_keys: SortKeys | str,
    order: Order = "ascending",
    *,
    null_placement: Placement = "at_end",
) -> Rows:
    """The rows sorted by one column, or by several; see `colkern.sort_indices`."""
    from colkern.operations import sort_indices, take

    places = sort_indices(self, sort_keys, order=order, null_placement=null_placement)
    rows: Rows = take(self, places)
    return rows


def top_rows(self: Rows, k: int, sort_keys: SortKeys | str) -> Rows:
    """The `k` rows with the greatest values, the greatest first; see `colkern.top_k`."""
    from colkern.operations import take, top_k

    rows: Rows = take(self, top_k(self, k, sort_keys))
    return rows


def fill_rows(self: Rows, values: object) -> Rows:
    """The rows with values in place of nulls.

    Args:
        values: A value for all columns, or a dict from column names to values, each as
            `colkern.fill_null` takes it.

    Raises:
        KeyError: If there is no such column.
        TypeError, ValueError: If a value does not fit the type of its column; names the column.
    """
    from colkern.operations import fill_null

    by_name = values if isinstance(values, Mapping) else dict.fromkeys(self.column_names, values)
    rows = self
    for name, value in by_name.items():
        try:
            rows = with_column(rows, name, fill_null(self.column(name), value))
        except (TypeError, ValueError) as error:
            raise type(error)(f"column {name!r}: {error}") from None
    return rows


def group_rows(self: Rows, *keys: KeysOfRows) -> GroupBy[Rows]:
    """Groups of the rows with equal values in some columns; see `colkern.group_by`."""
    from colkern.operations import group_by

    return group_by(self, self.positions(*keys))


def join_rows(
    self: Rows,
    right: Tabular,
    keys: Keys | None = None,
    right_keys: Keys | None = None,
    how: JoinType = "inner",
    *,
    on: Keys | None = None,
    **options: object,
) -> Rows:
    """The rows joined with those of another table that have equal keys; see `colkern.join`.

    Args:
        right, keys, right_keys, how, options: As for `colkern.join`.
        on: Another name of `keys`.
    """
    from colkern.operations import join

    if how == "cross" and keys is None:
        keys = ()
    if (keys is None) == (on is None):
        raise TypeError(
            "join: expected the columns of the keys, as either `keys` or `on`, and `right_keys` for those "
            "of the right side if they have other names"
        )
    # Tables are taken as batches are.
    left: Any = self
    other: Any = right
    joined: Any = join(left, other, on if keys is None else keys, right_keys, how, **options)  # type: ignore[arg-type]
    rows: Rows = joined
    return rows


def nbytes(self: Column | Tabular) -> int:
    """The bytes of all buffers. A shared buffer counts once; a slice counts its buffers whole."""
    from colkern.operations.moving import buffers_of

    value: Any = self
    return sum({buffer.address: buffer.size for buffer in buffers_of(value)}.values())


def write_ipc(self: RecordBatch | Table, target: object, **options: Any) -> None:
    """Write the rows to an Arrow file, also at a URL that fsspec knows; see `colkern.ipc.write_file`."""
    from colkern.ipc import write_file
    from colkern.ipc.writing.sinks import created

    if isinstance(target, str | os.PathLike):
        with created(target) as file:
            write_file(file, self, **options)
    else:
        write_file(target, self, **options)


# Operators


def _operator(name: str, reflected: bool = False) -> Callable[..., Any]:
    """The method of an operator, by the name of its operation."""

    def apply(self: Column, *other: object) -> Any:
        from colkern.functions.operators import applied

        return applied(name, *other, self) if reflected else applied(name, self, *other)

    return apply


def _no_truth(self: Column) -> bool:
    """Raise `TypeError`: a column has no single truth value for an `if` of a comparison."""
    raise TypeError(
        "the truth of a column is not one value: use any() or all() of a boolean column, "
        "a.equals(b) to compare whole columns, or len() for the number of values"
    )


_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "mod",
    "pow": "power",
    "and": "bit_wise_and",
    "or": "bit_wise_or",
    "xor": "bit_wise_xor",
    "lshift": "shift_left",
    "rshift": "shift_right",
}

OPERATORS: Mapping[str, Callable[..., Any]] = {
    **{f"__{sign}__": _operator(name) for sign, name in _BINARY.items()},
    # Bit-wise operations take a number on their right side only, and commute.
    **{
        f"__r{sign}__": _operator(name, reflected=not name.startswith("bit_wise"))
        for sign, name in _BINARY.items()
    },
    "__divmod__": lambda self, other: (self // other, self % other),
    "__rdivmod__": lambda self, other: (other // self, other % self),
    "__eq__": _operator("equal"),
    "__ne__": _operator("not_equal"),
    "__lt__": _operator("less"),
    "__le__": _operator("less_equal"),
    "__gt__": _operator("greater"),
    "__ge__": _operator("greater_equal"),
    "__neg__": _operator("negate"),
    "__pos__": lambda self: self,
    "__abs__": _operator("abs"),
    "__round__": lambda self, ndigits=0: self.round(ndigits),
    "__invert__": _operator("bit_wise_not"),
    "__bool__": _no_truth,
}
"""Method of an operator → what is bound to arrays and chunked arrays."""


# Compiled functions


def numba_type(self: Array | RecordBatch | RecordBatchStream) -> object:
    """The Numba type of the array, batch or stream in compiled functions; see `colkern.jit`. Not copied."""
    from colkern.jit.views.column_operations import batch_type, column_type, stream_type

    if isinstance(self, Array):
        return column_type(self.type)
    return batch_type(self.schema) if isinstance(self, RecordBatch) else stream_type(self.schema)


_SCHEMA = {"__arrow_c_schema__": schema_capsule}
_COMPILED = {"_numba_type_": property(numba_type)}
_OF_DATA = {
    **_SCHEMA,
    "nbytes": property(nbytes),
    "_repr_html_": html,
    "_chosen": chosen,
    "to_pyarrow": to_pyarrow,
    "to_pandas": to_pandas,
    "to_polars": to_polars,
}
"""The methods of columns and of tables."""
_OF_COLUMNS = {
    **_OF_DATA,
    "__repr__": _Late("colkern.arrays.display", "column_repr"),
    "equals": _Late("colkern.arrays.equality", "equals"),
    "to_numpy": _Late("colkern.arrays.values", "to_numpy"),
    "__array__": _Late("colkern.arrays.values", "to_numpy"),
    "__array_ufunc__": of_numpy,
}

METHODS: Mapping[type, Mapping[str, Any]] = {
    DataType: {**_SCHEMA, "of": staticmethod(s.as_type)},
    Field: {**_SCHEMA, "from_arrow": staticmethod(field_of_arrow)},
    s.Schema: {**_SCHEMA, "from_arrow": staticmethod(schema_of_arrow)},
    s.Extension: {"_spelled": text_of},
    Array: {
        **_OF_COLUMNS,
        **_COMPILED,
        "to_pylist": _Late("colkern.arrays.values", "to_pylist"),
        "validate": validate,
        "__reduce__": array_reduce,
        "__arrow_c_array__": _Late("colkern.interchange", "export_array"),
        "__arrow_c_device_array__": _Late("colkern.interchange", "export_device_array"),
        "__dlpack__": _Late("colkern.interchange", "export_tensor"),
        "__dlpack_device__": dlpack_device,
        "__cuda_array_interface__": property(cuda_array_interface),
    },
    ChunkedArray: {
        **_OF_COLUMNS,
        "combine_chunks": combine_chunks,
        "__arrow_c_stream__": _Late("colkern.interchange", "export_chunks"),
    },
    Tabular: {
        **_OF_DATA,
        "__repr__": _Late("colkern.arrays.display", "rows_repr"),
        "filter": filter_rows,
        **{
            name: _Late("colkern.operations", name)
            for name in ("describe", "drop_null", "explode", "join_asof", "take", "unique")
        },
        "with_column": with_column,
        "fill_null": fill_rows,
        "sort_by": sort_by,
        "top_k": top_rows,
        "group_by": group_rows,
        "join": join_rows,
        **{
            name: _Late("colkern.files", name)
            for name in ("write_csv", "write_json", "write_parquet")
        },
        "write_ipc": write_ipc,
        "__arrow_c_stream__": stream_capsule,
    },
    RecordBatch: {
        **_COMPILED,
        "validate": validate,
        "__arrow_c_array__": _Late("colkern.interchange", "export_batch"),
        "__arrow_c_device_array__": _Late("colkern.interchange", "export_device_batch"),
        "from_struct_array": classmethod(from_structs),
    },
    Table: {"combine_chunks": combine_chunks, "from_struct_array": classmethod(from_structs)},
    RecordBatchStream: {
        **_SCHEMA,
        **_COMPILED,
        "__arrow_c_stream__": _Late("colkern.interchange", "export_stream"),
        "__arrow_c_device_stream__": _Late("colkern.interchange", "export_device_stream"),
    },
}
"""Class → name → what is bound to it."""


_METHOD_IN_STUB = re.compile(r"^    def (\w+)\(", re.MULTILINE)


def bind_methods() -> None:
    """Bind the functions to their classes; `colkern/__init__` calls it."""
    stub = pkgutil.get_data("colkern.arrays", "column.pyi")
    assert stub is not None
    from colkern import functions

    of_rows = frozenset(dir(functions))
    for name in _METHOD_IN_STUB.findall(stub.decode()):
        if name not in OPERATORS:
            home = "colkern.functions" if name in of_rows else "colkern.operations"
            setattr(Column, name, _Late(home, name))
        if name.startswith("utf8_"):
            twin = name.replace("utf8_", "ascii_")
            setattr(Column, twin, Elsewhere(twin, f"{name}(), which takes all characters"))
    for kind, names in ((Column, OF_COLUMNS), (Tabular, OF_TABLES)):
        for name, hint in names.items():
            setattr(kind, name, Elsewhere(name, hint))
    for name, operator in OPERATORS.items():
        setattr(Column, name, operator)
    for owner, methods in METHODS.items():
        for name, method in methods.items():
            setattr(owner, name, method)
