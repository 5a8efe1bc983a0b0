"""The transport over UCX, where the package ucxx is."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colkern import RecordBatch, record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import Bounds, connect, serve
from colkern.dissociated.transports import ucx
from colkern.errors import InvalidArrowError, LimitExceededError, StreamError, UnsupportedError

WORDS = pa.array(["x", "y", "x", None]).dictionary_encode()
TABLE = pa.table({"id": [1, 2, 3, 4], "word": WORDS, "name": ["a", None, "é", ""]})
LARGE = pa.table({"n": np.arange(1 << 20)})
TIMEOUT = 10.0


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ucxx", None)
    monkeypatch.setitem(sys.modules, "ucxx._lib", None)
    # The one of other tests, which they go on using.
    monkeypatch.setattr(ucx, "_context", ucx._context.__wrapped__)
    ucx._library.cache_clear()
    with pytest.raises(
        UnsupportedError, match=r"ucxx is not installed: pip install .*colkern\[ucx12\]"
    ):
        connect("ucx://127.0.0.1:1?want_data=1")
    ucx._library.cache_clear()


@pytest.fixture
def library() -> None:
    pytest.importorskip("ucxx", reason="the package ucxx is missing: colkern[ucx12] or [ucx13]")


pytestmark_ucx = pytest.mark.usefixtures("library")


@pytestmark_ucx
@pytest.mark.parametrize("table", [TABLE, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("bodies_first", [False, True])
def test_a_table(table: pa.Table, bodies_first: bool) -> None:
    with serve(
        table.to_batches(max_chunksize=300_000), "ucx:", bodies_first=bodies_first
    ) as server:
        assert server.uri.startswith("ucx://127.0.0.1:")
        for _ in range(2):
            with connect(server.uri, timeout=TIMEOUT) as reader:
                assert pa.table(reader) == table


@pytestmark_ucx
def test_two_services() -> None:
    with (
        serve(LARGE.to_batches(max_chunksize=300_000), "ucx:", data_uri="ucx:") as server,
        connect(server.uri, data_uri=server.data_uri, timeout=TIMEOUT) as reader,
    ):
        assert pa.table(reader) == LARGE


@pytestmark_ucx
def test_eight_clients_at_once() -> None:
    results: list[pa.Table] = []

    def read(uri: str) -> None:
        with connect(uri, timeout=TIMEOUT) as reader:
            results.append(pa.table(reader))

    with serve(LARGE.to_batches(max_chunksize=300_000), "ucx:") as server:
        threads = [threading.Thread(target=read, args=(server.uri,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [LARGE] * 8


@pytestmark_ucx
def test_what_the_server_refuses_is_told() -> None:
    with serve({"t": TABLE.to_batches()}, "ucx:", token="secret") as server:
        with pytest.raises(StreamError, match="the client's token is not the server's"):
            connect(server.uri, "t", timeout=TIMEOUT)
        with pytest.raises(StreamError, match="nothing is served as"):
            connect(server.uri, "u", token="secret", timeout=TIMEOUT)


@pytestmark_ucx
def test_a_body_over_the_bounds_of_the_client_is_not_received() -> None:
    with (
        serve(LARGE.to_batches(), "ucx:") as server,
        connect(server.uri, bounds=Bounds(frame_bytes=1 << 20), timeout=TIMEOUT) as reader,
        pytest.raises(LimitExceededError, match="tagged frame of 8388608 bytes is over the limit"),
    ):
        next(reader)


@pytestmark_ucx
def test_tags_that_the_transport_has_for_itself() -> None:
    with pytest.raises(ValueError, match="bits 32 to 55"):
        connect(f"ucx://127.0.0.1:1?want_data={0xFFFFFF << 32}")


SERVER = """
import itertools, sys
import numpy as np
from colkern import record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import serve

def made(number):
    return record_batch({"n": np.arange(number, number + (1 << 18))})

server = serve(lambda _: RecordBatchStream(made(0).schema, map(made, itertools.count())), "ucx:")
print(server.uri, flush=True)
sys.stdin.read()
"""


@pytestmark_ucx
def test_a_server_that_is_killed_is_noticed() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, connect(process.stdout.readline().strip(), timeout=TIMEOUT) as reader:
        # UCX reads bytes also after it has been given them: they are the batch's until it is done.
        for number in range(20):
            batch = next(reader)
            result = np.from_dlpack(batch.column("n"))
            assert np.array_equal(result, np.arange(number, number + (1 << 18)))
        process.kill()
        # After the time-out it would be "nothing has come".
        with pytest.raises((StreamError, InvalidArrowError), match=r"has gone|has ended within"):
            reader.read_all()
    assert np.array_equal(np.from_dlpack(batch.column("n")), np.arange(19, 19 + (1 << 18)))


@pytestmark_ucx
def test_a_client_that_leaves_is_noticed() -> None:
    def endless() -> Iterator[RecordBatch]:
        return itertools.repeat(record_batch({"n": np.arange(1 << 18)}))

    def source(_: bytes) -> Any:
        return RecordBatchStream(next(endless()).schema, endless())

    with serve(source, "ucx:") as server:
        with connect(server.uri, timeout=TIMEOUT) as reader:
            next(reader)
        end = time.monotonic() + TIMEOUT
        while server.num_streams:
            assert time.monotonic() < end
            time.sleep(0.005)
