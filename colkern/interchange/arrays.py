"""Arrays and record batches as `ArrowArray` structures, both ways; no byte of a buffer is copied.

C Data interface: "The ArrowArray structure".
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from colkern.arrays import UNKNOWN, Array, RecordBatch
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.interchange.abi import (
    MAX_POINTERS,
    WORD,
    ArrayStruct,
    Imported,
    address_of,
    children_at,
    struct_at,
    words_at,
)
from colkern.interchange.exported import Export
from colkern.interchange.schemas import export_schema, field_in, schema_of
from colkern.layouts import BufferSpec, ChildLength, Extent, Layout, Role, layout
from colkern.memory import HOST, Buffer
from colkern.schema import DataType, Dictionary, Field, FixedSizeList, Null, Struct

# Stands for buffers of no bytes: consumers of old may read the first offset of an empty array.
_ZEROS = array("q", bytes(64))
_ZEROS_AT = address_of(_ZEROS)

_MEMBERS = len(ArrayStruct._fields)
_BUFFERS = ArrayStruct._fields.index("buffers")
_CHILDREN = ArrayStruct._fields.index("children")

_MAX_ADDRESS = 2**63 - 1


# Export


def export_array(array: Array, requested_schema: Any = None) -> tuple[Any, Any]:
    """Capsules named `arrow_schema` and `arrow_array`; nothing is copied.

    Args:
        array: An array in host memory.
        requested_schema: Not looked at: colkern hands out the type that the array has, as the
            PyCapsule interface allows.

    Raises:
        UnsupportedError: If the bytes are not in host memory, or the type has no format string.
    """
    return export_schema(array.type), _array_capsule(array)


def export_batch(batch: RecordBatch, requested_schema: Any = None) -> tuple[Any, Any]:
    """The capsules of the struct array that carries a batch; otherwise as `export_array`."""
    return export_schema(batch.schema), _array_capsule(_struct_of(batch))


def move_batch_to(batch: RecordBatch, address: int) -> None:
    """Write the structure of `export_batch` to `address`, whose owner must release it."""
    export = Export(ArrayStruct)
    export.move_to(_build(export, _struct_of(batch)), address)


def _array_capsule(array: Array) -> Any:
    export = Export(ArrayStruct)
    return export.into_capsule(_build(export, array))


def _struct_of(batch: RecordBatch) -> Array:
    return Array(Struct(batch.schema.fields), batch.length, (None,), batch.columns, null_count=0)


def _build(export: Export, source: Array) -> array[int]:
    """A structure, followed in memory by pointers to its buffers and children, and view sizes."""
    rule = source.layout
    buffers = [_buffer_address(buffer) for buffer in source.buffers]
    # A bitmap that contradicts a count of no nulls counts for nothing here, and for some readers.
    if rule.has_validity and (source.buffers[0] is None or source.known_null_count == 0):
        buffers[0] = 0
    sizes: list[int] = []
    if rule.variadic:
        sizes = [buffer.size if buffer else 0 for buffer in source.data_buffers]
        buffers.append(0)
    children = [_build(export, child) for child in source.children]
    dictionary = _build(export, source.dictionary) if source.dictionary is not None else None
    words = array(
        "q",
        (
            source.length,
            _exported_null_count(source, rule),
            source.offset,
            len(buffers),
            len(children),
            0,
            0,
            0 if dictionary is None else address_of(dictionary),
            export.release,
            0,
            *buffers,
            *map(address_of, children),
            *sizes,
        ),
    )
    buffers_at = address_of(words) + _MEMBERS * WORD
    children_at = buffers_at + len(buffers) * WORD
    words[_BUFFERS] = buffers_at
    words[_CHILDREN] = children_at
    if rule.variadic:
        words[_MEMBERS + len(buffers) - 1] = children_at + len(children) * WORD
    export.anchor(words, source, children, dictionary)
    return words


def _buffer_address(buffer: Buffer | None) -> int:
    if buffer is None or buffer.size == 0:
        return _ZEROS_AT
    if buffer.device is not HOST and buffer.device.kind != "cpu":
        raise UnsupportedError(
            f"the bytes live on {buffer.device}; the C Data interface carries host memory only"
        )
    return buffer.address


def _exported_null_count(source: Array, rule: Layout) -> int:
    """A count that is never `UNKNOWN` where there is no validity bitmap to count in."""
    if rule.has_validity:
        return 0 if source.buffers[0] is None else source.known_null_count
    return source.length if isinstance(source.type.storage, Null) else 0


# Import


def import_array(obj: Any) -> Array:
    """The array of an object with `__arrow_c_array__`; nothing is copied.

    A record batch comes as a struct array. An object that has only `__arrow_c_stream__` (a chunked
    array, a column of a data frame) is taken if its stream holds one array, or none.

    Raises:
        TypeError: If the object has neither method.
        ValueError: If the stream holds more than one array.
        InvalidArrowError: If a structure breaks a rule of the C Data interface. Sizes and counts
            are checked; what only a look at all bytes can tell is left to `Array.validate`.
        UnsupportedError: If a format string is unknown.
    """
    field, owner = import_one(obj)
    return empty_array(field.type) if owner is None else read_array(field, owner)


def import_batch(obj: Any) -> RecordBatch:
    """The record batch of an object with `__arrow_c_array__` of a struct; otherwise as `import_array`.

    A column is read, and checked as `import_array` does, when it is first asked for.

    Raises:
        TypeError: Also if the object is an array, but not of structs.
        InvalidArrowError: Also if rows as such are null, which a batch cannot say.
    """
    field, owner = import_one(obj)
    schema = schema_of(field)
    if owner is None:
        return RecordBatch(schema, [empty_array(data_type) for data_type in schema.types], 0)
    return read_batch(field, owner)


def import_one(obj: Any) -> tuple[Field, Imported | None]:
    """The field and the structure of an array; None for the structure of an empty stream."""
    method = getattr(obj, "__arrow_c_array__", None)
    if method is None:
        from colkern.interchange.streams import import_only_structure

        return import_only_structure(obj)
    schema_capsule, array_capsule = method()
    return field_in(schema_capsule), Imported.from_capsule(ArrayStruct, array_capsule)


def read_array(field: Field, owner: Imported) -> Array:
    """The array of that field in an imported structure, which all its buffers keep alive.

    Raises:
        InvalidArrowError: If the structure breaks a rule of the C Data interface, or does not go
            with the field.
    """
    return _read(field, owner.address, owner)


def read_batch(field: Field, owner: Imported) -> RecordBatch:
    """The batch of that field's children in an imported structure; raises like `import_batch`."""
    schema = schema_of(field)
    struct = struct_at(ArrayStruct, owner.address)
    shape = _shape(field.type)
    _check_counts(field.type, shape, struct)
    if struct.null_count and _read_buffers(shape.rule, struct, owner)[0] is not None:
        nulls = read_array(field, owner).null_count
        if nulls:
            raise InvalidArrowError(f"{nulls} rows of a record batch are null")
    children = children_at(struct)

    def load(position: int) -> Array:
        least = struct.offset + struct.length
        column = _read_child(schema.fields[position], children[position], least, owner)
        whole = struct.offset == 0 and column.length == struct.length
        return column if whole else column.slice(struct.offset, struct.length)

    return RecordBatch.lazy(schema, struct.length, load)


