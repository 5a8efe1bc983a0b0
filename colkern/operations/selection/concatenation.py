"""`concat`: arrays of one type, one after the other.

Columnar format 1.5: "Physical Memory Layout".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array, ChunkedArray, Column, RecordBatch, Table, Tabular
from colkern.bitmaps import bit_words, bitmap_of
from colkern.errors import LimitExceededError
from colkern.kernels import offsets, runs, selection, unions, views
from colkern.layouts import Role
from colkern.memory import HOST, Buffer, Device
from colkern.operations.arguments import Kind, operation
from colkern.operations.own_slots import own_children
from colkern.operations.position_checks import require_valid
from colkern.operations.run_search import own_runs
from colkern.operations.selection.dense_unions import assemble_dense_union
from colkern.operations.selection.devices import device_of, require_one_device
from colkern.operations.selection.engine import Copier, assemble
from colkern.operations.selection.runs import assemble_runs
from colkern.operations.union_slots import child_numbers
from colkern.targets import Items, Target, on_its_device, target_of

_MOST = np.iinfo(np.int32).max

_FEW, _SHORT = 16, 1 << 14
"""More arrays than that are copied by one kernel, if they have fewer bytes in the mean."""


Sizes: TypeAlias = NDArray[np.int64]
"""A number for each of the arrays."""

_PARTS = attrgetter("length", "offset", "buffers")


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
    """The values of all the arrays, in order; copied, unless a single one has any: that is returned.

    Dictionaries that are not in the same memory are put one after the other too, and the indices moved.
    With a chunked array among them, the result is one of all chunks; with a table, one of all batches:
    nothing is copied. Of batches alone, the rows are one batch, whose columns are copied when they are
    asked for.

    Args:
        arrays: At least one, of one type (see `colkern.schema.same_type`) and on one device. The
            result has the type of the first that has values. Or batches and tables of one schema.

    Raises:
        ValueError: If there is none, or they are not on one device.
        TypeError: If the types differ.
        LimitExceededError: If offsets, run ends or dictionary indices become too large for the type.
        InvalidArrowError: If an array points outside its own memory.
    """
    # One look at the classes, as the arrays may be many and small.
    kinds = set(map(type, arrays))
    if all(issubclass(kind, Array) for kind in kinds):
        columns: Any = arrays
        require_one_type(columns)
        require_one_device(columns)
        return _joined(columns)
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
    table = Table(parts, tables[0].schema)
    if Table in kinds:
        return table
    return table.batches[0] if len(parts) == 1 else _one(table)


def _one(table: Table) -> RecordBatch:
    """The batches of a table, which are several, as one."""

    def column(position: int) -> Array:
        joined = concat([batch.column(position) for batch in table.batches])
        assert isinstance(joined, Array)
        return joined

    return RecordBatch.lazy(table.schema, table.length, column)


def require_one_type(arrays: Sequence[Array]) -> None:
    """Make sure of at least one array, all of them valid and of one type; else raise."""
    if not arrays:
        raise ValueError("arrays: need at least one")
    type_ = arrays[0].type
    for own in {id(array.type): array.type for array in arrays}.values():
        if own is not type_ and not s.same_type(own, type_):
            position = next(i for i, array in enumerate(arrays) if array.type is own)
            raise TypeError(f"arrays: number {position} is {own}, not {type_}")
    for array in [array for array in arrays if not array._checked]:
        require_valid(array)


def _joined(arrays: Sequence[Array]) -> Array:
    filled = [array for array in arrays if array.length] or arrays[:1]
    return filled[0] if len(filled) == 1 else join_arrays(filled)


def join_arrays(arrays: Sequence[Array]) -> Array:
    """Checked arrays of one type, copied one after the other."""
    return assemble(Joined(arrays), arrays[0])


class Joined(Copier):
    """All slots of several arrays, one array after the other. Verbs ignore the array that they get.

    Args:
        arrays: Checked arrays of one type.
    """

    __slots__ = ("_begins", "_buffers", "_count", "_lengths", "arrays", "device", "target")

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.arrays = arrays
        # One walk over the arrays, which may be many: each is somewhere else in memory.
        lengths, begins, self._buffers = zip(*map(_PARTS, arrays), strict=True)
        self._count: int = sum(lengths)
        # Others may have a bitmap where the first has no bytes.
        self.device: Device = device_of(arrays)
        self.target = target_of(self.device)
        if self._count >> 63:
            raise LimitExceededError(
                f"{self._count} slots: the length of an array has at most 63 bits"
            )
        self._lengths = np.array(lengths, np.int64)
        self._begins = np.array(begins, np.int64)

    @property
    def count(self) -> int:
        """The slots of all arrays."""
        return self._count

    def validity(self, array: Array) -> tuple[Buffer | None, int]:
        nulls = sum([array.null_count for array in self.arrays])
        if nulls == 0:
            return None, 0
        pairs = zip(self.arrays, self._buffers, strict=True)
        return self._bits([own[0] if array._null_count else None for array, own in pairs]), nulls

    def bits(self, array: Array) -> Buffer:
        return self._bits([own[1] for own in self._buffers])

    def _bits(self, buffers: Sequence[Buffer | None]) -> Buffer:
        """The bits of all the arrays' slots; ones for an array that has no buffer of them."""
        target = self.target
        out = bit_words(target, self.count)
        places = [0 if buffer is None else buffer.address for buffer in buffers]
        target.map(
            selection.join_bits,
            len(out),
            target.table(places, np.uint64),
            target.table(self._begins, np.uint64),
            target.table(np.cumsum(self._lengths), np.int64),
            out,
        )
        return bitmap_of(target, out, self.count)

    def items(self, array: Array, role: Role) -> Buffer:
        return self.target.buffer(self._items(role))

    def _items(self, role: Role) -> Items:
        """The items of a one-item-a-slot buffer of all the arrays; they may be written."""
        target = self.target
        position = self.arrays[0].layout.position(role)
        dtype = self.arrays[0].layout.buffers[position].dtype
        size = dtype.itemsize
        if size == 0:
            return target.allocate(0, np.uint8)
        # As bytes: an array of another type for each part takes longer than to copy many a part.
        out = target.output(self.count * size, np.uint8)
        self._copy_bytes(position, size * self._begins, size * self._lengths, out)
        return out.view(dtype)

    def _copy_bytes(self, position: int, begins: Sizes, sizes: Sizes, out: Items) -> None:
        """Bytes of the arrays' buffers at a position, one after the other; of none where there are none."""
        target = self.target
        buffers = [own[position] for own in self._buffers]
        if len(buffers) > _FEW and len(out) < _SHORT * len(buffers):
            places = [0 if buffer is None else buffer.address for buffer in buffers]
            addresses = target.table(
                np.array(places, np.uint64) + begins.view(np.uint64), np.uint64
            )
            starts = target.table(np.append(0, np.cumsum(sizes)), np.int64)
            target.map(selection.gather_bytes, len(places), addresses, starts, out, balance=starts)
            return
        place = 0
        for buffer, begin, size in zip(buffers, begins.tolist(), sizes.tolist(), strict=True):
            if buffer is not None:
                target.copy(buffer.array[begin : begin + size], out[place : place + size])
                place += size

    def byte_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Buffer]:
        joined, begins, sizes = self._offsets()
        data = self.target.output(int(sizes.sum()), np.uint8)
        self._copy_bytes(2, begins, sizes, data)
        return joined, self.target.buffer(data)

    def child_ranges(self, array: Array, validity: Buffer | None) -> tuple[Buffer, Array]:
        joined, begins, sizes = self._offsets()
        parts = zip(self.arrays, begins.tolist(), sizes.tolist(), strict=True)
        return joined, _joined([a.children[0].slice(begin, size) for a, begin, size in parts])

    def _offsets(self) -> tuple[Buffer, Sizes, Sizes]:
        """One run of offsets from 0 on, and where the elements of each array begin, and how many it has."""
        target, lengths = self.target, self._lengths
        position = self.arrays[0].layout.position(Role.OFFSETS)
        dtype = self.arrays[0].layout.buffers[position].dtype
        size = dtype.itemsize
        own = target.output(self.count + len(lengths), dtype)
        self._copy_bytes(position, size * self._begins, size * (lengths + 1), own.view(np.uint8))
        ends = np.cumsum(lengths)
        lasts = ends + np.arange(len(ends))
        begins, last = _items_at(target, own, np.append(0, lasts[:-1] + 1), lasts)
        sizes = last - begins
        sums = np.cumsum(sizes)
        total = sum(sizes.tolist())
        if total > np.iinfo(dtype).max:
            raise LimitExceededError(f"{total} bytes or elements do not fit offsets of {dtype}")
        # The last offset is of no slot.
        ends[-1] += 1
        joined = target.output(self.count + 1, dtype)
        tables = target.table(ends, np.int64), target.table(sums - sizes - begins, np.int64)
        target.map(offsets.join_offsets, len(joined), target.frozen(own), *tables, joined)
        return target.buffer(joined), begins, sizes

    def fixed_ranges(self, array: Array, size: int) -> Array:
        return _joined([own_children(part, size)[0] for part in self.arrays])

    def children(self, array: Array) -> Sequence[Array]:
        parts = [own_children(part) for part in self.arrays]
        return [_joined(children) for children in zip(*parts, strict=True)]

    def views(self, array: Array) -> Sequence[Buffer | None]:
        joined = self._items(Role.VIEWS).view(np.int32)
        data: list[Buffer | None] = []
        # Slices of one array have the same data buffers: those are there once.
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
        indices = self._items(Role.DATA)
        dictionaries = [array.dictionary for array in self.arrays if array.dictionary is not None]
        # Those without values have only nulls for indices, and nowhere to begin.
        filled = {_memory(values): values for values in dictionaries if values.length}
        distinct = list(filled.values()) or dictionaries[:1]
        starts = list(accumulate([values.length for values in distinct], initial=0))
        if starts[-1] - 1 > np.iinfo(indices.dtype).max:
            raise LimitExceededError(f"dictionaries too long for indices of {indices.dtype}")
        bases = dict(zip(map(_memory, distinct), starts, strict=False))
        self._rebase(indices, [bases.get(_memory(values), 0) for values in dictionaries])
        return self.target.buffer(indices), concat(distinct)

    def list_views(self, array: Array) -> tuple[Buffer, Buffer, Array]:
        begins = self._items(Role.OFFSETS)
        children = [array.children[0] for array in self.arrays]
        starts = list(accumulate([child.length for child in children], initial=0))
        if starts[-1] > np.iinfo(begins.dtype).max:
            raise LimitExceededError(f"{starts[-1]} elements do not fit offsets of {begins.dtype}")
        self._rebase(begins, starts[:-1])
        return self.target.buffer(begins), self.items(array, Role.SIZES), _joined(children)

    def _rebase(self, items: Items, bases: Sequence[int]) -> None:
        """Add to the items of each array's slots, in place, where its values begin."""
        if any(bases):
            _add_bases(self, items, bases)


