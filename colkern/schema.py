"""Data types, fields and schemas, under the names that Arrow gives them.

A data type is an immutable value: equal when its parameters are equal, hashable, printed as `pyarrow`
prints it. The functions at the end of the module (`int32()`, `list_(...)`, …) are the way to make one.
Wherever a type is an argument, a name such as `"int32"` or a type of another library does as well: see
`as_type`. The buffers of each type are in `colkern.layouts`.

The module can be called, as `colkern.schema([("price", colkern.float64())])`: that is `Schema`.

Columnar format 1.5: "Data Types".
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import colkern.type_trees as trees
from colkern.data_types import Binary as Binary
from colkern.data_types import BinaryView as BinaryView
from colkern.data_types import Bool as Bool
from colkern.data_types import Date as Date
from colkern.data_types import Decimal as Decimal
from colkern.data_types import Dictionary as Dictionary
from colkern.data_types import Duration as Duration
from colkern.data_types import Extension as Extension
from colkern.data_types import FixedSizeBinary as FixedSizeBinary
from colkern.data_types import FixedSizeList as FixedSizeList
from colkern.data_types import FloatingPoint as FloatingPoint
from colkern.data_types import Int as Int
from colkern.data_types import Interval as Interval
from colkern.data_types import IntervalUnit as IntervalUnit
from colkern.data_types import LargeBinary as LargeBinary
from colkern.data_types import LargeList as LargeList
from colkern.data_types import LargeListView as LargeListView
from colkern.data_types import LargeUtf8 as LargeUtf8
from colkern.data_types import List as List
from colkern.data_types import ListView as ListView
from colkern.data_types import Map as Map
from colkern.data_types import Null as Null
from colkern.data_types import RunEndEncoded as RunEndEncoded
from colkern.data_types import Struct as Struct
from colkern.data_types import Time as Time
from colkern.data_types import Timestamp as Timestamp
from colkern.data_types import TimeUnit as TimeUnit
from colkern.data_types import Union as Union
from colkern.data_types import UnionMode as UnionMode
from colkern.data_types import Utf8 as Utf8
from colkern.data_types import Utf8View as Utf8View
from colkern.errors import InvalidArrowError, shown
from colkern.integers import integer
from colkern.key_values import metadata_of, pairs_of
from colkern.names import PublicNames
from colkern.type_trees import DataType as DataType
from colkern.type_trees import Field as Field
from colkern.type_trees import alike

if TYPE_CHECKING:
    from colkern import methods

PER_SECOND: dict[str, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""The length of a second in each time unit."""

SECONDS_A_DAY = 86_400

TIME_UNITS: tuple[TimeUnit, ...] = ("s", "ms", "us", "ns")

INT32_MAX = 2**31 - 1
"""The limit of byte widths, list sizes and scales, which have 32 bits in the format's metadata."""

MAX_DECIMAL_PRECISION = {32: 9, 64: 18, 128: 38, 256: 76}


def same_type(a: DataType, b: DataType) -> bool:
    """Whether two types are equal but for the names of list elements, map entries, keys and items."""
    # Those names carry no meaning, and writers choose different ones (`item`, `element`, `array` …).
    if a is b:
        return True
    return _alike_but_for_names(a, b) if isinstance(a, trees.NestedType) else a == b


_alike_but_for_names = functools.lru_cache(functools.partial(alike, by_name=False))
"""Cached, since each array from another library brings a new type object."""


EXTENSION_NAME_KEY = b"ARROW:extension:name"
EXTENSION_METADATA_KEY = b"ARROW:extension:metadata"
_EXTENSION_KEYS = (EXTENSION_NAME_KEY, EXTENSION_METADATA_KEY)


def field_from_wire(
    name: str, type: DataType, nullable: bool, metadata: Mapping[bytes, bytes] | None
) -> Field:
    """A field from the parts that IPC and C Data carry; the metadata keys of extensions become the type."""
    if not metadata or EXTENSION_NAME_KEY not in metadata:
        return Field(name, type, nullable, metadata or None)
    try:
        extension_name = metadata[EXTENSION_NAME_KEY].decode()
    except UnicodeDecodeError as error:
        raise InvalidArrowError(f"extension name is not UTF-8: {error}", place=name) from None
    parameters = metadata.get(EXTENSION_METADATA_KEY)
    extension_type = Extension(type, extension_name, parameters or b"", parameters is not None)
    rest = [pair for pair in pairs_of(metadata) if pair[0] not in _EXTENSION_KEYS]
    return Field(name, extension_type, nullable, metadata_of(rest))


