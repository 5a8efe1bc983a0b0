"""Arrays, batches and streams from objects of other libraries, by their PyCapsule methods.

Device methods are tried first. They leave the bytes on their device; the other methods of a device
library copy to the host.

PyCapsule interface: "Export Protocol", "Device Support".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from colkern.arrays import Array, ChunkedArray, RecordBatch, RecordBatchStream, Table
from colkern.arrays.array import empty_array
from colkern.interchange import abi
from colkern.interchange.arrays import HostStructure, read_array, read_batch
from colkern.interchange.device_arrays import device_structure
from colkern.interchange.schemas import field_in, schema_of
from colkern.interchange.streams import Consumer
from colkern.schema import Field, Struct


def import_array(obj: object) -> Array:
    """The array of an object with `__arrow_c_device_array__` or `__arrow_c_array__`; nothing is copied.

    A record batch comes as a struct array. An object that has only `__arrow_c_device_stream__` or
    `__arrow_c_stream__` (a chunked array, a column of a data frame) is accepted if its stream holds at
    most one array.

    On a device, the caller's current stream is made to wait for the producer; for strings, their number
    of bytes is copied to the host, which waits. Keep the array until all work that uses it has ended:
    after that, the producer may reuse the memory on a stream of its own.

    Raises:
        TypeError: If the object has none of these methods.
        ValueError: If the stream holds more than one array.
        InvalidArrowError: If a structure breaks a rule of the C Data interface. Sizes and counts are
            checked; rules that only the bytes can show are left to `Array.validate`.
        UnsupportedError: If a format string, or the kind of device, is unknown.
        DeviceUnavailableError: If the bytes are on a CUDA device, and this process has none.
    """
    field, source = _only_structure(obj)
    return empty_array(field.type) if source is None else read_array(source)


def import_batch(obj: object) -> RecordBatch:
    """The record batch of an object that exports an array of structs; otherwise as `import_array`.

    A column is read, and checked as `import_array` does, when it is first asked for.

    Raises:
        TypeError: Also if the object is an array, but not of structs.
        InvalidArrowError: Also if whole rows are null, which a batch cannot express.
    """
    field, source = _only_structure(obj)
    schema = schema_of(field)
    if source is None:
        return RecordBatch(schema, [empty_array(data_type) for data_type in schema.types], 0)
    return read_batch(source, schema)


def import_stream(obj: object) -> RecordBatchStream:
    """The record batches of an object with `__arrow_c_device_stream__` or `__arrow_c_stream__`.

    Each batch is read when it is asked for. The producer's stream is released at its end, after an
    error, or once nothing refers to the result; batches stay valid. Only one thread at a time may read.

    Raises:
        TypeError: If the object has no such method, or its stream is not one of structs.
        StreamError: If the producer reports an error, here or while batches are read.
        InvalidArrowError, UnsupportedError, DeviceUnavailableError: As `import_batch`, here or while
            batches are read.
    """
    field, structures = _structures(obj)
    schema = schema_of(field)
    return RecordBatchStream(schema, (read_batch(one, schema) for one in structures))


def import_columns(obj: object) -> Array | ChunkedArray | RecordBatch | Table:
    """A column or a table, whichever an object exports; nothing is copied.

    A stream of structs that are not nullable is a table, since all libraries export tables like this.
    Any other stream is an array if it holds just one, else a chunked array. Otherwise as
    `import_array`.
    """
    if hasattr(obj, "__arrow_c_device_array__") or hasattr(obj, "__arrow_c_array__"):
        field, source = _only_structure(obj)
        assert source is not None
        return read_batch(source, schema_of(field)) if _is_table(field) else read_array(source)
    field, structures = _structures(obj)
    if _is_table(field):
        schema = schema_of(field)
        return Table([read_batch(one, schema) for one in structures], schema)
    chunks = [read_array(source) for source in structures]
    return chunks[0] if len(chunks) == 1 else ChunkedArray(chunks, field.type)


def _is_table(field: Field) -> bool:
    return isinstance(field.type, Struct) and not field.nullable


def _only_structure(obj: object) -> tuple[Field, HostStructure | None]:
    """The field and the only array of an object; None for the array if the stream is empty."""
    device_method = getattr(obj, "__arrow_c_device_array__", None)
    if device_method is not None:
        schema_capsule, capsule = device_method()
        field = field_in(schema_capsule)
        return field, device_structure(
            field, abi.Imported.from_capsule(abi.DeviceArrayStruct, capsule)
        )
    method = getattr(obj, "__arrow_c_array__", None)
    if method is not None:
        schema_capsule, capsule = method()
        field = field_in(schema_capsule)
        return field, HostStructure(field, abi.Imported.from_capsule(abi.ArrayStruct, capsule))
    field, structures = _structures(obj)
    sources = list(structures)
    if len(sources) > 1:
        raise ValueError(
            f"obj: a stream of {len(sources)} arrays where one is expected; join them first, by "
            f"`combine_chunks()` of pyarrow or `rechunk()` of polars"
        )
    return field, sources[0] if sources else None


def _structures(obj: object) -> tuple[Field, Iterator[HostStructure]]:
    """The field of an object's arrays, and the arrays, each read when it is asked for."""
    device_method = getattr(obj, "__arrow_c_device_stream__", None)
    if device_method is not None:
        stream = abi.Imported.from_capsule(abi.DeviceStreamStruct, device_method())
        # Checked first, before a batch is made in vain.
        abi.require_known_type(abi.struct_at(abi.DeviceStreamStruct, stream.address).device_type)
        consumer = Consumer(stream, abi.DeviceStreamStruct, abi.DeviceArrayStruct)
        field = consumer.field()
        return field, (device_structure(field, owner) for owner in consumer.structures())
    method = getattr(obj, "__arrow_c_stream__", None)
    if method is None:
        raise TypeError(
            f"obj: {type(obj).__qualname__} has no method of the Arrow PyCapsule interface"
        )
    stream = abi.Imported.from_capsule(abi.StreamStruct, _stream_capsule(obj, method))
    consumer = Consumer(stream, abi.StreamStruct, abi.ArrayStruct)
    field = consumer.field()
    return field, (HostStructure(field, owner) for owner in consumer.structures())


def _stream_capsule(obj: object, method: Callable[[], object]) -> object:
    """The capsule of `__arrow_c_stream__`."""
    # pandas converts its columns in this call; a column of objects of several classes has no type.
    try:
        return method()
    except (TypeError, ValueError) as error:
        if type(error).__module__.partition(".")[0] != "pyarrow":
            raise
        reason = "; ".join(map(str, reversed(error.args)))
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"obj: {type(obj).__qualname__} cannot be exported as Arrow: {reason}. Values of a column must "
            "be of one type: convert them first, or pass them as a list, with a type"
        ) from None
