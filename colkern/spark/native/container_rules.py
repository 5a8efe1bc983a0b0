"""Rules for lists of the row, and for look-ups in constant lists, sets and dictionaries."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as f

from colkern.spark.native.rule import (
    Operand,
    Rule,
    Rules,
    as_index,
    literal,
    of_columns,
    where_null,
)

MOST_CONSTANTS = 64
"""The largest number of constants: Spark compares the keys of a map one after the other."""

_KEYS = (str, int, bytes, datetime.date, datetime.datetime, datetime.timedelta)
"""The types of keys. `float` is none: in Python NaN is unequal to itself as a key, in Spark it is equal."""


def _literals(values: Iterable[object], types: tuple[type, ...]) -> list[Column] | None:
    """Returns constants of one type as columns; None if there are none, too many, or constants of other
    types."""
    constants = list(values)
    if not 0 < len(constants) <= MOST_CONSTANTS or len({type(value) for value in constants}) != 1:
        return None
    columns = [literal(value) for value in constants]
    if type(constants[0]) not in types or any(column is None for column in columns):
        return None
    return [column for column in columns if column is not None]


def _is_in(value: Operand, container: Operand) -> Column | None:
    if not isinstance(container.constant, list | tuple | set | frozenset | dict):
        return None
    if not container.constant:
        return f.lit(False)
    constants = _literals(container.constant, _KEYS)
    return None if constants is None else value.column.isin(constants)


def _entry(table: Operand, key: Operand) -> Column | None:
    """Returns the value of a key; null if the table does not have it."""
    if not isinstance(table.constant, dict):
        return None
    keys = _literals(table.constant, _KEYS)
    values = _literals(table.constant.values(), (*_KEYS, float, bool))
    if keys is None or values is None:
        return None
    pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
    return f.try_element_at(f.create_map(*pairs), key.column)


def _entry_or(table: Operand, key: Operand, default: Operand) -> Column | None:
    entry = _entry(table, key)
    return None if entry is None else f.coalesce(entry, default.column)


def _item(items: Operand, place: Operand) -> Column:
    """Returns an item of a list; null if there is none."""
    if items.item is not None:
        return items.item()
    if isinstance(place.constant, int):
        number = max(min(place.constant, (1 << 31) - 2), -(1 << 31) + 1)
        return f.try_element_at(items.column, f.lit(number + (number >= 0)))
    index = as_index(place.column)
    return f.try_element_at(items.column, f.when(index < 0, index).otherwise(index + 1))


_TABLES = (("dict[str, V]", "str"), ("dict[int, V]", "int"), ("dict[K, V]", "K"))
_SETS = (("set[str]", "str"), ("set[int]", "int"), ("set[K]", "K"))

RULES: Rules = {
    ("len", "(list[T]) -> int"): Rule(of_columns(lambda items: f.size(items).cast("bigint"))),
    ("[]", "(list[T], int) -> T"): where_null(_item),
    ("in", "(T, list[T]) -> bool"): Rule(_is_in),
    **{
        ("in", f"({key}, {container}) -> bool"): Rule(_is_in)
        for container, key in (*_TABLES, *_SETS)
    },
    **{("[]", f"({table}, {key}) -> V"): where_null(_entry) for table, key in _TABLES},
    **{("dict.get", f"({table}, {key}, V) -> V"): Rule(_entry_or) for table, key in _TABLES},
    **{
        ("dict.get", f"({table}, {key}{none}) -> V | None"): Rule(
            lambda table, key, *_: _entry(table, key)
        )
        for table, key in _TABLES
        for none in ("", ", None")
    },
}
"""The rules for containers."""
