"""Record batches from messages: counts are checked when a batch is opened, columns are read when asked for.

Columnar format 1.5: "RecordBatch message", "Variadic buffers", "Compression".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import UNKNOWN, Array, RecordBatch
from colkern.cpu.threads import map_items
from colkern.errors import ColkernError, InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.forks import cached_property
from colkern.ipc.compression import PREFIX_BYTES, Budget, Codec, codec_of
from colkern.ipc.enums import MessageHeader
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import Limits
from colkern.ipc.reading.assembly import (
    Assembly,
    Place,
    ResolveDictionary,
    Wanted,
    little_endian,
    wanted_places,
)
from colkern.ipc.reading.messages import Message
from colkern.ipc.reading.plans import ArrayPlan, ColumnsPlan, Projection, SchemaPlan
from colkern.ipc.wire import BUFFER, FIELD_NODE
from colkern.layouts import BufferSpec, LayoutKind
from colkern.memory import HOST, Buffer
from colkern.targets import Items

if TYPE_CHECKING:
    # Needed only for reading into device memory.
    from colkern.ipc.reading.destination import Arrival, Destination


_NO_NODES = np.empty(0, FIELD_NODE)
_NO_BUFFERS = np.empty(0, BUFFER)
# Buffers that are not compressed need no budget.
_NO_BUDGET = Budget(0)


class BatchColumns:
    """The columns of one RecordBatch message, or the values of one dictionary batch."""

    def __init__(
        self,
        record: Record | None,
        message: Message,
        plan: ColumnsPlan,
        big_endian: bool,
        limits: Limits,
        destination: Destination | None = None,
    ) -> None:
        self._plan = plan
        device = message.body.source.device
        is_there = destination is not None and destination.device == device
        self._destination = None if is_there else destination
        self._arrivals: dict[int, Arrival] = {}
        self._place = message.place
        self._body = message.body
        self._big_endian = big_endian
        if big_endian and device != HOST:
            raise UnsupportedError(
                f"{message.place}: big-endian values on {device}; have them sent as packed bodies"
            )
        self._limits = limits
        if record is None:
            raise InvalidArrowError("dictionary batch without values", place=message.place)
        self.length: int = record["length"]
        nodes, buffers = record["nodes"], record["buffers"]
        self._nodes: Items = _NO_NODES if nodes is None else nodes
        self._buffers: Items = _NO_BUFFERS if buffers is None else buffers
        counts = record["variadicBufferCounts"]
        self._counts: list[int] = [] if counts is None else counts.tolist()
        self._codec = codec_of(record["compression"])
        self._budget = _NO_BUDGET
        if self._codec is not None:
            self._budget = Budget(limits.decompressed(message.body.size))
        try:
            self._check_counts()
        except InvalidArrowError as error:
            is_one = len(plan.columns) == 1
            place = f"{self._place}, {plan.label(0)}" if is_one else self._place
            raise error.at(place) from None

    def _check_counts(self) -> None:
        plan, counts = self._plan, self._counts
        if self.length < 0:
            raise InvalidArrowError(f"batch of {self.length} rows")
        if not plan.columns:
            self._require_unbacked(self.length)
        if self._nodes.size != plan.nodes[-1]:
            raise InvalidArrowError(
                f"{self._nodes.size} field nodes where the schema has {plan.nodes[-1]}"
            )
        if len(counts) != plan.variadics[-1]:
            raise InvalidArrowError(
                f"{len(counts)} variadic counts where the schema has {plan.variadics[-1]} view arrays"
            )
        fixed, variadic, size = plan.buffers[-1], sum(counts), self._buffers.size
        if fixed + variadic != size or (counts and min(counts) < 0):
            raise InvalidArrowError(
                f"{size} buffers where the schema has {fixed} "
                f"and the variadic counts add {variadic}"
            )
        self._limits.require_variadic_buffers(variadic)
        if self._destination or self._big_endian or not self._body.is_in_memory:
            self._check_copies()

    def _require_unbacked(self, length: int) -> None:
        self._limits.require_unbacked(length, self._body.size)

    def _check_copies(self) -> None:
        """Limit the copies of buffers that overlap in the body, since each buffer gets its own memory."""
        size = self._body.size
        # Buffers that reach outside the body are refused when they are read.
        total = np.minimum(np.maximum(self._buffers["length"], 0), size).sum(dtype=np.float64)
        if total > self._limits.copied(size):
            raise LimitExceededError(
                f"buffers that overlap: {total:.0f} bytes of a body of {size}; "
                "raise Limits.decompression_ratio to read them"
            )

    @cached_property
    def _variadics_before(self) -> tuple[int, ...]:
        """The number of variadic buffers before those of each count."""
        return tuple(accumulate(self._counts, initial=0))

    def _first_buffer(self, position: int) -> int:
        """The number of a column's first buffer; past the last column, the number of all buffers."""
        first = self._plan.buffers[position]
        if self._counts:
            first += self._variadics_before[self._plan.variadics[position]]
        return first

    def load(self, position: int, resolve: ResolveDictionary) -> Array:
        """The column at `position`; its buffers are read, decompressed and brought to little-endian."""
        return self._load(position, resolve, {})

    def _load(self, position: int, resolve: ResolveDictionary, ahead: dict[Place, Buffer]) -> Array:
        """The column at `position`; the buffers in `ahead` are already decompressed."""

        def from_host(place: Place, spec: BufferSpec) -> Buffer:
            buffer = ahead.get(place) or self._plain_buffer(place)
            return little_endian(buffer, spec) if self._big_endian else buffer

        load_buffer: Callable[[Place, BufferSpec], Buffer] = from_host
        if self._destination is not None:
            load_buffer = self._brought(position)
        parts = self._parts(position, position + 1)
        assembly = Assembly(*parts, load_buffer, resolve, self._require_unbacked)
        try:
            return assembly.array(self._plan.columns[position])
        except InvalidArrowError as error:
            raise error.at(f"{self._place}, {self._plan.label(position)}") from None

    def _parts(
        self, first: int, after: int
    ) -> tuple[Iterator[tuple[int, int]], Iterator[Place], Iterator[int]]:
        """The nodes, buffer places and variadic counts of the columns from `first` up to `after`."""
        plan = self._plan
        nodes = self._nodes[plan.nodes[first] : plan.nodes[after]]
        buffers = self._buffers[self._first_buffer(first) : self._first_buffer(after)]
        counts = self._counts[plan.variadics[first] : plan.variadics[after]]
        return iter(nodes.tolist()), iter(buffers.tolist()), iter(counts)

    def bring(self, positions: Sequence[int]) -> Arrival | None:
        """Start to copy the buffers of columns to their device, in one block; None if they are there."""
        if self._destination is None:
            return None
        wanted = {self._wanted(place, spec): None for place, spec in self._wanted_places(positions)}
        spent = self._budget.spent
        try:
            arrival = self._destination.bring(self._body, list(wanted), self._codec, self._budget)
        except InvalidArrowError as error:
            raise error.at(self._place) from None
        except LimitExceededError:
            self._budget.give_back(self._budget.spent - spent)
            raise
        self._arrivals.update(dict.fromkeys(positions, arrival))
        return arrival

    def _wanted(self, place: Place, spec: BufferSpec) -> Wanted:
        return Wanted(*place, spec if self._big_endian and spec.swap_bytes else None)

    def _brought(self, position: int) -> Callable[[Place, BufferSpec], Buffer]:
        """The function that gives a column's buffers on a device; they are copied there now if need be."""
        arrival = self._arrivals.get(position)
        if arrival is None:
            arrival = self.bring([position])
            assert arrival is not None
            arrival.hold_current()
        return lambda place, spec: arrival.buffer(self._wanted(place, spec))

    def _wanted_places(self, positions: Sequence[int]) -> Iterator[tuple[Place, BufferSpec]]:
        # A range, which stands for all columns, is handled in one step.
        spans = [positions] if isinstance(positions, range) else [[k] for k in positions]
        for span in filter(None, spans):
            parts = self._parts(span[0], span[-1] + 1)
            for position in span:
                yield from wanted_places(self._plan.columns[position], *parts)

    def _plain_buffer(self, place: Place) -> Buffer:
        buffer = self._body.read(*place)
        return buffer if self._codec is None else self._codec.decompress(buffer, self._budget)

    def load_values(self, resolve: ResolveDictionary, budget: Budget) -> Array:
        """The values of a dictionary batch, with the budget shared by all batches of that dictionary."""
        self._budget = budget
        return self.load(0, resolve)

    def finish(self) -> None:
        """Wait until the loaded buffers can be used on any stream."""
        if self._destination is not None:
            self._destination.finish()

    @property
    def body_bytes(self) -> int:
        """The size of the body."""
        return self._body.size

    @property
    def compression(self) -> str | None:
        """The compression of the buffers: "lz4", "zstd", or None."""
        return None if self._codec is None else self._codec.option

    def null_counts(self) -> NDArray[np.int64]:
        """The null count of each column from its node, int64[columns]; no buffer is read."""
        # `UNKNOWN` for unions and run-end encoded columns, which have no bitmap of their own, and
        # if the node says that nulls were not counted (-1). For dictionary columns, nulls among the
        # dictionary's values are not counted.
        plan, lengths, counts = self._plan, self._nodes["length"], self._nodes["null_count"]
        bad = np.flatnonzero((counts < UNKNOWN) | (counts > lengths))
        if bad.size:
            length, count = self._nodes[bad[0]].item()
            raise self._bad_node(bad[0], f"node with {count} nulls in {length} slots")
        first = np.array(plan.nodes[:-1], np.intp)
        bad = np.flatnonzero(lengths[first] != self.length)
        if bad.size:
            values = lengths[first[bad[0]]]
            raise self._bad_node(first[bad[0]], f"{values} values in {self.length} rows")
        stated: NDArray[np.int64] = counts[first]
        for position, column in enumerate(plan.columns):
            if column.validity is None:
                stated[position] = self.length if column.layout.kind is LayoutKind.NULL else UNKNOWN
        return stated

    def _bad_node(self, node: int, message: str) -> InvalidArrowError:
        column = bisect_right(self._plan.nodes, node) - 1
        place = f"{self._place}, {self._plan.label(column)}"
        return InvalidArrowError(message, place=place)

    def uncompressed_bytes(self) -> int:
        """The bytes of all buffers, without padding, as compressed ones state them at their start."""
        offsets, lengths = self._buffers["offset"], self._buffers["length"]
        try:
            inside = (offsets >= 0) & (lengths >= 0) & (offsets <= self._body.size - lengths)
            for where in self._buffers[~inside][:1].tolist():
                self._body.read(*where)
            if self._codec is None:
                return int(lengths.sum())
            return sum(self._uncompressed_size(self._codec, *w) for w in self._buffers.tolist())
        except InvalidArrowError as error:
            raise error.at(self._place) from None

    def _uncompressed_size(self, codec: Codec, offset: int, length: int) -> int:
        start = self._body.read(offset, min(length, PREFIX_BYTES))
        return codec.uncompressed_size(start.array.data, length)

    def load_many(self, positions: list[int], resolve: ResolveDictionary) -> list[Array]:
        """As `load` for several columns, with less work for each; not for several threads at once."""
        if self._destination is not None:
            return [self._checked(position, resolve, {}) for position in positions]
        body = self._body_bytes
        if body is not None and self._codec is None and not self._big_endian:
            return self._flat_columns(positions, body, resolve)
        spent = self._budget.spent
        try:
            ahead = {} if self._codec is None else self._decompressed(self._codec, positions)
            return [self._checked(position, resolve, ahead) for position in positions]
        except ColkernError:
            self._budget.give_back(self._budget.spent - spent)
            raise

    def _checked(
        self, position: int, resolve: ResolveDictionary, ahead: dict[Place, Buffer]
    ) -> Array:
        column = self._load(position, resolve, ahead)
        if column.length != self.length:
            raise InvalidArrowError(
                f"{column.length} values in {self.length} rows",
                place=f"{self._place}, {self._plan.label(position)}",
            )
        return column

    def _decompressed(self, codec: Codec, positions: list[int]) -> dict[Place, Buffer]:
        """The buffers of several columns, decompressed in parallel; empty if one of them fails."""
        wanted = {place: None for place, _ in self._wanted_places(positions) if place[1]}
        places = list(wanted)
        budget = Budget(self._budget.left)

        def decompress(place: Place) -> Buffer:
            return codec.decompress(self._body.read(*place), budget)

        try:
            buffers = map_items(decompress, places, sum(size for _, size in places))
            self._budget.spend(budget.spent)
        except (InvalidArrowError, LimitExceededError):
            return {}
        return dict(zip(places, buffers, strict=True))

    @cached_property
    def _body_bytes(self) -> NDArray[np.uint8] | None:
        """The body as one array, if it is in memory."""
        return self._body.in_memory()

    def _flat_columns(
        self, positions: list[int], body: NDArray[np.uint8], resolve: ResolveDictionary
    ) -> list[Array]:
        """Columns from a body in memory. Columns that are not flat, or malformed, are left to `load`."""
        # No error message is made here: this runs for every column of tables with ten thousand.
        plan, length, total = self._plan, self.length, body.size
        # Plain numbers, since a tuple for each pair would keep the garbage collector busy.
        nodes = self._nodes.view(np.int64).tolist()
        numbers = self._buffers.view(np.int64).tolist()

        def make_buffers(position: int) -> tuple[Buffer | None, ...]:
            k = 2 * self._first_buffer(position)
            end = k + 2 * plan.columns[position].buffers
            places = zip(numbers[k:end:2], numbers[k + 1 : end : 2], strict=True)
            validity, *others = (body[at : at + size] for at, size in places)
            first = Buffer.of_read_only(validity) if validity.size else None
            return first, *map(Buffer.of_read_only, others)

        needed: dict[ArrayPlan, tuple[int, ...]] = {}
        columns = []
        for position in positions:
            column = None
            array_plan = plan.columns[position]
            if array_plan.flat:
                least = needed.get(array_plan)
                if least is None:
                    least = tuple([spec.min_bytes(length) for spec in array_plan.layout.buffers])
                    needed[array_plan] = least
                node = 2 * plan.nodes[position]
                nulls = nodes[node + 1]
                k = 2 * self._first_buffer(position)
                right = nodes[node] == length and UNKNOWN <= nulls <= length
                if right and _fit(least, nulls, numbers, k, total):
                    column = Array.late(
                        array_plan.type, array_plan.layout, length, nulls, make_buffers, position
                    )
            columns.append(self._checked(position, resolve, {}) if column is None else column)
        return columns