def field_to_wire(field: Field) -> Field:
    """The opposite of `field_from_wire`: an extension type becomes its storage type and two keys."""
    if not isinstance(field.type, Extension):
        return field
    pairs = [pair for pair in pairs_of(field.metadata) if pair[0] not in _EXTENSION_KEYS]
    pairs.append((EXTENSION_NAME_KEY, field.type.extension_name.encode()))
    if field.type.has_metadata:
        pairs.append((EXTENSION_METADATA_KEY, field.type.extension_metadata))
    return Field(field.name, field.type.storage_type, field.nullable, metadata_of(pairs))


class Schema(PublicNames):
    """The fields of a record batch, in order, with metadata of its own that `==` does not compare.

    Immutable. The fields may be given as fields, as `(name, type)` pairs, as a mapping of names to
    types, or as a schema of another library (see `as_fields`).
    """

    __slots__ = ("_fields", "_metadata", "_places")

    if TYPE_CHECKING:
        from_arrow = staticmethod(methods.schema_of_arrow)
        __arrow_c_schema__ = methods.schema_capsule

    def __init__(self, fields: Fields, metadata: Mapping[bytes, bytes] | None = None) -> None:
        self._fields: Sequence[Field] = as_fields(fields)
        self._metadata = metadata
        # Name → position, -1 for a name of several fields; made when a name is first looked up.
        self._places: dict[str, int] | None = None

    @classmethod
    def late(cls, fields: Sequence[Field], metadata: Mapping[bytes, bytes] | None = None) -> Schema:
        """A schema over a sequence of fields that makes each field when it is asked for."""
        schema = cls((), metadata)
        schema._fields = fields
        return schema

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields."""
        if not isinstance(self._fields, tuple):
            self._fields = tuple(self._fields)
        return self._fields

    @property
    def metadata(self) -> Mapping[bytes, bytes] | None:
        """Key-value pairs that came with the schema."""
        return self._metadata

    def __eq__(self, other: object) -> bool:
        return self.fields == other.fields if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fields)

    def __reduce__(self) -> tuple[object, ...]:
        return Schema, (self.fields, self.metadata)

    def __len__(self) -> int:
        return len(self._fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    @property
    def names(self) -> list[str]:
        """The names of the fields, in order."""
        return [field.name for field in self.fields]

    @property
    def types(self) -> list[DataType]:
        """The types of the fields, in order."""
        return [field.type for field in self.fields]

    def index(self, key: int | str) -> int:
        """The position of a field given by position (negative counts from the end) or name.

        Raises:
            KeyError: If no field, or more than one, has that name.
            IndexError: If there is no such position.
            TypeError: If it is neither.
        """
        if isinstance(key, str):
            position = self._position_of(key)
            if position < 0:
                count = self.names.count(key)
                matches = f"{count} fields" if count else "no field"
                raise KeyError(f"{matches} named {key!r}; the schema has {self.names}")
            return position
        try:
            position = integer(key, "key")
        except TypeError:
            got = f"{type(key).__name__} {shown(key)}"
            raise TypeError(f"key: expected a position or a name, got {got}") from None
        count = len(self._fields)
        if not -count <= position < count:
            raise IndexError(f"field {position} is out of range for a schema with {count} fields")
        return position % count

    def _position_of(self, name: str) -> int:
        """The position of the only field with a name; -1 if there is none, or several."""
        places = self._places
        if places is None:
            places = {}
            for position, each in enumerate(self.names):
                places[each] = -1 if each in places else position
            self._places = places
        return places.get(name, -1)

    def field(self, key: int | str) -> Field:
        """The field at a position or with a name; raises like `index`."""
        return self._fields[self.index(key)]

    def __str__(self) -> str:
        return "\n".join(map(str, self.fields))

    def __repr__(self) -> str:
        count, most = len(self.fields), 50
        lines = [f"<colkern.Schema: {count} field{'' if count == 1 else 's'}>"]
        lines += map(str, self.fields[:most])
        return "\n".join([*lines, "…"] if count > most else lines)


TypeLike = DataType | str | type
"""The arguments that `as_type` turns into a data type; it takes data types of other libraries, too."""

Fields = Iterable[Field | tuple[str, TypeLike]] | Mapping[str, TypeLike]


def as_type(value: Any, argument: str = "type") -> DataType:
    """A data type from any of the forms in which callers may give one.

    Args:
        value: A data type; a name, as `"int32"`, `"timestamp[us, UTC]"` or `"dictionary<int32, utf8>"`; a
            type of another library with `__arrow_c_schema__`, such as pyarrow's; one of NumPy's; or
            Python's `bool`, `int` (int64), `float` (float64), `str` or `bytes`.
        argument: The argument's name in errors.

    Raises:
        TypeError: If it is none of these; a field or a schema, of whatever library, is not a type.
        ValueError: If no type has that name.
    """
    if isinstance(value, DataType):
        return value
    if isinstance(value, str):
        named = _named_types().get(value)
        if named is not None:
            return named
        if re.search(r"\w *[<([]", value):
            try:
                return parsed_type(value, argument)
            except TypeError as error:
                raise ValueError(str(error)) from None
        raise ValueError(
            f'{argument}: no data type has the name {value!r}; names are as "int32", "string", '
            f'"timestamp[us]", "decimal128(12, 2)", "list<int64>"'
        )
    expected = f"{argument}: expected a data type such as colkern.int32(), got"
    if hasattr(value, "__arrow_c_schema__") and not isinstance(value, Field | Schema):
        imported = Field.from_arrow(value)
        # A schema is exported as a struct that is not nullable. nanoarrow's types are of a class Schema
        # too, but nullable.
        is_schema = type(value).__name__ == "Schema" and not imported.nullable
        if imported.name or (is_schema and isinstance(imported.type, Struct)):
            raise TypeError(f"{expected} a {'schema' if is_schema else 'field'}: {shown(value)}")
        return imported.type
    if _makes_a_type(value):
        needs_none = all(
            parameter.default is not parameter.empty
            for parameter in inspect.signature(value).parameters.values()
        )
        raise TypeError(
            f"{argument}: {value.__name__} is a function that makes a data type; call it: "
            f"{value.__name__}({'' if needs_none else '…'})"
        )
    if isinstance(value, type) or type(value).__module__.startswith("numpy"):
        name = getattr(value, "__name__", None) or str(value)
        named = _named_types().get(_OF_CLASSES.get(name, name))
        if named is not None:
            return named
    raise TypeError(f"{expected} {shown(value)}")


_OF_CLASSES = {"int": "int64", "float": "float64", "bytes": "binary", "bool_": "bool"}
"""Names of Python's and NumPy's classes that differ from those of the types."""


def _makes_a_type(value: object) -> bool:
    """Whether a value is a function of colkern that is annotated to return a data type."""
    plain = getattr(value, "__wrapped__", value)
    if not inspect.isfunction(plain) or not value.__module__.startswith("colkern."):
        return False
    result = str(plain.__annotations__.get("return")).rpartition(".")[2]
    named = globals().get(result)
    return isinstance(named, type) and issubclass(named, DataType)


@functools.cache
def _named_types() -> dict[str, DataType]:
    """Every type with no parameter but a unit, by its own name, its function's and pyarrow's."""
    types: list[DataType] = list(_CONSTANTS.values())
    types += [time32(unit) for unit in ("s", "ms")] + [time64(unit) for unit in ("us", "ns")]
    types += [make(unit) for make in (timestamp, duration) for unit in TIME_UNITS]
    names = _CONSTANTS | {str(type_): type_ for type_ in types}
    return names | {alias: names[name] for alias, name in ALIASES.items()}


ALIASES = {
    "boolean": "bool",
    "str": "utf8",
    "string": "utf8",
    "large_string": "large_utf8",
    "string_view": "utf8_view",
}
"""Other names of types, mostly pyarrow's."""


