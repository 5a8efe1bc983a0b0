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
from colkern.bitmaps import expand, written_bits
from colkern.forks import cached_property
from colkern.kernels import bitmaps, selection, unions
from colkern.layouts import Extent, LayoutKind, Role, layout
from colkern.memory import EMPTY, HOST, Buffer, Device
from colkern.operations.arguments import Kind, operation
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.operands import Plans, is_side_by_side, planned
from colkern.operations.own_slots import own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.promotion import cast_alike
from colkern.operations.remedies import instead_of_encoded_booleans
from colkern.operations.selection.concatenation import concat, require_one_type
from colkern.operations.selection.gathering import Places, gather, gather_bytes
from colkern.operations.selection.repeating import repeat
from colkern.operations.selection.taking import take_positions
from colkern.operations.selection.words import own_words
from colkern.operations.validity import compact_validity, null_outside
from colkern.targets import NOWHERE, Items, Target, on_its_device, target_of

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
    return choose_slots(condition, left, right)  # type: ignore[arg-type]


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
    if isinstance(indices, Array):
        names = [f"arrays[{k}]" for k in range(len(arrays))]
        device = one_device([*arrays, indices], *names, "indices")
    else:
        device = one_device(arrays)
    target = target_of(device)
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


@on_its_device
def _pairs(target: Target, indices: Array | Sequence[tuple[int, int]]) -> Items:
    """The number of an array, and the position in it, of each pair (int64 or uint64 [2 n])."""
    if isinstance(indices, Array):
        require_valid(indices)
        storage = indices.type.storage
        fields = storage.fields if isinstance(storage, s.Struct) else ()
        if len(fields) != 2 or not all(isinstance(field.type, s.Int) for field in fields):
            raise TypeError(f"indices: expected structs of two integers, got {indices.type}")
        children = own_children(indices)
        if indices.null_count or any(child.null_count for child in children):
            raise ValueError("indices: must not be null")
        numbers, positions = [child.items(Role.DATA) for child in children]
        items = target.output(2 * indices.length, f"{positions.dtype.kind}8")
        items[::2], items[1::2] = numbers, positions
        return items
    pairs = np.asarray(indices)
    if pairs.size == 0:
        pairs = pairs.astype(np.int64).reshape(0, 2)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise TypeError("indices: expected pairs of integers: (number of the array, position)")
    items = np.ascontiguousarray(pairs, f"{pairs.dtype.kind}8").reshape(-1)
    return target.table(items, items.dtype)


@on_its_device
def _places(target: Target, pairs: Items, arrays: Sequence[Array]) -> Places:
    """The pairs as places of a union's slots. Raises `IndexError` if one leads nowhere."""
    count, slot = len(pairs) // 2, NOWHERE
    groups = count + 3 >> 2
    ends = target.table([array.length for array in arrays], np.int64)
    slots = target.output(count + groups, np.int32)
    if count:
        slot = target.reduce(unions.split_pairs, groups, pairs, ends, count, slots, work=4)
    if slot != NOWHERE:
        number, position = target.item(pairs, 2 * slot), target.item(pairs, 2 * slot + 1)
        if not 0 <= number < len(arrays):
            raise IndexError(f"indices: pair {slot} has array {number}, there are {len(arrays)}")
        raise IndexError(
            f"indices: pair {slot} has position {position}, "
            f"array {number} has {arrays[number].length} values"
        )
    type_ids = slots[count:].view(np.int8)[:count]
    return Places(target, type_ids, target.positions(_TYPE_IDS), slots[:count])


@on_its_device
def _places_in_all(target: Target, pairs: Items, arrays: Sequence[Array]) -> Items:
    starts = list(accumulate([array.length for array in arrays], initial=0))
    bases = target.table(starts[:-1], np.int64)[pairs[::2]]
    return bases + pairs[1::2].astype(np.int64)


class _Choice:
    """The choice between two arrays, for each slot.

    Args:
        condition: Booleans; true chooses the left array.

    Attributes:
        device: Where they are, and the bytes of the arrays.
        bits: They, and the first bit.
    """

    def __init__(self, condition: Array) -> None:
        self.device = condition.device
        self.target: Target = target_of(self.device)
        bits = condition.buffers[1]
        self.bits = EMPTY if bits is None else bits, condition.offset
        self.length = condition.length

    @cached_property
    def flags(self) -> Items:
        """The condition as bytes (uint8[length]), 0 or 1."""
        return expand(self.target, *self.bits, self.length).view(np.uint8)


_NUMBERS = np.array([1, 0, *[-1] * 126], np.int64)
"""Flag → number of the array. Kept, since making an array from a list is slow."""

_Bits: TypeAlias = tuple[Buffer, int] | bool
"""A bitmap and its first bit, or a bit that is the same for all slots."""


def choose_slots(condition: Array, left: Array, right: Array) -> Array:
    """The values of `left` where a condition is true, else those of `right`; null where it is null; copied.

    Args:
        left: A checked array of the same length, or of one value that is used for every slot.
        right: As `left`, of the same type, and on the device of the condition, or without bytes.
    """
    length = condition.length
    if not left.length == right.length == length:
        both_one = left.length == right.length
        # Positions of the one value that stands for many have 32 bits.
        left = repeat(left, length) if both_one or (length >> 31 and left.length == 1) else left
        right = repeat(right, length) if length >> 31 and right.length == 1 else right
    return _chosen(_Choice(condition), left, right, condition)


