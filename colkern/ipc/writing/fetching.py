"""Bytes in device memory that are to be written: they are copied through page-locked slots, once.

`colkern.cuda` is imported when the first bytes are on a device.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colkern.memory import HOST, Buffer, Device, allocate_for_overwrite

Chunk: TypeAlias = bytes | memoryview
"""Bytes in host memory."""

_Download = Generator[tuple[int, NDArray[np.uint8]]]


def is_on_device(buffer: Buffer) -> bool:
    """Whether a buffer has bytes in device memory."""
    return buffer.device != HOST and buffer.size > 0


def fetched_chunks(chunks: Sequence[Chunk | Buffer]) -> Generator[Chunk]:
    """Chunks as bytes-like objects; buffers of devices come in parts, directly from page-locked slots."""
    # A part is valid until the next chunk is asked for; meanwhile, the next one is copied. Close
    # the generator to free the slots.
    with _downloads(chunk for chunk in chunks if isinstance(chunk, Buffer)) as downloads:
        for chunk in chunks:
            if isinstance(chunk, Buffer):
                yield from _parts(downloads[chunk.device], chunk.size)
            else:
                yield chunk


def fetched_buffers(buffers: Sequence[Buffer]) -> Generator[tuple[int, Buffer]]:
    """The positions and host copies of buffers, in order; those on devices are copied when asked for."""
    # While one buffer is in use, the next is copied, as far as there are slots. Close the generator
    # to free the slots.
    with _downloads(filter(is_on_device, buffers)) as downloads:
        for position, buffer in enumerate(buffers):
            if is_on_device(buffer):
                parts = _parts(downloads[buffer.device], buffer.size)
                yield position, Buffer(joined(buffer.size, parts))
            else:
                yield position, buffer


def on_host(buffers: Sequence[Buffer]) -> Iterator[Buffer]:
    """Buffers in host memory, in order; those on devices are copied when they are asked for."""
    if any(map(is_on_device, buffers)):
        return (buffer for _, buffer in fetched_buffers(buffers))
    return iter(buffers)


@contextmanager
def _downloads(buffers: Iterable[Buffer]) -> Iterator[dict[Device, _Download]]:
    """For each device, the bytes of its buffers, in order."""
    from colkern.cuda.staging import downloaded

    sources: dict[Device, list[NDArray[np.uint8]]] = {}
    for buffer in buffers:
        sources.setdefault(buffer.device, []).append(buffer.array)
    with ExitStack() as stack:
        yield {
            device: stack.enter_context(closing(downloaded(arrays, device)))
            for device, arrays in sources.items()
        }


def _parts(download: _Download, size: int) -> Iterator[memoryview]:
    """The next `size` bytes in parts."""
    while size:
        _, part = next(download)
        size -= part.size
        yield part.data


def joined(size: int, chunks: Iterable[Chunk]) -> NDArray[np.uint8]:
    """Chunks of `size` bytes together, copied into one array."""
    data = allocate_for_overwrite(size, np.uint8)
    filled = 0
    for chunk in chunks:
        piece = np.frombuffer(chunk, np.uint8)
        data[filled : filled + piece.size] = piece
        filled += piece.size
    return data