def as_fields(fields: Fields) -> tuple[Field, ...]:
    """Fields from fields, `(name, type)` pairs, a mapping of names to types, or another library's schema.

    Raises:
        TypeError: If `fields`, or one of them, is something else.
        ValueError: If a type is given by a name that none has.
    """
    if isinstance(fields, Schema):
        return fields.fields
    if hasattr(fields, "__arrow_c_schema__"):
        return Schema.from_arrow(fields).fields
    if isinstance(fields, str) or not isinstance(fields, Iterable):
        raise TypeError(f"fields: expected fields or (name, type) pairs, got {shown(fields)}")
    items: Iterable[Any] = fields.items() if isinstance(fields, Mapping) else fields
    return tuple(as_field(item) for item in items)


def as_field(item: Field | tuple[str, TypeLike]) -> Field:
    """A field of any library, or of a `(name, type)` pair a nullable one; else raises `TypeError`."""
    if isinstance(item, Field):
        return item
    if hasattr(item, "__arrow_c_schema__"):
        return Field.from_arrow(item)
    if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
        raise TypeError(f"fields: expected a field or a (name, type) pair, got {shown(item)}")
    name, data_type = item
    return field(name, data_type)


def field(
    name: str,
    type: TypeLike,
    nullable: bool = True,
    metadata: Mapping[bytes, bytes] | None = None,
) -> Field:
    """A field; raises `TypeError` if the name is no str, and what `as_type` raises for the type."""
    if not isinstance(name, str):
        raise TypeError(f"name: expected the name of a field, got {shown(name)}")
    return Field(name, as_type(type, f"type of field {name!r}"), nullable, metadata)


