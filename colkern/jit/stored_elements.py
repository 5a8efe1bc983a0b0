"""How elements stand in columns: dates and times as integers, and columns as those of another type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from colkern import schema as s
from colkern.dispatch import TIMES
from colkern.layouts import Role, layout
from colkern.rows import kinds as k
from colkern.rows.columns import MICROSECONDS, Reader, reader_of
from colkern.rows.kinds import Kind


def has_moments(data_type: s.DataType) -> bool:
    """Whether the elements of a type are dates or times; instants of a zone are integers."""
    return isinstance(data_type, TIMES) and not getattr(data_type, "timezone", None)


def moment_of(data_type: s.DataType) -> Reader:
    """The reader of dates or times: that of row functions, but for an integer `item` (int64)."""
    reader = reader_of(data_type)
    assert isinstance(reader, Reader)
    code, check = (
        text.format(n="items").replace("i8(items[i])", "item")
        for text in (reader.code, reader.check)
    )
    return replace(reader, code=code, check=check)


_STORED: dict[Kind, type[s.DataType]] = {
    k.DATE: s.Date,
    k.TIME: s.Time,
    k.DATETIME: s.Timestamp,
    k.TIMEDELTA: s.Duration,
}
"""The types that dates and times of each kind are appended to."""


def item_scale(kind: Kind, data_type: s.DataType) -> tuple[int, int] | None:
    """The factor and the divisor that make an item of a type from the number of a date or time.

    None if the type holds no such values.
    """
    if (
        kind not in _STORED
        or not isinstance(data_type, _STORED[kind])
        or not has_moments(data_type)
    ):
        return None
    if isinstance(data_type, s.Date):
        return (86_400_000, 1) if data_type == s.date64() else (1, 1)
    times, by = MICROSECONDS[data_type.unit]  # type: ignore[attr-defined]
    return by, times


# The same memory as another type

AS_BYTES: dict[type[s.DataType], s.DataType] = {
    s.Utf8: s.binary(),
    s.LargeUtf8: s.large_binary(),
    s.Utf8View: s.binary_view(),
}
"""The types of bytes that have the layout of types of text."""


def _as_integers(data_type: s.DataType) -> s.DataType:
    """The integers of the layout of a type of dates and times."""
    return s.int32() if layout(data_type).spec(Role.DATA).dtype.itemsize == 4 else s.int64()


AS_OTHER: dict[str, tuple[tuple[type[s.DataType], ...], Callable[[s.DataType], s.DataType]]] = {
    "as_bytes": (tuple(AS_BYTES), lambda data_type: AS_BYTES[type(data_type)]),
    "as_integers": (TIMES, _as_integers),
}
"""The methods that give the same memory as a column of another type; their types, and the new type."""