def _items_at(target: Target, items: Items, firsts: Sizes, lasts: Sizes) -> tuple[Sizes, Sizes]:
    """The first and the last items of parts of some items."""
    if target.device == HOST:
        return items[firsts].astype(np.int64), items[lasts].astype(np.int64)
    parts = zip(firsts.tolist(), lasts.tolist(), strict=True)
    ends = np.array(target.ends(*[items[first : last + 1] for first, last in parts]), np.int64)
    return ends[:, 0].copy(), ends[:, 1].copy()


@on_its_device
def _add_bases(how: Joined, items: Items, bases: Sequence[int]) -> None:
    place = 0
    for array, base in zip(how.arrays, bases, strict=True):
        if base:
            items[place : place + array.length] += items.dtype.type(base)
        place += array.length


@assemble_dense_union.register
def _join_dense_unions(how: Joined, array: Array) -> Array:
    target, arrays = how.target, how.arrays
    parts = [[part.children[k] for part in arrays] for k in range(len(array.children))]
    # First of all: a sum may exceed what kernels count with.
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
    children = [_joined(children) for children in parts]
    buffers = (how.items(array, Role.TYPE_IDS), target.buffer(joined))
    return Array.of_valid(array.type, how.count, buffers, 0, children)


@assemble_runs.register
def _join_runs(how: Joined, array: Array) -> Array:
    target, arrays = how.target, how.arrays
    run_ends_type, kind = array.children[0].type, array.children[0].layout.spec(Role.DATA).dtype
    if how.count > np.iinfo(kind).max:
        raise LimitExceededError(f"{how.count} slots do not fit run ends of {kind}")
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
    return Array.of_valid(array.type, how.count, (), 0, (run_ends, _joined(values)))


_Places: TypeAlias = tuple[tuple[int, int] | None, ...]


def _memory(array: Array) -> tuple[object, ...]:
    """Where the values of an array are: two arrays of a type that have the same are the same."""
    return (
        array.offset,
        array.length,
        _places(array.buffers),
        tuple(_memory(child) for child in array.children),
        None if array.dictionary is None else _memory(array.dictionary),
    )


def _places(buffers: Sequence[Buffer | None]) -> _Places:
    return tuple(None if b is None else (b.address, b.size) for b in buffers)
