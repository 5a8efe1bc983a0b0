"""Casts of nested and encoded arrays, value by value."""

from __future__ import annotations

from collections.abc import Sequence

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.layouts import Role, layout
from colkern.operations.casting.binary import moved_offsets
from colkern.operations.casting.dispatch import Safety, convert, converts
from colkern.operations.creation import nulls
from colkern.operations.encodings import dictionary_parts
from colkern.operations.list_conversion import (
    fixed_size_list_to_list,
    list_to_fixed_size_list,
    list_to_list_view,
    list_view_to_list,
    list_with_offsets,
)
from colkern.operations.validity import with_nulls_of

_LISTS = (s.List, s.LargeList)
_LIST_VIEWS = (s.ListView, s.LargeListView)


@converts([s.Map], [s.Map])
@converts((*_LISTS, s.Map), _LISTS)
def lists_to_lists(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Lists and maps with cast elements, and offsets of either width."""
    child, wanted = array.children[0], type.fields[0].type
    if array.layout.buffers == layout(type).buffers and child.type == wanted:
        return _with_children(array, type, [child])
    first, last, offsets = moved_offsets(array, type)
    cast_elements = _entries if isinstance(type, s.Map) else _converted
    elements = cast_elements(child.slice(first, last - first), type.fields[0], safe)
    return with_nulls_of(array, type, [offsets], [elements])


@converts(_LIST_VIEWS, _LIST_VIEWS)
def list_views_to_list_views(array: Array, type: s.DataType, safe: Safety) -> Array:
    """List-views with cast elements, and offsets and sizes of either width."""
    resized = list_with_offsets(array, 8 * layout(type).spec(Role.OFFSETS).dtype.itemsize)
    return _with_children(resized, type, [_converted(array.children[0], type.fields[0], safe)])


@converts([s.FixedSizeList], [s.FixedSizeList])
def fixed_lists_to_fixed_lists(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Fixed-size lists with cast elements."""
    source = array.type
    assert isinstance(source, s.FixedSizeList)
    assert isinstance(type, s.FixedSizeList)
    size = type.list_size
    if source.list_size != size:
        raise UnsupportedError(f"no cast from {source} to {type}: the lists have other lengths")
    child = array.children[0].slice(array.offset * size, array.length * size)
    elements = _converted(child, type.fields[0], safe)
    return with_nulls_of(array, type, [], [elements])


@converts([s.Struct], [s.Struct])
def structs_to_structs(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Structs, cast field by field; fields are matched by name.

    Fields that the array lacks are null. If all names are the same and in the same order, fields are
    matched by position, even if a name repeats.
    """
    names = [field.name for field in array.type.fields]
    same = names == [field.name for field in type.fields]
    children = []
    for position, field in enumerate(type.fields):
        count = names.count(field.name)
        if not same and (count > 1 or (count == 0 and not field.nullable)):
            raise UnsupportedError(
                f"no cast from {array.type} to {type}: {count} fields are called {field.name!r}"
            )
        if count == 0:
            children.append(nulls(array.length, field.type, array.device))
            continue
        source = array.children[position if same else names.index(field.name)]
        children.append(_converted(source.slice(array.offset, array.length), field, safe))
    return with_nulls_of(array, type, [], children)


@converts([s.Dictionary], [s.Dictionary])
def dictionaries_to_dictionaries(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Dictionaries with cast indices and values; each value is cast once."""
    assert isinstance(type, s.Dictionary)
    own_indices, dictionary = dictionary_parts(array)
    values = _converted(dictionary, s.field("dictionary", type.value_type), safe)
    # Safe, since indices that wrapped around would point to other values.
    indices = convert(own_indices, type.index_type, True)
    nulls = indices.known_null_count
    parts = ((), values, indices.offset)
    return Array.of_valid(type, array.length, indices.buffers, nulls, *parts)


@converts([s.RunEndEncoded], [s.RunEndEncoded])
def runs_to_runs(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Run-end encoded arrays with cast run ends and values; each value is cast once."""
    # Safe, since run ends that wrapped around would not increase.
    children = [
        _converted(array.children[0], type.fields[0], True),
        _converted(array.children[1], type.fields[1], safe),
    ]
    return _with_children(array, type, children)


def _converted(array: Array, field: s.Field, safe: Safety) -> Array:
    """A child, cast to a field's type."""
    try:
        return convert(array, field.type, safe)
    except InvalidArrowError:
        raise
    except ValueError as error:
        raise ValueError(f"{field.name}: {error}") from None


def _entries(array: Array, field: s.Field, safe: Safety) -> Array:
    """The entries of maps; keys and items are matched by position, whatever their names."""
    parts = [
        _converted(child.slice(array.offset, array.length), wanted, safe)
        for child, wanted in zip(array.children, field.type.fields, strict=True)
    ]
    return with_nulls_of(array, field.type, [], parts)


def _with_children(array: Array, type: s.DataType, children: Sequence[Array]) -> Array:
    """An array with another one's buffers, and cast children."""
    nulls, offset = array.known_null_count, array.offset
    return Array.of_valid(type, array.length, array.buffers, nulls, children, None, offset)


# Between the layouts of lists: first to the other layout, then to its type.


@converts((*_LISTS, s.Map, s.FixedSizeList), _LIST_VIEWS)
def lists_to_list_views(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Lists, maps and fixed-size lists as list-views; elements whose type stays are shared."""
    return convert(list_to_list_view(_with_offsets(array, type)), type, safe)


@converts(_LIST_VIEWS, _LISTS)
def list_views_to_lists(array: Array, type: s.DataType, safe: Safety) -> Array:
    """List-views as lists; elements are copied, unless they are in order."""
    return convert(list_view_to_list(array), type, safe)


@converts([s.FixedSizeList], _LISTS)
def fixed_lists_to_lists(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Fixed-size lists as lists with offsets."""
    return convert(_with_offsets(array, type), type, safe)


@converts((*_LISTS, *_LIST_VIEWS, s.Map), [s.FixedSizeList])
def to_fixed_lists(array: Array, type: s.DataType, safe: Safety) -> Array:
    """Lists, maps and list-views as fixed-size lists; all valid lists must have that size."""
    assert isinstance(type, s.FixedSizeList)
    return convert(list_to_fixed_size_list(array, type.list_size), type, safe)


def _with_offsets(array: Array, type: s.DataType) -> Array:
    if not isinstance(array.type, s.FixedSizeList):
        return array
    large = isinstance(type, s.LargeList | s.LargeListView)
    return fixed_size_list_to_list(array, large=large)
