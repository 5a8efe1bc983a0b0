"""Which dictionaries have been written, and which must be written before a batch.

Columnar format 1.5: "Dictionary messages", "Dictionary replacement", "IPC file format".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from colkern.arrays import Array
from colkern.dispatch import Dispatch, by_layout
from colkern.ipc.fields import WireField
from colkern.layouts import LayoutKind
from colkern.memory import EMPTY, HOST, Buffer, Device
from colkern.operations import take, trim, views_to_offsets
from colkern.schema import int64
from colkern.targets import target_of


def devices_of(array: Array) -> set[Device]:
    """The devices that have bytes of an array, without dictionaries."""
    devices = {each.device for each in array.buffers if each is not None and each.size}
    return devices.union(*map(devices_of, array.children))


def trimmed(array: Array, what: str) -> Array:
    """The array as it is written: trimmed on its device, see `colkern.operations.trim`."""
    devices = devices_of(array)
    if len(devices) > 1:
        places = " and ".join(sorted(map(str, devices)))
        raise ValueError(
            f"{what}: its bytes live on {places}; copy them to one place with colkern.to_host or "
            f"colkern.to_device"
        )
    return trim(array)


@dataclass(frozen=True, slots=True)
class DictionaryBatch:
    """Values of a dictionary that must be written."""

    id: int
    field: WireField  #: A field that has it; its children are those of the values.
    values: Array  #: The values, or those that come behind the ones before.
    is_delta: bool  #: Whether they do.
    whole: Array  #: All values that a reader has then.
    replaces: bool = False  #: Whether values that were written before changed their positions.

    def values_field(self) -> WireField:
        """The field of the values."""
        return self.field._replace(dictionary=None)


class WrittenDictionaries:
    """The dictionaries that a reader has. `nested_deltas` allows deltas that Arrow C++ refuses."""

    def __init__(self, *, deltas: bool, nested_deltas: bool, may_replace: bool) -> None:
        self._deltas = deltas
        self._nested_deltas = nested_deltas
        self._may_replace = may_replace
        self._written: dict[int, Array] = {}

    def due(self, columns: Sequence[Array], fields: Sequence[WireField]) -> list[DictionaryBatch]:
        """The dictionary batches to write before a batch, inner ones first; `wrote` remembers them."""
        now: dict[int, tuple[WireField, Array]] = {}
        for column, field in zip(columns, fields, strict=True):
            for owner, values in _dictionaries(column, field):
                assert owner.dictionary is not None
                _, known = now.setdefault(owner.dictionary, (owner, values))
                if not _same(known, values):
                    raise ValueError(
                        f"dictionary {owner.dictionary}: columns that share it have different "
                        f"dictionaries in one batch; unify them, or give the columns ids of their own"
                    )
        batches: list[DictionaryBatch] = []
        for owner, values in now.values():
            batch = self._batch(owner, values, batches)
            if batch is not None:
                batches.append(batch)
        return batches

    def _batch(
        self, owner: WireField, values: Array, before: list[DictionaryBatch]
    ) -> DictionaryBatch | None:
        id_ = owner.dictionary
        assert id_ is not None
        written = self._written.get(id_)
        if written is None:
            return DictionaryBatch(id_, owner, values, is_delta=False, whole=values)
        inner = set(ids_of(owner.children))
        # If an inner dictionary was replaced, and so reordered, the values that point into it must
        # be written again.
        if inner.isdisjoint(batch.id for batch in before if batch.replaces):
            if _same(written, values):
                return None
            if self._deltas and _is_start_of(written, values):
                if inner and not self._nested_deltas:
                    return DictionaryBatch(id_, owner, values, is_delta=False, whole=values)
                rest = values.slice(written.length)
                return DictionaryBatch(id_, owner, rest, is_delta=True, whole=values)
        if not self._may_replace:
            raise ValueError(
                f"dictionary {id_} of {owner.field.name!r}: a file can only add to a dictionary, not "
                f"replace it; unify the dictionaries of the batches, or write a stream"
            )
        return DictionaryBatch(id_, owner, values, is_delta=False, whole=values, replaces=True)

    def wrote(self, batch: DictionaryBatch) -> None:
        """Remember that a dictionary was written."""
        self._written[batch.id] = batch.whole


def _is_start_of(start: Array, values: Array) -> bool:
    return start.length <= values.length and _same(start, values.slice(0, start.length))


def _same(a: Array, b: Array) -> bool:
    """Whether two arrays of one type have the same bytes, if their values are equal: -0.0 is not 0.0."""
    # Arrays on one device are compared there, others in host memory. Nested dictionaries are not
    # compared, since they have ids of their own.
    if a is b:
        return True
    if a.length != b.length:
        return False
    a, b = trimmed(a, "dictionary"), trimmed(b, "dictionary")
    if len(devices_of(a) | devices_of(b)) > 1:
        from colkern.cuda import to_host

        a, b = to_host(a), to_host(b)
    return _same_bytes(a, b)


def _same_bytes(a: Array, b: Array) -> bool:
    if _same_parts(a, b):
        return True
    one_way = _one_way.get(a.layout.kind)
    return one_way is not None and a.length == b.length and _same_parts(one_way(a), one_way(b))


def _same_parts(a: Array, b: Array) -> bool:
    if len(a.buffers) != len(b.buffers) or a.length != b.length:
        return False
    pairs = zip(a.buffers, b.buffers, strict=True)
    if not all(_are_equal(x or EMPTY, y or EMPTY) for x, y in pairs):
        return False
    return all(_same_bytes(x, y) for x, y in zip(a.children, b.children, strict=True))


def _are_equal(a: Buffer, b: Buffer) -> bool:
    """Whether two buffers on one device have the same bytes."""
    if a.size != b.size or not a.size:
        return a.size == b.size
    if a.device == HOST:
        return np.array_equal(a.array, b.array)
    from colkern.cuda import memory

    with memory.current(a.device):
        return bool(memory.on_host((a.array == b.array).all()))


_one_way: Dispatch[LayoutKind, Callable[[Array], Array]] = by_layout(
    "one way of holding the values of trimmed arrays",
    # In these layouts, trimmed arrays of equal values have the same bytes.
    LayoutKind.NULL,
    LayoutKind.FIXED_SIZE,
    LayoutKind.BINARY,
    LayoutKind.LIST,
    LayoutKind.LIST_VIEW,
    LayoutKind.FIXED_SIZE_LIST,
    LayoutKind.STRUCT,
    LayoutKind.SPARSE_UNION,
    LayoutKind.DICTIONARY,
    LayoutKind.RUN_END_ENCODED,
)


@_one_way.of(LayoutKind.BINARY_VIEW)
def _as_offsets(array: Array) -> Array:
    return views_to_offsets(array, large=True)


@_one_way.of(LayoutKind.DENSE_UNION)
def _all_slots(array: Array) -> Array:
    """A copy of all slots; the children of a dense union then have nothing else."""
    target = target_of(array.device)
    slots = target.buffer(target.positions(array.length))
    return take(array, Array(int64(), array.length, [None, slots]))


def _dictionaries(array: Array, field: WireField) -> Iterator[tuple[WireField, Array]]:
    """The dictionaries in an array, with their fields; inner before outer."""
    if field.dictionary is None:
        for child, below in zip(array.children, field.children, strict=True):
            yield from _dictionaries(child, below)
        return
    assert array.dictionary is not None
    for child, below in zip(array.dictionary.children, field.children, strict=True):
        yield from _dictionaries(child, below)
    yield field, array.dictionary


def ids_of(fields: Sequence[WireField]) -> Iterator[int]:
    """The ids of all dictionaries in some fields."""
    for field in fields:
        if field.dictionary is not None:
            yield field.dictionary
        yield from ids_of(field.children)
