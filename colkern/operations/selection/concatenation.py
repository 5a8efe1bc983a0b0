"""`concat`: arrays of one type, one after the other.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column, RecordBatch, Table, Tabular
from colkern.arrays.array import LateArray
from colkern.bitmaps import bits_by
from colkern.errors import LimitExceededError
from colkern.forks import cached_property
from colkern.kernels import offsets, runs, selection, unions, views
from colkern.layouts import Role
from colkern.memory import HOST, Buffer, Device
from colkern.operations.arguments import Kind, operation
from colkern.operations.devices import device_of, one_device
from colkern.operations.operands import offset_ends
from colkern.operations.own_slots import own_children
from colkern.operations.patterns import require_room
from colkern.operations.position_checks import require_valid
from colkern.operations.run_search import own_runs, require_run_ends
from colkern.operations.selection.dense_unions import assemble_dense_union
from colkern.operations.selection.engine import Copier, assemble, require_length
from colkern.operations.selection.runs import assemble_runs
from colkern.operations.union_slots import child_numbers
from colkern.targets import Items, Target, on_its_device, target_of

_MOST = np.iinfo(np.int32).max
_FEW, _SHORT = 16, {"cpu": 1 << 20, "cuda": 1 << 14}
"""More arrays than that are copied by one kernel, if they have fewer bytes in the mean.

