"""`connect_async` and `serve_async`: `connect` and `serve` for programs with an event loop.

A thread receives the bytes, as without a loop; it wakes the loop once for each batch, not for each part
of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar, cast

from colkern.arrays import RecordBatch
from colkern.closing import AsyncClosing, OnFailure
from colkern.dissociated.bounds import Traffic
from colkern.dissociated.connecting import ServiceReader, connect
from colkern.dissociated.serving import Server, serve
from colkern.dissociated.sources import AsyncBatches, Source
from colkern.schema import Schema

Result = TypeVar("Result")


class AsyncReader(AsyncClosing):
    """Reads the batches of a service with `async for`; an asynchronous context manager.

    Args:
        thread: The thread that uses the reader.
    """

    def __init__(self, reader: ServiceReader, thread: ThreadPoolExecutor) -> None:
        self._reader = reader
        self._thread = thread
        self._is_closed = False

    @property
    def schema(self) -> Schema:
        """The schema of every batch."""
        return self._reader.schema

    @property
    def traffic(self) -> Traffic:
        """The bytes of bodies received so far."""
        return self._reader.traffic

    def __aiter__(self) -> AsyncIterator[RecordBatch]:
        return self

    async def __anext__(self) -> RecordBatch:
        """The next batch; raises like iterating over a `ServiceReader`."""
        batch: RecordBatch | None = await self._in_thread(partial(next, self._reader, None))
        if batch is None:
            raise StopAsyncIteration
        return batch

    async def read_all(self) -> list[RecordBatch]:
        """All remaining batches."""
        return await self._in_thread(self._reader.read_all)

    async def close(self) -> None:
        """Leave the stream; batches that were read stay valid."""
        self._is_closed = True
        self._reader.close()
        self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        if self._is_closed:
            # The stream is closed, so nothing is waited for.
            return work()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except asyncio.CancelledError:
            # This wakes the thread, which would go on waiting.
            self._reader.close()
            raise


async def connect_async(uri: str, identifier: bytes | str = b"", **options: Any) -> AsyncReader:
    """Ask a service for data; see `connect`, whose arguments it takes.

    Cancelling a task that waits for a batch leaves the stream.
    """
    thread = ThreadPoolExecutor(1, "colkern-connect")
    work = partial(connect, uri, identifier, **options)
    with OnFailure(partial(thread.shutdown, wait=False)):
        reader = await asyncio.get_running_loop().run_in_executor(thread, work)
    return AsyncReader(reader, thread)


class AsyncServer(AsyncClosing):
    """A server that the loop does not wait for when it closes; an asynchronous context manager.

    Args:
        source: The source to cancel when the server is closed.
    """

    def __init__(self, server: Server, source: AsyncBatches | None) -> None:
        self.server = server
        self._source = source

    @property
    def uri(self) -> str:
        """The URI that clients connect to."""
        return self.server.uri

    @property
    def data_uri(self) -> str | None:
        """The URI of the second service, for bodies; None if there is one service."""
        return self.server.data_uri

    async def close(self) -> None:
        """Accept no more clients, disconnect the present ones, and cancel the source."""
        if self._source is not None:
            self._source.cancel()
        await asyncio.to_thread(self.server.close)


async def serve_async(
    source: Source, *args: Any, schema: Schema | None = None, **options: Any
) -> AsyncServer:
    """Serve record batches; see `serve`, whose arguments it takes.

    Args:
        source: As for `serve`; or an asynchronous iterable of batches, which one client gets.
        args: As for `serve`.
        schema: The schema of an asynchronous iterable.
        options: As for `serve`.

    Raises:
        TypeError: If an asynchronous iterable is given without a schema.
    """
    if not hasattr(source, "__aiter__"):
        return AsyncServer(serve(source, *args, **options), None)
    if schema is None:
        raise TypeError("schema: an asynchronous iterable needs one")
    batches = AsyncBatches(
        schema, aiter(cast("AsyncIterable[RecordBatch]", source)), asyncio.get_running_loop()
    )
    return AsyncServer(serve(batches, *args, **options), batches)
