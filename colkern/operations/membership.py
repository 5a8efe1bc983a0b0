"""`is_in`, `index_in` and `between`: whether values are in a set or range, and their place in a set.

`index` and `search_sorted` find the place of a value in a column, or where it belongs in a sorted one.

Columnar format 1.5: "Dictionary-encoded Layout", "Run-End Encoded Layout".
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.bitmaps import and_bits, packed_bits
from colkern.builders import array
from colkern.integers import slice_bounds
from colkern.memory import Buffer
from colkern.operations.arguments import Kind, operation
from colkern.operations.booleans import and_, or_
from colkern.operations.casting import cast
from colkern.operations.comparison import equal, greater, greater_equal, less, less_equal
from colkern.operations.creation import nulls
from colkern.operations.devices import one_device
from colkern.operations.dictionaries import number_values
from colkern.operations.encodings import decoded, on_values
from colkern.operations.moving import few_on_host, to_device
from colkern.operations.null_filling import fill_null, is_null
from colkern.operations.operands import value_type_of
from colkern.operations.patterns import Kept
from colkern.operations.position_checks import require_valid
from colkern.operations.promotion import cast_alike
from colkern.operations.selection.choosing import if_else
from colkern.operations.selection.concatenation import concat
from colkern.operations.sorting import places_among
from colkern.operations.validity import compact_validity, with_nulls_of
from colkern.targets import Items, Target, on_its_device, target_of


@operation
def index(array: Array, value: object, start: int = 0, end: int | None = None) -> int:
    """The position of the first slot that equals a value; -1 if none does.

    Args:
        array: Values that `equal` takes.
        value: A Python value. A null, like a NaN, equals nothing.
        start: The slot at which the search begins.
        end: The slot before which it ends; None for the length.

    Raises:
        IndexError: If `start` or `end` is out of range.
        TypeError, UnsupportedError, InvalidArrowError: As `equal`.
    """
    require_valid(array)
    begin, count = slice_bounds(start, None if end is None else end - start, array.length, "values")
    if value is None or not count:
        return -1
    flags = decoded(fill_null(equal(array.slice(begin, count), value), False))
    bits = flags.buffers[1]
    assert bits is not None
    target = target_of(flags.device)
    kept = Kept.of(target, bits.array, flags.offset, count)
    return begin + target.item(kept.positions(), 0) if kept.count else -1


@operation
def search_sorted(array: Array, needles: Array, side: Literal["left", "right"] = "left") -> Array:
    """Where values belong in a sorted array: uint64; null for a null.

    Args:
        array: Values in ascending order, as `sort_indices` has it; nulls at one of its ends.
        needles: Values of the same type, on the same device.
        side: Whether equal values come behind ("left") or before ("right") the place.

    Raises:
        TypeError: If the types differ.
        ValueError: If the array is not in order, has nulls between values, or `side` is another word.
        UnsupportedError, LimitExceededError, InvalidArrowError: As `sort_indices`.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side: expected 'left' or 'right', got {side!r}")
    require_valid(array)
    require_valid(needles)
    one_device((array, needles), "array", "needles")
    array, needles = decoded(array), decoded(needles)
    nulls = array.null_count
    begin = nulls if nulls < array.length and array.slice(0, 1).null_count else 0
    values = array.slice(begin, array.length - nulls)
    if values.null_count:
        raise ValueError("array: expected nulls at one end only")
    target = target_of(needles.device)
    places = places_among(target, needles, values, side, "array", begin)
    return with_nulls_of(needles, s.uint64(), (target.buffer(places),))


Inclusive = Literal["both", "left", "right", "neither"]

FEW = 4
"""Sets of up to this many values are compared one by one."""


@operation
def is_in(values: Array, value_set: Array | Sequence[Any], *, skip_nulls: bool = False) -> Array:
    """Whether each value is in a set, as booleans without nulls; as `pyarrow.compute.is_in`.

    Args:
        values: An array that `dictionary_encode` takes; encoded ones are looked up by their values.
        value_set: An array on the same device, or Python values. Numbers or text of another type are
            cast, as by `if_else`.
        skip_nulls: Whether to ignore nulls in the set. Else nulls are in a set that has a null.

    Raises:
        TypeError: If the types have no common one.
        ValueError: If the devices differ.
    """
    values, members = _with_set(values, value_set)
    has_null = bool(members.null_count) and not skip_nulls
    storage = members.type.storage
    if isinstance(storage, s.Null) or (
        members.length <= FEW and not isinstance(storage, s.FloatingPoint)
    ):
        ones = [equal(values, one) for one in few_on_host(members).to_pylist() if one is not None]
        none = () if ones else (nulls(values.length, s.bool_(), values.device),)
        flags = functools.reduce(or_, [*ones, *none])
    else:
        flags = on_values(values, lambda plain: _are_members(plain, members))
    known = fill_null(flags, False) if flags._null_count else flags
    return or_(known, is_null(values)) if has_null else known