def _fit(least: tuple[int, ...], nulls: int, numbers: list[int], k: int, total: int) -> bool:
    """Whether the buffers of a flat plan lie within a body of `total` bytes, and are large enough."""
    # Offset and length of the first buffer, the validity, are at `numbers[k]`; without nulls it may
    # be absent.
    looked_at = nulls > 0 or numbers[k + 1] != 0
    for needed in least:
        if looked_at:
            at, size = numbers[k], numbers[k + 1]
            if at < 0 or size < needed or at > total - size:
                return False
        looked_at = True
        k += 2
    return True


class OpenedBatch(NamedTuple):
    """The batch of a message, and its buffers on their way to a device."""

    batch: RecordBatch  #: The batch, whose columns are put together when they are asked for.
    arrival: Arrival | None  #: The buffers that are under way to a device; None in host memory.

    def handed_out(self) -> RecordBatch:
        """The batch, ready for use on the current stream."""
        if self.arrival is not None:
            self.arrival.hold_current()
        return self.batch


def opened_batch(
    message: Message,
    plan: SchemaPlan,
    projection: Projection,
    resolve: ResolveDictionary,
    limits: Limits,
    destination: Destination | None,
) -> OpenedBatch:
    """The batch of a RecordBatch message; its buffers go to a device now, or are read when asked for."""
    record, columns_plan = message.header, plan.columns
    columns = BatchColumns(record, message, columns_plan, plan.big_endian, limits, destination)
    arrival = columns.bring(projection.positions)
    batch = RecordBatch.lazy(
        plan.schema,
        columns.length,
        lambda i: columns.load(i, resolve),
        message.metadata,
        lambda positions: columns.load_many(positions, resolve),
    )
    return OpenedBatch(projection.of(batch), arrival)


