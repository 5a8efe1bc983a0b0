"""Record batches out of messages: which node and which buffers a column has, and its arrays.

What follows from the schema alone is worked out once (`SchemaPlan`); a batch is opened by checking
its counts, and a column is put together when it is asked for.

Columnar format 1.5: "RecordBatch message", "Variadic buffers", "Compression".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.arrays import UNKNOWN, Array, RecordBatch
from colkern.cpu.threads import map_items
from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.ipc.compression import PREFIX_BYTES, Budget, Codec, codec_of
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuf.MetadataVersion import MetadataVersion
from colkern.ipc.flatbuffer import Record
from colkern.ipc.limits import Limits
from colkern.ipc.reading.byteorder import little_endian
from colkern.ipc.reading.flat_fields import FlatFields
from colkern.ipc.reading.messages import Message
from colkern.ipc.wire import BUFFER, FIELD_NODE
from colkern.layouts import BufferSpec, ChildLength, Extent, Layout, Role, layout
from colkern.memory import EMPTY, Buffer
from colkern.schema import DataType, FixedSizeList, Schema, Union

_NO_NODES = np.empty(0, FIELD_NODE)
_NO_BUFFERS = np.empty(0, BUFFER)
_ONE_COLUMN = np.zeros(1, np.int64)

ResolveDictionary = Callable[["DictionaryPlan", bool], Array]
"""The values of a dictionary; the flag says that no slot needs them."""


@dataclass(frozen=True, slots=True, eq=False)
class DictionaryPlan:
    """Which dictionary a field has, and how its values are put together."""

    id: int
    values: ArrayPlan

    def ids(self) -> set[int]:
        """The ids of the dictionaries within the values."""
        return set(self.values.dictionary_ids())


@dataclass(frozen=True, slots=True, eq=False)
class ArrayPlan:
    """How the array of one field is put together from nodes and buffers.

    Args:
        type: The array's type.
        layout: Its layout.
        validity: The layout's validity buffer, if it has one.
        others: The layout's other fixed buffers.
        children: The plans of its children.
        dictionary: The dictionary's plan, for dictionary types.
        legacy_validity: Whether a validity buffer, which the layout lacks, stands before the
            others: unions before format 1.0.
        nodes: How many nodes the array takes, children included.
        buffers: How many buffers, without variadic ones.
        variadics: How many variadic counts.
        flat: Whether the array is a validity buffer and others, and nothing else.
    """

    type: DataType
    layout: Layout
    validity: BufferSpec | None
    others: tuple[BufferSpec, ...]
    children: tuple[ArrayPlan, ...]
    dictionary: DictionaryPlan | None
    legacy_validity: bool
    nodes: int
    buffers: int
    variadics: int
    flat: bool

    def dictionary_plans(self) -> Iterator[DictionaryPlan]:
        """The dictionaries of the array, its children and their values, outer before inner."""
        if self.dictionary is not None:
            yield self.dictionary
            yield from self.dictionary.values.dictionary_plans()
        for child in self.children:
            yield from child.dictionary_plans()

    def dictionary_ids(self) -> Iterator[int]:
        """The ids of those dictionaries."""
        return (plan.id for plan in self.dictionary_plans())


def _array_plan(field: WireField, version: int) -> ArrayPlan:
    if field.dictionary is None:
        if not field.children:
            return _leaf_plan(field.field.type, version)
        return _plan_of(field.field.type, field.children, None, version)
    # The children in the metadata are those of the dictionary's values.
    values = _plan_of(field.values, field.children, None, version)
    return _plan_of(field.field.type, (), DictionaryPlan(field.dictionary, values), version)


def _plan_of(
    type_: DataType,
    fields: tuple[WireField, ...],
    dictionary: DictionaryPlan | None,
    version: int,
) -> ArrayPlan:
    children = tuple(_array_plan(child, version) for child in fields)
    rule = layout(type_)
    legacy = version < MetadataVersion.V5 and isinstance(type_.storage, Union)
    return ArrayPlan(
        type_,
        rule,
        rule.buffers[0] if rule.has_validity else None,
        rule.buffers[rule.has_validity :],
        children,
        dictionary,
        legacy,
        1 + sum(child.nodes for child in children),
        legacy + len(rule.buffers) + sum(child.buffers for child in children),
        rule.variadic + sum(child.variadics for child in children),
        rule.has_validity and not (rule.variadic or fields or dictionary or legacy),
    )


@lru_cache(maxsize=1024)
def _leaf_plan(type_: DataType, version: int) -> ArrayPlan:
    """The plan of a type without children, made once for all columns of it."""
    return _plan_of(type_, (), None, version)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsPlan:
    """The plans of the columns of a batch, and where each column's entries start.

    Args:
        columns: The plans.
        nodes: First node of each column, and the total.
        buffers: First buffer of each, not counting variadic ones, and the total.
        variadics: First variadic count of each, and the total.
        label: What to call a column in errors.
    """

    columns: Sequence[ArrayPlan]
    nodes: Sequence[int]
    buffers: Sequence[int]
    variadics: Sequence[int]
    label: Callable[[int], str]

    @classmethod
    def of(
        cls, plans: Sequence[ArrayPlan], plan_of: NDArray[np.int64], label: Callable[[int], str]
    ) -> ColumnsPlan:
        """The plan of columns that stand side by side: of each, which of the plans it has."""

        def starts(counts: Iterable[int]) -> list[int]:
            ends = np.fromiter(counts, np.int64, len(plans))[plan_of].cumsum()
            return [0, *ends.tolist()]

        return cls(
            [plans[k] for k in plan_of.tolist()],
            starts(plan.nodes for plan in plans),
            starts(plan.buffers for plan in plans),
            starts(plan.variadics for plan in plans),
            label,
        )


def _column_plans(
    fields: Sequence[WireField], version: int
) -> tuple[list[ArrayPlan], NDArray[np.int64]]:
    """The plans of a schema's columns, and which of them each column has."""
    if not isinstance(fields, FlatFields):
        return [_array_plan(field, version) for field in fields], np.arange(len(fields))
    plans = [_leaf_plan(type_, version) for type_ in fields.types]
    plan_of = fields.type_of.copy()
    for position, field in fields.others.items():
        plan_of[position] = len(plans)
        plans.append(_array_plan(field, version))
    return plans, plan_of


