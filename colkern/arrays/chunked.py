"""`ChunkedArray`: a column in several arrays; and functions that cut columns at common places."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from colkern.arrays.array import Array
from colkern.arrays.column import Column
from colkern.integers import integer, slice_bounds
from colkern.memory import HOST, Device
from colkern.schema import DataType, same_type

if TYPE_CHECKING:
    from typing import Self

    from colkern import interchange, methods
    from colkern.arrays import equality, values
    from colkern.arrays.slots import Values
    from colkern.arrays.tabular import Chosen


class ChunkedArray(Column):
    """A column whose values are in several arrays of one type, one after the other. Immutable.

    Args:
        chunks: The arrays, none of which is copied.
        type: Their type; needed if there are no chunks.

    Raises:
        ValueError: If there is neither a chunk nor a type.
        TypeError: If a chunk is no array, or has another type (see `colkern.schema.same_type`).
    """

    __slots__ = ("_ends", "_plans", "chunks", "length", "type")

    if TYPE_CHECKING:
        combine_chunks = methods.combine_chunks
        equals = equality.equals
        __array__ = to_numpy = values.to_numpy
        __arrow_c_stream__ = interchange.export_chunks

    def __init__(self, chunks: Sequence[Array], type: DataType | None = None) -> None:
        if type is None:
            if not chunks:
                raise ValueError("chunks: without one, the type is needed")
            type = chunks[0].type
        for number, chunk in enumerate(chunks):
            if not isinstance(chunk, Array):
                got = chunk.__class__.__name__
                raise TypeError(f"chunks[{number}]: expected an Array, got {got}")
            if chunk.type is not type and not same_type(chunk.type, type):
                raise TypeError(f"chunks[{number}]: {chunk.type} in a column of {type}")
        self.type = type
        self.chunks = tuple(chunks)
        self.length = sum([chunk.length for chunk in chunks])
        # Set by `colkern.operations.chunks`: plans for joining chunks, by the first chunk and the
        # one behind the last.
        self._plans: dict[tuple[int, int], Any] | None = None
        # The ends of the chunks, once a value has been asked for.
        self._ends: list[int] | None = None

    @property
    def num_chunks(self) -> int:
        """The number of chunks."""
        return len(self.chunks)

    @property
    def null_count(self) -> int:
        """The nulls of all chunks; see `Array.null_count`."""
        return sum([chunk.null_count for chunk in self.chunks])

    @property
    def device(self) -> Device:
        """The device of the bytes; the host if there are none."""
        return next((chunk.device for chunk in self.chunks if chunk.length), HOST)

    def __len__(self) -> int:
        return self.length

    def slice(self, offset: int, length: int | None = None) -> ChunkedArray:
        """`length` values from `offset` on (all that follow, if None); not copied; see `Array.slice`."""
        offset, count = slice_bounds(offset, length, self.length, "values")
        return ChunkedArray(cut_out(self.chunks, offset, count), self.type)

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: Chosen) -> Column: ...
    def __getitem__(self, key: int | Chosen) -> Any:
        """One value as a Python object; or values by a slice, a mask or positions: see `Array`."""
        if not hasattr(key, "__index__") or hasattr(key, "__len__"):
            return self._chosen(key)
        position = integer(key, "key")
        if not -self.length <= position < self.length:
            raise IndexError(f"index {position} of {self.length} values")
        position %= self.length
        ends = self._ends
        if ends is None:
            ends = self._ends = list(accumulate([chunk.length for chunk in self.chunks]))
        number = bisect_right(ends, position)
        return self.chunks[number][position - ends[number]]

    def __iter__(self) -> Iterator[Any]:
        """The values as Python objects, decoded in batches."""
        for chunk in self.chunks:
            yield from chunk

    def to_pylist(self) -> Values:
        """The values as Python objects."""
        return [value for chunk in self.chunks for value in chunk.to_pylist()]

    def validate(self, *, full: bool = False) -> None:
        """Check every chunk against the format; see `colkern.operations.validate`."""
        for chunk in self.chunks:
            chunk.validate(full=full)

    def __reduce__(self) -> tuple[object, ...]:
        return ChunkedArray, (self.chunks, self.type)


# Parts of columns and tables


def chunks_of(column: Array | ChunkedArray) -> tuple[Array, ...]:
    """The chunks of a column; an array is its only chunk."""
    return (column,) if isinstance(column, Array) else column.chunks


class _Slots(Protocol):
    """An array or a batch."""

    @property
    def length(self) -> int: ...

    def slice(self, offset: int, length: int | None = None) -> Self: ...


Part = TypeVar("Part", bound=_Slots)


def cut_out(parts: Sequence[Part], offset: int, count: int) -> list[Part]:
    """The slots from `offset` to `offset + count` of all parts; the parts at the ends are cut."""
    pieces: list[Part] = []
    begin = 0
    for part in parts:
        first, last = max(offset - begin, 0), min(offset + count - begin, part.length)
        if first < last:
            pieces.append(part if last - first == part.length else part.slice(first, last - first))
        begin += part.length
        if begin >= offset + count:
            break
    return pieces


def cut_at(parts: Sequence[Part], ends: Sequence[int]) -> list[Part]:
    """The parts cut to end exactly at `ends`: ascending, without 0, and with the ends of all parts."""
    pieces: list[Part] = []
    filled = iter([part for part in parts if part.length])
    begin = after = 0
    for start, end in pairwise((0, *ends)):
        if start == after:
            part = next(filled)
            begin, after = start, start + part.length
        whole = start == begin and end == after
        pieces.append(part if whole else part.slice(start - begin, end - start))
    return pieces


def cut_alike(sides: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """The parts of each side, cut so that all sides have parts of the same lengths; nothing is copied."""
    sizes = [[part.length for part in parts] for parts in sides]
    if all(size == sizes[0] for size in sizes):
        return list(sides)
    ends = sorted({end for own in sizes for end in accumulate(own)} - {0})
    return [cut_at(parts, ends) for parts in sides]


def regrouped(batches: Iterable[Any], rows: int, join: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """Yields the same rows in batches of `rows` each; the last batch may have fewer.

    Batches, which may be pyarrow's, are cut without a copy; `join` joins several.
    """
    held: list[Any] = []
    count = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, rows - count)
            held.append(part)
            start += part.num_rows
            count += part.num_rows
            if count == rows:
                yield held[0] if len(held) == 1 else join(held)
                held, count = [], 0
    if held:
        yield held[0] if len(held) == 1 else join(held)