class _Shape(NamedTuple):
    """What the layout table says about a type, at hand for every array of that type.

    Args:
        rule: Its row of the table.
        n_buffers: The least number of buffers.
        n_children: The number of children.
        child_slots: How many slots of each child a slot needs, as far as that is fixed.
    """

    rule: Layout
    n_buffers: int
    n_children: int
    child_slots: int


# No types or fields in it: equal types differ in their fields' metadata.
@lru_cache(maxsize=4096)
def _shape(data_type: DataType) -> _Shape:
    rule = layout(data_type)
    storage = data_type.storage
    child_slots = int(rule.child_length is ChildLength.SAME)
    if isinstance(storage, FixedSizeList):
        child_slots = storage.list_size
    return _Shape(rule, len(rule.buffers) + rule.variadic, len(data_type.fields), child_slots)


def _read(field: Field, address: int, owner: Imported) -> Array:
    try:
        return _checked(field.type, struct_at(ArrayStruct, address), owner)
    except InvalidArrowError as error:
        raise error.at(f"field {field.name!r}") from None


def _checked(data_type: DataType, struct: ArrayStruct, owner: Imported) -> Array:
    shape = _shape(data_type)
    _check_counts(data_type, shape, struct)
    slots = struct.length + struct.offset
    children: list[Array] = []
    if shape.n_children:
        least = slots * shape.child_slots
        pairs = zip(data_type.fields, children_at(struct), strict=True)
        children = [_read_child(field, address, least, owner) for field, address in pairs]
    dictionary = None
    storage = data_type.storage
    if isinstance(storage, Dictionary):
        dictionary = _read(Field("dictionary", storage.value_type), struct.dictionary, owner)
    buffers = _read_buffers(shape.rule, struct, owner)
    null_count = _imported_null_count(shape.rule, struct, buffers)
    return Array(data_type, struct.length, buffers, children, dictionary, struct.offset, null_count)