@operation
def index_in(values: Array, value_set: Array | Sequence[Any], *, skip_nulls: bool = False) -> Array:
    """The first position of each value in a set: int32, null if it is not in the set.

    As `pyarrow.compute.index_in`; arguments and errors are those of `is_in`.
    """
    values, members = _with_set(values, value_set)
    if isinstance(members.type.storage, s.Null):
        places = nulls(values.length, s.int32(), values.device)
    else:
        places = on_values(values, lambda plain: _places(plain, members))
    if not members.null_count or skip_nulls:
        return places
    return if_else(is_null(values), index(is_null(members), True), places)


@operation(kind=Kind.ELEMENT_WISE)
def between(array: Array, low: object, high: object, inclusive: Inclusive = "both") -> Array:
    """Whether each value is between two others: booleans, null if one of the three is null.

    Args:
        array: Values that `less` takes.
        low: An array of the same length, or a Python value.
        high: As `low`.
        inclusive: Which of the bounds count as between them.

    Raises:
        ValueError: If `inclusive` is another word.
        TypeError, UnsupportedError, InvalidArrowError: As `less`.
    """
    if inclusive not in get_args(Inclusive):
        raise ValueError(f"inclusive: expected one of {get_args(Inclusive)}, got {inclusive!r}")
    above: Any = greater_equal if inclusive in ("both", "left") else greater
    below: Any = less_equal if inclusive in ("both", "right") else less
    return and_(above(array, low), below(array, high))


def _with_set(values: Array, value_set: Array | Sequence[object]) -> tuple[Array, Array]:
    """The values, which may be encoded, and a set as an array of their type."""
    require_valid(values)
    type_ = values.type
    while isinstance(type_.storage, s.Dictionary | s.RunEndEncoded):
        type_ = type_.storage.value_type
    if not isinstance(value_set, Array):
        return values, to_device(array(value_set, type_), values.device)
    require_valid(value_set)
    one_device((values, value_set), "values", "value_set")
    members = decoded(value_set)
    if s.same_type(members.type, type_) or isinstance(members.type, s.Null):
        return values, cast(members, type_)
    plain, others = cast_alike([values, members])
    is_extended = any(isinstance(each, s.Extension) for each in (type_, members.type))
    if is_extended or value_type_of(plain) != value_type_of(others):
        raise TypeError(f"value_set: {members.type}, values is {type_}; cast one of them first")
    return plain, others


@on_its_device
def _numbers(plain: Array, members: Array) -> tuple[Target, Items, Items]:
    """A number for each value, and first slots of the members of a set; others have larger numbers."""
    # The number of a value leads to its first slot. The set stands in front, so that slot is in the
    # set.
    known = members.length
    numbers, firsts = number_values(concat([members, plain]), True, np.uint32, closed=known)
    return target_of(plain.device), numbers[known:], firsts[firsts < known]


@on_its_device
def _are_members(plain: Array, members: Array) -> Array:
    """Whether each value is in a set, as booleans; False for nulls."""
    target, numbers, firsts = _numbers(plain, members)
    bits = _found_bits(target, plain, numbers < len(firsts))
    return Array.of_valid(s.bool_(), plain.length, (None, bits), 0)


@on_its_device
def _places(plain: Array, members: Array) -> Array:
    """The first position of each value in a set, int32; null for nulls and for values not in the set."""
    target, numbers, firsts = _numbers(plain, members)
    known = _found_bits(target, plain, numbers < len(firsts))
    table = target.output(len(firsts) + 1, np.int32)
    table[:-1], table[-1] = firsts, 0
    places = table.take(np.minimum(numbers, len(firsts)))
    return Array.of_valid(s.int32(), plain.length, (known, target.buffer(places)))


def _found_bits(target: Target, plain: Array, flags: Items) -> Buffer:
    bits = packed_bits(target, flags)
    if plain.null_count:
        bits, _ = and_bits(bits, 0, compact_validity(plain) or bits, 0, plain.length)
    return bits
