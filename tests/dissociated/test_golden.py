"""Arrow's golden files through every transport, both types of bodies, one and two connections, both orders.

What comes is compared with what the file has when it is read directly. Between processes on a GPU: see
`test_device_memory`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from golden import golden_files

import colkern.ipc
from colkern import RecordBatch
from colkern.dissociated import Server, connect, serve

PATHS = golden_files(
    "arrow-ipc-stream/integration/*/*.stream",
    "arrow-ipc-stream/integration/1.0.0-littleendian/generated_dictionary.arrow_file",
)


Bodies = Literal["packed", "locations"]
BODIES: tuple[Bodies, ...] = ("packed", "locations")


class Way(NamedTuple):
    transport: str
    bodies: Bodies
    connections: int
    bodies_first: bool

    def __str__(self) -> str:
        order = "bodies-first" if self.bodies_first else "metadata-first"
        return f"{self.transport.partition(':')[0]}-{self.bodies}-{self.connections}-{order}"


WAYS = [
    Way(*way)
    for way in itertools.product(
        ["inproc:", "tcp:127.0.0.1:0", "unix:", "shm:", "ucx:"],
        BODIES,
        [1, 2],
        [False, True],
    )
    if way[1] == "packed" or way[0] in ("inproc:", "shm:")
]


@cache
def direct(path: Path) -> list[RecordBatch]:
    return list(colkern.ipc.open(path))


@contextmanager
def served(way: Way) -> Iterator[Server]:
    sources = {str(parameter.values[0]): parameter.values[0] for parameter in PATHS}
    second: dict[str, Any] = {"data_uri": way.transport} if way.connections == 2 else {}
    with serve(
        sources, way.transport, bodies=way.bodies, bodies_first=way.bodies_first, **second
    ) as server:
        yield server


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_golden_file_as_it_is_read_directly(way: Way) -> None:
    if PATHS[0].marks:
        pytest.skip("no golden files")
    if way.transport == "ucx:":
        pytest.importorskip("ucxx", reason="the package ucxx is missing: colkern[ucx12] or [ucx13]")
    with served(way) as server:
        for parameter in PATHS:
            (path,) = parameter.values
            with connect(server.uri, str(path), data_uri=server.data_uri, timeout=20) as reader:
                assert reader.read_all() == direct(path), path


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_packed_bodies_may_be_compressed(compression: str) -> None:
    if PATHS[0].marks:
        pytest.skip("no golden files")
    (path,) = PATHS[0].values
    with (
        serve(path, "unix:", compression=compression) as server,
        connect(server.uri) as reader,
    ):
        assert reader.read_all() == direct(path)
