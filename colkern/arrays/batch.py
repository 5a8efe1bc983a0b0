"""`RecordBatch`: columns of one length under a schema; `RecordBatchStream`: an iterator over batches.

Columnar format 1.5: "Encapsulated message format".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

from colkern.arrays.array import Array
from colkern.arrays.tabular import Tabular, no_numpy_array
from colkern.errors import InvalidArrowError
from colkern.forks import Lock
from colkern.integers import integer, slice_bounds
from colkern.memory import Device
from colkern.names import PublicNames
from colkern.schema import Field, Schema, same_type

if TYPE_CHECKING:
    from colkern import interchange, methods
    from colkern.arrays.chunked import ChunkedArray
    from colkern.arrays.tabular import Chosen


# The key, in place of a column's position, of the lock for all columns.
_ALL_COLUMNS = -1


class RecordBatch(Tabular):
    """Columns of one length under a schema. Columns may be decoded only when they are asked for.

    Args:
        columns: One array for each field, of the field's type (see `colkern.schema.same_type`).
        length: The number of rows; needed if there are no columns.
        metadata: Key-value pairs of bytes that came with the batch.
    """

    __slots__ = (
        "_columns",
        "_load",
        "_load_many",
        "_loading",
        "_record",
        "length",
        "metadata",
        "schema",
    )

    if TYPE_CHECKING:
        from_struct_array: ClassVar[Callable[[Array | ChunkedArray], RecordBatch]]
        validate = methods.validate
        __arrow_c_schema__ = methods.schema_capsule
        __arrow_c_array__ = interchange.export_batch
        __arrow_c_device_array__ = interchange.export_device_batch
        __arrow_c_stream__ = methods.stream_capsule

    # The record for compiled code (colkern.jit.views.records), once it is made.
    _record: Any

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Array],
        length: int | None = None,
        metadata: Mapping[bytes, bytes] | None = None,
    ) -> None:
        if len(columns) != len(schema):
            raise ValueError(f"columns: {len(columns)} arrays for {len(schema)} fields")
        if length is None:
            length = len(columns[0]) if columns else 0
        self.length = integer(length, "length")
        if self.length < 0:
            raise ValueError(f"length: must not be negative, got {length}")
        for field, column in zip(schema, columns, strict=True):
            _check_column(field, column, self.length)
        self.schema = schema
        self.metadata = metadata
        self._columns: list[Array | None] = list(columns)
        self._load: Callable[[int], Array] | None = None
        self._load_many: Callable[[list[int]], list[Array]] | None = None
        # A lock for each column that is being made.
        self._loading: dict[int, Lock] = {}

    @classmethod
    def lazy(
        cls,
        schema: Schema,
        length: int,
        load: Callable[[int], Array],
        metadata: Mapping[bytes, bytes] | None = None,
        load_many: Callable[[list[int]], list[Array]] | None = None,
    ) -> RecordBatch:
        """A batch whose column `i` any thread makes by `load(i)` when it is first asked for.

        If several columns are asked for, `load_many`, if given, makes those that are missing. It is
        responsible for their types and lengths, which are not checked.
        """
        batch = cls.__new__(cls)
        batch.schema = schema
        batch.length = length
        batch.metadata = metadata
        batch._columns = [None] * len(schema)
        batch._load = load
        batch._load_many = load_many
        batch._loading = {}
        return batch

    @classmethod
    def from_arrays(cls, arrays: Sequence[Array], names: Sequence[str]) -> RecordBatch:
        """A batch of nullable columns with those names."""
        if len(arrays) != len(names):
            raise ValueError(f"names: {len(names)} names for {len(arrays)} arrays")
        pairs = [(name, array.type) for name, array in zip(names, arrays, strict=True)]
        return cls(Schema(pairs), arrays)

    def column(self, key: int | str) -> Array:
        """The column at a position or with a name; raises `KeyError` or `IndexError` if there is none."""
        position = self.schema.index(key)
        column = self._columns[position]
        return self._loaded(position) if column is None else column

    def _loaded(self, position: int) -> Array:
        with self._loading.setdefault(position, Lock()):
            # Another thread may have made it in the meantime.
            column = self._columns[position]
            if column is None:
                assert self._load is not None
                column = self._load(position)
                _check_column(self.schema.field(position), column, self.length)
                self._columns[position] = column
        return column

    @overload
    def __getitem__(self, key: int | str) -> Array: ...
    @overload
    def __getitem__(self, key: Chosen) -> RecordBatch: ...
    def __getitem__(self, key: int | str | Chosen) -> Array | RecordBatch:
        """A column by position or name; columns by a list of names; or rows.

        Rows are chosen by a slice (not copied if its step is 1), by a mask, or by positions.
        """
        if isinstance(key, str):
            return self.column(key)
        rows: RecordBatch = self._chosen(key)
        return rows

    @property
    def columns(self) -> list[Array]:
        """All columns, decoded."""
        return self.columns_at(range(len(self._columns)))

    def columns_at(self, positions: Sequence[int]) -> list[Array]:
        """The columns at those positions, not negative ones; those that are missing are made at once."""
        own = self._columns
        if self._load_many is not None and [i for i in positions if own[i] is None]:
            with self._loading.setdefault(_ALL_COLUMNS, Lock()):
                self._load_missing(positions)
        return [self._loaded(i) if (c := own[i]) is None else c for i in positions]

    def _load_missing(self, positions: Sequence[int]) -> None:
        own, load_many = self._columns, self._load_many
        assert load_many is not None
        missing = [i for i in positions if own[i] is None]
        for position, column in zip(missing, load_many(missing), strict=True):
            # Another thread may have asked for this one alone in the meantime.
            if own[position] is None:
                own[position] = column

    def __iter__(self) -> Iterator[Array]:
        """The columns."""
        return iter(self.columns)

    def slice(self, offset: int, length: int | None = None) -> RecordBatch:
        """`length` rows from `offset` on (all, if None); as lazy as this batch; see `Array.slice`."""
        offset, count = slice_bounds(offset, length, self.length, "rows")
        return RecordBatch.lazy(
            self.schema,
            count,
            lambda i: self.column(i).slice(offset, count),
            self.metadata,
            lambda chosen: [each.slice(offset, count) for each in self.columns_at(chosen)],
        )

    def _with_schema(self, schema: Schema, positions: list[int]) -> RecordBatch:
        return RecordBatch.lazy(
            schema,
            self.length,
            lambda i: self.column(positions[i]),
            self.metadata,
            lambda chosen: self.columns_at([positions[i] for i in chosen]),
        )

    def __reduce__(self) -> tuple[object, ...]:
        return RecordBatch, (self.schema, self.columns, self.length, self.metadata)


def _check_column(field: Field, column: Array, length: int) -> None:
    if not same_type(column.type, field.type):
        raise InvalidArrowError(f"array of {column.type} under {field}", place=field.name)
    if column.length != length:
        raise InvalidArrowError(f"{column.length} values in {length} rows", place=field.name)


class RecordBatchStream(PublicNames):
    """A schema and an iterator over batches with it; can be consumed once.

    Args:
        schema: The schema of every batch.
        device: The device of their bytes; None if that is not known before the batches are read.
    """

    if TYPE_CHECKING:
        __arrow_c_schema__ = methods.schema_capsule
        __arrow_c_stream__ = interchange.export_stream
        __arrow_c_device_stream__ = interchange.export_device_stream

    def __init__(
        self, schema: Schema, batches: Iterable[RecordBatch], device: Device | None = None
    ) -> None:
        self.schema = schema
        self.device = device
        self._batches = iter(batches)
        # Its columns and record, kept alive while compiled code runs.
        self._record: Any = None

    def __iter__(self) -> Iterator[RecordBatch]:
        return self._batches

    def __next__(self) -> RecordBatch:
        return next(self._batches)

    def read_all(self) -> list[RecordBatch]:
        """All batches that are left."""
        return list(self._batches)

    def __reduce__(self) -> Any:
        raise cannot_be_pickled(self)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        """Raise `TypeError`, with words for NumPy and pandas, which would make an array of batches."""
        raise no_numpy_array(self)


def cannot_be_pickled(obj: object) -> TypeError:
    """The error for pickling or copying an object that reads an open source."""
    return TypeError(
        f"a {type(obj).__name__} cannot be pickled or copied, since it reads an open source: pickle its "
        "batches, or open the source where they are needed"
    )
