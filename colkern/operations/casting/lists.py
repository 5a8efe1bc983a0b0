"""Casts between the layouts of lists: first to the other layout, then to its type."""

from __future__ import annotations

from colkern import schema as s
from colkern.arrays import Array
from colkern.operations.casting.dispatch import convert, converts
from colkern.operations.list_conversion import (
    fixed_size_list_to_list,
    list_to_fixed_size_list,
    list_to_list_view,
    list_view_to_list,
)

_LISTS = (s.List, s.LargeList)
_LIST_VIEWS = (s.ListView, s.LargeListView)


@converts((*_LISTS, s.Map, s.FixedSizeList), _LIST_VIEWS)
def lists_to_list_views(array: Array, type: s.DataType, safe: bool) -> Array:
    """Lists, maps and lists of one length as list-views; elements that stay are shared."""
    return convert(list_to_list_view(_with_offsets(array, type)), type, safe)


@converts(_LIST_VIEWS, _LISTS)
def list_views_to_lists(array: Array, type: s.DataType, safe: bool) -> Array:
    """List-views as lists; elements are copied unless they lie in order."""
    return convert(list_view_to_list(array), type, safe)


@converts([s.FixedSizeList], _LISTS)
def fixed_lists_to_lists(array: Array, type: s.DataType, safe: bool) -> Array:
    """Lists of one length as lists with offsets."""
    return convert(_with_offsets(array, type), type, safe)


@converts((*_LISTS, *_LIST_VIEWS, s.Map), [s.FixedSizeList])
def to_fixed_lists(array: Array, type: s.DataType, safe: bool) -> Array:
    """Lists, maps and list-views as lists of one length, which all that are not null must have."""
    assert isinstance(type, s.FixedSizeList)
    return convert(list_to_fixed_size_list(array, type.list_size), type, safe)


def _with_offsets(array: Array, type: s.DataType) -> Array:
    if not isinstance(array.type, s.FixedSizeList):
        return array
    large = isinstance(type, s.LargeList | s.LargeListView)
    return fixed_size_list_to_list(array, large=large)
