"""Types, fields and schemas as `ArrowSchema` structures, both ways; the table of format strings.

The head of a format string ends with its colon, if it has one; the type's parameters follow.

C Data interface: "Data type description - format strings", "The ArrowSchema structure".
"""

from __future__ import annotations

import ctypes
import re
import struct
from array import array
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from colkern import schema as s
from colkern.dispatch import BINARY, TEXT, Dispatch, by_type
from colkern.errors import InvalidArrowError, LimitExceededError, UnsupportedError
from colkern.interchange import abi
from colkern.interchange.native import Export
from colkern.key_values import metadata_of, pairs_of

_UNIT_LETTERS: dict[str, s.TimeUnit] = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_UNION_MODES: dict[str, s.UnionMode] = {"+us:": "sparse", "+ud:": "dense"}

_PLAIN: dict[str, s.DataType] = {
    "n": s.null(),
    "b": s.bool_(),
    "c": s.int8(),
    "C": s.uint8(),
    "s": s.int16(),
    "S": s.uint16(),
    "i": s.int32(),
    "I": s.uint32(),
    "l": s.int64(),
    "L": s.uint64(),
    "e": s.float16(),
    "f": s.float32(),
    "g": s.float64(),
    "z": s.binary(),
    "Z": s.large_binary(),
    "vz": s.binary_view(),
    "u": s.utf8(),
    "U": s.large_utf8(),
    "vu": s.utf8_view(),
    "tdD": s.date32(),
    "tdm": s.date64(),
    "tiM": s.month_interval(),
    "tiD": s.day_time_interval(),
    "tin": s.month_day_nano_interval(),
    **{f"tt{letter}": s.Time(unit) for letter, unit in _UNIT_LETTERS.items()},
    **{f"tD{letter}": s.Duration(unit) for letter, unit in _UNIT_LETTERS.items()},
}
_PLAIN_FORMATS = {data_type: text for text, data_type in _PLAIN.items()}

Fields: TypeAlias = tuple[s.Field, ...]


class _Read(NamedTuple):
    """A format string with the fields and flags that a type is read from."""

    head: str
    parameters: str
    fields: Fields
    keys_sorted: bool


class _Row(NamedTuple):
    """Functions that write and read a type with parameters or children."""

    heads: tuple[str, ...]
    children: int | None
    write: Callable[[Any], str]  #: Type → format string.
    read: Callable[[_Read], s.DataType]  #: May raise `ValueError`.


