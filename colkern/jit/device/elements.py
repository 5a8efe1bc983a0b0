"""How a slot of each data type is read in a user's kernel or loop: one row a type class.

`readable` is the code that says whether the slot may be touched at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colkern import schema as s
from colkern.dispatch import ENCODED, Dispatch, by_type
from colkern.jit.device.emitter import Emitter, Value
from colkern.jit.device.kinds import (
    BOOL,
    BYTES,
    NOTHING,
    TEXT,
    Column,
    Decimal,
    Element,
    Number,
    Path,
    Record,
    Row,
    nullable,
)
from colkern.jit.stored_elements import has_moments, moment_of
from colkern.jit.table_calls import failures
from colkern.kernels import slot_values as slots
from colkern.kernels.row_values import LEFT
from colkern.layouts import Role, layout

ALWAYS = "True"


def element(
    e: Emitter, path: Path, data_type: s.DataType, slot: str, readable: str, asks: bool = True
) -> Value:
    """The value of a slot, which may be None; without `asks`, a null slot is read like a valid one."""
    kind = data_type.storage
    if isinstance(kind, s.Null):
        return Value(NOTHING, ())
    if isinstance(kind, s.RunEndEncoded):
        run = run_of(e, path, kind, slot, readable)
        return element_of_run(e, path, kind, run, readable, asks)
    if isinstance(kind, s.Union):
        return Value(Row(path, kind), (slot,))
    # The index under a null may be any number.
    asks_here = asks or isinstance(kind, s.Dictionary)
    valid = own_validity(e, path, slot, readable) if asks_here else readable
    if isinstance(kind, s.Dictionary):
        index = index_slot(e, path, kind, slot, valid)
        read = element(e, path.part(0), kind.value_type, index, valid, asks)
    else:
        read = _READERS[type(kind)](e, path, kind, slot, valid)
    wider = nullable(read.kind)
    return Value(wider, (valid, *read.parts)) if asks and wider != read.kind else read


def validity(e: Emitter, path: Path, data_type: s.DataType, slot: str, readable: str) -> str:
    """The code of whether the value of a slot is not null."""
    kind = data_type.storage
    if isinstance(kind, s.Null):
        return "False"
    if isinstance(kind, s.Dictionary):
        valid = own_validity(e, path, slot, readable)
        return validity(
            e, path.part(0), kind.value_type, index_slot(e, path, kind, slot, valid), valid
        )
    if isinstance(kind, s.RunEndEncoded):
        place = child_slot(e, path, 1, run_of(e, path, kind, slot, readable))
        return validity(e, path.part(1), kind.fields[1].type, place, readable)
    if isinstance(kind, s.Union):
        # A union has no validity of its own: what may be null is what a child holds, or an index.
        return readable
    return own_validity(e, path, slot, readable)


def own_validity(e: Emitter, path: Path, slot: str, readable: str) -> str:
    """The code of whether a slot is not null by the array's own bitmap."""
    bitmap = e.member(path, Role.VALIDITY.value)
    return e.bind(e.call(slots.valid_at, e.like("u1"), bitmap, slot, readable))


# Where values stand


def child_slot(e: Emitter, path: Path, k: int, slot: str) -> str:
    """The slot of a child that belongs to a slot of its parent."""
    return e.bind(f"{e.member(path.part(k), 'offset')} + {slot}")


def union_slot(e: Emitter, path: Path, kind: s.Union, k: int, slot: str, readable: str) -> str:
    """The slot of a union's child that holds the value of a slot of that child's type."""
    if kind.mode == "sparse":
        return child_slot(e, path, k, slot)
    return union_place(e, path, kind, slot, readable, e.member(path.part(k), "offset"))


def union_place(
    e: Emitter, path: Path, kind: s.Union, slot: str, readable: str, first: str = "_ck_zero"
) -> str:
    """The place of a dense union's value by its offset; `first` is where the child begins."""
    items = e.items(path, kind, Role.OFFSETS)
    return e.bind(e.call(slots.elsewhere_at, *items, first, slot, readable))


