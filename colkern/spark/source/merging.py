"""The schemas of several files as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructField, StructType


@dataclass(frozen=True, slots=True)
class FileSchema:
    """The schema of a file in Spark's terms.

    Args:
        path: The file.
        schema: Its fields, all of which may hold nulls.
    """

    path: str
    schema: StructType


def merged(files: Iterable[FileSchema]) -> StructType:
    """A schema with the fields of all files, in the order in which they first come.

    Fields of structs are merged like columns; a field without values (Arrow's type null) takes the
    type that it has in another file.

    Raises:
        ValueError: If a field has one type in one file and another in another; names all of them.
    """
    union = _Union()
    for file in files:
        union.add(file)
    return union.schema


def require_same(first: FileSchema, other: FileSchema) -> None:
    """Make sure that a file has all columns of the first one, with the same types.

    Raises:
        ValueError: If it lacks a column, or has another type in it; names both files and the field.
    """
    theirs = {field.name: field.dataType for field in other.schema}
    for field in first.schema:
        if field.name not in theirs:
            raise ValueError(
                f"{other.path}: no column {field.name!r}, which {first.path} has as "
                f"{_text(field.dataType)}; set the option mergeSchema to read it as nulls"
            )
        found = theirs[field.name]
        if found != field.dataType:
            if isinstance(found, NullType) or isinstance(field.dataType, NullType):
                raise ValueError(
                    f"field {field.name}: it has no type in {first.path} or {other.path}, where it "
                    f"holds nulls alone; set the option mergeSchema to take that of the other file"
                )
            raise _conflict(field.name, field.dataType, first.path, found, other.path)


class _Union:
    """The fields of the files so far, and which file each type is from."""

    def __init__(self) -> None:
        self.schema = StructType([])
        self._origins: dict[str, str] = {}

    def add(self, file: FileSchema) -> None:
        self.schema = self._struct(self.schema, file.schema, file.path, "")

    def _struct(self, ours: StructType, theirs: StructType, path: str, place: str) -> StructType:
        fields = {field.name: field for field in ours}
        for field in theirs:
            name = f"{place}.{field.name}" if place else field.name
            known = fields.get(field.name)
            made = field.dataType
            if known is not None:
                made = self._type(known.dataType, field.dataType, path, name)
            else:
                self._origins[name] = path
            fields[field.name] = StructField(field.name, made, True)
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
        raise _conflict(place, ours, self._origin(place), theirs, path)

    def _origin(self, place: str) -> str:
        """The file that a field's type is from: that of the field around it, where it came with it."""
        while place not in self._origins:
            place = place.rpartition(".")[0]
        return self._origins[place]


def _conflict(
    place: str, ours: DataType, our_path: str, theirs: DataType, their_path: str
) -> ValueError:
    return ValueError(
        f"field {place}: {_text(ours)} in {our_path}, but {_text(theirs)} in {their_path}; read the "
        f"files apart, or declare the type of the field with schema(…)"
    )


def _text(type_: DataType) -> str:
    return str(type_.simpleString())
