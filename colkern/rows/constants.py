"""Constants of row functions in memory: lists, dictionaries and sets in the form that bodies read.

    block = constant_block(TABLE, kind_of(TABLE))
    words = block.at(address)        # to be written to that address, which is a multiple of 8

A block begins with the words of the constant as an item; for a container, that is the address of its
header. Addresses within a block are relative to its begin until `at` adds the real address.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from ctypes import string_at
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, cast

import numpy as np

from colkern.errors import UnsupportedError
from colkern.kernels import row_decimals, row_dicts, row_items
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind
from colkern.rows.time_zones import fixed_offset

_ALL = (1 << 64) - 1
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

_SURROGATE = re.compile("[\ud800-\udfff]")

_LACKING = object()
"""The place of a key that a dictionary lacks."""

_PARTS = {"float": row_items.FLOAT, "str": row_items.TEXT, "bytes": row_items.BYTES}
_PARTS_AT_MOST = 15

_UNKNOWN = [row_items.OPAQUE] * 2
"""Parts of which it is unknown whether they are equal; the first may be skipped behind a None."""


@dataclass(frozen=True)
class Block:
    """A constant as words that can be placed at any address.

    Args:
        relative: The positions of the words that are addresses relative to the block's begin.
    """

    words: bytes
    relative: tuple[int, ...]

    def at(self, address: int) -> bytes:
        """Returns the bytes to write to an address, which must be a multiple of 8."""
        words = np.frombuffer(self.words, np.int64).copy()
        words[list(self.relative)] += address
        return words.tobytes()


def layout_of(kind: Kind, to_equal: bool = False) -> int:
    """Returns the layout of a kind's items, see `colkern.kernels.row_items`; 0 for items without words.

    Args:
        to_equal: Whether the layout is only for `==`: dictionaries have no order and no hash.

    Raises:
        UnsupportedError: If there is no such layout.
    """
    parts = _parts_of(kind, to_equal)
    if len(parts) > _PARTS_AT_MOST and to_equal:
        parts = parts[: _PARTS_AT_MOST - len(_UNKNOWN)] + _UNKNOWN
    if len(parts) > _PARTS_AT_MOST:
        raise UnsupportedError(
            f"{kind} has {len(parts)} parts, at most {_PARTS_AT_MOST} are supported"
        )
    return sum(part << 4 * position for position, part in enumerate(parts))


def _parts_of(kind: Kind, to_equal: bool = False) -> list[int]:
    if kind in k.NODES:
        return [row_items.NODE]
    if k.is_row(kind) and not to_equal:
        raise UnsupportedError(f"{kind}: nothing looks for a dictionary among others")
    if isinstance(kind, k.Record | k.Uneven | k.Several) and to_equal:
        return _UNKNOWN
    if isinstance(kind, k.Record | k.Uneven | k.Several):
        raise UnsupportedError(f"{kind}: nothing looks for a data class among others")
    if isinstance(kind, k.Tuple):
        for name in ("__eq__", "__lt__", "__hash__"):
            if k.written_method(kind.form, name):
                raise UnsupportedError(f"{kind.form.__name__}: nothing looks for its own {name}")
        return [part for item in kind.items for part in _parts_of(item, to_equal)]
    if isinstance(kind, k.Optional):
        inner = _parts_of(kind.of, to_equal)
        if len(inner) != 1 and to_equal:
            return [row_items.OPTIONAL, *_UNKNOWN]
        if len(inner) != 1:
            raise UnsupportedError(f"{kind}: nothing compares a tuple that may be None")
        return [row_items.OPTIONAL, *inner]
    zone = kind.zone if isinstance(kind, k.Aware) else None
    is_opaque = isinstance(kind, k.Container | k.Decimal | k.Choice)
    if is_opaque or (zone and fixed_offset(zone) is None):
        # Equal decimals may have different digits; moments may be in another order than local times.
        return [row_items.HANDLE] * kind.words
    return [_PARTS.get(kind.name, row_items.NUMBER)] if kind.words else []


def has_order(kind: Kind) -> bool:
    """Whether values of a kind can be hashed and compared by their layout."""
    try:
        return layout_of(kind) >= 0 and {row_items.HANDLE, row_items.NODE}.isdisjoint(
            _parts_of(kind)
        )
    except UnsupportedError:
        return False


# The kind of a constant.

KINDS: dict[type, Kind] = {
    bool: k.BOOL,
    int: k.INT,
    float: k.FLOAT,
    str: k.TEXT,
    bytes: k.BYTES,
    date: k.DATE,
    datetime: k.DATETIME,
    time: k.TIME,
    timedelta: k.TIMEDELTA,
    type(None): k.NONE,
    Decimal: k.PLAIN["Decimal"],
}
"""The kinds of constants of some classes; of decimals and datetimes, there are others too."""


def kind_of(value: Any) -> Kind:
    """Returns the kind of a constant.

    Raises:
        UnsupportedError: If it has no kind, or if the items of a container are of different kinds.
    """
    if type(value) in KINDS:
        _require_range(value)
        if type(value) is Decimal:
            return k.decimal_of(-decimal_words(value)[1])
        if type(value) is int:
            return kind_of_integer(value)
        return k.kind_of_datetime(value) if type(value) is datetime else KINDS[type(value)]
    if k.is_enum(type(value)):
        return k.member_of(type(value))
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        return k.tuple_of(tuple(map(kind_of, value)), tuple(names), type(value))
    if type(value) in (set, frozenset):
        return replace(k.set_of(_hashable(_common(value))), constant=True)
    base = base_of(type(value))
    if base is list:
        return sequence_kind(value)
    if base is dict or type(value) in (Counter, defaultdict):
        return _kind_of_dicts([value])
    if is_data(value):
        return _kind_of_fields([value])
    if k.is_function(value):
        return k.choice_of([value])
    raise UnsupportedError(f"no constant of {type(value).__name__} is supported")


def base_of(form: type) -> type | None:
    """Returns the type, `dict` or `list`, as which instances of a class are read; None for other classes,
    and those that change what it does."""
    base = next((base for base in (dict, list) if issubclass(form, base)), None)
    if form is base:
        return base
    kept = vars(base).keys() - {"__init__", "__doc__"} if base else set()
    own = {name for name in kept if inspect.getattr_static(form, name) is not vars(base)[name]}
    return None if own or hasattr(form, "__missing__") else base


@dataclass(frozen=True, eq=False)
class _Object:
    """Wraps an object so that it is equal to itself only, and keeps the object alive."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Object) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def identity(value: Any) -> Hashable:
    """Returns a hashable key of a constant, which distinguishes -0.0 from 0.0, and arrays by all items."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple) or type(value) is list:
        return type(value), tuple(map(identity, value))
    if type(value) in (set, frozenset):
        return type(value), frozenset(map(identity, value))
    if type(value) is dict:
        return dict, tuple((identity(key), identity(item)) for key, item in value.items())
    return (type(value), repr(value)) if type(value) in KINDS else _Object(value)


def sequence_kind(value: Iterable[Any]) -> Kind:
    """Returns the kind of a list with a tuple's items, so that an index may depend on the row.

    Raises:
        UnsupportedError: As `kind_of`.
    """
    return replace(k.list_of(_common(value)), constant=True)


def has_64_bits(value: int) -> bool:
    """Whether an integer is one that compiled code computes with."""
    return -(1 << 63) <= value < 1 << 63


def wrapped(value: int) -> int:
    """Returns the lowest 64 bits of an integer as a signed integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def kind_of_integer(value: int) -> Kind:
    """Returns the kind of a constant integer."""
    return k.UNSIGNED if 1 << 63 <= value < 1 << 64 else k.INT


