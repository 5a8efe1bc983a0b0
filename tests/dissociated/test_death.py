"""Either side is killed (SIGKILL) within a stream: the other one notices, and keeps nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from dissociated.children import Child, children, said, wait_until
from present import present

from colkern import RecordBatch, record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import connect, serve
from colkern.errors import StreamError

TIMEOUT = 5.0
ROWS = 50_000

SERVER = f"""
import itertools, sys
import numpy as np
from colkern import record_batch
from colkern.arrays import RecordBatchStream
from colkern.dissociated import serve

batch = record_batch({{"n": np.arange({ROWS})}})
servers = [serve(lambda _: RecordBatchStream(batch.schema, itertools.repeat(batch)), uri)
           for uri in ("tcp:127.0.0.1:0", "shm:")]
print(*[server.uri for server in servers], flush=True)
sys.stdin.read()
"""

CLIENT = """
import sys
from colkern.dissociated import connect

readers = [connect(uri) for uri in sys.argv[1:]]
kept = [next(reader) for reader in readers]
print("reading", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def child() -> Iterator[Callable[..., Child]]:
    with children() as start:
        yield start


def test_server_is_killed(child: Callable[..., Child]) -> None:
    names = os.listdir("/dev/shm")
    server = child(SERVER)
    readers = [connect(uri, timeout=TIMEOUT) for uri in said(server).split()]
    kept = [next(reader) for reader in readers]
    server.kill()
    for reader in readers:
        # What was under way may still come, whole. After the time-out it would be "nothing has come".
        with pytest.raises(StreamError, match="has gone"):
            reader.read_all()
    for batch in kept:
        assert np.array_equal(
            present(batch.column("n").buffers[1]).view(np.dtype("<i8")), np.arange(ROWS)
        )
    assert os.listdir("/dev/shm") == names


def test_client_is_killed(child: Callable[..., Child]) -> None:
    def endless() -> Iterator[RecordBatch]:
        while True:
            yield record_batch({"n": np.arange(ROWS)})

    schema = record_batch({"n": np.arange(1)}).schema
    with (
        serve(lambda _: RecordBatchStream(schema, endless()), "tcp:127.0.0.1:0") as tcp,
        serve(lambda _: RecordBatchStream(schema, endless()), "shm:") as shm,
    ):
        client = child(CLIENT, tcp.uri, shm.uri)
        assert said(client) == "reading\n"
        assert shm.outstanding_bytes > 0
        assert tcp.num_streams == shm.num_streams == 1
        client.kill()
        wait_until(lambda: tcp.num_streams == shm.num_streams == 0)
        gc.collect()
        assert shm.outstanding_bytes == 0