A group of a GPU's threads copies one array; for a CPU, a call for each is the only cost.
"""


Sizes: TypeAlias = NDArray[np.int64]
"""A number for each of the arrays."""

_ARRAYS = frozenset({Array, LateArray})

_BYTE = np.dtype(np.uint8)


@overload
def concat(arrays: Sequence[Array]) -> Array: ...
@overload
def concat(arrays: Sequence[RecordBatch]) -> RecordBatch: ...
@overload
def concat(arrays: Sequence[Table]) -> Table: ...
@overload
def concat(arrays: Sequence[ChunkedArray]) -> ChunkedArray: ...
@overload
def concat(arrays: Any) -> Any: ...
@operation(kind=Kind.JOINING)
def concat(arrays: Sequence[Column] | Sequence[Tabular]) -> Column | Tabular:
    """The values of all the arrays, in order; copied, unless only one has any, which is returned.

    Dictionaries that differ become one, as in `unify_dictionaries`; of nested values, one after the other.

    If one argument is a chunked array, the result is a chunked array of all chunks; if one is a table, a
    table of all batches: nothing is copied then. Batches become one batch, whose columns are copied when
    they are asked for.

    Args:
        arrays: At least one, of one type (see `colkern.schema.same_type`) and on one device. The result
            has the type of the first one with values. Or batches and tables of one schema.

    Raises:
        ValueError: If there is none, or they are not on one device.
        TypeError: If the types differ.
        LimitExceededError: If offsets, run ends or dictionary indices become too large for the type.
    """
    # One test of all classes, since there may be many small arrays.
    if _ARRAYS.issuperset(map(type, arrays)):
        columns: Any = arrays
        require_one_type(columns)
        return _joined(columns, one_device(columns))
    kinds = set(map(type, arrays))
    parts: list[Any] = []
    for value in arrays:
        if isinstance(value, ChunkedArray):
            parts += value.chunks
        elif isinstance(value, Table):
            parts += value.batches
        else:
            parts.append(value)
    if ChunkedArray in kinds:
        return ChunkedArray(parts, next(v.type for v in arrays if isinstance(v, ChunkedArray)))
    tables = [value for value in arrays if isinstance(value, Tabular)]
    first = tables[0].schema
    for number, each in enumerate(tables):
        for field, kept in zip(each.schema, first, strict=False):
            if field.name == kept.name and not s.same_type(field.type, kept.type):
                raise TypeError(
                    f"arrays: column {field.name!r} of number {number} is {field.type}, not {kept.type}; "
                    f"cast one of them: table.with_column(name, table[name].cast(type))"
                )
    table = Table(parts, first)
    if Table in kinds:
        return table
    return table.batches[0] if len(parts) == 1 else _one(table)


def _one(table: Table) -> RecordBatch:
    """The batches of a table, which has several, as one batch."""

    def column(position: int) -> Array:
        joined = concat([batch.column(position) for batch in table.batches])
        assert isinstance(joined, Array)
        return joined

    return RecordBatch.lazy(table.schema, table.length, column)


def require_one_type(arrays: Sequence[Array]) -> None:
    """Raise unless there is at least one array, and all are valid and of one type."""
    if not arrays:
        raise ValueError("arrays: need at least one")
    # Equal types share a layout, though other libraries hand over a new type for each array.
    layout = arrays[0].layout
    for array in arrays:
        if array.layout is not layout or not array._checked:
            break
    else:
        # The usual case, without a search for the reason.
        return
    type_ = arrays[0].type
    others = {id(array.type): array.type for array in arrays if array.type is not type_}
    for own in others.values():
        if not s.same_type(own, type_):
            position = next(i for i, array in enumerate(arrays) if array.type is own)
            raise TypeError(f"arrays: number {position} is {own}, not {type_}")
    for array in [array for array in arrays if not array._checked]:
        require_valid(array)


def join_plan(arrays: Sequence[Array]) -> Joined:
    """A plan for joining arrays as `concat` does; kept by callers, since it inspects each array."""
    require_one_type(arrays)
    return Joined(_filled(arrays), one_device(arrays))


def _filled(arrays: Sequence[Array]) -> Sequence[Array]:
    for array in arrays:
        if not array.length:
            return [array for array in arrays if array.length] or arrays[:1]
    return arrays


def _joined(arrays: Sequence[Array], device: Device) -> Array:
    filled = _filled(arrays)
    return filled[0] if len(filled) == 1 else assemble(Joined(filled, device), filled[0])


def join_arrays(arrays: Sequence[Array]) -> Array:
    """Checked arrays of one type, concatenated into a new array."""
    return Joined(arrays, device_of(arrays)).joined()


class Joined(Copier):
    """All slots of several arrays, one array after the other. Verbs ignore the array that they get.

    Args:
        arrays: Checked arrays of one type.
        device: The device of their bytes.
    """

    count = 0
    # Set once the nulls are counted.
    _nulls: int | None = None

    def __init__(self, arrays: Sequence[Array], device: Device) -> None:
        self.arrays = arrays
        # One pass over the arrays, which may be many, each elsewhere in memory. A tuple for each
        # would take ten times as long, by triggering the garbage collector.
        self._lengths: list[int] = []
        self._begins: list[int] = []
        self._buffers: list[Sequence[Buffer | None]] = []
        for array in arrays:
            self._lengths.append(array.length)
            self._begins.append(array.offset)
            self._buffers.append(array.buffers)
        self.count = sum(self._lengths)
        self.device = device
        self.target = target_of(device)
        # Checked here, as small concatenations are to make few calls.
        if self.count >> 63:
            require_length(self.count)
        # The addresses of the buffers at a position; 0 for absent ones.
        self._places: dict[int, NDArray[np.uint64]] = {}

    @cached_property
    def _ends(self) -> Items:
        """The end of each array's slots in the result (int64[])."""
        return self.target.table(list(accumulate(self._lengths)), np.int64)

    @cached_property
    def _slots(self) -> tuple[Sizes, Sizes]:
        """The start of each array's slots, and their number."""
        return np.array(self._begins, np.int64), np.array(self._lengths, np.int64)

    def joined(self) -> Array:
        """The slots of all arrays, copied."""
        return assemble(self, self.arrays[0])

    def validity(self, array: Array) -> tuple[Buffer | None, int]:
        if self._nulls is None:
            # Most arrays are known to have no nulls.
            self._nulls = sum([array.null_count for array in self.arrays if array._null_count])
        nulls = self._nulls
        if nulls == 0:
            return None, 0
        return self._bits(0, [a.buffers[0] if a._null_count else None for a in self.arrays]), nulls

    def bits(self, array: Array) -> Buffer:
        return self._bits(1, [own[1] for own in self._buffers])

    def _bits(self, position: int, buffers: Sequence[Buffer | None]) -> Buffer:
        """The bits of all slots; ones for an array without such a buffer."""
        target = self.target
        is_plain = len(buffers) <= _FEW and None not in buffers
        place = 0
        for k, begin in enumerate(self._begins) if is_plain else ():
            # Each array starts at a byte, in its buffer and in the result.
            is_plain &= (begin | place) & 7 == 0
            place += self._lengths[k]
        if is_plain:
            data = target.output(self.count + 7 >> 3, _BYTE)
            begins, sizes = [k >> 3 for k in self._begins], [k + 7 >> 3 for k in self._lengths]
            self._copy_bytes(position, begins, sizes, data)
            return target.buffer(data)
        places = [0 if buffer is None else buffer.address for buffer in buffers]
        tables = target.table(places, np.uint64), target.table(self._begins, np.uint64)
        return bits_by(target, selection.join_bits, self.count, (*tables, self._ends))

    def items(self, array: Array, role: Role) -> Buffer:
        return self.target.buffer(self._items(role))

    def _items(self, role: Role) -> Items:
        """The items of a buffer with one item a slot, for all arrays, as writable bytes."""
        # As bytes: making an array of another dtype for each part takes longer than copying it.
        layout = self.arrays[0].layout
        position = layout.position(role)
        size = layout.buffers[position].dtype.itemsize
        out = self.target.output(self.count * size, _BYTE)
        if size:
            few = len(self.arrays) <= _FEW
            begins, lengths = (self._begins, self._lengths) if few else self._slots
            self._copy_bytes(position, begins, lengths, out, size)
        return out

    def _copy_bytes(
        self,
        position: int,
        begins: Sequence[int] | Sizes,
        sizes: Sequence[int] | Sizes,
        out: Items,
        unit: int = 1,
    ) -> None:
        """Copy parts of the arrays' buffers at a position, one after the other; absent buffers have none.

        The starts and the sizes of parts are in units of `unit` bytes.
        """
        target = self.target
        count = len(self.arrays)
        if count > _FEW and len(out) < _SHORT[self.device.kind] * count:
            places = self._places.get(position)
            if places is None:
                buffers = [own[position] for own in self._buffers]
                known = [0 if buffer is None else buffer.address for buffer in buffers]
                places = self._places[position] = np.array(known, np.uint64)
            addresses = target.table(places + unit * np.asarray(begins, np.uint64), np.uint64)
            starts = target.table(np.append(0, unit * np.cumsum(sizes)), np.int64)
            target.map(selection.gather_bytes, count, addresses, starts, out, balance=starts)
            return
        place, copy = 0, target.copy
        # Without `zip`, whose check of lengths takes as long as copying a few bytes.
        for k, own in enumerate(self._buffers):
            buffer = own[position]
            if buffer is not None:
                begin, size = unit * begins[k], unit * sizes[k]
                copy(buffer.array[begin : begin + size], out, place)
                place += size

    def byte_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Buffer]:
        joined, begins, sizes = self._offsets()
        data = self.target.output(sum(sizes), np.uint8)
        self._copy_bytes(2, begins, sizes, data)
        return joined, self.target.buffer(data)

    def child_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Array]:
        joined, begins, sizes = self._offsets()
        parts = zip(self.arrays, begins, sizes, strict=True)
        children = [a.children[0].slice(begin, size) for a, begin, size in parts]
        return joined, _joined(children, self.device)

    def _offsets(self) -> tuple[Buffer, list[int], list[int]]:
        """Offsets from 0 on for all slots, and the start and the number of each array's elements."""
        target = self.target
        if len(self.arrays) > _FEW:
            return self._gathered_offsets()
        parts = [array.items(Role.OFFSETS) for array in self.arrays]
        ends = offset_ends(*self.arrays)
        sizes = [last - begin for begin, last in ends]
        dtype = parts[0].dtype
        require_room(sum(sizes), dtype)
        joined = target.output(self.count + 1, dtype)
        place = total = 0
        for part, (begin, _), size in zip(parts, ends, sizes, strict=True):
            out = joined[place : place + len(part)]
            target.map(offsets.rebase_offsets, len(part), part, begin - total, out)
            place += len(part) - 1
            total += size
        return target.buffer(joined), [begin for begin, _ in ends], sizes

    def _gathered_offsets(self) -> tuple[Buffer, list[int], list[int]]:
        """As `_offsets`, for so many arrays that they are handled by NumPy."""
        target = self.target
        own_begins, lengths = self._slots
        position = self.arrays[0].layout.position(Role.OFFSETS)
        dtype = self.arrays[0].layout.buffers[position].dtype
        size = dtype.itemsize
        own = target.output(self.count + len(lengths), dtype)
        self._copy_bytes(position, size * own_begins, size * (lengths + 1), own.view(np.uint8))
        ends = np.cumsum(lengths)
        lasts = ends + np.arange(len(ends))
        begins, last = _items_at(target, own, np.append(0, lasts[:-1] + 1), lasts)
        sizes = last - begins
        sums = np.cumsum(sizes)
        of_each = sizes.tolist()
        require_room(sum(of_each), dtype)
        # The last offset does not belong to a slot.
        ends[-1] += 1
        joined = target.output(self.count + 1, dtype)
        tables = target.table(ends, np.int64), target.table(sums - sizes - begins, np.int64)
        target.map(offsets.join_offsets, len(joined), own, *tables, joined)
        return target.buffer(joined), begins.tolist(), of_each

    def fixed_ranges(self, array: Array, size: int) -> Array:
        return _joined([own_children(part, size)[0] for part in self.arrays], self.device)

    def children(self, array: Array) -> Sequence[Array]:
        parts = [own_children(part) for part in self.arrays]
        return [_joined(children, self.device) for children in zip(*parts, strict=True)]

    def views(self, array: Array) -> Sequence[Buffer | None]:
        joined = self._items(Role.VIEWS).view(np.int32)
        data: list[Buffer | None] = []
        # Slices of one array have the same data buffers, which are added only once.
        firsts: dict[_Places, int] = {}
        place = 0
        for array in self.arrays:
            part = joined[4 * place : 4 * (place + array.length)]
            first = firsts.setdefault(_places(array.data_buffers), len(data))
            if first == len(data):
                data += array.data_buffers
            if first:
                self.target.map(views.renumber_views, array.length, first, part)
            place += array.length
        return [self.target.buffer(joined), *data]

    def indices(self, array: Array) -> tuple[Buffer, Array | None]:
        dictionaries = [array.dictionary for array in self.arrays if array.dictionary is not None]
        # Empty dictionaries have only null indices.
        filled = {memory_of(values): values for values in dictionaries if values.length}
        if len(filled) < 2:
            return self.items(array, Role.DATA), next(iter(filled.values()), dictionaries[0])
        # Imported late: it concatenates the dictionaries.
        from colkern.operations.dictionaries import indices_of_one_dictionary

        type_ = array.type.storage
        assert isinstance(type_, s.Dictionary)
        parts, common = indices_of_one_dictionary(self.arrays, type_)
        out = self.target.output(sum([part.size for part in parts]), _BYTE)
        place = 0
        for part in parts:
            self.target.copy(part.array, out, place)
            place += part.size
        return self.target.buffer(out), common

    def list_views(self, array: Array) -> tuple[Buffer, Buffer, Array]:
        begins = self._items(Role.OFFSETS).view(array.layout.spec(Role.OFFSETS).dtype)
        children = [array.children[0] for array in self.arrays]
        starts = list(accumulate([child.length for child in children], initial=0))
        require_room(starts[-1], begins.dtype)
        _add_bases(self, begins, starts[:-1])
        sizes = self.items(array, Role.SIZES)
        return self.target.buffer(begins), sizes, _joined(children, self.device)