def _require_range(value: Any) -> None:
    if type(value) is int and not has_64_bits(value) and kind_of_integer(value) == k.INT:
        raise UnsupportedError(f"the constant {value} has more than 64 bits")
    if type(value) is str and not value.isascii() and _SURROGATE.search(value):
        raise UnsupportedError(
            f"the constant {value!r} has a surrogate, half of a character of UTF-16"
        )
    if type(value) is Decimal:
        number, exponent = decimal_words(value)
        is_signed_zero = number == 0 and value.is_signed()
        if (
            is_signed_zero
            or abs(number) >= row_decimals.END
            or abs(exponent) > row_decimals.FARTHEST
        ):
            raise UnsupportedError(f"the constant {value!r}")
    if type(value) is timedelta and not has_64_bits(word_of(value)):
        raise UnsupportedError(f"the constant {value!r} has more than 64 bits of microseconds")
    if type(value) is time and value.tzinfo is not None:
        raise UnsupportedError(f"the constant {value!r} has a time zone")
    if type(value) is datetime and value.tzinfo is not None:
        shown = value.astimezone(UTC).astimezone(value.tzinfo)
        if shown.replace(fold=0) != value.replace(fold=0):
            raise UnsupportedError(f"the constant {value!r}, a local time that its zone skips")