def _number(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise ValueError(f"expected a number, found {text!r}")
    return int(text)


def _write_decimal(data_type: s.Decimal) -> str:
    width = "" if data_type.bit_width == 128 else f",{data_type.bit_width}"
    return f"d:{data_type.precision},{data_type.scale}{width}"


def _read_decimal(text: _Read) -> s.DataType:
    numbers = [_number(number) for number in text.parameters.split(",")]
    if not 2 <= len(numbers) <= 3:
        raise ValueError("a decimal has precision, scale and perhaps a width")
    precision, scale, *width = numbers
    return s.decimal(width[0] if width else 128, precision, scale)


def _read_union(text: _Read) -> s.DataType:
    codes = [_number(code) for code in text.parameters.split(",")] if text.parameters else []
    make = s.sparse_union if _UNION_MODES[text.head] == "sparse" else s.dense_union
    return make(text.fields, codes)


_ROWS: Dispatch[type[s.DataType], _Row] = by_type(
    "format strings",
    # In `_PLAIN`, or written as their storage.
    *(s.Null, s.Bool, s.Int, s.FloatingPoint, *TEXT, *BINARY),
    *(s.Date, s.Time, s.Duration, s.Interval, s.Extension),
)


def _constant(head: str, children: int | None, read: Callable[[_Read], s.DataType]) -> _Row:
    """The row of a type that is written without parameters."""
    return _Row((head,), children, lambda _: head, read)


_ROWS |= {
    s.FixedSizeBinary: _Row(
        ("w:",),
        0,
        lambda data_type: f"w:{data_type.byte_width}",
        lambda text: s.fixed_size_binary(_number(text.parameters)),
    ),
    s.Decimal: _Row(("d:",), 0, _write_decimal, _read_decimal),
    s.Timestamp: _Row(
        tuple(f"ts{letter}:" for letter in _UNIT_LETTERS),
        0,
        lambda data_type: f"ts{data_type.unit[0]}:{data_type.timezone or ''}",
        lambda text: s.Timestamp(_UNIT_LETTERS[text.head[2]], text.parameters or None),
    ),
    s.List: _constant("+l", 1, lambda text: s.List(*text.fields)),
    s.LargeList: _constant("+L", 1, lambda text: s.LargeList(*text.fields)),
    s.ListView: _constant("+vl", 1, lambda text: s.ListView(*text.fields)),
    s.LargeListView: _constant("+vL", 1, lambda text: s.LargeListView(*text.fields)),
    s.FixedSizeList: _Row(
        ("+w:",),
        1,
        lambda data_type: f"+w:{data_type.list_size}",
        lambda text: s.fixed_size_list(text.fields[0], _number(text.parameters)),
    ),
    s.Struct: _constant("+s", None, lambda text: s.Struct(text.fields)),
    s.Map: _constant("+m", 1, lambda text: s.map_of_entries(text.fields[0], text.keys_sorted)),
    s.Union: _Row(
        tuple(_UNION_MODES),
        None,
        lambda data_type: f"+u{data_type.mode[0]}:{','.join(map(str, data_type.type_codes))}",
        _read_union,
    ),
    s.RunEndEncoded: _constant("+r", 2, lambda text: s.runs_of_fields(*text.fields)),
    # Read from the dictionary member: the format string is that of the indices.
    s.Dictionary: _Row(
        (), 0, lambda data_type: format_of(data_type.index_type), lambda _: s.null()
    ),
}

_ROWS_BY_HEAD = {head: row for row in _ROWS.values() for head in row.heads}


def format_of(data_type: s.DataType) -> str:
    """The format string of a type; dictionary types have that of their indices, extensions of storage."""
    plain = _PLAIN_FORMATS.get(data_type)
    if plain is not None:
        return plain
    row = _ROWS.get(type(data_type))
    if row is None:
        raise UnsupportedError(f"the C Data interface has no format string for {data_type}")
    return row.write(data_type)


def type_of(text: str, fields: Fields = (), *, keys_sorted: bool = False) -> s.DataType:
    """The type with that format string and those child fields."""
    plain = _PLAIN.get(text)
    head, colon, parameters = text.partition(":")
    row = _ROWS_BY_HEAD.get(head + colon)
    if plain is None and row is None:
        raise UnsupportedError(f"unknown format string {text!r}")
    children = row.children if row else 0
    if children not in (None, len(fields)):
        raise InvalidArrowError(f"format string {text!r}: {len(fields)} children, not {children}")
    if plain is not None:
        return plain
    assert row is not None
    try:
        return row.read(_Read(head + colon, parameters, fields, keys_sorted))
    except ValueError as error:
        raise InvalidArrowError(f"format string {text!r}: {error}") from None


_INT = struct.Struct("=i")


def encode_key_values(metadata: Mapping[bytes, bytes]) -> bytes:
    """Key-value pairs, encoded as one string of bytes."""
    pairs = pairs_of(metadata)
    parts = [_INT.pack(len(pairs))]
    for pair in pairs:
        for text in pair:
            parts += (_INT.pack(len(text)), text)
    return b"".join(parts)


class _Cursor:
    def __init__(self, address: int) -> None:
        self.address = address

    def take(self, size: int) -> bytes:
        taken = ctypes.string_at(self.address, size)
        self.address += size
        return taken

    def count(self) -> int:
        (value,) = _INT.unpack(self.take(_INT.size))
        if value < 0:
            raise InvalidArrowError(f"metadata has a count or length of {value}")
        return int(value)


def decode_key_values(address: int) -> Mapping[bytes, bytes] | None:
    """The key-value pairs encoded at `address`; None if there are none."""
    cursor = _Cursor(address)
    return metadata_of(
        [(cursor.take(cursor.count()), cursor.take(cursor.count())) for _ in range(cursor.count())]
    )


MAX_NESTING = 64

_MEMBERS = len(abi.SchemaStruct._fields)
_FORMAT, _NAME, _METADATA, _FLAGS, _N_CHILDREN, _CHILDREN, _DICTIONARY, _RELEASE, _ = range(
    _MEMBERS
)


# Export


def export_schema(item: s.DataType | s.Field | s.Schema) -> object:
    """A capsule named `arrow_schema`.

    A type becomes a nullable field without a name, a schema a struct without a name.

    Raises:
        UnsupportedError: If the C Data interface cannot carry a type.
    """
    export = Export(abi.SchemaStruct)
    return export.into_capsule(_build(export, item))


def move_schema_to(item: s.DataType | s.Field | s.Schema, address: int) -> None:
    """Write the structure of `export_schema` to `address`; its owner must release the structure."""
    export = Export(abi.SchemaStruct)
    export.move_to(_build(export, item), address)


def _build(export: Export, item: s.DataType | s.Field | s.Schema) -> array[int]:
    if isinstance(item, s.Schema):
        return _structure(export, "+s", "", item.metadata, 0, item.fields, None)
    if isinstance(item, s.Field):
        return _build_field(export, item)
    if isinstance(item, s.DataType):
        return _build_field(export, s.Field("", item))
    raise TypeError(f"item: expected a colkern data type, field or schema, got {item!r}")


def _build_field(export: Export, field: s.Field) -> array[int]:
    wire = s.field_to_wire(field)
    flags = abi.FLAG_NULLABLE if wire.nullable else 0
    dictionary = None
    if isinstance(wire.type, s.Dictionary):
        flags |= abi.FLAG_DICTIONARY_ORDERED if wire.type.ordered else 0
        dictionary = _build(export, wire.type.value_type)
    elif isinstance(wire.type, s.Map):
        flags |= abi.FLAG_MAP_KEYS_SORTED if wire.type.keys_sorted else 0
    text = format_of(wire.type)
    return _structure(export, text, wire.name, wire.metadata, flags, wire.type.fields, dictionary)


def _structure(
    export: Export,
    text: str,
    name: str,
    metadata: Mapping[bytes, bytes] | None,
    flags: int,
    fields: tuple[s.Field, ...],
    dictionary: array[int] | None,
) -> array[int]:
    pairs = encode_key_values(metadata) if metadata else b""
    words = _template(text, name, pairs, flags, len(fields))[:]
    base = abi.address_of(words)
    words[_FORMAT] += base
    words[_NAME] += base
    words[_RELEASE] = export.release
    if pairs:
        words[_METADATA] += base
    if dictionary is not None:
        words[_DICTIONARY] = abi.address_of(dictionary)
    children = [_build_field(export, field) for field in fields]
    if children:
        words[_CHILDREN] += base
        stop = _MEMBERS + len(children)
        words[_MEMBERS:stop] = array("q", map(abi.address_of, children))
    export.anchor(words, children, dictionary)
    return words


@lru_cache(maxsize=4096)
def _template(text: str, name: str, pairs: bytes, flags: int, n_children: int) -> array[int]:
    """A structure, its pointers to children, and its strings; pointers are relative to its start."""
    for string in (text, name):
        if "\0" in string:
            raise UnsupportedError(f"{string!r} in the C Data interface ends at its first NUL")
    strings = (text.encode() + b"\0", name.encode() + b"\0", pairs)
    words = array("q", bytes((_MEMBERS + n_children) * abi.WORD))
    places = accumulate(map(len, strings), initial=len(words) * abi.WORD)
    words[_FORMAT], words[_NAME], words[_METADATA], _ = places
    words[_METADATA] *= bool(pairs)
    words[_FLAGS] = flags
    words[_N_CHILDREN] = n_children
    words[_CHILDREN] = _MEMBERS * abi.WORD if n_children else 0
    joined = b"".join(strings)
    words.frombytes(joined + bytes(-len(joined) % abi.WORD))
    return words


# Import


def import_field(obj: object) -> s.Field:
    """The field of an object with `__arrow_c_schema__`, or of an `arrow_schema` capsule.

    A capsule is not consumed.

    Raises:
        TypeError: If `obj` is neither.
        InvalidArrowError: If the structure breaks a rule of the C Data interface.
        UnsupportedError: If a format string is unknown.
        LimitExceededError: If types are nested deeper than `MAX_NESTING`.
    """
    method = getattr(obj, "__arrow_c_schema__", None)
    return field_in(obj if method is None else method())


def import_type(obj: object) -> s.DataType:
    """The data type of an object with `__arrow_c_schema__`; raises like `import_field`."""
    return import_field(obj).type


def import_schema(obj: object) -> s.Schema:
    """The schema of an object with `__arrow_c_schema__`, or of an `arrow_schema` capsule.

    Raises:
        TypeError: Also if the object is a type or a field, but not a struct: see `import_type`,
            `import_field`.

    Also raises like `import_field`.
    """
    return schema_of(import_field(obj))


def field_in(capsule: object) -> s.Field:
    """The field in an `arrow_schema` capsule; raises like `import_field`."""
    return read_field(abi.pointer_in(capsule, abi.SchemaStruct))


def schema_of(field: s.Field) -> s.Schema:
    """The schema that a field of struct type stands for; raises `TypeError` for other fields."""
    # The metadata keys of an extension type do not belong to the schema's own.
    wire = s.field_to_wire(field)
    if not isinstance(wire.type, s.Struct):
        raise TypeError(f"expected the struct that carries a schema, got {field.type}")
    return s.Schema(wire.type.fields, wire.metadata)


def read_field(address: int, depth: int = 0) -> s.Field:
    """The field in the structure at `address`; raises like `import_field`."""
    struct = abi.struct_at(abi.SchemaStruct, address)
    name = ctypes.string_at(struct.name) if struct.name else b""
    try:
        return _checked_field(struct, name, depth)
    except InvalidArrowError as error:
        raise error.at(_place(name)) from None
    except UnsupportedError as error:
        raise UnsupportedError(f"{_place(name)}: {error}") from None


def _place(name: bytes) -> str:
    return f"field {name.decode(errors='replace')!r}"


def _checked_field(struct: abi.SchemaStruct, name: bytes, depth: int) -> s.Field:
    if not struct.release:
        raise InvalidArrowError("the ArrowSchema is released")
    if not struct.format:
        raise InvalidArrowError("the format string is a NULL pointer")
    if depth > MAX_NESTING:
        raise LimitExceededError(
            f"types are nested deeper than {MAX_NESTING}; "
            "colkern.interchange.schemas.MAX_NESTING sets the limit"
        )
    text = ctypes.string_at(struct.format)
    if struct.n_children or struct.dictionary or struct.metadata:
        return _nested_field(struct, text, name, depth)
    return _plain_field(text, name, struct.flags)


@lru_cache(maxsize=4096)
def _plain_field(text: bytes, name: bytes, flags: int) -> s.Field:
    return s.Field(_decode(name), type_of(_decode(text)), bool(flags & abi.FLAG_NULLABLE))


def _nested_field(struct: abi.SchemaStruct, text: bytes, name: bytes, depth: int) -> s.Field:
    fields = tuple(read_field(child, depth + 1) for child in abi.children_at(struct))
    sorted_keys = bool(struct.flags & abi.FLAG_MAP_KEYS_SORTED)
    data_type = type_of(_decode(text), fields, keys_sorted=sorted_keys)
    if struct.dictionary:
        values = read_field(struct.dictionary, depth + 1)
        if not isinstance(data_type, s.Int):
            raise InvalidArrowError(f"dictionary indices of type {data_type}")
        ordered = bool(struct.flags & abi.FLAG_DICTIONARY_ORDERED)
        data_type = s.Dictionary(data_type, values.type, ordered)
    metadata = decode_key_values(struct.metadata) if struct.metadata else None
    return s.field_from_wire(
        _decode(name), data_type, bool(struct.flags & abi.FLAG_NULLABLE), metadata
    )


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise InvalidArrowError(f"a string of the ArrowSchema is not UTF-8: {error}") from None
