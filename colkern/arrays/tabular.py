"""`Tabular`: the base of record batches and tables, with columns by name, and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from colkern.arrays.pandas_metadata import renamed_columns
from colkern.arrays.slots import Values
from colkern.integers import integer
from colkern.memory import Items
from colkern.names import PublicNames
from colkern.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from colkern import methods
    from colkern.arrays.column import Column

    Chosen: TypeAlias = slice | Column | Sequence[Any] | Items
    """A slice, a mask or positions; columns of other libraries are taken too."""

Rows = TypeVar("Rows", bound="Tabular")
Keys: TypeAlias = int | str | Iterable[int | str]
"""Columns by position or name."""


class Tabular(PublicNames):
    """Named columns of one length: the base of `RecordBatch` and `Table`."""

    __slots__ = ()

    schema: Schema
    length: int

    if TYPE_CHECKING:
        nbytes = property(methods.nbytes)

        # Operations with the same names.
        describe: Callable[[], Self]
        drop_null: Callable[..., Self]
        explode: Callable[..., Self]
        take: Callable[..., Self]
        join_asof: Callable[..., Self]
        unique: Callable[..., Self]
        write_csv: Callable[..., None]
        write_json: Callable[..., None]
        write_parquet: Callable[..., None]

        with_column = methods.with_column
        fill_null = methods.fill_rows
        top_k = methods.top_rows
        write_ipc = methods.write_ipc
        filter = methods.filter_rows
        sort_by = methods.sort_by
        group_by = methods.group_rows
        join = methods.join_rows
        to_pyarrow = methods.to_pyarrow
        to_pandas = methods.to_pandas
        to_polars = methods.to_polars
        _chosen = methods.chosen
        _repr_html_ = methods.html

    # A table makes its columns' chunks when asked for them; a batch, its arrays.
    def column(self, key: int | str) -> Any:
        """The column at a position or with a name; raises `KeyError` or `IndexError` if there is none."""
        raise NotImplementedError

    def slice(self: Rows, offset: int, length: int | None = None) -> Rows:
        """`length` rows from `offset` on (all that follow, if None); nothing is copied."""
        raise NotImplementedError

    def _with_schema(self: Rows, schema: Schema, positions: list[int]) -> Rows:
        """The columns at those positions, under the schema given for them."""
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.length

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return len(self.schema)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self.length, len(self.schema)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names

    @property
    def columns(self) -> list[Any]:
        """All columns, decoded."""
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of that name."""
        return isinstance(name, str) and name in self.schema.names

    def __len__(self) -> int:
        return self.length

    def equals(self, other: Self) -> bool:
        """Whether names and columns are equal; chunks, metadata and `nullable` are not compared."""
        return (
            isinstance(other, type(self))
            and self.length == other.length
            and self.schema.names == other.schema.names
            and all(a.equals(b) for a, b in zip(self.columns, other.columns, strict=True))
        )

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, type(self)) else NotImplemented

    def head(self: Rows, rows: int = 5) -> Rows:
        """The first rows; nothing is copied."""
        return self.slice(0, min(_count(rows), self.length))

    def tail(self: Rows, rows: int = 5) -> Rows:
        """The last rows; nothing is copied."""
        return self.slice(self.length - min(_count(rows), self.length))

    def select(self: Rows, *keys: Keys) -> Rows:
        """The columns at those positions or with those names, in that order; none is decoded.

        Keys are given one by one, or in a list.
        """
        return self._of(self.positions(*keys))

    def drop(self: Rows, *keys: Keys) -> Rows:
        """All columns but those at the given positions or with the given names; none is decoded."""
        left_out = set(self.positions(*keys))
        return self._of([i for i in range(len(self.schema)) if i not in left_out])

    def positions(self, *keys: Keys) -> list[int]:
        """The positions of columns that are given by name or position, one by one or in lists.

        Raises:
            KeyError, IndexError: If there is no such column.
        """
        positions: list[int] = []
        for key in keys:
            if isinstance(key, str) or not isinstance(key, Iterable):
                positions.append(self.schema.index(key))
            elif hasattr(key, "to_pylist"):
                got = type(key).__name__
                raise TypeError(f"keys: expected names or positions of columns, got a {got}")
            else:
                positions += map(self.schema.index, key)
        return positions

    def _of(self: Rows, positions: list[int]) -> Rows:
        fields = self.schema.fields
        chosen = Schema(tuple([fields[i] for i in positions]), self.schema.metadata)
        return self._with_schema(chosen, positions)

    def rename(self: Rows, names: Mapping[str, str] | Iterable[str] | Callable[[str], str]) -> Rows:
        """The same columns under other names; nothing is copied.

        Args:
            names: Old names and new ones; all new names, in order; or a function from old to new names.

        Raises:
            KeyError: If there is no column of an old name.
            ValueError: If there are not as many names as columns.
        """
        fields = list(self.schema.fields)
        if isinstance(names, Mapping):
            for old, new in names.items():
                position = self.schema.index(old)
                fields[position] = fields[position].with_name(new)
        else:
            renamed = list(map(names, self.schema.names) if callable(names) else names)
            if len(renamed) != len(fields):
                raise ValueError(f"names: {len(renamed)} names for {len(fields)} columns")
            fields = [field.with_name(name) for field, name in zip(fields, renamed, strict=True)]
        changed = dict(zip(self.schema.names, [field.name for field in fields], strict=True))
        schema = Schema(tuple(fields), renamed_columns(self.schema.metadata, changed))
        return self._with_schema(schema, list(range(len(fields))))

    def to_pydict(self) -> dict[str, Values]:
        """Name → values as Python objects; of columns with the same name, the last is kept."""
        return {name: self.column(i).to_pylist() for i, name in enumerate(self.schema.names)}

    def to_pylist(self) -> list[dict[str, Any]]:
        """A dict for each row, from column name to value."""
        columns = self.to_pydict()
        return [{name: values[i] for name, values in columns.items()} for i in range(self.length)]

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        """Raise `TypeError`, with words for NumPy and pandas: each column has its own type."""
        raise no_numpy_array(self)

    __hash__ = None  # type: ignore[assignment]


def _count(rows: int) -> int:
    rows = integer(rows, "rows")
    if rows < 0:
        raise ValueError(f"rows: must not be negative, got {rows}")
    return rows


def no_numpy_array(obj: object) -> TypeError:
    """The error for a table that is asked for as one array."""
    return TypeError(
        f"a {type(obj).__name__} is a table, not one array: take a column of a batch, or make a data "
        "frame with pandas.DataFrame.from_arrow, polars.DataFrame or pyarrow.table"
    )
