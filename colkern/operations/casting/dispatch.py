"""`cast`, and the table of conversions between types.

The other modules of this package register conversions; `colkern.operations.casting` imports all.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.kernels import Kernel
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.dictionaries import dictionary_decode, dictionary_encode
from colkern.operations.extension_checks import check_extension
from colkern.operations.operands import validity_of
from colkern.operations.position_checks import require_valid
from colkern.operations.runs import run_end_decode, run_end_encode
from colkern.operations.validity import with_nulls_of
from colkern.targets import NOWHERE, Argument, Items, ItemType, target_of


def fixed_result(array: Array, type: s.DataType, data: Items) -> Array:
    """An array of that type with the values `data` and the nulls of `array`."""
    return with_nulls_of(array, type, [target_of(array.device).buffer(data)])


def retyped(array: Array, type: s.DataType) -> Array:
    """The same buffers under another type of the same layout."""
    return array.over(type, array.buffers, array.children, array.dictionary)


def mapped(
    array: Array, type: s.DataType, dtype: ItemType, kernel: Kernel, items: Items, *args: Argument
) -> Array:
    """The output of a kernel that takes `items`, `args` and the output (of that dtype)."""
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    target.map(kernel, array.length, items, *args, out)
    return fixed_result(array, type, out)


def checked(
    array: Array, type: s.DataType, dtype: ItemType, kernel: Kernel, items: Items, *args: Argument
) -> tuple[Array, int | None]:
    """As `mapped`, and the first valid slot that the kernel rejects, or None.

    The kernel takes the validity after `items`.
    """
    target = target_of(array.device)
    out = target.output(array.length, dtype)
    validity = validity_of(array, target)
    slot = target.reduce(kernel, array.length, items, *validity, *args, out)
    return fixed_result(array, type, out), None if slot == NOWHERE else slot


def no_value(array: Array, type: s.DataType, slot: int, value: object, why: str) -> ValueError:
    """The error for a value that the type cannot represent."""
    return ValueError(
        f"slot {slot}: {value} is no {type}: {why}; cast with safe=False to let it pass"
    )


class Rounding(enum.IntEnum):
    """`safe=True`, but times are rounded down to a whole number of the result's unit."""

    TIMES = 1


Safety: TypeAlias = bool | Rounding

Conversion: TypeAlias = Callable[[Array, s.DataType, Safety], Array]
"""Casts a checked array to a type; the last argument says whether to be safe."""

Types: TypeAlias = Sequence[type[s.DataType]]

_CONVERSIONS: dict[tuple[type[s.DataType], type[s.DataType]], Conversion] = {}


def converts(sources: Types, results: Types) -> Callable[[Conversion], Conversion]:
    """A decorator that registers a function for casts from each source type to each result type.

    Raises:
        ValueError: If a pair of types already has a function.
    """

    def register(conversion: Conversion) -> Conversion:
        for pair in itertools.product(sources, results):
            if pair in _CONVERSIONS:
                raise ValueError(f"{pair[0].__name__} to {pair[1].__name__} is registered")
            _CONVERSIONS[pair] = conversion
        return conversion

    return register


@operation(kind=Kind.ELEMENT_WISE)
def cast(array: Array, type: s.TypeLike, *, safe: bool = True) -> Array:
    """The values of an array, converted to another type; nulls stay nulls.

    Data that both types store alike is shared, not copied: arrays that already have the type, bytes of
    strings, the child of lists if the element type stays. Elements of lists and fields of structs are
    cast too; fields are matched by name. Dictionary-encoded and run-end encoded arrays are decoded,
    unless `type` has the same encoding. Extension types are cast as their storage.

    Args:
        type: The type of the result.
        safe: If True, refuse values that the result cannot hold exactly or that are not valid in it:
            integers and decimals that do not fit, fractions as integers, integers that a float rounds,
            times that are not a whole number of the result's unit, times outside of a day, dates that
            are not whole days, bytes that are not UTF-8, values that break the rules of a canonical
            extension type. Three casts are safe although they drop a part: floats and decimals become
            the nearest float (large decimals of a negative scale that one or the next), timestamps
            become their date or time of day, and numbers become booleans that say whether they are not
            zero. If False, numbers wrap around, digits that do not fit are dropped, and neither bytes
            nor rules are checked.

    Raises:
        TypeError: If `type` is not a data type.
        ValueError: If a value has no equivalent in the type; names the slot.
        UnsupportedError: If there is no cast between the two types.
        LimitExceededError: If values or elements do not fit 32-bit offsets.
    """
    require_valid(array)
    return convert(array, s.as_type(type), safe)


def convert(array: Array, type: s.DataType, safe: Safety) -> Array:
    """`cast` of an array that has been checked."""
    source = array.type
    # Comparing types of different classes is slow, so the classes are compared first.
    if source.__class__ is type.__class__ and source == type:
        return array
    if isinstance(source, s.Extension):
        return convert(retyped(array, source.storage_type), type, safe)
    if isinstance(type, s.Extension):
        result = retyped(convert(array, type.storage_type, safe), type)
        if safe:
            check_extension(result, True, "")
        return result
    if isinstance(source, s.Null):
        return nulls(array.length, type, array.device)
    conversion = _CONVERSIONS.get((source.__class__, type.__class__))
    if conversion is not None:
        return conversion(array, type, safe)
    if isinstance(source, s.Dictionary):
        return convert(dictionary_decode(array), type, safe)
    if isinstance(source, s.RunEndEncoded):
        return convert(run_end_decode(array), type, safe)
    # Then cast to the type itself, which may be ordered, or have other field names.
    if isinstance(type, s.Dictionary):
        values = convert(array, type.value_type, safe)
        return convert(dictionary_encode(values, index_type=type.index_type), type, safe)
    if isinstance(type, s.RunEndEncoded):
        values = convert(array, type.value_type, safe)
        encoded = run_end_encode(values, run_end_type=type.run_ends_field.type)
        return convert(encoded, type, safe)
    raise UnsupportedError(f"no cast from {source} to {type}")