Constant = TypeVar("Constant", bound=DataType)

_CONSTANTS: dict[str, DataType] = {}
"""The types without parameters, by the names of their functions."""


def _constant(name: str, type_: Constant, text: str) -> Callable[[], Constant]:
    """The public function for a type without parameters, which always returns the same object."""

    def function() -> Constant:
        return type_

    _CONSTANTS[name] = type_
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    function.__annotations__ = {"return": type(type_).__name__}
    return function


null = _constant("null", Null(), "The type whose every slot is null.")
bool_ = _constant("bool_", Bool(), "Booleans, one bit each.")
int8 = _constant("int8", Int(8, True), "Signed 8-bit integers.")
int16 = _constant("int16", Int(16, True), "Signed 16-bit integers.")
int32 = _constant("int32", Int(32, True), "Signed 32-bit integers.")
int64 = _constant("int64", Int(64, True), "Signed 64-bit integers.")
uint8 = _constant("uint8", Int(8, False), "Unsigned 8-bit integers.")
uint16 = _constant("uint16", Int(16, False), "Unsigned 16-bit integers.")
uint32 = _constant("uint32", Int(32, False), "Unsigned 32-bit integers.")
uint64 = _constant("uint64", Int(64, False), "Unsigned 64-bit integers.")
float16 = _constant("float16", FloatingPoint(16), "Half-precision floats.")
float32 = _constant("float32", FloatingPoint(32), "Single-precision floats.")
float64 = _constant("float64", FloatingPoint(64), "Double-precision floats.")


def decimal(bit_width: int, precision: int, scale: int = 0) -> Decimal:
    """Decimals of `bit_width` bits."""
    precision, scale = integer(precision, "precision"), integer(scale, "scale")
    if bit_width not in MAX_DECIMAL_PRECISION:
        raise ValueError(f"bit_width: decimals have 32, 64, 128 or 256 bits, not {bit_width}")
    if not 1 <= precision <= MAX_DECIMAL_PRECISION[bit_width]:
        raise ValueError(
            f"precision: decimal{bit_width} has 1 to {MAX_DECIMAL_PRECISION[bit_width]} digits, "
            f"not {precision}"
        )
    if not -INT32_MAX - 1 <= scale <= INT32_MAX:
        raise ValueError(f"scale: must fit 32 bits, got {scale}")
    return Decimal(bit_width, precision, scale)


def decimal32(precision: int, scale: int = 0) -> Decimal:
    """Decimals of up to 9 digits."""
    return decimal(32, precision, scale)


def decimal64(precision: int, scale: int = 0) -> Decimal:
    """Decimals of up to 18 digits."""
    return decimal(64, precision, scale)


def decimal128(precision: int, scale: int = 0) -> Decimal:
    """Decimals of up to 38 digits."""
    return decimal(128, precision, scale)