def _chosen(choice: _Choice, left: Array, right: Array, above: Array | None) -> Array:
    """The chosen values, null also where `above` is."""
    layout, length = left.layout, choice.length
    kind = layout.kind
    if kind is LayoutKind.FIXED_SIZE and layout.buffers[1].slot_bits:
        if choice.device is HOST:
            return _fixed(choice, left, right, above)
        with choice.target.together:
            return _fixed(choice, left, right, above)
    if kind is LayoutKind.STRUCT:
        pairs = zip(own_children(left), own_children(right), strict=True)
        children = [_chosen(choice, *pair, None) for pair in pairs]
        validity, nulls = _validity(choice, left, right, above)
        return Array.of_valid(left.type, length, (validity,), nulls, children)
    places = _flag_places(choice, left, right)
    if kind is LayoutKind.BINARY:
        offsets, data = gather_bytes([left, right], places)
        validity, nulls = _validity(choice, left, right, above)
        return Array.of_valid(left.type, length, (validity, offsets, data), nulls)
    result = gather([left, right], places)
    if above is None or (visible := compact_validity(above)) is None:
        return result
    return null_outside(result, visible, above.null_count)


def _fixed(choice: _Choice, left: Array, right: Array, above: Array | None) -> Array:
    length = choice.length
    if left.layout.buffers[1].extent is Extent.BITS:
        data, _ = _bits(choice, True, _values(left, length), _values(right, length))
    else:
        data = _items(choice, left, right)
    validity, nulls = None, 0
    if left._null_count or right._null_count or (above is not None and above._null_count):
        validity, nulls = _validity(choice, left, right, above)
    return Array.of_valid(left.type, length, (validity, data), nulls)


@on_its_device
def _flag_places(choice: _Choice, left: Array, right: Array) -> Places:
    target, flags = choice.target, choice.flags
    numbers = target.table(_NUMBERS, np.int64)
    offsets = target.table([], np.int32)
    if left.length != right.length:
        own = flags if right.length == 1 else 1 - flags
        offsets = target.positions(choice.length).astype(np.int32) * own
    return Places(target, flags.view(np.int8), numbers, offsets)


def _items(choice: _Choice, left: Array, right: Array) -> Buffer:
    target, flip = choice.target, _NONE
    if left.length != choice.length:
        left, right, flip = right, left, _ALL
    words, width = own_words(left, Role.DATA)
    out = target.output(choice.length * width, words.dtype)
    arguments = (choice.bits[0].array, choice.bits[1], flip, words, own_words(right, Role.DATA)[0])
    target.map(selection.choose_items, choice.length, *arguments, width, out)
    return target.buffer(out)


def _validity(
    choice: _Choice, left: Array, right: Array, above: Array | None
) -> tuple[Buffer | None, int]:
    """The slots where the chosen value is valid, and `above`; the null count."""
    hidden = 0 if above is None else above._null_count
    if not left._null_count and not right._null_count and not hidden:
        return None, 0
    own, other = _valid(left, choice.length), _valid(right, choice.length)
    visible = above is None or _valid(above, choice.length)
    if other is True and (own is True or own == choice.bits):
        # Or: the left value is taken exactly where it is valid.
        return (None, 0) if above is None or visible is True else (compact_validity(above), hidden)
    bits, nulls = _bits(choice, visible, own, other)
    return (bits, nulls) if nulls else (None, 0)


def _valid(array: Array, length: int) -> _Bits:
    if array.length != length:
        return not array._null_count or not array.null_count
    if not array._null_count or not array.may_have_nulls:
        return True
    bits = array.buffers[0]
    return EMPTY if bits is None else bits, array.offset


def _values(array: Array, length: int) -> _Bits:
    bits = array.buffers[1]
    if bits is None:
        bits = EMPTY
    if array.length == length:
        return bits, array.offset
    byte = target_of(array.device).item(bits.array, array.offset >> 3)
    return bool(byte >> (array.offset & 7) & 1)


_NONE, _ALL = np.uint64(0), np.uint64((1 << 64) - 1)


def _bits(choice: _Choice, visible: _Bits, left: _Bits, right: _Bits) -> tuple[Buffer, int]:
    """The chosen bits that are visible, from bit 0 on; and the number of clear ones, or `UNKNOWN`."""
    target, length, own = choice.target, choice.length, choice.bits
    # A side without a bitmap has some other one, which does not count.
    if isinstance(left, bool):
        sides, left = bitmaps.LEFT_SET * left, own
    else:
        sides = bitmaps.OF_LEFT
    if isinstance(right, bool):
        sides, right = sides | bitmaps.RIGHT_SET * right, own
    else:
        sides |= bitmaps.OF_RIGHT
    shown = (target.no_bits, 0) if isinstance(visible, bool) else (visible[0].array, visible[1])
    arguments = own[0].array, own[1], *shown, left[0].array, left[1], right[0].array, right[1]
    return written_bits(target, bitmaps.choose_bits, length, *arguments, length, sides)
