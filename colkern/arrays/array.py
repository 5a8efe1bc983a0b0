"""`Array`: one class for every layout, a type over buffers.

`colkern.layouts` says which buffers and children an array has. Nothing here reads values: methods that
do (`to_pylist`, `equals`, `validate` …) are functions of higher packages, bound by `colkern.methods`.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from colkern.arrays.column import Column
from colkern.errors import InvalidArrowError
from colkern.integers import integer, slice_bounds
from colkern.layouts import Extent, Layout, LayoutKind, Role, layout
from colkern.memory import HOST, Buffer, Device, Items
from colkern.memory import UNKNOWN as UNKNOWN
from colkern.schema import DataType, Dictionary, same_type
from colkern.targets import target_of

if TYPE_CHECKING:
    from colkern import interchange, methods
    from colkern.arrays import equality, values
    from colkern.arrays.tabular import Chosen

_new = object.__new__


class Array(Column):
    """A column: `length` values of one type, from slot `offset` of its buffers on. Immutable.

    Args:
        length: The number of values.
        buffers: As `layout(type)` lists them; None for an absent one. A variadic layout has its
            data buffers after the fixed ones.
        children: The child arrays, for nested types.
        dictionary: The values, for a dictionary type.
        offset: The slot where the array starts; buffers and children keep the slots before it.
        null_count: The number of nulls, or `UNKNOWN` (-1) to count them when first asked for.

    Raises:
        TypeError: If length, offset or null count is no integer.
        InvalidArrowError: If a count does not fit the layout, a child or the dictionary has another
            type (see `colkern.schema.same_type`), or a buffer is too small for `offset + length` slots.
            Rules that only the bytes can show are left to `validate`.
    """

    __slots__ = (
        "_checked",
        "_device",
        "_device_record",
        "_encoding",
        "_is_utf8",
        "_kept_items",
        "_kept_words",
        "_make_buffers",
        "_null_count",
        "_odd_view",
        "_offset_ends",
        "_place",
        "_record",
        "_stated_null_count",
        "buffers",
        "children",
        "dictionary",
        "layout",
        "length",
        "offset",
        "type",
    )

    if TYPE_CHECKING:
        to_pylist = values.to_pylist
        equals = equality.equals
        validate = methods.validate
        __array__ = to_numpy = values.to_numpy
        __dlpack__ = interchange.export_tensor
        __dlpack_device__ = methods.dlpack_device
        __cuda_array_interface__ = property(methods.cuda_array_interface)
        __arrow_c_array__ = interchange.export_array
        __arrow_c_device_array__ = interchange.export_device_array

    # For an array without buffers of its own, once asked for.
    _device: Device
    _device_record: Any
    # Set by `colkern.operations.text`: a check of all bytes that runs on a device, for each data buffer.
    _encoding: list[Callable[[], int]] | None
    # Set by `require_utf8` once all text is known to be UTF-8.
    _is_utf8: bool
    _make_buffers: Callable[[int], tuple[Buffer | None, ...]] | None
    # Set by `ask_views`: the first view that has to be looked at, asked for on a device.
    _odd_view: Callable[[], int]
    # The first and the last offset, kept by `colkern.operations.operands.offset_ends`.
    _offset_ends: tuple[int, int]
    _place: int
    _stated_null_count: int
    # The record for compiled code (colkern.jit.views.records), once it is made.
    _record: Any

    def __init__(
        self,
        type: DataType,
        length: int,
        buffers: Sequence[Buffer | None],
        children: Sequence[Array] = (),
        dictionary: Array | None = None,
        offset: int = 0,
        null_count: int = UNKNOWN,
    ) -> None:
        # Every array passes here, and most have Python's own integers.
        if not length.__class__ is offset.__class__ is null_count.__class__ is int:
            length, offset = integer(length, "length"), integer(offset, "offset")
            null_count = integer(null_count, "null_count")
        self.type = type
        self.layout: Layout = layout(type)
        self.length = length
        self.buffers = tuple(buffers)
        self.children = tuple(children)
        self.dictionary = dictionary
        self.offset = offset
        self._null_count = null_count
        # Set by `require_valid` once the bytes have been checked.
        self._checked = False
        self._kept_items: tuple[Role, Items] | None = None
        # Kept by `colkern.operations.selection.own_words`.
        self._kept_words: tuple[Role, tuple[Items, int]] | None = None
        self._check_shape()

    @classmethod
    def late(
        cls,
        type: DataType,
        layout: Layout,
        length: int,
        null_count: int,
        make_buffers: Callable[[int], tuple[Buffer | None, ...]],
        place: int,
    ) -> Array:
        """An array whose buffers are made by `make_buffers(place)` when they are first asked for.

        For types without children and dictionary; the caller has checked counts and sizes. Readers make
        arrays by the ten thousand, and each further object would slow the garbage collector down.
        """
        array: Array = _new(LateArray)
        array.type = type
        array.layout = layout
        array.length = length
        array.children = ()
        array.dictionary = None
        array.offset = 0
        array._null_count = null_count
        array._checked = False
        array._kept_items = None
        array._kept_words = None
        array._make_buffers = make_buffers
        array._place = place
        return array

    @classmethod
    def of_valid(
        cls,
        type: DataType,
        length: int,
        buffers: Sequence[Buffer | None],
        null_count: int = UNKNOWN,
        children: Sequence[Array] = (),
        dictionary: Array | None = None,
        offset: int = 0,
    ) -> Array:
        """An array that is valid by construction: neither this method nor `require_valid` checks it.

        For the outputs of kernels. Children and dictionary must be valid, too.
        """
        array: Array = _new(cls)
        array.type = type
        try:
            # An attribute and no call, since every result passes here.
            array.layout = type._layout  # type: ignore[attr-defined]
        except AttributeError:
            array.layout = layout(type)
        array.length = length
        array.buffers = buffers if buffers.__class__ is tuple else tuple(buffers)
        array.children = children if children.__class__ is tuple else tuple(children)
        array.dictionary = dictionary
        array.offset = offset
        array._null_count = null_count
        array._checked = True
        array._kept_items = None
        array._kept_words = None
        return array

    def over(
        self,
        type: DataType,
        buffers: Sequence[Buffer | None],
        children: Sequence[Array],
        dictionary: Array | None,
    ) -> Array:
        """The same slots under another type of the same layout, or over copies of the parts.

        The null count, and whether the array has been checked, carry over.
        """
        nulls, offset = self._null_count, self.offset
        array = self.of_valid(type, self.length, buffers, nulls, children, dictionary, offset)
        array._checked = self._checked
        return array

    def _check_shape(self) -> None:
        # Every array passes here: nothing is called for parts that it does not have.
        rule, buffers, slots = self.layout, self.buffers, self.offset + self.length
        if self.length < 0 or self.offset < 0:
            raise InvalidArrowError(f"negative length {self.length} or offset {self.offset}")
        if slots >> 63:
            raise InvalidArrowError(f"{slots} slots: length and offset have 63 bits together")
        if not UNKNOWN <= self._null_count <= self.length:
            raise InvalidArrowError(f"null count {self._null_count} of {self.length} slots")
        fixed, count = len(rule.buffers), len(buffers)
        if count < fixed or (count > fixed and not rule.variadic):
            raise InvalidArrowError(f"{self.type}: {count} buffers where the layout has {fixed}")
        self._check_parts()
        if self._null_count > 0 and rule.has_validity and buffers[0] is None:
            raise InvalidArrowError(f"{self.type}: {self._null_count} nulls without a bitmap")
        for spec, buffer in zip(rule.buffers, buffers, strict=False):
            size = 0 if buffer is None else buffer.array.size
            # Zero slots need zero bytes.
            if 8 * size < slots * spec.slot_bits + spec.extra_bits and slots:
                if buffer is None and spec.role is Role.VALIDITY:
                    continue
                raise InvalidArrowError(
                    f"{self.type}: {spec.role.value} buffer has {size} bytes, "
                    f"{slots} slots need {spec.min_bytes(slots)}"
                )

    def _check_parts(self) -> None:
        # Code that gets the array reads children and dictionary by the types that it declares.
        fields = self.type.fields
        if len(self.children) != len(fields):
            raise InvalidArrowError(
                f"{self.type}: {len(self.children)} children for {len(fields)} fields"
            )
        for child, field in zip(self.children, fields, strict=True):
            if not same_type(child.type, field.type):
                raise InvalidArrowError(f"{self.type}: child of {child.type} under {field}")
        dictionary = self.dictionary
        if self.layout.has_dictionary != (dictionary is not None):
            has = "no" if dictionary is None else "a"
            raise InvalidArrowError(f"{self.type}: {has} dictionary")
        if dictionary is not None:
            storage = self.type.storage
            assert isinstance(storage, Dictionary)
            if not same_type(dictionary.type, storage.value_type):
                raise InvalidArrowError(f"{self.type}: dictionary of {dictionary.type}")

    @property
    def device(self) -> Device:
        """The device of the first buffer, here or below; the host if there is none."""
        for buffer in self.buffers:
            if buffer is not None:
                return buffer.device
        # Kept for runs and structs, since each operation asks several times.
        device: Device | None = getattr(self, "_device", None)
        if device is None:
            device = self._device = self._device_of_bytes() or HOST
        return device

    def _device_of_bytes(self) -> Device | None:
        """The device of the first buffer, here or below; None if there is none."""
        for buffer in self.buffers:
            if buffer is not None:
                return buffer.device
        for part in (*self.children, self.dictionary):
            device = None if part is None else part._device_of_bytes()
            if device is not None:
                return device
        return None

    def buffer(self, role: Role) -> Buffer | None:
        """The buffer with that role, or None if it is absent.

        Raises:
            KeyError: If the layout has no such buffer.
        """
        return self.buffers[self.layout.position(role)]

    def items(self, role: Role) -> Items:
        """The items of a buffer that belong to the array's own slots, as a NumPy (or CuPy) array.

        Offsets of a `slots + 1` layout have `length + 1` items. Nothing is copied, unless items are
        misaligned. Bitmaps start at a byte, not at a slot: take them whole with `buffer`. An absent or
        empty offsets buffer of an empty array gives its one offset, 0.
        """
        # The last items are kept, since most arrays are asked for the same items again and again.
        kept = self._kept_items
        if kept is not None and kept[0] is role:
            return kept[1]
        position = self.layout.position(role)
        spec, buffer = self.layout.buffers[position], self.buffers[position]
        if self.length == 0 or buffer is None:
            # An absent buffer has that many zeros, on the device of the other buffers.
            count = int(spec.extent is Extent.SLOTS_AND_ONE)
            if self.device != HOST:
                return target_of(self.device).table([0] * count, spec.dtype)
            none = np.zeros(count, spec.dtype)
            none.flags.writeable = False
            return none
        items = buffer.view(spec.dtype, spec.items(self.length), self.offset * spec.dtype.itemsize)
        self._kept_items = (role, items)
        return items

    @property
    def data_buffers(self) -> tuple[Buffer | None, ...]:
        """The variadic data buffers of a view layout; empty for the others."""
        return self.buffers[len(self.layout.buffers) :] if self.layout.variadic else ()

    @property
    def known_null_count(self) -> int:
        """The null count if it is known without counting, else `UNKNOWN`."""
        return self._null_count

    @property
    def stated_null_count(self) -> int:
        """The null count that the producer states, or `UNKNOWN`; `validate` compares it."""
        return getattr(self, "_stated_null_count", self._null_count)

    def note_null_count(self, stated: int) -> None:
        """Keep the null count that a producer states for an array without a bitmap."""
        self._stated_null_count = stated

    @property
    def null_count(self) -> int:
        """The number of slots that are null by this array's own bitmap (all, for type null)."""
        if self._null_count == UNKNOWN:
            self._null_count = self.count_nulls()
        return self._null_count

    @property
    def may_have_nulls(self) -> bool:
        """Whether a slot may be null; True for nulls on a device that are not counted yet."""
        if self._null_count != UNKNOWN:
            return self._null_count > 0
        bitmap = self.buffers[0] if self.layout.has_validity else None
        return (bitmap is not None and bitmap.device != HOST) or self.null_count > 0

    def count_nulls(self) -> int:
        """Count the nulls again, on the device of the bitmap; `null_count` remembers the count."""
        if self.layout.kind is LayoutKind.NULL:
            return self.length
        bitmap = self.buffers[0] if self.layout.has_validity else None
        if bitmap is None:
            return 0
        # Imported late, as all kernels are.
        from colkern.bitmaps import count_set_bits

        return self.length - count_set_bits(bitmap, self.offset, self.length)

    def __len__(self) -> int:
        return self.length

    def slice(self, offset: int, length: int | None = None) -> Array:
        """`length` values from `offset` on (all that follow, if None), in O(1); nothing is copied.

        Raises:
            TypeError: If one of them is no integer.
            IndexError: If `offset` is negative or past the end, or `length` negative. A length that
                reaches past the end is cut.
        """
        offset, count = slice_bounds(offset, length, self.length, "values")
        whole = count == self.length
        nulls = self._null_count if whole or self._null_count == 0 else UNKNOWN
        # Checks of this array hold for its parts.
        part: Array = _new(Array)
        part.type = self.type
        part.layout = self.layout
        part.length = count
        part.buffers = self.buffers
        part.children = self.children
        part.dictionary = self.dictionary
        part.offset = self.offset + offset
        part._null_count = nulls
        part._checked = self._checked
        part._kept_items = None
        part._kept_words = None
        return part

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: Chosen) -> Array: ...
    def __getitem__(self, key: int | Chosen) -> Any:
        """One value as a Python object; or values as an array.

        Args:
            key: A position; a slice (not copied if its step is 1); or a mask or positions, as an array,
                a list or a NumPy array. Positions in lists and NumPy arrays may be negative.

        Raises:
            TypeError: If the key is none of these.
            IndexError: If there is no such value.
        """
        if not hasattr(key, "__index__") or hasattr(key, "__len__"):
            return self._chosen(key)
        position = integer(key, "key")
        if not -self.length <= position < self.length:
            raise IndexError(f"index {position} of {self.length} values")
        return self.slice(position % self.length, 1).to_pylist()[0]

    def __iter__(self) -> Iterator[Any]:
        """The values as Python objects, decoded in batches."""
        step = 4096
        for start in range(0, self.length, step):
            yield from self.slice(start, step).to_pylist()


class LateArray(Array):
    """An array of `Array.late` whose buffers nobody has asked for; it becomes an `Array` when they are."""

    __slots__ = ()

    @property
    def buffers(self) -> tuple[Buffer | None, ...]:  # type: ignore[override]
        """The buffers, which are made if they are not there yet."""
        make = self._make_buffers
        if make is not None:
            _BUFFERS.__set__(self, make(self._place))
            # The function is not needed any more. Another thread may be here too.
            self._make_buffers = None
            self.__class__ = Array  # type: ignore[assignment]
        buffers: tuple[Buffer | None, ...] = _BUFFERS.__get__(self)
        return buffers


_BUFFERS = vars(Array)["buffers"]
"""The slot that `LateArray` hides."""


def empty_array(data_type: DataType) -> Array:
    """An array of that type without values."""
    rule = layout(data_type)
    storage = data_type.storage
    dictionary = None
    if isinstance(storage, Dictionary):
        dictionary = empty_array(storage.value_type)
    children = [empty_array(field.type) for field in data_type.fields]
    return Array(data_type, 0, [None] * len(rule.buffers), children, dictionary)