def decimal256(precision: int, scale: int = 0) -> Decimal:
    """Decimals of up to 76 digits."""
    return decimal(256, precision, scale)


date32 = _constant("date32", Date("day"), "Days since 1970-01-01.")
date64 = _constant("date64", Date("ms"), "Milliseconds since 1970-01-01, whole days only.")


def _time_unit(unit: str, allowed: tuple[TimeUnit, ...]) -> TimeUnit:
    for known in allowed:
        if unit == known:
            return known
    raise ValueError(f"unit: expected one of {', '.join(allowed)}, got {unit!r}")


def time32(unit: str) -> Time:
    """Time of day in `s` or `ms`."""
    return Time(_time_unit(unit, ("s", "ms")))


def time64(unit: str) -> Time:
    """Time of day in `us` or `ns`."""
    return Time(_time_unit(unit, ("us", "ns")))


def timestamp(unit: str, tz: str | None = None) -> Timestamp:
    """Time since the epoch in `s`, `ms`, `us` or `ns`, with a timezone or without."""
    return Timestamp(_time_unit(unit, TIME_UNITS), tz)


def duration(unit: str) -> Duration:
    """Elapsed time in `s`, `ms`, `us` or `ns`."""
    return Duration(_time_unit(unit, TIME_UNITS))


month_interval = _constant("month_interval", Interval("year_month"), "Whole months.")
day_time_interval = _constant("day_time_interval", Interval("day_time"), "Days and milliseconds.")
month_day_nano_interval = _constant(
    "month_day_nano_interval", Interval("month_day_nano"), "Months, days and nanoseconds."
)


def _size(value: int, name: str) -> int:
    """A caller's size as an int; `ValueError` unless 31 bits hold it."""
    size = integer(value, name)
    if size < 0:
        raise ValueError(f"{name}: must not be negative, got {size}")
    if size > INT32_MAX:
        raise ValueError(f"{name}: must not be over {INT32_MAX}, got {size}")
    return size


def fixed_size_binary(byte_width: int) -> FixedSizeBinary:
    """Byte strings of `byte_width` bytes each; raises `ValueError` unless that is 0 to 2**31 - 1."""
    return FixedSizeBinary(_size(byte_width, "byte_width"))


binary = _constant("binary", Binary(), "Byte strings with 32-bit offsets.")
utf8 = _constant("utf8", Utf8(), "UTF-8 strings with 32-bit offsets.")
large_binary = _constant("large_binary", LargeBinary(), "Byte strings with 64-bit offsets.")
large_utf8 = _constant("large_utf8", LargeUtf8(), "UTF-8 strings with 64-bit offsets.")
binary_view = _constant("binary_view", BinaryView(), "Byte strings behind 16-byte views.")
utf8_view = _constant("utf8_view", Utf8View(), "UTF-8 strings behind 16-byte views.")


def _item_field(value: TypeLike | Field) -> Field:
    return value if isinstance(value, Field) else field("item", value)


def list_(value: TypeLike | Field) -> List:
    """Lists of `value` with 32-bit offsets; a bare type gets the field name `item`."""
    return List(_item_field(value))


def large_list(value: TypeLike | Field) -> LargeList:
    """Lists of `value` with 64-bit offsets."""
    return LargeList(_item_field(value))


def list_view(value: TypeLike | Field) -> ListView:
    """Lists of `value` with 32-bit offsets and sizes."""
    return ListView(_item_field(value))


def large_list_view(value: TypeLike | Field) -> LargeListView:
    """Lists of `value` with 64-bit offsets and sizes."""
    return LargeListView(_item_field(value))


def fixed_size_list(value: TypeLike | Field, list_size: int) -> FixedSizeList:
    """Lists of exactly `list_size` values; raises `ValueError` unless that is 0 to 2**31 - 1."""
    return FixedSizeList(_item_field(value), _size(list_size, "list_size"))


def struct(fields: Fields) -> Struct:
    """Structs of the given fields, `(name, type)` pairs or mapping."""
    return Struct(as_fields(fields))


