"""A process that serves one table in every way: `python -m benchmarks.service ROWS`.

It prints where, as JSON; then, for each line, the bytes of bodies that were served in that way. It ends
with its input: with the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import flight

import colkern as ck
from benchmarks.serving_process import ServingProcess
from colkern.dissociated import SharedMemory, Traffic, serve

BATCHES = 16
COLUMNS = 8
URIS = {"locations": "shm:", "unix": "unix:", "tcp": "tcp:"}
"""The ways that are colkern's; another one is `flight`."""


class Service:
    """Such a process; it ends when this is gone.

    Args:
        rows: Of each batch.
    """

    def __init__(self, rows: int) -> None:
        self.nbytes = rows * COLUMNS * BATCHES * np.dtype(np.float64).itemsize
        self._process = ServingProcess("benchmarks.service", rows)
        self.places = self._process.places

    def traffic(self, way: str) -> Traffic:
        """The outcome of bodies that were served in one of the ways."""
        return Traffic(**self._process.ask(way))


class _Flight(flight.FlightServerBase):  # type: ignore[misc]
    """The table by Flight alone, as pyarrow's users serve one."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__("grpc://127.0.0.1:0")
        self._table = table

    def do_get(self, context: Any, ticket: flight.Ticket) -> flight.RecordBatchStream:
        return flight.RecordBatchStream(self._table)


def _batches(rows: int) -> list[ck.RecordBatch]:
    """In shared memory, where all of the ways find them."""
    columns = {f"column_{i}": np.arange(rows) + i / COLUMNS for i in range(COLUMNS)}
    batch = ck.record_batch(pa.record_batch(columns))
    room = SharedMemory(BATCHES * COLUMNS * (8 * rows + 64))
    return [room.place(batch) for _ in range(BATCHES)]


def main() -> None:
    """Serve until the input ends."""
    batches = _batches(int(sys.argv[1]))
    with contextlib.ExitStack() as serving:
        servers = {name: serving.enter_context(serve(batches, uri)) for name, uri in URIS.items()}
        plain = serving.enter_context(_Flight(pa.Table.from_batches(map(pa.record_batch, batches))))
        places = {name: server.uri for name, server in servers.items()}
        print(json.dumps(places | {"flight": f"grpc://127.0.0.1:{plain.port}"}), flush=True)
        for way in sys.stdin:
            print(json.dumps(dataclasses.asdict(servers[way.strip()].traffic)), flush=True)


if __name__ == "__main__":
    main()