def decimal_words(value: Decimal) -> tuple[int, int]:
    """Returns the coefficient of a decimal, and the exponent of ten.

    Raises:
        UnsupportedError: If it is infinite or NaN.
    """
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise UnsupportedError(f"the constant {value!r}")
    number = int("".join(map(str, digits)))
    return -number if sign else number, exponent


def _common(values: Iterable[Any], loose: bool = False) -> Kind:
    """Returns the kind that values have in common; parts that have none alone may have one together.

    Args:
        loose: Whether they may be numbers of several types.
    """
    values = list(values)
    try:
        return _common_of(map(kind_of, values), loose)
    except UnsupportedError:
        present = [value for value in values if value is not None]
        if len({*map(type, present)}) != 1 or type(present[0]) in KINDS:
            raise
        kind = _kind_of_all(present)
        if kind is None:
            raise
    return kind if len(present) == len(values) else k.optional(kind)


def _common_of(kinds: Iterable[Kind], loose: bool) -> Kind:
    common: Kind = k.NEVER
    for other in kinds:
        joined = k.joined(common, other)
        is_number = getattr(getattr(joined, "of", joined), "name", "") in ("int", "float")
        # In memory, a bool among integers would become an integer.
        if joined is None or (_is_loose(joined) and not (loose and is_number)):
            raise UnsupportedError(f"the constant has {common} and {other} side by side")
        common = joined
    return common


def _kind_of_all(values: list[Any]) -> Kind | None:
    """Returns the kind of dictionaries, lists, tuples, or data of one type; None for other types."""
    form = type(values[0])
    if form is dict:
        return _kind_of_dicts(values)
    if is_data(values[0]):
        return _kind_of_fields(values)
    if form not in (list, tuple):
        return None
    if form is tuple and len({*map(len, values)}) == 1:
        return k.tuple_of(tuple(map(_common, zip(*values, strict=True))))
    items = _common(item for value in values for item in value)
    return replace(k.list_of(items), constant=True, is_tuple=form is tuple)


def _kind_of_dicts(values: list[Any]) -> Kind:
    keys = _hashable(_common(key for value in values for key in value))
    try:
        items = _common(item for value in values for item in value.values())
        return replace(k.dict_of(keys, items), constant=True)
    except UnsupportedError:
        if keys != k.TEXT:
            raise
    fields: dict[str, Kind] = {}
    for name in dict.fromkeys(name for value in values for name in value):
        of = _numbers(value[name] for value in values if name in value)
        fields[name] = of if all(name in value for value in values) else k.unset(of)
    is_uneven = len({*map(tuple, values)}) > 1
    return k.tuple_of(tuple(fields.values()), tuple(fields), k.SomeKeys if is_uneven else dict)


def is_data(value: Any) -> bool:
    """Whether a constant is a named tuple, or an instance of a data class with nothing but its fields."""
    if isinstance(value, tuple):
        return hasattr(value, "_fields")
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return False
    names = {*_names_of(value)}
    # A default that `init` does not take may be the class's alone.
    return {*getattr(value, "__dict__", names)} <= names and all(hasattr(value, n) for n in names)


def _kind_of_fields(values: list[Any]) -> Kind:
    names = _names_of(values[0])
    kinds = tuple(_numbers(getattr(value, name) for value in values) for name in names)
    return k.tuple_of(kinds, names, type(values[0]))


def _names_of(value: Any) -> tuple[str, ...]:
    named: tuple[str, ...] | None = getattr(value, "_fields", None)
    return tuple(field.name for field in dataclasses.fields(value)) if named is None else named


def table_kind(value: dict[Any, Any]) -> Kind:
    """Returns the kind of a dictionary of numbers of several types, to which the row brings the key."""
    return replace(k.dict_of(_hashable(_common(value)), _numbers(value.values())), constant=True)


