"""Values of canonical extension types as Python objects.

A presenter makes the values of chosen valid slots, like a decoder in `colkern.arrays.values`. It is
given the decoder for the type's storage.

Format: "Canonical Extension Types".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from colkern import schema as s
from colkern.arrays import Array
from colkern.arrays.slots import Slots, Values, element_ranges, items_at, same_slots, valid_at
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.extensions.canonical import known_parameters
from colkern.extensions.metadata import TensorParameters
from colkern.extensions.storage import tensor_fields
from colkern.layouts import Role
from colkern.memory import Items

Decode: TypeAlias = Callable[[Array, Slots, int | None], Values]
Shape: TypeAlias = Sequence[int | None]
"""The sizes of a tensor's dimensions; None for nulls, which are refused."""

Presenter: TypeAlias = Callable[[s.Extension, Array, Slots, int | None, Decode], Values]


class OffsetTimestamp(NamedTuple):
    """A value of `arrow.timestamp_with_offset` that Python's `datetime` cannot hold."""

    timestamp: Any
    """The moment, in UTC."""
    offset_minutes: int

    def __str__(self) -> str:
        """The local time and the offset, as RFC 3339 writes them."""
        stamp = self.timestamp
        if isinstance(stamp, datetime):
            stamp = np.datetime64(stamp.replace(tzinfo=None), "us")
        if not isinstance(stamp, np.datetime64):
            return repr(self)
        if np.isnat(stamp):
            return "NaT"
        per_second = s.PER_SECOND[np.datetime_data(stamp.dtype)[0]]
        # As Python's integers, since near the ends of 64 bits an offset leads outside.
        seconds, part = divmod(int(stamp.astype(np.int64)), per_second)
        seconds += self.offset_minutes * 60
        if not -(2**63) < seconds < 2**63:
            return repr(self)
        digits = f".{part:0{len(str(per_second)) - 1}}" if per_second > 1 else ""
        hours, minutes = divmod(abs(self.offset_minutes), 60)
        sign = "-" if self.offset_minutes < 0 else "+"
        return f"{np.datetime64(seconds, 's')}{digits}{sign}{hours:02}:{minutes:02}"


def presenter_of(type_: s.Extension) -> Presenter | None:
    """The presenter for a type's values; None if they are shown as their storage's."""
    present = _PRESENTERS.get(type_.extension_name)
    return present if present and known_parameters(type_) is not None else None


def _uuids(
    type_: s.Extension, array: Array, slots: Slots, most: int | None, decode: Decode
) -> Values:
    from uuid import UUID

    return [UUID(bytes=value) for value in decode(array, slots, most)]


def booleans(
    type_: s.Extension, array: Array, slots: Slots, most: int | None, decode: Decode
) -> Values:
    """Whether each value is not 0."""
    return [value != 0 for value in decode(array, slots, most)]


def _offset_timestamps(
    type_: s.Extension, array: Array, slots: Slots, most: int | None, decode: Decode
) -> Values:
    rows = decode(array, slots, None)
    return [_at_offset(row["timestamp"], row["offset_minutes"] or 0) for row in rows]


def _at_offset(stamp: object, minutes: int) -> object:
    if stamp is None:
        return None
    if not isinstance(stamp, datetime) or abs(minutes) >= 24 * 60:
        return OffsetTimestamp(stamp, minutes)
    try:
        return stamp.astimezone(timezone(timedelta(minutes=minutes)))
    except OverflowError:
        # In the first or last hours of Python's calendar.
        return OffsetTimestamp(stamp, minutes)


# Tensors


def _fixed_shape_tensors(
    type_: s.Extension, array: Array, slots: Slots, most: int | None, decode: Decode
) -> Values:
    parameters = known_parameters(type_)
    assert isinstance(parameters, TensorParameters)
    elements = _Elements(array.children[0], parameters)
    if most is not None and elements.numbers is None:
        # To show a few elements, this would have to make objects of all.
        return decode(array, slots, most)
    ranges = zip(*(part.tolist() for part in element_ranges(array, slots)), strict=True)
    shape = parameters.shape or ()
    return [elements.tensor(start, size, shape, most) for start, size in ranges]


