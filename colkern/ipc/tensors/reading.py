"""Reading Tensor and SparseTensor messages.

Format: "Tensor (Multi-dimensional Array) Message Format"; `Tensor.fbs`, `SparseTensor.fbs`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from math import prod

import numpy as np
from numpy.typing import NDArray

from colkern.errors import InvalidArrowError, LimitExceededError, placed
from colkern.ipc.enums import MessageHeader, SparseMatrixCompressedAxis, SparseTensorIndex, Type
from colkern.ipc.flatbuffer.tables import Record
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.messages import HEADER_NAMES, Message, MessageStream
from colkern.ipc.reading.schemas import data_type_from_wire
from colkern.ipc.reading.sources import Body, Source, open_sequential
from colkern.ipc.tensors.dense import (
    Numbers,
    Tensor,
    check_shape,
    dtype_of,
    is_addressable,
    row_major,
)
from colkern.ipc.tensors.sparse import (
    SparseCOOTensor,
    SparseCSCMatrix,
    SparseCSFTensor,
    SparseCSRMatrix,
    check_levels,
)
from colkern.memory import Buffer, DType, allocate

AnyTensor = Tensor | SparseCOOTensor | SparseCSRMatrix | SparseCSCMatrix | SparseCSFTensor
"""The contents of a tensor message."""


def read_tensor(
    source: Source, *, memory_map: bool = True, limits: Limits = DEFAULT_LIMITS
) -> AnyTensor:
    """The tensor of the next message of a source; its index has been checked.

    Zeros in front of the message, up to 63, are passed by.

    Args:
        source: As `colkern.ipc.open` takes it. Of a file object, pipe or socket no byte behind the
            message is taken, so that a further call reads the next message.
        memory_map: Whether a file at a path is mapped into memory; see `colkern.ipc.open`.
        limits: The limits on untrusted input. Tensors whose numbers share bytes
            (strides of zero) count against `Limits.unbacked_length`.

    Returns:
        A `Tensor` or one of the sparse ones, over the bytes of a mapped file or bytes-like object:
        numbers are copied only where they start at a byte that is no multiple of their width.

    Raises:
        InvalidArrowError: If there is no message, it has no tensor, or breaks a rule: a shape that is
            negative or larger than the body, an index that leads out of the tensor.
        UnsupportedError: If the tensor has values other than integers and floats, or more than 64
            dimensions.
        LimitExceededError: If it is over the limits.
        OSError: If the source cannot be opened or read.
        TypeError: If `source` is none of the kinds above.
    """
    with closing(read_tensors(source, memory_map=memory_map, limits=limits)) as tensors:
        for tensor in tensors:
            return tensor
    raise InvalidArrowError("the source ends before a tensor")


def read_tensors(
    source: Source, *, memory_map: bool = True, limits: Limits = DEFAULT_LIMITS
) -> Generator[AnyTensor, None, None]:
    """The tensors of a source's messages, up to its end, each read when it is asked for.

    Arguments and errors are those of `read_tensor`, but a source without a message has no tensors.
    """
    messages, close = open_sequential(source, mapped=memory_map)
    try:
        stream = MessageStream(messages, limits, padded=True)
        while (message := stream.next()) is not None:
            with placed(message.place):
                yield _tensor_of(message, limits)
    finally:
        close()


def _tensor_of(message: Message, limits: Limits) -> AnyTensor:
    if message.kind == MessageHeader.Tensor:
        return _dense(message.header, message.body, limits)
    if message.kind == MessageHeader.SparseTensor:
        return _sparse(message.header, message.body, limits)
    raise InvalidArrowError(f"found a {HEADER_NAMES[message.kind]}, expected a tensor")


def _dense(header: Record, body: Body, limits: Limits) -> Tensor:
    shape, names = _dimensions(header)
    data = body.read(*header["data"])
    dtype = _dtype(header["type_type"], header["type"])
    return Tensor(strided(data, dtype, shape, header["strides"], limits, "tensor"), names)


def _dimensions(header: Record) -> tuple[tuple[int, ...], tuple[str, ...] | None]:
    """The shape, and the names if any dimension has one."""
    shape = tuple(entry["size"] for entry in header["shape"])
    check_shape(shape)
    names = tuple(entry["name"] or "" for entry in header["shape"])
    return shape, names if any(names) else None


def _dtype(number: int, parameters: Record | None) -> DType:
    return dtype_of(data_type_from_wire(number, parameters))


def strided(
    data: Buffer,
    dtype: DType,
    shape: tuple[int, ...],
    strides: NDArray[np.int64] | None,
    limits: Limits,
    what: str,
) -> Numbers:
    """The numbers of a buffer as an array; not copied, unless they are misaligned. Strides are bytes."""
    steps = row_major(shape, dtype.itemsize) if strides is None else tuple(strides.tolist())
    if len(steps) != len(shape):
        raise InvalidArrowError(f"{what}: {len(steps)} strides for {len(shape)} dimensions")
    if any(step < 0 for step in steps):
        raise InvalidArrowError(f"{what}: strides {steps}; they are not negative")
    if not is_addressable(shape, dtype.itemsize):
        raise InvalidArrowError(f"{what}: shape {shape} has more bytes than 64 bits count")
    if 0 in shape:
        return np.empty(shape, dtype)
    reach = dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if reach > data.size:
        raise InvalidArrowError(
            f"{what}: shape {shape} with strides {steps} reaches over {reach} bytes; "
            f"there are {data.size}"
        )
    count = prod(shape)
    if count * dtype.itemsize > data.size and count > limits.unbacked_length:
        raise LimitExceededError(
            f"{what}: {count} numbers that share {data.size} bytes; "
            "raise Limits.unbacked_length to read them"
        )
    # A dimension of one element has neighbours nowhere; NumPy looks at its stride all the same.
    steps = tuple(step if n > 1 else 0 for n, step in zip(shape, steps, strict=True))
    return np.ndarray(shape, dtype, _aligned(data, dtype.itemsize).array, 0, steps)


def _aligned(data: Buffer, itemsize: int) -> Buffer:
    if data.address % itemsize == 0:
        return data
    copy = allocate(data.size, np.uint8)
    copy[:] = data.array
    return Buffer(copy)


def _sparse(header: Record, body: Body, limits: Limits) -> AnyTensor:
    shape, names = _dimensions(header)
    count = header["non_zero_length"]
    if count < 0:
        raise InvalidArrowError(f"{count} values")
    index = header["sparseIndex"]
    if index is None:
        raise InvalidArrowError(f"sparse index of type {header['sparseIndex_type']}")
    dtype = _dtype(header["type_type"], header["type"])
    data = _items(body, header["data"], dtype, count, "values")
    return _INDEXES[header["sparseIndex_type"]](index, body, data, shape, names, limits)


def _items(body: Body, place: tuple[int, int], dtype: DType, count: int, what: str) -> Numbers:
    """The first `count` numbers of a buffer."""
    buffer = body.read(*place)
    if count * dtype.itemsize > buffer.size:
        raise InvalidArrowError(f"{what}: {count} of {dtype} in a buffer of {buffer.size} bytes")
    return buffer.view(dtype, count)


Shape = tuple[int, ...]
Names = tuple[str, ...] | None


def _coordinates(
    index: Record, body: Body, data: Numbers, shape: Shape, names: Names, limits: Limits
) -> SparseCOOTensor:
    coords = strided(
        body.read(*index["indicesBuffer"]),
        _dtype(Type.Int, index["indicesType"]),
        (data.size, len(shape)),
        index["indicesStrides"],
        limits,
        "coordinates",
    )
    return SparseCOOTensor(data, coords, shape, names, index["isCanonical"])


_COMPRESSED: dict[int, type[SparseCSRMatrix | SparseCSCMatrix]] = {
    SparseMatrixCompressedAxis.Row: SparseCSRMatrix,
    SparseMatrixCompressedAxis.Column: SparseCSCMatrix,
}


def _compressed(
    index: Record, body: Body, data: Numbers, shape: Shape, names: Names, limits: Limits
) -> SparseCSRMatrix | SparseCSCMatrix:
    matrix = _COMPRESSED.get(index["compressedAxis"])
    if matrix is None:
        raise InvalidArrowError(f"compressed axis {index['compressedAxis']}; there are 0 and 1")
    if len(shape) != 2:
        raise InvalidArrowError(f"a sparse matrix of shape {shape}")
    pointer = _dtype(Type.Int, index["indptrType"])
    lines = shape[matrix.axis]
    indptr = _items(body, index["indptrBuffer"], pointer, lines + 1, "indptr")
    position = _dtype(Type.Int, index["indicesType"])
    indices = _items(body, index["indicesBuffer"], position, data.size, "indices")
    return matrix(data, indptr, indices, shape, names)


def _fibres(
    index: Record, body: Body, data: Numbers, shape: Shape, names: Names, limits: Limits
) -> SparseCSFTensor:
    axis_order = tuple(index["axisOrder"].tolist())
    pointer_places = index["indptrBuffers"].tolist()
    node_places = index["indicesBuffers"].tolist()
    check_levels(axis_order, len(pointer_places), len(node_places), len(shape))
    pointer = _dtype(Type.Int, index["indptrType"])
    position = _dtype(Type.Int, index["indicesType"])
    counted = _are_counts(pointer_places, node_places, data.size)

    def levels(places: list[tuple[int, int]], dtype: DType, what: str) -> Iterator[Numbers]:
        for level, (begin, length) in enumerate(places):
            count = length if counted else length // dtype.itemsize
            place = begin, count * dtype.itemsize
            yield _items(body, place, dtype, count, f"{what} of level {level}")

    indptr = tuple(levels(pointer_places, pointer, "indptr"))
    indices = tuple(levels(node_places, position, "indices"))
    return SparseCSFTensor(data, indptr, indices, axis_order, shape, names)


def _are_counts(pointers: list[tuple[int, int]], nodes: list[tuple[int, int]], values: int) -> bool:
    """Whether the lengths of buffers are numbers of items, as Arrow C++ has it, or bytes, as the format."""
    # Nodes have one pointer more than there are nodes, and leaves are as many as the values: if both hold
    # for the lengths as they are, they count items.
    return nodes[-1][1] == values and all(
        ends[1] == level[1] + 1 for ends, level in zip(pointers, nodes, strict=False)
    )


_INDEXES: dict[int, Callable[[Record, Body, Numbers, Shape, Names, Limits], AnyTensor]] = {
    SparseTensorIndex.SparseTensorIndexCOO: _coordinates,
    SparseTensorIndex.SparseMatrixIndexCSX: _compressed,
    SparseTensorIndex.SparseTensorIndexCSF: _fibres,
}
