"""Tables of functions by layout or by data type, with a check for completeness.

    hash_slots: Dispatch[LayoutKind, Callable[..., None]] = by_layout("hash")

    @hash_slots.of(LayoutKind.LIST, LayoutKind.LIST_VIEW)
    def hash_lists(...): ...

A table names the layouts or data types that it leaves out on purpose. `incomplete` lists the keys that
are neither registered nor left out. A test calls it, so a new layout shows every table that lacks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from colkern import schema as s
from colkern.layouts import DATA_TYPES, LayoutKind
from colkern.schema import DataType

TEXT = (s.Utf8, s.LargeUtf8, s.Utf8View)
BINARY = (s.Binary, s.LargeBinary, s.BinaryView)
NUMBERS = (s.Int, s.FloatingPoint, s.Decimal)
TIMES = (s.Date, s.Time, s.Timestamp, s.Duration)
LISTS = (s.List, s.LargeList, s.ListView, s.LargeListView, s.FixedSizeList, s.Map)
NESTED = (*LISTS, s.Struct, s.Union)
ENCODED = (s.Dictionary, s.RunEndEncoded)

Key = TypeVar("Key")
Value = TypeVar("Value")

_TABLES: list[Dispatch[object, object]] = []


class Dispatch(dict[Key, Value], Generic[Key, Value]):
    """Values by layout or by data type class; `without` are the keys that have no value on purpose."""

    def __init__(self, what: str, keys: Iterable[Key], without: Iterable[Key]) -> None:
        super().__init__()
        self.what = what
        self.keys_needed = frozenset(keys) - frozenset(without)
        _TABLES.append(self)  # type: ignore[arg-type]

    def of(self, *keys: Key) -> Callable[[Value], Value]:
        """A decorator that registers a function for those keys, and returns it unchanged."""

        def register(value: Value) -> Value:
            for key in keys:
                if key in self or key not in self.keys_needed:
                    raise ValueError(f"{self.what}: {key} is already registered or left out")
                self[key] = value
            return value

        return register


def by_layout(what: str, *without: LayoutKind) -> Dispatch[LayoutKind, Value]:
    """A table that must have a value for every layout, except those in `without`."""
    return Dispatch(what, LayoutKind, without)


def by_type(what: str, *without: type[DataType]) -> Dispatch[type[DataType], Value]:
    """A table that must have a value for every class of data types, except those in `without`."""
    return Dispatch(what, DATA_TYPES, without)


def incomplete() -> list[str]:
    """The missing entries of all tables in the modules imported so far: the table, and the key it lacks."""
    return sorted(
        f"{table.what}: nothing for {getattr(key, 'value', None) or getattr(key, '__name__', key)}"
        for table in _TABLES
        for key in table.keys_needed - table.keys()
    )