class SchemaPlan:
    """What is known of every batch of a schema under one version of the metadata."""

    def __init__(self, wire: WireSchema, version: int) -> None:
        self.schema: Schema = wire.schema
        self.big_endian = wire.big_endian
        self.columns = ColumnsPlan.of(
            *_column_plans(wire.fields, version),
            lambda position: f"column {wire.schema.field(position).name!r}",
        )

    @cached_property
    def dictionaries(self) -> dict[int, ColumnsPlan]:
        """By the id of each dictionary, the plan of its values as the one column of a batch.

        Raises:
            InvalidArrowError: If one id stands for dictionaries of different types.
        """
        found: dict[int, DictionaryPlan] = {}
        for column in self.columns.columns:
            for plan in column.dictionary_plans():
                first = found.setdefault(plan.id, plan)
                if first.values.type != plan.values.type or first.ids() != plan.ids():
                    raise InvalidArrowError(
                        f"dictionary {plan.id} has values of {first.values.type} in one field "
                        f"and of {plan.values.type} in another"
                    )
        return {
            id_: ColumnsPlan.of([plan.values], _ONE_COLUMN, lambda _, id_=id_: f"dictionary {id_}")  # type: ignore[misc]
            for id_, plan in found.items()
        }


class BatchColumns:
    """The columns of one RecordBatch message, or the values of one dictionary batch.

    Args:
        record: The `RecordBatch` table.
        message: The message it came in.
        plan: What the schema says.
        big_endian: The byte order of the body.
        limits: What may be spent.

    Raises:
        InvalidArrowError: If the batch has not as many nodes, buffers or counts as the schema asks.
    """

    def __init__(
        self,
        record: Record | None,
        message: Message,
        plan: ColumnsPlan,
        big_endian: bool,
        limits: Limits,
    ) -> None:
        self._plan = plan
        self._place = message.place
        self._body = message.body
        self._big_endian = big_endian
        self._limits = limits
        if record is None:
            raise InvalidArrowError("dictionary batch without values", place=message.place)
        self.length: int = record["length"]
        self._nodes: NDArray[Any] = _or(record["nodes"], _NO_NODES)
        self._buffers: NDArray[Any] = _or(record["buffers"], _NO_BUFFERS)
        counts = record["variadicBufferCounts"]
        self._counts: list[int] = [] if counts is None else counts.tolist()
        self._codec = codec_of(record["compression"])
        self._budget = Budget(limits.decompressed(message.body.size))
        self._unbacked = limits.unbacked(message.body.size)
        # Buffers that were decompressed before their column was put together.
        self._ahead: dict[tuple[int, int], Buffer] = {}
        try:
            self._check_counts()
        except InvalidArrowError as error:
            raise error.at(self._place) from None

    def _check_counts(self) -> None:
        plan, counts = self._plan, self._counts
        if self.length < 0:
            raise InvalidArrowError(f"batch of {self.length} rows")
        if not plan.columns and self.length > self._unbacked:
            raise _unbacked(self.length, self._unbacked)
        if self._nodes.size != plan.nodes[-1]:
            raise InvalidArrowError(
                f"{self._nodes.size} field nodes where the schema has {plan.nodes[-1]}"
            )
        if len(counts) != plan.variadics[-1]:
            raise InvalidArrowError(
                f"{len(counts)} variadic counts where the schema has {plan.variadics[-1]} view arrays"
            )
        fixed, found = plan.buffers[-1], self._buffers.size
        if any(count < 0 for count in counts) or fixed + sum(counts) != found:
            raise InvalidArrowError(
                f"{found} buffers where the schema has {fixed} "
                f"and the variadic counts add {sum(counts)}"
            )
        if sum(counts) > self._limits.variadic_buffers:
            raise LimitExceededError(
                f"{sum(counts)} variadic buffers are over the limit of "
                f"{self._limits.variadic_buffers}; raise Limits.variadic_buffers to read them"
            )
        if self._big_endian or not self._body.is_in_memory:
            self._check_copies()

    def _check_copies(self) -> None:
        """Buffers that are one place in the body become as many places in memory."""
        size = self._body.size
        # Those that leave the body are refused where they are read.
        total = np.clip(self._buffers["length"], 0, size).sum(dtype=np.float64)
        if total > self._limits.copied(size):
            raise LimitExceededError(
                f"buffers that overlap: {total:.0f} bytes of a body of {size}; "
                "raise Limits.decompression_ratio to read them"
            )

    @cached_property
    def _variadics_before(self) -> tuple[int, ...]:
        """How many variadic buffers stand before those of the k-th count."""
        return tuple(accumulate(self._counts, initial=0))

    def _buffers_of(self, position: int) -> range:
        """Which buffers a column has."""
        plan = self._plan
        if not self._counts:
            return range(plan.buffers[position], plan.buffers[position + 1])
        before, variadics = self._variadics_before, plan.variadics
        return range(
            plan.buffers[position] + before[variadics[position]],
            plan.buffers[position + 1] + before[variadics[position + 1]],
        )

    def load(self, position: int, resolve: ResolveDictionary) -> Array:
        """The column at `position`; its buffers are read, decompressed and brought to little-endian.

        Args:
            position: Which column.
            resolve: Gives the values of dictionaries.

        Raises:
            InvalidArrowError: If nodes or buffers do not fit the layout or the body; the place names
                message, column and child.
            LimitExceededError: If decompressed buffers, or lengths that no buffer stands behind, are
                over the limits.
        """
        plan = self._plan
        first, after = plan.variadics[position], plan.variadics[position + 1]
        nodes = range(plan.nodes[position], plan.nodes[position + 1])
        assembly = _Assembly(
            map(self._nodes.item, nodes),
            map(self._buffers.item, self._buffers_of(position)),
            iter(self._counts[first:after]),
            self._buffer,
            resolve,
            self._unbacked,
        )
        column = plan.columns[position]
        try:
            return assembly.array(column)
        except InvalidArrowError as error:
            raise error.at(f"{self._place}, {plan.label(position)}") from None

    def load_values(self, resolve: ResolveDictionary, budget: Budget) -> Array:
        """The values of a dictionary batch, as `load` gives them.

        Args:
            resolve: Gives the values of dictionaries.
            budget: What the dictionary's batches may be decompressed to together.
        """
        self._budget = budget
        return self.load(0, resolve)

    @property
    def body_bytes(self) -> int:
        """The size of the body."""
        return self._body.size

    @property
    def compression(self) -> str | None:
        """How buffers are compressed: "lz4", "zstd", or None where they are plain."""
        return None if self._codec is None else self._codec.option

    def null_counts(self) -> NDArray[np.int64]:
        """The null count of each column by its node, int64[columns]; no buffer is read.

        `UNKNOWN` for unions and run-end encoded columns, whose nulls no bitmap of theirs tells. Of a
        dictionary column, nulls among the dictionary's values are not counted.

        Raises:
            InvalidArrowError: If a node counts more nulls than slots, or a column has not as many
                slots as the batch has rows; the place names message and column.
        """
        plan, lengths, counts = self._plan, self._nodes["length"], self._nodes["null_count"]
        bad = np.flatnonzero((counts < 0) | (counts > lengths))
        if bad.size:
            length, count = self._nodes[bad[0]].item()
            raise self._bad_node(bad[0], f"node with {count} nulls in {length} slots")
        first = np.array(plan.nodes[:-1], np.intp)
        bad = np.flatnonzero(lengths[first] != self.length)
        if bad.size:
            values = lengths[first[bad[0]]]
            raise self._bad_node(first[bad[0]], f"{values} values in {self.length} rows")
        told: NDArray[np.int64] = counts[first]
        for position, column in enumerate(plan.columns):
            if column.validity is None:
                told[position] = self.length if column.layout.name == "null" else UNKNOWN
        return told

    def _bad_node(self, node: int, message: str) -> InvalidArrowError:
        column = bisect_right(self._plan.nodes, node) - 1
        place = f"{self._place}, {self._plan.label(column)}"
        return InvalidArrowError(message, place=place)

    def uncompressed_bytes(self) -> int:
        """The bytes of all buffers together, without padding; as compressed ones state it.

        Of a compressed buffer the first bytes are read, of others none.

        Raises:
            InvalidArrowError: If a buffer is not in the body or states a size that cannot be.
        """
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
        """The columns at those positions, as `load` gives them, with less work for each."""
        if self._codec is not None:
            self._decompress_ahead(positions)
            try:
                return [self._loaded(position, resolve) for position in positions]
            finally:
                self._ahead.clear()
        if self._body_bytes is not None and not self._big_endian and self.length <= self._unbacked:
            return self._flat_columns(positions, self._body_bytes, resolve)
        return [self._loaded(position, resolve) for position in positions]

    def _loaded(self, position: int, resolve: ResolveDictionary) -> Array:
        column = self.load(position, resolve)
        if column.length != self.length:
            raise InvalidArrowError(
                f"{column.length} values in {self.length} rows",
                place=f"{self._place}, {self._plan.label(position)}",
            )
        return column

    def _decompress_ahead(self, positions: list[int]) -> None:
        """Decompress the buffers of several columns side by side, for `_buffer` to find.

        What fails is left to `_buffer`, which can tell where it is.
        """
        codec = self._codec
        assert codec is not None
        wanted = [k for position in positions for k in self._buffers_of(position)]
        places = [place for place in map(self._buffers.item, wanted) if place[1]]

        def decompressed(place: tuple[int, int]) -> Buffer | None:
            try:
                return codec.decompress(self._body.read(*place), self._budget)
            except InvalidArrowError:
                return None

        found = map_items(decompressed, places, sum(size for _, size in places))
        self._ahead = {p: b for p, b in zip(places, found, strict=True) if b is not None}

    @cached_property
    def _body_bytes(self) -> NDArray[np.uint8] | None:
        """The body as one array, where it is in memory."""
        return self._body.in_memory()

    def _flat_columns(
        self, positions: list[int], body: NDArray[np.uint8], resolve: ResolveDictionary
    ) -> list[Array]:
        """Columns out of plain memory. `load` makes those that are not flat, or not right.

        Nothing here says what is wrong: this runs for every column of tables with ten thousand.
        """
        plan, length, total = self._plan, self.length, body.size
        # As plain numbers: a tuple for each pair would keep the garbage collector busy.
        nodes = self._nodes.view(np.int64).tolist()
        numbers = self._buffers.view(np.int64).tolist()

        def make_buffers(position: int) -> tuple[Buffer | None, ...]:
            k = 2 * self._buffers_of(position).start
            end = k + 2 * plan.columns[position].buffers
            places = zip(numbers[k:end:2], numbers[k + 1 : end : 2], strict=True)
            validity, *others = (body[at : at + size] for at, size in places)
            nulls = nodes[2 * plan.nodes[position] + 1]
            first = Buffer.of_read_only(validity) if nulls else None
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
                k = (
                    2 * self._buffers_of(position).start
                    if self._counts
                    else 2 * plan.buffers[position]
                )
                right = nodes[node] == length and 0 <= nulls <= length
                if right and _fit(least, nulls, numbers, k, total):
                    column = Array.late(
                        array_plan.type, array_plan.layout, length, nulls, make_buffers, position
                    )
            columns.append(self._loaded(position, resolve) if column is None else column)
        return columns

    def _buffer(self, where: tuple[int, int], spec: BufferSpec) -> Buffer:
        ahead = self._ahead.pop(where, None)
        if ahead is not None:
            buffer = ahead
        else:
            buffer = self._body.read(*where)
            if self._codec is not None:
                buffer = self._codec.decompress(buffer, self._budget)
        if self._big_endian:
            buffer = little_endian(buffer, spec)
        return buffer