def _read_child(field: Field, address: int, least: int, owner: Imported) -> Array:
    """A child of at least that many slots; what offsets ask of it is left to `Array.validate`."""
    child = _read(field, address, owner)
    if child.length < least:
        raise InvalidArrowError(
            f"{child.length} slots where the parent needs {least}", place=f"field {field.name!r}"
        )
    return child


def _check_counts(data_type: DataType, shape: _Shape, struct: ArrayStruct) -> None:
    if not struct.release:
        raise InvalidArrowError("the ArrowArray is released")
    if struct.length < 0 or struct.offset < 0:
        raise InvalidArrowError(f"negative length {struct.length} or offset {struct.offset}")
    if struct.null_count < UNKNOWN:
        raise InvalidArrowError(f"null count {struct.null_count}")
    most = MAX_POINTERS if shape.rule.variadic else shape.n_buffers
    if not shape.n_buffers <= struct.n_buffers <= most:
        raise InvalidArrowError(f"{data_type}: {struct.n_buffers} buffers, not {shape.n_buffers}")
    if struct.n_buffers and not struct.buffers:
        raise InvalidArrowError(f"{struct.n_buffers} buffers behind a NULL pointer")
    if struct.n_children != shape.n_children:
        raise InvalidArrowError(
            f"{data_type}: {struct.n_children} children, not {shape.n_children}"
        )
    if shape.rule.has_dictionary != bool(struct.dictionary):
        has = "a" if struct.dictionary else "no"
        raise InvalidArrowError(f"{data_type}: {has} dictionary")


def _imported_null_count(rule: Layout, struct: ArrayStruct, buffers: list[Buffer | None]) -> int:
    if not rule.has_validity:
        return UNKNOWN
    if buffers[0] is not None:
        return struct.null_count
    if struct.null_count > 0:
        raise InvalidArrowError(f"null count {struct.null_count}, but no validity bitmap")
    return 0


def _read_buffers(rule: Layout, struct: ArrayStruct, owner: Imported) -> list[Buffer | None]:
    if struct.n_buffers == 0:
        return []
    slots = struct.length + struct.offset
    pointers = words_at(struct.buffers, struct.n_buffers)
    buffers: list[Buffer | None] = []
    for position, spec in enumerate(rule.buffers):
        pointer = pointers[position]
        if not pointer and spec.role is Role.VALIDITY:
            buffers.append(None)
            continue
        if spec.extent is Extent.FREE:
            # Bytes stand behind their offsets; nothing else says how many there are.
            size = _last_offset(rule.buffers[position - 1], pointers[position - 1], slots)
        else:
            size = spec.min_bytes(slots)
        buffers.append(_read_buffer(spec.role, pointer, size, owner))
    if rule.variadic:
        buffers += _read_variadic(pointers[len(buffers) :], owner)
    return buffers


def _read_buffer(role: Role, pointer: int, size: int, owner: Imported) -> Buffer:
    if size and not pointer:
        raise InvalidArrowError(
            f"the {role.value} buffer is a NULL pointer, {size} bytes are needed"
        )
    if pointer + size > _MAX_ADDRESS:
        raise InvalidArrowError(f"the {role.value} buffer would have {size} bytes")
    return Buffer.from_address(pointer, size, owner)


def _last_offset(offsets: BufferSpec, pointer: int, slots: int) -> int:
    if slots == 0:
        return 0
    width = offsets.dtype.itemsize
    raw = ctypes.string_at(pointer + slots * width, width)
    last = int.from_bytes(raw, sys.byteorder, signed=True)
    if last < 0:
        raise InvalidArrowError(f"the last offset is {last}")
    return last


def _read_variadic(pointers: Sequence[int], owner: Imported) -> list[Buffer]:
    """The data buffers of a view layout; the last pointer is that of their sizes."""
    *data, sizes_at = pointers
    if not data:
        return []
    if not sizes_at:
        raise InvalidArrowError("the buffer of data buffer sizes is a NULL pointer")
    sizes = words_at(sizes_at, len(data))
    if min(sizes) < 0:
        raise InvalidArrowError(f"a data buffer has {min(sizes)} bytes")
    pairs = zip(data, sizes, strict=True)
    return [_read_buffer(Role.BYTES, pointer, size, owner) for pointer, size in pairs]


def empty_array(data_type: DataType) -> Array:
    """An array of that type without values."""
    rule = layout(data_type)
    storage = data_type.storage
    dictionary = None
    if isinstance(storage, Dictionary):
        dictionary = empty_array(storage.value_type)
    children = [empty_array(field.type) for field in data_type.fields]
    return Array(data_type, 0, [None] * len(rule.buffers), children, dictionary)
