"""Results of a generated loop: the lines that write them, and the column that they become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern import schema as s
from colkern.arrays import Array
from colkern.errors import UnsupportedError
from colkern.memory import Buffer
from colkern.rows import kinds as k
from colkern.rows.columns import type_of
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
            self.parts = [Output(item, f"{name}_{n}") for n, item in enumerate(inside.items)]
        elif inside in (k.TEXT, k.BYTES):
            self.memory += [Slots(f"{name}_sizes", np.int32), Sink(f"{name}_data")]
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

    def _require_flat(self, item: Kind) -> None:
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

    def array(self, written: dict[str, NDArray[Any]], length: int) -> Array:
        """What was written, as an array.

        Args:
            written: By name, the items of slots, and the bytes of sinks.
            length: How many rows there are.
        """
        validity, nulls = None, 0
        if isinstance(self.kind, k.Optional):
            valid = written[f"{self.name}_valid"]
            nulls = length - int(np.count_nonzero(valid))
            validity = _bits(valid) if nulls else None
        type_ = type_of(self.inside)
        if self.inside in (k.NONE, k.NEVER):
            return Array(s.null(), length, [])
        if self.parts:
            children = [part.array(written, length) for part in self.parts]
            return Array(type_, length, [validity], children, null_count=nulls)
        if self.inside in (k.TEXT, k.BYTES):
            offsets, data = _offsets(written[f"{self.name}_sizes"]), written[f"{self.name}_data"]
            buffers = [validity, Buffer.of_items(offsets), Buffer.of_items(data)]
            return Array(type_, length, buffers, null_count=nulls)
        if isinstance(self.inside, k.Container):
            child = _children(self.inside.items[0], written, self.name)
            offsets = _offsets(written[f"{self.name}_sizes"])
            buffers = [validity, Buffer.of_items(offsets)]
            return Array(type_, length, buffers, [child], null_count=nulls)
        items = written[self.name]
        data_buffer = _bits(items) if self.inside == k.BOOL else Buffer.of_items(items)
        return Array(type_, length, [validity, data_buffer], null_count=nulls)


def _bits(flags: NDArray[Any]) -> Buffer:
    return Buffer.of_items(np.packbits(flags.astype(bool), bitorder="little"))


def _offsets(sizes: NDArray[Any]) -> NDArray[Any]:
    """Offsets of 32 bits from sizes.

    Raises:
        LimitExceededError: If the sum does not fit.
    """
    from colkern.errors import LimitExceededError

    total = int(sizes.sum(dtype=np.int64))
    if total > np.iinfo(np.int32).max:
        raise LimitExceededError(
            f"results of {total} bytes or items exceed offsets of 32 bits; run over fewer rows"
        )
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, dtype=np.int32, out=offsets[1:])
    return offsets


def _children(item: Kind, written: dict[str, NDArray[Any]], name: str) -> Array:
    """The items of all lists."""
    words = written[f"{name}_items"].view(np.int64)
    rows = words.reshape(-1, item.words) if item.words else words.reshape(0, 1)
    return _column(item, rows, written[f"{name}_data"])


def _column(kind: Kind, words: NDArray[Any], data: NDArray[Any]) -> Array:
    """Items of a kind from their words, one row an item."""
    length = len(words)
    validity, nulls = None, 0
    if isinstance(kind, k.Optional):
        valid = words[:, 0] == 0
        nulls = length - int(np.count_nonzero(valid))
        validity = _bits(valid) if nulls else None
        kind, words = kind.of, words[:, 1:]
    if kind == k.NEVER:
        return Array(s.null(), length, [])
    type_ = type_of(kind)
    if isinstance(kind, k.Tuple):
        children, at = [], 0
        for part in kind.items:
            children.append(_column(part, words[:, at : at + part.words], data))
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
    offsets = _offsets(sizes)
    if len(words) and not np.array_equal(positions, offsets[:-1]):
        # Several texts an item: theirs lie between each other.
        index = np.repeat(positions - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
        data = data[index]
    buffers: Sequence[Buffer | None] = [validity, Buffer.of_items(offsets), Buffer.of_items(data)]
    return Array(type_, len(words), buffers, null_count=nulls)
