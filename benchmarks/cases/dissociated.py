"""Cases of the Dissociated IPC protocol: a table from another process, beside Arrow Flight.

Sixteen batches of eight columns lie in that process's shared memory, from which it serves all contestants.
Each asks anew, and lets go of a batch before the next. With `use="sum"` it also reads every value: the
bytes of bodies that are announced by their locations are not looked at otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import flight

from benchmarks.case import Case, compared
from benchmarks.service import Service
from benchmarks.timing import Work
from colkern.dissociated import Traffic, connect

ROWS = (1_000, 1 << 20)
"""Of each batch: 1 GiB in all."""

Columns = Iterator[list[NDArray[Any]]]
"""Those of one batch after the other."""


def _received(service: Service, way: str, traffic: Traffic) -> Columns:
    with connect(service.places[way]) as reader:
        for batch in reader:
            yield [np.from_dlpack(column) for column in batch.columns]
        traffic.add(reader.traffic)


def _by_flight(service: Service) -> Columns:
    with flight.connect(service.places["flight"]) as client:
        for chunk in client.do_get(flight.Ticket(b"")):
            yield [column.to_numpy() for column in chunk.data.columns]


def _use(batches: Columns, use: str) -> float:
    return sum(float(np.sum(column)) for batch in batches if use == "sum" for column in batch)


def _case(rows: int, use: str, **ways: str) -> Case:
    """One of contestants by the ways that they get the table; its row counts what became of bodies."""
    service = Service(rows)
    received = Traffic()

    def work(name: str, way: str) -> Work:
        if way == "flight":
            return lambda: _use(_by_flight(service), use)
        traffic = received if name == "colkern" else Traffic()
        return lambda: _use(_received(service, way, traffic), use)

    def facts() -> dict[str, int]:
        sent = service.traffic(ways["colkern"])
        return {
            "body_bytes": received.packed_bytes + received.announced_bytes,
            "body_bytes_copied_by_server": sent.copied_bytes,
            "body_bytes_copied_by_client": received.copied_bytes,
        }

    contestants = {name: work(name, way) for name, way in ways.items()}
    return Case(service.nbytes, contestants, service, facts)


@compared(target=5.0, rows=ROWS, use=("none", "sum"))
def fetch_locations(rows: int, use: str) -> Case:
    """Bodies stay in shared memory, beside Flight's DoGet."""
    return _case(rows, use, colkern="locations", pyarrow="flight")


@compared(target=2.0, rows=ROWS, use=("none", "sum"))
def fetch_locations_beside_packed(rows: int, use: str) -> Case:
    """Bodies stay in shared memory, beside colkern's own packed bodies over TCP."""
    return _case(rows, use, colkern="locations", packed="tcp")


@compared(target=1.0, rows=ROWS, transport=("tcp", "unix"), use=("none", "sum"))
def fetch_packed(rows: int, transport: str, use: str) -> Case:
    """Packed bodies over sockets, beside Flight's DoGet."""
    return _case(rows, use, colkern=transport, pyarrow="flight")
