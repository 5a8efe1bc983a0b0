"""Arrays and record batches as `ArrowArray` structures, both ways; no byte of a buffer is copied.

`ArrayExport` and `HostStructure` have the parts that depend on the place of the buffers;
`colkern.interchange.device_arrays` extends them for devices.

C Data interface: "The ArrowArray structure".
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from colkern.arrays import UNKNOWN, Array, RecordBatch
from colkern.errors import InvalidArrowError, UnsupportedError
from colkern.interchange import abi
from colkern.interchange.native import Export
from colkern.interchange.schemas import export_schema
from colkern.layouts import BufferSpec, ChildLength, Extent, Layout, Role, layout
from colkern.memory import HOST, Buffer
from colkern.schema import DataType, Dictionary, Field, FixedSizeList, Map, Null, Schema, Struct

# Stands for empty buffers: old consumers may read the first offset of an empty array.
_ZEROS = array("q", bytes(64))
_ZEROS_AT = abi.address_of(_ZEROS)

_MEMBERS = len(abi.ArrayStruct._fields)
_BUFFERS = abi.ArrayStruct._fields.index("buffers")
_CHILDREN = abi.ArrayStruct._fields.index("children")

_MAX_ADDRESS = 2**63 - 1


# Export


def export_array(array: Array, requested_schema: object = None) -> tuple[object, object]:
    """Capsules named `arrow_schema` and `arrow_array`; nothing is copied.

    Args:
        array: An array in host memory.
        requested_schema: Ignored: colkern exports the type that the array has, as the PyCapsule
            interface allows.

    Raises:
        UnsupportedError: If the bytes are not in host memory, or the type has no format string.
        InvalidArrowError: If the entries of a map lack keys or items.
    """
    return export_schema(array.type), _array_capsule(array)


def export_batch(batch: RecordBatch, requested_schema: object = None) -> tuple[object, object]:
    """The capsules of a batch as a struct array; otherwise as `export_array`."""
    return export_schema(batch.schema), _array_capsule(struct_of(batch))


def move_part_to(part: Array | RecordBatch, address: int) -> None:
    """Write the structure of an array or a batch to `address`; its owner must release the structure."""
    export = ArrayExport(abi.ArrayStruct)
    array = struct_of(part) if isinstance(part, RecordBatch) else part
    export.move_to(build_structure(export, array), address)


def _array_capsule(array: Array) -> object:
    export = ArrayExport(abi.ArrayStruct)
    return export.into_capsule(build_structure(export, array))


def struct_of(batch: RecordBatch) -> Array:
    """A batch as a struct array; its columns are loaded."""
    return Array(Struct(batch.schema.fields), batch.length, (None,), batch.columns, null_count=0)


class ArrayExport(Export):
    """Array structures being built, whose buffers are in host memory."""

    __slots__ = ()

    def buffer_address(self, buffer: Buffer | None) -> int:
        """The address to export for a buffer."""
        if buffer is None or buffer.size == 0:
            return _ZEROS_AT
        if buffer.device is not HOST and buffer.device.kind != "cpu":
            raise UnsupportedError(
                f"the bytes live on {buffer.device}; the C Data interface carries host memory only: "
                "ask for a device array, or copy them to the host"
            )
        return buffer.address

    def null_count(self, source: Array) -> int:
        """The number of nulls for an array with a bitmap, or `UNKNOWN`."""
        return source.known_null_count

    def sizes(self, sizes: Sequence[int]) -> tuple[int, object]:
        """The buffer with the sizes of a view's data buffers: its address, and the object that owns it."""
        # One word where there are none: the pointer is never NULL.
        words = array("q", sizes or (0,))
        return abi.address_of(words), words


def build_structure(
    export: ArrayExport, source: Array, tail: Sequence[int] = (), kept: object = None
) -> array[int]:
    """A structure with `tail`, and its pointers to buffers and children; `kept` lives as long as it."""
    rule = source.layout
    # A count of no nulls makes a bitmap meaningless here and to some readers, so it is left out.
    no_bitmap = rule.has_validity and (source.buffers[0] is None or source.known_null_count == 0)
    buffers = [0] if no_bitmap else []
    buffers += [export.buffer_address(buffer) for buffer in source.buffers[no_bitmap:]]
    sizes = None
    if rule.variadic:
        sizes_at, sizes = export.sizes([b.size if b else 0 for b in source.data_buffers])
        buffers.append(sizes_at)
    children = [build_structure(export, child) for child in _exported_children(source)]
    dictionary = None
    if source.dictionary is not None:
        dictionary = build_structure(export, source.dictionary)
    words = array(
        "q",
        (
            source.length,
            _exported_null_count(export, source, rule),
            # Buffers of an empty array may have no bytes at its offset.
            source.offset if source.length else 0,
            len(buffers),
            len(children),
            0,
            0,
            0 if dictionary is None else abi.address_of(dictionary),
            export.release,
            0,
            *tail,
            *buffers,
            *map(abi.address_of, children),
        ),
    )
    buffers_at = abi.address_of(words) + (_MEMBERS + len(tail)) * abi.WORD
    words[_BUFFERS] = buffers_at
    words[_CHILDREN] = buffers_at + len(buffers) * abi.WORD
    export.anchor(words, source, children, dictionary, sizes, kept)
    return words


