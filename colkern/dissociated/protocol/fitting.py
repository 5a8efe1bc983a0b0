"""Whether a body is the one that its message's metadata describes.

Dissociated IPC protocol: "Data Stream Sequence"; Columnar format 1.5: "RecordBatch message".
"""

from __future__ import annotations

import numpy as np

from colkern.dissociated.body_locations import BodyLocations
from colkern.errors import InvalidArrowError
from colkern.ipc.enums import MessageHeader
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.wire import BUFFER
from colkern.targets import Items

_NO_BUFFERS = np.empty(0, BUFFER)


def has_body(record: Record) -> bool:
    """Whether a tagged message belongs to a `Message`: to record batches and dictionary batches."""
    return record["header_type"] in (MessageHeader.RecordBatch, MessageHeader.DictionaryBatch)


def buffers_of(record: Record) -> Items:
    """Offset and length of each `Buffer` of a record batch or a dictionary batch."""
    header = record["header"]
    if record["header_type"] == MessageHeader.DictionaryBatch:
        header = header["data"] or {"buffers": None}
    buffers: Items | None = header["buffers"]
    return _NO_BUFFERS if buffers is None else buffers


def check_packed(record: Record, size: int, place: str) -> None:
    """Raise `InvalidArrowError` unless a packed body has as many bytes as its metadata says."""
    if size != record["bodyLength"]:
        raise InvalidArrowError(
            f"a body of {size} bytes, the metadata says {record['bodyLength']}", place=place
        )


def check_locations(record: Record, body: BodyLocations, place: str) -> None:
    """Raise unless locations are those of the metadata's buffers, which have room of their own each."""
    # The total is that of all buffers, or, with the padding between them, that of the packed body.
    buffers = buffers_of(record)
    if len(body.buffers) != buffers.size:
        raise InvalidArrowError(
            f"{len(body.buffers)} locations for {buffers.size} buffers", place=place
        )
    for number, (location, length) in enumerate(
        zip(body.buffers, buffers["length"].tolist(), strict=True)
    ):
        if location.length != length:
            raise InvalidArrowError(
                f"location {number} has {location.length} bytes, its buffer {length}", place=place
            )
    stated = sum(location.length for location in body.buffers)
    if body.total not in (stated, record["bodyLength"]):
        raise InvalidArrowError(
            f"a total of {body.total} bytes; the buffers have {stated}, "
            f"the packed body {record['bodyLength']}",
            place=place,
        )
    _check_apart(buffers[buffers["length"] > 0].tolist(), record["bodyLength"], place)


def _check_apart(buffers: list[tuple[int, int]], body_length: int, place: str) -> None:
    end = 0
    for offset, length in buffers:
        if offset < end or length > body_length - offset:
            raise InvalidArrowError(
                f"buffer of {length} bytes at {offset}: buffers with locations follow each other within "
                f"{body_length} bytes",
                place=place,
            )
        end = offset + length
