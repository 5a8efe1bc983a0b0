"""Schemas as metadata: the opposite of `colkern.ipc.reading.schemas`.

Columnar format 1.5: "Schema message", "Data Types".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, repeat

from colkern import schema as s
from colkern.errors import UnsupportedError
from colkern.ipc.enums import DictionaryKind, Endianness
from colkern.ipc.fields import WireField, WireSchema
from colkern.ipc.flatbuffer.encoding import Columns
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import DEFAULT_LIMITS, FieldCount, Limits
from colkern.ipc.types import LEAVES, ROWS
from colkern.key_values import pairs_of

_ID_END = 1 << 63


def wire_schema_of(
    schema: s.Schema, dictionary_ids: Mapping[str, int], limits: Limits = DEFAULT_LIMITS
) -> WireSchema:
    """A schema with an id for every dictionary: the one in `dictionary_ids` for its path, or a new one."""
    numbering = _Numbering(_checked_ids(dictionary_ids), limits)
    fields = numbering.fields(schema)
    unknown = sorted(dictionary_ids.keys() - numbering.seen)
    if unknown:
        raise ValueError(f"dictionary_ids: no dictionary field {unknown[0]!r}")
    return WireSchema(schema, fields, big_endian=False)


def _checked_ids(ids: Mapping[str, int]) -> dict[str, int]:
    if not isinstance(ids, Mapping):
        raise TypeError(f"dictionary_ids: expected a mapping, got {type(ids).__name__}")
    for path, id_ in ids.items():
        if not isinstance(id_, int):
            raise TypeError(f"dictionary_ids: {path!r}: expected an int, got {type(id_).__name__}")
        if not -_ID_END <= id_ < _ID_END:
            raise ValueError(f"dictionary_ids: {path!r}: {id_} does not fit 64 bits")
    return dict(ids)


class _Numbering:
    """Gives each dictionary field its id."""

    def __init__(self, ids: Mapping[str, int], limits: Limits) -> None:
        self._ids = ids
        self._field_count = FieldCount(limits)
        self._values: dict[int, s.DataType] = {}
        self._first: dict[int, WireField] = {}
        taken = set(ids.values())
        self._fresh: Iterator[int] = (i for i in count() if i not in taken)
        self.seen: set[str] = set()

    def fields(self, schema: s.Schema) -> tuple[WireField, ...]:
        """The fields of a schema with their ids."""
        self._field_count.add(len(schema), 1)
        return tuple(
            [
                WireField(field, (), None, field.type)
                if type(field.type) in LEAVES
                else self._field(field, field.name, None, 1)
                for field in schema
            ]
        )

    def _field(self, field: s.Field, path: str, twin: WireField | None, depth: int) -> WireField:
        """A field with its ids; those of its `twin`, if it is reached by another path, too."""
        type_ = s.field_to_wire(field).type
        if isinstance(type_, s.Extension):
            raise UnsupportedError(
                f"{path}: IPC has no form for an extension type stored as {type_}"
            )
        values, dictionary = type_, None
        if isinstance(type_, s.Dictionary):
            values, dictionary = type_.value_type, self._id(path, twin)
            self._check_values(values, dictionary, path)
            twin = self._first.get(dictionary)
        twins = repeat(None) if twin is None else twin.children
        self._field_count.add(len(values.fields), depth + 1)
        children = tuple(
            self._field(child, f"{path}.{child.name}", below, depth + 1)
            for child, below in zip(values.fields, twins, strict=False)
        )
        result = WireField(field, children, dictionary, values)
        if dictionary is not None:
            self._first.setdefault(dictionary, result)
        return result

    def _check_values(self, values: s.DataType, dictionary: int, path: str) -> None:
        if isinstance(values, s.Extension | s.Dictionary):
            raise UnsupportedError(
                f"{path}: IPC has no form for a dictionary whose values are {values}"
            )
        known = self._values.setdefault(dictionary, values)
        if known != values:
            raise ValueError(
                f"dictionary_ids: dictionary {dictionary} has values of {known} in one field "
                f"and of {values} in {path!r}"
            )

    def _id(self, path: str, twin: WireField | None) -> int:
        self.seen.add(path)
        wanted = self._ids.get(path)
        if twin is None:
            return next(self._fresh) if wanted is None else wanted
        assert twin.dictionary is not None
        if wanted not in (None, twin.dictionary):
            raise ValueError(
                f"dictionary_ids: {path!r} lies in a shared dictionary where its id is "
                f"{twin.dictionary}, not {wanted}"
            )
        return twin.dictionary


def schema_to_wire(wire: WireSchema) -> Record:
    """The `Schema` table of a schema."""
    return {
        "endianness": Endianness.Little,
        "fields": _field_columns(wire.fields),
        "custom_metadata": pairs(wire.schema.metadata, "schema.metadata"),
    }


def _field_columns(fields: Sequence[WireField]) -> Columns:
    """The `Field` tables; those of leaves without metadata, the most in wide schemas, as columns."""
    others: dict[int, Record] = {}
    leaves: list[s.Field] = []
    for position, wire in enumerate(fields):
        field = wire.field
        if type(field.type) in LEAVES and not field.metadata:
            leaves.append(field)
        else:
            others[position] = _field(wire)
    types: dict[s.DataType, Record] = {}
    written = [types.get(f.type) or types.setdefault(f.type, type_to_wire(f.type)) for f in leaves]
    columns: dict[str, Sequence[object]] = {
        "name": [field.name for field in leaves],
        "nullable": [field.nullable for field in leaves],
        "type_type": [type_["type_type"] for type_ in written],
        "type": [type_["type"] for type_ in written],
        "children": [()] * len(leaves),
    }
    return Columns(columns, others)


def pairs(metadata: Mapping[bytes, bytes] | None, argument: str) -> list[Record] | None:
    """Custom metadata as `KeyValue` tables; None if there is none. `argument` is its name in errors."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise TypeError(f"{argument}: expected a mapping, got {type(metadata).__name__}")
    written = pairs_of(metadata)
    for part in chain.from_iterable(written):
        if not isinstance(part, bytes):
            raise TypeError(
                f"{argument}: expected keys and values of bytes, got {type(part).__name__}"
            )
    return [{"key": key, "value": value} for key, value in written] or None


def type_to_wire(type_: s.DataType) -> Record:
    """The slots for a data type in any table: its number, and the table of its parameters."""
    row = ROWS[type(type_)]
    parameters = {name: each.to_number(type_) for name, each in row.parameters.items()}
    return {"type_type": row.number, "type": parameters}


def _field(field: WireField) -> Record:
    plain = s.field_to_wire(field.field)
    encoding = None
    if isinstance(plain.type, s.Dictionary):
        encoding = {
            "id": field.dictionary,
            "indexType": type_to_wire(plain.type.index_type)["type"],
            "isOrdered": plain.type.ordered,
            "dictionaryKind": DictionaryKind.DenseArray,
        }
    return {
        "name": plain.name,
        "nullable": plain.nullable,
        **type_to_wire(field.values),
        "dictionary": encoding,
        "children": [_field(child) for child in field.children],
        "custom_metadata": pairs(plain.metadata, f"metadata of field {plain.name!r}"),
    }
