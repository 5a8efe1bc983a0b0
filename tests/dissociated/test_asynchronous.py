"""`connect_async` and `serve_async`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import CancelledError
from typing import Any

import pytest

from colkern import RecordBatch, record_batch
from colkern.dissociated import connect_async, serve_async
from colkern.dissociated.sources import AsyncBatches
from colkern.errors import StreamError


def batch(number: int) -> RecordBatch:
    return record_batch({"n": [number, number + 1]})


async def numbered(count: int) -> AsyncIterator[RecordBatch]:
    for number in range(count):
        await asyncio.sleep(0)
        yield batch(number)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


@pytest.mark.parametrize("uri", ["inproc:", "tcp:127.0.0.1:0", "unix:", "shm:"])
def test_asynchronous_source_and_reader(uri: str) -> None:
    async def work() -> None:
        async with (
            await serve_async(numbered(5), uri, schema=batch(0).schema) as server,
            await connect_async(server.uri) as reader,
        ):
            assert reader.schema == batch(0).schema
            received = [each async for each in reader]
        assert received == [batch(number) for number in range(5)]

    run(work())


def test_several_readers_take_turns() -> None:
    async def work() -> None:
        async with await serve_async([batch(k) for k in range(3)], "unix:") as server:
            readers = [await connect_async(server.uri) for _ in range(4)]
            read = await asyncio.gather(*[reader.read_all() for reader in readers])
            assert [len(batches) for batches in read] == [3] * 4
            for reader in readers:
                await reader.close()

    run(work())


def test_error_of_an_asynchronous_source() -> None:
    async def fails() -> AsyncIterator[RecordBatch]:
        yield batch(0)
        raise ZeroDivisionError("the second batch")

    async def work() -> None:
        async with (
            await serve_async(fails(), "unix:", schema=batch(0).schema) as server,
            await connect_async(server.uri) as reader,
        ):
            with pytest.raises(StreamError, match="the second batch"):
                await reader.read_all()

    run(work())


def test_cancelling_leaves_the_stream() -> None:
    async def stuck() -> AsyncIterator[RecordBatch]:
        yield batch(0)
        await asyncio.sleep(60)

    async def work() -> None:
        async with await serve_async(stuck(), "shm:", schema=batch(0).schema) as server:
            async with await connect_async(server.uri) as reader:
                kept = await anext(reader)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(reader), 0.05)
            assert kept == batch(0)

    run(work())


def test_closing_before_the_source_was_asked_for_anything() -> None:
    async def stuck() -> AsyncIterator[RecordBatch]:
        await asyncio.sleep(60)
        yield batch(0)

    async def work() -> None:
        batches = AsyncBatches(batch(0).schema, stuck(), asyncio.get_running_loop())
        batches.cancel()

        def take() -> None:
            with pytest.raises(CancelledError):
                next(batches)

        await asyncio.wait_for(asyncio.to_thread(take), 5)

    run(work())


def test_asynchronous_iterable_is_a_source() -> None:
    class Numbered:
        def __aiter__(self) -> AsyncIterator[RecordBatch]:
            return numbered(2)

    async def work() -> None:
        async with (
            await serve_async(Numbered(), "unix:", schema=batch(0).schema) as server,
            await connect_async(server.uri) as reader,
        ):
            assert await reader.read_all() == [batch(0), batch(1)]

    run(work())


def test_reader_that_is_closed_says_so() -> None:
    async def work() -> None:
        async with await serve_async([batch(0)], "unix:") as server:
            async with await connect_async(server.uri) as reader:
                pass
            with pytest.raises(ValueError, match="the reader is closed"):
                await anext(reader)
            with pytest.raises(ValueError, match="the reader is closed"):
                await reader.read_all()
            await reader.close()

    run(work())


def test_asynchronous_source_without_schema() -> None:
    async def work() -> None:
        with pytest.raises(TypeError, match="schema: an asynchronous iterable needs one"):
            await serve_async(numbered(1), "inproc:")

    run(work())
