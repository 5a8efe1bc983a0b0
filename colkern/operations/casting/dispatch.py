"""`cast`: the table of which type becomes which, and by what."""

from __future__ import annotations

from collections.abc import Callable

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.operations.arguments import operation
from colkern.operations.casting import binary, decimals, encoded, lists, nested, numbers, times
from colkern.operations.casting.results import retyped
from colkern.operations.creation import nulls
from colkern.operations.dictionaries import dictionary_decode
from colkern.operations.extension_checks import check_extension
from colkern.operations.runs import run_end_decode
from colkern.operations.validation import require_valid

Conversion = Callable[[Array, s.DataType, bool], Array]


@operation
def cast(array: Array, type: s.TypeLike, *, safe: bool = True) -> Array:
    """The values of an array as those of another type, nulls as nulls.

    Data that both types store in the same way is shared, not copied: an array that has the type
    already, the bytes of strings, the child of lists if the element type does not change. Elements of
    lists and fields of structs are cast too; fields are matched by name. Dictionary-encoded and run-end
    encoded arrays are decoded, unless `type` has the same encoding. Extension types are cast as their
    storage.

    Args:
        array: Any array.
        type: The type of the result.
        safe: If True, refuse values that the result cannot hold exactly or that are not valid in it:
            integers and decimals that do not fit, fractions as integers, integers that a float rounds,
            times that are not a whole number of the result's unit, times outside of a day, dates that
            are not whole days, bytes that are not UTF-8, values that break the rules of a canonical
            extension type. Three casts are safe although they drop a part: floats and decimals become
            the nearest float, timestamps become their date or time of day, and numbers become booleans
            that say whether they are not zero. If False, numbers wrap around, digits that do not fit
            are dropped, and neither bytes nor rules are checked.

    Raises:
        TypeError: If `type` is not a data type.
        ValueError: If a value has no equivalent; names the slot.
        UnsupportedError: If there is no cast between the two types.
        LimitExceededError: If values or elements do not fit 32-bit offsets.
        InvalidArrowError: If `array` points outside its own memory.
    """
    type = s.as_type(type)
    if array.type == type:
        return array
    require_valid(array)
    return convert(array, type, safe)


def convert(array: Array, type: s.DataType, safe: bool) -> Array:
    """`cast` of a checked array, whatever its type."""
    source = array.type
    if source == type:
        return array
    if isinstance(source, s.Extension):
        return convert(retyped(array, source.storage_type), type, safe)
    if isinstance(type, s.Extension):
        made = retyped(convert(array, type.storage_type, safe), type)
        if safe:
            check_extension(made, True, "")
        return made
    if isinstance(source, s.Null):
        return nulls(array.length, type, array.device)
    conversion = CONVERSIONS.get((source.__class__, type.__class__))
    if conversion is not None:
        return conversion(array, type, safe)
    decode = DECODERS.get(source.__class__)
    if decode is not None:
        return convert(decode(array), type, safe)
    encode = ENCODERS.get(type.__class__)
    if encode is not None:
        return encode(array, type, safe)
    raise UnsupportedError(f"no cast from {source} to {type}")


def _between(
    sources: tuple[type[s.DataType], ...], results: tuple[type[s.DataType], ...], how: Conversion
) -> dict[tuple[type[s.DataType], type[s.DataType]], Conversion]:
    return {(source, result): how for source in sources for result in results}


_OFFSETS = (s.Utf8, s.LargeUtf8, s.Binary, s.LargeBinary)
_VIEWS = (s.Utf8View, s.BinaryView)
_FIXED = (s.FixedSizeBinary,)
_LISTS = (s.List, s.LargeList)
_LIST_VIEWS = (s.ListView, s.LargeListView)
_TIMES = (s.Date, s.Time, s.Timestamp, s.Duration)

CONVERSIONS: dict[tuple[type[s.DataType], type[s.DataType]], Conversion] = {
    (s.Bool, s.Int): numbers.bools_to_numbers,
    (s.Bool, s.FloatingPoint): numbers.bools_to_numbers,
    (s.Int, s.Bool): numbers.numbers_to_bools,
    (s.FloatingPoint, s.Bool): numbers.numbers_to_bools,
    (s.Int, s.Int): numbers.integers_to_integers,
    (s.Int, s.FloatingPoint): numbers.integers_to_floats,
    (s.FloatingPoint, s.Int): numbers.floats_to_integers,
    (s.FloatingPoint, s.FloatingPoint): numbers.floats_to_floats,
    (s.Decimal, s.Decimal): decimals.rescale,
    (s.Int, s.Decimal): decimals.rescale,
    (s.Decimal, s.Int): decimals.rescale,
    (s.Decimal, s.FloatingPoint): decimals.to_floats,
    (s.Timestamp, s.Timestamp): times.to_unit,
    (s.Duration, s.Duration): times.to_unit,
    (s.Time, s.Time): times.to_unit,
    (s.Date, s.Date): times.to_unit,
    (s.Date, s.Timestamp): times.to_unit,
    (s.Timestamp, s.Date): times.timestamps_to_dates,
    (s.Timestamp, s.Time): times.timestamps_to_times,
    **_between(_TIMES, (s.Int,), times.as_integers),
    **_between((s.Int,), _TIMES, times.from_integers),
    **_between(_OFFSETS, _OFFSETS, binary.offsets_to_offsets),
    **_between(_OFFSETS, _VIEWS, binary.offsets_to_view),
    **_between(_VIEWS, _OFFSETS, binary.view_to_offsets),
    **_between(_VIEWS, _VIEWS, binary.view_to_view),
    **_between(_FIXED, _OFFSETS, binary.fixed_to_offsets),
    **_between(_FIXED, _VIEWS, binary.fixed_to_view),
    **_between(_OFFSETS, _FIXED, binary.offsets_to_fixed),
    **_between(_VIEWS, _FIXED, binary.view_to_fixed),
    **_between((*_LISTS, s.Map), _LISTS, nested.lists_to_lists),
    (s.Map, s.Map): nested.lists_to_lists,
    **_between(_LIST_VIEWS, _LIST_VIEWS, nested.list_views_to_list_views),
    **_between((*_LISTS, s.Map, s.FixedSizeList), _LIST_VIEWS, lists.lists_to_list_views),
    **_between(_LIST_VIEWS, _LISTS, lists.list_views_to_lists),
    **_between((s.FixedSizeList,), _LISTS, lists.fixed_lists_to_lists),
    **_between((*_LISTS, *_LIST_VIEWS, s.Map), (s.FixedSizeList,), lists.to_fixed_lists),
    (s.FixedSizeList, s.FixedSizeList): nested.fixed_lists_to_fixed_lists,
    (s.Struct, s.Struct): nested.structs_to_structs,
    (s.Dictionary, s.Dictionary): nested.dictionaries_to_dictionaries,
    (s.RunEndEncoded, s.RunEndEncoded): nested.runs_to_runs,
}
"""How arrays of one type become arrays of another; a checked array, the type, whether to be safe."""

DECODERS: dict[type[s.DataType], Callable[[Array], Array]] = {
    s.Dictionary: dictionary_decode,
    s.RunEndEncoded: run_end_decode,
}
"""How encoded arrays become their values, for what is cast to another type than an encoded one."""

ENCODERS: dict[type[s.DataType], Conversion] = {
    s.Dictionary: encoded.to_dictionary,
    s.RunEndEncoded: encoded.to_runs,
}
"""How values become encoded arrays, for what is cast to one from another type."""