def map_(key: TypeLike | Field, item: TypeLike | Field, keys_sorted: bool = False) -> Map:
    """Maps from `key` (never null) to `item`."""
    key_field = key if isinstance(key, Field) else field("key", key, nullable=False)
    item_field = item if isinstance(item, Field) else field("value", item)
    return Map(field("entries", Struct((key_field, item_field)), nullable=False), keys_sorted)


def map_of_entries(entries: Field, keys_sorted: bool = False) -> Map:
    """Maps with the given field of entries; raises `ValueError` unless that is a struct of two fields."""
    if not isinstance(entries.type, Struct) or len(entries.type.fields) != 2:
        raise ValueError(f"entries: expected a struct of two fields, got {entries.type}")
    return Map(entries, keys_sorted)


def _union(
    mode: UnionMode,
    fields: Iterable[Field | tuple[str, TypeLike]],
    type_codes: Iterable[int] | None,
) -> Union:
    members = tuple(as_field(item) for item in fields)
    numbers = range(len(members)) if type_codes is None else type_codes
    codes = tuple([integer(code, "type_codes") for code in numbers])
    if len(codes) != len(members) or len(set(codes)) != len(codes):
        raise ValueError(f"type_codes: need {len(members)} distinct codes, got {codes}")
    if any(not 0 <= code <= 127 for code in codes):
        raise ValueError(f"type_codes: must be 0 to 127, got {codes}")
    return Union(mode, members, codes)


def sparse_union(
    fields: Iterable[Field | tuple[str, TypeLike]], type_codes: Iterable[int] | None = None
) -> Union:
    """Unions whose children are all as long as the union."""
    return _union("sparse", fields, type_codes)


def dense_union(
    fields: Iterable[Field | tuple[str, TypeLike]], type_codes: Iterable[int] | None = None
) -> Union:
    """Unions whose slots point into their children by an offset."""
    return _union("dense", fields, type_codes)


def dictionary(index_type: Int | str, value_type: TypeLike, ordered: bool = False) -> Dictionary:
    """Indices of `index_type` into a dictionary of `value_type`."""
    indices = as_type(index_type, "index_type")
    if not isinstance(indices, Int):
        raise TypeError(f"index_type: expected an integer type, got {indices}")
    return Dictionary(indices, as_type(value_type, "value_type"), ordered)


def run_end_encoded(run_end_type: Int | str, value_type: TypeLike | Field) -> RunEndEncoded:
    """Runs of `value_type`; `run_end_type` is int16, int32 or int64."""
    run_ends = field("run_ends", as_type(run_end_type, "run_end_type"), nullable=False)
    values = value_type if isinstance(value_type, Field) else field("values", value_type)
    return runs_of_fields(run_ends, values)


def runs_of_fields(run_ends: Field, values: Field) -> RunEndEncoded:
    """Runs with the given fields; raises `ValueError` unless run ends are int16, int32 or int64."""
    if run_ends.type not in (int16(), int32(), int64()):
        raise ValueError(f"run_end_type: expected int16, int32 or int64, got {run_ends.type}")
    return RunEndEncoded(run_ends, values)


def extension(name: str, storage: TypeLike, metadata: bytes | None = b"") -> Extension:
    """An extension type: a name and serialized metadata over a storage type. None writes no metadata."""
    return Extension(as_type(storage, "storage"), name, metadata or b"", metadata is not None)


# Data types as text: `"decimal128(12, 2)"`, `"list<utf8>"`, `"struct<key: utf8, size: int64>"`
#
# A type is a name of this module, of pyarrow's (`double`, `string`) or of Spark's (`bigint`,
# `array<string>`), with its parameters in brackets, and with the types of its parts in angle brackets.
# Parts of structs and unions have names. The text of most data types is read, too:
# `timestamp[us, tz=UTC]`, `list<item: int8 not null>`, but not that of unions and extension types.


def _of_unit(make: Callable[[], DataType], unit: str) -> Callable[..., DataType]:
    """A function for a type that has one unit only, which callers may give."""

    def type_of_unit(named: str = unit) -> DataType:
        if named != unit:
            raise ValueError(f"expected {unit}, got {named}")
        return make()

    return type_of_unit


_WITHOUT_PARTS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "decimal32", "decimal64", "decimal128", "decimal256"),
    *("time32", "time64", "timestamp", "duration", "utf8", "large_utf8", "utf8_view"),
    *("binary", "large_binary", "binary_view", "fixed_size_binary"),
)

