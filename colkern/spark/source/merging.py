"""Merges or compares the schemas of several files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructField, StructType


@dataclass(frozen=True, slots=True)
class FileSchema:
    """The schema of a file in Spark's types; all fields are nullable."""

    path: str
    schema: StructType


def merged(files: Iterable[FileSchema]) -> StructType:
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
        if isinstance(type_, NullType) or isinstance(field.dataType, NullType):
            raise ValueError(
                f"field {field.name}: it has no type in {first.path} or {other.path}, where it "
                f"holds nulls alone; set the option mergeSchema to take that of the other file"
            )
        raise _conflict(field.name, field.dataType, first.path, type_, other.path)


class _Union:
    """The fields of the files so far, and for each type the file that it comes from."""

    def __init__(self) -> None:
        self.schema = StructType([])
        self._origins: dict[str, str] = {}

    def add(self, file: FileSchema) -> None:
        self.schema = self._struct(self.schema, file.schema, file.path, "")

    def _struct(self, ours: StructType, theirs: StructType, path: str, place: str) -> StructType:
        fields = {field.name: field for field in ours}
        for field in theirs:
            name = f"{place}.{field.name}" if place else field.name
            known, type_ = fields.get(field.name), field.dataType
            if known is not None:
                type_ = self._type(known.dataType, type_, path, name)
            else:
                self._origins[name] = path
            fields[field.name] = StructField(field.name, type_, True)
        return StructType(list(fields.values()))

    def _type(self, ours: DataType, theirs: DataType, path: str, place: str) -> DataType:
        if ours == theirs or isinstance(theirs, NullType):
            return ours
        if isinstance(ours, NullType):
            self._origins[place] = path
            return theirs
        if isinstance(ours, StructType) and isinstance(theirs, StructType):
            return self._struct(ours, theirs, path, place)
        if isinstance(ours, ArrayType) and isinstance(theirs, ArrayType):
            element = f"{place}.element"
            return ArrayType(self._type(ours.elementType, theirs.elementType, path, element), True)
        if isinstance(ours, MapType) and isinstance(theirs, MapType):
            return MapType(
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
    place: str, ours: DataType, our_path: str, theirs: DataType, their_path: str
) -> ValueError:
    return ValueError(
        f"field {place}: {ours.simpleString()} in {our_path}, but {theirs.simpleString()} in "
        f"{their_path}; read the files apart, or declare the type of the field with schema(…)"
    )