def _variable_shape_tensors(
    type_: s.Extension, array: Array, slots: Slots, most: int | None, decode: Decode
) -> Values:
    parameters = known_parameters(type_)
    assert isinstance(parameters, TensorParameters)
    fields = array.type.fields
    data_at, shape_at = (fields.index(field) for field in tensor_fields(array.type.storage))
    data, shapes = array.children[data_at], array.children[shape_at]
    elements = _Elements(data.children[0], parameters)
    if most is not None and elements.numbers is None:
        return decode(array, slots, most)
    # A tensor is null if its data or its shape is.
    places = same_slots(array, data_at, slots)
    bitmaps = valid_at(data, places), valid_at(shapes, same_slots(array, shape_at, slots))
    present = np.ones(slots.size, np.bool_)
    for valid in bitmaps:
        present &= True if valid is None else valid
    starts, sizes = element_ranges(data, places[present])
    rows = _shape_rows(shapes, places[present], parameters.dimensions)
    tensors: Values = [None] * slots.size
    for position, start, size, shape in zip(
        np.flatnonzero(present).tolist(), starts.tolist(), sizes.tolist(), rows, strict=True
    ):
        try:
            tensors[position] = elements.tensor(start, size, shape, most)
        except InvalidArrowError as error:
            raise error.at(f"slot {slots[position]}") from None
        except UnsupportedError as error:
            raise UnsupportedError(f"slot {slots[position]}: {error}") from None
    return tensors


def _shape_text(shape: Shape) -> str:
    return f"[{', '.join('null' if size is None else str(size) for size in shape)}]"


def _shape_rows(shapes: Array, slots: Slots, dimensions: int) -> list[list[int | None]]:
    """The shapes at those slots, with None for nulls within a shape."""
    starts, _ = element_ranges(shapes, slots)
    places = (starts[:, None] + np.arange(dimensions)).reshape(-1)
    sizes = items_at(shapes.children[0], Role.DATA, places)
    valid = valid_at(shapes.children[0], places)
    if valid is not None:
        sizes = sizes.astype(np.object_)
        sizes[~valid] = None
    return sizes.reshape(slots.size, dimensions).tolist()


class _Elements:
    """The elements of all tensors; each tensor is a part of them."""

    def __init__(self, child: Array, parameters: TensorParameters) -> None:
        self._child = child
        self._order = parameters.permutation or tuple(range(parameters.dimensions))
        are_numbers = isinstance(child.type, s.Int | s.FloatingPoint)
        self.numbers: Items | None = child.items(Role.DATA) if are_numbers else None
        """The elements, not copied, nulls among them as they lie; None if they are no numbers."""

    def tensor(self, start: int, size: int, shape: Shape, most: int | None) -> object:
        """The tensor of `size` elements from `start` on, in logical order; cut, and as lists, by `most`."""
        sizes = [own for own in shape if own is not None and own >= 0]
        if len(sizes) != len(shape) or prod(sizes) != size:
            raise InvalidArrowError(f"shape {_shape_text(shape)} of {size} elements")
        if self.numbers is None:
            tensor = self._arranged(self._objects(start, size), sizes, most)
        else:
            tensor = self._arranged(self.numbers[start : start + size], sizes, most)
            if self._has_null(start, size):
                valid = valid_at(self._child, np.arange(start, start + size, dtype=np.int64))
                assert valid is not None
                tensor = tensor.astype(np.object_)
                tensor[~self._arranged(valid, sizes, most)] = None
        return tensor if most is None else tensor.tolist()

    def _arranged(self, elements: Items, shape: list[int], most: int | None) -> Items:
        try:
            tensor = elements.reshape(shape).transpose(self._order)
        except ValueError:
            # A shape without elements may have sizes whose product, without the 0, is too large for
            # NumPy.
            raise UnsupportedError(
                f"a tensor of shape {_shape_text(shape)}; NumPy has none that large"
            ) from None
        if most is None:
            return tensor
        return tensor[tuple(slice(max(most - level, 1)) for level in range(tensor.ndim))]

    def _has_null(self, start: int, size: int) -> bool:
        bitmap = self._child.buffer(Role.VALIDITY)
        if bitmap is None or self._child.known_null_count == 0:
            return False
        first = self._child.offset + start
        bits = int.from_bytes(
            bitmap.array[first // 8 : (first + size + 7) // 8].tobytes(), "little"
        )
        return (bits >> first % 8 & (1 << size) - 1).bit_count() != size

    def _objects(self, start: int, size: int) -> Items:
        """The elements as Python objects, None for nulls."""
        elements = np.empty(size, np.object_)
        for place, value in enumerate(self._child.slice(start, size).to_pylist()):
            elements[place] = value
        return elements


_PRESENTERS: dict[str, Presenter] = {
    "arrow.uuid": _uuids,
    "arrow.bool8": booleans,
    "arrow.timestamp_with_offset": _offset_timestamps,
    "arrow.fixed_shape_tensor": _fixed_shape_tensors,
    "arrow.variable_shape_tensor": _variable_shape_tensors,
}
