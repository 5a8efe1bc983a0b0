"""Streams of record batches as `ArrowArrayStream` structures, both ways; batches are not copied.

C Stream interface: "Structure definition", "Thread safety", "Error handling".
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from colkern.arrays import RecordBatchStream
from colkern.errors import InvalidArrowError, StreamError
from colkern.interchange.abi import (
    ArrayStruct,
    Imported,
    SchemaStruct,
    StreamStruct,
    StructClass,
    address_of,
    struct_at,
    struct_bytes,
)
from colkern.interchange.arrays import move_batch_to, read_batch
from colkern.interchange.exported import Export
from colkern.interchange.schemas import move_schema_to, read_field, schema_of
from colkern.schema import Field, Schema, same_type

_FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_TEXT = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


# Export


def export_stream(stream: RecordBatchStream, requested_schema: Any = None) -> Any:
    """A capsule named `arrow_array_stream`, which consumes the stream as the consumer asks.

    An exception while a batch is made becomes an error code, with the exception's text for
    `get_last_error`. `requested_schema` is not looked at: batches keep the types that they have.
    """
    export = Export(StreamStruct)
    words = array("q", (_GET_SCHEMA, _GET_NEXT, _GET_LAST_ERROR, export.release, 0))
    export.anchor(words, _Producer(stream))
    return export.into_capsule(words)


class _Producer:
    """What the functions of an exported stream work on."""

    def __init__(self, stream: RecordBatchStream) -> None:
        self.stream = stream
        self._error: ctypes.Array[ctypes.c_char] | None = None

    def fill_schema(self, out: int) -> None:
        move_schema_to(self.stream.schema, out)

    def fill_next(self, out: int) -> None:
        batch = next(self.stream, None)
        if batch is None:
            # A released structure is the end of the stream.
            ctypes.memset(out, 0, struct_bytes(ArrayStruct))
        else:
            _check_types(batch.schema, self.stream.schema)
            move_batch_to(batch, out)

    def attempt(self, step: Callable[[int], None], out: int) -> int:
        """0, or an error number whose text `error_text` has from then on."""
        self._error = None
        try:
            step(out)
        # All, as nothing passes through C: not even the interrupt of a user who waits.
        except BaseException as error:  # noqa: BLE001
            text = f"{type(error).__name__}: {error}".replace("\0", "?")
            self._error = ctypes.create_string_buffer(text.encode(errors="replace"))
            return _error_number(error)
        return 0

    def error_text(self) -> int | None:
        return None if self._error is None else ctypes.addressof(self._error)


def _check_types(schema: Schema, promised: Schema) -> None:
    """The consumer knows the stream's schema alone, and reads all bytes by it."""
    if schema is promised:
        return
    types, expected = schema.types, promised.types
    if len(types) != len(expected) or not all(map(same_type, types, expected)):
        found, declared = (", ".join(map(str, each)) for each in (schema, promised))
        raise InvalidArrowError(f"batch of {found} in a stream of {declared}")


def _error_number(error: BaseException) -> int:
    for cls, number in _ERROR_NUMBERS.items():
        if isinstance(error, cls):
            return number
    return (error.errno if isinstance(error, OSError) else None) or errno.EIO


_ERROR_NUMBERS: dict[type[BaseException], int] = {
    MemoryError: errno.ENOMEM,
    NotImplementedError: errno.ENOSYS,
    ValueError: errno.EINVAL,
    TypeError: errno.EINVAL,
    KeyboardInterrupt: errno.EINTR,
}


def _producer(stream: int) -> _Producer:
    private_data = struct_at(StreamStruct, stream).private_data
    _, producer = ctypes.cast(private_data, ctypes.py_object).value
    assert isinstance(producer, _Producer)
    return producer


def _get_schema(stream: int, out: int) -> int:
    producer = _producer(stream)
    return producer.attempt(producer.fill_schema, out)


def _get_next(stream: int, out: int) -> int:
    producer = _producer(stream)
    return producer.attempt(producer.fill_next, out)


def _get_last_error(stream: int) -> int | None:
    return _producer(stream).error_text()


def _for_ever(callback: Any) -> int:
    """The address of a C callback that outlives this module, as exported streams may."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    return address


_GET_SCHEMA = _for_ever(_FILL(_get_schema))
_GET_NEXT = _for_ever(_FILL(_get_next))
_GET_LAST_ERROR = _for_ever(_TEXT(_get_last_error))


# Import


def import_stream(obj: Any) -> RecordBatchStream:
    """The record batches of an object with `__arrow_c_stream__`, pulled one by one when asked for.

    The producer's stream is released at its end, after an error, or when the result is garbage;
    batches live longer if they are used longer. One thread at a time may pull.

    Raises:
        TypeError: If the object has no such method, or its stream is not one of structs.
        StreamError: Here and while batches are pulled: what the producer reports.
        InvalidArrowError, UnsupportedError: Here and while batches are pulled: as `import_batch`.
    """
    consumer = _consumer(obj)
    field = consumer.field()
    batches = (read_batch(field, owner) for owner in consumer.structures())
    return RecordBatchStream(schema_of(field), batches)


def import_only_structure(obj: Any) -> tuple[Field, Imported | None]:
    """The field of a stream of any type, and its structure if it has one; `ValueError` for more."""
    consumer = _consumer(obj)
    field = consumer.field()
    found = list(consumer.structures())
    if len(found) > 1:
        raise ValueError(
            f"obj: a stream of {len(found)} arrays where one is expected; join them first, by "
            f"`combine_chunks()` of pyarrow or `rechunk()` of polars"
        )
    return field, found[0] if found else None


def _consumer(obj: Any) -> _Consumer:
    method = getattr(obj, "__arrow_c_stream__", None)
    if method is None:
        raise TypeError(
            f"obj: {type(obj).__qualname__} has no method of the Arrow PyCapsule interface"
        )
    return _Consumer(Imported.from_capsule(StreamStruct, method()))


class _Consumer:
    """The functions of an imported stream."""

    def __init__(self, stream: Imported) -> None:
        self._stream = stream
        functions = struct_at(StreamStruct, stream.address)
        self._get_schema = _FILL(functions.get_schema)
        self._get_next = _FILL(functions.get_next)
        self._get_last_error = _TEXT(functions.get_last_error)

    def field(self) -> Field:
        words = self._fill(self._get_schema, SchemaStruct)
        schema = Imported(SchemaStruct, address_of(words))
        return read_field(schema.address)

    def structures(self) -> Iterator[Imported]:
        with contextlib.closing(self._stream):
            while True:
                words = self._fill(self._get_next, ArrayStruct)
                if not struct_at(ArrayStruct, address_of(words)).release:
                    return
                yield Imported(ArrayStruct, address_of(words))

    def _fill(self, function: Any, kind: StructClass) -> array[int]:
        words = array("q", bytes(struct_bytes(kind)))
        number = function(self._stream.address, address_of(words))
        if number:
            text = self._get_last_error(self._stream.address)
            message = ctypes.string_at(text).decode(errors="replace") if text else "no error text"
            raise StreamError(number, message)
        return words
