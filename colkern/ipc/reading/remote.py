"""Files and folders at URLs, by fsspec; only the ranges of a file that are needed are fetched."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colkern.errors import UnsupportedError
from colkern.ipc.paths import require_local
from colkern.ipc.reading.sources import Memory, shrunk
from colkern.memory import EMPTY, HOST, Buffer
from colkern.names import why_missing

_LAST_BYTES = 1 << 16
"""The bytes at a file's end that are fetched together: the footer, and metadata of the last batches."""


class Remote:
    """Random access to a file at a URL; each range is fetched with one request."""

    device = HOST

    def __init__(self, filesystem: Any, path: str, size: int) -> None:
        self._filesystem = filesystem
        self._path = path
        self.size = size
        self._end_at = max(size - _LAST_BYTES, 0)
        self._end = self._fetched(self._end_at, size - self._end_at)

    def read(self, offset: int, length: int) -> Buffer:
        """The bytes of a range."""
        if offset >= self._end_at:
            return self._end.read(offset - self._end_at, length)
        return self._fetched(offset, length).read(0, length) if length else EMPTY

    def read_into(self, offset: int, view: NDArray[np.uint8]) -> None:
        """Read a range into given memory."""
        view[:] = self.read(offset, view.size).array

    def _fetched(self, offset: int, length: int) -> Memory:
        data = self._filesystem.cat_file(self._path, start=offset, end=offset + length)
        if len(data) < length:
            raise shrunk(length - len(data), offset)
        return Memory(Buffer.from_object(data))


def opened_url(url: str | os.PathLike[str]) -> Remote | Memory:
    """The bytes of a file at a URL; read into memory at once if the server does not tell their number."""
    filesystem, path = filesystem_of(url)
    size = filesystem.size(path)
    if size is None:
        return Memory(Buffer.from_object(filesystem.cat_file(path)))
    return Remote(filesystem, path, size)


def filesystem_of(url: str | os.PathLike[str], **options: object) -> tuple[Any, str]:
    """The fsspec file system of a URL, made with those options, and the path in it."""
    url = os.fsdecode(url)
    if "want_data=" in url:
        require_local(url, "source")
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        missing = why_missing(error, "fsspec")
        raise UnsupportedError(f"source: {url!r} is a URL: {missing}") from error
    try:
        filesystem, path = url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"source: {url!r}: {error}") from error
    return filesystem, path
