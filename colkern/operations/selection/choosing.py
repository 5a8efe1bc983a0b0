"""`if_else` and `interleave`: values chosen from several arrays, slot by slot.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.layouts import Role, layout
from colkern.memory import HOST, Buffer, Device
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.operands import Plans, is_side_by_side, planned
from colkern.operations.own_slots import own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.promotion import cast_alike
from colkern.operations.remedies import instead_of_encoded_booleans
from colkern.operations.selection import choices
from colkern.operations.selection.concatenation import concat, require_one_type
from colkern.operations.selection.gathering import Places, gather
from colkern.operations.selection.taking import take_positions
from colkern.targets import Items, Target, on_its_device, target_of

_BOOL = s.bool_()

_PLANS: Plans[bool] = {}
"""True for arrays of one type."""

_TYPE_IDS = 128
"""The number of arrays that type ids can distinguish."""


@operation(kind=Kind.ELEMENT_WISE)
def if_else(condition: Array, left: object, right: object) -> Array:
    """The value of `left` where `condition` is true, of `right` where it is false; null where it is null.

    As `pyarrow.compute.if_else`, for every type. Numbers of two types are cast to a common one, as by
    operators; text of two layouts gets that of the first side, and columns of type null take the type of
    the other side. No other types are widened.
    Values are copied (of views, only the views; dictionaries are concatenated). Unions and run-end
    encoded arrays have no nulls of their own: a null is in the child, or in the run's value.

    Args:
        condition: Booleans; or an array of type null, such as `array([])`.
        left: An array of the same length on the same device, or one Python value for all slots. A value
            takes the type of the other side, or, if that is no array, the type that `array` infers; a
            float beside integers makes them float64.
        right: As `left`.

    Raises:
        TypeError: If `condition` has no booleans, both sides are arrays of different types, or a value
            has the wrong class for the type of the other side.
        ValueError: If lengths or devices differ, or a value does not fit the type.
        LimitExceededError: If offsets, run ends or dictionary indices become too large for the type.
    """
    return choose(condition, left, right)


def choose(
    condition: Array,
    left: object,
    right: object,
    names: Sequence[str] = ("left", "right"),
    *,
    is_whole: bool = False,
) -> Array:
    """As `if_else`, with the names of both sides for errors; all of `left`, not copied, if `is_whole`."""
    values = condition.buffers[1] if condition.type is _BOOL else None
    if (
        values is None
        or planned(_PLANS, left, right) is None
        or condition.length != left.length  # type: ignore[attr-defined]
        or values.device != left.device  # type: ignore[attr-defined]
    ):
        condition, left, right = _fitting(condition, left, right, names)
    if is_whole:
        return left  # type: ignore[return-value]
    return choices.choose(condition, left, right)  # type: ignore[arg-type]


def _fitting(
    condition: Array, left: object, right: object, names: Sequence[str]
) -> tuple[Array, Array, Array]:
    """The condition, and both sides as checked arrays of one type, each of one value or of full length."""
    left, right = _of_one_type(left, right)
    named = zip((condition, left, right), ("condition", *names), strict=True)
    arrays = {name: value for value, name in named if isinstance(value, Array)}
    device = one_device([*arrays.values()], *arrays)
    if isinstance(condition.type, s.Null):
        # The array is of type null, as `array([])`, and has no bytes on any device.
        condition = nulls(condition.length, s.bool_(), device)
    if not isinstance(condition.type.storage, s.Bool):
        instead = instead_of_encoded_booleans(condition.type)
        raise TypeError(f"condition: expected booleans, got {condition.type}{instead}")
    type_ = _type_of_sides(left, right, names)
    own, other = [
        _side(value, name, type_, condition.length, device)
        for name, value in zip(names, (left, right), strict=True)
    ]
    if left is own and right is other and is_side_by_side(own):
        _PLANS[own.layout, other.layout] = True
    return condition, own, other


@operation
def interleave(arrays: Sequence[Array], indices: Array | Sequence[tuple[int, int]]) -> Array:
    """The values at pairs of an array's number and a position in it; copied, as by `take`.

    Args:
        arrays: At least one, of one type and on one device; see `concat`.
        indices: The pairs, as a sequence of them or a NumPy array of integers [n, 2]; or a struct array
            with two fields of integers, without nulls, on the same device.

    Raises:
        TypeError: If the arrays' types differ, or `indices` are no pairs of integers.
        ValueError: If there is no array, a pair is null, or devices differ.
        IndexError: If there is no such array, or it has no such position.
        LimitExceededError: If offsets, run ends or dictionary indices become too large for the type.
    """
    require_one_type(arrays)
    columns = [*arrays, indices] if isinstance(indices, Array) else arrays
    names = [f"arrays[{k}]" for k in range(len(arrays))]
    target = target_of(one_device(columns, *names, "indices"))
    pairs = _pairs(target, indices)
    places = _places(target, pairs, arrays)
    if len(arrays) > _TYPE_IDS or max([array.length for array in arrays]) >> 31:
        return take_positions(concat(arrays), _places_in_all(target, pairs, arrays))
    return gather(arrays, places)


def _of_one_type(*sides: object) -> Sequence[object]:
    """The sides, with numbers or text of two types cast to a common one; other arrays as they are."""
    types = [side.type for side in sides if isinstance(side, Array)]
    if len(types) == 2:
        is_mixed = not s.same_type(*types)
    else:
        # Python's float does not change the type of floats.
        alone = np.floating if types and isinstance(types[0], s.FloatingPoint) else _FLOATS
        left, right = sides
        is_mixed = len(types) == 1 and (isinstance(left, alone) or isinstance(right, alone))
    return cast_alike(sides) if is_mixed else sides


_FLOATS = (float, np.floating)


def _type_of_sides(left: object, right: object, names: Sequence[str]) -> s.DataType:
    """The type of the arrays that are not of type null; without such, the type of the values."""
    type_ = None
    for side in (left, right):
        if isinstance(side, Array) and not isinstance(side.type, s.Null):
            if type_ is not None and not s.same_type(type_, side.type):
                raise TypeError(
                    f"{names[1]}: {side.type}, {names[0]} is {type_}; cast one of them first"
                )
            type_ = side.type
    if type_ is not None:
        return type_
    values = [None if isinstance(side, Array) else side for side in (left, right)]
    return _built(values, names, None).type


def _side(value: object, name: str, type_: s.DataType, length: int, device: Device) -> Array:
    """A side of `if_else` as a checked array; of one value if that is used for all slots."""
    if isinstance(value, Array):
        if value.length != length:
            raise ValueError(f"{name}: {value.length} values, condition has {length}")
        require_valid(value)
        return nulls(length, type_, device) if isinstance(value.type, s.Null) else value
    if value is None:
        return nulls(1, type_, device)
    single = _number(value, type_)
    if single is None:
        single = _kept_single(value, name, type_)
    if device != HOST:
        # Imported late: it is not needed on the host.
        from colkern.operations.moving import to_device

        single = to_device(single, device)
    return single


_SINGLES: dict[tuple[object, ...], tuple[Array, s.DataType]] = {}
"""A type by its identity, a class, and a text or boolean of it → the array of that, and the type."""

_MOST_SINGLES, _LONGEST_SINGLE = 1 << 10, 1 << 10


def _kept_single(value: object, name: str, type_: s.DataType) -> Array:
    """A value as an array; text and booleans are kept, as to make one takes longer than a choice of few."""
    is_short = isinstance(value, str | bytes) and len(value) <= _LONGEST_SINGLE
    if not (is_short or value.__class__ is bool):
        return _built([value], [name], type_)
    key = id(type_), value.__class__, value
    kept = _SINGLES.get(key)
    if kept is None:
        if len(_SINGLES) >= _MOST_SINGLES:
            _SINGLES.clear()
        kept = _SINGLES[key] = _built([value], [name], type_), type_
    return kept[0]


def _number(value: object, type_: s.DataType) -> Array | None:
    """An array of a number that certainly fits; None for other values, which a builder must check."""
    fits = (
        isinstance(type_, s.FloatingPoint) and type_.bit_width == 64
        if value.__class__ is float
        else isinstance(type_, s.Int)
        and value.__class__ is int
        and 0 <= value < 1 << type_.bit_width - type_.signed
    )
    if not fits:
        return None
    item = np.array([value], layout(type_).buffers[1].dtype)
    return Array.of_valid(type_, 1, (None, Buffer.of_items(item)), 0)


def _built(values: Sequence[object], names: Sequence[str], type_: s.DataType | None) -> Array:
    """An array of the values of arguments, whose names are for errors."""
    # Imported late: most calls need no builder.
    from colkern.builders import array

    try:
        return array(values, type_)
    except (TypeError, ValueError) as error:
        text = str(error)
        # Only the name in front is replaced: the value, quoted after it, may be any text.
        for place, name in enumerate(names):
            if text.startswith(f"values[{place}]"):
                text = name + text.removeprefix(f"values[{place}]")
                break
        raise type(error)(text) from None


_Pairs: TypeAlias = tuple[Items, Items]
"""Numbers of arrays, and positions in them: items of 64 bits, which may have others between them."""


@on_its_device
def _pairs(target: Target, indices: Array | Sequence[tuple[int, int]]) -> _Pairs:
    if isinstance(indices, Array):
        require_valid(indices)
        storage = indices.type.storage
        fields = storage.fields if isinstance(storage, s.Struct) else ()
        if len(fields) != 2 or not all(isinstance(field.type, s.Int) for field in fields):
            raise TypeError(f"indices: expected structs of two integers, got {indices.type}")
        children = own_children(indices)
        if indices.null_count or any(child.null_count for child in children):
            raise ValueError("indices: must not be null")
        numbers, positions = [_wide(child.items(Role.DATA)) for child in children]
        return numbers, positions
    pairs = np.asarray(indices)
    if pairs.size == 0:
        pairs = pairs.astype(np.int64).reshape(0, 2)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise TypeError("indices: expected pairs of integers: (number of the array, position)")
    items = np.ascontiguousarray(_wide(pairs)).reshape(-1)
    items = target.table(items, items.dtype)
    return items[::2], items[1::2]


def _wide(integers: Items) -> Items:
    """Integers as int64, or as uint64 if they have no sign."""
    return integers.astype(f"{integers.dtype.kind}8", copy=False)


@on_its_device
def _places(target: Target, pairs: _Pairs, arrays: Sequence[Array]) -> Places:
    """The pairs as places of a union's slots. Raises `IndexError` if one leads nowhere."""
    lengths = [array.length for array in arrays]
    numbers, positions = pairs
    type_ids, most = _narrowed(numbers, np.int8)
    if most >= len(arrays):
        slot = int(((numbers < 0) | (numbers >= len(arrays))).argmax())
        number = int(numbers[slot])
        raise IndexError(f"indices: pair {slot} has array {number}, there are {len(arrays)}")
    offsets, most = _narrowed(positions, np.int32)
    if most >= min(lengths):
        _require_positions(target, pairs, lengths)
    return Places(target, type_ids, target.positions(_TYPE_IDS), offsets)


def _narrowed(items: Items, dtype: type) -> tuple[Items, int]:
    """The lowest bits of items, and the greatest of these, negative ones among them."""
    words = items.view(np.uint64)
    return words.astype(dtype), int(words.max()) if len(words) else 0


def _require_positions(target: Target, pairs: _Pairs, lengths: list[int]) -> None:
    numbers, positions = pairs
    ends = target.table(lengths, np.int64)[numbers]
    outside = (positions < 0) | (positions >= ends)
    if bool(outside.any()):
        slot = int(outside.argmax())
        raise IndexError(
            f"indices: pair {slot} has position {int(positions[slot])}, "
            f"array {int(numbers[slot])} has {int(ends[slot])} values"
        )


@on_its_device
def _places_in_all(target: Target, pairs: _Pairs, arrays: Sequence[Array]) -> Items:
    numbers, positions = pairs
    starts = list(accumulate([array.length for array in arrays], initial=0))
    bases = target.table(starts[:-1], np.int64)[numbers]
    return bases + positions.astype(np.int64)