_PLAIN: dict[str, Callable[..., DataType]] = {
    "null": null,
    "bool": bool_,
    "date32": _of_unit(date32, "day"),
    "date64": _of_unit(date64, "ms"),
    **{name: globals()[name] for name in _WITHOUT_PARTS},
}
"""Types by the parameters in brackets."""

_NAMES_ELSEWHERE: dict[str, str] = ALIASES | {
    # pyarrow's.
    "bool_": "bool",
    "halffloat": "float16",
    "float": "float32",
    "double": "float64",
    "list_": "list",
    # Spark's
    "tinyint": "int8",
    "byte": "int8",
    "smallint": "int16",
    "short": "int16",
    "int": "int32",
    "integer": "int32",
    "bigint": "int64",
    "long": "int64",
    "real": "float32",
    "decimal": "decimal128",
    "date": "date32",
    "array": "list",
}
"""Other names of types."""

_EXAMPLES = {
    "timestamp": "timestamp(us) or timestamp(us, UTC)",
    "duration": "duration(us)",
    "time32": "time32(s)",
    "time64": "time64(us)",
    "decimal128": "decimal128(12, 2)",
    "fixed_size_binary": "fixed_size_binary(16)",
}
"""An example of each type that needs parameters."""


def _dictionary_of(*parts: Any) -> Dictionary:
    """The type of a text such as `dictionary<int8, utf8>`, or of the text that the type has itself."""
    if len(parts) < 2:
        raise TypeError("expected a type of indices and one of values: dictionary<int32, utf8>")
    first, second, *ordered = parts
    if isinstance(first, Field):
        indices: Any = as_field(second).type
        return dictionary(indices, first.type, *map(bool, ordered))
    return dictionary(first, second, *map(bool, ordered))


def _runs_of(*parts: Any) -> RunEndEncoded:
    """The type of a text such as `run_end_encoded<int32, utf8>`, or of what the type prints itself."""
    first, *values = parts
    run_ends: Any = first.type if isinstance(first, Field) else first
    return run_end_encoded(run_ends, *values)


_OF_TYPES: dict[str, Callable[..., DataType]] = {
    "list": list_,
    "large_list": large_list,
    "list_view": list_view,
    "large_list_view": large_list_view,
    "fixed_size_list": fixed_size_list,
    "map": map_,
    "dictionary": _dictionary_of,
    "run_end_encoded": _runs_of,
}
"""Types by the parts in angle brackets: types, and the size of a list."""

_OF_FIELDS: dict[str, Callable[..., DataType]] = {
    "struct": struct,
    "dense_union": dense_union,
    "sparse_union": sparse_union,
}
"""Types by the named parts in angle brackets."""

_TOKEN = (
    r"\s*(?:(?P<word>\w+)|\((?P<brackets>[^()]*)\)|\[(?P<square>[^][]*)\]|(?P<sign>[<>,:?=]))\s*"
)


def parsed_type(text: str, argument: str = "signature") -> DataType:
    """The data type that a text stands for; `argument` is its name in errors.

    Raises:
        TypeError: If it stands for no type.
    """
    reader = _Reader(text, f"{text.strip()!r} is no type", argument)
    data_type = reader.type()
    reader.require_end()
    return data_type


def parsed_types(text: str) -> list[tuple[DataType, bool]]:
    """The data types of a list such as `"float64, utf8?"`, and whether a `?` follows each.

    Raises:
        TypeError: If one of them is no type.
    """
    reader = _Reader(text, f"{text.strip()!r} is no list of types")
    types: list[tuple[DataType, bool]] = []
    while not reader.is_at_end:
        if types:
            reader.require(",")
        types.append((reader.type(), reader.takes("?")))
    return types