def _exported_children(source: Array) -> Sequence[Array]:
    """The children; the struct of a map's entries begins at slot 0, since pyarrow ignores its offset."""
    if not isinstance(source.type.storage, Map) or not source.children[0].offset:
        return source.children
    entries = source.children[0]
    end = entries.offset + entries.length
    for field, child in zip(entries.type.storage.fields, entries.children, strict=True):
        if child.length < end:
            raise InvalidArrowError(f"{field.name} of a map: {child.length} values, {end} are used")
    fields = [child.slice(entries.offset, entries.length) for child in entries.children]
    # A map has no null entries.
    return [Array(entries.type, entries.length, (None,), fields, null_count=0)]


def _exported_null_count(export: ArrayExport, source: Array, rule: Layout) -> int:
    """The null count; never `UNKNOWN` without a validity bitmap, where consumers cannot count."""
    if rule.has_validity:
        return 0 if source.buffers[0] is None else export.null_count(source)
    return source.length if isinstance(source.type.storage, Null) else 0


# Import


class HostStructure:
    """An imported array's structure, with its buffers in host memory. The buffers keep it alive."""

    __slots__ = ("field", "owner")

    def __init__(self, field: Field, owner: abi.Imported) -> None:
        self.field = field
        self.owner = owner

    def buffer_at(self, address: int, size: int) -> Buffer:
        """The `size` bytes at `address` as a buffer."""
        return Buffer.from_address(address, size, self.owner)

    def bytes_at(self, address: int, size: int) -> bytes:
        """A copy of a few bytes that hold a length."""
        return ctypes.string_at(address, size)


def read_array(source: HostStructure) -> Array:
    """The array in an imported structure, which stays alive as long as any of its buffers."""
    return _read(source.field, source.owner.address, source)


def read_batch(source: HostStructure, schema: Schema) -> RecordBatch:
    """An imported struct array as a batch of its fields; raises `InvalidArrowError` for null rows."""
    struct = abi.struct_at(abi.ArrayStruct, source.owner.address)
    rule = checked_shape(source.field.type, struct).rule
    bitmap = _read_buffers(rule, struct, source)[0]
    if bitmap is not None:
        rows = Array(Struct(()), struct.length, (bitmap,), offset=struct.offset)
        if rows.null_count:
            raise InvalidArrowError(f"{rows.null_count} rows of a record batch are null")
    children = abi.children_at(struct)

    def load(position: int) -> Array:
        least = struct.offset + struct.length
        column = _read_child(schema.fields[position], children[position], least, source)
        whole = struct.offset == 0 and column.length == struct.length
        return column if whole else column.slice(struct.offset, struct.length)

    return RecordBatch.lazy(schema, struct.length, load)


class Shape(NamedTuple):
    """The counts of a type by the layout table, cached for all arrays of that type."""

    rule: Layout
    n_buffers: int
    n_children: int
    child_slots: int  #: The slots of each child that a slot needs, as far as that is fixed.


# Without types or fields, since equal types may differ in the metadata of their fields.
@lru_cache(maxsize=4096)
def _shape(data_type: DataType) -> Shape:
    rule = layout(data_type)
    storage = data_type.storage
    child_slots = int(rule.child_length is ChildLength.SAME)
    if isinstance(storage, FixedSizeList):
        child_slots = storage.list_size
    return Shape(rule, len(rule.buffers) + rule.variadic, len(data_type.fields), child_slots)


def _read(field: Field, address: int, source: HostStructure) -> Array:
    # Not a context manager, since each child of each array passes here.
    try:
        return _checked(field.type, abi.struct_at(abi.ArrayStruct, address), source)
    except InvalidArrowError as error:
        raise error.at(f"field {field.name!r}") from None


def _checked(data_type: DataType, struct: abi.ArrayStruct, source: HostStructure) -> Array:
    shape = checked_shape(data_type, struct)
    slots = struct.length + struct.offset
    children: list[Array] = []
    if shape.n_children:
        least = slots * shape.child_slots
        pairs = zip(data_type.fields, abi.children_at(struct), strict=True)
        children = [_read_child(field, address, least, source) for field, address in pairs]
    dictionary = None
    storage = data_type.storage
    if isinstance(storage, Dictionary):
        dictionary = _read(dictionary_field(storage), struct.dictionary, source)
    buffers = _read_buffers(shape.rule, struct, source)
    null_count = _imported_null_count(shape.rule, struct, buffers)
    array = Array(
        data_type, struct.length, buffers, children, dictionary, struct.offset, null_count
    )
    if not shape.rule.has_validity:
        array.note_null_count(struct.null_count)
    return array


