"""Writing Tensor and SparseTensor messages.

Metadata and all buffers of the body end at a multiple of 64 bytes from the message's start. So
consecutive messages stay aligned, and so do their buffers in a mapped file.

Format: "Tensor (Multi-dimensional Array) Message Format"; `Tensor.fbs`, `SparseTensor.fbs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from colkern.closing import OnFailure
from colkern.ipc.enums import MessageHeader, SparseTensorIndex
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.tensors.dense import Numbers, Tensor, row_major, type_of
from colkern.ipc.tensors.reading import AnyTensor
from colkern.ipc.tensors.sparse import CompressedMatrix, Sparse, SparseCOOTensor, SparseCSFTensor
from colkern.ipc.wire import BUFFER
from colkern.ipc.writing.messages import Body, Message, write_message
from colkern.ipc.writing.schemas import type_to_wire
from colkern.ipc.writing.sinks import sink_of
from colkern.memory import ALIGNMENT


def write_tensor(tensor: AnyTensor | Numbers, sink: object) -> int:
    """Write one message with a tensor; further calls on an open file append more messages.

    If the position of a file object is no multiple of 64 bytes, zeros are written first, so that the
    message begins at one. `read_tensor` skips them; Arrow C++ has to be started at the message.

    Numbers are copied only if an array is neither in row-major nor in column-major order, or not
    little-endian.

    Args:
        tensor: A NumPy array of integers or floats, a `Tensor`, or one of the sparse ones.
        sink: A path, whose file is replaced once the message is complete; a binary file object or a
            socket (not closed).

    Returns:
        The number of bytes written: a multiple of 64, plus the zeros in front.

    Raises:
        TypeError: If `tensor` is none of these or its numbers are of another kind, or if `sink` is
            none of the kinds above.
        OSError: If the sink cannot be opened or written to.
    """
    if isinstance(tensor, np.ndarray):
        tensor = Tensor(tensor)
    body = Body(ALIGNMENT)
    kind, header = _header(tensor, body)
    padding = bytes(-_position(sink) % ALIGNMENT)
    opened = sink_of(sink)
    with OnFailure(opened.abandon):
        opened.write([padding])
        # Positions are counted from the beginning of the message.
        opened.position = 0
        write_message(opened, Message(kind, header, body), ALIGNMENT)
    opened.commit()
    return len(padding) + opened.position


@singledispatch
def _header(tensor: object, body: Body) -> tuple[int, Record]:
    """The kind and the table of a tensor's message; its buffers are added to the body."""
    raise TypeError(f"tensor: expected a NumPy array or a tensor, got {type(tensor).__name__}")


def _position(sink: object) -> int:
    """The position of a file object; 0 if it is unknown."""
    try:
        position: int = sink.tell()  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return 0
    return position


def _add(array: Numbers, body: Body) -> tuple[int, int]:
    """Add an array to the body, its bytes as they are in memory; returns its offset and its size."""
    packed = _packed(array)
    little = packed.astype(packed.dtype.newbyteorder("<"), order="K", copy=False)
    return body.add([little.ravel(order="K").view(np.uint8).data])


def _index_type(array: Numbers) -> Record:
    parameters: Record = type_to_wire(type_of(array))["type"]
    return parameters


def _dimensions(shape: tuple[int, ...], names: tuple[str, ...] | None) -> list[Record]:
    return [
        {"size": size, "name": name}
        for size, name in zip(shape, names or [None] * len(shape), strict=True)
    ]


def _packed(array: Numbers) -> Numbers:
    """An array without gaps: itself, if it is in row-major or column-major order."""
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return array
    return np.ascontiguousarray(array)


def _strides(packed: Numbers) -> tuple[int, ...]:
    shape, itemsize = packed.shape, packed.dtype.itemsize
    if packed.flags.c_contiguous:
        return row_major(shape, itemsize)
    return row_major(shape[::-1], itemsize)[::-1]


@_header.register
def _dense(tensor: Tensor, body: Body) -> tuple[int, Record]:
    packed = _packed(tensor.values)
    header = {
        **type_to_wire(tensor.type),
        "shape": _dimensions(tensor.shape, tensor.dim_names),
        "strides": _strides(packed),
        "data": _add(packed, body),
    }
    return MessageHeader.Tensor, header


def _sparse(tensor: Sparse, number: int, index: Record, body: Body) -> tuple[int, Record]:
    header = {
        **type_to_wire(tensor.type),
        "shape": _dimensions(tensor.shape, tensor.dim_names),
        "non_zero_length": tensor.non_zero_length,
        "sparseIndex_type": number,
        "sparseIndex": index,
        "data": _add(tensor.data, body),
    }
    return MessageHeader.SparseTensor, header


@_header.register
def _coordinates(tensor: SparseCOOTensor, body: Body) -> tuple[int, Record]:
    coords = _packed(tensor.coords)
    index = {
        "indicesType": _index_type(coords),
        "indicesStrides": _strides(coords),
        "indicesBuffer": _add(coords, body),
        "isCanonical": tensor.has_canonical_format,
    }
    return _sparse(tensor, SparseTensorIndex.SparseTensorIndexCOO, index, body)


@_header.register
def _compressed(tensor: CompressedMatrix, body: Body) -> tuple[int, Record]:
    index = {
        "compressedAxis": tensor.axis,
        "indptrType": _index_type(tensor.indptr),
        "indptrBuffer": _add(tensor.indptr, body),
        "indicesType": _index_type(tensor.indices),
        "indicesBuffer": _add(tensor.indices, body),
    }
    return _sparse(tensor, SparseTensorIndex.SparseMatrixIndexCSX, index, body)


@_header.register
def _fibres(tensor: SparseCSFTensor, body: Body) -> tuple[int, Record]:
    # With one dimension there are only leaves, and no pointers that would tell the type.
    pointers = tensor.indptr or (np.zeros(0, np.int64),)
    index = {
        "indptrType": _index_type(pointers[0]),
        "indptrBuffers": _level_places(tensor.indptr, body),
        "indicesType": _index_type(tensor.indices[0]),
        "indicesBuffers": _level_places(tensor.indices, body),
        "axisOrder": tensor.axis_order,
    }
    return _sparse(tensor, SparseTensorIndex.SparseTensorIndexCSF, index, body)


def _level_places(levels: Sequence[Numbers], body: Body) -> Numbers:
    # The format says that the length counts bytes. Arrow C++, which defined CSF, writes and reads
    # the number of items, and takes bytes for a larger tensor. Colkern writes items, and reads
    # both.
    return np.array([(_add(level, body)[0], level.size) for level in levels], BUFFER)