class _Reader:
    """A reader of types in a text, and its place there.

    Args:
        mistake: The message for text that cannot be read.
        argument: The argument's name in errors.
    """

    __slots__ = ("argument", "at", "mistake", "text")

    def __init__(self, text: str, mistake: str, argument: str = "signature") -> None:
        self.text, self.mistake, self.argument = text, mistake, argument
        self.at = 0

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left but space."""
        return not self.text[self.at :].strip()

    def type(self) -> DataType:
        """Read the type that comes next."""
        start = self.at
        written = self._word()
        name = _NAMES_ELSEWHERE.get(written, written)
        known = _PLAIN | _OF_TYPES | _OF_FIELDS
        if name not in known:
            from difflib import get_close_matches

            close = get_close_matches(written, [*known, *_NAMES_ELSEWHERE], 1)
            meant = f"did you mean {close[0]!r}? Known" if close else "known"
            raise TypeError(
                f"{self.argument}: unknown type {written!r}; {meant} are {', '.join(known)}"
            )
        if name in _PLAIN:
            parameters: list[Any] = [*self._parameters()]
            if not parameters and name in _EXAMPLES:
                raise TypeError(
                    f"{self.argument}: {written} has parameters, as in {_EXAMPLES[name]}"
                )
        else:
            # The size of a list may stand behind, as types print it.
            parameters = [*self._parts(name), *self._parameters()]
        try:
            return known[name](*parameters)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self.argument}: {self.text[start : self.at].strip()}: {error}"
            ) from None

    def takes(self, sign: str) -> bool:
        """Whether a sign comes next; if so, move past it."""
        match = self._next()
        if match is None or match["sign"] != sign:
            return False
        self.at = match.end()
        return True

    def require(self, sign: str) -> None:
        """Move past a sign; raises `TypeError` if another comes next."""
        if not self.takes(sign):
            raise TypeError(f"{self.argument}: {self.mistake}")

    def require_end(self) -> None:
        """Raise `TypeError` if any text is left."""
        if not self.is_at_end:
            raise TypeError(f"{self.argument}: {self.mistake}")

    def _next(self) -> re.Match[str] | None:
        return re.compile(_TOKEN).match(self.text, self.at)

    def _word(self) -> str:
        match = self._next()
        if match is None or match["word"] is None:
            raise TypeError(f"{self.argument}: {self.mistake}")
        self.at = match.end()
        return match["word"]

    def _parameters(self) -> list[int | str]:
        """Read the numbers and words in brackets, if there are any."""
        match = self._next()
        inner = None if match is None else match["brackets"] or match["square"]
        if match is None or inner is None:
            return []
        self.at = match.end()
        words = [
            word.strip(" '\"").removeprefix("tz=") for word in inner.split(",") if word.strip()
        ]
        return [int(word) if word.lstrip("-").isdigit() else word for word in words]

    def _parts(self, name: str) -> list[DataType | Field | int | list[Field]]:
        """Read the parts in angle brackets, or in square brackets, which do not nest."""
        match = self._next()
        square = None if match is None else match["square"]
        reader = self if square is None else _Reader(square, self.mistake, self.argument)
        if match is None or square is None:
            self.require("<")
        else:
            self.at = match.end()
        parts: list[Any] = []
        while not (self.takes(">") if square is None else reader.is_at_end):
            if parts:
                reader.require(",")
            parts.append(reader._field() if name in _OF_FIELDS else reader._part())
        return [parts] if name in _OF_FIELDS else parts

    def _field(self) -> Field:
        name = self._word()
        self.require(":")
        data_type = self.type()
        return field(name, data_type, nullable=not self._is_required())

    def _is_required(self) -> bool:
        """Whether `not null` comes next; if so, move past it."""
        match = re.compile(r"\s*not null\b\s*", re.IGNORECASE).match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        return True

    def _part(self) -> DataType | Field | int:
        match = self._next()
        if match is not None and (match["word"] or "").isdigit():
            return int(self._word())
        following = re.compile(r"\s*(\w+)\s*([:=])").match(self.text, self.at)
        if following is None:
            return self.type()
        if following[2] == ":":
            return self._field()
        # The parts of a dictionary, as types print them.
        self.at = following.end()
        part = self._part()
        return field(following[1], part) if isinstance(part, DataType) else part


class _CallableModule(ModuleType):
    """Makes this module callable: as in pyarrow, `colkern.schema([...])` gives a schema."""

    def __call__(self, fields: Fields, metadata: Mapping[bytes, bytes] | None = None) -> Schema:
        return Schema(fields, metadata)


sys.modules[__name__].__class__ = _CallableModule