def _fit(least: tuple[int, ...], nulls: int, numbers: list[int], k: int, total: int) -> bool:
    """Whether the buffers of a flat plan lie within a body and are large enough.

    Args:
        least: The least size of each.
        nulls: How many slots are null; without nulls the validity buffer is not looked at.
        numbers: Offset and length of each buffer, one after the other.
        k: Where those of the first, the validity buffer, are.
        total: The size of the body.
    """
    looked_at = nulls > 0
    for needed in least:
        if looked_at:
            at, size = numbers[k], numbers[k + 1]
            if at < 0 or size < needed or at > total - size:
                return False
        looked_at = True
        k += 2
    return True


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


# What variadic buffers hold: bytes, in no order.
_VARIADIC = BufferSpec(Role.BYTES, Extent.FREE, np.dtype(np.uint8))


@dataclass(slots=True)
class _Assembly:
    """Puts one column together, taking nodes, buffers and counts parents first."""

    nodes: Iterator[tuple[int, int]]
    buffers: Iterator[tuple[int, int]]
    counts: Iterator[int]
    load: Callable[[tuple[int, int], BufferSpec], Buffer]
    resolve: ResolveDictionary
    unbacked: int

    def array(self, plan: ArrayPlan) -> Array:
        length, null_count = next(self.nodes)
        if not 0 <= null_count <= length:
            raise InvalidArrowError(f"node with {null_count} nulls in {length} slots")
        if plan.legacy_validity:
            self._skip_legacy_validity(null_count)
        buffers = self._own_buffers(plan, null_count)
        if length > self.unbacked and not any(buffers):
            raise _unbacked(length, self.unbacked)
        dictionary = None
        if plan.dictionary is not None:
            dictionary = self.resolve(plan.dictionary, null_count == length)
        return Array(
            plan.type,
            length,
            buffers,
            self._children(plan, length) if plan.children else (),
            dictionary,
            # The other layouts have nulls that no bitmap of theirs tells; those are counted.
            null_count=UNKNOWN if plan.validity is None else null_count,
        )

    def _own_buffers(self, plan: ArrayPlan, null_count: int) -> list[Buffer | None]:
        load, where = self.load, self.buffers
        buffers: list[Buffer | None] = []
        if plan.validity is not None:
            place = next(where)
            buffers.append(load(place, plan.validity) if null_count else None)
        for spec in plan.others:
            buffers.append(load(next(where), spec))
        if plan.layout.variadic:
            for _ in range(next(self.counts)):
                buffers.append(load(next(where), _VARIADIC))
        return buffers

    def _children(self, plan: ArrayPlan, length: int) -> list[Array]:
        children = []
        for child, field in zip(plan.children, plan.type.fields, strict=True):
            try:
                children.append(self.array(child))
            except InvalidArrowError as error:
                raise error.at(f"child {field.name!r}") from None
        check = _CHILD_CHECKS.get(plan.layout.child_length)
        if check is not None:
            check(plan.type, length, children)
        return children

    def _skip_legacy_validity(self, null_count: int) -> None:
        _, size = next(self.buffers)
        if null_count and not size:
            raise InvalidArrowError(f"union node with {null_count} nulls and no validity bitmap")
        if null_count:
            raise UnsupportedError(
                "a union with a validity bitmap of its own and nulls in it, as written before "
                "format 1.0"
            )


