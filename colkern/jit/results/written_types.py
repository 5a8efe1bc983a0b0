"""The type that loops write results in; where another layout is declared, what they wrote is cast.

Dictionaries, runs and views are made of values that are there, by the operations that do so for any array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.jit.building.nodes import subtree
from colkern.jit.results.writers import has_writer


def written_type(declared: s.DataType) -> s.DataType:
    """The type that results of a declared type are written in, before they are cast to it.

    Raises:
        UnsupportedError: If they cannot be written.
    """
    made: s.DataType = _WRITTEN.get(type(declared), _as_it_is)(declared)
    return made


def _as_it_is(declared: s.DataType) -> s.DataType:
    return declared


def _field(field: s.Field) -> s.Field:
    return replace(field, type=written_type(field.type))


def _list(declared: s.List | s.LargeList | s.FixedSizeList) -> s.DataType:
    return replace(declared, value_field=_field(declared.value_field))


def _map(declared: s.Map) -> s.DataType:
    return replace(declared, entries_field=_field(declared.entries_field))


def _struct(declared: s.Struct) -> s.DataType:
    return replace(declared, struct_fields=tuple(map(_field, declared.struct_fields)))


def _union(declared: s.Union) -> s.DataType:
    if tuple(map(_field, declared.union_fields)) != declared.union_fields:
        raise UnsupportedError(
            f"{declared} as the result of a udf: values of a union are plain ones, "
            f"neither encoded nor views"
        )
    return declared


_WRITTEN: dict[type[s.DataType], Callable[[Any], s.DataType]] = {
    s.Dictionary: lambda t: written_type(t.value_type),
    s.RunEndEncoded: lambda t: written_type(t.value_type),
    s.Utf8View: lambda _: s.utf8(),
    s.BinaryView: lambda _: s.binary(),
    s.List: _list,
    s.LargeList: _list,
    s.FixedSizeList: _list,
    s.ListView: lambda t: s.list_(_field(t.value_field)),
    s.LargeListView: lambda t: s.large_list(_field(t.value_field)),
    s.Map: _map,
    s.Struct: _struct,
    s.Union: _union,
    s.Extension: lambda t: written_type(t.storage_type),
}


def require_result_type(declared: s.DataType) -> None:
    """Check that results of a type can be written.

    Raises:
        UnsupportedError: If they cannot.
    """
    try:
        for _ in subtree(written_type(declared)):
            pass
    except UnsupportedError:
        raise UnsupportedError(f"{declared} as the result of a udf") from None


def has_columns(written: s.DataType) -> bool:
    """Whether a loop writes the values of all rows side by side: those of a number, of a byte string, or
    of a tuple of such; others are appended to a builder."""
    if isinstance(written, s.Struct):
        return all(has_columns(field.type) for field in written.fields)
    return has_writer(written)