def _numbers(values: Iterable[Any]) -> Kind:
    """Returns the kind of values that may be numbers of several types, if no integer is rounded."""
    values = list(values)
    kind = _common(values, loose=True)
    if _is_loose(kind) and any(isinstance(n, int) and abs(n) > _EXACT for n in values):
        raise UnsupportedError("the constant has floats beside integers that no float equals")
    return kind


_EXACT = 1 << 53


def _is_loose(kind: Kind) -> bool:
    return any(part.loose for part in k.parts_of(kind))


def _hashable(kind: Kind) -> Kind:
    if kind != k.NEVER and not has_order(kind):
        raise UnsupportedError(f"keys of {kind} are not supported")
    return kind


# Writing constants.


def constant_block(value: Any, kind: Kind) -> Block:
    """Returns a constant as a block.

    Args:
        kind: Its kind, from `kind_of` or `sequence_kind`.
    """
    writer = _Writer()
    writer.reserve(kind.words)
    writer.write(0, value, kind)
    return writer.block()


class _Writer:
    """A block while it is written: its words, as ints."""

    def __init__(self) -> None:
        self._words: list[int] = []
        self._relative: list[int] = []
        self._texts: dict[bytes, int] = {}
        self._containers: dict[tuple[int, Kind], tuple[int, Any]] = {}

    def block(self) -> Block:
        words = np.array(self._words, np.uint64).tobytes()
        return Block(words, tuple(self._relative))

    def reserve(self, count: int) -> int:
        """Appends words, and returns the position of the first."""
        first = len(self._words)
        self._words += [0] * count
        return first

    def _set(self, place: int, value: int) -> None:
        self._words[place] = value & _ALL

    def _point(self, place: int, target: int) -> None:
        """Write the address of a word."""
        self._words[place] = 8 * target
        self._relative.append(place)

    def write(self, place: int, value: Any, kind: Kind) -> None:
        """Write a value's words."""
        if isinstance(kind, k.Optional):
            self._set(place, int(value is None))
            if value is not None:
                self.write(place + 1, value, kind.of)
        elif k.is_unset(kind):
            self._set(place, int(value is _LACKING))
            if value is not _LACKING:
                self.write(place + 1, value, kind.items[1])  # type: ignore[attr-defined]
        elif isinstance(kind, k.Compound):
            for item, of in zip(items_of(value, kind), kind.items, strict=True):
                self.write(place, item, of)
                place += of.words
        elif isinstance(kind, k.Several):
            of_own = [
                number for number, of in enumerate(kind.items[1:]) if k.form_of(of) is type(value)
            ]
            self._set(place, *of_own)
            before = sum(of.words for of in kind.items[: 1 + of_own[0]])
            self.write(place + before, value, kind.items[1 + of_own[0]])
        elif isinstance(kind, k.Container):
            # One object in several places stays one. It is kept, or another could get its number.
            key = id(value), kind
            if key not in self._containers:
                write = self._list if kind.name == "list" else self._dict
                self._containers[key] = write(value, kind), value
            self._point(place, self._containers[key][0])
        elif isinstance(kind, k.Member):
            self._set(place, word_of(value))
        elif isinstance(kind, k.Choice):
            self._set(place, kind.among.index(value))
        elif isinstance(value, str | bytes):
            self._bytes(place, value)
        elif isinstance(kind, k.Decimal):
            is_decimal = isinstance(value, Decimal)
            for word in decimal_words(value) if is_decimal else (int(value), 0):
                self._set(place, word)
                place += 1
        elif value is not None:
            self._set(place, word_of(float(value) if kind.name == "float" else value, kind))

    def _bytes(self, place: int, value: str | bytes) -> None:
        data = value if isinstance(value, bytes) else value.encode()
        if data not in self._texts:
            self._texts[data] = self.reserve((len(data) + 7) // 8)
            for position in range(0, len(data), 8):
                word = int.from_bytes(data[position : position + 8], "little")
                self._set(self._texts[data] + position // 8, word)
        self._point(place, self._texts[data])
        is_text = isinstance(value, str)
        self._set(place + 1, 2 * len(data) + data.isascii() if is_text else len(data))

    def _list(self, value: Iterable[Any], kind: k.Container) -> int:
        values = list(value)
        words = kind.items[0].words
        header = self.reserve(3 + words * len(values))
        self._point(header, header + 3)
        self._set(header + 1, len(values))
        self._set(header + 2, len(values))
        for number, item in enumerate(values):
            self.write(header + 3 + number * words, item, kind.items[0])
        return header

    def _dict(self, value: Any, kind: k.Container) -> int:
        """Write a dictionary or set in the layout of `colkern.kernels.row_dicts`; returns its header's
        position."""
        # The order of a set differs from process to process.
        keys = list(value) if isinstance(value, Mapping) else sorted(value, key=repr)
        # Less than half of the slots are taken, so that most look-ups of missing keys hit a free slot at
        # once.
        slots = 1 << max(3, (3 * len(keys) - 1).bit_length())
        key_words = kind.items[0].words
        entry_words = 1 + sum(part.words for part in kind.items)
        header = self.reserve(row_dicts.HEADER // 8)
        capacity = slots // 2
        entries = self.reserve(entry_words * (capacity + 1))
        index = self.reserve(slots)
        self._point(header, entries)
        self._point(header + row_dicts.SLOTS // 8, index)
        for field in (row_dicts.COUNT, row_dicts.TAKEN):
            self._set(header + field // 8, len(keys))
        self._set(header + row_dicts.CAPACITY // 8, capacity)
        self._set(header + row_dicts.MASK // 8, slots - 1)
        for number, key in enumerate(keys):
            entry = entries + number * entry_words
            key_hash = hash_of(key, kind.items[0])
            self._set(entry, key_hash)
            self.write(entry + 1, key, kind.items[0])
            if isinstance(value, Mapping):
                self.write(entry + 1 + key_words, value[key], kind.items[1])
            slot = key_hash >> 1 & slots - 1
            while self._words[index + slot]:
                slot = slot + 1 & slots - 1
            self._set(index + slot, number + 1)
        return header


def word_of(value: Any, kind: Kind | None = None) -> int:
    """Returns the word of a value that takes a single word.

    Raises:
        UnsupportedError: If the kind has no such value.
    """
    if kind is not None and kind.name == "unsigned":
        if value < 0:
            raise UnsupportedError(
                f"the constant has {value} and integers from 2**63 on side by side"
            )
        # Words are compared as signed integers.
        return int(value) - (1 << 63)
    if isinstance(value, Enum):
        return k.values_of(type(value)).index(value)
    if isinstance(value, float):
        return int(struct.unpack("<q", struct.pack("<d", value))[0])
    if isinstance(value, datetime):
        epoch = _EPOCH if value.tzinfo is None else _EPOCH.replace(tzinfo=UTC)
        return (value - epoch) // _MICROSECOND
    if isinstance(value, date):
        return (value - _EPOCH.date()).days
    if isinstance(value, time):
        return (datetime.combine(_EPOCH, value) - _EPOCH) // _MICROSECOND
    return value // _MICROSECOND if isinstance(value, timedelta) else int(value)


def items_of(value: Any, kind: k.Compound) -> Sequence[Any]:
    """Returns the values of the parts of a tuple, a dictionary with constant keys, or an instance."""
    if isinstance(value, dict):
        return [value.get(name, _LACKING) for name in kind.names]
    if isinstance(kind, k.Record):
        return [getattr(value, name) for name in kind.names]
    return cast(tuple[Any, ...], value)


def value_of_words(words: Iterator[int], kind: Kind) -> Any:
    """Returns the Python object for the words of a value; texts and containers are copied from memory."""
    if isinstance(kind, k.Optional):
        if next(words):
            # Where there is no value, its words are those of none.
            for _ in range(kind.of.words):
                next(words)
            return None
        return value_of_words(words, kind.of)
    if isinstance(kind, k.Compound):
        items = [value_of_words(words, item) for item in kind.items]
        if kind.form is dict:
            return dict(zip(kind.names, items, strict=True))
        if isinstance(kind, k.Record):
            return _instance(kind, items)
        return tuple(items) if kind.form is tuple else kind.form(*items)
    if isinstance(kind, k.Container):
        return _container_at(next(words), kind)
    if kind in (k.TEXT, k.BYTES):
        address, size = next(words), next(words)
        return (
            string_at(address, size >> 1).decode() if kind == k.TEXT else string_at(address, size)
        )
    if isinstance(kind, k.Decimal):
        number, exponent = next(words), next(words)
        return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), exponent))
    if isinstance(kind, k.Aware):
        moment = _EPOCH.replace(tzinfo=UTC) + next(words) * _MICROSECOND
        return moment.astimezone(kind.zone)
    return _VALUES[kind.name](next(words)) if kind.words else None


def _instance(kind: k.Record, items: Sequence[Any]) -> Any:
    value: Any = object.__new__(kind.form)
    for name, item in zip(kind.names, items, strict=True):
        # Also of frozen classes.
        object.__setattr__(value, name, item)
    return value


def empty_container(kind: k.Container) -> Any:
    """Returns an empty container of a kind."""
    if kind.is_tuple:
        return ()
    if kind.name == "dict" and kind.default in _FACTORIES:
        return defaultdict(_FACTORIES[kind.default])
    if k.is_deque(kind):
        return deque(maxlen=None if kind.most == k.UNBOUNDED else kind.most)
    named = {"ordered": OrderedDict, "count": Counter, "list": list, "set": set, "dict": dict}
    return (named.get(kind.default) or named[kind.name])()


_FACTORIES: dict[str, type] = {"int": int, "float": float, "str": str, "list": list, "set": set}


def _container_at(header: int, kind: k.Container) -> Any:
    """Returns the list, dictionary or set whose header is at an address."""
    of_item = kind.items[0]
    first, count, taken = _words_at(header, 3)
    if kind.name == "list":
        words = iter(_words_at(first, count * of_item.words))
        items = (value_of_words(words, of_item) for _ in range(count))
        if kind.is_tuple:
            return tuple(items)
        list_ = empty_container(kind)
        list_.extend(items)
        return list_
    size = 1 + sum(of.words for of in kind.items)
    entries = _words_at(first, taken * size)
    filled = empty_container(kind)
    for start in range(0, len(entries), size):
        # The hash of a deleted entry is 0.
        if entries[start]:
            words = iter(entries[start + 1 : start + size])
            key = value_of_words(words, of_item)
            if kind.name == "set":
                filled.add(key)
            else:
                filled[key] = value_of_words(words, kind.items[1])
    return filled


def _words_at(address: int, count: int) -> list[int]:
    words: list[int] = np.frombuffer(string_at(address, 8 * count), np.int64).tolist()
    return words


_VALUES: dict[str, Callable[[int], Any]] = {
    "int": int,
    "unsigned": lambda word: word + (1 << 63),
    "float": lambda word: struct.unpack("<d", struct.pack("<q", word))[0],
    "bool": bool,
    "date": lambda word: date.fromordinal(_EPOCH.toordinal() + word),
    "datetime": lambda word: _EPOCH + word * _MICROSECOND,
    "time": lambda word: (_EPOCH + word * _MICROSECOND).time(),
    "timedelta": lambda word: word * _MICROSECOND,
}
"""The functions that make an object from a word, by the name of the kind."""


def hash_of(value: Any, kind: Kind) -> int:
    """Returns the result of `row_items.hash_words` for the words of a value, as an unsigned number.

    It is a hundred times as fast as that body in the interpreter.
    """
    return _hashed(0, value, kind) | 1


def _hashed(state: int, value: Any, kind: Kind) -> int:
    if isinstance(kind, k.Optional):
        state = _mixed(state, int(value is None))
        return state if value is None else _hashed(state, value, kind.of)
    if isinstance(kind, k.Tuple):
        for item, of in zip(value, kind.items, strict=True):
            state = _hashed(state, item, of)
        return state
    if isinstance(value, str | bytes) and not isinstance(kind, k.Member):
        data = value if isinstance(value, bytes) else value.encode()
        if len(data) < 8:
            return _spread(state ^ (int.from_bytes(data, "little") << 3 | len(data)))
        state ^= len(data)
        for begin in range(0, len(data) - 8, 8):
            state = _mixed(state, int.from_bytes(data[begin : begin + 8], "little"))
        return _mixed(state, int.from_bytes(data[-8:], "little"))
    if value is None:
        return state
    is_float = isinstance(value, float) and not isinstance(kind, k.Member)
    return _mixed(state, word_of(value + 0.0 if is_float else value, kind) & _ALL)


def _spread(word: int) -> int:
    word = (word ^ word >> 30) * (2 * row_items.SPREAD_KEY) & _ALL
    return word ^ word >> 32


def _mixed(state: int, word: int) -> int:
    product = (state ^ row_items.STATE_KEY) * (word ^ row_items.WORD_KEY)
    return (product ^ product >> 64) & _ALL
