"""Streams of record batches as `ArrowArrayStream` structures, both ways; batches are not copied.

`colkern.interchange.device_arrays` does the same for `ArrowDeviceArrayStream`, using this module.

C Stream interface: "Structure definition", "Thread safety", "Error handling".
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from colkern.arrays import ChunkedArray, RecordBatchStream
from colkern.errors import InvalidArrowError, StreamError
from colkern.interchange import abi
from colkern.interchange.arrays import move_part_to
from colkern.interchange.native import Export
from colkern.interchange.schemas import move_schema_to, read_field
from colkern.schema import DataType, Field, Schema, same_type

ArrayKind = type[abi.ArrayStruct] | type[abi.DeviceArrayStruct]
StreamKind = type[abi.StreamStruct] | type[abi.DeviceStreamStruct]

_FILL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_TEXT = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


# Export


def export_stream(stream: RecordBatchStream, requested_schema: object = None) -> object:
    """A capsule named `arrow_array_stream`; the stream is consumed as the consumer asks for batches.

    An exception while a batch is made becomes an error code, and `get_last_error` gives its text.
    `requested_schema` is ignored: batches keep the types that they have.
    """
    return _stream_capsule(Producer(stream.schema, stream, abi.ArrayStruct, move_part_to))


def export_chunks(column: ChunkedArray, requested_schema: object = None) -> object:
    """A capsule like that of `export_stream`, for the chunks of a column; nothing is copied."""
    return _stream_capsule(
        Producer(column.type, iter(column.chunks), abi.ArrayStruct, move_part_to)
    )


def _stream_capsule(producer: Producer) -> object:
    export = Export(abi.StreamStruct)
    words = array("q", (*_FUNCTIONS, export.release, 0))
    export.anchor(words, producer)
    return export.into_capsule(words)


@dataclass(eq=False)
class Producer:
    """The state of an exported stream, which its C functions use."""

    schema: Schema | DataType
    parts: Iterator[Any]
    kind: ArrayKind
    move_part: Callable[[Any, int], None]
    error: ctypes.Array[ctypes.c_char] | None = None

    def fill_schema(self, out: int) -> None:
        """Write the schema to the consumer's structure."""
        move_schema_to(self.schema, out)

    def fill_next(self, out: int) -> None:
        """Write the next batch to the consumer's structure, or mark the end of the stream."""
        part = next(self.parts, None)
        if part is None:
            # A released structure marks the end of the stream.
            ctypes.memset(out, 0, abi.struct_bytes(self.kind))
        else:
            if isinstance(self.schema, Schema):
                _check_types(part.schema, self.schema)
            self.move_part(part, out)

    def attempt(self, step: Callable[[int], None], out: int) -> int:
        """Run a step; returns 0, or an error number, for which `error_text` then has the text."""
        self.error = None
        try:
            step(out)
        # Every exception is caught, also a user's interrupt, since none can pass through C.
        except BaseException as error:  # noqa: BLE001
            text = f"{type(error).__name__}: {error}".replace("\0", "?")
            self.error = ctypes.create_string_buffer(text.encode(errors="replace"))
            for cls, number in _ERROR_NUMBERS.items():
                if isinstance(error, cls):
                    return number
            return (error.errno if isinstance(error, OSError) else None) or errno.EIO
        return 0

    def error_text(self) -> int | None:
        """The address of the text of the last error; None if there was none."""
        return None if self.error is None else ctypes.addressof(self.error)


def _check_types(schema: Schema, promised: Schema) -> None:
    """Raise `InvalidArrowError` unless types are as promised: the consumer reads all bytes by them."""
    if schema is promised:
        return
    types, expected = schema.types, promised.types
    if len(types) != len(expected) or not all(map(same_type, types, expected)):
        actual, declared = (", ".join(map(str, each)) for each in (schema, promised))
        raise InvalidArrowError(f"batch of {actual} in a stream of {declared}")


_ERROR_NUMBERS: dict[type[BaseException], int] = {
    MemoryError: errno.ENOMEM,
    NotImplementedError: errno.ENOSYS,
    ValueError: errno.EINVAL,
    TypeError: errno.EINVAL,
    KeyboardInterrupt: errno.EINTR,
}


def functions_of(kind: StreamKind) -> tuple[int, int, int]:
    """The addresses of `get_schema`, `get_next` and `get_last_error` of exported streams."""

    def producer_of(stream: int) -> Producer:
        private_data = abi.struct_at(kind, stream).private_data
        _, producer = ctypes.cast(private_data, ctypes.py_object).value
        assert isinstance(producer, Producer)
        return producer

    def get_schema(stream: int, out: int) -> int:
        producer = producer_of(stream)
        return producer.attempt(producer.fill_schema, out)

    def get_next(stream: int, out: int) -> int:
        producer = producer_of(stream)
        return producer.attempt(producer.fill_next, out)

    def get_last_error(stream: int) -> int | None:
        return producer_of(stream).error_text()

    return (
        _for_ever(_FILL(get_schema)),
        _for_ever(_FILL(get_next)),
        _for_ever(_TEXT(get_last_error)),
    )


def _for_ever(callback: Any) -> int:
    """The address of a C callback that is never freed: exported streams may outlive this module."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    return address


_FUNCTIONS = functions_of(abi.StreamStruct)


# Import


class Consumer:
    """An imported stream. It is released at its end, after an error, or once nothing refers to it."""

    def __init__(self, stream: abi.Imported, kind: StreamKind, array_kind: ArrayKind) -> None:
        self._stream = stream
        self._array_kind = array_kind
        functions = abi.struct_at(kind, stream.address)
        self._get_schema = _FILL(functions.get_schema)
        self._get_next = _FILL(functions.get_next)
        self._get_last_error = _TEXT(functions.get_last_error)

    def field(self) -> Field:
        """The field of the stream's arrays; raises `StreamError` with the text of the producer."""
        words = self._fill(self._get_schema, abi.SchemaStruct)
        schema = abi.Imported(abi.SchemaStruct, abi.address_of(words))
        return read_field(schema.address)

    def structures(self) -> Iterator[abi.Imported]:
        """The arrays, each read when it is asked for; raises like `field`."""
        with contextlib.closing(self._stream):
            while True:
                words = self._fill(self._get_next, self._array_kind)
                if not abi.struct_at(self._array_kind, abi.address_of(words)).release:
                    return
                yield abi.Imported(self._array_kind, abi.address_of(words))

    def _fill(self, function: Any, kind: abi.StructClass) -> array[int]:
        words = array("q", bytes(abi.struct_bytes(kind)))
        number = function(self._stream.address, abi.address_of(words))
        if number:
            text = self._get_last_error(self._stream.address)
            message = ctypes.string_at(text).decode(errors="replace") if text else "no error text"
            raise StreamError(number, message)
        return words
