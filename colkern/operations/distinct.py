"""`unique`, `value_counts`, `count_distinct` and `mode`: the distinct values of an array."""

from __future__ import annotations

from typing import overload

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.arrays.tabular import Keys
from colkern.bitmaps import packed_bits
from colkern.layouts import Role
from colkern.operations.aggregates.encodings import is_enough
from colkern.operations.aggregates.functions import CountMode, count
from colkern.operations.arguments import operation
from colkern.operations.devices import one_device
from colkern.operations.encodings import decoded
from colkern.operations.group_aggregates import GroupedRows
from colkern.operations.grouping import first_rows, key_groups
from colkern.operations.operands import integers
from colkern.operations.position_checks import require_valid
from colkern.operations.selection import take, take_positions
from colkern.operations.sorting import SortKey, drop_nulls, few_counts, ordered_positions
from colkern.operations.structs import make_struct
from colkern.targets import Items, Target, target_of


@overload
def unique(data: Array) -> Array: ...
@overload
def unique(data: RecordBatch, keys: Keys | None = None) -> RecordBatch: ...
@operation
def unique(data: Array | RecordBatch, keys: Keys | None = None) -> Array | RecordBatch:
    """The distinct values of an array, or rows of a batch, in the order of first occurrence; copied.

    Null counts as one value, NaN as another, and 0.0 and -0.0 are the same; see `group_by`.

    Args:
        data: The values, or the rows.
        keys: The names or positions of the columns of a batch to compare, or None for all. Of rows that
            are equal in these columns, the first is kept.

    Raises:
        KeyError, IndexError: If there is no such column.
        UnsupportedError: If the data has unions.
        LimitExceededError: If there are 2^32 slots or more.
    """
    columns = data.columns if isinstance(data, RecordBatch) else [data]
    if not columns:
        return data
    for column in columns:
        require_valid(column)
    if isinstance(data, Array):
        return take_positions(data, first_rows(columns))
    one_device(columns, *data.column_names)
    counted = columns if keys is None else [columns[place] for place in data.positions(keys)]
    firsts = first_rows(counted)
    taken = [take_positions(column, firsts) for column in columns]
    return RecordBatch(data.schema, taken, len(firsts))


@operation
def value_counts(array: Array) -> Array:
    """Each distinct value and the number of its occurrences, as structs of "values" and "counts" (int64).

    Raises:
        UnsupportedError, LimitExceededError, InvalidArrowError: As `unique`.
    """
    require_valid(array)
    groups = key_groups([array])
    rows = GroupedRows(target_of(array.device), groups.numbers, len(groups.firsts))
    counts = rows.aggregate("count", array, mode="all")
    return make_struct([groups.keys(array), counts], ["values", "counts"])


@operation
def count_distinct(array: Array, mode: CountMode = "only_valid") -> int:
    """The number of distinct values; NaN counts as one, and 0.0 and -0.0 are the same.

    Args:
        array: Any array but a union.
        mode: `only_valid`; `only_null`, which gives 1 if there are nulls; or `all`, which counts null
            as one more value.

    Raises:
        ValueError: If there is no such mode.
        UnsupportedError, LimitExceededError, InvalidArrowError: As `unique`.
    """
    require_valid(array)
    return count(take_positions(array, first_rows([array])), mode)


@operation
def mode(array: Array, n: int = 1, *, skip_nulls: bool = True, min_count: int = 0) -> Array:
    """The `n` most frequent values, as structs of the fields "mode" and "count" (int64).

    The most frequent value is first; of values with the same count, the least is first. Nulls are
    ignored.

    Args:
        array: Values that have an order, as for `sort_indices`.
        n: The number of values; the result has fewer if there are not that many distinct ones.
        skip_nulls: If False, the result has no values if there is a null.
        min_count: The result has no values if there are fewer that are not null.

    Raises:
        ValueError: If `n` is less than 1.
        UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices` and `unique`.
    """
    if n < 1:
        raise ValueError(f"n: expected 1 at least, got {n}")
    require_valid(array)
    valid = drop_nulls(decoded(array))
    if not is_enough(array, skip_nulls, min_count):
        valid = valid.slice(0, 0)
    target = target_of(array.device)
    few = few_counts(valid)
    if few is not None:
        return make_struct(_most_frequent(target, valid, *few, n), ["mode", "count"])
    values, counts = value_counts(valid).children
    best = ordered_positions(target, [SortKey(counts, descending=True), SortKey(values)])[:n]
    rows = integers(target, best)
    return make_struct([take(values, rows), take(counts, rows)], ["mode", "count"])


def _most_frequent(target: Target, array: Array, least: int, counts: Items, n: int) -> list[Array]:
    """The `n` most frequent integers or booleans, and their counts, as `few_counts` gives them."""
    bound = 1
    if n < len(counts):
        # The greatest is found in a fraction of the time.
        most = counts.max() if n == 1 else np.partition(counts, -n)[-n]
        bound = max(int(most), 1)
    present = (counts >= bound).nonzero()[0]
    best = present[np.argsort(-counts[present], kind="stable")][:n]
    if isinstance(array.type.storage, s.Bool):
        values = packed_bits(target, best.astype(bool))
    else:
        dtype = array.layout.spec(Role.DATA).dtype
        words = best.astype(np.uint64) + np.uint64(least % (1 << 64))
        values = target.buffer(words.astype(f"u{dtype.itemsize}").view(dtype))
    chosen = Array.of_valid(array.type, len(best), (None, values), 0)
    return [chosen, integers(target, counts[best])]
