"""Streams of record batches as `ArrowDeviceArrayStream` structures; batches are not copied.

C Device data interface: "Device Stream Interface".
"""

from __future__ import annotations

from array import array
from itertools import chain

from colkern.arrays import RecordBatch, RecordBatchStream
from colkern.errors import UnsupportedError
from colkern.interchange.abi import DeviceArrayStruct, DeviceStreamStruct
from colkern.interchange.device_arrays import (
    device_of_batch,
    move_device_batch_to,
    require_no_keywords,
)
from colkern.interchange.device_types import type_of_device
from colkern.interchange.exported import Export
from colkern.interchange.streams import Producer, functions_of
from colkern.memory import HOST, Device

_FUNCTIONS = functions_of(DeviceStreamStruct)


def export_device_stream(
    stream: RecordBatchStream, requested_schema: object = None, /, **kwargs: object
) -> object:
    """A capsule named `arrow_device_array_stream`, which consumes the stream as the consumer asks.

    The structure says on which kind of device all batches are. If the stream does not know, its first
    batch is made now.

    Args:
        stream: The stream.
        requested_schema: Not looked at, as by `export_stream`.
        kwargs: None of them is known; None is taken.

    Raises:
        UnsupportedError: If a keyword has a value.

    and what the stream raises while its first batch is made now. Errors of later ones reach the consumer as
    those of `export_stream` do, also one of another kind of device.
    """
    require_no_keywords(kwargs)
    rest, device = (stream, stream.device) if stream.device else _looked_into(stream)

    def move_batch(batch: RecordBatch, address: int) -> None:
        move_device_batch_to(batch, _device_in_stream(batch, device), address)

    export = Export(DeviceStreamStruct)
    device_type, _ = type_of_device(device)
    words = array("q", (device_type, *_FUNCTIONS, export.release, 0))
    export.anchor(words, Producer(rest.schema, rest, DeviceArrayStruct, move_batch))
    return export.into_capsule(words)


def _looked_into(stream: RecordBatchStream) -> tuple[RecordBatchStream, Device]:
    """The same batches, and where the first one is."""
    first = next(stream, None)
    if first is None:
        return stream, HOST
    return RecordBatchStream(stream.schema, chain((first,), stream)), device_of_batch(first)


def _device_in_stream(batch: RecordBatch, promised: Device) -> Device:
    """The device of a batch; only its number may change within a stream."""
    device = device_of_batch(batch)
    if device == HOST:
        # Perhaps it has no bytes.
        return promised
    if promised == HOST:
        raise UnsupportedError(f"a batch on {device} in a stream of batches on {promised}")
    return device
