"""Structs: their fields as arrays, and arrays as fields of a struct.

Columnar format 1.5: "Struct Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from colkern import schema as s
from colkern.arrays import Array
from colkern.operations.arguments import Kind, operation
from colkern.operations.devices import one_device
from colkern.operations.operands import kept_type
from colkern.operations.own_slots import cut, own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.validity import compact_validity, null_outside

Key = int | str


@operation(kind=Kind.ELEMENT_WISE)
def struct_flatten(array: Array) -> list[Array]:
    """The fields of a struct array, each null also where the struct is null.

    Nothing is copied except bitmaps, if the struct has nulls. Under a null struct, a sparse union is
    null in its children; a dense union is copied such that each slot has its own value, and a run-end
    encoded array such that each slot has its own run.

    Raises:
        TypeError: If the array is not a struct array.
        InvalidArrowError: If a child is too short, or points outside its own memory.
    """
    _check_struct(array)
    return _shown(array, own_children(array))


@operation(kind=Kind.ELEMENT_WISE)
def struct_field(array: Array, key: Key | Sequence[Key]) -> Array:
    """One field of a struct array, null also where the struct is null; see `struct_flatten`.

    Args:
        key: The field's name or position (negative counts from the end), or a path of them through
            structs of structs.

    Raises:
        TypeError: If a key is applied to an array that has no structs.
        KeyError: If no field, or more than one, has that name.
        IndexError: If there is no such position.
        InvalidArrowError: If a child is too short, or points outside its own memory.
    """
    path: Sequence[Any] = [key] if isinstance(key, str | bytes | SupportsIndex) else key
    for step in path:
        _check_struct(array)
        fields = array.type.fields
        names = [field.name for field in fields]
        # Errors and positions are those of a schema, which takes longer to make.
        is_name = names.count(step) == 1
        position = names.index(step) if is_name else s.Schema(fields).index(step)
        child = cut(array.children[position], array.offset, array.length)
        (array,) = _shown(array, [child])
    return array


@operation(kind=Kind.ELEMENT_WISE)
def make_struct(
    arrays: Sequence[Array],
    names: Sequence[str],
    *,
    field_nullability: Sequence[bool] | None = None,
) -> Array:
    """A struct array with those fields and without nulls of its own; the fields are shared.

    Args:
        arrays: Arrays of one length, on one device. Without arrays, the result has no slots.
        names: A name for each array.
        field_nullability: Whether each field may be null; without it, all may.

    Raises:
        TypeError: If a name is no string.
        ValueError: If there are more or fewer names than arrays, lengths or devices differ, or an array has
            nulls that its field may not have.
    """
    if len(arrays) != len(names):
        raise ValueError(f"names: {len(names)} names for {len(arrays)} arrays")
    nullable = [True] * len(names) if field_nullability is None else field_nullability
    if len(nullable) != len(names):
        raise ValueError(f"field_nullability: {len(nullable)} for {len(names)} fields")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"names: expected str, got {name!r}")
    length = arrays[0].length if arrays else 0
    for name, array in zip(names, arrays, strict=True):
        if array.length != length:
            raise ValueError(f"{name}: {array.length} values, {names[0]} has {length}")
    one_device(arrays, *names)
    for name, array, is_nullable in zip(names, arrays, nullable, strict=True):
        if not is_nullable and array.null_count:
            raise ValueError(f"{name}: {array.null_count} nulls in a field that may not be null")
    kind = kept_type(_struct_of, *names, *[array.type for array in arrays], *map(bool, nullable))
    if all(array._checked for array in arrays):
        return Array.of_valid(kind, length, (None,), 0, arrays)
    return Array(kind, length, [None], arrays, null_count=0)


def _struct_of(*parts: Any) -> s.Struct:
    """The type with those names of fields, then their types, then whether they may be null."""
    size = len(parts) // 3
    names, types, nullable = parts[:size], parts[size : 2 * size], parts[2 * size :]
    return s.struct(list(map(s.Field, names, types, nullable)))


def _check_struct(array: Array) -> None:
    if not isinstance(array.type.storage, s.Struct):
        raise TypeError(f"array: expected a struct array, got {array.type}")
    require_valid(array)


def _shown(array: Array, children: Sequence[Array]) -> list[Array]:
    """Children cut to the array's own slots, null where the array is."""
    visible = compact_validity(array)
    if visible is None:
        return list(children)
    return [null_outside(child, visible, array.null_count) for child in children]
