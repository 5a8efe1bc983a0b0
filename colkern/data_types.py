"""The data types, one class for each type of the format's metadata.

Columnar format 1.5: "Data Types".
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal

import colkern.type_trees as trees
from colkern.type_trees import DataType, Field, Spell

TimeUnit = Literal["s", "ms", "us", "ns"]
IntervalUnit = Literal["year_month", "day_time", "month_day_nano"]
UnionMode = Literal["sparse", "dense"]


@dataclass(frozen=True, slots=True, repr=False)
class Null(DataType):
    """Every slot is null; no memory at all."""

    def __str__(self) -> str:
        return "null"


@dataclass(frozen=True, slots=True, repr=False)
class Bool(DataType):
    """One bit a value."""

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True, repr=False)
class Int(DataType):
    """Integers of 8, 16, 32 or 64 bits."""

    bit_width: int
    signed: bool

    def __str__(self) -> str:
        return f"{'' if self.signed else 'u'}int{self.bit_width}"


@dataclass(frozen=True, slots=True, repr=False)
class FloatingPoint(DataType):
    """IEEE 754 floats of 16, 32 or 64 bits."""

    bit_width: int

    def __str__(self) -> str:
        return {16: "halffloat", 32: "float", 64: "double"}[self.bit_width]


@dataclass(frozen=True, slots=True, repr=False)
class Decimal(DataType):
    """Exact decimals: an integer of `bit_width` bits, times ten to the power of `-scale`."""

    bit_width: int
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal{self.bit_width}({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True, repr=False)
class Date(DataType):
    """Days since 1970-01-01 (32 bits, unit `day`), or milliseconds that make whole days (64, `ms`)."""

    unit: Literal["day", "ms"]

    def __str__(self) -> str:
        return f"date{32 if self.unit == 'day' else 64}[{self.unit}]"


@dataclass(frozen=True, slots=True, repr=False)
class Time(DataType):
    """Time since midnight: 32 bits for `s` and `ms`, 64 bits for `us` and `ns`."""

    unit: TimeUnit

    @property
    def bit_width(self) -> int:
        """32 or 64."""
        return 32 if self.unit in ("s", "ms") else 64

    def __str__(self) -> str:
        return f"time{self.bit_width}[{self.unit}]"


@dataclass(frozen=True, slots=True, repr=False)
class Timestamp(DataType):
    """Time since 1970-01-01T00:00, in UTC if a timezone is given, else on an unnamed wall clock."""

    unit: TimeUnit
    timezone: str | None = None

    def __str__(self) -> str:
        zone = f", tz={self.timezone}" if self.timezone else ""
        return f"timestamp[{self.unit}{zone}]"


@dataclass(frozen=True, slots=True, repr=False)
class Duration(DataType):
    """An elapsed time, 64 bits."""

    unit: TimeUnit

    def __str__(self) -> str:
        return f"duration[{self.unit}]"


@dataclass(frozen=True, slots=True, repr=False)
class Interval(DataType):
    """A calendar interval: months (4 bytes), days + ms (8), or months + days + ns (16)."""

    unit: IntervalUnit

    def __str__(self) -> str:
        return {
            "year_month": "month_interval",
            "day_time": "day_time_interval",
            "month_day_nano": "month_day_nano_interval",
        }[self.unit]


@dataclass(frozen=True, slots=True, repr=False)
class FixedSizeBinary(DataType):
    """Byte strings that all have `byte_width` bytes."""

    byte_width: int

    def __str__(self) -> str:
        return f"fixed_size_binary[{self.byte_width}]"


@dataclass(frozen=True, slots=True, repr=False)
class Binary(DataType):
    """Byte strings addressed by 32-bit offsets."""

    def __str__(self) -> str:
        return "binary"


@dataclass(frozen=True, slots=True, repr=False)
class Utf8(DataType):
    """UTF-8 strings addressed by 32-bit offsets."""

    def __str__(self) -> str:
        return "string"


@dataclass(frozen=True, slots=True, repr=False)
class LargeBinary(DataType):
    """Byte strings addressed by 64-bit offsets."""

    def __str__(self) -> str:
        return "large_binary"


@dataclass(frozen=True, slots=True, repr=False)
class LargeUtf8(DataType):
    """UTF-8 strings addressed by 64-bit offsets."""

    def __str__(self) -> str:
        return "large_string"


@dataclass(frozen=True, slots=True, repr=False)
class BinaryView(DataType):
    """Byte strings addressed by 16-byte views; up to 12 bytes stand in the view itself."""

    def __str__(self) -> str:
        return "binary_view"


@dataclass(frozen=True, slots=True, repr=False)
class Utf8View(DataType):
    """UTF-8 strings addressed by 16-byte views; up to 12 bytes stand in the view itself."""

    def __str__(self) -> str:
        return "string_view"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _ListLike(trees.NestedType):
    """The base of the five list types: one child field."""

    UNNAMED_LEVELS: ClassVar[int] = 1

    value_field: Field

    @property
    def value_type(self) -> DataType:
        """The type of the elements."""
        return self.value_field.type

    @property
    def fields(self) -> tuple[Field, ...]:
        """The element field alone."""
        return (self.value_field,)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class List(_ListLike):
    """Lists addressed by 32-bit offsets."""

    def _spelled(self, of: Spell) -> str:
        return f"list<{of(self.value_field)}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LargeList(_ListLike):
    """Lists addressed by 64-bit offsets."""

    def _spelled(self, of: Spell) -> str:
        return f"large_list<{of(self.value_field)}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ListView(_ListLike):
    """Lists addressed by 32-bit offsets and sizes, in any order, possibly overlapping."""

    def _spelled(self, of: Spell) -> str:
        return f"list_view<{of(self.value_field)}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LargeListView(_ListLike):
    """Lists addressed by 64-bit offsets and sizes, in any order, possibly overlapping."""

    def _spelled(self, of: Spell) -> str:
        return f"large_list_view<{of(self.value_field)}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FixedSizeList(_ListLike):
    """Lists that all have `list_size` elements."""

    list_size: int

    def _spelled(self, of: Spell) -> str:
        return f"fixed_size_list<{of(self.value_field)}>[{self.list_size}]"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Struct(trees.NestedType):
    """Named children, each with one value a slot."""

    struct_fields: tuple[Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the struct."""
        return self.struct_fields

    def _spelled(self, of: Spell) -> str:
        return f"struct<{', '.join(map(of, self.struct_fields))}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Map(trees.NestedType):
    """Lists of key-value entries; the entries are a struct of two fields."""

    UNNAMED_LEVELS: ClassVar[int] = 2

    entries_field: Field
    keys_sorted: bool = False

    @property
    def key_field(self) -> Field:
        """The field of the keys."""
        return self.entries_field.type.fields[0]

    @property
    def item_field(self) -> Field:
        """The field of the values."""
        return self.entries_field.type.fields[1]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The entries field alone."""
        return (self.entries_field,)

    def _spelled(self, of: Spell) -> str:
        def named(field: Field, usual: str) -> str:
            return "" if field.name == usual else f" ({field.name!r})"

        key, item = self.key_field, self.item_field
        ordered = ", keys_sorted" if self.keys_sorted else ""
        return (
            f"map<{of(key.type)}{named(key, 'key')}, {of(item.type)}{named(item, 'value')}{ordered}"
            f"{named(self.entries_field, 'entries')}>"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Union(trees.NestedType):
    """A value of one of several types in each slot; `type_codes[k]` marks the slots of child `k`."""

    mode: UnionMode
    union_fields: tuple[Field, ...]
    type_codes: tuple[int, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the children."""
        return self.union_fields

    def _spelled(self, of: Spell) -> str:
        members = ", ".join(
            f"{of(field)}={code}"
            for field, code in zip(self.union_fields, self.type_codes, strict=True)
        )
        return f"{self.mode}_union<{members}>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Dictionary(trees.NestedType):
    """Integers that point into a dictionary of values."""

    index_type: Int
    value_type: DataType
    ordered: bool = False

    def _spelled(self, of: Spell) -> str:
        return (
            f"dictionary<values={of(self.value_type)}, indices={self.index_type}, "
            f"ordered={int(self.ordered)}>"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RunEndEncoded(trees.NestedType):
    """Runs of equal values: the child `run_ends` says where each run of `values` ends."""

    run_ends_field: Field
    values_field: Field

    @property
    def value_type(self) -> DataType:
        """The type of the values."""
        return self.values_field.type

    @property
    def fields(self) -> tuple[Field, ...]:
        """Run ends, then values."""
        return (self.run_ends_field, self.values_field)

    def _spelled(self, of: Spell) -> str:
        return (
            f"run_end_encoded<run_ends: {self.run_ends_field.type}, values: {of(self.value_type)}>"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Extension(trees.NestedType):
    """A name and serialized metadata over a storage type. No code is run for it."""

    storage_type: DataType  #: The type of what is stored.
    extension_name: str  #: The name.
    extension_metadata: bytes = b""  #: The parameter.
    #: Whether fields of the type write the metadata key; some writers leave out an empty one. Not
    #: compared by `==`.
    has_metadata: bool = dataclasses.field(default=True, compare=False)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the storage type."""
        return self.storage_type.fields

    @property
    def storage(self) -> DataType:
        """The storage type, which is not an extension itself."""
        return self.storage_type.storage
