"""Casts of nested and encoded arrays, value by value."""

from __future__ import annotations

from collections.abc import Sequence

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.layouts import Role, layout
from colkern.memory import Buffer
from colkern.operations.casting.binary import moved_offsets
from colkern.operations.casting.numbers import integers_to_integers
from colkern.operations.creation import nulls
from colkern.operations.validity import compact_validity
from colkern.targets import target_of


def lists_to_lists(array: Array, type: s.DataType, safe: bool) -> Array:
    """Lists and maps with offsets of either width, their elements cast."""
    child, wanted = array.children[0], type.fields[0].type
    if layout(array.type) == layout(type) and child.type == wanted:
        return _rebuilt(array, type, array.buffers, [child], array.offset)
    first, last, offsets = moved_offsets(array, type)
    cast_elements = _entries if isinstance(type, s.Map) else _converted
    elements = cast_elements(child.slice(first, last - first), type.fields[0], safe)
    return _rebuilt(array, type, [compact_validity(array), offsets], [elements])


def list_views_to_list_views(array: Array, type: s.DataType, safe: bool) -> Array:
    """List-views with offsets and sizes of either width, their elements cast."""
    elements = _converted(array.children[0], type.fields[0], safe)
    if layout(array.type) == layout(type):
        return _rebuilt(array, type, array.buffers, [elements], array.offset)
    positions = [_resized(array, type, role) for role in (Role.OFFSETS, Role.SIZES)]
    return _rebuilt(array, type, [compact_validity(array), *positions], [elements])


def fixed_lists_to_fixed_lists(array: Array, type: s.DataType, safe: bool) -> Array:
    """Lists of one length, their elements cast."""
    source = array.type
    assert isinstance(source, s.FixedSizeList)
    assert isinstance(type, s.FixedSizeList)
    size = type.list_size
    if source.list_size != size:
        raise UnsupportedError(f"no cast from {source} to {type}: the lists have other lengths")
    child = array.children[0].slice(array.offset * size, array.length * size)
    elements = _converted(child, type.fields[0], safe)
    return _rebuilt(array, type, [compact_validity(array)], [elements])


def structs_to_structs(array: Array, type: s.DataType, safe: bool) -> Array:
    """Structs field by field: each of the type's takes the values of the one with its name.

    A field that the array does not have is null. Fields of the same names in the same order belong
    together, however often a name occurs.
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
    return _rebuilt(array, type, [compact_validity(array)], children)


def dictionaries_to_dictionaries(array: Array, type: s.DataType, safe: bool) -> Array:
    """Dictionaries with other indices and values, which are cast once each."""
    from colkern.operations.casting.dispatch import convert

    assert isinstance(array.type, s.Dictionary)
    assert isinstance(type, s.Dictionary)
    assert array.dictionary is not None
    values = _converted(array.dictionary, s.field("dictionary", type.value_type), safe)
    plain = Array(
        array.type.index_type,
        array.length,
        array.buffers,
        offset=array.offset,
        null_count=array.known_null_count,
    )
    # Indices that wrapped around would be others.
    indices = convert(plain, type.index_type, True)
    return Array.of_valid(
        type,
        array.length,
        indices.buffers,
        indices.known_null_count,
        dictionary=values,
        offset=indices.offset,
    )


def runs_to_runs(array: Array, type: s.DataType, safe: bool) -> Array:
    """Run-end encoded values with other run ends and values, which are cast once each."""
    # Run ends that wrapped around would not ascend.
    children = [
        _converted(array.children[0], type.fields[0], True),
        _converted(array.children[1], type.fields[1], safe),
    ]
    return _rebuilt(array, type, array.buffers, children, array.offset)


def _resized(array: Array, type: s.DataType, role: Role) -> Buffer:
    target = target_of(array.device)
    items = array.items(role)
    dtype = layout(type).spec(role).dtype
    plain = Array(s.Int(8 * items.dtype.itemsize, True), array.length, [None, target.buffer(items)])
    # Without the nulls: what stands under one is within the child, too.
    made = integers_to_integers(plain, s.Int(8 * dtype.itemsize, True), True).buffers[1]
    assert made is not None
    return made


def _converted(array: Array, field: s.Field, safe: bool) -> Array:
    """A child as a field's type."""
    from colkern.operations.casting.dispatch import convert

    try:
        return convert(array, field.type, safe)
    except InvalidArrowError:
        raise
    except ValueError as error:
        raise ValueError(f"{field.name}: {error}") from None


def _entries(array: Array, field: s.Field, safe: bool) -> Array:
    """The entries of maps: keys and items belong together whatever their names."""
    parts = [
        _converted(child.slice(array.offset, array.length), wanted, safe)
        for child, wanted in zip(array.children, field.type.fields, strict=True)
    ]
    return _rebuilt(array, field.type, [compact_validity(array)], parts)


def _rebuilt(
    array: Array,
    type: s.DataType,
    buffers: Sequence[Buffer | None],
    children: list[Array],
    offset: int = 0,
) -> Array:
    """An array with the length and the nulls of another, whose positions have been checked."""
    nulls = array.known_null_count
    return Array.of_valid(type, array.length, buffers, nulls, children, offset=offset)