def _unbacked(length: int, limit: int) -> LimitExceededError:
    return LimitExceededError(
        f"{length} slots without a buffer behind them are over the limit of "
        f"{limit}; raise Limits.unbacked_length to read them"
    )


def _same_length(type_: DataType, length: int, children: list[Array]) -> None:
    for child, field in zip(children, type_.fields, strict=True):
        if child.length < length:
            raise InvalidArrowError(
                f"{child.length} slots where the parent has {length}", place=f"child {field.name!r}"
            )


def _list_size(type_: DataType, length: int, children: list[Array]) -> None:
    storage = type_.storage
    assert isinstance(storage, FixedSizeList)
    if children[0].length < length * storage.list_size:
        raise InvalidArrowError(
            f"{children[0].length} elements for {length} lists of {storage.list_size}"
        )


def _runs(type_: DataType, length: int, children: list[Array]) -> None:
    run_ends, values = children
    if run_ends.length > values.length or (length and not run_ends.length):
        raise InvalidArrowError(
            f"{run_ends.length} run ends and {values.length} values for {length} slots"
        )


# What lengths alone tell; offsets are bytes, and left to `validate`.
_CHILD_CHECKS: dict[ChildLength, Callable[[DataType, int, list[Array]], None]] = {
    ChildLength.SAME: _same_length,
    ChildLength.LIST_SIZE: _list_size,
    ChildLength.RUNS: _runs,
}


def empty_array(plan: ArrayPlan) -> Array:
    """An array without slots."""
    values = plan.dictionary.values if plan.dictionary is not None else None
    return Array(
        plan.type,
        0,
        [None if spec.role is Role.VALIDITY else EMPTY for spec in plan.layout.buffers],
        [empty_array(child) for child in plan.children],
        empty_array(values) if values is not None else None,
    )


def lazy_batch(
    message: Message, plan: SchemaPlan, resolve: ResolveDictionary, limits: Limits
) -> RecordBatch:
    """The batch of a RecordBatch message; columns are put together when they are asked for.

    Raises:
        InvalidArrowError: If its counts are not those of the schema.
    """
    columns = BatchColumns(message.header, message, plan.columns, plan.big_endian, limits)
    return RecordBatch.lazy(
        plan.schema,
        columns.length,
        lambda i: columns.load(i, resolve),
        message.metadata,
        lambda positions: columns.load_many(positions, resolve),
    )
