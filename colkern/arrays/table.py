"""`Table`: record batches of one schema, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, ClassVar, overload

from colkern.arrays.array import Array
from colkern.arrays.batch import RecordBatch
from colkern.arrays.chunked import ChunkedArray, chunks_of, cut_alike, cut_at, cut_out
from colkern.arrays.tabular import Tabular
from colkern.errors import InvalidArrowError
from colkern.integers import slice_bounds
from colkern.schema import Field, Schema, same_type

if TYPE_CHECKING:
    from colkern import methods
    from colkern.arrays.tabular import Chosen


class Table(Tabular):
    """Named columns of one length, in several batches. Columns are as lazy as those of the batches.

    Args:
        batches: Batches of one schema, none of which is copied.
        schema: Their schema; needed if there are no batches.

    Raises:
        ValueError: If there is neither a batch nor a schema.
        TypeError: If one of `batches` is no batch.
        InvalidArrowError: If the columns of a batch have other names or types.
    """

    __slots__ = ("_batches", "_columns", "_source", "length", "schema")

    if TYPE_CHECKING:
        from_struct_array: ClassVar[Callable[[Array | ChunkedArray], Table]]
        combine_chunks = methods.combine_chunks
        __arrow_c_schema__ = methods.schema_capsule
        __arrow_c_stream__ = methods.stream_capsule

    def __init__(self, batches: Iterable[RecordBatch], schema: Schema | None = None) -> None:
        chunks = tuple(batches)
        if schema is None:
            if not chunks:
                raise ValueError("batches: without one, the schema is needed")
            schema = chunks[0].schema
        self.schema = schema
        for number, batch in enumerate(chunks):
            if not isinstance(batch, RecordBatch):
                got = type(batch).__name__
                raise TypeError(f"batches[{number}]: expected a RecordBatch, got {got}")
            if batch.schema is not schema:
                _check_alike(batch.schema, schema, f"batches[{number}]")
        self.length = sum([batch.length for batch in chunks])
        self._batches: tuple[RecordBatch, ...] | None = chunks
        # The table that this one takes columns of, and their positions there; its batches are built
        # when they are asked for.
        self._source: tuple[Table, list[int]] | None = None
        # Those that have been asked for.
        self._columns: dict[int, ChunkedArray] = {}

    @classmethod
    def from_columns(cls, schema: Schema, columns: Sequence[Array | ChunkedArray]) -> Table:
        """A table of columns of one length; each is cut where a chunk of any other ends.

        Raises:
            ValueError: If there are not as many columns as fields, or lengths differ.
            InvalidArrowError: If a column does not have the type of its field.
        """
        if len(columns) != len(schema):
            raise ValueError(f"columns: {len(columns)} columns for {len(schema)} fields")
        for field, column in zip(schema, columns, strict=True):
            if column.length != columns[0].length:
                raise ValueError(
                    f"{field.name}: {column.length} values, {schema.names[0]} has "
                    f"{columns[0].length}"
                )
        sides = cut_alike([chunks_of(column) for column in columns])
        batches = [RecordBatch(schema, parts) for parts in zip(*sides, strict=True)]
        return cls(batches, schema)

    @property
    def batches(self) -> tuple[RecordBatch, ...]:
        """The batches; nothing is copied."""
        batches = self._batches
        if batches is None:
            assert self._source is not None
            source, positions = self._source
            batches = tuple(each._with_schema(self.schema, positions) for each in source.batches)
            self._batches = batches
        return batches

    @property
    def num_batches(self) -> int:
        """The number of batches."""
        return len(self.batches)

    def to_batches(self) -> list[RecordBatch]:
        """The batches; nothing is copied."""
        return list(self.batches)

    def column(self, key: int | str) -> ChunkedArray:
        """The column at a position or with a name; raises `KeyError` or `IndexError` if there is none."""
        position = self.schema.index(key)
        if self._source is not None:
            source, positions = self._source
            return source.column(positions[position])
        column = self._columns.get(position)
        if column is None:
            chunks = [
                batch._loaded(position) if (own := batch._columns[position]) is None else own
                for batch in self.batches
            ]
            column = ChunkedArray(chunks, self.schema.field(position).type)
            self._columns[position] = column
        return column

    @property
    def columns(self) -> list[ChunkedArray]:
        """All columns, decoded."""
        parts = [batch.columns for batch in self.batches]
        chunks = zip(*parts, strict=True) if parts else repeat(())
        return list(map(ChunkedArray, chunks, self.schema.types))

    @overload
    def __getitem__(self, key: int | str) -> ChunkedArray: ...
    @overload
    def __getitem__(self, key: Chosen) -> Table: ...
    def __getitem__(self, key: int | str | Chosen) -> ChunkedArray | Table:
        """A column by position or name; columns by a list of names; or rows: see `RecordBatch`."""
        if isinstance(key, str):
            return self.column(key)
        rows: Table = self._chosen(key)
        return rows

    def __iter__(self) -> Iterator[ChunkedArray]:
        """The columns."""
        return iter(self.columns)

    def slice(self, offset: int, length: int | None = None) -> Table:
        """`length` rows from `offset` on (all, if None); as lazy as this table; see `Array.slice`."""
        offset, count = slice_bounds(offset, length, self.length, "rows")
        return Table(cut_out(self.batches, offset, count), self.schema)

    def cut_at(self, ends: Sequence[int]) -> Table:
        """The same rows in batches that end at `ends`, which must include the ends of all batches."""
        return Table(cut_at(self.batches, ends), self.schema)

    def map_batches(self, function: Callable[[RecordBatch], RecordBatch]) -> Table:
        """A table of the batches that `function` returns for each batch; all must have one schema."""
        batches = [function(batch) for batch in self.batches]
        return Table(batches, None if batches else self.schema)

    def _with_schema(self, schema: Schema, positions: list[int]) -> Table:
        source = self
        if self._source is not None:
            source, own = self._source
            positions = [own[i] for i in positions]
        chosen = Table((), schema)
        chosen.length = self.length
        chosen._source, chosen._batches = (source, positions), None
        return chosen

    def validate(self, *, full: bool = False) -> None:
        """Check every batch against the format; see `colkern.operations.validate`."""
        for batch in self.batches:
            batch.validate(full=full)

    def __reduce__(self) -> tuple[object, ...]:
        return Table, (self.batches, self.schema)


def _check_alike(own: Schema, schema: Schema, place: str) -> None:
    """Raise `InvalidArrowError` unless a batch has columns of the schema's names and types."""
    if own.names != schema.names or not all(map(same_type, own.types, schema.types)):
        raise InvalidArrowError(
            f"batch of {_words(own)} in a table of {_words(schema)}", place=place
        )


def _words(schema: Schema) -> str:
    fields: Sequence[Field] = schema.fields
    return ", ".join(map(str, fields[:10])) + (", …" if len(fields) > 10 else "")
