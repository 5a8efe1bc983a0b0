"""The schemas of files in Spark's types, merged or compared.

Types that Spark lacks become types that hold all their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import types as spark

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.spark.types import counterpart, is_variant


def schema_in_spark(schema: s.Schema, columns: Sequence[str] | None, path: str) -> spark.StructType:
    """Returns the schema of a file, or of some columns, in Spark's types; all fields are nullable, as in
    Spark."""

    def refusal(type_: s.DataType, place: str) -> UnsupportedError:
        return UnsupportedError(
            f"{path}: {place}: Spark has no type for {type_}; leave the column out, with the option "
            f"columns"
        )

    fields = []
    for name in schema.names if columns is None else columns:
        count = schema.names.count(name)
        if count != 1:
            number = "no column" if count == 0 else f"{count} columns"
            raise ValueError(f"{path}: {number} {name!r}; the file has {', '.join(schema.names)}")
        type_ = counterpart(schema.field(name).type, refusal, name, _widened)
        fields.append(spark.StructField(name, type_, True))
    return spark.StructType(fields).toNullable()


def _widened(type_: s.DataType) -> s.DataType:
    """Returns a type in Spark that holds the values of a file's; times may be rounded down, nothing else is
    lost. Types without such a counterpart do not change, nor do the parts of nested ones."""
    match type_.storage:
        case s.FloatingPoint(bit_width=16):
            return s.float32()
        case s.Int(signed=False, bit_width=width):
            return s.decimal128(20, 0) if width == 64 else s.Int(2 * width, True)
        case s.Date():
            return s.date32()
        case s.Time():
            return s.time64("ns")
        case s.Timestamp(timezone=zone):
            return s.timestamp("us", zone)
        case s.Duration():
            return s.duration("us")
        case s.Dictionary(value_type=of) | s.RunEndEncoded(value_type=of):
            return _widened(of)
        case s.Struct(fields=fields) as struct if not is_variant(struct):
            return s.struct([s.field(field.name, field.type) for field in fields])
        case storage:
            return storage


# Several files


@dataclass(frozen=True, slots=True)
class FileSchema:
    """The schema of a file in Spark's types; all fields are nullable."""

    path: str
    schema: spark.StructType


def merged(files: Iterable[FileSchema]) -> spark.StructType:
    """Returns a schema with the fields of all files, in the order in which they first occur."""
    # Fields of structs are merged like columns; a field of Arrow's type null takes the type that it has in
    # another file.
    union = _Union()
    for file in files:
        union.add(file)
    return union.schema


def require_same(first: FileSchema, other: FileSchema) -> None:
    """Raise ValueError unless a file has all columns of the first one, with the same types."""
    theirs = {field.name: field.dataType for field in other.schema}
    for field in first.schema:
        if field.name not in theirs:
            raise ValueError(
                f"{other.path}: no column {field.name!r}, which {first.path} has as "
                f"{field.dataType.simpleString()}; set the option mergeSchema to read it as nulls"
            )
        type_ = theirs[field.name]
        if type_ == field.dataType:
            continue
        if isinstance(type_, spark.NullType) or isinstance(field.dataType, spark.NullType):
            raise ValueError(
                f"field {field.name}: it has no type in {first.path} or {other.path}, where it "
                f"holds nulls alone; set the option mergeSchema to take that of the other file"
            )
        raise _conflict(field.name, field.dataType, first.path, type_, other.path)


class _Union:
    """The fields of the files so far, and for each type the file that it comes from."""

    def __init__(self) -> None:
        self.schema = spark.StructType([])
        self._origins: dict[str, str] = {}

    def add(self, file: FileSchema) -> None:
        self.schema = self._struct(self.schema, file.schema, file.path, "")

    def _struct(
        self, ours: spark.StructType, theirs: spark.StructType, path: str, place: str
    ) -> spark.StructType:
        fields = {field.name: field for field in ours}
        for field in theirs:
            name = f"{place}.{field.name}" if place else field.name
            known, type_ = fields.get(field.name), field.dataType
            if known is not None:
                type_ = self._type(known.dataType, type_, path, name)
            else:
                self._origins[name] = path
            fields[field.name] = spark.StructField(field.name, type_, True)
        return spark.StructType(list(fields.values()))

    def _type(
        self, ours: spark.DataType, theirs: spark.DataType, path: str, place: str
    ) -> spark.DataType:
        if ours == theirs or isinstance(theirs, spark.NullType):
            return ours
        if isinstance(ours, spark.NullType):
            self._origins[place] = path
            return theirs
        if isinstance(ours, spark.StructType) and isinstance(theirs, spark.StructType):
            return self._struct(ours, theirs, path, place)
        if isinstance(ours, spark.ArrayType) and isinstance(theirs, spark.ArrayType):
            element = f"{place}.element"
            return spark.ArrayType(
                self._type(ours.elementType, theirs.elementType, path, element), True
            )
        if isinstance(ours, spark.MapType) and isinstance(theirs, spark.MapType):
            return spark.MapType(
                self._type(ours.keyType, theirs.keyType, path, f"{place}.key"),
                self._type(ours.valueType, theirs.valueType, path, f"{place}.value"),
                True,
            )
        # The type may come from the file of the field that contains it.
        origin = place
        while origin not in self._origins:
            origin = origin.rpartition(".")[0]
        raise _conflict(place, ours, self._origins[origin], theirs, path)


def _conflict(
    place: str, ours: spark.DataType, our_path: str, theirs: spark.DataType, their_path: str
) -> ValueError:
    return ValueError(
        f"field {place}: {ours.simpleString()} in {our_path}, but {theirs.simpleString()} in "
        f"{their_path}; read the files apart, or declare the type of the field with schema(…)"
    )
