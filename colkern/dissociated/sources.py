"""The sources of a server: one, or several by identifier."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import TypeAlias

from colkern.arrays import RecordBatch, RecordBatchStream
from colkern.dissociated.shared.segments import SEGMENTS, Segment
from colkern.ipc.limits import DEFAULT_LIMITS, Limits
from colkern.ipc.reading.opening import open as open_ipc
from colkern.ipc.writing.data import with_schema
from colkern.memory import Buffer
from colkern.schema import Schema

Source: TypeAlias = object
"""Batches, in one of the ways of `serve`."""


class Catalogue:
    """Opens the source for an identifier; made from one source, a mapping, or a callable."""

    def __init__(self, sources: object, limits: Limits = DEFAULT_LIMITS) -> None:
        self._find = _finder(sources)
        # A callable makes a new source for each client, which is not asked for again.
        self._is_asked_again = not callable(sources)
        self._limits = limits
        self._lock = threading.Lock()
        # Sources that can be read only once, and have been given to a client.
        self._taken: dict[int, object] = {}

    def open(self, identifier: bytes) -> RecordBatchStream:
        """The batches of an identifier; `KeyError` if unknown, `ValueError` if given to another client."""
        return self._opened(self._find(identifier))

    def _opened(self, source: Source) -> RecordBatchStream:
        if isinstance(source, str | os.PathLike):
            # A file, mapped so that its buffers can be announced without a copy.
            mapped = _mapped_file(source)
            return _opened_bytes(source if mapped is None else mapped, self._limits)
        if self._is_asked_again and _gives_once(source):
            with self._lock:
                if id(source) in self._taken:
                    raise ValueError(
                        "the source gives its batches once, and they have been asked for"
                    )
                self._taken[id(source)] = source
        schema, batches = with_schema(source)
        return RecordBatchStream(schema, batches)

    def open_for_two(self, identifier: bytes) -> list[RecordBatchStream]:
        """The batches of an identifier for two streams: two results, or one that both share."""
        # A file and batches in memory can be read twice. Any other source might give different
        # batches the second time, so it is opened once. A file is mapped once for both streams, so
        # that a replaced file does not mix with it.
        source = self._find(identifier)
        if isinstance(source, str | os.PathLike):
            mapped = _mapped_file(source)
            if mapped is not None:
                return [_opened_bytes(mapped, self._limits) for _ in range(2)]
        elif _is_of_batches(source):
            return [RecordBatchStream(*with_schema(source)) for _ in range(2)]
        return [self._opened(source)]

    def schema(self, identifier: bytes) -> Schema:
        """The schema of an identifier's batches; `ValueError` if it is known only from the batches."""
        source = self._find(identifier)
        if not _gives_once(source):
            return self.open(identifier).schema
        schema = getattr(source, "schema", None)
        if isinstance(schema, Schema):
            return schema
        if hasattr(schema, "__arrow_c_schema__"):
            from colkern.interchange import import_schema

            return import_schema(schema)
        raise ValueError("the source has no schema before its first batch; give it one")


class AsyncBatches:
    """An asynchronous iterator of a running loop, from which a server's threads take batches."""

    def __init__(
        self, schema: Schema, batches: AsyncIterator[RecordBatch], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.schema = schema
        self._batches = batches
        self._loop = loop
        self._step: Future[RecordBatch | None] | None = None
        self._is_cancelled = False

    def __iter__(self) -> Iterator[RecordBatch]:
        return self

    def __next__(self) -> RecordBatch:
        async def step() -> RecordBatch | None:
            return await anext(self._batches, None)

        self._step = asyncio.run_coroutine_threadsafe(step(), self._loop)
        # Read after that, so that `cancel` sees the step by now.
        if self._is_cancelled:
            self._step.cancel()
        batch = self._step.result()
        if batch is None:
            raise StopIteration
        return batch

    def cancel(self) -> None:
        """Cancel waiting for the next batch, now or later."""
        self._is_cancelled = True
        if self._step is not None:
            self._step.cancel()


def _finder(sources: object) -> Callable[[bytes], Source]:
    if isinstance(sources, Mapping):
        by_identifier = {
            key.encode() if isinstance(key, str) else bytes(key): source
            for key, source in sources.items()
        }

        def find(identifier: bytes) -> Source:
            if identifier not in by_identifier:
                raise KeyError(f"nothing is served as {identifier[:100]!r}")
            return by_identifier[identifier]

        return find
    if callable(sources):
        return sources
    return lambda _: sources


def _gives_once(source: Source) -> bool:
    return hasattr(source, "__next__")


def _mapped_file(path: str | os.PathLike[str]) -> Buffer | None:
    segment = Segment.of_file(path)
    return None if segment is None else Buffer.of_read_only(SEGMENTS.add(segment).bytes())


def _opened_bytes(data: Buffer | str | os.PathLike[str], limits: Limits) -> RecordBatchStream:
    reader = open_ipc(data, limits=limits)
    return RecordBatchStream(reader.schema, reader)


def _is_of_batches(source: Source) -> bool:
    """Whether a source is one or more batches, which can be read again; other iterables may not."""
    if isinstance(source, list | tuple):
        return all(isinstance(batch, RecordBatch) for batch in source)
    return isinstance(source, RecordBatch)
