"""Tests for nulls, and values in place of nulls, by the values that slots of any layout stand for.

Columnar format 1.5: "Validity bitmaps", "Dictionary-encoded Layout", "Run-End Encoded Layout", "Union
Layout".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colkern import schema as s
from colkern.arrays import Array, RecordBatch
from colkern.arrays.tabular import Keys
from colkern.bitmaps import bitmap_of, combine_bits
from colkern.kernels import bitmaps
from colkern.layouts import LayoutKind
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.booleans import and_, or_kleene
from colkern.operations.comparison import not_equal
from colkern.operations.creation import nulls
from colkern.operations.devices import device_of
from colkern.operations.encodings import decoded, encoded_alike, on_values
from colkern.operations.operands import integers
from colkern.operations.patterns import Kept
from colkern.operations.position_checks import require_valid
from colkern.operations.runs import run_end_decode, run_end_encoded
from colkern.operations.selection.choosing import choose, if_else
from colkern.operations.selection.concatenation import concat
from colkern.operations.selection.filtering import filter
from colkern.operations.selection.taking import take_positions
from colkern.operations.sorting import drop_nulls
from colkern.operations.structs import struct_flatten
from colkern.operations.unions import gather_union
from colkern.operations.validity import compact_validity
from colkern.targets import filled, on_its_device, target_of

_BOOL = s.bool_()


@operation(kind=Kind.ELEMENT_WISE)
def is_valid(array: Array) -> Array:
    """Whether each slot is valid, as booleans without nulls; copied.

    As `pyarrow.compute.is_valid`: slots of dictionaries, runs and unions are null if their values are.
    """
    require_valid(array)
    return _booleans(array, _valid_bits(array))


@operation(kind=Kind.ELEMENT_WISE)
def is_null(array: Array, *, nan_is_null: bool = False) -> Array:
    """Whether each slot is null, as booleans without nulls; see `is_valid`.

    Args:
        nan_is_null: Whether NaN counts as null.
    """
    require_valid(array)
    bits = _valid_bits(array)
    none = combine_bits(bits, 0, bits, 0, array.length, bitmaps.NOT)
    absent = _booleans(array, none)
    if nan_is_null:
        plain = decoded(array)
        if isinstance(plain.type.storage, s.FloatingPoint):
            return or_kleene(absent, not_equal(plain, plain))
    return absent


@operation(kind=Kind.SELECTION)
def drop_null(values: Array | RecordBatch, keys: Keys | None = None) -> Array | RecordBatch:
    """The slots that are not null, in order; for a batch, the rows without nulls.

    Copied, if there are nulls.

    Args:
        values: The values, or the rows.
        keys: The names or positions of the columns of a batch to look for nulls in; None for all.

    Raises:
        KeyError, IndexError: If there is no such column.
    """
    if isinstance(values, Array):
        # What has nulls below those of its own bitmap is looked at slot by slot.
        return drop_nulls(values) if _has_own_nulls(values) else filter(values, is_valid(values))
    mask = None
    for place in range(values.num_columns) if keys is None else values.positions(keys):
        valid = is_valid(values.column(place))
        mask = valid if mask is None else and_(mask, valid)
    return values if mask is None else filter(values, mask)


@operation(kind=Kind.ELEMENT_WISE)
def coalesce(*values: object) -> Array:
    """The first of several values that is not null, slot by slot; null if all are. Copied.

    As `pyarrow.compute.coalesce`. Numbers or text of two types are cast as by `if_else`.

    Args:
        values: Arrays of one type and length on one device, and Python values of that type, which are
            used in every slot; at least one array.

    Raises:
        TypeError: If there is no array, or the types differ.
        ValueError: If lengths or devices differ, or a value does not fit the type.
    """
    if not any(isinstance(value, Array) for value in values):
        raise TypeError("coalesce: expected an Array; make one with colkern.array(...)")
    return _first_valid(values, [f"values[{number}]" for number in range(len(values))])


def _first_valid(values: Sequence[object], names: Sequence[str]) -> Array:
    """As `coalesce`, with the names of the values in errors."""
    *others, result = values
    for number, value in reversed([*enumerate(others)]):
        if isinstance(value, Array):
            is_whole = not value._null_count and _has_own_nulls(value)
            own = names[number : number + 2]
            result = choose(_flags(value, values), value, result, own, is_whole=is_whole)
        elif value is not None:
            result = value
    if isinstance(result, Array):
        return result
    array = next(value for value in values if isinstance(value, Array))
    return choose(_booleans(array, _ones(array)), result, array, names[-2:])


@operation(kind=Kind.ELEMENT_WISE)
def fill_null(array: Array, value: object) -> Array:
    """The array with nulls replaced by a value; copied, unless there is no null.

    Dictionaries and runs stay encoded.

    Args:
        value: A Python value of the array's type, or an array of the same length. Numbers of two types
            are cast to a common one, as by `if_else`: integers and a float to float64.

    Raises:
        TypeError, ValueError: If `value` does not fit the type, or is an array of another length.
    """
    require_valid(array)
    if array.layout.kind is LayoutKind.RUN_END_ENCODED and not isinstance(value, Array):
        return encoded_alike(array, lambda values: fill_null(values, value), decode=True)
    return _first_valid((array, value), ("array", "value"))


@operation
def fill_null_forward(array: Array) -> Array:
    """The array with each null replaced by the last value before it; null if there is none.

    Copied if there are nulls.
    """
    require_valid(array)
    return _filled(array, True)


@operation
def fill_null_backward(array: Array) -> Array:
    """The array with each null replaced by the next value after it; null if there is none.

    Copied if there are nulls.
    """
    require_valid(array)
    return _filled(array, False)


@operation(kind=Kind.ELEMENT_WISE)
def case_when(conditions: Array | Sequence[Array], *cases: object) -> Array:
    """The value of the first case whose condition is true, slot by slot, as `pyarrow.compute.case_when`.

    A condition that is null counts as false. Copied, as by `if_else`.

    Args:
        conditions: Booleans: a struct array with a field for each case, or a list of arrays.
        cases: A case for each condition, and perhaps one more for slots without a true condition, which
            else are null: arrays of one type, or Python values.

    Raises:
        TypeError: If conditions are not booleans, or the types of cases differ.
        ValueError: If there are more or fewer cases, or lengths or devices differ.
    """
    if isinstance(conditions, Array):
        require_valid(conditions)
        conditions = struct_flatten(conditions)
    for number, condition in enumerate(conditions):
        if not isinstance(condition, Array):
            raise TypeError(
                f"conditions[{number}]: expected an Array of booleans, got {type(condition).__name__};"
                " write case_when([condition, …], value, …, default)"
            )
    if not 0 <= len(cases) - len(conditions) <= 1 or not conditions:
        raise ValueError(f"cases: {len(cases)} for {len(conditions)} conditions")
    result = cases[len(conditions)] if len(cases) > len(conditions) else None
    pairs = zip(conditions, cases, strict=False)
    for condition, case in reversed([*pairs]):
        result = if_else(coalesce(condition, False), case, result)
    assert isinstance(result, Array)
    return result


@operation
def shift(array: Array, periods: int = 1, *, fill_value: object = None) -> Array:
    """Each value replaced by the one `periods` slots before it, as pandas' `shift`. Copied.

    Args:
        periods: The number of slots by which values move towards the end, or, if negative, the
            beginning.
        fill_value: A Python value for the slots that become free; null by default.
    """
    require_valid(array)
    count = min(abs(periods), array.length)
    missing = nulls(count, array.type, array.device)
    entering = missing if fill_value is None else fill_null(missing, fill_value)
    if periods < 0:
        return concat([array.slice(count), entering])
    return concat([entering, array.slice(0, array.length - count)])


def _valid_bits(array: Array, beside: Sequence[object] = ()) -> Buffer:
    """A bit for each slot, from bit 0 on: whether it is valid."""
    kind = array.layout.kind
    if kind is LayoutKind.NULL:
        target = target_of(device_of(each for each in beside if isinstance(each, Array)))
        return target.buffer(target.allocate((array.length + 7) // 8, np.uint8))
    if kind in (LayoutKind.DICTIONARY, LayoutKind.RUN_END_ENCODED):
        shown = on_values(array, lambda values: _marked(values))
        return compact_validity(shown) or _ones(array)
    if kind in (LayoutKind.SPARSE_UNION, LayoutKind.DENSE_UNION):
        children = [_booleans(child, _valid_bits(child)) for child in array.children]
        storage = array.type.storage
        assert isinstance(storage, s.Union)
        fields = [s.field(field.name, s.bool_()) for field in storage.fields]
        make = s.sparse_union if storage.mode == "sparse" else s.dense_union
        type_ = make(fields, storage.type_codes)
        union = Array.of_valid(
            type_, array.length, array.buffers, 0, children, None, offset=array.offset
        )
        flags = gather_union(union)
        values = flags.buffers[1]
        assert values is not None
        return values
    return compact_validity(array) or _ones(array)


def _flags(array: Array, beside: Sequence[object] = ()) -> Array:
    """As `is_valid`; not copied if the array has a bitmap; without bytes, where those beside it are."""
    require_valid(array)
    bitmap = array.buffers[0] if _has_own_nulls(array) else None
    if bitmap is None:
        return _booleans(array, _valid_bits(array, beside))
    return Array.of_valid(_BOOL, array.length, (None, bitmap), 0, offset=array.offset)


def _has_own_nulls(array: Array) -> bool:
    """Whether the array's own bitmap says which slots are null; a dictionary may have other nulls."""
    return array.layout.has_validity and array.dictionary is None


