"""`group_by`: aggregates of columns by the values of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeAlias, runtime_checkable

import numpy as np

from colkern.arrays import Array, RecordBatch, Table
from colkern.arrays.tabular import Rows
from colkern.errors import UnsupportedError, shown
from colkern.forks import cached_property
from colkern.names import Elsewhere
from colkern.operations.arguments import Kind, operation
from colkern.operations.chunks import one_batch
from colkern.operations.devices import device_of, one_device
from colkern.operations.group_aggregates import AGGREGATES, GroupedRows
from colkern.operations.grouping import Groups, key_groups
from colkern.operations.moving import to_host
from colkern.operations.operands import integers
from colkern.operations.position_checks import require_valid
from colkern.operations.selection.taking import take
from colkern.targets import target_of


@runtime_checkable
class GroupReducer(Protocol):
    """A reducer of the rows of each group, such as a `ck.reducer`."""

    __name__: str

    def reduce_groups(self, columns: Sequence[Array], groups: Groups) -> Array:
        """A result for each group."""


Columns: TypeAlias = str | int | Sequence[str | int]
Aggregation: TypeAlias = (
    tuple[Columns, str | GroupReducer] | tuple[Columns, str | GroupReducer, dict[str, Any]]
)
Functions: TypeAlias = str | GroupReducer | Sequence[str | GroupReducer]

_NO_OPTIONS: Mapping[str, Any] = {}


@operation(kind=Kind.JOINING)
def group_by(data: Rows, keys: Columns) -> GroupBy[Rows]:
    """The groups of the rows that have equal values in some columns, to be aggregated::

        ck.group_by(batch, "city").aggregate([("price", "sum"), ("price", "max")])

    Keys are of any type but unions. Nulls are one key, NaNs another, and 0.0 and -0.0 are the same, within
    lists and structs, too; encoded keys are compared by their values. Groups come in the order of their
    first rows.

    Args:
        data: The rows; the batches of a table are joined first.
        keys: The names or positions of the columns; with none, all rows are one group.

    Raises:
        KeyError: If there is no such column.
    """
    chosen = [keys] if isinstance(keys, str | int) else list(keys)
    assert isinstance(data, RecordBatch | Table)
    rows = one_batch(data) if isinstance(data, Table) else data
    for key in chosen:
        require_valid(rows.column(key))
    return GroupBy(rows, [rows.schema.index(key) for key in chosen], isinstance(data, Table))


def _listed(functions: Functions) -> Sequence[str | GroupReducer]:
    return [functions] if isinstance(functions, str | GroupReducer) else functions


def _of_columns(function: str) -> Callable[..., Any]:
    """The method `function` of `GroupBy`, for some columns or for all that are no keys."""

    def method(self: GroupBy[Any], *columns: Columns) -> Any:
        places = self._data.positions(*columns) or self._others()
        return self.aggregate([(k, function) for k in places])

    method.__name__ = function
    method.__doc__ = f"One row for each group, with the {function} of some columns, or of all."
    return method


class GroupBy(Generic[Rows]):
    """Rows grouped by the values of some columns; made by `group_by`.

    Args:
        keys: The positions of the columns.
        of_table: Whether the results are tables, as the data was.
    """

    def __init__(self, data: RecordBatch, keys: Sequence[int], of_table: bool = False) -> None:
        self._data = data
        self._keys = list(keys)
        self._of_table = of_table

    def _others(self) -> list[int]:
        """The positions of the columns that are no keys."""
        return [k for k in range(self._data.num_columns) if k not in self._keys]

    @cached_property
    def _groups(self) -> Groups:
        if self._keys:
            return key_groups([self._data.column(key) for key in self._keys])
        target = target_of(device_of(self._data.columns))
        numbers = target.allocate(self._data.length, np.uint32)
        return Groups(numbers, target.allocate(1, np.int64))

    @cached_property
    def _rows(self) -> GroupedRows:
        keys = [self._data.column(key) for key in self._keys]
        target = target_of(device_of(keys or self._data.columns))
        return GroupedRows(target, self._groups.numbers, len(self._groups.firsts))

    def aggregate(
        self,
        aggregations: Sequence[Aggregation] | Mapping[str, Functions] | str = (),
        **named: Aggregation,
    ) -> Rows:
        """One row for each group: its keys, and then the aggregates, named `column_function`.

        Nulls are left out, as by pyarrow; where no value is left, the result is null (of counts, 0).

        ================================  ============================================================
        function                          gives
        ================================  ============================================================
        "sum"                             as `colkern.sum`, but of decimals as `cumulative_sum`
        "mean"                            as `colkern.mean`
        "product"                         as `colkern.product`
        "min", "max"                      of every type that has an order; NaN only if all values are
        "count"                           of values, or with `mode` "only_null" or "all" of others
        "count_all"                       of rows; of no column: `([], "count_all")`
        "count_distinct"                  of different values; `mode` as before
        "first", "last"                   the first or the last value that is not null
        "list"                            a list of all values, nulls as well, in the order of the rows
        "any", "all"                      of booleans
        "variance", "stddev"              float64; divided by the number of values less `ddof` (0)
        "quantile", "median"              exact, by `q` (0.5) and `interpolation`, as `quantile`
        a `ck.reducer`                    its result; of one column or a list of them
        ================================  ============================================================

        Args:
            aggregations: Columns (names or positions), functions, and, if need be, a dict of options; or a
                dict of names of columns and a function, or a list of functions, for each; or one function
                for all columns that are no keys.
            named: More aggregations, by the names of their results.

        Raises:
            KeyError: If there is no such column.
            ValueError: If there is no such function.
            TypeError: If a function has no such option, or an aggregation is something else.
            UnsupportedError: If the values of a column have no such aggregate.
            OverflowError: If a sum of decimals needs more than 38 digits, of decimal256 76.
        """
        if isinstance(aggregations, str):
            aggregations = [(k, aggregations) for k in self._others()]
        elif isinstance(aggregations, Mapping):
            pairs = aggregations.items()
            aggregations = [(k, f) for k, functions in pairs for f in _listed(functions)]
        places = [(f"aggregations[{k}]", each) for k, each in enumerate(aggregations)]
        for name, aggregate in (*places, *named.items()):
            if not isinstance(aggregate, tuple | list) or len(aggregate) not in (2, 3):
                raise TypeError(
                    f"{name}: expected a column and a function, as ('price', 'sum'), got {shown(aggregate)}"
                )
        schema = self._data.schema
        names = [schema.names[key] for key in self._keys]
        results = [self._groups.keys(self._data.column(key)) for key in self._keys]
        for place, function, *_ in aggregations:
            own = [schema.names[k] for k in self._data.positions(place)]
            names.append(
                "_".join([*own, function if isinstance(function, str) else function.__name__])
            )
        try:
            for aggregation in (*aggregations, *named.values()):
                results.append(self._aggregated(*aggregation))
        finally:
            self._rows.forget()
        batch: Any = RecordBatch.from_arrays(results, [*names, *named])
        source: Any = Table([batch]) if self._of_table else batch
        rows: Rows = source
        return rows

    agg = aggregate

    def __iter__(self) -> Iterator[tuple[Any, Rows]]:
        """Each group's key and rows, in the order of the first rows; several keys are a tuple.

        The rows are sorted once, and the groups are slices.
        """
        target = self._rows.target
        order, bounds = [integers(target, items) for items in self._rows.by_group]
        rows = take(self._data, order)
        firsts = [self._groups.keys(self._data.column(key)) for key in self._keys]
        keys = [to_host(column).to_pylist() for column in firsts]
        for k, (start, end) in enumerate(pairwise(to_host(bounds).to_pylist())):
            group: Any = rows.slice(start, end - start)
            key = tuple([values[k] for values in keys])
            if self._of_table:
                group = Table([group])
            yield key[0] if len(key) == 1 else key, group

    def _aggregated(
        self,
        place: Columns,
        function: str | GroupReducer,
        options: Mapping[str, object] = _NO_OPTIONS,
    ) -> Array:
        columns = [self._data.column(key) for key in self._data.positions(place)]
        keys = [self._data.column(key) for key in self._keys]
        names = [self._data.schema.names[k] for k in (*self._keys, *self._data.positions(place))]
        one_device([*keys, *columns], *names)
        for column in columns:
            require_valid(column)
        if isinstance(function, GroupReducer):
            return function.reduce_groups(columns, self._groups)
        if function not in AGGREGATES:
            raise ValueError(
                f"aggregations: no function {function!r}; there are {', '.join(AGGREGATES)}"
            )
        if function == "count_all" and not columns:
            columns = [self._rows.column]
        if len(columns) != 1:
            raise ValueError(f"aggregations: {function} is of one column, got {len(columns)}")
        try:
            return self._rows.aggregate(function, columns[0], **options)
        except UnsupportedError as error:
            (position,) = self._data.positions(place)
            raise UnsupportedError(f"{self._data.schema.names[position]}: {error}") from None

    len = Elsewhere("len", 'aggregate([([], "count_all")])')
    size = Elsewhere("size", 'aggregate([([], "count_all")])')
    std = Elsewhere("std", 'aggregate([(column, "stddev", {"ddof": 1})])')
    var = Elsewhere("var", 'aggregate([(column, "variance", {"ddof": 1})])')
    n_unique = Elsewhere("n_unique", "count_distinct(column)")
    nunique = Elsewhere("nunique", "count_distinct(column)")
    apply = Elsewhere("apply", "aggregate with a colkern.reducer")

    count = _of_columns("count")
    sum = _of_columns("sum")
    mean = _of_columns("mean")
    min = _of_columns("min")
    max = _of_columns("max")
    first = _of_columns("first")
    last = _of_columns("last")
    count_distinct = _of_columns("count_distinct")
    median = _of_columns("median")
