"""Results of a generated loop: the lines that write them, and the column that they become."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import LimitExceededError, UnsupportedError
from colkern.memory import Buffer
from colkern.operations import concat, list_flatten, struct_flatten
from colkern.rows import kinds as k
from colkern.rows.columns import LISTS, has_large, type_of
from colkern.rows.constants import layout_of
from colkern.rows.kinds import Kind
from colkern.rows.values import Value, inner

_FIXED = {
    "bool": np.uint8,
    "int": np.int64,
    "float": np.float64,
    "date": np.int32,
    "datetime": np.int64,
    "time": np.int64,
    "timedelta": np.int64,
}


@dataclass(frozen=True)
class Slots:
    """Memory that has an item for each row.

    Args:
        name: The loop's parameter.
        dtype: The type of an item.
    """

    name: str
    dtype: Any


@dataclass(frozen=True)
class Sink:
    """Memory that results of any size are appended to.

    Args:
        name: The loop's parameter: the address of its three words.
    """

    name: str


Memory = Slots | Sink


class Output:
    """How results of a kind are written.

    Args:
        kind: The kind.
        name: What the names of its memory begin with.
    """

    def __init__(self, kind: Kind, name: str = "r") -> None:
        self.kind = kind
        self.name = name
        self.memory: list[Memory] = []
        self.parts: list[Output] = []
        inside = kind.of if isinstance(kind, k.Optional) else kind
        if isinstance(kind, k.Optional):
            self.memory.append(Slots(f"{name}_valid", np.uint8))
        if isinstance(inside, k.Tuple):
            self.parts = [type(self)(item, f"{name}_{n}") for n, item in enumerate(inside.items)]
        elif inside in (k.TEXT, k.BYTES):
            self.memory += self._memory_of_bytes()
        elif isinstance(inside, k.Container) and inside.name == "list":
            self._require_flat(inside.items[0])
            self.memory += [
                Slots(f"{name}_sizes", np.int32),
                Sink(f"{name}_items"),
                Sink(f"{name}_data"),
            ]
        elif inside.name in _FIXED:
            self.memory.append(Slots(name, _FIXED[inside.name]))
        elif inside not in (k.NONE, k.NEVER):
            raise UnsupportedError(f"results that are {kind}")
        self.inside = inside

    def _memory_of_bytes(self) -> list[Memory]:
        """Where texts and byte strings go."""
        return [Slots(f"{self.name}_sizes", np.int64), Sink(f"{self.name}_data")]

    def _require_flat(self, item: Kind) -> None:
        if item.words == 0 and item != k.NEVER:
            # How many there are would not be known.
            raise UnsupportedError(f"results that are {self.kind}")
        if isinstance(item, k.Container) or any(
            isinstance(part, k.Container) for part in getattr(item, "items", ())
        ):
            raise UnsupportedError(f"results that are {self.kind}")

    def all_memory(self) -> Iterator[Memory]:
        """Its memory, and that of its parts."""
        yield from self.memory
        for part in self.parts:
            yield from part.all_memory()

    def lines(self, value: Value) -> Iterator[str]:
        """The lines that write a value as row `i`; they set `full` where a sink is."""
        if isinstance(self.kind, k.Optional):
            yield f"{self.name}_valid[i] = 0 if {value.none} else 1"
            lines = list(self._inside(inner(value)))
            if any(isinstance(memory, Sink) for memory in self.all_memory()):
                yield f"if not {value.none}:"
                lines = ["    " + line for line in lines]
            yield from lines or ["    pass"]
            return
        yield from self._inside(value)

    def _inside(self, value: Value) -> Iterator[str]:
        if self.inside in (k.TEXT, k.BYTES):
            yield f"full |= put({self.name}_data, {value.code}.address, {value.code}.size) < 0"
            yield f"{self.name}_sizes[i] = {value.code}.size"
        elif isinstance(self.inside, k.Container):
            item = self.inside.items[0]
            arguments = f"{layout_of(item)}, {item.words}, {value.code}"
            yield f"full |= not put_items({arguments}, {self.name}_items, {self.name}_data)"
            yield f"{self.name}_sizes[i] = get_word({value.code} + 8)"
        elif self.parts:
            for part, item_value in zip(self.parts, value.items, strict=True):
                yield from part.lines(item_value)
        elif self.memory:
            code = f"1 if {value.code} else 0" if self.inside == k.BOOL else value.code
            yield f"{self.name}[i] = {code}"

    def array(
        self,
        written: dict[str, NDArray[Any]],
        appended: Sequence[dict[str, NDArray[Any]]],
        length: int,
        large: bool,
    ) -> Array:
        """What was written, as an array.

        Args:
            written: By name, the items of slots.
            appended: By name, the bytes of sinks, for each range of rows.
            length: How many rows there are.
            large: Whether offsets have 64 bits.

        Raises:
            LimitExceededError: If there is more than offsets reach.
        """
        validity, nulls = None, 0
        if isinstance(self.kind, k.Optional):
            valid = written[f"{self.name}_valid"]
            nulls = length - int(np.count_nonzero(valid))
            validity = _bits(valid) if nulls else None
        type_ = type_of(self.inside, large)
        if self.inside in (k.NONE, k.NEVER):
            return Array(s.null(), length, [])
        if self.parts:
            children = [part.array(written, appended, length, large) for part in self.parts]
            return Array(type_, length, [validity], children, null_count=nulls)
        if self.inside in (k.TEXT, k.BYTES):
            offsets = _offsets(written[f"{self.name}_sizes"], type_)
            bytes_ = [sinks[f"{self.name}_data"] for sinks in appended]
            data = bytes_[0] if len(bytes_) == 1 else np.concatenate(bytes_)
            buffers = [validity, offsets, Buffer.of_items(data)]
            return Array(type_, length, buffers, null_count=nulls)
        if isinstance(self.inside, k.Container):
            offsets = _offsets(written[f"{self.name}_sizes"], type_)
            child = concat([self._items(sinks, large) for sinks in appended])
            return Array(type_, length, [validity, offsets], [child], null_count=nulls)
        items = written[self.name]
        data_buffer = _bits(items) if self.inside == k.BOOL else Buffer.of_items(items)
        return Array(type_, length, [validity, data_buffer], null_count=nulls)

    def _items(self, sinks: dict[str, NDArray[Any]], large: bool) -> Array:
        """The items of the lists of a range of rows."""
        assert isinstance(self.inside, k.Container)
        item = self.inside.items[0]
        words = sinks[f"{self.name}_items"].view(np.int64)
        rows = words.reshape(-1, item.words) if item.words else words.reshape(0, 1)
        return _column(item, rows, sinks[f"{self.name}_data"], large)


def _bits(flags: NDArray[Any]) -> Buffer:
    return Buffer.of_items(np.packbits(flags.astype(bool), bitorder="little"))


def require_reach(size: int, type_: s.DataType) -> None:
    """Refuse more bytes or items than offsets of 32 bits reach.

    Raises:
        LimitExceededError: If there are more.
    """
    if size > MOST_REACHED:
        raise LimitExceededError(
            f"results of {size} bytes or items exceed the offsets of {type_}: declare a large type, as "
            f"in returns=ck.large_utf8()"
        )


MOST_REACHED = 2**31 - 1
"""The largest offset of 32 bits."""


def _offsets(sizes: NDArray[Any], type_: s.DataType) -> Buffer:
    """The offsets of slots of a type from their sizes."""
    dtype = np.int64 if has_large(type_) else np.int32
    if dtype == np.int32:
        require_reach(int(sizes.sum()), type_)
    offsets = np.zeros(len(sizes) + 1, dtype)
    # Converted beforehand: a sum that converts is several times slower.
    np.cumsum(sizes.astype(dtype, copy=False), out=offsets[1:])
    return Buffer.of_items(offsets)


def _column(kind: Kind, words: NDArray[Any], data: NDArray[Any], large: bool) -> Array:
    """Items of a kind from their words, one row an item."""
    length = len(words)
    validity, nulls = None, 0
    if isinstance(kind, k.Optional):
        valid = words[:, 0] == 0
        nulls = length - int(np.count_nonzero(valid))
        validity = _bits(valid) if nulls else None
        kind, words = kind.of, words[:, 1:]
    if kind in (k.NONE, k.NEVER):
        return Array(s.null(), length, [])
    type_ = type_of(kind, large)
    if isinstance(kind, k.Tuple):
        children, at = [], 0
        for part in kind.items:
            children.append(_column(part, words[:, at : at + part.words], data, large))
            at += part.words
        return Array(type_, length, [validity], children, null_count=nulls)
    if kind in (k.TEXT, k.BYTES):
        return _texts(type_, words, data, validity, nulls)
    items = np.ascontiguousarray(words[:, 0])
    if kind == k.BOOL:
        return Array(type_, length, [validity, _bits(items)], null_count=nulls)
    items = items.view(np.float64) if kind.name == "float" else items.astype(_FIXED[kind.name])
    return Array(type_, length, [validity, Buffer.of_items(items)], null_count=nulls)


def _texts(
    type_: s.DataType, words: NDArray[Any], data: NDArray[Any], validity: Buffer | None, nulls: int
) -> Array:
    """Texts from their positions and sizes in `data`."""
    positions, sizes = words[:, 0], words[:, 1]
    offsets = _offsets(sizes, type_)
    starts = np.cumsum(sizes) - sizes
    if not np.array_equal(positions, starts):
        # Several texts an item: theirs lie between each other.
        data = data[np.repeat(positions - starts, sizes) + np.arange(int(sizes.sum()))]
    return Array(type_, len(words), [validity, offsets, Buffer.of_items(data)], null_count=nulls)


def require_values(name: str, results: Array) -> None:
    """Refuse None for fields that are declared not nullable.

    Args:
        name: The function.
        results: Its results.

    Raises:
        ValueError: If there is one; names its field and its row.
    """
    field = _missing(results) if _has_required(results.type) else None
    if field is not None:
        rows = range(results.length)
        row = bisect_left(rows, True, key=lambda n: _missing(results.slice(0, n + 1)) is not None)
        error = ValueError(f"{name}: None for {field!r}, which is declared not nullable")
        error.add_note(f"{name}: row {row}")
        raise error


def _fields(type_: s.DataType) -> Sequence[s.Field]:
    return type_.storage.fields if isinstance(type_.storage, (s.Struct, *LISTS)) else ()


def _has_required(type_: s.DataType) -> bool:
    return any(not field.nullable or _has_required(field.type) for field in _fields(type_))


def _missing(array: Array) -> str | None:
    """The first field that is not nullable, and null in a slot that is not."""
    nested = isinstance(array.type.storage, s.Struct)
    if not _has_required(array.type):
        return None
    parts = struct_flatten(array) if nested else [list_flatten(array)]
    for field, part in zip(_fields(array.type), parts, strict=True):
        # Below a null struct, a field is null too.
        if not field.nullable and part.null_count > (array.null_count if nested else 0):
            return field.name
        if inner_field := _missing(part):
            return inner_field
    return None