def dictionary_field(storage: Dictionary) -> Field:
    """The field that names an array's dictionary in errors."""
    return Field("dictionary", storage.value_type)


def _read_child(field: Field, address: int, least: int, source: HostStructure) -> Array:
    """A child with at least `least` slots. Offsets that point past its end are left to `Array.validate`."""
    child = _read(field, address, source)
    if child.length < least:
        raise InvalidArrowError(
            f"{child.length} slots where the parent needs {least}", place=f"field {field.name!r}"
        )
    return child


def checked_shape(data_type: DataType, struct: abi.ArrayStruct) -> Shape:
    """The shape of a type. Raises `InvalidArrowError` if the counts in a structure do not fit it."""
    shape = _shape(data_type)
    if not struct.release:
        raise InvalidArrowError("the ArrowArray is released")
    if struct.length < 0 or struct.offset < 0:
        raise InvalidArrowError(f"negative length {struct.length} or offset {struct.offset}")
    if struct.null_count < UNKNOWN:
        raise InvalidArrowError(f"null count {struct.null_count}")
    most = abi.MAX_POINTERS if shape.rule.variadic else shape.n_buffers
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
    return shape


def _imported_null_count(
    rule: Layout, struct: abi.ArrayStruct, buffers: list[Buffer | None]
) -> int:
    if not rule.has_validity:
        return UNKNOWN
    if buffers[0] is not None:
        return struct.null_count
    if struct.null_count > 0:
        raise InvalidArrowError(f"null count {struct.null_count}, but no validity bitmap")
    return 0


def _read_buffers(
    rule: Layout, struct: abi.ArrayStruct, source: HostStructure
) -> list[Buffer | None]:
    if struct.n_buffers == 0:
        return []
    slots = struct.length + struct.offset
    pointers = abi.words_at(struct.buffers, struct.n_buffers)
    buffers: list[Buffer | None] = []
    for position, spec in enumerate(rule.buffers):
        pointer = pointers[position]
        if not pointer and spec.role is Role.VALIDITY:
            buffers.append(None)
            continue
        if spec.extent is Extent.FREE:
            # Bytes follow their offsets in the table, and only the last offset says how many there
            # are.
            size = _last_offset(rule.buffers[position - 1], pointers[position - 1], slots, source)
        else:
            size = spec.min_bytes(slots)
        buffers.append(_read_buffer(spec.role, pointer, size, source))
    if rule.variadic:
        buffers += _read_variadic(pointers[len(buffers) :], source)
    return buffers


def _read_buffer(role: Role, pointer: int, size: int, source: HostStructure) -> Buffer:
    check_pointer(role, pointer, size)
    return source.buffer_at(pointer, size)


def check_pointer(role: Role, pointer: int, size: int) -> None:
    """Raise `InvalidArrowError` if `size` bytes cannot be at that address."""
    if size and not pointer:
        raise InvalidArrowError(
            f"the {role.value} buffer is a NULL pointer, {size} bytes are needed"
        )
    if pointer + size > _MAX_ADDRESS:
        raise InvalidArrowError(f"the {role.value} buffer would have {size} bytes")


def last_offset_at(offsets: BufferSpec, pointer: int, slots: int) -> tuple[int, int] | None:
    """The address and the size of the last offset; None if there are no slots."""
    width = offsets.dtype.itemsize
    return (pointer + slots * width, width) if slots else None


def _last_offset(offsets: BufferSpec, pointer: int, slots: int, source: HostStructure) -> int:
    place = last_offset_at(offsets, pointer, slots)
    if place is None:
        return 0
    last = int.from_bytes(source.bytes_at(*place), sys.byteorder, signed=True)
    if last < 0:
        raise InvalidArrowError(f"the last offset is {last}")
    return last


def sizes_at(pointers: Sequence[int]) -> tuple[int, int] | None:
    """The address and the size in bytes of the list of a view's data buffer sizes; None if it has none."""
    count = len(pointers) - 1
    if not count:
        return None
    if not pointers[-1]:
        raise InvalidArrowError("the buffer of data buffer sizes is a NULL pointer")
    return pointers[-1], count * abi.WORD


def _read_variadic(pointers: Sequence[int], source: HostStructure) -> list[Buffer]:
    place = sizes_at(pointers)
    if place is None:
        return []
    sizes = array("q", source.bytes_at(*place))
    if min(sizes) < 0:
        raise InvalidArrowError(f"a data buffer has {min(sizes)} bytes")
    pairs = zip(pointers, sizes, strict=False)
    return [_read_buffer(Role.BYTES, pointer, size, source) for pointer, size in pairs]