def _items_at(target: Target, items: Items, firsts: Sizes, lasts: Sizes) -> tuple[Sizes, Sizes]:
    """The first and the last item of each part of some items."""
    if target.device == HOST:
        return items[firsts].astype(np.int64), items[lasts].astype(np.int64)
    parts = zip(firsts.tolist(), lasts.tolist(), strict=True)
    ends = np.array(target.ends(*[items[first : last + 1] for first, last in parts]), np.int64)
    return ends[:, 0].copy(), ends[:, 1].copy()


@on_its_device
def _add_bases(how: Joined, items: Items, bases: Sequence[int]) -> None:
    """Add the start of each array's values to its items, in place."""
    place = 0
    for array, base in zip(how.arrays, bases, strict=True):
        if base:
            items[place : place + array.length] += items.dtype.type(base)
        place += array.length


@assemble_dense_union.register
def _join_dense_unions(how: Joined, array: Array) -> Array:
    target, arrays = how.target, how.arrays
    parts = [[part.children[k] for part in arrays] for k in range(len(array.children))]
    # Checked first: a sum may exceed the numbers that kernels count with.
    if any(sum([child.length for child in children]) > _MOST for children in parts):
        raise LimitExceededError("the children of a dense union have more than 2**31 - 1 values")
    joined = target.output(how.count, np.int32)
    numbers = target.table(child_numbers(array.type.storage), np.int64)
    bases = [0] * len(parts)
    place = 0
    for part in arrays:
        out = joined[place : place + part.length]
        own = (part.items(Role.TYPE_IDS), numbers, part.items(Role.OFFSETS))
        target.map(unions.rebase_slots, part.length, *own, target.table(bases, np.int64), out)
        bases = [base + child.length for base, child in zip(bases, part.children, strict=True)]
        place += part.length
    children = [_joined(children, how.device) for children in parts]
    buffers = (how.items(array, Role.TYPE_IDS), target.buffer(joined))
    return Array.of_valid(array.type, how.count, buffers, 0, children)