def _marked(values: Array) -> Array:
    """Booleans that are true where values are valid, and else null."""
    bits = _valid_bits(values)
    return Array.of_valid(_BOOL, values.length, (bits, bits))


def _ones(array: Array) -> Buffer:
    """A bitmap with a set bit for each slot."""
    target = target_of(array.device)
    words = filled(target, -(-array.length // 64), np.uint64, ~np.uint64(0))
    return bitmap_of(target, words, array.length)


def _booleans(array: Array, bits: Buffer) -> Array:
    return Array.of_valid(_BOOL, array.length, (None, bits), 0)


@on_its_device
def _filled(array: Array, forward: bool) -> Array:
    """Each null filled with the value before it, or else with the one after it.

    So a value and the nulls that it fills are a run.
    """
    valid, target, length = _flags(array), target_of(array.device), array.length
    bits = valid.buffers[1]
    if bits is None:
        return array
    kept = Kept.of(target, bits.array, valid.offset, length)
    if kept.count in (0, length):
        return array
    # Nulls on the other side of all values are a run of their own.
    listed = kept.positions()
    nearest = target.item(listed, 0 if forward else kept.count - 1)
    rest = int(nearest != (0 if forward else length - 1))
    places = target.output(kept.count + rest, np.uint64)
    own = slice(rest, None) if forward else slice(0, kept.count)
    places[0 if forward else -1] = 0 if forward else length - 1
    places[own] = listed
    ends = target.output(len(places), np.int64)
    if forward:
        ends[:-1], ends[-1] = places[1:], length
    else:
        ends[:] = places
        ends += 1
    has_only_values = not rest and _has_own_nulls(array)
    values = drop_nulls(array) if has_only_values else take_positions(array, places)
    return run_end_decode(run_end_encoded(length, integers(target, ends), values))