def type_id(e: Emitter, path: Path, slot: str, readable: str) -> str:
    """The type id of a union's slot."""
    ids = e.member(path, Role.TYPE_IDS.value)
    return e.bind(e.call(slots.number_at, e.like("i1"), ids, "_ck_one", slot, readable))


def index_slot(
    e: Emitter, path: Path, kind: s.Dictionary, slot: str, readable: str, first: str | None = None
) -> str:
    """The slot of the dictionary that a slot's index selects; `first` is the slot of index 0."""
    first = first or e.member(path.part(0), "offset")
    items = e.items(path, kind, Role.DATA)
    return e.bind(e.call(slots.elsewhere_at, *items, first, slot, readable))


def _run_ends(e: Emitter, path: Path, kind: s.RunEndEncoded) -> tuple[str, str, str, str]:
    """The ends of runs, as functions of runs take them."""
    ends = path.part(0)
    return *e.items(ends, kind.fields[0].type, Role.DATA), e.member(ends, "offset")


def run_of(e: Emitter, path: Path, kind: s.RunEndEncoded, slot: str, readable: str) -> str:
    """The run that holds a slot of a run-end encoded column."""
    count = e.member(path.part(0), "length")
    return e.bind(e.call(slots.run_at, *_run_ends(e, path, kind), count, slot, readable))


def next_run(e: Emitter, path: Path, kind: s.RunEndEncoded, run: str, slot: str) -> str:
    """As `run_of`, for a slot behind one that is in a run already known."""
    return e.call(slots.run_from, *_run_ends(e, path, kind), run, slot)


def element_of_run(
    e: Emitter, path: Path, kind: s.RunEndEncoded, run: str, readable: str, asks: bool = True
) -> Value:
    """The value of a run of a run-end encoded column; as `element` for a slot."""
    place = child_slot(e, path, 1, run)
    return element(e, path.part(1), kind.fields[1].type, place, readable, asks)


# One row a type class

Reader = Callable[[Emitter, Path, Any, str, str], Value]


_READERS: Dispatch[type[s.DataType], Reader] = by_type(
    "the slots of columns in kernels", s.Null, s.Union, *ENCODED, s.Extension
)