@assemble_runs.register
def _join_runs(how: Joined, array: Array) -> Array:
    target, arrays = how.target, how.arrays
    run_ends_type, kind = array.children[0].type, array.children[0].layout.spec(Role.DATA).dtype
    require_run_ends(how.count, kind)
    spans = [own_runs(part) for part in arrays]
    joined = target.output(sum(count for _, count in spans), kind)
    values = []
    place = base = 0
    for part, (first, count) in zip(arrays, spans, strict=True):
        ends = part.children[0].slice(first, count).items(Role.DATA)
        last = part.offset + part.length
        out = joined[place : place + count]
        target.map(runs.rebase_run_ends, count, ends, part.offset, last, base, out)
        values.append(part.children[1].slice(first, count))
        place += count
        base += part.length
    run_ends = Array.of_valid(run_ends_type, len(joined), (None, target.buffer(joined)), 0)
    children = run_ends, _joined(values, how.device)
    return Array.of_valid(array.type, how.count, (), 0, children)


_Places: TypeAlias = tuple[tuple[int, int] | None, ...]


def memory_of(array: Array) -> tuple[object, ...]:
    """The memory of an array's values: arrays of one type with the same memory are equal."""
    return (
        array.offset,
        array.length,
        _places(array.buffers),
        tuple(map(memory_of, array.children)),
        None if array.dictionary is None else memory_of(array.dictionary),
    )


def _places(buffers: Sequence[Buffer | None]) -> _Places:
    return tuple([None if b is None else (b.address, b.size) for b in buffers])