# By metadata only


@dataclass(frozen=True, slots=True, eq=False)
class BatchSummary:
    """A summary of one record batch, or one dictionary batch, from its metadata.

    Args:
        length: The number of rows, or of values of the dictionary.
        null_counts: int64[columns] of the reader's schema, as stated in the batch; -1 if it is not
            stated, and for columns without a bitmap of their own (unions, runs). For a dictionary
            batch, that of the values.
        body_bytes: The size of the body, padding included.
        uncompressed_bytes: The size of all buffers together without compression and padding.
        compression: "lz4", "zstd", or None where buffers are plain.
        metadata: The message's custom metadata.
        dictionary: The id of the dictionary that the values belong to; None for a record batch.
        is_delta: Whether the values come behind those that the dictionary has.
    """

    length: int
    null_counts: NDArray[np.int64]
    body_bytes: int
    uncompressed_bytes: int
    compression: str | None
    metadata: Mapping[bytes, bytes] | None
    dictionary: int | None
    is_delta: bool


def summary_of(
    message: Message, plan: SchemaPlan, projection: Projection, limits: Limits
) -> BatchSummary:
    """The summary of a message with a record batch, or with a batch of one of the schema's dictionaries."""
    record, columns, dictionary, is_delta = message.header, plan.columns, None, False
    if message.kind == MessageHeader.DictionaryBatch:
        dictionary, is_delta = record["id"], record["isDelta"]
        record, columns = record["data"], plan.dictionaries[dictionary]
    batch = BatchColumns(record, message, columns, plan.big_endian, limits)
    null_counts = batch.null_counts()
    if dictionary is None:
        null_counts = projection.counts_of(null_counts)
    return BatchSummary(
        batch.length,
        null_counts,
        message.body.size,
        batch.uncompressed_bytes(),
        batch.compression,
        message.metadata,
        dictionary,
        is_delta,
    )