@_READERS.of(s.Int)
def _number(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    dtype = layout(kind).spec(Role.DATA).dtype
    return Value(Number(dtype.str[1:]), (e.bind(e.number_at(path, kind, slot, valid)),))


@_READERS.of(s.Bool)
def _bool(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    data = e.member(path, Role.DATA.value)
    return Value(BOOL, (e.bind(e.call(slots.bool_at, e.like("u1"), data, slot, valid)),))


@_READERS.of(s.FloatingPoint)
def _float(e: Emitter, path: Path, kind: s.FloatingPoint, slot: str, valid: str) -> Value:
    if kind.bit_width > 16:
        return _number(e, path, kind, slot, valid)
    data = e.member(path, Role.DATA.value)
    return Value(Number("f4"), (e.bind(e.call(slots.half_at, e.like("u2"), data, slot, valid)),))


@_READERS.of(s.Decimal)
def _decimal(e: Emitter, path: Path, kind: s.Decimal, slot: str, valid: str) -> Value:
    count = max(kind.bit_width // 64, 1)
    decimal = Decimal(count, kind.scale)
    if kind.bit_width <= 64:
        number = _number(e, path, kind, slot, valid)
        return Value(decimal, (e.bind(f"_ck_u8(_ck_i8({number.parts[0]}))"),))
    data, size = e.member(path, Role.DATA.value), f"_ck_u8({8 * count})"
    words = [
        e.bind(e.call(slots.words_at, e.like("u8"), data, size, slot, valid, f"_ck_u8({k})"))
        for k in range(count)
    ]
    return Value(decimal, tuple(words))


@_READERS.of(s.Interval)
def _interval(e: Emitter, path: Path, kind: s.Interval, slot: str, valid: str) -> Value:
    dtype = layout(kind).spec(Role.DATA).dtype
    if dtype.fields is None or dtype.names is None:
        return _number(e, path, kind, slot, valid)
    data, size = e.member(path, Role.DATA.value), f"_ck_u8({dtype.itemsize})"
    fields = [(part.str[1:], at) for part, at, *_ in dtype.fields.values()]
    parts = [
        e.bind(e.call(slots.number_at, e.like(code), f"{data} + _ck_u8({at})", size, slot, valid))
        for code, at in fields
    ]
    return Value(Record(tuple(Number(code) for code, _ in fields), dtype.names), tuple(parts))


@_READERS.of(s.Date, s.Time, s.Timestamp, s.Duration)
def _moment(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    number = _number(e, path, kind, slot, valid)
    if not has_moments(kind):
        return number
    moment, item = moment_of(kind), e.bind(f"_ck_i8({number.parts[0]})")
    if moment.check:
        exception, message = failures(str(kind))[LEFT]
        e.note_unless(f"not ({moment.check.replace('item', item)})", exception, message)
        e.stop_if_noted()
    code = moment.code.replace("item", item)
    return Value(Element(moment.kind), (e.bind(f"_ck_i8({code})"),))


def _bytes(e: Emitter, path: Path, kind: s.DataType, place: str) -> Value:
    """An element from the call that gives address and size of its bytes; texts may be other than ASCII."""
    address, size = e.bind_each(place, 2)
    parts = e.bind(f"_ck_i8({address})"), size
    if isinstance(kind, s.Utf8 | s.LargeUtf8 | s.Utf8View):
        return Value(TEXT, (*parts, e.ascii(path)))
    return Value(BYTES, parts)


@_READERS.of(s.Binary, s.LargeBinary, s.Utf8, s.LargeUtf8)
def _binary(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    buffers = *e.items(path, kind, Role.OFFSETS), e.member(path, Role.BYTES.value)
    return _bytes(e, path, kind, e.call(slots.range_at, *buffers, slot, valid))


@_READERS.of(s.BinaryView, s.Utf8View)
def _viewed(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    views, table = e.member(path, Role.VIEWS.value), e.member(path, "table")
    arguments = e.like("i4"), views, e.like("u8"), table, slot, valid
    return _bytes(e, path, kind, e.call(slots.viewed_at, *arguments))


@_READERS.of(s.FixedSizeBinary)
def _fixed_binary(e: Emitter, path: Path, kind: s.FixedSizeBinary, slot: str, valid: str) -> Value:
    data, width = e.member(path, Role.DATA.value), f"_ck_u8({kind.byte_width})"
    return _bytes(e, path, kind, e.call(slots.even_range_at, width, data, slot, valid))


def _elements(path: Path, kind: s.DataType) -> Column:
    form = "entries" if isinstance(kind, s.Map) else "column"
    return Column(path.part(0), kind.fields[0].type.storage, form)


@_READERS.of(s.List, s.LargeList, s.Map)
def _list(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    buffers = *e.items(path, kind, Role.OFFSETS), e.member(path.part(0), "offset")
    call = e.call(slots.range_at, *buffers, slot, valid)
    return Value(_elements(path, kind), e.bind_each(call, 2))


@_READERS.of(s.ListView, s.LargeListView)
def _list_view(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    like, offsets, size = e.items(path, kind, Role.OFFSETS)
    sizes, first = e.member(path, Role.SIZES.value), e.member(path.part(0), "offset")
    call = e.call(slots.list_view_at, like, offsets, sizes, size, first, slot, valid)
    return Value(_elements(path, kind), e.bind_each(call, 2))


@_READERS.of(s.FixedSizeList)
def _fixed_list(e: Emitter, path: Path, kind: s.FixedSizeList, slot: str, valid: str) -> Value:
    first = e.member(path.part(0), "offset")
    call = e.call(slots.even_range_at, f"_ck_u8({kind.list_size})", first, slot, valid)
    return Value(_elements(path, kind), e.bind_each(call, 2))


@_READERS.of(s.Struct)
def _row(e: Emitter, path: Path, kind: s.DataType, slot: str, valid: str) -> Value:
    return Value(Row(path, kind), (slot,))
